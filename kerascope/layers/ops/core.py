"""Rows of `keras.ops` that take functions: loops, choices, derivatives. See `keras_ops`.

A function given to a loop is called once, on the symbols of one step, as in Keras. `map`, `scan`,
`fori_loop` and `associative_scan` do the same on arrays. The gradient of a loop is again a loop.
Only `while_loop` has no gradient, because its number of steps is unknown.

If only arrays are given, the tensors that the functions use from outside must have values, too.

The values carried from step to step may be a tensor, or lists, tuples and dicts of tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from kerascope import backend as K
from kerascope.backend.eager import value_of
from kerascope.backend.graph import Constant, Placeholder, Tensor, as_tensor, graph_mode, is_eager
from kerascope.backend.ops import scan as scans
from kerascope.backend.ops import while_loop as loops
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.control import Switch
from kerascope.backend.shapes import merge_shapes
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.on_anything import on_anything
from kerascope.layers.ops.rows import public
from kerascope.nested_values import flattened

_OTHERS = {*globals()}  # what is no operation


# --- choices --------------------------------------------------------------------------------------


@on_anything
def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Return what one of two functions returns, as a scalar says at run time.

    In a graph both are called, and what only the chosen one needs is computed.
    """
    pred = as_tensor(pred)
    if pred.ndim:
        return K.switch(pred, true_fn, false_fn)
    return _chosen(cast(pred, "int32"), [false_fn, true_fn], ())


