"""Wrappers: layers around another layer, as in Keras's `layers.wrappers`.

`Wrapper` is the base class. `TimeDistributed` applies the same layer to every time step.
`Bidirectional` runs a recurrent layer over a sequence in both directions. In a model, a wrapper is
one layer.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.atomic import reset_together
from kerascope.backend.graph import Tensor, graph_mode
from kerascope.backend.shapes import Shape, Shapes
from kerascope.backend.variables import Variable
from kerascope.engine.arguments import accepts, to_list, unpack_singleton
from kerascope.engine.base_layer import Layer
from kerascope.engine.builders import make_layer
from kerascope.engine.layer_type import layer_registry, sharing_functions
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.arguments import Masks, Tensors, Training
from kerascope.layers.inner_layers import build_inside, without_history
from kerascope.layers.recurrent import RecurrentInputs, first_mask, recurrent_inputs
from kerascope.layers.recurrent_cells import first_shape, join_steps, split_steps
from kerascope.registry import custom_object_scope
from kerascope.spellings import dialect_options

__all__ = ["Bidirectional", "TimeDistributed", "Wrapper"]


class Wrapper(Layer):
    """A layer around another layer, with that layer's weights, penalties and updates.

    Parameters
    ----------
    layer : Layer
        The wrapped layer; a model is a layer too.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ArgumentError
        `layer` is not a layer.

    Notes
    -----
    The base class returns the output of the wrapped layer. Your own wrapper defines another `call`.
    Freezing the wrapper freezes the wrapped layer: both have the same `trainable`.

    Examples
    --------
    >>> import numpy as np
    >>> from kerascope.layers import Dense
    >>> class Twice(Wrapper):
    ...     def call(self, inputs):
    ...         return 2 * self.layer(inputs)
    ...     def compute_output_shape(self, input_shape):
    ...         return self.layer.compute_output_shape(input_shape)
    >>> Twice(Dense(1, kernel_initializer="ones"))(np.array([[1.0, 2.0]])).tolist()
    [[6.0]]
    """

    activity_regularizer = None  # a penalty on the output of the wrapper

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        trainable = kwargs.pop("trainable", None)
        super().__init__(**kwargs)
        if not isinstance(layer, Layer):
            raise ArgumentError(
                f"{self.label}: expected a layer to wrap, got {layer!r}. "
                f"Give it an object: {type(self).__name__}(Dense(8)).",
                subject=self,
            )
        self.layer = layer
        self.supports_masking = layer.supports_masking
        if trainable is not None:
            self.trainable = trainable

    @property
    def wrapped(self) -> list[Layer]:
        """The wrapped layers, in a list."""
        layer = vars(self).get("layer")  # missing while the base class is initialised
        return [] if layer is None else [layer]

    @property
    def trainable(self) -> bool:  # type: ignore[override]
        """Whether training changes the weights of the wrapped layer."""
        return not self.wrapped or any(layer.trainable for layer in self.wrapped)

    @trainable.setter
    def trainable(self, value: bool) -> None:
        for layer in self.wrapped:
            layer.trainable = value

    def build(self, input_shape: Any = None) -> None:
        """Make the weights of the wrapped layer."""
        build_inside(self.layer, input_shape)
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return the output of the wrapped layer."""
        return self.layer(without_history(inputs))

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the output shape of the wrapped layer."""
        return self.layer.compute_output_shape(input_shape)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, including the configuration of the wrapped layer."""
        return {**super().get_config(), "layer": layer_registry.serialize(self.layer)}

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> Wrapper:
        """Make a wrapper from its configuration."""
        with custom_object_scope(custom_objects or {}):
            layers = {
                name: make_layer(config[name])
                for name in ("layer", "backward_layer")
                if isinstance(config.get(name), dict)
            }
        return cls(**{**config, **layers})


# --- the same layer at every time step ------------------------------------------------------------


