"""Metric objects against the real Keras 3: over several batches, weighted, and inside fit."""

import numpy as np
import pytest
from keras_reference import generator, keras

from kerascope import backend as K
from kerascope import config, metrics
from kerascope.layers import Dense, Input, Layer
from kerascope.models import Model, Sequential

pytestmark = pytest.mark.usefixtures("answers")

RNG = generator(4)
CLASSES = RNG.integers(0, 4, 30)
ONE_HOT = np.eye(4, dtype="float32")[CLASSES]
SHARES = RNG.dirichlet(np.ones(4), 30).astype("float32")
NUMBERS = tuple(RNG.normal(size=(2, 30, 4)).astype("float32"))
POSITIVE = tuple(RNG.uniform(0.1, 4, (2, 30, 4)).astype("float32"))
BITS = (
    (RNG.random((30, 4)) < 0.5).astype("float32"),
    RNG.uniform(0.02, 0.98, (30, 4)).astype("float32"),
)
COLUMN = BITS[0][:, 0], BITS[1][:, 0]
LOGITS = BITS[0], NUMBERS[0]
GUESSES = CLASSES.astype("int32"), RNG.integers(0, 4, 30).astype("int32")

CASES = [
    ("Accuracy", {}, tuple(x[:, None] for x in GUESSES)),
    ("BinaryAccuracy", {}, BITS),
    ("BinaryAccuracy", {"threshold": 0.7}, BITS),
    ("CategoricalAccuracy", {}, (ONE_HOT, SHARES)),
    ("SparseCategoricalAccuracy", {}, (CLASSES, SHARES)),
    ("TopKCategoricalAccuracy", {"k": 2}, (ONE_HOT, SHARES)),
    ("SparseTopKCategoricalAccuracy", {"k": 3}, (CLASSES, SHARES)),
    ("MeanSquaredError", {}, NUMBERS),
    ("MeanAbsoluteError", {}, NUMBERS),
    ("MeanAbsolutePercentageError", {}, POSITIVE),
    ("MeanSquaredLogarithmicError", {}, POSITIVE),
    ("RootMeanSquaredError", {}, NUMBERS),
    ("Hinge", {}, BITS),
    ("SquaredHinge", {}, BITS),
    ("CategoricalHinge", {}, (ONE_HOT, SHARES)),
    ("KLDivergence", {}, (SHARES, SHARES[::-1])),
    ("Poisson", {}, POSITIVE),
    ("LogCoshError", {}, NUMBERS),
    ("CosineSimilarity", {}, NUMBERS),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, LOGITS),
    ("CategoricalCrossentropy", {"from_logits": True}, (ONE_HOT, NUMBERS[0])),
    ("SparseCategoricalCrossentropy", {}, (CLASSES, SHARES)),
    ("Precision", {}, BITS),
    ("Precision", {"thresholds": [0.2, 0.5, 0.99]}, BITS),
    ("Recall", {"class_id": 2}, BITS),
    ("Recall", {"thresholds": 0.3}, BITS),
    ("TruePositives", {}, BITS),
    ("FalsePositives", {"thresholds": [0.3, 0.6]}, BITS),
    ("TrueNegatives", {}, BITS),
    ("FalseNegatives", {}, BITS),
    ("AUC", {}, BITS),
    ("AUC", {"curve": "PR"}, BITS),
    ("AUC", {"num_thresholds": 7}, BITS),
    ("AUC", {"from_logits": True}, LOGITS),
    ("AUC", {"thresholds": [0.1, 0.5, 0.8], "curve": "PR"}, BITS),
    ("F1Score", {}, (ONE_HOT, SHARES)),
    ("F1Score", {"average": "macro", "threshold": 0.4}, (ONE_HOT, SHARES)),
    ("FBetaScore", {"average": "weighted", "beta": 2.0}, (ONE_HOT, SHARES)),
    ("FBetaScore", {"average": "micro", "beta": 0.5}, (ONE_HOT, SHARES)),
    ("MeanIoU", {"num_classes": 4}, GUESSES),
    ("MeanIoU", {"num_classes": 4, "ignore_class": 2}, GUESSES),
    ("MeanIoU", {"num_classes": 5, "sparse_y_pred": False}, (CLASSES, SHARES)),
    ("IoU", {"num_classes": 4, "target_class_ids": [0, 0, 3]}, GUESSES),
    ("IoU", {"num_classes": 9, "target_class_ids": [-2]}, GUESSES),
    ("IoU", {"num_classes": 4, "target_class_ids": [1], "ignore_class": 2}, GUESSES),
    ("IoU", {"num_classes": 4, "target_class_ids": [1, 2], "dtype": "float32"}, GUESSES),
    ("BinaryIoU", {}, COLUMN),
    (
        "BinaryIoU",
        {"target_class_ids": [1], "threshold": 0.25},
        (COLUMN[0], np.round(COLUMN[1] * 4) / 4),
    ),
    ("OneHotIoU", {"num_classes": 4, "target_class_ids": [0, 2]}, (ONE_HOT, SHARES)),
    (
        "OneHotIoU",
        {"num_classes": 5, "target_class_ids": [1], "sparse_y_pred": True},
        (ONE_HOT, GUESSES[1]),
    ),
    ("OneHotMeanIoU", {"num_classes": 4, "ignore_class": 1}, (ONE_HOT, SHARES)),
    ("R2Score", {}, NUMBERS),
    ("R2Score", {"class_aggregation": None, "num_regressors": 3}, NUMBERS),
    ("R2Score", {"class_aggregation": "variance_weighted_average"}, POSITIVE),
    ("R2Score", {"num_regressors": 29}, tuple(x[:, :1] for x in NUMBERS)),
    ("R2Score", {}, (np.ones((30, 2)), NUMBERS[0][:, :2])),
    ("R2Score", {"class_aggregation": None}, (np.ones((30, 2)), np.ones((30, 2)))),
    ("R2Score", {"class_aggregation": "variance_weighted_average"}, (ONE_HOT * 0, SHARES)),
    ("PearsonCorrelation", {}, NUMBERS),
    ("PearsonCorrelation", {"axis": -1}, (ONE_HOT * 0, SHARES)),
    ("ConcordanceCorrelation", {}, NUMBERS),
    ("ConcordanceCorrelation", {}, (SHARES * 1e-3, SHARES[::-1] * 1e-3)),
    ("ConcordanceCorrelation", {}, (ONE_HOT * 0 + 1, ONE_HOT * 0 + 1)),
    *(
        (name, {word: value, "num_thresholds": number, "class_id": column}, arrays)
        for name, word in (
            ("PrecisionAtRecall", "recall"),
            ("RecallAtPrecision", "precision"),
            ("SensitivityAtSpecificity", "specificity"),
            ("SpecificityAtSensitivity", "sensitivity"),
        )
        for value, number, column, arrays in (
            (0.5, 200, None, BITS),
            (0.8, 5, 1, (BITS[0], np.round(BITS[1] * 4) / 4)),
            (0.99, 1, None, BITS),
            (0.6, 2, None, (BITS[0], np.round(BITS[1]))),
            (1, 9, None, (BITS[0] * 0, BITS[1])),
            (0.3, 9, None, (BITS[0] * 0 + 1, BITS[1])),
        )
    ),
]


