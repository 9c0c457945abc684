"""The full-screen front: keys, panes, and a transcript that is that of the plain front."""

import asyncio
import io
import os
import re
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from debugger_programs import fit_two_layers

from kerascope import backend as K
from kerascope.cli.commands import main
from kerascope.debugger.front import COMMANDS, ModelDebugger
from kerascope.debugger.session import Quitting, Session
from kerascope.debugger.shell import History
from kerascope.debugger.tables import TABLES
from kerascope.layers import Dense, Input, Lambda
from kerascope.models import Model

pytest.importorskip("textual")
from textual import events

from kerascope.debugger.tui.app import FOR_THE_PROMPT, PANES, DebuggerApp, Prompt, _overwritten
from kerascope.debugger.tui.bridge import Bridge
from kerascope.debugger.tui.screen import Program
from kerascope.debugger.tui.screen_debugger import ScreenDebugger

NARROW, WIDE = (80, 24), (120, 40)
PATIENCE = 600  # seconds; only a hang reaches them
CHARACTERS = {"space": " ", "colon": ":"}  # of keys that have a name
START = ("unt forward", "s", "s")


def failing_program():
    fit_two_layers()
    print("fitted")
    raise RuntimeError("after the fit")


class Seat:
    """A person at the screen, who types and looks.

    Textual's own pilot takes a process that needs little time for one that is done: on a busy
    machine it is one that waits for its turn. Here a key is done when no message is on its way.
    """

    def __init__(self, app):
        self.app, self.bridge = app, app.bridge
        self.pilot = None
        self.messages = 0

    def hear(self, message):
        """Count the messages inside the app, but for those with which we ask how far it is."""
        self.messages += not isinstance(message, events.Callback)

    async def quiet(self):
        """Return when the app has done all that it was told, and has drawn what follows."""
        before = None
        while self.messages != before:
            before = self.messages
            await self.pilot.pause(0)  # each part has done what waited for it; then the layout
            await self.pilot.pause(0)  # what the layout told the parts

    async def settle(self):
        """Return when all that was typed is done and shown, and the next line is waited for."""
        before = None
        while self.messages != before or self.bridge._is_notified:
            before = self.messages
            await self.quiet()
            while not (self.bridge.is_over or self.bridge.is_idle):
                await asyncio.sleep(0.001)
            self.bridge.wait_until_asking()  # the program has told the app so, too
            if self.bridge.is_over:
                return await self.quiet()

    async def send(self, *keys):
        """Press keys, each when the app has done the one before."""
        for key in keys:
            character = key if len(key) == 1 else CHARACTERS.get(key)
            self.app.post_message(events.Key(key, character))
            await self.quiet()

    async def press(self, *keys):
        await self.send(*keys)
        await self.settle()

    async def until(self, condition):
        """Return when something is so."""
        while not condition():
            await self.pilot.pause(0.001)

    async def type(self, *lines):
        """Submit lines, without each single key of them."""
        for line in lines:
            prompt = self.app.query_one(Prompt)
            prompt.fill(line)
            prompt.action_submit()
            await self.settle()

    async def resize(self, columns, rows):
        await self.pilot.resize_terminal(columns, rows)
        await self.settle()

    def pane(self, name):
        return self.app.query_one(f"#{name}").text.plain

    @property
    def transcript(self):
        return "".join(f"{line}\n" for line in self.app.query_one("#log").text)

    def last_answer(self):
        return self.transcript.rpartition("(Kdb) ")[2].split("\n", 1)[1]


def debug(program, debugger):
    """Debug a callable; the part of the command line."""
    K.clear_session()
    session = debugger.session = Session(debugger.ask)
    with suppress(Quitting):
        session.run(program)
    return 1 if session.has_failed else 0


