"""The net of W4 in hand-written NumPy: an LSTM with one dense output.

Arrays have features in rows and samples in columns. The order of the gates is o, i, f, c: the three
sigmoids are adjacent.

    sigmoid(z) = (tanh(z / 2) + 1) / 2

so one `tanh` makes all four gates of a time step. Halving the arguments is included in the
weights. The derivative, sigmoid'(z) = (1 - tanh(z / 2)^2) / 4, gets one half from these weights
and the other at the end, on the sum over all time steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paired.hand.buffers import empty, number, ones, zeros
from benchmarks.paired.hand.dense import Plan
from benchmarks.paired.hand.flat import FlatWeights
from benchmarks.paired.hand.losses import mean_squared_error
from benchmarks.paired.hand.program import Program
from benchmarks.paired.workloads import Workload


class Buffers:
    """The arrays of one batch size, reused in each train step. The first axis is the time step.

    Attributes
    ----------
    inputs : ndarray, (times + 1, units + features + 1, samples)
        The operand of the matrix product at each time step: the previous output, x, and a one.
    last : ndarray, (units + 1, samples)
        The last output, and a one.
    gates : ndarray, (times, 4 units, samples)
        The hyperbolic tangents of the arguments of all gates.
    sigmoids : ndarray, (times, 3 units, samples)
        The values of the sigmoid gates o, i and f.
    states, state_tanh : ndarray
        The cell's states, one more than there are time steps, and their hyperbolic tangents.
    """

    def __init__(self, times: int, features: int, units: int, samples: int) -> None:
        self.inputs = zeros((times + 1, units + features + 1, samples))
        self.inputs[:, -1] = 1
        self.last = ones((units + 1, samples))
        self.gates = empty((times, 4 * units, samples))
        self.sigmoids = empty((times, 3 * units, samples))
        self.states = zeros((times + 1, units, samples))
        self.state_tanh = empty((times, units, samples))
        self.y, self.z = empty((1, samples)), empty((1, samples))


class RecurrentNet:
    """The recurrent net of W4 in hand-written NumPy.

    The array of recurrent weights, (4 units, units + features + 1), includes the biases.
    """

    def __init__(self, workload: Workload, first_weights: list[np.ndarray], epsilon: str) -> None:
        self.workload = workload
        self.sizes = workload.times, workload.features, workload.units
        features, units = workload.features, workload.units
        shapes: list[tuple[int, ...]] = [(4 * units, units + features + 1), (1, units + 1)]
        self.flat = FlatWeights(shapes, workload.optimizer, workload.learning_rate, epsilon)
        kernel, recurrent_kernel, bias, dense_kernel, dense_bias = first_weights
        i, f, c, o = np.arange(4 * units).reshape(4, units)
        matrix = np.vstack([recurrent_kernel, kernel, bias])
        self.flat.weights[0][...] = matrix[:, np.concatenate([o, i, f, c])].T
        self.flat.weights[1][:, :-1] = dense_kernel.T
        self.flat.weights[1][:, -1] = dense_bias
        self.halved = empty(shapes[0])
        self.plans: dict[int, Plan] = {}

    def sigmoid_rows(self, factor: float) -> np.ndarray:
        """Return an array (rows, 1) with `factor` for the sigmoid gates and 1 for the gate c."""
        units = self.workload.units
        column = ones((4 * units, 1))
        column[: 3 * units] = factor
        return column

    def plan(self, samples: int) -> Plan:
        """Return the plan of one batch size: the program of NumPy calls and its buffers."""
        program, buffers = Program(), Buffers(*self.sizes, samples)
        self.add_forward(program, buffers, samples)
        forward = program.function()
        gradient, loss = mean_squared_error(program, buffers.z, buffers.y, samples)
        self.add_backward(program, buffers, gradient, samples)
        units, features = self.workload.units, self.workload.features
        x = buffers.inputs[:-1, units : units + features]
        return Plan(x, buffers.y, program.function(loss), forward, buffers.z)

    def add_forward(self, program: Program, b: Buffers, samples: int) -> None:
        """Add the calls of a forward pass: the time steps of the LSTM, then the dense layer."""
        times, _, units = self.sizes
        spare, half = empty((units, samples)), empty((3 * units, samples))
        half.fill(0.5)
        program("multiply", self.flat.weights[0], self.sigmoid_rows(0.5), self.halved)
        for t in range(times):
            gates, sigmoids, state = b.gates[t], b.sigmoids[t], b.states[t + 1]
            output = (b.inputs[t + 1] if t + 1 < times else b.last)[:units]
            program("dot", self.halved, b.inputs[t], gates)
            program("tanh", gates, gates)
            program("multiply", gates[: 3 * units], half, sigmoids)
            program("add", sigmoids, half, sigmoids)
            program("multiply", sigmoids[2 * units :], b.states[t], state)
            program("multiply", sigmoids[units : 2 * units], gates[3 * units :], spare)
            program("add", state, spare, state)
            program("tanh", state, b.state_tanh[t])
            program("multiply", sigmoids[:units], b.state_tanh[t], output)
        program("dot", self.flat.weights[1], b.last, b.z)

    def add_factors(self, program: Program, b: Buffers, samples: int) -> tuple[Any, Any]:
        """Add the calls that compute the factors of the gradients, for all time steps at once.

        Return two arrays. The first, (times, 4, units, samples), is (1 - tanh^2) of each gate times
        the value by which the gate is multiplied. The second, (times, units, samples), is (1 -
        tanh^2) of the state times the output gate.
        """
        times, _, units = self.sizes
        one = number(1)
        of_gates = empty((times, 4, units, samples))
        rows = of_gates.reshape(times, 4 * units, samples)
        program("multiply", b.gates, b.gates, rows)
        program("subtract", one, rows, rows)
        met = (
            b.state_tanh,
            b.gates[:, 3 * units :],
            b.states[:-1],
            b.sigmoids[:, units : 2 * units],
        )
        for gate, other in enumerate(met):
            program("multiply", of_gates[:, gate], other, of_gates[:, gate])
        of_state = empty((times, units, samples))
        program("multiply", b.state_tanh, b.state_tanh, of_state)
        program("subtract", one, of_state, of_state)
        program("multiply", of_state, b.sigmoids[:, :units], of_state)
        return of_gates, of_state

    def add_backward(
        self, program: Program, b: Buffers, gradient: np.ndarray, samples: int
    ) -> None:
        """Add the calls of a backward pass: the last time step first, then a product for all."""
        times, features, units = self.sizes
        dense_kernel = self.flat.weights[1][:, :-1]
        program("dot", gradient, b.last.T, self.flat.gradients[1])
        of_gates, of_state = self.add_factors(program, b, samples)
        by_gates = empty(of_gates.shape)
        by_output, by_state = zeros((units, samples)), zeros((units, samples))
        spare, kernel = empty((units, samples)), empty((4 * units, units))
        program("multiply", self.halved[:, :units], self.sigmoid_rows(0.5), kernel)
        program("matmul", dense_kernel.T, gradient, by_output)
        for t in range(times - 1, -1, -1):
            program("multiply", by_output, of_state[t], by_state if t == times - 1 else spare)
            if t < times - 1:
                program("add", by_state, spare, by_state)
            program("multiply", of_gates[t, 1:], by_state, by_gates[t, 1:])
            program("multiply", of_gates[t, 0], by_output, by_gates[t, 0])
            if t:
                program("dot", kernel.T, by_gates[t].reshape(4 * units, samples), by_output)
                program("multiply", by_state, b.sigmoids[t, 2 * units :], by_state)
        by_rows = empty((4 * units, times, samples))
        inputs_by_rows = empty((units + features + 1, times, samples))
        total = self.flat.gradients[0]
        stacked = by_gates.reshape(times, 4 * units, samples)
        program("copy", by_rows, stacked.transpose(1, 0, 2))
        program("copy", inputs_by_rows, b.inputs[:times].transpose(1, 0, 2))
        left, right = (
            by_rows.reshape(4 * units, -1),
            inputs_by_rows.reshape(len(inputs_by_rows), -1),
        )
        program("dot", left, right.T, total)
        program("multiply", total, self.sigmoid_rows(0.25), total)

    def plan_of(self, samples: int) -> Plan:
        """Return the buffers and compiled functions for a batch size, created at its first use."""
        if samples not in self.plans:
            self.plans[samples] = self.plan(samples)
        return self.plans[samples]

    def train(self, x: np.ndarray, y: np.ndarray) -> float:
        """Make one train step; return its loss, computed before the update."""
        plan = self.plan_of(len(x))
        plan.x[...] = x.transpose(1, 2, 0)
        plan.y[...] = y.T
        loss = plan.train()
        self.flat.update()
        return loss

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return the outputs of the net for a batch."""
        plan = self.plan_of(len(x))
        plan.x[...] = x.transpose(1, 2, 0)
        plan.forward()
        return plan.z.T.copy()
