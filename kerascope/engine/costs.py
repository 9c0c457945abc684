"""What a call of a layer costs: its multiply-adds for one sample, read from the op graph.

The ops between the inputs and the outputs of a call say what is computed, so the count holds for
layers that somebody else wrote too. `Cost` is what `model.summary(flops=True)` shows.

A multiply-add is one product of two numbers that is added to a sum: the unit in which the papers
count (ResNet50 has 3.86 thousand million). Twice that is the number of floating point operations.
Only matrix products and convolutions have any:

=========================  =========================================================================
op                         multiply-adds
=========================  =========================================================================
dot, tensordot, batch_dot  numbers of the output * size of the axes that are summed over
matmul                     the same, summed over the last axis of `x`
einsum                     product of the sizes of all letters, once for each operand but the first
convolution                numbers of the output * places of the kernel * channels that it sees
transposed convolution     numbers of the input * places of the kernel * channels that it makes
gradient by the kernel     numbers of the gradient * places of the kernel * channels that it sees
loop over steps            those of one step * steps
=========================  =========================================================================

A group of a convolution sees only its own channels, a depthwise one a single channel. Places of the
kernel in the padding count. All other ops of this package count 0: sums, activations, pooling,
resizing, normalization and whatever goes number by number are little beside the products, and
decompositions of matrices are not products. Of a switch both branches count. An op from elsewhere
has an unknown cost, until `multiply_adds` is told of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import singledispatch
from typing import Any, NamedTuple

from kerascope.backend.graph import Apply, Op, Placeholder, Tensor, applies_in_order
from kerascope.backend.ops.convolution import ConvolutionKernelGradient, Convolve, ConvolveBack
from kerascope.backend.ops.linalg import Contraction, Dot, Einsum, MatMul
from kerascope.backend.ops.scan import Scan
from kerascope.backend.shapes import Shape, product
from kerascope.engine.node import Node
from kerascope.errors import KerascopeError

_OWN_OPS = "kerascope.backend.ops."
# Two primes, so great that no size of a model is a multiple of one: see `_per_step`.
_TRIAL_STEPS = (1_000_003, 1_000_033)


class Cost(NamedTuple):
    """Multiply-adds for one sample: `fixed + per_step * steps`.

    Attributes
    ----------
    fixed : int
    per_step : int
        What each step adds, where the number of steps is not known before data comes.
    """

    fixed: int
    per_step: int = 0

    def __str__(self) -> str:
        if not self.per_step:
            return f"{self.fixed:,}"
        steps = f"{self.per_step:,} \N{MULTIPLICATION SIGN} steps"
        return f"{self.fixed:,} + {steps}" if self.fixed else steps


# --- one op ---------------------------------------------------------------------------------------


@singledispatch
def multiply_adds(op: Op, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
    """Return the multiply-adds of one call of an op.

    Parameters
    ----------
    op : Op
    inputs, outputs : list
        Anything with a `shape`, in which sizes may be missing.

    Returns
    -------
    int or None
        None if it is not known: a size is missing, or nobody has said what this op costs.

    Examples
    --------
    An op of your own says its cost so:

    >>> from kerascope.backend.graph import Op
    >>> class Cube(Op):
    ...     def infer_shape(self, x): return x.shape
    >>> @multiply_adds.register
    ... def of_cube(op: Cube, inputs, outputs):
    ...     return 2 * product(outputs[0].shape)
    >>> from kerascope import backend as K
    >>> x = K.placeholder((5, 4))
    >>> multiply_adds(Cube(), [x], [Cube()(x)])
    40
    """
    return 0 if any(kind.__module__.startswith(_OWN_OPS) for kind in type(op).__mro__) else None


@multiply_adds.register
def _of_dot(op: Dot | MatMul, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
    return product([*outputs[0].shape, inputs[0].shape[-1]])


@multiply_adds.register
def _of_contraction(op: Contraction, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
    x = inputs[0]
    return product([*outputs[0].shape, *(x.shape[axis] for axis in op.x_axes)])


@multiply_adds.register
def _of_einsum(op: Einsum, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
    sizes = {
        letter: n
        for letters, x in zip(op.operands, inputs, strict=True)
        for letter, n in zip(letters, x.shape, strict=True)
    }
    all_letters = product(sizes.values())
    return None if all_letters is None else all_letters * (len(inputs) - 1)


@multiply_adds.register
def _of_convolution(op: Convolve, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
    return product([*outputs[0].shape, *inputs[1].shape[:-1]])


@multiply_adds.register
def _of_transposed(op: ConvolveBack, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
    return product([*inputs[0].shape, *inputs[1].shape[:-1]])


@multiply_adds.register
def _of_kernel_gradient(
    op: ConvolutionKernelGradient, inputs: Sequence[Any], outputs: Sequence[Any]
) -> int | None:
    return product([*inputs[1].shape, *outputs[0].shape[:-1]])


@multiply_adds.register
def _of_loop(op: Scan, inputs: Sequence[Any], outputs: Sequence[Any]) -> int | None:
    inner = op.inner.fitted(inputs)
    costs = _costs(inner.applies)
    if not any(cost is None or cost for cost in costs):
        return 0  # however many steps
    one_step = None if None in costs else sum(cost for cost in costs if cost is not None)
    steps = [x.shape[0] for x in inputs[: len(inner.sequences)] if x.shape[0] is not None]
    return product([one_step, steps[0] if steps else None])


def _costs(applies: Iterable[Apply]) -> list[int | None]:
    return [multiply_adds(apply.op, apply.inputs, apply.outputs) for apply in applies]


# --- one call of a layer --------------------------------------------------------------------------


def cost_of_call(node: Node) -> Cost | None:
    """Return the multiply-adds of one call of a layer, for one sample.

    Parameters
    ----------
    node : Node

    Returns
    -------
    Cost or None
        None if it is not known.

    Notes
    -----
    The first axis of the inputs counts the samples. Where it is unknown it becomes 1, and the
    shapes of all ops are found again from there: so a reshape that joins samples and steps counts
    right. Where the size of the batch is fixed, the count is divided by it.

    An unknown second axis of the inputs is a number of steps, on which a cost may depend. Any other
    unknown size makes the cost unknown if a product depends on it.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> cost_of_call(Dense(3)(Input((4,)))._keras_history.node)
    Cost(fixed=12, per_step=0)
    >>> cost_of_call(Dense(3)(Input((None, 4)))._keras_history.node)
    Cost(fixed=0, per_step=12)
    """
    if node.is_input:
        return Cost(0)
    try:
        costs = _costs(_for_one_sample(node))
        per_step = _per_step(node, costs) if None in costs else 0
    except KerascopeError:  # shapes that fit no batch of one sample
        return None
    fixed = sum(cost for cost in costs if cost is not None)
    return None if per_step is None else _divided(fixed, per_step, _samples(node))


def _samples(node: Node) -> int:
    """Return the fixed size of the batch, 1 where it is open."""
    first_axes = [x.shape[:1] for x in node.input_tensors[:1]]
    return first_axes[0][0] or 1 if first_axes and first_axes[0] else 1


def _divided(fixed: int, per_step: int, samples: int) -> Cost | None:
    if fixed % samples or per_step % samples:
        return None
    return Cost(fixed // samples, per_step // samples)


def _for_one_sample(node: Node, steps: int | None = None) -> list[Apply]:
    """Return the ops of a call with the shapes that they have for one sample of so many steps."""
    given = [*node.input_tensors, *(mask for mask in node.input_masks if mask is not None)]
    new: dict[Tensor, Tensor] = {
        x: Placeholder(_shape_for_one(x.shape, steps), x.dtype, x.name) for x in given
    }
    applies = []
    for apply in applies_in_order(node.output_tensors, fed=given):
        if any(x in new for x in apply.inputs):
            copy = Apply(apply.op, [new.get(x, x) for x in apply.inputs])
            new.update(zip(apply.outputs, copy.outputs, strict=True))
            apply = copy
        applies.append(apply)
    return applies


def _shape_for_one(shape: Shape, steps: int | None) -> Shape:
    first = tuple(1 if n is None else n for n in shape[:1])
    second = tuple(steps if n is None else n for n in shape[1:2])
    return (*first, *second, *shape[2:])


def _per_step(node: Node, costs: list[int | None]) -> int | None:
    """Return what the ops of unknown cost add with each step; None if that is no fixed number.

    With a great prime number of steps, a cost that is a multiple of it for two such numbers, with
    the same factor, is that factor times the steps. (A convolution with stride 2 leaves half of the
    steps: that is no multiple.)
    """
    total = 0
    trials = [_costs(_for_one_sample(node, steps)) for steps in _TRIAL_STEPS]
    for cost, *tried in zip(costs, *trials, strict=True):
        if cost is not None:
            continue
        factors = {
            divmod(found, steps) if found is not None else None
            for found, steps in zip(tried, _TRIAL_STEPS, strict=True)
        }
        factor = factors.pop()
        if factors or factor is None or factor[1]:
            return None
        total += factor[0]
    return total