def on_screen(what, program=fit_two_layers, size=NARROW):
    """Let a person do something on the screen; return the seat, and how the program ended."""

    async def run():
        debugger = ScreenDebugger(Bridge())
        debugger.history = History(None, Path(os.devnull))
        running = Program(partial(debug, program), debugger)
        app = DebuggerApp(debugger, running.start)
        seat = Seat(app)
        async with app.run_test(size=size, message_hook=seat.hear) as seat.pilot:
            try:
                async with asyncio.timeout(PATIENCE):
                    await seat.settle()
                    await what(seat)
            finally:
                if not seat.bridge.is_over:
                    seat.bridge.send("q")
                await asyncio.to_thread(running.thread.join, PATIENCE)
        assert not running.thread.is_alive()
        return seat, running

    return asyncio.run(run())


def plain_transcript(program, commands, width):
    """Return what the plain front prints for the same commands, as wide."""

    class Plain(ModelDebugger):
        width = property(lambda self: width)

    out = io.StringIO()
    debugger = Plain(io.StringIO("".join(f"{line}\n" for line in commands)), out)
    before, sys.stdout = sys.stdout, out
    try:
        debug(program, debugger)
    finally:
        sys.stdout = before
    return out.getvalue()


KEYS = ["s", "n", "r", "rs", "rn", "rr", "u", "d"]


# --- keys -----------------------------------------------------------------------------------------


def test_keys_of_the_full_screen_are_lines_that_are_known():
    actions = [binding.action for binding in DebuggerApp.BINDINGS]
    lines = [action[6:-2] for action in actions if action.startswith("line(")]
    begun = [words.strip() for words in FOR_THE_PROMPT.values()]
    assert len(lines) > 10
    assert all(COMMANDS.find(line) for line in [*lines, *begun] if line)


@pytest.mark.slow
def test_each_key_is_a_command_and_is_echoed():
    async def what(seat):
        await seat.press("s", "n", "r", "S", "N", "R", "u", "d")
        assert re.findall(r"^\(Kdb\) (.*)$", seat.transcript, re.M) == KEYS
        await seat.press("left_square_bracket", "right_square_bracket", "t", "T", "w")
        assert re.findall(r"^\(Kdb\) (.*)$", seat.transcript, re.M)[8:] == [
            "rs", "s", "unt", "ru", "w",
        ]  # fmt: skip

    on_screen(what)


@pytest.mark.parametrize("size", [NARROW, pytest.param(WIDE, marks=pytest.mark.slow)])
def test_the_transcript_is_that_of_the_plain_front(size):
    commands = [*START, "b b:bwd", "c", "info grads", "draw", "p 1/0", "rs", "w", "catch nan", "c",
                "info updates", "p tensor_map", "stpe", "", "c", "c", "c", "when"]  # fmt: skip

    async def what(seat):
        await seat.type(*commands)
        width = seat.app.query_one("#log").room().width
        plain = plain_transcript(failing_program, commands, width)
        assert "RuntimeError: after the fit" in plain
        assert "\nfitted\n" in plain
        assert seat.transcript + "(Kdb) \n" == plain

    on_screen(what, failing_program, size)


def test_backward_is_forward_undone():
    async def what(seat):
        await seat.type(*START)
        before = {name: seat.pane(name) for name in PANES}
        await seat.press("s", "S")
        assert {name: seat.pane(name) for name in PANES} == before

    on_screen(what)


@pytest.mark.slow
def test_keys_that_are_no_commands_begin_one():
    async def what(seat):
        await seat.press("i", "n", "f", "o", "space", "d", "e", "p", "enter")
        assert "(Kdb) info dep\n" in seat.transcript
        await seat.press("colon", "w", "h", "e", "n", "enter")  # letters are letters until enter
        assert seat.transcript.endswith("(Kdb) when\nbefore the first event\n")
        await seat.press("s", "enter")  # an empty line does the last command again
        assert re.findall(r"^\(Kdb\) (.*)$", seat.transcript, re.M)[-2:] == ["s", ""]
        assert "t=1" in str(seat.app.query_one("#time").render())
        await seat.press("b", "a", "escape", "w", "b", "a", "enter")
        assert seat.transcript.count("(Kdb) w\n") == 1
        assert "(Kdb) b a\n" in seat.transcript

    on_screen(what)


