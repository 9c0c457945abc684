"""Keras beside kerascope: what was planted is found at its call, and equal models are equal."""

import models_and_ports
import numpy as np
import pytest
from compared_models import images, keras_model, weights

import kerascope as ks
from kerascope.cli.commands import main
from kerascope.errors import ArgumentError

pytestmark = [
    pytest.mark.live,
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]


def mine(arrays=None, **changes):
    return keras_model(ks.layers, ks.Model, arrays or weights(), **changes)


def real(keras, arrays=None, **changes):
    return keras_model(keras.layers, keras.Model, arrays or weights(), **changes)


def first(found):
    return found.first.a[0].id, found.first.b[0].id


def test_a_model_written_in_both_is_equal(keras):
    found = ks.compare(real(keras), mine(), images())
    assert found.equal, str(found)
    assert not found.only_a
    assert not found.only_b
    assert [pair.name_a for pair in found.pairs] == [pair.name_b for pair in found.pairs]


@pytest.mark.parametrize(
    ("changes", "name", "reason"),
    [
        ({"epsilon": 1e-5}, "norm", "epsilon 0.001 in a, 1e-05 in b"),
        ({"gelu": "relu"}, "dense1", "activation gelu in a, relu in b"),
    ],
    ids=["epsilon", "activation"],
)
def test_another_setting_is_found_and_told(keras, changes, name, reason):
    found = ks.compare(real(keras), mine(**changes), images())
    assert first(found) == (name, name)
    assert reason in " ".join(found.first.reasons)


def test_the_two_forms_of_gelu_are_told_apart_in_functions_of_the_user(keras):
    def exact(x):
        return keras.activations.gelu(x, approximate=False)

    def by_tanh(x):
        return ks.activations.gelu(x, approximate=True)

    def own_exact(x):
        return ks.activations.gelu(x, approximate=False)

    x = np.random.default_rng(0).normal(size=(16, 8, 8, 3)).astype("float32") * 2
    found = ks.compare(real(keras, gelu=exact), mine(gelu=by_tanh), x)
    assert first(found) == ("dense1", "dense1")
    assert "gelu is computed exactly in a, by a tanh in b" in found.first.reasons
    assert "activation exact in a" not in str(found) or "by_tanh in b" in str(found)
    assert ks.compare(real(keras, gelu=exact), mine(gelu=own_exact), x).equal


@pytest.mark.parametrize("name", ["conv1", "conv2", "dense1", "dense2"])
def test_one_weight_is_found_and_told(keras, name):
    arrays = weights()
    kernel = arrays[f"{name}/kernel"]
    kernel.flat[kernel.size // 2] += 1
    found = ks.compare(real(keras), mine(arrays), images())
    assert first(found) == (name, name)
    place = ", ".join(map(str, np.unravel_index(kernel.size // 2, kernel.shape)))
    assert found.first.reasons[0].startswith("kernel differs at one number of")
    assert f"kernel[{place}]" in found.first.reasons[0]


def test_a_transposed_kernel_is_found_and_told(keras):
    arrays = weights()
    arrays["conv1/kernel"] = arrays["conv1/kernel"].transpose(1, 0, 2, 3)
    found = ks.compare(real(keras), mine(arrays), images())
    assert first(found) == ("conv1", "conv1")
    assert "wrong order: transposed, axes (1, 0, 2, 3)" in found.first.reasons[0]


def test_a_mask_that_was_dropped_is_found_where_it_counts(keras, monkeypatch):
    monkeypatch.setattr(ks.config, "dialect", "3")  # the gates of an LSTM as Keras 3 has them

    def build(layers, model, mask_zero):
        x = layers.Input((6,), dtype="int32", name="x")
        h = layers.Embedding(10, 4, mask_zero=mask_zero, name="words")(x)
        return model(x, layers.Dense(2, name="end")(layers.LSTM(3, name="lstm")(h)))

    words = np.array([[3, 4, 5, 0, 0, 0], [1, 2, 0, 0, 0, 0]], "int32")
    one = build(keras.layers, keras.Model, True)
    for masked in (True, False):
        other = build(ks.layers, ks.Model, masked)
        other.set_weights([np.asarray(array) for array in one.get_weights()])
        found = ks.compare(one, other, words)
        assert found.equal is masked, str(found)
    assert first(found) == ("lstm", "lstm")


@pytest.mark.parametrize("ending", [".keras", ".h5"])
def test_a_file_alone_runs_in_both(keras, ending, tmp_path, capsys):
    path = tmp_path / f"model{ending}"
    real(keras).save(path)
    assert ks.compare(path).equal
    assert main(["compare", str(path)]) == 0
    out = capsys.readouterr().out
    assert "(kerascope)" in out
    assert "(keras)" in out


def test_a_live_model_alone_runs_in_both(keras):
    found = ks.compare(real(keras))
    assert found.equal
    assert (found.a.library, found.b.library) == ("kerascope", "keras")
    with pytest.raises(ArgumentError, match="expected two models, got one"):
        ks.compare(3)


@pytest.mark.parametrize("seed", range(6))
def test_a_random_model_is_the_same_in_both_until_one_weight_changes(keras, seed):
    model, port = models_and_ports.pair(seed)
    live = ks.to_keras(model)
    found = ks.compare(live, port)
    assert found.equal, str(found)
    name = models_and_ports.plant(port, seed)
    found = ks.compare(live, port)
    assert found.first is not None, str(found)
    assert found.first.b[0].id == name, str(found)
