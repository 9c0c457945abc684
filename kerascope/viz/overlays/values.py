"""Values in pictures: what came out of each call when real arrays went through the model.

`value_text` says what a box has room for: up to twelve numbers whole, else where they lie, a small
histogram, and first of all whether some are NaN or infinite. `values_of` runs the model by
`trace.walk`, call by call in the order of the run, and `at_step` gives the picture in the middle
of that run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from textwrap import wrap
from typing import Any, NamedTuple

import numpy as np

from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node import Node
from kerascope.engine.node_ids import call_ids
from kerascope.engine.policies.undo import rolled_back
from kerascope.errors import ArgumentError, DtypeError
from kerascope.trace.statistics import Statistics, figure, statistics_of
from kerascope.trace.walking import walk
from kerascope.viz.boxes import LONGEST_LINE
from kerascope.viz.extract.networks import nothing_changes
from kerascope.viz.graph import Attribute, Graph
from kerascope.viz.overlays import marking
from kerascope.viz.theme import STATES

MOST_NUMBERS = 12
BARS = "▁▂▃▄▅▆▇█"
MANY_ZEROS = 0.5

Values = Mapping[str, Any]  # by id: an array, or a list of one array for each output


# --- in words -------------------------------------------------------------------------------------


def value_text(array: Any, statistics: Statistics | None = None) -> str:
    """Return what there is to say of an array, in one to a few lines.

    Parameters
    ----------
    array : array_like
    statistics : Statistics, optional
        Its own, where they are known.

    Raises
    ------
    DtypeError
        It does not consist of numbers.

    Examples
    --------
    >>> value_text([[1, 2], [3, 4.5]])
    '[[1 2] [3 4.5]]'
    >>> print(value_text(np.maximum(np.arange(-10, 10), 0)))
    min 0 · mean 2.25 · max 9
    █▂▂▂▂▂▂▃ 55 % zeros
    >>> value_text(np.full(20, np.nan))
    '✗ 20 NaN'
    """
    array = _numbers(array)
    if not array.size:
        return "empty"
    statistics = statistics or _statistics(array)
    alarm = alarm_text(statistics)
    if statistics.min is None:
        lines = []
    elif array.size <= MOST_NUMBERS:
        lines = wrap(_whole(array), LONGEST_LINE - 4, subsequent_indent=" ")
    else:
        lines = _summary(array, statistics)
    return "\n".join(filter(None, [alarm, *lines]))


def figures(array: np.ndarray) -> dict[str, str | float]:
    """Return what the box of a gradient says about it: its text and its norm.

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
            array, formatter={"float_kind": figure}, separator=", ", max_line_width=LONGEST_LINE
        )
        return {"detail": text, "norm": norm}
    words = [f"mean {figure(statistics.mean)}"] if statistics.mean is not None else []
    if statistics.min is not None and statistics.max is not None:
        words.append(f"|max| {figure(max(-statistics.min, statistics.max))}")
    counts = ((statistics.nans, "NaN!"), (statistics.infinities, "Inf!"))
    words += [f"{count} {word}" for count, word in counts if count]
    return {"detail": " ".join(words), "norm": norm}


def alarm_text(statistics: Statistics) -> str:
    """Return how many numbers are NaN or infinite: "✗ 3 NaN, 1 Inf"; "" if none are."""
    if statistics.is_sound:
        return ""
    counts = ((statistics.nans, "NaN"), (statistics.infinities, "Inf"))
    words = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"{STATES['nan'].glyph} {words}"


def histogram(array: Any) -> str:
    """Return how the finite numbers are spread from the least to the greatest, as eight bars.

    The lowest bar means that none lie there, so that a single number far away is seen.

    Examples
    --------
    >>> histogram([0, 0, 0, 1, 1, 7])
    '█▆▁▁▁▁▁▄'
    """
    values = np.asarray(array, "float64").ravel()
    values = values[np.isfinite(values)]
    largest = np.abs(values).max(initial=0.0)
    values = values / largest if largest else values  # no difference can overflow
    least, greatest = values.min(initial=1.0), values.max(initial=-1.0)
    if least >= greatest:
        return ""
    places = np.minimum((values - least) / (greatest - least) * len(BARS), len(BARS) - 1)
    counts = np.bincount(places.astype("int64"), minlength=len(BARS))
    heights = np.ceil(counts / counts.max() * (len(BARS) - 1)).astype("int64")
    return "".join(BARS[height] for height in heights)


