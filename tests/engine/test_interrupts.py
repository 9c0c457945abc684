"""Whatever interrupts a model, and whenever: all its variables belong to the same whole step."""

import gc
import itertools
import os
import threading

import numpy as np
import pytest
from interrupts import (
    WRITING,
    Interrupt,
    Late,
    interrupted,
    moments_of,
    spread,
    state_of,
    written_by,
)

from kerascope import backend as K
from kerascope.backend.atomic import LOCKS
from kerascope.layers import LSTM, BatchNormalization, Bidirectional, Dense, Dropout, Input
from kerascope.metrics import Metric
from kerascope.models import Model, Sequential
from kerascope.optimizers import SGD, Adam
from kerascope.stage import observing

CALLS = 3  # from then on the written program computes


def quietly(stage, event):
    """Watch without looking: everything is stepped."""


def many_small():
    model = Sequential([Dense(4, activation="relu", input_shape=(5,)), BatchNormalization()])
    model.add(Dropout(0.5, seed=1))
    model.add(Dense(4))
    model.add(BatchNormalization())
    model.add(Dense(1))
    model.compile(Adam(0.01, clipvalue=0.5), "mse", metrics=["mae"])
    return model, np.ones((4, 5), "f4"), np.zeros((4, 1), "f4")


def large():
    model = Sequential([Dense(250, input_shape=(300,)), Dense(1)])
    model.compile(SGD(1e-5, momentum=0.9), "mse")
    return model, np.ones((2, 300), "f4"), np.zeros((2, 1), "f4")


def stateful():
    model = Sequential([LSTM(3, stateful=True, batch_input_shape=(2, 4, 3)), Dense(1)])
    model.compile("adam", "mse")
    return model, np.ones((2, 4, 3), "f4"), np.zeros((2, 1), "f4")


MODELS = {"many small weights": many_small, "large weights": large, "stateful LSTM": stateful}


def made(kind, calls=CALLS):
    K.clear_session()
    np.random.seed(0)
    model, x, y = MODELS[kind]()
    for _ in range(calls):
        model.train_on_batch(x, y)
    return model, x, y


def step_of(road, model, x, y):
    if road == "run":
        return lambda: model.train_on_batch(x, y)
    if road == "fit":
        return lambda: model.fit(x, y, batch_size=len(x), epochs=1, verbose=0)

    def stepped():
        with observing(quietly):
            model.train_on_batch(x, y)

    return stepped


def nothing_is_held():
    """Tell whether another thread can have the locks."""
    found = []

    def ask():
        found.append([lock.acquire(timeout=20) for lock in (LOCKS.steps, LOCKS.writing)])

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    LOCKS._renew()  # that thread ended with both
    return found == [[True, True]]


@pytest.mark.parametrize(
    ("road", "error"), [("run", Interrupt), ("run", Late), ("stepped", Interrupt), ("fit", Late)]
)
@pytest.mark.parametrize("kind", sorted(MODELS))
def test_an_interrupted_step_is_done_wholly_or_not_at_all(kind, road, error):
    model, x, y = made(kind)
    twin, *_ = made(kind)
    variables, expected = written_by(model), written_by(twin)
    step, undisturbed = step_of(road, model, x, y), step_of("run", twin, x, y)
    assert state_of(variables) == state_of(expected)
    step()
    undisturbed()
    where = WRITING if road == "stepped" else ("backend",)
    n = moments_of(step, where=where)
    undisturbed()
    for moment in spread(n, last=10, others=4):
        before = state_of(expected)
        undisturbed()
        after = state_of(expected)
        at = interrupted(step, moment, error, where=where)
        came = state_of(variables)
        assert came in (before, after), f"torn at {at}"
        if came == before:
            step()
            assert state_of(variables) == after, f"what was interrupted at {at} does not go on"
    assert nothing_is_held()
    assert not model.train_function._programs.lock.locked()


