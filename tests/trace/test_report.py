import json
import re

import numpy as np
import pytest
from zoo import THINNED_ZOO, ZOO

import kerascope as ks
from kerascope import backend as K
from kerascope.engine.node_ids import call_ids
from kerascope.errors import ArgumentError, DataError, NumericsWarning
from kerascope.layers import BatchNormalization, Dense, Dropout, Input, add
from kerascope.models import Model
from kerascope.optimizers import SGD
from kerascope.stage import observing
from kerascope.trace.records import PHASES
from kerascope.trace.report import RunReport
from kerascope.trace.reporting import Clock, reporting
from kerascope.trace.tape_store import Tape


def told(work, **options):
    records = []
    with reporting(RunReport(records.append, **options)):
        work()
    return records


def of_kind(records, *kinds):
    return [record for record in records if record.kind in kinds]


def regression(optimizer="rmsprop"):
    x = Input(shape=(3,), name="x")
    h = Dense(4, activation="relu", name="hidden")(x)
    h = Dropout(0.5, seed=3)(BatchNormalization(name="norm")(h))
    model = Model(x, Dense(1, name="y")(h), name="regression")
    model.compile(optimizer, "mse", metrics=["mae"])
    return model


def fit(model, **options):
    numbers = np.random.default_rng(1)
    x, y = numbers.normal(size=(20, 3)), numbers.normal(size=(20, 1))
    options = {"batch_size": 8, "epochs": 3, "shuffle": False, "verbose": 0, **options}
    return model.fit(x, y, **options).history


# --- watching changes nothing ---------------------------------------------------------------------


