import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from kerascope.trace import statistics
from kerascope.trace.statistics import Figures, short_statistics_of, statistics_of

FLOATS = st.floats(width=32)
ARRAYS = arrays("float32", array_shapes(max_dims=3, max_side=5, min_side=0), elements=FLOATS)


@given(st.lists(ARRAYS, max_size=8))
def test_arrays_that_waited_together_have_the_figures_that_each_has_alone(several):
    together = Figures()
    together.may_wait = True
    found = [together.of(array) for array in several]
    together.settle()
    assert found == [short_statistics_of(array) for array in several]


@given(ARRAYS)
def test_short_figures_are_the_figures_with_six_digits(array):
    short, exact = short_statistics_of(array), statistics_of(array)
    assert (short.kind, short.nans, short.infinities) == (
        exact.kind,
        exact.nans,
        exact.infinities,
    )
    for name in ("norm", "min", "max") if exact.norm is not None else ():
        assert getattr(short, name) == pytest.approx(getattr(exact, name), rel=1e-5)


def test_whoever_reads_figures_before_the_call_is_over_gets_them():
    waiting = Figures()
    waiting.may_wait = True
    first, second = np.arange(4.0), np.ones(3)
    of_first, of_second = waiting.of(first), waiting.of(second)
    assert of_first.max == 3.0
    third = waiting.of(np.full(2, 7.0))
    assert waiting.of(second) is not None
    waiting.settle()
    assert (of_second.min, third.mean) == (1.0, 7.0)


def test_arrays_are_held_until_the_call_is_over_and_no_longer():
    waiting = Figures()
    waiting.may_wait = True
    array = np.arange(4.0)
    reference = weakref.ref(array)
    found = waiting.of(array)
    del array
    gc.collect()
    assert reference() is not None
    waiting.settle()
    gc.collect()
    assert reference() is None
    assert found.max == 3.0


def test_what_waits_is_bounded(monkeypatch):
    monkeypatch.setattr(statistics, "MOST_ELEMENTS", 100)
    waiting = Figures()
    waiting.may_wait = True
    references = []
    for i in range(20):
        array = np.full(30, float(i))
        references.append(weakref.ref(array))
        waiting.of(array)
    del array
    gc.collect()
    assert sum(reference() is not None for reference in references) <= 3


def test_an_array_that_may_be_written_into_is_looked_at_at_once():
    array = np.ones(3)
    found = Figures().of(array)
    array[:] = 5.0
    assert found.max == 1.0


def test_there_is_no_field_of_another_name():
    with pytest.raises(AttributeError, match="got 'maximum'"):
        _ = short_statistics_of(np.ones(2)).maximum
