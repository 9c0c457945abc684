"""Sparse input: what K says of it, and models that are fed with matrices of SciPy."""

import numpy as np
import pytest

from kerascope import backend as K
from kerascope.layers import Dense, Input, concatenate
from kerascope.models import Model

scipy_sparse = pytest.importorskip("scipy.sparse")

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(20, 6)) * (RNG.random((20, 6)) < 0.2)
FORMATS = ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array"]


@pytest.mark.parametrize("form", FORMATS)
def test_function_takes_a_sparse_matrix(form):
    x = K.placeholder((None, 6), sparse=True)
    kernel = K.variable(RNG.normal(size=(6, 3)))
    f = K.function([x], [K.dot(x, kernel), K.to_dense(x)])
    product, back = f([getattr(scipy_sparse, form)(DENSE)])
    np.testing.assert_allclose(product, DENSE @ K.get_value(kernel), rtol=1e-5, atol=1e-6)
    assert isinstance(back, np.ndarray)
    np.testing.assert_allclose(back, DENSE, rtol=1e-6)
    np.testing.assert_array_equal(f([DENSE])[0], product)


def test_dense_placeholder_refuses_a_sparse_matrix():
    x = K.placeholder((None, 6), name="x")
    with pytest.raises(TypeError, match=r"got a sparse matrix .* sparse=True"):
        K.function([x], [x * 2])([scipy_sparse.csr_matrix(DENSE)])


def test_is_sparse_and_to_dense():
    x, y = K.placeholder((None, 6), sparse=True), K.placeholder((None, 6))
    assert K.is_sparse(x)
    assert not K.is_sparse(y)
    assert K.is_sparse(K.concatenate([x, x], axis=1))
    assert not K.is_sparse(K.concatenate([x, y], axis=1))
    assert not K.is_sparse(K.to_dense(x))
    assert K.to_dense(y) is y


@pytest.mark.parametrize("form", FORMATS)
def test_variable_from_a_sparse_matrix(form):
    v = K.variable(getattr(scipy_sparse, form)(DENSE))
    assert K.is_sparse(v)
    assert v.dtype == "float32"
    np.testing.assert_allclose(K.eval(v), DENSE, rtol=1e-6)
    np.testing.assert_allclose(K.eval(K.to_dense(v)), DENSE, rtol=1e-6)
    both = K.eval(K.concatenate([v, v], axis=0))
    np.testing.assert_allclose(both, np.vstack([DENSE, DENSE]), rtol=1e-6)


def test_variable_from_nested_lists_is_dense():
    v = K.variable([[1, 2], [3, 4]])
    assert not K.is_sparse(v)
    assert K.eval(v).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert K.eval(v).dtype == "float32"


def model_of(sparse):
    x = Input((6,), sparse=sparse)
    model = Model(x, Dense(1)(x))
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize("form", ["csr_matrix", "csc_matrix", "coo_matrix", "csr_array"])
def test_model_trains_on_a_sparse_matrix_as_on_the_dense_one(form):
    sparse, dense = model_of(True), model_of(False)
    sparse.set_weights(dense.get_weights())
    matrix, y = getattr(scipy_sparse, form)(DENSE), DENSE.sum(axis=1, keepdims=True)
    options = {"batch_size": 8, "epochs": 2, "shuffle": False, "verbose": 0}
    mine = sparse.fit(matrix, y, **options).history["loss"]
    assert mine == dense.fit(DENSE, y, **options).history["loss"]
    np.testing.assert_array_equal(sparse.predict(matrix), dense.predict(DENSE))
    assert sparse.evaluate(matrix, y, verbose=0) == dense.evaluate(DENSE, y, verbose=0)
    sparse.fit(matrix, y, batch_size=8, validation_split=0.25, verbose=0)  # shuffled


def test_model_with_two_sparse_inputs_and_its_configuration():
    a, b = Input((6,), sparse=True), Input((6,), sparse=True)
    model = Model([a, b], Dense(2)(concatenate([a, b])))
    matrix = scipy_sparse.csr_matrix(DENSE)
    twin = Model.from_config(model.get_config())
    twin.set_weights(model.get_weights())
    assert [layer.sparse for layer in twin.input_layers] == [True, True]
    np.testing.assert_array_equal(twin.predict([matrix, matrix]), model.predict([DENSE, DENSE]))
    np.testing.assert_array_equal(
        model.predict_on_batch([matrix, matrix]),
        model.predict_on_batch([DENSE, DENSE]),
    )
