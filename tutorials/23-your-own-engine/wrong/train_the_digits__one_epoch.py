"""One epoch is not enough.

en: expected at least 95% of the test digits to be read right, your model reads 82.8%
zh: 测试数字至少要认对 95%，你的模型认对 82.8%
"""

import numpy as np
from my_engine.fit import Model
from my_engine.function import SGD
from my_engine.layer import Dense, Input


def make_model():
    pixels = Input((64,))
    hidden = Dense(64, activation="relu")(pixels)
    model = Model(pixels, Dense(10, activation="softmax")(hidden))
    model.compile(SGD(lr=0.1), "categorical_crossentropy")
    return model


def accuracy(model, x, y):
    return np.mean(model.predict(x).argmax(axis=-1) == y)


def train(x, y):
    model = make_model()
    losses = model.fit(x, y, epochs=1)
    return model, losses
