"""Run by a test with KERAS_BACKEND set: what holds on jax holds on this backend."""

import contextlib
import warnings
from collections import Counter

import keras
import numpy as np

import kerascope as ks
from kerascope.foreign import keras_models
from kerascope.foreign.writer import TapeWriter

layers, ops = keras.layers, keras.ops


class Block(layers.Layer):
    def __init__(self):
        super().__init__()
        self.dense, self.drop, self.places = layers.Dense(3), layers.Dropout(0.5), ops.ones((1, 3))

    def call(self, x, training=None):
        h = self.drop(ops.relu(self.dense(x)), training=training)
        return x + (h + self.places)[:, None][:, 0] * 2


class Free(keras.Model):
    def __init__(self):
        super().__init__()
        self.block, self.last = Block(), layers.Dense(2)

    def call(self, x, training=None):
        return self.last(self.block(x, training=training))


def records(x):
    model = Free()
    writer = TapeWriter("none")
    keras_models.record(model, x, writer=writer)  # builds it, which is no part of what it does
    assert len(writer.calls) == 11
    theirs = ops.convert_to_numpy(model(x))
    writer = TapeWriter("all")
    result = keras_models.record(
        model, x, writer=writer, loss=lambda y: ops.mean(y**2), training=False
    )
    assert [call.id for call in writer.calls] == [
        *("x", "block/dense", "block/relu", "block/dropout", "block/places", "block/add"),
        *("block/getitem", "block/getitem_1", "block/mul", "block/add_1", "dense_1"),
    ]
    graph = writer.graph("free")
    led_to = {edge.target for edge in graph.edges}
    assert {box.kind for box in graph.nodes if box.id not in led_to} == {"input", "constant"}
    np.testing.assert_array_equal(ops.convert_to_numpy(result), theirs)
    grads = writer.tape.names_at(len(writer.tape) - 1)["grads"]
    np.testing.assert_allclose(grads["dense_1"], 2 * theirs / theirs.size, rtol=1e-5)
    last = model.last
    weight = ops.convert_to_numpy(writer.calls[-2].outputs[0].array).T @ grads["dense_1"]
    np.testing.assert_allclose(grads[last.kernel.path], weight, rtol=1e-4, atol=1e-6)


def converts(x):
    i = keras.Input((3,))
    model = keras.Model(i, ops.tanh(layers.Dense(4)(i))[:, 1:] * 2)
    ours = ks.from_keras(model)
    theirs = model.predict(x, verbose=0)
    np.testing.assert_allclose(ours.predict(x), theirs, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(ks.to_keras(ours).predict(x, verbose=0), theirs)


def trains(x):
    class Boom(layers.Layer):
        def call(self, x):
            return ops.log(x)

    model = keras.Sequential([keras.Input((3,)), layers.Dense(2), Boom(name="boom")], name="net")
    model.compile("sgd", "mse", run_eagerly=keras.backend.backend() == "tensorflow")
    with warnings.catch_warnings(record=True) as caught, ks.trace(model) as tape:
        warnings.simplefilter("always")
        model.fit(x, x[:, :2], batch_size=2, verbose=0)
    said = [str(one.message) for one in caught if str(one.message).startswith("net: ")]
    assert said == [
        "net: epoch 0, batch 0: loss is nan; the first output that is not finite is that of "
        "'boom' (Boom)."
    ]
    assert [e.name for e in tape if e.kind == "node" and e.ph == "B"][:3] == [
        *("input_layer_1", "dense_3", "boom"),
    ]


def makes_weights_in_its_first_step(x):
    """As a model that was never called does on TensorFlow, where Keras does not build it before."""
    histories = []
    for context in (contextlib.nullcontext(), None):
        keras.utils.set_random_seed(3)
        model = Free()
        model._symbolic_build = lambda *args, **kwargs: None
        model.compile("adam", "mse")
        with context or ks.trace(model) as tape:
            history = model.fit(x, x[:, :2], batch_size=2, epochs=2, verbose=0, shuffle=False)
            histories.append(history.history)
    assert histories[0] == histories[1]
    told = Counter(e.name for e in tape if e.kind == "update.param" and e.ph == "B")
    assert told == {variable.path: 3 for variable in model.trainable_variables}  # of 4 batches

    model = Free()
    model._symbolic_build = lambda *args, **kwargs: None
    model.compile("sgd", "mse")
    with warnings.catch_warnings(record=True) as caught, ks.trace(model):
        warnings.simplefilter("always")
        model.train_on_batch(x * np.nan, x[:, :2])
    assert any("loss is nan" in str(one.message) for one in caught)


numbers = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
records(numbers)
converts(numbers)
trains(numbers)
makes_weights_in_its_first_step(numbers)
print("all of it holds on", keras.backend.backend())
