"""Opaque layers: layers that were read from a file and cannot be run.

An opaque layer has the name, the class name, the configuration and the weights that the file
contains. Its outputs have the shapes that the file states, or the unknown shape, shown as `?`. So
its model can be drawn, summarised, compared and saved again. Computing its outputs raises an error
that names the layer.

If the class is unknown, the layer is an instance of `Opaque`. If the class is known but the layer
cannot be called as the file requires, the object becomes an instance of a class derived from
`Opaque` and from its own class. Layers inside such a layer are kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NoReturn

import numpy as np

from kerascope.backend.graph import Op, Tensor, graph_mode, is_eager
from kerascope.backend.shapes import UNKNOWN, Shape, merge_shapes
from kerascope.backend.state import variable
from kerascope.backend.variables import Variable
from kerascope.engine.arguments import listed_shapes, to_list, unpack_singleton
from kerascope.engine.base_layer import Layer, layers_within
from kerascope.errors import ArgumentError, NotYetError
from kerascope.printable import printable
from kerascope.registry import did_you_mean

__all__: list[str] = []  # instances come from files only

LONGEST_CLASS_NAME = 100
_USUAL_DTYPE = "float32"


@dataclass(frozen=True)
class RecordedCall:
    """The input and output shapes of one call of a layer, from a file.

    Attributes
    ----------
    inputs : list of Shape, or None
        The shapes of all inputs; None if the file does not state them.
    outputs : list of (Shape, str or None)
        The shape and the dtype of each output. If the file does not state them, the shape is
        `UNKNOWN` and the dtype is None.
    """

    inputs: list[Shape] | None
    outputs: list[tuple[Shape, str | None]]

    def fits(self, shapes: Sequence[Shape]) -> bool:
        """Return whether the given input shapes are compatible with those of the recorded call."""
        if self.inputs is None:
            return True
        return len(shapes) == len(self.inputs) and all(
            given is UNKNOWN or said is UNKNOWN or merge_shapes(given, said) is not None
            for given, said in zip(shapes, self.inputs, strict=True)
        )


ANY_CALL = RecordedCall(None, [(UNKNOWN, None)])


@dataclass(frozen=True)
class FileEntry:
    """The part of a file that describes an opaque layer.

    Attributes
    ----------
    entry : dict
        The layer's entry in the configuration of the model, unchanged.
    why : str
        The reason why the layer cannot be run: a sentence without a full stop.
    calls : list of RecordedCall
        The calls of the layer that the file contains.
    is_operation : bool
        Whether the entry is an operation of Keras 3, which has no weights and is not a layer in
        Keras 3.
    held : dict of str to (Layer, or list of Layer)
        The layers inside the opaque layer, by the argument names in its configuration.
    """

    entry: dict[str, Any]
    why: str
    calls: list[RecordedCall] = field(default_factory=list)
    is_operation: bool = False
    held: dict[str, Any] = field(default_factory=dict)


class FileConfig(dict[str, Any]):
    """The configuration of an opaque layer; `entry` is the layer's whole entry in the file."""

    entry: dict[str, Any]


# --- shapes given by the user ---------------------------------------------------------------------


_given: ContextVar[Mapping[str, tuple[int | None, ...]]] = ContextVar(
    "shapes_given",
    default=MappingProxyType({}),
)


@contextmanager
def shapes_given(shapes: Mapping[str, tuple[int | None, ...]]) -> Iterator[None]:
    """Set the output shapes (without the batch) of opaque layers, by name, in a `with` block."""
    token = _given.set(shapes)
    try:
        yield
    finally:
        _given.reset(token)


def shape_given(layer: Layer) -> Shape | None:
    """Return the output shape that `shapes_given` sets for a layer; None if it sets no shape."""
    sample = _given.get().get(layer.name)
    return None if sample is None else (None, *sample)


def check_given(model: Any, where: str) -> None:
    """Raise ArgumentError if `shapes_given` has a name that no opaque layer of the model has."""
    names = [layer.name for layer in opaque_layers(model)]
    for name in _given.get():
        if name not in names:
            raise ArgumentError(
                f"{where}: expected a shape for an opaque layer, got one for {name!r}. "
                f"{did_you_mean(name, names) or 'They are: ' + (', '.join(names) or 'none') + '.'}"
            )


