"""Tests the student's edges between Nodes, which have no cycle, and between layers."""

from graphlib import CycleError, TopologicalSorter

from kerascope.layers import Add, Dense, Input
from kerascope.learn import check, drawn_networks


def cycle_in(edges):
    users = {}
    for start, end in edges:
        users.setdefault(start, set()).add(end)
    try:
        TopologicalSorter(users).prepare()
    except CycleError as error:
        return error.args[1]
    return None


def edges_of(student, name, words, tensor, expected):
    found = student.function(name)(tensor)
    student.require(
        isinstance(found, (set, frozenset, list, tuple)),
        en=f"expected {name}({words}) to be a set of pairs, yours is {type(found).__name__}",
        zh=f"{name}({words}) 应是二元组的集合，你的是 {type(found).__name__}",
    )
    student.require(
        all(isinstance(edge, (tuple, list)) and len(edge) == 2 for edge in found),
        en=f"expected {name}({words}) to hold pairs, yours holds {next(iter(found), None)!r}",
        zh=f"{name}({words}) 中应是二元组，你的有 {next(iter(found), None)!r}",
    )
    own = {tuple(edge) for edge in found}
    missing, surplus = sorted(expected - own), sorted(own - expected)
    student.require(
        not missing,
        en=f"expected {name}({words}) to hold {missing[:1]}, yours does not: {sorted(own)}",
        zh=f"{name}({words}) 中应有 {missing[:1]}，你的没有：{sorted(own)}",
    )
    student.require(
        not surplus,
        en=f"expected {name}({words}) to hold {len(expected)} edges, yours holds {surplus[:1]} too",
        zh=f"{name}({words}) 应有 {len(expected)} 条边，你的还多出 {surplus[:1]}",
    )
    return own


@check
def a_layer_called_twice(student):
    x = Input(shape=(4,), name="x")
    s, d = Dense(4, name="s"), Dense(4, name="d")
    y = s(d(s(x)))
    nodes = {("x_ib-0", "s_ib-0"), ("s_ib-0", "d_ib-0"), ("d_ib-0", "s_ib-1")}
    own = edges_of(student, "node_edges", "S(D(S(x)))", y, nodes)
    student.same("the cycle in node_edges", cycle_in(own), None)
    layers = {("x", "s"), ("s", "d"), ("d", "s")}
    own = edges_of(student, "layer_edges", "S(D(S(x)))", y, layers)
    student.require(cycle_in(own) is not None, en="expected a cycle", zh="应有一个环")


@check
def two_inputs(student):
    a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
    y = Add(name="add")([Dense(4, name="d")(a), b])
    layers = {("a", "d"), ("d", "add"), ("b", "add")}
    edges_of(student, "layer_edges", "add", y, layers)
    nodes = {(f"{start}_ib-0", f"{end}_ib-0") for start, end in layers}
    edges_of(student, "node_edges", "add", y, nodes)


@check
def drawn_by_lot(student):
    for network in drawn_networks():
        (y,) = network.outputs
        nodes, waiting = set(), [y._keras_history.node]
        while waiting:
            node = waiting.pop()
            if node not in nodes:
                nodes.add(node)
                waiting.extend(node.parent_nodes)
        pairs = [(parent, node) for node in nodes for parent in node.parent_nodes]
        edges = {(one.name, other.name) for one, other in pairs}
        edges_of(student, "node_edges", network.words, y, edges)
        edges = {(one.outbound_layer.name, other.outbound_layer.name) for one, other in pairs}
        edges_of(student, "layer_edges", network.words, y, edges)
