"""Recording compile and the making of a train function; no numbers are computed.

The backward *sweep*, which makes the gradients as tensors, is recorded op by op, from the last op
to the first. The *values* of the gradients are recorded in each batch. Lessons: chapters 12
(compile), 13 (the gradient sweep) and 14 (update tuples).
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.dtypes import is_float
from kerascope.backend.gradient import Seeded, Swept
from kerascope.backend.graph import Apply, Tensor, applies_in_order
from kerascope.backend.variables import Variable
from kerascope.engine.compiling import LossTerm, MetricTerm, PenaltyTerm
from kerascope.optimizers.base import ParameterUpdate
from kerascope.trace.event_writer import StageRecorder, named
from kerascope.trace.events import NO_FACTS, Delta, Where
from kerascope.trace.op_places import place_of_ops
from kerascope.trace.training_info import Sweep, TrainingInfo, facts_of_model


class CompileRecorder(StageRecorder):
    """Records how compile turns losses and metrics into tensors, and sums the total loss."""

    def started(self) -> None:
        """Record the start of compile, and of its phase "loss"."""
        model = self.stage.subject
        self.memory.know(model)
        self.terms: list[LossTerm] = []
        self.begin("compile", model.name, model=self.ref(model))
        self.begin("loss", "loss", loss_list=[], total_loss=None)
        self._in_metrics = False

    def event(self, event: Any) -> None:
        """Record a new loss of an output, new penalties or a new metric."""
        ref = self.ref
        if isinstance(event, LossTerm):
            function = getattr(event.function, "__name__", type(event.function).__name__)
            total_loss, loss = ref(self.stage.names["total_loss"]), ref(event.loss)
            deltas = (
                *named(total_loss=total_loss, output_loss=loss),
                Delta("loss_list", len(self.terms), loss),
                *named(function=str(function), weight=event.weight),
            )
            where = self._made_by_ops_of(event.loss)
            self.recorder.record("loss.term", event.output_name, where, deltas)
            self.terms.append(event)
        elif isinstance(event, PenaltyTerm):
            total = ref(self.stage.names["total_loss"])
            for penalty in event.penalties:
                self.record("reg.term", penalty.name, total_loss=total, penalty=ref(penalty))
        elif isinstance(event, MetricTerm):
            if not self._in_metrics:
                self._in_metrics = True
                self.end()
                self.begin("metrics", "metrics", metrics={})
            term = Delta("metrics", event.name, ref(event.tensor))
            where = self._made_by_ops_of(event.tensor)
            self.recorder.record("metric.term", event.name, where, (term,))

    def _made_by_ops_of(self, term: Tensor) -> Where:
        """Return kerascope's current line, and the user's lines that made a loss term's ops."""
        applies = applies_in_order([term], fed=self.stage.subject.outputs)
        own = [apply for apply in applies if apply.scope.made_at is None]  # ops that no layer made
        return place_of_ops(self.recorder.where(self.stage), own)

    def finished(self) -> None:
        """Record the end of compile, with the model's total loss and the names of its metrics."""
        model = self.stage.subject
        self.memory.loss_terms[model] = self.terms
        owner, optimizer = model.total_loss.owner, type(model.optimizer).__name__
        made_by = "nothing" if owner is None else owner.op.name
        facts = {"made_by": made_by, "optimizer": optimizer}
        total_loss, names = self.ref(model.total_loss), tuple(model.metrics_names)
        self.end_all(facts=facts, total_loss=total_loss, result=names)


class TrainFunctionRecorder(StageRecorder):
    """Records how a train function is made, with its gradients and updates.

    The sweep and the optimizer add the gradients and the updates to the function's `TrainingInfo`.
    """

    def started(self) -> None:
        """Record that the making of a train function begins, unless the model already has one."""
        model = self.stage.subject
        self.memory.know(model)
        self.facts: TrainingInfo | None = None
        self.swept: dict[Apply, Apply] = {}
        self.written: set[Variable] = set()
        if model.train_function is None:
            self.facts = facts_of_model(model, self.memory.loss_terms.get(model))
            self.begin("function", "make_train_function", model=self.ref(model))

    def finished(self) -> None:
        """Record the inputs, the outputs, and the updates of states, metrics and `iterations`."""
        f, ref = self.stage.result, self.ref
        if self.facts is None:
            return
        self.memory.facts_of[f], self.memory.swept_of[f] = self.facts, self.swept
        model = self.stage.subject
        new_values = {u.variable: u.new_value for u in f.updates}
        of_layers = dict.fromkeys(v for v, _ in model.updates)
        states = [(v, new_values[v]) for v in of_layers if v not in self.written]
        for v in [*of_layers, *(v for v, _ in model.metrics_updates)]:
            if v in self.written:
                self.record("update.dup", v.name)
        count = [u for u in f.updates if u.variable is model.optimizer.iterations]
        for v, new_v in [*states, *model.metrics_updates, *count]:
            if isinstance(new_v, Tensor):
                self.record("update.pair", v.name, new_v=ref(new_v))
        pairs = [(u.variable.name, ref(u.new_value)) for u in f.updates]
        roles = self.facts.roles()
        facts = {"roles": [roles.get(u.variable, "state") for u in f.updates],
                 "outputs": self.facts.output_names}  # fmt: skip
        self.end_all(
            facts=facts,
            inputs=[ref(x) for x in f.inputs],
            outputs=[ref(y) for y in f.outputs],
            updates=pairs,
            ops=len(f.schedule.steps),
            result=self.memory.describer.describe(f),
        )


