"""Selectors: the tests on events that `break` and `until` take.

==================  ===============================================================================
`dense_2`           the layer is called; `dense_2@1` only its second call; globs: `dense_*`
`dense_2:bwd`       gradients go through it
`layer:depth`       the layer, if its name alone would mean something else
`depth 2`           the network depth 2 begins
`op:dot`            an op of this name is made or performed
`tensor:a/out*`     the op of this tensor is made or performed
`weight:*_W`        the weight is created, set or updated
`phase:commit`      a phase or an act begins; `commit` is enough if no layer has that name, also
                    `make_train_function` and names of Keras's source: `get_gradients`
`event:map.skip`    events of this kind; `event:layer.build dense_2` only those of this name
`batch 17`          also `epoch 3`, `fit 2`, `epoch 1 batch 17`; of one model `batch 17 of D`
`lstm_1 step 7`     the loop of this layer has been performed; the result of its step 7 is shown
`train.py:12`       a line of the user's script makes something: a layer, but not each of its ops;
                    in a layer's `call`, a loss or a Lambda an op, both when it is made and when it
                    is computed; or a line of the engine runs
`run:dense_2`       any of these, but only where numbers are computed; `build:` only where
                    symbols are made: models built, compiled, their functions made
`*`                 every event
==================  ===============================================================================

A selector selects the start of a span, and with `:ret` the end, which has the value. Both forms
select events without duration. `*` selects starts and ends.

The event of an op has the name of its tensor; the op's own name ("dot") is the delta "op".
`tensor:loss`, or `tensor:total_loss`, is the op that computes the loss of a batch. Only the end
of the op has this information, so the end is selected.

This is the grammar; `parse_selector` turns a text into a `Selector`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import NamedTuple

from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, GRAIN_OF, Event
from kerascope.trace.history import (
    History,
    before,
    begin_of,
    is_training_call,
    model_of_fit,
    name_of_model,
    runs_of,
    value_of_event,
    value_of_span,
)

ACTS = tuple(kind for kind, grain in GRAIN_OF.items() if grain == "act")
PHASES = tuple(kind for kind, grain in GRAIN_OF.items() if grain == "phase")
TIMES = ("run", "build")
LOSS_NAMES = ("loss", "total_loss")
FUNCTIONS = ("make_train_function", "train_function", "test_function", "predict_function")
OF_THE_SOURCE = {  # functions of Keras's source and their names here
    "build_map_of_graph": "build_map",
    "get_gradients": "gradients",
    "fit_loop": "epoch",
    "test_loop": "evaluate",
    "predict_loop": "predict",
}
FORWARD_KINDS = ("layer.call", "node")
OP_KINDS = ("op", "op.create")
BACKWARD_KINDS = ("node", "grad.node")
WEIGHT_KINDS = ("weight.create", "weight.set", "update.param", "update.apply", "opt.param")
COUNTED = ("depth", "batch", "epoch", "fit")
SUFFIXES = ("ret", "bwd", "fwd")
EXAMPLES = "dense_2, dense_2:bwd, depth 2, op:dot, phase:commit, batch 17, train.py:12 or *"


class KnownNames(NamedTuple):
    """The existing names of a program, to detect misspelt names in selectors.

    If a collection is empty, names of this kind are not checked. `layers_so_far` has the names of
    layers while more layers may still be added, so layers with other names are not refused.
    """

    layers: Collection[str] = ()
    ops: Collection[str] = ()
    tensors: Collection[str] = ()
    weights: Collection[str] = ()
    kinds: Collection[str] = ()
    layers_so_far: Collection[str] = ()


NOTHING_KNOWN = KnownNames()


class BatchAddress(NamedTuple):
    """The address of a batch, an epoch or a `fit`, such as "fit 2 epoch 1 batch 17 of D".

    The calls of `fit` count from 1, epochs and batches from 0. A number that the text does not
    state is None, and a model that it does not state is "".
    """

    fit: int | None = None
    epoch: int | None = None
    batch: int | None = None
    model: str = ""


NO_ADDRESS = BatchAddress()


def parse_address(text: str, where: str) -> BatchAddress | None:
    """Parse the address of a batch, an epoch or a `fit`; return None for any other text.

    Examples
    --------
    >>> parse_address("epoch 1 batch 17 of D", "goto")
    BatchAddress(fit=None, epoch=1, batch=17, model='D')
    """
    words = ("fit", "epoch", "batch")
    pattern = " ?".join(rf"(?:{word} (\S+))?" for word in words)
    found = re.fullmatch(rf"(?={'|'.join(words)}){pattern}(?: of (\S+))?", text.strip())
    if found is None:
        return None
    pairs = zip(found.groups(), words, strict=False)
    fit, epoch, batch = (None if n is None else _number(n, word, where) for n, word in pairs)
    return BatchAddress(fit, epoch, batch, found[4] or "")


@dataclass(frozen=True)
class Selector:
    """A test on events.

    Attributes
    ----------
    text : str
        The text that the user wrote.
    what : str
        "layer", "op", "tensor", "weight", "phase", "event", "depth", "batch", "epoch", "fit",
        "line", "step" or "all".
    pattern : str
        A name or a glob of names; for "line" the file, for "event" the kind of event.
    name : str
        For "event": the name of the layer, node, tensor or variable.
    number : int
        The number of a depth, a batch, an epoch, a line or a step of a loop.
    at_end : bool
        Whether the ends of spans are selected instead of the starts.
    backward : bool
        Whether gradients that pass a layer are selected instead of its calls.
    time : {"", "run", "build"}
        "run" for only the events that compute arrays, "build" for only those that make symbolic
        tensors, "" for both.
    address : BatchAddress
        The address of a batch, an epoch or a `fit`.
    """

    text: str
    what: str
    pattern: str = "*"
    name: str = "*"
    number: int = 0
    at_end: bool = False
    backward: bool = False
    time: str = ""
    address: BatchAddress = NO_ADDRESS

    def matches(self, event: Event, events: History = ()) -> bool:
        """Return whether the selector selects an event.

        `events` are the events of the tape. They are read to find the start of a span, or the
        `fit` and epoch of a batch.
        """
        if self.time and is_of_run(event) != (self.time == "run"):
            return False
        if self.what == "all":
            return event.ph != BEGIN if self.at_end else True
        if event.ph == (BEGIN if self.at_end else END):
            return False
        return _TESTS[self.what](self, event, events)

    def at_the_end(self) -> Selector:
        """Return a copy of this selector that selects the ends of spans."""
        return replace(self, at_end=True)


def phase_meant(word: str) -> str | None:
    """Return the phase, act or function of a model that a word denotes, or None.

    Names of functions in the source of Keras are understood as well.

    Examples
    --------
    >>> phase_meant("_make_train_function"), phase_meant("build_map_of_graph"), phase_meant("x")
    ('make_train_function', 'build_map', None)
    """
    word = word.removeprefix("_")  # as Keras calls _make_train_function
    word = OF_THE_SOURCE.get(word, word)
    return word if word in (*PHASES, *ACTS, *FUNCTIONS) else None


def op_name(event: Event, events: History = ()) -> str:
    """Return the name of the op that an event makes or computes.

    The name is the delta "op" of the event, or of the event that begins its span. If neither has
    this delta, the name is the last part of the tensor's name.
    """
    named = value_of_span(event, events, "op") if events else value_of_event(event, "op")
    if isinstance(named, str):
        return named
    return re.sub(r"_\d+$", "", event.name.rpartition("/")[2])


def number_of(event: Event) -> int | None:
    """Return the number at the end of an event's name, 17 for "batch 17"; None if there is none."""
    digits = re.search(r"[0-9]{1,18}$", event.name)
    return int(digits.group()) if digits else None


