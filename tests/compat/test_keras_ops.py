"""`keras.ops` and `keras.random`: Keras 3's functions on arrays, tensors and results of layers."""

from __future__ import annotations

import inspect
from typing import Any

import keras_ops_cases
import numpy as np
import pytest
from keras_reference import answer
from keras_reference import keras as real_keras
from thinned import thinned

from kerascope import Input, K, Model, layers
from kerascope.backend.graph import Tensor
from kerascope.compat import keras_random
from kerascope.errors import ArgumentError, NotYetError
from kerascope.layers.ops import keras_ops as ops
from kerascope.layers.ops.keras_ops import every_operation
from kerascope.missing_names import NAMES
from kerascope.nested_values import found_in

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(3, 4)).astype("float32")
POSITIVE = np.abs(X) + 0.1
CUBE = RANDOM.normal(size=(2, 3, 4)).astype("float32")
IMAGE = RANDOM.normal(size=(2, 6, 6, 3)).astype("float32")
SERIES = RANDOM.normal(size=(2, 7, 3)).astype("float32")
LABELS = np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]], "float32")
SHARES = np.exp(X) / np.exp(X).sum(-1, keepdims=True)

# Name, arguments by place, arguments by name; the first argument is also given as a tensor.
CASES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    *(
        (name, (X,), {})
        for name in [
            "abs",
            "absolute",
            "all",
            "amax",
            "amin",
            "any",
            "argmax",
            "argmin",
            "cos",
            "cosh",
            "count_nonzero",
            "cumprod",
            "cumsum",
            "elu",
            "erf",
            "exp",
            "expm1",
            "flip",
            "gelu",
            "hard_sigmoid",
            "hard_silu",
            "hard_swish",
            "hard_tanh",
            "isnan",
            "leaky_relu",
            "log_sigmoid",
            "log_softmax",
            "logsumexp",
            "max",
            "mean",
            "min",
            "negative",
            "ones_like",
            "prod",
            "ravel",
            "reciprocal",
            "relu",
            "relu6",
            "round",
            "selu",
            "sigmoid",
            "sign",
            "silu",
            "sin",
            "sinh",
            "size",
            "softmax",
            "softplus",
            "softsign",
            "square",
            "std",
            "stop_gradient",
            "sum",
            "swish",
            "tan",
            "tanh",
            "transpose",
            "var",
            "zeros_like",
            "norm",
            "normalize",
        ]
    ),
    *(
        (name, (POSITIVE,), {})
        for name in [
            "log",
            "log10",
            "log1p",
            "log2",
            "rsqrt",
            "sqrt",
        ]
    ),
    *(
        (name, (X, X[0] + 0.5), {})
        for name in [
            "add",
            "divide",
            "equal",
            "greater",
            "greater_equal",
            "less",
            "less_equal",
            "logaddexp",
            "maximum",
            "minimum",
            "multiply",
            "not_equal",
            "subtract",
            "true_divide",
        ]
    ),
    *((name, (X > 0, X > 0.5), {}) for name in ["logical_and", "logical_or", "logical_xor"]),
    ("logical_not", (X > 0,), {}),
    ("power", (POSITIVE, 1.5), {}),
    ("isnan", (np.array([1.0, np.nan], "float32"),), {}),
    ("where", (X > 0, X, np.float32(0.5)), {}),
    ("clip", (X, -0.5, 0.5), {}),
    ("cast", (X, "int32"), {}),
    ("round", (X, 1), {}),
    *(
        (name, (X,), {"axis": 1})
        for name in [
            "all",
            "any",
            "argmax",
            "argmin",
            "cumprod",
            "cumsum",
            "count_nonzero",
            "flip",
            "logsumexp",
            "max",
            "mean",
            "min",
            "norm",
            "prod",
            "std",
            "sum",
            "var",
        ]
    ),
    *(
        (name, (CUBE,), {"axis": (0, 2), "keepdims": True})
        for name in ["max", "mean", "sum", "var"]
    ),
    ("argmax", (X,), {"axis": 1, "keepdims": True}),
    ("argmax", (X,), {"keepdims": True}),
    ("moments", (X,), {"axes": [0]}),
    ("softmax", (X,), {"axis": 0}),
    ("normalize", (X,), {"axis": 0}),
    ("expand_dims", (X, 1), {}),
    ("squeeze", (X[:, None, :, None],), {}),
    ("squeeze", (X[:, None],), {"axis": 1}),
    ("transpose", (CUBE,), {"axes": (2, 0, 1)}),
    ("swapaxes", (CUBE, 0, -1), {}),
    ("moveaxis", (CUBE, 0, -1), {}),
    ("moveaxis", (CUBE, -1, 1), {}),
    ("reshape", (CUBE, (4, -1)), {}),
    ("split", (CUBE, 2), {"axis": -1}),
    ("split", (CUBE, [1, 3]), {"axis": 2}),
    ("unstack", (CUBE,), {"axis": 1}),
    ("repeat", (X, 2), {"axis": 1}),
    ("repeat", (X, 2), {}),
    ("tile", (X, (2, 1)), {}),
    ("tile", (X, 2), {}),
    ("take", (X, np.array([0, 2])), {"axis": 1}),
    ("take", (CUBE, np.array([[0, 1], [2, 0]])), {"axis": 1}),
    ("take", (X, np.array([5, 0])), {}),
    ("get_item", (X, (slice(1), -1)), {}),
    ("broadcast_to", (X[0], (2, 4)), {}),
    ("one_hot", (np.array([0, 2]), 3), {}),
    ("one_hot", (np.array([[0, 2, 1]]), 3), {"axis": 1}),
    ("slice", (X, (1, 0), (2, 3)), {}),
    ("tril", (X,), {}),
    ("triu", (X, 1), {}),
    ("full_like", (X, 7.0), {}),
    ("matmul", (X, X.T), {}),
    ("matmul", (CUBE, np.swapaxes(CUBE, 1, 2)), {}),
    ("dot", (CUBE, X.T), {}),
    ("outer", (X[0], X[1]), {}),
    ("conv", (SERIES, RANDOM.normal(size=(3, 3, 2)).astype("float32")), {"padding": "same"}),
    ("conv", (IMAGE, RANDOM.normal(size=(3, 3, 3, 2)).astype("float32"), 2), {}),
    ("depthwise_conv", (IMAGE, RANDOM.normal(size=(3, 3, 3, 2)).astype("float32")), {}),
    ("max_pool", (IMAGE, 2), {"strides": 2}),
    ("max_pool", (SERIES, 3), {"strides": 2, "padding": "same"}),
    ("average_pool", (IMAGE, (2, 3)), {"strides": 1}),
    ("binary_crossentropy", (LABELS, SHARES), {}),
    ("categorical_crossentropy", (LABELS, SHARES), {}),
    ("sparse_categorical_crossentropy", (LABELS.argmax(-1), SHARES), {}),
    ("in_top_k", (LABELS.argmax(-1), SHARES, 2), {}),
    ("batch_normalization", (X, X.mean(0), X.var(0)), {"axis": -1}),
    ("layer_normalization", (X, X[0], X[1]), {}),
    *keras_ops_cases.CASES,
]

