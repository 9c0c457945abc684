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
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from kerascope import constraints, initializers, regularizers
from kerascope.backend import state
from kerascope.backend.atomic import LOCKS, set_values
from kerascope.backend.eager import assigning, value_of
from kerascope.backend.graph import ASSIGNED, Tensor, Variable, as_tensor, graph_mode, is_eager
from kerascope.backend.scopes import LAYER, asked_here, name_scope
from kerascope.backend.shapes import Shape, as_shape
from kerascope.backend.state import (
    batch_get_value,
    batch_set_value,
    get_uid,
    int_shape,
    placeholder,
    variable,
)
from kerascope.backend.update_order import CallUpdate, depend_on
from kerascope.callers import Line, warn
from kerascope.configured import configured_names, constructor_parameters, made_from
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
from kerascope.engine.layer_type import LayerType, OldName, layer_registry, serialized
from kerascope.engine.node import Node
from kerascope.engine.out_of_scope import OutOfScope, checked_dtype
from kerascope.engine.penalties import penalty_of
from kerascope.engine.policies.nested import (
    EnclosingCall,
    LossesOfLastCall,
    enclosing_call,
    entered_losses,
    of_call,
)
from kerascope.engine.policies.undo import remember_value, rolled_back
from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DtypeError,
    IllDefinedError,
    NotBuiltError,
    ShapeError,
)
from kerascope.limits import PARTS_OF_A_LAYER, Budget, building, current_budget
from kerascope.not_yet import out_of_scope
from kerascope.printable import printable
from kerascope.registry import did_you_mean
from kerascope.spellings import ATTRIBUTES, VALUES, changed_habits, habits, weight_name

__all__ = ["InputSpec", "Layer", "Node"]

_BASE_KEYWORDS = (
    "name", "trainable", "dtype", "input_shape", "batch_input_shape", "batch_size", "weights",
    "input_dim", "input_length", "activity_regularizer", "autocast",
)  # fmt: skip


class PerInput:
    """The losses, or updates, of a layer, each under the inputs that it belongs to.

    A layer that is called on two inputs makes two sets of updates; a model that contains only one
    of the calls must run only its own. So each item is entered under the tensors that it depends
    on, or under none if it holds whatever is fed (a penalty on a weight). The key is the tuple of
    tensors themselves: Keras 1 and 2 use their `id()`, which a dead tensor's successor may get.

    A second call on the same tensors, or a call that is made again by a debugger, makes items of
    its own. So each stands beside the call that made it: see `only_of_call`.
    """

    def __init__(self) -> None:
        self._items: dict[tuple[Tensor, ...], list[tuple[Any, list[Tensor] | None]]] = {}
        self._keys: list[tuple[Tensor, ...]] = []  # of every item, in the order of their coming

    def add(self, items: Any, inputs: Any = None, call: EnclosingCall | None = None) -> None:
        """Enter one item or a list of them under `inputs`, for the call that is being made."""
        items, key, call = to_list(items), tuple(to_list(inputs)), call or enclosing_call.get()
        outermost = None if call is None else call.outermost
        if items:
            self._items.setdefault(key, []).extend((item, outermost) for item in items)
            self._keys.extend([key] * len(items))

    def forget_after(self, number: int) -> None:
        """Take out all that came after the first `number` items."""
        while len(self._keys) > number:
            key = self._keys.pop()
            self._items[key].pop()
            if not self._items[key]:
                del self._items[key]

    def of(self, inputs: Any) -> list[Any]:
        """Return the items of exactly these inputs; None gives those that depend on no input."""
        return of_call(self._items.get(tuple(to_list(inputs)), []))

    def all(self) -> list[Any]:
        """Return every item."""
        return [item for items in self._items.values() for item, _ in items]

    def __copy__(self) -> PerInput:
        twin = PerInput()
        twin._items = {key: list(items) for key, items in self._items.items()}
        twin._keys = list(self._keys)
        return twin

    def __len__(self) -> int:
        return len(self._keys)


