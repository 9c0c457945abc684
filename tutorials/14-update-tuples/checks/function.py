"""Checks values, a call's two phases, missing inputs, that each op runs once, and the pairs of SGD."""

from contextlib import suppress
from importlib import import_module

import numpy as np

from kerascope.learn import Text, Unmet, check
from kerascope.learn.showing import shown


def engine(part):
    return import_module(f"my_engine.{part}")


def tensor(value, name="w"):
    value = np.array(value, dtype="float64")
    return engine("graph").Tensor(value.shape, name=name, value=value)


def given(shape, name="x"):
    return engine("graph").Tensor(shape, name=name)


def made(student, inputs, outputs, updates=()):
    """Return one of the student's Functions, wrapped so that its calls are checked."""
    return student.method(student.get("Function")(inputs, outputs, updates), "f")


@check
def outputs(student):
    x, y = given((None, 2), "x"), given((None, 2), "y")
    f = made(student, [x, y], [x * y, x - y, x])
    one, other = np.array([[1.0, 2.0]]), np.array([[3.0, 5.0]])
    found = student.listed("f([x, y])", f([one, other]), 3)
    for what, array, expected in zip(
        ("x * y", "x - y", "x"), found, (one * other, one - other, one), strict=True
    ):
        student.close(what, array, expected)
    student.close(
        Text("x * y in a second call", "第二次调用的 x * y"), f([other, other])[0], other * other
    )
    student.close(
        Text("an output that is an op's input too", "同时也是运算输入的输出"),
        made(student, [x], [x + x, (x + x) * 2.0])([one])[0],
        2 * one,
    )
    student.same(
        Text("the outputs of a function without outputs", "没有输出的函数的返回值"),
        made(student, [x], [])([one]),
        [],
    )
    f = student.get("Function")([x], [x * 2.0])
    for name, expected in (("inputs", [x]), ("outputs", f.outputs), ("updates", [])):
        student.same(f"f.{name}", list(getattr(f, name, ...)), expected)


@check
def values_are_read_at_each_call(student):
    w = tensor([2.0])
    f = made(student, [], [w * w, w])
    found = student.listed("f([])", f([]), 2)
    student.close("w * w", found[0], [4.0])
    student.close("w", found[1], [2.0])
    w.value = np.array([3.0])
    student.close(
        Text("w * w after w.value was set to 3", "w.value 设为 3 之后的 w * w"), f([])[0], [9.0]
    )
    x = tensor([1.0], "x")
    what = Text(
        "x * 2, where x is an input that has a value of its own",
        "x 是输入，自己也有 value 时的 x * 2",
    )
    student.close(what, made(student, [x], [x * 2.0])([np.array([5.0])])[0], [10.0])


@check
def two_phases(student):
    w = tensor([2.0])
    student.get("Function")([], [w * w], [(w, w * 0.8)])
    student.close(Text("w after the function was made", "创建函数之后的 w"), w.value, [2.0])
    f = made(student, [], [w * w], [(w, w * 0.8)])
    for number, (output, after) in enumerate([(4.0, 1.6), (2.56, 1.28)], 1):
        found = student.listed("f([])", f([]), 1)
        student.close(
            Text(
                f"what call {number} returns, the square of w",
                f"第 {number} 次调用返回的 w 的平方",
            ),
            found,
            [[output]],
        )
        student.close(
            Text(f"w after call {number}", f"第 {number} 次调用之后的 w"), w.value, [after]
        )


@check
def variables_are_exchanged(student):
    a, b, c = tensor([1.0], "a"), tensor([2.0], "b"), tensor([3.0], "c")
    f = made(student, [], [a * 1.0], iter([(a, b), (b, c), (c, a)]))
    found = student.listed("f([])", f([]), 1)
    student.close(
        Text(
            "the output a * 1 of a function that exchanges a, b, c",
            "轮换 a、b、c 的函数的输出 a * 1",
        ),
        found[0],
        [1.0],
    )
    student.close(
        Text("(a, b, c) = (1, 2, 3) after a rotation", "(a, b, c) = (1, 2, 3) 轮换之后"),
        [float(x.value[0]) for x in (a, b, c)],
        [2.0, 3.0, 1.0],
    )
    f([])
    student.close(
        Text("(a, b, c) after two rotations", "(a, b, c) 轮换两次之后"),
        [float(x.value[0]) for x in (a, b, c)],
        [3.0, 1.0, 2.0],
    )


@check
def arrays_of_their_own(student):
    w, x = tensor([2.0, 2.0]), given((2,))
    array = np.array([5.0, 6.0])
    made(student, [x], [], [(w, x)])([array])
    array[0] = 99.0
    student.close(
        Text("w after the array that was fed has changed", "所喂的数组改动之后的 w"),
        w.value,
        [5.0, 6.0],
    )
    v = tensor([0.0, 0.0], "v")
    f = made(student, [], [], [(w, w * 1.0), (v, w)])
    f([])
    w.value += 1.0
    student.close(
        Text(
            "v, which got the value of w, after w has changed in place",
            "v 得到 w 的值，w 就地改动之后的 v",
        ),
        v.value,
        [5.0, 6.0],
    )


