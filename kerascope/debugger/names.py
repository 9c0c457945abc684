"""The names at a stop: those of the Keras source, of the event, of the script, and the user's own.

Inner ones hide outer ones of the same name::

    script's globals < model, K, np, norm, has_nan < names of the tape at t < e, t, ins, out < own
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kerascope import backend as K
from kerascope.debugger.session import Session
from kerascope.trace.snapshots import REFS
from kerascope.trace.stops import Stop


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
    session.stepper.extra_names = extra_names(session)
    found = session.stepper.names(None if stop is None else stop.t)
    names = {name: alive(session, value) for name, value in found.items()}
    if session.model is not None:
        names["model"] = session.model
    return {**session.script_names, **names, **own}


def extra_names(session: Session) -> dict[str, Any]:
    """Return the names that are the same at all times: for conditions too."""
    model = {} if session.model is None else {"model": session.model}
    return {"K": K, "np": np, **model}


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
