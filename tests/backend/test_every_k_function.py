"""Every public function of K has a case, and every case holds: values, types, shapes, gradients."""

import importlib
import inspect
from collections import Counter
from pathlib import Path

import keras_names
import numpy as np
import pytest
from thinned import thinned

from kerascope import backend as K
from kerascope.backend import state
from kerascope.backend.eager import eager_mode
from kerascope.backend.graph import Constant, Placeholder
from kerascope.backend.shapes import merge_shapes
from kerascope.settings import config
from tests.backend.k_cases import BEHAVIOURS, Draw

CASES = []
for path in sorted(Path(__file__).parent.glob("k_cases_*.py")):
    CASES.extend(getattr(importlib.import_module(f"tests.backend.{path.stem}"), "CASES", []))

STEP = 1e-5  # of the central differences


def numbered(names):
    """Return test ids: the name, and its number among those of the same name."""
    seen = Counter()
    for name in names:
        seen[name] += 1
        yield f"{name}-{seen[name]}"


def each_of(cases):
    names = [case.name for case in cases]
    rows = thinned(cases, lambda case: case.name)
    return pytest.mark.parametrize("case", rows, ids=list(numbered(names)))


each_case = each_of(CASES)
smooth_case = each_of([c for c in CASES if c.smooth])
each_behaviour = pytest.mark.parametrize(
    "behaviour", BEHAVIOURS, ids=[b.check.__name__ for b in BEHAVIOURS]
)


@pytest.fixture(autouse=True)
def _unchanged_settings(monkeypatch):
    """Put back what a case has set."""
    monkeypatch.setattr(state, "_state", state._State())
    for name in ("floatx", "epsilon", "image_data_format"):
        monkeypatch.setattr(config, name, getattr(config, name))


def listed(result):
    return list(result) if isinstance(result, (list, tuple)) else [result]


def arrays_of(case, dtype="float64"):
    arrays = [np.asarray(x) for x in case.inputs(Draw(seed=3))]
    return [x.astype(dtype) if x.dtype.kind == "f" else x for x in arrays]


def placeholders(case, dtype="float64", hidden=lambda axis: False):
    """Return a placeholder for each input, with None for the hidden axes."""
    tensors = []
    for position, array in enumerate(arrays_of(case, dtype)):
        free = hidden if position not in case.fixed else (lambda axis: False)
        shape = [None if free(axis) else size for axis, size in enumerate(array.shape)]
        tensors.append(Placeholder(shape, array.dtype.name, f"input_{position}"))
    return tensors


def expected_of(case):
    return [np.asarray(y) for y in listed(case.expected(*arrays_of(case)))]


def run(case, tensors, dtype="float64"):
    outputs = listed(case.call(*tensors))
    return outputs, K.function(tensors, outputs)(arrays_of(case, dtype))


# --- no function without a case -------------------------------------------------------------------


# Functions that neither take nor give tensors: see test_types_keras3.py.
OF_TYPES = {"is_float_dtype", "is_int_dtype", "result_type", "standardize_dtype"}


def public_functions():
    """Return the names in Keras's list and whatever else of our own K exports, without classes."""
    own = {
        name
        for name, value in vars(K).items()
        if inspect.isroutine(value)
        and not name.startswith("_")
        and value.__module__.startswith("kerascope.backend")
        and name not in OF_TYPES
        and value.__name__ == name  # else it is Keras 1's name of another
    }
    return sorted(own | set(names_of_keras()))


def names_of_keras():
    entries = keras_names.read_names(keras_names.FILE.read_text())
    return [e.path for e in entries if e.module in ("keras.backend", "keras.backend.common")]


def without_case(names, cases, behaviours):
    covered = {c.name for c in cases} | {name for b in behaviours for name in b.names}
    return sorted(set(names) - covered)


def test_every_public_function_has_a_case():
    assert without_case(public_functions(), CASES, BEHAVIOURS) == []


def test_a_function_whose_case_is_missing_is_found():
    fewer = [c for c in CASES if c.name != "einsum"]
    behaviours = [b for b in BEHAVIOURS if "backend" not in b.names]
    assert without_case(public_functions(), fewer, behaviours) == ["backend", "einsum"]


