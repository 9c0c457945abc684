"""Loss objects against the real Keras 3: reduced numbers, weights, masks, and what fit logs."""

import numpy as np
import pytest
from keras_reference import answer, generator, keras

from kerascope import backend as K
from kerascope import config, losses
from kerascope.backend.graph import as_tensor
from kerascope.layers import Activation, Dense, Embedding, Input
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

LABELS = np.array([0, 1, 0, 2, 1, 0]), NUMBERS[0][:, 0] / np.linalg.norm(NUMBERS[0][:, :1], axis=-1)
ALL_ALIKE, NONE_ALIKE = (0 * LABELS[0], LABELS[1]), (np.arange(6), LABELS[1])
WORDS = np.array([[1, 2], [3, 3], [0, 0], [4, 0], [2, 1], [1, 1]]), NUMBERS[1]

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
    ("CategoricalGeneralizedCrossEntropy", {}, (CLASSES, SHARES)),
    ("CategoricalGeneralizedCrossEntropy", {"q": 0.9}, (CLASSES - 1, SHARES)),
    ("Dice", {}, BITS),
    ("Dice", {"axis": (1, 2)}, BITS),
    ("Dice", {"axis": -1}, (0 * BITS[0], 0 * BITS[1])),
    ("Tversky", {"alpha": 0.3}, BITS),
    ("Tversky", {"beta": 0.9, "axis": 1}, BITS),
    ("Tversky", {"alpha": 0.0, "beta": 0.0}, BITS),
    ("Circle", {}, LABELS),
    ("Circle", {"gamma": 5.0, "margin": 0.25, "remove_diagonal": False}, LABELS),
    ("Circle", {}, (LABELS[0][:, None], 3 * LABELS[1])),
    ("Circle", {}, ALL_ALIKE),
    ("CTC", {}, WORDS),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "arrays"), CASES)
@pytest.mark.parametrize("reduction", ["sum_over_batch_size", None])
def test_loss_object_agrees(name, arguments, arrays, reduction):
    ours = getattr(losses, name)(**arguments, reduction=reduction)
    real = getattr(keras.losses, name)(**arguments, reduction=reduction)
    expected = np.asarray(real(*arrays))
    found = K.eval(ours(*arrays))
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=3e-5, atol=2e-6)


REDUCTIONS = ["sum_over_batch_size", "mean", "mean_with_sample_weight", "sum", None]
WEIGHTS = {
    "none": None,
    "of_samples": RNG.uniform(size=(6, 1)).astype("float32"),
    "of_steps": RNG.integers(0, 2, (6, 4)).astype("float32"),
    "of_steps_in_columns": RNG.uniform(size=(6, 4, 1)).astype("float32"),
    "zeros": np.zeros((6, 1), "float32"),
}
MASKS = {
    "none": None,
    "of_steps": RNG.random((6, 4)) < 0.6,
    "of_samples": RNG.random((6, 1)) < 0.6,
    "of_nothing": np.zeros((6, 4), bool),
}
EVERY_WAY = [(r, w, m) for r in REDUCTIONS for w in WEIGHTS for m in MASKS]
SOME_WAYS = [
    ("sum_over_batch_size", "none", "none"),
    ("mean", "of_steps", "of_steps"),
    (None, "none", "of_samples"),
]


def losses_and_gradients_of_keras(name, arguments, arrays, ways):
    """Return the loss, and the derivative of its sum by the predictions, for each way."""
    import jax as real_jax
    from keras import losses as real_losses
    from keras.src.backend import set_keras_mask

    y_true, y_pred = arrays

    def loss_of(reduction, weights, mask, predictions):
        predictions = predictions * 1
        if mask is not None:
            set_keras_mask(predictions, real_jax.numpy.asarray(mask))
        loss = getattr(real_losses, name)(**arguments, reduction=reduction)
        return loss(y_true, predictions, sample_weight=weights)

    found = []
    for reduction, weights, mask in ways:
        arguments_of_way = reduction, WEIGHTS[weights], MASKS[mask], real_jax.numpy.asarray(y_pred)
        gradient = real_jax.grad(lambda *given: loss_of(*given).sum(), argnums=3)
        found += [np.asarray(f(*arguments_of_way)) for f in (loss_of, gradient)]
    return found


