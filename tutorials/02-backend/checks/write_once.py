"""Runs the student's functions on two backends: kerascope's, and one with hidden numbers."""

from types import ModuleType

import numpy as np

from kerascope import backend
from kerascope.learn import Text, check

X = [[1.0, -2.0, 0.5], [3.0, 4.0, -1.0]]
W = [[1.0, -1.0], [0.5, 2.0], [2.0, 0.0]]
B = [-0.5, 1.0]
TARGET = [[0.0, 1.0], [2.0, 2.0]]
KERASCOPE = Text("on kerascope's engine", "在 kerascope 的引擎上")
SMALL = Text("on the small engine", "在小引擎上")


class Hidden:
    """A tensor of the small backend, whose numbers only this backend can read."""

    __array_ufunc__ = None

    def __init__(self, numbers):
        self._numbers = np.array(numbers)

    def __add__(self, other):
        return Hidden(self._numbers + numbers_of(other))

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return Hidden(self._numbers - numbers_of(other))

    def __rsub__(self, other):
        return Hidden(numbers_of(other) - self._numbers)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("only the small engine can read its tensors; use the argument K")

    def __repr__(self):
        return f"a tensor of the small engine {self._numbers.shape}"


def numbers_of(value):
    return value._numbers if isinstance(value, Hidden) else value


def small_engine():
    functions = {
        "dot": np.dot,
        "bias_add": np.add,
        "relu": lambda x: np.maximum(x, 0.0),
        "square": np.square,
        "mean": np.mean,
    }
    module = ModuleType("small")
    for name, function in functions.items():
        setattr(module, name, on_hidden(function))
    return module


def on_hidden(function):
    def called(*tensors, **options):
        return Hidden(function(*map(numbers_of, tensors), **options))

    return called


def cases(student):
    """Yield each function with its name, its arguments and its expected result."""
    dense = np.maximum(np.dot(X, W) + B, 0.0)
    error = np.square(dense - TARGET).mean(axis=-1)
    yield "dense_relu", student.function("dense_relu"), (X, W, B), dense
    yield "mean_squared_error", student.function("mean_squared_error"), (TARGET, dense), error


def what(name, engine):
    return Text(f"{name} {engine.en}", f"{engine.zh}，{name}")


@check
def with_symbols(student):
    for name, function, arguments, expected in cases(student):
        tensors = [backend.variable(one) for one in arguments]
        answer = student.tensor(what(name, KERASCOPE), function(backend, *tensors))
        student.close(what(name, KERASCOPE), backend.eval(answer), expected)


@check
def with_hidden_numbers(student):
    for name, function, arguments, expected in cases(student):
        answer = function(small_engine(), *map(Hidden, arguments))
        student.require(
            isinstance(answer, Hidden),
            en=f"expected {name} {SMALL.en} to return a tensor of the small engine, "
            f"yours returns {answer!r}",
            zh=f"{SMALL.zh}，{name} 应返回小引擎的张量，你的返回 {answer!r}",
        )
        student.close(what(name, SMALL), answer._numbers, expected)
