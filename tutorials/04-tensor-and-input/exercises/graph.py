"""Your own engine, part 1: the graph of tensors and ops.

Seven exercises of the course, one each in chapters 4, 7, 9, 10, 13, 14 and 15, are the parts of an
engine of your own. In chapter 23 it learns to read digits. You write the parts in the folder
my_engine; for a part that you have not written, `import my_engine` takes our solution.

A Tensor is symbolic: it has a shape, with None for an axis of any size, and no numbers. Only
weights and constants have a `value`. An Op is the definition of a function, and Apply is one call
of it: Apply has `op`, `inputs`, and `outputs`, a list with one new Tensor, whose `owner` is this
Apply and whose shape is op.infer_shape(*shapes of the inputs). Calling an op computes nothing; it
makes the inputs tensors with as_tensor, makes an Apply, and returns its output. Later,
op.perform(*arrays) computes the result with NumPy: it is a method, or, as in Add, Mul and Div, one
of NumPy's own elementwise functions.

- Op.infer_shape(*shapes): the shape of an elementwise result, which most ops have. A size of 1 is
  stretched, (None, 4) and (4,) give (None, 4), and sizes that do not fit are a ValueError.
- Dot: the matrix product; a ValueError if the inner sizes differ.
- Softmax: exp(x) divided by its sum, for each row. It must work for x = 1000, too.
- Sum: of all elements; with axis=-1 of each row, which keeps this axis with size 1.
- SumLike: the sum of x over the axes along which `like` would be stretched to the shape of x; the
  result has the shape of `like`. BroadcastLike is the opposite: x stretched to the shape of `like`.
- applies_in_order(outputs): all Applies that the outputs need, once each, and each one after the
  Applies that compute its inputs.

The gradients are complete; chapter 13 is about them. Fill in the missing parts.
"""

import numpy as np


class Tensor:
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
    def __init__(self, op, inputs):
        self.op = op
        self.inputs = inputs
        self.outputs = [...]


class Op:
    @property
    def name(self):
        return type(self).__name__.lower()

    def __call__(self, *inputs):
        return ...

    def infer_shape(self, *shapes):
        return ...

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
        return ...

    def perform(self, a, b):
        return ...

    def grad(self, inputs, outputs, output_grads):
        (a, b), g = inputs, output_grads[0]
        return [Dot()(g, Transpose()(b)), Dot()(Transpose()(a), g)]


class Transpose(Op):
    def infer_shape(self, x):
        return ...

    def perform(self, x):
        return ...

    def grad(self, inputs, outputs, output_grads):
        return [Transpose()(output_grads[0])]


class Relu(Op):
    def perform(self, x):
        return ...

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] * Positive()(inputs[0])]


class Positive(Op):
    def perform(self, x):
        return (x > 0).astype("float64")


class Softmax(Op):
    def perform(self, x):
        return ...

    def grad(self, inputs, outputs, output_grads):
        y, g = outputs[0], output_grads[0]
        return [y * (g - Sum(axis=-1)(g * y))]


class Log(Op):
    perform = np.log

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] / inputs[0]]


class Sum(Op):
    def __init__(self, axis=None):
        self.axis = axis

    def infer_shape(self, x):
        return ...

    def perform(self, x):
        return ...

    def grad(self, inputs, outputs, output_grads):
        return [BroadcastLike()(output_grads[0], inputs[0])]


class SumLike(Op):
    def infer_shape(self, x, like):
        return like

    def perform(self, x, like):
        return ...

    def grad(self, inputs, outputs, output_grads):
        return [BroadcastLike()(output_grads[0], inputs[0]), None]


class BroadcastLike(Op):
    def perform(self, x, like):
        return ...

    def grad(self, inputs, outputs, output_grads):
        return [SumLike()(output_grads[0], inputs[0]), None]


def ones_like(x):
    return BroadcastLike()(1.0, x)


def mean(x):
    return Sum()(x) / Sum()(ones_like(x))


def applies_in_order(outputs):
    return ...
