"""Notes of what runs: the events that are made of them later are those that were made at once."""

import signal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerascope.foreign import TapeWriter, Value
from kerascope.foreign.notes import NOTE_BYTES, Notes
from kerascope.trace.snapshots import same


def value(array):
    return Value(id(array), array.shape, str(array.dtype), lambda: array)


def train(writer, batches, read=lambda: None):
    """Tell of a training with frames, gradients, updates and errors; return what has to live."""
    alive = []
    for number in range(batches):
        x = np.arange(4, dtype="float32") + number
        y, z, w = x * 2, x * np.nan, np.full(3, number, "float32")
        alive += [x, y, z, w]
        weights = {"weight": value(w)}
        line = ("train.py", 7 + number, "step")
        with writer.span("batch", f"batch {number}", batch_index=number, size=4) as told:
            with writer.span("function", "training step"), writer.span("forward", "net"):
                writer.call("x", [], [value(x)], op="Input", kind="input", line=line)
                with writer.span("node", "block", op="Block", line=line):
                    writer.call("block.fc", [value(x)], [value(y)], op="Linear", kind="dense",
                                settings={"bias": False}, parameters=weights)  # fmt: skip
                    writer.call("block.fc", [value(y)], [value(z)], op="Linear")
                read()
            writer.gradient("block.fc", y, line=line)
            writer.update("fc.weight", w, w + 1, y[:3], line=line)
            if number == 1:
                writer.failed(ValueError("no"))
            told["outs"] = (np.float32(number),)
        try:
            with writer.span("evaluate", "evaluate"), writer.span("node", "block", op="Block"):
                raise RuntimeError("stop")
        except RuntimeError:
            pass
    return alive


def assert_same(tape, other):
    assert len(tape) == len(other) > 0
    for one, two in zip(tape, other, strict=True):
        assert all(map(same, one, two)), (one, two)


@pytest.mark.parametrize("history", [None, 2**28, 2**16])
@pytest.mark.parametrize("arrays", ["statistics", "all"])
def test_events_that_waited_are_those_that_were_told_at_once(arrays, history):
    waited, at_once, heard = TapeWriter(arrays, history), TapeWriter(arrays, history), []
    at_once.listen(heard.append)
    with waited, at_once:
        alive = train(waited, 40), train(at_once, 40)
    assert alive
    assert len(heard) == len(at_once.tape)
    assert_same(waited.tape, at_once.tape)
    assert waited.tape.held == at_once.tape.held
    assert same(waited.tape.names_at(len(heard) - 1), at_once.tape.names_at(len(heard) - 1))


@given(st.lists(st.booleans(), min_size=6, max_size=6))
def test_a_tape_that_is_read_in_between_is_the_same(reads):
    read, unread, turns = TapeWriter(), TapeWriter(), iter(reads)
    lengths = []
    with read, unread:
        alive = train(read, 6, lambda: next(turns) and lengths.append(len(read.tape)))
        alive += train(unread, 6)
    assert lengths == sorted(lengths)
    assert_same(read.tape, unread.tape)


def test_who_listens_hears_what_comes_from_then_on_when_it_happens():
    writer, heard, x = TapeWriter(), [], np.ones(2, "float32")
    with writer.span("forward", "before"):
        writer.call("x", [], [value(x)], op="Input", kind="input")
    writer.listen(lambda event: heard.append(event.name))
    assert heard == []
    y = x + 1
    writer.call("act", [value(x)], [value(y)], op="ReLU")
    assert heard == ["act", "act"]
    assert [event.name for event in writer.tape] == ["before", "x", "x", "before", "act", "act"]


def test_figures_are_those_of_the_moment_of_the_call():
    writer, x = TapeWriter(), np.ones(3, "float32")
    writer.call("x", [], [value(x)], op="Input", kind="input")
    x[:] = np.nan
    result = writer.tape.names_at(1)["result"]
    assert (result.nans, result.max) == (0, 1.0)


def test_a_limited_tape_lets_no_more_notes_wait_than_it_may_hold():
    notes = Notes(history=64 * NOTE_BYTES, may_wait=True)
    for number in range(200):
        notes.begin("batch", f"batch {number}", None, {})
        notes.end({})
        assert len(notes) <= 32
    assert len(notes) == 32
    assert [event.name for event in notes.tape][-1] == "batch 199"
    assert len(notes) == 0


def test_arrays_that_a_tape_has_to_count_do_not_wait():
    notes = Notes(history=None, may_wait=False)
    notes.begin("forward", "pass", None, {})
    assert len(notes) == 0


class Pressing(str):
    """The name of a function; Ctrl-C is pressed when it is looked at first."""

    __slots__ = ()
    pressed = 0

    def __hash__(self):
        Pressing.pressed += 1
        if Pressing.pressed == 1:
            signal.raise_signal(signal.SIGINT)
        return str.__hash__(self)

    __eq__ = str.__eq__


@pytest.fixture
def ctrl_c_raises():
    """Let Ctrl-C raise, as Python does by itself, whatever this process made of it before."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("ctrl_c_raises")
def test_ctrl_c_while_a_tape_is_read_leaves_it_whole():
    Pressing.pressed = 0
    tapes = []
    for name in (Pressing("step"), "step"):
        notes = Notes(history=None, may_wait=True)
        notes.begin("forward", "pass", ("train.py", 3, name), {})
        notes.instant("event", "seen", None, {})
        notes.end({})
        notes.close()
        tapes.append(notes.tape)
    with pytest.raises(KeyboardInterrupt):
        len(tapes[0])
    assert_same(*tapes)
