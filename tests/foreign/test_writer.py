"""A library that nobody knows, told to a TapeWriter: its tape, its graph, and all verbs on it."""

import sys
import types
from collections import Counter
from contextlib import contextmanager
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kerascope as ks
from kerascope import foreign
from kerascope.cli import main
from kerascope.debugger.pictures import graph_of_tape
from kerascope.errors import ArgumentError, ConfigError, KerascopeWarning, MissingToolError
from kerascope.foreign import TapeWriter, Value
from kerascope.foreign.graphs import graph_of_calls
from kerascope.player.picture import DONE, NOW, BoxStates
from kerascope.trace import tape_files
from kerascope.trace.snapshots import same
from kerascope.trace.tape_files import GrowingFile
from kerascope.trace.tape_store import Tape

# --- a library: a chain of matrices with a frame around the hidden ones ---------------------------


class Chain:
    """`x @ w1 @ w2 ...`, with relu between: a model of the library `mylib`."""

    def __init__(self, sizes, seed=0):
        draw = np.random.default_rng(seed)
        self.name = "chain"
        pairs = pairwise(sizes)
        self.weights = [draw.normal(size=pair).astype("float32") for pair in pairs]
        self.kept = []


Chain.__module__ = "mylib.models"


def value(array, token=None):
    return Value(token or id(array), array.shape, str(array.dtype), lambda: array)


def record(subject, x, *, writer, loss=None):
    keep = [x]
    subject.kept.append(keep)  # a token is an id: it must not come again while somebody writes
    with writer.span("function", subject.name), writer.span("forward", "forward"):
        writer.call("x", [], [value(x)], op="Input", kind="input")
        with writer.span("node", "hidden", op="Stack"):
            for number, weight in enumerate(subject.weights):
                line = ("train.py", 10 + number, "forward")
                y = keep[-1] @ weight
                name = f"hidden.{number}"
                parameters = {"weight": value(weight)}
                writer.call(name, [value(keep[-1])], [value(y)], op="Linear", kind="dense",
                            line=line, settings={"bias": False}, parameters=parameters)  # fmt: skip
                out = np.maximum(y, 0)
                writer.call("hidden/relu", [value(y)], [value(out)], op="relu", kind="activation")
                keep += [y, out]
        if loss is not None:
            writer.gradient("hidden.0", np.ones_like(keep[1]))
    return keep[-1]


def graph_of(subject, x):
    writer = TapeWriter("none")
    record(subject, x, writer=writer)
    return writer.graph(subject.name)


@contextmanager
def tracing(subject, writer):
    subject.run = lambda x: record(subject, x, writer=writer)
    yield
    del subject.run


@pytest.fixture
def chain(monkeypatch):
    adapter = types.ModuleType("mylib_adapter")
    adapter.record, adapter.graph_of, adapter.tracing = record, graph_of, tracing
    monkeypatch.setitem(sys.modules, "mylib_adapter", adapter)
    monkeypatch.setitem(foreign._ADAPTERS, "mylib", ("mylib_adapter", "mylib"))
    return Chain([3, 4, 2])


X = np.ones((2, 3), "float32")


# --- the verbs ------------------------------------------------------------------------------------


def test_it_is_drawn_with_its_frame_and_its_arrows(chain):
    drawing = ks.draw(chain, inputs=X)
    graph = drawing.whole
    rows = sorted((node.group, -node.depth, node.id) for node in graph.nodes)
    assert [name for _, _, name in rows] == [
        *("x", "hidden.0", "hidden/relu", "hidden.1", "hidden/relu:2")
    ]
    assert [(edge.source, edge.target) for edge in graph.edges] == [
        *(("x", "hidden.0"), ("hidden.0", "hidden/relu")),
        *(("hidden/relu", "hidden.1"), ("hidden.1", "hidden/relu:2")),
    ]
    assert [(group.id, group.attrs["class_name"]) for group in graph.groups] == [
        ("hidden", "Stack")
    ]
    assert graph.attrs["parameters"] == 12 + 8
    assert graph.node("hidden/relu:2").attrs["outputs"] == "output"
    assert graph.node("hidden/relu:2").attrs["call"] == 1
    assert graph.node("hidden.1").attrs["settings"] == "no bias"
    assert graph.node("hidden.1").made_at == "train.py:11"
    assert "Stack" in drawing.svg


