"""The op Scan: what is cut out, what is kept, random numbers inside; folds and maps."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_scan import check_gradients, weighted_sum

from kerascope import backend as K
from kerascope.backend.eager import eager_mode
from kerascope.backend.graph import Constant, Placeholder
from kerascope.backend.ops.scan import Scan, scan
from kerascope.errors import ArgumentError, DataError, DtypeError, GradientError, ShapeError
from kerascope.stage import observing


def array(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def loops_in(tensor):
    steps = K.function([], tensor).schedule.steps
    return [step.apply for step in steps if isinstance(step.apply.op, Scan)]


def recurrence(x, start, kernel):
    """h = tanh(x + h . kernel), with the kernel squared in every step's graph."""
    return scan(
        lambda slices, states: ([], [K.tanh(slices[0] + K.dot(states[0], K.square(kernel)))]),
        [x],
        [start],
    )[1][0]


# --- the cut --------------------------------------------------------------------------------------


def test_what_is_the_same_at_each_step_is_computed_once_outside():
    x, kernel = K.variable(array(4, 2, 3)), K.variable(array(3, 3))
    h = recurrence(x, K.zeros((2, 3)), kernel)
    steps = [step.apply.op.name for step in K.function([], h).schedule.steps]
    assert steps == ["square", "scan"]
    inner = h.owner.op.inner
    assert [apply.op.name for apply in inner.applies] == ["dot", "add", "tanh"]
    assert [x.owner.op.name for x in h.owner.inputs[2:]] == ["square"]


def test_the_inside_can_be_looked_at():
    h = recurrence(K.variable(array(4, 2, 3)), K.zeros((2, 3)), K.variable(array(3, 3)))
    inner = h.owner.op.inner
    assert [x.shape for x in inner.inputs] == [(2, 3), (2, 3), (3, 3)]
    assert inner.results.new_states == (inner.applies[-1].outputs[0],)
    assert all(isinstance(x, Placeholder) for x in inner.inputs)
    assert repr(h.owner.op) == "Scan(3 ops, 1 sequences, 1 states)"
    assert repr(inner) == "<inner graph of 3 ops>"
    assert set(h.owner.op.parameters) == {"inner", "backwards", "least_steps"}


def test_two_loops_are_equal_if_their_inside_is_the_same_object():
    x, start, kernel = K.zeros((4, 2, 3)), K.zeros((2, 3)), K.zeros((3, 3))
    first, second = (recurrence(x, start, kernel).owner.op for _ in range(2))
    assert first != second
    assert dataclasses.replace(first) == first
    assert hash(dataclasses.replace(first)) == hash(first)


def test_inner_names_tell_where_they_were_made():
    with K.name_scope("lstm_1"):
        h = recurrence(K.zeros((4, 2, 3)), K.zeros((2, 3)), K.zeros((3, 3)))
    names = [apply.name for apply in h.owner.op.inner.applies]
    assert names == ["lstm_1/step/dot", "lstm_1/step/add", "lstm_1/step/tanh"]
    assert h.name.startswith("lstm_1/scan")


def test_weights_and_what_is_made_of_them_both_get_their_gradient_once():
    """The kernel and its square are both inputs: nothing may be counted twice."""
    x = Placeholder((4, 2, 3), "float64", "x")
    kernel = Placeholder((3, 3), "float64", "kernel")

    def step(slices, states):
        h = K.tanh(K.dot(slices[0] * states[0], kernel) + K.dot(states[0], K.square(kernel)))
        return [h], [h]

    outputs, states = scan(step, [x], [Constant(array(2, 3, seed=3))])
    loss = weighted_sum([outputs[0], states[0]])
    check_gradients(loss, [x, kernel], [array(4, 2, 3), array(3, 3, seed=1)])


@pytest.mark.parametrize(
    "step",
    [
        lambda x, a, b, w: ([a], [b, x]),  # a register that shifts
        lambda x, a, b, w: ([x], [a, b]),  # nothing changes
        lambda x, a, b, w: ([w], [w, x + w]),  # results that no step computes
        lambda x, a, b, w: ([a, a, x * a], [x * a, b * b]),  # one tensor several times
        lambda x, a, b, w: ([a * w], [K.sign(a) * x, b + w]),
        lambda x, a, b, w: ([], [a * K.cast(b > 0, "float64") + x, b]),
    ],
)
@pytest.mark.parametrize("backwards", [False, True])
def test_gradients_of_steps_of_every_kind(step, backwards):
    inputs = [Placeholder(shape, "float64", "x") for shape in ((3, 2), (2,), (2,), (2,))]
    x, a, b, w = inputs
    outputs, states = scan(
        lambda slices, states: step(slices[0], *states, w), [x], [a, b], backwards=backwards
    )
    loss = weighted_sum([*(K.square(y) for y in outputs), *(K.exp(y) for y in states)])
    check_gradients(loss, inputs, [array(3, 2), array(2), array(2, seed=1), array(2, seed=2)])


