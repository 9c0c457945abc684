"""`kerascope debug` on every script of `examples/`, as a person does it: piped commands."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}

DIALECTS = {"keras3": "3", "keras1": "1.2", "example.py": "1.2"}
NEEDS_JAX = "gpt_many_devices.py"
SCRIPTS = sorted(path.name for path in (ROOT / "examples").glob("*.py"))

COMMANDS = [
    "s",
    "p e.kind, t",
    "unt compile",
    "info depths",
    "unt gradients",
    "n",
    "unt forward",
    "display len(tensor_map)",
    "draw",
    "s 2",
    "w",
    "n",
    "info tensors",
    "p norm(ins[0]) >= 0",
    "unt backward",
    "rs 3",
    "p e.phase",
    "unt commit",
    "info grads",
    "info weights",
    "rr",
    "b batch 1",
    "ru compile",
    "p e.kind",
    "when",
    "q",
]


def debug(name, commands, *words):
    """Return exit code and what `kerascope debug` writes."""
    if name == NEEDS_JAX:
        pytest.importorskip("jax", reason="the extra `jax` is not installed")
    dialect = next((DIALECTS[begin] for begin in DIALECTS if name.startswith(begin)), "2.2")
    before = [sys.executable, "-W", "ignore", "-m", "kerascope", "debug", "--dialect", dialect]
    run = subprocess.run(
        [*before, f"examples/{name}", *words],
        cwd=ROOT,
        env={**os.environ, **ENVIRONMENT},
        input="".join(f"{line}\n" for line in commands),
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    return run.returncode, run.stdout, run.stderr


def said(text, command):
    """Return the lines after a command, up to the next prompt; the last time it was given."""
    pieces = [piece.partition("\n") for piece in text.split("(Kdb) ")]
    return [after.splitlines() for given, _, after in pieces if given == command][-1]


def marked(name):
    """Return a parameter, which runs with the live tests if its script needs JAX."""
    return pytest.param(name, marks=pytest.mark.live if name == NEEDS_JAX else ())


@pytest.mark.parametrize("name", [marked(name) for name in SCRIPTS])
def test_a_script_is_stepped_through_forward_and_back(name):
    code, text, errors = debug(name, COMMANDS)
    assert code == 0, errors
    assert errors == ""
    assert "***" not in text
    assert "cannot be shown" not in text
    assert text.startswith(f"> examples/{name}(1)<module>()\n-> ")
    assert text.endswith("(Kdb) q\n")
    assert said(text, "p e.kind, t") == ["('build', 0)"]
    assert said(text, "p e.kind") == ["'compile'"]  # gone back to from the first commit
    assert len(said(text, "info depths")) >= 3
    assert len(said(text, "draw")) >= 3
    assert len(said(text, "info tensors")) >= 2  # inside of a nested model its outputs are to come
    assert said(text, "p norm(ins[0]) >= 0") == ["True"]
    assert len(said(text, "w")) >= 4
    assert any(" |x|=" in line for line in said(text, "info grads"))
    assert any(" |x|=" in line for line in said(text, "info weights"))
    now = int(re.match(r"t=(\d+) of (\d+) events so far", said(text, "when")[0])[1])
    assert now < int(re.match(r"t=(\d+) of (\d+) events so far", said(text, "when")[0])[2])


@pytest.mark.parametrize("name", ["example.py", "fixed_example.py"])
def test_a_script_that_goes_on_to_its_end_says_what_it_says_alone(name):
    code, text, errors = debug(name, ["unt update", "rs 20", "draw", "c", "q"])
    assert code == 0, errors
    alone = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "kerascope", "run", "--dialect",
         DIALECTS.get(name, "2.2"), f"examples/{name}"],
        cwd=ROOT, env={**os.environ, **ENVIRONMENT}, capture_output=True, encoding="utf-8",
    ).stdout.splitlines()  # fmt: skip
    after = said(text, "c")
    assert after[-1].startswith("--- the program has ended: ")
    printed = after[:-1]
    assert len(printed) > 2
    assert printed == alone[len(alone) - len(printed) :]


def printed_words(name):
    """Return the texts of some length that stand in the calls of `print` in a script."""
    tree = ast.parse((ROOT / "examples" / name).read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    prints = [call for call in calls if ast.unparse(call.func) == "print"]
    texts = [n.value for call in prints for n in ast.walk(call) if isinstance(n, ast.Constant)]
    return [text.strip() for text in texts if isinstance(text, str) and len(text.strip()) > 3]


QUICK = ("shared_layer.py", "keras1_mlp.py", "keras2_siamese.py")  # to train to the end


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in SCRIPTS],
)
def test_a_script_ends_in_its_own_words_when_the_debugger_lets_it_go(name):
    code, text, errors = debug(name, ["unt commit", "rs 5", "detach"])
    assert code == 0, errors
    assert "***" not in text
    its_own = text.split("(Kdb) detach\n")[1]
    assert its_own.strip()
    words = printed_words(name)
    assert not words or any(word in its_own for word in words), its_own
