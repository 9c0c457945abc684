"""Sequential: deferred building, adding, taking away, configuration."""

import json

import numpy as np
import pytest

from kerascope import Input, Model, Sequential
from kerascope.errors import (
    ArgumentError,
    DtypeError,
    ShapeError,
    SpellingWarning,
)
from kerascope.layers import Activation, Add, Dense, Dropout, Flatten, InputLayer, Lambda, Merge
from kerascope.optimizers import SGD


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def test_a_sequential_that_knows_its_input_is_built_layer_by_layer():
    model = Sequential()
    model.add(Dense(3, input_shape=(4,)))
    assert (model.built, model.output.shape) == (True, (None, 3))
    model.add(Dense(2))
    assert model.output.shape == (None, 2)
    assert model.count_params() == 15 + 8


def test_the_input_layer_is_not_among_the_layers():
    model = Sequential([InputLayer((4,)), Dense(2)])
    assert [type(layer) for layer in model.layers] == [Dense]
    assert [type(layer) for layer in model.input_layers] == [InputLayer]


def test_a_deferred_sequential_is_built_by_a_shape():
    model = Sequential([Dense(3), Dense(2)])
    assert not model.built
    assert model.outputs == []
    model.build((None, 4))
    assert model.built
    assert [w.shape for w in model.weights] == [(4, 3), (3,), (3, 2), (2,)]


def test_a_deferred_sequential_is_built_and_compiled_by_its_first_data():
    model = Sequential([Dense(3), Dense(1)])
    model.compile("sgd", "mse")
    assert not model.built
    assert type(model.optimizer).__name__ == "SGD"
    history = model.fit(numbers(8, 4), numbers(8), epochs=2, verbose=0)
    assert len(history.history["loss"]) == 2
    assert model.input_shape == (None, 4)


def test_a_deferred_sequential_refuses_an_unknown_optimizer_at_once():
    with pytest.raises(ValueError, match=r"Unknown optimizer 'sdg'. Did you mean 'sgd'"):
        Sequential([Dense(1)]).compile("sdg", "mse")


def test_build_without_layers_or_shape_says_what_is_missing():
    with pytest.raises(ArgumentError, match="build needs a layer. Call add"):
        Sequential().build((None, 4))
    with pytest.raises(ArgumentError, match="build needs an input_shape"):
        Sequential([Dense(2)]).build()


def test_pop_takes_the_last_layer_away():
    model = Sequential([Dense(3, input_shape=(4,)), Dense(2), Dense(1)])
    last = model.layers[-1]
    model.pop()
    assert model.output.shape == (None, 2)
    assert last.inbound_nodes == []
    assert model.layers[-1].outbound_nodes == []
    model.pop()
    model.pop()
    assert (model.layers, model.outputs, model.built) == ([], [], False)
    with pytest.raises(ArgumentError, match="there are no layers in the model"):
        model.pop()


def test_after_pop_predict_gives_the_new_last_layer():
    model = Sequential([Dense(3, input_shape=(4,), activation="tanh"), Dense(1)])
    x = numbers(5, 4)
    assert model.predict(x).shape == (5, 1)
    hidden = model.layers[0](x)
    model.pop()
    np.testing.assert_array_equal(model.predict(x), hidden)


@pytest.mark.parametrize("is_trained", [False, True])
def test_a_changed_sequential_is_compiled_anew_as_it_was_told(is_trained):
    changed = Sequential([Dense(3, input_shape=(4,)), Dense(1)])
    changed.compile(SGD(lr=0.25), "mae", metrics=["mse"])
    if is_trained:
        changed.train_on_batch(numbers(4, 4), numbers(4, 1))
    changed.pop()
    changed.add(Dense(2))
    whole = Sequential([Dense(3, input_shape=(4,)), Dense(2)])
    whole.compile(SGD(lr=0.25), "mae", metrics=["mse"])
    whole.set_weights(changed.get_weights())
    for method in ("train_on_batch", "train_on_batch", "test_on_batch"):
        told = [getattr(model, method)(numbers(4, 4), numbers(4, 2)) for model in (changed, whole)]
        np.testing.assert_array_equal(*told)
    for one, other in zip(changed.get_weights(), whole.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_emptied_sequential_that_was_compiled_is_so_with_its_new_layers():
    model = Sequential([Dense(3, input_shape=(4,))])
    model.compile("sgd", "mse")
    model.pop()
    with pytest.raises(ArgumentError, match="build needs a layer"):
        model.evaluate(numbers(4, 4), numbers(4, 2))
    model.add(Dense(2, input_shape=(4,)))
    assert model.evaluate(numbers(4, 4), numbers(4, 2), verbose=0) > 0


def test_a_popped_layer_that_was_called_later_keeps_its_calls():
    last = Dense(2)
    model = Sequential([Dense(3, input_shape=(4,)), last])
    other = last(Input((3,)))
    model.pop()
    assert other._keras_history.node is last.inbound_nodes[1]
    assert Model(other._keras_history.node.input_tensors[0], other).predict(
        numbers(1, 3)
    ).shape == (1, 2)


def test_an_emptied_sequential_can_be_filled_again():
    model = Sequential([Dense(3, input_shape=(4,))])
    model.pop()
    model.add(Dense(2, input_shape=(5,)))
    assert model.predict(numbers(2, 5)).shape == (2, 2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Dense, r"expected a layer, got <class .*Dense'>. Write Dense"),
        (lambda: "dense", "expected a layer, got 'dense'"),
        (lambda: Lambda(lambda x: [x, x]), "has 2 outputs; all layers of a Sequential"),
        (lambda: Dense(2, name="first"), 'The name "first" is used 2 times'),
        (lambda: Dense(2, weights=[np.ones((1, 1)), np.ones(2)]), "expected"),
        (lambda: Add(), "should be called on a list of at least 2 inputs"),
    ],
)
def test_a_failing_add_leaves_the_model_as_it_was(wrong, words):
    model = Sequential([Dense(3, input_shape=(4,), name="first")])
    before = model.predict(numbers(2, 4))
    with pytest.raises((ValueError, TypeError), match=words):
        model.add(wrong())
    assert [layer.name for layer in model.layers] == ["first"]
    assert model.output.shape == (None, 3)
    np.testing.assert_array_equal(model.predict(numbers(2, 4)), before)
    model.add(Dense(1))
    assert model.predict(numbers(2, 4)).shape == (2, 1)


