"""The records of `kerascope trace`, made from the events of a run one by one.

For each kind of event, a function registered with `@reports` makes the records. It reads the state
of the run from the `RunState`. This module has the functions for building, compiling and making the
train function. The functions for training and for calls are in `reporting.py`.

Lessons: chapters 6, 8 and 9 (building), 12 (compile), 13 (the gradient sweep) and 14 (update
tuples).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Any, ClassVar

import numpy as np

from kerascope.errors import ArgumentError
from kerascope.trace.events import BEGIN, END, INSTANT, Event, Where
from kerascope.trace.history import value_of_event
from kerascope.trace.records import Record, counted, listed
from kerascope.trace.run_state import RunSpan, RunState, first_of
from kerascope.trace.snapshots import TensorRef
from kerascope.trace.statistics import Statistics, figure, statistics_of

LEVELS = ("node", "op")
RUNS = ("fit", "evaluate", "predict")
MAKING = "make_train_function"
# The spans whose failures are reported, and their phases. Errors inside are reported for the span.
STAGES = {
    "layer.call": "build", "run_internal_graph": "build", "build_map": "map_graph",
    "depth_sort": "map_graph", "check_graph": "map_graph", "compile": "compile",
    "gradients": MAKING, "get_updates": MAKING, "fit": "fit", "evaluate": "call",
    "predict": "call", "function": "forward",
}  # fmt: skip
MAP_STEPS = {
    "build_map": "visit each Node, and those that it needs, before it is finished",
    "depth_sort": "the longest path to an output",
    "check_graph": "every tensor can be computed from the inputs",
}

Handler = Callable[[Any, Event, Any], None]


class EventHandlers(dict[tuple[str, str], Handler]):
    """A table of the functions that make records from events, by kind of event."""

    def __call__(self, kind: str, *ends: str) -> Callable[[Handler], Handler]:
        """Return a decorator that registers a function for a kind of event.

        If "B" or "E" is given, the function is for the start or the end of a span only.
        """

        def add(function: Handler) -> Handler:
            self.update(((kind, ph), function) for ph in ends or (INSTANT,))
            return function

        return add


class Reporter:
    """Turns events into records: updates the run's state, calls the function for the event's kind.

    Parameters
    ----------
    write : callable
        Receives each `Record`.

    Attributes
    ----------
    state : RunState
    write : callable
        The `write` of the constructor.
    handlers : EventHandlers
        The functions by kind of event, shared by all reporters of the class.
    """

    handlers: ClassVar[EventHandlers]

    def __init__(self, write: Callable[[Record], Any]) -> None:
        self.state = RunState()
        self.write = write

    def __call__(self, event: Event) -> None:
        """Update the state of the run by the next event, and make the records of the event."""
        span = self.state.feed(event)
        handle = self.handlers.get((event.kind, event.ph))
        if handle is not None:
            handle(self, event, span)

    def emit(
        self, phase: str, kind: str, depth: int, name: str, *cells: str,
        alarm: bool = False, **facts: Any,
    ) -> None:  # fmt: skip
        """Make a record and pass it to `write`."""
        self.write(Record(phase, kind, depth, name, cells, facts, alarm))


reports = EventHandlers()


class RunReport(Reporter):
    """Turns the events of a Recorder into records for `kerascope trace`.

    Parameters
    ----------
    write : callable
        Receives each `Record` as soon as it is known.
    level : {"node", "op"}
        "node": a line for each layer; "op": also one for each op, in the order of the schedule.
    batches : int
        How many batches of each train function are shown in full.

    Attributes
    ----------
    calls : Counter of str
        The number of calls of each model's train function, by the model's name.
    batch : BatchReport or None
        The call of a train function that is shown in full; see `reporting.py`.

    Raises
    ------
    ArgumentError
        The level is unknown, or the number of batches is negative.
    """

    handlers = reports

    def __init__(
        self, write: Callable[[Record], Any], level: str = "node", batches: int = 1
    ) -> None:
        if level not in LEVELS:
            raise ArgumentError(f"trace: level: expected one of {LEVELS}, got {level!r}.")
        if batches < 0:
            raise ArgumentError(f"trace: batches: expected 0 or more, got {batches}.")
        super().__init__(self._write_next)
        self._write = write
        self.level, self.batches = level, batches
        self.calls: Counter[str] = Counter()
        self.batch: Any = None
        self.epochs: list[Counter[bool]] = []  # batches of the open epochs: shown, others
        self.shows_batch = False  # whether the last batch is shown
        self.made_at: dict[str, str] = {}  # the line that made a layer, by the layer's name
        self.swept: list[str] = []  # ops of the current layer in the gradient sweep
        self.reached: list[tuple[str, int]] = []  # tensors that got a gradient term, and how many
        self.penalties: list[str] = []
        self.maker = ""  # the optimizer whose heading is not printed yet
        self._section: Any = None
        self._begun: set[Any] = set()
        self._repeated: Record | None = None
        self._repeats = 0
        self._failure: tuple[Any, int] = (None, 0)  # the last error, and the depth it has reached

    def __call__(self, event: Event) -> None:
        """Make the records of the next event."""
        error = value_of_event(event, "error") if event.ph == END else None
        if error is None or (event.kind == "op" and error.kind == "skipped"):
            super().__call__(event)
            return
        span = self.state.feed(event)
        if event.kind == "function" and self.batch is not None and span is self.batch.span:
            self.batch.end()
            self.batch = None
        elif event.kind == "epoch":
            self.epochs.pop()
        if event.kind in STAGES and error.kind != "abandoned":
            name = event.name if event.kind == "function" else event.kind.replace(".", "_")
            is_eager = span is not None and "is_eager" in span.begin.facts
            self._fail("eager_call" if is_eager else name, event, error)

    def _fail(self, name: str, event: Event, error: Any) -> None:
        """Emit a record of an error, unless an inner stage has already reported this error."""
        last, depth = self._failure
        self._failure = error, event.depth
        if error != last or event.depth >= depth:
            text, facts = f"{error.kind}: {error.text}", {"error": error.kind}
            self.emit(STAGES[event.kind], "failed", 1, name, text, alarm=True,
                      message=error.text, **facts)  # fmt: skip

    def close(self) -> None:
        """Emit a record of how often the last call was repeated. This ends the report."""
        self._write_repeats()

    # --- records ----------------------------------------------------------------------------------

    def section(self, owner: Any, phase: str, name: str, title: str) -> None:
        """Emit the heading of a section, unless this section is the current one."""
        if self._section == owner:
            return
        self._section = owner
        if isinstance(owner, int):
            title = "goes on" if owner in self._begun else title
            self._begun.add(owner)
        self.emit(phase, "section", 0, name, title)

    def array(
        self, phase: str, kind: str, depth: int, name: str, array: Any, *cells: str, **facts: Any
    ) -> None:
        """Emit a record with the statistics of an array."""
        found = figures_of(array)
        facts.update(found.facts)
        self.emit(phase, kind, depth, name, *found.cells, *cells, alarm=not found.is_sound, **facts)

    def figures(self, kind: str, depth: int, name: str, logs: Any, *cells: str) -> None:
        """Emit a record with the losses and metrics of a batch or an epoch."""
        known = {k: x for k, x in logs if np.ndim(x) == 0 and k not in ("batch", "size")}
        words = [f"{key}={figure(x)}" for key, x in known.items()]
        facts: dict[str, Any] = {key: float(figure(x)) for key, x in known.items()}
        self.emit("fit", kind, depth, name, *cells, *words, alarm=not are_finite(known.values()),
                  **facts)  # fmt: skip

    # --- calls in one line ------------------------------------------------------------------------

    def call(self, name: str, words: Iterable[str], is_sound: bool) -> None:
        """Emit a record of a call; if the previous call had the same name, only count the call."""
        self.section("calls", "call", "calls", "other calls of models, layers and functions")
        cells, last = tuple(words), self._repeated
        record = Record("call", "called", 1, name, cells, {"results": list(cells)}, not is_sound)
        if last is not None and last.name == name:
            self._repeats += 1
        else:
            self._write_next(record)
        self._repeated = record

    def function_called(self, name: str, facts: Mapping[str, Any], outputs: Any) -> None:
        """Emit a record of the call of a function."""
        found = [figures_of(x) for x in outputs]
        names = facts.get("outputs", ())
        words = [f"{y}: {' '.join(x.cells)}" for y, x in zip(names, found, strict=False)]
        if facts.get("updates"):
            words.append(counted(facts["updates"], "update"))
        self.call(name, words, all(x.is_sound for x in found))

    def _write_next(self, record: Record) -> None:
        self._write_repeats()
        self._write(record)

    def _write_repeats(self) -> None:
        last, repeats = self._repeated, self._repeats
        self._repeated, self._repeats = None, 0
        if last is not None and repeats:
            words = (f"{counted(repeats, 'more call')}; the last:", *last.cells)
            facts = {"calls": repeats, **last.facts}
            again = Record("call", "repeated", last.depth, last.name, words, facts, last.alarm)
            self._write(again)

    # --- training ---------------------------------------------------------------------------------

    def shows_next(self, model: str) -> bool:
        """Return whether the next call of a model's train function is shown in full."""
        return self.calls[model] < self.batches

    def count_batch(self, is_shown: bool = False) -> None:
        """Count a batch of the current epoch."""
        self.shows_batch = is_shown
        self.epochs[-1][is_shown] += 1

    def fit_section(self) -> None:
        """Emit the heading of the current `fit`, unless its section is the current one."""
        fit = self.state.around("fit")
        if fit is not None:
            title = "for each epoch, for each batch: outs = f(ins_batch)"
            self.section(fit.t, "fit", f"fit {fit.name}", title)


