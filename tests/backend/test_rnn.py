"""`K.rnn`: as a loop and unrolled, against plain loops over each sample."""

import numpy as np
import pytest
import reference_scan

from kerascope import backend as K
from kerascope.backend.eager import eager_mode
from kerascope.backend.graph import Constant, Placeholder
from kerascope.errors import ArgumentError, DataError, DtypeError, ShapeError

MASK = np.array([[0, 1, 1, 0, 1], [1, 1, 0, 0, 0], [0, 0, 0, 1, 0]])
KERNEL = np.array([[0.3, -0.8], [1.1, 0.2], [-0.4, 0.6]])


def no_state(tanh, dot, x, states):
    return tanh(dot(x, states[0])), []


def one_state(tanh, dot, x, states):
    h = tanh(dot(x, states[1]) + 0.5 * states[0])
    return h, [h]


def two_states(tanh, dot, x, states):
    """The output is no state, the states are exchanged, and they differ in shape."""
    a, b, kernel = states
    projected = dot(x, kernel)
    total = projected[..., :1] + projected[..., 1:]
    return tanh(projected * b + a), [tanh(a * projected), b + 0.3 * total * b]


STEPS = {"no state": (no_state, ()), "one state": (one_state, (2,)), "two": (two_states, (2, 1))}


@pytest.fixture(params=STEPS)
def recurrence(request):
    """The step function and the sizes of its states."""
    return STEPS[request.param]


def drawn(sizes, dtype="float64"):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(3, 5, 3)).astype(dtype)
    return x, [rng.normal(size=(3, size)).astype(dtype) for size in sizes]


def symbolic(step):
    return lambda x, states: step(K.tanh, K.dot, x, states)


def numeric(step):
    return lambda x, states: step(np.tanh, np.dot, x, states)


arguments = pytest.mark.parametrize("mask", [None, MASK], ids=["no mask", "mask"])
directions = pytest.mark.parametrize("go_backwards", [False, True])
kinds = pytest.mark.parametrize("unroll", [False, True])


@arguments
@directions
@kinds
def test_agrees_with_plain_loops(recurrence, mask, go_backwards, unroll):
    step, sizes = recurrence
    x, states = drawn(sizes)
    last, outputs, new_states = K.rnn(
        symbolic(step),
        Constant(x),
        [Constant(state) for state in states],
        go_backwards=go_backwards,
        mask=None if mask is None else Constant(mask),
        constants=[Constant(KERNEL)],
        unroll=unroll,
    )
    expected = reference_scan.rnn(numeric(step), x, states, go_backwards, mask, [KERNEL])
    assert outputs.shape == (3, 5, 2)
    np.testing.assert_allclose(K.eval(last), expected[0], rtol=1e-12)
    np.testing.assert_allclose(K.eval(outputs), expected[1], rtol=1e-12)
    for new, right in zip(new_states, expected[2], strict=True):
        np.testing.assert_allclose(K.eval(new), right, rtol=1e-12)


@arguments
@directions
@kinds
def test_gradients_agree_with_finite_differences(recurrence, mask, go_backwards, unroll):
    step, sizes = recurrence
    x, states = drawn(sizes)
    inputs = [Placeholder(array.shape, "float64", "x") for array in (x, *states, KERNEL)]
    last, outputs, new_states = K.rnn(
        symbolic(step),
        inputs[0],
        inputs[1:-1],
        go_backwards=go_backwards,
        mask=None if mask is None else Constant(mask),
        constants=[inputs[-1]],
        unroll=unroll,
    )
    loss = reference_scan.weighted_sum([last, outputs, *new_states])
    reference_scan.check_gradients(loss, inputs, [x, *states, KERNEL])


def test_a_loop_and_its_gradient_take_any_batch_and_number_of_steps():
    x = Placeholder((None, None, 3), "float64", "x")
    kernel = Constant(KERNEL)
    step = symbolic(one_state)
    start = K.dot(x[:, 0], kernel) * 0
    last, outputs, _ = K.rnn(step, x, [start], constants=[kernel])
    assert last.shape == (None, 2)
    assert outputs.shape == (None, None, 2)
    compute = K.function([x], [outputs, K.gradients(K.sum(last), x)[0]])
    for batch, time in ((3, 5), (1, 1), (2, 9)):
        array = np.random.default_rng(batch).normal(size=(batch, time, 3))
        y, grad = compute([array])
        zeros = [np.zeros((batch, 2))]
        expected = reference_scan.rnn(numeric(one_state), array, zeros, constants=[KERNEL])
        np.testing.assert_allclose(y, expected[1], rtol=1e-12)
        assert grad.shape == array.shape


