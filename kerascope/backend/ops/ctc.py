"""Connectionist temporal classification (CTC): the cost of labels whose times are unknown.

At each step a network outputs probabilities of the classes and of a *blank*, which is the last
class. A path is one class for each step. It spells a label if merging repeats and dropping blanks
gives the label: `aa-ab-` spells `aab`. The cost is -log of the total probability of all paths that
spell the label.

The sum over all paths is computed on the *extended* label, which has a blank before, between and
after its classes. From one step to the next a path stays at its place, moves to the next one, or
jumps over a blank between two different classes.

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
    """The extended labels of a batch, and the moves along them that a path may make.

    An extended label has a blank before, between and after its classes. A path is one class or
    blank for each step.

    Attributes
    ----------
    places : array, shape (batch, places)
        The extended labels.
    emissions : array, shape (time, batch, places)
        Log-probability of the class of each place at each step.
    jumps : array, shape (batch, places)
        0 if a path may jump to this place from the place two before it, otherwise -inf.
    last : array, shape (batch, places)
        0 if a path may end at this place, otherwise -inf.
    """

    places: np.ndarray
    emissions: np.ndarray
    jumps: np.ndarray
    last: np.ndarray


def _check(log_probabilities, labels, steps, lengths):
    """Raise DataError if batch sizes differ, or a length or a class number is out of range.

    Class numbers after the end of a label are not checked.
    """
    batch, time, classes = log_probabilities.shape
    if len(labels) != batch or steps.shape != (batch,) or lengths.shape != (batch,):
        raise DataError(
            f"K.ctc_batch_cost: expected as many labels and lengths as predictions ({batch}), got "
            f"{len(labels)} labels, {len(steps)} input lengths, {len(lengths)} label lengths."
        )
    for name, values, most in (
        ("input_length", steps, time),
        ("label_length", lengths, labels.shape[1]),
    ):
        if values.size and not 0 <= values.min() <= values.max() <= most:
            raise DataError(
                f"K.ctc_batch_cost: expected {name} from 0 to {most}, got {values.min()} to "
                f"{values.max()}."
            )
    used = labels[np.arange(labels.shape[1]) < lengths[:, None]]
    if used.size and not 0 <= used.min() <= used.max() < classes - 1:
        raise DataError(
            f"K.ctc_batch_cost: expected labels from 0 to {classes - 2}, got {used.min()} to "
            f"{used.max()}. Of {classes} classes the last one is the blank. "
            "In Keras 3's ctc the blank is 0, and each label is one more than here."
        )


def _walk(log_probabilities, labels, lengths):
    """Return the `Walk` of a batch: its labels extended by blanks, and the allowed moves."""
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
    """Return `x` with its columns moved to the right by `by`; free columns are filled with -inf.

    A negative `by` moves them to the left.
    """
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
    """Return the log-probability that a path reaches each place of the extended label.

    The result has one row for the start and one for each step. The extended label has a blank
    before, between and after its classes.
    """
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
    """Return the log-probability that a path goes from each place to the end of the label.

    The result has one row for each step: the path is at the place after this step. The places are
    those of the extended label, which has a blank before, between and after its classes.
    """
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
    """Return the log of the total probability of all paths that spell each sample's label."""
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
                f"K.ctc_batch_cost: expected y_pred (batch, time, classes) and y_true (batch, "
                f"longest label), got {log_probabilities.shape} and {labels.shape}.",
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
    """The probability of each class at each step, given that the path spells the label.

    It is minus the gradient of `CtcCost` and has the same inputs. The result is zero after the last
    step of a sample, and for a label that no path can spell.
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
            "K.ctc_batch_cost: its second derivative is not defined. Use the cost in the loss, "
            "not in a gradient.",
            subject=inputs[0],
        )


def ctc_log_probabilities(y_pred: TensorLike) -> Tensor:
    """Return the log of probabilities after adding epsilon, normalized to sum to 1."""
    return log_softmax(log(floating(y_pred) + config.epsilon))


def lengths_of(x: TensorLike, where: str) -> Tensor:
    """Return lengths of shape (batch,) or (batch, 1) as ints of shape (batch,)."""
    x = cast(as_tensor(x), "int64")
    if x.ndim == 2 and x.shape[1] in (1, None):
        return Squeeze((1,))(x)
    if x.ndim != 1:
        raise ShapeError(
            f"{where}: expected lengths of shape (batch, 1), got '{x.name}' {x.shape}.", subject=x
        )
    return x


def ctc_batch_cost(y_true, y_pred, input_length, label_length):
    """Return the CTC cost of each sample of a batch.

    Parameters
    ----------
    y_true : Tensor, shape (batch, longest label)
        Class numbers. Entries after the end of a label are ignored.
    y_pred : Tensor, shape (batch, time, classes)
        Probabilities, such as the output of a softmax. The last class is the blank.
    input_length : Tensor, shape (batch, 1), int
        Number of valid steps of each prediction.
    label_length : Tensor, shape (batch, 1), int
        Number of classes in each label.

    Returns
    -------
    Tensor, shape (batch, 1)

    Raises
    ------
    DataError
        At run time: a class number or a length is out of range.

    Notes
    -----
    The probability of a path is the product of the probabilities of its classes. The cost is -log
    of the sum of the probabilities of all paths that spell the label. `K.epsilon()` is added to
    each entry of `y_pred` first.

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
    """Return the CTC cost of each sample, with the arguments of Keras 3.

    Parameters
    ----------
    target : tensor of int, shape (batch, longest label)
    output : tensor, shape (batch, time, classes)
        Logits.
    target_length, output_length : tensor of int, shape (batch,)
    mask_index : int
        Class number of the blank.

    Returns
    -------
    Tensor, shape (batch,)
    """
    output = floating(output)
    classes = output.shape[-1] or 1
    blank = mask_index % classes
    parts = [output[..., :blank], output[..., blank + 1 :], output[..., blank : blank + 1]]
    labels = cast(as_tensor(target), "int64")
    is_blank = cast(equal(labels, blank), "int64")  # becomes the last class, which CtcCost refuses
    labels = labels - cast(greater(labels, blank), "int64") + is_blank * (classes - 1 - blank)
    lengths = (cast(as_tensor(length), "int64") for length in (output_length, target_length))
    return CtcCost()(log_softmax(concatenate(parts)), labels, *lengths)


