import sys

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.backend.gradient import Seeded, Swept, blocking_ops, gradient_stage
from kerascope.backend.graph import Op
from kerascope.backend.scopes import name_scope
from kerascope.errors import GradientError, ShapeError


def value(tensor):
    return K.eval(tensor).tolist()


def test_gradients_of_all_uses_of_a_tensor_add_up():
    x = K.variable(3.0)
    y = x * x + 2 * x + x
    assert value(K.gradients(y, x)[0]) == 9.0


def test_the_same_operand_twice():
    x = K.variable([2.0, 3.0])
    assert value(K.gradients(K.sum(x * x), x)[0]) == [4.0, 6.0]


def test_a_tensor_that_the_loss_does_not_need_has_none():
    x, y = K.variable(1.0), K.variable(1.0)
    assert K.gradients(2 * x, [x, y])[1] is None


def test_a_loss_is_its_own_derivative_one():
    x = K.variable([1.0, 2.0])
    assert value(K.gradients(x, x)[0]) == [1.0, 1.0]


def test_a_loss_of_many_numbers_counts_as_their_sum():
    x = K.variable([1.0, 2.0])
    assert value(K.gradients(x**2, x)[0]) == [2.0, 4.0]


def test_derivative_with_respect_to_a_tensor_in_the_middle():
    x = K.variable(2.0)
    middle = x * 5
    assert value(K.gradients(middle**2, middle)[0]) == 20.0


@pytest.mark.parametrize(
    "block",
    [
        K.stop_gradient,
        lambda x: K.cast(K.argmax(x), "float32"),
        K.sign,
        K.round,
        lambda x: K.cast(x > 0, "float32"),
        lambda x: K.cast(K.cast(x, "int32"), "float32"),
    ],
)
def test_no_gradient_passes_a_block(block):
    x = K.variable([1.0, 2.0])
    assert K.gradients(K.sum(block(x)), x) == [None]


def test_the_other_road_stays_open_beside_a_blocked_one():
    x = K.variable([1.0, 2.0])
    assert value(K.gradients(K.sum(x * K.stop_gradient(x)), x)[0]) == [1.0, 2.0]


def test_blocking_ops_names_where_every_gradient_stops():
    x = K.variable([1.0, 2.0])
    loss = K.sum(K.round(x) * 2)
    assert [apply.op.name for apply in blocking_ops(loss, x)] == ["round"]
    assert blocking_ops(K.sum(x), x) == []
    assert blocking_ops(K.sum(x), K.variable(0.0)) == []


def test_integers_receive_no_gradient():
    x, i = K.variable([[1.0, 2.0]]), K.constant([0, 0], dtype="int32")
    g = K.gradients(K.sum(K.gather(x, i)), [x, i])
    assert value(g[0]) == [[2.0, 2.0]]
    assert g[1] is None


def test_a_loss_of_integers_is_refused():
    with pytest.raises(GradientError, match=r"of dtype int64\. Convert it with K\.cast"):
        K.gradients(K.argmax(K.variable([1.0, 2.0])), K.variable(1.0))


def test_integers_that_were_cast_on_the_way_keep_the_type_of_the_variable():
    x, weights = K.variable([1.0, 2.0], dtype="float64"), K.constant([2, 3], dtype="int32")
    g = K.gradients(K.sum(K.cast(x, "float32") * weights), x)[0]
    assert g.dtype == "float64"
    assert value(g) == [2.0, 3.0]


def test_a_gradient_is_a_graph_and_has_gradients():
    x = K.variable(2.0)
    g = x**4
    for expected in (32.0, 48.0, 48.0, 24.0):
        g = K.gradients(g, x)[0]
        assert value(g) == pytest.approx(expected)


