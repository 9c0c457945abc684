"""`K.rnn`: one step function, applied to each step of a sequence.

What a recurrent layer does at one step is an ordinary function of tensors. `rnn` calls it once, on
placeholders of one step, and makes an op Scan of the graph that comes out; with `unroll` it calls
it for every step instead. Both give the same numbers.
"""

from __future__ import annotations

from kerascope.backend.graph import as_tensor, is_float
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.scan import scan
from kerascope.backend.ops.scan_masks import HoldLast, choose_by_mask
from kerascope.backend.ops.shaping import Squeeze, permute_dimensions, reverse
from kerascope.backend.ops.unrolling import unrolled
from kerascope.backend.shapes import merge_shapes
from kerascope.errors import ArgumentError, DtypeError, ShapeError

__all__ = ["rnn"]


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
    """Apply a function to each step of a sequence, handing its states on from step to step.

    Parameters
    ----------
    step_function : callable
        `step_function(input_t, states)` returns `(output, new_states)`. `input_t` has shape
        (batch, ...); `states` is the list of states followed by the constants; `new_states` is a
        list as long as `initial_states`. It is called once (with `unroll`, once for each step). A
        random op inside it draws other numbers at each step; what shall stay the same for a whole
        sequence is made outside and handed in.
    inputs : Tensor, shape (batch, time, ...)
    initial_states : list of Tensor
        Any number, of any shapes; may be empty.
    go_backwards : bool
        Whether to begin with the last step. The outputs come in the order of their computation.
    mask : Tensor, shape (batch, time) or (batch, time, 1), optional
        Where it is false (or 0) the states stay as they were, and the output is that of the step
        before: zeros before the first.
    constants : list of Tensor, optional
        Handed to each step unchanged, behind the states.
    unroll : bool
        Whether to make one copy of the step's graph for each step. The number of steps must be
        known.
    input_length : int, optional
        Number of steps, for `unroll`, where the shape of `inputs` does not tell.

    Returns
    -------
    last_output : Tensor, shape (batch, ...)
    outputs : Tensor, shape (batch, time, ...)
    new_states : list of Tensor
        After the last step.

    Raises
    ------
    ShapeError
        The inputs have no axis of steps, or a state changes its shape.
    ArgumentError
        `unroll` without a known number of steps; a step function that returns something else.

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
            f"K.rnn: input '{inputs.name}' has shape {inputs.shape}; expected "
            f"(batch, time, ...): at least 2 axes.",
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
    """Return an argument that comes as a list of tensors."""
    if not isinstance(values, (list, tuple)):
        raise ArgumentError(
            f"K.rnn: {name} is {values!r}; expected a list of tensors: [tensor], or [] for none."
        )
    return [as_tensor(value) for value in values]


def _looped(step, inputs, initial_states, mask):
    """Return what the steps give, by one op Scan."""
    is_state: list[int] = []  # which of the states the output is

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


def _swap_first_axes(x):
    """Return (batch, time, ...) as (time, batch, ...), or the other way round."""
    return permute_dimensions(x, (1, 0, *range(2, x.ndim)))


def _checked_mask(mask, inputs):
    """Return the mask as booleans of shape (batch, time)."""
    mask = as_tensor(mask)
    if mask.ndim == 3 and mask.shape[2] in (1, None):
        mask = Squeeze((2,))(mask)
    if merge_shapes(mask.shape, inputs.shape[:2]) is None:
        raise ShapeError(
            f"K.rnn: mask '{mask.name}' has shape {mask.shape}; expected {inputs.shape[:2]}, the "
            f"batch and the steps of the input.",
            subject=mask,
        )
    return cast(mask, "bool")


def _number_of_steps(inputs, input_length):
    n_steps = inputs.shape[1] if inputs.shape[1] is not None else input_length
    if n_steps is None:
        raise ArgumentError(
            f"K.rnn: unroll needs a known number of steps; input '{inputs.name}' has shape "
            f"{inputs.shape}. Give it one (Input(shape=(steps, features))), or set unroll=False.",
            subject=inputs,
        )
    return n_steps


def _checked_step(step_function, initial_states, constants):
    """Return the step function on states alone, with what it returns checked."""

    def step(x, states):
        returned = step_function(x, [*states, *constants])
        if not isinstance(returned, (tuple, list)) or len(returned) != 2:
            raise ArgumentError(
                f"K.rnn: the step function returned {type(returned).__name__}; expected the pair "
                f"(output, new_states)."
            )
        output, new_states = as_tensor(returned[0]), returned[1]
        if output.ndim == 0:
            raise ShapeError(
                f"K.rnn: the step function returned the output '{output.name}' without axes; "
                f"expected shape (batch, ...).",
                subject=output,
            )
        if not isinstance(new_states, (tuple, list)) or len(new_states) != len(initial_states):
            raise ArgumentError(
                f"K.rnn: the step function returned the new states {new_states!r}; expected a "
                f"list of {len(initial_states)}, one for each initial state."
            )
        pairs = zip(new_states, initial_states, strict=True)
        return output, [_checked_state(new, old) for new, old in pairs]

    return step


def _checked_state(new, initial):
    """Return the new state in the type of the initial one."""
    new = as_tensor(new, like=initial)
    if merge_shapes(new.shape, initial.shape) is None:
        raise ShapeError(
            f"K.rnn: the step function made of the state '{initial.name}' of shape "
            f"{initial.shape} one of shape {new.shape}; expected that it keeps its shape.",
            subject=new,
        )
    if is_float(new.dtype) and not is_float(initial.dtype):
        raise DtypeError(
            f"K.rnn: the state '{initial.name}' of type {initial.dtype} became {new.dtype}; "
            f"expected that it keeps its type. Begin with floats: K.cast(state, {new.dtype!r}).",
            subject=new,
        )
    return cast(new, initial.dtype)
