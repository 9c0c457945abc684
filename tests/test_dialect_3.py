"""Dialect "3" against the real Keras 3, on jax: the same script, first weights and data.

Nothing here gives an argument that would make both agree: what is compared is what a script that
was written for Keras 3 leaves out.
"""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from keras_reference import answer, keras

import kerascope as ks
from kerascope import activations, config, layers, losses, models, optimizers
from kerascope.engine.layer_type import constructor_defaults
from kerascope.errors import ArgumentError, DataError, KerascopeWarning, PhaseAskedError
from kerascope.spellings import DIALECTS

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning"),
]

OURS = (layers, models.Model, optimizers)
THEIRS = (keras.layers, keras.Model, keras.optimizers)
CLOSE = {"rtol": 1e-4, "atol": 1e-5}
X = np.random.default_rng(0).normal(size=(6, 5)).astype("float32")
Y = X[:, :2] * 2


@pytest.fixture(autouse=True)
def _dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


# --- defaults -------------------------------------------------------------------------------------

OTHER_WORDS = {"learning_rate": "lr", "negative_slope": "alpha"}
# Written otherwise, for the same thing.
SAME = [
    {None, "channels_last"},
    {None, 1e-7},  # epsilon: that of the settings
    {None, False},
    {1, (1, 1)},
    {(1, 1, 1), ((1, 1), (1, 1), (1, 1))},
    {"zeros", "Zeros"},
]
OURS_ALONE = {
    *("AtrousConvolution1D", "AtrousConvolution2D", "ConvLSTM2DCell", "ConvRNN2D"),
    *("Deconvolution2D", "Deconvolution3D", "LocallyConnected1D", "LocallyConnected2D"),
    *("Merge", "Operation", "ThresholdedReLU"),
    *("AtrousConv1D", "AtrousConv2D", "Deconv2D", "Highway", "MaxoutDense"),
    *("ParametricSoftplus", "SReLU", "TimeDistributedDense", "Recurrent", "ConvRecurrent2D"),
    *("Any", "ParameterUpdate", "Registry"),  # no layers or optimizers
}
CLASSES = [
    (home.__name__, name)
    for home in (layers, optimizers)
    for name in sorted(dir(home))
    if name[0].isupper() and inspect.isclass(getattr(home, name)) and name not in OURS_ALONE
]


def defaults_of(cls):
    return dict(constructor_defaults(cls))


@pytest.mark.parametrize(("home", "name"), CLASSES)
def test_every_default_is_keras_3s(home, name):
    home = home.removeprefix("kerascope.")
    cls = getattr(getattr(ks, home), name)
    changed = DIALECTS["3"].defaults.get(cls.__name__, {})
    ours = {**constructor_defaults(cls), **changed}
    real = answer(defaults_of, getattr(getattr(keras, home), name))
    words = {a: a if a in ours else OTHER_WORDS.get(a, a) for a in real}
    for argument, theirs in real.items():
        mine = ours.get(words[argument], theirs)
        assert mine == theirs or {mine, theirs} in SAME, argument
    # Layer and Optimizer take theirs as keywords.
    assert ours.keys() & words.values() or not real or name in ("Layer", "Optimizer")
    assert changed.keys() <= ours.keys()


@pytest.mark.parametrize("name", DIALECTS["3"].defaults)
@pytest.mark.parametrize("dialect", ["2.2", "3"])
def test_configuration_tells_the_default_that_holds(name, dialect):
    config.dialect = dialect
    first = {"ConvLSTM2D": (2, 3), "ConvLSTM2DCell": (2, 3)}.get(name, (2,))
    made = getattr(layers, name)(*first) if hasattr(layers, name) else getattr(optimizers, name)()
    wanted = DIALECTS["3"].defaults[name]
    usual = {**constructor_defaults(type(made)), "initial_accumulator_value": None}
    told = made.get_config()
    found = {argument: told.get(argument) for argument in wanted}
    assert found == (wanted if dialect == "3" else {key: usual[key] for key in wanted})


