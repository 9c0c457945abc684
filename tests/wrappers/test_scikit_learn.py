"""Models as estimators: alone, and in the hands of scikit-learn."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from kerascope.errors import ArgumentError, DataError, DtypeError, NotBuiltError, SpellingWarning
from kerascope.layers import Dense
from kerascope.models import Sequential
from kerascope.optimizers import Adam
from kerascope.utils import set_random_seed, to_categorical
from kerascope.wrappers.scikit_learn import BaseWrapper, KerasClassifier, KerasRegressor

RNG = np.random.default_rng(0)
CENTRES = np.array([[0, 4], [4, 0], [-4, -4]])
NUMBERS = np.tile([0, 1, 2], 20)
X = (CENTRES[NUMBERS] + RNG.normal(size=(60, 2))).astype("float32")
NAMES = np.array(["ant", "bee", "cat"])[NUMBERS]
HEIGHTS = X @ [2.0, -1.0] + 3


def classifier(units=8, lr=0.05, loss="categorical_crossentropy", metrics=("accuracy",)):
    layers = [
        Dense(units, activation="tanh", input_shape=(2,)),
        Dense(3, activation="softmax"),
    ]
    model = Sequential(layers)
    model.compile(Adam(lr=lr), loss, metrics=list(metrics))
    return model


def binary():
    model = Sequential([Dense(1, activation="sigmoid", input_shape=(2,))])
    model.compile(Adam(lr=0.1), "binary_crossentropy", metrics=["accuracy"])
    return model


def regressor(lr=0.1):
    model = Sequential([Dense(1, input_shape=(2,))])
    model.compile(Adam(lr=lr), "mse", metrics=["mae"])
    return model


class Built:
    def __call__(self, units=2):
        return classifier(units)


class OwnEstimator(KerasClassifier):
    def __call__(self, units=2):
        return classifier(units)


@pytest.fixture(autouse=True)
def _seeded():
    set_random_seed(1)


# --- alone ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda **given: KerasClassifier(classifier, **given),
        lambda **given: KerasClassifier(Built(), **given),
        lambda **given: OwnEstimator(**given),
    ],
    ids=["function", "object", "subclass"],
)
@pytest.mark.parametrize("y", [NAMES, NUMBERS, NUMBERS[:, None], NUMBERS + 5])
def test_a_classifier_learns_labels_of_any_kind(make, y):
    estimator = make(units=8, epochs=30, verbose=0)
    history = estimator.fit(X, y)
    assert len(history.history["loss"]) == 30
    labels = estimator.predict(X)
    assert labels.dtype == y.dtype
    assert np.mean(labels == y.reshape(-1)) > 0.9
    assert estimator.score(X, y) == pytest.approx(np.mean(labels == y.reshape(-1)))
    np.testing.assert_array_equal(estimator.classes_, np.unique(y))
    np.testing.assert_allclose(estimator.predict_proba(X).sum(axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("loss", ["categorical_crossentropy", "sparse_categorical_crossentropy"])
def test_labels_are_made_fit_for_the_loss(loss):
    estimator = KerasClassifier(classifier, loss=loss, epochs=30, verbose=0)
    estimator.fit(X, NAMES)
    assert estimator.score(X, NAMES) > 0.9


def test_one_hot_rows_are_labels_too():
    estimator = KerasClassifier(classifier, epochs=30, verbose=0)
    estimator.fit(X, to_categorical(NUMBERS))
    assert estimator.score(X, to_categorical(NUMBERS)) > 0.9
    np.testing.assert_array_equal(estimator.classes_, [0, 1, 2])
    with pytest.raises(ArgumentError, match=r"got y of shape \(2, 2, 2\)"):
        estimator.fit(X, np.ones((2, 2, 2)))


def test_one_output_tells_two_classes():
    labels = np.where(NUMBERS == 0, "yes", "no")
    estimator = KerasClassifier(binary, epochs=40, verbose=0)
    estimator.fit(X, labels)
    chances = estimator.predict_proba(X)
    assert chances.shape == (60, 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1, rtol=1e-6)
    predicted = estimator.predict(X)
    np.testing.assert_array_equal(predicted, np.where(chances[:, 1] > 0.5, "yes", "no"))
    assert estimator.score(X, labels) > 0.8


def test_a_regressor_predicts_numbers_and_scores_by_the_loss():
    estimator = KerasRegressor(regressor, epochs=300, verbose=0)
    estimator.fit(X, HEIGHTS)
    predicted = estimator.predict(X)
    assert predicted.shape == (60,)
    mean_square = np.mean((predicted - HEIGHTS) ** 2)
    assert estimator.score(X, HEIGHTS) == pytest.approx(-mean_square, rel=1e-3)
    assert mean_square < 0.5


def test_arguments_go_to_whom_they_belong():
    estimator = KerasClassifier(classifier, units=5, epochs=3, batch_size=60, verbose=0)
    history = estimator.fit(X, NAMES, epochs=2)
    assert history.params["epochs"] == 2
    assert history.params["batch_size"] == 60
    assert estimator.model.layers[0].units == 5
    assert estimator.filter_sk_params(classifier) == {"units": 5}
    assert estimator.filter_sk_params(Sequential.predict, {"steps": 2}) == {
        "batch_size": 60,
        "verbose": 0,
        "steps": 2,
    }


def test_weights_of_samples_count():
    estimator = KerasClassifier(binary, epochs=40, verbose=0)
    ones_only = (NUMBERS == 0).astype(float)
    estimator.fit(np.ones_like(X), NUMBERS == 0, sample_weight=ones_only)
    assert estimator.predict(np.ones((1, 2)))[0]
    estimator.fit(np.ones_like(X), NUMBERS == 0, sample_weight=1 - ones_only)
    assert not estimator.predict(np.ones((1, 2)))[0]


def test_every_fit_starts_with_a_fresh_model():
    estimator = KerasRegressor(regressor, epochs=1, verbose=0)
    estimator.fit(X, HEIGHTS)
    first = estimator.model
    estimator.fit(X, HEIGHTS)
    assert estimator.model is not first


def test_keras_1_called_it_nb_epoch():
    estimator = KerasRegressor(regressor, nb_epoch=3, verbose=0)
    with pytest.warns(SpellingWarning, match="'nb_epoch'"):
        assert len(estimator.fit(X, HEIGHTS).epoch) == 3


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (
            lambda: KerasClassifier(classifier, unit=3),
            ArgumentError,
            "unknown argument 'unit'. .* Did you mean 'units'",
        ),
        (lambda: KerasClassifier(classifier, x=3), ArgumentError, "unknown argument 'x'"),
        (lambda: KerasRegressor(regressor()), DtypeError, "not the model itself"),
        (lambda: BaseWrapper(), DtypeError, "expected build_fn to return"),
        (lambda: KerasClassifier(classifier).predict(X), NotBuiltError, "Call fit first"),
        (lambda: KerasRegressor(regressor).score(X, NUMBERS), NotBuiltError, "there is no model"),
    ],
)
def test_mistakes_are_named(make, error, words):
    with pytest.raises(error, match=words):
        make()


def test_accuracy_must_be_measured_to_score():
    estimator = KerasClassifier(classifier, metrics=(), verbose=0)
    estimator.fit(X, NAMES)
    with pytest.raises(ArgumentError, match=r"metrics=\['accuracy'\]"):
        estimator.score(X, NAMES)


def test_a_failed_set_params_changes_nothing():
    estimator = KerasClassifier(classifier, units=3)
    with pytest.raises(ArgumentError, match="unknown argument 'unit'"):
        estimator.set_params(unit=4, build_fn=binary)
    assert estimator.get_params() == {"build_fn": classifier, "units": 3}
    assert estimator.set_params(units=4, epochs=2) is estimator
    assert estimator.get_params() == {"build_fn": classifier, "units": 4, "epochs": 2}
    assert repr(estimator) == "KerasClassifier(build_fn=classifier, units=4, epochs=2)"


def test_an_estimator_without_a_model_can_be_pickled():
    again = pickle.loads(pickle.dumps(KerasClassifier(classifier, units=3)))
    assert again.get_params() == {"build_fn": classifier, "units": 3}


def test_scikit_learn_is_not_imported():
    code = "import sys, kerascope.wrappers.scikit_learn; print('sklearn' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


# --- in scikit-learn ------------------------------------------------------------------------------


def test_it_can_be_cloned():
    sklearn = pytest.importorskip("sklearn.base")
    sizes = [4, 5]
    estimator = KerasClassifier(classifier, units=3, class_weight={0: 1.0, 1: 2.0, 2: 1.0})
    twin = sklearn.clone(estimator)
    assert twin is not estimator
    assert twin.get_params() == estimator.get_params()
    assert sklearn.is_classifier(estimator)
    assert sklearn.is_regressor(KerasRegressor(regressor))
    assert sizes == [4, 5]


def test_cross_validation_scores_it():
    selection = pytest.importorskip("sklearn.model_selection")
    estimator = KerasClassifier(classifier, epochs=30, verbose=0)
    scores = selection.cross_val_score(estimator, X, NAMES, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.8
    losses = selection.cross_val_score(KerasRegressor(regressor, verbose=0), X, HEIGHTS, cv=2)
    assert (losses < 0).all()
    aucs = selection.cross_val_score(estimator, X, NAMES, cv=2, scoring="neg_log_loss")
    assert (aucs > -0.6).all()


def test_a_grid_search_finds_the_better_arguments():
    selection = pytest.importorskip("sklearn.model_selection")
    estimator = KerasClassifier(classifier, verbose=0)
    grid = {"units": [1, 8], "epochs": [1, 30]}
    search = selection.GridSearchCV(estimator, grid, cv=2)
    search.fit(X, NAMES)
    assert search.best_params_["epochs"] == 30
    assert search.best_score_ > 0.8
    assert np.mean(search.predict(X) == NAMES) > 0.8
    assert search.best_estimator_.model.layers[0].units == search.best_params_["units"]


def test_a_pipeline_ends_with_it():
    pipeline = pytest.importorskip("sklearn.pipeline")
    preprocessing = pytest.importorskip("sklearn.preprocessing")
    selection = pytest.importorskip("sklearn.model_selection")
    steps = [
        ("scale", preprocessing.StandardScaler()),
        ("net", KerasClassifier(classifier, epochs=30, verbose=0)),
    ]
    made = pipeline.Pipeline(steps)
    assert made.fit(X, NAMES) is made
    assert made.score(X, NAMES) > 0.8
    search = selection.GridSearchCV(made, {"net__units": [4], "net__epochs": [2]}, cv=2)
    search.fit(X, NAMES)
    assert search.best_estimator_.named_steps["net"].get_params()["units"] == 4


def test_a_label_that_fit_did_not_see_is_not_taken_for_its_neighbour():
    estimator = KerasClassifier(binary, epochs=1, verbose=0)
    seen = np.array(["ant", "cat"] * 30)
    estimator.fit(X, seen)
    assert 0 <= estimator.score(X, seen) <= 1
    for label in ("bee", "dog"):
        with pytest.raises(DataError, match=f"got '{label}' in y"):
            estimator.score(X, np.where(seen == "cat", label, seen))


@pytest.mark.parametrize(
    ("labels", "words"),
    [(NAMES, "got 2 classes"), (["ant"] * 60, "expected outputs for the classes")],
)
def test_a_model_for_two_classes_does_not_tell_three_or_one(labels, words):
    estimator = KerasClassifier(binary, epochs=1, verbose=0)
    estimator.fit(X, labels)
    estimator.model.set_weights([np.zeros((2, 1)), np.ones(1)])
    with pytest.raises(ArgumentError, match=words):
        estimator.predict(X)
