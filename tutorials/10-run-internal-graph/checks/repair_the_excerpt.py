"""Runs networks on new tensors with the student's loop: a chain, a merge, and one with a mask."""

from typing import ClassVar

import numpy as np

from kerascope import backend as K
from kerascope.engine.arguments import to_list
from kerascope.layers import Input, Layer
from kerascope.learn import Text, Unmet, check, mixed_networks
from kerascope.models import Model

CALLS = Text("calls of layers", "层的调用")


def count_of(inputs):
    """The number of tensors in a list; -1 for a single tensor."""
    return len(inputs) if isinstance(inputs, (list, tuple)) else -1


def demand(name, inputs, number):
    """Require that a layer is called on one tensor (-1), or on a list of this length."""
    found = count_of(inputs)
    if number is None or found == number:
        return
    wanted, yours = (
        Text("one tensor", "一个张量") if n < 0 else Text(f"a list of {n}", f"含 {n} 项的列表")
        for n in (number, found)
    )
    raise Unmet(
        Text(
            f"expected {name} to be called on {wanted.en}, yours was called on {yours.en}",
            f"{name} 应以{wanted.zh}来调用，你用的是{yours.zh}",
        )
    )


class Told(Layer):
    """A layer that takes a mask, as in Keras 1, and records each call."""

    heard: ClassVar[list] = []
    number = -1

    def __init__(self, **options):
        super().__init__(**options)
        self.supports_masking = True

    def call(self, inputs, mask=None):
        demand(self.name, inputs, self.number)
        Told.heard.append((self.name, inputs, mask))
        return self.formula(inputs)

    def formula(self, inputs):
        return 2.0 * inputs


class Narrow(Told):
    """A layer whose output has one column, so that a call on its own output raises an error."""

    def build(self, input_shape):
        self.kernel = self.add_weight(name="k", shape=(input_shape[-1], 1), initializer="ones")

    def formula(self, inputs):
        return K.dot(inputs, self.kernel)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 1)


class Sum(Told):
    """A layer that adds the two tensors of a list."""

    number = 2

    def formula(self, inputs):
        return inputs[0] + 10.0 * inputs[1]

    def compute_output_shape(self, input_shape):
        return input_shape[0]

    def compute_mask(self, inputs, mask=None):
        return None


class Weighed(Told):
    """A layer that adds the tensors of a list, each times its index; its mask is the last mask."""

    number = None

    def formula(self, inputs):
        return sum((place + 1.0) * x for place, x in enumerate(inputs))

    def compute_output_shape(self, input_shape):
        return input_shape[0]

    def compute_mask(self, inputs, mask=None):
        return next((one for one in reversed(mask or []) if one is not None), None)


class Parts(Told):
    """A layer with two output tensors; the first has no mask."""

    def formula(self, inputs):
        return [inputs + 1.0, -3.0 * inputs]

    def compute_output_shape(self, input_shape):
        return [input_shape, input_shape]

    def compute_mask(self, inputs, mask=None):
        return [None, K.greater(inputs, 2.0)]


class Gaps(Told):
    """A layer whose mask marks where its input is zero."""

    def compute_mask(self, inputs, mask=None):
        return K.not_equal(inputs, 0.0)


def run(student, model, size):
    """Run the student's loop on new tensors; return its result and the calls of layers."""
    new = [Input(shape=(size,)) for _ in model.inputs]
    Told.heard.clear()
    answer = student.function("run")(model, new, [None] * len(new))
    heard = list(Told.heard)
    student.require(
        isinstance(answer, (list, tuple)) and len(answer) == len(model.outputs),
        en=f"expected run(...) to return a list of {len(model.outputs)} tensor(s)",
        zh=f"run(...) 应返回含 {len(model.outputs)} 个张量的列表",
    )
    output = student.tensor(Text("the first output", "第一个输出"), answer[0])
    student.require(
        output is not model.outputs[0],
        en="expected run(...) to return the outputs for the new inputs, "
        "yours returns the tensors that the model was built from",
        zh="run(...) 应返回为新输入算出的张量，你返回的是搭建模型时的张量",
    )
    nodes = [n for depth in sorted(model.nodes_by_depth, reverse=True)
             for n in model.nodes_by_depth[depth] if not n.is_input]  # fmt: skip
    student.order(CALLS, [name for name, _, _ in heard], [node.layer.name for node in nodes])
    arrays = [np.arange(2.0 * size).reshape(2, size) + i for i in range(len(new))]
    found = K.function(new, [output])(arrays)[0]
    wanted = model.predict(arrays if len(arrays) > 1 else arrays[0])
    student.close(Text("the network's output", "网络的输出"), found, wanted)
    return heard, new


@check
def a_chain(student):
    x = Input(shape=(4,))
    model = Model(x, Told(name="last")(Narrow(name="second")(Told(name="first")(x))))
    heard, _ = run(student, model, 4)
    for name, _, mask in heard:
        student.require(
            mask is None,
            en=f"expected {name}.call to get the mask None, because no layer makes one; yours got "
            f"{mask!r}",
            zh=f"{name}.call 得到的掩码应是 None，因为没有层给出掩码；你给它的是 {mask!r}",
        )


