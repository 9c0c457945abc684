"""ONNX files run node by node: each value is that of ONNX's evaluator, and of onnxruntime."""

import numpy as np
import pytest

import kerascope as ks
from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DataError,
    DtypeError,
    ShapeError,
    UnavailableError,
)
from kerascope.foreign.writer import TapeWriter

by_hand = pytest.importorskip("onnx_by_hand")  # is there where the package onnx is
onnx = pytest.importorskip("onnx")
onnx_models = pytest.importorskip("kerascope.foreign.onnx_models")
onnx_runtime = pytest.importorskip("kerascope.foreign.onnx_runtime")
pytestmark = pytest.mark.live


def recorded(subject, *inputs, **named):
    """Return the calls by id, and what came out."""
    writer = TapeWriter("all")
    result = onnx_models.record(subject, *inputs, writer=writer, **named)
    return {call.id: call for call in writer.calls}, result


def given(call, number=0):
    return call.outputs[number].array


def by_runtime(model, **inputs):
    """Return what onnxruntime gives; the test is skipped without it."""
    runtime = pytest.importorskip("onnxruntime")
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    session = runtime.InferenceSession(model.SerializeToString(), options)
    return session.run(None, inputs)


def with_all_outputs(model):
    """Return a model that gives each value that a node makes, and their names."""
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    names = [one for node in model.graph.node for one in node.output if one]
    del shown.graph.output[:]
    shown.graph.output.extend(onnx.ValueInfoProto(name=one) for one in names)
    return shown, names


RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 3, 16, 16)).astype("float32")
CASES = {
    by_hand.residual: {"x": X},
    by_hand.encoder: {"ids": np.array([[1, 2, 3], [19, 0, 7]])},
    by_hand.lstm: {"x": RNG.normal(size=(5, 2, 3)).astype("float32")},
}
IDS = [make.__name__ for make in CASES]


@pytest.mark.parametrize(("make", "inputs"), CASES.items(), ids=IDS)
def test_each_value_is_that_of_the_reference_evaluator_to_the_bit(make, inputs, monkeypatch):
    monkeypatch.setattr(onnx_runtime, "is_there", lambda: False)
    model = make()
    evaluator = onnx.reference.ReferenceEvaluator(model)
    expected = evaluator.run(None, inputs, intermediate=True)
    calls, result = recorded(model, **inputs)
    for place, node in enumerate(model.graph.node):
        call = calls[node.name or f"{node.op_type}_{place}"]
        names = [one for one in node.output if one]
        assert len(call.outputs) == len(names)
        for value, name in zip(call.outputs, names, strict=True):
            np.testing.assert_array_equal(value.array, expected[name], strict=True)
    np.testing.assert_array_equal(result[0], expected[model.graph.output[0].name])


@pytest.mark.parametrize(("make", "inputs"), CASES.items(), ids=IDS)
def test_each_value_is_that_of_onnxruntime_but_for_rounding(make, inputs):
    model = make()
    shown, names = with_all_outputs(model)
    expected = dict(zip(names, by_runtime(shown, **inputs), strict=True))
    calls, _ = recorded(model, **inputs)
    for place, node in enumerate(model.graph.node):
        call = calls[node.name or f"{node.op_type}_{place}"]
        for value, name in zip(call.outputs, filter(None, node.output), strict=True):
            scale = np.abs(expected[name]).max()
            np.testing.assert_allclose(value.array, expected[name], rtol=1e-5, atol=1e-6 * scale)


def test_weights_and_what_each_node_reads_are_recorded():
    model = by_hand.lstm()
    calls, _ = recorded(model, CASES[by_hand.lstm]["x"])
    arrays = {one.name: onnx.numpy_helper.to_array(one) for one in model.graph.initializer}
    assert set(calls["fc"].parameters) == {"weight", "bias"}
    np.testing.assert_array_equal(calls["fc"].parameters["weight"].array, arrays["fc.weight"])
    assert set(calls["lstm"].parameters) == {"W", "R", "B"}
    np.testing.assert_array_equal(calls["fc"].inputs[0].array, given(calls["last"]))


# --- graphs that nodes hold -----------------------------------------------------------------------


