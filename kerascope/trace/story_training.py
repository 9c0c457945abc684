"""What is told of training, and, in one line each, of all other calls.

A run goes over epochs and batches. The train function that it calls for each batch runs the ops of
its schedule, no layer and no graph walk. Which of them are a layer's output, a loss or a gradient
says `TrainFacts`. Forward is told by falling depth, backward from the loss back, the new values in
the order of the parameters; at level "op" every op is told as it runs.

Lessons: chapters 14 and 15.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope.backend import Tensor, Variable, provenance
from kerascope.backend.function import Function, Update
from kerascope.backend.schedule import Phase, Step
from kerascope.engine.arguments import to_list
from kerascope.engine.training_loop import BatchBegun, BatchEnded, EpochBegun, EpochEnded
from kerascope.stage import Stage
from kerascope.trace.records import Record, StageNarrator, counted, listed
from kerascope.trace.statistics import Statistics, figure, norm_of, statistics_of
from kerascope.trace.train_facts import TrainFacts


class FitNarrator(StageNarrator):
    """The loop over epochs and batches; the batches' own calls have an observer of their own.

    Both count from 0, as the loop itself does and as callbacks, the debugger and tapes say it. Only
    what is printed for people, "Epoch 1/10", counts from 1.
    """

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
            self._untold += not self._is_shown
            if self._is_shown:
                name = f"epoch {event.epoch}, batch {event.batch_index}"
                self.section(f"fit {self.stage.subject.name}")
                self.tell("batch", 1, name, counted(event.size, "sample"), size=event.size)
        elif isinstance(event, BatchEnded) and self._is_shown:
            names = self.stage.subject.metrics_names
            self._tell_figures("outs", 2, "outs", dict(zip(names, event.outs, strict=True)))
        elif isinstance(event, EpochEnded):
            self._tell_epoch(event)

    def _next_is_shown(self) -> bool:
        f = self.stage.subject.train_function
        return f in self.story.train_facts and self.story.calls_of.get(f, 0) < self.story.batches

    def _tell_epoch(self, event: EpochEnded) -> None:
        self.section(f"fit {self.stage.subject.name}")
        words = counted(self._batches, "batch")
        if self._untold and self._untold < self._batches:
            words += f", {self._untold} not shown"
        self._tell_figures("epoch", 1, f"epoch {event.epoch}", event.logs, words)

    def _tell_figures(
        self, kind: str, depth: int, name: str, logs: dict[str, Any], *cells: str
    ) -> None:
        scalars = {key: x for key, x in logs.items() if np.ndim(x) == 0}
        known = {key: x for key, x in scalars.items() if key not in ("batch", "size")}
        words = tuple(f"{key}={figure(x)}" for key, x in known.items())
        alarm = not all(np.isfinite(x) for x in known.values())
        facts: dict[str, Any] = {key: float(figure(x)) for key, x in known.items()}
        self.tell(kind, depth, name, *cells, *words, alarm=alarm, **facts)


class CallNarrator(StageNarrator):
    """evaluate, predict, and a layer or model that is called on arrays: one line each."""

    phase = "call"

    def finished(self) -> None:
        """Tell what came out, unless the call is part of another one."""
        if self.number_around(CallNarrator) > 1 or self.enclosing(FitNarrator):
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


class FunctionNarrator(StageNarrator):
    """A call of a function that is not shown in full: a line, unless a run around it has one."""

    phase = "call"

    def finished(self) -> None:
        """Tell what came out."""
        if self.enclosing(FitNarrator) or self.enclosing(CallNarrator):
            return
        f, results = self.stage.subject, to_list(self.stage.result)
        found = [statistics_of(array) for array in results]
        facts = self.story.train_facts.get(f)
        names = [y.name for y in f.outputs] if facts is None else facts.output_names
        pairs = zip(names, found, strict=False)
        words = tuple(f"{name}: {' '.join(one.cells)}" for name, one in pairs)
        written = (counted(len(f.updates), "update"),) if f.updates else ()
        say_briefly(self, f.name, (*words, *written), not all(one.is_sound for one in found))


def say_briefly(observer: StageNarrator, name: str, words: tuple[str, ...], alarm: bool) -> None:
    """Tell of a call in one line, in the section of calls."""
    story = observer.story
    title = Record("call", "section", 0, "calls", ("other calls of models, layers and functions",))
    story.section("calls", title)
    story.brief(Record("call", "called", 1, name, words, {"results": list(words)}, alarm))


# --- one batch in full ----------------------------------------------------------------------------


class BatchNarrator(StageNarrator):
    """Follows one call of a train function in full."""

    phase = "forward"

    def __init__(self, story: Any, stage: Stage, facts: TrainFacts) -> None:
        super().__init__(story, stage)
        self.facts = facts
        self.function: Function = stage.subject
        self._wanted = self._wanted_tensors()
        self._seen: dict[Tensor, Statistics] = {}
        self._steps = 0
        self._phase_said: str | None = None
        self._not_finite: tuple[Step, Statistics] | None = None
        self._brought: list[str] = []
        self._changes: dict[Variable, float] = {}
        self._is_told = False

    def _wanted_tensors(self) -> set[Tensor]:
        facts = self.facts
        wanted = {*facts.places, *facts.losses.values(), *facts.metrics.values()}
        wanted.update(arrival.gradient for arrival in facts.arrivals)
        wanted.update(self.function.inputs)
        return wanted

    # --- hearing ----------------------------------------------------------------------------------

    def started(self) -> None:
        """Remember the old values: a commit replaces arrays and never writes into them."""
        self.old = {u.variable: u.variable.get_value(borrow=True) for u in self.function.updates}
        self._new_value_of = {u.new_value: u.variable for u in self.function.updates}
        if self.enclosing(FitNarrator) is None:
            name = f"train_on_batch {self.facts.model.name}"
            self.story.section(name, Record("fit", "section", 0, name, ("one batch, without fit",)))

    def event(self, event: Any) -> None:
        """Look at the arrays of an op that was performed, or at a new value that was written."""
        if isinstance(event, Step):
            self._look(event)
        elif isinstance(event, Update):
            self._tell_computed()
            self._tell_commit(event)

    def finished(self) -> None:
        """Tell the rest, if there was nothing to write."""
        self._tell_computed()

    def failed(self) -> None:
        """Tell how far it came."""
        self._tell_computed()

    def _look(self, step: Step) -> None:
        values = self.stage.names["values"]
        if self._steps == 0:
            self._look_at_the_start(values)
        self._steps += 1
        for y, slot in zip(step.apply.outputs, step.outputs, strict=True):
            self._look_at(step, y, values[slot], values)

    def _look_at_the_start(self, values: list[Any]) -> None:
        """Look at what the call begins with: what is fed, and the variables."""
        schedule = self.function.schedule
        for x in [*schedule.inputs, *(v for _, v in schedule.variables)]:
            array = values[schedule.slots[x]]
            if x in self._wanted:
                self._seen[x] = statistics_of(array)
            if not _is_finite(array):
                self._brought.append(x.name)

    def _look_at(self, step: Step, y: Tensor, array: Any, values: list[Any]) -> None:
        is_sound = _is_finite(array)
        if y in self._wanted or not is_sound or self.story.level == "op":
            statistics = self._seen[y] = statistics_of(array)
            went_in = (values[slot] for slot in step.inputs)
            if not is_sound and self._not_finite is None and all(map(_is_finite, went_in)):
                self._not_finite = (step, statistics)
            if self.story.level == "op":
                self._tell_op(step, statistics)
        variable = self._new_value_of.get(y)
        if variable is not None:
            old = self.old[variable]
            with np.errstate(all="ignore"):
                self._changes[variable] = norm_of(np.asarray(array, "float64") - old)

    # --- telling ----------------------------------------------------------------------------------

    def _tell_op(self, step: Step, statistics: Statistics) -> None:
        phase = self._phase_of(step)
        if phase != self._phase_said:
            self._phase_said = phase
            self._begin(phase, "ops, in the order of the schedule")
        expression = repr(step.apply).partition(" -> ")[0]
        cells = (expression, *statistics.short_cells)
        self.tell("op", 3, step.apply.name, *cells, phase=phase, alarm=not statistics.is_sound)

    def _phase_of(self, step: Step) -> str:
        is_of_layer = step.phase < Phase.BACKWARD and step.apply in self.facts.calls
        return "forward" if is_of_layer else step.phase.word

    def _begin(self, phase: str, words: str) -> None:
        self.tell("begin", 2, phase, words, phase=phase)

    def _tell_computed(self) -> None:
        """Tell all that was computed, phase by phase."""
        if self._is_told:
            return
        self._is_told = True
        self._tell_feed()
        self._tell_forward()
        self._tell_scalars("loss", "of this batch, with the old weights", self.facts.losses)
        self._tell_scalars("metrics", "", self.facts.metrics)
        self._tell_backward()
        self._tell_not_finite()
        self._tell_updates()

    def _tell_feed(self) -> None:
        ops = counted(len(self.function.schedule.steps), "op")
        self.tell("begin", 2, self.function.name, f"outs = f(ins_batch): {ops}, no layer is called")
        for x in self.function.inputs:
            if x in self._seen and x not in self.facts.places:
                self._tell_array("fed", x.name, x)

    def _tell_forward(self) -> None:
        depth_before = None
        self._begin("forward", "by falling depth; what enters tensor_map")
        for x, (_, depth) in self.facts.places.items():
            if x not in self._seen:
                continue
            if depth != depth_before:
                self.tell("depth", 3, f"depth {depth}", at=depth)
                depth_before = depth
            self._tell_array("tensor", self.facts.name_of(x), x, depth=4)

    def _tell_scalars(self, phase: str, words: str, tensors: dict[str, Tensor]) -> None:
        known = {name: x for name, x in tensors.items() if x in self._seen}
        if known:
            self._begin(phase, words)
        for name, x in known.items():
            self._tell_array(phase, name, x, phase=phase)

    def _tell_backward(self) -> None:
        known = [a for a in self.facts.arrivals_in_order() if a.gradient in self._seen]
        if known:
            self._begin("backward", "d total_loss / d x, from the loss back")
        for arrival in known:
            kind = "weight_gradient" if arrival.is_weight else "gradient"
            statistics = self._seen[arrival.gradient]
            dead = ("all 0: learns nothing",) if arrival.is_weight and statistics.norm == 0 else ()
            name = self.facts.name_of(arrival.wrt)
            self._tell_array(kind, name, arrival.gradient, dead, phase="backward")

    def _tell_not_finite(self) -> None:
        if self._brought:
            words = ("not made here: it came with", listed(self._brought))
            self.tell("not_finite", 2, "NaN or Inf", *words, alarm=True)
        if self._not_finite is None:
            return
        step, statistics = self._not_finite
        line = provenance.told(step.apply)
        made = ["made from finite numbers by", repr(step.apply), *([line] if line else [])]
        self.tell("not_finite", 2, "first NaN or Inf", *made, alarm=True, **statistics.facts)

    def _tell_updates(self) -> None:
        if not self._changes:
            return
        self._begin("update", "every new_v is computed before any is written")
        for variable, change in self._changes.items():
            if variable.dtype.startswith("int"):
                continue
            old = norm_of(self.old[variable])
            share = (f"{figure(100 * change / old)} % of |v|",) if old else ()
            words = (self.facts.role(variable), f"|new_v - v|={figure(change)}", *share)
            self.tell("new_value", 3, variable.name, *words, phase="update", change=change,
                      alarm=not np.isfinite(change))  # fmt: skip

    def _tell_commit(self, event: Update) -> None:
        v = event.variable
        if self._phase_said != "commit":
            self._phase_said = "commit"
            self._begin("commit", "v <- new_v")
        old, new = self.old[v], v.get_value(borrow=True)
        if v.shape == ():
            words, facts = f"{figure(old)} -> {figure(new)}", {}
        else:
            facts = {"old_norm": norm_of(old), "new_norm": norm_of(new)}
            words = f"|v|={figure(facts['old_norm'])} -> {figure(facts['new_norm'])}"
            words += "  unchanged" if np.array_equal(old, new) else ""
        alarm = not np.isfinite(new).all()
        self.tell("commit", 3, v.name, words, phase="commit", alarm=bool(alarm), **facts)

    def _tell_array(
        self,
        kind: str,
        name: str,
        x: Tensor,
        more: tuple[str, ...] = (),
        *,
        depth: int = 3,
        phase: str | None = None,
    ) -> None:
        found = self._seen[x]
        cells, facts = (*found.cells, *more), {"tensor": x.name, **found.facts}
        self.tell(kind, depth, name, *cells, phase=phase, alarm=not found.is_sound, **facts)


def _is_finite(array: Any) -> bool:
    return np.asarray(array).dtype.kind != "f" or bool(np.isfinite(array).all())
