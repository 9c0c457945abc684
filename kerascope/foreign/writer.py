"""A tape that any library can write: what `kerascope.foreign`'s adapters tell, and yours can.

A `TapeWriter` is told of spans and calls as they happen. It keeps them twice: as the events of a
tape (`notes.py`), with which the debugger's `replay`, its alarms and its questions work, and as the
records of the last pass (`calls`, `frames`), of which its graph is made.

What the debugger shows comes from the names that each event changes; `sources` are the calls from
which the inputs come, "lstm[1]" for the second output of one, so that a tape alone has the graph:

==============  ==========================  ======================================================
span or call    names at its begin          names at its end
==============  ==========================  ======================================================
batch           batch_index, size           outs
function        model, tensor_map, grads,   outputs
                updates
node            node, layer, kind, inputs,  result, tensor_map[id]
                parameters, sources
gradient        node, layer                 result, grads[name]
update          p, g                        new_p, updates[name]; then weights[name], old, new
any             what the writer is given    what is put into the dict that `span` gives; error
==============  ==========================  ======================================================
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from os import PathLike
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.foreign.graphs import graph_of_calls
from kerascope.foreign.notes import Notes
from kerascope.foreign.records import (
    Call,
    Frame,
    Line,
    Recorded,
    Setting,
    Value,
    kept_of,
    new_call,
    new_recorded,
)
from kerascope.registry import did_you_mean
from kerascope.trace.events import Event
from kerascope.trace.snapshots import ObjectRef, error_ref
from kerascope.trace.statistics import MOST_ELEMENTS, Batch, Statistics
from kerascope.trace.tape_files import GrowingFile
from kerascope.trace.tape_store import HISTORY, Tape
from kerascope.viz.graph import Graph
from kerascope.viz.kinds import KINDS

ARRAYS = ("all", "statistics", "none")
SMALL = 2048  # elements; the figures of such arrays wait until somebody reads one of them
NOTHING: Mapping[str, Any] = MappingProxyType({})
CONTAINERS = ("tensor_map", "grads", "updates")
SPANS = (
    *("fit", "epoch", "batch", "evaluate", "predict", "function"),
    *("forward", "loss", "backward", "update", "commit", "node"),
)


class OpenSpan(NamedTuple):
    """A span that has begun: its kind, and how many are open with it."""

    kind: str
    depth: int


class TapeWriter:
    """Is told what runs, and writes it down.

    Parameters
    ----------
    arrays : {"statistics", "all", "none"}
        What is kept of each array: its figures, its numbers, or nothing. With "none" no events are
        written, only the records that make a graph.
    budget : int or None
        How many bytes of events and arrays the tape keeps; None is no limit.
    library : str
        Who runs: "torch 2.13".
    path : path, optional
        Write the events there too as they come, batch by batch, so that `Tape.load` and
        `kerascope replay` can read what a killed run leaves.

    Attributes
    ----------
    calls : list of Call
        Those since the last batch began, in order.
    frames : list of Frame
        The same; outer ones before inner ones.
    output_tokens : list of hashable
        Tokens of the model's outputs in the last pass; empty if the adapter does not know them.
    tape : Tape
        All that has happened.

    Examples
    --------
    >>> x, w = np.ones((1, 2), "float32"), np.full((2, 3), 0.5, "float32")
    >>> y = x @ w
    >>> def value(array): return Value(id(array), array.shape, str(array.dtype), lambda: array)
    >>> writer = TapeWriter(library="mine")
    >>> with writer.span("function", "forward pass"), writer.span("forward", "forward"):
    ...     name = writer.call("x", [], [value(x)], op="Input", kind="input")
    ...     name = writer.call("scores", [value(x)], [value(y)], op="Linear", kind="dense")
    >>> [(call.id, call.op) for call in writer.calls]
    [('x', 'Input'), ('scores', 'Linear')]
    >>> print(writer.tape.names_at(len(writer.tape) - 3)["tensor_map"]["scores"][0])
    f32[1,3] |x|=1.732 min=1 mean=1 max=1
    """

    def __init__(
        self,
        arrays: str = "statistics",
        budget: int | None = HISTORY,
        library: str = "",
        path: str | PathLike[str] | None = None,
    ) -> None:
        _check_choice("arrays", arrays, ARRAYS)
        self.arrays = arrays
        self.library = library
        self.calls: list[Call] = []
        self.frames: list[Frame] = []
        self._notes = Notes(budget, may_wait=arrays != "all")
        self._file = None if path is None else GrowingFile(path)
        if self._file is not None:
            self._notes.listen(self._file.add)
        self._open: list[str] = []  # frames
        self._numbers: dict[str, int] = {}  # of calls by name
        self._taken: set[str] = set()  # ids of calls and frames
        self.output_tokens: list[Hashable] = []
        self._batch = Batch()  # of small arrays, whose figures are found together
        self._values: dict[Hashable, Recorded] = {}  # what was read, by token

    @property
    def tape(self) -> Tape:
        """All that has happened."""
        return self._notes.tape

    @contextmanager
    def span(
        self, kind: str, name: str, *, op: str = "", line: Line | None = None, **names: Any
    ) -> Iterator[dict[str, Any]]:
        """Let what happens inside a `with` block lie in a span; a "node" is a frame around calls.

        Parameters
        ----------
        kind : str
            One of `SPANS`.
        name : str
            Of a batch: "batch 3". Of a frame: as of a call.
        op : str
            Of a frame: its class.
        line : (str, int, str), optional
            File, line and function of the user's code.
        **names : object
            What names are when it begins: `batch_index=3`.

        Yields
        ------
        dict
            Put into it what names are when it ends: `told["outs"] = (loss,)`.

        Raises
        ------
        ArgumentError
            There are no spans of this kind.
        """
        told: dict[str, Any] = {}
        span = self.begin(kind, name, op=op, line=line, **names)
        try:
            yield told
        except BaseException as error:
            self.end(span, error, **told)
            raise
        else:
            self.end(span, **told)

    def begin(
        self, kind: str, name: str, *, op: str = "", line: Line | None = None, **names: Any
    ) -> OpenSpan:
        """Begin a span that no `with` block holds, and that `end` ends; see `span`."""
        if kind not in SPANS:
            _check_choice("kind", kind, SPANS)
        if kind == "node":
            frame = self._begin_frame(name, op)
            if self.arrays != "none":
                self._notes.frame(frame, line, names)
            return OpenSpan(kind, self._notes.depth)
        if kind == "batch":
            self._forget_pass()
        elif kind == "function":
            names = {"model": ObjectRef(self.library, name), **names}
            names.update({container: {} for container in CONTAINERS})
        if self.arrays != "none":
            self._notes.begin(kind, name, line, names)
        return OpenSpan(kind, self._notes.depth)

    def end(self, span: OpenSpan, error: BaseException | None = None, **names: Any) -> None:
        """End a span, and all inside of it that an error left open."""
        if span.kind == "node":
            self._open.pop()
        if self.arrays != "none":
            if error is not None:
                names["error"] = error_ref(error)
            while self._notes.depth > span.depth:
                self._notes.end({})
            self._notes.end(names)

    def call(
        self,
        name: str,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        *,
        op: str,
        kind: str = "layer",
        line: Line | None = None,
        settings: Mapping[str, Setting] = NOTHING,
        parameters: Mapping[str, Value] = NOTHING,
        buffers: Mapping[str, Value] = NOTHING,
    ) -> str:
        """Tell of a call that has returned; its arrays are read now.

        Parameters
        ----------
        name : str
            Of the module, or of the function with that of the module around it: "block/add".
        inputs, outputs : sequence of Value
        op : str
            Class of the module, or name of the function.
        kind : str
            One of `kerascope.viz.kinds.KINDS`.
        line : (str, int, str), optional
            File, line and function of the user's code.
        settings : mapping of str to (str, int, float or bool)
            How it is set; the words of the key "" stand in the box as they are.
        parameters : mapping of str to Value
            Its weights.
        buffers : mapping of str to Value
            What else it keeps and computes with: running means.

        Returns
        -------
        str
            Its id: the name, for the second call of it "name:2".

        Raises
        ------
        ArgumentError
            There are no boxes of this kind.
        """
        if kind not in KINDS:
            _check_choice("kind", kind, KINDS)
        arrays, call_id = self.arrays, self._free_id(name)
        weights = "all" if arrays == "all" else "none"  # their figures would cost more than a call
        call = new_call((
            call_id, name, op, kind,
            tuple([self._read(value, arrays) for value in inputs]),
            tuple([self._read(value, arrays) for value in outputs]),
            self._open[-1] if self._open else "", line, dict(settings),
            {key: self._read(value, weights) for key, value in parameters.items()},
            {key: self._read(value, weights) for key, value in buffers.items()},
        ))  # fmt: skip
        self.calls.append(call)
        if arrays != "none":
            self._notes.call(call)
        return call_id

    def gradient(self, name: str, array: np.ndarray, *, line: Line | None = None) -> None:
        """Tell a gradient of the loss.

        Parameters
        ----------
        name : str
            With respect to what: the id of a call, for its output, or the name of a parameter.
        array : np.ndarray
            Is read now.
        line : (str, int, str), optional
        """
        if self.arrays != "none":
            self._notes.gradient(name, line, self._kept(array))

    def update(
        self,
        parameter: str,
        old: np.ndarray,
        new: np.ndarray,
        gradient: np.ndarray | None = None,
        *,
        line: Line | None = None,
    ) -> None:
        """Tell that an optimizer has given a parameter a new value.

        Parameters
        ----------
        parameter : str
        old, new : np.ndarray
            Before and after; of one shape.
        gradient : np.ndarray, optional
        line : (str, int, str), optional

        Raises
        ------
        ArgumentError
            The new value has another shape than the old one.
        """
        if old.shape != new.shape:
            raise ArgumentError(
                f"TapeWriter.update: {parameter!r} had the shape {old.shape}; expected a new value "
                f"of the same, got {new.shape}."
            )
        if self.arrays != "none":
            p, new_p = self._kept(old), self._kept(new)
            g = None if gradient is None else self._kept(gradient)
            self._notes.update(parameter, line, p, new_p, g)

    def outputs(self, values: Sequence[Value]) -> None:
        """Tell what the whole model has given; untold, it is what no call reads.

        Parameters
        ----------
        values : sequence of Value
        """
        self.output_tokens = [value.token for value in values]

    def failed(self, error: BaseException) -> None:
        """Tell that the innermost span has failed, where no exception goes through its block."""
        if self.arrays != "none":
            names = {"error": error_ref(error)}
            self._notes.instant("event", type(error).__name__, None, names)

    def listen(self, hear: Callable[[Event], Any]) -> None:
        """Let somebody hear each event from now on, when it happens."""
        self._notes.listen(hear)

    def graph(self, name: str, *, values: bool = False) -> Graph:
        """Return the graph of the last pass: of the calls since the last batch began.

        Parameters
        ----------
        name : str
            The model's.
        values : bool
            Write into each box what it gave; with `arrays="all"`.
        """
        return graph_of_calls(
            name, self.calls, self.frames, library=self.library or "foreign", values=values,
            outputs=self.output_tokens,
        )  # fmt: skip

    def close(self) -> None:
        """End all spans that are open still, and the file."""
        self._notes.close()
        self._open.clear()
        if self._file is not None:
            self._notes.leave(self._file.add)
            self._file.close()
            self._file = None

    def __enter__(self) -> TapeWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, value: Value, arrays: str) -> Recorded:
        """Return what is kept of a value. An array in one state is read once: when it is met."""
        token, shape, dtype, read, trainable, same_as = value
        known = self._values.get(token)
        if known is not None and (known.array is not None or read is None or arrays == "none"):
            return known
        kept: Any = None
        if arrays != "none" and read is not None:
            if same_as is not None:
                kept = self._figures_of_same(same_as, shape)
            if kept is None and (array := read()) is not None:
                kept = self._kept(array)
        known = self._values[token] = new_recorded((token, shape, dtype, kept, trainable))
        return known

    def _figures_of_same(self, token: Hashable, shape: tuple[Any, ...]) -> Statistics | None:
        """Return the figures of a value that holds the same numbers as one that was read."""
        known = self._values.get(token)
        if known is None or not isinstance(known.array, Statistics):
            return None
        kind = known.array.kind.partition("[")[0]
        return replace(known.array, kind=f"{kind}[{','.join(map(str, shape))}]")

    def _kept(self, array: np.ndarray) -> np.ndarray | Statistics | None:
        """Return what the tape keeps of an array; the figures of small ones are found together."""
        if array.dtype.kind == "U":  # text has no figures
            return array if self.arrays == "all" else None
        is_small = 0 < array.size <= SMALL and array.dtype.kind in "fiub"
        if is_small and self.arrays == "statistics":
            batch = self._batch
            if batch.is_closed or batch.size + array.size > MOST_ELEMENTS:
                if not batch.is_closed:
                    batch.close()
                batch = self._batch = Batch()
            return batch.take(array.copy())
        return kept_of(array, self.arrays)

    # --- names ------------------------------------------------------------------------------------

    def _forget_pass(self) -> None:
        """Keep the records of the last batch alone: a whole training would be too much."""
        self.calls, self.frames = [], []
        self._numbers.clear()
        self._taken.clear()
        self._values.clear()
        self.output_tokens = []
        if self.arrays != "none":
            self._notes.begin_pass()

    def _free_id(self, name: str) -> str:
        """Return an id that no call and no frame has."""
        while True:
            number = self._numbers[name] = self._numbers.get(name, 0) + 1
            free = name if number == 1 else f"{name}:{number}"
            if free not in self._taken:
                self._taken.add(free)
                return free

    def _begin_frame(self, name: str, op: str) -> Frame:
        frame = Frame(self._free_id(name), name, op, self._open[-1] if self._open else "")
        self.frames.append(frame)
        self._open.append(frame.id)
        return frame


def _check_choice(name: str, value: Any, known: Sequence[str]) -> None:
    if value not in known:
        expected = f"expected one of {', '.join(known)}, got {value!r}"
        hint = did_you_mean(str(value), known)
        raise ArgumentError(f"TapeWriter: unknown {name}; {expected}. {hint}".rstrip())
