"""The guard of samples writes an edition: files that all later versions of the code must open.

    python -m guards.samples FILE.zip       write such files with the present code

`tests/samples/first_edition.zip` contains files that commit 4a5e894 wrote: models as pickles, as
`.keras` and `.h5` files, as JSON and YAML with their weights; pickles of single objects; and a
tape. They are never written again; each edition gets a new archive. `samples.json` describes each
file, and the `.npz` files contain inputs, targets, predictions, and the weights after one more
training step. `tests/guards/test_samples.py` opens them all.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import kerascope as ks
from guards.happenings import data_of, forks, pictures, sequences, some
from guards.interface import speaking
from kerascope import backend as K
from kerascope import layers, models
from kerascope.trace.tape import Tape, trace
from kerascope.viz.exports.to_networkx import to_json

FILE = Path(__file__).resolve().parent.parent / "tests" / "samples" / "first_edition.zip"
LIST = "samples.json"


# --- a layer, a loss and a metric of a user -------------------------------------------------------


class Scaled(layers.Layer):
    """A custom layer that multiplies by a factor and by trainable weights."""

    def __init__(self, factor: float = 2.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.factor = factor

    def build(self, input_shape: Any) -> None:
        """Create the weights: one for each column of the inputs."""
        self.scale = self.add_weight(name="scale", shape=(input_shape[-1],), initializer="ones")
        super().build(input_shape)

    def call(self, inputs: Any) -> Any:
        """Return the inputs, multiplied by the factor and the weights."""
        return inputs * self.scale * self.factor

    def compute_output_shape(self, input_shape: Any) -> Any:
        """Return the shape of the inputs."""
        return input_shape


def own_loss(y_true: Any, y_pred: Any) -> Any:
    """Return the fourth power of the error, as a user's own loss."""
    return K.mean(K.square(K.square(y_true - y_pred)), axis=-1)


def own_metric(y_true: Any, y_pred: Any) -> Any:
    """Return the greatest error, as a user's own metric."""
    return K.max(K.abs(y_true - y_pred), axis=-1)


OWN = {"Scaled": Scaled, "own_loss": own_loss, "own_metric": own_metric}


def own() -> Any:
    """Return a compiled model with a custom layer, loss and metric."""
    model = ks.Sequential(name="own")
    model.add(layers.Dense(3, activation="tanh", input_shape=(4,), name="first"))
    model.add(Scaled(3.0, name="scaled"))
    model.add(layers.Dense(2, name="last"))
    model.compile("adam", own_loss, metrics=[own_metric])
    return model


def data(model: Any) -> tuple[list[Any], list[Any]]:
    """Return the inputs and the targets with which a sample's model is trained, as lists."""
    x, y = (some(4, 4), some(4, 2)) if model.name == "own" else data_of(model)
    return [x] if not isinstance(x, list) else x, [y] if not isinstance(y, list) else y


MODELS: dict[str, Callable[[], Any]] = {
    "pictures": pictures, "forks": forks, "sequences": sequences, "own": own,
}  # fmt: skip


# --- kinds of files -------------------------------------------------------------------------------
# How a model is written and opened, by file extension. Formats without the architecture have the
# model's configuration in a second file.


def write_pickle(model: Any, path: Path) -> None:
    """Write a model as a pickle that every Python since 3.8 reads."""
    path.write_bytes(pickle.dumps(model, protocol=4))