@settings(max_examples=30, deadline=None)
@given(steps=st.integers(0, 4), backwards=st.booleans(), seed=st.integers(0, 1000))
def test_a_loop_is_what_its_steps_written_out_are(steps, backwards, seed):
    x, start = Constant(array(steps, 2, seed=seed)), Constant(array(2, seed=seed + 1))

    def step(slice, h):
        return K.sin(h * 2) + slice * h

    _, (looped,) = scan(
        lambda slices, states: ([], [step(slices[0], states[0])]), [x], [start], backwards=backwards
    )
    written = start
    for place in range(steps - 1, -1, -1) if backwards else range(steps):
        written = step(x[place], written)
    for y, z in zip(
        [looped, *K.gradients(K.sum(looped), [x, start])],
        [written, *K.gradients(K.sum(written), [x, start])],
        strict=True,
    ):
        expected = np.zeros(y.shape) if z is None else K.eval(z)
        np.testing.assert_allclose(K.eval(y), expected, rtol=1e-12, atol=1e-12)


def test_a_loop_inside_a_loop_knows_the_tensors_around_both():
    x, w = Placeholder((3, 4), "float64", "x"), Placeholder((), "float64", "w")

    def row(elements):
        scale = K.sum(elements) * w
        return K.foldl(lambda total, e: total * e * scale + w, elements)

    y = K.map_fn(row, x)
    assert y.shape == (3,)
    check_gradients(K.sum(K.square(y)), [x, w], [array(3, 4), np.array(0.7)])


def test_the_gradient_of_a_loop_is_a_loop_that_runs_the_other_way():
    x = K.variable(array(4, 2, 3))
    h = recurrence(x, K.zeros((2, 3)), K.variable(array(3, 3)))
    first = K.gradients(K.sum(h), x)[0]
    second = K.gradients(K.sum(K.square(first)), x)[0]
    assert [apply.op.backwards for apply in loops_in(first)] == [False, True]
    assert [apply.op.backwards for apply in loops_in(second)].count(False) == 2


def test_outputs_that_nobody_uses_cost_the_gradient_nothing():
    x = K.variable(array(4, 3))
    outputs, _ = scan(lambda s, h: ([K.exp(s[0]), K.sin(s[0])], []), [x], [])
    (reverse,) = [a for a in loops_in(K.gradients(K.sum(outputs[0]), x)[0]) if a.op.backwards]
    assert "cos" not in {apply.op.name for apply in reverse.op.inner.applies}
    assert len(reverse.op.inner.sequences) == 2


def test_no_gradient_flows_through_whole_numbers():
    numbers = K.variable([1, 2, 3], "int32")
    x = K.variable(array(3))
    y = K.map_fn(lambda e: e[1] * K.cast(e[0], "float32"), [numbers, x])
    assert K.gradients(K.sum(y), numbers) == [None]
    np.testing.assert_array_equal(K.eval(K.gradients(K.sum(y), x)[0]), [1, 2, 3])
    counted = K.foldl(lambda n, e: n + e, numbers)
    assert K.gradients(K.sum(K.cast(counted, "float32") * x), numbers) == [None]
    with pytest.raises(GradientError, match="a loss of floats"):
        K.gradients(counted, numbers)


def test_a_gradient_that_stops_inside_is_none():
    x = K.variable(array(3, 2))
    y = K.map_fn(lambda e: K.stop_gradient(e) * 2, x)
    assert K.gradients(K.sum(y), x) == [None]


def test_results_belong_to_the_caller():
    x = K.variable(array(3, 2))
    outputs, states = scan(lambda s, h: ([h[0] + s[0]], [h[0] + s[0]]), [x], [K.zeros((2,))])
    f = K.function([], [outputs[0], states[0]])
    first = f([])
    kept = [y.copy() for y in first]
    for y in first:
        y[...] = 99
    for y, before in zip(f([]), kept, strict=True):
        np.testing.assert_array_equal(y, before)


