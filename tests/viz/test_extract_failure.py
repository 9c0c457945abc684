import re
import sys

import numpy as np
import pytest
from effort import growth

from kerascope import backend as K
from kerascope.engine.base_layer import Layer
from kerascope.engine.model import Model
from kerascope.engine.sequential import Sequential
from kerascope.errors import ArgumentError
from kerascope.layers import LSTM, Add, Concatenate, Conv2D, Dense, Input
from kerascope.viz.extract.failure import failure_graph


def failure_of(build, *args):
    """Return the error that `build` raises, and its picture."""
    with pytest.raises(Exception) as raised:  # noqa: PT011
        build(*args)
    return raised.value, failure_graph(raised.value)


def failed_box(graph):
    boxes = [node for node in graph.nodes if node.attrs.get("state") == "failed"]
    assert len(boxes) == 1
    return boxes[0]


def lines_of(box):
    """Return the details without the line of this file that made the layer."""
    return [x for x in str(box.attrs.get("detail", "")).split("\n") if not x.startswith("made at")]


def arrows_of(graph):
    return [(edge.source, edge.target) for edge in graph.edges]


# --- a layer's call -------------------------------------------------------------------------------


def test_a_wrong_number_of_axes():
    x = Input((4,), name="x")
    h = Dense(3, name="h")(x)
    error, graph = failure_of(LSTM(2, name="reader"), h)
    box = failed_box(graph)
    expected = "expected an input with 3 axes (batch, time, features)"
    assert box.attrs["note"] == f"{expected}, got 2 (None, 3)"
    assert lines_of(box) == [expected, "got 2 (None, 3)"]
    made_at = str(box.attrs["detail"]).split("\n")[-1]
    assert re.fullmatch(r"made at test_extract_failure\.py, line \d+", made_at)
    assert arrows_of(graph) == [("x", "h"), ("h", "reader")]
    assert [edge.attrs.get("state", "") for edge in graph.edges] == ["", "failed"]
    assert [(node.id, node.depth) for node in graph.nodes] == [("x", 2), ("h", 1), ("reader", 0)]
    assert graph.attrs["message"] == f"ShapeError: {error}"
    assert graph.attrs["caption"].endswith(". 1 call before it")


@pytest.mark.parametrize(
    ("layer", "shapes", "note", "lines"),
    [
        (
            Dense(3),
            [()],
            "expected an input with at least 2 axes, got 1 (None,)",
            ["expected an input with at least 2 axes", "got 1 (None,)"],
        ),
        (
            Add(),
            [(4,), (5,)],
            "shapes (4,) and (5,) do not fit at axis -1: expected equal sizes or 1, got 4 and 5",
            ["expected equal sizes or 1", "got 4 and 5: (None, 4); (None, 5)"],
        ),
        (
            Concatenate(axis=1),
            [(4, 5), (4, 6)],
            "shapes (None, 4, 5), (None, 4, 6) differ outside axis 1",
            ["got (None, 4, 5); (None, 4, 6)"],
        ),
        (
            Conv2D(3, (5, 5)),
            [(3, 3, 1)],
            "a kernel of size (5, 5) is larger than the input (None, 3, 3, 1) (channels_last), "
            "whose sizes are (3, 3)",
            ["got (None, 3, 3, 1)"],
        ),
    ],
)
def test_shapes_that_do_not_fit(layer, shapes, note, lines):
    inputs = [Input(shape) for shape in shapes]
    _, graph = failure_of(layer, inputs[0] if len(inputs) == 1 else inputs)
    box = failed_box(graph)
    assert box.attrs["note"] == note
    assert lines_of(box) == lines
    assert len(graph.edges) == len(shapes)


def test_a_shared_layer_on_a_second_shape():
    x = Input((4,), name="x")
    shared = Dense(2, name="shared")
    _, graph = failure_of(shared, shared(x))
    assert [node.id for node in graph.nodes] == ["x", "shared@0", "shared@1"]
    assert failed_box(graph).id == "shared@1"
    assert graph.node("shared@1").attrs["shared_with"] == "shared@0"
    assert graph.attrs["parameters"] == 10


