"""Files go to Keras 3 and come from it: weights, configuration, compilation, optimizer's state."""

from __future__ import annotations

import copy
import json
import pickle
import platform
import re
from importlib import util
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keras_reference import answer, keras, real_keras

import kerascope
from kerascope import K, layers, missing_names
from kerascope.callbacks import ModelCheckpoint
from kerascope.errors import ConfigError, KerascopeWarning, UnknownNameError
from kerascope.models import Model, Sequential, load_model, model_from_json
from kerascope.saving.keras3_reading import from_keras_3
from kerascope.saving.keras3_weights import folder_name

_spec = util.spec_from_file_location(
    "models_of_keras3", Path(__file__).parent / "models_of_keras3.py"
)
_module = util.module_from_spec(_spec)
_spec.loader.exec_module(_module)
MODELS, VECTORS = _module.MODELS, _module.VECTORS

# Keras 3.15 asks jax's arrays for copies in a way that NumPy is about to change.
pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning"),
]

CLOSE = {"rtol": 1e-4, "atol": 2e-6}


def as_list(value):
    return [np.asarray(one) for one in (value if isinstance(value, (list, tuple)) else [value])]


def unpacked(items):
    return items[0] if len(items) == 1 else items


def of_keras(model, arrays):
    return as_list(model(unpacked(arrays), training=False))


def same(one, other):
    for a, b in zip(one, other, strict=True):
        np.testing.assert_allclose(a, b, **CLOSE)


def shaken(model):
    """Give a model of Keras other weights, so that none is at its first value."""
    rng = np.random.default_rng(5)
    model.set_weights([w + rng.uniform(0.01, 0.3, w.shape) for w in model.get_weights()])
    return model


# --- the matrix -----------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MODELS, ids=lambda make: make.__name__)
def test_who_writes_and_who_reads_does_not_matter(make, tmp_path):
    theirs, arrays = make(keras)
    expected = of_keras(shaken(theirs), arrays)
    theirs.save(tmp_path / "theirs.keras")

    ours = load_model(tmp_path / "theirs.keras")  # Keras 3 writes, we read
    same(expected, as_list(ours.predict(arrays)))
    ours.save(tmp_path / "ours.keras")
    same(expected, as_list(load_model(tmp_path / "ours.keras").predict(arrays)))  # we, we
    same(expected, of_keras(keras.models.load_model(tmp_path / "ours.keras"), arrays))  # we, Keras

    ours.save(tmp_path / "ours.h5")
    same(expected, as_list(load_model(tmp_path / "ours.h5").predict(arrays)))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["ours.h5", "ours.keras", "theirs.keras"]


@pytest.mark.parametrize("make", MODELS[:7], ids=lambda make: make.__name__)
@pytest.mark.filterwarnings("ignore")  # Keras calls its own .h5 files legacy
def test_other_files_of_keras_3_are_read_too(make, tmp_path):
    theirs, arrays = make(keras)
    expected = of_keras(shaken(theirs), arrays)
    theirs.save(tmp_path / "legacy.h5")
    same(expected, as_list(load_model(tmp_path / "legacy.h5").predict(arrays)))

    theirs.save_weights(tmp_path / "theirs.weights.h5")
    ours = model_from_json(theirs.to_json())
    ours.load_weights(tmp_path / "theirs.weights.h5")
    same(expected, as_list(ours.predict(arrays)))
    ours.save_weights(tmp_path / "ours.weights.h5")
    again, _ = make(keras)
    again.load_weights(tmp_path / "ours.weights.h5")
    same(expected, of_keras(again, arrays))


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.filterwarnings("ignore")  # Keras calls its own .h5 files legacy
def test_a_layer_that_does_not_say_whether_it_is_trainable_is_no_operation(axes, tmp_path):
    inputs = keras.Input((*(5, 6, 7)[:axes], 4))
    dropout = getattr(keras.layers, f"SpatialDropout{axes}D")(0.2)
    theirs = keras.Model(inputs, dropout(keras.layers.Dense(3)(inputs) * 2.0))
    theirs.save(tmp_path / "legacy.h5")
    arrays = np.ones((2, *inputs.shape[1:]), "float32")
    ours = load_model(tmp_path / "legacy.h5")
    assert type(ours.layers[-1]) is getattr(layers, f"SpatialDropout{axes}D")
    same(of_keras(theirs, arrays), as_list(ours.predict(arrays)))


