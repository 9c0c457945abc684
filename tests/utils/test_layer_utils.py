"""Helpers around layers and weights: `keras.utils.layer_utils`."""

import numpy as np
import pytest

from kerascope import Input, K, Model
from kerascope.errors import ArgumentError, GraphError, ShapeError
from kerascope.layers import Conv1D, Conv2D, Dense, Flatten, add
from kerascope.utils import layer_utils as lu


def test_a_weight_that_is_listed_twice_counts_once():
    layer = Dense(3)
    layer.build((None, 4))
    assert lu.count_params([*layer.weights, *layer.weights]) == 15
    assert lu.count_params([]) == 0


def test_the_summary_is_that_of_the_model():
    x = Input((4,), name="x")
    model = Model(x, Dense(3, name="scores")(x))
    lines, expected = [], []
    lu.print_summary(model, print_fn=lines.append)
    model.summary(print_fn=expected.append)
    assert lines == expected
    assert any("scores" in line for line in lines)


def test_the_inputs_of_a_tensor_come_once_and_from_left_to_right():
    a, b = Input((4,)), Input((4,))
    shared = Dense(4)
    left, right = shared(a), shared(b)
    assert lu.get_source_inputs(add([left, right, left])) == [a, b]
    assert lu.get_source_inputs(add([right, left])) == [b, a]
    assert lu.get_source_inputs(a) == [a]


def test_the_inputs_of_one_call_of_a_shared_layer():
    a, b = Input((4,)), Input((4,))
    shared = Dense(4)
    shared(a)
    y = shared(b)
    assert lu.get_source_inputs(y) == [b]
    assert lu.get_source_inputs(y, shared, 0) == [a]
    assert lu.get_source_inputs(y, shared, 1) == [b]


def test_a_deep_chain_is_no_trouble():
    x = y = Input((2,))
    for _ in range(1500):
        y = Dense(2)(y)
    assert lu.get_source_inputs(y) == [x]


def test_a_tensor_without_a_layer_has_no_source_inputs():
    with pytest.raises(GraphError, match="is not a layer's output"):
        lu.get_source_inputs(K.placeholder((None, 4)))


def test_kernels_are_flipped_in_space_only_and_twice_is_as_before():
    x = Input((6, 5))
    model = Model(x, Dense(2)(Conv1D(3, 4)(x)))
    before = model.get_weights()
    lu.convert_all_kernels_in_model(model)
    after = model.get_weights()
    np.testing.assert_array_equal(after[0], before[0][::-1])
    for one, other in zip(after[1:], before[1:], strict=True):
        np.testing.assert_array_equal(one, other)
    lu.convert_all_kernels_in_model(model)
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


def image_model(data_format):
    shape = (5, 4, 3) if data_format == "channels_last" else (3, 5, 4)
    x = Input(shape)
    maps = Conv2D(2, 1, data_format=data_format)(x)
    dense = Dense(3)
    return Model(x, dense(Flatten()(maps))), dense, K.int_shape(maps)[1:]


@pytest.mark.parametrize("target", ["channels_first", "channels_last"])
def test_a_model_of_the_other_data_format_predicts_the_same(target):
    source = "channels_last" if target == "channels_first" else "channels_first"
    first, _, _ = image_model(source)
    second, dense, shape = image_model(target)
    second.set_weights(first.get_weights())
    lu.convert_dense_weights_data_format(dense, shape, target)
    x = np.random.default_rng(0).normal(size=(2, *first.input_shape[1:]))
    moved = np.moveaxis(x, 3, 1) if target == "channels_first" else np.moveaxis(x, 1, 3)
    np.testing.assert_allclose(second.predict(moved), first.predict(x), rtol=1e-5, atol=1e-6)


def test_a_kernel_of_another_size_or_format_is_refused_and_kept():
    _, dense, shape = image_model("channels_last")
    before = dense.get_weights()
    with pytest.raises(ArgumentError, match="got 'th'"):
        lu.convert_dense_weights_data_format(dense, shape, "th")
    with pytest.raises(ShapeError, match="expected a kernel with 60 rows .*got 40"):
        lu.convert_dense_weights_data_format(dense, (3, 5, 4))
    np.testing.assert_array_equal(dense.get_weights()[0], before[0])
