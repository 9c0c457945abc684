"""Files of the real Keras 2.2.4, files that it can read, and the places where it puts them."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from kerascope import backend as K
from kerascope import config
from kerascope.errors import ArgumentError, ConfigError, UnavailableError
from kerascope.layers import (
    Conv2D,
    ConvLSTM2D,
    Dense,
    Dropout,
    GaussianNoise,
    GlobalMaxPooling2D,
    Input,
    ZeroPadding1D,
)
from kerascope.models import Model, Sequential, load_model, model_from_json, save_model
from kerascope.saving import preprocess_weights_for_loading

SAMPLES = Path(__file__).parents[1] / "samples" / "keras_2.2.4.zip"
X = np.random.default_rng(0).random((4, 3))


def model(units=2):
    made = Sequential([Dense(units, input_shape=(3,), name="a"), Dense(3, name="b")])
    made.compile("rmsprop", "mse")
    made.train_on_batch(X, np.ones((4, 3)))
    return made


@pytest.mark.parametrize("name", ["images", "texts"])
def test_a_file_of_keras_2_on_theano_predicts_and_trains_on_as_there(tmp_path, name):
    """Made by Keras 2.2.4 on Theano 1.0.5: layers of two and three axes, Adam and RMSprop."""
    with zipfile.ZipFile(SAMPLES) as samples:
        samples.extractall(tmp_path)
    answers = np.load(tmp_path / f"{name}.npz")
    loaded = load_model(tmp_path / f"{name}.h5")
    np.testing.assert_allclose(loaded.predict(answers["x"]), answers["prediction"], atol=2e-6)
    loss = np.ravel(loaded.train_on_batch(answers["x"], answers["y"]))[0]
    np.testing.assert_allclose(loss, answers["loss"], rtol=1e-4)


class WithoutEnd(io.RawIOBase):
    """A stream that can only be read on, as one from the net."""

    def __init__(self, content):
        self._content = io.BytesIO(content)

    def readable(self):
        return True

    def readinto(self, room):
        return self._content.readinto(room)


def written_to_file(saved, path):
    with h5py.File(path, "w") as file:
        save_model(saved, file)
    return path


def written_to_memory(saved, path):
    with h5py.File("memory", "w", driver="core", backing_store=False) as file:
        saved.save(file)
        return load_model(file)


def written_to_group(saved, path):
    with h5py.File(path, "w") as file:
        file["models/other"] = 1
        saved.save(file["models"])
    file = h5py.File(path, "r")
    assert file["models/other"][()] == 1
    with file:
        return load_model(file["models"])


def written_to_stream(saved, path):
    stream = io.BytesIO()
    saved.save(stream)
    return load_model(WithoutEnd(stream.getvalue()))


def written_to_open_file(saved, path):
    with path.open("wb") as file:
        saved.save(file)
    with path.open("rb") as file:
        return load_model(file)


@pytest.mark.parametrize(
    "written",
    [written_to_file, written_to_memory, written_to_group, written_to_stream, written_to_open_file],
)
def test_a_model_goes_to_what_is_open_and_comes_back(tmp_path, written):
    saved = model()
    place = written(saved, tmp_path / "m.h5")
    loaded = load_model(place) if isinstance(place, Path) else place
    assert np.array_equal(loaded.predict(X), saved.predict(X))
    y = np.ones((4, 3))
    assert loaded.train_on_batch(X, y) == saved.train_on_batch(X, y)  # with the optimizer's state


def test_weights_go_to_a_group_and_to_a_stream(tmp_path):
    saved, others = model(), [model(), model()]
    stream = io.BytesIO()
    saved.save_weights(stream)
    others[0].load_weights(io.BytesIO(stream.getvalue()))
    with h5py.File(tmp_path / "w.h5", "w") as file:
        saved.save_weights(file.create_group("w"))
        others[1].load_weights(file["w"], by_name=True)
    for other in others:
        assert np.array_equal(other.predict(X), saved.predict(X))


def test_a_second_model_takes_the_place_of_the_first_in_a_group(tmp_path):
    second = model(5)
    second.compile("sgd", "mse")  # it has no state: that of the first must be gone
    with h5py.File(tmp_path / "m.h5", "w") as file:
        model().save(file)
        with pytest.raises(ArgumentError, match=r"m\.h5' already contains .*overwrite=True"):
            second.save(file, overwrite=False)
        second.save(file)
        assert np.array_equal(load_model(file).predict(X), second.predict(X))
        assert "optimizer_weights" not in file


def test_a_group_that_cannot_be_written_is_told(tmp_path):
    model().save(tmp_path / "m.h5")
    with (
        h5py.File(tmp_path / "m.h5", "r") as file,
        pytest.raises(ArgumentError, match="is open for reading only. Open it with mode 'r\\+'"),
    ):
        model().save(file)


def test_a_group_and_a_stream_without_a_model_are_told(tmp_path):
    with (
        h5py.File(tmp_path / "m.h5", "w") as file,
        pytest.raises(ConfigError, match=r"m\.h5/x' contains only weights, no model configuration"),
    ):
        load_model(file.create_group("x"))
    with pytest.raises(
        (ConfigError, UnavailableError), match="the binary file: expected a whole HDF5"
    ):
        load_model(io.BytesIO(b"hello"))


@pytest.mark.parametrize("name", ["m", "m.model", "weights.best", "m.txt", "m.hdf"])
def test_a_file_may_have_any_name_as_in_keras_2(tmp_path, name):
    saved, other = model(), model()
    saved.save(tmp_path / name)
    assert np.array_equal(load_model(tmp_path / name).predict(X), saved.predict(X))
    saved.save_weights(tmp_path / f"w{name}")
    other.load_weights(tmp_path / f"w{name}")
    assert np.array_equal(other.predict(X), saved.predict(X))


def test_in_dialect_3_the_ending_says_the_form(tmp_path, monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    with pytest.raises(ConfigError, match=r"expected a name that ends in \.keras, \.h5 or \.hdf5"):
        model().save(tmp_path / "m.model")


def classes_in(value):
    if isinstance(value, dict):
        own = [value["class_name"]] if "class_name" in value else []
        return own + [name for item in value.values() for name in classes_in(item)]
    return [n for item in value for n in classes_in(item)] if isinstance(value, list) else []


def test_a_configuration_has_the_words_of_keras_2_where_it_has_some():
    """Keras 2.2.4 refuses the class GlorotUniform, and arguments that it does not know."""
    saved = Sequential(
        [
            ZeroPadding1D(2, input_shape=(4, 3)),
            Dense(2, kernel_initializer="he_normal", kernel_regularizer="l2"),
            GaussianNoise(0.1),
        ]
    )
    text = saved.to_json()
    for word in ("GlorotUniform", "HeNormal", '"L2"', "groups", "keepdims"):
        assert word not in text
    dense = model_from_json(text).layers[1]
    assert dense.kernel_regularizer.l2 == pytest.approx(0.01)
    assert vars(dense.kernel_initializer) == vars(saved.layers[1].kernel_initializer)
    images = Input((4, 4, 2))
    grouped = Model(images, GlobalMaxPooling2D(keepdims=True)(Conv2D(2, 2, groups=2)(images)))
    again = model_from_json(grouped.to_json())  # what only newer ones have is said
    assert again.layers[1].groups == 2
    assert again.output_shape == (None, 1, 1, 2)
    assert Dropout.from_config(Dropout(0.5, seed=3).get_config()).seed == 3


def test_names_in_files_are_bytes_of_one_length_which_keras_2_reads(tmp_path):
    """Keras 2.2.4 with its h5py fails on texts of any length."""
    model().save(tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5") as file:
        assert file["model_weights"].attrs["layer_names"].dtype.kind == "S"
        assert file["model_weights/a"].attrs["weight_names"].dtype.kind == "S"
        assert file.attrs["backend"] == "tensorflow"  # so Keras 2 on Theano turns kernels round


@pytest.mark.parametrize("first", ["channels_last", "channels_first"])
def test_twelve_arrays_of_a_conv_lstm_of_keras_1_become_three(first):
    """Kernel, recurrent kernel and bias of each of i, c, f, o; kernels flipped by Theano."""
    rng = np.random.default_rng(1)
    layer = ConvLSTM2D(3, 2, data_format=first)
    layer.build((None, 2, 5, 5, 4) if first == "channels_last" else (None, 2, 4, 5, 5))
    wanted = [rng.random(w.shape) for w in layer.weights]
    parts = [dict(zip("ifco", np.split(array, 4, -1), strict=True)) for array in wanted]
    gates = [part[gate] for gate in "icfo" for part in parts]

    def old(array):
        if array.ndim < 4:
            return array
        flipped = array[::-1, ::-1]
        return flipped.transpose(3, 2, 0, 1) if first == "channels_first" else flipped

    arrays = preprocess_weights_for_loading(layer, [old(g) for g in gates], "1.2.2", "theano")
    for array, expected in zip(arrays, wanted, strict=True):
        assert np.array_equal(array, expected)


def test_a_bias_for_each_place_is_laid_out_as_in_keras_2_with_channels_first():
    """As Keras 2.2.4 on Theano 1.0.5 answers: the numbers in their order, no axes turned."""
    x, bias = np.zeros((1, 3, 2, 2), "float32"), np.arange(12.0).reshape(2, 2, 3)
    added = K.eval(K.bias_add(K.variable(x), K.variable(bias), data_format="channels_first"))
    assert added.ravel().tolist() == list(range(12))
