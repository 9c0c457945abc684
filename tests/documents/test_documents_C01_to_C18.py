"""Claims C01 to C18 of the source documents, each corrected by running what it speaks of."""

from itertools import islice

import networkx
import numpy as np
import pytest
from document_models import close_a_cycle, compiled_example, diamond, example

import kerascope as ks
from kerascope import backend as K
from kerascope.backend.graph import applies_between
from kerascope.engine.graph_map import NodeVisited, map_graph, map_stage
from kerascope.layers import Dense, Input, Layer
from kerascope.models import Model, Network

pytestmark = pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")


def test_C01_depth_prevents_no_cycles():
    """C01, S0:410, S4:161, S4:259: "use depth to prevent cycles". On a cycle, depth only grows."""
    a, b = Dense(4, name="A"), Dense(4, name="B")
    x = Input(shape=(4,))
    y = b(a(x))
    close_a_cycle(a.inbound_nodes[0], b.inbound_nodes[0])
    build_map = next(iter(map_stage([x], [y], flavour="1")))
    visits = [event for event in islice(build_map, 3_000) if isinstance(event, NodeVisited)]
    assert [visit.depth for visit in visits] == list(range(len(visits)))
    assert len(visits) > 1_000  # it would go on for ever
    with pytest.raises(ValueError, match="is part of a cycle"):
        map_graph([x], [y], flavour="2")


def test_C01_a_cycle_of_layers_is_no_cycle_of_nodes():
    """C01: the truth: a Node is one call; S(D(S(x))) visits S twice and is a chain of nodes."""
    x = Input(shape=(4,))
    s, d = Dense(4), Dense(4)
    model = Model(x, s(d(s(x))))
    by_layer = ks.to_networkx(model, level="layer")
    by_node = ks.to_networkx(model, level="node")
    assert not networkx.is_directed_acyclic_graph(by_layer)
    assert networkx.is_directed_acyclic_graph(by_node)


def test_C02_a_depth_may_hold_several_layers():
    """C02, S0:465: "necessarily only one Layer at each depth". In a diamond there are two."""
    layers_by_depth = map_graph(*diamond()).layers_by_depth
    names = {depth: [layer.name for layer in layers] for depth, layers in layers_by_depth.items()}
    assert names == {0: ["add"], 1: ["C", "B"], 2: ["A"], 3: ["x"]}


def square_and_step():
    """Return W = [2.] and the function that gives W^2 and takes a step of 0.1 down its slope."""
    W = K.variable([2.0])
    loss = K.sum(W**2)
    (gradient,) = K.gradients(loss, [W])
    return W, K.function([], [loss], updates=[(W, W - 0.1 * gradient)])


def test_C03_making_a_function_updates_nothing():
    """C03, S0:674, S4:499: "Function updates at construction". It updates at each call."""
    W, f = square_and_step()
    assert K.get_value(W).tolist() == [2.0]
    assert float(f([])[0]) == 4.0
    assert K.get_value(W) == pytest.approx(1.6)


def test_C04_outputs_belong_to_the_weights_before_the_update():
    """C04, S4:530: "outputs = f(inputs, W after updating)". They use the old ones."""
    _, f = square_and_step()
    outputs = [float(f([])[0]) for _ in range(3)]
    assert outputs == pytest.approx([2.0**2, 1.6**2, 1.28**2])


def test_C05_derivatives_belong_to_ops_and_need_no_model():
    """C05, S0:329, S0:514: "a Layer cannot go backward, a Model can". Neither is needed."""
    x = K.variable(3.0)
    assert float(K.eval(K.gradients(K.exp(x) * x, x)[0])) == pytest.approx(4 * np.exp(3.0))
    dense = Dense(1, kernel_initializer="ones")
    rows = K.placeholder(shape=(None, 2))
    loss = K.sum(K.square(dense(rows)))  # a Layer, called on a plain tensor; no Model anywhere
    slope = K.function([rows], K.gradients(loss, [dense.kernel])[0])
    assert slope([[[1.0, 2.0]]]).tolist() == [[6.0], [12.0]]