def losses_and_gradients(name, arguments, arrays, ways):
    y_true, y_pred = as_tensor(arrays[0]), K.placeholder(arrays[1].shape)
    found = []
    for reduction, weights, mask in ways:
        loss = getattr(losses, name)(**arguments, reduction=reduction).weighted(
            y_true, y_pred, *(None if x is None else as_tensor(x)
                              for x in (WEIGHTS[weights], MASKS[mask]))
        )  # fmt: skip
        found += [loss, *K.gradients(K.sum(loss), [y_pred])]
    return K.function([y_pred], found)([arrays[1]])


def assert_each_way_agrees(name, arguments, arrays, ways):
    found = losses_and_gradients(name, arguments, arrays, ways)
    expected = answer(losses_and_gradients_of_keras, name, arguments, arrays, ways)
    labels = [(*way, what) for way in ways for what in ("loss", "gradient")]
    for label, mine, real in zip(labels, found, expected, strict=True):
        assert mine.shape == real.shape, label
        np.testing.assert_allclose(mine, real, rtol=1e-4, atol=4e-6, err_msg=str(label))


@pytest.mark.parametrize(("name", "arguments", "arrays"), CASES)
def test_gradient_agrees(name, arguments, arrays):
    is_of_steps = "axis" not in arguments and name not in ("Circle", "CTC")
    assert_each_way_agrees(name, arguments, arrays, SOME_WAYS if is_of_steps else SOME_WAYS[:1])


@pytest.mark.parametrize(
    ("name", "arguments", "arrays"),
    [
        ("MeanSquaredError", {}, NUMBERS),
        ("SparseCategoricalCrossentropy", {}, (CLASSES, SHARES)),
        ("SparseCategoricalCrossentropy", {"ignore_class": 2}, (CLASSES, SHARES)),
        ("SparseCategoricalCrossentropy", {"ignore_class": 2}, (0 * CLASSES + 2, SHARES)),
        (
            "SparseCategoricalCrossentropy",
            {"ignore_class": -1, "from_logits": True},
            (np.where(CLASSES == 1, -1, CLASSES)[..., None].astype("int32"), NUMBERS[0]),
        ),
    ],
)
def test_every_reduction_with_all_weights_and_masks_agrees(name, arguments, arrays):
    assert_each_way_agrees(name, arguments, arrays, EVERY_WAY)


def test_the_mean_is_over_the_places_whose_class_is_not_ignored():
    y, p = np.array([0, 1, 0, 1]), np.full((4, 3), [0.25, 0.5, 0.25], "float32")
    loss = losses.SparseCategoricalCrossentropy(ignore_class=0)
    assert float(K.eval(loss(y, p))) == pytest.approx(np.log(2))
    p[0] = np.nan  # what a network says about an ignored place cannot matter
    assert float(K.eval(loss(y, p))) == pytest.approx(np.log(2))


RANKS = [(6,), (6, 1), (6, 4), (6, 4, 1), (6, 1, 1)]


def losses_for_all_ranks_of_keras(name, reduction):
    """Return the loss for targets, predictions and weights of all ranks; None where Keras fails."""
    from keras import losses as real_losses

    loss, found = getattr(real_losses, name)(reduction=reduction), []
    for arrays in arrays_of_all_ranks():
        try:
            found.append(np.asarray(loss(*arrays)))
        except Exception:
            found.append(None)
    return found


def arrays_of_all_ranks():
    rng = np.random.default_rng(0)
    shapes = [(x, y) for x in RANKS for y in RANKS if np.prod(x) == np.prod(y)]
    for y_true, y_pred in shapes:
        for weights in (None, (6,), (6, 1), (6, 4)):
            arrays = [rng.uniform(0.1, 0.9, x) for x in (y_true, y_pred, weights or ())]
            arrays = [x.astype("float32") for x in arrays]
            yield (*arrays[:2], arrays[2] if weights else None)


@pytest.mark.parametrize("name", ["MeanSquaredError", "CosineSimilarity"])
@pytest.mark.parametrize("reduction", ["sum", None])
def test_targets_predictions_and_weights_of_all_ranks_are_matched_as_in_keras_3(name, reduction):
    expected = answer(losses_for_all_ranks_of_keras, name, reduction)
    assert sum(x is not None for x in expected) > 30
    for arrays, real in zip(arrays_of_all_ranks(), expected, strict=True):
        if real is not None:
            found = K.eval(getattr(losses, name)(reduction=reduction)(*arrays))
            shapes = [np.shape(x) for x in arrays]
            assert found.shape == real.shape, shapes
            np.testing.assert_allclose(found, real, rtol=1e-4, atol=1e-6, err_msg=str(shapes))


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