OF_SEVERAL: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("concatenate", ([X, X],), {}),
    ("concatenate", ([X, X],), {"axis": -1}),
    ("stack", ([X, X],), {"axis": 1}),
    ("einsum", ("ij,kj->ik", X, X), {}),
    ("tensordot", (CUBE, CUBE), {"axes": [[1, 2], [1, 2]]}),
    ("tensordot", (CUBE, X.T), {"axes": 1}),
    ("arange", (5,), {}),
    ("arange", (1, 7, 2), {}),
    ("linspace", (0, 1, 5), {}),
    ("eye", (3,), {}),
    ("eye", (3, 4, 1), {}),
    ("identity", (3,), {}),
    ("zeros", ((2, 3),), {}),
    ("ones", ((2, 3),), {"dtype": "int32"}),
    ("full", ((2, 3), 5.0), {}),
    ("array", ([[1.0, 2.0]],), {}),
    ("convert_to_tensor", ([1, 2],), {"dtype": "float32"}),
    *keras_ops_cases.OF_SEVERAL,
]


def told(case: Any) -> str:
    return f"{case[0]}-{len(case[1])}-{'-'.join(case[2])}"


def compare(ours: Any, theirs: Any, name: str) -> None:
    if isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            compare(one, other, name)
        return
    expected = np.asarray(theirs)
    assert np.shape(ours) == expected.shape, name
    np.testing.assert_allclose(
        np.asarray(ours, "float32"), expected.astype("float32"), rtol=2e-5, atol=2e-6, err_msg=name
    )
    assert np.asarray(ours).dtype.kind == expected.dtype.kind or name in OF_OTHER_TYPE


