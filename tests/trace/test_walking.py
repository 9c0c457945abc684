import numpy as np
import pytest
from zoo import THINNED_ZOO, ZOO

import kerascope as ks
from kerascope.backend.graph import is_eager
from kerascope.engine.node_ids import call_ids
from kerascope.errors import DataError, DtypeError, NotBuiltError
from kerascope.layers import BatchNormalization, Dense, Dropout, Input
from kerascope.models import Model, Sequential
from kerascope.trace.walking import walk


def data_for(model, samples=5):
    numbers = np.random.default_rng(0)
    return [numbers.normal(size=(samples, *x.shape[1:])) for x in model.inputs]


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_the_walk_computes_what_predict_computes(name):
    model = ZOO[name]()
    x = data_for(model)
    *_, last = walk(model, x)
    predicted = model.predict(x)
    predicted = predicted if isinstance(predicted, list) else [predicted]
    for tensor, expected in zip(model.outputs, predicted, strict=True):
        call_id = call_ids(model)[tensor._keras_history.node]
        ends = (tensor.name, tensor.name.replace(tensor._keras_history.layer.name, call_id, 1))
        arrays = [a for key, a in last.tensor_map.items() if key in ends]
        assert any(np.array_equal(a, expected) for a in arrays)
    assert last.depth == 0


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_depths_fall_and_the_map_grows_by_each_steps_outputs(name):
    model = ZOO[name]()
    steps = list(walk(model, data_for(model)))
    fed, computed = steps[: len(model.inputs)], steps[len(model.inputs) :]
    assert [step.layer for step in fed] == model.input_layers
    assert [step.depth for step in computed] == sorted((s.depth for s in computed), reverse=True)
    sizes = [len(step.tensor_map) for step in steps]
    grown = np.diff([0, *sizes]).tolist()
    assert grown == [len(step.outputs) for step in steps]


def test_a_step_knows_node_layer_inputs_and_outputs():
    model = ZOO["diamond"]()
    x = np.ones((2, 8))
    steps = list(walk(model, x))
    last = steps[-1]
    assert last.layer.name == "sum"
    assert last.node is last.layer.inbound_nodes[0]
    np.testing.assert_array_equal(last.outputs[0], last.inputs[0] + last.inputs[1])
    assert repr(steps[0]).startswith("<depth 2  x_ib-0  f32[2,8] |x|=4 min=1 mean=1 max=1")


def test_two_calls_of_a_shared_layer_have_two_places_in_the_map():
    model = ZOO["shared_layer"]()
    *_, last = walk(model, data_for(model))
    shared = [key for key in last.tensor_map if key.startswith("shared")]
    assert shared == ["shared@0/add", "shared@1/add"]


def test_the_map_of_an_earlier_step_stays_as_it_was():
    model = ZOO["chain"]()
    steps = list(walk(model, data_for(model)))
    assert list(steps[0].tensor_map) == ["pixels"]
    with pytest.raises(ValueError, match="read-only"):
        steps[0].tensor_map["pixels"][0] = 1.0


def test_nested_steps_come_before_the_call_they_belong_to():
    model = ZOO["siamese"]()
    steps = list(walk(model, data_for(model), nested=True))
    encoder = next(layer for layer in model.layers if layer.name == "encoder")
    order = [(step.model.name, step.layer.name) for step in steps if step.model is encoder]
    assert order == [("encoder", name) for name in ("image", "wide", "code")] * 2
    position = next(i for i, step in enumerate(steps) if step.layer is encoder)
    assert steps[position - 1].layer.name == "code"
    np.testing.assert_array_equal(steps[position - 1].outputs[0], steps[position].outputs[0])


