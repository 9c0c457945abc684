"""Checks the student's layer before and after it gets its Input, and a model that starts with it."""

import numpy as np

from kerascope.layers import Dense, InputLayer
from kerascope.learn import Text, check
from kerascope.models import Model


class OnItsOwn(Dense):
    """A layer that counts the calls of its own method `create_input_layer`."""

    used = 0

    def create_input_layer(self, *args, **kwargs):
        self.used += 1


@check
def one_node_and_one_input(student):
    layer = OnItsOwn(3, name="dense")
    give = student.function("create_input_layer")
    returned = give(layer, (None, 7), "door")
    student.same(
        "create_input_layer(...)", returned, None, Text("nothing is returned", "什么也不返回")
    )
    student.same("calls of layer.create_input_layer", layer.used, 0)
    student.same(
        "len(layer.inbound_nodes)",
        len(layer.inbound_nodes),
        1,
        Text(
            "a call leaves a Node only where the tensor has a history",
            "只有张量带着来历，调用才会留下 Node",
        ),
    )
    (node,) = layer.inbound_nodes
    (door,) = node.inbound_layers
    student.same(Text("the class of the inbound layer", "上游层的类"), type(door), InputLayer)
    student.same(Text("its name", "它的名字"), door.name, "door")
    student.same("layer.input_shape", tuple(layer.input_shape), (None, 7))
    student.same("layer.batch_input_shape", layer.batch_input_shape, (None, 7))
    student.same(
        Text("the InputLayer's outbound_nodes", "InputLayer 的 outbound_nodes"),
        door.outbound_nodes,
        [node],
    )


@check
def a_batch_of_known_size(student):
    layer = OnItsOwn(3)
    student.function("create_input_layer")(layer, (8, None, 5), "rows")
    student.same("layer.input_shape", tuple(layer.input_shape), (8, None, 5))
    student.same("layer.output_shape", tuple(layer.output_shape), (8, None, 3))
    what = Text("layer.batch_input_shape of batches of 8", "每批 8 行时的 layer.batch_input_shape")
    student.same(what, layer.batch_input_shape, (8, None, 5))


@check
def a_model_can_begin_there(student):
    layer = OnItsOwn(3)
    student.function("create_input_layer")(layer, (None, 7), "door")
    model = Model(layer.input, layer.output)
    shape = model.predict(np.ones((4, 7))).shape
    student.same(Text("the shape of a prediction", "预测的形状"), shape, (4, 3))
