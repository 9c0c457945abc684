"""Frames around ops: one for each call of a layer, and frames inside frames.

An op has the scope that was open when it was made, such as `encoder/wide`, and so the names of the
frames around it. The call of a layer that made it is not recorded. It is found in three ways:

- a Node has the inputs and outputs of its call, so the ops between them belong to that call;
- a call of a nested model copies the model's graph. If both graphs agree op by op, a copy gets the
  same frames as its original;
- otherwise, a layer's scope is opened for each call, and the ops made until it is closed belong to
  this call. Other scopes (a loss, a user's own scope, the gradients) are one frame for each name.

Frames must not form cycles; `acyclic_parts` splits those that would.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kerascope.backend.graph import Apply, Tensor, applies_in_order
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.engine.node import Node
from kerascope.viz.nesting import on_circles

# In this scope, the reverse sweep opens a layer's scope again for each of the layer's ops.
GRADIENTS = "gradients"


class FrameKey(NamedTuple):
    """Identifies a frame around ops: by its name, and a value for each call of that name."""

    name: str
    call: Hashable = None

    @property
    def node(self) -> Node | None:
        """The Node of the call that the frame is for, or None if it is unknown."""
        return self.call if isinstance(self.call, Node) else None

    @property
    def layer(self) -> Layer | None:
        """The layer whose call the frame is for, or None if it is unknown."""
        return self.node.outbound_layer if self.node is not None else None


Keys = dict[Apply, tuple[FrameKey, ...]]


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame around ops, drawn for one call or one scope.

    Attributes
    ----------
    key : FrameKey
    parent : Frame or None
    call, calls : int
        The number of this call, from 0, and how many calls in the graph have its name.
    part, parts : int
        The number of the part of the call that the frame shows, from 0, and the number of these
        parts. There are several if the frame was split, because it was on a cycle of arrows.
    """

    key: FrameKey
    parent: Frame | None
    call: int = 0
    calls: int = 1
    part: int = 0
    parts: int = 1

    @property
    def name(self) -> str:
        """The name of the frame within its parent, such as `shared@1`."""
        return self.key.name if self.calls == 1 else f"{self.key.name}@{self.call}"


def frames_of(applies: Sequence[Apply], keys: Keys) -> tuple[list[Frame], dict[Apply, Frame]]:
    """Return the frames, outer before inner, and the innermost frame of each op that has one.

    Parameters
    ----------
    applies : list of Apply
        In computation order.
    keys : dict of Apply to tuple of FrameKey
        The desired frames around each op, outermost first.
    """
    frames: list[Frame] = []
    frame_of: dict[Apply, Frame] = {}
    waiting: list[tuple[Frame | None, int, Sequence[Apply]]] = [(None, 0, applies)]
    while waiting:
        parent, level, members = waiting.pop()
        wanted: dict[Apply, Hashable] = {
            apply: keys[apply][level] if level < len(keys[apply]) else apply for apply in members
        }
        if all(key is apply for apply, key in wanted.items()):
            continue
        found: dict[FrameKey, dict[Hashable, list[Apply]]] = {}
        for apply, part in acyclic_parts(members, wanted).items():
            key = wanted[apply]
            if isinstance(key, FrameKey):
                found.setdefault(key, {}).setdefault(part, []).append(apply)
        deeper: list[tuple[Frame | None, int, Sequence[Apply]]] = []
        for key, (call, calls) in _numbers(list(found)).items():
            for number, inside in enumerate(found[key].values()):
                frame = Frame(key, parent, call, calls, number, len(found[key]))
                frames.append(frame)
                frame_of.update(dict.fromkeys(inside, frame))
                deeper.append((frame, level + 1, inside))
        waiting.extend(reversed(deeper))
    return frames, frame_of


def _numbers(keys: list[FrameKey]) -> dict[FrameKey, tuple[int, int]]:
    """Return the number of each frame's call, and how many calls have the same name.

    Calls of a layer are numbered in the order of their Nodes. If a call has no Node, they are
    numbered in the order of `keys`.
    """
    layers: dict[str, set[Layer | None]] = {}
    for key in keys:
        layers.setdefault(key.name, set()).add(key.layer)
    calls: dict[tuple[str, Layer | None], list[FrameKey]] = {}
    for key in keys:
        is_one_layer = len(layers[key.name] - {None}) < 2
        calls.setdefault((key.name, None if is_one_layer else key.layer), []).append(key)
    for same in calls.values():
        indices = {key: key.node.node_index for key in same if key.node is not None}
        if len(indices) == len(same):
            same.sort(key=indices.__getitem__)
    return {key: (number, len(same)) for same in calls.values() for number, key in enumerate(same)}


