"""`kerascope run`: what a script sees is what Python would show it, to the end of the process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def run(tmp_path):
    def run_text(text, *words, folder=tmp_path):
        (tmp_path / "script.py").write_text(text, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        environment.pop("KERASCOPE_DIALECT", None)
        return subprocess.run(
            [sys.executable, "-m", "kerascope", "run", *words],
            capture_output=True,
            cwd=folder,
            encoding="utf-8",
            env=environment,
            timeout=300,
        )

    return run_text


@pytest.mark.parametrize("name", ["parser", "helper"])
def test_a_relative_import_fails_as_in_python_and_finds_nothing_of_ours(name, run, tmp_path):
    (tmp_path / "helper.py").write_text("x = 1\n", encoding="utf-8")
    done = run(f"from . import {name}\n", "script.py")
    assert done.returncode == 1
    assert "attempted relative import with no known parent package" in done.stderr


def test_the_path_of_the_script_outlives_a_change_of_folder(run):
    text = "import os, sys\nos.chdir('/')\nprint(os.path.isfile(__file__), sys.argv)\n"
    assert run(text, "script.py", "a").stdout == "True ['script.py', 'a']\n"


@pytest.mark.process
def test_threads_and_atexit_that_outlive_the_script_find_our_keras(run, tmp_path):
    (tmp_path / "helper.py").write_text("x = 1\n", encoding="utf-8")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    text = """
import atexit, threading, time

class Mine: ...

def say(who):
    import pickle, helper
    from keras.layers import Dense
    import keras
    print(who, Dense.__module__, keras.__version__, bool(pickle.dumps(Mine())))

def late():
    threading.main_thread().join()
    say("thread")

atexit.register(say, "atexit")
threading.Thread(target=late).start()
"""
    done = run(text, "--dialect", "1.2", "../script.py", folder=elsewhere)
    assert done.stdout.splitlines() == [
        "thread kerascope.layers.core 1.2.2 True",
        "atexit kerascope.layers.core 1.2.2 True",
    ], done.stderr


def test_an_exception_outside_of_exception_is_told_without_our_frames(run):
    done = run("class Stop(BaseException): ...\nraise Stop('far')\n", "script.py")
    assert done.returncode == 1
    assert done.stderr.splitlines()[1:] == [
        '  File "script.py", line 2, in <module>',
        "    raise Stop('far')",
        "Stop: far",
    ]


def test_the_cause_of_an_exception_is_told_without_our_finder(run):
    text = """
try:
    from keras.layers import Densee
except ImportError as error:
    raise RuntimeError("no layer") from error
"""
    done = run(text, "script.py")
    assert done.returncode == 1
    assert "Did you mean 'Dense'?" in done.stderr
    assert "finder.py" not in done.stderr


def test_who_imports_a_name_as_if_it_were_a_module_is_told_how_to_write_it(run):
    done = run("import keras.models.Model\n", "script.py")
    assert done.returncode == 1
    said = "'Model' in keras.models is not a module. Write: from keras.models import Model."
    assert done.stderr.splitlines()[-1] == f"ModuleNotFoundError: {said}"


# --- modules, as `python -m` runs them ------------------------------------------------------------


@pytest.fixture
def package(tmp_path):
    """Write a package with a module that imports its neighbour, and a `__main__`."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "__init__.py").write_text("made = 'package'\n", encoding="utf-8")
    (folder / "helper.py").write_text("rows = 3\n", encoding="utf-8")
    text = """
import sys
from .helper import rows
from . import made
import keras
print(__name__, __package__, made, rows, sys.argv[1:], keras.__name__)
"""
    for name in ("train.py", "__main__.py"):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["package.train", "package"])
def test_a_module_is_run_as_python_runs_it(name, run, package):
    done = run("", "-m", name, "-c", "a")
    assert done.stderr == ""
    assert done.stdout == "__main__ package package 3 ['-c', 'a'] keras\n"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("package.nothing", "-m package.nothing: module not found. Expected package/nothing.py"),
        ("package.inner", "-m package.inner: the package needs a module __main__ to run."),
        ("script.py", "-m 'script.py': expected the name of a module, as package.train. Without"),
        ("a/b", "-m 'a/b': expected the name of a module, as package.train.\n"),
    ],
)
def test_a_module_that_is_none_is_told(name, told, run, package):
    (package / "inner").mkdir()
    (package / "inner" / "__init__.py").write_text("", encoding="utf-8")
    done = run("", "-m", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"kerascope: {told}")


def test_a_module_is_debugged_with_its_lines_and_started_again(run, package, tmp_path):
    (package / "train.py").write_text(
        "from .layers import build\nfrom keras import Sequential\n"
        "model = Sequential([build()])\nmodel.compile('sgd', 'mse')\n",
        encoding="utf-8",
    )
    (package / "layers.py").write_text(
        "from keras.layers import Lambda\nfrom keras import backend as K\n\n\n"
        "def build():\n"
        "    return Lambda(lambda x: K.exp(x),\n                  input_shape=(2,))\n",
        encoding="utf-8",
    )
    commands = tmp_path / "commands"
    commands.write_text("b layers.py:6\nc\nc\nrestart\nc\nq\n", encoding="utf-8")
    done = run("", "-m", "package.train")
    assert done.returncode == 0
    words = [sys.executable, "-m", "kerascope", "debug", "-x", "commands", "-m", "package.train"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    said = subprocess.run(
        words, capture_output=True, cwd=tmp_path, encoding="utf-8", env=environment, check=True
    ).stdout
    assert said.count("> package/train.py(1)<module>()") == 2
    assert said.count("breakpoint 1 hit: layers.py:6") == 3
    assert "package/layers.py:6  return Lambda(lambda x: K.exp(x)," in said