def test_a_quantized_layer_is_refused_by_the_name_of_its_policy():
    policy = {"class_name": "QuantizedDTypePolicy", "config": {"mode": "int8"}}
    policy["config"]["source_name"] = "float32"
    entry = {"class_name": "Dense", "config": {"name": "d", "units": 2, "dtype": policy}}
    with pytest.raises(ConfigError, match="dtype policy 'int8_from_float32' is not supported"):
        from_keras_3(entry)


@pytest.mark.parametrize(("name", "shape"), [("CutMix", (4, 4, 3))])
def test_a_layer_that_is_not_here_yet_says_what_to_do(name, shape, tmp_path):
    layer = getattr(keras.layers, name)()
    keras.Sequential([keras.Input(shape), layer]).save(tmp_path / "model.keras")
    words = missing_names.words_for("kerascope.layers", name)
    with pytest.raises(UnknownNameError, match=re.escape(words)) as caught:
        load_model(tmp_path / "model.keras")
    assert "Known: " not in str(caught.value)


@pytest.mark.parametrize("is_frozen", [False, True])
@pytest.mark.filterwarnings("ignore")  # Keras calls its own .h5 files legacy
def test_weights_of_a_nested_model_find_their_layers_whatever_was_frozen(is_frozen, tmp_path):
    def made(module, is_frozen):
        inputs = module.layers.Input((6,))
        first = module.layers.Dense(6, name="first")
        outputs = module.layers.Dense(6, name="second")(first(inputs))
        nested = module.models.Model(inputs, outputs, name="nested")
        first.trainable = not is_frozen
        return module.models.Sequential([module.layers.Input((6,)), nested])

    theirs, ours = made(keras, is_frozen), made(kerascope, not is_frozen)
    theirs.save(tmp_path / "theirs.h5")
    ours.load_weights(tmp_path / "theirs.h5")
    arrays = np.ones((2, 6), "float32")
    same(of_keras(theirs, arrays), as_list(ours.predict(arrays)))

    ours.save_weights(tmp_path / "ours.h5")
    for by_name in (False, True):
        again = made(kerascope, is_frozen)
        again.load_weights(tmp_path / "ours.h5", by_name=by_name)
        same(of_keras(theirs, arrays), as_list(again.predict(arrays)))


# --- training goes on -----------------------------------------------------------------------------

OPTIMIZERS = {
    "sgd": lambda o: o.SGD(0.1),
    "momentum": lambda o: o.SGD(0.1, momentum=0.9, nesterov=True),
    "decay": lambda o: o.SGD(o.schedules.InverseTimeDecay(0.1, 1, 0.5)),
    "amsgrad": lambda o: o.Adam(0.01, amsgrad=True, global_clipnorm=0.5),
    "adagrad": lambda o: o.Adagrad(0.1),
    "adadelta": lambda o: o.Adadelta(1.0),
    "adamax": lambda o: o.Adamax(0.01),
    "nadam": lambda o: o.Nadam(0.01),
    "rmsprop with momentum": lambda o: o.RMSprop(0.01, momentum=0.9),
    "rmsprop centered": lambda o: o.RMSprop(0.01, centered=True, momentum=0.5),
    "lamb": lambda o: o.Lamb(0.01),
}


def two_denses():
    return keras.Sequential(
        [keras.Input((6,)), keras.layers.Dense(3, activation="tanh"), keras.layers.Dense(2)]
    )


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_goes_on_where_it_stopped(name, tmp_path):
    theirs, targets = two_denses(), np.ones((8, 2), "float32")
    theirs.compile(OPTIMIZERS[name](keras.optimizers), "mse", metrics=["mae"], run_eagerly=True)
    theirs.train_on_batch(VECTORS, targets)
    theirs.train_on_batch(VECTORS, targets)
    theirs.save(tmp_path / "theirs.keras")
    ours = load_model(tmp_path / "theirs.keras")
    assert ours.metrics_names == ["loss", "mae"]
    theirs.train_on_batch(VECTORS, targets)
    ours.train_on_batch(VECTORS, targets)
    same(theirs.get_weights(), ours.get_weights())

    ours.save(tmp_path / "ours.keras")
    back = keras.models.load_model(tmp_path / "ours.keras")
    back.run_eagerly = True
    back.train_on_batch(VECTORS, targets)
    ours.train_on_batch(VECTORS, targets)
    same(back.get_weights(), ours.get_weights())


