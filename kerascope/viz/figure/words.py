"""The texts in a box of a figure: the usual name of the layer, and its size."""

from __future__ import annotations

from kerascope.trace.records import counted
from kerascope.viz.figure.reading import Part, class_of, has_own_name, sides_of, spaced

_KNOWN = {
    "LayerNormalization": "layer norm",
    "BatchNormalization": "batch norm",
    "RMSNormalization": "RMS norm",
    "GroupNormalization": "group norm",
    "Concatenate": "concat",
    "Attention": "attention",
    "AdditiveAttention": "additive attention",
    "DepthwiseConv2D": "depthwise conv",
    "SeparableConv2D": "separable conv",
}


def words_of(part: Part, short: bool = False) -> tuple[str, str]:
    """Return the texts of a part's box: the layer's usual name, and its settings or size.

    Parameters
    ----------
    part : Part
    short : bool
        Whether to use fewer words, for a narrow page.
    """
    name = class_of(part.node)
    channels = str(sides_of(part.shape)[1]) if part.shape else ""
    if part.kind in ("convolution", "upsampling") and "Conv" in name:
        return _convolution(part, name, channels)
    if part.kind == "pooling":
        kind = "max pool" if "Max" in name else "avg pool"
        kind = f"global {kind}" if name.startswith("Global") else kind
        return " ".join(filter(None, (part.window, kind))) + _stride(part), ""
    if part.kind == "dense" and name == "Dense":
        return _named(part, "dense"), ", ".join(filter(None, (channels, part.activation)))
    if part.kind == "attention" and name == "MultiHeadAttention":
        heads = next((s for s in part.settings if "head" in s), "")
        return ("self-attention" if _attends_itself(part) else "cross-attention"), heads
    if part.kind == "merge":
        return _joining(part, name), ""
    if part.kind == "normalization":  # a name such as conv2_block1_0_bn adds nothing
        return _KNOWN.get(name) or spaced(name), part.activation
    if part.kind == "activation" and part.activation:
        named = has_own_name(part.node) and part.activation not in part.node.label
        return (_named(part, ""), part.activation) if named else (part.activation, "")
    if part.kind == "input":
        return _named(part, "input"), ""
    if part.kind == "recurrent":
        return _named(part, name), f"{name} {channels}" if has_own_name(part.node) else channels
    if part.kind == "model":
        return part.node.label.replace("_", " "), counted(part.count, "layer")
    return _named(part, _KNOWN.get(name) or spaced(name)), ""


def _convolution(part: Part, name: str, channels: str) -> tuple[str, str]:
    kind = _KNOWN.get(name, "up-conv" if "Transpose" in name else "conv")
    words = " ".join(filter(None, (part.window, kind)))
    return f"{words}, {channels}{_stride(part)}", ""


def _stride(part: Part) -> str:
    """Return a stride as text, in the notation of papers: ", /2"."""
    found = next((s for s in part.settings if s.startswith("stride")), "")
    stride = found.removeprefix("strides").removeprefix("stride").strip()
    return f", /{stride}" if stride and part.kind != "pooling" else ""


def _joining(part: Part, name: str) -> str:
    words = _KNOWN.get(name) or spaced(name.removeprefix("Operation: "))
    norms = any("Normalization" in one for one in part.classes)
    return f"{words} & norm" if norms and "BatchNormalization" not in part.classes else words


def _attends_itself(part: Part) -> bool:
    shapes = str(part.node.attrs.get("input_shapes", "")).split("; ")
    return len(set(shapes)) == 1 and part.sources_count == 1


def _named(part: Part, otherwise: str) -> str:
    """Return the name of a part's layer if the user chose it, otherwise the text `otherwise`."""
    return part.node.label.replace("_", " ") if has_own_name(part.node) else otherwise
