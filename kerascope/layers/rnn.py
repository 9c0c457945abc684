"""RNN: the loop over time around a cell.

A cell says what happens in one time step: `call(inputs, states)` returns an output and the new
states. RNN feeds it the steps of a sequence one after another; `K.rnn` is the loop itself.
SimpleRNN, GRU and LSTM are RNNs that make their own cell.

Lesson: the chapter on text.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.graph import Tensor, Variable
from kerascope.backend.shapes import Shape
from kerascope.configured import constructor_parameters
from kerascope.engine.arguments import accepts, to_list, unpack_singleton
from kerascope.engine.layer_type import layer_registry
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.gates import GatedCell
from kerascope.layers.inner_layers import build_inside
from kerascope.layers.recurrent_arguments import (
    check_sequence,
    check_states,
    first_mask,
    first_shape,
    keywords_with_input_shape,
    recurrent_inputs,
    size_of_output,
    sizes_of_states,
)
from kerascope.layers.recurrent_states import KeepsStates
from kerascope.layers.stacked_cells import StackedRNNCells
from kerascope.registry import custom_object_scope
from kerascope.spellings import changed_habits


class RNN(KeepsStates):
    """A cell, applied to the time steps of a sequence one after another.

    Parameters
    ----------
    cell : Layer or object, or list of them
        What has `call(inputs, states)`, which returns `(output, new_states)`, and `state_size`, an
        int or a list of ints. Several cells in a list are stacked.
    return_sequences : bool
        Whether the output holds all time steps or only the last.
    return_state : bool
        Whether the last states come out too, behind the output.
    go_backwards : bool
        Whether the steps are taken from the last to the first; the output is in that order too.
    stateful : bool
        Whether the states at the end of a batch are the first ones of the next. The batch size must
        be known.
    unroll : bool
        Whether the graph has the ops of every step, instead of one op with the loop inside. Faster
        for short sequences, whose length must be known.
    **kwargs
        As for `Layer`. `input_dim=n` stands for `input_shape=(None, n)`. `zero_output_for_mask`,
        an argument of Keras 3, makes the outputs of skipped steps zeros.

    Raises
    ------
    ArgumentError
        `cell` has no `call` or no `state_size`, or the number of initial states is wrong.
    ShapeError
        The input has no time axis, or a state does not fit.

    Notes
    -----
    Input (batch, time, features), output (batch, units) or, with `return_sequences`, (batch, time,
    units). Steps that a mask (batch, time) skips leave output and states as they are.

    The first states are zeros unless they are given in the call: `rnn(x, initial_state=[h])`, or
    `rnn([x, h])`. `constants` are tensors that every step needs: the cell's `call` gets them as a
    list if it has such an argument.

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
                    f"{self.label}: cell {cell!r} has no attribute {needed!r}; expected an object "
                    f"with call(inputs, states) and state_size, such as LSTMCell(32).",
                    subject=self,
                )
        self.return_sequences = bool(return_sequences)
        self.return_state = bool(return_state)
        self.go_backwards = bool(go_backwards)
        self.stateful = bool(stateful)
        self.unroll = bool(unroll)
        self.supports_masking = True
        self._features: int | None = None  # of a time step, known when the layer is built
        self.states: list[Variable | None] = [None] * len(sizes_of_states(self.cell))

    def build(self, input_shape: Any, constants_shape: Any = None) -> None:
        """Make the cell's weights and, if the layer is stateful, the states."""
        shape = first_shape(input_shape)
        check_sequence(self, shape, self.axes)
        step_shape: Any = (shape[0], *shape[2:])
        if constants_shape is None and self._num_constants:
            constants_shape = list(input_shape[-self._num_constants :])
        self._features = shape[-1] if len(shape) == 3 else None
        build_inside(self.cell, [step_shape, *constants_shape] if constants_shape else step_shape)
        if self.stateful:
            self.make_states(shape)
        self.built = True

    # --- the loop ---------------------------------------------------------------------------------

    def call(
        self,
        inputs: Any,
        mask: Any = None,
        training: Any = None,
        initial_state: Any = None,
        constants: Any = None,
    ) -> Any:
        """Run the cell over all time steps.

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
        mask = first_mask(mask)
        sequence, step = self._prepared(sequence, len(constants), training)
        last_output, outputs, last_states = K.rnn(
            step,
            sequence,
            states,
            go_backwards=self.go_backwards,
            mask=mask,
            constants=constants,
            unroll=self.unroll,
            input_length=sequence.shape[1],
        )
        self._check_books(inputs)
        # In a list of inputs the constants stand at the end: so it counts how many there are.
        self._num_constants = len(constants) or self._num_constants
        if self.stateful:
            self.add_update(list(zip(self.states, last_states, strict=True)), inputs)
        if self.zero_output_for_mask and mask is not None:
            last_output, outputs = self._without_masked_steps(outputs, mask)
        output = outputs if self.return_sequences else last_output
        if not self.return_state:
            return output
        # An output that is a state too comes out as two tensors, each with a place of its own.
        return [output, *[K.identity(y) if y is output else y for y in last_states]]

    def _check_constants(self, constants: list[Tensor]) -> None:
        """Refuse constants for which the cell has no use."""
        if constants and not accepts(self.cell.call, "constants"):
            raise ArgumentError(
                f"{self.label}: RNN cell does not support constants; {len(constants)} came. "
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

    def _check_books(self, inputs: Any) -> None:
        """Refuse penalties and updates of single steps, which stay inside the op of the loop."""
        call = self._whole_call(inputs)
        kept = [*self._of_inner_layers("get_losses_for", call)]
        kept += self._of_inner_layers("get_updates_for", call)
        if kept and not self.unroll:
            raise ArgumentError(
                f"{self.label}: a layer inside the cell has a penalty on its output, or an update, "
                f"in every time step, and the loop gives out neither. Make it with unroll=True.",
                subject=self,
            )

    def _without_masked_steps(self, outputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the last output and all outputs with zeros where the mask skips a step."""
        counts = K.reverse(mask, 1) if self.go_backwards else mask
        for _ in range(outputs.ndim - mask.ndim):
            counts = K.expand_dims(counts, -1)
        outputs = outputs * K.cast(counts, K.dtype(outputs))
        return outputs[:, -1], outputs

    def _prepared(self, sequence: Tensor, number_of_constants: int, training: Any) -> Any:
        """Return the sequence and the function of a time step as `K.rnn` wants them.

        What does not depend on the state stands outside of the loop: dropout masks and, for the
        cells of this package, the products of the inputs with the kernel.
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
        """Return the products of all inputs with the cell's kernel.

        They are made with time as first axis, if nothing speaks against it: so the inputs of a step
        lie together when the loop comes to them.
        """
        if sequence.ndim != 3 or masks.inputs is not None:
            return self.cell.project_inputs(sequence, masks)
        in_time = K.permute_dimensions(sequence, (1, 0, 2))
        return K.permute_dimensions(self.cell.project_inputs(in_time), (1, 0, 2))

    # --- shapes, masks, configuration -------------------------------------------------------------

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the output; with `return_state` a list with those of the states."""
        shape = first_shape(input_shape)
        leading = shape[:2] if self.return_sequences else shape[:1]
        shapes = [(*leading, *self.shape_of_output(shape))]
        if self.return_state:
            shapes += [(shape[0], *size) for size in self.shapes_of_states(shape)]
        return unpack_singleton(shapes)

    def shape_of_output(self, input_shape: Shape) -> Shape:
        """Return the shape of a sample of one step's output."""
        return size_of_output(self.cell)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the sequence if a sequence comes out; states have none."""
        output_mask = first_mask(mask) if self.return_sequences else None
        if not self.return_state:
            return output_mask
        return [output_mask, *[None for _ in sizes_of_states(self.cell)]]

    def get_config(self) -> dict[str, Any]:
        """Return what the constructor needs to make this layer again, ready for JSON."""
        config = super().get_config()
        if "cell" in constructor_parameters(type(self)):
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
        """Make a layer from what `get_config` returned; cells of your own by `custom_objects`."""
        config = dict(config)
        if isinstance(config.get("cell"), dict):
            with custom_object_scope(custom_objects or {}):
                config["cell"] = layer_registry.deserialize(config["cell"])
        with changed_habits(has_other_slope=False):
            return cls(**config)
