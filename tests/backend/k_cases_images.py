"""Cases of convolutions, pooling, local connections, resizing and padding, in both layouts."""

from types import SimpleNamespace

import numpy as np
import reference_convolution
import reference_pooling

from kerascope import backend as K
from tests.backend.k_cases import case

LAST, FIRST = "channels_last", "channels_first"


def to_first(x):
    return np.moveaxis(x, -1, 1)


def to_last(x):
    return np.moveaxis(x, 1, -1)


def each(number, axes):
    return tuple(number) if isinstance(number, (tuple, list)) else (int(number),) * axes


def convolved(x, kernel, arguments):
    axes = kernel.ndim - 2
    return reference_convolution.convolve(
        x,
        kernel,
        each(arguments.get("strides", 1), axes),
        arguments.get("padding", "valid"),
        each(arguments.get("dilation_rate", 1), axes),
        arguments.get("groups", 1),
    )


def convolved_apart(x, kernel, arguments):
    """Depthwise: each channel is an image of its own."""
    parts = [
        convolved(x[..., c : c + 1], kernel[..., c : c + 1, :], arguments)
        for c in range(x.shape[-1])
    ]
    return np.concatenate(parts, -1)


def separated(x, kernel, mix, arguments):
    return convolved(convolved_apart(x, kernel, arguments), mix, {})


def images(name, expected, shapes, **arguments):
    """Rows for one way to call a function of images (channels last) and kernels, both layouts."""

    def in_last(x, *kernels):
        return getattr(K, name)(x, *kernels, data_format=LAST, **arguments)

    def in_first(x, *kernels):
        return getattr(K, name)(x, *kernels, data_format=FIRST, **arguments)

    def expected_first(x, *kernels):
        return to_first(expected(to_last(x), *kernels, arguments))

    x, *kernels = shapes
    facts = {"smooth": range(len(shapes)), "fixed": range(1, len(shapes))}
    return [
        case(name, in_last, shapes, lambda *a: expected(*a, arguments), **facts),
        case(name, in_first, [(x[0], x[-1], *x[1:-1]), *kernels], expected_first, **facts),
    ]


ONE, TWO, THREE = (2, 6, 2), (1, 4, 5, 2), (1, 3, 4, 3, 2)
CONVOLUTIONS = [
    *images("conv1d", convolved, [ONE, (3, 2, 2)]),
    *images("conv1d", convolved, [ONE, (3, 2, 2)], padding="same", strides=2),
    *images("conv1d", convolved, [ONE, (2, 2, 2)], padding="causal", dilation_rate=2),
    *images("conv1d", convolved, [ONE, (3, 2, 2)], strides=(2,), dilation_rate=(1,)),
    *images("conv2d", convolved, [TWO, (2, 3, 2, 2)]),
    *images("conv2d", convolved, [TWO, (2, 3, 2, 2)], strides=(2, 1), padding="same"),
    *images("conv2d", convolved, [TWO, (2, 2, 2, 2)], dilation_rate=[2, 2]),
    *images("conv2d", convolved, [TWO, (2, 3, 2, 2)], strides=2),
    *images("conv3d", convolved, [THREE, (2, 2, 2, 2, 2)]),
    *images("conv3d", convolved, [THREE, (2, 2, 2, 2, 2)], strides=(1, 2, 1), padding="same"),
    *images("depthwise_conv1d", convolved_apart, [ONE, (3, 2, 2)], padding="same"),
    *images("depthwise_conv2d", convolved_apart, [TWO, (2, 2, 2, 2)]),
    *images("depthwise_conv2d", convolved_apart, [TWO, (2, 2, 2, 1)], strides=(2, 2),
            padding="same"),
    *images("separable_conv1d", separated, [ONE, (3, 2, 2), (1, 4, 3)], strides=2),
    *images("separable_conv2d", separated, [TWO, (2, 2, 2, 1), (1, 1, 2, 3)], padding="same"),
]  # fmt: skip


