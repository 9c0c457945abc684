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
    return (np.argmax(model.predict(x), axis=1) == y).sum() / len(y)


def train(x, y):
    model = make_model()
    losses = []
    while not losses or losses[-1] > 0.15:
        losses += model.fit(x, y, batch_size=16)
    return model, losses
