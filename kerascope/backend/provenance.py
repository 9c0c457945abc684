"""Which line of the user's is shown for an op: every stop, report and picture asks here.

An op knows the user's code that made it (`Apply.frames`), and its scope what was being done then
(`scopes.Origin`): a layer called, a model compiled, an optimizer asked for updates, another op
differentiated. Its line is, in this order:

- the innermost line of the user's own code: in a layer's `call`, in a loss, in a Lambda;
- for an op of a library's layer, the line that made the layer;
- for an op of a library's loss or metric, and for one of an update, the line of `compile`;
- for the gradient of an op, the line of that op; a `grad` of the user's own comes first.

What the line is to the op is told with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kerascope.backend.graph import Apply
from kerascope.backend.scopes import COMPILE, GRADIENT, LAYER, UPDATES, Origin
from kerascope.callers import Line

OWN = "op"
WORDS = {
    LAYER: "made {name}",
    COMPILE: "compiled {name}",
    UPDATES: "asked for updates",
}


class Provenance(NamedTuple):
    """The user's line that is shown for an op, and what it is to the op.

    Attributes
    ----------
    line : Line
    kind : {"op", "layer", "compile", "updates"}
        Whether the line made the op itself, or its layer, or compiled the model.
    name : str
        Of the layer or the model.
    gradient_of : str
        The name of the op whose gradient it belongs to; "" if it is of none.
    made_by : tuple of Line
        All lines of the user's own code that made the op, the innermost first; of a gradient none,
        unless they are in a `grad` of his.
    called_from : tuple of Line
        Where that was asked for from outside, the innermost first: the layer called, the one
        around it in whose `call` that is, the model compiled.
    """

    line: Line
    kind: str = OWN
    name: str = ""
    gradient_of: str = ""
    made_by: tuple[Line, ...] = ()
    called_from: tuple[Line, ...] = ()

    @property
    def words(self) -> str:
        """What the line is to the op, if it has not made it itself: "made dense_1"."""
        told = f"gradient of {self.gradient_of}" if self.gradient_of else ""
        return ", ".join(filter(None, (told, self.role)))

    @property
    def role(self) -> str:
        """The same without the gradient."""
        return "" if self.kind == OWN else WORDS[self.kind].format(name=self.name).strip()


def provenance_of(apply: Apply) -> Provenance | None:
    """Return the user's line of an op; None where no code of anybody but kerascope's led to it.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder(shape=(3,))
    >>> y = K.exp(x)
    >>> provenance_of(y.owner).line.function
    '<module>'
    """
    gradient_of = ""
    made_by = apply.frames.lines
    levels = [Origin(OWN, "", None, apply.frames, None), *_arounds(apply)]
    for place, level in enumerate(levels):
        if level.kind == GRADIENT and not gradient_of:
            gradient_of = level.name.partition(":")[0]
        kind = OWN if level.kind == GRADIENT else level.kind
        line = _line_of(level)
        if line is not None:
            own = [level] if level.made_on is not None else []  # its frames are where it is called
            outer = [*own, *(x for x in levels[place + 1 :] if x.kind != GRADIENT)]
            called = tuple(x.frames.lines[0] for x in outer if x.frames)
            return Provenance(line, kind, level.name, gradient_of, made_by, called)
    return None


def line_of(apply: Apply) -> tuple[str, int] | None:
    """Return file and line of the same."""
    found = provenance_of(apply)
    return None if found is None else (found.line.file, found.line.line)


def told(apply: Apply) -> str:
    """Return an op's line and what it is to it, on one line of text; "" if there is none."""
    found = provenance_of(apply)
    return "" if found is None else words_for(found)


def short_line(apply: Apply) -> str:
    """Return an op's line for a column of a table: "train.py:11"; "" if there is none.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> short_line(K.exp(K.placeholder(shape=(3,))).owner).rpartition(":")[2].isdigit()
    True
    """
    return short_place(line_of(apply))


def short_place(place: tuple[str, int] | None) -> str:
    """Return "train.py:11" of a file and a line, as layers have them; "" of none."""
    return "" if place is None else f"{base_name(place[0])}:{place[1]}"


def words_for(found: Provenance, file: str | None = None) -> str:
    """Return a line and what it is on one line of text.

    Parameters
    ----------
    found : Provenance
    file : str, optional
        What the file is called; by default its name without folders.

    Examples
    --------
    >>> words_for(Provenance(Line("/home/me/train.py", 11, "my_bce")))
    'train.py:11 in my_bce'
    >>> words_for(Provenance(Line("/a/train.py", 30, ""), "layer", "dense_1", "dense_1/dot"))
    'train.py:30 (gradient of dense_1/dot, made dense_1)'
    """
    line = found.line
    told = f"{file or base_name(line.file)}:{line.line}"
    if found.kind == OWN and line.function != "<module>":
        told += f" in {line.function}"
    return f"{told} ({found.words})" if found.words else told


def base_name(file: str) -> str:
    """Return a file's name without its folders, whichever way they are written."""
    return file.replace("\\", "/").rpartition("/")[2]


def _line_of(level: Origin) -> Line | None:
    """Return the line that a level stands for: a layer's is the one that made it."""
    return level.made_on or level.frames.first


def _arounds(apply: Apply) -> Iterator[Origin]:
    """Yield what was being done when an op was made, from the inside out."""
    around = apply.scope.around
    while around is not None:
        yield around
        around = around.outer


__all__ = [
    "Line",
    "Provenance",
    "line_of",
    "provenance_of",
    "short_line",
    "short_place",
    "told",
    "words_for",
]
