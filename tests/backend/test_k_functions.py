"""The functions of K around the ops: what their arguments mean, shapes, extremes, errors."""

import math

import numpy as np
import pytest
import reference

from kerascope import backend as K
from kerascope.errors import ArgumentError, DataError, DtypeError, ShapeError
from kerascope.settings import config


def value(tensor):
    return np.asarray(K.eval(tensor))


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


# --- static shapes --------------------------------------------------------------------------------

X = K.placeholder((None, 20), name="x")
T = K.placeholder((None, 5, 20), name="t")
W = K.zeros((20, 64))


@pytest.mark.parametrize(
    ("tensor", "shape"),
    [
        (K.dot(X, W) + K.zeros((64,)), (None, 64)),
        (K.dot(T, W), (None, 5, 64)),
        (K.softmax(K.relu(K.dot(X, W))), (None, 64)),
        (X @ W, (None, 64)),
        (T @ K.zeros((20, 3)), (None, 5, 3)),
        (K.batch_dot(T, T, axes=(2, 2)), (None, 5, 5)),
        (K.batch_dot(X, T, axes=(1, 2)), (None, 5)),
        (K.batch_dot(X, X, axes=1), (None, 1)),
        (K.batch_dot(T, K.permute_dimensions(T, (0, 2, 1))), (None, 5, 5)),
        (K.flatten(T), (None,)),
        (K.batch_flatten(T), (None, 100)),
        (K.reshape(T, (-1, 100)), (None, 100)),
        (K.reshape(T, (K.shape(T)[0], 20, 5)), (None, 20, 5)),
        (K.reshape(X, K.shape(X)), (None, 20)),
        (K.reshape(T, K.concatenate([K.shape(T)[:1], [100]])), (None, 100)),
        (K.expand_dims(X), (None, 20, 1)),
        (K.expand_dims(X, 0), (1, None, 20)),
        (K.squeeze(K.expand_dims(X, 1), 1), (None, 20)),
        (K.concatenate([X, X]), (None, 40)),
        (K.concatenate([T, T], axis=1), (None, 10, 20)),
        (K.stack([X, X], axis=-1), (None, 20, 2)),
        (K.repeat(X, 7), (None, 7, 20)),
        (K.repeat_elements(T, 2, axis=1), (None, 10, 20)),
        (K.tile(X, (1, 2)), (None, 40)),
        (K.tile(X, 3), (None, 60)),
        (K.transpose(X), (20, None)),
        (K.reverse(T, -1), (None, 5, 20)),
        (K.mean(T, axis=-1), (None, 5)),
        (K.mean(T, axis=[1, 2], keepdims=True), (None, 1, 1)),
        (K.sum(T), ()),
        (K.argmax(X), (None,)),
        (K.categorical_crossentropy(X, X), (None,)),
        (K.sparse_categorical_crossentropy(K.placeholder((None, 1)), X), (None,)),
        (K.binary_crossentropy(X, X), (None, 20)),
        (K.gather(W, K.placeholder((None, 7), dtype="int32")), (None, 7, 64)),
        (K.one_hot(K.placeholder((None, 7), dtype="int32"), 4), (None, 7, 4)),
        (K.dropout(T, 0.5), (None, 5, 20)),
        (T[:, 0], (None, 20)),
        (T[:, -1, ::2], (None, 10)),
        (T[1:, None, ..., :5], (None, 1, 5, 5)),
        (T[0], (5, 20)),
        (K.slice(T, [0, 1, 2], [-1, 2, -1]), (None, 2, 18)),
        (K.switch(T > 0, T, 0.0), (None, 5, 20)),
        (K.arange(5), (5,)),
        (K.arange(0, K.shape(T)[1]), (5,)),
        (K.arange(K.shape(T)[0]), (None,)),
        (K.normalize_batch_in_training(T, None, None, [0, 1])[1], (20,)),
        (K.in_train_phase(X, X * 2), (None, 20)),
    ],
    ids=lambda x: x.owner.name if K.is_tensor(x) and x.owner else "",
)
def test_shapes_stay_as_precise_as_they_can_be(tensor, shape):
    assert tensor.shape == shape
    assert K.ndim(tensor) == len(shape)


# --- reductions -----------------------------------------------------------------------------------

