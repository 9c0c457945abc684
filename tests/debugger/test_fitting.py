"""Lines fit the terminal, whatever stands in them."""

import pytest
from debugger_programs import fit_two_layers
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from kerascope.debugger.rendering import Page, cut, lines_of_stop, padded, printable
from kerascope.debugger.session import Session

PAGES = [Page(width, ascii_only, True) for width in (1, 2, 5, 24, 80) for ascii_only in (0, 1)]
TEXTS = st.text(st.sampled_from("ab 損\t●…\x1b\u0301👩"), max_size=60) | st.text(max_size=60)


@given(TEXTS, st.sampled_from(PAGES))
def test_no_line_is_wider_than_the_page(text, page):
    line = text.replace("\n", " ")
    assert cell_len(page.cut(line)) <= page.width
    assert cell_len(page.cut_front("> ", line)) <= max(page.width, 2)
    assert page.cut(line).isprintable()
    if cell_len(printable(line)) <= page.width:
        assert page.cut(line) == printable(line)


@given(TEXTS, st.sampled_from([page for page in PAGES if page.width > 1]))
def test_what_is_wrapped_is_all_there(text, page):
    for rows in (page.wrapped(text), page.filled(text)):
        assert all(cell_len(row) <= page.width for row in rows)
    wrapped = "".join("".join(page.wrapped(text)).split())
    assert wrapped == "".join("".join(map(printable, text.split("\n"))).split())


@given(st.text(max_size=300))
def test_what_goes_into_a_pipe_is_not_wrapped(text):
    assert "\n".join(Page(20).wrapped(text)) == text
    assert "\n".join(Page(20).filled(text)) == text


def test_the_ellipsis_is_ascii_where_there_is_nothing_else():
    assert Page(6, ascii_only=True, for_person=True).cut("dense_1") == "den..."
    assert Page(6, for_person=True).cut("dense_1") == "dense…"
    assert Page(6).cut("dense_1") == "den..."
    assert padded("損", 4) == "損  "
    assert cut("dense", 0) == ""


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_no_line_of_a_stop_is_wider_than_a_terminal(width, ascii_only):
    widest = []

    def prompt(stop):
        lines = lines_of_stop(session, stop, Page(width, ascii_only, for_person=True))
        widest.append(max(map(cell_len, lines)))
        if ascii_only:
            assert all(line.isascii() for line in lines)
        return lambda stepper: stepper.stepi(7)

    session = Session(lambda stop: None if session.is_over else prompt(stop))
    session.run(fit_two_layers)
    assert len(widest) > 20
    assert max(widest) <= width
