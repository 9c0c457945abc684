"""Layer: weights and a function of tensors, callable as often as you like.

A layer of your own writes up to four methods: `build` makes the weights, `call` says what is
computed, `compute_output_shape` answers what shape will come out (only needed where `call` cannot
be asked), `get_config` is derived. Calling the layer (`__call__`, in `calling.py`) builds it once,
runs `call`, and enters a `Node`.

Keras has it in `engine/topology.py` (1.x), `engine/base_layer.py` (2.x) and `layers/layer.py` (3).
Lesson: chapter 6.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from kerascope import regularizers
from kerascope.backend.eager import graph_mode
from kerascope.backend.graph import Variable
from kerascope.backend.scopes import name_scope
from kerascope.backend.shapes import Shape, as_shape
from kerascope.backend.state import floatx, get_uid, int_shape, placeholder
from kerascope.callers import warn
from kerascope.engine.calling import call_layer
from kerascope.engine.input_spec import InputSpec, check_inputs
from kerascope.engine.layer_config import derived_config
from kerascope.engine.layer_type import LayerType, layer_registry
from kerascope.engine.layer_weights import LayerWeights
from kerascope.engine.nesting import to_list, unpack_singleton
from kerascope.engine.node import Node
from kerascope.engine.per_input import PerInput
from kerascope.engine.tensor_arguments import shapes_by_name
from kerascope.engine.undoing import tried_out
from kerascope.errors import DtypeError, NotBuiltError
from kerascope.limits import PARTS_OF_A_LAYER, Budget, current_budget
from kerascope.printable import printable
from kerascope.registry import did_you_mean
from kerascope.spellings import changed_habits, habits

_BASE_KEYWORDS = (
    "name", "trainable", "dtype", "input_shape", "batch_input_shape", "batch_size", "weights",
    "input_dim", "input_length", "activity_regularizer", "autocast",
)  # fmt: skip


class Layer(LayerWeights, metaclass=LayerType):
    """Base of all layers.

    Parameters
    ----------
    name : str, optional
        Unique in a model; by default made from the class: `dense_1`.
    trainable : bool
        Whether training changes the weights. Default True.
    dtype : str, optional
        Type of the weights; default `K.floatx()`.
    input_shape : tuple of int or None, optional
        Shape of a sample: lets a Sequential build at once. Or `batch_input_shape`, or `input_dim=n`
        for `(n,)`.
    weights : list of np.ndarray, optional
        Values for the weights when they are made.

    Attributes
    ----------
    inbound_nodes : list of Node
        Calls of this layer. A new layer has none.
    outbound_nodes : list of Node
        Calls of other layers on outputs of this one.
    input_spec : InputSpec, list of InputSpec, or None
        What each input must look like.
    built : bool
        Whether the weights exist.
    made_at : tuple of (str, int) or None
        File and line of the script that made the layer.

    Examples
    --------
    >>> import numpy as np
    >>> class Scale(Layer):
    ...     def __init__(self, start=1.0, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.start = start
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight("factor", (input_shape[-1],), initializer="ones")
    ...     def call(self, inputs):
    ...         return inputs * self.factor * self.start
    >>> Scale(start=3.0)(np.ones((1, 2))).tolist()
    [[3.0, 3.0]]
    """

    _arguments: dict[str, Any]
    input_spec: Any = None
    made_at: tuple[str, int] | None
    _is_told_masks = True  # whether `call` gets the masks that its inputs carry, if it takes them
    _budget: Budget | None = None  # under which it was made, if its configuration was read

    def __init__(self, **kwargs: Any) -> None:
        budget = current_budget()
        if budget is not None:
            budget.take_parts(PARTS_OF_A_LAYER, f"at a layer {type(self).__name__}")
            self._budget = budget.later
        name = kwargs.pop("name", None)
        self.name: str = name or self._default_name()
        self.trainable = kwargs.pop("trainable", True)
        self.dtype: str = kwargs.pop("dtype", None) or floatx()
        self.batch_input_shape = _batch_input_shape(kwargs)
        self.built = False
        self.stateful = False
        self.supports_masking = False
        self._ends_masks = habits().ends_masks
        self.input_spec = None
        self.inbound_nodes: list[Node] = []
        self.outbound_nodes: list[Node] = []
        self._trainable_weights: list[Variable] = []
        self._non_trainable_weights: list[Variable] = []
        self._losses = PerInput()
        self._updates = PerInput()
        self._inner_calls = PerInput()
        self._initial_weights = kwargs.pop("weights", None)
        if "activity_regularizer" in kwargs:
            self.activity_regularizer = regularizers.get(kwargs.pop("activity_regularizer"))
        if kwargs:
            unknown = sorted(kwargs)[0]
            known = (*self._arguments, *_BASE_KEYWORDS)
            raise DtypeError(
                f"{self.label}: keyword argument not understood: {unknown!r}. "
                f"{did_you_mean(unknown, known)}",
                subject=self,
            )

    def _default_name(self) -> str:
        """Return the class's name in lower case with a number: `dense_1`."""
        prefix = snake_case(type(self).__name__)
        number = get_uid(prefix)
        if not habits().counts_from_zero:
            return f"{prefix}_{number}"
        return prefix if number == 1 else f"{prefix}_{number - 1}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {printable(self.name)}>"

    @property
    def trainable(self) -> bool:
        """Whether training changes the weights.

        In dialect "3" the layers inside are set with this one, as far as they are there already.
        """
        return vars(self)["trainable"]

    @trainable.setter
    def trainable(self, value: bool) -> None:
        vars(self)["trainable"] = value
        is_made = "inbound_nodes" in vars(self)
        if is_made and habits().freezes_inside:
            for layer in self._sublayers:
                layer.trainable = value

    # --- what a layer of your own writes ----------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make the weights for inputs of this shape (a list of shapes for several inputs)."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Say what is computed; the base class returns its inputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the output's shape for an input of this shape.

        By default `call` is tried out on placeholders of that shape.

        Raises
        ------
        NotBuiltError
            `call` needs weights that do not exist yet.
        """
        if type(self).get_output_shape_for is not Layer.get_output_shape_for:
            return self.get_output_shape_for(input_shape)
        if not self.built and type(self).build is not Layer.build:
            raise NotBuiltError(
                f"{self.label}: its output shape is not known before it is built. "
                f"Call it once, or write compute_output_shape.",
                subject=self,
            )
        shapes = input_shape if _is_list_of_shapes(input_shape) else [input_shape]
        inputs = [placeholder(shape, dtype=self.dtype) for shape in shapes]
        with graph_mode(), self._scope(), tried_out(self):
            outputs = to_list(self.call(unpack_singleton(inputs)))
        return unpack_singleton([int_shape(y) for y in outputs])

    def get_output_shape_for(self, input_shape: Any) -> Any:
        """Keras 1's name of `compute_output_shape`."""
        return self.compute_output_shape(input_shape)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the outputs: that of the input if the layer supports masking.

        Raises
        ------
        DtypeError
            A mask came and the layer does not support masking. (With Keras 3's habits it ends here
            with a warning.)
        """
        if self.supports_masking:
            return mask
        if all(m is None for m in to_list(mask)):
            return None
        if not self._ends_masks:
            raise DtypeError(
                f"{self.label}: does not support masking, but was passed an input mask. "
                f"Leave out mask_zero or Masking before it.",
                subject=self,
            )
        warn(f"{self.label}: does not support masking; layers after it will not see the mask.")
        return None

    def get_config(self) -> dict[str, Any]:
        """Return what the constructor needs to make this layer again, ready for JSON."""
        is_overridden = type(self).get_config is not Layer.get_config
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if self.batch_input_shape is not None:
            config["batch_input_shape"] = list(self.batch_input_shape)
        config["dtype"] = self.dtype
        return {**config, **derived_config(self, overridden=is_overridden)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """Make a layer from what `get_config` returned."""
        with changed_habits(has_other_slope=False):
            return cls(**config)

    # --- calling ----------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the layer: on symbolic tensors, on arrays, or inside a function (see `calling.py`).

        Parameters
        ----------
        inputs : Tensor, array_like, or list of them
        *args, **kwargs
            Passed on to `call`: `training`, `mask`, ... Tensors among them count as inputs too:
            see `tensor_arguments.py`.

        Returns
        -------
        Tensor or np.ndarray, or a list of them

        Raises
        ------
        DtypeError
            `inputs` is neither a tensor nor numbers.
        ShapeError
            It does not fit the layer's `input_spec`.
        """
        return call_layer(self, inputs, args, kwargs)

    def create_input_layer(
        self, batch_input_shape: Any, input_dtype: str | None = None, name: str | None = None
    ) -> None:
        """Make an Input of this shape and call the layer on it: how Keras 1 starts a Sequential."""
        input_layer = layer_registry.lookup("InputLayer")(
            batch_input_shape=batch_input_shape, dtype=input_dtype or self.dtype, name=name
        )
        self.batch_input_shape = as_shape(batch_input_shape)
        self(input_layer.inbound_nodes[0].output_tensors[0])

    def assert_input_compatibility(self, inputs: Any) -> None:
        """Hold tensors against `input_spec`; see `InputSpec`."""
        check_inputs(self, to_list(inputs))

    def _scope(self) -> Any:
        return name_scope(self.name, self.made_at)

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        """Return what a `compute_output_shape` that the class itself wrote says, else None."""
        cls = type(self)
        if cls.compute_output_shape is not Layer.compute_output_shape:
            further_shapes = shapes_by_name(self.compute_output_shape, arguments)
            return self.compute_output_shape(input_shape, **further_shapes)
        if cls.get_output_shape_for is not Layer.get_output_shape_for:
            return self.get_output_shape_for(input_shape)
        return None

    # --- undoing a failed first call --------------------------------------------------------------

    def _snapshot(self) -> dict[str, Any]:
        containers = (list, dict, PerInput)
        return {k: copy.copy(v) if isinstance(v, containers) else v for k, v in vars(self).items()}

    def _restore(self, snapshot: dict[str, Any]) -> None:
        vars(self).clear()
        vars(self).update(snapshot)


def snake_case(name: str) -> str:
    """Return a class name as a layer's: `BatchNormalization` is `batch_normalization`."""
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name.lstrip("_"))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()


def _is_list_of_shapes(shape: Any) -> bool:
    return bool(shape) and isinstance(shape[0], (list, tuple))


def _batch_input_shape(kwargs: dict[str, Any]) -> Shape | None:
    """Return the shape that `input_shape`, `batch_input_shape`, `input_dim`, ... say."""
    batch_size = kwargs.pop("batch_size", None)
    input_dim, input_length = kwargs.pop("input_dim", None), kwargs.pop("input_length", None)
    input_shape, batch_input_shape = (
        kwargs.pop("input_shape", None),
        kwargs.pop("batch_input_shape", None),
    )
    if batch_input_shape is not None:
        return as_shape(batch_input_shape)
    if input_shape is None and input_dim is not None:
        input_shape = (input_dim,) if input_length is None else (input_length, input_dim)
    return None if input_shape is None else (batch_size, *as_shape(input_shape))


__all__ = ["InputSpec", "Layer", "Node"]
