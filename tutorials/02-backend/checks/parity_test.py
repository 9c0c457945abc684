"""Two small backends with planted differences."""

from types import ModuleType

import numpy as np

from kerascope.learn import check

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
    elu=np.expm1,
)
CALLS = dict.fromkeys(("shift", "total", "near", "drop", "large", "relu", "ones"), (DATA,))
CALLS["power"] = (DATA, DATA)


@check
def the_names(student):
    missing = student.function("missing_names")
    student.same(
        "missing_names(first, second)", missing(FIRST, SECOND), ["cosh", "softsign", "tanh"]
    )
    student.same("missing_names(second, first)", missing(SECOND, FIRST), ["elu"])
    student.same("missing_names(first, first)", missing(FIRST, FIRST), [])


@check
def the_results(student):
    different = student.function("different_results")
    found = student.listed("different_results(first, second, calls)",
                           different(FIRST, SECOND, dict(CALLS)))  # fmt: skip
    expected = ["drop", "large", "near", "ones", "power", "shift"]
    student.same("different_results(first, second, calls)", found, expected)
    found = different(FIRST, FIRST, dict(CALLS))
    student.same("different_results(first, first, calls)", found, [])