def test_a_failing_first_add_leaves_the_model_empty():
    model = Sequential()
    with pytest.raises(ShapeError):
        model.add(Dense(2, input_shape=(4,), weights=[np.ones((1, 1)), np.ones(2)]))
    assert (model.layers, model.outputs) == ([], [])
    assert not model.built


def test_a_sequential_takes_one_input():
    model = Sequential([Dense(2)])
    model.compile("sgd", "mse")
    with pytest.raises(ArgumentError, match="expected one array, got 2"):
        model.fit([numbers(2, 3), numbers(2, 3)], numbers(2, 2))


# --- nesting --------------------------------------------------------------------------------------


def test_a_sequential_in_a_sequential_at_the_beginning_and_in_the_middle():
    first = Sequential([Dense(3, input_shape=(4,)), Activation("relu")], name="first")
    middle = Sequential([Dense(3, input_shape=(3,)), Dropout(0.5)], name="middle")
    model = Sequential([first, middle, Dense(1)])
    x = numbers(6, 4)
    by_hand = model.layers[-1](middle.predict(first.predict(x)))
    np.testing.assert_allclose(model.predict(x), by_hand, rtol=1e-6)
    assert len(model.weights) == 6
    model.compile("sgd", "mse")
    model.fit(x, numbers(6), verbose=0)


def test_a_deferred_sequential_inside_another_is_built_with_it():
    inner = Sequential([Dense(3), Dense(2)], name="inner")
    model = Sequential([Dense(4, input_shape=(5,)), inner])
    assert inner.built
    assert [w.shape for w in inner.weights] == [(4, 3), (3,), (3, 2), (2,)]
    assert model.predict(numbers(2, 5)).shape == (2, 2)
    assert model.count_params() == 24 + 15 + 8


def test_a_sequential_is_called_as_a_layer():
    model = Sequential([Dense(3, input_shape=(4,)), Dense(2)])
    x = Input((4,))
    whole = Model(x, model(x))
    np.testing.assert_array_equal(whole.predict(numbers(2, 4)), model.predict(numbers(2, 4)))


# --- configuration --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: Sequential([Dense(3, input_shape=(4,)), Dropout(0.1), Dense(2)], name="plain"),
        lambda: Sequential([InputLayer((4,)), Dense(2)]),
        lambda: Sequential([Sequential([Dense(3, input_shape=(4,))]), Dense(2)]),
        lambda: Sequential([Flatten(input_shape=(2, 2)), Dense(1)]),
    ],
)
def test_the_configuration_survives_json(make):
    model = make()
    config = json.loads(json.dumps(model.get_config()))
    twin = Sequential.from_config(config)
    assert json.loads(json.dumps(twin.get_config())) == config
    twin.set_weights(model.get_weights())
    x = numbers(3, *model.input_shape[1:])
    np.testing.assert_array_equal(twin.predict(x), model.predict(x))


def test_a_deferred_sequential_that_was_built_comes_back_built():
    model = Sequential([Dense(3), Dense(2)])
    deferred = Sequential.from_config(model.get_config())
    assert not deferred.built
    model.build((None, 4))
    assert Sequential.from_config(model.get_config()).input_shape == (None, 4)


def test_classes_are_the_most_likely_ones():
    model = Sequential([Dense(3, input_shape=(4,), activation="softmax")])
    x = numbers(5, 4)
    np.testing.assert_array_equal(model.predict_classes(x), model.predict_proba(x).argmax(axis=1))
    one = Sequential([Dense(1, input_shape=(4,), activation="sigmoid")])
    np.testing.assert_array_equal(one.predict_classes(x), (one.predict(x) > 0.5).astype("int32"))


def test_adding_no_layer_is_a_type_error():
    with pytest.raises(DtypeError):
        Sequential([3])


def test_a_line_may_begin_with_the_merge_of_two_others_as_in_keras_1():
    left, right = Sequential(), Sequential()
    left.add(Dense(4, input_dim=3))
    right.add(Dense(5, input_dim=2))
    model = Sequential()
    with pytest.warns(SpellingWarning, match="Merge"):
        model.add(Merge([left, right], mode="concat"))
    model.add(Dense(1))
    assert [x.shape for x in model.inputs] == [(None, 3), (None, 2)]
    assert model.predict([np.ones((6, 3)), np.ones((6, 2))]).shape == (6, 1)
    assert len(model.trainable_weights) == 6
