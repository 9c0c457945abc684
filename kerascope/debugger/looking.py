"""Commands that show values, source lines and the enclosing spans."""

from __future__ import annotations

import linecache
import pprint
import re
import sys
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from rich.cells import cell_len

from kerascope.debugger.commands import command
from kerascope.debugger.evaluating import (
    LIVES_IN,
    deleted_by,
    probe,
    run_statement,
    value_of,
    value_with_numbers,
)
from kerascope.debugger.places import (
    frames_of_program,
    function_around,
    is_of_an_op,
    path_of,
    pdb_lines,
    places_of_failure,
    shown_file,
    shown_place,
    source_line,
    users_place,
    where_of,
    with_code,
)
from kerascope.debugger.rendering import call_label, text_of_value
from kerascope.debugger.shell import Shell, number_in
from kerascope.errors import ArgumentError
from kerascope.nested_values import replaced
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, Event, Where
from kerascope.trace.expressions import error_text
from kerascope.trace.history import begin_of
from kerascope.trace.snapshots import REFS, Describer, same
from kerascope.trace.statistics import Statistics, kind_of
from kerascope.trace.stepper import Reason

SAMPLES = "kerascope.debugger.samples"  # imported by the command `row`
WENT = {"ins": "went in", "out": "came out"}
FEW_NUMBERS = 12  # elements of an array up to which p prints all of them
MOST_NUMBERS = 100  # elements of an array that pp prints at most
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass
class Display:
    """An expression that is printed at each stop where its value has changed."""

    text: str
    last: Any = None
    is_new: bool = True


class Displays(dict[str, Display]):
    """The expressions of the command `display`, by the text of the expression."""


# --- print ----------------------------------------------------------------------------------------


@command("p", group="values")
def p(debugger: Shell, words: str) -> None:
    """Print the value of a Python expression; for an array, its statistics first.

    Usage: p EXPR
    Example: p tensor_map["dense_1"]
    """
    value = _value_of(debugger, words, "p")
    if value is None and words.strip() in ("ins", "out"):
        debugger.say(f"None: the tape has no array that {WENT[words.strip()]} here")
        return
    say_value(debugger, value)


def _value_of(debugger: Shell, words: str, command: str) -> Any:
    """Return the value of an expression, with its arrays.

    If the value still contains statistics in place of an array, print the reason.
    """
    value, why = value_with_numbers(
        debugger.session, words, debugger.names(), debugger.own_names, command
    )
    if why:
        debugger.say(f"only statistics of it are kept: {why}")
    return value


def say_value(debugger: Shell, value: Any) -> None:
    """Print a value as `p` does; in a terminal, a long container is split over several lines."""
    text = without_addresses(text_of_value(value), value)
    if (
        debugger.is_terminal
        and cell_len(text) > debugger.width
        and isinstance(value, list | tuple | dict)
    ):
        text = _on_several_lines(debugger, value)
    debugger.say(text)
    is_array = isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "fiub"
    if is_array and value.size <= FEW_NUMBERS:
        debugger.say(numbers_of(value, debugger.width))


@command("pp", group="values")
def pp(debugger: Shell, words: str) -> None:
    """Print a value on several lines; for an array, its elements too.

    Usage: pp EXPR
    Example: pp nodes_by_depth
    """
    value = _value_of(debugger, words, "pp")
    if isinstance(value, np.ndarray):
        debugger.say(text_of_value(value))
        debugger.say(numbers_of(value, debugger.width))
        return
    debugger.say(_on_several_lines(debugger, value))


def _on_several_lines(debugger: Shell, value: Any) -> str:
    texts = replaced(value, np.ndarray, lambda array: _Text(text_of_value(array)))
    text = pprint.pformat(texts, width=debugger.width, sort_dicts=False)
    return without_addresses(text, value)


@command("pv", group="values")
def pv(debugger: Shell, words: str) -> None:
    """Print the value of a symbolic tensor on the last batch.

    Usage: pv EXPR
    The weights are those of the stop. The computation is not recorded.
    Example: pv model.output
    """
    value = _value_of(debugger, words, "pv")
    t = debugger.stop.t if debugger.stop is not None else -1
    say_value(debugger, probe(debugger.session, value, t, debugger.say_text))


