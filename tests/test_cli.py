import errno
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from ctrl_c import HEARS_CTRL_C
from waiting import LONG

import kerascope as ks
from kerascope.cli import main

GOLDEN = Path(__file__).parent / "golden"
ROOT = Path(__file__).resolve().parents[1]

BUILD = """
from kerascope.layers import Dense, Input
from kerascope.models import Model
x = Input(shape=(4,), name="x")
h = Dense(3, name="h")(x)
"""
ONE = BUILD + "model = Model(x, Dense(2, name='out')(h), name='mine')\nprint('the script speaks')\n"
PART = ONE + "encoder = Model(x, h, name='encoder')\n"
TWO = (
    ONE
    + "other = Model(Input((3,)), Dense(2)(h), name='x') if 0 else None\n"
    + ("y = Input(shape=(5,))\nother = Model(y, Dense(1)(y), name='second')\n")
)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def script(text, name="script.py"):
    Path(name).write_text(text, encoding="utf-8")
    return name


def command(*words, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    environment.pop("KERASCOPE_DIALECT", None)
    environment.update(options.pop("environment", {}))
    return subprocess.run(
        [sys.executable, "-m", "kerascope", *map(str, words)],
        capture_output=True,
        env=environment,
        timeout=LONG,
        **options,
    )


# --- trace ----------------------------------------------------------------------------------------


@pytest.mark.process
def test_the_walk_of_a_small_script_is_the_golden_one_in_every_process():
    first = command("trace", GOLDEN / "small_script.py")
    second = command("trace", GOLDEN / "small_script.py", environment={"PYTHONHASHSEED": "1"})
    assert first.returncode == second.returncode == 0, first.stderr.decode()
    assert first.stdout == second.stdout
    expected = (GOLDEN / "small_script.txt").read_text(encoding="utf-8")
    assert first.stdout.decode("utf-8").replace("\r\n", "\n") == expected
    assert first.stderr == b""


def test_the_scripts_own_lines_stand_where_they_happened(capsys):
    assert main(["trace", str(GOLDEN / "small_script.py")]) == 0
    out = capsys.readouterr().out
    places = [
        out.index(word) for word in ("━━ compile", "training begins", "━━ fit", "training is")
    ]
    assert places == sorted(places)


def test_a_script_is_run_as_python_runs_it(capsys):
    script("import sys, helper\nprint(__name__, __file__, sys.argv, helper.WORD)\n")
    script("WORD = 'found'\n", "helper.py")
    before = sys.argv, list(sys.path), sys.modules["__main__"]
    assert main(["trace", "--level", "op", "script.py", "a", "--x", "--batches", "3", "b"]) == 0
    path = Path("script.py").absolute()
    assert capsys.readouterr().out == f"__main__ {path} ['script.py', 'a', '--x', 'b'] found\n"
    assert (sys.argv, sys.path, sys.modules["__main__"]) == before
    sys.modules.pop("helper")


def test_words_after_two_dashes_belong_to_the_script(capsys):
    script("import sys; print(sys.argv[1:])")
    assert main(["trace", "script.py", "--", "--level", "what"]) == 0
    assert capsys.readouterr().out == "['--level', 'what']\n"


def test_an_exception_shows_its_traceback_without_our_frames(capsys):
    script(ONE + "def f():\n    raise KeyError('gone')\nf()\n")
    assert main(["trace", "script.py"]) == 1
    captured = capsys.readouterr()
    assert "Node out_ib-0" in captured.out
    lines = captured.err.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].startswith('  File "script.py", line')
    assert lines[-1] == "KeyError: 'gone'"
    assert "kerascope" not in captured.err


@pytest.mark.parametrize("source", [b"def f(:\n", b"name = 'gr\xf6sse'\n"])
def test_a_syntax_error_is_the_scripts_error(source, capsys):
    Path("script.py").write_bytes(source)
    assert main(["trace", "script.py"]) == 1
    err = capsys.readouterr().err
    assert "SyntaxError" in err
    assert "kerascope" not in err


