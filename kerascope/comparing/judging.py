"""Judge each pair of calls: equal or different, and whether a difference begins there.

A difference begins at a call if its inputs agree and its outputs do not. The difference is ignored
if a later call cancels it: for example, one model may scale the queries of an attention before the
product, and the other model after it. It is never ignored if the two calls have the same weights,
or settings that are known to differ.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np

from kerascope.comparing.alignment import Alignment
from kerascope.comparing.arrays import (
    NO_FORM,
    PERMUTED,
    SHAPES_DIFFER,
    Agreement,
    Chunk,
    Difference,
    Tolerance,
    compared,
    compared_figures,
    compared_part,
    in_layout,
    measured,
)
from kerascope.comparing.families import WITH_ACTIVATION, are_weights_alike, family_of, may_be_gelu
from kerascope.comparing.gelu import gelu_forms_of
from kerascope.comparing.groups import Group, group_before, group_folded, reasons_of_group
from kerascope.comparing.reasons import (
    NOTHING_FOUND,
    Side,
    certain_settings,
    constants_that_differ,
    numbers_in,
    reasons_of,
    settings_that_differ,
    words_of_weights,
)
from kerascope.comparing.runs import Run, Unit, moments, parameters_of
from kerascope.comparing.weights import (
    ENOUGH,
    WeightDifference,
    Weights,
    overlap,
    part_of,
    reordered,
    weight_differences,
)
from kerascope.foreign.records import Call, Recorded
from kerascope.trace.records import listed

GROWTH = 10.0  # a call that enlarges a difference by less than this only passes it on
MOST_JOINED = 3  # number of call names that are all shown
FEW_WEIGHTS = 0.5  # share of an array: if more differs without effect, the layout is different


class Verdict(Enum):
    """The result for a pair of calls: equal, or the kind of difference."""

    EQUAL = "equal"
    DIFFERS = "differs"
    WEIGHTS = "weights differ"
    SETTINGS = "settings differ"
    UPSTREAM = "inputs differ"
    GROWN = "rounding grew"
    CANCELLED = "cancelled"
    UNKNOWN = "no numbers"

    @property
    def is_difference(self) -> bool:
        """Whether two models differ if one of their pairs has this verdict."""
        return self not in (Verdict.EQUAL, Verdict.CANCELLED, Verdict.UNKNOWN)

    @property
    def is_hidden(self) -> bool:
        """Whether the weights or settings differ, but the outputs agree."""
        return self in (Verdict.WEIGHTS, Verdict.SETTINGS)


@dataclass(frozen=True)
class Pair:
    """A call of one side, and its partner on the other side.

    Attributes
    ----------
    a, b : tuple of Call
        Usually one call each. If one side has a layer and its activation in one call, the other
        side may have two. In a pair of groups, such as an attention, a side has several calls.
    verdict : Verdict
    difference : Difference
        The difference of the outputs.
    layout : str
        The form in which the outputs were compared: "" if unchanged, or "axes (0, 2, 3, 1)".
    reasons : tuple of str
        The possible reasons, if a difference begins at this pair.
    input_difference : float
        The difference of the inputs, relative to their largest number.

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(2, input_shape=(3,), name="scores")])
    >>> pair = ks.compare(model, model).pairs[-1]
    >>> pair, float(pair.difference.max_abs)
    (<Pair scores | scores: equal>, 0.0)
    """

    a: tuple[Call, ...]
    b: tuple[Call, ...]
    verdict: Verdict
    difference: Difference
    layout: str = ""
    reasons: tuple[str, ...] = ()
    input_difference: float = 0.0

    @property
    def name_a(self) -> str:
        """Ids of the calls of the first side."""
        return joined([call.id for call in self.a])

    @property
    def name_b(self) -> str:
        """Ids of the calls of the second side."""
        return joined([call.id for call in self.b])

    def __repr__(self) -> str:
        return f"<Pair {self.name_a} | {self.name_b}: {self.verdict.value}>"


def joined(names: Sequence[str]) -> str:
    """Return the names of several calls as one text; for many only the first and the last.

    Examples
    --------
    >>> joined(["dense", "relu"]), joined(["q", "k", "v", "attend", "out"])
    ('dense + relu', 'q to out')
    """
    return " + ".join(names) if len(names) <= MOST_JOINED else f"{names[0]} to {names[-1]}"


class _OpenPair:
    """A pair of calls whose verdict may change in view of later calls."""

    def __init__(
        self, units: tuple[Unit, Unit], calls: tuple[list[Call], list[Call]], judge: Judge
    ) -> None:
        self.units = units
        self.a, self.b = calls
        self.judge = judge
        first, second = self.a[0].inputs, self.b[0].inputs
        self.inputs_agree, self.input_gap, self.input_layout = judge.inputs(first, second)
        self.outputs = judge.outputs(self.a[-1].outputs, self.b[-1].outputs)
        for value in self.a[-1].outputs[:1]:
            judge.note_layout(value, self.outputs)
        self.order = self._order()
        is_bare = self.order is not None and not self.a[0].parameters
        if is_bare and self.outputs and not self.outputs.agrees:
            values = self.a[-1].outputs[:1], self.b[-1].outputs[:1]
            self.outputs = judge.outputs(*values, any_order=True)
            self._compare_in_order()
        self.follows_unpaired = False  # whether unpaired calls changed its inputs
        self.part: Chunk | None = None
        if self.outputs and self.outputs.layout == SHAPES_DIFFER:
            self._compare_part()

    def _compare_in_order(self) -> None:
        """Put the second side's features in the order of the first side and compare the outputs."""
        a, b = self.a[-1].outputs[0].array, self.b[-1].outputs[0].array
        if self.outputs is None or self.outputs.agrees or self.order is None:
            return
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)) or a.shape != b.shape:
            return
        if a.shape[-1] == len(self.order):
            difference = measured(a, b[..., self.order], self.judge.tolerance)
            if difference.relative < self.outputs.difference.relative:
                self.outputs = Agreement(False, PERMUTED, difference)

    def _compare_part(self) -> None:
        """Compare the smaller of two outputs with the most similar part of the larger output."""
        a, b = self.a[-1].outputs[0].array, self.b[-1].outputs[0].array
        is_linear = family_of(self.a[0]) in WITH_ACTIVATION and self.is_one_family
        if is_linear and isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            found = compared_part(a, b, self.judge.tolerance)
            if found is not None:
                self.outputs, self.part = found

    def _order(self) -> np.ndarray | None:
        """Return the order of the second side's features; None if it is equal or unknown.

        The order is an array: for each feature of the first side, its index in the second side. A
        Flatten of images with another order of axes gives features in another order. All calls up
        to the next layer with weights keep this order.
        """
        known = self.judge.orders
        tokens = [value.token for value in self.a[0].inputs]
        order = next((known[token] for token in tokens if token in known), None)
        if order is None and self.input_layout.startswith("axes"):
            order = _flattened(self.a[0], self.b[0], self.input_layout)
        if order is not None and not self.a[0].parameters:
            known.update((value.token, order) for value in self.a[-1].outputs)
        return order

    @cached_property
    def weights(self) -> tuple[Weights, Weights]:
        a, b = Weights(parameters_of(self.a)), Weights(parameters_of(self.b))
        if self.part is None:
            return a, b
        return (a, part_of(b, self.part, a)) if self.part.is_of_b else (part_of(a, self.part, b), b)

    @property
    def layout_of_weights(self) -> bool | None:
        """Whether the weights of both calls have the same order of axes; None if unknown."""
        a, b = self.judge.alignment.a.library, self.judge.alignment.b.library
        return are_weights_alike((a, self.a[0]), (b, self.b[0]))

    @cached_property
    def weight_differences(self) -> list[WeightDifference]:
        layout, tolerance = self.layout_of_weights, self.judge.tolerance
        a, b = self.weights
        if self.order is not None:
            b = reordered(b, self.order)
        return weight_differences(a, b, tolerance, same_layout=layout)

    @property
    def has_old_order(self) -> bool:
        """Whether the two sides order their features differently, but their weights alike.

        Then one side has weights that expect the features in the order of the other side.
        """
        if self.order is None or not self.weights[0] or not self.weight_differences:
            return False
        layout, tolerance = self.layout_of_weights, self.judge.tolerance
        return not weight_differences(*self.weights, tolerance, same_layout=layout)

    @cached_property
    def settings(self) -> list[str]:
        run_a, run_b = self.judge.alignment.a, self.judge.alignment.b
        return settings_that_differ(Side(self.a, run_a.library), Side(self.b, run_b.library))

    @property
    def is_one_family(self) -> bool:
        return family_of(self.a[0]) == family_of(self.b[0])

    @property
    def has_form(self) -> bool:
        """Whether the known outputs of both sides have the same axes, in any order."""
        return self.outputs is not None and not self.outputs.layout.startswith("shape")

    def is_well_founded(self) -> bool:
        """Return whether the two calls certainly correspond. Only then is their difference real."""
        if not self.is_one_family:
            return False
        if not self.has_form and not self.judge.alignment.same_layout:
            return False  # such as an LSTM, whose outputs in ONNX have an axis for directions
        if self.weights[0] and self.weights[1]:
            return overlap(*self.weights) >= ENOUGH
        if self.weights[0] or self.weights[1]:
            return False
        return bool(self.settings or self.gelu_forms)

    @cached_property
    def gelu_forms(self) -> str:
        """The forms of gelu on both sides as text; "" if they are equal, or a side has no gelu."""
        if self.outputs is None or self.part is not None:
            return ""
        if not (may_be_gelu(self.a) and may_be_gelu(self.b)):
            return ""
        a, b = (side[-1].outputs[0].array for side in (self.a, self.b))
        if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
            return ""
        placed = in_layout(b, self.outputs.layout, a)
        return "" if placed is None else gelu_forms_of(a, placed)

    @property
    def hidden_settings(self) -> list[str]:
        """Different settings that certainly change the result, but by less than the tolerance."""
        found = certain_settings(self.settings) if self.is_one_family else []
        return [*found, self.gelu_forms] if self.gelu_forms else found

    def hidden_difference(self) -> WeightDifference | None:
        """Return a difference in the weights that does not change the outputs, or None."""
        if not (self.is_one_family and self.weights[0] and self.weights[1]):
            return None
        for one in self.weight_differences:
            few = max(1.0, FEW_WEIGHTS * one.difference.size)
            if not one.is_misplaced and 0 < one.difference.differing <= few:
                return one
        return None

    def verdict(self) -> Verdict:
        if self.outputs is None:
            return Verdict.UNKNOWN
        if self.outputs.agrees:
            if self.hidden_difference():
                return Verdict.WEIGHTS
            return Verdict.SETTINGS if self.hidden_settings else Verdict.EQUAL
        if self.inputs_agree is False:
            return Verdict.UPSTREAM
        tolerance, gap = self.judge.tolerance, self.input_gap
        if gap > tolerance / 30 and self.outputs.difference.relative < GROWTH * gap:
            return Verdict.GROWN
        return Verdict.DIFFERS


