"""What chapters 21 and 22 say of Keras 3, JAX and PyTorch, asked of the real ones.

The answers of Keras are stored (tests/keras_reference.py). PyTorch is asked where it is installed.
"""

import ast
import inspect
import math
import re

import numpy as np
import pytest
from keras_reference import answer, keras
from lesson_texts import chapter_of_the_course

import kerascope as ks
from kerascope import backend as K
from kerascope import config

X = np.array([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]], dtype="float32")
NOTHING = np.array([[[True, False, False], [False, False, False], [True, True, True]]])
MEAN = [2 / 3, 2 / 3]
asks_keras = pytest.mark.usefixtures("answers")


def printed(chapter, block_id):
    """Return what a block of a chapter prints."""
    found = next(x for x in chapter_of_the_course(chapter).main.blocks if x.id == block_id)
    return found.output.text


def one_head(library):
    """Return the head of chapter 21: one head of two features, whose four matrices are 1."""
    layer = library.layers.MultiHeadAttention(1, 2, use_bias=False)
    layer(X, X)
    one = np.eye(2, dtype="float32")
    layer.set_weights([one[:, None, :], one[:, None, :], one[:, None, :], one[None, :, :]])
    return layer


def attended(library, scores, **options):
    """Return the results of the head, or its weights, as plain numbers."""
    found = one_head(library)(X, X, return_attention_scores=scores, **options)
    return np.asarray(found[1][0, 0] if scores else found[0]).tolist()


def rows_of(text):
    """Return the rows of a printed array."""
    return [[float(x) for x in row.split()] for row in re.findall(r"\[+([^\[\]]+)\]+", text)]


@asks_keras
def test_the_head_of_chapter_21_is_that_of_keras():
    close(attended(ks, True), answer(attended, keras, True))


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@asks_keras
def test_with_a_causal_mask_too():
    theirs = answer(attended, keras, True, use_causal_mask=True)
    close(attended(ks, True, use_causal_mask=True), theirs)
    *_, first, second, third = rows_of(printed("21", "mask-afterwards"))
    np.testing.assert_allclose([first, second, third], theirs, atol=6e-4)


@asks_keras
def test_a_query_that_may_look_at_nothing_gets_the_mean_or_zeros_in_keras():
    assert attended(ks, False, attention_mask=NOTHING)[1] == pytest.approx(MEAN)
    theirs = answer(attended, keras, False, attention_mask=NOTHING)
    assert theirs[1] == pytest.approx(MEAN)
    assert attended(ks, True, attention_mask=NOTHING)[1] == pytest.approx([1 / 3] * 3)
    assert answer(attended, keras, True, attention_mask=NOTHING)[1] == [0, 0, 0]


@pytest.mark.live
def test_in_pytorch_it_gets_nan_or_zeros():
    torch = pytest.importorskip("torch")
    x, mask = torch.tensor(X), torch.tensor(NOTHING)
    attention = torch.nn.MultiheadAttention(2, 1, bias=False, batch_first=True)
    found, _ = attention(x, x, x, attn_mask=~mask[0])
    assert torch.isnan(found[0, 1]).all()
    found, _ = attention(x, x, x, attn_mask=~mask[0], need_weights=False)
    assert found[0, 1].tolist() == [0, 0]
    found = torch.nn.functional.scaled_dot_product_attention(x, x, x, attn_mask=mask)
    assert found[0, 1].tolist() == [0, 0]


def additive(library):
    """Return the results of the older attention, of 2014."""
    layer = library.layers.AdditiveAttention(use_scale=False)
    return np.asarray(layer([X, 2 * X])).tolist()


@asks_keras
def test_the_attention_of_2014_compares_by_a_sum():
    close(additive(ks), answer(additive, keras))
    scores = np.tanh(X[0][:, None] + 2 * X[0][None]).sum(axis=-1)
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    close(additive(ks)[0], weights @ (2 * X[0]))


def test_scores_of_random_vectors_spread_like_the_root():
    rows = [line.split() for line in printed("21", "scaling").splitlines()[1:]]
    for d, spread, *_ in rows:
        assert float(spread) == pytest.approx(math.sqrt(int(d)), rel=0.1)


def test_without_positions_swapped_inputs_give_swapped_results():
    swapped = [1, 0, 2]
    head = one_head(ks)
    close(head(X[:, swapped], X[:, swapped]), head(X, X)[:, swapped])