REDUCTIONS = ["sum", "mean", "prod", "max", "min", "var", "std", "any", "all", "logsumexp"]


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize(("axis", "axes"), [(None, (0, 1, 2)), (-1, (2,)), ([0, -2], (0, 1))])
@pytest.mark.parametrize("keepdims", [False, True])
def test_axes_of_a_reduction(name, axis, axes, keepdims):
    x = numbers(2, 3, 4)
    result = value(getattr(K, name)(K.constant(x, dtype="float64"), axis, keepdims))
    expected = getattr(reference, name)(x, axes, keepdims)
    assert result.shape == expected.shape
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_whole_numbers_and_truths_are_averaged_as_floats():
    assert value(K.mean(K.constant([1, 2], dtype="int32"))) == 1.5
    mean = K.mean(K.equal(K.constant([1.0, 2.0]), K.constant([1.0, 3.0])))
    assert (value(mean), mean.dtype) == (0.5, "float32")


def test_truths_are_counted_and_whole_numbers_stay_whole():
    assert value(K.sum(K.constant([True, True, False], dtype="bool"))).tolist() == 2
    assert K.sum(K.constant([1, 2], dtype="int64")).dtype == "int64"


def test_sums_of_half_precision_do_not_overflow_in_a_mean():
    x = K.constant(np.full(1000, 600.0), dtype="float16")
    assert value(K.mean(x)) == 600.0


def test_an_axis_that_does_not_exist_is_refused():
    with pytest.raises(ArgumentError, match="axis -2 to 1 in a tensor of 2 axes, got 2"):
        K.sum(X, axis=2)


# --- extremes -------------------------------------------------------------------------------------

HUGE = np.array([-1e30, -1000.0, -50.0, 0.0, 50.0, 1000.0, 1e30], "float32")


@pytest.mark.parametrize("name", ["sigmoid", "softplus", "softmax", "tanh", "elu", "softsign"])
def test_huge_inputs_do_not_overflow(name):
    x = K.variable(HUGE)
    y = getattr(K, name)(x)
    assert np.isfinite(value(y)).all()
    with np.errstate(all="raise", under="ignore"):
        assert np.isfinite(y.owner.op.perform(HUGE)).all()


@pytest.mark.parametrize("name", ["sigmoid", "softplus", "softmax", "log_softmax", "tanh"])
def test_gradients_at_large_inputs_are_finite(name):
    x = K.variable([-1000.0, -50.0, 0.0, 50.0, 1000.0])
    g = K.gradients(getattr(K, name)(x)[1] * 2, x)[0]
    assert np.isfinite(value(g)).all()


def test_a_sigmoid_keeps_its_precision_near_zero():
    result = K.eval(K.sigmoid(K.constant(-50.0)))
    assert result == pytest.approx(math.exp(-50), rel=1e-5)


def test_logsumexp_of_huge_and_of_infinite_numbers():
    assert value(K.logsumexp(K.constant([1000.0, 1000.0]))) == pytest.approx(1000 + math.log(2))
    assert value(K.logsumexp(K.constant([-np.inf, 0.0]))) == 0.0
    assert value(K.logsumexp(K.constant([-np.inf, -np.inf]))) == -np.inf


def test_a_prediction_of_zero_or_one_has_a_finite_loss():
    p = K.constant([[0.0], [1.0]])
    wrong = value(K.binary_crossentropy(K.constant([[1.0], [0.0]]), p))
    assert wrong.ravel().tolist() == pytest.approx([16.118, 15.942], abs=1e-3)
    assert np.isfinite(value(K.categorical_crossentropy([[1.0, 0.0]], [[0.0, 1.0]]))).all()
    half = K.constant([[0.0], [1.0]], dtype="float16")
    assert np.isfinite(value(K.binary_crossentropy(K.constant([[1.0], [0.0]]), half))).all()


# --- activations and losses -----------------------------------------------------------------------


def test_hard_sigmoid_has_three_pieces():
    x = np.array([-3.0, -2.5, 0.0, 1.0, 2.5, 4.0])
    np.testing.assert_allclose(value(K.hard_sigmoid(x)), reference.hard_sigmoid(x), rtol=1e-6)


def losses_inputs():
    scores = numbers(6, 4)
    return scores, reference.softmax(scores), np.array([0, 1, 2, 3, 3, 0])