class TimeDistributed(Wrapper):
    """Applies a layer, or a model, to every time step of its input with the same weights.

    Parameters
    ----------
    layer : Layer
        Applied to each time step.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        The input has no axis after the time axis.

    Notes
    -----
    Input (batch, time, ...), output (batch, time, ...). All steps of all samples go through the
    layer at once, as one batch of batch * time samples.

    A mask (batch, time) states which steps count, and is the mask of the output too. A mask with
    more axes is split along the time axis, like the input, and passed to the wrapped layer.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> TimeDistributed(Dense(8))(Input(shape=(10, 16))).shape
    (None, 10, 8)
    """

    def __init__(self, layer: Any, **kwargs: Any) -> None:
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        self._masks: tuple[Any, Any, list[Any]] = (None, None, [])  # of the last call

    def build(self, input_shape: Any = None) -> None:
        """Make the weights of the wrapped layer, for the shape of one time step."""
        self._check(input_shape)
        build_inside(self.layer, _step_shape(input_shape))
        self.built = True

    def _check(self, input_shape: Shape) -> None:
        if any(isinstance(size, (list, tuple)) for size in input_shape):
            raise ArgumentError(
                f"{self.label}: expected one input, got {len(input_shape)}. Concatenate them, "
                f"or wrap each by itself.",
                subject=self,
            )
        if len(input_shape) < 3:
            raise ShapeError(
                f"{self.label}: expected an input with at least 3 axes (batch, time, ...), got "
                f"{len(input_shape)} {input_shape}. Without a time axis, use the layer alone.",
                subject=self,
            )

    def call(self, inputs: Tensor, training: Training = None, mask: Tensor | None = None) -> Any:
        """Return the wrapped layer's output for each time step."""
        self._check(inputs.shape)
        keywords = {"training": training} if accepts(self.layer.call, "training") else {}
        outputs = to_list(self.layer(self._steps(inputs, mask), **keywords))
        self._masks = inputs, mask, [y._keras_mask for y in outputs]
        return unpack_singleton([split_steps(y, inputs) for y in outputs])

    def _steps(self, inputs: Tensor, mask: Tensor | None) -> Tensor:
        """Return all time steps as one batch, with a mask if the wrapped layer supports masks."""
        steps = join_steps(inputs)
        understands = (
            self.layer.supports_masking or type(self.layer).compute_mask is not Layer.compute_mask
        )
        if mask is not None and mask.ndim > 2 and understands:
            steps._keras_mask = join_steps(mask)
        return steps

    def compute_output_shape(self, input_shape: Shape) -> Any:
        """Return the wrapped layer's output shape for a time step, with the time axis inserted."""
        with graph_mode():  # a model finds its shapes by running on placeholders
            shapes = self.layer.compute_output_shape(_step_shape(input_shape))
        several = bool(shapes) and isinstance(shapes[0], (list, tuple))
        steps = [tuple(shape) for shape in (shapes if several else [shapes])]
        return unpack_singleton([(*input_shape[:2], *step[1:]) for step in steps])

    def _declared_output_shape(self, input_shape: Shapes, arguments: dict[str, Any]) -> Any:
        return None  # the call of the wrapped layer has computed the shapes already

    def compute_mask(self, inputs: Tensor, mask: Tensor | None = None) -> Any:
        """Return the output mask of the wrapped layer; if that is None, the mask of the steps."""
        known_inputs, known_mask, found = self._masks
        if inputs is not known_inputs or mask is not known_mask:
            steps = self._steps(inputs, mask)
            found = to_list(self.layer.compute_mask(steps, steps._keras_mask)) or [None]
        return unpack_singleton(
            [_of_steps(mask) if m is None else split_steps(m, inputs) for m in found]
        )


def _step_shape(shape: Shape) -> Shape:
    """Return the shape of the batch that contains all time steps of all samples."""
    known = shape[0] is not None and shape[1] is not None
    return (shape[0] * shape[1] if known else None, *shape[2:])  # type: ignore[operator]


def _of_steps(mask: Tensor | None) -> Tensor | None:
    """Return a mask reduced to (batch, time): True for a step in which any entry is True."""
    if mask is None or mask.ndim == 2:
        return mask
    return K.any(mask, axis=list(range(2, mask.ndim)))


# --- a sequence from both ends --------------------------------------------------------------------

_MERGE_MODES = ("sum", "mul", "ave", "concat", None)


