"""What is recorded while a model is compiled and its train function made: nothing is computed.

The reverse *sweep* is told here, op by op, last one first; the reverse *values* come with each
batch. Lessons: chapters 12 (compile), 13 (the gradient sweep) and 14 (update tuples).
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.gradient import Seeded, Swept
from kerascope.backend.graph import Apply, Tensor, Variable, is_float
from kerascope.engine.compiling import LossTerm, MetricTerm, PenaltyTerm
from kerascope.optimizers.base import ParameterUpdate
from kerascope.trace.event_writer import StageRecorder, name_is
from kerascope.trace.events import Delta
from kerascope.trace.recorder_memory import facts_of_model
from kerascope.trace.train_facts import Arrival, TrainFacts


class CompileRecorder(StageRecorder):
    """Losses and metrics become tensors; the total loss is their weighted sum."""

    def started(self) -> None:
        """Begin with the losses."""
        model = self.stage.subject
        self.recorder.memory.know(model)
        self.terms: list[LossTerm] = []
        self.begin("compile", model.name, name_is("model", self.recorder.describer.ref(model)))
        self.begin("loss", "loss", name_is("loss_list", []), name_is("total_loss", None))
        self._penalties = 0
        self._in_metrics = False

    def event(self, event: Any) -> None:
        """Tell of one term."""
        ref = self.recorder.describer.ref
        if isinstance(event, LossTerm):
            function = getattr(event.function, "__name__", type(event.function).__name__)
            self.tell(
                "loss.term",
                event.output_name,
                name_is("total_loss", ref(self.stage.names["total_loss"])),
                name_is("output_loss", ref(event.loss)),
                Delta("loss_list", len(self.terms), ref(event.loss)),
                name_is("function", str(function)),
                name_is("weight", event.weight),
            )
            self.terms.append(event)
        elif isinstance(event, PenaltyTerm):
            total = name_is("total_loss", ref(self.stage.names["total_loss"]))
            for penalty in event.penalties:
                self.tell("reg.term", penalty.name, total, name_is("penalty", ref(penalty)))
        elif isinstance(event, MetricTerm):
            self._begin_metrics()
            metric = Delta("metrics", event.name, ref(event.tensor))
            self.tell("metric.term", event.name, metric)

    def _begin_metrics(self) -> None:
        if not self._in_metrics:
            self._in_metrics = True
            self.end()
            self.begin("metrics", "metrics", name_is("metrics", {}))

    def finished(self) -> None:
        """End with what the model has now."""
        model = self.stage.subject
        self.recorder.memory.loss_terms[model] = self.terms
        total_loss = name_is("total_loss", self.recorder.describer.ref(model.total_loss))
        self.end_all(total_loss, name_is("result", tuple(model.metrics_names)))


class TrainFunctionRecorder(StageRecorder):
    """The train function is made; what the sweep and the optimizer say is gathered."""

    def started(self) -> None:
        """Begin, if there is a function to be made."""
        model, memory = self.stage.subject, self.recorder.memory
        memory.know(model)
        self.facts: TrainFacts | None = None
        self.swept: dict[Apply, Apply] = {}
        self.written: set[Variable] = set()
        if model.train_function is None:
            self.facts = facts_of_model(model, memory.loss_terms.get(model))
            ref = self.recorder.describer.ref
            self.begin("function", "make_train_function", name_is("model", ref(model)))

    def finished(self) -> None:
        """Tell the pairs of states and of the count of steps, and what the function is."""
        f, memory, ref = self.stage.result, self.recorder.memory, self.recorder.describer.ref
        if self.facts is None:
            return
        memory.facts_of[f], memory.swept_of[f] = self.facts, self.swept
        model = self.stage.subject
        states = [pair for pair in model.updates if pair[0] not in self.written]
        for v, _ in [*model.updates, *model.metrics_updates]:
            if v in self.written:
                self.tell("update.dup", v.name)
        count = [u for u in f.updates if u.variable is model.optimizer.iterations]
        for v, new_v in [*states, *model.metrics_updates, *count]:
            if isinstance(new_v, Tensor):
                self.tell("update.pair", v.name, name_is("new_v", ref(new_v)))
        pairs = [(u.variable.name, ref(u.new_value)) for u in f.updates]
        self.end_all(
            name_is("inputs", [ref(x) for x in f.inputs]),
            name_is("outputs", [ref(y) for y in f.outputs]),
            name_is("updates", pairs),
            name_is("ops", len(f.schedule.steps)),
            name_is("result", memory.describer.describe(f)),
        )


class UpdatesRecorder(StageRecorder):
    """The optimizer writes down pairs (v, new_v)."""

    def started(self) -> None:
        """Begin with the loss and the parameters."""
        names, ref = self.stage.names, self.recorder.describer.ref
        params = [ref(p) for p in names.get("params", ())]
        loss = names.get("loss")
        given = [] if loss is None else [name_is("loss", ref(loss))]
        name = type(self.stage.subject).__name__
        containers = (name_is("params", params), name_is("grads", []), name_is("updates", []))
        self.begin("get_updates", name, *given, *containers)
        self._pairs = 0
        self._first = True

    def event(self, event: Any) -> None:
        """Tell the pairs of one parameter, with the names of the optimizer's source."""
        if not isinstance(event, ParameterUpdate):
            return
        names, recorder = self.stage.names, self.recorder
        ref = recorder.describer.ref
        maker = self.enclosing(TrainFunctionRecorder)
        if maker is not None and maker.facts is not None:
            maker.facts.updates.append(event)
            maker.facts.arrivals.append(Arrival(event.param, event.gradient, True))
        if self._first:
            self._first = False
            recorder.note(
                *(Delta("grads", i, ref(g)) for i, g in enumerate(names.get("grads", ())))
            )
        local = {n: ref(x) for n, x in names.items() if isinstance(x, Tensor) and n != "loss"}
        pairs = [
            Delta("updates", self._pairs + i, (v.name, ref(new_v)))
            for i, (v, new_v) in enumerate(event.pairs)
        ]
        self._pairs += len(pairs)
        where = recorder.where(self.stage)
        deltas = (*(name_is(name, x) for name, x in local.items()), *pairs)
        recorder.note(*pairs)
        recorder.begin("opt.param", event.param.name, where, deltas[: len(local)])
        for (v, _), pair in zip(event.pairs, pairs, strict=True):
            self._tell_pair(v, pair, event.param, maker)
        recorder.end()

    def _tell_pair(self, v: Variable, pair: Delta, param: Variable, maker: Any) -> None:
        if v is not param:
            array = self.recorder.memory.payload(v.get_value(borrow=True))
            self.recorder.memory.values[v] = v.get_value(borrow=True)
            self.tell("slot.create", v.name, Delta("weights", v.name, array))
        if maker is not None:
            if v in maker.written:
                self.tell("update.dup", v.name, pair)
            maker.written.add(v)
        self.tell("update.pair", v.name, pair)

    def finished(self) -> None:
        """End with the pairs."""
        ref = self.recorder.describer.ref
        pairs = [
            (v.name, ref(new_v)) for v, new_v in self.stage.result if isinstance(new_v, Tensor)
        ]
        self.end_all(name_is("result", pairs))


