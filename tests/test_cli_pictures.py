"""`kerascope draw` and `kerascope summary`: their options, their files, what they say."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import kerascope as ks
from kerascope.cli import main
from kerascope.viz.formats import FORMATS

SVG = "{http://www.w3.org/2000/svg}"
SCRIPT = """
from kerascope.layers import Dense, Dropout, Input
from kerascope.models import Model
inner = Input((4,), name="inside")
encoder = Model(inner, Dense(3, activation="relu", name="narrow")(inner), name="encoder")
x = Input((4,), name="x")
model = Model(x, Dense(2, name="out")(Dropout(0.5, name="mix")(encoder(x))), name="mine")
model.compile("rmsprop", "mse")
"""
FAILING = """
from kerascope.layers import Add, Dense, Input
x = Input((4,), name="x")
h = Dense(3, name="h")(x)
Add(name="sum")([x, h])
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("script.py").write_text(SCRIPT, encoding="utf-8")


def words_of(path):
    return " ".join(text.text for text in ElementTree.parse(path).iter(f"{SVG}text") if text.text)


def test_every_format_is_written_and_comes_out_of_standard_output(capfdbinary):
    for name in FORMATS:
        assert main(["draw", "script.py", "-o", f"m.{name}", "-o", "-", "--format", name]) == 0
        captured = capfdbinary.readouterr()
        kept = Path(f"m.{name}").read_bytes()
        assert captured.err.decode().endswith(f"wrote m.{name}\n")
        if name != "txt":  # the terminal's width decides there
            assert captured.out.strip() == kept.strip()


@pytest.mark.parametrize(
    ("words", "shown", "hidden"),
    [
        ([], ["encoder", "(None, 3)", "parameters"], ["narrow"]),
        (["--expand-nested"], ["encoder", "narrow", "inside"], []),
        (["--expand", "encoder"], ["narrow"], []),
        (["--expand", "all"], ["narrow"], []),
        (["--expand", "1"], ["narrow"], []),
        (["--level", "layer"], ["encoder"], ["narrow"]),
        (["--level", "op"], ["dot", "out/kernel"], []),
        (["--level", "gradient"], ["d loss / d out"], []),
        (["--level", "training"], ["new value", "backward"], []),
        (["--no-show-shapes"], ["out"], ["(None"]),
        (["--no-show-layer-names"], ["Dense"], ["mix"]),
        (["--show-dtype", "--show-trainable"], ["float32", "trainable"], []),
        (["--depth-ranks"], ["depth 3"], []),
        (["--highlight", "mi*"], ["★"], []),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_decide_what_is_shown(words, shown, hidden):
    assert main(["draw", "script.py", "-o", "m.svg", *words]) == 0
    text = words_of("m.svg")
    assert [word for word in shown if word not in text] == []
    assert [word for word in hidden if word in text] == []


def test_values_and_a_moment_of_the_run():
    np.save("batch.npy", np.ones((2, 4)))
    assert main(["draw", "script.py", "-o", "m.svg", "--values", "batch.npy", "--at", "0"]) == 0
    text = words_of("m.svg")
    assert "current" in text
    assert "pending" in text
    np.savez("batch.npz", x=np.ones((2, 4)), y=np.zeros((2, 2)))
    words = ["--level", "gradient", "--values", "batch.npz"]
    assert main(["draw", "script.py", "-o", "g.svg", *words]) == 0
    assert "d loss / d out" in words_of("g.svg")
    assert "]" in words_of("g.svg")


def test_two_models_are_compared_in_the_picture_and_in_words(capsys):
    Path("old.py").write_text(SCRIPT.replace("Dense(2,", "Dense(5,"), encoding="utf-8")
    assert main(["draw", "script.py", "-o", "m.svg", "--diff", "old.py"]) == 0
    assert "(None, 5) → (None, 2)" in words_of("m.svg")
    assert "~ out: (None, 5) → (None, 2)" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".keras", ".h5", ".json"])
def test_a_file_is_drawn_and_summed_up(suffix, capsys):
    x = ks.Input((4,), name="x")
    model = ks.Model(x, ks.layers.Dense(2, name="out")(x), name="kept")
    model.compile("sgd", "mse")
    name = f"kept{suffix}"
    if suffix == ".json":
        Path(name).write_text(model.to_json(), encoding="utf-8")
    else:
        model.save(name)
    assert main(["draw", name]) == 0
    assert "out" in words_of("kept.svg")
    assert main(["summary", name, "--flops", "--memory", "--show-trainable"]) == 0
    out = capsys.readouterr().out
    assert "Multiply-adds" in out
    code = main(["draw", name, "--level", "training", "-o", "t.svg"])
    assert code == (1 if suffix == ".json" else 0)
    if suffix == ".json":
        assert "compile" in capsys.readouterr().err


