"""What is caught, and where, does not depend on whether the calls before it were heard."""

import itertools
import warnings

import numpy as np
import pytest
from thinned import thinned

from kerascope import backend as K
from kerascope.backend.program import alarms as guards
from kerascope.backend.program.alarms import Alarm, Alarms
from kerascope.callbacks import LambdaCallback
from kerascope.debugger.session import Session
from kerascope.layers import LSTM, Activation, BatchNormalization, Dense, Embedding, Lambda
from kerascope.models import Sequential
from kerascope.trace import journal as journals
from kerascope.trace.events import SKIPPED
from kerascope.trace.stepper import Reason
from kerascope.utils import set_random_seed

X = np.random.default_rng(0).normal(size=(240, 5)).astype("float32")
Y = (X[:, :1] > 0).astype("float32")


class Whole(Session):
    """A session that hears of every call."""

    runner = None


def caught_in(program, conditions, kind=Session):
    """Return a session in which conditions were caught, and where it has stopped."""
    stops = []

    def ask(stop):
        if stop.reason is Reason.BEGIN:
            session.stepper.catches.add(conditions)
        stops.append((stop.reason, stop.t, stop.findings))
        return None if stop.reason is Reason.END else lambda stepper: stepper.continue_()

    set_random_seed(7)
    K.clear_session()
    session = kind(ask)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.run(program)
    if session.error is not None:
        raise session.error
    return session, stops


def model_of(*layers, optimizer="sgd", loss="mse"):
    model = Sequential(list(layers))
    model.compile(optimizer, loss)
    return model


def spoilt_at(n, value=1e30, rows=X):
    """Return rows of which one has such a number."""
    rows = rows.copy()
    rows[n, 2] = value
    return rows


def fit(model, rows=X, labels=Y, **options):
    model.fit(rows, labels, **{"batch_size": 8, "epochs": 2, "verbose": 0, **options})


def an_overflow_that_a_sigmoid_swallows():
    grown = Lambda(lambda x: x * 1e10)
    model = model_of(Dense(3, input_shape=(5,)), grown, Activation("sigmoid"), Dense(1))
    fit(model, spoilt_at(101))


def an_overflow_in_a_product_that_a_clip_swallows():
    model = model_of(Lambda(lambda x: x * x, input_shape=(5,)), Dense(3),
                     Lambda(lambda x: K.clip(x, -1, 1)), Dense(1))  # fmt: skip
    model.layers[1].set_weights([np.full((5, 3), 10, "f"), np.zeros(3, "f")])
    fit(model, spoilt_at(101, 1.8e19))


def a_large_product_that_threads_compute():
    model = model_of(Dense(200, input_shape=(200,), activation="sigmoid"), Dense(1))
    model.layers[0].set_weights([np.full((200, 200), 1e10, "f"), np.zeros(200, "f")])
    rows = np.tile(X, (1, 40))
    fit(model, spoilt_at(130, rows=rows), batch_size=40)


def a_gradient_whose_square_overflows_in_the_update():
    model = model_of(Dense(1, input_shape=(5,)), optimizer="adam")
    fit(model, spoilt_at(77, 1e10), Y * 1e11)


def weights_that_run_away():
    model = model_of(Dense(8, activation="relu", input_shape=(5,)), Dense(1))
    K.set_value(model.optimizer.lr, 3.0)
    fit(model, epochs=1)


def nan_in_the_data():
    fit(model_of(Dense(2, input_shape=(5,)), Dense(1)), spoilt_at(120, np.nan), epochs=1)


def infinite_labels():
    fit(model_of(Dense(2, input_shape=(5,)), Dense(1)), X, np.where(X[:, :1] > 2, np.inf, 0))


def a_division_of_nothing_by_nothing():
    model = model_of(Lambda(lambda x: x / K.sum(abs(x), axis=1, keepdims=True)),
                     Dense(1), loss="mae")  # fmt: skip
    rows = X.copy()
    rows[99] = 0
    model.fit(rows, Y, batch_size=8, epochs=2, verbose=0)


def weights_set_by_a_callback():
    model = model_of(Dense(2, input_shape=(5,)), Dense(1))

    def spoil(batch, logs):
        if batch == 17:
            model.layers[0].set_weights([np.full((5, 2), np.nan, "f"), np.zeros(2, "f")])

    fit(model, callbacks=[LambdaCallback(on_batch_end=spoil)])


def a_state_that_grows_step_by_step():
    model = model_of(LSTM(3, recurrent_activation="sigmoid", input_shape=(4, 5)), Dense(1))
    K.set_value(model.layers[0].cell.recurrent_kernel, np.full((3, 12), 3e38, "f"))
    fit(model, np.repeat(X[:, None], 4, 1))


