"""`model.summary()` as text."""

import io

import numpy as np
import pytest
from rich.cells import cell_len
from rich.console import Console
from zoo import THINNED_ZOO, ZOO

from kerascope import Input, Model, applications
from kerascope import backend as K
from kerascope.engine.summary import Summary, SummaryRow, Total, summarize
from kerascope.layers import LSTM, Bidirectional, Dense
from kerascope.viz.extract.nodes import node_graph
from kerascope.viz.tables import SummaryTable, print_summary, readable_bytes

HEADERS = ["Layer", "Depth", "Output", "Params", "Connected"]
ALL = {"show_trainable": True, "flops": True, "memory": True}
MORE_HEADERS = ["Trainable", "Multiply-adds", "Weights", "Activations"]


@pytest.fixture(params=THINNED_ZOO, name="model")
def model_of_the_zoo(request):
    return ZOO[request.param]()


def printed(summary, width):
    lines = []
    print_summary(summary, line_length=width, print_fn=lines.append)
    return lines


def text(model, width, **options):
    return "\n".join(printed(summarize(model, **options), width))


def summary_of(*rows, name="m", **totals):
    one = Total(1, 4)
    return Summary(name, rows, one, one, Total(0, 0), **totals)


def packed(anything):
    """Return text without spaces, bars and breaks of lines."""
    return "".join(x for x in anything if x not in " \n│,")


# --- the text itself ------------------------------------------------------------------------------


def siamese():
    return ZOO["siamese"]()


def test_the_table_at_80_columns():
    assert (
        text(siamese(), 80)
        == """\
Model: siamese
Layer (type)            │ Depth │ Output shape │ Params │ Connected to
────────────────────────┼───────┼──────────────┼────────┼─────────────
left (InputLayer)       │     3 │ (None, 16)   │      0 │
right (InputLayer)      │     3 │ (None, 16)   │      0 │
encoder (Model) 2 calls │     2 │ (None, 4)    │    676 │ left
                        │       │              │        │ right
pair (Concatenate)      │     1 │ (None, 8)    │      0 │ encoder@0
                        │       │              │        │ encoder@1
same (Dense)            │     0 │ (None, 1)    │      9 │ pair

Total params: 685 (2.68 KB)
Trainable params: 685 (2.68 KB)
Non-trainable params: 0 (0.00 B)"""
    )


def test_the_table_at_60_columns_folds_names_and_titles_but_no_shape():
    assert text(siamese(), 60).splitlines()[1:9] == [
        "Layer (type)       │ Depth │ Output     │ Params │ Connected",
        "                   │       │ shape      │        │ to",
        "───────────────────┼───────┼────────────┼────────┼──────────",
        "left (InputLayer)  │     3 │ (None, 16) │      0 │",
        "right (InputLayer) │     3 │ (None, 16) │      0 │",
        "encoder (Model)    │     2 │ (None, 4)  │    676 │ left",
        "2 calls            │       │            │        │ right",
        "pair (Concatenate) │     1 │ (None, 8)  │      0 │ encoder@0",
    ]


def test_each_call_at_100_columns_opened():
    assert text(siamese(), 100, calls=True, expand_nested=True).splitlines()[3:12] == [
        "left (InputLayer)              │     3 │ (None, 16)   │      0 │",
        "right (InputLayer)             │     3 │ (None, 16)   │      0 │",
        "encoder@0 (Model)              │     2 │ (None, 4)    │    676 │ left",
        "└ encoder@0/image (InputLayer) │     2 │ (None, 16)   │      0 │",
        "└ encoder@0/wide (Dense)       │     1 │ (None, 32)   │    544 │ encoder@0/image",
        "└ encoder@0/code (Dense)       │     0 │ (None, 4)    │    132 │ encoder@0/wide",
        "encoder@1 (Model)              │     2 │ (None, 4)    │ shared │ right",
        "└ encoder@1/image (InputLayer) │     2 │ (None, 16)   │      0 │",
        "└ encoder@1/wide (Dense)       │     1 │ (None, 32)   │ shared │ encoder@1/image",
    ]


def test_costs_and_totals_at_120_columns():
    model = ZOO["chain"]()
    model.layers[1].trainable = False
    lines = text(model, 120, **ALL).splitlines()
    assert [[cell.strip() for cell in line.split("│")] for line in lines[4:7]] == [
        [
            "hidden (Dense)",
            "2",
            "(None, 64)",
            "1,344",
            "N",
            "1,280",
            "5.25 KB",
            "256.00 B",
            "pixels",
        ],
        ["dropout (Dropout)", "1", "(None, 64)", "0", "-", "0", "0.00 B", "256.00 B", "hidden"],
        ["scores (Dense)", "0", "(None, 10)", "650", "Y", "640", "2.54 KB", "40.00 B", "dropout"],
    ]
    assert lines[7:] == [
        "",
        "Total params: 1,994 (7.79 KB)",
        "Trainable params: 650 (2.54 KB)",
        "Non-trainable params: 1,344 (5.25 KB)",
        "Multiply-adds per sample: 1,920",
        "Activations per sample: 632.00 B",
    ]


