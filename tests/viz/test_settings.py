"""What boxes say of how layers are set, for every class of layer."""

import ast
import html
import json
import re
import sys
from importlib import util
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from layer_contract import inputs_for, unpacked

import kerascope as ks
from kerascope import layers
from kerascope.errors import ArgumentError, MissingToolError
from kerascope.layers import Conv1D, Conv2D, Dense, Input, Lambda, Layer, MaxPooling2D
from kerascope.models import Model
from kerascope.viz.extract.settings import settings_of
from tests.viz.test_to_html import data_of

NEVER_ALONE = ("Cell", "StackedRNNCells", "Wrapper")
CALLS = "layers wrapped in it, functions and vocabularies are no literals"


def all_cases():
    cases = []
    for path in sorted((Path(__file__).parents[1] / "layers").glob("cases_*.py")):
        spec = util.spec_from_file_location(f"settings_{path.stem}", path)
        module = util.module_from_spec(spec)
        spec.loader.exec_module(module)
        cases += module.CASES
    return cases


CASES = all_cases()
each_case = pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])


def literals_in(config):
    """Return the arguments in a text, and whether all of them are plain values."""
    keywords = ast.parse(f"f({config})", mode="eval").body.keywords
    found, is_all = {}, True
    for word in keywords:
        try:
            found[word.arg] = ast.literal_eval(word.value)
        except ValueError:
            is_all = False
    return found, is_all


@each_case
def test_a_layer_made_of_what_is_told_is_the_same(case):
    layer = case.make()
    told = settings_of(layer)
    assert all(text.isprintable() and text for text in told.values())
    config = told.get("config", "")
    given, is_all = literals_in(config)
    is_ours = type(layer).__module__.split(".")[0] == "kerascope"
    if config.endswith("...") or isinstance(layer, (layers.Operation, Lambda)) or not is_ours:
        return
    if is_all:  # layers wrapped in it and objects with arguments of their own are no literals
        again = type(layer)(**given, name=layer.name, dtype=layer.dtype)
        before, after = layer.get_config(), again.get_config()
        differing = {key for key in before if before[key] != after.get(key)}
        # A recurrent layer of images takes `unroll` as Keras does, and has no argument for it.
        assert differing <= {"batch_input_shape", "trainable", "unroll"}


def test_most_layers_are_told_in_literals():
    told = [settings_of(case.make()).get("config", "") for case in CASES]
    assert sum(bool(config) and literals_in(config)[1] for config in told) > len(CASES) / 2


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if not case.name.endswith(NEVER_ALONE)],
    ids=lambda case: case.name,
)
def test_every_form_of_the_graph_has_the_settings(case):
    layer = case.make()
    arrays = [a.astype("float32") if a.dtype.kind == "f" else a for a in case.arrays]
    inputs = inputs_for(arrays)
    drawing = ks.draw(Model(inputs, layer(unpacked(inputs))), most=None, expand_nested=False)
    told = settings_of(layer)  # some arguments are completed when it is built
    boxes = [box for box in drawing.graph.nodes if box.label == layer.name]
    assert boxes
    assert all(told.items() <= box.attrs.items() for box in boxes)
    nodes = drawing.to_networkx().nodes
    read = nx.node_link_graph(json.loads(drawing.json), edges="edges").nodes
    graphml = drawing.graphml.decode()
    for box in boxes:
        assert told.items() <= nodes[box.id].items()
        assert told.items() <= read[box.id].items()
    parsed = nx.parse_graphml(graphml).nodes
    assert all(told.items() <= parsed[box.id].items() for box in boxes)
    page = data_of(drawing.html)
    names = page["strings"]
    pairs = {
        (names[key], names[value])
        for one in page["attributes"]
        for key, value in zip(one[::2], one[1::2], strict=True)
        if isinstance(value, int)
    }
    assert told.items() <= pairs
    if "settings" in told:
        first = re.match(r"[\w ]+", told["settings"])[0]
        for text in (drawing.text(200), drawing.source, drawing.mermaid):
            assert first in html.unescape(text)


