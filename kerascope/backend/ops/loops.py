"""Loops over the first axis: `K.rnn`, `K.map_fn`, `K.foldl`, `K.foldr`.

One step of a recurrent layer is an ordinary function of tensors. `rnn` calls it once, on
placeholders for one step, and makes a `Scan` op of the resulting graph. With `unroll` it calls the
function for each step instead; the results are the same. A map is a loop with outputs and without
states; a fold has states and no outputs.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.dtypes import is_float
from kerascope.backend.graph import ShapeOfFirst, as_tensor
from kerascope.backend.ops.broadcasting import cast, zeros_like
from kerascope.backend.ops.control import Where
from kerascope.backend.ops.elementwise import identity
from kerascope.backend.ops.joining import stack
from kerascope.backend.ops.scan import scan
from kerascope.backend.ops.shaping import ExpandDims, Squeeze, permute_dimensions, reverse
from kerascope.backend.shapes import merge_shapes
from kerascope.backend.types import Gradients, Tensor, TensorLike, Tensors
from kerascope.errors import ArgumentError, DtypeError, ShapeError
from kerascope.limits import current_budget

__all__ = ["foldl", "foldr", "map_fn", "rnn"]


# --- masked steps: states do not change, and the previous output is repeated ----------------------
#
# Inside the loop only the states are kept. After it, the op `HoldLast` corrects the outputs of all
# steps at once, so the loop need not carry the previous output.


def choose_by_mask(mask: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return `x` for the samples whose mask is true, `y` for the others.

    Parameters
    ----------
    mask : Tensor, shape (batch,), bool
    x, y : Tensor, shape (batch, ...)
    """
    if x.ndim == 0:
        raise ShapeError(
            f"K.rnn: with a mask each output and state needs the batch as first axis; "
            f"'{x.name}' has no axes.",
            subject=x,
        )
    if x.ndim > 1:
        mask = ExpandDims(tuple(range(1, x.ndim)))(mask)
    return Where()(mask, x, y)


def _last_seen(mask: np.ndarray) -> np.ndarray:
    """Return for each step and sample the last unmasked step so far; -1 if there is none."""
    steps = np.where(mask, np.arange(len(mask))[:, None], -1)
    return np.maximum.accumulate(steps, axis=0)


def spread(x: np.ndarray, ndim: int) -> np.ndarray:
    """Append axes of size 1 to an array with two axes, so that it has `ndim` axes in total."""
    return x.reshape(x.shape + (1,) * (ndim - 2))