def test_values_stand_in_its_boxes(chain):
    drawing = ks.draw(chain, values=X)
    y = X @ chain.weights[0]
    attrs = drawing.whole.node("hidden.0").attrs
    assert attrs["value_min"] == pytest.approx(y.min(), rel=1e-3)
    assert "hidden.0" in str(drawing.text())


def test_networkx_has_the_same_arrows(chain):
    graph = ks.to_networkx(chain, inputs=X)
    assert isinstance(graph, nx.MultiDiGraph)
    assert ("x", "hidden.0") in graph.edges()


def test_a_walk_gives_every_value(chain):
    steps = list(ks.walk(chain, X))
    assert [step.call.id for step in steps][:2] == ["x", "hidden.0"]
    np.testing.assert_array_equal(steps[1].outputs[0], X @ chain.weights[0])
    assert list(steps[-1].tensor_map) == [step.call.id for step in steps]
    assert [step.depth for step in steps if not step.call.frame] == [1]


def test_a_summary_counts_weights_once(chain, capsys):
    ks.summary(chain, X)
    printed = capsys.readouterr().out
    assert "hidden.0 (Linear)" in printed
    assert "Total params: 20 (80.00 B)" in printed


def test_a_summary_of_ours_is_its_own(capsys):
    model = ks.Sequential([ks.layers.Dense(3, input_shape=(4,), name="scores")], name="small")
    ks.summary(model)
    ours = capsys.readouterr().out
    model.summary()
    assert ours == capsys.readouterr().out


def test_a_trace_records_what_runs_in_the_block_alone(chain):
    with ks.trace(chain) as tape:
        chain.run(X)
        chain.run(X * np.nan)
    assert not hasattr(chain, "run")
    assert Counter(event.name for event in tape.filter(kind="node") if event.ph == "E") == Counter(
        {"x": 1, "hidden.0": 1, "hidden": 1, "hidden/relu": 1, "hidden.1": 1, "hidden/relu:2": 1,
         **{f"{name}:{n}": 1 for name, n in (("x", 2), ("hidden.0", 2), ("hidden", 2),
                                             ("hidden/relu", 3), ("hidden.1", 2),
                                             ("hidden/relu", 4))}}
    )  # fmt: skip


def test_a_trace_keeps_figures_unless_numbers_are_wanted(chain):
    with ks.trace(chain) as tape:
        chain.run(X)
    [event] = [e for e in tape.filter(kind="node") if e.name == "hidden.0" and e.ph == "E"]
    told = {delta.name: delta.value for delta in event.deltas}
    assert str(told["result"]).startswith("f32[2,4] |x|=")
    with ks.trace(chain, statistics_only=False) as tape:
        chain.run(X)
    [event] = [e for e in tape.filter(kind="node") if e.name == "hidden.0" and e.ph == "E"]
    told = {delta.name: delta.value for delta in event.deltas}
    np.testing.assert_array_equal(told["result"], X @ chain.weights[0])


def test_it_is_played_with_its_own_graph(chain):
    player = ks.play(chain, X)
    assert {node.id for node in player.picture.graph.nodes} >= {"x", "hidden.0", "hidden.1"}
    assert "hidden.1" in player.html


def test_the_tape_is_replayed_in_the_debugger(chain, tmp_path, capsys):
    with ks.trace(chain, statistics_only=False) as tape:
        chain.run(X)
        chain.weights[1][0, 0] = np.nan
        chain.run(X)
    file = tmp_path / "run.jsonl"
    tape.save(file)
    asked = ["catch nan", "c", "w", "p inputs", "b hidden.1", "origin hidden.1:2", "draw", "q"]
    assert main(["replay", *(word for line in asked for word in ("-c", line)), str(file)]) == 0
    told = capsys.readouterr().out
    assert "caught nan: hidden.1:2" in told
    assert "train.py:11" in told
    assert "✗ hidden.1" in told
    assert told.count("● hidden.0") == 2


