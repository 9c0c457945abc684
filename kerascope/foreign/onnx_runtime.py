"""The values of an ONNX file as onnxruntime computes them, if it is installed.

It supports operators that ONNX's reference evaluator does not: those of Microsoft's domain, which
quantized and optimized files contain, and those of early opsets. The whole file runs with
all its values as outputs. They are fetched in chunks, because all of them may not fit in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any

import onnx
from onnx import ModelProto

from kerascope.foreign.onnx_nodes import KIND_OF_OP

EXTRA = "onnxruntime"
CHUNK = 64  # number of values that one run fetches
_QUIET = 4
_HINT = f" {EXTRA} computes more operators: pip install 'kerascope[{EXTRA}]'."


def hint() -> str:
    """Return a sentence for messages that advises to install onnxruntime; "" if it is installed."""
    return "" if is_there() else _HINT


def is_there() -> bool:
    """Return whether onnxruntime is installed."""
    return find_spec(EXTRA) is not None


def run_alone(model: ModelProto, feed: Mapping[str, Any]) -> list[Any]:
    """Return the outputs of a model that consists of a single node."""
    return _session(model).run(None, dict(feed))


def _session(model: ModelProto) -> Any:
    import onnxruntime  # only a session that runs a file needs it

    options = onnxruntime.SessionOptions()
    # Without this, nodes are fused, and the values between them are not available.
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = _QUIET
    content = model.SerializeToString()
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


class Runtime:
    """Computes the outputs of a file's nodes, except nodes of inner graphs.

    Parameters
    ----------
    model : ModelProto
        The model with its arrays.
    feed : mapping of str to array
        The inputs by name.
    """

    def __init__(self, model: ModelProto, feed: Mapping[str, Any]) -> None:
        self._feed = dict(feed)
        self._names = [name for node in model.graph.node for name in node.output if name]
        self._places = {name: place for place, name in enumerate(self._names)}
        draws = any(KIND_OF_OP.get(node.op_type) == "noise" for node in model.graph.node)
        self._step = len(self._names) if draws else CHUNK  # one run draws once
        self._known: dict[str, Any] = {}
        self._runner: Any = self._open(model) if self._names and is_there() else None

    def _open(self, model: ModelProto) -> Any:
        shown = ModelProto()
        shown.CopyFrom(model)
        outputs = {one.name for one in model.graph.output}
        shown.graph.output.extend(
            onnx.ValueInfoProto(name=name) for name in self._names if name not in outputs
        )
        try:
            return _session(shown)
        except Exception:  # unsupported operator or type: use the reference evaluator
            return None

    def values(self, names: Sequence[str]) -> list[Any] | None:
        """Return the outputs of one node by name, or None if onnxruntime did not compute them."""
        if self._runner is None:
            return None
        if any(name not in self._known for name in names):
            first = self._places[names[0]]
            wanted = dict.fromkeys((*self._names[first : first + self._step], *names))
            self._known = self._fetched([*wanted])
        return [self._known[name] for name in names] if self._known else None

    def _fetched(self, names: list[str]) -> dict[str, Any]:
        try:
            return dict(zip(names, self._runner.run(names, self._feed), strict=True))
        except Exception:  # a value of a type that NumPy lacks, or a node that fails
            self._runner = None
            return {}
