"""A recurrence written out: one copy of the step's graph for each step.

Asked for by `K.rnn(..., unroll=True)`. The graph is long, but each step can be seen in a picture,
and short sequences run a little faster than through the op Scan.
"""

from __future__ import annotations

from kerascope.backend.graph import Tensor
from kerascope.backend.ops.broadcasting import zeros_like
from kerascope.backend.ops.joining import stack
from kerascope.backend.ops.scan_masks import choose_by_mask
from kerascope.errors import ArgumentError
from kerascope.limits import current_budget

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
