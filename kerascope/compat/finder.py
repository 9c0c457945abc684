"""`import keras`: the finder that resolves a script's imports, and the modules that it creates.

A `StandIn` is a module without a file: it has a path of Keras and the names of kerascope. Python
calls the finders in `sys.meta_path` in order until one finds the module. This file has two finders:

- Inside a `keras_imports()` block the first finder is for `keras`, `tensorflow.keras` and
  `tf_keras`. An installed Keras is not changed: its modules are removed from `sys.modules` for the
  time of the block and then restored.
- The last finder is always the one for `kerascope` itself. It finds older paths of Keras
  (`kerascope.objectives`), and raises for names that are not implemented or misspelt.

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
    import_source,
    known_paths,
    sources_of,
)
from kerascope.errors import RefusedAttributeError, RefusedImportError
from kerascope.missing_names import error_for, names_in_rows, out_of_scope
from kerascope.registry import did_you_mean
from kerascope.settings import config
from kerascope.user_frames import warn

# --- modules without a file -----------------------------------------------------------------------


_MISSING = object()


class StandIn(ModuleType):
    """A module such as `keras.layers`, with the names of `kerascope.layers`.

    Parameters
    ----------
    name : str
        The full name that the script imports.
    path : str
        The name without its root, such as "layers.core"; see `paths`.
    child : callable
        Returns the stand-in for the path of a submodule.
    """

    _path: str

    def __init__(self, name: str, path: str, child: Callable[[str], StandIn]) -> None:
        listed = ", ".join(sources_of(path))
        super().__init__(name, f"{name}, as kerascope has it: the names of {listed}.")
        vars(self)["_path"] = path
        self.__path__: list[str] = []  # so that Python calls the finder for submodules
        self._child = child

    @property
    def _sources(self) -> list[Any]:
        return [import_source(source) for source in sources_of(self._path)]

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
        # Python sets each imported module on its package. It must not replace a function.
        if not (isinstance(value, StandIn) and self._path_of(name) in FUNCTIONS_OF_KERAS_1):
            super().__setattr__(name, value)

    def _path_of(self, name: str) -> str:
        return f"{self._path}.{name}".lstrip(".")

    def _found(self, name: str) -> Any:
        path = self._path_of(name)
        if path in FUNCTIONS_OF_KERAS_1 and config.dialect == "1.2":
            return getattr(import_module(f"{PACKAGE}.{FUNCTIONS_OF_KERAS_1[path]}"), name)
        if path in MOVED and sources_of(path):  # the table comes first: `keras.config` is a module
            return self._child(path)
        for source in self._sources:
            value = getattr(source, name, _MISSING)
            if isinstance(value, ModuleType) and value.__name__.startswith(PACKAGE):
                return self._child(path) if sources_of(path) else value
            if value is not _MISSING:
                return value
        return self._child(path) if sources_of(path) else _MISSING

    def __dir__(self) -> list[str]:
        """Return the public names of the kerascope modules that this module combines."""
        names: set[str] = set()
        for source in self._sources:
            listed = getattr(source, "__all__", None)
            names.update(name for name in listed or vars(source) if not name.startswith("_"))
            names.update(vars(source).get("_later", ()))
        return sorted(names)


class CallableStandIn(StandIn):
    """A module that can also be called: `keras.layers.merge`, which is a function in Keras 1."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the kerascope object that this module represents."""
        return self._sources[0](*args, **kwargs)


def stand_in(name: str, path: str, child: Callable[[str], StandIn]) -> StandIn:
    """Create the module that a script gets for a path of Keras, such as "layers".

    The module is callable if the kerascope object with this path is callable.
    """
    first = import_source(sources_of(path)[0])
    return (CallableStandIn if callable(first) else StandIn)(name, path, child)


def missing(full_name: str, path: str, name: str, known: list[str]) -> AttributeError:
    """Return the AttributeError for a name that the module for a path of Keras does not have."""
    error = error_for(f"{PACKAGE}.{path}".rstrip("."), name)
    if not isinstance(error, AttributeError):
        hint = "" if name.startswith("_") else nearest(path, name, known)
        error = AttributeError(f"module {full_name!r} has no attribute {name!r}. {hint}".rstrip())
    # With an object Python would add a second "Did you mean" of its own to the traceback.
    error.name, error.obj = name, None
    return error


