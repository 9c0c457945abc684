"""The formats of a picture: what of a `Drawing` a file's suffix, or a name, means.

==================  ===============================================================================
.svg                our own picture (with `engine="dot"` Graphviz's)
.png .pdf           the same, drawn by Graphviz
.html               a page in one file: frames open and close, search, keyboard
.txt                a drawing in characters
.dot .gv            Graphviz's language
.mmd .mermaid       Mermaid's language
.json               networkx's node-link form
.graphml            for networkx, yEd, Gephi, Cytoscape
.tikz .tex          our own picture for LaTeX, alone or as a whole document
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
    **{"json": "json", "graphml": "graphml", "tikz": "tikz", "tex": "tex"},
}
FORMATS = tuple(MEANINGS)
SUFFIXES = tuple(f".{name}" for name in FORMATS)
OF_TENSORS = ("svg", "png", "pdf", "html", "txt", "tikz", "tex")  # of a picture of numbers


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
            f"{did_you_mean(name, known)}".rstrip()
        )
    return MEANINGS[name]


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
            f"{did_you_mean(path.suffix, suffixes)}".rstrip()
        )
    return path.suffix
