"""Options of `draw` combine: any choice draws a whole picture, or says which two do not fit."""

from xml.etree import ElementTree

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import kerascope as ks
from kerascope.errors import ArgumentError, DataError

SVG = "{http://www.w3.org/2000/svg}"


def compiled(units):
    x = ks.Input((2,), name="x")
    inner = ks.Sequential([ks.layers.Dense(2, input_shape=(2,), name="in")], name="inner")
    model = ks.Model(x, ks.layers.Dense(units, name="out")(inner(x)), name="small")
    model.compile("sgd", "mse")
    return model


MODEL, EARLIER = compiled(3), compiled(2)
BATCH = np.array([[1.0, 2.0], [-3.0, 0.5]])
CHOICES = {
    "level": (None, "layer", "node", "op", "gradient", "training"),
    "expand": (None, "all", "inner", 1),
    "expand_nested": (False, True),
    "most": (None, 3, 60),
    "highlight": (None, "out"),
    "values": (None, BATCH),
    "at": (None, 1),
    "gradients": (None, (BATCH, np.zeros((2, 3)))),
    "diff": (None, EARLIER),
    "theme": ("auto", "dark", "print"),
    "rankdir": (None, "TB", "LR"),
    "wrap": (False, 2),
    "style": ("graph", "figure"),
    "show_shapes": (True, False, "both"),
}
options = st.fixed_dictionaries(
    {}, optional={name: st.sampled_from(choices) for name, choices in CHOICES.items()}
)


@settings(max_examples=30, deadline=None)
@given(options)
def test_options_combine(chosen):
    try:
        drawing = ks.draw(MODEL, **chosen)
    except (ArgumentError, DataError) as error:
        assert str(error).startswith("draw: ")  # noqa: PT017
        return
    root = ElementTree.fromstring(drawing.svg)
    if chosen.get("style") != "figure":
        boxes = [one for one in root.iter(f"{SVG}g") if one.get("role") == "img"]
        assert len(boxes) == len(drawing.graph.nodes)
    if not drawing.sheet.has_rasters:  # TikZ cannot draw images
        assert drawing.tikz.count("{") == drawing.tikz.count("}")
    states = {str(node.attrs.get("state", "")) for node in drawing.whole.nodes}
    if chosen.get("highlight"):
        assert "highlight" in states