def open_pickle(path: Path) -> Any:
    """Return the object in a pickle."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of the first edition's paths
        return pickle.loads(path.read_bytes())


def open_file(path: Path) -> Any:
    """Return the model of a `.keras` or `.h5` file."""
    return models.load_model(str(path), custom_objects=OWN)


def open_json(path: Path) -> Any:
    """Return the model from a JSON file, with weights from a separate file."""
    model = models.model_from_json(path.read_text(encoding="utf-8"), custom_objects=OWN)
    model.load_weights(str(path.with_suffix(".weights.h5")))
    return model


def open_yaml(path: Path) -> Any:
    """Return the model from a YAML file, with weights from a separate file."""
    model = models.model_from_yaml(path.read_text(encoding="utf-8"), custom_objects=OWN)
    model.load_weights(str(path.with_suffix(".old-weights.h5")))
    return model


def _write_json(model: Any, path: Path) -> None:
    path.write_text(model.to_json(), encoding="utf-8", newline="\n")
    model.save_weights(str(path.with_suffix(".weights.h5")))


def _write_yaml(model: Any, path: Path) -> None:
    path.write_text(model.to_yaml(), encoding="utf-8", newline="\n")
    model.save_weights(str(path.with_suffix(".old-weights.h5")))


def _write_file(model: Any, path: Path) -> None:
    model.save(str(path))


OPENERS: dict[str, Callable[[Path], Any]] = {
    ".pickle": open_pickle, ".keras": open_file, ".h5": open_file, ".json": open_json,
    ".yaml": open_yaml,
}  # fmt: skip
_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    ".pickle": write_pickle, ".keras": _write_file, ".h5": _write_file, ".json": _write_json,
    ".yaml": _write_yaml,
}  # fmt: skip
# Formats that do not store the loss and the optimizer.
UNCOMPILED = (".json", ".yaml")
# The formats of each model and dialect. Only a few have an `.h5` file, because it is large.
_FORMS: dict[tuple[str, str], tuple[str, ...]] = {
    ("pictures", "1.2"): (".pickle", ".h5", ".json", ".yaml"),
    ("pictures", "2.2"): (".pickle", ".h5", ".keras", ".yaml"),
    ("pictures", "3"): (".pickle", ".keras"),
    ("forks", "1.2"): (".pickle", ".h5"),
    ("forks", "2.2"): (".pickle", ".h5", ".keras", ".json", ".yaml"),
    ("forks", "3"): (".pickle", ".keras", ".json"),
    ("sequences", "1.2"): (".pickle",),
    ("sequences", "2.2"): (".pickle", ".h5", ".keras"),
    ("sequences", "3"): (".pickle", ".keras", ".json"),
    ("own", "2.2"): (".pickle", ".h5", ".keras", ".json"),
    ("own", "3"): (".pickle", ".keras"),
}


def things(model: Any) -> dict[str, Any]:
    """Return the objects of a trained model that are also written as pickles, one by one."""
    return {
        "layer": layers.Dense(2, activation="relu", name="unbuilt"),
        "built_layer": model.get_layer("shared"),
        "optimizer": model.optimizer,
        "function": model.predict_function,
        "history": model.history,
        "initializer": ks.initializers.VarianceScaling(2.0, seed=1),
        "regularizer": ks.regularizers.l2(0.1),
        "constraint": ks.constraints.MaxNorm(3),
        "metric": ks.metrics.CategoricalAccuracy(),
        "schedule": ks.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5),
        "callback": ks.callbacks.EarlyStopping(patience=3),
        "graph": ks.draw(model).graph,
        "error": ks.errors.ShapeError("dense_1: wrong shape"),
        "variable": K.variable([1.0, 2.0], name="v"),
    }


# --- what they are compared by --------------------------------------------------------------------


def step(model: Any, x: list[Any], y: list[Any]) -> list[Any]:
    """Train a model for one step, and return its weights after the step."""
    model.train_on_batch(x, y)
    return list(model.get_weights())


def predicted(model: Any, x: list[Any]) -> list[Any]:
    """Return the predictions of a model as a list."""
    told = model.predict(x, verbose=0)
    return list(told) if isinstance(told, list) else [told]


def numbered(**lists: Sequence[Any]) -> dict[str, Any]:
    """Return the arrays of several lists, by their names in an `.npz` file: `x0`, `x1`, ..."""
    return {f"{name}{i}": array for name, arrays in lists.items() for i, array in enumerate(arrays)}


def listed(arrays: Any, name: str) -> list[Any]:
    """Return the list that an `.npz` file contains as arrays; for "x" they are `x0`, `x1`, ..."""
    count = sum(1 for key in arrays if key.rstrip("0123456789") == name)
    return [arrays[f"{name}{i}"] for i in range(count)]


def facts_of_tape(tape: Tape) -> dict[str, Any]:
    """Return facts about a tape: kinds of events, names at some times, and a value's origin."""
    times = [0, len(tape) // 3, len(tape) // 2, len(tape) - 1]
    last = tape.filter(kind="update.apply")[-1]
    origin = tape.origin(last.name)
    kinds: dict[str, int] = {}
    for event in tape:
        kinds[f"{event.kind} {event.ph}"] = kinds.get(f"{event.kind} {event.ph}", 0) + 1
    return {
        "events": len(tape),
        "kinds": dict(sorted(kinds.items())),
        "names_at": {str(t): sorted(tape.names_at(t)) for t in times},
        "spans_at": {str(t): [f"{e.kind} {e.name}" for e in tape.spans_at(t)] for t in times},
        "last": [last.t, last.name, [delta.name for delta in last.deltas]],
        "origin": None if origin is None else [origin.t, origin.kind, origin.name],
    }


def facts_of_thing(name: str, thing: Any) -> Any:
    """Return the state of an object, such as its configuration, as JSON data to be compared."""
    x, _ = data_of_forks()
    if name == "function":
        told: Any = [array.tolist() for array in thing(x)]
    elif name in ("built_layer", "optimizer"):
        weights = [np.asarray(weight).tolist() for weight in thing.get_weights()]
        told = [thing.get_config(), weights]
    elif name == "history":
        told = [thing.epoch, thing.history]
    elif name == "callback":
        told = [thing.monitor, thing.patience]
    elif name == "graph":
        told = to_json(thing)
    elif name == "error":
        told = [type(thing).__name__, str(thing)]
    elif name == "variable":
        told = [thing.name, K.get_value(thing).tolist()]
    else:
        told = [type(thing).__name__, thing.get_config()]
    return json.loads(json.dumps(told, default=lambda value: np.asarray(value).tolist()))


def data_of_forks() -> tuple[list[Any], list[Any]]:
    """Return inputs and targets for the model `happenings.forks`, which has two of each."""
    return [some(4, 4), some(4, 4)], [some(4, 1), some(4, 2)]


def is_same(one: Any, two: Any) -> bool:
    """Return whether two pieces of JSON data are equal up to rounding of their numbers.

    Examples
    --------
    >>> is_same({"a": [1.0, "b"]}, {"a": [1.0000001, "b"]}), is_same([1], [1, 2]), is_same("a", 1)
    (True, False, False)
    """
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(is_same(one[key], two[key]) for key in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(is_same, one, two))
    if isinstance(one, float) and isinstance(two, float):
        return bool(np.isclose(one, two, rtol=1e-5, atol=1e-7))
    return type(one) is type(two) and one == two


# --- writing --------------------------------------------------------------------------------------


def write_all(folder: Path) -> None:
    """Write all samples into an empty folder, and check that the same code opens them."""
    listed_samples = []
    for (name, dialect), endings in _FORMS.items():
        with speaking(dialect), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            listed_samples += list(_write_model(folder, name, dialect, endings))
    with speaking("2.2"):
        model = forks()
        with trace() as tape:
            model.fit(*data(model), verbose=0)
        tape.save(folder / "forks.jsonl")
        model.predict(data(model)[0], verbose=0)
        for name, thing in things(model).items():
            write_pickle(thing, folder / f"{name}.pickle")
    told = {
        "models": listed_samples,
        "things": {name: facts_of_thing(name, thing) for name, thing in things(model).items()},
        "tape": facts_of_tape(Tape.load(folder / "forks.jsonl")),
    }
    text = json.dumps(told, indent=1, ensure_ascii=False) + "\n"
    (folder / LIST).write_text(text, encoding="utf-8", newline="\n")


def _write_model(
    folder: Path, name: str, dialect: str, endings: tuple[str, ...]
) -> Iterator[dict[str, str]]:
    """Train a model for two steps and write it in each format; return descriptions of the files."""
    ks.utils.set_random_seed(1)
    K.reset_uids()
    model = MODELS[name]()
    x, y = data(model)
    for _ in range(2):
        model.train_on_batch(x, y)
    numbers = f"{name}-{dialect}.npz"
    for ending in endings:
        path = folder / f"{name}-{dialect}{ending}"
        _WRITERS[ending](model, path)
        yield {"file": path.name, "numbers": numbers, "dialect": dialect}
    reopened = OPENERS[endings[0]](folder / f"{name}-{dialect}{endings[0]}")
    arrays = numbered(
        x=x, y=y, predicted=predicted(model, x), weights=model.get_weights(),
        stepped=step(reopened, x, y),
    )  # fmt: skip
    np.savez_compressed(folder / numbers, **arrays)
    for ending in endings:
        with np.load(folder / numbers) as stored:
            complaint = disagreement(folder / f"{name}-{dialect}{ending}", dict(stored))
        assert complaint is None, (name, dialect, ending, complaint)


def disagreement(path: Path, stored: dict[str, Any]) -> str | None:
    """Compare a sample's model with its stored arrays; return what differs, or None.

    This is "weights", "predicted", or "stepped" (the weights after a training step).
    """
    model = OPENERS[path.suffix](path)
    x, y = listed(stored, "x"), listed(stored, "y")
    found = {"weights": model.get_weights(), "predicted": predicted(model, x)}
    if path.suffix not in UNCOMPILED:
        found["stepped"] = step(model, x, y)
    for name, arrays in found.items():
        wanted = listed(stored, name)
        if len(wanted) != len(arrays) or not all(map(_is_close, arrays, wanted)):
            return name
    return None


def _is_close(array: Any, wanted: Any) -> bool:
    return np.shape(array) == wanted.shape and np.allclose(array, wanted, rtol=1e-5, atol=1e-6)


def pack(folder: Path, path: Path) -> None:
    """Write all files of a folder into one archive, whose bytes depend only on the files."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for member in sorted(folder.iterdir()):
            info = zipfile.ZipInfo(member.name, (2020, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, member.read_bytes())


def main(words: Sequence[str] | None = None) -> int:
    """Write the samples; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m guards.samples",
        description="Write sample files with the present code.",
        epilog="exit codes: 0 written, 2 wrong usage, or the file is there already",
    )
    parser.add_argument("file", type=Path, metavar="FILE.zip")
    path = parser.parse_args(words).file
    if path.exists():
        print(f"{path} is there: the samples of an edition stay as they are", file=sys.stderr)
        return 2
    # Pickles store the module's real name, under which other processes can import its layer.
    from guards import samples

    with tempfile.TemporaryDirectory() as folder:
        samples.write_all(Path(folder))
        pack(Path(folder), path)
        count = len(os.listdir(folder))
    print(f"{count} files by kerascope {ks.__version__}: {path}, {path.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