def _summary(array: np.ndarray, statistics: Statistics) -> list[str]:
    least, mean, greatest = map(figure, (statistics.min, statistics.mean, statistics.max))
    if statistics.min == statistics.max:
        others = statistics.nans + statistics.infinities
        return [f"{'others' if others else 'all'} {least}"]
    line = f"min {least} · mean {mean} · max {greatest}"
    zeros = 1 - np.count_nonzero(array) / array.size
    share = f" {100 * zeros:.0f} % zeros" if zeros > MANY_ZEROS else ""
    return [line, histogram(array) + share]


def _whole(array: np.ndarray) -> str:
    """Return all numbers, in brackets axis by axis."""
    if array.ndim == 0:
        return _number(array[()])
    parts = [_whole(part) if array.ndim > 1 else _number(part) for part in array]
    return f"[{' '.join(parts)}]"


def _number(value: Any) -> str:
    kind = np.asarray(value).dtype.kind
    return str(value) if kind in "biu" else figure(value)


def _numbers(array: Any) -> np.ndarray:
    numbers = np.asarray(array)
    if numbers.dtype.kind in "biuf":
        return numbers
    raise DtypeError(
        f"values: expected an array of numbers, got {type(array).__name__} of dtype "
        f"{numbers.dtype}. Give each box one array, or a list of one for each output."
    )


def _statistics(array: np.ndarray) -> Statistics:
    with np.errstate(all="ignore"):  # a sum may overflow; the picture shall say so, not stop
        return statistics_of(array)


# --- in a graph -----------------------------------------------------------------------------------


def with_values(graph: Graph, values: Values) -> Graph:
    """Return the graph with what each call gave.

    Parameters
    ----------
    graph : Graph
    values : mapping of str to (array_like or list of array_like)
        By id, as `values_of` makes it. What lies inside a box that hides it is left out.

    Returns
    -------
    Graph
        Boxes get further lines of text (frames only what is not finite) and the attributes
        `value_min`, `value_mean`, `value_max` (over the finite numbers of all outputs, rounded),
        `value_nan` and `value_inf` (how many). Those with numbers that are not finite get the
        state "nan".

    Raises
    ------
    ArgumentError
        There is no such box.
    DtypeError
        A value is no array of numbers.
    """
    known, frames = marking.known_ids(graph), dict.fromkeys(group.id for group in graph.groups)
    shown: dict[str, list[np.ndarray]] = {}
    for call_id, given in values.items():
        box_id = marking.shown_id(graph, call_id, "with_values", known)
        if box_id == call_id or "/" not in call_id[len(box_id) :]:
            arrays = [_numbers(x) for x in given] if isinstance(given, list) else [_numbers(given)]
            if arrays:
                shown.setdefault(box_id, []).extend(arrays)
    marks: dict[str, dict[str, Attribute]] = {}
    details: dict[str, list[str]] = {}
    for box_id, arrays in shown.items():
        single = [_statistics(array) for array in arrays]
        texts = [value_text(x, s) for x, s in zip(arrays, single, strict=True)]
        several = len(texts) > 1
        whole = _statistics(np.concatenate([x.ravel() for x in arrays])) if several else single[0]
        if box_id in frames:  # the numbers stand in the boxes from which they leave it
            details[box_id] = [alarm_text(whole)]
        else:
            details[box_id] = [f"{i}: {text}" if several else text for i, text in enumerate(texts)]
        marks[box_id] = _value_attributes(whole)
    return marking.with_attributes(marking.with_details(graph, details), marks)


def _value_attributes(statistics: Statistics) -> dict[str, Attribute]:
    found = (statistics.min, statistics.mean, statistics.max)
    attrs: dict[str, Attribute] = {"value_nan": statistics.nans, "value_inf": statistics.infinities}
    for name, value in zip(("value_min", "value_mean", "value_max"), found, strict=True):
        if value is not None and np.isfinite(value):
            attrs[name] = float(figure(value))
    return attrs if statistics.is_sound else {**attrs, **marking.mark("nan")}


# --- from a run -----------------------------------------------------------------------------------


class _InnerValue(NamedTuple):
    """What a call inside a nested model gave, before it is known which call of that model it was.

    Attributes
    ----------
    network : Network
        The model that `path` starts in.
    """

    network: Network
    path: str
    arrays: list[np.ndarray]