@pytest.mark.slow
def test_after_a_command_was_typed_the_keys_are_commands_again():
    async def what(seat):
        await seat.press("colon", *"p", "space", *"1", "enter", "5", "4")
        assert seat.app.chosen == "grads"
        assert seat.app.query_one(Prompt).value == ""
        await seat.press("colon", "colon", *"p", "space", *"2", "enter")  # one colon too many
        assert seat.transcript.endswith("(Kdb) p 2\n2\n")

    on_screen(what)


@pytest.mark.slow
def test_the_lines_of_an_answer_are_typed_one_after_the_other():
    async def what(seat):
        await seat.type("b phase:forward")
        await seat.press("colon", *"commands", "enter", *"silent", "enter", *"end", "enter", "z")
        assert "\n(com) silent\n(com) end\n" in seat.transcript
        assert seat.app.screen.has_class("zoomed")

    on_screen(what)


@pytest.mark.slow
def test_the_prompt_has_a_history():
    async def what(seat):
        await seat.type("p 1", "p 2", "p 2")
        prompt = seat.app.query_one(Prompt)
        await seat.press("colon", "up")
        assert prompt.value == "p 2"
        await seat.press("up", "up")
        assert prompt.value == "p 1"
        await seat.press("down", "down")
        assert prompt.value == ""
        await seat.press("up", "enter")
        assert seat.transcript.endswith("(Kdb) p 2\n2\n")

    on_screen(what)


@pytest.mark.slow
def test_tab_completes():
    async def what(seat):
        await seat.type(*START)
        prompt = seat.app.query_one(Prompt)
        hint = seat.app.query_one("#hint")
        before = seat.transcript
        await seat.press("colon", *"info", "space", *"te", "tab")
        assert prompt.value == "info tensors"
        prompt.fill("p tensor_m")
        await seat.press("tab")
        assert prompt.value == "p tensor_map"
        prompt.fill("info n")
        await seat.press("tab")
        assert not hint.display
        prompt.fill("b a")
        await seat.press("tab")
        assert "a  a_input" in str(hint.render())
        prompt.fill("b tensor:a/")
        await seat.press("tab")
        assert "a/dot" in prompt.value + str(hint.render())
        prompt.fill("p no_such_na")
        await seat.press("tab")
        assert prompt.value == "p no_such_na"
        assert seat.transcript == before

    on_screen(what)


# --- panes ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_panes_say_what_the_commands_say():
    async def what(seat):
        await seat.type(*START)
        assert "a_input  f32[2,2]" in seat.pane("tensors")
        assert seat.pane("grads") == "no gradient has arrived"
        assert "▶ a" in seat.pane("graph") or "● a " in seat.pane("graph")
        for pane in ("tensors", "grads", "weights"):
            await seat.type(f"info {pane}")
            said = [line[:40] for line in seat.last_answer().splitlines()]
            assert [line[:40] for line in seat.pane(pane).splitlines()] == said
        await seat.type("unt update")
        assert "a/kernel" in seat.pane("grads")
        assert "step.perform" in current_line(seat.pane("source"))
        await seat.type("unt commit", "s")
        assert "a/kernel" in seat.pane("updates")

    on_screen(what, size=WIDE)


def current_line(source):
    return next(line for line in source.splitlines() if "->" in line[:8])


@pytest.mark.slow
def test_the_source_is_that_of_list_and_follows_up_and_down():
    async def what(seat):
        await seat.type(*START, "l")
        listed = current_line(seat.last_answer())
        assert current_line(seat.pane("source")) == listed
        await seat.type("u", "u", "u", "u", "l")
        outside = current_line(seat.last_answer())
        assert current_line(seat.pane("source")) == outside != listed
        assert 'Dense(3, activation="relu"' in current_line(seat.pane("script"))

    on_screen(what)


def test_a_tensor_appears_when_its_layer_has_run_and_goes_when_that_is_undone():
    async def what(seat):
        await seat.type("unt forward", "tbreak b", "c")
        assert "\na  " in seat.pane("tensors")
        assert "▶ b" in seat.pane("graph")
        await seat.type("tbreak a")
        await seat.press("C")
        assert "\na  " not in seat.pane("tensors")
        assert "▶ a" in seat.pane("graph")

    on_screen(what)