def nearest(path: str, name: str, known: list[str]) -> str:
    """Return "Did you mean 'layers'? " if a similar name or module exists, otherwise ""."""
    start = f"{path}." if path else ""
    below = [p.removeprefix(start) for p in known_paths() if p.startswith(start)]
    later = names_in_rows(f"{PACKAGE}.{path}".rstrip("."))
    return did_you_mean(name, [*known, *later, *(p for p in below if "." not in p)])


def unload(names: list[str]) -> dict[str, ModuleType]:
    """Remove modules from `sys.modules` and return them."""
    return {name: sys.modules.pop(name) for name in names}


# --- the finder -----------------------------------------------------------------------------------


class KerasFinder:
    """An import finder that creates and caches the modules (`StandIn`) of one root package.

    Parameters
    ----------
    root : str
        The root package, such as "keras".
    start : str
        The path of Keras inside the root: "keras" for `tensorflow.keras`.
    """

    def __init__(self, root: str, start: str = "") -> None:
        self.root = root
        self.start = start
        self._modules: dict[str, StandIn] = {}

    def full_name(self, path: str) -> str:
        """Return the full module name under which a script imports a path of Keras."""
        return ".".join(part for part in (self.root, self.start, path) if part)

    def path_of(self, full_name: str) -> str | None:
        """Return the path of Keras in a full module name; None for a module outside of the root."""
        name = f"{full_name}."
        if name.startswith(f"{self.root}.python.{self.start}.") and self.start:
            name = name.replace(".python.", ".", 1)
        start = f"{self.full_name('')}."
        return name.removeprefix(start).rstrip(".") if name.startswith(start) else None

    def module(self, path: str) -> StandIn:
        """Return the module for a path of Keras, such as "layers"; create it at the first call."""
        if path not in self._modules:
            self._modules[path] = stand_in(self.full_name(path), path, self.module)
        return self._modules[path]

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec to import a module, or None if another finder must find it.

        Raises
        ------
        NotYetImportError, RefusedImportError
            Keras has this module or name, but kerascope does not have it.
        ModuleNotFoundError
            The name looks misspelt; the message has the nearest name.
        """
        ours = self.path_of(fullname)
        if ours is None or (self.root == PACKAGE and ours == "config"):  # an object here
            return None
        if self.root == PACKAGE and ours in MOVED_INSIDE:
            warn(
                f"{fullname} is an old path, which the next version removes. "
                f"Use {' and '.join(sources_of(ours))}.",
                DeprecationWarning,
            )
        if sources_of(ours):
            loader: Any = self  # not an importlib.abc.Loader, which is slow to import
            return ModuleSpec(fullname, loader, is_package=True)
        package, _, name = ours.rpartition(".")
        error = error_for(f"{PACKAGE}.{package}".rstrip("."), name, is_import=True)
        if error is not None:
            raise error
        self._raise_if_misspelt(fullname, package, name)
        return None

    def _raise_if_misspelt(self, fullname: str, package: str, name: str) -> None:
        parent = fullname.rpartition(".")[0]
        known = list(getattr(sys.modules.get(parent), "__all__", []))
        if name in known:
            if _is_module(name, parent):
                return
            hint = f"Write: from {parent} import {name}."
            raise ModuleNotFoundError(f"{name!r} in {parent} is not a module. {hint}")
        hint = nearest(package, name, known)
        if hint:
            # With a `name`, `from keras import ...` would replace this message by Python's own.
            raise ModuleNotFoundError(f"{parent} has no module or name {name!r}. {hint}".rstrip())

    def create_module(self, spec: ModuleSpec) -> StandIn:
        """Return the module for a spec. Python calls this method when it imports the module."""
        return self.module(self.path_of(spec.name) or "")

    def exec_module(self, module: StandIn) -> None:
        """Protect a package's own object that has the same name as the imported module.

        Nothing else is executed, because the imported module looks up its names when they are used.
        """
        package, _, name = module.__name__.rpartition(".")
        parent = sys.modules.get(package)
        if type(parent) is ModuleType and name in vars(parent):
            parent.__class__ = _ProtectedPackage


class _ProtectedPackage(ModuleType):
    """A package that keeps an object with the name of an old module: `optimizers.sgd` is a class.

    For an ordinary module, Python would replace the object by the imported module.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, StandIn) and name in vars(self)):
            super().__setattr__(name, value)


