"""The column of PyTorch without Keras, in eager mode."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.paired.hand.flat import EPSILON, RHO
from benchmarks.paired.peers.base import Peer, Run


class Column(Peer):
    """The column of PyTorch: a module, its optimizer and its loss.

    The data become tensors before the time is measured.
    """

    epsilon = "corrected"

    def start(self) -> None:
        """Import torch, set its threads, and convert the data to tensors.

        Images get the channels first.
        """
        import torch

        self.torch: Any = torch
        torch.set_num_threads(self.threads)
        if self.workload.kind == "convolutional":
            self.x = self.x.transpose(0, 3, 1, 2).copy()
        self.x, self.y = torch.from_numpy(self.x), torch.from_numpy(self.y)

    def build(self) -> tuple[Any, Any]:
        """Return the module with the initial weights, and its optimizer."""
        modules = {
            "dense": self.dense,
            "convolutional": self.convolutional,
            "recurrent": self.recurrent,
        }
        module = modules[self.workload.kind]()
        rate, optim = self.workload.learning_rate, self.torch.optim
        trained = [p for p in module.parameters() if p.requires_grad]
        optimizer = {
            "rmsprop": lambda: optim.RMSprop(trained, lr=rate, alpha=RHO, eps=EPSILON),
            "adam": lambda: optim.Adam(trained, lr=rate, eps=EPSILON),
            "sgd": lambda: optim.SGD(trained, lr=rate),
        }[self.workload.optimizer]()
        return module, optimizer

    def set(self, parameter: Any, values: np.ndarray) -> None:
        """Set the initial values of a parameter."""
        with self.torch.no_grad():
            parameter.copy_(self.torch.from_numpy(np.ascontiguousarray(values)))

    def linear(self, kernel: np.ndarray, bias: np.ndarray) -> Any:
        """Return a dense layer with these initial weights."""
        layer = self.torch.nn.Linear(*kernel.shape)
        self.set(layer.weight, kernel.T)
        self.set(layer.bias, bias)
        return layer

    def dense(self) -> Any:
        """Return a chain of dense layers with relu between them."""
        modules: list[Any] = []
        for k in range(0, len(self.first_weights), 2):
            modules += [self.linear(*self.first_weights[k : k + 2]), self.torch.nn.ReLU()]
        return self.torch.nn.Sequential(*modules[:-1])

    def convolution(self, kernel: np.ndarray, bias: np.ndarray) -> Any:
        """Return a convolution layer with these initial weights."""
        layer = self.torch.nn.Conv2d(kernel.shape[2], kernel.shape[3], 3)
        self.set(layer.weight, kernel.transpose(3, 2, 0, 1))
        self.set(layer.bias, bias)
        return layer

    def convolutional(self) -> Any:
        """Return the net of W3. Its pixels are flattened in another order than in Keras."""
        nn, weights = self.torch.nn, self.first_weights
        kernel = weights[4].reshape(12, 12, 64, 128).transpose(2, 0, 1, 3).reshape(9216, 128)
        return nn.Sequential(
            *(self.convolution(*weights[0:2]), nn.ReLU()),
            *(self.convolution(*weights[2:4]), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            *(self.linear(kernel, weights[5]), nn.ReLU(), self.linear(*weights[6:8])),
        )

    def recurrent(self) -> Any:
        """Return the net of W4. Of the two biases of torch's LSTM, the second stays zero."""
        torch, units = self.torch, self.workload.units

        class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
            def __init__(net, dense: Any) -> None:
                super().__init__()
                net.lstm = torch.nn.LSTM(self.workload.features, units, batch_first=True)
                net.dense = dense

            def forward(net, x: Any) -> Any:
                return net.dense(net.lstm(x)[0][:, -1])

        kernel, recurrent_kernel, bias, *dense = self.first_weights
        net = Net(self.linear(*dense))
        self.set(net.lstm.weight_ih_l0, kernel.T)
        self.set(net.lstm.weight_hh_l0, recurrent_kernel.T)
        self.set(net.lstm.bias_ih_l0, bias)
        self.set(net.lstm.bias_hh_l0, np.zeros(4 * units, "float32"))
        net.lstm.bias_hh_l0.requires_grad_(False)
        return net

    def train(self, net: tuple[Any, Any], x: Any, y: Any) -> Any:
        """Make one train step; return its loss as a tensor."""
        functional = self.torch.nn.functional
        losses = {
            "binary_crossentropy": functional.binary_cross_entropy_with_logits,
            "categorical_crossentropy": functional.cross_entropy,
            "mse": functional.mse_loss,
        }
        module, optimizer = net
        optimizer.zero_grad(set_to_none=True)
        loss = losses[self.workload.loss](module(x), y)
        loss.backward()
        optimizer.step()
        return loss

    def forward(self, net: tuple[Any, Any], x: Any) -> Any:
        """Return the outputs of one batch, as an array of NumPy."""
        activations = {"sigmoid": self.torch.sigmoid, "softmax": lambda z: z.softmax(-1)}
        with self.torch.inference_mode():
            return activations.get(self.workload.last, lambda z: z)(net[0](x)).numpy()

    def fit(self, batch: int) -> Run | None:
        """Return a function (n) that trains for n epochs on shuffled rows."""
        net, x, y, torch = self.net, self.x, self.y, self.torch

        def run(times: int) -> None:
            for _ in range(times):
                order, total = torch.randperm(len(x)), 0.0
                for begin in range(0, len(x), batch):
                    chosen = order[begin : begin + batch]
                    total += self.train(net, x[chosen], y[chosen]).item()

        return run
