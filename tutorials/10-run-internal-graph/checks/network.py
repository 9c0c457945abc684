"""Compares outputs, Nodes and weights of random networks with those of kerascope's Model."""

from importlib import import_module

import numpy as np

from kerascope import backend as K
from kerascope.learn import Text, Unmet, check, drawn_networks, mirrored
from kerascope.learn.showing import shown
from kerascope.models import Model


def engine(part):
    return import_module(f"my_engine.{part}")


def own_layer(layer):
    """Return a layer of `my_engine`: a Dense with the weights of `layer`; without weights, a sum."""

    class Merge(engine("layer").Layer):
        def call(self, inputs):
            if not isinstance(inputs, list):
                raise Unmet(
                    Text(
                        "expected `call` of a layer with several inputs to get a list of tensors, "
                        f"yours gives it {shown(inputs)}",
                        f"有几个输入的层，`call` 应收到张量的列表，你的给了它 {shown(inputs, 'zh')}",
                    )
                )
            return sum(inputs[1:], start=inputs[0])

    if not layer.get_weights():
        return Merge(layer.name)
    made = engine("layer").Dense(4, name=layer.name)
    made.build((None, 4))
    made.built = True
    made.set_weights(layer.get_weights())
    return made


def networks(student, outputs):
    """Yield (text, student's Network, kerascope's Model, dict of tensors) for each random network."""
    K.set_floatx("float64")
    for network in drawn_networks(outputs=outputs):
        copies = mirrored(
            network, lambda layer: engine("layer").Input((4,), name=layer.name), own_layer
        )
        inputs, ends = ([copies[x] for x in xs] for xs in (network.inputs, network.outputs))
        own = student.get("Network")(inputs, ends)
        yield network.words, own, Model(network.inputs, network.outputs), copies


def arrays_for(model):
    draw = np.random.default_rng(len(model.inputs))
    return [draw.normal(size=(3, 4)) for _ in model.inputs]


def tensor_of(student, what, found):
    student.require(
        isinstance(found, engine("graph").Tensor),
        en=f"expected {what.en} to be a Tensor, yours is {shown(found)}",
        zh=f"{what.zh} 应是 Tensor，你的是 {shown(found, 'zh')}",
    )
    return found


@check
def one_layer(student):
    layer = engine("layer")
    x = layer.Input((3,), name="x")
    dense = layer.Dense(2, name="d")
    y = dense(x)
    network = student.get("Network")(x, y, name="net")
    attributes(student, network, x, y, dense)
    run_on_another_input(student, network, y, dense)


def attributes(student, network, x, y, dense):
    """Check a network with the input x and the output y, whose only layer is a Dense."""
    student.require(
        isinstance(network, engine("layer").Layer),
        en="expected Network to be a subclass of Layer, yours is not",
        zh="Network 应是 Layer 的子类，你的不是",
    )
    student.same("network.name", network.name, "net")
    student.same("network.built", network.built, True)
    for name, tensor in (("inputs", x), ("outputs", y)):
        (found,) = student.listed(f"network.{name}", getattr(network, name), 1)
        student.require(
            found is tensor,
            en=f"expected network.{name}[0] to be the tensor that was given, yours is {shown(found)}",
            zh=f"network.{name}[0] 应是所给的张量，你的是 {shown(found, 'zh')}",
        )
    student.same("network.layers", [one.name for one in network.layers], ["x", "d"])
    student.same(
        Text("the depths of nodes_by_depth", "nodes_by_depth 的深度"),
        list(network.nodes_by_depth),
        [1, 0],
    )
    student.require(
        network.graph_map.layers == network.layers,
        en="expected network.graph_map to be the GraphMap of map_graph",
        zh="network.graph_map 应是 map_graph 给出的 GraphMap",
    )
    weights = student.listed("network.trainable_weights", network.trainable_weights, 2)
    student.require(
        weights[0] is dense.kernel and weights[1] is dense.bias,
        en="expected network.trainable_weights to be the weights of the layer, yours are others",
        zh="network.trainable_weights 应是该层的权重，你的是别的",
    )