def test_the_results_of_heads_are_added():
    heads = ks.layers.MultiHeadAttention(3, 4, use_bias=False)
    heads(X, X)
    rng = np.random.default_rng(0)
    heads.set_weights([rng.normal(size=weight.shape) for weight in heads.weights])
    query, key, value, back = heads.get_weights()
    expected = 0
    for head in range(3):
        scores = (X[0] @ query[:, head]) @ (X[0] @ key[:, head]).T / math.sqrt(4)
        weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        expected = expected + weights @ (X[0] @ value[:, head]) @ back[head]
    close(heads(X, X)[0], expected)


def test_what_two_heads_look_at_from_the_spaces_of_the_line():
    lines = printed("21", "attention-maps").splitlines()[1:]
    *heads, text = [line.partition(":")[2].split() for line in lines]
    spaces = [at for at, one in enumerate(text) if one == "_"]
    assert len(spaces) == 5
    assert {heads[0][at] for at in spaces} == {"_"}
    assert [heads[1][at] for at in spaces] == ["k", "d", "d", "d", "d"]


# --- chapter 22 -----------------------------------------------------------------------------------


@pytest.fixture
def dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


def same_model(library):
    """Return the tensors of the model of chapter 22: input, hidden, sum and output."""
    x = library.Input(shape=(4,), name="x")
    ones = {"kernel_initializer": "ones"}
    h = library.layers.Dense(4, activation="relu", name="hidden", **ones)(x)
    s = h + x
    return x, h, s, library.layers.Dense(1, name="scores", **ones)(s)


ROW = np.array([[1.0, 2.0, 3.0, 4.0]], dtype="float32")


def depths_in_keras(library):
    x, *_, y = same_model(library)
    function = library.Function(x, y)
    by_depth = function._nodes_by_depth
    found = [[node.operation.name for node in by_depth[d]] for d in sorted(by_depth, reverse=True)]
    return found, np.asarray(function(ROW)).tolist()


@asks_keras
@pytest.mark.usefixtures("dialect_3")
def test_the_depths_of_the_same_model_are_those_of_keras():
    x, *_, y = same_model(ks)
    model = ks.Model(x, y)
    ours = [[node.layer.name for node in nodes] for nodes in model.nodes_by_depth.values()]
    assert (ours, model.predict(ROW, verbose=0).tolist()) == tuple(answer(depths_in_keras, keras))


def symbols(library):
    """Return what a sum of Keras knows when it is made, and what it does not."""
    _, _, s, _ = same_model(library)
    history = s._keras_history
    return {
        "class": type(s).__name__,
        "operation": type(history.operation).__name__,
        "fields": list(history._fields),
        "has an owner": hasattr(s, "owner"),
        "nodes": len(history.operation._inbound_nodes),
        "attributes": sorted(name for name in vars(s) if name in ("_shape", "_dtype", "name")),
        "gradients": hasattr(library.backend, "gradients"),
    }


@asks_keras
def test_a_keras_tensor_knows_shape_dtype_and_history_at_once():
    assert answer(symbols, keras) == {
        "class": "KerasTensor",
        "operation": "Add",
        "fields": ["operation", "node_index", "tensor_index"],
        "has an owner": False,
        "nodes": 1,
        "attributes": ["_dtype", "_shape", "name"],
        "gradients": False,
    }


def classes(library):
    x, *_, y = same_model(library)
    functional = type(library.Model(x, y))
    names = ("Operation", "Function", "Layer", "Model")
    kinds = [library.Operation, library.Function, library.Layer, library.Model]
    pairs = [(a, b) for a in range(4) for b in range(4) if a != b]
    found = [f"{names[a]} < {names[b]}" for a, b in pairs if issubclass(kinds[a], kinds[b])]
    of_functional = [
        name for name, kind in zip(names, kinds, strict=True) if issubclass(functional, kind)
    ]
    has_updates = hasattr(library.layers.BatchNormalization(), "updates")
    return {"subclasses": found, "Functional": of_functional, "updates": has_updates}


@asks_keras
def test_a_layer_is_an_operation_and_a_function_is_no_layer():
    assert answer(classes, keras) == {
        "subclasses": [
            "Function < Operation",
            "Layer < Operation",
            "Model < Operation",
            "Model < Layer",
        ],
        "Functional": ["Operation", "Function", "Layer", "Model"],
        "updates": False,
    }


def bodies(library):
    """Return how often the bodies of two layers run on symbols and on arrays, and on what."""

    class Loud(library.layers.Layer):
        def call(self, x):
            ran.append(type(x).__name__)
            return 2 * x

    class WithShape(Loud):
        def compute_output_shape(self, shape):
            return shape

    found = []
    for kind in (Loud, WithShape):
        ran = []
        layer = kind()
        layer(library.Input((4,)))
        found.append(len(ran))
        found.append(all("Tracer" in one for one in ran))
        layer(np.ones((1, 4), "float32"))
        found.append(len(ran))
    return found