def test_a_switch_inside_is_lazy():
    computed = []

    class Heard(K.Op):
        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            computed.append(float(x))
            return x

    x = K.constant([1.0, -2.0, 3.0])
    y = K.map_fn(lambda e: K.switch(e > 0, lambda: Heard()(e), lambda: -e), x)
    assert K.eval(y).tolist() == [1.0, 2.0, 3.0]
    assert computed == [1.0, 3.0]


def test_a_watched_function_tells_a_loop_as_one_step():
    x = K.variable(array(4, 2, 3))
    f = K.function([], recurrence(x, K.zeros((2, 3)), K.variable(array(3, 3))))
    heard = []
    with observing(lambda stage, event: heard.append(event)):
        watched = f([])
    assert [e.apply.op.name for e in heard if hasattr(e, "apply")] == ["square", "scan"]
    np.testing.assert_array_equal(watched, f([]))


# --- random numbers inside ------------------------------------------------------------------------


def masks(x, seed=5):
    return K.map_fn(lambda e: K.dropout(K.ones_like(e), 0.5, seed=seed), x)


@pytest.mark.parametrize("shape", [(6, 20), (None, None)])
def test_random_numbers_differ_from_step_to_step_and_from_call_to_call(shape):
    x = K.placeholder(shape)
    draw = K.function([x], masks(x))
    first, second = draw([np.ones((6, 20))]), draw([np.ones((6, 20))])
    assert len({row.tobytes() for row in np.concatenate([first, second])}) == 12
    again = K.function([x], masks(x))
    np.testing.assert_array_equal(again([np.ones((6, 20))]), first)


def test_the_count_of_draws_moves_on_once_for_each_call():
    x = K.placeholder((6, 20))
    draw = K.function([x], masks(x))
    (update,) = draw.updates
    for call in range(3):
        assert K.get_value(update.variable) == call
        draw([np.ones((6, 20))])


def test_a_random_op_outside_is_drawn_once():
    x = K.placeholder((6, 20))
    mask = K.random_binomial((20,), 0.5, seed=5)
    rows = K.function([x], K.map_fn(lambda e: mask * e, x))([np.ones((6, 20))])
    assert (rows == rows[0]).all()
    assert 0 < rows[0].sum() < 20


def test_the_reverse_loop_meets_the_same_random_numbers():
    x = K.variable(np.ones((6, 20)))
    start = K.variable(np.ones(20))

    def step(slices, states):
        h = K.dropout(slices[0] * states[0], 0.1, seed=1)
        return [h], [h]

    outputs, _ = scan(step, [x], [start])
    kept, grad = K.function([], [outputs[0][-1], K.gradients(K.sum(outputs[0][-1]), start)[0]])([])
    assert 0 < (kept > 0).sum() < 20
    np.testing.assert_allclose(kept, grad, rtol=1e-6)


def test_random_numbers_differ_in_loops_within_loops():
    x = K.zeros((3, 4))
    draw = K.function(
        [], K.map_fn(lambda row: K.map_fn(lambda e: K.random_uniform(()) + e, row), x)
    )
    assert len(np.unique([draw([]), draw([])])) == 24


def test_eager_random_numbers_differ_too():
    with eager_mode():
        rows = K.get_value(masks(K.constant(np.ones((6, 20)))))
    assert len({row.tobytes() for row in rows}) == 6


# --- folds and maps -------------------------------------------------------------------------------


def test_foldl_and_foldr_go_opposite_ways():
    x = K.constant([1, 2, 3])
    assert K.eval(K.foldl(lambda total, e: 10 * total + e, x)) == 123
    assert K.eval(K.foldr(lambda total, e: 10 * total + e, x)) == 321
    assert K.eval(K.foldl(lambda total, e: 10 * total + e, x, 4)) == 4123
    assert K.eval(K.foldr(lambda total, e: 10 * total + e, x, initializer=4)) == 4321


def test_folds_of_several_tensors():
    x, y = K.constant([1.0, 2.0, 3.0]), K.constant([4.0, 5.0, 6.0])
    dot = K.foldl(lambda total, pair: total + pair[0] * pair[1], [x, y], initializer=0.0)
    assert K.eval(dot) == 32
    sums = K.foldr(lambda totals, pair: [totals[0] + pair[0], totals[1] * pair[1]], [x, y])
    assert [float(K.eval(total)) for total in sums] == [6, 120]


