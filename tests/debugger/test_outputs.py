"""`kerascope debug` that asks nobody: --step-all, --until, --format, and what goes together."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest
from debugger_programs import fit_two_layers
from debugger_transcripts import debug_script

from kerascope import backend as K
from kerascope.cli.commands import main
from kerascope.debugger.files import at_grain, page_of_stops
from kerascope.stage import observing
from kerascope.trace.recorder import Recorder
from kerascope.trace.tape import trace
from kerascope.trace.tape_store import Tape

FIT = "from debugger_programs import fit_two_layers\nfit_two_layers()\nprint('after')\n"
NAN = "from debugger_programs import fit_with_nan\nfit_with_nan()\n"


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    """Run a script with some options; return exit code, standard output and standard error."""

    def run(options, text=FIT):
        path = tmp_path / "script.py"
        path.write_text(text)
        K.clear_session()
        monkeypatch.setattr("sys.stdin", None)
        code = main(["debug", *options, str(path)])
        return code, *capsys.readouterr()

    return run


def times(text):
    return [int(t) for t in re.findall(r"\bt=(\d+)$", text, re.MULTILINE)]


# --- stops ----------------------------------------------------------------------------------------


def test_step_all_writes_each_stop_that_step_would(run, monkeypatch, capsys, tmp_path):
    code, out, _ = run(["--step-all"])
    assert code == 0
    assert "(Kdb)" not in out
    assert out.endswith("\nafter\n")
    path = tmp_path / "script.py"
    _, stepped = debug_script(monkeypatch, capsys, path, *["s"] * len(times(out)), "q")
    assert times(stepped) == times(out)


def test_the_grain_of_step_all_chooses_the_stops(run):
    counts = {grain: len(times(run([f"--step-all={grain}"])[1])) for grain in ("act", "node", "op")}
    assert counts["act"] < counts["node"] < counts["op"]
    assert run(["--step-all"])[1] == run(["--step-all=node"])[1] == run(["--format", "text"])[1]


def test_until_ends_the_output_and_the_program(run):
    code, out, _ = run(["--step-all", "--until", "phase:commit"])
    assert code == 0
    assert out.endswith("--Call-- commit\nbreakpoint 1 hit: phase:commit\n")
    assert "after" not in out
    assert run(["--step-all", "--until", "commit"])[1] == out
    assert times(run(["--step-all", "--until", "t=30"])[1])[-1] >= 30


def test_until_alone_asks_there(monkeypatch, capsys, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(FIT)
    options = ["--until", "b:bwd", "-c", "p e.kind"]
    code, out = debug_script(monkeypatch, capsys, path, "b", "restart", "q", options=options)
    assert code == 0
    assert out.startswith("> kerascope/backend/gradient.py(")
    assert "(Kdb) p e.kind\n'grad.node'\n(Kdb) b\n(Kdb) restart\n> script.py(1)<module>()\n" in out


def test_until_that_never_comes_is_told(run, monkeypatch, capsys, tmp_path):
    code, _, error = run(["--step-all", "--until", "batch 17"])
    assert (code, error.startswith("kerascope: --until batch 17: it matches none of the ")) == (
        2,
        True,
    )
    code, _, error = run(["--format", "svg", "--until", "t=100000"])
    assert (code, error.count("--until t=100000: there were ")) == (2, 1)
    code, _, error = run(["--step-all", "--until", "loss > 1e9"])
    assert code == 2
    assert error.startswith("kerascope: --until loss > 1e9: the condition held at none of the ")
    path = tmp_path / "script.py"
    _, out = debug_script(monkeypatch, capsys, path, "b", "q", options=["--until", "bb"])
    assert "*** --until: unknown layer 'bb'. Did you mean 'b'? " in out
    assert "(Kdb) b\n(Kdb) q\n" in out


def test_commands_are_done_before_the_first_event(run):
    code, out, _ = run(["--step-all", "-c", "display total_loss", "-c", "b a:ret"])
    assert code == 0
    assert out.startswith("(Kdb) display total_loss\n")
    assert "breakpoint 1 hit: a:ret" in out
    assert "display total_loss: " in out.split("t=", 1)[1]


def test_a_program_that_fails_is_told_and_ends_with_1(run):
    code, out, error = run(["--step-all"], "print('ran')\n1/0\n")
    assert (code, error) == (1, "")
    assert out.startswith("ran\nTraceback ")
    assert out.endswith("ZeroDivisionError: division by zero\n")
    code, out, error = run(["--format", "jsonl"], FIT + "1/0\n")
    assert code == 1
    assert "division by zero" in error
    assert json.loads(out.splitlines()[0])["events"] > 100
    assert run(["--step-all"], "import sys; sys.exit(5)\n")[0] == 5


def test_fail_on_ends_every_format_with_3(run):
    code, out, _ = run(["--step-all", "--fail-on", "nan"], NAN)
    assert code == 3
    caught = next(line for line in out.splitlines() if line.startswith("caught nan: "))
    assert "caught nan: log/log: 4 of 4 NaN" in caught
    code, out, error = run(["--format", "svg", "--fail-on", "nan"], NAN)
    assert code == 3
    assert "caught nan" in error
    ET.fromstring(out)
    assert run(["--fail-on", "nan", "--until", "commit"], NAN)[0] == 3
    code, out, _ = run(["--fail-on", "nan", "--until", "commit"])
    assert code == 0
    assert len(times(out)) == 1


def test_ctrl_c_ends_it_with_what_there_is(run):
    text = "import os, signal\n" + FIT.replace("\nfit", "\nos.kill(os.getpid(), 2)\nfit")
    code, out, _ = run(["--format", "jsonl"], text)
    assert code == 130
    assert json.loads(out.splitlines()[0])["events"] == 1


# --- formats --------------------------------------------------------------------------------------


def test_md_is_a_page_with_the_stops_in_a_fence(run):
    code, out, error = run(["--format", "md", "--step-all=phase"])
    assert code == 0
    assert out.startswith("# script.py\n\nEvery phase stop.\n\n```text\n> ")
    assert out.endswith("\n```\n")
    assert times(out) == times(run(["--step-all=phase"])[1])
    assert error == "after\n"


def test_a_fence_is_longer_than_those_inside():
    assert page_of_stops("a", "b", "x\n```\ny\n").count("````") == 2


def test_jsonl_is_a_tape_that_replay_reads(run, capsys, tmp_path):
    code, out, error = run(["--format", "jsonl"])
    assert (code, error) == (0, "after\n")
    file = tmp_path / "t.jsonl"
    file.write_text(out, encoding="utf-8")
    assert not file.with_suffix(".npz").exists()
    K.clear_session()
    with trace() as tape:
        fit_two_layers()
    read = Tape.load(file)
    assert [(e.kind, e.name, e.ph) for e in read] == [(e.kind, e.name, e.ph) for e in tape]
    assert main(["replay", "--format", "jsonl", str(file)]) == 0
    assert capsys.readouterr().out == out
    assert main(["replay", "--step-all", "--until", "commit", str(file)]) == 0
    assert capsys.readouterr().out.endswith("--Call-- commit\nbreakpoint 1 hit: phase:commit\n")
    assert main(["replay", "--until", "commit", "-c", "p e.kind", "-c", "q", str(file)]) == 0
    assert "(Kdb) p e.kind\n'commit'\n" in capsys.readouterr().out


def test_a_tape_with_nan_has_no_arrays_beside_it_either(run, tmp_path):
    _, out, _ = run(["--format", "jsonl"], NAN)
    assert json.loads(out.splitlines()[0])["arrays"] == 0
    (tmp_path / "t.jsonl").write_text(out, encoding="utf-8")
    assert len(Tape.load(tmp_path / "t.jsonl")) == len(out.splitlines()) - 1


@pytest.mark.parametrize("grain", ["act", "phase", "node", "op", "detail"])
def test_events_of_a_grain_are_those_that_a_recorder_of_that_level_tells(grain):
    tapes = []
    for level in ("detail", grain):
        K.clear_session()
        recorder = Recorder(level)
        with observing(recorder):
            fit_two_layers()
        recorder.close()
        tapes.append(recorder.tape)
    chosen = Tape(at_grain(tapes[0], grain))
    facts = [(e.t, e.depth, e.kind, e.name, e.ph, e.act, e.phase) for e in chosen]
    assert facts == [(e.t, e.depth, e.kind, e.name, e.ph, e.act, e.phase) for e in tapes[1]]
    last = len(chosen) - 1
    assert list(chosen.names_at(last)) == list(tapes[1].names_at(last))


def test_html_and_svg_show_the_graph(run):
    code, page, error = run(["--format", "html", "--step-all=phase"])
    assert (code, error) == (0, "after\n")
    assert page.startswith("<!DOCTYPE html>")
    steps = r'max="(\d+)"'
    whole = run(["--format", "html"])[1]
    assert int(re.search(steps, page)[1]) < int(re.search(steps, whole)[1])
    code, picture, _ = run(["--format", "svg", "--until", "b:fwd"])
    assert code == 0
    assert ET.fromstring(picture).tag.endswith("svg")
    assert main(["debug", "--format", "svg", "tests/debugger_transcripts.py"]) == 1  # no model


def test_the_picture_of_a_whole_run_or_tape_is_that_of_its_last_call(run, tmp_path, capsys):
    picture = run(["--format", "svg"], FIT)[1]
    states = re.findall(r'class="box k-dense is-([a-z]+)"', picture)
    assert states
    assert set(states) == {"gradient"}  # each has been computed, and its gradient has come
    assert "is-pending" not in picture
    tape = tmp_path / "t.jsonl"
    with trace() as recorded:
        fit_two_layers()
    recorded.save(tape)
    assert main(["replay", "--format", "svg", str(tape)]) == 0
    assert "is-pending" not in capsys.readouterr().out


@pytest.mark.parametrize("form", ["jsonl", "md", "html", "svg"])
def test_a_format_is_the_same_in_every_locale(form, tmp_path):
    path = tmp_path / "script.py"
    path.write_text(
        "import kerascope as ks\n"
        "dense = ks.layers.Dense(1, input_shape=(2,), kernel_initializer='ones', name='密')\n"
        "ks.Sequential([dense]).compile('sgd', 'mse')\n"
    )
    words = [sys.executable, "-W", "ignore", "-m", "kerascope", "debug", "--format", form, path]
    texts = []
    for encoding in ("utf-8", "ascii"):
        done = subprocess.run(words, capture_output=True, env=environment(encoding), check=True)
        texts.append(done.stdout)
    assert texts[0] == texts[1]
    assert "密".encode() in texts[0]


def environment(encoding):
    return {**os.environ, "PYTHONIOENCODING": encoding}


# --- what makes no sense --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--step-all=opp"], "Unknown --step-all=opp. Did you mean 'op'? Use one of: act, phase"),
        (
            ["--format", "jsnl"],
            "Unknown --format jsnl. Did you mean 'jsonl'? Use one of: text, md",
        ),
        (["--until", "phase:comit"], "--until: unknown phase 'comit'. Did you mean 'commit'?"),
        (["--until", ""], "--until: a place to stop at is missing"),
        (["--until", "a, ("], "--until: "),
        (["--step-all", "--format", "svg"], "a picture has no stops"),
        (["--step-all", "-c", "c"], "without a prompt"),
        (["--step-all", "-c", "restart"], "without a prompt"),
        (["--fail-on", "nan", "--until", "a", "-c", "s 3"], "without a prompt"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(run, options, said):
    code, out, error = run(options, "print('ran')\n")
    assert (code, out) == (2, "")
    assert said in error


def test_a_grain_behind_a_space_is_seen(capsys):
    assert main(["debug", "--step-all", "op", "script.py"]) == 2
    assert "Did you mean --step-all=op?" in capsys.readouterr().err
