"""Metric classes that are written as for Keras 3, unchanged: against the real Keras 3, on jax."""

import importlib

import numpy as np
import pytest
from keras_reference import answer, keras

from kerascope import K, config
from kerascope.compat import keras_imports
from kerascope.errors import ArgumentError, DtypeError, GraphError, ShapeError

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning"),
]

with keras_imports():
    ours = importlib.import_module("keras")

X = np.random.default_rng(0).normal(size=(10, 3)).astype("float32")
Y = (X[:, :1] > 0).astype("float32")
W = np.linspace(0, 2, 10).astype("float32")


@pytest.fixture(autouse=True)
def _dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


def same(found, wanted):
    """Compare nested numbers to five digits."""
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        found, wanted = [found[key] for key in wanted], list(wanted.values())
    if isinstance(wanted, (list, tuple)):
        assert len(found) == len(wanted)
        for ours, theirs in zip(found, wanted, strict=True):
            same(ours, theirs)
        return
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=1e-6)


def classes(keras):
    """Return metric classes, each written in another way."""
    ops, metric = keras.ops, keras.metrics

    class TruePositives(metric.Metric):
        def __init__(self, threshold=0.5, name="true_positives", **kwargs):
            super().__init__(name=name, **kwargs)
            self.threshold = threshold
            self.count = self.add_variable(shape=(), initializer="zeros", name="count")

        def update_state(self, y_true, y_pred, sample_weight=None):
            right = ops.logical_and(ops.equal(y_true, 1), ops.greater(y_pred, self.threshold))
            right = ops.cast(right, self.dtype)
            if sample_weight is not None:
                weight = ops.expand_dims(ops.cast(sample_weight, self.dtype), -1)
                right = ops.multiply(right, ops.broadcast_to(weight, ops.shape(right)))
            self.count.assign_add(ops.sum(right))

        def result(self):
            return self.count.value

        def get_config(self):
            return {**super().get_config(), "threshold": self.threshold}

    class Moments(metric.Metric):
        """Reads what it has assigned, keeps an old value, holds another metric, gives a dict."""

        def __init__(self, name="moments", **kwargs):
            super().__init__(name=name, **kwargs)
            self.n = self.add_weight(shape=(), initializer="zeros", name="n")
            self.total = self.add_weight(initializer="zeros", name="total")
            self.last = self.add_weight(initializer="ones", name="last")
            self.seen = self.add_weight((2,), "zeros", "int32", "seen")
            self.mean = metric.Mean(name="inner")

        def update_state(self, y_true, y_pred, sample_weight=None):
            before = self.total + 0.0
            self.total.assign_add(ops.sum(y_pred))
            self.last.assign(self.total - before)
            self.n.assign(self.n + ops.cast(ops.shape(y_pred)[0], "float32"))
            self.seen.assign(ops.stack([self.seen[0] + 1, self.seen[1] + 2]))
            self.total.assign_sub(1.0)
            self.mean.update_state(ops.abs(y_true - y_pred), sample_weight=sample_weight)

        def result(self):
            return {
                "average": self.total / ops.maximum(self.n, 1.0),
                "last": self.last.value,
                "batches": self.seen[0],
                "inner": self.mean.result(),
            }

        def reset_state(self):
            super().reset_state()
            self.total.assign(5.0)

    class LargestError(metric.Mean):
        def update_state(self, y_true, y_pred, sample_weight=None):
            error = ops.max(ops.abs(y_true - y_pred), axis=-1)
            return super().update_state(error, sample_weight=sample_weight)

    class Halved(metric.MeanSquaredError):
        def result(self):
            return super().result() / 2

    def far(y_true, y_pred, limit=0.5):
        return ops.mean(ops.cast(ops.abs(y_true - y_pred) > limit, "float32"), axis=-1)

    class Far(metric.MeanMetricWrapper):
        def __init__(self, limit=0.4, name="far", dtype=None):
            super().__init__(far, name, dtype=dtype, limit=limit)

    class Summed(metric.Sum):
        def update_state(self, y_true, y_pred, sample_weight=None):
            super().update_state(y_pred, sample_weight)

    kinds = (TruePositives, Moments, LargestError, Halved, Far, Summed)
    return {kind.__name__: kind for kind in kinds}