@check
def a_merge(student):
    a, b = Input(shape=(3,), name="a"), Input(shape=(3,), name="b")
    run(student, Model([a, b], Sum(name="sum")([Told(name="left")(a), b])), 3)


@check
def a_mask(student):
    x = Input(shape=(3,))
    model = Model(x, Told(name="keep")(Gaps(name="gaps")(x)))
    heard, new = run(student, model, 3)
    student.require(
        heard[-1][2] is not None,
        en="expected keep.call to get the mask that gaps made, yours got None",
        zh="keep.call 应得到 gaps 给出的掩码，你给它的是 None",
    )
    rows = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    (mask,) = K.function(new, [student.tensor(Text("the mask", "掩码"), heard[-1][2])])([rows])
    what = Text("the mask that gaps makes of its input", "gaps 由它的输入得出的掩码")
    student.same(what, np.asarray(mask).tolist(), (rows != 0).tolist())


def reference(model, new, masks):
    """Return the results of a correct loop: the inputs and masks of each call, and the outputs."""
    pairs = zip(new, masks, strict=True)
    known, calls = dict(zip(model.inputs, pairs, strict=True)), []
    for depth in sorted(model.nodes_by_depth, reverse=True):
        for node in model.nodes_by_depth[depth]:
            if node.is_input:
                continue
            tensors, own = (
                list(part) for part in zip(*map(known.get, node.input_tensors), strict=True)
            )
            calls.append((node.layer.name, tensors, own))
            given = (tensors, own) if len(tensors) > 1 else (tensors[0], own[0])
            outputs = to_list(node.layer.formula(given[0]))
            made = to_list(node.layer.compute_mask(*given)) or [None]
            known.update(zip(node.output_tensors, zip(outputs, made, strict=True), strict=True))
    return calls, [known[y][0] for y in model.outputs]


def compare(student, words, model):
    """Require that the tensors and masks of each call, and all outputs, are those of `reference`."""
    new = [Input(shape=(4,)) for _ in model.inputs]
    masks = [K.not_equal(x, 1.0 + n) if n % 2 == 0 else None for n, x in enumerate(new)]
    Told.heard.clear()
    answer = student.function("run")(model, new, list(masks))
    heard = list(Told.heard)
    what = Text(f"the outputs of run(...) for {words}", f"{words} 时 run(...) 的返回值")
    answer = student.listed(what, answer, len(model.outputs))
    calls, outputs = reference(model, new, masks)
    student.order(CALLS, [name for name, _, _ in heard], [name for name, _, _ in calls])
    pairs = []
    for (name, tensors, own), (_, wanted, wanted_masks) in zip(heard, calls, strict=True):
        for kind, found, expected in (
            (Text("input", "输入"), tensors, wanted),
            (Text("mask", "掩码"), own, wanted_masks),
        ):
            given = found if isinstance(found, (list, tuple)) and len(wanted) > 1 else [found]
            what = Text(f"the {kind.en}s of {name} in {words}", f"{words} 中 {name} 的{kind.zh}")
            for place, (one, other) in enumerate(
                zip(student.listed(what, given, len(wanted)), expected, strict=True)
            ):
                at = Text(
                    f"{kind.en} {place} of {name} in {words}",
                    f"{words} 中 {name} 的第 {place} 个{kind.zh}",
                )
                if other is None:
                    student.same(at, one, None)
                else:
                    pairs.append((at, student.tensor(at, one), other))
    for place, (one, other) in enumerate(zip(answer, outputs, strict=True)):
        at = Text(f"output {place} of {words}", f"{words} 的第 {place} 个输出")
        pairs.append((at, student.tensor(at, one), other))
    arrays = [(np.arange(8.0).reshape(2, 4) + n) % 4 for n in range(len(new))]
    numbers = K.function(new, [x for _, *both in pairs for x in both])(arrays)
    for (at, _, _), found, expected in zip(pairs, numbers[::2], numbers[1::2], strict=True):
        student.close(at, found, expected)


@check
def two_masks_in_a_merge(student):
    a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
    model = Model([a, b], Weighed(name="sum")([Gaps(name="gaps")(a), Told(name="keep")(b)]))
    compare(student, "sum(gaps(a), keep(b))", model)
    model = Model([a, b], Weighed(name="sum")([b, Told(name="keep")(a), Gaps(name="gaps")(a)]))
    compare(student, "sum(b, keep(a), gaps(a))", model)


@check
def a_layer_with_two_outputs(student):
    x = Input(shape=(4,), name="x")
    one, other = Parts(name="parts")(x)
    model = Model(x, [Told(name="last")(other), one, other, Told(name="first")(one)])
    compare(student, "one, other = parts(x); [last(other), one, other, first(one)]", model)


@check
def drawn_by_lot(student):
    """Test shared layers, masks made by a layer, and several outputs."""
    for outputs in (1, 3):
        for network in mixed_networks(
            4,
            outputs,
            lambda name: Gaps(name=name) if name in ("t", "d2", "d4") else Told(name=name),
            lambda name: Weighed(name=name),
        ):
            compare(student, network.words, Model(network.inputs, network.outputs))
