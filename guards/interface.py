"""Collects facts about the public names of `kerascope` and `import keras`, with their arguments.

A fact is one line of text. The module that defines a name is not a fact: code may move. An object
with several public names is described at the first of them; the others refer to it.
"""

from __future__ import annotations

import dataclasses
import inspect
import pkgutil
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from kerascope.compat import keras_imports
from kerascope.compat.finder import StandIn
from kerascope.compat.paths import MOVED, ROOTS, import_source, sources_of
from kerascope.missing_names import REFUSALS, Refused
from kerascope.settings import config

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "kerascope"
DIALECTS = ("1.2", "2.2", "3")

# Modules below kerascope whose names are for users; of a folder with a star its public files too.
PUBLIC = (
    *("", "activations", "applications.*", "backend", "callbacks", "compat", "constraints"),
    *("datasets.*", "debugger", "engine", "errors", "initializers", "layers", "learn", "lessons"),
    *("losses", "metrics", "models", "optimizers", "optimizers.schedules", "preprocessing.*"),
    *("registry", "regularizers", "saving", "settings", "stage", "trace", "utils.*", "viz"),
    *("wrappers.*", "backend.gradient", "debugger.entry", "viz.exports.to_networkx", "viz.graph"),
    *("trace.events", "trace.tape", "viz.drawing", "viz.kinds"),
)
# The modules that no version of Keras has: `import keras` does not offer them.
OURS_ALONE = (
    *("compat", "debugger", "errors", "learn", "lessons", "registry", "settings", "stage"),
    *("trace", "viz"),
)
# Special methods that a user calls without their names.
_SPOKEN = """
abs add and bool call contains delitem enter exit float floordiv ge getitem gt int invert iter le
len lshift lt matmul mod mul neg next or pos pow radd rand rfloordiv rmatmul rmod rmul ror round
rpow rshift rsub rtruediv rxor setitem sub truediv xor
"""
SPOKEN = frozenset(f"__{word}__" for word in _SPOKEN.split())


@contextmanager
def speaking(dialect: str) -> Iterator[None]:
    """Set the dialect inside the `with` block."""
    before, config.dialect = config.dialect, dialect
    try:
        yield
    finally:
        config.dialect = before


# --- one thing ------------------------------------------------------------------------------------


def is_ours(thing: Any) -> bool:
    """Return whether a class or function is defined in kerascope."""
    return str(getattr(thing, "__module__", "")).partition(".")[0] == PACKAGE


def arguments(told: inspect.Signature, skip: int = 0) -> str:
    """Return a signature's arguments with their defaults, without types, which may change.

    Examples
    --------
    >>> def f(self, x: int, *, how: str = "well") -> None: ...
    >>> arguments(inspect.signature(f), skip=1)
    "(x, *, how='well')"
    """
    parameters = [
        parameter.replace(
            annotation=inspect.Parameter.empty,
            default=_Default(parameter.default)
            if parameter.default is not inspect.Parameter.empty
            else inspect.Parameter.empty,
        )
        for parameter in list(told.parameters.values())[skip:]
    ]
    return str(inspect.Signature(parameters))