@asks_keras
def test_on_symbols_a_body_runs_once_on_a_tracer_or_not_at_all():
    once, on_tracers, then, never, _, at_last = answer(bodies, keras)
    assert (once, on_tracers, then) == (1, True, 2)
    assert (never, at_last) == (0, 1)


def source_of_function(library):
    """Return the words of Keras's source that chapter 22 quotes, on one line."""
    module = inspect.getmodule(library.Function)
    return " ".join(inspect.getsource(module).replace("#", " ").split())


def quoted(library, words):
    return [one in source_of_function(library) for one in words]


QUOTED = (
    "Original Keras used a cache to avoid recomputing all this when known input shapes where seen "
    "again. Perhaps a good idea to bring that back.",
    "def _run_through_graph(",
    "tensor_dict[id(x)] = y",
    "depth_keys.sort(reverse=True)",
    "def map_graph(inputs, outputs):",
)


@asks_keras
def test_what_the_chapter_quotes_is_in_the_source():
    assert answer(quoted, keras, list(QUOTED)) == [True] * len(QUOTED)
    for name in ("en", "zh"):
        assert QUOTED[0] in chapter_of_the_course("22").lessons[name].source


def writes_the_layers_before_an_epoch_ends(library):
    """Return whether `fit` writes the state into the layers after the batches of an epoch."""
    source = inspect.getsource(library.Model.fit)
    places = ["self.train_function(", "self.jax_state_sync()", "callbacks.on_epoch_end("]
    found = [source.find(place) for place in places]
    return -1 < found[0] < found[1] < found[2]


@asks_keras
def test_on_jax_the_state_is_written_into_the_layers_once_an_epoch():
    assert answer(writes_the_layers_before_an_epoch_ends, keras)


def operations(library):
    """Return how many functions of keras.ops are called on symbols, and one that was."""
    x = library.Input((4,))
    made = type(library.ops.sin(x)._keras_history.operation)
    names = [name for name in dir(library.ops) if callable(getattr(library.ops, name))]
    number = len([name for name in names if not name.startswith("_")])
    return number, made.__name__, issubclass(made, library.layers.Layer)


@asks_keras
def test_there_are_several_hundred_operations_and_they_are_no_layers():
    number, name, is_layer = answer(operations, keras)
    assert 200 < number < 600
    assert (name, is_layer) == ("Sin", False)


ROWS = np.array([[1.0, 3.0], [3.0, 5.0]], dtype="float32")


def moving_means(library, numbers_of):
    """Return the moving means that three stateless calls return, and that of the layer."""
    norm = library.layers.BatchNormalization(momentum=0.5, epsilon=0.0)
    norm.build((None, 2))
    trained = [numbers_of(v) for v in norm.trainable_variables]
    state = [numbers_of(v) for v in norm.non_trainable_variables]
    found = []
    for _ in range(3):
        _, state = norm.stateless_call(trained, state, ROWS, training=True)
        found.append(np.asarray(state[0]).tolist())
    return found, np.asarray(numbers_of(norm.non_trainable_variables[0])).tolist()


@asks_keras
@pytest.mark.usefixtures("dialect_3")
def test_stateless_calls_hand_on_the_same_numbers():
    *means, last = printed("22", "states-handed-on").splitlines()
    expected = [ast.literal_eval(line.partition(" ")[2]) for line in means]
    assert expected == moving_means(ks, K.get_value)[0]
    theirs, in_the_layer = answer(moving_means, keras, value_of_keras)
    assert (theirs, in_the_layer) == (expected, [0, 0])
    assert last == "in the layer: [0.0, 0.0]"


def value_of_keras(variable):
    return variable.value


def slope_by_jax(library):
    """Return the derivative of the loss of chapter 22 by the last bias, by JAX."""
    x, *_, y = same_model(library)
    model = library.Model(x, y)

    import jax

    def loss(weights):
        outputs, _ = model.stateless_call(weights, [], ROW)
        return ((outputs - 40.0) ** 2).sum()

    weights = [v.value for v in model.trainable_variables]
    return float(loss(weights)), np.asarray(jax.grad(loss)(weights)[3]).tolist()


@asks_keras
def test_jax_differentiates_the_pure_function():
    lines = printed("22", "pure-loss").splitlines()
    assert lines[0].endswith(" 100.0 100.0")
    assert lines[2] == "by the sweep:   [20.]"
    assert answer(slope_by_jax, keras) == (100.0, [20.0])
