"""JAX as the second engine: every op row and whole models, compared with NumPy."""

import copy
import pickle
import signal
import sys
import threading

import numpy as np
import pytest
from op_cases import Case
from op_rows import CASES, each_of, fed, graph_inputs, op_classes

import kerascope
from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.backend.ops.indexing import Gather
from kerascope.backend.program.alarms import Alarm, Alarms
from kerascope.cli import main
from kerascope.errors import ArgumentError, DataError, MissingToolError
from kerascope.layers import LSTM, BatchNormalization, Dense, Dropout, Embedding
from kerascope.layers.ops import keras_ops as ops
from kerascope.models import Sequential
from kerascope.settings import config

jax = pytest.importorskip("jax", reason="the extra `jax` is not installed")
pytestmark = pytest.mark.live

NEAR = {"float64": 1e-12, "float32": 2e-5}
# In these ops a size of the result depends on values, which XLA does not know in advance.
REFUSED = {"Nonzero", "Bincount", "Unique", "CtcBestPath", "CtcBeamSearch"}


@pytest.fixture(autouse=True)
def _numpy_afterwards():
    yield
    config.engine = "numpy"
    config.floatx = "float32"


def on_both(inputs, outputs, arrays):
    """Return the results of NumPy and of JAX, and the function on JAX."""
    f = K.function(inputs, outputs, engine="jax")
    return K.function(inputs, outputs)(arrays), f(arrays), f


def assert_near(found, wanted, near, names=""):
    for y, z in zip(found, wanted, strict=True):
        assert np.asarray(y).dtype == np.asarray(z).dtype
        np.testing.assert_allclose(y, z, rtol=near, atol=near, err_msg=names)


# --- every op -------------------------------------------------------------------------------------


def check_row(case: Case, dtype: str) -> None:
    tensors = graph_inputs(case, dtype)
    inputs, arrays = fed(case, tensors, dtype)
    out = case.op(*tensors)
    wanted, found, f = on_both(inputs, [out], arrays)
    assert_near(found, wanted, NEAR[dtype])
    if type(case.op).__name__ in REFUSED and f.jax_programs.refused:
        assert "depends on values" in f.jax_programs.refused
        return
    assert f.jax_programs.refused is None
    wrt = [tensors[position] for position in case.smooth]
    if not wrt:
        return
    first = K.gradients(K.sum(K.square(out)), wrt)
    pairs = [(x, g) for x, g in zip(wrt, first, strict=True) if g is not None]
    grads = [g for _, g in pairs]
    if case.twice and grads:
        total = sum(K.sum(K.square(g)) for g in grads)
        grads += [g for g in K.gradients(total, wrt) if g is not None]
    if grads:
        wanted, found, f = on_both(inputs, grads, arrays)
        assert f.jax_programs.refused is None
        scale = max(1.0, *(float(np.max(np.abs(g), initial=0)) for g in wanted))
        assert_near([g / scale for g in found], [g / scale for g in wanted], 50 * NEAR[dtype])


@pytest.mark.filterwarnings("ignore:.*NumPy computes it, not JAX")
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@each_of(CASES)
def test_a_row_gives_the_same_on_both_engines(case, dtype):
    check_row(case, dtype)


def test_a_wrong_rule_is_found(monkeypatch):
    from kerascope.backend.engines import rules

    def wrong(op, x, indices):
        return jax.numpy.take(x, indices[::-1], axis=0, mode="clip")

    monkeypatch.setitem(rules.RULES, Gather, wrong)
    case = next(case for case in CASES if isinstance(case.op, Gather))
    with pytest.raises(AssertionError):
        check_row(case, "float64")


@pytest.mark.filterwarnings("ignore:.*NumPy computes it, not JAX")
def test_only_these_ops_are_refused():
    found = set()
    for case in CASES:
        if type(case.op).__name__ in REFUSED:
            tensors = graph_inputs(case)
            inputs, arrays = fed(case, tensors)
            f = K.function(inputs, [case.op(*tensors)], engine="jax")
            f(arrays)
            if f.jax_programs.refused:
                found.add(type(case.op).__name__)
    assert found == REFUSED <= {kind.__name__ for kind in op_classes()}


