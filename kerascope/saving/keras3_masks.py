"""Which masks in a graph of Keras 3 it handed on by itself, and which were given by hand.

Keras 3 writes both down alike: `mask=` of a call names a tensor. A mask that it handed on is made
anew by our engine and left out of a call; every other has to stay, or predictions are silently
wrong. So the way of each mask through the graph is followed here, and it is left out only where it
is certain to be the one that our engine finds there: where the same operations compute both from
the same tensors. In doubt it stays, with its operations: that is always right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from kerascope.saving.keras3_entries import Config, as_list, is_operation, is_tensor

Reference = tuple[Any, ...]

# Through these a mask passes unchanged, here and in Keras 3.
PASSING = frozenset(
    [
        *("Activation", "ActivityRegularization", "AlphaDropout", "BatchNormalization", "Dense"),
        *("Dropout", "ELU", "GaussianDropout", "GaussianNoise", "LayerNormalization", "LeakyReLU"),
        *("MultiHeadAttention", "PReLU", "ReLU", "Rescaling", "Softmax", "UnitNormalization"),
    ]
)

# These hand a mask on if they return whole sequences.
RECURRENT = frozenset(["Bidirectional", "GRU", "LSTM", "RNN", "SimpleRNN"])

MERGING = frozenset(["Add", "Average", "Maximum", "Minimum", "Multiply", "Subtract"])


class Computed(NamedTuple):
    """What an operation gives; equal to another if that computes the same."""

    operation: str
    arguments: list[Any]
    options: dict[str, Any]


UNKNOWN = object()  # equal to no mask: it is not known here what our engine finds


class MasksOfGraph:
    """The masks that the tensors of a graph carry, as Keras 3 and our engine hand them on.

    A mask is a reference, a `Computed`, None where there is none, or a list of these.

    Parameters
    ----------
    entries : list of dict
        The layers of a graph network in Keras 3's form.
    """

    def __init__(self, entries: list[Config]) -> None:
        self._entries = {entry["name"]: entry for entry in entries}
        self._carried: dict[Reference, Any] = {}

    def is_handed_on(self, whose: Any, given: Any) -> bool:
        """Tell whether an argument is the mask that another one carries anyway.

        Parameters
        ----------
        whose : object
            The argument whose mask it is: a tensor, or a list of them.
        given : object
            The argument called `mask`, or `value_mask`.
        """
        return bool(self._mask_of(whose) == self._computed(given))

    def _mask_of(self, value: Any) -> Any:
        if is_tensor(value):
            return self._carried_by(_reference(value))
        value = as_list(value)
        return [self._mask_of(item) for item in value] if isinstance(value, list) else None

    def _carried_by(self, reference: Reference) -> Any:
        if reference not in self._carried:
            self._carried[reference] = UNKNOWN  # a graph in a damaged file may have a cycle
            self._carried[reference] = self._found(*reference[:3])
        return self._carried[reference]

    def _found(self, name: str, node: int, place: int) -> Any:
        entry = self._entries[name]
        kind, config = entry["class_name"], entry.get("config") or {}
        calls = entry["inbound_nodes"]
        if is_operation(entry) or not calls:
            return None
        if not isinstance(calls[node], dict):
            return UNKNOWN
        kwargs = calls[node].get("kwargs") or {}
        inputs = (calls[node].get("args") or [None])[0]
        if kind == "Embedding":
            made = Computed("NotEqual", [self._computed(inputs), 0], {})
            return made if config.get("mask_zero") else None
        if kind == "Masking":
            differing = Computed(
                "NotEqual", [self._computed(inputs), config.get("mask_value", 0.0)], {}
            )
            return Computed("Any", [differing], {"axis": -1, "keepdims": False})
        given = kwargs.get("mask")
        mask = self._mask_of(inputs) if given is None else self._computed(given)
        if kind in MERGING and isinstance(mask, list):
            return _any_of(mask)
        if mask is None:
            return None
        if isinstance(mask, list) or place:
            return UNKNOWN
        return mask if _passes(kind, config) else UNKNOWN

    def _computed(self, value: Any) -> Any:
        """Return how a value is computed by operations out of the results of layers."""
        if isinstance(value, list):
            return [self._computed(item) for item in value]
        if not is_tensor(value):
            return value
        name, node, *_ = reference = _reference(value)
        entry = self._entries[name]
        if not is_operation(entry):
            return reference
        call = entry["inbound_nodes"][node]
        config = {key: item for key, item in (entry.get("config") or {}).items() if key != "name"}
        options = {**config, **(call.get("kwargs") or {})}
        return Computed(entry["class_name"], self._computed(call.get("args") or []), options)


def is_mask(name: str) -> bool:
    """Tell whether Keras 3 may have filled an argument by itself."""
    return name == "mask" or name.endswith("_mask")


def _reference(tensor: Config) -> Reference:
    return tuple(tensor["config"]["keras_history"])


def _any_of(masks: list[Any]) -> Any:
    """Return the mask of a sum or the like: what any of its inputs counts; none if one has none."""
    if any(mask is None for mask in masks):
        return None
    first, *others = masks
    for mask in others:
        first = Computed("LogicalOr", [first, mask], {})
    return first


def _passes(kind: str, config: Config) -> bool:
    """Tell whether the mask of a layer's only input is that of its output."""
    inner = config.get("layer")
    if kind == "TimeDistributed":
        return isinstance(inner, dict) and inner.get("class_name") in PASSING
    if kind == "Bidirectional":
        config = {**inner["config"], **config} if isinstance(inner, dict) else config
        if config.get("merge_mode") is None:
            return False
    if kind in RECURRENT:
        return bool(config.get("return_sequences")) and not config.get("return_state")
    return kind in PASSING