def test_a_new_function_would_be_asked_for_its_case(monkeypatch):
    def nameless(x):
        return x

    nameless.__module__ = "kerascope.backend.ops.nn"
    monkeypatch.setattr(K, "nameless", nameless, raising=False)
    assert without_case(public_functions(), CASES, BEHAVIOURS) == ["nameless"]


# --- every case -----------------------------------------------------------------------------------


def count_calls(monkeypatch, name):
    """Return a list that grows at each call of `K.<name>`."""
    calls, function = [], getattr(K, name)

    def counted(*args, **kwargs):
        calls.append(name)
        return function(*args, **kwargs)

    monkeypatch.setattr(K, name, counted)
    return calls


@each_case
def test_the_result_is_that_of_numpy(case, monkeypatch):
    calls = count_calls(monkeypatch, case.name)
    outputs, results = run(case, placeholders(case))
    assert calls
    for tensor, result, expected in zip(outputs, results, expected_of(case), strict=True):
        assert np.shape(result) == K.int_shape(tensor) == expected.shape
        assert tensor.dtype == result.dtype.name
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)


@each_case
def test_unknown_sizes_change_nothing_but_the_static_shape(case):
    for is_hidden in (lambda axis: axis == 0, lambda axis: True):
        outputs, results = run(case, placeholders(case, hidden=is_hidden))
        for tensor, result, expected in zip(outputs, results, expected_of(case), strict=True):
            assert merge_shapes(tensor.shape, expected.shape) == expected.shape
            if case.batch and not is_hidden(1) and expected.ndim:
                assert None not in tensor.shape[1:]
            np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)


@each_case
def test_the_type_is_the_one_promised(case):
    outputs, results = run(case, placeholders(case, "float32"), "float32")
    inputs = arrays_of(case, "float32")
    wanted = case.dtype or (inputs[0].dtype.name if inputs else config.floatx)
    assert [y.dtype for y in outputs] == [wanted] * len(outputs)
    assert [y.dtype.name for y in results] == [wanted] * len(outputs)


@each_case
def test_eager_mode_gives_the_same(case):
    _, results = run(case, placeholders(case))
    with eager_mode():
        eager = [K.get_value(y) for y in listed(case.call(*map(Constant, arrays_of(case))))]
    for left, right in zip(eager, results, strict=True):
        np.testing.assert_array_equal(left, right)
        assert np.asarray(left).dtype == np.asarray(right).dtype


@each_of([c for c in CASES if c.arrays_too])
def test_plain_numbers_may_come_in_the_place_of_tensors(case):
    arrays = arrays_of(case)
    for numbers in (arrays, [x.tolist() for x in arrays]):
        for tensor, expected in zip(listed(case.call(*numbers)), expected_of(case), strict=True):
            np.testing.assert_allclose(K.eval(tensor), expected, rtol=1e-4, atol=1e-5)


@smooth_case
def test_the_gradient_is_that_of_finite_differences(case):
    tensors, arrays = placeholders(case), arrays_of(case)
    outputs = listed(case.call(*tensors))
    draw = np.random.default_rng(2)
    loss = sum(K.sum(y * draw.uniform(0.5, 1.5, y.shape)) for y in outputs)
    compute = K.function(tensors, loss)
    grads = K.gradients(loss, [tensors[i] for i in case.smooth])
    for position, grad in zip(case.smooth, grads, strict=True):
        numeric = numeric_gradient(compute, arrays, position)
        symbolic = K.function(tensors, grad)(arrays)
        assert np.shape(symbolic) == numeric.shape
        np.testing.assert_allclose(symbolic, numeric, rtol=1e-5, atol=1e-6)


def numeric_gradient(compute, arrays, position):
    """Return d compute / d arrays[position] by central differences."""
    result = np.zeros(arrays[position].shape)
    for place in np.ndindex(result.shape):
        values = []
        for step in (STEP, -STEP):
            moved = [np.array(x) for x in arrays]
            moved[position][place] += step
            values.append(compute(moved))
        result[place] = (values[0] - values[1]) / (2 * STEP)
    return result


@each_behaviour
def test_behaviour(behaviour, monkeypatch):
    calls = {name: count_calls(monkeypatch, name) for name in behaviour.names}
    behaviour.check()
    assert [name for name, made in calls.items() if not made] == []
