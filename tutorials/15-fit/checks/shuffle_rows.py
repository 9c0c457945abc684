"""Each row once; mixed or not; whole batches that stay together; anew for each epoch."""

import numpy as np

from kerascope.learn import Text, check


def order(student, samples, batch_size, shuffle, random):
    """Return the student's order, after it was seen that each row comes once."""
    words = f"order_of_rows({samples}, {batch_size}, {shuffle!r}, random)"
    found = np.asarray(student.function("order_of_rows")(samples, batch_size, shuffle, random))
    student.same(Text(f"the shape of {words}", f"{words} 的形状"), found.shape, (samples,))
    counts = np.bincount(found.astype(int), minlength=samples)
    wrong = np.flatnonzero(counts != 1)
    row, times = (int(wrong[0]), int(counts[wrong[0]])) if len(wrong) else (0, 1)
    student.require(
        len(wrong) == 0,
        en=f"{words}: expected row {row} to come once, yours comes {times} times",
        zh=f"{words}：第 {row} 行应出现一次，你的出现了 {times} 次",
    )
    return found


@check
def in_order(student):
    found = order(student, 10, 4, False, np.random.default_rng(0))
    student.same("order_of_rows(10, 4, False, random)", found.tolist(), list(range(10)))


@check
def mixed(student):
    random = np.random.default_rng(1)
    first, second = (order(student, 50, 10, True, random) for _ in range(2))
    student.require(
        (np.diff(first) != 1).sum() > 20,
        en="shuffle=True: expected all rows to be mixed, yours still stand in order",
        zh="shuffle=True：所有的行应混在一起，你的仍按原来的次序",
    )
    anew(student, "True", first, second)


@check
def whole_batches(student):
    random = np.random.default_rng(2)
    first, second = (order(student, 50, 4, "batch", random) for _ in range(2))
    expected = [48, 49]
    what = Text(
        "the last batch of order_of_rows(50, 4, 'batch', random)",
        "order_of_rows(50, 4, 'batch', random) 的最后一批",
    )
    student.same(what, first[48:].tolist(), expected)
    for number, batch in enumerate(first[:48].reshape(-1, 4)):
        student.require(
            (np.diff(batch) == 1).all() and batch[0] % 4 == 0,
            en=f"shuffle='batch': expected the rows of batch {number} to be one whole batch, in "
            f"order, such as [8, 9, 10, 11]; yours are {batch.tolist()}",
            zh=f"shuffle='batch'：第 {number} 批的行应是完整的一批，次序不变，如 [8, 9, 10, 11]；"
            f"你的是 {batch.tolist()}",
        )
    student.require(
        (first != np.arange(50)).any(),
        en="shuffle='batch': expected whole batches to change places, yours stand in order",
        zh="shuffle='batch'：各批应换位置，你的仍按原来的次序",
    )
    anew(student, "'batch'", first, second)


def anew(student, word, first, second):
    student.require(
        (first != second).any(),
        en=f"shuffle={word}: expected another order in the second epoch, yours is the same",
        zh=f"shuffle={word}：第二轮应是另一种次序，你的没有变",
    )
