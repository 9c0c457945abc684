"""Layers of Keras 3 that are variants of older layers. Most of them derive from the older layer.

`EinsumDense` is a Dense layer on any axes. `GroupQueryAttention` is a MultiHeadAttention with fewer
heads of keys and values. `ConvLSTM1D` and `ConvLSTM3D` are a ConvLSTM2D with one or three spatial
axes. Adaptive pooling takes the number of windows instead of their size.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from string import ascii_letters
from typing import Any, ClassVar

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend.graph import Tensor, graph_mode
from kerascope.backend.ops.windows import sizes_along_axes
from kerascope.backend.shapes import Shape, Size, as_shape
from kerascope.configurable import by_name
from kerascope.engine.arguments import accepts
from kerascope.engine.base_layer import Layer
from kerascope.engine.builders import make_layer
from kerascope.engine.input_spec import InputSpec
from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.arguments import Identifier, Sizes, Training, make_weight, positive_int
from kerascope.layers.attention import MultiHeadAttention
from kerascope.layers.convolutional_recurrent import ConvLSTM2D, ConvLSTM2DCell
from kerascope.layers.embeddings import Embedding
from kerascope.layers.inner_layers import build_inside, without_history
from kerascope.layers.opaque import uncomputable
from kerascope.layers.wrappers import Wrapper

__all__ = [
    "AdaptiveAveragePooling1D",
    "AdaptiveAveragePooling2D",
    "AdaptiveAveragePooling3D",
    "AdaptiveMaxPooling1D",
    "AdaptiveMaxPooling2D",
    "AdaptiveMaxPooling3D",
    "ConvLSTM1D",
    "ConvLSTM3D",
    "EinsumDense",
    "GroupQueryAttention",
    "Identity",
    "Pipeline",
    "ReversibleEmbedding",
    "SpectralNormalization",
]


class Identity(Layer):
    """Returns its inputs.

    Examples
    --------
    >>> import numpy as np
    >>> Identity()(np.array([[1.0, -2.0]])).tolist()
    [[1.0, -2.0]]
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs."""
        return inputs


class EinsumDense(Layer):
    """A Dense layer whose product of inputs and kernel is given by an einsum equation.

    Parameters
    ----------
    equation : str
        As for `K.einsum`: "abc,cd->abd" is Dense for inputs with three axes; "..." means any number
        of further axes before or after all others.
    output_shape : int or tuple of int or None
        Sizes of the output without the batch, and without the axes of "...".
    activation : str or callable, optional
        Applied to each output.
    bias_axes : str, optional
        The axes that output and bias share, such as "d". Default: no bias.
    kernel_initializer, bias_initializer : str, callable or object
        Initial values of the weights.
    kernel_regularizer, bias_regularizer, activity_regularizer : str, callable or object, optional
        Penalties.
    kernel_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        The equation is not valid, or `bias_axes` names an axis that the output does not have.
    ShapeError
        A size of the kernel is not known, or two sizes contradict each other.

    Examples
    --------
    >>> import numpy as np
    >>> EinsumDense("abc,cd->abd", (None, 5), bias_axes="d")(np.ones((2, 3, 4))).shape
    (2, 3, 5)
    """

    def __init__(
        self,
        equation: str,
        output_shape: Any,
        activation: Identifier = None,
        bias_axes: str | None = None,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.equation = equation.replace(" ", "")
        inputs, _, rest = self.equation.partition(",")
        kernel, arrow, outputs = rest.partition("->")
        letters = (inputs + kernel + outputs).replace("...", "")
        if not (inputs and kernel and arrow and (letters.isalpha() and letters.isascii())):
            raise ArgumentError(
                f"{self.label}: expected an equation such as 'ab,bc->ac', got {equation!r}."
            )
        self._parts = inputs, kernel, outputs
        self._output_shape = as_shape(output_shape)
        if set(bias_axes or "") - set(outputs):
            raise ArgumentError(
                f"{self.label}: expected bias_axes in the output {outputs!r}, got {bias_axes!r}."
            )
        self.bias_axes = bias_axes
        self.activation = activations.get(activation)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)

    def build(self, input_shape: Shape) -> None:
        """Make `kernel` and `bias`."""
        inputs, kernel, outputs = self._spelled_out(len(input_shape))
        sizes: dict[str, Size] = dict(zip(inputs, input_shape, strict=True))
        named = self._parts[2].replace("...", "")
        named = named if self._parts[2].startswith("...") else named[1:]
        if len(named) != len(self._output_shape):
            raise ShapeError(
                f"{self.label}: expected output_shape with a size for each of {named!r}, got "
                f"{self._output_shape}.",
                subject=self,
            )
        for letter, size in zip(named, self._output_shape, strict=True):
            if None not in (size, known := sizes.get(letter)) and size != known:
                raise ShapeError(
                    f"{self.label}: axis {letter!r} has size {known} in the input {input_shape} "
                    f"and {size} in output_shape {self._output_shape}.",
                    subject=self,
                )
            sizes[letter] = size if size is not None else sizes.get(letter)
        first = min(map(outputs.index, self.bias_axes or ""), default=0)
        along_bias = [x if x in (self.bias_axes or "") else "" for x in outputs[first:]]
        if missing := [x for x in [*kernel, *along_bias] if x and sizes.get(x) is None]:
            raise ShapeError(
                f"{self.label}: expected a known size of axis {missing[0]!r} of {self.equation!r}, "
                f"since a weight has that size. Give it in the Input or output_shape.",
                subject=self,
            )
        self.kernel = make_weight(self, "kernel", tuple(sizes[x] for x in kernel))
        shape = tuple(sizes[x] if x else 1 for x in along_bias)
        self.bias = make_weight(self, "bias", shape) if self.bias_axes else None
        self.input_spec = InputSpec(ndim=len(input_shape))
        self.built = True

    def _spelled_out(self, ndim: int) -> tuple[str, str, str]:
        """Return the subscripts for inputs with `ndim` axes, with "..." replaced by letters."""
        named = len(self._parts[0].replace("...", ""))
        if ndim < named or (ndim > named and "..." not in self._parts[0]):
            raise ShapeError(
                f"{self.label}: expected an input with axes {self._parts[0]!r}, got {ndim} axes.",
                subject=self,
            )
        free = [x for x in ascii_letters if x not in self.equation]
        further = "".join(free[: ndim - named])
        inputs, kernel, outputs = (part.replace("...", further) for part in self._parts)
        return inputs, kernel, outputs

    def call(self, inputs: Tensor) -> Tensor:
        """Return activation(einsum(inputs, kernel) + bias)."""
        one, kernel, outputs = self._spelled_out(inputs.ndim)
        product = K.einsum(f"{one},{kernel}->{outputs}", inputs, self.kernel)
        return self.activation(product if self.bias is None else product + self.bias)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, ready for JSON."""
        return {**super().get_config(), "output_shape": list(self._output_shape)}


