"""Collects facts about runs: events, names that a paused stage shows, logs and exported graphs.

They are collected while a few small models are built, compiled, fitted and drawn. So a renamed
field, name or key is noticed, wherever the source defines it.
"""

from __future__ import annotations

import io
import json
import re
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import kerascope as ks
from guards.interface import is_ours, speaking
from kerascope import backend as K
from kerascope import layers
from kerascope.backend.gradient import gradient_stage
from kerascope.stage import Stage, observing
from kerascope.trace.records import Record
from kerascope.trace.report import RunReport
from kerascope.trace.reporting import reporting
from kerascope.trace.tape import trace
from kerascope.trace.tape_files import read_events
from kerascope.trace.walking import walk
from kerascope.viz.exports.to_networkx import from_json, to_graphml, to_json
from kerascope.viz.story import json_of

LEVELS = ("layer", "node", "op", "gradient", "training")


# --- the models -----------------------------------------------------------------------------------


def pictures() -> Any:
    """Return a compiled Sequential with convolution, normalization, pooling, dropout and Dense."""
    model = ks.Sequential(name="pictures")
    model.add(
        layers.Conv2D(2, (3, 3), activation="relu", input_shape=(6, 6, 1), name="convolution")
    )
    model.add(layers.BatchNormalization(name="norm"))
    model.add(layers.MaxPooling2D(name="pool"))
    model.add(layers.Flatten(name="flat"))
    model.add(layers.Dropout(0.5, seed=1, name="drop"))
    model.add(layers.Dense(2, activation="softmax", kernel_regularizer="l2", name="end"))
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
    return model


def forks() -> Any:
    """Return a compiled Model with a shared layer, a nested model and two outputs."""
    left, right = ks.Input(shape=(4,), name="left"), ks.Input(shape=(4,), name="right")
    shared = layers.Dense(3, activation="tanh", name="shared")
    inner_input = ks.Input(shape=(3,), name="inner_input")
    inner = ks.Model(inner_input, layers.Dense(3, name="inside")(inner_input), name="inner")
    joined = layers.add([shared(left), inner(shared(right))], name="joined")
    ends = [layers.Dense(1, name="first")(joined), layers.Dense(2, name="second")(joined)]
    model = ks.Model([left, right], ends, name="forks")
    model.compile("sgd", ["mse", "mae"], metrics={"second": ["mse"]}, loss_weights=[1.0, 0.5])
    return model


def sequences() -> Any:
    """Return a compiled Sequential for sequences, with masks and a Bidirectional layer."""
    model = ks.Sequential(name="sequences")
    model.add(layers.Embedding(5, 3, mask_zero=True, input_length=4, name="words"))
    model.add(layers.Bidirectional(layers.LSTM(2, return_sequences=True), name="both"))
    model.add(layers.GRU(2, name="gru"))
    model.add(layers.Dense(1, activation="sigmoid", name="end"))
    model.compile("rmsprop", "binary_crossentropy", metrics=["accuracy"])
    return model


def some(*shape: int) -> Any:
    """Return an array of this shape of random numbers with a fixed seed."""
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def data_of(model: Any) -> tuple[Any, Any]:
    """Return four rows of data for the model "pictures", "sequences" or one with two inputs."""
    if model.name == "pictures":
        return some(4, 6, 6, 1), np.eye(2, dtype="float32")[[0, 1, 0, 1]]
    if model.name == "sequences":
        return np.array([[1, 2, 3, 0]] * 4), np.array([[0.0], [1.0]] * 2)
    return [some(4, 4), some(4, 4)], [some(4, 1), some(4, 2)]


def life(make: Callable[[], Any]) -> Any:
    """Build and compile a model by `make`, and use it as a user does: fit, evaluate, predict."""
    model = make()
    x, y = data_of(model)
    model.fit(x, y, batch_size=2, epochs=1, validation_data=(x, y), verbose=0)
    model.evaluate(x, y, verbose=0)
    model.predict(x, verbose=0)
    model.train_on_batch(x, y)
    return model


