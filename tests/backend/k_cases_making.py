"""Cases of the functions that make tensors and ask what they are."""

import contextlib
import io

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.errors import ArgumentError, DtypeError, ShapeError
from kerascope.layers import Dense, Input
from tests.backend.k_cases import behaviour


@behaviour("placeholder", "is_placeholder", "ndim", "int_shape", "dtype")
def a_placeholder_is_made_from_a_shape_or_a_number_of_axes():
    x = K.placeholder(shape=(None, 3), name="x")
    assert (x.name, K.int_shape(x), K.ndim(x), K.dtype(x)) == ("x", (None, 3), 2, "float32")
    y = K.placeholder(ndim=3, dtype="int32")
    assert (K.int_shape(y), K.dtype(y)) == ((None, None, None), "int32")
    assert K.int_shape(K.placeholder([2, None])) == (2, None)
    assert K.int_shape(K.placeholder((np.int64(2),))) == (2,)
    assert K.placeholder((1,)).name != K.placeholder((1,)).name
    assert K.is_placeholder(x)
    assert not K.is_placeholder(x * 2)
    with pytest.raises(ValueError, match="got neither"):
        K.placeholder()


@behaviour(
    "asymmetric_temporal_padding",
    "asymmetric_spatial_2d_padding",
    "atrous_conv2d",
    "legacy_weight_ordering",
    "set_legacy_weight_ordering",
)
def functions_of_keras_1_say_what_later_ones_say_in_other_words():
    x = np.arange(6.0).reshape(1, 3, 2)
    padded = K.eval(K.asymmetric_temporal_padding(K.constant(x), 2, 1))
    assert np.array_equal(padded, np.pad(x, ((0, 0), (2, 1), (0, 0))))
    images = np.arange(25.0).reshape(1, 5, 5, 1)
    padded = K.eval(K.asymmetric_spatial_2d_padding(K.constant(images), 1, 2, 3, 0, "tf"))
    assert np.array_equal(padded, np.pad(images, ((0, 0), (1, 2), (3, 0), (0, 0))))
    every_second = K.eval(K.atrous_conv2d(K.constant(images), K.ones((2, 2, 1, 1)), 2))
    corners = images[:, :3, :3] + images[:, 2:, :3] + images[:, :3, 2:] + images[:, 2:, 2:]
    assert np.array_equal(every_second, corners)
    before = K.legacy_weight_ordering()
    K.set_legacy_weight_ordering(True)
    assert K.legacy_weight_ordering() is True
    K.set_legacy_weight_ordering(before)


@behaviour("variable", "is_variable", "get_value", "eval")
def a_variable_holds_a_copy():
    array = np.array([[1.0, 2.0]])
    v = K.variable(array, dtype="float64", name="w", constraint=abs)
    array[:] = 0
    assert (v.name, K.dtype(v), v.constraint) == ("w", "float64", abs)
    assert K.eval(v).tolist() == K.get_value(v).tolist() == [[1.0, 2.0]]
    K.get_value(v)[:] = 5
    K.eval(v)[:] = 5
    assert K.get_value(v).tolist() == [[1.0, 2.0]]
    assert K.is_variable(v)
    assert not K.is_variable(K.constant(1.0))
    assert K.dtype(K.variable([1, 2])) == "float32"
    assert K.get_value(K.variable(K.constant([1.0]) * 3)).tolist() == [3.0]


@behaviour("constant", "is_tensor")
def a_constant_fills_its_shape():
    assert K.eval(K.constant(2, shape=(2, 2))).tolist() == [[2.0, 2.0], [2.0, 2.0]]
    assert K.eval(K.constant(2, shape=3, dtype="int32")).tolist() == [2, 2, 2]
    assert K.eval(K.constant([1, 2, 3, 4], shape=[2, 2])).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert K.constant([1], name="one").name == "one"
    assert K.dtype(K.constant([1, 2])) == "float32"
    with pytest.raises(ShapeError, match="K.constant: expected a target shape of 2 elements"):
        K.constant([1, 2], shape=(4,))
    assert K.is_tensor(K.constant(1))
    assert not K.is_tensor(np.ones(2))


@behaviour("zeros", "ones", "eye")
def zeros_ones_and_the_identity_are_variables():
    assert K.get_value(K.zeros((1, 2))).tolist() == [[0.0, 0.0]]
    assert K.get_value(K.ones([2], dtype="int32", name="n")).tolist() == [1, 1]
    assert K.get_value(K.eye(2, "float64")).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert all(K.is_variable(v) for v in (K.zeros((2,)), K.ones(()), K.eye(3, name="I")))
    assert K.int_shape(K.zeros(3)) == K.int_shape(K.ones(np.int64(3))) == (3,)
    assert K.dtype(K.zeros(np.array([2, 2]), "bool")) == "bool"
    with pytest.raises(ArgumentError, match="sizes must be whole numbers, .* not None"):
        K.zeros((None, 2))