def test_every_column_at_50_columns():
    assert text(ZOO["chain"](), 50, **ALL).splitlines()[:6] == [
        "Model: chain",
        "─" * 50,
        "pixels (InputLayer)",
        "  Depth 3, Output shape (None, 20), Params 0,",
        "  Trainable -, Multiply-adds 0, Weights 0.00 B,",
        "  Activations 80.00 B",
    ]


@pytest.fixture(scope="module", name="resnet")
def resnet50():
    K.clear_session()  # so that its input is input_1 whatever was built before
    return applications.ResNet50(weights=None)


def test_resnet50_at_80_columns_has_a_line_for_the_name_and_breaks_no_shape(resnet):
    lines = text(resnet, 80).splitlines()
    assert lines[1:8] == [
        "Layer (type)",
        "  Depth │ Output shape         │    Params │ Connected to",
        "────────┼──────────────────────┼───────────┼────────────────────",
        "input_1 (InputLayer)",
        "    168 │ (None, 224, 224, 3)  │         0 │",
        "conv1_pad (ZeroPadding2D)",
        "    167 │ (None, 230, 230, 3)  │         0 │ input_1",
    ]
    assert lines[-3] == "Total params: 25,636,712 (97.80 MB)"


@pytest.mark.parametrize("width", [80, 100, 120])
def test_resnet50_keeps_its_shapes_whole(resnet, width):
    lines = text(resnet, width).splitlines()
    for layer in resnet.layers:
        assert any(str(layer.output_shape) in line for line in lines)


def test_folded_resnet50_says_how_many_copies(resnet):
    lines = text(resnet, 120, fold=True, flops=True)
    assert "conv4_block2_* … conv4_block6_*" in lines
    assert "\N{MULTIPLICATION SIGN} 5 copies" in lines
    assert "conv4_block3" not in lines
    assert "Multiply-adds per sample: 3,857,973,248 (3.86 G)" in lines


def test_folded_calls_of_one_layer_are_no_copies():
    x = h = Input((4,), name="x")
    shared = Dense(4, name="shared")
    for _ in range(6):
        h = shared(h)
    assert text(Model(x, h), 100, calls=True, fold=True).splitlines()[3:7] == [
        "x (InputLayer)                            │     6 │ (None, 4)    │      0 │",
        "shared@0 (Dense)                          │     5 │ (None, 4)    │     20 │ x",
        "shared@1 … shared@5 same weights, 5 calls │       │              │      0 │",
        "└ shared@1 (Dense)                        │     4 │ (None, 4)    │ shared │ shared@0",
    ]


# --- nothing is lost ------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, ALL, {**ALL, "calls": True, "expand_nested": True}])
@pytest.mark.parametrize("width", [50, 80, 120])
def test_no_column_and_no_letter_is_lost(model, width, options):
    summary = summarize(model, **options)
    lines = printed(summary, width)
    assert max(map(cell_len, lines)) <= width
    everything = packed("\n".join(lines))
    headers = HEADERS[1:] if lines[1].startswith("─") else HEADERS
    for header in [*headers, *(MORE_HEADERS if options else [])]:
        assert header in everything
    first_column = packed("".join(line.partition("│")[0] for line in lines))
    for row in summary.rows:
        assert packed(f"{row.layer}({row.class_name})") in first_column
        assert packed(f"{row.parameters:,}") in everything or row.is_again
        for source in row.connected_to:
            assert all(word in everything for word in packed(source).split("_"))


@pytest.mark.parametrize("width", [50, 80, 120])
@pytest.mark.parametrize(
    "name",
    [
        "[bold]a[/bold]",
        ":smile:",
        "日本語の層",
        "😀😀😀",
        "größe",
        'a "b" <c> | d\\',
        "x" * 300,
        "a_long/name-" * 25,
        "日" * 150,
        "[/]",
    ],
)
def test_odd_names_are_shown_whole(name, width):
    rows = (
        SummaryRow(name, "Dense", 0, (None, 1), 1_234_567, ("before",), True),
        SummaryRow("after", "Dense", 0, (None, 1), 0, (name,), True),
    )
    summary = summary_of(*rows, name=name)
    lines = printed(summary, width)
    assert max(map(cell_len, lines)) <= width
    everything = packed("".join(line.partition("│")[0] for line in lines))
    assert everything.count(packed(name)) >= 2  # the model's and the layer's
    whole = packed("".join(lines))
    for sign in set(packed(name)) - set("-─"):
        assert whole.count(sign) >= 3 * name.count(sign)
    console = Console(file=io.StringIO(), width=width)
    console.print(SummaryTable(summary))
    assert console.file.getvalue().splitlines() == lines


