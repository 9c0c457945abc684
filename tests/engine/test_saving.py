"""Models and weights in HDF5 files: the way out and the way back."""

from __future__ import annotations

import base64
import json
import marshal

import h5py
import numpy as np
import pytest

from kerascope.callbacks import ModelCheckpoint
from kerascope.engine.layer_type import layer_registry
from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DataError,
    KerascopeWarning,
    UnavailableError,
    UnknownNameError,
)
from kerascope.layers import BatchNormalization, Dense, Input, Lambda, add
from kerascope.models import Model, Sequential, load_model, model_from_json
from kerascope.saving import load_attributes_from_hdf5_group, save_attributes_to_hdf5_group
from kerascope.settings import config

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
        DataError, match=r"expected .* \[\(4, 1\), \(1,\)\] .* got \[\(4, 2\), \(2,\)\]"
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
    with pytest.raises(ArgumentError, match="pass overwrite=True"):
        good.save(path, overwrite=False)
    assert path.read_bytes() == content
    assert [p.name for p in tmp_path.iterdir()] == ["model.h5"]


def test_files_that_are_no_models_say_so(tmp_path, monkeypatch):
    with pytest.raises(UnavailableError, match="there is no file"):
        load_model(tmp_path / "missing.h5")
    (tmp_path / "text.h5").write_text("not HDF5", encoding="utf-8")
    with pytest.raises(ConfigError, match="complete HDF5 file"):
        load_model(tmp_path / "text.h5")
    model = Sequential([Dense(1, input_shape=(6,))])
    model.save_weights(tmp_path / "weights.h5")
    with pytest.raises(ConfigError, match=r"with model\.load_weights"):
        load_model(tmp_path / "weights.h5")
    model.save(tmp_path / "whole.h5")
    whole = (tmp_path / "whole.h5").read_bytes()
    (tmp_path / "half.h5").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigError, match="whole HDF5 file"):
        load_model(tmp_path / "half.h5")
    monkeypatch.setattr(config, "dialect", "3")
    with pytest.raises(ConfigError, match=r"ends in \.keras, \.h5"):
        model.save(tmp_path / "model.pkl")


def test_a_checkpoint_writes_a_file_that_loads(tmp_path):
    model = Sequential([Dense(1, input_shape=(6,))])
    model.compile("sgd", "mse")
    checkpoint = ModelCheckpoint(tmp_path / "epoch-{epoch:02d}.h5", save_best_only=False)
    model.fit(X, Y, epochs=2, verbose=0, callbacks=[checkpoint])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["epoch-01.h5", "epoch-02.h5"]
    assert np.array_equal(load_model(tmp_path / "epoch-02.h5").predict(X), model.predict(X))


def nested(*names):
    """Make a model of a model of two equal Denses."""
    return Sequential([Sequential([Dense(6, name=name) for name in names], name="inner")])


def test_weights_of_a_nested_model_that_names_would_exchange_are_warned_of(tmp_path):
    model, swapped = nested("d_1", "d_2"), nested("d_2", "d_1")
    for each in (model, swapped):
        each.build((None, 6))
    model.save_weights(tmp_path / "weights.h5")
    with pytest.warns(KerascopeWarning, match="'inner' were matched by name"):
        swapped.load_weights(tmp_path / "weights.h5")
    for name in ("d_1", "d_2"):
        ours, theirs = (m.layers[0].get_layer(name).get_weights() for m in (swapped, model))
        assert all(map(np.array_equal, ours, theirs))
    same, others = nested("d_1", "d_2"), nested("e_1", "e_2")
    for each in (same, others):  # without a warning: in the same order, and of other names
        each.build((None, 6))
        each.load_weights(tmp_path / "weights.h5")
        assert np.array_equal(each.predict(X), model.predict(X))


def test_names_of_keras_3_begin_with_the_nested_models(tmp_path):
    model = nested("a", "b")
    model.build((None, 6))
    model.save_weights(tmp_path / "weights.h5")
    with h5py.File(tmp_path / "weights.h5", "a") as file:
        group = file["inner"]
        names = [f"inner/{layer}/{word}" for layer in "ba" for word in ("kernel", "bias")]
        for name in names:
            group[name] = group[f"{name.removeprefix('inner/')}:0"][()]
        group.attrs["weight_names"] = [name.encode() for name in names]
    again = nested("a", "b")
    again.build((None, 6))
    with pytest.warns(KerascopeWarning, match="were matched by name"):
        again.load_weights(tmp_path / "weights.h5")
    assert np.array_equal(again.predict(X), model.predict(X))


# --- long lists of names, and weights by name -----------------------------------------------------


