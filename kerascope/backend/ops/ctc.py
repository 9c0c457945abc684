"""Connectionist temporal classification: the cost of labels whose places in time nobody knows.

A network gives at each step probabilities of the classes and of a *blank*, which is the last class.
A path is one class for each step; it spells a label when repeats are merged and blanks are dropped:
`aa-ab-` spells `aab`. The cost is -log of the total probability of all paths that spell the label.

The sum over all paths is a walk over the *extended* label, which has a blank before, between and
after its classes. From one step to the next a path stays, goes on by one, or jumps over a blank
between two different classes.

References
----------
.. [1] A. Graves, S. Fernandez, F. Gomez, J. Schmidhuber, "Connectionist temporal classification:
   labelling unsegmented sequence data with recurrent neural networks", 2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kerascope.backend.graph import Op, as_tensor
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.elementwise import floating, log
from kerascope.backend.ops.nn import log_softmax
from kerascope.backend.ops.shaping import ExpandDims, Squeeze
from kerascope.errors import DataError, GradientError, ShapeError
from kerascope.settings import config

__all__ = ["ctc_batch_cost"]


class Walk(NamedTuple):
    """What the walks over the extended labels of a batch need.

    Attributes
    ----------
    places : array, shape (batch, places)
        The extended labels.
    emissions : array, shape (time, batch, places)
        Log-probability of the class of each place at each step.
    jumps : array, shape (batch, places)
        0 where a path may jump to a place from the last but one, else -inf.
    last : array, shape (batch, places)
        0 at the places where a path may end, else -inf.
    """

    places: np.ndarray
    emissions: np.ndarray
    jumps: np.ndarray
    last: np.ndarray


def _check(log_probabilities, labels, steps, lengths):
    """Hold the arrays to each other; the labels of no interest may hold anything."""
    batch, time, classes = log_probabilities.shape
    if len(labels) != batch or steps.shape != (batch,) or lengths.shape != (batch,):
        raise DataError(
            f"K.ctc_batch_cost: {batch} predictions, {len(labels)} labels, {len(steps)} input "
            f"lengths, {len(lengths)} label lengths; expected equally many."
        )
    for name, values, most in (
        ("input_length", steps, time),
        ("label_length", lengths, labels.shape[1]),
    ):
        if values.size and not 0 <= values.min() <= values.max() <= most:
            raise DataError(
                f"K.ctc_batch_cost: {name} from {values.min()} to {values.max()}; expected 0 to "
                f"{most}."
            )
    used = labels[np.arange(labels.shape[1]) < lengths[:, None]]
    if used.size and not 0 <= used.min() <= used.max() < classes - 1:
        raise DataError(
            f"K.ctc_batch_cost: labels from {used.min()} to {used.max()}; expected 0 to "
            f"{classes - 2}: of {classes} classes the last one is the blank."
        )


def _walk(log_probabilities, labels, lengths):
    """Extend the labels and find out where their paths may go."""
    batch, _, classes = log_probabilities.shape
    blank = classes - 1
    places = np.full((batch, 2 * labels.shape[1] + 1), blank)
    in_use = np.arange(labels.shape[1]) < lengths[:, None]
    places[:, 1::2] = np.where(in_use, labels, blank)
    emissions = np.take_along_axis(log_probabilities, places[:, None], axis=2).swapaxes(0, 1)
    jumps = np.full(places.shape, -np.inf, log_probabilities.dtype)
    jumps[:, 2:][(places[:, 2:] != places[:, :-2]) & (places[:, 2:] != blank)] = 0
    last = np.full(places.shape, -np.inf, log_probabilities.dtype)
    ends = 2 * lengths[:, None] - np.arange(places.shape[1])
    last[(ends == 0) | (ends == 1)] = 0
    return Walk(places, emissions, jumps, last)


def _moved(x, by):
    """Return the columns of `x` moved to the right (or left); what comes in is -inf."""
    moved = np.full_like(x, -np.inf)
    if by > 0:
        moved[:, by:] = x[:, :-by]
    else:
        moved[:, :by] = x[:, -by:]
    return moved


def _sum_of_powers(x, y, z):
    """Return log(e^x + e^y + e^z)."""
    return np.logaddexp(np.logaddexp(x, y), z)


def _forward(walk, n_steps):
    """Return for each number of steps and each place the log-probability to have come there."""
    reached = np.full((n_steps + 1, *walk.places.shape), -np.inf, walk.emissions.dtype)
    before = reached[0].copy()
    before[:, 0] = 0  # so that the first step can go to the first blank or the first class
    reached[0, :, 0] = 0
    for step in range(n_steps):
        two_back = _moved(before, 2) + walk.jumps
        before = _sum_of_powers(before, _moved(before, 1), two_back) + walk.emissions[step]
        reached[step + 1] = before
    return reached


def _backward(walk, steps, n_steps):
    """Return for each step and each place the log-probability to come to the end from there."""
    to_come = np.full((n_steps, *walk.places.shape), -np.inf, walk.emissions.dtype)
    after = np.full(walk.places.shape, -np.inf, walk.emissions.dtype)
    for step in range(n_steps - 1, -1, -1):
        if step + 1 < n_steps:
            ahead = after + walk.emissions[step + 1]
            after = _sum_of_powers(ahead, _moved(ahead, -1), _moved(ahead + walk.jumps, -2))
        after = np.where((steps == step + 1)[:, None], walk.last, after)
        to_come[step] = after
    return to_come


def _totals(walk, reached, steps):
    """Return for each sample the log-probability of all its paths together."""
    ends = reached[steps, np.arange(len(steps))] + walk.last
    return np.logaddexp.reduce(ends, axis=1)


class CtcCost(Op):
    """-log of the probability of each sample's label.

    Inputs: log-probabilities (batch, time, classes), labels (batch, longest), numbers of steps
    (batch,), lengths of the labels (batch,). A label that no path can spell costs infinity.
    """

    may_refuse = True

    def infer_shape(self, log_probabilities, labels, steps, lengths):
        if log_probabilities.ndim != 3 or labels.ndim != 2:
            raise ShapeError(
                f"K.ctc_batch_cost: y_pred has shape {log_probabilities.shape}, y_true "
                f"{labels.shape}; expected (batch, time, classes) and (batch, longest label).",
                subject=log_probabilities,
            )
        return log_probabilities.shape[:1]

    def perform(self, log_probabilities, labels, steps, lengths):
        _check(log_probabilities, labels, steps, lengths)
        walk = _walk(log_probabilities, labels, lengths)
        return -_totals(walk, _forward(walk, log_probabilities.shape[1]), steps)

    def grad(self, inputs, outputs, output_grads):
        shares = CtcShares()(*inputs)
        return [ExpandDims((1, 2))(-output_grads[0]) * shares, None, None, None]


class CtcShares(Op):
    """The probability that the path is in a class at a step, given that it spells the label.

    Inputs as for `CtcCost`. Zero after the last step of a sample, and for a label that no path can
    spell.
    """

    may_refuse = True

    def infer_shape(self, log_probabilities, labels, steps, lengths):
        return log_probabilities.shape

    def perform(self, log_probabilities, labels, steps, lengths):
        _check(log_probabilities, labels, steps, lengths)
        _, n_steps, classes = log_probabilities.shape
        walk = _walk(log_probabilities, labels, lengths)
        reached = _forward(walk, n_steps)
        totals = _totals(walk, reached, steps)
        possible = np.isfinite(totals)
        totals = np.where(possible, totals, 0)[:, None]
        through = np.exp(reached[1:] + _backward(walk, steps, n_steps) - totals)
        through[:, ~possible] = 0
        classes_of_places = walk.places[:, :, None] == np.arange(classes)
        return np.matmul(through.swapaxes(0, 1), classes_of_places.astype(through.dtype))

    def grad(self, inputs, outputs, output_grads):
        raise GradientError(
            "K.ctc_batch_cost: the gradient of its gradient is not defined here. Use the cost in "
            "the loss itself, not in the gradient of something.",
            subject=inputs[0],
        )


def ctc_log_probabilities(y_pred):
    """Return the logarithms of probabilities, moved away from 0 and made to sum to 1 again."""
    return log_softmax(log(floating(y_pred) + config.epsilon))


def lengths_of(x, where):
    """Return lengths of shape (batch,) or (batch, 1) as ints of shape (batch,)."""
    x = cast(as_tensor(x), "int64")
    if x.ndim == 2 and x.shape[1] in (1, None):
        return Squeeze((1,))(x)
    if x.ndim != 1:
        raise ShapeError(
            f"{where}: lengths '{x.name}' have shape {x.shape}; expected (batch, 1).", subject=x
        )
    return x


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """Return the CTC cost of each sample of a batch.

    Parameters
    ----------
    y_true : Tensor, shape (batch, longest label)
        Class numbers; what stands behind the end of a label does not matter.
    y_pred : Tensor, shape (batch, time, classes)
        Probabilities, as a softmax gives them. The last class is the blank.
    input_length : Tensor, shape (batch, 1), int
        How many steps of each prediction count.
    label_length : Tensor, shape (batch, 1), int
        How many classes each label has.

    Returns
    -------
    Tensor, shape (batch, 1)

    Raises
    ------
    DataError
        At run time: a class number or a length is out of range.

    Notes
    -----
    -log of the sum over all paths that spell the label of the product of their probabilities.
    `K.epsilon()` is added to every probability before.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> y_pred = K.constant([[[0.5, 0.5], [0.5, 0.5]]])  # 'a' or blank, twice
    >>> cost = K.ctc_batch_cost(K.constant([[0]]), y_pred, K.constant([[2]]), K.constant([[1]]))
    >>> round(float(K.eval(K.exp(-cost))[0, 0]), 4)  # aa, a-, -a spell it; -- does not
    0.75
    """
    where = "K.ctc_batch_cost"
    costs = CtcCost()(
        ctc_log_probabilities(y_pred),
        cast(as_tensor(y_true), "int64"),
        lengths_of(input_length, where),
        lengths_of(label_length, where),
    )
    return ExpandDims((1,))(costs)
