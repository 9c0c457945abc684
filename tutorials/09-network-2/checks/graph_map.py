"""Compares nodes, depths and layers of random networks with those of kerascope's GraphMap."""

from importlib import import_module
from itertools import pairwise

from kerascope.engine.graph_map import map_graph as map_of_kerascope
from kerascope.layers import Dense, Input
from kerascope.learn import Text, Unmet, check, drawn_networks, mirrored
from kerascope.learn.networks import Network
from kerascope.learn.showing import shown


def engine(part):
    return import_module(f"my_engine.{part}")


def own_layer(layer):
    class Merge(engine("layer").Layer):
        def call(self, inputs):
            inputs = inputs if isinstance(inputs, list) else [inputs]
            return sum(inputs[1:], start=inputs[0] * 1.0)

    return Merge(layer.name)


def own_network(network):
    """Rebuild a network with `my_engine`; return the new tensor for each tensor. Layers keep their names."""
    return mirrored(network, lambda layer: engine("layer").Input((4,), name=layer.name), own_layer)


def node_of(tensor):
    layer, node_index, _ = tensor._keras_history
    return layer.inbound_nodes[node_index]


def name_of(node):
    return f"{node.outbound_layer.name} (call {node.outbound_layer.inbound_nodes.index(node)})"


def compare(student, network):
    copies = own_network(network)
    wanted = map_of_kerascope(network.inputs, network.outputs)
    nodes = {node_of(copies[node.output_tensors[0]]): node for node in wanted.nodes_depths}
    inputs, outputs = ([copies[x] for x in xs] for xs in (network.inputs, network.outputs))
    found = student.function("map_graph")(inputs, outputs)
    for name in ("nodes_by_depth", "layers", "nodes_depths"):
        student.require(
            hasattr(found, name),
            en=f"expected map_graph to return a GraphMap with {name}, yours is {shown(found)}",
            zh=f"map_graph 应返回带有 {name} 的 GraphMap，你的是 {shown(found, 'zh')}",
        )
    words, by_depth = network.words, found.nodes_by_depth
    student.require(
        isinstance(by_depth, dict),
        en=f"expected nodes_by_depth to be a dict, yours is {type(by_depth).__name__}",
        zh=f"nodes_by_depth 应是字典，你的是 {type(by_depth).__name__}",
    )
    student.same(
        Text(f"the depths in {words}, the deepest first", f"{words} 的各个深度（从最深的开始）"),
        list(by_depth),
        list(wanted.nodes_by_depth),
    )
    depths = [(node, depth) for depth, nodes in by_depth.items() for node in nodes]
    student.same(
        Text(f"the number of nodes of {words}", f"{words} 的结点数"), len(depths), len(nodes)
    )
    for node, depth in depths:
        student.require(
            node in nodes,
            en=f"expected nodes_by_depth to hold only nodes that {words} needs, yours has {shown(node)}",
            zh=f"nodes_by_depth 只应含 {words} 所需的结点，你的含有 {shown(node, 'zh')}",
        )
        what = Text(
            f"the depth of {name_of(node)} in {words}", f"{words} 中 {name_of(node)} 的深度"
        )
        student.same(what, depth, wanted.nodes_depths[nodes[node]])
        student.same(what, found.nodes_depths.get(node), depth)
    layers = student.listed("layers", found.layers, len(wanted.layers))
    depth_of = {layer.name: depth for layer, depth in wanted.layers_depths.items()}
    names = [layer.name for layer in layers]
    student.require(
        set(names) == set(depth_of),
        en=f"expected layers to hold each layer of {words} once, yours are {names}",
        zh=f"layers 应含 {words} 的每个层各一次，你的是 {names}",
    )
    student.require(
        all(depth_of[a] >= depth_of[b] for a, b in pairwise(names)),
        en=f"expected layers of {words} with the deepest first, yours are {names}",
        zh=f"{words} 的 layers 应从最深的开始，你的是 {names}",
    )


@check
def a_chain(student):
    x = y = Input(shape=(4,), name="x")
    for name in "abc":
        y = Dense(4, name=name)(y)
    compare(student, Network([x], [y], "c(b(a(x)))"))
    compare(student, Network([x], [x], "x"))


@check
def a_shared_layer(student):
    x = Input(shape=(4,), name="x")
    s, d = Dense(4, name="s"), Dense(4, name="d")
    compare(student, Network([x], [s(d(s(x)))], "s(d(s(x)))"))


def compare_order(student, network):
    """Compare the order of the nodes, on which the depths of a shared layer depend."""
    copies = own_network(network)
    found = student.function("order_nodes")([copies[x]._keras_history for x in network.outputs])
    wanted = map_of_kerascope(network.inputs, network.outputs, flavour="2")
    expected = [node_of(copies[n.output_tensors[0]]) for n in wanted.nodes_in_decreasing_depth]
    words = network.words
    student.order(
        Text(f"the nodes of {words} in post-order", f"{words} 的结点的后序"),
        [name_of(node) for node in student.listed("order_nodes(histories)", found)],
        [name_of(node) for node in expected],
    )


@check
def outputs_of_a_shared_layer(student):
    x, z = Input(shape=(4,), name="x"), Input(shape=(4,), name="z")
    s, d = Dense(4, name="s"), Dense(4, name="d")
    network = Network([x, z], [s(z), d(s(x))], "s(z), d(s(x))")
    compare_order(student, network)
    compare(student, network)
    s, c = Dense(4, name="s"), Dense(4, name="c")
    first = s(x)
    compare(student, Network([x, z], [first, s(z), c(first)], "s(x), s(z), c(s(x))"))


