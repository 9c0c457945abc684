"""The functions of K for pooling, padding, resizing and local connections."""

import numpy as np
import pytest
import reference_pooling as reference

from kerascope import backend as K
from kerascope.backend.ops.convolution import Patches
from kerascope.backend.ops.pooling import AveragePool, MaxPool
from kerascope.errors import ArgumentError, ShapeError
from kerascope.layers import Cropping2D, ZeroPadding2D

rng = np.random.default_rng(3)


def floats(*shape):
    return rng.normal(size=shape)


def value(tensor):
    return K.eval(tensor)


# --- pooling --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["max", "avg"])
@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(
    ("pool", "shape", "size", "strides"),
    [
        (K.pool1d, (2, 7, 3), 3, 2),
        (K.pool2d, (2, 5, 6, 3), (2, 3), (3, 1)),
        (K.pool3d, (1, 3, 4, 5, 2), (2, 1, 3), 2),
    ],
)
def test_pooling_agrees_with_loops_in_both_layouts(pool, shape, size, strides, padding, mode):
    x = floats(*shape)
    axes = len(shape) - 2
    sizes = (size,) if isinstance(size, int) else size
    steps = (strides,) * axes if isinstance(strides, int) else strides
    op = (MaxPool if mode == "max" else AveragePool)(sizes, steps, padding, 1)
    loops = reference.max_pool if mode == "max" else reference.average_pool
    expected = loops(x, op)
    result = pool(K.constant(x, "float64"), size, strides, padding, "channels_last", mode)
    np.testing.assert_allclose(value(result), expected, rtol=1e-12)
    assert result.shape == expected.shape
    turned = np.moveaxis(x, -1, 1)
    result = pool(K.constant(turned, "float64"), size, strides, padding, "channels_first", mode)
    np.testing.assert_allclose(value(result), np.moveaxis(expected, -1, 1), rtol=1e-12)


def test_strides_left_out_are_those_of_keras_and_none_is_the_size_of_the_window():
    x = K.ones((1, 6, 6, 1))
    assert K.pool2d(x, (2, 2)).shape == (1, 5, 5, 1)
    assert K.pool2d(x, (2, 2), None).shape == (1, 3, 3, 1)


def test_sizes_may_be_unknown():
    x = K.placeholder((None, None, 6, 2))
    y = K.pool2d(x, (3, 3), (2, 2), "same")
    assert y.shape == (None, None, 3, 2)
    data = floats(2, 5, 6, 2).astype("float32")
    assert K.function([x], [y])([data])[0].shape == (2, 3, 3, 2)


def test_a_batch_of_nothing_stays_one():
    x = K.placeholder((None, 4, 4, 1))
    outputs = [K.pool2d(x, 2, None, "valid", None, mode) for mode in ("max", "avg")]
    outputs += K.gradients(K.sum(outputs[0]) + K.sum(outputs[1]), [x])
    shapes = [y.shape for y in K.function([x], outputs)([np.zeros((0, 4, 4, 1))])]
    assert shapes == [(0, 2, 2, 1), (0, 2, 2, 1), (0, 4, 4, 1)]


def test_an_image_without_rows_has_no_windows():
    x = K.placeholder((None, None, 4, 1))
    outputs = [K.pool2d(x, 2, None, "same", None, mode) for mode in ("max", "avg")]
    outputs += K.gradients(K.sum(outputs[0]) + K.sum(outputs[1]), [x])
    shapes = [y.shape for y in K.function([x], outputs)([np.zeros((2, 0, 4, 1))])]
    assert shapes == [(2, 0, 2, 1), (2, 0, 2, 1), (2, 0, 4, 1)]


def test_gradient_of_equal_maxima_goes_to_the_first_row_by_row():
    x = K.placeholder((1, 2, 3, 1))
    g = K.gradients(K.sum(K.pool2d(x, (2, 3))), x)[0]
    image = np.array([[1.0, 5.0, 5.0], [5.0, 2.0, 5.0]]).reshape(1, 2, 3, 1)
    result = K.function([x], [g])([image])[0]
    assert result[0, :, :, 0].tolist() == [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]


def test_gradient_of_a_mean_at_the_edge_counts_only_the_cells_inside():
    x = K.placeholder((1, 3, 1))
    y = K.pool1d(x, 2, None, "same", pool_mode="avg")
    result = K.function([x], [y, K.gradients(K.sum(y), x)[0]])([np.array([[[1.0], [3.0], [7.0]]])])
    assert result[0].ravel().tolist() == [2.0, 7.0]
    assert result[1].ravel().tolist() == [0.5, 0.5, 1.0]


