"""Live models of Keras become models of kerascope, and models of kerascope live ones of Keras."""

import re
import sys

import numpy as np
import pytest

import kerascope as ks
from kerascope.errors import (
    ArgumentError,
    ConfigError,
    KerascopeError,
    KerascopeWarning,
    MissingToolError,
)

pytestmark = [
    pytest.mark.live,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

# Computed in float32 by two libraries, whose sums have other orders.
PREDICTIONS = {"rtol": 1e-5, "atol": 1e-6}
LOSSES = {"rtol": 1e-5, "atol": 1e-6}


def residual(keras):
    layers = keras.layers
    x = keras.Input((8, 8, 3))
    h = layers.BatchNormalization()(layers.Conv2D(4, 3, padding="same")(x))
    h = layers.Add()([layers.ReLU()(h), layers.Conv2D(4, 1)(x)])
    h = keras.ops.tanh(layers.GlobalAveragePooling2D()(h)) * 2
    return keras.Model(x, layers.Dense(4, activation="softmax")(h))


def nested_and_shared(keras):
    layers = keras.layers
    inner = keras.Sequential([keras.Input((5,)), layers.Dense(4, "relu"), layers.Dense(3)])
    shared = layers.Dense(3)
    a, b = keras.Input((5,)), keras.Input((5,))
    left, right = inner(a), inner(b)
    joined = layers.Concatenate()([shared(left), shared(right), left - right])
    return keras.Model([a, b], [layers.Dense(2)(joined), layers.Dense(1)(joined)])


def attention_and_recurrence(keras):
    layers = keras.layers
    words = keras.Input((7,), dtype="int32")
    h = layers.Embedding(11, 8, mask_zero=True)(words)
    h = layers.LayerNormalization()(h + layers.MultiHeadAttention(2, 4)(h, h))
    h = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(h)
    h = layers.TimeDistributed(layers.Dense(2))(h)
    return keras.Model(words, layers.Dense(1)(layers.GRU(4)(h)))


def own_class_of_a_graph(keras):
    class Mine(keras.Model):
        pass

    x = keras.Input((5,))
    return Mine(x, keras.layers.Dense(2)(x))


MODELS = [residual, nested_and_shared, attention_and_recurrence, own_class_of_a_graph]


def inputs_of(model, rng):
    arrays = []
    for tensor in model.inputs:
        shape = (2, *tensor.shape[1:])
        is_whole = "int" in tensor.dtype
        array = rng.integers(0, 10, shape) if is_whole else rng.normal(size=shape)
        arrays.append(array.astype("int32" if is_whole else "float32"))
    return arrays if len(arrays) > 1 else arrays[0]


def same(ours, theirs, **tolerance):
    ours, theirs = ([one] if isinstance(one, np.ndarray) else one for one in (ours, theirs))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, **tolerance)


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_a_live_model_predicts_the_same_here_and_after_the_way_back(keras, rng, make):
    model = make(keras)
    x = inputs_of(model, rng)
    theirs = model.predict(x, verbose=0)
    ours = ks.from_keras(model)
    same(ours.predict(x), theirs, **PREDICTIONS)
    back = ks.to_keras(ours)
    assert isinstance(back, keras.Model)
    same(back.predict(x, verbose=0), theirs, rtol=0, atol=0)


def test_the_copy_has_weights_of_its_own(keras):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    before = [np.array(array) for array in model.get_weights()]
    ours = ks.from_keras(model)
    ours.set_weights([array + 1 for array in ours.get_weights()])
    same(model.get_weights(), before, rtol=0, atol=0)


def test_weights_go_to_the_layer_that_holds_them_whatever_their_order_and_shapes(keras, rng):
    layers = keras.layers
    x = keras.Input((4,))
    first, second = layers.Dense(4, name="first"), layers.Dense(4, name="second")
    model = keras.Model(x, layers.Add()([second(first(x)), layers.Dense(4, name="short")(x)]))
    first.kernel.assign(rng.normal(size=(4, 4)))
    second.trainable = False  # changes the order of `model.weights` in Keras
    ours = ks.from_keras(model)
    for name in ("first", "second", "short"):
        same(ours.get_layer(name).get_weights(), model.get_layer(name).get_weights(), rtol=0)


def net(keras):
    layers = keras.layers
    x = keras.Input((6,))
    h = layers.BatchNormalization()(layers.Dense(8, "tanh")(x))
    return keras.Model(x, layers.Dense(3, activation="softmax")(h))


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda keras: keras.optimizers.SGD(0.05, momentum=0.9),
        lambda keras: keras.optimizers.Adam(0.01),
    ],
    ids=["SGD with momentum", "Adam"],
)
def test_training_goes_on_where_it_was(keras, rng, optimizer):
    x = rng.normal(size=(15, 16, 6)).astype("float32")
    y = rng.integers(0, 3, (15, 16))
    model = net(keras)
    model.compile(optimizer(keras), "sparse_categorical_crossentropy", metrics=["accuracy"])
    for batch in range(5):
        model.train_on_batch(x[batch], y[batch])
    ours = ks.from_keras(model)
    back = ks.to_keras(ours)
    assert ours.metrics_names == ["loss", "accuracy"]
    for batch in range(5, 15):
        told = []
        for one in (model, back):
            one.reset_metrics()
            told.append(one.train_on_batch(x[batch], y[batch]))
        told.append(ours.train_on_batch(x[batch], y[batch]))
        same([np.asarray(told[2])], [np.asarray(told[0])], **LOSSES)
        same([np.asarray(told[1])], [np.asarray(told[0])], rtol=0, atol=0)
    same(ours.get_weights(), model.get_weights(), rtol=1e-4, atol=1e-5)


