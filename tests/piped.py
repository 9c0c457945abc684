"""The model debugger on a program and piped commands; used by tests/debugger."""

import io
from contextlib import suppress

import numpy as np

from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Session
from kerascope.layers import Add, Dense, Dropout, Input
from kerascope.models import Model, Sequential
from kerascope.optimizers import SGD


def piped(program, *commands):
    """Run a program in the debugger, give it some commands and then `q`; return what it says."""
    return session_of(program, *commands)[1]


def session_of(program, *commands):
    """Return the session too."""
    out = io.StringIO()
    debugger = ModelDebugger(stdin=io.StringIO("\n".join([*commands, "q", ""])), stdout=out)
    session = debugger.session = Session(debugger.ask)
    with suppress(Quitting):
        session.run(program)
    return session, out.getvalue()


def answers(text, command):
    """Return the lines that were said at each time that a command was given."""
    pieces = [piece.partition("\n") for piece in text.split("(Kdb) ")]
    return [said.splitlines() for given, _, said in pieces if given == command]


def toy_model():
    x = Input(shape=(3,), name="x")
    h = Dense(8, activation="relu", kernel_initializer="ones", name="d1")(x)
    k = Dense(8, activation="relu", kernel_initializer="ones", name="d2")(h)
    h = Dropout(0.5, seed=3, name="drop")(Add(name="sum")([h, k]))
    return Model(x, Dense(1, kernel_initializer="ones", name="last")(h), name="toy")


def fit_toy():
    model = toy_model()
    model.compile("rmsprop", "mse")
    numbers = np.random.RandomState(0)
    x, y = numbers.normal(size=(8, 3)), np.ones((8, 1))
    model.fit(x, y, batch_size=4, epochs=1, shuffle=False, verbose=0)
    return model


def gan():
    """Train a discriminator and a generator in turn, each with an optimizer of its own."""
    numbers = np.random.RandomState(0)
    D = Sequential([Dense(1, activation="sigmoid", input_shape=(2,))], name="D")
    D.compile(SGD(lr=0.01), "mse")
    G = Sequential([Dense(2, input_shape=(3,))], name="G")
    z = Input(shape=(3,))
    whole = Model(z, D(G(z)), name="gan")
    whole.compile(SGD(lr=0.02), "mse")
    for _ in range(2):
        D.train_on_batch(numbers.randn(4, 2), np.ones((4, 1)))
        whole.train_on_batch(numbers.randn(4, 3), np.ones((4, 1)))
        whole.predict_on_batch(numbers.randn(4, 3))
