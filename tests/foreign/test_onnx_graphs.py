"""ONNX files are drawn as they stand: a box a node, arrays with those who read them."""

from collections import Counter
from math import prod

import numpy as np
import pytest

import kerascope as ks
from kerascope.errors import ConfigError, DtypeError, UnavailableError
from kerascope.viz.collapse.blocks import with_blocks

by_hand = pytest.importorskip("onnx_by_hand")  # is there where the package onnx is
onnx = pytest.importorskip("onnx")
onnx_models = pytest.importorskip("kerascope.foreign.onnx_models")
pytestmark = pytest.mark.live
graph_of = onnx_models.graph_of

WITHOUT_GRAPHS = (by_hand.residual, by_hand.encoder, by_hand.lstm)


def boxes(graph):
    return {box.id: box for box in graph.nodes}


def arrows(graph):
    return {(edge.source, edge.target) for edge in graph.edges}


@pytest.mark.parametrize("make", WITHOUT_GRAPHS)
def test_each_node_is_a_box_with_the_arrows_that_the_file_tells(make):
    model = make()
    graph = graph_of(model)
    names = [node.name or f"{node.op_type}_{place}" for place, node in enumerate(model.graph.node)]
    classes = [box.attrs["class_name"] for box in graph.nodes if box.kind != "input"]
    matrices = [name for name in classes if name == "Constant"]
    ops = [node.op_type for node in model.graph.node]
    assert Counter(classes) == Counter([*ops, *matrices])
    makers = {one.name: one.name for one in model.graph.input}
    for name, node in zip(names, model.graph.node, strict=True):
        makers.update(dict.fromkeys(filter(None, node.output), name))
    told = {
        (makers[one], name)
        for name, node in zip(names, model.graph.node, strict=True)
        for one in node.input
        if one in makers
    }
    found = arrows(graph)
    assert told <= found
    assert all(source in boxes(graph) for source, _ in found - told)
    assert {boxes(graph)[source].kind for source, _ in found - told} <= {"constant"}


@pytest.mark.parametrize("make", WITHOUT_GRAPHS)
def test_all_numbers_of_weights_are_counted_once(make):
    model = make()
    weights = sum(
        prod(one.dims)
        for one in model.graph.initializer
        if one.data_type == onnx.TensorProto.FLOAT and one.dims
    )
    assert graph_of(model).attrs["parameters"] == weights


def test_settings_say_what_is_not_so_by_itself():
    graph = boxes(graph_of(by_hand.residual()))
    assert graph["Conv_1"].attrs["settings"] == "kernel 3x3, pads 1"
    assert graph["MaxPool_13"].attrs["settings"] == "kernel 2x2, stride 2"
    assert graph["Reshape_14"].attrs["settings"] == "shape 0, -1"
    assert graph["Gemm_15"].attrs["settings"] == "transB 1"


def test_kinds_are_those_of_layers():
    found = {box.id: box.kind for box in graph_of(by_hand.encoder()).nodes}
    assert found == {
        "ids": "input",
        "table.weight": "constant",
        "table/Gather": "embedding",
        "attention/query/MatMul": "dense",
        "attention/key/MatMul": "dense",
        "attention/value/MatMul": "dense",
        "attention/Transpose": "shaping",
        "attention/MatMul": "merge",
        "attention/Mul": "function",
        "attention/Softmax": "activation",
        "attention/mix": "merge",
        "Add": "merge",
        "norm/Normalization": "normalization",
        "head/Transpose": "constant",
        "head/MatMul": "dense",
    }


def test_a_matrix_that_two_nodes_read_is_a_box_and_a_vector_is_not():
    model = by_hand.encoder()
    found = arrows(graph_of(model))
    assert {target for source, target in found if source == "table.weight"} == {
        "table/Gather",
        "head/Transpose",
    }
    model = by_hand.lstm()
    model.graph.node[2].input[2] = "twice"
    model.graph.node.append(by_hand.node("Add", "y twice", "z", "more"))
    model.graph.initializer.append(by_hand.array("twice", [1.0, 2.0]))
    assert "twice" not in boxes(graph_of(model))


def test_shapes_are_inferred_and_changing_sizes_have_names():
    graph = boxes(graph_of(by_hand.residual()))
    assert graph["Add_12"].attrs["output_shapes"] == "(None, 4, 16, 16)"
    assert graph["Gemm_15"].attrs["output_shapes"] == "(None, 10)"
    assert graph["x"].attrs["settings"] == "batch x 3 x 16 x 16"
    assert graph["x"].attrs["output_shapes"] == "(None, 3, 16, 16)"


def test_blocks_that_repeat_are_found():
    copies = [
        group.attrs.get("copies") for group in with_blocks(graph_of(by_hand.residual())).groups
    ]
    assert 3 in copies


