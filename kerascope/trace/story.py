"""Story: an observer that tells what the stages of the engine do, as `Record`s.

::

    records = []
    story = Story(records.append)
    with observing(story):
        model.fit(x, y)
    story.close()

Every kind of stage has a narrator, which hears the stage's events and says what they mean
(`story_build.py`, `story_training.py`); this file only finds the narrator. Nothing is told twice
and nothing is told for ever: a train function is shown in full for its first batches, later batches
only in the line of their epoch, and a call that repeats itself is counted. Watching changes
nothing: a narrator reads, and copies what it keeps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kerascope.backend.function import Function
from kerascope.errors import ArgumentError
from kerascope.stage import Stage
from kerascope.trace.records import Record, StageNarrator, StoryWriter
from kerascope.trace.story_build import (
    CompileNarrator,
    GradientsNarrator,
    InnerRunNarrator,
    LayerCallNarrator,
    MapNarrator,
    MapStepNarrator,
    TrainFunctionNarrator,
    UpdatesNarrator,
)
from kerascope.trace.story_training import (
    BatchNarrator,
    CallNarrator,
    FitNarrator,
    FunctionNarrator,
)

LEVELS = ("node", "op")

NARRATORS: dict[str, type[StageNarrator]] = {
    "layer_call": LayerCallNarrator,
    "run_internal_graph": InnerRunNarrator,
    "map_graph": MapNarrator,
    "build_map": MapStepNarrator,
    "depth_sort": MapStepNarrator,
    "check_graph": MapStepNarrator,
    "compile": CompileNarrator,
    "make_train_function": TrainFunctionNarrator,
    "get_updates": UpdatesNarrator,
    "gradients": GradientsNarrator,
    "fit": FitNarrator,
    "evaluate": CallNarrator,
    "predict": CallNarrator,
    "eager_call": CallNarrator,
}


class Story(StoryWriter):
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
        super().__init__(tell, level, batches)
        self._failure: BaseException | None = None

    def _observer_of(self, stage: Stage) -> StageNarrator:
        if isinstance(stage.subject, Function):
            facts = self.train_facts.get(stage.subject)
            calls = self.calls_of[stage.subject] = self.calls_of.get(stage.subject, 0) + 1
            if facts is not None and calls <= self.batches:
                return BatchNarrator(self, stage, facts)
            return FunctionNarrator(self, stage)
        return NARRATORS.get(stage.name, StageNarrator)(self, stage)

    def _fail(self, observer: StageNarrator, error: BaseException | None) -> None:
        observer.failed()
        if error is not None and error is not self._failure:
            self._failure = error
            words = (str(error).splitlines() or [""])[0]
            name = type(error).__name__
            facts = {"error": name, "message": words}
            text = f"{name}: {words}"
            self.tell(
                Record(observer.phase, "failed", 1, observer.stage.name, (text,), facts, alarm=True)
            )
        self.observers.remove(observer)
