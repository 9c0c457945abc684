"""Shape arithmetic with sizes that may be unknown.

A shape is a tuple of sizes. `None` is a size that is known only when a function runs, usually the
batch size. NumPy's own `broadcast_shapes` rejects None, so this module has the few rules needed, as
plain functions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kerascope.errors import ArgumentError, ShapeError

Size = int | None
Shape = tuple[Size, ...]
Axes = int | Iterable[int] | None  # None: all of them
Shapes = Shape | list[Shape]  # of one tensor, or of several


class UnknownShape(tuple[Size, ...]):
    """The shape of a tensor whose number of axes is unknown; it equals only itself.

    The output of an opaque layer has this shape if its own shape cannot be inferred from the file.

    Examples
    --------
    >>> UNKNOWN, UNKNOWN == (), as_shape(UNKNOWN) is UNKNOWN
    (?, False, True)
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return "?"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)

    def __reduce__(self) -> str:
        return "UNKNOWN"


UNKNOWN = UnknownShape()

# Equal shapes share one tuple: a deep network has thousands of tensors, but few shapes.
MOST_KNOWN = 4096
_known: dict[Shape, Shape] = {}


def as_shape(shape: Iterable[int | None] | int) -> Shape:
    """Return a shape as a tuple of plain ints and None.

    Raises
    ------
    ArgumentError
        A size is negative or not an integer.
    """
    if shape is UNKNOWN:
        return UNKNOWN
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    try:
        known = _known.get(sizes)
    except TypeError:  # a size that cannot be hashed
        known = None
    if known is not None:
        return known
    checked: list[Size] = []
    for size in sizes:
        try:
            whole = None if size is None else int(size)
        except (TypeError, ValueError):
            whole = -1
        if whole is not None and (whole < 0 or whole != size):
            raise ArgumentError(
                f"shape {sizes}: expected sizes that are whole numbers >= 0 or None, got {size!r}."
            )
        checked.append(whole)
    if len(_known) >= MOST_KNOWN:
        _known.clear()
    found = tuple(checked)
    return _known.setdefault(found, found)


def placeholder_shape(shape: Iterable[int | None] | None, ndim: int | None) -> Shape:
    """Return the shape of a placeholder from `shape`, or from `ndim` with all sizes unknown.

    Raises
    ------
    ArgumentError
        Neither argument is given.
    """
    if shape is not None:
        return as_shape(shape)
    if ndim is None:
        raise ArgumentError("K.placeholder: expected shape=(None, 20) or ndim=2, got neither.")
    return (None,) * ndim


def product(shape: Iterable[Size]) -> Size:
    """Return the number of elements, or None if a size is unknown."""
    total = 1
    for size in shape:
        if size is None:
            return None
        total *= size
    return total


def normalize_axis(axis: int, ndim: int, where: str = "axis") -> int:
    """Return an axis as an index in [0, ndim); a negative axis counts from the end.

    Raises
    ------
    ArgumentError
        The tensor has no such axis.
    """
    try:
        is_there = -ndim <= axis < ndim
    except TypeError:  # not a number
        is_there = False
    if not is_there:
        raise ArgumentError(
            f"{where}: expected axis {-ndim} to {ndim - 1} in a tensor of {ndim} axes, got {axis}."
        )
    return int(axis) % ndim


def normalize_axes(axis: Axes, ndim: int, where: str) -> tuple[int, ...]:
    """Return axes as a sorted tuple of non-negative indices; None means all axes."""
    if axis is None:
        return tuple(range(ndim))
    listed = axis if isinstance(axis, Iterable) else (axis,)
    return tuple(sorted({normalize_axis(a, ndim, where) for a in listed}))


def broadcast_size(a: Size, b: Size) -> Size:
    """Return the size of an axis that is broadcast from sizes `a` and `b`.

    An unknown size and 1 give an unknown size. An unknown size and n > 1 give n, because the
    unknown size can only be n or 1.

    Raises
    ------
    ValueError
        Both sizes are known, they differ, and neither is 1.
    """
    if a == b or b == 1:
        return a
    if a == 1 or a is None:
        return b
    if b is None:
        return a
    raise ValueError(f"Expected equal sizes or 1, got {a} and {b}.")


