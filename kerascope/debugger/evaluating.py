"""Python typed at the prompt: expressions and statements evaluated with the names at the stop.

These names come from the Keras source, the event, the script, and assignments at the prompt.
"""

from __future__ import annotations

import ast
import builtins
from collections import ChainMap, Counter
from collections.abc import Callable, Mapping, MutableMapping
from contextlib import redirect_stdout
from functools import partial
from typing import IO, Any, TypeGuard

import numpy as np

from kerascope import backend as K
from kerascope.backend.function import Function
from kerascope.backend.graph import Constant, Tensor, leaves
from kerascope.backend.schedule import Schedule, is_needed
from kerascope.backend.variables import Variable
from kerascope.debugger.places import names_of_failure
from kerascope.debugger.session import Session
from kerascope.debugger.source_names import names_of_source
from kerascope.errors import ArgumentError
from kerascope.nested_values import found_in, replaced
from kerascope.registry import did_you_mean
from kerascope.trace.events import BEGIN, FORGOTTEN
from kerascope.trace.expressions import (
    names_of_event,
    value_named,
    values_named,
    with_stand_ins,
)
from kerascope.trace.forks import Fork, begin_of_call, next_row
from kerascope.trace.history import value_of_event
from kerascope.trace.recorder import Recorder
from kerascope.trace.recorder_function import FunctionRecorder
from kerascope.trace.snapshots import REFS, TensorRef
from kerascope.trace.statistics import NUMBERS, Statistics
from kerascope.trace.stepper import Stop
from kerascope.trace.tape_memory import describe_mark
from kerascope.trace.timelines import restored, variables_of

# --- the names at a stop --------------------------------------------------------------------------
# If two of these have the same name, the later one hides the earlier one::
#
# script's globals < K, np, norm, has_nan < names of the tape at t < e, t, ins, out < model < own
#
# Conditions and watches use the same names; in them, names of the tape or event hide your own.
#
# Names that are in none of these are looked up among the tensors, layers and weights, with the
# names that `set` accepts: `dense_1/kernel`, `input_1` (see `trace/expressions.py`).
#
# Where a program failed, the local variables of the script's frame come after its globals. At a
# line of the program itself (`set_trace`), the line's names hide all others but the user's own.


LIVES_IN = {
    "build_map": "tensor node layer node_index tensor_index nodes_in_progress layer_indices",
    "build_map of dialect 1": "seen_nodes",
    "depth_sort": "nodes_depths layers_depths",
    "check_graph": "nodes_by_depth layers_by_depth depth_keys",
    "run_internal_graph": "computed_data computed_tensors output_tensors",
    "forward": "tensor_map depth",
    "compile": "total_loss loss_list",
    "opt.param and update.param": "p g m v new_p",
    "event:update.pair and event:update.apply": "new_v nv",
    "get_updates": "lr params grads loss updates",
    "train_function": "inputs outputs",
}


class CustomNames:
    """A value whose items have names that Python cannot parse, such as `other.dense_1/kernel`."""

    def rewritten(self, text: str) -> str:
        """Return a text in which Python can parse the names of the items; by default, unchanged."""
        return text


class NamesAtStop(dict[str, Any]):
    """The names at a stop, with their values; `find` looks up a tensor, layer or weight by name."""

    def __init__(self, names: Mapping[str, Any], find: Callable[[str], Any]) -> None:
        super().__init__(names)
        self.find = find


