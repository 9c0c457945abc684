"""Two models of kerascope: what was planted is found at its call, and equal models are equal."""

import models_and_ports
import numpy as np
import pytest
from models_and_ports import fill

import kerascope as ks
from kerascope.errors import ArgumentError
from kerascope.layers import (
    LSTM,
    Activation,
    Add,
    BatchNormalization,
    Conv2D,
    Dense,
    Dropout,
    Embedding,
    Flatten,
    Lambda,
    MaxPooling2D,
    MultiHeadAttention,
    TimeDistributed,
)


def images(
    prefix="a", padding="same", epsilon=1e-3, activation="relu", pool="valid", reverse=False
):
    x = ks.Input((8, 8, 3), name=f"{prefix}_x")
    h = Conv2D(4, 3, strides=2, padding=padding, activation=activation, name=f"{prefix}_conv")(x)
    h = BatchNormalization(epsilon=epsilon, name=f"{prefix}_norm")(h)
    branches = [
        lambda: Conv2D(4, 1, name=f"{prefix}_left")(h),
        lambda: Conv2D(4, 1, activation="tanh", name=f"{prefix}_right")(h),
    ]
    made = [branch() for branch in (branches[::-1] if reverse else branches)]
    joined = Add(name=f"{prefix}_add")(made[::-1] if reverse else made)
    h = MaxPooling2D(2, padding=pool, name=f"{prefix}_pool")(joined)
    h = Dropout(0.5, name=f"{prefix}_drop")(Flatten(name=f"{prefix}_flat")(h))
    return ks.Model(x, Dense(5, activation="softmax", name=f"{prefix}_scores")(h))


def port_of(model, **changes):
    port = images("b", **changes)
    for layer in port.layers:
        layer.set_weights(model.get_layer(f"a{layer.name[1:]}").get_weights())
    return port


@pytest.fixture(scope="module")
def model():
    return fill(images(), 1)


def first(comparison):
    return comparison.first.a[0].id, comparison.first.b[0].id


# --- equal ----------------------------------------------------------------------------------------


def test_a_port_with_other_names_is_equal(model):
    found = ks.compare(model, port_of(model))
    assert found.equal
    assert found.first is None
    assert not found.only_a
    assert not found.only_b
    assert [pair.a[0].id[1:] for pair in found.pairs] == [pair.b[0].id[1:] for pair in found.pairs]


def test_branches_that_run_in_another_order_are_paired_by_what_they_compute(model):
    found = ks.compare(model, port_of(model, reverse=True))
    assert found.equal
    assert [pair.a[0].id[1:] for pair in found.pairs] == [pair.b[0].id[1:] for pair in found.pairs]


def test_an_activation_of_its_own_stands_beside_one_inside_a_layer():
    def split(prefix, is_split):
        x = ks.Input((4,), name=f"{prefix}x")
        inside = None if is_split else "relu"
        h = Dense(6, activation=inside, name=f"{prefix}1")(x)
        h = Activation("relu", name=f"{prefix}relu")(h) if is_split else h
        return ks.Model(x, Dense(2, name=f"{prefix}2")(h))

    one = fill(split("a", False), 3)
    other = split("b", True)
    other.set_weights(one.get_weights())
    found = ks.compare(one, other)
    assert found.equal
    assert not found.only_b
    assert found.pairs[1].name_b == "b1 + brelu"
    kernel, bias = other.layers[1].get_weights()
    kernel[2, 3] += 1
    other.layers[1].set_weights([kernel, bias])
    found = ks.compare(one, other)
    assert first(found) == ("a1", "b1")
    assert "kernel[2, 3]" in found.first.reasons[0]


