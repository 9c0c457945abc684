"""Compare groups of calls in which no single call has a partner.

Keras has an attention in one layer, while other libraries write three projections, two products and
a softmax. An exporter folds a normalization into the convolution before it. Such groups are
compared as a whole: their inputs, their outputs, and all of their weights.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from kerascope.comparing.alignment import Alignment
from kerascope.comparing.families import KERAS, WITH_ACTIVATION, are_weights_alike, role_of
from kerascope.comparing.reasons import (
    NOTHING_FOUND,
    Side,
    setting_of,
    settings_that_differ,
    words_of_weights,
)
from kerascope.comparing.runs import Run, Unit
from kerascope.comparing.weights import (
    ENOUGH,
    WeightDifference,
    Weights,
    in_common,
    overlap,
    weight_differences,
)
from kerascope.foreign.records import Call, Recorded
from kerascope.trace.records import listed

NAMED = 4  # number of calls that are named for a group
# Families whose settings decide what a group computes.
_DECISIVE = ("attention", "normalization", "convolution", "pooling", "recurrent", "activation")
_ONE_SIDED = ("is_causal", "mask")


@dataclass(frozen=True)
class Group:
    """Units of both sides that compute the same together, although no two of them correspond.

    Attributes
    ----------
    a, b : tuple of Unit
    outputs : (tuple of Recorded, tuple of Recorded)
        For each side, the outputs of its units that are read by units outside the group.
    folded : (Unit, Unit, Unit) or None
        A layer, and the layer and the normalization of the other side that are folded into it.
        None if no normalization is folded.
    """

    a: tuple[Unit, ...]
    b: tuple[Unit, ...]
    outputs: tuple[tuple[Recorded, ...], tuple[Recorded, ...]]
    folded: tuple[Unit, Unit, Unit] | None = None

    @property
    def calls(self) -> tuple[tuple[Call, ...], tuple[Call, ...]]:
        """The calls in the units of `a`, and those in the units of `b`."""
        a, b = (tuple(c for unit in units for c in unit.calls) for units in (self.a, self.b))
        return a, b


def group_before(alignment: Alignment, a: Unit, b: Unit) -> Group | None:
    """Return the group of unpaired units before a pair, or None if one side has no such units."""
    sides, outputs = [], []
    for unit, behind in zip((a, b), alignment.unpaired_before(a, b), strict=True):
        made = {value.token for one in behind for value in one.outputs}
        read = tuple(value for value in unit.inputs if value.token in made)
        if not read or all(one.family == "noise" for one in behind):
            return None  # a Dropout is inactive here
        sides.append(tuple(sorted(behind, key=lambda one: one.number)))
        outputs.append(read)
    return Group(sides[0], sides[1], (outputs[0], outputs[1]))


def group_folded(alignment: Alignment, a: Unit, b: Unit) -> Group | None:
    """Return the group of two layers if a normalization is folded into one of them, otherwise None.

    One side has a layer and a normalization that alone reads it. The other side has only a layer,
    whose weights differ because they contain the normalization. The statistics of the
    normalization must be known.
    """
    if (
        a.family not in WITH_ACTIVATION
        or a.family != b.family
        or overlap(a.weights, b.weights) >= ENOUGH
    ):
        return None
    free_a, free_b = (
        {u.number for u in run.units} - known
        for run, known in (
            (alignment.a, set(alignment.pairs)),
            (alignment.b, set(alignment.pairs.values())),
        )
    )
    found = [
        _with_norm(alignment.a, a, free_a, has_activation=b.activation is not None),
        _with_norm(alignment.b, b, free_b, has_activation=a.activation is not None),
    ]
    if bool(found[0]) == bool(found[1]):
        return None
    before = alignment.unpaired_before(a, b)
    units_a = (*before[0], a, *found[0])
    units_b = (*before[1], b, *found[1])
    folded = (b, a, found[0][0]) if found[0] else (a, b, found[1][0])
    return Group(units_a, units_b, (units_a[-1].outputs, units_b[-1].outputs), folded)


def _with_norm(run: Run, unit: Unit, free: set[int], *, has_activation: bool) -> list[Unit]:
    """Return a list with the normalization that is the only reader of a layer; [] if there is none.

    With `has_activation`, an activation that is the only reader of the normalization is appended.
    """
    norm = _only_reader(run, unit, free)
    if norm is None or norm.family != "normalization" or "moving_variance" not in _roles(norm):
        return []
    last = _only_reader(run, norm, free)
    if has_activation and last is not None and last.family == "activation":
        return [norm, last]
    return [norm]


def _only_reader(run: Run, unit: Unit, free: set[int]) -> Unit | None:
    if len(unit.readers) != 1 or unit.readers[0] not in free:
        return None
    return run.units[unit.readers[0]]


# --- why two groups differ ------------------------------------------------------------------------


def reasons_of_group(group: Group, alignment: Alignment, tolerance: float) -> list[str]:
    """Return possible reasons for the difference of two groups, the most likely first."""
    libraries = alignment.a.library, alignment.b.library
    if group.folded is not None:
        return _of_folded(group.folded, group, libraries, tolerance)
    reasons = [words_of_weights(one) for one in _weights(group, alignment, tolerance)]
    settings = _settings(group, libraries)
    if settings:
        reasons.append("settings differ: " + "; ".join(settings))
    if not reasons:
        reasons.append(NOTHING_FOUND)
    return [*reasons, *_words_of_calls(group)]


def _words_of_calls(group: Group) -> list[str]:
    """Return, for each side, a line of text that names its calls in a group."""
    return [
        f"{word} computes it with: {listed([unit.words for unit in units], NAMED)}"
        for word, units in (("a", group.a), ("b", group.b))
    ]


def _settings(group: Group, libraries: tuple[str, str]) -> list[str]:
    reasons = []
    for family in _DECISIVE:
        ones = [[unit for unit in units if unit.family == family] for units in (group.a, group.b)]
        if len(ones[0]) == len(ones[1]) == 1:
            sides = [Side(one[0].calls, lib) for one, lib in zip(ones, libraries, strict=True)]
            reasons += settings_that_differ(*sides)
        elif family == "attention" and len(ones[0]) + len(ones[1]) == 1:
            word, one = ("a", ones[0][0]) if ones[0] else ("b", ones[1][0])
            set_there = [name for name in _ONE_SIDED if setting_of(one.call, name) is True]
            reasons += [f"{name} yes in {word}, not stated by the other" for name in set_there]
    return reasons


# --- weights of groups ----------------------------------------------------------------------------


def _weights(group: Group, alignment: Alignment, tolerance: float) -> Iterator[WeightDifference]:
    """Yield the differences between the weights of two groups, paired by equal elements.

    An array may correspond to a part of a longer one, such as the projection of queries to a joint
    projection of queries, keys and values.
    """
    a, b = (_arrays(units) for units in (group.a, group.b))
    library_a, library_b = alignment.a.library, alignment.b.library
    found: list[tuple[float, str, str, np.ndarray, np.ndarray, bool | None]] = []
    for name_a, (call_a, first) in a.items():
        for name_b, (call_b, second) in b.items():
            same = are_weights_alike((library_a, call_a), (library_b, call_b))
            for one, other in _pieces(first, second):
                share = _share(one, other)
                if share >= ENOUGH:
                    found.append((share, name_a, name_b, one, other, same))
    found.sort(key=lambda entry: -entry[0])
    taken: set[tuple[str, int]] = set()
    for _, name_a, name_b, one, other, same in found:
        keys = (name_a, _start(one)), (name_b, _start(other))
        if taken & set(keys):
            continue
        taken |= set(keys)
        yield from _differences(name_a, name_b, one, other, tolerance, same)


def _start(array: np.ndarray) -> int:
    """Return the memory address of an array's first element.

    It distinguishes the parts of a longer array, which are views that begin at different elements.
    """
    return int(array.__array_interface__["data"][0])


def _arrays(units: Sequence[Unit]) -> dict[str, tuple[Call, np.ndarray]]:
    """Return pairs (call, weight) by "id.name" for the weights of units that are not constant."""
    return {
        f"{unit.call.id}.{name}": (unit.call, array)
        for unit in units
        for name, array in unit.weights.arrays.items()
        if array.size > 1 and array.min() != array.max()
    }


def _pieces(a: np.ndarray, b: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield pairs of arrays of equal size, one from `a` and the other from `b`.

    If `a` and `b` have the same size, they are the only pair. Otherwise the shorter array is paired
    with each of the equal parts of the longer one. Yield nothing if the longer array cannot be
    split into parts of the size of the shorter.
    """
    if a.size == b.size:
        yield a, b
        return
    short, long = (a, b) if a.size < b.size else (b, a)
    parts, rest = divmod(long.size, short.size)
    if rest:
        return
    for axis, length in enumerate(long.shape):
        if length % parts == 0:
            for piece in np.split(long, parts, axis):
                yield (short, piece) if short is a else (piece, short)


