import pickle

import numpy as np
import pytest

from kerascope import backend as K
from kerascope import losses, metrics
from kerascope.errors import ConfigError, UnknownNameError

RNG = np.random.default_rng(1)
CLASSES = RNG.integers(0, 6, (7, 3))
ONE_HOT = np.eye(6)[CLASSES]
PREDICTED = RNG.dirichlet(np.ones(6), (7, 3))


def computed(metric, y_true, y_pred, **options):
    y = K.placeholder(shape=(None, *np.shape(y_true)[1:]))
    p = K.placeholder(shape=(None, *np.shape(y_pred)[1:]))
    return K.function([y, p], [metric(y, p, **options)])([y_true, y_pred])[0]


def rank_of_right_class():
    order = np.argsort(-PREDICTED, axis=-1)
    return np.argmax(order == CLASSES[..., None], axis=-1)


def test_binary_accuracy_is_the_mean_of_equal_after_rounding():
    y = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 1.0]])
    p = np.array([[0.9, 0.2, 0.4, 0.5], [0.6, 0.7, 0.2, 0.51]])
    result = computed(metrics.binary_accuracy, y, p)
    assert result.tolist() == [0.75, 0.25]
    assert result.dtype == "float32"


def test_accuracy_under_binary_crossentropy_counts_entries_not_rows():
    # One class of ten is predicted wrongly: 8 of 10 entries are right, and no row.
    y, p = np.eye(10)[[3]], np.eye(10)[[4]]
    assert computed(metrics.binary_accuracy, y, p).tolist() == pytest.approx([0.8])
    assert computed(metrics.categorical_accuracy, y, p).tolist() == [0.0]


def test_categorical_accuracy_compares_the_greatest():
    result = computed(metrics.categorical_accuracy, ONE_HOT, PREDICTED)
    assert result.tolist() == (PREDICTED.argmax(-1) == CLASSES).astype(float).tolist()


@pytest.mark.parametrize(
    "targets", [CLASSES, CLASSES[..., None]], ids=["without axis", "with axis"]
)
def test_sparse_categorical_accuracy_takes_class_numbers(targets):
    result = computed(metrics.sparse_categorical_accuracy, targets, PREDICTED)
    assert result.tolist() == (PREDICTED.argmax(-1) == CLASSES).astype(float).tolist()


@pytest.mark.parametrize("k", [1, 2, 5, 6])
def test_top_k_accuracy_asks_for_the_rank_of_the_right_class(k):
    expected = (rank_of_right_class() < k).mean(-1).tolist()
    dense = computed(metrics.top_k_categorical_accuracy, ONE_HOT, PREDICTED, k=k)
    sparse = computed(metrics.sparse_top_k_categorical_accuracy, CLASSES[..., None], PREDICTED, k=k)
    assert dense.tolist() == pytest.approx(expected)
    assert sparse.tolist() == pytest.approx(expected)


def test_top_k_accuracy_agrees_with_in_top_k_on_rows():
    p, classes = PREDICTED[:, 0], CLASSES[:, 0]
    expected = K.eval(K.in_top_k(K.constant(p), K.constant(classes, dtype="int32"), 3))
    result = computed(metrics.sparse_top_k_categorical_accuracy, classes, p, k=3)
    assert result == pytest.approx(expected.mean())


def test_integer_targets_are_accepted():
    y = K.placeholder(shape=(None,), dtype="int64")
    p = K.placeholder(shape=(None, 6))
    outputs = [
        metrics.sparse_categorical_accuracy(y, p),
        metrics.sparse_top_k_categorical_accuracy(y, p),
    ]
    right, near = K.function([y, p], outputs)([CLASSES[:, 0], PREDICTED[:, 0]])
    assert right.shape == (7,)
    assert near.shape == ()
    assert right.mean() <= near


LOSS_FUNCTIONS = [
    name
    for name, loss in losses._registry.items()
    if not isinstance(loss, type) and name not in losses.structured.__all__
]


@pytest.mark.parametrize("name", LOSS_FUNCTIONS)
def test_every_loss_is_a_metric(name):
    metric = metrics.get(name)
    assert metric is getattr(metrics, name)
    assert metric.__name__ == losses.get(name).__name__
    assert losses.plain_function(metric) is losses.get(name)
    assert pickle.loads(pickle.dumps(metric)) is metric


def test_short_names_are_those_of_the_losses():
    for name in [
        "mse",
        "MSE",
        "mae",
        "MAE",
        "mape",
        "MAPE",
        "msle",
        "MSLE",
        "kld",
        "KLD",
        "cosine",
    ]:
        assert metrics.get(name) is getattr(metrics, name)
        assert losses.plain_function(metrics.get(name)) is getattr(losses, name)


def test_cosine_similarity_of_keras_3_is_not_mistaken_for_its_negative():
    assert isinstance(metrics.get("cosine_similarity"), metrics.CosineSimilarity)
    same = np.array([[1.0, 2.0]])
    assert float(metrics.get("cosine_similarity")(same, same)) == pytest.approx(1)
    assert K.eval(metrics.get("cosine")(K.constant(same), K.constant(same))).item() < 0


def test_keras_3_configuration_is_read_or_refused():
    read = metrics.get({"class_name": "BinaryAccuracy", "config": {"threshold": 0.7}})
    assert (type(read), read.threshold) == (metrics.BinaryAccuracy, 0.7)
    with pytest.raises(ConfigError, match="BinaryAccuracy: unknown argument limit=0.7"):
        metrics.get({"class_name": "BinaryAccuracy", "config": {"limit": 0.7}})


def test_unknown_metric_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match=r"Did you mean 'binary_accuracy'?"):
        metrics.get("binary_acuracy")


def test_a_misspelt_accuracy_is_guessed_and_accuracy_itself_is_none():
    with pytest.raises(UnknownNameError, match="Unknown metric 'accurcy'. Did you mean 'accuracy'"):
        metrics.get("accurcy")
    with pytest.raises(UnknownNameError, match="'accuracy'") as caught:
        metrics.get("accuracy")
    assert "Did you mean 'accuracy'" not in str(caught.value)


def test_a_metric_without_its_methods_is_told_what_to_write():
    class Total(metrics.Metric):
        def update_state(self, y_true, y_pred, sample_weight=None):
            pass

    y, p = K.placeholder((None, 1)), K.placeholder((None, 1))
    with pytest.raises(NotImplementedError, match="Total does not define result.*add_weight"):
        Total()(y, p)
    with pytest.raises(NotImplementedError, match="Metric does not define update_state"):
        metrics.Metric()(y, p)