class GradientsRecorder(StageRecorder):
    """The reverse sweep; the ops of one layer together make a `grad.node`."""

    def started(self) -> None:
        """Begin; the gradient of the loss is still to be made."""
        maker = self.enclosing(TrainFunctionRecorder)
        self._facts: TrainFacts | None = maker.facts if maker is not None else None
        self._swept: dict[Apply, Apply] = maker.swept if maker is not None else {}
        self._contributions: dict[Tensor, int] = {}
        self._steps = 0
        self._label: str | None = None
        names, ref = self.stage.names, self.recorder.describer.ref
        wrt = names.get("wrt", names.get("params", ()))
        loss = self.stage.subject
        given = [name_is("loss", ref(loss))] if isinstance(loss, Tensor) else []
        self.begin("gradients", str(getattr(loss, "name", "loss")), *given,
                   name_is("wrt", [ref(x) for x in wrt]), name_is("grads", {}))  # fmt: skip

    def event(self, event: Any) -> None:
        """Tell the seed and every swept op."""
        describer = self.recorder.describer
        if isinstance(event, Seeded):
            key = describer.key(event.loss)
            self._contributions[event.loss] = 1
            grad = Delta("grads", key, describer.ref(event.gradient))
            self.tell("grad.accum", key, grad, name_is("k", 1))
        elif isinstance(event, Swept):
            self._hear(event)

    def _hear(self, event: Swept) -> None:
        self._steps += 1
        apply, grads = event.apply, self.stage.names["grads"]
        describer, made_at = self.recorder.describer, event.apply.scope.made_at
        sent = [x for x in dict.fromkeys(apply.inputs) if x in grads]
        self._note_facts(event, [grads[x] for x in sent])
        arrived = [Delta("grads", describer.key(x), describer.ref(grads[x])) for x in sent]
        self.recorder.note(*arrived)
        label = self._facts.label(apply) if self._facts else apply.scope.name
        if label != self._label:
            if self._label is not None:
                self.end()
            self._label = label
            self.begin("grad.node", label, made_at=made_at)
        terms = [None if term is None else describer.ref(term) for term in event.terms]
        output_grads = [describer.ref(g) for g in event.output_grads]
        self.tell("grad.op", apply.name, name_is("op", apply.op.name),
                  name_is("output_grads", output_grads), name_is("terms", terms),
                  made_at=made_at)  # fmt: skip
        for x, term in zip(apply.inputs, event.terms, strict=True):
            self._tell_term(x, term, made_at)

    def _tell_term(self, x: Tensor, term: Tensor | None, made_at: Any) -> None:
        key = self.recorder.describer.key(x)
        if not is_float(x.dtype):
            return
        if term is None:
            self.tell("grad.none", key, made_at=made_at)
            return
        k = self._contributions[x] = self._contributions.get(x, 0) + 1
        if self._facts is not None:
            self._facts.reached_at[x] = self._steps
        arrived = name_is("term", self.recorder.describer.ref(term))
        self.tell("grad.accum", key, arrived, name_is("k", k), made_at=made_at)

    def _note_facts(self, event: Swept, sums: list[Tensor]) -> None:
        """Remember which ops belong to whose derivative, and what has arrived complete."""
        made = (*event.terms, *sums, *event.output_grads)
        stack = [x.owner for x in made if x is not None]
        while stack:
            op = stack.pop()
            if op is None or op in self._swept or not op.scope.name.startswith("gradients"):
                continue
            self._swept[op] = event.apply
            stack.extend(x.owner for x in op.inputs)
        if self._facts is not None:
            for y, gradient in zip(event.apply.outputs, event.output_grads, strict=True):
                if y in self._facts.places and y in self._contributions:
                    self._facts.arrivals.append(Arrival(y, gradient, False))

    def finished(self) -> None:
        """End with the gradients asked for."""
        ref = self.recorder.describer.ref
        found = [None if g is None else ref(g) for g in self.stage.result or ()]
        self.end_all(name_is("result", found))
