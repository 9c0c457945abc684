"""The table of a summary and the steps of a walk, made from recorded calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kerascope.engine.summary import Summary, SummaryRow, Total
from kerascope.foreign.records import Call, Recorded
from kerascope.printable import printable
from kerascope.trace.statistics import statistics_of
from kerascope.viz.graph import Graph


@dataclass(frozen=True, eq=False, repr=False)
class CallStep:
    """One step of the forward pass of a foreign model, like `WalkStep` for models of kerascope.

    Attributes
    ----------
    call : Call
    depth : int
        Length of the longest path to an output of the model, or of the frame around the call.
    inputs, outputs : list of np.ndarray
        The arrays that the call read and returned.
    tensor_map : dict of str to np.ndarray
        All results so far by the ids of their calls, including those of this step. "lstm[1]" is the
        second output of a call.

    Examples
    --------
    >>> x = Recorded("x", (2,), "float32", np.ones(2, "float32"))
    >>> call = Call("x", "x", "Input", "input", (), (x,))
    >>> [step] = steps_of([call], Graph("one", (), ()))
    >>> step.call.id, step.depth, step.outputs[0].tolist(), list(step.tensor_map)
    ('x', 0, [1.0, 1.0], ['x'])
    """

    call: Call
    depth: int
    inputs: list[np.ndarray]
    outputs: list[np.ndarray]
    tensor_map: dict[str, np.ndarray]

    def __repr__(self) -> str:
        arrays = "; ".join(map(_in_words, self.outputs))
        name, number = printable(self.call.id), len(self.tensor_map)
        return f"<depth {self.depth}  {name}  {arrays}  tensor_map: {number}>"


def _in_words(array: np.ndarray) -> str:
    """Return an array as short text: its statistics, or the first items of an array of text."""
    if array.dtype.kind != "U":
        return str(statistics_of(array))
    texts = [printable(str(text)) for text in array.ravel()[:4]]
    return f"string{list(array.shape)} {', '.join(texts)}{' …' * (array.size > len(texts))}"


def steps_of(calls: Sequence[Call], graph: Graph) -> Iterator[CallStep]:
    """Yield a `CallStep` for each call of a recorded pass. The numbers must have been kept.

    Examples
    --------
    >>> x = Recorded("x", (2,), "float32", np.ones(2, "float32"))
    >>> [step] = steps_of([Call("x", "x", "Input", "input", (), (x,))], Graph("one", (), ()))
    >>> step
    <depth 0  x  f32[2] |x|=1.414 min=1 mean=1 max=1  tensor_map: 1>
    """
    depths = {node.id: node.depth for node in graph.nodes}
    tensor_map: dict[str, np.ndarray] = {}
    for call in calls:
        outputs = _numbers(call.outputs)
        for number, array in enumerate(outputs):
            tensor_map[call.id if not number else f"{call.id}[{number}]"] = array
        depth = depths.get(call.id, 0)
        yield CallStep(call, depth, _numbers(call.inputs), outputs, dict(tensor_map))


def _numbers(values: Sequence[Recorded]) -> list[np.ndarray]:
    return [value.array for value in values if isinstance(value.array, np.ndarray)]


def summary_of(graph: Graph, calls: Sequence[Call]) -> Summary:
    """Return the table of a recorded pass, with a row for each call and the totals.

    Parameters
    ----------
    graph : Graph
        The graph of these calls.
    calls : sequence of Call
    """
    sources: dict[str, dict[str, None]] = {}
    for edge in graph.edges:
        output = int(edge.attrs.get("output", 0))
        name = f"{edge.source}[{output}]" if output else edge.source
        sources.setdefault(edge.target, {})[name] = None
    boxes = {node.id: node for node in graph.nodes}
    rows = []
    for call in calls:
        box = boxes[call.id]
        shapes: list[Any] = [value.shape for value in call.outputs]
        rows.append(
            SummaryRow(
                layer=call.id,
                class_name=call.op,
                depth=box.depth,
                output_shape=shapes[0] if len(shapes) == 1 else shapes or None,
                parameters=int(box.attrs["parameters"]),
                connected_to=tuple(sources.get(call.id, ())),
                trainable=any(weight.trainable for weight in call.parameters.values()),
                is_again=bool(box.attrs["shared_with"]),
                name=call.name,
            )
        )
    weights = {value.token: value for call in calls for value in call.parameters.values()}
    trained = [weight for weight in weights.values() if weight.trainable]
    others = [weight for weight in weights.values() if not weight.trainable]
    return Summary(
        graph.name, tuple(rows), _total([*trained, *others]), _total(trained), _total(others)
    )


def _total(weights: Sequence[Recorded]) -> Total:
    sizes = [_size(weight) for weight in weights]
    return Total(sum(sizes), sum(n * _bytes_of(w) for n, w in zip(sizes, weights, strict=True)))


def _size(value: Recorded) -> int:
    return int(np.prod([size or 0 for size in value.shape], dtype="int64"))


def _bytes_of(value: Recorded) -> int:
    """Return the size of an element of a dtype in bytes: 2 (bfloat16) if NumPy lacks the dtype."""
    try:
        return np.dtype(value.dtype).itemsize
    except TypeError:
        return 2
