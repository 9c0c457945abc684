"""A function applied to each element along the first axis: `map_fn`, `foldl`, `foldr`.

All three are loops of the op Scan: a map has outputs and no state, a fold a state and no outputs.
"""

from __future__ import annotations

from kerascope.backend.graph import as_tensor, is_float
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.elementwise import identity
from kerascope.backend.ops.scan import scan
from kerascope.backend.shapes import merge_shapes
from kerascope.errors import ArgumentError, DtypeError, ShapeError

__all__ = ["foldl", "foldr", "map_fn"]


def map_fn(fn, elems, name=None, dtype=None):
    """Apply a function to each element along the first axis and stack what it returns.

    Parameters
    ----------
    fn : callable
        `fn(element)` returns a tensor, or a list of tensors. It is called once, on symbols.
    elems : Tensor, shape (n, ...), or list of Tensor
        With a list, `fn` gets a list: one element of each.
    name : str, optional
        Name of the result.
    dtype : str, optional
        Type of the result; default: as `fn` returns it.

    Returns
    -------
    Tensor, shape (n, ...), or list of Tensor
        As `fn` returns.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> K.eval(K.map_fn(lambda x: K.sum(x) * 2, K.constant([[1, 2], [3, 4]]))).tolist()
    [6.0, 14.0]
    """
    sequences, packed = _as_list(elems, "K.map_fn")
    several: list[bool] = []

    def step(slices, states):
        returned = fn(packed(slices))
        several.append(isinstance(returned, (list, tuple)))
        outputs = [as_tensor(y) for y in (returned if several[-1] else [returned])]
        return [y if dtype is None else cast(y, dtype) for y in outputs], []

    outputs, _ = scan(step, sequences, [])
    if name is not None:
        outputs = [identity(y, name=name) for y in outputs]
    return outputs if several[-1] else outputs[0]


def foldl(fn, elems, initializer=None, name=None):
    """Combine the elements along the first axis, from the first to the last.

    Parameters
    ----------
    fn : callable
        `fn(accumulated, element)` returns the new accumulated value, of the same shape. It is
        called once, on symbols.
    elems : Tensor, shape (n, ...), or list of Tensor
        With a list, `fn` gets a list: one element of each.
    initializer : Tensor or list of Tensor, optional
        First accumulated value; default: the first element, and the second comes next.
    name : str, optional
        Name of the result.

    Returns
    -------
    Tensor or list of Tensor
        The last accumulated value.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> float(K.eval(K.foldl(lambda total, x: 10 * total + x, K.constant([1, 2, 3]))))
    123.0
    """
    return _fold(fn, elems, initializer, name, "K.foldl", backwards=False)


def foldr(fn, elems, initializer=None, name=None):
    """Combine the elements along the first axis, from the last to the first.

    Arguments as for `foldl`; without an initializer it starts with the last element.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> float(K.eval(K.foldr(lambda total, x: 10 * total + x, K.constant([1, 2, 3]))))
    321.0
    """
    return _fold(fn, elems, initializer, name, "K.foldr", backwards=True)


def _fold(fn, elems, initializer, name, where, *, backwards):
    sequences, packed = _as_list(elems, where)
    if initializer is None:
        if any(x.shape[0] == 0 for x in sequences):
            raise ArgumentError(
                f"{where}: no elements to fold in '{sequences[0].name}' of shape "
                f"{sequences[0].shape}; expected at least one, or an initializer."
            )
        first, rest = (-1, slice(None, -1)) if backwards else (0, slice(1, None))
        states, pack_states = [x[first] for x in sequences], packed
        sequences = [x[rest] for x in sequences]
    else:
        is_list = isinstance(initializer, (list, tuple))
        states = [as_tensor(x, sequences[0]) for x in (initializer if is_list else [initializer])]
        pack_states = list if is_list else _only

    def step(slices, accumulated):
        returned = fn(pack_states(accumulated), packed(slices))
        several = list(returned) if isinstance(returned, (list, tuple)) else [returned]
        if len(several) != len(accumulated):
            raise ArgumentError(
                f"{where}: the function returned {len(several)} tensors; expected as many as "
                f"accumulated values: {len(accumulated)}."
            )
        pairs = zip(several, accumulated, strict=True)
        return [], [_checked_accumulated(new, old, where) for new, old in pairs]

    _, states = scan(step, sequences, states, backwards=backwards)
    if name is not None:
        states = [identity(state, name=name) for state in states]
    return pack_states(states)


def _as_list(elems, where):
    """Return the sequences as a list, and what makes of such a list what the function gets."""
    is_list = isinstance(elems, (list, tuple))
    sequences = [as_tensor(x) for x in (elems if is_list else [elems])]
    if not sequences:
        raise ArgumentError(f"{where}: elems is an empty list; expected at least one tensor.")
    for x in sequences:
        if x.ndim == 0:
            raise ShapeError(
                f"{where}: '{x.name}' is a scalar; expected at least one axis to go along. "
                f"(A list means several tensors; np.array makes one of a list of numbers.)",
                subject=x,
            )
    return sequences, (list if is_list else _only)


def _only(tensors):
    return tensors[0]


def _checked_accumulated(new, old, where):
    """Return an accumulated value in the type of the one before."""
    new = as_tensor(new, like=old)
    if merge_shapes(new.shape, old.shape) is None:
        raise ShapeError(
            f"{where}: the accumulated value of shape {old.shape} became one of shape "
            f"{new.shape}; expected that it keeps its shape. Give an initializer of that shape.",
            subject=new,
        )
    if is_float(new.dtype) and not is_float(old.dtype):
        raise DtypeError(
            f"{where}: the accumulated value of type {old.dtype} became {new.dtype}; expected "
            f"that it keeps its type. Give an initializer of floats.",
            subject=new,
        )
    return cast(new, old.dtype)