def test_states_and_inputs_may_have_any_number_of_axes():
    x = np.random.default_rng(0).normal(size=(2, 4, 3, 5, 1))

    def step(x_t, states):
        h = states[0] * 0.5 + x_t
        return K.sum(h, axis=(1, 2)), [h]

    for unroll in (False, True):
        last, outputs, states = K.rnn(
            step, Constant(x), [Constant(np.zeros((2, 3, 5, 1)))], unroll=unroll, mask=MASK[:2, :4]
        )
        assert (last.shape, outputs.shape) == ((2, 1), (2, 4, 1))
        assert K.eval(states[0]).shape == (2, 3, 5, 1)


def test_a_mask_may_have_a_last_axis_of_one():
    x, states = drawn((2,))
    results = [
        K.eval(K.rnn(symbolic(one_state), Constant(x), states, mask=m, constants=[KERNEL])[0])
        for m in (MASK, MASK[:, :, None])
    ]
    np.testing.assert_array_equal(*results)


def test_nothing_of_a_masked_step_comes_through_not_even_nan():
    x, states = drawn((2,))
    x[MASK == 0] = np.nan
    inputs = Placeholder(x.shape, "float64", "x")
    last, outputs, new_states = K.rnn(
        symbolic(one_state), inputs, [Constant(s) for s in states], mask=MASK, constants=[KERNEL]
    )
    for y in K.function([inputs], [last, outputs, *new_states])([x]):
        assert np.isfinite(y).all()


def test_the_step_function_is_called_once():
    calls = []

    def step(x, states):
        calls.append(x.shape)
        return x, states

    K.rnn(step, K.zeros((2, 7, 3)), [])
    assert calls == [(2, 3)]
    K.rnn(step, K.zeros((2, 7, 3)), [], unroll=True)
    assert len(calls) == 8


def test_a_loop_is_one_op():
    last, _, _ = K.rnn(symbolic(one_state), *map_to_tensors(), constants=[KERNEL])
    names = [step.apply.op.name for step in K.function([], last).schedule.steps]
    assert names == ["transpose", "scan"]


def map_to_tensors():
    x, states = drawn((2,))
    return K.variable(x), [K.variable(state) for state in states]


@kinds
def test_works_eagerly(unroll):
    x, states = drawn((2,), "float32")
    kernel = KERNEL.astype("float32")
    with eager_mode():
        weights = K.constant(kernel) * 1  # known to the step function only
        last, outputs, _ = K.rnn(
            lambda x, s: one_state(K.tanh, K.dot, x, [s[0], weights]),
            K.constant(x),
            [K.constant(states[0])],
            mask=MASK,
            unroll=unroll,
        )
        assert isinstance(outputs, Constant)
        values = [K.get_value(last), K.get_value(outputs)]
    expected = reference_scan.rnn(numeric(one_state), x, states, mask=MASK, constants=[kernel])
    for value, right in zip(values, expected, strict=False):
        np.testing.assert_allclose(value, right, rtol=1e-5)


def test_variables_are_read_at_each_call():
    x, states = map_to_tensors()
    kernel = K.variable(KERNEL)
    f = K.function([], K.rnn(symbolic(one_state), x, states, constants=[kernel])[0])
    before = f([])
    K.set_value(kernel, 2 * KERNEL)
    assert (f([]) != before).all()


def test_the_learning_phase_reaches_the_step():
    x, states = map_to_tensors()
    last, _, _ = K.rnn(lambda x, s: (K.in_train_phase(x, 2 * x), s), x, states)
    assert last._uses_learning_phase
    f = K.function([K.learning_phase()], last)
    np.testing.assert_array_equal(2 * f([1.0]), f([0.0]))


# --- mistakes -------------------------------------------------------------------------------------


