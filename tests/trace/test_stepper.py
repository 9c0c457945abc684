import bdb
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from span_trees import event, events_of, in_order, lives, trees

from kerascope.errors import ArgumentError
from kerascope.layers import Dense, Dropout
from kerascope.models import Sequential
from kerascope.stage import observing
from kerascope.trace import stepper as sources
from kerascope.trace.events import GRAINS
from kerascope.trace.recorder import Recorder
from kerascope.trace.stepper import RANKS, LiveDriver, Reason, Stepper, replay
from kerascope.trace.tape_store import Tape
from kerascope.utils.np_utils import set_random_seed

COMMANDS = {
    "s": Stepper.step,
    "s3": lambda stepper: stepper.step(3),
    "si": Stepper.stepi,
    "n": Stepper.next,
    "n2": lambda stepper: stepper.next(2),
    "r": Stepper.return_,
    "c": Stepper.continue_,
    "unt": Stepper.until,
    "rs": Stepper.step_back,
    "rn": Stepper.next_back,
    "rr": Stepper.return_back,
    "rc": Stepper.continue_back,
    "runt": Stepper.until_back,
    "goto 2": lambda stepper: stepper.goto(2),
    "goto 20": lambda stepper: stepper.goto(20),
}
grains = st.sampled_from(GRAINS)


def on(events, t=None, grain="detail"):
    stepper = Stepper(sources.Recording(Tape(events)), grain)
    if t is not None:
        stepper.goto(t)
    return stepper


def places(events):
    return st.integers(0, len(events) - 1)


def is_seen(event, grain):
    return RANKS[event.grain] <= RANKS[grain]


# --- one movement and its way back ----------------------------------------------------------------


@given(lives(), grains, st.data())
def test_a_step_back_undoes_a_step(events, grain, data):
    t = data.draw(places(events))
    stepper = on(events, t, grain)
    stop = stepper.step()
    later = [e.t for e in events[t + 1 :] if is_seen(e, grain)]
    assert stop.reason == (Reason.STEP if later else Reason.END)
    assert stop.t == (later[0] if later else events[-1].t)
    back = stepper.step_back()
    seen = [e.t for e in events[: t + 1] if is_seen(e, grain)]
    assert (back.t, back.reason) == ((seen[-1], "step") if seen else (-1, "begin of history"))
    assert back.t == t or not is_seen(events[t], grain)


COUNTED = [Stepper.step, Stepper.stepi, Stepper.next, Stepper.step_back, Stepper.next_back]


@given(lives(), grains, st.data(), st.integers(1, 5), st.sampled_from(COUNTED))
def test_a_verb_n_times_is_the_verb_with_n(events, grain, data, n, verb):
    t = data.draw(st.one_of(st.none(), places(events)))
    once, often = on(events, t, grain), on(events, t, grain)
    stop = verb(once, n)
    for _ in range(n):
        last = verb(often)
    assert stop == last
    assert once.event == often.event


@given(lives(), st.data())
def test_goto_twice_is_goto_once(events, data):
    t = data.draw(st.integers(0, len(events) + 3))
    stepper = on(events, data.draw(places(events)))
    first = stepper.goto(t)
    assert stepper.goto(t) == first
    assert first.t == min(t, len(events) - 1)
    assert first.reason == (Reason.GOTO if t < len(events) else Reason.END)


@given(lives(), st.data())
def test_next_back_undoes_a_next_from_a_begin(events, data):
    t = data.draw(places(events))
    stepper = on(events, t)
    if events[t].ph != "E" and stepper.next().reason == Reason.STEP:
        assert stepper.next_back().t == t


@given(lives(), st.data())
def test_the_begin_and_the_end_of_a_span_are_each_others_return(events, data):
    t = data.draw(places(events))
    stepper = on(events, t)
    if events[t].ph == "B":
        end = stepper.return_()
        assert (end.event.name, end.event.ph, end.word) == (events[t].name, "E", "--Return--")
        assert stepper.return_back().t == t


# --- depths and grains ----------------------------------------------------------------------------


