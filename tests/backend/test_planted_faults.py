"""Planted faults are found: by the random functions, and some by the check of plans."""

import numpy as np
import pytest
from planted_faults import FAULTS, IN_THE_PLAN, SOON, a_buffer_is_free_one_step_early, unchecked
from random_programs import difference, recipe

from kerascope import backend as K
from kerascope.backend.program.dispatch import CALLS_BEFORE

WITHIN = 1000


def found_at(fault, patch, within):
    """Return the first seed whose function is computed wrongly; None if there is none."""
    unchecked(patch)
    fault(patch)
    for seed in range(within):
        if difference(recipe(seed)) is not None:
            return seed
    return None


@pytest.mark.parametrize("fault", SOON, ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found_soon(fault, monkeypatch):
    assert found_at(fault, monkeypatch, 60) is not None


@pytest.mark.slow
@pytest.mark.parametrize("fault", [*SOON, *FAULTS], ids=lambda fault: fault.__name__)
def test_a_planted_fault_is_found(fault, monkeypatch):
    assert found_at(fault, monkeypatch, WITHIN) is not None


def is_refused(seed):
    """Tell whether a function is stepped because a plan of it does not hold; it must be right."""
    told = difference(recipe(seed))  # in which a warning is an error
    assert told is None or "cannot be compiled" in told
    return told is not None


@pytest.mark.parametrize("fault", IN_THE_PLAN, ids=lambda fault: fault.__name__)
def test_a_plan_that_does_not_hold_is_never_run(fault, monkeypatch):
    fault(monkeypatch)
    assert sum(is_refused(seed) for seed in range(40))


def test_a_function_whose_plan_does_not_hold_is_stepped(monkeypatch):
    a_buffer_is_free_one_step_early(monkeypatch)
    x = K.placeholder((3,))
    h = K.exp(x)
    function = K.function([x], [K.sum(h) + K.tanh(h) * K.square(h)])
    h = np.exp(np.ones(3, "f4"))
    expected = h.sum() + np.tanh(h) * h**2
    told = []
    with pytest.warns(RuntimeWarning, match="cannot be compiled .*memory that was overwritten"):
        told.extend(function([np.ones(3)])[0] for _ in range(CALLS_BEFORE + 2))
    np.testing.assert_allclose(told, [expected] * len(told), rtol=1e-5)
    assert not function.programs
