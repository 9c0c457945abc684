"""A call that fails leaves everything as it was: its layer, the layers inside, their graph."""

import numpy as np
import pytest

from kerascope import Input, Model, Sequential, layers
from kerascope import backend as K
from kerascope.errors import KerascopeError


class Block(layers.Layer):
    """Calls two layers inside and then fails, or not."""

    def __init__(self, fails=True, **kwargs):
        super().__init__(**kwargs)
        self.fails = fails
        self.first = layers.Dense(3, activity_regularizer="l2")
        self.second = layers.BatchNormalization()

    def call(self, inputs):
        y = self.second(self.first(inputs))
        return K.reshape(y, (7, 11)) + 1 if self.fails else y


def facts(layer):
    return (
        layer.built,
        len(layer.inbound_nodes),
        len(layer.outbound_nodes),
        len(layer.weights),
        len(layer.losses),
        len(layer.updates),
        layer.input_spec if not layer.built else None,
    )


@pytest.mark.parametrize("make_input", [lambda: Input((5,), batch_size=2), lambda: np.ones((2, 5))])
def test_layers_inside_a_call_that_failed_are_new_again(make_input):
    block, x = Block(), make_input()
    new = [facts(layer) for layer in (block, block.first, block.second)]
    with pytest.raises(KerascopeError):
        block(x)
    assert [facts(layer) for layer in (block, block.first, block.second)] == new
    if not isinstance(x, np.ndarray):
        assert x._keras_history.layer.outbound_nodes == []
    block.fails = False
    assert tuple(block(np.ones((2, 4))).shape) == (2, 3)


def test_layers_that_had_been_called_before_keep_only_that_call():
    block, x = Block(fails=False), Input((5,), batch_size=2)
    block(x)
    before = [facts(layer) for layer in (block, block.first, block.second)]
    block.fails = True
    with pytest.raises(KerascopeError):
        block(Input((5,), batch_size=2))
    assert [facts(layer) for layer in (block, block.first, block.second)] == before


def test_blocks_inside_blocks_are_undone_too():
    class Outer(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.inner = Block(fails=False)

        def call(self, inputs):
            raise ValueError(f"after {self.inner(inputs)}")

    outer = Outer()
    with pytest.raises(ValueError, match="after"):
        outer(Input((5,)))
    assert not outer.inner.built
    assert not outer.inner.first.built


def test_a_sequential_that_could_not_be_built_can_be_built_otherwise():
    model = Sequential([layers.Dense(3), layers.Reshape((2, 2)), layers.Dense(1)])
    with pytest.raises(KerascopeError):
        model.build((None, 5))
    assert not model.layers[0].built
    assert model.layers[0].inbound_nodes == []
    model.layers[0].units = 4
    model.build((None, 7))
    assert model.output_shape == (None, 2, 1)


def test_an_abandoned_stage_of_a_call_leaves_the_layer_new():
    from kerascope.engine.binding import Call
    from kerascope.engine.calling import _call_symbolically
    from kerascope.engine.policies import around_call
    from kerascope.stage import Stage

    layer = layers.Dense(3)
    call = Call([Input((5,))], {})
    stage = Stage(
        "layer_call", _call_symbolically(layer, call), layer, around=around_call(layer, call)
    )
    events = iter(stage)
    del stage
    next(events)
    assert layer.built
    events.close()
    assert not layer.built


class FailsIfTold(layers.Layer):
    fails = True

    def call(self, inputs):
        if self.fails:
            raise ValueError("told to")
        return inputs * 1


def model_that_fails():
    end, x = FailsIfTold(), Input((3,))
    end.fails = False
    model = Model(x, end(layers.BatchNormalization()(x)))
    end.fails = True
    return model, end


def test_a_model_that_fails_half_way_leaves_no_updates_of_its_layers():
    model, _end = model_that_fails()
    before = [facts(layer) for layer in model.layers]
    with pytest.raises(ValueError, match="told"):
        model(Input((3,)))
    assert [facts(layer) for layer in model.layers] == before


def test_a_model_inside_a_call_that_failed_is_run_again():
    model, end = model_that_fails()
    end.fails = False

    class Around(layers.Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.model = model
            self.last = FailsIfTold()

        def call(self, inputs):
            return self.last(self.model(inputs))

    around, x = Around(), Input((3,))
    with pytest.raises(ValueError, match="told"):
        around(x)
    around.last.fails = False
    assert len(Model(x, around(x)).updates) == 2  # both moving averages


def test_variables_written_by_a_call_on_arrays_that_failed_get_their_values_back():
    model, end = model_that_fails()
    before = model.get_weights()
    with pytest.raises(ValueError, match="told"):
        model(np.full((2, 3), 7.0), training=True)
    np.testing.assert_array_equal(model.get_weights(), before)
    end.fails = False
    model(np.full((2, 3), 7.0), training=True)
    assert (model.get_weights()[2] != before[2]).all()


def test_asking_for_a_shape_leaves_nothing_behind():
    model, end = model_that_fails()
    end.fails = False
    x = Input((3,))
    outer = Model(x, model(x))
    before = [facts(layer) for layer in (outer, model, *model.layers)]
    runs = [len(book) for network in (outer, model) for book in network._collections]
    assert outer.compute_output_shape((2, 3)) == (2, 3)
    assert [facts(layer) for layer in (outer, model, *model.layers)] == before
    assert [len(book) for network in (outer, model) for book in network._collections] == runs


def test_the_cell_of_a_layer_that_could_not_be_called_is_new_again():
    layer = layers.LSTM(2)
    with pytest.raises(KerascopeError):
        layer(Input((3, 4)), initial_state=[Input((7,)), Input((7,))])
    assert not layer.cell.built
    assert layer(Input((3, 5))).shape == (None, 2)
    assert layer.cell.kernel.shape == (5, 8)


@pytest.mark.parametrize("wrapper", [layers.TimeDistributed, layers.Bidirectional])
def test_layers_inside_a_wrapper_that_could_not_be_called_are_new_again(wrapper):
    layer = wrapper(layers.GRU(2), weights=[np.ones((1, 1))])
    before = [inside.built for inside in layer.wrapped]
    shape = (3, 4, 5) if wrapper is layers.TimeDistributed else (3, 4)
    with pytest.raises(KerascopeError, match="set_weights: expected . arrays, got 1"):
        layer(Input(shape))
    assert [inside.built for inside in layer.wrapped] == before
    assert not any(inside.cell.built for inside in layer.wrapped)