@given(lives(), grains, st.data())
def test_next_enters_no_deeper_span_and_skips_no_sibling(events, grain, data):
    t = data.draw(places(events))
    here, stop = events[t], on(events, t, grain).next()
    end = stop.t if stop.reason == Reason.STEP else len(events)
    assert all(
        e.depth > here.depth or e.ph == "E" or not is_seen(e, grain) for e in events[t + 1 : end]
    )
    if stop.reason == Reason.STEP:
        assert stop.event.depth <= here.depth
        assert is_seen(stop.event, grain)
        assert stop.event.ph != "E" or stop.event.depth < here.depth


@given(lives(), grains, st.data())
def test_return_ends_at_the_end_of_the_span_around(events, grain, data):
    t = data.draw(places(events))
    if events[t].ph == "E":
        return
    stop = on(events, t, grain).return_()
    name = events[t].name if events[t].ph == "B" else events[t].name.rpartition(".")[0]
    assert (stop.event.name, stop.event.ph) == (name, "E") if name else stop.reason == Reason.END


@given(lives(), grains, st.data())
def test_return_back_goes_to_the_begin_of_the_span_around(events, grain, data):
    t = data.draw(places(events))
    stop = on(events, t, grain).return_back()
    name = events[t].name if events[t].ph == "E" else events[t].name.rpartition(".")[0]
    assert (stop.event.name, stop.event.ph) == (name, "B") if name else stop.reason == Reason.BEGIN


@given(lives(), grains)
def test_steps_stop_at_all_events_of_the_grain_and_at_no_other(events, grain):
    stepper, stopped = on(events, grain=grain), []
    while (stop := stepper.step()).reason != Reason.END:
        stopped.append(stop.t)
    assert stopped == [e.t for e in events if is_seen(e, grain)]
    back = []
    while (stop := stepper.step_back()).reason != Reason.BEGIN:
        back.append(stop.t)
    assert back == stopped[::-1]


def test_stepi_sees_details_and_leaves_the_grain_as_it_is():
    stepper = on(events_of([("node", ["detail", "op"])]), 0, "node")
    assert stepper.stepi().event.grain == "detail"
    assert stepper.grain == "node"
    assert stepper.step().event.ph == "E"


def test_words_are_those_of_pdb():
    stepper = on(events_of([("node", ["op"])]))
    assert [stepper.step().word for _ in range(3)] == ["--Call--", "", "--Return--"]


# --- continue and what stops it -------------------------------------------------------------------


@given(lives(), st.data())
def test_continue_without_breakpoints_reaches_the_end(events, data):
    stepper = on(events, data.draw(places(events)))
    stop = stepper.continue_()
    assert (stop.reason, stop.t) == (Reason.END, len(events) - 1)
    assert stepper.continue_() == stop
    back = stepper.continue_back()
    assert (back.reason, back.t, back.event) == (Reason.BEGIN, -1, None)
    assert stepper.continue_back() == back


SELECTORS = ["*", "*:ret", "op:*", "phase:forward", "event:m*:ret", "node*", "*, t % 3 == 0"]


@given(lives(), st.lists(st.sampled_from(SELECTORS), min_size=1, max_size=3))
def test_hits_backward_are_the_mirror_of_hits_forward(events, selectors):
    stepper = on(events)
    for selector in selectors:
        stepper.breakpoints.add(selector)
    there, back = [], []
    while (stop := stepper.continue_()).reason != Reason.END:
        there.append((stop.t, stop.reason, stop.breakpoint.number))
    while (stop := stepper.continue_back()).reason != Reason.BEGIN:
        back.append((stop.t, stop.reason, stop.breakpoint.number))
    assert back == there[::-1]


def test_a_breakpoint_stops_whatever_the_grain_and_the_verb():
    events = events_of([("node", [("op", ["detail"])]), "node"])
    for verb in (Stepper.next, Stepper.return_, Stepper.step, Stepper.continue_):
        stepper = on(events, 0, "node")
        stepper.breakpoints.add("event:mask")
        stop = verb(stepper)
        assert (stop.t, stop.reason, stop.breakpoint.number) == (2, Reason.BREAKPOINT, 1)


