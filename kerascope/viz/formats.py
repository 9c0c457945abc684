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
==================  ===============================================================================
"""

from __future__ import annotations

from pathlib import Path

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean

# Format -> what of a `Drawing` is written.
MEANINGS = {
    **{"svg": "svg", "png": "png", "pdf": "pdf", "html": "html", "txt": "text"},
    **{"dot": "source", "gv": "source", "mmd": "mermaid", "mermaid": "mermaid"},
    **{"json": "json", "graphml": "graphml"},
}
FORMATS = tuple(MEANINGS)
SUFFIXES = tuple(f".{name}" for name in FORMATS)


def meaning_of(format: str) -> str:
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
    if name not in MEANINGS:
        raise ArgumentError(
            f"draw: unknown format {format!r}; expected one of {', '.join(FORMATS)}. "
            f"{did_you_mean(name, FORMATS)}".rstrip()
        )
    return MEANINGS[name]


def format_of(path: Path) -> str:
    """Return the format of a file, which its suffix tells.

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
    return path.suffix
