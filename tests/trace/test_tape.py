import json

import numpy as np
import pytest
from holding import holds_for
from hypothesis import strategies as st

from kerascope import backend as K
from kerascope.errors import ArgumentError, ConfigError
from kerascope.layers import BatchNormalization, Dense, Dropout, Input, add
from kerascope.models import Model, Sequential
from kerascope.trace.events import Delta, Event, Where
from kerascope.trace.snapshots import (
    REMOVED,
    ErrorRef,
    LayerRef,
    NodeRef,
    ObjectRef,
    TensorRef,
    same,
)
from kerascope.trace.statistics import Statistics, statistics_of
from kerascope.trace.tape import Tape, trace
from kerascope.trace.tape_files import READ
from kerascope.utils import set_random_seed


def toy(optimizer="adam"):
    x = Input((4,), name="input_1")
    a = Dense(8, activation="relu", name="dense_1")(x)
    b = Dense(8, activation="relu", name="dense_2")(a)
    model = Model(x, Dense(1, name="dense_3")(add([a, b], name="add_1")), name="toy")
    model.compile(optimizer, "mse")
    return model


def batch():
    numbers = np.random.default_rng(0)
    return numbers.normal(size=(8, 4)), numbers.normal(size=(8, 1))


def traced(model=None, batches=2, **options):
    with trace(**options) as tape:
        model = model or toy()
        for _ in range(batches):
            model.train_on_batch(*batch())
    list(tape)  # which has all events from now on
    return tape


def event(t, ph="I", *deltas, kind="op", name="a", depth=0):
    return Event(t, "fit", "forward", kind, ph, depth, "op", name, Where(), tuple(deltas))


# --- the list -------------------------------------------------------------------------------------


def test_a_tape_is_a_list_that_only_grows():
    tape = Tape([event(0), event(1, name="b")])
    assert len(tape) == 2
    assert tape[1].name == "b"
    assert [e.t for e in tape] == [0, 1]
    assert [e.t for e in tape[:1]] == [0]
    assert tape[-1].t == 1
    with pytest.raises(ArgumentError, match="expected an event of t=2, got one of t=5"):
        tape.append(event(5))


def test_filter_takes_globs_of_every_field():
    tape = traced(batches=1)
    assert {e.name for e in tape.filter(kind="update.apply", name="dense_?/kernel")} == {
        "dense_1/kernel", "dense_2/kernel", "dense_3/kernel"
    }  # fmt: skip
    assert {e.kind for e in tape.filter(kind="map.*", ph="[BI]")} == {
        "map.visit", "map.mark", "map.skip", "map.depth"
    }  # fmt: skip
    assert len(tape.filter()) == len(tape)
    assert tape.filter(act="function", phase="forward", grain="node", ph="B")[0].name == "dense_1"


def test_spans_at_is_the_way_from_outside_in():
    tape = traced(batches=1)
    relu = tape.filter(kind="op", name="dense_2/relu", ph="B")[0]
    assert [s.name for s in tape.spans_at(relu.t)] == [
        "train_function", "forward", "depth 2", "dense_2", "dense_2/relu"
    ]  # fmt: skip
    assert tape.spans_at(len(tape) - 1) == []


def test_there_is_no_such_time():
    for t in (-1, 2):
        with pytest.raises(ArgumentError, match="it goes from 0 to 1"):
            Tape([event(0), event(1)]).names_at(t)


# --- names ----------------------------------------------------------------------------------------


def test_names_live_in_the_spans():
    tape = Tape([
        event(0, "B", Delta("tensor_map", None, {}), Delta("node", None, "outer")),
        event(1, "B", Delta("node", None, "inner"), Delta("tensor_map", "a", 1), depth=1),
        event(2, "I", Delta("node", None, "changed"), Delta("tensor_map", "b", 2), depth=2),
        event(3, "E", Delta("result", None, 7), depth=1),
        event(4, "I", Delta("tensor_map", "a", REMOVED), Delta("weights", "w", 0), depth=1),
        event(5, "E"),
        event(6, "I"),
    ])  # fmt: skip
    assert tape.names_at(1) == {"tensor_map": {"a": 1}, "node": "inner"}
    assert tape.names_at(2) == {"tensor_map": {"a": 1, "b": 2}, "node": "changed"}
    assert tape.names_at(3)["result"] == 7
    assert tape.names_at(4) == {"tensor_map": {"b": 2}, "node": "outer", "weights": {"w": 0}}
    assert tape.names_at(6) == {"weights": {"w": 0}}


