"""The kind, the settings, the names and the source line of a single node of an ONNX file.

`onnx_bodies.py` uses them while it reads the nodes of a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, NodeProto, TensorProto, numpy_helper

from kerascope.viz.kinds import kinds_by_name

Setting = str | int | float | bool

MOST_NUMBERS = 8  # length of a constant that is written out as text
MOST_SIGNS = 60  # characters in the text of a setting

# --- kinds ----------------------------------------------------------------------------------------

_OPS_BY_KIND = {
    "convolution": "Conv ConvTranspose ConvInteger QLinearConv DeformConv FusedConv",
    "dense": "Gemm MatMul MatMulInteger QLinearMatMul Einsum FusedMatMul MatMulNBits",
    "pooling": """
        MaxPool AveragePool LpPool GlobalAveragePool GlobalMaxPool GlobalLpPool MaxRoiPool RoiAlign
        MaxUnpool
    """,
    "recurrent": "LSTM GRU RNN LinearAttention",
    "embedding": "EmbedLayerNormalization",
    "attention": "Attention MultiHeadAttention GroupQueryAttention",
    "activation": """
        Relu LeakyRelu PRelu Elu Selu Celu Gelu FastGelu QuickGelu Mish Swish SwiGLU ThresholdedRelu
        Sigmoid HardSigmoid HardSwish Tanh Softmax LogSoftmax Hardmax Softplus Softsign Shrink Clip
    """,
    "normalization": """
        BatchNormalization LayerNormalization GroupNormalization InstanceNormalization
        RMSNormalization LpNormalization MeanVarianceNormalization LRN SimplifiedLayerNormalization
        SkipLayerNormalization
    """,
    "noise": """
        Dropout Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform RandomUniformLike
    """,
    "shaping": """
        Reshape Flatten Transpose Squeeze Unsqueeze Expand Tile Pad CenterCropPad Slice Split Shape
        Size Gather GatherElements GatherND ScatterElements ScatterND DepthToSpace SpaceToDepth
        Resize Upsample Col2Im Identity Cast CastLike Compress ReverseSequence SplitToSequence
        SequenceAt
    """,
    "merge": """
        Add Sub Mul Div Max Min Mean Sum Concat Pow And Or Xor Where BitwiseAnd BitwiseOr BitwiseXor
        ConcatFromSequence SequenceConstruct SequenceInsert
    """,
    "constant": "Constant",
}
SCALING = frozenset(
    ("Mul", "Div", "Pow", "Sub", "Min", "Max", "Clip", "Where", "Mod", "Equal", "Greater", "Less")
)
KIND_OF_OP = kinds_by_name(_OPS_BY_KIND)


def kind_of(node: NodeProto, parameters: Sequence[str], arguments: Sequence[str]) -> str:
    """Return the kind of a node, one of `kerascope.viz.kinds.KINDS`.

    Parameters
    ----------
    node : NodeProto
    parameters, arguments : sequence of str
        The names of the node's inputs: `parameters` are arrays of the file, `arguments` are outputs
        of other nodes.

    Examples
    --------
    >>> product = onnx.helper.make_node("MatMul", ["x", "weight"], ["y"])
    >>> kind_of(product, ["weight"], ["x"]), kind_of(product, [], ["x", "weight"])
    ('dense', 'merge')
    """
    kind = KIND_OF_OP.get(node.op_type, "function")
    if not arguments and kind != "noise":
        return "constant"  # its result does not depend on the inputs
    if kind == "dense" and not parameters:
        return "merge"
    if kind == "merge" and len(arguments) < 2:
        return "function"
    if node.op_type == "Gather" and parameters and node.input[0] in parameters:
        return "embedding"
    return kind


# --- settings -------------------------------------------------------------------------------------

_WORDS = {
    "kernel_shape": "kernel",
    "strides": "stride",
    "dilations": "dilation",
    "hidden_size": "units",
    "auto_pad": "padding",
}
# The first settings to show, and defaults that ONNX's schemas only state in their text.
_TEXT_DEFAULTS: dict[str, Setting] = {
    "kernel_shape": "", "strides": 1, "pads": 0, "dilations": 1, "hidden_size": "",
}  # fmt: skip
_SIZES = ("kernel_shape", "strides", "dilations", "pads")  # one number where all are equal


def settings_of(node: NodeProto, opset: int) -> dict[str, Setting]:
    """Return the settings of a node that differ from the defaults, as they are shown in its box.

    Parameters
    ----------
    node : NodeProto
    opset : int
        The opset version of the node's domain.

    Examples
    --------
    >>> attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 1, 0, 1], "group": 1}
    >>> settings_of(onnx.helper.make_node("Conv", ["x", "w"], ["y"], **attributes), 17)
    {'kernel': '3x3', 'stride': 2, 'pads': '0, 1, 0, 1'}
    """
    settings: dict[str, Setting] = {}
    defaults = _defaults(node, opset)
    for attribute in sorted(node.attribute, key=_importance):
        if attribute.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS):
            continue
        value = _in_words(attribute)
        if value != defaults.get(attribute.name):
            settings[_WORDS.get(attribute.name, attribute.name)] = value
    return settings


def _importance(attribute: AttributeProto) -> tuple[int, str]:
    known = attribute.name in _TEXT_DEFAULTS
    return [*_TEXT_DEFAULTS].index(attribute.name) if known else len(_TEXT_DEFAULTS), attribute.name


def _defaults(node: NodeProto, opset: int) -> dict[str, Setting]:
    """Return the default values of an operator's attributes, by name."""
    schema = schema_of(node, opset)
    if schema is None:
        return {}
    declared = {
        name: _in_words(one.default_value)
        for name, one in schema.attributes.items()
        if one.default_value.type
    }
    return {**{name: value for name, value in _TEXT_DEFAULTS.items() if value != ""}, **declared}