@pytest.mark.filterwarnings("ignore:Division by zero in Adjusted R2")
@pytest.mark.parametrize(("name", "arguments", "arrays"), CASES)
def test_metric_over_three_batches_agrees(name, arguments, arrays):
    ours, real = (getattr(m, name)(**arguments) for m in (metrics, keras.metrics))
    assert real.name.startswith(ours.name)  # Keras 3 numbers those that have no name
    for weights in (None, RNG.uniform(0, 2, 30).astype("float32")):
        if weights is not None and "IoU" in name and "dtype" not in arguments:
            weights = np.arange(30) % 3  # Keras 3 counts in whole numbers here
        for start in (0, 10, 20):
            batch = [x[start : start + 10] for x in arrays]
            part = None if weights is None else weights[start : start + 10]
            ours.update_state(*batch, sample_weight=part)
            real.update_state(*batch, sample_weight=part)
        np.testing.assert_allclose(ours.result(), np.asarray(real.result()), rtol=5e-5, atol=1e-6)
        ours.reset_state()
        real.reset_state()


@pytest.mark.parametrize("name", ["Mean", "Sum"])
def test_metric_of_values_agrees(name):
    ours, real = getattr(metrics, name)(), getattr(keras.metrics, name)()
    for metric in (ours, real):
        metric.update_state(np.array([1.0, 2.0, 6.0]))
        metric.update_state(np.array([4.0]), np.array([3.0]))
    assert ours.result() == pytest.approx(float(real.result()))


