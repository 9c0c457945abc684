"""A whole model against the real Keras 3, on jax, in float32: the same weights, the same data.

Where both define the same thing, they must agree to float32 rounding. What Keras 3 defines in
another way, and how it is compared here:

- sample weights: Keras 2 (and we) divide the weighted sum by the number of weights that are not
  zero, Keras 3 by the number of samples. They agree where no weight is zero, and by that factor
  where some are;
- the loss of an epoch: Keras 3 weighs the batches by their sizes, as we do, so the means agree too;
- epsilon, Adagrad's first accumulator, Nadam's schedule: see `tests/test_optimizers_keras3.py`;
- the moving variance of BatchNormalization: it follows the variance of the batch as in Keras 3,
  not the corrected one of Keras 2.2.4.
"""

import warnings

import numpy as np
import pytest
from keras_reference import answer, jax, keras
from test_optimizers_keras3 import SETTINGS, their_optimizer

import kerascope as ks
from kerascope import K, optimizers
from kerascope import layers as our_layers
from kerascope.settings import config
from kerascope.spellings import override_dialect

pytestmark = pytest.mark.usefixtures("answers")

CLOSE = {"rtol": 2e-5, "atol": 2e-6}


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


IDS = np.random.default_rng(3).integers(0, 7, size=(40, 3))
X, Y, Z = numbers(40, 4), numbers(40, 2, seed=1), (numbers(40, 1, seed=2) > 0).astype("float32")


def make(layers, model_class, input_function):
    """Return the same model in either library: an embedding, a merge, a normalisation, two ends."""
    words = input_function(shape=(3,), name="words")
    x = input_function(shape=(4,), name="x")
    read = layers.Flatten()(layers.Embedding(7, 2, name="embed")(words))
    shared = layers.Dense(6, activation="tanh", name="shared")
    left = shared(x)
    right = shared(layers.Dense(4, activation="elu", name="turn")(x))
    joined = layers.Concatenate(name="joined")([layers.Multiply()([left, right]), read])
    h = layers.BatchNormalization(momentum=0.8, name="normal")(joined)
    h = layers.Dense(5, activation="softplus", name="deep")(h)
    y = layers.Dense(2, name="y")(layers.Concatenate()([h, left]))
    z = layers.Dense(1, activation="sigmoid", name="z")(h)
    return model_class([words, x], [y, z])


def pair(optimizer=None, their=None, **kwargs):
    """Return our model and theirs, with the same weights, compiled alike."""
    with override_dialect(corrects_variance=False):
        ours = make(our_layers, ks.Model, ks.Input)
    theirs = make(keras.layers, keras.Model, keras.Input)
    for layer in ours.layers:
        if layer.weights:
            rng = np.random.default_rng(len(layer.name))
            weights = [rng.uniform(0.1, 0.9, size=w.shape) - 0.3 for w in layer.weights]
            if layer.name == "normal":
                weights[3] = abs(weights[3]) + 0.5  # a variance
            layer.set_weights(weights)
            theirs.get_layer(layer.name).set_weights([w.astype("float32") for w in weights])
    losses = {"y": "mse", "z": "binary_crossentropy"}
    ours.compile(optimizer or optimizers.SGD(lr=1.0), losses, loss_weights=[1.0, 0.5], **kwargs)
    theirs.compile(
        their or keras.optimizers.SGD(learning_rate=1.0), [losses["y"], losses["z"]],
        loss_weights=[1.0, 0.5], **kwargs,
    )  # fmt: skip
    return ours, theirs


def values_of(model_or_layer):
    """Return the numbers of the weights of a model or layer of Keras 3."""
    return [np.asarray(w.value) for w in model_or_layer.weights]


def assert_same_weights(ours, theirs, **close):
    for layer in [layer for layer in ours.layers if layer.weights]:
        for a, b in zip(layer.get_weights(), values_of(theirs.get_layer(layer.name)), strict=True):
            np.testing.assert_allclose(a, b, **(close or CLOSE), err_msg=layer.name)


def test_outputs_agree():
    ours, theirs = pair()
    for a, b in zip(ours.predict([IDS, X]), theirs.predict([IDS, X], verbose=0), strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)