class Halved(Op):
    """An op of a user."""

    is_pure = True

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        if x[0] > 100:
            raise ValueError("too large to be halved")
        return x / 2

    def grad(self, inputs, outputs, output_grads):
        return [output_grads[0] / 2]


def test_an_op_of_a_user_is_computed_by_numpy_inside_the_program():
    x = K.placeholder((3,))
    y = Halved()(x) + 1
    f = K.function([x], [y], engine="jax")
    np.testing.assert_array_equal(f([np.array([1, 2, 3], "float32")])[0], [1.5, 2, 2.5])
    assert f.jax_programs.refused is None


def test_an_op_of_a_user_raises_its_own_error_and_nothing_is_written():
    x, total = K.placeholder((1,)), K.variable([1.0])
    f = K.function([x], [x], updates=[(total, total + Halved()(x))], engine="jax")
    f([np.array([4], "float32")])
    with pytest.raises(ValueError, match="too large to be halved"):
        f([np.array([400], "float32")])
    f([np.array([4], "float32")])
    assert K.get_value(total).tolist() == [5.0]


class Doubled(Op):
    """An op of a user that calls a function."""

    is_pure = True

    def __init__(self, function):
        object.__setattr__(self, "function", function)

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return self.function([x])[0]


def test_an_op_of_a_user_that_calls_a_function_does_not_wait_for_ever():
    x, z = K.placeholder((200, 200)), K.placeholder((200, 200))
    w = K.variable(np.eye(200))
    y = Doubled(K.function([z], [z * 2], engine="numpy"))(K.dot(K.dot(x, w), w))
    f = K.function([x], [K.dot(y, w)], updates=[(w, K.dot(w, w))], engine="jax")
    ones = np.ones((200, 200), "float32")
    with pytest.warns(RuntimeWarning, match="calls another function"):
        got = [f([ones])[0] for _ in range(4)]
    np.testing.assert_array_equal(got, [2 * ones] * 4)


class Log(Op):
    """An op of a user, with the name of ours, that hides NaN."""

    is_pure = True

    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return np.nan_to_num(x)


def test_nan_that_an_op_of_a_user_hides_is_caught_under_any_name():
    x = K.placeholder((1,))
    for engine in ("numpy", "jax"):
        f = K.function([x], [Log()(K.log(x))], engine=engine)
        for _ in range(2):
            assert Alarms({"nan"}).compute(f, [np.ones(1, "float32")])[0] == [0.0]
        with pytest.raises(Alarm):
            Alarms({"nan"}).compute(f, [-np.ones(1, "float32")])


def test_a_condition_keeps_its_value_where_it_is_also_a_number():
    p, x = K.placeholder(()), K.placeholder((2,))
    f = K.function([p, x], [K.switch(p, x * 2, x * 3), p * 3], engine="jax")
    for value in (0.0, 1.0, 2.5, -4.0):
        chosen, number = f([np.float32(value), np.ones(2, "float32")])
        assert chosen.tolist() == [2, 2] if value else [3, 3]
        assert number == 3 * value
    assert f.jax_programs.compilations == 3


# --- training -------------------------------------------------------------------------------------


def dense_model():
    return Sequential(
        [
            Dense(8, activation="relu", input_shape=(6,)),
            BatchNormalization(),
            Dropout(0.3),
            Dense(3, activation="softmax"),
        ]
    )


def recurrent_model():
    return Sequential(
        [
            Embedding(20, 5, mask_zero=True, input_length=6),
            LSTM(4, dropout=0.2, recurrent_dropout=0.2),
            Dense(3, activation="softmax"),
        ]
    )


def data(is_recurrent):
    draw = np.random.default_rng(3)
    x = draw.integers(0, 20, (22, 6)) if is_recurrent else draw.normal(size=(22, 6))
    return x, np.eye(3)[draw.integers(0, 3, 22)]