OF_OTHER_TYPE = {"size"}  # a number of entries: of which type makes no difference


@pytest.mark.parametrize("case", [*CASES, *OF_SEVERAL], ids=told)
def test_on_arrays_it_computes_what_keras_3_computes(keras: Any, case: Any) -> None:
    name, args, kwargs = case
    ours = getattr(ops, name)(*args, **kwargs)
    assert not found_in(ours, Tensor), "arrays came in; arrays are to come out"
    compare(ours, getattr(keras.ops, name)(*args, **kwargs), name)


@pytest.mark.parametrize("case", thinned(CASES, lambda case: case[0]), ids=told)
def test_on_tensors_it_makes_a_graph_with_the_same_result(case: Any) -> None:
    name, args, kwargs = case
    first = K.constant(args[0], dtype=str(args[0].dtype))
    made = getattr(ops, name)(first, *args[1:], **kwargs)
    many = list(made) if isinstance(made, (list, tuple)) else [made]
    results = [K.eval(one) for one in many]
    expected = getattr(ops, name)(*args, **kwargs)
    compare(results if isinstance(made, (list, tuple)) else results[0], expected, name)


# Tested in tests/layers/test_operations_with_functions.py.
WITH_FUNCTIONS = {"associative_scan", "custom_gradient", "fori_loop", "jvp", "scan", "switch"}
WITH_FUNCTIONS |= {"vectorize", "vectorized_map", "while_loop"}


def test_every_function_has_a_case() -> None:
    tested = {case[0] for case in [*CASES, *OF_SEVERAL]}
    alone = {"cond", "map", "shape", "ndim", "is_tensor", "convert_to_numpy"}  # tested below
    alone |= {"dtype", "empty_like", "qr", *WITH_FUNCTIONS}
    assert set(ops.__all__) - tested == alone


def arguments_of(functions: Any, names: list[str]) -> dict[str, list[str]]:
    """Return the arguments of functions in order, with their defaults."""
    found = {name: inspect.signature(getattr(functions, name)).parameters for name in names}
    return {
        name: [str(one.replace(annotation=one.empty)) for one in parameters.values()]
        for name, parameters in found.items()
    }


def arguments_in_keras(keras: Any, names: list[str]) -> dict[str, list[str]]:
    return arguments_of(keras.ops, names)


# What is left out goes to functions that we have not.
OTHER_ARGUMENTS = {"layer_normalization"}


@pytest.mark.usefixtures("answers")
def test_every_function_has_the_arguments_of_keras_3() -> None:
    ours = arguments_of(ops, ops.__all__)
    theirs = answer(arguments_in_keras, real_keras, sorted(ops.__all__))
    assert {name for name in ours if ours[name] != theirs[name]} == OTHER_ARGUMENTS


