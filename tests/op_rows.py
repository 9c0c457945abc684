"""The rows of `op_cases.py` as parameters of tests, and the graph of one row."""

import importlib
import pkgutil
from pathlib import Path

import op_cases
import pytest
from op_cases import Case
from thinned import thinned

from kerascope.backend import ops
from kerascope.backend.graph import Constant, Op, Placeholder


def all_cases() -> list[Case]:
    """Return the CASES of op_cases.py and of every op_cases_*.py beside it."""
    paths = sorted(Path(op_cases.__file__).parent.glob("op_cases_*.py"))
    further = [importlib.import_module(path.stem).CASES for path in paths]
    return [*op_cases.CASES, *(case for cases in further for case in cases)]


CASES = all_cases()


def case_name(case):
    shapes = ",".join("x".join(map(str, x.shape)) or "scalar" for x in case.arrays())
    return f"{case.op!r}({shapes})"


def each_of(cases):
    return pytest.mark.parametrize("case", thinned(cases, op_of), ids=case_name)


def op_of(case):
    return type(case.op)


each_case = each_of(CASES)
smooth_case = each_of(c for c in CASES if c.smooth)


def graph_inputs(case, dtype="float64", hidden=lambda axis: False):
    """Return a tensor for each input: None for hidden axes, constants for the fixed inputs."""
    tensors = []
    for position, array in enumerate(case.arrays(dtype)):
        if position in case.fixed:
            tensors.append(Constant(array))
            continue
        shape = [None if hidden(axis) else size for axis, size in enumerate(array.shape)]
        tensors.append(Placeholder(shape, array.dtype.name, f"input_{position}"))
    return tensors


def fed(case, tensors, dtype="float64"):
    """Return the placeholders and their arrays."""
    pairs = list(zip(tensors, case.arrays(dtype), strict=True))
    pairs = [(x, array) for x, array in pairs if isinstance(x, Placeholder)]
    return [x for x, _ in pairs], [array for _, array in pairs]


def op_classes():
    """Return every op that can be applied: the classes in ops/ that have no subclasses there."""
    for module in pkgutil.iter_modules(ops.__path__):
        importlib.import_module(f"{ops.__name__}.{module.name}")
    found, waiting = [], [Op]
    while waiting:
        inner = [k for k in waiting.pop().__subclasses__() if k.__module__.startswith(ops.__name__)]
        waiting.extend(inner)
        found.extend(k for k in inner if not k.__subclasses__())
    return sorted(set(found), key=lambda k: k.__qualname__)
