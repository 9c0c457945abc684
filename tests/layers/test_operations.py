"""Every op as an operation between layers: written as JSON and read, it computes the same."""

import json

import numpy as np
import pytest
from op_cases import CASES
from thinned import thinned

from kerascope import backend as K
from kerascope.backend.graph import Constant, Placeholder
from kerascope.engine.operations import wrap_operations
from kerascope.errors import ArgumentError, ConfigError
from kerascope.layers import Input, Operation
from kerascope.layers.ops.keras_ops import every_operation
from kerascope.settings import config

CALLS = [
    (case, place)
    for case in CASES
    for place in range(len(case.arrays()))
    if place not in case.fixed
]


@pytest.fixture(autouse=True)
def dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    yield
    K.clear_session()


def name_of(call):
    case, place = call
    shapes = ",".join("x".join(map(str, x.shape)) or "scalar" for x in case.arrays())
    return f"{case.op!r}({shapes}) of input {place}"


@pytest.mark.parametrize("call", thinned(CALLS, lambda call: type(call[0].op)), ids=name_of)
def test_an_op_survives_as_a_layer(call):
    case, place = call
    arrays = case.arrays("float32")
    x, again = (
        Input(tensor=Placeholder(arrays[place].shape, arrays[place].dtype.name, name))
        for name in ("x", "again")
    )
    inputs = [x if i == place else Constant(array) for i, array in enumerate(arrays)]
    outputs = listed(case.op(*inputs))
    wrap_operations(outputs, {})
    layer = outputs[0]._keras_history.layer
    assert layer.inbound_nodes[0].input_tensors == [x]
    if case.op.name == "scan":
        with pytest.raises(ConfigError, match="cannot be written"):
            layer.get_config()
        return
    written = json.loads(json.dumps({**layer.get_config(), "name": None}))
    found = listed(Operation.from_config(written)(again))
    assert [(y.shape, y.dtype) for y in found] == [(y.shape, y.dtype) for y in outputs]
    values = K.function([again], found)([arrays[place]])
    expected = K.function([x], outputs)([arrays[place]])
    for value, wanted in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-6)


def listed(outputs):
    return outputs if isinstance(outputs, list) else [outputs]


ROWS = np.arange(24, dtype="float32").reshape(2, 3, 4) / 8 - 0.8
X = {"tensor": 0}


@pytest.mark.parametrize(
    ("operation", "pattern", "options", "expected"),
    [
        ("Argmax", [X], {"axis": None}, lambda x: np.argmax(x)),
        ("Argmin", [X], {"axis": 1, "keepdims": True}, lambda x: np.argmin(x, 1, keepdims=True)),
        ("Cumsum", [X], {}, lambda x: np.cumsum(x)),
        ("Repeat", [X], {"repeats": 2}, lambda x: np.repeat(x, 2)),
        ("Squeeze", [X], {}, lambda x: x),
        ("Flip", [X], {}, lambda x: x[::-1, ::-1, ::-1]),
        ("Take", [X, [2, 0]], {"axis": 1}, lambda x: np.take(x, [2, 0], 1)),
        ("Take", [X, [[2, 0]]], {"axis": -1}, lambda x: np.take(x, [[2, 0]], -1)),
        ("Take", [X, [5]], {}, lambda x: np.take(x, [5])),
        ("Dot", [X, [1.0, 0.0, 2.0, 0.5]], {}, lambda x: np.dot(x, [1.0, 0.0, 2.0, 0.5])),
        ("Dot", [X, 2.0], {}, lambda x: 2 * x),
        ("Tensordot", [X, X], {"axes": 3}, lambda x: np.tensordot(x, x, [[0, 1, 2]] * 2)),
        ("Swapaxes", [X], {"axis1": 1, "axis2": -1}, lambda x: np.swapaxes(x, 1, 2)),
        ("Ravel", [X], {}, lambda x: x.ravel()),
        ("Relu6", [X], {}, lambda x: np.clip(x, 0, 6)),
        ("Reciprocal", [X], {}, lambda x: 1 / x),
        ("Log1p", [X], {}, lambda x: np.log1p(x)),
        ("Where", [X, 1.0, 0.0], {}, lambda x: np.where(x, 1.0, 0.0)),
    ],
)
def test_operations_that_only_a_file_of_keras_3_has(operation, pattern, options, expected):
    found = Operation(operation, pattern, options)(ROWS)
    np.testing.assert_allclose(found, expected(ROWS), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("cuts", [2, [1, 3]])
def test_split_returns_its_parts(cuts):
    layer = Operation("Split", [X], {"indices_or_sections": cuts, "axis": 2})
    parts = layer(ROWS)
    for part, expected in zip(parts, np.split(ROWS, cuts, axis=2), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_split_at_places_needs_no_known_size():
    x = Input((None, 4))
    first, rest = Operation("Split", [X], {"indices_or_sections": [2], "axis": 1})(x)
    numbers = np.arange(24.0).reshape(2, 3, 4)
    computed = K.function([x], [first, rest])([numbers])
    for part, expected in zip(computed, np.split(numbers, [2], axis=1), strict=True):
        np.testing.assert_array_equal(part, expected)


def test_split_into_equal_parts_needs_a_known_size():
    with pytest.raises(ArgumentError, match="the size of axis 1 must be known"):
        Operation("Split", [X], {"indices_or_sections": 2, "axis": 1})(Input((None, 4)))


def test_split_says_that_parts_are_not_equal():
    with pytest.raises(ArgumentError, match="a multiple of 3"):
        Operation("Split", [X], {"indices_or_sections": 3, "axis": 2})(ROWS)


def test_every_operation_names_a_module_of_keras_3(keras):
    modules = {f"keras.src.ops.{name}": dir(getattr(keras.src.ops, name)) for name in MODULES}
    missing = [name for name, (home, _) in every_operation().items() if name not in modules[home]]
    assert missing == []


MODULES = ("numpy", "nn", "core", "math", "linalg", "image")
