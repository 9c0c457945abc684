"""Random models and how they are trained, drawn by a seed, for kerascope and the real Keras alike.

A seed gives a description: plain data with the inputs, the steps (a layer or an operation and the
tensors it is called on), the outputs, and how to compile and train. Tensors are numbered, the
inputs first, then the result of each step. No library is needed to draw one, so both build the
same model. `python tests/engine/random_training.py 17` prints that of a seed.

The parts are those that training gets wrong in silence: layers with statistics that are called
more than once, Sequential models without an Input inside of other layers, layers called on
constants and on own weights inside `call`, penalties, masks, frozen layers, inputs and outputs as
lists and dicts, weights of samples and classes, and callbacks.

Models with a BatchNormalization are trained in float64: the gradient of a bias before it is zero
but for rounding, and Adam makes steps of rounding. What Keras contradicts itself in is left out:

- MultiHeadAttention takes the masks off the tensors that it is called on;
- Softmax refuses some masks;
- on jax the metrics of a training step do not see the masks of the outputs;
- on jax a training step forgets the penalties of a call if the layer is called again;
- the losses of several outputs of an own model are named by their functions, twice the same.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

Spec = dict[str, Any]
BATCH, EPOCHS, STEPS = 6, 5, 10  # two batches an epoch
WORDS = 7  # numbers of an input for an Embedding: 0 to 6

ACTIVATIONS = ("tanh", "sigmoid", "softplus", "elu", "gelu", "silu", "softsign", "linear")


# --- from a description to a model ----------------------------------------------------------------


class Builder:
    """Builds the model of a description with one library.

    Attributes
    ----------
    leaves : list
        Layers with weights, and own weights of layers, in the order in which they are made.
    """

    def __init__(self, library: Any) -> None:
        self.library = library
        self.leaves: list[Any] = []
        self.named = 0
        self.steps_of: dict[int, Spec] = {}

    # Parts.

    def name(self) -> str:
        self.named += 1
        return f"part{self.named}"

    def kept(self, leaf: Any) -> Any:
        self.leaves.append(leaf)
        return leaf

    def part(self, step: Spec) -> Any:
        """Return the layer of a step; None if it is no new layer."""
        layers = self.library.layers
        if step["do"] == "layer":
            return self.kept(self.layer(step["name"], {**step["options"], "name": self.name()}))
        if step["do"] == "line":
            line = [self.part(one) for one in step["steps"]]
            first = [self.library.Input(tuple(step["shape"]))] if step["has_input"] else []
            return self.library.Sequential([*first, *line], name=self.name())
        if step["do"] == "model":
            return self.functional(step)
        if step["do"] == "block":
            return self.block(step)
        if step["do"] == "constant":
            kind = layers.Embedding if step["kind"] == "positions" else layers.Dense
            return self.kept(kind(*step["sizes"], name=self.name()))
        return None

    def layer(self, name: str, options: Spec) -> Any:
        options = dict(options)
        inside = []
        if "layer" in options:
            inside.append(self.layer(*options.pop("layer")))
        return getattr(self.library.layers, name)(*inside, **options)

    # Calls.

    def run(
        self, steps: list[Spec], parts: list[Any], tensors: list[Any], owner: Any, **phase: Any
    ) -> list[Any]:
        """Return the tensors with the results of the steps."""
        tensors = list(tensors)
        for step, part in zip(steps, parts, strict=True):
            given = [tensors[i] for i in step["of"]]
            tensors.append(self.result(step, part, parts, given, owner, phase))
        return tensors

    def result(
        self, step: Spec, part: Any, parts: list[Any], given: list[Any], owner: Any, phase: Spec
    ) -> Any:
        ops, x = self.library.ops, given[0]
        if step["do"] == "constant":
            return x + self.on_a_constant(step, part, owner)
        if step["do"] == "scale":
            return x * owner.own
        if step["do"] == "loss":
            owner.add_loss(0.1 * ops.mean(ops.square(x)))
            return x
        if step["do"] == "op":
            return OPERATIONS[step["name"]](ops, *given)
        layer = parts[step["again"]] if step["do"] == "again" else part
        self.steps_of.setdefault(id(layer), step)
        made = self.steps_of[id(layer)]
        is_told = made["do"] != "layer" or made["name"] in ("BatchNormalization", "Dropout")
        told = phase if is_told else {}
        return layer(given if len(given) > 1 else x, **told)

    def on_a_constant(self, step: Spec, layer: Any, owner: Any) -> Any:
        """Return what a layer computes of something that is no input."""
        ops = self.library.ops
        if step["kind"] == "positions":
            return layer(ops.arange(step["sizes"][0]))
        if step["kind"] == "ones":
            return layer(ops.ones((1, 3)))
        if step["kind"] == "sum":
            return ops.sum(layer(ops.ones((2, 3))))
        return layer(ops.reshape(owner.own, (1, -1)))

    # Owners of parts.

    def block(self, step: Spec) -> Any:
        """Return a layer of a class of its own, which makes its parts first or when it is built."""
        builder, steps, count = self, step["steps"], step["count"]

        class Block(self.library.layers.Layer):
            def __init__(self) -> None:
                super().__init__(name=builder.name())
                self.supports_masking = count == 1 and len(step["shape"]) > 1
                if step["made"] == "init":
                    self.make()

            def make(self) -> None:
                for i, one in enumerate(steps):
                    if (part := builder.part(one)) is not None:
                        setattr(self, f"part{i}", part)

            if step["made"] == "build" or step["own"]:

                def build(self, shape: Any) -> None:
                    if step["made"] == "build":
                        self.make()
                    if step["own"]:
                        own = self.add_weight(shape=(step["own"],), initializer="ones", name="own")
                        self.own = builder.kept(own)

            def call(self, inputs: Any, mask: Any = None, training: Any = None) -> Any:
                parts = [getattr(self, f"part{i}", None) for i in range(len(steps))]
                given = list(inputs) if count > 1 else [inputs]
                return builder.run(steps, parts, given, self)[-1]

        return Block()

    def functional(self, spec: Spec) -> Any:
        """Return a functional model."""
        inputs = [
            self.library.Input(
                tuple(shape), dtype="int32" if kind == "int" else None, name=f"in{i}"
            )
            for i, (shape, kind) in enumerate(spec["inputs"])
        ]
        parts = [self.part(step) for step in spec["steps"]]
        tensors = self.run(spec["steps"], parts, inputs, None)
        outputs = [tensors[i] for i in spec["outputs"]]
        return self.library.Model(
            arranged(inputs, spec["in_as"], "in"), arranged(outputs, spec["out_as"], "out"),
            name=self.name(),
        )  # fmt: skip

    def subclassed(self, spec: Spec) -> Any:
        """Return a model of a class of its own."""
        builder, steps = self, spec["steps"]

        class Net(self.library.Model):
            def __init__(self) -> None:
                super().__init__()
                for i, one in enumerate(steps):
                    if (part := builder.part(one)) is not None:
                        setattr(self, f"part{i}", part)
                if spec["own"]:
                    own = self.add_weight(shape=(spec["own"],), initializer="ones", name="own")
                    self.own = builder.kept(own)

            def call(self, inputs: Any, training: Any = None) -> Any:
                parts = [getattr(self, f"part{i}", None) for i in range(len(steps))]
                given = listed(inputs, "in")
                phase = {"training": training} if spec["tells"] else {}
                tensors = builder.run(steps, parts, given, self, **phase)
                return arranged([tensors[i] for i in spec["outputs"]], spec["out_as"], "out")

        return Net()

    def model(self, spec: Spec) -> Any:
        """Return the model of a description."""
        if spec["kind"] == "functional":
            return self.functional(spec)
        if spec["kind"] == "subclassed":
            return self.subclassed(spec)
        return self.part({**spec, "do": "line", "shape": spec["inputs"][0][0]})


OPERATIONS = {
    "affine": lambda ops, x: x * 2.0 + 0.5,
    "sum": lambda ops, x, y: x + y,
    "product": lambda ops, x, y: x * y,
    "tanh": lambda ops, x: ops.tanh(x),
    "mean": lambda ops, x: ops.mean(x, axis=1),
    "swapped": lambda ops, x: ops.swapaxes(x, 1, 2),
}


def arranged(items: list[Any], how: str, word: str) -> Any:
    """Return one item by itself, a list, or a dict whose keys are in another order."""
    if how == "one":
        return items[0]
    return items if how == "list" else {f"{word}{i}": x for i, x in reversed([*enumerate(items)])}


def listed(items: Any, word: str) -> list[Any]:
    if isinstance(items, dict):
        return [items[f"{word}{i}"] for i in range(len(items))]
    return list(items) if isinstance(items, (list, tuple)) else [items]


# --- a random description -------------------------------------------------------------------------


class Draw:
    """Draws one description.

    Each tensor is known by its shape without the samples, and whether it may have a mask.
    """

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng([seed, 31])
        self.seed = seed

    def one_of(self, items: Any) -> Any:
        return items[int(self.rng.integers(len(items)))]

    def chance(self, share: float) -> bool:
        return bool(self.rng.random() < share)

    def number(self, low: int, high: int) -> int:
        return int(self.rng.integers(low, high + 1))

    # Layers: name, options, and the shape of the result.

    def activation(self) -> str:
        return self.one_of(ACTIVATIONS)

    def dense(self, units: int | None = None) -> Spec:
        options: Spec = {"units": units or self.number(2, 4), "activation": self.activation()}
        for key, values, share in (
            ("kernel_regularizer", ("l1", "l2"), 0.15),
            ("activity_regularizer", ("l2",), 0.1),
            ("kernel_constraint", ("max_norm", "unit_norm"), 0.1),
            ("use_bias", (False,), 0.1),
        ):
            if self.chance(share):
                options[key] = self.one_of(values)
        return options

    def plain_layer(self, shape: list[int], masked: bool) -> tuple[str, Spec, list[int]]:
        """Return a layer for a tensor of this shape."""
        dense = self.dense()
        normal = {"momentum": 0.6, "scale": self.chance(0.8)}
        found: list[tuple[str, Spec, list[int]]] = [
            ("Dense", dense, [*shape[:-1], dense["units"]]),
            ("BatchNormalization", normal, shape),
            ("BatchNormalization", normal, shape),
            ("LayerNormalization", {"epsilon": 1e-2}, shape),
            ("Activation", {"activation": self.activation()}, shape),
            ("Dropout", {"rate": 0.0}, shape),
            ("PReLU", {}, shape),
            ("UnitNormalization", {}, shape),
            ("ActivityRegularization", {"l2": 0.01}, shape),
        ]
        if len(shape) == 1:
            found += [("Dense", dense, [dense["units"]])] * 3
            found.append(("RepeatVector", {"n": 3}, [3, *shape]))
        if len(shape) == 2:
            units, keeps = self.number(2, 3), self.chance(0.5)
            kept = [shape[0], units] if keeps else [units]
            inner = {"units": units, "return_sequences": keeps}
            name = self.one_of(["LSTM", "GRU", "SimpleRNN"])
            both = [*kept[:-1], 2 * units]
            timed = self.dense()
            timed.pop("activity_regularizer", None)  # Keras divides by other numbers of samples
            found += [
                (name, inner, kept),
                (name, inner, kept),
                ("Bidirectional", {"layer": [name, inner]}, both),
                ("TimeDistributed", {"layer": ["Dense", timed]}, [shape[0], timed["units"]]),
                ("Conv1D", {"filters": units, "kernel_size": 2, "padding": "same"},
                 [shape[0], units]),
                ("GlobalAveragePooling1D", {}, [shape[1]]),
                ("Masking", {"mask_value": 0.0}, shape),
            ]  # fmt: skip
            if not masked:
                found.append(("GlobalMaxPooling1D", {}, [shape[1]]))
                found.append(("Flatten", {}, [shape[0] * shape[1]]))
        if len(shape) == 3:
            height, width, channels = shape
            filters = self.number(2, 3)
            conv = {"kernel_size": 2, "padding": "same", "activation": self.activation()}
            found += [
                ("Conv2D", {"filters": filters, **conv}, [height, width, filters]),
                ("Conv2D", {"filters": filters, **conv}, [height, width, filters]),
                ("DepthwiseConv2D", conv, shape),
                ("SeparableConv2D", {"filters": filters, **conv}, [height, width, filters]),
                ("GlobalAveragePooling2D", {}, [channels]),
                ("AveragePooling2D", {"pool_size": 2, "padding": "same"},
                 [-(-height // 2), -(-width // 2), channels]),
                ("Flatten", {}, [height * width * channels]),
            ]  # fmt: skip
        return self.one_of(found)

    def layer_step(self, of: int, shape: list[int], masked: bool) -> tuple[Spec, list[int]]:
        name, options, result = self.plain_layer(shape, masked)
        return {"do": "layer", "name": name, "options": options, "of": [of]}, result

    def line(self, shape: list[int], masked: bool) -> tuple[Spec, list[int]]:
        """Return a Sequential model for a tensor of this shape."""
        steps, now = [], shape
        for _ in range(self.number(1, 3)):
            step, now = self.layer_step(0, now, masked)
            steps.append(step)
        return {"do": "line", "steps": steps, "has_input": self.chance(0.3), "shape": shape}, now

    def inside(
        self, shapes: list[list[int]], masked: bool, owns: bool, depth: int
    ) -> tuple[list[Spec], list[int]]:
        """Return steps from tensors of these shapes to one, for a layer or model inside."""
        part = Steps(self, [(shape, masked) for shape in shapes], owns, depth)
        for _ in range(self.number(1, 3)):
            part.add()
        part.join()
        return part.steps, part.tensors[-1][0]

    # The whole.

    def draw(self) -> Spec:
        kinds = [([4], "float"), ([4], "float"), ([3, 4], "float"), ([4, 4, 2], "float"),
                 ([3], "int")]  # fmt: skip
        kind = self.one_of(["functional", "functional", "subclassed", "subclassed", "line"])
        spec: Spec = {"seed": self.seed, "kind": kind, "own": 0, "in_as": "one", "out_as": "one"}
        if kind == "line":
            shape = self.one_of(kinds[:4])[0]
            step, shape = self.line(shape, False)
            spec |= {"inputs": [[step["shape"], "float"]], "steps": step["steps"]}
            spec |= {"has_input": step["has_input"], "outputs": [len(step["steps"])]}
            while len(shape) > 1:
                step, shape = self.layer_step(0, shape, True)
                spec["steps"].append(step)
            self.finish(spec, [(shape, False)], line=True)
            return spec
        spec["inputs"] = [list(self.one_of(kinds)) for _ in range(self.one_of([1, 1, 1, 2, 2]))]
        count = len(spec["inputs"])
        spec["in_as"] = self.one_of(["list", "dict"]) if count > 1 else "one"
        part = Steps(self, [], kind == "subclassed", 0)
        for shape, of_kind in spec["inputs"]:
            part.tensors.append((shape if of_kind == "float" else [*shape, -1], False))
        part.count = count
        for i, (shape, of_kind) in enumerate(spec["inputs"]):
            if of_kind == "int":
                options = {"input_dim": WORDS, "output_dim": 3, "mask_zero": self.chance(0.6)}
                part.put({"do": "layer", "name": "Embedding", "options": options, "of": [i]},
                         [*shape, 3], options["mask_zero"])  # fmt: skip
        for _ in range(self.number(2, 5)):
            part.add()
        spec["own"] = part.owned
        if kind == "subclassed":  # whether `call` tells its layers if it is training
            spec["tells"] = self.seed % 3 > 0
        spec["steps"] = part.steps
        loose = part.loose()
        outputs = loose if len(loose) <= 2 else [*loose[:1], *loose[-1:]]
        for i in set(loose) - set(outputs):
            outputs[0] = part.joined(outputs[0], i)
        self.finish(spec, [part.tensors[i] for i in outputs], part=part, outputs=outputs)
        return spec

    def finish(
        self, spec: Spec, tensors: list[Any], line: bool = False, part: Any = None,
        outputs: Any = (),
    ) -> None:  # fmt: skip
        """Add the last layers, and say how to train."""
        spec["losses"], spec["shapes"], found = [], [], []
        for number, (shape, masked) in enumerate(tensors):
            loss, activation, target = self.one_of(LOSSES)
            step = {"do": "layer", "name": "Dense",
                    "options": {"units": 3 if target != "bit" else 1, "activation": activation},
                    "of": [outputs[number] if part else 0]}  # fmt: skip
            shape = [*shape[:-1], step["options"]["units"]]
            if part:
                found.append(part.put(step, shape, masked))
            else:
                spec["steps"].append(step)
            spec["losses"].append([loss, target])
            spec["shapes"].append(shape)
        if part:
            spec["outputs"] = found
            spec["out_as"] = self.one_of(["list", "dict"]) if len(found) > 1 else "one"
        text = json.dumps(spec["steps"])
        spec["float64"] = "BatchNormalization" in text
        has_masks = "Masking" in text or '"mask_zero": true' in text
        spec["samples"] = self.one_of([10, 12, 12, 12])  # 10: the second batch is smaller
        spec["optimizer"] = self.one_of(OPTIMIZERS)
        word = "accuracy" if spec["losses"][0][1] == "class" else "mae"
        has_metrics = len(found) < 2 and not has_masks and self.chance(0.4)
        spec["metrics"] = [word] if has_metrics else None
        spec["loss_weights"] = [1.0, 0.3] if len(found) > 1 and self.chance(0.4) else None
        spec["frozen"] = self.number(0, 5) if self.chance(0.2) else None
        spec["weights"] = self.one_of(["none", "none", "samples", "samples", "classes"])
        if max(map(len, spec["shapes"])) > 1:  # Keras refuses many of them
            spec["weights"] = "none"
        is_flat = len(spec["shapes"]) == 1 and len(spec["shapes"][0]) == 1
        if spec["weights"] == "classes" and not (is_flat and spec["losses"][0][1] == "class"):
            spec["weights"] = "none"
        spec["way"] = self.one_of(["fit", "fit", "batches"])
        spec["validated"] = self.chance(0.4)
        spec["callbacks"] = [name for name in CALLBACKS if self.chance(0.2)]


def has_penalty(step: Spec) -> bool:
    """Return whether a step adds a loss that depends on its inputs."""
    text = json.dumps(step)
    return any(word in text for word in ("activity_reg", "ActivityReg", '"do": "loss"'))


class Steps:
    """Steps that are drawn one after the other, of a model or of a layer with parts.

    Attributes
    ----------
    owned : bool
        Whether a step uses a weight of the owner's own.
    """

    def __init__(self, draw: Draw, tensors: list[Any], owns: bool, depth: int) -> None:
        self.draw, self.tensors, self.depth = draw, tensors, depth
        self.owns = owns  # whether the steps are those of a `call`, not of a graph
        self.steps: list[Spec] = []
        self.count = len(tensors)
        self.owned = 0

    def put(self, step: Spec, shape: list[int], masked: bool) -> int:
        self.steps.append(step)
        self.tensors.append((shape, masked))
        return len(self.tensors) - 1

    def loose(self) -> list[int]:
        """Return the tensors that no step uses, but for inputs that an Embedding is to read."""
        used = {i for step in self.steps for i in step["of"]}
        return [i for i in range(len(self.tensors)) if i not in used and -1 not in self.shape(i)]

    def shape(self, i: int) -> list[int]:
        return self.tensors[i][0]

    def floats(self) -> list[int]:
        return [i for i in range(len(self.tensors)) if -1 not in self.shape(i)]

    def join(self) -> None:
        """Make one tensor of all that are not used."""
        loose = self.loose()
        while len(loose) > 1:
            loose = [*loose[2:], self.joined(loose[0], loose[1])]
        if loose and loose[0] != len(self.tensors) - 1:
            shape, masked = self.tensors[loose[0]]
            step = {"do": "op", "name": "affine", "of": [loose[0]]}
            self.put(step, shape, masked)

    def flat(self, i: int) -> int:
        shape = self.shape(i)
        if len(shape) == 1:
            return i
        name = f"GlobalAveragePooling{len(shape) - 1}D"
        return self.put({"do": "layer", "name": name, "options": {}, "of": [i]}, shape[-1:], False)

    def joined(self, i: int, j: int) -> int:
        """Return the number of a tensor made of two."""
        draw = self.draw
        if self.shape(i) != self.shape(j):
            i, j = self.flat(i), self.flat(j)
        masked = self.tensors[i][1] or self.tensors[j][1]
        shape = list(self.shape(i))
        if shape == self.shape(j) and draw.chance(0.7):
            if draw.chance(0.3):
                return self.put({"do": "op", "name": "sum", "of": [i, j]}, shape, masked)
            name = draw.one_of(["Add", "Multiply", "Average", "Subtract"])
            return self.put({"do": "layer", "name": name, "options": {}, "of": [i, j]}, shape,
                            masked)  # fmt: skip
        shape[-1] += self.shape(j)[-1]
        step = {"do": "layer", "name": "Concatenate", "options": {}, "of": [i, j]}
        return self.put(step, shape, masked)

    def add(self) -> None:
        """Draw a step."""
        draw = self.draw
        i = draw.one_of((self.loose() or self.floats())[-3:])
        shape, masked = self.tensors[i]
        kinds = ["layer", "layer", "again", "again", "merge", "op", "line", "block"]
        if self.owns:
            kinds += ["constant", "loss", "scale"]
        if self.depth == 0:
            kinds += ["model"]
        kind = draw.one_of(kinds)
        if self.depth > 1 and kind in ("block", "model"):
            kind = "line"
        getattr(self, f"add_{kind}")(i, shape, masked)

    def add_layer(self, i: int, shape: list[int], masked: bool) -> None:
        step, result = self.draw.layer_step(i, shape, masked)
        self.put(step, result, masked or step["name"] == "Masking")

    def add_again(self, i: int, shape: list[int], masked: bool) -> None:
        """Call a layer that was called before, on a tensor of the same shape."""
        earlier = [
            number
            for number, step in enumerate(self.steps)
            if step["do"] in ("layer", "line", "model", "block")
            and step.get("name") != "Embedding"
            and not has_penalty(step)
            and len(step["of"]) == 1
            and self.shape(step["of"][0]) == shape
        ]
        if not earlier:
            self.add_shared(i, shape, masked)
            return
        number = self.draw.one_of(earlier)
        result = self.shape(self.count + number)
        self.put({"do": "again", "again": number, "of": [i]}, result, masked)

    def add_shared(self, i: int, shape: list[int], masked: bool) -> None:
        """Call a layer twice, on a tensor and on another one made of it."""
        step, result = self.draw.layer_step(i, shape, masked)
        while has_penalty(step):
            step, result = self.draw.layer_step(i, shape, masked)
        self.put(step, result, masked or step["name"] == "Masking")
        first = len(self.steps) - 1
        other = self.put({"do": "op", "name": "tanh", "of": [i]}, shape, masked)
        self.put({"do": "again", "again": first, "of": [other]}, result, masked)

    def add_merge(self, i: int, shape: list[int], masked: bool) -> None:
        others = [j for j in self.floats() if j != i]
        if others:
            self.joined(i, self.draw.one_of(others))
        else:
            self.add_layer(i, shape, masked)

    def add_op(self, i: int, shape: list[int], masked: bool) -> None:
        name = self.draw.one_of(["affine", "tanh", "product"])
        if name == "product" or masked:
            self.put({"do": "op", "name": "product", "of": [i, i]}, shape, masked)
        elif len(shape) == 2 and self.draw.chance(0.4):
            if self.draw.chance(0.5):
                self.put({"do": "op", "name": "mean", "of": [i]}, shape[1:], False)
            else:
                self.put({"do": "op", "name": "swapped", "of": [i]}, shape[::-1], False)
        else:
            self.put({"do": "op", "name": name, "of": [i]}, shape, masked)

    def add_line(self, i: int, shape: list[int], masked: bool) -> None:
        step, result = self.draw.line(shape, masked)
        self.put({**step, "of": [i]}, result, True)

    def add_model(self, i: int, shape: list[int], masked: bool) -> None:
        steps, result = self.draw.inside([shape], masked, False, self.depth + 1)
        step = {"do": "model", "steps": steps, "inputs": [[shape, "float"]], "of": [i],
                "outputs": [len(steps)], "in_as": "one", "out_as": "one"}  # fmt: skip
        self.put(step, result, True)

    def add_block(self, i: int, shape: list[int], masked: bool) -> None:
        """Put in a layer of an own class, of one tensor or of two."""
        of, draw = [i], self.draw
        others = [j for j in self.floats() if j != i]
        if others and draw.chance(0.4):
            of.append(draw.one_of(others))
        part = Steps(draw, [self.tensors[j] for j in of], True, self.depth + 1)
        for _ in range(draw.number(1, 3)):
            part.add()
        part.join()
        result = part.tensors[-1][0]
        step = {"do": "block", "steps": part.steps, "count": len(of), "of": of, "own": part.owned,
                "shape": result, "made": draw.one_of(["init", "build"])}  # fmt: skip
        self.put(step, result, True)

    def add_constant(self, i: int, shape: list[int], masked: bool) -> None:
        """Add what a layer computes of a constant, or of a weight of the owner."""
        kind = self.draw.one_of(["positions", "ones", "sum", "weight"])
        if kind == "positions" and len(shape) < 2:
            kind = "ones"
        sizes = [shape[-2], shape[-1]] if kind == "positions" else [shape[-1]]
        if kind == "weight":
            self.owned = self.owned or shape[-1]
        self.put({"do": "constant", "kind": kind, "sizes": sizes, "of": [i]}, shape, masked)

    def add_loss(self, i: int, shape: list[int], masked: bool) -> None:
        self.put({"do": "loss", "of": [i]}, shape, masked)

    def add_scale(self, i: int, shape: list[int], masked: bool) -> None:
        if self.owned not in (0, shape[-1]):
            self.add_layer(i, shape, masked)
            return
        self.owned = shape[-1]
        self.put({"do": "scale", "of": [i]}, shape, masked)


LOSSES = [
    ("mean_squared_error", "linear", "float"),
    ("mean_absolute_error", "tanh", "float"),
    ("binary_crossentropy", "sigmoid", "bit"),
    ("categorical_crossentropy", "softmax", "one_hot"),
    ("sparse_categorical_crossentropy", "softmax", "class"),
    ("sparse_categorical_crossentropy", "softmax", "class"),
]
# A large epsilon: where a gradient is zero by its formula, noise would be divided by noise.
OPTIMIZERS: list[tuple[str, Spec]] = [
    ("SGD", {"learning_rate": 0.05}),
    ("SGD", {"learning_rate": 0.02, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"learning_rate": 0.05, "clipnorm": 0.1}),
    ("RMSprop", {"learning_rate": 0.01, "epsilon": 1e-2}),
    ("Adam", {"learning_rate": 0.01, "epsilon": 1e-2}),
    ("AdamW", {"learning_rate": 0.01, "epsilon": 1e-2, "weight_decay": 0.01}),
    ("Adagrad", {"learning_rate": 0.02}),
]


# --- training -------------------------------------------------------------------------------------


def scheduled(library: Any, builder: Builder) -> Any:
    return library.callbacks.LearningRateScheduler(lambda epoch, rate: rate * (0.5, 1.5)[epoch % 2])


def on_a_plateau(library: Any, builder: Builder) -> Any:
    return library.callbacks.ReduceLROnPlateau("loss", factor=0.5, patience=1, min_delta=0.05)


def stopping(library: Any, builder: Builder) -> Any:
    return library.callbacks.EarlyStopping("loss", patience=1, min_delta=0.05,
                                           restore_best_weights=True)  # fmt: skip


def shrinking(library: Any, builder: Builder) -> Any:
    """Return a callback that writes weights between epochs."""

    class Shrink(library.callbacks.Callback):
        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            self.model.set_weights([0.9 * np.asarray(w) for w in self.model.get_weights()])

    return Shrink()


CALLBACKS = {f.__name__: f for f in (scheduled, on_a_plateau, stopping, shrinking)}


def data_of(spec: Spec) -> tuple[Any, Any, Any]:
    """Return inputs, targets and weights of samples."""
    rng, count = np.random.default_rng([spec["seed"], 1]), spec["samples"]
    float_type = "float64" if spec["float64"] else "float32"
    inputs, targets, weights = [], [], []
    for shape, kind in spec["inputs"]:
        if kind == "int":
            x = rng.integers(1, WORDS, (count, *shape)).astype("int32")
            x[::3, 2:] = x[1::4, 1:] = 0
        else:
            x = rng.normal(size=(count, *shape)).astype(float_type)
            if len(shape) == 2:
                x[::3, 2:] = x[1::4, 1:] = 0
        inputs.append(x)
    for (_, kind), shape in zip(spec["losses"], spec["shapes"], strict=True):
        size = (count, *shape)
        classes = rng.integers(0, shape[-1], size[:-1])
        y = {
            "float": rng.normal(size=size),
            "bit": rng.random(size) > 0.5,
            "one_hot": np.eye(shape[-1])[classes],
            "class": classes,
        }[kind]
        targets.append(y.astype("int32" if kind == "class" else float_type))
        weights.append(rng.uniform(0, 2, count).round().astype(float_type))
    return (
        arranged(inputs, spec["in_as"], "in"), arranged(targets, spec["out_as"], "out"),
        arranged(weights, spec["out_as"], "out"),
    )  # fmt: skip


def compiled(library: Any, spec: Spec, model: Any) -> None:
    name, options = spec["optimizer"]
    losses = [loss for loss, _ in spec["losses"]]
    weights = spec["loss_weights"]
    model.compile(
        getattr(library.optimizers, name)(**options),
        arranged(losses, spec["out_as"], "out"),
        metrics=spec["metrics"],
        loss_weights=arranged(weights, spec["out_as"], "out") if weights else None,
    )


def values(leaf: Any) -> list[np.ndarray]:
    if hasattr(leaf, "get_weights"):
        return [np.asarray(w) for w in leaf.get_weights()]
    return [np.asarray(leaf.get_value() if hasattr(leaf, "get_value") else leaf.value)]


def assign(leaf: Any, arrays: list[np.ndarray]) -> None:
    if hasattr(leaf, "set_weights"):
        leaf.set_weights(arrays)
    else:
        leaf.assign(arrays[0])


def drawn(leaf: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """Return other weights for a layer; variances are positive."""
    return [
        rng.uniform(*((0.3, 0.9) if w.ndim < 2 else (-0.5, 0.6)), w.shape).astype(w.dtype)
        for w in values(leaf)
    ]


def sketch(array: Any) -> list[float]:
    """Return a few numbers that tell an array from one with an entry that differs."""
    a = np.asarray(array, "float64").ravel()
    waves = np.cos(np.arange(a.size) * 1.7 + 0.3)
    return [float(a.mean()), float(np.sqrt((a * a).mean())), float(a @ waves) / a.size**0.5]


def sketches(outputs: Any) -> list[list[float]]:
    return [sketch(y) for y in listed(outputs, "out")]


def batch_of(data: Any, rows: slice) -> Any:
    if isinstance(data, dict):
        return {name: x[rows] for name, x in data.items()}
    return [x[rows] for x in data] if isinstance(data, list) else data[rows]


def trained(library: Any, spec: Spec) -> dict[str, Any]:
    """Build and train the model of a description; return losses, and sketches of all else."""
    builder = Builder(library)
    x, y, weights = data_of(spec)
    model = builder.model(spec)
    model(batch_of(x, slice(0, 2)))  # makes the weights of what has no Input
    leaves = [leaf for leaf in builder.leaves if values(leaf)]
    rng = np.random.default_rng([spec["seed"], 2])
    start = [drawn(leaf, rng) for leaf in leaves]
    for leaf, arrays in zip(leaves, start, strict=True):
        assign(leaf, arrays)
    layers = [leaf for leaf in leaves if hasattr(leaf, "get_weights")]
    if spec["frozen"] is not None and len(layers) > 1:
        layers[spec["frozen"] % (len(layers) - 1)].trainable = False
    compiled(library, spec, model)
    found: dict[str, Any] = {"before": sketches(model.predict(x, batch_size=BATCH, verbose=0))}
    options: Spec = {"sample_weight": weights} if spec["weights"] == "samples" else {}
    if spec["weights"] == "classes":
        options["class_weight"] = {0: 0.5, 1: 2.0, 2: 1.0}
    if spec["way"] == "fit":
        if spec["validated"]:
            options["validation_data"] = (x, y)
        history = model.fit(
            x, y, batch_size=BATCH, epochs=EPOCHS, shuffle=False, verbose=0,
            callbacks=[CALLBACKS[name](library, builder) for name in spec["callbacks"]], **options,
        ).history  # fmt: skip
        if spec["kind"] == "subclassed" and spec["out_as"] == "list":
            history = {k: v for k, v in history.items() if k in ("loss", "val_loss")}
        found["losses"] = {name: [*map(float, history[name])] for name in sorted(history)}
    else:
        losses = []
        for step in range(STEPS):
            rows = slice(0, BATCH) if step % 2 == 0 else slice(BATCH, None)
            some = {k: v if k == "class_weight" else batch_of(v, rows) for k, v in options.items()}
            loss = model.train_on_batch(batch_of(x, rows), batch_of(y, rows), **some)
            losses.append(float(loss[0] if isinstance(loss, (list, tuple)) else loss))
        found["losses"] = {"loss": losses}
    loss = model.evaluate(x, y, batch_size=BATCH, verbose=0)
    found["losses"]["evaluated"] = [float(loss[0] if isinstance(loss, (list, tuple)) else loss)]
    found["weights"] = [sketch(w) for leaf in leaves for w in values(leaf)]
    found["after"] = sketches(model.predict(x, batch_size=BATCH, verbose=0))
    for leaf, arrays in zip(leaves, start, strict=True):
        assign(leaf, [0.5 * (a + b) for a, b in zip(arrays, values(leaf), strict=True)])
    found["between"] = sketches(model.predict(x, batch_size=BATCH, verbose=0))
    return found


def spec_of(seed: int) -> Spec:
    """Return the description of a seed, as it comes from JSON."""
    return json.loads(json.dumps(Draw(seed).draw()))


if __name__ == "__main__":
    print(json.dumps(spec_of(int(sys.argv[1])), indent=1))
