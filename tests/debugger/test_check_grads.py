"""`check grads`: a wrong gradient is found and its op named; right ones are left in peace."""

import numpy as np
import pytest
from piped import answers, piped
from zoo import ZOO

from kerascope import backend as K
from kerascope.backend.graph import Op
from kerascope.layers import (
    GRU,
    LSTM,
    Activation,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Lambda,
    LayerNormalization,
    LeakyReLU,
    MaxPooling2D,
    SimpleRNN,
)
from kerascope.layers.ops.core import custom_gradient
from kerascope.models import Sequential
from kerascope.utils import set_random_seed

RNG = np.random.default_rng(0)
X = RNG.normal(size=(16, 6)).astype("float32")
Y = (X[:, :1] > 0).astype("float32")
SERIES = RNG.normal(size=(16, 7, 3)).astype("float32")
IMAGES = RNG.normal(size=(16, 8, 8, 2)).astype("float32")
IDS = RNG.integers(0, 20, size=(16, 5))
CLASSES = np.eye(3)[RNG.integers(0, 3, 16)]


def fitting(*layers, x=X, y=Y, loss="mse", **kwargs):
    """Return a program that trains on two batches."""

    def program():
        set_random_seed(1)
        K.clear_session()
        model = Sequential([layer() for layer in layers])
        model.compile("adam", loss, **kwargs)
        model.fit(x, y, batch_size=8, epochs=1, verbose=0)

    return program


def checked(program, *go):
    text = piped(program, *(go or ("c", "goto batch 1")), "check grads")
    return answers(text, "check grads")[0]


def found_in(lines):
    return [line for line in lines if line.startswith("wrong is the gradient of ")]


class Cube(Op):
    def infer_shape(self, x):
        return x.shape

    def perform(self, x):
        return x**3

    def grad(self, inputs, outputs, output_grads):
        return [3 * inputs[0] ** 2 * output_grads[0]]


class WrongCube(Cube):
    def grad(self, inputs, outputs, output_grads):
        return [2 * inputs[0] ** 2 * output_grads[0]]


class RoundedCube(Cube):
    def perform(self, x):
        return (x**3).astype("float32")


class WrongRoundedCube(WrongCube, RoundedCube):
    pass


class NoGradient(Cube):
    def grad(self, inputs, outputs, output_grads):
        return [None]


class ForgetsWhatArrives(Cube):
    def grad(self, inputs, outputs, output_grads):
        return [3 * inputs[0] ** 2]


class WrongByTheSecond(Op):
    def infer_shape(self, x, y):
        return x.shape

    def perform(self, x, y):
        return x * y

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        return [y * output_grads[0], -x * output_grads[0]]


def wrong_at_one_place(x):
    y = K.tanh(x)

    def backward(dy):
        first = np.eye(1, 4, dtype="float32")
        return dy * (1 - y * y) * (1 + 0.01 * first)

    return y, backward


def sound_one(x):
    y = K.tanh(x)

    def backward(dy):
        return dy * (1 - y * y)

    return y, backward


RIGHT = {
    "dense": fitting(
        lambda: Dense(8, activation="relu", input_shape=(6,)), lambda: Dropout(0.3),
        lambda: Dense(1, kernel_regularizer="l2", activity_regularizer="l1"),
    ),
    "lstm": fitting(lambda: LSTM(4, input_shape=(7, 3)), lambda: Dense(1), x=SERIES),
    "gru": fitting(
        lambda: GRU(4, input_shape=(7, 3), return_sequences=True), lambda: SimpleRNN(3),
        lambda: Dense(1), x=SERIES,
    ),
    "cnn": fitting(
        lambda: Conv2D(3, 3, activation="relu", input_shape=(8, 8, 2)), lambda: MaxPooling2D(2),
        Flatten, lambda: Dense(1, activation="sigmoid"), x=IMAGES, loss="binary_crossentropy",
    ),
    "normalized": fitting(
        lambda: Dense(5, input_shape=(6,)), BatchNormalization, lambda: Activation("tanh"),
        LayerNormalization, lambda: LeakyReLU(), lambda: Dense(1), loss="mae",
    ),
    "embedding": fitting(
        lambda: Embedding(20, 4, input_length=5), Flatten, lambda: Dense(3, activation="softmax"),
        x=IDS, y=CLASSES, loss="categorical_crossentropy",
    ),
    "own op": fitting(lambda: Dense(4, input_shape=(6,)), lambda: Lambda(Cube()), lambda: Dense(1)),
    "own op in float32": fitting(
        lambda: Dense(4, input_shape=(6,)), lambda: Lambda(RoundedCube()), lambda: Dense(1)
    ),
    "custom_gradient": fitting(
        lambda: Dense(4, input_shape=(6,)), lambda: Lambda(custom_gradient(sound_one)),
        lambda: Dense(1),
    ),
    "stopped on purpose": fitting(
        lambda: Dense(4, input_shape=(6,)),
        lambda: Lambda(lambda x: x * K.stop_gradient(K.sigmoid(x))), lambda: Dense(1),
    ),
    "clipped by its norm": fitting(lambda: Dense(1, input_shape=(6,)), x=100 * X),
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right_gradients_agree(name):
    lines = checked(RIGHT[name])
    assert lines[-1] == "they agree"
    assert ("in float32, for rounded_cube:" in lines[0]) == (name == "own op in float32")


QUICK = ("diamond", "shared_layer", "between_calls", "siamese")
MODELS = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ZOO]


