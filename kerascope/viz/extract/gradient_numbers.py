"""The numbers of gradients: all of them computed in one call, and their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kerascope.backend.at_once import set_values
from kerascope.backend.function import function
from kerascope.backend.graph import Tensor
from kerascope.backend.state import PHASE
from kerascope.errors import DataError, DtypeError
from kerascope.trace.statistics import figure, statistics_of

MOST_NUMBERS = 12  # more than these are told by their figures
WIDEST = 56  # letters in a line of a box


def computed(
    tensors: Mapping[str, Tensor], inputs: Sequence[Tensor], arrays: Sequence[Any]
) -> dict[str, np.ndarray]:
    """Compute tensors by id, all at once, so that all see the same random draws.

    Random ops count their draws in variables. These get their counts back, so that what comes
    afterwards draws as if nothing had been computed. Observers hear nothing.
    """
    compute = function(inputs, list(tensors.values()), name="gradients")
    before = [(update.variable, update.variable.get_value()) for update in compute.updates]
    try:
        stage = compute.stage(list(arrays))
        for _ in stage:
            pass
    finally:
        set_values(before)
    return {box_id: np.asarray(value) for box_id, value in zip(tensors, stage.result, strict=True)}


def fed_tensors(feed: Mapping[Tensor, Any], where: str) -> tuple[list[Tensor], list[Any]]:
    """Return the tensors of a feed and their arrays.

    Raises
    ------
    DtypeError
        It is no dict from tensors to arrays.
    """
    if not isinstance(feed, Mapping) or not all(isinstance(x, Tensor) for x in feed):
        raise DtypeError(
            f"{where}: feed is {feed!r:.80}; expected a dict from placeholders to arrays: "
            "{x: np.ones((2, 3))}."
        )
    return list(feed), list(feed.values())


def fed_model(model: Any, data: Any, training: bool, where: str) -> tuple[list[Tensor], list[Any]]:
    """Return the placeholders of a compiled model and arrays for them.

    Parameters
    ----------
    data : tuple (x, y) or (x, y, sample_weight)
        As `train_on_batch` takes them.
    training : bool
        The learning phase.
    where : str
        Who asks, for the messages.

    Raises
    ------
    DataError
        The data are no such tuple, or do not fit the model.
    """
    if not isinstance(data, (tuple, list)) or len(data) not in (2, 3):
        raise DataError(
            f"{where}: data is a {type(data).__name__}; expected a tuple (x, y) or "
            f"(x, y, sample_weight), as for train_on_batch."
        )
    x, y, weights = model._standardize_user_data(*data, where=where)
    inputs = model._feed_inputs + model._feed_targets + model._feed_sample_weights
    arrays = x + y + weights
    if PHASE not in inputs:
        inputs, arrays = [*inputs, PHASE], [*arrays, float(training)]
    return inputs, arrays


def figures(array: np.ndarray) -> dict[str, str | float]:
    """Return what a box says about an array: its text and its norm.

    Examples
    --------
    >>> figures(np.array([1.0, 0.5, -2.0]))["detail"]
    '[1, 0.5, -2]'
    >>> figures(np.full((10, 10), 0.5))
    {'detail': 'mean 0.5 |max| 0.5', 'norm': 5.0}
    """
    statistics = statistics_of(array)
    norm = 0.0 if statistics.norm is None else statistics.norm
    if array.size <= MOST_NUMBERS:
        text = np.array2string(
            array, formatter={"float_kind": _number}, separator=", ", max_line_width=WIDEST
        )
        return {"detail": text, "norm": norm}
    words = [f"mean {figure(statistics.mean)}"] if statistics.mean is not None else []
    if statistics.min is not None and statistics.max is not None:
        words.append(f"|max| {figure(max(-statistics.min, statistics.max))}")
    counts = ((statistics.nans, "NaN!"), (statistics.infinities, "Inf!"))
    words += [f"{count} {word}" for count, word in counts if count]
    return {"detail": " ".join(words), "norm": norm}


def _number(value: Any) -> str:
    return figure(value)
