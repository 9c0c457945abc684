"""Tests the student's functions on two small backends, whose differences are known."""

from types import ModuleType

import numpy as np

from kerascope.learn import Text, check

DATA = np.array([-1.0, 0.5, 2.0])


def backend(name, **functions):
    module = ModuleType(name)
    vars(module).update(_hidden=len, **functions)
    return module


FIRST = backend(
    "first",
    relu=lambda x: np.maximum(x, 0.0),
    total=np.sum,
    shift=lambda x: x + 1.0,
    ones=lambda x: np.ones(3),
    tanh=np.tanh,
    softsign=lambda x: x / (1 + np.abs(x)),
    _cache={},
    near=lambda x: x,
    drop=lambda x: x,
    large=lambda x: x * 1e6,
    power=lambda x, y: x + y,
    clip=np.clip,
    row=lambda x: x,
    epsilon=1e-7,
    cosh=np.cosh,
)
SECOND = backend(
    "second",
    relu=lambda x: np.where(x > 0, x, 0.0),
    total=lambda x: np.sum(x) + 1e-9,
    shift=lambda x: x + 1.01,
    ones=lambda x: np.float64(1.0),
    near=lambda x: x + np.array([0.0, 1e-5, 0.0]),
    drop=lambda x: x - np.array([0.0, 0.0, 0.5]),
    large=lambda x: x * 1e6 + 0.01,
    power=lambda x, y: x - y,
    clip=lambda x, low, high: np.maximum(x, low),
    row=lambda x: x[None],
    epsilon=0.0,
    elu=np.expm1,
)
CALLS = dict.fromkeys(("shift", "total", "near", "drop", "large", "relu", "ones"), (DATA,))
CALLS.update(power=(DATA, DATA), clip=(DATA, 0.0, 1.0), row=(DATA,))


@check
def the_names(student):
    missing = student.function("missing_names")
    student.same(
        "missing_names(first, second)", missing(FIRST, SECOND), ["cosh", "softsign", "tanh"]
    )
    student.same("missing_names(second, first)", missing(SECOND, FIRST), ["elu"])
    student.same("missing_names(first, first)", missing(FIRST, FIRST), [])


@check
def names_of_other_kinds(student):
    """Test a constant, and names with underscores inside, at the end, or twice in front."""
    names = ("LIMIT", "two_words", "ends_", "_one", "__two", "of__two")
    first = backend("first", both=len, **dict.fromkeys(names, 1.5))
    what = Text(
        f"missing_names(first, second), where first has {', '.join(names)} too",
        f"first 还有 {', '.join(names)} 时的 missing_names(first, second)",
    )
    found = student.function("missing_names")(first, backend("second", both=len))
    student.same(what, found, ["LIMIT", "ends_", "of__two", "two_words"])


@check
def the_results(student):
    different = student.function("different_results")
    found = student.listed("different_results(first, second, calls)",
                           different(FIRST, SECOND, dict(CALLS)))  # fmt: skip
    expected = ["clip", "drop", "large", "near", "ones", "power", "row", "shift"]
    student.same("different_results(first, second, calls)", found, expected)
    found = different(FIRST, FIRST, dict(CALLS))
    student.same("different_results(first, first, calls)", found, [])


@check
def the_largest_difference_counts(student):
    """Test results where one number of ten is 2e-6 off, or all ten are 0.5e-6 off."""
    ten, one = np.linspace(-1.0, 1.0, 10), np.eye(10)[3]
    exact = {"one_is_off": lambda x: x, "all_are_near": lambda x: x, "all_are_equal": lambda x: x}
    first = backend("first", **exact)
    off = {"one_is_off": lambda x: x - 2e-6 * one, "all_are_near": lambda x: x + 0.5e-6}
    second = backend("second", **{**exact, **off})
    found = student.function("different_results")(first, second, dict.fromkeys(exact, (ten,)))
    what = Text(
        "different_results where one number of ten is 2e-6 off, or all ten are 0.5e-6",
        "十个数中一个差 2e-6、或十个都差 0.5e-6 时的 different_results",
    )
    student.same(what, student.listed(what, found), ["one_is_off"])
