"""The weights of a layer: made by `add_weight`, kept in two lists, read and written as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope import constraints, initializers, regularizers
from kerascope.backend.eager import graph_mode
from kerascope.backend.graph import Variable
from kerascope.backend.scopes import name_scope
from kerascope.backend.shapes import Shape
from kerascope.backend.state import batch_get_value, batch_set_value, count_params, variable
from kerascope.engine.layer_books import LayerBooks
from kerascope.engine.nesting import accepts
from kerascope.errors import ArgumentError, NotBuiltError, ShapeError
from kerascope.limits import Budget, building, current_budget
from kerascope.spellings import weight_name


class LayerWeights(LayerBooks):
    """The part of `Layer` that holds weights, its own and those of layers inside it."""

    dtype: str
    built: bool = False
    _budget: Budget | None
    _trainable_weights: list[Variable]
    _non_trainable_weights: list[Variable]

    def add_weight(
        self,
        *args: Any,
        name: str | None = None,
        shape: Any = None,
        dtype: str | None = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        constraint: Any = None,
    ) -> Variable:
        """Make a weight and enter it in the layer's books.

        Parameters
        ----------
        *args
            Name and shape, as Keras 2 orders them, or shape and initializer, as Keras 1 and 3 do.
        name : str, optional
            The weight's own word: "kernel". Its full name follows `config.dialect`:
            `dense_1/kernel`.
        shape : tuple of int
            Every size must be known.
        dtype : str, optional
            Default: the layer's.
        initializer : str, callable or object
            Default "glorot_uniform".
        regularizer : callable, optional
            Its penalty is added to the layer's losses.
        trainable : bool
            Whether training changes it.
        constraint : callable, optional
            Applied by the optimizer to each new value.
        """
        if len(args) > 2:
            raise ArgumentError(
                f"{self.label}: add_weight got {len(args)} arguments by place; expected at most 2. "
                f"Name the others: initializer=..., trainable=...",
                subject=self,
            )
        if args and isinstance(args[0], (tuple, list)):
            shape, initializer = (*args, initializer)[:2]
        elif args:
            name, shape = (*args, shape)[:2]
        if shape is None or any(size is None for size in shape):
            raise ShapeError(
                f"{self.label}: weight {name!r} has shape {shape}; expected known sizes. "
                f"Give the input's last axes a size.",
                subject=self,
            )
        word = name or f"weight_{len(self.weights) + 1}"
        dtype = dtype or self.dtype
        initializer = initializers.get(initializer or "glorot_uniform")
        value = self._first_value(initializer, tuple(shape), dtype, word)
        with graph_mode():
            weight = variable(
                value, dtype, weight_name(self.name, word), constraints.get(constraint)
            )
            if regularizer is not None:
                with name_scope("weight_regularizer"):
                    penalty: Any = regularizers.get(regularizer)
                    self.add_loss(penalty(weight))
        (self._trainable_weights if trainable else self._non_trainable_weights).append(weight)
        return weight

    def _first_value(self, initializer: Any, shape: Shape, dtype: str, word: str) -> Any:
        """Return what a weight begins with, if there is room for it: see `kerascope.limits`."""
        budget = current_budget() or self._budget
        if budget is not None:
            budget.take_numbers(shape, f"a weight {word!r} in {self.label}")
            if budget is current_budget() and budget.weights_are_read_next:
                return np.zeros(shape, dtype)
        with building(budget):
            return (
                initializer(shape, dtype=dtype)
                if accepts_dtype(initializer)
                else initializer(shape)
            )

    @property
    def trainable_weights(self) -> list[Variable]:
        """Weights that training changes; empty when the layer is frozen."""
        if not self.trainable:
            return []
        inner = [w for layer in self._sublayers for w in layer.trainable_weights]
        return _distinct([*self._trainable_weights, *inner]) if inner else self._trainable_weights

    @trainable_weights.setter
    def trainable_weights(self, weights: list[Variable]) -> None:
        self._trainable_weights = weights

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Weights that training leaves alone; all of them when the layer is frozen."""
        inner = [w for layer in self._sublayers for w in layer.non_trainable_weights]
        if not self.trainable:
            frozen = [w for layer in self._sublayers for w in layer.trainable_weights]
            return _distinct(
                [*self._trainable_weights, *frozen, *self._non_trainable_weights, *inner]
            )
        return (
            _distinct([*self._non_trainable_weights, *inner])
            if inner
            else self._non_trainable_weights
        )

    @non_trainable_weights.setter
    def non_trainable_weights(self, weights: list[Variable]) -> None:
        self._non_trainable_weights = weights

    @property
    def weights(self) -> list[Variable]:
        """All weights: the trainable ones, then the others."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    def get_weights(self) -> list[np.ndarray]:
        """Return the numbers of all weights, in the order of `weights`."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: list[Any]) -> None:
        """Replace the numbers of all weights, or raise and replace none.

        Raises
        ------
        ArgumentError
            There are too many arrays or too few.
        ShapeError
            One has another shape than its weight.
        """
        if len(weights) != len(self.weights):
            raise ArgumentError(
                f"{self.label}: set_weights got {len(weights)} arrays; expected "
                f"{len(self.weights)}: {self.weights}.",
                subject=self,
            )
        batch_set_value(zip(self.weights, weights, strict=True))

    def count_params(self) -> int:
        """Return how many numbers the weights hold.

        Raises
        ------
        NotBuiltError
            The layer has no weights yet.
        """
        if not self.built:
            raise NotBuiltError(
                f"{self.label}: count_params needs the weights, and it is not built yet. "
                f"Call it, or give it an input_shape.",
                subject=self,
            )
        return sum(count_params(w) for w in self.weights)


def accepts_dtype(initializer: Any) -> bool:
    """Tell whether an initializer (an object or a plain function) takes `dtype`."""
    return accepts(
        initializer if hasattr(initializer, "__name__") else type(initializer).__call__, "dtype"
    )


def _distinct(weights: list[Variable]) -> list[Variable]:
    """Return the weights without repetitions: a layer may be reached by two ways."""
    return list(dict.fromkeys(weights))
