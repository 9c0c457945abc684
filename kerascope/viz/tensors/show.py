"""`ks.show(what, x)`: the weights or outputs of a layer as a picture of numbers."""

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
from kerascope.viz.tensors.sources import arrays_to_show, one_sample

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
        What to show; a path is the path of a model file. For a layer without `x`, its weights are
        shown (for a convolution, its filters). For a variable, a constant or an array, its numbers
        are shown.
    x : array_like, or a list of them, optional
        The input. For a model: the outputs of `layer` while the model computes x. For a layer: its
        outputs for x. For a symbolic tensor: its value for the inputs x. Attention layers show
        their attention weights, and recurrent layers their states over time.
    layer : str, optional
        Name of a layer of the model, or of a weight: "dense_1/kernel".
    sample : int
        The sample of x to show. Outputs of shape (samples, features) show all samples.
    call : int
        The index of the call, if the model calls the layer more than once.
    most : int
        Maximum number of panels. If there are more, evenly spaced panels are drawn.
    scale : {"shared", "own"}
        "shared" uses one scale for all panels of an array, "own" one scale for each panel.
    limits : (float, float), optional
        The smallest and the largest number of the scale.
    title : str, optional
        The title of the picture, instead of the default.
    theme : {"auto", "light", "dark"}
        "auto" follows the reader's system.
    dpi : number
        Pixels per inch of a PNG.

    Returns
    -------
    Picture
        Displays itself in a notebook and, if printed, in a terminal. `.save("maps.svg")` writes it
        as .svg, .png, .pdf, .html or .txt.

    Raises
    ------
    ArgumentError
        The layer, sample or call does not exist, or a tensor or model is given without x.
    DataError, ShapeError
        The arrays x do not fit the inputs of the layer or model.
    NotBuiltError
        The layer was never called, so it has no weights.

    Notes
    -----
    The learning phase is test, as in `predict`. The layer or model does not change.

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
            f"show: unknown scale {scale!r}. {hint}Use one of: {', '.join(SCALES)}."
        )
    if isinstance(most, bool) or not isinstance(most, int) or most < 1:
        raise ArgumentError(f"show: expected most to be 1 or more panels, got {most!r}.")
    if isinstance(sample, bool) or not isinstance(sample, int):
        raise ArgumentError(f"show: expected sample to be an integer, got {sample!r}.")
    limits = None if limits is None else check_limits(limits)
    shown = arrays_to_show(opened(what), x, layer, call)
    parts = tuple(panels_of(one_sample(part, sample), most, scale, limits) for part in shown.parts)
    name = shown.title if title is None else title
    if len(parts) == 1 and parts[0].title == "output":
        parts = (replace(parts[0], title=""),)
    return Picture(HeatMaps(name, parts), theme, dpi)