def figures_of(array: Any) -> Statistics:
    """Return the statistics of an array. `Statistics` are returned unchanged."""
    return array if isinstance(array, Statistics) else statistics_of(array)


def are_finite(values: Iterable[Any]) -> bool:
    """Return whether all values are finite. A value is an array, a number or `Statistics`."""
    return all(
        value.is_sound if isinstance(value, Statistics)
        else np.asarray(value).dtype.kind not in "f" or bool(np.isfinite(value).all())
        for value in values
    )  # fmt: skip


# --- building -------------------------------------------------------------------------------------


def _building(report: RunReport) -> int:
    """Make "build" the current section; return how many calls of layers are open."""
    title = "layers are called on symbols; each call makes a Node"
    report.section("build", "build", "build", title)
    return report.state.depth("layer.call")


def _is_built(report: RunReport) -> bool:
    """Return whether a call of a layer builds the graph, and is not part of a run of a network."""
    return not report.state.is_inside("run_internal_graph", "function", "evaluate", "predict")


@reports("layer.init")
def _layer_made(report: RunReport, event: Event, _: Any) -> None:
    report.made_at[event.name] = line_of(event.where)


@reports("layer.call", BEGIN)
def _layer(report: RunReport, event: Event, _: Any) -> None:
    if _is_built(report):
        layer, depth = value_of_event(event, "layer"), _building(report)
        where = report.made_at.get(layer.name, "")
        report.emit("build", "layer", depth, layer.name, layer.kind, where,
                    layer=layer.kind, made_at=where)  # fmt: skip


