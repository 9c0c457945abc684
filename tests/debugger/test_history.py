"""What was typed is kept, and nothing is disturbed by it."""

import os
import stat

import pytest

from kerascope.debugger.shell import LARGEST, LONGEST, History


class Readline:
    """Python's `readline` without a terminal."""

    def __init__(self, *lines):
        self.lines = list(lines)

    def clear_history(self):
        self.lines.clear()

    def add_history(self, line):
        self.lines.append(line)

    def get_current_history_length(self):
        return len(self.lines)

    def get_history_item(self, place):
        return self.lines[place - 1]

    def remove_history_item(self, place):
        if place < 0:
            raise ValueError
        del self.lines[place]


@pytest.fixture
def file(tmp_path):
    return tmp_path / ".kscope_history"


def test_lines_are_kept_for_the_next_session(file):
    for line in ("s", "p loss", "p loss", "  ", "s"):
        History(Readline(), file).note(line)
    history = History(Readline(), file)
    history.note("q")
    assert file.read_text() == "s\np loss\ns\nq\n"
    assert history.lines == ["s", "p loss", "s", "q"]
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_the_programs_own_lines_are_put_back(file):
    file.write_text("s\n")
    readline = Readline("theirs", "too")
    with History(readline, file).in_place():
        assert readline.lines == ["s"]
        readline.add_history("typed")
    assert readline.lines == ["theirs", "too"]
    with pytest.raises(RuntimeError), History(readline, file).in_place():
        raise RuntimeError
    assert readline.lines == ["theirs", "too"]


def test_an_answer_is_no_command(file):
    readline = Readline("s", "y")
    history = History(readline, file)
    history.forget_last()
    assert readline.lines == ["s"]
    readline.clear_history()
    history.forget_last()
    assert not file.exists()


def test_its_length_is_limited(file):
    file.write_text("".join(f"p {n}\n" for n in range(3 * LONGEST)))
    history = History(Readline(), file)
    history.note("last")
    lines = file.read_text().splitlines()
    assert len(history.lines) == LONGEST
    assert len(lines) == LONGEST + 1
    assert (lines[0], lines[-1]) == (f"p {2 * LONGEST}", "last")
    file.write_text("x" * (LARGEST + 10) + "\ns\n")
    assert History(Readline(), file)._known()[-1] == "s"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00\ns\n", b"\x1b[2J\ns\n", b"", b"s"])
def test_a_broken_file_does_not_disturb(file, content):
    file.write_bytes(content)
    history = History(Readline(), file)
    with history.in_place():
        history.note("p 1")
    assert history.lines[-1] == "p 1"
    assert all(line.isprintable() for line in history.lines)


def test_a_home_that_cannot_be_written_does_not_disturb(tmp_path, monkeypatch):
    folder = tmp_path / ".kscope_history"
    folder.mkdir()
    for path in (folder, tmp_path / "nowhere" / "file"):
        history = History(Readline(), path)
        with history.in_place():
            history.note("s")
        assert history.lines == ["s"]
    monkeypatch.setattr("pathlib.Path.home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    history = History(Readline())
    history.note("s")
    assert (history.path, history.lines) == (None, ["s"])


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_file_does_not_disturb(file):
    file.write_text("s\n")
    file.chmod(0o400)
    history = History(Readline(), file)
    history.note("p 1")
    assert history.lines == ["s", "p 1"]
    assert file.read_text() == "s\n"


def test_without_readline_nothing_is_put_in_place(file):
    history = History(None, file)
    with history.in_place():
        history.note("s")
        history.forget_last()
    assert file.read_text() == "s\n"
