"""compile: from losses, weights and metrics to one total loss, or to nothing changed."""

import copy

import numpy as np
import pytest

from kerascope import Input, K, Model, losses, optimizers
from kerascope.callbacks import LambdaCallback
from kerascope.engine.compiling import LossTerm, MetricTerm, PenaltyTerm
from kerascope.errors import ArgumentError, UnknownNameError
from kerascope.layers import Activation, Dense, Lambda
from kerascope.models import load_model


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


X, Y, Z = numbers(6, 3), numbers(6, 2, seed=1), numbers(6, 1, seed=2)


def one_output():
    x = Input((3,))
    return Model(x, Dense(2, name="y")(x))


def two_outputs():
    x = Input((3,))
    h = Dense(4, activation="tanh")(x)
    return Model(x, [Dense(2, name="y")(h), Dense(1, name="z")(h)])


def mse(a, b):
    return np.mean((a - b) ** 2)


def mae(a, b):
    return np.mean(abs(a - b))


# --- losses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss",
    [
        "mse",
        "mean_squared_error",
        losses.mean_squared_error,
        lambda t, p: K.mean(K.square(p - t), axis=-1),
        ["mse"],
        {"y": "mse"},
    ],
)
def test_a_loss_is_a_name_a_function_a_list_or_a_dict(loss):
    model = one_output()
    model.compile("sgd", loss)
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(mse(model.predict(X), Y), rel=1e-5)


@pytest.mark.parametrize("loss", [["mse", "mae"], {"y": "mse", "z": "mae"}])
def test_each_output_can_have_a_loss_of_its_own(loss):
    model = two_outputs()
    model.compile("sgd", loss)
    y, z = model.predict(X)
    expected = [mse(y, Y) + mae(z, Z), mse(y, Y), mae(z, Z)]
    assert model.metrics_names == ["loss", "y_loss", "z_loss"]
    np.testing.assert_allclose(model.evaluate(X, [Y, Z], verbose=0), expected, rtol=1e-5)


def test_one_loss_for_all_outputs():
    model = two_outputs()
    model.compile("sgd", "mse")
    y, z = model.predict(X)
    assert model.evaluate(X, [Y, Z], verbose=0)[0] == pytest.approx(mse(y, Y) + mse(z, Z), rel=1e-5)


@pytest.mark.parametrize("loss", [[None, "mae"], {"z": "mae"}])
def test_an_output_without_a_loss_takes_no_targets(loss):
    model = two_outputs()
    model.compile("sgd", loss)
    assert model.targets[0].name == "z_target"
    assert len(model.targets) == 1
    result = model.evaluate(X, Z, verbose=0)
    assert result[0] == pytest.approx(mae(model.predict(X)[1], Z), rel=1e-5)
    before = model.get_weights()
    model.get_layer("y").trainable = False  # no loss reaches it: its weights have no gradient
    model.compile("sgd", loss)
    model.fit(X, Z, verbose=0)
    moved = [abs(a - b).max() > 0 for a, b in zip(before, model.get_weights(), strict=True)]
    assert moved[::2] == [True, False, True]  # the kernels


@pytest.mark.parametrize("weights", [[0.5, 2.0], {"y": 0.5, "z": 2.0}, (0.5, 2)])
def test_loss_weights_weigh_the_sum_but_not_the_reported_losses(weights):
    model = two_outputs()
    model.compile("sgd", "mse", loss_weights=weights)
    y, z = model.predict(X)
    expected = [0.5 * mse(y, Y) + 2 * mse(z, Z), mse(y, Y), mse(z, Z)]
    np.testing.assert_allclose(model.evaluate(X, [Y, Z], verbose=0), expected, rtol=1e-5)


