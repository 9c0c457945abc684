"""Tests the student's functions on tensors of an LSTM (three outputs) and of two other layers."""

from kerascope.layers import LSTM, Concatenate, Dense, Input
from kerascope.learn import check


def some_tensors():
    """Return tensors by name ("output 0 of call 1 of a"), and the names of the inputs of `join`."""
    a, b = (Input(shape=(3, 2), name=name) for name in "ab")
    reader, dense = LSTM(2, return_state=True, name="reader"), Dense(2, name="dense")
    found = {"output 0 of call 0 of a": a, "output 0 of call 0 of b": b}
    for call, x in enumerate((a, b)):
        for place, tensor in enumerate(reader(x)):
            found[f"output {place} of call {call} of reader"] = tensor
    for call, word in enumerate(("output 2 of call 0 of reader", "output 1 of call 1 of reader")):
        found[f"output 0 of call {call} of dense"] = dense(found[word])
    given = [
        "output 0 of call 1 of dense",
        "output 2 of call 1 of reader",
        "output 0 of call 0 of dense",
    ]
    found["output 0 of call 0 of join"] = Concatenate(name="join")([found[word] for word in given])
    return found, given


@check
def tensors_in_words(student):
    found, _ = some_tensors()
    made_by = student.function("made_by")
    for word, tensor in found.items():
        student.same("made_by(tensor)", made_by(tensor), word)


@check
def tensors_at_addresses(student):
    found, _ = some_tensors()
    tensor_at = student.function("tensor_at")
    for word, tensor in found.items():
        layer, node_index, tensor_index = tensor._keras_history
        at = tensor_at(layer, node_index, tensor_index)
        student.require(
            at is tensor,
            en=f"expected tensor_at({layer.name}, {node_index}, {tensor_index}) to be {word}, "
            f"yours is {named(at)}",
            zh=f"tensor_at({layer.name}, {node_index}, {tensor_index}) 应为 {word}，"
            f"你的是 {named(at)}",
        )


@check
def what_a_call_took_in(student):
    found, given = some_tensors()
    took_in = student.function("took_in")
    for word in ("output 0 of call 0 of a", "output 0 of call 0 of b"):
        student.same(f"took_in({word})", took_in(found[word]), [])
    for word, expected in (
        ("output 1 of call 1 of reader", ["output 0 of call 0 of b"]),
        ("output 0 of call 0 of join", given),
    ):
        student.order(f"took_in({word})", took_in(found[word]), expected)
    first = "output 0 of call 0 of dense"  # a layer that was called again later
    student.order(f"took_in({first})", took_in(found[first]), ["output 2 of call 0 of reader"])
    twice = Concatenate(name="twice")([found["output 0 of call 0 of a"]] * 2)
    expected = ["output 0 of call 0 of a"] * 2
    student.order("took_in(output 0 of call 0 of twice)", took_in(twice), expected)


def named(found):
    """Return how a message names the tensor that the student returned."""
    history = getattr(found, "_keras_history", None)
    if history is None:
        return getattr(found, "name", type(found).__name__)
    return f"output {history.tensor_index} of call {history.node_index} of {history.layer.name}"