@pytest.mark.parametrize(
    ("ending", "code"), [("sys.exit()", 0), ("sys.exit(3)", 3), ("sys.exit('no')", 1)]
)
def test_the_exit_code_of_the_script_is_kept(ending, code):
    script(f"import sys\n{ending}\n")
    assert main(["trace", "script.py"]) == code


def test_jsonl_is_json_line_by_line_and_the_script_speaks_elsewhere(capsys):
    script(ONE)
    assert main(["trace", "--format", "jsonl", "script.py"]) == 0
    captured = capsys.readouterr()
    records = [json.loads(line) for line in captured.out.splitlines()]
    assert records[0] == {
        "phase": "build",
        "kind": "section",
        "depth": 0,
        "name": "build",
        "text": "layers are called on symbols; each call makes a Node",
        "facts": {},
    }
    assert "the script speaks" in captured.err


def test_markdown_can_be_had(capsys):
    script(ONE)
    assert main(["trace", "script.py", "--format=md"]) == 0
    assert "\n## map_graph\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trace", "none.py"], "there is no file 'none.py'"),
        (["trace", "script"], "Did you mean 'script.py'?"),
        (["trace", "."], "expected a Python script, got a folder"),
        (["trace", "binary"], "expected a Python script, got binary data"),
        (["trace"], "required: script.py"),
        (["trace", "--level", "all", "script.py"], "invalid choice: 'all'"),
        (["trace", "--batches", "-1", "script.py"], "expected 0 or more"),
        (["trace", "--unknown", "script.py"], "unrecognized arguments: --unknown"),
        (["draw", "--levl", "node", "script.py"], "Did you mean '--level'?"),
        (["draw", "script.py", "--levl=node"], "Did you mean '--level'?"),
        (["trace", "--levl", "op", "script.py"], "Did you mean '--level'?"),
        (["draw", "--keras", "script.py"], "unrecognized arguments: --keras.\n("),
        (["tracee", "script.py"], "Did you mean 'trace'?"),
        (["summary", "script.py", "--shape", "h=3"], "--shape is for unknown layers in a .keras"),
        ([], "required: command"),
        (["draw", "script.py:mode"], "Did you mean 'model'?"),
        (["draw", "script.py:h"], "expected a Model or Sequential, got Tensor"),
        (["draw", "m.keras"], "there is no file 'm.keras'"),
        (["summary", "m.h5"], "there is no file 'm.h5'"),
        (["draw", "what.txt"], "or .onnx file, got 'what.txt'"),
        (["draw", "net.pt"], "load_state_dict(torch.load('net.pt')), then give the script"),
        (["summary", "arrays.npz"], "load them into it, then give the script: script.py:model"),
        (["draw", "no.such.module:model"], "Module 'no.such.module' does not exist"),
        (["draw", "empty.py"], "builds no model"),
    ],
)
def test_wrong_usage_is_explained_and_exits_with_2(words, message, capsys):
    script(ONE)
    script("", "empty.py")
    Path("binary").write_bytes(b"\x7fELF\0\0")
    assert main(words) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("kerascope: ") or "the script speaks" in captured.err
    assert captured.out == ""


def test_the_dialect_holds_for_the_script_and_no_longer(capsys):
    script(BUILD + "print(h._keras_history.layer.weights)")
    before = ks.config.dialect
    assert main(["trace", "script.py", "--dialect", "1.2"]) == 0
    assert "[h_W, h_b]" in capsys.readouterr().out
    assert ks.config.dialect == before


def test_the_environment_chooses_the_dialect():
    script(BUILD + "print(h._keras_history.layer.weights)")
    run = command("trace", "script.py", environment={"KERASCOPE_DIALECT": "1.2"})
    assert b"[h_W, h_b]" in run.stdout


def test_a_dialect_that_is_none_is_refused_in_one_line():
    run = command("summary", script(ONE), environment={"KERASCOPE_DIALECT": "nonsense"})
    assert run.returncode == 2
    (line,) = run.stderr.decode().splitlines()
    assert line.startswith("kerascope: environment variable KERASCOPE_DIALECT: expected ")
    assert "'1.2', '2.2' or '3', got 'nonsense'" in line
    assert run.stdout == b""


