"""Story: an observer that tells what the stages of the engine do, as `Record`s.

::

    records = []
    story = Story(records.append)
    with observing(story):
        model.fit(x, y)
    story.close()

Every kind of stage has a narrator, which hears the stage's events and says what they mean: here
those of building, compiling and the train function, in `story_training.py` those of training.
Nothing is told twice and nothing is told for ever: a train function is shown in full for its first
batches, later batches only in the line of their epoch, and a call that repeats itself is counted.
Watching changes nothing: a narrator reads, and copies what it keeps.

Lessons: chapters 6, 8 and 9 (building), 12 (compile), 13 (the gradient sweep) and 14 (update
tuples).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from kerascope.backend import Constant, Tensor, Variable
from kerascope.backend.function import Function
from kerascope.backend.gradient import Seeded, Swept
from kerascope.engine.arguments import to_list
from kerascope.engine.base_layer import Layer
from kerascope.engine.calling import LayerBuilt
from kerascope.engine.compiling import LossTerm, MetricTerm, PenaltyTerm
from kerascope.engine.graph_map import DepthAssigned, NodeFinished, NodeSkipped, NodeVisited
from kerascope.engine.input_layer import InputLayer
from kerascope.engine.network import InputFed, NodeComputed
from kerascope.engine.node import Node, NodeCreated
from kerascope.errors import ArgumentError
from kerascope.optimizers.base import ParameterUpdate
from kerascope.stage import Stage
from kerascope.trace.records import Record, StageNarrator, StoryWriter, counted, listed
from kerascope.trace.statistics import figure
from kerascope.trace.story_training import (
    BatchNarrator,
    CallNarrator,
    FitNarrator,
    FunctionNarrator,
)
from kerascope.trace.train_facts import Sweep, TrainFacts, ids_of_calls

# --- building, compiling, and the train function --------------------------------------------------


def place_of(layer: Layer) -> str:
    """Return the line of the script that made a layer: "example.py:9"."""
    return f"{Path(layer.made_at[0]).name}:{layer.made_at[1]}" if layer.made_at else ""


def with_shapes(tensors: list[Tensor]) -> str:
    """Return tensors by name and shape: "input_1 (None, 20)".

    Where several have one name, each has the call that made it: "h/tanh of h_ib-1 (None, 20)".
    """
    times = Counter(x.name for x in tensors)
    return listed(f"{_with_call(x, times[x.name])} {x.shape}" for x in tensors)


def _with_call(tensor: Tensor, times: int) -> str:
    history = tensor._keras_history
    return tensor.name if times == 1 or not history else f"{tensor.name} of {history.node.name}"


def own_word(weight: Tensor, layer: Layer) -> str:
    """Return a weight's name without its layer's: "kernel"."""
    return weight.name.removeprefix(f"{layer.name}/").removeprefix(f"{layer.name}_")


class LayerCallNarrator(StageNarrator):
    """A layer is called on symbols: weights are made, and a Node records the call."""

    phase = "build"

    def started(self) -> None:
        """Name the layer."""
        depth = self.number_around(LayerCallNarrator)
        title = "layers are called on symbols; each call makes a Node"
        self.story.section("build", Record(self.phase, "section", 0, "build", (title,)))
        self._depth = depth
        self._introduced = False

    def event(self, event: Any) -> None:
        """Tell of new weights and of the Node."""
        if isinstance(event, LayerBuilt):
            self.introduce(event.layer)
            self._tell_built(event)
        elif isinstance(event, NodeCreated):
            self.introduce(event.layer)
            self._tell_node(event.node)

    def failed(self) -> None:
        """Name the layer at least, if its call failed before anything could be told."""
        self.introduce(self.stage.subject)

    def introduce(self, layer: Layer) -> None:
        """Name the layer, and the inputs that it is called on, once."""
        if self._introduced:
            return
        self._introduced = True
        self._introduce_inputs(to_list(self.stage.names.get("inputs")))
        kind, place = type(layer).__name__, place_of(layer)
        self.tell("layer", self._depth, layer.name, kind, place, layer=kind, made_at=place)

    def _introduce_inputs(self, tensors: list[Tensor]) -> None:
        """Tell of an InputLayer when its tensor is first used: no call of a layer made its Node."""
        for history in filter(None, (x._keras_history for x in tensors)):
            layer = history.layer
            if not isinstance(layer, InputLayer) or layer in self.story.introduced:
                continue
            self.story.introduced.add(layer)
            shape = str(history.node.output_tensors[0].shape)
            self.tell("input", self._depth, layer.name, "Input", shape, shape=shape)

    def _tell_built(self, event: LayerBuilt) -> None:
        weights = {own_word(w, event.layer): w.shape for w in event.weights}
        words = "  ".join(f"{word} {shape}" for word, shape in weights.items())
        number = event.layer.count_params()
        self.tell(
            "built",
            self._depth + 1,
            "build",
            words or "no weights",
            counted(number, "parameter") if weights else "",
            weights={word: list(shape) for word, shape in weights.items()},
            parameters=number,
        )

    def _tell_node(self, node: Node) -> None:
        inputs, outputs = node.input_tensors, node.output_tensors
        words = f"{with_shapes(inputs)} -> {with_shapes(outputs)}"
        names: dict[str, Any] = {"inputs": [x.name for x in inputs]}
        names["outputs"] = [y.name for y in outputs]
        self.tell("node", self._depth + 1, f"Node {node.name}", words, node=node.name, **names)
        for y in outputs:
            layer, node_index, tensor_index = y._keras_history
            history = (layer.name, node_index, tensor_index)
            words = f"{y.name}: ({', '.join(map(str, history))})"
            self.tell("history", self._depth + 1, "_keras_history", words, history=list(history))


class InnerRunNarrator(StageNarrator):
    """A nested model runs on new symbols: `run_internal_graph`, its tensor_map filling."""

    phase = "build"

    def started(self) -> None:
        """Say that it runs, unless it runs on numbers: then the call around it says so."""
        self._depth = self.number_around(LayerCallNarrator) + 1
        self._is_told = False

    def event(self, event: Any) -> None:
        """Tell what entered tensor_map."""
        if isinstance(event, InputFed) and not isinstance(event.computed, Constant):
            self._begin()
            name = f"tensor_map[{event.tensor.name}]"
            self.tell("fed", self._depth + 1, name, event.computed.name)
        elif isinstance(event, NodeComputed) and self._is_told:
            depth = event.depth
            for x, y in zip(event.node.output_tensors, event.output_tensors, strict=True):
                name, words = f"tensor_map[{x.name}]", (f"depth {depth}", f"{y.name} {y.shape}")
                self.tell("computed", self._depth + 1, name, *words, depth_in_model=depth)

    def _begin(self) -> None:
        if self._is_told:
            return
        self._is_told = True
        caller = self.enclosing(LayerCallNarrator)
        if caller is not None:
            caller.introduce(self.stage.subject)
        name = self.stage.subject.name
        self.tell("begin", self._depth, "run_internal_graph", f"{name}'s layers, on new symbols")


class MapNarrator(StageNarrator):
    """The graph between inputs and outputs is mapped."""

    phase = "map_graph"

    def started(self) -> None:
        """Open the section; a stage that has finished no longer knows its inputs."""
        self._inputs: list[Tensor] = self.stage.names["inputs"]
        self.section("map_graph", "from the outputs back to the inputs: which Nodes, how deep")

    def finished(self) -> None:
        """Tell what was found: nodes_by_depth."""
        graph_map = self.stage.result
        layers = counted(len(graph_map.layers_depths), "layer")
        nodes = counted(len(graph_map.nodes_depths), "node")
        self.tell("begin", 1, "nodes_by_depth", nodes, layers, counted(graph_map.visits, "visit"))
        ids = ids_of_calls(self._inputs, graph_map)
        for depth, nodes_there in graph_map.nodes_by_depth.items():
            names = [node.name for node in nodes_there]
            words = listed(_with_id(node, ids[node]) for node in nodes_there)
            calls = [ids[node] for node in nodes_there]
            self.tell("depth_row", 2, f"depth {depth}", words, nodes=names, calls=calls)
        if graph_map.flavour == "1":
            marks = [
                mark.replace(str(id(node)), node.name)
                for mark in graph_map.seen_nodes
                for node in graph_map.nodes_depths
                if mark.startswith(f"{id(node)}-")
            ]
            self.tell("seen_nodes", 1, "seen_nodes", listed(marks), "(name for the node's id)")


def _with_id(node: Node, call_id: str) -> str:
    """Return Keras's key of a node, and its id in tables and pictures if it says more."""
    several = call_id != node.outbound_layer.name
    return f"{node.name} ({call_id})" if several else node.name


