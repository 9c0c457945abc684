import io
import json

import pytest
from rich.cells import cell_len

from kerascope.errors import ArgumentError
from kerascope.trace.records import Record
from kerascope.viz.story import json_of, lines_of, markdown_of, printer

ARRAY = ("f32[32,64]", "|x|=12.3", "min=-0.00123", "mean=0.000456", "max=2.9")


def plain(record, width=100, **options):
    return [line.plain for line in lines_of(record, width, **options)]


def test_arrays_stand_below_each_other_in_100_columns():
    one = plain(Record("forward", "tensor", 3, "dense_1/relu", ARRAY))
    other = plain(Record("forward", "tensor", 1, "x", ("f32[32,1]", "|x|=1", "min=0", "mean=0")))
    assert len(one) == len(other) == 1
    for word in ("f32", "|x|", "min", "mean"):
        assert one[0].index(word) == other[0].index(word)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
@pytest.mark.parametrize("name", ["w", "dense_1/kernel/accumulator", "层" * 40, "x" * 300])
@pytest.mark.parametrize("cells", [(), ARRAY, ("word " * 60,), ("x" * 300, "y")])
def test_no_line_is_longer_than_the_page_and_text_goes_on_in_its_own_column(width, name, cells):
    lines = plain(Record("update", "pair", 3, name, cells), width)
    assert all(cell_len(line) <= width for line in lines)
    column = min(34, max(width * 34 // 100, 16))
    name_lines = -(-(cell_len(name) + 6) // width)
    assert all(line.startswith(" " * column) for line in lines[name_lines + 1 :])


def test_a_line_ends_between_cells():
    lines = plain(Record("forward", "tensor", 3, "x", ARRAY), 70)
    assert lines[-1].split() == ["mean=0.000456", "max=2.9"]


def test_a_section_is_one_line_with_a_rule():
    (line,) = plain(Record("fit", "section", 0, "fit model_1", ("for each epoch",)))
    assert line.startswith("━━ fit model_1 ━━")
    assert line.endswith("━ for each epoch")
    assert len(line) == 100


def test_nothing_but_ascii_is_written_where_nothing_else_can_be():
    lines = plain(Record("fit", "section", 0, "größe", ("日本",)), ascii_only=True)
    lines += plain(Record("fit", "layer", 1, "größe", ("日本",)), ascii_only=True)
    assert all(line.isascii() for line in lines)


def test_control_characters_in_a_name_cannot_reach_the_terminal():
    (line,) = plain(Record("build", "layer", 1, "a\x1b[31m\nb", ("Dense",)))
    assert "\\x1b[31m\\nb" in line


def test_a_pipe_gets_plain_text():
    out = io.StringIO()
    show = printer("text", out)
    show(Record("commit", "commit", 3, "w", ("|v|=1 -> nan",), alarm=True))
    assert out.getvalue() == "      w                           |v|=1 -> nan\n"


def test_a_terminal_gets_colours(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    out = Terminal()
    printer("text", out)(Record("commit", "commit", 3, "w", ("|v|=1 -> nan",), alarm=True))
    assert "\x1b[" in out.getvalue()


def test_json_is_one_line_with_words_for_numbers_that_are_none():
    record = Record("update", "new_value", 3, "w\n", ("x",), {"change": float("nan"), "n": 3}, True)
    text = json_of(record)
    assert "\n" not in text
    assert json.loads(text) == {
        "phase": "update",
        "kind": "new_value",
        "depth": 3,
        "name": "w\n",
        "text": "x",
        "facts": {"change": "nan", "n": 3},
        "alarm": True,
    }


def test_markdown_has_headings_and_nested_items():
    assert markdown_of(Record("fit", "section", 0, "fit", ("text",))) == "\n## fit\n\ntext\n"
    assert markdown_of(Record("fit", "x", 2, "a_b", ("c`d",))) == "  - **a\\_b** · `c'd`"


def test_an_unknown_format_is_refused():
    with pytest.raises(ArgumentError, match="unknown format 'html'"):
        printer("html", io.StringIO())
