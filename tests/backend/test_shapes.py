import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerascope import backend as K
from kerascope.backend.shapes import (
    as_shape,
    broadcast_shapes,
    concatenated_shape,
    merge_shapes,
    normalize_axes,
    normalize_axis,
    product,
    reduced_shape,
    reshaped_shape,
)
from kerascope.errors import ArgumentError, ShapeError

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@given(shapes, shapes)
def test_known_shapes_broadcast_as_in_numpy(a, b):
    try:
        expected = np.broadcast_shapes(a, b)
    except ValueError:
        with pytest.raises(ShapeError, match="do not fit"):
            broadcast_shapes(a, b)
        return
    assert broadcast_shapes(a, b) == expected


@given(st.data())
def test_unknown_sizes_promise_nothing_wrong(data):
    """Whatever the unknown sizes turn out to be, the inferred shape agrees with NumPy's."""
    a, b = data.draw(shapes), data.draw(shapes)
    try:
        actual = np.broadcast_shapes(a, b)
    except ValueError:
        return
    hide = [[None if data.draw(st.booleans()) else n for n in shape] for shape in (a, b)]
    inferred = broadcast_shapes(*map(tuple, hide))
    assert len(inferred) == len(actual)
    for known, size in zip(inferred, actual, strict=True):
        assert known in (None, size)


@given(shapes, st.data())
def test_reshape_agrees_with_numpy(shape, data):
    target = data.draw(st.lists(st.integers(-1, 6), max_size=3).map(tuple))
    if target.count(-1) > 1:
        return
    try:
        expected = np.empty(shape).reshape(target).shape
    except ValueError:
        with pytest.raises(ShapeError, match="expected a target shape"):
            reshaped_shape(shape, target)
        return
    assert reshaped_shape(shape, target) == expected


@given(shapes, st.data())
def test_reduction_agrees_with_numpy(shape, data):
    axes = data.draw(st.sets(st.integers(0, len(shape) - 1))) if shape else set()
    for keepdims in (False, True):
        expected = np.ones(shape).sum(axis=tuple(axes), keepdims=keepdims).shape
        assert reduced_shape(shape, tuple(axes), keepdims=keepdims) == expected


def test_an_unknown_size_against_a_known_one():
    assert broadcast_shapes((None,), (5,)) == (5,)
    assert broadcast_shapes((None,), (1,)) == (None,)
    assert broadcast_shapes((None, 3), (None, 1)) == (None, 3)


def test_misfit_names_both_shapes_and_the_axis():
    with pytest.raises(ShapeError, match=r"add: shapes \(2, 3\) and \(4, 3\).*axis -2.*2 and 4"):
        K.placeholder((2, 3)) + K.placeholder((4, 3))


def test_concatenation_adds_along_the_axis_and_merges_the_rest():
    assert concatenated_shape([(None, 3), (2, 4)], 1, "here") == (2, 7)
    assert concatenated_shape([(2, None), (2, 4)], 1, "here") == (2, None)
    with pytest.raises(ShapeError, match="here: shapes"):
        concatenated_shape([(2, 3), (3, 3)], 1, "here")


def test_merging_two_descriptions_of_one_shape():
    assert merge_shapes((None, 3), (2, None)) == (2, 3)
    assert merge_shapes((2,), (3,)) is None
    assert merge_shapes((2,), (2, 1)) is None


def test_axes_count_from_either_end():
    assert normalize_axis(-1, 3) == 2
    assert normalize_axes(None, 3, "sum") == (0, 1, 2)
    assert normalize_axes([-1, 0, 2], 3, "sum") == (0, 2)
    with pytest.raises(
        ArgumentError, match="sum: expected axis -3 to 2 in a tensor of 3 axes, got 3"
    ):
        normalize_axes(3, 3, "sum")


def test_product_of_an_unknown_size_is_unknown():
    assert product(()) == 1
    assert product((2, 3)) == 6
    assert product((2, None)) is None


def test_sizes_come_as_ints_of_any_kind():
    assert as_shape([np.int64(2), None]) == (2, None)
    assert as_shape(5) == (5,)
    assert all(type(n) is int for n in as_shape(np.array([2, 3])))


def test_reshape_of_unknown_sizes():
    assert reshaped_shape((None, 6), (-1, 3)) == (None, 3)
    assert reshaped_shape((None, 6), (2, 3)) == (2, 3)
    assert reshaped_shape((0, 3), (-1, 3)) == (0, 3)


def test_tensors_of_different_ranks_are_not_joined():
    with pytest.raises(
        ShapeError, match=r"expected 2 axes in each tensor, got 1.* \(2, 3\), \(2,\)"
    ):
        K.concatenate([K.ones((2, 3)), K.ones((2,))])


@pytest.mark.parametrize("axis", ["a", 1.5j, (0, 1), 5])
def test_what_is_no_axis_is_named(axis):
    for function in (K.argmax, K.cumsum, K.squeeze, K.softmax, K.expand_dims):
        with pytest.raises(ArgumentError, match="expected axis .* to .*, got"):
            function(K.ones((2, 3)), axis)


def test_a_single_number_has_no_rows_and_no_channels():
    x, number = K.ones((2, 3)), K.variable(1.0)
    for function in (
        lambda: K.batch_flatten(number),
        lambda: K.gather(number, [0]),
        lambda: K.local_conv1d(x, number, 2, 1),
        lambda: K.normalize_batch_in_training(x, number, None, [1]),
    ):
        with pytest.raises(ShapeError):
            function()
