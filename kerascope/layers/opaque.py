"""Opaque layers: what stands in a model's file for a layer that cannot be run here.

An opaque layer has the name, the class name, the configuration and the weights that the file says,
and gives tensors of the shapes that the file says, or of the shape `?`. So its model can be drawn,
summed up, compared and saved again; whoever wants numbers is told which layer stands in the way.

It is a layer of its own, or one of ours that was made but cannot be called as the file says: that
one keeps its class, with another `call`, and so the layers inside a wrapper stay where they are.
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

__all__: list[str] = []  # only files make them

LONGEST_CLASS_NAME = 100
_USUAL_DTYPE = "float32"


@dataclass(frozen=True)
class KnownCall:
    """What a file says of one call of a layer.

    Attributes
    ----------
    inputs : list of Shape, or None
        The shapes of all its inputs; None if the file does not say.
    outputs : list of (Shape, str or None)
        The shape and the type of each output; `UNKNOWN` and None where the file does not say.
    """

    inputs: list[Shape] | None
    outputs: list[tuple[Shape, str | None]]

    def fits(self, shapes: Sequence[Shape]) -> bool:
        """Tell whether inputs of these shapes may be those of the call."""
        if self.inputs is None:
            return True
        return len(shapes) == len(self.inputs) and all(
            given is UNKNOWN or said is UNKNOWN or merge_shapes(given, said) is not None
            for given, said in zip(shapes, self.inputs, strict=True)
        )


ANY_CALL = KnownCall(None, [(UNKNOWN, None)])


@dataclass(frozen=True)
class FileEntry:
    """What stands in a file in the place of an opaque layer.

    Attributes
    ----------
    entry : dict
        The layer's own part of the configuration, as it stands there.
    why : str
        Why the layer cannot be run: a sentence without a full stop.
    calls : list of KnownCall
    is_operation : bool
        Whether it is an operation of Keras 3, which has no weights and is no layer there.
    held : dict of str to (Layer, or list of Layer)
        The layers in its configuration, by their argument.
    """

    entry: dict[str, Any]
    why: str
    calls: list[KnownCall] = field(default_factory=list)
    is_operation: bool = False
    held: dict[str, Any] = field(default_factory=dict)


class FileConfig(dict[str, Any]):
    """The configuration of an opaque layer, that knows the whole entry which it is a part of."""

    entry: dict[str, Any]


# --- the shapes that the user gives ---------------------------------------------------------------


_given: ContextVar[Mapping[str, tuple[int | None, ...]]] = ContextVar(
    "shapes_given",
    default=MappingProxyType({}),
)


@contextmanager
def shapes_given(shapes: Mapping[str, tuple[int | None, ...]]) -> Iterator[None]:
    """Let the opaque layers of a file have these output shapes of a sample, by their names."""
    token = _given.set(shapes)
    try:
        yield
    finally:
        _given.reset(token)


def shape_given(layer: Layer) -> Shape | None:
    """Return the output shape that the user gave for a layer, if any."""
    sample = _given.get().get(layer.name)
    return None if sample is None else (None, *sample)


def check_given(model: Any, where: str) -> None:
    """Raise ArgumentError if a shape was given for a layer that is not opaque in the model."""
    names = [layer.name for layer in opaque_layers(model)]
    for name in _given.get():
        if name not in names:
            raise ArgumentError(
                f"{where}: a shape is given for {name!r}; expected the name of an opaque layer. "
                f"{did_you_mean(name, names) or 'They are: ' + (', '.join(names) or 'none') + '.'}"
            )


# --- the tensors that it gives --------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Unknown(Op):
    """Stands for what an opaque layer computes: shapes and types, but no numbers.

    Parameters
    ----------
    layer : str
        What errors call the layer.
    outputs : tuple of (Shape, str)
    words : str
        Why there are no numbers, and what to do.
    """

    may_refuse = True

    layer: str
    outputs: tuple[tuple[Shape, str], ...]
    words: str

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """How many tensors come out."""
        return len(self.outputs)

    def infer_shape(self, *inputs: Any) -> Any:
        """Return what the file says."""
        return unpack_singleton([shape for shape, _ in self.outputs])

    def infer_dtype(self, *inputs: Any) -> Any:
        """Return what the file says."""
        return unpack_singleton([dtype for _, dtype in self.outputs])

    def perform(self, *arrays: Any) -> NoReturn:
        """Refuse."""
        raise NotYetError(self.words)

    def grad(self, inputs: Any, outputs: Any, output_grads: Any) -> NoReturn:
        """Refuse."""
        raise NotYetError(self.words)


def refused(layer: Layer, like: Tensor, words: str) -> Tensor:
    """Return a tensor of the shape and type of another one, that refuses to be computed.

    Raises
    ------
    NotYetError
        At once, where layers are called on arrays.
    """
    if is_eager():
        raise NotYetError(words, subject=layer)
    tensor: Tensor = Unknown(layer.label, ((like.shape, like.dtype),), words)(like)
    return tensor


# --- the layer ------------------------------------------------------------------------------------


class Opaque(Layer):
    """A layer of a file that cannot be run here.

    Parameters
    ----------
    file : FileEntry
    **kwargs
        As for `Layer`.
    """

    _is_part = True
    _file: FileEntry
    _places: list[str]
    _held_layers: list[Any]
    in_bfloat16: frozenset[str] = frozenset()
    folder_name: str | None = None  # of its weights, where that is not after `class_name`

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
        """The layers in its configuration, or lists of them, by their argument."""
        return self._file.held

    @property
    def layers_inside(self) -> list[Any]:
        """The same layers in one list."""
        return list(self._held_layers)

    @property
    def input_shapes_in_file(self) -> list[Shape]:
        """The shapes of the inputs of its first call, as far as the file says them."""
        first = next(iter(self._file.calls), ANY_CALL)
        return [UNKNOWN] if first.inputs is None else list(first.inputs)

    @property
    def is_operation(self) -> bool:
        """Whether it is an operation between layers, and no layer in Keras 3."""
        return self._file.is_operation

    @property
    def class_name(self) -> str:
        """The name of its class, as the configuration in the file says it."""
        return str(self._file.entry.get("class_name", type(self).__name__))

    @property
    def _why_it_cannot_run(self) -> str:  # type: ignore[override]
        """Say that the layer cannot be run, why, and what to do."""
        name = type(self).__name__
        return (
            f"{self.label}: cannot be run: {self._file.why}. It can be drawn, summed up, compared "
            f"and saved as it is. To run it, write the class and pass custom_objects={{{name!r}: "
            f"{name}}} to load_model, or --custom MODULE:{name} on the command line."
        )

    # --- what it gives ----------------------------------------------------------------------------

    def build(self, input_shape: Any = None) -> None:
        """Make nothing: its weights are those of the file."""
        self.built = True

    def call(self, inputs: Any) -> Any:
        """Return tensors of the shapes that the file says.

        Raises
        ------
        NotYetError
            Numbers are wanted.
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
            known = KnownCall(None, [(UNKNOWN, None)] * number)
        for shape, dtype in known.outputs:
            yield shape, dtype or _USUAL_DTYPE

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return what the file says of inputs of this shape; `?` where it says nothing."""
        shapes = [UNKNOWN] if input_shape is UNKNOWN else listed_shapes(input_shape)
        return unpack_singleton([shape for shape, _ in self._outputs_for(shapes)])

    def _declared_output_shape(self, input_shape: Any, arguments: dict[str, Any]) -> Any:
        return None  # `call` has said it already

    def compute_mask(self, inputs: Any, mask: Any = None) -> None:
        """Return None: what becomes of a mask is not known; a file of Keras 3 says it itself."""
        return

    def hold_more(self, layers: dict[str, Layer]) -> None:
        """Hold layers of which only the weights stand in the file, by their places there."""
        self._file.held.update(layers)
        self._held_layers.extend(layers.values())

    # --- what the file holds ----------------------------------------------------------------------

    def take_weights(
        self, arrays: dict[str, np.ndarray], in_bfloat16: Collection[str] = ()
    ) -> None:
        """Hold arrays as the layer's own weights.

        Whether one is trained, a file does not say: numbers with a point count as trained, as far
        as the layer is trainable, and whole numbers and booleans do not.

        Parameters
        ----------
        arrays : dict of str to np.ndarray
            By their places in the file, below the layer's own.
        in_bfloat16 : collection of str
            The places of those that the file has in bfloat16, which NumPy has not.
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
        """Whether it has weights of which the file does not say if they are trained.

        Those of a standard layer that only cannot be called are trained, except statistics.
        """
        is_standard = any(
            cls.__module__.startswith("kerascope.layers.") and not issubclass(cls, Opaque)
            for cls in type(self).__mro__
        )
        has_statistics = hasattr(self, "moving_mean_initializer")
        return bool(self._places) and (has_statistics or not is_standard)

    def placed_weights(self) -> dict[str, Variable]:
        """Return the layer's own weights by their places in the file."""
        return dict(zip(self._places, self._held, strict=True)) if self._places else {}

    def get_config(self) -> dict[str, Any]:
        """Return the configuration as it stands in the file."""
        config = FileConfig(self._file.entry.get("config") or {})
        config.entry = self._file.entry
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Layer:
        """Refuse: only a file says what an opaque layer is.

        Raises
        ------
        NotYetError
            Always.
        """
        name = cls.__name__
        raise NotYetError(
            f"{name} {printable(str(config.get('name')))!r}: was opaque in the file that it came "
            f"from, and cannot be made anew. Load the file again, with custom_objects={{{name!r}: "
            f"{name}}} or opaque=True."
        )


@lru_cache(maxsize=512)
def opaque_class(class_name: str, base: Any = Layer) -> Any:
    """Return the class of opaque layers that are called so, which are a `base` besides."""
    named = class_name if class_name.isidentifier() and class_name.isascii() else "Opaque"
    bases = (Opaque,) if base is Layer else (Opaque, base)
    facts = {"_is_part": True, "__module__": __name__, "__doc__": Opaque.__doc__}
    make: Any = type(Opaque)
    return make(named[:LONGEST_CLASS_NAME], bases, facts)


def opaque_layer(file: FileEntry, base: Any = Layer) -> Any:
    """Return a new opaque layer, or a model of a class that is not known."""
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
    """Let a layer that was made, but never called, be an opaque one of the same class."""
    base: Any = type(layer)
    layer.__class__ = opaque_class(base.__name__, base)
    layer._hold(file)
    layer._trainable_weights, layer._non_trainable_weights = [], []
    return layer


def opaque_layers(layer: Any) -> list[Opaque]:
    """Return the opaque layers of a model, those inside others too, or the layer itself."""
    return [one for one in layers_within(layer) if isinstance(one, Opaque)]