def test_the_three_ways_to_a_categorical_crossentropy_agree():
    scores, p, labels = losses_inputs()
    one_hot = reference.one_hot(labels, 4)
    expected = reference.categorical_crossentropy(one_hot, p)
    scores, p = (K.constant(a, dtype="float64") for a in (scores, p))
    column = K.constant(labels[:, None], dtype="float64")
    for loss in (
        K.categorical_crossentropy(one_hot, p),
        K.categorical_crossentropy(one_hot, 3 * p),
        K.categorical_crossentropy(one_hot, scores, from_logits=True),
        K.sparse_categorical_crossentropy(labels, p),
        K.sparse_categorical_crossentropy(column, p),
        K.sparse_categorical_crossentropy(labels, scores, from_logits=True),
        K.categorical_crossentropy(one_hot.T, K.transpose(p), axis=0),
        K.sparse_categorical_crossentropy(labels, K.transpose(p), axis=0),
    ):
        np.testing.assert_allclose(value(loss), expected, rtol=1e-6)


def test_binary_crossentropy_from_probabilities_and_from_logits():
    scores = numbers(5, 2)
    p, target = reference.sigmoid(scores), (numbers(5, 2, seed=1) > 0).astype(float)
    expected = reference.binary_crossentropy(target, p)
    p, scores = (K.constant(a, dtype="float64") for a in (p, scores))
    np.testing.assert_allclose(value(K.binary_crossentropy(target, p)), expected, rtol=1e-6)
    from_logits = K.binary_crossentropy(target, scores, from_logits=True)
    np.testing.assert_allclose(value(from_logits), expected, rtol=1e-10)


@pytest.mark.parametrize("label", [4, -1])
def test_a_class_number_that_no_class_has_is_refused(label):
    labels = K.placeholder((None,), dtype="int32")
    f = K.function([labels], K.sparse_categorical_crossentropy(labels, K.ones((2, 4))))
    with pytest.raises(DataError, match="from 0 to 3"):
        f([[0, label]])


def test_rows_are_scaled_to_length_one():
    x = numbers(3, 4)
    expected = reference.l2_normalize(x, (1,))
    np.testing.assert_allclose(value(K.l2_normalize(x, axis=1)), expected, rtol=1e-5)
    assert value(K.l2_normalize(K.zeros((2,)), axis=0)).tolist() == [0.0, 0.0]


# --- normalisation --------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [-1, 1])
def test_batch_normalization_along_an_axis(axis):
    x, n = numbers(2, 3, 4), (4 if axis == -1 else 3)
    facts = [np.abs(numbers(n, seed=seed)) for seed in range(4)]
    along = [f if axis == -1 else f[:, None] for f in facts]
    expected = reference.batch_normalization(x, *along)
    facts = [K.constant(f, dtype="float64") for f in facts]
    result = K.batch_normalization(K.constant(x, dtype="float64"), *facts, axis=axis)
    np.testing.assert_allclose(value(result), expected, rtol=1e-10)


def test_a_batch_is_normalised_by_its_own_statistics():
    x, gamma, beta = numbers(6, 5, 3), numbers(3, seed=1), numbers(3, seed=2)
    y, mean, var = K.normalize_batch_in_training(
        *(K.constant(a, dtype="float64") for a in (x, gamma, beta)), reduction_axes=[0, 1]
    )
    assert mean.shape == var.shape == (3,)
    np.testing.assert_allclose(value(mean), reference.mean(x, (0, 1)), rtol=1e-12)
    np.testing.assert_allclose(value(var), reference.var(x, (0, 1)), rtol=1e-12)
    middle, spread = (reference.mean(x, (0, 1)), reference.var(x, (0, 1)))
    expected = reference.batch_normalization(x, middle, spread, beta, gamma)
    np.testing.assert_allclose(value(y), expected, rtol=1e-10)


def test_a_running_mean_moves_by_its_momentum():
    v = K.variable([1.0, 2.0])
    K.function([], [], updates=[K.moving_average_update(v, K.constant([3.0, 3.0]), 0.9)])([])
    assert K.get_value(v).tolist() == pytest.approx([1.2, 2.1])


