"""The debugger on models that train on JAX: full speed between stops, NumPy at a stop."""

import warnings
from collections import Counter

import numpy as np
import pytest
from op_rows import CASES, fed, graph_inputs
from piped import answers, session_of
from unheard_programs import (
    Whole,
    a_feed_that_calls_functions,
    debugged,
    two_models_that_share_weights,
    with_schedules_and_set_weights,
    with_validation_and_predictions,
)

from kerascope import backend as K
from kerascope.backend.ops.elementwise import Square
from kerascope.backend.ops.linalg import Dot
from kerascope.backend.program.dispatch import Programs
from kerascope.callbacks import LambdaCallback
from kerascope.errors import KerascopeWarning
from kerascope.layers import GRU, Dense, Dropout, Lambda
from kerascope.models import Sequential
from kerascope.settings import config
from kerascope.trace.recorder_function import FunctionRecorder
from kerascope.trace.tape import trace
from kerascope.utils import set_random_seed

jax = pytest.importorskip("jax", reason="the extra `jax` is not installed")
pytestmark = pytest.mark.live

PROGRAMS = [a_feed_that_calls_functions, two_models_that_share_weights]
PROGRAMS += [with_schedules_and_set_weights, with_validation_and_predictions]
X = np.random.default_rng(0).normal(size=(40, 5)).astype("float32")
Y = (X[:, :1] > 0).astype("float32")
NEAR = 5e-6


@pytest.fixture(autouse=True)
def _floats_afterwards():
    yield
    config.floatx = "float32"


def dense():
    layers = [Dense(8, activation="relu", input_shape=(5,), name="one"), Dropout(0.3, name="drop")]
    return Sequential([*layers, Dense(1, name="two")]), X


def gru():
    layers = [GRU(4, input_shape=(6, 5), name="one"), Dense(1, name="two")]
    return Sequential(layers), np.repeat(X[:, None], 6, 1)


def trained(make, engine="jax", rate=None, rows=None, results=None):
    """Return a program that trains a model for three epochs, and adds it to `results`."""

    def program():
        set_random_seed(1)
        K.clear_session()
        model, x = make()
        model.compile("adam" if rate is None else "sgd", "mse", engine=engine)
        if rate is not None:
            K.set_value(model.optimizer.lr, rate)
        model.fit(x if rows is None else rows, Y, batch_size=8, epochs=3, verbose=0, shuffle=False)
        if results is not None:
            results.append(model)

    return program


@pytest.fixture
def counts(monkeypatch):
    """Count calls by what computed them: "jax", "numpy" programs or steps, or "events"."""
    from kerascope.backend.engines.functions import JaxPrograms

    counted = Counter()

    def count(kind, method, what):
        original = getattr(kind, method)

        def counting(self, *arguments, **options):
            counted[what] += 1
            return original(self, *arguments, **options)

        monkeypatch.setattr(kind, method, counting)

    count(JaxPrograms, "_step", "jax")
    count(FunctionRecorder, "started", "events")
    count(Programs, "__call__", "numpy")
    count(Programs, "guarded", "numpy")
    return counted


def losses_of(session, number):
    """Return all losses of a timeline, from the first batch on."""
    return [float(one.outs[0]) for one in session.timelines.get(number).tape.batches()]


def events_of(tape):
    return [event[:8] for event in tape.whole()]


# --- full speed between stops ---------------------------------------------------------------------


@pytest.mark.parametrize("caught", [[], ["catch nan, inf"]], ids=["", "caught"])
@pytest.mark.parametrize("make", [dense, gru])
def test_jax_computes_all_batches_in_which_nothing_stops(make, caught, counts):
    session, _ = session_of(trained(make), *caught, "c")
    assert session.error is None
    assert counts == {"events": 1, "jax": 14}  # the events of the first batch are always recorded


def test_jax_computes_the_batches_that_programs_of_numpy_would_compute(counts):
    commands = ["b epoch 1 batch 2", "c", "p loss", "goto epoch 0 batch 3", "c", "c"]
    found = []
    for engine in ("numpy", "jax"):
        counts.clear()
        _, text = session_of(trained(dense, engine), *commands)
        assert "breakpoint 1 hit" in text
        found.append((counts["events"], counts[engine], sum(counts.values())))
    assert found[0] == found[1]


def test_jax_trains_inside_of_trace(counts):
    program = trained(gru)
    with trace() as tape:
        program()
    assert counts == {"events": 1, "jax": 14}
    on_numpy = trained(gru, "numpy")
    with trace() as wanted:
        on_numpy()
    assert events_of(tape) == events_of(wanted)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_events_are_those_of_a_session_that_records_each_call(program, monkeypatch):
    whole = debugged(program, Whole)
    monkeypatch.setattr(config, "engine", "jax")
    session = debugged(program)
    assert len(whole.tape) > 3 * len(session.tape._events.kept)  # few calls were recorded
    assert events_of(session.tape) == events_of(whole.tape)