class GroupQueryAttention(MultiHeadAttention):
    """Attention with several heads, in which groups of heads share their keys and values.

    Parameters
    ----------
    head_dim : int
        Features of a query, a key and a value in each head.
    num_query_heads : int
        Number of heads.
    num_key_value_heads : int
        Number of groups; `num_query_heads` must be a multiple of this number.
    dropout, use_bias, sliding_window, flash_attention : object
        As for `MultiHeadAttention`, like all arguments below.
    kernel_initializer, bias_initializer : str, callable or object
    kernel_regularizer, bias_regularizer, activity_regularizer : str, callable or object, optional
    kernel_constraint, bias_constraint : str, callable or object, optional
    use_gate, seed : object
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        The number of heads is not a multiple of the number of groups.

    References
    ----------
    1. Ainslie et al.: GQA: Training Generalized Multi-Query Transformer Models from Multi-Head
       Checkpoints, EMNLP 2023.

    Examples
    --------
    >>> import numpy as np
    >>> GroupQueryAttention(4, num_query_heads=6, num_key_value_heads=2)(
    ...     np.ones((1, 3, 8)), np.ones((1, 5, 8))
    ... ).shape
    (1, 3, 8)
    """

    def __init__(
        self,
        head_dim: int,
        num_query_heads: int,
        num_key_value_heads: int,
        dropout: float = 0.0,
        use_bias: bool = True,
        sliding_window: int | None = None,
        flash_attention: bool | None = None,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        use_gate: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        further = by_name(locals(), "head_dim", "num_query_heads", "num_key_value_heads")
        super().__init__(num_query_heads, head_dim, **further)
        groups = positive_int(num_key_value_heads, f"{self.label}: num_key_value_heads")
        self.head_dim, self.num_query_heads = self.key_dim, self.num_heads
        self.num_key_value_heads = groups
        if self.num_heads % groups:
            raise ArgumentError(
                f"{self.label}: expected a multiple of {groups} query heads, got {self.num_heads}."
            )

    def _heads_of_keys(self) -> int:
        return self.num_key_value_heads

    def _projected(self, x: Tensor, kernel: Tensor, bias: Tensor | None) -> Tensor:
        product = super()._projected(x, kernel, bias)
        shared = self.num_heads // (kernel.shape[1] or 1)
        return product if shared == 1 else K.repeat_elements(product, shared, K.ndim(x) - 1)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, ready for JSON."""
        config = super().get_config()
        del config["output_shape"]
        return config


class ReversibleEmbedding(Embedding):
    """An Embedding that can also map vectors back to a score for each word.

    Parameters
    ----------
    input_dim, output_dim : int
        Number of words, and length of a row.
    tie_weights : bool
        Whether both directions use the same table. Otherwise the layer has a second weight,
        `reverse_embeddings`.
    embeddings_initializer, embeddings_regularizer, embeddings_constraint, mask_zero : object
        As for `Embedding`.
    reverse_dtype : str, optional
        The dtype of the reverse direction.
    logit_soft_cap : float, optional
        Scores become `c * tanh(x / c)`, which is between -c and c.
    **kwargs
        As for `Embedding`.

    References
    ----------
    1. Press and Wolf: Using the Output Embedding to Improve Language Models, EACL 2017.

    Examples
    --------
    >>> import numpy as np
    >>> layer = ReversibleEmbedding(10, 4)
    >>> rows = layer(np.array([[1, 2, 3]]))
    >>> rows.shape, layer(rows, reverse=True).shape
    ((1, 3, 4), (1, 3, 10))
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        tie_weights: bool = True,
        embeddings_initializer: Identifier = "uniform",
        embeddings_regularizer: Identifier = None,
        embeddings_constraint: Identifier = None,
        mask_zero: bool = False,
        reverse_dtype: str | None = None,
        logit_soft_cap: float | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            input_dim,
            output_dim,
            embeddings_initializer=embeddings_initializer,
            embeddings_regularizer=embeddings_regularizer,
            embeddings_constraint=embeddings_constraint,
            mask_zero=mask_zero,
            **kwargs,
        )
        self.tie_weights = bool(tie_weights)
        self.reverse_dtype = reverse_dtype
        self.logit_soft_cap = logit_soft_cap
        self._goes_back = False  # whether the last call was in reverse

    def build(self, input_shape: Shape) -> None:
        """Make the table, and a second table for the reverse direction unless weights are tied."""
        super().build(input_shape)
        if not self.tie_weights:
            self.reverse_embeddings = self.add_weight(
                name="reverse_embeddings",
                shape=(self.output_dim, self.input_dim),
                initializer=self.embeddings_initializer,
            )

    def call(self, inputs: Tensor, reverse: bool = False) -> Tensor:
        """Return the rows at the indices `inputs`; with `reverse=True`, a score for each word."""
        self._goes_back = bool(reverse)
        if not reverse:
            return super().call(inputs)
        table = K.transpose(self.embeddings) if self.tie_weights else self.reverse_embeddings
        if self.reverse_dtype is not None:
            inputs, table = (K.cast(x, self.reverse_dtype) for x in (inputs, table))
        logits = K.dot(inputs, table)
        cap = self.logit_soft_cap
        return logits if cap is None else K.tanh(logits / cap) * cap

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor | None:
        """Return a mask, True where the input is not 0; None if reversed or without `mask_zero`."""
        return None if self._goes_back else super().compute_mask(inputs, mask)

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        if arguments.get("reverse"):
            return (*input_shape[:-1], self.input_dim)
        return super()._declared_output_shape(input_shape, arguments)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, including `activity_regularizer`."""
        penalty = self.activity_regularizer
        written = None if penalty is None else regularizers.serialize(penalty)
        return {**super().get_config(), "activity_regularizer": written}


# --- layers that contain others -------------------------------------------------------------------


class SpectralNormalization(Wrapper):
    """A wrapper that, in training, divides the kernel of a layer by its largest singular value.

    kerascope supports it in prediction only, where the stored kernel is used unchanged.

    Parameters
    ----------
    layer : Layer
        A layer with a weight `kernel` or `embeddings`.
    power_iterations : int
        Number of iterations in each training step, which improve the estimate of the largest
        singular value.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        The layer has no weight `kernel` or `embeddings`.
    NotYetError
        The layer is trained.

    References
    ----------
    1. Miyato et al.: Spectral Normalization for Generative Adversarial Networks, ICLR 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Dense
    >>> SpectralNormalization(Dense(3))(np.ones((2, 4))).shape
    (2, 3)
    """

    def __init__(self, layer: Any, power_iterations: int = 1, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        self.power_iterations = positive_int(power_iterations, f"{self.label}: power_iterations")

    def build(self, input_shape: Any = None) -> None:
        """Make the weights of the wrapped layer, and `vector_u`."""
        super().build(input_shape)
        kernels = (getattr(self.layer, name, None) for name in ("kernel", "embeddings"))
        kernel = next((w for w in kernels if w is not None), None)
        if kernel is None:
            raise ArgumentError(
                f"{self.label}: expected a layer with a weight 'kernel' or 'embeddings', such as a "
                f"Dense, got {self.layer.label}.",
                subject=self,
            )
        self.kernel = kernel
        self._trainable_weights = [kernel]  # as in files of Keras 3
        self.vector_u = self.add_weight(
            name="vector_u",
            shape=(1, kernel.shape[-1]),
            initializer=initializers.TruncatedNormal(stddev=0.02),
            trainable=False,
        )

    def call(self, inputs: Tensor, training: Training = None) -> Tensor:
        """Return the output of the wrapped layer."""
        words = (
            f"{self.label}: kerascope supports this layer in prediction only. Training divides "
            f"the kernel by its largest singular value. Use training=False, or train "
            f"{self.layer.label} by itself."
        )
        keywords = {"training": training} if accepts(self.layer.call, "training") else {}
        outputs = self.layer(without_history(inputs), **keywords)
        return K.in_train_phase(lambda: uncomputable(self, outputs, words), outputs, training)


class Pipeline(Layer):
    """Several layers one after the other, as one layer.

    Parameters
    ----------
    layers : list of Layer
        The layers, in the order of their calls.
    name : str, optional
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        The list is empty or contains something other than layers.

    Notes
    -----
    Unlike a `Sequential`, a Pipeline is not a model. Keras 3 uses it for layers that prepare data.
    As in Keras 3, the configuration contains neither `dtype` nor `trainable`, since the inner
    layers have their own.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Flatten, Rescaling
    >>> Pipeline([Rescaling(0.5), Flatten()])(np.ones((1, 2, 2))).tolist()
    [[0.5, 0.5, 0.5, 0.5]]
    """

    def __init__(self, layers: Any, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.layers = list(layers)
        if not self.layers or not all(isinstance(layer, Layer) for layer in self.layers):
            raise ArgumentError(
                f"{self.label}: expected a list of layers, got {layers!r}.", subject=self
            )
        self._mask: Any = None  # of the last call's output

    def build(self, input_shape: Any = None) -> None:
        """Make the weights of all layers of the pipeline."""
        for layer in self.layers:
            build_inside(layer, input_shape)
            with graph_mode():
                input_shape = layer.compute_output_shape(input_shape)
        self.built = True

    def call(self, inputs: Any, training: Training = None) -> Any:
        """Call each layer on the output of the one before, and return the last output."""
        outputs = without_history(inputs)
        for layer in self.layers:
            keywords = {"training": training} if accepts(layer.call, "training") else {}
            outputs = layer(outputs, **keywords)
        self._mask = getattr(outputs, "_keras_mask", None)
        return outputs

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the last layer's output; a mask of the input is not supported."""
        return super().compute_mask(inputs, mask) if mask is not None else self._mask

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the output shape of the last layer."""
        for layer in self.layers:
            with graph_mode():
                input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        return None  # the calls of the layers have computed it already

    def get_config(self) -> dict[str, Any]:
        """Return the name and the layers' configurations."""
        return {"name": self.name, "layers": [layer_registry.serialize(x) for x in self.layers]}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Pipeline:
        """Make a Pipeline from the configuration that `get_config` returned."""
        layers = [make_layer(x) if isinstance(x, dict) else x for x in config["layers"]]
        return cls(**{**config, "layers": layers})


