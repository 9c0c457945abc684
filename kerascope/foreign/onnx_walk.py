"""The walk through an ONNX graph (`bodies.py`), and the evaluator of its nodes.

Each node is computed by onnxruntime if it is installed, otherwise by ONNX's own reference
evaluator. The walk itself runs the nodes `If`, `Loop` and `Scan`, as ONNX defines them, so that it
can record the graphs that they contain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from kerascope.errors import ConfigError, DataError, UnavailableError
from kerascope.foreign.bodies import (
    ABSENT,
    Body,
    Each,
    Loop,
    Step,
    Values,
    Visit,
    Walk,
    WalkedValue,
)
from kerascope.foreign.onnx_bodies import OLDEST_SCAN
from kerascope.foreign.onnx_nodes import is_external
from kerascope.foreign.onnx_runtime import Runtime, hint, run_alone
from kerascope.foreign.records import Value

FLOATS = ("float", "bfloat")
_NATIVE = "biufc"  # kinds of NumPy's own numbers


class OnnxWalk(Walk):
    """Records the nodes of a file as calls, including each iteration of a loop."""

    def enter_constants(self, body: Body, known: dict[Any, WalkedValue]) -> None:
        """Add a graph's arrays to the dict `known`. Record the arrays that are drawn as boxes."""
        by_tensor: dict[int, WalkedValue] = {}
        for key, tensor in body.constants.items():
            if id(tensor) not in by_tensor:
                array = self.evaluator and _numbers(key, tensor)
                by_tensor[id(tensor)] = self.made(body, key, array)
            known[key] = by_tensor[id(tensor)]
            if key in body.boxes:
                value = known[key].value
                weights = {"value": value} if value.dtype.startswith(FLOATS) else {}
                self.write_constant(body, key, value, parameters=weights)

    def read(self, key: Any, known: Mapping[Any, WalkedValue]) -> WalkedValue:
        """Return the value with this name; for "", which names an omitted input, an absent one."""
        return known[key] if key else self.absent()

    def leaf(self, visit: Visit) -> list[WalkedValue]:
        """Record a node that contains no graph, and return its outputs."""
        step, known = visit.step, visit.known
        outputs = self.computed(visit)
        inputs = [known[one] for one in step.arguments]
        weights = {role: known[one].value for role, one in step.parameters.items()}
        self.call(step, step.name, inputs, outputs, step.kind, parameters=weights)
        return outputs

    def loop_of(self, visit: Visit) -> Loop | None:
        """Return the `Loop` of `bodies.py` for a node `Loop` or `Scan`, or None for an `If`."""
        step, _, operands, _ = visit
        if step.op == "If":
            return None
        (inner,) = step.bodies.values()
        if step.op == "Scan":
            return self._scan(step.source, inner, operands)
        states = operands[2:]
        stacks: list[Each] = [(0, False)] * (len(inner.outputs) - 1 - len(states))
        limits = [one for one in operands[:2] if one.value.dtype != ABSENT]
        turns = None
        if self.evaluator is not None:
            most, condition = (*(one.array for one in operands[:2]), None, None)[:2]
            turns = None if most is None else int(most)
            if condition is not None and not np.any(condition):
                turns = 0
        return Loop(inner, states, stacks=stacks, turns=turns, is_counted=True, limits=limits)

    def _scan(self, node: NodeProto, inner: Body, operands: Values) -> Loop:
        number = next(one.i for one in node.attribute if one.name == "num_scan_inputs")
        first = len(operands) - number
        states, rows = operands[:first], operands[first:]
        axes = _each(node, "scan_input", number)
        stacks = _each(node, "scan_output", len(inner.outputs) - first)
        turns = None if self.evaluator is None else rows[0].array.shape[axes[0][0]]
        return Loop(inner, states, rows, axes, stacks, turns=turns)


