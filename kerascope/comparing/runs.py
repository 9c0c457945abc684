"""A run in the form that is compared: its calls as units, and the links between them.

A unit is a call, or a product with its bias and activation, because libraries split them
differently: Keras writes `Dense(10, activation="relu")`, PyTorch has a Linear and a ReLU, and ONNX
a MatMul, an Add and a Relu. The activation belongs to the unit if nothing else reads the product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kerascope.comparing.arrays import Moments, moments_of
from kerascope.comparing.families import WITH_ACTIVATION, activation_of, family_of, plain_name
from kerascope.comparing.weights import Weights
from kerascope.foreign.records import Call, Frame, Recorded
from kerascope.trace.statistics import Statistics

ADDING = ("add", "biasadd")
GIVEN = ("input", "constant")  # families of values that no call computes


@dataclass(eq=False)
class Unit:
    """The unit of a comparison: a call, or a layer with its activation.

    Attributes
    ----------
    number : int
        Position of the unit in the run.
    calls : list of Call
        One call, or a product with the addition of its bias and its activation.
    family : str
        The family of the first call's operation, such as "convolution".
    inputs : list of Recorded
        The values that the unit reads.
    activation : Call or None
        The last call if it is the activation of a layer, otherwise None.
    sources : list of int
        Numbers of the units that compute the inputs.
    readers : list of int
        Numbers of the units that read the outputs.
    """

    number: int
    calls: list[Call]
    family: str
    inputs: list[Recorded]
    activation: Call | None = None
    sources: list[int] = field(default_factory=list)
    readers: list[int] = field(default_factory=list)

    @property
    def call(self) -> Call:
        """The first call of the unit, which is the one with the weights."""
        return self.calls[0]

    @property
    def outputs(self) -> tuple[Recorded, ...]:
        """The outputs of the unit, which are those of its last call."""
        return self.calls[-1].outputs

    @cached_property
    def weights(self) -> Weights:
        """The weights of all calls of the unit."""
        return Weights(parameters_of(self.calls))

    @cached_property
    def op(self) -> str:
        """The name of the unit's operation in the form that all libraries share: "conv2d"."""
        return plain_name(self.call.op)

    @cached_property
    def moments(self) -> list[Moments | None]:
        """The moments (see `Moments`) of each output; None for an unknown output."""
        return [moments(value) for value in self.outputs]

    @cached_property
    def last_name(self) -> str:
        """The name of the unit's first call, without the names of the frames around it."""
        return self.call.name.replace(".", "/").rpartition("/")[2]

    @property
    def words(self) -> str:
        """The unit as it is shown in tables, such as "conv1 (Conv2D + ReLU)"."""
        return f"{self.call.id} ({' + '.join(call.op for call in self.calls)})"


def parameters_of(calls: Sequence[Call]) -> dict[str, Recorded]:
    """Return the weights of a unit: those of its first call, and a bias that a later call adds."""
    found = {**calls[0].parameters, **calls[0].buffers}
    for call in calls[1:]:
        found.update(("bias", value) for value in call.parameters.values())
    return found


def moments(value: Recorded) -> Moments | None:
    """Return the moments of a recorded value, or None if its numbers were not recorded."""
    array = value.array
    if isinstance(array, Statistics):
        return moments_of(array)
    if array is None or array.dtype.kind in "OSUc" or not array.size:
        return None
    return moments_of(array)


class Run:
    """The run of one model: its calls, and the units that they form.

    Parameters
    ----------
    name : str
    library : str
        Such as "kerascope", "torch" or "tape".
    calls : sequence of Call
    frames : sequence of Frame
    outputs : sequence of hashable
        Tokens that identify the model's outputs among the outputs of calls, if they are known.

    Examples
    --------
    >>> import kerascope as ks
    >>> model = ks.Sequential([ks.layers.Dense(2, input_shape=(3,), name="scores")], name="small")
    >>> run = ks.compare(model, model).a
    >>> run.name, run.library, [call.id for call in run.calls]
    ('small', 'kerascope', ['scores_input', 'scores'])
    """

    def __init__(
        self,
        name: str,
        library: str,
        calls: Sequence[Call],
        frames: Sequence[Frame] = (),
        outputs: Sequence[Hashable] = (),
    ) -> None:
        self.name = name
        self.library = library
        self.calls = _with_constants(calls)
        self.frames = list(frames)
        self._outputs = set(outputs)
        self.units = _units(self.calls)
        self.before = _reached(self.units, lambda unit: unit.sources)
        self.after = _reached(self.units[::-1], lambda unit: unit.readers)

    @cached_property
    def dtypes(self) -> set[str]:
        """The dtypes of the outputs and weights of all calls of the run."""
        values = [v for call in self.calls for v in (*call.outputs, *call.parameters.values())]
        return {value.dtype for value in values}

    @cached_property
    def numbers(self) -> dict[Hashable, tuple[str, float]]:
        """The names and values of constants with one element, by the token that identifies each."""
        return {
            value.token: (call.name, float(value.array.item()))
            for call in self.calls
            if call.kind == "constant"
            for value in call.outputs
            if isinstance(value.array, np.ndarray)
            and value.array.size == 1
            and value.array.dtype.kind in "fiub"
        }

    def results(self) -> list[Unit]:
        """Return the units that compute the model's outputs; [] if the outputs are unknown."""
        if not self._outputs:
            ends = self.ends()
            return ends if len(ends) == 1 else []
        return [u for u in self.units if any(v.token in self._outputs for v in u.outputs)]

    def words_of(self, units: Iterable[Unit]) -> list[str]:
        """Return the names of units, in the order of the run.

        If all units inside a frame are given, the name of the frame replaces their names.

        Parameters
        ----------
        units : iterable of Unit
        """
        frames = {frame.id: frame for frame in self.frames}
        inside: dict[str, set[int]] = {}
        inputs = sum(1 << unit.number for unit in self.units if unit.family == "input")
        for unit in self.units:
            # Values computed from constants alone may be shared by several frames.
            if self.before[unit.number] & inputs:
                for name in _frames_around(unit, frames):
                    inside.setdefault(name, set()).add(unit.number)
        ordered = sorted(units, key=lambda unit: unit.number)
        numbers = {unit.number for unit in ordered}
        words: dict[str, None] = {}
        for unit in ordered:
            around = [name for name in _frames_around(unit, frames) if name in inside]
            whole = [name for name in around if inside[name] <= numbers]
            words[f"{whole[-1]} ({frames[whole[-1]].op})" if whole else unit.words] = None
        return list(words)

    def ends(self) -> list[Unit]:
        """Return the last units of the run, whose outputs no unit reads."""
        return [u for u in self.units if not u.readers and u.family not in GIVEN]


