"""Nothing missing, one, several behind two outputs, and a tensor from the middle as an input."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import Text, check


def compare(student, words, inputs, outputs, expected):
    found = student.function("what_is_missing")(inputs, outputs)
    student.require(
        isinstance(found, (list, tuple)),
        en=f"expected what_is_missing(...) to return a list, yours is {type(found).__name__}",
        zh=f"what_is_missing(...) 应返回列表，你的是 {type(found).__name__}",
    )
    names = sorted(getattr(one, "name", repr(one)) for one in found)
    what = Text(f"what_is_missing({words})", f"what_is_missing({words})")
    student.same(what, names, sorted(one.name for one in expected))
    student.same(what, set(found) == set(expected), True)


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
def a_tensor_from_the_middle(student):
    a = Input(shape=(4,), name="a")
    h = Dense(4, name="h")(a)
    y = Dense(2, name="y")(h)
    compare(student, "[h], [y]", [h], [y], [a])
    compare(student, "[a], [h, y]", [a], [h, y], [])
    twin = Input(shape=(4,), name="a")
    compare(student, "[another a], [y]", [twin], [y], [a])