def test_an_interrupt_stops_at_the_next_event():
    stepper = on(events_of(["detail", "node"]))
    stepper.interrupt()
    assert (stop := stepper.continue_()).reason == Reason.INTERRUPT
    assert stop.t == 0
    assert stepper.continue_().reason == Reason.END


def test_a_stop_has_all_that_was_found():
    bad = event(kind="op", ph="E", name="log/out", deltas={"inputs": [np.ones(2)], "out": np.nan})
    stepper = on(in_order(event(), bad), grain="op")
    stepper.breakpoints.add("op:nothing")
    stepper.breakpoints.add("tensor:log/*:ret")
    stepper.catches.add("nan")
    stepper.watches.add("has_nan(out)")
    stop = stepper.continue_()
    assert (stop.t, stop.reason, stop.breakpoint.number) == (1, Reason.BREAKPOINT, 2)
    assert [finding.condition for finding in stop.findings] == ["nan"]
    assert [(change.old, change.new) for change in stop.changes] == [(False, True)]


def test_names_of_the_session_serve_conditions():
    stepper = on(in_order(event(), event()))
    stepper.extra_names["model"] = SimpleNamespace(name="m")
    stepper.breakpoints.add("*, model.name == 'm' and t == 1")
    assert (stop := stepper.continue_()).t == 1
    assert not stop.error


# --- until ----------------------------------------------------------------------------------------


def network():
    """Forward through the depths 2, 1, 0 with a layer each, then backward and commit."""
    events = [event(kind="fit", ph="B", grain="act"), event(kind="forward", ph="B", depth=1)]
    for depth in (2, 1, 0):
        at = {"depth": 2, "grain": "detail", "name": f"depth {depth}"}
        events.append(event(kind="depth", ph="B", deltas={"depth": depth}, **at))
        events.append(event(kind="node", ph="B", depth=3, name=f"dense_{depth}"))
        events.append(event(kind="op", depth=4, name=f"dense_{depth}/dot"))
        events.append(event(kind="node", ph="E", depth=3, name=f"dense_{depth}"))
        events.append(event(kind="depth", ph="E", **at))
    events.append(event(kind="forward", ph="E", depth=1))
    events += [event(kind="commit", ph=ph, depth=1) for ph in "BE"]
    return in_order(*events, event(kind="fit", ph="E", grain="act"))


def test_until_goes_from_depth_to_depth_and_ends_with_the_phase():
    stepper = on(network(), 1, "node")
    stops = [stepper.until() for _ in range(4)]
    assert [stop.event.name for stop in stops] == ["depth 2", "depth 1", "depth 0", "x"]
    assert (stops[-1].event.kind, stops[-1].word) == ("forward", "--Return--")
    names = [stepper.until_back().event.name for _ in range(2)]
    assert names == ["depth 2", "x"] or names == ["depth 1", "depth 2"]


def test_until_a_depth_a_phase_or_a_time():
    stepper = on(network(), 1, "node")
    assert stepper.until(0).event.name == "depth 0"
    assert stepper.until("commit").event.kind == "commit"
    assert stepper.until_back("forward").t == 1
    assert stepper.until(t=9).t == 9
    assert stepper.until_back(t=3).t == 3
    assert stepper.until(7).event.kind == "forward"  # no such depth in this phase
    assert stepper.until("predict").reason == Reason.END


# --- what makes no sense --------------------------------------------------------------------------


def test_nonsense_is_refused_and_changes_nothing():
    stepper = on(network(), 3, "node")
    with pytest.raises(ArgumentError, match="Did you mean 'node'"):
        stepper.grain = "nod"
    with pytest.raises(ArgumentError, match="Did you mean 'commit'"):
        stepper.until("comit")
    for verb in (stepper.step, stepper.stepi, stepper.next, stepper.step_back, stepper.next_back):
        with pytest.raises(ArgumentError, match="1 or more"):
            verb(0)
    with pytest.raises(ArgumentError, match="0 or later"):
        stepper.goto(-1)
    assert (stepper.now, stepper.grain) == (3, "node")


