"""The names at a stop: those of the Keras source, of the event, of the script, and the user's own.

Inner ones hide outer ones of the same name::

    script's globals < K, np, norm, has_nan < names of the tape at t < e, t, ins, out < model < own

Conditions and watches know them too; there a name of the tape or the event hides your own.

Where a program failed, the local variables of the script's frame come after its globals. At a line
of the program itself, where `set_trace` stands, its names hide all others but the user's own.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping, MutableMapping
from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.debugger.failing import names_of_failure
from kerascope.debugger.session import Session
from kerascope.registry import did_you_mean
from kerascope.trace.snapshots import REFS
from kerascope.trace.stepper import Stop

LIVES_IN = {
    "build_map": "tensor node layer node_index tensor_index nodes_in_progress layer_indices",
    "build_map of dialect 1": "seen_nodes",
    "depth_sort": "nodes_depths layers_depths",
    "check_graph": "nodes_by_depth layers_by_depth depth_keys",
    "run_internal_graph": "computed_data computed_tensors output_tensors",
    "forward": "tensor_map depth",
    "compile": "total_loss loss_list",
    "opt.param and update.param": "p g m v new_p",
    "get_updates": "lr params grads loss updates",
    "train_function": "inputs outputs",
}


def names_at_stop(session: Session, stop: Stop | None, own: dict[str, Any]) -> dict[str, Any]:
    """Return the names that an expression may use at a stop.

    Parameters
    ----------
    session : Session
    stop : Stop or None
    own : dict
        What the user assigned at the prompt.

    Notes
    -----
    Where a living layer, tensor or node is known, it stands for its description. Arrays are views
    that cannot be written into: to change one is what `set` is for.
    """
    extra = session.stepper.extra_names = extra_names(session, own)
    found = session.stepper.names(None if stop is None else stop.t)
    names: dict[str, Any] = {
        name: value if value is extra.get(name) else alive(session, value)
        for name, value in found.items()
    }
    unheard = written_unheard(session)
    if unheard and "weights" in names:
        names["weights"] = {**names["weights"], **alive(session, unheard)}
    if session.model is not None:
        names["model"] = session.model
    if stop is not None and session.has_failed and session.time_of_failure() in (None, stop.t):
        names = {**names_of_failure(session), **names}
    frame = session.frame_at(stop)
    if frame is not None:
        names.update(frame.f_globals)
        names.update(frame.f_locals)
    return {**session.script_names, **names, **own}


def written_unheard(session: Session) -> dict[str, np.ndarray]:
    """Return the weights that were written since the last event, as `K.set_value` does.

    The tape will tell of them when the next call of a function begins.
    """
    recorder = session.recorder
    if recorder is None or session.tape is not recorder.tape:
        return {}
    if session.stepper.now < len(recorder.tape) - 1:
        return {}
    told = recorder.memory.values.items()
    return {v.name: now for v, was in told if (now := v.get_value(borrow=True)) is not was}


def extra_names(session: Session, own: dict[str, Any]) -> MutableMapping[str, Any]:
    """Return the names that are there at all times, for conditions and watches too; live."""
    model = {} if session.model is None else {"model": session.model}
    return ChainMap({"K": K, "np": np, **model}, own, session.script_names)


def alive(session: Session, value: Any) -> Any:
    """Return living objects for descriptions, as far as they live, and arrays to be read only."""
    if isinstance(value, REFS):
        found = None if session.recorder is None else session.recorder.describer.live(value)
        return value if found is None else found
    if isinstance(value, np.ndarray):
        view = value.view()
        view.flags.writeable = False
        return view
    if type(value) in (list, tuple):
        return type(value)(alive(session, item) for item in value)
    if type(value) is dict:
        return {key: alive(session, item) for key, item in value.items()}
    return value


def hint_for(name: str, names: Mapping[str, Any]) -> str:
    """Return where a name lives that is none here, or a name that was meant; else nothing.

    Examples
    --------
    >>> hint_for("nodes_depths", {})
    'It lives in depth_sort.'
    >>> hint_for("laier", {"layer": None})
    "Did you mean 'layer'?"
    >>> hint_for("dense_1", {"tensor_map": {"dense_1": None}})
    "Its output is tensor_map['dense_1']."
    """
    for scope, of_scope in LIVES_IN.items():
        if name in of_scope.split():
            return f"It lives in {scope}."
    if name in (names.get("tensor_map") or ()):
        return f"Its output is tensor_map[{name!r}]."
    if any(layer.name == name for layer in getattr(names.get("model"), "layers", ())):
        return f"The layer is model.get_layer({name!r})."
    return did_you_mean(name, names).rstrip()
