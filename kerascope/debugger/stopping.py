"""Commands that define where to stop: break, condition, ignore, commands, catch, watch."""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields
from functools import lru_cache

from kerascope.debugger.calls import calls_of
from kerascope.debugger.commands import command
from kerascope.debugger.own_lines import (
    CallbackBreakpoints,
    callback_method_at,
    check_line,
    lines_with_ops,
    nearest,
    words_of_lines,
)
from kerascope.debugger.places import file_meant, functions_in, path_of, shown_file
from kerascope.debugger.rendering import short_text
from kerascope.debugger.session import Session
from kerascope.debugger.shell import Shell, whole_number
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.breakpoints import (
    Breakpoint,
    Breakpoints,
    Unknown,
    Watch,
    Watches,
)
from kerascope.trace.conditions import DEFAULTS
from kerascope.trace.events import GRAIN_OF, Event
from kerascope.trace.expressions import OF_THE_EVENT, parse_expression
from kerascope.trace.history import History, before
from kerascope.trace.records import counted
from kerascope.trace.selectors import (
    ACTS,
    COUNTED,
    FORWARD_KINDS,
    LOSS_NAMES,
    OP_KINDS,
    PHASES,
    SUFFIXES,
    TIMES,
    WEIGHT_KINDS,
    KnownNames,
    Selector,
    guess,
    is_of_run,
    may_be_known,
    op_name,
    parse_selector,
)
from kerascope.trace.stepper import Stop

# --- the names that exist in a session ------------------------------------------------------------


def known_names(session: Session) -> KnownNames:
    """Return the names of layers, ops, tensors and weights against which selectors are checked.

    Before the first batch, the script may still build models with new names. So until then, only
    the names of the existing layers are returned, in the field `layers_so_far`.
    """
    is_all = session.is_over or any(event.kind == "batch" for event in _events(session))
    so_far = names_so_far(session)
    return so_far if is_all else KnownNames(layers_so_far=so_far.layers)


def _events(session: Session) -> list[Event]:
    return list(session.recorder.tape if session.recorder else session.tape)


def names_so_far(session: Session) -> KnownNames:
    """Return the names of the layers, ops, tensors and weights that exist up to now."""
    layers: dict[str, None] = {}
    ops: dict[str, None] = {}
    tensors: dict[str, None] = {}
    weights: dict[str, None] = {}
    for event in _events(session):
        if event.kind in OP_KINDS:
            tensors[event.name] = None
            ops[op_name(event)] = None
        elif event.kind in WEIGHT_KINDS:
            weights[event.name] = None
        elif event.kind in FORWARD_KINDS or event.kind == "layer.init":
            layers[event.name] = None
    if session.model is not None:
        layers.update(dict.fromkeys(calls_of(session.model)))
    if session.recorder is not None:
        for plan in session.recorder.memory.plans.values():
            tensors.update((planned.name, None) for planned in plan.steps)
            ops.update((planned.step.apply.op.name, None) for planned in plan.steps)
    return KnownNames(tuple(layers), tuple(ops), tuple(tensors), tuple(weights))


# --- a line of the script that makes layers -------------------------------------------------------
# A line that builds a layer has many events: the layer is made, called, built, gets a node. Between
# the events of the line `Sequential([` are those of the lines below it, because each layer is
# called when the list is complete::
#
#     4  model = Sequential([       input, call of dense_1, call of dense_2
#     5      Dense(64),             dense_1 is made
#     6      Dense(1),              dense_2 is made
#     7  ])
#
# pdb stops at line 4 once, and so does this debugger.


NEW = "layer.init"  # a new layer: its line is being executed
MAKING = (NEW, "layer.call", "layer.build", "node.create")
INSIDE = (*MAKING, "op.create", "weight.create")