# --- ConvLSTM along other axes --------------------------------------------------------------------


def _of_other_axes(constructor: Callable[..., None]) -> Any:
    """Return the ConvLSTM2D constructor with Keras 3's defaults for ConvLSTM1D and ConvLSTM3D."""
    signature = inspect.signature(constructor)
    other: Any = {"strides": 1, "dilation_rate": 1, "recurrent_activation": "sigmoid"}
    names = list(signature.parameters)[1:]

    @wraps(constructor)
    def chosen(self: Any, *args: Any, **kwargs: Any) -> None:
        constructor(self, **{**other, **dict(zip(names, args, strict=False)), **kwargs})

    shown = [p.replace(default=other.get(n, p.default)) for n, p in signature.parameters.items()]
    chosen.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return chosen


class _ConvLSTM1DCell(ConvLSTM2DCell):
    kernel_axes = 1
    function = staticmethod(
        lambda x, kernel, strides, padding, data_format, dilation_rate=(1,): K.conv1d(
            x, kernel, strides[0], padding, data_format, dilation_rate[0]
        )
    )
    __init__ = _of_other_axes(ConvLSTM2DCell.__init__)


class _ConvLSTM3DCell(ConvLSTM2DCell):
    kernel_axes = 3
    function = staticmethod(K.conv3d)
    __init__ = _of_other_axes(ConvLSTM2DCell.__init__)