def test_outputs_in_training_agree_where_batch_normalization_uses_the_batch():
    ours, theirs = pair()
    f = K.function([*ours.inputs, K.learning_phase()], ours.outputs)
    expected = theirs([IDS, X], training=True)
    for a, b in zip(f([IDS, X, 1.0]), expected, strict=True):
        np.testing.assert_allclose(a, np.asarray(b), **CLOSE)


def test_losses_agree_in_total_and_by_output():
    ours, theirs = pair()
    mine = dict(zip(ours.metrics_names, ours.evaluate([IDS, X], [Y, Z], verbose=0), strict=True))
    real = theirs.evaluate([IDS, X], [Y, Z], verbose=0, return_dict=True)
    assert set(mine) <= set(real)
    for name, value in mine.items():
        np.testing.assert_allclose(value, real[name], rtol=2e-5, err_msg=name)


def their_gradients(theirs):
    """Return d total loss / d each trainable weight, by jax, in training."""
    weights = [v.value for v in theirs.trainable_variables]
    state = [v.value for v in theirs.non_trainable_variables]

    def total(weights):
        (y, z), _ = theirs.stateless_call(weights, state, [IDS, X], training=True)
        square = keras.losses.MeanSquaredError()(Y, y)
        return square + 0.5 * keras.losses.BinaryCrossentropy()(Z, z)

    value, grads = jax.value_and_grad(total)(weights)
    return float(value), {
        v.path: np.asarray(g) for v, g in zip(theirs.trainable_variables, grads, strict=True)
    }


def test_gradients_of_all_weights_agree_with_those_of_jax():
    ours, theirs = pair()
    value, expected = their_gradients(theirs)
    weights = ours.trainable_weights
    inputs = [*ours.inputs, *ours.targets, *ours.sample_weights, K.learning_phase()]
    f = K.function(inputs, [ours.total_loss, *K.gradients(ours.total_loss, weights)])
    loss, *grads = f([IDS, X, Y, Z, np.ones(40), np.ones(40), 1.0])
    assert loss == pytest.approx(value, rel=1e-5)
    found = {w.name.split(":")[0]: g for w, g in zip(weights, grads, strict=True)}
    assert found.keys() == expected.keys()
    for name, g in found.items():
        assert abs(g).max() > 1e-4  # a gradient that is all zero would agree by accident
        np.testing.assert_allclose(g, expected[name], rtol=1e-4, atol=2e-6, err_msg=name)


def test_a_step_of_sgd_with_rate_1_takes_off_the_gradient_and_moves_the_averages():
    ours, theirs = pair()
    mine = ours.train_on_batch([IDS, X], [Y, Z])
    real = theirs.train_on_batch([IDS, X], [Y, Z], return_dict=True)
    np.testing.assert_allclose(mine[0], real["loss"], rtol=2e-5)
    assert_same_weights(ours, theirs)


# Each optimizer once, in the form with the most settings. Every form is compared, on a problem
# without a model, in `tests/test_optimizers_keras3.py`.
RICHEST = list(
    {name: (name, *rest) for name, *rest in sorted(SETTINGS, key=lambda s: len(s[1]))}.values()
)


def test_every_optimizer_is_compared():
    assert {name for name, _, _ in RICHEST} == {name for name, _, _ in SETTINGS}
    assert len(RICHEST) == len({name for name, _, _ in RICHEST}) == 11


# Their learning rates are for a problem of two weights; on this model smaller ones stay in the
# region where rounding is not magnified from step to step.
@pytest.mark.parametrize(("name", "options", "renamed"), RICHEST)
def test_ten_steps_of_every_optimizer_agree(name, options, renamed):
    options = {**options, "lr": options["lr"] / 10}
    if name in ("Adam", "AdamW", "Adamax", "Nadam"):
        # g / sqrt(g^2) is +-1 however small g is: a large epsilon keeps noise in g from mattering.
        options["epsilon"] = 1e-3
    ours, theirs = pair(
        getattr(optimizers, name)(**options), their_optimizer(name, dict(options), dict(renamed))
    )
    start = ours.get_weights()
    for step in range(10):
        rows = slice(4 * step, 4 * step + 4)
        mine = ours.train_on_batch([IDS[rows], X[rows]], [Y[rows], Z[rows]])
        real = theirs.train_on_batch([IDS[rows], X[rows]], [Y[rows], Z[rows]], return_dict=True)
        np.testing.assert_allclose(mine[0], real["loss"], rtol=2e-5, err_msg=f"step {step}")
    assert max(abs(a - b).max() for a, b in zip(start, ours.get_weights(), strict=True)) > 1e-3
    assert_same_weights(ours, theirs, rtol=1e-4, atol=5e-6)


