"""Activations, losses, metrics, regularizers and constraints against the real Keras 3, on jax."""

import numpy as np
import pytest
from keras_reference import keras

from kerascope import activations, config, constraints, losses, metrics, ops, regularizers
from kerascope import backend as K
from kerascope.spellings import override_dialect

pytestmark = pytest.mark.usefixtures("answers")

RNG = np.random.default_rng(0)
X = RNG.normal(scale=3, size=(6, 4, 5)).astype("float32")
NUMBERS = X, RNG.normal(size=X.shape).astype("float32")
POSITIVE = tuple(RNG.uniform(0.1, 4, (2, 6, 4, 5)).astype("float32"))
MARGINS = np.sign(X), NUMBERS[1]
CLASSES = RNG.integers(0, 5, (6, 4))
ONE_HOT = np.eye(5, dtype="float32")[CLASSES]
SHARES = RNG.dirichlet(np.ones(5), (6, 4)).astype("float32")
BITS = (X > 0).astype("float32"), RNG.random(X.shape, dtype="float32")

CLOSE = {"rtol": 2e-5, "atol": 1e-6}


def computed(function, *arrays):
    placeholders = [K.placeholder(shape=(None, *array.shape[1:])) for array in arrays]
    return K.function(placeholders, [function(*placeholders)])(list(arrays))[0]


def theirs(function, *arrays):
    return np.asarray(function(*(keras.ops.convert_to_tensor(array) for array in arrays)))


# Keras 3 draws hard_sigmoid with slope 1/6 instead of 1/5: the same line of x * 6 / 5.
@pytest.mark.parametrize(
    "name",
    [
        "softmax",
        "elu",
        "selu",
        "softplus",
        "softsign",
        "relu",
        "tanh",
        "sigmoid",
        "exponential",
        "linear",
    ],
)
def test_activation_agrees_with_keras_3(name):
    np.testing.assert_allclose(
        computed(activations.get(name), X), theirs(keras.activations.get(name), X), **CLOSE
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("leaky_relu", {}),
        ("leaky_relu", {"negative_slope": 0.4}),
        ("relu6", {}),
        ("gelu", {}),
        ("gelu", {"approximate": True}),
        ("silu", {}),
        ("swish", {}),
        ("hard_silu", {}),
        ("hard_swish", {}),
        ("mish", {}),
        ("celu", {"alpha": 0.7}),
        ("log_softmax", {"axis": 1}),
        ("log_sigmoid", {}),
        ("hard_tanh", {}),
        ("tanh_shrink", {}),
        ("hard_shrink", {"threshold": 0.3}),
        ("soft_shrink", {}),
        ("squareplus", {"b": 2}),
        ("glu", {"axis": 1}),
        ("sparse_plus", {}),
        ("sparse_sigmoid", {}),
        ("threshold", {"threshold": 0.5, "default_value": -2.0}),
    ],
)
def test_activation_that_came_with_keras_3_agrees(name, options):
    real = getattr(keras.activations, name)
    np.testing.assert_allclose(
        computed(lambda x: activations.get(name)(x, **options), X),
        theirs(lambda x: real(x, **options), X),
        rtol=5e-5,
        atol=2e-6,
    )


