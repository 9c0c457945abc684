"""Metrics over several batches of different sizes and weights, in dialect "3", beside Keras 3.

What `fit`, `evaluate`, `train_on_batch` and `test_on_batch` say: sums over all batches divided by
the sums of the weights, whichever way a metric is given. Keras 2 takes the mean of the batches'
means, weighted by their sizes.

A mask is such a weight. On jax Keras 3 loses it on the way to the metrics of a training step, not
to those of a test step, where the mask counts as on its other backends: the latter are compared,
and our training steps are held to our test steps.
"""

import itertools

import numpy as np
import pytest
from keras_reference import answer, keras

import kerascope as ks
from kerascope import config
from kerascope.errors import KerascopeWarning

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning"),
]

SAMPLES, STEPS = 11, 4
X = np.random.default_rng(0).normal(size=(SAMPLES, STEPS, 3)).astype("float32")
X[[1, 5, 6], 2:] = X[9, 1:] = 0.0  # what Masking leaves out, more of it in some batches
Y = (np.random.default_rng(1).random((SAMPLES, STEPS, 1)) > 0.5).astype("float32")
WEIGHTS = np.random.default_rng(2).random((SAMPLES, STEPS)).astype("float32") ** 3
WEIGHTS[8:] = 0.0  # a last batch without weight


@pytest.fixture(autouse=True)
def dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


def per_sample(y_true, y_pred):
    """Return one number for each place, not quite the loss."""
    return abs(y_true - y_pred)[..., 0]


def of_a_batch(home):
    """Return a metric that gives one number for a whole batch."""

    def farthest(y_true, y_pred):
        mean = ks.K.mean if home is ks else home.ops.mean
        return mean(abs(y_true - y_pred)) * 3

    return farthest


def metrics_of(home, kind):
    return {
        "word": lambda: ["mae", "accuracy"],
        "function": lambda: [per_sample],
        "object": lambda: [home.metrics.MeanSquaredError(name="squares")],
        "number": lambda: [of_a_batch(home)],
        "loss": lambda: [home.losses.MeanSquaredError(name="loss_as_metric")],
        "stateful": lambda: [home.metrics.Recall(thresholds=0.4, name="recall")],
    }[kind]()


def model_of(home, is_masked, steps, outputs):
    x = home.Input((STEPS, 3) if steps else (3,))
    h = home.layers.Masking()(x) if is_masked else x
    made = [home.layers.Dense(1, "sigmoid", name=f"o{i}")(h) for i in range(outputs)]
    model = home.Model(x, made if outputs > 1 else made[0])
    rng = np.random.default_rng(3)
    model.set_weights([rng.normal(size=w.shape) for w in model.get_weights()])
    return model


def numbers(logs):
    return {key: np.asarray(value, float).tolist() for key, value in logs.items()}


def told(home, kind, is_weighted, given, *, is_masked=False, outputs=1):
    """Return what two epochs of fit, an evaluation and single batches tell."""
    steps = given == "temporal" or is_masked
    model = model_of(home, is_masked, steps, outputs)
    listed = metrics_of(home, kind)
    of_each = listed if outputs == 1 else [metrics_of(home, kind) for _ in range(outputs)]
    temporal = {"sample_weight_mode": "temporal"} if steps and home is ks else {}
    sgd = home.optimizers.SGD(learning_rate=0.5)
    key = "weighted_metrics" if is_weighted else "metrics"
    model.compile(sgd, "binary_crossentropy", **{key: of_each}, **temporal)
    x, y, weights = (X, Y, WEIGHTS) if steps else (X[:, 0], Y[:, 0], WEIGHTS[:, 0])
    targets, weights = (y, weights) if outputs == 1 else ([y] * outputs, [weights] * outputs)
    with_weights = {"sample_weight": weights} if given in ("samples", "temporal") else {}
    by_class = {"class_weight": {0: 0.3, 1: 2.0}} if given == "classes" else {}
    rest = (x[:5], Y[:5] if steps else Y[:5, 0]) if outputs == 1 else None
    found = [
        model.fit(
            x, targets, batch_size=4, epochs=2, shuffle=False, verbose=0,
            validation_data=(x[:7], [one[:7] for one in targets] if outputs > 1 else targets[:7]),
            validation_batch_size=4, **with_weights, **by_class,
        ).history,
        model.evaluate(x, targets, batch_size=4, verbose=0, return_dict=True, **with_weights),
    ]  # fmt: skip
    if rest:
        found += [
            model.train_on_batch(*rest, return_dict=True),
            model.train_on_batch(*rest, return_dict=True),
            model.test_on_batch(*rest, return_dict=True),
            model.test_on_batch(rest[0][:3], rest[1][:3], return_dict=True),
        ]
    return [numbers(one) for one in found]


