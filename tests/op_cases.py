"""One row or several for each op: the inputs, the op, what it must compute, where it is smooth.

`tests/backend/test_ops.py` runs every row through forward, shape, type and gradient tests; an op
without a row fails the suite. Further rows stand in the `op_cases_*.py` beside this file, each in a
list CASES.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import reference

from kerascope.backend.graph import Op
from kerascope.backend.ops import broadcasting as b
from kerascope.backend.ops import comparison as c
from kerascope.backend.ops import (
    control,
    indexing,
    joining,
    linalg,
    nn,
    random,
    shaping,
)
from kerascope.backend.ops import elementwise as e
from kerascope.backend.ops import reduction as r
from kerascope.backend.ops.indexing import Span


class Draw:
    """Makes arrays of float64, ints or booleans with repeatable contents."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def normal(self, *shape: int) -> np.ndarray:
        return np.asarray(self._generator.normal(size=shape))

    def positive(self, *shape: int) -> np.ndarray:
        """Numbers in [0.4, 1.6)."""
        return np.asarray(self._generator.uniform(0.4, 1.6, shape))

    def nonzero(self, *shape: int) -> np.ndarray:
        """Numbers of either sign, at least 0.4 away from 0."""
        return self.positive(*shape) * self._generator.choice([-1.0, 1.0], shape)

    def digits(self, *shape: int) -> np.ndarray:
        """-1.0, 0.0 or 1.0: many ties and zeros."""
        return self._generator.integers(-1, 2, shape).astype("float64")

    def below(self, stop: int, *shape: int) -> np.ndarray:
        return np.asarray(self._generator.integers(0, stop, shape))

    def truths(self, *shape: int) -> np.ndarray:
        return np.asarray(self._generator.integers(0, 2, shape) == 1)


@dataclass(frozen=True)
class Case:
    """A row.

    Attributes
    ----------
    op : Op
    inputs : callable
        From a `Draw` to the list of input arrays.
    expected : callable
        From the input arrays (float64) to the output array.
    smooth : sequence of int
        Inputs in which the op is differentiable at these arrays.
    twice : bool
        Whether it is so a second time.
    fixed : sequence of int
        Inputs that come as constants: the sizes of a shape.
    by_numbers : bool
        Whether sizes of the output depend on the numbers: no graph knows them.
    """

    op: Op
    inputs: Callable[[Draw], Sequence[Any]]
    expected: Callable[..., Any]
    smooth: Sequence[int] = ()
    twice: bool = True
    fixed: Sequence[int] = ()
    by_numbers: bool = False

    def arrays(self, dtype: str = "float64") -> list[np.ndarray]:
        """Return the inputs, those of floats in the given type."""
        drawn = [np.asarray(x) for x in self.inputs(Draw(seed=1))]
        return [x.astype(dtype) if x.dtype.kind == "f" else x for x in drawn]


def pair(draw: Draw) -> list[np.ndarray]:
    """Two operands that stretch each other."""
    return [draw.nonzero(2, 1, 3), draw.nonzero(4, 1)]


def binary(op: Op, expected: Callable[..., Any], inputs: Any = pair, **facts: Any) -> list[Case]:
    """Rows for an op of two operands: of one shape, stretched, scalars."""
    facts = {"smooth": (0, 1), **facts}

    def same(draw: Draw) -> list[np.ndarray]:
        x, y = inputs(draw)
        return list(np.broadcast_arrays(x, y))

    def scalars(draw: Draw) -> list[np.ndarray]:
        return [x.flat[0] for x in inputs(draw)]

    return [Case(op, build, expected, **facts) for build in (inputs, same, scalars)]


def unary(op: Op, expected: Callable[..., Any], kind: str = "normal", **facts: Any) -> list[Case]:
    """Rows for an op of one operand: a matrix and a scalar."""
    facts = {"smooth": (0,), **facts}
    return [
        Case(op, lambda d: [getattr(d, kind)(3, 4)], expected, **facts),
        Case(op, lambda d: [getattr(d, kind)()], expected, **facts),
    ]