@pytest.mark.parametrize("name", MODELS)
def test_models_of_every_shape_agree(name):
    def program():
        model = ZOO[name]()
        rng = np.random.RandomState(0)
        x = [rng.normal(size=(4, *t.shape[1:])) for t in model.inputs]
        y = [rng.normal(size=(4, *[size or 4 for size in t.shape[1:]])) for t in model.outputs]
        model.compile("adam", "mse")
        model.train_on_batch(x, y)

    lines = checked(program, "tbreak event:function train_function", "c")
    assert lines[-1] == "they agree"


@pytest.mark.parametrize(
    ("act", "named"),
    [
        (WrongCube(), "(WrongCube.grad, in mine)"),
        (WrongRoundedCube(), "(WrongRoundedCube.grad, in mine)"),
        (lambda x: x + NoGradient()(x), "(NoGradient.grad, in mine)"),
        (ForgetsWhatArrives(), "(ForgetsWhatArrives.grad, in mine)"),
        (lambda x: WrongByTheSecond()(x, K.tanh(x)), "(WrongByTheSecond.grad, in mine)"),
        (custom_gradient(wrong_at_one_place), "(backward, in mine)"),
    ],
    ids=["factor", "float32", "none", "chain rule", "second input", "custom_gradient"],
)
@pytest.mark.parametrize("first", [[], ["b weight:none"]], ids=["unheard", "heard"])
def test_a_wrong_gradient_is_found_and_nothing_else_is_blamed(act, named, first):
    program = fitting(
        lambda: Dense(4, input_shape=(6,)), lambda: Lambda(act, name="mine"),
        lambda: Dense(3, activation="relu"), lambda: Dense(1),
    )  # fmt: skip
    lines = checked(program, *first, "c", "goto batch 1")
    (told,) = found_in(lines)
    assert named in told
    wrong = [line.split()[1] for line in lines if line.startswith("!")]
    assert "dense_1/kernel" in wrong
    assert not any(name.startswith(("dense_2", "dense_3")) for name in wrong)
    assert "test_check_grads.py:" in lines[lines.index(told) + 1]
    number = told.rpartition("by its input ")[2]
    assert ("tanh" in number) == ("WrongByTheSecond" in named)


def test_bends_are_no_false_alarms_and_are_counted():
    program = fitting(
        lambda: Dense(8, activation="relu", kernel_initializer="zeros", input_shape=(6,)),
        lambda: Dense(1, kernel_initializer="ones"),
    )
    lines = checked(program, "unt forward")
    assert lines[-1] == "they agree"
    assert "18 are at a bend (relu at 0, two equal maxima)" in lines[-2]
    equal = fitting(
        lambda: Conv2D(3, 3, padding="same", activation="relu", input_shape=(8, 8, 2)),
        lambda: MaxPooling2D(2), Flatten, lambda: Dense(1), x=np.round(np.abs(IMAGES)),
    )  # fmt: skip
    assert checked(equal, "unt forward")[-1] == "they agree"


def test_nothing_is_changed_by_it():
    results = []

    def program():
        set_random_seed(1)
        K.clear_session()
        layers = [Dense(4, input_shape=(6,)), Dropout(0.5), BatchNormalization(), Dense(1)]
        model = Sequential(layers)
        model.compile("adam", "mse")
        model.fit(X, Y, batch_size=8, epochs=2, verbose=0)
        results.append(model.get_weights())

    program()
    checked(program, "unt backward")
    checked(program, "tbreak batch 1", "c", "check grads", "c", "goto batch 0")
    for weights in results[1:]:
        assert all(map(np.array_equal, weights, results[0]))


def test_the_same_numbers_are_moved_each_time():
    program = RIGHT["dense"]
    assert checked(program) == checked(program)


@pytest.mark.parametrize(
    ("program", "go", "words"),
    [
        (RIGHT["dense"], ["c"], "check grads: needs an event"),
        (RIGHT["dense"], ["c", "goto 3"], "they agree"),
        (
            lambda: Sequential([Dense(1, input_shape=(6,))]).predict(X),
            ["unt forward"],
            "predict_function trains nothing, so it has no gradients",
        ),
        (fitting(lambda: Dense(1, input_shape=(6,)), x=X * np.inf), ["unt forward"], "The loss is"),
    ],
)
def test_where_there_is_no_gradient_that_is_said(program, go, words):
    assert words in "\n".join(checked(program, *go))
