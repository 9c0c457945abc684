"""Paths of inner modules that the first edition's documents and pickles name."""

import importlib
import sys
from importlib import import_module
from types import FunctionType

import pytest

from kerascope import Input, config
from kerascope.compat import keras_imports, paths
from kerascope.layers import Add


def test_an_old_inner_path_answers_with_a_warning_that_names_the_new_one(monkeypatch):
    monkeypatch.setitem(paths.MOVED_INSIDE, "engine.knots", "engine.node")
    paths.sources_of.cache_clear()
    try:
        with pytest.warns(DeprecationWarning, match=r"an old path.*kerascope\.engine\.node"):
            old = importlib.import_module("kerascope.engine.knots")
        assert old.Node is importlib.import_module("kerascope.engine.node").Node
    finally:
        sys.modules.pop("kerascope.engine.knots", None)
        paths.sources_of.cache_clear()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_an_old_inner_path_takes_no_name_from_its_package():
    optimizers = importlib.import_module("kerascope.optimizers")
    sgd = optimizers.sgd
    old = importlib.import_module("kerascope.optimizers.sgd")
    assert old.SGD is optimizers.SGD
    assert optimizers.sgd is sgd is optimizers.SGD


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_old_inner_path_leads_to_modules_that_are_there():
    for old, new in paths.MOVED_INSIDE.items():
        assert paths.sources_of(old) == tuple(f"kerascope.{one}" for one in new.split())
        importlib.import_module(f"kerascope.{old}")


def test_what_keras_3_has_in_utils_is_what_is_at_home_elsewhere() -> None:
    from kerascope import backend, utils
    from kerascope.preprocessing import image, sequence

    assert utils.pad_sequences is sequence.pad_sequences
    assert utils.img_to_array is image.img_to_array
    assert utils.clear_session is backend.clear_session
    with keras_imports():
        from keras.utils import load_img, pad_sequences

        assert (load_img, pad_sequences) == (image.load_img, sequence.pad_sequences)


@pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")
@pytest.mark.parametrize("path", ["keras.engine.topology", "keras.engine", "keras.layers"])
def test_a_function_of_keras_1_is_no_module_in_its_dialect(path, monkeypatch):
    """Would catch every other path of `FUNCTIONS_OF_KERAS_1`, and an import that replaces it."""
    monkeypatch.setattr(config, "dialect", "1.2")
    with keras_imports():
        package = import_module(path)
        assert isinstance(package.merge, FunctionType)
        import_module("keras.layers.merge")
        import_module("keras.engine.topology.merge")
        assert isinstance(package.merge, FunctionType)
        a, b = Input((3,)), Input((3,))
        assert package.merge([a, b], mode="concat").shape == (None, 6)
        monkeypatch.setattr(config, "dialect", "2.2")
        assert import_module("keras.layers").merge.Add is Add


def test_each_module_of_training_shows_its_own_functions():
    with keras_imports():
        from keras.engine import training_arrays, training_utils

        assert "standardize_weights" in dir(training_utils)
        assert training_arrays.fit_loop.__name__ == "fit_loop"
        assert not hasattr(training_utils, "fit_loop")
        assert not hasattr(training_arrays, "standardize_weights")
        assert not hasattr(training_utils, "probas_to_classes")
