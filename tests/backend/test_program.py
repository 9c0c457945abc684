"""The fast road of `K.function`: what it computes is what stepping computes, bit for bit."""

import gc
import itertools
import linecache
import re
import threading
import tracemalloc

import numpy as np
import pytest
from zoo import THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.backend.program.dispatch import CALLS_BEFORE
from kerascope.layers import Dense, InputLayer
from kerascope.models import Sequential
from kerascope.stage import observing

STEPS = CALLS_BEFORE + 4


def quietly(stage, event):
    """Watch without looking: everything is stepped."""


def built(name, optimizer):
    K.clear_session()
    np.random.seed(0)
    model = ZOO[name]()
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def batches(model, sizes):
    rng = np.random.default_rng(1)
    for size in sizes:
        x = [made_for(tensor, size, rng) for tensor in model.inputs]
        y = [rng.random((size, *(n or 3 for n in t.shape[1:])), "f4") for t in model.outputs]
        yield x, y


def made_for(tensor, size, rng):
    shape = (size, *(n or 3 for n in tensor.shape[1:]))
    return rng.random(shape, "f4") if tensor.dtype.startswith("f") else rng.integers(0, 3, shape)


def bits(arrays):
    return [np.asarray(array).tobytes() for array in arrays]


def history(name, optimizer, sizes, watched):
    model = built(name, optimizer)
    told = []
    for x, y in batches(model, sizes):
        if watched:
            with observing(quietly):
                told.append(np.ravel(model.train_on_batch(x, y)))
        else:
            told.append(np.ravel(model.train_on_batch(x, y)))
    predicted = [np.asarray(model.predict_on_batch(x)) for x, _ in batches(model, [2] * STEPS)
                 if len(model.outputs) == 1]  # fmt: skip
    return model, bits(told), bits(model.get_weights()), bits(predicted)


@pytest.mark.parametrize(
    "optimizer",
    ["adam", *(pytest.param(one, marks=pytest.mark.slow) for one in ("rmsprop", "sgd"))],
)
@pytest.mark.parametrize("name", THINNED_ZOO)
def test_training_is_the_same_bit_for_bit_stepped_and_run(name, optimizer):
    sizes = [4] * STEPS + [3] * STEPS + [4]
    model, *run = history(name, optimizer, sizes, watched=False)
    _, *stepped = history(name, optimizer, sizes, watched=True)
    assert run == stepped
    assert model.train_function.programs


@pytest.mark.parametrize(
    "optimizer",
    ["sgd", "rmsprop", "adagrad", "adadelta", "adamax", "nadam", "ftrl", "lion", "adamw"],
)
def test_every_optimizer_is_the_same_bit_for_bit(optimizer):
    sizes = [4] * STEPS
    _, *run = history("chain", optimizer, sizes, watched=False)
    _, *stepped = history("chain", optimizer, sizes, watched=True)
    assert run == stepped


def test_stepping_between_runs_changes_nothing():
    plain = built("chain", "adam")
    mixed = built("chain", "adam")
    for number, (x, y) in enumerate(batches(plain, [4] * 12)):
        expected = plain.train_on_batch(x, y)
        if number % 3 == 1:
            with observing(quietly):
                came = mixed.train_on_batch(x, y)
        else:
            came = mixed.train_on_batch(x, y)
        assert bits(np.ravel(came)) == bits(np.ravel(expected))
    assert bits(plain.get_weights()) == bits(mixed.get_weights())


# --- what the user holds --------------------------------------------------------------------------


def repeated(function, arrays, times=STEPS):
    return [function(arrays) for _ in range(times)]


def test_outputs_of_one_call_are_unchanged_by_the_next():
    x = K.placeholder((None, 3))
    function = K.function([x], [x + 1, K.transpose(x), x, K.sum(x)])
    kept, copies = [], []
    for number in range(8):
        outputs = function([np.full((2, 3), number, "f4")])
        kept.append(outputs)
        copies.append([np.array(y) for y in outputs])
    for outputs, expected in zip(kept, copies, strict=True):
        assert bits(outputs) == bits(expected)
        assert not any(np.shares_memory(a, b) for a in kept[0][:3] for b in kept[-1][:3])


def test_inputs_are_never_written():
    x = K.placeholder((None, 3))
    function = K.function([x], [K.exp(x * 2) + 1, K.relu(x)])
    array = np.linspace(-1, 1, 6, dtype="f4").reshape(2, 3)
    array.setflags(write=False)
    expected = array.copy()
    repeated(function, [array])
    assert (array == expected).all()


def test_a_borrowed_value_of_a_variable_never_changes():
    v = K.variable(np.zeros(4))
    function = K.function([], [K.sum(v)], updates=[(v, v + 1)])
    borrowed, copies = [], []
    for _ in range(8):
        function([])
        borrowed.append(v.get_value(borrow=True))
        copies.append(v.get_value())
    assert bits(borrowed) == bits(copies)
    assert v.get_value().tolist() == [8.0] * 4


