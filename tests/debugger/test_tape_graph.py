import pytest
from piped import fit_toy, session_of, toy_model
from zoo import ZOO

from kerascope.debugger.session import Session
from kerascope.debugger.tape_graph import graph_of_tape, states_on_tape
from kerascope.errors import ArgumentError
from kerascope.trace.tape import trace
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


def test_what_the_tape_cannot_tell_is_refused():
    with trace() as tape:
        ZOO["shared_layer"]()
    with pytest.raises(ArgumentError, match="two tensors are named shared/add"):
        graph_of_tape(list(tape))
    with pytest.raises(ArgumentError, match="no layer has been called yet"):
        graph_of_tape([])
