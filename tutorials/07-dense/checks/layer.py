"""Checks Nodes and histories, when layers are built and called, weights, Input, and Dense's numbers."""

from importlib import import_module

import numpy as np

from kerascope.learn import Text, check
from kerascope.learn.showing import shown


def engine(part):
    return import_module(f"my_engine.{part}")


def tensor(shape, name="x"):
    return engine("graph").Tensor(shape, name=name)


def is_the_same(student, what, found, expected):
    en, zh = what
    student.require(
        found is expected,
        en=f"expected {en}, yours is {shown(found)}",
        zh=f"{zh}，你的是 {shown(found, 'zh')}",
    )


def called(student, layer, inputs, name):
    """Call one of the student's layers; return the output, which must be a tensor."""
    y = student.method(layer, name)(inputs)
    student.require(
        isinstance(y, engine("graph").Tensor),
        en=f"expected {name}(x) to return the output tensor, yours is {shown(y)}",
        zh=f"{name}(x) 应返回输出张量，你的是 {shown(y, 'zh')}",
    )
    return y


def recording(student):
    """Return a layer class that records its builds and calls."""

    class Recording(student.get("Layer")):
        __module__ = "my_engine.layer"

        def __init__(self, name=None):
            super().__init__(name)
            self.events = []

        def build(self, input_shape):
            self.events.append(("build", input_shape))

        def call(self, inputs):
            self.events.append(("call", inputs))
            inputs = inputs if isinstance(inputs, list) else [inputs]
            return inputs[0] * 2.0

    return Recording


@check
def a_node(student):
    layer = student.get("Layer")(name="l")
    student.same(
        Text("the inbound_nodes of a new layer", "新层的 inbound_nodes"), layer.inbound_nodes, []
    )
    a, b, c, d = (tensor((None, 2), name) for name in "abcd")
    made = student.get("Node")(layer, [a], [b, c])
    again = student.get("Node")(layer, [a, b], [d])
    student.listed("layer.inbound_nodes", layer.inbound_nodes, 2)
    for number, node in enumerate((made, again)):
        is_the_same(
            student,
            (
                f"layer.inbound_nodes[{number}] to be the Node of call {number}",
                f"layer.inbound_nodes[{number}] 应是第 {number} 次调用的 Node",
            ),
            layer.inbound_nodes[number],
            node,
        )
        is_the_same(
            student,
            ("node.outbound_layer to be the layer", "node.outbound_layer 应是这个层"),
            node.outbound_layer,
            layer,
        )
    for x, node_index, tensor_index in ((b, 0, 0), (c, 0, 1), (d, 1, 0)):
        history = x._keras_history
        student.require(
            isinstance(history, tuple) and len(history) == 3,
            en="expected _keras_history of an output to be (layer, node_index, tensor_index), "
            f"yours is {shown(history)}",
            zh=f"输出的 _keras_history 应是 (layer, node_index, tensor_index)，你的是 {shown(history, 'zh')}",
        )
        is_the_same(
            student,
            ("_keras_history[0] to be the layer", "_keras_history[0] 应是这个层"),
            history[0],
            layer,
        )
        what = Text(
            f"(node_index, tensor_index) of output {tensor_index} of call {node_index}",
            f"第 {node_index} 次调用的第 {tensor_index} 个输出的 (node_index, tensor_index)",
        )
        student.same(what, tuple(history[1:]), (node_index, tensor_index))
    student.same(
        Text("_keras_history of the input of a Node", "Node 的输入的 _keras_history"),
        a._keras_history,
        None,
    )
    student.same("node.is_input", [made.is_input, again.is_input], [False, False])


@check
def parents_and_inputs(student):
    inputs = [student.function("Input")((3,), name=name) for name in ("one", "two")]
    start = node_of_an_input(student, inputs[0])
    parents_of_a_call(student, inputs, start)


