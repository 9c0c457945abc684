"""`kerascope play` of the file of a model: one forward pass as a page or a moving picture."""

from pathlib import Path

import numpy as np
import pytest

import kerascope as ks
from kerascope.cli.commands import main
from kerascope.layers import Dense


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = ks.Sequential([Dense(3, input_shape=(4,), name="d"), Dense(3, name="e")], name="small")
    model.save("m.keras")
    model.save("m.h5")
    Path("m.json").write_text(model.to_json(), encoding="utf-8")
    np.save("x.npy", np.full((2, 4), 7.0, "float32"))


@pytest.mark.parametrize("name", ["m.keras", "m.h5", "m.json"])
def test_the_page_of_a_forward_pass_is_written_beside_the_words_how_it_was_fed(name, capsys):
    assert main(["play", name, "--seed", "5"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("wrote m.html: ")
    assert said.endswith(" (no input was given: random numbers were drawn, seed 5)\n")
    page = Path("m.html").read_text(encoding="utf-8")
    assert f"<title>{name}" in page


def test_it_is_played_on_the_arrays_of_a_file(capsys):
    assert main(["play", "m.keras", "--input", "x.npy", "-o", "pass.html"]) == 0
    assert "drawn" not in capsys.readouterr().out
    assert Path("pass.html").is_file()
    np.savez("x.npz", d_input=np.ones((2, 4), "float32"))
    assert main(["play", "m.keras", "--input", "x.npz", "-o", "pass.svg"]) == 0
    assert Path("pass.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["no.keras"], "there is no file 'no.keras'. Did you mean 'm.keras'?"),
        (["no.onnx"], "there is no file 'no.onnx'."),
        (
            ["m.keras", "--input", "no.npy"],
            "--input no.npy: the file does not exist. Write your ",
        ),
        (["m.keras", "-o", "page.bmp"], "page.bmp"),
        (["w.pt"], "Make the module and load them into it"),
        (["w.pt2"], "module = torch.export.load('w.pt2').module(), then give the script"),
        (["w.weights.h5"], "Make the model and load them into it"),
        (["train.py", "--input", "x.npy"], "--input needs a model file"),
        (["m.keras", "-o", "film.gif"], "a film shows training steps, and a model file has none"),
        (["train.py", "-o", "film.gif", "--level", "op"], "--level: a film has no level"),
    ],
)
def test_what_cannot_be_played_says_what_to_do(words, told, capsys):
    Path("train.py").write_text("", encoding="utf-8")
    assert main(["play", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("command", ["trace", "debug", "profile", "run"])
@pytest.mark.parametrize("name", ["m.keras", "m.json", "m.onnx"])
def test_what_runs_scripts_says_who_takes_the_file_of_a_model(command, name, capsys):
    Path("m.onnx").touch()
    assert main([command, name]) == 2
    said = capsys.readouterr().err
    assert f"{name}: expected a Python script, got a model file." in said
    assert "kerascope draw, summary, play, show or compare" in said


@pytest.mark.live
@pytest.mark.parametrize("make", ["residual", "encoder", "loop"])
def test_an_onnx_file_is_played(make, capsys):
    onnx = pytest.importorskip("onnx")
    import onnx_by_hand

    onnx.save(getattr(onnx_by_hand, make)(), "net.onnx")
    assert main(["play", "net.onnx"]) == 0
    assert "random numbers were drawn, seed 0" in capsys.readouterr().out
    assert "<title>net.onnx" in Path("net.html").read_text(encoding="utf-8")
