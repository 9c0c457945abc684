"""`kerascope show MODEL LAYER`: pictures of numbers from the command line."""

from pathlib import Path

import numpy as np
import pytest

import kerascope as ks
from kerascope.cli import main
from kerascope.layers import Conv2D, Dense, Flatten, Input
from kerascope.models import Model
from kerascope.viz.formats import OF_TENSORS


@pytest.fixture(autouse=True)
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    inputs = Input((6, 6, 1), name="pixels")
    maps = Conv2D(4, 3, name="conv1")(inputs)
    made = Model(inputs, Dense(2, name="scores")(Flatten(name="flat")(maps)), name="mine")
    made.save("model.keras")
    np.save("x.npy", np.random.default_rng(0).normal(size=(3, 6, 6, 1)).astype("float32"))
    return made


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        (["conv1"], {"layer": "conv1"}),
        (["conv1", "--values", "x.npy", "--sample", "2"], {"layer": "conv1", "sample": 2}),
        (["conv1", "--values", "x.npy", "--most", "2", "--scale", "own"],
         {"layer": "conv1", "most": 2, "scale": "own"}),
        (["conv1", "--values", "x.npy", "--limits", "-1", "2", "--theme", "dark"],
         {"layer": "conv1", "limits": (-1, 2), "theme": "dark"}),
        (["scores/kernel"], {"layer": "scores/kernel"}),
        (["--values", "x.npy"], {}),
    ],
    ids=str,
)  # fmt: skip
def test_the_command_draws_what_show_draws(model, words, arguments):
    assert main(["show", "model.keras", *words, "-o", "p.svg"]) == 0
    x = np.load("x.npy") if "--values" in words else None
    assert Path("p.svg").read_text(encoding="utf-8") == ks.show(model, x, **arguments).svg


def test_every_format_is_written_and_comes_out_of_standard_output(capfdbinary):
    for name in OF_TENSORS:
        given = ["show", "model.keras", "conv1", "--values", "x.npy", "--width", "60"]
        assert main([*given, "-o", f"p.{name}", "-o", "-", "--format", name]) == 0
        captured = capfdbinary.readouterr()
        assert captured.err.decode().endswith(f"wrote p.{name}\n")
        assert captured.out.strip() == Path(f"p.{name}").read_bytes().strip()


def test_without_a_file_the_layer_names_it(capsys):
    assert main(["show", "model.keras", "scores/kernel"]) == 0
    assert capsys.readouterr().out == "wrote scores_kernel.svg\n"
    assert Path("scores_kernel.svg").is_file()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["conv2"], 2, "Did you mean 'conv1'"),
        (["flat"], 2, "has no weights"),
        ([], 2, "expected the name of a layer, --values FILE, or both"),
        (["conv1", "-o", "p.dot"], 2, ".svg, .png, .pdf, .html, .txt"),
        (["conv1", "--values", "y.npy"], 2, "--values y.npy"),
        (["conv1", "--values", "x.npy", "--sample", "3"], 2, "expected sample 0 to 2"),
        (["conv1", "--scale", "each"], 2, "own"),
    ],
    ids=str,
)
def test_errors_say_what_was_expected(words, code, said, capsys):
    assert main(["show", "model.keras", *words]) == code
    assert said in capsys.readouterr().err
    assert not list(Path().glob("*.svg"))
