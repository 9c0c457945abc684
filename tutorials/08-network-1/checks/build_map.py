"""Tests the student's marks for a chain, a diamond, two outputs and two models; counts the visits."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import Text, check, drawn_networks, tower


def node_of(tensor):
    return tensor._keras_history.node


def compare(student, words, outputs, expected):
    found = student.function("marks_of")([node_of(y) for y in outputs])
    student.require(
        isinstance(found, (set, frozenset)),
        en=f"expected marks_of(outputs) to return a set, yours is {type(found).__name__}",
        zh=f"marks_of(outputs) 应返回集合，你的是 {type(found).__name__}",
    )
    en, zh = words if isinstance(words, Text) else (words, words)
    own = sorted((depth, node.outbound_layer.name) for node, depth in found)
    missing = sorted(set(expected) - set(own))
    surplus = sorted(set(own) - set(expected))
    student.require(
        not missing,
        en=f"{en}: expected a mark for (depth, layer) = {missing[:1]}, there is none: {own}",
        zh=f"{zh}：应有记号（深度，层）= {missing[:1]}，却没有：{own}",
    )
    student.require(
        not surplus,
        en=f"{en}: expected no mark for (depth, layer) = {surplus[:1]}, yours has it",
        zh=f"{zh}：不应有记号（深度，层）= {surplus[:1]}，你的有",
    )


@check
def a_chain(student):
    x = Input(shape=(4,), name="x")
    y = Dense(4, name="b")(Dense(4, name="a")(x))
    compare(student, "b(a(x))", [y], [(0, "b"), (1, "a"), (2, "x")])


@check
def a_diamond(student):
    x = Input(shape=(4,), name="x")
    y = Add(name="add")([Dense(4, name="c")(Dense(4, name="a")(x)), Dense(4, name="b")(x)])
    marks = [(0, "add"), (1, "b"), (1, "c"), (2, "a"), (2, "x"), (3, "x")]
    compare(student, "add(c(a(x)), b(x))", [y], marks)


@check
def two_outputs_and_a_second_call(student):
    x = Input(shape=(4,), name="x")
    hidden = Dense(4, name="h")(x)
    outputs = [Dense(1, name="p")(hidden), Dense(2, name="q")(x)]
    marks = [(0, "p"), (0, "q"), (1, "h"), (1, "x"), (2, "x")]
    compare(student, "p(h(x)), q(x)", outputs, marks)
    compare(student, Text("q(x), asked afterwards", "随后再问 q(x)"), outputs[1:], marks[1:4:2])


@check
def a_parent_that_was_met_nearer(student):
    x = Input(shape=(4,), name="x")
    a = Dense(4, name="a")(x)
    y = Add(name="add")([a, Dense(4, name="b")(a)])
    marks = [(0, "add"), (1, "a"), (1, "b"), (2, "a"), (2, "x"), (3, "x")]
    compare(student, "add(a(x), b(a(x)))", [y], marks)


@check
def nothing_is_walked_twice_at_one_depth(student):
    node, asked = tower(12)
    found = student.function("marks_of")([node])
    most = 4 * len(found)
    student.require(
        len(asked) <= most,
        en=f"a tower of 12 blocks has {len(found)} marks; expected parent_nodes to be read at most "
        f"{most} times, yours reads it {len(asked):,} times",
        zh=f"12 层的塔有 {len(found)} 个记号；parent_nodes 至多应读取 {most} 次，"
        f"你的读了 {len(asked):,} 次",
    )


@check
def drawn_by_lot(student):
    for network in drawn_networks(outputs=2):
        marks, waiting = set(), [(0, node_of(y)) for y in network.outputs]
        while waiting:
            depth, node = waiting.pop()
            marks.add((depth, node))
            waiting.extend((depth + 1, parent) for parent in node.parent_nodes)
        names = [(depth, node.outbound_layer.name) for depth, node in marks]
        compare(student, network.words, network.outputs, names)
        calls = sorted((depth, node.name) for depth, node in marks)
        found = student.function("marks_of")([node_of(y) for y in network.outputs])
        found = sorted((depth, node.name) for node, depth in found)
        what = Text(
            f"the marks (depth, node) of {network.words}", f"{network.words} 的记号（深度，结点）"
        )
        student.order(what, found, calls)
