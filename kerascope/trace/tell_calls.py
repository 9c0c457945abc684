"""What is told of the runs over epochs and batches, and, in one line each, of all other calls.

Lesson: chapter 15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.engine.arguments import to_list
from kerascope.engine.training_loop import BatchBegun, BatchEnded, EpochBegun, EpochEnded
from kerascope.trace.records import Record, counted
from kerascope.trace.statistics import figure, statistics_of
from kerascope.trace.teller import Teller


class FitTeller(Teller):
    """The loop over epochs and batches; the batches' own calls have a teller of their own."""

    phase = "fit"

    def event(self, event: Any) -> None:
        """Tell of the batches that are shown in full, and of each epoch."""
        if isinstance(event, EpochBegun):
            self.section(
                f"fit {self.stage.subject.name}",
                "for each epoch, for each batch: outs = f(ins_batch)",
            )
            self._batches = self._untold = 0
        elif isinstance(event, BatchBegun):
            self._batches += 1
            self._is_shown = self._next_is_shown()
            if self._is_shown:
                self._tell_batch(event)
            else:
                self._untold += 1
        elif isinstance(event, BatchEnded) and self._is_shown:
            names = self.stage.subject.metrics_names
            self._tell_figures("outs", 2, "outs", dict(zip(names, event.outs, strict=True)))
        elif isinstance(event, EpochEnded):
            self._tell_epoch(event)

    def _next_is_shown(self) -> bool:
        f = self.stage.subject.train_function
        return f in self.story.train_facts and self.story.calls_of.get(f, 0) < self.story.batches

    def _tell_batch(self, event: BatchBegun) -> None:
        name = f"epoch {event.epoch + 1}, batch {event.batch_index}"
        self.section(f"fit {self.stage.subject.name}")
        self.tell("batch", 1, name, counted(event.size, "sample"), size=event.size)

    def _tell_epoch(self, event: EpochEnded) -> None:
        self.section(f"fit {self.stage.subject.name}")
        words = counted(self._batches, "batch")
        if self._untold and self._untold < self._batches:
            words += f", {self._untold} not shown"
        self._tell_figures("epoch", 1, f"epoch {event.epoch + 1}", event.logs, words)

    def _tell_figures(
        self, kind: str, depth: int, name: str, logs: dict[str, Any], *cells: str
    ) -> None:
        known = {
            key: x for key, x in logs.items() if np.ndim(x) == 0 and key not in ("batch", "size")
        }
        words = tuple(f"{key}={figure(x)}" for key, x in known.items())
        alarm = not all(np.isfinite(x) for x in known.values())
        facts: dict[str, Any] = {key: float(figure(x)) for key, x in known.items()}
        self.tell(kind, depth, name, *cells, *words, alarm=alarm, **facts)


class CallTeller(Teller):
    """evaluate, predict, and a layer or model that is called on arrays: one line each."""

    phase = "call"

    def finished(self) -> None:
        """Tell what came out, unless the call is part of another one."""
        if self.number_around(CallTeller) > 1 or self.enclosing(FitTeller):
            return
        subject, results = self.stage.subject, to_list(self.stage.result)
        is_called = self.stage.name == "eager_call"
        name = f"{subject.name}(array)" if is_called else f"{subject.name}.{self.stage.name}"
        if self.stage.name == "evaluate":
            pairs = zip(subject.metrics_names, results, strict=False)
            words = tuple(f"{key}={figure(x)}" for key, x in pairs)
            alarm = not all(np.isfinite(x) for x in results)
        else:
            found = [statistics_of(array) for array in results]
            words = tuple(" ".join(one.cells) for one in found)
            alarm = not all(one.is_sound for one in found)
        say_briefly(self, name, words, alarm)


class FunctionTeller(Teller):
    """A call of a function that is not shown in full: a line, unless a run around it has one."""

    phase = "call"

    def finished(self) -> None:
        """Tell what came out."""
        if self.enclosing(FitTeller) or self.enclosing(CallTeller):
            return
        f, results = self.stage.subject, to_list(self.stage.result)
        found = [statistics_of(array) for array in results]
        names = [y.name for y in f.outputs]
        facts = self.story.train_facts.get(f)
        if facts is not None:
            names = facts.output_names
        pairs = zip(names, found, strict=False)
        words = tuple(f"{name}: {' '.join(one.cells)}" for name, one in pairs)
        written = (counted(len(f.updates), "update"),) if f.updates else ()
        say_briefly(self, f.name, (*words, *written), not all(one.is_sound for one in found))


def say_briefly(teller: Teller, name: str, words: tuple[str, ...], alarm: bool) -> None:
    """Tell of a call in one line, in the section of calls."""
    story = teller.story
    title = Record("call", "section", 0, "calls", ("other calls of models, layers and functions",))
    story.section("calls", title)
    story.brief(Record("call", "called", 1, name, words, {"results": list(words)}, alarm))
