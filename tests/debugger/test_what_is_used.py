"""What the debugger shows is what the computation uses, whatever was set and undone before.

The property draws sequences of commands. After each one it asks for the value of every name; when
the session is over, the inputs that the ops of the same call were given say what was used. It
catches a name that keeps its old value behind a `set` (the rate, a parameter of an optimizer, an
input, an output, a gradient), one that falls back when the span of the `set` ends, and a value of
another call or timeline.
"""

import io
from contextlib import suppress

import numpy as np
from holding import holds_for
from hypothesis import strategies as st
from piped import answers, fit_toy, gan, piped

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.variables import Variable
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Session
from kerascope.layers import Add, Dense, Input
from kerascope.models import Model
from kerascope.optimizers import SGD
from kerascope.trace.events import BEGIN, END
from kerascope.trace.history import value_of_event
from kerascope.trace.snapshots import same

NAMES = ["x", "hidden", "last", "hidden/kernel", "last/bias", "hidden/dot", "lr"]
NAMES += ["iterations", "hidden/kernel/momentum", "loss", 'grads["hidden/kernel"]']
NAMES += ["gradients/last/dot", "p", "g"]
BREAKS = ["phase:forward", "phase:backward", "phase:update", "phase:commit", "run:hidden"]
BREAKS += ["run:hidden:ret", "hidden:bwd", "run:last:ret", "event:update.param"]
BREAKS += ["event:function:ret", "tensor:loss:ret"]
moves = st.one_of(
    st.builds("s {}".format, st.integers(1, 30)),
    st.builds("rs {}".format, st.integers(1, 30)),
    st.builds("goto batch {}".format, st.integers(0, 2)),
    st.builds("tbreak {}\nc".format, st.sampled_from(BREAKS)),
    st.builds("tbreak {}\nrc".format, st.sampled_from(BREAKS)),
    st.sampled_from(["n", "r", "rerun 2", "timeline 1", "unset", "tbreak batch 1\nc"]),
)
sets = st.builds(
    "set {} = {}".format,
    st.sampled_from([name for name in NAMES if "momentum" not in name]),
    st.sampled_from(["0", "0.5", "3"]),
)


class Looked:
    """A session in which every command is followed by a look at all names."""

    def __init__(self, commands):
        K.clear_session()
        self.seen = []
        self.sets = []
        asked = [f"!look({name!r}, {name})" for name in NAMES]
        lines = []
        for command in commands:
            lines += [*command.split("\n"), *asked]
            word, _, rest = command.partition(" ")
            lines += [f"!was_set({rest.partition(' = ')[0]!r})"] if word in ("set", "unset") else []
        self.out = io.StringIO()
        self._lines = iter([f"{line}\n" for line in ["tbreak run:hidden", "c", *asked, *lines]])
        self._ending = self._to_the_end()
        names = {"look": self.look, "was_set": self.was_set}
        debugger = ModelDebugger(self, self.out)
        self.session = debugger.session = Session(debugger.ask, names=names)
        with suppress(Quitting):
            self.session.run(self.program)

    def readline(self):
        """Return the next line; behind the last one, what lets the program run to its end."""
        return next(self._lines, None) or next(self._ending)

    def _to_the_end(self):
        timelines, tape = self.session.timelines, self.session.recorder.tape
        live = next(one.number for one in timelines if one.tape is tape)
        yield from ("clear\n", f"timeline {live}\n", "c\n", "q\n")

    def program(self):
        x = Input((3,), name="x")
        hidden = Dense(4, activation="relu", name="hidden")(x)
        self.model = Model(x, Dense(1, name="last")(hidden), name="toy")
        self.model.compile(SGD(lr=0.05, momentum=0.5), "mse")
        numbers = np.random.RandomState(0)
        data = numbers.normal(size=(12, 3)), numbers.normal(size=(12, 1))
        self.model.fit(*data, batch_size=4, epochs=2, shuffle=False, verbose=0)

    def look(self, name, value):
        if not isinstance(value, Tensor):  # a symbol has no value of then
            self.seen.append((self._tape, self.session.stepper.now, name, np.array(value)))

    def was_set(self, name):
        self.sets.append((self._tape, self.session.stepper.now, name, len(self.seen)))

    @property
    def _tape(self):
        return self.session.timelines.current.tape

    def tensor_at(self, tape, t, name):
        """Return the tensor that a name means at a time."""
        model = self.model
        plan = self.session.recorder.memory.plans[model.train_function]
        ops = {planned.name: planned.step.apply.outputs[0] for planned in plan.steps}
        variables = {v.name: v for v in plan.slots if isinstance(v, Variable)}
        gradients = {update.param.name: update.gradient for update in plan.facts.updates}
        layers = {layer.name: layer.output for layer in model.layers}
        span = next((x for x in tape.spans_at(t) if x.kind == "update.param"), None)
        if span is not None:
            variables.update({"p": variables[span.name], "g": gradients[span.name]})
        gradient = {'grads["hidden/kernel"]': gradients["hidden/kernel"]}
        known = {**ops, **layers, **variables, **gradient, "loss": model.total_loss}
        return known.get(name)

    def used(self, tape, t, name, number):
        """Return what the next op is given for a name seen at a time; None if nothing reads it."""
        calls = [span for span in tape.spans_at(t) if span.kind == "function"]
        tensor = self.tensor_at(tape, t, name)
        plan = self.session.recorder.memory.plans[self.model.train_function]
        if tensor not in plan.slots or not (calls or isinstance(tensor, Variable)):
            return None
        steps, slot = {planned.name: planned.step for planned in plan.steps}, plan.slots[tensor]
        is_variable = isinstance(tensor, Variable)
        for at in range(t, len(tape)):
            event = tape[at]
            set_here = [
                which
                for where, s, which, n in self.sets
                if s == at and (s > t or n > number or where is not tape)
            ]
            if any(not which or self.tensor_at(tape, at, which) is tensor for which in set_here):
                return None
            if event.kind == "op" and event.ph == BEGIN and slot in steps[event.name].inputs:
                return value_of_event(event, "inputs")[steps[event.name].inputs.index(slot)]
            is_written = at > t and event.kind == "update.apply"
            ends = calls and event.kind == "function" and event.ph == END and at > t
            if ends and name == "loss":
                return value_of_event(event, "outputs")[0]
            if is_written or (ends and not is_variable):
                return None
        return None

    def wrong(self):
        """Return what was shown and not used, and how many values were compared."""
        found, count = [], 0
        for number, (tape, t, name, shown) in enumerate(self.seen):
            used = self.used(tape, t, name, number)
            if used is not None:
                count += 1
                if not same(np.asarray(used), shown):
                    found.append((t, name, shown, used))
        return found, count