@command("row", group="values")
def row(debugger: Shell, words: str) -> None:
    """Print the inputs of one row of the batch, and which sample of the data it is.

    Usage: row [N]
    Without N: the row with a NaN or infinity at this event, otherwise that with the largest loss.
    Example: row 3
    """
    import_module(SAMPLES).say_row(debugger, words)


@command("whatis", group="values")
def whatis(debugger: Shell, words: str) -> None:
    """Show the type of a value.

    Usage: whatis EXPR
    Example: whatis tensor
    """
    value = value_of(words, debugger.names(), "whatis")
    if isinstance(value, np.ndarray | np.generic):
        debugger.say(f"array {kind_of(value)}")
    elif isinstance(value, Statistics):
        debugger.say(f"statistics of an array {value.kind}; its numbers were not kept")
    elif isinstance(value, REFS):
        debugger.say(f"{value!r}, as the tape describes it")
    elif isinstance(value, list | tuple | dict | set):
        debugger.say(f"{type(value).__name__} of {len(value)}")
    else:
        debugger.say(f"{type(value)}")


# --- display --------------------------------------------------------------------------------------


@command("display", group="values")
def display(debugger: Shell, words: str) -> None:
    """Print an expression at each stop where its value has changed.

    Usage: display [EXPR]
    Without EXPR: list the displayed expressions.
    Example: display list(tensor_map)
    """
    displays = debugger.state(Displays)
    if not words:
        for one in displays.values():
            debugger.say(f"display {one.text}: {_shown(one.last)}")
        if not displays:
            debugger.say("nothing is displayed. For example: `display list(tensor_map)`")
        return
    compile(words, "<stdin>", "eval")
    displays[words] = Display(words)
    _show_display(debugger, displays[words])


@command("undisplay", group="values")
def undisplay(debugger: Shell, words: str) -> None:
    """Stop displaying an expression; without EXPR, all displayed expressions.

    Usage: undisplay [EXPR]
    Example: undisplay list(tensor_map)
    """
    displays = debugger.state(Displays)
    if not words:
        displays.clear()
    elif displays.pop(words, None) is None:
        listed = "; ".join(displays) or "nothing"
        raise ArgumentError(f"undisplay: {words!r} is not displayed. Displayed: {listed}.")


def show_displays(debugger: Shell) -> None:
    """Print the displayed expressions whose value has changed since the last stop."""
    for one in debugger.state(Displays).values():
        _show_display(debugger, one)


def _show_display(debugger: Shell, one: Display) -> None:
    try:
        value = Describer().snapshot(value_of(one.text, debugger.names(), "display"))
    except NameError:
        value = "(no such name here)"
    except Exception as error:
        value = f"({error_text(error)})"
    if one.is_new:
        debugger.say(f"display {one.text}: {_shown(value)}")
    elif not same(value, one.last):
        line = f"display {one.text}: {_shown(value)}"
        old = f"  [old: {_shown(one.last)}]"
        debugger.say(line + old if len(line + old) <= debugger.width else line)
    one.last, one.is_new = value, False


@command("args", "a", group="values", takes_words=False)
def args(debugger: Shell, words: str) -> None:
    """Print the names recorded when the enclosing span began.

    Usage: a[rgs]
    Example: a
    """
    event = _begin_of_span(debugger)
    if event is None or not event.deltas:
        debugger.say("no names were recorded when this span began")
        return
    for delta in event.deltas:
        key = "" if delta.key is None else f"[{delta.key}]"
        debugger.say(f"{delta.name}{key} = {text_of_value(delta.value)}")


def _begin_of_span(debugger: Shell) -> Event | None:
    event = chosen_span(debugger)
    if event.ph == END:
        return begin_of(event, debugger.session.tape)
    spans = debugger.session.tape.spans_at(event.t)
    return event if event.ph == BEGIN else spans[-1] if spans else None