@pytest.mark.parametrize("mode", ["max", "avg"])
def test_second_derivatives_agree_with_finite_differences(mode):
    K.set_floatx("float64")
    try:
        x = K.placeholder((1, 4, 4, 1))
        loss = K.sum(K.pool2d(x, (3, 3), (1, 1), "same", pool_mode=mode) ** 3)
        first = K.gradients(loss, x)[0]
        direction = floats(1, 4, 4, 1)
        second = K.gradients(K.sum(first * direction), x)[0]
        compute = K.function([x], [first, second])
        point, step = floats(1, 4, 4, 1), 1e-6
        ahead, behind = (compute([point + s * direction])[0] for s in (step, -step))
        numeric = (ahead - behind) / (2 * step)
        np.testing.assert_allclose(compute([point])[1], numeric, rtol=1e-5, atol=1e-5)
    finally:
        K.set_floatx("float32")


def test_whole_numbers_are_pooled_as_floats():
    y = K.pool2d(K.constant(np.arange(16).reshape(1, 4, 4, 1), "int32"), 2, None, pool_mode="avg")
    assert y.dtype == "float32"
    assert value(y).ravel().tolist() == [2.5, 4.5, 10.5, 12.5]


def test_not_a_number_is_passed_on_by_the_windows_that_have_it():
    x = np.zeros((1, 4, 1))
    x[0, 1] = np.nan
    for mode in ("max", "avg"):
        result = value(K.pool1d(K.constant(x), 2, None, pool_mode=mode)).ravel()
        assert np.isnan(result).tolist() == [True, False]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda x: K.pool2d(x, (5, 2)),
            ShapeError,
            "at most 4 .* got 5 .* smaller",
        ),
        (lambda x: K.pool2d(x, (2, 2, 2)), ArgumentError, "K.pool2d: pool_size: .*got"),
        (lambda x: K.pool2d(x, 2, 0), ArgumentError, "K.pool2d: strides: .*got 0"),
        (lambda x: K.pool2d(x, 2, 1, "full"), ArgumentError, "'valid', 'same'"),
        (lambda x: K.pool2d(x, 2, pool_mode="mean"), ArgumentError, "'max' or 'avg'"),
        (lambda x: K.pool1d(x, 2), ShapeError, "K.pool1d: expected x with 3 axes"),
        (lambda x: K.pool3d(x, 2), ShapeError, "K.pool3d: expected x with 5 axes"),
    ],
)
def test_what_cannot_be_pooled_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(K.ones((1, 4, 4, 1)))


def test_a_window_that_turns_out_too_large_in_the_run_is_refused():
    x = K.placeholder((None, None, None, 1))
    compute = K.function([x], [K.pool2d(x, (3, 3))])
    with pytest.raises(ShapeError, match="at most 2 .* got 3"):
        compute([np.ones((1, 2, 5, 1))])


@pytest.mark.parametrize("mode", ["max", "avg"])
def test_a_gradient_whose_windows_turn_out_too_large_says_which_and_of_what(mode):
    x = K.placeholder((None, None, None, 1))
    y = K.pool2d(x, (3, 2), pool_mode=mode)
    # What was pooled is fed, so it is the gradient that meets the input first.
    compute = K.function([x, y], K.gradients(K.sum(K.square(y)), [x]))
    words = r"^pooling: expected a window of at most 2 .* \(1, 2, 5, 1\), got 3 in window \(3, 2\)"
    for _ in range(3):
        with pytest.raises(ShapeError, match=words):
            compute([np.ones((1, 2, 5, 1)), np.ones((1, 1, 4, 1))])


# --- padding --------------------------------------------------------------------------------------


def test_padding_puts_zeros_around_and_its_gradient_takes_them_away():
    x = K.placeholder((None, 2, 3, 1))
    y = K.spatial_2d_padding(x, ((1, 0), (0, 2)))
    assert y.shape == (None, 3, 5, 1)
    factors = floats(1, 3, 5, 1)
    gradient = K.gradients(K.sum(y * factors), x)[0]
    data = floats(1, 2, 3, 1).astype("float32")
    padded, g = K.function([x], [y, gradient])([data])
    np.testing.assert_array_equal(padded, np.pad(data, ((0, 0), (1, 0), (0, 2), (0, 0))))
    np.testing.assert_array_equal(g, factors[:, 1:, :3].astype("float32"))


