"""Configurations that ask for too much: refused while they are read, whatever format holds them."""

from __future__ import annotations

import copy
import importlib.util
import io
import json
import random
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, ClassVar

import h5py
import numpy as np
import pytest
from layer_contract import inputs_for, unpacked

import kerascope as ks
from kerascope.cli.commands import main
from kerascope.engine import network_config
from kerascope.errors import ConfigError, KerascopeError, KerascopeWarning
from kerascope.layers import LSTM, Dense, Input, Layer
from kerascope.limits import Limits, current_budget
from kerascope.models import (
    Model,
    Sequential,
    clone_model,
    load_model,
    model_from_config,
    model_from_json,
    model_from_yaml,
)
from kerascope.registry import custom_object_scope

# Reads each text of a file, with 200 MB more than Python has; a hang ends by the test's time limit.
CHILD = """
import gc, json, sys, warnings
warnings.simplefilter("ignore")
import yaml
from pathlib import Path
from kerascope.errors import KerascopeError
from kerascope.models import model_from_json, model_from_yaml
rows = json.loads(Path(sys.argv[1]).read_text())
status = Path("/proc/self/status")
if status.is_file():  # Linux; elsewhere such a limit holds nothing
    import resource
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmSize"))
    most = int(line.split()[1]) * 1024 + 200 * 2**20
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
for name, reader, text in rows:
    try:
        {"json": model_from_json, "yaml": model_from_yaml}[reader](text)
        print(json.dumps([name, None, ""]), flush=True)
    except KerascopeError as error:
        print(json.dumps([name, type(error).__name__, str(error)]), flush=True)
    error = None
    gc.collect()
"""


def read_in_a_child(rows: list[Any], folder: Path) -> dict[str, tuple[str | None, str]]:
    """Return the class of the error, None if a model was made, and its words, by the rows' names.

    A MemoryError of Python, a crash, and any error that is not ours fail here.
    """
    path = folder / "rows.json"
    path.write_text(json.dumps(rows))
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)], capture_output=True, text=True, timeout=300
    )
    found = {
        name: (kind, words) for name, kind, words in map(json.loads, child.stdout.split("\n")[:-1])
    }
    assert child.returncode == 0, (list(found)[-1:], child.stderr[-2000:])
    assert len(found) == len(rows)
    for name, (_, words) in found.items():
        for bad in ("MemoryError", "OverflowError", "RecursionError"):
            assert bad not in words, name
    return found


# --- texts that ask for too much ------------------------------------------------------------------

ROW = {"batch_input_shape": [None, 4]}
STEPS = {"batch_input_shape": [None, 8, 4]}
IMAGE = {"batch_input_shape": [None, 8, 8, 4]}


def layer(class_name: str, name: str = "", **config: Any) -> dict[str, Any]:
    return {"class_name": class_name, "config": {"name": name or class_name.lower(), **config}}


def line(*layers: Any, name: str = "line") -> str:
    return json.dumps(layer("Sequential", name, layers=list(layers)))


def of_units(units: Any, **more: Any) -> str:
    return line(layer("Dense", units=units, **{**ROW, **more}))


def nested(times: int) -> str:
    """A model that calls a model twice, which calls one twice, ...: 2^times calls of one Dense."""
    x = Input((4,), name="x")
    model = Model(x, Dense(4, name="d")(x), name="m0").get_config()
    for number in range(1, times):
        inner = {"class_name": "Model", "config": model, "name": model["name"]}
        calls = [[["x", 0, 0, {}]]], [[[model["name"], 0, 0, {}]]]
        model = {
            "name": f"m{number}",
            "layers": [model["layers"][0], {**inner, "inbound_nodes": [*calls[0], *calls[1]]}],
            "input_layers": [["x", 0, 0]],
            "output_layers": [[model["name"], 1, 0]],
        }
    return json.dumps({"class_name": "Model", "config": model})


def two_each(levels: int) -> str:
    """A model that holds two models, which hold two each, ...: none is called more than once."""
    x = Input((4,), name="x")
    model = Model(x, Dense(4, name="d")(x), name="m").get_config()
    first = model["layers"][0]
    for _ in range(levels):
        layers = [first]
        for name, before in (("a", "x"), ("b", "a")):
            inner = {"class_name": "Model", "config": {**model, "name": name}, "name": name}
            layers.append({**inner, "inbound_nodes": [[[before, 0, 0, {}]]]})
        ends = {"input_layers": [["x", 0, 0]], "output_layers": [["b", 0, 0]]}
        model = {"name": "m", "layers": layers, **ends}
    return json.dumps({"class_name": "Model", "config": model})