@pytest.mark.parametrize("sign", [1, -1])
def test_only_the_branch_that_is_taken_runs(sign):
    x = sign * np.array([1, 2, 3], "float32")
    calls, result = recorded(by_hand.branch(), x)
    taken, other = ("then", "else") if sign > 0 else ("else", "then")
    assert any(f"choose.{taken}." in name for name in calls)
    assert not any(f"choose.{other}." in name for name in calls)
    np.testing.assert_array_equal(result[0], by_runtime(by_hand.branch(), x=x)[0])
    np.testing.assert_array_equal(given(calls["choose.result"]), result[0])
    if sign < 0:
        np.testing.assert_array_equal(given(calls["choose.else.negate"]), -x)


@pytest.mark.parametrize("size", [0.5, 3.0, 100.0])
def test_each_turn_of_a_loop_runs_until_its_condition_ends_it(size):
    x = np.full((1, 3), size, "float32")
    calls, (y, norms) = recorded(by_hand.loop(), x)
    expected = by_runtime(by_hand.loop(), x=x)
    np.testing.assert_allclose(y, expected[0], rtol=1e-6)
    np.testing.assert_allclose(norms, expected[1], rtol=1e-6, strict=True)
    for turn in range(len(norms)):
        number = f":{turn + 1}" if turn else ""
        assert given(calls[f"repeat.body.start{number}"], 0) == turn
        np.testing.assert_array_equal(
            given(calls[f"repeat.body.move{number}"]), x * 2 ** (turn + 1)
        )
        assert calls[f"repeat.body.move{number}"].frame == f"repeat.body{number}"
    assert f"repeat.body.start:{len(norms) + 1}" not in calls


def changed_loop(**arrays):
    """Return the loop with other limits; one that is None is left out."""
    model = by_hand.loop()
    for name, numbers in arrays.items():
        (old,) = [one for one in model.graph.initializer if one.name == name]
        model.graph.initializer.remove(old)
        if numbers is None:
            inputs = model.graph.node[0].input
            inputs[list(inputs).index(name)] = ""
        else:
            dtype = onnx.helper.tensor_dtype_to_np_dtype(old.data_type)
            model.graph.initializer.append(by_hand.array(name, numbers, dtype))
    return model


@pytest.mark.parametrize(
    ("arrays", "turns"),
    [
        ({"most": 2}, 2),
        ({"most": 0}, 0),
        ({"yes": False}, 0),
        ({"yes": None, "most": 3}, 3),
        ({"most": None, "limit": 1000.0}, 10),
    ],
)
def test_a_loop_ends_where_its_limits_say(arrays, turns):
    model, x = changed_loop(**arrays), np.ones((1, 3), "float32")
    calls, (y, norms) = recorded(model, x)
    assert norms.shape == (turns,)
    assert sum(name.startswith("repeat.body.move") for name in calls) == turns
    np.testing.assert_array_equal(y, x * 2**turns)
    expected = by_runtime(model, x=x)
    np.testing.assert_allclose(norms, expected[1], rtol=1e-6)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"scan_input_directions": [1]},
        {"scan_output_directions": [1]},
        {"scan_input_axes": [1]},
        {"scan_output_axes": [1]},
        {"scan_input_axes": [-1], "scan_output_axes": [-1], "scan_input_directions": [1]},
    ],
)
def test_a_scan_runs_row_by_row_along_its_axes_and_directions(told):
    model = by_hand.scan(**told)
    for one in (*model.graph.input, *model.graph.output):
        del one.type.tensor_type.shape.dim[:]
        one.type.tensor_type.ClearField("shape")
    axis = told.get("scan_input_axes", [0])[0]
    x = np.moveaxis(np.arange(8, dtype="float32").reshape(4, 2), 0, axis)
    start = np.array([10, 20], "float32")
    calls, (total, sums) = recorded(model, start, x)
    expected = by_runtime(model, start=start, x=x)
    np.testing.assert_array_equal(total, expected[0])
    np.testing.assert_array_equal(sums, expected[1], strict=True)
    assert sum(name.startswith("scan.body.add") for name in calls) == 4