def trained(make, weights, is_recurrent, engine, turns=(None,), optimizer="adam"):
    """Return the weights and the logs after three epochs on engines that take turns."""
    K.clear_session()
    np.random.seed(2)  # Dropout takes its seed from here
    model = make()
    model.compile(optimizer, "categorical_crossentropy", metrics=["accuracy"], engine=engine)
    model.set_weights(weights)
    x, y = data(is_recurrent)
    logs = []
    for turn in range(3):
        name = turns[turn % len(turns)]
        if name:
            K.set_engine(name)
        history = model.fit(
            x, y, epochs=1, batch_size=8, verbose=0, shuffle=False, validation_data=(x, y)
        )
        logs.append(history.history)
    return model, [*model.get_weights(), *model.optimizer.get_weights()], logs


@pytest.mark.parametrize("turns", [("jax",), ("jax", "numpy"), ("numpy", "jax")], ids="-".join)
@pytest.mark.parametrize("make", [dense_model, recurrent_model])
@pytest.mark.parametrize(("dtype", "near"), [("float64", 1e-12), ("float32", 5e-6)])
def test_a_trained_model_is_the_same(make, turns, dtype, near):
    K.set_floatx(dtype)
    K.clear_session()
    weights, is_recurrent = make().get_weights(), make is recurrent_model
    _, wanted, wanted_logs = trained(make, weights, is_recurrent, None)
    model, found, logs = trained(make, weights, is_recurrent, None, turns)
    assert_near(found, wanted, near)
    assert model.train_function.jax_programs.refused is None
    for one, other in zip(logs, wanted_logs, strict=True):
        assert one.keys() == other.keys()
        for name in one:
            np.testing.assert_allclose(one[name], other[name], rtol=near, err_msg=name)


def test_compile_chooses_the_engine_of_one_model():
    weights = dense_model().get_weights()
    model, _, _ = trained(dense_model, weights, False, "jax")
    other, _, _ = trained(dense_model, weights, False, None)
    assert model.train_function.jax_programs is not None
    assert model.test_function.jax_programs is not None
    assert other.train_function.jax_programs is None
    model.predict(data(False)[0])
    assert model.predict_function.jax_programs is not None


def test_weights_are_read_and_set_in_the_middle_of_training():
    K.set_floatx("float64")
    x, y = data(False)
    results = []
    K.clear_session()
    weights = dense_model().get_weights()
    for engine in (None, "jax"):
        K.clear_session()
        np.random.seed(2)
        model = dense_model()
        model.compile("sgd", "categorical_crossentropy", engine=engine)
        model.set_weights(weights)
        model.train_on_batch(x, y)
        middle = [w * 0.5 for w in model.get_weights()]
        K.set_value(model.optimizer.lr, 0.3)
        model.set_weights(middle)
        borrowed = model.weights[0].get_value(borrow=True)
        before = borrowed.copy()
        model.train_on_batch(x, y)
        np.testing.assert_array_equal(borrowed, before)  # a borrowed array never changes
        results.append([*middle, *model.get_weights(), model.predict(x)])
    assert_near(results[1], results[0], 1e-12)


def test_what_is_given_as_an_input_may_be_changed_afterwards():
    x, w = K.placeholder((2,)), K.variable([0.0, 0.0])
    f = K.function([x], [x], updates=[(w, x)], engine="jax")
    array = np.array([1, 2], "float32")
    (y,) = f([array])
    array[:] = 7
    assert y.tolist() == [1, 2]
    assert K.get_value(w).tolist() == [1, 2]
    y[:] = 9
    assert K.get_value(w).tolist() == [1, 2]


# --- promises -------------------------------------------------------------------------------------


