"""Random inputs for models that declare the shapes and types of their inputs."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from kerascope import foreign
from kerascope.comparing import own_models
from kerascope.comparing.subjects import Prepared
from kerascope.engine.network import Network
from kerascope.foreign.records import Declared
from kerascope.layers.embeddings import Embedding
from kerascope.trace.tape_store import Tape

SAMPLES = 2
UNKNOWN_LENGTH = 8  # length of an axis that a model leaves open
DRAWABLE = "biuf"  # kinds of NumPy's types


def drawn_inputs(sides: Sequence[Prepared], seed: int) -> Any:
    """Return random arrays for the first side that declares its inputs; None if no side does.

    Models of kerascope come before files of other libraries, because they give more details. Inputs
    of an Embedding, or of an integer dtype, are integers. All others are normally distributed. If a
    side leaves a size open, the size is taken from the other side, if that one declares it.
    """
    networks = [_network_of(side) for side in sides]
    candidates = [_read_by_network(one) for one in networks if one is not None and one.inputs]
    for side, network in zip(sides, networks, strict=True):
        declared = None if network is not None else _declared_by(side)
        candidates += [declared] if declared else []
    if not candidates:
        return None
    random = np.random.default_rng(seed)
    first, *others = candidates
    shapes = _sizes(first, [one for one in others if len(one) == len(first)])
    found = [_drawn(one, shape, random) for one, shape in zip(first, shapes, strict=True)]
    return found[0] if len(found) == 1 else found


def note_of(seed: int) -> str:
    """Return a note that the inputs are random, with their seed."""
    return f"no input was given: random numbers were drawn, seed {seed}"


# --- inputs ---------------------------------------------------------------------------------------


def _network_of(side: Prepared) -> Any:
    """Return a side's model as a model of kerascope, or None if it cannot be converted."""
    model = side.subject
    if side.library != own_models.LIBRARY:
        model = None if isinstance(model, Tape) else foreign.converted(model)
    return model if isinstance(model, Network) else None


def _read_by_network(model: Network) -> list[Declared]:
    found = []
    for tensor in model.inputs:
        words = _vocabulary(model, tensor)
        is_float = not words and str(tensor.dtype).startswith(("float", "bfloat"))
        dtype = "float32" if is_float else str(tensor.dtype)
        found.append(Declared(tensor.name, tuple(tensor.shape), dtype, words))
    return found


def _vocabulary(model: Network, tensor: Any) -> int:
    """Return the number of valid indices of an input, from the Embedding layers that read it."""
    found = []
    for nodes in model.nodes_by_depth.values():
        for node in nodes:
            layer = node.outbound_layer
            for place, one in enumerate(node.input_tensors):
                if one is not tensor or node.is_input:
                    continue
                if isinstance(layer, Embedding):
                    found.append(int(layer.input_dim))
                elif isinstance(layer, Network) and layer.inputs:
                    found.append(_vocabulary(layer, layer.inputs[place]))
    return min(filter(None, found), default=0)


def _declared_by(side: Prepared) -> list[Declared] | None:
    """Return a foreign model's declared inputs; None unless all have a shape and a usable dtype."""
    if isinstance(side.subject, Tape):
        return None
    found = foreign.declared(side.subject)
    if found is None or any(one.shape is None or not _is_drawable(one.dtype) for one in found):
        return None
    return found


def _is_drawable(dtype: str) -> bool:
    try:
        return np.dtype(dtype).kind in DRAWABLE
    except TypeError:  # a type that NumPy does not know
        return False


# --- arrays ---------------------------------------------------------------------------------------


def _sizes(inputs: Sequence[Declared], others: Sequence[Sequence[Declared]]) -> list[list[int]]:
    """Return the shapes of the random inputs. Unknown sizes with the same name are equal."""
    named: dict[Hashable, int] = {}
    found = []
    for place, one in enumerate(inputs):
        shape, beside = one.shape or (), [other[place].shape or () for other in others]
        sizes = []
        for axis, size in enumerate(shape):
            if not isinstance(size, int):
                free = SAMPLES if axis == 0 else UNKNOWN_LENGTH
                wanted = next(iter(_text(shape, axis, beside)), free)
                name = size or (axis or "samples", "" if axis == 0 else place)
                size = named.setdefault(name, wanted)
            sizes.append(size)
        found.append(sizes)
    return found


def _text(shape: Sequence[Any], axis: int, beside: Sequence[Sequence[Any]]) -> list[int]:
    """Return the sizes that the other models declare for an axis of the same input.

    `shape` is the shape of this input in the first model. A model that contradicts the known sizes
    in `shape` may order its axes differently. Its sizes are ignored, except that of the first axis.
    """
    found = []
    for other in beside:
        agree = all(a == b for a, b in zip(shape, other, strict=False) if _are_said(a, b))
        if len(other) == len(shape) and isinstance(other[axis], int) and (axis == 0 or agree):
            found.append(other[axis])
    return found


def _are_said(*sizes: Any) -> bool:
    return all(isinstance(size, int) for size in sizes)


def _drawn(wanted: Declared, shape: Sequence[int], random: np.random.Generator) -> np.ndarray:
    if wanted.words:
        return random.integers(min(1, wanted.words - 1), wanted.words, shape).astype(wanted.dtype)
    if np.dtype(wanted.dtype).kind != "f":
        return random.integers(0, 2, shape).astype(wanted.dtype)
    return random.normal(size=shape).astype(wanted.dtype)