@pytest.mark.parametrize(
    ("shape", "bias_shape", "layout"),
    [
        ((2, 3), (3,), "channels_last"),
        ((2, 4, 5, 3), (3,), "channels_last"),
        ((2, 4, 5, 3), (4, 5, 3), "channels_last"),
        ((2, 3, 4, 5), (3,), "channels_first"),
        ((2, 3, 4, 5), (4, 5, 3), "channels_first"),
        ((2, 3), (3,), "channels_first"),
    ],
)
def test_a_bias_is_added_to_its_channels(shape, bias_shape, layout):
    x, bias = numbers(*shape), numbers(*bias_shape, seed=1)
    result = value(K.bias_add(K.constant(x), K.constant(bias), layout))
    for place in np.ndindex(*shape):
        first = layout == "channels_first"
        laid_out = bias.reshape(bias.shape[-1], *bias.shape[:-1]) if first else bias
        own = bias[place[1] if first else place[-1]] if bias.ndim == 1 else laid_out[place[1:]]
        assert result[place] == pytest.approx(x[place] + own, rel=1e-4, abs=1e-5)


def test_a_bias_of_the_wrong_rank_and_an_unknown_layout_are_refused():
    with pytest.raises(ShapeError, match="with 1 or 3 axes"):
        K.bias_add(K.zeros((2, 3, 4, 5)), K.zeros((4, 5)))
    with pytest.raises(ArgumentError, match="expected 'channels_last' or 'channels_first'"):
        K.bias_add(X, K.zeros((20,)), data_format="sideways")


# --- products -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x_shape", "y_shape", "axes"),
    [
        ((4, 3), (4, 3), (1, 1)),
        ((4, 3), (4, 5, 3), (1, 2)),
        ((4, 5, 3), (4, 3), (2, 1)),
        ((4, 2, 3), (4, 3, 5), (2, 1)),
        ((4, 3, 2), (4, 3, 5), (1, 1)),
        ((2, 3, 4, 5), (2, 6, 5), (3, 2)),
    ],
)
def test_batch_dot_contracts_a_pair_of_axes_in_each_sample(x_shape, y_shape, axes):
    x, y = numbers(*x_shape), numbers(*y_shape, seed=1)
    result = value(K.batch_dot(K.constant(x), K.constant(y), axes))
    np.testing.assert_allclose(result, reference.batch_dot(x, y, axes), rtol=1e-4, atol=1e-5)


def test_sizes_that_do_not_meet_are_named():
    with pytest.raises(ShapeError, match=r"dot: expected .*20 and 64 in shapes"):
        K.dot(X, K.zeros((64, 20)))
    with pytest.raises(ShapeError, match="expected equal inner sizes"):
        K.batch_dot(X, T, axes=(1, 1))
    with pytest.raises(ArgumentError, match="0, which counts the samples"):
        K.batch_dot(X, T, axes=(0, 1))
    with pytest.raises(ShapeError, match="Use \\* for scalars"):
        X @ 2.0


# --- shapes and parts -----------------------------------------------------------------------------


def test_a_shape_may_be_computed():
    x = K.placeholder((None, 4, 6))
    y = K.reshape(x, (K.shape(x)[0] * 2, -1))
    f = K.function([x], [y, K.gradients(K.sum(y * y), x)[0]])
    data = numbers(3, 4, 6).astype("float32")
    result, gradient = f([data])
    np.testing.assert_array_equal(result, data.reshape(6, 12))
    np.testing.assert_array_equal(gradient, 2 * data)


def test_a_slice_may_be_computed():
    x = K.placeholder((None, 4))
    half = K.slice(x, [0, 1], K.stack([K.shape(x)[0] - 1, 2]))
    data = numbers(5, 4).astype("float32")
    np.testing.assert_array_equal(K.function([x], half)([data]), data[:4, 1:3])


@pytest.mark.parametrize(
    "index",
    [
        0,
        -1,
        np.int64(1),
        slice(1, 3),
        slice(None, None, -1),
        (slice(None), 2),
        (Ellipsis, 0),
        (0, Ellipsis, slice(None, -1)),
        (None, slice(1, None), None, 1),
        (1, 2, 3),
        (),
        Ellipsis,
    ],
    ids=repr,
)
def test_indexing_is_that_of_numpy(index):
    data = numbers(4, 3, 5)
    x = K.constant(data, dtype="float64")
    assert x[index].shape == data[index].shape
    np.testing.assert_array_equal(value(x[index]), data[index])


def test_an_index_of_whole_numbers_takes_rows():
    data = numbers(4, 2)
    x = K.constant(data, dtype="float64")
    np.testing.assert_array_equal(value(x[[3, 0, 3]]), data[[3, 0, 3]])
    np.testing.assert_array_equal(value(x[K.constant([[1], [2]], "int64")]), data[[[1], [2]]])