def batches_and_predictions_one_by_one():
    model = model_of(Dense(2, input_shape=(5,)), Lambda(K.exp), Dense(1))
    for start in range(0, 120, 8):
        model.train_on_batch(X[start : start + 8], Y[start : start + 8])
    model.predict(spoilt_at(33, 300.0), batch_size=8)
    model.evaluate(spoilt_at(60, 300.0), Y, batch_size=8, verbose=0)
    model.train_on_batch(X[:8], Y[:8])


def rows_from_a_generator():
    model = model_of(Dense(2, input_shape=(5,)), Lambda(K.exp), Dense(1))
    rows = np.empty((8, 5), "float32")

    def batches():
        for start in itertools.cycle(range(0, 240, 8)):
            rows[:] = spoilt_at(111, 300.0)[start : start + 8]
            yield rows, Y[start : start + 8]

    model.fit_generator(batches(), steps_per_epoch=30, epochs=1, verbose=0)


def words_that_are_not_many():
    model = model_of(Embedding(9, 3, input_length=4), LSTM(3), Dense(1), loss="mae")
    model.layers[0].set_weights([np.linspace(-1, 3e38, 27, dtype="f").reshape(9, 3)])
    fit(model, (abs(X[:, :4]) * 3).astype(int) % 9, epochs=1)


def moments_of_a_batch_that_is_too_large():
    fit(model_of(BatchNormalization(input_shape=(5,)), Dense(1)), spoilt_at(99, 1e25))


def soundly_saturated():
    model = model_of(Dense(3, input_shape=(5,)), Activation("sigmoid"), Dense(1))
    model.layers[0].set_weights([np.full((5, 3), 500, "f"), np.zeros(3, "f")])
    fit(model)


def soundly_masked():
    mask = np.where(X[:, :3] > 0, 0, -np.inf).astype("f")

    def attend(x):
        return K.softmax(x + K.constant(mask[:1]) * 1.0)

    mask[0, 0] = 0
    fit(model_of(Dense(3, input_shape=(5,)), Lambda(attend), Dense(1)))


PROGRAMS = [
    an_overflow_that_a_sigmoid_swallows,
    an_overflow_in_a_product_that_a_clip_swallows,
    a_large_product_that_threads_compute,
    a_gradient_whose_square_overflows_in_the_update,
    weights_that_run_away,
    nan_in_the_data,
    infinite_labels,
    a_division_of_nothing_by_nothing,
    weights_set_by_a_callback,
    a_state_that_grows_step_by_step,
    batches_and_predictions_one_by_one,
    rows_from_a_generator,
    words_that_are_not_many,
    moments_of_a_batch_that_is_too_large,
    soundly_saturated,
    soundly_masked,
]


@pytest.mark.parametrize("conditions", ["nan", "inf", "nan, inf"])
@pytest.mark.parametrize("program", thinned(PROGRAMS, lambda program: "program"))
def test_it_stops_where_it_stops_if_every_call_is_heard(program, conditions):
    session, stops = caught_in(program, conditions)
    heard, expected = caught_in(program, conditions, Whole)
    assert len(session.tape) == len(heard.tape)
    assert [stop[:2] for stop in stops] == [stop[:2] for stop in expected]
    assert stops == expected


@pytest.mark.parametrize("program", thinned(PROGRAMS, lambda program: "program"))
def test_only_calls_with_something_to_catch_are_heard(program):
    session, stops = caught_in(program, "nan, inf")
    unheard = sum(len(event.deltas[1].value[0]) for event in session.tape if event.kind == SKIPPED)
    calls = len([t for t in session.tape.whole() if t.kind == "function" and t.ph == "B"])
    if program is not a_state_that_grows_step_by_step:
        assert calls - unheard <= 8 + len(stops)


def test_after_false_alarms_a_function_is_heard_until_something_is_caught():
    session, _ = caught_in(a_state_that_grows_step_by_step, "inf")
    (callee,) = session.recorder.journal._infos.values()
    assert callee.false_alarms == journals.FALSE_ALARMS
    assert not callee.can_be_caught_in
    session.recorder.journal.reset_false_alarms()
    assert callee.can_be_caught_in


