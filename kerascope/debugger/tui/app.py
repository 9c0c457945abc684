"""The app of the full-screen debugger: its layout, its keys, and the program's messages.

The style and the widgets (a pane with a title, the transcript, the prompt) come first.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import App
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, ScrollableContainer
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Footer, Input, RichLog, Static

from kerascope.debugger.commands import END_OF_INPUT
from kerascope.debugger.shell import PROMPT, History
from kerascope.debugger.tui.bridge import (
    CompletionRequest,
    Completions,
    Interrupt,
    News,
    Refresh,
    Size,
)
from kerascope.debugger.tui.screen_debugger import ScreenDebugger, thread_interrupted

# --- style: colours are the terminal's own, readable on dark and light ----------------------------
# If there is space, all panes are shown: source and transcript left, graph and tables right.
# Otherwise the chosen pane is above and the transcript below; it grows for a long answer.


STYLE = """
Screen { layout: vertical; background: ansi_default; color: ansi_default; }
#top { height: 1; background: ansi_blue; color: ansi_bright_white; }
#place { width: 1fr; text-wrap: nowrap; text-overflow: ellipsis; padding: 0 1; }
#time { width: auto; padding: 0 1; }
#tabs { height: 1; padding: 0 1; text-wrap: nowrap; }
#body { height: 1fr; layout: vertical; }
Pane, Transcript {
    border: round ansi_bright_black; border-title-color: ansi_default;
    padding: 0 0 0 1; background: ansi_default; color: ansi_default;
    scrollbar-size: 0 1; scrollbar-gutter: stable;
    scrollbar-color: ansi_bright_black; scrollbar-background: ansi_default;
    scrollbar-color-hover: ansi_blue; scrollbar-background-hover: ansi_default;
    scrollbar-color-active: ansi_blue; scrollbar-background-active: ansi_default;
    scrollbar-corner-color: ansi_default;
}
Pane:focus, Transcript:focus { border: round ansi_blue; border-title-style: bold; }
Pane { display: none; height: 1fr; }
Pane.chosen { display: block; }
Pane > Static { width: auto; height: auto; }
Transcript { height: 1fr; overflow-x: hidden; scrollbar-size: 0 1; }
#hint { height: auto; max-height: 4; display: none; padding: 0 1; color: ansi_blue; }
#bottom { height: 1; padding: 0 1; }
#asks { width: auto; text-style: bold; color: ansi_blue; }
Prompt { width: 1fr; background: ansi_default; color: ansi_default; }
Prompt > .input--placeholder { color: ansi_bright_black; }
Footer { background: ansi_default; color: ansi_default; }
Footer FooterKey { background: ansi_default; color: ansi_default; }
Footer FooterKey .footer-key--key { background: ansi_default; color: ansi_blue; text-style: bold; }
Footer FooterKey .footer-key--description { background: ansi_default; color: ansi_default; }

