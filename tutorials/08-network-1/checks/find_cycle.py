"""Tests the student's search on graphs without a cycle, and on graphs that are changed to have one."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import Text, check, close_a_cycle, drawn_networks, mixed_networks, tower


def node_of(tensor):
    return tensor._keras_history.node


def compare(student, words, output, expected):
    found = student.function("find_cycle")(node_of(output))
    student.require(
        isinstance(found, (set, frozenset, list, tuple)),
        en=f"expected find_cycle(node) to return a set, yours is {type(found).__name__}",
        zh=f"find_cycle(node) 应返回集合，你的是 {type(found).__name__}",
    )
    names = sorted({node.name for node in found})
    what = Text(f"the cycle in {words.en}", f"{words.zh} 中的环")
    student.same(what, names, sorted(node_of(tensor).name for tensor in expected))


@check
def no_cycle(student):
    x = Input(shape=(4,), name="x")
    s, d = Dense(4, name="s"), Dense(4, name="d")
    compare(student, Text("d(x)", "d(x)"), d(x), [])
    compare(student, Text("s(d(s(x)))", "s(d(s(x)))"), s(d(s(x))), [])
    a = Dense(4, name="a")(x)
    both = Add(name="add")([Dense(4, name="c")(a), Dense(4, name="b")(a)])
    compare(student, Text("add(c(a(x)), b(a(x)))", "add(c(a(x)), b(a(x)))"), both, [])


@check
def finished_nodes_are_left_alone(student):
    node, asked = tower(12)
    student.same(
        Text("the cycle in a tower", "塔中的环"), len(student.function("find_cycle")(node)), 0
    )
    student.require(
        len(asked) < 2**9,
        en="a tower of 13 nodes, each taken twice: expected parent_nodes to be read less than 512 "
        f"times, yours reads it {len(asked):,} times; a finished node does not lead to a cycle",
        zh="13 个结点的塔，每个被取用两次：parent_nodes 的读取应少于 512 次，"
        f"你的读了 {len(asked):,} 次；已完成的结点背后没有环",
    )


@check
def a_cycle(student):
    x = Input(shape=(4,), name="x")
    a = Dense(4, name="a")(x)
    b = Dense(4, name="b")(a)
    c = Dense(4, name="c")(b)
    node_of(a).input_tensors[0] = b
    words = Text("b(a(b(a(...", "b(a(b(a(...")
    compare(student, words, b, [a, b])
    compare(student, Text(f"c({words.en}", f"c({words.zh}"), c, [a, b])


@check
def a_cycle_beside_a_way_out(student):
    x = Input(shape=(4,), name="x")
    start = Dense(4, name="start")(x)
    first = Add(name="first")([start, x])
    second = Dense(4, name="second")(first)
    third = Dense(4, name="third")(second)
    node_of(first).input_tensors[1] = third
    output = Add(name="output")([start, third])
    words = Text("output(start, third)", "output(start, third)")
    compare(student, words, output, [first, second, third])


@check
def a_node_that_takes_its_own_output(student):
    x = Input(shape=(4,), name="x")
    alone = Dense(4, name="alone")(x)
    last = Dense(4, name="last")(alone)
    node_of(alone).input_tensors[0] = alone
    compare(student, Text("alone(alone(...", "alone(alone(..."), alone, [alone])
    compare(student, Text("last(alone(alone(...", "last(alone(alone(..."), last, [alone])
    merged = Add(name="merged")([x, Dense(4, name="d")(x)])
    node_of(merged).input_tensors[1] = merged
    compare(student, Text("merged(x, merged(...", "merged(x, merged(..."), merged, [merged])


@check
def a_cycle_in_what_is_drawn_by_lot(student):
    for seed, network in enumerate(mixed_networks(12)):
        cycle = close_a_cycle(network, seed)
        end, start = cycle[0].name, cycle[-1].name
        words = Text(
            f"{network.words}, where {start} takes the output of {end}",
            f"{network.words}（其中 {start} 取用 {end} 的输出）",
        )
        tensors = [node.output_tensors[0] for node in cycle]
        compare(student, words, network.outputs[0], tensors)


@check
def no_cycle_in_what_is_drawn_by_lot(student):
    for network in drawn_networks():
        compare(student, Text(network.words, network.words), network.outputs[0], [])
