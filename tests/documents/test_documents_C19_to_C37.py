"""Claims C19 to C37 of the source documents, each corrected by running what it speaks of."""

from collections.abc import Callable
from types import SimpleNamespace

import numpy as np
import pytest
from document_models import compiled_example, depths, diamond, example, residual_blocks

import kerascope as ks
from kerascope import backend as K
from kerascope.engine.graph_map import map_graph
from kerascope.engine.node import KerasHistory, Node
from kerascope.errors import ConfigError, KerascopeWarning
from kerascope.layers import Add, Dense, Embedding, Input, Lambda, Layer, add
from kerascope.models import Model

pytestmark = pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")


def test_C19_a_node_belongs_to_one_layer_and_is_drawn_in_two_ways():
    """C19, S4:144, S4:159, S3:170: "a vertex", "it connects". outbound_layer is one layer."""
    x = Input(shape=(4,), name="x")
    s, d = Dense(4, name="S"), Dense(4, name="D")
    model = Model(x, s(d(s(x))))
    assert isinstance(s.inbound_nodes[0].outbound_layer, Layer)
    vertices = ks.to_networkx(model, level="node")  # each call a vertex
    assert list(vertices.edges()) == [("x", "S@0"), ("S@0", "D"), ("D", "S@1")]
    connectors = ks.to_networkx(model, level="layer")  # each call connects two layers
    assert list(connectors.edges()) == [("x", "S"), ("S", "D"), ("D", "S")]
    for level in ("node", "layer"):
        assert ks.draw(model, level=level).render("svg").startswith(b"<svg")


def test_C20_a_shared_layer_shows_node_index_and_not_tensor_index():
    """C20, S3:189: the shared LSTM is to show tensor_index; it needs a layer of several outputs."""
    x = Input(shape=(4,))
    shared = Dense(3)
    first, second = shared(x), shared(x)
    assert [y._keras_history.node_index for y in (first, second)] == [0, 1]
    assert [y._keras_history.tensor_index for y in (first, second)] == [0, 0]
    pair = Lambda(lambda x: [x, -x])(x)
    assert [y._keras_history.node_index for y in pair] == [0, 0]
    assert [y._keras_history.tensor_index for y in pair] == [0, 1]


def test_C21_inputs_and_outputs_of_a_node_are_not_one_to_one():
    """C21, S3:157: "they correspond one to one". A merge has two inputs and one output."""
    x = Input(shape=(4,))
    one, two, three = Lambda(lambda x: [x, 2 * x, 3 * x])(x)
    split = one._keras_history.node
    assert (len(split.input_tensors), len(split.output_tensors)) == (1, 3)
    merge = Add()([three, one])._keras_history.node
    assert (len(merge.input_tensors), len(merge.output_tensors)) == (2, 1)
    assert merge.tensor_indices == [2, 0]
    assert two._keras_history.tensor_index == 1


def test_C22_nodes_in_decreasing_depth_is_a_post_order_and_no_part_of_backpropagation(data):
    """C22, S2:111: "the basis of forward and backward". Its depths do not even fall."""
    graph_map = map_graph(*diamond("BC"))
    order = [(n.layer.name, graph_map.nodes_depths[n]) for n in graph_map.nodes_in_decreasing_depth]
    assert order == [("x", 3), ("B", 1), ("A", 2), ("C", 1), ("add", 0)]

    one, other = compiled_example(), compiled_example()
    other.set_weights(one.get_weights())
    other.graph_map.nodes_in_decreasing_depth.clear()
    for model in (one, other):
        model.train_on_batch(*data)
    assert all(map(np.array_equal, one.get_weights(), other.get_weights()))


def test_C23_network_nodes_holds_strings():
    """C23, S2:130: "the set of all nodes"; its comment says "ids". They are keys made of names."""
    names = example().network_nodes
    assert set(map(type, names)) == {str}
    assert "dense_1_ib-0" in names


def visits_and_nodes(ends, flavour):
    graph_map = map_graph(*ends, flavour=flavour)
    return graph_map.visits, len(graph_map.nodes_depths)


def test_C24_seen_nodes_is_not_the_set_of_nodes():
    """C24, S4:246: "all needed Nodes are added to seen_nodes": a node once for each depth."""
    graph_map = map_graph(*diamond(), flavour="1")
    assert len(graph_map.seen_nodes) == 6
    assert len(graph_map.nodes_depths) == 5

    blocks = residual_blocks(14, layers=2)
    assert visits_and_nodes(blocks, "1") == (330, 43)
    assert visits_and_nodes(blocks, "2") == (57, 43)

    tower = residual_blocks(14, layers=1, shared=True)  # h = add([h, S(h)]), always the same S
    assert visits_and_nodes(tower, "1") == (49_150, 29)
    assert visits_and_nodes(tower, "2") == (43, 29)