class ConvLSTM1D(ConvLSTM2D):
    """An LSTM for sequences of sequences: `ConvLSTM2D` with one spatial axis.

    Input (batch, time, positions, channels).

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> ConvLSTM1D(4, kernel_size=3)(Input((5, 10, 2))).shape
    (None, 8, 4)
    >>> ConvLSTM1D(4, kernel_size=3, return_sequences=True)(Input((5, 10, 2))).shape
    (None, 5, 8, 4)
    """

    _cell_class = _ConvLSTM1DCell
    kernel_axes = 1
    axes = ("batch", "time", "positions", "channels")
    __init__ = _of_other_axes(ConvLSTM2D.__init__)


class ConvLSTM3D(ConvLSTM2D):
    """An LSTM for sequences of volumes: `ConvLSTM2D` with three spatial axes.

    Input (batch, time, depth, rows, columns, channels).

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> layer = ConvLSTM3D(4, kernel_size=(1, 3, 3))
    >>> layer(Input((5, 8, 9, 10, 2))).shape
    (None, 8, 7, 8, 4)
    >>> layer.cell.kernel.shape  # four gates of four filters
    (1, 3, 3, 2, 16)
    """

    _cell_class = _ConvLSTM3DCell
    kernel_axes = 3
    axes = ("batch", "time", "depth", "rows", "columns", "channels")
    __init__ = _of_other_axes(ConvLSTM2D.__init__)


