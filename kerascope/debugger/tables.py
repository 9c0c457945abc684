"""Commands that give an overview: `info`, which prints tables, `plot`, `check` and `draw`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.cells import cell_len

from kerascope.debugger.calls import calls_at
from kerascope.debugger.commands import command
from kerascope.debugger.evaluating import unrecorded_writes, values_of_namesakes
from kerascope.debugger.rendering import DOTS, padded, short_text, sum_text, text_of_value
from kerascope.debugger.session import Session
from kerascope.debugger.shell import Shell
from kerascope.debugger.stopping import say_breaks
from kerascope.engine.node_ids import calls_in
from kerascope.errors import ArgumentError
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, END, GRAINS
from kerascope.trace.history import value_of_event
from kerascope.trace.snapshots import TensorRef
from kerascope.trace.statistics import figure, relative_change
from kerascope.trace.stepper import Stop
from kerascope.trace.tape_store import BatchOnTape
from kerascope.trace.training_info import keys_by_node, without_observers
from kerascope.viz.theme import STATES

if TYPE_CHECKING:
    from kerascope.viz.drawing import Drawing

FORMATS = ("term", "svg", "png", "dot")
CHECKING = "kerascope.debugger.checking"
PICTURES = "kerascope.debugger.pictures"
STEPS = "kerascope.debugger.step_tables"
RUN = "kerascope.debugger.run_table"
LEAST_NAME, LEAST_VALUE = 4, 20  # widths that remain in a table that is too wide
FURTHEST = 20000  # how many earlier events are searched for a name that is out of scope

WHOLE_WORDS = {"gradients": "grads", "breakpoints": "breaks", "seen_nodes": "seen"}
Rows = list[Sequence[str]]


class CaughtConditions(list[tuple[int, str]]):
    """The conditions caught so far in a session, as pairs (time, name of the condition)."""

    def note(self, stop: Stop) -> None:
        """Add the conditions caught at a stop to this list."""
        found = [(stop.t, finding.condition) for finding in stop.findings]
        self.extend(one for one in found if one not in self)


@dataclass
class RepeatedDrawing:
    """What `draw -w` draws again at each stop.

    Attributes
    ----------
    draw : callable or None
        Draws the picture; None if nothing is drawn again.
    """

    draw: Callable[[], None] | None = None


# --- info -----------------------------------------------------------------------------------------


def _say_table(debugger: Shell, header: Sequence[str], rows: Rows, nothing: str) -> None:
    if not rows:
        debugger.say(nothing)
        return
    for line in lines_of_table(_fitted(debugger, [header, *rows])):
        debugger.say_line(line)


def _fitted(debugger: Shell, rows: Rows) -> Rows:
    """Return the rows of a table, shortened so that its column `changed` fits the width.

    Values are shortened first, then names. If the column `changed` is empty, its header is
    removed and nothing is shortened. Tables without this column are returned unchanged.
    """
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    excess = sum(widths) + 2 * (len(widths) - 1) - debugger.width
    if excess <= 0 or rows[0][-1] != "changed":
        return rows
    if not any(row[-1] for row in rows[1:]):
        return _fitted(debugger, [(*row[:-1], "") for row in rows])
    value = max(widths[1] - excess, min(widths[1], LEAST_VALUE))
    name = widths[0] - max(excess - widths[1] + value, 0)
    narrow = debugger.page._replace(width=value)
    return [(short_name(row[0], name), narrow.cut(row[1]), *row[2:]) for row in rows]


def _t(debugger: Shell) -> int:
    return debugger.session.stepper.now


def _found(debugger: Shell, *names: str) -> Any:
    """Return the value, at the current time, of the first of these names that exists then.

    If none exists, return the latest earlier value of one of them, and print the time of this
    value. If none of them had a value before, return None.
    """
    tape, last = debugger.session.tape, _t(debugger)
    for t in range(last, max(last - FURTHEST, -1), -1):
        is_scope_end = t == last or (tape[t].ph == END and tape[t].grain in ("act", "phase"))
        found = tape.names_at(t) if is_scope_end else {}
        for name in names:
            if name in found and (found[name] or t == last):
                if t != last:
                    debugger.say(f"as it was at t={t}, the end of {tape[t].kind} {tape[t].name}")
                return found[name]
    return None


def _info_tensors(debugger: Shell) -> None:
    found = _found(debugger, "tensor_map") or {}
    rows: Rows = [(str(key), _tensor_words(value)) for key, value in found.items()]
    _say_table(debugger, ("key", "value"), rows, "tensor_map is empty here")


def _info_nodes(debugger: Shell) -> None:
    states, calls = dict(_states(debugger)), _calls(debugger)
    keys = keys_by_node({call.node: call.id for call in calls})
    counts = Counter(x.name for x in keys)
    rows: Rows = []
    for call in calls:
        node = call.node
        takes = ", ".join(
            f"{x.name} ({keys[x]})" if counts[x.name] > 1 else x.name for x in node.input_tensors
        )
        layer = f"{type(node.outbound_layer).__name__} {node.outbound_layer.name}"
        rows.append(
            (_sign(debugger, states.get(call.id, "")), call.id, layer, str(call.depth), takes)
        )
    if not rows:  # the model is still being built
        layers, inputs = _known_while_built(debugger)
        rows = [
            (_sign(debugger, state), name, layers.get(name, ""), "?", inputs.get(name, ""))
            for name, state in states.items()
        ]
    _say_table(debugger, ("", "node", "layer", "depth", "takes"), rows, "there are no nodes yet")


def _known_while_built(debugger: Shell) -> tuple[dict[str, str], dict[str, str]]:
    """Return the types and the inputs of the layers that are built so far, as two dicts by name."""
    layers: dict[str, str] = {}
    takes: dict[str, str] = {}
    for event in debugger.session.tape[: _t(debugger) + 1]:
        if event.kind == "layer.init":
            layers[event.name] = str(value_of_event(event, "layer")).strip("<>")
        elif event.kind == "layer.call" and event.ph == BEGIN:
            inputs = value_of_event(event, "inputs") or ()
            takes[event.name] = ", ".join(str(getattr(x, "name", x)) for x in inputs)
    return layers, takes


def _info_depths(debugger: Shell) -> None:
    states, by_depth = dict(_states(debugger)), dict[int, list[str]]()
    for call in _calls(debugger):
        sign = _sign(debugger, states.get(call.id, ""))
        by_depth.setdefault(call.depth, []).append(f"{sign} {call.id}".strip())
    rows: Rows = [
        (str(depth), "  ".join(names)) for depth, names in sorted(by_depth.items(), reverse=True)
    ]
    if not rows:  # the model is still being built
        for node, depth in (_found(debugger, "nodes_depths") or {}).items():
            by_depth.setdefault(depth, []).append(str(node))
        rows = [(str(depth), "  ".join(by_depth[depth])) for depth in sorted(by_depth)[::-1]]
    _say_table(debugger, ("depth", "nodes"), rows, "no depths have been assigned yet")


def _info_seen(debugger: Shell) -> None:
    tape, t = debugger.session.tape, _t(debugger)
    marked: dict[str, int] = {}  # dialect 1 only: marks "node-depth" in the order of the walk
    finished: dict[str, int] = {}
    maps = [event.t for event in tape[: t + 1] if event.kind == "build_map"]
    last = [at for at in maps if tape[at].ph == BEGIN][-1:]
    for event in tape[last[0] : t + 1] if last else ():
        if event.kind == "map.visit" and event.ph == END:
            finished[event.name] = event.t
        marks = (d.value for d in event.deltas if d.name == "seen_nodes" and d.key is not None)
        marked.update(dict.fromkeys(marks, event.t))
    rows: Rows
    if marked:
        done = {mark: finished.get(mark.rpartition("-")[0]) for mark in marked}
        rows = [
            (mark, f"t={at}", "in progress" if done[mark] is None else f"t={done[mark]}")
            for mark, at in marked.items()
        ]
        _say_table(debugger, ("seen_nodes", "marked at", "finished at"), rows, "")
        return
    rows = [(str(i), name, f"t={at}") for i, (name, at) in enumerate(finished.items(), 1)]
    going = tape.names_at(t).get("nodes_in_progress") if t >= 0 else None
    _say_table(debugger, ("#", "node", "finished at"), rows, "no node has been seen yet")
    if going:
        debugger.say("in progress: " + ", ".join(map(str, going)))


def _info_grads(debugger: Shell) -> None:
    found = _found(debugger, "grads")
    rows = _rows_of(found)
    if any(isinstance(value, TensorRef) for _, value in _pairs(found)):
        debugger.say("symbols: the sweep made them at compile; values come with each batch")
    sums = _sums_of_gradients(debugger) if rows else {}
    header: tuple[str, ...] = ("gradient of", "value")
    if any(name in sums for name, _ in rows):
        header, rows = (*header, "sum of"), [(*row, sums.get(row[0], "")) for row in rows]
        if max(map(cell_len, lines_of_table(rows))) > debugger.width:
            short = {name: short_text(value) for name, value in _pairs(found)}
            rows = [(name, short[name], terms) for name, _, terms in rows]
    _say_table(debugger, header, rows, "no gradient has arrived")


def _sums_of_gradients(debugger: Shell) -> dict[str, str]:
    """Return the terms of each summed gradient, with the layer calls that they come from."""
    found: dict[str, str] = {}
    tape = debugger.session.tape
    for event in tape.back(_t(debugger)):
        if event.kind == "function" and event.ph == BEGIN:
            break
        text = sum_text(event).replace("via ", "").replace("|g|=", "")
        for delta in event.deltas if text else ():
            if delta.name == "grads" and delta.key is not None:
                found.setdefault(str(delta.key), text)
    return found


def _info_updates(debugger: Shell) -> None:
    found = _found(debugger, "updates")
    _say_table(debugger, ("variable", "new value"), _rows_of(found), "there are no updates yet")


def _info_weights(debugger: Shell) -> None:
    found = {**(_found(debugger, "weights") or {}), **unrecorded_writes(debugger.session)}
    before = _weights_before(debugger)
    rows: Rows = []
    own = values_of_namesakes(debugger.session, _t(debugger))
    for name, value in found.items():
        for owner, (old, new) in own.get(name, {"": (before.get(name), value)}).items():
            change = relative_change(old, new)
            label = f"{name} of {owner}" if owner else str(name)
            rows.append((label, text_of_value(new), "" if not change else figure(change, 3)))
    rows = [("weight", "value", "changed"), *rows] if rows else []
    _say_table(debugger, rows[0] if rows else (), rows[1:], "no weight is known yet")


def _weights_before(debugger: Shell) -> dict[str, Any]:
    """Return the weights at the time when the last call of a function began."""
    tape = debugger.session.tape
    for t in range(_t(debugger), -1, -1):
        if tape[t].kind == "function" and tape[t].ph == BEGIN:
            before: dict[str, Any] = tape.names_at(t).get("weights", {})
            return before
    return {}


def _info_breaks(debugger: Shell) -> None:
    stepper = debugger.session.stepper
    if not (len(stepper.breakpoints) or len(stepper.watches) or len(stepper.catches)):
        debugger.say("no breakpoints. `b dense_1` makes one")
    say_breaks(debugger)


def _info_counts(debugger: Shell) -> None:
    tape, t = debugger.session.tape, _t(debugger)
    now, whole = tape.counts(t + 1), tape.counts()
    order = sorted(whole, key=lambda pair: GRAINS.index(pair[0]))
    rows: Rows = [(g, k, str(now[g, k]), str(whole[g, k])) for g, k in order]
    _say_table(
        debugger, ("grain", "kind", "until here", "in all"), rows, "nothing has happened yet"
    )


def _info_batches(debugger: Shell) -> None:
    import_module(RUN).say_batches(debugger)


def _info_steps(debugger: Shell, words: str = "") -> None:
    import_module(STEPS).say_steps(debugger, words)


TABLES: dict[str, Callable[..., None]] = {
    "tensors": _info_tensors,
    "nodes": _info_nodes,
    "depths": _info_depths,
    "seen": _info_seen,
    "grads": _info_grads,
    "updates": _info_updates,
    "weights": _info_weights,
    "breaks": _info_breaks,
    "counts": _info_counts,
    "batches": _info_batches,
    "steps": _info_steps,
}


@command("info", group="all of it", completes=TABLES)
def info(debugger: Shell, words: str) -> None:
    """Print a table: tensors, nodes, gradients, weights, batches and more.

    Usage: info tensors | nodes | depths | seen | grads | updates | weights | breaks | counts |
    batches | steps [LAYER] [N]
    Example: info tensors

    `info batches` lists the batches of `fit` with the loss and the metrics; of a long run, only the
    first and last batches and those where the loss jumped most. For each listed batch it also shows
    the norms of all weights after the batch and of all gradients, the relative change of the
    weights, and the share of ReLU units that were 0 for the whole batch. `info steps` shows the
    steps of the loop that ran last (an LSTM, or `K.foldl`), `info steps 7` the ops inside one step.
    """
    word, _, rest = words.strip().partition(" ")
    word = WHOLE_WORDS.get(word, word)
    known = [name for name in TABLES if word and name.startswith(word)]
    if len(known) != 1:
        asked = f"unknown table {word!r}. {did_you_mean(word, TABLES)}" if word else "which table? "
        raise ArgumentError(f"info: {asked}Use one of: {', '.join(TABLES)}.")
    if rest and known[0] != "steps":
        raise ArgumentError(f"info {known[0]}: expected nothing after it, got {rest!r}.")
    TABLES[known[0]](debugger, *([rest] if rest else []))


def caught_in(debugger: Shell, t: int, batches: Sequence[BatchOnTape]) -> list[str]:
    """Return the names of the conditions caught in the batch that begins at time `t`."""
    following = min((one.t for one in batches if one.t > t), default=len(debugger.session.tape))
    return [name for at, name in debugger.state(CaughtConditions) if t <= at < following]


@command("plot", group="all of it")
def plot(debugger: Shell, words: str) -> None:
    """Show a value over the batches of `fit`: its norm and a histogram of its numbers.

    Usage: plot EXPR
    Example: plot dense_1/kernel

    The value is that of EXPR at the end of each batch; `plot loss` has the loss of each batch. Of
    a long run, only the first and last batches and those where the loss jumped most are shown.
    """
    if not words.strip():
        raise ArgumentError("plot: expected a value: `plot loss`, `plot dense_1/kernel`.")
    import_module(RUN).say_plot(debugger, words.strip())


def _calls(debugger: Shell) -> list[Any]:
    model = debugger.session.model
    if model is None or not getattr(model, "outputs", None):
        return []
    calls: list[Any] = without_observers(calls_in, model)
    return calls


def _states(debugger: Shell) -> list[tuple[str, str]]:
    tape = debugger.session.tape
    return calls_at(debugger.session, tape[_t(debugger)]) if len(tape) else []


def _sign(debugger: Shell, state: str) -> str:
    found = STATES.get(state)
    return "" if found is None else (found.plain if debugger.ascii_only else found.glyph)


# --- check grads ----------------------------------------------------------------------------------


@command("check", group="all of it", completes=("grads",))
def check(debugger: Shell, words: str) -> None:
    """Check the gradients of this call's loss against finite differences.

    Usage: check grads
    Example: check grads

    For each weight, some numbers are moved up and down (those with the largest gradients, and
    some at random), then all at once in a random direction; the loss is computed in float64. If
    a gradient is wrong, each op is checked by itself, and the wrong one is named: a custom op,
    or a custom_gradient. Nothing is changed.
    """
    if words.strip() not in ("grads", "gradients"):
        raise ArgumentError(f"check: expected `check grads`, got {words.strip()!r}.")
    import_module(CHECKING).say_checked_gradients(debugger)


# --- draw -----------------------------------------------------------------------------------------


@command("draw", group="all of it", completes=FORMATS)
def draw(debugger: Shell, words: str) -> None:
    """Draw the model's graph with the state of each call: done, current, pending, changed, NaN.

    Usage: draw [term | svg | png | dot] [FILE] [-w]
    Example: draw svg now.svg -w

    Without words, the graph is drawn in the terminal. With -w it is drawn again at each stop, until
    `draw off`.
    """
    given = words.split()
    if given == ["off"]:
        debugger.state(RepeatedDrawing).draw = None
        return
    again, given = "-w" in given, [word for word in given if word != "-w"]
    form, file = _target(given)

    def draw_now() -> None:
        if form == "term":
            import_module(PICTURES).say_picture(debugger)
        else:
            debugger.say(f"{picture_of(debugger.session).save(file)} written")

    draw_now()
    if again:
        debugger.state(RepeatedDrawing).draw = draw_now


def draw_again(debugger: Shell) -> None:
    """Repeat the drawing of `draw -w`, if it is on; the debugger calls this at each stop."""
    drawn = debugger.state(RepeatedDrawing)
    if drawn.draw is not None:
        drawn.draw()


def picture_of(session: Session) -> Drawing:
    """Return the picture of the model at a stop, with the layers' output values.

    The drawing code is imported at the first call.
    """
    picture: Drawing = import_module(PICTURES).picture_of(session, with_numbers=True)
    return picture


def _target(given: list[str]) -> tuple[str, str]:
    """Return the format and the file that the words of `draw` name; "" for no file."""
    if not given:
        return "term", ""
    if given[0] in FORMATS and len(given) <= 2:
        form = given[0]
        file = given[1] if len(given) == 2 else f"model.{form}"
        if form == "term" and len(given) == 2:
            raise ArgumentError("draw: a file needs a format: `draw svg now.svg`.")
        if form != "term" and Path(file).suffix != f".{form}":
            raise ArgumentError(f"draw: expected a file like now.{form}, got {file!r}.")
        return form, file
    if len(given) == 1 and Path(given[0]).suffix:
        return Path(given[0]).suffix[1:], given[0]
    near = did_you_mean(given[0], FORMATS)
    raise ArgumentError(f"draw: got {' '.join(given)!r}. {near}Use {', '.join(FORMATS)}.")


def short_name(name: str, width: int) -> str:
    """Return a weight's name; a name that is too long loses the start of its layer's name.

    Examples
    --------
    >>> short_name("a_long_layer_1/kernel/momentum", 24)
    '...yer_1/kernel/momentum'
    """
    layer, slash, own = name.partition("/")
    excess = cell_len(name) - width
    if excess <= 0:
        return name
    kept = max(len(layer) - excess - len(DOTS), LEAST_NAME)
    return name if kept + len(DOTS) >= len(layer) else f"{DOTS}{layer[-kept:]}{slash}{own}"


def lines_of_table(rows: Iterable[Sequence[str]]) -> list[str]:
    """Return rows as lines with aligned columns.

    Examples
    --------
    >>> lines_of_table([("key", "value"), ("dense_1", "f32[2]")])
    ['key      value', 'dense_1  f32[2]']
    """
    listed = list(rows)
    widths = [max(map(cell_len, column)) for column in zip(*listed, strict=True)]
    return [
        "  ".join(padded(cell, width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in listed
    ]


def _pairs(found: Any) -> list[tuple[str, Any]]:
    """Return (name, value) pairs from a dict, or from a list.

    An item of a list that is not a pair gets its index as the name.
    """
    if isinstance(found, dict):
        return [(str(key), value) for key, value in found.items()]
    pairs = []
    for place, item in enumerate(found or ()):
        is_pair = isinstance(item, tuple) and len(item) == 2
        name, value = item if is_pair else (place, item)
        pairs.append((str(getattr(name, "name", name)), value))
    return pairs


def _rows_of(found: Any) -> Rows:
    return [(name, text_of_value(value)) for name, value in _pairs(found)]


def _tensor_words(value: Any) -> str:
    if not isinstance(value, tuple) or len(value) != 2:
        return text_of_value(value)
    array, mask = value
    if mask is None:
        return text_of_value(array)
    kept = np.count_nonzero(mask) if isinstance(mask, np.ndarray) else "?"
    of_all = f" of {mask.size}" if isinstance(mask, np.ndarray) else ""
    return f"{text_of_value(array)}  mask keeps {kept}{of_all}"
