"""Loops as programs: what they compute is what the interpreted loop computes."""

import threading
import tracemalloc

import numpy as np
import pytest
from holding import holds_for
from hypothesis import strategies as st

from kerascope import backend as K
from kerascope import layers, models
from kerascope.backend.arrays import Spec
from kerascope.backend.graph import Op, Placeholder
from kerascope.backend.ops.scan import Loop, Scan, reverse_loop, scan
from kerascope.backend.program.dispatch import CALLS_BEFORE
from kerascope.backend.program.loops.program import loop_program
from kerascope.backend.program.loops.run import layout_of, run_loop, step_specs
from kerascope.stage import observing

STEPS = CALLS_BEFORE + 3
UNITS = 3


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def quietly(stage, event):
    """Watch without looking: everything is stepped."""


def computed(apply, arrays, rewrites, wanted=None):
    """Return what the program of a loop computes, for a call of Scan; None if there is none."""
    op = apply.op
    n = len(op.inner.sequences)
    specs = step_specs(n, [Spec(x.shape, x.dtype) for x in arrays])
    program = loop_program(
        op.inner.schedule, layout_of(op.inner), specs, op.backwards, rewrites, wanted
    )
    if program is None:
        return None
    expected = run_loop(op.inner, arrays, op.backwards, 0)
    chosen = range(len(expected)) if wanted is None else wanted
    outputs = [np.full_like(expected[number], 7) for number in chosen]
    with np.errstate(all="ignore"):
        program(outputs, *arrays)
    return program, outputs, [expected[number] for number in chosen]


def same_bits(first, second):
    return [np.asarray(x).tobytes() for x in first] == [np.asarray(x).tobytes() for x in second]


# --- random loops ---------------------------------------------------------------------------------

UNARY = [K.tanh, K.sigmoid, K.exp, K.square, lambda x: -x, lambda x: 1 - x, K.hard_sigmoid, K.relu]
BINARY = [
    lambda x, y: x + y,
    lambda x, y: x * y,
    lambda x, y: x - y,
    K.maximum,
    lambda x, y: K.concatenate([x, y])[:, 1 : 1 + UNITS],
    lambda x, y: K.switch(x > y, x, y),
]


@st.composite
def loops(draw):
    """Return a loop of random ops: sequences and states of shape (batch, UNITS), and a matrix."""
    steps, batch = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    n_states = draw(st.integers(0, 2))
    plans = draw(
        st.lists(
            st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30)),
            min_size=1,
            max_size=12,
        )
    )
    picks = draw(st.lists(st.integers(0, 30), min_size=n_states + 1, max_size=n_states + 3))

    def step(slices, states, matrix, bias):
        values = [*slices, *states, matrix[:1] * slices[0]]
        for kind, i, j in plans:
            x, y = values[i % len(values)], values[j % len(values)]
            if kind % 4 == 0:
                values.append(K.dot(x, matrix) + bias)
            elif kind % 4 == 1:
                values.append(UNARY[kind % len(UNARY)](K.clip(x, -2, 2)))
            else:
                values.append(BINARY[kind % len(BINARY)](x, y))
        chosen = [values[-1 - pick % len(values)] for pick in picks]
        return chosen[n_states:], chosen[:n_states]

    sequences = [Placeholder((steps, batch, UNITS), "float32", "x") for _ in range(2)]
    states = [Placeholder((batch, UNITS), "float32", "h") for _ in range(n_states)]
    matrix = Placeholder((UNITS, UNITS), "float32", "w")
    bias = Placeholder((UNITS,), "float32", "b")
    outputs, last = scan(
        lambda slices, before: step(slices, before, matrix, bias),
        sequences,
        states,
        backwards=draw(st.booleans()),
        keeps=draw(st.booleans()),
    )
    return outputs, last, [*sequences, *states, matrix, bias]


def loops_behind(tensors, inputs):
    schedule = K.function(inputs, tensors).schedule
    found = [(step, step.apply) for step in schedule.steps if isinstance(step.apply.op, Scan)]
    arrays = [numbers(*x.shape, seed=k) / 2 for k, x in enumerate(inputs)]
    values = schedule.start(arrays)
    for step in schedule.steps:
        with np.errstate(all="ignore"):  # a loop may square a state again and again
            result = step.perform(*[values[slot] for slot in step.inputs])
        several = (result,) if len(step.outputs) == 1 else result
        for slot, array in zip(step.outputs, several, strict=True):
            values[slot] = array
    return [(apply, [np.asarray(values[slot]) for slot in step.inputs]) for step, apply in found]


