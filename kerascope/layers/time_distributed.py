"""TimeDistributed: the same layer at every time step."""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.eager import graph_mode
from kerascope.backend.graph import Tensor
from kerascope.backend.shapes import Shape
from kerascope.engine.arguments import accepts, to_list, unpack_singleton
from kerascope.engine.base_layer import Layer
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers.inner_layers import build_inside
from kerascope.layers.time_steps import joined_steps, parted_steps
from kerascope.layers.wrapper import Wrapper


class TimeDistributed(Wrapper):
    """Applies a layer, or a model, to every time step of its input with the same weights.

    Parameters
    ----------
    layer : Layer
        What each step goes through.
    **kwargs
        As for `Layer`.

    Raises
    ------
    ShapeError
        The input has no axis behind the time axis.

    Notes
    -----
    Input (batch, time, ...), output (batch, time, ...). All steps of all samples go through the
    layer at once, as one batch of batch * time samples.

    A mask (batch, time) says which steps count; it comes out again. A mask with more axes is cut
    along the time axis, like the input, for the layer inside.

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
        """Make the weights of the layer inside, for one time step."""
        self._check(input_shape)
        build_inside(self.layer, _step_shape(input_shape))
        self.built = True

    def _check(self, input_shape: Shape) -> None:
        if any(isinstance(size, (list, tuple)) for size in input_shape):
            raise ArgumentError(
                f"{self.label}: {len(input_shape)} inputs came; expected one. Concatenate them, "
                f"or wrap each by itself.",
                subject=self,
            )
        if len(input_shape) < 3:
            raise ShapeError(
                f"{self.label}: input has {len(input_shape)} axes {input_shape}; expected at least "
                f"3: (batch, time, ...). Without a time axis the layer needs no TimeDistributed.",
                subject=self,
            )

    def call(self, inputs: Tensor, training: Any = None, mask: Any = None) -> Any:
        """Return what the layer makes of each time step."""
        self._check(inputs.shape)
        keywords = {"training": training} if accepts(self.layer.call, "training") else {}
        outputs = to_list(self.layer(self._steps(inputs, mask), **keywords))
        self._masks = inputs, mask, [y._keras_mask for y in outputs]
        return unpack_singleton([parted_steps(y, inputs) for y in outputs])

    def _steps(self, inputs: Tensor, mask: Any) -> Tensor:
        """Return all time steps as one batch, with the mask that the layer inside shall see."""
        steps = joined_steps(inputs)
        understands = (
            self.layer.supports_masking or type(self.layer).compute_mask is not Layer.compute_mask
        )
        if mask is not None and mask.ndim > 2 and understands:
            steps._keras_mask = joined_steps(mask)
        return steps

    def compute_output_shape(self, input_shape: Shape) -> Any:
        """Return the layer's output shape for a time step, with the time axis put in."""
        with graph_mode():  # a model finds its shapes by running on placeholders
            shapes = self.layer.compute_output_shape(_step_shape(input_shape))
        several = bool(shapes) and isinstance(shapes[0], (list, tuple))
        steps = [tuple(shape) for shape in (shapes if several else [shapes])]
        return unpack_singleton([(*input_shape[:2], *step[1:]) for step in steps])

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        return None  # the call of the layer inside has found the shapes already

    def compute_mask(self, inputs: Tensor, mask: Any = None) -> Any:
        """Return the mask that the layer makes of its steps; if it makes none, the steps' own."""
        known_inputs, known_mask, found = self._masks
        if inputs is not known_inputs or mask is not known_mask:
            steps = self._steps(inputs, mask)
            found = to_list(self.layer.compute_mask(steps, steps._keras_mask)) or [None]
        return unpack_singleton(
            [_of_steps(mask) if m is None else parted_steps(m, inputs) for m in found]
        )


def _step_shape(shape: Shape) -> Shape:
    """Return the shape of the batch of all time steps."""
    known = shape[0] is not None and shape[1] is not None
    return (shape[0] * shape[1] if known else None, *shape[2:])  # type: ignore[operator]


def _of_steps(mask: Any) -> Any:
    """Return a mask (batch, time): a step counts if anything in it does."""
    if mask is None or mask.ndim == 2:
        return mask
    return K.any(mask, axis=list(range(2, mask.ndim)))