@pytest.mark.parametrize("calls", [0, pytest.param(1, marks=pytest.mark.slow), 2])
def test_first_calls_which_are_stepped_and_written_down_are_whole_too(calls):
    states = []
    model, x, y = made("many small weights", 0)
    for _ in range(CALLS + 2):
        states.append(state_of(written_by(model)))
        model.train_on_batch(x, y)
    states.append(state_of(written_by(model)))

    def step_after():
        K.clear_session()
        np.random.seed(0)
        model, x, y = MODELS["many small weights"]()
        model._make_train_function()
        for _ in range(calls):
            model.train_on_batch(x, y)
        return model, lambda: model.train_on_batch(x, y)

    n = moments_of(step_after()[1])
    for moment in spread(n, last=3, others=3):
        model, step = step_after()
        at = interrupted(step, moment, Interrupt)
        came = state_of(written_by(model))
        assert came in states[calls : calls + 2], f"torn at {at}"
        done = states.index(came)
        for expected in states[done + 1 :]:
            step()
            assert state_of(written_by(model)) == expected, f"interrupted at {at}"


# --- what is set, loaded and reset ----------------------------------------------------------------


def all_or_nothing(variables, change, put_back):
    """Interrupt a change before it writes and meanwhile: it is done wholly or not at all."""
    put_back()
    before = state_of(variables)
    n = moments_of(change, where=WRITING)
    after = state_of(variables)
    assert before != after
    for moment in spread(n, last=10, others=4):
        put_back()
        at = interrupted(change, moment, Interrupt, where=WRITING)
        came = state_of(variables)
        assert came in (before, after), f"torn at {at}"
    assert nothing_is_held()


def lent_and_not(variables):
    """Let every second variable be lent: it then gets another array."""
    for v in variables[::2]:
        v.get_value(borrow=True)


def two_lstms():
    inner = Sequential([LSTM(2, stateful=True, return_sequences=True, batch_input_shape=(2, 4, 3))])
    both = Bidirectional(LSTM(2, stateful=True, return_sequences=True))
    model = Sequential([inner, both, LSTM(3, stateful=True)])
    model.predict(np.ones((2, 4, 3)), batch_size=2)
    return model


def test_set_weights_sets_all_or_none():
    model, *_ = made("many small weights")
    old = model.get_weights()
    new = [array + 1 for array in old]
    model.set_weights(old)

    def put_back():
        model.set_weights(old)
        lent_and_not(model.weights)

    all_or_nothing(model.weights, lambda: model.set_weights(new), put_back)
    wrong = [*new[:-1], np.zeros((7, 7))]
    before = state_of(model.weights)
    with pytest.raises(Exception, match="shape"):
        model.set_weights(wrong)
    assert state_of(model.weights) == before


def test_the_optimizers_weights_are_set_all_or_none():
    model, *_ = made("many small weights")
    optimizer = model.optimizer
    old = optimizer.get_weights()
    new = [array + 1 for array in old]
    change = lambda: optimizer.set_weights(new)  # noqa: E731
    all_or_nothing(optimizer.weights, change, lambda: optimizer.set_weights(old))


@pytest.mark.parametrize("suffix", [".h5", ".keras"])
def test_loading_into_a_model_loads_all_or_nothing(suffix, tmp_path):
    model, *_ = made("many small weights")
    path = str(tmp_path / f"model{suffix}")
    (model.save if suffix == ".keras" else model.save_weights)(path)
    other = [array + 1 for array in model.get_weights()]
    load = lambda: model.load_weights(path)  # noqa: E731
    all_or_nothing(model.weights, load, lambda: model.set_weights(other))


def test_all_states_of_a_model_are_reset_at_once():
    model = two_lstms()
    states = [update.variable for update in model.predict_function.updates]
    assert len(states) == 2 + 4 + 2
    values = K.batch_get_value(states)
    put_back = lambda: K.batch_set_value(zip(states, values, strict=True))  # noqa: E731
    all_or_nothing(states, model.reset_states, put_back)
    model.reset_states()
    assert not any(array.any() for array in K.batch_get_value(states))


class Count(Metric):
    def build(self, y_pred):
        self.total, self.half = self.add_weight(name="total"), self.add_weight(name="half")

    def increments(self, y_true, y_pred, weights):
        return [K.sum(y_pred), K.sum(y_pred) / 2]

    def result_of(self, state):
        return state[0] - state[1]