MODELS = (pictures, forks, sequences)


# --- events ---------------------------------------------------------------------------------------


def stage_facts(models: Iterable[Callable[[], Any]] = MODELS) -> Iterator[str]:
    """Yield the facts about stages: their events with fields, and the names shown while paused."""
    heard: set[str] = set()

    def hear(stage: Stage, event: Any) -> None:
        kind = "a stage" if isinstance(event, Stage) else type(event).__name__
        name = re.sub(r"_\d+$", "", stage.name)  # a function is called by its number
        if kind != "Mark":
            fields = ", ".join(getattr(event, "_fields", ()))
            heard.add(f"stage {name} yields {kind}" + (f"({fields})" if fields else ""))
            heard.update(f"stage {name} at {kind} shows {name_of}" for name_of in shown(stage))

    with observing(hear):
        for make in models:
            life(make)
        x = K.variable(3.0, name="x")
        gradient_stage(K.square(x) * 2, x).run()
    yield from heard


def shown(stage: Stage) -> list[str]:
    """Return the public names that a paused stage shows."""
    return [name for name in stage.names if not name.startswith(("_", "."))]


def event_facts(models: Iterable[Callable[[], Any]] = MODELS) -> Iterator[str]:
    """Yield the facts about the events on a tape: their kinds, phases and the names they record.

    Another fact is the grain of an event, which is how fine it is, such as "epoch" or "op".
    """
    for make in models:
        with trace() as tape:
            life(make)
        for event in tape:
            what = f"event {event.kind} {event.ph}"
            yield f"{what}: grain {event.grain}, in {event.act or '-'} / {event.phase or '-'}"
            for delta in event.deltas:
                yield f"{what}: tells {delta.name}" + ("" if delta.key is None else "[...]")


def tape_file_facts() -> Iterator[str]:
    """Yield the facts about a tape file: the fields of its header and of its other lines."""
    with trace() as tape:
        life(forks)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tape.jsonl"
        tape.save(path)
        lines = path.read_text(encoding="utf-8").splitlines()
        fields = {name for event in read_events(path) for name in event._fields}
    header, *events = map(json.loads, lines)
    yield f"tape file: format {header['format']!r}, version {header['version']}"
    yield from (f"tape file: the first line has {name!r}" for name in header)
    yield from {f"tape file: a line has {name!r}" for event in events for name in event}
    yield from (f"tape file: an event has {name}" for name in fields)


def story_facts() -> Iterator[str]:
    """Yield the facts about the records that `kerascope trace` writes: their kinds and fields."""
    records: list[Record] = []
    with reporting(RunReport(records.append, "op")):
        life(forks)
    for record in records:
        yield f"record {record.phase} {record.kind}"
        yield from (f"record {record.phase} {record.kind}: tells {name}" for name in record.facts)
    yield from (f"record: has {name}" for name in json.loads(json_of(records[0])))


def walk_facts() -> Iterator[str]:
    """Yield the facts about the steps of `kerascope.walk`: the names of their fields."""
    for step in walk(forks(), [some(2, 4), some(2, 4)]):
        told = getattr(step, "_fields", None) or vars(step)
        yield from (f"walk: a {type(step).__name__} has {name}" for name in told if name[0] != "_")


# --- logs, weights and configurations, by dialect -------------------------------------------------


def own_metric(y_true: Any, y_pred: Any) -> Any:
    """Return the mean of the predictions, as a user's own metric."""
    return K.mean(y_pred)


def log_facts() -> Iterator[str]:
    """Yield the facts about names: the keys of histories, and the names of metrics and layers."""
    for made in (_one_output(), _classes(), _two_outputs()):
        name, model, x, y = made
        history = model.fit(x, y, epochs=1, validation_data=(x, y), verbose=0).history
        yield from (f"log {name}: {key}" for key in history)
        yield f"log {name}: metrics_names {model.metrics_names}"
        told = model.evaluate(x, y, verbose=0)
        yield f"log {name}: evaluate gives {np.size(told)}"
        yield from (f"weight {name}: {weight.name}" for weight in model.weights)


