"""Every module that a script calls, heard: `kerascope run --live`.

Nobody names the modules here. The first call of one that has parameters, from outside of all that
are known, makes it known; its name is that of its class: "Net.fc1". So the two networks of a GAN
are told apart, and whatever takes part in a loop is in one record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

from kerascope.callers import warn
from kerascope.errors import ArgumentError
from kerascope.foreign.torch_modules.boxes import is_of_torch
from kerascope.foreign.torch_modules.training import Training

MOST_AT_ONCE = 32  # modules that are heard; others are let go, and known again when called again


class Watched(Training):
    """Hears a loop in which modules take part that are not known beforehand.

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
        self._unheard: dict[int, nn.Module] = {}  # they are kept: an id may be given again

    def meet(self, module: nn.Module) -> None:
        """Make a module known that is called from outside for the first time."""
        number = id(module)
        if number in self._modules or number in self._unheard or self._stack or self._inside:
            return
        if any(cls.__module__.startswith("keras.") for cls in type(module).__mro__):
            return  # Keras's own adapter hears what Keras does on PyTorch
        if next(module.parameters(), None) is None:
            return  # a loss: what it does is heard as functions
        try:
            self._check(module)
        except ArgumentError as error:
            self._unheard.update((id(one), one) for one in module.modules())
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
                self.hear(path, one)
        self.know(module, name)

    def subjects(self) -> Iterator[tuple[str, nn.Module]]:
        """Yield the modules that were met, and their names."""
        for number, root in self._roots.items():
            yield self._modules[number][0], root

    def _forget_modules(self) -> None:
        """Let all modules go: a script that makes hundreds shall not keep them all alive."""
        self.let_go()
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
def all_modules_met(watched: Watched) -> Iterator[None]:
    """Let each module that is called in a `with` block be met."""
    plain = nn.Module.__call__

    def call(module: nn.Module, *args: Any, **keywords: Any) -> Any:
        watched.meet(module)
        return plain(module, *args, **keywords)

    nn.Module.__call__ = call  # type: ignore[method-assign]
    try:
        yield
    finally:
        nn.Module.__call__ = plain  # type: ignore[method-assign]
