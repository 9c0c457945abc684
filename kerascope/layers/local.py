"""Locally connected layers: like a convolution, but each position has its own weights.

They suit images whose regions differ in kind, such as faces in a fixed position. They have many
weights: the number of weights grows with the size of the image.
"""

from __future__ import annotations

from typing import Any, ClassVar

from kerascope import activations, constraints, initializers, regularizers
from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.windows import checked_padding, pooled_shape, sizes_along_axes
from kerascope.backend.shapes import Shape, product
from kerascope.configurable import by_name
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_spec import InputSpec
from kerascope.errors import ShapeError
from kerascope.layers.arguments import Identifier, Sizes, make_weight, positive_int
from kerascope.layers.spatial import KernelType, check_spatial_axes

__all__ = ["LocallyConnected1D", "LocallyConnected2D"]


class _LocallyConnected(Layer, metaclass=KernelType):
    """Base class of LocallyConnected1D and LocallyConnected2D."""

    kernel_axes: ClassVar[int]

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = 1,
        padding: str = "valid",
        data_format: str | None = None,
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
        where, axes = self.label, self.kernel_axes
        self.filters = positive_int(filters, f"{where}: filters")
        self.kernel_size = sizes_along_axes(kernel_size, axes, f"{where}: kernel_size")
        self.strides = sizes_along_axes(strides, axes, f"{where}: strides")
        self.padding = checked_padding(padding, where, ("valid",))
        self.data_format = K.normalize_data_format(data_format)
        self.activation = activations.get(activation)
        self.use_bias = bool(use_bias)
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.bias_initializer = initializers.get(bias_initializer)
        self.kernel_regularizer = regularizers.get(kernel_regularizer)
        self.bias_regularizer = regularizers.get(bias_regularizer)
        self.kernel_constraint = constraints.get(kernel_constraint)
        self.bias_constraint = constraints.get(bias_constraint)

    def build(self, input_shape: Shape) -> None:
        """Make a kernel and, with `use_bias`, a bias for each window.

        Raises
        ------
        ShapeError
            The input has a wrong number of axes, or a size on which the number of weights depends
            is unknown.
        """
        check_spatial_axes(self, input_shape, self.kernel_axes, self.data_format)
        if None in input_shape[1:]:
            raise ShapeError(
                f"{self.label}: expected known sizes of all axes but the batch, since each "
                f"position has its own weights, got {input_shape}. Give Input() the full shape.",
                subject=self,
            )
        windows, channels = self._windows(input_shape), input_shape[self._channel_axis]
        self.kernel = make_weight(
            self, "kernel", (product(windows), product((*self.kernel_size, channels)), self.filters)
        )
        self.bias = None
        if self.use_bias:
            self.bias = make_weight(self, "bias", (*windows, self.filters))
        self.input_spec = InputSpec(shape=(None, *input_shape[1:]))
        self.built = True

    @property
    def _channel_axis(self) -> int:
        return -1 if self.data_format == "channels_last" else 1

    def _windows(self, input_shape: Shape) -> Shape:
        """Return the number of windows along each spatial axis."""
        first = 1 if self.data_format == "channels_last" else 2
        pooled = pooled_shape(
            input_shape, self.kernel_size, self.strides, self.padding, first, self.label
        )
        return pooled[first : first + self.kernel_axes]

    def call(self, inputs: Tensor) -> Tensor:
        """Return activation(windows · kernels + bias)."""
        output = self._products(inputs)
        if self.use_bias:
            output = K.bias_add(output, self.bias, self.data_format)
        return self.activation(output)

    def _products(self, inputs: Tensor) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__} must define _products(inputs).")

    def compute_output_shape(self, input_shape: Shape) -> Shape:
        """Return the output shape: (batch, windows..., filters) with "channels_last".

        With "channels_first" it is (batch, filters, windows...).

        Raises
        ------
        ShapeError
            The kernel is larger than the input.
        """
        windows = self._windows(input_shape)
        if self.data_format == "channels_last":
            return (input_shape[0], *windows, self.filters)
        return (input_shape[0], self.filters, *windows)


class LocallyConnected1D(_LocallyConnected):
    """A convolution over time steps in which each window has its own kernel.

    Parameters
    ----------
    filters : int
        Number of outputs for each window.
    kernel_size : int or tuple of 1 int
        Number of steps in a window.
    strides : int or tuple of 1 int
        Distance from one window to the next.
    padding : {"valid"}
        All windows are inside the input.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, steps, channels) or (batch, channels, steps); default
        `K.image_data_format()`.
    activation : str or callable, optional
        Applied to each output; None is `linear`.
    use_bias : bool
        Whether a bias is added; each window has its own bias for each filter.
    kernel_initializer, bias_initializer : str, callable or object
        Initial values of the weights.
    kernel_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    kernel_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        At the first call: the number of steps is unknown, or less than `kernel_size`.

    Notes
    -----
    The kernel has shape (windows, kernel_size * channels, filters), the bias (windows, filters).

    Examples
    --------
    >>> import numpy as np
    >>> layer = LocallyConnected1D(8, 3)
    >>> layer(np.ones((5, 10, 4))).shape, layer.kernel.shape
    ((5, 8, 8), (8, 12, 8))
    """

    kernel_axes = 1

    def _products(self, inputs: Tensor) -> Tensor:
        return K.local_conv1d(inputs, self.kernel, self.kernel_size, self.strides, self.data_format)


class LocallyConnected2D(_LocallyConnected):
    """A convolution over images in which each window has its own kernel.

    Parameters
    ----------
    filters : int
        Number of outputs for each window.
    kernel_size : int or tuple of 2 int
        Rows and columns of a window.
    strides : int or tuple of 2 int
        Distance from one window to the next.
    padding : {"valid"}
        All windows are inside the input.
    data_format : {"channels_last", "channels_first"}, optional
        Input (batch, rows, columns, channels) or (batch, channels, rows, columns); default
        `K.image_data_format()`.
    activation, use_bias, kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer
        As for `LocallyConnected1D`.
    activity_regularizer, kernel_constraint, bias_constraint
        As for `LocallyConnected1D`.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        At the first call: a size of the image is unknown, or smaller than the kernel.

    Notes
    -----
    The kernel has shape (rows * columns of windows, kernel_size[0] * kernel_size[1] * channels,
    filters), the bias (rows, columns, filters).

    Examples
    --------
    >>> import numpy as np
    >>> layer = LocallyConnected2D(2, (3, 3))
    >>> layer(np.ones((5, 6, 7, 1))).shape, layer.kernel.shape
    ((5, 4, 5, 2), (20, 9, 2))
    """

    kernel_axes = 2

    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
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
        super().__init__(**by_name(locals()))

    def _products(self, inputs: Tensor) -> Tensor:
        windows = self._windows(K.int_shape(inputs))
        return K.local_conv2d(
            inputs, self.kernel, self.kernel_size, self.strides, windows, self.data_format
        )