def cells(number: int, units: int) -> dict[str, Any]:
    inner = [layer("LSTMCell", f"cell{i}", units=units) for i in range(number)]
    return {"class_name": "StackedRNNCells", "config": {"cells": inner}}


def orthogonal(size: int) -> str:
    shape = {"batch_input_shape": [None, size]}
    return of_units(size, kernel_initializer={"class_name": "Orthogonal", "config": {}}, **shape)


NAMED = "more than 50,000 ops, layers and calls (all that it names)"
MANY = [layer("LSTM", f"l{i}", units=2, unroll=True, return_sequences=True) for i in range(200)]
SPREAD = layer("TimeDistributed", layer=layer("Dense", units=10**9), **STEPS)
REFUSED = {
    "units": (of_units(10**9), "weight 'kernel' in Dense 'dense' of shape (4, 1000000000)"),
    "units beyond all": (of_units(10**400), "at most 2^63, got about 10^400: 'units' in"),
    "units that are infinite": (of_units(float("inf")), "too large or infinite"),
    "units that are a great float": (of_units(1e300), "of shape (4, about 10^300)"),
    "units below zero": (of_units(-5), "got -5"),
    "units that are no number": (of_units(float("nan")), "got nan"),
    "units in words": (of_units("many"), "got 'many'"),
    "orthogonal": (orthogonal(20_000), "of shape (20000, 20000)"),
    "orthogonal of half": (orthogonal(10_000), "orthogonal matrix of shape (10000, 10000)"),
    "identity": (
        of_units(30_000, kernel_initializer="identity", batch_input_shape=[None, 30_000]),
        "of shape (30000, 30000)",
    ),
    "resizing": (
        line(layer("Resizing", height=3, width=10**18, batch_input_shape=[None, 5, 4, 3])),
        "of shape (4, 1000000000000000000), but all constants together may have 67,108,864",
    ),
    "unrolled": (
        line(layer("LSTM", units=2, unroll=True, batch_input_shape=[None, 3_000_000, 2])),
        "at a loop written out over 3000000 steps",
    ),
    "stateful": (
        line(layer("LSTM", units=2, stateful=True, batch_input_shape=[10**9, 5, 2])),
        "a state 0 in LSTM 'lstm' of shape (1000000000, 2)",
    ),
    "embedding": (
        line(layer("Embedding", input_dim=10**9, output_dim=8, batch_input_shape=[None, 8])),
        "of shape (1000000000, 8)",
    ),
    "kernel": (
        line(layer("Conv2D", filters=2, kernel_size=[10**5] * 2, padding="same", **IMAGE)),
        "of shape (100000, 100000, 4, 2)",
    ),
    "padding, made flat": (
        line(layer("ZeroPadding2D", padding=10**9, **IMAGE), layer("Flatten"),
             layer("Dense", units=2)),
        "about 10^19",
    ),
    "repeated, made flat": (
        line(layer("RepeatVector", n=10**9, **ROW), layer("Flatten"), layer("Dense", units=2)),
        "of shape (4000000000, 2)",
    ),
    "local": (
        line(layer("LocallyConnected1D", filters=4, kernel_size=[3],
                   batch_input_shape=[None, 10**8, 4])),
        "of shape (99999998, 12, 4)",
    ),
    "in a wrapper": (line(SPREAD), "of shape (4, 1000000000)"),
    "in a model in a wrapper": (
        line(layer("TimeDistributed", layer=json.loads(of_units(10**9)), **STEPS)),
        "of shape (4, 1000000000)",
    ),
    "in a wrapper in a wrapper": (
        line(layer("TimeDistributed", "outer", layer=SPREAD, batch_input_shape=[None, 2, 8, 4])),
        "of shape (4, 1000000000)",
    ),
    "cells": (line(layer("RNN", cell=cells(30, 10**5), **STEPS)), "of shape (100000, 400000)"),
    "deep": (
        json.dumps(
            json.loads("[" * 150 + "]" * 150)
            and {"class_name": "Sequential", "config": json.loads("[" * 250 + "]" * 250)}
        ),
        "nested too deeply",
    ),
    "brackets": ("[" * 5_000_000, "more than 400,000 values"),
    "lists": ("[" + ",".join(["[]"] * 2_000_000) + "]", "more than 400,000 values"),
    "unrolled many times": (
        line(layer("Masking", batch_input_shape=[None, 1000, 2]), *MANY),
        "more than 50,000 ops, layers and calls (at ",
    ),
    "layers": (
        line(*[layer("Dense", f"d{i}", units=2, **ROW) for i in range(20_000)]), NAMED
    ),
    "models in models": (nested(40), NAMED),
    "models of two models": (two_each(11), NAMED),
    "digits": ('{"class_name": ' + "1" * 5_000_000 + "}", "is not valid JSON"),
}  # fmt: skip
BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
    for old, new in zip("abcdefghijk", "bcdefghijkl", strict=True)
)
REFUSED_YAML = {
    "aliases": (BOMB, "got an alias (*name) in line 2"),
    "keys": ("".join(f"k{i}: x\n" for i in range(50_000)), "more than 80,000 keys and values"),
    "merged": ("a: &a {b: 1}\nc:\n  <<: *a\n", "got an alias (*name) in line 3"),
    "brackets": ("[" * 50_000, "nested too deeply"),
    "dashes": ("- " * 50_000 + "x", "nested too deeply"),
    "questions": ("? " * 50_000 + "x", "nested too deeply"),
    "number of base 60": ("a: 1" + ":1" * 100_000, "has a number of 200001 characters"),
    "fraction of base 60": ("a: 1" + ":1" * 100_000 + ".5", "has a number of 200003 characters"),
    "long": ("a: " + "x" * 3_000_000, "at most 2,097,152 characters, got 3,000,003"),
    "code": ("!!python/object/apply:os.system ['exit 3']", "not plain YAML"),
    "units": ("class_name: Sequential\nconfig:\n  name: s\n  layers:\n  - class_name: Dense\n"
              "    config: {name: d, units: 1000000000, batch_input_shape: [null, 4]}\n",
              "of shape (4, 1000000000)"),
}  # fmt: skip
# A shape costs nothing: only whoever runs such a model needs the memory.
MADE = {
    "padding": line(layer("ZeroPadding1D", padding=10**9, **STEPS)),
    "repeated": line(layer("RepeatVector", n=10**9, **ROW)),
    "enlarged": line(layer("UpSampling2D", size=[10**9, 10**9], **IMAGE)),
    "pooled": line(layer("MaxPooling2D", pool_size=[10**9] * 2, padding="same", **IMAGE)),
    "unrolled": line(layer("LSTM", units=2, unroll=True, batch_input_shape=[None, 300, 2])),
    "of a great range": of_units(
        4, kernel_constraint={"class_name": "MaxNorm", "config": {"max_value": 1e308}}
    ),
}