def one(op: Op, shape: Sequence[int], expected: Any, kind: str = "normal", **facts: Any) -> Case:
    """A row for an op of one operand."""
    facts = {"smooth": (0,), **facts}
    return Case(op, lambda d: [getattr(d, kind)(*shape)], expected, **facts)


def digits(draw: Draw) -> list[np.ndarray]:
    return [draw.digits(2, 1, 3), draw.digits(4, 1)]


BROADCASTING = [
    one(b.Cast("float64"), (2, 3), lambda x: x),
    one(b.Cast("int32"), (2, 3), lambda x: reference.cast(x, "int32"), smooth=()),
    one(b.Cast("bool"), (2, 3), lambda x: reference.cast(x, "bool"), "digits", smooth=()),
    one(b.FullLike(2.5, "float32"), (2, 3), lambda x: reference.full_like(x, 2.5), smooth=()),
    Case(b.SumTo(), lambda d: [d.normal(2, 3, 4), d.normal(3, 1)], reference.sum_to, (0,)),
    Case(b.SumTo(), lambda d: [d.normal(2, 3), d.normal(2, 3)], reference.sum_to, (0,)),
    Case(
        b.BroadcastLike(None),
        lambda d: [d.normal(3, 1), d.normal(2, 3, 4)],
        reference.broadcast_like,
        (0,),
    ),
    Case(
        b.BroadcastLike((1,)),
        lambda d: [d.normal(2, 4), d.normal(2, 3, 4)],
        lambda x, like: reference.broadcast_like(x, like, (1,)),
        (0,),
    ),
    one(b.Sum((0, 2)), (2, 3, 4), lambda x: reference.sum(x, (0, 2))),
    one(b.Sum((1,), True), (2, 3), lambda x: reference.sum(x, (1,), True)),
    one(b.Sum(()), (2, 3), lambda x: x),
    Case(b.Sum((0,)), lambda d: [d.below(9, 4)], lambda x: reference.sum(x, (0,))),
]

COMPARISON = [
    *binary(c.Equal(), reference.equal, digits, smooth=()),
    *binary(c.NotEqual(), reference.not_equal, digits, smooth=()),
    *binary(c.Greater(), reference.greater, digits, smooth=()),
    *binary(c.GreaterEqual(), reference.greater_equal, digits, smooth=()),
    *binary(c.Less(), reference.less, digits, smooth=()),
    *binary(c.LessEqual(), reference.less_equal, digits, smooth=()),
    *binary(c.LogicalAnd(), reference.logical_and, digits, smooth=()),
    *binary(c.LogicalOr(), reference.logical_or, digits, smooth=()),
    *unary(c.LogicalNot(), reference.logical_not, "digits", smooth=()),
    Case(c.LogicalNot(), lambda d: [d.truths(5)], reference.logical_not),
]

ELEMENTWISE = [
    *binary(e.Add(), reference.add),
    *binary(e.Subtract(), reference.subtract),
    *binary(e.Multiply(), reference.multiply),
    *binary(e.Divide(), reference.divide),
    *binary(e.Power(), reference.pow, lambda d: [d.positive(2, 1, 3), d.normal(4, 1)]),
    *binary(e.Maximum(), reference.maximum),
    *binary(e.Minimum(), reference.minimum),
    *unary(e.Negative(), reference.negative),
    *unary(e.Abs(), reference.abs, "nonzero"),
    *unary(e.Sign(), reference.sign, "digits", smooth=()),
    *unary(e.Round(), reference.round, smooth=()),
    Case(e.Round(), lambda d: [np.array([-1.5, -0.5, 0.5, 1.5, 2.5])], reference.round),
    *unary(e.Square(), reference.square),
    *unary(e.Sqrt(), reference.sqrt, "positive"),
    *unary(e.Exp(), reference.exp),
    *unary(e.Log(), reference.log, "positive"),
    *unary(e.Log1p(), reference.log1p, "positive"),
    Case(e.Log1p(), lambda d: [np.array([1e-12, -1e-9, 1e-7, 0.0, -0.5])], reference.log1p),
    *unary(e.Sin(), reference.sin),
    *unary(e.Cos(), reference.cos),
    *unary(e.Clip(-0.5, 0.7), lambda x: reference.clip(x, -0.5, 0.7)),
    *unary(e.Identity(), reference.identity),
    *unary(e.StopGradient(), reference.identity, smooth=()),
]

