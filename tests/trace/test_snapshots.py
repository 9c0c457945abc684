import gc

import numpy as np

from kerascope.layers import Dense, Input
from kerascope.models import Model
from kerascope.trace.snapshots import (
    REMOVED,
    Describer,
    ErrorRef,
    LayerRef,
    NodeRef,
    TensorRef,
    error_ref,
    same,
)


def test_descriptions_say_the_same_of_the_same_model_built_again():
    def described():
        x = Input((3,), name="x")
        layer = Dense(2, name="d")
        model = Model(x, layer(x), name="m")
        describe = Describer().describe
        return [describe(thing) for thing in (x, layer, layer.inbound_nodes[0], model)]

    assert described() == described() == [
        TensorRef("x", (None, 3), "float32"),
        LayerRef("d", "Dense"),
        NodeRef("d_ib-0", "d", 0),
        LayerRef("m", "Model"),
    ]  # fmt: skip


def test_a_snapshot_is_deep_and_holds_no_live_object():
    describer = Describer()
    x = Input((3,), name="x")
    layer = Dense(2, name="d")
    y = layer(x)
    array = np.zeros(2)
    live = {"map": {x: (y, None)}, "nodes": [layer.inbound_nodes[0]], "seen": {layer}, "a": array}
    taken = describer.snapshot(live)
    live["map"].clear()
    live["nodes"].append(None)
    array[:] = 1
    assert taken["map"] == {"x": (describer.ref(y), None)}
    assert taken["nodes"] == [NodeRef("d_ib-0", "d", 0)]
    assert taken["seen"] == ["d"]
    np.testing.assert_array_equal(taken["a"], [0, 0])
    assert describer.snapshot({x: 1}, {x: "input"}) == {"input": 1}


def test_keys_tell_tensors_of_one_name_apart():
    describer = Describer()
    shared = Dense(3, name="shared")
    first = shared(Input((3,)))
    second = shared(first)
    assert first.name == second.name
    assert [describer.key(t) for t in (first, second, first)] == [
        first.name, f"{first.name}~2", first.name
    ]  # fmt: skip


def test_a_description_leads_back_to_its_object_as_long_as_that_lives():
    describer = Describer()
    layer = Dense(2, name="d")
    ref = describer.ref(layer)
    assert describer.live(ref) is layer
    assert describer.live([(ref, 3)]) == [(layer, 3)]
    assert describer.live({"a": ref})["a"] is layer
    assert describer.live(LayerRef("d", "Dense")) is None  # a description it has not made
    del layer
    gc.collect()
    assert describer.live(ref) is None


def test_errors_are_described_by_their_first_line():
    assert error_ref(ValueError("a\nb")) == ErrorRef("ValueError", "a")
    assert error_ref(KeyboardInterrupt()) == ErrorRef("KeyboardInterrupt", "")
    assert error_ref(None) == ErrorRef("abandoned", "")


def test_same_compares_arrays_bit_for_bit():
    assert same(np.array([np.nan]), np.array([np.nan]))
    assert not same(np.array([0.0]), np.array([-0.0]))
    assert not same(np.zeros(2, "float32"), np.zeros(2))
    assert same(float("nan"), float("nan"))
    assert not same(1, 1.0)
    assert not same({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert same(REMOVED, REMOVED)
    assert not same((1,), [1])
