import math

import numpy as np
import pytest

from kerascope import backend as K
from kerascope import losses
from kerascope.errors import ConfigError, UnknownNameError
from kerascope.settings import config

RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(4, 3, 5)), RNG.normal(size=(4, 3, 5))
POSITIVE = RNG.uniform(0.1, 4, (4, 3, 5)), RNG.uniform(0.1, 4, (4, 3, 5))
MARGINS = np.sign(RNG.normal(size=(4, 3, 5))), RNG.normal(size=(4, 3, 5))
ONE_HOT = np.eye(5)[RNG.integers(0, 5, (4, 3))]
SHARES = RNG.dirichlet(np.ones(5), (4, 3))
BITS = (RNG.random((4, 3, 5)) < 0.5).astype(float), RNG.uniform(0.05, 0.95, (4, 3, 5))

# name -> (targets, predictions), the formula for one row
ROWS = {
    "mean_squared_error": (NUMBERS, lambda y, p: np.mean((y - p) ** 2)),
    "mean_absolute_error": (NUMBERS, lambda y, p: np.mean(abs(y - p))),
    "mean_absolute_percentage_error": (POSITIVE, lambda y, p: 100 * np.mean(abs((y - p) / y))),
    "mean_squared_logarithmic_error": (
        POSITIVE,
        lambda y, p: np.mean((np.log(1 + y) - np.log(1 + p)) ** 2),
    ),
    "squared_hinge": (MARGINS, lambda y, p: np.mean([max(1 - t, 0) ** 2 for t in y * p])),
    "hinge": (MARGINS, lambda y, p: np.mean([max(1 - t, 0) for t in y * p])),
    "categorical_hinge": (
        (ONE_HOT, SHARES),
        lambda y, p: max(0, 1 + max((1 - y) * p) - sum(y * p)),
    ),
    "logcosh": (NUMBERS, lambda y, p: np.mean(np.log(np.cosh(p - y)))),
    "categorical_crossentropy": ((ONE_HOT, SHARES), lambda y, p: -math.log(p[y.argmax()])),
    "sparse_categorical_crossentropy": (
        (ONE_HOT.argmax(-1)[..., None], SHARES),
        lambda y, p: -math.log(p[int(y[0])]),
    ),
    "binary_crossentropy": (
        BITS,
        lambda y, p: np.mean([-math.log(q if t else 1 - q) for t, q in zip(y, p, strict=True)]),
    ),
    "kullback_leibler_divergence": (
        (SHARES, SHARES[::-1]),
        lambda y, p: sum(y * np.log(y / p)),
    ),
    "poisson": (POSITIVE, lambda y, p: np.mean(p - y * np.log(p))),
    "huber": (
        NUMBERS,
        lambda y, p: np.mean([e**2 / 2 if e < 1 else e - 0.5 for e in abs(y - p)]),
    ),
    "binary_focal_crossentropy": (
        BITS,
        lambda y, p: np.mean(
            [
                -((1 - q) ** 2) * math.log(q)
                for q in (t * r + (1 - t) * (1 - r) for t, r in zip(y, p, strict=True))
            ]
        ),
    ),
    "categorical_focal_crossentropy": (
        (ONE_HOT, SHARES),
        lambda y, p: -0.25 * (1 - p[y.argmax()]) ** 2 * math.log(p[y.argmax()]),
    ),
    "cosine_proximity": (NUMBERS, lambda y, p: -(y @ p) / math.sqrt((y @ y) * (p @ p))),
}


def computed(loss, y_true, y_pred):
    y = K.placeholder(shape=(None, *np.shape(y_true)[1:]))
    p = K.placeholder(shape=(None, *np.shape(y_pred)[1:]))
    return K.function([y, p], [loss(y, p)])([y_true, y_pred])[0]


@pytest.mark.parametrize("name", ROWS)
def test_loss_follows_its_formula_on_the_last_axis_only(name, monkeypatch):
    monkeypatch.setattr(config, "floatx", "float64")
    (y_true, y_pred), formula = ROWS[name]
    result = computed(losses.get(name), y_true, y_pred)
    expected = [
        [formula(y, p) for y, p in zip(*pair, strict=True)]
        for pair in zip(y_true, y_pred, strict=True)
    ]
    assert result.shape == (4, 3)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


def test_every_registered_loss_is_tested():
    functions = {name for name, loss in losses._registry.items() if not isinstance(loss, type)}
    assert set(ROWS) | set(losses.structured.__all__) >= functions >= set(ROWS)


