"""Events: what a model's life is made of, on one clock.

The engine's stages yield what happens; the recorder (`recorder.py`) turns it into these records,
the tape (`tape.py`) keeps them, the stepper (`stepper.py`) moves among them. An event is plain: it
holds names, numbers and arrays that nobody writes into any more, never a live container.

A span has two events, "B" when it is about to happen and "E" when it is done; what takes no time
has one, "I". Spans lie in each other; `depth` says how deep.

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

Of its own the recorder adds "depth" (a depth of the network begins and ends), "check.depth" (all
calls of a depth can be computed), "metric.term" (compile made a metric), "override" (a listener has
put another array in the place of a computed one) and "event" (what a stage of unknown kind tells).

Lesson: chapter 12. The idea of one record for all is that of the trace event format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

GRAINS = ("act", "phase", "node", "op", "detail")
BEGIN, END, INSTANT = "B", "E", "I"
FORGOTTEN = "forgotten"  # the kind of the event in the place of those that a tape forgot
SKIPPED = "unlooked"  # the same of calls that are executed again if somebody asks for them
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
    """Whose code an op is: what the user's line is to it, all of his lines, and the op's own code.

    A line is (file, line, function).

    Attributes
    ----------
    function : str
        In which the user's line stands, which `Where` has; "" where that is not known.
    role : str
        What that line has done, if it has not made the op: "made dense_1", "compiled model_1".
    gradient_of : str
        The op whose line it is, if this one belongs to its gradient.
    made_by : tuple of (str, int, str)
        The lines of the user's own code that made the op, the innermost first.
    called_from : tuple of (str, int, str)
        The lines that led there from outside, the innermost first.
    code : tuple of (str, int, str)
        What computes it: a line of its `perform`.
    """

    function: str = ""
    role: str = ""
    gradient_of: str = ""
    made_by: tuple[tuple[str, int, str], ...] = ()
    called_from: tuple[tuple[str, int, str], ...] = ()
    code: tuple[str, int, str] = ("", 0, "")

    @property
    def words(self) -> str:
        """What the user's line is to the op: "gradient of dense_1/dot, made dense_1"."""
        told = f"gradient of {self.gradient_of}" if self.gradient_of else ""
        return ", ".join(filter(None, (told, self.role)))


class Where(NamedTuple):
    """Two places in source: what is being walked through, and the script's line that led there.

    Attributes
    ----------
    file : str
        Of the engine.
    line : int
    function : str
        The engine's; of the act of building, through which no line of the engine leads, the user's.
    user_file : str
        Of the user's script; "" if nothing of it is concerned.
    user_line : int
    made : Made or None
        Of an op, and of what tells of several: who made it.
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
    """One name of the source and what it is now.

    Attributes
    ----------
    name : str
        As in the source: "tensor_map", "depth", "updates".
    key : object
        The key that was put into it, if the name is that of a container; else None. In a list it is
        the place.
    value : object
        A copy, or an array that nobody writes into.
    """

    name: str
    key: Any
    value: Any


class Event(NamedTuple):
    """One thing that happened, or is about to; a tuple, because there are so many of them.

    Attributes
    ----------
    t : int
        Time: 0, 1, 2, ... over the whole session.
    act, phase : str
        In which act and phase it lies; "" for none.
    kind : str
        What it is: "layer.call", "map.visit", "op", "update.apply", ...; of an act or a phase its
        name.
    ph : {"B", "E", "I"}
    depth : int
        Number of spans that are open around it.
    grain : {"act", "phase", "node", "op", "detail"}
    name : str
        Of which layer, node, tensor or variable it speaks.
    where : Where
    deltas : tuple of Delta
        The names that it changed; of an "E" its value is under the name "result".
    facts : mapping of str to object
        What `kerascope trace` prints and no name of the source says: the id of each call, the role
        of a variable. Strings, numbers, lists and dicts; several events may share them.
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
    """Return the first time for which an event stands: its own, or that of a run."""
    return int(event.deltas[0].value) if event.kind in MARKS else event.t


# Made of one tuple, in half the time that the constructor by names takes: for the recorder, which
# makes them while the model runs.
new_delta: Callable[[Iterable[Any]], Delta] = partial(tuple.__new__, Delta)
new_event: Callable[[Iterable[Any]], Event] = partial(tuple.__new__, Event)