@dataclass(frozen=True)
class OncePerLine(Selector):
    """A line selector that matches only the first event of each execution of the line."""

    def matches(self, event: Event, events: History = ()) -> bool:
        """Return whether an event is the first of an execution of the selector's line."""
        return super().matches(event, events) and not self._continues(event, events)

    def _continues(self, event: Event, events: History) -> bool:
        """Return whether an execution of the selector's line began before an event and contains it.

        An event of a new layer begins a new execution. So does an event that repeats an earlier one
        of the line, because then a loop calls the same layer again.
        """
        where = event.where
        if event.kind in OP_KINDS:
            return self._op_continues(event, events)
        if event.kind not in MAKING or event.kind == NEW or where.user_line != self.number:
            return False
        statement = lines_of_statement(where.user_file, self.number)
        earlier = [
            (other.kind, other.name)
            for other in _run_of(event, events, statement)
            if super(OncePerLine, self).matches(other, events)
        ]
        return bool(earlier) and (event.kind, event.name) not in earlier

    def _op_continues(self, event: Event, events: History) -> bool:
        """Return whether the op before an event in its layer call is from the selector's line."""
        for other in before(events, event.t) if events else ():
            if other.kind in OP_KINDS and other.ph == event.ph:
                return super().matches(other, events)
            if other.grain not in ("op", "detail"):
                return False
        return False


def _run_of(event: Event, events: History, statement: range) -> Iterator[Event]:
    """Yield the events before `event` that come from the same statement, the latest first.

    `statement` is the range of the statement's lines. An event of another statement or file ends
    the iteration.
    """
    for other in before(events, event.t) if events else ():
        where = other.where
        if other.kind not in INSIDE or where.user_file != event.where.user_file:
            return
        if where.user_line not in statement:
            return
        yield other


def stop_once_a_line(breakpoint: Breakpoint) -> None:
    """Make a breakpoint at a line stop once for each execution of the line.

    If the breakpoint has a condition, the condition is checked at every event of the line.
    """
    selector = breakpoint.selector
    if selector.what == "line":
        kind = OncePerLine if breakpoint.condition is None else Selector
        breakpoint.selector = kind(*(getattr(selector, own.name) for own in fields(selector)))


def lines_of_statement(file: str, line: int) -> range:
    """Return the range of lines of the innermost statement at a line; see `_statement`."""
    return _statement("".join(linecache.getlines(path_of(file))), line)


