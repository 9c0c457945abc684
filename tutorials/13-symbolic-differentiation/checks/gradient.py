"""Checks gradients of chains, sums, random formulas and gradients, and tensors without a gradient."""

import random
from importlib import import_module

import numpy as np

from kerascope.learn import Text, check
from kerascope.learn.showing import shown


def engine(part):
    return import_module(f"my_engine.{part}")


def tensor(value, name):
    value = np.array(value, dtype="float64")
    return engine("graph").Tensor(value.shape, name=name, value=value)


def value_of(y):
    return engine("function").Function([], [y])([])[0]


def gradients(student, loss, wrt):
    """Return the student's gradients, one tensor or None for each of `wrt`."""
    found = student.function("gradients")(loss, wrt)
    return student.listed("gradients(loss, wrt)", found, len(wrt))


def close(student, what, found, expected):
    student.require(
        isinstance(found, engine("graph").Tensor),
        en=f"expected {what.en} to be a Tensor of your engine, yours is {shown(found)}",
        zh=f"{what.zh} 应是你的引擎里的 Tensor，你的是 {shown(found, 'zh')}",
    )
    student.close(what, value_of(found), expected)


@check
def one_op(student):
    x = tensor([1.0, 2.0], "x")
    loss = engine("graph").Sum()(x * x)
    (slope,) = gradients(student, loss, [x])
    close(
        student,
        Text("d sum(x * x) / d x for x = [1, 2]", "x = [1, 2] 时的 d sum(x * x) / d x"),
        slope,
        [2.0, 4.0],
    )


@check
def the_loss_itself_and_tensors_between(student):
    graph = engine("graph")
    x = tensor([1.0, 3.0], "x")
    h = graph.Relu()(x)
    loss = graph.Sum()(h * h)
    itself, between, slope = gradients(student, loss, [loss, h, x])
    close(student, Text("d loss / d loss", "d loss / d loss"), itself, 1.0)
    close(student, Text("d sum(h * h) / d h", "d sum(h * h) / d h"), between, [2.0, 6.0])
    close(student, Text("d sum(h * h) / d x", "d sum(h * h) / d x"), slope, [2.0, 6.0])


@check
def where_nothing_flows(student):
    graph = engine("graph")
    x, other = tensor([1.0, 3.0], "x"), tensor([1.0], "other")
    h = x * x
    loss = graph.Sum()(h * graph.Positive()(h - 2.0))
    slope, none = gradients(student, loss, [x, other])
    close(
        student,
        Text(
            "d sum(h * positive(h - 2)) / d x, h = x * x",
            "h = x * x 时的 d sum(h * positive(h - 2)) / d x",
        ),
        slope,
        [0.0, 6.0],
    )
    student.same(
        Text("the gradient of a tensor that the loss does not need", "损失不依赖的张量的梯度"),
        none,
        None,
    )
    (none,) = gradients(student, graph.Sum()(graph.Positive()(h)), [x])
    student.same(Text("d sum(positive(x * x)) / d x", "d sum(positive(x * x)) / d x"), none, None)


@check
def a_none_before_a_term(student):
    graph = engine("graph")

    class Second(graph.Op):
        def infer_shape(self, one, other):
            return other

        def perform(self, one, other):
            return other

        def grad(self, inputs, outputs, output_grads):
            return [None, output_grads[0]]

    x = tensor([2.0, -1.0], "x")
    h = x * x
    (slope,) = gradients(student, graph.Sum()(Second()(h, h * 3.0)), [x])
    what = Text(
        "d loss / d x, where an op sends None to its first input and a term to the second,",
        "d loss / d x（有个运算送给第一个输入 None，送给第二个输入的是项）",
    )
    close(student, what, slope, [12.0, -6.0])


@check
def a_tensor_that_is_used_twice(student):
    graph = engine("graph")
    x = tensor([2.0, -1.0], "x")
    h = x * x
    loss = graph.Sum()(h * 3.0 + h * h)
    (slope,) = gradients(student, loss, [x])
    what = Text(
        "d sum(3h + h * h) / d x, where h = x * x is used three times,",
        "d sum(3h + h * h) / d x（h = x * x 用了三次）",
    )
    close(student, what, slope, [6 * 2 + 4 * 8, -6 - 4])


@check
def formulas_drawn_by_lot(student):
    for seed in range(8):
        words, loss, wrt = formula(seed)
        arrays = [x.value for x in wrt]
        for x, slope in zip(wrt, gradients(student, loss, wrt), strict=True):
            what = Text(f"d {words} / d {x.name}", f"d {words} / d {x.name}")
            if slope is None:
                student.require(
                    not np.any(differences(loss, x)),
                    en=f"expected {what.en} to be a tensor, yours is None",
                    zh=f"{what.zh} 应是张量，你的是 None",
                )
            else:
                close(student, what, slope, differences(loss, x))
        student.require(
            all(x.value is array for x, array in zip(wrt, arrays, strict=True)),
            en="expected gradients to leave the values of the tensors as they are",
            zh="gradients 不应改动张量的 value",
        )


def formula(seed):
    graph, rng = engine("graph"), random.Random(seed)
    draw = np.random.default_rng(seed)
    x, w = tensor(draw.normal(size=(4, 3)), "x"), tensor(draw.normal(size=(3, 3)), "w")
    b = tensor(draw.normal(size=3), "b")
    known = {x: "x", graph.Dot()(x, w): "dot(x, w)"}
    for _ in range(4):
        one, other = rng.choices(list(known)[-3:], k=2)
        kind = rng.choice(("softmax", "relu", "mul", "add", "sub", "bias", "dot"))
        if kind in ("softmax", "relu"):
            known[getattr(graph, kind.capitalize())()(one)] = f"{kind}({known[one]})"
        elif kind == "dot":
            known[graph.Dot()(one, w)] = f"dot({known[one]}, w)"
        elif kind == "bias":
            known[one + b] = f"({known[one]} + b)"
        else:
            sign = {"mul": "*", "add": "+", "sub": "-"}[kind]
            made = {"mul": one * other, "add": one + other, "sub": one - other}[kind]
            known[made] = f"({known[one]} {sign} {known[other]})"
    last = list(known)[-1]
    return f"mean({known[last]} ** 2)", graph.mean(last * last), [x, w, b]


def differences(loss, x, step=1e-6):
    before, slopes = x.value, np.zeros(x.shape)
    f = engine("function").Function([], [loss])
    for index in np.ndindex(x.shape):
        sides = []
        for sign in (1, -1):
            x.value = before.copy()
            x.value[index] += sign * step
            sides.append(float(f([])[0]))
        slopes[index] = (sides[0] - sides[1]) / (2 * step)
    x.value = before
    return slopes


@check
def a_gradient_of_a_gradient(student):
    x = tensor([2.0, 3.0], "x")
    (first,) = gradients(student, x * x * x, [x])
    close(
        student,
        Text("d x ** 3 / d x for x = [2, 3]", "x = [2, 3] 时的 d x ** 3 / d x"),
        first,
        [12.0, 27.0],
    )
    (second,) = gradients(student, first, [x])
    close(student, Text("its derivative, 6 * x", "它的导数 6 * x"), second, [12.0, 18.0])


@check
def many_paths(student):
    x = y = tensor([0.5], "x")
    for _ in range(30):
        y = y + y
    (slope,) = gradients(student, y, [x])
    close(
        student, Text("the gradient of x doubled 30 times", "x 加倍 30 次的梯度"), slope, [2.0**30]
    )


@check
def with_the_other_parts(student):
    """Train a network of `my_engine` that uses the student's part; compare it with kerascope's."""
    from kerascope import backend as K
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
