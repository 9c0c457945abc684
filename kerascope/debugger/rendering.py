"""Printed stops and values: lines of text that fit a width, with arrays as their statistics.

Lines are cut or wrapped by columns; a wide character takes two.
"""

from __future__ import annotations

import reprlib
from typing import Any, NamedTuple

import numpy as np
from rich.cells import cell_len

from kerascope.debugger.calls import calls_at
from kerascope.debugger.places import (
    first_line,
    pdb_lines,
    shown_file,
    source_line,
    where_of,
)
from kerascope.debugger.session import Session
from kerascope.printable import printable as escaped
from kerascope.trace.breakpoints import Change
from kerascope.trace.events import BEGIN, END, FORGOTTEN, Event, Made
from kerascope.trace.history import begin_of, landmarks_of, value_of_event
from kerascope.trace.snapshots import ErrorRef
from kerascope.trace.statistics import (
    Statistics,
    figure,
    kind_of,
    norm,
    relative_change,
    statistics_of,
)
from kerascope.trace.stepper import Reason, Stop
from kerascope.trace.tape_memory import describe_mark
from kerascope.trace.tape_store import alike
from kerascope.viz.theme import STATES

# --- lines that fit a width -----------------------------------------------------------------------
# In a terminal, a line that is too long continues in the next row, in the middle of a word, and
# shifts everything below it. So lines for a person are cut with an ellipsis, or wrapped at a space.
# In a pipe nothing is wrapped, because programs read lines.


DOTS, ELLIPSIS = "...", "…"
INDENT = "    "  # of continuation rows
OWN_LINE = ("Usage: ", "Example: ", " ")  # lines of a help text that are not joined


class Page(NamedTuple):
    """What the output can show: its width, its characters, and whether a person reads it.

    Attributes
    ----------
    width : int
        The number of columns.
    ascii_only : bool
        Whether the output can only show ASCII characters.
    for_person : bool
        Whether the output is a terminal, where long lines are cut or wrapped.
    """

    width: int
    ascii_only: bool = False
    for_person: bool = False

    @property
    def ellipsis(self) -> str:
        """The text in place of what was cut off: "…" if the terminal can show it, or "..."."""
        return ELLIPSIS if self.for_person and not self.ascii_only else DOTS

    def cut(self, line: str) -> str:
        """Return a line cut to the output's width, with `ellipsis` at its end if it was cut."""
        return cut(line, self.width, self.ellipsis)

    def cut_front(self, begin: str, line: str) -> str:
        """Return `begin` and `line`, without the start of `line` if both do not fit into the width.

        Examples
        --------
        >>> Page(20, ascii_only=True).cut_front("> ", "kerascope/engine/calling.py(9)call()")
        '> ...ing.py(9)call()'
        """
        line = printable(line)
        if cell_len(begin + line) <= self.width:
            return begin + line
        room = self.width - cell_len(begin) - cell_len(self.ellipsis)
        return cut(begin + self.ellipsis + _start(line[::-1], max(room, 0))[::-1], self.width, "")

    def wrapped(self, text: str) -> list[str]:
        """Return a text split into lines; in a terminal, long lines are wrapped and indented."""
        lines = text.split("\n")
        if not self.for_person:
            return lines
        return [row for line in lines for row in _rows(printable(line), self.width)]

    def filled(self, text: str) -> list[str]:
        r"""Return a text split into lines; in a terminal, paragraphs are wrapped to the width.

        Examples
        --------
        >>> Page(12, for_person=True).filled("one two three\nfour\n\nUsage: x\nExample: y")
        ['one two', 'three four', '', 'Usage: x', 'Example: y']
        """
        lines = text.split("\n")
        if not self.for_person:
            return lines
        joined = lines[:1]
        for line in lines[1:]:
            is_prose = line and joined[-1] and not joined[-1].startswith(OWN_LINE)
            if is_prose and not line.startswith(OWN_LINE):
                joined[-1] += f" {line}"
            else:
                joined.append(line)
        return [row for line in joined for row in _rows(line, self.width, "")]


def padded(text: str, width: int) -> str:
    """Return a text padded with spaces to a width."""
    return text + " " * (width - cell_len(text))


def cut(line: str, width: int, ellipsis: str = DOTS) -> str:
    """Return a line cut to a width.

    Examples
    --------
    >>> cut("dense_1 and dense_2", 10), cut("損失関数", 7, "…")
    ('dense_1...', '損失関…')
    """
    line = printable(line)
    if cell_len(line) <= width:
        return line
    room = width - cell_len(ellipsis)
    return _start(line, room) + ellipsis if room > 0 else _start(line, width)


