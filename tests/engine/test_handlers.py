"""The handler of a signal uses the very model that it interrupts: all stays whole, and goes on.

A handler may raise, note something, read and save, at any moment of a step. What a handler itself
sets or trains in the middle of a step is not ordered with that step.
"""

import itertools
import os
import signal

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
from kerascope.backend.graph import Op
from kerascope.backend.program.program import Program
from kerascope.layers import BatchNormalization, Dense
from kerascope.models import Sequential, clone_model, load_model

# Where something is bound or written; the whole plan of a program is made without any of it.
WHERE = (*WRITING, *(f"backend{os.sep}program{os.sep}{n}.py" for n in ("program", "commit")))
SHAPES = [(3,), (2, 2), (), (3,), (5,)]


def slow(name):
    return pytest.param(name, marks=pytest.mark.slow)


class Shared:
    """Variables that always hold one number all of them, and two functions that write all."""

    def __init__(self):
        K.clear_session()
        self.variables = [K.variable(np.zeros(shape)) for shape in SHAPES]
        self.one, self.ten = (
            K.function([], [], [(v, v + n) for v in self.variables], name=f"add_{n}")
            for n in (1, 10)
        )
        self.read = K.function([], [v + 0 for v in self.variables])
        self.lent = []
        for _ in range(3):
            self.one([])
            self.ten([])
            self.read([])

    def start(self):
        """Begin at 0, with every second variable lent."""
        for v in self.variables:
            v.set_value(np.zeros(v.shape))
        self.lent.clear()
        self.borrow(self.variables[::2])
        self.kept = [array.copy() for array in self.lent]

    def borrow(self, variables=None):
        self.lent += [v.get_value(borrow=True) for v in variables or self.variables]

    def set(self, number=1000):
        K.batch_set_value([(v, np.full(v.shape, number)) for v in self.variables])

    def commit(self):
        """Give the variables other arrays, as a call does that is stepped."""
        K.function([], [], [(v, v * 0 + 500) for v in self.variables])([])

    def number(self):
        """Return the number that all hold."""
        (number,) = {float(x) for v in self.variables for x in v.get_value().flat}
        return number

    def predict(self):
        """Look at all variables, which hold one number."""
        (self.seen,) = {float(x) for values in self.read([]) for x in values.flat}

    def goes_on(self):
        """Ask of each function whether it still counts."""
        for function, step in ((self.one, 1), (self.ten, 10), (self.one, 1)):
            before = self.number()
            function([])
            assert self.number() == before + step
            assert {float(np.max(x)) for x in self.read([])} == {before + step}


def handlers_of(shared):
    """Return what a handler does, and what it makes of the number."""
    return {
        "borrow": (shared.borrow, lambda n: n),
        "set": (lambda: shared.set(2000), lambda n: 2000),
        "train": (lambda: shared.one([]), lambda n: n + 1),
        "train the other": (lambda: shared.ten([]), lambda n: n + 10),
        "commit": (shared.commit, lambda n: 500),
        "predict": (shared.predict, lambda n: n),
        "explain": (lambda: shared.one.explain(), lambda n: n),
    }


READS = ["borrow", "predict", slow("explain")]
EACH = pytest.mark.parametrize("stride", [17, slow(1)])  # at some moments, or at each


def places_of(shared, step, does, stride):
    """Let a handler do something at the moments of a step; yield where that was."""
    for moment in itertools.count(1, stride):
        shared.start()
        at = interrupted(step, moment, where=WHERE, does=does)
        if at is None:
            break
        yield at
        shared.goes_on()
    assert moment > 20


@pytest.mark.parametrize("name", READS)
@EACH
def test_a_handler_that_reads_what_is_being_set_leaves_it_whole(name, stride):
    shared = Shared()
    does, _ = handlers_of(shared)[name]
    for at in places_of(shared, shared.set, does, stride):
        assert shared.number() == 1000, f"torn at {at}"
        assert all((x == kept).all() for x, kept in zip(shared.lent, shared.kept, strict=False))


@pytest.mark.parametrize("name", READS)
@EACH
def test_a_handler_that_looks_at_what_is_being_trained_leaves_it_whole(name, stride):
    shared = Shared()
    does, _ = handlers_of(shared)[name]
    for at in places_of(shared, lambda: shared.one([]), does, stride):
        assert shared.number() == 1, f"torn at {at}"
        assert all((x == kept).all() for x, kept in zip(shared.lent, shared.kept, strict=False))


