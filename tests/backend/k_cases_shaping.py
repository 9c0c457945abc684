"""Cases of the functions that move, repeat, join and choose elements."""

import numpy as np

from kerascope import backend as K
from tests.backend.k_cases import case


def same(x):
    return x


def rows_and_indices(d):
    return [d.normal(5, 3), d.below(5, 2, 4)]


def one_row_of_indices(d):
    return [d.below(4, 3)]


def grid_of_indices(d):
    return [d.below(4, 2, 3)]


def in_top(predictions, targets, k):
    """Ties count as among the first k; a target that is no class never is."""
    rows = zip(predictions, targets, strict=True)
    return np.array([0 <= t < len(p) and (p > p[t]).sum() < k for p, t in rows])


TIES = np.array([[0.1, 0.4, 0.4, 0.1], [0.4, 0.3, 0.2, 0.1], [0.4, 0.3, 0.2, 0.1], [0.25] * 4])
T = [(2, 3, 4)]

MOVING = [
    case("reshape", lambda x: K.reshape(x, (-1, 12)), T, lambda x: x.reshape(-1, 12)),
    case("reshape", lambda x: K.reshape(x, [2, 4, 3]), T, lambda x: x.reshape(2, 4, 3)),
    case("reshape", lambda x: K.reshape(x, np.array([-1, 6])), T, lambda x: x.reshape(-1, 6)),
    case("reshape", lambda x: K.reshape(x, (K.shape(x)[0], 4, -1)), T,
         lambda x: x.reshape(2, 4, 3), batch=False, arrays_too=False),
    case("flatten", lambda x: K.flatten(x), T, np.ravel),
    case("batch_flatten", lambda x: K.batch_flatten(x), T, lambda x: x.reshape(2, 12)),
    case("expand_dims", lambda x: K.expand_dims(x), T, lambda x: x[..., None]),
    case("expand_dims", lambda x: K.expand_dims(x, 1), T, lambda x: x[:, None]),
    case("expand_dims", lambda x: K.expand_dims(x, axis=np.int64(-2)), T,
         lambda x: x[:, :, None]),
    case("squeeze", lambda x: K.squeeze(x, 1), [(2, 1, 3)], lambda x: x[:, 0]),
    case("squeeze", lambda x: K.squeeze(x, axis=-1), [(2, 3, 1)], lambda x: x[..., 0]),
    case("permute_dimensions", lambda x: K.permute_dimensions(x, (0, 2, 1)), T,
         lambda x: x.transpose(0, 2, 1)),
    case("permute_dimensions", lambda x: K.permute_dimensions(x, [0, -1, 1]), T,
         lambda x: x.transpose(0, 2, 1)),
    case("permute_dimensions", lambda x: K.permute_dimensions(x, np.array([1, 2, 0])), T,
         lambda x: x.transpose(1, 2, 0), batch=False),
    case("transpose", lambda x: K.transpose(x), [(2, 3)], np.transpose, batch=False),
    case("transpose", lambda x: K.transpose(x), T, np.transpose, batch=False),
    case("reverse", lambda x: K.reverse(x, 1), T, lambda x: x[:, ::-1]),
    case("reverse", lambda x: K.reverse(x, axes=[0, -1]), T, lambda x: x[::-1, :, ::-1]),
    case("reverse", lambda x: K.reverse(x, np.int64(2)), T, lambda x: x[..., ::-1]),
    case("slice", lambda x: K.slice(x, [0, 1, 2], [-1, 2, 2]), T, lambda x: x[:, 1:3, 2:4]),
    case("slice", lambda x: K.slice(x, (0, 0, 1), np.array([2, 3, -1])), T,
         lambda x: x[..., 1:]),
    case("slice", lambda x: K.slice(x, [0, 1, 0], [K.shape(x)[0], 1, 4]), T,
         lambda x: x[:, 1:2], arrays_too=False),
    case("shape", lambda x: K.shape(x), T, lambda x: np.array(x.shape), smooth=(),
         dtype="int32"),
]  # fmt: skip

