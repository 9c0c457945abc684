"""`ks.compare(a, b, x)`: run two models on the same input and find the first different call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from typing import Any

from kerascope.call_inputs import with_numbers
from kerascope.comparing.alignment import Alignment
from kerascope.comparing.arrays import Tolerance, tolerance_for
from kerascope.comparing.drawn import drawn_inputs, note_of
from kerascope.comparing.judging import MOST_JOINED, Judge, Pair, Verdict, first_of
from kerascope.comparing.runs import GIVEN, Run, moments
from kerascope.comparing.subjects import Prepared, SideRuns, prepared, run_side, with_keras
from kerascope.errors import ArgumentError
from kerascope.foreign import WATCHED
from kerascope.foreign.graphs import graph_of_calls
from kerascope.foreign.records import Call
from kerascope.viz.drawing import Drawing
from kerascope.viz.graph import Graph
from kerascope.viz.overlays import marking

_TABLES = "kerascope.comparing.tables"  # imports rich, so it is only loaded to show a comparison
_DRAW = "kerascope.viz.draw"
SEED = 0
REASONS_DRAWN = 2  # number of reasons under the title of a picture


@dataclass(frozen=True, repr=False)
class Comparison:
    """The result of comparing two models.

    Attributes
    ----------
    a, b : Run
        The runs of both models.
    pairs : list of Pair
        The pairs of calls, in the order of the first model.
    only_a, only_b : list of Call
        The calls without a partner.
    first : Pair or None
        The pair at which the two models stop agreeing, or None if they agree.
    tolerance : Tolerance
    notes : tuple of str
        How the inputs were prepared, such as "random numbers were drawn".

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(2, input_shape=(3,), name="scores")])
    >>> found = ks.compare(model, model)
    >>> found, found.equal, found.first
    (<Comparison: equal, 2 pairs>, True, None)
    """

    a: Run
    b: Run
    pairs: list[Pair]
    only_a: list[Call]
    only_b: list[Call]
    first: Pair | None
    tolerance: Tolerance
    notes: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether the two models agree in all calls."""
        return self.first is None

    @property
    def not_finite(self) -> Pair | None:
        """The first pair of calls with equal outputs that contain NaN or infinity, or None."""
        for pair in self.pairs:
            figures = [found for value in pair.a[-1].outputs if (found := moments(value))]
            if any(one.not_finite for one in figures) and pair.verdict is Verdict.EQUAL:
                return pair
        return None

    def lines(self, width: int = 100) -> list[str]:
        """Return the comparison as it is printed, as lines of text."""
        return import_module(_TABLES).lines_of(self, width)

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        if self.first is None:
            return f"<Comparison: equal, {len(self.pairs)} pairs>"
        return f"<Comparison: {self.first!r} is the first of {len(self.pairs)} pairs>"

    def __rich_console__(self, console: Any, options: Any) -> Any:
        """Yield the lines of the comparison for rich."""
        return import_module(_TABLES).rendered(self, console, options)

    def graph(self) -> Graph:
        """Return the graph of the first model with the state of each call.

        Returns
        -------
        Graph
            Boxes of equal pairs are "done", the first different one is "failed", later different
            ones are "changed", and calls without a partner are "pending".
        """
        run = self.a
        graph = graph_of_calls(run.name, run.calls, run.frames, library=run.library)
        states: dict[str, str] = {call.id: "pending" for call in self.only_a}
        notes: dict[str, str] = {call.id: "only here" for call in self.only_a}
        for pair in self.pairs:
            for call in pair.a:
                states[call.id], notes[call.id] = self._mark(pair)
            if len(pair.a) > MOST_JOINED:  # the last call of a group has the compared output
                notes.update((call.id, "part of this group") for call in pair.a[:-1])
        graph = marking.with_states(graph, states, notes, where="compare")
        return replace(graph, attrs={**graph.attrs, "caption": self._caption()})

    def _mark(self, pair: Pair) -> tuple[str, str]:
        if pair is self.first and pair.verdict.is_hidden:
            return "failed", f"its {pair.verdict.value} first"
        if pair is self.first:
            return "failed", f"differs first: {pair.difference.relative:.2g}"
        if pair.verdict.is_hidden:
            return "changed", f"its {pair.verdict.value}"
        if pair.verdict.is_difference:
            return "changed", f"{pair.verdict.value}: {pair.difference.relative:.2g}"
        return "done", f"= {pair.name_b}" if pair.name_a != pair.name_b else "equal"

    def _caption(self) -> str:
        if self.first is None:
            return f"{self.a.name} and {self.b.name} agree"
        words = f"{self.a.name} (a) and {self.b.name} (b) differ from {self.first.name_a} on"
        short = [reason for reason in self.first.reasons if "..." not in reason]
        return "; ".join((words, *short[:REASONS_DRAWN]))

    def draw(self, to: str | PathLike[str] | None = None, **options: Any) -> Drawing:
        """Draw the graph of the first model with the state of each call.

        Parameters
        ----------
        to : path, optional
            A path to which the picture is also saved.
        **options
            Options of `kerascope.draw`.
        """
        return import_module(_DRAW).draw(self.graph(), to, **options)


