"""Models with dicts of outputs, and compile, fit and evaluate as Keras 3 has them, beside it."""

import numpy as np
import pytest
from keras_reference import answer, keras

import kerascope
from kerascope import config
from kerascope.errors import ArgumentError, DataError, KerascopeWarning, NotCompiledError

pytestmark = [pytest.mark.usefixtures("answers"), pytest.mark.filterwarnings("ignore")]

RNG = np.random.default_rng(0)
X = RNG.normal(size=(8, 3)).astype("float32")
Z = RNG.normal(size=(8, 2)).astype("float32")
A = RNG.integers(0, 2, (8, 1)).astype("float32")
Y = {"z": Z, "a": A}
W = {"z": np.arange(8.0), "a": np.linspace(1, 2, 8)}


@pytest.fixture(autouse=True)
def _dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


def filled(model):
    rng = np.random.default_rng(1)
    for layer in sorted(model.layers, key=lambda layer: layer.name):
        layer.set_weights([rng.normal(size=w.shape) for w in layer.get_weights()])
    return model


def of_form(library, form):
    """Return a model whose outputs have a form, with fixed weights."""
    dense = library.layers.Dense
    x = library.Input((3,), name="x")
    h = dense(4, name="h", activation="tanh")(x)
    z, a = dense(2, name="dz")(h), dense(1, name="da", activation="sigmoid")(h)
    return filled(library.Model(x, {"dict": {"z": z, "a": a}, "list": [z, a]}[form]))