# --- at a stop ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "dtype"), [(dense, "float64"), (gru, "float32")])
def test_values_at_every_stop_are_those_of_numpy_to_rounding(make, dtype):
    config.floatx = dtype
    commands = ["catch nan", "c", "goto epoch 1 batch 3", "b two:bwd", "c", "goto epoch 0 batch 1"]
    one, _ = session_of(trained(make, "numpy"), *commands)
    other, text = session_of(trained(make), *commands)
    assert "breakpoint 1 hit" in text
    assert events_of(one.tape) == events_of(other.tape)
    near = {"float32": NEAR, "float64": 1e-12}[dtype]
    for t in range(100, len(one.tape), 801):
        names, wanted = other.tape.names_at(t), one.tape.names_at(t)
        assert names.keys() == wanted.keys()
        for name, value in wanted["weights"].items():
            np.testing.assert_allclose(names["weights"][name], value, near, near, err_msg=name)


def test_weights_before_a_batch_are_those_that_jax_had():
    """Each call is computed again from what JAX computed before it, so roundings do not add up."""
    had = []

    def program():
        set_random_seed(1)
        model, x = dense()
        model.compile("adam", "mse", engine="jax")
        keep = LambdaCallback(on_batch_end=lambda *_: had.append(model.get_weights()))
        model.fit(x, Y, batch_size=8, epochs=3, verbose=0, callbacks=[keep])

    session, _ = session_of(program, "catch nan", "c")
    begins = [e.t for e in session.tape.whole() if e.kind == "batch" and e.ph == "B"]
    for t, weights in zip(begins[:0:-3], had[-2::-3], strict=False):
        shown = session.tape.names_at(t)["weights"]
        for name, array in zip(("one/kernel", "one/bias", "two/kernel"), weights, strict=False):
            np.testing.assert_allclose(shown[name], array, 1e-6, 1e-7)


@pytest.mark.parametrize("make", [dense, gru])
def test_going_back_and_on_again_ends_in_the_same_weights(make):
    results = []
    trained(make, results=results)()
    commands = ["b epoch 1 batch 2", "c", "rs", "rs", "rs", "rs", "rs", "s", "s", "s", "s", "s"]
    commands += ["goto epoch 0 batch 1", "b two:bwd", "c", "cl 2", "c", "c"]
    session, text = session_of(trained(make, results=results), *commands)
    assert session.error is None
    assert "the program has ended" in text
    for one, other in zip(results[0].get_weights(), results[1].get_weights(), strict=True):
        np.testing.assert_allclose(one, other, NEAR, NEAR)


# --- NaN ------------------------------------------------------------------------------------------


def swallowed():
    layers = [Dense(3, input_shape=(5,), name="one"), Lambda(lambda x: x * 1e20, name="grown")]
    layers += [Lambda(lambda x: K.clip(x * 1e15, -1, 1), name="cut"), Dense(1, name="two")]
    return Sequential(layers), X * np.where(np.arange(40) == 30, 1e4, 1)[:, None].astype("float32")


