import numpy as np
import pytest

from kerascope.trace.statistics import PIECE, Figures, norm_of, statistics_of, sum_of_squares


def test_an_array_with_numbers_that_are_none_counts_them_and_describes_the_rest():
    found = statistics_of(np.array([1.0, np.nan, np.inf, -np.inf, 3.0], "float32"))
    assert (found.nans, found.infinities, found.min, found.max) == (1, 2, 1.0, 3.0)
    assert not found.is_sound
    assert found.facts["nans"] == 1


@pytest.mark.parametrize("array", [np.zeros((0, 3)), np.full(3, np.nan)])
def test_an_array_without_a_finite_number_has_no_figures(array):
    assert statistics_of(array).norm is None
    assert "min" not in str(statistics_of(array))


def test_rounding_error_in_a_mean_is_shown_as_zero():
    array = np.array([1.0, -1.0, 1e-9])
    assert statistics_of(array).mean == 0.0


def test_the_norm_of_huge_numbers_does_not_overflow():
    assert norm_of(np.array([3e200, 4e200])) == pytest.approx(5e200)


def test_integers_and_booleans_are_described_too():
    assert str(statistics_of(np.array([True, False]))) == "bool[2] |x|=1 min=0 mean=0.5 max=1"
    assert str(statistics_of(7)) == "i64[] 7"


@pytest.mark.parametrize("size", [1, PIECE, PIECE + 1, 3 * PIECE + 5])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_squares_of_a_long_array_are_summed_piece_by_piece(size, dtype):
    array = np.random.default_rng(size).normal(size=(size, 1)).astype(dtype)
    expected = float(np.square(array.astype("float64")).sum())
    assert sum_of_squares(array) == pytest.approx(
        expected, rel=2e-2 if dtype == "float16" else 1e-5
    )
    array[-1] = np.nan
    assert np.isnan(sum_of_squares(array))


def test_no_product_is_so_long_that_it_is_shared_out_among_threads(monkeypatch):
    sizes, plain = [], np.vdot
    monkeypatch.setattr(np, "vdot", lambda one, other: sizes.append(one.size) or plain(one, other))
    statistics_of(np.ones(5 * PIECE))
    assert sizes == [PIECE] * 5


@pytest.mark.parametrize("odd", [None, np.nan, np.inf])
@pytest.mark.parametrize("place", [0, -1])
def test_large_arrays_have_the_figures_of_all_their_pieces(odd, place):
    array = np.random.default_rng(0).normal(3, 2, 200_000).astype("float32")
    array[[5, -5]] = -40, 50
    if odd is not None:
        array[place] = odd
    found = statistics_of(array.reshape(400, 500))
    finite = array[np.isfinite(array)].astype("float64")
    assert found.kind == "f32[400,500]"
    assert found.norm == pytest.approx(np.linalg.norm(finite), rel=1e-12)
    assert found.mean == pytest.approx(finite.mean(), rel=1e-12)
    assert (found.min, found.max) == (-40, 50)
    assert (found.nans, found.infinities) == (int(odd is np.nan), int(odd is np.inf))


@pytest.mark.parametrize("size", [30, 300])
def test_the_order_in_which_an_array_lies_changes_no_figure(size):
    array = np.random.default_rng(0).normal(size=(size, size, 3))
    assert str(statistics_of(array.T)).replace(f"3,{size},{size}", f"{size},{size},3") == str(
        statistics_of(array)
    )


def test_an_array_at_the_place_of_one_whose_figures_were_read_has_its_own():
    """When figures are read their arrays are let go, and Python may use their ids again."""
    figures = Figures()
    figures.may_wait = True
    array = np.ones(4)
    assert figures.of(array).norm == 2  # read: from here on the id says nothing
    array[:] = 3  # stands for another array with this id
    assert figures.of(array).norm == 6


@pytest.mark.parametrize("seed", range(20))
def test_figures_of_an_array_and_of_a_view_that_lies_otherwise_are_equal(seed):
    array = np.random.default_rng(seed).normal(size=(20, 16, 16)).astype("float32")
    lies_otherwise = np.ascontiguousarray(array.transpose(1, 0, 2)).transpose(1, 0, 2)
    one, other = statistics_of(array), statistics_of(lies_otherwise)
    assert one == other
    assert hash(one) == hash(other)


@pytest.mark.parametrize("place", [0, 77])
@pytest.mark.parametrize("change", [1e-6, np.nan, np.inf])
def test_figures_of_other_numbers_are_not_equal(place, change):
    array = np.linspace(-1, 2, 100)
    changed = array.copy()
    changed[place] += change
    assert statistics_of(array) != statistics_of(changed)
    assert statistics_of(array) != statistics_of(array.astype("float32"))
    assert statistics_of(array) != "f64[100]"
