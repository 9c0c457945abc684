"""Three networks on new symbols: a chain, a merge, and one in which a mask travels."""

from typing import ClassVar

import numpy as np

from kerascope import backend as K
from kerascope.layers import Input, Layer
from kerascope.learn import Text, Unmet, check
from kerascope.models import Model

CALLS = Text("calls of layers", "层的调用")


def count_of(inputs):
    """How many tensors stand in a list; -1 for a tensor without one."""
    return len(inputs) if isinstance(inputs, (list, tuple)) else -1


def demand(name, inputs, number):
    """Demand that a layer is called on one tensor (-1), or on a list of so many."""
    found = count_of(inputs)
    if found == number:
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
    """A layer that takes a mask, as in Keras 1, and writes down each call."""

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
    """Gives one column: what comes twice does not fit."""

    def build(self, input_shape):
        self.kernel = self.add_weight(name="k", shape=(input_shape[-1], 1), initializer="ones")

    def formula(self, inputs):
        return K.dot(inputs, self.kernel)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 1)


class Sum(Told):
    """Adds two tensors of a list."""

    number = 2

    def formula(self, inputs):
        return inputs[0] + 10.0 * inputs[1]

    def compute_output_shape(self, input_shape):
        return input_shape[0]

    def compute_mask(self, inputs, mask=None):
        return None


class Gaps(Told):
    """Says where its input is zero."""

    def compute_mask(self, inputs, mask=None):
        return K.not_equal(inputs, 0.0)


def run(student, model, size):
    """Run the student's loop on new symbols; return it with the calls of layers."""
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
        en="expected run(...) to return what was computed for the new inputs, "
        "yours are the tensors that the model was built of",
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
            en=f"expected {name}.call to be given the mask None, for nobody makes one; yours was "
            f"given {mask!r}",
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
        en="expected keep.call to be given the mask that gaps made, yours was given None",
        zh="keep.call 应得到 gaps 给出的掩码，你给它的是 None",
    )
    rows = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]])
    (mask,) = K.function(new, [student.tensor(Text("the mask", "掩码"), heard[-1][2])])([rows])
    what = Text("the mask that gaps makes of its input", "gaps 由它的输入得出的掩码")
    student.same(what, np.asarray(mask).tolist(), (rows != 0).tolist())
