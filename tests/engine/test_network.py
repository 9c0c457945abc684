"""Networks: cache, nesting, sharing, subclassing, and the round trip through a configuration."""

import json

import numpy as np
import pytest

from kerascope import Input, K, Model, Sequential
from kerascope.engine.network import Network
from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DisconnectedGraphError,
    DtypeError,
    KerascopeWarning,
    NotBuiltError,
    ShapeError,
)
from kerascope.layers import (
    Activation,
    Add,
    BatchNormalization,
    Concatenate,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Layer,
    TimeDistributed,
)
from kerascope.models import model_from_json
from kerascope.settings import config


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def normalizer(name="normalizer"):
    x = Input((4,))
    return Model(
        x, BatchNormalization(name=f"{name}_bn")(Dense(4, kernel_regularizer="l2")(x)), name=name
    )


# --- cache and calls ------------------------------------------------------------------------------


def test_the_same_symbolic_input_is_run_once():
    inner = normalizer()
    x = Input((4,))
    first = inner.call(x)
    updates = len(inner.layers[-1].updates)
    assert inner.call(x) is first
    assert len(inner.layers[-1].updates) == updates


def test_calling_a_network_twice_on_one_tensor_gives_the_same_object():
    inner = normalizer()
    x = Input((4,))
    y = inner(x)
    assert inner(x) is y
    np.testing.assert_array_equal(
        Model(x, inner(x)).predict(numbers(3, 4)), inner.predict(numbers(3, 4))
    )


def test_another_input_is_run_anew():
    inner = normalizer()
    assert inner(Input((4,))) is not inner(Input((4,)))


def test_a_network_on_arrays_gives_arrays_and_keeps_nothing():
    inner = normalizer()
    y = inner(numbers(3, 4))
    np.testing.assert_allclose(y, inner.predict(numbers(3, 4)), rtol=1e-6)
    assert inner._output_tensor_cache == {}


def test_a_network_passes_masks_through():
    x = Input((None,))
    inner = Model(x, Embedding(5, 2, mask_zero=True)(x))
    outer = Input((None,))
    y = inner(outer)
    assert y._keras_history.node.output_masks[0] is not None


def test_the_output_shape_is_found_by_running_the_graph():
    x = Input((None, 3))
    model = Model(x, Dense(5)(x))
    assert model.compute_output_shape((7, 2, 3)) == (7, 2, 5)


def test_a_wrong_number_of_inputs_is_told_with_their_names():
    a, b = Input((2,), name="a"), Input((2,), name="b")
    model = Model([a, b], Add()([a, b]), name="two")
    with pytest.raises(ArgumentError, match=r"Model 'two': expected 2 inputs \['a', 'b'\], got 1"):
        model(Input((2,)))


# --- losses and updates by their inputs -----------------------------------------------------------


def test_a_model_has_only_the_updates_of_its_own_calls():
    layer = BatchNormalization()
    x, elsewhere = Input((4,)), Input((4,))
    model = Model(x, layer(x))
    layer(elsewhere)
    assert (len(layer.updates), len(model.updates)) == (4, 2)
    assert len(layer.get_updates_for(x)) == len(layer.get_updates_for(elsewhere)) == 2
    assert layer.get_updates_for(None) == []


def test_a_nested_model_called_twice_gives_both_calls_to_the_outer_one():
    inner = normalizer()
    a, b = Input((4,)), Input((4,))
    outer = Model([a, b], Add()([inner(a), inner(b)]))
    alone = Model(a, inner(a))
    assert len(inner.updates) == 2
    assert len(outer.updates) == 4
    assert len(alone.updates) == 2
    assert len(inner.get_updates_for(a)) == 2
    assert len(outer.losses) == len(inner.losses) == 1  # the penalty on the kernel counts once


def test_a_nested_batch_normalization_moves_its_averages_while_the_outer_model_trains():
    inner = normalizer()
    x = Input((4,))
    outer = Model(x, inner(x))
    outer.compile("sgd", "mse")
    before = inner.layers[-1].get_weights()
    outer.train_on_batch(numbers(8, 4), numbers(8, 4, seed=1))
    after = inner.layers[-1].get_weights()
    assert abs(after[2] - before[2]).max() > 0
    assert abs(after[3] - before[3]).max() > 0