@lru_cache(maxsize=64)
def _statement(source: str, line: int) -> range:
    r"""Return the range of lines of the innermost statement at a line of a source text.

    Of a loop, a function and other statements with a body, only the head is in the range.

    Examples
    --------
    >>> _statement("if x:\n    y = [\n        1,\n    ]\n", 3)
    range(2, 5)
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return range(line, line + 1)
    found = range(line, line + 1)
    for node in ast.walk(tree):  # from the outermost to the innermost
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0):
            body = getattr(node, "body", None)
            last = body[0].lineno if body else (node.end_lineno or node.lineno) + 1
            found = range(node.lineno, max(last, node.lineno + 1))
    return found if line in found else range(line, line + 1)


# --- the commands ---------------------------------------------------------------------------------


HEADER = "Num Type         Disp Enb   Where"
KINDS_OF_NAMES = ("layer", "op", "tensor", "weight", "phase", "line", "depth", "batch", "epoch")


@dataclass
class Reported:
    """Records which notes have been printed, so that each note is printed only once.

    Attributes
    ----------
    never_matched : set of int
        The breakpoints and watches that were reported as never matched.
    of_symbols : bool
        Whether the note about a stop at symbolic tensors, where nothing is computed, was printed.
    """

    never_matched: set[int] = field(default_factory=set)
    of_symbols: bool = False


# --- breakpoints ----------------------------------------------------------------------------------


def _selectors(debugger: Shell, text: str, line: str, begin: int, end: int) -> list[str]:
    """Return the completions of a typed selector, such as the phases after `phase:`."""
    before_it = line[:begin].split(None, 1)[-1] if " " in line[:begin] else ""
    known = names_so_far(debugger.session)
    prefix = before_it.replace(" ", "").rpartition(",")[2].removesuffix(":")
    prefix = prefix.rpartition(":")[2] if prefix.startswith(TIMES) else prefix
    layers = [*known.layers, *dict.fromkeys(x.partition("@")[0] for x in known.layers)]
    words: dict[str, Iterable[str]] = {
        "phase": (*PHASES, *ACTS),
        "event": GRAIN_OF,
        "op": known.ops,
        "tensor": (*known.tensors, *LOSS_NAMES),
        "weight": known.weights,
        "layer": layers,
    }
    if before_it.rstrip().endswith(":"):
        own = SUFFIXES if prefix in layers else ("ret",)
        is_time = prefix in ("", *TIMES)
        found = [*layers, *words] if is_time else words.get(prefix, own)
    elif "," in before_it:
        return debugger.names_like(text)
    else:
        found = [*layers, *words, *COUNTED, *TIMES]
    return sorted(word for word in dict.fromkeys(found) if word.startswith(text))


@command("break", "b", group="stop at", completes=_selectors)
def break_(debugger: Shell, words: str) -> None:
    """Stop at the events that a selector matches; without a selector, list all breakpoints.

    Usage: b[reak] [SEL[, condition]]
    Example: b dense_2:ret, norm(out) > 10

    SEL is a layer (dense_2, dense_2:bwd), depth 2, op:dot, tensor:dense_2/out*, weight:*_W,
    phase:commit, event:map.skip, batch 17, train.py:12 or *. Add :ret to stop at the end; put
    run: before it to stop only where numbers are computed, build: only where symbols are made.
    A condition alone, `b loss > 1000`, is checked whenever its names get values. While you are
    at a line of the script, `b 12` means line 12 there. A breakpoint at a line stops once per
    execution; with a condition, wherever that holds. Names of the script have their present
    values in a condition, in the past too.
    """
    _break(debugger, words, temporary=False)


@command("tbreak", group="stop at", completes=_selectors)
def tbreak(debugger: Shell, words: str) -> None:
    """Stop once where a selector matches; the breakpoint is then deleted.

    Usage: tbreak SEL[, condition]
    Example: tbreak phase:commit
    """
    _break(debugger, words, temporary=True)


def _break(debugger: Shell, words: str, temporary: bool) -> None:
    if not words.strip():
        say_breaks(debugger)
        return
    breakpoints = debugger.session.stepper.breakpoints
    known = known_names(debugger.session)
    debugger.names()  # makes the user's own names known to conditions
    words = _line_or_layer(debugger, words, known, "tbreak" if temporary else "break")
    made = breakpoints.add(words, known, temporary=temporary)
    stop_once_a_line(made)
    debugger.say(f"Breakpoint {made.number} at {made.selector.text}")
    if made.selector.what == "line":
        _say_of_line(debugger, made)
    so_far = names_so_far(debugger.session)
    if not may_be_known(made.selector, so_far):
        near = guess(made.selector, so_far)
        debugger.say_text(f"   no {made.selector.what} of this name so far. {near}".rstrip())


def _say_of_line(debugger: Shell, made: Breakpoint) -> None:
    """Print a note if a breakpoint's line is in a callback, or has made no layer or op so far."""
    session, selector = debugger.session, made.selector
    if session.when_fit_begins is None and session.recorder is not None:
        session.when_fit_begins = CallbackBreakpoints(debugger).wrap_methods
    file = file_meant(selector.pattern, session.script)
    method = callback_method_at(file, selector.number) if file else ""
    if method:
        debugger.say(f"   a line of {method}: fit runs it under Python's own debugger")
        return
    lines = lines_with_ops(session, selector.pattern)
    if lines and selector.number not in lines:
        near = words_of_lines(nearest(lines, selector.number), "that have made some")
        debugger.say_text(f"   no layer and no op was made by this line so far. {near}".rstrip())


def _line_or_layer(debugger: Shell, words: str, known: KnownNames, command: str) -> str:
    """Return the selector for the words of `break`.

    While the program is at a line of the script, a number alone means a line of this file, as in
    pdb.

    Raises
    ------
    ArgumentError
        The words name a function of the script, as in pdb, or a tensor or weight of a layer.
    """
    chosen, comma, condition = words.partition(",")
    chosen, place = chosen.strip(), debugger.place_of_program() or debugger.place_of_building()
    is_bare = chosen.isdigit() and place is not None
    named = re.fullmatch(r"(.*\S) ?: ?([0-9]{1,9})", chosen.removesuffix(":ret"))
    script, file, number = debugger.session.script, "", 0
    if is_bare and place is not None:
        file, number = place.file, int(chosen)
    elif named:
        file, number = file_meant(named[1], script), int(named[2])
    if file:
        check_line(file, number, command)
    if is_bare:
        return f"{shown_file(file)}:{chosen}{comma}{condition}"
    if chosen in known.layers:
        return words
    line = functions_in(script).get(chosen)
    if line is not None:
        file = shown_file(str(script))
        raise ArgumentError(
            f"{command}: {chosen!r} is a function of the script, but this debugger stops at events "
            f"of the engine. For a line in it that makes a layer: `b {file}:{line + 1}`. For a "
            f"layer with that name: `b layer:{chosen}`."
        )
    if "/" in chosen and re.fullmatch(r"[\w/@]+", chosen):
        raise ArgumentError(
            f"{command}: {chosen!r} is the name of a tensor or a weight. Did you mean "
            f"`b tensor:{chosen}` or `b weight:{chosen}`? For a layer with that name: "
            f"`b layer:{chosen}`."
        )
    return words


