"""Tests the student's list for a chain, a shared layer, unequal paths, two inputs, and many paths."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import check, drawn_networks


def walk(student, words, tensor, takes):
    """Require each Node once in the student's list, after its input Nodes.

    `takes` maps the names of the Nodes to those of their input Nodes.
    """
    found = student.listed(f"calls_needed({words})", student.function("calls_needed")(tensor))
    names = [str(getattr(one, "name", one)) for one in found]
    own = names if len(names) < 9 else f"{len(names):,} names"
    own_zh = names if len(names) < 9 else f"{len(names):,} 个名字"
    for name, before in takes.items():
        student.require(
            names.count(name) == 1,
            en=f"expected calls_needed({words}) to hold {name} once, "
            f"yours holds it {names.count(name)} times: {own}",
            zh=f"calls_needed({words}) 中 {name} 应出现 1 次，"
            f"你的出现了 {names.count(name)} 次：{own_zh}",
        )
        for one in before:
            student.require(
                one in names and names.index(one) < names.index(name),
                en=f"calls_needed({words}): expected {one} before {name}, which takes from it; "
                f"yours is {own}",
                zh=f"calls_needed({words})：{name} 取用 {one}，应排在它之后；你的是 {own_zh}",
            )
    student.same(f"len(calls_needed({words}))", len(names), len(takes))


@check
def a_chain(student):
    x = y = Input(shape=(4,), name="input_1")
    takes = {"input_1_ib-0": []}
    for number in (1, 2, 3):
        y = Dense(4, name=f"dense_{number}")(y)
        takes[f"dense_{number}_ib-0"] = [list(takes)[-1]]
    walk(student, "dense_3", y, takes)
    walk(student, "input_1", x, {"input_1_ib-0": []})


@check
def a_shared_layer(student):
    x, s, d = Input(shape=(4,), name="x"), Dense(4, name="s"), Dense(4, name="d")
    takes = {"x_ib-0": [], "s_ib-0": ["x_ib-0"], "d_ib-0": ["s_ib-0"], "s_ib-1": ["d_ib-0"]}
    walk(student, "S(D(S(x)))", s(d(s(x))), takes)


@check
def a_long_way_and_a_short_one(student):
    x = Input(shape=(4,), name="x")
    y = Add(name="add")([x, Dense(4, name="b")(Dense(4, name="a")(x))])
    takes = {"x_ib-0": [], "a_ib-0": ["x_ib-0"], "b_ib-0": ["a_ib-0"]}
    walk(student, "add", y, {**takes, "add_ib-0": ["x_ib-0", "b_ib-0"]})


@check
def a_tower(student):
    y = Input(shape=(4,), name="x")
    takes = {"x_ib-0": []}
    for number in range(18):
        before = list(takes)[-1]
        y = Add(name=f"add_{number}")([y, y])
        takes[f"add_{number}_ib-0"] = [before]
    walk(student, "add_17", y, takes)


@check
def drawn_by_lot(student):
    for network in drawn_networks():
        takes, waiting = {}, [network.outputs[0]._keras_history.node]
        while waiting:
            node = waiting.pop()
            takes[node.name] = list(dict.fromkeys(parent.name for parent in node.parent_nodes))
            waiting.extend(parent for parent in node.parent_nodes if parent.name not in takes)
        walk(student, network.words, network.outputs[0], takes)
