"""The options of `kerascope draw` and `kerascope summary`."""

from __future__ import annotations

import argparse
from typing import Any

from kerascope.viz.formats import FORMATS

LEVELS = ("layer", "node", "op", "gradient", "training")
DRAW_EXAMPLES = """\
examples:
  kerascope draw model.keras                         writes its picture, <name>.svg
  kerascope draw script.py:encoder -o e.png -o e.html
  kerascope draw model.h5 -o - --format txt          in the terminal
  kerascope draw model.keras --expand conv2_block1   open one block of a large model
  kerascope draw script.py --level training          losses, gradients, slots, updates
  kerascope draw new.keras --diff old.keras          what was added, removed, changed
  kerascope draw script.py --values batch.npz --at 3 after three steps of the forward pass

FILE ends in .svg .png .pdf .html .txt .dot .mmd .json .graphml. A large model is collapsed to about
60 boxes: nested models, then repeated blocks; an .html opens and closes them. If a script fails
while it builds a model, the picture shows how far it came and which call failed.
"""
SUMMARY_EXAMPLES = """\
examples:
  kerascope summary model.keras
  kerascope summary script.py:model --flops --memory --expand-nested
"""


def add_draw_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope draw`."""
    add = parser.add_argument
    add("model", metavar="MODEL")
    _add_limits(parser)
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="where to; may be repeated; - is standard output; default: the model's name with "
             ".svg")  # fmt: skip
    add("--format", choices=FORMATS, default="svg",
        help="what `-o -` writes, and what is written without -o (default svg)")  # fmt: skip
    add("--width", type=positive, metavar="N",
        help="columns of a drawing in characters (default: those of the terminal)")  # fmt: skip
    add("--level", choices=LEVELS, default="node",
        help="a box for each layer, each call of one (default), each op; gradients beside what "
             "they belong to; a whole step of training")  # fmt: skip
    add("--rankdir", choices=("TB", "LR"),
        help="from top to bottom (default, but for wide pictures of gradients and training), or "
             "left to right")  # fmt: skip
    add("--depth-ranks", action="store_true", help="write the depth of each row beside it")
    add("--theme", choices=("auto", "light", "dark"), default="auto",
        help="auto (default): as the reader's system wants it")  # fmt: skip
    add("--engine", choices=("kerascope", "dot"), default="kerascope",
        help="our own layout (default), or Graphviz's")  # fmt: skip
    add("--dpi", type=positive, default=96, metavar="N", help="pixels per inch of a PNG")
    _add_collapsing(parser)
    _add_marks(parser)
    for name, default, what in (
        ("shapes", True, "the shapes of the outputs"),
        ("dtype", False, "their types"),
        ("layer-names", True, "the names of the layers"),
        ("layer-activations", True, "their activations"),
        ("trainable", False, "whether they are trained"),
    ):
        add(f"--show-{name}", action=argparse.BooleanOptionalAction, default=default,
            help=f"write {what}{' (default)' if default else ''}")  # fmt: skip


def _add_limits(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-limits", action="store_true",
        help="read a file however much its model takes: only if you trust it")  # fmt: skip


def limits_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the argument `limits` for reading a file, if it is not the usual one."""
    return {"limits": None} if options.no_limits else {}


def _add_collapsing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--expand-nested", action="store_true", help="draw what is inside nested models")
    add(
        "--expand",
        action="append",
        metavar="NAME",
        default=[],
        help="a frame that shall be open; a number: so many levels of them; all: every one",
    )
    add("--most", type=_number_or_all, default=60, metavar="N",
        help="collapse a larger graph to about so many boxes (default 60); all: never")  # fmt: skip


def _add_marks(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--highlight", action="append", metavar="NAME", help="mark boxes; * stands for anything")
    add("--diff", metavar="MODEL", help="mark what was added, removed and changed since this one")
    add("--values", metavar="FILE",
        help="arrays for the inputs (.npy, .npz): write what each call gives; at level gradient "
             "an .npz with x and y")  # fmt: skip
    add("--at", type=int, metavar="N", help="with --values: after N steps of the forward pass")


def add_summary_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope summary`."""
    add = parser.add_argument
    add("model", metavar="MODEL")
    _add_limits(parser)
    add("--calls", action="store_true", help="a row for each call of a layer")
    add("--expand-nested", action="store_true", help="rows for what is inside nested models")
    add("--show-trainable", action="store_true", help="a column: whether training changes it")
    add("--flops", action="store_true", help="a column: multiply-adds for one sample")
    add("--memory", action="store_true", help="columns: memory of weights and activations")
    add("--fold", action=argparse.BooleanOptionalAction, default=None,
        help="write equal rows that follow each other once")  # fmt: skip
    add("--width", type=positive, metavar="N", help="columns (default: those of the terminal)")


def options_of_draw(options: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of `draw` that need no model."""
    expand: Any = [int(word) if word.isdigit() else word for word in options.expand]
    if len(expand) == 1:
        expand = expand[0]
    return {
        "level": options.level,
        "rankdir": options.rankdir,
        "depth_ranks": options.depth_ranks,
        "theme": options.theme,
        "engine": options.engine,
        "dpi": options.dpi,
        "expand_nested": options.expand_nested,
        "expand": expand or None,
        "most": options.most,
        "highlight": options.highlight,
        "show_shapes": options.show_shapes,
        "show_dtype": options.show_dtype,
        "show_layer_names": options.show_layer_names,
        "show_layer_activations": options.show_layer_activations,
        "show_trainable": options.show_trainable,
    }


def positive(word: str) -> int:
    """Return a whole number above 0."""
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {word}")
    return number


def _number_or_all(word: str) -> int | None:
    if word == "all":
        return None
    if not word.isdigit():
        raise argparse.ArgumentTypeError(f"expected a number or all, got {word!r}")
    return positive(word)
