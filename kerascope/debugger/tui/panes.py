"""The parts of the screen: a pane with its title, the transcript, the prompt."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual import events
from textual.binding import Binding
from textual.containers import ScrollableContainer
from textual.message import Message
from textual.widgets import Input, RichLog, Static

from kerascope.debugger.history import History
from kerascope.debugger.shell import PROMPT
from kerascope.debugger.tui.bridge import END_OF_INPUT, Completed
from kerascope.debugger.tui.views import Size

MOST_LINES = 10_000  # of the transcript


class Pane(ScrollableContainer, can_focus=True):
    """A box with a title, in which a text is shown.

    Parameters
    ----------
    name : str
        Its id.
    title : str
    """

    class Resized(Message):
        """The room for the text is another."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__(id=name)
        self.border_title = title
        self._content = Static("", markup=False)
        self.text = Text("")

    def compose(self):  # type: ignore[no-untyped-def]
        """Yield what holds the text."""
        yield self._content

    def show(self, text: Text, row: int | None = None) -> None:
        """Show a text; scroll so that a row of it is in the middle."""
        if text.plain != self.text.plain or text.spans != self.text.spans:
            self.text = text
            self._content.update(text)
        if row is not None:
            self.scroll_to(y=max(row - self.room().height // 2, 0), animate=False)

    def room(self) -> Size:
        """Return how many columns and rows a text has."""
        region = self.scrollable_content_region
        return Size(region.width, region.height)

    def on_resize(self, event: events.Resize) -> None:
        """Tell the app."""
        self.post_message(self.Resized())


class Transcript(RichLog, can_focus=True):
    """All that was typed and printed, line by line, as the plain front prints it.

    Attributes
    ----------
    text : list of str
        The lines that are complete.
    unfinished : str
        What was printed of the next one.
    """

    class Resized(Message):
        """The room for the text is another."""

    def __init__(self) -> None:
        super().__init__(id="log", wrap=True, min_width=1, max_lines=MOST_LINES)
        self.border_title = "transcript"
        self.text: list[str] = []
        self.unfinished = ""
        self._width = 0

    def add(self, text: str) -> None:
        """Add what was printed; a carriage return begins its line anew."""
        *finished, rest = (self.unfinished + text).split("\n")
        for line in finished:
            self.text.append(_overwritten(line))
            self.write(_styled(self.text[-1]))
        self.unfinished = _overwritten(rest)
        del self.text[:-MOST_LINES]

    def room(self) -> Size:
        """Return how many columns and rows a text has."""
        region = self.scrollable_content_region
        return Size(region.width, region.height)

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the lines anew."""
        super().on_resize(event)
        if self.room().width != self._width:
            self._width = self.room().width
            self.clear()
            for line in self.text:
                self.write(_styled(line))
        self.post_message(self.Resized())


def _overwritten(line: str) -> str:
    r"""Return what is seen of a line after its carriage returns and backspaces.

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
    """Return what all words begin with.

    Examples
    --------
    >>> _common_beginning(["dense_1", "dense_2"])
    'dense_'
    """
    first, last = min(words), max(words)  # those between begin with what these two begin with
    alike = (number for number, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    return first[: next(alike, len(first))]


class Prompt(Input):
    """The line where commands are typed; up and down are its history, tab completes.

    Parameters
    ----------
    complete : callable
        Asks for what could stand at the end of a line.
    kept : History
        The lines that were typed, in this session and before.
    """

    BINDINGS = [  # noqa: RUF012
        Binding("up", "older", "older", key_display="up"),
        Binding("down", "newer", "newer", key_display="down"),
        Binding("tab", "complete", "complete", priority=True),
        Binding("escape", "leave", "single keys"),
        Binding("ctrl+d", "end_of_input", "end"),
    ]

    class Line(Message):
        """A line was typed."""

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
        self._place = len(self.history)  # in the history; its length stands for the new line

    @property
    def history(self) -> list[str]:
        """The lines that were typed, the oldest first."""
        return self._kept.lines or []

    def action_submit(self) -> None:  # type: ignore[override]
        """Send the line; an empty one does the last command again."""
        line, self.value = self.value, ""
        self._kept.note(line)
        self._place = len(self.history)
        self.post_message(self.Line(line))

    def action_older(self) -> None:
        """Show the line before in the history."""
        self._go(max(self._place - 1, 0))

    def action_newer(self) -> None:
        """Show the line behind in the history, or none."""
        self._go(min(self._place + 1, len(self.history)))

    def _go(self, place: int) -> None:
        self._place = place
        self.fill(self.history[place] if place < len(self.history) else "")

    def fill(self, line: str) -> None:
        """Let a line stand here, the cursor behind it."""
        self.value = line
        self.cursor_position = len(line)

    def action_complete(self) -> None:
        """Ask what could stand here."""
        self._complete(self.value[: self.cursor_position])

    def take(self, completed: Completed) -> str:
        """Put in what all completions begin with; return what there is to choose from."""
        if self.value[: self.cursor_position] != completed.line or not completed.words:
            return ""
        common = _common_beginning(completed.words)
        rest = self.value[self.cursor_position :]
        line = completed.line[: completed.start] + common
        self.value = line + rest
        self.cursor_position = len(line)
        return "" if len(completed.words) == 1 else "  ".join(completed.words)

    def action_leave(self) -> None:
        """Let single keys be commands again."""
        self.screen.set_focus(None)

    def action_end_of_input(self) -> None:
        """Send the end of input from an empty line; else delete a character, as in a shell."""
        if self.value:
            self.action_delete_right()
        else:
            self.post_message(self.Line(END_OF_INPUT))