def compare(
    a: Any,
    b: Any = None,
    x: Any = None,
    *,
    x_b: Any = None,
    tolerance: float | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    seed: int = SEED,
) -> Comparison:
    """Run two models on the same input and find the first call at which they stop agreeing.

    Parameters
    ----------
    a, b : model, path or Tape
        Models of kerascope, Keras 3, PyTorch, ONNX or JAX, or paths of .keras, .h5 or .onnx files
        or of tapes. Without `b`, a Keras model or file runs in kerascope and in the real Keras.
    x : array_like, list or tuple of array_like, or dict, optional
        The input of both models. By default random numbers, which are the same for each call of
        `compare`. For PyTorch or Keras 3, a shape such as (2, 4) is replaced by random numbers.
    x_b : optional
        The input of `b`, if it needs another form.
    tolerance : float, optional
        The largest difference at which arrays agree, relative to their largest number. The default
        depends on the shortest float type in both models: 1e-9 for float64, 1e-4 for float32, 0.02
        for float16, 0.1 for bfloat16.
    custom_objects : dict, optional
        Your own classes that a file needs, by name.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    Comparison

    Raises
    ------
    ArgumentError
        If `a` or `b` cannot be compared, or an argument is missing.

    Notes
    -----
    Arrays agree if their largest difference is within the tolerance. Between libraries, their axes
    may have another order (channels first or last). Calls are paired by their outputs, by their
    weights, and by their position in the graph. Names count last.

    Examples
    --------
    >>> import kerascope as ks
    >>> from kerascope.layers import Dense
    >>> def model():
    ...     return ks.Sequential([Dense(3, input_shape=(2,), name="one"), Dense(1, name="two")])
    >>> mine, port = model(), model()
    >>> port.set_weights(mine.get_weights())
    >>> compare(mine, port).equal
    True
    >>> kernel, bias = port.layers[1].get_weights()
    >>> kernel[2, 0] += 1
    >>> port.layers[1].set_weights([kernel, bias])
    >>> found = compare(mine, port)
    >>> found.first.name_a, found.first.reasons[0].split(":")[0]
    ('two', 'kernel differs at one number of 3')
    """
    check_tolerance(tolerance)
    sides = _sides(a, b, custom_objects)
    if any(side.library in WATCHED for side in sides):
        x, x_b = with_numbers(x), with_numbers(x_b)
    notes: list[str] = []
    was_drawn = False
    if x is None and any(side.library != "tape" for side in sides):
        x = drawn_inputs(sides, seed)
        was_drawn = x is not None
        if was_drawn:
            notes.append(note_of(seed))
    found: list[SideRuns] = []
    for side, given, word in zip(sides, (x, x if x_b is None else x_b), "ab", strict=True):
        try:
            found.append(run_side(side, given, word))
        except ArgumentError as error:
            if was_drawn:
                remedy = "Give your own: compare(a, b, x), or --input x.npy."
                raise ArgumentError(f"{error} The input was random. {remedy}") from error
            raise
        if found[-1].note:
            notes.append(f"{word}: {found[-1].note}")
    return _of_runs(found[0].runs, found[1].runs, tolerance, notes)


def check_tolerance(tolerance: float | None) -> None:
    """Raise an error if a value is not a valid tolerance.

    Raises
    ------
    ArgumentError
        If the value is not a number, or is negative.
    """
    if tolerance is None:
        return
    if not isinstance(tolerance, (int, float)) or not 0 <= tolerance < float("inf"):
        raise ArgumentError(
            f"compare: expected a tolerance of 0 or more, such as 1e-4, got {tolerance!r}."
        )


def _sides(a: Any, b: Any, custom_objects: Mapping[str, Any] | None) -> list[Prepared]:
    if b is None:
        return with_keras(a, custom_objects)
    return [prepared(a, custom_objects), prepared(b, custom_objects)]


def _of_runs(
    a: Sequence[Run], b: Sequence[Run], tolerance: float | None, notes: list[str]
) -> Comparison:
    """Compare two lists of forward passes pair by pair, up to the first pair that differs.

    Return the comparison of this pair or, if all pairs agree, that of the last pair.
    """
    if len(a) != len(b):
        notes.append(f"{len(a)} forward passes in a, {len(b)} in b: the first were compared")
    found = None
    passes = list(zip(a, b, strict=False))
    for number, (one, other) in enumerate(passes):
        found = _of_passes(one, other, tolerance)
        if not found.equal:
            if number:
                notes.append(f"the first {number} forward passes agree; this is number {number}")
            break
    if found is None:
        raise ArgumentError("compare: one of the two models made no calls.")
    if found.equal and len(passes) > 1:
        notes.append(f"all {len(passes)} forward passes agree")
    return replace(found, notes=tuple(notes))


def _of_passes(a: Run, b: Run, given: float | None) -> Comparison:
    tolerance = Tolerance(given) if given is not None else tolerance_for(a.dtypes | b.dtypes)
    alignment = Alignment(a, b, tolerance.value)
    judge = Judge(alignment, tolerance)
    pairs = judge.pairs()
    if first_of(pairs, a) is None and (last := judge.pair_of_results()) is not None:
        pairs = [*pairs, last]
    taken = {call.id for pair in pairs for call in pair.a}, {c.id for p in pairs for c in p.b}
    only_a, only_b = (
        [
            call
            for u in run.units
            for call in u.calls
            if call.id not in ids and u.family not in GIVEN
        ]
        for run, ids in zip((a, b), taken, strict=True)
    )
    return Comparison(a, b, pairs, only_a, only_b, first_of(pairs, a), tolerance)


__all__ = ["Comparison", "Pair", "Verdict", "compare"]