def test_names_are_distinct_and_the_same_each_time():
    model = by_hand.encoder()
    for node in model.graph.node[:4]:
        node.name = "same"
    model.graph.node[4].name = "Add"  # of another one
    names = [box.id for box in graph_of(model).nodes]
    assert len(set(names)) == len(names)
    assert {"same", "same_2", "same_3", "same_4", "Add", "Add_2"} <= set(names)
    assert [box.id for box in graph_of(model).nodes] == names


def test_both_branches_of_an_if_are_frames_inside_its_own():
    graph = graph_of(by_hand.branch())
    assert {(frame.id, frame.parent) for frame in graph.groups} == {
        ("choose", ""),
        ("choose.then", "choose"),
        ("choose.else", "choose"),
    }
    assert {("x", "choose.then.double"), ("x", "choose.else.negate")} <= arrows(graph)
    ends = {source for source, target in arrows(graph) if target == "choose.result"}
    assert ends == {"positive", "choose.then.double", "choose.else.shrink"}
    # a weight of the outer graph that one inner node reads is that node's
    assert boxes(graph)["choose.else.shrink"].attrs["parameters"] == 3


def test_the_body_of_a_loop_is_drawn_once_between_its_start_and_its_result():
    graph = graph_of(by_hand.loop())
    assert [frame.id for frame in graph.groups] == ["repeat", "repeat.body"]
    found = arrows(graph)
    assert {("x", "repeat.body.start"), ("repeat.body.start", "repeat.body.move")} <= found
    assert {("repeat.body.move", "repeat.result"), ("repeat.result", "last")} <= found
    assert {box.group for box in graph.nodes} == {"", "repeat", "repeat.body"}


def test_a_function_is_a_frame_with_the_attributes_of_its_call():
    graph = boxes(graph_of(by_hand.functions()))
    assert graph["one.leak"].attrs["settings"] == "alpha 0.5"
    assert graph["two.leak"].attrs["settings"] == "alpha 0.25"
    assert graph["two.leak"].group == "two"
    assert graph["two.mix"].attrs["output_shapes"] == "(None, 2)"


def test_with_inputs_the_graph_is_that_of_what_ran():
    ran = graph_of(by_hand.branch(), np.array([1, 2, 3], "float32"))
    assert "choose.then.double" in boxes(ran)
    assert not any(name.startswith("choose.else") for name in boxes(ran))
    turns = graph_of(by_hand.loop(), np.array([[1, 2, 3]], "float32"))
    assert sum(frame.label == "body" for frame in turns.groups) == 3


def test_an_operator_that_nobody_knows_is_drawn_and_its_shape_is_open():
    nodes = [by_hand.node("Mystery", "x", "h", "m", domain="mine"), by_hand.node("Relu", "h", "y")]
    sizes = [by_hand.value("x", [2])], [by_hand.value("y", None)]
    graph = boxes(graph_of(by_hand.model(nodes, "odd", *sizes, domains=["mine"])))
    assert graph["m"].kind == "function"
    assert graph["m"].attrs["output_shapes"] == "?"
    assert graph["Relu_1"].attrs["output_shapes"] == "?"


def test_modules_of_several_nodes_are_frames():
    graph = graph_of(by_hand.encoder())
    assert [(frame.id, frame.label) for frame in graph.groups] == [
        *(("attention", "attention"), ("head", "head"))
    ]
    inside = {box.id: (box.group, box.label) for box in graph.nodes}
    assert inside["attention/key/MatMul"] == ("attention", "key/MatMul")
    assert inside["norm/Normalization"] == ("", "norm/Normalization")


def test_nodes_of_one_name_that_do_not_stand_together_are_in_no_frame():
    model = by_hand.encoder()
    (add,) = [node for node in model.graph.node if node.name == "Add"]
    add.name = "head/Add"  # before the norm; the others of `head` come after it
    assert [frame.id for frame in graph_of(model).groups] == ["attention"]
    for node in model.graph.node:
        node.name = f"whole/{node.name}"  # says nothing
    assert [frame.id for frame in graph_of(model).groups] == ["whole/attention"]


def test_modules_inside_of_modules_are_frames_inside_of_frames():
    names = ["a/x/one", "a/x/two", "a/three", "b/four", "b/five"]
    nodes = [
        by_hand.node("Relu", f"v{place}", f"v{place + 1}", name) for place, name in enumerate(names)
    ]
    sizes = [by_hand.value("v0", [2])], [by_hand.value("v5", [2])]
    graph = graph_of(by_hand.model(nodes, "nested", *sizes))
    found = [(frame.id, frame.label, frame.parent) for frame in graph.groups]
    assert found == [("a", "a", ""), ("a/x", "x", "a"), ("b", "b", "")]