@holds_for(loop=loops(), data=st.data(), few=30, many=120)
def test_programs_compute_what_the_interpreted_loop_computes(loop, data):
    outputs, states, inputs = loop
    results = [*outputs, *states]
    loss = sum(K.sum(K.square(K.clip(y, -3, 3))) for y in results)
    grads = [g for g in K.gradients(loss, inputs) if g is not None]
    for apply, arrays in loops_behind([*results, *grads], inputs):
        with np.errstate(all="ignore"):
            plain = computed(apply, arrays, rewrites=False)
            better = computed(apply, arrays, rewrites=True)
        assert plain is not None
        assert better is not None
        assert same_bits(*plain[1:]), plain[0].source
        for came, expected in zip(*better[1:], strict=True):
            np.testing.assert_allclose(came, expected, rtol=2e-4, atol=2e-4)
        n = len(better[1])
        wanted = data.draw(st.lists(st.integers(0, n - 1), min_size=1, unique=True).map(sorted))
        with np.errstate(all="ignore"):
            _, some, _ = computed(apply, arrays, rewrites=True, wanted=wanted)
        assert same_bits(some, [better[1][number] for number in wanted])


def test_most_loops_have_a_program():
    """The tests above would be idle if nothing could be written down."""
    for cell in ("SimpleRNN", "GRU", "LSTM"):
        apply, arrays = calls_of_layer(getattr(layers, cell)(4))[0]
        assert computed(apply, arrays, rewrites=True) is not None


def calls_of_layer(layer):
    x = K.placeholder((2, 5, 3))
    y = layer(x)
    grads = K.gradients(K.sum(K.square(y)), [x, *layer.trainable_weights])
    return loops_behind([y, *[g for g in grads if g is not None]], [x])


# --- layers ---------------------------------------------------------------------------------------

CASES = {
    "simple": lambda: layers.SimpleRNN(4),
    "gru": lambda: layers.GRU(4),
    "gru_after": lambda: layers.GRU(4, reset_after=True, return_sequences=True),
    "lstm": lambda: layers.LSTM(4, recurrent_activation="sigmoid"),
    "lstm_softmax": lambda: layers.LSTM(4, recurrent_activation="softmax"),
    "lstm_backwards": lambda: layers.LSTM(4, go_backwards=True, return_sequences=True),
    "lstm_dropout": lambda: layers.LSTM(4, dropout=0.3, recurrent_dropout=0.3),
    "lstm_shared_dropout": lambda: layers.LSTM(4, dropout=0.3, implementation=2),
    "bidirectional": lambda: layers.Bidirectional(layers.LSTM(4, return_sequences=True)),
    "stacked": lambda: layers.RNN([layers.LSTMCell(4), layers.GRUCell(3)]),
    "convolutional": None,
    "stateful": None,
    "masked": None,
    "two": None,
}


def model_of(case):
    K.clear_session()
    np.random.seed(0)
    shape = (6, 3)
    if case == "stateful":
        inputs = layers.Input(batch_shape=(4, *shape))
        y = layers.LSTM(4, stateful=True)(inputs)
    elif case == "masked":
        inputs = layers.Input(shape=shape)
        y = layers.GRU(4, return_sequences=True)(layers.Masking(0.0)(inputs))
        y = layers.LSTM(4)(y)
    elif case == "convolutional":
        inputs = layers.Input(shape=(3, 4, 4, 2))
        y = layers.ConvLSTM2D(2, 2)(inputs)
    elif case == "two":
        inputs = layers.Input(shape=(None, 3))
        y = layers.LSTM(4)(layers.GRU(5, return_sequences=True)(inputs))
    else:
        inputs = layers.Input(shape=shape)
        y = CASES[case]()(inputs)
    model = models.Model(
        inputs, layers.Dense(2)(layers.Flatten()(y) if case == "convolutional" else y)
    )
    model.compile("adam", "mse")
    return model


def batch_for(model, case, seed):
    shape = [n or 5 for n in model.inputs[0].shape[1:]]
    x = numbers(4, *shape, seed=seed)
    if case == "masked":
        x[0, 2:] = 0
        x[1, :2] = 0
        x[2] = 0
    y = numbers(4, *[n or 5 for n in model.outputs[0].shape[1:]], seed=seed + 100)
    return x, y


@pytest.mark.parametrize("case", sorted(CASES))
def test_training_is_the_same_bit_for_bit_stepped_and_run(case):
    told = []
    for watched in (False, True):
        model = model_of(case)
        losses = []
        for seed in range(STEPS + 2):
            x, y = batch_for(model, case, seed)
            if watched:
                with observing(quietly):
                    losses.append(model.train_on_batch(x, y))
            else:
                losses.append(model.train_on_batch(x, y))
        told.append([np.ravel(losses), *model.get_weights(), model.predict_on_batch(x)])
    assert same_bits(*told)


