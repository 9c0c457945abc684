"""Checks that the student's order has each row once, is mixed as required, and new in each epoch."""

import numpy as np

from kerascope.learn import Text, check


def order(student, samples, batch_size, shuffle, random):
    """Return the student's order, after checking that each row comes once."""
    words = f"order_of_rows({samples}, {batch_size}, {shuffle!r}, random)"
    found = student.function("order_of_rows")(samples, batch_size, shuffle, random)
    student.numbers(words, found)
    found = np.asarray(found)
    student.require(
        found.dtype.kind in "iu",
        en=f"expected {words} to hold whole numbers, yours holds {found.dtype}",
        zh=f"{words} 中应是整数，你的是 {found.dtype}",
    )
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
        en="shuffle=True: expected all rows to be mixed, yours are still in order",
        zh="shuffle=True：所有的行应混在一起，你的仍按原来的次序",
    )
    anew(student, "True", first, second)
    stay = sum(set(part.tolist()) == set(range(10 * n, 10 * n + 10))
               for n, part in enumerate(first.reshape(5, 10)))  # fmt: skip
    student.require(
        stay < 5,
        en="shuffle=True: expected rows to go from one batch to another, yours are mixed within "
        "their batches only",
        zh="shuffle=True：行应能从一批换到另一批，你的只在各自的批内混合",
    )
    drawn = np.array([order(student, 5, 2, True, random) for _ in range(200)])
    for row in range(5):
        places = sorted(set(np.argwhere(drawn == row)[:, 1].tolist()))
        student.same(
            Text(
                f"the places that row {row} takes in 200 epochs", f"200 轮中第 {row} 行到过的位置"
            ),
            places,
            list(range(5)),
        )


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
        en="shuffle='batch': expected whole batches to change places, yours are in order",
        zh="shuffle='batch'：各批应换位置，你的仍按原来的次序",
    )
    anew(student, "'batch'", first, second)
    same_batches(student, first)


def same_batches(student, first):
    """Require that whole batches are mixed, and that the rows of each batch stay together."""
    places = first[:48:4] // 4
    student.require(
        (np.diff(places) != 1).sum() > 5,
        en="shuffle='batch': expected all whole batches to be mixed, yours go in long runs",
        zh="shuffle='batch'：所有完整的批都应混在一起，你的成段地保持原来的次序",
    )
    for samples, batch_size in ((20, 5), (20, 1), (3, 5), (6, 6)):
        random = np.random.default_rng(3)
        found = order(student, samples, batch_size, "batch", random)
        whole = samples // batch_size * batch_size
        for batch in [*found[:whole].reshape(-1, batch_size), found[whole:]]:
            student.require(
                (np.diff(batch) == 1).all(),
                en=f"shuffle='batch', {samples} rows in batches of {batch_size}: expected the rows "
                f"of a batch to stay together, one of yours is {batch.tolist()}",
                zh=f"shuffle='batch'，{samples} 行，每批 {batch_size} 行：一批的行应在一起，"
                f"你有一批是 {batch.tolist()}",
            )


@check
def drawn_from_random(student):
    for shuffle in (True, "batch"):
        first, again = (order(student, 50, 4, shuffle, np.random.default_rng(5)) for _ in range(2))
        student.require(
            np.array_equal(first, again),
            en=f"shuffle={shuffle!r}: expected the same order from two generators of one seed, "
            "yours differs: use only `random`",
            zh=f"shuffle={shuffle!r}：同一种子的两个生成器应给出同样的次序，你的不同："
            "请只从 `random` 中抽取",
        )


def anew(student, word, first, second):
    student.require(
        (first != second).any(),
        en=f"shuffle={word}: expected another order in the second epoch, yours is the same",
        zh=f"shuffle={word}：第二轮应是另一种次序，你的没有变",
    )