# --- output tensors -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Unknown(Op):
    """The op of an opaque layer: its outputs have shapes and dtypes, but cannot be computed.

    Parameters
    ----------
    layer : str
        The layer's label in errors.
    outputs : tuple of (Shape, str)
        The shape and the dtype of each output.
    words : str
        The error message: why the op cannot compute, and what to do.
    """

    may_refuse = True

    layer: str
    outputs: tuple[tuple[Shape, str], ...]
    words: str

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """The number of outputs."""
        return len(self.outputs)

    def infer_shape(self, *inputs: Any) -> Any:
        """Return the output shapes, which are those in the file."""
        return unpack_singleton([shape for shape, _ in self.outputs])

    def infer_dtype(self, *inputs: Any) -> Any:
        """Return the output dtypes, which are those in the file."""
        return unpack_singleton([dtype for _, dtype in self.outputs])

    def perform(self, *arrays: Any) -> NoReturn:
        """Raise an error, because the outputs cannot be computed."""
        raise NotYetError(self.words)

    def grad(self, inputs: Any, outputs: Any, output_grads: Any) -> NoReturn:
        """Raise an error, because the op has no gradient."""
        raise NotYetError(self.words)


def uncomputable(layer: Layer, like: Tensor, words: str) -> Tensor:
    """Return a tensor that cannot be computed, with the shape and dtype of the tensor `like`.

    Raises
    ------
    NotYetError
        The layer is called on arrays.
    """
    if is_eager():
        raise NotYetError(words, subject=layer)
    return Unknown(layer.label, ((like.shape, like.dtype),), words)(like)


# --- the layer ------------------------------------------------------------------------------------


