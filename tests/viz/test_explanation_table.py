"""The table of `function.explain()` as rich prints it."""

import io

import numpy as np
import pytest
from rich.console import Console

from kerascope import backend as K


def explanation():
    x, w = K.placeholder((4, 3), name="x"), K.variable(np.ones((3, 2)), name="w")
    function = K.function([x], [K.sum(K.relu(K.dot(x, w))) * 1.0], name="mine")
    for _ in range(2):
        function([np.ones((4, 3))])
    return function.explain()


@pytest.mark.parametrize("width", [120, 70, 40])
def test_every_step_stands_in_it_and_no_line_is_too_long(width):
    file = io.StringIO()
    found = explanation()
    Console(file=file, width=width).print(found)
    lines = file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    words = " ".join(file.getvalue().replace("│", " ").split())
    assert words.startswith("mine[(4, 3)]: 3 of 4 steps are written, 36 bytes planned")
    for row in found.rows:
        assert row.result in words
        assert row.step.partition("(")[0] in words


def test_a_wide_terminal_has_a_line_for_each_step():
    file = io.StringIO()
    Console(file=file, width=140).print(explanation())
    _, names, _, *rows = file.getvalue().splitlines()
    assert [name.strip() for name in names.split("│")] == [
        *("Step", "Line", "Result", "Written as", "Memory")
    ]
    assert [[cell.strip() for cell in row.split("│")] for row in rows] == [
        ["dot(x, w) -> dot", "2", "f32[4,2]", "np.dot(x, w, dot)", "its own"],
        ["relu(dot) -> relu", "3", "f32[4,2]", "np.maximum(dot, c_0, out=relu)", "that of dot"],
        ["sum(relu) -> sum", "4", "f32[]", "np.add.reduce(relu, (0, 1), None, sum)", "its own"],
        ["multiply(sum, 1) -> multiply", "", "f32[]", "(times one)", ""],
    ]
