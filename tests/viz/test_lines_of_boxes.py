"""`draw(show_lines=True)`: the tooltip of a box says which line of the user's made it."""

import inspect
import re
import sys

import pytest

import kerascope as ks
from kerascope.layers import Dense, Input, Lambda
from kerascope.models import Model


def line_with(words):
    lines = inspect.getsource(sys.modules[__name__]).split("\n")
    (found,) = [number for number, line in enumerate(lines, 1) if line.rstrip().endswith(words)]
    return f"test_lines_of_boxes.py:{found}"


@pytest.fixture
def model():
    x = Input((3,), name="x")
    y = Dense(2, name="first")(x)  # first here
    y = Lambda(lambda t: t * 2.0, name="twice")(y)  # twice here
    return Model(x, y, name="m")


def titles(svg):
    return re.findall(r"<title>([^<]*)</title>", svg)


@pytest.mark.parametrize("level", ["node", "layer"])
def test_boxes_of_layers_say_where_the_layers_were_made(model, level):
    told = titles(ks.draw(model, level=level, show_lines=True).svg)
    assert any(x.startswith("first: ") and x.endswith(line_with("# first here")) for x in told)
    assert any(x.startswith("twice: ") and x.endswith(line_with("# twice here")) for x in told)


def test_boxes_of_ops_say_which_line_made_the_op(model):
    told = titles(ks.draw(model, level="op", show_lines=True, most=None).svg)
    multiply = next(x for x in told if x.startswith("twice") and "multiply: Multiply" in x)
    assert multiply.endswith(f", made at {line_with('# twice here')}")
    assert sum(x.endswith(line_with("# first here")) for x in told) >= 2


def test_a_picture_has_no_lines_unless_they_are_asked_for(model):
    drawing = ks.draw(model)
    assert "test_lines_of_boxes" not in drawing.svg
    assert "made_at" not in drawing.graph.nodes[0].attrs


def test_graphviz_gets_them_as_tooltips(model):
    from kerascope.viz.exports.to_dot import to_dot

    drawing = ks.draw(model, show_lines=True)
    assert line_with("# first here") in to_dot(drawing.graph, drawing.options)
