"""Checking that the gradient of a loss is its slope, by central differences.

The loss is computed with one value increased and decreased by a small step. All ops of the graph
run in float64, whatever the dtypes of its tensors, because a step of 1e-5 would be lost in float32
rounding. If an op returns float32 nevertheless, the result names this op, and steps and tolerances
are larger. Random draws keep their values, and values behind a `stop_gradient` do not change.

A slope is measured with several steps. The gradient is right if it agrees with the slope of one of
them, because a step may cross the bend of a relu. If the slopes on the two sides of the value
differ even for small steps, the derivative does not exist, and nothing is reported.

If the gradient is wrong, the gradient of each op between the weights and the loss is checked with
random incoming gradients. This finds the wrong op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from math import prod
from typing import Any, NamedTuple

import numpy as np

from kerascope.backend.dtypes import is_float
from kerascope.backend.gradient import gradients
from kerascope.backend.graph import Apply, Tensor, applies_between, as_tensor
from kerascope.backend.ops.broadcasting import Cast
from kerascope.backend.ops.elementwise import StopGradient
from kerascope.backend.ops.scan import PartOfScan, Scan, ScanOnce
from kerascope.backend.ops.while_loop import GivenGradient
from kerascope.backend.schedule import Schedule, is_needed
from kerascope.backend.variables import Variable
from kerascope.errors import ArgumentError

LARGEST, AT_RANDOM = 4, 4  # of each tensor: the largest gradients, random entries
DOUBLE, SINGLE = 2.2e-16, 1.2e-7  # relative rounding errors
STEPS = {DOUBLE: (1e-4, 1e-5, 1e-6, 1e-7), SINGLE: (1e-1, 3e-2, 1e-2)}  # relative to a value's size
LEAST_SIZE = 0.1
LARGE = 2_000_000  # values in a graph
RELATIVE = {DOUBLE: 1e-4, SINGLE: 5e-2}
OF_TENSOR = {DOUBLE: 1e-6, SINGLE: 2e-2}  # relative to the largest slope in the same tensor
ROUNDINGS = 64

Values = Mapping[Tensor, Any]


class Slope(NamedTuple):
    """The slope of a loss along one entry of a tensor, or along one direction.

    Attributes
    ----------
    place : tuple of int or None
        The index of the entry; None for a direction in which all entries change.
    symbolic, measured : float
        The slope computed from the gradient, and the slope measured by finite differences.
    noise : float
        The largest error of the measured slope that rounding can explain.
    verdict : {"right", "wrong", "bend"}
        Whether both slopes agree; "bend" if the derivative does not exist.
    """

    place: tuple[int, ...] | None
    symbolic: float
    measured: float
    noise: float
    verdict: str

    @property
    def apart(self) -> float:
        """The difference of the symbolic and the measured slope, relative to the larger one."""
        larger = max(abs(self.symbolic), abs(self.measured), self.noise)
        return abs(self.symbolic - self.measured) / larger if larger else 0.0


class WeightCheck(NamedTuple):
    """The result of checking one tensor's gradient: slopes of the loss, computed and measured.

    Attributes
    ----------
    name : str
    slopes : list of Slope
    """

    name: str
    slopes: list[Slope]

    @property
    def worst(self) -> Slope | None:
        """The wrong slope with the largest error, or else the right slope with the largest error.

        None if there is no wrong and no right slope, because the derivative does not exist.
        """
        wrong = [one for one in self.slopes if one.verdict == "wrong"]
        sound = [one for one in self.slopes if one.verdict == "right"]
        return max(wrong or sound, key=lambda one: one.apart, default=None)

    @property
    def is_wrong(self) -> bool:
        """Whether any slope is wrong."""
        return any(one.verdict == "wrong" for one in self.slopes)


class WrongOp(NamedTuple):
    """An op whose own gradient is wrong for one of its inputs.

    Attributes
    ----------
    apply : Apply
    position : int
        The position of the input.
    found : WeightCheck
        The slopes along this input.
    """

    apply: Apply
    position: int
    found: WeightCheck


# --- a graph computed in float64 ------------------------------------------------------------------


class DoubleGraph:
    """A graph that is computed in float64, repeatedly, with different values of one tensor.

    Parameters
    ----------
    outputs : list of Tensor
    leaves : mapping of Tensor to array
        The fed arrays, and the values of the variables.
    cut : list of Tensor, optional
        Inner tensors that are fed as inputs instead of being computed.
    """

    def __init__(self, outputs: list[Tensor], leaves: Values, cut: Sequence[Tensor] = ()) -> None:
        fed = [x for x in leaves if not isinstance(x, Variable)]
        inputs = list(dict.fromkeys([*cut, *fed]))
        self.schedule = Schedule(inputs, outputs)
        self.single: dict[str, None] = {}  # ops that return float32
        self._stopped: dict[Any, Any] = {}
        given = [leaves[x] if x in leaves else np.zeros(()) for x in inputs]
        values = self.schedule.start([double(x) for x in given])
        for slot, variable in self.schedule.variables:
            values[slot] = leaves.get(variable, values[slot])
        self.values = [double(x) for x in values]
        self._perform(self.schedule.steps, self.values)

    def of(self, tensor: Tensor) -> Any:
        """Return the array of a tensor; None if the tensor was not computed."""
        slot = self.schedule.slots.get(tensor)
        return None if slot is None else self.values[slot]

    def mover(self, tensor: Tensor, results: Sequence[Tensor]) -> Callable[[Any], list[Any]]:
        """Return a function that computes the arrays of `results` from an array of `tensor`."""
        start = self.schedule.slots[tensor]
        reached, steps = {start}, []
        for step in self.schedule.steps:
            guards = {slot for group in step.guards or () for slot, _ in group}
            if not reached.isdisjoint({*step.inputs, *guards}):
                reached.update(step.outputs)
                steps.append(step)

        def moved(array: Any) -> list[Any]:
            values = list(self.values)
            values[start] = array
            self._perform(steps, values)
            return [values[self.schedule.slots[x]] for x in results]

        return moved

    def _perform(self, steps: Sequence[Any], values: list[Any]) -> None:
        for step in steps:
            if step.guards and not is_needed(step.guards, values):
                continue
            op = step.apply.op
            if isinstance(op, StopGradient):
                values[step.outputs[0]] = self._stopped.setdefault(step, values[step.inputs[0]])
                continue
            results, is_single = perform_doubled(op, [values[slot] for slot in step.inputs])
            if is_single:
                self.single[op.name] = None
            for slot, array in zip(step.outputs, results, strict=True):
                values[slot] = array


def double(x: Any) -> Any:
    """Convert a float array to float64; return values of other dtypes unchanged."""
    is_other = getattr(getattr(x, "dtype", None), "kind", "") == "f" and x.dtype != np.float64
    return x.astype(np.float64) if is_other else x


def perform_doubled(op: Any, arrays: list[Any]) -> tuple[list[Any], bool]:
    """Return the outputs of an op as float64, and whether the op rounds them to float32."""
    if isinstance(op, Cast) and is_float(op.dtype):
        return [np.asarray(arrays[0]).astype(np.float64)], False
    if isinstance(op, Scan):  # its program has fixed dtypes; interpreted it takes any
        result = ScanOnce.perform(op, *arrays)  # type: ignore[arg-type]
        result = op._chosen(result) if isinstance(op, PartOfScan) else result
    else:
        result = op.perform(*arrays)
    results = list(result) if op.n_outputs > 1 or isinstance(result, (tuple, list)) else [result]
    by_shape = range(len(arrays)) if op.needs_only_shapes else op.inputs_read_by_shape
    read = [x for place, x in enumerate(arrays) if place not in by_shape]
    has_double = any(getattr(x, "dtype", None) == np.float64 for x in read)
    is_single = has_double and any(
        getattr(y, "dtype", None) in (np.float32, np.float16) for y in results
    )
    return [double(y) for y in results], is_single


# --- slopes ---------------------------------------------------------------------------------------


def slopes_by(
    array: np.ndarray,
    symbolic: Any,
    measure: Callable[[Any], float],
    seed: int,
    rounding: float,
    is_large: bool = False,
) -> list[Slope]:
    """Return the slopes along some entries of a tensor, and along one direction of all entries.

    Parameters
    ----------
    array : np.ndarray
        The values of the tensor.
    symbolic : np.ndarray
        The gradient of the loss with respect to the tensor.
    measure : callable
        Returns the loss for an array of the tensor.
    seed : int
        The seed of the random choice of entries and of the direction.
    rounding : float
        The relative rounding error of a loss: DOUBLE or SINGLE.
    is_large : bool
        Whether only one entry and the direction are measured, because the graph is large.
    """
    chance = np.random.default_rng(seed)
    symbolic = np.zeros(np.shape(array)) if symbolic is None else np.asarray(symbolic)
    largest = float(np.abs(symbolic).max(initial=0.0))
    start, found = measure(array), []
    for place in islice(_places(symbolic, chance), 1 if is_large else None):
        unit = np.zeros(np.shape(array))
        unit[place] = max(abs(float(array[place])), LEAST_SIZE)
        found.append(_slope(place, array, unit, symbolic, measure, start, largest, rounding))
    if prod(np.shape(array)) > 1:
        unit = chance.normal(size=np.shape(array)) * np.maximum(np.abs(array), LEAST_SIZE)
        found.append(_slope(None, array, unit, symbolic, measure, start, largest, rounding))
    return found


def _places(symbolic: np.ndarray, chance: np.random.Generator) -> Iterator[tuple[int, ...]]:
    size = symbolic.size
    order = np.argsort(-np.abs(symbolic), axis=None, kind="stable")[:LARGEST]
    others = chance.permutation(size)[: LARGEST + AT_RANDOM]
    chosen = list(dict.fromkeys([*map(int, order), *map(int, others)]))[: LARGEST + AT_RANDOM]
    for flat in chosen:
        yield tuple(map(int, np.unravel_index(flat, symbolic.shape)))


def _slope(
    place: tuple[int, ...] | None,
    array: np.ndarray,
    unit: np.ndarray,
    symbolic: np.ndarray,
    measure: Callable[[Any], float],
    start: float,
    largest: float,
    rounding: float,
) -> Slope:
    """Measure the slope of a loss along the array `unit`; compare the gradient `symbolic` with it.

    If `place` is the index of an entry, the slope is the derivative with respect to this entry.
    """
    length = float(unit[place]) if place is not None else 1.0
    wanted = float((symbolic * unit).sum()) / length
    scale = largest * (1.0 if place is not None else float(np.abs(unit).sum()))
    if place is None:  # rounding and neglected terms add up like random numbers
        scale = largest * float(np.sqrt((unit**2).sum()))
    nearest, bends = None, []
    for share in STEPS[rounding]:
        step = share * length
        up, down = measure(array + share * unit), measure(array - share * unit)
        measured = (up - down) / (2 * step)
        noise = ROUNDINGS * rounding * max(abs(start), abs(up), abs(down)) / step
        limit = RELATIVE[rounding] * max(abs(wanted), abs(measured))
        limit += OF_TENSOR[rounding] * scale + noise
        if abs(measured - wanted) <= limit:
            return Slope(place, wanted, measured, noise, "right")
        bends.append((abs((up - start) - (start - down)) / step, noise))
        if nearest is None or abs(measured - wanted) < abs(nearest - wanted):
            nearest = measured
    measured = float("nan") if nearest is None else nearest
    verdict = "bend" if _is_bend(bends, measured) else "wrong"
    return Slope(place, wanted, measured, bends[-1][1], verdict)


def _is_bend(bends: list[tuple[float, float]], measured: float) -> bool:
    """Return whether the slopes on the two sides of a value differ even for small steps.

    For a smooth loss, the difference shrinks in proportion to the step.
    """
    (before, _), (last, noise) = bends[-2:]
    return last > 2 * noise and last > 0.5 * before and last > 1e-3 * abs(measured)


# --- all weights, and each op ---------------------------------------------------------------------


def check_weights(loss: Tensor, weights: Sequence[Tensor], leaves: Values) -> LossCheck:
    """Compare the gradients of a loss with numerical gradients, by finite differences.

    Raises
    ------
    ArgumentError
        The loss is not finite.
    """
    symbolic = gradients(loss, list(weights))
    known = [x for x in symbolic if x is not None]
    graph = DoubleGraph([loss, *known], leaves)
    value = graph.of(loss)
    if not np.isfinite(value).all():
        raise ArgumentError(
            f"The loss is {value}, which has no slope. Find where that comes from: catch nan,inf."
        )
    rounding = SINGLE if graph.single else DOUBLE
    is_large = sum(map(np.size, graph.values)) > LARGE
    found = []
    for seed, (weight, slope) in enumerate(zip(weights, symbolic, strict=True)):
        if weight not in graph.schedule.slots:
            continue  # the loss does not depend on it
        moved = graph.mover(weight, [loss])
        found.append(
            WeightCheck(
                weight.name,
                slopes_by(
                    np.asarray(graph.of(weight)),
                    None if slope is None else graph.of(slope),
                    lambda x, moved=moved: float(np.sum(moved(x)[0])),  # type: ignore[misc]
                    seed,
                    rounding,
                    is_large,
                ),
            )
        )
    return LossCheck(found, list(graph.single))


class LossCheck(NamedTuple):
    """The results of a gradient check.

    Attributes
    ----------
    checked : list of WeightCheck
        The result for each checked tensor.
    single : list of str
        The ops that return float32 and therefore get larger tolerances.
    """

    checked: list[WeightCheck]
    single: list[str]

    @property
    def is_wrong(self) -> bool:
        """Whether the gradient of any weight is wrong."""
        return any(one.is_wrong for one in self.checked)


def wrong_ops(loss: Tensor, weights: Sequence[Tensor], leaves: Values) -> list[WrongOp]:
    """Return the ops between weights and loss whose own gradient is wrong, the last op first."""
    applies = [a for a in applies_between(list(weights), [loss]) if _can_be_asked(a)]
    graph = DoubleGraph([loss], leaves)
    found: list[WrongOp] = []
    for seed, apply in enumerate(reversed(applies)):
        outputs = [graph.of(y) for y in apply.outputs]
        if any(y is None for y in outputs):
            continue  # in a branch that was not chosen
        found += _wrong_inputs(apply, outputs, graph, leaves, seed)
    return found


def _can_be_asked(apply: Apply) -> bool:
    if isinstance(apply.op, (StopGradient, Cast)):
        return False
    return any(is_float(y.dtype) for y in apply.outputs)


def _wrong_inputs(
    apply: Apply, outputs: list[Any], graph: DoubleGraph, leaves: Values, seed: int
) -> Iterator[WrongOp]:
    """Yield a `WrongOp` for each input of an op for which the op's own gradient is wrong."""
    chance = np.random.default_rng(seed)
    sent = [chance.normal(size=np.shape(y)).astype("float32") for y in outputs]
    arriving = [as_tensor(w.astype(y.dtype)) for w, y in zip(sent, apply.outputs, strict=True)]
    terms = apply.op.grad(apply.inputs, apply.outputs, arriving)
    for position, (x, term) in enumerate(zip(apply.inputs, terms, strict=True)):
        array = graph.of(x)
        is_whole_number = not is_float(x.dtype) or isinstance(array, type(None))
        if is_whole_number or (isinstance(apply.op, GivenGradient) and not position):
            continue
        around = {x: graph.of(x) for x in (*apply.inputs, *apply.outputs)}
        alone = DoubleGraph([] if term is None else [term], {**leaves, **around})
        measure, single = _measure_of(apply, position, graph, sent, leaves)
        rounding = SINGLE if single or alone.single else DOUBLE
        symbolic = None if term is None else _of_shape(alone.of(term), np.shape(array))
        slopes = slopes_by(np.asarray(array), symbolic, measure, seed, rounding)
        found = WeightCheck(x.name, slopes)
        if found.is_wrong:
            yield WrongOp(apply, position, found)


