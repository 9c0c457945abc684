"""Tests the student's search: one Input missing, several, and a tensor from the middle as input."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import Text, check, drawn_networks

NOTHING = Text("", "")


CALLED_TWICE = Text(
    "shared was called on a, then on b; tensor._keras_history.node is the call that made a tensor",
    "shared 先对 a 调用，再对 b 调用；tensor._keras_history.node 才是产生该张量的那次调用",
)


def compare(student, words, inputs, outputs, expected, why=NOTHING):
    found = student.function("what_is_missing")(inputs, outputs)
    student.require(
        isinstance(found, (list, tuple)),
        en=f"expected what_is_missing(...) to return a list, yours is {type(found).__name__}",
        zh=f"what_is_missing(...) 应返回列表，你的是 {type(found).__name__}",
    )
    names = sorted(getattr(one, "name", repr(one)) for one in found)
    what = Text(f"what_is_missing({words})", f"what_is_missing({words})")
    student.same(what, names, sorted(one.name for one in expected), why)
    student.require(
        all(any(one is tensor for tensor in expected) for one in found),
        en=f"expected what_is_missing({words}) to hold tensors of Inputs, yours holds others",
        zh=f"what_is_missing({words}) 中应是 Input 的张量，你的是别的",
    )


@check
def one_output(student):
    a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
    y = Dense(2, name="y")(Add(name="add")([Dense(4, name="h")(a), b]))
    compare(student, "[a, b], [y]", [a, b], [y], [])
    compare(student, "[a], [y]", [a], [y], [b])
    compare(student, "[], [y]", [], [y], [a, b])


@check
def two_outputs(student):
    a, b, c = (Input(shape=(4,), name=name) for name in "abc")
    first = Add(name="first")([a, c])
    second = Dense(2, name="second")(Add(name="sum")([b, c]))
    compare(student, "[a], [first, second]", [a], [first, second], [b, c])
    compare(student, "[a, b], [first, second]", [a, b], [first, second], [c])


@check
def a_layer_that_is_called_twice(student):
    a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
    shared = Dense(4, name="shared")
    first, second = shared(a), shared(b)
    compare(student, "[], [shared(a)]", [], [first], [a])
    compare(student, "[], [shared(b)]", [], [second], [b], CALLED_TWICE)
    y = Dense(2, name="y")(second)
    compare(student, "[b], [y(shared(b))]", [b], [y], [])


@check
def an_input_that_is_an_output(student):
    a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
    compare(student, "[], [a]", [], [a], [a])
    compare(student, "[b], [b, a]", [b], [b, a], [a])


@check
def a_tensor_from_the_middle(student):
    a = Input(shape=(4,), name="a")
    h = Dense(4, name="h")(a)
    y = Dense(2, name="y")(h)
    compare(student, "[h], [y]", [h], [y], [a])
    compare(student, "[a], [h, y]", [a], [h, y], [])
    twin = Input(shape=(4,), name="a")
    compare(student, "[another a], [y]", [twin], [y], [a])
    both = Add(name="both")([h, Dense(4, name="g")(twin)])
    compare(student, "[], [both(h(a), g(another a))]", [], [both], [a, twin])


@check
def drawn_by_lot(student):
    for network in drawn_networks(outputs=2):
        compare(student, f"[], [{network.words}]", [], network.outputs, network.inputs)
        first, *others = network.inputs
        words = f"[{first.name}], [{network.words}]"
        compare(student, words, [first], network.outputs, others)
