"""CONTRIBUTING.md says what is true: its op is proven by its rows, its commands and files exist."""

import doctest
import math
import re
from pathlib import Path

import numpy as np
import op_cases
import pytest
import reference
from counted import MARKERS
from test_floor_plan import FLOOR_PLAN

import dev
from kerascope import backend as K
from kerascope.backend.ops import elementwise
from tests.backend import k_cases_elementwise, test_every_k_function, test_ops

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = [
    re.sub("^  ", "", block, flags=re.MULTILINE) if block.startswith("  ") else block
    for block in re.findall(r"```(?:python|text)\n(.*?)```", PAGE, flags=re.DOTALL)
]
OP, LOOP, ROW, K_ROW, SESSION = BLOCKS


@pytest.fixture
def added(monkeypatch):
    """Add the page's op where it says; return its rows in op_cases and k_cases."""
    package, loops = dict(vars(elementwise)), dict(vars(reference), math=math)
    exec(OP, package)
    exec(LOOP, loops)
    monkeypatch.setattr(elementwise, "Arctan", package["Arctan"], raising=False)
    monkeypatch.setattr(reference, "arctan", loops["arctan"], raising=False)
    monkeypatch.setattr(K, "arctan", package["arctan"], raising=False)
    (case,) = eval(f"[{K_ROW}]", dict(vars(k_cases_elementwise), np=np))
    return eval(f"[{ROW}]", dict(vars(op_cases))), case


def test_the_op_of_the_page_keeps_what_every_op_keeps(added):
    rows, _ = added
    assert len(rows) == 2
    for row in rows:
        test_ops.test_forward_agrees_with_plain_loops(row)
        test_ops.test_gradient_agrees_with_finite_differences(row)
        test_ops.test_second_gradient_agrees_with_finite_differences_of_the_first(row)
        test_ops.test_op_is_a_value(row)


def test_its_function_keeps_what_every_function_of_k_keeps(added, monkeypatch):
    _, case = added
    assert case.name == "arctan"
    test_every_k_function.test_the_result_is_that_of_numpy(case, monkeypatch)
    test_every_k_function.test_the_gradient_is_that_of_finite_differences(case)


def test_the_session_prints_what_the_page_says():
    K.clear_session()
    test = doctest.DocTestParser().get_doctest(SESSION, {}, "CONTRIBUTING.md", None, 0)
    assert len(test.examples) > 4
    failures = []
    doctest.DocTestRunner(verbose=False).run(test, out=failures.append)
    assert not failures, "".join(failures)


def test_every_command_is_one_of_dev_py():
    words = re.findall(r"python3 dev\.py (\w+)", PAGE)
    assert set(words) == set(dev.COMMANDS) - {"demo"}


def test_every_marker_is_explained():
    assert re.findall(r"^\| `(\w+)` \| ", PAGE, flags=re.MULTILINE) == list(MARKERS)


def test_every_file_that_is_named_exists():
    linked = re.findall(r"\]\(([^)#:]+)\)", PAGE)
    quoted = re.findall(r"`((?:kerascope|tests|docs|tutorials|guards)/[\w/.]*)`", PAGE)
    in_viz = [f"kerascope/{name}" for name in re.findall(r"`(viz/[\w/.]+)`", PAGE)]
    names = {*linked, *quoted, *in_viz}
    assert len(names) > 15
    assert [name for name in sorted(names) if not (ROOT / name).exists()] == []


def test_the_rows_are_those_of_the_floor_plan():
    rows = re.findall(r"^\| (\d) \| (.+?) \|", PAGE, flags=re.MULTILINE)
    assert [int(row) for row, _ in rows] == sorted(FLOOR_PLAN)
    for row, folders in rows[1:]:
        for name in re.findall(r"`(\w+)/?`", folders):
            assert name in FLOOR_PLAN[int(row)], name
