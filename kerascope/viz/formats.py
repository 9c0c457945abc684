"""The formats of a picture: what of a `Drawing` a file's suffix, or a name, means.

==================  ===============================================================================
.svg                our own picture (with `engine="dot"` Graphviz's)
.png .pdf           the same, drawn by Graphviz at our positions (or its own)
.html               a page in one file: frames open and close, search, keyboard
.txt                a drawing in characters
.dot .gv            Graphviz's language
.mmd .mermaid       Mermaid's language
.json               networkx's node-link form
.graphml            for networkx, yEd, Gephi, Cytoscape
.tikz .tex          of a figure: TikZ, alone or as a whole LaTeX document
==================  ===============================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean

# Format -> what of a `Drawing` is written.
MEANINGS = {
    **{"svg": "svg", "png": "png", "pdf": "pdf", "html": "html", "txt": "text"},
    **{"dot": "source", "gv": "source", "mmd": "mermaid", "mermaid": "mermaid"},
    **{"json": "json", "graphml": "graphml"},
}
FIGURE_MEANINGS = {"tikz": "tikz", "tex": "tex"}  # what only a figure has besides
FORMATS = tuple(MEANINGS)
SUFFIXES = tuple(f".{name}" for name in FORMATS)
OF_FIGURES = (*FORMATS, *FIGURE_MEANINGS)
OF_TENSORS = ("svg", "png", "pdf", "html", "txt")  # of a picture that is no graph


def meaning_of(format: str, known: Sequence[str] = FORMATS) -> str:
    """Return what of a `Drawing` a format means.

    Raises
    ------
    ArgumentError
        There is no such format.

    Examples
    --------
    >>> meaning_of("GV")
    'source'
    """
    name = format.lower().removeprefix(".")
    if name not in known:
        raise ArgumentError(
            f"draw: unknown format {format!r}; expected one of {', '.join(known)}. "
            f"{_remedy(name, known)}".rstrip()
        )
    return (MEANINGS | FIGURE_MEANINGS)[name]


def format_of(path: Path, known: Sequence[str] = FORMATS) -> str:
    """Return the format of a file, which its suffix tells.

    Raises
    ------
    ArgumentError
        The suffix is not known.
    """
    suffixes = [f".{name}" for name in known]
    if path.suffix.lower() not in suffixes:
        raise ArgumentError(
            f"draw: cannot tell the format of {str(path)!r}; expected a name that ends in one of "
            f"{', '.join(suffixes)}, got {path.suffix or 'no suffix'!r}. "
            f"{_remedy(path.suffix, suffixes)}".rstrip()
        )
    return path.suffix


def _remedy(name: str, known: Sequence[str]) -> str:
    if name.removeprefix(".") in FIGURE_MEANINGS:
        return "TikZ is written of figures: draw(model, style='figure')."
    return did_you_mean(name, known)