@pytest.mark.parametrize("again", ["another call", "the graph is run again", "a failed call"])
def test_what_is_called_again_on_the_same_tensor_counts_once(again):
    layer, x = Dense(2, activity_regularizer="l2"), Input((3,))
    model = Model(x, layer(x))
    if again == "another call":
        layer(x)
    elif again == "the graph is run again":
        model.run_internal_graph(model.inputs)
    else:
        with pytest.raises(ShapeError):
            Model(x, Concatenate(axis=0)([layer(x), Input((5,))]))
    assert len(model.losses) == 1
    model.compile("sgd", "mse")
    data = numbers(8, 3)
    plain = np.mean((model.predict(data) - numbers(8, 2)) ** 2)
    total = plain + 0.01 * np.sum(model.predict(data) ** 2)
    assert model.evaluate(data, numbers(8, 2), verbose=0) == pytest.approx(total, rel=1e-5)


def test_both_calls_of_a_nested_model_move_its_averages():
    inner = normalizer()
    a, b = Input((4,)), Input((4,))
    first, second = inner(a), inner(b)
    outer = Model([a, b], Add()([first, second]))
    outer.compile("sgd", "mse")
    outer.train_on_batch([numbers(8, 4), 100 + numbers(8, 4)], numbers(8, 4))
    mean = inner.layers[-1].get_weights()[2]
    assert abs(mean).max() > 0.2  # 0.01 of the first call's mean would be less


def test_a_nested_model_in_a_nested_model_brings_its_updates():
    inner = normalizer()
    x = Input((4,))
    middle = Model(x, Activation("tanh")(inner(x)), name="middle")
    y = Input((4,))
    outer = Model(y, middle(y))
    assert len(outer.updates) == 2
    assert len(outer.losses) == 1


def test_a_frozen_model_has_no_updates_and_no_trainable_weights():
    model = normalizer()
    total = len(model.weights)
    model.trainable = False
    assert model.updates == []
    assert model.trainable_weights == []
    assert len(model.non_trainable_weights) == total


def test_two_calls_on_one_tensor_count_their_penalties_once_each():
    layer = Dense(2, activity_regularizer="l1", kernel_regularizer="l2")
    x = Input((4,))
    model = Model(x, Add()([layer(x), layer(x)]))
    assert len(model.losses) == len(set(model.losses)) == 3


def test_add_loss_of_a_model_counts_in_the_total():
    x = Input((4,))
    h = Dense(3)(x)
    model = Model(x, h)
    model.add_loss(K.mean(K.abs(h)), inputs=[x])
    assert len(model.losses) == 1


# --- sharing --------------------------------------------------------------------------------------


def test_two_models_share_a_layer_and_so_its_training():
    shared = Dense(2)
    a, b = Input((3,)), Input((3,))
    first, second = Model(a, shared(a)), Model(b, Activation("relu")(shared(b)))
    before = second.predict(numbers(4, 3))
    first.compile("sgd", "mse")
    first.fit(numbers(8, 3), numbers(8, 2), verbose=0)
    assert first.weights == second.weights
    assert abs(second.predict(numbers(4, 3)) - before).max() > 0


def test_a_shared_layer_counts_its_weights_once():
    shared = Dense(3)
    x = Input((3,))
    model = Model(x, shared(shared(x)))
    assert model.count_params() == 12
    assert len(model.trainable_weights) == len(model.get_weights()) == 2


def test_set_weights_takes_what_get_weights_gave_or_changes_nothing():
    model = normalizer()
    weights = [w + 1 for w in model.get_weights()]
    model.set_weights(weights)
    np.testing.assert_array_equal(model.get_weights()[0], weights[0])
    with pytest.raises(ValueError, match="shape"):
        model.set_weights([0 * w for w in weights[:-1]] + [np.ones(7)])
    np.testing.assert_array_equal(model.get_weights()[0], weights[0])
    with pytest.raises(ArgumentError, match="set_weights: expected 6 arrays, got 1"):
        model.set_weights([np.ones(1)])


# --- facts ----------------------------------------------------------------------------------------


def test_layers_are_found_by_name_and_by_index():
    model = normalizer()
    assert model.get_layer("normalizer_bn") is model.get_layer(index=2) is model.layers[-1]
    with pytest.raises(
        ArgumentError, match=r"No such layer: 'normalizer_bm'. Did you mean 'normalizer_bn'"
    ):
        model.get_layer("normalizer_bm")
    with pytest.raises(ArgumentError, match="there is no layer 9"):
        model.get_layer(index=9)


def test_inputs_and_outputs_are_named_after_their_layers():
    a, b = Input((2,), name="a"), Input((2,), name="b")
    h = Add(name="sum")([a, b])
    model = Model([a, b], [h, Dense(1, name="last")(h)])
    assert model.input_names == ["a", "b"]
    assert model.output_names == ["sum", "last"]
    assert model.input_layers == [a._keras_history.layer, b._keras_history.layer]
    assert model.output_layers_tensor_indices == [0, 0]
    assert model.output_layers_node_indices == model.input_layers_node_indices == [0, 0]
    assert model.input == [a, b]
    assert model.internal_output_shapes == [(None, 2), (None, 1)]