def test_a_normalization_that_was_folded_into_its_convolution_is_no_difference():
    def build(prefix, folded):
        x = ks.Input((6, 6, 2), name=f"{prefix}x")
        h = Conv2D(3, 3, name=f"{prefix}conv")(x)
        h = h if folded else BatchNormalization(name=f"{prefix}norm")(h)
        return ks.Model(x, Conv2D(2, 1, name=f"{prefix}last")(h))

    one, other = fill(build("a", False), 5), build("b", True)
    kernel, bias = one.layers[1].get_weights()
    gamma, beta, mean, variance = one.layers[2].get_weights()
    scale = gamma / np.sqrt(variance + 1e-3)
    other.layers[1].set_weights([kernel * scale, (bias - mean) * scale + beta])
    other.layers[2].set_weights(one.layers[3].get_weights())
    found = ks.compare(one, other)
    assert found.equal
    assert [call.id for call in found.only_a] == ["aconv"]
    assert ("anorm", "bconv") in [(pair.name_a, pair.name_b) for pair in found.pairs]


def test_one_dense_layer_for_queries_keys_and_values_stands_beside_three():
    def build(prefix, fused):
        x = ks.Input((5, 4), name=f"{prefix}x")
        if fused:
            joined = Dense(12, name=f"{prefix}qkv")(x)
            q, k, v = (Lambda(lambda t, i=i: t[..., 4 * i : 4 * i + 4])(joined) for i in range(3))
        else:
            q, k, v = (Dense(4, name=f"{prefix}{name}")(x) for name in "qkv")
        h = ks.layers.Attention(name=f"{prefix}att")([q, v, k])
        return ks.Model(x, Dense(2, name=f"{prefix}out")(h))

    one, other = fill(build("a", False), 6), build("b", True)
    parts = [one.get_layer(f"a{name}").get_weights() for name in "qkv"]
    other.get_layer("bqkv").set_weights([np.concatenate(p, -1) for p in zip(*parts, strict=True)])
    other.get_layer("bout").set_weights(one.get_layer("aout").get_weights())
    found = ks.compare(one, other)
    assert found.equal
    assert [call.id for call in found.only_b] == ["bqkv"]
    for column, name in ((1, "aq"), (6, "ak"), (11, "av")):
        kernel, bias = other.get_layer("bqkv").get_weights()
        changed = kernel.copy()
        changed[2, column] += 1
        other.get_layer("bqkv").set_weights([changed, bias])
        found = ks.compare(one, other)
        assert first(found) == (name, "bqkv")
        assert f"kernel[2, {column % 4}] is" in found.first.reasons[0]
        assert "kernel differs at one number of 16" in found.first.reasons[0]
        other.get_layer("bqkv").set_weights([kernel, bias])


def test_a_layer_of_its_own_is_no_part_of_a_wider_one():
    def build(prefix, has_more):
        x = ks.Input((4,), name=f"{prefix}x")
        h = Dense(6, name=f"{prefix}wide")(x)
        outputs = [Dense(2, name=f"{prefix}end")(h)]
        return ks.Model(x, outputs + [Dense(3, name=f"{prefix}more")(x)] * has_more)

    one, other = fill(build("a", True), 1), fill(build("b", False), 1)
    for name in ("wide", "end"):
        other.get_layer(f"b{name}").set_weights(one.get_layer(f"a{name}").get_weights())
    found = ks.compare(one, other)
    assert found.equal, str(found)
    assert [call.id for call in found.only_a] == ["amore"]


def test_zeros_after_a_relu_pair_nothing():
    def build(prefix):
        x = ks.Input((3,), name=f"{prefix}x")
        dead = Dense(4, activation="relu", name=f"{prefix}dead")(x)
        other = Dense(4, activation="relu", name=f"{prefix}other")(x)
        return ks.Model(x, Dense(2, name=f"{prefix}end")(Add(name=f"{prefix}add")([dead, other])))

    models = [fill(build("a"), 2), build("b")]
    for name in ("dead", "other"):  # both give zeros only
        kernel, _ = models[0].get_layer(f"a{name}").get_weights()
        models[0].get_layer(f"a{name}").set_weights([kernel, np.full(4, -100.0)])
    for layer in models[1].layers:
        layer.set_weights(models[0].get_layer(f"a{layer.name[1:]}").get_weights())
    found = ks.compare(*models)
    assert found.equal
    assert ("adead", "bdead") in [(pair.name_a, pair.name_b) for pair in found.pairs]


