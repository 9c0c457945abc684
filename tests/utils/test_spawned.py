"""Scripts whose worker processes are spawned, as on Windows and macOS: real files, real Pythons."""

import multiprocessing
import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.process
LONG = 60  # seconds; only what hangs takes so long

BEGIN = """
import multiprocessing, sys, time
import numpy as np
from kerascope.layers import Dense
from kerascope.models import Sequential
from kerascope.utils import Sequence

class Batches(Sequence):
    def __len__(self):
        return 6

    def __getitem__(self, index):
        x = np.random.RandomState(index).normal(size=(4, 3))
        return x, x[:, :1]

def train(source, epochs=2, **arguments):
    np.random.seed(1)
    model = Sequential([Dense(1, kernel_initializer="zeros", input_shape=(3,))])
    model.compile("sgd", "mse")
    model.fit_generator(source, epochs=epochs, verbose=0, **arguments)
    print(*np.ravel(model.get_weights()[0]), flush=True)

def main():
    multiprocessing.set_start_method(sys.argv[1])
    train(Batches(), workers=0)
    train(Batches(), workers=2, use_multiprocessing=True)
    print("left:", multiprocessing.active_children())
"""

GUARDED = """
if __name__ == "__main__":
    main()
"""


@pytest.fixture
def write(tmp_path):
    """Return what writes a script and returns its path."""

    def write(end, begin=BEGIN):
        (tmp_path / "script.py").write_text(begin + end)
        return str(tmp_path / "script.py")

    return write


def outcome(words, **options):
    """Return what a Python of these words printed and complained, line by line."""
    done = subprocess.run(
        [sys.executable, *words], capture_output=True, text=True, timeout=LONG, **options
    )
    return done.stdout.splitlines(), done.stderr.splitlines()


def available(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method} here")


@pytest.mark.parametrize(
    ("method", "as_keras"),
    [
        ("spawn", False),
        pytest.param("spawn", True, marks=pytest.mark.slow),
        pytest.param("forkserver", False, marks=pytest.mark.slow),
        pytest.param("fork", False, marks=pytest.mark.slow),
        pytest.param("fork", True, marks=pytest.mark.slow),
    ],
)
def test_a_guarded_script_trains_with_processes_as_without(write, method, as_keras):
    """And as a script of Keras's, that `kerascope run` runs."""
    available(method)
    begin = BEGIN.replace("from kerascope", "from keras") if as_keras else BEGIN
    command = ["-m", "kerascope", "run"] if as_keras else []
    said, complained = outcome([*command, write(GUARDED, begin), method])
    assert complained == []
    without, processes, left = said
    assert processes == without
    assert left == "left: []"


@pytest.mark.parametrize("method", ["spawn", pytest.param("forkserver", marks=pytest.mark.slow)])
def test_a_script_without_a_guard_is_told_once_to_get_one(write, method):
    """Its processes, which come to the same call, end without a word."""
    available(method)
    unguarded = """
print("begun", flush=True)
multiprocessing.set_start_method(sys.argv[1], force=True)
train(Batches(), workers=1, use_multiprocessing=True)
"""
    said, complained = outcome([write(unguarded), method])
    assert len([line for line in complained if line.startswith("Traceback")]) == 1
    assert "WorkerError: " in complained[-1]
    assert "under `if __name__ == '__main__':`" in complained[-1]
    assert "leave out use_multiprocessing: threads need" in complained[-1]
    assert said == ["begun", "begun"]


@pytest.mark.slow
def test_what_a_spawned_process_cannot_have_is_told(write):
    """A class under the guard, and a script that is no file."""
    inside = """
if __name__ == "__main__":
    class Inside(Batches): ...
    multiprocessing.set_start_method("spawn")
    train(Inside(), workers=1, use_multiprocessing=True)
"""
    _, complained = outcome([write(inside)])
    last = next(line for line in complained if line.startswith("kerascope.errors.WorkerError"))
    assert "Can't get attribute 'Inside'" in last
    assert "not under `if __name__ == '__main__':`" in last
    _, complained = outcome(["-", "spawn"], input=BEGIN + GUARDED)
    assert "imports the script first: that must be a file" in complained[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other signals")
@pytest.mark.parametrize("method", ["spawn", pytest.param("fork", marks=pytest.mark.slow)])
@pytest.mark.parametrize("how", ["SIGINT", pytest.param("SIGKILL", marks=pytest.mark.slow)])
def test_processes_of_a_script_that_is_stopped_end_without_a_word(write, method, how):
    """They hold the script's stdout: `communicate` returns when the last of them is gone."""
    endless = """
import signal

class Slow(Batches):
    def __getitem__(self, index):
        print(index, flush=True)
        time.sleep(0.05)
        return super().__getitem__(index)

if __name__ == "__main__":
    # Ctrl-C comes as in a terminal, whatever the process of the tests has done with it before.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, signal.default_int_handler)
    multiprocessing.set_start_method(sys.argv[1])
    train(Slow(), epochs=10_000, workers=2, use_multiprocessing=True)
"""
    with subprocess.Popen(
        [sys.executable, write(endless), method],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        process.stdout.readline()  # a worker works
        stop = os.killpg if how == "SIGINT" else os.kill  # Ctrl-C reaches them all
        stop(process.pid, getattr(signal, how))
        _, complained = process.communicate(timeout=LONG)
    assert process.returncode == -getattr(signal, how)
    assert complained.count("Traceback") == (how == "SIGINT")
    assert complained.rstrip().endswith("KeyboardInterrupt" if how == "SIGINT" else "")
