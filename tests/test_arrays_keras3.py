"""In dialect "3" losses, metrics, activations and their kin compute at once when given arrays."""

import numpy as np
import pytest
from keras_reference import answer, generator, keras

from kerascope import activations, constraints, losses, metrics, regularizers
from kerascope.settings import config

pytestmark = pytest.mark.usefixtures("answers", "_dialect_3")

CLOSE = {"rtol": 2e-5, "atol": 1e-6}


@pytest.fixture
def _dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


def arrays():
    random = generator(0)
    classes = np.array([0, 2, 1, 1])
    return {
        "bits": random.integers(0, 2, (4, 3)).astype("float32"),
        "one_hot": np.eye(3, dtype="float32")[classes],
        "classes": classes,
        "predicted": random.uniform(0.05, 0.95, (4, 3)).astype("float32"),
        "numbers": random.normal(size=(4, 6)).astype("float32"),
    }


def compare(ours, theirs, name, *args, **options):
    found = getattr(ours, name)(*args, **options)
    assert isinstance(found, (np.ndarray, np.generic))
    wanted = answer(lambda: np.asarray(getattr(theirs, name)(*args, **options)))
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_allclose(found, wanted, **CLOSE)


LOSSES = str.split(
    "mean_squared_error mean_absolute_error mean_absolute_percentage_error log_cosh hinge poisson "
    "mean_squared_logarithmic_error squared_hinge categorical_hinge kl_divergence huber "
    "cosine_similarity binary_crossentropy categorical_crossentropy binary_focal_crossentropy "
    "categorical_focal_crossentropy"
)


@pytest.mark.parametrize("name", LOSSES)
def test_loss_of_arrays_and_lists_is_that_of_keras_3(name):
    given = arrays()
    y, p = given["one_hot"], given["predicted"]
    compare(losses, keras.losses, name, y, p)
    compare(losses, keras.losses, name, given["bits"].astype("int32"), p)
    compare(losses, keras.losses, name, y.tolist(), p.tolist())


def test_crossentropies_take_logits_and_other_options_of_keras_3():
    given = arrays()
    y, p, classes = given["one_hot"], 5 * given["predicted"] - 2, given["classes"]
    smooth = {"from_logits": True, "label_smoothing": 0.1}
    compare(losses, keras.losses, "binary_crossentropy", y, p, **smooth)
    compare(losses, keras.losses, "categorical_crossentropy", y, p, **smooth)
    turned = y.T, given["predicted"].T
    compare(losses, keras.losses, "categorical_crossentropy", *turned, axis=0)
    compare(losses, keras.losses, "cosine_similarity", *turned, axis=0)
    compare(losses, keras.losses, "huber", y, p, delta=0.5)
    name = "sparse_categorical_crossentropy"
    compare(losses, keras.losses, name, classes, given["predicted"])
    compare(losses, keras.losses, name, classes[:, None], p, from_logits=True, ignore_class=2)


CLASSES = [name for name in losses.__all__ if name[0].isupper() and hasattr(losses, name)]
CLASSES = [name for name in CLASSES if isinstance(getattr(losses, name), type)]
CLASSES = [name for name in CLASSES if name not in ("Loss", "CTC")]  # CTC wants sequences
OF_CLASS_NUMBERS = ("Sparse", "Circle", "CategoricalGeneralized")


@pytest.mark.parametrize("name", CLASSES)
def test_loss_object_of_arrays_is_that_of_keras_3(name):
    given = arrays()
    y = given["classes"] if name.startswith(OF_CLASS_NUMBERS) else given["one_hot"]
    weights = np.array([1.0, 2.0, 0.0, 0.5], "float32")
    for options, weighted in (({}, {}), ({"reduction": "sum"}, {"sample_weight": weights})):
        found = getattr(losses, name)(**options)(y, given["predicted"], **weighted)
        wanted = answer(
            lambda told=(options, weighted): np.asarray(
                getattr(keras.losses, name)(**told[0])(y, given["predicted"], **told[1])
            )
        )
        assert isinstance(found, (np.ndarray, np.generic))
        np.testing.assert_allclose(found, wanted, **CLOSE)


def test_metric_functions_of_arrays_are_those_of_keras_3():
    given = arrays()
    y, p, classes = given["one_hot"], given["predicted"], given["classes"]
    for name in ("binary_accuracy", "categorical_accuracy", "top_k_categorical_accuracy"):
        compare(metrics, keras.metrics, name, y, p)
    compare(metrics, keras.metrics, "binary_accuracy", given["bits"], p, threshold=0.7)
    compare(metrics, keras.metrics, "top_k_categorical_accuracy", y, p, k=1)
    compare(metrics, keras.metrics, "sparse_categorical_accuracy", classes, p)
    compare(metrics, keras.metrics, "sparse_top_k_categorical_accuracy", classes, p, k=2)


ACTIVATIONS = str.split(
    "relu elu selu softplus softsign tanh sigmoid hard_sigmoid exponential linear leaky_relu relu6 "
    "gelu silu mish log_softmax softmax celu glu hard_tanh squareplus tanh_shrink soft_shrink"
)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activation_of_arrays_is_that_of_keras_3(name):
    compare(activations, keras.activations, name, arrays()["numbers"])


@pytest.mark.parametrize(
    ("kind", "name", "options"),
    [
        ("regularizers", "L1", {"l1": 0.1}),
        ("regularizers", "L2", {"l2": 0.1}),
        ("regularizers", "L1L2", {"l1": 0.1, "l2": 0.2}),
        ("regularizers", "OrthogonalRegularizer", {"factor": 0.1}),
        ("constraints", "MaxNorm", {"max_value": 0.5}),
        ("constraints", "NonNeg", {}),
        ("constraints", "UnitNorm", {"axis": 1}),
        ("constraints", "MinMaxNorm", {"min_value": 0.2, "max_value": 0.5}),
    ],
)
def test_regularizers_and_constraints_of_arrays_are_those_of_keras_3(kind, name, options):
    ours = {"regularizers": regularizers, "constraints": constraints}[kind]
    x = arrays()["numbers"]
    found = getattr(ours, name)(**options)(x)
    wanted = answer(lambda: np.asarray(getattr(getattr(keras, kind), name)(**options)(x)))
    assert isinstance(found, (np.ndarray, np.generic))
    np.testing.assert_allclose(found, wanted, **CLOSE)


def test_in_other_dialects_they_make_symbols(monkeypatch):
    monkeypatch.setattr(config, "dialect", "2.2")
    y, p = np.ones((2, 3)), np.ones((2, 3))
    assert not isinstance(losses.mean_squared_error(y, p), np.ndarray)
