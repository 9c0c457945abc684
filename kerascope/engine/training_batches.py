"""Training on one batch: the data made fit for the model, and one call of a function.

`fit` and its kin (`training_arrays.py`) use the same checks for all batches at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any

from kerascope.backend.atomic import LOCKS
from kerascope.backend.function import Function
from kerascope.callers import warn
from kerascope.engine.arguments import unpack_singleton
from kerascope.engine.compiled_network import CompiledNetwork
from kerascope.engine.training_data import (
    KnownBatches,
    as_arrays,
    check_lengths,
    check_targets,
    per_output_data,
    targets_as_arrays,
    weights_of_samples,
)
from kerascope.errors import DataError
from kerascope.spellings import habits
from kerascope.stage import is_watched


class BatchTraining(CompiledNetwork):
    """The part of `Model` that knows what its data must look like, and trains on one batch."""

    _is_part = True

    _known_batches: Mapping[str, KnownBatches] = MappingProxyType({})

    # --- data -------------------------------------------------------------------------------------

    def _standardize_inputs(self, x: Any) -> list[Any]:
        if self._names_of_inputs is not None and isinstance(x, (list, tuple)) and len(x) > 1:
            warn(
                f"{self.label}: its inputs are a dict, and x is a list, which is taken in the "
                f"order {self.input_names}. Pass a dict by these names."
            )
        by_tensor = dict(zip(self.inputs, self.names_for(x), strict=True))
        names = [by_tensor[t] for t in self._feed_inputs]
        return as_arrays(x, names, [t.shape for t in self._feed_inputs], "x")

    def _standardize_user_data(
        self,
        x: Any,
        y: Any,
        sample_weight: Any = None,
        class_weight: Any = None,
        where: str = "fit",
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Return arrays for inputs, targets and sample weights, checked against each other."""
        x, y, weights = self._standardized(x, y, sample_weight, class_weight, where)
        return x, y, [array if array.flags.writeable else array.copy() for array in weights]

    def _standardized(
        self, x: Any, y: Any, sample_weight: Any, class_weight: Any, where: str
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Do the same; of samples that were given no weight, the weights are known ones."""
        output_names, feed_targets = self.output_names, set(self._feed_targets)
        names = [output_names[i] for i in self.trained]
        fed = [k for k, target in enumerate(self.targets) if target in feed_targets]
        x_arrays = self._standardize_inputs(x)
        ranks: list[Any] = [(None,) * self.targets[k].ndim for k in fed]
        functions = [self.loss_functions[self.trained[k]] for k in fed]
        y_arrays = targets_as_arrays(y, [names[k] for k in fed], ranks, functions)
        check_lengths(x_arrays, y_arrays, [], where)
        check_targets(y_arrays, functions, [self.outputs[self.trained[k]] for k in fed])
        if not x_arrays and not y_arrays:  # the model reads variables
            if sample_weight is not None or class_weight is not None:
                raise DataError(f"{where}: weights of samples came without samples; expected none.")
            return [], [], []
        given = per_output_data(sample_weight, names, "sample_weight")
        classes = per_output_data(class_weight, names, "class_weight")
        weights = []
        for k, name in enumerate(names):
            reference = y_arrays[fed.index(k)] if k in fed else (x_arrays or y_arrays)[0]
            mode = self.sample_weight_modes[self.trained[k]]
            weights.append(weights_of_samples(reference, given[k], classes[k], mode, name))
        return x_arrays, y_arrays, weights

    def _ins(
        self, x: Any, y: Any, sample_weight: Any, class_weight: Any, phase: float, where: str
    ) -> list[Any]:
        x, y, weights = self._standardized(x, y, sample_weight, class_weight, where)
        return x + y + weights + self._flags(phase)

    def _told(self, numbers: list[Any], return_dict: bool) -> Any:
        """Return the loss, [loss, metrics...], or a dict of them by name."""
        if return_dict:
            return dict(zip(self.metrics_names, numbers, strict=True))
        return unpack_singleton(numbers)

    # --- one batch --------------------------------------------------------------------------------

    def train_on_batch(
        self,
        x: Any,
        y: Any,
        sample_weight: Any = None,
        class_weight: Any = None,
        return_dict: bool = False,
    ) -> Any:
        """Train on one batch; return its loss, or [loss, metrics...], as before the update."""
        is_plain = sample_weight is None and class_weight is None
        ins = self._ready_ins("train_function", x, y, 1.0) if is_plain else None
        if ins is None:
            self._make_ready_for("train_function", x)
            ins = self._ins(x, y, sample_weight, class_weight, 1.0, "train_on_batch")
            self._make_train_function()
            if is_plain:
                self._note_batch("train_function", x, y, ins)
        assert self.train_function is not None
        return self._told(self._of_one_batch(self.train_function, ins), return_dict)

    def test_on_batch(
        self, x: Any, y: Any, sample_weight: Any = None, return_dict: bool = False
    ) -> Any:
        """Return the loss of one batch, or the list [loss, metrics...], without training."""
        ins = self._ready_ins("test_function", x, y, 0.0) if sample_weight is None else None
        if ins is None:
            self._make_ready_for("test_function", x)
            ins = self._ins(x, y, sample_weight, None, 0.0, "test_on_batch")
            self._make_test_function()
            if sample_weight is None:
                self._note_batch("test_function", x, y, ins)
        return self._told(self._of_one_batch(self._make_test_function(), ins), return_dict)

    def _of_one_batch(self, function: Function, ins: list[Any]) -> list[Any]:
        """Call a function; where the habit says so, its metrics tell of this batch alone."""
        if not self.stateful_metrics or not habits().counts_zero_weights:
            return function(ins)
        with nullcontext() if is_watched() else LOCKS.steps:
            self.reset_metrics()
            return function(ins)

    def predict_on_batch(self, x: Any) -> Any:
        """Return the outputs for one batch."""
        ins = self._ready_ins("predict_function", x, None, 0.0)
        if ins is None:
            self._make_ready_for("predict_function", x)
            arrays = self._standardize_inputs(x)
            ins = arrays + self._flags(0.0)
            self._make_predict_function()
            lengths = {array.shape[0] for array in arrays}
            if len(lengths) == 1 and 0 not in lengths:  # `predict` would take them too
                self._note_batch("predict_function", x, None, ins)
        return unpack_singleton(self._make_predict_function()(ins))

    def _ready_ins(self, name: str, x: Any, y: Any, phase: float) -> list[Any] | None:
        """Return what a function takes if such data came before; None if they must be checked."""
        known = self._known_batches.get(name)
        if known is None or known.function is not getattr(self, name):
            return None
        return known.arrays(x, y, phase)

    def _note_batch(self, name: str, x: Any, y: Any, ins: list[Any]) -> None:
        """Note that data such as these were fit for a function."""
        known = self._known_batches.get(name)
        function = getattr(self, name)
        if known is None or known.function is not function or not known.is_current:
            is_to_train = name == "train_function"
            if is_to_train and self._is_trainable_elsewhere():
                return  # the warning is due again at the next batch
            known = KnownBatches(function, self._all_layers() if is_to_train else ())
            self._known_batches = {**self._known_batches, name: known}
        known.note(x, y, ins)

    def _check_trainable_weights_consistency(self) -> None:
        """Warn if `trainable` was changed after `compile`; batches that are known tell quickly."""
        known = self._known_batches.get("train_function")
        if known is None or known.function is not self.train_function or not known.is_current:
            super()._check_trainable_weights_consistency()

    def _is_trainable_elsewhere(self) -> bool:
        """Tell whether `trainable` was changed after `compile`."""
        return set(self.trainable_weights) != set(self._collected_trainable_weights)

    def _all_layers(self) -> list[Any]:
        """Return the model, its layers, the layers inside these, and so on."""
        found: dict[Any, None] = {}
        waiting: list[Any] = [self]
        while waiting:
            layer = waiting.pop()
            if layer not in found:
                found[layer] = None
                waiting.extend(layer._sublayers)
                waiting.extend(getattr(layer, "wrapped", ()))
        return list(found)
