"""Multiply-adds of calls, against closed formulas and the numbers of the papers."""

import ast
import importlib
import inspect
import pkgutil

import pytest

from kerascope import K, Model, applications
from kerascope import layers as L
from kerascope.backend import ops
from kerascope.backend.graph import Op
from kerascope.engine.costs import Cost, cost_of_call, multiply_adds
from kerascope.engine.summary import summarize


def cost(layer, shape, **kwargs):
    y = layer(L.Input(shape, **kwargs))
    return cost_of_call(y._keras_history.node)


@pytest.mark.parametrize(
    ("layer", "shape", "expected"),
    [
        (L.Dense(3), (4,), 4 * 3),
        (L.Dense(3), (7, 4), 7 * 4 * 3),
        (L.TimeDistributed(L.Dense(3)), (7, 4), 7 * 4 * 3),
        (L.Conv1D(5, 3, padding="causal"), (10, 4), 10 * 3 * 4 * 5),
        (L.Conv1D(5, 3, dilation_rate=2), (10, 4), 6 * 3 * 4 * 5),
        (L.Conv2D(8, 3, strides=2, padding="same"), (28, 28, 4), 14 * 14 * 9 * 4 * 8),
        (L.Conv2D(8, (3, 5), groups=2), (28, 28, 4), 26 * 24 * 15 * 2 * 8),
        (L.Conv2D(8, 3, data_format="channels_first"), (4, 9, 9), 7 * 7 * 9 * 4 * 8),
        (L.Conv3D(2, 2), (5, 6, 7, 3), 4 * 5 * 6 * 8 * 3 * 2),
        (L.DepthwiseConv2D(3, depth_multiplier=2), (8, 8, 3), 6 * 6 * 9 * 3 * 2),
        (L.SeparableConv2D(5, 3), (8, 8, 3), 6 * 6 * 9 * 3 + 6 * 6 * 3 * 5),
        (L.Conv2DTranspose(5, 3, strides=2), (8, 8, 3), 8 * 8 * 9 * 3 * 5),
        (L.LocallyConnected1D(5, 3), (8, 3), 6 * 3 * 3 * 5),
        (L.SimpleRNN(5), (8, 3), 8 * (3 * 5 + 5 * 5)),
        (L.LSTM(5), (8, 3), 8 * 4 * (3 * 5 + 5 * 5)),
        (L.LSTM(5, unroll=True), (8, 3), 8 * 4 * (3 * 5 + 5 * 5)),
        (L.GRU(5), (8, 3), 8 * 3 * (3 * 5 + 5 * 5)),
        (L.Bidirectional(L.LSTM(5)), (8, 3), 2 * 8 * 4 * (3 * 5 + 5 * 5)),
        (L.Embedding(10, 4), (6,), 0),
        (L.BatchNormalization(), (5,), 0),
        (L.MaxPooling2D(), (8, 8, 3), 0),
        (L.Dropout(0.5), (5,), 0),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, L.Layer) else "",
)
def test_layers_cost_what_the_formula_says(layer, shape, expected):
    assert cost(layer, shape) == Cost(expected)


def test_attention_costs_its_projections_and_two_products_of_all_pairs():
    x = L.Input((6, 8))
    y = L.MultiHeadAttention(2, 4)(x, x)
    projections, pairs = 4 * 6 * 8 * (2 * 4), 2 * 2 * 6 * 6 * 4
    assert cost_of_call(y._keras_history.node) == Cost(projections + pairs)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        (L.Dense(3), 4 * 3),
        (L.TimeDistributed(L.Dense(3)), 4 * 3),
        (L.Conv1D(5, 3, padding="same"), 3 * 4 * 5),
        (L.LSTM(5), 4 * (4 * 5 + 5 * 5)),
        (L.GRU(5, return_sequences=True), 3 * (4 * 5 + 5 * 5)),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, L.Layer) else "",
)
def test_an_unknown_number_of_steps_is_said_as_such(layer, expected):
    found = cost(layer, (None, 4))
    assert found == Cost(0, expected)
    assert str(found) == f"{expected} \N{MULTIPLICATION SIGN} steps"


@pytest.mark.parametrize(
    ("layer", "shape"),
    [
        (L.Conv1D(5, 3), (None, 4)),  # steps - 2
        (L.Conv1D(5, 3, strides=2, padding="same"), (None, 4)),  # half of the steps
        (L.Conv2D(3, 3), (None, None, 3)),
        (L.MultiHeadAttention(2, 4), (None, 8)),  # grows with the square
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, L.Layer) else "",
)
def test_a_cost_that_is_no_multiple_of_the_steps_is_unknown(layer, shape):
    x = L.Input(shape)
    y = layer(x, x) if isinstance(layer, L.MultiHeadAttention) else layer(x)
    assert cost_of_call(y._keras_history.node) is None


