"""Get the numbers that a picture shows: those of a layer, a call, a tensor, a weight or an array.

The result is a list of parts: arrays with the names of their axes. Outputs of a layer for `x` are
computed in the test phase, as in `predict`, and the layer does not change. For attention layers the
attention weights are shown instead of the output, and for recurrent layers the states at every time
step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.eager import eager_mode, function, value_of
from kerascope.backend.graph import Constant, Placeholder, Tensor, leaves
from kerascope.backend.state import learning_phase_scope
from kerascope.backend.variables import Variable
from kerascope.engine.arguments import InputPlace, fill_places
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node import Node, mask_of
from kerascope.engine.node_ids import call_ids
from kerascope.engine.policies.undo import rolled_back
from kerascope.errors import ArgumentError, DtypeError, KerascopeError, NotBuiltError
from kerascope.layers.attention import MultiHeadAttention
from kerascope.layers.recurrent import RNN, recurrent_inputs
from kerascope.layers.wrappers import Bidirectional, TimeDistributed
from kerascope.nested_values import found_in
from kerascope.registry import did_you_mean
from kerascope.trace.records import counted
from kerascope.trace.walking import walk
from kerascope.viz.extract.networks import layers_within, without_side_effects
from kerascope.viz.kinds import kind_of
from kerascope.viz.tensors.panels import ArrayPart, select_sample

SAMPLE = "sample"
FEW_SAMPLES = 2  # axes: (sample, feature) is one matrix and shows all samples


class ArraysToShow(NamedTuple):
    """What a picture shows: its title, and its arrays (parts) with all samples."""

    title: str
    parts: list[ArrayPart]


def arrays_to_show(what: Any, x: Any, layer: str | None, call: int) -> ArraysToShow:
    """Return the title and the arrays (parts) of the picture for the arguments of `show`."""
    if isinstance(what, Network) and layer is not None:
        return _of_name(what, x, layer, call)
    if layer is not None:
        raise ArgumentError(
            f"show: expected a model with layer={layer!r}, got {type(what).__name__}. "
            f"Without a model, pass the layer: show(layer, x)."
        )
    if isinstance(what, Network) and x is not None:
        return _of_outputs(what, x)
    if isinstance(what, Network):
        names = ", ".join(one.name for one in what.layers[:8])
        raise ArgumentError(
            f"show: model {what.name!r} needs arrays x, or the name of one of its layers: "
            f"show(model, x, layer=...). Use ks.draw(model) for its graph. Layers: {names}.",
            subject=what,
        )
    if isinstance(what, Layer):
        return _of_weights(what) if x is None else _of_layer(what, x)
    if isinstance(what, Tensor):
        return _of_tensor(what, x)
    if x is not None:
        raise ArgumentError(f"show: x needs a kerascope model or layer, got {_described(what)}.")
    values, given = _numbers(what, "show"), np.asarray(what)
    if given.dtype == np.uint8 and values.ndim == 3 and values.shape[-1] in (3, 4):
        return ArraysToShow("image", [_image(values)])
    return ArraysToShow("array", [_plain("", values)])


def _image(values: np.ndarray) -> ArrayPart:
    """Return an image of type uint8 as an `ArrayPart` with a panel for each colour channel."""
    colours = ("red", "green", "blue", "alpha")[: values.shape[-1]]
    labels = (("channel", colours),)
    return ArrayPart("", values, ("row", "column", "channel"), labels=labels, has_zero=False)


def _up_to(last: int) -> str:
    return f"0 to {last}" if last > 0 else "0"


def _described(what: Any) -> str:
    text = repr(what)
    return f"{type(what).__name__} {text if len(text) < 40 else ''}".strip()


def _numbers(what: Any, where: str) -> np.ndarray:
    try:
        values = np.asarray(what)
    except ValueError as error:  # rows of different lengths
        raise DtypeError(f"{where}: expected an array; {error}.") from None
    if values.dtype.kind not in "biuf" and not str(values.dtype).startswith("bfloat"):
        of = f" of {values.dtype}" if isinstance(what, np.ndarray) else ""
        parts = " Show its parts: abs(x), x.real, x.imag." if values.dtype.kind == "c" else ""
        raise DtypeError(
            f"{where}: expected a layer, a model, a tensor, a weight or an array of real numbers, "
            f"got {_described(what)}{of}.{parts}"
        )
    return values.astype("float64")


def _plain(title: str, values: np.ndarray) -> ArrayPart:
    names = {0: (), 1: ("place",), 2: ("row", "column")}
    axes = tuple(f"axis {i}" for i in range(values.ndim))
    axes = names.get(values.ndim, axes)
    if values.ndim > 2:
        return ArrayPart(title, values, axes, rows=axes[-2], columns=axes[-1])
    return ArrayPart(title, values, axes)


# --- weights --------------------------------------------------------------------------------------


def _of_weights(layer: Layer) -> ArraysToShow:
    if not layer.built:
        raise NotBuiltError(
            f"show: {layer.label} has no weights yet, because it was never called. Build it, or "
            f"pass arrays x: show(layer, x).",
            subject=layer,
        )
    if not layer.weights:
        raise ArgumentError(
            f"show: {layer.label} has no weights. To see its outputs, pass arrays x: "
            f"show(layer, x), or show(model, x, layer={layer.name!r}).",
            subject=layer,
        )
    parts = [_weight(weight, layer) for weight in layer.weights]
    return ArraysToShow(f"weights of {layer.name}", parts)


def _weight(weight: Any, layer: Layer | None) -> ArrayPart:
    values = _numbers(value_of(weight), "show")
    kind, own = kind_of(layer) if layer is not None else "", weight.name.split(":")[0]
    end = own.rpartition("/")[2]
    if kind == "convolution" and "kernel" in end and values.ndim in (3, 4, 5):
        return _filters(own, values, layer)
    known = {
        ("dense", "kernel"): ("input", "unit"),
        ("recurrent", "kernel"): ("input", "unit of a gate"),
        ("recurrent", "recurrent_kernel"): ("unit", "unit of a gate"),
        ("embedding", "embeddings"): ("index", "dimension"),
        ("attention", "kernel"): ("feature", "head", "dimension"),
    }
    axes = known.get((kind, end))
    if kind == "attention" and values.ndim == 3 and "output" in own:
        axes = ("head", "dimension", "feature")
    if axes is None or len(axes) != values.ndim:
        return _plain(own, values)
    if "head" in axes:
        first, last = (axis for axis in axes if axis != "head")
        return ArrayPart(own, values, axes, rows=first, columns=last)
    return ArrayPart(own, values, axes)


def _filters(name: str, values: np.ndarray, layer: Any) -> ArrayPart:
    """Return the kernel of a convolution with a panel for each filter and channel."""
    ends = ("channel", "filter")
    words = type(layer).__name__
    if "Transpose" in words:
        ends = ("filter", "channel")
    elif "Depthwise" in words or "depthwise" in name:
        ends = ("channel", "multiplier")
    if values.ndim == 3:  # one-dimensional: a filter is a matrix
        return ArrayPart(name, values, ("place", *ends), rows=ends[0], columns="place")
    places = ("depth", "row", "column")[5 - values.ndim :]
    ordered, axes = values, (*places, *ends)
    if ends[0] == "channel" and values.shape[-2] == 1:
        ordered, axes = values[..., 0, :], (*places, ends[1])
    elif ends[0] == "channel":  # the channels of a filter are side by side
        ordered, axes = np.swapaxes(values, -1, -2), (*places, ends[1], ends[0])
    has_pairs = len(axes) - len(places) > 1
    has_colours = len(places) == 2 and ends == ("channel", "filter") and values.shape[-2] == 3
    colours = "channel" if has_colours else ""
    return ArrayPart(
        name, ordered, axes, "row", "column", panels_in_row=int(has_pairs), colour_axis=colours
    )


# --- tensors --------------------------------------------------------------------------------------


def _of_tensor(tensor: Tensor, x: Any) -> ArraysToShow:
    if isinstance(tensor, (Variable, Constant)):
        if x is not None:
            raise ArgumentError(f"show: {tensor!r} has a value already. Leave x out.")
        return ArraysToShow(tensor.name, [replace(_weight(tensor, None), title="")])
    fed = [one for one in leaves([tensor]) if isinstance(one, Placeholder)]
    fed = [one for one in fed if one.default is None]
    if x is None and fed:
        names = ", ".join(f"{one.name} {one.shape}" for one in fed)
        raise ArgumentError(
            f"show: {tensor!r} is symbolic and has no numbers. Pass x, with an array for each of "
            f"its inputs {names}: show(tensor, x).",
            subject=tensor,
        )
    arrays = _given(x, fed)
    with learning_phase_scope(0), np.errstate(all="ignore"):
        values = np.asarray(function(fed, tensor, name="show")(arrays))
    history = tensor._keras_history
    layer = history.layer if history is not None else None
    return ArraysToShow(tensor.name, [_output("", values, layer)])


def _given(x: Any, fed: Sequence[Tensor]) -> list[np.ndarray]:
    """Return the array of `x` for each placeholder, in the dtype of the placeholder.

    Raises
    ------
    ArgumentError
        There are too few or too many arrays, or an array has another shape than its placeholder.
    """
    given = list(x) if isinstance(x, (list, tuple)) and len(fed) != 1 else [x]
    if isinstance(x, dict):
        given = [x[one.name] for one in fed if one.name in x]
    wanted = ", ".join(f"{one.name} {one.shape}" for one in fed) or "none"
    if len(given) != len(fed):
        raise ArgumentError(
            f"show: expected x to have {len(fed)} arrays, got {len(given)}. Pass one for each "
            f"input that the tensor depends on: {wanted}."
        )
    arrays = [_numbers(one, "show: x") for one in given]
    for array, one in zip(arrays, fed, strict=True):
        sizes = zip(array.shape, one.shape or (), strict=False)
        fits = array.ndim == len(one.shape or ()) and all(b in (None, a) for a, b in sizes)
        if not fits:
            raise ArgumentError(
                f"show: expected x for {one.name!r} to have shape {one.shape}, got {array.shape}."
            )
    return [a.astype(one.dtype) for a, one in zip(arrays, fed, strict=True)]


# --- outputs of layers ----------------------------------------------------------------------------


def _output(title: str, values: Any, layer: Layer | None) -> ArrayPart:
    """Return an output of a layer as an `ArrayPart`, with the meaning of its axes."""
    values = _numbers(values, "show")
    kind = kind_of(layer) if layer is not None else ""
    if isinstance(layer, TimeDistributed) and values.ndim > 2:
        return _in_time(_output(title, values.reshape(-1, *values.shape[2:]), layer.layer), values)
    if isinstance(layer, (RNN, Bidirectional)) and values.ndim == 3:
        return ArrayPart(
            title, values, (SAMPLE, "time step", "unit"), rows="unit", columns="time step"
        )
    if kind == "embedding" and values.ndim == 3:
        return ArrayPart(title, values, (SAMPLE, "place", "dimension"))
    is_first = getattr(layer, "data_format", None) == "channels_first"
    if values.ndim in (4, 5):
        places = ("depth", "row", "column")[5 - values.ndim :]
        axes = (SAMPLE, "channel", *places) if is_first else (SAMPLE, *places, "channel")
        return ArrayPart(title, values, axes, "row", "column")
    if values.ndim == 3:
        axes = (SAMPLE, "channel", "place") if is_first else (SAMPLE, "place", "feature")
        is_in_line = kind in ("convolution", "pooling")
        return ArrayPart(title, values, axes, *((axes[2], axes[1]) if is_in_line else ()))
    if values.ndim == 2:
        return ArrayPart(title, values, (SAMPLE, "feature" if kind != "dense" else "unit"))
    if values.ndim == 1:
        return ArrayPart(title, values, (SAMPLE,))
    return _plain(title, values)


def _in_time(part: ArrayPart, values: np.ndarray) -> ArrayPart:
    """Return a copy of `part` with these values, in which "time step" is a new second axis."""
    axes = (SAMPLE, "time step", *part.axes[1:])
    rows, columns = part.rows, part.columns
    return replace(part, values=values, axes=axes, rows=rows, columns=columns)


def one_sample(part: ArrayPart, sample: int) -> ArrayPart:
    """Return one sample of an `ArrayPart`. A matrix (sample, feature) keeps all samples.

    Raises
    ------
    ArgumentError
        The sample does not exist.
    """
    if SAMPLE not in part.axes or part.values.ndim <= FEW_SAMPLES:
        return part
    size = part.values.shape[part.axes.index(SAMPLE)]
    if not -size <= sample < size:
        raise ArgumentError(
            f"show: expected sample {_up_to(size - 1)}, got {sample}. x has "
            f"{counted(size, 'sample')}."
        )
    return select_sample(part, sample % size)


def _of_layer(layer: Layer, x: Any) -> ArraysToShow:
    """Return the outputs of a layer that is called directly on arrays, as `ArrayPart`s."""
    given = [np.asarray(one) for one in x] if isinstance(x, (list, tuple)) else np.asarray(x)
    for one in given if isinstance(given, list) else [given]:
        _numbers(one, "show: x")
    tensors = [Constant(one) for one in (given if isinstance(given, list) else [given])]
    inputs = tensors if isinstance(given, list) else tensors[0]
    try:
        with _for_inspection(layer):
            parts = _parts_of_call(layer, inputs, {})
    except KerascopeError as error:
        error.add_note(
            f"show(layer, x): x is the input of {layer.label} itself. To pass an input of the "
            f"model instead: show(model, x, layer={layer.name!r})."
        )
        raise
    return ArraysToShow(f"{layer.name} ({type(layer).__name__})", parts)


def _of_outputs(model: Network, x: Any) -> ArraysToShow:
    steps = _steps(model, x)
    by_tensor = {
        t: (step.layer, array)
        for step in steps
        for t, array in zip(step.node.output_tensors, step.outputs, strict=True)
    }
    found = [by_tensor[t] for t in model.outputs if t in by_tensor]
    parts = [
        _output(f"output {i}, {layer.name}" if len(found) > 1 else layer.name, y, layer)
        for i, (layer, y) in enumerate(found)
    ]
    return ArraysToShow(f"outputs of {model.name}", parts)


def _steps(model: Network, x: Any) -> list[Any]:
    if not (model.built and getattr(model, "outputs", None)):
        raise NotBuiltError(
            f"show: {model.label} has no graph. Use a model of Input() and layers or a built "
            f"Sequential, or show one of its layers: show(layer, x).",
            subject=model,
        )
    with np.errstate(all="ignore"), without_side_effects(model), rolled_back(model):
        return list(walk(model, x))


def _of_name(model: Network, x: Any, name: str, call: int) -> ArraysToShow:
    """Return the arrays to show for a name in a model: the name of a layer or of a weight.

    For a layer they are its outputs in the given call, or its weights if `x` is None.
    """
    layers = {layer.name: layer for layer in model.layers}
    weights = {w.name.split(":")[0]: w for w in getattr(model, "weights", ())}
    layer = layers.get(name)
    if layer is None and name.split(":")[0] in weights:
        weight = weights[name.split(":")[0]]
        own = next((one for one in model.layers if any(w is weight for w in one.weights)), None)
        return ArraysToShow(weight.name.split(":")[0], [replace(_weight(weight, own), title="")])
    if layer is None:
        known = ", ".join(layers)
        around = [one.name for one in model.layers for x in layers_within(one) if x.name == name]
        hint = f"It is inside {around[0]!r}: show that model. " if around else ""
        raise ArgumentError(
            f"show: {model.label} has no layer and no weight {name!r}. "
            f"{hint or did_you_mean(name, [*layers, *weights])}Layers: {known}.",
            subject=model,
        )
    if x is None:
        return _of_weights(layer)
    steps = [step for step in _steps(model, x) if step.layer is layer]
    steps.sort(key=lambda step: step.node.node_index)  # the run is ordered by depth
    if not steps:
        raise ArgumentError(
            f"show: layer {name!r} is never called between the inputs and the outputs of "
            f"{model.name!r}. Call it on arrays: show(layer, x).",
            subject=layer,
        )
    if not isinstance(call, int) or not -len(steps) <= call < len(steps):
        raise ArgumentError(
            f"show: expected call {_up_to(len(steps) - 1)}, got {call!r}. {name!r} is called "
            f"{counted(len(steps), 'time')} in {model.name!r}.",
            subject=layer,
        )
    step = steps[call]
    parts = _parts_in_model(model, step, x)
    which = f", call {call % len(steps)} of {len(steps)}" if len(steps) > 1 else ""
    return ArraysToShow(f"{name} ({type(layer).__name__}) in {model.name}{which}", parts)


def _parts_in_model(model: Network, step: Any, x: Any) -> list[ArrayPart]:
    node: Node = step.node
    layer = step.layer
    if not _shows_more(layer):
        return _outputs(layer, step.outputs)
    masks = _masks(model, node, x)
    tensors = [Constant(array) for array in step.inputs]
    for tensor, mask in zip(tensors, masks, strict=False):
        tensor._keras_mask = mask
    inside = tensors[: len(node.input_tensors)]
    arguments = fill_places(node.arguments, inside)
    places = {place.index for place in found_in(node.arguments, InputPlace)}
    own = [t for i, t in enumerate(inside) if i not in places]
    with _for_inspection(layer):
        return _parts_of_call(layer, own[0] if len(own) == 1 else own, arguments)


def numbers_inside(model: Network, x: Any) -> dict[str, np.ndarray]:
    """Return the numbers inside the calls of attention and recurrent layers, by the ids of calls.

    These are attention weights (sample, head, query, key) and states (sample, step, unit); of a
    layer with several states, the first. Bidirectional layers, whose states are two series, and
    layers inside nested models are left out.
    """
    wanted = [
        layer
        for layer in model.layers
        if _shows_more(layer) and not isinstance(layer, Bidirectional)
    ]
    if not wanted:
        return {}
    ids = call_ids(model)
    steps = [step for step in _steps(model, x) if step.layer in wanted]
    found = {ids[step.node]: _parts_in_model(model, step, x)[0].values for step in steps}
    return {one: values for one, values in found.items() if values.ndim > FEW_SAMPLES}


def _masks(model: Network, node: Node, x: Any) -> list[Constant | None]:
    """Return the mask of each input of a call as a constant; None for inputs without a mask."""
    symbols = [mask_of(t) for t in node.input_tensors]
    wanted = [mask for mask in symbols if mask is not None]
    if not wanted:
        return [None] * len(symbols)
    fed = [t for t in model.inputs if isinstance(t, Placeholder)]
    arrays: dict[Tensor, np.ndarray] = dict(zip(fed, _given(x, fed), strict=True))
    used = [one for one in leaves(wanted) if one in arrays]
    with learning_phase_scope(0):
        found = function(used, wanted, name="show")([arrays[one] for one in used])
    numbers = iter(found)
    return [None if mask is None else Constant(np.asarray(next(numbers))) for mask in symbols]


# --- attention weights and states -----------------------------------------------------------------


def _shows_more(layer: Layer) -> bool:
    return kind_of(layer) == "attention" or _has_states(layer) or isinstance(layer, Bidirectional)


def _has_states(layer: Layer) -> bool:
    return isinstance(layer, RNN) and not layer._num_constants


@contextmanager
def _for_inspection(layer: Layer) -> Iterator[None]:
    """Allow calls of a layer on arrays in the test phase, and undo their effects on exit."""
    with np.errstate(all="ignore"), eager_mode(), learning_phase_scope(0), rolled_back(layer):
        yield


def _parts_of_call(layer: Layer, inputs: Any, arguments: dict[str, Any]) -> list[ArrayPart]:
    if kind_of(layer) == "attention" and not arguments.get("return_attention_scores"):
        arguments = {**arguments, "return_attention_scores": True}
        if isinstance(layer, MultiHeadAttention) and isinstance(inputs, list):
            inputs, more = inputs[0], inputs[1:]
            outputs = layer(inputs, *more, **arguments)
        elif isinstance(layer, MultiHeadAttention) and "value" not in arguments:
            outputs = layer(inputs, inputs, **arguments)
        else:
            outputs = layer(inputs, **arguments)
        return [_attention(value_of(outputs[1]))]
    if isinstance(layer, Bidirectional):
        return _both_directions(layer, inputs, arguments)
    if _has_states(layer):
        return states_over_time(layer, inputs, arguments)
    outputs = layer(inputs, **arguments)
    return _outputs(layer, [value_of(y) for y in found_in(outputs, Tensor)])


def _outputs(layer: Layer, arrays: Sequence[Any]) -> list[ArrayPart]:
    if kind_of(layer) == "attention" and len(arrays) == 2:
        return [_attention(arrays[1])]
    titles = [f"output {i}" if len(arrays) > 1 else "output" for i in range(len(arrays))]
    return [_output(title, y, layer) for title, y in zip(titles, arrays, strict=True)]


def _attention(weights: Any) -> ArrayPart:
    values = _numbers(weights, "show")
    axes = (SAMPLE, "query", "key") if values.ndim == 3 else (SAMPLE, "head", "query", "key")
    if values.ndim > len(axes):  # attention along several axes
        return _plain("attention weights", values)
    return ArrayPart("attention weights", values, axes, rows="query", columns="key")


def _both_directions(layer: Any, inputs: Any, arguments: dict[str, Any]) -> list[ArrayPart]:
    if not layer.built:
        layer(inputs, **arguments)
    if isinstance(inputs, list) or not all(
        map(_has_states, (layer.forward_layer, layer.backward_layer))
    ):
        outputs = layer(inputs, **arguments)
        return _outputs(layer, [value_of(y) for y in found_in(outputs, Tensor)])
    return [
        replace(part, title=f"{word} {part.title}")
        for word, one in (("forward", layer.forward_layer), ("backward", layer.backward_layer))
        for part in states_over_time(one, inputs, arguments)
    ]


def states_over_time(layer: Any, inputs: Any, arguments: dict[str, Any]) -> list[ArrayPart]:
    """Return the states of a recurrent layer after each step, in the order of the sequence.

    At masked steps, the states stay unchanged.
    """
    layer(inputs, **arguments)  # builds the layer and checks the inputs
    given = dict(arguments)
    sequence, first, _ = recurrent_inputs(inputs, given.get("initial_state"))
    states = [np.asarray(value_of(s)) for s in first or layer.first_states(sequence)]
    x = np.asarray(value_of(sequence))
    x = x if x.dtype.kind == "f" else x.astype(layer.dtype)
    mask = given.get("mask")
    mask = mask if mask is not None else sequence._keras_mask
    counts = np.ones(x.shape[:2], bool) if mask is None else np.asarray(value_of(mask)).astype(bool)
    order = range(x.shape[1])
    steps: dict[int, list[np.ndarray]] = {}
    for t in reversed(order) if layer.go_backwards else order:
        _, new = layer.cell.call(Constant(x[:, t]), [Constant(s) for s in states])
        arrays = [
            np.asarray(value_of(s)) for s in (new if isinstance(new, (list, tuple)) else [new])
        ]
        kept = [counts[:, t].reshape(-1, *[1] * (s.ndim - 1)) for s in states]
        states = [np.where(k, a, s) for k, a, s in zip(kept, arrays, states, strict=True)]
        steps[t] = states
    names = _names_of_states(layer, len(states))
    stacked = (
        [np.stack([steps[t][i] for t in order], 1) for i in range(len(states))] if steps else []
    )
    return [_state(f"state {name}", values) for name, values in zip(names, stacked, strict=False)]


def _names_of_states(layer: Any, number: int) -> list[str]:
    if number <= 2 and hasattr(layer.cell, "units"):
        return ["h", "c"][:number]
    return [str(i) for i in range(number)]


def _state(title: str, values: np.ndarray) -> ArrayPart:
    values = _numbers(values, "show")
    if values.ndim == 3:
        return ArrayPart(
            title, values, (SAMPLE, "time step", "unit"), rows="unit", columns="time step"
        )
    axes = (SAMPLE, "time step", "row", "column", "channel")[: values.ndim]
    if values.ndim == 5:
        return ArrayPart(title, values, axes, "row", "column")
    return _plain(title, values)
