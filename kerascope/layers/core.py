"""The core layers: Dense, Activation, Masking, Dropout, Reshape, Lambda and others.

Most layers are a few lines of `K` functions: `build` makes the weights, `call` is the formula. Read
`Dense` first. Dropout is the reason why a model has two phases: it acts in training and is the
identity in test.

Lesson: chapter 6, which steps through `Dense`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape, Shapes, product, reshaped_shape
from kerascope.engine.arguments import accepts
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.engine.layer_type import serialized, shares_functions
from kerascope.engine.pickling import byte_code_in, written_function
from kerascope.errors import ArgumentError, ConfigError, UnknownNameError
from kerascope.layers.arguments import Identifier, Masks, Tensors, Training, fraction, positive_int
from kerascope.registry import Registry

__all__ = [
    "Activation",
    "ActivityRegularization",
    "Dense",
    "Dropout",
    "Flatten",
    "Lambda",
    "Masking",
    "Permute",
    "RepeatVector",
    "Reshape",
    "SpatialDropout1D",
    "SpatialDropout2D",
    "SpatialDropout3D",
]


class Dense(Layer):
    """The densely connected layer: every output depends on every input.

    Parameters
    ----------
    units : int
        Number of outputs.
    activation : str or callable, optional
        Applied to each output; None is `linear`.
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, bias_initializer : str, callable or object
        Initial values of the weights.
    kernel_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    kernel_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    **kwargs
        As for `Layer`: `name`, `input_shape`, `input_dim`, `weights`, ...

    Raises
    ------
    ArgumentError
        `units` is not a whole number above 0.

    Notes
    -----
    Input (batch, ..., n), output (batch, ..., units)::

        output = activation(dot(inputs, kernel) + bias)

    with `kernel` of shape (n, units) and `bias` of shape (units,). An input of more than two axes
    is not flattened: the same weights act at every position.

    Examples
    --------
    >>> import numpy as np
    >>> layer = Dense(2, activation="relu", kernel_initializer="ones")
    >>> layer(np.array([[1.0, 2.0, 3.0]])).tolist()
    [[6.0, 6.0]]
    >>> [w.name.split("/")[-1] for w in layer.weights]
    ['kernel', 'bias']
    """

    def __init__(
        self,
        units: int,
        activation: Identifier = None,
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.units = positive_int(units, f"{self.label}: units")
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape: Shape) -> None:
        """Make `kernel` and `bias`."""
        self.kernel = self.add_weight(
            name="kernel",
            shape=(input_shape[-1], self.units),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias",
                shape=(self.units,),
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: input_shape[-1]})
        self.built = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return activation(inputs · kernel + bias)."""
        output = K.dot(inputs, self.kernel)
        if self.use_bias:
            output = K.bias_add(output, self.bias, data_format="channels_last")
        return self.activation(output)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape, with `units` as the last size."""
        return (*input_shape[:-1], self.units)


class Activation(Layer):
    """An activation function as a layer.

    Parameters
    ----------
    activation : str or callable
        `"relu"`, `activations.relu`, or a function from tensor to tensor.
    **kwargs
        As for `Layer`.

    Examples
    --------
    >>> import numpy as np
    >>> Activation("relu")(np.array([-1.0, 2.0])).tolist()
    [0.0, 2.0]
    """

    def __init__(self, activation: Identifier, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.activation = activations.get(activation)
        self.supports_masking = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return activation(inputs)."""
        return self.activation(inputs)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class Masking(Layer):
    """Masks the time steps whose features all equal `mask_value`, so that later layers skip them.

    Parameters
    ----------
    mask_value : float
        The value that marks a step as padding.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input and output (batch, time, features); the mask (batch, time) is True where a step counts.
    The features of a skipped step become 0.

    Examples
    --------
    >>> import numpy as np
    >>> Masking(mask_value=9.0)(np.array([[[1.0, 9.0], [9.0, 9.0]]])).tolist()
    [[[1.0, 9.0], [0.0, 0.0]]]
    """

    def __init__(self, mask_value: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.mask_value = mask_value
        self.supports_masking = True

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs, with zeros in the masked steps."""
        counts = K.any(K.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        return inputs * K.cast(counts, K.dtype(inputs))

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return a mask that is True where a step has a feature other than `mask_value`."""
        return K.any(K.not_equal(inputs, self.mask_value), axis=-1)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


# --- against overfitting --------------------------------------------------------------------------


class Dropout(Layer):
    """Sets a random fraction of the inputs to 0 in training, and scales up the other inputs.

    Parameters
    ----------
    rate : float
        Fraction that is dropped, from 0 to below 1.
    noise_shape : tuple of int or None, optional
        Shape of the random choices. A size of 1 means one choice for the whole axis, None means the
        size of the input. `(None, 1, None)` drops a feature in all time steps together.
    seed : int, optional
        Makes the random choices repeatable.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `rate` is outside [0, 1).

    Notes
    -----
    In training output = inputs * keep / (1 - rate), where keep is 1 with probability 1 - rate, so
    that the expected output equals the input. In test, output = inputs.

    References
    ----------
    1. Srivastava et al.: Dropout: A Simple Way to Prevent Neural Networks from Overfitting, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.ones((1, 4))
    >>> Dropout(0.5)(x).tolist()
    [[1.0, 1.0, 1.0, 1.0]]
    >>> sorted(set(Dropout(0.5, seed=1)(np.ones((9, 9)), training=True).ravel().tolist()))
    [0.0, 2.0]
    """

    def __init__(
        self, rate: float, noise_shape: Any = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.rate = fraction(rate, f"{self.label}: rate")
        self.noise_shape = None if noise_shape is None else tuple(noise_shape)
        self.seed = seed
        self.supports_masking = True

    def _get_noise_shape(self, inputs: Tensor) -> tuple[int | None, ...] | None:
        """Return the shape of the random choices. None means the shape of the inputs."""
        return self.noise_shape

    def call(self, inputs: Tensor, training: Training = None) -> Tensor:
        """Return the inputs; in training, set a random fraction of them to 0."""
        if self.rate == 0:
            return inputs

        def dropped_inputs() -> Tensor:
            return K.dropout(inputs, self.rate, self._get_noise_shape(inputs), seed=self.seed)

        return K.in_train_phase(dropped_inputs, inputs, training=training)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


class _ChannelDropout(Dropout):
    """Base class of SpatialDropout2D and SpatialDropout3D: dropout of whole channels."""

    spatial_axes: int

    def __init__(
        self, rate: float, data_format: str | None = None, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(rate, seed=seed, **kwargs)
        self.data_format = K.normalize_data_format(data_format)
        self.input_spec = InputSpec(ndim=self.spatial_axes + 2)

    def _get_noise_shape(self, inputs: Tensor) -> tuple[int | None, ...]:
        together = (1,) * self.spatial_axes
        if self.data_format == "channels_first":
            return (None, None, *together)
        return (None, *together, None)


class SpatialDropout1D(Dropout):
    """Dropout of whole features, in all time steps together.

    Parameters
    ----------
    rate : float
        Fraction of the features that is dropped, from 0 to below 1.
    seed : int, optional
        Makes the random choices repeatable.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input and output (batch, time, features). Neighbouring steps are similar, so dropping single
    elements would hide little.

    References
    ----------
    1. Tompson et al.: Efficient Object Localization Using Convolutional Networks, 2014.

    Examples
    --------
    >>> import numpy as np
    >>> SpatialDropout1D(0.5, seed=1)(np.ones((1, 3, 4)), training=True).tolist()
    [[[2.0, 2.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0], [2.0, 2.0, 0.0, 0.0]]]
    """

    def __init__(self, rate: float, seed: int | None = None, **kwargs: Any) -> None:
        super().__init__(rate, seed=seed, **kwargs)
        self.input_spec = InputSpec(ndim=3)

    def _get_noise_shape(self, inputs: Tensor) -> tuple[int | None, ...]:
        return (None, 1, None)


class SpatialDropout2D(_ChannelDropout):
    """Dropout of whole channels of images.

    Parameters
    ----------
    rate : float
        Fraction of the channels that is dropped, from 0 to below 1.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    seed : int, optional
        Makes the random choices repeatable.
    **kwargs
        As for `Layer`.

    Examples
    --------
    Here the third channel is dropped, in all four pixels:

    >>> import numpy as np
    >>> y = SpatialDropout2D(0.5, seed=1)(np.ones((1, 2, 2, 3)), training=True)
    >>> y.reshape(4, 3).tolist()
    [[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [2.0, 2.0, 0.0]]
    """

    spatial_axes = 2


class SpatialDropout3D(_ChannelDropout):
    """Dropout of whole channels of volumes: `SpatialDropout2D` with one more axis.

    Examples
    --------
    >>> import numpy as np
    >>> y = SpatialDropout3D(0.5, seed=1)(np.ones((1, 9, 9, 9, 3)), training=True)
    >>> y.min(axis=(1, 2, 3)).tolist(), y.max(axis=(1, 2, 3)).tolist()
    ([[2.0, 2.0, 0.0]], [[2.0, 2.0, 0.0]])
    """

    spatial_axes = 3


class ActivityRegularization(Layer):
    """Returns its inputs and adds a penalty on them to the loss.

    Parameters
    ----------
    l1 : float
        Factor of the sum of absolute values.
    l2 : float
        Factor of the sum of squares.
    **kwargs
        As for `Layer`.

    Notes
    -----
    `penalty = l1 * sum |x_i| + l2 * sum x_i^2`

    Examples
    --------
    >>> import numpy as np
    >>> layer = ActivityRegularization(l1=0.5)
    >>> layer(np.array([[1.0, -3.0]])).tolist(), float(K.eval(layer.losses[0]))
    ([[1.0, -3.0]], 2.0)
    """

    def __init__(self, l1: float = 0.0, l2: float = 0.0, **kwargs: Any) -> None:
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.l1 = float(l1)
        self.l2 = float(l2)
        self.supports_masking = True

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's shape."""
        return input_shape


# --- other shapes ---------------------------------------------------------------------------------


class Flatten(Layer):
    """Flattens each sample into a vector.

    Parameters
    ----------
    data_format : {"channels_last", "channels_first"}, optional
        Position of the channel axis of the input; default `K.image_data_format()`. With
        "channels_first" the channel axis is moved to the end before flattening, so that both
        data formats of an image give the same vector.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, a, b, ...), output (batch, a * b * ...). An input with two axes stays unchanged.

    Examples
    --------
    >>> import numpy as np
    >>> Flatten()(np.zeros((5, 8, 8))).shape
    (5, 64)
    """

    def __init__(self, data_format: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.data_format = K.normalize_data_format(data_format)
        self.input_spec = InputSpec(min_ndim=2)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs with all axes except the batch merged into one."""
        if self.data_format == "channels_first" and K.ndim(inputs) > 2:
            inputs = K.permute_dimensions(inputs, (0, *range(2, K.ndim(inputs)), 1))
        return K.batch_flatten(inputs)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the output shape: (batch, product of the other sizes)."""
        return (input_shape[0], product(input_shape[1:]))


class Reshape(Layer):
    """Changes the shape of each sample. The elements keep their order.

    Parameters
    ----------
    target_shape : tuple of int
        Shape of a sample, without the batch. One size may be -1, and is then computed from the
        other sizes.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `target_shape` has a size that is neither -1 nor above 0, or more than one -1.

    Examples
    --------
    >>> import numpy as np
    >>> Reshape((4, -1))(np.zeros((5, 64))).shape
    (5, 4, 16)
    """

    def __init__(self, target_shape: Iterable[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_shape = tuple(int(size) for size in target_shape)
        if self.target_shape.count(-1) > 1 or any(n < 1 and n != -1 for n in self.target_shape):
            raise ArgumentError(
                f"{self.label}: expected a target_shape with sizes above 0 and at most one -1, got "
                f"{self.target_shape}.",
                subject=self,
            )

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs, with each sample reshaped to `target_shape`."""
        sizes = self.compute_output_shape(K.int_shape(inputs))[1:]
        if None not in sizes:
            return K.reshape(inputs, (-1, *sizes))
        return K.reshape(inputs, (K.shape(inputs)[0], *self.target_shape))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return `(batch, *target_shape)`, with -1 replaced if the input's sizes are known.

        Raises
        ------
        ShapeError
            `target_shape` and a sample have different numbers of elements.
        """
        return (input_shape[0], *reshaped_shape(input_shape[1:], self.target_shape, self.label))


class Permute(Layer):
    """Permutes the axes of each sample.

    Parameters
    ----------
    dims : tuple of int
        Axis of the input that becomes axis 1, 2, ... of the output. Axes count from 1; the batch
        stays in front.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `dims` is not a permutation of 1 to n.

    Examples
    --------
    >>> import numpy as np
    >>> Permute((2, 1))(np.zeros((5, 3, 7))).shape
    (5, 7, 3)
    """

    def __init__(self, dims: Iterable[int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.dims = tuple(int(axis) for axis in dims)
        if sorted(self.dims) != list(range(1, len(self.dims) + 1)):
            raise ArgumentError(
                f"{self.label}: expected dims with the numbers 1 to {len(self.dims)}, each once, "
                f"got {self.dims}. The batch is axis 0 and is not listed.",
                subject=self,
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the inputs with permuted axes."""
        return K.permute_dimensions(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the input's sizes in the order of `dims`."""
        return (input_shape[0], *(input_shape[axis] for axis in self.dims))


class RepeatVector(Layer):
    """Repeats each sample `n` times, as `n` equal time steps.

    Parameters
    ----------
    n : int
        Number of repetitions.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, features), output (batch, n, features).

    Examples
    --------
    >>> import numpy as np
    >>> RepeatVector(2)(np.array([[1.0, 2.0]])).tolist()
    [[[1.0, 2.0], [1.0, 2.0]]]
    """

    def __init__(self, n: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.n = positive_int(n, f"{self.label}: n")
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs: Tensor) -> Tensor:
        """Return the repeated inputs."""
        return K.repeat(inputs, self.n)

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the output shape: (batch, n, features)."""
        return (input_shape[0], self.n, input_shape[1])


# --- a function of your own as a layer ------------------------------------------------------------
# A Lambda has no weights of its own; a layer with weights is better written as a class. Its
# configuration contains the function's name: loading looks it up in the custom objects, then in
# `lambda_functions`. A lambda expression has no name, so its byte code is stored, as in Keras. Byte
# code is loaded only if the caller trusts the file, and only by the same version of Python: define
# a function with def if the file must last.

lambda_functions = Registry("function of a Lambda layer")


class Lambda(Layer):
    """A function of tensors as a layer.

    Parameters
    ----------
    function : callable or str
        Called on the input tensor or on the list of tensors. If it has a parameter `mask`, it
        receives the mask. A string names a function in the custom objects or `lambda_functions`.
    output_shape : tuple or callable, optional
        Shape of a sample of the output, without the batch; or a function that returns the full
        output shape for the full input shape. Default: the shape of the tensor that `function`
        returns.
    mask : callable or Tensor, optional
        Mask of the output, or a function of (inputs, mask) that returns it. By default the output
        has no mask.
    arguments : dict, optional
        Further keyword arguments of `function`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `function` is neither a function nor a name.

    Examples
    --------
    >>> import numpy as np
    >>> Lambda(lambda x: x ** 2)(np.array([[3.0]])).tolist()
    [[9.0]]
    """

    def __init__(
        self,
        function: Any,
        output_shape: Any = None,
        mask: Masks = None,
        arguments: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.function = _function(function, f"{self.label}: function")
        self._output_shape = _output_shape(output_shape)
        self.mask = lambda_functions.lookup(mask) if isinstance(mask, str) else mask
        self.arguments = {name: _restored(value) for name, value in (arguments or {}).items()}
        self.supports_masking = mask is not None

    def call(self, inputs: Tensors, mask: Masks = None) -> Any:
        """Return `function(inputs, **arguments)`."""
        arguments = dict(self.arguments)
        if accepts(self.function, "mask"):
            arguments["mask"] = mask
        return self.function(inputs, **arguments)

    def compute_mask(self, inputs: Tensors, mask: Masks = None) -> Any:
        """Return the mask from the constructor's argument `mask`; None without this argument."""
        return self.mask(inputs, mask) if callable(self.mask) else self.mask

    def compute_output_shape(self, input_shape: Shapes) -> Any:
        """Return the constructor's `output_shape`, or else the shape of a call on placeholders."""
        if self._output_shape is None:
            return super().compute_output_shape(input_shape)
        if callable(self._output_shape):
            return tuple(self._output_shape(input_shape))
        first = input_shape[0] if isinstance(input_shape, list) else input_shape
        return (first[0], *self._output_shape)

    def _declared_output_shape(self, input_shape: Shapes, arguments: dict[str, Any]) -> Any:
        """Return the output shape from the constructor's `output_shape`; None without it."""
        return None if self._output_shape is None else self.compute_output_shape(input_shape)

    def get_config(self) -> dict[str, Any]:
        """Return the configuration, with functions as names and lambda expressions as byte code.

        Raises
        ------
        ConfigError
            A lambda uses objects that a configuration cannot hold.
        """
        config = {**super().get_config(), "output_shape_type": "raw"}
        functions = {
            "function": self.function,
            "output_shape": self._output_shape,
            "mask": self.mask,
        }
        for argument, value in functions.items():
            where = f"{self.label}: its {argument}"
            if not callable(value):
                config[argument] = serialized(value, where)
            elif shares_functions():
                config[argument] = value
            else:
                config[argument], kind = written_function(value, where)
                if argument != "mask":  # Keras 2 has no `mask_type`
                    config[f"{argument}_type"] = kind
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """Make a Lambda from a configuration that `get_config` of kerascope or Keras 2 returned.

        Raises
        ------
        ConfigError
            A function is stored as byte code, and the custom objects contain no replacement under
            the layer's name.
        UnknownNameError
            The name of a function is not in the custom objects or `lambda_functions`.
        """
        notes = ("module", "_type", "_module")  # Keras 2: function_type, output_shape_type, ...
        kept = {name: value for name, value in config.items() if not name.endswith(notes)}
        name = kept.get("name") or ""
        if byte_code_in(config, "function"):
            kept["function"] = _in_place_of_byte_code(name)
        if byte_code_in(config, "output_shape"):
            kept["output_shape"] = None  # found by a call of the function
        if byte_code_in(config, "mask"):
            raise ConfigError(
                f"Lambda '{name}': expected a mask function with a name, got the byte code of a "
                "lambda. If you trust the file, use load_model(..., safe_mode=False)."
            )
        return cls(**kept)


def _function(function: Any, where: str) -> Callable[..., Any]:
    if isinstance(function, str):
        return lambda_functions.lookup(function)
    if callable(function):
        return function
    raise ArgumentError(f"{where}: expected a function or the name of one, got {function!r}.")


def _output_shape(output_shape: Any) -> Any:
    """Return `output_shape` as None, a tuple or a function; a str is the name of a function."""
    if isinstance(output_shape, str):
        return lambda_functions.lookup(output_shape)
    return output_shape if output_shape is None or callable(output_shape) else tuple(output_shape)


def _restored(value: Any) -> Any:
    """Return an array that Keras 2 stored as a dict; return any other value unchanged."""
    if isinstance(value, dict) and value.get("type") == "ndarray":
        return np.array(value["value"])
    return value


def _in_place_of_byte_code(layer_name: str) -> Callable[..., Any]:
    """Return the custom object with a layer's name, to replace its lambda stored as byte code."""
    try:
        return lambda_functions.lookup(layer_name)
    except UnknownNameError:
        raise ConfigError(
            f"Lambda '{layer_name}': expected the name of its function, got the byte code of a "
            f"lambda. Pass custom_objects={{'{layer_name}': function}}. To copy a model in memory, "
            "use clone_model(model)."
        ) from None
