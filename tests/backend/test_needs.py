"""What a switch does not need is not computed."""

import itertools

import numpy as np
import pytest
from effort import check_linear
from hypothesis import given, settings
from hypothesis import strategies as st

from kerascope import backend as K
from kerascope import layers, models
from kerascope.backend import needs
from kerascope.backend.graph import Op, Tensor
from kerascope.backend.needs import ALWAYS, simplified


class Noted(Op):
    """Passes its input through and counts how often it is performed."""

    performed: dict[str, int] = {}  # noqa: RUF012

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        self.performed["count"] = self.performed.get("count", 0) + 1
        return x

    def grad(self, inputs, outputs, output_grads):
        return output_grads


def performed_by(call):
    Noted.performed.clear()
    call()
    return Noted.performed.get("count", 0)


def test_only_the_chosen_branch_is_computed():
    c, x = K.placeholder(shape=()), K.placeholder(shape=(2,))
    f = K.function([c, x], [K.switch(c, Noted()(x), Noted()(Noted()(x)))])
    assert performed_by(lambda: f([1.0, [1, 2]])) == 1
    assert performed_by(lambda: f([0.0, [1, 2]])) == 2


def test_what_both_branches_share_is_computed_once():
    c, x = K.placeholder(shape=()), K.placeholder(shape=(2,))
    shared = Noted()(x)
    f = K.function([c, x], [K.switch(c, K.exp(shared), K.square(shared))])
    assert performed_by(lambda: f([1.0, [1, 2]])) == performed_by(lambda: f([0.0, [1, 2]])) == 1


def test_a_branch_that_can_never_be_chosen_is_left_out():
    c, x = K.placeholder(shape=()), K.placeholder(shape=(2,))
    only_here = Noted()(x)
    inner = K.switch(c, K.exp(x), K.square(only_here) + K.sqrt(K.exp(x)))
    f = K.function([c, x], [K.switch(c, inner, x)])
    assert performed_by(lambda: f([1.0, [1, 2]])) == performed_by(lambda: f([0.0, [1, 2]])) == 0


def test_what_another_output_needs_is_computed_in_any_case():
    c, x = K.placeholder(shape=()), K.placeholder(shape=(2,))
    y = Noted()(x)
    f = K.function([c, x], [K.switch(c, y, x), K.sum(y)])
    assert f([0.0, [1, 2]])[1] == 3


@pytest.mark.parametrize(("a", "b", "count"), [(1, 1, 1), (1, 0, 2), (0, 1, 0), (0, 0, 0)])
def test_switches_inside_switches_are_lazy(a, b, count):
    outer, inner, x = (K.placeholder(shape=s) for s in ((), (), (2,)))
    y = K.switch(outer, K.switch(inner, Noted()(x), Noted()(Noted()(x))), x)
    f = K.function([outer, inner, x], [y])
    assert performed_by(lambda: f([a, b, [1, 2]])) == count


def test_a_condition_may_itself_wait_for_another():
    outer, x = K.placeholder(shape=()), K.placeholder(shape=(2,))
    inner = K.sum(Noted()(x)) > 2
    f = K.function([outer, x], [K.switch(outer, K.switch(inner, K.exp(x), -x), x)])
    assert performed_by(lambda: f([0.0, [1, 2]])) == 0
    assert f([1.0, [1, 0]])[0].tolist() == [-1, 0]
    np.testing.assert_allclose(f([1.0, [2, 1]])[0], np.exp([2, 1]), rtol=1e-6)


def test_a_step_that_was_passed_over_makes_no_event():
    c, x = K.placeholder(shape=()), K.placeholder(shape=(2,))
    f = K.function([c, x], [K.switch(c, K.exp(x), K.square(x))])
    assert [event.apply.op.name for event in f.stage([0.0, [1, 2]])] == ["square", "switch"]


def test_gradients_flow_through_the_chosen_branch():
    c, x = K.placeholder(shape=()), K.placeholder(shape=(2,))
    y = K.switch(c, K.exp(x), K.square(x))
    f = K.function([c, x], K.gradients(K.sum(y), [x]))
    np.testing.assert_allclose(f([1.0, [1, 2]])[0], np.exp([1, 2]), rtol=1e-6)
    np.testing.assert_allclose(f([0.0, [1, 2]])[0], [2, 4])


def test_a_dropout_that_is_not_needed_draws_nothing():
    model = models.Sequential([layers.Dropout(0.5, seed=3, input_shape=(20,))])
    model.compile("sgd", "mse")
    x = np.ones((4, 20))
    run = K.function([*model.inputs, K.learning_phase()], model.outputs)
    first = run([x, 1])[0]
    twin = K.function([*model.inputs, K.learning_phase()], model.outputs)
    model.predict(x)
    assert run([x, 0])[0].tolist() == x.tolist()
    second = twin([x, 1])[0]
    assert (first != second).any()
    again = models.Sequential([layers.Dropout(0.5, seed=3, input_shape=(20,))])
    repeat = K.function([*again.inputs, K.learning_phase()], again.outputs)
    np.testing.assert_array_equal(repeat([x, 1])[0], first)
    np.testing.assert_array_equal(repeat([x, 1])[0], second)


