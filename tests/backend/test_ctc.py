"""CTC: the cost against brute force and Keras 3, decoding, mistakes."""

import itertools

import numpy as np
import pytest
import reference_ctc

from kerascope import backend as K
from kerascope.backend.graph import Placeholder
from kerascope.errors import ArgumentError, DataError, GradientError, KerascopeError, ShapeError
from kerascope.settings import config

LABELS = np.array([[0, 0, 2], [1, 2, 1], [2, 0, 0], [1, 0, 0]])
STEPS = np.array([[5], [4], [3], [5]])
LENGTHS = np.array([[2], [3], [0], [1]])


def probabilities(batch=4, n_steps=5, classes=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(classes), (batch, n_steps))


def cost_of(labels, p, steps, lengths):
    inputs = [
        Placeholder(np.shape(x), np.asarray(x).dtype.name, "x") for x in (labels, p, steps, lengths)
    ]
    cost = K.ctc_batch_cost(*inputs)
    grads = K.gradients(K.sum(cost), inputs[1])
    return K.function(inputs, [cost, *grads])([labels, p, steps, lengths])


def normalized(p):
    """What K.ctc_batch_cost makes of probabilities before it begins."""
    p = p + config.epsilon
    return np.log(p / p.sum(axis=-1, keepdims=True))


def test_the_cost_is_that_of_all_paths_written_out():
    p = probabilities()
    cost, _ = cost_of(LABELS, p, STEPS, LENGTHS)
    expected = reference_ctc.cost(normalized(p), LABELS, STEPS[:, 0], LENGTHS[:, 0])
    assert cost.shape == (4, 1)
    np.testing.assert_allclose(cost[:, 0], expected, rtol=1e-12)


def test_the_gradient_agrees_with_finite_differences():
    p = probabilities()
    _, gradient = cost_of(LABELS, p, STEPS, LENGTHS)
    y_pred = Placeholder(p.shape, "float64", "y_pred")
    total = K.function([y_pred], K.sum(K.ctc_batch_cost(LABELS, y_pred, STEPS, LENGTHS)))
    for place in np.ndindex(p.shape):
        totals = []
        for step in (1e-6, -1e-6):
            moved = p.copy()
            moved[place] += step
            totals.append(total([moved]))
        assert gradient[place] == pytest.approx((totals[0] - totals[1]) / 2e-6, rel=1e-5, abs=1e-6)


def test_steps_behind_the_end_do_not_matter():
    p = probabilities()
    before = cost_of(LABELS, p, STEPS, LENGTHS)
    moved, labels = p.copy(), LABELS.copy()
    moved[1, 4], moved[2, 3:], labels[2] = 0.25, 0.25, 77
    after = cost_of(labels, moved, STEPS, LENGTHS)
    np.testing.assert_array_equal(before[0], after[0])
    assert not after[1][1, 4].any()
    assert not after[1][2, 3:].any()


def test_long_sequences_of_sure_predictions_stay_finite():
    labels = np.tile(np.arange(5), (2, 20))
    p = np.zeros((2, 400, 6), "float32")
    p[:, np.arange(400), np.repeat(labels[0], 4)] = 1
    cost, gradient = cost_of(labels, p, [[400], [399]], [[100], [99]])
    assert cost[0, 0] < 0.01
    assert 10 < cost[1, 0] < 100  # one step must be something else than what is predicted
    assert np.isfinite(gradient).all()


def test_a_label_that_cannot_be_spelt_costs_infinity_and_sends_no_gradient():
    labels = np.array([[0, 0, 0], [0, 1, 2]])
    cost, gradient = cost_of(labels, probabilities(2, 4), [[4], [4]], [[3], [3]])
    assert np.isinf(cost[0, 0])
    assert np.isfinite(cost[1, 0])
    assert not gradient[0].any()
    assert gradient[1].any()