class Opaque(Layer):
    """A layer that was read from a file and cannot be run, usually because its class is unknown.

    Parameters
    ----------
    file : FileEntry
        The part of the file that describes the layer.
    **kwargs
        As for `Layer`.
    """

    _is_part = True
    _file: FileEntry
    _places: list[str]
    _held_layers: list[Any]
    in_bfloat16: frozenset[str] = frozenset()
    folder_name: str | None = None  # of its weights, if not named after `class_name`

    def __init__(self, file: FileEntry, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._hold(file)

    def _hold(self, file: FileEntry) -> None:
        self._file = file
        self._held_layers = [x for layers in file.held.values() for x in to_list(layers)]
        self._places = []
        self.built = True
        self.input_spec = None

    @property
    def held(self) -> dict[str, Any]:
        """The inner layers (or lists of layers), by their argument names in the configuration."""
        return self._file.held

    @property
    def layers_inside(self) -> list[Any]:
        """The list of the layers inside this layer."""
        return list(self._held_layers)

    @property
    def input_shapes_in_file(self) -> list[Shape]:
        """The input shapes of the layer's first call; `[UNKNOWN]` if the file has no shapes."""
        first = next(iter(self._file.calls), ANY_CALL)
        return [UNKNOWN] if first.inputs is None else list(first.inputs)

    @property
    def is_operation(self) -> bool:
        """Whether the layer is an operation of Keras 3, such as an addition of two outputs."""
        return self._file.is_operation

    @property
    def class_name(self) -> str:
        """The name of the layer's class in the file's configuration."""
        return str(self._file.entry.get("class_name", type(self).__name__))

    @property
    def _why_it_cannot_run(self) -> str:  # type: ignore[override]
        """The error message that states why the layer cannot be run, and what to do."""
        name = type(self).__name__
        return (
            f"{self.label}: cannot be run: {self._file.why}. It can be drawn, summed up, compared "
            f"and saved as it is. To run it, write the class and pass custom_objects={{{name!r}: "
            f"{name}}} to load_model, or --custom MODULE:{name} on the command line."
        )

    # --- outputs ----------------------------------------------------------------------------------

    def build(self, input_shape: Any = None) -> None:
        """Create no weights, because they come from the file."""
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return tensors of the shapes that the file states.

        Raises
        ------
        NotYetError
            The layer is called on arrays.
        """
        if is_eager():
            raise NotYetError(self._why_it_cannot_run, subject=self)
        tensors: list[Tensor] = to_list(inputs)
        outputs = tuple(self._outputs_for([x.shape for x in tensors]))
        return unpack_singleton(
            to_list(Unknown(self.label, outputs, self._why_it_cannot_run)(*tensors))
        )

    def _outputs_for(self, shapes: Sequence[Shape]) -> Iterator[tuple[Shape, str]]:
        known = next((call for call in self._file.calls if call.fits(shapes)), None)
        if known is None:
            number = max((len(call.outputs) for call in self._file.calls), default=1)
            known = RecordedCall(None, [(UNKNOWN, None)] * number)
        for shape, dtype in known.outputs:
            yield shape, dtype or _USUAL_DTYPE

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the output shape that the file states for these inputs; otherwise `UNKNOWN`."""
        shapes = [UNKNOWN] if input_shape is UNKNOWN else listed_shapes(input_shape)
        return unpack_singleton([shape for shape, _ in self._outputs_for(shapes)])

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        return None  # `call` has set it already

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None, because the layer's effect on a mask is unknown."""
        return

    def add_inner_layers(self, layers: dict[str, Layer]) -> None:
        """Add inner layers, by path. For these, the file contains weights but no configuration."""
        self._file.held.update(layers)
        self._held_layers.extend(layers.values())

    # --- weights and configuration ----------------------------------------------------------------

    def take_weights(
        self, arrays: dict[str, np.ndarray], in_bfloat16: Collection[str] = ()
    ) -> None:
        """Store arrays as the layer's own weights.

        A file does not state whether a weight is trained. Floats count as trained if the layer is
        trainable; whole numbers and booleans do not.

        Parameters
        ----------
        arrays : dict of str to np.ndarray
            Arrays by their paths in the file, relative to the layer's path.
        in_bfloat16 : collection of str
            The paths of the arrays that the file stores in bfloat16, which NumPy does not have.
        """
        self.in_bfloat16 = frozenset(in_bfloat16).intersection(arrays)
        with graph_mode():
            held = [
                variable(array, array.dtype.name, f"{self.name}/{place}")
                for place, array in arrays.items()
            ]
        self._places = list(arrays)
        self._held = held
        self._trainable_weights = [w for w in held if w.dtype.startswith("float")]
        self._non_trainable_weights = [w for w in held if not w.dtype.startswith("float")]

    @property
    def is_unsure(self) -> bool:
        """Whether it is unknown which weights of the layer are trained.

        Weights of kerascope's own layers are known to be trained, unless the layer has statistics
        such as a moving mean.
        """
        is_standard = any(
            cls.__module__.startswith("kerascope.layers.") and not issubclass(cls, Opaque)
            for cls in type(self).__mro__
        )
        has_statistics = hasattr(self, "moving_mean_initializer")
        return bool(self._places) and (has_statistics or not is_standard)

    def placed_weights(self) -> dict[str, Variable]:
        """Return the layer's own weights by their paths in the file."""
        return dict(zip(self._places, self._held, strict=True)) if self._places else {}

    def get_config(self) -> dict[str, Any]:
        """Return the configuration that the file contains."""
        config = FileConfig(self._file.entry.get("config") or {})
        config.entry = self._file.entry
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """Raise an error, because an opaque layer can only be made from a file.

        Raises
        ------
        NotYetError
            Always.
        """
        name = cls.__name__
        raise NotYetError(
            f"{name} {printable(str(config.get('name')))!r} is opaque, so it can only be made "
            f"from its file. Load the file again, with custom_objects={{{name!r}: "
            f"{name}}} or opaque=True."
        )


@lru_cache(maxsize=512)
def opaque_class(class_name: str, base: Any = Layer) -> Any:
    """Return a class with this name, derived from `Opaque` and from `base`."""
    named = class_name if class_name.isidentifier() and class_name.isascii() else "Opaque"
    bases = (Opaque,) if base is Layer else (Opaque, base)
    facts = {"_is_part": True, "__module__": __name__, "__doc__": Opaque.__doc__}
    make: Any = type(Opaque)
    return make(named[:LONGEST_CLASS_NAME], bases, facts)


def opaque_layer(file: FileEntry, base: Any = Layer) -> Any:
    """Return a new opaque layer, or an opaque model if `base` is a class of models."""
    config = file.entry.get("config") or {}
    name = config.get("name", file.entry.get("name"))
    trainable = config.get("trainable", True)
    cls = opaque_class(str(file.entry.get("class_name")), base)
    return cls(
        file,
        name=name if isinstance(name, str) and name else None,
        trainable=trainable if isinstance(trainable, bool) else True,
    )


def turn_opaque(layer: Any, file: FileEntry) -> Any:
    """Change the class of a layer to an opaque subclass of its class, and return the layer.

    The layer must not have been called yet.
    """
    base: Any = type(layer)
    layer.__class__ = opaque_class(base.__name__, base)
    layer._hold(file)
    layer._trainable_weights, layer._non_trainable_weights = [], []
    return layer


def opaque_layers(layer: Any) -> list[Opaque]:
    """Return the opaque layers in a model, at any depth; for an opaque layer, only that layer."""
    return [one for one in layers_within(layer) if isinstance(one, Opaque)]