def values_of(model: Any, x: Any, *, nested: bool = False) -> dict[str, list[np.ndarray]]:
    """Run a model on arrays and return what each call gave, by its id, in the order of the run.

    Parameters
    ----------
    model : Model
        A built model.
    x : array_like, list of array_like, or dict by input name
        As for `model.predict`. NaN and infinite numbers go through and are shown.
    nested : bool
        Whether calls inside nested models come too, each before the call of the model itself:
        `encoder@1/dense_1`.

    Raises
    ------
    DtypeError
        `model` is no model.
    DataError
        The arrays do not fit it.

    Notes
    -----
    The learning phase is 0 (test), as in `predict`. Nothing in a model with a graph changes: a
    stateful layer goes on from the states that it had.

    Examples
    --------
    >>> from kerascope.layers import Dense, Input
    >>> from kerascope.engine.model import Model
    >>> inputs = Input(shape=(3,), name="inputs")
    >>> model = Model(inputs, Dense(2, kernel_initializer="ones", name="scores")(inputs))
    >>> {name: arrays[0].tolist() for name, arrays in values_of(model, np.ones((1, 3))).items()}
    {'inputs': [[1.0, 1.0, 1.0]], 'scores': [[3.0, 3.0]]}
    """
    with np.errstate(all="ignore"), _as_before(model):
        # a step's tensor_map is not kept: together they would grow with the square of the steps
        steps = [(s.model, s.node, s.layer, s.outputs) for s in walk(model, x, nested=nested)]
    found: dict[str, list[np.ndarray]] = {}
    ids: dict[Network, dict[Node, str]] = {}
    waiting: list[_InnerValue] = []  # the run of a nested model comes just before its call
    for network, node, layer, arrays in steps:
        if network not in ids:
            ids[network] = call_ids(network)
        own_id = ids[network][node]
        values = [*_placed(waiting, layer, own_id), (own_id, arrays)]
        waiting = [one for one in waiting if path_to(layer, one.network) is None]
        if network is steps[-1][0]:
            found.update(values)
        else:
            waiting += [_InnerValue(network, path, arrays) for path, arrays in values]
    return found


@contextmanager
def _as_before(model: Any) -> Iterator[None]:
    """Put back states of layers, and attributes that a `call` sets, after the `with` block."""
    if isinstance(model, Network) and model.outputs:
        with nothing_changes(model), rolled_back(model):
            yield
    else:  # it is yet to be built, and shall stay so
        yield


def _placed(
    waiting: list[_InnerValue], layer: Layer, call_id: str
) -> Iterator[tuple[str, list[np.ndarray]]]:
    for network, path, arrays in waiting:
        between = path_to(layer, network)
        if between is not None:
            yield f"{call_id}/{between}{path}", arrays


def path_to(layer: Any, network: Network) -> str | None:
    """Return what stands between the id of a call and those inside a network; None if it has none.

    That is nothing for the network itself, and the names of the layers on the way to it inside a
    wrapper: "encoder/".
    """
    if layer is network:
        return ""
    for wrapped in getattr(layer, "wrapped", []):
        path = path_to(wrapped, network)
        if path is not None:
            return f"{wrapped.name}/{path}"
    return None


def at_step(graph: Graph, values: Values, step: int) -> Graph:
    """Return the picture at one moment of a run: what has been computed so far, and its values.

    Parameters
    ----------
    graph : Graph
    values : mapping of str to list of np.ndarray
        All values in the order of the run, as `values_of` makes it.
    step : int
        The call that has just been computed, counted from 0; from the end if it is negative. The
        number of steps itself means the end, when all is done.

    Raises
    ------
    ArgumentError
        There is no such step.
    """
    steps = list(values)
    is_whole = isinstance(step, (int, np.integer)) and not isinstance(step, bool)
    if not is_whole or not -len(steps) <= step <= len(steps):
        raise ArgumentError(
            f"at: the run of {graph.name!r} has {len(steps)} steps; expected a number from 0 to "
            f"{len(steps)} (or from -{len(steps)} to -1, from the end), got {step!r}."
        )
    index = int(step) + len(steps) * (step < 0)
    so_far = {name: values[name] for name in steps[: index + 1]}
    current = steps[index] if index < len(steps) else None
    return marking.with_progress(with_values(graph, so_far), steps[:index], current)