def test_what_moves_the_cursor_is_written_out():
    row = SummaryRow("a\nb\x1b[31m\tc", "Dense", 0, (None, 1), 1, (), True)
    lines = printed(summary_of(row, name="m\r"), 80)
    assert lines[0] == "Model: m\\r"
    assert lines[3].startswith("a\\nb\\x1b[31m\\tc (Dense)")


def test_one_long_name_does_not_make_records_of_all():
    rows = [SummaryRow("x" * 300, "Dense", 1, (None, 1), 3, (), True)]
    rows.append(SummaryRow("b", "Dense", 0, (None, 1), 3, ("x" * 300,), True))
    lines = printed(summary_of(*rows), 80)
    assert lines[1].startswith("Layer (type)")
    assert max(map(len, lines)) <= 80


def test_brackets_in_a_name_are_no_markup():
    row = SummaryRow("[bold]a[/bold] :smile:", "Dense", 0, (None, 1), 1234567, ("[red]",), True)
    lines = "\n".join(printed(summary_of(row, name="[i]m"), 120))
    for part in ("[bold]a[/bold] :smile:", "[red]", "Model: [i]m", "1,234,567"):
        assert part in lines


def test_rows_of_calls_have_the_ids_of_pictures(model):
    graph = node_graph(model, expand_nested=True)
    ids = {box.id for box in (*graph.nodes, *graph.groups)}
    rows = {row.layer for row in summarize(model, expand_nested=True, calls=True).rows}
    own_work = {"sequence", "merge"}  # of a Bidirectional: no layers
    inside_of_subclassed = {"input_1", "mix", "mix@0", "mix@1"}  # their calls are in no graph
    for name in ids ^ rows:
        assert name.rpartition("/")[2] in own_work | inside_of_subclassed


# --- what a row says ------------------------------------------------------------------------------


def test_a_frozen_layer_says_so():
    model = ZOO["chain"]()
    model.layers[1].trainable = False
    assert "(Dense) frozen" in text(model, 100)
    assert "frozen" not in text(model, 100, show_trainable=True)


def test_a_model_without_a_graph_has_no_depths():
    row = SummaryRow("a", "Dense", None, [(None, 1), (None, 2)], 3, (), True)
    lines = printed(summary_of(row), 80)
    cells = [cell.strip() for cell in lines[3].split("│")]
    assert cells == ["a (Dense)", "", "(None, 1)", "3", ""]
    assert "(None, 2)" in lines[4]


def test_what_is_not_known_is_a_question_mark_and_never_a_number():
    row = SummaryRow("a", "Dense", None, None, 3, (), True, calls=0)
    columns = ("multiply_adds", "activation_bytes")
    lines = printed(summary_of(row, columns=columns, unknown_costs=1), 100)
    cells = [cell.strip() for cell in lines[3].split("│")]
    assert cells == ["a (Dense)", "", "?", "3", "?", "?", ""]
    assert lines[-2:] == [
        "Multiply-adds per sample: 0 and those of 1 row of unknown cost",
        "Activations per sample: ?",
    ]


def test_a_layer_inside_a_wrapper_has_no_cost_of_its_own():
    x = Input((6, 4), name="x")
    model = Model(x, Bidirectional(LSTM(3, name="lstm"), name="both")(x))
    lines = text(model, 100, expand_nested=True, flops=True).splitlines()
    assert lines[5].split("│")[0].strip() == "└ forward_lstm (LSTM)"
    assert [cell.strip() for cell in lines[5].split("│")[1:]] == ["", "", "96", "", ""]


def test_unknown_steps_are_said():
    x = Input((None, 4), name="x")
    assert "12 \N{MULTIPLICATION SIGN} steps" in text(Model(x, Dense(3)(x)), 100, flops=True)


def test_a_part_of_the_rows_is_said_to_be_one():
    lines = text(ZOO["chain"](), 80, layer_range=("hidden", "dropout")).splitlines()
    assert len([line for line in lines if "│" in line]) == 3
    assert "Shown: hidden to dropout: 2 of 4 rows" in lines


def test_the_optimizer_stands_under_the_totals_once_it_was_used():
    model = ZOO["chain"]()
    model.compile("sgd", "mse")
    assert "Optimizer" not in text(model, 80)
    model.compile("adam", "mse")
    model.fit(np.ones((4, 20)), np.ones((4, 10)), verbose=0)
    assert "Optimizer params: 3,988 (15.58 KB)" in text(model, 80)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, "0.00 B"),
        (1023, "1023.00 B"),
        (1024, "1.00 KB"),
        (102_546_848, "97.80 MB"),
        (3 * 2**30, "3.00 GB"),
        (2**50, "1024.00 TB"),
    ],
)
def test_bytes_have_a_unit(size, expected):
    assert readable_bytes(size) == expected