def test_what_a_reader_does_to_the_names_is_not_on_the_tape():
    start = {"x": 0}
    tape = Tape([event(0, "B", Delta("tensor_map", None, start)), event(1, "I")])
    tape.names_at(1)["tensor_map"]["mine"] = 1
    assert tape.names_at(1) == {"tensor_map": {"x": 0}}
    assert start == {"x": 0}


deltas = st.one_of(
    st.builds(Delta, st.sampled_from("ab"), st.none(), st.sampled_from([{}, {"k": 1}])),
    st.builds(Delta, st.sampled_from("ab"), st.sampled_from("klm"), st.integers(0, 5)),
    st.builds(Delta, st.sampled_from("ab"), st.sampled_from("klm"), st.just(REMOVED)),
    st.builds(Delta, st.sampled_from("cd"), st.none(), st.integers(0, 5)),
)


@st.composite
def tapes(draw):
    events, depth = [], 0
    for t in range(draw(st.integers(1, 60))):
        ph = draw(st.sampled_from("BIE" if depth else "BI"))
        depth -= ph == "E"
        events.append(event(t, ph, *draw(st.lists(deltas, max_size=3)), depth=depth))
        depth += ph == "B"
    return events


@holds_for(tapes(), st.randoms(), few=30, many=300)
def test_asked_in_any_order_the_answers_are_the_same(events, random):
    tape = Tape(events)
    in_order = [Tape(events).names_at(t) for t in range(len(events))]
    for t in random.choices(range(len(events)), k=30):
        assert tape.names_at(t) == in_order[t]


# --- origin and difference ------------------------------------------------------------------------


def test_origin_is_the_event_that_last_produced_a_name():
    tape = traced(batches=1)
    found = tape.origin("dense_2/relu")
    assert (found.kind, found.ph, found.name) == ("op", "E", "dense_2/relu")
    assert tape.origin("dense_2") == found
    assert tape.origin("tensor_map[dense_2]") == found
    assert tape.origin("dense_1/kernel").kind == "update.apply"
    assert tape.origin("grads[dense_1/kernel]").phase == "backward"
    assert tape.origin("dense_1/kernel", 10).kind in ("weight.create", "layer.build")
    assert tape.origin("total_loss").name == "loss/multiply"
    assert tape.origin("nothing") is None


def test_a_tape_does_not_differ_from_itself():
    tape = traced(batches=1)
    found = tape.diff(tape)
    assert not found
    assert str(found) == "no difference"


def test_the_first_difference_of_two_runs_is_the_op_where_they_part():
    model = toy()
    weights = model.get_weights()
    model.train_on_batch(*batch())
    start = model.optimizer.get_weights()

    def run(change):
        model.set_weights(weights)
        model.optimizer.set_weights(start)
        with trace(model) as tape:
            kernel = model.layers[2].kernel
            if change:
                kernel.set_value(kernel.get_value() * 0.5)
            model.train_on_batch(*batch())
        return tape

    one, two, three = run(False), run(False), run(True)
    ops = {"op": one.diff(two).counts.get("op")}
    assert not one.diff(two), (str(one.diff(two)), ops)
    found = one.diff(three)
    assert found.t is not None
    assert found.counts["op"][0] > 50
    total = len(one.filter(kind="op", ph="E"))
    assert found.counts["op"][1] == total
    first_op = next(e for e in one[found.t :] if e.kind == "op" and e.ph == "E" and not same(
        one.names_at(e.t)["result"], three.names_at(e.t)["result"]))  # fmt: skip
    assert first_op.name == "dense_2/dot"
    assert "total_loss" in found.last


def test_what_only_one_of_two_tapes_has_is_a_difference():
    one = Tape([event(0), event(1, name="b")])
    found = Tape([event(0)]).diff(one)
    assert (found.t, found.name, found.counts) == (1, "b", {"op": (1, 2)})


def test_the_table_has_a_row_for_each_event():
    tape = traced(batches=1)
    rows = tape.to_table()
    assert len(rows) == len(tape)
    row = rows[tape.origin("dense_2/relu").t]
    assert (row["kind"], row["name"], row["ph"]) == ("op", "dense_2/relu", "E")
    assert "result = f32[8,8] |x|=" in row["changes"]
    assert "test_tape.py:" in row["user"]


# --- budget ---------------------------------------------------------------------------------------


