"""Files that the first edition wrote are opened, compute the same, and train on as they would have.

Which they are says `guards/samples.py`, which wrote them.
"""

from __future__ import annotations

import importlib
import io
import json
import pickle
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kerascope as ks
from guards import samples
from guards.interface import speaking
from kerascope.cli import main
from kerascope.layers import Dense
from kerascope.spellings import override_dialect
from kerascope.trace.tape import Tape

with zipfile.ZipFile(samples.FILE) as archive:
    LIST: dict[str, Any] = json.loads(archive.read(samples.LIST))
FILES = [sample["file"] for sample in LIST["models"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("first_edition")
    with zipfile.ZipFile(samples.FILE) as archive:
        archive.extractall(place)
    return place


def numbers_of(folder: Path, file: str) -> dict[str, Any]:
    sample = next(sample for sample in LIST["models"] if sample["file"] == file)
    with np.load(folder / sample["numbers"]) as stored:
        return dict(stored)


def dialect_of(file: str) -> str:
    return next(sample["dialect"] for sample in LIST["models"] if sample["file"] == file)


def disagreement(folder: Path, file: str) -> str | None:
    # The first edition did not correct moving variances in dialect "2.2", as Keras 2.2.4 does.
    as_then = override_dialect(corrects_variance=False)
    with speaking(dialect_of(file)), as_then, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an old dialect's words
        return samples.disagreement(folder / file, numbers_of(folder, file))


# --- models ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("file", FILES)
def test_a_model_is_opened_predicts_the_same_and_trains_the_same_step(
    file: str, folder: Path
) -> None:
    assert disagreement(folder, file) is None


def test_there_is_a_sample_of_each_form_in_each_dialect() -> None:
    forms = {(Path(file).suffix, dialect_of(file)) for file in FILES}
    assert {ending for ending, _ in forms} == set(samples.OPENERS)
    assert {dialect for _, dialect in forms} == {"1.2", "2.2", "3"}
    assert {(".pickle", "1.2"), (".h5", "1.2"), (".keras", "2.2"), (".keras", "3")} <= forms
    assert len(FILES) > 25
    assert samples.FILE.stat().st_size < 300_000


@pytest.mark.parametrize("name", ["weights", "predicted", "stepped"])
def test_other_weights_predictions_and_steps_would_be_seen(name: str, folder: Path) -> None:
    file = "pictures-2.2.keras"
    stored = numbers_of(folder, file)
    stored[f"{name}0"] = stored[f"{name}0"] * 1.001 + 1e-4
    assert samples.disagreement(folder / file, stored) == name


def test_a_class_that_cannot_be_found_by_its_old_path_would_be_seen(monkeypatch, folder) -> None:
    monkeypatch.delattr(importlib.import_module("kerascope.layers.core"), "Dense")
    with pytest.raises(AttributeError, match="Dense"):
        samples.open_pickle(folder / "layer.pickle")
    monkeypatch.undo()
    assert isinstance(samples.open_pickle(folder / "layer.pickle"), Dense)


def test_a_model_whose_class_moved_would_be_seen(monkeypatch, folder: Path) -> None:
    monkeypatch.delattr(importlib.import_module("kerascope.engine.sequential"), "Sequential")
    with pytest.raises(AttributeError, match="Sequential"):
        disagreement(folder, "pictures-2.2.pickle")


def test_a_changed_way_of_training_would_be_seen(monkeypatch, folder: Path) -> None:
    right = ks.optimizers.Adam.step
    monkeypatch.setattr(
        ks.optimizers.Adam, "step", lambda self, p, g, lr_t, m, v: right(self, p, g, lr_t / 2, m, v)
    )
    assert disagreement(folder, "pictures-2.2.h5") == "stepped"


# --- single things --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LIST["things"])
def test_a_pickled_thing_is_opened_and_is_what_it_was(name: str, folder: Path) -> None:
    thing = samples.open_pickle(folder / f"{name}.pickle")
    assert samples.is_same(samples.facts_of_thing(name, thing), LIST["things"][name])


def test_a_pickled_function_computes_what_its_model_does(folder: Path) -> None:
    function = samples.open_pickle(folder / "function.pickle")
    ones = [np.ones((2, 4), "float32"), np.ones((2, 4), "float32")]
    first, second = function(ones)
    assert first.shape == (2, 1)
    assert second.shape == (2, 2)
    assert not np.allclose(first, function([2 * x for x in ones])[0])


def test_another_value_in_a_thing_would_be_seen() -> None:
    told = {"a": [1.5, "x", None, {"b": [2]}]}
    assert samples.is_same(told, json.loads(json.dumps(told)))
    for other in ({"a": [1.6, "x", None, {"b": [2]}]}, {"a": [1.5, "x", None, {"c": [2]}]}, {}):
        assert not samples.is_same(told, other)


# --- the tape -------------------------------------------------------------------------------------


def test_a_tape_is_read_and_answers_as_it_did(folder: Path) -> None:
    tape = Tape.load(folder / "forks.jsonl")
    assert json.loads(json.dumps(samples.facts_of_tape(tape))) == LIST["tape"]


def test_the_debugger_goes_forward_and_back_on_a_tape(folder: Path, capsys) -> None:
    words = ["-c", "b shared", "-c", "c", "-c", "p inputs", "-c", "rs", "-c", "goto 0", "-c", "q"]
    assert main(["replay", str(folder / "forks.jsonl"), *words]) == 0
    said = capsys.readouterr().out
    assert "shared" in said
    assert "***" not in said


def test_a_tape_with_a_field_that_nobody_knows_would_be_seen(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "forks.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    lines[1] = lines[1].replace('"p":', '"q":', 1)
    (tmp_path / "forks.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")
    (tmp_path / "forks.npz").write_bytes((folder / "forks.npz").read_bytes())
    with pytest.raises(ks.errors.ConfigError, match="line 2"):
        Tape.load(tmp_path / "forks.jsonl")


# --- the command ----------------------------------------------------------------------------------


def test_samples_are_never_written_over(tmp_path: Path, capsys) -> None:
    path = tmp_path / "samples.zip"
    path.write_bytes(b"those of an edition")
    assert samples.main([str(path)]) == 2
    assert "stay as they are" in capsys.readouterr().err
    assert path.read_bytes() == b"those of an edition"


def test_the_same_files_are_packed_into_the_same_bytes(tmp_path: Path) -> None:
    source = tmp_path / "files"
    source.mkdir()
    for name in ("b.txt", "a.txt"):
        (source / name).write_text(name * 100, encoding="utf-8")
    packed = []
    for path in (tmp_path / "one.zip", tmp_path / "two.zip"):
        samples.pack(source, path)
        packed.append(path.read_bytes())
    assert packed[0] == packed[1]
    with zipfile.ZipFile(io.BytesIO(packed[0])) as archive:
        assert archive.namelist() == ["a.txt", "b.txt"]


def test_a_layer_of_a_user_is_pickled_by_its_place() -> None:
    layer = pickle.loads(pickle.dumps(samples.Scaled(4.0, name="s")))
    assert type(layer) is samples.Scaled
    assert layer.factor == 4.0
