"""JAX beside NumPy: ten training steps of whole models end with the same weights.

The models are those of benchmarks/paired (W1 to W5, smaller here), a GPT, and models with a state,
a mask, random numbers, shared layers, or two optimizers. Each pair of runs starts from the same
weights, trains on the same batches and draws the same random numbers.
"""

import numpy as np
import pytest
from engine_runs import NEAR, assert_compiled, assert_same, on_each_engine, state_of

from kerascope import Input, Model, Sequential, optimizers
from kerascope import backend as K
from kerascope.layers import (
    GRU,
    LSTM,
    Activation,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Lambda,
    LayerNormalization,
    MaxPooling2D,
    MultiHeadAttention,
    Subtract,
)

pytest.importorskip("jax", reason="the extra `jax` is not installed")
pytestmark = pytest.mark.live

STEPS = 10
ROWS = 12


def same_training(make, batches, dtype, exceptions=()):
    """Assert that a model is the same after training on both engines; return both models."""

    def run():
        model = make()
        logs = [model.train_on_batch(*batch) for batch in batches]
        return model, np.array(logs)

    (wanted, wanted_logs), (found, logs) = on_each_engine(run, dtype)
    assert_compiled(found.train_function)
    np.testing.assert_allclose(logs, wanted_logs, rtol=NEAR[dtype])
    assert_same(state_of(found), state_of(wanted), NEAR[dtype], exceptions)
    return found, wanted


# --- the models -----------------------------------------------------------------------------------


def compiled(model, optimizer, loss, **options):
    model.compile(optimizer, loss, **options)
    return model


def w1():
    hidden = [Dense(8, activation="relu", input_shape=(5,)), Dense(8, activation="relu")]
    model = Sequential([*hidden, Dense(1, activation="sigmoid")])
    return compiled(model, "rmsprop", "binary_crossentropy")


def w2():
    hidden = [Dense(16, activation="relu", input_shape=(5,)), Dense(16, activation="relu")]
    model = Sequential([*hidden, Dense(3, activation="softmax")])
    return compiled(model, "adam", "categorical_crossentropy", metrics=["accuracy"])


def w3():
    layers = [
        Conv2D(4, 3, activation="relu", input_shape=(9, 9, 1)),
        Conv2D(6, 3, activation="relu"),
        MaxPooling2D(),
        Dropout(0.25),
        Flatten(),
        Dense(8, activation="relu"),
        Dropout(0.5),
        Dense(3, activation="softmax"),
    ]
    return compiled(Sequential(layers), "adam", "categorical_crossentropy")


def w4():
    model = Sequential([LSTM(6, recurrent_activation="sigmoid", input_shape=(9, 4)), Dense(1)])
    return compiled(model, "adam", "mse")


def w5():
    layers = [Dense(5, activation="relu", input_shape=(5,))]
    layers += [Dense(5, activation="relu") for _ in range(18)]
    return compiled(Sequential([*layers, Dense(1)]), optimizers.SGD(1e-3), "mse")


LETTERS, TIMES, WIDTH = 12, 8, 16


def positions(letters):
    return letters * 0 + K.arange(0, TIMES, dtype="int32")


