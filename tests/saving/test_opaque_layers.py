"""Files with layers that are not known here open all the same, and are saved as they were.

The classes that are not known are written here, in Keras 3: so they stay unknown.
"""

from __future__ import annotations

import io
import json
import zipfile

import h5py
import numpy as np
import pytest
from keras_reference import answer, keras

from kerascope.errors import ConfigError, KerascopeError, NotYetError, UnknownNameError
from kerascope.layers import Dense, Layer, TimeDistributed
from kerascope.layers.opaque import Opaque, opaque_layers
from kerascope.limits import Limits
from kerascope.models import Sequential, load_model

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
    # `after` does not say in the file on what it was built, so the one before it is not known.
    assert shapes["strange"] == "?"
    assert shapes["end"] == "?"
    assert shapes["after"] == "(None, 6, 4)"
    assert shapes["dense"] == "(None, 6, 3)"

    model = load_model(written(graph), opaque=True)
    shared = model.get_layer("shared")
    assert [node.output_shapes for node in shared.inbound_nodes] == [[(None, 4)], [(None, 4)]]
    assert [len(node.input_tensors) for node in shared.inbound_nodes] == [1, 2]
    assert str(model.get_layer("open").output_shape) == "?"
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
    with pytest.raises(NotYetError, match=r"Strange 'strange'(.|\n)*custom_objects(.|\n)*--custom"):
        run(model)


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
