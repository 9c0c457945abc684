import io

import pytest
from piped import answers, fit_toy, piped, session_of

from kerascope.cli import main
from kerascope.debugger.files import markdown_of, page_of, text_of
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.other import tape_of_file
from kerascope.debugger.session import Restarting, Session
from kerascope.errors import ArgumentError, ConfigError
from kerascope.trace.events import Event
from kerascope.trace.tape_store import Tape


def said(text, command, time=0):
    return answers(text, command)[time]


def test_a_record_is_replayed_without_code(tmp_path):
    file = tmp_path / "t.jsonl"
    session, text = session_of(fit_toy, "c", f"record {file}")
    count = len(session.tape)
    assert said(text, f"record {file}") == [
        f"{file} and {tmp_path / 't.npz'} written: {count} events"
    ]
    assert tape_of_file(file) == session.tape


def test_a_replay_is_a_timeline_that_can_be_compared(tmp_path):
    file = tmp_path / "t.jsonl"
    piped(fit_toy, "c", f"record {file}")
    text = piped(fit_toy, "c", f"replay {file}", "p t", "timeline", "diff 1 2", "timeline 1")
    assert said(text, f"replay {file}")[0].startswith("timeline 2: ")
    assert said(text, "p t") == ["0"]
    assert said(text, "timeline")[1].startswith("* 2  ")
    assert said(text, "diff 1 2")[0].startswith("timelines 1 and 2 are the same")


def test_damaged_and_missing_files_are_told(tmp_path):
    file = tmp_path / "t.jsonl"
    piped(fit_toy, "c", f"record {file}")
    lines = file.read_text("utf-8").splitlines()
    file.write_text("\n".join(lines[:40]), "utf-8")
    text = piped(fit_toy, "s", f"replay {file}", "replay nowhere.jsonl", "record", "timeline")
    assert said(text, f"replay {file}")[0].startswith("*** ")
    assert "there is no file 'nowhere.jsonl'" in said(text, "replay nowhere.jsonl")[0]
    assert "expected a file" in said(text, "record")[0]
    assert len(said(text, "timeline")) == 1
    with pytest.raises(ConfigError):
        tape_of_file(file)
    with pytest.raises(ArgumentError, match="no file"):
        tape_of_file(tmp_path / "other.jsonl")


def test_all_formats_are_exported(tmp_path):
    session, text = session_of(
        fit_toy, "c", *(f"export {form} {tmp_path / form}" for form in ("md", "txt", "html", "svg"))
    )
    for form in ("md", "txt", "html", "svg"):
        assert said(text, f"export {form} {tmp_path / form}") == [f"{tmp_path / form} written"]
    count = len(session.tape)
    assert (tmp_path / "md").read_text("utf-8").count("\n") == count + 2
    assert (tmp_path / "txt").read_text("utf-8").count("\n") == count + 1
    page = (tmp_path / "html").read_text("utf-8")
    assert f"{count} events" in page
    assert 'class="player"' in page
    assert "<svg" in (tmp_path / "svg").read_text("utf-8")


def test_what_is_exported_is_escaped():
    tape = Tape([Event(0, "", "", "op", "I", 0, "op", "a|<b>")])
    assert markdown_of(tape).splitlines()[2].startswith("| 0 | I | op | a\\|&lt;b> |")
    assert "a|&lt;b&gt;" in page_of(tape, "x")
    assert text_of(tape).splitlines()[1].startswith("0  I   op    a|<b>")


def test_mistakes_in_exports_are_told(tmp_path):
    text = piped(fit_toy, "s", "export mdd x", "export md", f"export md {tmp_path}/no/x.md")
    assert "Did you mean 'md'?" in said(text, "export mdd x")[0]
    assert "expected a file" in said(text, "export md")[0]
    assert "there is no folder" in said(text, f"export md {tmp_path}/no/x.md")[0]


def test_restart_is_for_scripts(tmp_path):
    assert said(piped(fit_toy, "s", "restart"), "restart")[0].startswith(
        "*** restart: this session has no script"
    )
    debugger = ModelDebugger(stdin=io.StringIO("s\nrestart\n"), stdout=io.StringIO())
    session = debugger.session = Session(debugger.ask, script=tmp_path / "script.py")
    with pytest.raises(Restarting):
        session.run(fit_toy)


def test_the_command_line_replays_a_tape(tmp_path, capsys):
    file = tmp_path / "t.jsonl"
    piped(fit_toy, "c", f"record {file}")
    assert main(["replay", "-c", "unt commit", "-c", "info tensors", "-c", "q", str(file)]) == 0
    text = capsys.readouterr().out
    assert "--Call-- commit" in text
    assert [line.split()[0] for line in said(text, "info tensors")][:4] == ["key", "x", "d1", "d2"]
    assert main(["replay", str(tmp_path / "other.jsonl")]) == 2
    assert "there is no file" in capsys.readouterr().err