@pytest.mark.parametrize("verbose", [0, 1])  # with a bar each batch is heard, without it none
def test_a_variable_among_the_loss_weights_changes_the_loss_from_then_on(verbose, tmp_path):
    model = two_outputs()
    weight = K.variable(1.0)
    model.compile("sgd", "mse", loss_weights={"y": weight, "z": 2})

    def anneal(epoch, logs=None):
        K.set_value(weight, 1 / (1 + epoch))

    anneals = LambdaCallback(on_epoch_begin=anneal)
    model.fit(X, [Y, Z], epochs=4, verbose=verbose, callbacks=[anneals])
    told = {name: np.array(numbers) for name, numbers in model.history.history.items()}
    expected = told["y_loss"] / [1, 2, 3, 4] + 2 * told["z_loss"]
    np.testing.assert_allclose(told["loss"], expected, rtol=1e-6)
    K.set_value(weight, 0)
    before = model.get_layer("y").get_weights()
    model.fit(X, [Y, Z], epochs=2, verbose=verbose)
    assert all(map(np.array_equal, before, model.get_layer("y").get_weights()))
    K.set_value(weight, 0.25)
    for ending in ("h5", "keras"):  # a file holds the number
        model.save(tmp_path / f"m.{ending}")
        assert load_model(tmp_path / f"m.{ending}").loss_weights == {"y": 0.25, "z": 2}
    assert copy.deepcopy(model).evaluate(X, [Y, Z], verbose=0) == pytest.approx(
        model.evaluate(X, [Y, Z], verbose=0)
    )


def test_a_dict_of_loss_weights_leaves_the_others_at_one():
    model = two_outputs()
    model.compile("sgd", "mse", loss_weights={"z": 3.0})
    assert model.loss_weights_list == [1.0, 3.0]


def test_penalties_are_part_of_the_total():
    x = Input((3,))
    model = Model(x, Dense(2, kernel_regularizer="l2", activity_regularizer="l1")(x))
    model.compile("sgd", "mse")
    kernel, y = model.get_weights()[0], model.predict(X)
    penalty = 0.01 * (kernel**2).sum() + 0.01 * abs(y).sum()
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(mse(y, Y) + penalty, rel=1e-4)


def test_add_loss_alone_is_enough_to_train():
    x = Input((3,))
    h = Dense(2)(x)
    model = Model(x, h)
    model.add_loss(K.mean(K.square(h)), inputs=[x])
    model.compile("sgd")
    first = model.train_on_batch(X, None)
    assert first > model.test_on_batch(X, None)
    assert first > model.fit(X, verbose=0, epochs=3).history["loss"][-1]


# --- metrics and sample weights -------------------------------------------------------------------


def test_metrics_are_reported_under_their_names():
    model = one_output()
    model.compile("sgd", "mse", metrics=["mae", losses.mean_absolute_error, "mse"])
    names = ["loss", "mean_absolute_error", "mean_absolute_error_1", "mean_squared_error"]
    assert model.metrics_names == names
    result = model.evaluate(X, Y, verbose=0)
    assert result[1] == result[2] == pytest.approx(mae(model.predict(X), Y), rel=1e-5)
    assert result[3] == pytest.approx(result[0])


@pytest.mark.parametrize("metrics", [{"z": ["mae"]}, {"z": "mae"}, [[], ["mae"]]])
def test_metrics_can_belong_to_one_output(metrics):
    model = two_outputs()
    model.compile("sgd", "mse", metrics=metrics)
    assert model.metrics_names[3:] == ["z_mean_absolute_error"]


def test_a_flat_list_of_metrics_is_for_all_outputs():
    model = two_outputs()
    model.compile("sgd", "mse", metrics=["mae", "mse"])
    assert model.metrics_names[3:] == [
        f"{output}_mean_{kind}_error" for output in "yz" for kind in ("absolute", "squared")
    ]


