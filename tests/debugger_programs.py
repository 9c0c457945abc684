"""Small programs to debug."""

import numpy as np

from kerascope import backend as K
from kerascope.layers import Dense, Dropout, Lambda
from kerascope.models import Sequential


def fit_two_layers(epochs=1):
    first = Dense(3, activation="relu", input_shape=(2,), name="a")
    model = Sequential([first, Dense(1, name="b")])
    model.compile("sgd", "mse")
    model.set_weights([np.full_like(w, 0.5) for w in model.get_weights()])
    x = np.arange(8.0).reshape(4, 2)
    model.fit(x, x[:, :1], batch_size=2, epochs=epochs, shuffle=False, verbose=0)
    return model


def fit_with_dropout():
    K.clear_session()
    np.random.seed(7)
    model = Sequential([Dense(4, input_shape=(2,), name="a"), Dropout(0.5), Dense(1, name="b")])
    model.compile("sgd", "mse")
    x = np.arange(8.0).reshape(4, 2)
    history = model.fit(x, x[:, :1], batch_size=2, epochs=2, verbose=0)
    return history.history["loss"], model.get_weights()


def fit_with_nan():
    model = Sequential([Lambda(lambda x: K.log(x), input_shape=(2,), name="log"), Dense(1)])
    model.compile("sgd", "mse")
    model.fit(-np.ones((2, 2)), np.ones((2, 1)), verbose=0)
