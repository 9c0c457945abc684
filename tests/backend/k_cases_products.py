"""Cases of products, crossentropies, biases and normalisation."""

import numpy as np

from kerascope import backend as K
from kerascope.spellings import override_dialect
from tests.backend.k_cases import case


def dot(equation, shapes, **facts):
    """Return a case whose result an equation of `np.einsum` says."""
    return case(
        "dot",
        lambda x, y: K.dot(x, y),
        shapes,
        lambda x, y: np.einsum(equation, x, y),
        smooth=(0, 1),
        fixed=(1,),
        **facts,
    )


def batch_dot(equation, shapes, is_outer=False, **arguments):
    """Return a case like those of `dot`; where only the batch is left it becomes (batch, 1)."""

    def product(x, y):
        with override_dialect(batch_dot_is_outer=is_outer):
            return K.batch_dot(x, y, **arguments)

    def expected(x, y):
        result = np.einsum(equation, x, y)
        return result[:, None] if result.ndim == 1 else result

    return case(
        "batch_dot",
        product,
        shapes,
        expected,
        smooth=(0, 1),
    )


DOTS = [
    dot("ij,jk->ik", [(2, 3), (3, 4)]),
    dot("tij,jk->tik", [(2, 5, 3), (3, 4)]),
    dot("ij,j->i", [(2, 3), (3,)]),
    dot("i,i->", [(3,), (3,)], batch=False),
    dot("tij,ajk->tiak", [(2, 3, 4), (5, 4, 2)]),
    dot("tij,j->ti", [(2, 3, 4), (4,)]),
    case("dot", lambda x: K.dot(x, [[1.0], [2.0], [3.0]]), [(2, 3)],
         lambda x: x @ np.array([[1.0], [2.0], [3.0]])),
    batch_dot("nj,nj->n", [(2, 3), (2, 3)]),
    batch_dot("nj,nj->n", [(2, 3), (2, 3)], axes=1),
    batch_dot("nj,nj->n", [(2, 3), (2, 3)], axes=(-1, -1)),
    batch_dot("nj,nkj->nk", [(2, 3), (2, 4, 3)], axes=(1, 2)),
    batch_dot("nj,njk->nk", [(2, 3), (2, 3, 4)]),
    batch_dot("nij,nj->ni", [(2, 4, 3), (2, 3)], axes=[2, 1]),
    batch_dot("nij,njk->nik", [(2, 4, 3), (2, 3, 5)]),
    batch_dot("nij,nkj->nik", [(2, 4, 3), (2, 5, 3)], axes=[2, 2]),
    batch_dot("nij,nkj->nik", [(2, 4, 3), (2, 5, 3)], axes=-1),
    batch_dot("nji,njk->nik", [(2, 3, 4), (2, 3, 5)], axes=np.int64(1)),
    batch_dot("nhij,njk->nhik", [(2, 3, 4, 5), (2, 5, 2)], axes=(3, 1)),
    batch_dot("nhij,nhkj->nhik", [(2, 3, 2, 4), (2, 3, 5, 4)], axes=(-1, -1)),
    batch_dot("nhj,nhjk->nhk", [(2, 3, 4), (2, 3, 4, 5)]),
    batch_dot("nghj,nghkj->nghk", [(2, 2, 3, 4), (2, 2, 3, 5, 4)], axes=(3, 4)),
    batch_dot("nhji,nhjk->nhik", [(2, 3, 4, 2), (2, 3, 4, 5)], axes=2),
    batch_dot("nhij,nakj->nhiak", [(2, 3, 2, 4), (2, 2, 3, 4)], axes=(3, 3), is_outer=True),
    batch_dot("nj,nj->j", [(4, 3), (4, 3)], axes=0),
    case("einsum", lambda x, y: K.einsum("btd,dh->bth", x, y), [(2, 3, 4), (4, 5)],
         lambda x, y: x @ y, smooth=(0, 1), fixed=(1,)),
    case("einsum", lambda x, y: K.einsum("bqd,bkd->bqk", x, y), [(2, 3, 4), (2, 5, 4)],
         lambda x, y: x @ y.transpose(0, 2, 1), smooth=(0, 1)),
]  # fmt: skip