_SYMBOLIC = """
build compile build_map depth_sort check_graph run_internal_graph metrics gradients get_updates
layer.init layer.build layer.call node.create map.visit loss.term reg.term metric.term grad.node
opt.param op.create grad.op weight.create map.mark map.skip map.depth depth.put check.depth tmap.get
tmap.set grad.accum grad.none slot.create update.pair update.dup
"""
SYMBOLIC_KINDS = frozenset(_SYMBOLIC.split())


def is_of_run(event: Event) -> bool:
    """Return whether an event belongs to a computation with arrays, not with symbolic tensors."""
    is_made = event.kind == "function" and event.name.startswith("make_")
    return (
        event.kind not in SYMBOLIC_KINDS and event.act not in ("build", "compile") and not is_made
    )


def network_depth_of(event: Event) -> int | None:
    """Return the network depth that an event has, or None.

    Events of kind "depth" and events with a delta "depth" have a network depth.
    """
    if event.kind == "depth":
        return number_of(event)
    depth = value_of_event(event, "depth")
    return depth if isinstance(depth, int) else None


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)  # a name may contain brackets


def _is_of_layer(selector: Selector, event: Event, events: History) -> bool:
    if event.kind not in (BACKWARD_KINDS if selector.backward else FORWARD_KINDS):
        return False
    if event.kind == "node" and (event.phase == "backward") != selector.backward:
        return False
    whole, layer = event.name, event.name.partition("@")[0]
    return _fits(whole, selector.pattern) or _fits(layer, selector.pattern)