def test_an_empty_history_has_a_begin_and_an_end():
    stepper = on([])
    assert (stepper.now, stepper.event, stepper.names()["out"]) == (-1, None, None)
    assert stepper.step().reason == Reason.END
    assert stepper.step_back().reason == Reason.BEGIN
    assert stepper.goto(0).reason == Reason.END


# --- live and recorded are one --------------------------------------------------------------------


class Orders:
    """A prompt that gives orders and writes the stops down."""

    def __init__(self, commands):
        self.commands = list(commands)
        self.stops = []

    def __call__(self, stop):
        self.stops.append((stop.t, stop.reason, stop.breakpoint and stop.breakpoint.number))
        return COMMANDS[self.commands.pop(0)] if self.commands else None


def live(events, stepper, prompt):
    driver = LiveDriver(stepper, prompt)
    for happening in events:
        stepper.tape.append(happening)
        driver(happening)
    driver.finish()
    return driver


@given(
    lives(),
    grains,
    st.lists(st.sampled_from(sorted(COMMANDS)), max_size=12),
    st.lists(st.sampled_from(SELECTORS), max_size=2),
)
def test_the_same_orders_make_the_same_stops_live_and_replayed(events, grain, commands, selectors):
    prompts = [Orders(commands) for _ in range(2)]
    pushed = Stepper(sources.Running(Tape()), grain)
    replayed = Stepper(sources.Recording(Tape(events)), grain)
    for stepper in (pushed, replayed):
        for selector in selectors:
            stepper.breakpoints.add(selector)
    pushed.step()
    live(events, pushed, prompts[0])
    replay(replayed, prompts[1])
    assert prompts[0].stops == prompts[1].stops
    assert len(prompts[0].stops) == len(commands) + 1
    assert list(pushed.breakpoints) == list(replayed.breakpoints)
    assert pushed.tape == Tape(events)


def test_a_prompt_that_wants_no_more_lets_the_program_run():
    stepper = Stepper(sources.Running(Tape()))
    stepper.step()
    prompt = Orders([])
    driver = live(events_of([("node", ["node"] * 5)]), stepper, prompt)
    assert driver.detached
    assert prompt.stops == [(0, Reason.STEP, None)]
    assert len(stepper.tape) == 7


def test_what_a_prompt_raises_stops_the_program():
    stepper = Stepper(sources.Running(Tape()))
    stepper.step()

    def prompt(stop):
        raise bdb.BdbQuit

    with pytest.raises(bdb.BdbQuit):
        live(events_of(["node", "node"]), stepper, prompt)
    assert len(stepper.tape) == 1


def losses_of_a_fit(driver_of):
    """Train a small model under a debugger; return the losses, and the stepper and its prompt."""
    set_random_seed(7)
    recorder = Recorder()
    stepper, prompt = driver_of(recorder)
    with observing(recorder):
        model = Sequential([Dense(3, activation="relu", input_shape=(2,)), Dropout(0.5), Dense(1)])
        model.compile("adam", "mse")
        history = model.fit(np.ones((4, 2)), np.ones((4, 1)), epochs=2, batch_size=2, verbose=0)
    recorder.close()
    return history.history["loss"], stepper, prompt