# --- the desired frames of each op ----------------------------------------------------------------


def keys_of(applies: Sequence[Apply]) -> Keys:
    """Return the keys of the frames to draw around each op, the outermost first.

    Parameters
    ----------
    applies : list of Apply
        In computation order.
    """
    nodes = _nodes_of(applies)
    owners, outer_nodes = _owners(applies, nodes)
    head_of = _heads(nodes, outer_nodes)
    copied = {apply: keys for node in nodes for apply, keys in _copied_keys(node).items()}
    nodes_by_name: dict[str, list[Node]] = {}
    for node in nodes:
        nodes_by_name.setdefault(node.outbound_layer.name, []).append(node)
    heads: dict[Apply, tuple[FrameKey, ...]] = {}
    rests: dict[Apply, tuple[str, ...]] = {}
    of_scope = {id(apply.scope): node for apply, node in owners.items() if _is_one_call(apply)}
    for apply in applies:
        owner = owners.get(apply) or of_scope.get(id(apply.scope))
        owner = owner or _side_owner(apply, nodes_by_name, owners)
        scope = apply.scope.name
        if owner is None:
            heads[apply], rests[apply] = (), _names(scope)
            continue
        owners[apply] = owner
        heads[apply] = head_of[owner]
        rests[apply] = _names(_split(scope, owner.outbound_layer.name)[1])
    has_deeper = {
        (heads[apply], names[:length])
        for apply, names in rests.items()
        for length in range(len(names))
    }
    keys: Keys = {}
    for apply, names in rests.items():
        inner: tuple[FrameKey, ...] = tuple(FrameKey(name) for name in names)
        if _is_one_call(apply) and names and (heads[apply], names) not in has_deeper:
            inner = (*inner[:-1], FrameKey(names[-1], id(apply.scope)))
        keys[apply] = heads[apply] + copied.get(apply, inner)
    return _without_lone_scopes(keys)


def _without_lone_scopes(keys: Keys) -> Keys:
    """Return the frame keys; a scope and its only inner scope become one key: `update/bias`."""
    inside: dict[tuple[FrameKey, ...], set[FrameKey | None]] = {}
    for own in keys.values():
        for length in range(len(own) + 1):
            inside.setdefault(own[:length], set()).add((*own, None)[length])
    shorter: dict[tuple[FrameKey, ...], tuple[FrameKey, ...]] = {}
    for own in dict.fromkeys(keys.values()):
        merged: list[FrameKey] = []
        for level, key in enumerate(own):
            is_lone = bool(merged) and merged[-1].call is None and len(inside[own[:level]]) == 1
            if is_lone and key.node is None:
                merged[-1] = FrameKey(f"{merged[-1].name}/{key.name}", key.call)
            else:
                merged.append(key)
        shorter[own] = tuple(merged)
    return {apply: shorter[own] for apply, own in keys.items()}


def _names(scope: str) -> tuple[str, ...]:
    return tuple(name for name in scope.split("/") if name)


def _is_one_call(apply: Apply) -> bool:
    """Return whether an op was made in the scope of a layer's call, outside the reverse sweep."""
    return apply.scope.made_at is not None and _names(apply.scope.name)[:1] != (GRADIENTS,)


def _split(scope: str, layer_name: str) -> tuple[str, str]:
    """Return the parts of a scope's name before and after the name of a layer."""
    around, found, rest = f"/{scope}/".partition(f"/{layer_name}/")
    return (around.strip("/"), rest.strip("/")) if found else ("", scope)


def _nodes_of(applies: Sequence[Apply]) -> list[Node]:
    """Return the calls whose outputs the given ops compute, in computation order."""
    found = [_node_of(y) for apply in applies for y in apply.outputs]
    return list(dict.fromkeys(node for node in found if node is not None))


def _node_of(y: Tensor) -> Node | None:
    """Return the call that made a tensor; None if no call made it or the call was undone."""
    history = y._keras_history
    if history is None or history.node_index >= len(history.layer.inbound_nodes):
        return None
    return history.node if y in history.node.output_tensors else None


