"""`kerascope draw MODEL` and `kerascope summary MODEL`."""

from __future__ import annotations

import re
import shutil
import sys
from argparse import Namespace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.cli.models import ScriptFailed, find_model
from kerascope.cli.picture_options import limits_of, options_of_draw
from kerascope.cli.usage import UsageError, given
from kerascope.errors import KerascopeError

DRAWING = "kerascope.viz.drawing"
DRAW = "kerascope.viz.draw"
DIFF = "kerascope.viz.overlays.diff"
STANDARD_OUTPUT = "-"
LEVELS_WITH_LOSS = ("gradient", "training")


def run_draw(options: Namespace) -> int:
    """Draw the model of `kerascope draw` into each of its files."""
    for output in options.output or ["model.svg"]:
        _check_output(output)
    arguments = options_of_draw(options)
    if options.values is not None:
        arguments |= {"values": _arrays(options.values, options.level), "at": options.at}
    elif options.at is not None:
        raise UsageError("--at is a step of a run; expected --values FILE with it.")
    reading: dict[str, Any] = {"with_loss": options.level in LEVELS_WITH_LOSS, **limits_of(options)}
    try:
        model = find_model(options.model, **reading)
    except ScriptFailed as failure:
        return _draw_failure(failure, options)
    if options.diff is not None:
        arguments["diff"] = find_model(options.diff, **reading)
    drawing = import_module(DRAW).draw(model, **arguments)
    _, _, attribute = options.model.rpartition(":") if ".py:" in options.model else ("", "", "")
    _write_all(drawing, options, _file_name(attribute or model.name))
    if options.diff is not None:
        says = sys.stderr if STANDARD_OUTPUT in options.output else sys.stdout
        print("\n".join(import_module(DIFF).diff_lines(drawing.whole)), file=says)
    return 0


def run_summary(options: Namespace) -> int:
    """Print the table of `kerascope summary`."""
    model: Any = find_model(options.model, **limits_of(options))
    model.summary(
        line_length=options.width,
        expand_nested=options.expand_nested,
        show_trainable=options.show_trainable,
        calls=options.calls,
        fold=options.fold,
        flops=options.flops,
        memory=options.memory,
    )
    return 0


def _draw_failure(failure: ScriptFailed, options: Namespace) -> int:
    """Draw how far a model was built whose script failed, if it failed in that."""
    try:
        drawing = import_module(DRAW).draw(failure.error, rankdir=options.rankdir)
    except KerascopeError:
        raise failure from None
    _write_all(drawing, options, "failed", ": how far the model was built")
    return 1


# --- files ----------------------------------------------------------------------------------------


def _write_all(drawing: Any, options: Namespace, name: str, what: str = "") -> None:
    outputs = options.output or [f"{name}.{options.format}"]
    says = sys.stderr if STANDARD_OUTPUT in outputs else sys.stdout
    for output in outputs:
        if output == STANDARD_OUTPUT:
            _write(drawing, options.format, options.width)
        elif options.width and output.endswith(".txt"):
            Path(output).write_text(drawing.text(options.width) + "\n", encoding="utf-8")
            print(f"wrote {output}{what}", file=says)
        else:
            print(f"wrote {drawing.save(output)}{what}", file=says)


def _write(drawing: Any, format: str, width: int | None) -> None:
    """Write to standard output; bytes as they are, text with one line break at its end."""
    if format == "txt":
        columns = width or shutil.get_terminal_size().columns
        encoding = sys.stdout.encoding or "ascii"
        ascii_only = not encoding.lower().startswith("utf")
        sys.stdout.write(drawing.text(columns, ascii_only=ascii_only).rstrip("\n") + "\n")
        return
    content: bytes = drawing.to_format(format)
    if format in ("png", "pdf"):
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        return
    sys.stdout.write(content.decode("utf-8").rstrip("\n") + "\n")


def _check_output(output: str) -> None:
    """Refuse a file that could not be written, before the script runs for an hour.

    Raises
    ------
    UsageError
        The suffix is not known, or there is no such folder, or it may not be written to.
    """
    if output == STANDARD_OUTPUT:
        return
    with given():
        import_module(DRAWING).check_target(output)


def _arrays(path: str, level: str) -> Any:
    """Return the arrays of a .npy or .npz file, as `draw(values=...)` takes them.

    Raises
    ------
    UsageError
        There is no such file, or it holds no arrays.
    """
    try:
        loaded = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(
            f"--values {path}: expected a .npy or .npz file of arrays; {error}."
        ) from None
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded:
        arrays = {name: loaded[name] for name in loaded.files}
    if level == "gradient":
        if not {"x", "y"} <= arrays.keys():
            raise UsageError(f"--values {path}: expected arrays x and y, got {sorted(arrays)}.")
        return arrays["x"], arrays["y"]
    return arrays["x"] if list(arrays) == ["x"] else arrays


def _file_name(name: str) -> str:
    """Return a model's name as that of a file.

    Examples
    --------
    >>> _file_name("model_1"), _file_name("a/b: c")
    ('model_1', 'a_b_c')
    """
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "model"