def broadcast_shapes(*shapes: Shape, where: str = "broadcast") -> Shape:
    """Return the shape of an elementwise operation on tensors of these shapes.

    Raises
    ------
    ShapeError
        Two sizes of one axis differ and neither is 1.

    Examples
    --------
    >>> broadcast_shapes((None, 3), (3,))
    (None, 3)
    >>> broadcast_shapes((None, 1), (4, 5))
    (4, 5)
    """
    ndim = max((len(shape) for shape in shapes), default=0)
    result: list[Size] = [1] * ndim
    for shape in shapes:
        for axis, size in enumerate(shape, start=ndim - len(shape)):
            try:
                result[axis] = broadcast_size(result[axis], size)
            except ValueError:
                listed = " and ".join(map(str, shapes))
                raise ShapeError(
                    f"{where}: shapes {listed} do not fit at axis {axis - ndim}: expected equal "
                    f"sizes or 1, got {result[axis]} and {size}."
                ) from None
    return tuple(result)


def merge_shapes(a: Shape, b: Shape) -> Shape | None:
    """Return the shape with the known sizes of two shapes, or None if the shapes do not agree."""
    if len(a) != len(b):
        return None
    if any(x is not None and y is not None and x != y for x, y in zip(a, b, strict=True)):
        return None
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def reduced_shape(shape: Shape, axes: Sequence[int], *, keepdims: bool) -> Shape:
    """Return the shape after a reduction over `axes`, which must be non-negative.

    Examples
    --------
    >>> reduced_shape((None, 3, 4), (1,), keepdims=False)
    (None, 4)
    """
    if keepdims:
        return tuple(1 if axis in axes else size for axis, size in enumerate(shape))
    return tuple(size for axis, size in enumerate(shape) if axis not in axes)


def concatenated_shape(shapes: Sequence[Shape], axis: int, where: str) -> Shape:
    """Return the shape of tensors concatenated along `axis`, which must be non-negative.

    Raises
    ------
    ShapeError
        The tensors differ in number of axes, or in the size of another axis.
    """
    merged: list[Size] = list(shapes[0])
    for shape in shapes[1:]:
        if len(shape) != len(merged):
            raise ShapeError(
                f"{where}: expected {len(merged)} axes in each tensor, got {len(shape)}. Use "
                f"expand_dims or reshape first. The shapes are {', '.join(map(str, shapes))}."
            )
        rest = merge_shapes(
            (*merged[:axis], *merged[axis + 1 :]), (*shape[:axis], *shape[axis + 1 :])
        )
        if rest is None:
            listed = ", ".join(map(str, shapes))
            raise ShapeError(
                f"{where}: shapes {listed} differ outside axis {axis}. Reshape or crop them first."
            )
        merged = [*rest[:axis], _sum_sizes(merged[axis], shape[axis]), *rest[axis:]]
    return tuple(merged)


def _sum_sizes(a: Size, b: Size) -> Size:
    return None if a is None or b is None else a + b


def reshaped_shape(shape: Shape, target: Shape, where: str = "reshape") -> Shape:
    """Return `target` with its -1 replaced by the remaining size, or by None if that is unknown.

    Raises
    ------
    ShapeError
        The numbers of elements differ, or `target` contains several -1.

    Examples
    --------
    >>> reshaped_shape((4, 6), (-1, 3))
    (8, 3)
    >>> reshaped_shape((None, 6), (-1, 3))
    (None, 3)
    """
    if target.count(-1) > 1:
        raise ShapeError(f"{where}: expected at most one -1 in the target shape, got {target}.")
    total = product(shape)
    known = product(size for size in target if size != -1)
    if total is None or known is None:
        return tuple(None if size == -1 else size for size in target)
    if -1 not in target:
        fits = total == known
        rest = -1
    else:
        fits = known != 0 and total % known == 0
        rest = total // known if fits else -1
    if not fits:
        raise ShapeError(
            f"{where}: expected a target shape of {total} elements for shape {shape}, got {target}."
        )
    return tuple(rest if size == -1 else size for size in target)