def test_a_nested_model_is_compared_call_by_call():
    def build(nested):
        inner = ks.Sequential([Dense(3, input_shape=(4,), name="one"), Dense(3, name="two")])
        x = ks.Input((4,), name="x")
        if nested:
            return ks.Model(x, Dense(1, name="end")(inner(x)))
        h = Dense(3, name="two")(Dense(3, name="one")(x))
        return ks.Model(x, Dense(1, name="end")(h))

    one, other = fill(build(False), 4), build(True)
    other.set_weights(one.get_weights())
    found = ks.compare(one, other)
    assert found.equal
    assert [pair.name_b.rpartition("/")[2] for pair in found.pairs] == ["x", "one", "two", "end"]


def test_float16_beside_float32_agrees_within_its_own_tolerance(model):
    with_half = images("b")
    ks.backend.set_floatx("float16")
    try:
        half = images("h")
    finally:
        ks.backend.set_floatx("float32")
    for layer in (*half.layers, *with_half.layers):
        layer.set_weights(model.get_layer(f"a{layer.name[1:]}").get_weights())
    found = ks.compare(with_half, half)
    assert found.equal, str(found)
    assert found.tolerance.dtype == "float16"
    kernel, bias = half.get_layer("h_left").get_weights()
    kernel[0, 0, 1, 2] += 1
    half.get_layer("h_left").set_weights([kernel, bias])
    found = ks.compare(with_half, half)
    assert first(found) == ("b_left", "h_left")
    assert "kernel[0, 0, 1, 2]" in found.first.reasons[0]


# --- planted differences --------------------------------------------------------------------------


def test_one_weight_is_found_and_told(model):
    port = port_of(model)
    kernel, bias = port.get_layer("b_right").get_weights()
    kernel[0, 0, 2, 1] += 0.5
    port.get_layer("b_right").set_weights([kernel, bias])
    found = ks.compare(model, port)
    assert first(found) == ("a_right", "b_right")
    told = "kernel differs at one number of 16: kernel[0, 0, 2, 1] is "
    assert found.first.reasons[0].startswith(told)


@pytest.mark.parametrize(
    ("changes", "name", "reason"),
    [
        ({"epsilon": 1e-1}, "norm", "epsilon 0.001 in a, 0.1 in b"),
        ({"activation": "elu"}, "conv", "activation relu in a, elu in b"),
        ({"activation": None}, "conv", "activation relu in a, none in b"),
    ],
    ids=["epsilon", "activation", "no activation"],
)
def test_another_setting_is_found_and_told(model, changes, name, reason):
    found = ks.compare(model, port_of(model, **changes))
    assert first(found) == (f"a_{name}", f"b_{name}")
    assert reason in " ".join(found.first.reasons)


def test_another_padding_is_found_though_the_shapes_differ():
    def build(prefix, padding):
        x = ks.Input((8, 8, 3), name=f"{prefix}x")
        h = Conv2D(4, 3, padding=padding, name=f"{prefix}conv")(x)
        h = MaxPooling2D(2, name=f"{prefix}pool")(h)
        h = ks.layers.GlobalAveragePooling2D(name=f"{prefix}mean")(h)
        return ks.Model(x, Dense(2, name=f"{prefix}end")(h))

    one, other = fill(build("a", "same"), 3), build("b", "valid")
    other.set_weights(one.get_weights())
    found = ks.compare(one, other)
    assert first(found) == ("aconv", "bconv")
    told = " ".join(found.first.reasons)
    assert "(2, 8, 8, 4) in a, (2, 6, 6, 4) in b" in told
    assert "padding same (1 before and 1 after) in a, 0 in b" in told
    assert len(found.pairs) == 5


