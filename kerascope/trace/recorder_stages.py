"""Which hearer follows which stage."""

from __future__ import annotations

from kerascope.backend.function import Function
from kerascope.stage import Stage
from kerascope.trace.hearer import Hearer
from kerascope.trace.recorder_build import (
    CheckHearer,
    DepthHearer,
    LayerCallHearer,
    RunHearer,
    Silent,
    WalkHearer,
)
from kerascope.trace.recorder_compile import (
    CompileHearer,
    GradientsHearer,
    TrainFunctionHearer,
    UpdatesHearer,
)
from kerascope.trace.recorder_function import FunctionHearer
from kerascope.trace.recorder_run import CallHearer, FitHearer

HEARERS: dict[str, type[Hearer]] = {
    "layer_call": LayerCallHearer,
    "run_internal_graph": RunHearer,
    "map_graph": Silent,
    "build_map": WalkHearer,
    "depth_sort": DepthHearer,
    "check_graph": CheckHearer,
    "compile": CompileHearer,
    "make_train_function": TrainFunctionHearer,
    "get_updates": UpdatesHearer,
    "gradients": GradientsHearer,
    "fit": FitHearer,
    "evaluate": CallHearer,
    "predict": CallHearer,
    "eager_call": CallHearer,
}


def hearer_of(stage: Stage) -> type[Hearer]:
    """Return the class of the hearer that knows the stage's events."""
    if isinstance(stage.subject, Function):
        return FunctionHearer
    return HEARERS.get(stage.name, Hearer)