def schema_of(node: NodeProto, opset: int) -> onnx.defs.OpSchema | None:
    """Return ONNX's schema of a node's operator, or None for an operator unknown to ONNX."""
    try:
        return onnx.defs.get_schema(node.op_type, opset, node.domain)
    except onnx.defs.SchemaError:
        return None


def _in_words(attribute: AttributeProto) -> Setting:
    if attribute.ref_attr_name:
        return f"{attribute.ref_attr_name} of the function"
    value: Any = onnx.helper.get_attribute_value(attribute)
    if attribute.name in _SIZES and isinstance(value, Iterable):
        sizes = [int(size) for size in value]
        if attribute.name == "kernel_shape":
            return "x".join(map(str, sizes))
        if len(set(sizes)) == 1:
            return sizes[0]
    return in_words(value)


def in_words(value: Any) -> Setting:
    """Return an attribute value or a small constant as a number or short text.

    Examples
    --------
    >>> in_words([1, -1]), in_words(b"SAME_UPPER"), in_words(np.float32(0.1))
    ('1, -1', 'SAME_UPPER', 0.1)
    """
    if isinstance(value, TensorProto):
        if is_external(value) or np.prod(value.dims) > MOST_NUMBERS:
            return f"{dtype_of(value.data_type)} {tuple(value.dims)}"
        return in_words(numpy_helper.to_array(value))
    if isinstance(value, np.ndarray):
        return in_words(value.tolist())
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")[:MOST_SIGNS]
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float | np.floating):
        return float(f"{float(value):.6g}")  # rounded to the digits of a float32
    if isinstance(value, Sequence):
        text = ", ".join(str(in_words(one)) for one in value)
        return text if len(text) <= MOST_SIGNS else f"{text[: MOST_SIGNS - 2]} …"
    return re.sub(r"\s+", " ", str(value)).strip()[:MOST_SIGNS]


# --- constants ------------------------------------------------------------------------------------


def constant_of(node: NodeProto) -> TensorProto | None:
    """Return the array of a node `Constant`, or None for another node or type of value."""
    if node.op_type != "Constant" or node.domain not in ("", "ai.onnx") or not node.attribute:
        return None
    (attribute, *_) = node.attribute
    if attribute.name == "value":
        return attribute.t
    dtypes = {"value_int": "i8", "value_ints": "i8", "value_float": "f4", "value_floats": "f4"}
    if attribute.name not in dtypes:
        return None
    value = onnx.helper.get_attribute_value(attribute)
    return numpy_helper.from_array(np.asarray(value, dtypes[attribute.name]))


def is_small(tensor: TensorProto) -> bool:
    """Return whether an array of the file is shown as a setting: a scalar, or a few integers.

    Examples
    --------
    >>> is_small(numpy_helper.from_array(np.array([0, 2, 1])))
    True
    >>> is_small(numpy_helper.from_array(np.zeros(2, "float32")))  # weights, perhaps
    False
    """
    if is_external(tensor) or tensor.data_type == TensorProto.STRING:
        return False
    whole = (TensorProto.INT64, TensorProto.INT32, TensorProto.BOOL)
    is_list = len(tensor.dims) == 1 and tensor.dims[0] <= MOST_NUMBERS
    return not tensor.dims or (is_list and tensor.data_type in whole)