@pytest.mark.parametrize(
    ("make", "rate", "rows", "caught"),
    [
        (dense, 9.0, None, "nan"),
        (
            gru,
            0.01,
            np.where(np.arange(40) == 30, np.nan, np.ones((5, 6, 40))).T.astype("f"),
            "nan",
        ),
        (swallowed, 0.0, None, "inf"),
    ],
    ids=["run away", "in the data", "swallowed"],
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_caught_is_what_is_caught_on_numpy(make, rate, rows, caught, counts):
    said = []
    for engine in ("numpy", "jax"):
        counts.clear()
        commands = ["w", "c", "w", "c"]
        session, text = session_of(
            trained(make, engine, rate, rows), f"catch {caught}", "c", *commands
        )
        assert session.error is None
        said.append([answers(text, command) for command in ("c", "w")])
    numpy, jax_ = said
    assert [[line.split("|x|")[0] for line in lines] for lines in numpy[0]] == [
        [line.split("|x|")[0] for line in lines] for lines in jax_[0]
    ]
    assert numpy[1] == jax_[1]
    assert counts["jax"] > counts["numpy"] or make is not dense


def passing_cases():
    from kerascope.backend.engines.lowering import PASSING

    return [(case, PASSING[type(case.op).__name__]) for case in CASES
            if type(case.op).__name__ in PASSING]  # fmt: skip


def test_an_op_without_a_test_of_its_inputs_hides_no_bad_number():
    tested = set()
    with np.errstate(all="ignore"):
        for case, n in passing_cases():
            _, arrays = fed(case, graph_inputs(case))
            for x in arrays[:n]:
                for at in np.ndindex(x.shape) if x.dtype.kind == "f" else ():
                    for bad in (np.nan, np.inf, -np.inf):
                        good, x[at] = x[at], bad
                        assert not np.all(np.isfinite(case.op.perform(*arrays))), (case, bad)
                        x[at] = good
                        tested.add(type(case.op).__name__)
    assert len(tested) > 15


# --- other histories ------------------------------------------------------------------------------


def test_a_fork_continues_on_jax(counts):
    """Without effect on the loss, batches of a fork are equal bit for bit."""
    go = ["c", "goto epoch 1 batch 1", "set lr = lr / 10"]
    session, text = session_of(trained(dense), *go, "rerun 1", "rerun")
    assert counts["numpy"] == 0
    lines = answers(text, "rerun")[0]
    assert lines[0] == "timeline 2: 8 calls computed, with the inputs of timeline 1"
    assert any(line.startswith("first difference: epoch 1 batch 2, loss") for line in lines)
    other, _ = session_of(trained(dense, "numpy"), *go, "rerun")
    np.testing.assert_allclose(losses_of(session, 2), losses_of(other, 2), NEAR)


def test_rounding_is_no_difference_in_the_batch_in_which_the_rate_was_changed():
    go = ["c", "goto epoch 1 batch 1", "b phase:backward", "c", "set lr = lr / 10", "rerun"]
    said = []
    for engine in ("numpy", "jax"):
        _, text = session_of(trained(gru, engine), *go)
        changed, rerun = answers(text, "set lr = lr / 10")[0], answers(text, "rerun")[0]
        said.append([changed[1], rerun[0], next(line for line in rerun if "difference" in line)])
    assert said[0] == said[1]
    assert said[0][2].startswith("first difference: epoch 1 batch 2, loss")


def test_the_same_again_is_the_same_up_to_rounding():
    go = ["c", "goto epoch 1 batch 1", "set again", "rerun 3"]
    go += ["goto epoch 0 batch 3", "b phase:backward", "c", "set again", "rerun"]
    _, text = session_of(trained(dense), *go)
    assert "they are the same bit for bit" in answers(text, "rerun 3")[0]
    assert "they are the same up to rounding on JAX" in answers(text, "rerun")[0]


# --- engines that differ --------------------------------------------------------------------------


def test_no_difference_is_reported_for_rounding():
    with warnings.catch_warnings():
        warnings.simplefilter("error", KerascopeWarning)
        session, _ = session_of(trained(dense), "c")
        session.tape.whole()


def test_a_wrong_rule_is_reported_with_both_numbers(monkeypatch):
    from kerascope.backend.engines.rules import RULES

    monkeypatch.setitem(RULES, Square, lambda op, x: x * x * 1.01)
    with pytest.warns(KerascopeWarning, match="engines differ by more than rounding") as given:
        session_of(trained(gru), "c", "goto epoch 1 batch 2", "n")
    words = str(given[0].message).split()
    assert words[:4] == ["batch", "2:", "JAX", "computed"]
    by_jax, by_numpy = float(words[4].rstrip(",")), float(words[7].rstrip("."))
    assert by_jax == pytest.approx(1.01 * by_numpy, rel=1e-4)


def test_nan_that_only_jax_makes_is_reported_while_nan_is_caught(monkeypatch, counts):
    from kerascope.backend.engines.rules import RULES

    results = []
    trained(gru, "numpy", results=results)()
    monkeypatch.setitem(RULES, Square, lambda op, x: x * jax.numpy.nan)
    counts.clear()
    with pytest.warns(RuntimeWarning, match="infinite or NaN, those of NumPy are not"):
        session, _ = session_of(trained(gru, results=results), "catch nan", "c")
    assert session.error is None
    assert counts["jax"] == 1  # from then on NumPy computes
    for one, other in zip(results[0].get_weights(), results[1].get_weights(), strict=True):
        np.testing.assert_allclose(one, other, NEAR, NEAR)


def test_a_wrong_number_in_a_large_output_is_reported(monkeypatch):
    """Of large outputs only a checksum and a sample are kept."""
    from kerascope.backend.engines.rules import RULES

    def program():
        model, _ = dense()
        for _ in range(3):
            model.predict(np.tile(X, (10, 1)), batch_size=400)

    monkeypatch.setattr(config, "engine", "jax")
    monkeypatch.setitem(RULES, Dot, lambda op, x, y: jax.numpy.dot(x, y) * 1.01)
    with pytest.warns(
        KerascopeWarning, match=r"a call of predict_function: JAX computed -?0\.\d+, "
    ):
        session_of(program, "c", "rs", "rs")