def _share(a: np.ndarray, b: np.ndarray) -> float:
    """Return the fraction of the elements that two arrays share, in any order; sizes are equal."""
    numbers = [np.sort(one.astype("float64").ravel()) for one in (a, b)]
    return in_common(numbers[0], numbers[1], a.dtype, b.dtype) / a.size


def _differences(
    name_a: str,
    name_b: str,
    a: np.ndarray,
    b: np.ndarray,
    tolerance: float,
    same_layout: bool | None,
) -> Iterator[WeightDifference]:
    """Yield a `WeightDifference` for two weights that differ.

    One of the two weights may have an additional axis for the heads of an attention.
    """
    first, second = _merged(a, b, same_layout), _merged(b, a, same_layout)
    sides = [
        Weights({"kernel": Recorded(0, array.shape, array.dtype.name, array)})
        for array in (first, second)
    ]
    for one in weight_differences(sides[0], sides[1], tolerance, same_layout=same_layout):
        gap = one.difference
        if gap.place is not None and a.shape != first.shape:
            flat = np.ravel_multi_index(gap.place, first.shape)
            place = tuple(int(n) for n in np.unravel_index(flat, a.shape))
            gap = gap._replace(place=place)
        yield one._replace(name_a=name_a, name_b=name_b, difference=gap)


