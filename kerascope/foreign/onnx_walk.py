"""The walk through an ONNX graph that writes down its calls: as the file says, or as it runs.

`Reading` goes through all that the file holds: both branches of an `If`, the body of a `Loop` once.
`Running` executes it: each node by ONNX's own reference evaluator, of an `If` the branch that is
taken, of a `Loop` or `Scan` each turn. What a node `If`, `Loop` or `Scan` does itself is written
here, once for both, in the words of ONNX's text; so the graphs that they hold can be walked, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import ModelProto, NodeProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from kerascope.errors import ConfigError, DataError, UnavailableError
from kerascope.foreign.onnx_bodies import OLDEST_SCAN, Body, Sort, Step, captured_by
from kerascope.foreign.onnx_nodes import is_external
from kerascope.foreign.onnx_runtime import Runtime, hint, run_alone
from kerascope.foreign.records import Value
from kerascope.foreign.scopes import Scopes
from kerascope.foreign.writer import TapeWriter

ABSENT = "absent"
FLOATS = ("float", "bfloat")
_NATIVE = "biufc"  # kinds of NumPy's own numbers


class Known(NamedTuple):
    """A value on its way: how it is written down, and the array (None while nothing runs)."""

    value: Value
    array: Any = None


class Reading:
    """Walks through what a file says, without numbers.

    Parameters
    ----------
    writer : TapeWriter
    model : ModelProto
    """

    def __init__(self, writer: TapeWriter, model: ModelProto) -> None:
        self.writer = writer
        self.model = model
        self.unknown: set[int] = set()  # tokens of values whose rank nobody knows
        self._tokens = count()

    # --- a graph ----------------------------------------------------------------------------------

    def walk(
        self, body: Body, given: Mapping[str, Known], outer: Mapping[str, Known]
    ) -> list[Known]:
        """Write down the calls of a graph and return its outputs.

        Parameters
        ----------
        body : Body
        given, outer : mapping of str to Known
            Its inputs, and what the graphs around it have made.
        """
        known = {"": self.absent(), **outer, **given}
        by_tensor: dict[int, Known] = {}
        for key, tensor in body.constants.items():
            if id(tensor) not in by_tensor:
                by_tensor[id(tensor)] = self.constant(body, key)
            known[key] = by_tensor[id(tensor)]
            if key in body.boxes:
                name = f"{body.name}.{key}" if body.name else key
                value = known[key].value
                weights = {"value": value} if value.dtype.startswith(FLOATS) else {}
                self.writer.call(
                    name, [], [value], op="Constant", kind="constant", parameters=weights
                )
        with Scopes(self.writer, body.classes) as scopes:
            for step in body.steps:
                scopes.move(step.scopes)
                outputs = self.step(step, body, known)
                known.update(zip(step.node.output, outputs, strict=False))
        return [known[one] for one in body.outputs]

    def step(self, step: Step, body: Body, known: Mapping[str, Known]) -> list[Known]:
        """Write down a node, and what is inside it; return what it gives."""
        if not step.bodies:
            outputs = self.outputs(step, body, known)
            self._call(step, step.name, [known[one] for one in step.arguments], outputs, known)
            return outputs
        with self.frame(step.name, step.node.op_type, step):
            if "" in step.bodies:
                inner = step.bodies[""]
                pairs = zip(inner.inputs, step.node.input, strict=False)
                given = {name: known[one] for name, one in pairs if one}
                absent = {name: self.absent() for name in inner.inputs if name not in given}
                return self.walk(inner, {**given, **absent}, {})
            walk = {"If": self._if, "Loop": self._loop, "Scan": self._scan}[step.node.op_type]
            return walk(step, body, known)

    def absent(self) -> Known:
        """Return what stands for an input or output that is left out."""
        return Known(Value(next(self._tokens), (), ABSENT))

    def frame(self, name: str, op: str, step: Step) -> AbstractContextManager[Any]:
        """Return a frame around the calls that are written while it is open."""
        return self.writer.span("node", name, op=op, line=step.line)

    def _call(
        self,
        step: Step,
        name: str,
        inputs: Sequence[Known],
        outputs: Sequence[Known],
        known: Mapping[str, Known],
        kind: str = "",
    ) -> None:
        self.writer.call(
            name,
            [one.value for one in inputs],
            [one.value for one in outputs if one.value.dtype != ABSENT],
            op=step.node.op_type,
            kind=kind or step.kind,
            line=step.line,
            settings=step.settings,
            parameters={role: known[one].value for role, one in step.parameters.items()},
        )

    # --- graphs that nodes hold -------------------------------------------------------------------

    def _if(self, step: Step, body: Body, known: Mapping[str, Known]) -> list[Known]:
        condition = known[step.node.input[0]]
        results = []
        for key, inner in step.bodies.items():
            if self.is_taken(condition, key):
                with self.frame(inner.name, "branch", step):
                    results.append(self.walk(inner, {}, known))
        outputs = [self.passed(branches, body, name) for branches, name in
                   zip(zip(*results, strict=True), step.node.output, strict=False)]  # fmt: skip
        inputs = [condition, *(one for branch in results for one in branch)]
        self._call(step, f"{step.name}.result", inputs, outputs, known, "merge")
        return outputs

    def _loop(self, step: Step, body: Body, known: Mapping[str, Known]) -> list[Known]:
        (inner,) = step.bodies.values()
        most, condition, *given = [*step.node.input, "", ""][: max(2, len(step.node.input))]
        states = [known[one] for one in given]
        limits = [known[one] for one in (most, condition) if one]
        turns = self.turns(known[most] if most else None, known[condition] if condition else None)
        scanned: list[list[Known]] = []
        for turn in turns:
            with self.frame(inner.name, "turn", step):
                start = [
                    self.made(inner, inner.inputs[0], partial(np.asarray, turn, np.int64)),
                    self.made(inner, inner.inputs[1], partial(np.asarray, True)),
                    *(
                        self.passed([one], inner, name)
                        for one, name in zip(states, inner.inputs[2:], strict=True)
                    ),
                ]
                self._call(step, f"{inner.name}.start", [*limits, *states], start, known, "shaping")
                again, *rest = self.walk(inner, dict(zip(inner.inputs, start, strict=True)), known)
            states, limits = rest[: len(states)], [again]
            scanned.append(rest[len(states) :])
            if not self.goes_on(again):
                break
        return self._result(step, body, inner, known, [*limits, *states], states, scanned)

    def _scan(self, step: Step, body: Body, known: Mapping[str, Known]) -> list[Known]:
        (inner,) = step.bodies.values()
        number = int(step.settings["num_scan_inputs"])
        given = [known[one] for one in step.node.input]
        states, rows = given[: len(given) - number], given[len(given) - number :]
        axes = _each(step.node, "scan_input_axes", number)
        directions = _each(step.node, "scan_input_directions", number)
        scanned = []
        for turn in self.rows(rows, axes):
            with self.frame(inner.name, "turn", step):
                pieces = [
                    self.made(inner, name, _row(row.array, axis, -1 - turn if back else turn))
                    for name, row, axis, back in
                    zip(inner.inputs[len(states) :], rows, axes, directions, strict=True)
                ]  # fmt: skip
                names = inner.inputs[: len(states)]
                start = [self.passed([one], inner, name) for one, name in
                         zip(states, names, strict=True)]  # fmt: skip
                inputs, outputs = [*states, *rows], [*start, *pieces]
                self._call(step, f"{inner.name}.start", inputs, outputs, known, "shaping")
                rest = self.walk(inner, dict(zip(inner.inputs, outputs, strict=True)), known)
            states = rest[: len(states)]
            scanned.append(rest[len(states) :])
        return self._result(step, body, inner, known, states, states, scanned)

    def _result(
        self,
        step: Step,
        body: Body,
        inner: Body,
        known: Mapping[str, Known],
        ends: list[Known],
        states: list[Known],
        scanned: list[list[Known]],
    ) -> list[Known]:
        """Write down what comes out of a loop: the last states, and what each turn gave, stacked.

        `ends` is what the last turn left; of outputs that no node reads nothing is said.
        """
        names = [*step.node.output]
        outputs = [self.passed([one], body, name) for one, name in
                   zip(states, names, strict=False)]  # fmt: skip
        number = len(inner.outputs) - len(states) - (step.node.op_type == "Loop")
        axes = _each(step.node, "scan_output_axes", number)
        backwards = _each(step.node, "scan_output_directions", number)
        first = len(inner.outputs) - number
        for place, name in enumerate(names[len(states) :]):
            rows = [turn[place].array for turn in scanned]
            sort = inner.sorts.get(inner.outputs[first + place], Sort())
            stack = _stack(rows, axes[place], bool(backwards[place]), sort)
            outputs.append(self.made(body, name, stack))
        inputs = [*ends, *(one for turn in scanned for one in turn)]
        self._call(step, f"{step.name}.result", inputs, outputs, known, "merge")
        return outputs

    # --- what differs while it runs ---------------------------------------------------------------

    def constant(self, body: Body, key: str) -> Known:
        """Return an array of the file."""
        return self.made(body, key, None)

    def outputs(self, step: Step, body: Body, known: Mapping[str, Known]) -> list[Known]:
        """Return what a node gives that holds no graph."""
        return [self.made(body, one, None) if one else self.absent() for one in step.node.output]

    def made(self, body: Body, name: str, compute: Callable[[], Any] | None) -> Known:
        """Return a value that stands here for the first time."""
        return self._declared(body.sorts.get(name, Sort()))

    def passed(self, among: Sequence[Known], body: Body, name: str) -> Known:
        """Return the same value under a new name; the first one where it is one of several."""
        before = among[0].value
        sort = body.sorts.get(name, Sort())
        if sort.shape is None and before.token not in self.unknown:
            sort = Sort(before.shape, sort.dtype or before.dtype)
        return self._declared(sort)

    def _declared(self, sort: Sort) -> Known:
        token = next(self._tokens)
        if sort.shape is None:
            self.unknown.add(token)
        return Known(Value(token, sort.sizes, sort.dtype))

    def is_taken(self, condition: Known, branch: str) -> bool:
        """Tell whether a branch of an `If` is walked."""
        return True

    def turns(self, most: Known | None, condition: Known | None) -> Iterator[int]:
        """Yield the numbers of the turns of a `Loop`, while nothing in it stops it."""
        yield 0

    def goes_on(self, condition: Known) -> bool:
        """Tell whether a `Loop` has another turn."""
        return False

    def rows(self, rows: Sequence[Known], axes: Sequence[int]) -> Iterator[int]:
        """Yield the numbers of the turns of a `Scan`."""
        yield 0


class Running(Reading):
    """Executes what a file says, node by node, and writes down each value."""

    def __init__(self, writer: TapeWriter, model: ModelProto, runtime: Runtime) -> None:
        super().__init__(writer, model)
        self._runtime = runtime
        self._evaluators: dict[Any, tuple[ModelProto, ReferenceEvaluator | Exception]] = {}

    def constant(self, body: Body, key: str) -> Known:
        """Return an array of the file with its numbers."""
        tensor = body.constants[key]
        if is_external(tensor):
            raise UnavailableError(
                f"ONNX: the numbers of {key!r} stand in another file; expected a path, so that it "
                f"is looked for beside the model's, got a ModelProto. Give the path of the file."
            )
        return self.known(numpy_helper.to_array(tensor))

    def known(self, array: Any) -> Known:
        """Return an array with how it is written down."""
        return Known(value_of(next(self._tokens), array), array)

    def outputs(self, step: Step, body: Body, known: Mapping[str, Known]) -> list[Known]:
        """Return what onnxruntime computes for one node, or ONNX's reference evaluator."""
        names = [one for one in step.node.output if one]
        results = None if body.name else self._runtime.values(names)
        if results is None:
            results = self._evaluated(step, body, known)
        made = dict(zip(names, results, strict=True))
        return [self.known(made[one]) if one else self.absent() for one in step.node.output]

    def _evaluated(self, step: Step, body: Body, known: Mapping[str, Known]) -> list[Any]:
        if step.node.op_type == "Scan":
            raise ConfigError(
                f"ONNX: node {step.name!r} is a Scan of an opset before {OLDEST_SCAN}, which the "
                f"reference evaluator does not run; expected a later one. Convert the file: "
                f"onnx.version_converter.{hint()}"
            )
        names = dict.fromkeys([*filter(None, step.node.input), *captured_by(step.node)])
        feed = {one: known[one].array for one in names if known[one].value.dtype != ABSENT}
        model, evaluator = self._evaluator(step, body, feed)
        try:
            if isinstance(evaluator, Exception):
                raise evaluator
            results: list[Any] = evaluator.run(None, feed)
            return results
        except Exception as error:
            with suppress(Exception):
                return run_alone(model, feed)
            shapes = ", ".join(f"{one} {_shape_in_words(array)}" for one, array in feed.items())
            raise DataError(
                f"ONNX: node {step.name!r} ({step.node.op_type}) failed on "
                f"{shapes or 'no inputs'}; expected that ONNX's reference evaluator computes it, "
                f"got {type(error).__name__}: {error}. Compare with what "
                f"onnx.checker.check_model says of the file.{hint()}"
            ) from error

    def _evaluator(
        self, step: Step, body: Body, feed: Mapping[str, Any]
    ) -> tuple[ModelProto, ReferenceEvaluator | Exception]:
        """Return a model that has one node alone, and its evaluator or why there is none."""
        types = {name: _type_of(array) for name, array in feed.items()}
        key = (step.name, *(one.SerializeToString() for one in types.values()))
        if key not in self._evaluators:
            inputs = [helper.make_value_info(name, one) for name, one in types.items()]
            outputs = [onnx.ValueInfoProto(name=one) for one in filter(None, step.node.output)]
            graph = helper.make_graph([step.node], step.name, inputs, outputs)
            opsets = [helper.make_opsetid(*one) for one in body.opsets.items()]
            model = helper.make_model(graph, opset_imports=opsets, functions=self.model.functions)
            model.ir_version = self.model.ir_version or model.ir_version
            try:
                self._evaluators[key] = model, ReferenceEvaluator(model)
            except Exception as error:  # of an operator that it does not know
                self._evaluators[key] = model, error
        return self._evaluators[key]

    def made(self, body: Body, name: str, compute: Callable[[], Any] | None) -> Known:
        """Return a value that was computed here."""
        assert compute is not None
        return self.known(compute())

    def passed(self, among: Sequence[Known], body: Body, name: str) -> Known:
        """Return the same array under a new name."""
        return self.known(among[0].array)

    def is_taken(self, condition: Known, branch: str) -> bool:
        """Tell whether the condition chooses this branch."""
        return bool(np.all(condition.array)) == (branch == "then_branch")

    def turns(self, most: Known | None, condition: Known | None) -> Iterator[int]:
        """Yield the numbers of turns up to the greatest that there may be."""
        if condition is not None and not self.goes_on(condition):
            return
        yield from range(int(most.array)) if most is not None else count()

    def goes_on(self, condition: Known) -> bool:
        """Tell what the condition says."""
        return bool(np.all(condition.array))

    def rows(self, rows: Sequence[Known], axes: Sequence[int]) -> Iterator[int]:
        """Yield a number for each row."""
        yield from range(rows[0].array.shape[axes[0]])


# --- arrays ---------------------------------------------------------------------------------------


def value_of(token: Any, array: Any) -> Value:
    """Return a value as it is recorded; lists of arrays are recorded without their numbers.

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


def _each(node: NodeProto, name: str, number: int) -> list[int]:
    """Return an attribute of a `Scan` that has a number for each input, 0 if nothing is said."""
    for attribute in node.attribute:
        if attribute.name == name:
            return [int(one) for one in attribute.ints]
    return [0] * number


def _row(array: Any, axis: int, place: int) -> Callable[[], Any]:
    return lambda: np.take(array, place, axis=axis)


def _stack(rows: list[Any], axis: int, is_backwards: bool, sort: Sort) -> Callable[[], Any]:
    """Return what puts the rows of all turns together; none give an empty array."""

    def stacked() -> Any:
        if not rows:
            sizes = [size or 0 for size in sort.sizes]
            sizes.insert(axis if axis >= 0 else len(sizes) + 1 + axis, 0)
            return np.zeros(sizes, sort.dtype or "float32")
        return np.stack(rows[::-1] if is_backwards else rows, axis=axis)

    return stacked