def line_of(where: Where) -> str:
    """Return the script's line in a `Where`, as "example.py:9"; "" if the `Where` has no script."""
    return f"{PurePath(where.user_file).name}:{where.user_line}" if where.user_file else ""


@reports("layer.build", BEGIN)
def _built(report: RunReport, event: Event, _: Any) -> None:
    if report.state.around("function") is None:
        weights, parameters = event.facts.get("weights", {}), event.facts.get("parameters", 0)
        words = "  ".join(f"{word} {tuple(shape)}" for word, shape in weights.items())
        number = counted(parameters, "parameter") if weights else ""
        report.emit("build", "built", _building(report) + 1, "build", words or "no weights", number,
                    weights=weights, parameters=parameters)  # fmt: skip


@reports("node.create")
def _node(report: RunReport, event: Event, _: Any) -> None:
    node, outputs = value_of_event(event, "node"), value_of_event(event, "outputs")
    call = report.state.around("layer.call")
    depth = _building(report)
    if call is None or value_of_event(call, "layer").name != node.layer:
        shape = str(outputs[0].shape)
        report.emit("build", "input", depth + 1, node.layer, "Input", shape, shape=shape)
        return
    inputs = event.facts.get("inputs", ())
    made = [(y.name, str(y.shape), node.name) for y in outputs]
    report.emit("build", "node", depth + 1, f"Node {node.name}",
                f"{_with_shapes(inputs)} -> {_with_shapes(made)}", node=node.name,
                inputs=[x for x, *_ in inputs], outputs=[y.name for y in outputs])  # fmt: skip
    histories = [d.value for d in event.deltas if d.name == "_keras_history"]
    for y, history in zip(outputs, histories, strict=False):
        words = f"{y.name}: ({', '.join(map(str, history))})"
        report.emit("build", "history", depth + 1, "_keras_history", words, history=list(history))