class _Default:
    """Stands for the default of an argument, with a text that is the same on every machine."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return plain(self.value)


def plain(value: Any) -> str:
    """Return a value as text that is the same in each process and each Python.

    Examples
    --------
    >>> plain((1, None, "a")), plain(plain), plain(object())
    ("(1, None, 'a')", '<plain>', '<object>')
    """
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        base = next(kind for kind in type(value).__mro__ if kind.__module__ == "builtins")
        return repr(base(value)) if value is not None else "None"
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        inner = ", ".join(map(plain, value))
        if isinstance(value, list):
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if type(value) is dict:
        return "{" + ", ".join(f"{plain(k)}: {plain(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(plain, value))) + "}"
    return f"<{getattr(value, '__name__', type(value).__name__)}>"


def call_of(thing: Any) -> str:
    """Return the arguments that a caller can pass to a class or function; "" if unknown.

    Signatures inherited from Python's own classes are left out: they differ between versions.
    """
    try:
        if not inspect.isclass(thing):
            return arguments(inspect.signature(thing))
        if hasattr(thing, "_fields"):
            return arguments(inspect.signature(thing.__new__), skip=1)
        owner = next((c for c in thing.__mro__ if "__init__" in vars(c)), object)
        return (
            arguments(inspect.signature(vars(owner)["__init__"]), skip=1) if is_ours(owner) else ""
        )
    except (TypeError, ValueError):
        return ""


def member(owner: type, name: str) -> str | None:
    """Return the description of a class member for a fact; None for members that Python adds."""
    home = next((c for c in owner.__mro__ if name in vars(c)), None)
    if home is None:
        return "attribute"  # every instance has it
    if not is_ours(home):
        return None
    found = vars(home)[name]
    if name in SPOKEN:
        return "special method"
    if isinstance(found, (classmethod, staticmethod)):
        skip = 1 if isinstance(found, classmethod) else 0
        return f"{type(found).__name__} {arguments(inspect.signature(found.__func__), skip)}"
    if inspect.isfunction(found):
        return arguments(inspect.signature(found), skip=1)
    return "class" if inspect.isclass(found) else "attribute"


def members(owner: type) -> dict[str, str]:
    """Return the public members of a class, including inherited ones, with their descriptions."""
    names = {name for name in dir(owner) if not name.startswith("_") or name in SPOKEN}
    for home in owner.__mro__:
        if is_ours(home):
            told = vars(home).get("__annotations__", {})
            names.update(name for name in told if not name.startswith("_"))
    if dataclasses.is_dataclass(owner):
        names.update(field.name for field in dataclasses.fields(owner) if field.name[0] != "_")
    found = {name: member(owner, name) for name in sorted(names)}
    return {name: told for name, told in found.items() if told is not None}


# --- the package ----------------------------------------------------------------------------------


@cache
def public_modules() -> list[str]:
    """Return the full names of kerascope's public modules."""
    found = []
    for name in PUBLIC:
        path = f"{PACKAGE}.{name}".removesuffix(".*").rstrip(".")
        found.append(path)
        if name.endswith("*"):
            folder = import_module(path).__path__
            inner = [info.name for info in pkgutil.iter_modules(folder)]
            found += [f"{path}.{own}" for own in inner if hasattr(_module(path, own), "__all__")]
    return found


def _module(path: str, name: str) -> ModuleType:
    return import_module(f"{path}.{name}")


def names_of(module: Any) -> list[str]:
    """Return the public names of a module: its `__all__`, or the names that it defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted({name for name in listed if not name.startswith("_")})
    below = f"{module.__name__}."
    everything = {
        name: getattr(module, name) for name in dir(module)
    }  # includes names that are loaded on first use
    return sorted(
        name
        for name, value in everything.items()
        if not name.startswith("_")
        and not isinstance(value, ModuleType)
        and not is_refused(value)  # submodules are attributes after their import
        and f"{getattr(value, '__module__', '')}.".startswith(below)
    )


def is_refused(value: Any) -> bool:
    """Return whether a name of Keras raises an error with a reason in kerascope."""
    return inspect.isclass(value) and issubclass(value, Refused)


class Places:
    """Determines under which of its public names an object is described.

    It is the name with the fewest dots, preferably its `__name__`.

    Parameters
    ----------
    promised : iterable of str
        The public names in the stored list of facts. In modules without `__all__`, each of these
        names stays public as long as it can be imported, wherever it is defined now.

    Attributes
    ----------
    first : dict of int to str
        The public name at which a class, function or object is described, by its `id`.
    things : dict of str to object
        Each public name and its object. Keeping the objects alive keeps their identities valid.
    """

    def __init__(self, promised: Iterable[str] = ()) -> None:
        self.promised = frozenset(promised)
        self.things: dict[str, Any] = {}
        for path in public_modules():
            module = import_module(path)
            for name in sorted({*names_of(module), *self.promised_below(path, module)}):
                self.things[f"{path}.{name}"] = getattr(module, name)
        self.first: dict[int, str] = {}
        for place in sorted(self.things, key=lambda place: _rank(place, self.things[place])):
            if _has_identity(self.things[place]):
                self.first.setdefault(id(self.things[place]), place)

    def promised_below(self, path: str, module: Any) -> list[str]:
        """Return a module's names that the stored facts mention and that can still be imported."""
        if hasattr(module, "__all__") and not isinstance(module, StandIn):
            return []
        dotted = f"{path}."
        below = [p.removeprefix(dotted) for p in self.promised if p.startswith(dotted)]
        return [name for name in below if "." not in name and hasattr(module, name)]

    def of(self, thing: Any) -> str | None:
        """Return the public name at which an object is described; None if it has no public name."""
        return self.first.get(id(thing)) if _has_identity(thing) else None


