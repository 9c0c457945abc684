"""Compares the student's orders with the engine's: a diamond, two outputs, a shared layer."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import check, drawn_networks, tower
from kerascope.models import Model


def compare(student, words, x, outputs):
    model = Model(x, outputs)
    met = list(model.graph_map.layer_indices)
    nodes = [y._keras_history.node for y in outputs]
    found = student.function("order_of_meeting")(nodes)
    found = student.listed("order_of_meeting(...)", found)
    student.order(f"order_of_meeting, {words}", names(found), names(met))
    found = student.function("layers_in_order")(model.graph_map.layers_depths, met)
    found = student.listed("layers_in_order(...)", found)
    student.order(f"layers_in_order, {words}", names(found), names(model.layers))


def names(layers):
    return [getattr(layer, "name", layer) for layer in layers]


@check
def no_node_is_walked_twice(student):
    node, asked = tower(12)
    student.function("order_of_meeting")([node])
    student.require(
        len(asked) <= 4 * 13,
        en="a tower of 13 nodes, each taken twice: expected parent_nodes to be read at most 52 "
        f"times, yours reads it {len(asked):,} times",
        zh="13 个结点的塔，每个被取用两次：parent_nodes 至多应读取 52 次，"
        f"你的读了 {len(asked):,} 次",
    )


@check
def the_diamond(student):
    for order in ("bc", "cb"):
        x = Input(shape=(4,), name="x")
        ends = {"b": Dense(4, name="b")(x), "c": Dense(4, name="c")(Dense(4, name="a")(x))}
        y = Add(name="add")([ends[name] for name in order])
        words = {"bc": "add(b(x), c(a(x)))", "cb": "add(c(a(x)), b(x))"}[order]
        compare(student, words, x, [y])


@check
def two_outputs(student):
    x = Input(shape=(4,), name="x")
    a = Dense(4, name="a")(x)
    compare(student, "c(a(x)), b(x)", x, [Dense(4, name="c")(a), Dense(4, name="b")(x)])


@check
def a_shared_layer(student):
    x = Input(shape=(4,), name="x")
    s, d, e = (Dense(4, name=name) for name in "sde")
    y = Add(name="add")([s(e(x)), s(d(x))])
    compare(student, "add(s(e(x)), s(d(x)))", x, [y])


@check
def drawn_by_lot(student):
    for network in drawn_networks(outputs=2):
        compare(student, network.words, network.inputs, network.outputs)