def test_predict_takes_no_statistics_of_a_batch():
    model = models.Sequential([layers.BatchNormalization(input_shape=(3,)), layers.Dropout(0.5)])
    model.predict(np.ones((2, 3)))
    done = [e.apply.op.name for e in model.predict_function.stage([np.ones((2, 3)), 0.0])]
    assert "random_binomial" not in done
    assert "mean" not in done


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_random_graphs_of_switches_compute_what_numpy_computes(data):
    conditions = [K.placeholder(shape=(), name=f"c{i}") for i in range(3)]
    x = K.placeholder(shape=())
    truths = data.draw(st.tuples(*[st.booleans()] * 3))
    made = [(x, 0.5), (K.constant(2.0), 2.0)]
    for _ in range(data.draw(st.integers(1, 12))):
        a, b = (made[data.draw(st.integers(0, len(made) - 1))] for _ in range(2))
        chosen = data.draw(st.integers(0, 5))
        if chosen < 3:
            pick = a[1] if truths[chosen] else b[1]
            made.append((K.switch(conditions[chosen], a[0], b[0]), pick))
        elif chosen == 3:
            pick = a[1] if b[1] > 1 else b[1]
            made.append((K.switch(b[0] > 1, a[0], b[0]), pick))
        else:
            made.append((K.tanh(a[0] + b[0]), np.tanh(a[1] + b[1])))
    f = K.function([x, *conditions], [made[-1][0]])
    assert f([0.5, *truths])[0] == pytest.approx(made[-1][1], rel=1e-5)


def test_simplified_claims():
    c, d = K.placeholder(shape=()), K.placeholder(shape=())

    def claim(*conjunctions):
        return frozenset(frozenset(conjunction) for conjunction in conjunctions)

    yes, no, other = (c, True), (c, False), (d, True)
    assert simplified(claim([yes], [no])) == ALWAYS
    assert simplified(claim([yes, other], [no, other])) == claim([other])
    assert simplified(claim([yes], [yes, other])) == claim([yes])
    assert simplified(claim([yes], [other])) == claim([yes], [other])


def test_what_is_never_drawn_is_never_counted():
    c, x = K.placeholder(shape=()), K.placeholder(shape=(2,))
    drawn = K.random_uniform((2,))
    never = K.function([c, x], [K.switch(c, K.switch(c, x, drawn), x)])
    fed = K.function([drawn], [drawn * 2])
    (count,) = [update.variable for update in never.updates]
    never([1.0, [1, 2]])
    never([0.0, [1, 2]])
    fed([[1, 2]])
    assert K.get_value(count) == 0


def switches_inside_each_other(count):
    x = y = K.placeholder(shape=(2,))
    conditions = [K.placeholder(shape=()) for _ in range(count)]
    for condition in conditions:
        y = K.switch(condition, Noted()(y), K.zeros((2,)))
    return K.function([x, *conditions], [y])


def test_a_switch_inside_many_takes_no_more_work_than_inside_few(monkeypatch):
    # What is in a set is hashed when the set is made: so its size is counted too.
    monkeypatch.setattr(Tensor, "__hash__", lambda self: object.__hash__(self))
    check_linear(switches_inside_each_other)
    monkeypatch.setattr(needs, "MOST_CONDITIONS", 1000)
    with pytest.raises(AssertionError):
        check_linear(switches_inside_each_other, step=20)


def test_hundreds_of_switches_inside_each_other():
    f = switches_inside_each_other(500)
    assert f([[1, 2], *[1.0] * 500])[0].tolist() == [1, 2]
    assert performed_by(lambda: f([[1, 2], *[1.0] * 499, 0.0])) == 0


@pytest.mark.parametrize("shape", [(2,), (None,)])
def test_gradients_do_not_compute_the_other_branch_either(shape):
    c, x = K.placeholder(shape=()), K.placeholder(shape=shape)
    y = K.switch(c, K.sqrt(Noted()(x)), 3 * x)
    f = K.function([c, x], [y, *K.gradients(K.sum(y), [x])])
    assert performed_by(lambda: f([0.0, [1, 2]])) == 0
    assert performed_by(lambda: f([1.0, [1, 2]])) == 1
    assert f([0.0, [0, 4]])[1].tolist() == [3, 3]  # the root has none at 0: 0 * infinity
    assert f([1.0, [1, 4]])[1].tolist() == [0.5, 0.25]


@pytest.mark.parametrize("wanted", list(itertools.product([0.0, 1.0], repeat=3)))
def test_gradients_are_those_of_the_graph_with_the_chosen_branches_alone(wanted):
    conditions = [K.placeholder(shape=()) for _ in wanted]
    x, z = K.placeholder(shape=(2,)), K.placeholder(shape=(None,))

    def derivatives(choose):
        inner = choose(1, K.sin(x) * z, choose(0, K.square(z), x))
        y = choose(0, choose(1, inner, K.tanh(z)), choose(2, inner * z, z)) + choose(2, z, inner)
        first = K.gradients(K.sum(K.sin(y)), [x, z, inner])
        first = [K.zeros_like(x) if g is None else g for g in first]
        second = K.gradients(K.sum(K.sin(first[1]) + first[0] * z), [x, z])
        return [*first, *(K.zeros_like(x) if g is None else g for g in second)]

    switched = K.function(
        [x, z, *conditions], derivatives(lambda i, a, b: K.switch(conditions[i], a, b))
    )
    plain = K.function([x, z], derivatives(lambda i, a, b: a if wanted[i] else b))
    arrays = [np.array([0.3, -1.2]), np.array([0.7, 0.4])]
    for a, b in zip(switched([*arrays, *wanted]), plain(arrays), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
