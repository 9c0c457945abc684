"""Loops over the first axis: `K.rnn`, `K.map_fn`, `K.foldl`, `K.foldr`.

What a recurrent layer does at one step is an ordinary function of tensors. `rnn` calls it once, on
placeholders of one step, and makes an op Scan of the graph that comes out; with `unroll` it calls
it for every step instead. Both give the same numbers. A map is a loop that has outputs and no
state, a fold one that has a state and no outputs.
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


# --- masked steps: the states stay, the output is that of the step before -------------------------
#
# Inside the loop only the states are held back. The outputs are put right afterwards, all steps at
# once, by the op `HoldLast`: so the loop carries no previous output around.


def choose_by_mask(mask: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """Return `x` for the samples whose mask is true, `y` for the others.

    Parameters
    ----------
    mask : Tensor, shape (batch,), bool
    x, y : Tensor, shape (batch, ...)
    """
    if x.ndim == 0:
        raise ShapeError(
            f"K.rnn: with a mask every output and state has the batch as first axis; "
            f"'{x.name}' has no axes.",
            subject=x,
        )
    if x.ndim > 1:
        mask = ExpandDims(tuple(range(1, x.ndim)))(mask)
    return Where()(mask, x, y)


def _last_seen(mask: np.ndarray) -> np.ndarray:
    """Return for each step and sample the last step up to it whose mask is true; -1: none was."""
    steps = np.where(mask, np.arange(len(mask))[:, None], -1)
    return np.maximum.accumulate(steps, axis=0)


def _spread(x: np.ndarray, ndim: int) -> np.ndarray:
    """Return an array of two axes with further axes of size 1."""
    return x.reshape(x.shape + (1,) * (ndim - 2))


class HoldLast(ShapeOfFirst):
    """At a masked step the value of the last step before it that was not masked; zero before all.

    `x` has shape (time, batch, ...), `mask` (time, batch).
    """

    def perform(self, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        last = _last_seen(mask)
        held = x[np.maximum(last, 0), np.arange(x.shape[1])]
        held[last < 0] = 0
        return held

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [SumHeld()(output_grads[0], inputs[1]), None]


class SumHeld(ShapeOfFirst):
    """At each step that is not masked the sum of `x` over it and the masked ones after it.

    What `HoldLast` copied comes back here as one: each is the other's gradient.
    """

    def perform(self, x: np.ndarray, mask: np.ndarray) -> np.ndarray:
        total = np.zeros_like(x)
        running = np.zeros(x.shape[1:], x.dtype)
        seen = _spread(np.asarray(mask), x.ndim)
        for step in range(len(x) - 1, -1, -1):
            running = running + x[step]
            total[step] = np.where(seen[step], running, 0)
            running = np.where(seen[step], 0, running).astype(x.dtype)
        return total

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        return [HoldLast()(output_grads[0], inputs[1]), None]


# --- a recurrence written out: one copy of the step's graph for each step -------------------------
#
# Asked for by `K.rnn(..., unroll=True)`. The graph is long, but each step can be seen in a picture,
# and short sequences run a little faster than through the op Scan.


OPS_OF_A_STEP = 10  # about, and at least: so long loops are refused before they are begun


def unrolled(step, inputs, initial_states, mask, n_steps):
    """Return what the steps give, with one copy of the step for each.

    Parameters
    ----------
    step : callable
        From (input_t, states) to (output, new_states); checked already.
    inputs : Tensor, shape (batch, time, ...)
    initial_states : list of Tensor
    mask : Tensor or None, shape (batch, time), bool
    n_steps : int

    Returns
    -------
    (last_output, outputs, new_states)
        As `K.rnn`.
    """
    if n_steps < 1:
        raise ArgumentError(
            f"K.rnn: input '{inputs.name}' has {n_steps} steps; expected at least 1."
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


def _swap_first_axes(x: Tensor) -> Tensor:
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
        advice = ("", "Begin with floats: K.cast(state, {!r}).")
        return output, [
            _kept(new, old, f"K.rnn: in the step function the state '{old.name}'", *advice)
            for new, old in pairs
        ]

    return step


def _kept(new: TensorLike, old: Tensor, what: str, shape_advice: str, type_advice: str) -> Tensor:
    """Return what a step made of a state, in the type that it had; refuse what changes its kind."""
    new = as_tensor(new, like=old)
    if merge_shapes(new.shape, old.shape) is None:
        raise ShapeError(
            f"{what} of shape {old.shape} became one of shape {new.shape}; expected that it keeps "
            f"its shape.{shape_advice}",
            subject=new,
        )
    if is_float(new.dtype) and not is_float(old.dtype):
        raise DtypeError(
            f"{what} of type {old.dtype} became {new.dtype}; expected that it keeps its type. "
            f"{type_advice.format(new.dtype)}",
            subject=new,
        )
    return cast(new, old.dtype)


# --- maps and folds -------------------------------------------------------------------------------


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
        what = f"{where}: the accumulated value"
        advice = (" Give an initializer of that shape.", "Give an initializer of floats.")
        return [], [_kept(new, old, what, *advice) for new, old in pairs]

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