def test_classes_that_are_ignored_train_as_in_keras_3():
    x, y = RNG.normal(size=(24, 5, 3)).astype("float32"), RNG.integers(0, 4, (24, 5, 1))
    start = [RNG.normal(size=(3, 4)), np.zeros(4)]
    ours = Sequential([Dense(4, activation="softmax", input_shape=(5, 3))])
    theirs = keras.Sequential([keras.Input((5, 3)), keras.layers.Dense(4, activation="softmax")])
    for model, home in ((ours, losses), (theirs, keras.losses)):
        model.compile("sgd", home.SparseCategoricalCrossentropy(ignore_class=3))
        model.set_weights(start)
    expected = theirs.fit(x, y, 8, epochs=2, shuffle=False, verbose=0).history
    assert ours.fit(x, y, 8, epochs=2, shuffle=False, verbose=0).history["loss"] == pytest.approx(
        expected["loss"], rel=1e-4
    )
    for mine, real in zip(ours.weights, theirs.weights, strict=True):
        np.testing.assert_allclose(K.get_value(mine), np.asarray(real.value), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Circle", {"gamma": 2.0}),
        ("circle", None),
        ("CategoricalGeneralizedCrossEntropy", {"q": 0.3}),
    ],
)
def test_training_on_class_numbers_logs_what_keras_3_logs(name, arguments):
    x, y = NUMBERS[0].reshape(-1, 5) / 9, CLASSES.reshape(-1)
    rows = Dense(5, activation="softmax", input_shape=(5,))
    real_rows = keras.layers.Dense(5, activation="softmax")
    models = [Sequential([rows]), keras.Sequential([keras.Input((5,)), real_rows])]
    for model, home in zip(models, (losses, keras.losses), strict=True):
        loss = name if arguments is None else getattr(home, name)(**arguments)
        model.compile("sgd", loss)
        model.set_weights([NUMBERS[1][0, :1].T * np.eye(5), np.zeros(5)])
    logged = [m.fit(x, y, 8, epochs=2, shuffle=False, verbose=0).history["loss"] for m in models]
    np.testing.assert_allclose(*logged, rtol=2e-4)


@pytest.mark.parametrize("dialect", ["2.2", "3"])
def test_accuracy_beside_a_loss_of_class_numbers_counts_classes(dialect):
    config.dialect = dialect
    try:
        model = Sequential([Activation("linear", input_shape=(5,))])
        model.compile("sgd", losses.CategoricalGeneralizedCrossEntropy(), metrics=["accuracy"])
        score = model.evaluate(SHARES[0], SHARES[0].argmax(-1), verbose=0)
    finally:
        config.dialect = "2.2"
    assert score[1] == 1.0


def test_class_numbers_in_a_column_are_those_of_their_own_rows():
    loss = losses.CategoricalGeneralizedCrossEntropy(reduction=None)
    flat, column = (K.eval(loss(y, SHARES[0])) for y in (CLASSES[0], CLASSES[0][:, None]))
    np.testing.assert_array_equal(flat, column)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: losses.CategoricalGeneralizedCrossEntropy(1.0),
            "expected q between 0 and 1, got 1.0",
        ),
        (
            lambda: losses.circle(K.zeros((2,)), K.zeros((2,))),
            "one vector for each sample, got",
        ),
        (
            lambda: losses.ctc(K.zeros((2, 3)), K.zeros((2, 3))),
            "expected targets .batch, longest label",
        ),
        (
            lambda: K.eval(losses.ctc(K.constant([[1, 0, 2]]), K.zeros((1, 4, 3)))),
            "the blank is 0",
        ),
    ],
)
def test_what_a_loss_cannot_do_it_says(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_in_dialect_3_a_loss_takes_arrays_by_name_and_axes_by_place():
    config.dialect = "3"
    try:
        assert losses.mean_squared_error(y_true=[[0.0]], y_pred=[[3.0]]).tolist() == [9.0]
        assert losses.dice([[1.0, 0.0]], [[1.0, 0.0]], (0, 1)) == pytest.approx(0.0, abs=1e-6)
        assert losses.ctc([[1]], [[[0.0, 0.0]]]) == pytest.approx(np.log(2))
    finally:
        config.dialect = "2.2"


def test_loss_without_reduction_cannot_be_compiled():
    model = Sequential([Dense(1, input_shape=(1,))])
    with pytest.raises(ValueError, match="a single number.*got reduction=None"):
        model.compile("sgd", losses.MeanSquaredError(reduction=None))
