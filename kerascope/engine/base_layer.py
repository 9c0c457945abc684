"""The class `Layer`: weights, and a function of tensors that you call as often as you like.

A layer of your own writes up to four methods: `build` makes the weights, `call` computes the
outputs, `compute_output_shape` returns their shape (only needed if `call` cannot compute it),
`get_config` returns the arguments of the constructor (by default those of its signature). Calling
the layer (`__call__`, in `calling.py`) builds it once, runs `call`, and makes a `Node`.

This file contains what a layer of your own writes, its configuration, and its weights. `Layer` has
four base classes: the losses and updates of its calls (`layer_losses.py`: `add_loss`, `add_update`,
`_add_penalty`, `record_inner_call`), its inputs and outputs (`layer_calls.py`: `input`, `output`),
and the parts that only one version of Keras has (`keras1/layer.py`, and `keras3/layer.py` with
`_enter_variables`).

Keras has it in `engine/topology.py` (1.x), `engine/base_layer.py` (2.x) and `layers/layer.py` (3).
Lessons: chapters 6 and 7.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from kerascope import constraints, initializers, regularizers
from kerascope.backend import state
from kerascope.backend.eager import assigning
from kerascope.backend.graph import graph_mode
from kerascope.backend.scopes import LAYER, name_scope, origin_here
from kerascope.backend.shapes import Shape, as_shape
from kerascope.backend.state import (
    batch_get_value,
    batch_set_value,
    get_uid,
    int_shape,
    placeholder,
    variable,
)
from kerascope.backend.variables import Variable
from kerascope.configurable import configured_names, constructor_parameters, made_from
from kerascope.engine import rules
from kerascope.engine.arguments import (
    accepts,
    listed,
    listed_shapes,
    shapes_by_name,
    to_list,
    unpack_singleton,
)
from kerascope.engine.calling import call_layer
from kerascope.engine.input_spec import InputSpec
from kerascope.engine.keras1.layer import LayerOfKeras1
from kerascope.engine.keras3.layer import LayerOfKeras3, checked_dtype
from kerascope.engine.layer_calls import LayerCalls
from kerascope.engine.layer_losses import PLAIN, ItemsByInputs, LayerLosses
from kerascope.engine.layer_type import LayerType, layer_registry, serialized
from kerascope.engine.node import Node
from kerascope.engine.policies import leaving_no_trace
from kerascope.engine.policies.cost import count_layer, first_value
from kerascope.engine.policies.eager_losses import LossesOfLastCall
from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DtypeError,
    NotBuiltError,
    ShapeError,
)
from kerascope.missing_names import out_of_scope
from kerascope.printable import printable
from kerascope.registry import did_you_mean
from kerascope.spellings import weight_name
from kerascope.user_frames import Line, warn

__all__ = ["InputSpec", "Layer", "Node"]

_BASE_KEYWORDS = (
    "name", "trainable", "dtype", "input_shape", "batch_input_shape", "batch_size", "weights",
    "input_dim", "input_length", "activity_regularizer", "autocast",
)  # fmt: skip


class Layer(LayerLosses, LayerCalls, LayerOfKeras1, LayerOfKeras3, metaclass=LayerType):
    """Base class of all layers. A layer has weights, and computes its outputs when it is called.

    Parameters
    ----------
    name : str, optional
        Unique in a model; by default from the name of the class: `dense_1`.
    trainable : bool
        Whether training changes the weights. Default True.
    dtype : str, optional
        Type of the weights; default `K.floatx()`.
    input_shape : tuple of int or None, optional
        Shape of a sample, with which a Sequential can build at once. `batch_input_shape`, or
        `input_dim=n` for `(n,)`, may be given instead.
    weights : list of np.ndarray, optional
        Initial values of the weights.

    Attributes
    ----------
    inbound_nodes : list of Node
        Calls of this layer. A new layer has none.
    outbound_nodes : list of Node
        Calls of other layers on outputs of this one.
    input_spec : InputSpec, list of InputSpec, or None
        The number of axes, the shape, or the dtype that each input must have.
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

    name: str
    dtype: str
    built: bool = False
    stateful: bool
    inbound_nodes: list[Node]
    outbound_nodes: list[Node]
    _arguments: dict[str, Any]
    input_spec: Any = None
    made_at: tuple[str, int] | None
    _made_on: Line | None  # the line of `made_at`, with its function
    _why_it_cannot_run: str | None = None  # the reason in the error, for layers in `layers.opaque`
    _receives_masks = True  # whether a `call` with mask parameters receives the masks of its inputs
    _assigns = False  # whether its `call` assigns to variables, in training and in test mode
    _last_call: LossesOfLastCall | None = None

    def __init__(self, **kwargs: Any) -> None:
        count_layer(self)
        name = kwargs.pop("name", None)
        self.name = name or self._default_name()
        self.trainable = kwargs.pop("trainable", True)
        kwargs.pop("autocast", None)  # an argument of Keras 3; inputs are never cast here
        self.dtype = checked_dtype(kwargs.pop("dtype", None))
        self.batch_input_shape = _batch_input_shape(kwargs)
        self.built = False
        self.stateful = False
        self.supports_masking = False
        self._ends_masks = rules.ends_masks()
        self.input_spec = None
        self.inbound_nodes = []
        self.outbound_nodes = []
        self._trainable_weights: list[Variable] = []
        self._non_trainable_weights: list[Variable] = []
        self._losses = ItemsByInputs()
        self._updates = ItemsByInputs()
        self._inner_calls = ItemsByInputs()
        self._initial_weights = kwargs.pop("weights", None)
        if "activity_regularizer" in kwargs:
            self.activity_regularizer = regularizers.get(kwargs.pop("activity_regularizer"))
        if kwargs:  # DtypeError is a TypeError, as Keras raises it
            unknown = sorted(kwargs)[0]
            known = (*self._arguments, *_BASE_KEYWORDS)
            raise DtypeError(
                f"{self.label}: keyword argument not understood: {unknown!r}. "
                f"{out_of_scope('LoRA') if 'lora' in unknown else did_you_mean(unknown, known)}",
                subject=self,
            )

    def _default_name(self) -> str:
        """Return the class's name in lower case with a number: `dense_1`."""
        class_name = type(self).__name__
        word = rules.word_of_class(class_name) or snake_case(class_name)
        return rules.numbered(word, get_uid(word))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {printable(self.name)}>"

    @property
    def label(self) -> str:
        """The layer's name in errors: `Dense 'dense_1'`."""
        return f"{type(self).__name__} '{printable(self.name)}'"

    @property
    def compute_dtype(self) -> str:
        """The type in which the layer computes: Keras 3's name of the attribute `dtype`."""
        return self.dtype

    @property
    def variable_dtype(self) -> str:
        """The type of the layer's weights: `dtype`, because mixed types are not supported."""
        return self.dtype

    @property
    def trainable(self) -> bool:
        """Whether training changes the weights. A new value takes effect at the next `compile`.

        With False, training also omits the layer's updates (moving averages), but not its
        penalties. In Keras 3, a new value is also assigned to the layers inside this layer.
        """
        return self.__dict__["trainable"]

    @trainable.setter
    def trainable(self, value: bool) -> None:
        vars(self)["trainable"] = value
        if "inbound_nodes" in vars(self) and rules.freezes_inside():
            for layer in self._sublayers:
                layer.trainable = value

    # --- what a layer of your own writes ----------------------------------------------------------

    def build(self, input_shape: Any) -> None:
        """Make the weights for inputs of this shape or these shapes. The base class makes none."""
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; the base class returns its inputs."""
        return inputs

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the output's shape for an input of this shape.

        By default `call` runs on placeholders of that shape, and its results are discarded.

        Raises
        ------
        NotBuiltError
            `call` needs weights that do not exist yet.
        """
        if type(self).get_output_shape_for is not Layer.get_output_shape_for:
            return self.get_output_shape_for(input_shape)
        if not self.built and type(self).build is not Layer.build:
            raise NotBuiltError(
                f"{self.label}: the output shape is not known before the layer is built. "
                f"Call it once, or write compute_output_shape.",
                subject=self,
            )
        inputs = [placeholder(s, dtype=self.dtype) for s in listed_shapes(input_shape)]
        with graph_mode(), self._scope(), leaving_no_trace(self), assigning():
            outputs, packed = listed(self.call(unpack_singleton(inputs)))
        return packed([int_shape(y) for y in outputs])

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """Return the mask of the outputs: the input's mask, if the layer supports masking.

        Raises
        ------
        DtypeError
            There is a mask and the layer does not support masking. (In Keras 3 this is a warning,
            and the outputs have no mask.)
        """
        if self.supports_masking:
            return mask
        if all(m is None for m in to_list(mask)):
            return None
        if not self._ends_masks:
            raise DtypeError(
                f"{self.label}: does not support masking, but was passed an input mask. "
                f"Remove mask_zero=True or the Masking layer before it.",
                subject=self,
            )
        warn(f"{self.label}: does not support masking; layers after it will not see the mask.")
        return None

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments, as values that JSON can hold.

        Raises
        ------
        ConfigError
            An argument is neither stored under its name nor recorded, or JSON cannot hold it.
        """
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        if self.batch_input_shape is not None:
            config["batch_input_shape"] = list(self.batch_input_shape)
        config["dtype"] = self.dtype
        for name in configured_names(type(self)):
            if name in ("name", "trainable", "dtype"):
                continue
            if not hasattr(self, name) and name not in self._arguments:
                if name not in constructor_parameters(type(self)):
                    continue
                raise ConfigError(
                    f"{self.label}: get_config found no attribute for the constructor's argument "
                    f"{name!r}. Store it (self.{name} = {name}) or write get_config.",
                    subject=self,
                )
            value = getattr(self, name) if hasattr(self, name) else self._arguments[name]
            try:
                config[name] = serialized(value, f"{self.label}: argument {name!r}")
            except ConfigError:
                if type(self).get_config is Layer.get_config:
                    raise  # otherwise the class's own get_config writes this argument
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """Make a layer from a configuration that `get_config` returned."""
        with rules.reading_config():
            made: Layer = made_from(cls, config)
        return made

    # --- calling ----------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the layer: on symbolic tensors, on arrays, or inside a function (see `calling.py`).

        Parameters
        ----------
        inputs : Tensor, array_like, or list of them
        *args, **kwargs
            Passed to `call`: `training`, `mask`, ... Tensors among them are inputs too: see
            `arguments.py`.

        Returns
        -------
        Tensor or np.ndarray, or a list of them

        Raises
        ------
        DtypeError
            `inputs` is neither a tensor nor numbers.
        ShapeError
            An input does not fit the layer's `input_spec`.
        """
        return call_layer(self, inputs, args, kwargs)

    def create_input_layer(
        self, batch_input_shape: Any, input_dtype: str | None = None, name: str | None = None
    ) -> None:
        """Call the layer on a new Input of this shape. Keras 1 starts a Sequential in this way."""
        input_layer = layer_registry.lookup("InputLayer")(
            batch_input_shape=batch_input_shape, dtype=input_dtype or self.dtype, name=name
        )
        self.batch_input_shape = as_shape(batch_input_shape)
        self(input_layer.inbound_nodes[0].output_tensors[0])

    def assert_input_compatibility(self, inputs: Any) -> None:
        """Check the inputs of a call against `input_spec`; see `InputSpec`.

        Raises
        ------
        ShapeError
            An input does not fit.
        ArgumentError
            The layer expects another number of inputs.
        """
        if not self.input_spec:
            return
        specs, inputs = to_list(self.input_spec), to_list(inputs)
        if len(specs) != len(inputs):
            raise ArgumentError(
                f"{self.label}: inputs: expected {len(specs)}, got {len(inputs)}.", subject=self
            )
        for index, (tensor, spec) in enumerate(zip(inputs, specs, strict=True)):
            which = "an input" if len(specs) == 1 else f"input {index}"
            misfit = None if spec is None else spec.misfit(tensor, which)
            if misfit is not None:
                raise ShapeError(f"{self.label}: {misfit}", subject=self)

    def _scope(self) -> Any:
        return name_scope(
            self.name, self.made_at, origin=origin_here(LAYER, self.name, self._made_on)
        )

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        """Return the shape from the class's own `compute_output_shape`; None if it has none."""
        cls = type(self)
        if cls.compute_output_shape is not Layer.compute_output_shape:
            further_shapes = shapes_by_name(self.compute_output_shape, arguments)
            return self.compute_output_shape(input_shape, **further_shapes)
        if cls.get_output_shape_for is not Layer.get_output_shape_for:
            return self.get_output_shape_for(input_shape)
        return None

    # --- weights ----------------------------------------------------------------------------------

    def add_weight(
        self,
        *args: Any,
        name: str | None = None,
        shape: Any = None,
        dtype: str | None = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool = True,
        constraint: Any = None,
    ) -> Variable:
        """Make a weight of the layer.

        Parameters
        ----------
        *args
            Name and shape, as in Keras 2, or shape and initializer, as in Keras 1 and 3.
        name : str, optional
            The weight's short name: "kernel". Its full name begins with the layer's name:
            `dense_1/kernel`.
        shape : tuple of int
            Every size must be known.
        dtype : str, optional
            Default: the layer's `dtype`.
        initializer : str, callable or object
            Default "glorot_uniform".
        regularizer : callable, optional
            Its penalty is added to the layer's losses.
        trainable : bool
            Whether training changes the weight.
        constraint : callable, optional
            Applied by the optimizer to each new value.
        """
        if len(args) > 2:
            raise ArgumentError(
                f"{self.label}: add_weight: expected at most 2 arguments by position, got "
                f"{len(args)}. Name the others: initializer=..., trainable=...",
                subject=self,
            )
        if args and isinstance(args[0], (tuple, list)):
            shape, initializer = (*args, initializer)[:2]
        elif args:
            name, shape = (*args, shape)[:2]
        if shape is None or any(size is None for size in shape):
            raise ShapeError(
                f"{self.label}: weight {name!r}: expected a shape with known sizes, got {shape}. "
                f"Give the input's last axes a size.",
                subject=self,
            )
        word = name or f"weight_{len(self.weights) + 1}"
        dtype = dtype or self.dtype
        initializer = initializers.get(initializer or "glorot_uniform")
        shape, full_name = tuple(shape), weight_name(self.name, word)
        compute = partial(_initial, initializer, shape, dtype, full_name)
        value = first_value(self, word, shape, dtype, compute)
        with graph_mode():
            weight = variable(value, dtype, full_name, constraints.get(constraint))
            if regularizer is not None:
                with name_scope("weight_regularizer"):
                    penalty: Any = regularizers.get(regularizer)
                    self._add_penalty(weight, penalty(weight))
        (self._trainable_weights if trainable else self._non_trainable_weights).append(weight)
        return weight

    @property
    def trainable_weights(self) -> list[Variable]:
        """Weights that training changes; empty when the layer is frozen."""
        if not self.trainable:
            return []
        self._enter_variables()
        inner = [w for layer in self._sublayers for w in layer.trainable_weights]
        return _distinct([*self._trainable_weights, *inner]) if inner else self._trainable_weights

    @trainable_weights.setter
    def trainable_weights(self, weights: list[Variable]) -> None:
        self._trainable_weights = weights

    @property
    def non_trainable_weights(self) -> list[Variable]:
        """Weights that training does not change; all of them when the layer is frozen."""
        self._enter_variables()
        inner = [w for layer in self._sublayers for w in layer.non_trainable_weights]
        if not self.trainable:
            frozen = [w for layer in self._sublayers for w in layer.trainable_weights]
            return _distinct(
                [*self._trainable_weights, *frozen, *self._non_trainable_weights, *inner]
            )
        return (
            _distinct([*self._non_trainable_weights, *inner])
            if inner
            else self._non_trainable_weights
        )

    @non_trainable_weights.setter
    def non_trainable_weights(self, weights: list[Variable]) -> None:
        self._non_trainable_weights = weights

    @property
    def weights(self) -> list[Variable]:
        """All weights: the trainable weights, then the others."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    def get_weights(self) -> list[np.ndarray]:
        """Return the values of all weights, in the order of `weights`."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: list[Any]) -> None:
        """Set the values of all weights. If it raises, no weight has changed.

        Raises
        ------
        ArgumentError
            There are too many or too few arrays.
        ShapeError
            An array has another shape than its weight.
        """
        if len(weights) != len(self.weights):
            raise ArgumentError(
                f"{self.label}: set_weights: expected {len(self.weights)} arrays, got "
                f"{len(weights)}. The weights are: {self.weights}.",
                subject=self,
            )
        batch_set_value(zip(self.weights, weights, strict=True))

    def count_params(self) -> int:
        """Return the number of parameters, which is the number of elements of all weights.

        Raises
        ------
        NotBuiltError
            The layer has no weights yet.
        """
        if not self.built:
            raise NotBuiltError(
                f"{self.label}: count_params: the layer has no weights before it is built. "
                f"Call it, or give it an input_shape.",
                subject=self,
            )
        return sum(state.count_params(w) for w in self.weights)

    @property
    def _sublayers(self) -> list[Any]:
        """The layers in the attributes of this layer, also inside lists and dicts."""
        found: dict[Any, None] = {}
        for name, value in vars(self).items():
            if type(value) in PLAIN:
                continue
            if isinstance(value, Layer):
                found[value] = None
            elif isinstance(value, _CONTAINERS) and value and name not in _WITHOUT_LAYERS:
                # Lists among the constructor's arguments do not count; attributes made of them do.
                deep = name != "_arguments"
                found.update((x, None) for x in _layers_in(value, (value,), deep))
        found.pop(self, None)
        return list(found)