def gpt():
    letters = Input((TIMES,), dtype="int32")
    places = Lambda(positions)(letters)
    x = Add()([Embedding(LETTERS, WIDTH)(letters), Embedding(TIMES, WIDTH)(places)])
    y = LayerNormalization()(x)
    y = MultiHeadAttention(2, WIDTH // 2, dropout=0.1)(y, y, use_causal_mask=True)
    x = Add()([x, y])
    y = Dense(2 * WIDTH, activation="gelu")(LayerNormalization()(x))
    x = Add()([x, Dropout(0.1)(Dense(WIDTH)(y))])
    y = Dense(LETTERS, activation="softmax")(LayerNormalization()(x))
    return compiled(Model(letters, y), "adam", "sparse_categorical_crossentropy")


def normalized():
    hidden = [Dense(8, input_shape=(5,)), BatchNormalization(), Activation("relu"), Dropout(0.3)]
    model = Sequential([*hidden, Dense(3, activation="softmax")])
    return compiled(model, "adam", "categorical_crossentropy")


def masked(layer):
    def make():
        letters = Embedding(LETTERS, 5, mask_zero=True, input_length=TIMES)
        recurrent = layer(4, dropout=0.2, recurrent_dropout=0.2)
        model = Sequential([letters, recurrent, Dense(3, activation="softmax")])
        return compiled(model, "adam", "categorical_crossentropy")

    return make


def siamese():
    tower = Sequential([Dense(8, activation="tanh", input_shape=(5,)), Dense(4)])
    x, y = Input((5,)), Input((5,))
    near = Dense(1, activation="sigmoid")(Subtract()([tower(x), tower(y)]))
    return compiled(Model([x, y], near), "adam", "binary_crossentropy")


# --- their data -----------------------------------------------------------------------------------


DRAW = np.random.default_rng(3)


def normal(*shape):
    return DRAW.normal(size=(ROWS, *shape))


def letters():
    return DRAW.integers(0, LETTERS, (ROWS, TIMES))


def classes():
    return np.eye(3)[DRAW.integers(0, 3, ROWS)]


def zeros_and_ones():
    return DRAW.integers(0, 2, (ROWS, 1))


# Each model, a function that returns a batch, and weights that may differ: a gradient that is 0
# except for rounding, which Adam makes as large as any other. Such are a bias before a
# BatchNormalization, which subtracts the mean, and the bias of the keys of attention, which adds
# the same to all scores of a query.
MODELS = {
    "W1": (w1, lambda: (normal(5), zeros_and_ones()), ()),
    "W2": (w2, lambda: (normal(5), classes()), ()),
    "W3, with dropout": (w3, lambda: (normal(9, 9, 1), classes()), ()),
    "W4": (w4, lambda: (normal(9, 4), normal(1)), ()),
    "W5": (w5, lambda: (normal(5), normal(1)), ()),
    "GPT": (gpt, lambda: (letters(), letters()[..., None]), ("key/bias",)),
    "BatchNormalization": (
        normalized,
        lambda: (normal(5), classes()),
        ("dense_1/bias", "batch_normalization_1/moving_mean"),
    ),
    "masked LSTM": (masked(LSTM), lambda: (letters(), classes()), ()),
    "masked GRU": (masked(GRU), lambda: (letters(), classes()), ()),
    "shared layers": (siamese, lambda: ([normal(5), normal(5)], zeros_and_ones()), ()),
}


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("name", MODELS)
def test_ten_steps_give_the_same_weights_and_losses(name, dtype):
    make, batch, exceptions = MODELS[name]
    same_training(make, [batch() for _ in range(STEPS)], dtype, exceptions)


@pytest.mark.parametrize("name", ["GPT", "BatchNormalization"])
def test_with_sgd_the_exceptions_stay_as_small_as_rounding(name):
    make, batch, exceptions = MODELS[name]

    def with_sgd():
        model = make()
        return compiled(model, "sgd", model.loss)

    batches = [batch() for _ in range(STEPS)]
    found, wanted = same_training(with_sgd, batches, "float32", exceptions)
    for v, w in zip(found.weights, wanted.weights, strict=True):
        assert np.max(np.abs(v.get_value() - w.get_value())) <= NEAR["float32"]


# --- the optimizers -------------------------------------------------------------------------------


OPTIMIZERS = {
    "SGD": lambda: optimizers.SGD(0.01, momentum=0.9, nesterov=True, decay=0.1, clipnorm=0.5),
    "RMSprop": lambda: optimizers.RMSprop(clipvalue=0.1),
    "Adagrad": optimizers.Adagrad,
    "Adadelta": optimizers.Adadelta,
    "Adam": lambda: optimizers.Adam(amsgrad=True, decay=0.1),
    "AdamW": optimizers.AdamW,
    "Adamax": optimizers.Adamax,
    "Nadam": optimizers.Nadam,
    "Ftrl": optimizers.Ftrl,
    "Lamb": optimizers.Lamb,
    "Lion": optimizers.Lion,
    "Muon": optimizers.Muon,
}


def test_every_optimizer_is_in_the_table():
    assert OPTIMIZERS.keys() == set(optimizers.update_rules.__all__)


@pytest.mark.parametrize("dtype", NEAR)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_ten_steps_of_every_optimizer_are_the_same(name, dtype):
    def make():
        model = Sequential([Dense(6, activation="tanh", input_shape=(5,)), Dense(3)])
        return compiled(model, OPTIMIZERS[name](), "mse")

    same_training(make, [(normal(5), normal(3)) for _ in range(STEPS)], dtype)


# --- states, and functions in turn ----------------------------------------------------------------


@pytest.mark.parametrize("dtype", NEAR)
def test_a_stateful_lstm_carries_its_states_until_they_are_reset(dtype):
    batches = [(normal(3, 2), normal(1)) for _ in range(STEPS)]

    def run():
        model = Sequential([LSTM(4, stateful=True, batch_input_shape=(ROWS, 3, 2)), Dense(1)])
        model.compile("rmsprop", "mse")
        outputs, states = [], []
        for number, (x, y) in enumerate(batches):
            if number == 6:
                model.reset_states()
            outputs += [model.train_on_batch(x, y), model.predict_on_batch(x)]
            states += [model.test_on_batch(x, y), *map(K.get_value, model.layers[0].states)]
        return model, [np.asarray(y, dtype) for y in [*outputs, *states]]

    (wanted, wanted_values), (found, values) = on_each_engine(run, dtype)
    assert_same(state_of(found), state_of(wanted), NEAR[dtype])
    assert_same(dict(enumerate(values)), dict(enumerate(wanted_values)), NEAR[dtype])
    for function in (found.train_function, found.test_function, found.predict_function):
        assert_compiled(function)


@pytest.mark.filterwarnings("ignore:.*Discrepancy between trainable weights")
@pytest.mark.parametrize("dtype", NEAR)
def test_a_gan_with_two_optimizers_in_turn(dtype):
    noise = [normal(3) for _ in range(STEPS)]
    real = [normal(4) for _ in range(STEPS)]
    ones, zeros = np.ones((ROWS, 1)), np.zeros((ROWS, 1))

    def run():
        make = Sequential([Dense(8, activation="relu", input_shape=(3,)), Dense(4)])
        judge = Sequential(
            [
                Dense(8, activation="relu", input_shape=(4,)),
                Dropout(0.3),
                Dense(1, activation="sigmoid"),
            ]
        )
        judge.compile(optimizers.Adam(2e-3), "binary_crossentropy")
        judge.trainable = False
        both = compiled(Sequential([make, judge]), "rmsprop", "binary_crossentropy")
        losses = []
        for z, x in zip(noise, real, strict=True):
            losses.append(judge.train_on_batch(x, ones))
            losses.append(judge.train_on_batch(make.predict(z), zeros))
            losses.append(both.train_on_batch(z, ones))
        return judge, both, np.array(losses)

    (judge, both, wanted_losses), (other_judge, other_both, losses) = on_each_engine(run, dtype)
    np.testing.assert_allclose(losses, wanted_losses, rtol=NEAR[dtype])
    for found, wanted in ((other_judge, judge), (other_both, both)):
        assert_same(state_of(found), state_of(wanted), NEAR[dtype])
        assert_compiled(found.train_function)
