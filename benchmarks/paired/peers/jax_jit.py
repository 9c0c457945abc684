"""JAX without Keras: one compiled train step with a hand-written optimizer."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paired.hand.flat import BETA_1, BETA_2, EPSILON, RHO
from benchmarks.paired.peers.base import Peer, Run


class Column(Peer):
    """Weights and moments are a tree of arrays that each step gives back (donated buffers)."""

    def start(self) -> None:
        """Import JAX and compile, at the first call, the step and the outputs."""
        import jax

        self.jax, self.jnp = jax, jax.numpy
        self.jit_train = jax.jit(self.traced_train, donate_argnums=(0,))
        self.jit_forward = jax.jit(self.traced_forward)

    def build(self) -> dict[str, Any]:
        """Return weights and moments; the dictionary's entries are replaced at each step."""
        zeros = self.jnp.zeros_like
        weights = [self.jnp.asarray(w) for w in self.first_weights]
        moments = ([zeros(w) for w in weights], [zeros(w) for w in weights])
        return {"state": (weights, moments, self.jnp.zeros((), "int32"))}

    # --- what is compiled -------------------------------------------------------------------------

    def before_activation(self, weights: Any, x: Any) -> Any:
        """Return the outputs of the net before its last activation."""
        if self.workload.kind == "convolutional":
            x = self.convolve(x, weights[0], weights[1])
            x = self.convolve(x, weights[2], weights[3])
            pool = (1, 2, 2, 1)
            x = self.jax.lax.reduce_window(x, -self.jnp.inf, self.jax.lax.max, pool, pool, "VALID")
            return self.dense(weights[4:], x.reshape(x.shape[0], -1))
        if self.workload.kind == "recurrent":
            return self.dense(weights[3:], self.recurrent(weights[:3], x))
        return self.dense(weights, x)

    def dense(self, weights: Any, x: Any) -> Any:
        """Return a chain of products, biases and relus."""
        for k in range(0, len(weights), 2):
            x = x @ weights[k] + weights[k + 1]
            if k < len(weights) - 2:
                x = self.jax.nn.relu(x)
        return x

    def convolve(self, x: Any, kernel: Any, bias: Any) -> Any:
        """Return a convolution with bias and relu."""
        names = ("NHWC", "HWIO", "NHWC")
        convolve = self.jax.lax.conv_general_dilated
        z = convolve(x, kernel, (1, 1), "VALID", dimension_numbers=names)
        return self.jax.nn.relu(z + bias)

    def recurrent(self, weights: Any, x: Any) -> Any:
        """Return the last output of the LSTM; the products with the inputs come first."""
        kernel, recurrent_kernel, bias = weights
        sigmoid, tanh = self.jax.nn.sigmoid, self.jnp.tanh

        def cell(carried: Any, z: Any) -> Any:
            output, state = carried
            i, f, c, o = self.jnp.split(z + output @ recurrent_kernel, 4, axis=1)
            state = sigmoid(f) * state + sigmoid(i) * tanh(c)
            return (sigmoid(o) * tanh(state), state), None

        nothing = self.jnp.zeros((x.shape[0], self.workload.units), x.dtype)
        by_time = self.jnp.swapaxes(x @ kernel + bias, 0, 1)
        (output, _), _ = self.jax.lax.scan(cell, (nothing, nothing), by_time)
        return output

    def loss(self, weights: Any, x: Any, y: Any) -> Any:
        """Return the loss of a batch."""
        jnp, z = self.jnp, self.before_activation(weights, x)
        if self.workload.loss == "binary_crossentropy":
            return jnp.mean(jnp.maximum(z, 0) - z * y + jnp.log1p(jnp.exp(-jnp.abs(z))))
        if self.workload.loss == "categorical_crossentropy":
            return -jnp.mean(jnp.sum(y * self.jax.nn.log_softmax(z), -1))
        return jnp.mean((z - y) ** 2)

    def traced_train(self, state: Any, x: Any, y: Any) -> Any:
        """Return the next state and the loss."""
        jnp, rate = self.jnp, self.workload.learning_rate
        weights, (first, second), steps = state
        loss, gradients = self.jax.value_and_grad(self.loss)(weights, x, y)
        steps = steps + 1
        new: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        time = steps.astype("float32")
        early = jnp.sqrt(1 - BETA_2**time) / (1 - BETA_1**time)
        for p, g, m, v in zip(weights, gradients, first, second, strict=True):
            if self.workload.optimizer == "sgd":
                change = rate * g
            elif self.workload.optimizer == "rmsprop":
                v = RHO * v + (1 - RHO) * g * g
                change = rate * g / (jnp.sqrt(v) + EPSILON)
            else:
                m = m + (g - m) * (1 - BETA_1)
                v = v + (g * g - v) * (1 - BETA_2)
                change = rate * early * m / (jnp.sqrt(v) + EPSILON)
            for target, value in zip(new, (p - change, m, v), strict=True):
                target.append(value)
        return (new[0], (new[1], new[2]), steps), loss

    def traced_forward(self, weights: Any, x: Any) -> Any:
        """Return the outputs."""
        activations = {"sigmoid": self.jax.nn.sigmoid, "softmax": self.jax.nn.softmax}
        activation = activations.get(self.workload.last, lambda z: z)
        return activation(self.before_activation(weights, x))

    # --- what the worker asks ---------------------------------------------------------------------

    def launch(self, net: dict[str, Any], x: Any, y: Any) -> Any:
        """Start one train step; return the loss that is being computed."""
        net["state"], loss = self.jit_train(net["state"], x, y)
        return loss

    def train(self, net: dict[str, Any], x: Any, y: Any) -> float:
        """Make one train step."""
        return float(self.launch(net, x, y))

    def forward(self, net: dict[str, Any], x: Any) -> np.ndarray:
        """Return the outputs of one batch."""
        return np.asarray(self.jit_forward(net["state"][0], x))

    def step(self, batch: int) -> Run | None:
        """Return the function that runs steps on JAX arrays and waits only for the last step."""
        x, y = self.jnp.asarray(self.x[:batch]), self.jnp.asarray(self.y[:batch])

        def run(times: int) -> None:
            for _ in range(times):
                loss = self.launch(self.net, x, y)
            self.jax.block_until_ready((self.net["state"], loss))

        return run