@pytest.mark.parametrize("length", [1_500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_chain_of_more_ops_than_frames_are_allowed_needs_no_recursion(length):
    assert length > sys.getrecursionlimit()
    x = y = K.variable(1.0)
    for _ in range(length):
        y = y + x * 0.001
    assert value(K.gradients(y, x)[0]) == pytest.approx(1 + length / 1000, rel=1e-3)


def test_an_unstretched_operand_costs_no_sum():
    x, b = K.placeholder((None, 3)), K.variable([1.0, 2.0, 3.0])
    g = K.gradients(K.sum(x + b), b)[0]
    assert g.owner.op.name == "sum"
    assert K.function([x], g)([np.zeros((5, 3))]).tolist() == [5.0, 5.0, 5.0]


def test_an_operand_that_may_be_stretched_is_summed_at_run_time():
    x, b = K.placeholder((None, 3)), K.placeholder((None, 3))
    g = K.function([x, b], K.gradients(K.sum(x * b), b)[0])
    assert g([np.ones((5, 3)), np.ones((1, 3))]).tolist() == [[5.0, 5.0, 5.0]]
    assert g([np.ones((2, 3)), np.ones((2, 3))]).tolist() == [[1.0] * 3] * 2


def test_equal_greatest_elements_share_the_gradient():
    x = K.variable([[1.0, 5.0, 5.0], [2.0, 0.0, 1.0]])
    assert value(K.gradients(K.max(x, axis=1), x)[0]) == [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]


def test_rows_that_were_gathered_twice_add_up():
    x = K.variable(np.zeros((3, 2)))
    taken = K.gather(x, K.constant([2, 0, 2], dtype="int32"))
    g = K.gradients(K.sum(taken * K.constant([[1.0], [10.0], [100.0]])), x)[0]
    assert value(g) == [[10.0, 10.0], [0.0, 0.0], [101.0, 101.0]]


def test_the_gradient_of_a_softmax_over_one_unit_is_exactly_zero():
    x, w = K.placeholder((None, 3)), K.variable(np.random.default_rng(0).normal(size=(3, 1)))
    target = K.placeholder((None, 1))
    p = K.softmax(K.dot(x, w))
    losses = [K.mean(K.binary_crossentropy(target, p)), K.mean(K.square(p - target))]
    f = K.function([x, target], [K.gradients(loss, w)[0] for loss in losses])
    for g in f([np.random.default_rng(1).normal(size=(8, 3)), [[0.0], [1.0]] * 4]):
        assert g.tobytes() == np.zeros((3, 1), "float32").tobytes()


def test_the_sweep_tells_what_it_does_last_op_first():
    x = K.variable(2.0)
    loss = K.exp(K.square(x))
    stage = gradient_stage(loss, x)
    events = list(stage)
    assert isinstance(events[0], Seeded)
    assert events[0].loss is loss
    assert [type(event) for event in events[1:]] == [Swept, Swept]
    assert [event.apply.op.name for event in events[1:]] == ["exp", "square"]
    assert value(stage.result[0]) == pytest.approx(4 * np.exp(4))


def test_names_of_gradients_say_whose_they_are():
    with name_scope("dense_1"):
        x = K.variable(2.0)
        y = K.exp(x)
    with name_scope("elsewhere"):
        g = K.gradients(y * 2, x)[0]
    assert g.name.startswith("gradients/dense_1/")


class WrongCount(Op):
    def infer_shape(self, x):
        return x.shape

    def grad(self, inputs, outputs, output_grads):
        return []


class WrongRank(WrongCount):
    def grad(self, inputs, outputs, output_grads):
        return [K.sum(output_grads[0])]


def test_an_op_that_breaks_its_contract_is_named():
    x = K.variable([1.0], name="x")
    with pytest.raises(GradientError, match=r"wrong_count\(x\).*each of 1 inputs from grad, got 0"):
        K.gradients(WrongCount()(x), x)
    with pytest.raises(ShapeError, match=r"gradient of shape \(1,\) for 'x', got \(\)"):
        K.gradients(WrongRank()(x), x)