def keep(x, states):
    return x, states


@kinds
@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda x, s: x, r"returns the pair .* got [A-Z]\w+"),
        (lambda x, s: (x, s[0]), "expected a list of 1 new states .* got"),
        (lambda x, s: (x, []), r"expected a list of 1 new states .* got \[\]"),
    ],
)
def test_what_the_step_returns_is_checked(step, message, unroll):
    x, states = map_to_tensors()
    with pytest.raises(ArgumentError, match=message):
        K.rnn(step, x, states, unroll=unroll)


@kinds
def test_a_state_keeps_its_shape_and_type(unroll):
    x, states = map_to_tensors()
    with pytest.raises(ShapeError, match=r"must keep its shape: expected \(3, 2\), got \(3, 3\)"):
        K.rnn(lambda x, s: (x, [x]), x, states, unroll=unroll)
    count = Constant(np.zeros((3, 2), "int32"))
    with pytest.raises(
        DtypeError, match=r"keep its type: expected int32, got float32.*K\.cast\(state, 'float3"
    ):
        K.rnn(lambda x, s: (x, [K.cast(s[0], "float32")]), x, [count], unroll=unroll)


@pytest.mark.parametrize("wrong", [None, Constant(np.zeros((3, 2)))])
def test_states_and_constants_come_in_lists(wrong):
    x, states = map_to_tensors()
    with pytest.raises(ArgumentError, match="expected initial_states as a list of tensors"):
        K.rnn(keep, x, wrong)
    with pytest.raises(ArgumentError, match="expected constants as a list of tensors .* got 7"):
        K.rnn(keep, x, states, constants=7)


def test_a_state_that_changes_its_shape_at_run_time_is_found():
    x = Placeholder((None, 4, None), "float32", "x")
    last, _, _ = K.rnn(lambda x, s: (x, [K.concatenate([s[0], x])]), x, [x[:, 0]])
    with pytest.raises(ShapeError, match=r"expected \(2, 3\), got \(2, 6\)") as caught:
        K.function([x], last)([np.zeros((2, 4, 3))])
    assert any("In step 0 of 4 of a loop" in note for note in caught.value.__notes__)


def test_an_error_inside_names_the_op_and_the_step():
    x, table = K.placeholder((2, 4, 1)), K.variable(np.eye(3))
    last, _, _ = K.rnn(lambda x, s: (K.gather(table, K.cast(x[:, 0], "int32")), s), x, [])
    with pytest.raises(DataError, match="got 7") as caught:
        K.function([x], last)([np.array([[0, 1, 7, 0], [0, 0, 0, 0]])[:, :, None]])
    assert "In step 2 of 4 of a loop over" in "".join(caught.value.__notes__)


def test_no_steps_are_an_error():
    with pytest.raises(ArgumentError, match="expected at least 1 step, got 0"):
        K.rnn(keep, Constant(np.zeros((2, 0, 3))), [], unroll=True)
    x = K.placeholder((2, None, 3))
    with pytest.raises(DataError, match="at least 1 steps, got 0"):
        K.function([x], K.rnn(keep, x, [])[1])([np.zeros((2, 0, 3))])


def test_unroll_needs_a_known_number_of_steps():
    x = K.placeholder((2, None, 3), name="x")
    with pytest.raises(ArgumentError, match=r"input 'x' has shape \(2, None, 3\).*unroll=False"):
        K.rnn(keep, x, [], unroll=True)
    _, outputs, _ = K.rnn(keep, x, [], unroll=True, input_length=4)
    assert outputs.shape == (2, 4, 3)


def test_shapes_of_inputs_and_masks_are_checked():
    with pytest.raises(ShapeError, match=r"expected an input \(batch, time, \.\.\.\) .* \(4,\)"):
        K.rnn(keep, K.zeros((4,)), [])
    with pytest.raises(ShapeError, match=r"expected a mask of shape \(2, 5\), .* \(3, 5\)"):
        K.rnn(keep, K.zeros((2, 5, 1)), [], mask=MASK)
    with pytest.raises(ShapeError, match="without axes"):
        K.rnn(lambda x, s: (K.sum(x), s), K.zeros((2, 5, 1)), [])