def test_a_transposed_kernel_is_found_and_told(model):
    port = port_of(model)
    kernel, bias = port.get_layer("b_conv").get_weights()
    port.get_layer("b_conv").set_weights([kernel.transpose(1, 0, 2, 3), bias])
    found = ks.compare(model, port)
    assert first(found) == ("a_conv", "b_conv")
    assert found.first.reasons[0] == (
        "kernel holds the same numbers in the wrong order: transposed, axes (1, 0, 2, 3)"
    )


def test_a_kernel_turned_around_is_told(model):
    port = port_of(model)
    kernel, bias = port.get_layer("b_conv").get_weights()
    port.get_layer("b_conv").set_weights([kernel[::-1, ::-1], bias])
    found = ks.compare(model, port)
    assert "reversed along axes (0, 1)" in found.first.reasons[0]


def test_the_two_forms_of_gelu_are_told_apart():
    def build(prefix, exact):
        x = ks.Input((6,), name=f"{prefix}x")
        h = Dense(8, name=f"{prefix}1")(x)
        h = Lambda(lambda t: ks.activations.gelu(t, approximate=not exact), name=f"{prefix}gelu")(h)
        return ks.Model(x, Dense(2, name=f"{prefix}2")(h))

    one, other = fill(build("a", True), 7), build("b", False)
    other.set_weights(one.get_weights())
    found = ks.compare(one, other, tolerance=1e-6)
    assert first(found) == ("agelu", "bgelu")


@pytest.mark.parametrize("op", [Lambda, Activation])
def test_the_two_forms_of_gelu_are_told_apart_beside_large_numbers(op):
    def build(prefix, exact):
        def form(t):
            return ks.activations.gelu(t, approximate=not exact)

        x = ks.Input((6,), name=f"{prefix}x")
        h = op(form, name=f"{prefix}gelu")(Dense(30, name=f"{prefix}1")(x))
        return ks.Model(x, Dense(2, name=f"{prefix}2")(h))

    one, other = fill(build("a", True), 7), build("b", False)
    other.set_weights(one.get_weights())
    x = np.random.default_rng(0).normal(size=(9, 6)) * 10
    found = ks.compare(one, other, x)
    assert first(found) == ("agelu", "bgelu")
    assert found.first.difference.relative < found.tolerance.value
    assert found.first.reasons[0] == "gelu is computed exactly in a, by a tanh in b"
    assert "gelu is computed by a tanh in a" in ks.compare(other, one, x).first.reasons[0]
    assert ks.compare(one, one, x).equal
    assert "its settings differ first" in str(found.graph())


def test_an_epsilon_that_the_tolerance_hides_is_found(model):
    ks.backend.set_floatx("float16")
    try:
        halves = [port_of(model, epsilon=epsilon) for epsilon in (1e-3, 1e-5)]
    finally:
        ks.backend.set_floatx("float32")
    assert ks.compare(model, halves[0]).equal
    found = ks.compare(model, halves[1])
    assert first(found) == ("a_norm", "b_norm")
    assert found.first.verdict.is_difference
    assert found.first.reasons[0] == "settings differ: epsilon 0.001 in a, 1e-05 in b"
    assert "less than the tolerance" in str(found)


def test_what_is_known_of_a_call_is_short_to_print(model):
    found = ks.compare(model, port_of(model))
    assert len(repr(found.pairs[1].a)) < 2000


def test_a_mask_that_was_dropped_is_found_where_it_counts():
    def build(prefix, mask_zero):
        x = ks.Input((6,), dtype="int32", name=f"{prefix}x")
        h = Embedding(10, 4, mask_zero=mask_zero, name=f"{prefix}words")(x)
        return ks.Model(x, Dense(2, name=f"{prefix}2")(LSTM(3, name=f"{prefix}lstm")(h)))

    one, other = fill(build("a", True), 7), build("b", False)
    other.set_weights(one.get_weights())
    words = np.array([[3, 4, 5, 0, 0, 0], [1, 2, 0, 0, 0, 0]])
    found = ks.compare(one, other, words)
    assert first(found) == ("alstm", "blstm")
    assert "mask yes in a, no in b" in " ".join(found.first.reasons)
    assert ks.compare(one, other, np.array([[3, 4, 5, 1, 2, 6]])).equal


