"""Possible reasons why two calls compute different results from the same inputs.

The weights may differ, in one element or in all, or be in another order. The settings may differ.
The features may be in another order than the weights expect. Otherwise the reason is in the code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from kerascope.comparing.arrays import number
from kerascope.comparing.families import (
    KERAS,
    SHARED,
    STATISTICS,
    activation_of,
    canonical,
    default_settings,
    family_of,
    plain_name,
    role_of,
)
from kerascope.comparing.runs import parameters_of
from kerascope.comparing.weights import WeightDifference, place_of
from kerascope.foreign.records import Call

_IGNORED = frozenset((
    "", "activation.name", "data_format", "function_type", "output_shape_type", "filters", "units",
    "in_features", "out_features", "in_channels", "out_channels", "input_dim", "output_dim",
    "num_features", "device", "dtype",
))  # fmt: skip
NOTHING_FOUND = "no difference found in weights or settings"
_CERTAIN = ("epsilon ", "approximate ")
_ACTIVATION_NAMES = {"silu": "swish"}


class Side(NamedTuple):
    """One side of a pair of calls: its calls, and the library they belong to."""

    calls: Sequence[Call]
    library: str

    @property
    def call(self) -> Call:
        """The first call of this side, which is the one with the weights."""
        return self.calls[0]


def reasons_of(
    a: Side,
    b: Side,
    weights: Sequence[WeightDifference],
    settings: Sequence[str],
    has_old_order: bool,
    is_part: bool,
    gelu_forms: str,
) -> list[str]:
    """Return the possible reasons why two calls with equal inputs differ, the most likely first."""
    has_other_shape = _have_other_shapes(a, b) and not is_part
    reasons = [_words_of_shapes(a, b)] if has_other_shape else []
    reasons += [words_of_weights(one) for one in weights]
    reasons += _arrays_of_one(a, b)
    if settings:
        reasons.append("settings differ: " + "; ".join(settings))
    reasons += arguments_that_differ(a, b)
    if gelu_forms:
        reasons.append(gelu_forms)
    if has_old_order:
        reasons.append(
            "the features are in another order (channels first or last?), but the weights are not: "
            "permute the rows of one kernel"
        )
    if not reasons and plain_name(a.call.op) != plain_name(b.call.op):
        reasons.append(f"the operations differ: {a.call.op} in a, {b.call.op} in b")
    return reasons or [NOTHING_FOUND]


def _shapes(side: Side) -> list[tuple[int | None, ...]]:
    return [value.shape for value in side.calls[-1].outputs[:1]]


def _have_other_shapes(a: Side, b: Side) -> bool:
    """Return whether the output shapes differ. Between libraries, ignore the order of axes."""
    first, second = _shapes(a), _shapes(b)
    if a.library == b.library:
        return first != second
    if not first or not second or len(first[0]) != len(second[0]):
        return False
    sizes = [sorted(n or 0 for shape in one for n in shape if n != 1) for one in (first, second)]
    return sizes[0] != sizes[1]


def _words_of_shapes(a: Side, b: Side) -> str:
    first, second = (", ".join(map(str, _shapes(side))) for side in (a, b))
    return f"shapes differ: {first} in a, {second} in b"


def _arrays_of_one(a: Side, b: Side) -> list[str]:
    """Return texts about the weights that exist in only one of the two layers."""
    roles = [
        {role_of(name, len(value.shape)) for name, value in parameters_of(side.calls).items()}
        for side in (a, b)
    ]
    if not all(roles):
        return []
    reasons = []
    for word, mine, others in (("a", roles[0], roles[1]), ("b", roles[1], roles[0])):
        alone = sorted(mine - others - set(STATISTICS))
        if alone and others <= mine:  # otherwise the names may just differ
            reasons.append(f"only {word} has {', '.join(alone)}")
    return reasons


def words_of_weights(one: WeightDifference) -> str:
    """Return the differences between the weights of two layers as text."""
    name, found = one.name_a, one.difference
    if one.name_b != one.name_a:
        name = f"{one.name_a} ({one.name_b} in b)"
    if one.is_misplaced:
        return f"{name} holds the same numbers in the wrong order: {_words_of_order(one.layout)}"
    where = f"{one.name_a}{place_of(found.place)} is {number(found.value_a)} in a"
    where += f", {number(found.value_b)} in b"
    if found.differing == 1:
        return f"{name} differs at one number of {found.size:,}: {where}"
    share = f"at {found.differing:,} of {found.size:,} numbers"
    return f"{name} differs {share}, most at {place_of(found.place)}: {where}"


def _words_of_order(layout: str) -> str:
    if not layout.startswith("axes"):
        return layout
    axes = [int(n) for n in re.findall(r"\d+", layout)]
    if axes == sorted(axes):
        return "they are in the order of a, but b stores them transposed"
    return f"transposed, {layout}"


# --- settings -------------------------------------------------------------------------------------


def settings_that_differ(a: Side, b: Side) -> list[str]:
    """Return texts about settings that differ, such as "epsilon 0.001 in a, 1e-05 in b"."""
    first, second = (_settings(side) for side in (a, b))
    is_one_library = a.library == b.library or {a.library, b.library} <= set(KERAS)
    reasons = []
    for name in dict.fromkeys((*first, *second)):
        if name in _IGNORED or not (is_one_library or name in SHARED):
            continue
        values = [side.get(name) for side in (first, second)]
        if None in values or _is_same(*values):
            continue
        if name == "padding":
            pads = [_pads(value, side) for value, side in zip(values, (a, b), strict=True)]
            if pads[0] is not None and pads[0] == pads[1]:
                continue
            values = [_words_of_pads(v, p) for v, p in zip(values, pads, strict=True)]
        reasons.append(f"{name} {_text(values[0])} in a, {_text(values[1])} in b")
    return reasons


def arguments_that_differ(a: Side, b: Side) -> list[str]:
    """Return texts about the arguments that differ between two operations of one library.

    These are unnamed arguments, such as the factor in `x * 0.35`, and settings that only one side
    states because the other one uses the library's default.

    Examples
    --------
    >>> a, b = (Call("pad", "pad", "pad", "shaping", (), (), settings=one)
    ...         for one in ({"": "(1, 1)"}, {"": "(1, 1)", "mode": "reflect"}))
    >>> arguments_that_differ(Side([a], "torch"), Side([b], "torch"))
    ['mode is reflect in b, not set in a']
    """
    reasons: list[str] = []
    for one, other in zip(a.calls, b.calls, strict=False):
        if a.library != b.library or one.op != other.op:
            continue
        words = [call.settings.get("", "none") for call in (one, other)]
        if words[0] != words[1]:
            reasons.append(f"arguments differ: {words[0]} in a, {words[1]} in b")
        first, second = one.settings, other.settings
        for word, where, mine, others in (("a", "b", first, second), ("b", "a", second, first)):
            alone = [name for name in mine if name not in others and name not in _IGNORED]
            reasons += [
                f"{name} is {_text(mine[name])} in {word}, not set in {where}" for name in alone
            ]
    return reasons


def constants_that_differ(
    a: Sequence[tuple[str, float]], b: Sequence[tuple[str, float]]
) -> list[str]:
    """Return texts about constants that differ between two calls and consist of a single number.

    Examples
    --------
    >>> constants_that_differ([("scale", 0.35)], [("scale", 0.17)])
    ['the number scale is 0.35 in a, 0.17 in b']
    """
    if len(a) != len(b):
        return []
    reasons = []
    for (name, x), (other, y) in zip(a, b, strict=True):
        if abs(x - y) > 1e-6 * max(abs(x), abs(y)):
            names = " or ".join(filter(None, dict.fromkeys((name, other))))
            reasons.append(
                f"the number {names} is {x:.6g} in a, {y:.6g} in b"
                if names
                else f"it computes with {x:.6g} in a, with {y:.6g} in b"
            )
    return reasons


def numbers_in(call: Call) -> list[tuple[str, float]]:
    """Return the unnamed arguments of an operation that are fractions.

    Integers are omitted, because they may be axes and sizes, which libraries count differently.

    Examples
    --------
    >>> numbers_in(Call("mul", "mul", "mul", "function", (), (), settings={"": "x * 0.35"}))
    [('', 0.35)]
    """
    operands = (str(call.settings.get(name, "")) for name in ("", "A", "B"))  # ONNX uses letters
    words = re.findall(r"-?\d+\.\d*(?:e[-+]?\d+)?", " ".join(operands))
    return [("", float(one)) for one in words]


def certain_settings(settings: Sequence[str]) -> list[str]:
    """Return the differences of settings that always change the result, even if only slightly.

    Examples
    --------
    >>> certain_settings(["epsilon 0.001 in a, 1e-05 in b", "padding same in a, 0 in b"])
    ['settings differ: epsilon 0.001 in a, 1e-05 in b']
    """
    found = [one for one in settings if one.startswith(_CERTAIN)]
    return ["settings differ: " + "; ".join(found)] if found else []


def _settings(side: Side) -> dict[str, object]:
    """Return the settings of a layer, including those of a separate activation call."""
    found: dict[str, object] = dict(default_settings(side.library, side.call))
    found |= canonical(side.call.settings)
    own = activation_of(side.call.settings)
    if family_of(side.calls[-1]) == "activation":
        last = side.calls[-1]
        found |= canonical(last.settings)
        own = activation_of(last.settings) or plain_name(last.op)
    family = family_of(side.call)
    if family == "activation" and "activation" not in found:
        own = plain_name(side.call.op)
    if own or family in ("dense", "convolution"):
        own = own.removeprefix("ft").removesuffix("activation") or "none"
        found["activation"] = _ACTIVATION_NAMES.get(own, own)
    return found


def setting_of(call: Call, name: str, library: str = "") -> object:
    """Return a setting of a call, or its default, by its common name; None if both are unknown."""
    return {**default_settings(library, call), **canonical(call.settings)}.get(name)


def _is_same(a: object, b: object) -> bool:
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return abs(a - b) <= 1e-6 * max(abs(a), abs(b))
    return a == b


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _pads(value: object, side: Side) -> tuple[tuple[int, int], ...] | None:
    """Return the padding (before, after) of each axis of a window; None if it is unknown."""
    axes = _window_axes(side)
    if isinstance(value, int):
        return ((value, value),) * len(axes)
    if isinstance(value, tuple) and all(isinstance(one, int) for one in value):
        if len(value) == len(axes):
            return tuple((one, one) for one in value)
        if len(value) == 2 * len(axes):
            return tuple(zip(value[: len(axes)], value[len(axes) :], strict=True))
    if value != "same" or not axes:
        return None
    settings = canonical(side.call.settings)
    pads = []
    for place, size in enumerate(axes):
        kernel, stride, dilation = (
            _along(settings.get(name, default), place)
            for name, default in (("kernel_size", None), ("strides", 1), ("dilation_rate", 1))
        )
        if kernel is None or stride is None or dilation is None or size is None:
            return None
        reach = (kernel - 1) * dilation + 1
        total = max((-(-size // stride) - 1) * stride + reach - size, 0)
        pads.append((total // 2, total - total // 2))
    return tuple(pads)


def _window_axes(side: Side) -> tuple[int | None, ...]:
    """Return the sizes of the axes along which the window of a convolution or pooling moves."""
    if not side.call.inputs:
        return ()
    shape = side.call.inputs[0].shape
    first = str(side.call.settings.get("data_format", "")) == "channels_first"
    return shape[1:-1] if side.library in KERAS and not first else shape[2:]


def _along(value: object, place: int) -> int | None:
    one = value[place] if isinstance(value, tuple) and place < len(value) else value
    return one if isinstance(one, int) else None


def _words_of_pads(value: object, pads: tuple[tuple[int, int], ...] | None) -> str:
    if pads is None or not isinstance(value, str):
        return _text(value)
    reasons = ", ".join(
        f"{before} before and {behind} after" for before, behind in dict.fromkeys(pads)
    )
    return f"{value} ({reasons})" if re.search("same", value) else _text(value)