def test_C25_a_node_is_lifted_to_the_depth_of_its_shared_layer():
    """C25: in add(S(x), E(S(D(x)))) the first call of S lies at 1 in Keras 1.2.2, at 2 in 2.2.4."""
    x = Input(shape=(4,))
    S, D, E = (Dense(4, name=name) for name in "SDE")
    output = add([S(x), E(S(D(x)))])
    assert depths(map_graph([x], [output], flavour="1"))["S_ib-0"] == 1
    assert depths(map_graph([x], [output], flavour="2"))["S_ib-0"] == 2
    for flavour in "12":
        assert depths(map_graph([x], [output], flavour=flavour))["S_ib-1"] == 2


S2_KWARGS = """
if node.arguments:
    kwargs = node.arguments
else:
    kwargs = {}
if 'mask' not in kwargs:
    kwargs['mask'] = computed_mask
"""


class Masked(Layer):
    """Multiplies by its mask and a factor."""

    def call(self, inputs, mask=None, by=1.0):
        return inputs * K.cast(K.expand_dims(mask), "float32") * by

    def compute_mask(self, inputs, mask=None):
        return None


def test_C26_a_run_leaves_no_mask_behind(run_printed):
    """C26, S2:234: `kwargs = node.arguments; kwargs['mask'] = ...` keeps the first run's mask."""

    node = SimpleNamespace(arguments={"by": 2.0})
    masks = [run_printed(S2_KWARGS, node=node, computed_mask=m)["kwargs"]["mask"] for m in "ab"]
    assert masks == ["a", "a"]  # the second run should have used "b"

    numbers = Input(shape=(2,), dtype="int32")
    masked = Masked()
    embedded = Embedding(3, 1, mask_zero=True, embeddings_initializer="ones")(numbers)
    model = Model(numbers, masked(embedded, by=2.0))
    runs = [Input(shape=(2,), dtype="int32") for _ in range(2)]
    outputs = [model(run) for run in runs]
    f = K.function(runs, outputs)
    first, second = f([[[1, 0]], [[0, 1]]])
    assert first[0, :, 0].tolist() == [2.0, 0.0]
    assert second[0, :, 0].tolist() == [0.0, 2.0]
    assert masked.inbound_nodes[0].arguments == {"by": 2.0}


def test_C27_an_id_is_no_key_for_what_may_die():
    """C27, S0:234, S2:195, S4:301: `cache_key = str(id(x))`: dead objects' ids are given again."""
    assert len({id(np.ones(3)) for _ in range(1_000)}) < 100
    model = example()
    outputs = [model.call(Input(shape=(20,))) for _ in range(20)]
    assert len(set(outputs)) == len(model._output_tensor_cache) == 20
    assert all(K.is_tensor(x) for key in model._output_tensor_cache for x in key if x is not None)


def test_C28_in_compares_arrays_and_must_compare_identity():
    """C28, S3:42: `if x in inputs_ls` fails on arrays; and the copy that it makes is needed."""
    with pytest.raises(ValueError, match="ambiguous"):
        np.ones(3) in [np.zeros(3)]  # noqa: B015
    x = Input(shape=(3,))
    assert K.variable(np.ones(3)) not in [x]  # our tensors compare by identity
    assert Layer()(np.ones((1, 3))).tolist() == [[1.0] * 3]  # ... and arrays pass through a layer

    layer = Layer()
    y = layer.call(x)
    assert y is x  # what would happen without the copy: one tensor, and a second maker
    Node(layer, [x], [y], [None], [None])
    y._keras_history = KerasHistory(layer, 0, 0)  # as S3:112 writes it, whatever stood there
    with pytest.raises(ValueError, match="part of a cycle"):  # the input is forgotten
        map_graph([x], [y], flavour="2")


def test_C29_overriding_does_not_depend_on_the_constructors_order():
    """C29, S0:306: "Layer's constructor is called at the end, so the methods are overridden"."""

    class First(Layer):
        def __init__(self):
            super().__init__()
            self.factor = 3.0

        def call(self, inputs):
            return inputs * self.factor

    class Last(First):
        def __init__(self):
            self.factor = 3.0
            Layer.__init__(self)

    for layer in (First(), Last()):
        assert layer(np.ones((1, 2))).tolist() == [[3.0, 3.0]]


class Curve(Layer):
    """A layer whose argument no configuration can hold, so it needs a get_config of its own."""

    def __init__(self, curve: Callable, **kwargs):
        super().__init__(**kwargs)
        self.curve = curve

    def call(self, inputs):
        return self.curve(inputs)


class NamedCurve(Curve):
    def __init__(self, curve, **kwargs):
        super().__init__(getattr(K, curve), **kwargs)
        self.name_of_curve = curve

    def get_config(self):
        return {"name": self.name, "curve": self.name_of_curve}