@pytest.mark.parametrize(
    ("pad", "shape", "first", "last"),
    [
        (lambda x, f: K.temporal_padding(x, (2, 0)), (1, 2, 3), None, (1, 4, 3)),
        (K.spatial_2d_padding, (1, 2, 2, 2), (1, 2, 4, 4), (1, 4, 4, 2)),
        (K.spatial_3d_padding, (1, 2, 2, 2, 2), (1, 2, 4, 4, 4), (1, 4, 4, 4, 2)),
    ],
)
def test_padding_leaves_batch_and_channels_alone(pad, shape, first, last):
    def padded(data_format):
        if pad in (K.spatial_2d_padding, K.spatial_3d_padding):
            return pad(K.ones(shape), data_format=data_format).shape
        return pad(K.ones(shape), data_format).shape

    assert padded("channels_last") == last
    assert first is None or padded("channels_first") == first


@pytest.mark.parametrize("padding", [(1, 1), ((1, 1), (1, -1)), ((1, 1), (1, 2, 3)), "ab", 1])
def test_padding_of_another_form_is_refused(padding):
    with pytest.raises(
        ArgumentError, match="K.spatial_2d_padding: expected padding .*before, after"
    ):
        K.spatial_2d_padding(K.ones((1, 2, 2, 1)), padding)


def test_padding_for_another_number_of_axes_is_refused():
    with pytest.raises(ShapeError, match="expected a pair of padding for each axis"):
        K.spatial_2d_padding(K.ones((1, 2, 2, 1)), ((1, 1),))


# --- resizing -------------------------------------------------------------------------------------


def test_nearest_repeats_in_both_layouts():
    x = floats(2, 2, 3, 1).astype("float32")
    expected = x.repeat(2, axis=1).repeat(3, axis=2)
    result = K.resize_images(K.constant(x), 2, 3, "channels_last")
    np.testing.assert_array_equal(value(result), expected)
    turned = K.constant(np.moveaxis(x, -1, 1))
    result = K.resize_images(turned, 2, 3, "channels_first")
    np.testing.assert_array_equal(value(result), np.moveaxis(expected, -1, 1))


def test_bilinear_is_exact_on_a_plane_inside_the_edges():
    rows, columns = np.mgrid[0:4, 0:5].astype("float32")
    x = (3 * rows - 2 * columns)[None, :, :, None]
    result = value(K.resize_images(K.constant(x), 2, 4, "channels_last", "bilinear"))
    rows, columns = np.mgrid[0:8, 0:20].astype("float32")
    expected = 3 * ((rows + 0.5) / 2 - 0.5) - 2 * ((columns + 0.5) / 4 - 0.5)
    np.testing.assert_allclose(result[0, 1:-1, 2:-2, 0], expected[1:-1, 2:-2], atol=1e-5)
    assert result.min() == x.min()
    assert result.max() == x.max()