def names_at_stop(session: Session, stop: Stop | None, own: dict[str, Any]) -> NamesAtStop:
    """Return the names that an expression may use at a stop, with their values.

    Parameters
    ----------
    session : Session
    stop : Stop or None
        None before the first stop.
    own : dict
        The names that the user assigned at the prompt, with their values.

    Notes
    -----
    Where the tape has only the description of a layer, tensor or node, the value is the live
    object if it still exists. Arrays are read-only views, because only `set` may change them.
    """
    extra = session.stepper.extra_names = extra_names(session, own)
    found = session.stepper.names(None if stop is None else stop.t)
    names: dict[str, Any] = {
        name: value if value is extra.get(name) else living(session, value)
        for name, value in found.items()
    }
    written = unrecorded_writes(session)
    if written and "weights" in names:
        names["weights"] = {**names["weights"], **living(session, written)}
    of_tape = {k: v for k, v in names.items() if v is not session.script_names.get(k)}
    if stop is not None and stop.event is not None:
        names.update(names_of_source(session, stop.event, names))
    if stop is not None and session.has_failed and session.time_of_failure() in (None, stop.t):
        names.update(names_of_failure(session))
    names.update(of_tape)
    if session.model is not None:
        names["model"] = session.model
    frame = session.frame_at(stop)
    if frame is not None:
        names.update(frame.f_globals)
        names.update(frame.f_locals)
    t = -1 if stop is None else min(stop.t, len(session.tape) - 1)
    recorder = session.recorder

    def find(name: str) -> Any:
        namesakes = 0 if recorder is None else [v.name for v in recorder.memory.values].count(name)
        if namesakes > 1:
            raise ArgumentError(
                f"{namesakes} variables have the name {name!r}: see `info weights`."
            )
        found = written.get(name)
        return living(session, value_named(session.tape, name, t) if found is None else found)

    for name in ("norm", "has_nan"):
        if name in names:
            names[name] = partial(_applied_to_array, names[name], name, find)
    return NamesAtStop({**session.script_names, **names, **own}, find)


def _applied_to_array(
    function: Callable[[Any], Any], name: str, find: Callable[[str], Any], value: Any
) -> Any:
    """Apply a function to a value; if it is a symbolic tensor, apply it to the tensor's array.

    Raises
    ------
    ArgumentError
        The tensor has no array at the stop. A condition that raises this error counts as false.
    """
    if isinstance(value, (Tensor, TensorRef)):
        array = find(value.name)
        if not isinstance(array, NUMBERS):
            raise ArgumentError(
                f"{name}: {value.name} is a symbol, and has no numbers here. Go to a time where it "
                "has, or use `pv` to compute them."
            )
        value = array
    return function(value)


def unrecorded_writes(session: Session) -> dict[str, np.ndarray]:
    """Return the values of the variables written since the last event, by variable name.

    `K.set_value` writes such values. The tape records them when the next function call begins.
    """
    recorder = session.recorder
    if recorder is None or session.tape is not recorder.tape:
        return {}
    if session.stepper.now < len(recorder.tape) - 1:
        return {}
    recorded = recorder.memory.values.items()
    return {v.name: now for v, was in recorded if (now := v.get_value(borrow=True)) is not was}


def values_of_namesakes(session: Session, t: int) -> dict[str, dict[str, tuple[Any, Any]]]:
    """Return the values of variables that share a name, by the variable's and the model's name.

    For example, the optimizers of two models both have a learning rate named "lr". The tape cannot
    distinguish their values, so these come from the journal. Variables that share a name inside
    one model are left out.

    Returns
    -------
    dict of str to dict of str to (object, object)
        The value when the last function call before time `t` began, and the value at `t`; None
        for an unknown value.
    """
    recorder, found = session.recorder, dict[str, dict[str, tuple[Any, Any]]]()
    counts = Counter(v.name for v in recorder.memory.values) if recorder is not None else Counter()
    shared = [v for v in recorder.memory.values if counts[v.name] > 1] if recorder else []
    if recorder is None or not shared:
        return found
    old, new = _values_around(session, recorder, t, shared)
    if session.tape is recorder.tape and t >= len(recorder.tape) - 1:
        new = {v: v.get_value(borrow=True) for v in shared}
    for v in shared:
        owner = ", ".join(model.name for model in recorder.memory.models_of(v)) or "no model"
        if owner in found.get(v.name, {}):
            counts[v.name] = 0  # two in one model
        elif v in new:
            found.setdefault(v.name, {})[owner] = (old.get(v), new[v])
    return {name: values for name, values in found.items() if counts[name]}


def _values_around(
    session: Session, recorder: Recorder, t: int, variables: list[Variable]
) -> tuple[dict[Variable, Any], dict[Variable, Any]]:
    """Return the values of variables when the last function call began, and those at time `t`."""
    is_live = session.tape is recorder.tape
    for call in reversed(recorder.observers if is_live else []):
        if isinstance(call, FunctionRecorder) and call.began_at <= t:
            then = {v: call.old.get(v, v.get_value(borrow=True)) for v in variables}
            return then, _recorded_since(session, call.began_at, t, call.function, then)
    fork = session.timelines.current.fork
    journal = recorder.journal if fork is None else fork.journal
    n = next_row(journal, session.tape, t + 1) - 1
    if n < 0:
        return {}, {}
    try:
        values = journal.values_before(n)
    except ArgumentError:  # too little is kept to compute them
        return {}, dict.fromkeys(variables)
    known = {v for function in journal.called_until(n) for v in variables_of(function)}
    then = {v: values[v] for v in variables if v in known and v in values}
    run, first, end = journal.place_of(n)
    begin = begin_of_call(session.tape, first, end)
    return then, _recorded_since(session, begin, t, run.function, then)