def _is_of_op(selector: Selector, event: Event, events: History) -> bool:
    return event.kind in OP_KINDS and _fits(op_name(event, events), selector.pattern)


def _is_of_tensor(selector: Selector, event: Event, events: History) -> bool:
    if event.kind not in OP_KINDS:
        return False
    if selector.pattern in LOSS_NAMES and any(d.name == "total_loss" for d in event.deltas):
        return True
    return _fits(event.name, selector.pattern)


def _is_of_weight(selector: Selector, event: Event, events: History) -> bool:
    return event.kind in WEIGHT_KINDS and _fits(event.name, selector.pattern)


def _is_phase(selector: Selector, event: Event, events: History) -> bool:
    return event.grain in ("act", "phase") and _fits(event.kind, selector.pattern)


def _is_kind(selector: Selector, event: Event, events: History) -> bool:
    return _fits(event.kind, selector.pattern) and _fits(event.name, selector.name)


def _is_depth(selector: Selector, event: Event, events: History) -> bool:
    return event.kind == "depth" and number_of(event) == selector.number


def _is_at(selector: Selector, event: Event, events: History) -> bool:
    address, what = selector.address, selector.what
    if what == "batch" and is_training_call(event) and events:
        begun = event if event.ph == BEGIN else begin_of(event, events)
        model = "" if begun is None else name_of_model(begun)
        is_of_fit = address.fit is not None or address.epoch is not None
        if begun is None or is_of_fit or address.model not in ("", model):
            return False
        return runs_of(events, begun.t).number(model, begun.t) == address.batch
    if event.kind != what or (what != "fit" and number_of(event) != selector.number):
        return False
    epoch = address.epoch if what == "batch" else None
    if what != "fit" and (address.fit, epoch, address.model) == (None, None, ""):
        return True
    around, depth = {what: event}, event.depth
    for earlier in before(events, event.t, inside=depth) if events and depth else ():
        if earlier.ph == BEGIN and earlier.depth < depth:
            depth = earlier.depth
            around.setdefault(earlier.kind, earlier)
            if earlier.kind == "fit":
                break
    return _is_in(address, around, events)


def _is_in(address: BatchAddress, around: dict[str, Event], events: History) -> bool:
    """Return whether an address has the `fit` and the epoch of the spans `around` an event."""
    fit, epoch = around.get("fit"), around.get("epoch")
    if fit is None or address.model not in ("", model_of_fit(fit)):
        return False
    if address.epoch is not None and (epoch is None or number_of(epoch) != address.epoch):
        return False
    begun = fit if fit.ph == BEGIN else begin_of(fit, events)
    if address.fit is None or begun is None:
        return address.fit is None
    return runs_of(events, begun.t + 1).fits[address.fit - 1 : address.fit] == [begun.t]


def _is_loop(selector: Selector, event: Event, events: History) -> bool:
    is_backward = event.phase == "backward"
    if event.kind != "op" or "scan" not in op_name(event, events):
        return False
    around = event.name.removeprefix("gradients/").split("/")[:-1]  # both names in a wrapper
    is_meant = any(_fits(name, selector.pattern) for name in around)
    return is_backward == selector.backward and is_meant


