"""Files with layers that are not known here open all the same, and are saved as they were.

The classes that are not known are written here, in Keras 3: so they stay unknown.
"""

from __future__ import annotations

import copy
import io
import json
import pickle
import sys
import zipfile

import h5py
import numpy as np
import pytest
from keras_reference import answer, keras

from kerascope.cli.commands import main
from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ConfigError, KerascopeError, NotYetError, UnknownNameError
from kerascope.layers import Dense, Layer, TimeDistributed
from kerascope.layers.opaque import Opaque, opaque_layers
from kerascope.limits import Limits
from kerascope.models import (
    Model,
    Sequential,
    clone_model,
    load_model,
    model_from_json,
    model_from_yaml,
)
from kerascope.saving import load_attributes_from_hdf5_group
from kerascope.viz.draw import draw
from kerascope.viz.overlays.diff import diff_lines

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]


# --- what Keras 3 writes; these functions run only where it is there ------------------------------


def strange_classes(keras):
    @keras.saving.register_keras_serializable("lab")
    class Strange(keras.layers.Layer):
        """Changes the last axis, has a weight of each kind, and a layer inside."""

        def __init__(self, units=4, **kwargs):
            super().__init__(**kwargs)
            self.units = units
            self.inner = keras.layers.Dense(units, name="inside")

        def build(self, shape):
            self.kernel = self.add_weight(shape=(shape[-1], self.units), name="kernel")
            self.seen = self.add_weight(
                shape=(), dtype="int32", trainable=False, initializer="ones", name="seen"
            )
            self.inner.build(shape)

        def call(self, x, other=None):
            y = keras.ops.matmul(x, self.kernel) + self.inner(x)
            return y if other is None else y + other

        def compute_output_shape(self, shape, *others):
            return (*shape[:-1], self.units)

        def get_config(self):
            return {**super().get_config(), "units": self.units, "deep": {"é": [1, None, 2.5]}}

    return Strange


def line(keras, path):
    strange = strange_classes(keras)
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((6, 5)),
            layers.Dropout(0.2, seed=1, name="drop"),
            strange(4, name="strange"),
            layers.ReLU(name="after"),
            layers.Dense(3, name="dense"),
            strange(2, name="end"),
        ]
    )
    model.save(path)


def graph(keras, path):
    strange = strange_classes(keras)
    x = keras.Input((5,), name="x")
    shared = strange(4, name="shared")
    a = shared(x)
    b = shared(keras.layers.Dense(5, name="between")(x), other=a)
    joined = keras.layers.Concatenate(name="joined")([a, b])
    keras.Model(x, [keras.layers.Dense(2, name="end")(joined), strange(3, name="open")(a)]).save(
        path
    )


def wrapped(keras, path):
    strange = strange_classes(keras)
    x = keras.Input((6, 5), name="x")
    steps = keras.layers.TimeDistributed(strange(4, name="inner"), name="steps")(x)
    both = keras.layers.Bidirectional(
        keras.layers.LSTM(2, return_sequences=True, name="lstm"), name="both"
    )(steps)
    nested = keras.Sequential([keras.Input((6, 4)), strange(3, name="deep")], name="nested")(both)
    keras.Model(x, keras.layers.Dense(2, name="end")(nested)).save(path)


def trained(keras, path):
    strange = strange_classes(keras)
    model = keras.Sequential([keras.Input((5,)), strange(4, name="strange")])
    model.compile("adam", "mse")
    keras.utils.set_random_seed(1)
    model.fit(np.ones((4, 5), "float32"), np.ones((4, 4), "float32"), verbose=0)
    model.save(path)


FILES = [line, graph, wrapped, trained]


@pytest.fixture
def written(tmp_path):
    def write(make):
        answer(make, keras, tmp_path / f"{make.__name__}.keras")
        return tmp_path / f"{make.__name__}.keras"

    return write


# --- looking at files -----------------------------------------------------------------------------


def members_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def config_of(path):
    return json.loads(members_of(path)["config.json"])


