"""The cost of a layer's call: its multiply-adds for one sample, read from the op graph.

The ops between the inputs and the outputs of a call are counted, so this works for user-defined
layers too. `model.summary(flops=True)` shows a `Cost`.

A multiply-add is one product of two numbers that is added to a sum. Papers count in this unit
(ResNet50 has 3.86 billion). Twice that is the number of floating point operations. Only matrix
products and convolutions have multiply-adds:

=========================  =========================================================================
op                         multiply-adds
=========================  =========================================================================
dot, tensordot, batch_dot  elements of the output * size of the axes that are summed over
matmul                     the same, summed over the last axis of `x`
einsum                     product of the sizes of all letters * (number of operands - 1)
convolution                elements of the output * kernel positions * input channels of a group
transposed convolution     elements of the input * kernel positions * output channels of a group
gradient by the kernel     elements of the gradient * kernel positions * input channels of a group
loop over steps            multiply-adds of one step * steps
=========================  =========================================================================

Without groups, a convolution has one group with all channels; a depthwise convolution has groups of
one channel. Kernel positions in the padding count. All other ops of this package count 0: sums,
activations, pooling, resizing, normalization and elementwise ops cost little compared with the
products, and decompositions of matrices are not products. For a switch, both branches count. An op
of another package has an unknown cost until a function for it is registered with `multiply_adds`.
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
# Two primes, larger than any size in a model: see `_per_step`.
_TRIAL_STEPS = (1_000_003, 1_000_033)


class Cost(NamedTuple):
    """The number of multiply-adds for one sample: `fixed + per_step * steps`.

    Attributes
    ----------
    fixed : int
        Cost that does not depend on the number of time steps.
    per_step : int
        Cost of each time step, if their number is unknown until there are data; otherwise 0.
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
        Objects with a `shape`, in which sizes may be None.

    Returns
    -------
    int or None
        None if a size that matters is None, or if no function is registered for this op.

    Examples
    --------
    Register the cost of your own op:

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
        return 0  # for any number of steps
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
        None if the cost is unknown: see the notes.

    Notes
    -----
    The first axis of the inputs counts the samples. If its size is unknown, it is set to 1 and the
    shapes of all ops are inferred again, so a reshape that joins samples and steps is counted
    correctly. If the batch size is fixed, the count is divided by it.

    If the size of the second axis is unknown, it is a number of steps, on which the cost may
    depend. Any other unknown size makes the cost unknown if a product depends on it.

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
    except KerascopeError:  # the shapes do not allow a batch of one sample
        return None
    fixed = sum(cost for cost in costs if cost is not None)
    return None if per_step is None else _divided(fixed, per_step, _samples(node))


def _samples(node: Node) -> int:
    """Return the fixed batch size of a call's inputs, or 1 if no batch size is fixed."""
    first_axes = [x.shape[:1] for x in node.input_tensors[:1]]
    return first_axes[0][0] or 1 if first_axes and first_axes[0] else 1


def _divided(fixed: int, per_step: int, samples: int) -> Cost | None:
    if fixed % samples or per_step % samples:
        return None
    return Cost(fixed // samples, per_step // samples)


def _for_one_sample(node: Node, steps: int | None = None) -> list[Apply]:
    """Return the ops of a layer's call, with shapes for one sample that has `steps` time steps."""
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
    """Return the cost of one time step of ops whose cost depends on the number of steps.

    Return None if the cost is not proportional to the number of steps.

    The total cost is computed for two numbers of steps, which are large primes. If each of the two
    costs is a multiple of its number of steps, with the same factor, that factor is the cost per
    step. (A convolution with stride 2 halves the number of steps, so its cost is not a multiple.)
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