NAMES = ["TruePositives", "Moments", "LargestError", "Halved", "Far", "Summed"]


def numbers(told):
    if isinstance(told, dict):
        return {key: numbers(value) for key, value in told.items()}
    return np.asarray(told, "float64")


def on_arrays(keras, name):
    metric = classes(keras)[name]()
    predicted = 1 / (1 + np.exp(-X[:, :1]))
    told = [numbers(metric(Y[:4], predicted[:4]))]
    for weights in (None, W[:7]):
        metric.update_state(Y[3:], predicted[3:], sample_weight=weights)
        told.append(numbers(metric.result()))
    told.append([np.asarray(variable.numpy()) for variable in metric.variables[:2]])
    metric.reset_state()
    return [*told, [np.asarray(variable.value) for variable in metric.variables[:2]]]


@pytest.mark.parametrize("name", NAMES)
def test_on_arrays(name):
    same(on_arrays(ours, name), answer(on_arrays, keras, name))


def in_a_model(keras, names, weighted):
    made = [classes(keras)[name](name=f"own_{name}") for name in names]
    model = keras.Sequential(
        [
            keras.Input((3,)),
            keras.layers.Dense(1, "sigmoid", kernel_initializer="ones"),
        ]
    )
    word = "weighted_metrics" if weighted else "metrics"
    model.compile(keras.optimizers.SGD(0.5), "mse", **{word: made})
    weights = W if weighted else None
    rest = (X[::2], Y[::2], W[::2]) if weighted else (X[::2], Y[::2])
    options = {"batch_size": 4, "verbose": 0, "sample_weight": weights}
    history = model.fit(X, Y, epochs=3, shuffle=False, validation_data=rest, **options)
    told = [history.history, [numbers(metric.result()) for metric in made]]
    for _ in range(2):
        told.append(numbers(model.evaluate(X, Y, return_dict=True, **options)))
    told += [numbers(model.train_on_batch(X, Y, weights, return_dict=True)) for _ in range(2)]
    return [*told, [np.asarray(v.numpy()) for metric in made for v in metric.variables[:2]]]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("names", [NAMES[:1], NAMES[1:2], NAMES])
def test_in_fit_validation_evaluate_and_on_one_batch(names, weighted):
    found = in_a_model(ours, names, weighted)
    same(found, answer(in_a_model, keras, names, weighted))


def on_two_outputs(keras):
    a, b = (classes(keras)["Moments"](), classes(keras)["Moments"]())
    i = keras.Input((3,))
    outputs = [keras.layers.Dense(1, kernel_initializer=w, name=w)(i) for w in ("ones", "zeros")]
    model = keras.Model(i, outputs)
    loss = ["mse", "mse"]
    model.compile("sgd", loss, metrics=[[a, classes(keras)["TruePositives"]()], [b]])
    told = model.fit(X, [Y, Y], batch_size=4, verbose=0, shuffle=False).history
    return told, numbers(model.evaluate(X, [Y, Y], verbose=0, return_dict=True))


def test_dicts_of_two_outputs_have_their_own_keys_alone_and_the_last_one_counts():
    same(on_two_outputs(ours), answer(on_two_outputs, keras))


def without_state(keras, name):
    metric = classes(keras)[name]()
    first = metric.stateless_reset_state()
    second = metric.stateless_update_state(first, Y, X[:, :1])
    third = metric.stateless_update_state(second, Y, X[:, :1], sample_weight=W)
    told = [numbers(metric.stateless_result(state)) for state in (first, second, third)]
    return [*told, [np.asarray(one) for one in third], numbers(metric.result())]


@pytest.mark.parametrize("name", NAMES[:4])
def test_stateless_methods_write_nothing(name):
    found, wanted = without_state(ours, name), answer(without_state, keras, name)
    same(found[:3], wanted[:3])
    same(found[4], wanted[4])
    same(found[3][:2], wanted[3][:2])


def built_in(keras, name):
    metric = getattr(keras.metrics, name)()
    told = [numbers(metric.result())]
    state = metric.stateless_update_state(metric.variables, Y, np.abs(X[:, :1]) / 4)
    return [*told, numbers(metric.stateless_result(state)), numbers(metric.result())]


