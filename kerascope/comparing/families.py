"""Common names for the calls of all libraries: families of operations, settings, roles of weights.

`Conv2D`, `torch.nn.Conv2d`, `F.conv2d` and ONNX's `Conv` are one family. `epsilon` and `eps` are
one setting. `kernel` and `weight` are one role of an array.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from kerascope.foreign.records import Call
from kerascope.viz.kinds import KIND_OF_CLASS

Setting = str | int | float | bool

# Patterns for the names of operations, in lower case without punctuation. The first match counts.
_FAMILIES = tuple(
    (family, re.compile(pattern))
    for family, pattern in (
        ("input", "input(layer)?|placeholder"),
        ("constant", "constant|parameter|initializer"),
        ("attention", ".*attention.*"),
        ("normalization", ".*norm(alization)?[123]?d?"),
        ("pooling", ".*pool(ing)?([123]d)?|(reduce)?mean"),
        (
            "convolution",
            "(q?linear)?(depthwise|separable|lazy)*conv(olution)?(general(dilated)?)?"
            "(transpose)?([123]d)?(transpose)?",
        ),
        (
            "dense",
            "dense(general)?|linear|einsumdense|gemm|addmm|matmul|mm|bmm|dotgeneral|baddbmm|"
            "dot|tensordot|einsum|lazylinear|nondynamicallyquantizablelinear|outdense",
        ),
        ("recurrent", "(bidirectional)?(simple|cudnn|conv)?(rnn|lstm|gru)(cell|2d)*"),
        ("embedding", "embedding(bag)?|gather|take"),
        (
            "noise",
            "(feature|alpha|gaussian|spatial)*dropout[123]?d?|gaussiannoise|identity|detach|"
            "contiguous|stopgradient|cast|to|asarray|clone|copy|activityregularization",
        ),
        (
            "activation",
            "activation|relu6?|leakyrelu|p?relu|r?relu|c?elu|selu|gelu|quickgelu|silu|"
            "swish|mish|hard(tanh|sigmoid|swish|silu)|logsigmoid|logsoftmax|softmax2?d?|"
            "softmin|softplus|softsign|sigmoid|tanh|glu|threshold(ed)?relu|erf|"
            "hardsigmoid|exponential",
        ),
        (
            "merging",
            "add|subtract|sub|multiply|mul|divide|div|truedivide|average|maximum|minimum|"
            "sum|cat|concat(enate)?|stack|merge|pow|power|neg|exp|sqrt|rsqrt|i(add|mul|sub)"
            "|r?(add|mul|sub|truediv)",
        ),
        (
            "shaping",
            "flatten|reshape|view|permute|transpose|t|squeeze|unsqueeze|expand(dims)?|"
            "repeatvector|masking|upsampling.*|(constant|zero)?pad(ding)?([123]d)?|"
            "cropping.*|getitem|slice|split|chunk|unbind|movea?xis|swapaxes|resiz.*|"
            "interpolate|broadcastto|tile",
        ),
    )
)
# Kinds of boxes that determine a family if the name of the operation does not.
_FAMILY_OF_KIND = {"merge": "merging", "model": "other", "layer": "other", "wrapper": "other"}
KERAS = ("kerascope", "keras", "tape")  # libraries that lay out arrays as Keras does
WITH_ACTIVATION = ("dense", "convolution")

# The name of a setting in a library -> its common name.
_SETTINGS = {
    "alpha": "negative_slope", "approximate": "approximate", "auto_pad": "padding",
    "kernel": "kernel_size",
    "border_mode": "padding", "ceil_mode": "ceil_mode", "dilation": "dilation_rate",
    "dilations": "dilation_rate", "eps": "epsilon", "group": "groups", "kernel_shape":
    "kernel_size", "n_head": "num_heads", "p": "rate", "pads": "padding", "pool_size":
    "kernel_size", "stride": "strides", "subsample": "strides", "variance_epsilon": "epsilon",
    "layer_norm_eps": "epsilon", "causal": "is_causal", "use_causal_mask": "is_causal",
}  # fmt: skip
# Settings that are comparable between libraries. In one library all settings are.
SHARED = frozenset((
    "activation", "approximate", "ceil_mode", "dilation_rate", "epsilon", "groups", "is_causal",
    "kernel_size", "mask", "negative_slope", "num_heads", "padding", "recurrent_activation",
    "strides", "training",
))  # fmt: skip
# Defaults of settings, because only other values are recorded.
_WINDOW: dict[str, Setting] = {"strides": 1, "padding": 0, "dilation_rate": 1, "groups": 1}
_DEFAULTS: dict[str, dict[str, dict[str, Setting]]] = {
    "torch": {"normalization": {"epsilon": 1e-5}},
    "onnx": {"normalization": {"epsilon": 1e-5}},
    "keras": {"normalization": {"epsilon": 1e-3}},
}
_WITH_EPSILON = re.compile(".*(batch|layer|group|instance)_?norm")
_OF_POOLING: dict[str, Setting] = {"padding": 0}
_OF_ALL: dict[str, Setting] = {
    **{"approximate": False, "mask": False, "ceil_mode": False, "training": False},
}
_NOTHING = ("none", "linear", "identity", "")

# The role of an array, by the last part of its name.
STATISTICS = ("moving_mean", "moving_variance")  # in some libraries they are not parameters
_ROLES = {
    "weight": "kernel", "w": "kernel", "gamma": "scale", "beta": "bias", "b": "bias", "c": "bias",
    "running_mean": "moving_mean", "running_var": "moving_variance",
    "moving_var": "moving_variance", "embeddings": "kernel", "depthwise_kernel": "kernel",
    "weight_ih_l0": "kernel", "weight_hh_l0": "recurrent_kernel", "bias_ih_l0": "bias",
    "input_mean": "moving_mean", "input_var": "moving_variance",
}  # fmt: skip


def plain_name(op: str) -> str:
    """Return the name of an operation in lower case, without module and punctuation.

    Examples
    --------
    >>> [plain_name(op) for op in ("Conv2D", "conv2d", "aten::conv2d", "jax.lax.dot_general")]
    ['conv2d', 'conv2d', 'conv2d', 'dotgeneral']
    """
    return re.sub(r"[^a-z0-9]", "", re.split(r"[.:]", op)[-1].lower())


def family_of(call: Call) -> str:
    """Return the family of a call's operation, such as "convolution", "dense" or "other".

    Examples
    --------
    >>> [family_of(Call("c", "c", op, "function", (), ())) for op in ("Conv", "addmm", "Mine")]
    ['convolution', 'dense', 'other']
    """
    return _family(call.op, call.kind)


@lru_cache(4096)
def _family(op: str, kind: str) -> str:
    if kind in ("input", "constant"):
        return kind
    kind_here = KIND_OF_CLASS.get(op, "")
    for known in (kind_here, *(name for name, _ in _FAMILIES if name == kind)):
        if known and known not in ("function", "merge", "wrapper", "layer", "model", "noise"):
            return _FAMILY_OF_KIND.get(known, known)
    name = plain_name(op)
    for family, pattern in _FAMILIES:
        if pattern.fullmatch(name):
            return family
    return _FAMILY_OF_KIND.get(kind, kind if kind and kind != "function" else "other")


def role_of(name: str, axes: int = 2) -> str:
    """Return the role of an array in its layer, such as "kernel", "bias" or "moving_mean".

    Examples
    --------
    >>> [role_of(name) for name in ("weight", "dense_1/kernel", "running_var", "bias")]
    ['kernel', 'kernel', 'moving_variance', 'bias']
    >>> role_of("weight", axes=1)
    'scale'
    """
    last = re.split(r"[/.]", name)[-1].lower()
    role = _ROLES.get(last, last)
    if role == "kernel" and axes == 1:
        return "scale"
    return "kernel" if last == "b" and axes > 1 else role  # the second operand of a matrix product


def lays_inputs_first(library: str, call: Call) -> bool | None:
    """Return whether the axis of inputs comes before that of outputs in a layer's weights.

    Return None if this is unknown.

    Examples
    --------
    >>> gemm = Call("g", "g", "Gemm", "dense", (), (), settings={"transB": 1})
    >>> lays_inputs_first("onnx", gemm), lays_inputs_first("keras", gemm)
    (False, True)
    """
    if library in KERAS:
        return True
    if library == "torch":
        return False
    if library != "onnx" or family_of(call) not in WITH_ACTIVATION:
        return None
    is_turned = family_of(call) == "convolution" or call.settings.get("transB") in (1, "1")
    return not is_turned


def are_weights_alike(a: tuple[str, Call], b: tuple[str, Call]) -> bool | None:
    """Return whether the weights of two layers have the same order of axes; None if unknown."""
    first, second = lays_inputs_first(*a), lays_inputs_first(*b)
    if first is None or second is None:
        return True if a[0] == b[0] and a[0] != "onnx" else None
    return first == second


def activation_of(settings: Mapping[str, Setting]) -> str:
    """Return the name of a layer's own activation, or "" without an activation."""
    name = str(settings.get("activation", "")).lower()
    return "" if name in _NOTHING else name


