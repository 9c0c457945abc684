"""The engine that a student writes: drawn, walked, traced and debugged, in any style of writing."""

import importlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import kerascope as ks
from kerascope.cli import main
from kerascope.errors import ArgumentError
from kerascope.foreign.own_engine import watching
from kerascope.foreign.writer import TapeWriter
from kerascope.learn.exercises import Workbook, all_exercises

# The parts in other styles than the solutions: ops made by a function, ufuncs and static methods in
# place of methods, an order of ops by recursion, one instance of an op for all its calls.
GRAPH = """
import dataclasses
import numpy as np

class Tensor:
    def __init__(self, shape, name=None, value=None, owner=None):
        self.shape, self.name, self.value, self.owner = tuple(shape), name, value, owner
        self._keras_history = None

    __add__ = lambda a, b: Add()(a, b)
    __sub__ = lambda a, b: Sub()(a, b)
    __mul__ = lambda a, b: Mul()(a, b)
    __truediv__ = lambda a, b: Div()(a, b)
    __neg__ = lambda a: Neg()(a)

def as_tensor(x):
    return x if isinstance(x, Tensor) else Tensor(np.shape(x), "constant", np.array(x, float))

@dataclasses.dataclass(frozen=True, eq=False)
class Apply:
    op: object
    inputs: list
    outputs: list

class Op:
    _one = {}

    def __new__(cls, *args, **kwargs):  # all calls share one instance
        key = cls, args, *kwargs.items()
        return Op._one.setdefault(key, super().__new__(cls))

    name = property(lambda self: type(self).__name__.lower())

    def __call__(self, *xs):
        xs = [as_tensor(x) for x in xs]
        out = Tensor(self.infer_shape(*(x.shape for x in xs)), self.name)
        out.owner = Apply(self, xs, [out])
        return out

    def infer_shape(self, *shapes):
        sizes = np.broadcast_shapes(*[[n or 0 for n in s] for s in shapes])
        return tuple(n or None for n in sizes)

def new(name, perform, grad, **more):
    members = {"perform": perform, "grad": lambda self, i, o, g: grad(*i, o[0], g[0])}
    globals()[name] = type(name, (Op,), {**members, **more, "__module__": __name__})

last = lambda self, *shapes: shapes[-1]
first = lambda self, *shapes: shapes[0]
new("Add", np.add, lambda a, b, y, g: [SumLike()(g, a), SumLike()(g, b)])
new("Sub", np.subtract, lambda a, b, y, g: [SumLike()(g, a), SumLike()(-g, b)])
new("Neg", np.negative, lambda a, y, g: [-g])
new("Mul", np.multiply, lambda a, b, y, g: [SumLike()(g * b, a), SumLike()(g * a, b)])
new("Div", np.divide, lambda a, b, y, g: [SumLike()(g / b, a), SumLike()(-g * y / b, b)])
new("Dot", staticmethod(np.dot),
    lambda a, b, y, g: [Dot()(g, Transpose()(b)), Dot()(Transpose()(a), g)],
    infer_shape=lambda self, a, b: (a[0], b[1]))
new("Transpose", staticmethod(np.transpose), lambda x, y, g: [Transpose()(g)],
    infer_shape=lambda self, x: x[::-1])
new("Relu", lambda self, x: x.clip(0), lambda x, y, g: [g * Positive()(x)])
new("Positive", lambda self, x: np.heaviside(x, 0), lambda x, y, g: [None])
new("Log", np.log, lambda x, y, g: [g / x])

class Softmax(Op):
    def perform(self, x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def grad(self, inputs, outputs, output_grads):
        (y,), (g,) = outputs, output_grads
        return [y * (g - Sum(axis=-1)(g * y))]

class Sum(Op):
    def __init__(self, axis=None):
        self.axis = axis

    def infer_shape(self, x):
        return () if self.axis is None else (*x[:-1], 1)

    def perform(self, x):
        return np.array(x.sum(self.axis, keepdims=self.axis is not None))

    def grad(self, inputs, outputs, output_grads):
        return [BroadcastLike()(output_grads[0], inputs[0])]

def sum_like(self, x, like):
    while x.ndim > like.ndim:
        x = x.sum(0)
    for n, size in enumerate(like.shape):
        x = x.sum(n, keepdims=True) if size == 1 else x
    return x

new("SumLike", sum_like, lambda x, like, y, g: [BroadcastLike()(g, x), None], infer_shape=last)
new("BroadcastLike", lambda self, x, like: x + np.zeros(like.shape),
    lambda x, like, y, g: [SumLike()(g, x), None], infer_shape=last)

def ones_like(x):
    return BroadcastLike()(1.0, x)

def mean(x):
    return Sum()(x) / Sum()(ones_like(x))

def applies_in_order(outputs, found=None):
    found = {} if found is None else found
    for x in outputs:
        if x.owner is not None and x.owner not in found:
            applies_in_order(x.owner.inputs, found)
            found[x.owner] = True
    return list(found)
"""
FUNCTION = """
import numpy as np
from my_engine.gradient import gradients

class Callable:
    def __call__(self, arrays):
        made = {id(x): np.array(a, float) for x, a in zip(self.inputs, arrays)}

        def compute(x):  # from the outputs to the inputs; each result is copied
            if id(x) not in made:
                if x.owner is None:
                    return x.value
                perform = x.owner.op.perform
                made[id(x)] = np.array(perform(*[compute(i) for i in x.owner.inputs]))
            return made[id(x)]

        new = [(v, compute(x)) for v, x in self.updates]
        out = [compute(x) for x in self.outputs]
        for v, array in new:
            v.value = array
        return out

class Function(Callable):
    def __init__(self, inputs, outputs, updates=()):
        self.inputs, self.outputs, self.updates = inputs, outputs, list(updates)

class SGD:
    def __init__(self, lr=0.01):
        self.lr = lr

    def get_updates(self, loss, params):
        return [(p, p - g * self.lr) for p, g in zip(params, gradients(loss, params))]
"""
TRAIN = """\
import numpy as np
from my_engine.fit import Model
from my_engine.function import SGD
from my_engine.layer import Dense, Input

np.random.seed(0)
x = np.random.normal(size=(40, 4))
y = np.eye(3)[np.random.randint(3, size=40)]
inputs = Input((4,), name="inputs")
hidden = Dense(5, activation="relu", name="hidden")(inputs)
scores = Dense(3, activation="softmax", name="scores")(hidden)
model = Model(inputs, scores, name="mine")
model.compile(SGD(0.1), "categorical_crossentropy")
"""
FIT = "print(model.fit(x, y, batch_size=20, epochs=2, shuffle=False))\n"
WITH_NAN = "x[30, 1] = -1e30\n"


