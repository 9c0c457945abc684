"""Checks the configuration of the student's layer, and the layer made from it, also in a model."""

import copy
import json

import numpy as np

from kerascope.layers import Input
from kerascope.learn import Text, check
from kerascope.models import Model, model_from_json


def made(student):
    return student.get("Scaled")(student.get("Range")(2.0, 6.0), name="scaled", trainable=False)


@check
def the_words(student):
    config = student.method(made(student).get_config, "get_config")()
    student.require(
        isinstance(config, dict),
        en=f"expected get_config() to return a dict, yours is {type(config).__name__}",
        zh=f"get_config() 应返回字典，你的是 {type(config).__name__}",
    )
    student.same('get_config()["limits"]', config.get("limits"), {"low": 2.0, "high": 6.0})
    student.same('get_config()["name"]', config.get("name"), "scaled")
    student.same('get_config()["trainable"]', config.get("trainable"), False)
    back = json.loads(json.dumps(config))
    student.same(
        Text("the configuration after a round trip through JSON", "经过 JSON 的配置"), back, config
    )


@check
def the_layer_made_of_them(student):
    layer = made(student)
    config = layer.get_config()
    before = copy.deepcopy(config)
    again = student.method(type(layer).from_config, "from_config", changes=(0,))(config)
    student.require(
        isinstance(again, type(layer)),
        en=f"expected from_config(...) to be a Scaled, yours is {type(again).__name__}",
        zh=f"from_config(...) 应是一个 Scaled，你的是 {type(again).__name__}",
    )
    student.same(Text("the dictionary after from_config", "from_config 之后的字典"), config, before)
    student.same("from_config(...).name", again.name, "scaled")
    student.same("from_config(...).trainable", again.trainable, False)
    kind = type(again.limits).__name__
    student.same("type(from_config(...).limits)", kind, "Range")
    x = np.linspace(-1.0, 9.0, 6).reshape(2, 3)
    student.close("from_config(...)(x)", again(x), (x - 2.0) / 4.0)


@check
def other_limits(student):
    layer = student.get("Scaled")(student.get("Range")(-0.5, 0.75))
    config = student.method(layer.get_config, "get_config")()
    student.same(
        Text(
            'get_config()["limits"] of Range(-0.5, 0.75)',
            'Range(-0.5, 0.75) 的 get_config()["limits"]',
        ),
        config.get("limits"),
        {"low": -0.5, "high": 0.75},
    )
    again = student.method(type(layer).from_config, "from_config")(config)
    x = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    what = Text(
        "from_config(...)(x) of Range(-0.5, 0.75)", "Range(-0.5, 0.75) 的 from_config(...)(x)"
    )
    student.close(what, again(x), (x + 0.5) / 1.25)


@check
def within_a_model(student):
    layer = made(student)
    x = Input(shape=(3,))
    model = Model(x, layer(x))
    twin = model_from_json(model.to_json(), custom_objects={"Scaled": type(layer)})
    array = np.linspace(-1.0, 9.0, 6).reshape(2, 3)
    what = Text(
        "the predictions of the model after a round trip through JSON", "经过 JSON 的模型的预测"
    )
    student.close(what, twin.predict(array), model.predict(array))