def _is_line(selector: Selector, event: Event, events: History) -> bool:
    where, number = event.where, selector.number
    if where.line == number and is_file(where.file, selector.pattern):
        return True
    if where.made is not None and any(
        line == number and is_file(file, selector.pattern) for file, line, _ in where.made.made_by
    ):
        return True
    is_made_there = where.user_line == number and is_file(where.user_file, selector.pattern)
    is_of_a_layer = event.grain not in ("op", "detail") and event.kind != "build"
    return is_made_there and is_of_a_layer


def is_file(path: str, pattern: str) -> bool:
    """Return whether a path ends with `pattern`, such as "example.py" or "examples/example.py"."""
    return path == pattern or path.replace("\\", "/").endswith("/" + pattern.replace("\\", "/"))


_TESTS: dict[str, Callable[[Selector, Event, History], bool]] = {
    "layer": _is_of_layer,
    "op": _is_of_op,
    "tensor": _is_of_tensor,
    "weight": _is_of_weight,
    "phase": _is_phase,
    "event": _is_kind,
    "line": _is_line,
    "step": _is_loop,
    "depth": _is_depth,
    **dict.fromkeys(("batch", "epoch", "fit"), _is_at),
}
PREFIXES = ("op", "tensor", "weight", "phase", "event", "layer")


def parse_selector(text: str, known: KnownNames = NOTHING_KNOWN, where: str = "break") -> Selector:
    """Parse the text of a selector.

    Parameters
    ----------
    text : str
        A selector as in the table of this module, without a condition.
    known : KnownNames
        The existing names. A selector with any other name is refused, except a glob. If names of a
        kind may still be added, such as layers of a model that is being built, pass no names of
        this kind.
    where : str
        The name of the command in error messages.

    Raises
    ------
    ArgumentError
        The text is not a selector, or a name is unknown.

    Examples
    --------
    >>> parse_selector("tensor:dense_2/out*:ret").at_end
    True
    >>> parse_selector("phase:comit")
    Traceback (most recent call last):
        ...
    kerascope.errors.ArgumentError: break: unknown phase 'comit'. Did you mean 'commit'? ...
    """
    whole = " ".join(text.split())
    rest, suffixes = _without_suffixes(whole)
    timed = re.fullmatch(rf"({'|'.join(TIMES)})(?: ?: ?| )(\S.*)", rest)
    selector = _parse(
        timed[2] if timed else rest, whole, where, (*known.layers, *known.layers_so_far)
    )
    is_of_loss = selector.what == "tensor" and selector.pattern in LOSS_NAMES
    if is_of_loss and selector.pattern not in known.tensors:
        suffixes.add("ret")
    selector = replace(selector, time=timed[1] if timed else "")
    if {"bwd", "fwd"} & suffixes and selector.what not in ("layer", "step"):
        raise ArgumentError(
            f"{where}: {whole!r} has :bwd or :fwd, which only layers have: dense_2:bwd."
        )
    _check_name(selector, known, where)
    at_end = selector.at_end or "ret" in suffixes
    return replace(selector, at_end=at_end, backward="bwd" in suffixes)


def _without_suffixes(text: str) -> tuple[str, set[str]]:
    suffixes: set[str] = set()
    while True:
        rest, colon, suffix = text.rpartition(":")
        if not colon or suffix not in SUFFIXES or not rest or rest in PREFIXES:
            return text, suffixes
        text = rest.strip()
        suffixes.add(suffix)


def _parse(text: str, whole: str, where: str, layers: Collection[str]) -> Selector:
    if text == "*":
        return Selector(whole, "all")
    if counted := re.fullmatch(r"depth (\S+)", text):
        return Selector(whole, "depth", number=_number(counted[1], "depth", where))
    address = parse_address(text, where)
    if address is not None:
        what, number = next(
            (word, number)
            for word, number in zip(("batch", "epoch", "fit"), address[2::-1], strict=True)
            if number is not None
        )
        return Selector(whole, what, number=number, address=address)
    stepped = re.fullmatch(r"(\S+) step (\S+)", text)
    if stepped:
        number = _number(stepped[2], "step", where)
        return Selector(whole, "step", stepped[1], number=number, at_end=True)
    prefix, colon, name = (piece.strip() for piece in text.partition(":"))
    if colon and prefix == "event" and name:
        kind, _, own = name.partition(" ")
        return Selector(whole, prefix, kind, own or "*")
    if colon and prefix in PREFIXES and name:
        return Selector(whole, prefix, name)
    line = re.fullmatch(r"(.*\S) ?: ?([0-9]{1,9})", text)
    if line:
        return Selector(whole, "line", line[1], number=int(line[2]))
    lacks_number = text.isdigit() or (text in COUNTED and text != "fit")  # "fit" is a phase, too
    if re.fullmatch(r"[^\s:,=()'\"]+", text) and not lacks_number:
        meant = None if text in layers else phase_meant(text)
        if meant is None:
            return Selector(whole, "layer", text)
        before, _, behind = whole.rpartition(text)
        if meant in FUNCTIONS:
            name = f"event:function {meant}"
            return Selector(f"{before}{name}{behind}", "event", "function", meant)
        return Selector(f"{before}phase:{meant}{behind}", "phase", meant)
    raise ArgumentError(f"{where}: {_what_is_wrong(text, prefix if colon else '', name)}")