def is_external(tensor: TensorProto) -> bool:
    """Return whether the numbers of an array are in another file and have not been loaded."""
    return tensor.data_location == TensorProto.EXTERNAL


def dtype_of(data_type: int) -> str:
    """Return the name of an ONNX data type.

    Examples
    --------
    >>> dtype_of(TensorProto.FLOAT), dtype_of(TensorProto.BFLOAT16), dtype_of(0)
    ('float32', 'bfloat16', '')
    """
    if data_type in (TensorProto.UNDEFINED, TensorProto.STRING):
        return "" if data_type == TensorProto.UNDEFINED else "string"
    try:
        return onnx.helper.tensor_dtype_to_np_dtype(data_type).name
    except KeyError:  # a type of a later ONNX
        return f"type {data_type}"


# --- names ----------------------------------------------------------------------------------------

_LAST_WORD = re.compile(r"(?:^|[./])([A-Za-z][A-Za-z_]*\d?)$")


def role_of(node: NodeProto, place: int, opset: int, name: str) -> str:
    """Return the role of an array for a node, such as "weight".

    If the array's name in the file has a dot, this is the last word of the name, otherwise the name
    of the input in ONNX's schema of the operator. Without a schema, it is "input 0" and so on.

    Examples
    --------
    >>> convolution = onnx.helper.make_node("Conv", ["x", "onnx::Conv_64"], ["y"])
    >>> role_of(convolution, 1, 17, "onnx::Conv_64"), role_of(convolution, 1, 17, "4.c1.weight")
    ('W', 'weight')
    """
    last_word = _LAST_WORD.search(name)
    if last_word and "." in name:
        return last_word[1]
    schema = schema_of(node, opset)
    formal = schema.inputs[place : place + 1] if schema is not None else []
    if not formal or formal[0].option == onnx.defs.OpSchema.FormalParameterOption.Variadic:
        return f"input {place}"
    return str(formal[0].name)


_TRACE_LINE = re.compile(r'File "(.+?)", line (\d+), in (\S+)')


def line_of(node: NodeProto) -> tuple[str, int, str] | None:
    """Return the line of the user's code that made a node, or None if the file lacks it."""
    for entry in node.metadata_props:
        if entry.key == "pkg.torch.onnx.stack_trace":
            lines = _TRACE_LINE.findall(entry.value)
            own = [line for line in lines if "site-packages" not in line[0]] or lines
            return (own[-1][0], int(own[-1][1]), own[-1][2]) if own else None
    return None


def classes_of(node: NodeProto) -> list[str]:
    """Return the classes of the modules around a node, the outermost first. Empty if unknown.

    Examples
    --------
    >>> node = onnx.helper.make_node("Relu", ["x"], ["y"])
    >>> entry = node.metadata_props.add(key="pkg.torch.onnx.class_hierarchy")
    >>> entry.value = "['__main__.Net', 'torch.nn.modules.activation.ReLU', 'aten.relu.default']"
    >>> classes_of(node)
    ['Net', 'ReLU']
    """
    for entry in node.metadata_props:
        if entry.key == "pkg.torch.onnx.class_hierarchy":
            classes = re.findall(r"'([^']*)'", entry.value)[:-1]
            return [one.rpartition(".")[2] for one in classes]
    return []


def path_of(node: NodeProto) -> str:
    """Return the name of a node after the names of its modules, separated by "/".

    Examples
    --------
    >>> path_of(onnx.helper.make_node("Relu", ["x"], ["y"], name="/block/relu/Relu"))
    'block/relu/Relu'
    """
    for entry in node.metadata_props:
        if entry.key == "pkg.torch.onnx.name_scopes":
            scopes = re.findall(r"'([^']*)'", entry.value)[:-1]
            modules = _short(one for one in scopes if one and not one.startswith("_empty"))
            return "/".join([*modules, node.name.removeprefix("node_")])
    return node.name.strip("/")


def _short(modules: Iterable[str]) -> list[str]:
    """Return the names of modules, each without the prefix of the enclosing module."""
    short, around = [], ""
    for module in modules:
        short.append(module.removeprefix(f"{around}.") if around else module)
        around = module
    return short