@command("retval", "rv", group="values", takes_words=False)
def retval(debugger: Shell, words: str) -> None:
    """Print the result of the span that ends at this event.

    Usage: retval
    Example: retval
    """
    names = debugger.names()
    event = debugger.session.stepper.event
    if event is None or not any(delta.name == "result" for delta in event.deltas):
        raise ArgumentError("retval: nothing ends here with a value. `r` goes to the end.")
    say_value(debugger, names["result"])


@command("statement", group="values")
def statement(debugger: Shell, words: str) -> None:
    """Run a Python statement with the names at the stop, and keep the names that it assigns.

    Usage: !statement
    It does not change the model's own names: use `set` for that. A name of yours hides the
    model's; `!del NAME` shows the model's again.
    Example: !total = sum(w.size for w in model.get_weights())
    """
    if not words:
        raise ArgumentError("!: expected a statement. For example: `!x = 3`.")
    made = run_statement(words, debugger.names(), partial(say_value, debugger), debugger.stdout)
    hidden = [name for name in made if _is_of_the_model(debugger, name)]
    debugger.own_names.update(made)
    for name in deleted_by(words):
        debugger.own_names.pop(name, None)
    for name in hidden:
        debugger.say(f"{name} is yours from here on; `!del {name}` shows the model's again")


def _is_of_the_model(debugger: Shell, name: str) -> bool:
    """Return whether assigning a name at the prompt hides a name of the Keras source.

    Return False if the user has assigned the name before.
    """
    if name in debugger.own_names:
        return False
    event = debugger.session.stepper.event
    on_tape = debugger.session.tape.names_at(event.t) if event is not None else {}
    return name in on_tape or any(name in names.split() for names in LIVES_IN.values())


class _Text(str):
    """A string whose `repr` has no quotes, to print a text in place of an array in a container."""

    def __repr__(self) -> str:
        return str(self)


def _shown(value: Any) -> str:
    if isinstance(value, str) and value.startswith("("):
        return value
    return without_addresses(text_of_value(value), value)


def numbers_of(array: np.ndarray, width: int) -> str:
    r"""Return the elements of an array as Python writes them; a large array is abridged.

    Examples
    --------
    >>> numbers_of(np.zeros((2, 2), "float32"), 80)
    'array([[0., 0.],\n       [0., 0.]], dtype=float32)'
    """
    text = np.array2string(
        array, max_line_width=width, separator=", ", prefix="array(", threshold=MOST_NUMBERS
    )
    is_plain = array.dtype in (np.dtype(float), np.dtype(int), np.dtype(bool))
    return f"array({text})" if is_plain else f"array({text}, dtype={array.dtype})"


def without_addresses(text: str, value: Any) -> str:
    """Return a value's text without memory addresses, which differ between processes.

    Examples
    --------
    >>> without_addresses("<function relu at 0x7f0012345678>", None)
    '<function relu>'
    """
    return text if isinstance(value, str) else _ADDRESS.sub("", text)


# --- the current place in the source --------------------------------------------------------------

AROUND = 5  # lines before and after the current one


@dataclass
class SelectedSpan:
    """The enclosing span that `up` and `down` select.

    `level` is how many steps outward it is from the innermost span.
    """

    level: int = 0


def spans_around(debugger: Shell) -> list[Event]:
    """Return the spans around the current event, outermost first, then the event itself.

    Between two events, as after `set_trace`, return only the spans. Before the first event, return
    an empty list.
    """
    event = debugger.session.stepper.event
    if event is None:
        return []
    spans = debugger.session.tape.spans_at(event.t)
    if debugger.session.frame_at(debugger.stop) is not None:
        return spans  # the event is over; its enclosing spans are not
    return spans if event.ph == BEGIN else [*spans, event]


def chosen_span(debugger: Shell) -> Event:
    """Return the span selected with `up` and `down`.

    Raises
    ------
    ArgumentError
        The stop is not at an event: the run has not started, or is over.
    """
    spans = spans_around(debugger)
    if not spans:
        raise ArgumentError("Not at an event. `s` goes to the next one, `rs` to the previous one.")
    return spans[len(spans) - 1 - debugger.state(SelectedSpan).level]