@pytest.mark.parametrize("loss", ["binary_crossentropy", "mse"])
def test_C06_with_softmax_on_one_unit_the_example_never_learns(loss, data):
    """C06, S4:39: `Dense(1, activation='softmax')`: exactly 1 for every row, so the slope is 0."""
    model = compiled_example("softmax", loss)
    assert (model.predict(data[0]) == 1.0).all()
    gradients = K.gradients(model.total_loss, model.trainable_weights)
    slopes = K.function(model.inputs + model.targets + model.sample_weights, gradients)
    assert not any(slope.any() for slope in slopes([data[0], data[1][:, None], np.ones(50)]))
    before = model.get_weights()
    history = model.fit(*data, epochs=10, verbose=0)
    assert all(map(np.array_equal, before, model.get_weights()))
    zeros = np.mean(data[1] == 0)
    expected = 15.9424 * zeros if loss == "binary_crossentropy" else zeros
    assert history.history["loss"] == pytest.approx([expected] * 10, rel=1e-4)


def test_C06_with_sigmoid_the_example_learns(data):
    """C06: the same network with sigmoid has learnt its 50 labels by epoch 100."""
    history = compiled_example("sigmoid").fit(*data, epochs=100, verbose=0).history
    assert history["loss"][0] > 0.5
    assert history["loss"][-1] < 0.01
    assert history["acc"][-1] == 1.0


def test_C07_a_new_layer_has_no_node():
    """C07, S0:174: "a Node is made with its Layer". It is made with a call."""
    dense = Dense(3)
    assert dense.inbound_nodes == []
    dense(Input(shape=(4,)))
    assert len(dense.inbound_nodes) == 1


@pytest.fixture
def calls_counted(monkeypatch):
    """Count the calls of what builds graphs; return the dict of counts."""
    counts = {}
    methods = [
        (Layer, "__call__"),
        (Layer, "call"),
        (Dense, "call"),
        (Network, "call"),
        (Network, "run_internal_graph"),
        (Network, "run_stage"),
    ]
    for cls, name in methods:
        key, method = f"{cls.__name__}.{name}", getattr(cls, name)
        counts[key] = 0

        def counted(self, *args, _key=key, _method=method, **kwargs):
            counts[_key] += 1
            return _method(self, *args, **kwargs)

        monkeypatch.setattr(cls, name, counted)
    return counts


def test_C08_no_epoch_asks_the_cache(calls_counted, data):
    """C08, S4:309: "from the second epoch on, call goes round" the run. No epoch calls it."""
    model = compiled_example()
    assert (
        calls_counted["Layer.__call__"] == calls_counted["Dense.call"] == 3
    )  # the model was built
    calls_counted.update(dict.fromkeys(calls_counted, 0))
    model.fit(*data, epochs=3, verbose=0)
    assert set(calls_counted.values()) == {0}
    assert model._output_tensor_cache == {}
    model(Input(shape=(20,)))  # a call on new symbols is what the cache is for
    assert calls_counted["Network.run_internal_graph"] == 1


def test_C09_a_function_calls_no_layer(calls_counted, data):
    """C09, S4:550: "calling the Function calls Container.__call__". It runs its schedule of ops."""
    model = compiled_example()
    model._make_train_function()
    calls_counted.update(dict.fromkeys(calls_counted, 0))
    model.train_function([data[0], data[1][:, None], np.ones(50)])
    model.predict(data[0])
    assert set(calls_counted.values()) == {0}


def test_C10_the_first_v_is_an_accumulator_and_no_weight():
    """C10, S4:515: the zeros of shape (20, 64) are RMSprop's memory of squared gradients."""
    model = compiled_example()
    v, _ = model.optimizer.get_updates(model.total_loss, model.trainable_weights)[0]
    assert v is model.optimizer.weights[1]
    assert v not in model.weights
    assert v.shape == model.trainable_weights[0].shape == (20, 64)
    assert K.get_value(model.trainable_weights[0]).all()  # the weight itself is not zero


def test_C11_the_loop_over_updates_only_drops_duplicates():
    """C11, S4:526: "after the loop v has been replaced by nv". Nothing has been computed yet."""
    v, w = K.variable(1.0), K.variable(5.0)
    updates = [(v, v + 1.0), (w, w * 2.0), (v, v + 100.0)]
    f = K.function([], [], updates=updates)
    assert [(variable.name, new.owner.op.name) for variable, new in f.updates] == [
        (v.name, "add"),
        (w.name, "multiply"),
    ]
    assert [float(K.get_value(x)) for x in (v, w)] == [1.0, 5.0]


def test_C12_dense_3_target_is_the_placeholder_of_the_labels(data):
    """C12, S4:412: "dense_3 gives the prediction". The target is fed; no prediction needs it."""
    model = compiled_example()
    target, output = model.targets[0], model.outputs[0]
    assert K.is_placeholder(target)
    assert applies_between([target], [output]) == []
    assert applies_between([target], [model.total_loss]) != []
    assert model.predict(data[0]).shape == (50, 1)  # no label was fed