def _heads(nodes: Sequence[Node], outer: dict[Node, Node]) -> dict[Node, tuple[FrameKey, ...]]:
    """Return, for each call, the `FrameKey`s of the frames around its ops, outermost first."""
    heads: dict[Node, tuple[FrameKey, ...]] = {}
    for node in reversed(nodes):  # the calls around it come later
        owner = node.output_tensors[0].owner
        around = _split(owner.scope.name, node.outbound_layer.name)[0] if owner else ""
        head: tuple[FrameKey, ...] = ()
        if node in outer:
            head = heads[outer[node]]
            around = _split(around, outer[node].outbound_layer.name)[1]
        names = tuple(FrameKey(name) for name in _names(around))
        heads[node] = (*head, *names, FrameKey(node.outbound_layer.name, node))
    return heads


def _owners(
    applies: Sequence[Apply], nodes: Sequence[Node]
) -> tuple[dict[Apply, Node], dict[Node, Node]]:
    """Return the innermost call around each op, and the call around each inner call.

    An op belongs to a call if it is between the inputs and outputs of this call. If the body of a
    layer calls other layers on its inputs, these inner calls have Nodes, too.
    """
    owners: dict[Apply, Node] = {}
    outer_nodes: dict[Node, Node] = {}
    inside = set(applies)
    for node in nodes:
        fed = {*node.input_tensors, *node.input_masks}
        waiting = [x for x in (*node.output_tensors, *node.output_masks) if x is not None]
        while waiting:
            x = waiting.pop()
            apply = x.owner
            if x in fed or apply is None or apply not in inside or not apply.scope.name:
                continue
            if apply not in owners:
                owners[apply] = node
                waiting.extend(apply.inputs)
                continue
            other = owners[apply]
            is_outside = other is node or other in outer_nodes
            if not is_outside and _is_inside(apply.scope.name, other, node):
                outer_nodes[other] = node
                waiting.extend(other.input_tensors)
    return owners, outer_nodes


def _is_inside(scope: str, node: Node, outer: Node) -> bool:
    """Return whether the scope of a call was opened inside the scope of another call."""
    around = _split(scope, node.outbound_layer.name)[0]
    return f"/{outer.outbound_layer.name}/" in f"/{around}/"


def _side_owner(
    apply: Apply, nodes: dict[str, list[Node]], owners: dict[Apply, Node]
) -> Node | None:
    """For an op that no output needs, such as a penalty, return the call that made it, or None."""
    names = _names(apply.scope.name)
    candidates = nodes.get(names[0], []) if names else []
    if len(candidates) < 2:
        return candidates[0] if candidates else None
    before = [owners.get(x.owner) for x in apply.inputs if x.owner is not None]
    return next((node for node in before if node in candidates), None)


def _copied_keys(node: Node) -> Keys:
    """Return, for a call of a nested model, the keys of the frames around each copied op."""
    if node.begins:
        return {}
    masks = [mask for mask in node.input_masks if mask is not None]
    copies = copies_of(node.outbound_layer, [*node.input_tensors, *masks], node.output_tensors)
    keys = keys_of([*copies])
    return {copy: keys[apply] for apply, copy in copies.items()}


def copies_of(
    layer: Layer, inputs: Sequence[Tensor], outputs: Sequence[Tensor]
) -> dict[Apply, Apply]:
    """Return for each op of a nested model the copy that a call made; {} if unknown.

    Parameters
    ----------
    layer : Layer
        Only networks with a graph copy ops.
    inputs, outputs : list of Tensor
        The inputs of the call, including masks, and its outputs.
    """
    if not isinstance(layer, Network) or not layer._is_graph_network:
        return {}
    copies = applies_in_order(outputs, inputs)
    originals = applies_in_order(layer.outputs, layer.inputs)
    if [type(apply.op) for apply in copies] != [type(apply.op) for apply in originals]:
        return {}
    return dict(zip(originals, copies, strict=True))


def without_common_keys(keys: Keys) -> Keys:
    """Return the keys of the frames around each op, without outer frames that all ops share."""
    if not keys:
        return keys
    common = min(map(len, keys.values()))
    first = next(iter(keys.values()))
    while any(own[:common] != first[:common] for own in keys.values()):
        common -= 1
    return {apply: own[common:] for apply, own in keys.items()}