def test_what_is_inside_a_function_runs_with_the_attributes_of_its_call():
    x = CASES[by_hand.lstm]["x"][0]
    calls, result = recorded(by_hand.functions(), x)
    np.testing.assert_array_equal(given(calls["one.leak"]), np.where(x < 0, x * np.float32(0.5), x))
    expected = by_runtime(by_hand.functions(), x=x)
    np.testing.assert_allclose(result[0], expected[0], rtol=1e-5, atol=1e-7)
    np.testing.assert_array_equal(given(calls["two.mix"]), result[0])


def test_a_loop_inside_a_branch_reads_what_stands_outside_of_both():
    inner = by_hand.loop()
    nodes = [node for node in inner.graph.node if node.op_type == "Loop"]
    nodes.append(by_hand.node("Identity", "end", "inner_end", "out"))
    then = onnx.helper.make_graph(nodes, "then", [], [by_hand.value("inner_end", [1, 3])])
    other = onnx.helper.make_graph(
        [by_hand.node("Neg", "x", "negative")], "else", [], [by_hand.value("negative", [1, 3])]
    )
    choose = by_hand.node("If", "on", "y", "choose", then_branch=then, else_branch=other)
    inputs = [by_hand.value("x", [1, 3]), by_hand.value("on", [], by_hand.BOOL)]
    model = by_hand.model(
        [choose], "nested", inputs, [by_hand.value("y", [1, 3])], inner.graph.initializer
    )
    x = np.ones((1, 3), "float32")
    for on in (True, False):
        calls, result = recorded(model, x, np.array(on))
        np.testing.assert_array_equal(result[0], by_runtime(model, x=x, on=np.array(on))[0])
        assert ("choose.then.repeat.body.move:2" in calls) == on
    drawn = {box.id for box in onnx_models.graph_of(model).nodes}
    assert {"choose.then.repeat.body.move", "choose.else.Neg_0"} <= drawn


def test_lists_and_texts_flow_without_numbers():
    nodes = [
        by_hand.node("SplitToSequence", "x", "parts", "split", keepdims=0),
        by_hand.node("SequenceAt", "parts place", "y", "at"),
    ]
    arrays = [by_hand.array("place", 1, "int64")]
    sizes = [by_hand.value("x", [3, 2])], [by_hand.value("y", [2])]
    model = by_hand.model(nodes, "lists", *sizes, arrays)
    x = np.arange(6, dtype="float32").reshape(3, 2)
    calls, result = recorded(model, x)
    assert calls["split"].outputs[0].dtype == "sequence"
    np.testing.assert_array_equal(result[0], x[1])


def test_an_array_of_the_file_may_be_given_instead():
    model = by_hand.lstm()
    model.graph.input.append(by_hand.value("fc.bias", [2]))  # as all were, in old files
    x = CASES[by_hand.lstm]["x"]
    _, plain = recorded(model, x)
    _, moved = recorded(model, x, **{"fc.bias": np.array([10, 20], "float32")})
    (bias,) = [one for one in model.graph.initializer if one.name == "fc.bias"]
    expected = plain[0] - onnx.numpy_helper.to_array(bias) + [10, 20]
    np.testing.assert_allclose(moved[0], expected, rtol=1e-5)
    drawn = {box.id: box.kind for box in onnx_models.graph_of(model).nodes}
    assert "fc.bias" not in drawn


# --- on a tape ------------------------------------------------------------------------------------


def test_a_file_can_be_drawn_walked_and_summed_up(tmp_path):
    path = str(tmp_path / "small.onnx")
    onnx.save(by_hand.residual(), path)
    calls, _ = recorded(path, X)
    box = ks.draw(path, values=X).graph.node("Gemm_15")
    greatest = float(given(calls["Gemm_15"]).max())
    assert float(box.attrs["value_max"]) == pytest.approx(greatest, rel=1e-3)
    assert len(list(ks.walk(path, X))) == len(calls)
    for inputs in (None, X):
        lines: list[str] = []
        ks.summary(path, inputs, print_fn=lines.append)
        text = "\n".join(lines)
        assert "Conv_1 (Conv)" in text
        assert "3,152" in text