def test_a_change_is_seen_in_the_graph():
    async def what(seat):
        await seat.type("unt forward", "tbreak a:ret", "c", "set out = np.zeros_like(out)")
        assert "◆" in seat.pane("graph")
        assert "timeline 2" in str(seat.app.query_one("#time").render())

    on_screen(what)


def shown_panes(seat):
    return {name for name in PANES if seat.app.query_one(f"#{name}").region.height}


@pytest.mark.slow
def test_where_there_is_room_all_panes_are_seen_else_the_chosen_one():
    async def what(seat):
        assert shown_panes(seat) == {"source"}
        await seat.press("3")
        assert shown_panes(seat) == {"tensors"}
        log, pane = seat.app.query_one("#log").region, seat.app.query_one("#tensors").region
        assert pane.bottom <= log.y
        await seat.resize(*WIDE)
        assert shown_panes(seat) == set(PANES) - {"script"}
        await seat.press("7")
        assert shown_panes(seat) == set(PANES) - {"source"}
        await seat.press("1", "z")
        assert shown_panes(seat) == {"source"}
        assert not seat.app.query_one("#log").region.height
        await seat.press("z")
        assert shown_panes(seat) == set(PANES) - {"script"}
        await seat.resize(*NARROW)
        assert shown_panes(seat) == {"source"}
        assert seat.app.query_one("#log").region.height >= 6

    on_screen(what)


def test_an_answer_that_is_long_gets_more_room_until_the_next_one():
    async def what(seat):
        before = seat.app.query_one("#log").region.height
        await seat.press("question_mark")
        assert seat.app.query_one("#log").region.height > before
        assert seat.app.query_one("#log").region.height > len(seat.last_answer().splitlines())
        await seat.press("s")
        assert seat.app.query_one("#log").region.height == before

    on_screen(what)


def fit_a_log():
    x = Input(shape=(3,), name="x")
    model = Model(x, Dense(1, name="last")(Lambda(K.log, name="logs")(x)))
    model.compile("sgd", "mse")
    rows = np.ones((16, 3))
    rows[13, 2] = -1
    model.fit(rows, rows[:, :1], batch_size=4, epochs=1, verbose=0, shuffle=False)


def test_the_end_of_an_answer_is_seen_also_when_a_scroll_bar_comes_with_it():
    async def what(seat):
        log = seat.app.query_one("#log")
        await seat.type("catch nan")
        assert log.max_scroll_y == 0
        await seat.press("c")  # what it prints is less than the room, and more than is left of it
        assert log.max_scroll_y > 0
        assert log.scroll_y == log.max_scroll_y

    on_screen(what, fit_a_log)


@pytest.mark.slow
def test_lines_fit_the_room_after_resizing():
    async def what(seat):
        await seat.type(*START, "unt backward")
        for size in (NARROW, WIDE, (60, 20)):
            await seat.resize(*size)
            for name in shown_panes(seat) - {"source", "script"}:
                pane = seat.app.query_one(f"#{name}")
                widest = max(map(len, pane.text.plain.splitlines()))
                assert widest <= pane.room().width
            assert seat.transcript.count("(Kdb) s\n") == 2

    on_screen(what)


def test_a_pane_that_cannot_be_drawn_says_so_and_the_program_lives(monkeypatch):
    def crash(debugger):
        raise RuntimeError("broken table")

    async def what(seat):
        monkeypatch.setitem(TABLES, "tensors", crash)
        await seat.press("s")
        assert seat.pane("tensors") == "*** RuntimeError: broken table"
        await seat.type("p 7")
        assert seat.last_answer() == "7\n"

    on_screen(what)


# --- the program ----------------------------------------------------------------------------------