def _with_shapes(tensors: Any) -> str:
    """Return the names and shapes of tensors as a text.

    A name that several of the tensors have is followed by the layer call: "add of shared@1 (None,
    3)".
    """
    times = Counter(name for name, *_ in tensors)
    return listed(
        f"{name} of {call} {shape}" if call and times[name] > 1 else f"{name} {shape}"
        for name, shape, call in tensors
    )


@reports("run_internal_graph", BEGIN)
def _inner_run(report: RunReport, event: Event, _: Any) -> None:
    if event.act == "build":
        words = f"{event.name}'s layers, on new symbols"
        depth = _depth_of_run(report)
        report.emit("build", "begin", depth, "run_internal_graph", words)


def _depth_of_run(report: RunReport) -> int:
    """Return the nesting level of the records of a graph's run: 1 plus the open layer calls."""
    kinds = [span.begin.kind for span in report.state.spans]
    place = len(kinds) - kinds[::-1].index("run_internal_graph")
    return kinds[:place].count("layer.call") + 1


@reports("tmap.set")
def _tensor_map(report: RunReport, event: Event, _: Any) -> None:
    computed = first_of(next(d.value for d in event.deltas if d.name == "tensor_map"))
    if event.act != "build" or not isinstance(computed, TensorRef):
        return
    name = f"tensor_map[{event.facts.get('tensor', event.name)}]"
    depth = _depth_of_run(report) + 1
    at = report.state.around("depth")
    if at is None:
        report.emit("build", "fed", depth, name, computed.name)
        return
    number = value_of_event(at, "depth")
    report.emit("build", "computed", depth, name, f"depth {number}",
                f"{computed.name} {computed.shape}", depth_in_model=number)  # fmt: skip


# --- the map of the graph -------------------------------------------------------------------------


@reports("build_map", BEGIN)
def _map(report: RunReport, event: Event, _: Any) -> None:
    title = "from the outputs back to the inputs: which Nodes, how deep"
    report.section(event.t, "map_graph", "map_graph", title)
    _map_step(report, event, _)


@reports("depth_sort", BEGIN)
def _map_step(report: RunReport, event: Event, _: Any) -> None:
    report.emit("map_graph", "begin", 1, event.kind, MAP_STEPS[event.kind])


@reports("map.visit", BEGIN)
def _visit(report: RunReport, event: Event, _: Any) -> None:
    words = ["visit", f"for {value_of_event(event, 'tensor').name}"]
    if any(d.name == "nodes_depths" for d in event.deltas):
        words += [f"at depth {value_of_event(event, 'depth')}", "marked in seen_nodes"]
    report.emit("map_graph", "visit", 2, event.name, *words)


@reports("map.skip")
def _skip(report: RunReport, event: Event, _: Any) -> None:
    tensor = value_of_event(event, "tensor")
    report.emit("map_graph", "skip", 2, event.name, "skip", f"for {tensor.name}: seen before")


@reports("map.visit", END)
def _finish(report: RunReport, event: Event, _: Any) -> None:
    report.emit("map_graph", "finish", 2, event.name, "finished")


