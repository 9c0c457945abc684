"""What only Keras 3 has in a layer: `stateless_call`, variables as attributes, `quantize`.

`Layer` inherits them from `LayerOfKeras3`.
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
from kerascope.not_yet import out_of_scope


class LayerOfKeras3:
    """Names of Keras 3."""

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
        """Enter each `keras.Variable` that is an attribute, alone or in a list, as a weight."""
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
        """Return the outputs for arrays with given weights, and the new ones that are not trained.

        Nothing is written. As in Keras 3, but for `return_losses`.

        Raises
        ------
        ArgumentError
            There are too many or too few weights, or the losses are asked for.
        """
        variables = [*self.trainable_weights, *self.non_trainable_weights]
        values = [*trainable_variables, *non_trainable_variables]
        if kwargs.pop("return_losses", False) or len(values) != len(variables):
            raise ArgumentError(
                f"{self.label}: stateless_call got {len(values)} weights; expected "
                f"{len(variables)}: {variables}, and no return_losses. Build the layer first.",
                subject=self,
            )
        given = {
            v: as_tensor(v._checked(value_of(x))) for v, x in zip(variables, values, strict=True)
        }
        with LOCKS.steps, assigning(given) as assigned:
            outputs = self(*args, **kwargs)  # type: ignore[operator]
            return outputs, [value_of(assigned[v]) for v in self.non_trainable_weights]

    def enable_lora(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse to add weights of low rank."""
        raise RefusedError(f"{self}: enable_lora: {out_of_scope('LoRA')}", subject=self)

    def quantize(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse to quantize the weights."""
        raise RefusedError(f"{self}: quantize: {out_of_scope('int8')}", subject=self)


def checked_dtype(dtype: Any) -> Any:
    """Return a layer's type; refuse policies that mix types or quantize."""
    if isinstance(dtype, str) and dtype.startswith("mixed_"):
        raise RefusedError(f"dtype {dtype!r}: {out_of_scope('mixed precision')}")
    if isinstance(dtype, str) and "_from_" in dtype:
        raise RefusedError(f"dtype {dtype!r}: {out_of_scope('int8')}")
    return dtype or floatx()