def _is_module(name: str, parent: str) -> bool:
    """Return whether a file for this module exists in the folders of its parent package."""
    folders = getattr(sys.modules.get(parent), "__path__", [])
    return PathFinder.find_spec(f"{parent}.{name}", folders) is not None


class TensorFlowFinder(KerasFinder):
    """A finder for `tensorflow.keras` that raises for all other names of TensorFlow."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec to import `tensorflow` or a module of `tensorflow.keras`.

        Raises
        ------
        RefusedImportError
            The module is another part of TensorFlow.
        """
        if fullname in (self.root, f"{self.root}.python"):
            loader: Any = self
            return ModuleSpec(fullname, loader, is_package=True)
        if fullname.startswith(f"{self.root}.") and self.path_of(fullname) is None:
            raise RefusedImportError(no_tensorflow(fullname))
        return super().find_spec(fullname, path, target)

    def create_module(self, spec: ModuleSpec) -> StandIn:
        """Return the module for a spec. The module for `tensorflow` has only `keras`."""
        if self.path_of(spec.name) is None:
            return _TensorFlow(spec.name, self)
        return super().create_module(spec)


class _TensorFlow(type(sys)):  # type: ignore[misc]
    """The module that `import tensorflow` returns. Its only public name is `keras`."""

    def __init__(self, name: str, finder: KerasFinder) -> None:
        super().__init__(name, "Contains tensorflow.keras only; TensorFlow itself is not here.")
        self._finder = finder

    def __getattr__(self, name: str) -> Any:
        if name == "keras":
            return self._finder.module("")
        if name.startswith("__") and name != "__version__":
            raise AttributeError(f"{self.__name__} has no attribute {name!r}. Use its keras.")
        raise RefusedAttributeError(no_tensorflow(f"{self.__name__}.{name}"))


def no_tensorflow(name: str) -> str:
    """Return the error message for a name of TensorFlow that is not in `tensorflow.keras`."""
    return (
        f"{name}: TensorFlow is not here; kerascope supplies only tensorflow.keras. "
        f"Use kerascope.backend (keras.backend) for tensors, and NumPy for arrays."
        f"{' ' + out_of_scope('GradientTape') if name.endswith('GradientTape') else ''}"
    )


@contextmanager
def keras_imports() -> Iterator[None]:
    """Make `import keras` and `from tensorflow import keras` import kerascope in the `with` block.

    Modules that the block has imported still work after the block. An installed Keras is not
    changed, even if it is already imported.

    Examples
    --------
    >>> from kerascope.compat import keras_imports
    >>> with keras_imports():
    ...     from keras.layers import Dense
    ...     from keras.engine.topology import Node
    >>> Dense.__module__
    'kerascope.layers.core'
    """
    finders, hidden = _install_finders()
    try:
        yield
    finally:
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder not in finders]
        unload(_modules_of_roots())
        sys.modules.update(hidden)


def keras_imports_for_good() -> None:
    """Make `import keras` import kerascope until the end of the process."""
    _install_finders()


def _install_finders() -> tuple[list[Any], dict[str, ModuleType]]:
    """Put kerascope's finders before all others. Return them and the modules they replace."""
    finders: list[Any] = [
        (TensorFlowFinder if start else KerasFinder)(root, start) for root, start in ROOTS.items()
    ]
    hidden = unload(_modules_of_roots())
    sys.meta_path[:0] = finders
    return finders, hidden


def _modules_of_roots() -> list[str]:
    return [name for name in sys.modules if name.partition(".")[0] in ROOTS]


def find_old_modules() -> None:
    """Install the finder that is used for old paths and missing modules inside `kerascope`."""
    if not any(getattr(finder, "root", None) == PACKAGE for finder in sys.meta_path):
        finder: Any = KerasFinder(PACKAGE)
        sys.meta_path.append(finder)
