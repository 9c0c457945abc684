"""Limits on the memory and time of a model that is built from a file's configuration.

A text of a few hundred bytes can request a layer of 10^9 units, a recurrence unrolled over millions
of steps, or a factorization that takes hours. So a `Budget` is active while a model is built from a
configuration (JSON, YAML, `.keras`, `.h5`). Weights, states, factorizations, layers, calls and ops
are counted before they are created. Models built by your own code, and their copies, are not
counted.

To remove the limits, use `load_model(path, limits=None)` or `kerascope draw --no-limits`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from kerascope.errors import ConfigError

HOW_TO_LIFT = "If you trust the file, remove the limits: limits=None, or --no-limits."
GREATEST_NUMBER = 2**63
LAYER_COST = 4  # in parts: an object of some KB
CALL_COST = 4  # in parts: a call takes the time of some ops, in addition to the ops that it makes


@dataclass(frozen=True)
class Limits:
    """The greatest counts that are allowed while a model is built from a configuration.

    Attributes
    ----------
    numbers : int
        Entries in all weights and states, if their values are not read from the same file.
    spare : int
        Entries in weights and states beyond the number that the file contains.
    constants : int
        Entries of arrays computed for ops, such as the matrices of Resizing.
    products : int
        Multiplications in factorizations (the initializer Orthogonal).
    parts : int
        Ops of the graph. A layer counts as four ops, and so does each call of a layer.
    values : int
        Numbers, strings, lists and dicts in the configuration itself.

    Examples
    --------
    >>> Limits(numbers=10**9).numbers
    1000000000
    """

    numbers: int = 2**28  # VGG19 has half of this number
    spare: int = 1_000_000
    constants: int = 2**26
    products: int = 10**11
    parts: int = 50_000  # ResNet152 makes 7,000
    values: int = 400_000  # ResNet152 has 50,000


USUAL = Limits()


class Budget:
    """The remaining limits while one model is built.

    Parameters
    ----------
    limits : Limits or None
        With None, nothing is limited.
    where : str
        The name of the source in errors.
    in_file : callable, optional
        Given if the weights are read from a file next, so that initial values can be zeros. It
        returns the number of elements of all weights in this file, and is called only if the model
        has more than `limits.spare`.
    """

    _deferred: Budget | None = None

    def __init__(
        self, limits: Limits | None, where: str, in_file: Callable[[], int] | None = None
    ) -> None:
        self.limits = limits
        self.where = where
        self.in_file = in_file
        self._counted: int | None = None
        if limits is not None:
            self.numbers = limits.numbers if in_file is None else limits.spare
            self.constants = limits.constants
            self.products, self.parts = limits.products, limits.parts

    @property
    def weights_are_read_next(self) -> bool:
        """Whether the weights are read from a file next, so that initial values do not matter."""
        return self.in_file is not None

    @property
    def is_spent(self) -> bool:
        """Whether a limit of this budget was exceeded."""
        return self.limits is not None and any(
            left < 0 for left in (self.numbers, self.constants, self.products, self.parts)
        )

    @property
    def deferred(self) -> Budget:
        """The budget of layers whose weights are made later, when their input shape is known."""
        if self._deferred is None:
            self._deferred = Budget(self.limits, self.where)
        return self._deferred

    def take_numbers(self, shape: Sequence[Any], what: str) -> None:
        """Subtract the number of elements of a weight or state from the budget.

        Raises
        ------
        ConfigError
            If the limit is exceeded.
        """
        if self.limits is None or not all(isinstance(size, int) for size in shape):
            return
        self.numbers -= max(math.prod(shape), 0)
        if self.numbers < 0 and self.in_file is not None and self._counted is None:
            self._counted = self.in_file()
            self.numbers += self._counted
        if self.numbers >= 0:
            return
        why = (
            f"all weights together may have {self.limits.numbers:,} numbers in a model from a text"
        )
        if self._counted is not None:
            why = f"its weights are only {self._counted} numbers; the two do not belong together"
        raise self._too_large(what, shape, why)

    def take_constant(self, shape: Sequence[int], what: str) -> None:
        """Subtract the size of an array that building an op computes, such as Resizing's matrices.

        The size is the number of elements; the limit `constants` is one for the sum of these sizes.

        Raises
        ------
        ConfigError
            If the limit is exceeded.
        """
        if self.limits is None:
            return
        self.constants -= math.prod(shape)
        if self.constants < 0:
            why = f"all constants together may have {self.limits.constants:,} numbers"
            raise self._too_large(what, shape, why)

    def take_factorization(self, rows: int, columns: int) -> None:
        """Subtract from the budget the number of multiplications of a matrix's QR decomposition.

        Raises
        ------
        ConfigError
            If the limit is exceeded.
        """
        if self.limits is None:
            return
        self.products -= rows * columns * min(rows, columns)
        if self.products < 0:
            why = f"all of them may take {self.limits.products:,} multiplications"
            raise self._too_large("an orthogonal matrix", (rows, columns), why)

    def take_parts(self, number: int, what: str) -> None:
        """Subtract layers, calls or ops from the budget, as counted in `Limits.parts`.

        Raises
        ------
        ConfigError
            If the limit is exceeded.
        """
        if self.limits is None:
            return
        self.parts -= number
        if self.parts < 0:
            raise self._of_too_many_parts(what)

    def check_parts(self, number: int, what: str) -> None:
        """Raise if the budget is too small for `number` more ops, before they are created.

        Raises
        ------
        ConfigError
            If the limit is exceeded.
        """
        if self.limits is not None and self.parts < number:
            raise self._of_too_many_parts(what)

    def _too_large(self, what: str, shape: Sequence[Any], why: str) -> ConfigError:
        asked = f"{self.where}: its configuration asks for {what} of shape {in_words(shape)}"
        return ConfigError(f"{asked}, but {why}. {HOW_TO_LIFT}")

    def _of_too_many_parts(self, what: str) -> ConfigError:
        assert self.limits is not None
        return ConfigError(
            f"{self.where}: its configuration makes a graph of more than "
            f"{self.limits.parts:,} ops, layers and calls ({what}). {HOW_TO_LIFT}"
        )


_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)

current_budget = _budget.get  # the active budget; usually None


def count_op(op: Any) -> None:
    """Subtract a new op from the budget for building models, if a budget is active.

    Raises
    ------
    ConfigError
        If the graph has too many ops.
    """
    budget = current_budget()
    if budget is not None:
        budget.take_parts(1, f"at op {op.name}")


@contextmanager
def building(budget: Budget | None) -> Iterator[None]:
    """Let the models created inside the `with` block use this budget; None keeps the active one."""
    if budget is None:
        yield
        return
    token = _budget.set(budget)
    try:
        yield
    finally:
        _budget.reset(token)


def in_words(shape: Sequence[int]) -> str:
    """Return a shape as text, with very large numbers rounded.

    Examples
    --------
    >>> in_words((3, 10**400))
    '(3, about 10^400)'
    """
    sizes = [f"about 10^{len(str(n)) - 1}" if abs(n) > GREATEST_NUMBER else str(n) for n in shape]
    return f"({', '.join(sizes)}{',' if len(sizes) == 1 else ''})"