@check
def drawn_by_lot(student):
    for network in drawn_networks():
        compare(student, network)
    for network in drawn_networks(outputs=2):
        compare(student, network)


@check
def the_order_of_nodes(student):
    for network in drawn_networks(4, outputs=2):
        copies = own_network(network)
        ends = [copies[x] for x in network.outputs]
        found = student.function("order_nodes")([x._keras_history for x in ends])
        wanted = map_of_kerascope(network.inputs, network.outputs).nodes_depths
        found = student.listed("order_nodes(histories)", found, len(wanted))
        done = set()
        for node in found:
            late = [one for one in node.parent_nodes if one not in done]
            student.require(
                not late and node not in done,
                en=f"expected each node of {network.words} once and after its parents, yours has "
                f"{name_of(node)} too early or twice",
                zh=f"{network.words} 的每个结点应只出现一次，且在父结点之后；你的 {name_of(node)} 太早，或出现了两次",
            )
            done.add(node)


def raised(student, inputs, outputs):
    """Return the text of the ValueError; "" if there is none."""
    map_graph = student.get("map_graph")
    try:
        map_graph(inputs, outputs)
    except ValueError as error:
        return str(error)
    except RecursionError:
        raise Unmet(
            Text(
                "expected a graph with a cycle to be a ValueError, yours never ends: remember which "
                "nodes are in progress",
                "有环的图应抛出 ValueError，你的没有尽头：请记住哪些结点正在处理",
            )
        ) from None
    return ""


@check
def an_input_that_is_missing(student):
    for network in drawn_networks():
        copies = own_network(network)
        for left_out in network.inputs:
            given = [copies[x] for x in network.inputs if x is not left_out]
            message = raised(student, given, [copies[x] for x in network.outputs])
            student.require(
                left_out.name in message,
                en=f"expected a ValueError with the name {left_out.name!r}, if this Input of "
                f"{network.words} is not among the inputs; yours "
                + (f"says {message!r}" if message else "raises none"),
                zh=f"{network.words} 的 Input {left_out.name!r} 不在 inputs 里时，应抛出含有这个名字的 "
                "ValueError；你的" + (f"说的是 {message!r}" if message else "没有抛出"),
            )


@check
def an_input_that_is_an_output_and_missing(student):
    layer = engine("layer")
    x, z = layer.Input((4,), name="x"), layer.Input((4,), name="other")
    student.require(
        "other" in raised(student, [x], [x, z]),
        en="expected a ValueError with the name 'other', if this Input is an output and not an "
        "input; yours does not raise it",
        zh="名为 'other' 的 Input 是输出却不在 inputs 里时，应抛出含有这个名字的 ValueError，你的没有",
    )


@check
def a_cycle(student):
    layer = engine("layer")
    x = layer.Input((4,), name="x")
    first = own_layer(Dense(4, name="first"))
    y = own_layer(Dense(4, name="last"))(first(x))
    first.inbound_nodes[0].input_tensors[:] = [y]
    message = raised(student, [x], [y])
    student.require(
        bool(message),
        en="expected a ValueError for a graph with a cycle, yours raises none",
        zh="有环的图应抛出 ValueError，你的没有抛出",
    )


@check
def many_paths(student):
    x = y = engine("layer").Input((4,), name="x")
    for number in range(30):
        y = own_layer(Dense(4, name=f"m{number}"))([y, y])
    found = student.function("map_graph")([x], [y])
    student.same(
        Text("the number of depths of 30 layers and an Input", "30 个层加一个 Input 的深度数"),
        len(found.nodes_by_depth),
        31,
    )
    student.same(
        Text("the depth of the Input under 30 layers", "30 个层之下的 Input 的深度"),
        found.nodes_depths[node_of(x)],
        30,
    )


@check
def with_the_other_parts(student):
    """Train a network of `my_engine` with two branches; compare it with kerascope's."""
    import numpy as np

    from kerascope import backend as K
    from kerascope import layers, models, optimizers

    layer, fit, function = engine("layer"), engine("fit"), engine("function")
    draw = np.random.default_rng(0)
    rows, targets = draw.normal(size=(16, 5)), np.eye(3)[draw.integers(0, 3, 16)]
    x = layer.Input((5,))
    a, b = layer.Dense(4, "relu"), layer.Dense(4)
    own = fit.Model(x, layer.Dense(3, "softmax")(own_layer(Dense(4, name="m"))([b(a(x)), a(x)])))
    own.compile(function.SGD(0.2), "categorical_crossentropy")
    K.set_floatx("float64")
    x = layers.Input((5,))
    c, d = layers.Dense(4, activation="relu"), layers.Dense(4)
    merged = layers.Add()([d(c(x)), c(x)])
    theirs = models.Model(x, layers.Dense(3, activation="softmax")(merged))
    theirs.compile(optimizers.SGD(0.2), "categorical_crossentropy")
    theirs.set_weights(own.get_weights())
    for step in range(10):
        what = Text(
            f"the loss of step {step + 1}, beside kerascope's",
            f"与 kerascope 对照，第 {step + 1} 步的损失",
        )
        student.close(
            what, own.train_on_batch(rows, targets), theirs.train_on_batch(rows, targets), 1e-6
        )
