"""Plain data as text and arrays, and back again: exact, and harmless to read from anywhere.

Numbers, texts, containers of them, arrays and generators of random numbers are plain. They become
what JSON can hold, and a row of arrays beside it. Nothing else does: no pickle, so that reading
calls no code that a file has chosen. A backup (`backup.py`) is written so.
"""

from __future__ import annotations

import base64
import random
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.errors import ConfigError, DtypeError

DEEPEST = 100  # containers inside each other
_KINDS = "biufcSUmM"  # of arrays that hold no objects
_BIT_GENERATORS = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
_LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1, "uinteger": 2**32 - 1}
_AS_THEY_ARE = (type(None), bool, int, float, str)
_ITEMS: dict[type, str] = {
    tuple: "tuple",
    set: "set",
    frozenset: "frozenset",
    range: "range",
}
_MADE_OF_ITEMS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "range": lambda parts: range(*parts),
}


def as_plain(value: Any, arrays: list[np.ndarray], depth: int = 0) -> Any:
    """Return `value` as JSON can hold it; its arrays are added to `arrays`.

    Raises
    ------
    DtypeError
        It is not plain; the message names the type.

    Examples
    --------
    >>> arrays = []
    >>> as_plain({"best": 0.5, "seen": (1, 2), "order": np.arange(3)}, arrays)
    {'dict': [['best', 0.5], ['seen', {'tuple': [1, 2]}], ['order', {'array': 0}]]}
    >>> from_plain({"tuple": [1, {"array": 0}]}, arrays)
    (1, array([0, 1, 2]))
    """
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if depth > DEEPEST:
        raise DtypeError(f"plain data: more than {DEEPEST} containers inside each other.")
    if kind is list:
        return [as_plain(item, arrays, depth + 1) for item in value]
    if kind in (dict, OrderedDict):
        pairs = [[as_plain(part, arrays, depth + 1) for part in pair] for pair in value.items()]
        return {"dict" if kind is dict else "ordered": pairs}
    if kind is range:
        return {"range": [value.start, value.stop, value.step]}
    if kind in _ITEMS:
        return {_ITEMS[kind]: [as_plain(item, arrays, depth + 1) for item in value]}
    if kind is deque:
        return {"deque": [as_plain(list(value), arrays, depth + 1), value.maxlen]}
    return _less_usual(value, arrays, depth)


def _less_usual(value: Any, arrays: list[np.ndarray], depth: int) -> Any:
    if type(value) is np.ndarray and value.dtype.kind in _KINDS:
        arrays.append(value)
        return {"array": len(arrays) - 1}
    if isinstance(value, np.generic) and value.dtype.kind in _KINDS:
        return {"scalar": [value.dtype.str, base64.b64encode(value.tobytes()).decode()]}
    if type(value) is bytes:
        return {"bytes": base64.b64encode(value).decode()}
    if type(value) is complex:
        return {"complex": [value.real, value.imag]}
    if isinstance(value, Path):
        return {"path": str(value)}
    state = state_of_generator(value)
    if state is not None:
        return {type(value).__name__: as_plain(state, arrays, depth + 1)}
    raise DtypeError(
        f"plain data: cannot hold a {type(value).__name__}; expected numbers, texts, arrays, and "
        "lists, tuples, sets or dicts of them.",
        subject=value,
    )


def from_plain(data: Any, arrays: Sequence[np.ndarray]) -> Any:
    """Return what `as_plain` was given. Arrays are copies, which may be written to.

    Raises
    ------
    ConfigError
        `data` is nothing that `as_plain` returns.
    """
    try:
        return _read(data, arrays)
    except (TypeError, ValueError, LookupError, AttributeError, RecursionError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"plain data: cannot be read ({error}).") from None