def arrows_and_shapes(graph):
    return sorted(
        (one.source, one.target, one.attrs["operand"], one.attrs["shape"], one.attrs["dtype"])
        for one in graph.edges
    )


@pytest.mark.parametrize("arrays", ["all", "statistics"])
def test_a_tape_that_was_loaded_has_the_whole_graph(chain, tmp_path, arrays):
    writer = TapeWriter(arrays, path=tmp_path / "run.jsonl")
    record(chain, X, writer=writer)
    writer.close()
    graph, loaded = writer.graph("chain"), Tape.load(tmp_path / "run.jsonl")
    told = graph_of_tape(list(loaded))
    assert arrows_and_shapes(told) == arrows_and_shapes(graph)
    assert [(n.id, n.kind, n.group, n.depth) for n in told.nodes] == [
        (n.id, n.kind, n.group, n.depth) for n in graph.nodes
    ]
    assert told.groups == graph.groups
    player = ks.play(loaded)
    assert {node.id for node in player.picture.graph.nodes} == {node.id for node in graph.nodes}


def test_a_box_is_marked_when_its_call_runs(chain):
    writer = TapeWriter()
    record(chain, X, writer=writer)
    graph = writer.graph("chain")
    states, calls = BoxStates(graph, {}), []
    boxes = {node.id for node in graph.nodes}
    for event in writer.tape:
        states.feed(event)
        if event.ph == "B" and event.name in states.now:
            assert states.now[event.name] == NOW
            assert states.focus == event.name
            calls += [event.name] if event.name in boxes else []
    assert calls == [call.id for call in writer.calls]
    assert set(states.now.values()) == {DONE}


# --- mistakes -------------------------------------------------------------------------------------


def test_the_second_argument_of_draw_may_be_the_inputs(chain):
    assert ks.draw(chain, X).graph == ks.draw(chain, inputs=X).graph


def test_ours_takes_no_inputs():
    model = ks.Sequential([ks.layers.Dense(3, input_shape=(4,))])
    with pytest.raises(ArgumentError, match="inputs=.* other libraries.*values="):
        ks.draw(model, inputs=X)


@pytest.mark.parametrize("level", ["op", "layer", "training"])
def test_a_foreign_model_has_no_other_level(chain, level):
    with pytest.raises(ArgumentError, match=f"expected level='node', got '{level}"):
        ks.draw(chain, inputs=X, level=level)


def test_a_library_that_is_missing_is_named_with_its_extra(chain, monkeypatch):
    monkeypatch.setitem(foreign._ADAPTERS, "mylib", ("no_such_library", "mylib"))
    with pytest.raises(MissingToolError, match=r'pip install "kerascope\[mylib\]"'):
        ks.draw(chain, inputs=X)


@pytest.mark.parametrize("verb", [ks.draw, ks.trace, ks.play])
def test_what_is_no_model_is_refused(verb):
    with pytest.raises((TypeError, ValueError), match="expected"):
        verb(3.5).__enter__()


@pytest.mark.parametrize(
    "tell",
    [
        lambda w: w.call("a", [], [], op="A", kind="convolutoin"),
        lambda w: w.span("barch", "batch 0").__enter__(),
        lambda w: w.update("w", np.ones(2), np.ones(3)),
        lambda w: TapeWriter("some"),
    ],
)
def test_a_writer_refuses_what_it_does_not_know(tell):
    with pytest.raises(ArgumentError, match=r"Use one of: |expected old and new values"):
        tell(TapeWriter())


# --- the writer -----------------------------------------------------------------------------------


def test_numbers_are_read_at_once_because_they_change_later():
    x = np.ones(3, "float32")
    writer = TapeWriter("all")
    writer.call("x", [], [value(x, "before")], op="Input", kind="input")
    x[:] = 7
    writer.call("relu_", [value(x, "before")], [value(x, "after")], op="relu_")
    first, second = writer.calls
    np.testing.assert_array_equal(first.outputs[0].array, np.ones(3))
    np.testing.assert_array_equal(second.outputs[0].array, np.full(3, 7))
    graph = writer.graph("in place")
    assert [(edge.source, edge.target) for edge in graph.edges] == [("x", "relu_")]