def chances(d):
    p = d.positive(4, 3)
    return [np.eye(3)[d.below(3, 4)], p / p.sum(1, keepdims=True)]


def scores(d):
    return [np.eye(3)[d.below(3, 4)], d.normal(4, 3)]


def steps(d):
    p = d.positive(2, 4, 3)
    return [np.eye(3)[d.below(3, 2, 4)], p / p.sum(-1, keepdims=True)]


def softmax(x):
    return np.exp(x) / np.exp(x).sum(-1, keepdims=True)


def crossentropy(t, p):
    return -(t * np.log(p)).sum(-1)


def binary(t, p):
    return -(t * np.log(p) + (1 - t) * np.log(1 - p))


def class_numbers(build):
    def inputs(d):
        target, output = build(d)
        return [target.argmax(-1), output]

    return inputs


def picked(t, p):
    return -np.log(np.take_along_axis(p, t[..., None], -1))[..., 0]


CROSSENTROPIES = [
    case("categorical_crossentropy", lambda t, p: K.categorical_crossentropy(t, p), chances,
         crossentropy, smooth=(1,)),
    case("categorical_crossentropy", lambda t, p: K.categorical_crossentropy(t, 2 * p), steps,
         crossentropy, smooth=(1,), arrays_too=False),
    case("categorical_crossentropy",
         lambda t, x: K.categorical_crossentropy(t, x, from_logits=True), scores,
         lambda t, x: crossentropy(t, softmax(x)), smooth=(1,)),
    case("categorical_crossentropy",
         lambda t, p: K.categorical_crossentropy(K.transpose(t), K.transpose(p), axis=0),
         chances, crossentropy, smooth=(1,)),
    *(case("sparse_categorical_crossentropy",
           lambda t, p: K.sparse_categorical_crossentropy(t, p), class_numbers(build), picked,
           smooth=(), dtype="float32") for build in (chances, steps)),
    case("sparse_categorical_crossentropy",
         lambda t, x: K.sparse_categorical_crossentropy(K.expand_dims(t), x, True),
         class_numbers(scores), lambda t, x: picked(t, softmax(x)), smooth=(1,),
         dtype="float32"),
    case("sparse_categorical_crossentropy",
         lambda t, p: K.sparse_categorical_crossentropy(t, K.transpose(p), axis=0),
         class_numbers(chances), picked, smooth=(), dtype="float32"),
    case("binary_crossentropy", lambda t, p: K.binary_crossentropy(t, p), chances, binary,
         smooth=(1,)),
    case("binary_crossentropy", lambda t, x: K.binary_crossentropy(t, x, from_logits=True),
         scores, lambda t, x: binary(t, 1 / (1 + np.exp(-x))), smooth=(1,)),
    case("binary_crossentropy", lambda p: K.binary_crossentropy([0, 1, 1], p),
         lambda d: [chances(d)[1]], lambda p: binary(np.array([0, 1, 1]), p)),
]  # fmt: skip

# --- biases and normalisation ---------------------------------------------------------------------


def statistics(*shapes):
    """Return inputs of these shapes: x, a mean, a variance (positive), beta, gamma."""

    def inputs(d):
        x, mean, var, *rest = shapes
        return [d.normal(*x), d.normal(*mean), d.positive(*var), *(d.normal(*s) for s in rest)]

    return inputs


def normalized(x, mean, var, beta=0, gamma=1, epsilon=1e-3):
    return gamma * (x - mean) / np.sqrt(var + epsilon) + beta