@pytest.fixture(params=["solutions", "other styles"])
def folder(request, tmp_path, monkeypatch):
    """A folder with a whole engine, and the script that trains with it."""
    package = tmp_path / "my_engine"
    package.mkdir()
    (package / "__init__.py").touch()
    for exercise in all_exercises():
        if exercise.part:
            shutil.copy(exercise.solution, package / f"{exercise.part}.py")
    if request.param == "other styles":
        (package / "graph.py").write_text(GRAPH, "utf-8")
        (package / "function.py").write_text(FUNCTION, "utf-8")
        layer = (package / "layer.py").read_text("utf-8")
        full = 'name=f"{self.name}/{name}"'
        assert full in layer
        (package / "layer.py").write_text(layer.replace(full, "name=name"), "utf-8")
    (tmp_path / "train.py").write_text(TRAIN + FIT, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "my_engine"]:
        del sys.modules[name]


@pytest.fixture
def names(folder):
    """The names of the script, without training."""
    found = {"__name__": "__main__"}
    exec(compile(TRAIN, str(folder / "train.py"), "exec"), found)
    return found


def methods():
    found = {}
    for part in ("graph", "layer", "function", "fit"):
        for name, cls in vars(importlib.import_module(f"my_engine.{part}")).items():
            if isinstance(cls, type):
                found |= {(name, key): value for key, value in vars(cls).items()}
    return found


def steps_of(tape):
    return [e for e in tape if e.ph == "B" and e.kind in ("node", "update.param")]


# --- a picture and a walk -------------------------------------------------------------------------


