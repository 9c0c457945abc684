"""The weights of two layers: compared regardless of the order of axes, and their differences.

A model that was ported keeps its weights, so corresponding layers share most numbers, in whatever
order. `overlap` returns the share of common numbers. `weight_differences` pairs the arrays of two
layers by role, by size and by their numbers, finds the order of axes in which they match best, and
returns the remaining differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import permutations, product
from typing import NamedTuple

import numpy as np

from kerascope.comparing.arrays import Chunk, Difference, Index, as_numbers, measured
from kerascope.comparing.families import STATISTICS, role_of
from kerascope.foreign.records import Recorded

ENOUGH = 0.5  # share of common numbers from which layers are considered the same
MOST_TRIED = 1_000_000  # size of an array up to which other orders are tried


class Weights:
    """The weights of a layer as arrays.

    Parameters
    ----------
    parameters : mapping of str to Recorded
        The recorded weights. Only those with known numbers are used.
    """

    def __init__(self, parameters: Mapping[str, Recorded]) -> None:
        self.arrays = {
            name: np.asarray(value.array)
            for name, value in parameters.items()
            if isinstance(value.array, (np.ndarray, np.generic))
        }

    def __bool__(self) -> bool:
        return bool(self.arrays)

    @property
    def _own(self) -> list[str]:
        return [name for name in self.arrays if _role(self, name) not in STATISTICS]

    @cached_property
    def sizes(self) -> tuple[tuple[int, ...], ...]:
        """The sorted axis sizes of each array, without 1, to compare shapes in any axis order."""
        return tuple(sorted(_size(self.arrays[name]) for name in self._own))

    @cached_property
    def distinctive(self) -> dict[str, np.ndarray]:
        """The sorted elements of each array, except constant ones such as a bias of zeros."""
        found = {}
        for name in self._own:
            numbers = np.sort(self.arrays[name].astype("float64").ravel())
            if numbers.size > 1 and numbers[0] != numbers[-1]:
                found[name] = numbers
        return found

    @cached_property
    def dtypes(self) -> dict[str, np.dtype]:
        """The dtype of each array of weights."""
        return {name: array.dtype for name, array in self.arrays.items()}


def _role(weights: Weights, name: str) -> str:
    return role_of(name, weights.arrays[name].ndim)


def _size(array: np.ndarray) -> tuple[int, ...]:
    return tuple(sorted(n for n in array.shape if n != 1))


def overlap(a: Weights, b: Weights) -> float:
    """Return the share of equal numbers in two layers' weights, in any order.

    It is 0 if the weights of a layer are all constant.


    Examples
    --------
    >>> def layer(array):
    ...     return Weights({"kernel": Recorded(0, array.shape, "float32", array)})
    >>> kernel = np.arange(6, dtype="float32").reshape(2, 3)
    >>> changed = np.where(kernel == 4, 9, kernel)
    >>> overlap(layer(kernel), layer(kernel.T)), round(overlap(layer(kernel), layer(changed)), 2)
    (1.0, 0.83)
    """
    if not a.distinctive or not b.distinctive:
        return 0.0
    common = 0
    free = dict(b.distinctive)
    for name, numbers in a.distinctive.items():
        fitting = [other for other in free if free[other].size == numbers.size]
        if not fitting:
            continue
        counts = {o: in_common(numbers, free[o], a.dtypes[name], b.dtypes[o]) for o in fitting}
        best = max(fitting, key=lambda other: (counts[other], _role(b, other) == _role(a, name)))
        common += counts[best]
        del free[best]
    total = max(sum(x.size for x in side.distinctive.values()) for side in (a, b))
    return common / total


def in_common(a: np.ndarray, b: np.ndarray, dtype_a: np.dtype, dtype_b: np.dtype) -> int:
    """Return how many elements two sorted arrays share.

    If their dtypes differ, both are rounded to the shorter one first.
    """
    if dtype_a != dtype_b:
        shorter = min((dtype_a, dtype_b), key=lambda dtype: dtype.itemsize)
        a, b = (x.astype(shorter).astype("float64") for x in (a, b))
    if np.array_equal(a, b):
        return int(a.size)
    left, right = np.searchsorted(b, a, "left"), np.searchsorted(b, a, "right")
    return int((right > left).sum())


def reordered(weights: Weights, order: np.ndarray) -> Weights:
    """Return the weights that a layer needs if its input features are in the order `order`."""
    found = Weights({})
    for name, array in weights.arrays.items():
        axes = [axis for axis, size in enumerate(array.shape) if size == order.size]
        found.arrays[name] = np.take(array, order, axes[0]) if axes and array.ndim > 1 else array
    return found


def part_of(weights: Weights, part: Chunk, like: Weights) -> Weights:
    """Return the weights with which a layer computes one part of its outputs.

    Parameters
    ----------
    weights : Weights
        The weights of a layer that does the work of several layers.
    part : Chunk
        The number of the part, and the number of parts of which the layer computes all.
    like : Weights
        The weights of a layer that only computes this part.
    """
    found = Weights({})
    sizes = {_size(array) for array in like.arrays.values()}
    for name, array in weights.arrays.items():
        for axis, length in enumerate(array.shape):
            piece = (
                np.split(array, part.parts, axis)[part.number] if not length % part.parts else array
            )
            if _size(piece) in sizes and piece.size < array.size:
                found.arrays[name] = piece
                break
    return found


# --- where they differ ----------------------------------------------------------------------------


class WeightDifference(NamedTuple):
    """The difference between two arrays of a pair of layers.

    Attributes
    ----------
    name_a, name_b : str
        The names of the two arrays.
    layout : str
        The order of axes of the second array that matches the first: "" if it is the same, or
        "axes (1, 0)". For misplaced numbers, a description of their order.
    difference : Difference
        The remaining difference. It is within the tolerance if only the order differs.
    is_misplaced : bool
        Whether the second array has the same numbers in a wrong order.
    """

    name_a: str
    name_b: str
    layout: str
    difference: Difference
    is_misplaced: bool = False


def paired_arrays(a: Weights, b: Weights) -> list[tuple[str, str]]:
    """Return pairs of names of two layers' arrays that have the same size.

    Arrays that also have the same role, such as "kernel", are paired first.
    """
    free = list(b.arrays)
    pairs: list[tuple[str, str]] = []
    for by_role in (True, False):
        for name, array in a.arrays.items():
            if any(name == known for known, _ in pairs):
                continue
            fitting = [
                other
                for other in free
                if _size(b.arrays[other]) == _size(array)
                and (not by_role or _role(b, other) == _role(a, name))
            ]
            if fitting:
                same = [other for other in fitting if other == name]
                pairs.append((name, (same or fitting)[0]))
                free.remove(pairs[-1][1])
    order = list(a.arrays)
    return sorted(pairs, key=lambda pair: order.index(pair[0]))


def weight_differences(
    a: Weights, b: Weights, tolerance: float, *, same_layout: bool | None
) -> list[WeightDifference]:
    """Return the differences between the weights of two layers, misplaced arrays first.

    Parameters
    ----------
    a, b : Weights
    tolerance : float
        Tolerance relative to the largest number of an array.
    same_layout : bool
        Whether both libraries use the same order of axes for weights. None if unknown.

    Examples
    --------
    >>> def layer(array):
    ...     return Weights({"kernel": Recorded(0, array.shape, "float32", array)})
    >>> kernel = np.arange(4, dtype="float32").reshape(2, 2)
    >>> found = weight_differences(layer(kernel), layer(kernel.T), 1e-4, same_layout=True)
    >>> found[0].layout, found[0].is_misplaced
    ('axes (1, 0)', True)
    """
    found = []
    for name_a, name_b in paired_arrays(a, b):
        first, second = a.arrays[name_a], b.arrays[name_b]
        one = _array_difference(first, second, tolerance, same_layout)
        if one is not None:
            found.append(WeightDifference(name_a, name_b, *one))
    return sorted(found, key=lambda one: not one.is_misplaced)


def _array_difference(
    a: np.ndarray, b: np.ndarray, tolerance: float, same_layout: bool | None
) -> tuple[str, Difference, bool] | None:
    """Return the difference between two arrays in the order of axes that matches best.

    The result is (order of axes, difference, whether this order is not the expected one), or None
    if the arrays agree or have different sizes.
    """
    orders = _orders(a, b)
    if not orders:
        return None
    b = b.reshape(_shape(b, a))
    usual = _expected_axes(a, b, orders, same_layout is not False)
    in_usual = measured(a, b.transpose(usual), tolerance)
    if in_usual.relative <= tolerance:
        return None
    tried = [(usual, in_usual)]
    tried += [(axes, measured(a, b.transpose(axes), tolerance)) for axes in orders if axes != usual]
    axes, best = min(tried, key=lambda one: one[1].differing)
    words = f"axes {axes}"
    if best.relative <= tolerance and same_layout is None:
        return None  # in ONNX, an attribute of Gemm states the order
    if best.relative <= tolerance and axes != usual:
        return words, best, True
    if best.differing > a.size // 2:
        turned = _turned(a, b.transpose(usual), tolerance)
        if turned is not None:
            return (*turned, True)
    if in_usual.differing <= best.differing or best.differing > a.size // 2:
        axes, best = usual, in_usual
    return ("" if axes == tuple(range(a.ndim)) else f"axes {axes}"), best, False


def _shape(array: np.ndarray, like: np.ndarray) -> Sequence[int]:
    """Return a shape for an array of the same size as `like`, with the rank of `like`.

    It is the shape of the array, if necessary without axes of size 1. If these have another rank
    than `like`, it is the shape of `like`.
    """
    if array.ndim == like.ndim:
        return array.shape
    kept = [n for n in array.shape if n != 1]
    return kept if len(kept) == like.ndim else like.shape


def _orders(a: np.ndarray, b: np.ndarray) -> list[tuple[int, ...]]:
    """Return the orders of axes that give the second array the shape of the first.

    The list is empty if there are none.
    """
    if a.size != b.size:
        return []
    shape = _shape(b, a)
    return [
        axes for axes in permutations(range(a.ndim)) if tuple(shape[i] for i in axes) == a.shape
    ]


def _expected_axes(
    a: np.ndarray, b: np.ndarray, orders: list[tuple[int, ...]], same_layout: bool
) -> tuple[int, ...]:
    """Return the order of axes by which arrays of the two libraries usually differ.

    In Keras, the axes for inputs and outputs come after the axes of the window. Most other
    libraries put outputs first, then inputs. If no usual order fits, return the first of `orders`.
    """
    plain = tuple(range(a.ndim))
    expected = [plain] if same_layout else [(1, 0), (2, 3, 1, 0), (3, 2, 0, 1), (2, 1, 0),
                                            (2, 3, 4, 1, 0), (4, 3, 0, 1, 2)]  # fmt: skip
    return next((axes for axes in expected if axes in orders), orders[0])


def _turned(a: np.ndarray, b: np.ndarray, tolerance: float) -> tuple[str, Difference] | None:
    """Return the order in which the second array equals the first, and the remaining difference.

    Return None if the arrays do not have the same elements.
    """
    if not np.allclose(
        np.sort(as_numbers(a), axis=None), np.sort(as_numbers(b), axis=None), rtol=tolerance
    ):
        return None
    if a.size > MOST_TRIED:
        return "in another order", Difference(0.0, 0.0, size=a.size)
    for flipped in product((False, True), repeat=a.ndim):
        axes = tuple(i for i, flip in enumerate(flipped) if flip)
        difference = measured(a, np.flip(b, axes), tolerance)
        if axes and difference.relative <= tolerance:
            return f"reversed along axes {axes}", difference
    for axis in range(a.ndim):
        order = _order_along(a, b, axis)
        if order is not None:
            difference = measured(a, np.take(b, order, axis), tolerance)
            if difference.relative <= tolerance:
                return f"in another order along axis {axis}", difference
    return "in another order", measured(np.sort(a, axis=None), np.sort(b, axis=None), tolerance)


def _order_along(a: np.ndarray, b: np.ndarray, axis: int) -> np.ndarray | None:
    """Return the order along an axis in which the slices of the second array match the first."""
    rows = [np.moveaxis(as_numbers(x), axis, 0).reshape(x.shape[axis], -1) for x in (a, b)]
    keys = [np.lexsort(one.T[::-1]) for one in rows]
    order = np.empty_like(keys[0])
    order[keys[0]] = keys[1]
    return order


def place_of(index: Index | None) -> str:
    """Return an index of an array as text, such as "[3, 1]"."""
    return "" if index is None else f"[{', '.join(map(str, index))}]"
