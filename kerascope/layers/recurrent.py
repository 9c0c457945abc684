"""The recurrent layers: RNN, the loop over time around a cell, and SimpleRNN, LSTM and GRU.

A cell computes one time step: `call(inputs, states)` returns an output and the new states
(`recurrent_cells.py`). RNN applies the cell to the steps of a sequence one after another; `K.rnn`
is the loop itself. SimpleRNN, LSTM and GRU are RNNs that make their own cell.

Lesson: the chapter on text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from kerascope import backend as K
from kerascope.backend.graph import Tensor, graph_mode
from kerascope.backend.shapes import Shape, Shapes
from kerascope.backend.variables import Variable
from kerascope.configurable import by_name, configured_names, constructor_parameters, made_from
from kerascope.engine.arguments import accepts, listed_shapes, to_list, unpack_singleton
from kerascope.engine.base_layer import Layer
from kerascope.engine.builders import make_layer
from kerascope.engine.layer_type import layer_registry
from kerascope.engine.policies.cost import budget_of
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.arguments import Identifier, Masks, Tensors, Training
from kerascope.layers.inner_layers import build_inside
from kerascope.layers.recurrent_cells import (
    DropoutMasks,
    GatedCell,
    GRUCell,
    LSTMCell,
    SimpleRNNCell,
    StackedRNNCells,
    check_states,
    first_shape,
    size_of_output,
    sizes_of_states,
)
from kerascope.registry import custom_object_scope
from kerascope.spellings import default_by_dialect, dialect_options, override_dialect

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "GRUCell",
    "LSTMCell",
    "SimpleRNN",
    "SimpleRNNCell",
    "StackedRNNCells",
]


class RNN(Layer):
    """Applies a cell to the time steps of a sequence, one after another.

    Parameters
    ----------
    cell : Layer or object, or list of them
        An object with `call(inputs, states)`, which returns `(output, new_states)`, and
        `state_size`, an int or a list of ints. A list of cells becomes a `StackedRNNCells`.
    return_sequences : bool
        Whether the output contains all time steps. By default, it is the output of the last step.
    return_state : bool
        Whether the last states are returned too, after the output.
    go_backwards : bool
        Whether the steps are processed from the last to the first. The output has this reversed
        order too.
    stateful : bool
        Whether the states at the end of a batch are the first states of the next batch. The batch
        size must be known.
    unroll : bool
        Whether the graph contains the ops of every step, instead of one op with the loop inside.
        Unrolling is faster for short sequences. The length of the sequence must be known.
    **kwargs
        As for `Layer`. `input_dim=n` means `input_shape=(None, n)`. `zero_output_for_mask`, an
        argument of Keras 3, sets the outputs of skipped steps to 0.

    Raises
    ------
    ArgumentError
        `cell` has no `call` or no `state_size`, or the number of initial states is wrong.
    ShapeError
        The input has no time axis, or the shape of a given state is wrong.

    Notes
    -----
    Input (batch, time, features), output (batch, units) or, with `return_sequences`, (batch, time,
    units). At a step that the mask (batch, time) excludes, output and states stay unchanged.

    The first states are zeros unless they are given in the call: `rnn(x, initial_state=[h])`, or
    `rnn([x, h])`. The argument `constants` of a call contains tensors that every step needs. They
    are passed to the cell's `call` as a list, in its argument `constants`.

    Examples
    --------
    >>> import numpy as np
    >>> class Sum:
    ...     state_size = 1
    ...     def call(self, inputs, states):
    ...         output = states[0] + inputs
    ...         return output, [output]
    >>> RNN(Sum(), return_sequences=True)(np.array([[[1.0], [2.0], [3.0]]])).tolist()
    [[[1.0], [3.0], [6.0]]]
    """

    axes: tuple[str, ...] = ("batch", "time", "features")
    cell: Any
    states: list[Variable | None]

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        self._num_constants: int = kwargs.pop("num_constants", None) or 0
        self.zero_output_for_mask = bool(kwargs.pop("zero_output_for_mask", False))
        super().__init__(**keywords_with_input_shape(kwargs))
        self.cell = StackedRNNCells(cell) if isinstance(cell, (list, tuple)) else cell
        for needed in ("call", "state_size"):
            if not hasattr(self.cell, needed):
                raise ArgumentError(
                    f"{self.label}: expected a cell with call(inputs, states) and state_size, such "
                    f"as LSTMCell(32), got {cell!r}, which has no {needed!r}.",
                    subject=self,
                )
        self.return_sequences = bool(return_sequences)
        self.return_state = bool(return_state)
        self.go_backwards = bool(go_backwards)
        self.stateful = bool(stateful)
        self.unroll = bool(unroll)
        self.supports_masking = True
        self._features: int | None = None  # of a time step, known when the layer is built
        self.states = [None] * len(sizes_of_states(self.cell))

    def build(self, input_shape: Shapes, constants_shape: Any = None) -> None:
        """Make the cell's weights and, if the layer is stateful, the variables of the states."""
        shape = first_shape(input_shape)
        check_sequence(self, shape, self.axes)
        step_shape: Any = (shape[0], *shape[2:])
        if constants_shape is None and self._num_constants:
            constants_shape = list(input_shape[-self._num_constants :])
        constants_shape = listed_shapes(constants_shape) if constants_shape else []
        self._features = shape[-1] if len(shape) == 3 else None
        takes_list = constants_shape and accepts(self.cell.call, "constants")
        build_inside(self.cell, [step_shape, *constants_shape] if takes_list else step_shape)
        if self.stateful:
            self.make_states(shape)
        self.built = True

    # --- the loop ---------------------------------------------------------------------------------

    def call(
        self,
        inputs: Tensors,
        mask: Masks = None,
        training: Training = None,
        initial_state: Tensors | None = None,
        constants: Tensors | None = None,
    ) -> Any:
        """Apply the cell to all time steps, one after another.

        Returns
        -------
        Tensor or list of Tensor
            The output; with `return_state` a list of it and the last states.
        """
        sequence, states, constants = recurrent_inputs(
            inputs, initial_state, constants, self._num_constants
        )
        check_sequence(self, sequence.shape, self.axes, self._features)
        self._check_length(sequence)
        if not K.dtype(sequence).startswith("float"):
            sequence = K.cast(sequence, self.dtype)
        states = states or self.first_states(sequence)
        check_states(self, states, self.shapes_of_states(sequence.shape))
        self._check_constants(constants)
        sequence_mask = first_mask(mask)
        sequence, step = self._prepared(sequence, len(constants), training)
        last_output, outputs, last_states = K.rnn(
            step,
            sequence,
            states,
            go_backwards=self.go_backwards,
            mask=sequence_mask,
            constants=constants,
            unroll=self.unroll,
            input_length=sequence.shape[1],
        )
        self._check_entries(inputs)
        # In a list of inputs the constants are at the end, so their number is stored.
        self._num_constants = len(constants) or self._num_constants
        if self.stateful:
            self._keep(last_states, inputs)
        if self.zero_output_for_mask and sequence_mask is not None:
            last_output, outputs = self._without_masked_steps(outputs, sequence_mask)
        output = outputs if self.return_sequences else last_output
        if not self.return_state:
            return output
        # An output that is also a state is returned as two tensors.
        return [output, *[K.identity(y) if y is output else y for y in last_states]]

    def _keep(self, last_states: list[Tensor], inputs: Tensors) -> None:
        """Store the last states as the first states of the next batch.

        In dialect "3" they are assigned at once, so even a second call in the same model uses them.
        In other dialects they become updates of this call.
        """
        pairs = list(zip(self.states, last_states, strict=True))
        if not dialect_options().trains_as_keras_3:
            self.add_update(pairs, inputs)
            return
        for state, new_value in pairs:
            assert state is not None  # made by `first_states`
            state.assign(new_value)

    def _check_constants(self, constants: list[Tensor]) -> None:
        """Raise an error if constants are given, but the cell's `call` has no such argument."""
        if constants and not accepts(self.cell.call, "constants"):
            raise ArgumentError(
                f"{self.label}: RNN cell does not support constants, got {len(constants)}. "
                f"Write a cell with call(inputs, states, constants).",
                subject=self,
            )

    def _check_length(self, sequence: Tensor) -> None:
        if self.unroll and sequence.shape[1] is None:
            raise ShapeError(
                f"{self.label}: Cannot unroll a RNN if the time dimension is undefined; input has "
                f"shape {sequence.shape}. Give the input a length, or leave out unroll=True.",
                subject=self,
            )

    def _check_entries(self, inputs: Tensors) -> None:
        """Raise an error if a layer in the cell has penalties or updates and `unroll` is False."""
        call = self._whole_call(inputs)
        kept = [*self._of_inner_layers("get_losses_for", call)]
        kept += self._of_inner_layers("get_updates_for", call)
        if kept and not self.unroll:
            raise ArgumentError(
                f"{self.label}: a layer inside the cell has a penalty on its output, or an update, "
                f"in every time step, which the loop cannot return. Make it with unroll=True.",
                subject=self,
            )

    def _without_masked_steps(self, outputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the last output and the sequence of outputs, which are 0 at masked steps."""
        counts = K.reverse(mask, 1) if self.go_backwards else mask
        for _ in range(outputs.ndim - mask.ndim):
            counts = K.expand_dims(counts, -1)
        outputs = outputs * K.cast(counts, K.dtype(outputs))
        return outputs[:, -1], outputs

    def _prepared(self, sequence: Tensor, number_of_constants: int, training: Training) -> Any:
        """Return the sequence, and the function of a time step, that are passed to `K.rnn`.

        Everything that does not depend on the state is computed outside the loop: dropout masks
        and, for kerascope's own cells, the products of the inputs with the kernel.
        """
        cell, keywords = self.cell, {}
        has_masks = hasattr(cell, "dropout_masks")
        masks: Any = cell.dropout_masks(sequence[:, 0], training) if has_masks else None
        if isinstance(cell, GatedCell) and type(cell).call is GatedCell.call:
            return self._projected(sequence, masks), lambda x, states: cell.step(x, states, masks)
        if has_masks:
            keywords["masks"] = masks
        if accepts(cell.call, "training"):
            keywords["training"] = training

        def step(inputs: Tensor, states: list[Tensor]) -> Any:
            first_constant = len(states) - number_of_constants
            states, constants = list(states[:first_constant]), list(states[first_constant:])
            further = {"constants": constants} if constants else {}
            output, new_states = cell.call(inputs, states, **keywords, **further)
            return output, to_list(new_states)

        return sequence, step

    def _projected(self, sequence: Tensor, masks: Any) -> Tensor:
        """Return inputs · kernel + bias of the cell, for all time steps.

        If possible, time is the first axis in this product, so that the values of each step are
        contiguous in memory when the loop reads them.
        """
        if sequence.ndim != 3 or masks.inputs is not None:
            return self.cell.project_inputs(sequence, masks)
        in_time = K.permute_dimensions(sequence, (1, 0, 2))
        return K.permute_dimensions(self.cell.project_inputs(in_time), (1, 0, 2))

    # --- states from batch to batch ---------------------------------------------------------------
    #
    # A stateful layer treats each batch as the continuation of the one before: sample i of a batch
    # continues sample i of the last batch. The states are variables: every run of the model updates
    # them, and `reset_states` resets them.

    def shapes_of_states(self, input_shape: Shape) -> list[Shape]:
        """Return the shape of each state, without the batch, for a sequence of this shape."""
        return sizes_of_states(self.cell)

    def get_initial_state(self, inputs: Tensor) -> list[Tensor]:
        """Return zeros for each state, one row for each sample of `inputs`."""
        own = getattr(self.cell, "get_initial_state", None)
        if own is not None:  # its arguments differ between versions of Keras
            known = {"inputs": inputs, "batch_size": K.shape(inputs)[0], "dtype": K.dtype(inputs)}
            return to_list(own(**{name: v for name, v in known.items() if accepts(own, name)}))
        first_numbers = K.zeros_like(inputs[:, :1, :1])
        zeros = K.sum(first_numbers, axis=(1, 2))
        return [self._repeated(zeros, size) for size in sizes_of_states(self.cell)]

    @staticmethod
    def _repeated(zeros: Tensor, size: Shape) -> Tensor:
        """Return a vector (batch,) repeated to the shape (batch, *size)."""
        for _ in size:
            zeros = K.expand_dims(zeros, -1)
        return K.tile(zeros, (1, *size))

    def first_states(self, sequence: Tensor) -> list[Any]:
        """Return the first states of a batch for a call without initial states.

        Raises
        ------
        ShapeError
            The layer is stateful, and the batch size is not that of the first call.
        """
        if not self.stateful:
            return self.get_initial_state(sequence)
        state = self.states[0]
        if state is None:
            self.make_states(sequence.shape)
        elif sequence.shape[0] not in (None, state.shape[0]):
            raise ShapeError(
                f"{self.label}: expected batches of {state.shape[0]} samples (the layer is "
                f"stateful), got {sequence.shape[0]}. Pass a multiple of the batch size.",
                subject=self,
            )
        return list(self.states)

    def make_states(self, input_shape: Shape) -> None:
        """Make a variable with zeros for each state of a stateful layer.

        Raises
        ------
        ShapeError
            The batch size is not known.
        """
        if input_shape[0] is None:
            raise ShapeError(
                f"{self.label}: If a RNN is stateful, it needs to know its batch size; input has "
                f"shape {input_shape}. Give batch_input_shape=(batch, time, features) to the first "
                "layer, or Input(batch_shape=...).",
                subject=self,
            )
        shapes = [(input_shape[0], *size) for size in self.shapes_of_states(input_shape)]
        with graph_mode():
            self.states = [
                K.variable(self._zeros(shape, index), self.dtype, f"{self.name}/state_{index}")
                for index, shape in enumerate(shapes)
            ]

    def _zeros(self, shape: Shape, index: int) -> np.ndarray:
        budget = budget_of(self)
        if budget is not None:
            budget.take_numbers(shape, f"a state {index} in {self.label}")
        return np.zeros([size or 0 for size in shape])

    def reset_states(self, states: Any = None) -> None:
        """Set the states of a stateful layer to 0, or to the given arrays.

        Parameters
        ----------
        states : np.ndarray or list of np.ndarray, optional
            One array for each state, of shape (batch, units).

        Raises
        ------
        ArgumentError
            The layer is not stateful, has not been called yet, or the number of arrays is wrong.
        ShapeError
            The shapes of an array and of its state differ.
        """
        K.batch_set_value(self._resets(states))

    def reset_state(self) -> None:
        """Set the states to 0; Keras 3's name for `reset_states`."""
        self.reset_states()

    def _resets(self, states: Any = None) -> list[tuple[Variable, Any]]:
        """Return the updates that reset the states: a pair (variable, value) for each state.

        The values are the given `states`, by default zeros. The list is empty if the layer has no
        states yet and no `states` are given.
        """
        if not self.stateful:
            raise ArgumentError(
                f"{self.label}: Layer must be stateful to reset its states. Make it with "
                "stateful=True.",
                subject=self,
            )
        variables = [state for state in self.states if state is not None]
        if len(variables) != len(self.states):
            if states is None:
                return []  # no states are stored yet
            raise ArgumentError(
                f"{self.label}: has no states yet. Call the layer before you set its states.",
                subject=self,
            )
        arrays = (
            [np.zeros_like(K.get_value(v)) for v in variables]
            if states is None
            else to_list(states)
        )
        if len(arrays) != len(variables):
            raise ArgumentError(
                f"{self.label}: reset_states expected {len(variables)} arrays, one for each state, "
                f"got {len(arrays)}.",
                subject=self,
            )
        return list(zip(variables, arrays, strict=True))

    # --- shapes, masks, configuration -------------------------------------------------------------

    def compute_output_shape(self, input_shape: Shapes) -> Any:
        """Return the output's shape; with `return_state`, a list of it and the states' shapes."""
        shape = first_shape(input_shape)
        leading = shape[:2] if self.return_sequences else shape[:1]
        shapes = [(*leading, *self.shape_of_output(shape))]
        if self.return_state:
            shapes += [(shape[0], *size) for size in self.shapes_of_states(shape)]
        return unpack_singleton(shapes)

    def shape_of_output(self, input_shape: Shape) -> Shape:
        """Return the shape of one step's output, without the batch."""
        return size_of_output(self.cell)

    def compute_mask(self, inputs: Tensors, mask: Masks = None) -> Any:
        """Return the mask of the sequence if the output is a sequence, otherwise None.

        With `return_state`, return a list of this mask and None for each state.
        """
        output_mask = first_mask(mask) if self.return_sequences else None
        if not self.return_state:
            return output_mask
        return [output_mask, *[None for _ in sizes_of_states(self.cell)]]

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, ready for JSON."""
        config = super().get_config()
        if "cell" in configured_names(type(self)):
            config["cell"] = layer_registry.serialize(self.cell)
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = True
        if self._num_constants:
            config["num_constants"] = self._num_constants
        return config

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> RNN:
        """Make a layer from its configuration; your own cells need `custom_objects`."""
        config = dict(config)
        if isinstance(config.get("cell"), dict):
            with custom_object_scope(custom_objects or {}):
                config["cell"] = make_layer(config["cell"])
        with override_dialect(has_other_slope=False):
            layer: RNN = made_from(cls, config)
        return layer


# --- layers that make their own cell --------------------------------------------------------------


# Keras 1's names of a recurrent layer's weights, which the methods of old subclasses use.
WEIGHTS_OF_KERAS_1 = {"W": "kernel", "U": "recurrent_kernel", "b": "bias"}


class LayerOfCell(RNN):
    """Base class of SimpleRNN, GRU and LSTM: an RNN that makes its own cell.

    A subclass has the arguments of its `_cell_class` and those of `RNN`. The arguments and weights
    of the cell are also attributes of the layer: `lstm.units`.
    """

    _is_part = True
    _cell_class: ClassVar[type[GatedCell]]
    _projects_first = True  # whether Keras 1's `step` may receive products of inputs and kernel

    def __init__(self, **arguments: Any) -> None:
        names = constructor_parameters(self._cell_class)
        of_cell = {name: arguments.pop(name) for name in names if name in arguments}
        cell = self._cell_class(**of_cell, **self.cell_keywords(arguments))
        super().__init__(cell, **arguments)
        cell.name = self.name  # its weights are then called lstm_1/kernel

    def __getattr__(self, name: str) -> Any:
        if hasattr(type(self), name):  # a property that raised, such as `output`: show its error
            return super().__getattribute__(name)
        cell = vars(self).get("cell")
        if cell is not None and not name.startswith("__"):
            value = getattr(cell, WEIGHTS_OF_KERAS_1.get(name, name), None)
            if name in constructor_parameters(type(cell)) or isinstance(value, Variable):
                return value
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def set_weights(self, weights: list[Any]) -> None:
        """Replace the values of all weights. After an error, no weight is replaced.

        The arrays are those of `get_weights`, or those of Keras 1: kernel, recurrent kernel and
        bias of each gate. In Keras 1, an LSTM has 12 arrays, with the gates in the order i, c, f,
        o; a GRU has 9, with the gates in the order z, r, h.

        Raises
        ------
        ArgumentError
            There are too many arrays or too few.
        ShapeError
            The shape of an array is not that of its weight, or of its part of the weight.
        """
        order = self._cell_class.gates_in_keras_1
        if order and len(weights) == 3 * len(order):
            starts = [3 * order.index(gate) for gate in range(len(order))]
            try:
                weights = [
                    np.concatenate([weights[start + part] for start in starts], -1)
                    for part in range(3)
                ]
            except ValueError as error:
                raise ShapeError(
                    f"{self.label}: set_weights expected kernel, recurrent kernel and bias of each "
                    f"gate, got {len(weights)} arrays, whose shapes do not fit each other: "
                    f"{[np.shape(x) for x in weights]}.",
                    subject=self,
                ) from error
        super().set_weights(weights)

    # --- methods of Keras 1 -----------------------------------------------------------------------
    #
    # In Keras 1 the layer itself computes the step, and a subclass may override these methods. If
    # no method is overridden, the cell computes the step as usual, without these constants.

    def preprocess_input(self, x: Tensor) -> Tensor:
        """Return the sequence whose time steps are passed to `step`.

        Returns
        -------
        Tensor, shape (batch, time, gates * units)
            Products of the inputs with the kernel. `x` itself with `implementation=2`
            (`consume_less="gpu"` in Keras 1), or if `step` computes these products.
        """
        if not self._is_projected:
            return x
        return self.cell.project_inputs(x, self.cell.dropout_masks(x[:, 0])._replace(states=None))

    def get_constants(self, x: Tensor) -> list[Any]:
        """Return the constants passed to each step after the states: dropout factors.

        The first item is for the state, the second for the input. An item is a tensor, or a list
        with a tensor for each gate. Without dropout, the number 1 replaces the tensors.
        """
        gates = self._cell_class.gates
        masks = self.cell.dropout_masks(x[:, 0])
        if self._is_projected:
            masks = masks._replace(inputs=None)
        ones = [np.ones((), self.dtype)] * gates
        drawn = [factors or ones for factors in (masks.states, masks.inputs)]
        return [factors[0] for factors in drawn] if gates == 1 else drawn

    def get_initial_states(self, x: Tensor) -> list[Tensor]:
        """Return the first states of a sequence, which are zeros."""
        return super().get_initial_state(x)

    def step(self, x: Tensor, states: list[Any]) -> tuple[Tensor, list[Tensor]]:
        """Return the output and the new states of one time step.

        Parameters
        ----------
        x : Tensor
            One time step of the sequence from `preprocess_input`.
        states : list
            The states, then the constants from `get_constants`.

        Returns
        -------
        output : Tensor, shape (batch, units)
        states : list of Tensor
        """
        number = len(sizes_of_states(self.cell))
        factors: Any = [
            None if all(np.shape(one) == () for one in to_list(given)) else to_list(given)
            for given in states[number:]
        ]
        of_states, of_inputs = factors or (None, None)
        masks, own = DropoutMasks(of_inputs, of_states), list(states[:number])
        projected = x if self._is_projected else self.cell.project_inputs(x, masks)
        output, new_states = self.cell.step(projected, own, masks)
        return output, new_states

    @property
    def _is_projected(self) -> bool:
        return self._projects_first and self.cell.implementation == 1

    def get_initial_state(self, inputs: Tensor) -> list[Tensor]:
        """Return zeros for each state, one row for each sample of `inputs`."""
        return self.get_initial_states(inputs)

    def _prepared(self, sequence: Tensor, number_of_constants: int, training: Training) -> Any:
        """Return the sequence, and the function of a time step, that are passed to `K.rnn`.

        If a subclass overrides `preprocess_input`, `get_constants` or `step`, as in Keras 1, all
        three methods are used.
        """
        names = ("preprocess_input", "get_constants", "step")
        if all(getattr(type(self), name) is getattr(LayerOfCell, name) for name in names):
            return super()._prepared(sequence, number_of_constants, training)
        constants = self.get_constants(sequence)
        steps = self.preprocess_input(sequence)
        return steps, lambda x, states: self.step(x, [*states, *constants])

    @staticmethod
    def cell_keywords(kwargs: dict[str, Any]) -> dict[str, Any]:
        """Return the cell's `name` and `dtype`, made from the keyword arguments of the layer."""
        return {"name": "cell", "dtype": kwargs.get("dtype")}


class SimpleRNN(LayerOfCell):
    """The simple recurrent layer: its output is also an input of the next time step.

    Parameters
    ----------
    units : int
        Size of the output and of the state.
    activation : str or callable
        Applied to the output.
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        Initial values of the weights.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    dropout, recurrent_dropout : float
        Fractions of the features and of the state that are dropped in training, the same in
        all time steps of a call.
    return_sequences, return_state, go_backwards, stateful, unroll : bool
        As for `RNN`.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, features), output (batch, units) or (batch, time, units). In each step::

        output = state = activation(dot(inputs, kernel) + dot(state, recurrent_kernel) + bias)

    Examples
    --------
    >>> import numpy as np
    >>> layer = SimpleRNN(1, activation="linear", kernel_initializer="ones",
    ...                   recurrent_initializer="ones", return_sequences=True)
    >>> layer(np.array([[[1.0], [2.0], [3.0]]])).tolist()
    [[[1.0], [3.0], [6.0]]]
    """

    _cell_class = SimpleRNNCell

    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        implementation = kwargs.pop("implementation", None)  # all layers of Keras 1 accept it
        super().__init__(**by_name(locals(), "implementation"))
        self.cell.implementation = implementation or 1


class LSTM(LayerOfCell):
    """Long short-term memory: gates decide what is kept, forgotten and output.

    Parameters
    ----------
    units : int
        Size of the output and of the memory.
    activation : str or callable
        Activation of the candidates for the memory, and of the memory in the output.
    recurrent_activation : str or callable
        Activation of the gates; in dialect "3" the default is "sigmoid".
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        Initial values of the weights.
    unit_forget_bias : bool
        Whether the bias of the forget gate starts at 1, so that little is forgotten at first.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    dropout, recurrent_dropout : float
        Fractions of the features and of the state that are dropped in training, the same in
        all time steps of a call.
    implementation : {1, 2}
        With 1 each gate has its own dropout masks, with 2 all gates share them. Without dropout
        both values give the same result. (0, an old value, means 1.)
    return_sequences, return_state, go_backwards, stateful, unroll : bool
        As for `RNN`.
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, features), output (batch, units) or (batch, time, units); the formulas are
    those of `LSTMCell`. The states are h, which is the output, and the memory c.

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> layer = LSTM(32, return_state=True)
    >>> [y.shape for y in layer(Input(shape=(10, 8)))]
    [(None, 32), (None, 32), (None, 32)]
    >>> [(w.name.split("/")[-1], w.shape) for w in layer.weights]
    [('kernel', (8, 128)), ('recurrent_kernel', (32, 128)), ('bias', (128,))]
    """

    _cell_class = LSTMCell

    @default_by_dialect
    def __init__(
        self,
        units: int,
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
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


class GRU(LayerOfCell):
    """The gated recurrent unit: in each step, gates decide how much of the state is replaced.

    Parameters
    ----------
    units : int
        Size of the output and of the state.
    activation : str or callable
        Activation of the candidates for the state.
    recurrent_activation : str or callable
        Activation of the gates; in dialect "3" the default is "sigmoid".
    use_bias : bool
        Whether a bias is added.
    kernel_initializer, recurrent_initializer, bias_initializer : str, callable or object
        Initial values of the weights.
    kernel_regularizer, recurrent_regularizer, bias_regularizer : str, callable or object, optional
        Penalties on the weights.
    activity_regularizer : str, callable or object, optional
        Penalty on the output.
    kernel_constraint, recurrent_constraint, bias_constraint : str, callable or object, optional
        Applied by the optimizer to each new value.
    dropout, recurrent_dropout : float
        Fractions of the features and of the state that are dropped in training, the same in
        all time steps of a call.
    implementation : {1, 2}
        With 1 each gate has its own dropout masks, with 2 all gates share them. Without dropout
        both values give the same result. (0, an old value, means 1.)
    return_sequences, return_state, go_backwards, stateful, unroll : bool
        As for `RNN`.
    reset_after : bool
        Whether the reset gate acts after the product: see `GRUCell`. Default True in dialect "3".
    **kwargs
        As for `Layer`.

    Notes
    -----
    Input (batch, time, features), output (batch, units) or (batch, time, units); the formulas are
    those of `GRUCell`. The state is the output.

    Examples
    --------
    >>> from kerascope.layers import Input
    >>> layer = GRU(4, reset_after=True, return_sequences=True)
    >>> layer(Input(shape=(None, 8))).shape
    (None, None, 4)
    >>> [(w.name.split("/")[-1], w.shape) for w in layer.weights]
    [('kernel', (8, 12)), ('recurrent_kernel', (4, 12)), ('bias', (2, 12))]
    """

    _cell_class = GRUCell

    @default_by_dialect
    def __init__(
        self,
        units: int,
        activation: Identifier = "tanh",
        recurrent_activation: Identifier = "hard_sigmoid",
        use_bias: bool = True,
        kernel_initializer: Identifier = "glorot_uniform",
        recurrent_initializer: Identifier = "orthogonal",
        bias_initializer: Identifier = "zeros",
        kernel_regularizer: Identifier = None,
        recurrent_regularizer: Identifier = None,
        bias_regularizer: Identifier = None,
        activity_regularizer: Identifier = None,
        kernel_constraint: Identifier = None,
        recurrent_constraint: Identifier = None,
        bias_constraint: Identifier = None,
        dropout: float = 0.0,
        recurrent_dropout: float = 0.0,
        implementation: int = 1,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        reset_after: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**by_name(locals()))


# --- inputs of recurrent layers and of their wrappers ---------------------------------------------
# Keras accepts the states in two equivalent ways: `lstm(x, initial_state=[h, c])`, and as further
# inputs in one list, `lstm([x, h, c])`.


class RecurrentInputs(NamedTuple):
    """The inputs of a recurrent layer: the sequence, and lists of states and of constants."""

    sequence: Tensor
    states: list[Tensor]
    constants: list[Tensor]


def recurrent_inputs(
    inputs: Tensors,
    initial_state: Tensors | None = None,
    constants: Tensors | None = None,
    number_of_constants: int = 0,
) -> RecurrentInputs:
    """Split the inputs of a recurrent layer into sequence, states and constants.

    Parameters
    ----------
    inputs : Tensor or list of Tensor
        The sequence, or a list of the sequence, the states and the constants.
    initial_state, constants : Tensor or list of Tensor, optional
        States and constants that are passed by keyword.
    number_of_constants : int
        Number of constants at the end of the list.
    """
    if not isinstance(inputs, (list, tuple)):
        return RecurrentInputs(inputs, to_list(initial_state), to_list(constants))
    sequence, *others = inputs
    first_constant = len(others) if constants is not None else len(others) - number_of_constants
    return RecurrentInputs(
        sequence,
        others[:first_constant] or to_list(initial_state),
        to_list(constants) if constants is not None else others[first_constant:],
    )


def first_mask(mask: Masks) -> Tensor | None:
    """Return the mask of the sequence, which is the first of a list of masks."""
    return mask[0] if isinstance(mask, (list, tuple)) else mask


def keywords_with_input_shape(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return a layer's keywords with `input_shape` instead of `input_dim` and `input_length`.

    A sample has two axes even if its length is not fixed.

    Examples
    --------
    >>> keywords_with_input_shape({"input_dim": 8, "name": "encoder"})
    {'name': 'encoder', 'input_shape': (None, 8)}
    """
    if "input_dim" not in kwargs:
        return kwargs
    kept = {key: v for key, v in kwargs.items() if key not in ("input_dim", "input_length")}
    if "batch_input_shape" not in kept and "input_shape" not in kept:
        kept["input_shape"] = (kwargs.get("input_length"), kwargs["input_dim"])
    return kept


def check_sequence(
    layer: Layer, shape: Shape, axes: Sequence[str], features: int | None = None
) -> None:
    """Check the sequence that a recurrent layer is called on.

    Parameters
    ----------
    layer : Layer
        The recurrent layer, for its label in errors.
    shape : tuple of int or None
        Shape of the sequence.
    axes : sequence of str
        Names of the axes.
    features : int, optional
        Size of the last axis for which the layer was built.

    Raises
    ------
    ShapeError
        The number of axes or of features is wrong, or the sequence has no time step.
    """
    where = layer.label
    if len(shape) != len(axes):
        remedy = "Flatten the axes after the time axis, or wrap the layer in TimeDistributed."
        if len(shape) < len(axes):
            remedy = (
                "Reshape() the input to give it a time axis; if it comes from another recurrent "
                "layer, give that one return_sequences=True."
            )
        raise ShapeError(
            f"{where}: expected an input with {len(axes)} axes ({', '.join(axes)}), got "
            f"{len(shape)} {shape}. {remedy}",
            subject=layer,
        )
    if shape[1] == 0:
        raise ShapeError(
            f"{where}: expected at least 1 time step, got an input of shape {shape}.", subject=layer
        )
    if None not in (features, shape[-1]) and shape[-1] != features:
        raise ShapeError(
            f"{where}: expected {features} features in each time step, as at the first call, got "
            f"{shape[-1]} {shape}. Use another layer for another size.",
            subject=layer,
        )
