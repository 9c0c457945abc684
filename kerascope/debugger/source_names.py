"""Names of the Keras source that exist at a stop but are not on the tape.

`self` is the object whose method is running: the called layer, the network that is mapped or run,
the optimizer that builds its updates, otherwise the model. `v` and `new_v`, also `nv`, are the two
items of an update pair, at events that have one. `inputs` are the inputs of the train function
being made. These names hide equal names of the script, as local variables do. Equal names on the
tape hide them.
"""

from __future__ import annotations

from typing import Any

from kerascope.debugger.session import Session
from kerascope.engine.base_layer import Layer
from kerascope.trace.events import Event
from kerascope.trace.history import value_of_event

OF_LAYERS = ("layer.init", "layer.call", "layer.build", "node")
OF_NETWORKS = ("build_map", "depth_sort", "check_graph", "run_internal_graph")
OF_OPTIMIZERS = (
    "get_updates",
    "opt.param",
    "gradients",
    "update.pair",
    "slot.create",
    "update.dup",
)
PAIRS = ("update.pair", "update.dup", "update.apply")
MAKING = "make_train_function"


def names_of_source(session: Session, event: Event, names: dict[str, Any]) -> dict[str, Any]:
    """Return the names of the Keras source at an event, with their values.

    Parameters
    ----------
    session : Session
    event : Event
    names : dict
        The names on the tape at this time, with live objects in place of descriptions.
    """
    recorder = session.recorder
    if recorder is None:
        return {}
    spans = [*session.tape.spans_at(event.t), event]
    found = {"self": _self_object(spans, names)}
    if event.kind in PAIRS:
        variables = [v for v in recorder.memory.values if v.name == event.name]
        new = value_of_event(event, "new_v", "new")
        pairs = [d.value for d in event.deltas if d.name == "updates"]
        new = pairs[0][1] if new is None and pairs else new
        new = new if recorder.describer.live(new) is None else recorder.describer.live(new)
        found.update(v=variables[0] if len(variables) == 1 else None, new_v=new, nv=new)
    if event.name == MAKING:
        found["inputs"] = getattr(names.get("model"), "_inputs_with_targets", None)
    return {name: value for name, value in found.items() if value is not None}


def _self_object(spans: list[Event], names: dict[str, Any]) -> Any:
    """Return the object that `self` names at an event: the one whose method is running.

    Return None if it is not known or was deleted.
    """
    for span in reversed(spans):
        if span.kind in OF_LAYERS:
            layer = names.get("layer")
            return layer if isinstance(layer, Layer) else None
        if span.kind in OF_OPTIMIZERS:
            return getattr(names.get("model"), "optimizer", None)
        if span.kind in OF_NETWORKS:
            network = names.get("network")
            return network if isinstance(network, Layer) else None
        if span.grain in ("act", "phase"):
            model = names.get("model")
            return model if isinstance(model, Layer) else None
    return None
