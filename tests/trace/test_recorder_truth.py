"""The journal is the truth: at every time the rebuilt names equal a copy that was taken live."""

import numpy as np
import pytest
from zoo import THINNED_ZOO, ZOO

from kerascope.backend.function import Function
from kerascope.backend.graph import Tensor
from kerascope.engine.graph_map import map_graph
from kerascope.layers import BatchNormalization, Dense, Dropout, Input
from kerascope.models import Model
from kerascope.stage import observing
from kerascope.trace.recorder import Recorder
from kerascope.trace.snapshots import same

# At a "B" the arguments of what comes are on the tape already; live are the containers.
CONTAINERS = {
    "build_map": ["nodes_in_progress"],
    "depth_sort": ["nodes_depths", "layers_depths"],
    "check_graph": ["layers_with_complete_input"],
    "run_internal_graph": ["tensor_map"],
    "get_updates": ["updates"],
    "gradients": ["grads"],
}
OF_THE_MAP = ["layer_indices", "nodes_in_decreasing_depth"]
VALUES = {
    "build_map": ["tensor", "node", "layer", "node_index"],
    "depth_sort": ["node", "depth"],
    "check_graph": ["nodes"],
    "compile": ["total_loss", "output_loss"],
    "get_updates": ["p", "g", "m", "v", "new_p", "lr", "lr_t", "params", "loss", "grads"],
}
AT_THE_END = {"run_internal_graph": ["node", "layer", "computed_tensors", "output_tensors"]}


class Watcher:
    """Copies what is live at each event, to be compared when all is over."""

    def __init__(self):
        self.recorder = Recorder(history=None)
        self.recorder.listeners.append(self.listen)
        self.seen = []
        self.compared = set()
        self.visits = []

    def listen(self, event):
        observer = next((h for h in reversed(self.recorder.observers)), None)
        if observer is None or observer.stage is not self.recorder.stage:
            return
        stage, live = observer.stage, observer.stage.names
        if not live:
            return
        snapshot = self.recorder.describer.snapshot
        found = {}
        if isinstance(stage.subject, Function):
            self.look_at_function(event, observer, live, found)
        elif event.kind not in ("build",):
            keys = getattr(observer, "keys", None)
            names = list(CONTAINERS.get(stage.name, ()))
            is_same_stop = stage.name != "run_internal_graph" or event.kind == stage.name
            if event.ph != "B" or event.kind in ("map.visit", "opt.param"):
                names += VALUES.get(stage.name, ())
            if event.ph == "E" and event.kind in ("node", "layer.call") and not is_same_stop:
                names += AT_THE_END.get(stage.name, ())
            for name in names:
                if name in live:
                    found[name] = self.of(name, live[name], snapshot, keys)
            if event.kind == "map.visit":  # Keras's walk calls itself: each visit has its own names
                if event.ph == "B":
                    self.visits.append({n: found[n] for n in VALUES["build_map"] if n in found})
                else:
                    found.update(self.visits.pop())
            if stage.name == "build_map" and "layer_indices" in live:
                for name in OF_THE_MAP + (
                    ["nodes_depths", "layers_depths"] if "marks" in live else []
                ):
                    found[name] = snapshot(live[name])
        self.seen.append((event.t, stage.name, found))

    def of(self, name, value, snapshot, keys):
        if name == "nodes_in_progress":
            return {node.name: True for node in value}
        if name == "updates":
            return [(v.name, snapshot(new_v)) for v, new_v in value]
        if name in ("tensor_map", "computed_tensors", "output_tensors"):
            return snapshot(numbers(value), keys)
        return snapshot(value)

    def look_at_function(self, event, observer, live, found):
        if not live.get("values"):  # the call has not begun
            return
        function, values = observer.function, live["values"]
        found["weights"] = {u.variable.name: u.variable.get_value() for u in function.updates}
        tensor_map = {}
        for tensor, key in observer.plan.keys.items():
            slot = function.schedule.slots.get(tensor)
            if slot is not None and values[slot] is not None:
                tensor_map[key] = np.array(values[slot])
        found["tensor_map in part"] = tensor_map
        if event.kind == "op" and event.ph == "E":
            step = live["step"]
            if len(step.outputs) == 1:
                found["result"] = np.array(values[step.outputs[0]])

    def compare(self):
        tape = self.recorder.tape
        for t, stage, found in self.seen:
            names = tape.names_at(t)
            for name, live in found.items():
                where = (t, stage, name, tape[t])
                if name == "tensor_map in part":
                    for key, array in live.items():
                        assert_equal(names["tensor_map"][key][0], array, where)
                elif name == "weights":
                    for key, array in live.items():
                        assert_equal(names["weights"][key], array, where)
                elif name == "result":
                    assert_equal(names["result"], live, where)
                else:
                    assert same_mapping(names[name], live), (where, names[name], live)
                self.compared.add((stage, name))


