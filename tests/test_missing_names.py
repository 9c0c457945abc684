"""Names of Keras that are not here yet, and names that are misspelt."""

import importlib
import random
import subprocess
import sys

import numpy as np
import pytest

import kerascope
from kerascope import backend as K
from kerascope import layers, models, utils
from kerascope.compat import keras_imports
from kerascope.errors import KerascopeError, NotYetError, RefusedError
from kerascope.missing_names import NAMES, NEVER, names_in_rows

EVERY_NAME = [(module, name) for module in {**NEVER, **NAMES} for name in names_in_rows(module)]


@pytest.mark.parametrize(("module", "name"), EVERY_NAME)
def test_a_name_that_is_not_here_says_so_and_what_to_use(module, name):
    roots = ["keras", "kerascope"][: 1 if module == "kerascope.config" else 2]  # ours is no module
    for root in roots:
        path = module.replace("kerascope", root, 1)
        with keras_imports():
            package = importlib.import_module(path)
            words = rf"^{module}\.{name}: .*\.$"
            with pytest.raises((NotYetError, RefusedError), match=words) as by_attribute:
                getattr(package, name)
            assert isinstance(by_attribute.value, AttributeError)
            assert not hasattr(package, name)
            with pytest.raises(ImportError) as by_import:
                exec(f"from {path} import {name}")
        assert str(by_import.value) == str(by_attribute.value)


@pytest.mark.parametrize("module", {**NEVER, **NAMES})
def test_each_name_has_one_row(module):
    names = names_in_rows(module)
    assert len(names) == len(set(names))


def test_what_is_said_of_a_module_is_said_of_all_below_it():
    with keras_imports():
        for line in (
            "from keras.quantizers import AbsMaxQuantizer",
            "import keras.quantizers",
            "import keras; keras.quantizers.AbsMaxQuantizer",
            "from tensorflow.keras.quantizers import AbsMaxQuantizer",
        ):
            with pytest.raises(RefusedError, match=r"^kerascope\.quantizers: .*quantized layers"):
                exec(line)
        with pytest.raises(NotYetError, match=r"ops\.linalg\.eig: .* ops\.eigh is real\.$"):
            exec("from keras.ops.linalg import eig")


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("import keras; keras.distributon", "distribution"),
        ("import keras; keras.layers.JaxLayr", "JaxLayer"),
        ("import keras; keras.tree.flaten", "flatten"),
        ("import kerascope; kerascope.layers.Equalizatoin", "Equalization"),
        ("import keras.quantizer", "quantizers"),
    ],
)
def test_a_misspelt_name_of_what_is_not_here_is_guessed(line, meant):
    with keras_imports(), pytest.raises((AttributeError, ImportError), match=f"mean '{meant}'"):
        exec(line)


def test_it_is_an_error_of_ours_that_a_try_around_an_import_expects():
    assert issubclass(NotYetError, KerascopeError)
    try:
        from kerascope.layers import Equalization
    except ImportError as error:
        Equalization = error
    assert "with NumPy" in str(Equalization)


@pytest.mark.parametrize(
    ("module", "name", "meant"),
    [
        (layers, "Dens", "Dense"),
        (K, "sqaure", "square"),
        (kerascope, "modls", "models"),
        (kerascope, "Sequental", "Sequential"),
        (models, "load_mode", "load_model"),
        (utils, "to_catgorical", "to_categorical"),
        (kerascope.engine, "Layr", "Layer"),
        (layers, "Conv2d", "Conv2D"),
    ],
)
def test_a_misspelt_name_is_guessed(module, name, meant):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'. Did you mean '{meant}'"):
        getattr(module, name)


def test_the_traceback_guesses_only_once():
    run = subprocess.run(
        [sys.executable, "-c", "import kerascope; kerascope.layers.Dens"],
        capture_output=True,
        text=True,
    )
    assert run.stderr.count("Did you mean") == 1


@pytest.mark.parametrize("module", [kerascope, K, layers, models, utils, kerascope.engine])
def test_other_names_are_simply_missing(module):
    assert not hasattr(module, "__wrapped__")
    assert not hasattr(module, "_private")
    assert not hasattr(module, "xyzzy")
    with pytest.raises(AttributeError, match=r"has no attribute 'xyzzy'\.$"):
        _ = module.xyzzy


def test_what_is_only_a_module_not_imported_yet_can_be_imported():
    code = "from kerascope.engine import node_ids; from kerascope.layers import core; print('yes')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "yes\n"


def test_the_engine_has_the_names_that_scripts_take_from_it():
    from kerascope.engine import Input, InputSpec, Layer, Model

    assert (Input, InputSpec, Layer) == (layers.Input, layers.InputSpec, layers.Layer)
    assert Model is models.Model


def test_dir_lists_what_is_meant_for_people_once():
    names = dir(kerascope)
    assert len(names) == len(set(names))
    assert {"draw", "datasets", "utils", "layers", "K", "__version__"} <= set(names)
    assert not {"Any", "Callable", "annotations", "importlib", "edge"} & set(names)
    for name in names:
        assert getattr(kerascope, name) is not None


# --- what is here under older paths ---------------------------------------------------------------


def test_the_backend_says_what_computes():
    assert K.backend() == "numpy"


def test_keras_1s_words_for_the_layout_of_images():
    assert K.image_dim_ordering() == "tf"
    try:
        K.set_image_dim_ordering("th")
        assert K.image_data_format() == "channels_first"
        assert K.image_dim_ordering() == "th"
    finally:
        K.set_image_data_format("channels_last")
    with pytest.raises(ValueError, match="expected 'tf' or 'th', got 'channels_last'"):
        K.set_image_dim_ordering("channels_last")


def test_custom_objects_can_be_known_everywhere_or_in_a_block():
    def twice(x):
        return 2 * x

    with utils.CustomObjectScope({"twice": twice}):
        assert kerascope.activations.get("twice") is twice
        assert utils.get_custom_objects()["twice"] is twice
        utils.get_custom_objects()["thrice"] = twice
    assert utils.get_custom_objects() == {}
    utils.get_custom_objects()["twice"] = twice
    try:
        assert kerascope.activations.get("twice") is twice
    finally:
        utils.get_custom_objects().clear()


def test_one_seed_makes_weights_and_random_tensors_repeat():
    def drawn():
        utils.set_random_seed(3)
        model = models.Sequential([layers.Dense(2, input_shape=(4,))])
        return [model.get_weights()[0], K.eval(K.random_normal((3,))), random.random()]

    for first, second in zip(drawn(), drawn(), strict=True):
        np.testing.assert_array_equal(first, second)


def test_the_progress_bar_is_found_where_keras_keeps_it(capsys):
    from kerascope.utils.generic_utils import Progbar

    assert Progbar is utils.Progbar
    Progbar(2, verbose=2).add(2, [("loss", 1.0)])
    assert capsys.readouterr().out == "2/2 - loss: 1.0000\n"