def transposed(name, x, kernel, output_shape, **arguments):
    """Rows for a transposed convolution; `output_shape` is channels last."""
    axes = len(x) - 2
    how = (each(arguments.get("strides", 1), axes), arguments.get("padding", "valid"),
           each(arguments.get("dilation_rate", 1), axes), 1)  # fmt: skip

    def expected(x, kernel):
        return reference_convolution.convolve_back(x, kernel, output_shape, *how)

    _, *places, filters = output_shape
    facts = {"smooth": (0, 1), "fixed": (1,)}
    return [
        case(name, lambda x, k: getattr(K, name)(x, k, (None, *places, filters), **arguments),
             [x, kernel], expected, **facts),
        case(name, lambda x, k: getattr(K, name)(x, k, (K.shape(x)[0], filters, *places),
                                                 data_format=FIRST, **arguments),
             [(x[0], x[-1], *x[1:-1]), kernel],
             lambda x, k: to_first(expected(to_last(x), k)), arrays_too=False, **facts),
    ]  # fmt: skip


TRANSPOSED = [
    *transposed("conv1d_transpose", (2, 3, 2), (2, 3, 2), (2, 6, 3), strides=2),
    *transposed("conv2d_transpose", (1, 2, 3, 2), (3, 2, 2, 2), (1, 4, 4, 2)),
    *transposed("conv2d_transpose", (1, 2, 3, 2), (3, 3, 2, 2), (1, 4, 6, 2), strides=(2, 2),
                padding="same"),
    *transposed("conv2d_transpose", (1, 2, 2, 2), (2, 2, 2, 2), (1, 4, 4, 2),
                dilation_rate=(2, 2)),
    *transposed("conv3d_transpose", (1, 2, 2, 2, 1), (2, 2, 2, 2, 1), (1, 3, 3, 3, 2)),
]  # fmt: skip


def pooled(x, *, pool_size, strides, padding, mode):
    axes = x.ndim - 2
    op = SimpleNamespace(axis=1, pool_size=each(pool_size, axes), strides=each(strides, axes),
                         padding=padding)  # fmt: skip
    function = {"max": reference_pooling.max_pool, "avg": reference_pooling.average_pool}[mode]
    return function(x, op)


def pooling(name, shape, pool_size, **arguments):
    told = {
        "pool_size": pool_size,
        "strides": arguments.get("strides", 1) or pool_size,
        "padding": arguments.get("padding", "valid"),
        "mode": arguments.get("pool_mode", "max"),
    }
    first = (shape[0], shape[-1], *shape[1:-1])
    return [
        case(name, lambda x: getattr(K, name)(x, pool_size, **arguments), [shape],
             lambda x: pooled(x, **told)),
        case(name, lambda x: getattr(K, name)(x, pool_size, data_format=FIRST, **arguments),
             [first], lambda x: to_first(pooled(to_last(x), **told))),
    ]  # fmt: skip


POOLING = [
    *pooling("pool1d", (2, 5, 2), 2),
    *pooling("pool1d", (2, 5, 2), 3, strides=2, padding="same", pool_mode="avg"),
    *pooling("pool2d", (1, 4, 5, 2), (2, 2)),
    *pooling("pool2d", (1, 4, 5, 2), (2, 3), strides=(2, 2), padding="same", pool_mode="avg"),
    *pooling("pool2d", (1, 4, 5, 2), (2, 2), strides=None),
    *pooling("pool2d", (1, 4, 5, 2), [3, 2], strides=[1, 2], padding="same"),
    *pooling("pool3d", (1, 3, 4, 3, 1), (2, 2, 2)),
    *pooling("pool3d", (1, 3, 4, 3, 1), (2, 2, 2), strides=(1, 2, 1), padding="same",
             pool_mode="avg"),
]  # fmt: skip


def local_first(name, sizes, strides, **more):
    """With the channels first, a window's numbers count channel by channel."""

    def expected(x, kernel):
        windows, numbers, filters = kernel.shape
        cells = numbers // x.shape[1]
        by_cell = kernel.reshape(windows, x.shape[1], cells, filters).swapaxes(1, 2)
        flat = by_cell.reshape(windows, numbers, filters)
        return to_first(reference_pooling.local(to_last(x), flat, sizes, strides))

    def call(x, kernel):
        return getattr(K, name)(x, kernel, sizes, strides, data_format=FIRST, **more)

    return call, expected