def test_a_refused_value_raises_the_usual_error_and_nothing_is_written():
    rows, index = K.variable(np.ones((4, 2))), K.placeholder((None,), dtype="int32")
    outputs = K.gather(rows, index)
    messages = []
    for engine in ("numpy", "jax"):
        f = K.function([index], [outputs], updates=[(rows, rows + 1)], engine=engine)
        before = K.get_value(rows)
        f([np.array([1, 2])])
        with pytest.raises(DataError) as raised:
            f([np.array([1, 9])])
        messages.append(str(raised.value))
        np.testing.assert_array_equal(K.get_value(rows), before + 1)
    assert messages[0] == messages[1]


def test_a_watched_call_is_computed_by_numpy():
    w = K.variable([1.0])
    f = K.function([], [w * 2], updates=[(w, w + 1)], engine="jax")
    f([])
    assert len(list(f.stage([]))) > 1
    assert K.get_value(w).tolist() == [3.0]
    assert f([])[0].tolist() == [6.0]


def test_copies_and_pickles_are_on_their_own():
    w = K.variable([1.0])
    f = K.function([], [w * 2], updates=[(w, w + 1)], engine="jax")
    f([])
    for other in (copy.deepcopy(w), pickle.loads(pickle.dumps(w))):
        assert other.get_value().tolist() == [2.0]
        other.set_value([5.0])
    assert f([])[0].tolist() == [4.0]


def test_threads_train_and_read():
    w = K.variable(np.zeros(50))
    f = K.function([], [K.sum(w)], updates=[(w, w + 1)], engine="jax")
    g = K.function([], [w], engine="jax")
    f([])
    torn = []

    def read():
        for _ in range(200):
            torn.extend(len(set(y.tolist())) > 1 for y in (g([])[0], w.get_value()))

    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(200):
        f([])
    for thread in threads:
        thread.join()
    assert not any(torn)
    assert set(K.get_value(w).tolist()) == {201.0}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no interval timer")
def test_an_interrupted_step_is_done_wholly_or_not_at_all():
    a, b = K.variable(0.0), K.variable(np.zeros(3))
    f = K.function([], [a], updates=[(a, a + 1), (b, b + 1)], engine="jax")
    f([])
    hits = 0
    draw = np.random.default_rng(5)

    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        for _ in range(400):
            try:
                signal.setitimer(signal.ITIMER_REAL, float(draw.uniform(1e-5, 1e-3)))
                while True:
                    f([])
            except KeyboardInterrupt:
                hits += 1
            assert set(K.get_value(b).tolist()) == {float(K.get_value(a))}
            assert not jax.config.jax_enable_x64  # other users of JAX keep 32 bits
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert hits == 400
    steps = float(K.get_value(a))
    f([])
    assert float(K.get_value(a)) == steps + 1


