"""The column of JAX without Keras: one compiled train step with a hand-written optimizer."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paired.hand.flat import BETA_1, BETA_2, EPSILON, RHO
from benchmarks.paired.peers.base import Peer, Run


class Column(Peer):
    """The column of JAX alone. Each step returns new weights and moments as a tree of arrays.

    The variant "" donates the old arrays, keeps the batch on the device and waits only for the last
    of many steps. The variant "waits" does only what `train_on_batch` has to do: its batches are
    NumPy arrays, each step waits for its loss, and the old arrays stay valid, so an interrupt loses
    nothing.
    """

    def start(self) -> None:
        """Import JAX, and make the functions that JAX compiles at their first call."""
        import jax

        self.jax, self.jnp = jax, jax.numpy
        donated = () if self.variant == "waits" else (0,)
        self.jit_train = jax.jit(self.traced_train, donate_argnums=donated)
        self.jit_forward = jax.jit(self.traced_forward)

    def build(self) -> dict[str, Any]:
        """Return weights and moments as a dict, whose entries are replaced at each step."""
        zeros = self.jnp.zeros_like
        weights = [self.jnp.asarray(w) for w in self.first_weights]
        kept = {"sgd": 0, "rmsprop": 1, "adam": 2}[self.workload.optimizer]
        moments = [[zeros(w) for w in weights] for _ in range(kept)]
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
        if self.workload.kind == "transformer":
            return self.transformer(weights, x)
        return self.dense(weights, x)

    def dense(self, weights: Any, x: Any) -> Any:
        """Return the outputs of a chain of dense layers: products, biases and relus."""
        for k in range(0, len(weights), 2):
            x = x @ weights[k] + weights[k + 1]
            if k < len(weights) - 2:
                x = self.jax.nn.relu(x)
        return x

    def convolve(self, x: Any, kernel: Any, bias: Any) -> Any:
        """Return the output of a convolution with bias and relu."""
        names = ("NHWC", "HWIO", "NHWC")
        convolve = self.jax.lax.conv_general_dilated
        z = convolve(x, kernel, (1, 1), "VALID", dimension_numbers=names)
        return self.jax.nn.relu(z + bias)

    def recurrent(self, weights: Any, x: Any) -> Any:
        """Return the last output of an LSTM. One product with the kernel serves all time steps."""
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

    def normalize(self, weights: Any, x: Any) -> Any:
        """Return x with mean 0 and variance 1 in each row, scaled and shifted."""
        mean = x.mean(-1, keepdims=True)
        variance = ((x - mean) ** 2).mean(-1, keepdims=True)
        return (x - mean) * (weights[0] * self.jax.lax.rsqrt(variance + 1e-5)) + weights[1]

    def attend(self, weights: Any, x: Any) -> Any:
        """Return the attention of each token to itself and the tokens before it."""
        jnp, of_heads = self.jnp, "btu,uhs->bths"
        query, key, value = (
            jnp.einsum(of_heads, x, weights[k]) + weights[k + 1] for k in (0, 2, 4)
        )
        scores = jnp.einsum("bqhs,bkhs->bhqk", query / query.shape[-1] ** 0.5, key)
        seen = jnp.tril(jnp.ones(scores.shape[-2:], bool))
        shares = self.jax.nn.softmax(jnp.where(seen, scores, -jnp.inf))
        found = jnp.einsum("bhqk,bkhs->bqhs", shares, value)
        return jnp.einsum("bqhs,hsu->bqu", found, weights[6]) + weights[7]

    def transformer(self, weights: Any, x: Any) -> Any:
        """Return the logits of the next token at each position."""
        x = weights[0][x] + weights[1]
        for block in range(self.workload.blocks):
            own = weights[2 + 16 * block : 18 + 16 * block]
            x = x + self.attend(own[2:10], self.normalize(own[:2], x))
            x = x + self.dense(own[12:], self.normalize(own[10:12], x))
        return self.dense(weights[-2:], self.normalize(weights[-4:-2], x))

    def loss(self, weights: Any, x: Any, y: Any) -> Any:
        """Return the loss of a batch."""
        jnp, z = self.jnp, self.before_activation(weights, x)
        if self.workload.loss == "binary_crossentropy":
            return jnp.mean(jnp.maximum(z, 0) - z * y + jnp.log1p(jnp.exp(-jnp.abs(z))))
        if self.workload.loss == "categorical_crossentropy":
            return -jnp.mean(jnp.sum(y * self.jax.nn.log_softmax(z), -1))
        if self.workload.loss == "sparse_categorical_crossentropy":
            found = jnp.take_along_axis(self.jax.nn.log_softmax(z), y[..., None], -1)
            return -jnp.mean(found)
        return jnp.mean((z - y) ** 2)

    def traced_train(self, state: Any, x: Any, y: Any) -> Any:
        """Make a train step, which JAX traces; return the new weights and moments, and the loss."""
        jnp, rate = self.jnp, self.workload.learning_rate
        weights, moments, steps = state
        loss, gradients = self.jax.value_and_grad(self.loss)(weights, x, y)
        steps = steps + 1
        new: list[list[Any]] = [[] for _ in range(1 + len(moments))]
        time = steps.astype("float32")
        early = jnp.sqrt(1 - BETA_2**time) / (1 - BETA_1**time)
        for p, g, *kept in zip(weights, gradients, *moments, strict=True):
            if self.workload.optimizer == "sgd":
                change = rate * g
            elif self.workload.optimizer == "rmsprop":
                kept = [RHO * kept[0] + (1 - RHO) * g * g]
                change = rate * g / (jnp.sqrt(kept[0]) + EPSILON)
            else:
                m, v = kept
                kept = [m + (g - m) * (1 - BETA_1), v + (g * g - v) * (1 - BETA_2)]
                change = rate * early * kept[0] / (jnp.sqrt(kept[1]) + EPSILON)
            for target, value in zip(new, (p - change, *kept), strict=True):
                target.append(value)
        return (new[0], new[1:], steps), loss

    def traced_forward(self, weights: Any, x: Any) -> Any:
        """Return the outputs of the net. JAX traces and compiles this function."""
        activations = {"sigmoid": self.jax.nn.sigmoid, "softmax": self.jax.nn.softmax}
        activation = activations.get(self.workload.last, lambda z: z)
        return activation(self.before_activation(weights, x))

    # --- what the worker asks ---------------------------------------------------------------------

    def launch(self, net: dict[str, Any], x: Any, y: Any) -> Any:
        """Start one train step; return its loss, an array that JAX may still be computing."""
        net["state"], loss = self.jit_train(net["state"], x, y)
        return loss

    def train(self, net: dict[str, Any], x: Any, y: Any) -> float:
        """Make one train step; wait for its loss and return it."""
        return float(self.launch(net, x, y))

    def forward(self, net: dict[str, Any], x: Any) -> np.ndarray:
        """Return the outputs of one batch."""
        return np.asarray(self.jit_forward(net["state"][0], x))

    def step(self, batch: int) -> Run | None:
        """Return a function that runs a number of train steps.

        In the variant "waits", it waits for the result of each step, in the variant "" only for
        that of the last step.
        """
        if self.variant == "waits":
            return super().step(batch)
        x, y = self.jnp.asarray(self.x[:batch]), self.jnp.asarray(self.y[:batch])

        def run(times: int) -> None:
            for _ in range(times):
                loss = self.launch(self.net, x, y)
            self.jax.block_until_ready((self.net["state"], loss))

        return run