def test_arguments_that_are_given_win_by_name_and_by_place():
    assert layers.GRU(2, reset_after=False).get_config()["reset_after"] is False
    lstm = layers.LSTM(2, "tanh", "hard_sigmoid_of_keras_3")
    assert lstm.recurrent_activation is activations.hard_sigmoid_of_keras_3
    assert optimizers.Adadelta(0.5).get_config()["lr"] == 0.5
    assert optimizers.Adadelta(learning_rate=0.5).get_config()["lr"] == 0.5


def test_a_layer_of_ones_own_inherits_the_default():
    class Mine(layers.LSTM):
        def __init__(self, units):
            super().__init__(units)

    assert Mine(2).recurrent_activation is activations.sigmoid


# --- training -------------------------------------------------------------------------------------


def both(build, x=X, y=Y, loss="mse", make_optimizer=None, metrics=None, **fit):
    """Return what three batches of training, and a test, give in Keras 3 and here."""

    def trained(own, first):
        model = build(*own[:2])
        first = model.get_weights() if first is None else first
        model.set_weights(first)
        optimizer = make_optimizer(own[2]) if make_optimizer else "sgd"
        model.compile(optimizer, loss, weighted_metrics=metrics)
        told = [model.train_on_batch(x, y, **fit) for _ in range(3)]
        told += [model.test_on_batch(x, y), model.predict(x, verbose=0), *model.get_weights()]
        return first, [np.asarray(one) for one in told]

    first, theirs = answer(trained, THEIRS, None)
    return theirs, trained(OURS, first)[1]


def same(found):
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, **CLOSE)


def dense(**arguments):
    def build(layers, model):
        i = layers.Input((5,))
        return model(i, layers.Dense(2, **arguments)(layers.Dense(3)(i)))

    return build


