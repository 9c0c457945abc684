"""The handler of a signal uses the very model that it interrupts: all stays whole, and goes on."""

import os

import numpy as np
import pytest
from interrupts import WRITING, Interrupt, interrupted, moments_of

from kerascope import backend as K

# Where something is bound or written; the whole plan of a program is made without any of it.
WHERE = (*WRITING, *(f"backend{os.sep}program{os.sep}{n}.py" for n in ("program", "new_values")))
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
        "predict": (lambda: shared.read([]), lambda n: n),
        "explain": (lambda: shared.one.explain(), lambda n: n),
    }


@pytest.mark.parametrize(
    "name",
    ["borrow", "commit", "set", "train", *map(slow, ("explain", "predict", "train the other"))],
)
def test_a_handler_that_uses_what_is_being_set_leaves_it_whole(name):
    shared = Shared()
    does, changes = handlers_of(shared)[name]
    shared.start()
    n = moments_of(shared.set, where=WHERE)
    for moment in range(1, n + 1):
        shared.start()
        at = interrupted(shared.set, moment, where=WHERE, does=does)
        assert at is not None
        assert shared.number() in (1000, changes(1000)), f"torn at {at}"
        assert all((x == kept).all() for x, kept in zip(shared.lent, shared.kept, strict=False))
        shared.goes_on()


@pytest.mark.parametrize("name", ["borrow", "explain", slow("predict")])
def test_a_handler_that_looks_at_what_is_being_trained_leaves_it_whole(name):
    shared = Shared()
    does, _ = handlers_of(shared)[name]
    step = lambda: shared.one([])  # noqa: E731
    shared.start()
    n = moments_of(step, where=WHERE)
    for moment in range(1, n + 1):
        shared.start()
        at = interrupted(step, moment, where=WHERE, does=does)
        assert shared.number() == 1, f"torn at {at}"
        assert all((x == kept).all() for x, kept in zip(shared.lent, shared.kept, strict=False))
        shared.goes_on()


@pytest.mark.parametrize("name", ["commit", "set", "train", slow("train the other")])
def test_a_handler_that_writes_what_is_being_trained_leaves_it_whole(name):
    shared = Shared()
    does, changes = handlers_of(shared)[name]
    step = lambda: shared.one([])  # noqa: E731
    shared.start()
    n = moments_of(step, where=WHERE)
    for moment in range(1, n + 1):
        shared.start()
        at = interrupted(step, moment, where=WHERE, does=does)
        assert shared.number() in (1, changes(0) + 1, changes(1)), f"torn at {at}"
        shared.goes_on()


@pytest.mark.parametrize(
    "name", ["set", "train", "commit", *map(slow, ("borrow", "train the other"))]
)
def test_a_handler_that_writes_what_is_being_lent_leaves_the_lent_array_alone(name):
    shared = Shared()
    does, changes = handlers_of(shared)[name]
    n = moments_of(lambda: (shared.set(0), shared.borrow()), where=WHERE)
    for moment in range(1, n + 1):
        shared.start()
        shared.lent.clear()
        at = interrupted(shared.borrow, moment, where=WHERE, does=does)
        if at is None:
            break
        kept = [array.copy() for array in shared.lent]
        assert shared.number() == changes(0), f"torn at {at}"
        shared.goes_on()
        assert all((x == y).all() for x, y in zip(shared.lent, kept, strict=True)), at


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
    monkeypatch.setattr(type(program._code.writing), "_way_home", settle)
    shared.one([])