def test_texts_that_ask_for_too_much_are_refused_in_200_mb(tmp_path):
    rows = [[f"json {name}", "json", text] for name, (text, _) in REFUSED.items()]
    rows += [[f"yaml {name}", "yaml", text] for name, (text, _) in REFUSED_YAML.items()]
    rows += [[f"made {name}", "json", text] for name, text in MADE.items()]
    found = read_in_a_child(rows, tmp_path)
    for format_name, expected in (("json", REFUSED), ("yaml", REFUSED_YAML)):
        for name, (_, words) in expected.items():
            kind, said = found[f"{format_name} {name}"]
            assert kind is not None, name
            assert words in said, (name, said)
            assert said.startswith(f"model_from_{format_name}: "), said
    assert [name for name in MADE if found[f"made {name}"][0]] == []


def chain(number: int) -> dict[str, Any]:
    """A model of layers behind each other, one of them called twice at the end."""
    inputs = {"batch_input_shape": [None, 2]}
    layers = [{**layer("InputLayer", "x", **inputs), "name": "x", "inbound_nodes": []}]
    for i in range(number):
        before = f"d{i - 1}" if i else "x"
        calls = [[[before, 0, 0, {}]]]
        layers.append({**layer("Dense", f"d{i}", units=2), "name": f"d{i}", "inbound_nodes": calls})
    layers[1]["inbound_nodes"].append([[f"d{number - 1}", 0, 0, {}]])
    config = {"name": "m", "layers": layers, "input_layers": [["x", 0, 0]]}
    return {"class_name": "Model", "config": {**config, "output_layers": [["d0", 1, 0]]}}


def test_the_layers_of_a_file_may_stand_in_any_order():
    config = chain(300)
    model = model_from_json(json.dumps(config))
    for seed in range(3):
        random.Random(seed).shuffle(config["config"]["layers"])
        again = model_from_json(json.dumps(config))
        assert [x.name for x in again.layers] == [x.name for x in model.layers]
        again.set_weights(model.get_weights())
        x = np.ones((2, 2))
        np.testing.assert_array_equal(again.predict(x), model.predict(x))


