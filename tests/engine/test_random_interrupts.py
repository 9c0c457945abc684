"""Real interrupts at moments drawn by lot: signals, exceptions of another thread, and two at once.

Half of them are aimed: the alarm is set when the writing begins. The states of an undisturbed run
are the only ones that may be seen.
"""

import ctypes
import random
import signal
import sys
import threading
import time

import numpy as np
import pytest
from interrupts import Interrupt, state_of, written_by

from kerascope import backend as K
from kerascope.backend.atomic import LOCKS
from kerascope.layers import LSTM, BatchNormalization, Dense, Dropout
from kerascope.models import Sequential
from kerascope.stage import observing
from kerascope.trace.recorder import Recorder

STEPS = 12  # of an undisturbed run; then it begins again
ROADS = ("train_on_batch", "fit", "recorded fit", "load_weights")
HAS_ALARM = hasattr(signal, "setitimer")


def small():
    model = Sequential([Dense(4, activation="relu", input_shape=(5,)), BatchNormalization()])
    for _ in range(4):
        model.add(Dense(4))
        model.add(BatchNormalization())
        model.add(Dropout(0.2, seed=1))
    model.add(Dense(1))
    model.compile("adam", "mse")
    return model, np.ones((4, 5), "f4"), np.zeros((4, 1), "f4")


def large():
    model = Sequential([Dense(400, input_shape=(300,)), Dense(1)])
    model.compile("adam", "mse")
    return model, np.full((2, 300), 1e-3, "f4"), np.zeros((2, 1), "f4")


def stateful():
    model = Sequential([LSTM(3, stateful=True, batch_input_shape=(2, 4, 3)), BatchNormalization()])
    model.add(Dense(1))
    model.compile("adam", "mse")
    return model, np.ones((2, 4, 3), "f4"), np.zeros((2, 1), "f4")


MODELS = {"small": small, "large": large, "stateful": stateful}


class Run:
    """A model, and the states through which it goes when nothing disturbs it."""

    def __init__(self, kind, road, folder):
        K.clear_session()
        np.random.seed(0)
        self.road = road
        self.model, self.x, self.y = MODELS[kind]()
        for _ in range(3):
            self.model.train_on_batch(self.x, self.y)
        self.variables = written_by(self.model)
        self.path = str(folder / f"{kind}.weights.h5")
        self.model.save_weights(self.path)
        self.loaded = state_of(self.model.weights)
        self.first = K.batch_get_value(self.variables)
        self.others = [array + 1 for array in self.model.get_weights()]
        self.states = [state_of(self.variables)]
        for _ in range(STEPS):
            self.model.train_on_batch(self.x, self.y)
            self.states.append(state_of(self.variables))

    def start(self):
        """Begin anew; return the states that may be seen from now on."""
        K.batch_set_value(zip(self.variables, self.first, strict=True))
        if self.road != "load_weights":
            return self.states
        self.model.set_weights(self.others)
        other = state_of(self.variables)
        K.batch_set_value(zip(self.variables, self.first, strict=True))
        whole = state_of(self.variables)
        self.model.set_weights(self.others)
        return [other, whole]

    def go(self):
        if self.road == "train_on_batch":
            for _ in range(STEPS):
                self.model.train_on_batch(self.x, self.y)
        elif self.road == "load_weights":
            self.model.load_weights(self.path)
        else:
            x = np.concatenate([self.x] * STEPS)
            y = np.concatenate([self.y] * STEPS)
            fit = {"batch_size": len(self.x), "epochs": 1, "shuffle": False, "verbose": 0}
            if self.road == "fit":
                self.model.fit(x, y, **fit)
            else:
                with observing(Recorder()):
                    self.model.fit(x, y, **fit)


