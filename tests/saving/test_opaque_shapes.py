"""Shapes behind a layer that is not known: inferred, or given by the user.

For each way of inferring there is a model with one unknown layer in the middle, whose rows all have
to have a shape, the right one: settings like those of a layer of ours, `units`, a saved matrix, the
kernel of the convolution behind it. A shape that nothing states stays unknown.
"""

import json
import zipfile

import h5py
import pytest

from kerascope import Sequential, layers
from kerascope import backend as K
from kerascope.cli import main
from kerascope.engine.summary import summarize
from kerascope.models import load_model, model_from_json
from kerascope.saving.keras3_files import write_archive

pytestmark = pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")


# A class that is defined is known. So the files get other names: `Own` -> `Their`.


class OwnDense(layers.Dense):
    pass


class OwnConv2D(layers.Conv2D):
    pass


class OwnProjection(layers.Layer):
    def __init__(self, n_out=5, **kwargs):
        super().__init__(**kwargs)
        self.n_out = n_out

    def build(self, input_shape):
        self.matrix = self.add_weight("matrix", (input_shape[-1], self.n_out), initializer="normal")
        self.built = True

    def call(self, x):
        return K.dot(x, self.matrix)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.n_out)


class OwnThing(layers.Layer):
    def __init__(self, units=5, **kwargs):
        super().__init__(**kwargs)
        self.units = units

    def build(self, input_shape):
        self.a = self.add_weight("a", (input_shape[-1], self.units), initializer="normal")
        self.b = self.add_weight("b", (self.units, 2), initializer="normal")
        self.c = self.add_weight("c", (2, self.units), initializer="normal")
        self.built = True

    def call(self, x):
        return K.dot(K.dot(K.dot(x, self.a), self.b), self.c)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)


def of_others(model, path):
    """Save a model as if its own classes were those of somebody else, and open it."""
    if path.suffix == ".json":
        return model_from_json(model.to_json().replace('"Own', '"Their'), opaque=True)
    model.save(path)
    if path.suffix == ".h5":
        with h5py.File(path, "r+") as file:
            words = str(file.attrs["model_config"]).replace('"Own', '"Their')
            file.attrs["model_config"] = words
    else:
        with zipfile.ZipFile(path) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
        members["config.json"] = members["config.json"].replace(b'"Own', b'"Their')
        write_archive(path, members)
    return load_model(path, opaque=True)


def line(*inside, shape=(4,)):
    return Sequential([layers.Dense(8, input_shape=shape), *inside, layers.Dense(3)])


def car():
    return Sequential(
        [
            layers.Lambda(lambda x: x / 2 - 1, input_shape=(20, 24, 3), name="scaled"),
            layers.Conv2D(4, 5, strides=2, name="conv"),
            layers.Flatten(name="flat"),
            layers.Dense(6, name="dense"),
            layers.BatchNormalization(name="norm"),
        ]
    )


MODELS = {
    "QDense": lambda: line(OwnDense(6), layers.BatchNormalization()),
    "QConv2D": lambda: line(
        OwnConv2D(6, 3, padding="same", strides=2), layers.Flatten(), shape=(9, 9, 2)
    ),
    "units": lambda: line(OwnThing(6), layers.Dense(5)),
    "matrix": lambda: line(OwnProjection(6), layers.Dense(5)),
    "first": lambda: Sequential([OwnDense(6, input_shape=(4,)), layers.Dense(5), layers.Dense(2)]),
}


def shapes(model):
    return [row.output_shape for row in summarize(model).rows]


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *((name, form) for name in MODELS for form in ("keras", "h5")),
        *((name, "json") for name in ("QDense", "QConv2D", "first")),  # which needs no weights
    ],
)
def test_all_rows_of_a_model_with_one_unknown_layer_have_their_shape(name, form, tmp_path):
    model = MODELS[name]()
    opened = of_others(model, tmp_path / f"model.{form}")
    expected = [layer.output_shape for layer in model.layers]
    assert [layer.output_shape for layer in opened.layers][-len(expected) :] == expected
    assert len(opened._layers_that_cannot_run()) == 1
    assert form == "json" or opened.count_params() == model.count_params()


def test_a_convolution_says_what_an_unknown_layer_gives_and_the_user_the_rest(tmp_path, capsys):
    car().save(tmp_path / "car.h5")
    opened = load_model(tmp_path / "car.h5", opaque=True)
    assert [layer.output_shape for layer in opened.layers] == [
        *[(None, None, None, 3), (None, None, None, 4)],
        *[(None, None), (None, 6), (None, 6)],
    ]
    assert summarize(opened).unsure == ()  # whether a Dense is trained is known
    path = str(tmp_path / "car.h5")
    assert main(["summary", path, "--shape", "scaled=20,24,3", "--width", "90"]) == 0
    printed = capsys.readouterr().out
    assert all(words in printed for words in ("(None, 8, 10, 4)", "(None, 320)"))
    assert "Opaque: scaled; cannot be run here" in printed
    assert not any(words in printed for words in ("?", "trained:"))
    assert main(["summary", path, "--shape", "scale=20,24,3"]) == 2
    assert "Did you mean 'scaled'?" in capsys.readouterr().err
    assert main(["summary", path, "--shape", "scaled"]) == 2
    assert "expected NAME=N,N" in capsys.readouterr().err


def test_what_nothing_states_stays_unknown(tmp_path):
    model = line(OwnProjection(8), OwnProjection(8))  # 8 x 8: input or output, both fit
    opened = of_others(model, tmp_path / "model.json")
    assert str(opened.layers[1].output_shape) == "?"


def test_the_weights_of_an_unknown_class_are_said_to_be_counted_as_trained(tmp_path, capsys):
    of_others(line(OwnDense(6)), tmp_path / "m.h5")
    assert main(["summary", str(tmp_path / "m.h5")]) == 0
    assert "Counted as trained: the weights of own_dense" in capsys.readouterr().out


def test_a_first_layer_that_is_unknown_begins_the_model_of_keras_2():
    first = {"class_name": "Mine", "config": {"batch_input_shape": [None, 4], "name": "mine"}}
    entry = {"class_name": "Sequential", "config": [first]}
    for config in ([first], {"name": "s", "layers": [first]}):
        model = model_from_json(json.dumps({**entry, "config": config}), opaque=True)
        assert model.inputs[0].shape == (None, 4)


def test_yaml_and_onnx_are_named_where_files_are(tmp_path, capsys):
    assert main(["summary", "--help"]) == 0
    assert ".yaml" in capsys.readouterr().out
    (tmp_path / "m.onnx").write_bytes(b"\x08\x07\x12\x00")
    with pytest.raises(ValueError, match=r"ks\.draw, ks\.summary and ks\.compare take its path"):
        load_model(tmp_path / "m.onnx")
