"""Record the calls of a kerascope model: one record for each call of a layer, with its arrays.

A nested model is a frame around the calls inside it. The forward pass is the same as in `ks.walk`,
with learning phase 0.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from kerascope.backend.eager import eager_mode, value_of
from kerascope.backend.graph import Tensor
from kerascope.backend.state import get_value, learning_phase_scope
from kerascope.engine.base_layer import Layer, snake_case
from kerascope.engine.network import Network
from kerascope.engine.node import Node
from kerascope.engine.node_ids import call_ids
from kerascope.foreign.records import Value
from kerascope.foreign.writer import TapeWriter
from kerascope.stage import observing
from kerascope.trace.passes import LayerCall, ModelPass, PassCollector
from kerascope.trace.walking import forward_stage
from kerascope.viz.kinds import kind_of

LIBRARY = "kerascope"
Setting = str | int | float | bool
Tokens = list[Hashable]

# Configuration entries of a layer that do not affect its output.
NOT_COMPUTED = frozenset((
    "batch_input_shape", "batch_shape", "bias_constraint", "dtype", "input_dtype", "input_length",
    "activity_regularizer", "function", "implementation", "input_shape", "name", "seed", "sparse",
    "trainable", "unroll", "weights",
))  # fmt: skip
MADE_BY = ("_initializer", "_regularizer", "_constraint")


def record(model: Network, x: Any, writer: TapeWriter) -> list[np.ndarray]:
    """Run a model once on arrays and record every call of a layer.

    Parameters
    ----------
    model : Network
        A built model, or a model that gets its input shape from `x`.
    x : array_like, list of array_like, or dict by input name
        The same as for `model.predict`.
    writer : TapeWriter
        Receives the records.

    Returns
    -------
    list of np.ndarray
        The outputs of the model.

    Raises
    ------
    DtypeError
        If `model` is not a model.
    DataError
        If the arrays do not fit the model, as in `predict`.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> inputs = Input(shape=(3,), name="inputs")
    >>> model = Model(inputs, Dense(2, kernel_initializer="ones", name="scores")(inputs))
    >>> writer = TapeWriter(arrays="all")
    >>> record(model, np.ones((1, 3)), writer)[0].tolist()
    [[3.0, 3.0]]
    >>> [(call.id, call.kind, sorted(call.parameters)) for call in writer.calls]
    [('inputs', 'input', []), ('scores', 'dense', ['bias', 'kernel'])]
    """
    _, stage = forward_stage(model, x, "compare")
    passes = PassCollector()
    with eager_mode(), learning_phase_scope(0), observing(passes):
        outputs, *_ = stage.run()
        _write_pass(writer, passes.done[-1])
    return [np.array(value_of(y)) for y in outputs]


def _write_pass(
    writer: TapeWriter, run: ModelPass, prefix: str = "", fed: Sequence[Hashable] = ()
) -> Tokens:
    """Record all calls of a pass in the order in which they ran.

    Parameters
    ----------
    writer : TapeWriter
    run : ModelPass
    prefix : str
        Prefix for the names of the calls inside a nested model.
    fed : sequence of hashable
        Tokens that identify the input arrays of a nested model.

    Returns
    -------
    list of hashable
        Tokens that identify the outputs. Each call has new tokens, even if it returns its input
        unchanged.
    """
    ids = call_ids(run.network)
    tokens: dict[Tensor, Hashable] = dict(zip(run.network.inputs, fed, strict=False))
    for call in run.calls:
        node, name = call.node, prefix + ids[call.node]
        if node.is_input and fed:
            continue  # this input was recorded by the call that computed it
        layer, read = node.outbound_layer, [] if node.is_input else node.input_tensors
        inputs = [tokens.get(t, id(x)) for t, x in zip(read, call.inputs, strict=True)]
        inside = next((one for one in call.passes if one.network is layer), None)
        if inside is not None:
            with writer.span("node", name, op=type(layer).__name__):
                made = _write_pass(writer, inside, f"{name}/", inputs)
        else:
            made = [(name, number) for number in range(len(call.outputs))]
            _write_call(writer, name, call, inputs, made)
        tokens.update(zip(node.output_tensors, made, strict=True))
    return [tokens.get(t, id(t)) for t in run.network.outputs]


def _write_call(
    writer: TapeWriter, name: str, call: LayerCall, inputs: Tokens, outputs: Tokens
) -> None:
    layer, is_input = call.node.outbound_layer, call.node.is_input
    writer.call(
        name,
        list(map(_value, inputs, call.inputs)),
        list(map(_value, outputs, call.outputs)),
        op="Input" if is_input else type(layer).__name__,
        kind="input" if is_input else kind_of(layer),
        settings={} if is_input else settings_of(layer, call.node),
        parameters=_parameters(layer),
    )


def _value(token: Hashable, tensor: Tensor) -> Value:
    array = np.asarray(value_of(tensor))
    return Value(token, array.shape, array.dtype.name, partial(_same, array))


def _parameters(layer: Layer) -> dict[str, Value]:
    """Return the weights of a layer by their names, such as "kernel" or "forward_lstm/kernel"."""
    found: dict[str, Value] = {}
    for weight in layer.weights:
        name = weight.name.partition(":")[0].removeprefix(f"{layer.name}/")
        name = name if name not in found else f"{name}~{len(found)}"
        array = np.asarray(get_value(weight))
        found[name] = Value(id(weight), array.shape, array.dtype.name, partial(_same, array))
    return found


def _same(array: np.ndarray) -> np.ndarray:
    return array


# --- settings -------------------------------------------------------------------------------------


def settings_of(layer: Layer, node: Node) -> dict[str, Setting]:
    """Return the settings that affect a layer's output, as numbers, bools and texts.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> scores = Dense(2, activation="relu")(Input(shape=(3,)))
    >>> settings_of(scores._keras_history.layer, scores._keras_history.node)
    {'units': 2, 'activation': 'relu', 'use_bias': True}
    """
    settings = dict(_plain(layer.get_config().items()))
    if any(mask is not None for mask in node.input_masks):
        settings["mask"] = True
    for name, value in (node.arguments or {}).items():
        if isinstance(value, (bool, int, float, str)):
            settings[name] = value
    return settings


def _plain(items: Iterable[tuple[str, Any]]) -> Iterable[tuple[str, Setting]]:
    for name, value in items:
        if name in NOT_COMPUTED or name.endswith(MADE_BY):
            continue
        if isinstance(value, (bool, int, float, str)):
            yield name, value
        elif isinstance(value, (list, tuple)):
            if _are_numbers(value):
                yield name, str(tuple(value))
        elif value is None:
            yield name, "none"
        elif isinstance(value, Mapping):
            yield from _of_object(name, value)


def _of_object(name: str, value: Mapping[str, Any]) -> Iterable[tuple[str, Setting]]:
    """Yield the settings of a serialized object: its class name, and its numbers and texts."""
    class_name, config = value.get("class_name"), value.get("config")
    if isinstance(class_name, str):
        yield name, snake_case(class_name)
    if isinstance(config, Mapping):
        yield from ((f"{name}.{key}", one) for key, one in _plain(config.items()))


def _are_numbers(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(_are_numbers(one) for one in value)
    return isinstance(value, (int, float))