def test_more_names_than_an_attribute_holds_are_written_in_pieces(tmp_path):
    x = y = Input((2,))
    for number in range(100):
        y = Dense(2, name=f"a_layer_with_a_long_name_{number:0700d}")(y)
    model = Model(x, y)
    model.save(tmp_path / "long.h5")
    with h5py.File(tmp_path / "long.h5") as file:
        attributes = file["model_weights"].attrs
        assert "layer_names" not in attributes
        assert len(attributes["layer_names0"]) + len(attributes["layer_names1"]) == 101
    twin = load_model(tmp_path / "long.h5")
    assert np.array_equal(twin.get_weights()[-2], model.get_weights()[-2])


def test_names_in_pieces_come_back(tmp_path):
    names = [f"{number:04d}" * 50 for number in range(1000)]
    with h5py.File(tmp_path / "names.h5", "w") as file:
        save_attributes_to_hdf5_group(file, "names", [name.encode() for name in names])
        assert load_attributes_from_hdf5_group(file, "names") == names
        assert load_attributes_from_hdf5_group(file, "nothing") == []
        save_attributes_to_hdf5_group(file, "none", [])
        assert load_attributes_from_hdf5_group(file, "none") == []
        with pytest.raises(ConfigError, match="at most 64512 bytes, got 70000"):
            save_attributes_to_hdf5_group(file, "wide", ["x" * 70_000])


def named_line(*sizes, prefix="layer"):
    model = Sequential([Dense(sizes[0], input_shape=(6,), name=f"{prefix}0")])
    for number, size in enumerate(sizes[1:], 1):
        model.add(Dense(size, name=f"{prefix}{number}"))
    return model


def test_layers_that_do_not_fit_may_be_skipped_by_name(tmp_path):
    model = named_line(4, 3, 2)
    model.save_weights(tmp_path / "weights.h5")
    other = named_line(4, 5, 2)
    before = other.get_weights()
    with pytest.raises(DataError, match="layer 'layer1': expected weights of shapes"):
        other.load_weights(tmp_path / "weights.h5", by_name=True)
    assert all(np.array_equal(a, b) for a, b in zip(before, other.get_weights(), strict=True))
    with pytest.warns(UserWarning, match="skipped"):
        other.load_weights(tmp_path / "weights.h5", by_name=True, skip_mismatch=True)
    assert np.array_equal(other.get_weights()[0], model.get_weights()[0])
    assert np.array_equal(other.get_weights()[2], before[2])


def test_names_of_which_none_agrees_are_noticed(tmp_path):
    named_line(4).save_weights(tmp_path / "weights.h5")
    with pytest.warns(UserWarning, match="no layer of the model has a name of the file: layer0"):
        named_line(4, prefix="other").load_weights(tmp_path / "weights.h5", by_name=True)


def test_reshape_takes_as_many_numbers_in_another_shape(tmp_path):
    model = named_line(4)
    model.save_weights(tmp_path / "weights.h5")
    other = Sequential([Dense(6, input_shape=(4,), name="layer0", use_bias=False)])
    with h5py.File(tmp_path / "weights.h5", "a") as file:
        file["layer0"].attrs["weight_names"] = [b"layer0/kernel:0"]
    with pytest.raises(DataError, match="shapes"):
        other.load_weights(tmp_path / "weights.h5")
    other.load_weights(tmp_path / "weights.h5", reshape=True)
    assert np.array_equal(other.get_weights()[0], model.get_weights()[0].reshape(4, 6))


def test_weights_in_keras_3s_form_are_chosen_by_the_ending(tmp_path):
    model, twin = named_line(4, 3), named_line(4, 3)
    model.save_weights(tmp_path / "a.weights.h5")
    with h5py.File(tmp_path / "a.weights.h5") as file:
        assert sorted(file["layers"]) == ["dense", "dense_1"]
    twin.load_weights(tmp_path / "a.weights.h5")
    assert np.array_equal(twin.predict(X), model.predict(X))
    with pytest.raises(ConfigError, match="expected by_name=False"):
        twin.load_weights(tmp_path / "a.weights.h5", by_name=True)
    with pytest.raises(ConfigError, match="is for weights alone"):
        model.save(tmp_path / "b.weights.h5")
    with pytest.raises(ConfigError, match="is for whole models"):
        model.save_weights(tmp_path / "b.keras")
    model.save(tmp_path / "whole.keras")
    twin.set_weights([0 * w for w in twin.get_weights()])
    twin.load_weights(tmp_path / "whole.keras")
    assert np.array_equal(twin.predict(X), model.predict(X))
    before = twin.get_weights()
    with pytest.raises(DataError, match="layers: expected 3, as in .*, got 2"):
        named_line(4, 3, 2).load_weights(tmp_path / "whole.keras")
    with pytest.raises(DataError, match=r"expected shape \(4, 5\), got \(4, 3\)"):
        named_line(4, 5).load_weights(tmp_path / "a.weights.h5")
    assert all(np.array_equal(a, b) for a, b in zip(before, twin.get_weights(), strict=True))


