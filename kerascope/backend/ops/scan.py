"""Scan: a loop inside the graph, one op whose parameter is the graph of one step.

Theano's `scan` and TensorFlow's `while_loop` are the models. The loop takes sequences, whose first
axis is time, initial states, and others, which are the same at each step. It gives

- for each output of the step the sequence of its values;
- for each state its history (the values *before* each step) and its last value;
- for each term of the step the sum over all steps.

`K.rnn`, `K.foldl`, `K.foldr` and `K.map_fn` make such loops. The histories are what the gradient
needs (see `scan_gradient.py`); the sums are how gradients of weights come out of a loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from kerascope.backend.graph import EAGER, Op, Tensor
from kerascope.backend.ops.scan_gradient import Loop, kept_for_gradient, reverse_loop
from kerascope.backend.ops.scan_graph import InnerGraph, trace_step
from kerascope.backend.ops.scan_program import perform_loop, step_specs, written_loop
from kerascope.backend.ops.scan_run import run_loop
from kerascope.backend.shapes import Shape, merge_shapes
from kerascope.errors import ShapeError

__all__ = ["scan"]


@dataclass(frozen=True, repr=False)
class Scan(Op):
    """A loop over the steps of sequences.

    Attributes
    ----------
    inner : InnerGraph
        The graph of one step. Two loops are equal if it is the same object.
    backwards : bool
        Whether the last step is performed first. Outputs stand at the place of their step all the
        same.
    least_steps : int
        With fewer steps a run raises.
    """

    inner: InnerGraph
    backwards: bool = False
    least_steps: int = 0

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """Number of sequences, histories, last states and sums that it gives."""
        results = self.inner.results
        return len(results.outputs) + 2 * len(results.new_states) + len(results.terms)

    def __repr__(self) -> str:
        inner = self.inner
        facts = [
            f"{len(inner.applies)} ops",
            f"{len(inner.sequences)} sequences",
            f"{len(inner.states)} states",
            *(["backwards"] if self.backwards else []),
        ]
        return f"Scan({', '.join(facts)})"

    @property
    def inputs_read_by_shape(self) -> frozenset[int]:
        """Which inputs, from 0, no step reads but for their shape."""
        return self.inner.inputs_read_by_shape

    def infer_shape(self, *inputs):
        inner = self.inner.fitted(inputs)
        steps = _number_of_steps(inputs[: len(inner.sequences)])
        states = [x.shape for x in inner.states]
        shapes = [
            *((steps, *y.shape) for y in inner.results.outputs),
            *((steps, *shape) for shape in states),
            *states,
            *(y.shape for y in inner.results.terms),
        ]
        return _one_or_all(shapes)

    def infer_dtype(self, *inputs):
        inner = self.inner.fitted(inputs)
        states = [x.dtype for x in inner.states]
        outputs, terms = inner.results.outputs, inner.results.terms
        dtypes = [*(y.dtype for y in outputs), *states, *states, *(y.dtype for y in terms)]
        return _one_or_all(dtypes)

    def may_share(self, inputs, outputs):
        """Without a step the first states are the last ones."""
        if inputs[0].shape[0] > 0:
            return ()
        n_outputs, n_states = len(self.inner.results.outputs), len(self.inner.states)
        first_input, first_output = len(self.inner.sequences), n_outputs + n_states
        return [(first_output + k, first_input + k) for k in range(n_states)]

    def perform(self, *arrays):
        results = perform_loop(self.inner, arrays, self.backwards, self.least_steps)
        return _one_or_all(results)

    def kernel(self, inputs, outputs):
        return self._written(inputs, None)

    def _written(self, inputs, wanted):
        """Return the program of the loop for inputs of these shapes."""
        if inputs[0].shape[0] < max(self.least_steps, 1):
            return None
        n = len(self.inner.sequences)
        if any(x.shape[:1] != inputs[0].shape[:1] for x in inputs[:n]):
            return None
        return written_loop(self.inner, step_specs(n, inputs), self.backwards, wanted)

    def leaner(self, wanted):
        return PartOfScan(self.inner, self.backwards, self.least_steps, tuple(wanted))

    def grad(self, inputs, outputs, output_grads):
        inner = self.inner.fitted(inputs)
        given, grads = Loop.of(inner, outputs), Loop.of(inner, output_grads)
        reverse = reverse_loop(inner, inputs, given, grads)
        if reverse is None:
            return [None] * len(inputs)
        results = Scan(reverse.inner, not self.backwards)(*reverse.inputs)
        results = [results] if isinstance(results, Tensor) else results
        sent = Loop.of(reverse.inner, results)
        receivers = reverse.receivers
        terms = dict(zip(receivers.outputs, sent.outputs, strict=True))
        terms.update(zip(receivers.new_states, sent.last_states, strict=True))
        terms.update(zip(receivers.terms, sent.sums, strict=True))
        return [terms.get(x) for x in inner.inputs]


@dataclass(frozen=True, repr=False)
class PartOfScan(Scan):
    """A loop of which only some results are read; a compiled function makes it of a Scan.

    Attributes
    ----------
    wanted : tuple of int
        Which ones, by number.
    """

    wanted: tuple[int, ...] = ()

    @property
    def n_outputs(self) -> int:  # type: ignore[override]
        """Number of results that it gives."""
        return len(self.wanted)

    def _chosen(self, facts):
        several = facts if super().n_outputs > 1 else (facts,)
        return _one_or_all([several[number] for number in self.wanted])

    def infer_shape(self, *inputs):
        return self._chosen(super().infer_shape(*inputs))

    def infer_dtype(self, *inputs):
        return self._chosen(super().infer_dtype(*inputs))

    def may_share(self, inputs, outputs):
        shared = super().may_share(inputs, outputs)
        return [(self.wanted.index(y), x) for y, x in shared if y in self.wanted]

    def perform(self, *arrays):
        return self._chosen(super().perform(*arrays))

    def kernel(self, inputs, outputs):
        return self._written(inputs, self.wanted)


@dataclass(frozen=True, repr=False)
class ScanOnce(Scan):
    """A loop that runs once, in eager mode: it is interpreted, for a program would not pay."""

    def perform(self, *arrays):
        return _one_or_all(run_loop(self.inner, arrays, self.backwards, self.least_steps))


def _one_or_all(facts):
    """Return what an op of one or of several outputs returns."""
    return facts[0] if len(facts) == 1 else tuple(facts)


def _number_of_steps(sequences):
    """Return the size of the first axis of all sequences."""
    steps: Shape = (None,)
    for x in sequences:
        merged = merge_shapes(steps, x.shape[:1])
        if merged is None:
            listed = ", ".join(f"'{x.name}' {x.shape}" for x in sequences)
            raise ShapeError(f"scan: sequences {listed}; expected equal first axes.", subject=x)
        steps = merged
    return steps[0]


def scan(step, sequences, initial_states, *, backwards=False, least_steps=0, keeps=False):
    """Apply a step to each place along the first axis of sequences, as one op.

    Parameters
    ----------
    step : callable
        From (list of slices, list of states) to (list of outputs, list of new states).
    sequences : list of Tensor, shapes (time, ...)
        At least one.
    initial_states : list of Tensor
    backwards : bool
        Whether to begin at the end.
    least_steps : int
        With fewer steps a run raises.
    keeps : bool
        Whether the loop gives out everything that its gradient needs again. Otherwise the gradient
        computes it once more.

    Returns
    -------
    (list of Tensor, list of Tensor)
        The sequence of each output, and the last states.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> def step(slices, states):
    ...     total = states[0] + slices[0]
    ...     return [total], [total]
    >>> outputs, states = scan(step, [K.constant([1, 2, 3])], [K.constant(0)])
    >>> K.eval(outputs[0]).tolist(), float(K.eval(states[0]))
    ([1.0, 3.0, 6.0], 6.0)
    """
    inner, inputs = trace_step(step, sequences, initial_states)
    n_outputs = len(inner.results.outputs)
    is_eager = EAGER.get() is not None
    if keeps and not is_eager:
        inner = inner.with_outputs(kept_for_gradient(inner))
    kind = ScanOnce if is_eager else Scan
    results = kind(inner, backwards, least_steps)(*inputs)
    results = [results] if isinstance(results, Tensor) else results
    given = Loop.of(inner, results)
    return given.outputs[:n_outputs], given.last_states
