"""`kerascope show MODEL LAYER`: the weights or the outputs of a layer, as pictures of numbers."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from kerascope.cli.models import find_model
from kerascope.cli.pictures import STANDARD_OUTPUT, arrays_in, file_name, reading_of, write_all
from kerascope.cli.usage import UsageError, given
from kerascope.viz.drawing import check_target
from kerascope.viz.formats import OF_TENSORS
from kerascope.viz.tensors.show import show

ARGUMENTS = ("layer", "sample", "call", "most", "scale", "limits", "theme", "dpi")  # of `show`


def run_show(options: Namespace) -> int:
    """Draw the layer or the arrays that `kerascope show` names; write each output file."""
    for output in options.output:
        if output != STANDARD_OUTPUT:
            with given():  # before the model is read
                check_target(output, OF_TENSORS)
    if options.layer is None and options.values is None:
        raise UsageError(
            "show: expected the name of a layer, --values FILE, or both. To draw the graph of the "
            "model, run kerascope draw."
        )
    x = None if options.values is None else arrays_in(options.values)
    model: Any = find_model(options.model, reading_of(options))
    picture = show(model, x, **{name: getattr(options, name) for name in ARGUMENTS})
    write_all(picture, options, file_name(options.layer or model.name))
    return 0