def test_C30_get_config_is_needed_to_make_a_model_again():
    """C30, S0:308: "users need not write get_config". Here it is derived, where it can be."""
    x = Input(shape=(2,))
    with pytest.raises(ConfigError, match="curve"):
        Model(x, Curve(lambda x: x * x)(x)).get_config()
    model = Model(x, NamedCurve("square")(x))
    again = Model.from_config(model.get_config(), custom_objects={"NamedCurve": NamedCurve})
    assert again.predict(np.full((1, 2), 3.0)).tolist() == [[9.0, 9.0]]


def test_C31_a_set_as_default_is_shared_by_all_calls():
    """C31, S0:380: `def build_map_of_graph(tensor, seen_nodes=set(), ...)`."""

    def build_map_of_graph(tensor, seen_nodes=set()):  # noqa: B006 (as printed)
        seen_nodes.add(tensor)
        return seen_nodes

    build_map_of_graph("a tensor of one model")
    assert len(build_map_of_graph("a tensor of another")) == 2
    model = example()
    assert len(model.seen_nodes) == len(model.seen_nodes) == 4


def test_C32_a_tensor_is_not_made_from_an_array_and_a_new_trace_for_each_call_is_a_waste():
    """C32, S1:159: `tf.Tensor(inputs)`, and `convert_to_tf_function(self.call)` in each call."""
    with pytest.raises(TypeError):
        K.Tensor(np.ones((2, 3)))
    assert K.constant(np.ones((2, 3))).shape == (2, 3)
    traces = []

    def call(x):
        traces.append(x)
        return x * 2

    for _ in range(3):  # as printed: a new function each time
        ks.compiled(call)(np.ones(3))
    assert len(traces) == 3
    kept = ks.compiled(call)
    for _ in range(3):
        kept(np.ones(3))
    assert len(traces) == 4


def test_C33_accuracy_means_another_thing_under_binary_crossentropy():
    """C33, S0:583: on 10 classes it counts right entries of a one-hot row, not right rows."""
    random = np.random.default_rng(0)
    x, y = random.normal(size=(200, 20)), np.eye(10)[random.integers(0, 10, size=200)]
    accuracies = {}
    for loss in ("binary_crossentropy", "categorical_crossentropy"):
        inputs = Input(shape=(20,))
        model = Model(inputs, Dense(10, activation="softmax", kernel_initializer="ones")(inputs))
        model.compile("sgd", loss, metrics=["accuracy"])
        accuracies[loss] = model.evaluate(x, y, verbose=0)[1]
    assert accuracies["binary_crossentropy"] == pytest.approx(0.9)  # "no class at all" everywhere
    assert accuracies["categorical_crossentropy"] < 0.2


def test_C34_names_that_do_not_exist_are_typos(data):
    """C34, S3:208, S4:394, S0:296: three attributes that no version of Keras has."""
    model = compiled_example()
    x = model.inputs[0]
    for owner, typo, name in [
        (x, "_Keras_history", "_keras_history"),
        (model, "_make_train_fuction", "_make_train_function"),
        (model, "non_trainabe_weights", "non_trainable_weights"),
    ]:
        assert not hasattr(owner, typo)
        assert hasattr(owner, name)


def test_C35_the_engine_does_compute(data):
    """C35, S4:98 against S4:289: "topology.py computes nothing", but holds run_internal_graph."""
    model = example()
    (output,), _, _ = model.run_internal_graph([Input(shape=(20,))])
    assert output.owner is not None
    eager = model(data[0])  # the same walk on numbers
    assert np.allclose(eager, model.predict(data[0]), atol=1e-6)


def test_C36_freezing_counts_after_a_new_compile(data):
    """C36, S0:186: "whether the weights are updated": it counts once compiled again."""
    model = compiled_example()
    frozen = model.layers[1]
    frozen.trainable = False
    before = frozen.get_weights()
    with pytest.warns(KerascopeWarning, match="Discrepancy between trainable weights"):
        model.train_on_batch(*data)
    assert not np.array_equal(before[0], frozen.get_weights()[0])
    model.compile("rmsprop", "binary_crossentropy")
    before = frozen.get_weights()
    model.train_on_batch(*data)
    assert all(map(np.array_equal, before, frozen.get_weights()))


def test_C37_a_lambda_remembers_too_but_keeps_no_graph():
    """C37, S4:211: "Python has no such ability". It has; what it lacks is a kept graph."""
    x = 1
    y = lambda: x**2  # noqa: E731
    x = 2
    assert y() == 4
    assert not hasattr(y, "owner")
    symbolic_x = K.variable(2.0)
    symbolic_y = symbolic_x**2
    assert symbolic_y.owner.op.name == "power"
    assert float(K.eval(K.gradients(symbolic_y, symbolic_x)[0])) == 4.0
