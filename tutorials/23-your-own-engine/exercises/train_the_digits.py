"""Train the digits with your own engine.

This is the end of the course: a model of your own engine that reads handwritten digits. The checker
takes all parts of my_engine that have passed, and our solutions for the others. It also trains a
model of your engine and one of kerascope for ten steps, and compares the losses.

- `make_model()`: a compiled Model with an Input of 64, and an output of 10 probabilities. Which
  layers are between them, and which rate SGD has, is your choice.
- `accuracy(model, x, y)`: the share of rows whose most probable digit is the one in y, from 0 to 1;
  y has the digits as numbers from 0 to 9.
- `train(x, y)`: make a model, fit it to the rows x and the one-hot targets y, and return
  (model, losses of the epochs).

At least 95 of 100 test digits must be read right, after at most a few seconds. The last lines show
the result when you run the file.
"""

import numpy as np
from my_engine.fit import Model
from my_engine.function import SGD
from my_engine.layer import Dense, Input

from kerascope.datasets import digits


def make_model():
    return ...


def accuracy(model, x, y):
    return ...


def train(x, y):
    return ...


if __name__ == "__main__":
    (x, y), (x_test, y_test) = digits.load_data()
    model, losses = train(x.reshape(-1, 64) / 16, np.eye(10)[y])
    share = accuracy(model, x_test.reshape(-1, 64) / 16, y_test)
    print(f"loss {losses[0]:.3f} -> {losses[-1]:.3f}, {share:.1%} of the digits are right")
