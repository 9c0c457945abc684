import io

import pytest
from rich.console import Console
from zoo import ZOO

from kerascope.engine.summary import Summary, SummaryRow, summarize
from kerascope.errors import ArgumentError
from kerascope.viz.tables import print_summary, summary_table

HEADERS = ["Layer", "Depth", "Output", "Params", "Connected"]


@pytest.fixture(params=ZOO, name="model")
def model_of_the_zoo(request):
    return ZOO[request.param]()


def printed(summary, width):
    lines = []
    print_summary(summary, line_length=width, print_fn=lines.append)
    return lines


def columns_of(lines):
    """Return the text of each column with its folds taken out."""
    rows = [line.split("│") for line in lines if "│" in line]
    return ["".join(cell.strip() for cell in column) for column in zip(*rows, strict=True)]


@pytest.mark.parametrize("width", [50, 60, 80, 100, 120])
def test_no_column_but_the_depths_and_no_letter_is_lost(model, width):
    summary = summarize(model)
    lines = printed(summary, width)
    assert max(map(len, lines)) <= width
    columns = columns_of(lines)
    has_depths = any(column.startswith("Depth") for column in columns)
    assert has_depths or width < 80
    headers = [header for header in HEADERS if has_depths or header != "Depth"]
    for header, column in zip(headers, columns, strict=True):
        assert column.startswith(header)
    for row in summary.rows:
        packed = f"{row.layer}({row.class_name})".replace(" ", "")
        assert packed in columns[0].replace(" ", "")
        assert f"{row.parameters:,}" in columns[-2]
        for source in row.connected_to:
            assert source.replace(" ", "") in columns[-1].replace(" ", "")


def test_in_a_narrow_terminal_the_depths_go_before_a_name_is_broken():
    row = SummaryRow("inner_model", "Sequential", 1, (None, 20), 1234, ("embedding@1",), True)
    summary = Summary("m", (row,), 1234, 1234, 0)
    assert printed(summary, 80)[3].split() == [
        "inner_model", "(Sequential)", "│", "1", "│", "(None,", "20)", "│", "1,234", "│",
        "embedding@1",
    ]  # fmt: skip
    for width in (50, 52):
        lines = printed(summary, width)
        assert "Depth" not in "".join(lines)
        for word in ("inner_model", "(Sequential)", "(None, 20)", "1,234", "embedding@1"):
            assert any(word in line for line in lines)


def test_the_totals_stand_under_the_table():
    lines = printed(summarize(ZOO["siamese"]()), 80)
    assert lines[0] == "Model: siamese"
    assert lines[-3:] == ["Total params: 685", "Trainable params: 685", "Non-trainable params: 0"]


def test_brackets_in_a_name_are_no_markup():
    row = SummaryRow("[bold]a[/bold] :smile:", "Dense", 0, (None, 1), 1234567, ("[red]",), True)
    text = "\n".join(printed(Summary("[i]m", (row,), 1, 1, 0), 120))
    for part in ("[bold]a[/bold] :smile:", "[red]", "Model: [i]m", "1,234,567"):
        assert part in text


def test_a_frozen_layer_says_so():
    model = ZOO["chain"]()
    model.layers[1].trainable = False
    assert [line for line in printed(summarize(model), 100) if "(Dense) frozen" in line]


def test_a_model_without_a_graph_has_no_depths():
    row = SummaryRow("a", "Dense", None, [(None, 1), (None, 2)], 3, (), True)
    lines = printed(Summary("m", (row,), 3, 3, 0), 80)
    cells = [cell.strip() for cell in lines[3].split("│")]
    assert cells == ["a (Dense)", "", "(None, 1)", "3", ""]
    assert "(None, 2)" in lines[4]


def test_without_print_fn_it_is_printed(capsys):
    ZOO["chain"]().summary(line_length=100)
    assert "hidden (Dense)" in capsys.readouterr().out


def test_print_fn_receives_the_lines(capsys):
    lines = []
    ZOO["chain"]().summary(print_fn=lines.append)
    assert [line for line in lines if "hidden (Dense)" in line]
    assert capsys.readouterr().out == ""


def test_a_terminal_is_coloured_and_a_file_is_not():
    summary = summarize(ZOO["chain"]())
    terminal = Console(file=io.StringIO(), force_terminal=True, width=80, color_system="standard")
    print_summary(summary, console=terminal)
    assert "\x1b[" in terminal.file.getvalue()
    assert "\x1b[" not in "".join(printed(summary, 80))


def test_the_table_can_be_put_into_other_renderables():
    console = Console(file=io.StringIO(), width=100)
    console.print(summary_table(summarize(ZOO["chain"]())))
    assert "scores (Dense)" in console.file.getvalue()


def test_a_width_that_no_table_fits_is_refused():
    with pytest.raises(ArgumentError, match="expected at least 50, got 10"):
        printed(summarize(ZOO["chain"]()), 10)