@behaviour("zeros", "ones")
def zeros_and_ones_of_a_size_that_a_run_tells_are_tensors():
    x = K.placeholder((None, 3))
    state, whole = K.zeros((K.shape(x)[0], 4), dtype="float64"), K.ones(K.shape(x), name="whole")
    assert not K.is_variable(state)
    assert (K.int_shape(state), K.dtype(state)) == ((None, 4), "float64")
    assert (K.int_shape(whole), whole.name) == ((None, 3), "whole")
    zeros, ones = K.function([x], [state, whole])([np.zeros((2, 3))])
    np.testing.assert_array_equal(zeros, np.zeros((2, 4)))
    np.testing.assert_array_equal(ones, np.ones((2, 3), "float32"))
    length = K.placeholder((None,), dtype="int32")
    with pytest.raises(ShapeError, match="unknown number of sizes"):
        K.zeros(length)


@behaviour("arange")
def ranges_are_those_of_numpy():
    assert K.eval(K.arange(4)).tolist() == [0, 1, 2, 3]
    assert K.dtype(K.arange(4)) == "int32"
    assert K.eval(K.arange(5, 1, step=-2)).tolist() == [5, 3]
    assert K.eval(K.arange(-3)).tolist() == []
    assert K.eval(K.arange(0, 1, 0.25, dtype="float32")).tolist() == [0, 0.25, 0.5, 0.75]
    x = K.placeholder((None, 2))
    f = K.function([x], [K.arange(K.shape(x)[0]), K.arange(1, K.shape(x)[0], 2, "float64")])
    small, odd = f([np.ones((5, 2))])
    assert (small.tolist(), odd.tolist(), odd.dtype.name) == ([0, 1, 2, 3, 4], [1, 3], "float64")


@behaviour("count_params", "get_variable_shape", "int_shape")
def sizes_are_plain_numbers():
    v = K.zeros((2, 3))
    assert (K.count_params(v), K.get_variable_shape(v), K.int_shape(v)) == (6, (2, 3), (2, 3))
    assert K.count_params(K.constant(1.0)) == 1
    assert K.get_variable_shape(v * 2) == (2, 3)
    assert all(type(n) is int for n in (K.count_params(v), *K.int_shape(v)))
    assert K.int_shape(np.ones((4, 1))) == (4, 1)
    with pytest.raises(ArgumentError, match="expected a variable"):
        K.count_params(K.placeholder((None, 2), name="x"))


@behaviour("is_keras_tensor")
def a_tensor_of_a_layer_is_told_from_others():
    x = Input((3,))
    assert K.is_keras_tensor(x)
    assert K.is_keras_tensor(Dense(2)(x))
    assert not K.is_keras_tensor(K.placeholder((None, 3)))
    assert not K.is_keras_tensor(K.zeros((2,)))
    with pytest.raises(ValueError, match="instance of type ndarray"):
        K.is_keras_tensor(np.ones(2))


@behaviour("is_sparse", "to_dense")
def dense_tensors_stay_dense():
    x = K.placeholder((None, 3))
    assert not K.is_sparse(x)
    assert K.to_dense(x) is x
    sparse = K.placeholder((None, 3), sparse=True)
    assert K.is_sparse(sparse)
    assert not K.is_sparse(K.to_dense(sparse))


@behaviour("identity", "name_scope")
def a_scope_stands_before_the_names_made_in_it():
    with K.name_scope("outer"), K.name_scope("inner"):
        y = K.identity(K.constant(1.0), name="y")
    assert y.name == "outer/inner/y"
    assert K.identity(K.constant(1.0), name="y").name == "y"


@behaviour("print_tensor")
def a_printed_tensor_is_the_same_tensor():
    x = K.variable([1.0, 2.0])
    y = K.print_tensor(x, message="x is ")
    assert (K.int_shape(y), K.dtype(y)) == ((2,), "float32")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        (result,) = K.function([], [y * 3])([])
    assert printed.getvalue() == "x is [1. 2.]\n"
    assert result.tolist() == [3.0, 6.0]
    assert K.gradients(K.sum(K.print_tensor(x)), x)[0] is not None


@behaviour("cast_to_floatx", "set_floatx")
def arrays_are_cast_to_the_type_of_the_settings():
    assert K.cast_to_floatx([1, 2]).dtype.name == "float32"
    assert K.cast_to_floatx(0.1) == np.float32(0.1)
    K.set_floatx("float64")
    assert K.cast_to_floatx(np.ones(2, "int64")).dtype.name == "float64"
    with pytest.raises(DtypeError, match="has no numbers"):
        K.cast_to_floatx(K.placeholder((2,)))
