"""Layers that a user writes: as Keras 1 and Keras 2 have them, and layers made of layers."""

import pickle

import numpy as np
import pytest

from kerascope import backend as K
from kerascope import config, initializers
from kerascope.engine.model import Model
from kerascope.layers import BatchNormalization, Dense, Dropout, Input, Layer


class SimpleDense(Layer):
    """The layer of document S1."""

    def __init__(self, units=32):
        super().__init__()
        self.units = units

    def build(self, input_shape):
        self.w = self.add_weight(
            shape=(input_shape[-1], self.units), initializer="random_normal", trainable=True
        )
        self.b = self.add_weight(shape=(self.units,), initializer="random_normal", trainable=True)

    def call(self, inputs):
        return K.dot(inputs, self.w) + self.b


class Keras1Dense(Layer):
    """A layer as Keras 1 wrote them, after document S4."""

    def __init__(self, output_dim, **kwargs):
        self.output_dim = output_dim
        self.init = initializers.get("uniform")
        super().__init__(**kwargs)

    def build(self, input_shape):
        self.W = self.add_weight(
            (input_shape[1], self.output_dim), initializer="uniform", name=f"{self.name}_W"
        )
        self.b = K.zeros((self.output_dim,), name=f"{self.name}_b")
        self.trainable_weights = [self.W, self.b]
        self.built = True

    def call(self, x, mask=None):
        return K.dot(x, self.W) + self.b

    def get_output_shape_for(self, input_shape):
        return (input_shape[0], self.output_dim)


def test_layer_of_document_s1_works_in_all_modes():
    layer = SimpleDense(units=4)
    array = np.ones((2, 3), "float32")
    eager = layer(array)
    x = Input((3,))
    y = layer(x)
    assert y.shape == (None, 4)
    np.testing.assert_allclose(K.function([x], [y])([array])[0], eager, rtol=1e-6)
    names = ["simple_dense_1/weight_1", "simple_dense_1/weight_2"]
    assert [w.name.replace(layer.name, "simple_dense_1") for w in layer.weights] == names
    assert layer.trainable_weights == [layer.w, layer.b]


def test_layer_of_document_s1_gets_its_configuration_from_its_constructor():
    assert SimpleDense(units=4).get_config()["units"] == 4


def test_r42_keras_1_layer_names_its_weight_and_sets_trainable_weights():
    layer = Keras1Dense(3, name="mine")
    x = Input((5,))
    y = layer(x)
    assert y.shape == (None, 3)
    assert [w.name for w in layer.trainable_weights] == ["mine_W", "mine_b"]
    assert layer.compute_output_shape((None, 5)) == (None, 3)
    assert layer.get_output_shape_for((None, 5)) == (None, 3)
    assert layer.get_config()["output_dim"] == 3
    gradients = K.gradients(K.sum(y), layer.trainable_weights)
    assert [g.shape for g in gradients] == [(5, 3), (3,)]
    layer.trainable = False
    assert layer.trainable_weights == []
    assert len(layer.non_trainable_weights) == 2


def test_keras_1_layer_works_on_arrays():
    assert Keras1Dense(3)(np.ones((2, 5))).shape == (2, 3)


def test_keras_1_shape_of_dense_is_the_same():
    assert Dense(3).get_output_shape_for((None, 5)) == (None, 3)


