"""From probabilities of classes at each step to labels: the best path, or a search with beams.

Both drop blanks and merge repeats of a path: see `ctc.py`.
"""

from __future__ import annotations

import numpy as np

from kerascope.backend.graph import Op, as_tensor, parametric
from kerascope.backend.ops.broadcasting import cast
from kerascope.backend.ops.comparison import less, not_equal
from kerascope.backend.ops.ctc import CtcCost, ctc_log_probabilities, lengths_of
from kerascope.backend.ops.elementwise import floating, log
from kerascope.backend.ops.gathering import arange
from kerascope.backend.ops.indexing import slice
from kerascope.backend.ops.joining import stack
from kerascope.backend.ops.reduction import max, sum
from kerascope.backend.ops.sizes import shape
from kerascope.errors import ArgumentError, DataError, ShapeError
from kerascope.settings import config

__all__ = ["ctc_decode"]

_NOTHING = -1  # fills up the rows of labels


class CtcBestPath(Op):
    """The label that the most probable class of each step spells, filled up with -1.

    Inputs: log-probabilities (batch, time, classes), numbers of steps (batch,).
    """

    def infer_shape(self, log_probabilities, steps):
        return log_probabilities.shape[:2]

    def infer_dtype(self, log_probabilities, steps):
        return "int64"

    def perform(self, log_probabilities, steps):
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

    def infer_shape(self, log_probabilities, steps):
        batch, n_steps, _ = log_probabilities.shape
        return (batch, self.top_paths, n_steps)

    def infer_dtype(self, log_probabilities, steps):
        return "int64"

    def perform(self, log_probabilities, steps):
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


def _search(log_probabilities, beam_width):
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


def _lengths(labels):
    return sum(cast(not_equal(labels, _NOTHING), "int64"), axis=1)


def _trimmed(labels):
    """Return the labels without the columns in which no label goes on."""
    longest = max(_lengths(labels))
    return slice(labels, [0, 0], stack([shape(labels)[0], cast(longest, "int32")]))
