"""Model files of ONNX's own test data and of onnxruntime: opened, walked, equal to what they say.

`simple`, `pytorch-operator` and `pytorch-converted` are folders of `onnx/backend/test/data` with a
model and its inputs and outputs. Every 20th is a live test, all are a slow one. They would catch an
operator, an opset, a type or an order of nodes that is drawn and cannot be walked.
"""

import warnings
from pathlib import Path

import numpy as np
import pytest

import kerascope as ks
from kerascope.errors import ConfigError, DataError
from kerascope.foreign.writer import TapeWriter

onnx = pytest.importorskip("onnx")
onnx_models = pytest.importorskip("kerascope.foreign.onnx_models")
onnx_runtime = pytest.importorskip("kerascope.foreign.onnx_runtime")
pytestmark = [pytest.mark.live, pytest.mark.filterwarnings("ignore")]
helper, numpy_helper = onnx.helper, onnx.numpy_helper

DATA = Path(onnx.__file__).parent / "backend" / "test" / "data"
FOLDERS = [
    folder
    for kind in ("pytorch-converted", "pytorch-operator", "simple")
    for folder in sorted((DATA / kind).glob("test_*"))
]
# Gradient belongs to training builds of onnxruntime; nothing that can be installed computes it.
NOT_RUN = ("test_gradient_of_add", "test_gradient_of_add_and_mul")


def number_of(path):
    return int(path.stem.rpartition("_")[2])


def loaded(path, declared):
    content = path.read_bytes()
    if declared.type.WhichOneof("value") == "sequence_type":
        return numpy_helper.to_list(onnx.SequenceProto.FromString(content))
    return numpy_helper.to_array(onnx.TensorProto.FromString(content))


def is_same(one, other):
    if isinstance(one, list):
        return len(one) == len(other) and all(map(is_same, one, other))
    one, other = np.asarray(one), np.asarray(other)
    if one.dtype.kind in "OUST":
        return one.tolist() == other.astype(one.dtype).tolist()
    return one.shape == other.shape and np.allclose(
        one.astype("float64"), other.astype("float64"), rtol=1e-3, atol=1e-5, equal_nan=True
    )


def fault_of(folder):
    """Return what is wrong with the walk through a folder's model, or ""."""
    path = folder / "model.onnx"
    model = onnx.load(path)
    drawn = onnx_models.graph_of(path)
    assert drawn.nodes or not model.graph.node
    for data in sorted(folder.glob("test_data_set_*")):
        files = [sorted(data.glob(f"{end}_*.pb"), key=number_of) for end in ("input", "output")]
        pairs = [
            [(one.name, loaded(file, one)) for file, one in zip(found, declared, strict=False)]
            for found, declared in zip(files, (model.graph.input, model.graph.output), strict=True)
        ]
        writer = TapeWriter("all", None)
        try:
            found = onnx_models.record(path, writer=writer, **dict(pairs[0]))
        except DataError as error:
            return str(error)
        if not all(is_same(one, other) for one, (_, other) in zip(found, pairs[1], strict=True)):
            return "other outputs"
    return ""


def faults_of(folders):
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return {folder.name: fault for folder in folders if (fault := fault_of(folder))}


def test_some_model_files_of_onnx_are_walked_and_give_what_they_should():
    assert faults_of(FOLDERS[::20]) == {}


@pytest.mark.slow
def test_all_model_files_of_onnx_are_walked_and_give_what_they_should():
    assert len(FOLDERS) >= 140
    assert sorted(faults_of(FOLDERS)) == sorted(NOT_RUN)


# --- files that only onnxruntime computes ---------------------------------------------------------


def tensor(name, shape, dtype=1):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, x, y, opset=17, ir=8, **arrays):
    given = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "small", [x], [y], given)
    opsets = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir)


def numbers(*shape):
    return np.random.RandomState(len(shape)).normal(size=shape).astype("float32")


def network():
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("GlobalAveragePool", ["r"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("Gemm", ["f", "k"], ["y"]),
    ]
    arrays = {"w": numbers(5, 3, 3, 3), "b": numbers(5), "k": numbers(5, 4)}
    return model_of(nodes, tensor("x", ["n", 3, 8, 8]), tensor("y", ["n", 4]), **arrays)


def quantized(how):
    def write(path):
        quantization = pytest.importorskip("onnxruntime.quantization")

        class Samples(quantization.CalibrationDataReader):
            def __init__(self):
                self.left = iter([{"x": numbers(2, 3, 8, 8)}])

            def get_next(self):
                return next(self.left, None)

        plain = path.with_name("plain.onnx")
        onnx.save(network(), plain)
        if how == "dynamic":
            quantization.quantize_dynamic(plain, path)
        else:
            form = getattr(quantization.QuantFormat, how)
            quantization.quantize_static(plain, path, Samples(), quant_format=form)
        return numbers(2, 3, 8, 8)

    return write


def of_microsoft(path):
    nodes = [
        helper.make_node("FusedMatMul", ["x", "w"], ["h"], domain="com.microsoft", alpha=0.5),
        helper.make_node("Gelu", ["h"], ["y"], domain="com.microsoft"),
    ]
    onnx.save(model_of(nodes, tensor("x", ["n", 4]), tensor("y", ["n", 3]), w=numbers(4, 3)), path)
    return numbers(2, 4)


def of_opset_7(path):
    nodes = [
        helper.make_node("BatchNormalization", ["x", "s", "b", "m", "v"], ["h"]),
        helper.make_node("Upsample", ["h"], ["u"], mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]),
        helper.make_node("Softmax", ["u"], ["y"], axis=1),
    ]
    arrays = {name: np.abs(numbers(3)) for name in "sbmv"}
    model = model_of(nodes, tensor("x", [1, 3, 4, 4]), tensor("y", None), opset=7, ir=3, **arrays)
    onnx.save(model, path)
    return numbers(1, 3, 4, 4)