def printable(line: str) -> str:
    r"""Return a line with spaces for tabs, and with escapes for characters that move the cursor.

    Examples
    --------
    >>> printable("a\tb"), printable("a\x1b[2J")
    ('a       b', 'a\\x1b[2J')
    """
    return escaped(line.expandtabs())


def _start(text: str, width: int) -> str:
    """Return the longest prefix of a text that fits into a number of columns."""
    taken = 0
    for place, character in enumerate(text):
        taken += cell_len(character)
        if taken > width:
            return text[:place]
    return text


def _rows(line: str, width: int, indent: str = INDENT) -> list[str]:
    rows = []
    indent = line[: len(line) - len(line.lstrip())] + indent
    indent = indent if len(indent) < width // 2 else ""
    while cell_len(line) > width:
        row = _start(line, width)
        if not row:
            break
        space = row.rfind(" ", len(indent) + 1) if line[len(row)] != " " else len(row)
        row = row[:space] if space > len(indent) else row
        rows.append(row.rstrip())
        line = indent + line[len(row) :].lstrip()
    return [*rows, line]


# --- stops and values -----------------------------------------------------------------------------


BY_KIND = ("fit", "build", "compile", "evaluate", "predict")
BY_NAME = ("epoch", "batch", "function", "depth", "node", "layer.call", "op")
WHICH_OF_THE_TWO = {"gradients": "symbols", "backward": "values"}
SPACE = 10  # between the two halves of a line
LEAST_SPACE = 3
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 200


# --- values ---------------------------------------------------------------------------------------


def text_of_value(value: Any, digits: int | None = None) -> str:
    """Return a value on one line; an array as its statistics.

    Parameters
    ----------
    value : object
    digits : int, optional
        The number of significant digits of Python floats; by default all digits.

    Examples
    --------
    >>> text_of_value([np.ones(2), "a"])
    "[f64[2] |x|=1.414 min=1 mean=1 max=1, 'a']"
    >>> text_of_value({"loss": 0.123456}, digits=3)
    "{'loss': 0.123}"
    """
    if isinstance(value, np.ndarray | np.generic):
        is_number = value.dtype.kind in "fiub"
        return str(statistics_of(value)) if is_number else repr(value)
    if isinstance(value, Statistics):
        return str(value)
    if isinstance(value, float) and digits is not None:
        return figure(value, digits)
    if type(value) is dict:
        pairs = (f"{key!r}: {text_of_value(item, digits)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    if type(value) in (list, tuple):
        inside = ", ".join(text_of_value(item, digits) for item in value)
        comma = "," if len(value) == 1 else ""
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{comma})"
    return repr(value)


