"""Random models, drawn by a seed and described by data, of which each Keras builds the same one.

A description is plain JSON: `inputs`, `steps` (a layer, its options, on which tensors it is called)
and `outputs`, and what `compile` is told. Tensors are numbered: the inputs first, then the results
of the steps. `python tests/saving/random_models.py 17` prints that of a seed.

What is left out, since there Keras 3.15 contradicts itself or another convention holds:

- Keras's MultiHeadAttention takes the masks off the tensors that it is called on, so that layers
  that come after it in its order find none; here every layer finds them. No tensor with a mask goes
  to it and to another layer.
- It writes no `delta` of Huber and no `axis` of CosineSimilarity into a file.
- It cannot call a Softmax on a masked sequence: such a model is refused by itself.
- It moves the averages of a BatchNormalization at each call in a model, one after the other.
- Its CategoricalFocalCrossentropy of a sequence takes no weights of samples.
- A model whose loss does not depend on a weight is trained there; here that is an error.
- On jax it loses the states of stateful layers in `fit`, `evaluate` and `predict`, against its own
  documentation, as they are none of the layer's variables; only a call of the model keeps them.
  Here they are always kept. So two calls are compared, and each step of training begins at zero.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kerascope.engine.node import mask_of

Spec = dict[str, Any]
BATCH, STEPS = 4, 10
ACTIVATIONS = ("relu", "tanh", "sigmoid", "elu", "selu", "softplus", "softsign", "gelu", "silu",
               "leaky_relu", "softmax", "linear", "exponential", "mish", "relu6")  # fmt: skip
RECURRENT = ("LSTM", "GRU", "SimpleRNN")
MERGING = ("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum", "Concatenate")

# An Embedding of what is computed would cut numbers near whole ones; and of a BatchNormalization
# that is called twice in a model, Keras 3 moves the averages twice, which no call here knows of.
NEVER_AGAIN = ("Embedding", "BatchNormalization")


class Library(NamedTuple):
    """What a model is built with: that of kerascope in dialect 3, or of the real Keras."""

    layers: Any
    Model: Any
    Sequential: Any
    Input: Any
    ops: Any


OPERATIONS = {
    "affine": lambda ops, x: x * 2.0 + 0.5,
    "one_minus": lambda ops, x: 1.0 - x,
    "sum": lambda ops, x, y: x + y,
    "product": lambda ops, x, y: x * y,
    "rounded": lambda ops, x: x + ops.round(x, 2),
    "cut": lambda ops, x: x[:, 1:],
    "first": lambda ops, x: x[:, 0],
    "mean": lambda ops, x: ops.mean(x, axis=1),
    "largest": lambda ops, x: ops.max(x, axis=-1, keepdims=True) - x,
    "swapped": lambda ops, x: ops.swapaxes(x, 1, 2),
    "moved": lambda ops, x: ops.moveaxis(x, -1, 1),
    "joined": lambda ops, x, y: ops.concatenate([x, y], axis=-1),
    "tanh": lambda ops, x: ops.tanh(x),
    "log1p": lambda ops, x: ops.log1p(ops.square(x)),
    "not_zero": lambda ops, x: ops.not_equal(x, 0),
}


OF_TWO = ("sum", "product", "joined")


# --- from a description to a model ----------------------------------------------------------------


def build(spec: Spec, library: Library) -> Any:
    """Return the model of a description; its weights are fresh."""
    tensors = [
        library.Input(tuple(shape), batch_size=BATCH if spec.get("stateful") else None,
                      dtype=dtype, name=f"in{i}")
        for i, (shape, dtype) in enumerate(spec["inputs"])
    ]  # fmt: skip
    inputs, made = list(tensors), []
    for number, step in enumerate(spec["steps"]):
        apply(step, f"{spec.get('prefix', '')}s{number}", tensors, made, library)
    outputs = [tensors[i] for i in spec["outputs"]]
    if spec.get("names"):
        outputs = dict(zip(spec["names"], outputs, strict=True))
    elif len(outputs) == 1:
        outputs = outputs[0]
    return library.Model(inputs if len(inputs) > 1 else inputs[0], outputs)


def apply(step: Spec, name: str, tensors: list[Any], made: list[Any], library: Library) -> None:
    """Do a step: append what it makes to the layers made, and what that gives to the tensors."""
    given = [tensors[i] for i in step["of"]]
    if "op" in step:
        made.append(None)
        tensors.append(OPERATIONS[step["op"]](library.ops, *given))
        return
    if "again" in step:
        layer = made[step["again"]]
    elif "nested" in step:
        layer = build(step["nested"], library)
    elif "line" in step:
        line = [
            make(n, {**o, "name": f"{name}_{i}"}, library) for i, (n, o) in enumerate(step["line"])
        ]
        first = library.Input(tuple(given[0].shape[1:]))
        layer = library.Sequential([first, *line], name=name)
    else:
        layer = make(step["layer"], {**step["options"], "name": name}, library)
    made.append(layer)
    call = {key: tensor_in(value, tensors) for key, value in step.get("call", {}).items()}
    if step.get("apart"):
        result = layer(*given, **call)
    else:
        result = layer(given if len(given) > 1 else given[0], **call)
    tensors.extend(result if isinstance(result, (list, tuple)) else [result])


def make(name: str, options: Spec, library: Library) -> Any:
    """Return a layer; those inside are given as [name, options], or a list of these."""
    options = dict(options)
    inside = []
    for key in ("layer", "backward_layer"):
        if key in options:
            inner_name, inner = options.pop(key)
            inner = {**inner, "name": f"{options.get('name')}_{key}"}
            made = make(inner_name, inner, library)
            if key == "layer":
                inside.append(made)
            else:
                options[key] = made
    if "cells" in options:
        cells = [make(n, o, library) for n, o in options.pop("cells")]
        inside.append(library.layers.StackedRNNCells(cells) if len(cells) > 1 else cells[0])
    return getattr(library.layers, name)(*inside, **options)


def tensor_in(value: Any, tensors: list[Any]) -> Any:
    """Return an argument with the tensors where their numbers stand."""
    if isinstance(value, dict):
        return tensors[value["tensor"]]
    return [tensor_in(item, tensors) for item in value] if isinstance(value, list) else value


# --- a random description -------------------------------------------------------------------------


class Draw:
    """Draws one description; kerascope tells the shapes, and what cannot be called so.

    Parameters
    ----------
    seed : int
    library : Library
        That of kerascope.
    """

    def __init__(self, seed: int, library: Library) -> None:
        self.rng = np.random.default_rng([seed, 2026])
        self.library = library
        self.spec: Spec = {"seed": seed, "inputs": [], "steps": [], "outputs": []}
        self.tensors: list[Any] = []
        self.made: list[Any] = []
        self.stripped: set[int] = set()  # tensors whose mask Keras takes away
        self.used: set[int] = set()

    def one_of(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    # What a layer of each kind may be told.

    def activation(self) -> Spec:
        return {"activation": self.one_of(ACTIVATIONS)} if self.chance(0.6) else {}

    def convolution(self, rank: int, more: str = "") -> Spec:
        options: Spec = {"kernel_size": [self.number(1, 3) for _ in range(rank)]}
        options |= {"padding": self.one_of(["valid", "same"]), **self.activation()}
        if rank == 1 and more in ("conv", "") and self.chance(0.3):
            options["padding"] = "causal"
        if self.chance(0.4):
            options["strides"] = 2
        elif self.chance(0.3) and more != "transpose":
            options["dilation_rate"] = 2
        if self.chance(0.2):
            options["use_bias"] = False
        if rank == 2 and self.chance(0.2):
            options["data_format"] = "channels_first"
        if more != "depthwise":
            options["filters"] = 2 * self.number(1, 2)
        if more == "conv" and self.chance(0.3):
            options["groups"] = 2
        if more == "depthwise" and self.chance(0.4):
            options["depth_multiplier"] = 2
        return options

    def pooling(self, rank: int) -> Spec:
        options: Spec = {"pool_size": self.number(1, 3), "padding": self.one_of(["valid", "same"])}
        if self.chance(0.4):
            options["strides"] = self.number(1, 2)
        if rank == 2 and self.chance(0.3):
            options["data_format"] = "channels_first"
        return options

    def recurrent(self, name: str) -> Spec:
        options: Spec = {"units": self.number(2, 3)}
        for key, share in (("return_sequences", 0.5), ("go_backwards", 0.15), ("unroll", 0.1)):
            if self.chance(share):
                options[key] = True
        if self.chance(0.2):
            options["use_bias"] = False
        if self.chance(0.3):
            options["activation"] = self.one_of(["relu", "sigmoid", "softsign"])
        if name == "LSTM" and self.chance(0.3):
            options["unit_forget_bias"] = False
        if name == "GRU" and self.chance(0.3):
            options["reset_after"] = False
        if name != "SimpleRNN" and self.chance(0.2):
            options["recurrent_activation"] = "tanh"
        if self.chance(0.15):
            options["kernel_regularizer"] = "l2"
        if self.chance(0.1):
            options["zero_output_for_mask"] = True
        return options

    def for_any(self, x: Any) -> list[tuple[str, Spec]]:
        return [
            ("Dense", {"units": self.number(2, 4), **self.activation(), **self.parts()}),
            ("Activation", {"activation": self.one_of(ACTIVATIONS)}),
            ("BatchNormalization", {"momentum": 0.8, "scale": self.chance(0.7)}),
            ("LayerNormalization", {"epsilon": 1e-2, "center": self.chance(0.7)}),
            ("UnitNormalization", {}),
            ("RMSNormalization", {"epsilon": 1e-2}),
            ("GroupNormalization", {"groups": -1, "epsilon": 1e-2}),
            ("Rescaling", {"scale": 0.5, "offset": 0.1}),
            ("LeakyReLU", {"negative_slope": 0.2}),
            ("PReLU", {"alpha_initializer": "ones"}),
            ("ELU", {"alpha": 0.7}),
            ("ReLU", {"max_value": 1.0, "negative_slope": 0.1, "threshold": 0.1}),
            ("Softmax", {"axis": -1}),
            ("Dropout", {"rate": 0.0}),
            ("GaussianNoise", {"stddev": 0.0}),
            ("GaussianDropout", {"rate": 0.0}),
            ("AlphaDropout", {"rate": 0.0}),
            ("ActivityRegularization", {"l2": 0.01}),
            ("Flatten", {}),
        ]

    def parts(self) -> Spec:
        found: Spec = {}
        if self.chance(0.2):
            found["kernel_regularizer"] = self.one_of(["l1", "l2", "L1L2"])
        if self.chance(0.15):
            found["kernel_constraint"] = self.one_of(["max_norm", "non_neg", "unit_norm"])
        if self.chance(0.1):
            found["use_bias"] = False
        return found

    def layers_for(self, x: Any) -> list[tuple[str, Spec]]:
        rank = len(x.shape) - 2
        found = self.for_any(x)
        if rank == 0:
            return [*found, ("RepeatVector", {"n": 3}), ("Reshape", {"target_shape": [-1, 1]})]
        word = f"{rank}D"
        size = self.number(1, 2)
        several: list[tuple[str, Spec]] = [
            (f"Conv{word}", self.convolution(rank, "conv")),
            (f"Conv{word}", self.convolution(rank, "conv")),
            (f"Conv{word}Transpose", self.convolution(rank, "transpose")),
            (f"MaxPooling{word}", self.pooling(rank)),
            (f"AveragePooling{word}", self.pooling(rank)),
            (f"GlobalMaxPooling{word}", {"keepdims": self.chance(0.2)}),
            (f"GlobalAveragePooling{word}", {"keepdims": self.chance(0.2)}),
            (f"UpSampling{word}", {"size": 2}),
            (f"ZeroPadding{word}", {"padding": size}),
            (f"Cropping{word}", {"cropping": 1}),
            (f"SpatialDropout{word}", {"rate": 0.0}),
            ("Permute", {"dims": [*range(2, rank + 2), 1]}),
        ]
        if rank < 3:
            several += [
                (f"SeparableConv{word}", {**self.convolution(rank, "separable"), "strides": 1}),
                (f"DepthwiseConv{word}", {**self.convolution(rank, "depthwise"), "strides": 1}),
            ]
        if rank == 2 and self.chance(0.3):
            several.append(("UpSampling2D", {"size": 2, "interpolation": "bilinear"}))
        if rank == 1:
            name = self.one_of(RECURRENT)
            inner = self.recurrent(name)
            merge = self.one_of(["sum", "mul", "concat", "ave"])
            cells = [[f"{n}Cell", {"units": 2}] for n in ("LSTM", "GRU", "SimpleRNN")]
            several += 2 * [
                (name, self.recurrent(name)),
                (name, {**self.recurrent(name), "return_state": True}),
                ("Bidirectional", {"layer": [name, inner], "merge_mode": merge}),
                ("TimeDistributed", {"layer": ["Dense", {"units": 2, **self.activation()}]}),
                ("RNN", {"cells": [self.one_of(cells), self.one_of(cells)],
                         "return_sequences": self.chance(0.5)}),
                ("Masking", {"mask_value": 0.0}),
            ]  # fmt: skip
        if rank == 2:
            inner = self.one_of(
                [
                    ["Dense", {"units": 2}],
                    ["Conv1D", {"filters": 2, "kernel_size": 2}],
                    ["Flatten", {}],
                ]
            )
            several.append(("TimeDistributed", {"layer": inner}))
        if rank == 3:
            conv = ["Conv2D", {"filters": 2, "kernel_size": 2}]
            several.append(("TimeDistributed", {"layer": conv}))
        if rank == 3:
            several.append(("ConvLSTM2D", {"filters": 2, "kernel_size": 2, "padding": "same",
                                           "return_sequences": self.chance(0.5)}))  # fmt: skip
        return [*several, *several, *found]

    # Steps.

    def take(self, step: Spec) -> bool:
        """Add a step if it can be done here; tell whether it was."""
        if not self.keeps_masks(step):
            return False
        before = len(self.tensors)
        name = f"s{len(self.spec['steps'])}"
        try:
            apply(step, name, self.tensors, self.made, self.library)
            sizes = [x.shape[1:] for x in self.tensors[before:]]
            if any(None in shape or not all(shape) or np.prod(shape) > 600 for shape in sizes):
                raise ValueError("too large")
        except Exception:
            del self.tensors[before:], self.made[len(self.spec["steps"]) :]
            return False
        self.used.update(step["of"])
        self.stripped |= self.strips(step)
        self.spec["steps"].append(step)
        return True

    def keeps_masks(self, step: Spec) -> bool:
        """Tell whether a step sees the masks that it sees in Keras, whatever the order of calls.

        There, calling MultiHeadAttention takes the masks off its inputs: a layer that is called on
        one of them later, or earlier when a file is read, sees none. Such a tensor goes to no other
        step.
        """
        return not (set(step["of"]) & self.stripped or self.strips(step) & self.used)

    def strips(self, step: Spec) -> set[int]:
        """Return the tensors whose masks Keras takes away where it does the step."""
        if step.get("layer") != "MultiHeadAttention":
            return set()
        return {i for i in step["of"] if mask_of(self.tensors[i]) is not None}

    def floats(self, rank: int | None = None) -> list[int]:
        return [
            i for i, x in enumerate(self.tensors)
            if x.dtype == "float32" and (rank is None or len(x.shape) == rank)
        ]  # fmt: skip

    def step(self) -> Spec | None:
        place = self.one_of(self.floats()[-3:])
        x = self.tensors[place]
        kind = self.rng.random()
        same = [i for i in self.floats() if self.tensors[i].shape == x.shape]
        if kind < 0.12:
            merge = self.one_of(MERGING)
            return {"layer": merge, "options": {}, "of": [place, self.one_of(same)]}
        if kind < 0.16:
            names = [name for name in OPERATIONS if name not in ("not_zero", *OF_TWO)]
            return {"op": self.one_of(names), "of": [place]}
        if kind < 0.2:
            return {"op": self.one_of(OF_TWO), "of": [place, self.one_of(same)]}
        calls = enumerate(self.spec["steps"])
        again = [i for i, step in calls if step.get("layer", "") not in ("", *NEVER_AGAIN)]
        if kind < 0.26 and again:
            return {"again": self.one_of(again), "of": [place]}
        if kind < 0.34:
            return self.nested(place)
        if kind < 0.5 and len(x.shape) == 3:
            return self.attention(place)
        name, options = self.one_of(self.layers_for(x))
        step: Spec = {"layer": name, "options": options, "of": [place]}
        masks = [i for i, m in enumerate(self.tensors) if m.dtype == "bool"]
        masks = [i for i in masks if self.tensors[i].shape == x.shape[:2]]
        if name in ("LSTM", "GRU", "SimpleRNN", "Bidirectional") and masks and self.chance(0.5):
            step["call"] = {"mask": {"tensor": self.one_of(masks)}}
        elif name in ("GRU", "SimpleRNN") and self.chance(0.3):
            states = [i for i in self.floats(2) if self.tensors[i].shape[-1] == options["units"]]
            if states:
                step["call"] = {"initial_state": {"tensor": self.one_of(states)}}
        return step

    def recurrent_step(self, place: int) -> Spec:
        """Return a call of a stateful layer."""
        name = self.one_of(RECURRENT)
        return {
            "layer": name, "options": {**self.recurrent(name), "stateful": True}, "of": [place]
        }  # fmt: skip

    def nested(self, place: int) -> Spec:
        """Return a call of a model, or of a line of layers."""
        x = self.tensors[place]
        two = [self.one_of(self.layers_for(x)), self.one_of(self.for_any(x)[:-1])]
        if self.chance(0.5):
            return {"line": [list(one) for one in two], "of": [place]}
        steps = [{"layer": n, "options": o, "of": [i]} for i, (n, o) in enumerate(two)]
        prefix = f"n{len(self.spec['steps'])}"
        inner = {"inputs": [[list(x.shape[1:]), "float32"]], "steps": steps, "outputs": [2],
                 "prefix": prefix}  # fmt: skip
        return {"nested": inner, "of": [place]}

    def attention(self, place: int) -> Spec:
        x = self.tensors[place]
        others = [i for i in self.floats(3) if self.tensors[i].shape[2] == x.shape[2]]
        other = self.one_of(others)
        name = self.one_of(["Attention", "AdditiveAttention", "MultiHeadAttention"])
        call: Spec = {"use_causal_mask": True} if self.chance(0.5) else {}
        if name != "MultiHeadAttention":
            options = {"use_scale": True} if self.chance(0.5) else {}
            return {"layer": name, "options": options, "of": [place, other], "call": call}
        options = {"num_heads": 2, "key_dim": 2, "use_bias": self.chance(0.5)}
        return {
            "layer": name,
            "options": options,
            "of": [place, other],
            "call": call,
            "apart": True,
        }

    def draw(self) -> Spec:
        """Return the description."""
        kinds = [[[5], "float32"], [[5, 3], "float32"], [[5, 4], "float32"], [[6, 6, 2], "float32"],
                 [[4, 4, 4, 2], "float32"], [[5], "int32"], [[5], "int32"]]  # fmt: skip
        chosen = [self.one_of(kinds) for _ in range(self.number(1, 2))]
        if any(len(shape) == 2 for shape, _ in chosen) and self.chance(0.5):
            chosen.append([[5], "bool"])
        if all(dtype == "bool" for _, dtype in chosen):
            chosen.append(kinds[1])
        self.spec["inputs"] = chosen
        self.spec["stateful"] = stateful = self.chance(0.05)
        if stateful and not any(len(shape) == 2 or dtype == "int32" for shape, dtype in chosen):
            chosen.append(kinds[1])
        for i, (shape, dtype) in enumerate(chosen):
            size = BATCH if stateful else None
            self.tensors.append(
                self.library.Input(tuple(shape), batch_size=size, dtype=dtype, name=f"in{i}")
            )
        for i, (_, dtype) in enumerate(chosen):
            if dtype == "int32":
                options = {"input_dim": 8, "output_dim": 3, "mask_zero": self.chance(0.7)}
                self.take({"layer": "Embedding", "options": options, "of": [i]})
        if stateful:
            self.take(self.recurrent_step(self.one_of(self.floats(3))))
        wanted = len(self.spec["steps"]) + self.number(3, 7)
        for _ in range(60):
            step = self.step()
            if stateful and step and step.get("layer") in RECURRENT:
                step["options"]["stateful"] = True
            if step and self.take(step) and len(self.spec["steps"]) >= wanted:
                break
        self.finish()
        return self.spec

    def finish(self) -> None:
        """Bring unused results to outputs, and say how to train."""
        used = {i for step in self.spec["steps"] for i in step["of"]}
        loose = [i for i in self.floats() if i not in used][-2:]
        loss, last, _ = self.one_of(LOSSES)
        for i in loose:
            if len(self.tensors[i].shape) > 2 and not self.chance(0.15):
                self.take({"layer": "Flatten", "options": {}, "of": [i]})
                i = len(self.tensors) - 1
            options = {"units": 3, "activation": last}
            if self.take({"layer": "Dense", "options": options, "of": [i]}):
                self.spec["outputs"].append(len(self.tensors) - 1)
        if self.chance(0.3):
            self.spec["names"] = [f"o{9 - i}" for i in range(len(self.spec["outputs"]))]
        self.spec["optimizer"] = self.one_of(OPTIMIZERS)
        self.spec["loss"] = loss
        is_spread = any(len(self.tensors[i].shape) > 2 for i in self.spec["outputs"])
        is_refused = loss[0] == "CategoricalFocalCrossentropy" and is_spread
        self.spec["weighted"] = self.chance(0.2) and not is_refused
        words = ["accuracy"] if "Sparse" in loss[0] else METRICS
        self.spec["metrics"] = [self.one_of(words)] if self.chance(0.4) else []


# Loss with its options, activation that suits it, targets that suit it.
LOSSES: list[tuple[list[Any], str, str]] = [
    (["MeanSquaredError", {}], "linear", "float"),
    (["MeanAbsoluteError", {}], "linear", "float"),
    (["MeanAbsolutePercentageError", {}], "linear", "share"),
    (["MeanSquaredLogarithmicError", {}], "softplus", "share"),
    (["Huber", {}], "linear", "float"),  # Keras 3.15 writes no delta into a file
    (["LogCosh", {}], "linear", "float"),
    (["CosineSimilarity", {}], "linear", "float"),
    (["Hinge", {}], "tanh", "sign"),
    (["SquaredHinge", {}], "tanh", "sign"),
    (["CategoricalHinge", {}], "softmax", "one_hot"),
    (["Poisson", {}], "softplus", "share"),
    (["KLDivergence", {}], "softmax", "one_hot"),
    (["BinaryCrossentropy", {"label_smoothing": 0.1}], "sigmoid", "bits"),
    (["BinaryCrossentropy", {"from_logits": True}], "linear", "bits"),
    (["BinaryFocalCrossentropy", {}], "sigmoid", "bits"),
    (["CategoricalCrossentropy", {"label_smoothing": 0.1}], "softmax", "one_hot"),
    (["CategoricalFocalCrossentropy", {}], "softmax", "one_hot"),
    (["SparseCategoricalCrossentropy", {}], "softmax", "class"),
    (["SparseCategoricalCrossentropy", {"ignore_class": 0}], "softmax", "class"),
    (["SparseCategoricalCrossentropy", {"ignore_class": 1}], "softmax", "class"),
    (
        ["SparseCategoricalCrossentropy", {"ignore_class": 2, "from_logits": True}],
        "linear",
        "class",
    ),
]
# A large epsilon: where a gradient is zero by its formula, noise would be divided by noise.
OPTIMIZERS: list[list[Any]] = [
    ["SGD", {"learning_rate": 0.02}],
    ["SGD", {"learning_rate": 0.02, "momentum": 0.9, "nesterov": True}],
    ["SGD", {"learning_rate": 0.02, "clipnorm": 0.1}],
    ["SGD", {"learning_rate": 0.02, "global_clipnorm": 0.5, "momentum": 0.5}],
    ["SGD", {"learning_rate": 0.02, "clipvalue": 0.05}],
    ["RMSprop", {"learning_rate": 0.002, "epsilon": 1e-2}],
    ["Adam", {"learning_rate": 0.002, "epsilon": 1e-2}],
    ["Adam", {"learning_rate": 0.002, "epsilon": 1e-2, "amsgrad": True}],
    ["AdamW", {"learning_rate": 0.002, "epsilon": 1e-2, "weight_decay": 0.01}],
    ["Adamax", {"learning_rate": 0.002, "epsilon": 1e-2}],
    ["Nadam", {"learning_rate": 0.002, "epsilon": 1e-2}],
    ["Adagrad", {"learning_rate": 0.01}],
    ["Adadelta", {"learning_rate": 0.1, "epsilon": 1e-2}],
    ["Ftrl", {"learning_rate": 0.01}],
]
METRICS = ["mae", "mse", "accuracy", "cosine_similarity"]


# --- data and training ----------------------------------------------------------------------------


def arrays_for(spec: Spec) -> list[np.ndarray]:
    """Return inputs: words and series that end in zeros, masks that leave something."""
    rng = np.random.default_rng([spec["seed"], 1])
    found = []
    for shape, dtype in spec["inputs"]:
        size = (BATCH, *shape)
        if dtype == "int32":
            x = rng.integers(1, 8, size).astype(dtype)
            x[0, 3:] = x[1, 1:] = x[2, 2] = 0
        elif dtype == "bool":
            x = rng.random(size) > 0.4
            x[:, 0] = True
        else:
            x = rng.normal(size=size).astype(dtype)
            if len(shape) == 2:
                x[0, 3:] = x[2, 1] = 0
        found.append(x)
    return found


def targets_for(spec: Spec, outputs: list[np.ndarray]) -> list[np.ndarray]:
    """Return targets that suit the loss."""
    rng = np.random.default_rng([spec["seed"], 2])
    kind = next(kind for loss, _, kind in LOSSES if loss == spec["loss"])
    found = []
    for y in outputs[: len(spec["outputs"])]:
        classes = rng.integers(0, y.shape[-1], y.shape[:-1])
        found.append({
            "float": lambda y=y: rng.normal(size=y.shape),
            "share": lambda y=y: rng.uniform(0.2, 1, y.shape),
            "sign": lambda y=y: np.sign(rng.normal(size=y.shape)),
            "bits": lambda y=y: (rng.random(y.shape) > 0.5),
            "one_hot": lambda y=y, c=classes: np.eye(y.shape[-1])[c],
            "class": lambda c=classes: c,
        }[kind]().astype("int32" if kind == "class" else "float32"))  # fmt: skip
    return found


def shaken(spec: Spec, weights: list[np.ndarray]) -> list[np.ndarray]:
    """Return other weights, so that none is at its first value; variances stay positive."""
    rng = np.random.default_rng([spec["seed"], 3])
    return [w + rng.uniform(0.02, 0.3, w.shape).astype(w.dtype) for w in weights]


def train(
    model: Any, spec: Spec, arrays: list[np.ndarray], targets: list[np.ndarray]
) -> list[float]:
    """Do ten steps; return the losses."""
    x = arrays if len(arrays) > 1 else arrays[0]
    y: Any = (
        dict(zip(sorted(spec["names"]), targets, strict=True)) if spec.get("names") else targets
    )
    if not spec.get("names") and len(targets) == 1:
        y = targets[0]
    options: dict[str, Any] = {}
    if spec["weighted"] and len(targets) == 1:
        options["sample_weight"] = np.array([0.5, 1.0, 2.0, 0.0], "float32")
    found = []
    for _ in range(STEPS):
        reset(model)
        loss = model.train_on_batch(x, y, **options)
        found.append(float(loss[0] if isinstance(loss, (list, tuple)) else loss))
    return found


def outputs_of(spec: Spec, call: Callable[[], Any], model: Any) -> list[np.ndarray]:
    """Return what a model puts out; a stateful one of two calls, the second after the first."""
    reset(model)
    found = [y for _ in range(2 if spec["stateful"] else 1) for y in as_list(call())]
    reset(model)
    return found


def reset(model: Any) -> None:
    """Set the states of the stateful layers back, by the name that each Keras has for it."""
    for layer in model.layers:
        if getattr(layer, "stateful", False):
            (layer.reset_states if hasattr(layer, "reset_states") else layer.reset_state)()


def as_list(found: Any) -> list[np.ndarray]:
    """Return outputs in their order; those of a dict in that of its keys."""
    if isinstance(found, dict):
        found = [found[name] for name in sorted(found)]
    return [np.asarray(y) for y in (found if isinstance(found, (list, tuple)) else [found])]


if __name__ == "__main__":
    from test_random_models import spec_of

    print(json.dumps(spec_of(int(sys.argv[1])), indent=1))
