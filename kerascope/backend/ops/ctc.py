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

from kerascope.backend.graph import Op, ShapeOfFirst, as_tensor, parametric
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.comparison import equal, greater, less, not_equal
from kerascope.backend.ops.elementwise import floating, log
from kerascope.backend.ops.indexing import arange, shape, slice
from kerascope.backend.ops.joining import concatenate, stack
from kerascope.backend.ops.nn import log_softmax
from kerascope.backend.ops.reduction import max, sum
from kerascope.backend.ops.shaping import ExpandDims, Squeeze
from kerascope.backend.types import Gradients, Shape, Tensor, TensorLike, Tensors
from kerascope.errors import ArgumentError, DataError, GradientError, ShapeError
from kerascope.settings import config

__all__ = ["ctc_batch_cost", "ctc_decode"]


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
            f"{classes - 2}: of {classes} classes the last one is the blank. "
            "In Keras 3's ctc they are one more, since the blank is 0 there: it ends a label."
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


def _moved(x: np.ndarray, by: int) -> np.ndarray:
    """Return the columns of `x` moved to the right (or left); what comes in is -inf."""
    moved = np.full_like(x, -np.inf)
    if by > 0:
        moved[:, by:] = x[:, :-by]
    else:
        moved[:, :by] = x[:, -by:]
    return moved


