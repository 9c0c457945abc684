"""Interrupts at chosen moments, and what a model's state must be after one.

Python hears of Ctrl-C, of other signals and of exceptions from other threads at certain moments
only: when a function begins, when a call is done, and when a loop goes back. `Moments` counts these
in the code that computes and writes, and raises an error at one of them, or calls something; so a
test can go through all, one after the other, and needs no luck.

What is raised while an object dies (below a `__del__`) Python swallows: such moments are not
counted. And nothing dies of a garbage collection meanwhile: where that begins is luck.
"""

import dis
import gc
import os
import sys
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import numpy as np
import pytest

import kerascope

ROOT = str(Path(kerascope.__file__).parent) + os.sep
# The files in which what was computed is written.
WRITING = tuple(f"backend{os.sep}{name}.py" for name in ("atomic", "variables", "state"))
HEARD_AFTER = ("CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD", "RESUME")


class Interrupt(BaseException):
    """Like KeyboardInterrupt, but nobody else's."""


class Late(Exception):
    """What the handler of an alarm may raise: an ordinary exception."""


@cache
def heard_after(code: CodeType) -> frozenset[int]:
    """Return after which instructions Python hears of an interrupt."""
    all_of_it = dis.get_instructions(code)
    return frozenset(i.offset for i in all_of_it if i.opname.startswith(HEARD_AFTER))


@cache
def handlers(code: CodeType) -> list[tuple[int, int, int]]:
    """Return from where to where which handler of exceptions counts."""
    table = dis._parse_exception_table(code)
    return [(entry.start, entry.end, entry.target) for entry in table]


def handler_at(code: CodeType, offset: int) -> int | None:
    return next((target for a, b, target in handlers(code) if a <= offset < b), None)


def is_of_one_that_dies(frame: FrameType | None) -> bool:
    """Tell whether a frame is that of a `__del__`, or lies below one."""
    while frame is not None and not frame.f_trace_opcodes:  # of those it has been asked
        if frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


class Moments:
    """Counts the moments at which a thread may be interrupted, and raises at one of them.

    Parameters
    ----------
    wanted : int, optional
        At which moment, from 1; by default at none.
    error : exception
    where : tuple of str
        Only in code of these files of kerascope; programs are files too.
    also : tuple of str
        Files of others.
    does : callable, optional
        What is called at the moment, in place of raising: a handler may do anything, and return.
    """

    def __init__(self, wanted=None, error=Interrupt, where=("backend",), does=None, also=()):
        self.wanted, self.error, self.does = wanted, error, does
        ours = [Path(ROOT, part) for part in where]
        assert all(path.exists() for path in ours), f"one of these has moved: {where}"
        self.where = (*map(str, ours), "<kerascope", *also)
        self.count = 0
        self.at = None

    def __enter__(self):
        if sys.version_info >= (3, 12):
            pytest.skip("from Python 3.12 on, a tracer is not told of every instruction")
        self._outside, self._collects = sys.gettrace(), gc.isenabled()
        gc.disable()
        sys.settrace(self._begin)
        return self

    def __exit__(self, kind, error, trace):
        sys.settrace(self._outside)
        if self._collects:
            gc.enable()
        has_arrived = self.at is not None and kind is self.error
        is_heard = kind is not None or self.at is None or self.does is not None
        assert is_heard, f"what was raised at {self.at} was swallowed"
        return has_arrived

    def _begin(self, frame: FrameType, event: str, arg: object):
        code = frame.f_code
        if not code.co_filename.startswith(self.where) or is_of_one_that_dies(frame):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        is_heard_after, last = heard_after(code), 0

        def hear(frame: FrameType, event: str, arg: object):
            nonlocal last
            if event == "opcode":
                before, last = last, frame.f_lasti
                # An interrupt belongs to the call after which it is heard. Here it is raised in
                # the next instruction: the same, as long as the same handler waits for both.
                if before in is_heard_after and handler_at(code, before) == handler_at(code, last):
                    self._arrive(frame)
            return hear

        return hear

    def _arrive(self, frame: FrameType) -> None:
        self.count += 1
        if self.count == self.wanted:
            self.at = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            if self.does is None:
                raise self.error
            self.does()  # Python traces nothing of it


def moments_of(action, **options):
    """Return how many moments an action has at which it may be interrupted."""
    with Moments(**options) as moments:
        action()
    return moments.count


def interrupted(action, moment, error=Interrupt, **options):
    """Interrupt an action at a moment; return where, or None if the moment never came."""
    with Moments(moment, error, **options) as moments:
        action()
    return moments.at


def written_by(model):
    """Return all variables of a model's training: weights, slots, statistics, draws, metrics."""
    if model.train_function is None:
        model._make_train_function()
    written = [update.variable for update in model.train_function.updates]
    return list(dict.fromkeys([*model.weights, *written]))


def state_of(variables):
    """Return the numbers of variables, bit for bit."""
    return [np.array(v.get_value()).tobytes() for v in variables]


def spread(n, last, others):
    """Return the last moments of n, among them those of writing, and some of the others."""
    return sorted({*range(max(n - last, 1), n + 1), *range(1, n, max(n // others, 1))})