class Judge:
    """Finds a verdict for each pair of units in an alignment: equal, or the kind of difference.

    Parameters
    ----------
    alignment : Alignment
    tolerance : Tolerance
    """

    def __init__(self, alignment: Alignment, tolerance: Tolerance) -> None:
        self.alignment = alignment
        self.tolerance = tolerance.value
        self.orders: dict[Hashable, np.ndarray] = {}  # of features, by tokens of the first run
        self._layouts: Counter[tuple[int, str]] = Counter()  # layouts that agree, by number of axes

    def pairs(self) -> list[Pair]:
        """Return all pairs of calls with their verdicts, in the order of the first run."""
        a, b = self.alignment.a, self.alignment.b
        open_pairs: list[tuple[_OpenPair, Verdict]] = []
        for number, other in sorted([*self.alignment.pairs.items(), *self.alignment.parts]):
            units = a.units[number], b.units[other]
            for calls in self._parts(*units):
                pair = _OpenPair(units, calls, self)
                open_pairs.append((pair, pair.verdict()))
        agreeing = {
            pair.units[0].number
            for pair, verdict in open_pairs
            if verdict is Verdict.EQUAL and self.alignment.value_equal(*pair.units)
        }
        for pair, verdict in reversed(open_pairs):
            # For outputs without a common form, the next calls decide.
            is_good = self._final_verdict(pair, verdict, agreeing) is Verdict.CANCELLED
            if is_good and not pair.has_form and not self.alignment.same_layout:
                agreeing.add(pair.units[0].number)
        differing = {m.units[0].number for m, verdict in open_pairs if verdict is not Verdict.EQUAL}
        found: list[Pair] = []
        of_pairs: list[Unit] = []
        seen: set[tuple[tuple[Unit, ...], tuple[Unit, ...]]] = set()
        for pair, verdict in open_pairs:
            if self._begins_there(pair, verdict, differing):
                verdict, pair.follows_unpaired = Verdict.DIFFERS, True
            verdict = self._final_verdict(pair, verdict, agreeing)
            group = None
            if verdict is Verdict.DIFFERS and pair.follows_unpaired:
                group = group_before(self.alignment, *pair.units)
                if group is not None:  # the difference begins in calls without partners
                    verdict = Verdict.UPSTREAM
            if verdict is Verdict.DIFFERS:
                group = group_folded(self.alignment, *pair.units)
            if group is not None and (group.a, group.b) not in seen:
                found.append(self._pair_of_group(group))
                of_pairs.append(pair.units[0])
                seen.add((group.a, group.b))
            if group is None or group.folded is None:
                found.append(self._pair(pair, verdict))
                of_pairs.append(pair.units[0])
        return self._with_swaps(found, of_pairs)

    def pair_of_results(self) -> Pair | None:
        """Return the pair of the models' outputs if one model continues where the other ends.

        Such models differ, even if all paired calls agree. For other models, return None.
        """
        firsts, seconds = self.alignment.a.results(), self.alignment.b.results()
        partners = self.alignment.pairs
        left = [u for u in firsts if partners.get(u.number) not in [v.number for v in seconds]]
        right = [v for v in seconds if v.number not in [partners.get(u.number) for u in firsts]]
        if not left or not right or any(self._are_alike(u, v) for u in left for v in right):
            return None
        a, b = left[0], right[0]
        found = self.outputs(a.outputs, b.outputs, any_order=True)
        reasons = self._unpaired("continues with", a, b, themselves=True)
        gap = found.difference if found else NO_FORM
        return Pair(tuple(a.calls), tuple(b.calls), Verdict.DIFFERS, gap, "", tuple(reasons))

    def _are_alike(self, a: Unit, b: Unit) -> bool:
        """Return whether outputs of two units may contain the same elements, in any shape."""
        known = [(m, n) for m in a.moments for n in b.moments if m is not None and n is not None]
        return not known or any(compared_figures(m, n, self.tolerance).agrees for m, n in known)

    def _pair_of_group(self, group: Group) -> Pair:
        """Compare the outputs of two groups of calls, and return the groups as a `Pair`."""
        a, b = group.calls
        found = self.outputs(group.outputs[0], group.outputs[1], any_order=True)
        reasons = reasons_of_group(group, self.alignment, self.tolerance)
        gap = found.difference if found else NO_FORM
        layout = found.layout if found else ""
        return Pair(a, b, Verdict.DIFFERS, gap, layout, tuple(reasons))

    def _parts(self, a: Unit, b: Unit) -> list[tuple[list[Call], list[Call]]]:
        """Return the calls of two units as pairs (calls of `a`, calls of `b`) to judge separately.

        If both units have a call for the activation, the layers are judged as one pair and the
        activations as another. If only one unit has such a call, the other side may compute the
        activation by several unpaired ops, such as Div, Erf, Add and Mul for gelu. Then only the
        layers are judged.
        """
        if a.activation is not None and b.activation is not None:
            return [(a.calls[:-1], b.calls[:-1]), ([a.activation], [b.activation])]
        free_a, free_b = self.alignment.free_readers(a, b)
        is_equal = self.alignment.value_equal(a, b)
        if a.activation is not None and free_b and not is_equal:
            return [(a.calls[:-1], b.calls)]
        if b.activation is not None and free_a and not is_equal:
            return [(a.calls, b.calls[:-1])]
        return [(a.calls, b.calls)]

    def _begins_there(self, pair: _OpenPair, verdict: Verdict, differing: set[int]) -> bool:
        """Return whether a pair's inputs differ only because of unpaired calls before it.

        Then the pair counts as the one at which the difference begins.
        """
        unit = pair.units[0]
        if verdict is not Verdict.UPSTREAM or pair.a[0] is not unit.call:
            return False
        front = self.alignment.nearest_sources(unit)
        return bool(front) and not front & differing

    def _final_verdict(self, pair: _OpenPair, verdict: Verdict, agreeing: set[int]) -> Verdict:
        """Return the verdict in view of later calls, which may cancel a difference."""
        if verdict not in (Verdict.DIFFERS, Verdict.UPSTREAM, Verdict.GROWN):
            return verdict
        is_founded = verdict is Verdict.DIFFERS and not pair.follows_unpaired
        if is_founded and pair.is_well_founded():
            return verdict
        behind = self.alignment.nearest_readers(pair.units[0])
        return Verdict.CANCELLED if behind and behind <= agreeing else verdict

    def _pair(self, pair: _OpenPair, verdict: Verdict) -> Pair:
        found = pair.outputs or Agreement(True, "", Difference(0.0, 0.0))
        return Pair(
            tuple(pair.a),
            tuple(pair.b),
            verdict,
            found.difference,
            found.layout,
            self._reasons(pair, verdict),
            pair.input_gap,
        )

    def _reasons(self, pair: _OpenPair, verdict: Verdict) -> tuple[str, ...]:
        if verdict is Verdict.WEIGHTS:
            hidden = pair.hidden_difference()
            reasons = [words_of_weights(hidden)] if hidden else []
            return (*reasons, "its outputs do not show it on this input")
        if verdict is Verdict.SETTINGS:
            return (
                *pair.hidden_settings,
                "its outputs differ by less than the tolerance on this input",
            )
        if verdict is Verdict.GROWN:
            return ("no single call: the difference of its inputs is nearly as large",)
        if verdict is not Verdict.DIFFERS:
            return ()
        a = Side(pair.a, self.alignment.a.library)
        b = Side(pair.b, self.alignment.b.library)
        is_old = pair.has_old_order
        weights = [] if is_old else pair.weight_differences
        is_part = pair.part is not None
        forms = pair.gelu_forms
        reasons = reasons_of(a, b, weights, pair.settings, is_old, is_part, forms)
        first = self._swapped_words(pair.units[0])
        first += self._unpaired("has before it", *pair.units) if pair.follows_unpaired else []
        has_words = any(one.startswith("arguments") for one in reasons)
        first += [] if has_words else self._constants(pair)
        return (*first, *[one for one in reasons if not first or one != NOTHING_FOUND])

    def _constants(self, pair: _OpenPair) -> list[str]:
        """Return texts about the constants that differ between the inputs of two calls."""
        found = []
        for run, calls in ((self.alignment.a, pair.a), (self.alignment.b, pair.b)):
            tokens = [value.token for value in calls[0].inputs]
            numbers = [run.numbers[token] for token in tokens if token in run.numbers]
            found.append(numbers or numbers_in(calls[0]))
        return constants_that_differ(*found)

    def _swapped_words(self, unit: Unit) -> list[str]:
        """Return a list with a text if a unit's weights are swapped with another's; [] if not."""
        other = self.alignment.swapped.get(unit.number)
        if other is None:
            return []
        names = unit.call.id, other.call.id
        return [
            f"the weights of {names[0]} and {names[1]} are swapped: {names[0]} of a has those of "
            f"{names[1]} of b"
        ]

    def _with_swaps(self, pairs: list[Pair], units: Sequence[Unit]) -> list[Pair]:
        """Return the pairs, after setting the verdict of layers with swapped weights to `WEIGHTS`.

        Only pairs that were judged equal are changed. Although their outputs agree, the swap
        changes a later call, which reads each of the two layers in place of the other.
        """
        first = first_of(pairs, self.alignment.a)
        before = 0
        found = []
        for pair, unit in reversed([*zip(pairs, units, strict=True)]):
            before = self.alignment.a.before[unit.number] if pair is first else before
            words = self._swapped_words(unit) if before >> unit.number & 1 else []
            if words and pair.verdict is Verdict.EQUAL:
                pair = replace(pair, verdict=Verdict.WEIGHTS, reasons=tuple(words))
            found.append(pair)
        return found[::-1]

    def note_layout(self, value: Recorded, found: Agreement | None) -> None:
        """Record the order of axes in which two values agree. Values that differ are ignored."""
        if found is not None and found.agrees and _is_of_axes(found.layout):
            self._layouts[len(value.shape), found.layout] += 1

    def _unpaired(self, verb: str, *units: Unit, themselves: bool = False) -> list[str]:
        """Return texts about unpaired calls before two units, back to the nearest paired units."""
        sides = zip(
            "ab",
            (self.alignment.a, self.alignment.b),
            self.alignment.unpaired_before(*units, themselves=themselves),
            strict=True,
        )
        return [
            f"only {word} {verb}: {listed(run.words_of(found), 4)}"
            for word, run, found in sides
            if found
        ]

    # --- values -----------------------------------------------------------------------------------

    def outputs(
        self, a: Sequence[Recorded], b: Sequence[Recorded], any_order: bool = False
    ) -> Agreement | None:
        """Return how far the outputs of two calls agree; None if their numbers are unknown."""
        if len(a) == len(b):
            found = [self._compared(x, y, any_order) for x, y in zip(a, b, strict=True)]
            known = [one for one in found if one is not None]
            if known and (len(known) == 1 or known[0].agrees):
                return max(known, key=lambda one: one.difference.relative)
        best: Agreement | None = None
        for value in b:
            one = self._compared(a[0], value, False) if a else None
            if one is not None and (best is None or _rank(one) < _rank(best)):
                best = one
        return best

    def inputs(
        self, a: Sequence[Recorded], b: Sequence[Recorded]
    ) -> tuple[bool | None, float, str]:
        """Return whether the inputs of two calls agree, how far they differ, and in which form.

        The form is the order of axes in which the arrays match: see `Agreement.layout`. If a call
        has no input whose numbers are known, return None, 0 and "".
        """
        a, b = ([v for v in values if moments(v) is not None] for values in (a, b))
        if not a or not b:
            return None, 0.0, ""
        few, many = (a, b) if len(a) <= len(b) else (b, a)
        free = list(range(len(many)))
        found: list[Agreement] = []
        for value in few:
            options = []
            for place in free:
                pair = (value, many[place]) if few is a else (many[place], value)
                one = self._compared(*pair, True) or Agreement(False, "", NO_FORM)
                options.append((one, place))
            best, taken = min(options, key=lambda option: _rank(option[0]))
            found.append(best)
            free.remove(taken)
        worst = max(one.difference.relative for one in found)
        layout = next((one.layout for one in found if one.layout), "")
        return all(one.agrees for one in found), worst, layout

    def _compared(self, x: Recorded, y: Recorded, any_order: bool) -> Agreement | None:
        m, n = moments(x), moments(y)
        if m is None or n is None:
            return None
        if isinstance(x.array, np.ndarray) and isinstance(y.array, np.ndarray):
            layout = self.alignment.same_layout
            found = compared(
                x.array, y.array, self.tolerance, same_layout=layout, any_order=any_order
            )
            return found if found.agrees else self._in_common_layout(x.array, y.array, found)
        return compared_figures(m, n, self.tolerance)

    def _in_common_layout(self, x: np.ndarray, y: np.ndarray, found: Agreement) -> Agreement:
        """Return the difference of two arrays in the order of axes in which most others agree.

        The order with the smallest difference may be wrong, for instance if an image has as many
        channels as rows.
        """
        if self.alignment.same_layout or not _is_of_axes(found.layout):
            return found
        alike = [one for (ndim, one), _ in self._layouts.most_common() if ndim == x.ndim]
        for layout in alike:
            placed = in_layout(y, layout, x)
            if placed is not None and placed.shape == x.shape:
                return Agreement(False, layout, measured(x, placed, self.tolerance))
        return found