def test_C13_out_labels_are_names_of_metrics(data):
    """C13, S0:699: "the labels become out_labels". They are what the outputs of f are called."""
    stage = compiled_example().fit_stage(*data, epochs=1, verbose=0)
    begun = next(event for event in stage if type(event).__name__ == "BatchBegun")
    assert begun.size == 32
    assert stage.names["out_labels"] == ["loss", "acc"]


def test_C14_metrics_are_never_differentiated():
    """C14, S0:571: metrics stand among "objective functions". They are reported only."""
    model = compiled_example()
    (accuracy,) = model.metrics_tensors
    assert K.gradients(accuracy, model.trainable_weights) == [None] * 6
    assert applies_between([accuracy], [model.total_loss]) == []
    bare = example()
    bare.set_weights(model.get_weights())
    bare.compile("rmsprop", "binary_crossentropy")
    x, y = np.ones((8, 20)), np.ones(8)
    for trained in (model, bare):
        trained.train_on_batch(x, y)
    assert all(map(np.array_equal, model.get_weights(), bare.get_weights()))


def test_C15_compile_builds_the_loss_and_no_train_function(data):
    """C15, S4:356: "compiling means configuring". It makes a graph, but no function yet."""
    model = compiled_example()
    assert model.total_loss.owner is not None
    assert model.total_loss.shape == ()
    assert model.train_function is None
    model.fit(*data, verbose=0)
    assert model.train_function is not None


def test_C16_losses_add_up_and_are_no_expectation(data):
    """C16, S4:372: "errors can be weighted to a mathematical expectation". It is a plain sum."""
    x = Input(shape=(20,))
    model = Model(x, [Dense(1)(x), Dense(1)(x)])
    model.compile("sgd", "mse", loss_weights=[2.0, 3.0])
    total, first, second = model.test_on_batch(data[0], [data[1], data[1]])
    assert total == pytest.approx(2 * first + 3 * second)
    assert total != pytest.approx((2 * first + 3 * second) / 5)


def test_C17_tensor_map_holds_tensors():
    """C17, S4:340: "the Nodes in tensor_map". Its keys and values are tensors."""
    stage = example().run_stage([Input(shape=(20,))])
    maps = [stage.names["tensor_map"] for _ in stage]
    assert all(K.is_tensor(key) for key in maps[-1])
    assert all(K.is_tensor(computed) for computed, _ in maps[-1].values())


EXCERPT = """
tensor_map = {}
for x, y, mask in zip(self.inputs, inputs, masks):
    tensor_map[str(id(x))] = (y, mask)

for depth in depth_keys:
    nodes = self.nodes_by_depth[depth]
    for node in nodes:
        layer = node.outbound_layer
        for x in node.input_tensors:
            if str(id(x)) in tensor_map:
                computed_data.append(tensor_map[str(id(x))])
        computed_tensor, computed_mask = computed_data[0]
        output_tensors = to_list(layer.call(computed_tensor,
                                            computed_mask))
"""

WRITE_BACK = """
        for x, y in zip(node.output_tensors, output_tensors):
            tensor_map[str(id(x))] = (y, None)
"""


class MaskedDense(Dense):
    """A Dense whose `call` takes a mask, as in Keras 1."""

    def call(self, inputs, mask=None):
        return super().call(inputs)


def test_C18_the_printed_loop_fails(run_printed):
    """C18, S4:325: as printed it neither makes computed_data, nor empties it, nor writes back."""
    x = y = Input(shape=(20,))
    for units in (64, 64, 1):
        y = MaskedDense(units)(y)
    model, new = Model(x, y), Input(shape=(20,))
    names = {
        "self": model,
        "inputs": [new],
        "masks": [None],
        "depth_keys": sorted(model.nodes_by_depth, reverse=True),
        "to_list": lambda tensor: [tensor],
    }
    with pytest.raises(NameError, match="computed_data"):
        run_printed(EXCERPT, **names)
    with pytest.raises(ValueError, match="64"):  # dense_2 is given the model's input again
        run_printed(EXCERPT, computed_data=[], **names)
    emptied = "        layer = node.outbound_layer\n        computed_data = []\n"
    repaired = EXCERPT.replace("        layer = node.outbound_layer\n", emptied) + WRITE_BACK
    (output,) = run_printed(repaired, **names)["output_tensors"]
    array = np.ones((2, 20))
    assert np.array_equal(K.function([new], output)([array]), model.predict(array))
