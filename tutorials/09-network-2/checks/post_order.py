"""Compares the student's order with the engine's: a chain, a diamond, two outputs, shared layers."""

from kerascope.engine.graph_map import map_graph
from kerascope.layers import Add, Dense, Input
from kerascope.learn import check, drawn_networks


def compare(student, words, x, outputs):
    inputs = x if isinstance(x, list) else [x]
    expected = map_graph(inputs, outputs, flavour="2").nodes_in_decreasing_depth
    found = student.function("post_order")([y._keras_history.node for y in outputs])
    student.require(
        isinstance(found, (list, tuple)),
        en=f"expected post_order(outputs) to return a list, yours is {type(found).__name__}",
        zh=f"post_order(outputs) 应返回列表，你的是 {type(found).__name__}",
    )
    names = [getattr(node, "name", node) for node in found]
    student.order(words, names, [node.name for node in expected])


@check
def a_chain(student):
    x = Input(shape=(4,), name="x")
    compare(student, "b(a(x))", x, [Dense(4, name="b")(Dense(4, name="a")(x))])


@check
def the_diamond(student):
    for order in ("bc", "cb"):
        x = Input(shape=(4,), name="x")
        ends = {"b": Dense(4, name="b")(x), "c": Dense(4, name="c")(Dense(4, name="a")(x))}
        y = Add(name="add")([ends[name] for name in order])
        words = {"bc": "add(b(x), c(a(x)))", "cb": "add(c(a(x)), b(x))"}[order]
        compare(student, words, x, [y])


@check
def two_outputs_and_a_shared_layer(student):
    x = Input(shape=(4,), name="x")
    s, d = Dense(4, name="s"), Dense(4, name="d")
    first = s(x)
    compare(student, "d(s(x)), s(d(s(x)))", x, [d(first), s(d(first))])


@check
def drawn_by_lot(student):
    for network in drawn_networks(outputs=2):
        compare(student, network.words, network.inputs, network.outputs)