@reports("map.depth")
def _depth(report: RunReport, event: Event, _: Any) -> None:
    if event.phase == "depth_sort":
        depth = value_of_event(event, "depth")
        report.emit("map_graph", "depth", 2, event.name, f"depth {depth}", at=depth)


@reports("check_graph", END)
def _mapped(report: RunReport, event: Event, span: RunSpan) -> None:
    rows = value_of_event(span.begin, "nodes_by_depth")
    layers = value_of_event(span.begin, "layers_depths")
    calls, facts = event.facts.get("calls", {}), event.facts
    number = sum(map(len, rows.values()))
    _map_step(report, event, span)
    report.emit("map_graph", "begin", 1, "nodes_by_depth", counted(number, "node"),
                counted(len(layers), "layer"),
                counted(facts.get("visits", 0), "visit"))  # fmt: skip
    for depth, row in rows.items():
        ids = [calls.get(node.name, node.layer) for node in row]
        words = (
            n.name if i == n.layer else f"{n.name} ({i})" for n, i in zip(row, ids, strict=True)
        )
        report.emit("map_graph", "depth_row", 2, f"depth {depth}", listed(words),
                    nodes=[node.name for node in row], calls=ids)  # fmt: skip
    if "seen_nodes" in facts:
        report.emit("map_graph", "seen_nodes", 1, "seen_nodes", listed(facts["seen_nodes"]),
                    "(name for the node's id)")  # fmt: skip


# --- compile --------------------------------------------------------------------------------------


@reports("compile", BEGIN)
def _compiling(report: RunReport, event: Event, _: Any) -> None:
    title = "builds the loss graph; trains nothing"
    report.section(event.t, "compile", f"compile {event.name}", title)


def _in_compile(report: RunReport, kind: str, name: str, *cells: str, **facts: Any) -> None:
    for span in report.state.spans:
        if span.begin.kind == "compile":
            _compiling(report, span.begin, None)
    report.emit("compile", kind, 1, name, *cells, **facts)


@reports("loss.term")
def _loss_term(report: RunReport, event: Event, _: Any) -> None:
    loss, weight = value_of_event(event, "output_loss"), value_of_event(event, "weight")
    function, words = value_of_event(event, "function"), f"weight {figure(weight)}"
    _in_compile(report, "loss_term", f"{event.name}_loss", function, f"{loss.name} {loss.shape}",
                words, function=function, weight=weight)  # fmt: skip


@reports("reg.term")
def _penalty(report: RunReport, event: Event, _: Any) -> None:
    report.penalties.append(event.name)


@reports("loss", END)
def _penalties(report: RunReport, event: Event, _: Any) -> None:
    """Emit one record for all penalties, after the loss terms and before the metrics."""
    if report.penalties:
        names, report.penalties = report.penalties, []
        _in_compile(report, "penalties", "penalties", "regularizers", listed(names))


@reports("metric.term")
def _metric(report: RunReport, event: Event, _: Any) -> None:
    tensor = next(d.value for d in event.deltas if d.name == "metrics" and d.key is not None)
    words = "metric: never differentiated"
    _in_compile(report, "metric", event.name, words, tensor.name)


@reports("compile", END)
def _compiled(report: RunReport, event: Event, span: RunSpan) -> None:
    total, names = value_of_event(event, "total_loss"), list(value_of_event(event, "result"))
    words = (f"{total.name} {total.shape}", f"output of the op {event.facts.get('made_by')}")
    _compiling(report, span.begin, None)
    report.emit("compile", "total_loss", 1, "total_loss", *words, tensor=total.name)
    report.emit("compile", "names", 1, "metrics_names", str(names))
    report.emit("compile", "optimizer", 1, "optimizer", event.facts.get("optimizer", ""))
    none_yet = "None: the first fit makes it"
    report.emit("compile", "train_function", 1, "train_function", none_yet)


# --- the train function ---------------------------------------------------------------------------


@reports("gradients", BEGIN)
def _sweep(report: RunReport, event: Event, _: Any) -> None:
    report.swept, report.reached = [], []