def test_what_keras_3_has_is_here_or_says_that_it_is_not(keras: Any) -> None:
    known = set(dir(keras.ops)) - {
        "nn",
        "numpy",
        "linalg",
        "image",
    }
    not_yet = {name for names, _ in NAMES["kerascope.ops"] for name in names.split()}
    assert known - set(ops.__all__) <= not_yet
    assert not set(ops.__all__) & not_yet
    import kerascope.ops

    with pytest.raises(NotYetError, match=r"kerascope\.ops\.rearrange: .* K functions"):
        _ = kerascope.ops.rearrange
    with pytest.raises(AttributeError, match="Did you mean 'matmul'"):
        _ = kerascope.ops.matmull


# --- results of layers ----------------------------------------------------------------------------


def test_between_layers_a_function_is_a_layer_of_the_model() -> None:
    K.clear_session()  # the names are counted from 1
    x = Input((4,))
    h = ops.relu(layers.Dense(3, name="inside")(x))
    y = ops.concatenate([h, ops.multiply(h, 2.0)], axis=-1)
    model = Model(x, layers.Dense(1)(y))
    names = [layer.name for layer in model.layers]
    assert {"relu_1", "multiply_1", "concatenate_1"} <= {name.strip("_") for name in names}
    inside = K.function([x], [h, y])([X])
    np.testing.assert_allclose(inside[1], np.concatenate([inside[0], 2 * inside[0]], -1))
    model.compile("sgd", "mse")
    before = model.get_layer("inside").get_weights()[0].copy()
    model.train_on_batch(X, np.ones((3, 1)))
    assert not np.array_equal(before, model.get_layer("inside").get_weights()[0])


def test_in_a_layers_call_a_function_makes_ops_and_its_noise_is_drawn_anew() -> None:
    class Noisy(layers.Layer):
        def call(self, inputs: Any) -> Any:
            return inputs + keras_random.normal((1, 4)) * ops.ones((1, 4))

    x = Input((4,))
    model = Model(x, Noisy()(x))
    assert len(model.layers) == 2
    assert not np.array_equal(model.predict(X), model.predict(X))
    assert isinstance(Noisy()(X), np.ndarray)


def test_shapes_are_numbers_where_they_are_known() -> None:
    x = Input((4,))
    batch, features = ops.shape(x)
    assert features == 4
    assert K.function([x], [batch])([X])[0] == 3
    assert ops.shape(X) == (3, 4)
    assert (ops.ndim(x), ops.ndim(X)) == (2, 2)
    drawn = keras_random.normal((batch, 2))
    assert K.function([x], [drawn])([X])[0].shape == (3, 2)


def test_tensors_and_arrays_are_told_apart_from_other_things() -> None:
    assert ops.is_tensor(X)
    assert ops.is_tensor(K.constant(1.0))
    assert not ops.is_tensor([1.0])
    assert ops.convert_to_numpy(K.constant([1.0]) + 1.0).tolist() == [2.0]
    assert ops.convert_to_numpy([1, 2]).tolist() == [1, 2]
    tensor = K.constant([1.7])
    assert ops.convert_to_tensor(tensor) is tensor
    assert K.eval(ops.convert_to_tensor(tensor, "int32")).tolist() == [1]


