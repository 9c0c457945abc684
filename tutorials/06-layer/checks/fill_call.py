"""Checks which methods of a subclass of SmallLayer are called, and in which order."""

from contextlib import suppress

from kerascope import backend as K
from kerascope.learn import Text, check


def recording_layer(student, passes_through=False, gives=None):
    """Return a layer that records the calls of its methods."""
    told = []

    class Recording(student.get("SmallLayer")):
        def build(self, input_shape):
            student.require(
                not K.is_tensor(input_shape),
                en="expected build to get a shape, yours passes it a tensor",
                zh="交给 build 的应是形状，你交的是张量",
            )
            told.append(f"build {tuple(input_shape)}")
            self.factor = K.variable(3.0)

        def call(self, inputs):
            told.append("call")
            if gives is not None:
                return gives
            return inputs if passes_through else inputs * self.factor

    return Recording(), told


@check
def one_build_for_two_calls(student):
    layer, told = recording_layer(student)
    x = K.variable([1.0, 2.0])
    first = student.method(layer, "layer")(x)
    student.order(
        Text("what one call did", "一次调用所做的事"), told, ["build (2,)", "call"]
    )  # fmt: skip
    student.same(Text("layer.built after a call", "调用之后的 layer.built"), layer.built, True)
    first = student.tensor("layer(x)", first)
    student.close("layer(x)", K.eval(first), [3.0, 6.0])
    student.require(
        first.owner.op.name != "identity",
        en="expected an output that `call` has made to be returned unchanged, yours is a copy",
        zh="`call` 新算出的输出应原样交还，你返回的是它的复制",
    )
    second = layer(K.variable([5.0, 5.0]))
    student.order(
        Text("the steps of two calls", "两次调用所做的事"), told, ["build (2,)", "call", "call"]
    )  # fmt: skip
    student.close("layer(y)", K.eval(student.tensor("layer(y)", second)), [15.0, 15.0])


@check
def a_build_that_fails(student):
    """Test that a build that failed is repeated at the next call."""
    layer, told = recording_layer(student)
    refused, whole = [], layer.build

    def refuses_once(input_shape):
        if not refused:
            refused.append(input_shape)
            raise ValueError("not yet")
        whole(input_shape)

    layer.build = refuses_once
    with suppress(ValueError):
        layer(K.variable([1.0, 2.0]))
    student.same(
        Text("layer.built after a build that failed", "build 失败之后的 layer.built"),
        layer.built,
        False,
    )
    layer(K.variable([1.0, 2.0]))
    what = Text("the steps of the call after a failed build", "build 失败之后的那次调用所做的事")
    student.order(what, told, ["build (2,)", "call"])


@check
def a_record_of_each_call(student):
    layer, _ = recording_layer(student)
    inputs = [K.variable([1.0, 2.0]), K.variable([3.0, 4.0]), K.variable([5.0, 6.0])]
    outputs = [student.method(layer, "layer")(x) for x in inputs]
    student.same("len(layer.calls)", len(layer.calls), 3)
    for number, pair in enumerate(zip(inputs, outputs, strict=True)):
        student.require(
            len(layer.calls[number]) == 2
            and all(one is other for one, other in zip(layer.calls[number], pair, strict=True)),
            en=f"expected layer.calls[{number}] to hold the inputs and the outputs of that call",
            zh=f"layer.calls[{number}] 应是那次调用的输入和输出",
        )


@check
def an_unchanged_output_is_copied(student):
    layer, _ = recording_layer(student, passes_through=True)
    x = K.variable([1.0, 2.0], name="x")
    y = layer(x)
    student.require(
        y is not x,
        en="expected a copy of an output that `call` left unchanged, yours is the input itself",
        zh="`call` 没有改变的输出应当复制，你返回的就是输入本身",
    )
    student.same(
        Text("the op of the copy", "复制所用的运算"), y.owner and y.owner.op.name, "identity"
    )
    named = K.variable([1.0, 2.0], name="x")
    student.require(
        recording_layer(student, gives=named)[0](x) is named,
        en="expected an output that is another tensor to be returned unchanged, whatever its "
        "name; yours is a copy",
        zh="输出是另一个张量时，无论叫什么名字都应原样交还，你返回的是它的复制",
    )
    layer, _ = recording_layer(student, gives=named)
    layer(named)
    student.require(
        layer(x) is named,
        en="expected an output that was an input of an earlier call to be returned unchanged, yours "
        "is a copy: only the inputs of this call count",
        zh="输出是先前某次调用的输入时，也应原样交还，你返回的是它的复制：只看这一次的输入",
    )
    layer, _ = recording_layer(student, passes_through=True)
    y = layer(x)
    student.require(
        layer.calls[-1][1] is y,
        en="expected layer.calls to hold the copy, yours holds the input",
        zh="layer.calls 中应是复制后的张量，你的是输入",
    )
