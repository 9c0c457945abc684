"""A random model of kerascope as a module of PyTorch with channels first, weights copied."""

import numpy as np
import torch
from torch import nn


def _tensor(array):
    return nn.Parameter(torch.tensor(np.ascontiguousarray(array, "float32")), requires_grad=False)


class Port(nn.Module):
    """Runs a graph of layers, call by call, each layer as PyTorch has it.

    Images lie with their channels first; sequences are turned for convolutions only.
    """

    def __init__(self, model):
        super().__init__()
        self.steps = []
        self.layers = nn.ModuleDict()
        for nodes in model.nodes_by_depth.values():
            for node in nodes:
                self.steps.append(node)
                layer = node.outbound_layer
                if layer.name not in self.layers and not node.is_input:
                    made = made_of(layer)
                    if made is not None:
                        self.layers[layer.name] = made
        self.outputs = model.outputs

    def forward(self, x):
        values = {}
        for node in self.steps:
            if node.is_input:
                values[node.output_tensors[0]] = x
                continue
            given = [values[tensor] for tensor in node.input_tensors]
            values[node.output_tensors[0]] = self.called(node.outbound_layer, given, node)
        return values[self.outputs[0]]

    def called(self, layer, given, node):
        kind, x = type(layer).__name__, given[0]
        if kind in ("Add", "Multiply", "Concatenate"):
            if kind == "Concatenate":
                return torch.cat(given, 1 if x.ndim == 4 else -1)
            return given[0] + given[1] if kind == "Add" else given[0] * given[1]
        if kind == "Flatten":
            return x.flatten(1)
        if kind == "GlobalAveragePooling2D":
            return x.mean((2, 3))
        if kind in ("Dropout", "Reshape"):  # at rest, and to the shape that it has
            return x
        if kind == "Activation":
            return activated(layer.activation.__name__, x)
        module = self.layers[layer.name]
        if kind in ("LSTM", "GRU"):
            h, _ = module(x)
            return h if layer.return_sequences else h[:, -1]
        if kind == "Conv1D":
            x = module(x.transpose(1, 2)).transpose(1, 2)
        elif kind == "Dense" and x.ndim == 4:
            x = module(x.movedim(1, -1)).movedim(-1, 1)
        else:
            if kind in ("Conv2D", "DepthwiseConv2D", "MaxPooling2D") and layer.padding == "same":
                x = padded(x, layer, kind)
            x = module(x)
        name = getattr(getattr(layer, "activation", None), "__name__", "linear")
        return activated(name, x, 1 if x.ndim == 4 else -1)


def activated(name, x, axis=-1):
    """Apply an activation of Keras."""
    if name == "linear":
        return x
    if name == "softmax":
        return x.softmax(axis)
    if name == "elu":
        return nn.functional.elu(x)
    return getattr(torch, name)(x)


def padded(x, layer, kind):
    """Pad an image as padding="same" does, at stride 1."""
    size = (layer.pool_size if kind == "MaxPooling2D" else layer.kernel_size)[0]
    before = (size - 1) // 2
    sides = (before, size - 1 - before) * 2
    value = -float("inf") if kind == "MaxPooling2D" else 0.0
    return nn.functional.pad(x, sides, value=value)


def made_of(layer):
    """Return the module that does what a layer does; None for one without weights or windows."""
    kind, arrays = type(layer).__name__, layer.get_weights()
    if kind == "Dense":
        module = nn.Linear(*arrays[0].shape)
        module.weight, module.bias = _tensor(arrays[0].T), _tensor(arrays[1])
    elif kind == "Conv2D":
        high, wide, given, made = arrays[0].shape
        module = nn.Conv2d(given, made, (high, wide))
        module.weight, module.bias = _tensor(arrays[0].transpose(3, 2, 0, 1)), _tensor(arrays[1])
    elif kind == "Conv1D":
        size, given, made = arrays[0].shape
        module = nn.Conv1d(given, made, size, padding=size // 2)
        module.weight, module.bias = _tensor(arrays[0].transpose(2, 1, 0)), _tensor(arrays[1])
    elif kind == "DepthwiseConv2D":
        high, wide, given, _ = arrays[0].shape
        module = nn.Conv2d(given, given, (high, wide), groups=given)
        module.weight, module.bias = _tensor(arrays[0].transpose(2, 3, 0, 1)), _tensor(arrays[1])
    elif kind == "BatchNormalization":
        module = nn.BatchNorm2d(len(arrays[0]), eps=layer.epsilon)
        module.weight, module.bias = _tensor(arrays[0]), _tensor(arrays[1])
        module.running_mean, module.running_var = (_tensor(one).data for one in arrays[2:])
    elif kind == "LayerNormalization":
        module = nn.LayerNorm(len(arrays[0]), eps=layer.epsilon)
        module.weight, module.bias = _tensor(arrays[0]), _tensor(arrays[1])
    elif kind == "MaxPooling2D":
        module = nn.MaxPool2d(layer.pool_size, 1)
    elif kind == "AveragePooling2D":
        module = nn.AvgPool2d(layer.pool_size, 1)
    elif kind == "LSTM":
        module = nn.LSTM(arrays[0].shape[0], layer.units, batch_first=True)
        module.weight_ih_l0, module.weight_hh_l0 = (_tensor(one.T) for one in arrays[:2])
        module.bias_ih_l0, module.bias_hh_l0 = _tensor(arrays[2]), _tensor(arrays[2] * 0)
    elif kind == "GRU":  # whose gates Keras has as z, r, h, and PyTorch as r, z, n
        units = layer.units
        order = np.concatenate([np.arange(units) + units * gate for gate in (1, 0, 2)])
        module = nn.GRU(arrays[0].shape[0], units, batch_first=True)
        module.weight_ih_l0, module.weight_hh_l0 = (_tensor(one[:, order].T) for one in arrays[:2])
        module.bias_ih_l0, module.bias_hh_l0 = (_tensor(one[order]) for one in arrays[2])
    else:
        return None
    return module


def permute_flattened_rows(model, port):
    """Permute the rows of kernels behind a Flatten: PyTorch flattens channels first."""
    for nodes in model.nodes_by_depth.values():
        for node in nodes:
            made = [one.outbound_layer for one in node.parent_nodes]
            kinds = [type(layer).__name__ for layer in (node.outbound_layer, *made)]
            if kinds[:2] == ["Dense", "Flatten"]:
                high, wide, channels = made[0].input.shape[1:]
                module = port.layers[node.outbound_layer.name]
                rows = module.weight.data.reshape(-1, high, wide, channels)
                module.weight = _tensor(rows.permute(0, 3, 1, 2).reshape(len(rows), -1).numpy())
