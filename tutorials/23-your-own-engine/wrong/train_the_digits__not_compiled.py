"""The model is not compiled.

en: expected make_model() to return a compiled model: call model.compile
zh: make_model() 应返回编译好的模型：请调用 model.compile
"""

import numpy as np
from my_engine.fit import Model
from my_engine.function import SGD
from my_engine.layer import Dense, Input


def make_model():
    pixels = Input((64,))
    hidden = Dense(64, activation="relu")(pixels)
    model = Model(pixels, Dense(10, activation="softmax")(hidden))
    return model


def accuracy(model, x, y):
    return np.mean(model.predict(x).argmax(axis=-1) == y)


def train(x, y):
    model = make_model()
    losses = model.fit(x, y, epochs=20)
    return model, losses
