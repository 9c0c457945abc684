"""A gradient that is a sum: through which calls its terms came, and how large each is."""

import numpy as np
import pytest
from piped import answers, piped, session_of

from kerascope import backend as K
from kerascope.layers import LSTM, Add, Dense, Input, Masking
from kerascope.models import Model, Sequential
from kerascope.trace.snapshots import same
from kerascope.trace.statistics import norm
from kerascope.trace.tape import trace
from kerascope.trace.tape_store import Tape

A, B = np.ones((4, 2)), np.array([[1.0, 2.0]] * 4)


def fit_shared(**regularized):
    """Return nothing; `enc` is called twice, and its first output is read twice."""
    K.clear_session()
    a, b = Input(shape=(2,), name="a"), Input(shape=(2,), name="b")
    enc = Dense(3, kernel_initializer="ones", name="enc", **regularized)
    first, second = enc(a), enc(b)
    both = Add(name="both")([first, second])
    score = Dense(1, kernel_initializer="ones", name="score")(Add(name="again")([both, first]))
    model = Model([a, b], score)
    model.compile("sgd", "mse")
    model.fit([A, B], np.ones((4, 1)), epochs=1, shuffle=False, verbose=0)


def terms(session, key):
    """Return the names and values of the terms, and the sum, of a gradient."""
    (event,) = [e for e in session.tape for d in e.deltas if d[:2] == ("grads", key) if e.ph == "E"]
    told = {delta.name: delta.value for delta in event.deltas}
    return dict(told["via"]), told["result"]


def test_each_call_of_a_shared_layer_has_its_own_term():
    session, _ = session_of(fit_shared, "b weight:none", "c")
    via, whole = terms(session, "enc/kernel")
    assert list(via) == ["enc@1", "enc@0"]
    # d mse / d out is 2 (out - 1) / 4, and out reads the first call twice and the second once
    out = 2 * 3 * A.sum(1) + 3 * B.sum(1)
    slope = np.repeat((2 * (out - 1) / 4)[:, None], 3, axis=1)
    np.testing.assert_allclose(via["enc@0"], 2 * A.T @ slope, rtol=1e-6)
    np.testing.assert_allclose(via["enc@1"], B.T @ slope, rtol=1e-6)
    np.testing.assert_array_equal(whole, sum(via.values()))


def test_an_output_that_is_read_twice_names_its_readers():
    session, _ = session_of(fit_shared, "b weight:none", "c")
    via, whole = terms(session, "enc@0")
    assert sorted(via) == ["again", "both"]
    np.testing.assert_array_equal(whole, sum(via.values()))


def test_a_regularizer_is_a_term_of_its_own():
    session, _ = session_of(lambda: fit_shared(kernel_regularizer="l2"), "b weight:none", "c")
    via, whole = terms(session, "enc/kernel")
    (own,) = [name for name in via if "regularizer" in name]
    np.testing.assert_allclose(via[own], 0.02 * np.ones((2, 3)), rtol=1e-6)
    np.testing.assert_allclose(whole, sum(via.values()), rtol=1e-6)


def test_the_stop_and_the_table_say_it():
    stop = "b tensor:gradients/enc/add~2:ret"
    text = piped(fit_shared, stop, "c", "unt update", "info grads")
    lines = [line.strip() for stop in answers(text, "c") for line in stop]
    (told,) = [line for line in lines if line.startswith("via enc@1 |g|=")]
    assert " + via enc@0 |g|=" in told
    table = {line.split()[0]: line for line in answers(text, "info grads")[0]}
    assert "sum of" in table["gradient"]
    sizes = table["enc/kernel"].rpartition("enc@1 ")[2].split(" + enc@0 ")
    assert [f"|g|={size}" in told for size in sizes] == [True, True]
    assert table["score/kernel"].split()[-1].startswith(("max=", "|x|="))


def test_in_a_narrow_window_the_terms_have_room(monkeypatch):
    monkeypatch.setattr("kerascope.debugger.shell.WIDTH", 80)
    lines = answers(piped(fit_shared, "unt update", "info grads"), "info grads")[0]
    (row,) = [line for line in lines if line.startswith("enc/kernel")]
    assert row.count("enc@") == 2
    assert len(row) <= 80


@pytest.mark.parametrize("statistics_only", [False, True])
def test_a_file_keeps_it(tmp_path, statistics_only):
    with trace(statistics_only=statistics_only) as tape:
        fit_shared()
    tape.save(tmp_path / "t.jsonl")
    told = [[d.value for e in x for d in e.deltas if d.name == "via"]
            for x in (tape, Tape.load(tmp_path / "t.jsonl"))]  # fmt: skip
    assert len(told[0]) >= 2
    assert all(norm(array) > 0 for via in told[0] for _, array in via)
    assert same(*told)


def test_where_each_weight_is_read_once_nothing_is_told():
    def program():
        model = Sequential([Masking(0.0, input_shape=(3, 2)), LSTM(2), Dense(1)])
        model.compile("sgd", "mse")
        model.fit(np.ones((4, 3, 2)), np.ones((4, 1)), epochs=1, verbose=0)

    text = piped(program, "unt update", "info grads")
    assert "sum of" not in text