def test_a_model_that_is_debugged_live_stops_as_in_its_replay_and_learns_the_same():
    commands = [
        "n",
        "rs",
        "c",
        "c",
        "rr",
        "unt",
        "r",
        "n2",
        "si",
        "rc",
        "goto 20",
        "c",
        "c",
        "runt",
    ]
    texts = ["phase:update", "op:relu:ret, norm(out) > 0"]

    def debugged(recorder):
        stepper, prompt = Stepper(sources.Running(recorder.tape)), Orders(commands)
        for text in texts:
            stepper.breakpoints.add(text)
        stepper.catches.add("nan, inf, exception, ratio>1e9")
        stepper.watches.add("weight:*bias, relative > 2")
        recorder.listeners.append(LiveDriver(stepper, prompt))
        stepper.step()
        return stepper, prompt

    alone, _, _ = losses_of_a_fit(lambda recorder: (None, None))
    losses, live, prompt = losses_of_a_fit(debugged)
    assert losses == alone
    again = Orders(commands)
    replayed = Stepper(sources.Recording(live.tape))
    for text in texts:
        replayed.breakpoints.add(text)
    replay(replayed, again)
    assert again.stops == prompt.stops
    assert len(again.stops) == len(commands) + 1
    assert {reason for _, reason, _ in again.stops} >= {"step", "breakpoint", "goto"}


# --- parity with the debugger of Python -----------------------------------------------------------


class Python(bdb.Bdb):
    """Python's own debugger on a program of nested functions.

    A begin of a span is two of its stops in one: the line that calls, and the call. `next` is
    answered from the line, `step` and `return` from the call.
    """

    def __init__(self, source, commands):
        super().__init__()
        self.source = source.splitlines()
        self.commands = list(commands)
        self.stops = []
        self._in_call = None

    def user_line(self, frame):
        if not self._is_ours(frame):
            return
        words = self.source[frame.f_lineno - 1].split()
        self.stops.append((words[-1], "I" if words[0] == "here" else "B"))
        command = self._next_command()
        if words[0] == "here" or command == "n":
            self._obey(command, frame)
        else:
            self._in_call = command
            self.set_step()

    def user_call(self, frame, argument_list):
        if self._is_ours(frame) and self._in_call:
            command, self._in_call = self._in_call, None
            self._obey(command, frame)

    def user_return(self, frame, return_value):
        if self._is_ours(frame):
            name = frame.f_code.co_name.replace("f", "", 1).replace("_", ".")
            self.stops.append((name, "E"))
            self._obey(self._next_command(), frame)

    def _is_ours(self, frame):
        return frame.f_code.co_filename == "<tree>" and frame.f_code.co_name != "<module>"

    def _next_command(self):
        return self.commands.pop(0) if self.commands else "c"

    def _obey(self, command, frame):
        if command == "n":
            self.set_next(frame)
        elif command == "r":
            self.set_return(frame)
        elif command == "s":
            self.set_step()
        else:
            self.set_continue()


def program_of(trees):
    """A program whose calls are the spans and whose other lines are the instants."""
    functions = []

    def define(children, name):
        lines = [f"def f{name.replace('.', '_')}():"]
        for i, child in enumerate(children):
            inner = f"{name}.{i}" if name else str(i)
            if isinstance(child, str):
                lines.append(f"    here = 1  # {inner}")
            else:
                lines.append(f"    f{inner.replace('.', '_')}()  # {inner}")
                define(child[1], inner)
        functions.extend(lines)

    define(trees, "")
    return "\n".join([*functions, "f()"])


@given(trees(["node"], least_children=1), st.lists(st.sampled_from("ssnnr"), max_size=25))
def test_step_next_and_return_stop_where_pythons_debugger_stops(trees, commands):
    source = program_of(trees)
    python = Python(source, commands)
    python.run(compile(source, "<tree>", "exec"), {})
    stepper, stops = on(events_of(trees)), []
    stop = stepper.step()
    for command in [*commands, None]:
        if stop.reason == Reason.END:
            stops.append(("", "E"))  # the function around all
            break
        stops.append((stop.event.name, stop.event.ph))
        stop = COMMANDS[command](stepper) if command else None
    assert stops == python.stops[: len(stops)]
    assert len(stops) > len(commands) or stops[-1] == ("", "E")


def test_the_program_of_a_tree_is_what_it_should_be():
    source = program_of(["node", ("node", ["node"])])
    python = Python(source, ["s"] * 9)
    python.run(compile(source, "<tree>", "exec"), {})
    assert python.stops == [
        ("0", "I"),
        ("1", "B"),
        ("1.0", "I"),
        ("1", "E"),
        ("", "E"),
    ]