@command("where", "w", "bt", group="source", takes_words=False)
def where(debugger: Shell, words: str) -> None:
    """Show the enclosing spans, with the lines of the engine and of the user.

    Usage: w[here]
    Example: w
    """
    spans = spans_around(debugger)
    here = debugger.place_of_program()
    callers, called = _places_around(debugger)
    for caller in callers:
        _say_place(debugger, caller)
    if not spans and here is None and not callers:
        chosen_span(debugger)
    labels = [call_label(debugger.session, span) for span in spans]
    width = max(map(len, labels), default=0)
    for place, span in enumerate(spans):
        is_chosen = here is None and place == len(spans) - 1 - debugger.state(SelectedSpan).level
        debugger.say_line(_line_of_span(span, is_chosen, labels[place].ljust(width)))
    if here is None and spans:
        _say_makers(debugger, spans[-1].where)
    for caller in called:
        _say_place(debugger, caller)
    if here is not None:
        for line in pdb_lines(here, ""):
            debugger.say(line)


def _say_makers(debugger: Shell, where: Where) -> None:
    """Print the user's lines that made the op being computed, the outermost first."""
    made = where.made
    if made is None or not (made.made_by or made.called_from):
        return
    user = users_place(where)
    own = made.made_by or ((user.file, user.line, user.function),)
    lines = list(dict.fromkeys([*made.called_from[::-1], *own[::-1]]))
    if len(lines) == 1 and not made.made_by:
        return  # it is already printed on the line of the span
    title = f"made by (gradient of {made.gradient_of})" if made.gradient_of else "made by"
    debugger.say(f"  {title}:")
    for line in lines:
        _say_place(debugger, Where(*line))


def _say_place(debugger: Shell, place: Where) -> None:
    said = f"  {shown_file(place.file)}({place.line}){place.function}()"
    debugger.say_line(f"{said}  {source_line(place.file, place.line)}")


def _places_around(debugger: Shell) -> tuple[list[Where], list[Where]]:
    """Return the user's lines that led to the engine, and those that the engine then called.

    Both lists are empty, unless the stop is where the program is paused or where it has failed.
    """
    session, now = debugger.session, debugger.session.stepper.now
    if session.is_over:
        failed_at = session.time_of_failure() if session.has_failed else None
        is_here = debugger.stop is not None and debugger.stop.reason is Reason.END
        is_here = now >= failed_at if failed_at is not None else is_here
        return places_of_failure(session) if session.has_failed and is_here else ([], [])
    if now < len(session.tape) - 1:
        return [], []
    here = session.frame_at(debugger.stop)
    frames = frames_of_program(session, sys._getframe())
    return [where_of(frame) for frame in frames if frame is not here], []


@command("up", "u", group="source")
def up(debugger: Shell, words: str) -> None:
    """Select the span around the selected one.

    Usage: u[p] [n]
    Example: u
    """
    n = number_in(words, "up")
    chosen_span(debugger)
    chosen, count = debugger.state(SelectedSpan), len(spans_around(debugger))
    if chosen.level + 1 >= count:
        raise ArgumentError("up: this is the outermost span.")
    chosen.level = min(chosen.level + n, count - 1)
    _say_chosen(debugger)


@command("down", "d", group="source")
def down(debugger: Shell, words: str) -> None:
    """Select the span inside the selected one.

    Usage: d[own] [n]
    Example: d
    """
    n = number_in(words, "down")
    chosen_span(debugger)
    chosen = debugger.state(SelectedSpan)
    if chosen.level == 0:
        raise ArgumentError("down: this is the innermost span.")
    chosen.level = max(chosen.level - n, 0)
    _say_chosen(debugger)


def _say_chosen(debugger: Shell) -> None:
    """Print the selected span, and on the next line its source, as pdb does."""
    span = chosen_span(debugger)
    debugger.say_line(_line_of_span(span, True, call_label(debugger.session, span)))
    where = shown_place(span.where)
    source = source_line(where.file, where.line)
    if source:
        debugger.say_line(f"-> {source}")