@pytest.mark.parametrize(
    ("units", "loss", "name"),
    [
        (1, "mse", "binary_accuracy"),
        (3, "binary_crossentropy", "binary_accuracy"),
        (3, "categorical_crossentropy", "categorical_accuracy"),
        (3, "sparse_categorical_crossentropy", "sparse_categorical_accuracy"),
    ],
)
def test_accuracy_depends_on_the_output_and_its_loss(units, loss, name):
    x = Input((3,))
    model = Model(x, Dense(units, activation="sigmoid")(x))
    model.compile("sgd", loss, metrics=["accuracy"])
    assert model.metrics_names == ["loss", "acc"]
    p = model.predict(X)
    labels = np.arange(6) % units
    y = labels if "sparse" in loss else np.eye(units)[labels]
    if name == "binary_accuracy":
        expected = np.mean(np.round(p) == y)
    else:
        expected = np.mean(p.argmax(axis=1) == labels)
    assert model.evaluate(X, y, verbose=0)[1] == pytest.approx(expected)


def test_weighted_metrics_heed_the_sample_weights_and_plain_ones_do_not():
    model = one_output()
    model.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mae"])
    weights = np.array([0.0, 1, 2, 3, 0, 1])
    loss, plain, weighted = model.evaluate(X, Y, sample_weight=weights, verbose=0)
    p = model.predict(X)
    each = abs(p - Y).mean(axis=1)
    assert plain == pytest.approx(each.mean(), rel=1e-5)
    assert weighted == pytest.approx((weights * each).sum() / 4, rel=1e-5)
    assert loss == pytest.approx((weights * ((p - Y) ** 2).mean(axis=1)).sum() / 4, rel=1e-5)


def test_temporal_sample_weights_weigh_each_time_step():
    x = Input((4, 3))
    model = Model(x, Dense(2)(x))
    model.compile("sgd", "mse", sample_weight_mode="temporal")
    times, targets = numbers(5, 4, 3), numbers(5, 4, 2, seed=3)
    weights = np.random.default_rng(1).integers(0, 3, size=(5, 4)).astype("float32")
    each = ((model.predict(times) - targets) ** 2).mean(axis=-1)
    expected = (weights * each).sum() / (weights != 0).sum()
    result = model.evaluate(times, targets, sample_weight=weights, verbose=0)
    assert result == pytest.approx(expected, rel=1e-5)
    with pytest.raises(ValueError, match="one for each time step"):
        model.evaluate(times, targets, sample_weight=np.ones(5), verbose=0)


def test_one_output_of_two_can_be_temporal():
    x = Input((4, 3))
    h = Dense(2, name="steps")(x)
    model = Model(x, [h, Lambda(lambda t: K.mean(t, axis=1), name="mean")(h)])
    model.compile("sgd", "mse", sample_weight_mode={"steps": "temporal"})
    assert [w.ndim for w in model.sample_weights] == [2, 1]
    model.train_on_batch(
        numbers(5, 4, 3),
        [numbers(5, 4, 2), numbers(5, 2)],
        sample_weight=[np.ones((5, 4)), np.ones(5)],
    )


def test_target_tensors_take_the_place_of_fed_targets():
    x = Input((3,))
    model = Model(x, Dense(2)(x))
    model.compile("sgd", "mse", target_tensors=K.constant(Y))
    assert model.evaluate(X, None, verbose=0) == pytest.approx(mse(model.predict(X), Y), rel=1e-5)
    first = model.train_on_batch(X, None)
    assert model.train_on_batch(X, None) < first


def test_target_tensors_can_be_computed_from_the_input():
    x = Input((3,))
    model = Model(x, [Dense(3, name="copy")(x), Dense(1, name="z")(x)])
    model.compile("sgd", "mse", target_tensors={"copy": x})
    result = model.evaluate(X, Z, verbose=0)
    assert result[1] == pytest.approx(mse(model.predict(X)[0], X), rel=1e-5)


# --- what compile does, and does not --------------------------------------------------------------


def test_compile_makes_no_function_and_changes_no_weight():
    model = one_output()
    before = model.get_weights()
    model.compile("adam", "mse")
    assert model.train_function is None
    assert model.optimizer.weights == [model.optimizer.iterations]
    np.testing.assert_array_equal(model.get_weights()[0], before[0])