def test_rmsprop_keeps_its_state_though_epsilon_stands_elsewhere(tmp_path):
    theirs, targets = two_denses(), np.ones((8, 2), "float32")
    theirs.compile("rmsprop", "mse")
    theirs.train_on_batch(VECTORS, targets)
    theirs.save(tmp_path / "theirs.keras")
    ours = load_model(tmp_path / "theirs.keras")
    state = [v.numpy() for v in theirs.optimizer.variables]
    same(state[2:], ours.optimizer.get_weights()[1:])
    assert ours.optimizer.get_weights()[0] == 1


@pytest.mark.parametrize(
    ("optimizer", "words"),
    [
        (lambda o: o.Adam(use_ema=True), "use_ema=True has no counterpart"),
        (lambda o: o.RMSprop(use_ema=True), "use_ema=True has no counterpart"),
    ],
)
def test_what_an_optimizer_cannot_do_here_is_refused(optimizer, words, tmp_path):
    theirs = two_denses()
    theirs.compile(optimizer(keras.optimizers), "mse")
    theirs.save(tmp_path / "theirs.keras")
    with pytest.raises(ConfigError, match=f"{words}.*compile=False"):
        load_model(tmp_path / "theirs.keras")
    same(
        of_keras(theirs, [VECTORS]),
        [load_model(tmp_path / "theirs.keras", compile=False).predict(VECTORS)],
    )


def test_losses_and_metrics_of_several_outputs_come_along(tmp_path):
    theirs, arrays = _module.several(keras)
    theirs.compile(
        "adam",
        loss={"y": "mse", "w": keras.losses.CategoricalCrossentropy()},
        loss_weights={"y": 1.0, "w": 0.25},
        metrics={"y": ["mae"], "w": [keras.metrics.CategoricalAccuracy()]},
    )
    theirs.save(tmp_path / "theirs.keras")
    ours = load_model(tmp_path / "theirs.keras")
    targets = [np.ones((8, 1)), np.eye(2)[[0, 1] * 4]]
    theirs_loss = theirs.evaluate(arrays, targets, verbose=0, batch_size=8)[0]
    ours_loss = ours.evaluate(arrays, targets, verbose=0, batch_size=8)[0]
    assert ours_loss == pytest.approx(theirs_loss, rel=1e-4)
    ours.save(tmp_path / "ours.keras")
    back = keras.models.load_model(tmp_path / "ours.keras")
    back_loss = back.evaluate(arrays, targets, verbose=0, batch_size=8)[0]
    assert back_loss == pytest.approx(theirs_loss, rel=1e-4)


# --- our own models -------------------------------------------------------------------------------


def test_a_hard_sigmoid_of_ours_keeps_its_slope_in_keras_3(tmp_path):
    x = layers.Input((5, 3))
    model = Model(x, layers.LSTM(2, recurrent_activation="hard_sigmoid")(x))
    sequences = np.random.default_rng(0).normal(size=(4, 5, 3)).astype("float32") * 3
    model.save(tmp_path / "ours.keras")
    theirs = keras.models.load_model(tmp_path / "ours.keras")
    same(as_list(model.predict(sequences)), of_keras(theirs, [sequences]))
    theirs.save(tmp_path / "theirs.keras")
    twin = load_model(tmp_path / "theirs.keras")
    assert twin.layers[-1].recurrent_activation.__name__ == "hard_sigmoid"
    same(as_list(model.predict(sequences)), as_list(twin.predict(sequences)))


def test_nadam_says_what_keras_3_cannot_keep(tmp_path):
    model = Sequential([layers.Dense(1, input_shape=(2,))])
    model.compile("nadam", "mse")
    with pytest.warns(KerascopeWarning, match="schedule_decay"):
        model.save(tmp_path / "model.keras")


