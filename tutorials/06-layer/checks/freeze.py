"""Compares the student's lists of weights that a step moves with the weights that really move."""

import warnings

import numpy as np

from kerascope import backend as K
from kerascope.errors import KerascopeWarning
from kerascope.layers import BatchNormalization, Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model
from kerascope.optimizers import SGD

ROWS = np.array([[1.0, 2.0], [3.0, 5.0]])
TARGETS = np.zeros((2, 1))
FIRST = ["first/bias", "first/kernel"]
SECOND = ["second/bias", "second/kernel"]


def compiled_model(optimizer=None, loss="mse"):
    x = Input(shape=(2,))
    first = Dense(2, name="first", kernel_initializer="ones")
    model = Model(x, Dense(1, name="second", kernel_initializer="ones")(first(x)))
    model.compile(optimizer or SGD(lr=0.125), loss)
    return model


def moved(student, model, rows=ROWS, targets=TARGETS):
    """Return the names of the weights that the student lists, without the warning about `trainable`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KerascopeWarning)
        found = student.function("weights_that_move")(model, rows, targets)
    found = student.listed("weights_that_move(...)", found)
    return sorted(str(getattr(one, "name", one)) for one in found)


@check
def what_was_predicted(student):
    model = compiled_model()
    layer = model.get_layer("first")
    layer.trainable = False
    left = student.get("trainable_weights_left")
    student.same("trainable_weights_left", left, len(layer.trainable_weights))
    for name, is_compiled in (("moves_before_compile", False), ("moves_after_compile", True)):
        if is_compiled:
            model.compile("sgd", "mse")
        before = layer.get_weights()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", KerascopeWarning)
            model.train_on_batch(ROWS, TARGETS)
        moves = not np.array_equal(before[0], layer.get_weights()[0])
        student.same(name, student.get(name), moves)


@check
def the_proof(student):
    model = compiled_model()
    before = model.get_weights()
    student.same(Text("the weights that move in a new model", "新模型中变动的权重"),
                 moved(student, model), FIRST + SECOND)  # fmt: skip
    student.require(
        all(map(np.array_equal, before, model.get_weights())),
        en="expected the model to have its old numbers after weights_that_move, yours has new ones",
        zh="weights_that_move 之后模型里的数应恢复原样，你的没有",
    )
    model.get_layer("first").trainable = False
    student.same(Text("the weights that move before a new compile", "重新编译之前变动的权重"),
                 moved(student, model), FIRST + SECOND)  # fmt: skip


@check
def however_little_moves(student):
    """Test a column of zeros, slopes whose sum is 0, and tiny steps."""
    half = np.array([[1.0, 0.0]])
    what = Text(
        "the weights that move where the second feature is 0", "第二个特征为 0 时变动的权重"
    )
    student.same(what, moved(student, compiled_model(), half, [[0.0]]), FIRST + SECOND)
    what = Text("the weights that move by slopes whose sum is 0", "梯度之和为 0 时变动的权重")
    opposite = np.array([[1.0, -1.0]])
    expected = [*FIRST, "second/bias"]  # the hidden units are 0
    student.same(what, moved(student, compiled_model(), opposite, [[1.0]]), expected)
    what = Text("the weights that move at a rate of 2 ** -22", "学习率为 2 ** -22 时变动的权重")
    slow = compiled_model(SGD(lr=2.0**-22))
    student.same(what, moved(student, slow, half, [[0.0]]), FIRST + SECOND)


@check
def optimizer_and_loss_are_kept(student):
    model = compiled_model(SGD(lr=0.0625, momentum=0.5, nesterov=True), "mae")
    before = model.optimizer.get_config()
    student.function("freeze")(model, "first")
    student.same("model.loss", model.loss, "mae")
    after = model.optimizer.get_config()
    for name, value in before.items():
        what = Text(f"the optimizer's {name} after freeze(...)", f"freeze(...) 之后优化器的 {name}")
        student.same(what, after.get(name), value)
    what = Text(
        "the weights that move after freeze(model, 'first')",
        "freeze(model, 'first') 之后变动的权重",
    )
    student.same(what, moved(student, model), SECOND)


@check
def the_remedy(student):
    for name, left in (("first", SECOND), ("second", FIRST)):
        model = compiled_model()
        optimizer = model.optimizer
        student.function("freeze")(model, name)
        student.same(
            Text(f"the weights that move after freeze(model, '{name}')",
                 f"freeze(model, '{name}') 之后变动的权重"),
            moved(student, model), left,
        )  # fmt: skip
        student.same("model.loss", model.loss, "mse")
        student.same(
            Text("the class of model.optimizer", "model.optimizer 的类"),
            type(model.optimizer),
            type(optimizer),
        )
        student.function("freeze")(model, name)
        what = Text(f"the weights that move after freeze(model, '{name}') twice",
                    f"两次 freeze(model, '{name}') 之后变动的权重")  # fmt: skip
        student.same(what, moved(student, model), left)
        what = Text("the learning rate after freeze(...)", "freeze(...) 之后的学习率")
        student.close(what, K.get_value(model.optimizer.lr), 0.125)


@check
def what_moves_without_a_gradient(student):
    """Test BatchNormalization: its averages are weights too, and a step changes them."""
    x = Input(shape=(2,))
    model = Model(x, BatchNormalization(name="norm")(x))
    model.compile(SGD(lr=0.125), "mse")
    names, targets = [weight.name for weight in model.weights], np.array([[1.0, 2.0], [0.0, 5.0]])
    before = model.get_weights()
    model.train_on_batch(ROWS, targets)
    pairs = zip(names, before, model.get_weights(), strict=True)
    expected = sorted(name for name, old, new in pairs if not np.array_equal(old, new))
    model.set_weights(before)
    what = Text(
        "the weights that move in a model with BatchNormalization",
        "带 BatchNormalization 的模型中变动的权重",
    )
    student.same(what, moved(student, model, ROWS, targets), expected)