def run_on_another_input(student, network, y, dense):
    """Check that run_internal_graph makes a new output for a new input, and no Node."""
    z = engine("layer").Input((3,), name="z")
    run = student.method(network.run_internal_graph, "run_internal_graph")
    (new,) = student.listed("run_internal_graph([z])", run([z]), 1)
    tensor_of(student, Text("its output", "它的输出"), new)
    student.require(
        new is not y,
        en="expected run_internal_graph([z]) to return a new tensor, yours is the old output",
        zh="run_internal_graph([z]) 应返回新的张量，你的是原来的输出",
    )
    student.same(
        Text("Nodes of the layer after the run", "运行之后该层的 Node 数"),
        len(dense.inbound_nodes),
        1,
        Text(
            "`layer(...)` makes a Node, layer.call(...) does not",
            "`layer(...)` 会造 Node，layer.call(...) 不会",
        ),
    )
    rows = np.arange(6.0).reshape(2, 3)
    function = engine("function").Function([z], [new])
    student.close(
        Text("the network's output for other inputs", "网络对别的输入的输出"),
        function([rows])[0],
        rows @ dense.kernel.value,
    )


@check
def an_input_as_output(student):
    layer = engine("layer")
    x, z = layer.Input((3,), name="x"), layer.Input((3,), name="z")
    network = student.get("Network")([x], [x])
    (new,) = student.listed("run_internal_graph([z])", network.run_internal_graph([z]), 1)
    student.require(
        new is z,
        en=f"expected a network whose output is its input to return z itself, yours is {shown(new)}",
        zh=f"输出就是输入的网络应返回 z 本身，你的是 {shown(new, 'zh')}",
    )


@check
def drawn_by_lot(student):
    for outputs in (1, 2):
        for words, own, theirs, copies in networks(student, outputs):
            compare(student, words, own, theirs, copies)


def compare(student, words, own, theirs, copies):
    layer = engine("layer")
    before = {one: len(one.inbound_nodes) for one in own.layers}
    fresh = [layer.Input((4,), name=f"new{n}") for n in range(len(own.inputs))]
    found = student.method(own.run_internal_graph, "run_internal_graph")(fresh)
    found = student.listed("run_internal_graph(inputs)", found, len(own.outputs))
    for y in found:
        tensor_of(student, Text(f"an output of {words}", f"{words} 的输出"), y)
    arrays = arrays_for(theirs)
    expected = theirs.predict(arrays)
    expected = expected if isinstance(expected, list) else [expected]
    got = engine("function").Function(fresh, found)(arrays)
    for number, (one, other) in enumerate(zip(got, expected, strict=True)):
        student.close(
            Text(f"output {number} of {words}", f"{words} 的第 {number} 个输出"), one, other
        )
    for one in own.layers:
        student.same(
            Text(
                f"Nodes of {one.name} in {words} after the run",
                f"运行之后 {words} 中 {one.name} 的 Node 数",
            ),
            len(one.inbound_nodes),
            before[one],
        )
    weights = own.trainable_weights
    wanted = [w for one in own.layers for w in one.trainable_weights]
    student.same(
        Text(f"the number of trainable_weights of {words}", f"{words} 的 trainable_weights 个数"),
        len(weights),
        len(wanted),
    )
    student.require(
        all(one is other for one, other in zip(weights, wanted, strict=True)),
        en=f"expected the trainable_weights of {words} in the order of its layers",
        zh=f"{words} 的 trainable_weights 应按它的各层的次序",
    )