def test_spans_end_when_their_block_fails_and_say_why():
    writer = TapeWriter()
    with (
        pytest.raises(KeyError),
        writer.span("batch", "batch 0", batch_index=0, size=2),
        writer.span("function", "step"),
        writer.span("node", "block", op="Block"),
    ):
        raise KeyError("lost")
    begun = Counter((e.kind, e.name) for e in writer.tape if e.ph == "B")
    ended = Counter((e.kind, e.name) for e in writer.tape if e.ph == "E")
    assert begun == ended == Counter([("batch", "batch 0"), ("function", "step"),
                                      ("node", "block")])  # fmt: skip
    assert writer.call("next", [], [], op="A") == "next"
    assert not writer.calls[-1].frame


def test_batches_are_those_of_the_tape():
    writer = TapeWriter()
    with writer.span("fit", "fit net"), writer.span("epoch", "epoch 0", epoch=0):
        for number in range(3):
            name = f"batch {number}"
            with writer.span("batch", name, batch_index=number, size=4) as told:
                with writer.span("function", "step"):
                    writer.update("w", np.zeros(2), np.ones(2), np.full(2, -1.0))
                told["outs"] = (np.float32(number),)
    batches = [(batch.epoch, batch.number, batch.outs) for batch in writer.tape.batches()]
    assert batches == [(0, n, (np.float32(n),)) for n in range(3)]
    assert {batch.model for batch in writer.tape.batches()} == {"net"}  # as in `batch 1 of net`
    [applied, *_] = writer.tape.filter(kind="update.apply")
    assert {delta.name for delta in applied.deltas} == {"weights", "old", "new"}


def test_each_update_leaves_the_other_weights_in_the_table():
    """`info weights` listed only the weight that was updated last."""
    writer = TapeWriter("all")
    for number in range(2):
        with writer.span("batch", f"batch {number}", batch_index=number, size=4):
            for name in "uvw":
                old, new = np.full(2, number), np.full(2, number + 1)
                writer.update(name, old, new, np.full(2, -1))
    tape = writer.tape
    [begin] = [event.t for event in tape if event.name == "batch 1" and event.ph == "B"]
    for t, number in ((begin, 1), (len(tape) - 1, 2)):
        weights = tape.names_at(t)["weights"]
        assert {name: list(array) for name, array in weights.items()} == {
            name: [number, number] for name in "uvw"
        }


def train(writer, batches=5):
    with writer.span("fit", "model"), writer.span("epoch", "epoch 0", epoch=0):
        for number in range(batches):
            with writer.span("batch", f"batch {number}", batch_index=number, size=2):
                array = np.full((2, 3), number, "float32")
                writer.call("a", [], [value(array)], op="A", line=("train.py", number, "main"))


@pytest.mark.parametrize("arrays", ["all", "statistics"])
def test_a_file_that_grows_is_the_tape(tmp_path, arrays):
    path = tmp_path / "run.jsonl"
    with TapeWriter(arrays, path=path) as writer:
        train(writer)
    events, read = list(writer.tape), list(Tape.load(path))
    assert [e[:9] for e in read] == [e[:9] for e in events]
    for one, other in zip(events, read, strict=True):
        assert same([tuple(d) for d in one.deltas], [tuple(d) for d in other.deltas])


def test_what_a_killed_run_leaves_is_read_as_far_as_it_is_whole(tmp_path):
    """Cut at any byte: the whole batches before it are there, or the file says what it is."""
    path = tmp_path / "run.jsonl"
    with TapeWriter("all", path=path) as writer:
        train(writer, 3)
    whole, events = path.read_bytes(), list(writer.tape)
    first = len(whole.split(b'{"format"')[1]) + len(b'{"format"')
    for cut in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:cut])
        if cut < first:
            with pytest.raises(ConfigError, match=r"run\.jsonl, line \d+"):
                Tape.load(path)
            continue
        with pytest.warns(KerascopeWarning, match="stopped before its end"):
            read = list(Tape.load(path))
        assert [e[:9] for e in read] == [e[:9] for e in events[: len(read)]]
        assert len(read) > 3