# --- from probabilities to labels: the best path, or beam search ----------------------------------
#
# Both merge the repeats of a path and drop its blanks.


_NOTHING = -1  # fills the rows after the end of a label


class CtcBestPath(Op):
    """The label spelled by the most probable class of each step.

    Inputs: log-probabilities (batch, time, classes), numbers of steps (batch,). Output (batch,
    time), filled with -1 after the end of each label.
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
    """The `top_paths` best labels of a beam search with `beam_width` beams, the best one first.

    Inputs: log-probabilities (batch, time, classes), numbers of steps (batch,). Output (batch,
    top_paths, time), filled with -1 after the end of each label.
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
                    f"K.ctc_decode: expected {self.top_paths} labels (top_paths) for sample "
                    f"{sample} of {steps[sample]} steps, got {len(found)}. Reduce top_paths."
                )
            for place, label in enumerate(found[: self.top_paths]):
                labels[sample, place, : len(label)] = label
        return labels


def _search(log_probabilities: np.ndarray, beam_width: int) -> list[tuple[int, ...]]:
    """Return the labels that a beam search keeps after the last step, the most probable first.

    A beam is a label with two log-probabilities: that of the paths ending in a blank, and that of
    the paths ending in the label's last class. If the next step has that class again, paths ending
    in the class still spell the same label, but paths ending in a blank now spell a longer label.
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
    """Add log-probabilities to the beam of `label`, which may be new.

    `blank` is the log-probability of further paths that end in a blank, `closed` that of further
    paths that end in a class.
    """
    before = beams.get(label, (-np.inf, -np.inf))
    beams[label] = (np.logaddexp(before[0], blank), np.logaddexp(before[1], closed))


def _best(beams):
    return sorted(beams.items(), key=lambda beam: (-np.logaddexp(*beam[1]), beam[0]))


def ctc_decode(y_pred, input_length, greedy=True, beam_width=100, top_paths=1):
    """Return the most probable labels for predictions.

    Parameters
    ----------
    y_pred : Tensor, shape (batch, time, classes)
        Probabilities; the last class is the blank.
    input_length : Tensor, shape (batch,), int
        Number of valid steps of each prediction.
    greedy : bool
        Whether to take the most probable class of each step, which is fast and usually right.
        Otherwise a beam search adds up the probabilities of all paths that spell the same label.
    beam_width : int
        Number of labels that the search keeps after each step.
    top_paths : int
        Number of labels that the search returns.

    Returns
    -------
    decoded : list of Tensor, shape (batch, longest label), int64
        One tensor if greedy, otherwise `top_paths` tensors. They are filled with -1 after the end
        of each label.
    log_probability : Tensor, shape (batch, 1) if greedy, otherwise (batch, top_paths)
        If greedy, *minus* the log-probability of the path, from probabilities that are not
        normalized, as in Keras. Otherwise the log-probability of each label.

    Raises
    ------
    ArgumentError
        `top_paths` is not between 1 and `beam_width`.

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
            f"K.ctc_decode: expected y_pred (batch, time, classes), got shape {y_pred.shape}.",
            subject=y_pred,
        )
    log_probabilities = ctc_log_probabilities(y_pred)
    steps = lengths_of(input_length, "K.ctc_decode")
    if greedy:
        labels = CtcBestPath()(log_probabilities, steps)
        best = max(log(floating(y_pred) + config.epsilon), axis=2)  # not normalized to sum to 1
        counts = less(arange(shape(best)[1]), steps[:, None])
        return [_trimmed(labels)], -sum(best * cast(counts, best.dtype), axis=1, keepdims=True)
    if not 1 <= top_paths <= beam_width:
        raise ArgumentError(
            f"K.ctc_decode: expected top_paths from 1 to beam_width, got top_paths {top_paths!r} "
            f"and beam_width {beam_width!r}."
        )
    found = CtcBeamSearch(int(beam_width), int(top_paths))(log_probabilities, steps)
    decoded = [found[:, place] for place in range(top_paths)]
    costs = [CtcCost()(log_probabilities, label, steps, _lengths(label)) for label in decoded]
    return [_trimmed(label) for label in decoded], -stack(costs, axis=1)


def _lengths(labels: Tensor) -> Tensor:
    return sum(cast(not_equal(labels, _NOTHING), "int64"), axis=1)


def _trimmed(labels: Tensor) -> Tensor:
    """Return the labels of a batch, cut to the length of the longest label."""
    longest = max(_lengths(labels))
    return slice(labels, [0, 0], stack([shape(labels)[0], cast(longest, "int32")]))