def arrays_of(path):
    with h5py.File(io.BytesIO(members_of(path)["model.weights.h5"])) as file:
        found = {}
        file.visititems(lambda name, one: found.update({name: one}))
        return {n: (x.dtype, x[()].tobytes()) for n, x in found.items() if not hasattr(x, "keys")}


def hdf5_arrays(path):
    with h5py.File(path) as file:
        found = {}
        file.visititems(lambda name, one: found.update({name: one}))
        return {n: (x.dtype, x[()].tobytes()) for n, x in found.items() if not hasattr(x, "keys")}


def same_files(one, other):
    assert config_of(one) == config_of(other)
    assert arrays_of(one) == arrays_of(other)
    assert members_of(one).keys() == members_of(other).keys()


def rewritten(path, change=None, more=None):
    """Write a file anew with its configuration changed, or with further members."""
    members = {**members_of(path), **(more or {})}
    config = json.loads(members["config.json"])
    if change is not None:
        change(config)
    members["config.json"] = json.dumps(config).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


# --- opening and saving ---------------------------------------------------------------------------


@pytest.mark.parametrize("make", FILES, ids=lambda make: make.__name__)
def test_a_file_with_unknown_layers_is_saved_as_it_was(make, written, tmp_path):
    path = written(make)
    model = load_model(path, opaque=True)
    assert opaque_layers(model)
    model.save(tmp_path / "back.keras")
    same_files(path, tmp_path / "back.keras")


def test_an_unknown_layer_has_the_class_the_configuration_and_the_weights_of_the_file(written):
    path = written(line)
    layer = load_model(path, opaque=True).get_layer("strange")
    assert type(layer).__name__ == "Strange"
    assert isinstance(layer, Opaque)
    assert layer.get_config()["deep"] == {"é": [1, None, 2.5]}
    assert sorted(w.shape for w in layer.get_weights()) == [(), (4,), (5, 4), (5, 4)]
    arrays = arrays_of(path)
    for w in layer.weights:
        place = w.name.removeprefix("strange/")
        assert arrays[f"layers/strange/{place}"][1] == w.get_value().tobytes()
    assert [w.dtype for w in layer.non_trainable_weights] == ["int32"]


def test_shapes_are_those_of_the_file_and_never_guessed(written):
    model = load_model(written(line), opaque=True)
    shapes = {layer.name: str(layer.output_shape) for layer in model.layers}
    # `after` does not say in the file on what it was built, but `strange` has units and a matrix.
    assert shapes["strange"] == "(None, 6, 4)"
    assert shapes["end"] == "(None, 6, 2)"
    assert shapes["after"] == "(None, 6, 4)"
    assert shapes["dense"] == "(None, 6, 3)"

    model = load_model(written(graph), opaque=True)
    shared = model.get_layer("shared")
    assert [node.output_shapes for node in shared.inbound_nodes] == [[(None, 4)], [(None, 4)]]
    assert [len(node.input_tensors) for node in shared.inbound_nodes] == [1, 2]
    assert model.get_layer("open").output_shape == (None, 3)
    assert model.output_shape[0] == (None, 2)


def test_wrappers_and_models_around_an_unknown_layer_stay_what_they_are(written):
    model = load_model(written(wrapped), opaque=True)
    steps, both, nested = (model.get_layer(name) for name in ("steps", "both", "nested"))
    assert isinstance(steps, TimeDistributed)
    assert isinstance(steps.layer, Opaque)
    assert steps.output_shape == (None, 6, 4)
    assert not isinstance(both, Opaque)
    assert both.output_shape == (None, 6, 4)
    assert type(nested) is Sequential
    assert nested.get_output_shape_at(1) == (None, 6, 3)
    assert [layer.name for layer in opaque_layers(model)] == ["steps", "inner", "deep"]