def normalized_batch(x, gamma, beta, axes, epsilon=1e-3):
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    y = (x - mean) / np.sqrt(var + epsilon)
    y = y * np.expand_dims(gamma, axes) + np.expand_dims(beta, axes)
    return [y, mean.squeeze(axes), var.squeeze(axes)]


VECTORS = [(3,)] * 4
NORMALIZATION = [
    case("bias_add", lambda x, b: K.bias_add(x, b), [(2, 3), (3,)], np.add, smooth=(0, 1)),
    case("bias_add", lambda x, b: K.bias_add(x, b, "channels_last"), [(2, 4, 5, 3), (3,)],
         np.add, smooth=(0, 1)),
    case("bias_add", lambda x, b: K.bias_add(x, b, data_format="channels_first"),
         [(2, 3, 2, 2), (3,)], lambda x, b: x + b[:, None, None], smooth=(0, 1)),
    case("bias_add", lambda x, b: K.bias_add(x, b), [(2, 4, 3), (4, 3)], np.add, smooth=(0, 1)),
    case("bias_add", lambda x, b: K.bias_add(x, b, "channels_first"), [(2, 3, 4), (4, 3)],
         lambda x, b: x + b.reshape(b.shape[::-1]), smooth=(0, 1)),
    case("l2_normalize", lambda x: K.l2_normalize(x), [(2, 3)],
         lambda x: x / np.sqrt((x**2).sum())),
    case("l2_normalize", lambda x: K.l2_normalize(x, axis=-1), [(2, 3)],
         lambda x: x / np.sqrt((x**2).sum(-1, keepdims=True))),
    case("l2_normalize", lambda x: K.l2_normalize(x, np.int64(1)), [(2, 3, 2)],
         lambda x: x / np.sqrt((x**2).sum(1, keepdims=True))),
    case("batch_normalization", lambda *a: K.batch_normalization(*a),
         statistics((2, 5, 3), *VECTORS), normalized, smooth=(0, 1, 2, 3, 4)),
    case("batch_normalization", lambda *a: K.batch_normalization(*a, axis=1, epsilon=0.1),
         statistics((2, 3, 2, 2), *VECTORS),
         lambda x, *a: normalized(x, *(v[:, None, None] for v in a), epsilon=0.1),
         smooth=(0, 1, 2, 3, 4)),
    case("batch_normalization", lambda x, m, v: K.batch_normalization(x, m, v, None, None),
         statistics((2, 3), (3,), (3,)), normalized, smooth=(0, 1, 2)),
    case("batch_normalization", lambda x, m, v: K.batch_normalization(x, m, v, 0.5, 2.0),
         statistics((2, 3), (3,), (3,)), lambda x, m, v: normalized(x, m, v, 0.5, 2.0)),
    case("batch_normalization", lambda *a: K.batch_normalization(*a, axis=np.int64(-1)),
         statistics((2, 3), *[(1, 3)] * 4), normalized, smooth=(0, 1, 2, 3, 4)),
    case("normalize_batch_in_training",
         lambda x, g, b: K.normalize_batch_in_training(x, g, b, [0, 1]),
         [(2, 4, 3), (3,), (3,)], lambda x, g, b: normalized_batch(x, g, b, (0, 1)),
         smooth=(0, 1, 2)),
    case("normalize_batch_in_training",
         lambda x, g, b: K.normalize_batch_in_training(x, g, b, [0, 2, 3], epsilon=0.1),
         [(2, 3, 2, 2), (3,), (3,)],
         lambda x, g, b: normalized_batch(x, g, b, (0, 2, 3), 0.1), smooth=(0, 1, 2)),
    case("normalize_batch_in_training",
         lambda x: K.normalize_batch_in_training(x, None, None, (0,)), [(4, 3)],
         lambda x: normalized_batch(x, np.ones(3), np.zeros(3), (0,))),
]  # fmt: skip

CASES = [*DOTS, *CROSSENTROPIES, *NORMALIZATION]