class HoldLast(ShapeOfFirst):
    """`x` with the last unmasked value repeated at masked steps.

    Before the first unmasked step the result is zero. `x` has shape (time, batch, ...), `mask` has
    shape (time, batch).
    """

    def perform(self, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        last = _last_seen(mask)
        held = x[np.maximum(last, 0), np.arange(x.shape[1])]
        held[last < 0] = 0
        return held

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [SumHeld()(output_grads[0], inputs[1]), None]


class SumHeld(ShapeOfFirst):
    """At each unmasked step, the sum of `x` over this step and the masked steps directly after it.

    This is the gradient of `HoldLast`, and `HoldLast` is the gradient of this op.
    """

    def perform(self, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        total = np.zeros_like(x)
        running = np.zeros(x.shape[1:], x.dtype)
        seen = spread(np.asarray(mask), x.ndim)
        for step in range(len(x) - 1, -1, -1):
            running = running + x[step]
            total[step] = np.where(seen[step], running, 0)
            running = np.where(seen[step], 0, running).astype(x.dtype)
        return total

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [HoldLast()(output_grads[0], inputs[1]), None]


# --- unrolled recurrences: one copy of the step's graph for each step -----------------------------
#
# `K.rnn(..., unroll=True)` makes them. The graph is long, but a picture shows each step, and short
# sequences run a little faster than with the op Scan.


OPS_OF_A_STEP = 10  # a low estimate, with which loops that are too long are refused at once


def unrolled(step, inputs, initial_states, mask, n_steps):
    """Return the results of a recurrence, computed by one copy of the step for each time step.

    Parameters
    ----------
    step : callable
        Function from (input_t, states) to (output, new_states), as `_checked_step` returns it.
    inputs : Tensor, shape (batch, time, ...)
    initial_states : list of Tensor
    mask : Tensor or None, shape (batch, time), bool
    n_steps : int

    Returns
    -------
    (last_output, outputs, new_states)
        As for `K.rnn`.
    """
    if n_steps < 1:
        raise ArgumentError(
            f"K.rnn: expected at least 1 step, got {n_steps} in input '{inputs.name}'."
        )
    budget = current_budget()
    if budget is not None:
        budget.take_parts(n_steps * OPS_OF_A_STEP, f"at a loop written out over {n_steps} steps")
    states = initial_states
    outputs: list[Tensor] = []
    for number in range(n_steps):
        output, new_states = step(inputs[:, number], states)
        if mask is not None:
            mask_t = mask[:, number]
            before = outputs[-1] if outputs else zeros_like(output)
            output = choose_by_mask(mask_t, output, before)
            new_states = [
                choose_by_mask(mask_t, new, old)
                for new, old in zip(new_states, states, strict=True)
            ]
        states = new_states
        outputs.append(output)
    return outputs[-1], stack(outputs, axis=1), states


# --- recurrences ----------------------------------------------------------------------------------


def rnn(
    step_function,
    inputs,
    initial_states,
    go_backwards=False,
    mask=None,
    constants=None,
    unroll=False,
    input_length=None,
):
    """Apply a function to each step of a sequence; its states are passed from step to step.

    Parameters
    ----------
    step_function : callable
        `step_function(input_t, states)` returns `(output, new_states)`. `input_t` has shape
        (batch, ...). `states` is the list of states followed by the constants. `new_states` is a
        list as long as `initial_states`. The function is called once, or with `unroll` once for
        each step. A random op in the function draws new numbers at each step. Random numbers for a
        whole sequence, such as a dropout mask, must be drawn outside and passed as constants.
    inputs : Tensor, shape (batch, time, ...)
    initial_states : list of Tensor
        States of any shapes. The list may be empty.
    go_backwards : bool
        Whether to begin with the last step. The outputs are in the order of computation.
    mask : Tensor, shape (batch, time) or (batch, time, 1), optional
        If the mask is false (or 0) at a step, the states do not change and the previous output is
        repeated. Before the first unmasked step the outputs are zeros.
    constants : list of Tensor, optional
        Passed to each step unchanged, after the states.
    unroll : bool
        Whether to make one copy of the step's graph for each step. The number of steps must be
        known.
    input_length : int, optional
        Number of steps for `unroll`, if the shape of `inputs` does not contain it.

    Returns
    -------
    last_output : Tensor, shape (batch, ...)
    outputs : Tensor, shape (batch, time, ...)
    new_states : list of Tensor
        The states after the last step.

    Raises
    ------
    ShapeError
        The inputs have no time axis, or a state changes its shape.
    ArgumentError
        With `unroll` the number of steps is unknown, or the step function does not return a pair.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> def add_up(x, states):
    ...     total = states[0] + x
    ...     return total, [total]
    >>> x = K.constant([[[1.0], [2.0], [3.0]]])
    >>> last, outputs, states = K.rnn(add_up, x, [K.constant([[0.0]])])
    >>> K.eval(last).tolist(), K.eval(outputs).tolist()
    ([[6.0]], [[[1.0], [3.0], [6.0]]])
    """
    inputs = as_tensor(inputs)
    states = _listed(initial_states, "initial_states")
    if inputs.ndim < 2:
        raise ShapeError(
            f"K.rnn: expected an input (batch, time, ...) with at least 2 axes, got "
            f"'{inputs.name}' {inputs.shape}.",
            subject=inputs,
        )
    mask = None if mask is None else _checked_mask(mask, inputs)
    if go_backwards:
        inputs = reverse(inputs, 1)
        mask = None if mask is None else reverse(mask, 1)
    constants = _listed([] if constants is None else constants, "constants")
    step = _checked_step(step_function, states, constants)
    if unroll:
        return unrolled(step, inputs, states, mask, _number_of_steps(inputs, input_length))
    return _looped(step, inputs, states, mask)


def _listed(values, name):
    """Return the list `values` as tensors, or raise ArgumentError if it is not a list."""
    if not isinstance(values, (list, tuple)):
        raise ArgumentError(
            f"K.rnn: expected {name} as a list of tensors ([] for none), got {values!r}."
        )
    return [as_tensor(value) for value in values]


def _looped(step, inputs, initial_states, mask):
    """Return the results of a recurrence, computed by one `Scan` op."""
    is_state: list[int] = []  # indices of the states that are the output too

    def masked_step(slices, states):
        output, new_states = step(slices[0], states)
        is_state.extend(k for k, new in enumerate(new_states) if new is output)
        if mask is not None:
            pairs = zip(new_states, states, strict=True)
            new_states = [choose_by_mask(slices[1], new, old) for new, old in pairs]
        return [output], new_states

    sequences = [_swap_first_axes(x) for x in (inputs, mask) if x is not None]
    (outputs,), states = scan(masked_step, sequences, initial_states, least_steps=1, keeps=True)
    if mask is not None:
        outputs = HoldLast()(outputs, sequences[1])
    if mask is None and is_state:
        return states[is_state[0]], _swap_first_axes(outputs), states
    return outputs[-1], _swap_first_axes(outputs), states


def _swap_first_axes(x: Tensor) -> Tensor:
    """Return `x` with its first two axes (batch and time) exchanged."""
    return permute_dimensions(x, (1, 0, *range(2, x.ndim)))


def _checked_mask(mask, inputs):
    """Return the mask as a bool tensor of shape (batch, time), or raise ShapeError."""
    mask = as_tensor(mask)
    if mask.ndim == 3 and mask.shape[2] in (1, None):
        mask = Squeeze((2,))(mask)
    if merge_shapes(mask.shape, inputs.shape[:2]) is None:
        raise ShapeError(
            f"K.rnn: expected a mask of shape {inputs.shape[:2]}, the batch and the steps of the "
            f"input, got '{mask.name}' {mask.shape}.",
            subject=mask,
        )
    return cast(mask, "bool")


def _number_of_steps(inputs: Tensor, input_length: int | None) -> int:
    n_steps = inputs.shape[1] if inputs.shape[1] is not None else input_length
    if n_steps is None:
        raise ArgumentError(
            f"K.rnn: unroll needs a known number of steps; input '{inputs.name}' has shape "
            f"{inputs.shape}. Give it one (Input(shape=(steps, features))), or set unroll=False.",
            subject=inputs,
        )
    return n_steps


def _checked_step(step_function, initial_states, constants):
    """Return a function (input, states) that calls the step function and checks its results.

    The constants are passed to the step function after the states.
    """

    def step(x, states):
        returned = step_function(x, [*states, *constants])
        if not isinstance(returned, (tuple, list)) or len(returned) != 2:
            raise ArgumentError(
                f"K.rnn: expected a step function that returns the pair (output, new_states), got "
                f"{type(returned).__name__}."
            )
        output, new_states = as_tensor(returned[0]), returned[1]
        if output.ndim == 0:
            raise ShapeError(
                f"K.rnn: expected an output of shape (batch, ...) from the step function, got "
                f"'{output.name}' without axes.",
                subject=output,
            )
        if not isinstance(new_states, (tuple, list)) or len(new_states) != len(initial_states):
            raise ArgumentError(
                f"K.rnn: expected a list of {len(initial_states)} new states from the step "
                f"function, one for each initial state, got {new_states!r}."
            )
        pairs = zip(new_states, initial_states, strict=True)
        advice = ("", "Begin with floats: K.cast(state, {!r}).")
        return output, [
            _kept(new, old, f"K.rnn: in the step function the state '{old.name}'", *advice)
            for new, old in pairs
        ]

    return step


def _kept(new: TensorLike, old: Tensor, what: str, shape_advice: str, type_advice: str) -> Tensor:
    """Return the new value of a state, cast to the dtype of the old one.

    Raises
    ------
    ShapeError, DtypeError
        The step changed the shape of the state, or turned integers into floats.
    """
    new = as_tensor(new, like=old)
    if merge_shapes(new.shape, old.shape) is None:
        raise ShapeError(
            f"{what} must keep its shape: expected {old.shape}, got {new.shape}.{shape_advice}",
            subject=new,
        )
    if is_float(new.dtype) and not is_float(old.dtype):
        raise DtypeError(
            f"{what} must keep its type: expected {old.dtype}, got {new.dtype}. "
            f"{type_advice.format(new.dtype)}",
            subject=new,
        )
    return cast(new, old.dtype)


# --- maps and folds -------------------------------------------------------------------------------


def map_fn(fn, elems, name=None, dtype=None):
    """Apply a function to each element along the first axis and stack the results.

    Parameters
    ----------
    fn : callable
        `fn(element)` returns a tensor or a list of tensors. It is called once, on a placeholder.
    elems : Tensor, shape (n, ...), or list of Tensor
        For a list, `fn` gets a list with one element of each tensor.
    name : str, optional
        Name of the result.
    dtype : str, optional
        Dtype of the result; default: that of the tensors that `fn` returns.

    Returns
    -------
    Tensor, shape (n, ...), or list of Tensor
        A list if `fn` returns a list.

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
        called once, on placeholders.
    elems : Tensor, shape (n, ...), or list of Tensor
        For a list, `fn` gets a list with one element of each tensor.
    initializer : Tensor or list of Tensor, optional
        First accumulated value. Without it, the first element is the accumulated value, and the
        fold begins with the second element.
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

    The arguments are those of `foldl`. Without an initializer the last element is the first
    accumulated value.

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
                f"{where}: expected at least one element or an initializer, got "
                f"'{sequences[0].name}' {sequences[0].shape}."
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
                f"{where}: expected {len(accumulated)} tensors from the function, one for each "
                f"accumulated value, got {len(several)}."
            )
        pairs = zip(several, accumulated, strict=True)
        what = f"{where}: the accumulated value"
        advice = (" Give an initializer of that shape.", "Give an initializer of floats.")
        return [], [_kept(new, old, what, *advice) for new, old in pairs]

    _, states = scan(step, sequences, states, backwards=backwards)
    if name is not None:
        states = [identity(state, name=name) for state in states]
    return pack_states(states)


def _as_list(elems, where):
    """Return `elems` as a list of sequences, and a function that packs their elements for `fn`.

    The function returns a list if `elems` is a list, otherwise the only element.
    """
    is_list = isinstance(elems, (list, tuple))
    sequences = [as_tensor(x) for x in (elems if is_list else [elems])]
    if not sequences:
        raise ArgumentError(f"{where}: elems must contain at least one tensor.")
    for x in sequences:
        if x.ndim == 0:
            raise ShapeError(
                f"{where}: expected at least one axis to loop over, got the scalar '{x.name}'. "
                f"A list means several tensors; for a list of numbers use np.array.",
                subject=x,
            )
    return sequences, (list if is_list else _only)


def _only(tensors):
    return tensors[0]