class MapStepNarrator(StageNarrator):
    """One of the three steps of the mapping."""

    phase = "map_graph"
    TITLES: ClassVar[dict[str, str]] = {
        "build_map": "visit each Node, and those that it needs, before it is finished",
        "depth_sort": "the longest path to an output",
        "check_graph": "every tensor can be computed from the inputs",
    }

    def started(self) -> None:
        """Name the step."""
        if self.stage.name != "check_graph":
            self.tell("begin", 1, self.stage.name, self.TITLES[self.stage.name])

    def event(self, event: Any) -> None:
        """Tell of one node."""
        if isinstance(event, NodeVisited):
            words = ["visit", f"for {event.tensor.name}"]
            if event.depth is not None:
                words += [f"at depth {event.depth}", "marked in seen_nodes"]
            self.tell("visit", 2, event.node.name, *words)
        elif isinstance(event, NodeSkipped):
            self.tell("skip", 2, event.node.name, "skip", f"for {event.tensor.name}: seen before")
        elif isinstance(event, NodeFinished):
            self.tell("finish", 2, event.node.name, "finished")
        elif isinstance(event, DepthAssigned):
            self.tell("depth", 2, event.node.name, f"depth {event.depth}", at=event.depth)

    def finished(self) -> None:
        """Tell that all is connected."""
        if self.stage.name == "check_graph":
            self.tell("begin", 1, "check_graph", self.TITLES["check_graph"])