# What NumPy does with values at which XLA does something else, without an error.
CORNERS = {
    "a slice that ends outside": (lambda x, i: ops.slice(x, i, (2,)), [1.0, 2.0, 3.0], [2]),
    "a slice that starts outside": (lambda x, i: ops.slice(x, i, (2,)), [1.0, 2.0, 3.0], [-1]),
    "an update that ends outside": (
        lambda x, i: ops.slice_update(x, i, np.ones(2, "float32")),
        [1.0, 2.0, 3.0],
        [2],
    ),
    "an index outside": (lambda x, i: ops.take(x, i), [1.0, 2.0], [2]),
    "the gradient of a row outside": (
        lambda x, i: K.gradients(K.sum(K.gather(x, i)), [x])[0],
        [[1.0], [2.0]],
        [5],
    ),
    "a division of integers by 0": (lambda i, j: ops.floor_divide(i, j), [7, -7], [0, 0]),
    "a remainder by 0": (lambda i, j: ops.mod(i, j), [7, -7], [0, 0]),
    "numbers that are no integers": (lambda x, i: K.cast(x, "int32"), [np.nan, np.inf, 3e10], [0]),
    "a number below 0 as uint8": (lambda x, i: K.cast(x, "uint8"), [-3.0, 300.0], [0]),
    "a matrix without an inverse": (lambda x, i: ops.inv(x), np.zeros((2, 2)), [0]),
    "a matrix with NaN": (lambda x, i: ops.svd(x), np.full((2, 2), np.nan), [0]),
    "a matrix that is not positive": (lambda x, i: ops.cholesky(x), -np.eye(2), [0]),
    "labels outside": (
        lambda x, i: K.sparse_categorical_crossentropy(i, x),
        [[0.2, 0.8]],
        [5],
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CORNERS)
def test_at_a_corner_both_engines_return_or_raise_the_same(name):
    build, *values = CORNERS[name]
    arrays = [np.asarray(x) for x in values]
    arrays = [x.astype("float32" if x.dtype.kind == "f" else "int32") for x in arrays]
    inputs = [K.placeholder(x.shape, dtype=x.dtype.name) for x in arrays]
    outputs = build(*inputs)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    results = []
    for engine in ("numpy", "jax"):
        try:
            results.append(K.function(inputs, outputs, engine=engine)(arrays))
        except Exception as error:
            results.append(f"{type(error).__name__}: {error}")
    wanted, found = results
    if isinstance(wanted, str):
        assert found == wanted
    else:
        for y, z in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(y, z)


def test_weights_that_were_set_survive_a_step_that_fails():
    x, w = K.placeholder((1,)), K.variable([1.0])
    f = K.function([x], [x], updates=[(w, w + Halved()(x))], engine="jax")
    f([np.array([4], "float32")])
    w.set_value([10.0])
    with pytest.raises(ValueError, match="too large to be halved"):
        f([np.array([400], "float32")])
    assert w.get_value().tolist() == [10.0]


# --- choosing -------------------------------------------------------------------------------------


def test_an_unknown_engine_names_the_two():
    with pytest.raises(ArgumentError, match=r"K\.set_engine: expected the engine 'numpy' or 'jax'"):
        K.set_engine("torch")
    assert K.backend() == "numpy"
    with pytest.raises(ArgumentError, match="compile: expected the engine"):
        dense_model().compile("sgd", "mse", engine="gpu")


def test_without_jax_an_error_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "kerascope.backend.engines.functions", raising=False)
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingToolError, match=r"pip install 'kerascope\[jax\]'"):
        K.set_engine("jax")
    assert K.backend() == "numpy"


# --- looking --------------------------------------------------------------------------------------


def test_explain_and_profile_say_which_engine_they_show():
    model = Sequential([Dense(2, input_shape=(3,))])
    model.compile("sgd", "mse", engine="jax")
    x, y = np.ones((4, 3)), np.ones((4, 2))
    model.train_on_batch(x, y)
    weights = model.get_weights()
    text = str(model.train_function.explain())
    assert text.startswith("train_function[(4, 3), (4, 2), (4,)]: compiled by XLA for 1 device;")
    assert "0 collectives" in text
    assert model.train_function.jax_programs.compilations == 1
    assert "These are times of NumPy. JAX computes" in str(
        kerascope.profile(model, x, y, repeats=2)
    )
    for array, before in zip(model.get_weights(), weights, strict=True):
        np.testing.assert_array_equal(array, before)
    model.compile("sgd", "mse")
    for _ in range(2):
        model.train_on_batch(x, y)
    assert "These are times of NumPy" not in str(kerascope.profile(model, x, y, repeats=2))
    assert "steps are written" in str(model.train_function.explain())


@pytest.mark.parametrize("command", ["run", "debug"])
def test_the_command_line_says_that_jax_is_missing_before_the_script_runs(
    command, monkeypatch, capsys, tmp_path
):
    script = tmp_path / "script.py"
    script.write_text("print('running')")
    monkeypatch.delitem(sys.modules, "kerascope.backend.engines.functions", raising=False)
    monkeypatch.setitem(sys.modules, "jax", None)
    assert main([command, "--engine", "jax", str(script)]) == 1
    out, err = capsys.readouterr()
    assert err == (
        "kerascope: --engine: the engine 'jax' needs JAX. Install it: "
        "pip install 'kerascope[jax]'.\n"
    )
    assert "running" not in out
    assert K.backend() == "numpy"
