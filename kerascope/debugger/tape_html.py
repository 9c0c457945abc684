"""How a tape shows itself in a notebook: the model's picture, and a table of its steps.

A tape may hold a hundred thousand events, and a notebook keeps what it has shown: only the first
and the last steps are in the table, and a line between them says how many are not.

The table takes its colours from the notebook around it, light or dark; only what is the same on
both is set here. A notebook that is not trusted may drop the style sheet: then it is a plain table.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from kerascope.debugger.calls import RUNS, calls_at
from kerascope.debugger.pictures import picture_of
from kerascope.debugger.places import shown_file, source_line
from kerascope.debugger.rendering import cut
from kerascope.debugger.session import Session
from kerascope.engine.network import Network
from kerascope.errors import KerascopeError
from kerascope.trace.events import Event
from kerascope.trace.records import counted
from kerascope.trace.tape_store import Tape

FIRST, LAST = 100, 20  # steps that are shown
LONGEST_VALUE = 160  # characters
MOST_BOXES = 60  # of a picture in a notebook
NO_PICTURE = (
    "<p>No picture: the model is not here, and the tape alone does not tell how it was built.</p>"
)
COLUMNS = ("t", "", "act / phase", "kind", "name", "value", "user line")
SIGNS = {"B": ("▸", "about to happen"), "E": ("◂", "done"), "I": ("·", "happens at once")}
STYLE = """\
.kerascope-tape{color:inherit}
.kerascope-tape .scrolls{overflow:auto;max-height:36em;margin-top:.6em}
.kerascope-tape table{border-collapse:collapse;font-size:12px;margin:0;color:inherit}
.kerascope-tape td,.kerascope-tape th{text-align:left;vertical-align:top;padding:2px 8px;\
border:0;border-bottom:1px solid rgba(128,128,128,.3);background:none;color:inherit;\
white-space:nowrap;max-width:none}
.kerascope-tape td:first-child{text-align:right;font-variant-numeric:tabular-nums}
.kerascope-tape td.value{white-space:normal;overflow-wrap:anywhere;min-width:16em}
.kerascope-tape .broken td{font-weight:bold}
.kerascope-tape .left-out td{text-align:center;font-style:italic}"""


def html_of_tape(tape: Tape) -> str:
    """Return a tape as a piece of HTML: one line about it, the model's picture, its steps.

    Parameters
    ----------
    tape : Tape
        Just recorded, or loaded from a file: then the picture is drawn from what it tells.

    Examples
    --------
    >>> html_of_tape(Tape()).splitlines()[-1]
    '<p>Tape: no events. What runs inside the block is recorded.</p></div>'
    """
    opening = f'<div class="kerascope-tape"><style>{STYLE}</style>'
    if not len(tape):
        return f"{opening}\n<p>Tape: no events. What runs inside the block is recorded.</p></div>"
    acts = ", ".join(dict.fromkeys(event.act for event in tape if event.act))
    size = f"{counted(len(tape), 'event')}, {tape.bytes:,} bytes of arrays"
    words = f"<p>Tape: {size}{f': {escape(acts)}' if acts else ''}</p>"
    return "\n".join([opening, words, _picture(tape), *_table(tape), "</div>"])


# --- the picture ----------------------------------------------------------------------------------


def _picture(tape: Tape) -> str:
    """Return the model's graph in its present state; without one, why there is none."""
    session = Session(lambda stop: None, tape=tape)
    current = Session.current
    t = len(tape) - 1
    if current is not None and current.tape is tape:
        session.timelines = current.timelines
        t = min(max(current.stepper.now, 0), t)
    session.model = _living_model(tape, t)
    session.stepper.goto(_time_to_draw(session, t))
    try:
        picture = picture_of(session, with_numbers=True)
    except KerascopeError:
        return NO_PICTURE
    boxes = len(picture.graph.nodes)
    if boxes > MOST_BOXES:
        return f"<p>The model has {boxes} boxes, too many to draw here.</p>"
    return f'<div class="scrolls">{picture.svg}</div>'


def _living_model(tape: Tape, t: int) -> Any:
    """Return the model of which an event spoke last, if it still lives."""
    told = tape.origin("model", t)
    for delta in told.deltas if told is not None else ():
        if delta.name == "model":
            model = tape.live(delta.value)
            return model if isinstance(model, Network) else None
    return None


def _time_to_draw(session: Session, t: int) -> int:
    """Return the last time, not after `t`, at which calls of the model have a state."""
    tape = session.tape
    if not calls_at(session, tape[t]):
        for event in reversed(tape[:t]):
            if event.kind in RUNS and calls_at(session, event):
                return int(event.t)
    return t


# --- the table ------------------------------------------------------------------------------------


def _table(tape: Tape) -> Iterator[str]:
    """Yield the lines of the table of steps."""
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    yield f'<div class="scrolls"><table><thead><tr>{head}</tr></thead><tbody>'
    count = len(tape)
    left_out = max(count - FIRST - LAST, 0)
    first = FIRST if left_out else count
    yield from _rows(tape, 0, first)
    if left_out:
        words = f"{counted(left_out, 'event')} between t={first} and t={count - LAST - 1} left out"
        yield f'<tr class="left-out"><td colspan="{len(COLUMNS)}">{words}</td></tr>'
        yield from _rows(tape, count - LAST, count)
    yield "</tbody></table></div>"


def _rows(tape: Tape, start: int, stop: int) -> Iterator[str]:
    for event, row in zip(tape[start:stop], tape.to_table(start, stop), strict=True):
        sign, meaning = SIGNS[event.ph]
        place = " / ".join(dict.fromkeys(word for word in (event.act, event.phase) if word))
        value = escape(cut(row["changes"], LONGEST_VALUE))
        is_broken = any(delta.name == "error" for delta in event.deltas)
        broken = ' class="broken"' if is_broken else ""
        cells = [
            f"<td>{event.t}</td>",
            f'<td title="{meaning}">{sign}</td>',
            f"<td>{escape(place)}</td>",
            f'<td style="padding-left:{8 + 6 * event.depth}px">{escape(event.kind)}</td>',
            f"<td>{escape(event.name)}</td>",
            f'<td class="value">{value}</td>',
            _user_cell(event),
        ]
        yield f"<tr{broken}>{''.join(cells)}</tr>"


def _user_cell(event: Event) -> str:
    """Return the cell of the user's line that made a layer; its source is told by the mouse."""
    where = event.where
    if not where.user_line:
        return "<td></td>"
    source = escape(cut(source_line(where.user_file, where.user_line), LONGEST_VALUE))
    return f'<td title="{source}">{escape(shown_file(where.user_file))}:{where.user_line}</td>'