class Block(Layer):
    """A layer that is made of layers: dense, normalise, drop, dense."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.first = Dense(units, activity_regularizer="l2", kernel_regularizer="l2")
        self.normalize = BatchNormalization(momentum=0.5)
        self.rest = [Dropout(0.5), Dense(1)]

    def call(self, inputs):
        x = self.normalize(self.first(inputs))
        for layer in self.rest:
            x = layer(x)
        return x


def test_layer_finds_the_weights_of_its_layers():
    block = Block(4)
    block(Input((3,)))
    assert len(block.trainable_weights) == 2 + 2 + 2
    assert len(block.non_trainable_weights) == 2
    assert block.count_params() == 12 + 4 + 16 + 4 + 1
    block.trainable = False
    assert block.trainable_weights == []
    assert len(block.weights) == 8


def test_layer_of_layers_gives_the_same_on_arrays_and_in_a_function():
    block = Block(4)
    array = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")
    eager = block(array)
    x = Input((3,))
    y = block(x)
    assert y._keras_history.layer is block
    f = K.function([x, K.learning_phase()], [y])
    np.testing.assert_allclose(f([array, 0])[0], eager, rtol=1e-5)


def test_updates_and_penalties_inside_a_layer_belong_to_the_call_around_them():
    block = Block(4)
    x, y = Input((3,)), Input((3,))
    block(x)
    assert len(block.updates) == 2
    assert len(block.get_updates_for(x)) == 2
    assert len(block.get_losses_for(x)) == 1
    assert len(block.get_losses_for(None)) == 1
    assert len(block.losses) == 2
    block(y)
    assert len(block.updates) == 4
    assert len(block.get_updates_for(x)) == 2
    assert len(block.losses) == 3


def test_updates_two_layers_down_belong_to_the_outermost_call():
    class Outer(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.block = Block(4)

        def call(self, inputs):
            return self.block(inputs * 2) + 1

    outer, x = Outer(), Input((3,))
    outer(x)
    assert len(outer.get_updates_for(x)) == 2
    assert len(outer.get_losses_for(x)) == 1
    assert len(outer.updates) == 2
    assert len(outer.losses) == 2
    outer.block.normalize.trainable = False
    assert outer.get_updates_for(x) == []


def test_model_finds_updates_and_penalties_inside_its_layers():
    x = Input((3,))
    block = Block(4)
    model = Model(x, Dense(2)(block(Dense(3)(x))))
    assert (len(model.updates), len(model.losses)) == (2, 2)
    z = Input((3,))
    model(z)
    assert len(model.get_updates_for(z)) == 2
    assert len(model.get_losses_for(z)) == 1
    outer = Model(z, model(z))
    assert (len(outer.updates), len(outer.losses)) == (2, 2)


def test_subclassed_model_inside_a_model_keeps_its_updates():
    class Inner(Model):
        def __init__(self):
            super().__init__()
            self.block = Block(4)

        def call(self, inputs):
            return self.block(inputs * 2)

    x = Input((3,))
    model = Model(x, Inner()(x))
    assert (len(model.updates), len(model.losses)) == (2, 2)


@pytest.mark.parametrize("arguments", [("k", (2, 3)), ((2, 3),), ((2, 3), "ones")])
def test_add_weight_takes_name_and_shape_in_either_order(arguments):
    class Own(Layer):
        def build(self, input_shape):
            self.kernel = self.add_weight(*arguments)

        def call(self, inputs):
            return K.dot(inputs, self.kernel)

    layer = Own(name="own")
    assert layer(np.ones((1, 2))).shape == (1, 3)
    assert layer.kernel.name == ("own/k" if arguments[0] == "k" else "own/weight_1")
    if "ones" in arguments:
        np.testing.assert_array_equal(layer.get_weights()[0], np.ones((2, 3)))


def test_add_weight_refuses_more_arguments_by_place():
    with pytest.raises(ValueError, match="expected at most 2 arguments by position, got 3"):
        Layer().add_weight("k", (2, 3), "float32")


def test_training_reaches_the_layers_inside():
    block = Block(4)
    array = np.random.default_rng(0).normal(size=(50, 3))
    block(array)
    assert block.normalize.get_weights()[2].tolist() == [0.0] * 4
    one, other = block(array, training=True), block(array, training=True)
    assert (one != other).any()
    assert (block.normalize.get_weights()[2] != 0).any()


def test_layer_whose_call_fails_is_as_before():
    class Broken(Dense):
        def call(self, inputs):
            super().call(inputs)
            raise RuntimeError("broken on purpose")

    layer = Broken(3, kernel_regularizer="l2", activity_regularizer="l2")
    for value in (Input((4,)), np.ones((1, 4))):
        with pytest.raises(RuntimeError, match="broken on purpose"):
            layer(value)
        assert layer.built is False
        assert layer.weights == []
        assert layer.losses == []
        assert layer.inbound_nodes == []


# --- penalties of calls on numbers ----------------------------------------------------------------


class Penalty(Layer):
    def __init__(self, rate=0.5, **kwargs):
        super().__init__(**kwargs)
        self.rate = rate

    def call(self, inputs):
        self.add_loss(self.rate * K.sum(inputs))
        return inputs


class Around(Layer):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.inner = [Penalty(), Dense(2, kernel_regularizer="l2", activity_regularizer="l1")]

    def call(self, inputs):
        if not np.all(K.eval(inputs)):
            raise RuntimeError("a zero")
        return self.inner[1](self.inner[0](inputs))


def numbers_in(losses):
    return sorted(float(K.eval(x)) for x in losses)


@pytest.mark.parametrize("name", ["2.2", "3"])
def test_losses_after_a_call_on_numbers_are_those_of_that_call(name, monkeypatch):
    monkeypatch.setattr(config, "dialect", name)
    layer = Penalty()
    assert layer.losses == []
    for _ in range(2):
        layer(np.ones((1, 3)))
        assert numbers_in(layer.losses) == [1.5]
    layer(np.ones((1, 1)))
    assert numbers_in(layer.losses) == [0.5]


def test_losses_of_layers_inside_are_those_of_the_last_outermost_call():
    layer = Around()
    for scale in (1.0, 3.0):
        output = layer(np.full((1, 4), scale))
        kernel = K.get_value(layer.inner[1].kernel)
        expected = [0.5 * 4 * scale, np.abs(output).sum() * 0.01, (kernel**2).sum() * 0.01]
        assert numbers_in(layer.losses) == pytest.approx(sorted(expected), rel=1e-5)
    kept = numbers_in(layer.losses)
    with pytest.raises(RuntimeError, match="a zero"):
        layer(np.zeros((1, 4)))
    assert numbers_in(layer.losses) == kept
    layer.inner[0](np.ones((2, 4)))
    assert numbers_in(layer.inner[0].losses) == [4.0]
    layer(np.ones((1, 4)))
    assert len(layer.losses) == 3


def test_losses_of_a_call_on_numbers_are_no_part_of_a_model():
    layer = Penalty()
    layer(np.ones((1, 3)))
    x = Input((3,))
    model = Model(x, layer(x))
    model.compile("sgd", "mse")
    data = np.ones((2, 3))
    assert model.evaluate(data, data, verbose=0) == pytest.approx(0.5 * 6)
    assert pickle.loads(pickle.dumps(layer)).rate == 0.5


def test_a_layer_tells_its_type_in_keras_3s_words_too():
    for dtype in ("float32", "float64"):
        own = SimpleDense()
        layer = Dense(2, dtype=dtype)
        assert (layer.compute_dtype, layer.variable_dtype) == (dtype, dtype)
        assert own.compute_dtype == config.floatx