def test_a_reader_that_goes_away_is_no_error():
    script(ONE * 40)
    with subprocess.Popen(
        [sys.executable, "-m", "kerascope", "trace", "script.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        try:
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(LONG) == 141
        finally:
            process.kill()


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_tidily():
    # Short sleeps: Python hears of a Ctrl-C that comes just before a sleep only after it.
    script("import time\nprint('ready', flush=True)\nwhile True: time.sleep(0.01)\n")
    with subprocess.Popen(
        [sys.executable, "-c", HEARS_CTRL_C, "trace", "script.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        try:
            assert process.stdout.readline() == b"ready\n"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=LONG)
        finally:
            process.kill()
    assert process.returncode == 130
    assert err == b"\nkerascope: interrupted\n"


def test_a_terminal_that_knows_only_ascii_gets_ascii():
    script(BUILD + "Dense(2, name='größe')(h)\n")
    run = command("trace", "script.py", environment={"PYTHONIOENCODING": "ascii"})
    assert run.returncode == 0
    assert run.stdout.isascii()
    assert rb"gr\xf6\xdfe" in run.stdout


# --- draw and summary -----------------------------------------------------------------------------


def test_draw_writes_a_file_and_says_which(capsys):
    script(ONE)
    assert main(["draw", "script.py"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "wrote mine.svg\n"
    assert captured.err == "the script speaks\n"
    assert "<svg" in Path("mine.svg").read_text(encoding="utf-8")


def test_draw_writes_several_files(capsys):
    script(ONE)
    assert main(["draw", "script.py:model", "-o", "a.svg", "-o", "a.dot", "--rankdir", "LR"]) == 0
    assert capsys.readouterr().out == "wrote a.svg\nwrote a.dot\n"
    assert "LR" in Path("a.dot").read_text(encoding="utf-8")


@pytest.mark.parametrize(("format", "start"), [("svg", "<svg"), ("dot", "digraph")])
def test_a_dash_is_standard_output(format, start, capsys):
    script(ONE)
    assert main(["draw", "script.py", "-o", "-", "--format", format]) == 0
    out = capsys.readouterr().out
    assert out.startswith(start)
    assert main(["draw", "script.py", "-o", "-", "--format", format, "--no-show-shapes"]) == 0
    assert capsys.readouterr().out.count("(None") < out.count("(None")


def test_a_part_of_a_model_does_not_stand_in_its_way(capsys):
    script(PART)
    assert main(["draw", "script.py", "-o", "-", "--format", "dot"]) == 0
    assert "out" in capsys.readouterr().out
    assert main(["draw", "script.py:encoder", "-o", "e.svg"]) == 0


def test_several_models_have_to_be_chosen_from(capsys):
    script(TWO)
    assert main(["summary", "script.py"]) == 2
    err = capsys.readouterr().err
    assert "builds 2 separate models" in err
    assert "kerascope ... script.py:model" in err
    assert "kerascope ... script.py:other" in err
    assert main(["summary", "script.py:other"]) == 0


def test_a_model_inside_a_function_is_found_if_it_is_used(capsys):
    lines = ONE.replace("\n", "\n    ") + "model.compile('sgd', 'mse')\n"
    script(f"def main():{lines}\nmain()\n")
    assert main(["summary", "script.py"]) == 0
    assert "out" in capsys.readouterr().out
    assert main(["summary", "script.py:mine"]) == 0


def test_summary_prints_the_table(capsys):
    script(ONE)
    assert main(["summary", "script.py"]) == 0
    out = capsys.readouterr().out
    assert "23" in out  # 15 + 8 parameters
    assert "the script speaks" not in out


def test_a_module_and_a_function_in_it_will_do(capsys, monkeypatch):
    script("def build():\n" + ONE.replace("\n", "\n    ") + "\n    return model\n", "my_models.py")
    assert main(["summary", "my_models:build"]) == 0
    assert "out" in capsys.readouterr().out
    assert str(Path.cwd()) not in sys.path
    sys.modules.pop("my_models")


def test_a_json_file_will_do(capsys):
    script(ONE + "from pathlib import Path\nPath('m.json').write_text(model.to_json())\n")
    main(["trace", "script.py"])
    capsys.readouterr()
    assert main(["summary", "m.json"]) == 0
    assert "out" in capsys.readouterr().out
    Path("m.json").write_text("{", encoding="utf-8")
    assert main(["summary", "m.json"]) == 2
    assert "not valid JSON" in capsys.readouterr().err


def test_a_script_that_fails_after_it_built_a_model_shows_that(capsys):
    script(ONE + "1 / 0\n")
    assert main(["draw", "script.py"]) == 0
    captured = capsys.readouterr()
    assert captured.out == "wrote mine.svg\n"
    assert "ZeroDivisionError" in captured.err


def test_a_script_that_fails_before_has_no_model_to_show(capsys):
    script("1 / 0\n" + ONE)
    assert main(["draw", "script.py"]) == 1
    err = capsys.readouterr().err
    assert "ZeroDivisionError" in err
    assert "failed (ZeroDivisionError: division by zero); there is no model to show" in err


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("nowhere/m.svg", "Cannot write 'nowhere/m.svg': the folder 'nowhere' does not exist"),
        ("m.bmp", "cannot tell the format of 'm.bmp' from the suffix '.bmp'. Use one of: .svg"),
        ("folder.svg", "Cannot write 'folder.svg': expected a file, got a folder"),
        ("locked/m.svg", "Cannot write 'locked/m.svg': permission denied"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_the_script_runs(
    output, message, capsys, monkeypatch
):
    Path("folder.svg").mkdir()
    Path("locked").mkdir()
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda p, mode: Path(p).name != "locked" and allowed(p, mode))
    script("open('it_ran', 'w').close()\n" + ONE)
    assert main(["draw", "script.py", "-o", output]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("kerascope: ")
    assert message in line
    assert not Path("it_ran").exists()


def test_a_folder_that_refuses_the_drawing_in_the_end_is_named_in_one_line(capsys, monkeypatch):
    def refused(self, data):
        raise PermissionError(errno.EACCES, "Permission denied", str(self))

    script(ONE)
    monkeypatch.setattr(Path, "write_bytes", refused)
    assert main(["draw", "script.py", "-o", "m.svg"]) == 1
    assert capsys.readouterr().err.endswith("kerascope: Cannot write 'm.svg': permission denied.\n")


# --- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words", [["--help"], ["trace", "--help"], ["draw", "-h"], ["summary", "-h"]]
)
def test_help_is_printed_with_examples(words, capsys):
    assert main(words) == 0
    assert "kerascope" in capsys.readouterr().out


def test_the_version_is_that_of_the_package(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"kerascope {ks.__version__}\n"


@pytest.mark.process
def test_help_needs_no_drawing_packages():
    code = (
        "import sys; from kerascope.cli import main; main(['--version']);"
        "print([m for m in ('rich', 'networkx', 'pygraphviz', 'h5py') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    assert run.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("name", ["m.keras", "m.h5"])
def test_a_file_of_a_model_will_do(name, capsys):
    script(ONE + f"model.save({name!r})\n")
    assert main(["summary", "script.py"]) == 0
    expected = capsys.readouterr().out
    assert main(["summary", name]) == 0
    assert capsys.readouterr().out == expected
    assert main(["draw", name, "-o", "m.dot"]) == 0
    Path(name).write_bytes(Path(name).read_bytes()[:100])
    assert main(["draw", name]) == 2
    assert f"'{name}': expected a whole" in capsys.readouterr().err


def test_a_file_is_not_suggested_in_place_of_itself(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "what.txt").write_text("words", "utf-8")
    assert main(["draw", "what.txt"]) == 2
    assert "Did you mean" not in capsys.readouterr().err