@pytest.mark.parametrize("case", sorted(set(CASES) - {"lstm_dropout", "lstm_shared_dropout"}))
def test_outputs_of_one_call_are_unchanged_by_the_next(case):
    model = model_of(case)
    function = K.function(model.inputs, model.outputs)
    plain = K.function(model.inputs, model.outputs)
    kept, copies = [], []
    for seed in range(STEPS + 2):
        x, _ = batch_for(model, case, seed)
        (y,) = function([x])
        kept.append(y)
        copies.append(y.copy())
        with observing(quietly):
            (stepped,) = plain([x])
        assert same_bits([y], [stepped])
    assert same_bits(kept, copies)
    assert not any(np.shares_memory(kept[0], y) for y in kept[1:])


# --- small things ---------------------------------------------------------------------------------


def cumulated(x, start):
    return scan(lambda s, h: ([h[0] * s[0]], [h[0] + s[0]]), [x], [start])


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_few_steps(steps):
    x, start = K.placeholder((None, 2)), K.placeholder((2,))
    outputs, states = cumulated(x, start)
    function = K.function([x, start], [outputs[0], states[0]])
    array = numbers(steps, 2)
    for _ in range(STEPS):
        came, last = function([array, np.ones(2)])
        assert came.shape == (steps, 2)
        np.testing.assert_allclose(last, 1 + array.sum(axis=0), rtol=1e-5)