class OnnxEvaluator:
    """Computes the outputs of a file's nodes, with onnxruntime or ONNX's reference evaluator.

    Parameters
    ----------
    model : ModelProto
    runtime : Runtime
        Computes values with onnxruntime, if it is installed.
    """

    numpy: Any = np

    def __init__(self, model: ModelProto, runtime: Runtime) -> None:
        self.model = model
        self._runtime = runtime
        self._evaluators: dict[Any, tuple[ModelProto, ReferenceEvaluator | Exception]] = {}

    def compute(self, visit: Visit) -> list[Any]:
        """Return the outputs of a node.

        They come from onnxruntime if it is installed and the node is in the main graph, otherwise
        from ONNX's reference evaluator.
        """
        results = None
        if not visit.body.name:
            results = self._runtime.values([one for one in visit.step.outputs if one])
        return self._evaluated(visit) if results is None else results

    def value_of(self, token: int, array: Any) -> Value:
        """Return an array as a `Value` with this token, which a `TapeWriter` can record."""
        return value_of(token, array)

    def branch(self, condition: Any, branches: Sequence[str]) -> str:
        """Return the attribute of an `If` that contains the branch to take."""
        return "then_branch" if np.all(condition) else "else_branch"

    def _evaluated(self, visit: Visit) -> list[Any]:
        step = visit.step
        if step.op == "Scan":
            raise ConfigError(
                f"ONNX: node {step.name!r} is a Scan of an opset before {OLDEST_SCAN}, which the "
                f"reference evaluator does not support. Convert the file with "
                f"onnx.version_converter.{hint()}"
            )
        pairs = zip(step.inputs, visit.operands, strict=True)
        feed = {key: one.array for key, one in pairs if one.value.dtype != ABSENT}
        model, evaluator = self._evaluator(step, visit.body, feed)
        try:
            if isinstance(evaluator, Exception):
                raise evaluator
            return evaluator.run(None, feed)
        except Exception as error:
            with suppress(Exception):
                return run_alone(model, feed)
            shapes = ", ".join(f"{one} {_shape_in_words(array)}" for one, array in feed.items())
            raise DataError(
                f"ONNX: node {step.name!r} ({step.op}) failed on {shapes or 'no inputs'} "
                f"({type(error).__name__}: {error}). Check the file with "
                f"onnx.checker.check_model.{hint()}"
            ) from error

    def _evaluator(
        self, step: Step, body: Body, feed: Mapping[str, Any]
    ) -> tuple[ModelProto, ReferenceEvaluator | Exception]:
        """Return a model of this node alone, and its evaluator or the error of making it."""
        types = {name: _type_of(array) for name, array in feed.items()}
        key = (step.name, *(one.SerializeToString() for one in types.values()))
        if key not in self._evaluators:
            inputs = [helper.make_value_info(name, one) for name, one in types.items()]
            outputs = [onnx.ValueInfoProto(name=one) for one in filter(None, step.outputs)]
            graph = helper.make_graph([step.source], step.name, inputs, outputs)
            opsets = [helper.make_opsetid(*one) for one in body.source.items()]
            model = helper.make_model(graph, opset_imports=opsets, functions=self.model.functions)
            model.ir_version = self.model.ir_version or model.ir_version
            try:
                self._evaluators[key] = model, ReferenceEvaluator(model)
            except Exception as error:  # an unsupported operator
                self._evaluators[key] = model, error
        return self._evaluators[key]


# --- arrays ---------------------------------------------------------------------------------------


def value_of(token: Any, array: Any) -> Value:
    """Return an array as a `Value` for a `TapeWriter`.

    The value of a list of arrays has no numbers.

    Examples
    --------
    >>> value_of(0, np.zeros((2, 3), "float32"))[:3]
    (0, (2, 3), 'float32')
    >>> value_of(1, [np.zeros(2), np.zeros(3)])[:3]
    (1, (2,), 'sequence')
    """
    if array is None:
        return Value(token, (), "optional", None)
    if isinstance(array, list):
        return Value(token, (len(array),), "sequence", None)
    if not isinstance(array, np.ndarray):
        array = np.asarray(array)
    if array.dtype.kind in "OUST":
        return Value(token, array.shape, "string", lambda: array.astype(str))
    if array.dtype.kind in _NATIVE:
        return Value(token, array.shape, array.dtype.name, lambda: array)
    return Value(token, array.shape, array.dtype.name, lambda: array.astype(np.float32))


def _type_of(array: Any) -> onnx.TypeProto:
    if isinstance(array, list):
        inner = _type_of(array[0]) if array else helper.make_tensor_type_proto(1, None)
        return helper.make_sequence_type_proto(inner)
    if array is None:
        return helper.make_optional_type_proto(helper.make_tensor_type_proto(1, None))
    array = np.asarray(array)
    dtype = np.dtype(object) if array.dtype.kind in "OUST" else array.dtype
    return helper.make_tensor_type_proto(helper.np_dtype_to_tensor_dtype(dtype), array.shape)


def _shape_in_words(array: Any) -> str:
    return f"{array.shape}" if isinstance(array, np.ndarray) else type(array).__name__


def _each(node: NodeProto, name: str, number: int) -> list[Each]:
    """Return, for each input or output of a `Scan`, the scanned axis, and whether backward."""
    given = {one.name: [*one.ints] for one in node.attribute}
    zeros = [0] * number
    axes, directions = (given.get(f"{name}_{word}", zeros) for word in ("axes", "directions"))
    return [*zip(axes, map(bool, directions), strict=True)]


def _numbers(name: str, tensor: TensorProto) -> np.ndarray:
    """Return the numbers of an array of the file. Raise if they are in another file."""
    if is_external(tensor):
        raise UnavailableError(
            f"ONNX: the numbers of {name!r} are in another file, which a ModelProto cannot find. "
            f"Give the path of the model file."
        )
    return numpy_helper.to_array(tensor)