def test_a_long_file_in_the_worst_order_takes_one_go(monkeypatch):
    looked: list[Any] = []
    exists = network_config._exists
    monkeypatch.setattr(network_config, "_exists", lambda *a: (looked.append(0), exists(*a))[1])
    config = chain(500)
    config["config"]["layers"].reverse()
    model_from_json(json.dumps(config))
    assert len(looked) < 3 * 501


def test_a_graph_that_refers_to_itself_or_names_two_layers_alike_is_refused():
    config = chain(5)
    layers = config["config"]["layers"]
    for reference in (["d4", 0, 0, {}], ["d1", -1, 0, {}], ["none", 0, 0, {}], ["d2", 0, 0, {}]):
        bad = copy.deepcopy(config)
        bad["config"]["layers"][3]["inbound_nodes"] = [[reference]]
        with pytest.raises(ConfigError, match="no call in it makes the inputs of"):
            model_from_json(json.dumps(bad))
    layers.append(layers[2])
    with pytest.raises(ConfigError, match='The name "d1" is used 2 times'):
        model_from_json(json.dumps(config))


# --- any argument of any layer --------------------------------------------------------------------

HOSTILE = [
    *(10**9, 10**18, 10**400, -1, 0, -(10**9), 0.5, 1e308, float("nan"), float("inf")),
    *("x" * 20, "", None, [], [[]], {}, [10**9] * 3, True, {"class_name": "Dense", "config": {}}),
]


def texts_of_all_layers() -> list[str]:
    texts = []
    for path in sorted((Path(__file__).parents[1] / "layers").glob("cases_*.py")):
        spec = importlib.util.spec_from_file_location(f"limits_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for case in module.CASES:
            if not case.name.endswith(("Cell", "Cells", "Wrapper")):
                inputs = inputs_for(case.arrays)
                model = Model(inputs, case.make()(unpacked(inputs)))
                try:
                    texts.append(model.to_json())
                except ConfigError:  # a function without a name
                    continue
    return texts


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Return (container, key) of everything inside a configuration."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for key, inner in items:
        found.append((value, key))
        if isinstance(inner, (dict, list)):
            found += places_in(inner)
    return found


def damaged(text: str, rng: random.Random) -> str:
    config = copy.deepcopy(json.loads(text))
    container, key = rng.choice(places_in(config["config"]["layers"]))
    container[key] = rng.choice(HOSTILE)
    return json.dumps(config)


@pytest.mark.parametrize("times", [1, pytest.param(30, marks=pytest.mark.slow)])
def test_a_hostile_value_anywhere_in_any_layer_gives_a_model_or_our_error(times, tmp_path):
    rng = random.Random(times)
    texts = texts_of_all_layers()
    assert len(texts) > 100
    rows = [
        [f"{n}.{i}", "json", damaged(x, rng)] for n, x in enumerate(texts) for i in range(times)
    ]
    found = read_in_a_child(rows, tmp_path)
    refused = [kind for kind, _ in found.values() if kind]
    assert len(rows) / 10 < len(refused) < len(rows)


# --- what is not refused --------------------------------------------------------------------------


def wide() -> Sequential:
    return Sequential([Dense(2000, input_shape=(1100,)), Dense(1)])


SMALL = Limits(numbers=100, parts=10**6)


@pytest.mark.parametrize("read", [model_from_json, model_from_yaml])
def test_limits_can_be_others_or_none(read):
    text = wide().to_json()
    with pytest.raises(ConfigError, match="may have 100 numbers .* limits=None, or --no-limits"):
        read(text, limits=SMALL)
    assert read(text).count_params() == read(text, limits=None).count_params() == 2204001


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_a_model_whose_weights_are_in_the_file_is_not_refused_for_its_size(ending, tmp_path):
    model = wide()
    model.save(tmp_path / f"m.{ending}")
    again = load_model(tmp_path / f"m.{ending}", limits=Limits(numbers=100, spare=0))
    for a, b in zip(model.get_weights(), again.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


class Asks(Layer):
    """Notes what limits hold while its weights are made."""

    seen: ClassVar[list[Any]] = []

    def build(self, input_shape):
        self.seen.append(current_budget())
        self.add_weight("w", (1,))


def test_what_is_made_in_code_or_from_a_configuration_in_memory_is_not_limited():
    Asks.seen.clear()
    model = Sequential([Asks(input_shape=(2,))])
    config = {"class_name": "Sequential", "config": model.get_config()}
    with custom_object_scope({"Asks": Asks}):
        model_from_config(config)
        Sequential.from_config(config["config"])
        clone_model(model)
        assert Asks.seen == [None] * 4
        read = model_from_json(model.to_json(), limits=SMALL)
        assert Asks.seen[4].limits is SMALL
        clone_model(read)
    assert Asks.seen[5:] == [None]
    bigger = Sequential([read, Dense(500), Dense(200)])
    assert bigger(np.zeros((1, 2))).shape == (1, 200)


def test_a_layer_that_gets_its_weights_when_data_comes_is_limited_too(tmp_path):
    model = model_from_json(line(layer("Dense", units=10**9)))
    with pytest.raises(ConfigError, match="of shape \\(4, 1000000000\\)"):
        model.predict(np.zeros((1, 4)))
    model = Sequential([Dense(3)])
    (tmp_path / "a.json").write_text(model.to_json())
    assert (
        model_from_json(model.to_json(), limits=Limits(numbers=15)).predict(np.zeros((1, 4))).any()
        == 0
    )


# --- files and commands ---------------------------------------------------------------------------


def archive_with(config: str, folder: Path) -> Path:
    Sequential([Dense(2, input_shape=(4,))]).save(folder / "good.keras")
    with zipfile.ZipFile(folder / "good.keras") as good:
        members = {name: good.read(name) for name in good.namelist()}
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, data in {**members, "config.json": config.encode()}.items():
            archive.writestr(name, data)
    (folder / "bad.keras").write_bytes(content.getvalue())
    return folder / "bad.keras"


def hdf5_with(config: str, folder: Path) -> Path:
    Sequential([Dense(2, input_shape=(4,))]).save(folder / "bad.h5")
    with h5py.File(folder / "bad.h5", "r+") as file:
        file.attrs["model_config"] = config
    return folder / "bad.h5"


@pytest.mark.parametrize("file_of", [archive_with, hdf5_with])
@pytest.mark.parametrize(
    ("name", "words"),
    [("units", "its weights are only 10 numbers"), ("unrolled", "3000000 steps"),
     ("orthogonal", "of shape"), ("stateful", "a state 0"), ("brackets", "400,000 values"),
     ("units beyond all", "about 10^400")],
)  # fmt: skip
def test_files_are_limited_as_texts_are(file_of, name, words, tmp_path):
    if name == "brackets" and file_of is hdf5_with:
        pytest.skip("an attribute of HDF5 holds no 5 MB")
    with pytest.raises(KerascopeError) as caught:
        load_model(file_of(REFUSED[name][0], tmp_path))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ks.metrics.AUC(num_thresholds=50), "thresholds of AUC of shape .900000000"),
        (lambda: ks.metrics.PrecisionAtRecall(0.5, 50), "thresholds of PrecisionAtRecall of shape"),
    ],
)
def test_a_metric_in_a_file_is_limited(make, words, tmp_path):
    model = Sequential([Dense(2, input_shape=(4,))])
    model.compile("sgd", "mse", metrics=[make()])
    model.save(tmp_path / "m.keras")
    with zipfile.ZipFile(tmp_path / "m.keras") as archive:
        config = archive.read("config.json").decode()
    with pytest.warns(KerascopeWarning, match=f"a metric is omitted: .* {words}"):
        load_model(archive_with(config.replace(": 50", ": 900000000"), tmp_path))


