"""Checks the configuration of the student's layer, the layer made from it, and a copied model."""

import json

import numpy as np

from kerascope.layers import Input
from kerascope.learn import Text, check
from kerascope.models import Model

X = np.array([[1.0, -2.0, 3.0]])
POWERS = {"square": 2, "cube": 3}


@check
def its_configuration(student):
    for word, layer in layers_of(student).items():
        config = student.method(layer.get_config, "get_config")()
        words = f"Curve(CURVES[{word!r}]).get_config()"
        student.require(
            isinstance(config, dict),
            en=f"expected {words} to be a dict, yours is {type(config).__name__}",
            zh=f"{words} 应是字典，你的是 {type(config).__name__}",
        )
        for key, value in config.items():
            student.require(
                is_written(value),
                en=f"expected {words} to hold words and numbers, {key!r} is a "
                f"{type(value).__name__}",
                zh=f"{words} 中应只有文字和数，但 {key!r} 是 {type(value).__name__}",
            )


@check
def made_again(student):
    for word, layer in layers_of(student).items():
        again = again_of(student, layer)
        what = Text("the name of the layer made again", "再造出的层的名字")
        student.same(what, getattr(again, "name", None), layer.name)
        what = Text(f"the {word} made again, on x", f"再造出的 {word} 作用于 x")
        student.close(what, again(X), X ** POWERS[word])
    frozen = student.get("Curve")(student.get("CURVES")["cube"], trainable=False)
    student.same(
        Text("trainable of a frozen layer made again", "冻结的层再造之后的 trainable"),
        getattr(again_of(student, frozen), "trainable", None),
        False,
    )


@check
def a_model_is_copied(student):
    curve = student.get("Curve")
    curves = student.get("CURVES")
    inputs = Input(shape=(3,))
    model = Model(inputs, curve(curves["cube"])(curve(curves["square"])(inputs)))
    copy = Model.from_config(model.get_config(), custom_objects={"Curve": curve})
    student.close(Text("the copied model on x", "复制的模型作用于 x"), copy.predict(X), X**6)


def again_of(student, layer):
    config = student.method(layer.get_config, "get_config")()
    return student.method(type(layer).from_config, "from_config")(json.loads(json.dumps(config)))


def layers_of(student):
    curves = student.get("CURVES")
    return {word: student.get("Curve")(curves[word], name=f"my_{word}") for word in POWERS}


def is_written(value):
    try:
        json.dumps(value)
    except TypeError:
        return False
    return True