def test_a_piece_that_is_gone_is_noticed(tmp_path):
    path = tmp_path / "run.jsonl"
    with TapeWriter("all", path=path) as writer:
        train(writer, 3)
    pieces = path.read_bytes().split(b'{"format"')
    path.write_bytes(b'{"format"'.join([pieces[0], pieces[1], pieces[3], pieces[4]]))
    with pytest.raises(ConfigError, match="piece 1 is missing"):
        Tape.load(path)
    path.write_bytes(b'{"format"'.join(pieces))
    (tmp_path / "run.1.npz").unlink()
    with pytest.raises(ConfigError, match=r"run\.1\.npz"):
        Tape.load(path)


def test_a_run_in_which_nothing_happened_is_an_empty_tape(tmp_path):
    with TapeWriter(path=tmp_path / "run.jsonl"):
        pass
    assert not len(Tape.load(tmp_path / "run.jsonl"))


def test_what_a_full_disk_cut_is_written_over_by_what_comes_next(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    writer = TapeWriter(path=path)
    with writer.span("batch", "batch 0"):
        pass
    plain = GrowingFile._append

    def full(file, content):
        with open(file.path, "ab") as stream:
            stream.write(content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(GrowingFile, "_append", full)
    with pytest.raises(OSError, match="No space"), writer.span("batch", "batch 1"):
        pass
    monkeypatch.setattr(GrowingFile, "_append", plain)
    writer.close()
    assert [event.name for event in Tape.load(path) if event.ph == "B"] == ["batch 0", "batch 1"]


def test_a_tape_that_cannot_be_saved_leaves_both_files_as_they_were(chain, tmp_path, monkeypatch):
    with ks.trace(chain, statistics_only=False) as tape:
        chain.run(X)
    tape.save(tmp_path / "run.jsonl")
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}

    def fail(*args, **keywords):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tape_files.json, "dumps", fail)
    with pytest.raises(OSError, match="no space"):
        tape.save(tmp_path / "run.jsonl")
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


def test_arrays_that_are_no_pieces_of_a_tape_stay(tmp_path):
    (tmp_path / "weights.0.npz").write_bytes(b"mine")
    with TapeWriter(path=tmp_path / "weights.jsonl") as writer:
        train(writer, 1)
    assert (tmp_path / "weights.0.npz").read_bytes() == b"mine"


def test_a_new_run_takes_the_place_of_an_old_one(tmp_path):
    path = tmp_path / "run.jsonl"
    (tmp_path / "run.other.npz").write_bytes(b"mine")
    for batches in (4, 1):
        with TapeWriter("all", path=path) as writer:
            train(writer, batches)
    assert len(list(Tape.load(path).batches())) == 1
    names = {one.name for one in tmp_path.iterdir()}
    assert names == {"run.jsonl", "run.0.npz", "run.other.npz"}


def test_a_long_training_keeps_the_records_of_its_last_batch():
    writer = TapeWriter("none")
    for number in range(50):
        with writer.span("batch", f"batch {number}"):
            writer.call("a", [], [value(X)], op="A")
    assert [call.id for call in writer.calls] == ["a"]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_arrows_are_the_reads_of_any_run(data):
    """An independent count: for each call and operand, whoever wrote that token last."""
    writer, written, expected = TapeWriter("none"), {}, []
    for number in range(data.draw(st.integers(1, 12))):
        tokens = (
            data.draw(st.lists(st.sampled_from(sorted(written)), max_size=3)) if written else []
        )
        gives = data.draw(st.lists(st.integers(0, 9), min_size=1, max_size=2, unique=True))
        kind = "layer" if tokens else "input"
        name = data.draw(st.sampled_from(["a", "b", "a.c"]))
        call_id = writer.call(
            name,
            [Value(token, (1,), "float32") for token in tokens],
            [Value(token, (1,), "float32") for token in gives],
            op="Op",
            kind=kind,
        )
        expected += [(written[token], call_id) for token in tokens]
        for token in gives:
            if token not in tokens or token not in written:
                written[token] = call_id
        assert number < 12
    graph = graph_of_calls("any", writer.calls, writer.frames)
    assert Counter((e.source, e.target) for e in graph.edges) == Counter(expected)
    assert len({node.id for node in graph.nodes}) == len(writer.calls)


