"""The formats of a picture: which writer a file's suffix, or a name, means.

==================  ===============================================================================
.svg                our own picture (with `engine="dot"` Graphviz's)
.png .pdf           the same, drawn by Graphviz at our positions (or its own)
.html               a page in one file: frames open and close, search, keyboard
.txt                a drawing in characters
.dot .gv            Graphviz's language
.mmd .mermaid       Mermaid's language
.json               networkx's node-link form
.graphml            for networkx, yEd, Gephi, Cytoscape
==================  ===============================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean

if TYPE_CHECKING:
    from kerascope.viz.drawing import Drawing

PICTURES = ("svg", "png", "pdf")
Writer = Callable[["Drawing"], bytes]


def _picture(name: str) -> Writer:
    return lambda drawing: drawing.render(name)


def _text(name: str) -> Writer:
    return lambda drawing: str(getattr(drawing, name)).encode("utf-8")


WRITERS: dict[str, Writer] = {
    **{name: _picture(name) for name in PICTURES},
    "html": _text("html"),
    "txt": lambda drawing: drawing.text().encode("utf-8"),
    "dot": _text("source"),
    "gv": _text("source"),
    "mmd": _text("mermaid"),
    "mermaid": _text("mermaid"),
    "json": _text("json"),
    "graphml": lambda drawing: drawing.graphml,
}
FORMATS = tuple(WRITERS)
SUFFIXES = tuple(f".{name}" for name in FORMATS)


def writer_of(format: str, where: str = "draw") -> Writer:
    """Return what writes a format.

    Raises
    ------
    ArgumentError
        There is no such format.
    """
    name = format.lower().removeprefix(".")
    if name not in WRITERS:
        raise ArgumentError(
            f"{where}: unknown format {format!r}; expected one of {', '.join(FORMATS)}. "
            f"{did_you_mean(name, FORMATS)}".rstrip()
        )
    return WRITERS[name]


def writer_of_file(path: Path) -> Writer:
    """Return what writes a file, by its suffix.

    Raises
    ------
    ArgumentError
        The suffix is not known.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ArgumentError(
            f"draw: cannot tell the format of {str(path)!r}; expected a name that ends in one of "
            f"{', '.join(SUFFIXES)}, got {path.suffix or 'no suffix'!r}. "
            f"{did_you_mean(path.suffix, SUFFIXES)}".rstrip()
        )
    return writer_of(path.suffix)