@reports("grad.accum")
def _contribution(report: RunReport, event: Event, _: Any) -> None:
    if not report.state.is_inside("grad.node"):
        loss = next(d for d in event.deltas if d.name == "grads")
        words = f"the sweep goes back from {own_name(event.name)}, where d loss / d loss = 1"
        report.emit(MAKING, "begin", 1, "gradients", words, seed=loss.value.name)
    elif report.level == "op":
        report.reached.append((own_name(event.name), value_of_event(event, "k")))
    elif "reaches" in event.facts:
        report.reached.append((event.facts["reaches"], value_of_event(event, "k")))


def own_name(name: str) -> str:
    """Return the name of a tensor or op without the number that makes it unique."""
    return name.partition("~")[0]


@reports("grad.op")
def _swept_op(report: RunReport, event: Event, _: Any) -> None:
    _emit_swept(report)
    report.swept.append(value_of_event(event, "op"))
    if report.level == "op":
        report.swept[:] = [own_name(event.name), *report.swept[-1:]]


def _emit_swept(report: RunReport) -> None:
    """At level "op", emit records of the tensors that get gradients from the op just swept."""
    if report.level == "op" and report.swept:
        (name, op), report.swept = report.swept, []
        said = [x if k == 1 else f"{x} (contribution {k} is added)" for x, k in report.reached]
        words = f"sends to {listed(said) or 'nothing: no gradient flows'}"
        report.emit(MAKING, "swept", 2, name, op, words)
        report.reached = []


@reports("grad.node", END)
def _swept(report: RunReport, event: Event, _: Any) -> None:
    _emit_swept(report)
    if report.level == "op":
        return
    ops, reached, report.swept, report.reached = report.swept, dict(report.reached), [], []
    words = [x if k == 1 else f"{x} ({k} contributions added)" for x, k in reached.items()]
    report.emit(MAKING, "swept_node", 2, event.name, counted(len(ops), "op"), listed(ops, most=4),
                f"-> {listed(words)}" if words else "", ops=ops)  # fmt: skip


@reports("get_updates", BEGIN)
def _updates(report: RunReport, event: Event, _: Any) -> None:
    report.maker = event.name


@reports("opt.param", BEGIN)
def _update(report: RunReport, event: Event, _: Any) -> None:
    maker, report.maker = report.maker, ""
    if maker:
        words = f"{maker}: pairs (v, new_v); v <- new_v at each call"
        report.emit(MAKING, "begin", 1, "get_updates", words)


@reports("update.pair")
def _pair(report: RunReport, event: Event, _: Any) -> None:
    update = report.state.around("opt.param")
    pair = next((d.value for d in event.deltas if d.name == "updates"), None)
    if update is not None and pair is not None:
        role = "parameter" if event.name == update.name else "slot"
        _emit_pair(report, event.name, role, pair[1])


def _emit_pair(report: RunReport, name: str, role: str, new_v: Any) -> None:
    words = f"new_v = {new_v.name} {new_v.shape}"
    report.emit(MAKING, "pair", 2, name, role, words, role=role, new_value=new_v.name)


def emit_train_function(report: RunReport, event: Event, begin: Event) -> None:
    """Emit records for the inputs and outputs of a new train function, and for some updates.

    These are the updates of states and of `iterations`. Those of the parameters were shown before,
    with the optimizer.
    """
    report.calls[value_of_event(begin, "model").name] = 0
    updates = value_of_event(event, "updates")
    for (name, new_v), role in zip(updates, event.facts.get("roles", ()), strict=False):
        if role in ("iterations", "state"):
            _emit_pair(report, name, role, new_v)
    ops, number = counted(value_of_event(event, "ops"), "op"), counted(len(updates), "update")
    report.emit(MAKING, "function", 1, "train_function", "K.function", ops, number)
    inputs = [x.name for x in value_of_event(event, "inputs")]
    report.emit(MAKING, "inputs", 2, "inputs", f"[{listed(inputs)}]")
    report.emit(MAKING, "outputs", 2, "outputs", f"[{listed(event.facts.get('outputs', ()))}]")
