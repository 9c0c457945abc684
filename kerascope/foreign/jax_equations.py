"""The kind, the settings, the scopes and the source line of a single equation of JAX.

`jax_bodies.py` uses them while it reads a function.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from kerascope.foreign.records import Line, Setting
from kerascope.user_frames import USER, owner_of_file
from kerascope.viz.kinds import kinds_by_name

MOST_SIGNS = 60  # characters in the text of a setting

# --- kinds ----------------------------------------------------------------------------------------

# By the names of primitives and of JAX functions.
_OPS_BY_KIND = {
    "dense": "dot_general ragged_dot",
    "convolution": "conv_general_dilated",
    "pooling": """
        reduce_window reduce_window_max reduce_window_min reduce_window_sum select_and_gather_add
    """,
    "activation": """
        relu relu6 leaky_relu elu selu celu gelu silu swish sigmoid logistic log_sigmoid tanh
        hard_tanh softplus soft_sign softmax log_softmax glu mish squareplus hard_sigmoid hard_swish
    """,
    "attention": "dot_product_attention _dot_product_attention",
    "noise": """
        random_bits random_seed random_split random_fold_in random_wrap random_unwrap threefry2x32
        _normal _uniform _bernoulli _randint _gumbel _categorical _truncated_normal
    """,
    "shaping": """
        reshape transpose broadcast_in_dim squeeze expand_dims pad slice dynamic_slice
        dynamic_update_slice gather scatter scatter_add rev convert_element_type copy copy_p
        bitcast_convert_type tile split _take _one_hot
    """,
    "merge": """
        add sub mul div add_any max min pow atan2 concatenate select_n and or xor rem nextafter
        eq ne lt le gt ge
    """,
    "constant": "iota empty",
}
KIND_OF_OP = kinds_by_name(_OPS_BY_KIND)
# Ops that change the layout or the type of an array, but none of its numbers.
VIEWS = frozenset(
    ("reshape", "transpose", "broadcast_in_dim", "squeeze", "expand_dims", "convert_element_type",
     "copy", "copy_p", "stop_gradient", "pvary")
)  # fmt: skip


def kind_of(op: str, parameters: int, arguments: int) -> str:
    """Return the kind of an equation, one of `kerascope.viz.kinds.KINDS`.

    Parameters
    ----------
    op : str
        Name of the primitive, or of the JAX function that consists of this equation alone.
    parameters, arguments : int
        Number of inputs that are arrays of the model, and number of other inputs.

    Examples
    --------
    >>> kind_of("dot_general", 1, 1), kind_of("dot_general", 0, 2), kind_of("add", 1, 1)
    ('dense', 'merge', 'function')
    """
    kind = KIND_OF_OP.get(op, "function")
    if not arguments and kind != "noise":
        return "constant"
    if kind in ("dense", "convolution") and not parameters:
        return "merge"
    if kind == "merge" and arguments < 2:
        return "function"
    return "embedding" if op in ("gather", "_take") and parameters else kind


# --- settings -------------------------------------------------------------------------------------

_WORDS = {
    "window_strides": "stride",
    "window_dimensions": "window",
    "rhs_dilation": "dilation",
    "feature_group_count": "groups",
    "permutation": "axes",
    "new_sizes": "shape",
    "new_dtype": "to",
    "broadcast_dimensions": "along",
    "dimension_numbers": "",
}
# Parameters that are not shown: how to compute, functions, or what the shapes already show.
_HIDDEN_PARAMETERS = frozenset((
    "accuracy", "algorithm", "batch_group_count", "dtype", "fill_value", "indices_are_sorted",
    "lhs_dilation", "base_dilation", "window_dilation", "mode", "new_sizes", "out_dtype",
    "out_sharding", "precision", "preferred_element_type", "sharding", "shape", "unique_indices",
    "unroll", "weak_type", "limit_indices",
))  # fmt: skip
_SIGNS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "max": "max", "min": "min", "pow": "**",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "rem": "%",
    "add_any": "+", "and": "&", "or": "|", "xor": "^",
}  # fmt: skip


def settings_of(op: str, params: Mapping[str, Any], operands: Sequence[str]) -> dict[str, Setting]:
    """Return the settings of an equation as they are shown in its box.

    Parameters
    ----------
    op : str
    params : mapping
        The parameters of the primitive (JAX's term for its settings).
    operands : sequence of str
        The inputs: a number as text, or "" for an array.

    Examples
    --------
    >>> settings_of("div", {}, ["", "8.0"]), settings_of("sub", {}, ["1.0", ""])
    ({'': 'x / 8.0'}, {'': '1.0 - x'})
    >>> settings_of("reduce_sum", {"axes": (1,), "out_sharding": None}, [""])
    {'axes': '1'}
    """
    settings: dict[str, Setting] = {}
    if any(operands):
        words = [operand or "x" for operand in operands]
        sign = _SIGNS.get(op)
        settings[""] = f" {sign} ".join(words) if sign else ", ".join(words)
    for name, value in params.items():
        setting = _plain_setting(name, value)
        if setting is not None and name not in _HIDDEN_PARAMETERS:
            settings[_WORDS.get(name, name)] = setting
    return settings


def _plain_setting(name: str, value: Any) -> Setting | None:
    """Return a parameter of a primitive as a number or text, or None if the box omits it."""
    if name == "dimension_numbers":
        return _contracted(value)
    if isinstance(value, np.dtype) or hasattr(value, "itemsize"):
        return np.dtype(value).name
    if value is None or value is False or not _is_plain(value):
        return None
    if isinstance(value, (bool, int, str)):
        return value if not isinstance(value, str) else value[:MOST_SIGNS]
    if isinstance(value, (float, np.number)):
        return number(value)
    flat = np.asarray(value)
    if not flat.size or (name.endswith(("strides", "dilation")) and (flat == 1).all()):
        return None
    text = re.sub(r"np\.\w+\((-?\w+)\)", r"\1", str(tuple(value)))
    text = text.strip("()").rstrip(",") if flat.ndim == 1 else text
    return text[:MOST_SIGNS]


def _contracted(value: Any) -> Setting | None:
    """Return the axes over which a matrix product sums, as text. For a convolution, return None."""
    if not isinstance(value, tuple) or len(value) != 2 or not isinstance(value[0], tuple):
        return None
    (left, right), (batch, _) = value
    text = f"sum over axes {_axes(left)} and {_axes(right)}"
    return f"{text}, each of {_axes(batch)}" if len(batch) else text


def _axes(axes: Sequence[int]) -> str:
    return " ".join(str(int(axis)) for axis in axes)


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(_is_plain(one) for one in value)
    return isinstance(value, (bool, int, float, str, np.number))


def number(value: Any) -> float | int | bool:
    """Return a Python number; a float is rounded to 6 digits, about as many as a float32 has.

    Examples
    --------
    >>> number(np.float32(0.1)), number(np.int32(3))
    (0.1, 3)
    """
    plain = np.asarray(value).item()
    return float(f"{plain:.6g}") if isinstance(plain, float) else plain


# --- scopes and lines -----------------------------------------------------------------------------


def scopes_of(name_stack: str) -> tuple[str, ...]:
    """Return the scopes around an equation. Scopes of a backward pass are inside `gradient`.

    Scopes that Equinox adds are omitted, because they name classes. kerascope adds scopes that name
    the attributes.

    Examples
    --------
    >>> scopes_of("MLP/Dense_0"), scopes_of("jvp(MLP)/Dense_0")
    (('MLP', 'Dense_0'), ('MLP', 'Dense_0'))
    >>> scopes_of("transpose(jvp(MLP))/Dense_0"), scopes_of("")
    (('gradient', 'MLP', 'Dense_0'), ())
    """
    parts = re.sub(r"\w+\(|\)", "", name_stack).split("/")
    inner = [part for part in parts if part and not part.startswith("eqx.")]
    return ("gradient", *inner) if "transpose(" in name_stack else tuple(inner)


def line_of(source_info: Any) -> Line | None:
    """Return the line of the user's code that made an equation, or None for an unknown line."""
    traceback = getattr(source_info, "traceback", None)
    for frame in getattr(traceback, "frames", ()):
        file = frame.file_name
        parts = PurePath(file).parts
        if "kerascope" in parts[-3:] and "foreign" in parts[-3:]:
            return None  # outer frames are the call that requested the graph
        if owner_of_file(file) == USER:
            return file, frame.line_num, frame.function_name
    return None