def say_never_matched(debugger: Shell) -> None:
    """Print a note for each breakpoint and watch that never matched, once in a session."""
    stepper, tape = debugger.session.stepper, debugger.session.tape
    known, said = known_names(debugger.session), debugger.state(Reported).never_matched
    for breakpoint in stepper.breakpoints:
        if breakpoint.hits or breakpoint.number in said:
            continue
        said.add(breakpoint.number)
        if breakpoint.lacking:
            why = f"its condition never had a value: {breakpoint.lacking}"
            debugger.say_text(f"{label_of(breakpoint)}: {why}")
        elif not any(breakpoint.matches(event, tape) for event in tape[:]):
            kind = breakpoint.selector.what
            kind = kind if kind in KINDS_OF_NAMES else "event"
            near = guess(breakpoint.selector, known)
            if kind == "line":
                lines = lines_with_ops(debugger.session, breakpoint.selector.pattern)
                others = nearest(lines, breakpoint.selector.number)
                near = words_of_lines(others, "that have made layers or ops")
            debugger.say_text(f"{label_of(breakpoint)}: there was no such {kind}. {near}".rstrip())
    for watch in stepper.watches:
        if watch.hits or watch.number in said:
            continue
        said.add(watch.number)
        if watch.expression is not None:
            _say_never_a_value(debugger, watch)
            continue
        selector = parse_selector(watch.text)
        if not any(selector.matches(event, tape) for event in tape[:]):
            near = guess(selector, known)
            debugger.say_text(f"{label_of(watch)}: there was no such weight. {near}".rstrip())


def _say_never_a_value(debugger: Shell, watch: Watch) -> None:
    """Report a watch whose names never had a value."""
    tape, names = debugger.session.tape, watch.expression.names if watch.expression else ()
    if not isinstance(watch.first, Unknown) or any(map(watch.concerns, tape[:])):
        return
    there = sorted({delta.name for event in tape[:] for delta in event.deltas})
    near = next(filter(None, (did_you_mean(name, there) for name in sorted(names))), "")
    debugger.say_text(f"{label_of(watch)}: it never had a value. {near}".rstrip())


def say_where_symbols_are(debugger: Shell, stop: Stop) -> None:
    """Print once that a breakpoint stopped at symbolic tensors, and how to stop at arrays."""
    hit, event = stop.breakpoint, stop.event
    said = debugger.state(Reported)
    if hit is None or event is None or said.of_symbols:
        return
    selector = hit.selector
    if selector.what in ("layer", "op", "tensor") and not selector.time and not is_of_run(event):
        said.of_symbols = True
        debugger.say(f"   symbols only; `b run:{selector.text}` stops where numbers are computed")


def say_breaks(debugger: Shell) -> None:
    """Print all breakpoints, watches and caught conditions, if there are any."""
    stepper = debugger.session.stepper
    lines = list(table_of_breaks([*stepper.breakpoints, *stepper.watches]))
    lines += [f"catch {condition}" for condition in stepper.catches]
    for line in lines:
        debugger.say(line)


@command("condition", group="stop at")
def condition(debugger: Shell, words: str) -> None:
    """Make a breakpoint stop only if EXPR is true; without EXPR, always.

    Usage: condition NUMBER [EXPR]
    Example: condition 1 has_nan(out)
    """
    number, _, text = words.partition(" ")
    chosen = _breakpoint(debugger, number, "condition")
    chosen.condition = parse_expression(text, "condition") if text.strip() else None
    stop_once_a_line(chosen)
    if text.strip():
        debugger.say(f"New condition set for breakpoint {chosen.number}.")
    else:
        debugger.say(f"Breakpoint {chosen.number} is now unconditional.")


