"""Compares the student's predicted depths with those in the model itself."""

from kerascope.layers import Add, Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model


def model():
    x = Input(shape=(4,), name="x")
    a = Dense(4, name="a")(x)
    b = Dense(4, name="b")(a)
    d = Dense(4, name="d")(Dense(4, name="c")(a))
    add = Add(name="add")([b, d])
    return Model(x, [add, Dense(4, name="e")(b)])


@check
def the_depths(student):
    found = student.get("depths")
    student.require(
        isinstance(found, dict),
        en=f"expected depths to be a dict, yours is {type(found).__name__}",
        zh=f"depths 应是字典，你的是 {type(found).__name__}",
    )
    for layer, depth in model().graph_map.layers_depths.items():
        student.same(f"depths[{layer.name!r}]", found.get(layer.name), depth)


@check
def the_layers(student):
    names = [layer.name for layer in model().layers]
    student.order("layers", student.get("layers"), names)


@check
def the_order_of_the_walk(student):
    nodes = model().graph_map.nodes_in_decreasing_depth
    what = Text("post_order", "post_order")
    student.order(what, student.get("post_order"), [node.layer.name for node in nodes])
