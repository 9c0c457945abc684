"""Configurations and weights of Keras 1 and tf.keras, and what YAML is allowed to do."""

from __future__ import annotations

import json

import h5py
import numpy as np
import pytest

from kerascope import backend as K
from kerascope import config
from kerascope.errors import ConfigError, MissingToolError
from kerascope.layers import (
    GRU,
    LSTM,
    BatchNormalization,
    Conv1D,
    Conv2D,
    Dense,
    Input,
    Layer,
    Merge,
)
from kerascope.models import (
    Model,
    Sequential,
    load_model,
    model_from_config,
    model_from_json,
    model_from_yaml,
)
from kerascope.saving import load_attributes_from_hdf5_group, preprocess_weights_for_loading

SEQUENTIAL_OF_KERAS_1 = {
    "class_name": "Sequential",
    "keras_version": "1.2.2",
    "config": [
        {
            "class_name": "Convolution2D",
            "config": {
                "name": "convolution2d_1",
                "trainable": True,
                "batch_input_shape": [None, 8, 8, 1],
                "input_dtype": "float32",
                "nb_filter": 4,
                "nb_row": 3,
                "nb_col": 2,
                "init": "glorot_uniform",
                "activation": "relu",
                "border_mode": "same",
                "subsample": [2, 2],
                "dim_ordering": "tf",
                "W_regularizer": {"name": "WeightRegularizer", "l1": 0.0, "l2": 0.01},
                "b_regularizer": None,
                "activity_regularizer": None,
                "W_constraint": {"name": "MaxNorm", "m": 3, "axis": 0},
                "b_constraint": None,
                "bias": True,
            },
        },
        {
            "class_name": "MaxPooling2D",
            "config": {
                "name": "maxpooling2d_1",
                "trainable": True,
                "pool_size": [2, 2],
                "strides": [2, 2],
                "border_mode": "valid",
                "dim_ordering": "tf",
            },
        },
        {"class_name": "Dropout", "config": {"name": "d", "trainable": True, "p": 0.25}},
        {"class_name": "Flatten", "config": {"name": "f", "trainable": True}},
        {
            "class_name": "Dense",
            "config": {
                "name": "dense_1",
                "trainable": True,
                "output_dim": 10,
                "input_dim": 16,
                "init": "uniform",
                "activation": "softmax",
                "W_regularizer": None,
                "b_regularizer": None,
                "activity_regularizer": None,
                "W_constraint": None,
                "b_constraint": None,
                "bias": False,
            },
        },
    ],
}


def test_a_sequential_of_keras_1_is_read():
    model = model_from_json(json.dumps(SEQUENTIAL_OF_KERAS_1))
    convolution, pooling, dropout, _, dense = model.layers
    assert (convolution.filters, convolution.kernel_size) == (4, (3, 2))
    assert (convolution.strides, convolution.padding) == ((2, 2), "same")
    assert convolution.kernel_regularizer.get_config()["l2"] == pytest.approx(0.01)
    assert convolution.kernel_constraint.get_config() == {"max_value": 3, "axis": 0}
    assert pooling.padding == "valid"
    assert dropout.rate == 0.25
    assert (dense.units, dense.use_bias) == (10, False)
    assert model.output_shape == (None, 10)


def layer(class_name, name, inbound, **config):
    return {
        "class_name": class_name,
        "name": name,
        "config": {"name": name, **config},
        "inbound_nodes": [[[source, 0, 0] for source in inbound]] if inbound else [],
    }


@pytest.mark.parametrize(
    ("mode", "class_name", "shape"),
    [
        ({"mode": "sum"}, "Add", (None, 3)),
        ({"mode": "concat", "concat_axis": -1}, "Concatenate", (None, 6)),
        ({"mode": "mul"}, "Multiply", (None, 3)),
        ({"mode": "dot", "dot_axes": [[1], [1]]}, "Dot", (None, 1)),
    ],
)
def test_a_merge_of_keras_1_becomes_the_layer_of_today(mode, class_name, shape):
    merge = {"mode_type": "raw", "concat_axis": -1, "dot_axes": -1, "output_shape": None, **mode}
    config = {
        "class_name": "Model",
        "keras_version": "1.2.2",
        "config": {
            "name": "model_1",
            "layers": [
                layer("InputLayer", "a", [], batch_input_shape=[None, 4], input_dtype="float32"),
                layer("Dense", "b", ["a"], output_dim=3, init="normal"),
                layer("Dense", "c", ["a"], output_dim=3, init="normal"),
                layer("Merge", "m", ["b", "c"], **merge),
            ],
            "input_layers": [["a", 0, 0]],
            "output_layers": [["m", 0, 0]],
        },
    }
    model = model_from_config(config)
    assert type(model.get_layer("m")).__name__ == class_name
    assert model.output_shape == shape