REDUCTION = [
    one(r.CountOver((0, 2), "float32"), (2, 3, 4), lambda x: np.array(8), smooth=()),
    one(r.Mean((1,), False), (2, 3), lambda x: reference.mean(x, (1,))),
    one(r.Mean((0, 1), True), (2, 3), lambda x: reference.mean(x, (0, 1), True)),
    one(r.Mean((), False), (), lambda x: x),
    one(r.Prod((1,), False), (2, 3), lambda x: reference.prod(x, (1,)), "nonzero"),
    one(r.Prod((0, 1), True), (2, 3), lambda x: reference.prod(x, (0, 1), True), "nonzero"),
    one(r.Prod((0,), False), (2, 4), lambda x: reference.prod(x, (0,)), "digits", twice=False),
    one(
        r.ProductOfOthers((0, 2)),
        (2, 2, 3),
        lambda x: reference.product_of_others(x, (0, 2)),
        "nonzero",
    ),
    one(
        r.ProductOfOthers((1,)),
        (3, 1),
        lambda x: reference.product_of_others(x, (1,)),
        "nonzero",
    ),
    one(
        r.ProductOfOthers((0,)),
        (3, 5),
        lambda x: reference.product_of_others(x, (0,)),
        "digits",
        smooth=(),
    ),
    one(r.Max((1,), False), (3, 4), lambda x: reference.max(x, (1,))),
    one(r.Max((0, 2), True), (2, 3, 2), lambda x: reference.max(x, (0, 2), True)),
    Case(r.Max((0,), False), lambda d: [d.below(9, 5)], lambda x: reference.max(x, (0,))),
    one(r.Min((0, 1), False), (3, 4), lambda x: reference.min(x, (0, 1))),
    one(r.Min((1,), True), (3, 4), lambda x: reference.min(x, (1,), True)),
    one(r.Any((1,), False), (6, 2), lambda x: reference.any(x, (1,)), "digits", smooth=()),
    one(r.Any((0,), True), (1, 5), lambda x: reference.any(x, (0,), True), "truths", smooth=()),
    one(r.All((1,), False), (6, 2), lambda x: reference.all(x, (1,)), "digits", smooth=()),
    one(r.All((0,), True), (1, 5), lambda x: reference.all(x, (0,), True), "truths", smooth=()),
    one(r.LogSumExp((1,), False), (3, 4), lambda x: reference.logsumexp(x, (1,))),
    one(r.LogSumExp((0, 1), True), (3, 4), lambda x: reference.logsumexp(x, (0, 1), True)),
    one(r.Argmax(1), (3, 4), lambda x: reference.argmax(x, 1), "digits", smooth=()),
    one(r.Argmax(0), (4,), lambda x: reference.argmax(x, 0), smooth=()),
    one(r.Argmin(0), (3, 4), lambda x: reference.argmin(x, 0), "digits", smooth=()),
    one(r.CumulativeSum(1), (2, 4), lambda x: reference.cumsum(x, 1)),
    one(r.CumulativeSum(0, True), (4, 2), lambda x: reference.cumsum(x, 0, from_end=True)),
    Case(r.CumulativeSum(0), lambda d: [d.below(9, 4)], lambda x: reference.cumsum(x, 0)),
    one(r.CumulativeProduct(1), (2, 4), lambda x: reference.cumprod(x, 1), "nonzero"),
]

