"""ONNX models that are made by code: what the tests of `kerascope.foreign` look at and step.

Each function returns an `onnx.ModelProto` with arrays from a generator of its own.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def value(name, sizes, kind=FLOAT):
    return helper.make_tensor_value_info(name, kind, sizes)


def array(name, numbers, dtype="float32"):
    return numpy_helper.from_array(np.asarray(numbers, dtype), name)


def node(op, inputs, outputs, name="", **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), name=name, **attributes)


def model(nodes, name, inputs, outputs, arrays=(), opset=OPSET, functions=(), domains=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(arrays))
    opsets = [helper.make_opsetid("", opset), *(helper.make_opsetid(one, 1) for one in domains)]
    made = helper.make_model(graph, opset_imports=opsets, functions=list(functions))
    made.ir_version = 8
    return made


def random(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype("float32") * np.float32(0.5)


# --- without graphs inside ------------------------------------------------------------------------


def residual():
    """A convolution with a block around which the values also go; nodes without names."""
    arrays = [array("first.weight", random(0, 4, 3, 3, 3)), array("first.bias", random(1, 4))]
    nodes = [node("Conv", "x first.weight first.bias", "h0", kernel_shape=[3, 3], pads=[1] * 4)]
    for number in range(3):
        arrays.append(array(f"block{number}.weight", random(2 + number, 4, 4, 3, 3)))
        parts = [array(f"block{number}.{part}", abs(random(9, 4)) + 1) for part in "sbmv"]
        arrays += parts
        told = " ".join(part.name for part in parts)
        nodes += [
            node(
                "Conv", f"h{number} block{number}.weight", f"c{number}",
                kernel_shape=[3, 3], pads=[1] * 4, group=1, dilations=[1, 1],
            ),
            node("BatchNormalization", f"c{number} {told}", f"n{number}"),
            node("Relu", f"n{number}", f"r{number}"),
            node("Add", f"h{number} r{number}", f"h{number + 1}"),
        ]  # fmt: skip
    arrays += [array("shape", [0, -1], "int64"), array("W", random(7, 10, 4 * 8 * 8))]
    nodes += [
        node("MaxPool", "h3", "p", kernel_shape=[2, 2], strides=[2, 2]),
        node("Reshape", "p shape", "f"),
        node("Gemm", "f W", "y", transB=1),
    ]
    sizes = ["batch", 3, 16, 16]
    return model(nodes, "residual", [value("x", sizes)], [value("y", ["batch", 10])], arrays)


def encoder():
    """One layer of a transformer with a table of embeddings, which the end reads, too."""
    matrices = {name: random(place, 8, 8) for place, name in enumerate(("query", "key", "value"))}
    arrays = [array(f"attention.{name}.weight", one) for name, one in matrices.items()]
    arrays += [
        array("table.weight", random(5, 20, 8)),
        array("norm.weight", np.ones(8)),
        array("norm.bias", np.zeros(8)),
        array("scale", np.float32(8**-0.5)),
    ]
    nodes = [
        node("Gather", "table.weight ids", "e", "table/Gather"),
        *(
            node("MatMul", f"e attention.{name}.weight", name, f"attention/{name}/MatMul")
            for name in matrices
        ),
        node("Transpose", "key", "turned", "attention/Transpose", perm=[0, 2, 1]),
        node("MatMul", "query turned", "scores", "attention/MatMul"),
        node("Mul", "scores scale", "scaled", "attention/Mul"),
        node("Softmax", "scaled", "shares", "attention/Softmax", axis=-1),
        node("MatMul", "shares value", "mixed", "attention/mix"),
        node("Add", "e mixed", "sum", "Add"),
        node("LayerNormalization", "sum norm.weight norm.bias", "normed", "norm/Normalization"),
        node("Transpose", "table.weight", "head", "head/Transpose", perm=[1, 0]),
        node("MatMul", "normed head", "y", "head/MatMul"),
    ]
    inputs = [value("ids", ["batch", "length"], INT64)]
    return model(nodes, "encoder", inputs, [value("y", ["batch", "length", 20])], arrays)


def lstm():
    """A recurrent node, of whose three outputs the second alone has a name."""
    arrays = [
        array("W", random(0, 1, 16, 3)),
        array("R", random(1, 1, 16, 4)),
        array("B", random(2, 1, 32)),
        array("axes", [0], "int64"),
        array("fc.weight", random(3, 4, 2)),
        array("fc.bias", random(4, 2)),
    ]
    recurrent = helper.make_node("LSTM", ["x", "W", "R", "B"], ["", "h"], "lstm", hidden_size=4)
    nodes = [
        recurrent,
        node("Squeeze", "h axes", "last", "last"),
        node("Gemm", "last fc.weight fc.bias", "y", "fc"),
    ]
    return model(nodes, "lstm", [value("x", [5, "batch", 3])], [value("y", ["batch", 2])], arrays)


# --- with graphs inside ---------------------------------------------------------------------------


def branch():
    """If the mean is above zero: twice x, else its negative times a weight of the outer graph."""
    then = helper.make_graph(
        [node("Add", "x x", "twice", "double")], "then", [], [value("twice", ["n"])]
    )
    other = helper.make_graph(
        [node("Neg", "x", "negative", "negate"), node("Mul", "negative weight", "less", "shrink")],
        "else", [], [value("less", ["n"])],
    )  # fmt: skip
    arrays = [array("zero", 0.0), array("weight", [0.5, 0.25, 2.0])]
    nodes = [
        node("ReduceMean", "x", "mean", "mean", keepdims=0),
        node("Greater", "mean zero", "positive", "positive"),
        node("If", "positive", "chosen", "choose", then_branch=then, else_branch=other),
        node("Relu", "chosen", "y", "relu"),
    ]
    return model(nodes, "branch", [value("x", [3])], [value("y", [3])], arrays)


def loop():
    """Multiply by a matrix until the norm is above a limit; keeps the norm of each turn."""
    body = helper.make_graph(
        [
            node("MatMul", "state matrix", "moved", "move"),
            node("ReduceL2", "moved", "norm", "norm", keepdims=0),
            node("Less", "norm limit", "again", "again"),
        ],
        "body",
        [value("turn", [], INT64), value("goes_on", [], BOOL), value("state", [1, 3])],
        [value("again", [], BOOL), value("moved", [1, 3]), value("norm", [])],
    )
    arrays = [
        array("most", 10, "int64"), array("yes", True, "bool"), array("limit", 20.0),
        array("matrix", np.eye(3) * 2),
    ]  # fmt: skip
    nodes = [
        node("Loop", "most yes x", "end norms", "repeat", body=body),
        node("Identity", "end", "y", "last"),
    ]
    outputs = [value("y", [1, 3]), value("norms", ["turns"])]
    return model(nodes, "loop", [value("x", [1, 3])], outputs, arrays)


def scan(**directions):
    """The sums of the rows until each; `directions` as attributes of the node."""
    body = helper.make_graph(
        [node("Add", "sum row", "next", "add"), node("Identity", "next", "kept", "keep")],
        "body",
        [value("sum", [2]), value("row", [2])],
        [value("next", [2]), value("kept", [2])],
    )
    nodes = [
        node("Scan", "start x", "total sums", "scan", body=body, num_scan_inputs=1, **directions)
    ]
    return model(
        nodes, "scan", [value("start", [2]), value("x", ["rows", 2])],
        [value("total", [2]), value("sums", ["rows", 2])],
    )  # fmt: skip


def functions():
    """A function of the file that is called twice, with other attributes."""
    function = helper.make_function(
        "mine", "Scaled", ["a", "w"], ["c"],
        [
            helper.make_node("LeakyRelu", ["a"], ["b"], name="leak"),
            helper.make_node("MatMul", ["b", "w"], ["c"], name="mix"),
        ],
        [helper.make_opsetid("", OPSET)], attributes=["slope"],
    )  # fmt: skip
    reference = function.node[0].attribute.add()
    reference.name, reference.ref_attr_name = "alpha", "slope"
    reference.type = onnx.AttributeProto.FLOAT
    nodes = [
        node("Scaled", "x first", "h", "one", domain="mine", slope=0.5),
        node("Scaled", "h second", "y", "two", domain="mine", slope=0.25),
    ]
    arrays = [array("first", random(0, 3, 3)), array("second", random(1, 3, 2))]
    return model(
        nodes, "functions", [value("x", ["n", 3])], [value("y", ["n", 2])], arrays,
        functions=[function], domains=["mine"],
    )  # fmt: skip