# --- pooling into a number of windows -------------------------------------------------------------


class _AdaptivePooling(Layer):
    """Base class of pooling to a fixed size; a subclass sets the number of axes and mean or max."""

    spatial_axes: ClassVar[int]
    function: ClassVar[Callable[..., Tensor]]

    def __init__(self, output_size: Sizes, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        where = f"{self.label}: output_size"
        self.output_size = sizes_along_axes(output_size, self.spatial_axes, where)
        self.data_format = K.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.spatial_axes + 2)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the maximum or mean of each of k windows; window n begins at n / k of the axis."""
        first = 2 if self.data_format == "channels_first" else 1
        for axis, number in enumerate(self.output_size, first):
            size = inputs.shape[axis]
            if size is None:
                raise ShapeError(
                    f"{self.label}: the size of axis {axis} of {inputs.shape} is not known. Give "
                    f"the Input that size.",
                    subject=self,
                )
            windows = []
            for n in range(number):
                window = slice(n * size // number, -(-(n + 1) * size // number))
                part = inputs[(slice(None),) * axis + (window,)]
                windows.append(self.function(part, axis=axis, keepdims=True))
            inputs = K.concatenate(windows, axis=axis)
        return inputs


def _adaptive(word: str, function: Callable[..., Tensor], axes: int, found: str) -> Any:
    """Return the class for a pooling function and `axes` axes, such as `AdaptiveMaxPooling2D`.

    `found` is the result in the docstring's example, which pools the numbers 0, 1, 2, ...
    """
    name = f"Adaptive{word}Pooling{axes}D"
    doc = f"""The {word.lower()} of each of a fixed number of windows, along {axes} spatial axes.

    Parameters
    ----------
    output_size : int or tuple of int
        Number of windows along each axis.
    data_format : {{"channels_last", "channels_first"}}, optional
        Default `K.image_data_format()`.
    **kwargs
        As for `Layer`.

    Examples
    --------
    Axes of size 3 have two overlapping windows of size 2:

    >>> import numpy as np
    >>> {name}(2)(np.arange({3.0**axes}).reshape(1, {"3, " * axes}1)).ravel().tolist()
    [{found}]
    """
    facts = {"spatial_axes": axes, "function": staticmethod(function)}
    make: Any = type(_AdaptivePooling)
    return make(name, (_AdaptivePooling,), {**facts, "__doc__": doc, "__module__": __name__})


_MEANS = "0.5, 1.5", "2.0, 3.0, 5.0, 6.0", "6.5, 7.5, 9.5, 10.5, 15.5, 16.5, 18.5, 19.5"
_MAXIMA = "1.0, 2.0", "4.0, 5.0, 7.0, 8.0", "13.0, 14.0, 16.0, 17.0, 22.0, 23.0, 25.0, 26.0"
AdaptiveAveragePooling1D, AdaptiveAveragePooling2D, AdaptiveAveragePooling3D = (
    _adaptive("Average", K.mean, axes, found) for axes, found in enumerate(_MEANS, 1)
)
AdaptiveMaxPooling1D, AdaptiveMaxPooling2D, AdaptiveMaxPooling3D = (
    _adaptive("Max", K.max, axes, found) for axes, found in enumerate(_MAXIMA, 1)
)
