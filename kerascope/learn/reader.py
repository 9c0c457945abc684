"""Read a chapter on a terminal, section by section, with a question before each predicted output.

`page_through` prints the pages of `lessons.reading.chapter_pages`. It stops after each section,
after each screenful of a long section, and where the reader is asked for a prediction. Nothing that
the reader types is kept. It needs only `input` and Enter, so it works on every terminal.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console
from rich.control import Control
from rich.segment import ControlType

from kerascope.learn.verdicts import Text
from kerascope.lessons.lesson import SAID, lines_of
from kerascope.lessons.runner import ANSI

MORE = Text("Enter: more · b: back · q: leave", "回车：继续 · b：回到上一节 · q：离开")
NEXT = Text(
    "Enter: next section ({place} of {count}) · b: back · q: leave",
    "回车：下一节（{place} / {count}）· b：回到上一节 · q：离开",
)
PREDICTION = Text("Your prediction (Enter: look · q: leave) ", "你的预测（回车：看结果 · q：离开）")
SAY = Text("You said: {said}", "你的预测：{said}")
# What the reader types, besides Enter.
BACK, LEAVE = "b", "q"
LEAST = 5  # lines of a screenful on a very low terminal


def page_through(pages: list[list[str]], language: str) -> None:
    """Print the pages of a chapter one by one, until the last one or until the reader leaves."""
    place = 0
    try:
        while 0 <= place < len(pages):
            command = _show(pages[place], language)
            is_last = place + 1 == len(pages)
            if not command and not is_last:
                words = NEXT.within(language).format(place=place + 2, count=len(pages))
                command = _command(words)
            if command == LEAVE:
                return
            place = max(0, place - 1) if command == BACK else place + 1
            print()
    except (EOFError, KeyboardInterrupt):
        print()


def _show(page: list[str], language: str) -> str:
    """Print one page; return the command that ended it, "" if it was printed to its end."""
    for number, text in enumerate(page):
        if number:
            said = input(PREDICTION.within(language)).strip()
            if said == LEAVE:
                return LEAVE
            line = SAY.within(language).format(said=said)
            text = text.replace(f"{SAID}\n", f"{line}\n" if said else "")
        screens = list(_screens(text))
        for one, screen in enumerate(screens):
            print(screen)
            if one + 1 < len(screens):
                command = _command(MORE.within(language))
                if command:
                    return command
    return ""


def _screens(text: str) -> Iterator[str]:
    """Yield a text in pieces that fit the terminal, if possible divided between paragraphs.

    A line that is wider than the terminal takes several of its rows.
    """
    columns, rows = shutil.get_terminal_size()
    room = max(LEAST, rows - 2)
    lines = lines_of(text)
    while len(lines) > (most := _number_that_fits(lines, room, columns)):
        blank = [place for place in range(most // 2, most) if not lines[place].strip()]
        end = blank[-1] + 1 if blank else most
        yield "\n".join(lines[:end])
        lines = lines[end:]
    yield "\n".join(lines)


def _number_that_fits(lines: list[str], room: int, columns: int) -> int:
    """Return how many of the first lines fit into `room` rows: at least one."""
    for number, line in enumerate(lines):
        room -= max(1, math.ceil(cell_len(ANSI.sub("", line)) / columns))
        if room < 0:
            return max(1, number)
    return len(lines)


def _command(words: str) -> str:
    """Return `BACK`, `LEAVE` or "", and remove the question from the screen."""
    answer = input(f"-- {words} ").strip().lower()[:1]
    up = Control((ControlType.CURSOR_UP, 1), (ControlType.ERASE_IN_LINE, 2))
    Console().control(up)
    return answer if answer in (BACK, LEAVE) else ""
