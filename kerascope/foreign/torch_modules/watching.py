"""Record every module that a script calls: `kerascope run --live`.

The modules are not known in advance. A module with parameters is registered when it is first called
from outside all registered modules. Its name is the name of its class, as in "Net.fc1". So the two
networks of a GAN have different names, and all modules of a loop are in one record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from kerascope.errors import ArgumentError
from kerascope.foreign.torch_modules.boxes import is_of_torch
from kerascope.foreign.torch_modules.training import TorchTraining
from kerascope.user_frames import warn

MOST_AT_ONCE = 32  # recorded modules; above it all are released


class WatchedTraining(TorchTraining):
    """Records a user's training loop, whose modules are registered when they are first called.

    Parameters
    ----------
    writer : TapeWriter
    check : callable
        Raises an ArgumentError if a module cannot be recorded.
    """

    def __init__(self, writer: Any, check: Callable[[Any], None]) -> None:
        super().__init__(nn.Module(), writer)
        self._check = check
        self._names: Counter[str] = Counter()
        self._roots: dict[int, nn.Module] = {}
        self._unrecordable: dict[int, nn.Module] = {}  # kept alive, so that ids stay unique

    def register(self, module: nn.Module) -> None:
        """Register a module on its first external call."""
        number = id(module)
        if number in self._modules or number in self._unrecordable or self._stack or self._inside:
            return
        if any(cls.__module__.startswith("keras.") for cls in type(module).__mro__):
            return  # the adapter of Keras records it
        if next(module.parameters(), None) is None:
            return  # a loss: its functions are recorded
        try:
            self._check(module)
        except ArgumentError as error:
            self._unrecordable.update((id(one), one) for one in module.modules())
            warn(f"not recorded: {error}")
            return
        if len(self._roots) >= MOST_AT_ONCE:
            self._forget_modules()
        name = type(module).__name__
        self._names[name] += 1
        if self._names[name] > 1:
            name = f"{name}_{self._names[name]}"
        self._roots[number] = module
        for path, one in module.named_modules(prefix=name):
            if id(one) not in self._modules:
                self.observe(path, one)
        self.register_names(module, name)

    def subjects(self) -> Iterator[tuple[str, nn.Module]]:
        """Yield the name and the module of each registered module."""
        for number, root in self._roots.items():
            yield self._modules[number][0], root

    def _forget_modules(self) -> None:
        """Release all modules, because a script may create hundreds, which would stay in memory."""
        self.remove_hooks()
        self.forget()
        known: tuple[Any, ...] = (
            *(self._roots, self._modules, self._paths, self._weights, self._held),
            *(
                self._settings,
                self._boxes,
                self._replaced,
                self._parameters,
                self._named,
                self._optimizers,
            ),
        )
        for names in known:
            names.clear()

    def _is_one_box(self, module: nn.Module) -> bool:
        is_root = id(module) in self._roots
        return super()._is_one_box(module) and (not is_root or is_of_torch(module))


@contextmanager
def registering_modules(watched: WatchedTraining) -> Iterator[None]:
    """Register each module that is called in a `with` block."""
    plain = nn.Module.__call__

    def call(module: nn.Module, *args: Any, **keywords: Any) -> Any:
        watched.register(module)
        return plain(module, *args, **keywords)

    nn.Module.__call__ = call  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module.__call__ = plain  # type: ignore[method-assign]
