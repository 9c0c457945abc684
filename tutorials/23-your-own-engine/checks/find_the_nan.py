"""Makes known ops of small graphs and of a network give NaN; compares the Apply that is found first."""

from importlib import import_module

import numpy as np

from kerascope.learn import Text, check
from kerascope.learn.showing import shown


def engine(part):
    return import_module(f"my_engine.{part}")


def tensor(value, name):
    value = np.array(value, dtype="float64")
    return engine("graph").Tensor(value.shape, name=name, value=value)


def found(student, words, function, arrays):
    """Return the student's answer: an Apply or None. The call must not change the weights."""
    before = [variable.value for variable, _ in function.updates]
    answer = student.function("first_nan")(function, arrays)
    student.require(
        all(v.value is array for (v, _), array in zip(function.updates, before, strict=True)),
        en=f"expected first_nan to leave the weights as they are, yours writes them ({words.en})",
        zh=f"first_nan 不应改动权重，你的写入了它们（{words.zh}）",
    )
    student.require(
        answer is None or isinstance(answer, engine("graph").Apply),
        en=f"expected first_nan to return an Apply or None, yours is {shown(answer)}",
        zh=f"first_nan 应返回 Apply 或 None，你的是 {shown(answer, 'zh')}",
    )
    return answer


def require(student, words, function, arrays, expected):
    answer = found(student, words, function, arrays)
    name, wanted = (one.op.name if one else "None" for one in (answer, expected))
    student.require(
        answer is expected,
        en=f"{words.en}: expected the Apply of `{wanted}`, yours is "
        + (
            f"that of `{name}`"
            if answer and name != wanted
            else "another one"
            if answer
            else "None"
        ),
        zh=f"{words.zh}：应是 `{wanted}` 的 Apply，你的是"
        + (f" `{name}` 的" if answer and name != wanted else "另一个" if answer else " None"),
    )


@check
def small_graphs(student):
    graph, function = engine("graph"), engine("function")
    x, w = graph.Tensor((2,), name="x"), tensor([0.0, 1.0], "w")
    log = graph.Log()(x)
    product = log * w
    total = graph.Sum()(product)
    f = function.Function([x], [total])
    words = Text("sum(log(x) * w) for x = [1, 2]", "x = [1, 2] 时的 sum(log(x) * w)")
    require(student, words, f, [np.array([1.0, 2.0])], None)
    words = Text(
        "sum(log(x) * w) for x = [0, 2], w = [0, 1]", "x = [0, 2]、w = [0, 1] 时的 sum(log(x) * w)"
    )
    require(student, words, f, [np.array([0.0, 2.0])], product.owner)
    words = Text("sum(log(x) * w) for x = [2, -1]", "x = [2, -1] 时的 sum(log(x) * w)")
    require(student, words, f, [np.array([2.0, -1.0])], log.owner)
    words = Text(
        "sum(log(x) * w) for x = [3, 0], w = [0, 1]", "x = [3, 0]、w = [0, 1] 时的 sum(log(x) * w)"
    )
    require(student, words, f, [np.array([3.0, 0.0])], None)


@check
def the_second_output(student):
    graph, function = engine("graph"), engine("function")
    x, y = graph.Tensor((2,), name="x"), graph.Tensor((2,), name="y")
    bad = graph.Log()(y)
    f = function.Function([x, y], [x * 2.0, bad + 1.0, x * 3.0])
    words = Text(
        "a function of three outputs, the second of them NaN", "有三个输出、第二个是 NaN 的函数"
    )
    require(student, words, f, [np.ones(2), np.array([1.0, -1.0])], bad.owner)
    f = function.Function([x], [x])
    last = graph.Log()(x)
    words = Text("log(x) for x = [1, -1]", "x = [1, -1] 时的 log(x)")
    require(student, words, function.Function([x], [last]), [np.array([1.0, -1.0])], last.owner)
    words = Text("a function without ops", "没有运算的函数")
    require(student, words, f, [np.ones(2)], None)


@check
def a_new_value(student):
    graph, function = engine("graph"), engine("function")
    w = tensor([4.0, 0.0], "w")
    ratio = w / w
    f = function.Function([], [graph.Sum()(w)], [(w, ratio * 2.0)])
    words = Text(
        "a new value that is NaN beside an output that is not", "输出正常、新值是 NaN 的函数"
    )
    require(student, words, f, [], ratio.owner)
    good = function.Function([], [graph.Sum()(w)], [(w, w * 2.0)])
    words = Text("a function with an update and no NaN", "有更新而没有 NaN 的函数")
    require(student, words, good, [], None)


@check
def a_network(student):
    layer, fit, function = engine("layer"), engine("fit"), engine("function")
    draw = np.random.default_rng(0)
    rows, targets = draw.normal(size=(8, 4)), np.eye(3)[draw.integers(0, 3, 8)]
    x = layer.Input((4,))
    hidden = layer.Dense(5, "relu")
    model = fit.Model(x, layer.Dense(3, "softmax")(hidden(x)))
    model.compile(function.SGD(0.1), "categorical_crossentropy")
    f = model.train_function
    words = Text("a training step without a NaN", "没有 NaN 的一步训练")
    require(student, words, f, [rows, targets], None)
    hidden.kernel.value = hidden.kernel.value * 1e5
    with np.errstate(all="ignore"):
        orderly = engine("graph").applies_in_order([*f.outputs, *[new for _, new in f.updates]])
        values, expected = dict(zip(f.inputs, [rows, targets], strict=True)), None
        for apply in orderly:
            array = apply.op.perform(*[values.get(one, one.value) for one in apply.inputs])
            values[apply.outputs[0]] = array
            if expected is None and np.isnan(array).any():
                expected = apply
    words = Text("a step with a kernel of 1e5", "kernel 放大到 1e5 的一步")
    require(student, words, f, [rows, targets], expected)
