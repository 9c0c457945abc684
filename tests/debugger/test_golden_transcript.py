"""Whole sessions over the document's example, as a person reads them; the same in every process.

`python tests/debugger/test_golden_transcript.py` writes the golden files again; read what changed.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
SCRIPTS = {
    "walkthrough": "example.py",
    "walkthrough_fixed": "fixed_example.py",
    "document": "example.py",
}


def without_engine_lines(text):
    """Return a transcript in which an edit above a line of the engine changes nothing."""
    in_brackets = re.sub(r"(kerascope/[\w/]+\.py)\(\d+\)", r"\1(..)", text)
    return re.sub(r"(kerascope/[\w/]+\.py):\d+", r"\1:..", in_brackets)


def session(script, *options, seed=1, commands=""):
    """Return what `kerascope debug` writes, the lines of the engine left out."""
    run = subprocess.run(
        [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "kerascope",
            "debug",
            *options,
            f"examples/{script}",
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONIOENCODING": "utf-8"},
        input=commands,
        capture_output=True,
        encoding="utf-8",
    )
    assert run.returncode == 0, run.stderr
    return without_engine_lines(run.stdout)


def session_over_the_example(seed=1):
    return session("example.py", "-x", "tests/golden/debug_example_commands.txt", seed=seed)


def the_documents_walk(name, seed=1):
    """The commands come through a pipe: so the titles among them are echoed."""
    commands = (GOLDEN / f"debug_{name}_commands.txt").read_text(encoding="utf-8")
    return session(SCRIPTS[name], "--dialect", "1.2", seed=seed, commands=commands)


# By this number Python orders sets: what is written must not follow it.
SEEDS = [0, pytest.param(1, marks=pytest.mark.process), pytest.param(2, marks=pytest.mark.slow)]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_session_is_the_golden_one_in_every_process(seed):
    expected = (GOLDEN / "debug_example.txt").read_text(encoding="utf-8")
    assert session_over_the_example(seed) == expected


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.slow) for n in (1, 2))])
@pytest.mark.parametrize("name", SCRIPTS)
def test_the_documents_walk_with_pdb_is_done_with_the_model_debugger(name, seed):
    expected = (GOLDEN / f"debug_{name}.txt").read_text(encoding="utf-8")
    found = the_documents_walk(name, seed)
    assert "***" not in found
    assert found == expected


def test_the_walk_finds_what_the_document_found():
    text = (GOLDEN / "debug_walkthrough.txt").read_text(encoding="utf-8")
    pieces = (piece.partition("\n") for piece in text.split("(Kdb) "))
    said = {command: after.strip() for command, _, after in pieces}
    up = ".inbound_nodes[0].inbound_layers[0]"
    names = [said[f"p layer{up * steps}.name"] for steps in range(4)]
    assert names == ["'dense_3'", "'dense_2'", "'dense_1'", "'input_1'"]
    marks = ["dense_3_ib-0-0", "dense_2_ib-0-1", "dense_1_ib-0-2", "input_1_ib-0-3"]
    assert f"display seen_nodes: {marks}" in text
    assert said["p depth_keys"] == "[3, 2, 1, 0]"
    assert said["p model.loss_functions"] == "[<function binary_crossentropy>]"
    weights = "[dense_1_W, dense_1_b, dense_2_W, dense_2_b, dense_3_W, dense_3_b]"
    assert said["p params"] == weights
    assert said["p len(updates)"] == "12"
    assert said["p inputs"] == "[input_1, dense_3_target, dense_3_sample_weights]"
    assert said["p v._keras_shape"] == "(20, 64)"
    assert said["p norm(new - old)"] == "0.0"
    filling = re.findall(r"^display list\(tensor_map\): (\[.*?\])", text, re.MULTILINE)
    tensors = ["input_1", "dense_1", "dense_2", "dense_3"]
    assert filling == [str(tensors[:count]) for count in (1, 2, 3, 4)]


# What follows `(Pdb)` in the document, in its order; its addresses of nodes are no golden text.
UP = ".inbound_nodes[0].inbound_layers[0]"
PRINTED = {
    "p layer.name": "'dense_3'",
    f"p layer{UP}.name": "'dense_2'",
    f"p layer{UP}{UP}.name": "'dense_1'",
    f"p layer{UP}{UP}{UP}.name": "'input_1'",
    "p seen_nodes": "['dense_3_ib-0-0', 'dense_2_ib-0-1', 'dense_1_ib-0-2', 'input_1_ib-0-3']",
    "p self.loss_functions": "[<function binary_crossentropy>]",
    "p inputs": "[input_1, dense_3_target, dense_3_sample_weights]",
    "p loss": "loss/multiply",
    "p params": "[dense_1_W, dense_1_b, dense_2_W, dense_2_b, dense_3_W, dense_3_b]",
    "p v._keras_shape": "(20, 64)",
    "p v.get_value()": "f32[20,64] |x|=0 min=0 mean=0 max=0",
}


def test_each_command_that_the_document_prints_is_answered_where_it_types_it():
    text = (GOLDEN / "debug_document.txt").read_text(encoding="utf-8")
    pieces = [piece.partition("\n") for piece in text.split("(Kdb) ")]
    said = [(command, after.strip()) for command, _, after in pieces if command in PRINTED]
    assert said == list(PRINTED.items())


def test_the_addresses_that_the_document_compares_are_those_in_the_marks():
    nodes = [f"p id(layer{UP * steps}.inbound_nodes[0])" for steps in range(4)]
    commands = ["unt build_map_of_graph", "r", *nodes, "p self.seen_nodes", "q", ""]
    text = session("example.py", "--dialect", "1.2", commands="\n".join(commands))
    pieces = (piece.partition("\n") for piece in text.split("(Kdb) "))
    said = {command: after.strip() for command, _, after in pieces}
    marks = [f"{said[node]}-{depth}" for depth, node in enumerate(nodes)]
    assert said["p self.seen_nodes"] == str(marks)


if __name__ == "__main__":
    (GOLDEN / "debug_example.txt").write_text(session_over_the_example(), encoding="utf-8")
    for each in SCRIPTS:
        (GOLDEN / f"debug_{each}.txt").write_text(the_documents_walk(each), encoding="utf-8")
