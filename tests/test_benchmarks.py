"""The paired benchmark runs, its columns compute the same, and its report can be made."""

from __future__ import annotations

import doctest
import importlib
import json
import math
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import kerascope
from benchmarks.paired import checking, cold, columns, environments, fresh, goals, report, results
from benchmarks.paired import workloads as tables
from benchmarks.paired.commands import main
from benchmarks.paired.data import arrays, weights
from benchmarks.paired.hand.flat import FlatWeights
from benchmarks.paired.peers.hand_numpy import Column as HandNumPy
from benchmarks.paired.peers.keras_models import Column as KerasModels

HAND_AND_KERASCOPE = ["--columns", "kerascope"]


pytest.importorskip("resource", reason="processor time is asked from Linux or macOS")


def peers(name: str) -> tuple[HandNumPy, KerasModels]:
    x, y = arrays(name)
    rows = 8
    hand = HandNumPy(name, x[:rows], y[:rows], weights(name))
    return hand, KerasModels(name, x[:rows], y[:rows], weights(name), "kerascope")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("benchmarks") / "results.jsonl"
    words = ["run", "W1.step", "W1.fit", "--quick", *HAND_AND_KERASCOPE, "--results", str(path)]
    assert main([*words, "--label", "a test"]) == 0
    return path


# --- the same arithmetic --------------------------------------------------------------------------


