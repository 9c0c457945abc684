"""The file formats of a picture: which property of a `Drawing` each suffix writes.

==================  ===============================================================================
.svg                kerascope's own picture (with `engine="dot"`, Graphviz's)
.png .pdf           the same picture, converted by Graphviz
.html               a page in one file; frames open and close; search; keyboard
.txt                a drawing in characters
.dot .gv            Graphviz's language
.mmd .mermaid       Mermaid's language
.json               networkx's node-link form
.graphml            a graph for networkx, yEd, Gephi, Cytoscape
.tikz .tex          kerascope's own picture for LaTeX, as a picture or a whole document
==================  ===============================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean

# Format -> the property of a `Drawing` that is written.
MEANINGS = {
    **{"svg": "svg", "png": "png", "pdf": "pdf", "html": "html", "txt": "text"},
    **{"dot": "source", "gv": "source", "mmd": "mermaid", "mermaid": "mermaid"},
    **{"json": "json", "graphml": "graphml", "tikz": "tikz", "tex": "tex"},
}
FORMATS = tuple(MEANINGS)
SUFFIXES = tuple(f".{name}" for name in FORMATS)
OF_TENSORS = ("svg", "png", "pdf", "html", "txt", "tikz", "tex")  # formats of pictures of arrays


def meaning_of(format: str, known: Sequence[str] = FORMATS) -> str:
    """Return the name of the property of a `Drawing` that contains the picture in a format.

    Raises
    ------
    ArgumentError
        The format is unknown.

    Examples
    --------
    >>> meaning_of("GV")
    'source'
    """
    name = format.lower().removeprefix(".")
    if name not in known:
        raise ArgumentError(
            f"draw: unknown format {format!r}. {did_you_mean(name, known)}"
            f"Use one of: {', '.join(known)}."
        )
    return MEANINGS[name]


def format_of(path: Path, known: Sequence[str] = FORMATS) -> str:
    """Return the format of a file: its suffix.

    Raises
    ------
    ArgumentError
        The suffix is unknown.
    """
    suffixes = [f".{name}" for name in known]
    if path.suffix.lower() not in suffixes:
        raise ArgumentError(
            f"draw: cannot tell the format of {str(path)!r} from the suffix {path.suffix!r}. "
            f"{did_you_mean(path.suffix, suffixes)}"
            f"Use one of: {', '.join(suffixes)}."
        )
    return path.suffix