SIDES = {"smooth": (0, 1), "fixed": (1,)}
LOCAL = [
    case("local_conv1d", lambda x, k: K.local_conv1d(x, k, (2,), (1,)), [(2, 4, 2), (3, 4, 3)],
         lambda x, k: reference_pooling.local(x, k, (2,), (1,)), **SIDES),
    case("local_conv1d", lambda x, k: K.local_conv1d(x, k, 2, 2), [(2, 4, 2), (2, 4, 3)],
         lambda x, k: reference_pooling.local(x, k, (2,), (2,)), **SIDES),
    case("local_conv1d", *(lambda pair: (pair[0], [(2, 2, 4), (3, 4, 3)], pair[1]))(
        local_first("local_conv1d", (2,), (1,))), **SIDES),
    case("local_conv2d", lambda x, k: K.local_conv2d(x, k, (2, 2), (1, 2), (2, 2)),
         [(2, 3, 4, 1), (4, 4, 2)], lambda x, k: reference_pooling.local(x, k, (2, 2), (1, 2)),
         **SIDES),
    case("local_conv2d", *(lambda pair: (pair[0], [(2, 2, 3, 3), (4, 8, 2)], pair[1]))(
        local_first("local_conv2d", (2, 2), (1, 1), output_shape=(2, 2))), **SIDES),
]  # fmt: skip


def repeated(x, factors, first_axis):
    for axis, factor in enumerate(factors, start=first_axis):
        x = np.repeat(x, factor, axis)
    return x


def padded(first_axis, *pairs):
    def expected(x):
        every = [(0, 0)] * x.ndim
        every[first_axis : first_axis + len(pairs)] = pairs
        return np.pad(x, every)

    return expected


def bilinear(x):
    return reference_pooling.interpolate(reference_pooling.interpolate(x, 2, 1), 3, 2)


RESIZING = [
    case("resize_images", lambda x: K.resize_images(x, 2, 3, LAST), [(1, 2, 3, 2)],
         lambda x: repeated(x, (2, 3), 1)),
    case("resize_images", lambda x: K.resize_images(x, 1, 2, data_format=FIRST), [(1, 2, 2, 3)],
         lambda x: repeated(x, (1, 2), 2)),
    case("resize_images", lambda x: K.resize_images(x, 2, 3, LAST, interpolation="bilinear"),
         [(1, 2, 3, 2)], bilinear),
    case("resize_images", lambda x: K.resize_images(x, 2, 3, FIRST, "bilinear"),
         [(1, 2, 2, 3)], lambda x: to_first(bilinear(to_last(x)))),
    case("resize_volumes", lambda x: K.resize_volumes(x, 2, 1, 3, LAST), [(1, 2, 2, 1, 2)],
         lambda x: repeated(x, (2, 1, 3), 1)),
    case("resize_volumes", lambda x: K.resize_volumes(x, 1, 2, 2, FIRST), [(1, 2, 2, 1, 2)],
         lambda x: repeated(x, (1, 2, 2), 2)),
    case("temporal_padding", lambda x: K.temporal_padding(x), [(2, 3, 2)], padded(1, (1, 1))),
    case("temporal_padding", lambda x: K.temporal_padding(x, padding=[0, 2]), [(2, 3, 2)],
         padded(1, (0, 2))),
    case("spatial_2d_padding", lambda x: K.spatial_2d_padding(x), [(1, 2, 2, 2)],
         padded(1, (1, 1), (1, 1))),
    case("spatial_2d_padding",
         lambda x: K.spatial_2d_padding(x, padding=((1, 0), (0, 2)), data_format=FIRST),
         [(1, 2, 2, 2)], padded(2, (1, 0), (0, 2))),
    case("spatial_3d_padding", lambda x: K.spatial_3d_padding(x), [(1, 2, 1, 2, 2)],
         padded(1, (1, 1), (1, 1), (1, 1))),
    case("spatial_3d_padding",
         lambda x: K.spatial_3d_padding(x, [[0, 1], [2, 0], [0, 0]], FIRST), [(1, 2, 2, 1, 2)],
         padded(2, (0, 1), (2, 0), (0, 0))),
]  # fmt: skip

CASES = [*CONVOLUTIONS, *TRANSPOSED, *POOLING, *LOCAL, *RESIZING]