SHAPING = [
    one(indexing.Shape(), (2, 3, 4), lambda x: np.array([2, 3, 4]), smooth=()),
    one(shaping.Reshape((4, -1)), (2, 3, 4), lambda x: reference.reshape(x, (4, -1))),
    one(shaping.Reshape(()), (1, 1), lambda x: reference.reshape(x, ())),
    Case(
        shaping.ReshapeTo(),
        lambda d: [d.normal(2, 6), np.array([3, -1])],
        lambda x, shape: reference.reshape(x, (3, -1)),
        (0,),
        fixed=(1,),
    ),
    Case(
        shaping.ReshapeLike(),
        lambda d: [d.normal(2, 6), d.normal(3, 4)],
        lambda x, like: reference.reshape(x, (3, 4)),
        (0,),
    ),
    one(shaping.BatchFlatten(), (2, 3, 4), lambda x: reference.reshape(x, (2, 12))),
    one(shaping.ExpandDims((0, 2)), (2, 3), lambda x: reference.reshape(x, (1, 2, 1, 3))),
    one(shaping.Squeeze((0, 2)), (1, 2, 1, 3), lambda x: reference.reshape(x, (2, 3))),
    Case(
        joining.Concatenate(1),
        lambda d: [d.normal(2, 3), d.normal(2, 1), d.normal(2, 2)],
        lambda *xs: reference.concatenate(xs, 1),
        (0, 1, 2),
    ),
    Case(
        joining.Part(1, 1),
        lambda d: [d.normal(2, 5), d.normal(2, 2), d.normal(2, 3)],
        lambda whole, *xs: reference.part(whole, 1, 2, 5),
        (0,),
    ),
    Case(
        joining.Stack(1),
        lambda d: [d.normal(2, 3), d.normal(2, 3)],
        lambda *xs: reference.stack(xs, 1),
        (0, 1),
    ),
    one(joining.Tile((2, 1, 3)), (1, 2, 2), lambda x: reference.tile(x, (2, 1, 3))),
    one(b.Stretch(3), (4,), lambda x: reference.tile(x[None], (3, 1))),
    one(joining.SumTiles((2, 3)), (4, 3), lambda x: reference.sum_tiles(x, (2, 3))),
    one(joining.RepeatElements(2, 1), (2, 3), lambda x: reference.repeat_elements(x, 2, 1)),
    one(joining.SumRepeated(2, 0), (4, 3), lambda x: reference.sum_repeated(x, 2, 0)),
    one(shaping.Reverse((0, 2)), (2, 3, 2), lambda x: reference.reverse(x, (0, 2))),
    one(
        shaping.Transpose((2, 0, 1)),
        (2, 3, 4),
        lambda x: reference.permute_dimensions(x, (2, 0, 1)),
    ),
]

_INDEX = (Span(1, None), None, -1, Span(None, None, -2))
_PLAIN = ((1, None, None), None, -1, (None, None, -2))