def _frames_around(unit: Unit, frames: Mapping[str, Frame]) -> Iterator[str]:
    """Yield the ids of the frames around a unit, the innermost first."""
    name = unit.call.frame
    while name in frames:
        yield name
        name = frames[name].outer


def _with_constants(calls: Sequence[Call]) -> list[Call]:
    """Return the calls after moving constant inputs to their weights.

    In JAX, the weights of an operation are constants among its inputs.
    """
    constants = {v.token: call for call in calls if call.kind == "constant" for v in call.outputs}
    if not constants:
        return list(calls)
    found = []
    for call in calls:
        own = {constants[v.token].name: v for v in call.inputs if _is_weight(v, constants)}
        rest = tuple(v for v in call.inputs if not _is_weight(v, constants))
        if own:
            call = call._replace(inputs=rest, parameters={**call.parameters, **own})
        found.append(call)
    return found


def _is_weight(value: Recorded, constants: Mapping[Hashable, Call]) -> bool:
    return value.token in constants and math.prod(size or 1 for size in value.shape) > 1


def _units(calls: Sequence[Call]) -> list[Unit]:
    """Return the units of a run, each with its sources and its readers."""
    makers, readers = _links(calls)
    units: list[Unit] = []
    unit_of: dict[int, Unit] = {}
    for number, call in enumerate(calls):
        host = _host(number, call, unit_of, makers, readers)
        if host is not None:
            unit = unit_of[number] = unit_of[host]
            unit.calls.append(call)
            unit.activation = None if call.parameters else call
            continue
        unit = Unit(len(units), [call], family_of(call), list(call.inputs))
        unit.sources = [unit_of[maker].number for maker in makers[number] if maker in unit_of]
        units.append(unit)
        unit_of[number] = unit
    for unit in units:
        for source in dict.fromkeys(unit.sources):
            units[source].readers.append(unit.number)
    return units


def _links(calls: Sequence[Call]) -> tuple[list[list[int]], list[set[int]]]:
    """Return, for each call, the calls that computed its inputs and those that read its outputs."""
    made: dict[Hashable, int] = {}
    makers: list[list[int]] = []
    readers: list[set[int]] = [set() for _ in calls]
    for number, call in enumerate(calls):
        found = [made[value.token] for value in call.inputs if value.token in made]
        makers.append(found)
        for maker in found:
            readers[maker].add(number)
        made.update((value.token, number) for value in call.outputs)
    return makers, readers


def _host(
    number: int,
    call: Call,
    unit_of: Mapping[int, Unit],
    makers: list[list[int]],
    readers: list[set[int]],
) -> int | None:
    """Return the layer call to whose unit a call belongs, or None if it is a separate unit.

    The call belongs to the unit if it adds a bias or is an activation.
    """
    host = makers[number][0] if len(set(makers[number])) == 1 else None
    if host is None or readers[host] != {number}:
        return None
    unit = unit_of[host]
    has_own = bool(unit.activation or activation_of(unit.call.settings))
    if unit.family not in WITH_ACTIVATION or not unit.call.parameters or has_own:
        return None
    if call.parameters:
        is_bias = plain_name(call.op) in ADDING and len(unit.call.parameters) == 1
        return host if is_bias and len(call.parameters) == 1 else None
    return host if family_of(call) == "activation" else None


def _reached(units: Sequence[Unit], steps: Callable[[Unit], Iterable[int]]) -> dict[int, int]:
    """Return, for each unit, all units before it, or all after it, as the bits of an integer."""
    found: dict[int, int] = {}
    for unit in units:
        bits = 0
        for other in steps(unit):
            bits |= found[other] | 1 << other
        found[unit.number] = bits
    return found


def bits_of(bits: int) -> Iterator[int]:
    """Yield the positions of the ones in a binary number."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low
