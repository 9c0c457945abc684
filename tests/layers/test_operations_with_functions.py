"""Loops, choices and derivatives of `keras.ops`: on arrays, on symbols, against real Keras 3."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from keras_reference import answer, keras

from kerascope import Input, K, Model, layers
from kerascope.errors import ArgumentError, GradientError, GraphError, ShapeError
from kerascope.layers.ops import keras_ops
from kerascope.nested_values import flattened

X = np.random.default_rng(4).normal(size=(5, 3)).astype("float32")
Y = np.random.default_rng(6).normal(size=(5, 3)).astype("float32")
ONE = np.float32(1.0)


def loss_with_gradient(ops: Any) -> Any:
    @ops.custom_gradient
    def log1pexp(x: Any) -> Any:
        e = ops.exp(x)

        def grad(upstream: Any) -> Any:
            return ops.multiply(upstream, 1.0 - 1.0 / ops.add(1.0, e))

        return ops.log(1 + e), grad

    return log1pexp


# Of the library's ops and an array, what a loop makes; each is also asked of real Keras.
LOOPS: dict[str, Any] = {
    "while": lambda ops, x: ops.while_loop(
        lambda i, v: ops.sum(v) < 50.0, lambda i, v: (i + 1, ops.abs(v) * 2.0), (0, x)
    ),
    "while of one": lambda ops, x: ops.while_loop(
        lambda v: ops.sum(v) < 50.0, lambda v: ops.abs(v) * 2.0, x, maximum_iterations=2
    ),
    "fori": lambda ops, x: ops.fori_loop(1, 4, lambda i, v: v * ops.cast(i, "float32") + 1.0, x),
    "scan": lambda ops, x: ops.scan(lambda c, v: (c + v, c * v), x[0], x),
    "scan backwards": lambda ops, x: ops.scan(lambda c, v: (c * 0.5 + v, c), x[0], x, reverse=True),
    "scan of structures": lambda ops, x: ops.scan(
        lambda c, v: ([c[0] + v[0], c[1] * 0.9], (v[1], c[1])), [x[0], x[1]], (x, x * 2)
    ),
    "scan without xs": lambda ops, x: ops.scan(lambda c, _: (c * 1.5, c), x, length=3),
    "associative scan": lambda ops, x: ops.associative_scan(lambda a, b: a + b, x),
    "associative scan backwards": lambda ops, x: ops.associative_scan(
        lambda a, b: a * b, x, reverse=True, axis=1
    ),
    "associative scan of structures": lambda ops, x: ops.associative_scan(
        lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, x + 1.0)
    ),
    "map": lambda ops, x: ops.map(lambda v: ops.sum(v) * v, x),
    "map of structures": lambda ops, x: ops.map(lambda v: (v[0] + v[1], v[0]), (x, x)),
    "vectorized_map": lambda ops, x: ops.vectorized_map(lambda v: v * 2.0, x),
    "vectorize": lambda ops, x: ops.vectorize(lambda a, b: ops.maximum(a, b) * b)(x, x[0]),
    "vectorize with a signature": lambda ops, x: ops.vectorize(
        lambda a, b: ops.sum(a) * b, signature="(n),(n)->(n)"
    )(x, x[0]),
    "cond": lambda ops, x: ops.cond(ops.sum(x) > 0, lambda: x, lambda: -x),
    "switch": lambda ops, x: ops.switch(2, [lambda v: v, lambda v: v + 1, lambda v: v * 3], x),
    "switch beyond the end": lambda ops, x: ops.switch(9, [lambda v: v, lambda v: v + 1], x),
    "custom gradient": lambda ops, x: loss_with_gradient(ops)(x),
    "jvp": lambda ops, x: ops.jvp(lambda v: ops.sin(v) * v, (x,), (x * 2,)),
}


def flat(value: Any) -> list[np.ndarray]:
    if isinstance(value, (list, tuple)):
        return [one for item in value for one in flat(item)]
    return [np.asarray(value)]


def of_keras(module: Any, name: str) -> list[np.ndarray]:
    return flat(LOOPS[name](module.ops, module.ops.convert_to_tensor(X)))


def near(found: Any, expected: Any) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.usefixtures("answers")
def test_on_arrays_and_on_symbols_a_loop_computes_what_keras_3_computes(name: str) -> None:
    expected = answer(of_keras, keras, name)
    near(flat(LOOPS[name](keras_ops, X)), expected)
    for shape in (X.shape, (None, 3)):
        x = K.placeholder(shape)
        made, _ = flattened(LOOPS[name](keras_ops, x))
        near(K.function([x], [made_one + 0 for made_one in made])([X]), expected)


@pytest.mark.parametrize("name", [n for n in LOOPS if "while" not in n and n != "custom gradient"])
def test_the_gradient_through_a_loop_is_that_of_finite_differences(name: str) -> None:
    x = K.placeholder((None, 3), dtype="float64")
    made = [one for one in flattened(LOOPS[name](keras_ops, x))[0] if one.dtype == "float64"]
    terms = [K.sum(K.cos(one) * one) for one in made]
    loss = sum(terms[1:], start=terms[0])
    slope = K.function([x], K.gradients(loss, x))([X])[0]
    compute = K.function([x], loss)
    for place in [(0, 0), (2, 1), (4, 2)]:
        moved = [np.array(X, "float64") for _ in range(2)]
        moved[0][place] += 1e-5
        moved[1][place] -= 1e-5
        numeric = (compute([moved[0]]) - compute([moved[1]])) / 2e-5
        np.testing.assert_allclose(slope[place], numeric, rtol=1e-4, atol=1e-6)


def test_a_gradient_of_ones_own_is_the_one_that_is_used() -> None:
    x = K.placeholder((3,))
    doubled = keras_ops.custom_gradient(lambda v: (v * 2.0, lambda up: up * 7.0))(x)
    slope = K.gradients(K.sum(doubled), x)[0]
    assert K.function([x], [doubled, slope])([[1.0, 2.0, 3.0]])[1].tolist() == [7.0] * 3
    steep = K.gradients(K.sum(loss_with_gradient(keras_ops)(x)), x)[0]
    np.testing.assert_allclose(K.function([x], steep)([[0.0] * 3]), 0.5)


def test_in_a_layer_a_loop_is_trained_and_an_index_from_outside_chooses() -> None:
    class Repeated(layers.Layer):
        def build(self, input_shape: Any) -> None:
            self.w = self.add_weight("w", (3,), initializer="ones")

        def call(self, inputs: Any) -> Any:
            return keras_ops.fori_loop(0, 3, lambda i, v: v * self.w, inputs)

    x = Input((3,))
    model = Model(x, Repeated()(x))
    model.compile("sgd", "mse")
    model.train_on_batch(X, 2 * X)
    assert (model.get_weights()[0] > 1).all()
    index = K.placeholder((), dtype="int32")
    branches = [lambda: {"a": X}, lambda: {"a": X * 2}, lambda: {"a": X * 3}]
    chosen = K.function([index], keras_ops.switch(index, branches)["a"])
    for number, factor in [(-1, 1), (0, 1), (1, 2), (2, 3), (7, 3)]:
        np.testing.assert_allclose(chosen([number]), X * factor, rtol=1e-6)


def test_only_the_body_whose_condition_holds_is_run() -> None:
    steps = K.placeholder((), dtype="int32")
    table = K.constant([1, 2, 3], "int32")
    total = keras_ops.while_loop(
        lambda i, t: i < steps, lambda i, t: (i + 1, t + K.gather(table, i)), (0 * steps, 0)
    )
    assert K.function([steps], list(total))([3]) == [3, 6]


def looped(x: Any) -> Any:
    return keras_ops.while_loop(lambda v: K.sum(v) < 50, lambda v: v * 2.0, x)


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda x: K.gradients(K.sum(looped(x)), x), GradientError, "Use fori_loop, scan or map"),
        (
            lambda x: keras_ops.while_loop(lambda v: True, lambda v: K.random_normal((2, 3)), x),
            GraphError,
            "random numbers drawn inside",
        ),
        (
            lambda x: keras_ops.while_loop(lambda v: True, lambda v: v[0], x),
            ShapeError,
            "a state must keep its shape",
        ),
        (
            lambda x: keras_ops.while_loop(lambda a, b: True, lambda a, b: [a], (x, x)),
            ArgumentError,
            "expected 2 values from the body, .* got 1",
        ),
        (lambda x: keras_ops.scan(lambda c, v: c, x, x), ArgumentError, "returns the pair"),
        (lambda x: keras_ops.scan(lambda c, v: (c, v), x), ArgumentError, "Give xs or length"),
        (
            lambda x: keras_ops.scan(lambda c, v: (c[0], v), x, x),
            ShapeError,
            "must keep its shape",
        ),
        (
            lambda x: keras_ops.switch(K.cast(x[0, 0], "int32"), [lambda: x, lambda: (x, x)]),
            ArgumentError,
            "that return the same structure",
        ),
        (
            lambda x: K.gradients(
                K.sum(keras_ops.custom_gradient(lambda v: (v, lambda up: (up, up)))(x)), x
            ),
            GradientError,
            "expected 1 tensors .* got 2",
        ),
    ],
)
def test_what_cannot_be_done_is_said(call: Any, kind: Any, words: str) -> None:
    with pytest.raises(kind, match=words):
        call(K.placeholder((2, 3)))
