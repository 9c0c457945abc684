"""Reader of `keras-names.txt`, the list of Keras 2.2.4's public names and their arguments."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("keras-names.txt")


@dataclass(frozen=True)
class Name:
    """A function, class, method or property of the list.

    Attributes
    ----------
    module : str
        Such as "keras.layers.core".
    path : str
        Name in the module: "Dense", "Layer.build".
    kind : {"function", "class", "member"}
    arguments : inspect.Signature or None
        None for a property, and for a class that has its parent's constructor.
    """

    module: str
    path: str
    kind: str
    arguments: inspect.Signature | None

    def __str__(self) -> str:
        return f"{self.module}.{self.path}"


def read_names(text: str) -> Iterator[Name]:
    """Yield the names of the list in its order."""
    module = owner = ""
    for line in text.splitlines():
        if line.startswith("## "):
            module = line.removeprefix("## ").strip()
        elif line.startswith("class "):
            head, _, base = line.removeprefix("class ").partition(" < ")
            owner, arguments = split_call(head)
            inherits = bool(base) and arguments == "()"
            yield Name(module, owner, "class", None if inherits else signature(arguments))
        elif line.startswith("    "):
            for member in line.strip().split("; "):
                name, arguments = split_call(member)
                told = signature(arguments) if arguments else None
                yield Name(module, f"{owner}.{name}", "member", told)
        elif line and not line.startswith("#"):
            name, arguments = split_call(line)
            yield Name(module, name, "function", signature(arguments))


def split_call(text: str) -> tuple[str, str]:
    name, bracket, rest = text.strip().partition("(")
    return name, bracket + rest


def signature(arguments: str) -> inspect.Signature:
    """Return the signature that `(x, axis=-1, **kwargs)` writes."""
    function = ast.parse(f"def f{arguments}: pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    told = function.args
    kinds = inspect.Parameter
    empty: list[object] = [kinds.empty] * (len(told.args) - len(told.defaults))
    defaults = empty + [ast.literal_eval(value) for value in told.defaults]
    parameters = [
        kinds(argument.arg, kinds.POSITIONAL_OR_KEYWORD, default=default)
        for argument, default in zip(told.args, defaults, strict=True)
    ]
    if told.vararg:
        parameters.append(kinds(told.vararg.arg, kinds.VAR_POSITIONAL))
    if told.kwarg:
        parameters.append(kinds(told.kwarg.arg, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def difference(wanted: inspect.Signature, found: inspect.Signature) -> str | None:
    """Return how our arguments differ from Keras's; None if every call of Keras's works here.

    Arguments of ours after those of Keras are allowed, if they have defaults.
    """
    kinds = inspect.Parameter
    ours = list(found.parameters.values())
    plain = [p for p in ours if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    has = {p.kind for p in ours}
    listed = [p for p in wanted.parameters.values() if p.kind is kinds.POSITIONAL_OR_KEYWORD]
    for index, parameter in enumerate(listed):
        if index >= len(plain):
            return f"no argument {parameter.name!r}"
        if plain[index].name != parameter.name:
            return f"argument {index + 1} is {plain[index].name!r}, not {parameter.name!r}"
        is_needed = parameter.default is kinds.empty
        if not is_needed and not _same_default(parameter.default, plain[index].default):
            default = plain[index].default
            return f"default of {parameter.name!r} is {default!r}, not {parameter.default!r}"
    for parameter in plain[len(listed) :]:
        if parameter.default is kinds.empty:
            return f"needs {parameter.name!r}, which Keras has not"
    for kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD):
        if any(p.kind is kind for p in wanted.parameters.values()) and kind not in has:
            return f"no {kind.description} arguments"
    return None


def _same_default(wanted: object, found: object) -> bool:
    """Compare defaults; an empty list or dict of Keras's may be an empty tuple or None of ours."""
    if isinstance(wanted, (list, dict)) and not wanted:
        return found is None or (found is not inspect.Parameter.empty and not found)
    return (
        wanted is found
        or (type(wanted) is type(found) and wanted == found)
        or (
            isinstance(wanted, (int, float))
            and isinstance(found, (int, float))
            and not isinstance(wanted, bool)
            and not isinstance(found, bool)
            and wanted == found
        )
    )