def test_a_model_that_would_begin_in_the_middle_warns_and_is_refused():
    x = Input((4,), name="x")
    h = Dense(3)(x)
    y = Dense(2)(h)
    with (
        pytest.warns(KerascopeWarning, match="Model inputs must come from a Keras Input layer"),
        pytest.raises(DisconnectedGraphError, match='obtain value for tensor x at layer "x"'),
    ):
        Model(h, y)


def test_outputs_that_no_layer_made_are_refused():
    x = Input((4,))
    with pytest.raises(
        ArgumentError, match=r"must be the output of a Keras `Layer`.*Wrap the operation in Lambda"
    ):
        Model(x, Dense(2)(x) * 2.0)
    with pytest.raises(DtypeError, match="must be Keras tensors, got ndarray"):
        Model(np.ones(3), Dense(2)(x))
    with pytest.raises(ArgumentError, match="inputs passed to the model is redundant"):
        Model([x, x], Dense(2)(x))
    with pytest.raises(ArgumentError, match="expected both inputs and outputs"):
        Model(inputs=x)


def test_two_layers_of_one_name_are_refused():
    x = Input((4,))
    with pytest.raises(ArgumentError, match='The name "same" is used 2 times in the model'):
        Model(x, Dense(2, name="same")(Dense(2, name="same")(x)))


# --- subclassed -----------------------------------------------------------------------------------


class Regression(Model):
    """A model that writes its own call."""

    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.hidden = Dense(units, activation="relu")
        self.heads = [Dense(1), Dense(1)]
        self.dropout, self.join = Dropout(0.5), Add()

    def call(self, inputs, training=None):
        h = self.dropout(self.hidden(inputs), training=training)
        return self.join([head(h) for head in self.heads])


def test_a_subclassed_model_is_no_graph_network_until_it_sees_data():
    model = Regression()
    assert not model._is_graph_network
    assert {type(layer) for layer in model.layers} == {Dense, Dropout, Add}
    assert model.weights == []
    with pytest.raises(NotBuiltError, match="has no graph yet"):
        _ = model.graph_map


def test_a_subclassed_model_trains_and_predicts():
    np.random.seed(0)
    model = Regression(8)
    model.compile("adam", "mse")
    x = numbers(64, 4)
    history = model.fit(x, x.sum(axis=1), epochs=30, verbose=0).history["loss"]
    assert history[-1] < history[0]
    assert len(model.weights) == 6
    assert model.predict(x).shape == (64, 1)
    np.testing.assert_array_equal(model.predict(x), model.predict(x))  # no dropout in test


class Blocks(Model):
    """Layers in tuples in a list, the list in itself, and another layer in a history."""

    def __init__(self):
        super().__init__()
        self.blocks = [(Dense(4), Dense(3)), {"last": [Dense(1)]}]
        self.blocks.append(self.blocks)
        self.seen = [Dense(7)(Input(shape=(3,)))._keras_history]

    def call(self, inputs):
        (first, second), heads, _ = self.blocks
        return heads["last"][0](second(first(inputs)))


def test_layers_in_lists_of_lists_are_trained_and_those_in_records_are_not():
    model, x = Blocks(), numbers(6, 4)
    model.compile("sgd", "mse")
    before = model.predict(x)
    model.train_on_batch(x, numbers(6, 1))
    assert [layer.units for layer in model.layers] == [4, 3, 1]
    assert len(model.trainable_weights) == 6
    assert not np.allclose(model.predict(x), before)


class Residual(Model):
    """A call that computes between its layers and after them."""

    def __init__(self):
        super().__init__()
        self.first, self.last = Dense(4), Dense(2)

    def call(self, inputs):
        hidden = inputs + self.first(inputs)
        return K.tanh(self.last(hidden * 2.0))


@pytest.mark.parametrize("dialect", ["1.2", "2.2", "3"])
def test_a_subclassed_model_may_compute_between_its_layers(dialect, monkeypatch):
    monkeypatch.setattr(config, "dialect", dialect)
    model, x = Residual(), numbers(6, 4)
    model.compile("sgd", "mse")
    model.train_on_batch(x, numbers(6, 2))
    kernel, bias, last_kernel, last_bias = model.get_weights()
    hidden = x + x @ kernel + bias
    expected = np.tanh(2 * hidden @ last_kernel + last_bias)
    np.testing.assert_allclose(model.predict(x), expected, rtol=1e-4, atol=1e-6)
    assert len(model.trainable_weights) == 4


