"""Operations of `keras.ops` that take functions: loops, choices, derivatives. See `keras_ops`.

A loop calls its function once, on placeholders for one step, as in Keras. `map`, `scan`,
`fori_loop` and `associative_scan` do this for arrays too. The gradient of a loop is also a loop.
Only `while_loop` has no gradient, because its number of steps is unknown.

If all arguments are arrays, any other tensor that the functions use must have a value.

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
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.on_anything import on_anything
from kerascope.layers.ops.rows import public
from kerascope.nested_values import flattened

_OTHERS = {*globals()}  # names that are not operations


# --- choices --------------------------------------------------------------------------------------


@on_anything
def cond(pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """Return the result of `true_fn` if the scalar `pred` is true, otherwise that of `false_fn`.

    In a graph both functions are called to build the graph, but at run time only the chosen result
    is computed. If `pred` is not a scalar, the choice is made element by element.
    """
    pred = as_tensor(pred)
    if pred.ndim:
        return K.switch(pred, true_fn, false_fn)
    return _chosen(cast(pred, "int32"), [false_fn, true_fn], ())


@on_anything
def switch(index: Any, branches: Sequence[Callable[..., Any]], *operands: Any) -> Any:
    """Return the result of the function `branches[index]` for the operands.

    An index below 0 selects the first function, an index beyond the end the last function.
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
                f"keras.ops.switch: expected branches that return the same structure, got "
                f"{len(others)} and {len(found)} tensors."
            )
        is_this = K.equal(index, number)
        found = [_one_of(is_this, *pair) for pair in zip(others, found, strict=True)]
    return packed(found)


def _one_of(condition: Tensor, x: Any, y: Tensor) -> Tensor:
    x, y = ops.promoted(x, y)
    if x.ndim != y.ndim:
        raise ShapeError(
            f"keras.ops.switch: expected branches that return equal numbers of axes, got shapes "
            f"{x.shape} and {y.shape}.",
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
    """Repeat `body` while a condition is true, and return the last values of the loop variables.

    Parameters
    ----------
    cond : callable
        Takes each variable as an argument, and returns a scalar: whether to run another step.
    body : callable
        Takes the variables and returns their next values, of the same shapes.
    loop_vars : tensor, list or tuple of tensor
        The initial values of the variables.
    maximum_iterations : int, optional
        Largest number of steps.

    Raises
    ------
    GradientError
        When a gradient through the loop is computed. fori_loop and scan have gradients.

    Notes
    -----
    For arrays the functions are called at each step. In a graph they are called once, on
    placeholders.
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
            states = [loops.kept(new, old, "while_loop: a state") for new, old in pairs]
            step += 1
    else:
        states = loops.while_loop(
            lambda *given: cond(*packed(list(given))), next_states, states, maximum_iterations
        )
    found = packed(states)
    return found[0] if is_one else type(loop_vars)(found)


@on_anything
def fori_loop(lower: Any, upper: Any, body_fun: Callable[[Any, Any], Any], init_val: Any) -> Any:
    """Begin with `init_val`; repeat value = body_fun(i, value) for i from lower to upper - 1."""
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
    """Call a function for each entry along the first axis, and pass a carry from step to step.

    Parameters
    ----------
    f : callable
        Takes (carry, x) and returns (new carry, y).
    init : tensor, or structure of tensors
        The initial carry; its shapes and dtypes must not change.
    xs : tensor or structure of tensors, optional
        Each step gets one entry of each tensor. Without `xs`, x is None.
    length : int, optional
        Number of steps; required without `xs`.
    reverse : bool
        Whether to begin with the last entry. The results y keep the order of `xs`.
    unroll : int or bool
        Ignored; in Keras it affects only the speed.

    Returns
    -------
    (carry, ys)
        The last carry, and the y of each step, stacked along the first axis.
    """
    if xs is None and length is None:
        raise ArgumentError("keras.ops.scan: the number of steps is unknown. Give xs or length.")
    sizes = [as_tensor(one).shape[0] for one in flattened(xs)[0]]
    if len({length, *sizes} - {None}) > 1:
        raise ArgumentError(
            f"keras.ops.scan: expected equal numbers of steps, got {sizes} entries in xs and "
            f"length {length}."
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
                f"keras.ops.scan: expected a function that returns the pair (carry, y), got "
                f"{type(returned).__name__}."
            )
        new, (ys, packed) = flattened(returned[0])[0], flattened(returned[1])
        packed_ys.append(packed)
        if len(new) != len(carried):
            raise ArgumentError(
                f"keras.ops.scan: the carry must keep its structure: expected {len(carried)} "
                f"tensors, got {len(new)}."
            )
        pairs = zip(new, carried, strict=True)
        carry = [loops.kept(new, old, "keras.ops.scan: the carry") for new, old in pairs]
        return [as_tensor(y) for y in ys], carry

    outputs, last = scans.scan(step, sequences, states, backwards=reverse)
    return packed_init(last), packed_ys[-1](outputs)


@on_anything
def associative_scan(
    f: Callable[[Any, Any], Any], elems: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """Return the cumulative results of an associative function of two entries along an axis.

    The function gets entries in which the axis has size 1. It is applied to one entry after the
    other. Keras uses another order, but for an associative function the result is the same.
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
    """Return the results of `f` for each entry of `xs` along its first axis, as one array."""
    return _scanned(lambda _, x: (None, f(x)), None, xs)[1]


@on_anything
def vectorized_map(function: Callable[[Any], Any], elements: Any) -> Any:
    """Return a function's results for each entry along the first axis, along a new first axis.

    The function does the same as `map`.
    """
    return _scanned(lambda _, x: (None, function(x)), None, elements)[1]


def vectorize(
    pyfunc: Callable[..., Any], *, excluded: Any = None, signature: str | None = None
) -> Callable[..., Any]:
    """Return a function of arrays that computes `pyfunc` for each entry; the arrays are broadcast.

    Parameters
    ----------
    pyfunc : callable
        A function of scalars; with `signature`, a function of arrays. It is called only once, on
        placeholders, to build its graph.
    excluded : set of int, optional
        Indices of arguments that are passed unchanged.
    signature : str, optional
        The axes of the arguments and results of `pyfunc`, such as "(n),(n,m)->(m)".
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
    """Return a function of tensors that has the result and the gradient that `f` returns.

    Parameters
    ----------
    f : callable
        Takes tensors, returns (result, gradient function). The gradient function takes
        d loss / d result and returns d loss / d each argument: a tensor, or a list of them.
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
    """Return the result of a function and its derivative along tangents (Jacobian-vector product).

    Parameters
    ----------
    fun : callable
        Takes tensors, returns one tensor; with `has_aux` the pair (tensor, further results).
    primals, tangents : sequence of tensor
        The arguments, and a direction for each.

    Returns
    -------
    (result, tangent), or (result, tangent, further results)

    Notes
    -----
    The gradient is taken twice. First, the gradient g of the sum of v * result is taken with
    respect to the arguments; it is linear in v. Then the gradient of the sum of g * tangent is
    taken with respect to v; this is the tangent of the result.
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
