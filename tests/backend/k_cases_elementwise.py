"""Cases of the functions that go element by element: arithmetic, comparisons, activations."""

import math

import numpy as np
import reference

from kerascope import backend as K
from tests.backend.k_cases import case


def positive(d):
    return [d.positive(2, 3)]


def nonzero(d):
    return [d.nonzero(2, 3)]


def ints(d):
    return [d.below(5, 2, 3)]


def truths(d):
    return [d.truths(2, 3)]


def two_truths(d):
    return [d.truths(2, 3), d.truths(3)]


def digits(d):
    return [d.digits(2, 3), d.digits(3)]


PAIR = [(2, 3), (3,)]

ARITHMETIC = [
    case("abs", lambda x: K.abs(x), nonzero, np.abs),
    case("abs", lambda x: K.abs(x), ints, np.abs, smooth=()),
    case("square", lambda x: K.square(x), [(2, 3)], np.square),
    case("square", lambda x: K.square(x), ints, np.square, smooth=()),
    case("square", lambda x: K.square(x), truths, lambda x: x * 1, smooth=(), dtype="int32"),
    case("sqrt", lambda x: K.sqrt(x), positive, np.sqrt),
    case("sqrt", lambda x: K.sqrt(-x), positive, np.zeros_like, smooth=(), arrays_too=False),
    case(
        "sqrt",
        lambda x: K.sqrt(x * x),
        ints,
        lambda x: x,
        smooth=(),
        dtype="float32",
        arrays_too=False,
    ),
    case("exp", lambda x: K.exp(x), [(2, 3)], np.exp),
    case("exp", lambda x: K.exp(x), [()], np.exp),
    case("log", lambda x: K.log(x), positive, np.log),
    case("sin", lambda x: K.sin(x), [(2, 3)], np.sin),
    case("cos", lambda x: K.cos(x), [(2, 3)], np.cos),
    case("erf", lambda x: K.erf(x), [(2, 3)], np.vectorize(math.erf)),
    case(
        "round",
        lambda x: K.round(x * 4),
        [(2, 3)],
        lambda x: np.round(x * 4),
        smooth=(),
        arrays_too=False,
    ),
    case(
        "round",
        lambda x: K.round(x),
        lambda d: [np.array([0.5, 1.5, -0.5, 2.5])],
        lambda x: np.array([0.0, 2.0, 0.0, 2.0]),
        smooth=(),
    ),
    case("round", lambda x: K.round(x), truths, lambda x: x * 1, smooth=(), dtype="int32"),
    case("sign", lambda x: K.sign(x), lambda d: [d.digits(2, 3)], np.sign, smooth=()),
    case("sign", lambda x: K.sign(x), truths, lambda x: x * 1, smooth=(), dtype="int32"),
    case("pow", lambda x: K.pow(x, 3), [(2, 3)], lambda x: x**3),
    case("pow", lambda x: K.pow(x, 0.5), positive, np.sqrt),
    case("pow", lambda x: K.pow(2, x), [(2, 3)], lambda x: 2**x),
    case(
        "pow",
        lambda x, a: K.pow(x, a),
        lambda d: [d.positive(2, 3), d.normal(3)],
        np.power,
        smooth=(0, 1),
    ),
    case("pow", lambda x: K.pow(x, 2), ints, np.square, smooth=()),
    case(
        "pow",
        lambda x, y: K.pow(x, y),
        two_truths,
        lambda x, y: np.power(x * 1, y * 1),
        smooth=(),
        dtype="int32",
    ),
    case("maximum", lambda x, y: K.maximum(x, y), PAIR, np.maximum, smooth=(0, 1)),
    case("maximum", lambda x: K.maximum(0.0, x), [(2, 3)], lambda x: np.maximum(x, 0)),
    case(
        "maximum", lambda x: K.maximum(x, np.float64(0.1)), [(2, 3)], lambda x: np.maximum(x, 0.1)
    ),
    case("minimum", lambda x, y: K.minimum(x, y), PAIR, np.minimum, smooth=(0, 1)),
    case("minimum", lambda x: K.minimum(x, 1), [(2, 3)], lambda x: np.minimum(x, 1)),
    case("clip", lambda x: K.clip(x, -0.5, 0.5), [(2, 3)], lambda x: np.clip(x, -0.5, 0.5)),
    case("clip", lambda x: K.clip(x, 0, None), [(2, 3)], lambda x: np.maximum(x, 0)),
    case("clip", lambda x: K.clip(x, 0.5, -2), [(2, 3)], lambda x: np.full_like(x, 0.5)),
    case("clip", lambda x: K.clip(x, 1, 3), ints, lambda x: np.clip(x, 1, 3), smooth=()),
    case(
        "clip",
        lambda x: K.clip(x, 0.5, 3),
        ints,
        lambda x: np.clip(x, 0.5, 3),
        smooth=(),
        dtype="float32",
        arrays_too=False,
    ),
    case(
        "clip",
        lambda x, low: K.clip(x, low, 0.5),
        PAIR,
        lambda x, low: np.maximum(low, np.minimum(x, 0.5)),
        smooth=(0, 1),
    ),
    case("identity", lambda x: K.identity(x, name="again"), [(2, 3)], lambda x: x),
    case(
        "stop_gradient",
        lambda x: K.stop_gradient(x) * x,
        [(2, 3)],
        np.square,
        smooth=(),
        arrays_too=False,
    ),
    case(
        "stop_gradient",
        lambda x, y: K.stop_gradient([x, y]),
        [(2, 3), (2, 4)],
        lambda x, y: [x, y],
        smooth=(),
    ),
    case("cast", lambda x: K.cast(x, "int32"), [(2, 3)], np.trunc, smooth=(), dtype="int32"),
    case(
        "cast",
        lambda x: K.cast(x, "float64"),
        truths,
        lambda x: x * 1.0,
        smooth=(),
        dtype="float64",
    ),
    case("cast", lambda x: K.cast(x, np.float64), [(2, 3)], lambda x: x, dtype="float64"),
    case(
        "cast",
        lambda x: K.cast(x, "bool"),
        lambda d: [d.digits(2, 3)],
        lambda x: x != 0,
        smooth=(),
        dtype="bool",
    ),
    case("zeros_like", lambda x: K.zeros_like(x), [(2, 3)], np.zeros_like, smooth=()),
    case(
        "zeros_like",
        lambda x: K.zeros_like(x, dtype="int32", name="none"),
        [(2, 3)],
        np.zeros_like,
        smooth=(),
        dtype="int32",
    ),
    case("ones_like", lambda x: K.ones_like(x), [(2, 3)], np.ones_like, smooth=()),
    case(
        "ones_like",
        lambda x: K.ones_like(x, "bool"),
        [(2, 3)],
        np.ones_like,
        smooth=(),
        dtype="bool",
    ),
]


