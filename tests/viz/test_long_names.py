"""Long names are cut so that no two boxes of different names look the same."""

from hypothesis import given
from hypothesis import strategies as st

import kerascope as ks
from kerascope.layers import Add, Dense, Input
from kerascope.models import Model
from kerascope.viz.boxes import LONGEST_NAME, PictureOptions, box_text, disambiguated
from kerascope.viz.graph import Graph, GraphNode

long_names = st.lists(
    st.tuples(
        st.text("ab_", max_size=30), st.sampled_from(["", "x" * 25]), st.text("ab", max_size=12)
    ).map(lambda parts: "model_of_a_long_name_" + "_".join(parts)),
    min_size=1,
    max_size=12,
    unique=True,
)


def titles(names):
    boxes = tuple(GraphNode(f"{i}", name, "dense") for i, name in enumerate(names))
    graph = disambiguated(Graph("g", boxes, ()))
    return [box_text(box, PictureOptions()).title for box in graph.nodes]


@given(long_names)
def test_different_names_stay_different(names):
    assert len(set(titles(names))) == len(names)


@given(long_names)
def test_a_name_that_is_cut_begins_as_it_did_and_short_ones_stay(names):
    for name, title in zip(names, titles(names), strict=True):
        assert title[:8] == name[:8]
        if len(name) <= LONGEST_NAME:
            assert title == name


def test_what_differs_in_the_middle_is_seen_in_every_form():
    x = Input(shape=(3,), name="x")
    stem = "encoder_with_a_rather_long_name_{}_projection_of_the_third_block"
    parts = [Dense(2, name=stem.format(part))(x) for part in ("query", "key", "value")]
    drawing = ks.draw(Model(x, Add(name="sum")(parts)))
    for text in (drawing.text(200), drawing.svg, drawing.source, drawing.mermaid, drawing.html):
        assert all(f"_{part}_" in text for part in ("query", "key", "value"))
        assert "encoder_…" in text
    assert max(len(text) for text in titles(["short", stem])) <= LONGEST_NAME
    assert "title" not in ks.draw(Model(x, parts[0])).graph.nodes[1].attrs