.narrow Pane, .narrow Pane:focus { border: none; }
.narrow Transcript { dock: bottom; height: 50%; }
.narrow Transcript { border: none; border-top: solid ansi_bright_black; }
.narrow Transcript:focus { border: none; border-top: solid ansi_blue; }
.narrow.answered Transcript { height: 85%; }
.wide #tabs { display: none; }
.wide #body { layout: grid; grid-size: 2 5; grid-rows: 14fr 6fr 6fr 6fr 5fr; }
.wide Pane { display: block; }
.wide #script { display: none; }
.wide #script.chosen { display: block; }
.wide #source.replaced { display: none; }
.wide Transcript { row-span: 4; }
.zoomed Pane, .zoomed Transcript { display: none; }
.zoomed #body { layout: vertical; }
.zoomed .zoom, .zoomed Transcript.zoom { display: block; height: 1fr; dock: none; }
"""

ASCII_STYLE = """
Pane, Transcript, Pane:focus, Transcript:focus {
    border: ascii ansi_default; scrollbar-size: 0 0; scrollbar-gutter: auto;
}
.narrow Transcript, .narrow Transcript:focus { border: none; border-top: ascii ansi_default; }
"""


# --- the parts of the screen ----------------------------------------------------------------------


MOST_LINES = 10_000  # of the transcript


class RoomChanged(Message):
    """The message to the app that the size of a pane has changed."""


class Pane(ScrollableContainer, can_focus=True):
    """A box with a title and a text that can be scrolled.

    Parameters
    ----------
    name : str
        The id of the widget.
    title : str
    """

    def __init__(self, name: str, title: str) -> None:
        super().__init__(id=name)
        self.border_title = title
        self._content = Static("", markup=False)
        self.text = Text("")

    def compose(self):  # type: ignore[no-untyped-def]
        """Yield the widget that shows the text of the pane."""
        yield self._content

    def show(self, text: Text, row: int | None = None) -> None:
        """Show a text, and scroll to the row with index `row`, unless it is None."""
        if text.plain != self.text.plain or text.spans != self.text.spans:
            self.text = text
            self._content.update(text)
        if row is not None:
            self.scroll_to(y=max(row - self.room().height // 2, 0), animate=False)

    def room(self) -> Size:
        """Return the columns and rows available for text, without borders and scroll bars."""
        region = self.scrollable_content_region
        return Size(region.width, region.height)

    def on_resize(self, event: events.Resize) -> None:
        """Notify the app that the size has changed."""
        self.post_message(RoomChanged())


class Transcript(RichLog, can_focus=True):
    """All typed and printed lines, as the plain prompt prints them.

    Attributes
    ----------
    text : list of str
        The complete lines.
    unfinished : str
        The part of the next line that has been printed so far.
    """

    def __init__(self) -> None:
        super().__init__(id="log", wrap=True, min_width=1, max_lines=MOST_LINES)
        self.border_title = "transcript"
        self.text: list[str] = []
        self.unfinished = ""
        self._width = 0

    def add(self, text: str) -> None:
        """Add printed text; a carriage return overwrites its line."""
        *finished, rest = (self.unfinished + text).split("\n")
        for line in finished:
            self.text.append(_overwritten(line))
            self.write(_styled(self.text[-1]))
        self.unfinished = _overwritten(rest)
        del self.text[:-MOST_LINES]

    @property
    def answer(self) -> int:
        """The number of lines that were printed after the last command."""
        lines = enumerate(reversed(self.text))
        return next((n for n, line in lines if line.startswith(PROMPT)), 0)

    def room(self) -> Size:
        """Return the columns and rows available for text, without borders and scroll bars."""
        region = self.scrollable_content_region
        return Size(region.width, region.height)

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines to the new width."""
        super().on_resize(event)
        if self.room().width != self._width:
            self._width = self.room().width
            self.clear()
            for line in self.text:
                self.write(_styled(line))
        # If a scroll bar appears, the lines have their final width only after the refresh.
        self.call_after_refresh(self.scroll_end, animate=False)
        self.post_message(RoomChanged())


def _overwritten(line: str) -> str:
    r"""Return the visible part of a line with carriage returns and backspaces.

    Examples
    --------
    >>> _overwritten("1/9\r2/9"), _overwritten("9/9 done\r")
    ('2/9', '9/9 done')
    """
    parts = [part.lstrip("\b") for part in line.split("\r") if part.strip("\b")]
    return parts[-1] if parts else ""


def _styled(line: str) -> Text:
    text = Text.from_ansi(line) if "\x1b" in line else Text(line)
    if line.startswith((PROMPT, "(Pdb) ")):
        text.stylize("bold cyan")
    elif line.startswith("***"):
        text.stylize("bold red")
    elif line.startswith(("> ", "-> ")):
        text.stylize("bold")
    return text


def _common_beginning(words: list[str]) -> str:
    """Return the longest common prefix of the words.

    Examples
    --------
    >>> _common_beginning(["dense_1", "dense_2"])
    'dense_'
    """
    first, last = min(words), max(words)  # all words between these two share their start
    alike = (number for number, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(alike, len(first))]