def test_what_changed_since_is_saved_and_the_rest_stays_as_it_was(written, tmp_path):
    path = written(line)
    model = load_model(path, opaque=True)
    model.get_layer("dense").trainable = False
    model.get_layer("dense").set_weights([np.full((4, 3), 0.5), np.ones(3)])
    model.save(tmp_path / "back.keras")
    before, after = config_of(path), config_of(tmp_path / "back.keras")
    changed = [
        (key, one[key], other[key])
        for one, other in zip(before["config"]["layers"], after["config"]["layers"], strict=True)
        for key in one
        if one[key] != other[key]
    ]
    assert [key for key, *_ in changed] == ["config"]
    assert changed[0][2] == {**changed[0][1], "trainable": False}
    again = load_model(tmp_path / "back.keras", opaque=True)
    np.testing.assert_array_equal(again.get_layer("dense").get_weights()[0], 0.5)
    ours, theirs = arrays_of(tmp_path / "back.keras"), arrays_of(path)
    assert [name for name in theirs if ours[name] != theirs[name]] == [
        "layers/dense/vars/0",
        "layers/dense/vars/1",
    ]


def test_further_members_of_the_archive_are_saved_too(written, tmp_path):
    path = rewritten(written(line), more={"assets/strange/vocabulary.txt": b"one\ntwo\n"})
    load_model(path, opaque=True).save(tmp_path / "back.keras")
    assert members_of(tmp_path / "back.keras")["assets/strange/vocabulary.txt"] == b"one\ntwo\n"


def test_weights_are_found_where_the_class_has_another_name_in_the_folders(written, tmp_path):
    path = written(line)
    members = members_of(path)
    content = io.BytesIO(members["model.weights.h5"])
    with h5py.File(content, "a") as file:
        file.move("layers/strange", "layers/very_strange")
        file.move("layers/strange_1", "layers/very_strange_1")
        file.create_group("layers/drop_nothing/deep/vars").attrs["name"] = "empty"
    path = rewritten(path, more={"model.weights.h5": content.getvalue()})
    model = load_model(path, opaque=True)
    assert [len(model.get_layer(name).get_weights()) for name in ("strange", "end")] == [4, 4]
    model.save(tmp_path / "back.keras")
    same_files(path, tmp_path / "back.keras")
    with h5py.File(io.BytesIO(members_of(tmp_path / "back.keras")["model.weights.h5"])) as file:
        assert file["layers/drop_nothing/deep/vars"].attrs["name"] == "empty"


def test_a_model_all_of_which_is_known_is_read_as_ever(tmp_path):
    model = Sequential([Dense(3, input_shape=(4,))])
    model.compile("adam", "mse")
    model.fit(np.ones((2, 4)), np.ones((2, 3)), verbose=0)
    model.save(tmp_path / "m.keras")
    opened = load_model(tmp_path / "m.keras", opaque=True)
    assert not opaque_layers(opened)
    assert opened.optimizer is not None
    x = np.ones((2, 4))
    np.testing.assert_array_equal(opened.predict(x), model.predict(x))
    opened.fit(x, np.ones((2, 3)), verbose=0)
    opened.save(tmp_path / "again.keras")
    np.testing.assert_array_equal(
        load_model(tmp_path / "again.keras").predict(x), opened.predict(x)
    )


def bfloat16(keras, path):
    strange = strange_classes(keras)
    model = keras.Sequential([keras.Input((5,)), strange(4, name="strange", dtype="bfloat16")])
    model.save(path)


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.filterwarnings("ignore")  # Keras calls its own .h5 files legacy
def test_weights_in_bfloat16_are_shown_as_numbers_and_saved_in_bfloat16(ending, tmp_path):
    path, back = tmp_path / f"m.{ending}", tmp_path / f"back.{ending}"
    answer(bfloat16, keras, path)
    model = load_model(path, opaque=True)
    numbers = 5 * 4 + (5 * 4 + 4) + 1  # its own, those of the layer inside, and a count
    assert model.count_params() == numbers
    assert sorted({w.dtype for w in model.get_layer("strange").weights}) == ["float32", "int32"]
    assert 0.01 < max(abs(w).max() for w in model.get_weights() if w.dtype == "float32") < 2
    model.save(back)
    if ending == "keras":
        same_files(path, back)
    else:
        assert hdf5_arrays(path) == hdf5_arrays(back)


