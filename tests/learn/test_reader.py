"""`kerascope learn read` on a terminal: section by section, with a question before an output."""

import os
import re
import select
import shutil
import sys

import pytest

from kerascope.learn import reader
from kerascope.lessons.lesson import SAID

PAGES = [["# One\n\nfirst page\n"], ["## Two\n\nwhy?\n", f"output\n{SAID}\n\nbecause\n"], ["end\n"]]


@pytest.fixture
def read(monkeypatch, capsys):
    """Read the pages with these answers; return what is printed and the questions."""

    def read_pages(answers, pages=PAGES, language="en", lines=24):
        size = os.terminal_size((80, lines))
        monkeypatch.setattr(shutil, "get_terminal_size", lambda *args, **words: size)
        questions, waiting = [], iter(answers)

        def answer(question):
            questions.append(question)
            try:
                return next(waiting)
            except StopIteration:
                raise EOFError from None

        monkeypatch.setattr("builtins.input", answer)
        reader.page_through(pages, language)
        return capsys.readouterr().out, questions

    return read_pages


def test_enter_leads_through_the_sections_and_each_prediction(read):
    out, questions = read(["", "no idea", "", ""])
    assert questions == [
        "-- Enter: next section (2 of 3) · b: back · q: leave ",
        "Your prediction (Enter: look · q: leave) ",
        "-- Enter: next section (3 of 3) · b: back · q: leave ",
    ]
    assert out.index("why?") < out.index("output\nYou said: no idea\n\nbecause") < out.index("end")


def test_without_a_prediction_nothing_is_said_about_it(read):
    out, _ = read(["", "", ""], language="zh")
    assert "output\n\nbecause" in out
    assert "你的预测：" not in out


def test_b_goes_back_and_q_leaves(read):
    out, questions = read(["", "x", "b", "", "y", "q"])
    assert out.count("first page") == 2
    assert "You said: y" in out
    assert "end" not in out
    assert len(questions) == 6


def test_q_leaves_at_a_prediction_too(read):
    out, questions = read(["", "q"])
    assert "output" not in out
    assert len(questions) == 2


def test_the_end_of_the_input_leaves(read):
    out, _ = read([""])
    assert "why?" in out
    assert "output" not in out


def test_a_long_section_stops_at_each_screen_between_paragraphs(read):
    text = "".join(f"line {n}\n" + ("\n" if n % 5 == 4 else "") for n in range(20))
    out, questions = read(["", "", "", ""], pages=[[text]], lines=12)
    assert questions == ["-- Enter: more · b: back · q: leave "] * 3
    assert [int(n) for n in re.findall(r"line (\d+)", out)] == list(range(20))
    out, _ = read(["q"], pages=[[text]], lines=12)
    assert "line 4" in out
    assert "line 5\n" not in out


def test_a_line_wider_than_the_terminal_counts_as_the_rows_that_it_takes(read):
    wide = "".join(f"line {n} {'x' * 90}\n" for n in range(10))  # 2 rows each of 80 columns
    out, questions = read([""] * 2, pages=[[wide]], lines=12)
    assert len(questions) == 1
    assert "line 4" in out
    assert "line 5" not in read(["q"], pages=[[wide]], lines=12)[0]
    styled = "".join(f"\x1b[1mline {n} {'x' * 70}\x1b[0m\n" for n in range(10))
    assert read([], pages=[[styled]], lines=12)[1] == []
    higher = "字" * 1000  # one line, higher than the terminal
    assert read(["", ""], pages=[[f"{higher}\nend\n"]], lines=12)[1] == questions


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo terminal")
@pytest.mark.process
def test_on_a_pseudo_terminal_the_answer_waits_for_the_prediction():
    pty = pytest.importorskip("pty")
    words = ["-m", "kerascope", "learn", "read", "0", "--lang", "en"]
    process, terminal = pty.fork()
    if process == 0:
        os.environ |= {"TERM": "xterm", "COLUMNS": "80", "LINES": "200"}
        os.execv(sys.executable, [sys.executable, *words])
    shown = b""  # decoded as a whole, because a read may end inside of a letter

    def until(text):
        nonlocal shown
        while text.encode() not in shown:
            assert select.select([terminal], [], [], 60)[0], shown.decode("utf-8", "replace")
            shown += os.read(terminal, 65536)
        before, _, shown = shown.partition(text.encode())
        return before.decode("utf-8")

    for place in (2, 3):
        until(f"next section ({place} of 8)")
        os.write(terminal, b"\n")
    assert "No numbers" not in until("Your prediction (Enter: look · q: leave)")
    os.write(terminal, b"a promise\n")
    answer = until("next section (4 of 8)")
    assert answer.index("You said: a promise") < answer.index("No numbers")
    os.write(terminal, b"q\n")
    os.close(terminal)
    os.waitpid(process, 0)
