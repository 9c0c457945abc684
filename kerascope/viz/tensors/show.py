"""`ks.show(what, x)`: what a layer holds or gives, as a picture of numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kerascope.errors import ArgumentError
from kerascope.model_files import opened
from kerascope.registry import did_you_mean
from kerascope.viz.tensors.heat_maps import HeatMaps
from kerascope.viz.tensors.panels import panels_of
from kerascope.viz.tensors.picture import Picture
from kerascope.viz.tensors.scales import check_limits
from kerascope.viz.tensors.sources import one_sample, shown_of

SCALES = ("shared", "own")
MOST = 64


def show(
    what: Any,
    x: Any = None,
    *,
    layer: str | None = None,
    sample: int = 0,
    call: int = 0,
    most: int = MOST,
    scale: str = "shared",
    limits: tuple[float, float] | None = None,
    title: str | None = None,
    theme: str = "auto",
    dpi: float = 96,
) -> Picture:
    """Return a picture of numbers: feature maps, filters, attention, states, weights, an array.

    Parameters
    ----------
    what : model, path, Layer, Tensor, or array_like
        A path is that of a file of a model.
        A layer alone: its weights (filters of a convolution). A variable, a constant or an array:
        its numbers.
    x : array_like, or a list of them, optional
        Show what comes out for it: of a model what `layer` gives while the model computes x, of a
        layer what it gives for x itself, of a symbolic tensor its numbers when its inputs are x.
        Of attention layers their weights are shown, of recurrent layers the states over time.
    layer : str, optional
        Name of a layer of the model `what`, or of a weight: "dense_1/kernel".
    sample : int
        Which sample of x; features, (samples, features), are shown of all.
    call : int
        Which call, if the model calls the layer more than once.
    most : int
        How many panels are drawn at most; of more, evenly spaced ones.
    scale : {"shared", "own"}
        One scale for all panels of an array, or one for each.
    limits : (float, float), optional
        The least and the greatest number of the scale.
    title : str, optional
        In the place of what it would be called.
    theme : {"auto", "light", "dark"}
        "auto": as the reader's system wants it.
    dpi : number
        Pixels per inch of a PNG.

    Returns
    -------
    Picture
        Shows itself in a notebook and, printed, in a terminal; `.save("maps.svg")` keeps it as
        .svg, .png, .pdf, .html or .txt.

    Raises
    ------
    ArgumentError
        There is no such layer, sample or call, or a tensor or model has no numbers without x.
    DataError, ShapeError
        x does not fit.
    NotBuiltError
        A layer that was never called has no weights.

    Notes
    -----
    The phase is that of tests, as in `predict`, and nothing in a layer or model changes.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Conv2D, Input
    >>> from kerascope.models import Model
    >>> inputs = Input((8, 8, 1))
    >>> model = Model(inputs, Conv2D(4, 3, name="conv")(inputs))
    >>> maps = show(model, np.ones((1, 8, 8, 1)), layer="conv")
    >>> [panel.title for panel in maps.content.parts[0].panels]
    ['channel 0', 'channel 1', 'channel 2', 'channel 3']
    """
    if scale not in SCALES:
        hint = did_you_mean(str(scale), SCALES)
        raise ArgumentError(
            f"show: scale={scale!r}; expected one of {', '.join(SCALES)}. {hint}".rstrip()
        )
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ArgumentError(f"show: most={most!r}; expected a number of panels, 1 or more.")
    if isinstance(sample, bool) or not isinstance(sample, int):
        raise ArgumentError(f"show: sample={sample!r}; expected the number of a sample.")
    limits = None if limits is None else check_limits(limits)
    shown = shown_of(opened(what), x, layer, call)
    parts = tuple(panels_of(one_sample(part, sample), most, scale, limits) for part in shown.parts)
    name = shown.title if title is None else title
    if len(parts) == 1 and parts[0].title == "output":
        parts = (replace(parts[0], title=""),)
    return Picture(HeatMaps(name, parts), theme, dpi)
