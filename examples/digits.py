"""Handwritten digits, 8x8 pixels: a net with one hidden layer reads 98 of 100 after a second.

python examples/digits.py --seed 1
"""

import argparse

import numpy as np

from kerascope import backend as K
from kerascope.datasets import digits
from kerascope.layers import Dense, Input
from kerascope.models import Model
from kerascope.optimizers import Adam

EPOCHS = 30


def load_pixels():
    """Return the digits as rows of 64 numbers from 0 to 1."""
    (x_train, y_train), (x_test, y_test) = digits.load_data()
    return (x_train.reshape(-1, 64) / 16, y_train), (x_test.reshape(-1, 64) / 16, y_test)


def make_model():
    """Return the compiled 64-128-10 network."""
    inputs = Input(shape=(64,), name="pixels")
    hidden = Dense(128, activation="relu", name="hidden")(inputs)
    outputs = Dense(10, activation="softmax", name="digit")(hidden)
    model = Model(inputs=inputs, outputs=outputs, name="digits")
    model.compile(Adam(lr=0.003), "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def train(seed=0):
    """Return a trained model and its accuracy on the test set."""
    np.random.seed(seed)
    K.clear_session()
    (x_train, y_train), (x_test, y_test) = load_pixels()
    model = make_model()
    model.fit(x_train, y_train, epochs=EPOCHS, verbose=0)
    _, accuracy = model.evaluate(x_test, y_test, verbose=0)
    return model, accuracy


def main():
    """Train and print the accuracy."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=0, help="of the weights and the shuffling")
    seed = parser.parse_args().seed
    model, accuracy = train(seed)
    model.summary()
    print(f"seed {seed}: {accuracy:.1%} of the 360 test digits are read right")


if __name__ == "__main__":
    main()
