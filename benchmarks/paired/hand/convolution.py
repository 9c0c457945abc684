"""Computes the two convolutions, the pooling and the flattening of W3, image by image.

One image's patches (576 x 288 floats) fit into a cache of the second level; those of a batch do
not. The sizes are those of W3: 28 x 28 pixels, 3 x 3 kernels with 32 and 64 filters, pooling 2 x 2.

Maximum pooling comes before bias and relu. Because both grow with their argument, the maximum is
the same, and they process only a quarter of the elements.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from benchmarks.paired.hand.buffers import empty, ones, zeros

SIDE, FIRST, SECOND, POOLED = 28, 26, 24, 12
CHANNELS, FILTERS = 32, 64
FLAT = POOLED * POOLED * FILTERS
FLOAT = 4
ROW = CHANNELS * FLOAT
"""Bytes of a pixel with 32 channels."""


class BatchOfImages:
    """Results of the convolutions for a batch, which are kept because the gradients need them.

    Attributes
    ----------
    first : ndarray, (samples, 26 * 26, 32)
        Outputs of the first convolution after relu.
    winners : ndarray of bool, (samples, 12, 2, 12, 2, 64)
        The position of the maximum in each 2 x 2 pixels.
    outputs, gradients : ndarray, (samples, 12 * 12, 64)
        The outputs after pooling, bias and relu, and the gradients with respect to them.
    """

    def __init__(self, samples: int) -> None:
        self.first = empty((samples, FIRST * FIRST, CHANNELS))
        self.winners = empty((samples, POOLED, 2, POOLED, 2, FILTERS), "bool")
        self.outputs = empty((samples, POOLED * POOLED, FILTERS))
        self.gradients = empty((samples, POOLED * POOLED, FILTERS))


class Convolutions:
    """Computes the two convolutions of W3 and their gradients image by image, in fixed buffers.

    Parameters
    ----------
    weights, gradients : sequence of ndarray
        The first kernel with its bias as the last row, (10, 32); the second kernel, (288, 64); its
        bias, (64,).
    """

    def __init__(self, weights: list[np.ndarray], gradients: list[np.ndarray]) -> None:
        self.first_kernel, self.kernel, self.bias = weights
        self.gradients = gradients
        self.partial = [empty(g.shape) for g in gradients]
        self.first_patches = ones((FIRST * FIRST, 10))
        self.first_windows = as_strided(
            self.first_patches, (FIRST, FIRST, 3, 3), (FIRST * 10 * FLOAT, 10 * FLOAT, 12, FLOAT)
        )
        self.patches = empty((SECOND * SECOND, 9 * CHANNELS))
        self.windows = self.patches.reshape(SECOND, SECOND, 3, 3 * CHANNELS)
        self.nothing, self.nothing_pooled = zeros((FIRST * FIRST, CHANNELS)), zeros((144, FILTERS))
        self.z, self.pooled = empty((SECOND * SECOND, FILTERS)), empty((144, FILTERS))
        self.row_maxima = empty((POOLED, SECOND, FILTERS))
        self.by_z = empty((SECOND * SECOND, FILTERS))
        self.mask = empty((FIRST * FIRST, CHANNELS), "int32")
        self.ones = ones((144,))
        self.spread = SpreadBack()

    # --- forward ----------------------------------------------------------------------------------

    def cut_first(self, image: np.ndarray) -> None:
        """Copy the 3 x 3 windows of an image (28, 28) into the rows of `first_patches`."""
        line = SIDE * FLOAT
        np.copyto(
            self.first_windows, as_strided(image, (FIRST, FIRST, 3, 3), (line, FLOAT, line, FLOAT))
        )

    def cut_second(self, first: np.ndarray) -> None:
        """Copy the 3 x 3 windows of the first convolution's outputs into rows of a buffer.

        Three pixels with their channels are copied at a time.
        """
        line = FIRST * ROW
        np.copyto(
            self.windows, as_strided(first, (SECOND, SECOND, 3, 3 * CHANNELS), (line, ROW, line, 4))
        )

    def forward(self, images: np.ndarray, batch: BatchOfImages, *, to_train: bool) -> None:
        """Compute the outputs of a batch; for training, also keep what the gradients need."""
        z, pooled, maxima = self.z, self.pooled, self.row_maxima
        by_rows = z.reshape(POOLED, 2, SECOND, FILTERS)
        by_columns = maxima.reshape(144, 2, FILTERS)
        blocks = z.reshape(POOLED, 2, POOLED, 2, FILTERS)
        block_maxima = pooled.reshape(POOLED, 1, POOLED, 1, FILTERS)
        for k in range(len(images)):
            first, outputs = batch.first[k], batch.outputs[k]
            self.cut_first(images[k])
            np.dot(self.first_patches, self.first_kernel, first)
            np.maximum(first, self.nothing, out=first)
            self.cut_second(first)
            np.dot(self.patches, self.kernel, z)
            np.maximum(by_rows[:, 0], by_rows[:, 1], out=maxima)
            np.maximum(by_columns[:, 0], by_columns[:, 1], out=pooled)
            if to_train:
                np.equal(blocks, block_maxima, out=batch.winners[k])
            np.add(pooled, self.bias, outputs)
            np.maximum(outputs, self.nothing_pooled, out=outputs)

    # --- backward ---------------------------------------------------------------------------------

    def backward(self, images: np.ndarray, batch: BatchOfImages) -> None:
        """Compute the gradients of the weights from the gradients of the batch's outputs."""
        for gradient in self.gradients:
            gradient.fill(0)
        by_first_kernel, by_kernel, by_bias = self.gradients
        one_first, one_kernel, one_bias = self.partial
        by_z = self.by_z
        by_blocks = by_z.reshape(POOLED, 2, POOLED, 2, FILTERS)
        minus_one, sign_bit = np.array(-1, "int32"), np.array(31, "int32")
        self.spread.read(self.kernel)
        for k in range(len(images)):
            gradient, first = batch.gradients[k], batch.first[k]
            np.multiply(gradient, np.greater(batch.outputs[k], 0), gradient)
            np.add(by_bias, np.dot(self.ones, gradient, one_bias), by_bias)
            np.multiply(
                batch.winners[k], gradient.reshape(POOLED, 1, POOLED, 1, FILTERS), out=by_blocks
            )
            self.cut_second(first)
            np.dot(self.patches.T, by_z, one_kernel)
            np.add(by_kernel, one_kernel, by_kernel)
            by_first = self.spread(by_z)
            np.multiply(first.view("int32"), minus_one, self.mask)
            np.right_shift(self.mask, sign_bit, self.mask)
            bits = by_first.view("int32")
            np.bitwise_and(bits, self.mask, bits)
            self.cut_first(images[k])
            np.dot(self.first_patches.T, by_first, one_first)
            np.add(by_first_kernel, one_first, by_first_kernel)


