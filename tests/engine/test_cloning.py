"""`clone_model`, pickling and `copy.deepcopy`: a second model like the first."""

import copy
import pickle

import numpy as np
import pytest
from zoo import THINNED_ZOO, ZOO

from kerascope import Input, Model, Sequential, layers
from kerascope import backend as K
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, ConfigError
from kerascope.models import clone_layer, clone_model


def connections(model):
    """Return who calls whom, by names and counted calls."""
    keys = {}
    for node in model.graph_map.nodes_in_decreasing_depth:
        calls = [n for n in keys if n.outbound_layer is node.outbound_layer]
        keys[node] = (node.outbound_layer.name, len(calls))
    return sorted((keys[n], [keys[p] for p in n.parent_nodes]) for n in keys)


def data_for(model, seed=0):
    rng = np.random.default_rng(seed)
    return [
        rng.integers(0, 2, (3, *[n or 3 for n in x.shape[1:]])).astype(x.dtype)
        for x in model.inputs
    ]


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_a_clone_is_connected_alike_and_computes_the_same_with_the_same_weights(name):
    model = ZOO[name]()
    networks = [layer for layer in [model, *model.layers] if isinstance(layer, Network)]
    if not all(network._is_graph_network for network in networks):
        with pytest.raises(ConfigError, match="a call of its own"):
            clone_model(model)
        return
    twin = clone_model(model)
    assert type(twin) is type(model)
    assert connections(twin) == connections(model)
    assert not set(twin.layers) & set(model.layers)
    twin.set_weights(model.get_weights())
    x = data_for(model)
    np.testing.assert_array_equal(
        np.concatenate([np.ravel(y) for y in _predicted(twin, x)]),
        np.concatenate([np.ravel(y) for y in _predicted(model, x)]),
    )


def _predicted(model, x):
    y = model.predict(x)
    return y if isinstance(y, list) else [y]


class Shift(layers.Layer):
    def __init__(self, by=1.0, **kwargs):
        super().__init__(**kwargs)
        self.by = by

    def call(self, inputs):
        return inputs + self.by


def small(compiled=True):
    x = Input((4,))
    shared = layers.Dense(4, activation="tanh")
    model = Model(x, layers.Dense(1)(Shift(2.0)(shared(shared(x)))))
    if compiled:
        model.compile("adam", "mse", metrics=["mae"])
    return model


def test_layers_of_your_own_are_cloned_without_custom_objects():
    assert clone_model(small()).layers[2].by == 2.0


def test_a_clone_has_weights_of_its_own():
    model = small()
    twin = clone_model(model)
    before = model.get_weights()
    twin.set_weights([w + 1 for w in twin.get_weights()])
    for a, b in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_clone_on_other_inputs_begins_there():
    x = Input((4,), name="mine")
    assert clone_model(small(), input_tensors=x).inputs == [x]
    numbers = K.variable(np.ones((2, 4)))
    assert clone_model(small(), input_tensors=[numbers]).predict(None, steps=1).shape == (2, 1)
    line = Sequential([layers.Dense(2, input_shape=(4,))])
    assert clone_model(line, input_tensors=x).inputs == [x]
    with pytest.raises(ArgumentError, match="2 input tensors came"):
        clone_model(small(), input_tensors=[x, x])


def test_a_clone_function_may_replace_layers():
    def smaller(layer):
        return layers.Dense(3) if layer.name.endswith("_2") else clone_layer(layer)

    line = Sequential([layers.Dense(8, input_shape=(4,), name="d_1"), layers.Dense(5, name="d_2")])
    assert clone_model(line, clone_function=smaller).output_shape == (None, 3)


def test_only_models_are_cloned():
    with pytest.raises(ArgumentError, match="expected a model, got Dense"):
        clone_model(layers.Dense(2))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_copied_model_goes_on_training_where_the_first_stood(copied):
    model = small()
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(16, 4)), rng.normal(size=(16, 1))
    model.fit(x, y, epochs=2, verbose=0)
    twin = copied(model)
    np.testing.assert_array_equal(twin.predict(x), model.predict(x))
    assert twin.metrics_names == model.metrics_names
    for _ in range(3):
        assert twin.train_on_batch(x, y) == model.train_on_batch(x, y)


def test_models_are_copied_before_compile_and_before_they_are_built():
    x = np.ones((2, 4))
    model = small(compiled=False)
    np.testing.assert_array_equal(copy.deepcopy(model).predict(x), model.predict(x))
    deferred = Sequential([layers.Dense(2)])
    deferred.compile("sgd", "mse")
    twin = copy.deepcopy(deferred)
    twin.fit(x, np.ones((2, 2)), verbose=0)
    assert not deferred.built


def twice(x):
    return 2 * x


class Thrice:
    def __call__(self, x):
        return 3 * x


def functions_of_all_kinds():
    factor = np.float32(5)

    def local(x):
        return x * factor

    return [twice, lambda x, by=4.0: x * by, local, Thrice()]


@pytest.mark.parametrize("kind", range(4))
@pytest.mark.parametrize(
    "copied", [clone_model, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_functions_of_your_own_need_no_name_in_a_copy(copied, kind):
    function = functions_of_all_kinds()[kind]
    x = Input((3, 2))
    parts = [
        layers.Lambda(function, output_shape=lambda shape: shape, mask=lambda x, mask: mask),
        layers.TimeDistributed(layers.Lambda(function)),
        layers.Bidirectional(layers.SimpleRNN(2, activation=function)),
        layers.Dense(1, activation=function),
    ]
    y = x
    for part in parts:
        y = part(y)
    model = Model(x, y)
    twin = copied(model)
    twin.set_weights(model.get_weights())
    array = np.ones((2, 3, 2))
    np.testing.assert_array_equal(twin.predict(array), model.predict(array))


def test_copies_share_a_function_and_a_pickle_finds_it_by_its_name():
    for function in functions_of_all_kinds()[:3]:
        model = Sequential([layers.Lambda(function, input_shape=(2,))])
        for copied in (clone_model, copy.deepcopy):
            assert copied(model).layers[0].function is function
    model = Sequential([layers.Lambda(twice, input_shape=(2,))])
    assert pickle.loads(pickle.dumps(model)).layers[0].function is twice


def test_own_classes_inside_wrappers_are_cloned_as_they_are():
    def times(factor):
        class Times(layers.Layer):
            def call(self, inputs):
                return inputs * factor

        return Times

    twice, _ = times(2), times(3)  # the name stands for the second one now
    model = Sequential([layers.TimeDistributed(twice(), input_shape=(3, 4))])
    assert clone_model(model).predict(np.ones((1, 3, 4))).max() == 2