# --- what is refused ------------------------------------------------------------------------------


def test_load_model_refuses_by_default_and_names_both_ways_out(written):
    with pytest.raises(UnknownNameError, match=r"'Strange'(.|\n)*custom_objects(.|\n)*opaque=True"):
        load_model(written(line))


@pytest.mark.parametrize(
    "run",
    [
        lambda model: model.predict(np.ones((2, 6, 5))),
        lambda model: model(np.ones((2, 6, 5))),
        lambda model: model.get_layer("strange")(np.ones((2, 6, 5))),
        lambda model: (
            model.compile("sgd", "mse"),
            model.fit(np.ones((2, 6, 5)), np.ones((2, 6, 2)), verbose=0),
        ),
    ],
    ids=["predict", "call", "call of the layer", "fit"],
)
def test_who_wants_numbers_is_told_which_layer_stands_in_the_way(run, written):
    model = load_model(written(line), opaque=True)
    with pytest.raises(NotYetError, match=r"Strange '\w+'(.|\n)*custom_objects(.|\n)*--custom"):
        run(model)


@pytest.mark.parametrize("make", [line, wrapped])
def test_a_copy_is_refused_where_it_is_asked_for_and_the_model_stays_whole(make, written, tmp_path):
    path = written(make)
    model = load_model(path, opaque=True)
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotYetError, match=r"an opaque layer .* Save the model, .* opaque=True"):
            copied(model)
    with pytest.raises(NotYetError, match=r"is opaque, .* Load the file again"):
        clone_model(model)
    model.save(tmp_path / "back.keras")
    same_files(path, tmp_path / "back.keras")


def test_a_class_given_in_custom_objects_is_no_opaque_layer(written):
    class _Strange(Layer):  # with an underscore it is not entered among the known classes
        def __init__(self, units=4, deep=None, **kwargs):
            super().__init__(**kwargs)
            self.units, self.deep, self.inner = units, deep, Dense(units, name="inside")

        def build(self, shape):
            self.kernel = self.add_weight("kernel", (shape[-1], self.units))
            self.seen = self.add_weight("seen", (), dtype="int32", trainable=False)

        def call(self, inputs):
            from kerascope import K

            return K.dot(inputs, self.kernel) + self.inner(inputs)

    _Strange.__name__ = "Strange"  # the folders of weights are called after it
    path = written(line)
    model = load_model(path, custom_objects={"Strange": _Strange}, opaque=True)
    assert [layer._why_it_cannot_run for layer in opaque_layers(model)] == []
    assert model.predict(np.ones((2, 6, 5))).shape == (2, 6, 2)


def test_the_limits_hold_for_known_layers_of_such_a_file_too(written):
    path = written(line)

    def ask_for_too_much(config):
        config["config"]["layers"][4]["config"]["units"] = 10**9

    with pytest.raises(ConfigError, match="do not belong together"):
        load_model(rewritten(path, ask_for_too_much), opaque=True)
    with pytest.raises(ConfigError, match="ops, layers and calls"):
        load_model(path, opaque=True, limits=Limits(parts=3))


@pytest.mark.parametrize("opaque", [False, True])
def test_the_limits_hold_for_what_an_h5_file_says_of_training(tmp_path, opaque):
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile("sgd", "mse")
    model.save(tmp_path / "m.h5")
    with h5py.File(tmp_path / "m.h5", "r+") as file:
        told = json.loads(file.attrs["training_config"])
        file.attrs["training_config"] = json.dumps({**told, "metrics": [["mae"]] * 500})
    with pytest.raises(ConfigError, match="more than 400 values"):
        load_model(tmp_path / "m.h5", opaque=opaque, limits=Limits(values=400))


def test_byte_code_of_a_file_is_not_decoded(written):
    def carry_code(config):
        code = {"class_name": "__lambda__", "config": {"code": "AAAA", "defaults": None}}
        entry = config["config"]["layers"][3]
        entry.update(class_name="Lambda", config={"name": "code", "function": code})

    path = rewritten(written(line), carry_code)
    layer = load_model(path, opaque=True).get_layer("code")
    assert isinstance(layer, Opaque)
    assert type(layer).__name__ == "Lambda"


