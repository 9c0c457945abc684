"""Tests the sizes of batches, rows in any order, and a training run on the student's batches."""

import numpy as np

from kerascope.layers import Dense, Input
from kerascope.learn import Text, check
from kerascope.models import Model

SIZES = ((50, 32), (64, 32), (10, 3), (5, 8), (1, 1), (7, 7), (0, 4))
ROWS = np.array([4, 0, 3])


def arrays():
    x = np.arange(12.0).reshape(6, 2)
    return [x, x[:, :1] * 10, np.ones(6)]


@check
def pairs(student):
    for size, batch_size in SIZES:
        starts = range(0, size, batch_size)
        expected = [(start, min(size, start + batch_size)) for start in starts]
        found = student.function("make_batches")(size, batch_size)
        words = f"make_batches({size}, {batch_size})"
        found = student.listed(words, found)
        student.require(
            all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in found),
            en=f"expected {words} to hold pairs (start, end), yours is {found}",
            zh=f"{words} 中应是二元组（起，止），你的是 {found}",
        )
        student.same(words, [tuple(pair) for pair in found], expected)


def compare(student, ins, found):
    found = student.listed("slice_batch(ins, rows)", found)
    student.same(Text("the number of arrays", "数组的个数"), len(found), len(ins))
    for name, array, part in zip(("x", "y", "sample weights"), ins, found, strict=False):
        name = Text(name, "样本权重" if name.startswith("s") else name)
        what = Text(f"{name.en} of rows {ROWS.tolist()}", f"第 {ROWS.tolist()} 行的 {name.zh}")
        student.close(what, part, array[ROWS])


@check
def rows_without_a_flag(student):
    ins = arrays()
    compare(student, ins, student.function("slice_batch")(ins, ROWS))


@check
def rows_and_a_flag(student):
    ins = [*arrays(), 1.0]
    found = student.function("slice_batch")(ins, ROWS)
    compare(student, [*ins[:3], 1.0], found)
    student.require(
        isinstance(found[-1], float),
        en=f"expected the flag to be the float 1.0, yours is {type(found[-1]).__name__} of shape "
        f"{np.shape(found[-1])}",
        zh=f"标志应为 float 1.0，你的是 {type(found[-1]).__name__}，形状 {np.shape(found[-1])}",
    )
    student.same(Text("the flag", "标志"), found[-1], 1.0)


@check
def a_training(student):
    models = []
    for _ in range(2):
        inputs = Input(shape=(2,))
        models.append(Model(inputs, Dense(1)(inputs)))
        models[-1].compile("sgd", "mse")
        models[-1].set_weights([np.ones((2, 1)), np.zeros(1)])
    x, y, weights = (array / 100 for array in arrays())
    models[0].fit(x, y, sample_weight=weights, batch_size=4, epochs=1, shuffle=False, verbose=0)
    models[1]._make_train_function()
    for start, end in student.function("make_batches")(6, 4):
        rows = np.arange(start, end)
        ins_batch = student.function("slice_batch")([x, y, weights], rows)
        models[1].train_function(ins_batch)
    what = Text("the kernel after an epoch with your batches", "用你的批训练一轮之后的 kernel")
    student.close(what, models[1].get_weights()[0], models[0].get_weights()[0])


@check
def other_inputs_and_other_flags(student):
    """Test two input arrays, inputs without sample weights, and the learning phases 0.0 and 1.0."""
    x, y, weights = arrays()
    slice_batch = student.function("slice_batch")
    for words, ins in (
        (Text("x and the flag 0.0", "x 和标志 0.0"), [x, 0.0]),
        (Text("x alone", "单独的 x"), [x]),
        (Text("x and y", "x 和 y"), [x, y]),
        (Text("x, x, y and weights", "x、x、y 和权重"), [x, x + 100, y, weights]),
        (Text("x, y and the flag 1.0", "x、y 和标志 1.0"), [x, y, 1.0]),
        (
            Text("x, x, y, weights and the flag 0.0", "x、x、y、权重和标志 0.0"),
            [x, x + 100, y, weights, 0.0],
        ),
    ):
        what = Text(f"slice_batch of {words.en}", f"{words.zh} 的 slice_batch")
        wanted = [one if isinstance(one, float) else one[ROWS] for one in ins]
        found = student.listed(what, slice_batch(ins, ROWS), len(ins))
        for place, (part, expected) in enumerate(zip(found, wanted, strict=True)):
            at = Text(f"{what.en}, number {place + 1},", f"{what.zh}，第 {place + 1} 个，")
            student.close(at, part, expected)