def test_a_network_learns_to_spell():
    rng = np.random.default_rng(0)
    logits = K.variable(rng.normal(size=(2, 8, 4)))
    y_pred = K.softmax(logits)
    labels, lengths = K.constant([[0, 1, 1], [2, 0, 0]]), K.constant([[3], [1]])
    cost = K.mean(K.ctc_batch_cost(labels, y_pred, K.constant([[8], [8]]), lengths))
    train = K.function([], [cost], updates=[(logits, logits - 2 * K.gradients(cost, logits)[0])])
    costs = [float(train([])[0]) for _ in range(100)]
    assert costs[-1] < 0.1 < 3 < costs[0]
    decoded, _ = K.ctc_decode(y_pred, K.constant([8, 8]))
    assert K.eval(decoded[0]).tolist() == [[0, 1, 1], [2, -1, -1]]


def test_agrees_with_keras_3(keras):
    p, labels = probabilities(classes=5), LABELS
    blank = p.shape[2] - 1
    ours, _ = cost_of(labels, p, STEPS, np.maximum(LENGTHS, 1))
    theirs = keras.ops.ctc_loss(
        labels.astype("int32"),
        normalized(p).astype("float32"),
        np.maximum(LENGTHS, 1)[:, 0].astype("int32"),
        STEPS[:, 0].astype("int32"),
        mask_index=blank,
    )
    np.testing.assert_allclose(ours[:, 0], np.asarray(theirs), rtol=1e-4)


@pytest.mark.parametrize("strategy", ["greedy", "beam_search"])
def test_decoding_agrees_with_keras_3(keras, strategy):
    p = probabilities(3, 5, 4, seed=2)
    steps = np.array([5, 3, 4])
    arguments = {} if strategy == "greedy" else {"beam_width": 32, "top_paths": 2}
    decoded, scores = K.ctc_decode(
        K.constant(p, "float64"), K.constant(steps), greedy=strategy == "greedy", **arguments
    )
    theirs, their_scores = keras.ops.ctc_decode(
        normalized(p).astype("float32"),
        steps.astype("int32"),
        strategy=strategy,
        mask_index=3,
        **({"merge_repeated": True} if strategy == "greedy" else arguments),
    )
    for place, label in enumerate(decoded):
        ours = K.eval(label)
        right = np.asarray(theirs)[place]
        np.testing.assert_array_equal(ours, right[:, : ours.shape[1]])
        assert (right[:, ours.shape[1] :] == -1).all()
    np.testing.assert_allclose(K.eval(scores), np.asarray(their_scores), rtol=1e-4)


def test_the_best_path_is_not_always_the_best_label():
    y_pred = K.constant([[[0.4, 0.0, 0.6], [0.4, 0.0, 0.6]]])
    best, minus_log = K.ctc_decode(y_pred, K.constant([2]))
    assert K.eval(best[0]).shape == (1, 0)
    assert K.eval(minus_log)[0, 0] == pytest.approx(-np.log(0.36), rel=1e-5)
    found, logs = K.ctc_decode(y_pred, K.constant([2]), greedy=False, top_paths=2)
    assert [K.eval(label).tolist() for label in found] == [[[0]], [[]]]
    np.testing.assert_allclose(np.exp(K.eval(logs)), [[0.64, 0.36]], rtol=1e-5)


def test_a_wide_search_finds_the_best_labels_and_their_probabilities():
    p = probabilities(3, 5, 3, seed=4)
    found, logs = K.ctc_decode(K.constant(p, "float64"), K.constant([5, 5, 4]), False, 200, 3)
    for sample, n_steps in enumerate((5, 5, 4)):
        labels = reference_ctc.labels_of(normalized(p)[sample, :n_steps])
        right = sorted(labels, key=lambda label: -labels[label])[:3]
        for place, label in enumerate(right):
            row = K.eval(found[place])[sample]
            assert tuple(row[row >= 0]) == label
            assert np.exp(K.eval(logs)[sample, place]) == pytest.approx(labels[label])


def test_decoding_merges_repeats_unless_a_blank_is_between():
    path = [0, 0, 2, 0, 1, 1, 2]
    y_pred = np.eye(3)[path][None]
    for greedy in (True, False):
        decoded, _ = K.ctc_decode(K.constant(y_pred), K.constant([[7]]), greedy=greedy)
        assert K.eval(decoded[0]).tolist() == [[0, 0, 1]]