@on_anything
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Return what one of several functions makes of the operands.

    An index below 0 means the first one, and one beyond the end the last.
    """
    index = K.minimum(K.maximum(as_tensor(index), 0), len(branches) - 1)
    return _chosen(index, list(branches), operands)


def _chosen(index: Tensor, branches: list[Callable[..., Any]], operands: Sequence[Any]) -> Any:
    if isinstance(index, Constant):
        return branches[int(index.value)](*operands)
    results = [flattened(branch(*operands)) for branch in branches]
    found, packed = results[-1]
    found = [as_tensor(one) for one in found]
    for number, (others, _) in reversed(list(enumerate(results[:-1]))):
        if len(others) != len(found):
            raise ArgumentError(
                f"keras.ops.switch: branches return {len(others)} and {len(found)} tensors; "
                f"expected the same structure of each."
            )
        is_this = K.equal(index, number)
        found = [_one_of(is_this, *pair) for pair in zip(others, found, strict=True)]
    return packed(found)


def _one_of(condition: Tensor, x: Any, y: Tensor) -> Tensor:
    x, y = ops.promoted(x, y)
    if x.ndim != y.ndim:
        raise ShapeError(
            f"keras.ops.switch: branches return shapes {x.shape} and {y.shape}; expected equal "
            f"numbers of axes.",
            subject=x,
        )
    return Switch()(condition, x, y)


# --- loops ----------------------------------------------------------------------------------------


@on_anything
def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    maximum_iterations: int | None = None,
) -> Any:
    """Return the variables of a loop after the step at which the condition does not hold.

    Parameters
    ----------
    cond : callable
        From the variables, one argument each, to a scalar.
    body : callable
        From the variables to new ones, of the same shapes.
    loop_vars : tensor, list or tuple of tensor
    maximum_iterations : int, optional
        The loop ends after so many steps in any case.

    Raises
    ------
    GradientError
        A gradient is asked for that goes through the loop: fori_loop and scan have one.

    Notes
    -----
    On arrays the functions are called at each step; in a graph once, on symbols.
    """
    is_one = not isinstance(loop_vars, (list, tuple))
    several = [loop_vars] if is_one else list(loop_vars)
    flat, packed = flattened(several)
    states = [as_tensor(one) for one in flat]

    def next_states(*given: Any) -> list[Any]:
        found = body(*packed(list(given)))
        return flattened([found] if is_one else list(found))[0]

    if is_eager():
        step = 0
        while maximum_iterations is None or step < maximum_iterations:
            if not bool(value_of(cond(*packed(states)))):
                break
            pairs = zip(next_states(*states), states, strict=True)
            states = [loops._fitted(new, old) for new, old in pairs]
            step += 1
    else:
        states = loops.while_loop(
            lambda *given: cond(*packed(list(given))), next_states, states, maximum_iterations
        )
    found = packed(states)
    return found[0] if is_one else type(loop_vars)(found)


@on_anything
def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """Return a value after `value = body_fun(i, value)` for i from lower to below upper."""
    carry, _ = _scanned(
        lambda value, i: (body_fun(i, value), None), init_val, as_tensor(ops.arange(lower, upper))
    )
    return carry


@on_anything
def scan(
    f: Callable[..., Any],
    init: Any,
    xs: Any = None,
    length: int | None = None,
    reverse: bool = False,
    unroll: Any = 1,
) -> Any:
    """Return what a function carries along the first axis, and all that it gives on the way.

    Parameters
    ----------
    f : callable
        From (carry, x) to (new carry, y).
    init : tensor, or structure of tensors
        The first carry; it keeps its shapes and types.
    xs : tensor or structure of tensors, optional
        Of each, the entry of the step is given. Without it x is None, and `length` says how many
        steps there are.
    reverse : bool
        Whether the last step comes first; each y stands at the place of its x all the same.
    unroll : int or bool
        How many steps Keras writes out; it changes no number, and nothing here.

    Returns
    -------
    (carry, ys)
    """
    if xs is None and length is None:
        raise ArgumentError("keras.ops.scan: neither xs nor length says how many steps there are.")
    sizes = [as_tensor(one).shape[0] for one in flattened(xs)[0]]
    if len({length, *sizes} - {None}) > 1:
        raise ArgumentError(
            f"keras.ops.scan: xs has {sizes} entries, length is {length}; expected one number of "
            "steps."
        )
    if not flattened(xs)[0]:
        steps = as_tensor(ops.arange(length))
        return _scanned(lambda carry, _: f(carry, xs), init, steps, reverse)
    return _scanned(f, init, xs, reverse)


def _scanned(f: Callable[..., Any], init: Any, xs: Any, reverse: bool = False) -> Any:
    flat_init, packed_init = flattened(init)
    flat_xs, packed_xs = flattened(xs)
    states, sequences = ([as_tensor(one) for one in flat] for flat in (flat_init, flat_xs))
    packed_ys: list[Callable[[Any], Any]] = []

    def step(slices: list[Tensor], carried: list[Tensor]) -> Any:
        returned = f(packed_init(carried), packed_xs(slices))
        if not isinstance(returned, (tuple, list)) or len(returned) != 2:
            raise ArgumentError(
                f"keras.ops.scan: the function returned {type(returned).__name__}; expected the "
                f"pair (carry, y)."
            )
        new, (ys, packed) = flattened(returned[0])[0], flattened(returned[1])
        packed_ys.append(packed)
        if len(new) != len(carried):
            raise ArgumentError(
                f"keras.ops.scan: {len(carried)} tensors are carried, the function returned "
                f"{len(new)}; expected the same structure."
            )
        pairs = zip(new, carried, strict=True)
        return [as_tensor(y) for y in ys], [_carried(*pair) for pair in pairs]

    outputs, last = scans.scan(step, sequences, states, backwards=reverse)
    return packed_init(last), packed_ys[-1](outputs)


def _carried(new: Any, old: Tensor) -> Tensor:
    new = as_tensor(new, like=old)
    if merge_shapes(new.shape, old.shape) is None:
        raise ShapeError(
            f"keras.ops.scan: a carry of shape {old.shape} became one of shape {new.shape}; "
            f"expected that it keeps its shape.",
            subject=new,
        )
    return cast(new, old.dtype)


@on_anything
def associative_scan(
    f: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Return at each place along an axis what a function has made of the entries up to it.

    The function gets entries with the axis, of size 1. Here the entries are taken one after the
    other: for an associative function, which Keras expects, the result is the same.
    """
    flat, packed = flattened(elems)
    whole = [as_tensor(one) for one in flat]
    whole = [K.reverse(x, axis % x.ndim) for x in whole] if reverse else whole
    moved = [ops.moveaxis(x, axis, 0) for x in whole]

    def step(before: list[Any], entries: list[Any]) -> Any:
        new = [ops.expand_dims(x, axis) for x in entries]
        found = flattened(f(packed(before), packed(new)))[0]
        return found, [ops.squeeze(x, axis) for x in found]

    first = [ops.expand_dims(x[0], axis) for x in moved]
    _, rest = _scanned(step, first, [x[1:] for x in moved])
    pairs = zip(moved, rest, strict=True)
    found = [K.concatenate([x[:1], cast(y, x.dtype)], 0) for x, y in pairs]
    found = [ops.moveaxis(x, 0, axis) for x in found]
    return packed([K.reverse(x, axis % x.ndim) for x in found] if reverse else found)


@on_anything
def map(f: Callable[[Any], Any], xs: Any) -> Any:
    """Return what a function makes of each entry along the first axis, stacked."""
    return _scanned(lambda _, x: (None, f(x)), None, xs)[1]


