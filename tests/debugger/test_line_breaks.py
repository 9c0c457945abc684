"""`b 12`: a line of the script that makes layers stops once, as in pdb."""

import linecache

import pytest
from debugger_transcripts import answer, debug_script

from kerascope.debugger.session import Session
from kerascope.debugger.stopping import lines_of_statement

STACK = """\
from kerascope.layers import Dense
from kerascope.models import Sequential
model = Sequential([
    Dense(3, input_shape=(2,)),
    Dense(4),
    Dense(1),
])
"""
LOOPS = """\
from kerascope.layers import Dense, Input
x = Input((3,))
shared = Dense(3)
for _ in range(3):
    x = shared(x)
for _ in range(2):
    x = Dense(3)(x)
y = Dense(2)(
    Dense(1)(x)
)
"""


@pytest.fixture
def stops(monkeypatch, capsys, tmp_path):
    """Debug a script; return where it stopped."""
    monkeypatch.setattr(Session, "current", None)
    monkeypatch.chdir(tmp_path)

    def stops_of(text, *commands):
        (tmp_path / "lines.py").write_text(text, encoding="utf-8")
        linecache.clearcache()
        words = [*commands, *("c" for _ in range(30))]
        _, out = debug_script(monkeypatch, capsys, "lines.py", *words)
        return [line.split()[-2] for line in out.splitlines() if line.startswith("   build > ")]

    return stops_of


def test_a_list_of_layers_stops_once_and_each_layer_at_its_own_line(stops):
    assert stops(STACK, "b 3") == ["dense_1_input"]
    assert stops(STACK, "b 4", "b 5", "b 6") == ["dense_1", "dense_2", "dense_3"]


def test_each_time_that_a_line_is_executed_it_stops(stops):
    assert stops(LOOPS, "b 5") == ["dense_1", "dense_1", "dense_1"]
    assert stops(LOOPS, "b 7") == ["dense_2", "dense_3"]
    assert stops(LOOPS, "b 9") == ["dense_5"]
    assert stops(LOOPS, "b 8") == ["dense_4"]


def test_a_condition_chooses_among_all_that_a_line_does(stops):
    condition = "e.kind == 'layer.call' and e.name == 'dense_3'"
    assert stops(STACK, f"b 3, {condition}") == ["dense_3"]
    assert stops(STACK, "b 3", f"condition 1 {condition}") == ["dense_3"]
    assert stops(STACK, f"b 3, {condition}", "condition 1") == ["dense_1_input"]


def test_a_line_of_the_engine_stops_as_often_as_it_is_passed(stops):
    assert len(stops(STACK, "b layer.py:1", "c")) == 0
    assert len(stops(STACK, "b event:layer.init")) == 4


def test_the_end_of_a_line_is_meant_with_ret(stops):
    assert stops(STACK, "b lines.py:5:ret") == ["dense_2"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [(1, range(1, 2)), (2, range(2, 3)), (3, range(3, 6)), (5, range(3, 6)), (6, range(6, 7))],
)
def test_the_lines_of_a_statement(tmp_path, line, expected):
    path = tmp_path / "some.py"
    path.write_text(
        "import a\nfor b in c:\n    d = [\n        e,\n    ]\nf = g\n", encoding="utf-8"
    )
    assert lines_of_statement(str(path), line) == expected


def test_a_file_that_cannot_be_read_has_statements_of_one_line(tmp_path):
    assert lines_of_statement(str(tmp_path / "nowhere.py"), 7) == range(7, 8)
    path = tmp_path / "bad.py"
    path.write_text("x = (\n", encoding="utf-8")
    assert lines_of_statement(str(path), 1) == range(1, 2)


def test_a_script_that_was_edited_is_read_anew_by_restart(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(Session, "current", None)
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "edited.py"
    path.write_text("x = 1\n", encoding="utf-8")
    edit = "!import pathlib; _ = pathlib.Path('edited.py').write_text('x = 1\\n# more\\ny = 2\\n')"
    _, out = debug_script(
        monkeypatch, capsys, "edited.py", "l 1,9", edit, "restart", "l 1,9", "b 3", "q"
    )
    assert answer(out, "l 1,9") == ["   1 -> x = 1"]
    again = out.split("(Kdb) restart\n", 1)[1]
    assert answer(again, "l 1,9") == ["   1 -> x = 1", "   2    # more", "   3    y = 2"]
    assert answer(again, "b 3") == ["Breakpoint 1 at edited.py:3"]