def may_be_gelu(calls: Sequence[Call]) -> bool:
    """Return whether a layer may end in gelu: it is named so, or its activation is unknown.

    Examples
    --------
    >>> def layer(op, **settings):
    ...     return [Call("c", "c", op, "layer", (), (), settings=settings)]
    >>> [may_be_gelu(one) for one in (layer("gelu"), layer("Dense", activation="mine"))]
    [True, True]
    >>> [may_be_gelu(one) for one in (layer("ReLU"), layer("Dense", activation="relu"))]
    [False, False]
    """
    last = calls[-1]
    name = activation_of(last.settings)
    if not name:
        family = family_of(last)
        if family in ("other", "merging"):  # a Lambda, or the last product of a gelu in ONNX
            return True
        name = last.op if family == "activation" else ""
    name = plain_name(name)
    return bool(name) and ("gelu" in name or _family(name, "function") != "activation")


def canonical(
    settings: Mapping[str, Setting], op: str = ""
) -> dict[str, Setting | tuple[float, ...]]:
    """Return settings of any library under the names and values that all libraries share.

    Examples
    --------
    >>> canonical({"pool_size": "(2, 2)", "eps": 1e-5, "padding": "VALID", "approximate": "none"})
    {'kernel_size': 2, 'epsilon': 1e-05, 'padding': 0, 'approximate': False}
    """
    found = {_SETTINGS.get(name, name): _value(value) for name, value in settings.items()}
    if found.get("padding") in ("valid", "notset"):
        found["padding"] = 0
    if "approximate" in found:
        found["approximate"] = found["approximate"] in (True, "tanh")
    if found.get("activation") in _NOTHING:
        found["activation"] = "none"
    return found