def node_of_an_input(student, x):
    """Check Input((3,), name="one") and its InputLayer; return its Node."""
    student.require(
        isinstance(x, engine("graph").Tensor),
        en=f"expected Input((3,)) to return a Tensor, yours is {type(x).__name__}",
        zh=f"Input((3,)) 应返回 Tensor，你的是 {type(x).__name__}",
    )
    student.same("Input((3,)).shape", x.shape, (None, 3))
    student.same("Input((3,), name='one').name", x.name, "one")
    student.same("Input((2, 4)).shape", student.function("Input")((2, 4)).shape, (None, 2, 4))
    layer = x._keras_history[0] if x._keras_history else None
    student.require(
        isinstance(layer, student.get("InputLayer")),
        en=f"expected the history of an Input to begin with its InputLayer, yours is {shown(layer)}",
        zh=f"Input 的历史应以它的 InputLayer 开头，你的是 {shown(layer, 'zh')}",
    )
    student.same("Input((3,), name='one')._keras_history[0].name", layer.name, "one")
    student.same("InputLayer(...).built", layer.built, True)
    student.listed("InputLayer(...).inbound_nodes", layer.inbound_nodes, 1)
    (start,) = layer.inbound_nodes
    for name in ("input_tensors", "output_tensors"):
        (tensor,) = student.listed(f"its Node's {name}", getattr(start, name), 1)
        is_the_same(
            student,
            (
                f"{name} of the Node of an Input to be its tensor",
                f"Input 的 Node 的 {name} 应是它的张量",
            ),
            tensor,
            x,
        )
    student.same(
        Text("is_input of the Node of an Input", "Input 的 Node 的 is_input"), start.is_input, True
    )
    student.same(
        Text("parent_nodes of the Node of an Input", "Input 的 Node 的 parent_nodes"),
        start.parent_nodes,
        [],
    )
    return start


def parents_of_a_call(student, inputs, start):
    """Check the parent_nodes of a call; `start` is the Node of the first input."""
    x = inputs[0]
    merge, dense = recording(student)("merge"), recording(student)("dense")
    first = called(student, dense, x, "layer")
    second = called(student, dense, inputs[1], "layer")
    called(student, merge, [second, first, x], "layer")
    what = Text("Nodes of a layer after one call", "调用一次之后层的 Node 数")
    student.same(what, len(merge.inbound_nodes), 1)
    parents = student.listed("node.parent_nodes", merge.inbound_nodes[0].parent_nodes, 3)
    for number, expected in enumerate((dense.inbound_nodes[1], dense.inbound_nodes[0], start)):
        is_the_same(
            student,
            (
                f"parent_nodes[{number}] to be the Node that made input {number}",
                f"parent_nodes[{number}] 应是造出第 {number} 个输入的 Node",
            ),
            parents[number],
            expected,
        )


@check
def the_life_of_a_layer(student):
    layer = recording(student)()
    student.same("layer.built", layer.built, False)
    x, y = student.function("Input")((3,)), student.function("Input")((5,))
    output = called(student, layer, x, "layer")
    called(student, layer, x, "layer")
    builds_and_calls(student, layer, x)
    node_of_a_call(student, layer, x, output)
    called_with_a_list(student, x, y)


def builds_and_calls(student, layer, x):
    """Check that two calls with x have built the layer once."""
    student.order(
        Text("what layer(x), layer(x) does", "layer(x)、layer(x) 做的事"),
        [kind for kind, _ in layer.events],
        ["build", "call", "call"],
    )
    student.same(
        Text("the shape that `build` gets", "交给 build 的形状"), layer.events[0][1], (None, 3)
    )
    is_the_same(
        student,
        ("`call` to get the tensor x itself", "`call` 收到的应是张量 x 本身"),
        layer.events[1][1],
        x,
    )
    student.same("layer.built", layer.built, True)
    student.same(
        Text("Nodes after two calls", "两次调用之后的 Node 数"), len(layer.inbound_nodes), 2
    )


def node_of_a_call(student, layer, x, output):
    """Check that the Node of the first call joins x with the output."""
    node = layer.inbound_nodes[0]
    (given,), (made,) = (
        student.listed("node.input_tensors", node.input_tensors, 1),
        student.listed("node.output_tensors", node.output_tensors, 1),
    )
    is_the_same(
        student, ("node.input_tensors[0] to be x", "node.input_tensors[0] 应是 x"), given, x
    )
    is_the_same(
        student,
        (
            "node.output_tensors[0] to be the tensor that the call returned",
            "node.output_tensors[0] 应是调用返回的张量",
        ),
        made,
        output,
    )
    is_the_same(
        student,
        ("the output's _keras_history[0] to be the layer", "输出的 _keras_history[0] 应是这个层"),
        output._keras_history[0],
        layer,
    )


def called_with_a_list(student, x, y):
    """Check the inputs of `build` and `call` when a layer is called with a list."""
    merge = recording(student)()
    called(student, merge, [x, y], "layer")
    student.same(
        Text("the shapes that `build` gets for a list", "输入是列表时交给 build 的形状"),
        merge.events[0][1],
        [(None, 3), (None, 5)],
    )
    student.same(
        Text("what `call` gets for a list", "输入是列表时交给 call 的"), merge.events[1][1], [x, y]
    )
    student.listed("node.input_tensors", merge.inbound_nodes[0].input_tensors, 2)