def test_one_tensor_twice_has_two_arrows():
    class Picky(Layer):
        def call(self, inputs):
            raise ValueError("no")

    x = Input((4,), name="x")
    _, graph = failure_of(Picky(name="picky"), [x, x])
    assert arrows_of(graph) == [("x", "picky")] * 2
    assert [edge.attrs["operand"] for edge in graph.edges] == [0, 1]


def test_a_layer_of_the_users_own_that_raises_anything():
    class Mine(Layer):
        def call(self, inputs):
            return inputs["missing"]

    _, graph = failure_of(Mine(name="mine"), Input((4,), name="x"))
    assert failed_box(graph).id == "mine"
    assert failed_box(graph).attrs["class_name"] == "Mine"

    class Slow(Layer):
        def call(self, inputs):
            raise TimeoutError

    _, graph = failure_of(Slow(name="slow"), Input((4,), name="x"))
    assert failed_box(graph).attrs["note"] == "TimeoutError"


def test_a_layer_inside_a_layer_is_marked_in_a_frame_of_the_call_around():
    class Block(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.first = Dense(3, name="first")
            self.second = LSTM(2, name="second")

        def call(self, inputs):
            return self.second(self.first(inputs))

    h = Dense(5, name="h")(Input((4,), name="x"))
    block = Block(name="block")
    _, graph = failure_of(block, h)
    assert [(n.id, n.group) for n in graph.nodes] == [
        ("x", ""),
        ("h", ""),
        ("block/first", "block"),
        ("block/second", "block"),
    ]
    assert failed_box(graph).id == "block/second"
    assert [(g.id, g.attrs["state"]) for g in graph.groups] == [("block", "failed")]
    assert arrows_of(graph)[1:] == [("h", "block/first"), ("block/first", "block/second")]
    assert block.first.inbound_nodes == []  # the engine has taken everything back


def test_a_layer_that_works_on_bare_tensors_names_the_layer_inside():
    class Mixed(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = LSTM(2, name="inner")

        def call(self, inputs):
            return self.inner(inputs * 2)

    _, graph = failure_of(Mixed(name="mixed"), Input((4,), name="x"))
    box = failed_box(graph)
    assert box.id == "mixed"
    assert lines_of(box)[0] == "inside it: LSTM 'inner'"


def test_a_nested_model_says_which_shapes_it_wants():
    x = Input((16,), name="image")
    encode = Model(x, Dense(2, name="code")(x), name="encoder")
    _, graph = failure_of(encode, Input((10,), name="small"))
    box = failed_box(graph)
    assert (box.id, box.kind) == ("encoder", "model")
    assert lines_of(box) == ["expected (None, 16)", "got (None, 10)"]


def test_a_sequential_with_a_layer_that_does_not_fit():
    model = Sequential([Dense(4, input_shape=(3,), name="first")])
    _, graph = failure_of(model.add, LSTM(3, name="reader"))
    assert [node.id for node in graph.nodes] == ["first_input", "first", "reader"]
    later = Sequential([Dense(4, name="first"), LSTM(3, name="reader")])
    _, graph = failure_of(later.build, (None, 3))
    assert [node.id for node in graph.nodes] == ["first_input", "first", "reader"]
    assert failed_box(graph).id == "reader"


def test_a_bare_tensor_gets_a_box_and_an_arrow_from_what_it_was_computed_from():
    x = Input((4,), name="x")
    _, graph = failure_of(Add(name="sum"), [Dense(5, name="h")(x), K.relu(x)])
    assert {(n.id, n.kind) for n in graph.nodes} >= {("relu", "tensor"), ("sum", "merge")}
    assert ("x", "relu") in arrows_of(graph)
    assert ("relu", "sum") in arrows_of(graph)


def test_an_error_raised_from_such_an_error_will_do():
    def build():
        try:
            LSTM(2, name="reader")(Input((4,), name="x"))
        except ValueError as error:
            raise RuntimeError("could not build") from error

    _, graph = failure_of(build)
    assert failed_box(graph).id == "reader"


# --- a model --------------------------------------------------------------------------------------


def states_of(graph):
    return {n.id: (n.attrs.get("state", ""), n.attrs.get("note", "")) for n in graph.nodes}


def test_a_disconnected_graph_shows_what_is_missing_and_what_was_given():
    a, b = Input((3,), name="a"), Input((3,), name="b")
    total = Add(name="sum")([Dense(2, name="left")(a), Dense(2, name="right")(b)])
    _, graph = failure_of(Model, a, Dense(1, name="score")(total))
    assert states_of(graph) == {
        "a": ("highlight", "given as input"),
        "b": ("failed", "not among the inputs"),
        "left": ("", ""),
        "right": ("pending", "needs b"),
        "sum": ("pending", "needs b"),
        "score": ("pending", "needs b"),
    }
    assert graph.node("score").attrs["outputs"] == "output"
    assert len(graph.edges) == 5


def test_an_input_that_leads_nowhere_is_drawn_too():
    x, other = Input((3,), name="x"), Input((9,), name="other")
    _, graph = failure_of(Model, other, Dense(2, name="h")(x))
    assert states_of(graph)["other"] == ("highlight", "given as input")
    assert states_of(graph)["x"][0] == "failed"


def test_an_output_that_no_layer_made():
    x = Input((3,), name="x")
    _, graph = failure_of(Model, x, K.relu(x))
    assert states_of(graph)["relu"][0] == "failed"
    assert arrows_of(graph) == [("x", "relu")]


def test_an_input_that_is_no_tensor():
    x = Input((3,), name="x")
    _, graph = failure_of(Model, np.ones((2, 3)), Dense(2, name="h")(x))
    assert states_of(graph)["input 0"] == ("failed", "not a tensor but ndarray")
    assert graph.node("h").attrs["outputs"] == "output"


def test_two_layers_of_one_name_and_an_input_given_twice():
    x = Input((3,), name="x")
    same = Dense(2, name="same")(Dense(2, name="same")(x))
    _, graph = failure_of(Model, x, same)
    assert states_of(graph)["same"] == states_of(graph)["same~2"]
    assert states_of(graph)["same"] == ("failed", "2 layers have this name")
    _, graph = failure_of(Model, [x, x], same)
    assert states_of(graph)["x"] == ("failed", "given 2 times")


# --- what cannot be drawn, and what it costs ------------------------------------------------------


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), "text", None])
def test_an_error_of_something_else_is_refused(error):
    with pytest.raises(ArgumentError, match="does not concern a graph of layers"):
        failure_graph(error)


def test_the_picture_is_the_same_every_time():
    error, graph = failure_of(LSTM(2, name="reader"), Input((4,), name="x"))
    assert failure_graph(error) == graph


def failure_after(count):
    x = Input((2,), name="x")
    passing = Layer(name="passing")
    for _ in range(count):
        x = passing(x)
    with pytest.raises(ValueError, match="axes") as raised:
        LSTM(2, name="reader")(x)
    return raised.value


@pytest.mark.parametrize("count", [1200, pytest.param(3000, marks=pytest.mark.slow)])
def test_a_long_chain_is_drawn_without_recursion(count):
    assert count > sys.getrecursionlimit()
    graph = failure_graph(failure_after(count))
    assert len(graph.nodes) == count + 2
    assert graph.nodes[0].depth == count + 1


def test_the_work_of_drawing_a_failure_is_not_the_square_of_the_calls():
    failures = {count: failure_after(count) for count in (50, 200)}
    assert growth(lambda count: failure_graph(failures[count]), 50, times=4) < 7  # a square: 16
