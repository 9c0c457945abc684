"""Several threads and one model, or models that share weights: no step is lost, none is half."""

import os
import pickle
import signal
import sys
import threading
import warnings

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.layers import BatchNormalization, Dense
from kerascope.models import Sequential, load_model
from kerascope.optimizers import SGD
from kerascope.stage import observing

ENOUGH = 60  # seconds; only a deadlock takes so long


@pytest.fixture(autouse=True)
def turns():
    """Let threads take turns as often as can be."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def together(*works):
    """Run functions in threads, all at the same time; raise what one raises."""
    errors, start = [], threading.Barrier(len(works))

    def run(work):
        try:
            start.wait(ENOUGH)
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(ENOUGH)
    assert not any(thread.is_alive() for thread in threads), "they wait for each other"
    if errors:
        raise errors[0]


def small(optimizer="adam"):
    K.clear_session()
    np.random.seed(0)
    model = Sequential([Dense(4, activation="relu", input_shape=(3,)), Dense(1)])
    model.compile(optimizer, "mse")
    return model


def no_loss(y, p):
    return p * 0.0


X, Y = np.ones((4, 3), "f4"), np.zeros((4, 1), "f4")


def quietly(stage, event):
    """Watch without looking: everything is stepped."""


def steps_of(model, number):
    def work():
        for _ in range(number):
            model.train_on_batch(X, Y)

    return work


def test_two_threads_train_one_model_and_no_step_is_lost():
    model, twin = small(), small()
    together(steps_of(model, 100), steps_of(model, 100))
    steps_of(twin, 200)()
    assert int(K.get_value(model.optimizer.iterations)) == 200
    for one, other in zip(model.get_weights(), twin.get_weights(), strict=True):
        assert one.tobytes() == other.tobytes()
    slots = zip(model.optimizer.get_weights(), twin.optimizer.get_weights(), strict=True)
    assert all(one.tobytes() == other.tobytes() for one, other in slots)


def test_two_functions_that_share_variables_lose_nothing():
    shared, a, b = K.variable(np.zeros(50)), K.variable(0.0), K.variable(np.zeros(3))
    up = K.function([], [K.sum(shared)], [(shared, shared + 1), (a, a + 1)])
    down = K.function([], [K.sum(shared)], [(shared, shared - 1), (b, b + 1)])

    def work(function):
        return lambda: [function([]) for _ in range(150)]

    together(work(up), work(up), work(down))
    assert shared.get_value().tolist() == [150.0] * 50
    assert (float(a.get_value()), b.get_value().tolist()) == (300.0, [150.0] * 3)


def counter(size=300_000):
    """Return variables that always have the same number in all places, and what adds 1 to it."""
    large, row = K.variable(np.zeros(size)), K.variable(np.zeros(3))
    with K.name_scope("update/large"):
        new = large + 1.0
    count = K.function([], [], [(large, new), (row, row + 1)])
    for _ in range(3):
        count([])
    return large, row, count


@pytest.mark.parametrize("asked", ["predict", "first calls", "stepped", "K.batch_get_value"])
def test_who_reads_beside_training_sees_whole_steps(asked):
    large, row, count = counter()
    x = K.placeholder((None,))
    make = lambda: K.function([x], [K.min(large), K.max(large), K.max(row) + 0 * K.sum(x)])  # noqa: E731
    function = make()
    for _ in range(3):
        function([np.ones(3)])
    done, seen = threading.Event(), []

    def read():
        if asked == "K.batch_get_value":
            values = K.batch_get_value([large, row])
            return values[0].min(), values[0].max(), values[1].max()
        if asked == "stepped":
            with observing(quietly):
                return function([np.ones(3)])
        return (make() if asked == "first calls" else function)([np.ones(3)])

    def training():
        while len(seen) < 60:
            count([])
        done.set()

    def reading():
        while not done.is_set():
            seen.append([float(number) for number in read()])

    together(training, reading)
    assert all(first == second == third for first, second, third in seen)
    numbers = [first for first, *_ in seen]
    assert numbers == sorted(numbers)


def test_predict_does_not_wait_for_a_step_that_takes_long():
    entered, go_on = threading.Event(), threading.Event()

    class Long(Op):
        is_pure = False

        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            entered.set()
            assert go_on.wait(ENOUGH)
            return x + 1

    v = K.variable(np.zeros(3))
    train = K.function([], [], [(v, Long()(v))])
    predict = K.function([], [v * 2])
    go_on.set()
    for _ in range(3):
        train([])
        predict([])
    entered.clear()
    go_on.clear()
    seen = []

    def ask():
        assert entered.wait(ENOUGH)
        seen.append(predict([])[0].tolist())
        go_on.set()

    together(lambda: train([]), ask)
    assert seen == [[6.0] * 3]
    assert v.get_value().tolist() == [4.0] * 3


def test_setting_weights_waits_for_the_step_that_another_thread_is_in():
    model, twin = small("sgd"), small("sgd")
    weights = model.get_weights()
    steps_of(model, 3)()
    together(steps_of(model, 50), lambda: model.set_weights(weights))
    # Some number of whole steps lies between those weights and these.
    states = [twin.get_weights()]
    for _ in range(53):
        twin.train_on_batch(X, Y)
        states.append(twin.get_weights())
    came = [array.tobytes() for array in model.get_weights()]
    assert came in [[array.tobytes() for array in state] for state in states]


def test_a_step_that_is_walked_holds_nobody_up_and_is_written_as_a_whole():
    model, twin = small(), small()
    for each in (model, twin):
        steps_of(each, 3)()
    one_more = iter(model.train_function.stage(inputs_of(model)))
    next(one_more)  # the walk is paused in the middle
    together(steps_of(model, 5))
    assert int(K.get_value(model.optimizer.iterations)) == 8
    for _ in one_more:
        pass
    twin.train_on_batch(X, Y)  # of two steps that overlap, the one that was written last counts
    assert int(K.get_value(model.optimizer.iterations)) == 4
    for one, other in zip(model.get_weights(), twin.get_weights(), strict=True):
        assert one.tobytes() == other.tobytes()


def test_a_walk_that_is_left_half_way_holds_nobody_up():
    model = small()
    steps_of(model, 3)()
    walk = iter(model.train_function.stage(inputs_of(model)))
    next(walk)
    del walk
    together(steps_of(model, 2), steps_of(model, 2))
    assert int(K.get_value(model.optimizer.iterations)) == 7


def inputs_of(model):
    inputs = model.train_function.inputs
    return [X, Y, np.ones(4, "f4")][: len(inputs)]


def test_a_step_that_fails_holds_nobody_up():
    v, places = K.variable(np.zeros(3)), K.placeholder((None,), dtype="int32")
    picked = K.gather(K.variable(np.arange(3.0)), places)
    function = K.function([places], [picked], [(v, v + 1)])
    for _ in range(3):
        function([np.array([0])])

    def fail():
        for _ in range(5):
            with pytest.raises(Exception, match="gather"):
                function([np.array([9])])

    together(fail, fail, lambda: function([np.array([1])]))
    assert v.get_value().tolist() == [4.0] * 3


def test_an_op_may_train_and_predict_inside_of_a_step():
    inner = small()
    outer = K.variable(0.0)

    class Trains(Op):
        is_pure = False

        def infer_shape(self, x):
            return x.shape

        def perform(self, x):
            inner.train_on_batch(X, Y)
            inner.predict_on_batch(X)
            return x + 1

    function = K.function([], [], [(outer, Trains()(outer))])
    work = lambda: [function([]) for _ in range(20)]  # noqa: E731
    together(work, work, steps_of(inner, 20))
    assert float(outer.get_value()) == 40
    assert int(K.get_value(inner.optimizer.iterations)) == 60


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_trains_whatever_other_threads_were_doing():
    model = small()
    model.add(BatchNormalization())
    model.compile("adam", "mse")
    steps_of(model, 3)()
    predict = lambda: model.predict_on_batch(X)  # noqa: E731
    predict()
    done, codes = threading.Event(), []

    def training():
        while not done.is_set():
            model.train_on_batch(X, Y)

    def predicting():
        while not done.is_set():
            predict()

    def forking():
        try:
            for _ in range(5):
                codes.append(code_of_child(model))
        finally:
            done.set()

    together(training, predicting, forking)
    assert codes == [0] * 5


def code_of_child(model):
    """Fork; in the child train on, in two threads. Return its exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a fork beside threads: that is what is tested
        child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    code = 1
    try:
        signal.alarm(ENOUGH)  # a deadlock ends the child
        before = int(K.get_value(model.optimizer.iterations))
        together(steps_of(model, 3), steps_of(model, 3), lambda: model.predict_on_batch(X))
        code = 0 if int(K.get_value(model.optimizer.iterations)) == before + 6 else 2
    finally:
        os._exit(code)
    raise AssertionError


