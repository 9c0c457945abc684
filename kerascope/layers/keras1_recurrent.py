"""`Recurrent` and `ConvRecurrent2D` of Keras 1: a layer that has its time step as a method.

Since Keras 2.1 the step is that of a cell, and `RNN` has the loop. Scripts that are older derive
from `Recurrent`; LSTM, GRU and SimpleRNN have its methods too (`LayerOfCell`).
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor
from kerascope.backend.ops.windows import conv_output_length
from kerascope.backend.shapes import Shape, Shapes
from kerascope.errors import NotBuiltError
from kerascope.layers.convolutional_recurrent import ConvRNN2D
from kerascope.layers.recurrent import RNN, LayerOfCell

__all__ = ["ConvRecurrent2D", "Recurrent", "time_distributed_dense"]


class _OwnStep:
    """What stands in the place of the cell of a layer that has its step itself."""

    implementation = 1

    def __init__(self, layer: Recurrent) -> None:
        self.layer = layer

    def call(self, inputs: Tensor, states: list[Tensor]) -> Any:
        """Compute one time step."""
        return self.layer.step(inputs, states)

    @property
    def state_size(self) -> list[Any]:
        """Sizes of a sample of each state: Keras 1 has all states like the output."""
        layer = self.layer
        if "states" not in vars(layer):  # it is being made: one state, of whatever size
            return [1]
        return [layer.size_of_states()] * len(layer.states)


class Recurrent(LayerOfCell):
    """Base of recurrent layers that say themselves what happens in a time step.

    A subclass has the attribute `output_dim`, makes its weights in `build`, where it sets `states`
    to a list of as many None as it has states, and has `step(x, states)`. It may have
    `preprocess_input(x)`, `get_constants(x)` and `get_initial_states(x)` too.

    Parameters
    ----------
    weights : list of np.ndarray, optional
        Values for the weights when they are made.
    return_sequences, go_backwards, stateful, unroll : bool
        As for `RNN`.
    consume_less : {"cpu", "mem", "gpu"}
        For the subclass to read; nothing here depends on it.
    input_dim, input_length : int, optional
        Number of features and of time steps, if it is the first layer of a Sequential.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, features), output (batch, output_dim) or, with `return_sequences`, (batch,
    time, output_dim). `step` gets one step of what `preprocess_input` returned, and a list: the
    states, then the constants. Source: `keras.layers.recurrent.Recurrent` of Keras 1.2.

    Examples
    --------
    >>> import numpy as np
    >>> class Sum(Recurrent):
    ...     output_dim = 1
    ...     def step(self, x, states):
    ...         output = states[0] + x
    ...         return output, [output]
    >>> Sum(return_sequences=True)(np.array([[[1.0], [2.0], [3.0]]])).tolist()
    [[[1.0], [3.0], [6.0]]]
    """

    output_dim: int

    def __init__(
        self,
        weights: Any = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        consume_less: str = "cpu",
        input_dim: int | None = None,
        input_length: int | None = None,
        **kwargs: Any,
    ) -> None:
        first = {"weights": weights, "input_dim": input_dim, "input_length": input_length}
        kwargs.update({name: value for name, value in first.items() if value is not None})
        RNN.__init__(
            self,
            _OwnStep(self),
            return_sequences=return_sequences,
            go_backwards=go_backwards,
            stateful=stateful,
            unroll=unroll,
            **kwargs,
        )
        self.consume_less = consume_less
        self.input_dim, self.input_length = input_dim, input_length

    def build(self, input_shape: Shapes, constants_shape: Any = None) -> None:
        """Make no weights; a subclass makes its own."""
        self.built = True

    def step(self, x: Tensor, states: list[Any]) -> tuple[Tensor, list[Tensor]]:
        """Compute one time step: a subclass says how.

        Raises
        ------
        NotImplementedError
            It does not.
        """
        raise NotImplementedError(
            f"{self.label}: has no step. Write step(self, x, states), which returns the output and "
            "the new states."
        )

    def preprocess_input(self, x: Tensor) -> Tensor:
        """Return the sequence whose time steps `step` gets: the input itself."""
        return x

    def get_constants(self, x: Tensor) -> list[Any]:
        """Return what each step gets behind the states: nothing."""
        return []

    def size_of_states(self) -> Any:
        """Return the size of a sample of each state, and of the output.

        Raises
        ------
        NotBuiltError
            The subclass has not said it.
        """
        if not hasattr(self, "output_dim"):
            raise NotBuiltError(
                f"{self.label}: has no output_dim; expected the number of its outputs. Set "
                "self.output_dim in its __init__.",
                subject=self,
            )
        return self.output_dim

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments; initial weights are no part of it."""
        config = super().get_config()
        config.pop("weights", None)
        return config


