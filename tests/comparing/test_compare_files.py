"""Files, tapes and the command line: `kerascope compare A B`."""

import models_and_ports
import numpy as np
import pytest

import kerascope as ks
from kerascope.cli.commands import main
from kerascope.errors import ArgumentError
from kerascope.layers import Conv2D, Dense, Flatten


def small(prefix="a"):
    x = ks.Input((6, 6, 2), name=f"{prefix}_x")
    h = Conv2D(3, 3, activation="relu", name=f"{prefix}_conv")(x)
    return ks.Model(x, Dense(2, name=f"{prefix}_scores")(Flatten(name=f"{prefix}_flat")(h)))


@pytest.fixture
def models():
    one, other = models_and_ports.fill(small(), 1), small("b")
    other.set_weights(one.get_weights())
    return one, other


def change(model):
    kernel, bias = model.layers[1].get_weights()
    kernel[1, 1, 0, 2] += 1
    model.layers[1].set_weights([kernel, bias])


@pytest.fixture
def files(models, tmp_path):
    """Write a model as .keras, its port as .h5, and a port with another weight as .h5."""
    one, other = models
    one.save(tmp_path / "a.keras")
    other.save(tmp_path / "b.h5")
    change(other)
    other.save(tmp_path / "c.h5")
    return tmp_path


def test_a_keras_file_and_an_hdf5_file_are_compared(files):
    assert ks.compare(files / "a.keras", files / "b.h5").equal
    found = ks.compare(str(files / "a.keras"), files / "c.h5")
    assert (found.first.name_a, found.first.name_b) == ("a_conv", "b_conv")
    assert (found.a.name, found.b.name) == ("a.keras", "c.h5")


def test_the_command_says_by_its_exit_code_whether_they_differ(files, capsys):
    a, b, c = (str(files / name) for name in ("a.keras", "b.h5", "c.h5"))
    assert main(["compare", a, b]) == 0
    assert "equal:" in capsys.readouterr().out
    picture = files / "point.svg"
    assert main(["compare", a, c, "-o", str(picture), "--width", "120"]) == 1
    out = capsys.readouterr().out
    assert "first difference: a_conv in a, b_conv in b" in out
    assert "kernel differs at one number of 54: kernel[1, 1, 0, 2]" in out
    assert "differs first" in picture.read_text(encoding="utf-8")


def test_the_command_takes_inputs_and_a_tolerance(files, capsys):
    np.save(files / "x.npy", np.ones((1, 6, 6, 2), "float32"))
    words = [str(files / "a.keras"), str(files / "c.h5"), "--input", str(files / "x.npy")]
    assert main(["compare", *words]) == 1
    assert "random numbers" not in capsys.readouterr().out
    assert main(["compare", *words, "--tolerance", "10"]) == 0
    assert "tolerance: 10 (given)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["a.keras", "nothing.h5"], "nothing.h5"),
        (["a.keras", "weights.pt"], "weights.pt"),
        (["a.keras", "b.h5", "--input", "nothing.npy"], "--input"),
        (["a.keras", "b.h5", "--input", "wrong.npy"], "x for 'a_x': expected an array with 4 axes"),
        (["a.keras", "b.h5", "--input", "wrong.npy"], "compare: a, 'model"),
        (["a.keras", "b.h5", "--input", "two.npz"], "there is no tensor 'one'"),
        (["a.keras", "notes.txt"], "or .onnx file, got 'notes.txt'"),
        (["a.keras", "b.h5", "--tolerance", "-1"], "expected a tolerance of 0 or more"),
        (["script.py"], "to compare with the real Keras"),
    ],
    ids=[
        "no file",
        "torch",
        "no input",
        "wrong input",
        "which side",
        "two for one",
        "no model",
        "tolerance",
        "one script",
    ],
)
def test_what_cannot_be_done_is_code_2(files, words, told, capsys, monkeypatch):
    monkeypatch.chdir(files)
    np.save("wrong.npy", np.ones((1, 5), "float32"))
    np.savez("two.npz", one=np.ones((1, 6, 6, 2), "float32"), other=np.ones((1, 6, 6, 2)))
    (files / "notes.txt").write_text("words", encoding="utf-8")
    assert main(["compare", *words]) == 2
    complaint = capsys.readouterr().err
    assert told in complaint
    assert "Did you mean 'notes.txt'" not in complaint


def test_models_of_two_variables_of_a_script_are_compared(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text(
        "import keras\n"
        "from keras.layers import Dense\n"
        "mine = keras.Sequential([Dense(3, input_shape=(2,)), Dense(1)])\n"
        "port = keras.Sequential([Dense(3, input_shape=(2,)), Dense(1)])\n"
        "port.set_weights(mine.get_weights())\n",
        encoding="utf-8",
    )
    assert main(["compare", f"{script}:mine", f"{script}:port"]) == 1  # each run has other weights
    script.write_text(f"import numpy\nnumpy.random.seed(0)\n{script.read_text()}", encoding="utf-8")
    assert main(["compare", f"{script}:mine", f"{script}:port"]) == 0
    assert "equal" in capsys.readouterr().out


# --- tapes ----------------------------------------------------------------------------------------


def tape_of(model, x, **options):
    with ks.trace(model, **options) as tape:
        model.predict(x)
    return tape


@pytest.mark.parametrize("statistics_only", [False, True], ids=["numbers", "statistics"])
def test_two_tapes_are_compared(models, statistics_only, tmp_path):
    _one, other = models
    x = np.random.default_rng(0).normal(size=(3, 6, 6, 2)).astype("float32")
    tapes = [tape_of(model, x, statistics_only=statistics_only) for model in models]
    assert ks.compare(*tapes).equal
    change(other)
    tapes[1] = tape_of(other, x, statistics_only=statistics_only)
    found = ks.compare(*tapes)
    assert (found.first.name_a, found.first.name_b) == ("a_conv", "b_conv")
    for tape, name in zip(tapes, ("a.jsonl", "b.jsonl"), strict=True):
        tape.save(tmp_path / name)
    assert not ks.compare(tmp_path / "a.jsonl", tmp_path / "b.jsonl").equal


def test_a_tape_is_compared_with_a_model_on_the_same_input(models):
    x = np.random.default_rng(0).normal(size=(3, 6, 6, 2)).astype("float32")
    tape = tape_of(models[0], x)
    assert ks.compare(tape, models[1], x).equal
    change(models[1])
    assert ks.compare(tape, models[1], x).first.name_b == "b_conv"


def test_of_tapes_of_several_passes_the_first_that_differs_is_shown(models):
    x = np.random.default_rng(0).normal(size=(3, 6, 6, 2)).astype("float32")
    with ks.trace(models[0]) as one:
        models[0].predict(x)
        models[0].predict(x)
    with ks.trace(models[1]) as other:
        models[1].predict(x)
        change(models[1])
        models[1].predict(x)
    found = ks.compare(one, other)
    assert found.first.name_b == "b_conv"
    assert "the first 1 forward passes agree; this is number 1" in found.notes


def test_a_tape_without_calls_is_refused(models):
    with ks.trace(level="act") as tape:
        models[0].predict(np.ones((1, 6, 6, 2)))
    with pytest.raises(ArgumentError, match="this tape contains no call of a layer"):
        ks.compare(tape, tape)