def test_compile_is_a_stage_of_terms():
    x = Input((3,))
    model = Model(x, [Dense(2, kernel_regularizer="l2")(x), Dense(1)(x)])
    arguments = {"optimizer": "sgd", "loss": "mse", "metrics": ["mae"]}
    kinds = [type(event) for event in model.compile_stage(arguments)]
    assert kinds == [LossTerm, LossTerm, PenaltyTerm, MetricTerm, MetricTerm]
    assert model.is_compiled


def test_compiling_again_makes_new_functions():
    model = one_output()
    model.compile("sgd", "mse")
    model.fit(X, Y, verbose=0)
    old = model.train_function
    model.compile(optimizers.SGD(lr=0.5), "mae")
    assert model.train_function is None
    model.fit(X, Y, verbose=0)
    assert model.train_function is not old
    assert model.evaluate(X, Y, verbose=0) == pytest.approx(mae(model.predict(X), Y), rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"optimizer": "sdg", "loss": "mse"}, "Unknown optimizer 'sdg'. Did you mean 'sgd'"),
        ({"optimizer": "sgd", "loss": "msee"}, "Unknown loss 'msee'. Did you mean 'mse'"),
        ({"optimizer": "sgd", "loss": "mse", "metrics": ["acuracy"]}, "Unknown metric 'acuracy'"),
        (
            {"optimizer": "sgd", "loss": ["mse"]},
            "loss: expected 2 entries, one for each of the outputs",
        ),
        (
            {"optimizer": "sgd", "loss": {"yy": "mse"}},
            "loss: there is no output 'yy'. Did you mean 'y'",
        ),
        (
            {"optimizer": "sgd", "loss": "mse", "loss_weights": 3},
            "loss_weights: expected a list or a dict",
        ),
        (
            {"optimizer": "sgd", "loss": "mse", "loss_weights": [1]},
            "weights: expected 2 entries",
        ),
        (
            {"optimizer": "sgd", "loss": "mse", "loss_weights": [K.variable([1.0, 2.0]), 1]},
            "expected a number, or a variable with a single number",
        ),
        (
            {"optimizer": "sgd", "loss": "mse", "sample_weight_mode": "time"},
            "expected None or 'temporal'",
        ),
        ({"optimizer": "sgd", "loss": None}, "has no loss to optimize"),
        ({"optimizer": "sgd", "losss": "mse"}, "unknown argument 'losss'. Did you mean 'loss'"),
    ],
)
def test_a_compile_that_fails_leaves_the_former_compilation(arguments, words):
    model = two_outputs()
    model.compile("adam", "mae", metrics=["mse"])
    model.train_on_batch(X, [Y, Z])
    before = {k: v for k, v in vars(model).items() if not k.startswith("_losses")}
    with pytest.raises((ArgumentError, UnknownNameError), match=words):
        model.compile(**arguments)
    assert {k: v for k, v in vars(model).items() if not k.startswith("_losses")} == before
    assert np.isfinite(model.train_on_batch(X, [Y, Z])[0])


def test_freezing_after_compile_warns_and_takes_effect_after_the_next_compile():
    model = two_outputs()
    model.compile("sgd", "mse")
    model.layers[1].trainable = False
    before = model.layers[1].get_weights()[0]
    with pytest.warns(UserWarning, match="Discrepancy between trainable weights"):
        model.train_on_batch(X, [Y, Z])
    moved = model.layers[1].get_weights()[0]
    assert abs(moved - before).max() > 0
    model.compile("sgd", "mse")
    model.train_on_batch(X, [Y, Z])
    np.testing.assert_array_equal(model.layers[1].get_weights()[0], moved)


def test_a_weight_that_no_loss_reaches_is_named():
    x = Input((3,))
    h = Activation("relu")(Dense(2, name="lost")(x))
    model = Model(x, [h, Dense(1, name="z")(x)])
    model.compile("sgd", {"z": "mse"})
    with pytest.raises(ValueError, match="parameter 'lost/kernel' gets no gradient"):
        model.fit(X, Z, verbose=0)
    assert model.train_function is None
