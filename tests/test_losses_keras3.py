"""Loss objects against the real Keras 3: reduced numbers, weights, masks, and what fit logs."""

import numpy as np
import pytest
from keras_reference import generator, keras

from kerascope import backend as K
from kerascope import losses
from kerascope.layers import Dense, Embedding, Input
from kerascope.models import Model, Sequential

pytestmark = pytest.mark.usefixtures("answers")

RNG = generator(3)
SHAPE = (6, 4, 5)
NUMBERS = tuple(RNG.normal(size=(2, *SHAPE)).astype("float32"))
POSITIVE = tuple(RNG.uniform(0.1, 4, (2, *SHAPE)).astype("float32"))
CLASSES = RNG.integers(0, 5, SHAPE[:2]).astype("int32")
ONE_HOT = np.eye(5, dtype="float32")[CLASSES]
SHARES = RNG.dirichlet(np.ones(5), SHAPE[:2]).astype("float32")
BITS = (RNG.random(SHAPE) < 0.5).astype("float32"), RNG.uniform(0.02, 0.98, SHAPE).astype("float32")
SIGNS = np.sign(NUMBERS[0]), NUMBERS[1]

LOGITS = BITS[0], NUMBERS[0]

CASES = [
    ("MeanSquaredError", {}, NUMBERS),
    ("MeanAbsoluteError", {}, NUMBERS),
    ("MeanAbsolutePercentageError", {}, POSITIVE),
    ("MeanSquaredLogarithmicError", {}, POSITIVE),
    ("LogCosh", {}, NUMBERS),
    ("Huber", {}, NUMBERS),
    ("Huber", {"delta": 0.5}, NUMBERS),
    ("Hinge", {}, SIGNS),
    ("Hinge", {}, BITS),
    ("SquaredHinge", {}, BITS),
    ("CategoricalHinge", {}, (ONE_HOT, SHARES)),
    ("KLDivergence", {}, (SHARES, SHARES[::-1])),
    ("Poisson", {}, POSITIVE),
    ("CosineSimilarity", {}, NUMBERS),
    ("CosineSimilarity", {"axis": 1}, NUMBERS),
    ("BinaryCrossentropy", {"label_smoothing": 0.1}, BITS),
    ("BinaryCrossentropy", {"from_logits": True, "axis": 1}, (BITS[0], NUMBERS[0])),
    ("CategoricalCrossentropy", {"label_smoothing": 0.1}, (ONE_HOT, SHARES)),
    ("CategoricalCrossentropy", {"from_logits": True}, (ONE_HOT, NUMBERS[0])),
    ("SparseCategoricalCrossentropy", {}, (CLASSES, SHARES)),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, (CLASSES[..., None], NUMBERS[0])),
    ("SparseCategoricalCrossentropy", {"ignore_class": 2}, (CLASSES, SHARES)),
    ("SparseCategoricalCrossentropy", {"ignore_class": -1}, (CLASSES - (CLASSES == 0), SHARES)),
    ("BinaryFocalCrossentropy", {}, BITS),
    ("BinaryFocalCrossentropy", {"apply_class_balancing": True, "gamma": 1.0}, BITS),
    ("BinaryFocalCrossentropy", {"from_logits": True, "label_smoothing": 0.2}, LOGITS),
    ("CategoricalFocalCrossentropy", {"gamma": 3.0, "alpha": 0.4}, (ONE_HOT, SHARES)),
    ("CategoricalFocalCrossentropy", {"from_logits": True}, (ONE_HOT, NUMBERS[0])),
    ("CategoricalFocalCrossentropy", {"label_smoothing": 0.1}, (ONE_HOT, SHARES)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "arrays"), CASES)
@pytest.mark.parametrize("reduction", ["sum_over_batch_size", None])
def test_loss_object_agrees(name, arguments, arrays, reduction):
    ours = getattr(losses, name)(**arguments, reduction=reduction)
    real = getattr(keras.losses, name)(**arguments, reduction=reduction)
    expected = np.asarray(real(*arrays))
    found = K.eval(ours(*arrays))
    if "ignore_class" in arguments and reduction:
        # Keras 3 divides by the places that count; here, as in fit, a mask would do that.
        expected = expected * (arrays[0] != arguments["ignore_class"]).mean(dtype="float32")
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=3e-5, atol=2e-6)


@pytest.mark.parametrize(
    "reduction", ["sum_over_batch_size", "mean_with_sample_weight", "sum", None]
)
@pytest.mark.parametrize("weights", [RNG.uniform(size=(6, 1)), RNG.integers(0, 2, (6, 4))])
def test_sample_weights_agree(reduction, weights):
    weights = weights.astype("float32")
    ours = losses.Huber(reduction=reduction)(*NUMBERS, sample_weight=weights)
    real = keras.losses.Huber(reduction=reduction)(*NUMBERS, sample_weight=weights)
    np.testing.assert_allclose(K.eval(ours), np.asarray(real), rtol=2e-5)


@pytest.mark.parametrize(
    ("ours", "real"),
    [
        (losses.Huber(delta=0.3), lambda: keras.losses.Huber(delta=0.3)),
        ("huber", lambda: "huber"),
        (losses.MeanSquaredError("sum"), lambda: keras.losses.MeanSquaredError("sum")),
        (losses.CosineSimilarity(), lambda: keras.losses.CosineSimilarity()),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_training_on_a_loss_logs_what_keras_3_logs(ours, real, weighted):
    x, y = RNG.normal(size=(32, 3)).astype("float32"), RNG.normal(size=(32, 2)).astype("float32")
    weights = RNG.uniform(0.1, 2, 32).astype("float32") if weighted else None
    models = [
        Sequential([Dense(2, input_shape=(3,))]),
        keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]),
    ]
    models[0].compile("sgd", ours)
    models[1].compile("sgd", real())
    models[0].set_weights([RNG.normal(size=(3, 2)), np.zeros(2)])
    models[1].set_weights(models[0].get_weights())
    logged = [
        model.fit(x, y, 8, epochs=2, shuffle=False, sample_weight=weights, verbose=0).history
        for model in models
    ]
    np.testing.assert_allclose(logged[0]["loss"], logged[1]["loss"], rtol=2e-4)


def test_mask_of_the_output_counts_as_in_keras_3():
    words, y = RNG.integers(0, 3, (4, 6)), RNG.normal(size=(4, 6, 2)).astype("float32")

    def model_of(package, model_class):
        x = package.Input((6,), dtype="int32")
        return model_class(x, package.Embedding(3, 2, mask_zero=True)(x))

    class Ours:
        pass

    Ours.Input, Ours.Embedding = Input, Embedding
    ours, real = model_of(Ours, Model), model_of(keras.layers, keras.Model)
    real.set_weights(ours.get_weights())
    ours.compile("sgd", losses.MeanSquaredError())
    real.compile("sgd", keras.losses.MeanSquaredError())
    expected = real.evaluate(words, y, verbose=0)
    assert ours.evaluate(words, y, verbose=0) == pytest.approx(expected, rel=1e-4)


def test_loss_without_reduction_cannot_be_compiled():
    model = Sequential([Dense(1, input_shape=(1,))])
    with pytest.raises(ValueError, match="reduction=None; expected one that gives a single number"):
        model.compile("sgd", losses.MeanSquaredError(reduction=None))
