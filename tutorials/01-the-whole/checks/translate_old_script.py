"""Compares the student's model with the script's, layer by layer; fails on a kerascope warning."""

import inspect
import warnings

import numpy as np

from kerascope import initializers
from kerascope.errors import SpellingWarning
from kerascope.layers import Dense, InputLayer
from kerascope.learn import Text, check
from kerascope.models import Model
from kerascope.optimizers import RMSprop

EXPECTED = (
    {"units": 64, "activation": "relu", "use_bias": True, "initializer": "he_normal", "l2": 0.0},
    {
        "units": 64,
        "activation": "relu",
        "use_bias": False,
        "initializer": "glorot_uniform",
        "l2": 0.01,
    },
    {
        "units": 1,
        "activation": "sigmoid",
        "use_bias": True,
        "initializer": "glorot_uniform",
        "l2": 0.0,
    },
)

# Arguments of fit that the script does not set.
PLAIN_FIT = (
    *("validation_split", "validation_data", "shuffle", "class_weight"),
    *("sample_weight", "initial_epoch", "steps_per_epoch"),
)

# Arguments of VarianceScaling that give the same numbers.
SCALINGS = {
    "he_normal": [(2.0, "fan_in", "normal"), (2.0, "fan_in", "truncated_normal")],
    "glorot_uniform": [(1.0, "fan_avg", "uniform")],
}


def without_warnings(student, what, function, *arguments):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        answer = function(*arguments)
    old = [str(one.message) for one in told if issubclass(one.category, SpellingWarning)]
    first = old[0] if old else ""
    student.require(
        not old,
        en=f"expected {what} to use only today's names, kerascope warned: {first}",
        zh=f"{what} 应全部使用今天的名字，但 kerascope 给出了警告：{first}",
    )
    return answer


def facts_of(layer):
    return {
        "units": layer.units,
        "activation": layer.activation.__name__,
        "use_bias": layer.use_bias,
        "l2": float(getattr(layer.kernel_regularizer, "l2", 0.0) or 0.0),
    }


@check
def the_layers(student):
    model = without_warnings(student, "build()", student.function("build"))
    layers = [layer for layer in getattr(model, "layers", []) if hasattr(layer, "units")]
    student.same(Text("the number of Dense layers", "Dense 层的个数"), len(layers), 3)
    for number, (layer, expected) in enumerate(zip(layers, EXPECTED, strict=True), 1):
        found = facts_of(layer)
        for name, value in found.items():
            what = Text(f"{name} of Dense layer {number}", f"第 {number} 个 Dense 层的 {name}")
            student.same(what, round_of(value), expected[name])
        name = expected["initializer"]
        student.require(
            begins_as(layer.kernel_initializer, name),
            en=f"expected the weights of Dense layer {number} to begin as {name}",
            zh=f"第 {number} 个 Dense 层的权重应以 {name} 初始化",
        )
        nothing_more(student, layer, number)
    others = [layer for layer in model.layers if not isinstance(layer, (Dense, InputLayer))]
    names = [type(layer).__name__ for layer in others]
    what = Text("the layers other than the three Dense layers", "三个 Dense 层以外的层")
    student.same(what, names, [])
    student.same(Text("the input's shape", "输入的形状"), tuple(model.input_shape), (None, 20))
    student.same(Text("the loss", "损失函数"), model.loss, "binary_crossentropy")
    what = Text("the class of the optimizer", "优化器的类")
    student.same(what, type(model.optimizer).__name__, "RMSprop")
    found, usual = model.optimizer.get_config(), RMSprop().get_config()
    for name, value in usual.items():
        what = Text(f"the optimizer's {name}", f"优化器的 {name}")
        student.same(what, round_of(found.get(name)), round_of(value))
    student.same("model.metrics_names", model.metrics_names, ["loss"])


def nothing_more(student, layer, number):
    """Require that a layer has no penalties or constraints beyond those of the script."""
    words = ("bias_regularizer", "activity_regularizer", "kernel_constraint", "bias_constraint")
    for word in words:
        what = Text(f"{word} of Dense layer {number}", f"第 {number} 个 Dense 层的 {word}")
        student.same(what, getattr(layer, word), None)


def begins_as(own, name):
    """Return whether an initializer is equivalent to the one with this name, by class or by numbers."""
    wanted = initializers.get(name)
    if type(own) is type(wanted):
        return True
    scaling = getattr(own, "get_config", dict)()
    keys = ("scale", "mode", "distribution")
    return tuple(scaling.get(key) for key in keys) in SCALINGS[name]


def round_of(value):
    return round(value, 6) if isinstance(value, float) else value


@check
def the_training(student):
    model = student.function("build")()
    numbers = np.random.RandomState(0)
    x, y = numbers.normal(size=(50, 20)), numbers.randint(0, 2, size=(50, 1))
    before, fit, asked = model.get_weights(), model.fit, []

    def watched_fit(*args, **kwargs):
        given = inspect.signature(Model.fit).bind(model, *args, **kwargs).arguments
        asked.append({word: given[word] for word in given if word in PLAIN_FIT})
        return fit(*args, **kwargs)

    model.fit = watched_fit
    history = without_warnings(
        student, "train(model, x, y)", student.function("train"), model, x, y
    )
    student.require(
        hasattr(history, "epoch"),
        en="expected train(model, x, y) to return the History that fit returns",
        zh="train(model, x, y) 应返回 fit 返回的 History",
    )
    student.require(
        not any(map(np.array_equal, before, model.get_weights())),
        en="expected train(model, x, y) to fit the model that it gets, its weights have not changed",
        zh="train(model, x, y) 应训练交给它的模型，但它的权重没有变",
    )
    student.same(Text("the number of epochs", "训练的轮数"), len(history.epoch), 2)
    usual = {name: one.default for name, one in inspect.signature(Model.fit).parameters.items()}
    for word, value in (asked[0] if asked else {}).items():
        student.same(Text(f"fit(..., {word}=...)", f"fit(..., {word}=...)"), value, usual[word])
    size = history.params["batch_size"]
    student.same(Text("the size of a batch", "一批的大小"), size, 32)