@pytest.mark.parametrize(
    ("index", "error"),
    [
        ((0, 0, 0), ArgumentError),
        ((Ellipsis, Ellipsis), ArgumentError),
        ("a", DtypeError),
        (True, DtypeError),
        (1.5, DtypeError),
        ([0.5], DtypeError),
        ((slice(None), 20), ShapeError),
        ((slice(None), -21), ShapeError),
    ],
    ids=repr,
)
def test_what_is_no_index_is_refused(index, error):
    with pytest.raises(error):
        X[index]


def test_rows_are_taken_by_whole_numbers_only():
    with pytest.raises(DtypeError, match=r"expected integer indices, .* K.cast\(indices"):
        K.gather(W, X)
    with pytest.raises(
        DtypeError, match=r"expected integer indices, .*bool. For a mask use K.switch\(mask"
    ):
        X[X > 0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: K.reshape(K.zeros((2, 3)), (4, 2)), "6 elements"),
        (lambda: K.reshape(X, (None, 20)), "sizes must be whole numbers, .* not None"),
        (lambda: K.squeeze(X, 1), "expected size 1"),
        (lambda: K.repeat(T, 2), "expected x with 2 axes"),
        (lambda: K.concatenate([X, T], axis=0), "axes in each tensor"),
        (lambda: K.concatenate([X, W], axis=0), "differ outside axis 0"),
        (lambda: K.stack([X, W]), "of equal shapes"),
        (lambda: K.permute_dimensions(X, (0, 0)), "each of 2 axes once"),
        (lambda: K.tile(X, (1, 2, 3)), "at most 2 numbers"),
        (lambda: K.expand_dims(X, 4), "got 4"),
        (lambda: K.slice(X, [0], [1, 2]), "one number for each of 2 axes"),
        (lambda: K.slice(W, [0, 60], [1, 5]), "expected a slice inside"),
    ],
)
def test_shapes_that_cannot_be_are_refused(call, words):
    with pytest.raises((ShapeError, ArgumentError), match=words):
        call()


# --- choices --------------------------------------------------------------------------------------


def test_a_condition_of_fewer_axes_chooses_whole_rows():
    condition = K.constant([True, False], dtype="bool")
    result = value(K.switch(condition, K.ones((2, 3)), K.zeros((2, 3))))
    assert result.tolist() == [[1.0] * 3, [0.0] * 3]


def test_branches_of_a_switch_may_be_callables():
    assert value(K.switch(K.constant(0.0) > 1, lambda: K.zeros((2,)), lambda: K.ones((2,)))).all()


def test_a_condition_of_more_axes_is_refused():
    with pytest.raises(ShapeError, match="expected a condition with at most"):
        K.switch(X > 0, K.zeros((20,)), K.ones((20,)))


def test_no_gradient_and_no_nan_comes_from_the_branch_not_chosen():
    x = K.variable([0.0, 4.0])
    y = K.switch(x > 0, K.log(x), K.zeros_like(x))
    assert value(y).tolist() == pytest.approx([0.0, math.log(4)])
    g = value(K.gradients(K.sum(K.switch(x > 0, 3 * x, x)), x)[0])
    assert g.tolist() == [1.0, 3.0]


# --- names ----------------------------------------------------------------------------------------


def test_numbers_from_zero_or_between_bounds():
    assert value(K.arange(4)).tolist() == [0, 1, 2, 3]
    assert value(K.arange(5, 1, -2, dtype="float32")).tolist() == [5.0, 3.0]
    assert K.arange(4).dtype == "int32"
    assert value(K.arange(K.shape(W)[0], K.shape(W)[1], 20)).tolist() == [20, 40, 60]


def test_one_hot_rows_are_of_floatx(monkeypatch):
    monkeypatch.setattr(config, "floatx", "float64")
    assert K.one_hot(K.constant([1], dtype="int32"), 2).dtype == "float64"


def test_batch_dot_over_the_samples_is_refused_in_dialect_3(monkeypatch):
    x = K.constant([[1.0, 2.0], [3.0, 4.0]])
    assert K.eval(K.batch_dot(x, x, axes=0)).tolist() == [[10.0], [20.0]]
    monkeypatch.setattr(config, "dialect", "3")
    with pytest.raises(ArgumentError, match="axes other than 0, which counts the samples"):
        K.batch_dot(x, x, axes=0)