def test_settings_that_follow_from_others_are_not_told():
    assert settings_of(MaxPooling2D(3)) == {"settings": "3x3", "config": "pool_size=(3, 3)"}
    assert settings_of(MaxPooling2D(3, strides=2))["settings"] == "3x3, stride 2"
    assert "data_format" not in settings_of(Conv2D(2, 3))["config"]
    assert "channels_first" in settings_of(Conv2D(2, 3, data_format="channels_first"))["config"]
    assert settings_of(layers.MultiHeadAttention(2, 4))["settings"] == "2 heads, key 4"


def test_words_are_those_of_the_field():
    assert settings_of(Conv1D(2, 5, dilation_rate=2))["settings"] == "kernel 5, dilation 2"
    assert settings_of(Conv2D(2, (3, 5), strides=(2, 1)))["settings"] == "3x5, stride 2x1"
    assert settings_of(layers.ZeroPadding2D(((1, 2), (0, 1))))["settings"] == "pad 1-2, 0-1"
    assert settings_of(layers.LSTM(2, return_sequences=True))["settings"] == "return sequences"


def test_a_class_of_ones_own_is_told_by_its_arguments():
    class Scale(Layer):
        def __init__(self, factor, offset=0.0, table=None, **kwargs):
            super().__init__(**kwargs)
            self.factor, self.offset, self.table = factor, offset, table

        def call(self, inputs):
            return inputs * self.factor + self.offset

    told = settings_of(Scale(2.0, table=np.zeros((3, 4))))
    assert told == {"settings": "factor 2", "config": "factor=2.0, table=array of shape (3, 4)"}
    assert settings_of(Scale("\n" * 99))["config"].isprintable()
    assert len(settings_of(Scale("word " * 99))["settings"]) < 70


def test_settings_can_be_left_out_and_input_shapes_shown():
    x = Input(shape=(8, 3), name="x")
    model = Model(x, Conv1D(2, 5, name="conv")(x))
    assert "kernel 5" in ks.draw(model).text()
    assert "kernel 5" not in ks.draw(model, show_settings=False).text()
    assert "(None, 8, 3) \u2192 (None, 4, 2)" in ks.draw(model, show_shapes="both").text()
    with pytest.raises(ArgumentError, match="show_shapes"):
        ks.draw(model, show_shapes="all")


def test_a_drawing_goes_on_as_a_graph_of_the_package_graphviz():
    x = Input(shape=(3,), name="x")
    drawing = ks.draw(Model(x, Dense(2, name="scores")(x), name="two words"))
    graph = drawing.to_graphviz()
    assert type(graph).__module__ == "graphviz.graphs"
    assert "".join(graph.source.split()) == "".join(drawing.source.split())
    graph.attr(rankdir="LR")
    graph.node("scores", color="red")
    assert "rankdir=LR" in graph.source
    assert "scores [color=red]" in graph.source


# pydot asks its parser for names of yesterday.
@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")
def test_a_drawing_goes_on_as_a_graph_of_pydot_where_that_is():
    pytest.importorskip("pydot")
    x = Input(shape=(3,), name="x")
    graph = ks.draw(Model(x, Dense(2, name="scores")(x), name="two words")).to_pydot()
    (edge,) = graph.get_edges()
    assert (edge.get_source(), edge.get_destination()) == ('"x"', '"scores"')
    graph.get_node('"scores"')[0].set("color", "red")
    assert "color=red" in graph.to_string()


def test_without_pydot_it_is_said_what_else_there_is(monkeypatch):
    monkeypatch.setitem(sys.modules, "pydot", None)
    x = Input(shape=(3,), name="x")
    with pytest.raises(MissingToolError, match=r"use drawing.to_graphviz"):
        ks.draw(Model(x, Dense(2)(x))).to_pydot()
