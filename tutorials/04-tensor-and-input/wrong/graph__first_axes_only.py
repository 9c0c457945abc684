"""SumLike forgets the axes of size 1.

en: expected the shape of SumLike().perform for arrays (5, 4), (5, 1) to be (5, 1), yours is (5, 4)
zh: SumLike().perform（数组 (5, 4), (5, 1)）的形状应为 (5, 1)，你的是 (5, 4)
"""

import numpy as np


class Tensor:
    """A symbolic value: its shape is known; `value` has numbers only for weights and constants."""

    def __init__(self, shape, name=None, value=None, owner=None):
        self.shape = tuple(shape)
        self.name = name
        self.value = value
        self.owner = owner
        self._keras_history = None

    def __add__(self, other):
        return Add()(self, other)

    def __mul__(self, other):
        return Mul()(self, other)

    def __truediv__(self, other):
        return Div()(self, other)

    def __sub__(self, other):
        return self + as_tensor(other) * -1.0

    def __neg__(self):
        return self * -1.0


def as_tensor(value):
    if isinstance(value, Tensor):
        return value
    value = np.asarray(value, dtype="float64")
    return Tensor(value.shape, name="constant", value=value)


class Apply:
    """One call of an op: its inputs exist before it, and it makes its output."""

    def __init__(self, op, inputs):
        self.op = op
        self.inputs = inputs
        shape = op.infer_shape(*[x.shape for x in inputs])
        self.outputs = [Tensor(shape, name=op.name, owner=self)]


class Op:
    """The definition of a function on tensors; a call of it makes an Apply."""

    @property
    def name(self):
        return type(self).__name__.lower()

    def __call__(self, *inputs):
        return Apply(self, [as_tensor(x) for x in inputs]).outputs[0]

    def infer_shape(self, *shapes):
        """Return the shape of an elementwise result: a size of 1 is stretched; None stays None."""
        sizes = [[0 if size is None else size for size in shape] for shape in shapes]
        return tuple(size or None for size in np.broadcast_shapes(*sizes))

    def grad(self, inputs, outputs, output_grads):
        return [None] * len(inputs)


class Add(Op):
    perform = np.add

    def grad(self, inputs, outputs, output_grads):
        return [SumLike()(output_grads[0], x) for x in inputs]


class Mul(Op):
    perform = np.multiply

    def grad(self, inputs, outputs, output_grads):
        (a, b), g = inputs, output_grads[0]
        return [SumLike()(g * b, a), SumLike()(g * a, b)]


class Div(Op):
    perform = np.divide

    def grad(self, inputs, outputs, output_grads):
        (a, b), g = inputs, output_grads[0]
        return [SumLike()(g / b, a), SumLike()(-g * a / (b * b), b)]


class Dot(Op):
    def infer_shape(self, a, b):
        if a[-1] != b[0]:
            raise ValueError(f"dot: {a[-1]} columns of {a} do not fit {b[0]} rows of {b}")
        return (a[0], b[1])

    def perform(self, a, b):
        return a @ b

    def grad(self, inputs, outputs, output_grads):
        (a, b), g = inputs, output_grads[0]
        return [Dot()(g, Transpose()(b)), Dot()(Transpose()(a), g)]


class Transpose(Op):
    def infer_shape(self, x):
        return x[::-1]

    def perform(self, x):
        return x.T

    def grad(self, inputs, outputs, output_grads):
        return [Transpose()(output_grads[0])]


class Relu(Op):
    def perform(self, x):
        return np.maximum(x, 0.0)

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * Positive()(inputs[0])]


class Positive(Op):
    """1 where x is positive, otherwise 0; no gradient flows through it."""

    def perform(self, x):
        return (x > 0).astype("float64")


class Softmax(Op):
    def perform(self, x):
        powers = np.exp(x - x.max(axis=-1, keepdims=True))
        return powers / powers.sum(axis=-1, keepdims=True)

    def grad(self, inputs, outputs, output_grads):
        y, g = outputs[0], output_grads[0]
        return [y * (g - Sum(axis=-1)(g * y))]


class Log(Op):
    perform = np.log

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] / inputs[0]]


class Sum(Op):
    """The sum of all elements, or with axis=-1 that of each row, which stays a column."""

    def __init__(self, axis=None):
        self.axis = axis

    def infer_shape(self, x):
        return () if self.axis is None else (*x[:-1], 1)

    def perform(self, x):
        return x.sum(axis=self.axis, keepdims=self.axis is not None)

    def grad(self, inputs, outputs, output_grads):
        return [BroadcastLike()(output_grads[0], inputs[0])]


class SumLike(Op):
    """Sum x over the axes along which `like` would be stretched to the shape of x."""

    def infer_shape(self, x, like):
        return like

    def perform(self, x, like):
        x = x.sum(axis=tuple(range(x.ndim - like.ndim)))
        return x

    def grad(self, inputs, outputs, output_grads):
        return [BroadcastLike()(output_grads[0], inputs[0]), None]


class BroadcastLike(Op):
    """Stretch x to the shape of `like`, whose numbers do not matter."""

    def perform(self, x, like):
        return np.broadcast_to(x, like.shape)

    def grad(self, inputs, outputs, output_grads):
        return [SumLike()(output_grads[0], inputs[0]), None]


def ones_like(x):
    return BroadcastLike()(1.0, x)


def mean(x):
    return Sum()(x) / Sum()(ones_like(x))


def applies_in_order(outputs, ordered=None):
    """Return all calls that the outputs need, each after the calls whose outputs it reads."""
    ordered = [] if ordered is None else ordered
    for x in outputs:
        if x.owner is not None and x.owner not in ordered:
            applies_in_order(x.owner.inputs, ordered)
            ordered.append(x.owner)
    return ordered