def test_a_value_that_is_set_between_calls_is_used():
    v = K.variable(np.zeros(4))
    function = K.function([], [K.sum(v)], updates=[(v, v + 1)])
    for number in range(8):
        K.set_value(v, np.full(4, 10.0 * number))
        assert function([])[0] == 40.0 * number
        assert v.get_value()[0] == 10.0 * number + 1


def test_two_variables_can_change_places():
    a, b = K.variable([1.0, 2.0]), K.variable([3.0, 4.0])
    function = K.function([], [], updates=[(a, b), (b, a)])
    for number in range(1, 8):
        function([])
        first, second = (b, a) if number % 2 else (a, b)
        assert first.get_value().tolist() == [1.0, 2.0]
        assert second.get_value().tolist() == [3.0, 4.0]


def test_an_output_that_is_a_variable_is_its_old_value():
    v = K.variable([1.0, 2.0])
    function = K.function([], [v, v * 1], updates=[(v, v * 2)])
    told = repeated(function, [])
    assert [outputs[0].tolist() for outputs in told] == [
        [2.0**n, 2.0 ** (n + 1)] for n in range(STEPS)
    ]


def test_a_failing_call_says_where_and_changes_nothing():
    v = K.variable(np.zeros(3))
    places = K.placeholder((None,), dtype="int32")
    function = K.function([places], [K.gather(K.variable(np.arange(3.0)), places)], [(v, v + 1)])
    repeated(function, [np.array([0, 1])])
    before = v.get_value()
    with pytest.raises(Exception, match="gather") as caught:
        function([np.array([0, 99])])
    assert "while computing" in "".join(getattr(caught.value, "__notes__", []))
    assert (v.get_value() == before).all()


def test_other_shapes_and_phases_get_their_own_program():
    x = K.placeholder((None, 2))
    y = K.in_train_phase(x * 10, x)
    function = K.function([x, K.learning_phase()], [y])
    for phase in (0, 1) * STEPS:
        for rows in (1, 2):
            array = np.ones((rows, 2), "f4")
            assert (function([array, phase])[0] == (10 if phase else 1)).all()
    assert len(function.programs) == 4


def test_random_numbers_are_drawn_anew_and_as_when_stepped():
    def drawn(watched):
        K.clear_session()
        noise = K.random_normal((5,), seed=3)
        function = K.function([], [noise])
        if watched:
            with observing(quietly):
                return np.array(repeated(function, [], 8))
        return np.array(repeated(function, [], 8))

    run, stepped = drawn(False), drawn(True)
    assert (run == stepped).all()
    assert len(np.unique(run[:, 0, 0])) == 8


def test_threads_that_call_one_function_do_not_disturb_each_other():
    x = K.placeholder((None, 50))
    function = K.function([x], [K.sum(K.square(x) + x, axis=1)])
    wrong = []

    def work(number):
        array = np.full((20, 50), number, "f4")
        for _ in range(200):
            if not (function([array])[0] == 50 * (number * number + number)).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


# --- reading a program ----------------------------------------------------------------------------


def test_rewrites_change_no_bit_and_can_be_left_out():
    told = []
    for rewrites in (None, (), ["merge_equal"]):
        K.clear_session()
        x, w = K.placeholder((None, 3)), K.variable(np.linspace(-1, 1, 6).reshape(3, 2))
        y = K.relu(K.dot(x, w)) * K.ones_like(K.dot(x, w))
        loss = K.mean(K.square(y - 1))
        function = K.function([x], [y, loss], [(w, w - K.gradients(loss, w)[0])], rewrites=rewrites)
        arrays = [np.linspace(0, 1, 12, dtype="f4").reshape(4, 3)]
        told.append([bits(outputs) for outputs in repeated(function, arrays)])
        told[-1].append(bits([w.get_value()]))
        written = [row for row in function.explain().rows if row.line is not None]
        told[-1].append(len(written))
    assert told[0][:-1] == told[1][:-1] == told[2][:-1]
    assert told[0][-1] < told[2][-1] < told[1][-1]


def test_an_unknown_rewrite_is_refused_with_a_guess():
    with pytest.raises(Exception, match="Did you mean 'fold_constants'"):
        K.function([], [K.variable(1.0)], rewrites=["fold_constant"])


def test_the_source_is_python_that_a_debugger_can_show():
    x = K.placeholder((None, 3))
    function = K.function([x], [K.exp(x)], name="my function")
    with pytest.raises(Exception, match="Call the function twice"):
        _ = function.source
    repeated(function, [np.ones((2, 3), "f4")])
    assert "np.exp(" in function.source
    code = function.programs[-1].draft().source.scope["my_function"].__code__
    assert linecache.getline(code.co_filename, 1).startswith("def my_function(")


def test_every_step_is_explained():
    model = built("chain", "adam")
    for x, y in batches(model, [4] * STEPS):
        model.train_on_batch(x, y)
    function = model.train_function
    explanation = function.explain()
    assert [row.step for row in explanation.rows] == [repr(s) for s in function.schedule.steps]
    lines = function.source.splitlines()
    for row in explanation.rows:
        if row.line is not None:
            assert row.written_as == lines[row.line - 1].strip() or "for " in lines[row.line - 1]
        else:
            assert row.written_as.startswith("(") or "view" in row.memory
    for text in (str(explanation), explanation._repr_html_()):
        assert "update/" in text