def test_a_model_is_drawn_with_a_box_per_layer_and_its_weights(names):
    picture = ks.draw(names["model"])
    assert [(node.id, node.attrs["parameters"]) for node in picture.graph.nodes] == [
        ("inputs", 0), ("hidden", 25), ("scores", 18),
    ]  # fmt: skip
    assert [(e.source, e.target) for e in picture.graph.edges] == [
        ("inputs", "hidden"), ("hidden", "scores"),
    ]  # fmt: skip


def test_branches_and_shared_layers_are_drawn(names):
    layer, fit = sys.modules["my_engine.layer"], sys.modules["my_engine.fit"]

    class Together(layer.Layer):
        def call(self, inputs):
            return inputs[0] + inputs[1]

    a, b, dense = layer.Input((2,), "a"), layer.Input((2,), "b"), layer.Dense(3, name="both")
    out = Together(name="sum")([dense(a), dense(b)])
    model = fit.Model([a, b], out, name="twins")
    graph = ks.draw(model, values=(np.ones((4, 2)), np.zeros((4, 2)))).graph
    assert sorted((e.source, e.target) for e in graph.edges) == [
        ("a", "both"), ("b", "both:2"), ("both", "sum"), ("both:2", "sum"),
    ]  # fmt: skip
    assert [n.id for n in graph.nodes if n.attrs["shared_with"]] == ["both:2"]


def test_the_walk_has_the_numbers_of_predict(names):
    model, x = names["model"], names["x"]
    steps = list(ks.walk(model, x))
    assert [(step.call.name, step.depth) for step in steps] == [
        ("inputs", 2), ("hidden", 1), ("scores", 0),
    ]  # fmt: skip
    assert np.array_equal(steps[-1].outputs[0], model.predict(x))


def test_what_cannot_be_drawn_is_refused(names):
    with pytest.raises(ArgumentError, match="Dense of my_engine: expected a model"):
        ks.draw(names["hidden"]._keras_history[0])
    with pytest.raises(ArgumentError, match="mine: expected 1 input arrays, got 2"):
        list(ks.walk(names["model"], (names["x"], names["x"])))


def test_the_summary_needs_no_inputs(names, capsys):
    ks.summary(names["model"], print_fn=print)
    assert "Total params: 43" in capsys.readouterr().out


# --- recording ------------------------------------------------------------------------------------


def test_a_trace_has_layers_losses_gradients_and_updates(names):
    model, x, y = names["model"], names["x"], names["y"]
    before, weights = methods(), model.get_weights()
    with ks.trace(model, statistics_only=False) as tape:
        told = model.fit(x, y, batch_size=20, shuffle=False)
    assert methods() == before
    trained = model.get_weights()
    model.set_weights(weights)
    assert model.fit(x, y, batch_size=20, shuffle=False) == told
    assert all(map(np.array_equal, model.get_weights(), trained))
    batches = list(tape.batches())
    assert [batch.number for batch in batches] == [0, 1]
    assert np.isclose(np.mean([float(batch.outs[0]) for batch in batches]), told[0])
    steps = [event.name for event in steps_of(tape)]
    for name in ("hidden", "hidden/dot", "scores/softmax", "loss/log", "hidden/kernel"):
        assert name in steps
    names_then = tape.names_at(next(e.t for e in reversed(list(tape)) if e.kind == "function"))
    assert set(names_then["grads"]) == {
        f"{layer}/{weight}" for layer in ("hidden", "scores") for weight in ("kernel", "bias")
    }
    assert np.allclose(names_then["weights"]["scores/bias"], trained[3])
    updates = [e for e in tape if e.kind == "update.apply" and e.name == "scores/bias"]
    old, new = (next(d.value for d in updates[-1].deltas if d.name == n) for n in ("old", "new"))
    assert np.allclose(new, old - 0.1 * names_then["grads"]["scores/bias"])


def test_every_op_is_recorded_once_after_those_that_it_reads(names):
    function = names["model"].train_function
    results = [*function.outputs, *(new for _, new in function.updates)]
    expected = len(sys.modules["my_engine.graph"].applies_in_order(results))
    writer = TapeWriter("all")
    with watching(writer):
        function([names["x"], names["y"]])
    ops = [call for call in writer.calls if call.op != "Input"]
    assert len(ops) == expected
    made = set()
    for call in writer.calls:
        unknown = {value.token for value in call.inputs} - made
        assert (
            all(value.array.ndim == 1 or "/" in call.name for value in call.inputs) or not unknown
        )
        made |= {value.token for value in call.outputs}