def test_the_epochs_that_are_validated_and_their_batch_size_agree():
    ours, theirs = pair(optimizers.SGD(lr=0.05), keras.optimizers.SGD(learning_rate=0.05))
    data = {"batch_size": 16, "shuffle": False, "verbose": 0, "validation_batch_size": 5}
    data |= {"initial_epoch": 1, "epochs": 6, "validation_freq": 2}
    held = ([IDS[:12], X[12:24]], [Y[:12], Z[:12]])
    mine = ours.fit([IDS, X], [Y, Z], validation_data=held, **data).history
    real = theirs.fit([IDS, X], [Y, Z], validation_data=held, **data).history
    assert len(mine["val_loss"]) == len(real["val_loss"]) == 3  # of the epochs 2 to 6
    for name, values in mine.items():
        np.testing.assert_allclose(values, real[name], rtol=1e-4, err_msg=name)


def test_whole_epochs_of_fit_with_validation_agree():
    ours, theirs = pair(optimizers.SGD(lr=0.05), keras.optimizers.SGD(learning_rate=0.05))
    data = {"batch_size": 16, "epochs": 3, "shuffle": False, "verbose": 0}
    held = ([IDS[:12], X[12:24]], [Y[:12], Z[:12]])
    mine = ours.fit([IDS, X], [Y, Z], validation_data=held, **data).history
    real = theirs.fit([IDS, X], [Y, Z], validation_data=held, **data).history
    assert set(mine) <= set(real)
    assert {"val_loss", "val_y_loss", "val_z_loss"} <= set(mine)
    for name, values in mine.items():
        np.testing.assert_allclose(values, real[name], rtol=1e-4, err_msg=name)
    assert_same_weights(ours, theirs, rtol=1e-4, atol=1e-5)


def classifiers(loss, **kwargs):
    """Return a pair of small classifiers with the same weights."""
    models = []
    for library, model_class in ((our_layers, ks.Sequential), (keras.layers, keras.Sequential)):
        first = {"input_shape": (4,)} if library is our_layers else {}
        begin = [] if first else [keras.Input((4,))]
        layers = [
            library.Dense(6, activation="relu", **first),
            library.Dense(3, activation="softmax"),
        ]
        models.append(model_class([*begin, *layers]))
    for shape_seed, (a, b) in enumerate(zip(*(m.layers for m in models), strict=True)):
        weights = [numbers(*w.shape, seed=shape_seed) for w in a.weights]
        a.set_weights(weights)
        b.set_weights(weights)
    models[0].compile(optimizers.SGD(lr=0.1), loss, **kwargs)
    models[1].compile(keras.optimizers.SGD(learning_rate=0.1), loss, **kwargs)
    return models


LABELS = np.arange(40) % 3


@pytest.mark.parametrize("loss", ["categorical_crossentropy", "sparse_categorical_crossentropy"])
def test_accuracy_and_its_validation_agree(loss):
    y = LABELS if "sparse" in loss else np.eye(3, dtype="float32")[LABELS]
    ours, theirs = classifiers(loss, metrics=["accuracy"])
    data = {"batch_size": 10, "epochs": 4, "shuffle": False, "verbose": 0, "validation_split": 0.25}
    mine, real = ours.fit(X, y, **data).history, theirs.fit(X, y, **data).history
    for name, same in [
        ("acc", "accuracy"),
        ("val_acc", "val_accuracy"),
        ("loss",) * 2,
        ("val_loss",) * 2,
    ]:
        np.testing.assert_allclose(mine[name], real[same], rtol=1e-4, err_msg=name)
    assert_close_lists(ours.get_weights(), values_of(theirs))