def test_unknown_sizes_that_no_product_depends_on_do_no_harm():
    assert cost(L.GlobalAveragePooling2D(), (None, None, 3)) == Cost(0)


def test_a_mask_is_part_of_another_call():
    h = L.Embedding(10, 4, mask_zero=True)(L.Input((6,)))
    y = L.LSTM(3)(L.Masking()(h))
    assert cost_of_call(y._keras_history.node) == Cost(6 * 4 * (4 * 3 + 3 * 3))


def test_a_fixed_batch_is_divided_by():
    stateful = cost(L.LSTM(5, stateful=True), (8, 3), batch_size=4)
    assert stateful == cost(L.LSTM(5), (8, 3))


def test_a_nested_model_costs_what_its_layers_do_and_each_call_counts():
    x = L.Input((4,))
    shared = L.Dense(4)
    inner = Model(x, L.Dense(2)(shared(shared(x))), name="inner")
    y = L.Input((4,))
    summary = summarize(Model(y, L.Dense(1)(inner(y))), flops=True, expand_nested=True)
    costs = [row.multiply_adds for row in summary.rows]
    assert costs == [Cost(0), Cost(40), Cost(0), Cost(32), Cost(8), Cost(2)]
    assert summary.multiply_adds == Cost(42)


def test_a_custom_layer_is_counted_by_its_ops():
    class Twice(L.Layer):
        def call(self, x):
            return K.dot(K.dot(x, K.ones((4, 6))), K.ones((6, 3)))

    assert cost(Twice(), (4,)) == Cost(4 * 6 + 6 * 3)
    assert cost(L.Lambda(lambda x: K.batch_dot(x, x, axes=2)), (5, 3)) == Cost(5 * 5 * 3)


class Cubes(Op):
    def infer_shape(self, x):
        return x.shape


def test_an_op_from_elsewhere_is_unknown_until_it_says_its_cost():
    layer = L.Lambda(lambda x: Cubes()(x))
    assert cost(layer, (4,)) is None
    summary = summarize(Model(x := L.Input((4,)), L.Dense(2)(layer(x))), flops=True)
    assert (summary.unknown_costs, summary.multiply_adds) == (1, Cost(8))

    class KnownCubes(Cubes):
        pass

    multiply_adds.register(KnownCubes, lambda op, inputs, outputs: 2 * inputs[0].shape[1])
    assert cost(L.Lambda(lambda x: KnownCubes()(x)), (4,)) == Cost(8)


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        # 138 million weights, half a gigabyte.
        pytest.param(applications.VGG16, 15_470_264_320, marks=pytest.mark.slow),
        (applications.ResNet50, 3_857_973_248),
        (applications.MobileNet, 568_740_352),
        (applications.InceptionV3, 5_713_216_096),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_known_networks_cost_what_is_known_of_them(build, expected):
    """15.47 G, 3.86 G, 569 M and 5.7 G."""
    summary = summarize(build(weights=None), flops=True)
    assert (summary.multiply_adds, summary.unknown_costs) == (Cost(expected), 0)


WITH_PRODUCTS = {
    "BatchDot", "Contraction", "ConvolutionKernelGradient", "Convolve", "ConvolveBack", "Dot",
    "Einsum", "MatMul", "PartOfScan", "Scan", "ScanOnce", "TensorDot",
}  # fmt: skip
# The gradient of the CTC cost, which no layer has in its call; sums of rows, which the BLAS does as
# products with ones; decompositions and what is solved by them, which count nothing.
LITTLE = {"Cholesky", "CtcShares", "LeastSquares", "Solve", "Sum", "SumTo", "Svd"}


def all_ops():
    """Yield the name of each op, its class, and the text of the class."""
    for info in pkgutil.iter_modules(ops.__path__, f"{ops.__name__}."):
        module = importlib.import_module(info.name)
        text = inspect.getsource(module)
        lines = text.splitlines()
        for node in ast.parse(text).body:
            kind = getattr(module, getattr(node, "name", ""), None)
            if isinstance(node, ast.ClassDef) and issubclass(kind, Op):
                yield node.name, kind, "\n".join(lines[node.lineno - 1 : node.end_lineno])


def test_every_op_with_a_rule_is_known_here_and_no_other_multiplies_matrices():
    """An op that makes products with NumPy needs a rule; this finds one that was forgotten."""
    default = multiply_adds.dispatch(Op)
    found = list(all_ops())
    assert {
        name for name, kind, _ in found if multiply_adds.dispatch(kind) is not default
    } == WITH_PRODUCTS
    words = ("np.dot", "np.matmul", "np.tensordot", "np.einsum", " @ ", "arrays.convol")
    multiplying = {name for name, _, text in found if any(word in text for word in words)}
    assert multiplying - WITH_PRODUCTS == LITTLE