@pytest.mark.parametrize("ending", ["keras", "h5", "weights.h5", "pickle"])
def test_what_is_saved_while_another_thread_trains_belongs_to_one_step(ending, tmp_path):
    """Each step adds 1 to all weights and to the optimizer's count."""
    model = Sequential([Dense(50, input_shape=(40,), use_bias=False), Dense(50, use_bias=False)])
    model.compile(SGD(1.0), no_loss)
    model.set_weights([np.zeros(w.shape) for w in model.weights])
    for w in model.weights:
        model.add_update([(w, w + 1.0)])
    x, y = np.zeros((2, 40)), np.zeros((2, 50))
    model.train_on_batch(x, y)
    done = threading.Event()

    def train():
        while not done.is_set():
            model.train_on_batch(x, y)

    def saved(number):
        path = tmp_path / f"{number}.{ending}"
        if ending == "pickle":
            return pickle.loads(pickle.dumps(model))
        if ending == "weights.h5":
            model.save_weights(path)
            twin = Sequential.from_config(model.get_config())
            twin.load_weights(path)
            return twin
        model.save(path)
        return load_model(path, custom_objects={"no_loss": no_loss})

    def save():
        try:
            for number in range(10):
                twin = saved(number)
                counts = {float(n) for w in twin.get_weights() for n in (w.min(), w.max())}
                if ending != "weights.h5":
                    twin._make_train_function()
                    counts.add(float(twin.optimizer.get_weights()[0]))
                assert len(counts) == 1
        finally:
            done.set()

    together(train, save)
