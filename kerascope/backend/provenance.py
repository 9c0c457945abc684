"""The line of user code that is shown for an op at stops, in reports and in pictures.

An op stores the user's code that made it (`Apply.frames`), and its scope stores the task that led
to it (`scopes.Origin`): a layer call, compiling a model, updates of an optimizer, the gradient of
another op. The line that is shown is, in this order:

- the innermost line of the user's own code: in a layer's `call`, in a loss, in a Lambda;
- for an op of a built-in layer, the line that made the layer;
- for an op of a built-in loss or metric, and for an op of an update, the line of `compile`;
- for the gradient of an op, the line of that op, unless the user's own `grad` made it.

A `Provenance` also says how the line is related to the op.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kerascope.backend.graph import Apply
from kerascope.backend.scopes import COMPILE, GRADIENT, LAYER, UPDATES, Origin
from kerascope.user_frames import Line

OWN = "op"
WORDS = {LAYER: "made {name}", COMPILE: "compiled {name}", UPDATES: "asked for updates"}


class Provenance(NamedTuple):
    """The line of user code that is shown for an op, and how it is related to the op.

    Attributes
    ----------
    line : Line
    kind : {"op", "layer", "compile", "updates"}
        Whether the line made the op itself, made its layer, or compiled the model.
    name : str
        The name of the layer or the model.
    gradient_of : str
        The name of the op whose gradient the shown op is part of; "" for an op of no gradient.
    made_by : tuple of Line
        All lines of the user's code that made the op, the innermost first. For a gradient, only
        the lines in a user's own `grad`.
    called_from : tuple of Line
        The lines that called the layer (and the layers around it) or compiled the model, the
        innermost first.
    """

    line: Line
    kind: str = OWN
    name: str = ""
    gradient_of: str = ""
    made_by: tuple[Line, ...] = ()
    called_from: tuple[Line, ...] = ()

    @property
    def words(self) -> str:
        """How the line is related to the op, as text; "" if the line made the op itself.

        For example "gradient of dot, made dense_1": the op is part of the gradient of the op `dot`,
        and the line made the layer `dense_1`.
        """
        text = f"gradient of {self.gradient_of}" if self.gradient_of else ""
        return ", ".join(filter(None, (text, self.role)))

    @property
    def role(self) -> str:
        """What the line did, such as "made dense_1" (a layer); "" if it made the op itself."""
        return "" if self.kind == OWN else WORDS[self.kind].format(name=self.name).strip()


def provenance_of(apply: Apply) -> Provenance | None:
    """Return the line of user code to show for an op; None if only kerascope's code led to the op.

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
    levels = [Origin(OWN, "", None, apply.frames, None), *_origins(apply)]
    for place, level in enumerate(levels):
        if level.kind == GRADIENT and not gradient_of:
            gradient_of = level.name.partition(":")[0]
        kind = OWN if level.kind == GRADIENT else level.kind
        line = _line_of(level)
        if line is not None:
            own = [level] if level.made_on is not None else []  # its frames say where it is called
            outer = [*own, *(x for x in levels[place + 1 :] if x.kind != GRADIENT)]
            called = tuple(x.frames.lines[0] for x in outer if x.frames)
            return Provenance(line, kind, level.name, gradient_of, made_by, called)
    return None


def line_of(apply: Apply) -> tuple[str, int] | None:
    """Return the file and the number of the user's line to show for an op, or None without one."""
    found = provenance_of(apply)
    return None if found is None else (found.line.file, found.line.line)


def describe(apply: Apply) -> str:
    """Return the user's line for an op as text, with its relation to the op; "" without a line."""
    found = provenance_of(apply)
    return "" if found is None else describe_line(found)


def short_line(apply: Apply) -> str:
    """Return the user's line for an op in short form, such as "train.py:11"; "" without a line.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> short_line(K.exp(K.placeholder(shape=(3,))).owner).rpartition(":")[2].isdigit()
    True
    """
    return short_place(line_of(apply))


def short_place(place: tuple[str, int] | None) -> str:
    """Return a (file, line) pair as text, such as "train.py:11"; "" for None."""
    return "" if place is None else f"{base_name(place[0])}:{place[1]}"


def describe_line(found: Provenance, file: str | None = None) -> str:
    """Return a user's line and how it is related to its op as one line of text.

    Parameters
    ----------
    found : Provenance
    file : str, optional
        The text for the file; by default its name without folders.

    Examples
    --------
    >>> describe_line(Provenance(Line("/home/me/train.py", 11, "my_bce")))
    'train.py:11 in my_bce'
    >>> describe_line(Provenance(Line("/a/train.py", 30, ""), "layer", "dense_1", "dense_1/dot"))
    'train.py:30 (gradient of dense_1/dot, made dense_1)'
    """
    line = found.line
    text = f"{file or base_name(line.file)}:{line.line}"
    if found.kind == OWN and line.function != "<module>":
        text += f" in {line.function}"
    return f"{text} ({found.words})" if found.words else text


def base_name(file: str) -> str:
    """Return a file's name without its folders, also for a Windows path."""
    return file.replace("\\", "/").rpartition("/")[2]


def _line_of(level: Origin) -> Line | None:
    """Return the user's line that led to a task, such as compiling a model.

    For the call of a layer this is the line that made the layer.
    """
    return level.made_on or level.frames.first


def _origins(apply: Apply) -> Iterator[Origin]:
    """Yield the tasks during which an op was made, such as layer calls, the innermost first."""
    origin = apply.scope.origin
    while origin is not None:
        yield origin
        origin = origin.outer


__all__ = [
    "Line",
    "Provenance",
    "describe",
    "describe_line",
    "line_of",
    "provenance_of",
    "short_line",
    "short_place",
]