# --- mistakes -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "steps", "lengths", "message"),
    [
        ([[3]], [[5]], [[1]], "labels from 0 to 2, got 3 to 3. Of 4 classes the last one is"),
        ([[-1]], [[5]], [[1]], "labels from 0 to 2, got -1"),
        ([[0]], [[6]], [[1]], "input_length from 0 to 5, got 6 to 6"),
        ([[0]], [[5]], [[2]], "label_length from 0 to 1, got 2 to 2"),
        (
            [[0], [0]],
            [[5]],
            [[1]],
            r"predictions \(1\), got 2 labels, 1 input lengths, 1 label lengths",
        ),
    ],
)
def test_labels_and_lengths_are_checked(labels, steps, lengths, message):
    with pytest.raises(DataError, match=message):
        cost_of(np.array(labels), probabilities(1), steps, lengths)


def test_shapes_are_checked():
    with pytest.raises(ShapeError, match=r"y_pred \(batch, time, cl.* got \(5, 4\)"):
        K.ctc_batch_cost(K.zeros((2, 3)), K.zeros((5, 4)), K.zeros((2, 1)), K.zeros((2, 1)))
    with pytest.raises(ShapeError, match=r"K\.ctc_batch_cost: expected lengths .* \(2, 3\)"):
        K.ctc_batch_cost(K.zeros((2, 3)), K.zeros((2, 5, 4)), K.zeros((2, 3)), K.zeros((2, 1)))
    with pytest.raises(ShapeError, match=r"K\.ctc_decode: expected y_pred .* got shape \(5, 4\)"):
        K.ctc_decode(K.zeros((5, 4)), K.zeros((5,)))


def test_the_number_of_paths_is_checked():
    y_pred = K.constant(probabilities(1, 1, 3))
    with pytest.raises(ArgumentError, match="top_paths 3 and beam_width 2"):
        K.ctc_decode(y_pred, K.constant([1]), greedy=False, beam_width=2, top_paths=3)
    found, _ = K.ctc_decode(y_pred, K.constant([1]), greedy=False, top_paths=4)
    with pytest.raises(DataError, match="expected 4 labels .* sample 0 of 1 steps, got 3"):
        K.eval(found[0])


def test_what_is_not_there_says_so():
    y_pred = K.variable(probabilities(1))
    cost = K.ctc_batch_cost(K.constant([[0]]), y_pred, K.constant([[5]]), K.constant([[1]]))
    gradient = K.gradients(cost, y_pred)[0]
    with pytest.raises(GradientError, match="second derivative is not defined"):
        K.gradients(K.sum(gradient), y_pred)
    with pytest.raises(KerascopeError, match=r"No tensor is sparse: K\.ctc_batch_cost takes dense"):
        _ = K.ctc_label_dense_to_sparse


def test_every_short_label_is_spelt_by_some_paths():
    """The probabilities of all labels sum to 1."""
    p = probabilities(1, 3, 3, seed=9)
    labels = [label for n in range(4) for label in itertools.product(range(2), repeat=n)]
    rows = np.array([(*label, 0, 0, 0)[:3] for label in labels])
    count = len(labels)
    cost, _ = cost_of(
        rows,
        np.repeat(p, count, axis=0),
        np.full((count, 1), 3),
        np.array([[len(label)] for label in labels]),
    )
    assert np.exp(-cost).sum() == pytest.approx(1)


def test_the_best_path_has_minus_the_logarithms_of_its_probabilities_as_they_are_given():
    """As Keras 2.2.4 on TensorFlow: the greatest of log(p + epsilon) of each step, not rescaled."""
    p = np.array([[[0.2, 0.4, 0.1], [0.5, 0.1, 0.3], [0.1, 0.1, 0.7]]] * 2)
    for steps, greatest in (([3, 2], [[0.4, 0.5, 0.7], [0.4, 0.5]]), ([1, 0], [[0.4], []])):
        _, score = K.ctc_decode(K.constant(p, "float64"), K.constant(steps))
        expected = [-np.log(np.array(one) + 1e-7).sum() for one in greatest]
        np.testing.assert_allclose(K.eval(score)[:, 0], expected, rtol=1e-12)
