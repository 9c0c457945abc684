"""Each operation between layers of a Keras 3 model, read from its file, computes what Keras does.

The cases are those of `keras.ops` (tests/compat/test_keras_ops.py): what a name computes there, as
a function, and here, as a layer from a file, stands in one row, and both are held to Keras.
"""

from __future__ import annotations

from importlib import util
from pathlib import Path
from typing import Any

import keras_ops_cases
import numpy as np
import pytest
from keras_reference import answer, keras
from thinned import thinned

from kerascope import K
from kerascope.errors import ConfigError
from kerascope.layers.ops import keras_ops
from kerascope.layers.ops.keras_ops import every_operation
from kerascope.models import load_model

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]

_path = Path(__file__).parents[1] / "compat/test_keras_ops.py"
_spec = util.spec_from_file_location("cases_of_keras_ops", _path)
_module = util.module_from_spec(_spec)
_spec.loader.exec_module(_module)

SMALL = np.array([[1e-7, -3e-9, 1e-12, 0.4]], "float32")
X, CUBE, POSITIVE = _module.X, _module.CUBE, _module.POSITIVE

# What the cases of `keras.ops` leave out, as arguments that stand in a file.
MORE: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("log1p", (SMALL,), {}),
    ("expm1", (SMALL,), {}),
    ("round", (X * 10, 2), {}),
    ("round", (X * 100, -1), {}),
    ("round", (X,), {"decimals": 1}),
    ("transpose", (CUBE,), {}),
    ("moveaxis", (CUBE, 0, -1), {}),
    ("moveaxis", (CUBE, [0, 1], [-1, 0]), {}),
    ("leaky_relu", (X, 0.3), {}),
    ("elu", (X, 0.5), {}),
    ("celu", (X, 0.5), {}),
    ("gelu", (X,), {"approximate": False}),
    ("argmin", (X,), {"axis": 0, "keepdims": True}),
    ("max", (CUBE,), {"axis": [0, -1], "keepdims": True}),
    ("std", (CUBE,), {"axis": -1}),
    ("logsumexp", (CUBE,), {"axis": (0, 1)}),
    ("any", (X > 0,), {"axis": 0, "keepdims": True}),
    ("log_softmax", (X,), {"axis": 0}),
    ("swapaxes", (CUBE, 1, 2), {}),
    ("flip", (CUBE,), {"axis": (0, 2)}),
    ("squeeze", (CUBE[:, None, :, None],), {"axis": (1, 3)}),
    ("expand_dims", (X,), {"axis": (0, 2)}),
    ("expand_dims", (X,), {"axis": -1}),
    ("tile", (CUBE, (2, 1)), {}),
    ("tile", (X, (2, 1, 3)), {}),
    ("repeat", (CUBE, 3), {"axis": -1}),
    ("repeat", (CUBE, 2), {}),
    ("take", (CUBE, np.array([[0, 1], [2, 0]])), {"axis": -1}),
    ("take", (CUBE, 1), {"axis": 1}),
    ("tensordot", (CUBE, CUBE), {"axes": [[1, 2], [1, 2]]}),
    ("tensordot", (CUBE, X.T), {"axes": 1}),
    ("dot", (CUBE, X[0]), {}),
    ("cumsum", (CUBE,), {"axis": -2}),
    ("power", (POSITIVE, X[0]), {}),
    ("where", (X > 0, X, X[0]), {}),
    ("reshape", (CUBE, (2, -1)), {}),
    ("split", (CUBE, [1, 2]), {"axis": 1}),
    ("one_hot", (np.array([[0, 2, 1]]), 3), {"axis": 0}),
    ("one_hot", (np.array([0, -1, 5]), 3), {}),
    ("clip", (X, -0.1, 0.1), {}),
    ("softmax", (CUBE,), {"axis": (1, 2)}),
    ("ones_like", (X,), {"dtype": "int32"}),
    ("sign", (np.array([[-2.0, 0.0, 3.0]], "float32"),), {}),
    ("cast", (X * 3, "bool"), {}),
    ("cast", (X * 3, "int32"), {}),
    ("relu", (-X,), {}),
    ("argmax", (CUBE,), {}),
]

