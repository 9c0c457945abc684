"""Events: the records of everything that happens to a model, on one clock.

The engine's stages yield stage events. The recorder (`recorder.py`) turns these into `Event`
records, the tape (`tape.py`) stores them, and the stepper (`stepper.py`) moves between them. An
event is plain data: it holds names, numbers and arrays that no longer change, never a live
container.

A span has two events, "B" when it begins and "E" when it ends. What is not a span, such as a drawn
random number, has one event, "I". Spans are nested; `depth` is the nesting level.

===========  =================================  ================================  ==============
grain        BUILD                              COMPILE                           RUN
===========  =================================  ================================  ==============
`act`        build                              compile, function (made)          fit, epoch,
                                                                                  batch,
                                                                                  evaluate,
                                                                                  predict,
                                                                                  function
                                                                                  (called)
`phase`      build_map, depth_sort,             loss, metrics, gradients,         callbacks,
             check_graph, run_internal_graph    get_updates                       forward, loss,
                                                                                  backward,
                                                                                  update, commit
`node`       layer.init, layer.build,           loss.term, reg.term, grad.node,   node,
             layer.call, node.create,           opt.param                         update.param,
             map.visit                                                            update.apply,
                                                                                  callback
`op`         op.create                          grad.op                           op
`detail`     weight.create, map.mark,           grad.accum, grad.none,            rng.draw, mask,
             map.skip, map.depth, depth.put,    slot.create, update.pair,         metric.value,
             tmap.get, tmap.set                 update.dup                        weight.set
===========  =================================  ================================  ==============

The recorder adds kinds that no stage yields: "depth" (a depth of the network starts and ends),
"check.depth" (all calls of a depth can be computed), "metric.term" (compile made a metric),
"override" (a listener replaced a computed array) and "event" (an event of a stage of unknown kind).

Lesson: chapter 12. The Trace Event Format of Chrome also has one kind of record for all events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

GRAINS = ("act", "phase", "node", "op", "detail")
BEGIN, END, INSTANT = "B", "E", "I"
FORGOTTEN = "forgotten"  # the kind of the mark that replaces events removed from the tape
SKIPPED = "unlooked"  # the mark of calls that are executed again when needed
MARKS = (FORGOTTEN, SKIPPED)

_KINDS = {
    "act": "build compile function fit epoch batch evaluate predict",
    "phase": "build_map depth_sort check_graph run_internal_graph loss metrics gradients "
    "get_updates callbacks forward backward update commit",
    "node": "layer.init layer.build layer.call node.create map.visit loss.term reg.term "
    "metric.term grad.node opt.param node update.param update.apply callback",
    "op": "op.create grad.op op",
    "detail": "weight.create map.mark map.skip map.depth depth depth.put check.depth tmap.get "
    "tmap.set grad.accum grad.none slot.create update.pair update.dup rng.draw mask metric.value "
    "weight.set override event",
}
GRAIN_OF = {kind: grain for grain, kinds in _KINDS.items() for kind in kinds.split()}


class Made(NamedTuple):
    """The origin of an op: the user's lines that led to it, and the code that computes it.

    A line is (file, line, function).

    Attributes
    ----------
    function : str
        The function that contains the user's line in `Where`; "" if it is not known.
    role : str
        What the user's line did if it did not make the op directly: "made dense_1",
        "compiled model_1".
    gradient_of : str
        The op of the forward pass whose gradient this op computes; "" for other ops.
    made_by : tuple of (str, int, str)
        The lines of the user's code that made the op, the innermost first.
    called_from : tuple of (str, int, str)
        The lines from which that code was called, the innermost first.
    code : tuple of (str, int, str)
        The code that computes the op: a line of its `perform`.

    Examples
    --------
    >>> made = Made("build", made_by=(("train.py", 7, "build"),))
    >>> made.function, made.made_by[0][1]
    ('build', 7)
    """

    function: str = ""
    role: str = ""
    gradient_of: str = ""
    made_by: tuple[tuple[str, int, str], ...] = ()
    called_from: tuple[tuple[str, int, str], ...] = ()
    code: tuple[str, int, str] = ("", 0, "")

    @property
    def words(self) -> str:
        """What the op and the user's line have to do with each other, as text.

        For example, "gradient of dense_1/dot, made dense_1" means that the op computes the gradient
        of `dense_1/dot`, and that the user's line made the layer `dense_1`. The text is "" if
        the line made the op directly and the op computes no gradient.
        """
        origin = f"gradient of {self.gradient_of}" if self.gradient_of else ""
        return ", ".join(filter(None, (origin, self.role)))


class Where(NamedTuple):
    """Two places in source: the running line of the engine, and the script's line that led there.

    Attributes
    ----------
    file : str
        A file of the engine.
    line : int
    function : str
        The engine's function. If an event has no line of the engine, as when a layer is made,
        the user's function.
    user_file : str
        The user's script; "" if no script is involved.
    user_line : int
    made : Made or None
        The origin of the event's op. For an event about several ops, only `made_by` is set: the
        lines that made any of these ops. None for other events.

    Examples
    --------
    >>> where = Where("kerascope/layers/core.py", 140, "call", "train.py", 12)
    >>> where.user_file, where.user_line
    ('train.py', 12)
    """

    file: str = ""
    line: int = 0
    function: str = ""
    user_file: str = ""
    user_line: int = 0
    made: Made | None = None


NOWHERE = Where()
NO_FACTS: Mapping[str, Any] = MappingProxyType({})


class Delta(NamedTuple):
    """A name in the engine's source, and its new value.

    Attributes
    ----------
    name : str
        As in the source: "tensor_map", "depth", "updates".
    key : object
        For a dict the key that was added, for a list the position; otherwise None.
    value : object
        A copy, or an array that no longer changes.

    Examples
    --------
    >>> import kerascope as ks
    >>> w = ks.K.variable(1.0, name="w")
    >>> double = ks.K.function([], [], updates=[(w, 2.0 * w)])
    >>> with ks.trace() as tape:
    ...     results = double([])
    >>> delta = tape.filter(kind="update.apply")[0].deltas[0]
    >>> delta.name, delta.key, float(delta.value)
    ('weights', 'w', 2.0)
    """

    name: str
    key: Any
    value: Any


class Event(NamedTuple):
    """The record of an event, or of the start or end of a span. A tuple, to use little memory.

    Attributes
    ----------
    t : int
        Time: 0, 1, 2, ... over the whole session.
    act, phase : str
        The act and the phase that contain the event; "" for none.
    kind : str
        The kind of event: "layer.call", "map.visit", "op", "update.apply", ...; for an act or a
        phase, its name.
    ph : {"B", "E", "I"}
        "B" for the start of a span, "E" for its end, "I" for an event without duration.
    depth : int
        The number of open spans around the event.
    grain : {"act", "phase", "node", "op", "detail"}
        How fine the event is.
    name : str
        The layer, node, tensor or variable that the event is about.
    where : Where
        The line of the engine, and the line of the script that led there.
    deltas : tuple of Delta
        The names that the event changed. The result of an "E" has the name "result".
    facts : mapping of str to object
        Information for `kerascope trace` that is not in a name of the source: the id of each call,
        the role of a variable. Strings, numbers, lists and dicts; several events may share them.

    Examples
    --------
    >>> import kerascope as ks
    >>> with ks.trace() as tape:
    ...     model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,), name="scores")])
    >>> for event in tape.filter(kind="layer.call"):
    ...     print(event.act, event.kind, event.ph, event.name, event.grain)
    build layer.call B scores node
    build layer.call E scores node
    """

    t: int
    act: str
    phase: str
    kind: str
    ph: str
    depth: int
    grain: str
    name: str
    where: Where = NOWHERE
    deltas: tuple[Delta, ...] = ()
    facts: Mapping[str, Any] = NO_FACTS


def first_time(event: Event) -> int:
    """Return the time of the first event that a mark replaces; for other events, their own time."""
    return int(event.deltas[0].value) if event.kind in MARKS else event.t


# Constructors from one tuple take half the time of the constructors by names. The recorder calls
# them while the model runs.
new_delta: Callable[[Iterable[Any]], Delta] = partial(tuple.__new__, Delta)
new_event: Callable[[Iterable[Any]], Event] = partial(tuple.__new__, Event)
