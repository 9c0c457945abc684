"""Many equal tensors between two boxes are one thick arrow; a few stay what they are."""

import re

import pytest

import kerascope as ks
from kerascope.layers import Add, Concatenate, Dense, Input, Lambda
from kerascope.models import Model
from kerascope.viz.boxes import MOST_PORTS


def parts_model(count):
    x = Input(shape=(8,), name="x")
    parts = Lambda(lambda t: [t * i for i in range(count)], name="parts")(x)
    return Model(x, Add(name="sum")(parts), name="parallel")


def branches_model(count):
    x = Input(shape=(8,), name="x")
    branches = [Dense(3, name=f"b{i}")(x) for i in range(count)]
    return Model(x, Concatenate(name="cat")(branches), name="branches")


def arrows_into(drawing, target):
    return [edge for edge in drawing.graph.edges if edge.target == target]


@pytest.mark.parametrize(
    ("model", "target", "shape"),
    [(parts_model(200), "sum", "(None, 8)"), (branches_model(200), "cat", "(None, 3)")],
)
def test_two_hundred_equal_tensors_are_one_arrow_in_every_form(model, target, shape):
    drawing = ks.draw(model)
    (arrow,) = arrows_into(drawing, target)
    assert arrow.label == f"200 x {shape}"
    assert arrow.attrs["connections"] == 200
    assert "operand" not in arrow.attrs
    words = f"200 x {shape}"
    for text in (drawing.text(), drawing.svg, drawing.source):
        assert words in text
    assert re.search(r'==>\|"200 x', drawing.mermaid)
    assert drawing.svg.count('class="edge bundle"') == 1
    assert max(len(line) for line in drawing.text().splitlines()) <= 80
    width = float(re.search(r'<svg[^>]* width="([\d.]+)"', drawing.svg)[1])
    assert width < 400


@pytest.mark.parametrize("count", [2, MOST_PORTS, MOST_PORTS + 1])
def test_a_few_stay_apart_with_their_operands(count):
    arrows = arrows_into(ks.draw(parts_model(count)), "sum")
    if count > MOST_PORTS:
        assert len(arrows) == 1
    else:
        assert [arrow.attrs["operand"] for arrow in arrows] == list(range(count))


def test_tensors_that_differ_are_not_bundled_with_the_others():
    x = Input(shape=(8,), name="x")
    sizes = [4] * 20 + [5] * 15 + [6]
    parts = Lambda(lambda t: [t[:, :n] for n in sizes], name="parts")(x)
    drawing = ks.draw(Model(x, Concatenate(name="cat")(parts)))
    labels = sorted(arrow.label for arrow in arrows_into(drawing, "cat"))
    assert labels == ["", "15 x (None, 5)", "20 x (None, 4)"]
    counted = sum(arrow.attrs.get("connections", 1) for arrow in arrows_into(drawing, "cat"))
    assert counted == 36


def test_the_graph_itself_has_every_tensor():
    graph = ks.to_networkx(parts_model(200))
    assert graph.number_of_edges("parts", "sum") == 200