@pytest.mark.parametrize("fold", [K.foldl, K.foldr])
def test_gradients_of_folds(fold):
    x, start = Placeholder((4, 2), "float64", "x"), Placeholder((2,), "float64", "start")
    arrays = [array(4, 2), array(2)]
    check_gradients(K.sum(K.square(fold(lambda a, e: K.sin(a) * e, x))), [x], arrays[:1])
    check_gradients(K.sum(fold(lambda a, e: K.sin(a) * e, x, start)), [x, start], arrays)


def test_map_fn_of_several_tensors_to_several():
    x, y = K.placeholder((None, 3)), K.placeholder((None,))
    total, product = K.map_fn(lambda e: [K.sum(e[0]) + e[1], e[0] * e[1]], [x, y])
    assert (total.shape, product.shape) == ((None,), (None, 3))
    results = K.function([x, y], [total, product])([np.ones((2, 3)), [1.0, 2.0]])
    assert [r.tolist() for r in results] == [[4, 5], [[1, 1, 1], [2, 2, 2]]]


def test_map_fn_names_and_converts():
    y = K.map_fn(lambda e: e > 1, K.constant([1.0, 2.0]), name="flags", dtype="float64")
    assert (y.name, y.dtype) == ("flags", "float64")
    assert K.eval(y).tolist() == [0.0, 1.0]


def test_of_no_elements_a_map_makes_none_and_a_fold_its_initializer():
    x = K.placeholder((None, 3))
    results = K.function(
        [x],
        [
            K.map_fn(lambda e: K.sum(e) * K.ones((2, 1)), x),
            K.foldl(lambda a, e: a + e, x, K.ones((3,))),
            *K.gradients(K.sum(K.map_fn(K.exp, x)), [x]),
        ],
    )([np.zeros((0, 3))])
    assert [r.shape for r in results] == [(0, 2, 1), (3,), (0, 3)]
    assert results[1].tolist() == [1, 1, 1]


def test_mistakes_are_told():
    x = K.constant([[1.0, 2.0]])
    with pytest.raises(ArgumentError, match=r"K\.map_fn: elems must contain at least one tensor"):
        K.map_fn(lambda e: e, [])
    with pytest.raises(ShapeError, match=r"K\.foldl: .* got the scalar"):
        K.foldl(lambda a, e: a, K.constant(3.0))
    with pytest.raises(ArgumentError, match="expected at least one element or an initializer"):
        K.foldr(lambda a, e: a, Constant(np.zeros((0, 2))))
    with pytest.raises(ShapeError, match=r"keep its shape: expected \(2,\), got \(\)"):
        K.foldl(lambda a, e: K.sum(a * e), x)
    with pytest.raises(ArgumentError, match="expected 1 tensors from the function, .* got 2"):
        K.foldl(lambda a, e: [a, e], x)
    with pytest.raises(DtypeError, match="keep its type: expected int32, got float32"):
        K.foldl(lambda a, e: K.cast(a, "float32") / 2, Constant(np.ones(3, "int32")))
    with pytest.raises(ShapeError, match=r"expected equal first axes, .*\(2,\).*\(3,\)"):
        K.map_fn(lambda e: e[0] + e[1], [K.constant([1.0, 2.0]), K.constant([1.0, 2.0, 3.0])])
    a, b = K.placeholder((None,)), K.placeholder((None,))
    with pytest.raises(DataError, match=r"got \[2, 3\] steps"):
        K.function([a, b], K.map_fn(lambda e: e[0] + e[1], [a, b]))([[1, 2], [1, 2, 3]])


def test_print_tensor_prints_when_it_is_computed(capsys):
    x = K.placeholder((2,))
    y = K.map_fn(lambda e: K.print_tensor(e, "element ") * 2, x)
    f = K.function([x], [y, *K.gradients(K.sum(K.print_tensor(x) * x), [x])])
    assert capsys.readouterr().out == ""
    assert [r.tolist() for r in f([[1.0, 2.0]])] == [[2, 4], [2, 4]]
    assert capsys.readouterr().out.splitlines().count("element 2.0") == 1


def test_gradients_may_be_taken_inside_a_step():
    """Gradient descent as a loop, and how its end depends on its start."""
    start, rate = Placeholder((2,), "float64", "start"), Placeholder((), "float64", "rate")

    def descend(point, number):
        loss = K.sum(K.square(point) * K.square(point)) + K.prod(point) * number
        return point - rate * K.gradients(loss, point)[0]

    end = K.foldl(descend, Constant(np.arange(5.0)), start)
    check_gradients(K.sum(K.square(end)), [start, rate], [np.array([0.7, -0.4]), np.array(0.05)])