def test_check_compares_kerascope_with_hand_written_numpy(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["check", "W1", "--columns", "kerascope-function"]
    assert main([*words, "--log", str(tmp_path / "log")]) == 0
    lines = capsys.readouterr().out.splitlines()
    same = [line.split()[1] for line in lines if line.split()[2:3] == ["same"]]
    assert same == ["numpy", "kerascope", "kerascope-function"]
    assert lines[-1] == "all columns compute the same"


@pytest.mark.parametrize("name", ["W1", "W2", "W3", "W4", "W5"])
def test_hand_written_nets_compute_what_kerascope_computes(name: str) -> None:
    hand, kerascope = peers(name)
    np.testing.assert_allclose(hand.outputs(), kerascope.outputs(), rtol=2e-4, atol=1e-6)
    np.testing.assert_allclose(hand.losses(4), kerascope.losses(4), rtol=1e-5)


@pytest.mark.live
@pytest.mark.parametrize("name", ["W1", "GPT"])
def test_jax_by_hand_and_kerascope_on_jax_compute_what_kerascope_computes(name: str) -> None:
    pytest.importorskip("jax", reason="the extra `jax` is not installed")
    by_hand = importlib.import_module("benchmarks.paired.peers.jax_jit").Column
    x, y = (array[:4] for array in arrays(name))
    wanted = KerasModels(name, x, y, weights(name), "kerascope").losses(3)
    try:
        on_jax = KerasModels(name, x, y, weights(name), "kerascope-jax").losses(3)
    finally:
        kerascope.backend.set_engine("numpy")
    np.testing.assert_allclose(on_jax, wanted, rtol=1e-5)
    found = by_hand(name, x, y, weights(name), "waits").losses(3)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_check_finds_a_column_that_computes_something_else() -> None:
    x, y = arrays("W1")
    other = [w * np.float32(1.01) for w in weights("W1")]
    hand, changed = (HandNumPy("W1", x, y, w) for w in (weights("W1"), other))
    assert checking.difference(hand.losses(3), hand.losses(3)) == 0
    assert checking.difference(changed.losses(3), hand.losses(3)) > checking.TOLERANCE
    assert checking.difference([1.0], [1.0, 2.0]) == math.inf
    assert checking.difference([math.nan], [1.0]) == math.inf


@pytest.mark.parametrize("epsilon", ["outside", "inside"])
def test_the_flat_rmsprop_is_its_formula(epsilon: str) -> None:
    flat = FlatWeights([(3,), (2, 2)], "rmsprop", 0.01, epsilon)
    rng = np.random.default_rng(0)
    p, a = np.zeros(7), np.zeros(7)
    for _ in range(4):
        g = rng.normal(size=7) * 1e-3
        flat.gradients[0][...], flat.gradients[1][...] = g[:3], g[3:].reshape(2, 2)
        flat.update()
        a = 0.9 * a + 0.1 * g * g
        p -= 0.01 * g / (np.sqrt(a) + 1e-7 if epsilon == "outside" else np.sqrt(a + 1e-7))
    found = np.concatenate([w.reshape(-1) for w in flat.weights])
    np.testing.assert_allclose(found, p, rtol=1e-4)


@pytest.mark.parametrize("epsilon", ["outside", "corrected"])
def test_the_flat_adam_is_its_formula(epsilon: str) -> None:
    flat = FlatWeights([(5,)], "adam", 0.01, epsilon)
    rng = np.random.default_rng(0)
    p, m, v = np.zeros(5), np.zeros(5), np.zeros(5)
    for t in range(1, 5):
        g = rng.normal(size=5) * 1e-6
        flat.gradients[0][...] = g
        flat.update()
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        early, late = math.sqrt(1 - 0.999**t), 1 - 0.9**t
        small = 1e-7 if epsilon == "outside" else 1e-7 * early
        p -= 0.01 * early / late * m / (np.sqrt(v) + small)
    np.testing.assert_allclose(flat.weights[0], p, rtol=1e-4)


# --- results and report ---------------------------------------------------------------------------


def test_results_are_lines_of_json_with_the_machine_and_without_paths(measured: Path) -> None:
    text = measured.read_text()
    facts, *rows = (json.loads(line) for line in text.splitlines())
    assert {"processor", "numpy", "blas", "commit", "cores"} <= set(facts)
    assert facts["label"] == "a test"
    assert [(row["metric"], row["column"]) for row in rows] == [
        (metric, column) for metric in ("W1.step", "W1.fit") for column in ("numpy", "kerascope")
    ]
    assert all(0 < row["least"] <= row["median"] <= row["most"] for row in rows)
    assert rows[0]["ratio"] == 1
    assert str(environments.ROOT) not in text
    assert str(Path.home()) not in text


def test_a_report_of_the_results(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--results", str(measured)]) == 0
    text = capsys.readouterr().out
    assert "=== 1 thread, median of the rounds" in text
    assert re.search(r"kerascope +\d[\d,.]* us \([\d.,]+\)", text)
    assert "a test. " in text
    assert main(["report", "--results", str(measured), "--markdown", "--least"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "| metric | hand-written NumPy | kerascope |" in lines
    assert "| --- | ---: | ---: |" in lines


def test_ratios_of_a_column_to_the_others(
    measured: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", "--results", str(measured), "--of", "kerascope"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"over hand-written NumPy +[\d,.]+ \([\d,.]+ to [\d,.]+\)", text)


def test_a_picture_of_the_ratios(measured: Path, tmp_path: Path) -> None:
    path = tmp_path / "pictures" / "ratios.svg"
    assert main(["report", "--results", str(measured), "--picture", str(path)]) == 0
    root = ElementTree.fromstring(path.read_text())
    space = "{http://www.w3.org/2000/svg}"
    titles = [title.text or "" for title in root.iter(f"{space}title")]
    drawn = [title for title in titles if re.match(r"kerascope: [\d.]+", title)]
    assert len(drawn) == 2, titles
    blocks = results.read(measured)
    ratios = {f"kerascope: {block.rows['kerascope']['ratio']:.2f}" for block in blocks}
    assert set(drawn) == ratios


def test_what_was_measured_last_counts_and_is_not_mixed_with_older(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    row = {"kind": "time", "metric": "W1.step", "threads": 1, "median": 1.0}
    old = [{"kind": "run", "label": "old"}, row | {"column": "numpy"}, row | {"column": "jax"}]
    results.append(path, old)
    results.append(path, [{"kind": "run", "label": "new"}, row | {"column": "numpy"}])
    (block,) = results.read(path)
    assert block.facts["label"] == "new"
    assert list(block.rows) == ["numpy"]


def test_runs_on_one_machine_are_told_once() -> None:
    first = {"label": "", "commit": "abc", "load": 1.0, "versions": {"numpy": "2"}}
    second = first | {"load": 2.0, "versions": {"jax": "1"}}
    blocks = [results.Block("W1.step", 1, facts, {}) for facts in (first, second)]
    (facts,) = report.places(blocks)
    assert facts["versions"] == {"jax": "1", "numpy": "2"}
    changed = results.Block("W1.step", 1, second | {"commit": "abd"}, {})
    assert len(report.places([*blocks, changed])) == 2


def test_cells() -> None:
    row = {"kind": "time", "median": 2.91e-5, "ratio": 1.234}
    assert report.cell(row, "kerascope") == "29.1 us (1.23)"
    assert report.cell(row, "numpy") == "29.1 us"
    assert report.cell({"kind": "time", "error": "RecursionError"}, "jax") == "RecursionError"
    assert report.cell({"kind": "memory", "traced": 3 << 20, "ratio": 2}, "x") == "3.00 MB (2.00)"
    assert report.cell(None, "numpy") == "-"


def test_goals_are_judged_by_the_results() -> None:
    rows = {
        "W1.step": {"numpy": 30e-6, "kerascope": 36e-6, "torch": 35e-6},
        "W1.fit": {"kerascope": 90e-6},
        "W1.predict": {"kerascope": 31e-6},
        "W7.1000.build": {"kerascope": 1.0},
        "W7.10000.build": {"kerascope": 12.0},
        "W8.import": {"numpy": 0.1, "kerascope": 0.25},
    }
    blocks = [
        results.Block(metric, 1, {}, {name: {"median": value} for name, value in found.items()})
        for metric, found in rows.items()
    ]
    lines = [re.split(r"  +", line) for line in goals.judged(blocks, markdown=False).splitlines()]
    assert lines[0] == ["=== 1 thread: 4 of 6 goals"]
    assert [(words[0], words[-2], words[-1]) for words in lines[3:]] == [
        ("W1.step", "1.20", "reached"),
        ("W1.step", "1.03", "missed"),
        ("W1.fit", "1.25", "reached"),
        ("W1.predict", "31.0 us", "missed"),
        ("W7.build", "1.20", "reached"),
        ("W8.import", "150 ms", "reached"),
    ]


# --- deep chains and cold start -------------------------------------------------------------------


def test_a_chain_is_built_named_and_trained() -> None:
    found = fresh.chain("kerascope", "residual", 10)
    assert list(found) == list(fresh.PHASES)
    assert all(isinstance(seconds, float) for seconds in found.values())


@pytest.mark.slow
@pytest.mark.process
def test_cold_start_measures_fresh_processes() -> None:
    rows = cold.cold_start(["numpy", "kerascope"], 1, 1, pytest.fail)
    found = {(row["metric"], row["column"]): row for row in rows}
    assert len(found) == 4
    step = found["W8.first_step", "kerascope"]
    assert step["median"] > 0
    assert found["W8.import", "kerascope"]["least"] > 0
    assert step["megabytes"] > 10


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["run", "W1.stp"], "unknown workload 'W1.stp'. Did you mean 'W1.step'? Known: W1, "),
        (["check", "W12"], "unknown workload 'W12'. Did you mean "),
        (["run", "W1", "--columns", "keras-jaxx"], "unknown column 'keras-jaxx'. Did you mean "),
        (["environments", "pytorch"], "unknown environment 'pytorch'. Did you mean 'torch'?"),
        (["report", "--results", "nowhere.jsonl"], "no results in nowhere.jsonl: No such file"),
    ],
)
def test_a_mistake_is_refused_with_what_would_be_right(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert f"benchmarks.paired: {text}" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--rounds", "0"], ["--threads", "two"], ["--threads", "-1"]])
def test_a_number_that_is_none_is_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["run", "W1", *words])
    assert "expected" in capsys.readouterr().err


def test_a_file_that_holds_no_results_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text('{"kind": "run", "label": ""}\nW1 12 us\n')
    assert main(["report", "--results", str(path)]) == 2
    assert "results.jsonl, line 2: not a result of this benchmark" in capsys.readouterr().err


def test_a_column_without_environment_is_left_out_with_the_line_that_builds_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    real = environments.has
    monkeypatch.setattr(
        environments, "has", lambda python, names: "torch" not in names and real(python, names)
    )
    words = ["check", "W1", "--columns", "torch", "--log", str(tmp_path / "log")]
    assert main(words) == 0
    text = capsys.readouterr().out
    how = "python3 -m benchmarks.paired environments torch"
    assert f"torch: left out, no environment has torch, numpy. To build it: {how}" in text
    assert "all columns compute the same" in text


@pytest.mark.parametrize("how", [["-m", "benchmarks.paired"], ["benchmarks/paired"]])
def test_help_has_examples_and_needs_no_packages(how: list[str]) -> None:
    words = [sys.executable, "-S", *how, "--help"]
    run = subprocess.run(words, capture_output=True, text=True, cwd=environments.ROOT)
    assert run.returncode == 0, run.stderr
    assert "python3 -m benchmarks.paired run W1 W5.step" in run.stdout


@pytest.mark.parametrize("name", ["workloads", "columns", "report", "ratios", "hand.program"])
def test_the_examples_of_the_docstrings(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"benchmarks.paired.{name}"))
    assert found.attempted
    assert not found.failed


def test_names_are_chosen_in_the_order_of_the_tables() -> None:
    assert tables.chosen(["w8", "W2.step", "W1"])[:2] == ["W1.step", "W1.fit"]
    assert tables.chosen(["w8", "W2.step", "W1"])[-2:] == ["W2.step", "W8"]
    assert columns.chosen(["torch"]) == ["numpy", "kerascope", "torch"]


@pytest.mark.live
def test_the_script_for_gpus_says_that_there_is_none() -> None:
    pytest.importorskip("jax", reason="the extra `jax` is not installed")
    words = [sys.executable, str(environments.ROOT / "benchmarks" / "gpu.py")]
    run = subprocess.run(words, capture_output=True, text=True, env=environments.variables(1))
    assert run.returncode == 1, run.stderr
    assert "JAX found no GPU. " in run.stdout
    assert "versions: numpy " in run.stdout