def _read(data: Any, arrays: Sequence[np.ndarray], depth: int = 0) -> Any:
    if type(data) in _AS_THEY_ARE:
        return data
    if depth > 2 * DEEPEST:
        raise ConfigError("plain data: containers stand too deep inside each other.")
    if type(data) is list:
        return [_read(item, arrays, depth + 1) for item in data]
    ((kind, content),) = data.items()
    if kind == "array":
        if type(content) is not int or content < 0:
            raise ConfigError(f"plain data: there is no array {content!r}.")
        return np.array(arrays[content])
    if kind == "scalar":
        dtype = np.dtype(content[0])
        if dtype.kind not in _KINDS:
            raise ConfigError(f"plain data: no number of the type {dtype}.")
        return np.frombuffer(base64.b64decode(content[1]), dtype, 1)[0]
    if kind == "bytes":
        return base64.b64decode(content)
    if kind == "complex":
        return complex(*content)
    if kind == "path":
        return Path(content)
    inner = _read(content, arrays, depth + 1)
    if kind in ("dict", "ordered"):
        return dict(inner) if kind == "dict" else OrderedDict(inner)
    if kind in _MADE_OF_ITEMS:
        return _MADE_OF_ITEMS[kind](inner)
    if kind == "deque":
        return deque(*inner)
    return _generator(kind, inner)


# --- generators of random numbers -----------------------------------------------------------------


def state_of_generator(value: Any) -> Any:
    """Return the state of a generator of random numbers; None if `value` is none that is known."""
    if type(value) is np.random.Generator:
        name = type(value.bit_generator).__name__
        return value.bit_generator.state if name in _BIT_GENERATORS else None
    if type(value) is np.random.RandomState:
        return value.get_state(legacy=False)
    return value.getstate() if type(value) is random.Random else None


def set_state_of_generator(generator: Any, state: Any) -> None:
    """Give a generator of random numbers a state of `state_of_generator`.

    Raises
    ------
    ConfigError
        It is a state of another kind.
    """
    try:
        if isinstance(generator, np.random.Generator):
            generator.bit_generator.state = _checked_state(state)
        elif isinstance(generator, np.random.RandomState):
            generator.set_state(_checked_state(state))
        else:
            generator.setstate(state)
    except (TypeError, ValueError, LookupError) as error:
        raise ConfigError(
            f"a {type(generator).__name__} cannot take up the state of another kind of generator "
            f"({error})."
        ) from None


def state_of_global_generators() -> dict[str, Any]:
    """Return the states of what `np.random.rand`, `random.random` and their kin draw from."""
    return {"numpy": np.random.get_state(legacy=False), "python": random.getstate()}  # noqa: NPY002


def set_state_of_global_generators(state: dict[str, Any]) -> None:
    """Let the global generators be what they were in `state_of_global_generators`."""
    np.random.set_state(_checked_state(state["numpy"]))  # noqa: NPY002
    random.setstate(state["python"])


def _checked_state(state: Any) -> Any:
    """Return the state of a generator of NumPy, which itself would believe any place in a table."""
    name = state["bit_generator"]
    if name not in _BIT_GENERATORS:
        raise ValueError(f"there is no generator of random numbers {name!r}.")
    _check_like(state, getattr(np.random, name)(0).state, "")
    return state


def _check_like(state: Any, usual: Any, name: str) -> None:
    """Raise ValueError if a part of a state is not such as the same part of a usual one."""
    if isinstance(usual, dict):
        for key, value in usual.items():
            _check_like(state[key], value, key)
    elif isinstance(usual, np.ndarray):
        if getattr(state, "shape", None) != usual.shape or state.dtype != usual.dtype:
            raise ValueError(f"the {name!r} of a generator of random numbers has another shape.")
    elif isinstance(usual, int):
        most = _LARGEST.get(name, 2**128)
        if type(state) is not int or not 0 <= state <= most:
            raise ValueError(f"the {name!r} of a generator of random numbers is {state!r}.")


def _generator(kind: str, state: Any) -> Any:
    """Return a new generator of random numbers of this kind, in this state."""
    made: Any
    if kind == "Generator" and state["bit_generator"] in _BIT_GENERATORS:
        made = np.random.Generator(getattr(np.random, state["bit_generator"])())
    elif kind == "RandomState" and state["bit_generator"] in _BIT_GENERATORS:
        made = np.random.RandomState(getattr(np.random, state["bit_generator"])())
    elif kind == "Random":
        made = random.Random()
    else:
        raise ConfigError(f"plain data: there is no {kind!r}.")
    set_state_of_generator(made, state)
    return made