INDEXING = [
    one(indexing.GetItem(_INDEX), (3, 2, 5), lambda x: reference.get_item(x, _PLAIN)),
    one(indexing.GetItem((0,)), (3,), lambda x: reference.get_item(x, (0,))),
    Case(
        indexing.PutItem(_INDEX),
        lambda d: [d.normal(2, 1, 3), d.normal(3, 2, 5)],
        lambda x, like: reference.put_item(x, like, _PLAIN),
        (0,),
    ),
    Case(
        indexing.GetSlice(),
        lambda d: [d.normal(3, 4), np.array([1, 0]), np.array([2, 3])],
        lambda x, start, size: reference.get_item(x, reference.slice_spans(start, size, x.shape)),
        (0,),
        fixed=(1, 2),
    ),
    Case(
        indexing.PutSlice(),
        lambda d: [d.normal(2, 3), np.array([1, 0]), np.array([-1, 3]), d.normal(3, 4)],
        lambda x, start, size, like: reference.put_item(
            x, like, reference.slice_spans(start, size, like.shape)
        ),
        (0,),
        fixed=(1, 2),
    ),
    Case(
        indexing.Gather(),
        lambda d: [d.normal(4, 2, 3), np.array([[1, 1, 0], [2, 3, 1]])],
        reference.gather,
        (0,),
    ),
    Case(indexing.Gather(), lambda d: [d.normal(4), np.array(2)], reference.gather, (0,)),
    Case(
        indexing.AddRows(),
        lambda d: [d.normal(2, 3, 2), np.array([[1, 1, 0], [2, 3, 1]]), d.normal(4, 2)],
        reference.add_rows,
        (0,),
    ),
    Case(
        indexing.AddRows(),
        lambda d: [d.normal(0, 2), np.zeros((0,), "int64"), d.normal(4, 2)],
        reference.add_rows,
    ),
    Case(
        indexing.OneHot(3, "float32"),
        lambda d: [np.array([[0, 2], [1, 3], [-1, 2]])],
        lambda x: reference.one_hot(x, 3),
    ),
    Case(
        indexing.InTopK(2),
        lambda d: [d.digits(6, 4), d.below(4, 6)],
        lambda p, t: reference.in_top_k(p, t, 2),
    ),
    Case(
        indexing.Arange("int32"),
        lambda d: [np.array(7), np.array(-2), np.array(-3)],
        reference.arange,
        fixed=(0, 1, 2),
    ),
]


def contraction_rows(x_shape: Any, y_shape: Any, x_axes: Any, y_axes: Any, batch: int) -> Case:
    kind = (linalg.TensorDot, linalg.BatchDot)[batch]
    return Case(
        kind(x_axes, y_axes),
        lambda d: [d.normal(*x_shape), d.normal(*y_shape)],
        lambda x, y: reference.contraction(x, y, x_axes, y_axes, batch),
        (0, 1),
    )


def product_row(op: Op, expected: Any, x_shape: Any, y_shape: Any) -> Case:
    return Case(op, lambda d: [d.normal(*x_shape), d.normal(*y_shape)], expected, (0, 1))


LINALG = [
    contraction_rows((2, 3, 4), (4, 2, 5), (2, 0), (0, 1), batch=0),
    contraction_rows((2,), (3,), (), (), batch=0),
    contraction_rows((2, 3, 4), (5, 4, 2, 3), (1, 0, 2), (3, 2, 1), batch=0),
    contraction_rows((2, 3, 4), (2, 4, 5), (2,), (1,), batch=1),
    contraction_rows((2, 3, 4), (2, 5, 3), (1,), (2,), batch=1),
    contraction_rows((2, 3), (2, 3), (1,), (1,), batch=1),
    contraction_rows((2, 3, 4, 2), (2, 5, 2, 3), (3, 1), (2, 3), batch=1),
    product_row(linalg.Dot(), reference.dot, (2, 3), (3, 4)),
    product_row(linalg.Dot(), reference.dot, (2, 5, 3), (3, 4)),
    product_row(linalg.Dot(), reference.dot, (2, 3), (2, 3, 4)),
    product_row(linalg.Dot(), reference.dot, (2, 2, 3), (4, 3, 2)),
    product_row(linalg.Dot(), reference.dot, (3,), (3,)),
    product_row(linalg.Dot(), reference.dot, (2, 3), (3,)),
    product_row(linalg.Dot(), reference.dot, (3,), (3, 2)),
    product_row(linalg.MatMul(), reference.matmul, (2, 3, 4), (2, 4, 5)),
    product_row(linalg.MatMul(), reference.matmul, (2, 1, 3, 4), (5, 4, 2)),
    product_row(linalg.MatMul(), reference.matmul, (3, 1), (2, 1, 4)),
]

