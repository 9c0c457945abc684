"""Random trees of spans, and the events of a life that looks like them."""

from hypothesis import strategies as st

from kerascope.trace.events import GRAINS, NOWHERE, Delta, Event, Where


def event(t=0, kind="op", ph="I", depth=0, name="x", grain=None, phase="", deltas=(), where=None):
    """An event with few words; its deltas may be a dict."""
    if grain is None:
        grain = {"op": "op", "node": "node", "update.apply": "node"}.get(kind, "phase")
    if isinstance(deltas, dict):
        deltas = tuple(Delta(name, None, value) for name, value in deltas.items())
    return Event(t, "fit", phase, kind, ph, depth, grain, name, Where(*(where or NOWHERE)), deltas)


def in_order(*events):
    """The same events with the times 0, 1, 2, ..."""
    names = ("act", "phase", "kind", "ph", "depth", "grain", "name", "where", "deltas")
    return [Event(t, *(getattr(e, name) for name in names)) for t, e in enumerate(events)]


def events_of(trees):
    """The events of spans in each other: a tree is (grain, children), or a grain for an instant."""
    events = []

    def add(ph, depth, grain, name):
        kinds = {"act": "fit", "phase": "forward", "node": "node", "op": "op", "detail": "mask"}
        events.append(Event(len(events), "fit", "", kinds[grain], ph, depth, grain, name))

    def walk(tree, depth, name):
        if isinstance(tree, str):
            add("I", depth, tree, name)
            return
        grain, children = tree
        add("B", depth, grain, name)
        for i, child in enumerate(children):
            walk(child, depth + 1, f"{name}.{i}")
        add("E", depth, grain, name)

    for i, tree in enumerate(trees):
        walk(tree, 0, str(i))
    return events


def trees(grains=GRAINS, least_children=0):
    """Lists of trees with at least one event."""
    grain = st.sampled_from(grains)
    tree = st.recursive(
        grain,
        lambda inner: st.tuples(grain, st.lists(inner, min_size=least_children, max_size=4)),
        max_leaves=15,
    )
    return st.lists(tree, min_size=1, max_size=4)


def lives(grains=GRAINS, least_children=0):
    """The events of random trees."""
    return trees(grains, least_children).map(events_of)