# --- frames that would form cycles ----------------------------------------------------------------
#
# Frames around ops must not form cycles: if ops of A feed B and ops of B feed A, neither can be
# drawn above the other. The gradients of two layers can do this, because the reverse sweep
# alternates between the layers.
#
# At each level of nesting, cycles are split in up to three steps. Each step splits the frames that
# are still on a cycle:
#
# 1. by returns: how often a path to an op has re-entered the op's own frame. This separates the
#    calls of a shared layer;
# 2. by connected pieces;
# 3. by turns: how often a path to an op crosses from one frame into another. Then an arrow between
#    two frames always leads to a later turn, so no cycle can remain.

Parts = dict[Apply, Hashable]

# Counting returns takes one pass per frame on a cycle. It is skipped if that is too much work.
MOST_STEPS = 2_000_000


def acyclic_parts(applies: Sequence[Apply], wanted: Parts) -> Parts:
    """Return a part (a set of ops) for each op, so that arrows between parts form no cycle.

    Parameters
    ----------
    applies : list of Apply
        In computation order.
    wanted : dict of Apply to object
        The desired part of each op. It is kept unless it is on a cycle.
    """
    parts = wanted
    for cut in (_returns, _pieces, _turns):
        tangled = _tangled(applies, parts)
        if not tangled:
            break
        finer = cut(applies, parts, tangled)
        parts = {
            apply: (part, finer[apply]) if part in tangled else part
            for apply, part in parts.items()
        }
    return parts


def _sources(apply: Apply, inside: Parts) -> list[Apply]:
    return [x.owner for x in apply.inputs if x.owner is not None and x.owner in inside]


def _tangled(applies: Sequence[Apply], parts: Parts) -> set[Hashable]:
    """Return the parts (sets of ops) that are on a cycle of arrows."""
    after: dict[Hashable, set[Hashable]] = {parts[apply]: set() for apply in applies}
    for apply in applies:
        for source in _sources(apply, parts):
            if parts[source] != parts[apply]:
                after[parts[source]].add(parts[apply])
    numbers = dict.fromkeys(after, 0)
    for targets in after.values():
        for target in targets:
            numbers[target] += 1
    ready = [part for part, number in numbers.items() if not number]
    while ready:
        for target in after.pop(ready.pop()):
            numbers[target] -= 1
            if not numbers[target]:
                ready.append(target)
    return on_circles(after) if after else set()


def _returns(applies: Sequence[Apply], parts: Parts, tangled: set[Hashable]) -> Parts:
    """Return, for each op, the most times that a path to it re-enters its part (a set of ops)."""
    inside = [apply for apply in applies if parts[apply] in tangled]
    returns: Parts = dict.fromkeys(applies, 0)
    if len(inside) * len(tangled) > MOST_STEPS:
        return returns
    for part in tangled:
        # For an op outside the part: the maximum over the part's ops before it, or -1.
        counts: dict[Apply, int] = {}
        for apply in inside:
            is_in_part = parts[apply] == part
            before = [
                counts[source] + (is_in_part and parts[source] != part)
                for source in _sources(apply, parts)
                if source in counts
            ]
            counts[apply] = max(before, default=0 if is_in_part else -1)
            if is_in_part:
                returns[apply] = counts[apply]
    return returns


def _pieces(applies: Sequence[Apply], parts: Parts, tangled: set[Hashable]) -> Parts:
    """Split parts (sets of ops) into connected pieces; return the number of each op's piece."""
    above: dict[Apply, Apply] = {apply: apply for apply in applies}

    def first(apply: Apply) -> Apply:
        while above[apply] is not apply:
            above[apply] = above[above[apply]]
            apply = above[apply]
        return apply

    for apply in applies:
        for source in _sources(apply, parts):
            if parts[source] == parts[apply]:
                above[first(apply)] = first(source)
    numbers: dict[Apply, int] = {}
    return {apply: numbers.setdefault(first(apply), len(numbers)) for apply in applies}


def _turns(applies: Sequence[Apply], parts: Parts, tangled: set[Hashable]) -> Parts:
    """Return, for each op, how often the longest path to it enters another part (set of ops)."""
    turns: dict[Apply, int] = {}
    for apply in applies:
        sources = _sources(apply, parts)
        turns[apply] = max(
            (turns[source] + (parts[source] != parts[apply]) for source in sources), default=0
        )
    return dict(turns)