def plain(value):
    if isinstance(value, dict):
        return [[key, plain(one)] for key, one in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return np.asarray(value)


def told(library, form, compiled, y, weights=None):
    """Return all that training and evaluating tell, with the names and in the order they come."""
    model = of_form(library, form)
    for options in compiled:
        model.compile(library.optimizers.SGD(0.1), **options)
    fixed = {"sample_weight": weights, "verbose": 0}
    validation = (X, y) if weights is None else (X, y, weights)
    history = model.fit(
        X, y, epochs=2, batch_size=4, shuffle=False, validation_data=validation, **fixed
    )
    found = [
        history.history,
        model.evaluate(X, y, **fixed),
        model.evaluate(X, y, return_dict=True, **fixed),
        model.test_on_batch(X, y, sample_weight=weights),
        model.train_on_batch(X, y, sample_weight=weights, return_dict=True),
        sorted(model.predict(X, verbose=0).items()) if form == "dict" else model.predict(X),
    ]
    return plain(found)


def agree(found, expected):
    if isinstance(expected, list):
        assert isinstance(found, list)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            agree(one, other)
    elif isinstance(expected, str) or expected.dtype.kind == "U":
        assert str(found) == str(expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=3e-5, atol=1e-6)


BCE = "binary_crossentropy"
BOTH = {"z": "mse", "a": BCE}
CASES = {
    "a loss by name": ("dict", [{"loss": BOTH}], Y),
    "a loss by name in another order": ("dict", [{"loss": {"a": BCE, "z": "mse"}}], Y),
    "one loss for all": ("dict", [{"loss": "mse"}], Y),
    "losses in a list": ("dict", [{"loss": ["mse", "mae"], "metrics": [["mae"], ["mse"]]}], [A, Z]),
    "weights of losses": ("dict", [{"loss": BOTH, "loss_weights": {"z": 2.0, "a": 0.5}}], Y),
    "metrics by name": (
        "dict", [{"loss": BOTH, "metrics": {"z": ["mse", "mae"], "a": ["accuracy"]}}], Y,
    ),
    "metrics of one output": ("dict", [{"loss": BOTH, "metrics": {"z": None, "a": "mae"}}], Y),
    "an output without loss": (
        "dict", [{"loss": {"z": "mse"}, "metrics": {"a": ["accuracy"], "z": ["mae"]}}], Y,
    ),
    "an output with nothing": ("dict", [{"loss": {"z": "mse", "a": None}}], Y),
    "weights of samples": ("dict", [{"loss": BOTH, "weighted_metrics": {"z": ["mae"]}}], Y, W),
    "weights of samples for all": ("dict", [{"loss": BOTH}], Y, W["z"]),
    "a flat list of metrics": ("list", [{"loss": "mse", "metrics": ["mae", "mse"]}], [Z, A]),
    "a list by layers": (
        "list", [{"loss": {"da": BCE, "dz": "mse"}, "metrics": {"da": ["mae"]}}],
        {"dz": Z, "da": A},
    ),
    "the first of a list without loss": (
        "list", [{"loss": [None, "mse"], "metrics": [["mae"], None]}], [Z, A],
    ),
    "compiled again without metrics": (
        "list", [{"loss": "mse", "metrics": [["mae"], ["mse"]]}, {"loss": "mae"}], [Z, A],
    ),
    "compiled again without a loss": (
        "dict", [{"loss": BOTH, "metrics": {"z": ["mae"]}}, {"weighted_metrics": {"a": ["mse"]}}],
        Y, W,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_is_told_has_the_figures_names_and_order_of_keras_3(case):
    agree(told(kerascope, *CASES[case]), answer(told, keras, *CASES[case]))


S = RNG.normal(size=(4, 6, 3)).astype("float32")
T = RNG.normal(size=(4, 6, 2)).astype("float32")
STEPS = RNG.random((4, 6))


def in_time(library, loss, y, weights):
    i = library.Input((6, 3))
    model = filled(library.Model(i, library.layers.Dense(2, activation="softmax")(i)))
    loss = getattr(library.losses, loss)() if loss[0].isupper() else loss
    model.compile("sgd", loss, weighted_metrics=["mae"] if y.ndim == 3 else ["accuracy"])
    told = model.fit(S, y, sample_weight=weights, batch_size=2, epochs=2, shuffle=False, verbose=0)
    after = model.evaluate(S, y, sample_weight=weights, verbose=0)
    return plain([told.history, after, model.predict(S, verbose=0)])


@pytest.mark.parametrize("weights", [STEPS, STEPS[..., None], None], ids=["nt", "nt1", "none"])
@pytest.mark.parametrize("loss", ["mse", "Huber", "sparse_categorical_crossentropy"])
def test_each_step_of_a_sequence_may_have_its_weight(loss, weights):
    y = T if loss in ("mse", "Huber") else (T[..., 0] > 0).astype("int32")
    if weights is not None and weights.ndim == 3 and loss != "mse":
        weights = weights[..., 0]
    agree(in_time(kerascope, loss, y, weights), answer(in_time, keras, loss, y, weights))


def test_weights_of_samples_weigh_all_their_steps_alike():
    one, each = STEPS[:, 0], np.repeat(STEPS[:, :1], 6, axis=1)
    for loss in ("mse", "Huber"):
        agree(in_time(kerascope, loss, T, one), in_time(kerascope, loss, T, each))
    with pytest.raises(DataError, match=r"shape \(4, 6\), .*got \(4, 5\)"):
        in_time(kerascope, "mse", T, STEPS[:, :5])


def without_a_loss(library):
    model = of_form(library, "dict")
    model.compile(metrics={"z": ["mae"], "a": ["accuracy"]})
    told = [model.evaluate(X, Y, verbose=0, return_dict=True), model.evaluate(X, Y, verbose=0)]
    return plain([*told, model.test_on_batch(X, Y)])


def test_without_a_loss_a_model_is_evaluated_by_its_metrics_and_not_trained():
    agree(without_a_loss(kerascope), answer(without_a_loss, keras))
    model = of_form(kerascope, "dict")
    model.compile()
    assert list(model.predict(X)) == ["z", "a"]
    with pytest.raises(NotCompiledError, match="no loss to train with"):
        model.fit(X, verbose=0)
    config.dialect = "2.2"
    with pytest.raises(ArgumentError, match="no loss to optimize"):
        of_form(kerascope, "dict").compile("sgd")


def test_what_no_output_is_called_is_refused_by_name():
    model = of_form(kerascope, "dict")
    for wrong in ({"loss": {"b": "mse"}}, {"loss": "mse", "metrics": {"b": "mse"}},
                  {"loss": "mse", "loss_weights": {"b": 1.0}}):  # fmt: skip
        with pytest.raises(ArgumentError, match=r"there is no output 'b'.*a, z"):
            model.compile("sgd", **wrong)
    with pytest.raises(ArgumentError, match="None in"):
        model.compile("sgd", "mse", metrics={"z": ["mae", None]})
    model.compile("sgd", "mse")
    with pytest.raises(DataError, match=r"there is no tensor 'b'"):
        model.fit(X, {**Y, "b": A}, verbose=0)
    with pytest.raises(DataError, match=r"got none for \['a'\]"):
        model.fit(X, {"z": Z}, verbose=0)
    with pytest.raises(DataError, match=r"sample_weight: there is no output 'b'"):
        model.fit(X, Y, sample_weight={"z": W["z"], "b": W["a"]}, verbose=0)


def test_weights_on_which_no_loss_depends_are_named_and_stay():
    model = of_form(kerascope, "dict")
    model.compile("adam", {"z": "mse"})
    before = model.get_layer("da").get_weights(), model.get_layer("dz").get_weights()
    with pytest.warns(KerascopeWarning, match=r"'da/kernel' is not trained"):
        model.fit(X, Y, verbose=0)
    np.testing.assert_array_equal(before[0][0], model.get_layer("da").get_weights()[0])
    assert (before[1][0] != model.get_layer("dz").get_weights()[0]).all()


class Inner:
    """Layers and models of a library whose `call` gives dicts."""

    def __init__(self, library):
        layers = library.layers

        class Split(layers.Layer):
            def call(self, x, training=False):
                if training:
                    return {"right": x[:, 1:], "left": [x[:, :1] * 3]}
                return {"right": x[:, 1:], "left": [x[:, :1]]}

        class Heads(library.Model):
            def __init__(self):
                super().__init__()
                self.split = Split()
                self.h = layers.Dense(4, kernel_initializer="ones", activation="tanh")
                self.out = layers.Dense(1, kernel_initializer="ones")
                self.drop = layers.Dropout(0.5)

            def call(self, x):
                parts = self.split(self.h(x["u"]))
                return {"y": self.out(self.drop(parts["right"])), "v": parts["left"][0] + x["v"]}

        self.split, self.heads = Split, Heads


def of_dicts(library):
    inner = Inner(library)
    i = library.Input((3,))
    parts = inner.split()(i)
    model = library.Model(i, library.layers.Subtract()([parts["left"][0], parts["right"]]))
    heads = inner.heads()
    heads.compile("sgd", {"y": "mse", "v": "mae"}, metrics={"v": ["mse"]})
    x, y = {"u": X, "v": X[:, :1]}, {"y": A, "v": A}
    told = heads.fit(x, y, shuffle=False, epochs=2, verbose=0)
    found = [model.predict(X, verbose=0), told.history, heads.evaluate(x, y, verbose=0)]
    return plain([*found, sorted(heads.predict(x, verbose=0).items())])


def test_layers_and_models_that_give_dicts_compute_as_in_keras_3():
    """Also: nobody inside a model is told of training if its own `call` is not."""
    agree(of_dicts(kerascope), answer(of_dicts, keras))
    found = Inner(kerascope).split()(X)
    assert list(found) == ["right", "left"]
    np.testing.assert_array_equal(found["left"][0], X[:, :1])


# --- layers that are called on dicts --------------------------------------------------------------


def layers_on_dicts(library):
    """Return a layer of a dict, with a weight of its own, and a model that calls it on one."""

    class Mix(library.layers.Layer):
        def build(self, input_shape):
            size = input_shape["u"][-1] + len(input_shape["v"])
            self.w = self.add_weight(shape=(size,), initializer="ones", name="w")

        def call(self, x, scale=1.0):
            return {"sum": (x["u"] + x["v"][0]) * scale + self.w[0], "rest": x["v"][1]}

        def compute_output_shape(self, input_shape):
            return {"sum": input_shape["u"], "rest": input_shape["v"][1]}

    library.utils.get_custom_objects()["Mix"] = Mix
    u, v = library.Input((3,), name="u"), library.Input((3,), name="v")
    out = Mix()(
        {"v": [v, u], "u": library.layers.Dense(3, kernel_initializer="ones")(u)}, scale=2.0
    )
    ends = [library.layers.Activation("linear", name=name)(out[name]) for name in ("sum", "rest")]
    model = library.Model([u, v], ends)
    return Mix, model


def called_on_dicts(library, path):
    layer, model = layers_on_dicts(library)
    arrays = [X, X * 2]
    found = [model.predict(arrays, verbose=0)]
    model.compile("sgd", "mse")
    found.append(model.fit(arrays, [X, X], shuffle=False, verbose=0).history)
    model.save(path)
    again = library.models.load_model(path)
    found.append(again.predict(arrays, verbose=0))
    given = layer()({"u": X, "v": [X, X]})
    return plain([*found, [np.asarray(given[name]) for name in ("sum", "rest")]])


def test_layers_are_called_on_dicts_and_files_tell(tmp_path):
    ours, theirs = tmp_path / "ours.keras", tmp_path / "theirs.keras"
    agree(called_on_dicts(kerascope, ours), answer(called_on_dicts, keras, theirs))
    model = kerascope.models.load_model(theirs)
    expected = plain(model.predict([X, X * 2]))
    agree(plain(kerascope.models.load_model(ours).predict([X, X * 2])), expected)
    twin = kerascope.models.clone_model(model)
    twin.set_weights(model.get_weights())
    agree(plain(twin.predict([X, X * 2])), expected)
    agree(answer(opened_by, keras, ours), expected)
    inner = kerascope.Model(model.inputs, model(model.inputs))
    agree(plain(inner.predict([X, X * 2])), expected)


def opened_by(library, path):
    layers_on_dicts(library)
    return plain(library.models.load_model(path).predict([X, X * 2], verbose=0))


def test_a_subclassed_model_is_called_on_a_dict_of_arrays():
    heads = Inner(kerascope).heads()
    found = heads({"u": X, "v": X[:, :1]})
    assert found["y"].shape == (8, 1)
    heads.compile("sgd", "mse")
    before = heads.predict({"u": X, "v": X[:, :1]}, verbose=0)
    np.testing.assert_allclose(found["v"], before["v"], rtol=1e-6)