@pytest.mark.parametrize(
    "damage",
    [
        lambda layers: layers[2].update(class_name=3),
        lambda layers: layers[2].update(class_name="a b\x1b[2J"),
        lambda layers: layers[2].update(config=None),
        lambda layers: layers[2]["config"].update(name=None),
        lambda layers: layers[2]["config"].update(trainable="no", dtype={"class_name": "x"}),
        lambda layers: layers[3].update(build_config={"input_shape": [None, -1, "a"]}),
        lambda layers: layers[2].update(build_config=[1]),
        lambda layers: layers[2]["config"].update(
            call={"class_name": "Dense", "config": {"trainable": 1}}
        ),
        lambda layers: layers[2]["config"].update(built=False, weights=[1], _file={}),
    ],
)
def test_what_a_damaged_entry_says_is_never_run_nor_believed(damage, written, tmp_path):
    path = rewritten(written(line), lambda config: damage(config["config"]["layers"]))
    try:
        model = load_model(path, opaque=True)
    except KerascopeError:
        return
    assert opaque_layers(model)
    model.summary(print_fn=lambda line: None)
    model.save(tmp_path / "back.keras")


# --- .h5 files, texts, and models of a class of their own -----------------------------------------


def h5(keras, path):
    strange = strange_classes(keras)
    x = keras.Input((5,), name="x")
    inside = keras.Sequential(
        [keras.Input((5,)), keras.layers.Dense(4, name="known"), strange(3, name="deep")],
        name="nested",
    )
    y = strange(4, name="strange")(x)
    model = keras.Model(
        x, keras.layers.Dense(2, name="end")(keras.ops.concatenate([y, inside(x)], axis=-1))
    )
    model.compile("sgd", "mse")
    model.save(path)