def default_settings(library: str, call: Call) -> dict[str, Setting]:
    """Return the default settings that a library has for the operation of a call.

    Examples
    --------
    >>> call = Call("norm", "norm", "LayerNorm", "normalization", (), ())
    >>> default_settings("torch", call)["epsilon"], default_settings("keras", call)["epsilon"]
    (1e-05, 0.001)
    """
    family = family_of(call)
    if family == "normalization" and not _WITH_EPSILON.match(plain_name(call.op)):
        family = "other"  # the norm of a vector, or an epsilon that depends on the type
    shared = {"convolution": _WINDOW, "pooling": _OF_POOLING}.get(family, {})
    return {**_OF_ALL, **shared, **_DEFAULTS.get(library, {}).get(family, {})}


def _value(value: Setting) -> Setting | tuple[float, ...]:
    """Return a setting as a number, a tuple of numbers, or a word in lower case.

    A tuple of equal numbers becomes one number.
    """
    if not isinstance(value, str):
        return value
    text = value.strip().lower()
    if not text or not re.fullmatch(r"[\d\s,x()\[\].-]+", text) or not re.search(r"\d", text):
        words: dict[str, Setting] = {"true": True, "false": False, "same_upper": "same"}
        return words.get(text, text)
    if re.search(r"[()\[\]].*[()\[\]].*[()\[\]]", text.strip("()[]")):
        return text
    numbers: list[float] = [
        float(n) if "." in n else int(n) for n in re.findall(r"-?\d+\.?\d*", text)
    ]
    return numbers[0] if len(set(numbers)) == 1 else tuple(numbers)