def _of_shape(term: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Return a gradient as an array; an array of NaN if the gradient has a wrong shape."""
    return np.asarray(term) if np.shape(term) == shape else np.full(shape, np.nan)


def _measure_of(
    apply: Apply, position: int, graph: DoubleGraph, sent: list[np.ndarray], leaves: Values
) -> tuple[Callable[[Any], float], bool]:
    """Return (function, bool): a weighted sum of an op's outputs, as a function of one input.

    The weights are the output gradients `sent`. The bool is whether the op rounds to float32.
    """
    if isinstance(apply.op, GivenGradient):  # it returns its first input, computed from the others
        x, y = apply.inputs[position], apply.inputs[0]
        cut = DoubleGraph([y], {**leaves, x: graph.of(x)}, [x])
        moved = cut.mover(x, [y])
        return (lambda array: float((moved(array)[0] * sent[0]).sum())), bool(cut.single)
    arrays = [graph.of(x) for x in apply.inputs]
    _, is_single = perform_doubled(apply.op, arrays)

    def measure(array: Any) -> float:
        results, _ = perform_doubled(
            apply.op, [array if k == position else x for k, x in enumerate(arrays)]
        )
        return float(sum((y * w).sum() for y, w in zip(results, sent, strict=True)))

    return measure, is_single