def _recorded_since(
    session: Session, begin: int, t: int, function: Function, then: dict[Variable, Any]
) -> dict[Variable, Any]:
    """Return the value of each variable at time `t`.

    This is the last value in the events from `begin` to `t`. A variable without such an event has
    its value in `then`, the values at `begin`.
    """
    recorded = {
        delta.key: delta.value
        for event in session.tape[begin : t + 1]
        for delta in event.deltas
        if delta.name == "weights"
    }
    own = set(variables_of(function))
    return {v: recorded.get(v.name, value) if v in own else value for v, value in then.items()}


def extra_names(session: Session, own: dict[str, Any]) -> MutableMapping[str, Any]:
    """Return the names that exist at every stop, such as `model` and `K`, with their values.

    The mapping is a live view, and conditions of breakpoints use it as well.
    """
    model = {} if session.model is None else {"model": session.model}
    return ChainMap({"K": K, "np": np, **model}, own, session.script_names)


def living(session: Session, value: Any) -> Any:
    """Return a value in which live objects replace their descriptions, and arrays are read-only."""

    def living_one(one: Any) -> Any:
        if isinstance(one, np.ndarray):
            view = one.view()
            view.flags.writeable = False
            return view
        found = None if session.recorder is None else session.recorder.describer.live(one)
        return one if found is None else found

    return replaced(value, (*REFS, np.ndarray), living_one)


def hint_for(name: str, names: Mapping[str, Any]) -> str:
    """Return a hint for an unknown name: where the name exists, or a similar name; otherwise "".

    Examples
    --------
    >>> hint_for("nodes_depths", {})
    'It lives in depth_sort.'
    >>> hint_for("laier", {"layer": None})
    "Did you mean 'layer'?"
    """
    for scope, of_scope in LIVES_IN.items():
        if name in of_scope.split():
            return f"It lives in {scope}."
    if any(layer.name == name for layer in getattr(names.get("model"), "layers", ())):
        return f"The layer is model.get_layer({name!r})."
    return did_you_mean(name, names).rstrip()


# --- what a user types as Python ------------------------------------------------------------------


class _Exit:
    """The function `exit` at the debugger's Python prompts.

    Python's own `exit` closes the standard input, from which the debugger still reads.
    """

    def __repr__(self) -> str:
        return "Use exit() or Ctrl-D (i.e. EOF) to come back"

    def __call__(self, code: Any = None) -> None:
        raise SystemExit(code)


EXITS = {"exit": _Exit(), "quit": _Exit()}


def value_of(text: str, names: dict[str, Any], command: str) -> Any:
    """Return the value of a Python expression; an exception that Python raises is passed on.

    Raises
    ------
    ArgumentError
        The text is empty.
    NameError
        The name does not exist at the stop. The message says where it exists, if that is known.
    """
    if not text.strip():
        raise ArgumentError(f"{command}: expected a value. For example: `{command} tensor_map`.")
    for value in names.values():
        if isinstance(value, CustomNames):
            text = value.rewritten(text)
    text, names = with_tensors(text.strip(), names)
    try:
        return eval(compile(text, "<stdin>", "eval"), _with_builtins(names))
    except SyntaxError:
        _, missing = with_stand_ins(text, lambda name: "~" in name)
        if not missing:
            raise
        raise NameError(f"{next(iter(missing))!r} has no value. See `info tensors`.") from None
    except NameError as error:
        hint = hint_for(error.name or "", names)
        raise NameError(f"{error}. {hint}" if hint else str(error), name=error.name) from None


