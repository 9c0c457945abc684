"""Two Dense layers: before freezing, after it, and after compiling; the numbers stay."""

import warnings

import numpy as np

from kerascope import backend as K
from kerascope.errors import KerascopeWarning
from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model
from kerascope.optimizers import SGD

ROWS = np.array([[1.0, 2.0], [3.0, 5.0]])
TARGETS = np.zeros((2, 1))
FIRST = ["first/bias", "first/kernel"]
SECOND = ["second/bias", "second/kernel"]


def compiled_model():
    x = Input(shape=(2,))
    first = Dense(2, name="first", kernel_initializer="ones")
    model = Model(x, Dense(1, name="second", kernel_initializer="ones")(first(x)))
    model.compile(SGD(lr=0.125), "mse")
    return model


def moved(student, model):
    """Return what the student's function finds; that trainable was changed is no news here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KerascopeWarning)
        found = student.function("weights_that_move")(model, ROWS, TARGETS)
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
    student.same(Text("what moves in a new model", "新模型中变动的权重"),
                 moved(student, model), FIRST + SECOND)  # fmt: skip
    student.require(
        all(map(np.array_equal, before, model.get_weights())),
        en="expected the model to have its old numbers after weights_that_move, yours has new ones",
        zh="weights_that_move 之后模型里的数应恢复原样，你的没有",
    )
    model.get_layer("first").trainable = False
    student.same(Text("what moves before a new compile", "重新编译之前变动的权重"),
                 moved(student, model), FIRST + SECOND)  # fmt: skip


@check
def the_remedy(student):
    for name, left in (("first", SECOND), ("second", FIRST)):
        model = compiled_model()
        optimizer = model.optimizer
        student.function("freeze")(model, name)
        student.same(
            Text(f"what moves after freeze(model, '{name}')",
                 f"freeze(model, '{name}') 之后变动的权重"),
            moved(student, model), left,
        )  # fmt: skip
        student.same("model.loss", model.loss, "mse")
        student.same(
            Text("the class of model.optimizer", "model.optimizer 的类"),
            type(model.optimizer),
            type(optimizer),
        )
        what = Text("the learning rate after freeze(...)", "freeze(...) 之后的学习率")
        student.close(what, K.get_value(model.optimizer.lr), 0.125)