@pytest.mark.parametrize("name", ["hard_shrink", "soft_shrink"])
@pytest.mark.parametrize("home", [keras.activations, keras.ops])
def test_what_shrinks_agrees_on_what_is_no_number_too(home, name, monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    x = np.array([np.nan, np.inf, -np.inf, 0.5, -0.5, 0.7, -3], "float32")
    ours = getattr(activations if home is keras.activations else ops, name)
    for given in (x, np.array([0, 1, -2], "int32")):
        found, real = np.asarray(ours(given)), np.asarray(getattr(home, name)(given))
        np.testing.assert_allclose(found, real, **CLOSE)
        assert found.dtype == real.dtype


def test_softmax_of_one_axis_agrees(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    x = np.array([0.1, 3, -1], "float32")
    found = np.asarray(activations.softmax(x))
    np.testing.assert_allclose(found, np.asarray(keras.activations.softmax(x)), **CLOSE)


def test_sparsemax_agrees_where_keras_3_gives_shares():
    rows = np.array([[3, 1, 0.5], [0.2, 0.1, 0.3], [0.9, 0.6, -2], [2.2, 2, 0]], "float32")
    found, real = computed(activations.sparsemax, rows), theirs(keras.activations.sparsemax, rows)
    np.testing.assert_allclose(found.sum(-1), 1.0, rtol=1e-6)
    are_shares = np.isclose(real.sum(-1), 1.0)  # Keras 3.15 has others, too
    assert are_shares.any()
    np.testing.assert_allclose(found[are_shares], real[are_shares], **CLOSE)
    turned = computed(lambda x: activations.sparsemax(x, axis=0), rows.T)
    np.testing.assert_array_equal(turned, found.T)


def test_threshold_of_whole_numbers_keeps_its_default():
    assert K.eval(activations.threshold(K.constant([1, 3], "int32"), 2, 0.5)).tolist() == [0.5, 3.0]


@pytest.mark.parametrize("mode", ["rows", "columns"])
def test_orthogonal_regularizer_agrees_with_keras_3(mode):
    matrix = X[0]
    np.testing.assert_allclose(
        K.eval(regularizers.OrthogonalRegularizer(0.3, mode)(K.constant(matrix))),
        theirs(keras.regularizers.OrthogonalRegularizer(0.3, mode), matrix),
        rtol=1e-5,
    )


VECTORS = X[0] / np.linalg.norm(X[0], axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("home", "name", "arrays", "options"),
    [
        ("losses", "dice", BITS, {"axis": (1, 2)}),
        ("losses", "tversky", BITS, {"alpha": 0.2, "beta": 0.9}),
        ("losses", "circle", (np.array([0, 1, 0, 1]), VECTORS), {"gamma": 10}),
        ("metrics", "pearson_correlation", NUMBERS, {"axis": (0, 2)}),
        ("metrics", "pearson_correlation", (ONE_HOT * 0, SHARES), {}),
        ("metrics", "concordance_correlation", NUMBERS, {"axis": 0}),
        ("metrics", "concordance_correlation", (ONE_HOT, SHARES), {}),
    ],
)
def test_function_with_arguments_agrees(home, name, arrays, options):
    real = {"losses": keras.losses, "metrics": keras.metrics}[home]
    expected = np.asarray(getattr(real, name)(*arrays, **options))
    ours = getattr({"losses": losses, "metrics": metrics}[home], name)
    found = computed(lambda y, p: ours(y, p, **options), *arrays)
    np.testing.assert_allclose(found, expected, rtol=5e-5, atol=1e-6)


@pytest.mark.parametrize("remove_diagonal", [True, False])
def test_circle_among_other_samples_agrees(remove_diagonal):
    others = {
        "ref_labels": np.array([1, 0]),
        "ref_embeddings": VECTORS[2:],
        "remove_diagonal": remove_diagonal,
    }
    labels = np.array([0, 1, 0, 1])
    expected = np.asarray(keras.losses.circle(labels, VECTORS, **others))
    found = K.eval(losses.circle(K.constant(labels), K.constant(VECTORS), **others))
    np.testing.assert_allclose(found, expected, rtol=5e-5, atol=1e-6)


def test_hard_sigmoid_is_that_of_keras_3_but_for_its_slope():
    np.testing.assert_allclose(
        computed(activations.hard_sigmoid, X),
        theirs(keras.activations.hard_sigmoid, X * np.float32(6 / 5)),
        **CLOSE,
    )


def test_softmax_along_another_axis_agrees_with_keras_3():
    np.testing.assert_allclose(
        computed(lambda x: activations.softmax(x, axis=1), X),
        theirs(lambda x: keras.activations.softmax(x, axis=1), X),
        **CLOSE,
    )


def test_leaky_capped_relu_with_a_threshold_agrees_with_keras_3():
    np.testing.assert_allclose(
        computed(lambda x: activations.relu(x, 0.1, 3.0, 0.5), X),
        theirs(lambda x: keras.activations.relu(x, 0.1, 3.0, 0.5), X),
        **CLOSE,
    )


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
        ("mean_squared_error", NUMBERS),
        ("mean_absolute_error", NUMBERS),
        ("mean_absolute_percentage_error", POSITIVE),
        ("mean_squared_logarithmic_error", POSITIVE),
        # Keras 3 turns targets 0 and 1 into -1 and 1; these are -1 and 1 already.
        ("squared_hinge", MARGINS),
        ("hinge", MARGINS),
        ("categorical_hinge", (ONE_HOT, SHARES)),
        ("log_cosh", NUMBERS),
        ("categorical_crossentropy", (ONE_HOT, SHARES)),
        ("sparse_categorical_crossentropy", (CLASSES[..., None], SHARES)),
        ("binary_crossentropy", BITS),
        ("kl_divergence", (SHARES, SHARES[::-1])),
        ("poisson", POSITIVE),
        ("cosine_similarity", NUMBERS),
    ],
)
def test_loss_agrees_with_keras_3(name, arrays):
    result = computed(losses.get(name), *arrays)
    np.testing.assert_allclose(result, theirs(getattr(keras.losses, name), *arrays), **CLOSE)