def assert_close_lists(ours, theirs):
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_sample_weights_without_zeros_agree():
    weights = np.random.default_rng(5).uniform(0.5, 2.0, size=40).astype("float32")
    ours, theirs = classifiers("sparse_categorical_crossentropy")
    np.testing.assert_allclose(
        ours.train_on_batch(X, LABELS, sample_weight=weights),
        theirs.train_on_batch(X, LABELS, sample_weight=weights, return_dict=True)["loss"],
        rtol=1e-5,
    )
    assert_close_lists(ours.get_weights(), values_of(theirs))


def test_sample_weights_with_zeros_differ_by_the_share_of_those_that_count():
    weights = np.where(np.arange(40) % 4 == 0, 0.0, 1.5).astype("float32")
    ours, theirs = classifiers("sparse_categorical_crossentropy")
    mine = ours.test_on_batch(X, LABELS, sample_weight=weights)
    real = theirs.test_on_batch(X, LABELS, sample_weight=weights, return_dict=True)["loss"]
    assert mine * 30 / 40 == pytest.approx(float(real), rel=1e-5)


def test_class_weights_agree():
    class_weight = {0: 0.5, 1: 1.0, 2: 3.0}
    ours, theirs = classifiers("sparse_categorical_crossentropy")
    data = {"batch_size": 40, "epochs": 3, "shuffle": False, "verbose": 0}
    mine = ours.fit(X, LABELS, class_weight=class_weight, **data).history["loss"]
    real = theirs.fit(X, LABELS, class_weight=class_weight, **data).history["loss"]
    np.testing.assert_allclose(mine, real, rtol=1e-4)
    assert_close_lists(ours.get_weights(), values_of(theirs))


def test_penalties_agree():
    models = []
    for library, model_class, name in (
        (our_layers, ks.Model, ks.Input),
        (keras.layers, keras.Model, keras.Input),
    ):
        x = name(shape=(4,))
        y = library.Dense(2, kernel_regularizer="l2", bias_regularizer="l1", use_bias=True)(x)
        models.append(model_class(x, y))
    ours, theirs = models
    weights = [numbers(4, 2), numbers(2)]
    ours.set_weights(weights)
    theirs.set_weights(weights)
    ours.compile(optimizers.SGD(lr=0.1), "mse")
    theirs.compile(keras.optimizers.SGD(learning_rate=0.1), "mse")
    mine = ours.train_on_batch(X, Y)
    real = theirs.train_on_batch(X, Y, return_dict=True)["loss"]
    np.testing.assert_allclose(mine, real, rtol=1e-5)
    assert_close_lists(ours.get_weights(), values_of(theirs))


def in_steps(library, **options):
    """Return the losses of a model that gives back its input: they tell which rows were read."""
    x = np.arange(10.0)[:, None]
    model = library.Sequential([library.layers.Dense(1, kernel_initializer="ones")])
    model.build((None, 1))
    model.compile(library.optimizers.SGD(learning_rate=0.0), "mae")
    settings = {"epochs": 3, "shuffle": False, "verbose": 0, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the data ended in the middle of an epoch
        told = model.fit(x, 0 * x, validation_data=(x, 0 * x), **settings).history
        size = {"batch_size": options.get("batch_size"), "steps": options.get("steps_per_epoch")}
        loss = model.evaluate(x, 0 * x, verbose=0, **size)
        outputs = model.predict(x, verbose=0, **size)
    return [float(n) for n in (*told["loss"], *told["val_loss"], loss)], np.asarray(outputs)


@pytest.mark.parametrize(
    "options",
    [
        {"batch_size": 2, "steps_per_epoch": 3},
        {"batch_size": 2, "steps_per_epoch": 5, "validation_steps": 2},
        {"batch_size": 2, "steps_per_epoch": 7},
        {"batch_size": 4, "steps_per_epoch": 1, "validation_batch_size": 3},
        {"steps_per_epoch": 1},
        {"steps_per_epoch": 3, "validation_steps": 1},
        {"batch_size": 2, "validation_steps": 2, "validation_batch_size": 3},
    ],
)
def test_steps_of_arrays_are_batches_that_go_on_in_the_next_epoch(monkeypatch, options):
    monkeypatch.setattr(config, "dialect", "3")
    losses, outputs = in_steps(ks, **options)
    real, real_outputs = answer(in_steps, keras, **options)
    np.testing.assert_allclose(losses, real, rtol=1e-6)
    np.testing.assert_allclose(outputs, real_outputs, rtol=1e-6)
