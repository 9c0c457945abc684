"""Determines what is one box in a picture of PyTorch modules, and the kind and settings of a box.

A module of PyTorch itself is one box, even if it has submodules. A custom module without submodules
is also one box. Other modules are frames.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from torch import Tensor, nn
from torch.nn.utils.parametrize import type_before_parametrizations

from kerascope.foreign.records import Setting
from kerascope.viz.kinds import kinds_by_name

LONGEST = 60  # characters of one setting

# --- kinds ----------------------------------------------------------------------------------------

_CLASSES = {
    "dense": "Linear Bilinear Conv1D",  # Conv1D: a dense layer in transformers
    "merge": "CosineSimilarity PairwiseDistance",
    "recurrent": "RNNBase RNNCellBase",
    "convolution": "_ConvNd",
    "normalization": "_NormBase GroupNorm LayerNorm RMSNorm LocalResponseNorm",
    "embedding": "Embedding EmbeddingBag",
    "attention": "MultiheadAttention",
    "noise": "_DropoutNd StochasticDepth DropPath",
    "pooling": "_MaxPoolNd _AvgPoolNd _LPPoolNd _MaxUnpoolNd _AdaptiveMaxPoolNd _AdaptiveAvgPoolNd",
    "shaping": """
        Flatten Unflatten Fold Unfold Upsample PixelShuffle PixelUnshuffle ChannelShuffle
        _ReflectionPadNd _ReplicationPadNd _ConstantPadNd _CircularPadNd
    """,
    "activation": """
        Threshold ReLU RReLU Hardtanh ReLU6 Sigmoid Hardsigmoid Tanh SiLU Mish Hardswish ELU CELU
        SELU GLU GELU Hardshrink LeakyReLU LogSigmoid Softplus Softshrink PReLU Softsign
        Tanhshrink Softmin Softmax Softmax2d LogSoftmax
    """,
    "loss": "_Loss",
    "function": "Identity",
}
# For classes outside PyTorch: parts of their names.
_WORDS = {
    "Norm": "normalization",
    "Attention": "attention",
    "Embedding": "embedding",
    "Dropout": "noise",
    "Conv": "convolution",
    "Pool": "pooling",
    "Activation": "activation",
    "GELU": "activation",
    "Loss": "loss",
    "Linear": "dense",
}
_FUNCTIONS = {
    "dense": "linear bilinear addmm addbmm baddbmm",
    "convolution": """
        conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution
    """,
    "pooling": """
        max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d
        adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d
        adaptive_max_pool3d lp_pool1d lp_pool2d lp_pool3d max_unpool1d max_unpool2d max_unpool3d
        max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices
    """,
    "normalization": """
        batch_norm layer_norm group_norm instance_norm rms_norm local_response_norm normalize
    """,
    "embedding": "embedding embedding_bag one_hot",
    "attention": "scaled_dot_product_attention multi_head_attention_forward",
    "noise": "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout",
    "recurrent": "lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell",
    "shaping": """
        view view_as reshape reshape_as flatten unflatten ravel squeeze unsqueeze permute transpose
        t T mT H mH movedim moveaxis swapaxes swapdims adjoint contiguous expand expand_as repeat
        tile broadcast_to repeat_interleave getitem setitem split chunk tensor_split unbind narrow
        select index_select gather take flip roll pad interpolate upsample unfold fold pixel_shuffle
        pixel_unshuffle to float half double bfloat16 int long bool type type_as detach clone
        pack_padded_sequence pad_packed_sequence rot90 diagonal as_strided
    """,
    "activation": """
        relu relu6 rrelu leaky_relu prelu elu celu selu glu gelu silu mish hardswish hardtanh
        hardsigmoid hardshrink softshrink tanhshrink softsign softplus softmin softmax log_softmax
        gumbel_softmax logsigmoid log_sigmoid sigmoid tanh threshold
    """,
    "loss": """
        cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy
        binary_cross_entropy_with_logits kl_div ctc_loss triplet_margin_loss cosine_embedding_loss
        margin_ranking_loss hinge_embedding_loss poisson_nll_loss gaussian_nll_loss
        multi_margin_loss multilabel_margin_loss soft_margin_loss
    """,
}
# Functions that merge if they read several tensors.
_MERGING = """
    add sub mul div true_divide floor_divide iadd isub imul itruediv radd rsub rmul rtruediv
    subtract multiply divide addcmul addcdiv lerp where maximum minimum max min cat concat
    concatenate stack hstack vstack dstack matmul bmm mm mv dot einsum tensordot outer kron pow
    cosine_similarity