@pytest.mark.parametrize(
    ("name", "arrays"),
    [
        ("categorical_accuracy", (ONE_HOT, SHARES)),
        ("sparse_categorical_accuracy", (CLASSES, SHARES)),
        ("sparse_categorical_accuracy", (CLASSES[..., None], SHARES)),
    ],
)
def test_metric_agrees_with_keras_3(name, arrays):
    result = computed(metrics.get(name), *arrays)
    np.testing.assert_allclose(result, theirs(getattr(keras.metrics, name), *arrays), **CLOSE)


def test_binary_accuracy_is_the_mean_of_keras_3s_over_the_last_axis():
    entries = theirs(keras.metrics.binary_accuracy, *BITS)
    np.testing.assert_allclose(computed(metrics.binary_accuracy, *BITS), entries.mean(-1), **CLOSE)


@pytest.mark.parametrize("k", [1, 3])
def test_top_k_metrics_agree_with_keras_3(k):
    for name, targets in [
        ("top_k_categorical_accuracy", ONE_HOT[:, 0]),
        ("sparse_top_k_categorical_accuracy", CLASSES[:, 0].astype("int32")),
    ]:
        ours, real = metrics.get(name), getattr(keras.metrics, name)
        with override_dialect(averaged_metrics="none"):
            found = computed(lambda y, p, ours=ours: ours(y, p, k=k), targets, SHARES[:, 0])
        wanted = theirs(lambda y, p, real=real: real(y, p, k=k), targets, SHARES[:, 0])
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("options", [{"l1": 0.3}, {"l2": 0.2}, {"l1": 0.3, "l2": 0.2}])
def test_regularizer_agrees_with_keras_3(options):
    np.testing.assert_allclose(
        computed(regularizers.L1L2(**options), X),
        theirs(keras.regularizers.L1L2(**options), X),
        rtol=1e-5,
    )


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("MaxNorm", {"max_value": 3.0}),
        ("MaxNorm", {"max_value": 3.0, "axis": [0, 1]}),
        ("NonNeg", {}),
        ("UnitNorm", {"axis": 1}),
        ("MinMaxNorm", {"min_value": 2.0, "max_value": 5.0, "rate": 0.7}),
    ],
)
def test_constraint_agrees_with_keras_3(name, options):
    np.testing.assert_allclose(
        computed(getattr(constraints, name)(**options), X),
        theirs(getattr(keras.constraints, name)(**options), X),
        **CLOSE,
    )


@pytest.mark.parametrize("short", ["mse", "mae", "mape", "msle"])
def test_short_name_means_the_same_loss_as_in_keras_3(short):
    assert keras.losses.get(short).__name__ == losses.get(short).__name__


@pytest.mark.parametrize(
    "name",
    [
        alias
        for aliases in losses.ALIASES.values()
        for alias in aliases
        if alias[0].isupper() and not alias.isupper()
    ],
)
def test_configuration_of_a_keras_3_loss_is_read(name):
    config = keras.losses.serialize(getattr(keras.losses, name)())
    arrays = (CLASSES, SHARES) if name.startswith("Sparse") else (ONE_HOT, SHARES)
    real = theirs(getattr(keras.losses, name)(reduction=None), *arrays)
    if name in ("Hinge", "SquaredHinge"):
        arrays = (2 * ONE_HOT - 1, SHARES)  # Keras 3 does this itself
    np.testing.assert_allclose(computed(losses.get(config), *arrays), real, **CLOSE)