@check
def names(student):
    Dense = student.get("Dense")
    own = [
        Dense(2),
        Dense(2),
        Dense(2, name="mine"),
        recording(student)(),
        student.get("InputLayer")((2,)),
    ]
    found = [layer.name for layer in own]
    student.same("Dense(2, name='mine').name", found[2], "mine")
    student.require(
        all(isinstance(name, str) and name for name in found) and len(set(found)) == 5,
        en=f"expected each layer to have a name of its own, yours are {found}",
        zh=f"每个层应有自己的名字，你的是 {found}",
    )
    student.require(
        found[0].lower().startswith("dense"),
        en=f"expected the name of a Dense to begin with dense, yours is {found[0]!r}",
        zh=f"Dense 的名字应以 dense 开头，你的是 {found[0]!r}",
    )


@check
def weights(student):
    layer = student.get("Layer")(name="mine")
    student.same(
        Text("the trainable_weights of a new layer", "新层的 trainable_weights"),
        layer.trainable_weights,
        [],
    )
    given = np.arange(6).reshape(2, 3)
    first, second = added_weights(student, layer, given)
    arrays_of_get_weights(student, layer, first, given)
    arrays_of_set_weights(student, layer, first, second)


def added_weights(student, layer, given):
    """Check two weights made by add_weight, the first with the value `given`; return them."""
    add_weight = student.method(layer.add_weight, "layer.add_weight")
    first, second = add_weight(given, "kernel"), add_weight([1, 2], "bias")
    student.require(
        isinstance(first, engine("graph").Tensor),
        en=f"expected add_weight to return a Tensor, yours is {shown(first)}",
        zh=f"add_weight 应返回 Tensor，你的是 {shown(first, 'zh')}",
    )
    student.same(Text("the shape of the weight", "权重的形状"), first.shape, (2, 3))
    student.same(Text("the name of the weight", "权重的名字"), first.name, "mine/kernel")
    student.close(Text("the value of the weight", "权重的 value"), first.value, given)
    student.same(
        Text("the dtype of its value", "它的 value 的 dtype"), first.value.dtype.name, "float64"
    )
    student.same(
        Text("the dtype of its value", "它的 value 的 dtype"), second.value.dtype.name, "float64"
    )
    student.same(
        Text("the number of trainable_weights", "trainable_weights 的个数"),
        len(layer.trainable_weights),
        2,
    )
    for found, expected in zip(layer.trainable_weights, (first, second), strict=True):
        is_the_same(
            student,
            (
                "trainable_weights to hold the tensors in the order of add_weight",
                "trainable_weights 应按 add_weight 的次序存放这些张量",
            ),
            found,
            expected,
        )
    return first, second


def arrays_of_get_weights(student, layer, first, given):
    """Check that get_weights returns copies of the values."""
    arrays = student.listed("get_weights()", student.method(layer.get_weights, "get_weights")(), 2)
    student.close("get_weights()[0]", arrays[0], given)
    student.close("get_weights()[1]", arrays[1], [1.0, 2.0])
    arrays[0][0, 0] = 99.0
    student.close(
        Text(
            "the weight, after the array of get_weights() was changed",
            "改动 get_weights() 的数组之后，权重",
        ),
        first.value,
        given,
    )


def arrays_of_set_weights(student, layer, first, second):
    """Check that set_weights copies the arrays that it gets, as float64."""
    new = [np.ones((2, 3)), np.zeros(2)]
    student.method(layer.set_weights, "set_weights")(new)
    student.close(
        Text("the first weight after set_weights", "set_weights 之后的第一个权重"),
        first.value,
        np.ones((2, 3)),
    )
    student.close(
        Text("the second weight after set_weights", "set_weights 之后的第二个权重"),
        second.value,
        np.zeros(2),
    )
    new[0][:] = 7.0
    student.close(
        Text(
            "the weight, after the array given to set_weights was changed",
            "改动交给 set_weights 的数组之后，权重",
        ),
        first.value,
        np.ones((2, 3)),
    )
    student.same(
        Text("the dtype after set_weights", "set_weights 之后的 dtype"),
        first.value.dtype.name,
        "float64",
    )
    layer.set_weights([np.ones((2, 3), "int64"), np.zeros(2, "float32")])
    student.same(
        Text("the dtype after set_weights", "set_weights 之后的 dtype"),
        first.value.dtype.name,
        "float64",
    )