def test_initializers_are_put_back_after_reading(tmp_path):
    x = layers.Input((5, 3))
    model = Model(x, layers.Bidirectional(layers.GRU(2, kernel_initializer="he_normal"))(x))
    model.save(tmp_path / "model.keras")
    twin = load_model(tmp_path / "model.keras")
    assert twin.get_config() == model.get_config()
    assert "Postponed" not in json.dumps(twin.get_config())


def test_folders_are_called_as_keras_3_calls_them(tmp_path):
    names = [name for name in dir(keras.layers) if name[0].isupper() and name in layers.__all__]
    assert len(names) > 60
    for name in names:
        theirs = keras.src.utils.naming.to_snake_case(name)
        assert folder_name(name) == theirs


@st.composite
def graphs(draw):
    """Draw a graph of Denses of one size, whose weights only their order tells apart."""
    return draw(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=8))


@pytest.mark.parametrize(
    "graph",
    [
        [(0, 0), (0, 0)],
        [(0, 0), (1, 0), (0, 1)],
        [(9, 4), (3, 3), (7, 5), (1, 8), (2, 2)],
        [(0, 0), (1, 1), (2, 0), (0, 3), (4, 2), (5, 5), (1, 6), (7, 3)],
    ],
)
def test_weights_find_their_layers_in_a_graph(graph, tmp_path):
    goes_to_keras_and_back(graph, tmp_path, keras)


@pytest.mark.live
@pytest.mark.parametrize("answers", ["live"], indirect=True)  # Hypothesis asks anew each time
@settings(max_examples=6, deadline=None)
@given(graph=graphs())
def test_weights_find_their_layers_in_any_graph(graph, tmp_path_factory):
    goes_to_keras_and_back(graph, tmp_path_factory.mktemp("graph"), real_keras())


def goes_to_keras_and_back(graph, folder, keras):
    tensors = [layers.Input((3,))]
    for first, second in graph:
        a, b = tensors[first % len(tensors)], tensors[second % len(tensors)]
        tensors.append(layers.add([layers.Dense(3)(a), layers.Dense(3)(b)]))
    model = Model(tensors[0], layers.concatenate(tensors[1:]) if len(tensors) > 2 else tensors[1])
    model.save(folder / "ours.keras")
    x = np.random.default_rng(0).normal(size=(2, 3)).astype("float32")
    theirs = keras.models.load_model(folder / "ours.keras")
    same(as_list(model.predict(x)), of_keras(theirs, [x]))
    theirs.save(folder / "theirs.keras")
    same(as_list(load_model(folder / "theirs.keras").predict(x)), of_keras(theirs, [x]))


def test_operations_between_layers_compute_the_same(tmp_path):
    ops = keras.ops
    x = keras.Input((4, 4))
    outputs = [
        x[:, 0],
        x[:, 1:3, ::2],
        x[..., 0],
        1 - x,
        x**2 / 3,
        x @ x,
        ops.concatenate([x, x], axis=1),
        ops.stack([x, x], axis=1),
        ops.transpose(x, (0, 2, 1)),
        ops.reshape(x, (-1, 16)),
        ops.sum(x, axis=(1, 2)),
        ops.max(x, axis=1, keepdims=True),
        ops.squeeze(ops.expand_dims(x, 1), 1),
        ops.clip(ops.relu(x), -1, 1),
        ops.softmax(x),
    ]
    theirs = keras.Model(x, outputs)
    theirs.save(tmp_path / "theirs.keras")
    ours = load_model(tmp_path / "theirs.keras")
    arrays = [np.random.default_rng(0).normal(size=(3, 4, 4)).astype("float32")]
    same(of_keras(theirs, arrays), as_list(ours.predict(arrays)))
    ours.save(tmp_path / "ours.keras")
    back = keras.models.load_model(tmp_path / "ours.keras")
    same(of_keras(back, arrays), as_list(ours.predict(arrays)))


