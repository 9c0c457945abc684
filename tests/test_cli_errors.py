"""What a person sees who names a wrong file, misspells a word, or brings no model."""

import sys
from pathlib import Path

import pytest

from kerascope.cli import main
from kerascope.cli.commands import COMMANDS

MODEL = """
from keras.layers import Dense
from keras.models import Sequential
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(name, text):
    Path(name).write_text(text, encoding="utf-8")


def error_of(capsys, *words, code=2):
    assert main(words) == code
    error = capsys.readouterr().err
    assert "kerascope/cli/" not in error  # no traceback of ours
    return error


# --- files of models ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.json", "{}", "'m.json': expected a dict with 'class_name' and 'config', got dict with"),
        ("m.json", "[1]", "'m.json': expected a dict with 'class_name' and 'config', got list"),
        (
            "m.json",
            '{"class_name": ',
            "'m.json': its configuration is not valid JSON (Expecting value",
        ),
        ("m.json", b"\xff\xfe", "'m.json': expected a text in UTF-8"),
        ("m.yaml", "a: 1", "'m.yaml': expected a dict with 'class_name'"),
        ("m.h5", "hello", "'m.h5' is not a complete HDF5 file"),
        ("m.h5", "", "'m.h5' is not a complete HDF5 file or .keras archive. It is empty"),
        ("m.keras", "hello", "'m.keras' is not a complete .keras file"),
    ],
)
@pytest.mark.parametrize("command", ["draw", "summary"])
def test_a_file_that_holds_no_model_is_refused_with_how_to_write_one(
    command, name, content, message, capsys
):
    content = content if isinstance(content, bytes) else content.encode()
    Path(name).write_bytes(content)
    (line,) = error_of(capsys, command, name).splitlines()
    assert line.startswith(f"kerascope: {message}")
    assert "Write the whole model with " in line


def test_a_model_of_ones_own_class_in_a_file_is_drawn_and_computes_nothing(capsys):
    write("m.json", '{"class_name": "NobodysOwn", "config": {}}')
    assert main(("draw", "m.json", "-o", "m.svg")) == 0
    assert "NobodysOwn" in Path("m.svg").read_text(encoding="utf-8")
    error = error_of(capsys, "draw", "m.json", "--level", "training", code=2)
    assert "NobodysOwn 'nobodys_own" in error


@pytest.mark.parametrize("name", ["m.json", "m.h5", "m.keras", "m.py", "m", "m.yaml"])
def test_a_folder_and_a_missing_file_are_named(name, capsys):
    assert f"there is no file '{name}'." in error_of(capsys, "draw", name)
    Path(name).mkdir()
    assert f"kerascope: {name}: expected " in error_of(capsys, "draw", name)


def test_the_file_beside_a_misspelt_one_is_suggested(capsys):
    write("example.py", "")
    write("other.py", "")
    assert "there is no file 'exmaple.py'. Did you mean 'example.py'?" in error_of(
        capsys, "trace", "exmaple.py"
    )
    assert "Did you mean 'example.py'?" in error_of(capsys, "trace", "example")
    assert "Did you mean" not in error_of(capsys, "trace", "missing.py")


# --- scripts without a model ----------------------------------------------------------------------


def test_a_script_that_is_no_python_says_so_and_nothing_of_models(capsys):
    write("bad.py", "x = (")
    for command in ("draw", "summary"):
        error = error_of(capsys, command, "bad.py", code=1)
        assert error.endswith(
            "kerascope: 'bad.py' is not valid Python (line 1: '(' was never closed). "
            "Nothing was run.\n"
        )


@pytest.mark.parametrize(
    ("text", "how"),
    [("raise ValueError('no')", "failed (ValueError: no)"), ("exit(3)", "ended with exit code 3")],
)
def test_a_script_that_ends_before_it_builds_says_how_it_ended(text, how, capsys):
    write("bad.py", text)
    error = error_of(capsys, "summary", "bad.py", code=1)
    assert error.endswith(f"kerascope: 'bad.py' {how}; there is no model to show.\n")


@pytest.mark.parametrize("words", [["trace"], ["trace", "--format", "jsonl"]])
def test_the_walk_of_a_script_without_a_model_says_that(words, capsys):
    write("bad.py", "x = 1")
    assert main([*words, "bad.py"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("kerascope: 'bad.py' built no model, so there is nothing to")


def test_the_walk_of_a_script_that_fails_shows_its_traceback_alone(capsys):
    write("bad.py", "1 / 0")
    assert main(["trace", "bad.py"]) == 1
    assert capsys.readouterr().err.endswith("ZeroDivisionError: division by zero\n")


def test_debugging_unattended_says_that_there_was_no_model(capsys, monkeypatch):
    monkeypatch.delitem(sys.modules, "torch", raising=False)  # of a test before this one
    monkeypatch.delitem(sys.modules, "keras", raising=False)
    write("bad.py", "x = 1")
    assert main(["debug", "--step-all", "bad.py"]) == 0
    assert capsys.readouterr().err == (
        "kerascope: bad.py: expected a program that calls layers, but it built no model.\n"
    )
    error = error_of(capsys, "debug", "--format", "svg", "bad.py", code=1)
    assert error.startswith("kerascope: --format svg: bad.py: expected a program that calls layers")


def test_a_module_and_a_function_that_fail_show_the_lines_of_the_person(capsys):
    write("rough_module.py", "raise ValueError('at once')")
    error = error_of(capsys, "draw", "rough_module:model", code=1)
    assert "rough_module.py" in error
    assert "importlib" not in error
    assert error.endswith("kerascope: module 'rough_module' failed; there is no model to show.\n")
    write("build.py", "def build():\n    raise ValueError('later')\ndef of(n):\n    return n\n")
    error = error_of(capsys, "summary", "build.py:build", code=1)
    assert error.splitlines()[1:] == [
        '  File "build.py", line 2, in build',
        "    raise ValueError('later')",
        "ValueError: later",
        "kerascope: 'build.py': build failed; there is no model to show.",
    ]
    assert "'build.py': of: expected a model or a function" in error_of(
        capsys, "draw", "build.py:of"
    )


def test_a_function_that_fails_while_it_builds_is_drawn_as_far_as_it_came(capsys):
    layers = "[Dense(3, input_shape=(2,)), Conv2D(3, 3)]"
    write(
        "build.py",
        f"from keras.layers import Conv2D\n{MODEL}\ndef build():\n    Sequential({layers})\n",
    )
    assert main(["draw", "build.py:build"]) == 1
    assert "wrote failed.svg: the model up to the failed call" in capsys.readouterr().out


# --- exit codes -----------------------------------------------------------------------------------

NOT_THERE = {
    "run": ["nowhere.py"],
    "trace": ["nowhere.py"],
    "debug": ["nowhere.py"],
    "replay": ["nowhere.jsonl"],
    "profile": ["nowhere.py"],
    "play": ["nowhere.py"],
    "learn": ["read", "99"],
    "draw": ["nowhere.h5"],
    "show": ["nowhere.keras", "conv1"],
    "summary": ["nowhere.json"],
    "compare": ["nowhere.keras", "nowhere.h5"],
    "lessons": ["check", "99"],
    "examples": ["taken/inside"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_of_every_command_an_input_that_is_not_there_is_2(command, capsys):
    write("taken", "")
    assert main([command, *NOT_THERE[command]]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith("kerascope: ")
    assert captured.out == ""


@pytest.mark.parametrize("command", COMMANDS)
def test_of_every_command_an_option_that_is_not_there_is_2(command, capsys):
    assert main([command, "--no-such-option"]) == 2
    assert capsys.readouterr().err.startswith("kerascope: ")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_tells_its_exit_codes(command, capsys):
    assert main([command, "--help"]) == 0
    assert "\n  2    wrong usage, or an input is missing" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["replay", "bad.jsonl"],
        ["replay", "--against", "good.py", "bad.jsonl"],
        ["replay", "folder"],
        ["debug", "binary.py"],
        ["debug", "-x", "nowhere", "good.py"],
        ["learn", "--folder", "good.py"],
        ["learn", "check", "--json", "--folder", "nowhere"],
        ["lessons", "check", "--tutorials", "nowhere"],
        ["lessons", "html", "-o", "good.py", "1"],
        ["draw", "good.py", "--values", "nowhere.npz"],
        ["draw", ""],
    ],
)
def test_what_cannot_be_read_is_2(words, capsys):
    write("good.py", "x = 1")
    write("bad.jsonl", "{}")
    Path("binary.py").write_bytes(b"\0\1")
    Path("folder").mkdir()
    assert error_of(capsys, *words)


@pytest.mark.parametrize("command", ["run", "trace", "profile"])
def test_a_script_that_fails_is_1_and_keeps_its_own_code(command, capsys):
    write("bad.py", "1 / 0")
    assert main([command, "bad.py"]) == 1
    write("bad.py", "exit(7)")
    assert main([command, "bad.py"]) == 7


# --- misspelt words -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["lessons", "check", "--jbos", "2"], "'--jobs'"),
        (["lessons", "html", "--ouput", "x"], "'--output'"),
        (["lessons", "chek"], "'check'"),
        (["learn", "--foldr", "x"], "'--folder'"),
        (["draw", "m.json", "--vlaues", "x"], "'--values'"),
        (["draw", "m.json", "--level", "nod"], "'node'"),
        (["debug", "--comand", "c", "good.py"], "'--command'"),
        (["profile", "--sort", "tme", "good.py"], "'time'"),
        (["--verison"], "'--version'"),
        (["sumary", "m.json"], "'summary'"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_right_one(words, hint, capsys):
    error = error_of(capsys, *words)
    assert f"Did you mean {hint}?" in error.splitlines()[0]


def test_who_is_refused_is_told_whose_help_to_read(capsys):
    error = error_of(capsys, "lessons", "check", "--jbos", "2")
    assert error.endswith("(kerascope lessons check --help shows all options, and examples)\n")


def test_an_option_before_the_command_is_told_where_it_stands(capsys):
    error = error_of(capsys, "--dialect", "3", "draw", "m.json")
    assert "--dialect belongs after the command: kerascope draw --dialect ..." in error


def test_help_is_a_word_too(capsys):
    assert main(["help", "draw"]) == 0
    assert capsys.readouterr().out.startswith("usage: kerascope draw")
    assert main(["help"]) == 0
    assert capsys.readouterr().out.startswith("usage: kerascope [-h]")


@pytest.mark.parametrize(
    ("command", "wrong", "right"),
    [
        ("play", "--levle", "--level"),
        ("play", "--batchs=2", "--batches"),
        ("trace", "--formt", "--format"),
        ("trace", "--lvie", "--live"),
        ("profile", "--repeat", "--repeats"),
    ],
)
def test_a_misspelt_option_behind_the_script_is_not_given_to_the_script(
    command, wrong, right, capsys
):
    write("script.py", f"{MODEL}\nprint('it ran')\n")
    said = error_of(capsys, command, "script.py", wrong)
    assert f"Did you mean {right!r}? Write the script's own words after --." in said


def test_options_of_the_scripts_own_stand_behind_it_and_all_behind_two_dashes(capsys):
    write("script.py", f"import sys\n{MODEL}\nprint('words', sys.argv[1:])\n")
    assert main(["trace", "script.py", "--epochs", "3", "--level", "op", "--", "--levle"]) == 0
    assert "words ['--epochs', '3', '--levle']" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--highlight", "hiden"], "Did you mean 'hidden'?"),
        (["--expand", "nowhere"], "nothing"),
        (["--level", "nodes"], "Did you mean 'node'?"),
        (["--theme", "drak"], "Did you mean 'dark'?"),
        (["--figure", "84mm", "--form", "volumes"], "figure='blocks'"),
        (["--figure", "84mm", "--form", "volume"], "Did you mean 'volumes'?"),
        (["--color", "densee=#8E44AD"], "Did you mean 'dense'?"),
        (["--no-such-option"], "--help"),
    ],
)
def test_a_name_or_a_choice_that_is_unknown_is_wrong_usage_in_few_lines(
    words, said, tmp_path, monkeypatch, capsys
):
    """Some of these ended with exit code 1, others printed all the options of the command."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(
        "from keras.layers import Dense, Input\nfrom keras.models import Model, Sequential\n"
        "x = Input((3,))\ninner = Sequential([Dense(2, input_shape=(3,))], name='inner')\n"
        "model = Model(x, Dense(2, name='hidden')(inner(x)))\n",
        encoding="utf-8",
    )
    error = error_of(capsys, "draw", "m.py", *words)
    assert said in error
    assert len(error.splitlines()) <= 3


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("84mm", "expected a number of columns, got 84mm. For a figure of this width in print, "
                 "write --figure 84mm."),
        ("wide", "expected a number above 0, got wide."),
        ("0", "expected a number above 0, got 0."),
    ],
)  # fmt: skip
def test_a_width_that_is_not_a_number_of_columns_is_explained(word, message, capsys):
    assert message in error_of(capsys, "draw", "m.keras", "--width", word)