@pytest.mark.parametrize("name", ["dice", "tversky", "circle", "ctc"])
@pytest.mark.parametrize("floatx", ["float16", "float32", "float64"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_loss_of_areas_samples_or_sequences_is_finite_at_the_ends(name, floatx, value, monkeypatch):
    monkeypatch.setattr(config, "floatx", floatx)
    y, p = K.zeros((2, 2)), K.variable(np.full((2, 2), value))
    if name == "ctc":
        y, p = K.constant([[1], [0]]), K.variable(np.full((2, 3, 2), 100 * value))
    labels = K.constant([[0], [1]]) if name == "circle" else y
    for target in (labels, 0 * labels):
        loss = losses.get(name)(target, p)
        assert np.isfinite(K.eval(loss)).all()
        assert np.isfinite(K.eval(K.gradients(loss, p)[0])).all()
        assert loss.dtype == floatx


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("floatx", ["float16", "float32", "float64"])
def test_loss_and_gradient_are_finite_at_the_ends(name, floatx, monkeypatch):
    monkeypatch.setattr(config, "floatx", floatx)
    y_true = np.array([[0.0, 1.0], [1.0, 0.0]])
    if (name, floatx) == ("mean_absolute_percentage_error", "float16"):
        y_true += 1  # an error of 200,000 % is no number of float16
    if name.startswith("sparse"):
        y_true = np.array([[1.0], [0.0]])
    y, p = K.constant(y_true), K.variable([[0.0, 1.0], [0.0, 1.0]])
    loss = losses.get(name)(y, p)
    assert np.isfinite(K.eval(loss)).all()
    assert np.isfinite(K.eval(K.gradients(loss, p)[0])).all()
    assert loss.dtype == floatx


def test_logcosh_of_huge_errors_does_not_overflow():
    result = computed(losses.logcosh, np.zeros((2, 1)), np.array([[1e6], [-1e6]]))
    np.testing.assert_allclose(result, [1e6 - math.log(2)] * 2, rtol=1e-6)


def test_sparse_targets_may_come_without_the_last_axis():
    classes, p = ONE_HOT.argmax(-1), SHARES
    long = computed(losses.sparse_categorical_crossentropy, classes[..., None], p)
    short = computed(losses.sparse_categorical_crossentropy, classes, p)
    assert np.array_equal(long, short)


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        *((alias, name) for name, aliases in losses.ALIASES.items() for alias in aliases),
        ("mse", "mean_squared_error"),
        ("KLD", "kullback_leibler_divergence"),
        ("cosine", "cosine_proximity"),
    ],
)
def test_alias_names_the_same_loss(alias, name):
    assert losses.get(alias) is getattr(losses, name)


@pytest.mark.parametrize(
    "name", ["mse", "MSE", "mae", "MAE", "mape", "MAPE", "msle", "MSLE", "kld", "KLD", "cosine"]
)
def test_short_names_are_attributes_of_the_module(name):
    assert getattr(losses, name) is losses.get(name)


def test_name_of_a_class_gives_an_object_with_its_defaults():
    found = losses.get("Huber")
    assert isinstance(found, losses.Huber)
    assert found.get_config() == {
        "delta": 1.0, "reduction": "sum_over_batch_size", "name": "huber"
    }  # fmt: skip


def test_configuration_keeps_the_arguments_of_a_class():
    asked = {"class_name": "BinaryCrossentropy", "config": {"from_logits": True, "axis": 1}}
    found = losses.get(asked)
    assert (found.from_logits, found.axis) == (True, 1)
    assert losses.get(losses.serialize(found)).get_config() == found.get_config()


def test_argument_that_a_class_does_not_know_is_refused():
    with pytest.raises(ConfigError, match="Huber: unknown argument gamma=2"):
        losses.get({"class_name": "Huber", "config": {"gamma": 2}})


def test_unknown_reduction_is_refused():
    with pytest.raises(ValueError, match="MeanSquaredError: unknown reduction 'average'"):
        losses.MeanSquaredError(reduction="average")


def test_functions_and_none_pass_through():
    def my_loss(y_true, y_pred):
        return K.mean(y_pred, axis=-1)

    assert losses.get(my_loss) is my_loss
    assert losses.get(None) is None
    assert losses.deserialize("my_loss", {"my_loss": my_loss}) is my_loss


def test_unknown_loss_suggests_the_nearest():
    with pytest.raises(UnknownNameError) as caught:
        losses.get("binary_crossentrpy")
    assert "Unknown loss 'binary_crossentrpy'. Did you mean 'binary_crossentropy'?" in str(
        caught.value
    )