class SpreadBack:
    """Computes the gradient of the second convolution's input by nine matrix products.

    The gradient of the outputs is written into a grid that is as wide as the input: 26 columns, of
    which two stay zero. Row `ky` of the kernel then adds the pixel at position p of this grid to
    the three neighbouring pixels of the input that begin at p + 26 ky. Three neighbours with 32
    channels are 96 floats in a row. For every third p, these floats do not overlap. So there are
    nine products, for three rows of the kernel and three remainders of p / 3, and each is added to
    the input's gradient as one contiguous array.
    """

    def __init__(self) -> None:
        pixels = SECOND * FIRST
        grid = zeros((pixels, FILTERS))
        self.inner = grid.reshape(SECOND, FIRST, FILTERS)[:, :SECOND]
        stride = (3 * FILTERS * FLOAT, FLOAT)
        self.phases = [
            as_strided(grid[phase:], ((pixels - phase + 2) // 3, FILTERS), stride)
            for phase in range(3)
        ]
        self.products = [empty((len(rows), 3 * CHANNELS)) for rows in self.phases]
        self.kernels = empty((3, FILTERS, 3 * CHANNELS))
        self.result = zeros(((FIRST * FIRST + 4) * CHANNELS,))
        self.image = self.result[: FIRST * FIRST * CHANNELS].reshape(FIRST * FIRST, CHANNELS)
        self.targets = []
        for row in range(3):
            for phase, product in enumerate(self.products):
                begin = (row * FIRST + phase) * CHANNELS
                end = min(begin + product.size, self.result.size)
                piece = product.reshape(-1)[: end - begin]
                self.targets.append((row, phase, self.result[begin:end], piece))

    def read(self, kernel: np.ndarray) -> None:
        """Store the second kernel (288, 64), with each of its three rows transposed."""
        np.copyto(self.kernels, kernel.reshape(3, 3 * CHANNELS, FILTERS).transpose(0, 2, 1))

    def __call__(self, by_z: np.ndarray) -> np.ndarray:
        """Return the gradient with respect to the input, (26 * 26, 32).

        It is in a buffer that the next call overwrites.
        """
        np.copyto(self.inner, by_z.reshape(SECOND, SECOND, FILTERS))
        self.result.fill(0)
        for row, phase, target, piece in self.targets:
            np.matmul(self.phases[phase], self.kernels[row], self.products[phase])
            np.add(target, piece, target)
        return self.image
