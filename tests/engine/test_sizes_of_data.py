"""Numbers of steps that are no whole numbers, and inputs with one axis of size 1 more or less."""

import numpy as np
import pytest

import kerascope as ks
from kerascope import config
from kerascope.errors import ArgumentError, DataError

X, Y = np.ones((64, 4)), np.ones((64, 1))


def model_of(shape):
    model = ks.Sequential([ks.layers.InputLayer(shape), ks.layers.Flatten(), ks.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


def batches():
    while True:
        yield X[:8].reshape(8, 4, 1), Y[:8]


@pytest.mark.parametrize(("steps", "wanted"), [(2.5, 3), (3.0, 3), (64 / 32, 2)])
@pytest.mark.parametrize("dialect", ["2.2", "3"])
def test_a_number_of_steps_may_be_a_quotient(dialect, steps, wanted, monkeypatch):
    monkeypatch.setattr(config, "dialect", dialect)
    seen = []
    count = ks.callbacks.LambdaCallback(on_batch_end=lambda batch, logs: seen.append(batch))
    model_of((4, 1)).fit_generator(batches(), steps, 1, verbose=0, callbacks=[count])
    assert len(seen) == wanted


@pytest.mark.parametrize("steps", [0, -1.5, float("nan"), float("inf"), "3"])
def test_other_numbers_of_steps_are_refused(steps):
    with pytest.raises(ArgumentError, match="expected a number of batches"):
        model_of((4, 1)).fit_generator(batches(), steps, 1, verbose=0)


@pytest.mark.parametrize(("given", "wanted"), [((5, 6, 6), (6, 6, 1)), ((5, 6, 6, 1), (6, 6))])
def test_in_dialect_3_a_last_axis_of_one_is_added_or_dropped(given, wanted, monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    model, x = model_of(wanted), np.arange(180.0).reshape(given)
    expected = model.predict(x.reshape(5, *wanted), verbose=0)
    np.testing.assert_array_equal(model.predict(x, verbose=0), expected)
    model.fit(x, Y[:5], verbose=0)
    monkeypatch.setattr(config, "dialect", "2.2")
    with pytest.raises(DataError, match="axes"):
        model_of(wanted).predict(x)


def test_in_dialect_3_a_generator_is_read_to_its_end_which_ends_the_epoch(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    model, other = model_of((4,)), model_of((4,))
    other.set_weights(model.get_weights())
    parts = [(X[n : n + 10], Y[n : n + 10]) for n in range(0, len(X), 10)]
    history = model.fit((part for part in parts), verbose=0, validation_data=iter(parts))
    losses = [other.train_on_batch(*part) for part in parts]
    sizes = [len(x) for x, _ in parts]
    assert history.history["loss"] == pytest.approx([np.average(losses, weights=sizes)], rel=1e-5)
    for one, two in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    assert model.predict(x for x, _ in parts).shape == (64, 1)
    assert model.evaluate((part for part in parts), verbose=0) == pytest.approx(
        model.evaluate(X, Y, verbose=0), rel=1e-5
    )


def test_a_generator_that_has_ended_has_no_second_epoch(monkeypatch):
    monkeypatch.setattr(config, "dialect", "3")
    model = model_of((4,))
    with pytest.raises(DataError, match=r"ended after 2 batches.*steps_per_epoch=2"):
        model.fit(((X, Y) for _ in range(2)), epochs=3, verbose=0)
    with pytest.raises(DataError, match="ended after 0 batches"):
        model.fit(iter([]), verbose=0)


def test_in_dialect_2_a_generator_needs_a_number_of_steps():
    with pytest.raises(ArgumentError, match="Pass steps_per_epoch"):
        model_of((4,)).fit_generator(((X, Y) for _ in range(2)), None, 1, verbose=0)
