"""The registry of commands: names, groups, completion, what may stand behind, what moves."""

import inspect
import io
import types

import pytest
from debugger_programs import fit_two_layers
from debugger_transcripts import answer, transcript

from kerascope.debugger.commands import GROUPS, Registry, command, registered
from kerascope.debugger.front import COMMANDS, ModelDebugger
from kerascope.debugger.session import Session
from kerascope.debugger.shell import Shell
from kerascope.debugger.tables import TABLES
from kerascope.errors import ArgumentError
from kerascope.trace.tape_store import Tape

MODULE = "a_module"


def module_of(*functions):
    """Return a module in which functions are written."""
    made = types.ModuleType(MODULE)
    for function in functions:
        function.__module__ = MODULE
        setattr(made, function.__name__, function)
    return made


@command("hello", "hi", group="session", takes_words=False, completes=("world", "moon"))
def hello(debugger, words):
    """Say hello.

    Usage: hello
    Example: hello
    """
    debugger.say("hello")


@command("leave", group="forward", moves=True)
def leave(debugger, words):
    """Leave."""
    return True


@pytest.fixture
def shell():
    out = io.StringIO()
    made = Shell(Registry(module_of(hello, leave)), io.StringIO(), out)
    made.session = Session(made.ask, tape=Tape())
    made.written = out.getvalue
    return made


def test_a_command_is_a_function_that_is_called_by_any_of_its_names(shell):
    assert not shell.onecmd("hello")
    assert not shell.onecmd("hi")
    assert shell.onecmd("leave now")
    assert shell.written() == "hello\nhello\n"


def test_behind_a_command_that_takes_no_words_there_are_none(shell):
    shell.onecmd("hi you")
    assert shell.written() == "*** hi: expected no arguments, got 'you'.\n"


def test_commands_are_listed_by_groups_in_the_order_of_the_groups(shell):
    assert shell.commands.listed() == {"forward": ["leave"], "session": ["hello"]}
    assert list(COMMANDS.listed()) == list(GROUPS)


def test_a_name_that_is_taken_is_refused():
    @command("hi", group="session")
    def other(debugger, words):
        """Do something else."""

    with pytest.raises(ArgumentError, match="command hi: 'hi' already names hello"):
        Registry(module_of(hello, other))


def test_a_group_that_is_unknown_is_refused_with_a_guess():
    with pytest.raises(ArgumentError, match=r"unknown group 'sesion'\. Did you mean 'session'"):
        command("x", group="sesion")


def test_a_function_without_the_decorator_is_no_command():
    with pytest.raises(ArgumentError, match="is not a command"):
        registered(len)


def test_a_command_that_is_imported_is_not_registered_twice(shell):
    borrowing = types.ModuleType("another_module")
    borrowing.hello = hello
    assert not list(Registry(borrowing))


def test_every_usage_begins_with_a_name_of_its_command():
    for one in COMMANDS:
        usage = inspect.getdoc(one.function).split("Usage: ")[1].split()[0]
        written = usage.replace("[", "").replace("]", "").rstrip(",")
        assert written.lstrip("!") in one.names, one.names


def test_a_usage_shows_words_where_words_may_stand():
    for one in COMMANDS:
        usage = inspect.getdoc(one.function).split("Usage: ")[1].split("\n")[0].replace(", ", ",")
        has_words = " " in usage or one.shown == "!"
        assert one.takes_words == has_words or one.names[0] == "quit", one.names


@pytest.mark.parametrize(
    "name", [name for one in COMMANDS if not one.takes_words for name in one.names]
)
def test_words_that_mean_nothing_are_not_overlooked(name):
    out = io.StringIO()
    debugger = ModelDebugger(io.StringIO(), out)
    debugger.session = Session(debugger.ask, tape=Tape())
    debugger.onecmd(f"{name} lr")
    assert out.getvalue() == f"*** {name}: expected no arguments, got 'lr'.\n"


def test_the_usage_of_info_names_all_tables_and_each_answers():
    usage = COMMANDS.find("info").help.split("Usage: ")[1].split("Example")[0]
    assert usage.replace("|", "").split() == ["info", *TABLES, "[LAYER]", "[N]"]
    answers = transcript(fit_two_layers, "unt backward", *(f"info {name}" for name in TABLES))[0]
    assert answers.count("***") == 1  # there is no loop, so it has no steps


# --- completion -----------------------------------------------------------------------------------


def completed(shell, line):
    start = len(line) - len(line.split(" ")[-1])
    return shell.completions(line[start:], line, start, len(line))


def test_the_first_word_is_completed_to_commands_and_the_others_as_the_command_says(shell):
    assert completed(shell, "he")[0] == "hello"
    assert completed(shell, "hello ") == ["world", "moon"]
    assert completed(shell, "hi m") == ["moon"]


def test_help_completes_commands_by_all_their_names():
    debugger = ModelDebugger(io.StringIO(), io.StringIO())
    debugger.session = Session(debugger.ask, tape=Tape())
    assert completed(debugger, "help tb") == completed(debugger, "h tb") == ["tbreak"]
    assert "all" in completed(debugger, "help a")


# --- what moves -----------------------------------------------------------------------------------


def test_what_is_done_at_a_breakpoint_ends_with_any_command_that_moves():
    moving = [name for name in COMMANDS.names if COMMANDS.moves(name)]
    assert {"s", "cont", "rc", "goto", "run", "detach", "exit"} < {*moving}
    assert not COMMANDS.moves("p")
    lines = ["b b:bwd", "commands", "p 6 * 7", "rs", "p 1 + 1"]
    text, session, _ = transcript(fit_two_layers, *lines)
    assert answer(text, "p 1 + 1") == ["2"]
    assert next(iter(session.stepper.breakpoints)).commands == ["p 6 * 7", "rs"]


# --- lines ----------------------------------------------------------------------------------------


def test_an_empty_line_does_python_again_that_begins_with_a_sign():
    text, _, _ = transcript(fit_two_layers, "(40 + 2)", "", "q")
    assert text.count("\n42\n") == 2