def test_what_the_program_prints_is_in_the_transcript_and_what_it_asks_is_typed():
    answers = []

    def program():
        print("one", end="\rtwo\n")
        print("\x1b[31mred\x1b[0m", file=sys.stderr)
        answers.append(input("name? "))

    async def what(seat):
        await seat.press("c", "c")
        assert seat.transcript.endswith("(Kdb) c\ntwo\n\x1b[31mred\x1b[0m\n")
        assert str(seat.app.query_one("#asks").render()) == "name? "
        await seat.type("Ada")
        assert "\nname? Ada\n" in seat.transcript

    on_screen(what, program)
    assert answers == ["Ada"]


def test_what_was_overwritten_is_not_seen():
    assert _overwritten("12/99\b\b") == "12/99\b\b"
    assert _overwritten("1/2 \r2/2 \r") == "2/2 "


def test_an_error_of_the_program_is_looked_at_post_mortem():
    async def what(seat):
        await seat.type("c")
        assert "RuntimeError: after the fit" in seat.transcript
        assert "Post mortem" in seat.transcript
        await seat.press("S")
        assert "t=" in str(seat.app.query_one("#time").render())
        await seat.press("q")

    seat, running = on_screen(what, failing_program)
    assert (running.code, running.error) == (1, None)
    assert seat.app.return_code == 0


@pytest.mark.slow
def test_quitting_ends_the_program_and_asks_nothing():
    ended = []

    def program():
        try:
            fit_two_layers()
        finally:
            ended.append("finally")

    async def what(seat):
        await seat.type("unt forward")
        await seat.press("q")
        assert seat.bridge.is_over

    _, running = on_screen(what, program)
    assert (ended, running.code) == (["finally"], 0)


@pytest.mark.parametrize(
    "keys",
    [
        ("ctrl+q",),
        pytest.param(("colon", "ctrl+d"), marks=pytest.mark.slow),
        pytest.param(("colon", "q", "enter"), marks=pytest.mark.slow),
    ],
)
def test_other_ways_out(keys):
    async def what(seat):
        await seat.press(*keys)
        assert seat.bridge.is_over

    _, running = on_screen(what)
    assert running.code == 0


def test_ctrl_c_stops_a_running_program_at_its_next_event():
    running, pressed = threading.Event(), threading.Event()

    def program():
        running.set()
        assert pressed.wait(PATIENCE)
        fit_two_layers()

    async def what(seat):
        await seat.send("c", "c")
        await seat.until(running.is_set)
        await seat.until(lambda: "running" in str(seat.app.query_one("#asks").render()))
        await seat.send("ctrl+c")
        pressed.set()
        await seat.settle()
        assert "\ninterrupted\n" in seat.transcript
        assert str(seat.app.query_one("#time").render()).startswith("t=0 ")

    on_screen(what, program)


def test_letters_of_a_word_do_not_run_the_program_to_its_end():
    async def what(seat):
        await seat.press("c")
        assert "c again runs it to its end" in str(seat.app.query_one("#hint").render())
        assert "(Kdb) c\n" not in seat.transcript
        await seat.press("w", "c")
        assert "(Kdb) c\n" not in seat.transcript
        await seat.press("c")
        assert "the program has ended" in seat.transcript

    on_screen(what)


def test_one_key_goes_on_where_something_may_stop():
    async def what(seat):
        await seat.type("tbreak b")
        await seat.press("c")
        assert "breakpoint 1 hit: b" in seat.transcript

    on_screen(what)


def test_ctrl_c_at_the_prompt_drops_what_was_typed():
    async def what(seat):
        await seat.press("colon", "x", "y", "ctrl+c")
        assert seat.app.query_one(Prompt).value == ""
        assert seat.transcript.endswith("\n--KeyboardInterrupt--\n")

    on_screen(what)


def test_a_second_ctrl_c_ends_what_comes_to_no_event():
    def program():
        running.set()
        while True:
            threading.Event().wait(0.01)  # the screen's thread shall have its turns

    async def what(seat):
        await seat.send("c", "c")
        await seat.until(running.is_set)
        await seat.send("ctrl+c", "ctrl+c")
        await seat.settle()
        assert "KeyboardInterrupt" in seat.transcript
        assert "Post mortem" in seat.transcript

    running = threading.Event()
    _, ran = on_screen(what, program)
    assert ran.code == 1