class Bidirectional(Wrapper):
    """Runs a recurrent layer over a sequence forwards, and a copy of it backwards.

    Parameters
    ----------
    layer : Layer
        The recurrent layer that is copied for each direction. The layer itself gets no weights.
    merge_mode : {"sum", "mul", "concat", "ave", None}
        How the two outputs are merged; with None, both outputs are returned.
    weights : list of np.ndarray, optional
        Values for the weights: those of the forward layer, then those of the backward layer.
    **kwargs
        As for `Layer`. The argument `backward_layer`, a layer that runs in the other direction, is
        used instead of the second copy of `layer`.

    Attributes
    ----------
    forward_layer, backward_layer : Layer
        The two layers that are run.

    Raises
    ------
    ArgumentError
        `layer` is not recurrent, or the merge mode is unknown.

    Notes
    -----
    With `return_sequences` the backward layer's outputs are put in the order of time before they
    are merged. With `return_state` the output is followed by the states of the forward layer, then
    the states of the backward layer; `initial_state` takes states in this order too. In dialect "3"
    the outputs of masked steps are 0.

    Examples
    --------
    >>> from kerascope.layers import LSTM, Input
    >>> layer = Bidirectional(LSTM(8, return_sequences=True, name="reader"))
    >>> layer(Input(shape=(10, 4))).shape
    (None, 10, 16)
    >>> layer.forward_layer.name, layer.backward_layer.go_backwards
    ('forward_reader', True)
    """

    def __init__(
        self, layer: Any, merge_mode: Any = "concat", weights: Any = None, **kwargs: Any
    ) -> None:
        backward_layer = kwargs.pop("backward_layer", None)
        self._num_constants: int = kwargs.pop("num_constants", None) or 0
        super().__init__(layer, weights=weights, **kwargs)
        if merge_mode not in _MERGE_MODES:
            raise ArgumentError(
                f"{self.label}: Invalid merge mode {merge_mode!r}. Use one of: "
                f"{', '.join(map(repr, _MERGE_MODES))}.",
                subject=self,
            )
        if not all(hasattr(layer, name) for name in ("go_backwards", "return_sequences")):
            raise ArgumentError(
                f"{self.label}: expected a recurrent layer, got {layer.label}, which has no "
                f"go_backwards or no return_sequences. Wrap LSTM, GRU, SimpleRNN or RNN.",
                subject=self,
            )
        self.merge_mode = merge_mode
        self.forward_layer = _twin(layer, "forward", layer.go_backwards)
        self.backward_layer = backward_layer or _twin(layer, "backward", not layer.go_backwards)
        self._has_own_backward_layer = backward_layer is not None
        self._check_directions()
        if dialect_options().both_ways_zero_masked:
            one: Any
            for one in self.wrapped:
                if hasattr(one, "zero_output_for_mask"):
                    one.zero_output_for_mask = one.return_sequences
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self.stateful = layer.stateful
        self.supports_masking = True
        self.batch_input_shape = self.batch_input_shape or layer.batch_input_shape
        if "trainable" in kwargs:
            self.trainable = kwargs["trainable"]

    def _check_directions(self) -> None:
        forward, backward = self.forward_layer, self.backward_layer
        if not self._has_own_backward_layer:
            return
        alike = ("return_sequences", "return_state", "stateful")
        differing = [n for n in alike if getattr(forward, n) != getattr(backward, n, None)]
        if differing or forward.go_backwards == backward.go_backwards:
            raise ArgumentError(
                f"{self.label}: expected a backward layer with the opposite go_backwards and the "
                f"same {', '.join(alike)} as {forward.label}, got {backward.label}.",
                subject=self,
            )

    @property
    def wrapped(self) -> list[Layer]:
        """The list of the forward layer and the backward layer."""
        inside = vars(self)
        return [inside[n] for n in ("forward_layer", "backward_layer") if n in inside]

    @property
    def weights(self) -> list[Variable]:
        """The weights of the forward layer, then those of the backward layer, even if frozen."""
        return [w for layer in self.wrapped for w in layer.weights]

    @property
    def _sublayers(self) -> list[Any]:
        return [layer for layer in super()._sublayers if layer is not self.layer]

    def build(self, input_shape: Any = None, constants_shape: Any = None) -> None:
        """Make the weights of the forward and the backward layer."""
        shapes = [first_shape(input_shape)]
        if constants_shape is None and self._num_constants:
            constants_shape = list(input_shape[-self._num_constants :])
        for layer in self.wrapped:
            further = {"constants_shape": constants_shape} if constants_shape else {}
            build_inside(layer, shapes[0], **further)
        self.built = True

    # --- both directions --------------------------------------------------------------------------

    def call(
        self,
        inputs: Tensors,
        mask: Masks = None,
        training: Training = None,
        initial_state: Tensors | None = None,
        constants: Tensors | None = None,
    ) -> Any:
        """Run the forward and the backward layer, and merge their outputs.

        Returns
        -------
        Tensor or list of Tensor
            The merged output; with `merge_mode=None`, a list of both outputs. With `return_state`,
            the states follow in the list.
        """
        parts = recurrent_inputs(inputs, initial_state, constants, self._num_constants)
        halves = self._halves(parts.states)
        forward = self._run(self.forward_layer, parts, halves[0], mask, training)
        backward = self._run(self.backward_layer, parts, halves[1], mask, training)
        self._num_constants = len(parts.constants) or self._num_constants
        reversed_in_time = K.reverse(backward[0], 1) if self.return_sequences else backward[0]
        outputs = self._merged(forward[0], reversed_in_time)
        return unpack_singleton([*outputs, *forward[1:], *backward[1:]])

    def _halves(self, states: list[Tensor]) -> tuple[list[Tensor], list[Tensor]]:
        """Split the initial states into those of the forward and those of the backward layer."""
        number = len(self.forward_layer.states)
        expected = number + len(self.backward_layer.states)
        if states and len(states) != expected:
            raise ArgumentError(
                f"{self.label}: expected {expected} initial states, first those of the forward "
                f"layer, got {len(states)}.",
                subject=self,
            )
        return states[:number], states[number:]

    @staticmethod
    def _run(
        layer: Any, parts: RecurrentInputs, states: list[Tensor], mask: Masks, training: Training
    ) -> list[Tensor]:
        """Call the forward or the backward layer, and return the list of its outputs."""
        keywords = {
            "mask": first_mask(mask),
            "training": training,
            "initial_state": without_history(states) or None,
            "constants": without_history(parts.constants) or None,
        }
        given = {name: value for name, value in keywords.items() if value is not None}
        accepted = {name: v for name, v in given.items() if accepts(layer.call, name)}
        return to_list(layer(without_history(parts.sequence), **accepted))

    def _merged(self, forward: Tensor, backward: Tensor) -> list[Tensor]:
        if self.merge_mode is None:
            return [forward, backward]
        if self.merge_mode == "concat":
            return [K.concatenate([forward, backward])]
        if self.merge_mode == "mul":
            return [forward * backward]
        both = forward + backward
        return [both / 2 if self.merge_mode == "ave" else both]

    # --- shapes, masks, states, configuration -----------------------------------------------------

    def compute_output_shape(self, input_shape: Shapes) -> Any:
        """Return the shape of the output; a list of shapes if there are several outputs."""
        of_both = [layer.compute_output_shape(first_shape(input_shape)) for layer in self.wrapped]
        forward, backward = (x if isinstance(x, list) else [x] for x in of_both)
        outputs = [forward[0], backward[0]] if self.merge_mode is None else [forward[0]]
        if self.merge_mode == "concat":
            outputs = [(*forward[0][:-1], forward[0][-1] + backward[0][-1])]
        return unpack_singleton([*outputs, *forward[1:], *backward[1:]])

    def compute_mask(self, inputs: Tensors, mask: Masks = None) -> Any:
        """Return the mask of the sequence for each output sequence, and None for other outputs."""
        output_mask = first_mask(mask) if self.return_sequences else None
        masks = [output_mask] * (2 if self.merge_mode is None else 1)
        states = [*self.forward_layer.states, *self.backward_layer.states]
        return unpack_singleton([*masks, *[None for _ in states if self.return_state]])

    def reset_states(self) -> None:
        """Reset the states of the forward and the backward layer."""
        reset_together(self._resets_inside(), "reset_states")

    def _resets_inside(self) -> list[Any]:
        return list(self.wrapped)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, without initial weights."""
        config = super().get_config()
        config.pop("weights", None)
        if self._has_own_backward_layer:
            config["backward_layer"] = layer_registry.serialize(self.backward_layer)
        if self._num_constants:
            config["num_constants"] = self._num_constants
        return config


def _twin(layer: Any, direction: str, go_backwards: bool) -> Any:
    """Return a new layer that has the configuration of `layer` and runs in the given direction."""
    with sharing_functions():
        config = layer.get_config()
    name = layer.name.removeprefix("forward_")  # a layer from a configuration may have it
    config.update(name=f"{direction}_{name}", go_backwards=go_backwards)
    return type(layer).from_config(config)