class Layer(OutOfScope, metaclass=LayerType):
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

    name: str
    dtype: str
    built: bool = False
    stateful: bool
    inbound_nodes: list[Node]
    outbound_nodes: list[Node]
    _arguments: dict[str, Any]
    input_spec: Any = None
    made_at: tuple[str, int] | None
    _made_on: Line | None  # the same, with the function around
    _why_it_cannot_run: str | None = None  # said by the layers of `layers.opaque`
    _is_told_masks = True  # whether `call` gets the masks that its inputs carry, if it takes them
    _assigns = False  # whether its `call` assigns to variables, which it does in every phase
    _budget: Budget | None = None  # under which it was made, if its configuration was read
    _last_call: LossesOfLastCall | None = None

    def __init__(self, **kwargs: Any) -> None:
        budget = current_budget()
        if budget is not None:
            budget.take_parts(PARTS_OF_A_LAYER, f"at a layer {type(self).__name__}")
            self._budget = budget.later
        name = kwargs.pop("name", None)
        self.name = name or self._default_name()
        self.trainable = kwargs.pop("trainable", True)
        kwargs.pop("autocast", None)  # Keras 3's; nothing is cast here
        self.dtype = checked_dtype(kwargs.pop("dtype", None))
        self.batch_input_shape = _batch_input_shape(kwargs)
        self.built = False
        self.stateful = False
        self.supports_masking = False
        self._ends_masks = habits().ends_masks
        self.input_spec = None
        self.inbound_nodes = []
        self.outbound_nodes = []
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
                f"{out_of_scope('LoRA') if 'lora' in unknown else did_you_mean(unknown, known)}",
                subject=self,
            )

    def _default_name(self) -> str:
        """Return the class's name in lower case with a number: `dense_1`."""
        class_name, words = type(self).__name__, habits().class_words
        if words is None:
            prefix = snake_case(class_name)
        else:
            prefix = words.get(class_name, class_name.lower())
        number = get_uid(prefix)
        if not habits().counts_from_zero:
            return f"{prefix}_{number}"
        return prefix if number == 1 else f"{prefix}_{number - 1}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {printable(self.name)}>"

    @property
    def label(self) -> str:
        """How errors call the layer: `Dense 'dense_1'`."""
        return f"{type(self).__name__} '{printable(self.name)}'"

    @property
    def compute_dtype(self) -> str:
        """The type in which the layer computes: `dtype`, as Keras 3 calls it."""
        return self.dtype

    @property
    def variable_dtype(self) -> str:
        """The type of the layer's weights: `dtype`, as what mixes two types is refused."""
        return self.dtype

    @property
    def trainable(self) -> bool:
        """Whether training changes the weights.

        In dialect "3" the layers inside are set with this one, as far as they are there already.
        """
        return self.__dict__["trainable"]

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
        inputs = [placeholder(s, dtype=self.dtype) for s in listed_shapes(input_shape)]
        with graph_mode(), self._scope(), rolled_back(self), assigning():
            outputs, packed = listed(self.call(unpack_singleton(inputs)))
        return packed([int_shape(y) for y in outputs])

    # --- as Keras 1 has it ------------------------------------------------------------------------

    def add_inbound_node(
        self, inbound_layers: Any, node_indices: Any = None, tensor_indices: Any = None
    ) -> None:
        """Call the layer on the outputs of layers; by default the first of each."""
        self(unpack_singleton(outputs_of(to_list(inbound_layers), node_indices, tensor_indices)))

    @property
    def constraints(self) -> WeightConstraints:
        """Weight -> what the optimizer applies to each new value; what is set in it counts."""
        own = ((w, w.constraint) for w in self.trainable_weights)
        return WeightConstraints((w, constraint) for w, constraint in own if constraint is not None)

    @constraints.setter
    def constraints(self, value: Any) -> None:
        for w, constraint in dict(value).items():
            self.constraints[w] = constraint

    @property
    def regularizers(self) -> list[Any]:
        """Nothing: the penalties are in `losses`, in Keras 1.2 too."""
        return []

    @regularizers.setter
    def regularizers(self, value: Any) -> None:
        if value:
            warn(
                f"{self.label}: `regularizers` does nothing, as in Keras 1.2; give them to the "
                "weights: add_weight(..., regularizer=...)."
            )

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
        """Return what the constructor needs to make this layer again, ready for JSON.

        Raises
        ------
        ConfigError
            An argument of the constructor is stored nowhere, or its value cannot be written.
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
                    f"{self.label}: get_config cannot find the constructor's argument {name!r}; "
                    f"expected an attribute of that name. Store it (self.{name} = {name}) or write "
                    "get_config.",
                    subject=self,
                )
            value = getattr(self, name) if hasattr(self, name) else self._arguments[name]
            try:
                config[name] = serialized(value, f"{self.label}: argument {name!r}")
            except ConfigError:
                if type(self).get_config is Layer.get_config:
                    raise  # else the class's own will see to what cannot be written here
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """Make a layer from what `get_config` returned."""
        with changed_habits(has_other_slope=False):
            made: Layer = made_from(cls, config)
        return made

    # --- calling ----------------------------------------------------------------------------------

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Call the layer: on symbolic tensors, on arrays, or inside a function (see `calling.py`).

        Parameters
        ----------
        inputs : Tensor, array_like, or list of them
        *args, **kwargs
            Passed on to `call`: `training`, `mask`, ... Tensors among them count as inputs too:
            see `arguments.py`.

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
        """Hold the inputs of a call against `input_spec`; see `InputSpec`.

        Raises
        ------
        ShapeError
            One does not fit.
        ArgumentError
            The layer expects another number of inputs.
        """
        if not self.input_spec:
            return
        specs, inputs = to_list(self.input_spec), to_list(inputs)
        if len(specs) != len(inputs):
            raise ArgumentError(
                f"{self.label}: {len(inputs)} inputs came; expected {len(specs)}.", subject=self
            )
        for index, (tensor, spec) in enumerate(zip(inputs, specs, strict=True)):
            misfit = None if spec is None else spec.misfit(tensor)
            if misfit is not None:
                which = "input" if len(specs) == 1 else f"input {index}"
                raise ShapeError(f"{self.label}: {which} {misfit}", subject=self)

    def _scope(self) -> Any:
        return name_scope(
            self.name, self.made_at, around=asked_here(LAYER, self.name, self._made_on)
        )

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        """Return what a `compute_output_shape` that the class itself wrote says, else None."""
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
        """Make a weight and enter it in the layer's books.

        Parameters
        ----------
        *args
            Name and shape, as Keras 2 orders them, or shape and initializer, as Keras 1 and 3 do.
        name : str, optional
            The weight's own word: "kernel". Its full name follows `config.dialect`:
            `dense_1/kernel`.
        shape : tuple of int
            Every size must be known.
        dtype : str, optional
            Default: the layer's.
        initializer : str, callable or object
            Default "glorot_uniform".
        regularizer : callable, optional
            Its penalty is added to the layer's losses.
        trainable : bool
            Whether training changes it.
        constraint : callable, optional
            Applied by the optimizer to each new value.
        """
        if len(args) > 2:
            raise ArgumentError(
                f"{self.label}: add_weight got {len(args)} arguments by place; expected at most 2. "
                f"Name the others: initializer=..., trainable=...",
                subject=self,
            )
        if args and isinstance(args[0], (tuple, list)):
            shape, initializer = (*args, initializer)[:2]
        elif args:
            name, shape = (*args, shape)[:2]
        if shape is None or any(size is None for size in shape):
            raise ShapeError(
                f"{self.label}: weight {name!r} has shape {shape}; expected known sizes. "
                f"Give the input's last axes a size.",
                subject=self,
            )
        word = name or f"weight_{len(self.weights) + 1}"
        dtype = dtype or self.dtype
        initializer = initializers.get(initializer or "glorot_uniform")
        value = self._first_value(initializer, tuple(shape), dtype, word)
        with graph_mode():
            weight = variable(
                value, dtype, weight_name(self.name, word), constraints.get(constraint)
            )
            if regularizer is not None:
                with name_scope("weight_regularizer"):
                    penalty: Any = regularizers.get(regularizer)
                    self.add_loss(penalty_of(weight, penalty(weight)))
        (self._trainable_weights if trainable else self._non_trainable_weights).append(weight)
        return weight

    def _first_value(self, initializer: Any, shape: Shape, dtype: str, word: str) -> Any:
        """Return what a weight begins with, if there is room for it: see `kerascope.limits`."""
        budget = current_budget() or self._budget
        if budget is not None:
            budget.take_numbers(shape, f"a weight {word!r} in {self.label}")
            if budget is current_budget() and budget.weights_are_read_next:
                return np.zeros(shape, dtype)
        with building(budget):
            is_function = hasattr(initializer, "__name__")
            if is_function and accepts(initializer, "name"):  # as Keras 1 calls its functions
                initializer = partial(initializer, name=weight_name(self.name, word))
            if accepts(initializer if is_function else type(initializer).__call__, "dtype"):
                return initializer(shape, dtype=dtype)
            return initializer(shape)

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
        """Weights that training leaves alone; all of them when the layer is frozen."""
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
        """All weights: the trainable ones, then the others."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    @property
    def variables(self) -> list[Variable]:
        """Keras 3's name of `weights`."""
        return self.weights

    @property
    def trainable_variables(self) -> list[Variable]:
        """Keras 3's name of `trainable_weights`."""
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[Variable]:
        """Keras 3's name of `non_trainable_weights`."""
        return self.non_trainable_weights

    def _enter_variables(self) -> None:
        """Enter each `keras.Variable` that is an attribute, alone or in a list, as a weight."""
        for value in list(vars(self).values()):
            if value.__class__ in _NO_LAYERS:
                continue
            for one in value if value.__class__ is list else (value,):
                if isinstance(one, Variable) and hasattr(one, "trainable"):
                    books = self._trainable_weights, self._non_trainable_weights
                    if one not in books[0] and one not in books[1]:
                        books[not one.trainable].append(one)

    def stateless_call(
        self, trainable_variables: Any, non_trainable_variables: Any, *args: Any, **kwargs: Any
    ) -> tuple[Any, list[Any]]:
        """Return the outputs for arrays with given weights, and the new ones that are not trained.

        Nothing is written. As in Keras 3, but for `return_losses`.

        Raises
        ------
        ArgumentError
            There are too many or too few weights, or the losses are asked for.
        """
        variables = [*self.trainable_weights, *self.non_trainable_weights]
        values = [*trainable_variables, *non_trainable_variables]
        if kwargs.pop("return_losses", False) or len(values) != len(variables):
            raise ArgumentError(
                f"{self.label}: stateless_call got {len(values)} weights; expected "
                f"{len(variables)}: {variables}, and no return_losses. Build the layer first.",
                subject=self,
            )
        given = {
            v: as_tensor(v._checked(value_of(x))) for v, x in zip(variables, values, strict=True)
        }
        with LOCKS.steps, assigning(given) as assigned:
            outputs = self(*args, **kwargs)
            return outputs, [value_of(assigned[v]) for v in self.non_trainable_weights]

    def get_weights(self) -> list[np.ndarray]:
        """Return the numbers of all weights, in the order of `weights`."""
        return batch_get_value(self.weights)

    def set_weights(self, weights: list[Any]) -> None:
        """Replace the numbers of all weights, or raise and replace none.

        Raises
        ------
        ArgumentError
            There are too many arrays or too few.
        ShapeError
            One has another shape than its weight.
        """
        if len(weights) != len(self.weights):
            raise ArgumentError(
                f"{self.label}: set_weights got {len(weights)} arrays; expected "
                f"{len(self.weights)}: {self.weights}.",
                subject=self,
            )
        batch_set_value(zip(self.weights, weights, strict=True))

    def count_params(self) -> int:
        """Return how many numbers the weights hold.

        Raises
        ------
        NotBuiltError
            The layer has no weights yet.
        """
        if not self.built:
            raise NotBuiltError(
                f"{self.label}: count_params needs the weights, and it is not built yet. "
                f"Call it, or give it an input_shape.",
                subject=self,
            )
        return sum(state.count_params(w) for w in self.weights)

    # --- losses and updates, each under the call that it belongs to -------------------------------

    @property
    def _sublayers(self) -> list[Any]:
        """Layers that this one holds as attributes, alone or in lists and dicts, however deep."""
        found: dict[Any, None] = {}
        for name, value in vars(self).items():
            if type(value) in _NO_LAYERS:
                continue
            if isinstance(value, Layer):
                found[value] = None
            elif isinstance(value, _CONTAINERS) and value and name not in _WITHOUT_LAYERS:
                # A list that the constructor was given is not held: what was made of it is.
                deep = name != "_arguments"
                found.update((x, None) for x in _layers_in(value, (value,), deep))
        found.pop(self, None)
        return list(found)

    def add_loss(self, losses: Any, inputs: Any = None) -> None:
        """Add scalar penalties; those that depend on `inputs` belong to the call on them.

        In a call on numbers they are numbers too: `losses` has them until the next such call, and
        no graph ever asks for them.
        """
        tensors, entered = [as_tensor(loss) for loss in to_list(losses)], entered_losses.get()
        if is_eager() and entered is not None:
            entered.setdefault(self, []).extend(tensors)
        else:
            self._losses.add(tensors, self._whole_call(inputs, tensors))

    def add_update(self, updates: Any, inputs: Any = None) -> None:
        """Add pairs `(variable, new_value)`, run with each train step that contains this call.

        In a call on numbers they are computed now, and written when the outermost call ends.
        """
        pairs = [updates] if isinstance(updates, tuple) else to_list(updates)
        if not is_eager():
            call = enclosing_call.get()
            if call is not None and not self.stateful:
                pairs = [CallUpdate.of(pair, call.inputs) for pair in pairs]
            self._updates.add(pairs, self._whole_call(inputs, [pair[1] for pair in pairs]))
            return
        with LOCKS.steps:  # at once; all new values are computed before any is written
            computed = [(variable, value_of(new_value)) for variable, new_value in pairs]
            assigned = ASSIGNED.get()
            if assigned is not None:  # written when the outermost call ends
                assigned.update({variable: as_tensor(value) for variable, value in computed})
                return
            for variable, _ in computed:
                remember_value(variable)
            set_values(computed)

    def _whole_call(self, inputs: Any, values: list[Any] | None = None) -> Any:
        """Return all inputs of the call that is being made, if it begins with these.

        `call(inputs, initial_state)` says `add_update(pairs, inputs)`; the call has more inputs.
        Keras 3 says `add_loss(loss)`: what is computed from the inputs of a call belongs to it.
        """
        call, given = enclosing_call.get(), to_list(inputs)
        if call is None or call.layer is not self:
            return inputs
        if given:
            return call.inputs if call.inputs[: len(given)] == given else inputs
        return call.inputs if depend_on(values or [], call.inputs) else None

    @property
    def losses(self) -> list[Tensor]:
        """All penalties of the layer and of layers inside it.

        After a call on numbers also those of that call, until the next one.
        """
        of_call = [] if self._last_call is None else self._last_call.own
        return (
            self._losses.all()
            + of_call
            + [loss for layer in self._sublayers for loss in layer.losses]
        )

    @property
    def updates(self) -> list[tuple[Variable, Any]]:
        """All update pairs of the layer; when it is frozen, only those of states."""
        if not self.trainable:
            return self.state_updates
        return self._updates.all() + [pair for layer in self._sublayers for pair in layer.updates]

    @property
    def state_updates(self) -> list[tuple[Variable, Any]]:
        """The update pairs that carry a state from batch to batch: they run in test mode too."""
        own = self._updates.all() if self.stateful or self._assigns else []
        return own + [pair for layer in self._sublayers for pair in layer.state_updates]

    def get_losses_for(self, inputs: Any = None) -> list[Tensor]:
        """Return the penalties for exactly these inputs; None gives the unconditional ones."""
        return self._items_for(inputs, "get_losses_for", self._losses)

    def get_updates_for(self, inputs: Any = None) -> list[tuple[Variable, Any]]:
        """Return the update pairs for exactly these inputs; None gives the unconditional ones."""
        if not self.trainable:
            return self.get_state_updates_for(inputs)
        return self._items_for(inputs, "get_updates_for", self._updates)

    def get_state_updates_for(self, inputs: Any) -> list[tuple[Variable, Any]]:
        """Return those of `state_updates` for exactly these inputs."""
        own = self._updates.of(inputs) if self.stateful or self._assigns else []
        return own + self._of_inner_layers("get_state_updates_for", inputs)

    def _items_for(self, inputs: Any, getter: str, own: PerInput) -> list[Any]:
        return own.of(inputs) + self._of_inner_layers(getter, inputs)

    def _of_inner_layers(self, getter: str, inputs: Any) -> list[Any]:
        """Return what the layers inside have for these inputs, or for what became of them."""
        if inputs is None:
            calls: Any = [(layer, None) for layer in self._sublayers]
        else:
            calls = dict.fromkeys(self._inner_calls.of(inputs))
        return [item for layer, key in calls for item in getattr(layer, getter)(key)]

    def remember_call(self, layer: Layer, inner_inputs: list[Tensor], inputs: Any) -> None:
        """Note that a call on `inputs` has called a layer inside: its books are asked when needed.

        They are not copied: a layer inside may still be frozen, or unfrozen.
        """
        if not is_eager():
            self._inner_calls.add([(layer, tuple(inner_inputs))], inputs)

    @property
    def uses_learning_phase(self) -> bool:
        """Tell whether an output differs between training and test."""
        return any(
            y._uses_learning_phase for node in self.inbound_nodes for y in node.output_tensors
        )

    # --- its calls: *the* output of a layer that was called once, one for each Node else ----------

    @property
    def _inbound_nodes(self) -> list[Node]:
        return self.inbound_nodes

    @property
    def _outbound_nodes(self) -> list[Node]:
        return self.outbound_nodes

    def _at_node(self, node_index: int, attribute: str, what: str) -> Any:
        if not self.inbound_nodes:
            raise IllDefinedError(
                f"{self.label}: the layer has never been called and thus has no defined {what}.",
                subject=self,
            )
        if not -len(self.inbound_nodes) <= node_index < len(self.inbound_nodes):
            raise ArgumentError(
                f"{self.label}: asked to get {what} at node {node_index}, but the layer has only "
                f"{len(self.inbound_nodes)} inbound nodes.",
                subject=self,
            )
        return unpack_singleton(getattr(self.inbound_nodes[node_index], attribute))

    def _at_only_node(self, attribute: str, what: str) -> Any:
        if not self.inbound_nodes:
            raise IllDefinedError(
                f"Layer {self.name} has never been called and thus has no defined {what}.",
                subject=self,
            )
        if len(self.inbound_nodes) == 1:
            return self._at_node(0, attribute, what)
        values = [getattr(node, attribute) for node in self.inbound_nodes]
        if what.endswith("shape") and all(value == values[0] for value in values):
            return unpack_singleton(values[0])
        method = what.replace(" ", "_")
        raise IllDefinedError(
            f'Layer {self.name} has multiple inbound nodes, hence the notion of "layer {what}" is '
            f"ill-defined. Use get_{method}_at(node_index) instead.",
            subject=self,
        )

    def get_input_at(self, node_index: int) -> Any:
        """Return the input tensor (or list of them) of one call."""
        return self._at_node(node_index, "input_tensors", "input")

    def get_output_at(self, node_index: int) -> Any:
        """Return the output tensor (or list of them) of one call."""
        return self._at_node(node_index, "output_tensors", "output")

    def get_input_mask_at(self, node_index: int) -> Any:
        """Return the input mask (or list of them) of one call."""
        return self._at_node(node_index, "input_masks", "input mask")

    def get_output_mask_at(self, node_index: int) -> Any:
        """Return the output mask (or list of them) of one call."""
        return self._at_node(node_index, "output_masks", "output mask")

    def get_input_shape_at(self, node_index: int) -> Any:
        """Return the input shape (or list of them) of one call."""
        return self._at_node(node_index, "input_shapes", "input shape")

    def get_output_shape_at(self, node_index: int) -> Any:
        """Return the output shape (or list of them) of one call."""
        return self._at_node(node_index, "output_shapes", "output shape")

    @property
    def input(self) -> Any:
        """The input tensor of the layer's only call."""
        return self._at_only_node("input_tensors", "input")

    @property
    def output(self) -> Any:
        """The output tensor of the layer's only call."""
        return self._at_only_node("output_tensors", "output")

    @property
    def input_mask(self) -> Any:
        """The input mask of the layer's only call."""
        return self._at_only_node("input_masks", "input mask")

    @property
    def output_mask(self) -> Any:
        """The output mask of the layer's only call."""
        return self._at_only_node("output_masks", "output mask")

    @property
    def input_shape(self) -> Any:
        """The input shape, if all calls agree on it."""
        return self._at_only_node("input_shapes", "input shape")

    @property
    def output_shape(self) -> Any:
        """The output shape, if all calls agree on it."""
        return self._at_only_node("output_shapes", "output shape")

    # --- undoing a failed first call --------------------------------------------------------------

    @property
    def _books(self) -> tuple[PerInput, ...]:
        return self._losses, self._updates, self._inner_calls

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


