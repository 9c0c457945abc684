"""What Keras 3 lets a model's class define: its own loss, and layers that assign in `call`."""

from __future__ import annotations

from typing import Any

from kerascope.backend.update_order import assigned_by_several_calls
from kerascope.engine.base_layer import layers_within
from kerascope.engine.keras3.own_loss import computed_loss
from kerascope.errors import ArgumentError, RefusedError
from kerascope.not_yet import UNCALLED_METHODS, out_of_scope
from kerascope.spellings import habits


class ModelOfKeras3:
    """Methods of Keras 3.

    Attributes
    ----------
    targets_of_any_rank, squeezed_targets : frozenset of int
        See `engine.compiling.Compilation`.
    """

    label: Any
    targets_of_any_rank: frozenset[int] = frozenset()
    squeezed_targets: frozenset[int] = frozenset()

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None,
        training: bool = True,
    ) -> Any:  # fmt: skip
        """Return the loss of predictions: the losses given to `compile`, and the penalties.

        In dialect "3" a subclass may define it with `keras.ops`. Compiling runs it once, on
        symbols, and training and evaluation use what it returns.

        Parameters
        ----------
        x : array, optional
            Read only for penalties on what layers compute of it.
        y, y_pred, sample_weight : array, or list or dict of arrays
        training : bool
            Not read: the loss is the same in both phases.
        """
        return computed_loss(self, x, y, y_pred, sample_weight)

    def _refuse_uncalled_methods(self, name: str) -> None:
        """Raise RefusedError if the model's class writes what Keras 3 calls to run a function."""
        for method, instead in UNCALLED_METHODS[name].items():
            is_own_helper = method.startswith("compute_") and not habits().calls_compute_loss
            if hasattr(type(self), method) and not is_own_helper:
                raise RefusedError(
                    f"{self.label}: its class writes {method}, which nothing here would call. "
                    f"{instead} {out_of_scope('train_step')}",
                    subject=self,
                )

    def _checked_updates(self, updates: list[Any]) -> list[Any]:
        """Return update pairs; raise if several calls of a layer assign to the same variable."""
        variable = assigned_by_several_calls(updates)
        if variable is not None:
            own = [x for x in layers_within(self) if any(v is variable for v, _ in x.updates)]
            raise ArgumentError(
                f"{own[-1].label}: assigns to '{variable.name}' in several calls in one model, of "
                f"which a step could write only one. Call it once, or make all calls in the "
                f"`call` of one layer or of a subclassed model.",
                subject=own[-1],
            )
        return updates