def test_a_subclassed_model_has_the_penalties_and_updates_of_its_layers():
    class Normal(Model):
        def __init__(self):
            super().__init__()
            self.bn = BatchNormalization(gamma_regularizer="l2")

        def call(self, inputs):
            return self.bn(inputs)

    model = Normal()
    model.compile("sgd", "mse")
    model.train_on_batch(3 + numbers(8, 4), numbers(8, 4))
    assert len(model.losses) == 1
    assert len(model.updates) == 2
    assert abs(model.bn.get_weights()[2]).max() > 0


def test_a_subclassed_model_on_arrays_runs_its_call():
    model = Regression()
    assert model(numbers(2, 4)).shape == (2, 1)


def test_a_subclassed_model_has_no_configuration_of_a_graph():
    with pytest.raises(NotBuiltError, match="get_config needs a graph of layers"):
        Regression().get_config()


def test_a_model_without_graph_and_without_call_says_what_to_write():
    model = Model()
    model.compile("sgd", "mse")
    with pytest.raises(NotBuiltError, match="Write Model\\(inputs, outputs\\), or define call"):
        model.fit(numbers(2, 2), numbers(2, 2))


# --- configuration --------------------------------------------------------------------------------


def round_trip(model, **kwargs):
    config = json.loads(json.dumps(model.get_config()))
    twin = type(model).from_config(config, **kwargs)
    twin.set_weights(model.get_weights())
    assert json.loads(json.dumps(twin.get_config())) == config
    return twin


def assert_same_predictions(model, twin, *arrays):
    arrays = list(arrays)
    theirs, ours = twin.predict(arrays), model.predict(arrays)
    for a, b in zip(np.atleast_1d(theirs), np.atleast_1d(ours), strict=True):
        np.testing.assert_array_equal(a, b)


def test_round_trip_of_a_shared_layer_and_of_calls_in_an_order_of_their_own():
    shared = Dense(3, name="shared")
    a, b = Input((3,), name="a"), Input((3,), name="b")
    first = shared(b)
    second = shared(a)
    third = shared(second)
    model = Model([a, b], Concatenate()([first, third, second]))
    twin = round_trip(model)
    assert len(twin.get_layer("shared").inbound_nodes) == 3
    assert_same_predictions(model, twin, numbers(4, 3), numbers(4, 3, seed=1))


def test_node_indices_count_only_the_calls_inside_the_model():
    shared = Dense(3, name="shared")
    shared(Input((3,)))  # a call outside
    x = Input((3,), name="x")
    model = Model(x, Activation("tanh", name="end")(shared(x)))
    config = model.get_config()
    (entry,) = [entry for entry in config["layers"] if entry["name"] == "end"]
    assert entry["inbound_nodes"] == [[["shared", 0, 0, {}]]]
    assert_same_predictions(model, round_trip(model), numbers(4, 3))


def test_round_trip_of_a_nested_model_that_is_called_twice():
    inner = normalizer("inner")
    a, b = Input((4,), name="a"), Input((4,), name="b")
    model = Model([a, b], Add()([inner(a), inner(b)]))
    twin = round_trip(model)
    assert isinstance(twin.get_layer("inner"), Model)
    assert_same_predictions(model, twin, numbers(4, 4), numbers(4, 4, seed=1))


def test_round_trip_of_a_nested_model_with_two_outputs_of_which_one_is_used():
    x = Input((4,))
    split = Model(x, [Dense(2)(x), Dense(3)(x)], name="split")
    y = Input((4,))
    model = Model(y, Dense(1)(split(y)[1]))
    assert_same_predictions(model, round_trip(model), numbers(4, 4))


def test_round_trip_of_a_sequential_inside_a_model():
    block = Sequential([Dense(3, input_shape=(4,)), Activation("relu")], name="block")
    x = Input((4,))
    model = Model(x, Dense(2)(block(x)))
    assert_same_predictions(model, round_trip(model), numbers(4, 4))


def test_the_arguments_of_a_call_are_kept():
    class Power(Layer):
        def call(self, inputs, exponent=1, flags=None):
            return inputs**exponent

    x = Input((4,))
    layer = Power(name="power")
    model = Model(x, Add()([layer(x), layer(x, exponent=3, flags=[True, None])]))
    twin = round_trip(model, custom_objects={"Power": Power})
    assert [n.arguments for n in twin.get_layer("power").inbound_nodes] == [
        {},
        {"exponent": 3, "flags": [True, None]},
    ]
    assert_same_predictions(model, twin, numbers(4, 4))