def inside_a_branch(path):
    made = tensor("z", ["n", 4])
    branches = {
        f"{word}_branch": helper.make_graph([node], word, [], [made])
        for word, node in {
            "then": helper.make_node("Gelu", ["x"], ["z"], domain="com.microsoft"),
            "else": helper.make_node("Relu", ["x"], ["z"]),
        }.items()
    }
    nodes = [helper.make_node("If", ["yes"], ["y"], **branches)]
    given = {"yes": np.array(True)}
    onnx.save(model_of(nodes, tensor("x", ["n", 4]), tensor("y", ["n", 4]), **given), path)
    return numbers(2, 4)


def unsorted(path):
    model = network()
    nodes = list(model.graph.node)
    del model.graph.node[:]
    model.graph.node.extend(reversed(nodes))
    onnx.save(model, path)
    return numbers(2, 3, 8, 8)


FILES = [
    *(pytest.param(quantized(how), id=how) for how in ("QDQ", "QOperator", "dynamic")),
    *(of_microsoft, of_opset_7, inside_a_branch, unsorted),
]


@pytest.mark.parametrize("chunk", [1, 64])
@pytest.mark.parametrize("write", FILES)
def test_what_onnxruntime_runs_is_walked_with_its_numbers(write, chunk, tmp_path, monkeypatch):
    runtime = pytest.importorskip("onnxruntime")
    monkeypatch.setattr(onnx_runtime, "CHUNK", chunk)
    path = tmp_path / "model.onnx"
    x = write(path)
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    (expected,) = session.run(None, {"x": x})
    steps = list(ks.walk(str(path), x))
    assert {step.call.id for step in steps} >= {
        box.id for box in ks.draw(str(path)).whole.nodes
    } - {"If_0.else.Relu_0"}
    np.testing.assert_allclose(steps[-1].outputs[0], expected, rtol=1e-4, atol=1e-5)
    assert "equal" in str(ks.compare(str(path), str(path), x))


def test_without_onnxruntime_the_message_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_runtime, "is_there", lambda: False)
    monkeypatch.setattr("kerascope.foreign.onnx_walk.run_alone", None)
    x = of_microsoft(tmp_path / "m.onnx")
    with pytest.raises(DataError, match=r"pip install 'kerascope\[onnxruntime\]'"):
        list(ks.walk(str(tmp_path / "m.onnx"), x))
    x = unsorted(tmp_path / "u.onnx")
    assert list(ks.walk(str(tmp_path / "u.onnx"), x))[-1].outputs[0].shape == (2, 4)


def test_random_numbers_are_drawn_once(tmp_path, monkeypatch):
    monkeypatch.setattr(onnx_runtime, "CHUNK", 1)
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["r"]),
        helper.make_node("Identity", ["r"], ["h"]),
        helper.make_node("Sub", ["h", "r"], ["y"]),
    ]
    onnx.save(model_of(nodes, tensor("x", ["n", 4]), tensor("y", ["n", 4])), tmp_path / "m.onnx")
    *_, last = ks.walk(str(tmp_path / "m.onnx"), numbers(2, 4))
    assert not last.outputs[0].any()
    assert last.inputs[0].any()


def test_texts_are_in_the_walk(tmp_path):
    nodes = [helper.make_node("StringConcat", ["x", "x"], ["y"])]
    model = model_of(nodes, tensor("x", ["n"], 8), tensor("y", ["n"], 8), opset=20, ir=9)
    onnx.save(model, tmp_path / "m.onnx")
    first, last = ks.walk(str(tmp_path / "m.onnx"), np.array(["a", "bc"], dtype=object))
    assert (first.outputs[0].tolist(), last.outputs[0].tolist()) == (["a", "bc"], ["aa", "bcbc"])
    assert "string[2] aa, bcbc" in repr(last)


def test_a_pointer_of_git_lfs_and_a_cycle_are_named(tmp_path):
    pointer = tmp_path / "lfs.onnx"
    pointer.write_bytes(
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    )
    with pytest.raises(ConfigError, match="is a pointer of Git LFS.*git lfs pull"):
        ks.draw(str(pointer))
    nodes = [helper.make_node("Relu", ["y"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    onnx.save(model_of(nodes, tensor("x", [2]), tensor("y", [2])), tmp_path / "cycle.onnx")
    with pytest.raises(ConfigError, match="reads 'y'"):
        ks.draw(str(tmp_path / "cycle.onnx"))