def test_modules_and_lines_that_an_exporter_wrote_down_are_known():
    model = by_hand.encoder()
    node = model.graph.node[1]
    node.name = "node_MatMul_3"
    twin = model.graph.node[2]
    twin.name = "node_MatMul_4"
    for key, text in (
        ("pkg.torch.onnx.class_hierarchy", "['Net', 'my.Layer', 'my.Attention', 'aten.linear']"),
        ("pkg.torch.onnx.name_scopes", "['', 'layers.0', 'layers.0.attention', 'linear']"),
        (
            "pkg.torch.onnx.stack_trace",
            'File "/lib/site-packages/torch/nn/container.py", line 3, in forward\n  x\n'
            'File "/home/me/train.py", line 17, in encode\n  y = self.attention(x)',
        ),
    ):
        for one in (node, twin):
            one.metadata_props.add(key=key, value=text)
    model.graph.node[3].name = "node_MatMul_5"
    outside = model.graph.node[3].metadata_props
    outside.add(key="pkg.torch.onnx.name_scopes", value="['', 'layers.0', 'linear']")
    graph = graph_of(model)
    box = boxes(graph)["layers.0/attention/MatMul_3"]
    assert box.made_at == "train.py:17"
    outer, inner = (one for one in graph.groups if one.id.startswith("layers"))
    assert (outer.id, outer.attrs["class_name"]) == ("layers.0", "Layer")
    assert (inner.label, inner.attrs["class_name"]) == ("attention", "Attention")


def test_a_path_is_drawn_under_the_name_of_its_file(tmp_path):
    onnx.save(by_hand.lstm(), tmp_path / "small.onnx")
    graph = graph_of(tmp_path / "small.onnx")
    assert graph.name == "small"
    assert arrows(graph) == arrows(graph_of(by_hand.lstm()))
    assert ks.draw(str(tmp_path / "small.onnx")).graph.edges == graph.edges


def test_a_file_whose_arrays_are_lost_is_drawn(tmp_path):
    path = tmp_path / "large.onnx"
    onnx.save_model(
        by_hand.residual(),
        path,
        save_as_external_data=True,
        location="numbers.bin",
        size_threshold=16,
    )
    (tmp_path / "numbers.bin").unlink()
    whole, found = boxes(graph_of(by_hand.residual())), boxes(graph_of(path))
    assert found["Conv_1"].attrs["parameters"] == whole["Conv_1"].attrs["parameters"]


# --- what is no ONNX file -------------------------------------------------------------------------


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(DtypeError, match=r"expected an onnx.ModelProto or the path .* got int"):
        graph_of(3)
    with pytest.raises(UnavailableError, match=r"gone\.onnx cannot be read"):
        graph_of(tmp_path / "gone.onnx")
    (tmp_path / "empty.onnx").write_bytes(b"")
    with pytest.raises(ConfigError, match="has no nodes and no outputs"):
        graph_of(tmp_path / "empty.onnx")
    (tmp_path / "text.onnx").write_text("this is a text, and no message of any kind")
    with pytest.raises(ConfigError, match="is not an ONNX file, or is damaged"):
        graph_of(tmp_path / "text.onnx")


def test_no_part_of_a_file_is_taken_for_the_whole(tmp_path):
    whole = by_hand.lstm().SerializeToString()
    path = tmp_path / "part.onnx"
    for length in range(0, len(whole), 37):
        path.write_bytes(whole[:length])
        with pytest.raises(ConfigError):
            graph_of(path)


def damaged(change):
    model = by_hand.encoder()
    change(model.graph)
    return model


DAMAGES = [
    (lambda graph: graph.node[1].input.__setitem__(0, "nothing"), "reads 'nothing'"),
    (lambda graph: graph.node[0].input.append(graph.node[-1].output[0]), "not in order"),
    (lambda graph: graph.node[2].output.__setitem__(0, "query"), "computes 'query', but this name"),
    (lambda graph: setattr(graph.output[0], "name", "z"), "the graph has the output 'z'"),
]


@pytest.mark.parametrize(("change", "message"), DAMAGES)
def test_a_graph_that_does_not_hang_together_is_refused(change, message):
    with pytest.raises(ConfigError, match=message):
        graph_of(damaged(change))


def test_a_function_that_calls_itself_is_refused():
    model = by_hand.functions()
    call = model.functions[0].node.add()
    call.CopyFrom(by_hand.node("Scaled", "b w", "d", "again", domain="mine"))
    with pytest.raises(ConfigError, match=r"calls the function 'Scaled' inside that function"):
        graph_of(model)