def _initial(initializer: Any, shape: Shape, dtype: str, name: str) -> Any:
    """Return the initial value of a weight; pass `name` to a function of Keras 1 that takes it."""
    is_function = hasattr(initializer, "__name__")
    if is_function and accepts(initializer, "name"):
        initializer = partial(initializer, name=name)
    if accepts(initializer if is_function else type(initializer).__call__, "dtype"):
        return initializer(shape, dtype=dtype)
    return initializer(shape)


def snake_case(name: str) -> str:
    """Return a class name in snake case: `BatchNormalization` gives `batch_normalization`."""
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name.lstrip("_"))
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()


def _batch_input_shape(kwargs: dict[str, Any]) -> Shape | None:
    """Return the batch input shape that a layer's keywords define; None without these keywords."""
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


def layers_within(layer: Any) -> list[Any]:
    """Return a layer and all layers inside it, each once, the outer layers first."""
    found: dict[Any, None] = {}
    waiting = [layer]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = None
            waiting.extend(reversed(one._sublayers))
    return list(found)


def _distinct(weights: list[Variable]) -> list[Variable]:
    """Return the weights without duplicates, since two layers may share a weight."""
    return list(dict.fromkeys(weights))


_CONTAINERS = (list, tuple, dict)
_WITHOUT_LAYERS = frozenset((
    "inbound_nodes", "outbound_nodes", "made_at", "_trainable_weights", "_non_trainable_weights",
))  # fmt: skip


def _layers_in(container: Any, around: tuple[Any, ...], deep: bool) -> Iterator[Layer]:
    """Yield the layers in a list, tuple or dict, also in nested ones such as `[(dense, norm)]`.

    Named tuples, such as a `KerasHistory`, are not searched.
    """
    for member in container.values() if isinstance(container, dict) else container:
        if type(member) in PLAIN:
            continue
        if isinstance(member, Layer):
            yield member
        elif deep and type(member) in _CONTAINERS and not any(member is one for one in around):
            yield from _layers_in(member, (*around, member), deep)
