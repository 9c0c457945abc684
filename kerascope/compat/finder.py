"""`import keras`: the finder that resolves a script's imports, and the modules that it hands out.

A `StandIn` is a module without a file: it has a path of Keras and the names of kerascope. Python
calls the finders in `sys.meta_path` in order until one finds the module. Two of them are here:

- Inside a `keras_imports()` block the first finder is for `keras`, `tensorflow.keras` and
  `tf_keras`. An installed Keras is not changed: its modules are removed from `sys.modules` for the
  time of the block and then restored.
- The last finder is always that for `kerascope` itself: older paths of Keras
  (`kerascope.objectives`), names that are not implemented, and misspelt names.

Both read the table in `paths`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from kerascope.compat.paths import (
    FUNCTIONS_OF_KERAS_1,
    MOVED,
    MOVED_INSIDE,
    PACKAGE,
    ROOTS,
    known_paths,
    opened,
    sources_of,
)
from kerascope.errors import RefusedAttributeError, RefusedImportError
from kerascope.missing_names import error_for, names_in_rows, out_of_scope
from kerascope.registry import did_you_mean
from kerascope.settings import config
from kerascope.user_frames import warn

# --- a module that has no file --------------------------------------------------------------------


_MISSING = object()


class StandIn(ModuleType):
    """The module `keras.layers`, say, whose names are those of `kerascope.layers`.

    Parameters
    ----------
    name : str
        Full name that the script imports.
    path : str
        The same without its root; see `paths`.
    child : callable
        Returns the stand-in of a path below.
    """

    _path: str

    def __init__(self, name: str, path: str, child: Callable[[str], StandIn]) -> None:
        listed = ", ".join(sources_of(path))
        super().__init__(name, f"{name}, as kerascope has it: the names of {listed}.")
        vars(self)["_path"] = path
        self.__path__: list[str] = []  # so that Python asks the finder about what is below
        self._child = child

    @property
    def _sources(self) -> list[Any]:
        return [opened(source) for source in sources_of(self._path)]

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return self.__dir__()
        is_special = name.startswith("__") and name != "__version__"
        value = _MISSING if is_special else self._found(name)
        if value is _MISSING:
            raise missing(self.__name__, self._path, name, self.__dir__())
        if name != "__version__" and self._path_of(name) not in FUNCTIONS_OF_KERAS_1:
            vars(self)[name] = value
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # Python gives each module that it imports to the package, in place of a function, too.
        if not (isinstance(value, StandIn) and self._path_of(name) in FUNCTIONS_OF_KERAS_1):
            super().__setattr__(name, value)

    def _path_of(self, name: str) -> str:
        return f"{self._path}.{name}".lstrip(".")

    def _found(self, name: str) -> Any:
        path = self._path_of(name)
        if path in FUNCTIONS_OF_KERAS_1 and config.dialect == "1.2":
            return getattr(import_module(f"{PACKAGE}.{FUNCTIONS_OF_KERAS_1[path]}"), name)
        if path in MOVED and sources_of(path):  # the table wins: `keras.config` is a module
            return self._child(path)
        for source in self._sources:
            value = getattr(source, name, _MISSING)
            if isinstance(value, ModuleType) and value.__name__.startswith(PACKAGE):
                return self._child(path) if sources_of(path) else value
            if value is not _MISSING:
                return value
        return self._child(path) if sources_of(path) else _MISSING

    def __dir__(self) -> list[str]:
        """Return the public names of the modules that this one combines."""
        names: set[str] = set()
        for source in self._sources:
            listed = getattr(source, "__all__", None)
            names.update(name for name in listed or vars(source) if not name.startswith("_"))
            names.update(vars(source).get("_later", ()))
        return sorted(names)


class CallableStandIn(StandIn):
    """A stand-in for a module that can be called: `keras.layers.merge`, in Keras 1 a function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module behind it."""
        source: Any = self._sources[0]
        return source(*args, **kwargs)


def stand_in(name: str, path: str, child: Callable[[str], StandIn]) -> StandIn:
    """Return a new stand-in; a callable one where our module can be called."""
    first = opened(sources_of(path)[0])
    return (CallableStandIn if callable(first) else StandIn)(name, path, child)


def missing(full_name: str, path: str, name: str, known: list[str]) -> AttributeError:
    """Return the error for a name that a module of Keras does not have here."""
    error = error_for(f"{PACKAGE}.{path}".rstrip("."), name)
    if not isinstance(error, AttributeError):
        hint = "" if name.startswith("_") else nearest(path, name, known)
        error = AttributeError(f"module {full_name!r} has no attribute {name!r}. {hint}".rstrip())
    # With an object Python would add a second "Did you mean" of its own to the traceback.
    error.name, error.obj = name, None
    return error


def nearest(path: str, name: str, known: list[str]) -> str:
    """Return "Did you mean 'layers'? " for a near miss of a name or module, else nothing."""
    start = f"{path}." if path else ""
    below = [p.removeprefix(start) for p in known_paths() if p.startswith(start)]
    later = names_in_rows(f"{PACKAGE}.{path}".rstrip("."))
    return did_you_mean(name, [*known, *later, *(p for p in below if "." not in p)])


def forget(names: list[str]) -> dict[str, ModuleType]:
    """Take modules out of `sys.modules` and return them."""
    return {name: sys.modules.pop(name) for name in names}


# --- the finder -----------------------------------------------------------------------------------


class KerasFinder:
    """Finds the modules of one root, and makes and remembers their stand-ins.

    Parameters
    ----------
    root : str
        Such as "keras".
    start : str
        The path below the root where Keras begins: "keras" for `tensorflow.keras`.
    """

    def __init__(self, root: str, start: str = "") -> None:
        self.root = root
        self.start = start
        self._modules: dict[str, StandIn] = {}

    def full_name(self, path: str) -> str:
        """Return the name by which a script imports a path."""
        return ".".join(part for part in (self.root, self.start, path) if part)

    def path_of(self, full_name: str) -> str | None:
        """Return the path of a module's name; None if it is not below the root."""
        name = f"{full_name}."
        if name.startswith(f"{self.root}.python.{self.start}.") and self.start:
            name = name.replace(".python.", ".", 1)
        start = f"{self.full_name('')}."
        return name.removeprefix(start).rstrip(".") if name.startswith(start) else None

    def module(self, path: str) -> StandIn:
        """Return the stand-in at a path."""
        if path not in self._modules:
            self._modules[path] = stand_in(self.full_name(path), path, self.module)
        return self._modules[path]

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return what Python needs to import a module; None if it is not ours to answer for.

        Raises
        ------
        NotYetImportError, RefusedImportError
            Keras has such a module or name, we do not.
        ModuleNotFoundError
            It looks like a slip of the keyboard; the message has the nearest name.
        """
        ours = self.path_of(fullname)
        if ours is None or (self.root == PACKAGE and ours == "config"):  # there it is an object
            return None
        if self.root == PACKAGE and ours in MOVED_INSIDE:
            warn(
                f"{fullname} is {' and '.join(sources_of(ours))} now; the old path ends with the "
                "next edition.",
                DeprecationWarning,
            )
        if sources_of(ours):
            loader: Any = self  # no importlib.abc.Loader: that takes long to import
            return ModuleSpec(fullname, loader, is_package=True)
        package, _, name = ours.rpartition(".")
        error = error_for(f"{PACKAGE}.{package}".rstrip("."), name, is_import=True)
        if error is not None:
            raise error
        self._say_what_was_meant(fullname, package, name)
        return None

    def _say_what_was_meant(self, fullname: str, package: str, name: str) -> None:
        parent = fullname.rpartition(".")[0]
        known = list(getattr(sys.modules.get(parent), "__all__", []))
        if name in known:
            if _is_module(name, parent):
                return
            hint = f"Write: from {parent} import {name}."
            raise ModuleNotFoundError(f"{name!r} in {parent} is not a module. {hint}")
        hint = nearest(package, name, known)
        if hint:
            # With a name, `from keras import ...` would put Python's own words in place of these.
            raise ModuleNotFoundError(f"there is no {name!r} in {parent}. {hint}".rstrip())

    def create_module(self, spec: ModuleSpec) -> StandIn:
        """Return the stand-in of a spec: the part of a loader that makes the module."""
        return self.module(self.path_of(spec.name) or "")

    def exec_module(self, module: StandIn) -> None:
        """Make sure that a package keeps its own object with the name of an old path.

        A stand-in needs nothing more: it looks up its names when they are used.
        """
        package, _, name = module.__name__.rpartition(".")
        parent = sys.modules.get(package)
        if type(parent) is ModuleType and name in vars(parent):
            parent.__class__ = _KeepsItsNames


class _KeepsItsNames(ModuleType):
    """A package that has a name like one of its old modules: `optimizers.sgd` is a class.

    Python gives each module that it imports to the package, under the module's name.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, StandIn) and name in vars(self)):
            super().__setattr__(name, value)


