import numpy as np
from my_engine.fit import Model
from my_engine.function import SGD
from my_engine.graph import Log, Sum
from my_engine.layer import Dense, Input


def loss(y_true, y_pred):
    return Sum(axis=-1)(-y_true * Log()(y_pred + 1e-9))


def make_model():
    pixels = Input((64,))
    hidden = Dense(64, activation="relu")(pixels)
    model = Model(pixels, Dense(10, activation="softmax")(hidden))
    model.compile(SGD(lr=0.1), loss)
    return model


def accuracy(model, x, y):
    return np.mean(model.predict(x).argmax(axis=-1) == y)


def train(x, y):
    model = make_model()
    losses = model.fit(x, y, epochs=20)
    return [model, losses]