def short_text(value: Any) -> str:
    """Return a short text for a value; for an array: type, shape, norm and NaN counts."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fiub":
        return " ".join(statistics_of(value).short_cells)
    if isinstance(value, Statistics):
        return " ".join(value.short_cells)
    if type(value) in (list, tuple, dict) and len(value) > 12:
        return f"{type(value).__name__} of {len(value)}"
    return text_of_value(value) if type(value) in (list, tuple, dict) else _SHORT.repr(value)


def entry_that_differs(one: Any, other: Any, entry: str = "") -> tuple[str, Any, Any]:
    """Return the first entry that differs between two values: its name, and both its values.

    Examples
    --------
    >>> ops = [(("op", None, "dot"), ("inputs", None, (1.0, x))) for x in (2.0, 3.0)]
    >>> entry_that_differs(*ops)
    ('inputs[1] ', 2.0, 3.0)
    >>> entry_that_differs({"d": (1.0, None)}, {"d": (2.0, None)})
    ("['d'][0] ", 1.0, 2.0)
    """
    own = entry.rstrip()
    if not own and _is_content(one) and _is_content(other):
        mine, theirs = ({x[:2]: x[2] for x in content} for content in (one, other))
        for name, key in {**mine, **theirs}:
            a, b = mine.get((name, key)), theirs.get((name, key))
            if not alike(a, b):
                called = name if key is None else f"{name}[{key!r}]"
                return entry_that_differs(a, b, f"{called} ")
    for key, (a, b) in _pairs_inside(one, other).items():
        if not alike(a, b):
            return entry_that_differs(a, b, f"{own}[{key!r}] ")
    return entry, one, other


def _is_content(value: Any) -> bool:
    """Return whether a value is a tuple of items (name, key, value), as an event has them."""
    return isinstance(value, tuple) and all(
        isinstance(x, tuple) and len(x) == 3 and isinstance(x[0], str) for x in value
    )


def _pairs_inside(one: Any, other: Any) -> dict[Any, tuple[Any, Any]]:
    """Return the entries of two containers in pairs, by key or index.

    Return an empty dict if their types, keys or lengths differ.
    """
    if type(one) is not type(other) or type(one) not in (list, tuple, dict):
        return {}
    if isinstance(one, dict):
        return {k: (one[k], other[k]) for k in one} if one.keys() == other.keys() else {}
    return dict(enumerate(zip(one, other, strict=True))) if len(one) == len(other) else {}


def halves(left: str, right: str, page: Page) -> list[str]:
    """Return two texts as one line if both fit into the width, otherwise as two lines."""
    if not right:
        return [page.cut(left)]
    space = min(SPACE, page.width - cell_len(left) - cell_len(right))
    if space >= LEAST_SPACE:
        return [left + " " * space + right]
    return [page.cut(left), page.cut(f"   {right}")]


# --- a stop ---------------------------------------------------------------------------------------


def lines_of_stop(session: Session, stop: Stop, page: Page) -> list[str]:
    """Return all lines of a printed stop.

    The debugger's own lines are cut to the width. In a terminal, the two lines in pdb's form are
    cut too, and the reasons for the stop are wrapped.
    """
    event = stop.event
    if stop.reason is Reason.END:
        return [row for line in _end_lines(session, page) for row in page.wrapped(line)]
    if event is None:
        is_back = stop.reason is Reason.BEGIN and len(session.tape)
        note = ["--- the beginning: nothing was recorded before"] if is_back else []
        return [*_fitted_pdb_lines(_begin_lines(session, stop), page), *note]
    lines = _fitted_pdb_lines(pdb_lines(event.where, event.kind), page)
    path = " > ".join(span_labels(session, event))
    lines += halves(f"   {path}", f"t={event.t}", page)
    if event.where.made is not None:
        lines += _lines_of_code(event.where.made, page)
    elif event.where.file and event.where.user_line:
        user = event.where
        made = source_line(user.user_file, user.user_line)
        lines.append(page.cut(f"   {shown_file(user.user_file)}:{user.user_line}  {made}"))
    lines += _glyph_lines(session, event, page)
    said = f"{stop.word if event.ph in (BEGIN, END) else '  '} {sentence(event)}"
    name, sign, value = said.partition(" -> " if event.ph == END else ": ")
    arrow = sign.strip(" :")
    figures = f"   {arrow} {value}" if arrow else f"      {value}"
    is_failure = value_of_event(event, "error") is not None
    if sign and not is_failure and cell_len(said) > page.width >= cell_len(figures):
        lines += [page.cut(name), figures]  # the statistics matter most
    else:
        lines.append(page.cut(said))
    terms = sum_text(event)
    lines += page.wrapped(f"   {terms}") if terms else []
    return lines + [row for line in _reason_lines(stop) for row in page.wrapped(line)]


def sum_text(event: Event) -> str:
    """Return the terms of a summed gradient, such as "via enc@1 |g|=2 + via enc@0 |g|=3".

    Return "" if the event has no summed gradient.
    """
    terms = value_of_event(event, "via") or ()
    return " + ".join(f"via {label} |g|={figure(norm(array))}" for label, array in terms)


def _lines_of_code(made: Made, page: Page) -> list[str]:
    """Return the printed line with the code of an op or a layer.

    For the op of a gradient, the line also names the tensor that the gradient is taken for. For a
    loss or metric with several ops, return a line for each user function that made ops.
    """
    if not made.code[0]:
        return [page.cut(f"   made by {text}") for text in _lines_by_function(made)]
    file, line, _ = made.code
    is_of_gradient = made.gradient_of and not made.made_by
    words = f"gradient of {made.gradient_of}: " if is_of_gradient else ""
    return [page.cut(f"   {words}{shown_file(file)}:{line}  {source_line(file, line)}")]


def _lines_by_function(made: Made) -> list[str]:
    """Return a text such as "train.py:10, 11 in my_bce" for each user function that made an op."""
    numbers: dict[tuple[str, str], list[int]] = {}
    for file, line, function in made.made_by:
        numbers.setdefault((file, function), []).append(line)
    return [
        f"{shown_file(file)}:{', '.join(map(str, sorted(set(own))))} in {function}"
        for (file, function), own in numbers.items()
    ]


def _fitted_pdb_lines(lines: list[str], page: Page) -> list[str]:
    """Return the two lines in pdb's form, cut to a terminal's width at the start of the path."""
    if not page.for_person:
        return lines
    return [
        page.cut_front("> ", line[2:]) if line.startswith("> ") else page.cut(line)
        for line in lines
    ]


def _begin_lines(session: Session, stop: Stop) -> list[str]:
    frame = session.frame_at(stop)
    if frame is not None:
        return pdb_lines(where_of(frame), "")
    if session.started_at.file:
        return pdb_lines(session.started_at, "")
    if session.script is None:
        return [] if len(session.tape) else ["--- before the first event"]
    line = first_line(session.script)
    file = shown_file(str(session.script))
    source = source_line(str(session.script), line)
    return [f"> {file}({line})<module>()", f"-> {source}"]


def _end_lines(session: Session, page: Page) -> list[str]:
    count = len(session.tape)
    state = "the tape ends here" if session.recorder is None else "the program has ended"
    if session.recorder is not None and session.tape is not session.recorder.tape:
        state = f"timeline {session.timelines.current.number} ends here"
    back = "rs, rc or goto T go back in time, q ends" if count else "nothing was recorded; q ends"
    lines = [f"--- {state}: {count} events. {back}."]
    is_wide = not page.for_person and cell_len(lines[0]) <= page.width
    if not is_wide and next(session.tape.batches(), None) is not None:
        lines = [f"--- {state}. `info batches` shows a table, rs goes back, q ends."]
    unseen = session.words_of_unseen()
    lines += [f"   {unseen}"] if unseen else []
    if isinstance(session.error, SystemExit):  # as pdb prints it
        status = 0 if session.error.code is None else session.error.code
        lines.insert(0, f"The program exited via sys.exit(). Exit status: {status}")
    return lines


def _glyph_lines(session: Session, event: Event, page: Page) -> list[str]:
    calls = calls_at(session, event)
    if not calls:
        return []
    last = last_value(session, event)
    words = []
    here = 0
    for place, (name, state) in enumerate(calls):
        style = STATES[state]
        words.append(f"{style.plain if page.ascii_only else style.glyph} {name}")
        here = place if state == "current" else here
    row = "  ".join(_window(words, here, page.width - 4, page.ellipsis))
    return halves(f"   {row}", f"last: {last}" if last else "", page)


def _window(words: list[str], here: int, width: int, dots: str) -> list[str]:
    """Return as many words around index `here` as fit into a width.

    The text `dots` replaces the words that are omitted before and after them.
    """
    first = last = here
    taken = cell_len(words[here]) + 10
    grows = True
    while grows:
        grows = False
        for after, before in ((1, 0), (0, 1)):
            low, high = first - before, last + after
            is_there = low >= 0 and high < len(words)
            more = cell_len(words[high if after else low]) + 2 if is_there else 0
            if is_there and taken + more <= width:
                first, last, taken, grows = low, high, taken + more, True
    return [
        *([dots] if first else []),
        *words[first : last + 1],
        *([dots] if last + 1 < len(words) else []),
    ]


def last_value(session: Session, event: Event) -> str:
    """Return the name and the statistics of the last op output before an event; "" without one."""
    for t in range(event.t - 1, -1, -1):
        other = session.tape[t]
        if other.act != event.act and other.depth < event.depth:
            return ""
        if other.ph == END and other.grain == "op":
            value = value_of_event(other, "result")
            if isinstance(value, np.ndarray | np.generic | Statistics):
                return f"{other.name} {short_text(value)}"
            if isinstance(value, tuple):  # several outputs: show the layer's output
                brought = [d for d in other.deltas if d.name == "tensor_map"]
                if len(brought) == 1:
                    return f"{brought[0].key} {short_text(brought[0].value[0])}"
                return f"{other.name} {len(value)} arrays"
    return ""


def span_labels(session: Session, event: Event) -> list[str]:
    """Return the labels of an event's enclosing spans, with the event's own label last.

    The function that a batch calls is omitted, because it is the same for all batches. The label
    of an op inside a layer omits the layer's name.
    """
    spans = session.tape.spans_at(event.t)
    around = spans[:-1] if event.ph == BEGIN else spans
    is_shown = [
        span.kind != "function" or not place or around[place - 1].kind != "batch"
        for place, span in enumerate(around)
    ]
    labels = [call_label(session, x) for x, is_it in zip(around, is_shown, strict=True) if is_it]
    own = call_label(session, event)
    return [*labels, own.removeprefix(f"{labels[-1]}/") if labels else own]


def call_label(session: Session, event: Event) -> str:
    """Return the label of a span.

    For a function that was called outside of any span, as by `train_on_batch`, the label also has
    the name of the model and the number of the call.
    """
    model = value_of_event(event, "model") if event.kind == "function" else None
    if event.kind == "function" and event.ph == END:
        begun = begin_of(event, session.tape)
        model, event = value_of_event(begun, "model") if begun else None, begun or event
    if model is None or event.depth or event.name.startswith("make_"):
        return label(event)
    count = value_of_event(event, "t")  # of steps, which training counts
    if count is None:
        calls = landmarks_of(session.tape, event.t + 1).calls
        several = [session.tape[t] for t in calls if t <= event.t]
        own = [x for x in several if x.name == event.name and value_of_event(x, "model") == model]
        count = len(own)
    return f"{event.name} of {model.name}, call {count}"


def label(event: Event) -> str:
    """Return the label of an event in a path of spans.

    Gradients are built once, as symbolic tensors, and computed with each batch. The label of an
    event of the backward phase says whether the event builds or computes gradients.
    """
    if event.kind in WHICH_OF_THE_TWO:
        return f"{event.kind} ({WHICH_OF_THE_TWO[event.kind]})"
    if event.kind in BY_NAME:
        return event.name
    if event.kind in BY_KIND or event.grain == "phase":
        return event.kind
    return f"{event.kind} {event.name}"


def sentence(event: Event) -> str:
    """Return the line that describes an event at a stop."""
    if event.kind == FORGOTTEN:
        return describe_mark(event)
    words = event.name if event.name.startswith(event.kind) else f"{event.kind} {event.name}"
    op = value_of_event(event, "op")
    if op is not None and event.kind == "op":
        inputs = value_of_event(event, "inputs")
        inside = ", ".join(_kind(x) for x in inputs) if inputs else ""
        words += f" = {op}({inside})" if event.ph == BEGIN else f" = {op}"
    if event.ph == BEGIN:
        return words
    error = value_of_event(event, "error")
    if isinstance(error, ErrorRef):
        return f"{words} -> {error}"
    if event.ph == END:
        if any(delta.name == "result" for delta in event.deltas):
            words += f" -> {text_of_value(value_of_event(event, 'result'), digits=4)}"
        return words
    old, new = value_of_event(event, "old"), value_of_event(event, "new")
    if old is not None and new is not None:
        change = relative_change(old, new)
        text = "" if change is None else f", relative change {change:.4g}"
        return f"{words}: {short_text(old)} -> {short_text(new)}{text}"
    text = "; ".join(
        f"{d.name}{'' if d.key is None else f'[{d.key}]'} = {short_text(d.value)}"
        for d in event.deltas
    )
    return f"{words}: {text}" if text else words


def _kind(value: Any) -> str:
    return kind_of(value) if isinstance(value, np.ndarray | np.generic) else short_text(value)


# --- why it stopped -------------------------------------------------------------------------------


def _reason_lines(stop: Stop) -> list[str]:
    lines = []
    if stop.reason is Reason.INTERRUPT:
        lines.append("interrupted")
    if stop.reason is Reason.FORGOTTEN:
        lines.append("the names are those at the end of the dropped events")
    if stop.breakpoint is not None:
        lines.append(f"breakpoint {stop.breakpoint.number} hit: {stop.breakpoint.selector.text}")
    if stop.error:
        lines.append(f"*** condition: {stop.error}")
    lines += [f"caught {f.condition}: {f.name}: {f.text}" for f in stop.findings]
    for change in stop.changes:
        lines += lines_of_change(change)
    return lines


def lines_of_change(change: Change) -> list[str]:
    """Return the lines that a stop prints about a watched value that changed."""
    lines = [f"watch {change.watch.number}: {change.name}"]
    if change.added or change.removed:
        lines += [f"  added {key!r}" for key in change.added]
        lines += [f"  removed {key!r}" for key in change.removed]
    else:
        lines += [f"  Old: {short_text(change.old)}", f"  New: {short_text(change.new)}"]
    if change.relative is not None:
        lines.append(f"  relative change {change.relative:.4g}")
    if change.error:
        lines.append(f"  *** condition: {change.error}")
    return lines
