"""`kerascope draw MODEL` and `kerascope summary MODEL`."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from importlib import import_module
from typing import Any

from kerascope.cli.models import find_model
from kerascope.cli.parser import UsageError
from kerascope.errors import KerascopeError

DRAWING = "kerascope.viz.drawing"
STANDARD_OUTPUT = "-"


def run_draw(options: Namespace) -> int:
    """Draw the model of `kerascope draw` into each of its files."""
    for output in options.output or ["model.svg"]:
        _check_output(output)
    model = find_model(options.model)
    drawing = import_module(DRAWING).draw(
        model,
        level=options.level,
        show_shapes=options.show_shapes,
        expand_nested=options.expand_nested,
        depth_ranks=options.depth_ranks,
        rankdir=options.rankdir,
    )
    outputs = options.output or [f"{_file_name(model.name)}.svg"]
    says = sys.stderr if STANDARD_OUTPUT in outputs else sys.stdout
    for output in outputs:
        if output == STANDARD_OUTPUT:
            _write(drawing, options.format)
        else:
            print(f"wrote {drawing.save(output)}", file=says)
    return 0


def run_summary(options: Namespace) -> int:
    """Print the table of `kerascope summary`."""
    model: Any = find_model(options.model)
    model.summary()
    return 0


def _check_output(output: str) -> None:
    """Refuse a file that could not be written, before the script runs for an hour.

    Raises
    ------
    UsageError
        The suffix is not known, or there is no such folder, or it may not be written to.
    """
    if output == STANDARD_OUTPUT:
        return
    try:
        import_module(DRAWING).check_target(output)
    except KerascopeError as error:
        raise UsageError(str(error)) from None


def _write(drawing: Any, format: str) -> None:
    source = drawing.source if format == "dot" else drawing.render(format).decode("utf-8")
    sys.stdout.write(source.rstrip("\n") + "\n")


def _file_name(name: str) -> str:
    """Return a model's name as that of a file.

    Examples
    --------
    >>> _file_name("model_1"), _file_name("a/b: c")
    ('model_1', 'a_b_c')
    """
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "model"
