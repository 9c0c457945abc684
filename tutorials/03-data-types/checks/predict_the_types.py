"""Compares the student's predictions with the types of real tensors."""

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import applies_in_order
from kerascope.learn import Text, check


def tensors():
    x = K.variable(np.ones(3), dtype="float32", name="x")
    d = K.placeholder(shape=(3,), dtype="float64", name="d")
    i = K.variable(np.ones(3), dtype="int32", name="i")
    a = np.ones(3)
    return {
        "x * 2.5": x * 2.5,
        "x * a": x * a,
        "x + d": x + d,
        "x * i": x * i,
        "i * 2": i * 2,
        "K.greater(x, d)": K.greater(x, d),
        "K.cast(i, 'float64')": K.cast(i, "float64"),
    }


@check
def each_type(student):
    predictions = student.get("predictions")
    student.require(
        isinstance(predictions, dict),
        en=f"expected predictions to stay a dict, yours is {type(predictions).__name__}",
        zh=f"predictions 应仍是字典，你的是 {type(predictions).__name__}",
    )
    for words, tensor in tensors().items():
        found = predictions.get(words)
        names = ", ".join(apply.op.name for apply in applies_in_order([tensor]))
        student.same(
            f'predictions["{words}"]',
            found,
            str(tensor.dtype),
            Text(f"the ops of its graph are {names}", f"它的图中的运算依次是 {names}"),
        )
