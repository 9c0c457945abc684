"""Your own engine, part 7: a Model with compile, fit and predict.

- categorical_crossentropy(y_true, y_pred): for each row, minus the sum of y_true * log(y_pred).
  mean_squared_error(y_true, y_pred): (y_pred - y_true) squared, for each element. Both return a
  tensor, which `compile` averages.
- compile(optimizer, loss): the loss is a name in LOSSES or a function. Make a `target` tensor with
  the shape of the output, `total_loss` = mean(loss(target, output)), and `train_function`: a
  Function of the inputs and the target, that returns the total loss and has the optimizer's
  updates.
- train_on_batch(x, y): one step; returns the loss as a float, that of the weights before the step.
- fit: in each epoch go through the rows in batches of `batch_size`; the last batch can be smaller.
  With shuffle=True the rows are in a new random order in each epoch, by np.random.permutation, and
  x and y stay together. Return the list with the mean loss of each epoch: a batch counts by its
  rows.
- predict(x): the array of the first output.

The network is that of part 4. Fill in the missing parts.
"""

import numpy as np
from my_engine.function import Function
from my_engine.graph import Log, Sum, Tensor, mean
from my_engine.network import Network


def categorical_crossentropy(y_true, y_pred):
    return ...


def mean_squared_error(y_true, y_pred):
    return ...


LOSSES = {
    "categorical_crossentropy": categorical_crossentropy,
    "mean_squared_error": mean_squared_error,
}


class Model(Network):
    def compile(self, optimizer, loss):
        self.optimizer = optimizer
        self.loss = ...
        self.target = ...
        self.total_loss = ...
        self.train_function = ...

    def train_on_batch(self, x, y):
        return ...

    def fit(self, x, y, batch_size=32, epochs=1, shuffle=True):
        losses = []
        for _ in range(epochs):
            losses.append(...)
        return losses

    def predict(self, x):
        return ...