@command("ignore", group="stop at")
def ignore(debugger: Shell, words: str) -> None:
    """Skip the next COUNT hits of a breakpoint; without COUNT, skip none.

    Usage: ignore NUMBER [COUNT]
    Example: ignore 1 9
    """
    number, _, text = words.partition(" ")
    count = whole_number(text, "ignore", "a number of hits") if text.strip() else 0
    chosen = _breakpoint(debugger, number, "ignore")
    chosen.ignore = count
    if count:
        crossings = counted(count, "crossing")
        debugger.say(f"Will ignore next {crossings} of breakpoint {chosen.number}.")
    else:
        debugger.say(f"Will stop next time breakpoint {chosen.number} is reached.")


@command("enable", group="stop at")
def enable(debugger: Shell, words: str) -> None:
    """Enable breakpoints and watches; without numbers, all.

    Usage: enable [NUMBER ...]
    Example: enable 1 2
    """
    _switch(debugger, words, "enable", "Enabled")


@command("disable", group="stop at")
def disable(debugger: Shell, words: str) -> None:
    """Disable breakpoints and watches; without numbers, all.

    Usage: disable [NUMBER ...]
    Example: disable 1
    """
    _switch(debugger, words, "disable", "Disabled")


def _switch(debugger: Shell, words: str, command: str, said: str) -> None:
    for things, number in _chosen(debugger, words, command):
        (one,) = things.set_enabled(command == "enable", number)
        debugger.say(f"{said} {label_of(one)}")


@command("clear", "cl", group="stop at")
def clear(debugger: Shell, words: str) -> None:
    """Delete breakpoints, watches or caught conditions.

    Usage: cl[ear] [NUMBER ... | SEL | CONDITION]
    Example: clear 1 2

    Without words, all of them, after a question. In a pipe, a line that is not an answer means yes.
    """
    stepper = debugger.session.stepper
    names = [name for name in words.replace(",", " ").split() if name]
    caught = {condition.name for condition in stepper.catches}
    if names and caught.issuperset(names):
        for condition in stepper.catches.remove(*names):
            debugger.say(f"Deleted catch {condition}")
        return
    if not names and not debugger.is_agreed("Clear all breaks? "):
        return
    breakpoints = stepper.breakpoints
    same = [(breakpoints, b.number) for b in breakpoints if b.selector.text == words.strip()]
    for things, number in same or _chosen(debugger, words, "clear"):
        (gone,) = things.clear(number)
        debugger.say(f"Deleted {label_of(gone)}")
    if not names and len(stepper.catches):
        for condition in stepper.catches.remove():
            debugger.say(f"Deleted catch {condition}")


def _chosen(debugger: Shell, words: str, command: str) -> list[tuple[Breakpoints | Watches, int]]:
    """Return the breakpoints, then the watches, with the typed numbers, as (collection, number).

    Without words, return all breakpoints and watches.

    Raises
    ------
    ArgumentError
        A word is not the number of a breakpoint or watch.
    """
    stepper = debugger.session.stepper
    known: dict[int, Breakpoints | Watches] = {}
    for things in (stepper.breakpoints, stepper.watches):
        known.update((one.number, things) for one in things)
    asked = words.replace(",", " ").split()
    numbers = [whole_number(word, command, "the number of a breakpoint") for word in asked]
    for number in numbers:
        if number not in known:
            there = ", ".join(map(str, sorted(known)))
            there = f"Use one of: {there}" if there else "None is set yet"
            raise ArgumentError(f"{command}: there is no breakpoint or watch {number}. {there}.")
    chosen = [(known[number], number) for number in numbers or known]
    return sorted(chosen, key=lambda pair: isinstance(pair[0], Watches))


def _breakpoint(debugger: Shell, word: str, command: str) -> Breakpoint:
    number = whole_number(word, command, "the number of a breakpoint")
    return debugger.session.stepper.breakpoints.get(number, command)


# --- commands that run at a breakpoint ------------------------------------------------------------