def with_tensors(text: str, names: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Replace tensor names in a text by Python names.

    Return the new text, and `names` with the values of the Python names added.
    """
    if not isinstance(names, NamesAtStop):
        return text, names
    plain, _ = with_stand_ins(text, lambda name: "~" in name)
    try:
        tree = ast.parse(plain)
    except (SyntaxError, ValueError):
        return text, names  # Python will say what is wrong
    asked = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    asked -= {node.id for node in ast.walk(tree) if _is_bound(node)}
    found = values_named(text, frozenset(asked), names, names.find)
    text, known = with_stand_ins(text, found.__contains__)
    named = {known.get(name, name): value for name, value in found.items()}
    return text, {**names, **named}


def _is_bound(node: ast.AST) -> TypeGuard[ast.Name]:
    """Return whether a node of Python's syntax tree is a name that is assigned, as by `for`."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def value_with_numbers(
    session: Session, text: str, names: dict[str, Any], own: dict[str, Any], command: str
) -> tuple[Any, str]:
    """Return the value of an expression, with arrays in place of statistics where possible.

    If only statistics of an array are kept, the function call runs again to compute the array.
    Everything that the tape has kept of the call must be equal in the second run.

    Returns
    -------
    object, str
        The value, and the reason why it still contains statistics; "" if it contains none.
    """
    try:
        value = value_of(text, names, command)
    except (AttributeError, TypeError, IndexError):
        text_asked, there = with_tensors(text.strip(), names)
        asked = compile(text_asked, "", "eval").co_names
        if not any(found_in(there.get(name), Statistics) for name in asked):
            raise
        value = value_of(text, _names_with_numbers(session, names, own, command), command)
    if not found_in(value, Statistics):
        return value, ""
    try:
        value = value_of(text, _names_with_numbers(session, names, own, command), command)
    except ArgumentError as why:
        return value, str(why).removeprefix(f"{command}: ")
    is_whole = not found_in(value, Statistics)
    return (
        value,
        "" if is_whole else "it is from another call (see `origin`), or one call exceeds `history`",
    )


def _names_with_numbers(
    session: Session, names: dict[str, Any], own: dict[str, Any], command: str
) -> dict[str, Any]:
    """Run the function call again; return the names at the stop with arrays, not statistics."""
    if session.recorder is None:
        raise ArgumentError(
            f"{command}: this tape has only statistics. The model is not here to be run again."
        )
    t = session.stepper.now
    current = session.timelines.current
    fork: Fork | None = current.fork
    recorder, rows_of = (session.recorder, None) if fork is None else (fork.recorder, fork.rows_of)
    again = restored(recorder, session.tape, t, command, current.overrides, rows_of)
    found = {**again.names_at(t), **names_of_event(again[t])}
    whole = {
        **names,
        **{name: living(session, value) for name, value in found.items() if value is not None},
        **own,
    }
    return NamesAtStop(whole, lambda name: living(session, value_named(again, name, t)))


def run_statement(
    text: str, names: dict[str, Any], show: Callable[[Any], None], out: IO[str]
) -> dict[str, Any]:
    """Run a Python statement; print the value of a statement that is an expression.

    Returns
    -------
    dict
        The names that the statement assigned.
    """
    text, names = with_tensors(text, names)
    space = _with_builtins(names)
    before = dict(space)
    try:
        code = compile(text, "<stdin>", "eval")
    except SyntaxError:
        code = compile(text, "<stdin>", "exec")
        with redirect_stdout(out):
            exec(code, space)
    else:
        with redirect_stdout(out):
            value = eval(code, space)
        if value is not None:
            show(value)
    return {
        name: value
        for name, value in space.items()
        if name != "__builtins__" and (name not in before or before[name] is not value)
    }


def deleted_by(text: str) -> list[str]:
    """Return the names that a Python statement deletes.

    Examples
    --------
    >>> deleted_by("del a, b; c = 1")
    ['a', 'b']
    """
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError):
        return []
    targets = [x for one in statements if isinstance(one, ast.Delete) for x in one.targets]
    return [x.id for x in targets if isinstance(x, ast.Name)]


def _with_builtins(names: dict[str, Any]) -> dict[str, Any]:
    return {**EXITS, **names, "__builtins__": builtins}


# --- pv -------------------------------------------------------------------------------------------


