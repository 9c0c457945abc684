"""The symbolic reverse sweep: from a loss to its derivatives, each of them again a graph.

The sweep visits every op between the loss and the tensors asked for, last one first. At each op it
holds d loss / d output, asks the op for d loss / d input, and adds that to what other users of the
same input have sent. Nothing is computed here; the graph that comes out can be run, drawn, stepped
through and differentiated again. Theano's `T.grad` and TensorFlow's `tf.gradients` do the same.

Lesson: chapter 13.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from kerascope.backend.graph import (
    EAGER,
    Apply,
    Constant,
    Tensor,
    applies_between,
    as_tensor,
    is_float,
)
from kerascope.backend.ops.broadcasting import ones_like, zeros_like
from kerascope.backend.ops.control import Switch
from kerascope.backend.ops.elementwise import add
from kerascope.backend.scopes import GRADIENT, Around, name_scope, new_around, root_scope
from kerascope.callers import boundary
from kerascope.errors import DtypeError, GradientError, ShapeError
from kerascope.stage import Stage

__all__ = ["gradients"]


class Seeded(NamedTuple):
    """The sweep has begun: d loss / d loss is one."""

    loss: Tensor
    gradient: Tensor


class Swept(NamedTuple):
    """One op was asked for its derivatives.

    Attributes
    ----------
    apply : Apply
        The call whose inputs received gradients.
    output_grads : list of Tensor
        d loss / d output, as it stood when the op was reached: complete. In a branch of a switch it
        is what it is if that branch is chosen.
    terms : list of Tensor or None
        What the op sends to each of its inputs.
    """

    apply: Apply
    output_grads: list[Tensor]
    terms: list[Tensor | None]


def gradients(loss: Tensor, variables: Tensor | Sequence[Tensor]) -> list[Tensor | None]:
    """Return the symbolic derivatives of `loss` with respect to `variables`.

    Parameters
    ----------
    loss : Tensor, float
        Usually a scalar. For a larger tensor the derivative is that of the sum of its elements.
    variables : Tensor or list of Tensor
        Anything in the graph: variables, placeholders, or tensors between.

    Returns
    -------
    list of Tensor or None
        One for each variable, of its shape; None where the loss does not depend on it (or only
        through an op that has no derivative, such as `argmax`).

    Raises
    ------
    GradientError
        The loss is not a tensor of floats, or it was computed in eager mode, where nothing keeps
        the way back to the variables.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.variable(3.0)
    >>> first = K.gradients(x ** 3, x)[0]
    >>> second = K.gradients(first, x)[0]
    >>> float(K.eval(first)), float(K.eval(second))
    (27.0, 18.0)

    Notes
    -----
    The chain rule, summed over the ops that use x:  d loss / d x = sum over y of (d loss / d y) (d
    y / d x).
    """
    return gradient_stage(loss, variables).run()


def gradient_stage(loss: Tensor, variables: Tensor | Sequence[Tensor]) -> Stage:
    """Return the sweep as a stage; its events are `Seeded` and `Swept`."""
    wrt = [variables] if isinstance(variables, Tensor) else list(variables)
    for x in wrt:
        if not isinstance(x, Tensor):
            raise DtypeError(
                f"K.gradients: cannot differentiate with respect to {x!r} of type "
                f"{type(x).__name__}; expected tensors, such as layer.trainable_weights."
            )
    loss = as_tensor(loss)
    if EAGER.get() is not None and isinstance(loss, Constant):
        raise GradientError(
            f"K.gradients: the loss '{loss.name}' was computed in eager mode: it is a number, and "
            f"the way back to the variables was not kept. Make a graph: call the layer on an "
            f"Input, or put the function into ks.compiled.",
            subject=loss,
        )
    return Stage("gradients", backpropagate(loss, wrt), loss)


@boundary
def backpropagate(loss: Tensor, wrt: list[Tensor]) -> Generator[Any, Any, list[Tensor | None]]:
    """Sweep from `loss` back to `wrt`."""
    if not is_float(loss.dtype):
        raise GradientError(
            f"gradients: the loss '{loss.name}' is of type {loss.dtype}; expected floats. "
            f"K.cast() it first.",
            subject=loss,
        )
    with root_scope(), name_scope("gradients", around=_twin_of(loss.owner)):
        grads = {loss: ones_like(loss)}
    yield Seeded(loss, grads[loss])
    yield from sweep(grads, wrt)
    return [grads.get(x) for x in wrt]


# The branches of switches that a gradient lies in, from the outermost on: it counts only if each
# condition is as wanted, and is 0 if not.
Branches = tuple[tuple[Tensor, bool], ...]


def sweep(grads: dict[Tensor, Tensor], wrt: Sequence[Tensor]) -> Generator[Swept, None, None]:
    """Sweep from the tensors whose gradients stand in `grads` back to `wrt`, and fill it up.

    Inside a branch of a switch the sweep goes on as if that branch were chosen. Where the gradient
    leaves the branch again it is switched: so what the branches that were not chosen would send is
    not computed, just as their values are not.
    """
    inside: dict[Tensor, Branches] = {}
    for apply in reversed(applies_between(wrt, grads)):
        if not any(y in grads for y in apply.outputs):
            continue
        with (
            root_scope(),
            name_scope("gradients"),
            name_scope(apply.scope.name, apply.scope.made_at, around=_twin_of(apply)),
        ):
            branches = _shared([inside.get(y, ()) for y in apply.outputs if y in grads])
            output_grads = [
                _switched(y, grads[y], inside.get(y, ()), branches) if y in grads else zeros_like(y)
                for y in apply.outputs
            ]
            terms = _terms(apply, apply.op.grad(apply.inputs, apply.outputs, output_grads))
            for position, (x, term) in enumerate(zip(apply.inputs, terms, strict=True)):
                if term is not None and is_float(x.dtype):
                    own = _entered(branches, apply, position)
                    if x in grads:
                        term, own = _sum_for(x, (grads[x], inside.get(x, ())), (term, own))
                    grads[x], inside[x] = term, own
        yield Swept(apply, output_grads, terms)
    with root_scope(), name_scope("gradients"):
        for x in dict.fromkeys(wrt):
            if inside.get(x):
                grads[x] = _switched(x, grads[x], inside.pop(x), ())


def _twin_of(apply: Apply | None) -> Around | None:
    """Return where the op was made whose gradient is made now."""
    if apply is None:
        return None
    name = apply.outputs[0].name  # of several outputs with a number; made quickly, for each op
    return new_around((GRADIENT, name, None, apply.frames, apply.scope.around))


def _entered(branches: Branches, apply: Apply, position: int) -> Branches:
    """Return the branches of what an op sends to an input, which may be a branch itself."""
    if position not in apply.op.lazy:
        return branches
    branch = (apply.inputs[0], apply.op.lazy[position])
    return branches if branch in branches else (*branches, branch)


def _shared(several: Sequence[Branches]) -> Branches:
    """Return the branches around all of these."""
    if len(several) == 1:
        return several[0]
    alike = takewhile(lambda level: len(set(level)) == 1, zip(*several, strict=False))
    return tuple(level[0] for level in alike)


def _switched(x: Tensor, gradient: Tensor, inside: Branches, outside: Branches) -> Tensor:
    """Return a gradient of `x` that counts inside some branches as one that counts outside too."""
    for condition, wanted in reversed(inside[len(outside) :]):
        zeros = zeros_like(x)
        gradient = Switch()(condition, *((gradient, zeros) if wanted else (zeros, gradient)))
    return gradient


def _sum_for(
    x: Tensor, first: tuple[Tensor, Branches], second: tuple[Tensor, Branches]
) -> tuple[Tensor, Branches]:
    """Return the sum of two gradients of `x` with the branches in which it counts."""
    shared = _shared([first[1], second[1]])
    rests = [inside[len(shared) :] for _, inside in (first, second)]
    are_two_sides = all(len(rest) == 1 for rest in rests) and rests[0][0][0] is rests[1][0][0]
    if are_two_sides and first[0].dtype == second[0].dtype:
        condition, wanted = rests[0][0]
        sides = (first[0], second[0]) if wanted else (second[0], first[0])
        return Switch()(condition, *sides), shared
    return add(*(_switched(x, term, inside, shared) for term, inside in (first, second))), shared


def _terms(apply: Apply, given: Any) -> list[Tensor | None]:
    """Hold an op to its contract: a list of one gradient for each input, of the input's rank."""
    if given is None or isinstance(given, Tensor):
        what = "nothing" if given is None else f"the tensor '{given.name}'"
        raise GradientError(
            f"{apply!r}: grad returned {what}; expected a list with one gradient for each input. "
            f"For one input: return [gradient].",
            subject=apply,
        )
    terms = list(given)
    if len(terms) != len(apply.inputs):
        raise GradientError(
            f"{apply!r}: grad returned {len(terms)} tensors; "
            f"expected one for each of {len(apply.inputs)} inputs.",
            subject=apply,
        )
    for x, term in zip(apply.inputs, terms, strict=True):
        if term is not None and term.ndim != x.ndim:
            raise ShapeError(
                f"{apply!r}: gradient of '{x.name}' has shape {term.shape}; expected {x.shape}.",
                subject=apply,
            )
    return terms


def blocking_ops(loss: Tensor, variable: Tensor) -> list[Apply]:
    """Return the calls on the way from `variable` to `loss` at which every gradient stops.

    Empty when the loss does not depend on the variable at all.
    """
    stops = []
    for apply in applies_between([variable], [loss]):
        ones = [ones_like(y) for y in apply.outputs]
        if all(term is None for term in apply.op.grad(apply.inputs, apply.outputs, ones)):
            stops.append(apply)
    return stops