steps = st.lists(st.tuples(sets, moves, moves), min_size=2, max_size=4)


@holds_for(steps, few=8, many=300, derandomize=True)
def test_what_is_shown_is_what_the_computation_uses(steps):
    looked = Looked([command for step in steps for command in step])
    wrong, compared = looked.wrong()
    assert not wrong, (looked.out.getvalue(), wrong)
    assert compared


def test_a_rate_that_is_set_inside_a_layer_keeps_its_value_when_the_layer_has_ended():
    text = piped(
        fit_toy, "tbreak run:d1", "c", "set lr = 0.5", "b phase:update", "c", "p lr",
        "info weights", "tbreak phase:commit", "c", "p lr",
    )  # fmt: skip
    assert answers(text, "p lr") == [["f32[] 0.5"]] * 2
    assert [line.split()[2] for line in answers(text, "info weights")[0] if line[:3] == "lr "] == [
        "0.5"
    ]


def test_unset_takes_back_what_was_set_between_two_calls_until_one_has_begun():
    text = piped(
        fit_toy, "tbreak batch 1", "c", "p lr", "set lr = 0", "set lr = 3", "unset", "p lr",
        "unset", "p lr", "timeline", "set lr = 2", "rs", "s", "p lr", "unt update", "unset", "p lr",
    )  # fmt: skip
    before, *rest = [line for (line,) in answers(text, "p lr")]
    assert rest == ["f32[] 0", before, "f32[] 2", "f32[] 2"]
    assert len(answers(text, "timeline")[0]) == 1
    assert "the program has continued with it" in answers(text, "unset")[2][0]


def test_in_a_gan_the_model_is_the_one_whose_call_is_around():
    text = piped(
        gan, "b run:phase:backward", "c", "c", "c", "info nodes", "draw", "rc", "p model",
    )  # fmt: skip
    strips = [answer[3] for answer in answers(text, "c")]
    assert ["D" in strip.split() for strip in strips] == [False, True, False]
    assert answers(text, "p model") == [["<Model gan>"]]
    assert "Dense" in answers(text, "info nodes")[0][1:][-1]
    assert answers(text, "draw")[0][0].startswith("D ")


def test_two_inputs_of_one_name_are_told_apart_by_their_calls():
    def siamese():
        a, b = Input((3,), name="a"), Input((3,), name="b")
        both = Dense(4, name="enc")
        model = Model([a, b], Dense(1)(Add(name="sum")([both(a), both(b)])))
        model.compile("sgd", "mse")
        model.fit([np.ones((4, 3))] * 2, np.ones((4, 1)), verbose=0)

    text = piped(siamese, "b phase:update", "c", "info nodes")
    (line,) = [line for line in answers(text, "info nodes")[0] if " sum " in line]
    assert line.endswith("enc/add (enc@0), enc/add (enc@1)")