def test_masks_given_by_hand_and_inputs_by_name(tmp_path):
    sequence, mask = keras.Input((5, 4)), keras.Input((5,), dtype="bool")
    theirs = keras.Model([sequence, mask], keras.layers.GRU(3)(sequence, mask=mask))
    theirs.save(tmp_path / "mask.keras")
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=(8, 5, 4)).astype("float32"), rng.random((8, 5)) > 0.5]
    same(of_keras(theirs, arrays), as_list(load_model(tmp_path / "mask.keras").predict(arrays)))

    inputs = {"b": keras.Input((6,), name="b"), "a": keras.Input((6,), name="a")}
    dense = keras.layers.Dense
    theirs = keras.Model(inputs, {"o": dense(2)(inputs["a"]) - dense(2)(inputs["b"])})
    theirs.save(tmp_path / "names.keras")
    by_name = {"a": VECTORS, "b": -VECTORS}
    expected = np.asarray(theirs(by_name)["o"])
    ours = load_model(tmp_path / "names.keras")
    same([expected], [ours.predict(by_name)["o"]])
    assert ours.output_names == ["o"]


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.filterwarnings("ignore")  # Keras calls its own .h5 files legacy
def test_outputs_keep_the_names_that_a_dict_gave_them(ending, tmp_path):
    x, dense = keras.Input((6,)), keras.layers.Dense
    theirs = keras.Model(x, {"d": dense(2, name="x")(x), "a": dense(1, name="y")(x)})
    losses, weights = {"d": "mse", "a": "mae"}, {"d": 1.0, "a": 0.5}
    if ending == "keras":  # Keras 3.15 does not read its own .h5 files with a loss by name
        theirs.compile("sgd", loss=losses, loss_weights=weights, metrics={"d": ["mse"]})
    theirs.save(tmp_path / f"theirs.{ending}")
    ours = load_model(tmp_path / f"theirs.{ending}")
    if ending == "h5":
        ours.compile("sgd", loss=losses, loss_weights=weights, metrics={"d": ["mse"]})
    assert ours.output_names == ["a", "d"]
    assert ours.metrics_names[:3] == ["loss", "a_loss", "d_loss"]
    found = theirs(VECTORS)
    expected = [np.asarray(found[name]) for name in ("a", "d")]
    assert list(ours.predict(VECTORS)) == ["d", "a"]
    same(expected, [ours.predict(VECTORS)[name] for name in ("a", "d")])
    ours.train_on_batch(VECTORS, {"d": np.ones((8, 2)), "a": np.ones((8, 1))})
    ours.save(tmp_path / "ours.keras")
    back = keras.models.load_model(tmp_path / "ours.keras")(VECTORS)
    assert sorted(back) == ["a", "d"]
    for name, found in ours.predict(VECTORS).items():
        same([np.asarray(back[name])], [found])
    assert model_from_json(ours.to_json()).output_names == ["a", "d"]


def test_a_lambda_of_keras_3_is_refused_or_replaced(tmp_path):
    theirs = keras.Sequential([keras.Input((6,)), keras.layers.Lambda(lambda x: x * 2, name="l")])
    theirs.save(tmp_path / "theirs.keras")
    with pytest.raises(ConfigError, match="'l': its function is stored as byte code"):
        load_model(tmp_path / "theirs.keras")
    ours = load_model(tmp_path / "theirs.keras", custom_objects={"l": lambda x: 2 * x})
    same([2 * VECTORS], as_list(ours.predict(VECTORS)))