@check
def dense(student):
    draw = np.random.default_rng(3)
    for activation in (None, "relu", "softmax"):
        units, size = 4, 300 if activation is None else 6
        words = f"Dense({units}, {activation!r})" if activation else f"Dense({units})"
        layer = (
            student.get("Dense")(units, activation) if activation else student.get("Dense")(units)
        )
        student.same(f"{words}.units", layer.units, units)
        x = student.function("Input")((size,))
        np.random.seed(0)
        y = called(student, layer, x, words)
        student.same(
            Text(f"the output shape of {words}", f"{words} 的输出形状"), y.shape, (None, units)
        )
        kernel_and_bias(student, words, layer, (size, units))
        new_weights(student, layer, (size, units))
        output_of_dense(student, words, layer, activation, x, y, draw)
        again = called(student, layer, student.function("Input")((size,)), words)
        student.same(
            Text(f"weights of {words} after its second call", f"{words} 第二次调用之后的权重个数"),
            len(layer.trainable_weights),
            2,
        )
        student.same(Text("the output shape", "输出形状"), again.shape, (None, units))


def kernel_and_bias(student, words, layer, shape):
    """Check the weights of a Dense, whose kernel must have this shape, and their names."""
    size, units = shape
    found = [w.shape for w in layer.trainable_weights]
    student.same(
        Text(
            f"the weight shapes of {words} on {size} features",
            f"{words} 在 {size} 个特征上的权重形状",
        ),
        found,
        [(size, units), (units,)],
    )
    is_the_same(
        student,
        ("layer.kernel to be the first weight", "layer.kernel 应是第一个权重"),
        layer.kernel,
        layer.trainable_weights[0],
    )
    is_the_same(
        student,
        ("layer.bias to be the second weight", "layer.bias 应是第二个权重"),
        layer.bias,
        layer.trainable_weights[1],
    )
    student.same("layer.kernel.name", layer.kernel.name, f"{layer.name}/kernel")
    student.same("layer.bias.name", layer.bias.name, f"{layer.name}/bias")


def new_weights(student, layer, shape):
    """Check that a new bias is zero, and that a new kernel is Glorot-uniform."""
    size, units = shape
    kernel, bias = layer.get_weights()
    student.close(Text("a new bias", "新的 bias"), bias, np.zeros(units))
    limit, largest = np.sqrt(6 / (size + units)), np.abs(kernel).max()
    student.require(
        largest <= limit,
        en=f"expected a new kernel of {size} rows and {units} columns within +-{limit:.4f}, "
        f"yours reaches {largest:.4f}",
        zh=f"{size} 行 {units} 列的新 kernel 应在 ±{limit:.4f} 之内，你的达到 {largest:.4f}",
    )
    student.require(
        (0.97 if size > 100 else 0.5) * limit < largest
        and kernel.min() < 0 < kernel.max()
        and len(np.unique(kernel)) > size,
        en=f"expected the kernel to fill the range from -{limit:.4f} to {limit:.4f} evenly, "
        f"yours lies between {kernel.min():.4f} and {kernel.max():.4f}",
        zh=f"kernel 应均匀分布在 -{limit:.4f} 到 {limit:.4f} 之间，你的在 {kernel.min():.4f} 与 "
        f"{kernel.max():.4f} 之间",
    )


def output_of_dense(student, words, layer, activation, x, y, draw):
    """Check the values of y, the output of a Dense for x, with random weights and inputs."""
    kernel, bias = (draw.normal(size=w.shape) for w in layer.trainable_weights)
    layer.set_weights([kernel, bias])
    rows = draw.normal(size=(5, len(kernel))) / len(kernel)
    expected = rows @ kernel + bias
    if activation == "relu":
        expected = np.maximum(expected, 0.0)
    if activation == "softmax":
        expected = np.exp(expected) / np.exp(expected).sum(axis=-1, keepdims=True)
    function = engine("function").Function([x], [y])
    student.close(Text(f"the output of {words}", f"{words} 的输出"), function([rows])[0], expected)


@check
def with_the_other_parts(student):
    """Train a network of `my_engine` that uses the student's part; compare it with kerascope's."""
    from kerascope import backend as K
    from kerascope import layers, models, optimizers

    fit, function = engine("fit"), engine("function")
    draw = np.random.default_rng(0)
    rows, targets = draw.normal(size=(16, 5)), np.eye(3)[draw.integers(0, 3, 16)]
    x = student.function("Input")((5,))
    Dense = student.get("Dense")
    own = fit.Model(x, Dense(3, "softmax")(Dense(4, "relu")(x)))
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
