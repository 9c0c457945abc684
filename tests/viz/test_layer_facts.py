from kerascope import backend as K
from kerascope.engine.node_ids import calls_in
from kerascope.layers import (
    LSTM,
    RNN,
    Activation,
    BatchNormalization,
    Dense,
    GRUCell,
    Input,
    TimeDistributed,
)
from kerascope.models import Model, Sequential
from kerascope.viz.extract.layers import (
    WeightRegistry,
    facts_of,
    layer_attributes,
    parts_of_wrapper,
    shapes_text,
    tensor_attributes,
    wrapped_attributes,
)


def built(layer, *shape):
    layer(Input(shape))
    return layer


def test_weights_count_where_they_come_first():
    book, dense = WeightRegistry(), built(Dense(2), 3)
    assert book.enter(dense, "first") == {"parameters": 8, "shared_with": ""}
    assert book.enter(dense, "second") == {"parameters": 0, "shared_with": "first"}
    assert not book.has_more(dense)


def test_other_layers_with_the_same_weights_share_them():
    book, dense = WeightRegistry(), built(Dense(2), 3)
    twin = Sequential([Input((3,)), dense])
    book.enter(dense, "dense")
    assert book.enter(twin, "model") == {"parameters": 0, "shared_with": "dense"}


def test_half_of_the_weights_may_be_new():
    book, dense = WeightRegistry(), built(Dense(2), 3)
    model = Sequential([Input((3,)), dense, Dense(1)])
    book.enter(dense, "dense")
    assert book.has_more(model)
    assert book.enter(model, "model") == {"parameters": 3, "shared_with": ""}


def test_layers_without_weights_share_nothing():
    book, layer = WeightRegistry(), Activation("relu")
    assert book.enter(layer, "a") == book.enter(layer, "b") == {"parameters": 0, "shared_with": ""}


def test_frozen_and_moving_weights_count():
    layer = built(BatchNormalization(trainable=False), 3)
    assert WeightRegistry().enter(layer, "b")["parameters"] == 12
    assert layer_attributes(layer)["trainable"] is False


def test_a_class_that_finds_its_weights_otherwise_is_asked():
    extra = K.variable([1.0, 2.0])

    class FindsItsWeights(Dense):
        @property
        def weights(self):
            return [*super().weights, extra]

    assert WeightRegistry().enter(built(FindsItsWeights(2), 3), "odd")["parameters"] == 10


def test_a_call_says_its_shapes():
    x = Input((3,), name="x")
    first, second = calls_in(Model(x, Dense(2, name="d")(x)))
    assert facts_of(first).attributes["input_shapes"] == ""
    attributes = facts_of(second, lambda tensor: (7, *tensor.shape[1:])).attributes
    assert (attributes["input_shapes"], attributes["output_shapes"]) == ("(7, 3)", "(7, 2)")


def test_a_shape_that_is_not_known_makes_all_unknown():
    assert shapes_text([(None, 2), None]) == ""


def test_a_bare_tensor_has_the_attributes_of_a_box():
    x = Input((3,), name="x")
    box = {**layer_attributes(Dense(2)), **facts_of(calls_in(Model(x, Dense(2)(x)))[1]).attributes}
    of_layers = {"settings", "config"}  # of which a tensor has none
    expected = {*box, "parameters", "shared_with"} - of_layers
    assert set(tensor_attributes(K.constant([1.0]))) == expected


def test_what_is_a_wrapper_and_what_is_not():
    dense, cell = Dense(2, name="d"), GRUCell(2, name="c")
    assert parts_of_wrapper(TimeDistributed(dense)) == [dense]
    assert parts_of_wrapper(RNN(cell)) == [cell]
    assert parts_of_wrapper(LSTM(2)) == parts_of_wrapper(dense) == []
    assert wrapped_attributes(TimeDistributed(dense)) == {"detail": "around Dense 'd'"}
    assert wrapped_attributes(dense) == {}