def test_counts_of_a_metric_in_a_file_are_limited(tmp_path):
    for metric in (ks.metrics.MeanIoU(50), ks.metrics.OneHotIoU(50, [1])):
        model = Sequential([Dense(2, input_shape=(4,))])
        model.compile("sgd", "mse", metrics=[metric])
        model.save(tmp_path / "m.keras")
        with zipfile.ZipFile(tmp_path / "m.keras") as archive:
            config = archive.read("config.json").decode()
        with pytest.raises(ConfigError, match=r"total_confusion_matrix.* of shape .900000000, "):
            load_model(archive_with(config.replace(": 50", ": 900000000"), tmp_path))


def test_the_commands_that_read_a_file_have_an_option_without_limits(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = json.loads(Sequential([Dense(2, input_shape=(4,))]).to_json())
    Path("long.json").write_text(json.dumps({**model, "notes": "long" * 1000}))
    monkeypatch.setattr("kerascope.saving.untrusted.LARGEST_CONFIG", 4000)
    assert main(["summary", "long.json"]) == 2
    assert "--no-limits" in capsys.readouterr().err
    for command in (["summary", "long.json"], ["draw", "long.json", "-o", "-"]):
        assert main([*command, "--no-limits"]) == 0


def test_unrolling_in_code_goes_as_far_as_it_is_asked():
    x = Input((1500, 1))
    assert LSTM(1, unroll=True)(x).shape == (None, 1)