def test_a_program_is_for_any_number_of_steps():
    x, start = K.placeholder((None, 2)), K.placeholder((2,))
    outputs, states = cumulated(x, start)
    function = K.function([x, start], [outputs[0], states[0]])
    for steps in (3, 5, 3, 1, 5, 4, 3):
        array = numbers(steps, 2, seed=steps)
        came, last = function([array, np.ones(2)])
        before = 1 + np.cumsum(array, axis=0) - array
        np.testing.assert_allclose(came, before * array, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(last, 1 + array.sum(axis=0), rtol=1e-5)


def test_the_gradient_of_a_weight_is_one_product_after_the_loop():
    (_, _), (reverse, arrays) = calls_of_layer(layers.LSTM(4, recurrent_activation="sigmoid"))
    program, *_ = computed(reverse, arrays, rewrites=True)
    text = program.source.splitlines()
    loop = next(n for n, line in enumerate(text) if line.endswith("in steps:"))
    inside = [line for line in text[loop + 1 :] if line.startswith(8 * " ")]
    after = [line for line in text[loop + 1 :] if not line.startswith(8 * " ")]
    assert sum("np.dot" in line for line in inside) == 1
    assert sum("product_of_rows(" in line for line in after) == 1
    assert not any("np.exp" in line or "np.tanh" in line for line in text)
    assert not any(" = " in line for line in inside), "nothing is allocated in a step"


def test_nothing_is_allocated_at_a_step():
    (forward, arrays), _ = calls_of_layer(layers.LSTM(4, recurrent_activation="sigmoid"))
    source = computed(forward, arrays, rewrites=True)[0].source
    body = [line for line in source.splitlines() if line.startswith(8 * " ")]
    assert body
    assert not any(" = " in line for line in body)


def test_training_needs_no_new_memory_from_step_to_step():
    model = model_of("lstm")
    x, y = batch_for(model, "lstm", 1)
    for _ in range(STEPS + 10):
        model.train_on_batch(x, y)
    function, arrays = model.train_function, [x, y, np.ones(4, "float32")]
    tracemalloc.start()
    try:
        for _ in range(60):  # weights that somebody gave have a program of their own
            function(arrays)
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(50):
            function(arrays)
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 2_000
    assert peak - before < 20_000


def test_arrays_that_are_changed_in_place_are_read_again():
    x, start = K.placeholder((None, 2)), K.placeholder((2,))
    _, states = cumulated(x, start)
    function = K.function([x, start], [states[0]])
    array, first = numbers(4, 2), np.zeros(2, "float32")
    for number in range(STEPS + 2):
        array += number
        first += 1
        (last,) = function([array, first])
        np.testing.assert_allclose(last, first + array.sum(axis=0), rtol=1e-4)


def test_a_layer_that_is_called_on_arrays_computes_the_same():
    layer, x = layers.LSTM(4, recurrent_activation="sigmoid"), numbers(2, 5, 3)
    eager = layer(x)
    inputs = K.placeholder((None, 5, 3))
    function = K.function([inputs], [layer(inputs)])
    for _ in range(STEPS):
        np.testing.assert_allclose(function([x])[0], eager, rtol=1e-5, atol=1e-6)


def test_a_failing_step_is_told_as_before():
    table = K.variable(np.arange(6.0).reshape(3, 2))
    places = K.placeholder((None,), dtype="int32")
    y = K.map_fn(lambda place: K.gather(table, place), places, dtype="float32")
    function = K.function([places], [y])
    for _ in range(STEPS):
        assert function([[0, 2]])[0].tolist() == [[0, 1], [4, 5]]
    with pytest.raises(Exception, match="gather") as caught:
        function([[0, 9]])
    assert "step" in "".join(getattr(caught.value, "__notes__", []))


class Shown(Op):
    """Its input, of which it keeps a copy, as an op that prints does."""

    def __init__(self, seen):
        self.seen = seen

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        self.seen.append(x.tolist())
        return x


def test_an_op_of_somebody_else_in_a_loop_meets_the_numbers_of_each_step_and_no_others():
    seen, x = [], K.placeholder((3, 2))
    outputs, _ = scan(lambda s, h: ([Shown(seen)(s[0]) * h[0]], [h[0] * 2.0]), [x], [K.ones((2,))])
    function = K.function([x], outputs)
    for number in range(1, STEPS):
        seen.clear()
        array = number + numbers(3, 2)
        (y,) = function([array])
        assert seen == array.tolist()
        np.testing.assert_array_equal(y, array * [[1], [2], [4]])


def test_in_a_step_the_branch_that_is_not_taken_is_not_computed():
    table, places = K.variable([10.0, 20.0, 30.0]), K.placeholder((None,), dtype="int32")

    def step(slices, states):
        (place,), (total,) = slices, states
        there = K.gather(table, K.reshape(place, (1,)))  # which fails for 7
        total = K.switch(place < 3, total + there, total * 2.0)
        return [total], [total]

    outputs, _ = scan(step, [places], [K.zeros((1,))])
    function = K.function([places], outputs)
    for _ in range(STEPS):
        (y,) = function([[0, 2, 7, 1, 7]])
        assert y[:, 0].tolist() == [10.0, 40.0, 80.0, 100.0, 200.0]


@pytest.mark.parametrize("size", [8, 16, 24])
@pytest.mark.parametrize(
    "bound",
    [
        lambda x: K.maximum(x, 0.25),
        lambda x: K.minimum(0.25, x),
        lambda x: K.maximum(x, K.constant(np.linspace(-1, 1, x.shape[-1]))),
        lambda x: K.maximum(x, x[:1, :1]),
    ],
)
def test_the_larger_or_smaller_of_a_state_and_a_number(bound, size):
    x, start = K.placeholder((3, size, size)), K.placeholder((size, size))
    outputs, _ = scan(lambda s, h: ([bound(h[0])], [bound(h[0]) - s[0]]), [x], [start])
    arrays = [numbers(3, size, size), numbers(size, size, seed=1)]
    for rewrites in (False, True):
        _, came, expected = computed(outputs[0].owner, arrays, rewrites)
        assert same_bits(came, expected)


def test_threads_that_perform_one_loop_do_not_disturb_each_other():
    x, start = K.placeholder((None, 50)), K.placeholder((50,))
    _, states = cumulated(x, start)
    op, wrong = states[0].owner.op, []

    def work(number):
        array = np.full((6, 50), number, "float32")
        for _ in range(100):
            if not (op.perform(array, np.zeros(50, "float32"))[2] == 6 * number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_reverse_loops_meet_what_was_kept():
    x = K.placeholder((None, 2, 3))
    weights = K.variable(numbers(3, 3))
    outputs, _ = scan(
        lambda s, h: ([K.tanh(K.dot(h[0], weights) + s[0])], [K.tanh(K.dot(h[0], weights) + s[0])]),
        [x],
        [K.zeros((2, 3))],
        keeps=True,
    )
    apply = outputs[0].owner
    given = Loop.of(apply.op.inner, apply.outputs)
    grads = Loop.of(apply.op.inner, [K.ones_like(y) for y in apply.outputs])
    reverse = reverse_loop(apply.op.inner, apply.inputs, given, grads)
    assert "tanh" not in {call.op.name for call in reverse.inner.applies}


def test_the_source_of_a_function_shows_its_loops():
    x = K.variable(np.ones((4, 2, 3)))
    function = K.function([], [K.foldl(lambda total, e: K.tanh(total + e), x)])
    for _ in range(2):
        function([])
    program, _, loop = function.source.partition("\n\n# the loop of ")
    assert program.startswith("def function(")
    name, _, text = loop.partition("\n")
    assert f"    {name}(" in program
    assert text.startswith(f"def {name}_loop(steps, ")
    assert "np.tanh(" in text
    compile(function.source, "source", "exec")