def test_a_merge_by_a_function_is_refused():
    merge = {"class_name": "Merge", "config": {"name": "m", "mode": "aa", "mode_type": "lambda"}}
    with pytest.raises(ConfigError, match="its mode is a function"):
        model_from_config({"class_name": "Sequential", "config": [merge]})


# --- YAML -----------------------------------------------------------------------------------------


def test_yaml_goes_there_and_back():
    model = Sequential([Dense(3, input_shape=(4,), kernel_regularizer="l2")])
    text = model.to_yaml()
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_load(text) == json.loads(model.to_json())
    assert model_from_yaml(text).to_json() == model.to_json()
    assert model_from_yaml(yaml.safe_dump(yaml.safe_load(text))).to_json() == model.to_json()


def test_yaml_of_keras_2_may_have_tuples_but_no_objects():
    pytest.importorskip("yaml")
    text = """
class_name: Sequential
config:
  name: s
  layers:
  - class_name: Dense
    config: {name: d, units: 2, batch_input_shape: !!python/tuple [null, 3]}
"""
    assert model_from_yaml(text).output_shape == (None, 2)
    for evil in ("!!python/object/apply:os.getcwd []", "!!python/name:os.system", "{", "a: b: c"):
        with pytest.raises(ConfigError):
            model_from_yaml(evil)


def test_without_pyyaml_json_still_reads(monkeypatch):
    import sys

    model = Sequential([Dense(3, input_shape=(4,))])
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert model_from_yaml(model.to_yaml()).output_shape == (None, 3)
    with pytest.raises(MissingToolError, match="pip install pyyaml"):
        model_from_yaml("class_name: Model")


# --- weights of Keras 1 ---------------------------------------------------------------------------


def built(layer, shape):
    x = Input(shape)
    Model(x, layer(x))
    return layer


def test_the_gates_of_an_lstm_are_joined():
    layer = built(LSTM(2), (3, 4))
    gates = {g: [np.full(s, i) for s in ((4, 2), (2, 2), (2,))] for i, g in enumerate("ifco")}
    old = [array for gate in "icfo" for array in gates[gate]]
    kernel, recurrent, bias = preprocess_weights_for_loading(layer, old, "1")
    assert kernel.shape == (4, 8)
    assert recurrent[0].tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert bias.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_the_gates_of_a_gru_are_joined():
    layer = built(GRU(2), (3, 4))
    old = [np.full(s, i) for i in range(3) for s in ((4, 2), (2, 2), (2,))]
    kernel, _, bias = preprocess_weights_for_loading(layer, old, "1")
    assert kernel.shape == (4, 6)
    assert bias.tolist() == [0, 0, 1, 1, 2, 2]


def test_kernels_with_the_filters_first_are_turned_and_theanos_unflipped():
    layer = built(Conv2D(2, (3, 4), data_format="channels_first"), (5, 6, 7))
    kernel = np.arange(2 * 5 * 3 * 4).reshape(2, 5, 3, 4)
    bias = np.zeros(2)
    turned, _ = preprocess_weights_for_loading(layer, [kernel, bias], "1", "tensorflow")
    assert turned.shape == (3, 4, 5, 2)
    assert turned[1, 2, 3, 1] == kernel[1, 3, 1, 2]
    flipped, _ = preprocess_weights_for_loading(layer, [kernel, bias], "1", "theano")
    assert flipped[0, 0, 3, 1] == kernel[1, 3, 2, 3]
    flat, _ = preprocess_weights_for_loading(
        built(Conv1D(2, 3), (6, 5)), [np.ones((3, 1, 5, 2)), bias], "1"
    )
    assert flat.shape == (3, 5, 2)


def test_a_file_of_keras_1_is_read_with_its_weights(tmp_path):
    config = {"class_name": "Sequential", "config": [SEQUENTIAL_OF_KERAS_1["config"][4]]}
    config["config"][0]["config"]["batch_input_shape"] = [None, 16]
    kernel = np.random.default_rng(0).normal(size=(16, 10)).astype("float32")
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file.attrs["keras_version"] = b"1.2.2"
        file.attrs["model_config"] = json.dumps(config).encode()
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"dense_1"]
        group.create_group("dense_1").attrs["weight_names"] = [b"dense_1_W"]
        group["dense_1"]["dense_1_W"] = kernel
    model = load_model(tmp_path / "old.h5")
    assert np.array_equal(model.get_weights()[0], kernel)