# --- your own classes and functions ---------------------------------------------------------------


class OwnScale(Dense):
    """A layer of the user's own."""


def twice(x):
    return 2 * x


@pytest.mark.parametrize("name", ["model.keras", "model.h5"])
def test_own_classes_and_functions_are_passed_in(name, tmp_path, monkeypatch):
    model = Sequential([OwnScale(3, input_shape=(6,)), Lambda(twice)])
    model.save(tmp_path / name)
    with pytest.raises(UnknownNameError, match="function of a Lambda.* 'twice'.*custom_objects"):
        load_model(tmp_path / name)
    monkeypatch.delitem(layer_registry._objects, "OwnScale")  # as in another process
    with pytest.raises(UnknownNameError, match=r"Unknown layer 'OwnScale'.*\{'OwnScale': \.\.\.\}"):
        load_model(tmp_path / name)
    twin = load_model(tmp_path / name, custom_objects={"OwnScale": OwnScale, "twice": twice})
    assert np.array_equal(twin.predict(X), model.predict(X))


def lambda_of_keras_2(function):
    code = base64.b64encode(marshal.dumps(function.__code__)).decode()
    return {
        "class_name": "Sequential",
        "config": {
            "name": "s",
            "layers": [
                {
                    "class_name": "Lambda",
                    "config": {
                        "name": "secret",
                        "batch_input_shape": [None, 6],
                        "function": [code, None, None],
                        "function_type": "lambda",
                        "output_shape": None,
                        "output_shape_type": "raw",
                        "arguments": {},
                    },
                }
            ],
        },
    }


def test_byte_code_is_not_run_unless_asked(tmp_path):
    with h5py.File(tmp_path / "code.h5", "w") as file:
        file.attrs["keras_version"] = b"2.2.4"
        file.attrs["model_config"] = json.dumps(lambda_of_keras_2(lambda x: 3 * x)).encode()
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"secret"]
        group.create_group("secret").attrs["weight_names"] = []
    with pytest.raises(ConfigError, match=r"byte code, .* so it is not run.*safe_mode=F"):
        load_model(tmp_path / "code.h5")
    ours = load_model(tmp_path / "code.h5", custom_objects={"secret": twice})
    assert np.array_equal(ours.predict(X), 2 * X)
    trusted = load_model(tmp_path / "code.h5", safe_mode=False)
    assert np.array_equal(trusted.predict(X), 3 * X)
    config = lambda_of_keras_2(lambda x: x)
    config["config"]["layers"][0]["config"]["function"][0] = "AAAA"
    with h5py.File(tmp_path / "code.h5", "a") as file:
        file.attrs["model_config"] = json.dumps(config).encode()
    with pytest.raises(ConfigError, match="the byte code cannot be read"):
        load_model(tmp_path / "code.h5", safe_mode=False)


def test_byte_code_does_not_say_in_which_file_it_was_written():
    configs = []
    for path in ("/home/one/script.py", "/home/another/script.py"):
        function = eval(compile("lambda x: [(lambda y: y)(z) for z in x]", path, "eval"))
        configs.append(Lambda(function, input_shape=(6,), name="l").get_config())
    assert configs[0] == configs[1]
    assert b"/home" not in base64.b64decode(configs[0]["function"][0])


def test_a_lambda_that_uses_a_variable_without_a_value_is_not_written():
    layer = Lambda(lambda x: x * later, name="l")
    with pytest.raises(ConfigError, match="Lambda 'l': .*has no value yet.*one of: later"):
        layer.get_config()
    later = 3
    assert layer.get_config()["function"][2] == [3]


def test_a_lambda_of_a_trusted_file_finds_global_names_in_the_custom_objects(tmp_path):
    code = compile("lambda x: factor * x", "script.py", "eval")
    model = Sequential([Lambda(eval(code, {"factor": 4}), input_shape=(6,))])
    model.save(tmp_path / "m.h5")
    with pytest.raises(ConfigError, match="NameError: name 'factor' is not defined"):
        load_model(tmp_path / "m.h5", safe_mode=False)
    twin = load_model(tmp_path / "m.h5", custom_objects={"factor": 4}, safe_mode=False)
    assert np.array_equal(twin.predict(X), model.predict(X))


def test_names_of_keras_engine_saving_are_found():
    import kerascope.engine.saving as saving

    assert saving.load_model is load_model
    assert callable(saving.preprocess_weights_for_loading)
    with pytest.raises(AttributeError, match="Did you mean 'load_model'"):
        _ = saving.load_modle