@pytest.mark.parametrize("level", ["node", "op"])
def test_losses_and_weights_are_the_same_bits_watched_and_unwatched(level):
    model, twin = regression(), regression()
    weights = model.get_weights()
    twin.set_weights(weights)
    unwatched = fit(model)
    histories = []
    told(lambda: histories.append(fit(twin)), level=level, batches=100)
    # The two dropouts have the same seed, so they draw the same masks.
    assert histories == [unwatched]
    for one, other in zip(model.get_weights(), twin.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("name", THINNED_ZOO)
@pytest.mark.parametrize("level", ["node", "op"])
def test_every_kind_of_model_can_be_told(name, level):
    def work():
        model = ZOO[name]()
        model.compile("adam", "mse")
        numbers = np.random.default_rng(0)
        x = [numbers.normal(size=(4, *t.shape[1:])) for t in model.inputs]
        y = [numbers.normal(size=(4, *t.shape[1:])) for t in model.outputs]
        model.fit(x, y, epochs=1, verbose=0)

    records = told(work, level=level)
    assert {record.phase for record in records} <= set(PHASES)
    assert not any(record.alarm for record in records)
    for kind in ("layer", "node", "pair", "tensor", "gradient", "commit", "epoch"):
        assert of_kind(records, kind), kind
    is_mapped = name != "subclassed"  # the graph of its own call is not mapped before it is asked
    assert bool(of_kind(records, "visit")) == is_mapped


# --- what is told ---------------------------------------------------------------------------------


def test_a_layers_call_tells_its_weights_its_node_and_its_history():
    records = told(lambda: Dense(4, name="d")(Input(shape=(3,), name="x")))
    assert [(r.kind, r.name) for r in records] == [
        ("section", "build"),
        ("input", "x"),
        ("layer", "d"),
        ("built", "build"),
        ("node", "Node d_ib-0"),
        ("history", "_keras_history"),
    ]
    built, node, history = records[3:]
    assert built.facts["weights"] == {"kernel": [3, 4], "bias": [4]}
    assert built.facts["parameters"] == 16
    assert node.text == "x (None, 3) -> d/add (None, 4)"
    assert history.facts["history"] == ["d", 0, 0]


def test_the_map_of_the_graph_ends_in_nodes_by_depth():
    models = []
    records = told(lambda: models.append(ZOO["diamond"]()))
    rows = of_kind(records, "depth_row")
    expected = {
        f"depth {depth}": [node.name for node in nodes]
        for depth, nodes in models[0].nodes_by_depth.items()
    }
    assert {row.name: row.facts["nodes"] for row in rows} == expected
    assert len(of_kind(records, "skip")) == 1  # x, met from both sides


def test_in_dialect_1_the_marks_of_seen_nodes_carry_names_for_ids(monkeypatch):
    monkeypatch.setattr(ks.config, "dialect", "1.2")
    records = told(ZOO["diamond"])
    (seen,) = of_kind(records, "seen_nodes")
    assert seen.text.count("x_ib-0-2") == 1
    assert not re.search(r"\d{6}", seen.text)


def test_forward_falls_through_the_depths_with_the_numbers_of_the_walk():
    model = ZOO["diamond"]()
    model.compile("sgd", "mse")
    x = np.random.default_rng(0).normal(size=(6, 8)).astype("float32")
    steps = {key: a for step in ks.walk(model, x) for key, a in step.tensor_map.items()}
    records = told(lambda: model.fit(x, np.zeros((6, 4)), epochs=1, verbose=0, shuffle=False))
    tensors = of_kind(records, "tensor")
    assert [record.facts["tensor"] for record in tensors] == list(steps)
    for record in tensors:
        norm = float(np.linalg.norm(steps[record.facts["tensor"]].astype("float64")))
        assert record.facts["norm"] == pytest.approx(norm, rel=1e-3)
    depths = [record.facts["at"] for record in of_kind(records, "depth") if record.depth == 3]
    assert depths == [1, 0]


def test_gradients_updates_and_commits_agree_with_the_optimizer():
    x = Input(shape=(2,), name="x")
    model = Model(x, Dense(1, name="y", kernel_initializer="ones")(x))
    model.compile(SGD(lr=0.5), "mse")
    arrays = np.array([[1.0, 2.0]]), np.array([[0.0]])
    records = told(lambda: model.train_on_batch(*arrays))
    gradients = {r.name: r.facts["norm"] for r in of_kind(records, "weight_gradient")}
    assert gradients == pytest.approx({"y/bias": 6.0, "y/kernel": 13.416}, rel=1e-3)
    changes = {r.name: r.facts["change"] for r in of_kind(records, "new_value")}
    assert changes["y/kernel"] == pytest.approx(0.5 * np.sqrt(36 + 144))
    commits = {r.name: r for r in of_kind(records, "commit")}
    assert commits["y/kernel"].facts["old_norm"] == pytest.approx(np.sqrt(2))
    new = np.linalg.norm(model.get_weights()[0])
    assert commits["y/kernel"].facts["new_norm"] == pytest.approx(float(new))
    assert commits["iterations"].text == "0 -> 1"


def test_weights_gradients_come_before_those_of_the_layer_below():
    records = told(lambda: fit(ZOO_chain()))
    order = [r.name for r in of_kind(records, "gradient", "weight_gradient")]
    assert order.index("scores/kernel") < order.index("hidden/relu") < order.index("hidden/kernel")


def ZOO_chain():
    x = Input(shape=(3,), name="pixels")
    h = Dense(4, activation="relu", name="hidden")(x)
    model = Model(x, Dense(1, name="scores")(h))
    model.compile("sgd", "mse")
    return model


def test_the_pairs_tell_slots_from_parameters_and_from_state():
    records = told(lambda: fit(regression()))
    roles = {r.name: r.facts["role"] for r in of_kind(records, "pair")}
    assert roles["hidden/kernel"] == "parameter"
    assert roles["hidden/kernel/accumulator"] == "slot"
    assert roles["norm/moving_mean"] == "state"
    assert roles["iterations"] == "iterations"


def test_contributions_to_a_shared_weight_are_counted_in_the_sweep():
    def work():
        model = ZOO["shared_layer"]()
        model.compile("sgd", "mse")
        model.train_on_batch([np.ones((2, 16))] * 2, np.ones((2, 1)))

    nodes = of_kind(told(work), "swept_node")
    assert any("shared/kernel (2 contributions added)" in record.text for record in nodes)
    ops = of_kind(told(work, level="op"), "swept")
    assert any("shared/kernel (contribution 2 is added)" in record.text for record in ops)


def test_a_softmax_on_one_unit_is_told_to_learn_nothing():
    x = Input(shape=(3,))
    model = Model(x, Dense(1, activation="softmax", name="y")(x))
    model.compile("sgd", "mse")
    records = told(lambda: fit(model))
    dead = [r.name for r in of_kind(records, "weight_gradient") if "all 0" in r.text]
    assert dead == ["y/bias", "y/kernel"]
    (commit,) = [r for r in of_kind(records, "commit") if r.name == "y/kernel"]
    assert "unchanged" in commit.text


# --- how much is told -----------------------------------------------------------------------------


@pytest.mark.parametrize("batches", [0, 1, 2, 4])
def test_only_the_first_batches_are_told_in_full(batches):
    model = regression()

    def work():
        fit(model, epochs=2)
        fit(model, epochs=1)

    records = told(work, batches=batches)
    assert len(of_kind(records, "batch")) == batches
    assert len(of_kind(records, "outs")) == batches
    epochs = of_kind(records, "epoch")
    assert [record.name for record in epochs] == ["epoch 0", "epoch 1", "epoch 0"]
    assert "loss" in epochs[0].facts


def test_validation_figures_stand_in_the_epochs_line():
    records = told(lambda: fit(regression(), validation_split=0.25, epochs=1))
    (epoch,) = of_kind(records, "epoch")
    assert {"loss", "val_loss"} <= epoch.facts.keys()


@pytest.mark.parametrize("first", ["fit", "evaluate"])
def test_a_model_that_is_made_of_the_data_is_told_with_the_names_of_its_metrics(first):
    class Own(Model):
        def __init__(self):
            super().__init__(name="own")
            self.inner = Dense(1, name="inner")

        def call(self, x):
            return self.inner(x)

    model = Own()
    model.compile("sgd", "mse", metrics=["mae"])
    work = {
        "fit": lambda: fit(model, epochs=1),
        "evaluate": lambda: model.evaluate(np.ones((4, 3)), np.ones((4, 1)), verbose=0),
    }
    records = told(lambda: [work[first](), fit(model, epochs=1)])
    outs = of_kind(records, "outs")
    assert outs
    assert all({"loss", "mean_absolute_error"} <= one.facts.keys() for one in outs)


def test_a_recompiled_model_is_told_in_full_again():
    model = regression()

    def work():
        fit(model)
        model.compile("sgd", "mse")
        fit(model)

    assert len(of_kind(told(work), "batch")) == 2


def test_repeated_calls_are_counted():
    model = regression()
    x = np.ones((4, 3))

    def work():
        for _ in range(5):
            model.predict(x)
        model.evaluate(x, np.ones((4, 1)), verbose=0)
        model(x)

    records = told(work)
    names = [(r.kind, r.name) for r in records]
    assert names == [
        ("section", "calls"),
        ("called", "regression.predict"),
        ("repeated", "regression.predict"),
        ("called", "regression.evaluate"),
        ("called", "regression(array)"),
    ]
    assert records[2].facts["calls"] == 4


def test_train_on_batch_in_a_loop_is_told_once_in_full_and_then_counted():
    model = regression()

    def work():
        for _ in range(4):
            model.train_on_batch(np.ones((4, 3)), np.ones((4, 1)))

    records = told(work)
    assert len(of_kind(records, "function")) == 1
    assert len([r for r in records if r.name == "backward"]) == 1
    (repeated,) = of_kind(records, "repeated")
    assert repeated.facts["calls"] == 2


def test_level_op_tells_every_op_that_training_performs_once():
    model = regression()
    records = told(lambda: fit(model, epochs=1), level="op")
    ops = of_kind(records, "op")
    steps = model.train_function.schedule.steps
    only_in_test = [s for s in steps if s.guards and not any(w for g in s.guards for _, w in g)]
    assert only_in_test
    assert len(ops) == len(steps) - len(only_in_test)
    assert {record.phase for record in ops} >= {"forward", "loss", "backward", "update"}


def test_functions_and_gradients_of_ones_own_are_told():
    v = K.variable([1.0, 2.0])

    def work():
        K.gradients(K.sum(v**2), [v])
        f = K.function([], [K.sum(v)], updates=[(v, v * 2)])
        f([])

    records = told(work)
    assert [r.name for r in of_kind(records, "begin")] == ["gradients"]
    (called,) = of_kind(records, "called")
    assert "f32[] 3" in called.text
    assert "1 update" in called.text


def test_a_custom_optimizer_that_only_has_get_updates_is_told():
    class Plain(SGD):
        def get_updates(self, loss, params):
            return [
                (p, p - 0.1 * g) for p, g in zip(params, K.gradients(loss, params), strict=True)
            ]

    records = told(lambda: fit(regression(Plain())))
    commits = {record.name for record in of_kind(records, "commit")}
    assert {"hidden/kernel", "y/bias", "iterations"} <= commits


# --- what goes wrong ------------------------------------------------------------------------------


def test_the_op_that_made_the_first_nan_is_named():
    x = Input(shape=(2,), name="x")
    y = ks.layers.Lambda(lambda t: K.log(t), name="log")(x)
    model = Model(x, Dense(1)(y))
    model.compile("sgd", "mse")

    def work():
        with pytest.warns(NumericsWarning):
            model.fit(-np.ones((2, 2)), np.ones((2, 1)), epochs=1, verbose=0)

    records = told(work)
    (found,) = of_kind(records, "not_finite")
    assert found.alarm
    assert "log(x)" in found.text
    assert any(r.alarm and "NaN!" in r.text for r in of_kind(records, "tensor"))


def test_a_nan_in_the_data_is_told_to_come_from_there():
    model = regression()
    x = np.ones((4, 3))
    x[0, 0] = np.nan

    def work():
        with pytest.warns(NumericsWarning):
            model.fit(x, np.ones((4, 1)), epochs=1, verbose=0)

    (found,) = of_kind(told(work), "not_finite")
    assert found.text == "not made here: it came with  x"


def test_a_failure_is_told_once_and_the_story_goes_on():
    model = regression()
    x = np.ones((4, 3))

    def work():
        with pytest.raises(DataError):
            model.fit(x[:3], np.ones((4, 1)), verbose=0)
        model.predict(x)

    records = told(work)
    (failed,) = of_kind(records, "failed")
    assert failed.alarm
    assert failed.facts["error"] == "DataError"
    assert records[-1].name == "regression.predict"


def test_an_interrupted_batch_is_told_as_far_as_it_came():
    class Stop(Exception):
        pass

    model = regression()
    fit(model)  # so that the function exists; a new one is made below
    model.compile("sgd", "mse")
    heard = []

    def stop_late(stage, event):
        if stage.name == "train_function" and type(event).__name__ == "Step":
            heard.append(event)
            if len(heard) == 20:
                raise Stop

    records = []
    report = RunReport(records.append)
    with pytest.raises(Stop), reporting(report), observing(stop_late):
        fit(model)
    assert of_kind(records, "tensor")
    assert not of_kind(records, "commit")
    assert of_kind(records, "failed")[0].facts["error"] == "Stop"


@pytest.mark.parametrize("options", [{"level": "layer"}, {"batches": -1}])
def test_wrong_options_are_refused(options):
    with pytest.raises(ArgumentError, match="trace"):
        RunReport(print, **options)


# --- the same names as in summary and pictures ----------------------------------------------------


def two_outputs_of_a_model_called_twice():
    x = Input(shape=(4,), name="x")
    inner = Model(x, Dense(3, name="h")(x), name="inner")
    a, b = Input(shape=(4,), name="a"), Input(shape=(4,), name="b")
    joined = add([inner(a), inner(b)])
    model = Model([a, b], [Dense(1, name="p")(joined), Dense(2, name="q")(joined)])
    model.compile("sgd", "mse", metrics=["mae"])
    ones = np.ones((4, 4))
    for _ in range(2):
        model.train_on_batch([ones, ones], [ones[:, :1], ones[:, :2]])
    return model


def test_all_outputs_of_a_train_function_are_told():
    models = []
    records = told(lambda: models.append(two_outputs_of_a_model_called_twice()))
    names = ["p_loss", "q_loss", "p_mean_absolute_error", "q_mean_absolute_error"]
    (outputs,) = [r for r in records if r.kind == "outputs"]
    assert outputs.text == f"[{', '.join(['total_loss', *names])}]"
    assert len(models[0].train_function.outputs) == 5
    (later,) = [r for r in records if r.kind == "called"]
    assert [cell.partition(":")[0] for cell in later.cells[:5]] == ["total_loss", *names]


def test_calls_have_the_ids_of_summary_and_pictures():
    models = []
    records = told(lambda: models.append(two_outputs_of_a_model_called_twice()))
    ids = set(call_ids(models[0]).values())
    assert {"inner@0", "inner@1"} <= ids
    swept = {r.name for r in records if r.kind == "swept_node"}
    assert swept - ids == {"loss", "p_loss", "q_loss"}
    tensors = [r.name for r in records if r.kind == "tensor"]
    assert [name for name in tensors if name.startswith("inner/")] == [
        "inner/h/add (inner@0)",
        "inner/h/add (inner@1)",
    ]
    (row,) = [r for r in records if r.kind == "depth_row" and "inner_ib-1" in r.text]
    assert row.text == "inner_ib-1 (inner@0), inner_ib-2 (inner@1)"
    assert row.facts["calls"] == ["inner@0", "inner@1"]


def test_a_model_that_is_called_once_needs_no_number():
    def work():
        x = Input(shape=(4,), name="x")
        inner = Model(x, Dense(3, name="h")(x), name="inner")
        a = Input(shape=(4,), name="a")
        model = Model(a, inner(a))
        model.compile("sgd", "mse")
        model.train_on_batch(np.ones((2, 4)), np.ones((2, 3)))

    records = told(work)
    assert [r.name for r in records if r.kind == "tensor"] == ["a", "inner/h/add"]


def test_inputs_of_one_name_are_told_apart_by_their_calls():
    records = told(two_outputs_of_a_model_called_twice)
    (node,) = [r for r in records if r.kind == "node" and r.name.startswith("Node add_")]
    assert "inner/h/add of inner_ib-1 (None, 3), inner/h/add of inner_ib-2 (None, 3)" in node.text


# --- the same from a tape, and calls that run as programs -----------------------------------------


def life_of_a_model():
    K.reset_uids()
    model = regression()
    fit(model)
    for _ in range(3):
        model.train_on_batch(np.ones((4, 3)), np.ones((4, 1)))
    model.predict(np.ones((4, 3)))
    model.evaluate(np.ones((4, 3)), np.ones((4, 1)), verbose=0)


@pytest.mark.parametrize("level", ["node", "op"])
def test_a_saved_tape_gives_the_same_records(tmp_path, level):
    np.random.seed(5)
    records = told(life_of_a_model, level=level, batches=99)
    np.random.seed(5)
    with ks.trace() as tape:
        life_of_a_model()
    tape.save(tmp_path / "run.jsonl")
    again = []
    report = RunReport(again.append, level, 99)
    for event in Tape.load(tmp_path / "run.jsonl"):
        report(event)
    report.close()
    lines = [[(r.phase, r.kind, r.depth, r.name, r.alarm) for r in rs] for rs in (again, records)]
    assert lines[0] == lines[1]
    assert sum(one.text != other.text for one, other in zip(again, records, strict=True)) == 0


def test_tapes_of_before_have_no_facts_and_load(tmp_path):
    with ks.trace() as tape:
        fit(regression())
    tape.save(tmp_path / "new.jsonl")
    header, *lines = (tmp_path / "new.jsonl").read_text("utf-8").splitlines()
    header = {**json.loads(header), "version": 3}
    assert header.pop("facts")
    lines = [json.loads(line) for line in lines]
    for line in lines:
        line.pop("f", None)
    rows = [json.dumps(row) for row in (header, *lines)]
    (tmp_path / "old.jsonl").write_text("\n".join([*rows, ""]), "utf-8")
    (tmp_path / "new.npz").rename(tmp_path / "old.npz")
    old = Tape.load(tmp_path / "old.jsonl")
    assert not any(event.facts for event in old)
    assert [event[:8] for event in tape] == [event[:8] for event in old]
    records = []
    report = RunReport(records.append)
    for event in old:
        report(event)
    assert of_kind(records, "depth_row", "commit", "epoch")


def test_a_tape_of_figures_has_records_too():
    with ks.trace(statistics_only=True) as tape:
        life_of_a_model()
    records = []
    report = RunReport(records.append, "op")
    for event in tape:
        report(event)
    commit = of_kind(records, "commit")[0]
    assert commit.facts["old_norm"] != commit.facts["new_norm"]


def test_batches_that_are_not_shown_have_no_events(monkeypatch):
    times = []
    monkeypatch.setattr(Clock, "append", lambda tape, event: times.append(event.kind))
    model = regression()
    told(lambda: fit(model, epochs=5))
    assert times.count("batch") == 2  # its begin and its end
    assert times.count("epoch") == 10


def test_a_later_batch_that_fails_says_where():
    model = regression()

    def batches():
        for number in range(4):
            width = 3 if number < 2 else 2
            yield np.ones((4, width)), np.ones((4, 1))

    def work():
        with pytest.raises(ks.errors.KerascopeError):
            model.fit_generator(batches(), steps_per_epoch=4, epochs=1, verbose=0)

    (failed,) = of_kind(told(work), "failed")
    assert failed.alarm