@check
def each_op_once(student):
    graph = engine("graph")
    performed = []

    class Counted(graph.Op):
        def perform(self, x):
            performed.append(self)
            return x + 1.0

    x = given((1,))
    h = Counted()(x)
    y = h
    for _ in range(10):
        y = y * 0.5 + y * 0.5
    w = tensor([1.0])
    f = made(student, [x], [y, h], [(w, h * 2.0)])
    found = student.listed("f([x])", f([np.array([1.0])]), 2)
    student.close(Text("y", "y"), found[0], [2.0])
    student.close(Text("w after the call", "调用之后的 w"), w.value, [4.0])
    student.same(
        Text(
            "the number of times an op is performed that is used in many places",
            "一个多处用到的运算执行的次数",
        ),
        len(performed),
        1,
    )
    unused = Counted()(x)
    made(student, [x], [x * 2.0])([np.array([1.0])])
    student.same(
        Text(
            "the number of times an op is performed that no output needs",
            "没有输出需要的运算执行的次数",
        ),
        len(performed) - 1,
        0,
    )
    del unused


@check
def an_input_that_is_missing(student):
    x, hidden = given((1,), "x"), given((1,), "forgotten")
    for words, build in (
        ("[x * forgotten]", lambda f: f([x], [x * hidden])),
        ("[forgotten]", lambda f: f([x], [hidden])),
        ("[(w, forgotten)]", lambda f: f([x], [], [(tensor([1.0]), hidden)])),
    ):
        try:
            build(student.get("Function"))([np.array([1.0])])
        except ValueError as error:
            student.require(
                "forgotten" in str(error),
                en=f"expected the ValueError for {words} to name 'forgotten', yours says {str(error)!r}",
                zh=f"{words} 的 ValueError 应含有名字 'forgotten'，你的说的是 {str(error)!r}",
            )
            continue
        raise Unmet(
            Text(
                f"expected a ValueError for {words}, because 'forgotten' is not an input; yours raises none",
                f"{words} 应抛出 ValueError，因为 'forgotten' 不是输入；你的没有抛出",
            )
        )
    w = tensor([1.0])
    with suppress(ValueError):
        student.get("Function")([], [w * hidden], [(w, w * 5.0)])([])
    student.close(Text("w after a call that raised", "出错的调用之后的 w"), w.value, [1.0])


@check
def sgd(student):
    graph = engine("graph")
    SGD = student.get("SGD")
    student.close("SGD().lr", SGD().lr, 0.01)
    student.close("SGD(0.5).lr", SGD(0.5).lr, 0.5)
    w, b = tensor([2.0, -1.0]), tensor(3.0, "b")
    loss = graph.Sum()(w * w * b)
    updates = student.method(SGD(0.1).get_updates, "get_updates")(loss, [w, b])
    pairs = student.pairs("updates", updates, 2)
    student.require(
        pairs[0][0] is w and pairs[1][0] is b,
        en="expected each pair to begin with its parameter, in the order of params",
        zh="每个二元组应以它的参数开头，次序与 params 相同",
    )
    for variable, new_value in pairs:
        student.require(
            isinstance(new_value, graph.Tensor),
            en=f"expected the new value of {variable.name!r} to be a Tensor, yours is {shown(new_value)}",
            zh=f"{variable.name!r} 的新值应是 Tensor，你的是 {shown(new_value, 'zh')}",
        )
    student.close(Text("w after get_updates", "get_updates 之后的 w"), w.value, [2.0, -1.0])
    made(student, [], [loss], pairs)([])
    student.close(
        Text(
            "w = [2, -1] after a step on b * sum(w * w), lr = 0.1",
            "w = [2, -1] 对 b * sum(w * w) 走一步（lr = 0.1）之后",
        ),
        w.value,
        [2.0 - 0.1 * 12, -1.0 + 0.1 * 6],
    )
    student.close(Text("b = 3 after the same step", "b = 3 在同一步之后"), b.value, 3.0 - 0.1 * 5)


@check
def with_the_other_parts(student):
    """Train a network of `my_engine` that uses the student's part; compare it with kerascope's."""
    from kerascope import backend as K
    from kerascope import layers, models, optimizers

    layer, fit = engine("layer"), engine("fit")
    draw = np.random.default_rng(0)
    rows, targets = draw.normal(size=(16, 5)), np.eye(3)[draw.integers(0, 3, 16)]
    x = layer.Input((5,))
    own = fit.Model(x, layer.Dense(3, "softmax")(layer.Dense(4, "relu")(x)))
    own.compile(student.get("SGD")(lr=0.5), "categorical_crossentropy")
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
