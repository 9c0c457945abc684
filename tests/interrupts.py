"""Interrupts at chosen moments, and what a model's state must be after one.

Python hears of Ctrl-C, of other signals and of exceptions from other threads at certain moments
only: when a function begins, when a call is done, and when a loop goes back. `Moments` counts these
in the code that computes and writes, and raises an error at one of them, or calls something; so a
test can go through all, one after the other, and needs no luck.
"""

import dis
import os
import sys
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

import numpy as np

import kerascope

ROOT = str(Path(kerascope.__file__).parent) + os.sep
# The files in which what was computed is written.
WRITING = tuple(f"backend{os.sep}{name}.py" for name in ("atomic", "graph", "state"))
HEARD_AFTER = ("CALL", "JUMP_BACKWARD", "POP_JUMP_BACKWARD", "RESUME")


class Interrupt(BaseException):
    """Like KeyboardInterrupt, but nobody else's."""


class Late(Exception):
    """What the handler of an alarm may raise: an ordinary exception."""


@cache
def opnames(code: CodeType) -> dict[int, str]:
    return {i.offset: i.opname for i in dis.get_instructions(code)}


@cache
def handlers(code: CodeType) -> list[tuple[int, int, int]]:
    """Return from where to where which handler of exceptions counts."""
    table = dis._parse_exception_table(code)
    return [(entry.start, entry.end, entry.target) for entry in table]


def handler_at(code: CodeType, offset: int) -> int | None:
    return next((target for a, b, target in handlers(code) if a <= offset < b), None)


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
        self._before = {}

    def __enter__(self):
        self._outside = sys.gettrace()
        sys.settrace(self._begin)
        return self

    def __exit__(self, kind, error, trace):
        sys.settrace(self._outside)
        self._before.clear()
        has_arrived = self.at is not None and kind is self.error
        is_heard = kind is not None or self.at is None or self.does is not None
        assert is_heard, f"what was raised at {self.at} was swallowed"
        return has_arrived

    def _begin(self, frame: FrameType, event: str, arg: object):
        if not frame.f_code.co_filename.startswith(self.where):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._hear

    def _hear(self, frame: FrameType, event: str, arg: object):
        if event == "return":
            self._before.pop(frame, None)
        if event == "opcode":
            code, offset = frame.f_code, frame.f_lasti
            before = self._before.get(frame, 0)
            self._before[frame] = offset
            # An interrupt belongs to the call after which it is heard. Here it is raised in the
            # next instruction: that is the same as long as the same handler waits for both.
            is_the_same = handler_at(code, before) == handler_at(code, offset)
            if is_the_same and opnames(code).get(before, "").startswith(HEARD_AFTER):
                self.count += 1
                if self.count == self.wanted:
                    self.at = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                    if self.does is None:
                        raise self.error
                    self.does()  # Python traces nothing of it
        return self._hear


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