def test_old_arrays_fall_to_statistics_when_the_budget_is_spent():
    model = toy()
    full = traced(model, batches=6, history=None)
    limit = 2 * full.bytes  # the arrays' heads, and the events, count too
    model = toy()
    tape = traced(model, batches=6, history=limit)
    assert tape.bytes <= limit
    first, last = tape.filter(kind="op", name="dense_1/relu", ph="E")[::5]
    assert isinstance(tape.names_at(first.t)["result"], Statistics)
    assert isinstance(tape.names_at(last.t)["result"], np.ndarray)
    assert len(tape) == len(full)
    tape.history = 0
    assert tape.bytes == 0
    assert isinstance(tape.names_at(last.t)["result"], Statistics)


def test_the_memory_does_not_grow_with_the_session():
    model = toy()
    model.train_on_batch(*batch())
    sizes = []
    with trace(model, history=20_000) as tape:
        for _ in range(10):
            model.train_on_batch(*batch())
            list(tape)
            sizes.append(tape.bytes)
    assert max(sizes) <= 20_000 < traced(toy(), 10, history=None).bytes


# --- files ----------------------------------------------------------------------------------------

VALUES = [
    None, True, 3, -0.5, float("inf"), "text ü\n", (1, (2, [3])), [], {"a": (None,), 2: [1]},
    np.float32(0.1), np.int64(4), np.bool_(True), np.float32("nan"), np.arange(6.0).reshape(2, 3),
    np.array(["x"]), np.zeros((0, 2)), REMOVED, TensorRef("x", (None, 3), "float32"),
    NodeRef("d_ib-0", "d", 0), LayerRef("d", "Dense"), ErrorRef("ValueError", "no"),
    ObjectRef("Function", "f"), statistics_of(np.array([1.0, np.nan])),
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_every_value_comes_back_from_a_file(value, tmp_path):
    tape = Tape([event(0, "I", Delta("a", None, value), Delta("b", ("k", 1), (value, value)))])
    tape.save(tmp_path / "t.jsonl")
    loaded = Tape.load(tmp_path / "t.jsonl")
    assert same(loaded[0].deltas[0].value, value)
    assert loaded == tape


@pytest.mark.parametrize("statistics_only", [False, True])
def test_a_session_comes_back_from_a_file(tmp_path, statistics_only):
    tape = traced(statistics_only=statistics_only)
    path = tmp_path / "session.jsonl"
    tape.save(path)
    assert Tape.load(path) == tape
    assert path.with_suffix(".npz").exists() != statistics_only
    assert sorted(p.suffix for p in tmp_path.iterdir()) == [".jsonl", ".npz"][: 2 - statistics_only]


def test_a_tape_says_what_it_differs_in():
    tape = traced(batches=1)
    other = Tape(tape, history=0)
    assert other != tape
    assert tape == Tape(tape)
    assert tape != [1]


def test_statistics_of_a_toy_batch_take_less_than_40_kilobytes(tmp_path):
    model = toy("adam")
    model.train_on_batch(*batch())
    with trace(model, level="op", statistics_only=True) as tape:
        model.train_on_batch(*batch())
    tape.save(tmp_path / "batch.jsonl")
    assert len(tape.filter(kind="op", ph="E")) > 100
    assert (tmp_path / "batch.jsonl").stat().st_size < 40 * 1024


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "t.jsonl"
    tape = Tape([event(t, "I", Delta("a", None, np.arange(t)), name=f"e{t}") for t in range(5)])
    tape.save(path)
    return path


def test_a_truncated_file_is_refused_with_its_line(saved):
    whole = saved.read_bytes()
    lines = whole.split(b"\n")
    for count in range(1, len(lines) - 1):
        saved.write_bytes(b"\n".join(lines[:count]) + b"\n")
        with pytest.raises(ConfigError, match=rf"t\.jsonl, line {count}: "):
            Tape.load(saved)
    for cut in range(1, len(whole), 7):
        saved.write_bytes(whole[:-cut])
        with pytest.raises(ConfigError, match=r"t\.jsonl, line \d+: "):
            Tape.load(saved)


@pytest.mark.parametrize(
    "line",
    ["{", "[]", "3", '{"ph":"X","kind":"op","name":"a"}', '{"kind":"op","name":"a"}',
     '{"ph":"I","kind":"op","name":5}', '{"ph":"I","kind":"op","name":"a","deltas":[[1,2]]}',
     '{"ph":"I","kind":"op","name":"a","deltas":[["a",null,{"a":99}]]}',
     '{"ph":"I","kind":"op","name":"a","deltas":[["a",null,{"a":-1}]]}',
     '{"ph":"I","kind":"op","name":"a","deltas":[["a",null,{"r":["Popen","ls"]}]]}',
     '{"ph":"I","kind":"op","name":"a","deltas":[["a",null,{"py":"exit()"}]]}',
     '{"ph":"I","kind":"op","name":"a","deltas":[["a",null,{"n":["object",1]}]]}',
     '{"ph":"I","kind":"op","name":"a","grain":"tiny"}', '{"ph":"I","kind":"op","name":"a","x":1}',
     '{"ph":"I","kind":"op","name":"a","where":7}', '{"ph":"I","kind":"op","name":"a","depth":-1}',
     "[" * 100_000],
)  # fmt: skip
def test_a_damaged_line_is_refused_with_its_number(saved, line):
    lines = saved.read_text("utf-8").split("\n")
    lines[3] = line
    saved.write_text("\n".join(lines), "utf-8")
    with pytest.raises(ConfigError, match=r"t\.jsonl, line 4: not an event"):
        Tape.load(saved)


@pytest.mark.parametrize("header", ["", "{}", "not json", '{"format":"kerascope tape"}', "[1]"])
def test_another_file_is_no_tape(saved, header):
    lines = saved.read_text("utf-8").split("\n")
    saved.write_text("\n".join([header, *lines[1:]]), "utf-8")
    with pytest.raises(ConfigError, match="line 1: expected a tape"):
        Tape.load(saved)


def test_a_newer_format_is_refused(saved):
    first, _, rest = saved.read_text("utf-8").partition("\n")
    header = {**json.loads(first), "version": max(READ) + 1}
    saved.write_text(json.dumps(header) + "\n" + rest, "utf-8")
    with pytest.raises(ConfigError, match=f"got {max(READ) + 1}.*newer"):
        Tape.load(saved)


def test_arrays_that_are_missing_damaged_or_anothers_are_refused(saved):
    beside = saved.with_suffix(".npz")
    whole = beside.read_bytes()
    beside.write_bytes(whole[:100] + b"x" + whole[101:])
    with pytest.raises(ConfigError, match="expected the arrays of"):
        Tape.load(saved)
    beside.unlink()
    with pytest.raises(ConfigError, match="cannot be read"):
        Tape.load(saved)


def test_an_array_of_objects_is_not_unpickled(saved):
    beside = saved.with_suffix(".npz")
    np.savez(beside, **{f"a{i}": np.array([{}], dtype=object) for i in range(5)})
    import zlib

    first, _, rest = saved.read_text("utf-8").partition("\n")
    header = {**json.loads(first), "checksum": zlib.crc32(beside.read_bytes())}
    saved.write_text(json.dumps(header) + "\n" + rest, "utf-8")
    with pytest.raises(ConfigError, match="cannot be read"):
        Tape.load(saved)


def test_a_save_that_fails_leaves_the_old_files(saved, monkeypatch):
    before = saved.read_bytes(), saved.with_suffix(".npz").read_bytes()

    def broken(*_, **__):
        raise OSError(28, "no space left")

    monkeypatch.setattr(np, "savez", broken)
    with pytest.raises(OSError, match="no space"):
        Tape([event(0, "I", Delta("a", None, np.ones(3)))]).save(saved)
    assert (saved.read_bytes(), saved.with_suffix(".npz").read_bytes()) == before
    assert len(list(saved.parent.iterdir())) == 2


@pytest.mark.parametrize("turned", [False, True])
def test_a_tape_of_figures_alone_is_compared_by_figures(turned):
    def run(outlier=0.0):
        set_random_seed(1)
        K.clear_session()
        layers = [Dense(8, "relu", input_shape=(3,)), BatchNormalization(), Dropout(0.5), Dense(1)]
        model = Sequential(layers)
        model.compile("adam", "mse")
        rows = np.random.default_rng(0).normal(size=(16, 3))
        rows[8] += outlier
        model.fit(rows, rows[:, :1], batch_size=8, epochs=1, shuffle=False, verbose=0)

    tapes = []
    for is_plain in (False, True):
        with trace(statistics_only=is_plain) as tape:
            run()
        tapes.append(tape)
    with trace() as other:
        run(0.01)
    whole, figures = tapes[::-1] if turned else tapes
    assert not whole.diff(figures)
    assert figures.diff(whole).layers["dense_1"][0] == 0
    found = other.diff(figures)
    assert found
    assert all(differ for differ, _ in (found.layers["dense_1"], found.layers["dense_2"]))
    second = other.filter(kind="batch", ph="B")[1].t
    assert found.t >= second
