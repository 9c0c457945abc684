"""What of a model is profiled: which of its functions, on which batch, and whose its ops are."""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kerascope.backend.function import Function
from kerascope.backend.program.profiling_lines import MeasuredLine
from kerascope.engine.compiled_network import CompiledNetwork
from kerascope.engine.network import Network
from kerascope.engine.node_ids import clean
from kerascope.errors import ArgumentError, NotCompiledError
from kerascope.registry import did_you_mean
from kerascope.viz.overlays.gradient_norms import layers_by_path

FUNCTIONS = ("train", "test", "predict")
BATCH_SIZE = 32  # that of `fit`


def owner_of(function: Function) -> CompiledNetwork | None:
    """Return the model that has made a function, None if there is none any more."""
    for one in gc.get_objects():
        if issubclass(type(one), CompiledNetwork):
            names = vars(one)
            if any(names.get(f"{name}_function") is function for name in FUNCTIONS):
                model: CompiledNetwork = one
                return model
    return None


def function_of(
    model: Any, x: Any, y: Any, of: str | None, batch_size: int | None
) -> tuple[Function, Sequence[Any] | None]:
    """Return the function of a model, and a batch for it."""
    of = of or ("predict" if y is None and x is not None else "train")
    if of not in FUNCTIONS:
        raise ArgumentError(
            f"profile: unknown function {of!r}. {did_you_mean(str(of), FUNCTIONS)}"
            f"Expected one of {', '.join(FUNCTIONS)}."
        )
    if x is None:
        function = getattr(model, f"{of}_function")
        if function is None:
            raise ArgumentError(
                f"profile: {model.name} has no {of} function yet; say on what: "
                f"profile(model, x, y)."
            )
        return function, None
    if of == "predict":
        model._make_ready(x, to_train=False)
        inputs = model._standardize_inputs(x) + model._flags(0.0)
        return model._make_predict_function(), _rows(inputs, batch_size)
    if not model.is_compiled:
        raise NotCompiledError(f"profile: {model.name} has no loss; model.compile(...) it first.")
    model._make_ready(x, to_train=True)
    inputs = model._ins(x, y, None, None, float(of == "train"), "profile")
    if of == "test":
        return model._make_test_function(), _rows(inputs, batch_size)
    model._make_train_function()
    return model.train_function, _rows(inputs, batch_size)


def _rows(inputs: Sequence[Any], batch_size: int | None) -> list[Any]:
    """Return the first rows of all arrays; the phase is a number and has none."""
    return [x if isinstance(x, float) else x[:batch_size] for x in inputs]


# --- layers ---------------------------------------------------------------------------------------


def with_layers(lines: Sequence[MeasuredLine], model: Network) -> list[MeasuredLine]:
    """Return the lines with the paths of the model's layers: `encoder/dense_1`."""
    layers = layers_by_path(model)
    owners = {clean(w.name): path for path, layer in layers.items() for w in layer.weights}
    return [replace(line, layer=_path(line, layers, owners)) for line in lines]


def _path(line: MeasuredLine, layers: Mapping[str, Any], owners: Mapping[str, str]) -> str:
    """Return the layer that an op belongs to: whose weight it updates, or in whose scope it is."""
    weight = line.scope.removeprefix("update/")
    if weight in owners:
        return owners[weight]
    parts = line.layer.split("/")
    for end in range(len(parts), 0, -1):
        path = "/".join(parts[:end])
        if path in layers:
            return path
    same = [path for path in layers if path.rpartition("/")[2] == parts[0]]
    return same[0] if len(same) == 1 and parts[0] else line.layer
