"""The diamond in both orders, two outputs, a shared layer; against model.layers."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import check
from kerascope.models import Model


def compare(student, words, x, outputs):
    model = Model(x, outputs)
    met = list(model.graph_map.layer_indices)
    nodes = [y._keras_history.node for y in outputs]
    found = student.function("order_of_meeting")(nodes)
    student.order(f"order_of_meeting, {words}", names(found), names(met))
    found = student.function("layers_in_order")(model.graph_map.layers_depths, met)
    student.order(f"layers_in_order, {words}", names(found), names(model.layers))


def names(layers):
    return [layer.name for layer in layers]


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
