"""Tests the student's function on a chain, a merge of three, and a diamond on one input."""

from collections.abc import Iterable

from kerascope.backend.graph import Tensor
from kerascope.layers import Add, Dense, Input
from kerascope.learn import Text, check, drawn_networks

NOTHING = Text("", "")
CALLED_TWICE = Text(
    "shared was called on a, then on b; tensor._keras_history.node is the call that made a tensor",
    "shared 先对 a 调用，再对 b 调用；tensor._keras_history.node 才是产生该张量的那次调用",
)


def placeholders(student, words, tensor, expected, why=NOTHING):
    found = student.function("placeholders_of")(tensor)
    student.require(
        isinstance(found, Iterable) and not isinstance(found, Tensor),
        en=f"expected placeholders_of({words}) to return a list, yours is {type(found).__name__}",
        zh=f"placeholders_of({words}) 应返回列表，你的是 {type(found).__name__}",
    )
    found = list(found)
    names = sorted(str(getattr(one, "name", one)) for one in found)
    student.same(f"placeholders_of({words})", names, sorted(x.name for x in expected), why)
    student.require(
        all(any(one is x for x in expected) for one in found),
        en=f"expected placeholders_of({words}) to hold tensors, yours holds "
        f"{type(next(iter(found), None)).__name__}",
        zh=f"placeholders_of({words}) 中应是张量，你的是 {type(next(iter(found), None)).__name__}",
    )


@check
def a_chain(student):
    x = y = Input(shape=(20,), name="input_1")
    for number in (1, 2, 3):
        y = Dense(4, name=f"dense_{number}")(y)
    placeholders(student, "dense_3.output", y, [x])
    placeholders(student, "input_1", x, [x])


@check
def a_layer_that_is_called_twice(student):
    a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
    shared = Dense(4, name="shared")
    first, second = shared(a), shared(b)
    placeholders(student, "shared(a)", first, [a])
    placeholders(student, "shared(b)", second, [b], CALLED_TWICE)


@check
def a_merge(student):
    a, b, c = (Input(shape=(4,), name=name) for name in "abc")
    merged = Add(name="add")([Dense(4, name="d")(a), b])
    placeholders(student, "add.output", merged, [a, b])
    placeholders(student, "sum.output", Add(name="sum")([merged, c]), [a, b, c])


@check
def a_diamond(student):
    x = Input(shape=(4,), name="x")
    y = Add(name="beside")([Dense(4, name="first")(x), x])
    placeholders(student, "beside.output", y, [x])
    for number in range(25):
        y = Add(name=f"add_{number}")([y, y])
    placeholders(student, "add_24.output", y, [x])


@check
def drawn_by_lot(student):
    for network in drawn_networks():
        placeholders(student, network.words, network.outputs[0], network.inputs)