# --- compile, and the train function --------------------------------------------------------------


class CompileNarrator(StageNarrator):
    """Losses and metrics become tensors; the total loss is their weighted sum."""

    phase = "compile"

    def started(self) -> None:
        """Open the section."""
        self.section(f"compile {self.stage.subject.name}", "builds the loss graph; trains nothing")
        self.terms: list[LossTerm] = []

    def event(self, event: Any) -> None:
        """Tell of one term."""
        if isinstance(event, LossTerm):
            self.terms.append(event)
            function = str(getattr(event.function, "__name__", type(event.function).__name__))
            name, loss = f"{event.output_name}_loss", f"{event.loss.name} {event.loss.shape}"
            words = (function, loss, f"weight {figure(event.weight)}")
            self._tell("loss_term", name, *words, function=function, weight=event.weight)
        elif isinstance(event, PenaltyTerm):
            names = listed(x.name for x in event.penalties)
            self._tell("penalties", "penalties", "regularizers", names)
        elif isinstance(event, MetricTerm):
            self._tell("metric", event.name, "metric: never differentiated", event.tensor.name)

    def finished(self) -> None:
        """Tell what the model has now."""
        model = self.stage.subject
        total = model.total_loss
        made_by = total.owner.op.name if total.owner is not None else "nothing"
        words = (f"{total.name} {total.shape}", f"output of the op {made_by}")
        self._tell("total_loss", "total_loss", *words, tensor=total.name)
        self._tell("names", "metrics_names", str(model.metrics_names))
        self._tell("optimizer", "optimizer", type(model.optimizer).__name__)
        self._tell("train_function", "train_function", "None: the first fit makes it")
        self.story.loss_terms[model] = self.terms

    def _tell(self, kind: str, name: str, *cells: str, **facts: Any) -> None:
        self.section(f"compile {self.stage.subject.name}")
        self.tell(kind, 1, name, *cells, **facts)