def _one_output() -> tuple[str, Any, Any, Any]:
    ks.backend.reset_uids()
    model = ks.Sequential([layers.Dense(1, input_shape=(3,), activation="sigmoid")])
    metrics = ["accuracy", "mae", own_metric, "binary_crossentropy"]
    model.compile("sgd", "binary_crossentropy", metrics=metrics)
    return "one output", model, some(4, 3), np.array([[0.0], [1.0]] * 2)


def _classes() -> tuple[str, Any, Any, Any]:
    ks.backend.reset_uids()
    model = ks.Sequential([layers.Dense(3, input_shape=(3,), activation="softmax")])
    model.add(layers.BatchNormalization())
    metrics = ["acc", "top_k_categorical_accuracy", ks.metrics.CategoricalAccuracy()]
    model.compile("adam", "categorical_crossentropy", metrics=metrics)
    return "classes", model, some(4, 3), np.eye(3)[[0, 1, 2, 0]]


def _two_outputs() -> tuple[str, Any, Any, Any]:
    ks.backend.reset_uids()
    x = ks.Input(shape=(3,))
    ends = [
        layers.Dense(1, name="a")(x),
        layers.Dense(1)(layers.LSTM(2)(layers.RepeatVector(2)(x))),
    ]
    model = ks.Model(x, ends)
    model.compile("rmsprop", "mse", metrics=["mae"])
    return "two outputs", model, some(4, 3), [some(4, 1), some(4, 1)]


# Arguments of classes that cannot be created without any. Other configurations show all defaults.
_ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "Conv1D": (2, 3), "Conv2D": (2, 3), "Dense": (2,), "Dropout": (0.5,), "Embedding": (3, 2),
    "GRU": (2,), "LSTM": (2,), "SimpleRNN": (2,), "SeparableConv2D": (2, 3),
    "Conv2DTranspose": (2, 3),
}  # fmt: skip
_CONFIGURED = {
    "layers": (
        *_ARGUMENTS, "Activation", "BatchNormalization", "ELU", "Flatten", "LeakyReLU",
        "MaxPooling2D", "PReLU", "ReLU", "Softmax", "ThresholdedReLU", "UpSampling2D",
    ),
    "optimizers": (
        "SGD", "RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam",
    ),
    "initializers": (
        "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling", "Orthogonal",
        "Constant",
    ),
    "constraints": ("MaxNorm", "MinMaxNorm", "UnitNorm"),
    "regularizers": ("L1L2",),
}  # fmt: skip


def configuration_facts() -> Iterator[str]:
    """Yield the facts about configurations: those of objects with only their required arguments."""
    for module, names in _CONFIGURED.items():
        for name in names:
            arguments = ("relu",) if name == "Activation" else _ARGUMENTS.get(name, ())
            made = getattr(getattr(ks, module), name)(*arguments)
            for key, value in made.get_config().items():
                if key != "name" or module != "layers":
                    yield f"config {module}.{name}: {key} = {_written(value)}"


def _written(value: Any) -> str:
    """Return a value of a configuration as text, which is the same for each type of number."""
    return json.dumps(value, default=lambda other: getattr(other, "tolist", other.get_config)())


def dialect_facts() -> dict[str, list[str]]:
    """Return the facts about names and configurations in each dialect, by the dialect."""
    told = {}
    for dialect in ("1.2", "2.2", "3"):
        with speaking(dialect), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an old dialect may warn about old words
            told[dialect] = [*log_facts(), *configuration_facts()]
    return told


# --- what objects have ----------------------------------------------------------------------------


