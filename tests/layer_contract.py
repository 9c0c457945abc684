"""The contract that every layer keeps, as one function: `hold_to_contract(case)`.

A case says how the layer is made and what arrays it is called on. The `cases_*.py` in tests/layers
list them, and test_contract.py holds each to all of what follows:

- the output has the shape that `compute_output_shape` says, with a known batch and with None,
  before and at run time;
- the configuration survives JSON and gives a layer that computes the same with the same weights; a
  derived class that passes its arguments on has the same configuration;
- weights can be read, replaced and counted; a wrong list changes nothing;
- a mask is passed on, or refused, as `supports_masking` says;
- gradients of inputs and weights agree with finite differences in float64;
- a second call makes a second Node and no new weights;
- called on arrays it computes the same as inside a function;
- frozen, it has no trainable weights and no updates.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.engine.base_layer import Layer
from kerascope.engine.input_layer import Input
from kerascope.registry import custom_object_scope

STEP = 1e-5


@dataclass
class LayerCase:
    """A layer and what to call it on.

    Attributes
    ----------
    make : callable
        Returns a new layer.
    arrays : list of np.ndarray
        The inputs; one array means that the layer is called on it alone.
    random : bool
        In training the layer draws random numbers, so that no finite differences can be taken.
    smooth : bool
        Whether the gradients may be compared with finite differences at all.
    custom_objects : dict
        What the configuration names.
    """

    make: Callable[[], Layer]
    arrays: list[np.ndarray]
    random: bool = False
    smooth: bool = True
    custom_objects: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.make().__class__.__name__


@contextmanager
def float64():
    before = K.floatx()
    K.set_floatx("float64")
    try:
        yield
    finally:
        K.set_floatx(before)


def hold_to_contract(case: LayerCase) -> None:
    with float64():
        shapes_agree(case)
        config_round_trips(case)
        weights_can_be_replaced(case)
        masks_are_passed_on_or_refused(case)
        gradients_are_right(case)
        second_call_shares_the_weights(case)
        arrays_give_the_same_as_a_function(case)
        frozen_layer_trains_nothing(case)


# --- helpers ------------------------------------------------------------------------------------


def unpacked(items: list[Any]) -> Any:
    return items[0] if len(items) == 1 else items


def inputs_for(arrays: list[np.ndarray], *, known_batch: bool = True) -> list[Any]:
    shapes = [a.shape if known_batch else (None, *a.shape[1:]) for a in arrays]
    return [Input(batch_shape=s, dtype=a.dtype.name) for s, a in zip(shapes, arrays, strict=True)]


def called(case: LayerCase, *, known_batch: bool = True) -> tuple[Layer, list[Any], Any]:
    """Return a new layer, its symbolic inputs and its output, with weights that differ from 0."""
    layer = case.make()
    inputs = inputs_for(case.arrays, known_batch=known_batch)
    output = layer(unpacked(inputs))
    shake_weights(layer)
    return layer, inputs, output


def shake_weights(layer: Layer) -> None:
    """Give every weight other numbers, all above 0 so that a variance stays one."""
    rng = np.random.default_rng(7)
    layer.set_weights([rng.uniform(0.2, 1.0, w.shape) for w in layer.get_weights()])


def run(inputs: list[Any], outputs: list[Any], arrays: list[np.ndarray], phase: int = 0) -> list:
    return K.function([*inputs, K.learning_phase()], outputs)([*arrays, phase])


# --- the clauses --------------------------------------------------------------------------------


def shapes_agree(case: LayerCase) -> None:
    for known_batch in (True, False):
        layer, inputs, output = called(case, known_batch=known_batch)
        declared = layer.compute_output_shape(unpacked([x.shape for x in inputs]))
        assert output.shape == declared
        assert layer.output_shape == declared
        assert K.ndim(output) == len(declared)
        result = run(inputs, [output], case.arrays)[0]
        assert result.dtype.name == output.dtype
        assert len(result.shape) == len(declared)
        for size, n in zip(declared, result.shape, strict=True):
            assert size in (None, n)
        if not known_batch:
            halves = [a[:1] for a in case.arrays]
            assert run(inputs, [output], halves)[0].shape == (1, *result.shape[1:])


def config_round_trips(case: LayerCase) -> None:
    layer, inputs, output = called(case)
    config = layer.get_config()
    with custom_object_scope(case.custom_objects):
        twin = type(layer).from_config(json.loads(json.dumps(config)))
    assert twin.get_config() == config
    twin_output = twin(unpacked(inputs))
    twin.set_weights(layer.get_weights())
    one, other = run(inputs, [output, twin_output], case.arrays)
    np.testing.assert_array_equal(one, other)
    with custom_object_scope(case.custom_objects):
        assert derived_from(type(layer)).from_config(config).get_config() == config


def derived_from(base: Any) -> Any:
    """Return a class that passes all its arguments on."""

    class _Derived(base):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)

    return _Derived


def weights_can_be_replaced(case: LayerCase) -> None:
    layer, _, _ = called(case)
    assert layer.weights == [*layer.trainable_weights, *layer.non_trainable_weights]
    assert layer.count_params() == sum(w.size for w in layer.get_weights())
    new = [w + 1.0 for w in layer.get_weights()]
    layer.set_weights(new)
    for a, b in zip(layer.get_weights(), new, strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="set_weights"):
        layer.set_weights([*new, np.zeros(1)])
    for a, b in zip(layer.get_weights(), new, strict=True):
        np.testing.assert_array_equal(a, b)


class WithMask(Layer):
    """Passes its input through and gives it a mask of its first two axes."""

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return K.any(K.not_equal(inputs, 0), axis=list(range(2, K.ndim(inputs))))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


def masks_are_passed_on_or_refused(case: LayerCase) -> None:
    layer = case.make()
    if any(a.ndim < 3 for a in case.arrays) or type(layer).compute_mask is not Layer.compute_mask:
        return
    inputs = inputs_for(case.arrays)
    masked = [WithMask()(x) for x in inputs]
    if not layer.supports_masking:
        with pytest.raises(TypeError, match="does not support masking"):
            layer(unpacked(masked))
        assert layer.inbound_nodes == []
        return
    layer(unpacked(masked))
    assert layer.get_output_mask_at(0) is masked[0]._keras_history.node.output_masks[0]


def gradients_are_right(case: LayerCase) -> None:
    if not case.smooth:
        return
    for phase in (0,) if case.random else (0, 1):
        layer, inputs, output = called(case)
        factors = np.random.default_rng(3).normal(size=output.shape)
        loss = K.sum(output * factors)
        floats = [x for x in inputs if x.dtype.startswith("float")]
        wrt = [*floats, *layer.trainable_weights]
        if not wrt:
            continue
        symbolic = run(inputs, K.gradients(loss, wrt), case.arrays, phase)
        compute = K.function([*inputs, K.learning_phase()], [loss])
        arrays = [a.copy() for a in case.arrays]
        places = [a for a in arrays if a.dtype.kind == "f"]
        for gradient, array in zip(symbolic, places, strict=False):
            by_steps = differences(array, lambda: compute([*arrays, phase])[0])  # noqa: B023
            np.testing.assert_allclose(gradient, by_steps, rtol=1e-6, atol=1e-7)
        for gradient, weight in zip(symbolic[len(floats) :], layer.trainable_weights, strict=True):
            by_steps = weight_differences(weight, lambda: compute([*arrays, phase])[0])  # noqa: B023
            np.testing.assert_allclose(gradient, by_steps, rtol=1e-6, atol=1e-7)


def differences(array: np.ndarray, loss: Callable[[], Any]) -> np.ndarray:
    """Return d loss / d array by central differences, changing the array in place meanwhile."""
    result = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        value = array[place]
        array[place] = value + STEP
        above = loss()
        array[place] = value - STEP
        result[place] = (above - loss()) / (2 * STEP)
        array[place] = value
    return result


def weight_differences(weight: Any, loss: Callable[[], Any]) -> np.ndarray:
    array = weight.get_value()

    def loss_at_array() -> Any:
        weight.set_value(array)
        return loss()

    result = differences(array, loss_at_array)
    weight.set_value(array)
    return result


def second_call_shares_the_weights(case: LayerCase) -> None:
    layer, inputs, output = called(case)
    weights = layer.weights
    again = layer(unpacked(inputs_for(case.arrays)))
    assert [node.node_index for node in layer.inbound_nodes] == [0, 1]
    assert [a is b for a, b in zip(layer.weights, weights, strict=True)] == [True] * len(weights)
    assert output._keras_history == (layer, 0, 0)
    assert again._keras_history == (layer, 1, 0)
    assert [x._keras_history.layer.outbound_nodes for x in inputs] == [
        [layer.inbound_nodes[0]]
    ] * len(inputs)


def arrays_give_the_same_as_a_function(case: LayerCase) -> None:
    layer, inputs, output = called(case)
    expected = run(inputs, [output], case.arrays)[0]
    nodes = list(layer.inbound_nodes)
    result = layer(unpacked(case.arrays))
    assert isinstance(result, np.ndarray)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)
    assert layer.inbound_nodes == nodes


def frozen_layer_trains_nothing(case: LayerCase) -> None:
    layer, _, _ = called(case)
    names = {w.name for w in layer.weights}
    layer.trainable = False
    assert layer.trainable_weights == []
    assert layer.updates == []
    assert {w.name for w in layer.non_trainable_weights} == names
