"""Compares the student's counts of visits with the engine's: a chain, a diamond, and blocks."""

from kerascope.engine.graph_map import map_graph
from kerascope.layers import Add, Dense, Input
from kerascope.learn import Text, check, drawn_networks


def chain():
    x = Input(shape=(4,))
    return x, Dense(4)(Dense(4)(x))


def diamond():
    x = Input(shape=(4,))
    a = Dense(4)(Dense(4)(x))
    return x, Add()([Dense(4)(Dense(4)(a)), Dense(4)(a)])


def blocks(number, shared):
    x = h = Input(shape=(4,))
    same = Dense(4)
    for _ in range(number):
        h = Add()([h, (same if shared else Dense(4))(h)])
    return x, h


GRAPHS = [
    (Text("a chain of 3 nodes", "3 个结点的链"), chain()),
    (Text("a diamond on a stalk", "带柄的菱形"), diamond()),
    (Text("5 blocks with layers of their own", "5 个各有其层的块"), blocks(5, False)),
    (Text("2 blocks with one shared layer", "2 个共享一个层的块"), blocks(2, True)),
    (Text("6 blocks with one shared layer", "6 个共享一个层的块"), blocks(6, True)),
]


def compare(student, flavour):
    name = f"visits_of_keras_{flavour}"
    for words, (x, y) in GRAPHS:
        found = student.function(name)(y._keras_history.node)
        expected = map_graph([x], [y], flavour=flavour).visits
        what = Text(f"{name} of {words.en}", f"{name}（{words.zh}）")
        student.same(what, found, expected)
    for network in drawn_networks():
        (y,) = network.outputs
        expected = map_graph(network.inputs, [y], flavour=flavour).visits
        what = Text(f"{name} of {network.words}", f"{name}（{network.words}）")
        student.same(what, student.function(name)(y._keras_history.node), expected)


@check
def keras_2(student):
    compare(student, "2")


@check
def keras_1(student):
    compare(student, "1")