def test_a_handler_may_borrow_at_any_moment_at_which_a_program_begins():
    shared = Shared()
    where = (f"backend{os.sep}program{os.sep}program.py",)
    for moment in itertools.count(1):
        shared.start()
        at = interrupted(lambda: shared.one([]), moment, where=where, does=shared.borrow)
        if at is None:
            break
        assert shared.number() == 1, f"torn at {at}"
        assert all((x == kept).all() for x, kept in zip(shared.lent, shared.kept, strict=False))
    assert moment > 5


@pytest.mark.parametrize(
    "name", ["set", "train", "commit", *map(slow, ("borrow", "train the other"))]
)
@EACH
def test_a_handler_that_writes_what_is_being_lent_leaves_the_lent_array_alone(name, stride):
    shared = Shared()
    does, changes = handlers_of(shared)[name]
    lent = []

    def borrow():
        lent[:] = []
        for v in shared.variables:
            lent.append(v.get_value(borrow=True))

    for at in places_of(shared, borrow, does, stride):
        kept = [array.copy() for array in lent]
        assert shared.number() == changes(0), f"torn at {at}"
        shared.goes_on()
        assert all((x == y).all() for x, y in zip(lent, kept, strict=True)), at


def test_who_explains_a_function_does_not_make_it_look_for_its_variables_at_each_call(monkeypatch):
    shared = Shared()
    shared.one([])
    shared.one([])
    shared.one.explain()
    shared.one([])
    program = shared.one.programs[-1]

    def settle(self):
        raise Interrupt

    monkeypatch.setattr(type(program), "_settle", settle)
    shared.one([])


def grouped():
    """Return a model whose many weights are updated together, in place."""
    K.clear_session()
    np.random.seed(0)
    model = Sequential([Dense(4, activation="relu", input_shape=(5,)), BatchNormalization()])
    for _ in range(2):
        model.add(Dense(4))
    model.add(Dense(1))
    model.compile("adam", "mse")
    return model, np.ones((4, 5), "f4"), np.zeros((4, 1), "f4")


@pytest.mark.parametrize("road", ["program", "first call", slow("second call")])
@pytest.mark.parametrize("what", ["save_weights", "save", slow("get_weights")])
def test_what_a_handler_saves_in_a_step_is_of_one_whole_step(what, road, tmp_path):
    model, x, y = grouped()
    variables = written_by(model)
    programs = None

    def step():
        model.train_on_batch(x, y)

    def bits_of(weights):
        return [array.tobytes() for array in weights]

    def begin():
        if road != "program":
            programs.__setstate__(programs.__getstate__())
        if road == "second call":
            step()
        K.batch_set_value(zip(variables, first, strict=True))

    def save():
        if what == "get_weights":
            saved.append(model.get_weights())
            return
        path = str(tmp_path / ("some.weights.h5" if what == "save_weights" else "some.keras"))
        getattr(model, what)(path)
        if what == "save":
            saved.append(load_model(path).get_weights())
        else:
            other.load_weights(path)
            saved.append(other.get_weights())

    for _ in range(3):
        step()
    first, saved, other = K.batch_get_value(variables), [], clone_model(model)
    programs = model.train_function._programs
    begin()
    before = bits_of(model.get_weights())
    step()
    after, all_after = bits_of(model.get_weights()), state_of(variables)
    begin()
    n = moments_of(step)
    for moment in spread(n, last=6, others=6):
        begin()
        at = interrupted(step, moment, does=save)
        assert state_of(variables) == all_after, f"mixed at {at}"
        assert bits_of(saved.pop()) in (before, after), f"saved half a step at {at}"


# --- errors that come from outside ----------------------------------------------------------------


def test_an_alarm_is_heard_at_once_and_no_second_step_is_tried(monkeypatch):
    shared = Shared()
    step = lambda: shared.one([])  # noqa: E731
    step()
    step()
    n = moments_of(step)
    program = shared.one.programs[-1]
    calls, run = [], Program.__call__
    monkeypatch.setattr(Program, "__call__", lambda self, x: (calls.append(1), run(self, x))[1])
    for moment in range(1, n + 1):
        before = shared.number()
        calls.clear()
        at = interrupted(step, moment, Late)
        assert at is not None
        assert len(calls) <= 1, f"tried again after {at}"
        assert shared.number() in (before, before + 1)
    assert shared.one.programs == [program]