def test_inputs_may_come_in_a_dict_by_name():
    model = ZOO["several_ends"]()
    text, extra = data_for(model)
    by_list = list(walk(model, [text, extra]))[-1].outputs[0]
    by_name = list(walk(model, {"extra": extra, "text": text}))[-1].outputs[0]
    np.testing.assert_array_equal(by_list, by_name)


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (np.ones((3, 7)), "shape"),
        ([np.ones((3, 20)), np.ones((3, 20))], "got 2"),
        ({"pixel": np.ones((3, 20))}, "Did you mean 'pixels'"),
        (np.ones((0, 20)), "empty"),
    ],
)
def test_data_that_do_not_fit_raise_what_predict_raises_before_the_first_step(x, words):
    model = ZOO["chain"]()
    with pytest.raises(DataError, match=words) as of_walk:
        walk(model, x)
    with pytest.raises(DataError, match=words) as of_predict:
        model.predict(x)
    assert str(of_walk.value).replace("walk", "predict") == str(of_predict.value)


def test_something_that_is_no_model_is_refused():
    with pytest.raises(DtypeError, match=r"walk: expected a model, got Dense"):
        walk(Dense(3), np.ones((1, 2)))


def test_nothing_is_open_while_the_walk_pauses():
    model = ZOO["chain"]()
    steps = walk(model, data_for(model))
    next(steps)
    next(steps)
    assert not is_eager()
    symbol = Dense(2)(Input(shape=(3,)))
    assert symbol.owner is not None
    next(steps)
    steps.close()
    assert not is_eager()


def test_two_walks_may_be_interleaved():
    model = ZOO["chain"]()
    x = data_for(model)
    alone = [step.outputs[0] for step in walk(model, x)]
    pairs = zip(walk(model, x), walk(model, x), strict=True)
    for expected, (one, other) in zip(alone, pairs, strict=True):
        np.testing.assert_array_equal(one.outputs[0], expected)
        np.testing.assert_array_equal(other.outputs[0], expected)


def test_walking_changes_neither_weights_nor_books():
    x = Input(shape=(4,))
    h = Dropout(0.5)(BatchNormalization()(Dense(3, activity_regularizer="l2")(x)))
    model = Model(x, h)
    before = [w.copy() for w in model.get_weights()]
    counts = len(model.losses), len(model.updates)
    steps = list(walk(model, np.ones((2, 4))))
    np.testing.assert_array_equal(steps[-1].outputs[0], steps[-1].inputs[0])
    assert (len(model.losses), len(model.updates)) == counts
    for old, new in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(old, new)


def test_a_sequential_without_input_shape_learns_it_from_the_data():
    model = Sequential([Dense(3), Dense(2)])
    x = np.ones((2, 4))
    *_, last = walk(model, x)
    np.testing.assert_array_equal(last.outputs[0], model.predict(x))


def test_a_subclassed_model_is_walked_through_the_graph_of_its_call():
    class Own(Model):
        def __init__(self):
            super().__init__()
            self.first, self.second = Dense(3, activation="relu"), Dense(2)

        def call(self, inputs):
            return self.second(self.first(inputs))

    model, x = Own(), np.ones((2, 4))
    steps = list(walk(model, x))
    assert [step.depth for step in steps] == [2, 1, 0]
    np.testing.assert_array_equal(steps[-1].outputs[0], model.predict(x))


def test_a_model_without_call_cannot_be_walked():
    with pytest.raises(NotBuiltError, match="neither inputs and outputs nor its own call"):
        walk(Model(), np.ones((2, 4)))


def test_an_error_in_a_layer_comes_out_of_the_step():
    from kerascope.layers import Lambda

    def fail_on_numbers(x):
        if is_eager():
            raise RuntimeError("no numbers, please")
        return x * 2

    x = Input(shape=(4,))
    steps = walk(Model(x, Lambda(fail_on_numbers)(x)), np.ones((2, 4)))
    next(steps)
    with pytest.raises(RuntimeError, match="no numbers, please"):
        next(steps)
    assert not is_eager()


def test_ks_walk_is_the_walk():
    assert ks.walk is walk
