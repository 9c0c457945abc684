import itertools
import re
import runpy
import sys
import warnings
from linecache import getline
from pathlib import Path

import numpy as np
import pytest
from recorded import assert_balanced, fit, recorded, regression
from zoo import THINNED_ZOO, ZOO

import kerascope as ks
from kerascope import backend as K
from kerascope.compat.finder import keras_imports
from kerascope.engine.graph_map import map_graph
from kerascope.errors import ArgumentError
from kerascope.layers import Dense, Input, Masking
from kerascope.models import Model, Sequential
from kerascope.stage import Stage, observing
from kerascope.trace.events import END, GRAIN_OF, GRAINS
from kerascope.trace.recorder import Recorder
from kerascope.trace.statistics import Statistics
from kerascope.trace.tape import Tape, trace

HOME = Path(ks.__file__).parents[1]

# --- watching changes nothing ---------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"statistics_only": True}, {"level": "node"}])
def test_losses_and_weights_are_the_same_bits_traced_and_untraced(options):
    model, twin = regression(), regression()
    twin.set_weights(model.get_weights())
    untraced = fit(model)
    histories = []
    recorded(lambda: histories.append(fit(twin)), **options)
    assert histories == [untraced]
    for one, other in zip(model.get_weights(), twin.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_questions_between_the_events_change_nothing():
    model, twin = regression(), regression()
    twin.set_weights(model.get_weights())
    untraced = fit(model)
    recorder = Recorder()
    recorder.listeners.append(lambda event: event.t % 7 or recorder.tape.names_at(event.t))
    histories = []
    with observing(recorder):
        histories.append(fit(twin))
    assert histories == [untraced]


# --- every kind of model --------------------------------------------------------------------------


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_the_spans_of_every_model_are_balanced(name):
    def work():
        model = ZOO[name]()
        model.compile("adam", "mse")
        numbers = np.random.default_rng(0)
        x = [numbers.normal(size=(4, *t.shape[1:])) for t in model.inputs]
        y = [numbers.normal(size=(4, *t.shape[1:])) for t in model.outputs]
        model.fit(x, y, epochs=1, verbose=0)
        model.predict(x, verbose=0)

    tape = recorded(work).tape
    assert_balanced(tape)
    kinds = {event.kind for event in tape}
    wanted = "layer.call node.create loss.term grad.op opt.param node op update.param update.apply"
    assert kinds >= set(wanted.split())
    assert "map.visit" in kinds or name == "subclassed"  # whose graph nobody needs to map
    first = tape.filter(kind="function", name="train_function", ph="B")[0]
    end = next(e for e in tape[first.t :] if e.kind == "commit")
    keys = tape.names_at(end.t)["tensor_map"]
    forward = [
        e for e in tape[first.t : end.t] if (e.kind, e.phase, e.ph) == ("node", "forward", "B")
    ]
    calls = [e.name for e in forward if any(d.name == "node" for d in e.deltas)]  # not those inside
    assert len(calls) == len(set(calls))
    assert set(calls) <= {name for key in keys for name in (key, key.rpartition(":")[0])}


def test_what_builds_begins_at_the_line_of_its_first_layer_and_tells_where_layers_are_made():
    def build():
        x = Input((3,), name="x")
        return Dense(2, name="d")(x)

    tape = recorded(build).tape
    first = build.__code__.co_firstlineno + 1
    begun = tape[0].where
    assert (begun.file, begun.function) == ("", "build")
    assert (begun.user_file, begun.user_line) == (__file__, first)
    made = [getline(str(HOME / e.where.file), e.where.line) for e in tape.filter("layer.init")]
    assert ["layer.__init__(" in line for line in made] == [True, True]
    (node, _) = tape.filter("node.create")
    assert "Node(self" in getline(str(HOME / node.where.file), node.where.line)
    assert (tape[-1].kind, tape[-1].where.user_line) == ("build", first)


# --- kinds and levels -----------------------------------------------------------------------------


def everything():
    model = regression()
    fit(model, epochs=1, validation_split=0.2)
    K.set_value(model.optimizer.lr, 0.5)
    fit(model, epochs=1)
    x = Input((4, 2))
    masked = Model(x, Dense(1)(ks.layers.LSTM(2, return_sequences=True)(Masking()(x))))
    inner = Model(x, masked(x))
    inner.compile("sgd", "mse")
    inner.fit(np.ones((2, 4, 2)), np.ones((2, 4, 1)), verbose=0)
    inner(np.ones((2, 4, 2)))
    ZOO["diamond"]().predict(np.ones((2, *ZOO["diamond"]().input_shape[1:])), verbose=0)
    model.evaluate(np.ones((2, 3)), np.ones((2, 1)), verbose=0)
    index = Input((1,), dtype="int32")
    Model(index, ks.layers.Flatten()(ks.layers.Embedding(3, 2)(index))).compile("sgd", "mse")
    words = Sequential([ks.layers.Embedding(3, 2, input_length=1), ks.layers.Flatten()])
    words.compile("sgd", "mse")
    words.fit(np.ones((2, 1)), np.ones((2, 2)), verbose=0)
    layer = model.layers[1]
    doubled = Model(model.inputs, model.outputs)
    doubled.add_update((layer.kernel, layer.kernel * 1.0))
    doubled.compile("sgd", "mse")
    doubled.train_on_batch(np.ones((2, 3)), np.ones((2, 1)))


def test_every_kind_of_the_table_occurs():
    tape = recorded(everything).tape
    assert_balanced(tape)
    assert set(GRAIN_OF) - {event.kind for event in tape} == {"override", "event"}
    assert all(GRAIN_OF[event.kind] == event.grain for event in tape)


@pytest.mark.parametrize("level", GRAINS)
def test_a_level_tells_nothing_finer_and_the_names_come_along(level):
    model = regression()
    weights = model.get_weights()
    full = recorded(lambda: fit(model, epochs=1)).tape
    twin = regression()
    twin.set_weights(weights)
    tape = recorded(lambda: fit(twin, epochs=1), level=level).tape
    assert_balanced(tape)
    allowed = GRAINS[: GRAINS.index(level) + 1]
    assert [e.kind for e in tape] == [e.kind for e in full if e.grain in allowed]
    if level != "act":
        ends = [t.filter(kind="forward", ph="E")[0].t for t in (tape, full)]
        one, two = (
            t.names_at(end)["tensor_map"] for t, end in zip((tape, full), ends, strict=True)
        )
        assert one.keys() == two.keys()
        for key in one:
            np.testing.assert_array_equal(one[key][0], two[key][0])


def test_there_is_no_such_level():
    with pytest.raises(ArgumentError, match="level: expected one of"):
        Recorder("layers")


def test_what_is_told_of_one_batch():
    model = regression("sgd")
    tape = recorded(lambda: fit(model, epochs=1)).tape
    first = tape.filter(kind="function", name="train_function", ph="B")[0]
    names = tape.names_at(first.t)
    assert names["t"] == 1
    assert float(names["lr"]) == pytest.approx(0.01)
    assert names["params"] == ["hidden/kernel", "hidden/bias", "norm/gamma", "norm/beta",
                               "y/kernel", "y/bias"]  # fmt: skip
    assert list(names["tensor_map"]) == ["x"]
    phases = [e.kind for e in tape.filter(grain="phase", ph="B", act="function")]
    assert phases.index("forward") < phases.index("loss") < phases.index("backward")
    commits = tape.filter(kind="commit", ph="B")
    assert [len(tape.spans_at(e.t)) for e in commits] == [5] * 3  # fit epoch batch function commit
    last_op = tape.filter(kind="op", ph="E")[-1]
    assert last_op.t < commits[-1].t
    before = tape.names_at(commits[0].t)
    assert set(before["grads"]) >= set(before["params"])
    assert set(before["updates"]) >= set(before["params"])
    update = tape.filter(kind="update.apply", name="y/bias")[0]
    values = {d.name: d.value for d in update.deltas if d.key is None}
    np.testing.assert_array_equal(values["new"], before["updates"]["y/bias"])
    np.testing.assert_array_equal(values["old"], before["weights"]["y/bias"])
    new = values["old"] - names["lr"] * before["grads"]["y/bias"]
    np.testing.assert_allclose(values["new"], new, rtol=1e-5)
    relu = tape.filter(kind="op", name="hidden/relu", ph="B")[0]
    assert tape.names_at(relu.t)["op"] == "relu"
    assert relu.where.user_file.endswith("recorded.py")
    assert relu.where.file == "kerascope/backend/function.py"


def test_the_sweep_tells_both_contributions_to_a_shared_layer():
    x, shared = Input((3,), name="x"), Dense(3, name="shared")
    model = Model(x, shared(shared(x)))
    model.compile("sgd", "mse")
    data = np.ones((2, 3))
    tape = recorded(lambda: model.fit(data, data, verbose=0)).tape
    told = tape.filter(kind="grad.accum", name="shared/kernel")
    assert [tape.names_at(event.t)["k"] for event in told] == [1, 2]
    nodes = [e.name for e in tape.filter(kind="node", phase="backward", ph="B")]
    assert [name for name in nodes if name.startswith("shared@")] == ["shared@1", "shared@0"]
    end = tape.filter(kind="forward", ph="E")[0].t
    assert list(tape.names_at(end)["tensor_map"]) == ["x", "shared@0", "shared@1"]


def test_the_batch_of_the_caller_is_copied():
    model = regression()
    x, y = np.ones((4, 3), "float32"), np.ones((4, 1), "float32")

    def work():
        model.train_on_batch(x, y)
        x[:] = 7.0

    tape = recorded(work).tape
    names = tape.names_at(tape.filter(kind="function", name="train_function", ph="B")[-1].t)
    np.testing.assert_array_equal(names["inputs"][0], np.ones((4, 3)))
    first = tape.filter(kind="op", ph="B")[0]
    assert not any((np.asarray(array) == 7.0).any() for array in tape.names_at(first.t)["inputs"])


def test_a_view_of_the_callers_batch_is_copied():
    x = K.placeholder((None, 4), name="x")
    f = K.function([x], [K.reshape(x, (-1, 2)) * 1.0])
    data = np.ones((2, 4), "float32")

    def work():
        f([data])
        data[:] = 7.0

    tape = recorded(work).tape
    for event in tape.filter(kind="op"):
        for delta in event.deltas:
            arrays = delta.value if isinstance(delta.value, tuple) else (delta.value,)
            for array in arrays:
                if isinstance(array, np.ndarray):
                    assert not (array == 7.0).any(), event


def test_an_array_that_a_listener_puts_into_a_slot_goes_on():
    x = K.placeholder((2,), name="x")
    f = K.function([x], [(x + 1.0) * 2.0])
    recorder = Recorder()

    def override(event):
        if event.kind == "op" and event.ph == END and event.name == "add":
            step = next(s for s in f.schedule.steps if s.apply.name == "add")
            recorder.stage.names["values"][step.outputs[0]] = np.zeros(2, "float32")

    recorder.listeners.append(override)
    with observing(recorder):
        outputs = f([np.ones(2)])
    np.testing.assert_array_equal(outputs[0], [0.0, 0.0])
    multiplied = recorder.tape.filter(kind="op", name="multiply", ph="B")[0]
    np.testing.assert_array_equal(recorder.tape.names_at(multiplied.t)["inputs"][0], [0.0, 0.0])


def test_statistics_only_keeps_no_array():
    model = regression()
    tape = recorded(lambda: fit(model, epochs=1), statistics_only=True).tape
    assert tape.bytes == 0
    result = tape.names_at(tape.filter(kind="op", name="hidden/relu", ph="E")[0].t)["result"]
    assert isinstance(result, Statistics)


def test_live_objects_are_found_again():
    recorder = Recorder()
    with observing(recorder):
        x = Input((3,), name="x")
        layer = Dense(2, name="d")
        model = Model(x, layer(x))
    t = len(recorder.tape) - 1
    assert recorder.live(t, "d") is layer
    visit = recorder.tape.filter(kind="map.visit", name="d_ib-0", ph="B")[0]
    assert recorder.live(visit.t, "node") is layer.inbound_nodes[0]
    assert recorder.live(visit.t, "tensor") is model.outputs[0]
    assert recorder.live(visit.t, "nothing") is None


def test_keras_1s_walk_is_told_with_its_marks():
    x = Input((3,), name="x")
    out = Dense(2, name="d")(x)
    tape = recorded(lambda: map_graph([x], [out], flavour="1")).tape
    assert [e.name for e in tape.filter(kind="map.mark")] == ["d_ib-0-0", "x_ib-0-1"]
    assert tape.filter(kind="map.depth")
    last = tape.filter(kind="map.visit", ph="E")[-1].t
    assert tape.names_at(last)["seen_nodes"] == ["d_ib-0-0", "x_ib-0-1"]


def test_trace_records_a_model_that_is_trained_already():
    model = regression()
    fit(model, epochs=1)
    with trace(model) as tape:
        model.train_on_batch(np.ones((2, 3)), np.ones((2, 1)))
    assert_balanced(tape)
    updated = tape.filter(kind="update.param", name="hidden/kernel", ph="E")[0]
    names = tape.names_at(updated.t)
    assert {"p", "g", "m", "v", "new_p"} <= set(names)
    np.testing.assert_array_equal(names["g"], names["grads"]["hidden/kernel"])
    np.testing.assert_array_equal(names["new_p"], names["updates"]["hidden/kernel"])
    assert [e.name for e in tape.filter(kind="node", phase="forward", ph="B")][:2] == [
        "hidden",
        "norm",
    ]
    assert tape.names_at(tape.filter(kind="loss", ph="E")[0].t)["total_loss"] is not None


@pytest.mark.parametrize(
    ("script", "epochs"),
    [
        ("example.py", None),
        ("keras2_multi_output.py", 1),
        pytest.param("keras2_multi_output.py", None, marks=pytest.mark.slow),
    ],
)
def test_the_examples_are_recorded(script, epochs, monkeypatch, capsys, tmp_path):
    path = Path(__file__).parents[2] / "examples" / script
    monkeypatch.setattr("sys.argv", [str(path)])
    if epochs is not None:  # trained for a shorter time
        text, count = re.subn(r"epochs=\d+", f"epochs={epochs}", path.read_text())
        assert count == 1
        path = tmp_path / script
        path.write_text(text)

    def work():
        with keras_imports(), warnings.catch_warnings(action="ignore"):
            runpy.run_path(str(path), run_name="__main__")

    tape = recorded(work, level="op", statistics_only=True).tape
    assert_balanced(tape)
    made = tape.filter(kind="layer.call", ph="B")
    assert made
    assert all(event.where.user_file.endswith(script) for event in made)
    assert tape.filter(kind="update.apply")


def test_a_stage_of_unknown_kind_is_a_span_too():
    def counting():
        yield "one"
        inner = yield Stage("inner", iter_twice())
        return inner

    def iter_twice():
        yield "two"
        return 2

    tape = recorded(lambda: Stage("outer", counting()).run()).tape
    assert_balanced(tape)
    assert [(e.kind, e.ph) for e in tape] == [
        ("outer", "B"),
        ("event", "I"),
        ("inner", "B"),
        ("event", "I"),
        ("inner", "E"),
        ("outer", "E"),
    ]


def test_walking_a_model_by_hand_leaves_the_tape_balanced():
    model = ZOO["nested_in_nested"]()
    data = [np.ones((2, *x.shape[1:])) for x in model.inputs]
    assert_balanced(recorded(lambda: list(ks.walk(model, data, nested=True))).tape)


def test_an_op_that_a_switch_does_not_need_is_not_told():
    flag, x = K.placeholder((), name="flag"), K.placeholder((2,), name="x")
    f = K.function([flag, x], [K.switch(flag, K.exp(x), K.square(x))])
    tape = recorded(lambda: [f([1.0, np.ones(2)]), f([0.0, np.ones(2)])]).tape
    assert_balanced(tape)
    ops = [e.name for e in tape.filter(kind="op", ph="B")]
    assert ops == ["exp", "switch", "square", "switch"]


def test_a_condition_that_a_listener_changes_is_told_as_it_then_is():
    flag, x = K.placeholder((), name="flag"), K.placeholder((2,), name="x")
    f = K.function([flag, x], [K.switch(flag * 1.0, K.exp(x), K.square(x))])
    condition = next(s.outputs[0] for s in f.schedule.steps if s.apply.name == "multiply")
    recorder = Recorder()

    def change(event):  # in front of the op that the condition had chosen
        if (event.kind, event.name, event.ph) == ("op", "exp", "B"):
            recorder.stage.names["values"][condition] = np.float32(0)

    recorder.listeners.append(change)
    with observing(recorder):
        outputs = f([1.0, np.ones(2)])
    assert_balanced(recorder.tape)
    assert outputs[0][0] == 1.0
    told = [(e.name, e.ph) for e in recorder.tape.filter(kind="op")]
    assert told[2:] == [("exp", "B"), ("exp", "E"), ("square", "B"), ("square", "E"),
                        ("switch", "B"), ("switch", "E")]  # fmt: skip
    assert "error" in recorder.tape.names_at(recorder.tape.filter(name="exp", ph="E")[0].t)


def test_what_is_no_array_is_described(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    x = Input((3,), name="x", sparse=True)
    model = Model(x, Dense(1, name="d")(x))
    model.compile("sgd", "mse")
    rows = sparse.csr_matrix(np.eye(3))
    tape = recorded(lambda: model.fit(rows, [[1.0], [2.0], [3.0]], shuffle=False, verbose=0)).tape
    assert_balanced(tape)
    begun = tape.names_at(tape.filter(kind="function", name="train_function", ph="B")[0].t)
    np.testing.assert_array_equal(begun["tensor_map"]["x"][0], np.eye(3))
    tape.save(tmp_path / "t.jsonl")
    assert Tape.load(tmp_path / "t.jsonl") == tape


@pytest.mark.parametrize("moment", range(0, 60, 3))
def test_an_interrupt_inside_of_the_recorder_leaves_no_gap_in_time(moment):
    """It is raised at a line of the recorder; the run that is recorded next goes on in the tape."""
    recorder, model = Recorder(), Sequential([Dense(2, input_shape=(3,))])
    lines = itertools.count()

    def trace(frame, event, _):
        if not frame.f_code.co_filename.endswith(("recorder.py", "tape_store.py")):
            return None
        if event == "line" and next(lines) == moment:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    with observing(recorder):
        try:
            sys.settrace(trace)
            model.predict(np.ones((1, 3)))
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        told = len(recorder.tape)
        model.predict(np.ones((1, 3)))
    assert [event.t for event in recorder.tape] == list(range(len(recorder.tape)))
    assert len(recorder.tape) > told