@pytest.mark.parametrize(
    ("optimizer", "words"),
    [
        ("rmsprop", {"accumulator"}),
        ("adagrad", {"accumulator"}),
        ("adadelta", {"accumulator", "delta_accumulator"}),
        ("adam", {"m", "v"}),
        ("adamax", {"m", "u"}),
    ],
)
def test_an_update_is_written_with_p_for_a_weight_g_for_its_gradient_and_names_of_slots(
    optimizer, words
):
    model = Sequential([Dense(3, input_shape=(2,)), Dense(1)])
    model.compile(optimizer, "mse")
    for _ in range(CALLS_BEFORE + 2):
        model.train_on_batch(np.ones((4, 2)), np.ones((4, 1)))
    lines = model.train_function.source.splitlines()
    (first,) = [number for number, line in enumerate(lines) if line.endswith(" in blocks:")]
    named = re.findall(r"\w+", lines[first].removesuffix(" in blocks:"))[1:]
    own = {name for name in named if not re.fullmatch(r"t\d+|all_\w+", name)}
    assert own == {"p", "g", *words}
    body = itertools.takewhile(lambda line: line.startswith(8 * " "), lines[first + 1 :])
    written = {re.search(r"(\w+)\)$", line)[1] for line in body}
    assert written & own == {"p", *words}  # a gradient is only read


# --- memory ---------------------------------------------------------------------------------------


# Layers, optimizer, loss, rows of a batch: a small net, a wide one, a deep one.
NETS = {
    "small": ([20, 64, 64, 1], "rmsprop", "binary_crossentropy", 32),
    "wide": ([784, 512, 512, 10], "adam", "categorical_crossentropy", 128),
    "deep": ([32] * 201, "sgd", "mse", 32),
}
NUMPYS_OWN = 64_000  # bytes: its iterators buffer 8,192 elements where shapes or types differ


def net(name):
    sizes, optimizer, loss, rows = NETS[name]
    layers = [Dense(n, activation="relu") for n in sizes[1:-1]]
    last = Dense(sizes[-1], activation={"mse": "linear"}.get(loss, "sigmoid"))
    model = Sequential([InputLayer(input_shape=(sizes[0],)), *layers, last])
    model.compile(optimizer, loss)
    rng = np.random.default_rng(0)
    return model, rng.random((rows, sizes[0]), "f4"), rng.random((rows, sizes[-1])).round()


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("small", 100),
        ("wide", 10),
        ("deep", 20),
        pytest.param("wide", 100, marks=pytest.mark.slow),
        pytest.param("deep", 100, marks=pytest.mark.slow),
    ],
)
def test_a_train_step_allocates_nothing(name, steps):
    model, x, y = net(name)
    y = y.astype("f4")
    for _ in range(STEPS):
        model.train_on_batch(x, y)
    tracemalloc.start()
    try:
        model.train_on_batch(x, y)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(steps):
            model.train_on_batch(x, y)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        model.train_on_batch(x, y)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 2_000
    planned = model.train_function.programs[-1].n_bytes
    assert peak - after < min(NUMPYS_OWN, planned * 0.6)


@pytest.mark.parametrize("steps", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_many_steps_take_no_more_memory_than_one(steps):
    model, x, y = net("small")
    for _ in range(STEPS):
        model.train_on_batch(x, y)
    tracemalloc.start()
    try:
        model.train_on_batch(x, y)
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(steps):
            model.train_on_batch(x, y)
        gc.collect()
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 2_000


def test_memory_is_used_again():
    x = K.placeholder((None, 100))
    y = x
    for _ in range(50):
        y = K.tanh(y) + 1
    function = K.function([x], [y])
    repeated(function, [np.ones((10, 100), "f4")])
    assert function.programs[-1].n_bytes <= 2 * 4000


def test_two_functions_that_write_the_same_variables_take_turns():
    v, w = K.variable(np.zeros(4)), K.variable(np.zeros(3))
    up = K.function([], [K.sum(v)], updates=[(v, v + 1), (w, w + 1)])
    down = K.function([], [K.sum(v)], updates=[(v, v * 0.5), (w, w - 1)])
    expected = 0.0
    for _ in range(8):
        up([])
        down([])
        expected = (expected + 1) * 0.5
        assert v.get_value().tolist() == [expected] * 4
        assert w.get_value().tolist() == [0.0] * 3
    codes = [function.programs[-1]._code.run for function in (up, down)]
    up([]), down([])
    assert [function.programs[-1]._code.run for function in (up, down)] == codes


def test_a_borrowed_array_stays_though_two_functions_take_turns():
    v = K.variable(np.zeros(4))
    up = K.function([], [], updates=[(v, v + 1)])
    down = K.function([], [], updates=[(v, v * 0.5)])
    borrowed, copies = [], []
    for number in range(12):
        (up if number % 2 else down)([])
        if number % 3 == 0:
            borrowed.append(v.get_value(borrow=True))
            copies.append(v.get_value())
    assert bits(borrowed) == bits(copies)
