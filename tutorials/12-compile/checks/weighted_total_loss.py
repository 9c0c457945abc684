"""Compares the student's total loss, a tensor, and its gradient with those of compiled models."""

import numpy as np

from kerascope import backend as K
from kerascope import losses
from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model

WEIGHTS = [0.5, 3.0]
THREE = [2.0, 0.25, 1.5]


def compiled(loss_weights):
    x = Input(shape=(3,))
    spam = Dense(1, activation="sigmoid", kernel_initializer="zeros")(x)
    outputs = [spam, *(Dense(2, kernel_initializer="zeros")(x) for _ in range(2))]
    outputs = outputs[: len(loss_weights)]
    model = Model(x, outputs)
    names = ["binary_crossentropy", "mse", "mae"][: len(loss_weights)]
    model.compile("sgd", names, loss_weights=loss_weights)
    return model


def total_of(student, model, loss_weights):
    functions = [losses.get(function) for function in model.loss_functions]
    return student.function("total_loss")(model.targets, model.outputs, functions, loss_weights)


@check
def a_scalar_tensor(student):
    model = compiled(WEIGHTS)
    total = student.tensor(Text("the total loss", "总损失"), total_of(student, model, WEIGHTS))
    student.same(Text("the shape of the total loss", "总损失的形状"), total.shape, ())


@check
def its_value(student):
    random = np.random.default_rng(0)
    rows = random.normal(size=(5, 3))
    labels = [random.integers(0, 2, size=(5, 1)), *random.normal(size=(2, 5, 2))]
    for loss_weights in ([1.0], WEIGHTS, THREE, [4.0]):
        model = compiled(loss_weights)
        total = total_of(student, model, loss_weights)
        feeds = [rows, *labels[: len(loss_weights)]]
        f = K.function([*model.inputs, *model.targets], [total, model.total_loss])
        found, wanted = f(feeds)
        what = Text(
            f"the total loss with weights {loss_weights}", f"权重为 {loss_weights} 时的总损失"
        )
        student.close(what, found, wanted)


@check
def four_outputs_and_any_weight(student):
    """Test outputs of unequal sizes, a weight of 0, and a negative weight."""
    shapes, loss_weights = ((5, 1), (5, 2), (5, 4), (5, 3)), [2.0, -1.5, 0.5, 0.0]
    random = np.random.default_rng(1)
    arrays = [random.normal(size=shape) for shape in (*shapes, *shapes)]
    symbols = [K.placeholder(shape=(None, *array.shape[1:])) for array in arrays]
    functions = [losses.get(name) for name in ("mse", "mae", "mse", "mae")]
    total = student.function("total_loss")(symbols[:4], symbols[4:], functions, loss_weights)
    (found,) = K.function(symbols, [student.tensor(Text("the total loss", "总损失"), total)])(
        arrays
    )
    differences = [one - other for one, other in zip(arrays[:4], arrays[4:], strict=True)]
    means = [np.mean(np.square(d) if n % 2 == 0 else np.abs(d)) for n, d in enumerate(differences)]
    what = Text(
        f"the total loss of outputs {list(shapes)} with weights {loss_weights}",
        f"输出形状为 {list(shapes)}、权重为 {loss_weights} 时的总损失",
    )
    student.close(what, found, np.dot(loss_weights, means))


@check
def its_gradient(student):
    model = compiled(WEIGHTS)
    gradients = K.gradients(total_of(student, model, WEIGHTS), model.trainable_weights)
    student.require(
        all(gradient is not None for gradient in gradients),
        en="expected the total loss to depend on every weight, yours leaves one out",
        zh="总损失应系着每一个权重，你的漏掉了某一个",
    )
