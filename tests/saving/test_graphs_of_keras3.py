"""What a graph in a file begins and ends with: calls of nested models, dicts, nested lists."""

from __future__ import annotations

import itertools
import json
import pickle
from typing import Any

import numpy as np
import pytest

import kerascope
from kerascope import config
from kerascope.errors import ArgumentError, DataError, DtypeError, KerascopeWarning
from kerascope.models import clone_model, load_model, model_from_json

pytestmark = pytest.mark.filterwarnings("ignore")

A = np.sin(np.arange(12, dtype="float32")).reshape(3, 4)
B = np.cos(np.arange(12, dtype="float32")).reshape(3, 4)
Y = np.ones((3, 2), "float32")


@pytest.fixture(autouse=True)
def in_dialect_3() -> Any:
    config.dialect = "3"
    yield
    config.dialect = "2.2"


def listed(found: Any) -> list[np.ndarray]:
    if isinstance(found, dict):
        found = [found[key] for key in sorted(found)]
    return [np.asarray(y) for y in found] if isinstance(found, (list, tuple)) else [found]


def agree(found: Any, expected: Any) -> None:
    for one, other in zip(listed(found), listed(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def with_weights(twin: Any, model: Any) -> Any:
    twin.set_weights(model.get_weights())
    return twin


# --- calls of nested models -----------------------------------------------------------------------

# What comes out, of three calls of one nested model (0, 1, 2), and of a Dense on one of them.
ENDS = [[0], [1], [1, 0], [2, "dense 0"], ["dense 2", 1], ["dense 1", "dense 0", 2]]


def with_calls(library: Any, ends: list[Any], kind: str) -> Any:
    layers = library.layers
    if kind == "line":
        inner = library.Sequential([library.Input((4,)), layers.Dense(4)])
    else:
        x = library.Input((4,))
        inner = library.Model(x, layers.Dense(4)(x))
    a, b = library.Input((4,)), library.Input((4,))
    calls = [inner(a), inner(b), inner(layers.Dense(4)(b))]
    ended = [
        calls[end] if isinstance(end, int) else layers.Dense(2)(calls[int(end[-1])]) for end in ends
    ]
    return library.Model([a, b], ended)


@pytest.mark.parametrize("kind", ["graph", "line"])
@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_the_calls_of_a_nested_model_are_the_same_ones_in_keras_3(ends, kind, keras, tmp_path):
    theirs = with_calls(keras, ends, kind)
    expected = theirs([A, B])
    for ending in ("keras", "h5"):
        theirs.save(tmp_path / f"theirs.{ending}")
        ours = load_model(tmp_path / f"theirs.{ending}")
        agree(ours.predict([A, B]), expected)
        ours.save(tmp_path / f"ours.{ending}")
        agree(load_model(tmp_path / f"ours.{ending}").predict([A, B]), expected)
        agree(keras.models.load_model(tmp_path / f"ours.{ending}")([A, B]), expected)


@pytest.mark.parametrize("kind", ["graph", "line"])
@pytest.mark.parametrize("ends", ENDS, ids=str)
def test_keras_2_counts_the_calls_of_a_nested_model_from_1(ends, kind):
    """So do Keras 1 and tf.keras; the first edition counted from 0. All are read."""
    config.dialect = "2.2"
    model = with_calls(kerascope, ends, kind)
    told = json.loads(model.to_json())
    (inner,) = {x["name"] for x in told["config"]["layers"] if "layers" in x["config"]}
    entries = told["config"]["layers"]
    calls = [x for entry in entries for call in entry["inbound_nodes"] for x in call]
    references = [x for x in [*calls, *told["config"]["output_layers"]] if x[0] == inner]
    indices = {index for _, index, *_ in references}
    assert indices == set(range(1, len(indices) + 1))
    texts = [json.dumps(told), json.dumps(told).replace('"Model"', '"Functional"')]
    for reference in references:
        reference[1] -= 1
    for text in [*texts, json.dumps(told)]:
        twin = with_weights(model_from_json(text), model)
        np.testing.assert_array_equal(listed(twin.predict([A, B]))[0],
                                      listed(model.predict([A, B]))[0])  # fmt: skip
        agree(twin.predict([A, B]), model.predict([A, B]))


# --- inputs in a dict -----------------------------------------------------------------------------


def of_a_dict(library: Any) -> Any:
    """Return a model whose keys are in another order than its layers, and a nested one in it."""
    layers = library.layers
    p, q = library.Input((4,), name="p1"), library.Input((4,), name="p2")
    inner = library.Model({"v": p, "u": q}, layers.Subtract()([layers.Dense(2)(p), q[:, :2]]))
    one, other = library.Input((4,), name="in1"), library.Input((4,), name="in2")
    out = inner({"v": other, "u": layers.Dense(4)(one)})
    return library.Model({"b": one, "a": other}, {"y": out, "x": layers.Dense(2)(out)})


X = {"a": A, "b": B}
TARGETS = {"x": Y, "y": -Y}


def test_a_model_of_a_dict_goes_to_keras_3_and_comes_from_it(keras, tmp_path):
    theirs = of_a_dict(keras)
    theirs.compile("sgd", {"x": "mse", "y": "mae"}, run_eagerly=True)
    expected = theirs(X)
    theirs.save(tmp_path / "theirs.keras")
    theirs.save(tmp_path / "theirs.h5")
    for ending in ("keras", "h5"):
        ours = load_model(tmp_path / f"theirs.{ending}")
        assert (ours.input_names, ours.output_names) == (["a", "b"], ["x", "y"])
        agree(ours.predict(X), expected)
        agree(ours(X), expected)
        agree(ours.predict({"in1": B, "in2": A}), expected)
        ours.save(tmp_path / f"ours.{ending}")
        agree(load_model(tmp_path / f"ours.{ending}").predict(X), expected)
    agree(keras.models.load_model(tmp_path / "ours.keras")(X), expected)
    ours = load_model(tmp_path / "theirs.keras")
    agree(
        ours.train_on_batch(X, TARGETS), [np.asarray(y) for y in theirs.train_on_batch(X, TARGETS)]
    )
    agree(ours.predict(X), theirs(X))


def test_a_model_of_a_dict_that_is_made_here_is_the_same_in_keras_3(keras, tmp_path):
    ours = of_a_dict(kerascope)
    ours.save(tmp_path / "ours.keras")
    agree(keras.models.load_model(tmp_path / "ours.keras")(X), ours.predict(X))


@pytest.mark.parametrize("dialect", ["1.2", "2.2", "3"])
def test_a_dict_of_inputs_is_told_by_its_keys_everywhere(dialect):
    config.dialect = dialect
    a, b = kerascope.Input((4,), name="b"), kerascope.Input((4,), name="a")  # crossed
    layers = kerascope.layers
    out = layers.Dense(2)(layers.Subtract()([layers.Dense(3)(a), layers.Dense(3)(b)]))
    model = kerascope.Model({"a": a, "b": b}, {"out": out})
    expected = model.predict(X)
    plain = kerascope.Model([a, b], out)
    agree(expected, plain.predict([A, B]))
    agree(with_weights(clone_model(model), model).predict(X), expected)
    assert clone_model(model).output_names == ["out"]
    agree(with_weights(model_from_json(model.to_json()), model).predict(X), expected)
    agree(pickle.loads(pickle.dumps(model)).predict(X), expected)
    model.compile("sgd", {"out": "mse"})
    plain.compile("sgd", "mse")
    history = model.fit(X, {"out": Y}, epochs=2, verbose=0, validation_data=(X, {"out": Y}))
    assert history.history["val_loss"][-1] == pytest.approx(plain.evaluate([A, B], Y, verbose=0))
    model.fit_generator(itertools.repeat((X, Y)), steps_per_epoch=2, verbose=0)
    (step, *_) = (s for s in kerascope.walk(model, X) if s.layer.name == "b")
    np.testing.assert_array_equal(step.outputs[0], A)


def test_inputs_that_do_not_fit_the_keys_of_a_dict_are_refused():
    model = of_a_dict(kerascope)
    before = model.predict(X)
    for bad in ({"a": A}, {"a": A, "c": B}, {"a": A, "b": B, "c": B}):
        with pytest.raises(DataError, match=r"'b'"):
            model.predict(bad)
        with pytest.raises(ArgumentError, match=r"each of \['a', 'b'\]"):
            model(bad)
    with pytest.raises(
        DtypeError, match=r"expected strings as keys of Input tensors, got \[1, 'a'\]"
    ):
        kerascope.Model(dict(zip([1, "a"], model.inputs, strict=True)), model.outputs)
    with pytest.warns(KerascopeWarning, match=r"got a list.*order \['a', 'b'\]"):
        agree(model.predict([A, B]), before)


# --- nested lists and dicts -----------------------------------------------------------------------

NESTED = [
    lambda a, b, c: [a, {"b": b, "c": c}],
    lambda a, b, c: [a, [b, c]],
    lambda a, b, c: {"a": [a, b], "c": c},
    lambda a, b, c: {"c": {"d": a}, "a": b, "b": (c,)},
    lambda a, b, c: ((a, b), c),
]


def flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [one for key in sorted(value) for one in flat(value[key])]
    return [one for x in value for one in flat(x)] if isinstance(value, (list, tuple)) else [value]


@pytest.mark.parametrize("number", range(len(NESTED)))
def test_nested_inputs_and_outputs_of_a_file_stay_nested(number, keras, tmp_path):
    nest = NESTED[number]
    inputs = [keras.Input((4,), name=name) for name in ("i", "j", "k")]
    outputs = [keras.layers.Dense(n + 1, name=f"d{n}")(x) for n, x in enumerate(inputs)]
    theirs = keras.Model(nest(*inputs), nest(*outputs))
    arrays = [A, B, A * B]
    expected = dict(zip(("d0", "d1", "d2"), [np.asarray(keras.ops.matmul(x, layer.kernel))
                    for x, layer in zip(arrays, map(theirs.get_layer, ("d0", "d1", "d2")),
                                        strict=True)], strict=True))  # fmt: skip
    wanted = nest(*(expected[f"d{n}"] for n in range(3)))
    for ending in ("keras", "h5"):
        theirs.save(tmp_path / f"theirs.{ending}")
        ours = load_model(tmp_path / f"theirs.{ending}")
        ours.save(tmp_path / f"ours.{ending}")
        for model in (ours, load_model(tmp_path / f"ours.{ending}"), clone_of(ours)):
            assert [layer.name for layer in model.output_layers] == flat(nest("d0", "d1", "d2"))
            for x in (nest(*arrays), flat(nest(*arrays))):
                assert same_form(model.predict(x), wanted)
            assert same_form(model(nest(*arrays)), wanted)
    back = keras.models.load_model(tmp_path / "ours.keras")(nest(*arrays))
    agree(flat(back), flat(wanted))


def clone_of(model: Any) -> Any:
    return with_weights(clone_model(model), model)


def same_form(found: Any, expected: Any) -> bool:
    """Tell whether arrays agree, and stand in dicts and lists alike."""
    if isinstance(expected, dict):
        return found.keys() == expected.keys() and all(
            same_form(found[key], expected[key]) for key in expected
        )
    if isinstance(expected, (list, tuple)):
        return isinstance(found, (list, tuple)) and all(map(same_form, found, expected))
    return np.allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("number", range(len(NESTED)))
@pytest.mark.parametrize("dialect", ["2.2", "3"])
def test_nested_inputs_and_outputs_are_trained_like_a_list_of_them(number, dialect):
    config.dialect = dialect
    nest, targets = NESTED[number], [A, B, A + B]
    x = [kerascope.Input((4,)) for _ in range(3)]
    y = [kerascope.layers.Dense(4, name=name)(one) for name, one in zip("uvw", x, strict=True)]
    plain = kerascope.Model(x, y)
    nested = kerascope.Model(nest(*x), nest(*y))
    plain.compile("sgd", ["mse", "mae", "mse"], loss_weights=[1, 2, 3], metrics=[["mae"], [], []])
    nested.compile("sgd", nest("mse", "mae", "mse"), metrics=nest(["mae"], [], []),
                   loss_weights=nest(1, 2, 3))  # fmt: skip
    weights = [np.arange(3.0), np.ones(3), np.arange(3.0)]
    expected = plain.test_on_batch([A, B, B], targets, sample_weight=weights)
    found = nested.train_on_batch(nest(A, B, B), nest(*targets), sample_weight=nest(*weights))
    assert sorted(found) == pytest.approx(sorted(expected))
    assert same_form(nested.predict(nest(A, B, B)), nest(*plain.predict([A, B, B])))
    shapes = nest((3, 4), (3, 4), (3, 4))
    assert flat(nested.compute_output_shape(shapes)) == [3, 4] * 3
    with pytest.raises((ArgumentError, DataError, DtypeError)):
        nested.predict(nest(A, B, {"z": B}))