# Operations that no layer stands for here yet: reading them is refused, with their names.
NOT_READ = {"BatchNorm", "Celu", "LayerNorm", "Moments", "Norm", "Size"}

# What Keras 3.15 computes on arrays, and cannot run between layers or write into a file.
NOT_WRITTEN = {"quantile", "nanquantile", "percentile", "nanpercentile", "trapezoid", "argsort"}
NOT_WRITTEN |= {"searchsorted", "where", "bincount", "histogram", "unique", "isin", "allclose"}


def told(case: Any) -> str:
    return f"{case[0]}-{len(case[1])}-{'-'.join(case[2])}"


def saved_and_computed(keras: Any, name: str, args: Any, kwargs: Any, path: Path) -> Any:
    """Return the class of an operation and what it gives, after its model was written to a file.

    None where Keras cannot run between layers, or write, what it computes on arrays: lists that are
    to be hashed, arrays among the arguments of a class.
    """
    try:
        return _saved_and_computed(keras, name, args, kwargs, path)
    except (ValueError, TypeError, AttributeError, NotImplementedError):
        return None


def _saved_and_computed(keras: Any, name: str, args: Any, kwargs: Any, path: Path) -> Any:
    first = args[0]
    dtype = "int32" if first.dtype == np.int64 else first.dtype.name
    inputs = keras.Input(batch_shape=first.shape, dtype=dtype)
    outputs = getattr(keras.ops, name)(inputs, *args[1:], **kwargs)
    model = keras.Model(inputs, outputs)
    model.save(path)
    found = model(first)
    kinds = [type(operation).__name__ for operation in model.operations]
    return kinds[1:], [np.asarray(x) for x in (found if type(found) in (list, tuple) else [found])]


# Keras 3.15 cannot run what it read of a Norm along an axis.
CASES = [case for case in _module.CASES if (case[0], *case[2]) != ("norm", "axis")]
# Between layers its `where` without values has one output, and as many as axes when it runs.
CASES = [case for case in CASES if (case[0], len(case[1])) != ("where", 1)]
# And it cannot read, or write, these with a number in place of a tuple, or with a list.
CASES = [case for case in CASES if (case[0], *case[2]) != ("norm", "ord", "axis")]
NOT_FILED = {"adaptive_average_pool", "adaptive_max_pool", "conv_transpose"}
CASES = [case for case in CASES if case[0] not in NOT_FILED]


@pytest.mark.parametrize("case", thinned([*CASES, *MORE], lambda case: case[0]), ids=told)
def test_an_operation_from_a_file_computes_the_same(case, tmp_path):
    name, args, kwargs = case
    path = tmp_path / "model.keras"
    answered = answer(saved_and_computed, keras, name, args, kwargs, path)
    if answered is None:
        assert name in NOT_WRITTEN
        return
    kinds, expected = answered
    if name in keras_ops.__all__:
        compare(name, args, getattr(keras_ops, name)(*args, **kwargs), expected)
    unknown = [kind for kind in kinds if kind not in every_operation()]
    if unknown:
        assert set(unknown) <= NOT_READ
        with pytest.raises(ConfigError, match=unknown[0]):
            load_model(path)
        return
    ours = load_model(path)
    compare(name, args, K.function(ours.inputs, ours.outputs)([args[0]]), expected)


def compare(name: str, args: Any, found: Any, expected: list[np.ndarray]) -> None:
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == other.shape, name
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=0 if args[0] is SMALL else 2e-6)


def test_every_operation_of_the_table_has_a_case(answers):
    tested = {case[0].replace("_", "") for case in [*_module.CASES, *MORE]}
    tested |= {case[0].replace("_", "") for case in keras_ops_cases.OF_SEVERAL}
    elsewhere = {"Concatenate", "Stack", "Einsum", "GetItem", "ConvertToTensor", "EmptyLike"}
    elsewhere |= {"Qr", "RMSNorm"}
    # tests/layers/test_images_keras3.py
    elsewhere |= {kind for kind, (home, _) in every_operation().items() if home.endswith("image")}
    assert {name for name in every_operation() if name.lower() not in tested} <= elsewhere