class TrainFunctionNarrator(StageNarrator):
    """The train function is made; what the sweep and the optimizer say is gathered."""

    phase = "make_train_function"

    def started(self) -> None:
        """Gather the facts, if there is a function to be made."""
        model = self.stage.subject
        self.facts: TrainFacts | None = None
        if model.train_function is None:
            self.facts = TrainFacts(model, self.story.loss_terms.get(model, []))
            self.section(f"make_train_function {model.name}", "symbols only: nothing is computed")

    def finished(self) -> None:
        """Tell what the function reads, returns and writes."""
        f = self.stage.result
        if self.facts is None:
            return
        self.story.train_facts[f] = self.facts
        for update in f.updates:
            role = self.facts.role(update.variable)
            if role in ("iterations", "state"):
                words = f"new_v = {update.new_value.name} {update.new_value.shape}"
                self.tell("pair", 2, update.variable.name, role, words, role=role)
        ops, updates = counted(len(f.schedule.steps), "op"), counted(len(f.updates), "update")
        self.tell("function", 1, "train_function", "K.function", ops, updates)
        self.tell("inputs", 2, "inputs", f"[{listed(f.inputs)}]")
        self.tell("outputs", 2, "outputs", f"[{listed(self.facts.output_names)}]")


class UpdatesNarrator(StageNarrator):
    """The optimizer writes down pairs (v, new_v)."""

    phase = "make_train_function"

    def started(self) -> None:
        """Begin; the heading waits until the gradients are there."""
        self._is_told = False

    def event(self, event: Any) -> None:
        """Tell the pairs of one parameter."""
        if not isinstance(event, ParameterUpdate):
            return
        if not self._is_told:
            self._is_told = True
            optimizer = type(self.stage.subject).__name__
            words = f"{optimizer}: pairs (v, new_v); v <- new_v at each call"
            self.tell("begin", 1, "get_updates", words)
        maker = self.enclosing(TrainFunctionNarrator)
        if maker is not None and maker.facts is not None:
            maker.facts.take_update(event)
        for v, new_v in event.pairs:
            role = "parameter" if v is event.param else "slot"
            words = f"new_v = {new_v.name} {new_v.shape}"
            self.tell("pair", 2, v.name, role, words, role=role, new_value=new_v.name)


class GradientsNarrator(StageNarrator):
    """The reverse sweep, op by op, last one first."""

    phase = "make_train_function"

    def started(self) -> None:
        """Prepare the counts of contributions."""
        maker = self.enclosing(TrainFunctionNarrator)
        self._sweep = Sweep(maker.facts if maker is not None else None)
        self._label: str | None = None
        self._ops: list[str] = []
        self._reached: dict[Tensor, None] = {}

    def event(self, event: Any) -> None:
        """Tell the seed and every swept op: at level "node" together for each layer."""
        if isinstance(event, Seeded):
            words = f"the sweep goes back from {event.loss.name}, where d loss / d loss = 1"
            self.tell("begin", 1, "gradients", words, seed=event.gradient.name)
            self._sweep.seed(event)
        elif isinstance(event, Swept):
            self._hear(event)

    def finished(self) -> None:
        """Tell the last layer."""
        self._say_group()

    def _hear(self, event: Swept) -> None:
        label = self._sweep.label(event.apply)
        if label != self._label:
            self._say_group()
            self._label = label
        self._ops.append(event.apply.op.name)
        sent = [(x, number) for x, _, number in self._sweep.take(event) if number]
        self._reached.update((x, None) for x, _ in sent)
        if self.story.level == "op":
            said = [x.name if n == 1 else f"{x.name} (contribution {n} is added)" for x, n in sent]
            words = f"sends to {listed(said) or 'nothing: no gradient flows'}"
            self.tell("swept", 2, event.apply.name, event.apply.op.name, words)

    def _say_group(self) -> None:
        """Tell what one layer's ops sent on, leaving out what stays inside the layer."""
        if self._label is None:
            return
        ops, reached = self._ops, self._reached
        self._ops, self._reached = [], {}
        if self.story.level == "op":
            return
        places = self._sweep.facts.places if self._sweep.facts is not None else {}
        words = [self._with_count(x) for x in reached if x in places or isinstance(x, Variable)]
        to = f"-> {listed(words)}" if words else ""
        cells = (counted(len(ops), "op"), listed(ops, most=4), to)
        self.tell("swept_node", 2, self._label, *cells, ops=ops)

    def _with_count(self, x: Tensor) -> str:
        number, facts = self._sweep.contributions[x], self._sweep.facts
        name = facts.name_of(x) if facts is not None else x.name
        return name if number == 1 else f"{name} ({number} contributions added)"


# --- the story ------------------------------------------------------------------------------------


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
