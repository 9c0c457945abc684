"""`kerascope draw MODEL` and `kerascope summary MODEL`."""

from __future__ import annotations

import re
import shutil
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.cli.models import ReadOptions, ScriptFailed, find_model, shapes_in
from kerascope.cli.usage import UsageError, given
from kerascope.errors import KerascopeError
from kerascope.foreign import name_of, summary
from kerascope.limits import USUAL
from kerascope.viz.draw import LEVELS_WITH_LOSS, draw
from kerascope.viz.drawing import check_target
from kerascope.viz.figure.marks import points_of
from kerascope.viz.overlays.diff import diff_lines
from kerascope.viz.own_look import own_colors, own_font

STANDARD_OUTPUT = "-"
ARGUMENTS = (  # arguments of `draw` with the names of options
    "level", "rankdir", "wrap", "depth_ranks", "theme", "font", "engine", "dpi", "expand_nested",
    "most", "highlight", "show_shapes", "show_dtype", "show_layer_names", "show_layer_activations",
    "show_trainable", "show_settings", "show_lines",
)  # fmt: skip


def run_draw(options: Namespace) -> int:
    """Draw the model of `kerascope draw` to each output file; return the exit code."""
    for output in options.output or ["model.svg"]:
        if output != STANDARD_OUTPUT:
            with given():  # before the script runs for an hour
                check_target(output)
    arguments = {name: getattr(options, name) for name in ARGUMENTS} | _figure(options)
    arguments["expand"] = _expanded(options.expand)
    arguments["colors"] = _colors(options)
    if options.values is not None:
        arguments |= {"values": arrays_in(options.values, options.level), "at": options.at}
    elif options.at is not None:
        raise UsageError("--at needs --values FILE.")
    find = partial(find_model, reading=reading_of(options, options.level in LEVELS_WITH_LOSS))
    try:
        model = find(options.model)
    except ScriptFailed as failure:
        return _draw_failure(failure, options)
    if options.diff is not None:
        arguments["diff"] = find(options.diff)
    drawing = draw(model, **arguments)
    _, _, attribute = options.model.rpartition(":") if ".py:" in options.model else ("", "", "")
    write_all(drawing, options, file_name(attribute or name_of(model)))
    if options.diff is not None:
        says = sys.stderr if STANDARD_OUTPUT in options.output else sys.stdout
        print("\n".join(diff_lines(drawing.whole)), file=says)
    return 0


def _colors(options: Namespace) -> dict[str, str]:
    """Return the colours of `--color` by kind of box. Raise if a colour or font is not valid."""
    colors = dict(map(_color, options.color))
    style = "figure" if _is_figure(options) else "graph"
    with given():
        own_colors(colors, options.theme, style)
        own_font(options.font, style)
    return colors


def _color(word: str) -> tuple[str, str]:
    kind, sign, color = word.partition("=")
    if not sign:
        raise UsageError(f"--color {word}: expected a kind and its colour, as dense=#8E44AD.")
    return kind, color


def _figure(options: Namespace) -> dict[str, Any]:
    """Return the arguments of `draw` for a figure; an empty dict for other pictures."""
    if not _is_figure(options):
        if options.form:
            raise UsageError("--form needs --figure WIDTH or --style figure.")
        if options.class_names:
            raise UsageError("--class-names needs --style figure and --values FILE.")
        return {}
    if options.style == "graph":
        raise UsageError("--figure WIDTH draws a figure: leave out --style graph.")
    if options.class_names and options.values is None:
        raise UsageError("--class-names needs --values FILE.")
    if options.figure is not None:
        with given():
            points_of(options.figure)
    names = [name.strip() for name in options.class_names.split(",")] if options.class_names else []
    return {
        "style": "figure", "width": options.figure, "figure": options.form, "class_names": names,
    }  # fmt: skip


def _is_figure(options: Namespace) -> bool:
    """Return whether the options ask for a figure instead of a graph."""
    return options.figure is not None or options.style == "figure"


def run_summary(options: Namespace) -> int:
    """Print the table of layers of `kerascope summary`; return the exit code."""
    names = ("expand_nested", "show_trainable", "calls", "fold", "flops", "memory")
    asked = {name: getattr(options, name) for name in names}
    values = None if options.values is None else arrays_in(options.values)
    model = find_model(options.model, reading_of(options))
    summary(model, values, line_length=options.width, **asked)
    return 0


def reading_of(options: Namespace, with_loss: bool = False) -> ReadOptions:
    """Return the `ReadOptions` for model files that the options of the command line define."""
    limits = None if options.no_limits else USUAL
    return ReadOptions(with_loss, limits, tuple(options.custom), shapes_in(options.shape))


def _expanded(words: list[str]) -> Any:
    """Return the words of `--expand` as `draw(expand=...)` takes them.

    One word is a name or a number; several words are a list; without words, the result is None.
    """
    expand = [int(word) if word.isdigit() else word for word in words]
    return expand[0] if len(expand) == 1 else expand or None


def _draw_failure(failure: ScriptFailed, options: Namespace) -> int:
    """Draw the layers that a script built before a layer call failed; return the exit code.

    If the script's exception does not come from building a model, raise `failure` again.
    """
    try:
        drawing = draw(failure.error, rankdir=options.rankdir)
    except KerascopeError:
        raise failure from None
    write_all(drawing, options, "failed", ": the model up to the failed call")
    return 1


# --- files ----------------------------------------------------------------------------------------


def write_all(drawing: Any, options: Namespace, name: str, what: str = "") -> None:
    """Write a `Drawing` or a `Picture` to each output file, and print the names of the files."""
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
    """Write a drawing to standard output: as bytes, or as text with one line break at its end."""
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


def arrays_in(path: str, level: str = "", where: str = "--values") -> Any:
    """Return the arrays of a .npy or .npz file, as `draw(values=...)` takes them.

    Raises
    ------
    UsageError
        The file does not exist or contains no arrays.
    """
    try:
        loaded = np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise UsageError(
            f"{where} {path}: the file does not exist. Write your arrays with "
            f"np.save({path!r}, x), or np.savez for several inputs."
        ) from None
    except (OSError, ValueError, EOFError) as error:
        raise UsageError(
            f"{where} {path}: not a .npy or .npz file: {getattr(error, 'strerror', 0) or error}."
        ) from None
    if isinstance(loaded, np.ndarray):
        return loaded
    with loaded:
        arrays = {name: loaded[name] for name in loaded.files}
    if level == "gradient":
        if not {"x", "y"} <= arrays.keys():
            raise UsageError(f"{where} {path}: expected arrays x and y, got {sorted(arrays)}.")
        return arrays["x"], arrays["y"]
    return arrays["x"] if list(arrays) == ["x"] else arrays


def file_name(name: str) -> str:
    """Return the name of a model as a valid file name.

    Examples
    --------
    >>> file_name("model_1"), file_name("a/b: c")
    ('model_1', 'a_b_c')
    """
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "model"