def test_a_detached_program_runs_on_without_the_screen():
    async def what(seat):
        await seat.type("detach")
        assert seat.bridge.is_detached

    seat, running = on_screen(what)
    assert running.code == 0
    assert seat.bridge.leave_screen() == ""


@pytest.mark.slow
def test_python_prompts_are_typed_on_the_screen_too():
    async def what(seat):
        await seat.type("unt forward", "pdb", "p 6 * 7", "q", "interact", "1 + 1", "EOF", "p 5")
        assert "(Pdb) p 6 * 7\n42\n" in seat.transcript
        assert ">>> 1 + 1\n2\n" in seat.transcript
        assert seat.last_answer() == "5\n"

    on_screen(what)


# --- the command line -----------------------------------------------------------------------------


@pytest.mark.parametrize("words", [["debug", "--tui", "{script}"], ["replay", "--tui", "t.jsonl"]])
def test_without_textual_it_is_said_what_to_install(words, tmp_path, monkeypatch, capsys):
    script = tmp_path / "script.py"
    script.write_text("print('never')\n")
    monkeypatch.setattr("kerascope.cli.debugging.find_spec", lambda name: None)
    assert main([word.format(script=script) for word in words]) == 2
    told = capsys.readouterr()
    assert "pip install 'kerascope[tui]'" in told.err
    assert told.out == ""


def test_without_a_terminal_it_is_refused(tmp_path, capsys):
    script = tmp_path / "script.py"
    script.write_text("print('never')\n")
    assert main(["debug", "--tui", str(script)]) == 2
    assert "--tui needs a terminal" in capsys.readouterr().err


@pytest.mark.process
def test_textual_is_not_imported_without_the_option(tmp_path):
    script = tmp_path / "script.py"
    script.write_text("import sys; print([name for name in sys.modules if 'textual' in name])\n")
    words = [sys.executable, "-m", "kerascope", "debug", "-c", "c", str(script)]
    done = subprocess.run(words, input="q\n", capture_output=True, text=True, check=True)
    assert "\n[]\n" in done.stdout


@pytest.mark.parametrize(
    ("text", "keys", "code"),
    [
        pytest.param(
            "1 / 0", [("transcript", "cc"), ("mortem", "q")], 1, marks=pytest.mark.process
        ),
        pytest.param(
            *("import sys; print('after'); sys.exit(7)", [("transcript", ":detach\r")], 7),
            marks=pytest.mark.slow,
        ),
        ("while True: pass", [("transcript", "cc"), ("running", "\x11")], 0),
        pytest.param("print(1)", [("transcript", "cc"), ("ended", "q")], 0, marks=pytest.mark.slow),
    ],
)
def test_in_a_terminal_which_is_as_before_afterwards(text, keys, code, tmp_path):
    pytest.importorskip("pty")
    from terminals import Terminal

    script = tmp_path / "script.py"
    script.write_text(text + "\n")
    with Terminal("debug", "--tui", str(script), home=tmp_path) as terminal:
        for awaited, sent in keys:
            terminal.see(awaited)
            terminal.send(sent)
        assert terminal.wait() == code
        assert terminal.settings() == terminal.before
        left = terminal.seen.rpartition("\x1b[?1049l")
    assert left[1]
    if "after" in text:
        assert "after" in left[2]
    if code == 1:
        assert re.search(r'  File ".*script.py", line 1.*\n.*1 / 0(.*\n)+ZeroDivision', left[2])


def test_a_program_that_wants_signals_is_told_to_leave_the_screen():
    plain = signal.signal

    def asks_for_signals():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

    async def what(seat):
        await seat.type("c")
        assert "signal.signal(SIGTERM): the full screen runs the program" in seat.transcript
        assert "Debug it without --tui." in " ".join(seat.transcript.split())
        before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)  # the screen's own thread may
        signal.signal(signal.SIGUSR1, before)

    _, running = on_screen(what, asks_for_signals)
    assert running.code == 1
    assert signal.signal is plain
