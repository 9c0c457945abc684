"""K's functions of convolution: layouts, unknown sizes, transposed and separable ones, mistakes."""

import numpy as np
import pytest
import reference_convolution as reference

from kerascope import backend as K
from kerascope.backend.ops import convolution_kernels as arrays
from kerascope.backend.ops.convolution import ConvolutionKernelGradient, Convolve, ConvolveBack
from kerascope.backend.ops.convolution_kernels import is_pointwise
from kerascope.errors import ShapeError

rng = np.random.default_rng(3)


def floats(*shape):
    return rng.normal(size=shape)


def value(function, *inputs, **arguments):
    """Call a K function on arrays of float64, fed through placeholders of unknown sizes."""
    tensors = [
        K.placeholder((None,) * (x.ndim - 1) + x.shape[-1:], dtype="float64") for x in inputs
    ]
    return K.function(tensors, function(*tensors, **arguments))(list(inputs))


def to_first(x):
    """Return an array with its channels first."""
    return np.moveaxis(x, -1, 1)


@pytest.mark.parametrize(
    ("function", "x", "kernel", "arguments"),
    [
        (K.conv1d, (2, 7, 3), (3, 3, 2), {"strides": 2, "padding": "same"}),
        (K.conv1d, (2, 7, 3), (3, 3, 2), {"padding": "causal", "dilation_rate": 2}),
        (K.conv2d, (2, 5, 6, 3), (3, 2, 3, 4), {"strides": (2, 1), "padding": "same"}),
        (K.conv2d, (2, 5, 6, 3), (3, 2, 3, 4), {"dilation_rate": (2, 1)}),
        (K.conv2d, (2, 5, 6, 4), (3, 2, 2, 4), {"groups": 2}),
        (K.conv3d, (1, 3, 4, 3, 2), (2, 2, 2, 2, 3), {"padding": "full"}),
    ],
)
def test_convolution_agrees_with_plain_loops_in_both_layouts(function, x, kernel, arguments):
    x, kernel = floats(*x), floats(*kernel)
    axes = x.ndim - 2

    def each(argument):
        number = arguments.get(argument, 1)
        return number if isinstance(number, tuple) else (number,) * axes

    expected = reference.convolve(
        x,
        kernel,
        each("strides"),
        arguments.get("padding", "valid"),
        each("dilation_rate"),
        arguments.get("groups", 1),
    )
    last = value(function, x, kernel, data_format="channels_last", **arguments)
    np.testing.assert_allclose(last, expected, rtol=1e-12, atol=1e-12)
    tensors = [K.placeholder(to_first(x).shape, dtype="float64"), K.constant(kernel, "float64")]
    first = function(*tensors, data_format="channels_first", **arguments)
    assert first.shape == to_first(expected).shape
    first = K.function(tensors[:1], first)([to_first(x)])
    np.testing.assert_allclose(first, to_first(expected), rtol=1e-12, atol=1e-12)


def test_layout_of_the_settings_counts():
    x, kernel = K.placeholder((None, 3, 8, 9)), K.placeholder((3, 3, 3, 5))
    before = K.image_data_format()
    K.set_image_data_format("channels_first")
    try:
        assert K.conv2d(x, kernel).shape == (None, 5, 6, 7)
    finally:
        K.set_image_data_format(before)


def test_unknown_sizes_stay_unknown():
    x = K.placeholder((None, None, 9, 3))
    assert K.conv2d(x, K.placeholder((3, 3, 3, 5))).shape == (None, None, 7, 5)
    assert K.conv2d(x, K.placeholder((3, None, 3, 5))).shape == (None, None, None, 5)


def test_whole_numbers_are_taken_as_floats():
    x = K.constant(np.arange(6).reshape(1, 6, 1), "int32")
    result = K.eval(K.conv1d(x, K.constant(np.ones((2, 1, 1)))))
    assert result.dtype == np.float32
    assert result[0, :, 0].tolist() == [1, 3, 5, 7, 9]