@pytest.mark.parametrize("conditions", ["nan, inf", "nan"])
def test_what_is_caught_later_is_looked_for_in_calls_that_were_unheard(conditions):
    """Conditions that are set at the end are found on the way back."""
    found = []

    def ask(stop):
        if stop.reason is Reason.END and not len(session.stepper.catches):
            session.stepper.catches.add(conditions)
            return lambda stepper: stepper.continue_back()
        found.append((stop.reason, stop.t))
        return None if stop.reason is Reason.CATCH else lambda stepper: stepper.continue_()

    set_random_seed(7)
    K.clear_session()
    session = Session(ask)
    session.run(nan_in_the_data)
    _, expected = caught_in(nan_in_the_data, conditions, Whole)
    assert found[-1] == expected[1][:2]


# --- alarms by themselves -------------------------------------------------------------------------


def written(f, arrays):
    """Return a function whose program is written."""
    for _ in range(2):
        f(arrays)
    assert f.programs
    return f


def test_a_call_that_is_left_has_written_nothing():
    x, w = K.placeholder((2,)), K.variable([1.0, 2.0])
    f = written(K.function([x], [K.sum(x)], [(w, w + K.exp(x))]), [np.zeros(2, "f")])
    before = K.get_value(w).copy()
    with pytest.raises(Alarm, match="overflow"):
        Alarms({"inf"}).compute(f, [np.array([0, 100], "f")])
    assert np.array_equal(K.get_value(w), before)
    outs, is_late = Alarms({"inf"}).compute(f, [np.zeros(2, "f")])
    assert (outs[0], is_late) == (0, False)
    assert np.array_equal(K.get_value(w), before + 1)


def test_what_overflows_while_it_is_written_is_told_late():
    w = K.variable(np.full((9, 9), 1e20))
    slot = K.variable(np.zeros((9, 9)))
    f = K.function([], [K.constant(0.0)], [(slot, K.square(w)), (w, w + 1)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(2):
            f([])
    rang = False
    try:
        _, rang = Alarms({"inf"}).compute(f, [])
    except Alarm:
        rang = True
    assert rang


def test_another_code_runs_only_while_somebody_asks():
    x = K.placeholder((None, 200))
    w = K.variable(np.ones((200, 200)))
    f = written(K.function([x], [K.sigmoid(K.dot(x, w))]), [np.ones((200, 200), "f")])
    (program,) = f.programs
    own = program._code.run
    rows = np.full((200, 200), 3e38, "f")
    for _ in range(2):
        with pytest.raises(Alarm):
            Alarms({"inf"}).compute(f, [rows / 3])
        assert program._code.run is own
    assert f([rows])[0].min() == 1


@pytest.fixture
def products_without_flags(monkeypatch):
    """A NumPy whose products raise no flags: `dot` of 2.0 is so, with any BLAS `matmul` may be."""
    for name in ("dot", "matmul"):
        product = np.errstate(all="ignore")(getattr(np, name))
        monkeypatch.setattr(np, name, product)
    guards._products_set_flags.cache_clear()
    yield
    guards._products_set_flags.cache_clear()


@pytest.mark.parametrize("rows", [1, 3, 300])
@pytest.mark.parametrize(
    ("product", "shape"),
    [(K.dot, (4, 4)), (K.dot, (4, 1)), (K.dot, (4, 600)), (K.batch_dot, (None, 4, 5))],
    ids=["small", "vector", "large", "matmul"],
)
def test_products_of_all_sizes_are_looked_at_where_no_flags_come(
    rows, product, shape, products_without_flags
):
    x, w = K.placeholder((None, 2, 4) if len(shape) > 2 else (None, 4)), K.placeholder(shape)
    sizes = [tuple(n or rows for n in y.shape) for y in (x, w)]
    f = written(K.function([x, w], [K.sigmoid(product(x, w))]), [np.zeros(s, "f") for s in sizes])
    with pytest.raises(Alarm):
        Alarms({"inf"}).compute(f, [np.full(s, 1e30, "f") for s in sizes])


def test_small_products_are_not_looked_at_where_their_flags_come(monkeypatch):
    monkeypatch.setattr(guards, "_products_set_flags", lambda name: True)
    monkeypatch.setattr(Alarms, "inspecting_product", None)
    w = K.variable(np.ones((4, 4)))
    x = K.placeholder((3, 4))
    f = written(K.function([x], [K.sigmoid(K.dot(x, w))]), [np.zeros((3, 4), "f")])
    assert Alarms({"inf"}).compute(f, [np.ones((3, 4), "f")])[1] is False


def test_numbers_whose_squares_overflow_are_sound():
    x = K.placeholder((3,))
    f = written(K.function([x], [x * 2]), [np.zeros(3, "f")])
    outs, is_late = Alarms({"nan", "inf"}).compute(f, [np.full(3, 1e38, "f")])
    assert (outs[0][0], is_late) == (np.float32(2e38), False)