RECURRENT = {
    "output_dim": 4,
    "init": "glorot_uniform",
    "inner_init": "orthogonal",
    "inner_activation": "hard_sigmoid",
    "return_sequences": True,
    "consume_less": "cpu",
    "U_regularizer": {"name": "WeightRegularizer", "l1": 0.0, "l2": 0.5},
    "dropout_W": 0.1,
    "dropout_U": 0.2,
    "input_dim": 8,
    "input_length": None,
}
LINE_OF_KERAS_1 = [
    (
        "Embedding",
        {"batch_input_shape": [None, 6], "input_dim": 20, "output_dim": 8, "dropout": 0.0},
    ),
    ("LSTM", {**RECURRENT, "forget_bias_init": "one"}),
    ("GRU", RECURRENT),
    ("Convolution1D", {"nb_filter": 5, "filter_length": 3, "subsample_length": 1, "bias": True}),
    ("BatchNormalization", {"mode": 0, "axis": -1, "momentum": 0.9}),
    ("MaxPooling1D", {"stride": 2, "pool_length": 2, "border_mode": "valid"}),
    (
        "TimeDistributed",
        {"layer": {"class_name": "Dense", "config": {"output_dim": 3, "input_dim": 5}}},
    ),
    ("GlobalMaxPooling1D", {}),
    ("GaussianNoise", {"sigma": 0.1}),
    ("GaussianDropout", {"p": 0.2}),
]


def test_many_layers_of_keras_1_are_read_without_a_warning():
    entries = [
        {"class_name": class_name, "config": {"name": f"l{i}", "trainable": True, **config}}
        for i, (class_name, config) in enumerate(LINE_OF_KERAS_1)
    ]
    model = model_from_config(
        {"class_name": "Sequential", "keras_version": "1.2.2", "config": entries}
    )
    _, lstm, gru, _, _, pooling, _, _, noise, dropout = model.layers
    assert model.output_shape == (None, 3)
    assert (lstm.units, lstm.dropout, gru.recurrent_dropout) == (4, 0.1, 0.2)
    assert lstm.recurrent_activation.__name__ == "hard_sigmoid"
    assert gru.recurrent_regularizer.get_config()["l2"] == 0.5
    assert (pooling.pool_size, noise.stddev, dropout.rate) == (2, 0.1, 0.2)


def test_a_configuration_of_tf_keras_is_read_with_keras_2s_hard_sigmoid():
    inputs = {"batch_input_shape": [None, 4], "dtype": "float32", "sparse": False, "ragged": False}
    config = {
        "class_name": "Functional",
        "keras_version": "2.11.0",
        "config": {
            "name": "model",
            "trainable": True,
            "layers": [
                layer("InputLayer", "x", [], **inputs),
                layer("Dense", "d", ["x"], units=3, activation="hard_sigmoid", trainable=True),
                layer("BatchNormalization", "b", ["d"], axis=[1], trainable=True),
            ],
            "input_layers": [["x", 0, 0]],
            "output_layers": [["b", 0, 0]],
        },
    }
    for entry in config["config"]["layers"][1:]:
        entry["inbound_nodes"][0][0].append({})
    model = model_from_config(config)
    assert type(model) is Model
    assert model.get_layer("d").activation.__name__ == "hard_sigmoid"
    assert model.get_layer("b").axis == 1


def test_a_class_of_your_own_with_an_old_word_makes_no_file_of_keras_1(tmp_path):
    class Projection(Layer):
        def __init__(self, output_dim, **kwargs):
            super().__init__(**kwargs)
            self.output_dim = output_dim

        def call(self, inputs):
            return K.tile(inputs, (1, self.output_dim))

    model = Sequential([Projection(3, input_shape=(2,)), Dense(1)])
    for name in ("own.h5", "own.keras"):
        model.save(tmp_path / name)
        again = load_model(tmp_path / name, custom_objects={"Projection": Projection})
        np.testing.assert_array_equal(
            again.predict(np.ones((1, 2))), model.predict(np.ones((1, 2)))
        )


# --- a line that begins with a Merge --------------------------------------------------------------


def shaken(model):
    rng = np.random.default_rng(3)
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    return model


def line_over_branches(dialect="1.2", mode="concat"):
    """Return a line that begins with a Merge of two; the right one begins with another."""
    config.dialect = dialect
    try:
        inner = Sequential([Dense(4, input_dim=4), BatchNormalization()])
        left = Sequential([Dense(4, input_dim=3), inner])
        ends = [Sequential([Dense(2, input_dim=2)]), Sequential([Dense(2, input_dim=2)])]
        right = Sequential([Merge(ends, mode="concat"), Dense(4)])
        return shaken(Sequential([Merge([left, right], mode=mode), Dense(3)]))
    finally:
        config.dialect = "2.2"


@pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")
@pytest.mark.parametrize("dialect", ["1.2", "2.2", "3"])
@pytest.mark.parametrize("ending", ["h5", "weights.h5"])
def test_weights_of_branches_are_saved_and_loaded(dialect, ending, tmp_path):
    model, other = line_over_branches(dialect), line_over_branches(dialect)
    other.set_weights([w + 1 for w in other.get_weights()])
    model.save_weights(tmp_path / f"w.{ending}")
    other.load_weights(tmp_path / f"w.{ending}")
    assert len(model.get_weights()) == 16
    for one, two in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")
def test_layers_of_branches_stand_first_in_a_file_as_in_keras_1(tmp_path):
    left, right = (Sequential([Dense(4, input_dim=3, name=n)]) for n in ("left", "right"))
    model = Sequential([Merge([left, right], mode="sum"), Dense(3, name="top")])
    model.save_weights(tmp_path / "w.h5")
    with h5py.File(tmp_path / "w.h5") as file:
        names = load_attributes_from_hdf5_group(file, "layer_names")
    assert [name for name in names if not name.startswith("add")] == ["left", "right", "top"]
    assert [layer.name for layer in model.flattened_layers if layer.weights] == [*names[:2], "top"]


@pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")
@pytest.mark.parametrize("mode", ["concat", "sum", "mul", "ave", "max", "dot", "cos"])
def test_a_line_over_branches_has_a_configuration(mode, tmp_path):
    model = line_over_branches(mode=mode)
    arrays = [np.ones((2, n)) * 0.1 for n in (3, 2, 2)]
    twin = Sequential.from_config(json.loads(json.dumps(model.get_config())))
    twin.set_weights(model.get_weights())
    np.testing.assert_array_equal(model.predict(arrays), twin.predict(arrays))
    model.save(tmp_path / "model.h5")
    twin = load_model(tmp_path / "model.h5")
    np.testing.assert_array_equal(model.predict(arrays), twin.predict(arrays))
    with pytest.raises(ConfigError, match="begins with a Merge"):
        model.save(tmp_path / "model.keras")


@pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")
def test_a_branch_that_comes_twice_is_shared_again():
    branch = Sequential([Dense(4, input_dim=3)])
    model = Sequential([Merge([branch, branch], mode="mul"), Dense(3)])
    twin = Sequential.from_config(model.get_config())
    assert len(twin.get_weights()) == len(model.get_weights()) == 4


def test_a_merge_in_a_configuration_of_keras_1_is_made_again():
    def dense(units, n):
        options = {"output_dim": units, "input_dim": n, "batch_input_shape": [None, n]}
        return {"class_name": "Dense", "config": {"name": f"d{n}", **options}}

    branches = [{"class_name": "Sequential", "config": [dense(4, n)]} for n in (2, 3)]
    merge = {"name": "merge_1", "mode": "concat", "concat_axis": -1, "layers": branches}
    top = {"class_name": "Dense", "config": {"output_dim": 1, "name": "top"}}
    old = {"class_name": "Sequential", "keras_version": "1.2.2",
           "config": [{"class_name": "Merge", "config": merge}, top]}  # fmt: skip
    model = model_from_json(json.dumps(old))
    assert [layer.name for layer in model.flattened_layers] == ["d2", "d3", "top"]
    assert model.predict([np.ones((2, 2)), np.ones((2, 3))]).shape == (2, 1)


class Scaled(Model):
    """A model with a weight of its own, beside those of its layer."""

    def __init__(self):
        super().__init__()
        self.dense = Dense(2)
        self.scale = self.add_weight(name="scale", shape=(1,), initializer="ones")

    def call(self, inputs):
        return self.dense(inputs) * self.scale


def test_a_weight_that_a_file_cannot_hold_is_not_lost_without_a_word(tmp_path):
    model = Scaled()
    model.predict(np.ones((2, 3)))
    assert len(model.weights) == 3
    with pytest.raises(ConfigError, match=r"belongs to no layer.*\.weights\.h5"):
        model.save_weights(tmp_path / "w.h5")
    assert list(tmp_path.iterdir()) == []
    model.save_weights(tmp_path / "w.weights.h5")
    twin = Scaled()
    twin.predict(np.ones((2, 3)))
    twin.load_weights(tmp_path / "w.weights.h5")
    np.testing.assert_array_equal(model.predict(np.ones((2, 3))), twin.predict(np.ones((2, 3))))
