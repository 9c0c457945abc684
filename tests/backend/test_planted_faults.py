"""The generator of random functions is worth something: it finds faults that are planted."""

import pytest
from planted_faults import FAULTS, SOON
from random_programs import difference, recipe

WITHIN = 1000


def found_at(fault, patch, within):
    """Return the first seed whose function is computed wrongly; None if there is none."""
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