class UpdatesRecorder(StageRecorder):
    """Records the optimizer's update pairs (v, new_v)."""

    def started(self) -> None:
        """Record the start of `get_updates`, with the loss and the parameters."""
        names = self.stage.names
        params = [self.ref(p) for p in names.get("params", ())]
        given = {} if names.get("loss") is None else {"loss": self.ref(names["loss"])}
        optimizer = type(self.stage.subject).__name__
        self.begin("get_updates", optimizer, **given, params=params, grads=[], updates=[])
        self._pairs = 0
        self._first = True

    def event(self, event: Any) -> None:
        """Record the update pairs of a parameter, with the names in the optimizer's source."""
        if not isinstance(event, ParameterUpdate):
            return
        names, recorder, ref = self.stage.names, self.recorder, self.ref
        maker = self.enclosing(TrainFunctionRecorder)
        if maker is not None and maker.facts is not None:
            maker.facts.take_update(event)
        if self._first:
            self._first = False
            grads = names.get("grads", ())
            recorder.note(*(Delta("grads", i, ref(g)) for i, g in enumerate(grads)))
        local = {n: ref(x) for n, x in names.items() if isinstance(x, Tensor) and n != "loss"}
        pairs = [
            Delta("updates", self._pairs + i, (v.name, ref(new_v)))
            for i, (v, new_v) in enumerate(event.pairs)
        ]
        self._pairs += len(pairs)
        recorder.note(*pairs)
        self.begin("opt.param", event.param.name, **local)
        for (v, _), pair in zip(event.pairs, pairs, strict=True):
            self._record_pair(v, pair, event.param, maker)
        recorder.end()

    def _record_pair(
        self, v: Variable, pair: Delta, param: Variable, maker: TrainFunctionRecorder | None
    ) -> None:
        if v is not param:
            array = self.memory.values[v] = v.get_value(borrow=True)
            self.record("slot.create", v.name, Delta("weights", v.name, self.memory.payload(array)))
        if maker is not None:
            if v in maker.written:
                self.record("update.dup", v.name, pair)
            maker.written.add(v)
        self.record("update.pair", v.name, pair)

    def finished(self) -> None:
        """Record the end of `get_updates`, with all pairs."""
        pairs = [(v.name, new_v) for v, new_v in self.stage.result if isinstance(new_v, Tensor)]
        self.end_all(result=[(name, self.ref(new_v)) for name, new_v in pairs])


class GradientsRecorder(StageRecorder):
    """Records the backward sweep. The ops of a layer together make a span `grad.node`."""

    def started(self) -> None:
        """Record the start of the sweep, with no gradients yet."""
        maker = self.enclosing(TrainFunctionRecorder)
        self._sweep = Sweep(maker.facts if maker is not None else None)
        self._swept: dict[Apply, Apply] = maker.swept if maker is not None else {}
        self._label: str | None = None
        names, loss = self.stage.names, self.stage.subject
        wrt = [self.ref(x) for x in names.get("wrt", names.get("params", ()))]
        given = {"loss": self.ref(loss)} if isinstance(loss, Tensor) else {}
        self.begin("gradients", str(getattr(loss, "name", "loss")), **given, wrt=wrt, grads={})

    def event(self, event: Any) -> None:
        """Record the gradient of the loss, or the gradients of an op that the sweep has passed."""
        if isinstance(event, Seeded):
            key = self.memory.describer.key(event.loss)
            self._sweep.seed(event)
            self.record(
                "grad.accum", key, Delta("grads", key, self.ref(event.gradient)), *named(k=1)
            )
        elif isinstance(event, Swept):
            self._record_swept(event)

    def _record_swept(self, event: Swept) -> None:
        apply, grads = event.apply, self.stage.names["grads"]
        key, made_at = self.memory.describer.key, event.apply.scope.made_at
        sent = [x for x in dict.fromkeys(apply.inputs) if x in grads]
        self._note_derivative(event, [grads[x] for x in sent])
        contributions = self._sweep.take(event)
        self.recorder.note(*(Delta("grads", key(x), self.ref(grads[x])) for x in sent))
        label = self._sweep.label(apply)
        if label != self._label:
            if self._label is not None:
                self.end()
            self._label = label
            self.begin("grad.node", label, made_at=made_at)
        self.record(
            "grad.op",
            apply.name,
            op=apply.op.name,
            output_grads=[self.ref(g) for g in event.output_grads],
            terms=[None if term is None else self.ref(term) for term in event.terms],
            made_at=made_at,
        )
        for x, term, k in contributions:
            name = key(x)
            if not is_float(x.dtype):
                continue
            if term is None:
                self.record("grad.none", name, made_at=made_at)
            else:
                reached = self._sweep.reached(x)
                facts = {"reaches": reached} if reached else NO_FACTS
                self.record("grad.accum", name, term=self.ref(term), k=k, made_at=made_at,
                          facts=facts)  # fmt: skip

    def _note_derivative(self, event: Swept, sums: list[Tensor]) -> None:
        """Store, for each new gradient op, the forward op that it belongs to."""
        made = (*event.terms, *sums, *event.output_grads)
        stack = [x.owner for x in made if x is not None]
        while stack:
            op = stack.pop()
            if op is None or op in self._swept or not op.scope.name.startswith("gradients"):
                continue
            self._swept[op] = event.apply
            stack.extend(x.owner for x in op.inputs)

    def finished(self) -> None:
        """Record the end of the sweep, with the gradients."""
        self.end_all(result=[None if g is None else self.ref(g) for g in self.stage.result or ()])