def test_the_tape_replays_each_value():
    writer = TapeWriter("all")
    onnx_models.record(by_hand.loop(), np.ones((1, 3), "float32"), writer=writer)
    names = writer.tape.names_at(len(writer.tape) - 3)
    values = {key: pair[0] for key, pair in names["tensor_map"].items()}
    np.testing.assert_array_equal(values["repeat.body.move:3"], np.full((1, 3), 8.0))
    assert writer.library.startswith("onnx ")


# --- errors ---------------------------------------------------------------------------------------

WRONG = [
    ((), {}, ArgumentError, r"got none for .x.\. Give .* x float32 \(batch, 3, 16, 16\)"),
    ((X, X), {}, ArgumentError, "expected 1 input .* got 2"),
    ((), {"z": X}, ArgumentError, "got 'z', which is not an input of the model"),
    ((X,), {"x": X}, ArgumentError, "got 'x', which is already given by position"),
    ((X.astype("float64"),), {}, DtypeError, r"expected the type float32, got float64.*astype"),
    ((X[:, :2],), {}, ShapeError, r"\(batch, 3, 16, 16\), got the shape \(2, 2, 16, 16\)"),
    ((X[0],), {}, ShapeError, r"got the shape \(3, 16, 16\)"),
    ((X,), {"loss": len}, ArgumentError, "expected loss=None"),
]


@pytest.mark.parametrize(("inputs", "named", "error", "message"), WRONG)
def test_inputs_that_the_file_does_not_ask_for_are_refused(inputs, named, error, message):
    with pytest.raises(error, match=message):
        recorded(by_hand.residual(), *inputs, **named)


def test_a_size_with_a_name_is_the_same_everywhere():
    nodes = [by_hand.node("Add", "a b", "y")]
    sizes = [by_hand.value(name, ["batch"]) for name in "aby"]
    model = by_hand.model(nodes, "sum", sizes[:2], sizes[2:])
    with pytest.raises(ShapeError, match=r"expected batch to be 2 as in 'a', got 3"):
        recorded(model, np.zeros(2, "float32"), np.zeros(3, "float32"))


def test_numbers_may_be_given_as_lists():
    _, result = recorded(by_hand.branch(), [1, 2, 3])
    assert result[0].tolist() == [2, 4, 6]


def test_a_node_that_fails_is_named_with_the_shapes_that_it_got():
    with pytest.raises(DataError, match=r"node 'table/Gather' \(Gather\) failed on .*ids \(1, 1\)"):
        recorded(by_hand.encoder(), np.array([[99]]))


def test_an_operator_that_the_evaluator_does_not_know_is_named():
    nodes = [by_hand.node("Mystery", "x", "y", "m", domain="mine")]
    sizes = [by_hand.value("x", [2])], [by_hand.value("y", [2])]
    model = by_hand.model(nodes, "odd", *sizes, domains=["mine"])
    with pytest.raises(DataError, match=r"node 'm' \(Mystery\) .*NotImplementedError"):
        recorded(model, np.zeros(2, "float32"))


def test_numbers_that_lie_in_another_file_are_read_or_missed_by_name(tmp_path):
    path = tmp_path / "large.onnx"
    place = {"save_as_external_data": True, "location": "numbers.bin", "size_threshold": 16}
    onnx.save_model(by_hand.residual(), path, **place)
    calls, _ = recorded(path, X)
    whole, _ = recorded(by_hand.residual(), X)
    np.testing.assert_array_equal(given(calls["Gemm_15"]), given(whole["Gemm_15"]))
    (tmp_path / "numbers.bin").unlink()
    with pytest.raises(UnavailableError, match=r"'first\.weight' cannot be read .*numbers\.bin"):
        recorded(path, X)
    with pytest.raises(UnavailableError, match=r"are in another file, which a ModelProto"):
        recorded(onnx.load(path, load_external_data=False), X)


def test_a_scan_of_the_oldest_form_is_drawn_and_not_run():
    model = by_hand.scan()
    model.opset_import[0].version = 8
    assert "scan" in {box.id for box in onnx_models.graph_of(model).nodes}
    with pytest.raises(ConfigError, match="is a Scan of an opset before 9"):
        recorded(model, np.zeros(2, "float32"), np.zeros((1, 2), "float32"))
