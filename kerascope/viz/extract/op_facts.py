"""The attributes of a box in the op graph.

==================  ===============================================================================
`class_name`        class of the op, or of a tensor that no op computed
`detail`            the op's parameters without default values: "axis=1, keepdims=True"
`input_count`       number of inputs
`output_count`      number of outputs
`input_shapes`      shapes of the inputs, as text; several are joined by "; "
`output_shapes`     shapes of the outputs, likewise
`dtype`             type of the first output
`outputs`           which result of the graph the box computes: "output", "output 1"; "" for none
`parameters`        size of a variable of floats; 0 for all other boxes
==================  ===============================================================================
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from kerascope.backend import Apply, Constant, Placeholder, Tensor, Variable
from kerascope.backend.dtypes import is_float
from kerascope.backend.ops.scan import Scan
from kerascope.engine.node_ids import clean
from kerascope.trace.records import counted
from kerascope.viz.extract.layers import shapes_text
from kerascope.viz.extract.op_frames import Frame
from kerascope.viz.graph import Attribute

# Not shown: seeds differ in every process, so pictures of the same script would differ.
_RANDOM = ("seed",)
# Larger constants are shown by their shape.
MOST_NUMBERS = 6
LONGEST_PARAMETER = 40


def op_attributes(apply: Apply) -> dict[str, Attribute]:
    """Return the attributes of the box of one call of an op."""
    return {
        "class_name": type(apply.op).__name__,
        "detail": op_detail(apply),
        "input_count": len(apply.inputs),
        "output_count": len(apply.outputs),
        "input_shapes": shapes_text(x.shape for x in apply.inputs),
        "output_shapes": shapes_text(y.shape for y in apply.outputs),
        "dtype": apply.outputs[0].dtype,
        "outputs": "",
        "parameters": 0,
    }


def leaf_attributes(tensor: Tensor) -> dict[str, Attribute]:
    """Return the attributes of the box of a placeholder, variable or constant."""
    is_weight = isinstance(tensor, Variable) and is_float(tensor.dtype)
    return {
        "class_name": type(tensor).__name__,
        "detail": "",
        "input_count": 0,
        "output_count": 1,
        "input_shapes": "",
        "output_shapes": shapes_text([tensor.shape]),
        "dtype": tensor.dtype,
        "outputs": "",
        "parameters": prod(int(n or 0) for n in tensor.shape) if is_weight else 0,
    }


def frame_attributes(frame: Frame) -> dict[str, Attribute]:
    """Return the attributes of a frame around ops."""
    layer = frame.key.layer
    attrs: dict[str, Attribute] = {
        "kind": "layer" if layer is not None else "scope",
        "layer": clean(layer.name) if layer is not None else "",
        "class_name": type(layer).__name__ if layer is not None else "",
        "call": frame.call,
        "calls": frame.calls,
    }
    if frame.parts > 1:
        attrs["detail"] = f"part {frame.part + 1} of {frame.parts}"
    return attrs


def loop_attributes(apply: Apply) -> dict[str, Attribute]:
    """Return the attributes of the frame of a loop."""
    attrs = op_attributes(apply)
    return {**attrs, "kind": "loop", "layer": "", "call": 0, "calls": 1}


def kind_of_leaf(tensor: Tensor, other: str = "placeholder") -> str:
    """Return the kind of the box of a tensor that no op computed.

    Parameters
    ----------
    tensor : Tensor
    other : str
        The kind to return for a tensor that is neither a variable, constant nor placeholder.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> kind_of_leaf(Constant(1.0)), kind_of_leaf(K.placeholder(shape=(3,)))
    ('constant', 'placeholder')
    """
    kinds = {Constant: "constant", Variable: "variable", Placeholder: "placeholder"}
    return next((kind for cls, kind in kinds.items() if isinstance(tensor, cls)), other)


def leaf_label(tensor: Tensor) -> str:
    """Return the name of a tensor that no op computed, or the value of a small constant.

    Examples
    --------
    >>> leaf_label(Constant([1.5, 2.0])), leaf_label(Constant(np.zeros((4, 5))))
    ('[1.5, 2]', '(4, 5)')
    """
    if not isinstance(tensor, Constant):
        return clean(tensor.name)
    if tensor.value.size > MOST_NUMBERS:
        return shapes_text([tensor.shape])
    return _value_text(tensor.value.tolist())


def own_name(tensor: Tensor) -> str:
    """Return the name of a tensor, or "" if it is a constant named only after its value."""
    name = tensor.name
    is_own = not isinstance(tensor, Constant) or (name[:1].isalpha() and "[" not in name)
    return name if is_own and name not in ("True", "False", "nan", "inf") else ""


def op_detail(apply: Apply) -> str:
    """Return the parameters of an op as short text, without defaults and empty values.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder(shape=(2, 3))
    >>> op_detail(K.sum(x, axis=1).owner), op_detail(K.exp(x).owner)
    ('axes=(1,)', '')
    """
    op = apply.op
    if isinstance(op, Scan):
        inner = op.inner
        words = [
            f"{counted(len(inner.applies), 'op')} a step",
            counted(len(inner.sequences), "sequence"),
            counted(len(inner.states), "state"),
            *(["backwards"] if op.backwards else []),
        ]
        return ", ".join(words)
    defaults = {name: getattr(type(op), name, None) for name in op.parameters}
    shown = []
    for name, value in op.parameters.items():
        is_default = (
            name in _RANDOM or value is None or value is False or _same(value, defaults[name])
        )
        if is_default or (isinstance(value, (str, tuple)) and not value):
            continue
        text = _value_text(value)
        shown.append(f"{name}={text}" if len(text) <= LONGEST_PARAMETER else f"{name}=…")
    return clean(", ".join(shown))


def leaf_of_name(apply: Apply) -> str:
    """Return the name of an op's call without its scope.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> with K.name_scope("dense_1"):
    ...     y = K.exp(K.placeholder(shape=(2,)))
    >>> y.owner.name, leaf_of_name(y.owner)
    ('dense_1/exp', 'exp')
    """
    return apply.name.removeprefix(f"{apply.scope.name}/") or apply.op.name


@lru_cache(maxsize=1024)
def _same(value: Any, default: Any) -> bool:
    return (
        type(value) is type(default) and isinstance(value, (int, float, str)) and value == default
    )


def _value_text(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, tuple) and type(value).__repr__ is not tuple.__repr__:
        return repr(value)  # a slice, as stored by an op
    if isinstance(value, (list, tuple)):
        items = ", ".join(map(_value_text, value))
        if isinstance(value, list):
            return f"[{items}]"
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, (int, str)):
        return str(value)
    return "…" if isinstance(value, np.ndarray) else f"{type(value).__name__}"
