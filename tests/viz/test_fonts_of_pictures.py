"""PNG and PDF: the letters of a font that is wider than Helvetica stay in their boxes."""

import re

import pytest

import kerascope as ks
from kerascope.layers import Dense
from kerascope.viz.exports import graphviz
from kerascope.viz.exports.to_dot import to_dot_with_positions
from kerascope.viz.layout.measures import text_width

FONTS = ["Helvetica,Arial,sans-serif", "DejaVu Sans", "Courier", "Georgia, serif", "No such font"]
NAME = "encoder_block_with_projection_dense"


@pytest.fixture(scope="module")
def model():
    model = ks.Sequential([Dense(3, input_shape=(4,), name=NAME)], name="small")
    model.compile("adam", "mse")
    return model


def width_of(words, font, size):
    """Return how wide Graphviz draws bold words, in points."""
    label = (
        f'<<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="0"><TR><TD>'
        f'<FONT POINT-SIZE="{size}"><B>{words}</B></FONT></TD></TR></TABLE>>'
    )
    source = f'digraph {{ n [shape=plaintext margin=0 fontname="{font}" label={label}] }}'
    told = graphviz._draw(source, "plain", "dot", 60.0).decode()
    (node,) = (line.split() for line in told.splitlines() if line.startswith("node"))
    return 72 * float(node[4])


@pytest.mark.parametrize("font", FONTS)
@pytest.mark.parametrize("level", ["node", "training"])
def test_a_name_is_no_wider_than_its_box(model, font, level):
    drawing = ks.draw(model, level=level, font=font)
    source = to_dot_with_positions(drawing.graph, drawing.options, drawing.layout)
    source = graphviz.with_fitting_font(source, drawing.options.font)
    box = drawing.layout.boxes[NAME]
    size = int(re.search(rf'POINT-SIZE="(\d+)"[^\n]*?<B>{NAME}</B>', source)[1])
    assert width_of(f"\u25a0 {NAME}", font, size) <= box.width
    assert drawing.render("png").startswith(b"\x89PNG")


def test_only_a_wider_font_has_smaller_letters():
    source = 'digraph { a [fontsize="10" label=<<FONT POINT-SIZE="12">a</FONT>>] }'
    for font in ("Helvetica,Arial,sans-serif", "Courier"):
        is_wider = width_of(NAME, font, 100) > 1.05 * text_width(NAME, 100, True)
        assert (graphviz.with_fitting_font(source, font) != source) is is_wider
