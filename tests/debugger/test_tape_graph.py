import pytest
from piped import fit_toy, session_of, toy_model
from zoo import ZOO

from kerascope.debugger.calls import calls_at, calls_in_picture
from kerascope.debugger.pictures import graph_of_tape, states_on_tape
from kerascope.debugger.session import Session
from kerascope.errors import ArgumentError
from kerascope.layers import Dense, Input
from kerascope.models import Model
from kerascope.trace.tape import trace
from kerascope.trace.tape_memory import forget, is_of_a_run
from kerascope.trace.tape_store import Tape
from kerascope.viz.extract.nodes import node_graph


def boxes_and_arrows(graph):
    boxes = {node.id: (node.label, node.kind, node.depth) for node in graph.nodes}
    return boxes, sorted((edge.source, edge.target) for edge in graph.edges)


def test_the_tape_tells_the_same_graph_as_the_model():
    with trace() as tape:
        model = toy_model()
        model.graph_map  # noqa: B018 (it is mapped now)
    assert boxes_and_arrows(graph_of_tape(list(tape))) == boxes_and_arrows(node_graph(model))


def test_states_are_those_of_the_time():
    session, _ = session_of(fit_toy, "c")
    reading = Session(lambda stop: None, tape=Tape(list(session.tape)))
    event = next(e for e in session.tape if e.kind == "node" and e.name == "sum" and e.ph == "B")
    graph = graph_of_tape(session.tape[: event.t + 1])
    assert states_on_tape(reading, event, graph) == {
        "x": "done", "d1": "done", "d2": "done", "sum": "current", "drop": "pending",
        "last": "pending",
    }  # fmt: skip


def test_behind_a_forgotten_stretch_the_states_are_those_that_are_known():
    session, _ = session_of(fit_toy, "c")
    events = list(session.tape)
    ends = [e for e in events if e.kind == "node" and e.name == "sum" and e.ph == "E"]
    for end, last in zip(ends, ("done", "gradient"), strict=False):  # forward, then backward
        told = dict(calls_at(session, end))
        tape = Tape(forget(events[: end.t], is_of_a_run) + events[end.t :])
        reading = Session(lambda stop: None, tape=tape)
        reading.model = session.model
        assert tape[end.t - 1].kind == "forgotten"
        before = dict(calls_at(reading, tape[end.t - 1]))
        assert (before["d1"], before["sum"]) == (told["d1"], "current")
        known = dict(calls_at(reading, tape[end.t]))
        assert known == {**told, "drop": "done" if last == "gradient" else told["drop"]}
        assert (told["sum"], before["last"]) == (
            last,
            "gradient" if last == "gradient" else "pending",
        )


def test_while_the_callbacks_of_a_batch_are_called_the_states_are_those_of_its_run():
    session, _ = session_of(fit_toy, "c")
    called = session.tape.filter(kind="callbacks", name="on_batch_end")
    assert len(called) == 4  # two begins and two ends
    for event in called:
        states = dict(calls_at(session, event))
        assert states == {"x": "done", **dict.fromkeys(states.keys() - {"x"}, "gradient")}
    (epoch,) = session.tape.filter(kind="callbacks", name="on_epoch_end", ph="B")
    for event in (epoch, *session.tape.filter(kind="batch", ph="B")):
        assert calls_at(session, event) == []


def test_while_a_nested_model_is_built_into_another_the_layers_around_keep_their_states():
    def build():
        x = Input((3,), name="x")
        inner = Model(x, Dense(3, name="last")(Dense(3, name="deep")(x)), name="inner")
        inner(Input((3,), name="a"))

    session, _ = session_of(build, "c")
    run = session.tape.filter(kind="run_internal_graph", ph="B")[-1]
    first = session.tape.filter(kind="layer.call", name="deep", ph="B")[-1]
    assert run.t < first.t
    inside = {"x": "done", "deep": "current", "last": "pending"}
    assert dict(calls_at(session, first)) == {**inside, "a": "done", "inner": "current"}
    assert dict(calls_in_picture(session, first)) == inside


def test_what_the_tape_cannot_tell_is_refused():
    with trace() as tape:
        ZOO["shared_layer"]()
    with pytest.raises(ArgumentError, match="two tensors are named shared/add"):
        graph_of_tape(list(tape))
    with pytest.raises(ArgumentError, match="no layer has been called yet"):
        graph_of_tape([])