@command("commands", group="stop at")
def commands(debugger: Shell, words: str) -> None:
    """Set the commands that run at a breakpoint; without NUMBER, at the last one.

    Usage: commands [NUMBER]
    Example: commands 1

    Enter the commands, one per line; `end` or a command that moves ends the list. With `silent`
    first, the stop itself is not printed.
    """
    breakpoints = list(debugger.session.stepper.breakpoints)
    if not words.strip() and not breakpoints:
        raise ArgumentError("commands: needs a breakpoint. `b dense_1` makes one.")
    chosen = _breakpoint(debugger, words or str(breakpoints[-1].number), "commands")
    lines: list[str] = []
    while True:
        line = debugger.read_with("(com) ").strip()
        if line in ("end", "EOF"):
            break
        if line:
            lines.append(line)
        if debugger.commands.moves(line.split(" ")[0]):
            break
    chosen.commands = lines


# --- conditions and watches -----------------------------------------------------------------------


@command("catch", group="stop at", completes=tuple(DEFAULTS))
def catch(debugger: Shell, words: str) -> None:
    """Stop when a condition is met, such as nan. Without words, list the caught conditions.

    Usage: catch [CONDITION, ...]
    Example: catch nan, ratio>0.5

    nan, inf, exception, dead, vanishing<1e-3, exploding>1e3, stuck<1e-7, stuck>10, ratio>0.1.
    `clear nan` ends the catching of nan.
    """
    catches = debugger.session.stepper.catches
    if not words.strip():
        for condition in catches:
            debugger.say(f"catch {condition}")
        if not len(catches):
            debugger.say("nothing is caught. For example: `catch nan`")
        return
    for condition in catches.add(words):
        debugger.say(f"Catching {condition}")


@command("watch", group="stop at")
def watch(debugger: Shell, words: str) -> None:
    """Stop where a value changes; without words, list all watches.

    Usage: watch [EXPR[, condition] | weight:GLOB]
    Example: watch weight:dense_1*, relative > 0.1
    """
    stepper = debugger.session.stepper
    if not words.strip():
        for line in table_of_breaks(stepper.watches):
            debugger.say(line)
        return
    t = debugger.stop.t if debugger.stop is not None else -1
    debugger.names()  # makes the user's own names known to the stepper
    watch = stepper.watches.add(words, lambda expression: stepper.names_for(expression, t))
    value = "" if watch.expression is None else f" = {short_text(watch.first)}"
    debugger.say(f"Watch {watch.number}: {watch.text}{value}")
    asked = watch.expression.names if watch.expression is not None else frozenset()
    known = {*(stepper.tape.names_at(t) if t >= 0 else ()), *OF_THE_EVENT, "model"}
    if asked and asked.isdisjoint(known) and asked <= {*stepper.extra_names}:
        debugger.say(f"no event changes it: `display {watch.text}` shows it at each stop")


def label_of(thing: Breakpoint | Watch) -> str:
    """Return a label such as "breakpoint 1 at dense_2" or "watch 2 of loss"."""
    if isinstance(thing, Breakpoint):
        return f"breakpoint {thing.number} at {thing.selector.text}"
    return f"watch {thing.number} of {thing.text}"


def table_of_breaks(things: Iterable[Breakpoint | Watch]) -> Iterable[str]:
    """Yield the lines of a table of breakpoints and watches, in the form of pdb's table."""
    ordered = sorted(things, key=lambda one: one.number)
    if ordered:
        yield HEADER
    for one in ordered:
        if isinstance(one, Watch):
            kind, where, disposition = "watch", f"of {one.text}", "keep"
        else:
            kind, where = "breakpoint", f"at {one.selector.text}"
            disposition = "del" if one.temporary else "keep"
        enabled = "yes" if one.enabled else "no"
        yield f"{one.number:<4}{kind:<13}{disposition:<5}{enabled:<6}{where}"
        if one.condition:
            yield f"\tstop only if {one.condition.text}"
        if isinstance(one, Breakpoint) and one.ignore:
            yield f"\tignore next {one.ignore} hits"
        if one.hits:
            yield f"\t{kind} already hit {counted(one.hits, 'time')}"
        for line in one.commands if isinstance(one, Breakpoint) else ():
            yield f"\t\t{line}"
