"""Every name of `keras.ops` with every kind of argument gives the type and numbers of Keras 3.

The calls are made by rule (tests/keras_ops_kinds.py): what is wrong with one function or one
element type is found without a case of its own. Each name is asked on arrays, and for one call of
each element type between layers, and by the row of the table that files use.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from keras_ops_kinds import (
    AXES,
    DIFFERENT,
    NAMES,
    NOT_DETERMINED,
    ONE,
    TWO,
    WIDE,
    WITH_FUNCTIONS,
    calls_of,
    grid,
)
from keras_questions import checksum
from keras_reference import answer
from keras_reference import keras as real_keras

from kerascope import Input, K, layers
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.keras_ops import every_operation
from kerascope.nested_values import found_in
from kerascope.settings import config


def outcome(functions: Any, name: str, args: Any, kwargs: Any) -> Any:
    """Return the arrays that a call gives, or "refused"."""
    try:
        with np.errstate(all="ignore"):
            found = getattr(functions, name)(*args, **kwargs)
            found = found if isinstance(found, (list, tuple)) else [found]
            return [_data(one) for one in found]
    except Exception as error:
        return f"refused: {type(error).__name__}"


def _data(value: Any) -> Any:
    """Return a text or a number of Python as it is, everything else as an array."""
    if isinstance(value, np.generic) or not isinstance(value, (str, bool, int, float)):
        return np.asarray(value)
    return next(kind(value) for kind in (str, bool, int, float) if isinstance(value, kind))


def all_of_keras(keras: Any, name: str, told: str) -> list[Any]:
    """Return what Keras gives for all calls of a name; `told` stands for the calls."""
    import jax

    found = [outcome(keras.ops, name, *call[1:]) for call in calls_of(name)]
    jax.clear_caches()  # of all names together they would fill gigabytes
    return ["refused" if isinstance(one, str) else one for one in found]


def written(name: str) -> str:
    calls = [(kind, _plain(args), _plain(kwargs)) for kind, args, kwargs in calls_of(name)]
    return checksum(json.dumps(calls).encode())


def _plain(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return [str(value.dtype), value.shape, str(value.tolist())]
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return {k: _plain(v) for k, v in value.items()} if isinstance(value, dict) else repr(value)


def difference(ours: Any, theirs: Any, call: Any) -> str:
    """Return in which way a result differs, or "" if it does not."""
    if isinstance(theirs, str):
        return ""  # what Keras refuses may be computed here
    if isinstance(ours, str):
        return ours
    if len(ours) != len(theirs):
        return f"{len(theirs)} results, {len(ours)} here"
    told = [_one(*pair, call) for pair in zip(ours, theirs, strict=True)]
    return next((text for text in told if text), "")


def _one(ours: Any, theirs: Any, call: Any) -> str:
    if not isinstance(theirs, np.ndarray):  # a text, or a number of Python
        return "" if repr(theirs) == repr(type(theirs)(ours)) else f"{theirs!r}, {ours!r} here"
    if not isinstance(ours, np.ndarray):
        return f"{ours!r} here"
    types = {x.dtype.name for x in found_in(call[1:], np.ndarray)}
    is_wide = types & {*WIDE} or ("uint32" in types and types & {"int8", "int16", "int32"})
    if ours.dtype != theirs.dtype:
        wide = {"int32": "int64", "float32": "float64", "uint32": "uint64"}
        if not is_wide or wide.get(theirs.dtype.name) != ours.dtype.name:
            return f"type {theirs.dtype}, {ours.dtype} here"
    if ours.shape != theirs.shape:
        return f"shape {theirs.shape}, {ours.shape} here"
    if theirs.dtype.kind != "f":
        return "" if np.array_equal(ours, theirs) else f"{theirs.tolist()}, {ours.tolist()} here"
    close = (
        {"rtol": 4e-3, "atol": 4e-3} if theirs.dtype == np.float16 else {"rtol": 5e-5, "atol": 2e-6}
    )
    with np.errstate(all="ignore"):
        same = np.allclose(
            ours.astype("float64"), theirs.astype("float64"), equal_nan=True, **close
        )
        zero = (ours == 0) & (theirs == 0) & (np.signbit(ours) != np.signbit(theirs))
    if not same:
        return f"{theirs.tolist()}, {ours.tolist()} here"
    return "sign of zero" if zero.any() and call[0].startswith("edges") and len(call[1]) < 2 else ""


def differences_of(name: str, theirs: list[Any]) -> list[str]:
    """Return the calls of a name that give something else here than in Keras."""
    pairs = zip(calls_of(name), theirs, strict=True)
    told = [
        (call[0], difference(outcome(ops, name, *call[1:]), wanted, call)) for call, wanted in pairs
    ]
    return [f"{kind}: {text}" for kind, text in told if text]


# The default set has these, and every third of the others.
ALWAYS = {"sqrt", "rsqrt", "sum", "prod", "copy", "sinh", "normalize", "logaddexp", "where"}
ROWS = [
    pytest.param(name, marks=[] if name in ALWAYS or not place % 3 else [pytest.mark.slow])
    for place, name in enumerate(NAMES)
]


@pytest.mark.filterwarnings("ignore")  # a warning of Keras or JAX is no refusal
@pytest.mark.usefixtures("answers")
@pytest.mark.parametrize("name", ROWS)
def test_a_name_gives_what_keras_gives(name: str) -> None:
    theirs = answer(all_of_keras, real_keras, name, written(name))
    found = differences_of(name, theirs)
    number, reason = DIFFERENT.get(name, (0, ""))
    assert len(found) == number, "\n".join([f"{name} {reason}", *found])


KINDS = {kind.lower(): kind for kind in every_operation()}


@pytest.mark.parametrize("name", [row for row in ROWS if row.values[0] in (*ONE, *TWO, *AXES)])
def test_between_layers_and_from_a_file_it_has_the_same_type(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "dialect", "3")
    if name in ON_ARRAYS:
        return
    for dtype in ("bool", "uint8", "int8", "float16"):
        args = tuple(grid(dtype) for _ in range(2 if name in TWO else 1))
        expected = outcome(ops, name, args, {})
        if isinstance(expected, str) or not isinstance(expected[0], np.ndarray):
            continue
        symbols = [Input(batch_shape=x.shape, dtype=dtype) for x in args]
        made = [getattr(ops, name)(*symbols)]
        if name.replace("_", "") in KINDS and name not in ("argmax", "argmin"):
            pattern = [{"tensor": place} for place in range(len(args))]
            layer = layers.Operation(KINDS[name.replace("_", "")], pattern)
            made.append(layer(symbols if len(symbols) > 1 else symbols[0]))
        for results in (list(x) if isinstance(x, (list, tuple)) else [x] for x in made):
            assert [x.dtype for x in results] == [x.dtype for x in expected], dtype
            for one, other in zip(K.function(symbols, results)(list(args)), expected, strict=True):
                assert one.dtype == other.dtype
                np.testing.assert_allclose(one, other, 1e-2, 1e-30, err_msg=dtype)


# What takes no tensor of a graph, or gives something else than a tensor there.
ON_ARRAYS = {"convert_to_numpy", "array", "dtype", "is_tensor", "ndim", "shape", "size", "bartlett"}
ON_ARRAYS |= {"hamming", "hanning", "blackman", "histogram", "unique", "nonzero"}


def test_every_name_is_asked_or_says_why_not() -> None:
    assert {*NAMES, *NOT_DETERMINED, *WITH_FUNCTIONS} == {*ops.__all__}
    assert {*DIFFERENT} <= {*NAMES}
