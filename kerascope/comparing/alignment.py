"""Pair the calls of two runs.

A unit is a call, or a layer with its activation (`runs.py`). Pairs are made in the order of the
strength of evidence: equal values in one family, equal values in any family, equal weights, and
then the same neighbours, family and sizes. Pairs never cross: a unit after `u` is not paired with a
unit before the partner of `u`. "After" refers to the graph and not to the order of calls, so
branches may run in a different order.

Equal constant values prove nothing: two layers that return zeros need not be the same. After the
first difference, values are no longer equal, and weights and neighbours decide.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from kerascope.comparing.arrays import Chunk, Moments, compared, compared_figures, could_agree
from kerascope.comparing.families import KERAS, WITH_ACTIVATION
from kerascope.comparing.runs import GIVEN, Run, Unit, bits_of
from kerascope.comparing.weights import ENOUGH, overlap, part_of
from kerascope.foreign.records import Recorded

Test = Callable[[Unit, Unit], float]  # how well two units match; 0: not at all


class Alignment:
    """The pairs of corresponding units of two runs.

    Parameters
    ----------
    a, b : Run
    tolerance : float
        The largest difference of equal arrays, relative to their largest number.

    Attributes
    ----------
    pairs : dict of int to int
        For each paired unit of `a`, the number of its partner in `b`.
    parts : list of (int, int)
        Pairs (unit of `a`, unit of `b`) in which a layer without a partner computes a part of the
        output of the layer on the other side.
    """

    def __init__(self, a: Run, b: Run, tolerance: float) -> None:
        self.a, self.b = a, b
        self.tolerance = tolerance
        self.same_layout = is_same_layout(a.library, b.library)
        self.pairs: dict[int, int] = {}
        self._back: dict[int, int] = {}
        self._bits = 0  # bits of the paired units of `a`
        self._nearest: dict[tuple[str, bool], dict[int, int]] = {}
        self._values: dict[tuple[int, int], bool] = {}
        self._know_weights = all(any(u.weights for u in run.units) for run in (a, b))  # not tapes
        self._inputs()
        self._match(self._by_value_and_family)
        self._match(self._by_value)
        self._by_weights()
        self._by_structure()
        self._ends()
        self._undo_unrelated_pairs()
        self.parts = self._parts()

    @cached_property
    def swapped(self) -> dict[int, Unit]:
        """For each swapped unit of `a`, by its number, the unit of `a` that took its place.

        Two units are swapped if each of them is paired with the unit of `b` that has the name of
        the other. Models of two libraries have no such units, because their names do not identify
        layers.
        """
        if self.a.library != self.b.library:
            return {}
        named = {unit.call.id: unit for unit in self.a.units if unit.weights}
        partners = {name: self.pairs.get(unit.number) for name, unit in named.items()}
        names = {
            name: self.b.units[number].call.id
            for name, number in partners.items()
            if number is not None
        }
        return {
            named[name].number: named[other]
            for name, other in names.items()
            if other != name and names.get(other) == name
        }

    def value_equal(self, a: Unit, b: Unit) -> bool:
        """Return whether a unit of `a` and one of `b` have an equal output that is not constant."""
        key = a.number, b.number
        if key not in self._values:
            self._values[key] = any(
                self._same(x, y, m, n)
                for x, m in zip(a.outputs, a.moments, strict=True)
                for y, n in zip(b.outputs, b.moments, strict=True)
                if m is not None and n is not None and m.is_distinctive and n.is_distinctive
            )
        return self._values[key]

    def _same(self, x: Recorded, y: Recorded, m: Moments, n: Moments) -> bool:
        if not could_agree(m, n, self.tolerance):
            return False
        if isinstance(x.array, np.ndarray) and isinstance(y.array, np.ndarray):
            found = compared(x.array, y.array, self.tolerance, same_layout=self.same_layout)
            return found.agrees
        return compared_figures(m, n, self.tolerance).agrees

    # --- steps of pairing -------------------------------------------------------------------------

    def _inputs(self) -> None:
        """Pair the input units of both models.

        Units with equal values are paired first, then those with equal names, then the others in
        order.
        """
        firsts, seconds = (
            [u for u in run.units if u.family == "input"] for run in (self.a, self.b)
        )
        for test in (self.value_equal, lambda a, b: a.last_name == b.last_name, lambda a, b: True):
            for one in firsts:
                for other in seconds:
                    is_free = one.number not in self.pairs and other.number not in self._back
                    if is_free and test(one, other):
                        self._pair(one, other)

    def _by_value_and_family(self, a: Unit, b: Unit) -> float:
        if a.family != b.family or not self.value_equal(a, b):
            return 0.0
        return 1.0 + 2.0 * self._same_front(a, b) + (a.last_name == b.last_name)

    def _by_value(self, a: Unit, b: Unit) -> float:
        return (1.0 + self._same_front(a, b)) if self.value_equal(a, b) else 0.0

    def _by_weights(self) -> None:
        """Pair layers whose weights are mostly equal, the most similar first."""
        found: list[tuple[float, Unit, Unit]] = []
        for one in self._free(self.a, self.pairs):
            if one.weights:
                for other in self._free(self.b, self._back):
                    if other.weights and one.weights.sizes == other.weights.sizes:
                        share = overlap(one.weights, other.weights)
                        if share >= ENOUGH:
                            found.append((share, one, other))
        found.sort(key=lambda entry: (-entry[0], entry[1].number, entry[2].number))
        shares = {(one.number, other.number): share for share, one, other in found}
        for share in dict.fromkeys(entry[0] for entry in found):

            def of_this_share(a: Unit, b: Unit, share: float = share) -> float:
                if shares.get((a.number, b.number)) != share:
                    return 0.0
                return 1.0 + 2.0 * self._same_front(a, b) + (a.last_name == b.last_name)

            self._match(of_this_share)

    def _by_structure(self) -> None:
        """Pair similar units whose neighbours are partners, until no new pair is found."""
        tests: tuple[Test, ...] = (
            lambda a, b: self._alike(a, b, size=True) and self._same_front(a, b),
            lambda a, b: self._alike(a, b, size=True) and self._same_readers(a, b),
            lambda a, b: self._alike(a, b, size=False) and self._same_front(a, b),
            lambda a, b: self._alike(a, b, size=True),
        )
        step = 0
        while step < len(tests):
            before = len(self.pairs)
            self._match(tests[step])
            step = 0 if len(self.pairs) > before and step else step + 1

    def _ends(self) -> None:
        """Pair the last units of both models in order, unless they have partners.

        Last units are those whose outputs no other unit reads.
        """
        for one, other in zip(
            *([u for u in run.ends() if u.number not in known]
              for run, known in ((self.a, self.pairs), (self.b, self._back))),
            strict=False,
        ):  # fmt: skip
            if self._fits(one, other):
                self._pair(one, other)

    def _undo_unrelated_pairs(self) -> None:
        """Undo pairs that have no weights and differ, although all pairs before them agree.

        A pair is undone only if the nearest paired units before its two units are not partners of
        each other. Then the two units read different values, and were paired only because their
        sizes are equal.
        """
        for one in self.a.units:
            if one.number not in self.pairs or one.family in GIVEN or one.weights:
                continue
            other = self.b.units[self.pairs[one.number]]
            if self.value_equal(one, other):
                continue
            front = self.nearest_sources(one)
            back = set(bits_of(self._fronts("b", False)[other.number]))
            if not front or not back or {self.pairs[n] for n in front} & back:
                continue
            agree = all(self._agrees(n, self.pairs[n]) for n in front)
            if agree and all(self._agrees(self._back[n], n) for n in back):
                self._unpair(one.number)

    def _agrees(self, a: int, b: int) -> bool:
        return self.value_equal(self.a.units[a], self.b.units[b])

    def _parts(self) -> list[tuple[int, int]]:
        """Return the pairs (unit of `a`, unit of `b`) for the attribute `parts`.

        One unit is a layer without a partner. The other unit is a layer of the other side that
        also computes the output of the first one, as a part of its own output.
        """
        found = []
        for is_turned, run, whole, known in (
            (False, self.a, self.b, self.pairs),
            (True, self.b, self.a, self._back),
        ):
            for unit in self._free(run, known):
                if unit.family not in WITH_ACTIVATION or not unit.weights:
                    continue
                for other in whole.units:
                    pair = (other, unit) if is_turned else (unit, other)
                    if _is_part(unit, other) and self._same_front(*pair):
                        found.append((pair[0].number, pair[1].number))
                        break
        return found

    # --- matching of units ------------------------------------------------------------------------

    def _alike(self, a: Unit, b: Unit, *, size: bool) -> float:
        """Return how similar two units are in kind, name and sizes; 0 if they cannot match."""
        if a.family != b.family or (self._know_weights and bool(a.weights) != bool(b.weights)):
            return 0.0
        if a.family == "other" and a.op != b.op:
            return 0.0
        if size and self._know_weights and a.weights.sizes != b.weights.sizes:
            return 0.0
        if size and not _sizes(a) & _sizes(b):
            return 0.0
        return 1.0 + (a.op == b.op) + 0.5 * (a.last_name == b.last_name)

    def _same_front(self, a: Unit, b: Unit) -> bool:
        """Return whether the nearest paired units before `a` and before `b` are partners."""
        front = self._fronts("a", False)[a.number]
        return self._images(front) == self._fronts("b", False)[b.number]

    def _same_readers(self, a: Unit, b: Unit) -> bool:
        """Return whether the nearest paired units after `a` and after `b` are partners."""
        front = self._fronts("a", True)[a.number]
        return bool(front) and self._images(front) == self._fronts("b", True)[b.number]

    def _fronts(self, side: str, behind: bool) -> dict[int, int]:
        """Return the nearest paired units before each unit of a side, or after it if `behind`.

        They are an integer for each unit, in which bit n is set for unit number n.
        """
        key = side, behind
        if key not in self._nearest:
            run, known = (self.a, self.pairs) if side == "a" else (self.b, self._back)
            fronts: dict[int, int] = {}
            for unit in reversed(run.units) if behind else run.units:
                bits = 0
                for other in unit.readers if behind else unit.sources:
                    bits |= 1 << other if other in known else fronts[other]
                fronts[unit.number] = bits
            self._nearest[key] = fronts
        return self._nearest[key]

    def nearest_readers(self, unit: Unit) -> set[int]:
        """Return the numbers of the nearest paired units after a unit of the first run."""
        return set(bits_of(self._fronts("a", True)[unit.number]))

    def nearest_sources(self, unit: Unit) -> set[int]:
        """Return the numbers of the nearest paired units before a unit of the first run."""
        return set(bits_of(self._fronts("a", False)[unit.number]))

    def free_readers(self, a: Unit, b: Unit) -> tuple[bool, bool]:
        """Return, for each of two units, whether units read its output, all of them unpaired."""
        return (
            bool(a.readers) and not self.pairs.keys() & set(a.readers),
            bool(b.readers) and not self._back.keys() & set(b.readers),
        )

    def unpaired_before(
        self, a: Unit, b: Unit, *, themselves: bool = False
    ) -> tuple[list[Unit], list[Unit]]:
        """Return the unpaired units before `a` and before `b`, back to the nearest paired units."""
        found: tuple[list[Unit], list[Unit]] = ([], [])
        parts = [{pair[side] for pair in self.parts} for side in (0, 1)]
        for units, run, unit, known in (
            (found[0], self.a, a, self.pairs.keys() | parts[0]),
            (found[1], self.b, b, self._back.keys() | parts[1]),
        ):
            waiting = [unit.number] if themselves else list(unit.sources)
            while waiting:
                number = waiting.pop()
                one = run.units[number]
                if number not in known and one not in units and one.family not in GIVEN:
                    units.insert(0, one)
                    waiting.extend(one.sources)
        return found

    # --- pairing ----------------------------------------------------------------------------------

    def _match(self, test: Test) -> None:
        """Pair each unpaired unit of `a` with the free unit of `b` that `test` rates highest."""
        for one in self._free(self.a, self.pairs):
            best, found = 0.0, None
            for other in self._free(self.b, self._back):
                score = test(one, other)
                if score > best and self._fits(one, other):
                    best, found = score, other
            if found is not None:
                self._pair(one, found)

    def _free(self, run: Run, known: dict[int, int]) -> list[Unit]:
        return [u for u in run.units if u.number not in known and u.family not in GIVEN]

    def _fits(self, a: Unit, b: Unit) -> bool:
        """Return whether a new pair would keep the order of all existing pairs on both sides."""
        return not (
            self._images(self.a.before[a.number]) & self.b.after[b.number]
            or self._images(self.a.after[a.number]) & self.b.before[b.number]
        )

    def _images(self, bits: int) -> int:
        return sum(1 << self.pairs[n] for n in bits_of(bits & self._bits))

    def _pair(self, a: Unit, b: Unit) -> None:
        self.pairs[a.number] = b.number
        self._back[b.number] = a.number
        self._bits |= 1 << a.number
        self._nearest.clear()

    def _unpair(self, number: int) -> None:
        del self._back[self.pairs.pop(number)]
        self._bits &= ~(1 << number)
        self._nearest.clear()


def _is_part(unit: Unit, other: Unit) -> bool:
    """Return whether the layer `unit` may compute a part of the output of `other`."""
    if unit.family != other.family or not unit.outputs or not other.outputs or not other.weights:
        return False
    short, long = unit.outputs[0].shape, other.outputs[0].shape
    if len(short) < 2 or len(short) != len(long) or short[:-1] != long[:-1]:
        return False
    if not short[-1] or not long[-1] or long[-1] <= short[-1] or long[-1] % short[-1]:
        return False
    parts = long[-1] // short[-1]
    pieces = (part_of(other.weights, Chunk(n, parts, True), unit.weights) for n in range(parts))
    return any(overlap(unit.weights, piece) >= ENOUGH for piece in pieces)


def _sizes(unit: Unit) -> set[int]:
    return {moments.size for moments in unit.moments if moments is not None}


def is_same_layout(a: str, b: str) -> bool:
    """Return whether two libraries use the same order of axes, as kerascope and Keras do."""
    return a == b or (a in KERAS and b in KERAS)