def test_an_array_in_one_state_is_read_once_when_it_is_met():
    """What a call was given stays known, though it has written into it before it returned."""
    writer, x = TapeWriter("all"), np.array([-1.0, 2.0])
    writer.call("x", [], [value(x, "first")], op="Input", kind="input")
    np.maximum(x, 0, out=x)
    writer.call("relu", [value(x, "first")], [value(x, "then")], op="relu", kind="activation")
    relu = writer.calls[-1]
    assert relu.inputs[0].array.tolist() == [-1, 2]
    assert relu.outputs[0].array.tolist() == [0, 2]
    assert relu.inputs[0].array is writer.calls[0].outputs[0].array


def test_outputs_are_what_the_model_gave_not_what_nothing_reads():
    writer, x = TapeWriter("none"), np.ones(2)
    given = [value(x, token) for token in "xyz"]
    writer.call("x", [], given[:1], op="Input", kind="input")
    writer.call("y", given[:1], given[1:2], op="relu", kind="activation")
    writer.call("is_large", given[1:2], given[2:], op="gt", kind="function")
    writer.outputs(given[1:2])
    marked = {box.id: box.attrs["outputs"] for box in writer.graph("model").nodes}
    assert marked == {"x": "", "y": "output", "is_large": ""}


def test_two_calls_of_a_function_are_not_those_of_one_layer_and_are_called_as_in_their_frame():
    writer, x = TapeWriter("none"), np.ones(2)
    with writer.span("node", "block.0", op="Block"):
        for token in ("a", "b"):
            given = [value(x, token)]
            writer.call("block.0/relu", [], given, op="relu", kind="activation")
            weights = {"weight": value(x, "w")}
            writer.call("block.0.fc", given, [], op="Linear", kind="dense", parameters=weights)
    boxes = {box.id: (box.label, box.attrs["calls"]) for box in writer.graph("model").nodes}
    assert boxes["block.0/relu:2"] == ("relu", 1)
    assert boxes["block.0.fc:2"] == ("fc", 2)


# --- the command line -----------------------------------------------------------------------------


@pytest.fixture
def script(chain, tmp_path, monkeypatch):
    module = types.ModuleType("mylib_models")
    module.Chain = Chain
    monkeypatch.setitem(sys.modules, "mylib_models", module)
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "net.py").write_text("from mylib_models import Chain\nnet = Chain([3, 4, 2])\n")
    monkeypatch.chdir(tmp_path)
    return "net.py:net"


def test_the_command_line_draws_it(script, capsys):
    assert main(["draw", script, "--values", "x.npy", "-o", "net.svg", "-o", "net.txt"]) == 0
    with open("net.txt", encoding="utf-8") as file:
        assert "hidden.1" in file.read()


def test_the_command_line_sums_it_up(script, capsys):
    assert main(["summary", script, "--values", "x.npy"]) == 0
    assert "hidden.0 (Linear)" in capsys.readouterr().out
    assert main(["summary", script, "--values", "x.npy", "--flops"]) == 2
    assert "'flops' only works for models of kerascope" in capsys.readouterr().err


def test_a_misspelt_name_of_a_model_of_another_library_is_found(script, capsys, monkeypatch):
    """It said that the script had no models."""
    monkeypatch.setattr(Chain, "__call__", lambda self, x: x, raising=False)
    assert main(["draw", "net.py:nett", "--values", "x.npy"]) == 2
    assert "Did you mean 'net'? Its models: net." in capsys.readouterr().err


def test_a_script_without_a_name_says_what_it_has(script, capsys):
    assert main(["draw", "net.py"]) == 2
    assert "kerascope ... net.py:net" in capsys.readouterr().err
