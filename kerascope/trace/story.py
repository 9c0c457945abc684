"""Story: an observer that tells what the stages of the engine do, as `Record`s.

::

    records = []
    story = Story(records.append)
    with observing(story):
        model.fit(x, y)
    story.close()

Every kind of stage has a teller, which hears the stage's events and says what they mean; this file
only finds the teller. Nothing is told twice and nothing is told for ever: a train function is shown
in full for its first batches, later batches only in the line of their epoch, and a call that
repeats itself is counted. Watching changes nothing: a teller reads, and copies what it keeps.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from kerascope.backend.function import Function
from kerascope.engine.compiling import LossTerm
from kerascope.errors import ArgumentError
from kerascope.stage import Mark, Stage
from kerascope.trace.records import Record, counted
from kerascope.trace.tell_batch import BatchTeller
from kerascope.trace.tell_build import InnerRunTeller, LayerCallTeller, MapStepTeller, MapTeller
from kerascope.trace.tell_calls import CallTeller, FitTeller, FunctionTeller
from kerascope.trace.tell_compile import (
    CompileTeller,
    GradientsTeller,
    TrainFunctionTeller,
    UpdatesTeller,
)
from kerascope.trace.teller import Teller
from kerascope.trace.train_facts import TrainFacts

LEVELS = ("node", "op")

TELLERS: dict[str, type[Teller]] = {
    "layer_call": LayerCallTeller,
    "run_internal_graph": InnerRunTeller,
    "map_graph": MapTeller,
    "build_map": MapStepTeller,
    "depth_sort": MapStepTeller,
    "check_graph": MapStepTeller,
    "compile": CompileTeller,
    "make_train_function": TrainFunctionTeller,
    "get_updates": UpdatesTeller,
    "gradients": GradientsTeller,
    "fit": FitTeller,
    "evaluate": CallTeller,
    "predict": CallTeller,
    "eager_call": CallTeller,
}


class Story:
    """Turns the events of stages into records.

    Parameters
    ----------
    tell : callable
        Receives each `Record` as soon as it is known.
    level : {"node", "op"}
        "node": a line for each layer; "op": also one for each op, in the order of the schedule.
    batches : int
        How many batches of each train function are shown in full.

    Raises
    ------
    ArgumentError
        There is no such level, or a negative number of batches.
    """

    def __init__(
        self, tell: Callable[[Record], Any], level: str = "node", batches: int = 1
    ) -> None:
        if level not in LEVELS:
            raise ArgumentError(f"Story: level: expected one of {LEVELS}, got {level!r}.")
        if batches < 0:
            raise ArgumentError(f"Story: batches: expected 0 or more, got {batches}.")
        self.level = level
        self.batches = batches
        self.tellers: list[Teller] = []
        self.train_facts: dict[Function, TrainFacts] = {}
        self.calls_of: dict[Function, int] = {}
        self.loss_terms: dict[Any, list[LossTerm]] = {}
        self.introduced: set[Any] = set()
        self._tell = tell
        self._section: Teller | str | None = None
        self._repeated: Record | None = None
        self._repeats = 0
        self._failure: BaseException | None = None

    # --- hearing ----------------------------------------------------------------------------------

    def __call__(self, stage: Stage, event: Any) -> None:
        """Hear an event of a stage; what `observing` calls."""
        if event is Mark.started:
            teller = self._teller_of(stage)
            self.tellers.append(teller)
            teller.started()
        elif isinstance(event, Mark):
            self._leave(stage, event)
        elif self.tellers and self.tellers[-1].stage is stage:
            self.tellers[-1].event(event)

    def _teller_of(self, stage: Stage) -> Teller:
        if isinstance(stage.subject, Function):
            facts = self.train_facts.get(stage.subject)
            calls = self.calls_of[stage.subject] = self.calls_of.get(stage.subject, 0) + 1
            if facts is not None and calls <= self.batches:
                return BatchTeller(self, stage, facts)
            return FunctionTeller(self, stage)
        return TELLERS.get(stage.name, Teller)(self, stage)

    def _leave(self, stage: Stage, mark: Mark) -> None:
        while self.tellers:
            teller = self.tellers[-1]
            if teller.stage is stage:
                teller.finished() if mark is Mark.finished else self._failed(teller)
                self.tellers.pop()
                return
            self.tellers.pop()

    def _failed(self, teller: Teller) -> None:
        error = sys.exc_info()[1]
        teller.failed()
        if error is None or error is self._failure:
            return
        self._failure = error
        words = (str(error).splitlines() or [""])[0]
        self.tell(
            Record(
                teller.phase,
                "failed",
                1,
                teller.stage.name,
                (f"{type(error).__name__}: {words}",),
                {"error": type(error).__name__, "message": words},
                alarm=True,
            )
        )

    # --- telling ----------------------------------------------------------------------------------

    def tell(self, record: Record) -> None:
        """Hand a record on."""
        self._say_repeats()
        self._tell(record)

    def section(self, owner: Teller | str, record: Record) -> None:
        """Open a section, unless its owner's is open still."""
        if self._section is not owner and self._section != owner:
            self._section = owner
            self.tell(record)

    def brief(self, record: Record) -> None:
        """Hand on the record of a call; if the next ones are of the same kind they are counted."""
        last = self._repeated
        if last is not None and (last.kind, last.name) == (record.kind, record.name):
            self._repeated, self._repeats = record, self._repeats + 1
            return
        self.tell(record)
        self._repeated = record

    def _say_repeats(self) -> None:
        last, repeats = self._repeated, self._repeats
        self._repeated, self._repeats = None, 0
        if last is None or not repeats:
            return
        words = (f"{counted(repeats, 'more call')}; the last:", *last.cells)
        facts = {"calls": repeats, **last.facts}
        self._tell(Record(last.phase, "repeated", last.depth, last.name, words, facts, last.alarm))

    def close(self) -> None:
        """Say what is still to be said; call it when the watching is over."""
        self._say_repeats()