def _number(text: str, word: str, where: str) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise ArgumentError(f"{where}: expected a number from 0 after {word!r}, got {text!r}.")
    return int(text)


def _what_is_wrong(text: str, prefix: str, name: str) -> str:
    if not text:
        return f"a place to stop at is missing. Use {EXAMPLES}."
    if text in COUNTED:
        return f"{text!r} lacks its number: {text} 2."
    if text.isdigit():
        return f"the number {text} needs a file for a line: train.py:{text}."
    if prefix in PREFIXES and not name:
        return f"a name is missing after {prefix + ':'!r}. Use {EXAMPLES}."
    near = ""
    if prefix:
        near = did_you_mean(prefix, (*PREFIXES, *TIMES)) or did_you_mean(name, SUFFIXES)
    return f"cannot read {text!r}. {near}Use {EXAMPLES}."


def may_be_known(selector: Selector, known: KnownNames) -> bool:
    """Return whether a selector's name is in `known`, is a glob, or cannot be checked.

    A name cannot be checked if `known` has no names of its kind.
    """
    there, name = names_for(selector, known), selector.pattern
    if not there or any(sign in name for sign in "*?["):
        return True
    if selector.what == "tensor" and name in LOSS_NAMES:
        return True
    return name in there or (
        selector.what in ("layer", "step") and name in {other.partition("@")[0] for other in there}
    )


def _check_name(selector: Selector, known: KnownNames, where: str) -> None:
    if may_be_known(selector, known):
        return
    there, name = names_for(selector, known), selector.pattern
    listed = ", ".join(sorted(there)[:12]) + (", ..." if len(there) > 12 else ".")
    near = guess(selector, known)
    raise ArgumentError(f"{where}: unknown {selector.what} {name!r}. {near}Use one of: {listed}")


def names_for(selector: Selector, known: KnownNames) -> Collection[str]:
    """Return the known names of the selector's kind; an empty collection if there are none."""
    names: dict[str, Collection[str]] = {
        "layer": known.layers,
        "step": known.layers,
        "op": known.ops,
        "tensor": known.tensors,
        "weight": known.weights,
        "phase": (*PHASES, *ACTS),
        "event": (*GRAIN_OF, *known.kinds),
    }
    return names.get(selector.what, ())


def guess(selector: Selector, known: KnownNames) -> str:
    """Return a question such as "Did you mean 'dense_2'? " for a misspelt name in a selector.

    If no known name is similar, return "".

    Examples
    --------
    >>> known = KnownNames(layers=["dense_1"], tensors=["dense_1/relu"])
    >>> guess(parse_selector("DENSE_1"), known), guess(parse_selector("dense_1/relu"), known)
    ("Did you mean 'dense_1'? ", "Did you mean 'tensor:dense_1/relu'? ")
    """
    name = selector.pattern
    if selector.what == "layer":
        kinds = {"tensor": known.tensors, "weight": known.weights}
        for kind, others in kinds.items():
            if name in others:
                return f"Did you mean '{kind}:{name}'? "
    there = sorted(names_for(selector, known))
    if name in there:  # the name exists, but no event has had it
        return ""
    same = [other for other in there if other.lower() == name.lower()]
    return f"Did you mean {same[0]!r}? " if same else did_you_mean(name, there)