def _is_module(name: str, parent: str) -> bool:
    """Return whether a name that Python did not find here is a module nevertheless."""
    folders = getattr(sys.modules.get(parent), "__path__", [])
    return PathFinder.find_spec(f"{parent}.{name}", folders) is not None


class TensorFlowFinder(KerasFinder):
    """Finds `tensorflow.keras`, and says of all other names that there is no TensorFlow."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return what Python needs to import `tensorflow` or a module of `tensorflow.keras`.

        Raises
        ------
        RefusedImportError
            It is another part of TensorFlow.
        """
        if fullname in (self.root, f"{self.root}.python"):
            loader: Any = self
            return ModuleSpec(fullname, loader, is_package=True)
        if fullname.startswith(f"{self.root}.") and self.path_of(fullname) is None:
            raise RefusedImportError(no_tensorflow(fullname))
        return super().find_spec(fullname, path, target)

    def create_module(self, spec: ModuleSpec) -> StandIn:
        """Return a stand-in; that of `tensorflow` itself has nothing but `keras`."""
        if self.path_of(spec.name) is None:
            module: Any = _TensorFlow(spec.name, self)
            return module
        return super().create_module(spec)


class _TensorFlow(type(sys)):  # type: ignore[misc]
    """`import tensorflow`: has `keras`, and nothing else."""

    def __init__(self, name: str, finder: KerasFinder) -> None:
        super().__init__(name, "TensorFlow's door to Keras; there is no TensorFlow behind it.")
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        if name == "keras":
            return self._finder.module("")
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        raise RefusedAttributeError(no_tensorflow(f"{self.__name__}.{name}"))


