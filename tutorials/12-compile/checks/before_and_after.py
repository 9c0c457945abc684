"""Compares the student's answers with what a model has after each step; tests `loss_of`."""

import numpy as np

from kerascope.errors import KerascopeError
from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model
from kerascope.regularizers import l2

ROWS, LABELS = np.arange(12.0).reshape(4, 3), np.ones((4, 1))


def new_model():
    x = Input(shape=(3,))
    return Model(x, Dense(1, kernel_initializer="ones")(x))


def compile_(model):
    model.compile("sgd", "mse")


def fit(model):
    model.fit(ROWS, LABELS, epochs=1, verbose=0)


def state(model, first):
    """Return for each name of the exercise, such as "targets", whether it exists now."""
    try:
        predictions = model.predict(ROWS) is not None
    except KerascopeError:
        predictions = False
    return {
        "predictions": predictions,
        "total_loss": model.total_loss is not None,
        "targets": bool(getattr(model, "targets", None)),
        "train_function": model.train_function is not None,
        "moved_weights": any(map(np.any, map(np.subtract, model.get_weights(), first))),
    }


@check
def the_moments(student):
    model = new_model()
    first = model.get_weights()
    since = {}
    for moment, act in (("made", lambda model: None), ("compile", compile_), ("fit", fit)):
        act(model)
        for name, is_there in state(model, first).items():
            if is_there:
                since.setdefault(name, moment)
    for name, moment in since.items():
        student.same(name, student.get(name), moment)


@check
def a_second_compile(student):
    model = new_model()
    compile_(model)
    fit(model)
    trained = model.get_weights()
    compile_(model)
    stays = model.train_function is not None
    student.same(
        "train_function_stays",
        student.get("train_function_stays"),
        stays,
        Text("there is a new loss to be trained", "要训练的已是新的损失"),
    )
    kept = all(map(np.array_equal, model.get_weights(), trained))
    student.same("weights_stay", student.get("weights_stay"), kept)


@check
def a_function_of_ones_own(student):
    model = new_model()
    compile_(model)
    first = model.get_weights()
    with student.without(
        "loss_of",
        model_evaluate=Model.evaluate,
        model_test_on_batch=Model.test_on_batch,
    ):
        found = student.function("loss_of")(model, ROWS, LABELS)
    wanted = float(np.mean((ROWS.sum(axis=1, keepdims=True) - LABELS) ** 2))
    student.close("loss_of(model, x, y)", found, wanted)
    x = Input(shape=(3,))
    other = Model(x, Dense(1, kernel_initializer="ones", kernel_regularizer=l2(0.5))(x))
    other.compile("sgd", "mae")
    found = student.function("loss_of")(other, ROWS, LABELS)
    what = Text("loss_of(...) of a model with mae and l2(0.5)", "loss_of(...)（mae 加 l2(0.5)）")
    wanted = float(np.mean(np.abs(ROWS.sum(axis=1, keepdims=True) - LABELS))) + 0.5 * 3
    student.close(what, found, wanted)
    moved = any(map(np.any, map(np.subtract, model.get_weights(), first)))
    student.require(
        not moved,
        en="expected loss_of to leave the weights alone, yours has trained the model",
        zh="loss_of 不应改动权重，你的却训练了模型",
    )
    student.require(
        model.train_function is None,
        en="expected model.train_function to stay None, your loss_of made one",
        zh="model.train_function 应一直是 None，你的 loss_of 却让模型造了一个",
    )
