"""The column of the package autograd: NumPy with automatic gradients of Python functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from benchmarks.paired.hand.flat import BETA_1, BETA_2, EPSILON, RHO
from benchmarks.paired.hand.losses import activated
from benchmarks.paired.peers.base import Peer

FLOAT = np.float32


class Net:
    """The weights of a net, and the moments of its optimizer."""

    def __init__(self, first_weights: list[np.ndarray]) -> None:
        self.weights = [w.copy() for w in first_weights]
        self.first_moments = [np.zeros_like(w) for w in first_weights]
        self.second_moments = [np.zeros_like(w) for w in first_weights]
        self.steps = 0


class Column(Peer):
    """The column of autograd, which makes the gradient function of a loss in plain NumPy."""

    def start(self) -> None:
        """Import autograd and its NumPy."""
        import autograd
        import autograd.numpy

        self.np: Any = autograd.numpy
        self.loss_and_gradients = autograd.value_and_grad(self.loss)

    def build(self) -> Net:
        """Return the net with the initial weights."""
        return Net(self.first_weights)

    def outputs_before_activation(self, weights: Any, x: Any) -> Any:
        """Return the outputs of the net before its last activation."""
        makers = {
            "dense": self.dense,
            "convolutional": self.convolutional,
            "recurrent": self.recurrent,
        }
        return makers[self.workload.kind](weights, x)

    def dense(self, weights: Any, x: Any) -> Any:
        """Return the outputs of a chain of dense layers: products, biases and relus."""
        for k in range(0, len(weights), 2):
            x = self.np.dot(x, weights[k]) + weights[k + 1]
            if k < len(weights) - 2:
                x = self.np.maximum(x, FLOAT(0))
        return x

    def convolve(self, x: Any, kernel: Any, bias: Any) -> Any:
        """Return the output of a 3 x 3 convolution, as one product of the shifted images."""
        height, width = x.shape[1] - 2, x.shape[2] - 2
        shifted = [x[:, i : i + height, j : j + width] for i in range(3) for j in range(3)]
        patches = self.np.concatenate(shifted, axis=3)
        filters = kernel.shape[-1]
        flat = self.np.dot(patches.reshape(-1, patches.shape[3]), kernel.reshape(-1, filters))
        return self.np.maximum(flat.reshape(x.shape[0], height, width, filters) + bias, FLOAT(0))

    def convolutional(self, weights: Any, x: Any) -> Any:
        """Return the outputs of the net of W3, which has two convolutions."""
        x = self.convolve(x, weights[0], weights[1])
        x = self.convolve(x, weights[2], weights[3])
        x = self.np.max(x.reshape(x.shape[0], 12, 2, 12, 2, 64), axis=(2, 4))
        return self.dense(weights[4:], x.reshape(x.shape[0], -1))

    def sigmoid(self, z: Any) -> Any:
        """Return the logistic function."""
        return self.np.tanh(z * FLOAT(0.5)) * FLOAT(0.5) + FLOAT(0.5)

    def recurrent(self, weights: Any, x: Any) -> Any:
        """Return the outputs of W4's LSTM. One product with the kernel serves all time steps."""
        kernel, recurrent_kernel, bias, *dense = weights
        samples, times, features = x.shape
        units, tanh = self.workload.units, self.np.tanh
        by_time = x.transpose(1, 0, 2).reshape(-1, features)
        projected = self.np.dot(by_time, kernel).reshape(times, samples, 4 * units) + bias
        output = state = np.zeros((samples, units), "float32")
        for t in range(times):
            z = projected[t] + self.np.dot(output, recurrent_kernel)
            i, f, c, o = (z[:, k * units : (k + 1) * units] for k in range(4))
            state = self.sigmoid(f) * state + self.sigmoid(i) * tanh(c)
            output = self.sigmoid(o) * tanh(state)
        return self.dense(dense, output)

    def loss(self, weights: Any, x: Any, y: Any) -> Any:
        """Return the loss of a batch."""
        z, kind, anp = self.outputs_before_activation(weights, x), self.workload.loss, self.np
        if kind == "binary_crossentropy":
            return anp.mean(anp.maximum(z, FLOAT(0)) - z * y + anp.log1p(anp.exp(-anp.abs(z))))
        if kind == "categorical_crossentropy":
            z = z - np.max(getattr(z, "_value", z), axis=1, keepdims=True)
            logarithm = anp.log(anp.sum(anp.exp(z), axis=1, keepdims=True))
            return -anp.mean(anp.sum(y * (z - logarithm), axis=1))
        return anp.mean((z - y) ** 2)

    def train(self, net: Net, x: np.ndarray, y: np.ndarray) -> float:
        """Make one train step, in which the optimizer updates weight by weight; return the loss."""
        loss, gradients = self.loss_and_gradients(net.weights, x, y)
        rate, net.steps = self.workload.learning_rate, net.steps + 1
        moments = zip(net.first_moments, net.second_moments, strict=True)
        early = math.sqrt(1 - BETA_2**net.steps) / (1 - BETA_1**net.steps)
        for p, g, (m, v) in zip(net.weights, gradients, moments, strict=True):
            if self.workload.optimizer == "sgd":
                p -= FLOAT(rate) * g
            elif self.workload.optimizer == "rmsprop":
                v *= FLOAT(RHO)
                v += FLOAT(1 - RHO) * g * g
                p -= FLOAT(rate) * g / (np.sqrt(v) + FLOAT(EPSILON))
            else:
                m += (g - m) * FLOAT(1 - BETA_1)
                v += (g * g - v) * FLOAT(1 - BETA_2)
                p -= FLOAT(rate * early) * m / (np.sqrt(v) + FLOAT(EPSILON))
        return float(loss)

    def forward(self, net: Net, x: np.ndarray) -> np.ndarray:
        """Return the outputs of one batch."""
        return activated(self.outputs_before_activation(net.weights, x).T, self.workload.last)
