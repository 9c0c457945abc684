"""Where the table of `model.summary()` is printed."""

import io

import pytest
from rich.cells import cell_len
from rich.console import Console
from rich.panel import Panel
from zoo import ZOO

from kerascope import applications
from kerascope.engine.summary import summarize
from kerascope.errors import ArgumentError
from kerascope.viz.tables import NARROWEST, SummaryTable, print_summary


@pytest.fixture(scope="module", name="resnet")
def resnet50():
    return applications.ResNet50(weights=None)


def printed(summary, width):
    lines = []
    print_summary(summary, line_length=width, print_fn=lines.append)
    return lines


def test_without_print_fn_it_is_printed(capsys):
    ZOO["chain"]().summary(line_length=100)
    assert "hidden (Dense)" in capsys.readouterr().out


def test_a_line_length_beyond_the_terminal_is_used(capsys, monkeypatch, resnet):
    monkeypatch.setenv("COLUMNS", "60")
    resnet.summary(120)
    out = capsys.readouterr().out
    assert "conv2_block1_1_bn (BatchNormalization) │" in out


def test_print_fn_receives_the_lines(capsys):
    lines = []
    ZOO["chain"]().summary(print_fn=lines.append)
    assert [line for line in lines if "hidden (Dense)" in line]
    assert capsys.readouterr().out == ""


def test_arguments_by_place_are_those_of_keras():
    lines = []
    ZOO["siamese"]().summary(100, None, lines.append, True, True, ("encoder", "pair"))
    assert any("└ wide (Dense)" in line for line in lines)
    assert "Trainable" in lines[1]


def test_a_terminal_is_coloured_and_a_file_is_not():
    summary = summarize(ZOO["chain"]())
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80, color_system="standard")
    print_summary(summary, console=terminal)
    assert "\x1b[" in terminal.file.getvalue()
    assert "\x1b[" not in "".join(printed(summary, 80))


def test_the_table_can_be_put_into_other_renderables():
    console = Console(file=io.StringIO(), width=100)
    console.print(Panel(SummaryTable(summarize(ZOO["chain"]())), expand=False))
    lines = console.file.getvalue().splitlines()
    assert "scores (Dense)" in console.file.getvalue()
    assert len({len(line) for line in lines}) == 1
    assert len(lines[0]) < 80


def test_a_terminal_narrower_than_any_table_gets_records_that_fit():
    console = Console(file=io.StringIO(), width=30)
    print_summary(summarize(ZOO["siamese"]()), console=console)
    lines = console.file.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= 30
    assert "encoder (Model) 2 calls" in lines


def test_a_terminal_without_other_letters_gets_plain_ones():
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    console = Console(file=file, width=100)
    console.print(SummaryTable(summarize(ZOO["siamese"](), expand_nested=True)))
    file.flush()
    assert b"- wide (Dense)" in file.buffer.getvalue()


@pytest.mark.parametrize("width", [10, NARROWEST - 1, 0, -3])
def test_a_width_that_no_table_fits_is_refused(width):
    with pytest.raises(ArgumentError, match=f"expected at least 50, got {width}"):
        printed(summarize(ZOO["chain"]()), width)