def test_a_weight_that_this_input_does_not_reach_is_found_all_the_same():
    def build(prefix):
        x = ks.Input((3,), name=f"{prefix}x")
        h = Dense(4, activation="relu", name=f"{prefix}1")(x)
        return ks.Model(x, Dense(2, name=f"{prefix}2")(h))

    one, other = fill(build("a"), 8), build("b")
    other.set_weights(one.get_weights())
    kernel, bias = other.layers[2].get_weights()
    kernel[0] += 2
    other.layers[2].set_weights([kernel, bias])
    dead = [np.zeros((3, 4)), np.array([-5.0, 1, 1, 1])]
    for model in (one, other):
        model.layers[1].set_weights(dead)
    found = ks.compare(one, other)
    assert first(found) == ("a2", "b2")
    assert found.first.difference.max_abs == 0
    assert "its outputs do not show it on this input" in found.first.reasons


def test_an_attention_layer_with_one_other_weight_is_found():
    def build(prefix):
        x = ks.Input((5, 4), name=f"{prefix}x")
        h = MultiHeadAttention(2, 3, name=f"{prefix}att")(x, x)
        h = TimeDistributed(Dense(3, name=f"{prefix}inner"), name=f"{prefix}time")(h)
        return ks.Model(x, h)

    one, other = fill(build("a"), 9), build("b")
    weights = one.get_weights()
    other.set_weights(weights)
    assert ks.compare(one, other).equal
    weights[2] = weights[2] + np.eye(weights[2].shape[0])[0].reshape(
        (-1,) + (1,) * (weights[2].ndim - 1)
    )
    other.set_weights(weights)
    assert first(ks.compare(one, other)) == ("aatt", "batt")


def test_a_layer_that_is_missing_is_named(model):
    x = model.input
    h = Lambda(lambda t: t * 2, name="twice")(model.get_layer("a_flat").output)
    longer = ks.Model(x, model.get_layer("a_scores")(h))
    found = ks.compare(longer, port_of(model))
    assert not found.equal
    assert [call.id for call in found.only_a] == ["twice"]
    assert first(found)[0].startswith("a_scores")


@pytest.mark.parametrize("is_longer_first", [True, False])
@pytest.mark.parametrize("last", [Lambda(lambda t: t * 2), Activation("sigmoid"), Dense(5)])
def test_a_model_that_goes_on_where_the_other_one_ends_is_another(model, last, is_longer_first):
    """All calls that have a partner agree then."""
    longer = ks.Model(model.input, last(model.output))
    sides = (longer, model) if is_longer_first else (model, longer)
    found = ks.compare(*sides)
    assert not found.equal
    word = "a" if is_longer_first else "b"
    assert last.name in "; ".join(found.first.reasons) + found.first.name_a + found.first.name_b
    if isinstance(last, (Lambda, Dense)):
        assert found.first.reasons[0].startswith(f"only {word} continues with: {last.name}")


# --- random models --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("turned", [False, True], ids=["same order", "other order"])
def test_a_port_of_a_random_model_is_equal_until_one_weight_changes(seed, turned):
    mine, port = models_and_ports.pair(seed, turned)
    found = ks.compare(mine, port)
    assert found.equal, str(found)
    assert not found.only_a
    assert not found.only_b
    name = models_and_ports.plant(port, seed)
    found = ks.compare(mine, port)
    assert found.first is not None, str(found)
    assert found.first.b[0].id.partition("@")[0] == name, str(found)
    assert "one number" in found.first.reasons[0]


# --- what is told, and what is refused ------------------------------------------------------------


