"""Small functions of Keras 3 that are called by themselves give what Keras 3's give."""

from __future__ import annotations

import importlib
from functools import reduce
from typing import Any

import numpy as np
import pytest
from keras_reference import generator, keras

from kerascope.compat import keras_imports
from kerascope.settings import config

pytestmark = pytest.mark.usefixtures("answers", "_dialect_3")


@pytest.fixture
def _dialect_3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "dialect", "3")


def both(path: str) -> tuple[Any, Any]:
    """Return our function of this path below keras, and theirs."""
    with keras_imports():  # not around what asks the real one
        ours = reduce(getattr, path.split("."), importlib.import_module("keras"))
    return ours, reduce(getattr, path.split("."), keras)


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, (list, tuple)) and not all(isinstance(x, (int, str)) for x in wanted):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same(one, other)
    elif wanted is None or isinstance(wanted, (bool, str, int, tuple, dict)):
        assert found == wanted
    else:
        found, wanted = np.asarray(found), np.asarray(wanted)
        assert found.shape == wanted.shape
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=1e-5)


@pytest.mark.parametrize(
    "module",
    [
        "densenet",
        "inception_v3",
        "mobilenet",
        "mobilenet_v2",
        "resnet",
        "resnet50",
        "vgg16",
        "vgg19",
        "xception",
    ],
)
@pytest.mark.parametrize("first", [False, True])
def test_pictures_are_prepared_as_the_architecture_wants_them(module: str, first: bool) -> None:
    ours, theirs = both(f"applications.{module}.preprocess_input")
    shape = (2, 3, 4, 5) if first else (2, 4, 5, 3)
    pictures = generator(0).uniform(0, 255, shape).astype("float32")
    options = {"data_format": "channels_first"} if first else {}
    same(ours(pictures.copy(), **options), theirs(pictures.copy(), **options))


def matrix() -> np.ndarray:
    return generator(0).normal(size=(4, 3)).astype("float32")


SEQUENCES = [[1, 2, 3], [4], [5, 6, 7, 8, 9]]
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *((f"backend.{name}", (), {}) for name in ("epsilon", "floatx", "image_data_format")),
    ("backend.get_uid", ("word",), {}),
    *((f"config.{name}", (), {}) for name in ("epsilon", "floatx", "image_data_format")),
    ("ops.ndim", (matrix(),), {}),
    ("ops.shape", (matrix(),), {}),
    ("ops.convert_to_numpy", (matrix(),), {}),
    ("ops.qr", (matrix(),), {}),
    ("ops.qr", (matrix(),), {"mode": "complete"}),
    ("ops.dtype", (matrix(),), {}),
    ("utils.normalize", (matrix(),), {}),
    ("utils.normalize", (matrix(), -1, 1), {}),
    ("preprocessing.sequence.pad_sequences", (SEQUENCES,), {}),
    *(
        (
            f"{home}.pad_sequences",
            (SEQUENCES, 3, "float32", padding, truncating, -1.0),
            {},
        )
        for home in ("utils", "preprocessing.sequence")
        for padding in ("pre", "post")
        for truncating in ("pre", "post")
    ),
    *(
        (f"{home}.img_to_array", (generator(1).integers(0, 255, (4, 5)).astype("uint8"),), {})
        for home in ("utils", "preprocessing.image")
    ),
    *(
        (f"layers.{name}", ([matrix(), 2 * matrix()[::-1]],), {})
        for name in ("add", "average", "concatenate", "maximum", "minimum", "multiply", "subtract")
    ),
    ("layers.concatenate", ([matrix(), matrix()],), {"axis": 0}),
]


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call[0])
def test_a_function_gives_what_that_of_keras_gives(call: Any) -> None:
    path, args, options = call
    ours, theirs = both(path)
    same(ours(*args, **options), theirs(*args, **options))


@pytest.mark.parametrize(
    "name",
    [
        "constraints.max_norm",
        "constraints.min_max_norm",
        "constraints.unit_norm",
        "constraints.non_neg",
        "regularizers.L1",
        "regularizers.L2",
        "regularizers.orthogonal_regularizer",
    ],
)
def test_an_object_with_defaults_has_keras_configuration(name: str) -> None:
    ours, theirs = both(name)
    found, wanted = ours().get_config(), theirs().get_config()
    assert set(found) == set(wanted)
    for key, value in wanted.items():
        assert found[key] == pytest.approx(value)