class Does(Op):
    """Somebody's op, which does something before it returns its input."""

    name = "does"
    is_pure = False

    def __init__(self, does):
        object.__setattr__(self, "does", does)

    def infer_shape(self, x):
        return x.shape

    def infer_dtype(self, x):
        return x.dtype

    def perform(self, x):
        self.does(x)
        return x + 0


@pytest.fixture
def handled():
    """Let the handler of a signal raise, each time that it comes."""
    heard = []

    def late(number, frame):
        heard.append(number)
        raise Late

    before = signal.signal(signal.SIGINT, late)
    yield heard
    signal.signal(signal.SIGINT, before)


def test_an_alarm_that_comes_again_and_again_is_no_fault_of_the_program(handled):
    rings = []
    does = Does(lambda x: signal.raise_signal(signal.SIGINT) if rings else None)
    x, v = K.placeholder((2,)), K.variable([0.0, 0.0])
    f = K.function([x], [does(x * 2)], [(v, v + 1)])
    for _ in range(3):
        f([np.ones(2)])
    (program,) = f.programs
    rings.append(1)
    with pytest.raises(Late):
        f([np.ones(2)])
    assert len(handled) == 1
    assert v.get_value().tolist() == [3, 3]
    assert f.programs == [program]
    rings.clear()
    f([np.ones(2)])
    assert v.get_value().tolist() == [4, 4]


def test_two_different_errors_of_one_call_prove_no_fault_of_the_program():
    errors = []

    def fail(x):
        if errors:
            raise errors.pop(0)

    x = K.placeholder((2,))
    f = K.function([x], [Does(fail)(x * 2)])
    for _ in range(3):
        f([np.ones(2)])
    (program,) = f.programs
    errors += [Late("first"), OSError("second")]
    with pytest.raises(Late, match="first"):
        f([np.ones(2)])
    assert f.programs == [program]


@pytest.mark.parametrize("name", READS)
def test_a_handler_that_reads_while_a_call_is_verified_is_no_fault_of_the_program(name):
    shared = Shared()
    shared.one = K.function([], [], [(v, v + 1) for v in shared.variables], verify=True)
    does, _ = handlers_of(shared)[name]
    step = lambda: shared.one([])  # noqa: E731
    step()
    step()
    shared.start()
    where = tuple(f"backend{os.sep}{part}" for part in ("schedule.py", "variables.py"))
    n = moments_of(step, where=where)
    for moment in spread(n, last=6, others=20):
        shared.start()
        at = interrupted(step, moment, where=where, does=does)
        assert shared.number() == 1, f"torn at {at}"
        shared.goes_on()


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("calls", [0, 1, 2, 5])
def test_what_an_op_refuses_is_told_with_its_place_however_often_it_was_called(calls, verify):
    def refuse(x):
        if x.sum() > 5:
            raise ValueError("too large")

    x, w = K.placeholder((2,)), K.variable([1.0, 1.0])
    f = K.function([x], [Does(refuse)(x * w)], [(w, w + 1)], verify=verify)
    for _ in range(calls):
        f([np.zeros(2)])
    for _ in range(2):
        with pytest.raises(ValueError, match="too large") as raised:
            f([np.full(2, 100)])
        assert "while computing 'does" in str(raised.value.__notes__)
    assert w.get_value().tolist() == [1 + calls] * 2


def test_a_program_that_cannot_be_written_anew_gives_way_to_its_steps(monkeypatch):
    x, w, b = K.placeholder((2,)), K.variable([1.0, 1.0]), K.variable([1.0, 1.0])
    f = K.function([x], [x * w + b], [(w, w + 1)])
    for _ in range(3):
        f([np.zeros(2)])

    (program,) = f.programs
    monkeypatch.setattr(program, "trial", None)
    b.commit(np.zeros(2, "f4"))
    with pytest.warns(RuntimeWarning, match="failed where its steps do not"):
        assert f([np.zeros(2)])[0].tolist() == [0, 0]
    assert w.get_value().tolist() == [5, 5]


def test_who_reads_while_the_handler_of_a_signal_sets_sees_all_of_one_step():
    a, b, x = K.variable(1.0), K.variable(1.0), K.placeholder(())
    rings = []
    does = Does(lambda x: K.batch_set_value([(a, 2.0), (b, 2.0)]) if rings else None)
    y = does(x * a)
    f = K.function([x], [y, y * 0 + b])
    for _ in range(3):
        assert f([1.0]) == [1, 1]
    rings.append(1)
    assert f([1.0]) == [2, 2]
