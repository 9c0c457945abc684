"""The dense nets of W1, W2 and W5 in hand-written NumPy."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from benchmarks.paired.hand.buffers import empty, ones, zeros
from benchmarks.paired.hand.flat import FlatWeights
from benchmarks.paired.hand.losses import activated, add_loss
from benchmarks.paired.hand.program import Program
from benchmarks.paired.workloads import Workload


class Plan(NamedTuple):
    """What a dense net needs for one batch size: buffers, compiled functions and outputs."""

    x: np.ndarray
    y: np.ndarray
    train: Callable[[], float]
    forward: Callable[[], None]
    z: np.ndarray


class DenseNet:
    """A net of dense layers with relu.

    The weights and biases of a layer are one matrix, of shape (outputs, inputs + 1).
    """

    def __init__(self, workload: Workload, first_weights: list[np.ndarray], epsilon: str) -> None:
        self.workload = workload
        widths = workload.widths
        shapes: list[tuple[int, ...]] = [(after, before + 1) for before, after in pairwise(widths)]
        self.flat = FlatWeights(shapes, workload.optimizer, workload.learning_rate, epsilon)
        kernels, biases = first_weights[::2], first_weights[1::2]
        for matrix, kernel, bias in zip(self.flat.weights, kernels, biases, strict=True):
            matrix[:, :-1] = kernel.T
            matrix[:, -1] = bias
        self.plans: dict[int, Plan] = {}

    def plan(self, samples: int) -> Plan:
        """Return the plan of one batch size: the program of NumPy calls and its buffers."""
        widths, weights = self.workload.widths, self.flat.weights
        program = Program()
        x, y = ones((samples, widths[0] + 1)), zeros((widths[-1], samples))
        hidden = [ones((width + 1, samples)) for width in widths[1:-1]]
        z = empty((widths[-1], samples))
        values = [x.T, *hidden]
        for matrix, before, after in zip(weights, values, hidden, strict=False):
            rows = after[:-1]
            program("dot", matrix, before, rows)
            program("maximum", rows, zeros(rows.shape), out=rows)
        program("dot", weights[-1], values[-1], z)
        forward = program.function()
        gradient, loss = add_loss(program, self.workload.loss, z, y, samples)
        for layer in range(len(weights) - 1, -1, -1):
            program("dot", gradient, values[layer].T, self.flat.gradients[layer])
            if layer:
                gradient = self.add_gradient(program, layer, gradient, hidden[layer - 1])
        return Plan(x, y, program.function(loss), forward, z)

    def add_gradient(
        self, program: Program, layer: int, gradient: np.ndarray, hidden: np.ndarray
    ) -> np.ndarray:
        """Add the calls that compute the gradient of a layer's inputs from that of its outputs.

        relu(z) > 0 where the sign bit of -relu(z) is set. Shifted by 31 bits, this bit becomes a
        mask of ones.
        """
        kernel = self.flat.weights[layer][:, :-1]
        rows = hidden[:-1]
        before, mask = empty(rows.shape), empty(rows.shape, "int32")
        if len(gradient) == 1:
            program("multiply", kernel[0][:, None], gradient, before)
        else:
            program("matmul", kernel.T, gradient, before)
        bits = before.view("int32")
        program("multiply", rows.view("int32"), np.array(-1, "int32"), mask)
        program("shift_right", mask, np.array(31, "int32"), mask)
        program("bits_and", bits, mask, bits)
        return before

    def plan_of(self, samples: int) -> Plan:
        """Return the buffers and compiled functions for a batch size, created at its first use."""
        if samples not in self.plans:
            self.plans[samples] = self.plan(samples)
        return self.plans[samples]

    def train(self, x: np.ndarray, y: np.ndarray) -> float:
        """Make one train step; return its loss, computed before the update."""
        plan = self.plan_of(len(x))
        plan.x[:, :-1] = x
        plan.y[...] = y.T
        loss = plan.train()
        self.flat.update()
        return loss

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return the outputs of the net for a batch."""
        plan = self.plan_of(len(x))
        plan.x[:, :-1] = x
        plan.forward()
        return activated(plan.z, self.workload.last)


class Chain(DenseNet):
    """A deep net of equal layers (W5), for which some work is done in one call for all layers.

    One call computes the masks of all relus. One copies all kernels without their biases, because
    the product of contiguous matrices is faster. One computes the gradients of all weights, as a
    product of stacks of matrices.
    """

    def plan(self, samples: int) -> Plan:
        """Return the plan of one batch size: the program of NumPy calls and its buffers."""
        layers, width = len(self.workload.widths) - 1, self.workload.widths[0]
        size = layers * width * (width + 1)
        weights = self.flat.all_weights[:size].reshape(layers, width, width + 1)
        weight_gradients = self.flat.all_gradients[:size].reshape(layers, width, width + 1)
        program = Program()
        values = ones((layers, width + 1, samples))
        masks = empty(values.shape, "int32")
        gradients = empty((layers, width, samples))
        kernels = empty((layers, width, width))
        y, z, nothing = (zeros((width, samples)) for _ in range(3))
        for layer in range(layers - 1):
            rows = values[layer + 1][:-1]
            program("dot", weights[layer], values[layer], rows)
            program("maximum", rows, nothing, out=rows)
        program("dot", weights[-1], values[-1], z)
        forward = program.function()
        gradient, loss = add_loss(program, self.workload.loss, z, y, samples)
        program("copy", gradients[-1], gradient)
        program("copy", kernels, weights[:, :, :width])
        program("multiply", values.view("int32"), np.array(-1, "int32"), masks)
        program("shift_right", masks, np.array(31, "int32"), masks)
        for layer in range(layers - 1, 0, -1):
            before = gradients[layer - 1]
            bits = before.view("int32")
            program("dot", kernels[layer].T, gradients[layer], before)
            program("bits_and", bits, masks[layer][:-1], bits)
        program("matmul", gradients, values.transpose(0, 2, 1), weight_gradients)
        return Plan(values[0].T, y, program.function(loss), forward, z)


def is_chain(workload: Workload) -> bool:
    """Return whether a net has many equal layers, whose weights follow each other in memory."""
    widths = workload.widths
    return len(set(widths)) == 1 < 8 < len(widths) and widths[0] * (widths[0] + 1) % 16 == 0


def dense_net(workload: Workload, first_weights: list[np.ndarray], epsilon: str) -> DenseNet:
    """Return the hand-written dense net of a workload."""
    net = Chain if is_chain(workload) else DenseNet
    return net(workload, first_weights, epsilon)