def probe(session: Session, value: Any, t: int, say: Callable[[str], None]) -> Any:
    """Return the value of a symbolic tensor on the last batch; return other values unchanged.

    Parameters
    ----------
    session : Session
    value : object
        A tensor, or a list of tensors.
    t : int
        The time: use the last batch before `t`, and the weights at `t`.
    say : callable
        Called with a note if the tape has not kept these weights and the present ones are used.

    Raises
    ------
    ArgumentError
        No batch has been fed to an input that the tensor needs, or the batch was dropped.
    """
    if type(value) in (list, tuple):
        return type(value)(probe(session, item, t, say) for item in value)
    if isinstance(value, TensorRef):
        raise ArgumentError(f"pv: {value.name} is only described here; the tensor itself is gone.")
    if not isinstance(value, Tensor):
        return value
    needed = [x for x in leaves([value]) if not isinstance(x, Variable | Constant)]
    fed = _fed(session, t)
    missing = [x.name for x in needed if not isinstance(fed.get(x), np.ndarray)]
    if missing:
        why = _why_missing(session, t, any(x in fed for x in needed))
        raise ArgumentError(f"pv: {value.name} needs {', '.join(missing)}. {why}")
    variables = [x for x in leaves([value]) if isinstance(x, Variable)]
    then = _values_then(session, variables, t)
    if len(then) < len(variables):
        say(f"with the present weights: the tape has not kept all weights of t={t}")
        then = {}
    return _computed(value, {x: fed[x] for x in needed}, then)


def _why_missing(session: Session, t: int, was_fed: bool) -> str:
    """Return why the tape has no batch from which a tensor can be computed, as a sentence."""
    if was_fed:
        return "Only statistics of the batch are kept. To keep more, begin with `set history 1GB`."
    marks = [event for event in session.tape[: t + 1] if event.kind == FORGOTTEN]
    if marks:
        return f"{describe_mark(marks[-1])}."
    return "No batch was fed to it up to here. Go on to the first batch: `unt forward`."


def _values_then(session: Session, variables: list[Variable], t: int) -> dict[Variable, np.ndarray]:
    """Return the arrays of variables at time `t`.

    At the last event of a program, these are the present values. At an earlier time, they are the
    arrays on the tape; for a variable that was never recorded, its present value. A variable is
    left out if the tape has no array of it at that time, or if another variable has the same name.
    """
    recorder = session.recorder
    if recorder is None or (session.tape is recorder.tape and t >= len(session.tape) - 1):
        return {v: v.get_value(borrow=True) for v in variables}
    weights = session.tape.names_at(t).get("weights", {})
    recorded = recorder.memory.values
    counts = Counter(v.name for v in recorded)
    found = {
        v: weights.get(v.name) if v in recorded else v.get_value(borrow=True)
        for v in variables
        if counts[v.name] < 2
    }
    return {v: np.asarray(a) for v, a in found.items() if isinstance(a, np.ndarray | np.generic)}


def _computed(
    tensor: Tensor, fed: dict[Tensor, np.ndarray], then: dict[Variable, np.ndarray]
) -> Any:
    """Compute a tensor's value. Unlike a function call, this does not advance random states."""
    schedule = Schedule(list(fed), [tensor])
    values = schedule.start(list(fed.values()))
    for slot, variable in schedule.variables:
        values[slot] = then.get(variable, values[slot])
    for step in schedule.steps:
        if step.guards and not is_needed(step.guards, values):
            continue
        result = step.perform(*[values[slot] for slot in step.inputs])
        results = [result] if len(step.outputs) == 1 else result
        for slot, array in zip(step.outputs, results, strict=True):
            values[slot] = array
    return values[schedule.results[0]]


def _fed(session: Session, t: int) -> dict[Tensor, Any]:
    """Return the inputs of the last function call up to time `t`: arrays or statistics, or {}."""
    for event in session.tape.back(t):
        if event.kind == "function" and event.ph == BEGIN and event.name in session.functions:
            arrays = value_of_event(event, "inputs") or ()
            tensors = session.functions[event.name].inputs
            if len(arrays) == len(tensors):
                fed = dict(zip(tensors, arrays, strict=True))
                return {x: _as_set(session, x, array, event.t, t) for x, array in fed.items()}
    return {}


def _as_set(session: Session, tensor: Tensor, array: Any, begun: int, t: int) -> Any:
    """Return the array of an input at time `t`: as `set` has changed it, otherwise as fed."""
    if not session.timelines.current.overrides:
        return array
    now = value_named(session.tape, tensor.name, t)
    is_another = begun < t and isinstance(now, np.ndarray) and np.shape(now) == np.shape(array)
    return now if is_another else array
