"""Writing a file whole, or not at all."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from kerascope import layers
from kerascope.cli.scripts import checked_file
from kerascope.cli.usage import UsageError
from kerascope.errors import ArgumentError, ConfigError, DataError, UnavailableError
from kerascope.files import replacing
from kerascope.layers import Dense
from kerascope.models import Model, Sequential, load_model


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(path, text="new"):
    with replacing(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("number", "reason"),
    [(errno.EACCES, "permission denied"), (errno.ENOSPC, "no space left on device")],
)
def test_what_the_system_refuses_is_said_with_the_name_of_the_target(number, reason):
    Path("a.txt").write_text("old", encoding="utf-8")

    def write_half():
        with replacing("a.txt") as unfinished:
            unfinished.write_text("half", encoding="utf-8")
            raise OSError(number, os.strerror(number), str(unfinished))

    with pytest.raises(UnavailableError, match=rf"^Cannot write 'a\.txt': {reason}\.$"):
        write_half()
    assert Path("a.txt").read_text(encoding="utf-8") == "old"
    assert os.listdir() == ["a.txt"]


def test_a_folder_that_may_not_be_written_to_is_refused_at_once(monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UnavailableError, match=r"^Cannot write 'a\.txt': permission denied\.$"):
        write("a.txt")


def test_a_folder_is_no_file():
    Path("a.txt").mkdir()
    with pytest.raises(ArgumentError, match="expected a file, got a folder"):
        write("a.txt")


def test_an_error_of_ours_stays_as_it_is():
    with pytest.raises(UnavailableError, match="^mine$"), replacing("a.txt"):
        raise UnavailableError("mine")


@pytest.mark.parametrize("method", ["save", "save_weights"])
def test_a_model_that_may_not_be_saved_names_its_file(method, monkeypatch):
    def refused(name, mode):
        raise PermissionError(errno.EACCES, f"Unable to open '{name}'")

    model = Sequential([Dense(2, input_shape=(3,))])
    monkeypatch.setattr(h5py, "File", refused)
    with pytest.raises(UnavailableError, match=r"^Cannot write 'a\.h5': permission denied\.$"):
        getattr(model, method)("a.h5")
    assert os.listdir() == []


# --- what dead processes left ---------------------------------------------------------------------


def dead_process() -> int:
    """Return the number of a process that is no more."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.process
def test_what_dead_processes_left_is_removed_by_the_next_writing(tmp_path):
    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        kept = [
            tmp_path / f".ck.h5.{living.pid}.unfinished",
            tmp_path / f".other.h5.{dead_process()}.unfinished",
            tmp_path / ".ck.h5.notes.unfinished",
        ]
        left = tmp_path / f".ck.h5.{dead_process()}.unfinished"
        for path in (*kept, left):
            path.write_text("half", encoding="utf-8")
        with replacing(tmp_path / "ck.h5") as unfinished:
            unfinished.write_text("whole", encoding="utf-8")
        assert sorted(tmp_path.iterdir()) == sorted([*kept, tmp_path / "ck.h5"])
    finally:
        living.communicate(b"\n")


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only Linux tells when it began")
def test_a_number_that_was_given_to_a_later_process_keeps_nothing(tmp_path):
    living = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        left = tmp_path / f".ck.h5.{living.pid}.unfinished"
        left.write_text("half", encoding="utf-8")
        os.utime(left, (1_000_000_000, 1_000_000_000))  # long before
        with replacing(tmp_path / "ck.h5") as unfinished:
            unfinished.write_text("whole", encoding="utf-8")
        assert list(tmp_path.iterdir()) == [tmp_path / "ck.h5"]
    finally:
        living.communicate(b"\n")


class WithWordsOfItsOwn(Model):
    """A model whose configuration names no layers."""

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        self.n, self.inside = n, layers.Dense(n)

    def call(self, x):
        return self.inside(x)

    def get_config(self):
        return {"n": self.n, "name": self.name}


class MadeFromItsWords(WithWordsOfItsOwn):
    @classmethod
    def from_config(cls, config):
        return cls(**config)


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("kind", [WithWordsOfItsOwn, MadeFromItsWords])
def test_a_model_of_a_class_of_ones_own_never_comes_back_with_fresh_weights(kind, ending, tmp_path):
    path, x = tmp_path / f"model.{ending}", np.ones((2, 3), "float32")
    model = kind(4)
    expected = model(x)
    model.save(path)
    with pytest.raises((ConfigError, DataError), match="load_weights|expected 0 layers"):
        load_model(path, custom_objects={kind.__name__: kind})
    twin = kind(4)
    twin(x)
    twin.load_weights(path)
    np.testing.assert_array_equal(twin(x), expected)


@pytest.mark.parametrize("ending", ["h5", "weights.h5"])
def test_weights_for_a_model_that_was_never_called_are_not_taken_for_loaded(ending, tmp_path):
    path = tmp_path / f"model.{ending}"
    model = WithWordsOfItsOwn(4)
    model(np.ones((2, 3), "float32"))
    model.save_weights(path)
    with pytest.raises(DataError, match="has weights|expected 0"):
        WithWordsOfItsOwn(4).load_weights(path)


def test_a_missing_file_is_named_with_its_reason_and_never_suggested_itself(tmp_path) -> None:
    """Also where the name is there: a link to nothing, a pipe, a name that no folder can hold."""
    (tmp_path / "near.keras").touch()
    (tmp_path / "link.keras").symlink_to(tmp_path / "nothing.keras")
    os.mkfifo(tmp_path / "pipe.keras")
    told = {
        "neat.keras": r"there is no file '.*neat\.keras'\. Did you mean '(.*/)?near\.keras'\?",
        "link.keras": r"link\.keras' is a link to '.*nothing\.keras', which does not exist",
        "pipe.keras": r"pipe\.keras' is a device or a pipe\. Give a file",
        "x" * 300 + ".keras": r"there is no file '.{1,60}\.\.\.': file name too long",
    }
    for name, words in told.items():
        with pytest.raises(UnavailableError, match=words):
            load_model(tmp_path / name)
        with pytest.raises(UsageError, match=words):
            checked_file(str(tmp_path / name), "a file")
