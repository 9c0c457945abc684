"""Values in pictures: the outputs of each call for given input arrays.

`value_text` summarizes an array for a box: NaN and infinite numbers first, then all numbers of a
small array (up to twelve), or the range and a small histogram of a large one. `values_of` runs the
model by `trace.walk`, call by call, and `at_step` returns the picture at one moment of that run.
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
from kerascope.viz.extract.networks import without_side_effects
from kerascope.viz.graph import Attribute, Graph
from kerascope.viz.overlays import marking
from kerascope.viz.theme import STATES

MOST_NUMBERS = 12
BARS = "▁▂▃▄▅▆▇█"
MANY_ZEROS = 0.5

Values = Mapping[str, Any]  # by the id of a call: an array, or a list with one array per output


# --- as text --------------------------------------------------------------------------------------


def value_text(array: Any, statistics: Statistics | None = None) -> str:
    """Return a summary of an array as a text of one or a few lines.

    Parameters
    ----------
    array : array_like
    statistics : Statistics, optional
        The statistics of the array, if already computed.

    Raises
    ------
    DtypeError
        The array does not consist of numbers.

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
    """Return the attributes for the box of a gradient: a summary as its text, and its norm.

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
    """Return the counts of NaN and infinite numbers: "✗ 3 NaN, 1 Inf"; "" if there are none."""
    if statistics.is_sound:
        return ""
    counts = ((statistics.nans, "NaN"), (statistics.infinities, "Inf"))
    words = ", ".join(f"{count} {word}" for count, word in counts if count)
    return f"{STATES['nan'].glyph} {words}"


def histogram(array: Any) -> str:
    """Return a histogram of the finite numbers as eight bars, from the smallest to the largest.

    The lowest bar means that the bin is empty, so a single outlier is visible.

    Examples
    --------
    >>> histogram([0, 0, 0, 1, 1, 7])
    '█▆▁▁▁▁▁▄'
    """
    values = np.asarray(array, "float64").ravel()
    values = values[np.isfinite(values)]
    largest = np.abs(values).max(initial=0.0)
    values = values / largest if largest else values  # so that differences cannot overflow
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
    """Return all numbers of an array as text, with brackets for each axis."""
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
        f"{numbers.dtype}. Pass one array per box, or a list with one array per output."
    )


def _statistics(array: np.ndarray) -> Statistics:
    with np.errstate(all="ignore"):  # a sum may overflow: show that, do not raise
        return statistics_of(array)


# --- in a graph -----------------------------------------------------------------------------------


def with_values(graph: Graph, values: Values) -> Graph:
    """Return the graph with summaries of the outputs of each call in its box.

    Parameters
    ----------
    graph : Graph
    values : mapping of str to (array_like or list of array_like)
        Outputs by the ids of calls, as returned by `values_of`. Calls that are hidden inside a
        closed box are ignored.

    Returns
    -------
    Graph
        Boxes get lines of text and the attributes `value_min`, `value_mean`, `value_max` (over the
        finite numbers of all outputs, rounded), `value_nan` and `value_inf` (counts). Frames get
        only the counts of NaN and infinite numbers. If there are any, the state is "nan".

    Raises
    ------
    ArgumentError
        The graph has no box for one of the ids.
    DtypeError
        A value is not an array of numbers.
    """
    known, frames = marking.known_ids(graph), dict.fromkeys(group.id for group in graph.groups)
    shown: dict[str, list[np.ndarray]] = {}
    for call_id, given in values.items():
        box_id = marking.display_id(graph, call_id, "with_values", known)
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
        if box_id in frames:  # the boxes inside it show the numbers
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
    """The outputs of a call inside a nested model, kept until the model's call has finished.

    Attributes
    ----------
    network : Network
        The model in which `path` starts.
    path : str
        The path from this model to the call, as in the id of the call.
    """

    network: Network
    path: str
    arrays: list[np.ndarray]


def values_of(model: Any, x: Any, *, nested: bool = False) -> dict[str, list[np.ndarray]]:
    """Run a model on arrays and return the outputs of each call, by id, in the order of the run.

    Parameters
    ----------
    model : Model
        A built model.
    x : array_like, list of array_like, or dict by input name
        As for `model.predict`. NaN and infinite numbers are allowed.
    nested : bool
        Whether to include the calls inside nested models, before the call of the model itself:
        `encoder@1/dense_1`.

    Raises
    ------
    DtypeError
        `model` is not a model.
    DataError
        The arrays do not fit the model.

    Notes
    -----
    The learning phase is 0 (test), as in `predict`. A model with a graph does not change: the
    states of stateful layers are restored.

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
        # do not keep the tensor_map of each step: memory would grow with the square of the steps
        steps = [(s.model, s.node, s.layer, s.outputs) for s in walk(model, x, nested=nested)]
    found: dict[str, list[np.ndarray]] = {}
    ids: dict[Network, dict[Node, str]] = {}
    waiting: list[_InnerValue] = []  # a nested model's run precedes its call
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
    """Restore, after a `with` block, the states of layers and the attributes set by a `call`.

    A model without a graph is not restored: running it builds it.
    """
    if isinstance(model, Network) and model.outputs:
        with without_side_effects(model), rolled_back(model):
            yield
    else:  # the run builds the model, which stays built
        yield


def _placed(
    waiting: list[_InnerValue], layer: Layer, call_id: str
) -> Iterator[tuple[str, list[np.ndarray]]]:
    for network, path, arrays in waiting:
        between = path_to(layer, network)
        if between is not None:
            yield f"{call_id}/{between}{path}", arrays


def path_to(layer: Any, network: Network) -> str | None:
    """Return the path from a layer to a network in it, as it is in the ids of inner calls.

    It is "" if the layer is the network itself. For a wrapper, it is the names of the layers on
    the way to the network: "encoder/". If the layer does not contain the network, it is None.
    """
    if layer is network:
        return ""
    for wrapped in getattr(layer, "wrapped", []):
        path = path_to(wrapped, network)
        if path is not None:
            return f"{wrapped.name}/{path}"
    return None


def at_step(graph: Graph, values: Values, step: int) -> Graph:
    """Return the graph at one moment of a run, with the values computed so far.

    Parameters
    ----------
    graph : Graph
    values : mapping of str to list of np.ndarray
        The values of all calls in the order of the run, as returned by `values_of`.
    step : int
        The index of the current call. Negative numbers count from the end. The number of calls
        means the end of the run.

    Raises
    ------
    ArgumentError
        The run has no such step.
    """
    steps = list(values)
    is_whole = isinstance(step, (int, np.integer)) and not isinstance(step, bool)
    if not is_whole or not -len(steps) <= step <= len(steps):
        raise ArgumentError(
            f"at: expected a step of {graph.name!r} from 0 to {len(steps)}, or from "
            f"-{len(steps)} to -1 to count from the end, got {step!r}."
        )
    index = int(step) + len(steps) * (step < 0)
    so_far = {name: values[name] for name in steps[: index + 1]}
    current = steps[index] if index < len(steps) else None
    return marking.with_progress(with_values(graph, so_far), steps[:index], current)
