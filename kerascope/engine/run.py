"""One run of `fit`, for callbacks that store its progress or continue an interrupted run.

`fit` makes a `Run` before it calls the first callback, and passes it to callbacks that have a
`set_run` (`callbacks.BackupAndRestore`). Without such a callback, the properties of the `Run` are
not computed.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from kerascope.backend.function import Function
from kerascope.backend.graph import Apply, applies_in_order, leaves
from kerascope.backend.ops.random import RandomOp
from kerascope.backend.ops.scan import Scan
from kerascope.backend.variables import Variable
from kerascope.configurable import plain

_NAMES_AND_CHANCE = (
    *("name", "trainable", "seed", "batch_input_shape", "batch_shape", "function"),
    *("inbound_nodes", "input_layers", "output_layers", "layers"),
)

# All models that have a train function.
TRAINED: WeakSet[Any] = WeakSet()


class ResumePoint(NamedTuple):
    """Where a continued run begins: the epoch, the batches done in this epoch, and the state.

    `restore()` sets the state. `fit` calls it after `on_train_begin` of all callbacks.
    """

    epoch: int
    batch: int
    restore: Callable[[], None]

    def begin(self, model: Any, epochs: int) -> tuple[range, int]:
        """Return the epochs to train, and the number of batches done in the first epoch.

        If the run continues between two epochs, this method restores the state. If it continues in
        the middle of an epoch, the caller begins this epoch and then restores the state.
        """
        if self.batch:
            return range(self.epoch, epochs), self.batch
        self.restore()
        return range(self.epoch, self.epoch if model.stop_training else epochs), 0


class Run:
    """One call of `fit`, for callbacks that store its progress or continue an interrupted call.

    Parameters
    ----------
    model : Model
    train_function : Function
    callbacks : list of Callback
        All callbacks, including those that `fit` adds.
    feeds : dict of str to feed
        The feed "training" and, with validation data, the feed "validation".
    initial_epoch : int
        As for `fit`.
    endings : ExitStack
        Context managers that are closed at the end of the run, with or without an error.

    Attributes
    ----------
    resume_point : ResumePoint or None
        Where the run continues, set by `begin_at`; None for a new run.
    """

    def __init__(
        self,
        model: Any,
        train_function: Function,
        callbacks: list[Any],
        feeds: dict[str, Any],
        initial_epoch: int,
        endings: ExitStack,
    ) -> None:
        self.model = model
        self.callbacks = callbacks
        self.feeds = feeds
        self.initial_epoch = initial_epoch
        self.endings = endings
        self.resume_point: ResumePoint | None = None
        self._function = train_function

    def begin_at(self, epoch: int, batch: int, restore: Callable[[], None]) -> None:
        """Let the run begin after `batch` batches of an epoch, in the state that `restore` sets."""
        self.resume_point = ResumePoint(epoch, batch, restore)

    @functools.cached_property
    def variables(self) -> list[Variable]:
        """All variables that the run reads or writes, such as weights, slots and states.

        Their order depends only on the graphs.
        """
        model, updates = self.model, self._function.updates
        found = leaves([*self._function.outputs, *(update.new_value for update in updates)])
        optimizer = model.optimizer
        listed = [
            *model.weights,
            *(value for value in vars(optimizer).values() if isinstance(value, Variable)),
            *(update.variable for update in updates),
            *found,
        ]
        return [x for x in dict.fromkeys(listed) if isinstance(x, Variable)]

    @functools.cached_property
    def frozen(self) -> list[Variable]:
        """The weights of the model that this run does not change."""
        written = {update.variable for update in self._function.updates}
        return [weight for weight in self.model.weights if weight not in written]

    def steps_of_others(self) -> dict[Any, int]:
        """Return the number of training steps of each other model in the process."""
        optimizers = {model: model.optimizer for model in TRAINED if model is not self.model}
        return {
            model: int(optimizer.iterations.get_value())
            for model, optimizer in optimizers.items()
            if hasattr(optimizer, "iterations") and optimizer is not self.model.optimizer
        }

    @functools.cached_property
    def seeds(self) -> list[int]:
        """The seeds of the random ops, in the order of the graph."""
        return [apply.op.seed for apply in self._applies if isinstance(apply.op, RandomOp)]

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """Properties of the run, which must be the same in the run that continues it.

        They are plain data for a backup, with the most important properties first.
        """
        model = self.model
        names = [getattr(f, "__name__", type(f).__name__) for f in model.loss_functions]
        return {
            "model": _layer_facts(model),
            "optimizer": _optimizer_facts(model.optimizer),
            "loss": names,
            "metrics": list(model.metrics_names),
            "data": {name: feed.facts() for name, feed in self.feeds.items()},
            "graph of training": [apply.op.name for apply in self._applies],
        }

    @functools.cached_property
    def _applies(self) -> list[Apply]:
        new_values = [update.new_value for update in self._function.updates]
        return list(_with_inner(applies_in_order([*self._function.outputs, *new_values])))


def _with_inner(applies: list[Apply]) -> Iterator[Apply]:
    """Yield the Applies in order, and after each loop (`Scan`) the Applies of the loop's step."""
    for apply in applies:
        yield apply
        if isinstance(apply.op, Scan):
            yield from _with_inner(apply.op.inner.applies)


def _layer_facts(layer: Any) -> dict[str, Any]:
    inner = getattr(layer, "layers", None)
    if isinstance(inner, (list, tuple)):
        return {"layers": [_layer_facts(one) for one in inner]}
    return {
        "layer": type(layer).__name__,
        "config": _fixed_config(layer),
        "weights": [list(weight.shape) for weight in getattr(layer, "weights", ())],
    }


def _optimizer_facts(optimizer: Any) -> dict[str, Any]:
    """Return an optimizer's class and the settings that are not stored in variables."""
    numbers = [name for name, value in vars(optimizer).items() if isinstance(value, Variable)]
    return {"optimizer": type(optimizer).__name__, "config": _fixed_config(optimizer, numbers)}


def _fixed_config(configured: Any, left_out: Iterable[str] = ()) -> dict[str, Any]:
    """Return an object's configuration without names, seeds and the keys in `left_out`."""
    try:
        config = configured.get_config()
    except Exception:  # a user's class may have no get_config
        return {}
    return _without_names({k: v for k, v in config.items() if k not in left_out})


def _without_names(value: Any) -> Any:
    """Return a configuration without names, seeds and initial values, as plain data."""
    if isinstance(value, dict):
        return {
            str(key): _without_names(inner)
            for key, inner in value.items()
            if key not in _NAMES_AND_CHANCE and not str(key).endswith("_initializer")
        }
    if isinstance(value, (list, tuple)):
        return [_without_names(inner) for inner in value]
    if isinstance(value, np.ndarray) and value.ndim:
        return [list(value.shape), zlib.crc32(np.ascontiguousarray(value).tobytes())]
    value = plain(value)
    if isinstance(value, float):
        return repr(value)  # as text, because NaN differs from itself
    return value if isinstance(value, (bool, int, str, type(None))) else type(value).__name__