def test_volumes_are_repeated_along_three_axes():
    x = floats(1, 2, 1, 3, 2).astype("float32")
    result = value(K.resize_volumes(K.constant(x), 2, 3, 1, "channels_last"))
    np.testing.assert_array_equal(result, x.repeat(2, axis=1).repeat(3, axis=2))


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_factors_of_one_return_the_same_numbers(interpolation):
    x = floats(1, 2, 2, 1).astype("float32")
    result = K.resize_images(K.constant(x), 1, 1, "channels_last", interpolation)
    np.testing.assert_array_equal(value(result), x)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.5, 2, "channels_last"), "whole number"),
        ((2, 2, "sideways"), "channels_last"),
        ((2, 2, "channels_last", "cubic"), "'nearest' or 'bilinear'"),
    ],
)
def test_other_factors_and_ways_are_refused(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        K.resize_images(K.ones((1, 2, 2, 1)), *arguments)


def test_another_number_of_axes_is_refused():
    with pytest.raises(ShapeError, match="K.resize_volumes: expected 5 axes"):
        K.resize_volumes(K.ones((1, 2, 2, 1)), 2, 2, 2, "channels_last")


# --- local connections ----------------------------------------------------------------------------


def in_channels_first_order(kernel, cells, channels):
    """Return a kernel whose middle axis counts channel by channel instead of cell by cell."""
    windows, _, filters = kernel.shape
    parts = kernel.reshape(windows, cells, channels, filters)
    return parts.transpose(0, 2, 1, 3).reshape(kernel.shape)


@pytest.mark.parametrize(("size", "strides", "windows"), [(2, 1, 4), (3, 2, 2), (1, 4, 2)])
def test_local_conv1d_agrees_with_loops(size, strides, windows):
    x, kernel = floats(2, 5, 3), floats(windows, size * 3, 4)
    expected = reference.local(x, kernel, (size,), (strides,))
    result = K.local_conv1d(x, kernel, size, strides, "channels_last")
    np.testing.assert_allclose(value(result), expected, rtol=1e-4, atol=1e-5)
    turned = in_channels_first_order(kernel, size, 3)
    result = K.local_conv1d(np.moveaxis(x, -1, 1), turned, (size,), (strides,), "channels_first")
    np.testing.assert_allclose(value(result), np.moveaxis(expected, -1, 1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("size", "strides", "windows"), [((2, 2), (1, 1), (3, 4)), ((3, 1), (1, 2), (2, 3))]
)
def test_local_conv2d_agrees_with_loops(size, strides, windows):
    x, cells = floats(2, 4, 5, 3), size[0] * size[1]
    kernel = floats(windows[0] * windows[1], cells * 3, 2)
    expected = reference.local(x, kernel, size, strides)
    result = K.local_conv2d(x, kernel, size, strides, windows, "channels_last")
    assert result.shape[1:] == (*windows, 2)
    np.testing.assert_allclose(value(result), expected, rtol=1e-4, atol=1e-5)
    turned = in_channels_first_order(kernel, cells, 3)
    image = np.moveaxis(x, -1, 1)
    result = K.local_conv2d(image, turned, size, strides, windows, "channels_first")
    np.testing.assert_allclose(value(result), np.moveaxis(expected, -1, 1), rtol=1e-4, atol=1e-5)


def test_local_connections_take_an_unknown_batch():
    x = K.placeholder((None, 5, 2))
    kernel = K.variable(floats(4, 4, 3))
    y = K.local_conv1d(x, kernel, 2, 1)
    assert y.shape == (None, 4, 3)
    gradients = K.gradients(K.sum(y), [x, kernel])
    results = K.function([x], [y, *gradients])([np.ones((3, 5, 2))])
    assert [r.shape for r in results] == [(3, 4, 3), (3, 5, 2), (4, 4, 3)]


@pytest.mark.parametrize(
    ("shape", "output_shape", "words"),
    [
        ((8, 4, 2), (3, 3), "expected a kernel of shape"),
        ((9, 3, 2), (3, 3), "expected a kernel of shape"),
        ((9, 4, 2), (2, 3), r"output_shape \(3, 3\) .* got \(2, 3\)"),
    ],
)
def test_a_kernel_or_a_number_of_windows_that_does_not_fit_is_refused(shape, output_shape, words):
    x = K.ones((2, 4, 4, 1))
    assert K.local_conv2d(x, K.ones((9, 4, 2)), 2, 1, (3, 3)).shape == (2, 3, 3, 2)
    with pytest.raises(ShapeError, match=f"K.local_conv2d: .*{words}"):
        K.local_conv2d(x, K.ones(shape), 2, 1, output_shape)


def test_patches_and_their_gradient_are_turned_round():
    """<patches(x), y> = <x, sum_patches(y)>."""
    K.set_floatx("float64")
    try:
        x = K.placeholder((2, 4, 5, 2))
        rows = Patches((2, 3), (1, 2))(x)
        other, data = floats(*rows.shape), floats(2, 4, 5, 2)
        product = K.sum(rows * other)
        total, back = K.function([x], [product, K.gradients(product, x)[0]])([data])
        assert float(total) == pytest.approx(float((back * data).sum()))
    finally:
        K.set_floatx("float32")


def test_a_mean_of_halves_does_not_overflow_on_its_way():
    x = K.constant(np.full((1, 4, 4, 1), 30000.0), dtype="float16")
    mean = K.eval(K.pool2d(x, (3, 3), padding="same", pool_mode="avg"))
    assert mean.dtype == "float16"
    np.testing.assert_array_equal(mean, np.full((1, 4, 4, 1), 30000.0))


@pytest.mark.parametrize(
    "padding", [((1.5, 0), (0, 0)), (("1", 0), (0, 0)), ((0, float("inf")),) * 2]
)
def test_zeros_are_counted_in_whole_numbers(padding):
    with pytest.raises(ArgumentError, match="expected padding in pairs"):
        K.spatial_2d_padding(K.ones((1, 2, 2, 1)), padding)
    for layer in (ZeroPadding2D, Cropping2D):
        with pytest.raises(ArgumentError, match="expected a whole number >= 0"):
            layer(padding)
