"""The scripts in `examples/` run, and show what their docstrings say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


# One thread for BLAS: beside other tests, threads that wait for each other take minutes.
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}


def run(
    name: str, *arguments: str, by: tuple[str, ...] = (), folder: Path = ROOT / "examples"
) -> str:
    """Run an example as a person does, by Python or by `kerascope run`; return what it prints."""
    finished = subprocess.run(
        [sys.executable, *by, str(folder / name), *arguments],
        capture_output=True,
        cwd=ROOT,
        env={**os.environ, **ENVIRONMENT},
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.process
def test_the_documents_example_trains_one_epoch() -> None:
    assert "50/50 - loss: 6.3770 - acc: 0.6000" in run("example.py")


def test_the_fixed_example_learns_its_labels_by_heart() -> None:
    *_, last = run("fixed_example.py").splitlines()
    loss = float(re.fullmatch(r"epoch 100: loss ([\d.]+), accuracy 1\.00", last)[1])
    assert loss < 0.01


@pytest.mark.parametrize(
    "seed", ["0", *(pytest.param(seed, marks=pytest.mark.slow) for seed in "12")]
)
def test_the_digits_are_read_with_97_percent_accuracy(seed: str) -> None:
    *_, last = run("digits.py", "--seed", seed).splitlines()
    accuracy = re.fullmatch(rf"seed {seed}: ([\d.]+)% of the 360 test digits are read right", last)
    assert float(accuracy[1]) >= 97.0


def test_the_shared_layer_has_two_outputs() -> None:
    printed = run("shared_layer.py")
    assert "layer encoder, node 0, tensor 0" in printed
    assert "layer encoder, node 1, tensor 0" in printed
    assert "Use get_output_at(node_index) instead." in printed
    assert float(printed.split()[-1]) > 0.85


def test_the_demo_trains_walks_and_draws(tmp_path: Path) -> None:
    printed = run("demo.py", "--out", str(tmp_path / "pictures"))
    assert re.search(r"9[789]\.\d% of the test digits are read right", printed)
    for heading in ("build", "map_graph", "compile", "make_train_function", "fit"):
        assert f"━━ {heading} " in printed
    for name in ("example", "digits"):
        svg = tmp_path / "pictures" / f"{name}.svg"
        png = svg.with_suffix(".png")
        assert str(svg) in printed
        assert str(png) in printed
        assert "<svg" in svg.read_text(encoding="utf-8")
        assert png.read_bytes().startswith(b"\x89PNG")


def share_that_is_known(words: str, written: str, size: int) -> float:
    """Return which share of the pieces of so many characters occurs in a text, too."""
    pieces = [written[k : k + size] for k in range(len(written) - size + 1)]
    return sum(piece in words for piece in pieces) / len(pieces)


@pytest.mark.parametrize(
    ("language", "steps", "size", "least", "most"),
    [
        ("en", "100", 3, 0.25, 2.8),
        pytest.param("zh", "100", 2, 0.25, 4.5, marks=pytest.mark.slow),
        pytest.param("en", "1500", 5, 0.85, 0.35, marks=pytest.mark.slow),
        pytest.param("zh", "1500", 3, 0.95, 0.15, marks=pytest.mark.slow),
    ],
)
def test_the_small_gpt_writes_what_its_text_could_say(
    language: str, steps: str, size: int, least: float, most: float
) -> None:
    printed = run("small_gpt.py", language, steps)
    first, second, *written = printed.splitlines()
    assert re.fullmatch(rf"{language}: [\d,]+ characters, \d+ different ones, .* parameters", first)
    assert float(re.match(r"loss [\d.]+ -> ([\d.]+) in \d+ s", second)[1]) < most
    name = {"en": "rhymes.txt", "zh": "tang.txt"}[language]
    folder = ROOT / "tutorials" / "21-attention-and-a-small-gpt" / "texts"
    text = (folder / name).read_text(encoding="utf-8")
    samples = [sample for sample in "\n".join(written).split(" \n\n") if sample.strip()]
    assert len(samples) == 3
    assert min(share_that_is_known(text, sample, size) for sample in samples) >= least


def test_each_example_has_a_line_in_the_readme() -> None:
    readme = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    scripts = sorted(path.name for path in (ROOT / "examples").glob("*.py"))
    listed = re.findall(r"^(?:- |\| )`(\w+\.py)`(?:: | \| )", readme, flags=re.MULTILINE)
    assert sorted(listed) == scripts


# --- scripts that say `import keras` --------------------------------------------------------------

# Dialect, what the last line says, and between which figures it must lie.
SCRIPTS = {
    "keras1_mlp.py": ("1.2", "Test accuracy: ", (0.95, 1)),
    "keras1_stateful_lstm.py": ("1.2", "Right in pieces that say nothing: ", (0.95, 1)),
    "keras2_autoencoder.py": ("2.2", "Share of the variance that is lost: ", (0, 0.35)),
    "keras2_cnn.py": ("2.2", "Test accuracy: ", (0.95, 1)),
    "keras2_gan.py": ("2.2", "Forged points near the ring: ", (0.85, 1)),
    "keras2_lstm_text.py": ("2.2", "Test accuracy: ", (0.97, 1)),
    "keras2_multi_output.py": ("2.2", r"Test accuracy: digit [\d.]+, odd ", (0.92, 1)),
    "keras2_seq2seq.py": ("2.2", "Letters written right: ", (0.95, 1)),
    "keras2_siamese.py": ("2.2", "Accuracy on test pairs: ", (0.93, 1)),
    "keras2_transfer.py": ("2.2", "Accuracy on 5 to 9: ", (0.92, 1)),
    "keras2_vae.py": ("2.2", r"Loss: [\d.]+ at first, ", (0, 28)),
    "keras3_transformer.py": ("3", "Validation accuracy: ", (0.9, 1)),
}

# Those that train for long: what is said less of, and the figures that come of it.
SHORTER = {
    "keras1_stateful_lstm.py": ("nb_epoch = 40", "nb_epoch = 15", (0.9, 1)),
    "keras2_autoencoder.py": ("epochs=150", "epochs=30", (0, 0.5)),
    "keras2_cnn.py": ("epochs=12", "epochs=3", (0.85, 1)),
    "keras2_gan.py": ("range(2001)", "range(601)", (0.5, 1)),
    "keras2_seq2seq.py": ("epochs=25", "epochs=10", (0.8, 1)),
    "keras2_transfer.py": ("epochs=15", "epochs=4", (0.6, 1)),
    "keras3_transformer.py": ("epochs=15", "epochs=3", (0.8, 1)),
}


def figure_of(name: str, folder: Path = ROOT / "examples") -> float:
    """Run a Keras script; return the figure in its last line."""
    dialect, words, _ = SCRIPTS[name]
    by = ("-m", "kerascope", "run", "--dialect", dialect)
    *_, last = run(name, by=by, folder=folder).splitlines()
    match = re.match(rf"{words}([\d.]+)", last)
    assert match is not None, last
    return float(match[1])


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.slow if one in SHORTER else ()) for one in SCRIPTS],
)
def test_a_keras_script_runs_unchanged_and_learns_what_it_claims(name: str) -> None:
    _, _, (least, most) = SCRIPTS[name]
    assert least <= figure_of(name) <= most


@pytest.mark.parametrize("name", SHORTER)
def test_a_keras_script_that_trains_less_is_on_its_way(name: str, tmp_path: Path) -> None:
    whole, less, (least, most) = SHORTER[name]
    text = (ROOT / "examples" / name).read_text(encoding="utf-8")
    assert whole in text
    (tmp_path / name).write_text(text.replace(whole, less), encoding="utf-8")
    assert least <= figure_of(name, tmp_path) <= most


def test_every_keras_script_is_run_and_says_how() -> None:
    scripts = {path.name for path in (ROOT / "examples").glob("keras*.py")}
    assert scripts == set(SCRIPTS)
    for name in scripts:
        text = (ROOT / "examples" / name).read_text(encoding="utf-8")
        assert re.search(rf"kerascope run .*examples/{name}", text), name