def _rank(agreement: Agreement) -> tuple[bool, float]:
    return not agreement.agrees, agreement.difference.relative


def _is_of_axes(layout: str) -> bool:
    """Return whether arrays were compared unchanged, or only with another order of axes."""
    return not layout or layout.startswith("axes")


def _flattened(a: Call, b: Call, layout: str) -> np.ndarray | None:
    """Return the order of the second side's features after a Flatten; None if it is unknown."""
    shapes = [(side.inputs[0].shape, side.outputs[0].shape) for side in (a, b) if side.outputs]
    if len(shapes) != 2 or any(len(given) <= len(made) for given, made in shapes):
        return None
    axes = tuple(int(n) for n in re.findall(r"\d+", layout))
    given = [int(n or 0) for n in shapes[1][0]]
    size = math.prod(given[1:])
    if axes[0] != 0 or len(axes) != len(given) or shapes[1][1][-1] != size:
        return None
    return np.arange(size).reshape(1, *given[1:]).transpose(axes).ravel()


def first_of(pairs: Sequence[Pair], run: Run) -> Pair | None:
    """Return the pair at which two runs stop agreeing, or None if they agree."""
    places = {call.id: place for place, call in enumerate(run.calls)}
    ordered = sorted(pairs, key=lambda pair: places[pair.a[-1].id])
    for wanted in (
        (Verdict.DIFFERS, Verdict.WEIGHTS, Verdict.SETTINGS),
        (Verdict.GROWN,),
        (Verdict.UPSTREAM,),
    ):
        for pair in ordered:
            if pair.verdict in wanted:
                return pair
    return None
