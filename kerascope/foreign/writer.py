"""`TapeWriter`: records models of any library. The adapters of `kerascope.foreign` use it.

You report spans and calls to a `TapeWriter` as they happen. It keeps them twice: as the events of a
tape (`notes.py`), for `kerascope replay` and the debugger, and as the records of the last
pass (`calls`, `frames`), from which the graph is made.

The debugger shows the names that each event changes. `sources` are the calls that made the inputs,
with "lstm[1]" for the second output of a call, so that a tape alone contains the graph:

==============  ==========================  ======================================================
span or call    names at the begin          names at the end
==============  ==========================  ======================================================
batch           batch_index, size           outs
function        model, tensor_map, grads,   outputs
                updates
node            node, layer, kind, inputs,  result, tensor_map[id]
                parameters, sources
gradient        node, layer                 result, grads[name]
update          p, g                        new_p, updates[name]; then weights[name], old, new
any             names passed to `span`      names put into the dict that `span` yields; error
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
from kerascope.trace.event_writer import EventWriter
from kerascope.trace.events import Event
from kerascope.trace.snapshots import ObjectRef, error_ref
from kerascope.trace.statistics import MOST_ELEMENTS, Batch, Statistics
from kerascope.trace.tape_files import GrowingFile
from kerascope.trace.tape_store import HISTORY, Tape
from kerascope.viz.graph import Graph
from kerascope.viz.kinds import KINDS

ARRAYS = ("all", "statistics", "none")
SMALL = 2048  # elements; statistics of such arrays are computed when one is read
NOTHING: Mapping[str, Any] = MappingProxyType({})
CONTAINERS = ("tensor_map", "grads", "updates")
SPANS = (
    *("fit", "epoch", "batch", "evaluate", "predict", "function"),
    *("forward", "loss", "backward", "update", "commit", "node"),
)


class OpenSpan(NamedTuple):
    """A span that has begun: its kind, and the number of open spans including this one."""

    kind: str
    depth: int


class TapeWriter:
    """Records the spans and calls of a run that you report to it, on a tape and as a graph.

    Parameters
    ----------
    arrays : {"statistics", "all", "none"}
        What is kept of each array: its statistics, its numbers, or nothing. With "none", only the
        records for the graph are kept, and no events.
    budget : int or None
        How many bytes of events and arrays the tape keeps. None means no limit.
    library : str
        Name and version of the library that runs, such as "torch 2.13".
    path : path, optional
        A file to which the events are also written batch by batch, so that `Tape.load` and
        `kerascope replay` can read the tape of a run that was killed.
    events : EventWriter, optional
        Writes the events on its own tape, as the recorder of a debugger's session does. Requires
        `arrays="all"`.

    Attributes
    ----------
    calls : list of Call
        The calls since the last batch began, in order.
    frames : list of Frame
        The frames since the last batch began; outer ones before inner ones.
    output_tokens : list of hashable
        Tokens of the model's outputs in the last pass; empty if `outputs` was not called.
    tape : Tape
        The tape with all events.
    is_paused : callable
        Returns whether calls should not be recorded at present, such as those that a user makes at
        the debugger's prompt.

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
        events: EventWriter | None = None,
    ) -> None:
        _check_choice("arrays", arrays, ARRAYS)
        self.arrays = arrays
        self.library = library
        self.calls: list[Call] = []
        self.frames: list[Frame] = []
        self.is_paused: Callable[[], bool] = bool
        self._notes = Notes(budget, arrays != "all", events)
        self._file = None if path is None else GrowingFile(path)
        if self._file is not None:
            self._notes.listen(self._file.add)
        self._open: list[str] = []  # ids of the open frames
        self._numbers: dict[str, int] = {}  # number of calls by name
        self._taken: set[str] = set()  # ids of calls and frames
        self.output_tokens: list[Hashable] = []
        self._batch = Batch()  # small arrays whose statistics are computed together
        self._values: dict[Hashable, Recorded] = {}  # values that were read, by token

    @property
    def tape(self) -> Tape:
        """The tape with all events."""
        return self._notes.tape

    @contextmanager
    def span(
        self, kind: str, name: str, *, op: str = "", line: Line | None = None, **names: Any
    ) -> Iterator[dict[str, Any]]:
        """Record a `with` block as a span. A span of kind "node" is a frame that contains calls.

        Parameters
        ----------
        kind : str
            One of `SPANS`, such as "batch" or "node".
        name : str
            Name of the span: "batch 3" for a batch. For a frame the same as for a call.
        op : str
            For a frame: the class of the module.
        line : (str, int, str), optional
            File, line and function of the user's code.
        **names : object
            Names and their values when the span begins, such as `batch_index=3`.

        Yields
        ------
        dict
            For names and values at the end of the span: `at_end["outs"] = (loss,)`.

        Raises
        ------
        ArgumentError
            If the kind of span is unknown.
        """
        at_end: dict[str, Any] = {}
        span = self.begin(kind, name, op=op, line=line, **names)
        try:
            yield at_end
        except BaseException as error:
            self.end(span, error, **at_end)
            raise
        else:
            self.end(span, **at_end)

    def begin(
        self, kind: str, name: str, *, op: str = "", line: Line | None = None, **names: Any
    ) -> OpenSpan:
        """Begin a span outside a `with` block. End it with `end`. See `span` for the arguments."""
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
        """End a span, and the spans inside it that an error left open."""
        if span.kind == "node" and self._open:
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
        """Record a call that has returned. The numbers of its arrays are read immediately.

        Parameters
        ----------
        name : str
            Name of the module. For a function: the names of module and function, "block/add".
        inputs, outputs : sequence of Value
            The values that the call read, and those that it returned.
        op : str
            Class of the module, or name of the function.
        kind : str
            One of `kerascope.viz.kinds.KINDS`.
        line : (str, int, str), optional
            File, line and function of the user's code.
        settings : mapping of str to (str, int, float or bool)
            The settings. The text under the key "" is shown in the box without a name.
        parameters : mapping of str to Value
            The weights by name.
        buffers : mapping of str to Value
            Other state by name, such as running means.

        Returns
        -------
        str
            Id of the call: its name, or "name:2" for the second call with this name.

        Raises
        ------
        ArgumentError
            If the kind of box is unknown.
        """
        if kind not in KINDS:
            _check_choice("kind", kind, KINDS)
        arrays, call_id = self.arrays, self._free_id(name)
        weights = "all" if arrays == "all" else "none"  # their statistics would be too slow
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
        """Record a gradient of the loss.

        Parameters
        ----------
        name : str
            Name of a parameter, or the id of a call for the gradient with respect to its output.
        array : np.ndarray
            The gradient. Its numbers are read immediately.
        line : (str, int, str), optional
            File, line and function of the user's code that computed the gradient.
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
        """Record the new value that an optimizer has given to a parameter.

        Parameters
        ----------
        parameter : str
            The name of the parameter.
        old, new : np.ndarray
            The values before and after, of the same shape.
        gradient : np.ndarray, optional
            The gradient of the loss with respect to the parameter.
        line : (str, int, str), optional
            File, line and function of the user's code that made the update.

        Raises
        ------
        ArgumentError
            If the two values have different shapes.
        """
        if old.shape != new.shape:
            raise ArgumentError(
                f"TapeWriter.update: {parameter!r}: expected old and new values of one shape, got "
                f"{old.shape} and {new.shape}."
            )
        if self.arrays != "none":
            p, new_p = self._kept(old), self._kept(new)
            g = None if gradient is None else self._kept(gradient)
            self._notes.update(parameter, line, p, new_p, g)

    def outputs(self, values: Sequence[Value]) -> None:
        """Set the outputs of the whole model. The default is all values that no call reads.

        Parameters
        ----------
        values : sequence of Value
        """
        self.output_tokens = [value.token for value in values]

    def failed(self, error: BaseException) -> None:
        """Record that an error occurred in the innermost span.

        Call this only if no exception leaves the span's `with` block. `span` records exceptions.
        """
        if self.arrays != "none":
            names = {"error": error_ref(error)}
            self._notes.instant("event", type(error).__name__, None, names)

    def listen(self, hear: Callable[[Event], Any]) -> None:
        """Add a listener, which is called with each later event as soon as the event happens."""
        self._notes.listen(hear)

    def graph(self, name: str, *, values: bool = False) -> Graph:
        """Return the graph of the last pass: all calls since the last batch began.

        Parameters
        ----------
        name : str
            Name of the model.
        values : bool
            Whether to write the result into each box. Requires `arrays="all"`.
        """
        return graph_of_calls(
            name, self.calls, self.frames, library=self.library or "foreign", values=values,
            outputs=self.output_tokens,
        )  # fmt: skip

    def close(self) -> None:
        """End all open spans and close the file. Later calls of the writer record no events."""
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
        """Return a value with what is kept of its array, which is read only once for each token."""
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
        """Return the statistics of an earlier value with the same numbers, or None if unknown."""
        known = self._values.get(token)
        if known is None or not isinstance(known.array, Statistics):
            return None
        kind = known.array.kind.partition("[")[0]
        return replace(known.array, kind=f"{kind}[{','.join(map(str, shape))}]")

    def _kept(self, array: np.ndarray) -> np.ndarray | Statistics | None:
        """Return a copy of an array, its statistics or None, depending on the option `arrays`.

        The statistics of small arrays are computed in batches.
        """
        if array.dtype.kind == "U":  # text has no statistics
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
        """Delete the records of the previous batch, to limit memory during a training."""
        self.calls, self.frames = [], []
        self._numbers.clear()
        self._taken.clear()
        self._values.clear()
        self.output_tokens = []
        if self.arrays != "none":
            self._notes.begin_pass()

    def _free_id(self, name: str) -> str:
        """Reserve and return an id that no other call or frame has."""
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
        choices = f"Use one of: {', '.join(known)}."
        hint = did_you_mean(str(value), known)
        raise ArgumentError(f"TapeWriter: unknown {name} {value!r}. {hint}{choices}")