CONTROL = [
    Case(
        control.Switch(),
        lambda d: [np.array(True), d.normal(2, 3), d.normal(2, 3)],
        reference.switch,
        (1, 2),
    ),
    Case(
        control.Switch(),
        lambda d: [np.array(False), d.normal(2, 3), d.normal(2, 3)],
        reference.switch,
        (1, 2),
    ),
    Case(
        control.Where(),
        lambda d: [d.truths(4, 1), d.normal(4, 3), d.normal(3)],
        reference.switch,
        (1, 2),
    ),
]


def random_row(op: Op, expected: Callable[..., Any], draws: int) -> Case:
    return Case(
        op,
        lambda d: [np.array([40, 5]), np.array(draws)],
        lambda shape, draws: expected(tuple(shape), int(draws)),
        fixed=(0,),
    )


RANDOM = [
    random_row(
        random.RandomUniform(7, "float32", -1.0, 3.0),
        lambda shape, draws: reference.random_uniform(shape, -1.0, 3.0, 7, draws, "float32"),
        draws=0,
    ),
    random_row(
        random.RandomNormal(2**63, "float64", 1.0, 2.0),
        lambda shape, draws: reference.random_normal(shape, 1.0, 2.0, 2**63, draws, "float64"),
        draws=3,
    ),
    random_row(
        random.TruncatedNormal(5, "float32", 0.0, 0.5),
        lambda shape, draws: reference.truncated_normal(shape, 0.0, 0.5, 5, draws, "float32"),
        draws=2**40,
    ),
    random_row(
        random.RandomBinomial(5, "float64", 0.3),
        lambda shape, draws: reference.random_binomial(shape, 0.3, 5, draws),
        draws=1,
    ),
]

NN = [
    *unary(nn.Relu(), reference.relu),
    *unary(nn.Relu(0.3, 1.1, 0.2), lambda x: reference.relu(x, 0.3, 1.1, 0.2)),
    *unary(nn.Relu(0.0, None, -0.5), lambda x: reference.relu(x, threshold=-0.5)),
    *unary(nn.ReluSlope(0.3, 1.1, 0.2), lambda x: reference.relu_slope(x, 0.3, 1.1, 0.2)),
    *unary(nn.ReluSlope(0.0, None, 0.0), lambda x: reference.relu_slope(x, 0.0, None, 0.0)),
    *unary(nn.Elu(0.7), lambda x: reference.elu(x, 0.7), "nonzero"),
    *unary(nn.Softplus(), reference.softplus),
    *unary(nn.Softsign(), reference.softsign, "nonzero"),
    *unary(nn.Sigmoid(), reference.sigmoid),
    *unary(nn.Tanh(), reference.tanh),
    one(nn.Softmax(1), (2, 4), lambda x: reference.softmax(x, 1)),
    one(nn.Softmax(0), (3, 2), lambda x: reference.softmax(x, 0)),
    one(nn.LogSoftmax(1), (2, 4), lambda x: reference.log_softmax(x, 1)),
    one(nn.LogSoftmax(1), (2, 3, 2), lambda x: reference.log_softmax(x, 1)),
    Case(
        nn.Pick(1),
        lambda d: [d.normal(3, 4), np.array([0, 3, 1])],
        lambda x, places: reference.pick(x, places, 1),
        (0,),
    ),
    Case(
        nn.Pick(1),
        lambda d: [d.normal(2, 4, 3), d.below(4, 2, 3)],
        lambda x, places: reference.pick(x, places, 1),
        (0,),
    ),
    Case(
        nn.PutPicked(1),
        lambda d: [d.normal(3), np.array([0, 3, 1]), d.normal(3, 4)],
        lambda x, places, like: reference.put_picked(x, places, like, 1),
        (0,),
    ),
]

CASES: list[Case] = [
    *BROADCASTING,
    *COMPARISON,
    *ELEMENTWISE,
    *REDUCTION,
    *SHAPING,
    *INDEXING,
    *LINALG,
    *CONTROL,
    *RANDOM,
    *NN,
]