def test_it_can_be_left_uncompiled(keras):
    model = net(keras)
    model.compile("adam", "mse")
    assert ks.from_keras(model).total_loss is not None
    assert ks.from_keras(model, compile=False).total_loss is None


def test_a_sequential_that_was_never_built_comes_without_weights(keras):
    ours = ks.from_keras(keras.Sequential([keras.layers.Dense(2)]))
    assert [layer.name for layer in ours.layers] == ["dense"]
    assert ours.weights == []


def test_what_only_code_can_say_is_to_be_recorded(keras):
    class Mine(keras.Model):
        def call(self, x):
            return x

    with pytest.raises(ArgumentError, match=r"Mine 'mine': expected a Functional or Seq.*ks\.walk"):
        ks.from_keras(Mine())
    with pytest.raises(ArgumentError, match=r"expected a keras\.Model, got Dense"):
        ks.from_keras(keras.layers.Dense(2))


def with_own_layer(keras):
    class Gate(keras.layers.Layer):
        def call(self, x):
            return x * keras.ops.sigmoid(x)

    x = keras.Input((3,))
    return keras.Model(x, keras.layers.Dense(2)(Gate(name="door")(x)))


def test_a_layer_of_the_users_is_named_with_what_to_do(keras, rng):
    model = with_own_layer(keras)
    with pytest.raises(ConfigError, match=r"layer 'door' is a Gate.*ks\.walk.*custom_objects"):
        ks.from_keras(model)
    looked_at = ks.from_keras(model, opaque=True)
    assert [box.kind for box in ks.draw(looked_at).graph.nodes] == ["input", "layer", "dense"]

    class Gate(ks.Layer):
        def call(self, x):
            return x * ks.K.sigmoid(x)

    x = rng.normal(size=(2, 3)).astype("float32")
    ours = ks.from_keras(model, {"Gate": Gate})
    same(ours.predict(x), model.predict(x, verbose=0), **PREDICTIONS)


def test_a_lambda_is_named_with_what_to_do(keras, rng):
    x = keras.Input((3,))
    model = keras.Model(x, keras.layers.Lambda(lambda h: h * 2, name="twice")(x))
    with pytest.raises(ConfigError, match=r"the Lambda 'twice' calls a function.*opaque=True"):
        ks.from_keras(model)
    ours = ks.from_keras(model, {"twice": lambda h: h * 2})
    array = rng.normal(size=(2, 3)).astype("float32")
    same(ours.predict(array), array * 2, rtol=0)


def test_an_own_loss_is_named_with_what_to_do(keras):
    def my_loss(y, p):
        return keras.ops.mean(keras.ops.abs(y - p))

    model = net(keras)
    model.compile("sgd", my_loss)
    with pytest.raises(ConfigError, match=r"my_loss.*compile=False"):
        ks.from_keras(model)
    assert ks.from_keras(model, compile=False).total_loss is None


def test_no_model_goes_to_keras_but_ours(keras):
    with pytest.raises(ArgumentError, match="expected a model of kerascope, got Sequential"):
        ks.to_keras(keras.Sequential())


def test_own_layers_need_their_counterpart_in_keras(keras):
    class Mine(ks.layers.Layer):
        pass

    x = ks.Input((3,))
    with pytest.raises(ConfigError, match=r"to_keras: .*Mine.*custom_objects"):
        ks.to_keras(ks.Model(x, Mine()(x)))


def test_without_keras_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", None)
    with pytest.raises(MissingToolError, match=r'pip install "kerascope\[keras\]"'):
        ks.to_keras(ks.Sequential())


# --- what is drawn of what cannot be converted ----------------------------------------------------


def halves(keras):
    half = keras.layers.Dense(4, dtype="mixed_float16", name="a")
    return keras.Sequential([keras.Input((3,)), half, keras.layers.Dense(1, name="b")])


def with_lora(keras):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(1)])
    model.layers[0].enable_lora(2)
    return model


def quantized(keras):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(4), keras.layers.Dense(1)])
    model.layers[0].quantize("int8")
    return model


@pytest.mark.parametrize("make", [halves, with_lora, quantized])
def test_draw_and_summary_say_what_from_keras_says_and_show_the_configuration(keras, make):
    """With all parameters that the layers have now, also those that a file would not hold."""
    model, lines = make(keras), []
    with pytest.raises(KerascopeError) as refused:
        ks.from_keras(model)
    reason = str(refused.value).partition(" is not supported")[0]
    with pytest.warns(KerascopeWarning, match=re.escape(reason)):
        graph = ks.draw(model).graph
    with pytest.warns(KerascopeWarning, match=re.escape(reason)):
        ks.summary(model, print_fn=lines.append)
    assert [node.attrs["parameters"] for node in graph.nodes] == [
        0, *(layer.count_params() for layer in model.layers),
    ]  # fmt: skip
    assert f"Total params: {model.count_params()} " in "\n".join(map(str, lines))