def test_a_choice_and_a_map_are_made_at_run_time() -> None:
    x = K.placeholder((None,))
    chosen = ops.cond(K.sum(x) > 0, lambda: x, lambda: -x)
    assert K.function([x], [chosen])([[-1.0, -2.0]])[0].tolist() == [1.0, 2.0]
    assert ops.cond(np.array(True), lambda: X, lambda: -X).tolist() == X.tolist()
    np.testing.assert_allclose(ops.map(lambda row: row * 2, X), 2 * X)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ops.norm(X, ord=3), "got 3 for 2 axes"),
        (lambda: ops.qr(X, "full"), "expected mode 'reduced' or 'complete'"),
        (lambda: ops.stft(X, 2, 1, 2, window="flat"), "expected window 'hann', 'hamming'"),
        (lambda: ops.multi_hot([1]), "it needs num_classes"),
        (lambda: ops.space_to_depth(K.placeholder((None, None, None, 3)), 2), "known sizes except"),
        (lambda: ops.adaptive_max_pool(K.placeholder((None, None, 3)), 2), "expected known sizes"),
        (lambda: ops.split(X, 3, axis=1), "a multiple of 3, got 4"),
        (lambda: ops.split(K.placeholder((None, 4)), 2), "size of axis 0 must be known"),
        (lambda: ops.conv(X, X), "an input with 3 or 4 or 5 axes, got 2"),
        (
            lambda: ops.repeat(X, [1, 2], axis=1),
            r"expected repeats to be a number, or one for each .* \(2,\)",
        ),
        (
            lambda: ops.max(X[:0]),
            r"ops\.max: not defined for float32 of shape \(0, 4\)",
        ),
        (lambda: ops.bitwise_and(X, X), r"bitwise_and: not defined for float32 .*, float32 "),
        (lambda: ops.subtract(X > 0, X > 0), r"subtract: not defined for bool of shape"),
        (
            lambda: ops.scan(lambda c, x: (c, x), 0, X, length=9),
            r"got \[3\] entries in xs and length 9",
        ),
        (lambda: ops.scan(lambda c, x: (c, c), 0, (X, X[0])), r"\[3, 4\] entries"),
    ],
)
def test_what_cannot_be_done_is_said(call: Any, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        call()


BELOW_0 = [("sqrt", {}), ("rsqrt", {}), ("squareplus", {"b": -9.0}), ("norm", {"ord": 0.5}),
           ("arccosh", {}), ("log", {}), ("log2", {}), ("log10", {})]  # fmt: skip


@pytest.mark.parametrize(("name", "options"), BELOW_0, ids=lambda x: x if type(x) is str else "")
def test_what_keras_2_clips_is_nan_under_a_name_of_keras_3(
    keras: Any, name: str, options: dict[str, float]
) -> None:
    """K.sqrt takes a negative number for 0; no name of Keras 3 that has a root in it does."""
    x = np.array([-4.0, -1e-3, -0.0, 0.0, 4.0], "float32")
    wanted = getattr(keras.ops, name)(x, **options)
    compare(getattr(ops, name)(x, **options), wanted, name)
    symbol = Input(batch_shape=(5,))
    kind = next(kind for kind in every_operation() if kind.lower() == name)
    as_in_a_file = layers.Operation(kind, [{"tensor": 0}], options)(symbol)
    made = [getattr(ops, name)(symbol, **options), as_in_a_file]
    for found in K.function([symbol], made)([x]):
        compare(found, wanted, name)


def test_an_error_of_your_own_function_and_of_a_wrong_call_stays_what_it_is() -> None:
    def broken(x: Any) -> Any:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="^mine$"):
        ops.map(broken, X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'axes'"):
        ops.max(X, axes=0)


def test_a_triangle_and_a_diagonal_need_no_known_sizes() -> None:
    x = K.placeholder((None, None))
    numbers = np.where(X > 1, np.inf, X)
    results = K.function([x], [ops.tril(x), ops.triu(x, 1), ops.diagonal(x, 1), ops.trace(x)])
    expected = [np.tril(numbers), np.triu(numbers, 1), numbers.diagonal(1), numbers.trace()]
    for one, other in zip(results([numbers]), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


# --- random numbers -------------------------------------------------------------------------------


def test_random_numbers_lie_where_they_should() -> None:
    np.random.seed(0)
    size = (2000,)
    assert abs(float(keras_random.normal(size, 5.0, 0.1).mean()) - 5) < 0.02
    assert abs(keras_random.truncated_normal(size)).max() <= 2
    uniform = keras_random.uniform(size, 2.0, 3.0)
    assert 2 <= uniform.min() < 2.01
    assert 2.99 < uniform.max() < 3
    whole = keras_random.randint(size, 3, 7)
    assert sorted(set(whole.tolist())) == [3, 4, 5, 6]
    assert np.bincount(whole)[3:].min() > 400
    trials = keras_random.binomial(size, 10, 0.3)
    assert abs(trials.mean() - 3) < 0.15
    kept = keras_random.dropout(np.ones(size, "float32"), 0.25)
    assert abs((kept > 0).mean() - 0.75) < 0.04
    shares = np.array([[0.7, 0.2, 0.1], [0.1, 0.0, 0.9]])
    with np.errstate(divide="ignore"):
        classes = keras_random.categorical(np.log(shares), 2000)
    assert classes.shape == (2, 2000)
    counts = np.array([np.bincount(row, minlength=3) for row in classes])
    assert abs(counts / 2000 - shares).max() < 0.05
    assert counts[1, 1] == 0
    shuffled = keras_random.shuffle(np.arange(40).reshape(4, 10), axis=1)
    assert sorted(shuffled[0].tolist()) == [*range(10)] != shuffled[0].tolist()
    assert (shuffled - shuffled[0] == np.arange(4)[:, None] * 10).all()


def test_a_seed_repeats_and_a_seed_generator_goes_on() -> None:
    first, second = (keras_random.normal((3,), seed=1) for _ in range(2))
    assert first.tolist() == second.tolist()
    seeds = keras_random.SeedGenerator(1)
    one, two = (keras_random.normal((3,), seed=seeds).tolist() for _ in range(2))
    assert one == first.tolist()
    assert two != one


@pytest.mark.parametrize("axis", [-1, 1, 0, (1, 2), (-1, 0)])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_normalization_has_its_own_weights_for_the_axes_that_it_normalizes(
    axis: Any, dtype: str
) -> None:
    """A cube, so that weights on the wrong axis fit too; float16 has no room for its squares."""
    axes = tuple(sorted(n % 3 for n in np.atleast_1d(axis).tolist()))
    x = (RANDOM.normal(size=(3, 3, 3)) * 1000).astype(dtype)
    scale, shift = RANDOM.normal(size=(2, *(3 for _ in axes)))
    placed = [3 if n in axes else 1 for n in range(3)]
    wide = x.astype("float64")
    mean = wide.mean(axes, keepdims=True)
    layer = (wide - mean) / np.sqrt(np.square(wide - mean).mean(axes, keepdims=True) + 1e-7)
    layer = layer * scale.reshape(placed) + shift.reshape(placed)
    root = wide / np.sqrt(np.square(wide).mean(axes, keepdims=True) + 1e-7)
    symbol = Input((3, 3), dtype=dtype)
    for function, weights, expected in [
        (ops.layer_normalization, (scale, shift), layer),
        (ops.rms_normalization, (scale,), root * scale.reshape(placed)),
    ]:
        found = function(x, *weights, axis=axis)
        kept = Model(symbol, layers.Lambda(lambda z: function(z, *weights, axis=axis))(symbol))  # noqa: B023
        tolerance = 1e-2 if dtype == "float16" else 1e-5
        for result in (found, kept.predict(x, batch_size=3)):
            assert result.dtype == dtype
            np.testing.assert_allclose(result, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("places", [-1, [-1, 0], [[0, -2], [1, -1]]])
def test_take_counts_negative_places_from_the_end(axis: Any, places: Any) -> None:
    x = np.arange(6.0, dtype="float32").reshape(2, 3)
    expected = np.take(x, places, axis=axis)
    for given in (places, np.array(places)):
        np.testing.assert_array_equal(ops.take(x, given, axis=axis), expected)
        symbol = K.placeholder((None, None))
        result = K.function([symbol], ops.take(symbol, given, axis=axis))([x])
        np.testing.assert_array_equal(result, expected)
    long = np.arange(300)
    assert ops.take(long, np.array([-1, -100], "int8")).tolist() == [299, 200]