@pytest.mark.parametrize("name", ["Precision", "AUC", "MeanSquaredError", "BinaryAccuracy"])
def test_built_in_metrics_have_their_state_from_the_beginning(name):
    same(built_in(ours, name), answer(built_in, keras, name))


def saved(keras, path):
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1, kernel_initializer="ones")])
    kinds = classes(keras)
    model.compile("sgd", "mse", metrics=[kinds["TruePositives"](0.2), kinds["Moments"]()])
    model.train_on_batch(X, Y)
    model.save(path)
    again = keras.models.load_model(path, custom_objects=kinds)
    again.set_weights([np.ones((3, 1)), np.zeros(1)])
    return numbers(again.evaluate(X, Y, verbose=0, return_dict=True))


def test_files_have_metrics_of_ones_own(tmp_path):
    same(saved(ours, tmp_path / "m.keras"), answer(saved, keras, str(tmp_path / "theirs.keras")))


def test_configuration_makes_a_metric_again():
    kind = classes(ours)["TruePositives"]
    config = kind(0.2, name="few").get_config()
    assert config == {"name": "few", "threshold": 0.2}
    assert kind.from_config(config).threshold == 0.2


# --- what cannot be a graph, and what stays whole -------------------------------------------------


def compiled(metric):
    model = ours.Sequential([ours.Input((3,)), ours.layers.Dense(1)])
    model.compile("sgd", "mse", metrics=[metric])
    return model


class Base(ours.metrics.Metric):
    def __init__(self):
        super().__init__(name="own")
        self.total = self.add_weight(name="total")
        self.other = self.add_weight(name="other")
        self.calls = 0

    def result(self):
        return self.total


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (lambda m: m.total.assign_add(float(m.total) + 1), "'own/total': a symbolic tensor has"),
        (lambda m: m.total.assign_add(np.asarray(m.other)), "'own/other': a symbolic tensor"),
        (lambda m: m.total.assign_add(m.other.numpy()), "'own/other'.*for each batch"),
        (lambda m: setattr(m, "total", m.total + 1), "Metric 'own' sets self.total.*add_weight"),
        (lambda m: setattr(m, "last", m.total + 1), "Metric 'own' sets self.last"),
        (lambda m: setattr(m, "calls", m.calls + 1), "Metric 'own' sets self.calls"),
        (
            lambda m: m.total.assign(K.zeros((2,))),
            "'own/total': expected a new value of .*got .2,.",
        ),
    ],
)
def test_what_a_graph_would_do_once_only_is_refused(body, words):
    class Own(Base):
        def update_state(self, y_true, y_pred, sample_weight=None):
            body(self)

    metric = Own()
    before = dict(vars(metric))
    with pytest.raises((DtypeError, GraphError, ShapeError), match=words):
        compiled(metric)
    assert vars(metric) == before


def test_a_metric_of_numbers_is_refused_in_compile():
    with pytest.raises(ArgumentError, match="Mean: averages values"):
        compiled(ours.metrics.Mean())


def test_an_error_in_the_middle_of_an_update_writes_nothing():
    class Own(Base):
        def update_state(self, y_true, y_pred, sample_weight=None):
            self.total.assign_add(1.0)
            assert float(self.total) == 1.0
            assert self.total.numpy() == 1.0
            assert self.total.value == 1.0
            self.other.assign(y_pred)

    metric = Own()
    with pytest.raises(ShapeError):
        metric.update_state(0.0, [1.0, 2.0])
    assert float(metric.total) == 0.0
    metric.update_state(0.0, 3.0)
    assert [float(v) for v in metric.variables] == [1.0, 3.0]
    metric.reset_state()
    assert [float(v) for v in metric.variables] == [0.0, 0.0]


def test_a_function_and_its_arguments_are_in_the_configuration_of_their_mean():
    metric = ours.metrics.MeanMetricWrapper(ours.losses.huber, name="far", delta=0.1)
    again = type(metric).from_config(metric.get_config())
    assert again.get_config() == metric.get_config() == {"name": "far", "fn": "huber", "delta": 0.1}
    assert float(again(Y, X[:, :1])) == float(metric(Y, X[:, :1]))
    far = classes(ours)["Far"](0.3)
    assert type(far).from_config(far.get_config()).get_config() == {"name": "far", "limit": 0.3}