"""


_IS_MERGING = frozenset(_MERGING.split())
_KIND_OF_CLASS = kinds_by_name(_CLASSES)
_KIND_OF_FUNCTION = kinds_by_name(_FUNCTIONS)


@lru_cache(maxsize=1024)
def kind_of_class(cls: type) -> str:
    """Return the kind of box for a module class.

    Examples
    --------
    >>> [kind_of_class(cls) for cls in (nn.ConvTranspose2d, nn.LSTM, nn.BatchNorm2d, nn.Module)]
    ['convolution', 'recurrent', 'normalization', 'layer']
    """
    for one in cls.__mro__:
        if one.__name__ in _KIND_OF_CLASS:
            return _KIND_OF_CLASS[one.__name__]
    return next((kind for word, kind in _WORDS.items() if word in cls.__name__), "layer")


def kind_of_function(name: str, inputs: int) -> str:
    """Return the kind of box for a function, from its name and its number of input tensors.

    Examples
    --------
    >>> kind_of_function("relu_", 1), kind_of_function("add", 2), kind_of_function("add", 1)
    ('activation', 'merge', 'function')
    """
    name = name.rstrip("_")
    if name in _IS_MERGING and inputs > 1:
        return "merge"
    return _KIND_OF_FUNCTION.get(name, "function")


# --- names and parts ------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def name_of_function(function: Callable[..., Any]) -> str:
    """Return the name of a PyTorch function.

    Examples
    --------
    >>> name_of_function(Tensor.__add__), name_of_function(Tensor.T.__get__)
    ('add', 'T')
    """
    name = getattr(function, "__name__", type(function).__name__)
    if name in ("__get__", "__set__"):  # the getter or setter of an attribute
        return str(getattr(getattr(function, "__self__", None), "__name__", name))
    if name.startswith("__") and name.endswith("__"):
        return name[2:-2]
    return name.removeprefix("_")


@lru_cache(maxsize=4096)
def writes_by_name(function: Callable[..., Any]) -> bool:
    """Return whether a function writes to its first argument, according to its name.

    Examples
    --------
    >>> [writes_by_name(one) for one in (Tensor.add_, Tensor.__setitem__, Tensor.__add__)]
    [True, True, False]
    """
    name = getattr(function, "__name__", "")
    if name == "__set__":
        return name_of_function(function) == "data"
    if name.startswith("__"):
        return name == "__setitem__" or (name.startswith("__i") and name[3:-2] in _OPERATORS)
    return name.endswith("_")


_IN_PLACE = "add sub mul matmul truediv floordiv mod pow lshift rshift and xor or"
_OPERATORS = frozenset(_IN_PLACE.split())
_CONTAINERS = (nn.Sequential, nn.ModuleList, nn.ModuleDict)
_HOMES = ("torch.nn.", "torch.ao.nn.")
_LISTS_OF_WEIGHTS = (nn.ParameterList, nn.ParameterDict)


def is_one_box(module: nn.Module) -> bool:
    """Return whether a module is drawn as one box, and not as a frame around its calls.

    Examples
    --------
    >>> is_one_box(nn.MultiheadAttention(4, 2)), is_one_box(nn.Sequential(nn.ReLU()))
    (True, False)
    """
    if is_of_torch(module):
        is_transformer = type(module).__module__.endswith(".transformer")
        return not is_transformer and not isinstance(module, _CONTAINERS)
    children = (child for name, child in module.named_children() if name != "parametrizations")
    return all(isinstance(child, _LISTS_OF_WEIGHTS) for child in children)


def is_of_torch(module: nn.Module) -> bool:
    """Return whether a module's class is defined by PyTorch."""
    return type_before_parametrizations(module).__module__.startswith(_HOMES)


def replaced_weights(module: nn.Module) -> list[tuple[nn.Module, str]]:
    """Return the attributes of a module that hold computed tensors in place of weights.

    The hooks of `weight_norm`, `spectral_norm` and `prune` compute such tensors before each call.
    The parameters themselves then have longer names.

    Examples
    --------
    >>> from torch.nn.utils import prune
    >>> pruned = prune.identity(nn.Linear(3, 2), "weight")
    >>> [name for _, name in replaced_weights(pruned)]
    ['weight']
    """
    return [
        (one, name)
        for one in module.modules()
        for name, value in vars(one).items()
        if isinstance(value, Tensor)
        and (is_of_torch(one) or any(own.startswith(f"{name}_") for own in one._parameters))
    ]