@on_anything
def vectorized_map(function: Callable[[Any], Any], elements: Any) -> Any:
    """Return what a function makes of each entry along the first axis, stacked: here as `map`."""
    return _scanned(lambda _, x: (None, function(x)), None, elements)[1]


def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Any = None, signature: str | None = None
) -> Callable[..., Any]:
    """Return a function of arrays that calls another one on their entries, broadcast.

    Parameters
    ----------
    pyfunc : callable
        Of scalars, or with a signature of arrays; called once, on symbols.
    excluded : set of int, optional
        Arguments, by place, that are handed on as they are.
    signature : str, optional
        The axes of what `pyfunc` takes: "(n),(n,m)->(m)".
    """
    apart = set(excluded or ())
    inner = signature.replace(" ", "").split("->")[0] if signature else ""
    cores = [len(x.strip("(),").split(",")) if x.strip("(),") else 0 for x in inner.split("),")]

    @on_anything
    def call(*args: Any) -> Any:
        places = [n for n in range(len(args)) if n not in apart]
        arrays = [as_tensor(args[n]) for n in places]
        ndims = cores if signature else [0] * len(arrays)
        corner = [x[(..., *(0,) * n)] for x, n in zip(arrays, ndims, strict=True)]
        like: Any = K.zeros_like(corner[0], dtype="bool")
        for x in corner[1:]:
            like = K.logical_or(like, K.zeros_like(x, dtype="bool"))
        outer = list(ops.shape(like))
        flat = []
        for x, n in zip(arrays, ndims, strict=True):
            core = list(ops.shape(x))[x.ndim - n :]
            flat.append(K.reshape(ops.broadcast_to(x, [*outer, *core]), [-1, *core]))

        def on_entries(entries: Sequence[Any]) -> Any:
            taken = dict(zip(places, entries, strict=True))
            return pyfunc(*(taken.get(n, arg) for n, arg in enumerate(args)))

        found, packed = flattened(_scanned(lambda _, x: (None, on_entries(x)), None, flat)[1])
        return packed([K.reshape(y, [*outer, *list(ops.shape(y))[1:]]) for y in found])

    return call


# --- derivatives ----------------------------------------------------------------------------------


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function with a gradient of its own; a decorator.

    Parameters
    ----------
    f : callable
        From tensors to (result, gradient function). The latter is called with d loss / d result
        and returns d loss / d each of the tensors: one, or a list.
    """

    @on_anything
    def call(*args: Any, **kwargs: Any) -> Any:
        tensors = [as_tensor(arg) for arg in args]
        result, gradient = f(*tensors, **kwargs)
        return loops.GivenGradient(gradient)(as_tensor(result), *tensors)

    return call


@on_anything
def jvp(
    fun: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> Any:
    """Return a function's result, and how it changes when its arguments move along tangents.

    Parameters
    ----------
    fun : callable
        From tensors to one tensor, and with `has_aux` something further that is returned as it is.
    primals, tangents : sequence of tensor
        The arguments, and as many directions.

    Returns
    -------
    (result, tangent), or (result, tangent, further)

    Notes
    -----
    Two backward sweeps: the gradient of the result, weighted by v, is linear in v; its derivative
    along the tangents is the tangent of the result.
    """
    points, along = ([as_tensor(one) for one in several] for several in (primals, tangents))
    if is_eager():
        with graph_mode():
            inputs = [Placeholder(x.shape, x.dtype, "primal") for x in points]
            flat, packed = flattened(_jvp(fun, inputs, along, has_aux))
            made = K.function(inputs, [as_tensor(one) for one in flat])
            return packed([Constant(one) for one in made([value_of(x) for x in points])])
    return _jvp(fun, points, along, has_aux)


def _jvp(
    fun: Callable[..., Any], points: Sequence[Tensor], along: list[Tensor], has_aux: bool
) -> Any:
    points = [K.identity(x) for x in points]
    returned = fun(*points)
    result, further = returned if has_aux else (returned, None)
    weights = K.identity(K.ones_like(result))
    slopes = K.gradients(K.sum(result * weights), points)
    pairs = zip(slopes, along, strict=True)
    terms = [K.sum(slope * tangent) for slope, tangent in pairs if slope is not None]
    if not terms:
        moved: Any = K.zeros_like(result)
    else:
        total = sum(terms[1:], start=terms[0])
        moved = K.gradients(total, weights)[0]
    return (result, moved, further) if has_aux else (result, moved)


__all__ = public(globals(), _OTHERS)