def test_metrics_with_and_without_state_in_fit_log_what_keras_3_logs():
    x = RNG.normal(size=(50, 3)).astype("float32")
    y = (x.sum(axis=1, keepdims=True) > 0).astype("float32")
    held_out = RNG.normal(size=(20, 3)).astype("float32")
    validation = held_out, (held_out.sum(axis=1, keepdims=True) > 0.5).astype("float32")
    start = [RNG.normal(size=(3, 1)), np.zeros(1)]

    def trained(model, home):
        named = [
            home.Precision(name="precision"),
            home.Recall(name="recall"),
            home.AUC(name="auc"),
            home.RootMeanSquaredError(name="rmse"),
            home.BinaryAccuracy(threshold=0.6, name="binary_accuracy"),
            home.MeanAbsoluteError(name="mae"),
        ]
        model.compile("sgd", "binary_crossentropy", metrics=named)
        model.set_weights(start)
        history = model.fit(
            x, y, 8, epochs=3, shuffle=False, verbose=0, validation_data=validation
        ).history
        return history, model.evaluate(*validation, batch_size=6, verbose=0)

    ours = Sequential([Dense(1, activation="sigmoid", input_shape=(3,))])
    real = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, activation="sigmoid")])
    history, evaluated = trained(ours, metrics)
    expected, expected_evaluated = trained(real, keras.metrics)
    assert set(history) == set(expected)
    for key in expected:
        np.testing.assert_allclose(history[key], expected[key], rtol=2e-3, err_msg=key)
    np.testing.assert_allclose(sorted(evaluated), sorted(expected_evaluated), rtol=1e-3)
    assert ours.stateful_metric_names == ["precision", "recall", "auc", "rmse"]
    assert ours.metrics_names[-1] == "mae"


