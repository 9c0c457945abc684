"""Checks the student's input tensor, the layer that made it, and the layer's only Node."""

from kerascope import backend as K
from kerascope.layers import Dense, Input, InputLayer
from kerascope.learn import Text, check
from kerascope.models import Model


@check
def the_tensor(student):
    tensor = student.function("make_input")((784,), "pixels")
    tensor = student.tensor('make_input((784,), "pixels")', tensor)
    student.require(
        K.is_placeholder(tensor),
        en=f"expected a placeholder, yours is made by the op {tensor.owner and tensor.owner.op.name}",
        zh=f"应是占位符，你的张量由运算 {tensor.owner and tensor.owner.op.name} 产生",
    )
    student.same(Text("the tensor's shape", "张量的形状"), tuple(tensor.shape), (None, 784))
    student.require(
        tensor._keras_history is not None,
        en="expected the tensor to have a _keras_history, yours has none: no layer made it",
        zh="张量应有 _keras_history，你的没有：它背后没有层",
    )


@check
def the_layer_behind_it(student):
    tensor = student.function("make_input")((784,), "pixels")
    layer, node_index, tensor_index = tensor._keras_history
    student.same(Text("the class of the layer", "层的类"), type(layer), InputLayer)
    student.same("layer.name", layer.name, "pixels")
    student.same("(node_index, tensor_index)", (node_index, tensor_index), (0, 0))
    student.same("len(layer.inbound_nodes)", len(layer.inbound_nodes), 1)
    student.same("layer.trainable", layer.trainable, False)
    student.same("layer.built", layer.built, True)
    student.same("inbound_layers", layer.inbound_nodes[0].inbound_layers, [])


@check
def a_model_can_begin_with_it(student):
    tensor = student.function("make_input")((5, 3), "rows")
    student.same(
        Text("the name of the layer", "层的名字"), tensor._keras_history.layer.name, "rows"
    )
    model = Model(tensor, Dense(2)(tensor))
    student.same("model.input_shape", tuple(model.input_shape), (None, 5, 3))


@check
def any_shape(student):
    """Test rows of one number, and rows of unknown length."""
    for shape in ((), (None, 3), (1,), (2, 3, 4)):
        tensor = student.function("make_input")(shape, "some")
        student.same(f'make_input({shape}, "some").shape', tuple(tensor.shape), (None, *shape))


@check
def without_input(student):
    with student.without("make_input", Input=Input):
        tensor = student.function("make_input")((2,), "pair")
    student.same(Text("the tensor's shape", "张量的形状"), tuple(tensor.shape), (None, 2))
