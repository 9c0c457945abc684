"""The symbolic reverse sweep: from a loss to its derivatives, each of them again a graph.

The sweep visits every op between the loss and the given tensors that a gradient reaches, the last
op first. At each op d loss / d output is complete, because every op that reads the output was
visited before. The op's `grad` returns d loss / d input, which is added to the gradients that the
other readers of the same input have sent. The sweep computes no numbers: the result is a graph,
which can be run, drawn, stepped through and differentiated again. Theano calls this `T.grad`,
TensorFlow `tf.gradients`, Keras `K.gradients`.

Read `sweep`, then `backpropagate`, which starts it. Graphs with lazy switches need more than a
plain sum: see `branches.py`.

Lessons: chapters 13 (symbolic differentiation) and 14 (gradients become updates).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any, NamedTuple

from kerascope.backend.branches import Sums
from kerascope.backend.dtypes import is_float
from kerascope.backend.graph import Apply, Constant, Tensor, applies_between, as_tensor, is_eager
from kerascope.backend.ops.broadcasting import ones_like
from kerascope.backend.scopes import gradient_scope
from kerascope.errors import DtypeError, GradientError, ShapeError
from kerascope.stage import Stage
from kerascope.user_frames import boundary

__all__ = ["gradients"]


class Seeded(NamedTuple):
    """The event that the sweep begins: d loss / d loss is 1."""

    loss: Tensor
    gradient: Tensor


class Swept(NamedTuple):
    """The event that one op was visited.

    Attributes
    ----------
    apply : Apply
        The call whose inputs received gradients.
    output_grads : list of Tensor
        d loss / d output for each output, complete. Inside a branch of a lazy switch, the value
        that holds if the branch is chosen.
    terms : list of Tensor or None
        The gradient that the op sends to each input, of the input's shape; None where none flows.
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
        The loss is not a float tensor, or it was computed in eager mode, which keeps no graph.

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
    The chain rule, summed over the ops with outputs y that use x::

        d loss / d x = sum over y of (d loss / d y) * (d y / d x)
    """
    return gradient_stage(loss, variables).run()


def gradient_stage(loss: Tensor, variables: Tensor | Sequence[Tensor]) -> Stage:
    """Return `gradients` as a stage. Its events are one `Seeded`, then a `Swept` for each op."""
    wrt = [variables] if isinstance(variables, Tensor) else list(variables)
    for x in wrt:
        if not isinstance(x, Tensor):
            raise DtypeError(
                f"K.gradients: expected tensors to differentiate with respect to, such as "
                f"layer.trainable_weights, got {x!r} of type {type(x).__name__}."
            )
    loss = as_tensor(loss)
    if is_eager() and isinstance(loss, Constant):
        raise GradientError(
            f"K.gradients: the loss '{loss.name}' was computed in eager mode: it is a number, and "
            f"its graph was not kept. To get a graph, call the layer on an Input, or put the "
            f"function into ks.compiled.",
            subject=loss,
        )
    return Stage("gradients", backpropagate(loss, wrt), loss)


@boundary
def backpropagate(loss: Tensor, wrt: list[Tensor]) -> Generator[Any, Any, list[Tensor | None]]:
    """Sweep from `loss` back to `wrt`; return d loss / d x for each x, None without a gradient."""
    if not is_float(loss.dtype):
        raise GradientError(
            f"gradients: expected a loss of floats, got '{loss.name}' of dtype {loss.dtype}. "
            f"Convert it with K.cast() first.",
            subject=loss,
        )
    with gradient_scope(loss.owner, named=False):
        grads = {loss: ones_like(loss)}
    yield Seeded(loss, grads[loss])
    yield from sweep(grads, wrt)
    return [grads.get(x) for x in wrt]


def sweep(grads: dict[Tensor, Tensor], wrt: Sequence[Tensor]) -> Generator[Swept, None, None]:
    """Visit the ops between `wrt` and the tensors in `grads`, last one first; add to `grads`.

    Parameters
    ----------
    grads : dict of Tensor to Tensor
        d loss / d y of the tensors y from which the sweep begins. Each gradient has the shape of
        its tensor. The sweep adds d loss / d x of each tensor x that it reaches.
    wrt : list of Tensor
    """
    sums = Sums(grads)
    for apply in reversed(applies_between(wrt, grads)):
        if not any(y in grads for y in apply.outputs):
            continue
        with gradient_scope(apply):
            # grads[y] for each output y, or zeros if the loss does not depend on it.
            output_grads = sums.of_outputs(apply)
            terms = checked_terms(apply, apply.op.grad(apply.inputs, apply.outputs, output_grads))
            for position, (x, term) in enumerate(zip(apply.inputs, terms, strict=True)):
                if term is not None and is_float(x.dtype):
                    # The sum of the chain rule: grads[x] + term, or term if it is the first.
                    sums.add(apply, position, term)
        yield Swept(apply, output_grads, terms)
    with gradient_scope():  # only switches have branches; without them, nothing is left to do
        sums.leave_branches(wrt)


def checked_terms(apply: Apply, given: Any) -> list[Tensor | None]:
    """Return the gradients from an op's `grad` as a list; raise if they do not fit the inputs."""
    if given is None or isinstance(given, Tensor):
        what = "nothing" if given is None else f"the tensor '{given.name}'"
        raise GradientError(
            f"{apply!r}: expected a list with one gradient for each input from grad, got {what}. "
            f"If there is one input, return [gradient].",
            subject=apply,
        )
    terms = list(given)
    if len(terms) != len(apply.inputs):
        raise GradientError(
            f"{apply!r}: expected one gradient for each of {len(apply.inputs)} inputs from grad, "
            f"got {len(terms)}.",
            subject=apply,
        )
    for x, term in zip(apply.inputs, terms, strict=True):
        if term is not None and term.ndim != x.ndim:
            raise ShapeError(
                f"{apply!r}: expected a gradient of shape {x.shape} for '{x.name}', "
                f"got {term.shape}.",
                subject=apply,
            )
    return terms


def blocking_ops(loss: Tensor, variable: Tensor) -> list[Apply]:
    """Return the calls between `variable` and `loss` whose ops pass no gradient to any input.

    The list is empty if the loss does not depend on the variable at all.
    """
    stops = []
    for apply in applies_between([variable], [loss]):
        ones = [ones_like(y) for y in apply.outputs]
        if all(term is None for term in apply.op.grad(apply.inputs, apply.outputs, ones)):
            stops.append(apply)
    return stops
