"""Where Keras 3 computes something else than kerascope in dialect "3", on purpose of ours.

`docs/keras.md` lists these cases. Each has a function here that runs with both libraries. Our
numbers must be those that follow from the weights, and Keras's must differ from them. If a new
Keras gives our numbers, the live test fails, and the case leaves the page.
"""

from pathlib import Path

import numpy as np
import pytest
from keras_reference import answer, keras

import kerascope as ks
from kerascope import config
from kerascope.errors import DataError, KerascopeWarning
from kerascope.models import load_model

PAGE = Path(__file__).resolve().parents[1] / "docs" / "keras.md"
X = np.array([[1, 2, 0, 3, 0], [0, 4, 5, 6, 1]])

pytestmark = [
    pytest.mark.usefixtures("answers"),
    pytest.mark.filterwarnings("ignore:__array__:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Your input ran out of data"),
    pytest.mark.filterwarnings("ignore:`shuffle=True` was passed"),
]


@pytest.fixture(autouse=True)
def dialect_3(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")


def initial_state_and_mask(library):
    """A mask of time steps does not reach a recurrent layer that has an initial state."""
    tokens, state = library.Input((5,), dtype="int32"), library.Input((1,))
    rows = library.layers.Embedding(7, 1, mask_zero=True, embeddings_initializer="ones")(tokens)
    ones = {"kernel_initializer": "ones", "recurrent_initializer": "ones", "activation": "linear"}
    outputs = library.layers.SimpleRNN(1, **ones)(rows, initial_state=[state])
    model = library.Model([tokens, state], outputs)
    return model.predict([X, np.zeros((2, 1))], verbose=0).ravel().tolist()


def generator_for_two_epochs(library):
    """After a generator has ended, each further epoch reads its first two batches again."""
    model = library.Sequential([library.layers.Dense(1, kernel_initializer="zeros")])
    model.compile(optimizer="sgd", loss="mse")
    batches = ((np.full((2, 1), n + 1.0), np.ones((2, 1))) for n in range(4))
    history = model.fit(batches, epochs=2, verbose=0)
    return len(history.history["loss"])


def penalty_of_two_calls(library):
    """In training only the last call of a layer has its activity penalty."""
    layer = library.layers.Dense(1, kernel_initializer="ones", activity_regularizer="l1")
    one, two = library.Input((1,)), library.Input((1,))
    model = library.Model([one, two], [layer(one), layer(two)])
    model.compile(optimizer="sgd", loss=["mse", "mse"])
    arrays = [np.full((1, 1), 1.0), np.full((1, 1), 100.0)]
    return float(np.ravel(model.train_on_batch(arrays, arrays))[0])


def phase_of_a_call(library):
    """`training=True` that a call on a symbol was given is replaced when the model predicts."""
    inputs = library.Input((1,))
    norm = library.layers.BatchNormalization(epsilon=0.0)
    model = library.Model(inputs, norm(inputs, training=True))
    return model.predict(np.array([[1.0], [3.0]]), verbose=0).ravel().tolist()


@pytest.mark.parametrize(
    ("case", "ours"),
    [
        (initial_state_and_mask, [3.0, 4.0]),
        (penalty_of_two_calls, 0.01 * (1 + 100)),
        (phase_of_a_call, [-1.0, 1.0]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_keras_computes_something_else(case, ours):
    assert case(ks) == pytest.approx(ours, rel=1e-4)
    assert answer(case, keras) != pytest.approx(ours, rel=1e-4)


def test_a_generator_is_read_once():
    with pytest.raises(DataError, match="ended after 4 batches and can be read only once"):
        generator_for_two_epochs(ks)
    assert answer(generator_for_two_epochs, keras) == 2


def test_the_page_says_each_of_them():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for sentence in (
        "Keras ignores a mask of time steps in a recurrent layer with an initial state.",
        "Keras reads its first two batches again in each further epoch.",
        "Keras adds the activity penalty of only the last call of a layer in training.",
        "Keras replaces an explicit `training=True` of a symbolic call when the model predicts.",
    ):
        assert sentence in text


def saved(library, path):
    tokens, state = library.Input((5,), dtype="int32"), library.Input((3,))
    rows = library.layers.Embedding(7, 4, mask_zero=True)(tokens)
    outputs = library.layers.GRU(3, name="reader")(rows, initial_state=[state])
    library.Model([tokens, state], outputs).save(path)


def test_a_file_with_a_mask_that_keras_drops_is_opened_with_a_warning(tmp_path):
    saved(ks, tmp_path / "model.keras")
    with pytest.warns(KerascopeWarning, match="GRU 'reader' has a mask and an initial state"):
        load_model(tmp_path / "model.keras")