JOINING = [
    case("concatenate", lambda x, y: K.concatenate([x, y]), [(2, 3), (2, 4)],
         lambda x, y: np.concatenate([x, y], -1), smooth=(0, 1)),
    case("concatenate", lambda x, y: K.concatenate((x, y), axis=0), [(2, 3), (1, 3)],
         lambda x, y: np.concatenate([x, y]), smooth=(0, 1)),
    case("concatenate", lambda x, y: K.concatenate([x, y, x], axis=-2), [(2, 3, 4), (2, 1, 4)],
         lambda x, y: np.concatenate([x, y, x], 1), smooth=(0, 1)),
    case("concatenate", lambda x, i: K.concatenate([x, i], axis=1),
         lambda d: [d.normal(2, 3), d.below(4, 2, 2)], lambda x, i: np.hstack([x, i])),
    case("concatenate", lambda x: K.concatenate([x]), [(2, 3)], same),
    case("stack", lambda x, y: K.stack([x, y]), [(2, 3), (2, 3)],
         lambda x, y: np.stack([x, y]), smooth=(0, 1), batch=False),
    case("stack", lambda x, y: K.stack((x, y), axis=-1), [(2, 3), (2, 3)],
         lambda x, y: np.stack([x, y], -1), smooth=(0, 1)),
    case("stack", lambda x, y: K.stack([x, y], 1), [(2, 3), (2, 3)],
         lambda x, y: np.stack([x, y], 1), smooth=(0, 1)),
    case("repeat", lambda x: K.repeat(x, 4), [(2, 3)], lambda x: np.stack([x] * 4, 1)),
    case("repeat", lambda x: K.repeat(x, np.int64(1)), [(2, 3)], lambda x: x[:, None]),
    case("repeat", lambda x, like: K.repeat(x, K.shape(like)[1]), [(2, 3), (2, 5)],
         lambda x, like: np.stack([x] * 5, 1), arrays_too=False),
    case("repeat_elements", lambda x: K.repeat_elements(x, 2, axis=1), T,
         lambda x: np.repeat(x, 2, 1)),
    case("repeat_elements", lambda x: K.repeat_elements(x, rep=3, axis=-1), T,
         lambda x: np.repeat(x, 3, -1)),
    case("repeat_elements", lambda x: K.repeat_elements(x, 2, 0), T,
         lambda x: np.repeat(x, 2, 0)),
    case("tile", lambda x: K.tile(x, (1, 2)), [(2, 3)], lambda x: np.tile(x, (1, 2))),
    case("tile", lambda x: K.tile(x, [2, 1, 3]), T, lambda x: np.tile(x, (2, 1, 3))),
    case("tile", lambda x: K.tile(x, 2), [(2, 3)], lambda x: np.tile(x, (1, 2))),
    case("tile", lambda x: K.tile(x, np.array([2, 2])), [(2, 3)],
         lambda x: np.tile(x, (2, 2))),
    case("tile", lambda x, like: K.tile(x, [K.shape(like)[0], 1]), [(1, 3), (4, 2)],
         lambda x, like: np.tile(x, (4, 1)), arrays_too=False),
    case("tile", lambda x, like: K.tile(x, K.shape(like)), [(2, 3), (2, 2)],
         lambda x, like: np.tile(x, (2, 2)), batch=False, arrays_too=False),
]  # fmt: skip

CHOOSING = [
    case("gather", lambda x, i: K.gather(x, i), rows_and_indices, lambda x, i: x[i],
         batch=False),
    case("gather", lambda x: K.gather(x, [2, 0, 2]), [(3, 4)], lambda x: x[[2, 0, 2]],
         batch=False),
    case("gather", lambda x: K.gather(x, 1), [(3, 4)], lambda x: x[1]),
    case("gather", lambda x: K.gather(x, np.int64(1)), [(3, 4)], lambda x: x[1]),
    case("one_hot", lambda i: K.one_hot(i, 4), one_row_of_indices, lambda i: np.eye(4)[i],
         smooth=(), dtype="float32"),
    case("one_hot", lambda i: K.one_hot(i, num_classes=np.int64(5)), grid_of_indices,
         lambda i: np.eye(5)[i], smooth=(), dtype="float32"),
    case("one_hot", lambda i: K.one_hot(i, 2), lambda d: [np.array([0, 2, -1])],
         lambda i: np.array([[1, 0], [0, 0], [0, 0]]), smooth=(), dtype="float32"),
    case("in_top_k", lambda p, t: K.in_top_k(p, t, 2),
         lambda d: [d.normal(4, 5), d.below(5, 4)], lambda p, t: in_top(p, t, 2), smooth=(),
         dtype="bool"),
    case("in_top_k", lambda p, t: K.in_top_k(p, t, k=1),
         lambda d: [TIES, np.array([1, 0, 1, 3])], lambda p, t: in_top(p, t, 1), smooth=(),
         dtype="bool"),
    case("in_top_k", lambda p, t: K.in_top_k(p, t, 4),
         lambda d: [TIES, np.array([4, -1, 3, 99])],
         lambda p, t: np.array([False, False, True, False]), smooth=(), dtype="bool"),
    case("switch", lambda c, x, y: K.switch(c, x, y),
         lambda d: [d.truths(2, 3), d.normal(2, 3), d.normal(2, 3)], np.where, smooth=(1, 2),
         dtype="float32"),
    case("switch", lambda c, x: K.switch(c, x, 0.5), lambda d: [d.truths(2), d.normal(2, 3)],
         lambda c, x: np.where(c[:, None], x, 0.5), smooth=(1,), dtype="float32"),
    case("switch", lambda c, x, y: K.switch(c > 0, lambda: x * 2, lambda: K.exp(y)),
         [(), (2, 3), (2, 3)], lambda c, x, y: x * 2 if c > 0 else np.exp(y), smooth=(1, 2),
         batch=False, arrays_too=False),
    case("switch", lambda c, x: K.switch(c, x, 0 * x), lambda d: [np.array(1), d.normal(2, 3)],
         lambda c, x: x, smooth=(1,), dtype="float32", batch=False, arrays_too=False),
    case("in_train_phase", lambda x: K.in_train_phase(K.exp(x), x), [(2, 3)], same),
    case("in_train_phase", lambda x: K.in_train_phase(lambda: x * x, x, training=1), [(2, 3)],
         np.square, arrays_too=False),
    case("in_train_phase", lambda x, c: K.in_train_phase(x * 2, x, training=c), [(2, 3), ()],
         lambda x, c: x * 2 if c else x, arrays_too=False),
    case("in_test_phase", lambda x: K.in_test_phase(x * 2, x), [(2, 3)], lambda x: x * 2,
         arrays_too=False),
    case("in_test_phase", lambda x: K.in_test_phase(x, lambda: x * x, training=True), [(2, 3)],
         np.square, arrays_too=False),
]  # fmt: skip

CASES = [*MOVING, *JOINING, *CHOOSING]
