"""Every name that a file may hold is one that Keras 3 knows, and means the same there.

The names are those of our registries: one that is added there is tested here too.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from keras_reference import keras

from kerascope import (
    Input,
    Sequential,
    activations,
    config,
    constraints,
    initializers,
    layers,
    losses,
    metrics,
    models,
    optimizers,
    regularizers,
)
from kerascope.models import Model, load_model

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore"),  # Keras calls .h5 files legacy
]

VECTORS = np.linspace(-4, 4, 24, dtype="float32").reshape(4, 6)
CLASSES = np.array([0, 2, 1, 2])
ONE_HOT = np.eye(3, dtype="float32")[CLASSES]
SHARES = np.exp(VECTORS[:, :3]) / np.exp(VECTORS[:, :3]).sum(-1, keepdims=True)


# Metrics of Keras 1 that no Keras 3 knows.
OF_KERAS_1 = {"fbeta_score", "fmeasure", "matthews_correlation"}


def names_of(module: Any) -> list[str]:
    return sorted(module._registry.names())


def config_in(path: Path) -> dict[str, Any]:
    if path.suffix == ".keras":
        with zipfile.ZipFile(path) as archive:
            return json.loads(archive.read("config.json"))
    with h5py.File(path) as file:
        found = json.loads(file.attrs["model_config"])
        training = file.attrs.get("training_config")
        return found if training is None else {**found, "compile_config": json.loads(training)}


def state_in(path: Path) -> list[np.ndarray]:
    with h5py.File(path) as file:
        group = file["optimizer_weights"]
        return [np.asarray(group[name]) for name in group.attrs["weight_names"]]


@pytest.fixture(params=["keras", "h5"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    config.dialect = "3"
    yield tmp_path / f"model.{request.param}"
    config.dialect = "2.2"


def test_every_activation_means_the_same_in_keras_3(path):
    x = Input((6,))
    left_out = ("glu", "threshold", "sparsemax")  # halves x; needs numbers; has other shares there
    names = [name for name in names_of(activations) if name not in left_out]
    by_layer = [layers.Activation(getattr(activations, name))(x) for name in names]
    inside = layers.LSTM(2, activation="relu6", recurrent_activation="hard_sigmoid_of_keras_3")
    model = Model(x, [*by_layer, inside(layers.Reshape((3, 2))(x))])
    model.save(path)
    assert "of_keras_3" not in json.dumps(config_in(path))
    theirs = keras.models.load_model(path)(VECTORS)
    for name, one, other in zip([*names, "inside"], model.predict(VECTORS), theirs, strict=True):
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-4, atol=1e-5, err_msg=name)
    for one, other in zip(model.predict(VECTORS), load_model(path).predict(VECTORS), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_only_keras_3_has_a_name_for_is_written_in_its_words_in_every_dialect(tmp_path):
    x = Input((6,))
    model = Model(x, layers.Dense(2, activation="hard_sigmoid_of_keras_3")(x))
    model.save(tmp_path / "model.h5")
    assert "of_keras_3" not in json.dumps(config_in(tmp_path / "model.h5"))
    theirs = keras.models.load_model(tmp_path / "model.h5")
    np.testing.assert_allclose(model.predict(VECTORS), np.asarray(theirs(VECTORS)), rtol=1e-5)
    twin = load_model(tmp_path / "model.h5")
    np.testing.assert_array_equal(model.predict(VECTORS), twin.predict(VECTORS))


@pytest.mark.parametrize("dialect", ["2.2", "3"])
@pytest.mark.parametrize("way", ["json", "yaml"])
def test_the_text_of_a_model_says_what_keras_3_says_and_reads_back_the_same(way, dialect):
    config.dialect = dialect
    try:
        x = Input((6,))
        name = "hard_sigmoid_of_keras_3"
        inside = layers.Bidirectional(layers.GRU(2, recurrent_activation=name))
        gated = inside(layers.TimeDistributed(layers.Dense(2))(layers.Reshape((3, 2))(x)))
        model = Model(x, [layers.Dense(2, activation=name)(x), layers.Activation(name)(x), gated])
        text = getattr(model, f"to_{way}")()
        twin = getattr(models, f"model_from_{way}")(text)
    finally:
        config.dialect = "2.2"
    assert "of_keras_3" not in text
    theirs = keras.models.model_from_json(text)
    for other in (theirs, twin):
        other.set_weights(model.get_weights())
    for one, other, third in zip(
        model.predict(VECTORS), theirs(VECTORS), twin.predict(VECTORS), strict=True
    ):
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(one, third)


def test_in_dialect_3_the_text_of_a_model_is_that_of_its_h5_file(tmp_path):
    config.dialect = "3"
    try:
        model = Sequential([Input((4, 4)), layers.Conv1D(2, 2), layers.LeakyReLU(0.2)])
        model.save(tmp_path / "model.h5")
        text = model.to_json()
    finally:
        config.dialect = "2.2"
    found = json.loads(text)
    assert found.pop("keras_version").startswith("3.")
    assert found == config_in(tmp_path / "model.h5")
    x = np.linspace(-1, 1, 16, dtype="float32").reshape(1, 4, 4)
    theirs = keras.models.model_from_json(text)
    theirs.set_weights(model.get_weights())
    np.testing.assert_allclose(model.predict(x), np.asarray(theirs(x)), rtol=1e-5, atol=1e-6)


def test_every_part_of_a_layer_has_a_name_in_keras_3(path):
    x = Input((6,))
    options = {
        "kernel_initializer": names_of(initializers),
        "kernel_regularizer": sorted({*names_of(regularizers)} - {"EigenvalueRegularizer"}),
        "kernel_constraint": names_of(constraints),
    }
    made = [
        layers.Dense(6, **{option: name})(x) for option, names in options.items() for name in names
    ]
    model = Model(x, made)
    model.save(path)
    theirs = keras.models.load_model(path)
    for one, other in zip(model.predict(VECTORS), theirs(VECTORS), strict=True):
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-5, atol=1e-5)


def compiled(**options: Any) -> Model:
    x = Input((3,))
    model = Model(x, layers.Activation("linear")(x))
    model.compile(**{"optimizer": "sgd", "loss": "mse", **options})
    return model


OF_CLASS_NUMBERS = "circle", "categoricalgeneralizedcrossentropy"


@pytest.mark.parametrize("name", names_of(losses))
def test_every_loss_means_the_same_in_keras_3(name, path):
    loss = name if name[0].islower() else getattr(losses, name)()
    targets = CLASSES if "sparse" in name.lower() or name.lower() in OF_CLASS_NUMBERS else ONE_HOT
    if name.lower() == "ctc":
        x, targets = Input((2, 3)), np.array([[1, 2], [2, 0], [1, 0], [0, 0]])
        model, predictions = Model(x, layers.Activation("linear")(x)), VECTORS.reshape(4, 2, 3)
        model.compile("sgd", loss)
    else:
        model, predictions = compiled(loss=loss), SHARES
    model.save(path)
    entry = config_in(path)["compile_config"]["loss"]
    # Keras 3.15's losses.deserialize does not find all that its load_model finds.
    is_found_there = name != "CategoricalGeneralizedCrossEntropy"
    read = keras.losses.deserialize if is_found_there else keras.saving.deserialize_keras_object
    theirs = keras.losses.get(entry) if isinstance(entry, str) else read(entry)
    theirs = keras.losses.Circle() if name == "circle" else theirs  # in a model it is that one
    ours = model.test_on_batch(predictions, targets)
    expected = np.mean(np.asarray(theirs(targets, predictions)))
    assert ours == pytest.approx(float(expected), rel=1e-4)
    assert load_model(path).test_on_batch(predictions, targets) == ours


WITH_ARGUMENTS = {
    "IoU": {"num_classes": 2, "target_class_ids": [1]},
    "MeanIoU": {"num_classes": 2},
    "OneHotIoU": {"num_classes": 3, "target_class_ids": [0, 2]},
    "OneHotMeanIoU": {"num_classes": 3},
    "PrecisionAtRecall": {"recall": 0.5},
    "RecallAtPrecision": {"precision": 0.3},
    "SensitivityAtSpecificity": {"specificity": 0.4},
    "SpecificityAtSensitivity": {"sensitivity": 0.4},
}


@pytest.mark.parametrize("name", sorted({*names_of(metrics)} - OF_KERAS_1))
def test_every_metric_means_the_same_in_keras_3(name, path):
    options = WITH_ARGUMENTS.get(name, {})
    metric = name if name[0].islower() else getattr(metrics, name)(**options)
    is_sparse = "sparse" in name.lower()
    loss = "sparse_categorical_crossentropy" if is_sparse else "mse"
    model = compiled(loss=loss, metrics=[metric])
    model.save(path)
    (entry,) = config_in(path)["compile_config"]["metrics"]
    theirs = keras.metrics.deserialize(entry) if isinstance(entry, dict) else entry
    again = keras.Sequential([keras.Input((3,)), keras.layers.Activation("linear")])
    again.compile("sgd", loss, metrics=[theirs])
    targets, shares = (CLASSES, SHARES) if is_sparse else (ONE_HOT, SHARES)
    if name in ("MeanIoU", "IoU"):
        targets, shares = (ONE_HOT, (SHARES > 0.4).astype("float32"))
    expected = again.evaluate(shares, targets, verbose=0, batch_size=4)[1]
    ours = model.evaluate(shares, targets, verbose=0, batch_size=4)[1]
    np.testing.assert_allclose(ours, np.asarray(expected), rtol=1e-4, atol=1e-6)
    twin = load_model(path)
    assert twin.metrics_names == model.metrics_names
    np.testing.assert_array_equal(twin.evaluate(shares, targets, verbose=0, batch_size=4)[1], ours)


@pytest.mark.parametrize("name", names_of(optimizers))
def test_every_optimizer_means_the_same_in_keras_3(name, path):
    x = Input((6,))
    model = Model(x, layers.Dense(2)(x))
    model.compile(getattr(optimizers, name)(0.01), "mse")
    targets = np.ones((4, 2), "float32")
    model.train_on_batch(VECTORS, targets)
    model.save(path)
    twin = load_model(path)
    if name == "Lamb" and path.suffix == ".h5":  # there Keras 3.15 does not know its own either
        for one in (model, twin):
            one.train_on_batch(VECTORS, targets)
        for mine, other in zip(model.get_weights(), twin.get_weights(), strict=True):
            np.testing.assert_array_equal(mine, other)
        return
    theirs = keras.models.load_model(path)
    if path.suffix == ".h5":  # Keras 3.15 cannot go on training from its own .h5 files
        theirs = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2)])
        theirs.set_weights(model.get_weights())
        entry = config_in(path)["compile_config"]["optimizer_config"]
        theirs.compile(keras.optimizers.deserialize(entry), "mse")
        theirs.optimizer.build(theirs.trainable_variables)
        theirs.optimizer.set_weights(state_in(path))
    theirs.run_eagerly = True
    for _ in range(2):
        theirs.train_on_batch(VECTORS, targets)
        model.train_on_batch(VECTORS, targets)
        twin.train_on_batch(VECTORS, targets)
    for one, other, third in zip(
        model.get_weights(), theirs.get_weights(), twin.get_weights(), strict=True
    ):
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(one, third)