def assert_same(*arguments, is_masked=False, **options):
    expected = answer(told, keras, *arguments, is_masked=is_masked, **options)
    found = told(ks, *arguments, is_masked=is_masked, **options)
    trained = (0, 2, 3) if is_masked else ()
    for step, (mine, real) in enumerate(zip(found, expected, strict=True)):
        assert mine.keys() == real.keys()
        for key, value in real.items():
            if step not in trained or key == "loss" or key.startswith("val_"):
                assert mine[key] == pytest.approx(value, rel=2e-5, abs=2e-6), (step, key)


KINDS = ["word", "function", "object", "number", "loss", "stateful"]
PLAIN = [
    case for case in itertools.product(KINDS, [False, True], ["nothing", "samples", "classes"])
    if not (case[0] in ("number", "loss") and case[1] and case[2] != "nothing")
]  # fmt: skip  # Keras 3 does not weigh a single number


@pytest.mark.filterwarnings("ignore:compile. weighted_metrics")  # tested below
@pytest.mark.parametrize(("kind", "is_weighted", "given"), PLAIN)
def test_metrics_of_batches_of_other_sizes_and_weights(kind, is_weighted, given):
    assert_same(kind, is_weighted, given)


@pytest.mark.parametrize("given", ["nothing", "temporal"])
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("kind", ["word", "function", "object"])
def test_metrics_of_steps_with_a_mask(kind, is_weighted, given):
    assert_same(kind, is_weighted, given, is_masked=True)


@pytest.mark.parametrize("kind", ["word", "object"])
def test_masked_metrics_of_training_are_those_of_testing(kind):
    model = model_of(ks, True, True, 1)
    sgd = ks.optimizers.SGD(learning_rate=0.0)
    listed = {"metrics": metrics_of(ks, kind), "weighted_metrics": metrics_of(ks, kind)}
    model.compile(sgd, "mse", **listed, sample_weight_mode="temporal")
    given = {"sample_weight": WEIGHTS, "batch_size": 4, "verbose": 0}
    trained = model.fit(X, Y, shuffle=False, **given).history
    tested = model.evaluate(X, Y, return_dict=True, **given)
    assert {key: value for key, (value,) in trained.items()} == pytest.approx(tested, rel=1e-6)


@pytest.mark.parametrize("kind", ["word", "object", "stateful"])
def test_metrics_of_several_outputs(kind):
    assert_same(kind, True, "samples", outputs=2)


def test_weights_of_each_step_without_a_mask():
    assert_same("word", True, "temporal")


def test_a_number_for_a_whole_batch_that_is_to_be_weighted_is_told(monkeypatch):
    """Keras 3 stops where the weights come; without weights it goes on, as here."""
    monkeypatch.setattr(config, "dialect", "3")

    def whole(y_true, y_pred):
        return ks.ops.mean(ks.ops.abs(y_true - y_pred))

    model = model_of(ks, False, False, 1)
    with pytest.warns(KerascopeWarning, match="'whole' returns one number for a whole batch"):
        model.compile("sgd", "mse", weighted_metrics=[whole])
