"""A loop that runs while a condition is true, and a function with a custom gradient."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerascope.backend.graph import Op, Placeholder, Tensor, applies_in_order, as_tensor, graph_mode
from kerascope.backend.op_hints import FIRST_INPUT
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.scan_graph import InnerGraph, Results, counts_of_draws, cut_out
from kerascope.backend.program.loops import perform_step
from kerascope.backend.scopes import current_scope, name_scope
from kerascope.backend.shapes import merge_shapes
from kerascope.backend.types import Gradients, Tensors
from kerascope.errors import ArgumentError, GradientError, GraphError, ShapeError

__all__: list[str] = []  # K exports none of these functions


@dataclass(frozen=True, repr=False)
class While(Op):
    """A while loop. Its inputs are the states, then tensors from outside that the loop reads.

    Attributes
    ----------
    condition : InnerGraph
        Computes from the states whether there is another step.
    body : InnerGraph
        Computes the next states from the states.
    most_steps : int or None
        Largest number of steps; None means no limit.
    """

    condition: InnerGraph
    body: InnerGraph
    most_steps: int | None = None

    def __repr__(self) -> str:
        return f"While({len(self.condition.applies)} and {len(self.body.applies)} ops)"

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """The number of states."""
        return len(self.body.states)

    def _fitted(self, inputs: Sequence[Tensor]) -> InnerGraph:
        n = self.n_outputs
        return self.body.fitted([*inputs[:n], *inputs[n + len(self.condition.others) :]])

    def infer_shape(self, *inputs: Tensor) -> Any:
        shapes = tuple(x.shape for x in self._fitted(inputs).states)
        return shapes if len(shapes) > 1 else shapes[0]

    def infer_dtype(self, *inputs: Tensor) -> Any:
        dtypes = tuple(x.dtype for x in self._fitted(inputs).states)
        return dtypes if len(dtypes) > 1 else dtypes[0]

    def perform(self, *arrays: np.ndarray) -> Any:
        n, m = self.n_outputs, self.n_outputs + len(self.condition.others)
        states: list[Any] = [np.array(x) for x in arrays[:n]]
        asked = self.condition.schedule.start([*states, *arrays[n:m]])
        values = self.body.schedule.start([*states, *arrays[m:]])
        step = 0
        while self.most_steps is None or step < self.most_steps:
            asked[:n] = states
            if not perform_step(self.condition, asked)[0]:
                break
            values[:n] = states
            states = [np.array(x) for x in perform_step(self.body, values)]
            step += 1
        return tuple(states) if n > 1 else states[0]

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        raise GradientError(
            "while_loop: a loop with an unknown number of steps has no gradient here, nor in JAX. "
            "Use fori_loop, scan or map, which have one."
        )


def while_loop(
    condition: Callable[..., Any],
    body: Callable[..., Sequence[Any]],
    states: Sequence[Tensor],
    most_steps: int | None,
) -> list[Tensor]:
    """Return the states after the loop, as outputs of one op.

    Parameters
    ----------
    condition : callable
        Takes the states, returns a scalar: whether to continue.
    body : callable
        Takes the states, returns the next states, in equal number and with equal shapes.
    states : sequence of Tensor
        The initial states.
    most_steps : int or None
        The largest number of steps; None means no limit.

    Raises
    ------
    ArgumentError, ShapeError
        The body changes the number or the shape of the states.
    GraphError
        The body draws random numbers, which would be the same at each step.
    """
    with graph_mode(), name_scope("while_loop"):
        inside = [Placeholder(x.shape, x.dtype, "state") for x in states]
        asked = cast(as_tensor(condition(*inside)), "bool")
        found = list(body(*inside))
        if len(found) != len(inside):
            raise ArgumentError(
                f"while_loop: expected {len(inside)} values from the body, one for each of "
                f"loop_vars, got {len(found)}."
            )
        pairs = zip(found, inside, strict=True)
        new = [kept(one, old, "while_loop: a state") for one, old in pairs]
        inner = f"{current_scope().name}/"
        made_here = [
            apply
            for apply in applies_in_order([asked, *new], fed=inside)
            if f"{apply.scope.name}/".startswith(inner)
        ]
        if counts_of_draws(made_here):
            raise GraphError(
                "while_loop: random numbers drawn inside would be the same at each step. Draw "
                "them outside, or use scan, which draws new ones at each step."
            )
        parts = [
            cut_out([], inside, results) for results in (Results((asked,)), Results((), tuple(new)))
        ]
    (test, of_test), (step, of_step) = parts
    made = While(test, step, most_steps)(*states, *of_test, *of_step)
    return made if isinstance(made, list) else [made]


def kept(new: Any, old: Tensor, what: str) -> Tensor:
    """Return the new value of a state, cast to the dtype of the old one.

    Raises
    ------
    ShapeError
        The step changed the shape of the state, which the message calls `what`.
    """
    new = as_tensor(new, like=old)
    if merge_shapes(new.shape, old.shape) is None:
        raise ShapeError(
            f"{what} must keep its shape: expected {old.shape}, got {new.shape}.", subject=new
        )
    return cast(new, old.dtype)


@dataclass(frozen=True, repr=False)
class GivenGradient(Op):
    """Returns its first input, `y`; a user's function computes the gradients of the other inputs.

    Attributes
    ----------
    function : callable
        Takes the gradient of `y`. Returns the gradients of the other inputs: a tensor or a list.
    """

    function: Callable[[Tensor], Any]

    def __repr__(self) -> str:
        return f"GivenGradient({getattr(self.function, '__name__', 'function')})"

    def infer_shape(self, y: Tensor, *others: Tensor) -> Any:
        return y.shape

    def may_share(self, inputs, outputs):
        return FIRST_INPUT

    def perform(self, y: np.ndarray, *others: np.ndarray) -> np.ndarray:
        return y

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        given = self.function(output_grads[0])
        terms = list(given) if isinstance(given, (list, tuple)) else [given]
        if len(terms) != len(inputs) - 1:
            raise GradientError(
                f"custom_gradient: expected {len(inputs) - 1} tensors from the gradient function, "
                f"one for each argument, got {len(terms)}."
            )
        return [None, *(None if one is None else as_tensor(one) for one in terms)]