@check
def called_twice_in_another_network(student):
    layer = engine("layer")
    x = layer.Input((3,), name="x")
    dense = layer.Dense(3, "relu")
    inner = student.get("Network")(x, dense(x), name="inner")
    z = layer.Input((3,), name="z")
    y = student.method(inner, "network")(z)
    tensor_of(student, Text("network(z)", "network(z)"), y)
    student.same(
        Text("Nodes of the network after network(z)", "network(z) 之后网络的 Node 数"),
        len(inner.inbound_nodes),
        1,
    )
    outer = student.get("Network")(z, layer.Dense(2)(inner(y)), name="outer")
    student.same(
        Text("the layers of the outer network", "外层网络的层"),
        [one.name for one in outer.layers][:2],
        ["z", "inner"],
    )
    student.same(
        Text("the number of weights of the outer network", "外层网络的权重个数"),
        len(outer.trainable_weights),
        4,
    )
    student.same(
        Text("the number of arrays of get_weights()", "get_weights() 的数组个数"),
        len(outer.get_weights()),
        4,
    )
    rows = np.random.default_rng(1).normal(size=(4, 3))
    fresh = layer.Input((3,), name="fresh")
    found = engine("function").Function([fresh], outer.run_internal_graph([fresh]))([rows])[0]
    for _ in range(2):
        rows = np.maximum(rows @ dense.kernel.value, 0.0)
    student.close(
        Text(
            "the output of a network that calls another one twice", "调用另一个网络两次的网络的输出"
        ),
        found,
        rows @ outer.layers[-1].kernel.value,
    )


@check
def called_with_its_inputs_in_order(student):
    layer = engine("layer")
    a, b = layer.Input((3,), name="a"), layer.Input((3,), name="b")

    class Minus(layer.Layer):
        def call(self, inputs):
            return inputs[0] - inputs[1]

    pair = student.get("Network")([a, b], [Minus()([a, b])])
    found = student.method(pair, "network")([b, a])
    one, other = np.ones((1, 3)), np.full((1, 3), 5.0)
    student.close(
        Text(
            "network([b, a]) of a network that computes a - b",
            "计算 a - b 的网络的 network([b, a])",
        ),
        engine("function").Function([a, b], [found])([one, other])[0],
        other - one,
    )


@check
def the_first_of_two_outputs(student):
    layer = engine("layer")
    x = layer.Input((3,), name="x")
    a, b = layer.Dense(2), layer.Dense(3)
    network = student.get("Network")(x, [b(x), a(x)])
    z = layer.Input((3,), name="z")
    y = student.method(network, "network")(z)
    tensor_of(student, Text("network(z)", "network(z)"), y)
    what = Text(
        "the shape of network(z), the first of two outputs",
        "network(z)（两个输出中的第一个）的形状",
    )
    student.same(what, y.shape, (None, 3))


@check
def with_the_other_parts(student):
    """Train a network of `my_engine` that uses the student's part; compare it with kerascope's."""
    from kerascope import layers, models, optimizers

    layer, fit, function = engine("layer"), engine("fit"), engine("function")
    draw = np.random.default_rng(0)
    rows, targets = draw.normal(size=(16, 5)), np.eye(3)[draw.integers(0, 3, 16)]
    x = layer.Input((5,))
    own = fit.Model(x, layer.Dense(3, "softmax")(layer.Dense(4, "relu")(x)))
    own.compile(function.SGD(0.5), "categorical_crossentropy")
    K.set_floatx("float64")
    x = layers.Input((5,))
    theirs = models.Model(
        x, layers.Dense(3, activation="softmax")(layers.Dense(4, activation="relu")(x))
    )
    theirs.compile(optimizers.SGD(0.5), "categorical_crossentropy")
    theirs.set_weights(own.get_weights())
    for step in range(10):
        what = Text(
            f"the loss of step {step + 1}, beside kerascope's",
            f"与 kerascope 对照，第 {step + 1} 步的损失",
        )
        student.close(
            what, own.train_on_batch(rows, targets), theirs.train_on_batch(rows, targets), 1e-6
        )