def _rank(place: str, thing: Any) -> tuple[int, bool, bool, str]:
    """Return the key that sorts the public names of an object; it is described at the first."""
    module, _, name = place.rpartition(".")
    own, home = (getattr(thing, key, "") for key in ("__name__", "__module__"))
    return place.count("."), name != own, module != home, place


def _has_identity(thing: Any) -> bool:
    """Return whether an object is identified by its `id`, unlike numbers, texts and containers."""
    return not isinstance(thing, (str, int, float, tuple, list, dict, frozenset, type(None)))


def package_facts(places: Places) -> Iterator[str]:
    """Yield a fact for each public name below `kerascope`."""
    for place, thing in places.things.items():
        first = places.of(thing) or place
        if first != place:
            yield f"name {place} = {first}"
        elif isinstance(thing, ModuleType):
            yield f"name {place}: module"
        elif inspect.isclass(thing):
            yield from _class_facts(place, thing, places)
        elif callable(thing):
            yield f"name {place}: function {call_of(thing)}".rstrip()
        elif is_ours(type(thing)):
            yield f"name {place}: object of {type(thing).__name__}"
        else:
            yield f"name {place}: value, {type(thing).__name__}"


def refusal_facts() -> Iterator[str]:
    """Yield a fact for each name of Keras that raises an error with a reason in kerascope."""
    yield from (f"refused {module}.{name}" for module, names in REFUSALS.items() for name in names)


def _class_facts(place: str, thing: type, places: Places) -> Iterator[str]:
    """Yield the facts of a class: its arguments, its public bases, and the members that it adds."""
    yield f"name {place}: class {call_of(thing)}".rstrip()
    above = [c for c in thing.__mro__[1:] if places.of(c) or c.__module__ == "builtins"]
    for base in above:
        if base is not object and not any(issubclass(c, base) for c in above if c is not base):
            yield f"name {place} is a {places.of(base) or base.__name__}"
    nearest = next((c for c in above if places.of(c)), None)
    inherited = members(nearest) if nearest is not None else {}
    for name, told in members(thing).items():
        if inherited.get(name) != told:
            yield f"name {place}.{name}: {told}"


def keras_facts(places: Places) -> Iterator[str]:
    """Yield the facts about the names that `import keras` offers, at each path of Keras.

    A path that offers a whole public module is one fact.
    """
    for root, start in ROOTS.items():
        yield f"import {root}: Keras begins at {f'{root}.{start}'.rstrip('.')}"
    ours = (name.removeprefix(f"{PACKAGE}.") for name in public_modules()[1:])
    paths = {"", *MOVED, *(path for path in ours if path.split(".")[0] not in OURS_ALONE)}
    modules: dict[str, dict[str, Any]] = {}
    for place, thing in places.things.items():
        path, _, name = place.rpartition(".")
        modules.setdefault(path, {})[name] = thing
    with keras_imports():
        for path in sorted(path for path in paths if sources_of(path)):
            module = import_module(f"keras.{path}".rstrip("."))
            yield from _stand_in_facts(module, modules, places)


