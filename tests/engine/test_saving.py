"""Models and weights in HDF5 files: the way out and the way back."""

from __future__ import annotations

import numpy as np
import pytest

from kerascope.callbacks import ModelCheckpoint
from kerascope.errors import ArgumentError, ConfigError, DataError, UnavailableError
from kerascope.layers import BatchNormalization, Dense, Input, add
from kerascope.models import Model, Sequential, load_model, model_from_json

X = np.random.default_rng(0).normal(size=(24, 6)).astype("float32")
Y = np.random.default_rng(1).normal(size=(24, 1)).astype("float32")


def shared_layer_model() -> Model:
    x = Input((6,))
    shared = Dense(6, activation="tanh", name="shared")
    return Model(x, Dense(1)(add([shared(x), BatchNormalization()(shared(shared(x)))])))


def test_a_model_comes_back_with_graph_weights_and_optimizer_state(tmp_path):
    model = shared_layer_model()
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(X, Y, epochs=2, shuffle=False, verbose=0)
    model.save(tmp_path / "model.h5")
    twin = load_model(tmp_path / "model.h5")
    assert np.array_equal(twin.predict(X), model.predict(X))
    assert [layer.name for layer in twin.layers] == [layer.name for layer in model.layers]
    for each in (model, twin):
        each.fit(X, Y, epochs=1, shuffle=False, verbose=0)
    for ours, theirs in zip(model.get_weights(), twin.get_weights(), strict=True):
        assert np.array_equal(ours, theirs)


def test_a_sequential_comes_back(tmp_path):
    model = Sequential([Dense(4, activation="relu", input_shape=(6,)), Dense(1)])
    model.save(tmp_path / "line.h5")
    twin = load_model(tmp_path / "line.h5")
    assert isinstance(twin, Sequential)
    assert twin.optimizer is None
    assert np.array_equal(twin.predict(X), model.predict(X))


def test_a_json_configuration_comes_back_with_fresh_weights():
    model = shared_layer_model()
    twin = model_from_json(model.to_json(indent=2))
    twin.set_weights(model.get_weights())
    assert np.array_equal(twin.predict(X), model.predict(X))


def test_weights_are_read_in_order_or_by_name(tmp_path):
    model = Sequential([Dense(4, input_shape=(6,), name="first"), Dense(1, name="second")])
    model.save_weights(tmp_path / "weights.h5")
    twin = Sequential([Dense(4, input_shape=(6,)), Dense(1)])
    twin.load_weights(tmp_path / "weights.h5")
    assert np.array_equal(twin.predict(X), model.predict(X))
    other = Sequential([Dense(4, input_shape=(6,), name="first"), Dense(3, name="third")])
    before = other.layers[1].get_weights()
    other.load_weights(tmp_path / "weights.h5", by_name=True)
    assert np.array_equal(other.layers[0].get_weights()[0], model.layers[0].get_weights()[0])
    assert np.array_equal(other.layers[1].get_weights()[0], before[0])


def test_weights_that_do_not_fit_change_nothing(tmp_path):
    Sequential([Dense(4, input_shape=(6,)), Dense(2)]).save_weights(tmp_path / "weights.h5")
    model = Sequential([Dense(4, input_shape=(6,)), Dense(1)])
    before = model.get_weights()
    with pytest.raises(
        DataError, match=r"shapes \[\(4, 2\), \(2,\)\]; expected \[\(4, 1\), \(1,\)\]"
    ):
        model.load_weights(tmp_path / "weights.h5")
    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))


def test_a_failed_save_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "model.h5"
    good = Sequential([Dense(1, input_shape=(6,))])
    good.save(path)
    content = path.read_bytes()

    class Nameless(Dense):
        def get_config(self):
            raise ConfigError("no configuration")

    with pytest.raises(ConfigError, match="no configuration"):
        Sequential([Nameless(1, input_shape=(6,))]).save(path)
    with pytest.raises(ArgumentError, match="overwrite is False"):
        good.save(path, overwrite=False)
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["model.h5"]


def test_files_that_are_no_models_say_so(tmp_path):
    with pytest.raises(UnavailableError, match="there is no file"):
        load_model(tmp_path / "missing.h5")
    (tmp_path / "text.h5").write_text("not HDF5", encoding="utf-8")
    with pytest.raises(ConfigError, match="no whole HDF5 file"):
        load_model(tmp_path / "text.h5")
    model = Sequential([Dense(1, input_shape=(6,))])
    model.save_weights(tmp_path / "weights.h5")
    with pytest.raises(ConfigError, match=r"read by model\.load_weights"):
        load_model(tmp_path / "weights.h5")
    model.save(tmp_path / "whole.h5")
    whole = (tmp_path / "whole.h5").read_bytes()
    (tmp_path / "half.h5").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigError, match="no whole HDF5 file"):
        load_model(tmp_path / "half.h5")
    with pytest.raises(ConfigError, match=r"ends in \.h5"):
        model.save(tmp_path / "model.pkl")


def test_a_checkpoint_writes_a_file_that_loads(tmp_path):
    model = Sequential([Dense(1, input_shape=(6,))])
    model.compile("sgd", "mse")
    checkpoint = ModelCheckpoint(tmp_path / "epoch-{epoch:02d}.h5", save_best_only=False)
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[checkpoint])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["epoch-01.h5", "epoch-02.h5"]
    assert np.array_equal(load_model(tmp_path / "epoch-02.h5").predict(X), model.predict(X))