class Prompt(Input):
    """The input line for commands; up and down move in the history, tab completes.

    Parameters
    ----------
    complete : callable
        Requests the completions of a line.
    kept : History
        The lines typed in this session and before.
    """

    BINDINGS = [  # noqa: RUF012
        Binding("up", "older", "older", key_display="up"),
        Binding("down", "newer", "newer", key_display="down"),
        Binding("tab", "complete", "complete", priority=True),
        Binding("escape", "leave", "single keys"),
        Binding("ctrl+d", "end_of_input", "end"),
    ]

    class Line(Message):
        """The message that a line was typed at the prompt."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    def __init__(self, complete: Callable[[str], None], kept: History) -> None:
        super().__init__(
            id="prompt", placeholder=": types a command", compact=True, select_on_focus=False
        )
        self._complete = complete
        self._kept = kept
        self._kept.note("")  # reads the file
        self._place = len(self.history)  # in the history; its length means the new line

    @property
    def history(self) -> list[str]:
        """The lines typed in this session and before, the oldest first."""
        return self._kept.lines or []

    def action_submit(self) -> None:  # type: ignore[override]
        """Send the line; an empty one repeats the last command."""
        line, self.value = self.value, ""
        self._kept.note(line)
        self._place = len(self.history)
        self.post_message(self.Line(line))

    def action_older(self) -> None:
        """Show the previous line of the history; stay at the oldest one."""
        self._go(max(self._place - 1, 0))

    def action_newer(self) -> None:
        """Show the next line of the history; after the last one, an empty line."""
        self._go(min(self._place + 1, len(self.history)))

    def _go(self, place: int) -> None:
        self._place = place
        self.fill(self.history[place] if place < len(self.history) else "")

    def fill(self, line: str) -> None:
        """Replace the line in the prompt, and move the cursor to its end."""
        self.value = line
        self.cursor_position = len(line)

    def action_complete(self) -> None:
        """Request the completions of the line in the prompt."""
        self._complete(self.value[: self.cursor_position])

    def take(self, completed: Completions) -> str:
        """Insert the common prefix of the completions into the line. Return them as a text.

        Return "" if there is at most one completion, or if the line has changed meanwhile.
        """
        if self.value[: self.cursor_position] != completed.line or not completed.words:
            return ""
        common = _common_beginning(completed.words)
        rest = self.value[self.cursor_position :]
        line = completed.line[: completed.start] + common
        self.value = line + rest
        self.cursor_position = len(line)
        return "" if len(completed.words) == 1 else "  ".join(completed.words)

    def action_leave(self) -> None:
        """Leave the prompt, so that single keys are commands again."""
        self.screen.set_focus(None)

    def action_end_of_input(self) -> None:
        """Send the end of input from an empty line; otherwise delete a character, as in a shell."""
        if self.value:
            self.action_delete_right()
        else:
            self.post_message(self.Line(END_OF_INPUT))


# --- the app --------------------------------------------------------------------------------------


LEAST_COLUMNS, LEAST_ROWS = 110, 32  # for all panes side by side
PANES = {
    "source": "source",
    "graph": "graph",
    "tensors": "tensor_map",
    "grads": "gradients",
    "updates": "updates",
    "weights": "weights",
    "script": "script",
}


TO_THE_END = "nothing stops the program: c again runs it to its end, b sets a breakpoint"
BACK = "SNRCT"
COMMANDS = {"S": "rs", "N": "rn", "R": "rr", "C": "rc", "t": "unt", "T": "ru"}
FOR_THE_PROMPT = {"b": "b ", "p": "p ", "colon": ""}  # the start of the line
SINGLE_KEYS = ("line", "type", "pane", "zoom", "quit")  # actions; at the prompt letters


def _keys() -> Iterator[BindingType]:
    """Yield the key bindings. A letter that is a command of pdb runs this command.

    The keys s, n, r and c run their commands backward with Shift, and t with Shift runs `until`
    backward. The keys b and p open the prompt with their command, which needs arguments. Most other
    letters open the prompt, and become the first letter of the typed command.
    """
    for key, words in {"s": "step", "n": "next", "r": "return", "c": "cont", "t": "until"}.items():
        yield _key(key, f"line('{COMMANDS.get(key, key)}')", words)
    for key in BACK:
        yield _key(key, f"line('{COMMANDS[key]}')", "back" if key == "S" else "", BACK)
    yield _key("left_square_bracket", "line('rs')")
    yield _key("right_square_bracket", "line('s')")
    for key in "udwla":
        yield _key(key, f"line('{key}')")
    yield _key("question_mark", "line('help')", "help", "?")
    yield _key("h", "line('help')")
    yield _key("enter", "line('')")
    for key, beginning in FOR_THE_PROMPT.items():
        yield _key(key, f"type('{beginning}')", "type" if key == "colon" else "", ":")
    yield _key("q", "quit", "quit")
    yield _key("z", "zoom", "zoom")
    for number, name in enumerate(PANES, 1):
        yield _key(str(number), f"pane('{name}')", "pane" if number == 1 else "", "1-7")
    yield _key("0", "pane('log')")
    for key in "efgijkmovxyABDEFGHIJKLMOPQUVWXYZ_":
        yield _key("underscore" if key == "_" else key, f"type('{key}')")
    yield _key("exclamation_mark", "type('!')")
    yield _key("ctrl+q", "leave")
    yield _key("ctrl+c", "interrupt")


def _key(key: str, action: str, words: str = "", shown: str | None = None) -> Binding:
    """Return the binding of a key. The footer shows the key if `words` is not empty.

    All bindings have priority. So when several keys arrive together, as in a paste, each key is
    processed before the next one. If a key opens the prompt, the next keys go to the prompt.
    """
    return Binding(key, action, words, show=bool(words), key_display=shown, priority=True)


class DebuggerApp(App[None]):
    """The full-screen interface of a debugger that runs in another thread.

    Parameters
    ----------
    debugger : ScreenDebugger
    start : callable
        Starts the debugged program in a thread, and returns the thread.

    Attributes
    ----------
    bridge : Bridge
    """

    CSS = STYLE
    BINDINGS = list(_keys())  # noqa: RUF012
    ENABLE_COMMAND_PALETTE = False
    TITLE = "kerascope debug"

    class Notified(Message):
        """The message that the bridge has new text, views or completions from the program."""

    def __init__(self, debugger: ScreenDebugger, start: Callable[[], threading.Thread]) -> None:
        if debugger.ascii_only:
            self.CSS = STYLE + ASCII_STYLE  # type: ignore[misc]
        super().__init__(ansi_color=True)
        self.debugger = debugger
        self.bridge = debugger.bridge
        self.chosen = "source"  # the pane that is shown if only one fits
        self._start = start
        self._thread: threading.Thread | None = None
        self._loop_of_app: asyncio.AbstractEventLoop | None = None
        self._choices = ""  # the list of completions ...
        self._chosen_from = ""  # ... and the line that they belong to

    # --- layout -----------------------------------------------------------------------------------

    def compose(self) -> Iterator[Widget]:
        """Yield the widgets of the screen, in the order in which they are laid out."""
        with Horizontal(id="top"):
            yield Static("", id="place", markup=False)
            yield Static("", id="time", markup=False)
        yield Static("", id="tabs", markup=False)
        with Container(id="body"):
            names = list(PANES)
            for name in ("source", "script", "graph"):
                yield Pane(name, f"{names.index(name) + 1} {PANES[name]}")
            yield Transcript()
            for name in names[2:-1]:
                yield Pane(name, f"{names.index(name) + 1} {PANES[name]}")
        yield Static("", id="hint", markup=False)
        with Horizontal(id="bottom"):
            yield Static(PROMPT, id="asks", markup=False)
            yield Prompt(self._complete, self.debugger.history)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Lay out the panes, and start the program's thread when the screen is ready."""
        self._lay_out()
        self._loop_of_app = asyncio.get_running_loop()
        self.bridge.notify = lambda: self.post_message(self.Notified())
        self._thread = self._start()

    def soon(self, do: Callable[[], object]) -> None:
        """Call a function in the app's event loop, and wake the loop; for signal handlers."""
        if self._loop_of_app is not None:
            self._loop_of_app.call_soon_threadsafe(do)

    def on_resize(self, event: events.Resize) -> None:
        """Show all panes if the screen is large enough, otherwise one pane."""
        is_wide = event.size.width >= LEAST_COLUMNS and event.size.height >= LEAST_ROWS
        self.screen.set_class(is_wide, "wide")
        self.screen.set_class(not is_wide, "narrow")

    def _lay_out(self) -> None:
        for name in PANES:
            self.query_one(f"#{name}").set_class(name == self.chosen, "chosen")
        self.query_one("#source").set_class(self.chosen == "script", "replaced")
        self.query_one("#tabs", Static).update(tabs_text(self.chosen))

    def on_room_changed(self) -> None:
        """Request new content for the panes if the size of a pane or of the transcript changed."""
        sizes = {pane.id or "": pane.room() for pane in self.query(Pane)}
        sizes["log"] = self.query_one(Transcript).room()
        seen = {name: size for name, size in sizes.items() if size.width and size.height}
        changed = {**self.bridge.sizes, **seen}
        if changed != self.bridge.sizes:
            self.bridge.sizes = changed
            self.bridge.send(Refresh())

    # --- news from the program --------------------------------------------------------------------

    def on_debugger_app_notified(self) -> None:
        """Show the text, views and completions that have come from the program."""
        self.take_news()

    def take_news(self) -> None:
        """Show the printed text, the panes and the prompt that the bridge has received."""
        news = self.bridge.take()
        transcript = self.query_one(Transcript)
        transcript.add(news.text)
        half = self.query_one("#body").size.height // 2
        self.screen.set_class(transcript.answer >= half, "answered")  # needs more rows
        if news.view is not None:
            for name, text in news.view.panes.items():
                row = news.view.graph_row if name == "graph" else None
                self.query_one(f"#{name}", Pane).show(text, row)
            self.query_one("#place", Static).update(news.view.place)
            self.query_one("#time", Static).update(news.view.time)
        self._show_asking(news, transcript.unfinished)
        if news.is_over:
            self.exit()

    def _show_asking(self, news: News, unfinished: str) -> None:
        asks, hint = self.query_one("#asks", Static), self.query_one("#hint", Static)
        is_running = news.asking is None
        asks.update("running; Ctrl-C stops it " if is_running else news.asking or unfinished)
        if news.completed is not None:
            prompt = self.query_one(Prompt)
            self._choices = prompt.take(news.completed)
            self._chosen_from = prompt.value
        if news.asking not in (None, PROMPT):  # a question, not the command prompt
            self.query_one(Prompt).focus()
        text = self._choices or (unfinished if is_running else "")
        hint.update(text)
        hint.display = bool(text)

    # --- keys -------------------------------------------------------------------------------------

    def _complete(self, line: str) -> None:
        self.bridge.send(CompletionRequest(line))

    def action_line(self, line: str) -> None:
        """Send a command, as if it had been typed.

        If nothing would stop the program, the key c must be pressed twice, because it may have been
        meant as a letter of a word typed without a colon.
        """
        if line == "c" and self._choices != TO_THE_END and self._runs_to_the_end():
            self._choices = TO_THE_END
            self._chosen_from = self.query_one(Prompt).value
            hint = self.query_one("#hint", Static)
            hint.update(TO_THE_END)
            hint.display = True
            return
        self._choices = "" if self._choices == TO_THE_END else self._choices
        self.bridge.send(line)

    def _runs_to_the_end(self) -> bool:
        """Return whether a program runs, and no breakpoint, watch or condition can stop it."""
        session = self.debugger.session
        stepper = session.stepper
        asked = (stepper.breakpoints, stepper.watches, stepper.catches)
        is_running = session.recorder is not None and not session.is_over
        return is_running and self.bridge.asking == PROMPT and not any(len(x) for x in asked)

    def on_input_changed(self, message: Prompt.Changed) -> None:
        """Hide the list of completions when the line has changed."""
        if self._choices and message.value != self._chosen_from:
            self._choices = ""
            self.query_one("#hint").display = False

    def on_prompt_line(self, message: Prompt.Line) -> None:
        """Send a typed line, and leave the prompt, so that keys are commands again."""
        is_command = self.bridge.asking == PROMPT
        self.bridge.send(message.line.lstrip(" :") if is_command else message.line)
        self.screen.set_focus(None)

    def action_type(self, beginning: str) -> None:
        """Focus the prompt, with the start of a command in it."""
        prompt = self.query_one(Prompt)
        self.screen.set_focus(prompt)
        prompt.fill(beginning)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Disable single-key actions while a command is typed."""
        return action not in SINGLE_KEYS or not isinstance(self.focused, Prompt)

    def action_pane(self, name: str) -> None:
        """Choose a pane: it is shown, and the arrow keys scroll it."""
        self.screen.remove_class("zoomed")
        if name in PANES:
            self.chosen = name
            self._lay_out()
        self.query_one(f"#{name}").focus()

    def action_zoom(self) -> None:
        """Show one pane on the whole screen, or return to the layout."""
        if self.screen.has_class("zoomed"):
            self.screen.remove_class("zoomed")
            return
        chosen = self.focused if isinstance(self.focused, Pane | Transcript) else None
        for widget in self.query(".zoom"):
            widget.remove_class("zoom")
        (chosen or self.query_one(f"#{self.chosen}")).add_class("zoom")
        self.screen.add_class("zoomed")

    def action_interrupt(self) -> None:
        """Stop the program at its next event; at the prompt, clear the line."""
        if self.bridge.asking is not None:
            self.query_one(Prompt).fill("")
            self.bridge.send(Interrupt())
            return
        try:
            self.debugger.interrupt()
        except KeyboardInterrupt:  # a second interrupt, or a command that takes long
            if self._thread is not None:
                thread_interrupted(self._thread)

    async def action_quit(self) -> None:
        """Quit, as `q` does; a running program is stopped at its next event first."""
        if self.bridge.asking is None:
            self.action_interrupt()
        self.bridge.send("q")

    async def action_leave(self) -> None:
        """Quit, even if the program reaches no further event."""
        if self.bridge.is_idle:
            self.bridge.send("q")
        else:  # it runs, or will after reading the typed lines
            self.exit()


def tabs_text(chosen: str) -> Text:
    """Return the line of pane names, with the chosen one marked."""
    line = Text(no_wrap=True)
    for number, (name, title) in enumerate(PANES.items(), 1):
        style = Style(bold=True, reverse=name == chosen, meta={"@click": f"app.pane('{name}')"})
        line.append(f" {number} {title} ", style)
    return line
