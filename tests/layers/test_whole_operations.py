"""Operations of Keras 3 of several ops: between layers one layer, with shapes as tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kerascope import Input, K, Model, layers
from kerascope.backend.eager import value_of
from kerascope.backend.graph import Constant
from kerascope.errors import ArgumentError, DataError, GradientError, RefusedError, ShapeError
from kerascope.layers.ops import keras_ops as ops
from kerascope.models import load_model
from kerascope.settings import config

X = np.random.default_rng(1).normal(size=(3, 4)).astype("float32")


@pytest.fixture
def keras3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "dialect", "3")
    K.clear_session()


@pytest.mark.usefixtures("keras3")
def test_between_layers_an_operation_of_several_ops_is_one_layer(tmp_path: Any) -> None:
    x = Input((4,))
    values, places = ops.top_k(x + 1.0, 2)
    y = ops.pad(ops.sort(values), ((0, 0), (1, 0)), constant_values=5.0)
    model = Model(x, [y, places])
    kinds = [getattr(layer, "operation", "Input") for layer in model.layers]
    assert kinds == ["Input", "Add", "TopK", "Sort", "Pad"]
    expected = [np.pad(np.sort(X + 1)[:, 2:], ((0, 0), (1, 0)), constant_values=5), None]
    np.testing.assert_allclose(model.predict(X)[0], expected[0], rtol=1e-6)
    model.save(tmp_path / "m.keras")
    again = load_model(tmp_path / "m.keras").predict(X)
    for one, other in zip(again, model.predict(X), strict=True):
        np.testing.assert_array_equal(one, other)


class CausalMask(layers.Layer):
    """What the blocks of a small language model need: a mask for each sample of the batch."""

    def call(self, inputs: Any) -> Any:
        batch_size, length = ops.shape(inputs)[0], ops.shape(inputs)[1]
        i, j = ops.arange(length)[:, None], ops.arange(length)
        mask = ops.cast(i >= j, "int32")
        mask = ops.reshape(mask, (1, length, length))
        times = ops.concatenate([ops.expand_dims(batch_size, -1), ops.convert_to_tensor([1, 1])], 0)
        return ops.tile(mask, times)


@pytest.mark.usefixtures("keras3")
@pytest.mark.parametrize("length", [5, None])
def test_a_causal_mask_is_made_of_the_shape_of_what_comes(length: Any) -> None:
    x = Input((length,), dtype="int32")
    model = Model(x, CausalMask()(x))
    assert model.output_shape == (None, length, length)
    for n in (5, 3) if length is None else (5,):
        expected = np.tril(np.ones((n, n), "int32"))[None].repeat(2, 0)
        assert model.predict(np.zeros((2, n), "int32")).tolist() == expected.tolist()
    assert CausalMask()(np.zeros((2, 4), "int32")).shape == (2, 4, 4)


def test_sizes_of_a_shape_are_given_to_reshape_broadcast_and_arange() -> None:
    x = K.placeholder((None, None, 2))
    batch, length, _ = ops.shape(x)
    made = [
        ops.reshape(x, (batch, length * 2)),
        ops.broadcast_to(ops.arange(length), (batch, length)),
        ops.arange(1, length),
        ops.broadcast_to(K.sum(x), (length, batch)),
        ops.slice(x, (0, length - 1, 0), (batch, 1, 2)),
        ops.roll(x, 1),
        ops.meshgrid(ops.arange(length), ops.arange(batch))[0],
    ]
    numbers = np.arange(12.0).reshape(2, 3, 2)
    found = K.function([x], made)([numbers])
    expected = [
        numbers.reshape(2, 6),
        np.broadcast_to(np.arange(3), (2, 3)),
        np.arange(1, 3),
        np.full((3, 2), 66.0),
        numbers[:, 2:],
        np.roll(numbers, 1),
        np.meshgrid(np.arange(3), np.arange(2))[0],
    ]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def slopes(function: Any, *arrays: np.ndarray) -> tuple[Any, Any]:
    """Return the gradients of a weighted sum of a result, and those by finite differences."""
    inputs = [K.placeholder(ndim=x.ndim, dtype="float64") for x in arrays]
    outputs = function(*inputs)
    outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
    terms = [K.sum(K.cos(y) * y) for y in outputs if y.dtype == "float64"]
    loss = sum(terms[1:], start=terms[0])
    run, of_loss = K.function(inputs, K.gradients(loss, inputs)), K.function(inputs, loss)
    numeric = []
    for n, x in enumerate(arrays):
        slope = np.zeros(x.shape)
        for place in np.ndindex(x.shape):
            values = []
            for step in (1e-5, -1e-5):
                moved = [np.array(one) for one in arrays]
                moved[n][place] += step
                values.append(of_loss(moved))
            slope[place] = (values[0] - values[1]) / 2e-5
        numeric.append(slope)
    return run(list(arrays)), numeric


A = np.random.default_rng(2).normal(size=(3, 4))
B = np.random.default_rng(3).normal(size=(3, 4))


@pytest.mark.parametrize(
    ("function", "arrays"),
    [
        (lambda x: ops.sort(x, 0), [A]),
        (lambda x: ops.top_k(x, 2), [A]),
        (lambda x: ops.pad(x, ((1, 2), (0, 3)), "reflect"), [A]),
        (lambda x: ops.pad(x, 1, constant_values=3.0), [A]),
        (lambda x: ops.roll(x, (1, 2), (0, 1)), [A]),
        (lambda x: ops.median(x, 1), [A]),
        (lambda x: ops.quantile(x, [0.1, 0.6], axis=0), [A]),
        (lambda x: ops.diagonal(x, 1), [A]),
        (lambda x: ops.diag(x[0], -1), [A]),
        (lambda x: ops.nanmean(x, 0), [A]),
        (lambda x: ops.trapezoid(x, dx=0.3), [A]),
        (lambda x, y: ops.kron(x, y[:2, :2]), [A, B]),
        (lambda x, y: ops.cross(ops.reshape(x, (4, 3)), ops.reshape(y, (4, 3))), [A, B]),
        (lambda x, y: ops.fmax(x, y), [A, B]),
        (lambda x, y: ops.logaddexp2(x, y), [A, B]),
        (lambda x, y: ops.divide_no_nan(x, y), [A, B]),
        (lambda x, y: ops.slice_update(x, (1, 1), y[:2, :2]), [A, B]),
        (lambda x, y: ops.scatter_update(x, [[0], [2]], y[:2], "add"), [A, B]),
        (lambda x: ops.take_along_axis(x, np.array([[1, 1, 0], [0, 2, 2], [3, 0, 1]]), 1), [A]),
        (lambda x: ops.corrcoef(x), [A]),
        (lambda x: ops.average(x, 0, np.array([1.0, 2.0, 4.0])), [A]),
        (lambda x: ops.cholesky(ops.matmul(x, ops.transpose(x)) + np.eye(3)), [A]),
        (lambda x: ops.inv(x[:, :3]), [A]),
        (lambda x: ops.det(x[:, :3]), [A]),
        (lambda x: ops.slogdet(x[:, :3]), [A]),
        (lambda x: ops.eigh(x[:, :3] + ops.transpose(x[:, :3])), [A]),
        (lambda x: ops.svd(x, full_matrices=False), [A]),
        (lambda x: ops.svd(ops.transpose(x), full_matrices=False), [A]),
        (lambda x: ops.svd(x, compute_uv=False), [A]),
        (lambda x: ops.qr(ops.reshape(x, (4, 3))), [A]),
        (lambda x: ops.pinv(ops.reshape(x, (4, 3))), [A]),
        (lambda x, y: ops.solve(x[:, :3], y), [A, B]),
        (lambda x, y: ops.solve(x[:, :3], y[:, 0]), [A, B]),
        (lambda x, y: ops.solve_triangular(x[:, :3], y, lower=True), [A, B]),
        (lambda x: ops.norm(x, "nuc"), [A]),
        (lambda x: ops.norm(x, 3, axis=1), [A]),
        (lambda x, y: ops.cdist(x, y[:2]), [A, B]),
        (lambda x: ops.segment_sum(x, np.array([0, 1, 0]), 2), [A]),
        (lambda x: ops.segment_max(x, np.array([0, 1, 0])), [A]),
        (lambda x, y: ops.fft((x, y)), [A, B]),
        (lambda x, y: ops.ifft2((x, y)), [A, B]),
        (lambda x: ops.rfft(ops.reshape(x, (2, 6))), [A]),
        (
            lambda x, y: ops.irfft((ops.reshape(x, (3, 4)), ops.reshape(y, (3, 4)))),
            [A, B],
        ),
        (lambda x: ops.celu(x, 0.7), [A]),
        (lambda x: ops.sparsemax(x), [A]),
        (lambda x: ops.rms_normalization(x), [A]),
        (lambda x: ops.fold(ops.unfold(ops.reshape(x, (1, 1, 3, 4)), 2), (3, 4), 2), [A]),
        (
            lambda x, y: ops.dot_product_attention(
                *(ops.reshape(one, (1, 3, 2, 2)) for one in (x, y, x)), is_causal=True
            ),
            [A, B],
        ),
        (lambda x: ops.stft(ops.reshape(x, (1, 12)), 4, 2, 4), [A]),
    ],
)
def test_gradients_are_those_of_finite_differences(function: Any, arrays: Any) -> None:
    found, expected = slopes(function, *arrays)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def test_the_gradient_of_counted_weights_is_that_of_their_place() -> None:
    weights = K.placeholder((4,), dtype="float64")
    counts = ops.bincount(np.array([0, 2, 2, 1]), weights)
    slope = K.gradients(K.sum(K.square(counts)), weights)[0]
    assert K.function([weights], slope)([[1.0, 2.0, 3.0, 4.0]]).tolist() == [2, 10, 10, 8]


@pytest.mark.parametrize("axis", [0, 1])
def test_sparsemax_sums_to_one_along_any_axis(axis: int) -> None:
    # Keras 3.15 does so along the last one alone, hence this is not compared with it.
    found = ops.sparsemax(3 * X, axis)
    np.testing.assert_allclose(found.sum(axis), 1, rtol=1e-6)
    assert (found == 0).any()
    assert (found >= 0).all()


@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (2, 3, 3)])
@pytest.mark.parametrize("whole", [False, True])
def test_what_a_matrix_is_taken_apart_into_makes_it_again(shape: Any, whole: bool) -> None:
    x = np.random.default_rng(0).normal(size=shape).astype("float32")
    u, s, vh = ops.svd(x, full_matrices=whole)
    k = s.shape[-1]
    np.testing.assert_allclose((u[..., :k] * s[..., None, :]) @ vh[..., :k, :], x, atol=1e-5)
    q, r = ops.qr(x, "complete" if whole else "reduced")
    assert q.shape[-1] == (x.shape[-2] if whole else k)
    np.testing.assert_allclose(q @ r, x, atol=1e-5)
    np.testing.assert_allclose(np.triu(r), r, atol=1e-6)
    square = x @ np.swapaxes(x, -1, -2)
    values, vectors = ops.eigh(square)
    again = (vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    np.testing.assert_allclose(again, square, atol=1e-4)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: ops.pad(X, 1, "mirror"), ArgumentError, "Use mode 'constant', or without"),
        (lambda: ops.quantile(X, 0.5, method="best"), ArgumentError, "got 'best'"),
        (lambda: ops.searchsorted(X[0], X, "up"), ArgumentError, "Use 'left' or 'right'"),
        (lambda: ops.meshgrid(X[0], indexing="yx"), ArgumentError, "Use 'xy' or 'ij'"),
        (lambda: ops.cross(X, X), ArgumentError, "vectors of 2 or 3 numbers, got 4 and 4"),
        (lambda: ops.scatter_update(X, [[0]], X[:1], "sum"), ArgumentError, "got 'sum'"),
        (lambda: ops.scatter_update(X, [[7]], X[:1]), DataError, "out of range for shape"),
        (lambda: ops.slice_update(X, (2, 0), X), DataError, "must stay inside of shape"),
        (lambda: ops.take_along_axis(X, np.array([[9]] * 3), 1), DataError, "got 9"),
        (lambda: ops.bincount([1, -1]), DataError, "expected whole numbers >= 0, got -1"),
        (lambda: ops.bincount([1], sparse=True), RefusedError, "sparse=True"),
        (lambda: ops.view(X, "float64"), ArgumentError, "a dtype of the size of float32"),
        (lambda: ops.array_split(K.placeholder((None,)), 2), ArgumentError, "must be known"),
        (lambda: ops.istft((X, X), 4, 2, 6, window=None), ArgumentError, "does not undo stft"),
        (lambda: ops.inv(np.zeros((2, 2))), DataError, "Singular matrix"),
        (lambda: ops.cholesky(-np.eye(2)), DataError, "not positive definite"),
        (lambda: ops.inv(X), ShapeError, "expected square matrices"),
        (lambda: ops.solve(np.eye(3), X.T), ShapeError, "as many rows in b"),
        (lambda: slopes(ops.svd, A), GradientError, "Use full_matrices=False"),
        (lambda: slopes(ops.qr, A), GradientError, "the gradient needs mode"),
        (
            lambda: slopes(lambda x: ops.lu_factor(x[:, :3]), A),
            GradientError,
            "Use ops.solve or ops.inv",
        ),
        (lambda: slopes(lambda x: ops.lstsq(x, x), A), GradientError, "ops.pinv"),
        (lambda: ops.rfft(K.placeholder((None, None))), ArgumentError, "must be known"),
        (lambda: slopes(ops.i0, A), GradientError, "Bessel function of order 1"),
        (
            lambda: slopes(lambda x: ops.scatter_update(x, [[0]], x[:1], "max"), A),
            GradientError,
            "has no gradient here",
        ),
    ],
)
def test_what_cannot_be_done_is_said(call: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        call()


def test_numbers_of_an_operation_can_be_seen_in_a_layer_that_is_called_on_arrays() -> None:
    seen = []

    class Sorted(layers.Layer):
        def call(self, inputs: Any) -> Any:
            made = ops.sort(inputs)
            seen.append(isinstance(made, Constant) and value_of(made))
            return made

    np.testing.assert_array_equal(Sorted()(X), np.sort(X))
    np.testing.assert_array_equal(seen[0], np.sort(X))