# --- settings -------------------------------------------------------------------------------------

# Shapes and weights already show these arguments.
_SHOWN_ELSEWHERE = """
    in_channels out_channels in_features out_features num_features normalized_shape num_embeddings
    embedding_dim input_size embed_dim num_channels in1_features in2_features dtype device mode
"""


_HIDDEN = frozenset(_SHOWN_ELSEWHERE.split())


def settings_of_module(module: nn.Module) -> dict[str, Setting]:
    """Return the constructor arguments that a module stores and that differ from the defaults.

    Examples
    --------
    >>> settings_of_module(nn.Conv2d(3, 8, 3, stride=2, bias=False))
    {'kernel_size': 3, 'stride': 2, 'bias': False}
    """
    kept = module.__dict__
    settings: dict[str, Setting] = {}
    for name, default in _arguments(module.__class__):
        value = kept.get(name, _NOTHING)
        if value is _NOTHING:
            value = module._parameters.get(name, _NOTHING)
            if value is not _NOTHING:  # bias=False stores None
                value = value is not None
        if value is _NOTHING or value is default:
            continue
        setting = _setting(_unrepeated(value))
        if setting is not None and setting != default:
            settings[name] = setting
    return settings


_NOTHING: Any = object()


@lru_cache(maxsize=1024)
def _arguments(cls: type[nn.Module]) -> tuple[tuple[str, Any], ...]:
    """Return the names and defaults of a constructor's arguments.

    If a constructor takes `*args`, as in LSTM, the arguments of its base classes are added.
    """
    found: dict[str, Any] = {}
    for base in cls.__mro__:
        if base is nn.Module:
            break
        if "__init__" in vars(base):
            parameters = inspect.signature(base.__init__).parameters  # type: ignore[misc]
            for name, one in list(parameters.items())[1:]:
                if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
                    found.setdefault(name, one.default)
            if not any(one.kind == one.VAR_POSITIONAL for one in parameters.values()):
                break
    return tuple(pair for pair in found.items() if pair[0] not in _HIDDEN)


def _unrepeated(value: Any) -> Any:
    """Return the first element of a tuple whose elements are equal; any other value unchanged."""
    if isinstance(value, tuple) and value and all(one == value[0] for one in value):
        return value[0]
    return value


def _setting(value: Any) -> Setting | None:
    """Return an argument's value as a setting to show, or None if the box cannot show it."""
    if isinstance(value, (bool, int, float, str)):
        return value if not isinstance(value, str) else value[:LONGEST]
    if isinstance(value, (tuple, list)) and value and all(type(one) in _NUMBERS for one in value):
        return "x".join(map(str, value))
    return None


_NUMBERS = (int, float)


def settings_of_function(
    name: str, args: Sequence[Any], keywords: Mapping[str, Any]
) -> dict[str, Setting]:
    """Return the arguments of a function call that are not tensors.

    Examples
    --------
    >>> x = None
    >>> settings_of_function("flatten", (x, 1), {}), settings_of_function("cat", ([], ), {"dim": 2})
    ({'': '1'}, {'dim': 2})
    >>> settings_of_function("getitem", (x, (slice(None), -1)), {})
    {'': '[:, -1]'}
    """
    if name in ("getitem", "setitem") and len(args) > 1:
        return {"": f"[{_index(args[1])}]"[:LONGEST]}
    texts = [_argument(value) for value in args[1:]]
    settings: dict[str, Setting] = {}
    if words := ", ".join(filter(None, texts))[:LONGEST]:
        settings[""] = words
    for key, value in keywords.items():
        if not isinstance(value, Tensor) and (words := _argument(value)):
            plain = isinstance(value, (bool, int, float, str))
            settings[key] = value if plain else words[:LONGEST]
    return settings


def _argument(value: Any) -> str:
    if value is None or isinstance(value, Tensor):
        return ""
    if isinstance(value, (list, tuple)):
        inner = [_argument(one) for one in value]
        return f"({', '.join(inner)})" if all(inner) else ""
    if isinstance(value, (bool, int, float, str)):
        return str(value)
    text = str(value)
    return text.removeprefix("torch.") if text.startswith("torch.") else ""


def _index(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_index, value))
    if isinstance(value, slice):
        parts = ["" if one is None else _index(one) for one in (value.start, value.stop)]
        step = [] if value.step is None else [_index(value.step)]
        return ":".join([*parts, *step])
    if value is Ellipsis:
        return "..."
    if isinstance(value, Tensor):
        return "tensor" if value.dim() else "number"
    return str(value)[:LONGEST]