class Lot:
    """Raises in this thread, after a time drawn by lot."""

    def __init__(self, rng, monkeypatch):
        self.rng = rng
        self.delay = None  # after the writing has begun
        self.by_thread = False
        self.left = 0  # signals that still have to come
        self.twice = False
        self.own = threading.get_ident()
        note = LOCKS.note

        def aimed(*which):
            note(*which)
            if self.delay is not None:
                delay, self.delay = self.delay, None
                self.shoot(delay)

        monkeypatch.setattr(LOCKS, "note", aimed)
        if HAS_ALARM:
            self.before = signal.signal(signal.SIGALRM, self.heard)

    def heard(self, number, frame):
        if self.left > 1:
            signal.setitimer(signal.ITIMER_REAL, 1e-4)
        if self.left > 0:
            self.left -= 1
            raise Interrupt

    def shoot(self, delay):
        if HAS_ALARM and not self.by_thread:
            self.left = 1 + self.twice
            signal.setitimer(signal.ITIMER_REAL, delay)
        else:
            threading.Thread(target=self.shoot_from_thread, args=(delay,)).start()

    def shoot_from_thread(self, delay):
        time.sleep(delay)
        for _ in range(1 + self.twice):
            error = ctypes.py_object(Interrupt)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.own), error)
            time.sleep(1e-4)

    def cease(self):
        """Let no further one come; those that are under way are heard here."""
        self.delay = None
        while True:
            try:
                self.left = 0
                if HAS_ALARM:
                    signal.setitimer(signal.ITIMER_REAL, 0)
                while threading.active_count() > self.threads:
                    time.sleep(1e-4)
                for _ in range(100):
                    time.sleep(0)
                return
            except Interrupt:
                continue

    def interrupt(self, run, took):
        """Run until an interrupt comes, or to the end; return whether one came."""
        self.threads = threading.active_count()
        self.by_thread = self.rng.random() < 0.25
        self.twice = self.rng.random() < 0.2
        caught = None
        try:
            try:
                if self.rng.random() < 0.5:
                    time.sleep(0)
                    self.delay = self.rng.random() * 3e-4
                else:
                    self.shoot(self.rng.random() * took)
                run.go()
            finally:
                self.delay = None
        except BaseException as error:
            caught = error
        try:
            self.cease()
        except Interrupt:  # the second one
            self.cease()
        # A recorder, or h5py, may fail at what the interrupt has left of its own work.
        if caught is not None and not is_or_follows(caught, Interrupt):
            raise caught
        return caught is not None


def is_or_follows(error, kind):
    """Tell whether an error is of a kind, or came while one of that kind was handled."""
    while error is not None and not isinstance(error, kind):
        error = error.__cause__ or error.__context__
    return error is not None


@pytest.mark.parametrize(
    ("seed", "number"),
    [(0, 2), *(pytest.param(seed, 42, marks=pytest.mark.slow) for seed in range(1, 5))],
)
@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("kind", sorted(MODELS))
def test_no_interrupt_leaves_a_state_that_no_whole_step_has(
    kind, road, seed, number, tmp_path, monkeypatch
):
    # One that comes in a `__del__` or a callback of the collector is swallowed by Python itself.
    monkeypatch.setattr(sys, "unraisablehook", lambda told: None)
    run = Run(kind, road, tmp_path)
    run.start()
    began = time.perf_counter()
    run.go()
    took = time.perf_counter() - began
    lot = Lot(random.Random(f"{kind} {road} {seed}"), monkeypatch)
    came = 0
    try:
        for _ in range(3 * number):
            allowed = run.start()
            came += lot.interrupt(run, took)
            state = state_of(run.variables)
            assert state in allowed, "torn"
            if came == number:
                break
    finally:
        lot.cease()
        if HAS_ALARM:
            signal.signal(signal.SIGALRM, lot.before)
    assert came >= number // 2
    # Nothing else was hurt: it goes on as if nothing had been.
    K.batch_set_value(zip(run.variables, run.first, strict=True))
    for expected in run.states[1:]:
        run.model.train_on_batch(run.x, run.y)
        assert state_of(run.variables) == expected
