"""Compares the student's depths with the engine's: unequal paths, a diamond, a shared layer."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import Text, check, drawn_networks
from kerascope.models import Model


def compare(student, words, outputs, inputs):
    model = Model(inputs, outputs)
    expected = model.graph_map.nodes_depths
    nodes = model.graph_map.nodes_in_decreasing_depth[::-1]  # users first, as Keras goes
    found = student.function("assign_depths")(nodes)
    student.require(
        isinstance(found, dict),
        en=f"expected assign_depths(nodes) to return a dict, yours is {type(found).__name__}",
        zh=f"assign_depths(nodes) 应返回字典，你的是 {type(found).__name__}",
    )
    for node in nodes:
        what = Text(f"the depth of {node.name} in {words}", f"{words} 中 {node.name} 的深度")
        student.same(what, found.get(node), expected[node])


@check
def a_chain(student):
    x = y = Input(shape=(4,), name="x")
    for name in ("dense_1", "dense_2", "dense_3"):
        y = Dense(4, name=name)(y)
    compare(student, "a chain", y, x)


@check
def an_input_alone(student):
    x = Input(shape=(4,), name="x")
    compare(student, "x", x, x)


@check
def the_longest_way_counts(student):
    x = Input(shape=(4,), name="x")
    long = Dense(4, name="c")(Dense(4, name="b")(Dense(4, name="a")(x)))
    compare(student, "add(x, c(b(a(x))))", Add(name="add")([x, long]), x)
    compare(student, "add(c(b(a(x))), x)", Add(name="add_2")([long, x]), x)


@check
def a_diamond(student):
    x = Input(shape=(4,), name="x")
    a = Dense(4, name="a")(x)
    both = [Dense(4, name="b")(a), Dense(4, name="c")(a)]
    compare(student, "add(b(a), c(a))", Add(name="add")(both), x)


@check
def a_shared_layer(student):
    x = Input(shape=(4,), name="x")
    s, d, e = (Dense(4, name=name) for name in "sde")
    first = s(x)
    y = Add(name="add")([first, e(s(d(x)))])
    compare(student, "add(s(x), e(s(d(x))))", y, x)


@check
def outputs_of_a_shared_layer(student):
    x, z = Input(shape=(4,), name="x"), Input(shape=(4,), name="z")
    s, d = Dense(4, name="s"), Dense(4, name="d")
    compare(student, "s(z), d(s(x))", [s(z), d(s(x))], [x, z])
    s, c = Dense(4, name="s"), Dense(4, name="c")
    first = s(x)
    compare(student, "s(x), s(z), c(s(x))", [first, s(z), c(first)], [x, z])


@check
def drawn_by_lot(student):
    for network in drawn_networks(outputs=2):
        compare(student, network.words, network.outputs, network.inputs)