def test_a_script_that_fails_while_it_builds_leaves_a_picture_of_how_far_it_came(capsys):
    Path("bad.py").write_text(FAILING, encoding="utf-8")
    assert main(["draw", "bad.py", "-o", "bad.svg"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "wrote bad.svg: the model up to the failed call\n"
    assert "ShapeError" in captured.err
    text = words_of("bad.svg")
    assert "✗" in text
    assert "sum" in text


def test_a_script_that_fails_otherwise_leaves_none(capsys):
    Path("bad.py").write_text("1 / 0\n", encoding="utf-8")
    assert main(["draw", "bad.py", "-o", "bad.svg"]) == 1
    assert "there is no model to show" in capsys.readouterr().err
    assert not Path("bad.svg").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--at", "1"], "--at needs --values FILE"),
        (
            ["--values", "none.npy"],
            "none.npy: the file does not exist. Write your arrays ",
        ),
        (["--values", "script.py"], "script.py: not a .npy or .npz file"),
        (["--dpi", "0"], "above 0"),
        (["--most", "few"], "argument --most"),
        (["-o", "m.bmp"], "cannot tell the format of 'm.bmp'"),
        (["--diff", "none.py"], "there is no file 'none.py'"),
        (["--level", "ops"], "invalid choice"),
        (["--show-shape"], None),
        (["--expnd", "all"], "Did you mean '--expand'?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_makes_no_sense_is_said_before_anything_is_drawn(words, says, capsys):
    code = main(["draw", "script.py", *words])
    if says is None:  # argparse takes an unambiguous beginning
        assert code == 0
        return
    assert code == 2
    assert says in capsys.readouterr().err
    assert not list(Path().glob("*.svg"))


def test_an_unknown_name_is_guessed(capsys):
    assert main(["draw", "script.py", "--highlight", "encodr"]) == 2
    assert "Did you mean 'encoder'?" in capsys.readouterr().err
    assert main(["draw", "script.py", "--expand", "encodr"]) == 2
    assert "Did you mean 'encoder'?" in capsys.readouterr().err


def test_a_misspelt_file_is_guessed(capsys):
    assert main(["draw", "script.pyy"]) == 2
    assert "Did you mean 'script.py'?" in capsys.readouterr().err


def test_the_text_is_as_wide_as_was_said():
    assert main(["draw", "script.py", "-o", "m.txt", "--width", "60"]) == 0
    lines = Path("m.txt").read_text(encoding="utf-8").splitlines()
    assert max(map(len, lines)) <= 60
    assert any("encoder" in line for line in lines)


def test_the_json_is_networkx_own_form():
    networkx = pytest.importorskip("networkx")
    assert main(["draw", "script.py", "-o", "m.json"]) == 0
    data = json.loads(Path("m.json").read_text(encoding="utf-8"))
    graph = networkx.node_link_graph(data, edges="edges")
    assert sorted(graph.nodes) == ["encoder", "mix", "out", "x"]


def test_a_figure_has_the_width_and_the_form_that_were_asked_for():
    words = ["draw", "script.py:encoder", "--figure", "84mm", "--theme", "print"]
    assert main([*words, "-o", "f.svg", "-o", "f.tikz"]) == 0
    root = ElementTree.parse("f.svg").getroot()
    assert root.get("width") == "84mm"
    assert len([*root.iter(f"{SVG}circle")]) == 4 + 3
    assert Path("f.tikz").read_text(encoding="utf-8").count("\\node") >= 4
    assert main([*words, "--form", "blocks", "-o", "b.svg"]) == 0
    assert not [*ElementTree.parse("b.svg").iter(f"{SVG}circle")]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--form", "u"], "--form needs --figure WIDTH"),
        (["--figure", "wide"], "width='84mm'"),
        (["-o", "f.bmp"], ".tikz"),
    ],
)
def test_what_is_wrong_with_a_figure_is_said_before_the_script_runs(words, told, capsys):
    Path("script.py").write_text("raise SystemExit('it ran')", encoding="utf-8")
    assert main(["draw", "script.py", *words]) == 2
    assert told in " ".join(capsys.readouterr().err.split())