def no_tensorflow(name: str) -> str:
    """Return what to say of a name of TensorFlow."""
    return (
        f"{name}: there is no TensorFlow here; kerascope supplies tensorflow.keras alone. "
        f"kerascope.backend (keras.backend) has functions on tensors, NumPy those on arrays."
        f"{' ' + out_of_scope('GradientTape') if name.endswith('GradientTape') else ''}"
    )


@contextmanager
def keras_imports() -> Iterator[None]:
    """Make `import keras` and `from tensorflow import keras` import kerascope in the `with` block.

    Modules that the block imported still work after it. A real Keras, installed or imported before,
    is the same before and after the block.

    Examples
    --------
    >>> from kerascope.compat import keras_imports
    >>> with keras_imports():
    ...     from keras.layers import Dense
    ...     from keras.engine.topology import Node
    >>> Dense.__module__
    'kerascope.layers.core'
    """
    finders, hidden = _put_first()
    try:
        yield
    finally:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in finders]
        forget(_modules_of_roots())
        sys.modules.update(hidden)


def keras_imports_for_good() -> None:
    """Make `import keras` import kerascope until the end of the process."""
    _put_first()


def _put_first() -> tuple[list[Any], dict[str, ModuleType]]:
    """Put our finders before all others; return them, and the modules that they hide."""
    finders: list[Any] = [
        (TensorFlowFinder if start else KerasFinder)(root, start) for root, start in ROOTS.items()
    ]
    hidden = forget(_modules_of_roots())
    sys.meta_path[:0] = finders
    return finders, hidden


def _modules_of_roots() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] in ROOTS]


def find_old_modules() -> None:
    """Install the finder for older paths of Keras, and missing modules, below `kerascope`."""
    if not any(getattr(finder, "root", None) == PACKAGE for finder in sys.meta_path):
        finder: Any = KerasFinder(PACKAGE)
        sys.meta_path.append(finder)
