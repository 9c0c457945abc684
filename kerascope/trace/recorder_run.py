"""What is recorded of the runs over epochs and batches; the functions' calls have their own file.

The callbacks of a batch's end are called between the function's return and `BatchEnded`: that is
the phase "callbacks" of a batch, and its list is told before they are called. Those of an epoch's
begin and end are told when they have been called. Lesson: chapter 15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.backend.function import Function
from kerascope.callbacks.base import Callback
from kerascope.engine.arguments import to_list
from kerascope.engine.calling import LayerBuilt
from kerascope.engine.training_loop import BatchBegun, BatchEnded, EpochBegun, EpochEnded
from kerascope.trace.hearer import Hearer, name_is
from kerascope.trace.recorder_build import tell_built


class FitHearer(Hearer):
    """The loop over epochs and batches."""

    def started(self) -> None:
        """Begin."""
        model = self.stage.subject
        self.recorder.memory.know(model)
        self._has_begun = False
        self.begin("fit", model.name, name_is("model", self.recorder.describer.ref(model)))
        self.batch: int | None = None

    def event(self, event: Any) -> None:
        """Tell of an epoch or a batch."""
        memory = self.recorder.memory
        if isinstance(event, EpochBegun):
            hooks = ["on_epoch_begin"] if self._has_begun else ["on_train_begin", "on_epoch_begin"]
            self._has_begun = True
            self.begin("epoch", f"epoch {event.epoch}", name_is("epoch", event.epoch))
            self._begin_callbacks(*hooks)
            self.end()
        elif isinstance(event, BatchBegun):
            self.batch = event.batch_index
            deltas = [name_is("batch_index", event.batch_index), name_is("size", event.size)]
            if not memory.statistics_only:
                deltas.append(name_is("ins_batch", [memory.copied(x) for x in event.ins_batch]))
            self.begin("batch", f"batch {event.batch_index}", *deltas)
        elif isinstance(event, BatchEnded):
            if self.recorder.spans[-1][0] == "callbacks":
                self.end()
            self.batch = None
            outs = tuple(memory.payload(x) for x in event.outs)
            self.end(name_is("outs", outs), name_is("result", outs))
        elif isinstance(event, EpochEnded):
            self._begin_callbacks("on_epoch_end")
            self.end()
            logs = {name: memory.copied(x) for name, x in event.logs.items()}
            self.end(name_is("epoch_logs", logs), name_is("result", logs))

    def function_returned(self, function: Function) -> None:
        """Hear that a function has returned: after the train function come the callbacks."""
        if self.batch is not None and function is self.stage.subject.train_function:
            self._begin_callbacks("on_batch_end")

    def _begin_callbacks(self, *hooks: str) -> None:
        self.begin("callbacks", hooks[-1])
        callbacks = getattr(self.stage.names.get("callbacks"), "callbacks", ())
        for hook in hooks:
            for callback in callbacks:
                empty = getattr(Callback, hook)
                if getattr(getattr(callback, hook), "__func__", None) is not empty:
                    self.tell("callback", f"{type(callback).__name__}.{hook}")

    def finished(self) -> None:
        """End."""
        self.end_all()


class CallHearer(Hearer):
    """evaluate, predict, and a layer or model that is called on arrays."""

    def started(self) -> None:
        """Begin; a call on arrays brings its inputs."""
        subject, memory = self.stage.subject, self.recorder.memory
        ref = memory.describer.ref(subject)
        if self.stage.name == "eager_call":
            call = self.stage.names["call"]
            inputs = [memory.copied(x.value) for x in call.tensors if hasattr(x, "value")]
            made_at = self.recorder.began_at() or subject.made_at
            given = name_is("inputs", inputs)
            self.begin("function", subject.name, name_is("layer", ref), given, made_at=made_at)
        else:
            memory.know(subject)
            self.begin(self.stage.name, subject.name, name_is("model", ref))

    def event(self, event: Any) -> None:
        """Tell of weights that were made."""
        if isinstance(event, LayerBuilt):
            tell_built(self, event, event.layer.made_at)

    def finished(self) -> None:
        """End with what came out."""
        memory = self.recorder.memory
        results = tuple(
            memory.copied(x if isinstance(x, np.generic) else np.asarray(x))
            for x in to_list(self.stage.result)
        )
        self.end_all(name_is("result", results[0] if len(results) == 1 else results))