def test_metrics_of_areas_rates_and_correlations_in_fit_log_what_keras_3_logs():
    x, start = NUMBERS[0], [NUMBERS[1][:4], np.zeros(4)]

    def trained(model, home):
        own = [
            home.BinaryIoU(name="binary"),
            home.OneHotIoU(4, [1], name="one"),
            home.OneHotMeanIoU(4, name="mean"),
            home.R2Score(),
            home.PrecisionAtRecall(0.4, name="precision_at_recall"),
            home.SpecificityAtSensitivity(0.5, name="specificity_at_sensitivity"),
            "pearson_correlation",
            "concordance_correlation",
        ]
        model.compile("sgd", "tversky", metrics=own)
        model.set_weights(start)
        return model.fit(x, ONE_HOT, 8, epochs=2, shuffle=False, verbose=0).history

    config.dialect = "3"
    try:
        history = trained(Sequential([Input((4,)), Dense(4, activation="softmax")]), metrics)
    finally:
        config.dialect = "2.2"
    real = keras.Sequential([keras.Input((4,)), keras.layers.Dense(4, activation="softmax")])
    expected = trained(real, keras.metrics)
    assert set(history) == set(expected)
    for key in expected:
        np.testing.assert_allclose(history[key], expected[key], rtol=1e-4, err_msg=key)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: metrics.IoU(3, [3]),
            r"expected at least one target_class_id, each from 0 to 2, got \[3\]",
        ),
        (lambda: metrics.BinaryIoU([]), "expected at least one"),
        (lambda: metrics.R2Score("mean"), "expected class_aggregation None.*got 'mean'"),
        (lambda: metrics.R2Score(num_regressors=-1), "expected num_regressors >= 0, got -1"),
        (lambda: metrics.R2Score().result(), "no result yet.*Call update_state first"),
        (lambda: metrics.F1Score().result(), "no result yet.*Call update_state first"),
        (lambda: metrics.R2Score()(CLASSES, CLASSES), r"expected .*, got \(30,\)"),
        (lambda: metrics.PrecisionAtRecall(1.5), "expected recall from 0 to 1, got 1.5"),
        (lambda: metrics.FalseNegatives(2.0), "FalseNegatives: expected.*0 to 1.*got 2.0"),
        (lambda: metrics.Precision([0.1, -1]), "Precision: expected.*0 to 1.*got -1.0"),
        (
            lambda: metrics.SpecificityAtSensitivity(0.5, 0),
            "expected num_thresholds >= 1, got 0",
        ),
    ],
)
def test_what_a_metric_cannot_do_it_says(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_weights_of_places_are_cut_to_whole_numbers_only_in_int32():
    data = [0, 0, 1, 1], [0, 1, 0, 1], [0.3, 0.3, 0.3, 0.1]
    assert metrics.MeanIoU(2)(*data) == pytest.approx(0.23809525)  # as Keras documents it
    with_type = metrics.deserialize(keras.metrics.serialize(keras.metrics.MeanIoU(2)))
    data = [*data[:2], [1.9, 0.3, 2.3, 1.1]]
    assert with_type(*data) == pytest.approx(float(keras.metrics.MeanIoU(2)(*data)))


def test_r2_of_targets_far_from_zero_is_exact():
    y = 1e5 + np.arange(8.0).reshape(8, 1)
    score = metrics.R2Score()(y, y + 1.0)
    assert score == pytest.approx(1 - 8 / 42, rel=1e-5)
    assert metrics.R2Score()(0.1 + 0 * y, y) == 0.0


def test_one_object_on_two_outputs_keeps_two_states():
    x = Input((2,))
    model = Model(x, [Dense(1, name="a")(x), Dense(1, name="b")(x)])
    model.compile("sgd", "mse", metrics=[metrics.RootMeanSquaredError()])
    data = RNG.normal(size=(4, 2))
    results = model.evaluate(data, [np.zeros((4, 1)), np.ones((4, 1))], verbose=0)
    logs = dict(zip(model.metrics_names, results, strict=True))
    for name in "ab":
        assert logs[f"{name}_root_mean_squared_error"] == pytest.approx(logs[f"{name}_loss"] ** 0.5)


def test_train_on_batch_goes_on_until_the_metrics_are_reset():
    model = Sequential([Dense(1, input_shape=(1,), kernel_initializer="zeros")])
    model.compile("sgd", "mse", metrics=[metrics.RootMeanSquaredError()])
    ones = np.ones((1, 1))
    model.test_on_batch(ones, 3 * ones)
    assert model.test_on_batch(ones, 0 * ones)[1] == pytest.approx(4.5**0.5)
    model.reset_metrics()
    assert model.test_on_batch(ones, 0 * ones)[1] == 0.0


@pytest.mark.parametrize(
    ("name", "arguments"), list({name: (name, options) for name, options, _ in CASES}.values())
)
def test_configuration_of_keras_3_is_read(name, arguments):
    config = keras.metrics.serialize(getattr(keras.metrics, name)(**arguments))
    found = metrics.deserialize(config)
    assert type(found) is getattr(metrics, name)
    kept = found.get_config()
    assert {key: kept[key] for key in arguments} == arguments


def test_metric_with_a_state_written_as_a_layer_as_in_keras_2():
    class TruePositivesLayer(Layer):
        def __init__(self, name="true_positives", **kwargs):
            super().__init__(name=name, **kwargs)
            self.stateful = True
            self.total = K.variable(0, dtype="int32")

        def reset_states(self):
            K.set_value(self.total, 0)

        def __call__(self, y_true, y_pred):
            found = K.sum(K.cast(y_true * K.round(y_pred), "int32"))
            before = self.total * 1
            self.add_update(K.update_add(self.total, found), inputs=[y_true, y_pred])
            return before + found

    model = Sequential([Dense(1, input_shape=(1,), kernel_initializer="ones")])
    model.compile("sgd", "mse", metrics=[TruePositivesLayer()])
    ones = np.ones((10, 1))
    assert model.evaluate(ones, ones, batch_size=3, verbose=0)[1] == 10
    assert model.evaluate(ones, ones, batch_size=3, verbose=0)[1] == 10
    model.compile("sgd", "mse", metrics=[TruePositivesLayer()])
    model.optimizer.lr = 0.0
    assert model.fit(ones, ones, batch_size=3, epochs=2, verbose=0).history["true_positives"] == [
        10, 10
    ]  # fmt: skip
