"""ConvLSTM2D: an LSTM for sequences of images, with convolutions in place of matrix products.

X. Shi et al.: Convolutional LSTM network: a machine learning approach for precipitation nowcasting.
NeurIPS 2015. Read LSTM in `recurrent.py` first: the cell has the formulas of LSTMCell.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops import windows
from kerascope.backend.shapes import Shape, Shapes, Size
from kerascope.configurable import by_name
from kerascope.errors import ShapeError
from kerascope.layers.arguments import Identifier, Sizes, positive_int
from kerascope.layers.recurrent import RNN, LayerOfCell
from kerascope.layers.recurrent_cells import (
    NO_MASKS,
    DropoutMasks,
    LSTMCell,
    factors_for,
    first_shape,
    join_steps,
    split_steps,
)
from kerascope.layers.spatial import KernelType
from kerascope.spellings import default_by_dialect

__all__ = ["ConvLSTM2D", "ConvLSTM2DCell", "ConvRNN2D"]

_OF_THE_KERNEL = ("kernel_size", "strides", "padding", "data_format", "dilation_rate")


class ConvLSTM2DCell(LSTMCell, metaclass=KernelType):
    """A cell that computes one time step of a ConvLSTM2D.

    Parameters
    ----------
    filters : int
        Number of channels of the output and of the memory.
    kernel_size : int or tuple of int
        Rows and columns of the kernels.
    strides, padding, data_format, dilation_rate : object
        Of the convolution of the input, as for `Conv2D`. The convolution of the state has
        strides 1 and padding "same".
    activation, recurrent_activation : str or callable
        As for `LSTMCell`, like all arguments below.
    use_bias, unit_forget_bias : bool
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
    dropout, recurrent_dropout : float
    **kwargs
        As for `Layer`.

    Notes
    -----
    The formulas of `LSTMCell` with conv(x, kernel) in place of dot(x, kernel). `kernel` has the
    shape (rows, columns, channels, 4 * filters), `recurrent_kernel` (rows, columns, filters, 4 *
    filters).

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> cell = ConvLSTM2DCell(2, kernel_size=3)
    >>> ConvRNN2D(cell)(Input(shape=(5, 8, 8, 1))).shape
    (None, 6, 6, 2)
    >>> cell.kernel.shape  # four gates of two filters
    (3, 3, 1, 8)
    """

    kernel_axes = 2
    function: ClassVar[Callable[..., Tensor]] = staticmethod(K.conv2d)

    @default_by_dialect
    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Sizes = (1, 1),
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        self.filters = positive_int(filters, f"{type(self).__name__}: filters")
        super().__init__(units=filters, **by_name(locals(), "filters", *_OF_THE_KERNEL))
        axes, where = self.kernel_axes, self.label
        self.kernel_size = windows.sizes_along_axes(kernel_size, axes, f"{where}: kernel_size")
        self.strides = windows.sizes_along_axes(strides, axes, f"{where}: strides")
        self.padding = windows.checked_padding(padding, self.label, ("valid", "same"))
        self.data_format = K.normalize_data_format(data_format)
        self.dilation_rate = windows.sizes_along_axes(
            dilation_rate, axes, f"{where}: dilation_rate"
        )
        self.channel_axis = -1 - axes if self.data_format == "channels_first" else -1

    def build(self, input_shape: Shapes) -> None:
        """Make `kernel`, `recurrent_kernel` and `bias` for a batch of images with this shape.

        Raises
        ------
        ShapeError
            The number of channels is not known, or the images are smaller than the kernel.
        """
        input_shape = first_shape(input_shape)
        channels = input_shape[self.channel_axis]
        sizes = self.shape_of_state(input_shape)
        if channels is None or any(size is not None and size < 1 for size in sizes):
            raise ShapeError(
                f"{self.label}: expected images of at least {self.kernel_size} pixels and a known "
                f"number of channels ({self.data_format}), got shape {input_shape[1:]}.",
                subject=self,
            )
        super().build((input_shape[0], channels))

    def kernel_shape(self, channels: Size) -> Shape:
        """Return the shape of a kernel for inputs with this number of channels."""
        return (*self.kernel_size, channels, self.gates * self.units)

    def shape_of_state(self, input_shape: Shape) -> Shape:
        """Return the shape of a state, without the batch, for a batch of images with this shape."""
        is_first = self.channel_axis != -1
        places = input_shape[2:] if is_first else input_shape[1:-1]
        sizes = [
            windows.conv_output_length(
                size, self.kernel_size[i], self.padding, self.strides[i], self.dilation_rate[i]
            )
            for i, size in enumerate(places)
        ]
        return (self.units, *sizes) if is_first else (*sizes, self.units)

    # --- the two products -------------------------------------------------------------------------

    def project_inputs(self, inputs: Tensor, masks: DropoutMasks = NO_MASKS) -> Tensor:
        """Return conv(inputs, kernel) + bias, for images of one time step or a whole sequence."""
        if inputs.ndim == self.kernel_axes + 2:
            return self._projected(inputs, masks.inputs)
        factors = factors_for(inputs, masks.inputs)
        if factors is not None:  # one for each image
            factors = [join_steps(factor + K.zeros_like(inputs)) for factor in factors]
        return split_steps(self._projected(join_steps(inputs), factors), like=inputs)

    def _projected(self, images: Tensor, factors: list[Tensor] | None) -> Tensor:
        projected = self.product(images, self.kernel, factors, self.convolved)
        return K.bias_add(projected, self.bias, self.data_format) if self.use_bias else projected

    def convolved(self, images: Tensor, kernel: Tensor) -> Tensor:
        """Return the convolution of input images with a kernel."""
        return self.function(
            images, kernel, self.strides, self.padding, self.data_format, self.dilation_rate
        )

    def convolved_state(self, state: Tensor, kernel: Tensor) -> Tensor:
        """Return the convolution of a state with a kernel. The result has the state's size."""
        steps = (1,) * self.kernel_axes
        return self.function(state, kernel, steps, "same", self.data_format)

    def product(
        self,
        x: Tensor,
        kernel: Tensor,
        factors: list[Tensor] | None,
        multiply: Callable[[Tensor, Tensor], Tensor] | None = None,
    ) -> Tensor:
        """Return `multiply(x, kernel)`, with dropout factors applied to x: see `GatedCell`.

        By default, `multiply` is the convolution of a state.
        """
        return super().product(x, kernel, factors, multiply or self.convolved_state)

    def zero_state(self, inputs: Tensor) -> Tensor:
        """Return a state of zeros for each sample; `inputs` are the images of one time step."""
        channels = inputs.shape[self.channel_axis]
        shape: Any = (*self.kernel_size, channels, self.units)
        kernel = K.zeros(shape, dtype=K.dtype(inputs))
        return self.convolved(K.zeros_like(inputs), kernel)