def numbers(value):
    """Put the arrays of constants in their places."""
    if isinstance(value, dict):
        return {key: numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(numbers(item) for item in value)
    return value.value if isinstance(value, Tensor) and hasattr(value, "value") else value


def assert_equal(one, other, where):
    assert np.asarray(one).tobytes() == np.asarray(other).tobytes(), where


def same_mapping(one, other):
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return same(one, other)


def watched(work):
    watcher = Watcher()
    with observing(watcher.recorder):
        work()
    watcher.compare()
    return watcher


def everything():
    x = Input(shape=(3,), name="x")
    h = Dense(4, activation="relu", kernel_regularizer="l2", name="hidden")(x)
    h = Dropout(0.5, seed=3)(BatchNormalization(name="norm")(h))
    model = Model(x, Dense(1, name="y")(h), name="regression")
    model.compile("adam", "mse", metrics=["mae"])
    rng = np.random.default_rng(1)
    model.fit(rng.normal(size=(20, 3)), rng.normal(size=(20, 1)), batch_size=8, verbose=0)
    model.predict(rng.normal(size=(4, 3)), verbose=0)
    outer = Model(x, model(model.inputs[0]))
    outer(rng.normal(size=(2, 3)))


def test_the_names_of_every_time_are_those_that_were_live():
    compared = watched(everything).compared
    wanted = {(stage, name) for stage, names in CONTAINERS.items() for name in names}
    wanted |= {("build_map", name) for name in [*OF_THE_MAP, "node", "tensor", "layer"]}
    wanted |= {("run_internal_graph", name) for name in AT_THE_END["run_internal_graph"]}
    wanted |= {("get_updates", name) for name in ["p", "g", "new_p", "lr", "lr_t"]}
    wanted |= {("compile", "total_loss")}
    for function in ("train_function", "predict_function"):
        wanted |= {(function, name) for name in ["weights", "tensor_map in part", "result"]}
    assert compared >= wanted


@pytest.mark.parametrize("flavour", ["1", "2"])
@pytest.mark.parametrize("name", ["diamond", "shared_layer", "siamese", "nested_in_nested"])
def test_both_walks(name, flavour):
    model = ZOO[name]()
    compared = watched(lambda: map_graph(model.inputs, model.outputs, flavour)).compared
    assert ("build_map", "layer_indices") in compared
    assert (("build_map", "nodes_depths") in compared) == (flavour == "1")


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_every_model(name):
    def work():
        model = ZOO[name]()
        model.compile("sgd", "mse")
        rng = np.random.default_rng(0)
        x = [rng.normal(size=(4, *t.shape[1:])) for t in model.inputs]
        y = [rng.normal(size=(4, *t.shape[1:])) for t in model.outputs]
        model.train_on_batch(x, y)

    assert ("train_function", "result") in watched(work).compared


def test_the_truth_is_the_same_asked_in_any_order():
    watcher = watched(everything)
    tape = watcher.recorder.tape
    rng = np.random.default_rng(3)
    times = rng.integers(0, len(tape), 40)
    forward = {int(t): tape.names_at(int(t)) for t in sorted(times)}
    fresh = type(tape)(tape, history=None)
    for t in times:
        assert same(fresh.names_at(int(t)), forward[int(t)])
