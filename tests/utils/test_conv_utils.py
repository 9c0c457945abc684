"""The arithmetic of convolution sizes, against counting the places one by one."""

from itertools import product

import numpy as np
import pytest

from kerascope.backend.ops.windows import sizes_along_axes, zeros_around
from kerascope.utils import conv_utils
from kerascope.utils.conv_utils import (
    conv_input_length,
    conv_output_length,
    convert_kernel,
    deconv_length,
    normalize_padding,
    normalize_tuple,
)


def counted(size, kernel, padding, stride, dilation):
    """Count the starts of a kernel on an axis with the zeros that `padding` means."""
    covered = (kernel - 1) * dilation + 1
    extra = {"valid": 0, "same": covered - 1, "causal": covered - 1, "full": 2 * (covered - 1)}
    starts = [s for s in range(size + extra[padding]) if s + covered <= size + extra[padding]]
    return len([s for s in starts if s % stride == 0])


@pytest.mark.parametrize("padding", ["valid", "same", "causal", "full"])
def test_output_length_is_the_number_of_places(padding):
    for size, kernel, stride, dilation in product(range(7, 12), (1, 2, 3), (1, 2, 3), (1, 2)):
        expected = counted(size, kernel, padding, stride, dilation)
        assert conv_output_length(size, kernel, padding, stride, dilation) == expected


@pytest.mark.parametrize("padding", ["valid", "same", "causal", "full"])
def test_zeros_around_give_that_length(padding):
    for size, kernel, stride, dilation in product(range(7, 12), (1, 2, 3, 5), (1, 2, 4), (1, 2)):
        before, behind = zeros_around(size, kernel, padding, stride, dilation)
        if padding == "same":
            assert behind - before in (0, 1)  # TensorFlow puts the odd one behind
        covered = (kernel - 1) * dilation + 1
        places = (size + before + behind - covered) // stride + 1
        if size + before + behind >= covered:
            assert places == conv_output_length(size, kernel, padding, stride, dilation)


def test_an_unknown_length_stays_unknown():
    assert conv_output_length(None, 3, "valid", 2) is None
    assert conv_input_length(None, 3, "valid", 2) is None
    assert deconv_length(None, 2, 3, "same", None) is None


def test_input_length_leads_back_to_the_output():
    for output, kernel, stride in product((4, 5), (1, 3, 5), (1, 2, 3)):
        for padding in ("valid", "same", "full"):
            length = conv_input_length(output, kernel, padding, stride)
            assert conv_output_length(length, kernel, padding, stride) == output


@pytest.mark.parametrize("output_padding", [None, 0, 1])
@pytest.mark.parametrize("padding", ["valid", "same"])
def test_convolution_leads_back_from_a_transposed_length(padding, output_padding):
    for size, kernel, stride, dilation in product((4, 7), (1, 3, 5), (2, 3), (1, 2)):
        if stride > 1 and dilation > 1 and padding == "same":
            continue
        longer = deconv_length(size, stride, kernel, padding, output_padding, dilation)
        assert conv_output_length(longer, kernel, padding, stride, dilation) == size


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((14, 2, 3, "same", None), 28),
        ((14, 2, 3, "same", 0), 27),
        ((14, 2, 3, "same", 1), 28),
        ((4, 2, 3, "valid", None), 9),
        ((4, 2, 3, "valid", 1), 10),
        ((4, 3, 2, "valid", None), 12),
        ((6, 1, 3, "full", None), 4),
        ((6, 1, 3, "full", 0), 4),
        ((4, 1, 3, "valid", None, 2), 8),
    ],
)
def test_transposed_lengths_are_those_of_keras(arguments, expected):
    assert deconv_length(*arguments) == expected


def test_tuples_are_filled_up():
    assert normalize_tuple(3, 2, "strides") == (3, 3)
    assert normalize_tuple((1, 2, 3), 3, "strides") == (1, 2, 3)
    assert normalize_tuple(np.int64(2), 1, "strides") == (2,)
    assert normalize_tuple(2.0, 1, "strides") == (2,)
    assert normalize_tuple((0, -1), 2, "cropping") == (0, -1)


@pytest.mark.parametrize("value", ["3", None, (1,), (1, 2, 3), (1, "2"), 1.5, (1, None)])
def test_other_tuples_are_refused_by_name(value):
    with pytest.raises(ValueError, match="argument 'strides': expected a whole number or 2"):
        normalize_tuple(value, 2, "strides")


def test_numbers_may_have_a_least():
    assert sizes_along_axes(0, 2, "cropping", least=0) == (0, 0)
    for value, least, words in ((0, 1, "above 0"), ((1, -1), 0, "from 0 on")):
        with pytest.raises(ValueError, match=f"expected a whole number {words} or 2 of them"):
            sizes_along_axes(value, 2, "cropping", least)


def test_paddings():
    assert [normalize_padding(p) for p in ("valid", "SAME", "Causal")] == [
        "valid",
        "same",
        "causal",
    ]
    for wrong in ("full", "smae", None, 3):
        with pytest.raises(ValueError, match="Use one of 'valid', 'same', 'causal'"):
            normalize_padding(wrong)
    for function in (conv_input_length, conv_output_length):
        with pytest.raises(ValueError, match="unknown padding 'smae'"):
            function(5, 3, "smae", 1)
    with pytest.raises(ValueError, match="unknown padding 'causal'"):
        deconv_length(5, 1, 3, "causal", None)


def test_kernel_is_turned_along_its_places_only():
    kernel = np.arange(24.0).reshape(2, 3, 2, 2)
    turned = convert_kernel(kernel)
    np.testing.assert_array_equal(turned, kernel[::-1, ::-1])
    turned[:] = 0
    assert kernel[0, 0, 0, 1] == 1  # it is a copy
    with pytest.raises(ValueError, match="expected a kernel with 3 to 5 axes"):
        convert_kernel(np.ones((2, 2)))


def test_every_name_of_the_module_exists():
    assert all(callable(getattr(conv_utils, name)) for name in conv_utils.__all__)