class ConvRNN2D(RNN):
    """Applies a cell, whose inputs and states are images, to the time steps of a sequence.

    Parameters
    ----------
    cell : Layer
        As for `RNN`, with two more methods: `zero_state(inputs)`, and `shape_of_state(shape)`,
        which returns the shape of a state, without the batch, for images of this shape.
    return_sequences, return_state, go_backwards, stateful, unroll : bool
        As for `RNN`.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, rows, columns, channels), or with "channels_first" (batch, time, channels,
    rows, columns).

    Examples
    --------
    >>> from kerascope.layers import ConvLSTM2DCell, Input
    >>> ConvRNN2D(ConvLSTM2DCell(2, 3))(Input(shape=(None, 8, 8, 1))).shape
    (None, 6, 6, 2)
    """

    axes: tuple[str, ...] = ("batch", "time", "rows", "columns", "channels")

    def get_initial_state(self, inputs: Tensor) -> list[Tensor]:
        """Return zeros for each state, with as many rows and columns as the convolved images."""
        zeros = self.cell.zero_state(inputs[:, 0])
        return [zeros for _ in self.states]

    def shapes_of_states(self, input_shape: Shape) -> list[Shape]:
        """Return the shape of each state, without the batch."""
        shape = self.cell.shape_of_state((input_shape[0], *input_shape[2:]))
        return [shape for _ in self.states]

    def shape_of_output(self, input_shape: Shape) -> Shape:
        """Return the shape of one step's output, without the batch."""
        return self.shapes_of_states(input_shape)[0]

    def make_states(self, input_shape: Shape) -> None:
        """Make a variable with zeros for each state of a stateful layer.

        Raises
        ------
        ShapeError
            The batch size, or a size of the images, is not known.
        """
        if any(None in shape for shape in self.shapes_of_states(input_shape)):
            raise ShapeError(
                f"{self.label}: a stateful layer needs images of known size, got an input of shape "
                f"{input_shape}. Give batch_input_shape with all sizes except that of time.",
                subject=self,
            )
        super().make_states(input_shape)


class ConvLSTM2D(LayerOfCell, ConvRNN2D, metaclass=KernelType):
    """An LSTM for sequences of images: the products of its formulas are convolutions.

    Parameters
    ----------
    filters : int
        Number of channels of the output and of the memory.
    kernel_size : int or tuple of int
        Rows and columns of the kernels.
    strides, padding, data_format, dilation_rate : object
        Of the convolution of the input, as for `Conv2D`. The convolution of the state has
        strides 1 and padding "same".
    activation, recurrent_activation : str or callable
        As for `LSTM`, like all arguments below.
    use_bias, unit_forget_bias : bool
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
    activity_regularizer : str, callable or object, optional
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
    return_sequences, go_backwards, stateful : bool
    dropout, recurrent_dropout : float
    **kwargs
        As for `Layer`; `return_state` and `unroll` as for `RNN`.

    Notes
    -----
    Input (batch, time, rows, columns, channels), output (batch, rows, columns, filters) or (batch,
    time, rows, columns, filters); with "channels_first" the channels come before the rows.

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> layer = ConvLSTM2D(4, (3, 3), padding="same", return_sequences=True)
    >>> layer(Input(shape=(10, 32, 32, 1))).shape
    (None, 10, 32, 32, 4)
    """

    _cell_class = ConvLSTM2DCell
    kernel_axes = 2
    _projects_first = False

    @default_by_dialect
    def __init__(
        self,
        filters: int,
        kernel_size: Sizes,
        strides: Sizes = (1, 1),
        padding: str = "valid",
        data_format: str | None = None,
        dilation_rate: Sizes = (1, 1),
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        unit_forget_bias: bool = True,
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))

    def conv_step(
        self, x: Tensor, W: Tensor, b: Tensor | None = None, border_mode: str = "valid"
    ) -> Tensor:
        """Return the convolution of one step's images, plus a bias, as in Keras 1."""
        images = K.conv2d(x, W, self.strides, border_mode, self.data_format)
        return images if b is None else K.bias_add(images, b, self.data_format)

    def conv_step_hidden(self, x: Tensor, W: Tensor, border_mode: str = "valid") -> Tensor:
        """Return the convolution of a state, as in Keras 1."""
        return K.conv2d(x, W, 1, border_mode, self.data_format)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, ready for JSON."""
        config = super().get_config()
        config.update({name: True for name in ("return_state", "unroll") if getattr(self, name)})
        return config