def test_all_metrics_are_reset_at_once():
    model = Sequential([Dense(1, input_shape=(3,))])
    model.compile("sgd", "mse", metrics=[Count(name="one"), Count(name="two")])
    x, y = np.ones((2, 3)), np.ones((2, 1))
    model.train_on_batch(x, y)
    variables = [v for metric in model.stateful_metric_functions for v in metric.variables]
    assert len(variables) == 4
    values = [1.0, 2.0, 3.0, 4.0]
    put_back = lambda: K.batch_set_value(zip(variables, values, strict=True))  # noqa: E731
    all_or_nothing(variables, model.reset_metrics, put_back)


def test_statistics_of_an_eager_call_are_written_all_or_none():
    layer = BatchNormalization()
    x = np.arange(6.0).reshape(3, 2)
    layer(x, training=True)
    old = layer.get_weights()
    call = lambda: layer(x * 2, training=True)  # noqa: E731
    all_or_nothing(layer.weights, call, lambda: layer.set_weights(old))


class Restarted(LSTM):
    """Somebody's own layer, which resets otherwise."""

    def reset_states(self, states=None):
        K.batch_set_value([(v, np.ones(v.shape)) for v in self.states])


def test_who_writes_reset_states_anew_is_called():
    model = Sequential([Restarted(2, stateful=True, batch_input_shape=(1, 2, 2))])
    model.predict(np.ones((1, 2, 2)), batch_size=1)
    model.reset_states()
    assert all((v.get_value() == 1).all() for v in model.layers[0].states)

    class Own(Model):
        def reset_states(self):
            super().reset_states()
            told.append("reset")

    told = []
    x = Input(batch_shape=(1, 2, 2))
    own = Own(x, LSTM(2, stateful=True)(x))
    own.predict(np.ones((1, 2, 2)), batch_size=1)
    outer = Sequential([own])
    outer.reset_states()
    own.reset_states()
    assert told == ["reset", "reset"]
    assert not any(v.get_value().any() for v in own.layers[-1].states)


# --- models that share weights --------------------------------------------------------------------


def gan():
    K.clear_session()
    np.random.seed(0)
    critic = Sequential([Dense(4, activation="relu", input_shape=(3,)), Dense(1)], name="critic")
    critic.compile(Adam(0.01), "mse")
    maker = Sequential([Dense(3, input_shape=(2,)), BatchNormalization()], name="maker")
    x = Input((2,))
    critic.trainable = False
    both = Model(x, critic(maker(x)))
    both.compile(Adam(0.01), "mse")
    return critic, both


def turns_of(critic, both):
    fake, noise, ones = np.ones((4, 3), "f4"), np.ones((4, 2), "f4"), np.ones((4, 1), "f4")
    return [lambda: critic.train_on_batch(fake, ones), lambda: both.train_on_batch(noise, ones)]


@pytest.mark.filterwarnings("ignore:.*Discrepancy between trainable weights")
def test_two_models_that_share_weights_are_whole_together():
    (critic, both), (critic_2, both_2) = gan(), gan()
    turns, undisturbed = turns_of(critic, both), turns_of(critic_2, both_2)
    for turn in (*turns, *undisturbed) * CALLS:
        turn()
    variables = [*written_by(critic), *written_by(both)]
    expected = [*written_by(critic_2), *written_by(both_2)]
    for which in (0, 1):
        n = moments_of(turns[which])
        undisturbed[which]()
        for moment in spread(n, last=10, others=4):
            before = state_of(expected)
            undisturbed[which]()
            at = interrupted(turns[which], moment, Interrupt)
            came = state_of(variables)
            assert came in (before, state_of(expected)), f"torn at {at}"
            if came == before:
                turns[which]()
            turns[1 - which]()
            undisturbed[1 - which]()
            assert state_of(variables) == state_of(expected)


# --- what comes from outside is not swallowed -----------------------------------------------------


def test_an_alarm_in_a_program_is_no_fault_of_the_program():
    x = K.placeholder((None,))
    v = K.variable([0.0, 0.0])
    function = K.function([x], [K.exp(x)], [(v, v + x)])
    for _ in range(CALLS):
        function([np.ones(2)])
    (program,) = function.programs
    n = moments_of(lambda: function([np.ones(2)]))
    for moment in range(1, n + 1):
        before = v.get_value()
        assert interrupted(lambda: function([np.ones(2)]), moment, Late) is not None
        assert (v.get_value() - before).tolist() in ([0.0, 0.0], [1.0, 1.0])
        assert function.programs == [program]