def subclassed(keras, path):
    @keras.saving.register_keras_serializable("lab")
    class Own(keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.first = keras.layers.Dense(4, name="first")
            self.then = keras.layers.BatchNormalization(name="then")

        def call(self, x):
            return self.then(self.first(x))

        def get_config(self):
            return {**super().get_config(), "depth": 2}

    model = Own(name="own")
    model(np.ones((2, 3), "float32"))
    model.save(path)


def hdf5_content(path):
    with h5py.File(path) as file:
        found = {}
        file.visititems(lambda name, one: found.update({name: one}))
        return (
            json.loads(file.attrs["model_config"]),
            json.loads(file.attrs["training_config"]),
            {n: x[()].tobytes() for n, x in found.items() if not hasattr(x, "keys")},
            {
                n: load_attributes_from_hdf5_group(x, "weight_names")
                for n, x in found.items()
                if "weight_names" in x.attrs and len(x.attrs["weight_names"])
            },
        )


@pytest.mark.filterwarnings("ignore")  # Keras calls its own .h5 files legacy
def test_an_h5_file_of_keras_3_with_unknown_layers_is_saved_as_it_was(tmp_path):
    answer(h5, keras, tmp_path / "m.h5")
    model = load_model(tmp_path / "m.h5", opaque=True)
    assert [layer.name for layer in opaque_layers(model)] == ["strange", "deep"]
    assert len(model.get_layer("strange").get_weights()) == 4
    assert [w.shape for w in model.get_layer("nested").get_layer("known").get_weights()] == [
        (5, 4),
        (4,),
    ]
    model.save(tmp_path / "back.h5")
    for before, after in zip(
        hdf5_content(tmp_path / "m.h5"), hdf5_content(tmp_path / "back.h5"), strict=True
    ):
        assert before == after


def test_a_model_of_an_unknown_class_shows_the_layers_and_weights_of_its_file(
    tmp_path, monkeypatch
):
    monkeypatch.delitem(layer_registry._objects, "Own", raising=False)  # a class of another test
    answer(subclassed, keras, tmp_path / "m.keras")
    with pytest.raises(UnknownNameError, match="opaque=True"):
        load_model(tmp_path / "m.keras")
    model = load_model(tmp_path / "m.keras", opaque=True)
    assert isinstance(model, Model)
    assert type(model).__name__ == "Own"
    assert {layer.name: len(layer.get_weights()) for layer in model.layers} == {
        "first": 2,
        "then": 4,
    }
    lines = []
    model.summary(print_fn=lines.append)
    assert "32" in "\n".join(lines)
    *_, box = draw(model).whole.nodes
    assert (box.label, box.attrs["parameters"], box.attrs["output_shapes"]) == ("own", 32, "?")
    assert box.attrs["input_shapes"] == "(2, 3)"
    assert box.attrs["detail"] == "around Layer 'first' and Layer 'then'\nopaque"
    with pytest.raises(NotYetError, match="'own'"):
        model(np.ones((2, 3)))
    model.save(tmp_path / "back.keras")
    same_files(tmp_path / "m.keras", tmp_path / "back.keras")


OLD = {
    "class_name": "Model",
    "keras_version": "2.2.4",
    "config": {
        "name": "old",
        "layers": [
            {
                "name": "x",
                "class_name": "InputLayer",
                "config": {
                    "batch_input_shape": [None, 6, 5],
                    "dtype": "float32",
                    "sparse": False,
                    "name": "x",
                },
                "inbound_nodes": [],
            },
            {
                "name": "odd",
                "class_name": "Odd",
                "config": {"name": "odd", "trainable": True, "rate": [1, 2]},
                "inbound_nodes": [[["x", 0, 0, {}]]],
            },
            {
                "name": "steps",
                "class_name": "TimeDistributed",
                "config": {
                    "name": "steps",
                    "trainable": True,
                    "layer": {"class_name": "Odder", "config": {"name": "odder"}},
                },
                "inbound_nodes": [[["x", 0, 0, {}]]],
            },
            {
                "name": "both",
                "class_name": "Concatenate",
                "config": {"name": "both", "trainable": True, "axis": -1},
                "inbound_nodes": [[["odd", 0, 0, {}], ["steps", 0, 0, {}]]],
            },
        ],
        "input_layers": [["x", 0, 0]],
        "output_layers": [["both", 0, 0]],
    },
}


def of_class(config, name):
    return next(one for one in config["config"]["layers"] if one["name"] == name)


def test_a_text_of_keras_2_with_unknown_layers_is_read_and_written_with_them():
    text = json.dumps(OLD)
    with pytest.raises(UnknownNameError, match="opaque=True"):
        model_from_json(text)
    for read in (model_from_json, model_from_yaml):
        model = read(text, opaque=True)
        assert [type(layer).__name__ for layer in model.layers] == [
            "InputLayer",
            "Odd",
            "TimeDistributed",
            "Concatenate",
        ]
        assert {str(layer.output_shape) for layer in model.layers[1:]} == {"?"}
        written = json.loads(model.to_json())
        for name in ("odd", "steps", "both"):
            assert of_class(written, name) == of_class(OLD, name)


def test_the_h5_file_of_keras_2_with_an_unknown_layer_keeps_its_weights_and_their_names(tmp_path):
    config = json.loads(json.dumps(OLD))
    with h5py.File(tmp_path / "old.h5", "w") as file:
        file.attrs["model_config"] = json.dumps(config).encode()
        file.attrs["training_config"] = b'{"loss": "mse"}'
        group = file.create_group("model_weights")
        group.attrs["layer_names"] = [b"x", b"odd", b"steps", b"both"]
        group.attrs["keras_version"], group.attrs["backend"] = b"2.2.4", b"tensorflow"
        for name, arrays in {
            "x": {},
            "odd": {"odd_7/alpha:0": np.arange(6.0).reshape(2, 3), "odd_7/n:0": np.int64([3])},
            "steps": {"steps/kernel:0": np.ones((2, 2), "float32")},
            "both": {},
        }.items():
            inner = group.create_group(name)
            inner.attrs["weight_names"] = [one.encode() for one in arrays]
            for one, array in arrays.items():
                inner.create_dataset(one, data=array)
    model = load_model(tmp_path / "old.h5", opaque=True)
    np.testing.assert_array_equal(
        model.get_layer("odd").get_weights()[0], np.arange(6.0).reshape(2, 3)
    )
    assert [w.shape for w in model.get_layer("steps").layer.get_weights()] == [(2, 2)]
    model.save(tmp_path / "back.h5")
    before, after = (hdf5_content(tmp_path / name) for name in ("old.h5", "back.h5"))
    assert before[0] == after[0]
    assert before[2:] == after[2:]


# --- showing them ---------------------------------------------------------------------------------


def test_pictures_tables_graphs_and_differences_show_opaque_layers(written, tmp_path):
    path = written(graph)
    model = load_model(path, opaque=True)
    boxes = {node.label: node.attrs for node in draw(model).whole.nodes}
    assert boxes["open"]["class_name"] == "Strange"
    assert boxes["open"]["output_shapes"] == "(None, 3)"
    assert boxes["open"]["detail"] == "opaque"
    assert boxes["end"]["output_shapes"] == "(None, 2)"
    assert "opaque" not in str(boxes["end"])
    for ending in ("svg", "html", "txt", "dot", "graphml", "json"):
        draw(model).save(tmp_path / f"m.{ending}")
        assert "Strange" in (tmp_path / f"m.{ending}").read_text(encoding="utf-8")
    lines = []
    model.summary(print_fn=lines.append, flops=True, memory=True, expand_nested=True)
    assert any(line.startswith("Opaque: ") and "shared" in line for line in lines)

    def compared():
        return "\n".join(diff_lines(draw(other, diff=model).whole))

    other = load_model(path, opaque=True)
    assert "0 added, 0 removed, 0 changed, 7 same" in compared()
    assert "weights" not in compared()
    weights = other.get_layer("open").get_weights()
    other.get_layer("open").set_weights([weights[0] + 1, *weights[1:]])
    assert "open: weights changed" in compared()


def test_the_command_line_shows_a_file_with_unknown_layers(written, capsys, monkeypatch, tmp_path):
    path = written(line)
    assert main(["summary", str(path)]) == 0
    assert "Opaque: strange" in capsys.readouterr().out
    assert main(["draw", str(path), "-o", "-", "--format", "txt"]) == 0
    assert "opaque" in capsys.readouterr().out
    assert main(["draw", str(path), "-o", "-", "--format", "txt", "--level", "gradient"]) == 2
    assert "'strange': cannot be run" in capsys.readouterr().err


OWN_MODULE = """
from kerascope import K, layers
class _Strange(layers.Layer):
    def __init__(self, units=4, deep=None, **kwargs):
        super().__init__(**kwargs)
        self.units, self.deep, self.inner = units, deep, layers.Dense(units, name="inside")
    def build(self, shape):
        self.kernel = self.add_weight("kernel", (shape[-1], self.units))
        self.seen = self.add_weight("seen", (), dtype="int32", trainable=False)
    def call(self, inputs):
        return K.dot(inputs, self.kernel) + self.inner(inputs)
_Strange.__name__ = "Strange"  # the folders of weights are called after it
Strange = _Strange
"""


def test_custom_names_classes_of_ones_own_on_the_command_line(
    written, capsys, monkeypatch, tmp_path
):
    path = written(line)
    (tmp_path / "lab_of_mine.py").write_text(OWN_MODULE)
    monkeypatch.chdir(tmp_path)
    assert main(["summary", str(path), "--custom", "lab_of_mine:Strange"]) == 0
    printed = capsys.readouterr().out
    assert "Opaque" not in printed
    assert "?" not in printed
    for word, expected in (("lab_of_mine:Strang", "Did you mean 'Strange'"), ("lab", "MODULE")):
        assert main(["summary", str(path), "--custom", word]) == 2
        assert expected in capsys.readouterr().err
    del sys.modules["lab_of_mine"]
