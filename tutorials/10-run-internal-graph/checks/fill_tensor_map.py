"""Checks each entry of the student's `tensor_map` when it is stored, and each call of a layer."""

import numpy as np

from kerascope import layers
from kerascope.layers import Input
from kerascope.learn import Text, check, mixed_networks
from kerascope.models import Model
from kerascope.stage import Mark, observing

CALLS = Text("calls of layers", "层的调用")


class OnWhat:
    """A mixin for layers that records the inputs of each call."""

    def __call__(self, inputs, *args, **kwargs):
        self.called_on = inputs
        return super().__call__(inputs, *args, **kwargs)


class Dense(OnWhat, layers.Dense):
    pass


class Add(OnWhat, layers.Add):
    pass


class Weighed(OnWhat, layers.Layer):
    """A layer that adds its inputs, each times its index in the list."""

    def call(self, inputs):
        return sum((place + 1) * x for place, x in enumerate(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape[0]


def name_of(key):
    history = getattr(key, "_keras_history", None)
    return history.node.name if history else f"{key}"


def run(student, model, arrays):
    """Run the student's loop; return its result, its `tensor_map`, and the calls of layers.

    A call is (name of the layer, number of keys in `tensor_map` when the call starts).
    """
    calls, tensor_map = [], {}

    def observer(stage, event):
        if stage.name == "eager_call" and event is Mark.started:
            calls.append((stage.subject.name, len(tensor_map)))

    with observing(observer):
        function = student.function("run_internal_graph", changes=(2,))
        answer = function(model, arrays, tensor_map)
    return answer, tensor_map, calls


def expected_steps(model):
    """Return the input nodes of a model, and its other nodes in the order of decreasing depth."""
    depths = sorted(model.nodes_by_depth, reverse=True)
    calls = [n for depth in depths for n in model.nodes_by_depth[depth] if not n.is_input]
    return [tensor._keras_history.node for tensor in model.inputs], calls


def follow(student, model, arrays):
    answer, tensor_map, calls = run(student, model, arrays)
    inputs, steps = expected_steps(model)
    student.require(
        bool(calls),
        en="expected each layer to be called, layer(x), yours calls none (its .call is only a part "
        "of that)",
        zh="应调用各层，layer(x)，你的一个也没有调用（.call 只是其中的一部分）",
    )
    for number, node in enumerate(steps):
        held = len(inputs) + number
        found = calls[number] if number < len(calls) else ("", held)
        student.require(
            number == 0 or found[1] >= held,
            en=f"expected tensor_map to hold {held} keys after step {held}, yours holds {found[1]}: "
            f"{steps[number - 1].layer.name}'s output was not stored",
            zh=f"第 {held} 步之后 tensor_map 应有 {held} 个键，你的有 {found[1]} 个："
            f"没有存入 {steps[number - 1].layer.name} 的输出",
        )
    keys = [tensor for node in [*inputs, *steps] for tensor in node.output_tensors]
    kinds = ", ".join(sorted({type(key).__name__ for key in tensor_map}))
    student.require(
        all(any(key is tensor for tensor in keys) for key in tensor_map),
        en=f"expected the keys of tensor_map to be tensors of the model, yours are {kinds}",
        zh=f"tensor_map 的键应是模型的张量，你的是 {kinds}",
    )
    student.order(CALLS, [name for name, _ in calls], [node.layer.name for node in steps])
    names = [name_of(key) for key in tensor_map]
    student.order(
        Text("keys of tensor_map", "tensor_map 的键"), names, [n.name for n in [*inputs, *steps]]
    )
    for node in steps:
        on_a_list(student, node.layer, len(node.input_tensors))
    answer = student.listed(Text("the outputs of run_internal_graph", "run_internal_graph 的返回值"),
                            answer, len(model.outputs))  # fmt: skip
    wanted = model.predict(arrays if len(arrays) > 1 else arrays[0])
    student.close(Text("the model's output", "模型的输出"), answer[0], wanted)


def compare_outputs(student, words, model, arrays):
    """Require that the outputs of a model have the right numbers and the right order."""
    answer, _, _ = run(student, model, arrays)
    what = Text(
        f"the outputs of run_internal_graph for {words}", f"{words} 时 run_internal_graph 的返回值"
    )
    answer = student.listed(what, answer, len(model.outputs))
    wanted = model.predict(arrays if len(arrays) > 1 else arrays[0])
    wanted = wanted if len(model.outputs) > 1 else [wanted]
    for place, (found, expected) in enumerate(zip(answer, wanted, strict=True)):
        what = Text(f"output {place} of {words}", f"{words} 的第 {place} 个输出")
        student.close(what, found, expected)


def on_a_list(student, layer, number):
    """Require that a layer was called on an array, or on a list of several."""
    found = layer.called_on
    own = len(found) if isinstance(found, (list, tuple)) else -1
    wanted, yours = (
        Text("one array", "一个数组") if n < 0 else Text(f"a list of {n}", f"含 {n} 项的列表")
        for n in (number if number > 1 else -1, own)
    )
    student.require(
        wanted == yours,
        en=f"expected {layer.name} to be called on {wanted.en}, yours was called on {yours.en}",
        zh=f"{layer.name} 应以{wanted.zh}来调用，你用的是{yours.zh}",
    )


@check
def a_chain(student):
    x = y = Input(shape=(4,), name="input_1")
    for number in (1, 2, 3):
        y = Dense(3, name=f"dense_{number}")(y)
    follow(student, Model(x, y), [np.arange(8, dtype="float32").reshape(2, 4)])


@check
def a_merge(student):
    a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
    d = Dense(4, name="d")
    y = Add(name="add")([d(a), d(b)])
    model = Model([a, b], Dense(2, name="last")(y))
    ones = np.ones((2, 4), dtype="float32")
    follow(student, model, [ones, 2 * ones])


@check
def two_outputs(student):
    x = Input(shape=(4,), name="x")
    first = Dense(3, name="first")(x)
    model = Model(x, [Dense(2, name="second")(first), first])
    compare_outputs(student, "Model(x, [second(first(x)), first(x)])", model, [np.eye(4)[:2]])


@check
def drawn_by_lot(student):
    """Test shared layers, merges that depend on the order, and outputs in any order."""
    for outputs in (1, 3):
        for network in mixed_networks(
            6, outputs, lambda name: Dense(4, name=name), lambda name: Weighed(name=name)
        ):
            arrays = [np.linspace(n, n + 1.0, 8).reshape(2, 4) for n in range(len(network.inputs))]
            model = Model(network.inputs, network.outputs)
            compare_outputs(student, network.words, model, arrays)
