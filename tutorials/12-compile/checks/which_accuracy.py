"""Checks the student's names of metric functions, and a metric of the student in a compiled model."""

import numpy as np

from kerascope import backend as K
from kerascope.engine.compiling import resolve_metric
from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model

CASES = {
    "a": (1, "mse", Text("it has one unit", "只有一个单元")),
    "b": (10, "categorical_crossentropy", Text("neither one unit nor binary", "既非一个单元，也非二元")),
    "c": (10, "binary_crossentropy", Text("the loss decides", "由损失决定")),
    "d": (10, "sparse_categorical_crossentropy", Text("its labels are numbers of classes", "它的标签是类的编号")),
    "e": (10, "mse", Text("any other loss counts as categorical", "其余的损失都按多分类算")),
}  # fmt: skip
ROWS = np.eye(10)[[0, 3, 3, 7, 9]]


def compiled(units, loss, metric="accuracy"):
    x = Input(shape=(units,))
    model = Model(x, Dense(units, use_bias=False, kernel_initializer="identity")(x))
    model.compile("sgd", loss, metrics=[metric])
    return model


@check
def the_names(student):
    for name, (units, loss, why) in CASES.items():
        model = compiled(units, loss)
        _, function = resolve_metric("accuracy", model.loss_functions[0], model.outputs[0])
        student.same(name, student.get(name), function.__name__, why)


@check
def the_prediction(student):
    model = compiled(10, "binary_crossentropy")
    accuracy = model.evaluate(np.full((5, 10), 0.1), ROWS, verbose=0)[1]
    student.close("accuracy_of_c", student.get("accuracy_of_c"), accuracy)


@check
def a_metric_that_means_rows(student):
    metric = student.function("rows_right")
    guesses = np.full((5, 10), 0.04)
    guesses[range(5), [0, 3, 1, 8, 9]] = 0.3  # three of five are right
    close = np.full((5, 10), 0.05)
    close[range(5), [0, 3, 3, 7, 9]] = 0.2  # no row gives its label much,
    close[2:, 1] = 0.3  # and in two of five it is still the largest
    below = guesses - 1.0  # scores instead of shares, all of them below 0
    for loss in ("categorical_crossentropy", "binary_crossentropy", "mse"):
        model = compiled(10, loss, metric)
        student.tensor("rows_right(y_true, y_pred)", metric(model.targets[0], model.outputs[0]))
        found = model.evaluate(guesses, ROWS, verbose=0)[1]
        student.close(Text(f"rows_right under {loss}", f"{loss} 之下的 rows_right"), found, 0.6)
        what = Text(
            f"rows_right under {loss}, where labels get 0.2 and others up to 0.3,",
            f"{loss} 之下，标签得 0.2、其余最多 0.3 时的 rows_right",
        )
        student.close(what, model.evaluate(close, ROWS, verbose=0)[1], 0.4)
        what = Text(
            f"rows_right under {loss}, where all predictions are below 0,",
            f"{loss} 之下，预测值都小于 0 时的 rows_right",
        )
        student.close(what, model.evaluate(below, ROWS, verbose=0)[1], 0.6)


@check
def with_more_axes(student):
    """Test two samples of three rows and three classes: the last axis is that of the classes."""
    metric = student.function("rows_right")
    for rows, classes in ((3, 5), (3, 3), (1, 4)):
        labels = np.arange(2 * rows).reshape(2, rows) % classes
        guesses = labels.copy()
        guesses[0, 0] = (labels[0, 0] + 1) % classes
        target, output = (K.placeholder(shape=(None, rows, classes)) for _ in range(2))
        made = student.tensor("rows_right(y_true, y_pred)", metric(target, output))
        arrays = [np.eye(classes)[labels], 0.5 + np.eye(classes)[guesses]]
        found = K.function([target, output], [K.mean(made)])(arrays)[0]
        what = Text(
            f"rows_right for labels of shape (2, {rows}, {classes}), one row of {2 * rows} wrong,",
            f"标签形状为 (2, {rows}, {classes})、{2 * rows} 行中错 1 行时的 rows_right",
        )
        student.close(what, found, 1 - 1 / (2 * rows))