@pytest.mark.parametrize("kind", ["constraints", "regularizers", "optimizers"])
def test_an_object_is_got_by_its_name(kind: str) -> None:
    ours, theirs = both(f"{kind}.get")
    names = {
        "constraints": ("max_norm", "MaxNorm", "non_neg", "unit_norm"),
        "regularizers": ("l1", "l2", "L1", "L2"),
        "optimizers": ("adam", "Adam", "sgd", "rmsprop", "adamw"),
    }[kind]
    for name in names:
        assert type(ours(name)).__name__ == str(theirs(name)).removeprefix("#").split()[-1]
    if kind != "optimizers":
        assert ours(None) is None


@pytest.mark.parametrize(
    "name",
    [
        "constant",
        "identity",
        "orthogonal",
        "random_normal",
        "random_uniform",
        "truncated_normal",
        "Orthogonal",
        "IdentityInitializer",
        "OrthogonalInitializer",
    ],
)
def test_an_initializer_under_each_name_has_keras_configuration(name: str) -> None:
    ours, theirs = (kind() for kind in both(f"initializers.{name}"))
    if name in ("identity", "IdentityInitializer"):  # Keras 3 writes no gain
        same(ours((3, 3)), theirs((3, 3)))
        return
    found, wanted = ours.get_config(), theirs.get_config()
    assert {**found, "seed": None} == {**wanted, "seed": None}


# --- loops and choices ----------------------------------------------------------------------------

XS = np.linspace(-1, 2, 12, dtype="float32").reshape(4, 3)
LOOPS: dict[str, tuple[Any, ...]] = {
    "while_loop": (lambda i, x: i < 3, lambda i, x: (i + 1, x * 2.0), (np.int32(0), XS)),
    "fori_loop": (0, 3, lambda i, x: x * 2.0, XS),
    "map": (lambda x: x * 2.0, XS),
    "vectorized_map": (lambda x: x * 2.0, XS),
    "scan": (lambda carry, x: (carry + x, carry * x), XS[0], XS),
    "associative_scan": (lambda a, b: a + b, XS),
    "cond": (True, lambda: XS, lambda: XS * 2.0),
    "switch": (1, [lambda x: x, lambda x: x * 2.0], XS),
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_or_choice_gives_what_that_of_keras_gives(name: str) -> None:
    ours, theirs = both(f"ops.{name}")
    same(ours(*LOOPS[name]), theirs(*LOOPS[name]))


def test_a_function_of_numbers_becomes_one_of_arrays() -> None:
    ours, theirs = both("ops.vectorize")
    same(ours(lambda x: x * 2.0)(XS), theirs(lambda x: x * 2.0)(XS))


def test_what_is_empty_has_the_shape_and_type_of_its_model() -> None:
    ours, theirs = both("ops.empty_like")
    same(np.shape(ours(XS)), np.shape(theirs(XS)))
    assert np.asarray(ours(XS)).dtype == np.asarray(theirs(XS)).dtype


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("constraints", {"class_name": "MaxNorm", "config": {"max_value": 3, "axis": 1}}),
        ("regularizers", {"class_name": "L1L2", "config": {"l1": 0.5, "l2": 0.25}}),
        ("initializers", {"class_name": "Constant", "config": {"value": 3.0}}),
        (
            "optimizers.schedules",
            {
                "class_name": "ExponentialDecay",
                "config": {"initial_learning_rate": 0.5, "decay_steps": 3, "decay_rate": 0.5},
            },
        ),
        (
            "layers",
            {
                "module": "keras.layers",
                "class_name": "Dropout",
                "config": {"rate": 0.25, "name": "d", "seed": 3},
                "registered_name": None,
            },
        ),
    ],
)
def test_an_object_comes_back_from_its_configuration(kind: str, config: dict[str, Any]) -> None:
    ours, theirs = both(f"{kind}.deserialize")
    found, wanted = ours(config).get_config(), theirs(config).get_config()
    for key in config["config"]:
        assert found[key] == pytest.approx(wanted[key])