def test_the_table_tells_where_how_far_and_why(model):
    text = "\n".join(ks.compare(model, port_of(model, epsilon=1e-2)).lines(130))
    assert "no input was given: random numbers were drawn, seed 0" in text
    assert "tolerance: 0.0001 (float32), relative to the largest number of an array" in text
    assert "first difference: a_norm in a, b_norm in b" in text
    assert "settings differ: epsilon 0.001 in a, 0.01 in b" in text
    row = next(line for line in text.splitlines() if line.strip().startswith("a_norm"))
    assert "differs, first" in row


def test_figures_of_the_first_difference_are_those_of_its_arrays(model):
    port = port_of(model, epsilon=1e-2)
    x = np.random.default_rng(0).normal(size=(2, 8, 8, 3)).astype("float32")
    difference = ks.compare(model, port, x).first.difference
    inner = [ks.Model(m.input, m.get_layer(n).output).predict(x)
             for m, n in ((model, "a_norm"), (port, "b_norm"))]  # fmt: skip
    gaps = np.abs(inner[0].astype("float64") - inner[1])
    assert difference.max_abs == pytest.approx(gaps.max())
    assert difference.place == np.unravel_index(gaps.argmax(), gaps.shape)
    assert difference.value_a == pytest.approx(inner[0][difference.place])
    assert difference.relative == pytest.approx(gaps.max() / max(abs(a).max() for a in inner))
    assert difference.ulp == pytest.approx(
        gaps.max() / np.spacing(max(abs(a[difference.place]) for a in inner))
    )


def test_the_picture_marks_the_point(model):
    found = ks.compare(model, port_of(model, epsilon=1e-2))
    graph = found.graph()
    assert graph.node("a_conv").attrs["state"] == "done"
    assert graph.node("a_norm").attrs["state"] == "failed"
    assert graph.node("a_scores").attrs["state"] == "changed"
    assert "a_norm" in found.draw().text(100)
    assert "epsilon 0.001 in a, 0.01 in b" in graph.attrs["caption"]


def test_numbers_that_are_no_numbers_are_told(model):
    port = port_of(model)
    found = ks.compare(model, port, np.full((1, 8, 8, 3), np.nan, "float32"))
    assert found.equal
    assert "both have NaN or Inf, which prove nothing" in str(found)


def test_inputs_are_drawn_as_the_model_wants_them():
    x = ks.Input((6,), dtype="int32", name="x")
    model = ks.Model(x, Dense(2)(LSTM(3)(Embedding(3, 4)(x))))
    found = ks.compare(model, model)
    words = found.a.calls[0].outputs[0].array
    assert words.dtype == "int32"
    assert set(np.unique(words)) <= {0, 1, 2}
    assert ks.compare(model, model, seed=1).a.calls[0].outputs[0].array.tolist() != words.tolist()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((3, 4), "expected a model, the path of a file, or a tape, got int 3"),
        (("a.pt", "b.pt"), "load them into it, module.load_state_dict(torch.load('a.pt'))"),
        (("a.txt", "b.txt"), "got 'a.txt'"),
    ],
    ids=["no model", "torch file", "text"],
)
def test_what_cannot_be_compared_is_refused(arguments, words):
    with pytest.raises(ArgumentError) as caught:
        ks.compare(*arguments)
    assert words in str(caught.value)


@pytest.mark.parametrize("tolerance", [-1, "small", float("nan")])
def test_a_tolerance_that_is_none_is_refused(model, tolerance):
    with pytest.raises(ArgumentError, match="expected a tolerance of 0 or more"):
        ks.compare(model, model, tolerance=tolerance)


def test_comparing_changes_nothing(model):
    before = [array.copy() for array in model.get_weights()]
    nodes = [len(layer.inbound_nodes) for layer in model.layers]
    ks.compare(model, port_of(model))
    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))
    assert [len(layer.inbound_nodes) for layer in model.layers] == nodes
