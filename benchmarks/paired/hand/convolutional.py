"""The net of W3 and W6 in hand-written NumPy: `convolution.py` and two dense layers."""

from __future__ import annotations

import numpy as np

from benchmarks.paired.hand.buffers import empty
from benchmarks.paired.hand.convolution import FLAT, SIDE, BatchOfImages, Convolutions
from benchmarks.paired.hand.flat import FlatWeights
from benchmarks.paired.workloads import Workload

HIDDEN, CLASSES = 128, 10
SHAPES: list[tuple[int, ...]] = [
    (10, 32),
    (288, 64),
    (64,),
    (FLAT, HIDDEN),
    (HIDDEN,),
    (HIDDEN, CLASSES),
    (CLASSES,),
]


class Batch(BatchOfImages):
    """The buffers of one batch size, for the convolutions and for the dense layers."""

    def __init__(self, samples: int) -> None:
        super().__init__(samples)
        self.flat_outputs = self.outputs.reshape(samples, FLAT)
        self.flat_gradients = self.gradients.reshape(samples, FLAT)
        self.hidden, self.by_hidden = empty((samples, HIDDEN)), empty((samples, HIDDEN))
        self.z, self.by_z = empty((samples, CLASSES)), empty((samples, CLASSES))


class ConvolutionalNet:
    """The convolutional net of W3 in hand-written NumPy. Its arrays have samples in rows."""

    def __init__(self, workload: Workload, first_weights: list[np.ndarray], epsilon: str) -> None:
        self.flat = FlatWeights(SHAPES, workload.optimizer, workload.learning_rate, epsilon)
        kernel, bias, *others = first_weights
        self.flat.weights[0][:-1] = kernel.reshape(9, 32)
        self.flat.weights[0][-1] = bias
        for mine, given in zip(self.flat.weights[1:], others, strict=True):
            mine[...] = given.reshape(mine.shape)
        self.convolutions = Convolutions(self.flat.weights[:3], self.flat.gradients[:3])
        self.batches: dict[int, Batch] = {}

    def batch_of(self, samples: int) -> Batch:
        """Return the buffers of a batch size, created at their first use."""
        if samples not in self.batches:
            self.batches[samples] = Batch(samples)
        return self.batches[samples]

    def run(self, x: np.ndarray, *, to_train: bool) -> tuple[np.ndarray, Batch]:
        """Compute the outputs of a batch before the softmax.

        Return the batch as images, and the `Batch` of buffers that contains the outputs.
        """
        images = np.ascontiguousarray(x).reshape(len(x), SIDE, SIDE)
        batch = self.batch_of(len(x))
        kernel, bias, last_kernel, last_bias = self.flat.weights[3:]
        self.convolutions.forward(images, batch, to_train=to_train)
        np.dot(batch.flat_outputs, kernel, batch.hidden)
        np.add(batch.hidden, bias, batch.hidden)
        np.maximum(batch.hidden, 0, out=batch.hidden)
        np.dot(batch.hidden, last_kernel, batch.z)
        np.add(batch.z, last_bias, batch.z)
        return images, batch

    def loss(self, batch: Batch, y: np.ndarray) -> float:
        """Return the crossentropy of softmax(z); write its gradient with respect to z to `by_z`."""
        z, by_z = batch.z, batch.by_z
        np.subtract(z, z.max(1, keepdims=True), z)
        np.exp(z, by_z)
        total = by_z.sum(1, keepdims=True)
        loss = (np.log(total).sum() - (z * y).sum()) / len(y)
        np.divide(by_z, total, by_z)
        np.subtract(by_z, y, by_z)
        np.multiply(by_z, np.float32(1 / len(y)), by_z)
        return float(loss)

    def train(self, x: np.ndarray, y: np.ndarray) -> float:
        """Make one train step; return its loss, computed before the update."""
        images, batch = self.run(x, to_train=True)
        loss = self.loss(batch, y)
        kernel, _, last_kernel, _ = self.flat.weights[3:]
        by_kernel, by_bias, by_last_kernel, by_last_bias = self.flat.gradients[3:]
        np.dot(batch.hidden.T, batch.by_z, by_last_kernel)
        np.add.reduce(batch.by_z, axis=0, out=by_last_bias)
        np.dot(batch.by_z, last_kernel.T, batch.by_hidden)
        np.multiply(batch.by_hidden, batch.hidden > 0, batch.by_hidden)
        np.add.reduce(batch.by_hidden, axis=0, out=by_bias)
        np.dot(batch.flat_outputs.T, batch.by_hidden, by_kernel)
        np.dot(batch.by_hidden, kernel.T, batch.flat_gradients)
        self.convolutions.backward(images, batch)
        self.flat.update()
        return loss

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return the outputs of the net for a batch."""
        _, batch = self.run(x, to_train=False)
        power = np.exp(batch.z - batch.z.max(1, keepdims=True))
        return power / power.sum(1, keepdims=True)