def test_an_argument_that_json_cannot_hold_is_refused_by_the_name_of_its_layer():
    class Weighted(Layer):
        def call(self, inputs, by=None):
            return inputs * by

    x = Input((4,))
    model = Model(x, Weighted(name="weighted")(x, by=K.constant(2.0)))
    with pytest.raises(ConfigError, match="Weighted 'weighted': call 0"):
        model.get_config()


def test_a_layer_with_dropout_dtype_and_frozen_state_comes_back_as_it_was():
    x = Input((6,), dtype="int32", name="ids")
    frozen = Dense(2, trainable=False, name="frozen")
    h = Flatten()(Embedding(9, 2, name="embed")(x))
    model = Model(x, frozen(Dropout(0.3, name="drop")(h)), name="whole")
    twin = round_trip(model)
    assert twin.name == "whole"
    assert twin.get_layer("drop").rate == 0.3
    assert not twin.get_layer("frozen").trainable
    assert twin.inputs[0].dtype == "int32"
    assert_same_predictions(model, twin, np.arange(12).reshape(2, 6) % 9)


def test_to_json_and_back_makes_the_same_class():
    model = Sequential([Dense(3, input_shape=(4,))])
    twin = model_from_json(model.to_json())
    assert type(twin) is Sequential
    twin.set_weights(model.get_weights())
    assert_same_predictions(model, twin, numbers(2, 4))


def test_a_configuration_whose_calls_hang_in_the_air_is_refused():
    x = Input((4,), name="x")
    config = Model(x, Dense(2, name="d")(x)).get_config()
    config["layers"][1]["inbound_nodes"] = [[["nobody", 0, 0, {}]]]
    with pytest.raises(ConfigError, match=r"no call in it makes the inputs of \['d'\]"):
        Network.from_config(config)


def test_a_model_that_is_called_on_a_wrong_shape_says_what_it_expects():
    x = Input((8, 8, 3))
    images = Model(x, Flatten()(Conv2D(2, 3, name="conv")(x)), name="images")
    line = Sequential([Dense(1, input_shape=(4,))], name="line")
    expected = r"Model 'images': expected an input of shape \(None, 8, 8, 3\), got \(None, 8, 8\)"
    with pytest.raises(ShapeError, match=expected):
        images(Input((8, 8)))
    with pytest.raises(ShapeError, match="Model 'images'.*8, 8, 4"):
        images(Input((8, 8, 4)))
    for call in (
        lambda: line(Input((5,))),
        lambda: line(numbers(2, 5)),
        lambda: line(Input((7, 5))),
        lambda: TimeDistributed(line)(Input((3, 5))),
    ):
        with pytest.raises(ShapeError, match=r"Sequential 'line': expected .* \(None, 4\)"):
            call()
    with pytest.raises(
        ShapeError, match="Model 'images': .* Conv2D 'conv': expected an input with 4"
    ):
        images(Input((8,)))
    assert [len(model.inbound_nodes) for model in (images, line)] == [1, 1]


def test_a_misfit_deep_inside_names_the_model_that_was_called_and_the_layer():
    inner = Sequential([Dense(2, input_shape=(4,), name="deep")], name="inner")
    outer = Sequential([inner], name="outer")
    with pytest.raises(ShapeError, match="Sequential 'outer'") as caught:
        outer(Input((5,)))
    inner_error = caught.value.__cause__
    assert str(inner_error).startswith("Sequential 'inner'")
    assert str(inner_error.__cause__).startswith("Dense 'deep': expected an input with size 4")


def test_a_model_may_be_called_on_other_batches_and_on_sizes_that_its_layers_allow():
    x = Input((8, 8, 3))
    model = Model(x, Conv2D(2, 3)(x))
    assert model(Input(batch_shape=(5, 8, 8, 3))).shape == (5, 6, 6, 2)
    assert model(K.placeholder((None, None, None, None))).shape[0] is None
    assert model(Input((9, 10, 3))).shape == (None, 7, 8, 2)
    assert model(numbers(2, 8, 8, 3)).shape == (2, 6, 6, 2)


def test_a_model_may_be_called_on_another_number_of_axes_if_its_layers_allow_it():
    x = Input((3,))
    model = Model(x, Dense(2)(x))
    assert model(Input((4, 3))).shape == (None, 4, 2)
    assert model(numbers(5, 4, 3)).shape == (5, 4, 2)
    assert model.compute_output_shape((None, 4, 3)) == (None, 4, 2)