def test_a_lambda_of_keras_3_is_run_where_its_file_is_trusted(answers, tmp_path):
    theirs = keras.Sequential([keras.Input((6,)), keras.layers.Lambda(lambda x: x * 2, name="l")])
    theirs.save(tmp_path / "theirs.keras")
    if answers.python.split(".")[:2] != platform.python_version().split(".")[:2]:
        pytest.skip(f"the stored byte code is that of Python {answers.python}")
    trusted = load_model(tmp_path / "theirs.keras", safe_mode=False)
    same([2 * VECTORS], as_list(trusted.predict(VECTORS)))


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_a_lambda_of_ours_is_byte_code_as_keras_writes_it(ending, tmp_path):
    path = tmp_path / f"lambda.{ending}"
    by, inputs = 3.0, layers.Input((6,))
    some = layers.Lambda(lambda x: x[:, :4] * by, output_shape=lambda s: (s[0], 4))(inputs)
    masked = layers.Lambda(lambda x: K.abs(x), mask=lambda x, mask: mask)(some)
    model = Model(inputs, masked)
    model.compile("sgd", "mse")
    y = np.ones((8, 4))
    model.fit(VECTORS, y, callbacks=[ModelCheckpoint(path)], verbose=0)
    with pytest.raises(ConfigError, match="byte code, .* so it is not run"):
        load_model(path)
    twin = load_model(path, safe_mode=False)
    same([twin.predict(VECTORS)], [model.predict(VECTORS)])
    if ending == "h5":  # Keras 3 takes the output_shape that Keras 2 wrote for a tuple
        some = layers.Lambda(lambda x: x[:, :4] * by)(inputs)
    model = Model(inputs, some)  # without K, which a lambda does not find in Keras
    model.save(path)
    theirs = keras.models.load_model(path, safe_mode=False)
    read = theirs([VECTORS]) if ending == "h5" else theirs(VECTORS)
    same(as_list(read), [model.predict(VECTORS)])


def test_what_keras_3_cannot_hold_is_refused_and_leaves_no_file(tmp_path):
    model = Sequential([layers.LocallyConnected1D(2, 2, input_shape=(5, 3))])
    with pytest.raises(ConfigError, match=r"Keras 3 has no such layer.*Save the model as \.h5"):
        model.save(tmp_path / "model.keras")
    assert list(tmp_path.iterdir()) == []
    theirs = keras.Sequential([keras.Input((6,)), keras.layers.Dense(2, dtype="mixed_float16")])
    theirs.save(tmp_path / "half.keras")
    with pytest.raises(ConfigError, match="dtype policy 'mixed_float16' is not supported"):
        load_model(tmp_path / "half.keras")


def test_a_call_with_training_says_that_keras_3_does_not_keep_it(tmp_path):
    x = layers.Input((6,))
    model = Model(x, layers.Dropout(0.5)(x, training=True))
    with pytest.warns(KerascopeWarning, match="is called with training="):
        model.save(tmp_path / "model.keras")


def test_weights_of_a_model_with_its_own_call_go_there_and_back(tmp_path):
    def net_of(its_layers, base):
        class Net(base):
            def __init__(self):
                super().__init__()
                self.first = its_layers.Dense(3)
                self.blocks = [its_layers.Dense(4), its_layers.Dense(4)]
                self.reader = its_layers.SimpleRNN(2)

            def call(self, inputs):
                outputs = self.first(inputs)
                for block in self.blocks:
                    outputs = block(outputs)
                return self.reader(outputs)

        return Net()

    def predicted_and_saved(its_layers, base, path):
        net = net_of(its_layers, base)
        predicted = of_keras(net, [x])
        net.save_weights(path)
        return predicted

    def predicted_with(its_layers, base, path):
        net = net_of(its_layers, base)
        net(x)
        net.load_weights(path)
        return of_keras(net, [x])

    x = np.random.default_rng(0).normal(size=(2, 5, 4)).astype("float32")
    parts = keras.layers, keras.Model
    expected = answer(predicted_and_saved, *parts, tmp_path / "theirs.weights.h5")
    ours = net_of(layers, Model)
    ours.predict(x)
    ours.load_weights(tmp_path / "theirs.weights.h5")
    same(expected, as_list(ours.predict(x)))
    ours.save_weights(tmp_path / "ours.weights.h5")
    same(expected, answer(predicted_with, *parts, tmp_path / "ours.weights.h5"))


@pytest.mark.parametrize(
    "copied",
    [copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))],
    ids=["copy", "pickle"],
)
def test_an_optimizer_from_a_file_keeps_its_state_in_copies_and_pickles(copied, tmp_path):
    model = Sequential([layers.Dense(2, input_shape=(3,))])
    model.compile("adam", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), epochs=2, verbose=0)
    model.save(tmp_path / "m.keras")
    found = copied(load_model(tmp_path / "m.keras").optimizer).get_weights()
    assert len(found) == 5
    for one, other in zip(found, model.optimizer.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