def attribute_facts() -> Iterator[str]:
    """Yield the facts about public attributes that objects have, but their classes do not."""
    x = ks.Input(shape=(3,), name="x")
    dense = layers.Dense(2, name="dense")
    model = ks.Model(x, dense(x), name="model")
    model.compile("adam", "mse", metrics=["mae"])
    history = model.fit(some(4, 3), some(4, 2), verbose=0)
    objects = {
        "tensor": dense.output, "layer": dense, "model": model, "optimizer": model.optimizer,
        "history": history, "node": dense._inbound_nodes[0], "variable": dense.weights[0],
        "train function": model.train_function, "operation": dense.output.owner,
    }  # fmt: skip
    for name, thing in objects.items():
        own = (word for word in getattr(thing, "__dict__", {}) if not word.startswith("_"))
        slots = (word for home in type(thing).__mro__ for word in getattr(home, "__slots__", ()))
        yield from (f"attribute of a {name}: {word}" for word in own)
        yield from (f"attribute of a {name}: {word}" for word in slots if word[0] != "_")
        if is_ours(type(thing)):
            yield f"attribute of a {name}: its class is {type(thing).__name__}"


# --- the graph as data ----------------------------------------------------------------------------


def graph_facts() -> Iterator[str]:
    """Yield the facts about graphs: the attributes of boxes, arrows and frames at each level."""
    for make in (forks, sequences):
        model = make()
        x, y = data_of(model)
        drawings = {level: ks.draw(model, level=level) for level in LEVELS}
        drawings["node, nested"] = ks.draw(model, expand_nested=True)
        drawings["node, values"] = ks.draw(model, values=x)
        drawings["node, gradients"] = ks.draw(model, gradients=(x, y))
        drawings["node, diff"] = ks.draw(model, diff=make())
        for level, drawing in drawings.items():
            yield from _attribute_facts(level, drawing.whole)


def _attribute_facts(level: str, graph: Any) -> Iterator[str]:
    parts = {"box": graph.nodes, "arrow": graph.edges, "frame": graph.groups, "whole": [graph]}
    for part, members in parts.items():
        for one in members:
            for name, value in one.attrs.items():
                yield f"graph, {level}: {part} has {name}, {type(value).__name__}"
            yield from _own_kinds(level, part, one)


def _own_kinds(level: str, part: str, one: Any) -> Iterator[str]:
    if part == "box":
        yield f"graph, {level}: box of kind {one.kind}"
    elif part == "arrow" and "role" in one.attrs:
        yield f"graph, {level}: arrow of role {one.attrs['role']}"


def export_facts() -> Iterator[str]:
    """Yield the facts about exported graphs: their keys in networkx, JSON and GraphML."""
    model = forks()
    for level in ("layer", "node"):
        network = ks.to_networkx(model, level=level)
        yield f"networkx, {level}: {type(network).__name__}"
        yield from {f"networkx, {level}: node {k}" for _, d in network.nodes(data=True) for k in d}
        yield from {
            f"networkx, {level}: edge {k}" for _, _, d in network.edges(data=True) for k in d
        }
        yield from (f"networkx, {level}: graph {key}" for key in network.graph)
    graph = ks.draw(model, expand_nested=True).whole
    text = to_json(graph)
    assert from_json(text) == graph
    told = json.loads(text)
    for key, value in told.items():
        yield f"json: {key}" + (f" = {value!r}" if isinstance(value, (str, int)) else "")
        for one in value if isinstance(value, list) else ():
            yield from (f"json: {key}: {own}" for own in one)
    for one in json.loads(told["graph"]["groups"]):
        yield from (f"json: groups: {own}" for own in one)
    keys = re.findall(r"<key ([^>]*)/?>", io.BytesIO(to_graphml(graph)).read().decode())
    for key in keys:
        words = dict(re.findall(r'([\w.]+)="([^"]*)"', key))
        yield f"graphml: {words['for']} {words['attr.name']}, {words['attr.type']}"


_HEARD = (stage_facts, event_facts, tape_file_facts, story_facts, walk_facts, attribute_facts)


def happening_facts() -> Iterator[str]:
    """Yield all facts about runs except those about names and configurations of each dialect."""
    with speaking("2.2"):
        for facts in _HEARD:
            yield from facts()
        yield from graph_facts()
        yield from export_facts()