def test_predictions_are_recorded_with_their_own_numbers(names):
    model, x = names["model"], names["x"]
    with ks.trace(model, statistics_only=False) as tape:
        one, other = model.predict(x[:1]), model.predict(x[1:2])
    results = [
        d.value for e in tape if e.name == "scores/softmax" for d in e.deltas if d.name == "result"
    ]
    assert np.array_equal(results, [one, other])


def test_a_play_leaves_the_weights_as_they_were(names):
    model = names["model"]
    before = model.get_weights()
    assert len(ks.play(model, names["x"], names["y"]).events)
    assert all(map(np.array_equal, model.get_weights(), before))


def test_an_error_in_an_op_passes_through_and_leaves_no_wrapper(names):
    before = methods()
    with pytest.raises(ValueError, match="size 4|shapes|mismatch"), ks.trace(names["model"]):
        names["model"].fit(names["x"][:, :3], names["y"])
    assert methods() == before


# --- the debugger ---------------------------------------------------------------------------------


def debug(commands, monkeypatch, capsys, script="train.py"):
    words = [word for command in [*commands, "q"] for word in ("-c", command)]
    main(["debug", *words, script])
    return capsys.readouterr().out


def test_the_debugger_steps_through_layers_at_the_students_lines(folder, monkeypatch, capsys):
    told = debug(["b hidden", "c", "n", "s", "p inputs[0].shape", "p model.predict(x).shape", "r",
                  "until update", "s", "w"], monkeypatch, capsys)  # fmt: skip
    assert "train.py(10)<module>()\n-> hidden = Dense(5" in told
    assert "train.py(11)<module>()\n-> scores = Dense(3" in told
    assert "call()\n-> return self.activation(Dot()(inputs, self.kernel) + self.bias)" in told
    assert "(20, 5)" in told
    assert "(40, 3)" in told
    assert "fit > batch 0 > update > update.param hidden/kernel" in told
    assert "zip(params, g" in told


def test_catch_nan_stops_at_the_op_that_makes_it(folder, monkeypatch, capsys):
    (folder / "nan.py").write_text(TRAIN + WITH_NAN + FIT, "utf-8")
    with np.errstate(all="ignore"):
        told = debug(["catch nan", "c", "w"], monkeypatch, capsys, "nan.py")
    assert "categorical_crossentropy()\n-> return -Sum(axis=-1)(y_true * Log()(y_pred))" in told
    assert "caught nan: loss/mul: " in told
    assert "fit              nan.py:15" in told


@pytest.mark.parametrize("last", ["detach", "q"])
def test_the_program_runs_on_or_ends_in_the_middle_of_a_step(folder, capsys, monkeypatch, last):
    told = debug(["b scores", "c", last], monkeypatch, capsys)
    assert ("[1." in told.partition(last)[2]) == (last == "detach")


def test_the_solutions_are_debugged_without_a_workbook(tmp_path):
    start = "from kerascope.learn.engine import use_my_engine\nuse_my_engine()\n"
    (tmp_path / "train.py").write_text(start + TRAIN + FIT, "utf-8")
    words = ["debug", "-c", "tbreak batch 1", "-c", "c", "-c", "q", "train.py"]
    command = [sys.executable, "-m", "kerascope", *words]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100)
    assert "breakpoint 1 hit: batch 1" in run.stdout, run.stderr


def test_a_script_in_a_chapters_folder_is_recorded_once(tmp_path):
    """There, the file `my_engine.py` imports the package of the same name."""
    Workbook(tmp_path, all_exercises()).prepare("en")
    script = tmp_path / "23-your-own-engine" / "train.py"
    script.write_text(f"import my_engine\n{TRAIN}{FIT}", "utf-8")
    command = [sys.executable, "-m", "kerascope", "trace", "--live", str(script)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert run.stdout.count("loss/log ") == 1, run.stderr
    assert "forward/log" not in run.stdout


def test_a_live_trace_prints_the_steps_of_the_engine(folder, capsys):
    assert main(["trace", "--live", "train.py"]) == 0
    told = capsys.readouterr().out
    assert "scores/softmax" in told
    assert "batch 3" in told