def _sum_of_powers(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return log(e^x + e^y + e^z)."""
    return np.logaddexp(np.logaddexp(x, y), z)


def _forward(walk: Walk, n_steps: int) -> np.ndarray:
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


def _backward(walk: Walk, steps: np.ndarray, n_steps: int) -> np.ndarray:
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


def _totals(walk: Walk, reached: np.ndarray, steps: np.ndarray) -> np.ndarray:
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

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        shares = CtcShares()(*inputs)
        return [ExpandDims((1, 2))(-output_grads[0]) * shares, None, None, None]


class CtcShares(ShapeOfFirst):
    """The probability that the path is in a class at a step, given that it spells the label.

    Inputs as for `CtcCost`. Zero after the last step of a sample, and for a label that no path can
    spell.
    """

    may_refuse = True

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

    def grad(self, inputs: Tensors, outputs: Tensors, output_grads: Tensors) -> Gradients:
        raise GradientError(
            "K.ctc_batch_cost: the gradient of its gradient is not defined here. Use the cost in "
            "the loss itself, not in the gradient of something.",
            subject=inputs[0],
        )


def ctc_log_probabilities(y_pred: TensorLike) -> Tensor:
    """Return the logarithms of probabilities, moved away from 0 and made to sum to 1 again."""
    return log_softmax(log(floating(y_pred) + config.epsilon))


def lengths_of(x: TensorLike, where: str) -> Tensor:
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


def ctc_loss(target, output, target_length, output_length, mask_index=0):
    """Return the CTC cost of each sample: -log of the probability of all that spells the label.

    Parameters
    ----------
    target : tensor of int, shape (batch, longest label)
    output : tensor, shape (batch, time, classes)
        Logits.
    target_length, output_length : tensor of int, shape (batch,)
    mask_index : int
        The class that is the blank.
    """
    output = floating(output)
    classes = output.shape[-1] or 1
    blank = mask_index % classes
    parts = [output[..., :blank], output[..., blank + 1 :], output[..., blank : blank + 1]]
    labels = cast(as_tensor(target), "int64")
    is_blank = cast(equal(labels, blank), "int64")  # it is the last one there, and refused
    labels = labels - cast(greater(labels, blank), "int64") + is_blank * (classes - 1 - blank)
    lengths = (cast(as_tensor(length), "int64") for length in (output_length, target_length))
    return CtcCost()(log_softmax(concatenate(parts)), labels, *lengths)


# --- from probabilities to labels: the best path, or a search with beams --------------------------
#
# Both drop blanks and merge repeats of a path.


_NOTHING = -1  # fills up the rows of labels


class CtcBestPath(Op):
    """The label that the most probable class of each step spells, filled up with -1.

    Inputs: log-probabilities (batch, time, classes), numbers of steps (batch,).
    """

    def infer_shape(self, log_probabilities: Tensor, steps: Tensor) -> Shape:
        return log_probabilities.shape[:2]

    def infer_dtype(self, log_probabilities: Tensor, steps: Tensor) -> str:
        return "int64"

    def perform(self, log_probabilities: np.ndarray, steps: np.ndarray) -> np.ndarray:
        _, n_steps, classes = log_probabilities.shape
        path = log_probabilities.argmax(axis=2)
        kept = (path != classes - 1) & (np.arange(n_steps) < steps[:, None])
        kept[:, 1:] &= path[:, 1:] != path[:, :-1]
        labels = np.full(path.shape, _NOTHING, "int64")
        rows, _ = np.nonzero(kept)
        labels[rows, np.cumsum(kept, axis=1)[kept] - 1] = path[kept]
        return labels


@parametric
class CtcBeamSearch(Op):
    """The `top_paths` labels that a search with `beam_width` beams finds, the best one first.

    Inputs: log-probabilities (batch, time, classes), numbers of steps (batch,). Output (batch,
    top_paths, time), filled up with -1.
    """

    beam_width: int
    top_paths: int
    may_refuse = True

    def infer_shape(self, log_probabilities: Tensor, steps: Tensor) -> Shape:
        batch, n_steps, _ = log_probabilities.shape
        return (batch, self.top_paths, n_steps)

    def infer_dtype(self, log_probabilities: Tensor, steps: Tensor) -> str:
        return "int64"

    def perform(self, log_probabilities: np.ndarray, steps: np.ndarray) -> np.ndarray:
        batch, n_steps, _ = log_probabilities.shape
        labels = np.full((batch, self.top_paths, n_steps), _NOTHING, "int64")
        for sample in range(batch):
            found = _search(log_probabilities[sample, : steps[sample]], self.beam_width)
            if len(found) < self.top_paths:
                raise DataError(
                    f"K.ctc_decode: sample {sample} of {steps[sample]} steps has {len(found)} "
                    f"labels; expected top_paths = {self.top_paths}. Ask for fewer."
                )
            for place, label in enumerate(found[: self.top_paths]):
                labels[sample, place, : len(label)] = label
        return labels


def _search(log_probabilities: np.ndarray, beam_width: int) -> list[tuple[int, ...]]:
    """Return the labels of the beams that are left after the last step, the best one first.

    A beam is a label with two log-probabilities: of the paths that spell it and end in a blank, and
    of those that end in its last class. Only the latter spell the same label when the class comes
    once more; the former begin a repeat.
    """
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, -np.inf)}
    for step in log_probabilities.astype("float64"):
        grown: dict[tuple[int, ...], tuple[float, float]] = {}
        for label, (blank, closed) in beams.items():
            total = np.logaddexp(blank, closed)
            stays = closed + step[label[-1]] if label else -np.inf
            _join(grown, label, total + step[-1], stays)
            for number in range(len(step) - 1):
                start = blank if label and number == label[-1] else total
                _join(grown, (*label, number), -np.inf, start + step[number])
        beams = dict(_best(grown)[:beam_width])
    return [label for label, _ in _best(beams)]


def _join(beams, label, blank, closed):
    """Add the probabilities of further paths to a beam."""
    before = beams.get(label, (-np.inf, -np.inf))
    beams[label] = (np.logaddexp(before[0], blank), np.logaddexp(before[1], closed))


def _best(beams):
    return sorted(beams.items(), key=lambda beam: (-np.logaddexp(*beam[1]), beam[0]))


def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """Return the labels that predictions spell.

    Parameters
    ----------
    y_pred : Tensor, shape (batch, time, classes)
        Probabilities; the last class is the blank.
    input_length : Tensor, shape (batch,), int
        How many steps of each prediction count.
    greedy : bool
        Whether to take the most probable class of each step. It is fast, and most often right; the
        search adds up all paths that spell the same label.
    beam_width : int
        How many labels the search keeps from step to step.
    top_paths : int
        How many labels the search returns.

    Returns
    -------
    decoded : list of Tensor, shape (batch, longest label), int64
        One (for the search `top_paths`), filled up with -1.
    log_probability : Tensor, shape (batch, top_paths)
        The search: log-probability of each label. Greedy, as in Keras: *minus* that of the path,
        shape (batch, 1), of the probabilities as they are given.

    Raises
    ------
    ArgumentError
        `top_paths` does not lie between 1 and `beam_width`.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> y_pred = K.constant([[[0.4, 0.0, 0.6], [0.4, 0.0, 0.6]]])  # a, b, blank
    >>> for greedy in (True, False):
    ...     decoded, _ = K.ctc_decode(y_pred, K.constant([2]), greedy=greedy)
    ...     print(K.eval(decoded[0]).tolist())
    [[]]
    [[0]]
    """
    y_pred = as_tensor(y_pred)
    if y_pred.ndim != 3:
        raise ShapeError(
            f"K.ctc_decode: y_pred has shape {y_pred.shape}; expected (batch, time, classes).",
            subject=y_pred,
        )
    log_probabilities = ctc_log_probabilities(y_pred)
    steps = lengths_of(input_length, "K.ctc_decode")
    if greedy:
        labels = CtcBestPath()(log_probabilities, steps)
        best = max(
            log(floating(y_pred) + config.epsilon), axis=2
        )  # as they are: not made to sum to 1
        counts = less(arange(shape(best)[1]), steps[:, None])
        return [_trimmed(labels)], -sum(best * cast(counts, best.dtype), axis=1, keepdims=True)
    if not 1 <= top_paths <= beam_width:
        raise ArgumentError(
            f"K.ctc_decode: top_paths {top_paths!r}, beam_width {beam_width!r}; expected at least "
            f"1 path and at least as many beams."
        )
    found = CtcBeamSearch(int(beam_width), int(top_paths))(log_probabilities, steps)
    decoded = [found[:, place] for place in range(top_paths)]
    costs = [CtcCost()(log_probabilities, label, steps, _lengths(label)) for label in decoded]
    return [_trimmed(label) for label in decoded], -stack(costs, axis=1)


def _lengths(labels: Tensor) -> Tensor:
    return sum(cast(not_equal(labels, _NOTHING), "int64"), axis=1)


def _trimmed(labels: Tensor) -> Tensor:
    """Return the labels without the columns in which no label goes on."""
    longest = max(_lengths(labels))
    return slice(labels, [0, 0], stack([shape(labels)[0], cast(longest, "int32")]))
