"""`import keras`: the finder that resolves a script's imports from our own modules.

Python asks the finders in `sys.meta_path` one after the other who knows a module. Two of ours can
stand there:

- while a `keras_imports()` block runs, and first of all, one that answers for `keras`,
  `tensorflow.keras` and `tf_keras`. A real Keras is not touched: its modules leave `sys.modules`
  for the time of the block and come back;
- always, and last of all, one that answers for `kerascope` itself: Keras's older paths
  (`kerascope.objectives`), what is not here yet, and what is misspelt.

Both read the table in `paths`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from kerascope.callers import warn
from kerascope.compat.paths import MOVED_INSIDE, PACKAGE, ROOTS, sources_of
from kerascope.compat.stand_in import StandIn, forget, nearest, stand_in
from kerascope.errors import NotYetImportError, RefusedAttributeError, RefusedImportError
from kerascope.not_yet import words_for


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
        NotYetImportError
            Keras has such a module or name, we do not.
        ImportError
            It looks like a slip of the keyboard; the message has the nearest name.
        """
        ours = self.path_of(fullname)
        if ours is None or (self.root == PACKAGE and ours == "config"):  # there it is an object
            return None
        if self.root == PACKAGE and ours in MOVED_INSIDE:
            warn(
                f"{fullname} is {PACKAGE}.{MOVED_INSIDE[ours]} now; the old path ends with the "
                "next edition.",
                DeprecationWarning,
            )
        if sources_of(ours):
            loader: Any = self  # no importlib.abc.Loader: that takes long to import
            return ModuleSpec(fullname, loader, is_package=True)
        package, _, name = ours.rpartition(".")
        words = words_for(f"{PACKAGE}.{package}".rstrip("."), name)
        if words is not None:
            raise NotYetImportError(words)
        self._say_what_was_meant(fullname, package, name)
        return None

    def _say_what_was_meant(self, fullname: str, package: str, name: str) -> None:
        parent = fullname.rpartition(".")[0]
        known = list(getattr(sys.modules.get(parent), "__all__", []))
        if name in known:
            if _is_module(name, parent):
                return
            hint = f"Write: from {parent} import {name}."
            raise ImportError(f"{name!r} in {parent} is not a module. {hint}", name=fullname)
        hint = nearest(package, name, known)
        if hint:
            raise ImportError(f"there is no {name!r} in {parent}. {hint}".rstrip(), name=fullname)

    def create_module(self, spec: ModuleSpec) -> StandIn:
        """Return the stand-in of a spec: the part of a loader that makes the module."""
        return self.module(self.path_of(spec.name) or "")

    def exec_module(self, module: StandIn) -> None:
        """Let a package keep what it has under the name of an old path.

        A stand-in itself needs nothing: it looks its names up when they are asked for.
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
    """Tell whether a name that Python did not find here is a module all the same."""
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
    )


@contextmanager
def keras_imports() -> Iterator[None]:
    """Let `import keras` and `from tensorflow import keras` find kerascope inside the `with` block.

    What the block imported goes on working after it. A real Keras, installed or imported before, is
    the same before and after the block.

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
    """Let `import keras` find kerascope from now on, to the end of the process."""
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
    """Let Keras's older paths be found below `kerascope`, and missing modules say so."""
    if not any(getattr(finder, "root", None) == PACKAGE for finder in sys.meta_path):
        finder: Any = KerasFinder(PACKAGE)
        sys.meta_path.append(finder)
