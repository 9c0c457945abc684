"""What is told when a model is compiled, and when its train function is made: nothing is computed.

Lessons: chapters 12 (compile), 13 (the gradient sweep) and 14 (update tuples).
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.gradient import Seeded, Swept
from kerascope.backend.graph import Tensor, Variable
from kerascope.engine.compiling import LossTerm, MetricTerm, PenaltyTerm
from kerascope.optimizers.base import ParameterUpdate
from kerascope.trace.records import counted, listed
from kerascope.trace.statistics import figure
from kerascope.trace.teller import Teller
from kerascope.trace.train_facts import Arrival, TrainFacts


class CompileTeller(Teller):
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
            name, weight = f"{event.output_name}_loss", figure(event.weight)
            words: tuple[str, ...] = (
                function,
                f"{event.loss.name} {event.loss.shape}",
                f"weight {weight}",
            )
            self._tell("loss_term", name, *words, function=function, weight=event.weight)
        elif isinstance(event, PenaltyTerm):
            names = listed(x.name for x in event.penalties)
            self._tell("penalties", "penalties", "regularizers", names)
        elif isinstance(event, MetricTerm):
            words = ("metric: never differentiated", event.tensor.name)
            self._tell("metric", event.name, *words)

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


class TrainFunctionTeller(Teller):
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
                self._tell_pair(update.variable, update.new_value, role)
        ops, updates = counted(len(f.schedule.steps), "op"), counted(len(f.updates), "update")
        self.tell("function", 1, "train_function", "K.function", ops, updates)
        self.tell("inputs", 2, "inputs", f"[{listed(f.inputs)}]")
        self.tell("outputs", 2, "outputs", f"[{listed(self.facts.output_names)}]")

    def _tell_pair(self, v: Any, new_v: Any, role: str) -> None:
        self.tell("pair", 2, v.name, role, f"new_v = {new_v.name} {new_v.shape}", role=role)


class UpdatesTeller(Teller):
    """The optimizer writes down pairs (v, new_v)."""

    phase = "make_train_function"

    def started(self) -> None:
        """Begin; the heading waits until the gradients are there."""
        self._is_told = False

    def event(self, event: Any) -> None:
        """Tell the pairs of one parameter."""
        if not isinstance(event, ParameterUpdate):
            return
        maker = self.enclosing(TrainFunctionTeller)
        facts = maker.facts if maker is not None else None
        if not self._is_told:
            self._is_told = True
            name = type(self.stage.subject).__name__
            self.tell(
                "begin", 1, "get_updates", f"{name}: pairs (v, new_v); v <- new_v at each call"
            )
        if facts is not None:
            facts.updates.append(event)
            facts.arrivals.append(Arrival(event.param, event.gradient, True))
        for v, new_v in event.pairs:
            role = "parameter" if v is event.param else "slot"
            words = f"new_v = {new_v.name} {new_v.shape}"
            self.tell("pair", 2, v.name, role, words, role=role, new_value=new_v.name)


class GradientsTeller(Teller):
    """The reverse sweep, op by op, last one first."""

    phase = "make_train_function"

    def started(self) -> None:
        """Prepare the counts of contributions."""
        maker = self.enclosing(TrainFunctionTeller)
        self._facts: TrainFacts | None = maker.facts if maker is not None else None
        self._contributions: dict[Tensor, int] = {}
        self._swept = 0
        self._label: str | None = None
        self._ops: list[str] = []
        self._reached: dict[Tensor, None] = {}

    def event(self, event: Any) -> None:
        """Tell the seed and every swept op: at level "node" together for each layer."""
        if isinstance(event, Seeded):
            words = f"the sweep goes back from {event.loss.name}, where d loss / d loss = 1"
            self.tell("begin", 1, "gradients", words, seed=event.gradient.name)
            self._contributions[event.loss] = 1
        elif isinstance(event, Swept):
            self._hear(event)

    def finished(self) -> None:
        """Tell the last layer."""
        self._say_group()

    def _hear(self, event: Swept) -> None:
        label = self._facts.label(event.apply) if self._facts else event.apply.scope.name
        if label != self._label:
            self._say_group()
            self._label = label
        self._ops.append(event.apply.op.name)
        self._swept += 1
        self._note_arrivals(event)
        said: list[str] = []
        for x, term in zip(event.apply.inputs, event.terms, strict=True):
            if term is None:
                continue
            number = self._contributions[x] = self._contributions.get(x, 0) + 1
            self._reached[x] = None
            if self._facts is not None:
                self._facts.reached_at[x] = self._swept
            said.append(x.name if number == 1 else f"{x.name} (contribution {number} is added)")
        if self.story.level == "op":
            sent = listed(said) or "nothing: no gradient flows"
            self.tell("swept", 2, event.apply.name, event.apply.op.name, f"sends to {sent}")

    def _note_arrivals(self, event: Swept) -> None:
        if self._facts is None:
            return
        for y, gradient in zip(event.apply.outputs, event.output_grads, strict=True):
            if y in self._facts.places and y in self._contributions:
                self._facts.arrivals.append(Arrival(y, gradient, False))

    def _say_group(self) -> None:
        """Tell what one layer's ops sent on, leaving out what stays inside the layer."""
        if self._label is None:
            return
        ops, reached = self._ops, self._reached
        self._ops, self._reached = [], {}
        if self.story.level == "op":
            return
        places = self._facts.places if self._facts else {}
        words = [self._with_count(x) for x in reached if x in places or isinstance(x, Variable)]
        self.tell(
            "swept_node",
            2,
            self._label,
            counted(len(ops), "op"),
            listed(ops, most=4),
            f"-> {listed(words)}" if words else "",
            ops=ops,
        )

    def _with_count(self, x: Tensor) -> str:
        number = self._contributions[x]
        name = self._facts.name_of(x) if self._facts else x.name
        return name if number == 1 else f"{name} ({number} contributions added)"