NAMES = [
    "SGD",
    "RMSprop",
    "Adagrad",
    "Adadelta",
    "Adam",
    "AdamW",
    "Adamax",
    "Nadam",
    "Lamb",
    "Lion",
    "Ftrl",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_optimizer_trains_alike_as_it_is_and_with_a_great_epsilon(name):
    same(both(dense(), make_optimizer=lambda home: getattr(home, name)()))
    if "epsilon" in inspect.signature(getattr(optimizers, name)).parameters:
        same(both(dense(), make_optimizer=lambda home: getattr(home, name)(0.1, epsilon=0.1)))


@pytest.mark.parametrize("bound", ["clipnorm", "global_clipnorm", "clipvalue"])
def test_gradients_are_clipped_alike(bound):
    same(both(dense(), make_optimizer=lambda home: home.SGD(0.1, **{bound: 0.2})))


def test_penalty_on_activity_is_divided_by_the_number_of_samples():
    same(both(dense(activity_regularizer="l2")))


def test_weights_of_samples_that_are_zero_count():
    weights = np.array([0, 0, 2, 0, 0.5, 1], "float32")
    same(both(dense(), sample_weight=weights, metrics=["mae"]))
    same(both(dense(), sample_weight=0 * weights, metrics=["mae"]))


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_targets_of_0_and_1_are_signs(loss):
    same(both(dense(), y=(Y > 0).astype("float32"), loss=loss))
    same(both(dense(), y=np.sign(Y), loss=loss))


@pytest.mark.parametrize("name", ["SimpleRNN", "GRU", "LSTM", "ConvLSTM2D"])
def test_recurrent_layers_train_alike(name):
    shape, arguments = ((3, 4, 4, 2), (2, 2)) if name == "ConvLSTM2D" else ((3, 4), (3,))

    def build(layers, model):
        i = layers.Input(shape)
        h = layers.Flatten()(getattr(layers, name)(*arguments)(i))
        return model(i, layers.Dense(2)(h))

    same(both(build, x=np.random.default_rng(1).normal(size=(6, *shape)).astype("float32")))


def test_a_frozen_batch_normalization_trains_by_its_moving_averages():
    def build(layers, model):
        i = layers.Input((5,))
        h = layers.BatchNormalization(trainable=False, moving_mean_initializer="ones")(i)
        return model(i, layers.Dense(2)(h))

    same(both(build))
    layer = layers.BatchNormalization(trainable=False)
    np.testing.assert_allclose(layer(X, training=True), layer(X))
    assert not layer.get_weights()[2].any()  # and are left alone


@pytest.mark.parametrize("is_frozen", [False, True])
def test_no_switch_of_a_batch_normalization_is_left_in_a_program(is_frozen):
    i = layers.Input((5,))
    h = layers.Dense(3)(layers.BatchNormalization(trainable=not is_frozen)(i))
    model = models.Model(i, layers.Dense(2)(layers.BatchNormalization()(h)))
    model.compile("sgd", "mse")
    for _ in range(3):
        model.train_on_batch(X, Y), model.test_on_batch(X, Y), model.predict(X)
    for function in (model.train_function, model.test_function, model.predict_function):
        assert "batch_normalization" in function.source
        assert "    if " not in function.source


def test_transfer_learning_freezes_thaws_and_freezes_in_part_alike():
    found, first = [], None
    for home, model, home_of_optimizers in (THEIRS, OURS):
        i = home.Input((5,))
        h = home.BatchNormalization(momentum=0.5)(home.Dense(4)(i))
        base = model(i, home.Dense(3)(h))
        i = home.Input((5,))
        whole = model(i, home.Dense(2)(base(i)))
        parts = [*base.layers, whole.layers[-1]]
        first = [part.get_weights() for part in parts] if first is None else first
        for part, weights in zip(parts, first, strict=True):
            part.set_weights(weights)
        told = []
        for freeze in (
            lambda base: setattr(base, "trainable", False),
            lambda base: setattr(base, "trainable", True),
            lambda base: setattr(base.layers[2], "trainable", False),
        ):
            freeze(base)
            whole.compile(home_of_optimizers.SGD(0.1), "mse")
            told += [whole.train_on_batch(X, Y) for _ in range(3)]
            told += [layer.trainable for layer in base.layers[1:]]
            told.append(whole.predict(X, verbose=0))
        found.append(told)
    same(found)


def test_in_dialect_2_a_frozen_batch_normalization_trains_by_the_batch():
    config.dialect = "2.2"
    model = models.Sequential([layers.BatchNormalization(trainable=False, input_shape=(5,))])
    model.compile("sgd", "mse")
    assert model.train_on_batch(X + 3, X) < model.test_on_batch(X + 3, X)
    wrapped = models.Sequential([models.Sequential([layers.Dense(2, input_shape=(5,))])])
    wrapped.layers[0].trainable = False
    assert wrapped.layers[0].layers[0].trainable


# --- if training: ---------------------------------------------------------------------------------


def doubling_layer(layer):
    """Return a layer of one's own that asks whether it is training."""

    class Doubled(layer):
        def call(self, x, training=None):
            return 2 * x if training else x

    return Doubled()


def asking(layers, model):
    """Return a model whose call asks whether it is training, and so does a layer in it."""

    class Asking(model):
        def __init__(self):
            super().__init__()
            self.norm, self.doubled = layers.BatchNormalization(), doubling_layer(layers.Layer)
            self.first, self.last = layers.Dense(3), layers.Dense(2)

        def call(self, x, training=False):
            x = self.norm(self.first(x), training=training)
            if training:
                x = self.doubled(x, training=training) + 1
            return self.last(x)

    return Asking()


@pytest.mark.filterwarnings("ignore:.*does not have a `build:UserWarning")  # Keras 3's, of itself
def test_a_call_may_ask_whether_it_is_training():
    def trained(own, first):
        model = asking(*own[:2])
        model.compile("sgd", "mse")
        model.predict(X, verbose=0)
        parts = [model.first, model.norm, model.last]
        first = [part.get_weights() for part in parts] if first is None else first
        for part, weights in zip(parts, first, strict=True):
            part.set_weights(weights)
        told = [model.train_on_batch(X, Y) for _ in range(3)]
        told += [model.test_on_batch(X, Y), model.predict(X, verbose=0)]
        told += [np.asarray(model(X)), np.asarray(model(X, training=True))]
        return first, told + [w for part in parts for w in part.get_weights()]

    first, theirs = answer(trained, THEIRS, None)
    same((theirs, trained(OURS, first)[1]))


def test_a_layer_of_ones_own_is_told_whether_it_is_training():
    def build(layers, model):
        i = layers.Input((5,))
        h = doubling_layer(layers.Layer)(layers.Dense(3)(i))
        return model(i, layers.Dense(2)(h))

    same(both(build))


def test_a_call_that_only_hands_training_on_is_run_once():
    class Plain(models.Model):
        def __init__(self):
            super().__init__()
            self.dense, self.drop = layers.Dense(2), layers.Dropout(0.5)

        def call(self, x, training=False):
            return self.drop(self.dense(x), training=training)

    model = Plain()
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    assert len(model.dense.inbound_nodes) == 1


def test_a_call_that_asks_and_penalizes_twice_is_refused():
    class Twice(models.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2, activity_regularizer="l2")

        def call(self, x, training=False):
            return self.dense(2 * x) if training else self.dense(x)

    model = Twice()
    model.compile("sgd", "mse")
    with pytest.raises(ArgumentError, match=r"count twice.*K.in_train_phase\(a, b, training\)"):
        model.fit(X, Y)
    assert not model.dense.built
    assert not model.dense.inbound_nodes
    assert not model.losses
    Twice.call = lambda self, x, training=False: self.dense(x)
    assert len(model.fit(X, Y, verbose=0).history["loss"]) == 1


def penalizing(layers, model, when):
    """Return a model whose call adds a penalty in one phase, and has penalties on weights."""

    class Penalizing(model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2, kernel_regularizer="l2", bias_regularizer="l1")

        def call(self, x, training=False):
            if bool(training) is when:
                self.add_loss(7.0)
            return self.dense(2 * x if training else x)

    return Penalizing()


@pytest.mark.parametrize("when", [True, False])
def test_a_penalty_in_one_phase_only_is_refused(when):
    model = penalizing(layers, models.Model, when)
    model.compile("sgd", "mse")
    with pytest.raises(ArgumentError, match="in the wrong phase"):
        model.evaluate(X, Y)
    assert not model.losses


def test_penalties_on_weights_count_once_where_a_call_asks_whether_it_is_training():
    model = penalizing(layers, models.Model, None)
    model.compile("sgd", "mse")
    model.train_on_batch(X, Y)
    assert len(model.losses) == 2
    assert len(model.dense.inbound_nodes) == 2
    kernel, bias = model.dense.get_weights()
    penalty = 0.01 * ((kernel**2).sum() + np.abs(bias).sum())
    wanted = np.square(X @ kernel + bias - Y).mean() + penalty
    np.testing.assert_allclose(model.test_on_batch(X, Y), wanted, rtol=1e-5)


def test_in_dialect_2_the_error_says_what_to_write():
    config.dialect = "2.2"
    with pytest.raises(PhaseAskedError, match=r"Write K.in_train_phase\(a, b, training\)"):
        asking(layers, models.Model).predict(X)


# --- files ----------------------------------------------------------------------------------------


def recurrent(layers, model, **arguments):
    i = layers.Input((3, 4))
    h = layers.GRU(3, return_sequences=True)(i)
    return model(i, layers.LSTM(2)(h))


@pytest.mark.parametrize("name", ["theirs.keras", "theirs.h5"])
@pytest.mark.parametrize("dialect", ["1.2", "2.2", "3"])
@pytest.mark.filterwarnings("ignore:.*HDF5")
def test_a_file_of_keras_3_predicts_the_same_in_every_dialect(name, dialect, tmp_path):
    config.dialect = dialect
    theirs = recurrent(*THEIRS[:2])
    theirs.save(tmp_path / name)
    x = np.random.default_rng(1).normal(size=(6, 3, 4)).astype("float32")
    ours = models.load_model(tmp_path / name)
    np.testing.assert_allclose(ours.predict(x), theirs.predict(x, verbose=0), **CLOSE)


def test_weights_of_keras_3_fit_the_same_script(tmp_path):
    theirs, ours = recurrent(*THEIRS[:2]), recurrent(*OURS[:2])
    theirs.save_weights(tmp_path / "theirs.weights.h5")
    ours.load_weights(tmp_path / "theirs.weights.h5")
    x = np.random.default_rng(1).normal(size=(6, 3, 4)).astype("float32")
    np.testing.assert_allclose(ours.predict(x), theirs.predict(x, verbose=0), **CLOSE)


def test_weights_of_a_gru_of_keras_3_name_reset_after_in_dialect_2(tmp_path):
    recurrent(*THEIRS[:2]).save_weights(tmp_path / "theirs.weights.h5")
    config.dialect = "2.2"
    with pytest.raises(DataError, match=r"GRU.*expected shape \(9,\).*reset_after=True"):
        recurrent(*OURS[:2]).load_weights(tmp_path / "theirs.weights.h5")


MAKERS = {
    "adagrad": lambda: optimizers.Adagrad(0.1),
    "from 0": lambda: optimizers.Adagrad(0.1, initial_accumulator_value=0.0),
    "rmsprop": lambda: optimizers.RMSprop(0.1, epsilon=0.1),
    "nadam": lambda: optimizers.Nadam(0.1),
    "clipnorm": lambda: optimizers.SGD(0.1, clipnorm=0.2),
    "global": lambda: optimizers.SGD(0.1, global_clipnorm=0.2),
}


@pytest.mark.parametrize("name", ["ours.keras", "ours.h5"])
@pytest.mark.parametrize("written_in", ["2.2", "3"])
@pytest.mark.parametrize("case", MAKERS)
def test_a_model_trains_on_from_its_file_as_it_would_have(case, written_in, name, tmp_path):
    config.dialect = written_in
    model = dense()(*OURS[:2])
    model.compile(MAKERS[case](), "mse")
    model.train_on_batch(X, Y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*schedule_decay")
        model.save(tmp_path / name)
    model.train_on_batch(X, Y)
    if case == "nadam" and name.endswith("keras") and written_in == "2.2":
        return  # the file cannot hold its schedule, of which the warning above tells
    for dialect in ("2.2", "3"):
        config.dialect = dialect
        twin = models.load_model(tmp_path / name)
        twin.train_on_batch(X, Y)
        for a, b in zip(twin.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", ["theirs.keras", "theirs.h5"])
@pytest.mark.parametrize(
    "make",
    [
        lambda home: home.SGD(0.1, clipnorm=0.2),
        lambda home: home.RMSprop(0.1, epsilon=0.1),
        lambda home: home.Adagrad(0.1, epsilon=0.1),
    ],
)
@pytest.mark.filterwarnings("ignore:.*HDF5")
def test_an_optimizer_of_a_file_of_keras_3_goes_on_as_in_keras_3(make, name, tmp_path):
    theirs = dense()(*THEIRS[:2])
    theirs.compile(make(keras.optimizers), "mse")
    theirs.train_on_batch(X, Y)
    theirs.save(tmp_path / name)
    theirs.train_on_batch(X, Y)
    for dialect in ("2.2", "3"):
        config.dialect = dialect
        ours = models.load_model(tmp_path / name)
        ours.train_on_batch(X, Y)
        for a, b in zip(ours.get_weights(), theirs.get_weights(), strict=True):
            np.testing.assert_allclose(a, b, **CLOSE)


def test_keras_3_reads_a_file_that_tells_the_flavour_of_keras_2(tmp_path):
    config.dialect = "2.2"
    ours = dense()(*OURS[:2])
    ours.compile(optimizers.RMSprop(0.1, epsilon=0.1), "mse")
    ours.train_on_batch(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", KerascopeWarning)
        ours.save(tmp_path / "ours.keras")
    theirs = keras.models.load_model(tmp_path / "ours.keras")
    assert theirs.optimizer.epsilon == 0.1
    np.testing.assert_allclose(theirs.predict(X, verbose=0), ours.predict(X), **CLOSE)


class OwnAdagrad(optimizers.Adagrad):
    """An optimizer of one's own, whose constructor takes no flavour."""

    def __init__(self, lr=0.1, epsilon=0.1):
        super().__init__(lr, epsilon)


@pytest.mark.parametrize("written_in", ["2.2", "3"])
def test_an_optimizer_of_ones_own_keeps_its_flavour_in_a_file(written_in, tmp_path):
    config.dialect = written_in
    model = dense()(*OURS[:2])
    model.compile(OwnAdagrad(), "mse")
    model.save(tmp_path / "ours.keras")
    config.dialect = "2.2" if written_in == "3" else "3"
    twin = models.load_model(tmp_path / "ours.keras", custom_objects={"OwnAdagrad": OwnAdagrad})
    assert twin.optimizer.flavour == model.optimizer.flavour == written_in[0]
    first = model.optimizer.initial_accumulator_value
    assert twin.optimizer.initial_accumulator_value == first


@pytest.mark.parametrize("written_in", ["2.2", "3"])
@pytest.mark.parametrize("case", MAKERS)
def test_a_pickle_trains_on_as_the_model_would_have(case, written_in):
    config.dialect = written_in
    model = dense()(*OURS[:2])
    model.compile(MAKERS[case](), "mse")
    model.train_on_batch(X, Y)
    pickled, before = pickle.dumps(model), model.get_weights()
    model.train_on_batch(X, Y)
    for a, b in zip(before, model.get_weights(), strict=True):
        assert abs(a - b).max() > 1e-3  # it has learned
    for dialect in ("2.2", "3"):
        config.dialect = dialect
        twin = pickle.loads(pickled)
        for name in ("initial_accumulator_value", "epsilon"):
            assert getattr(twin.optimizer, name, 0) == getattr(model.optimizer, name, 0)
        twin.train_on_batch(X, Y)
        for a, b in zip(twin.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


def test_what_a_configuration_of_keras_2_leaves_out_is_as_in_keras_2():
    config.dialect = "2.2"
    told = models.Sequential([layers.GRU(2, input_shape=(3, 4))]).to_json()
    old = told.replace('"reset_after": false, ', "").replace(', "reset_after": false', "")
    assert "reset_after" not in old
    config.dialect = "3"
    assert models.model_from_json(old).layers[-1].reset_after is False


def test_in_dialect_2_configurations_of_optimizers_are_those_of_keras_2():
    config.dialect = "2.2"
    assert optimizers.Adagrad().get_config() == {"lr": 0.01, "epsilon": 1e-7, "decay": 0.0}
    told = optimizers.RMSprop(global_clipnorm=1.0).get_config()
    assert told == {"lr": 0.001, "rho": 0.9, "epsilon": 1e-7, "decay": 0.0, "clipnorm": 1.0}


def test_a_flavour_that_is_none_is_refused():
    with pytest.raises(ArgumentError, match="flavour: expected '2' or '3', got '4'"):
        optimizers.SGD(flavour="4")


# --- metrics in the logs --------------------------------------------------------------------------

SAMPLES = np.random.default_rng(1).normal(size=(10, 3)).astype("float32")
WEIGHTED = np.random.default_rng(2).uniform(0.2, 2, 10).astype("float32")
OUTPUTS = [(units, steps) for units in (1, 2, 4) for steps in (None, 3)]


def targets_for(units, steps, loss):
    """Return targets of each shape that a loss takes in Keras 3, for outputs of these units."""
    lead = (10,) if steps is None else (10, steps)
    classes = np.random.default_rng(units).integers(0, max(units, 2), lead)
    bits = np.random.default_rng(units + 5).integers(0, 2, (*lead, units)).astype("float32")
    one_hot = np.eye(units, dtype="float32")[classes % units]
    numbers = classes[..., None]
    if units == 1:
        return [] if loss.startswith(("sparse", "categ")) else [bits]
    if loss.startswith("sparse"):
        return [numbers]
    return [one_hot, numbers] if loss == "own" else [one_hot, bits]


def loss_of_ones_own(y_true, y_pred):
    return (y_pred * y_pred)[..., 0]


def logs_of(home, loss, number, metrics):
    """Return what `evaluate` tells of models with so many outputs, for one batch."""
    told = []
    for units, steps in OUTPUTS:
        for y in targets_for(units, steps, loss):
            model = model_with_outputs(home, units, steps, number)
            temporal = {"sample_weight_mode": "temporal"} if steps and home is OURS else {}
            of_each = metrics if number == 1 else [metrics] * number
            model.compile(
                "sgd", loss_of_ones_own if loss == "own" else loss,
                metrics=of_each, weighted_metrics=of_each, **temporal,
            )  # fmt: skip
            targets = y if number == 1 else [y] * number
            weights = WEIGHTED if steps is None else np.repeat(WEIGHTED[:, None], steps, 1)
            given = {"sample_weight": weights if number == 1 else [weights] * number}
            told.append(model.evaluate(SAMPLES, targets, 10, verbose=0, return_dict=True, **given))
    return [{key: float(value) for key, value in one.items()} for one in told]


def model_with_outputs(home, units, steps, number):
    x = home[0].Input((3,))
    h = x if steps is None else home[0].RepeatVector(steps)(x)
    kind = "sigmoid" if units == 1 else "softmax"
    outputs = [home[0].Dense(units, activation=kind, name=f"o{i}")(h) for i in range(number)]
    model = home[1](x, outputs if number > 1 else outputs[0])
    rng = np.random.default_rng(3)
    model.set_weights([rng.normal(size=(3, units)), np.zeros(units)] * number)
    return model


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize(
    "loss",
    ["binary_crossentropy", "categorical_crossentropy", "sparse_categorical_crossentropy",
     "mse", "own"],
)  # fmt: skip
def test_accuracy_is_that_of_the_shapes_and_logs_have_the_words_that_asked(loss, number):
    expected = answer(logs_of, THEIRS, loss, number, ["accuracy", "acc", "mae"])
    for mine, real in zip(
        logs_of(OURS, loss, number, ["accuracy", "acc", "mae"]), expected, strict=True
    ):
        assert mine.keys() == real.keys()
        for key, value in real.items():
            assert mine[key] == pytest.approx(value, rel=1e-4, abs=1e-6), key


def test_in_dialect_2_accuracy_follows_the_loss_and_logs_have_full_names():
    config.dialect = "2.2"
    model = model_with_outputs(OURS, 4, None, 1)
    model.compile("sgd", "binary_crossentropy", ["accuracy", "mae"], weighted_metrics=["mae"])
    y = targets_for(4, None, "binary_crossentropy")[0]
    told = dict(zip(model.metrics_names, model.evaluate(SAMPLES, y, verbose=0), strict=True))
    assert [*told] == ["loss", "acc", "mean_absolute_error", "weighted_mean_absolute_error"]
    assert told["acc"] == pytest.approx((model.predict(SAMPLES).round() == y).mean())


# --- what stays different -------------------------------------------------------------------------


def test_hard_sigmoid_is_keras_3s_but_in_a_file_of_keras_2():
    x = np.linspace(-4, 4, 9).astype("float32")
    theirs = np.asarray(keras.activations.hard_sigmoid(x))
    given = ("hard_sigmoid", activations.hard_sigmoid, "hard_sigmoid_of_keras_3")
    for activation in given:
        layer = layers.Activation(activation)
        np.testing.assert_allclose(layer(x), theirs, **CLOSE)
        twin = layers.Activation.from_config(layer.get_config())
        np.testing.assert_allclose(twin(x), theirs, **CLOSE)
    np.testing.assert_allclose(activations.hard_sigmoid(x), theirs, **CLOSE)
    old = layers.Activation.from_config({"activation": "hard_sigmoid", "name": "old"})
    np.testing.assert_allclose(old(x), np.clip(0.2 * x + 0.5, 0, 1), **CLOSE)
    assert old.get_config()["activation"] == "hard_sigmoid"
    assert losses.get("hinge") is losses.hinge


def test_an_optimizer_lists_its_variables_and_counts_its_steps():
    model = models.Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile(optimizers.Adam(), "mse")
    model.fit(np.ones((4, 2)), np.ones((4, 1)), batch_size=2, verbose=0)
    count, rate, *slots = model.optimizer.variables
    assert (int(count), float(rate)) == (2, pytest.approx(0.001))
    assert sorted(slot.shape for slot in slots) == [(1,), (1,), (2, 1), (2, 1)]


def test_a_stateful_layer_forgets_by_reset_state():
    layer = layers.GRU(2, stateful=True, batch_input_shape=(1, 3, 2))
    model = models.Sequential([layer])
    x = np.ones((1, 3, 2))
    first = model.predict(x, verbose=0)
    assert not np.allclose(model.predict(x, verbose=0), first)
    layer.reset_state()
    np.testing.assert_array_equal(model.predict(x, verbose=0), first)
