"""Readers of the lists of Keras's public names and their arguments, and how ours differ.

`keras-names.txt` is of Keras 2.2.4, `keras-names-1.2.2.txt` and `keras-names-3.txt` of 1.2.2 and 3.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from kerascope.missing_names import Refused

FILE = Path(__file__).with_name("keras-names.txt")
FILES = {
    "1.2.2": FILE.with_name("keras-names-1.2.2.txt"),
    "2.2.4": FILE,
    "3": FILE.with_name("keras-names-3.txt"),
}


@dataclass(frozen=True, eq=False)
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
    """Yield the names of a list in its order.

    The members of a class stand below it, on one line or on one each; `mse = mean_squared_error`
    is a second name of a function, `x property` an attribute.
    """
    module = owner = ""
    for line in text.splitlines():
        if line.startswith("## "):
            module = line.removeprefix("## ").strip()
        elif line.startswith("class "):
            head, _, base = line.removeprefix("class ").replace("  base ", " < ").partition(" < ")
            owner, arguments = split_call(head)
            inherits = arguments == "(...)" or (bool(base) and arguments == "()")
            yield Name(module, owner, "class", None if inherits else signature(arguments))
        elif line.startswith("  "):
            for member in line.strip().split("; "):
                name, arguments = split_call(member.removesuffix(" property"))
                told = signature(arguments) if arguments else None
                yield Name(module, f"{owner}.{name}", "member", told)
        elif " = " in line and "(" not in line:
            yield Name(module, line.split(" = ")[0], "alias", None)
        elif line and not line.startswith("#"):
            name, arguments = split_call(line)
            yield Name(module, name, "function", signature(arguments))


def names_of(version: str) -> list[Name]:
    """Return the names of a version, each once: a property that can be set stands there twice."""
    text = FILES[version].read_text(encoding="utf-8")
    return list({str(name): name for name in reversed(list(read_names(text)))}.values())[::-1]


def split_call(text: str) -> tuple[str, str]:
    name, bracket, rest = text.strip().partition("(")
    return name, bracket + rest


def signature(arguments: str) -> inspect.Signature:
    """Return the signature that `(x, axis=-1, *, name=None, **kwargs)` writes."""
    text = arguments.replace("K.floatx()", "None").replace("(/, ", "(")
    function = ast.parse(f"def f{text}: pass").body[0]
    assert isinstance(function, ast.FunctionDef)
    told = function.args
    kinds = inspect.Parameter
    plain = [*told.posonlyargs, *told.args]
    empty: list[object] = [kinds.empty] * (len(plain) - len(told.defaults))
    defaults = empty + [ast.literal_eval(value) for value in told.defaults]
    parameters = [
        kinds(argument.arg, kinds.POSITIONAL_OR_KEYWORD, default=default)
        for argument, default in zip(plain, defaults, strict=True)
    ]
    if told.vararg:
        parameters.append(kinds(told.vararg.arg, kinds.VAR_POSITIONAL))
    for argument, value in zip(told.kwonlyargs, told.kw_defaults, strict=True):
        default = kinds.empty if value is None else ast.literal_eval(value)
        parameters.append(kinds(argument.arg, kinds.KEYWORD_ONLY, default=default))
    if told.kwarg:
        parameters.append(kinds(told.kwarg.arg, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


# --- what is here ---------------------------------------------------------------------------------


def found(name: Name) -> Any:
    """Return what stands here under a name, while `import keras` is ours; of a property, that."""
    thing = import_module(name.module)
    for part in name.path.split("."):
        if not inspect.isclass(thing):
            thing = getattr(thing, part)
        elif issubclass(thing, Refused):
            return thing
        elif any(part in vars(cls).get("__annotations__", {}) for cls in thing.__mro__):
            return None  # every instance has it
        else:
            thing = inspect.getattr_static(thing, part)
    return thing


def arguments_of(thing: Any, name: Name) -> inspect.Signature:
    """Return the arguments as a caller gives them: without self or cls."""
    owner = ".".join(name.path.split(".")[:-1])
    if inspect.isclass(thing):
        made_by = thing.__init__ if inspect.isfunction(thing.__init__) else thing.__new__
        return without_first(inspect.signature(made_by))
    if isinstance(thing, classmethod):
        return without_first(inspect.signature(thing.__func__))
    if isinstance(thing, staticmethod):
        return inspect.signature(thing.__func__)
    told = inspect.signature(thing)
    return without_first(told) if owner else told


def without_first(told: inspect.Signature) -> inspect.Signature:
    return told.replace(parameters=list(told.parameters.values())[1:])


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
    for parameter in wanted.parameters.values():
        if parameter.kind is kinds.KEYWORD_ONLY:
            our_own = found.parameters.get(parameter.name)
            if our_own is None or our_own.kind in (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD):
                return f"no argument {parameter.name!r}"
            if not _same_default(parameter.default, our_own.default):
                default = our_own.default
                return f"default of {parameter.name!r} is {default!r}, not {parameter.default!r}"
    for parameter in plain[len(listed) :]:
        if parameter.default is kinds.empty and parameter.name not in wanted.parameters:
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