def _merged(array: np.ndarray, like: np.ndarray, same_layout: bool | None) -> np.ndarray:
    """Return an array whose adjacent axes are merged, so that it has the rank of `like`."""
    if array.ndim <= like.ndim:
        return array
    wanted = [like.shape, like.shape[::-1]]
    fitting = []
    for cuts in combinations(range(1, array.ndim), like.ndim - 1):
        bounds = (0, *cuts, array.ndim)
        shape = tuple(math.prod(array.shape[i:j]) for i, j in pairwise(bounds))
        if shape in wanted:
            fitting.append(shape)
    fitting.sort(key=lambda shape: (shape == like.shape) != (same_layout is not False))
    return array.reshape(fitting[0]) if fitting else array


# --- folded normalizations ------------------------------------------------------------------------


def _roles(unit: Unit) -> dict[str, np.ndarray]:
    return {role_of(name, array.ndim): array for name, array in unit.weights.arrays.items()}


def _of_folded(
    folded: tuple[Unit, Unit, Unit], group: Group, libraries: tuple[str, str], tolerance: float
) -> list[str]:
    """Return texts about how a layer differs from the layer and normalization folded into it."""
    whole, layer, norm = folded
    is_in_a = whole in group.a
    library = libraries[is_in_a]
    word, other = ("a", "b") if is_in_a else ("b", "a")
    reasons = [f"{word} has {norm.call.id} of {other} folded into the weights of {whole.call.id}"]
    arrays = _folded(layer, norm, library)
    if arrays is None:
        return reasons
    made, known = Weights(_recorded(arrays)), whole.weights
    sides = (known, made) if is_in_a else (made, known)
    layout = are_weights_alike(
        (libraries[not is_in_a], whole.call), (libraries[is_in_a], layer.call)
    )
    for one in weight_differences(*sides, tolerance, same_layout=layout):
        reasons.append(f"after the same folding, {words_of_weights(one)}")
    sides_of_layers = Side(whole.calls[:1], libraries[not is_in_a]), Side([layer.call], library)
    ordered = sides_of_layers if is_in_a else sides_of_layers[::-1]
    settings = [one for one in settings_that_differ(*ordered) if not one.startswith("activation")]
    if settings and {group.a[0], group.b[0]} == {whole, layer}:  # no separate padding before
        reasons.append("settings differ: " + "; ".join(settings))
    return reasons


def _recorded(arrays: Mapping[str, np.ndarray]) -> dict[str, Recorded]:
    return {name: Recorded(0, one.shape, one.dtype.name, one) for name, one in arrays.items()}


def _folded(layer: Unit, norm: Unit, library: str) -> dict[str, np.ndarray] | None:
    """Return a layer's weights with its normalization folded in; None if they do not fit."""
    own, kernel = _roles(layer), _roles(layer).get("kernel")
    of_norm, epsilon = _roles(norm), setting_of(norm.call, "epsilon", library)
    variance, mean = of_norm.get("moving_variance"), of_norm.get("moving_mean")
    if kernel is None or variance is None or mean is None or not isinstance(epsilon, (int, float)):
        return None
    factor = of_norm.get("scale", np.ones_like(mean)) / np.sqrt(variance + epsilon)
    axis = 0 if library not in KERAS else kernel.ndim - (1 if kernel.shape[-1] > 1 else 2)
    if kernel.shape[axis] != factor.size:
        return None
    shape = [1] * kernel.ndim
    shape[axis] = factor.size
    bias = (own.get("bias", np.zeros_like(mean)) - mean) * factor + of_norm.get("bias", 0.0)
    return {"kernel": kernel * factor.reshape(shape), "bias": bias}
