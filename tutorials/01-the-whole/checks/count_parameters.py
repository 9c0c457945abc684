"""Compares the student's counts with the parameters of real models, some from the documents."""

import numpy as np

from kerascope.layers import Dense, Input, Layer
from kerascope.learn import Text, check
from kerascope.models import Model

SIZES = ([20, 64], [500, 32, 10], [10, 10, 1], [8, 8, 8, 8], [784, 64, 64, 10], [20, 64, 64, 1])
LOTS = np.random.RandomState(1)
DRAWN = [LOTS.randint(1, 40, size=layers + 1).tolist() for layers in (1, 2, 3, 5)]


def model_of(sizes):
    inputs = outputs = Input(shape=(sizes[0],))
    for units in sizes[1:]:
        outputs = Dense(units)(outputs)
    return Model(inputs, outputs)


@check
def every_model_of_the_documents(student):
    parameters = student.function("parameters")
    for sizes in (*SIZES, *DRAWN):
        model = model_of(sizes)
        first = model.layers[1]
        size, units = sizes[:2]
        sum_of_first = f"{first.count_params():,} = {size} x {units} + {units}"
        student.same(
            f"parameters({sizes})",
            parameters(list(sizes)),
            model.count_params(),
            Text(f"its first layer has {sum_of_first}", f"它的第一层有 {sum_of_first} 个参数"),
        )


@check
def without_a_model(student):
    with student.without("parameters", Model=Model.__init__, Layer=Layer.__init__):
        found = student.function("parameters")([3, 2])
    student.same("parameters([3, 2])", found, 8)