@command("list", "l", group="source")
def list_(debugger: Shell, words: str) -> None:
    """Show the source around the current line, or other lines of the same file.

    Usage: l[ist] [user | LINE | FIRST, LAST]
    `l user` shows the line of the script that made the layer. At an op, the op's own code is
    printed below the line that made it.
    Example: l
    """
    if words == "user":
        _list_user(debugger)
        return
    asked = re.fullmatch(r"(\d+)\s*(?:,\s*(\d+))?", words)
    if words not in ("", ".") and not asked:
        raise ArgumentError(f"list: expected nothing, `user`, 10 or 1,5, got {words!r}.")
    where = debugger.place_of_program() or shown_place(chosen_span(debugger).where)
    if not where.file:
        raise ArgumentError("list: this span has no line of source.")
    middle = int(asked[1]) if asked else where.line
    first, last = middle - AROUND, middle + AROUND
    if asked and asked[2]:
        first, last = middle, int(asked[2])
        last = first + last if last < first else last  # as in pdb: a number of lines
    _say_lines(debugger, path_of(where.file), where.line, first, last)
    code = with_code(chosen_span(debugger).where) if spans_around(debugger) and not asked else where
    if (code.file, code.line) != (where.file, where.line) and is_of_an_op(
        chosen_span(debugger).where
    ):
        debugger.say(f"{shown_file(code.file)}:")
        _say_lines(debugger, path_of(code.file), code.line, code.line - 2, code.line + 2)


@command("longlist", "ll", group="source", takes_words=False)
def longlist(debugger: Shell, words: str) -> None:
    """Show the whole source of the engine's current function.

    Usage: ll, longlist
    Example: ll
    """
    where = debugger.place_of_program() or shown_place(chosen_span(debugger).where)
    if not where.file:
        raise ArgumentError("ll: this span has no line of source.")
    text = "".join(linecache.getlines(path_of(where.file)))
    first, last = function_around(text, where.line) or (1, text.count("\n") + 1)
    _say_lines(debugger, path_of(where.file), where.line, first, last)


def _list_user(debugger: Shell) -> None:
    for span in reversed(spans_around(debugger)):
        where = span.where
        if where.user_line:
            _say_made_at(debugger, where)
            return
    raise ArgumentError("list: no line of the script made this layer or op.")


@command("source", group="source")
def source(debugger: Shell, words: str) -> None:
    """Show the line of the script that made a layer.

    Usage: source NAME
    Example: source dense_2
    """
    if not words:
        raise ArgumentError("source: expected a layer. For example: `source dense_2`.")
    made = {event.name: event for event in debugger.session.tape.filter(kind="layer.init")}
    if words not in made:
        raise ArgumentError(f"source: unknown layer {words!r}. {did_you_mean(words, made)}")
    where = made[words].where
    if not where.user_line:
        raise ArgumentError(f"source: the tape does not know which line made {words!r}.")
    _say_made_at(debugger, where)


def _say_made_at(debugger: Shell, where: Where) -> None:
    line = where.user_line
    debugger.say(f"{shown_file(where.user_file)}:")
    _say_lines(debugger, where.user_file, line, line - AROUND, line + AROUND)


def _say_lines(debugger: Shell, file: str, current: int, first: int, last: int) -> None:
    lines = linecache.getlines(file)
    if not lines:
        raise ArgumentError(f"list: the source of {shown_file(file)} was not found.")
    if first > len(lines):
        raise ArgumentError(f"list: {shown_file(file)} has {len(lines)} lines.")
    for number in range(max(first, 1), min(last, len(lines)) + 1):
        mark = "->" if number == current else "  "
        line = f"{number:4d} {mark} {lines[number - 1].rstrip()}".rstrip()
        debugger.say(debugger.page.cut(line) if debugger.is_terminal else line)


def _line_of_span(span: Event, is_chosen: bool, label: str) -> str:
    where = with_code(span.where)
    engine = f"{shown_file(where.file)}({where.line}){where.function}()" if where.file else ""
    user = f"{shown_file(where.user_file)}:{where.user_line}" if where.user_line else ""
    made = f"  {user}  {source_line(where.user_file, where.user_line)}" if user else ""
    return f"{'>' if is_chosen else ' '} {label}  {engine}{made}".rstrip()