class ConvRecurrent2D(Recurrent, ConvRNN2D):
    """Base of recurrent layers whose inputs and states are images; see `Recurrent`.

    Parameters
    ----------
    weights : list of np.ndarray, optional
        Values for the weights when they are made.
    nb_row, nb_col : int
        Sizes of the kernels.
    nb_filter : int
        Number of channels of the output and of the states.
    return_sequences, go_backwards, stateful : bool
        As for `RNN`.
    dim_ordering : {"tf", "th", "default"}
        How images are laid out.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, rows, columns, channels), with "th" (batch, time, channels, rows, columns).
    A subclass says by `border_mode` ("valid" or "same") and `subsample` (a pair) how great its
    output is. Source: `keras.layers.convolutional_recurrent.ConvRecurrent2D` of Keras 1.2.
    """

    border_mode = "valid"
    subsample: tuple[int, int] = (1, 1)

    def __init__(
        self,
        weights: Any = None,
        nb_row: int | None = None,
        nb_col: int | None = None,
        nb_filter: int | None = None,
        return_sequences: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        dim_ordering: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            weights,
            return_sequences=return_sequences,
            go_backwards=go_backwards,
            stateful=stateful,
            **kwargs,
        )
        self.nb_row, self.nb_col, self.nb_filter = nb_row, nb_col, nb_filter
        self.dim_ordering = dim_ordering
        self.data_format = K.normalize_data_format(dim_ordering)

    def get_initial_states(self, x: Tensor) -> list[Tensor]:
        """Return zeros for each state, of the shape of an output."""
        shape = self.shape_of_output(x.shape)
        zeros = K.sum(K.zeros_like(x), axis=(1, 2, 3, 4))
        return [self._repeated(zeros, shape) for _ in self.states]

    def shapes_of_states(self, input_shape: Shape) -> list[Shape]:
        """Return the shape of a sample of each state."""
        if not (self.nb_row and self.nb_col and self.nb_filter):
            raise NotBuiltError(
                f"{self.label}: the shape of its states needs nb_row, nb_col and nb_filter; got "
                f"{self.nb_row}, {self.nb_col}, {self.nb_filter}.",
                subject=self,
            )
        is_first = self.data_format == "channels_first"
        places = input_shape[3:] if is_first else input_shape[2:4]
        kernel = (self.nb_row, self.nb_col)
        sizes = [
            conv_output_length(places[i], kernel[i], self.border_mode, self.subsample[i])
            for i in range(2)
        ]
        shape = (self.nb_filter, *sizes) if is_first else (*sizes, self.nb_filter)
        return [shape for _ in self.states]


def time_distributed_dense(
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    dropout: float | None = None,
    input_dim: int | None = None,
    output_dim: int | None = None,
    timesteps: int | None = None,
) -> Tensor:
    """Return x . w + b for each time step.

    Parameters
    ----------
    x : Tensor, shape (batch, time, features)
    w : Tensor, shape (features, units)
    b : Tensor, shape (units,), optional
    dropout : float, optional
        Share of the features that are dropped in training, the same ones in all time steps.
    input_dim, output_dim, timesteps : int, optional
        Sizes that the shapes say as well.

    Returns
    -------
    Tensor, shape (batch, time, units)
    """
    if dropout:
        ones = K.ones_like(x[:, :1])
        x = x * K.in_train_phase(lambda: K.dropout(ones, dropout), ones)
    products = K.dot(x, w)
    return products if b is None else K.bias_add(products, b, "channels_last")