def _stand_in_facts(
    module: ModuleType, modules: dict[str, dict[str, Any]], places: Places
) -> Iterator[str]:
    here = {name: getattr(module, name) for name in _names_at(module, places)}
    rest = set(here)
    for path, own in modules.items():
        whole = len(own) > 1 and all(
            name in here and (here[name] is own[name] or isinstance(own[name], ModuleType))
            for name in own
        )
        if whole and set(own) & rest:
            yield f"import {module.__name__}: all of {path}"
            rest -= set(own)
    for name in sorted(rest):
        thing, place = here[name], f"{module.__name__}.{name}"
        if isinstance(thing, ModuleType) or is_refused(thing):
            continue  # refused names and submodules have facts of their own
        if places.of(thing):
            yield f"import {place} = {places.of(thing)}"
        elif is_ours(thing) and callable(thing):
            kind = "class" if inspect.isclass(thing) else "function"
            yield f"import {place}: {kind} {call_of(thing)}".rstrip()
    version = getattr(module, "__version__", None) if module.__name__ == "keras" else None
    if version is not None:
        yield f"import keras.__version__ = {version!r}"


def _names_at(module: ModuleType, places: Places) -> set[str]:
    """Return the public names at a path of Keras, without those that kerascope only imports.

    These are the public names of the modules at the path, the names of Keras 2.2.4 at this path,
    and the names that the stored facts mention at this path.
    """
    path = module.__name__.removeprefix("keras").lstrip(".")
    names = {
        name
        for source in map(import_source, sources_of(path))
        if hasattr(source, "__all__") or source.__name__ in public_modules()
        for name in names_of(source)
    }
    names.update(places.promised_below(module.__name__, module))
    return names | {
        name for name in keras_2_names().get(module.__name__, ()) if name in dir(module)
    }


@cache
def keras_2_names() -> dict[str, list[str]]:
    """Return the names of Keras 2.2.4's functions and classes, by module."""
    found: dict[str, list[str]] = {}
    module = ""
    for line in (ROOT / "tests" / "keras-names.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            module = line.removeprefix("## ").strip()
        elif word := re.match(r"(?:class )?(\w+)", line):
            found.setdefault(module, []).append(word[1])
    return found


# --- paths that are printed -----------------------------------------------------------------------

_IMPORT = re.compile(
    r"^[>. ]*(?:from (kerascope[\w.]*) import (\([\w\s,]*\)|[\w ,]+)|import (kerascope[\w.]+))",
    re.MULTILINE,
)


def printed_paths() -> set[str]:
    """Return the names that a lesson, an example or a page imports, such as "trace: walk"."""
    files = [ROOT / "README.md"]
    for folder in ("tutorials", "examples", "docs"):
        files += [p for p in (ROOT / folder).rglob("*") if p.suffix in (".md", ".py")]
    found = set()
    for path in files:
        for module, names, alone in _IMPORT.findall(path.read_text(encoding="utf-8")):
            if alone:
                found.add(alone)
            for word in names.strip("()").split(","):
                name = word.split(" as ")[0].strip()
                if name.isidentifier():
                    found.add(f"{module}: {name}")
    return found


def path_facts(stored: Iterable[str]) -> Iterator[str]:
    """Yield a fact for each existing name that documents import, or imported in the past."""
    for path in sorted({*printed_paths(), *stored}):
        module, _, name = path.partition(": ")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an old path may warn
            try:
                found = import_module(module)
                if name and not hasattr(found, name):
                    import_module(f"{module}.{name}")
            except (ImportError, AttributeError):
                continue
        yield f"path {path}"


# --- what differs by dialect ----------------------------------------------------------------------


def marked_by_dialect(told: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Yield the facts of all dialects. A fact that is not true in all is marked with its dialects.

    Examples
    --------
    >>> sorted(marked_by_dialect({"1.2": ["a", "b"], "3": ["b"]}))
    ['[1.2] a', 'b']
    """
    speakers: dict[str, list[str]] = {}
    for dialect, facts in told.items():
        for fact in dict.fromkeys(facts):
            speakers.setdefault(fact, []).append(dialect)
    for fact, dialects in speakers.items():
        yield fact if len(dialects) == len(told) else f"[{' '.join(dialects)}] {fact}"
