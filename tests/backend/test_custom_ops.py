"""Ops that somebody has derived from ours: what they compute counts, not what they inherit."""

from dataclasses import dataclass

import numpy as np
import pytest
from two_roads import CALLS, same_stepped_and_run

from kerascope import backend as K
from kerascope.backend.eager import eager_mode
from kerascope.backend.graph import Op
from kerascope.backend.ops import broadcasting, comparison, elementwise, nn, reduction, shaping
from kerascope.backend.program.custom_ops import CustomOp, trusted
from kerascope.backend.program.emit import copied


def derived(kind):
    """Return a class of ops that compute three times what those of `kind` do."""

    def perform(self, *arrays):
        return kind.perform(self, *arrays) * 3

    return type(f"Three{kind.__name__}", (kind,), {"perform": perform})


OPS = [
    *(elementwise.Exp(), elementwise.Negative(), elementwise.Identity(), elementwise.Abs()),
    *(elementwise.Clip(-1.0, 0.5), elementwise.StopGradient(), elementwise.Square()),
    *(nn.Relu(0.0, None, 0.0), nn.Sigmoid(), nn.Softmax(-1), nn.Tanh()),
    *(shaping.Transpose((1, 0)), shaping.ExpandDims((0,)), shaping.Reshape((-1,))),
    *(broadcasting.Sum((0,), False), reduction.Mean((0,), True), broadcasting.Cast("float32")),
]


def of_three(op):
    """Return the same op, of a derived class."""
    kind = derived(type(op))
    copy = object.__new__(kind)
    vars(copy).update(vars(op))
    return copy


@pytest.mark.parametrize("rewrites", [None, ()])
@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_a_derived_op_is_computed_as_it_says(op, rewrites):
    x = np.array([[0.5, -2.0, 3.0], [-0.0, 1.0, 0.25]])

    def make():
        tensor = K.placeholder((None, 3), dtype="float64")
        y = of_three(op)(tensor)
        z = of_three(op)(tensor + 1)
        ends = [y, z, K.exp(-z), z + 1, K.identity(z)]
        return K.function([tensor], ends, rewrites=rewrites), []

    rows = same_stepped_and_run(make, [[x]] * CALLS)
    np.testing.assert_array_equal(rows[-1][0], op.perform(x) * 3)


def test_two_transpositions_of_which_one_is_derived_do_not_cancel():
    def make():
        x = K.placeholder((2, 3))
        return K.function([x], [K.transpose(of_three(shaping.Transpose((1, 0)))(x))]), []

    x = np.arange(6, dtype="f4").reshape(2, 3)
    for (y,) in same_stepped_and_run(make, [[x]] * CALLS):
        assert y == (x * 3).tolist()


def test_a_promise_that_was_made_of_another_perform_does_not_count():
    class Doubled(Op):
        ufunc = np.exp

        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            return np.exp(x)

    class Tripled(Doubled):
        def perform(self, x):
            return 3 * x

    def make():
        x = K.placeholder((2,))
        return K.function([x], [Doubled()(x), Tripled()(x)]), []

    for first, second in same_stepped_and_run(make, [[np.array([0, 1], "f4")]] * CALLS):
        assert first == np.exp(np.array([0, 1], "f4")).tolist()
        assert second == [0, 3]
    assert isinstance(trusted(Tripled()), CustomOp)
    assert isinstance(trusted(Doubled()), Doubled)


def test_an_op_of_which_only_the_gradient_is_another_stays_what_it_is():
    class Straight(comparison.Greater):
        def grad(self, inputs, outputs, output_grads):
            return [output_grads[0], None]

    @dataclass(frozen=True, eq=False, repr=False)
    class Other(Straight):
        def perform(self, x, y):
            return np.less(x, y)

    assert isinstance(trusted(Straight()), Straight)
    assert isinstance(trusted(Other()), CustomOp)
    assert isinstance(trusted(elementwise.Exp()), elementwise.Exp)


@pytest.mark.parametrize(
    "array",
    [
        *(np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3).T, np.arange(9.0)[::-2]),
        *(np.broadcast_to(np.arange(3.0), (2, 3)), np.arange(24.0).reshape(2, 3, 4)[:, ::-1, ::3]),
        *(np.arange(4.0)[:0], np.array(2.0), np.float64(3.0), np.arange(8.0)[::-1][:1]),
    ],
)
def test_a_copy_lies_in_memory_as_the_array_does(array):
    copy = copied(array)
    np.testing.assert_array_equal(copy, array)
    assert copy.dtype == np.asarray(array).dtype
    assert not np.shares_memory(copy, array)
    if copy.size:
        assert copy.strides == np.asarray(array).strides


def test_a_copy_of_nothing_is_nothing():
    assert copied(None) is None


class WritesIntoItsInput(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        x += 1
        return x * 2


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("kind", ["variable", "input", "constant", "result", "loop", "eager"])
def test_an_op_that_writes_into_what_it_is_given_is_refused(kind, verify):
    array = np.zeros((2, 3), "f4")
    x, v, c = K.placeholder((2, 3)), K.variable(array), K.constant(array)
    op = WritesIntoItsInput()
    given = {"variable": v, "constant": c, "result": K.exp(v), "eager": v}.get(kind, x)

    def call():
        if kind == "eager":
            with eager_mode():
                return op(given)
        y = K.map_fn(op, x) if kind == "loop" else op(given)
        function = K.function([x], [y, K.identity(given)], verify=verify)
        return function([array])

    for _ in range(CALLS):
        with pytest.raises(ValueError, match="read-only") as caught:
            call()
        assert any("Write into a copy" in note for note in caught.value.__notes__)
        assert [x.any() for x in (array, v.get_value(), c.value)] == [False] * 3
        assert array.flags.writeable


def test_an_op_that_hands_on_its_input_gives_what_may_be_written():
    class Keeps(Op):
        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            return x

    v = K.variable(np.zeros(3))
    function = K.function([], [Keeps()(v)], [(v, Keeps()(v) + 1)])
    for number in range(CALLS):
        (y,) = function([])
        assert y.tolist() == [number] * 3
        y.fill(7)
        assert v.get_value().tolist() == [number + 1] * 3
