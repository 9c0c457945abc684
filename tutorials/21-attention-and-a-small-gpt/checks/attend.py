"""Compares the student's head with plain loops: drawn sizes, and causal, padding and empty masks."""

import math

import numpy as np

from kerascope.learn import Text, check


def by_loops(query, key, value, mask):
    """Return results and weights, computed one number at a time."""
    batch, queries, d = query.shape
    keys, features = value.shape[1:]
    weights = np.zeros((batch, queries, keys))
    results = np.zeros((batch, queries, features))
    for n in range(batch):
        for i in range(queries):
            allowed = [j for j in range(keys) if mask[n, i, j]]
            scores = {j: float(query[n, i] @ key[n, j]) / math.sqrt(d) for j in allowed}
            powers = {j: math.exp(scores[j] - max(scores.values())) for j in allowed}
            for j in allowed:
                weights[n, i, j] = powers[j] / sum(powers.values())
                results[n, i] += weights[n, i, j] * value[n, j]
    return results, weights


def causal(batch, queries, keys, rng):
    return np.tril(np.ones((batch, queries, keys), dtype=bool))


def padding(batch, queries, keys, rng):
    lengths = rng.integers(1, keys + 1, batch)
    return np.broadcast_to(np.arange(keys) < lengths[:, None, None], (batch, queries, keys)).copy()


def causal_and_padding(batch, queries, keys, rng):
    return causal(batch, queries, keys, rng) & padding(batch, queries, keys, rng)


def empty_row(batch, queries, keys, rng):
    mask = rng.random((batch, queries, keys)) < 0.6
    mask[rng.integers(batch), rng.integers(queries)] = False
    return mask


def none(batch, queries, keys, rng):
    return np.ones((batch, queries, keys), dtype=bool)


MASKS = (
    (none, Text("without a mask", "没有掩码时")),
    (causal, Text("with a causal mask", "用因果掩码时")),
    (padding, Text("with a padding mask", "用填充掩码时")),
    (causal_and_padding, Text("with both masks", "两种掩码并用时")),
    (empty_row, Text("with a row that may look at nothing", "有一行什么也不许看时")),
)


def compare(student, arrays, when):
    """Require the student's weights and results to be those of the loops."""
    attend = student.function("attend")
    found = student.listed("attend(...)", attend(*arrays), 2)
    sizes = f"query {arrays[0].shape}, key {arrays[1].shape}, value {arrays[2].shape}"
    expected = by_loops(*arrays)
    for words, one in zip(
        (Text("the results", "结果"), Text("the weights", "权重")), found, strict=True
    ):
        is_nan = isinstance(one, np.ndarray) and one.dtype.kind == "f" and np.isnan(one).any()
        student.require(
            not is_nan,
            en=f"expected {words.en} {when.en} to be numbers, yours contain NaN ({sizes})",
            zh=f"{when.zh}，{words.zh}应是数，你的里面有 NaN（{sizes}）",
        )
    right = expected[1].sum(axis=-1)
    is_map = isinstance(found[1], np.ndarray) and found[1].shape == expected[1].shape
    sums = found[1].sum(axis=-1) if is_map else right
    if not np.allclose(sums, right):
        place = tuple(int(i) for i in np.argwhere(~np.isclose(sums, right))[0])
        student.require(
            False,
            en=f"expected the weights of query {list(place)} {when.en} to add up to "
            f"{right[place]:.0f}, yours add up to {sums[place]:.3g} ({sizes})",
            zh=f"{when.zh}，查询 {list(place)} 的权重加起来应为 {right[place]:.0f}，"
            f"你的加起来是 {sums[place]:.3g}（{sizes}）",
        )
    student.close(
        Text(f"the weights {when.en} ({sizes})", f"{when.zh}的权重（{sizes}）"),
        found[1],
        expected[1],
    )
    student.close(
        Text(f"the results {when.en} ({sizes})", f"{when.zh}的结果（{sizes}）"),
        found[0],
        expected[0],
    )


@check
def drawn_cases(student):
    rng = np.random.default_rng(0)
    for mask, when in MASKS:
        for _ in range(3):
            batch, queries, keys, d, features = rng.integers(2, 6, 5)
            query = rng.normal(size=(batch, queries, d))
            key = rng.normal(size=(batch, keys, d))
            value = rng.normal(size=(batch, keys, features))
            compare(student, [query, key, value, mask(batch, queries, keys, rng)], when)


@check
def large_scores(student):
    rng = np.random.default_rng(1)
    for sign in (1, -1):
        query = 100 * np.abs(rng.normal(size=(1, 3, 4))) + 50
        key = sign * (100 * np.abs(rng.normal(size=(1, 5, 4))) + 50)
        value = rng.normal(size=(1, 5, 2))
        when = Text("with scores in the thousands", "得分有几千时")
        compare(student, [query, key, value, causal(1, 3, 5, rng)], when)
