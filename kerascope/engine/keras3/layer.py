"""The part of `Layer` that only Keras 3 has: `stateless_call`, variables as attributes, ...

`Layer` inherits this part from the class `LayerOfKeras3`.
"""

from __future__ import annotations

from typing import Any, NoReturn

from kerascope.backend.atomic import LOCKS
from kerascope.backend.eager import assigning, value_of
from kerascope.backend.graph import as_tensor
from kerascope.backend.state import floatx
from kerascope.backend.variables import Variable
from kerascope.engine.layer_losses import PLAIN
from kerascope.errors import ArgumentError, RefusedError
from kerascope.missing_names import out_of_scope


class LayerOfKeras3:
    """The methods and attributes of a `Layer` that only Keras 3 has."""

    label: Any
    weights: Any
    trainable_weights: Any
    non_trainable_weights: Any
    _trainable_weights: Any
    _non_trainable_weights: Any

    @property
    def variables(self) -> list[Variable]:
        """Keras 3's name of `weights`."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Variable]:
        """Keras 3's name of `trainable_weights`."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Keras 3's name of `non_trainable_weights`."""
        return self.non_trainable_weights

    def _enter_variables(self) -> None:
        """Add to the weights each `keras.Variable` that is an attribute or in a list attribute."""
        for value in list(vars(self).values()):
            if value.__class__ in PLAIN:
                continue
            for one in value if value.__class__ is list else (value,):
                if isinstance(one, Variable) and hasattr(one, "trainable"):
                    books = self._trainable_weights, self._non_trainable_weights
                    if one not in books[0] and one not in books[1]:
                        books[not one.trainable].append(one)

    def stateless_call(
        self, trainable_variables: Any, non_trainable_variables: Any, *args: Any, **kwargs: Any
    ) -> tuple[Any, list[Any]]:
        """Return the outputs for given weights, and the new values of the non-trainable weights.

        No variable is changed. Unlike in Keras 3, `return_losses` is not supported.

        Raises
        ------
        ArgumentError
            There are too many or too few weights, or `return_losses` is given.
        """
        variables = [*self.trainable_weights, *self.non_trainable_weights]
        values = [*trainable_variables, *non_trainable_variables]
        if kwargs.pop("return_losses", False) or len(values) != len(variables):
            raise ArgumentError(
                f"{self.label}: stateless_call: expected {len(variables)} weights {variables} and "
                f"no return_losses, got {len(values)}. Build the layer first.",
                subject=self,
            )
        given = {
            v: as_tensor(v._checked(value_of(x))) for v, x in zip(variables, values, strict=True)
        }
        with LOCKS.steps, assigning(given) as assigned:
            outputs = self(*args, **kwargs)  # type: ignore[operator]
            return outputs, [value_of(assigned[v]) for v in self.non_trainable_weights]

    def enable_lora(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise RefusedError, because LoRA is not supported."""
        raise RefusedError(f"{self}: enable_lora: {out_of_scope('LoRA')}", subject=self)

    def quantize(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise RefusedError, because quantization is not supported."""
        raise RefusedError(f"{self}: quantize: {out_of_scope('int8')}", subject=self)


def checked_dtype(dtype: Any) -> Any:
    """Return a layer's dtype, by default `floatx()`; refuse mixed precision and quantization."""
    if isinstance(dtype, str) and dtype.startswith("mixed_"):
        raise RefusedError(f"dtype {dtype!r}: {out_of_scope('mixed precision')}")
    if isinstance(dtype, str) and "_from_" in dtype:
        raise RefusedError(f"dtype {dtype!r}: {out_of_scope('int8')}")
    return dtype or floatx()