def test_no_samples_give_no_results():
    x, kernel = K.placeholder((None, 5, 5, 1)), K.placeholder((3, 3, 1, 2))
    y = K.conv2d(x, kernel)
    f = K.function([x, kernel], [y, *K.gradients(K.sum(y), [x, kernel])])
    shapes = [a.shape for a in f([np.zeros((0, 5, 5, 1)), np.ones((3, 3, 1, 2))])]
    assert shapes == [(0, 3, 3, 2), (0, 5, 5, 1), (3, 3, 1, 2)]


# --- large inputs go block by block, small and large kernels by different ways --------------------


@pytest.mark.parametrize(
    ("x", "kernel", "groups"),
    [
        ((3, 9, 8, 16), (3, 3, 16, 5), 1),  # back through grids, in stripes
        ((3, 9, 8, 128), (3, 3, 128, 9), 1),  # back through grids, place by place
        ((3, 9, 8, 3), (3, 3, 3, 5), 1),  # back by scattering: few channels
        ((3, 9, 8, 6), (3, 3, 2, 6), 3),
        ((3, 9, 8, 6), (3, 3, 1, 12), 6),
    ],
)
@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("block_bytes", [1, 5000, 20000])
def test_blocks_of_any_size_give_the_same(monkeypatch, x, kernel, groups, padding, block_bytes):
    how = ((1, 1), padding, (1, 2), groups)
    x, kernel = floats(*x), floats(*kernel)
    whole = Convolve(*how).perform(x, kernel)
    g = floats(*whole.shape)
    calls = [
        (Convolve(*how), (x, kernel)),
        (ConvolveBack(*how), (g, kernel, np.array(x.shape))),
        (ConvolutionKernelGradient(*how), (x, g, np.array(kernel.shape))),
    ]
    expected = [op.perform(*inputs) for op, inputs in calls]
    monkeypatch.setattr(arrays, "BLOCK_BYTES", block_bytes)
    monkeypatch.setattr(arrays, "LEAST_PLACES", 1)
    for (op, inputs), result in zip(calls, expected, strict=True):
        np.testing.assert_allclose(op.perform(*inputs), result, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("channels", [3, 16])
@pytest.mark.parametrize("padding", ["valid", "same", "causal", "full"])
def test_both_ways_back_agree_with_plain_loops(padding, channels):
    how = ((1, 1), padding, (1, 1), 1)
    x_shape, kernel = (1, 4, 5, channels), floats(2, 3, channels, 2)
    _, shape = reference.products(x_shape, kernel.shape, *how)
    g = floats(*shape)
    result = ConvolveBack(*how).perform(g, kernel, np.array(x_shape))
    expected = reference.convolve_back(g, kernel, x_shape, *how)
    np.testing.assert_allclose(result, expected, rtol=1e-12, atol=1e-12)


def test_convolution_of_size_1_makes_no_columns():
    plan = arrays.plan((6, 5), (1, 1), (1, 1), "same", (1, 1))
    assert is_pointwise(plan)
    assert not is_pointwise(arrays.plan((6, 5), (1, 1), (2, 1), "same", (1, 1)))
    assert not is_pointwise(arrays.plan((6, 5), (2, 1), (1, 1), "same", (1, 1)))


# --- transposed -----------------------------------------------------------------------------------


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize(
    ("strides", "padding", "dilation", "sizes"),
    [
        ((2, 2), "same", (1, 1), (6, 8)),
        ((2, 3), "same", (1, 1), (5, 10)),
        ((1, 2), "valid", (1, 1), (5, 9)),
        ((1, 1), "valid", (2, 1), (7, 6)),
    ],
)
def test_transposed_convolution_is_the_way_back(strides, padding, dilation, sizes, data_format):
    kernel, x = floats(3, 3, 2, 4), floats(2, 3, 4, 4)
    expected = reference.convolve_back(x, kernel, (2, *sizes, 2), strides, padding, dilation, 1)
    turn = to_first if data_format == "channels_first" else np.asarray
    shape = (2, 2, *sizes) if data_format == "channels_first" else (2, *sizes, 2)
    for output_shape in (shape, (None, *shape[1:]), K.constant(shape, "int32")):
        tensor = K.placeholder((None, *turn(x).shape[1:]), dtype="float64")
        y = K.conv2d_transpose(
            tensor,
            K.constant(kernel, "float64"),
            output_shape,
            strides,
            padding,
            data_format,
            dilation,
        )
        assert y.shape[1:] == shape[1:]
        result = K.function([tensor], y)([turn(x)])
        np.testing.assert_allclose(result, turn(expected), rtol=1e-12, atol=1e-12)


def test_output_shape_may_hold_tensors():
    x, like = K.placeholder((None, None, None, 4)), K.placeholder((None, None, 8, 2))
    kernel = K.placeholder((3, 3, 2, 4))
    shape = (K.shape(x)[0], K.shape(like)[1], 8, 2)
    y = K.conv2d_transpose(x, kernel, shape, strides=2, padding="same")
    assert y.shape == (None, None, 8, 2)
    f = K.function([x, like, kernel], y)
    arrays_ = [np.ones((5, 3, 4, 4)), np.ones((5, 6, 8, 2)), np.ones((3, 3, 2, 4))]
    assert f(arrays_).shape == (5, 6, 8, 2)
    with pytest.raises(ValueError, match=r"for an output of shape \(5, 7, 8, 2\)"):
        f([arrays_[0], np.ones((5, 7, 8, 2)), arrays_[2]])
    whole = K.conv2d_transpose(x, kernel, K.shape(like), strides=2, padding="same")
    assert whole.shape == (None, None, 8, 2)


def test_transposed_convolution_along_one_and_three_axes():
    x, kernel = floats(2, 4, 3), floats(3, 2, 3)
    one = value(K.conv1d_transpose, x, kernel, output_shape=(None, 9, 2), strides=2)
    expected = reference.convolve_back(x, kernel, (2, 9, 2), (2,), "valid", (1,), 1)
    np.testing.assert_allclose(one, expected, rtol=1e-12, atol=1e-12)
    x, kernel = floats(1, 2, 3, 2, 3), floats(2, 2, 1, 2, 3)
    three = value(K.conv3d_transpose, x, kernel, output_shape=(None, 3, 4, 2, 2))
    expected = reference.convolve_back(x, kernel, (1, 3, 4, 2, 2), (1, 1, 1), "valid", (1, 1, 1), 1)
    np.testing.assert_allclose(three, expected, rtol=1e-12, atol=1e-12)


# --- depthwise and separable ----------------------------------------------------------------------


def by_hand(x, kernel, mix=None):
    """Convolve each channel with each of its filters, then mix the results."""
    axes = x.ndim - 2
    how = ((1,) * axes, "same", (1,) * axes, 1)
    parts = [
        reference.convolve(x[..., c : c + 1], kernel[..., c : c + 1, m : m + 1], *how)
        for c in range(kernel.shape[-2])
        for m in range(kernel.shape[-1])
    ]
    apart = np.concatenate(parts, axis=-1)
    return apart if mix is None else apart @ mix.reshape(mix.shape[-2:])


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("multiplier", [1, 2])
@pytest.mark.parametrize("axes", [1, 2])
def test_depthwise_and_separable_convolutions_treat_each_channel_by_itself(
    axes, multiplier, data_format
):
    x, kernel = floats(2, *(5, 4)[:axes], 3), floats(*(3, 2)[:axes], 3, multiplier)
    mix = floats(*(1,) * axes, 3 * multiplier, 4)
    turn = to_first if data_format == "channels_first" else np.asarray
    layout = {"padding": "same", "data_format": data_format}
    tensors = [K.constant(turn(x), "float64"), K.constant(kernel, "float64")]
    depthwise = {1: K.depthwise_conv1d, 2: K.depthwise_conv2d}[axes](*tensors, **layout)
    separable = {1: K.separable_conv1d, 2: K.separable_conv2d}[axes](
        *tensors, K.constant(mix, "float64"), **layout
    )
    for result, expected in ((depthwise, by_hand(x, kernel)), (separable, by_hand(x, kernel, mix))):
        assert result.shape == turn(expected).shape
        np.testing.assert_allclose(K.eval(result), turn(expected), rtol=1e-12, atol=1e-12)


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: K.conv2d(K.placeholder((None, 28, 28)), K.placeholder((3, 3, 1, 2))),
            r"K\.conv2d: expected x with 4 axes .* got \(None, 28, 28\)",
        ),
        (
            lambda: K.conv1d(K.placeholder((None, 28, 2)), K.placeholder((3, 3, 1, 2))),
            r"K\.conv1d: expected kernel with 3 axes",
        ),
        (
            lambda: K.conv2d(K.placeholder((None, 2, 8, 1)), K.placeholder((3, 3, 1, 2))),
            "the kernel is larger than the input",
        ),
        (
            lambda: K.conv2d(K.placeholder((None, 3, 8, 8)), K.placeholder((3, 3, 3, 2))),
            "the kernel expected 3 channels, got 8. Check data_format",
        ),
        (
            lambda: K.conv1d(K.placeholder((None, 8, 4)), K.placeholder((3, 2, 3)), groups=2),
            "a multiple of 2 filters, because there are 2 groups, got 3",
        ),
        (
            lambda: K.conv1d(K.placeholder((None, 8, 4)), K.placeholder((3, 4, 3)), padding="smae"),
            "K.conv1d: unknown padding 'smae'. Use one of",
        ),
        (
            lambda: K.conv2d(
                K.placeholder((None, 8, 8, 1)), K.placeholder((3, 3, 1, 2)), (1, 2, 3)
            ),
            r"K\.conv2d: strides: expected a whole number above 0 or 2 of them, got \(1, 2, 3\)",
        ),
        (
            lambda: K.conv2d(
                K.placeholder((None, 8, 8, 1)), K.placeholder((3, 3, 1, 2)), data_format="last"
            ),
            "expected 'channels_last' or 'channels_first'",
        ),
        (
            lambda: K.conv2d_transpose(
                K.placeholder((None, 8, 8, 1)), K.placeholder((3, 3, 2, 1)), (16, 16, 2)
            ),
            r"output_shape of 4 sizes, as x has, got \(16, 16, 2\)",
        ),
        (
            lambda: K.conv2d_transpose(
                K.placeholder((None, 8, 8, 1)), K.placeholder((3, 3, 2, 1)), (None, 16, 16, 2)
            ),
            "Check output_shape, strides and padding",
        ),
        (
            lambda: K.depthwise_conv2d(
                K.placeholder((None, 8, 8, 2)), K.placeholder((3, 3, None, 2))
            ),
            r"K\.depthwise_conv2d: expected a kernel of known sizes",
        ),
        (
            lambda: K.separable_conv2d(
                K.placeholder((None, 8, 8, 2)),
                K.placeholder((3, 3, 2, 1)),
                K.placeholder((3, 3, 2, 4)),
            ),
            "of size 1 along each axis",
        ),
    ],
)
def test_a_mistake_is_answered(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_kernel_larger_than_the_input_is_found_at_run_time_too():
    x, kernel = K.placeholder((None, None, 1)), K.placeholder((3, 1, 2))
    f = K.function([x, kernel], K.conv1d(x, kernel))
    with pytest.raises(ValueError, match="a kernel of sizes"):
        f([np.ones((1, 2, 1)), np.ones((3, 1, 2))])


def test_a_depthwise_convolution_of_no_images_has_gradients_too():
    x, kernel = K.placeholder((None, 5, 6, 4)), K.placeholder((3, 2, 4, 1))
    y = K.depthwise_conv2d(x, kernel, padding="same")
    f = K.function([x, kernel], [y, *K.gradients(K.sum(y), [x, kernel])])
    shapes = [array.shape for array in f([np.ones((0, 5, 6, 4)), np.ones((3, 2, 4, 1))])]
    assert shapes == [(0, 5, 6, 4), (0, 5, 6, 4), (3, 2, 4, 1)]


@pytest.mark.parametrize("padding", ["same", "causal", "full"])
def test_an_input_without_places_is_refused_in_words(padding):
    x = K.placeholder((None, None, 1))
    f = K.function([x], [K.conv1d(x, K.ones((3, 1, 2)), padding=padding)])
    with pytest.raises(ShapeError, match=r"expected an input of at least size 1"):
        f([np.ones((2, 0, 1))])


def test_a_transposed_convolution_must_know_its_sizes():
    x, kernel = K.ones((1, 4, 4, 3)), K.ones((2, 2, 4, 3))
    with pytest.raises(ShapeError, match="only the batch may be None"):
        K.conv2d_transpose(x, kernel, (None, None, 5, 4))