def test_new_values_of_any_kind_are_written():
    """Fed ones, other variables, views, numbers, booleans, and those under a condition."""

    def run(watched):
        K.clear_session()
        x, wanted = K.placeholder((2, 3)), K.placeholder((), dtype="bool")
        kinds = {
            "fed": (np.zeros((2, 3)), "float32", lambda v: x),
            "turned": (np.zeros((3, 2)), "float32", lambda v: K.transpose(x)),
            "other": (np.ones((2, 3)), "float32", lambda v: first),
            "whole": (3, "int64", lambda v: v + 2),
            "truth": (True, "bool", lambda v: K.greater(K.sum(x), 7.0)),
            "chosen": (np.ones(3), "float64", lambda v: K.switch(wanted, v * 2, v)),
            "empty": (np.zeros((0, 2)), "float32", lambda v: v + 1),
        }
        first = K.variable(np.full((2, 3), 5.0))
        made = {name: K.variable(value, dtype, name) for name, (value, dtype, _) in kinds.items()}
        updates = [(made[name], new(made[name])) for name, (_, _, new) in kinds.items()]
        function = K.function([x, wanted], [], [*updates, (first, first + x)])
        told = []
        for number in range(6):
            arrays = [np.full((2, 3), number, "f4"), np.array(number % 2 == 0)]
            if watched:
                with observing(quietly):
                    function(arrays)
            else:
                function(arrays)
            told.append(state_of([*made.values(), first]))
        return told, function

    told, function = run(watched=False)
    assert function.programs
    assert told == run(watched=True)[0]


def test_a_condition_that_only_the_call_knows_decides_about_a_draw():
    def run(watched):
        K.clear_session()
        x = K.placeholder((2,))
        noise = K.random_normal((2,), seed=1)
        function = K.function([x], [K.switch(K.sum(x) > 0, noise, x)])
        told = []
        for number in itertools.chain([1, -1] * 4, [-1, 1, 1]):
            if watched:
                with observing(quietly):
                    (y,) = function([np.full(2, number, "f4")])
            else:
                (y,) = function([np.full(2, number, "f4")])
            told.append(y.tobytes())
        return told

    assert run(watched=False) == run(watched=True)


@pytest.mark.parametrize("road", ["run", "stepped"])
def test_what_numbers_are_outside_of_a_call_stays_as_it_was(road):
    """While a function computes tiny numbers are 0; after an interrupt they must not stay so."""
    model, x, y = made("many small weights")
    step = step_of(road, model, x, y)
    tiny = np.array([1e-40], "f4")
    where = tuple(f"backend{os.sep}{name}.py" for name in ("function", "float_settings"))
    step()
    n = moments_of(step, where=where)
    for moment in spread(n, last=6, others=8):
        at = interrupted(step, moment, Interrupt, where=where)
        assert (tiny * 1)[0] > 0, f"interrupted at {at}"


class Dying:
    """What dies calls something, as a program that is given up takes back what it has lent."""

    died = 0

    def __init__(self, in_a_circle):
        self.itself = self if in_a_circle else None

    def __del__(self):
        Dying.died += len(count_to(3)) // 3


def count_to(n):
    return [abs(number) for number in range(n)]


@pytest.mark.parametrize("in_a_circle", [False, True], ids=["at once", "by the collector"])
def test_no_moment_is_counted_where_python_swallows_what_is_raised(in_a_circle):
    """These are of our helper: else a test fails by the luck of what the collector finds when."""

    def action():
        Dying.died = 0
        for _ in range(20):
            Dying(in_a_circle)
            count_to(2)
        assert Dying.died == (0 if in_a_circle else 20)

    before = gc.get_threshold()
    gc.set_threshold(5, 1, 1)
    try:
        n = moments_of(action, also=(__file__,))
        assert 20 * 2 < n == moments_of(action, also=(__file__,))
        places = [interrupted(action, moment, also=(__file__,)) for moment in range(1, n + 1)]
        assert gc.isenabled()
    finally:
        gc.set_threshold(*before)
    assert None not in places
    assert f"{__file__}:{Dying.__del__.__code__.co_firstlineno + 1}" not in places