def comparison(name, expected):
    return [
        case(name, lambda x, y: getattr(K, name)(x, y), digits, expected, smooth=(), dtype="bool"),
        case(
            name,
            lambda x: getattr(K, name)(x, 1),
            ints,
            lambda x: expected(x, 1),
            smooth=(),
            dtype="bool",
        ),
        case(
            name,
            lambda x: getattr(K, name)(x, 0.5),
            ints,
            lambda x: expected(x, 0.5),
            smooth=(),
            dtype="bool",
        ),
        case(
            name,
            lambda x: getattr(K, name)(1, x),
            ints,
            lambda x: expected(1, x),
            smooth=(),
            dtype="bool",
        ),
    ]


COMPARISONS = [
    *comparison("equal", np.equal),
    *comparison("not_equal", np.not_equal),
    *comparison("greater", np.greater),
    *comparison("greater_equal", np.greater_equal),
    *comparison("less", np.less),
    *comparison("less_equal", np.less_equal),
    case("logical_and", lambda x, y: K.logical_and(x, y), two_truths, np.logical_and, smooth=()),
    case("logical_or", lambda x, y: K.logical_or(x, y), two_truths, np.logical_or, smooth=()),
    case("logical_not", lambda x: K.logical_not(x), truths, np.logical_not, smooth=()),
]


def activation(name, expected, *args, **kwargs):
    return case(name, lambda x: getattr(K, name)(x, *args, **kwargs), nonzero, expected)


ACTIVATIONS = [
    activation("relu", lambda x: np.maximum(x, 0)),
    activation("relu", lambda x: np.where(x > 0, x, 0.1 * x), 0.1),
    activation("relu", lambda x: np.clip(x, 0, 1.1), max_value=1.1),
    activation("relu", lambda x: np.where(x > 0.7, x, 0), threshold=0.7),
    activation("relu", lambda x: reference.relu(x, 0.2, 1.2, 0.6), 0.2, 1.2, 0.6),
    activation("relu", lambda x: np.maximum(x, 0), np.float32(0)),
    activation("elu", reference.elu),
    activation("elu", lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)), 0.5),
    activation("softplus", lambda x: np.log1p(np.exp(x))),
    activation("softsign", lambda x: x / (1 + np.abs(x))),
    activation("sigmoid", lambda x: 1 / (1 + np.exp(-x))),
    activation("hard_sigmoid", lambda x: np.clip(0.2 * x + 0.5, 0, 1)),
    activation("tanh", np.tanh),
    activation("softmax", lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
    activation("softmax", lambda x: np.exp(x) / np.exp(x).sum(0), axis=0),
    activation("log_softmax", lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True))),
    activation("log_softmax", lambda x: x - np.log(np.exp(x).sum(0)), axis=-2),
    case(
        "softmax",
        lambda x: K.softmax(x, np.int64(1)),
        [(2, 3, 4)],
        lambda x: reference.softmax(x, 1),
    ),
]

CASES = [*ARITHMETIC, *COMPARISONS, *ACTIVATIONS]