class WeightConstraints(dict[Variable, Any]):
    """The constraints of a layer's weights: entering one gives it to the weight."""

    def __setitem__(self, weight: Variable, constraint: Any) -> None:
        weight.constraint = constraints.get(constraint)
        super().__setitem__(weight, weight.constraint)


def outputs_of(
    layers: list[Any], node_indices: Any = None, tensor_indices: Any = None
) -> list[Any]:
    """Return one output tensor of each layer: of which call, and which; by default the first."""
    calls, places = node_indices or [0] * len(layers), tensor_indices or [0] * len(layers)
    chosen = zip(layers, to_list(calls), to_list(places), strict=True)
    return [layer.inbound_nodes[node].output_tensors[tensor] for layer, node, tensor in chosen]


def layers_within(layer: Any) -> list[Any]:
    """Return a layer and all layers inside it, each once and before those that it holds."""
    found: dict[Any, None] = {}
    waiting = [layer]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found[one] = None
            waiting.extend(reversed(one._sublayers))
    return list(found)


def _distinct(weights: list[Variable]) -> list[Variable]:
    """Return the weights without repetitions: a layer may be reached by two ways."""
    return list(dict.fromkeys(weights))


_CONTAINERS = (list, tuple, dict)
_WITHOUT_LAYERS = frozenset((
    "inbound_nodes", "outbound_nodes", "made_at", "_trainable_weights", "_non_trainable_weights",
))  # fmt: skip
_NO_LAYERS = frozenset(  # most attributes
    (type(None), bool, int, float, str, PerInput, LossesOfLastCall)
)


def _layers_in(container: Any, around: tuple[Any, ...], deep: bool) -> Iterator[Layer]:
    """Yield the layers in a list, tuple or dict and in those inside it, as in `[(dense, norm)]`.

    Tuples with names, such as a history, are records: their layers belong to somebody else.
    """
    for member in container.values() if isinstance(container, dict) else container:
        if type(member) in _NO_LAYERS:
            continue
        if isinstance(member, Layer):
            yield member
        elif deep and type(member) in _CONTAINERS and not any(member is one for one in around):
            yield from _layers_in(member, (*around, member), deep)


for _old, _new in ATTRIBUTES.items():  # `layer.W`, as Keras 1 says
    setattr(Layer, _old, OldName(_new, VALUES.get(_old, {})))
