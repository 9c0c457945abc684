"""`rerun`: what would have come after a change in the past, beside what came."""

import io
from contextlib import suppress

import numpy as np
import pytest
from piped import answers, piped, session_of

from kerascope import backend as K
from kerascope.callbacks import Callback, LearningRateScheduler
from kerascope.debugger.front import ModelDebugger
from kerascope.debugger.session import Quitting, Session
from kerascope.layers import Activation, BatchNormalization, Dense, Dropout, Input
from kerascope.models import Model, Sequential
from kerascope.trace import journal as journals
from kerascope.trace.snapshots import same
from kerascope.utils import set_random_seed

X = np.random.default_rng(0).normal(size=(160, 5)).astype("float32")
Y = (X[:, :1] > 0).astype("float32")


class Losses(Callback):
    """Keeps the loss of each batch; does something before one of them."""

    def __init__(self, at=None, do=None):
        super().__init__()
        self.all, self.at, self.do = [], at, do

    def on_batch_begin(self, batch, logs=None):
        if len(self.all) == self.at:
            self.do(self.model)

    def on_batch_end(self, batch, logs=None):
        self.all.append(np.asarray(logs["loss"]))


def network():
    set_random_seed(1)
    K.clear_session()
    layers = [Dense(8, input_shape=(5,), name="one"), Activation("relu", name="bent")]
    layers += [Dropout(0.3, name="drop"), BatchNormalization(name="norm"), Dense(1, name="two")]
    model = Sequential(layers)
    model.compile("adam", "mse", metrics=["mae"])
    return model


def fit(callbacks=(), epochs=3):
    model = network()
    model.fit(X, Y, batch_size=8, epochs=epochs, verbose=0, callbacks=list(callbacks))
    return model


def said(text, command, time=0):
    return answers(text, command)[time]


def losses_of(session, number):
    """Return all losses of a timeline, from the first batch on."""
    return [np.asarray(one.outs[0]) for one in session.timelines.get(number).tape.batches()]


GO = ["c", "goto epoch 0 batch 10"]


def really(do):
    told = Losses(10, do)
    fit([told])
    return told.all


def a_tenth(model):
    K.set_value(model.optimizer.lr, np.float32(K.get_value(model.optimizer.lr)) / 10)


def no_kernel(model):
    kernel = model.layers[0].kernel
    K.set_value(kernel, K.get_value(kernel) * 0)


@pytest.mark.parametrize("first", [[], ["b weight:none"]], ids=["unheard", "heard"])
@pytest.mark.parametrize(
    ("command", "do"),
    [("set lr = lr / 10", a_tenth), ("set one/kernel = 0", no_kernel)],
    ids=["rate", "kernel"],
)
def test_a_fork_is_what_a_program_that_does_it_gives(first, command, do):
    """Draws of dropout, moments, slots and metrics are those of the fork, then."""
    session, text = session_of(fit, *first, *GO, command, "rerun", "info batches")
    expected = really(do)
    assert len(expected) == 60
    assert all(map(same, losses_of(session, 2), expected))
    assert f"◆  timeline 2 starts at t={time_of(text)}, " in said(text, command)[0]
    assert said(text, "rerun")[0] == "timeline 2: 50 calls computed, with the inputs of timeline 1"


def time_of(text):
    return said(text, "goto epoch 0 batch 10")[2].split("t=")[1]


def test_the_program_and_its_weights_are_not_touched():
    results = []
    text = piped(
        lambda: results.append(fit()), "b epoch 2", "c", "goto epoch 0 batch 10",
        "set lr = lr / 10", "rerun", "set again", "rerun", "timeline 1", "c", "c",
    )  # fmt: skip
    assert said(text, "rerun")[0].startswith("timeline 2: 30 calls computed")
    pairs = zip(results[0].get_weights(), fit().get_weights(), strict=True)
    assert all(same(one, other) for one, other in pairs)


def test_both_losses_stand_side_by_side_with_the_first_that_differs():
    text = piped(fit, *GO, "set lr = lr / 10", "rerun")
    lines = said(text, "rerun")
    assert lines[1].startswith("loss, ")
    assert [line.split()[0] for line in lines[2:4]] == ["1", "2"]
    assert all(len(line.split()[1]) == 50 for line in lines[2:4])
    assert lines[4].startswith("first difference: epoch 0 batch 11, loss 1.")
    assert lines[5].split() == ["epoch", "batch", "timeline", "1", "timeline", "2"]
    first, parts = lines[6].split(), lines[7].split()
    assert first[:2] == ["0", "10"]
    assert first[2] == first[3]
    assert parts[:3] == [">", "0", "11"]
    assert parts[3] != parts[4]
    assert lines[-1].split()[:2] == ["2", "19"]
    assert len(lines) < 25


def test_diff_shows_them_too():
    text = piped(once, "c", "goto batch 17", "set lr = lr / 10", "rerun", "diff 1 2")
    lines = said(text, "rerun")[1:]
    assert said(text, "diff 1 2")[-len(lines) :] == lines


def test_a_schedule_writes_again_what_it_wrote_but_not_into_what_was_set():
    def scheduled():
        fit([LearningRateScheduler(lambda epoch: 0.01 / (epoch + 1))])

    text = piped(
        scheduled, *GO, "set one/kernel = 0", "rerun", "goto epoch 2", "unt update", "p lr",
        "timeline 1", "goto epoch 0 batch 10", "set lr = 0.5", "rerun", "goto epoch 2",
        "unt update", "p lr",
    )  # fmt: skip
    repeated, silenced = (said(text, "rerun", i)[1] for i in (0, 1))
    assert repeated == (
        "   callbacks and the script do not run again; what they wrote in timeline 1 is written "
        "again: lr 2x"
    )
    assert silenced == "   left out, because you set it here: lr 2x"
    assert [said(text, "p lr", i) for i in (0, 1)] == [["f32[] 0.003333"], ["f32[] 0.5"]]


def test_an_array_inside_a_call_is_changed_where_it_comes_and_the_fork_runs_on_from_there():
    text = piped(
        fit, *GO, "set bent = 0", "rerun 3", "rerun 2", "rerun fit", "rerun", "timeline",
        "goto epoch 0 batch 12", "tbreak bent:ret", "c", "p norm(out) > 0",
    )  # fmt: skip
    comes, made, loss = said(text, "set bent = 0")[:3]
    assert comes.startswith("   bent comes at t=")
    assert made.startswith("overridden bent/relu ◆  timeline 2 starts at t=")
    assert loss.startswith("   loss 1.")
    assert loss.endswith(" in this batch; `rerun` continues it")
    counts = [said(text, command)[0].split()[2] for command in ("rerun 3", "rerun 2", "rerun fit")]
    assert counts == ["3", "2", "44"]
    assert said(text, "rerun")[0].startswith("timeline 2: 0 calls computed")
    assert ">  0      10 " in "\n".join(said(text, "rerun"))
    assert said(text, "p norm(out) > 0")[0].endswith("True")


def test_an_input_is_clipped_where_it_is_fed():
    session, text = session_of(
        fit, *GO, "set one_input = np.clip(one_input, -1, 1)", "p abs(ins[0]).max()", "rerun"
    )
    order = session.timelines.get(1).tape
    made = session.timelines.get(2)
    fed = [tape.names_at(made.forked_at)["inputs"][0] for tape in (order, made.tape)]
    assert same(np.clip(fed[0], -1, 1), fed[1])
    assert abs(fed[0]).max() > 1
    assert ">  0      10 " in "\n".join(said(text, "rerun"))


def test_a_fork_goes_through_a_model_that_was_compiled_anew_between_two_fits():
    def twice():
        model = fit(epochs=1)
        model.layers[0].trainable = False
        model.compile("sgd", "mae")
        model.fit(X, Y, batch_size=8, epochs=2, verbose=0)

    results, told = [], Losses(10, a_tenth)

    def really_twice():
        model = fit([told], epochs=1)
        model.layers[0].trainable = False
        model.compile("sgd", "mae")
        results.append(model)
        model.fit(X, Y, batch_size=8, epochs=2, verbose=0, callbacks=[told])

    session, text = session_of(
        twice, "c", "goto 0", "tbreak batch 10", "c", "set lr = lr / 10", "rerun"
    )
    told.at = 10
    really_twice()
    assert len(told.all) == 60
    mine = losses_of(session, 2)
    assert len(mine) == 60
    assert all(map(same, mine[:20], told.all[:20]))
    assert said(text, "rerun")[0].startswith("timeline 2: 50 calls")


def test_a_fork_can_be_left_for_another_fork_and_looked_at():
    session, text = session_of(
        fit, *GO, "set lr = lr / 10", "rerun", "goto epoch 1 batch 3", "set again", "rerun",
        "goto epoch 2 batch 2", "set one/bias = 1", "rerun", "timeline",
    )  # fmt: skip
    assert said(text, "rerun", 1)[0] == (
        "timeline 3: 37 calls computed, with the inputs of timeline 2"
    )
    assert "they are the same bit for bit" in said(text, "rerun", 1)
    assert [one.parent.number for one in list(session.timelines)[1:]] == [1, 2, 3]
    assert all(map(same, losses_of(session, 2), losses_of(session, 3)))
    assert not all(map(same, losses_of(session, 3), losses_of(session, 4)))


def two_optimizers():
    K.clear_session()
    set_random_seed(2)
    told, noise = Input((5,), name="told"), Input((2,), name="noise")
    judge = Model(told, Dense(1, activation="sigmoid", name="says")(told), name="judge")
    judge.compile("adam", "binary_crossentropy")
    judge.trainable = False
    both = Model(noise, judge(Dense(5, name="makes")(noise)), name="both")
    both.compile("adam", "binary_crossentropy")
    z = np.random.default_rng(1).normal(size=(12, 8, 2)).astype("float32")
    for step in range(12):
        judge.train_on_batch(X[:8], Y[:8])
        both.train_on_batch(z[step], np.ones((8, 1)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*trainable")
def test_calls_on_batches_have_a_curve_for_each_model():
    text = piped(
        two_optimizers, "c", "goto 3000", "set makes/kernel = 0", "rerun", "rc", "timeline 1",
        "goto 3300", "rr", "rr", "rs", "set lr = lr * 10", "rerun",
    )  # fmt: skip
    lines = said(text, "rerun")
    assert [line.split(",")[0] for line in lines if line.startswith("loss ")] == [
        "loss of both",
        "loss of judge",
    ]
    assert any(line.startswith("first difference: batch 6 of both") for line in lines)
    header = next(line.split() for line in lines if " model " in line)
    assert header == ["model", "batch", "timeline", "1", "timeline", "2"]


def test_a_program_that_is_not_over_is_gone_on_with_and_the_fork_follows():
    text = piped(
        fit, "b epoch 1", "b epoch 2", "c", "goto epoch 0 batch 10", "set lr = lr / 10", "rerun",
        *["timeline 1", "c", "c", "timeline 2", "rerun"] * 2,
    )  # fmt: skip
    counts = [lines[0].split()[2] for lines in answers(text, "rerun")]
    assert counts == ["10", "20", "20"]


def test_it_ends_where_the_rows_of_a_generator_are_gone(monkeypatch):
    monkeypatch.setattr(journals, "HELD", 4000)
    monkeypatch.setattr(journals, "APART", 2)
    monkeypatch.setattr(journals, "MOST_APART", 2)

    def generated():
        model = network()
        batches = ((X[i * 8 : i * 8 + 8], Y[i * 8 : i * 8 + 8]) for i in range(20))
        model.fit_generator(batches, steps_per_epoch=20, epochs=1, verbose=0, max_queue_size=1)

    text = piped(
        generated, "c", "goto batch 2", "goto batch 17", "set lr = 0", "rerun",
    )  # fmt: skip
    assert "the inputs are gone" in said(text, "goto batch 2")[0]
    assert said(text, "rerun")[0].startswith("timeline 2: 3 calls computed")


def test_it_ends_where_the_data_were_changed_in_place():
    def changes():
        model, x = network(), X.copy()
        model.fit(x, Y, batch_size=8, epochs=1, verbose=0, shuffle=False)
        x[100:] += 1

    text = piped(changes, "c", "goto batch 3", "set lr = 0", "rerun")
    lines = said(text, "rerun")
    assert lines[0].startswith("timeline 2: 9 calls computed")
    assert lines[1].startswith("   it ends here: batch 12: the data were changed in place")


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        (["c", "rerun"], "nothing was changed on this timeline"),
        ([*GO, "set lr = 0", "rerun x"], "expected nothing, a number of batches"),
        ([*GO, "set lr = 0", "rerun 0"], "expected nothing, a number of batches"),
        ([*GO, "set onee = 0"], "Did you mean"),
        ([*GO, "set lr = np.zeros(3)"], "set: expected lr, float32 of shape (), got shape (3,)"),
    ],
)
def test_mistakes_are_told(commands, words):
    text = piped(lambda: fit(epochs=1), *commands)
    assert words in said(text, commands[-1])[0]


def test_the_loss_of_the_batch_itself_has_as_many_digits_as_tell_it_apart():
    text = piped(once, "c", "goto batch 3", "set one_input = one_input * 1.000001")
    pair = said(text, "set one_input = one_input * 1.000001")[-1].split()[1:4]
    assert pair[1] == "->"
    assert pair[0] != pair[2]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("set lr /= 10", "set lr = lr / 10"),
        ("set one/kernel*=-2", "set one/kernel = one/kernel * -2"),
        ("set bent -= 1", "set bent = bent - 1"),
        ("set one_input **= 2", "set one_input = one_input ** 2"),
    ],
)
def test_a_sign_before_the_equals_sign_computes_with_what_it_was(short, long):
    text = piped(once, "c", *["goto batch 3", short, "rerun 4", "timeline 1"])
    other = piped(once, "c", *["goto batch 3", long, "rerun 4", "timeline 1"])
    assert said(text, "rerun 4") == said(other, "rerun 4")
    assert any(line.startswith(">") for line in said(text, "rerun 4"))


@pytest.mark.filterwarnings("ignore:fit. the loss became")
def test_a_loss_that_is_nan_in_both_is_no_difference():
    def program():
        model = network()
        model.fit(X * np.nan, Y, batch_size=8, epochs=1, verbose=0)

    text = piped(program, "c", "goto batch 3", "set lr = np.nan", "rerun")
    assert "they are the same bit for bit" in said(text, "rerun")


@pytest.mark.filterwarnings("ignore:.*trainable")
def test_batches_of_one_s_own_have_the_numbers_that_goto_takes():
    text = piped(two_optimizers, "c", "info batches", "goto batch 4", "set lr *= 10", "rerun")
    rows = [line.lstrip("> ").split() for line in said(text, "rerun")]
    assert next(row for row in rows if row[:1] == ["both"])[1] == "4"


# --- two changes, and what another run has --------------------------------------------------------


@pytest.mark.slow
def test_two_changes_at_one_place_hold_both():
    def both(model):
        a_tenth(model)
        no_kernel(model)

    session, _ = session_of(fit, *GO, "set lr = lr / 10", "set one/kernel = 0", "rerun")
    assert all(map(same, losses_of(session, 3), really(both)))
    session, _ = session_of(fit, *GO, "set bent = 0", "set one_input = 3", "p norm(out)", "rerun 4")
    timelines = session.timelines
    assert [len(timelines.get(n).overrides) for n in (2, 3)] == [1, 2]
    losses = [losses_of(session, n)[10:15] for n in (1, 2, 3)]
    assert same(losses[1][0], losses[2][0])  # the input was read before
    assert not same(losses[0][0], losses[1][0])


def test_the_fork_of_a_fork_that_has_not_run_lets_it_run_as_far():
    text = piped(
        fit, *GO, "set lr = lr / 10", "goto epoch 0 batch 9", "set bent = 0", "set two = 0",
        "rerun 2", "rerun fit", "goto 0", "timeline 1", "goto 3", "set again", "rerun fit",
    )  # fmt: skip
    assert said(text, "rerun 2")[0].startswith("timeline 4: 2 calls computed")
    assert said(text, "rerun fit")[0].startswith("timeline 4: 48 calls computed")
    assert "rerun fit: no `fit` is open there" in said(text, "rerun fit", 1)[0]


def test_an_earlier_fork_does_not_inherit_what_comes_later():
    session, text = session_of(
        fit, *GO, "set one/kernel = 0", "rerun", "goto epoch 0 batch 4", "set again", "rerun"
    )
    assert said(text, "rerun", 1)[1] == (
        "   changes made later in timeline 2 are not made here: set one/kernel = 0"
    )
    assert all(map(same, losses_of(session, 3), losses_of(session, 1)))


def doubled():
    model = network()
    model.layers[0].kernel.set_value(model.layers[0].kernel.get_value() * 2)
    model.fit(X, Y, batch_size=8, epochs=1, verbose=0)


def once():
    fit(epochs=1)


@pytest.fixture(scope="module")
def folder_of_another_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("another")
    piped(doubled, "c", f"record {folder / 't.jsonl'}")
    return folder


@pytest.fixture
def recorded(folder_of_another_run, monkeypatch):
    monkeypatch.chdir(folder_of_another_run)


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize("first", [[], ["b weight:none"]], ids=["unheard", "heard"])
def test_what_came_out_in_another_run_is_put_in_the_same_call_of_this_one(first):
    session, text = session_of(
        once, *first, "c", "goto batch 3", "set bent=t.jsonl", "p norm(other.bent - bent)",
        "p other", "timeline 1", "goto batch 5", "set one/kernel = other.one/kernel", "rerun 1",
    )  # fmt: skip
    assert said(text, "p norm(other.bent - bent)") == ["0.0"]
    assert said(text, "p other") == ["train_function of epoch 0 batch 3 in t.jsonl"]
    theirs, _ = session_of(doubled, "c")
    mine, there = session.timelines.get(2).tape, theirs.tape
    outs = [
        [e.deltas for e in tape if (e.kind, e.name, e.ph) == ("op", "bent/relu", "E")]
        for tape in (Heard(mine), Heard(there))
    ]
    assert same(dict_of(outs[0][3])["result"], dict_of(outs[1][3])["result"])
    batches = [list(s.timelines.get(n).tape.batches()) for s, n in ((session, 3), (theirs, 1))]
    assert not same(batches[0][5].outs, batches[1][5].outs)  # the moments are others


class Heard:
    """All events of a tape, executed again where nobody heard."""

    def __init__(self, tape):
        self.events = tape.whole()

    def __iter__(self):
        return iter(self.events)


def dict_of(deltas):
    return {d.name: d.value for d in deltas}


def test_another_timeline_is_the_other_run_and_by_default_that_which_was_left():
    text = piped(
        once, "c", "goto batch 3", "set one/kernel = 0", "rerun 4", "goto batch 5",
        "p norm(other.one/kernel) > 0, norm(one/kernel) < 0.5", "set bent = other", "rerun 1",
        "timeline 1", "other 2", "goto batch 4", "set one/kernel = other",
        "p norm(one/kernel - other.one/kernel)", "rerun 0",
    )  # fmt: skip
    assert said(text, "p norm(other.one/kernel) > 0, norm(one/kernel) < 0.5") == ["(True, True)"]
    assert said(text, "set bent = other")[1].startswith("overridden bent/relu ◆  timeline 3")
    assert said(text, "p norm(one/kernel - other.one/kernel)") == ["0.0"]


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("set bent = other.bend", "has no 'bend'. Did you mean 'bent'?"),
        ("set bent = other.bent[:2]", "bent has shape (8, 8) here, and other.bent[:2] has (2, 8)"),
        ("set one/bias = other.one/kernel", "one/bias has shape (8,) here, and other.one/kernel"),
        ("set bent = u.jsonl", "there is no file 'u.jsonl'"),
        ("other 7", "no timeline 7"),
    ],
)
def test_what_another_run_has_not_is_told(command, words):
    text = piped(once, "c", "goto batch 3", "other t.jsonl", command, "timeline")
    assert words in "\n".join(said(text, command))
    assert len(said(text, "timeline")) == 1


@pytest.mark.usefixtures("recorded")
def test_a_call_to_which_the_other_run_has_not_come_is_told():
    text = piped(fit, "c", "goto epoch 2 batch 3", "set bent=t.jsonl", "timeline")
    told = "*** other: t.jsonl does not reach train_function of epoch 2 batch 3."
    assert told in said(text, "set bent=t.jsonl")


@pytest.mark.usefixtures("recorded")
def test_a_tape_that_was_read_is_no_history_of_this_run():
    text = piped(once, "c", "replay t.jsonl", "goto batch 3", "set lr = 0", "rerun", "set bent = 0")
    assert "*** set: this timeline is a tape read from a file. Nothing can run on it." in said(
        text, "set lr = 0"
    )
    assert said(text, "rerun")[0].startswith("*** rerun: nothing was changed on this timeline")


def test_the_other_run_is_asked_for_where_there_is_none():
    text = piped(once, "c", "goto batch 3", "set bent = other", "other")
    assert "*** other: expected a timeline or the file of a tape" in said(text, "other")[0]
    assert "other: expected a timeline" in said(text, "set bent = other")[-1]


def test_x_is_the_input_of_the_model_and_not_the_data_of_the_script():
    def program():
        fit(epochs=1)

    for name in ("x", "one_input"):
        session, text = session_of(program, "c", "goto batch 3", f"set {name}={name}.clip(-1,1)")
        made = session.timelines.get(2)
        fed = [t.names_at(made.forked_at)["inputs"][0] for t in (session.recorder.tape, made.tape)]
        assert same(np.clip(fed[0], -1, 1), fed[1])
        assert abs(fed[0]).max() > 1
        assert "loss 1." in said(text, f"set {name}={name}.clip(-1,1)")[2]
    live = "set x=x.clip(-1,1)"
    text = piped(program, "unt forward", live, "p bool(abs(one_input).max() == 1)")
    assert said(text, "p bool(abs(one_input).max() == 1)") == ["True"]


def test_an_array_of_the_script_that_has_the_name_of_a_tensor_is_not_meant():
    def program():
        model = Sequential([Dense(1, input_shape=(5,), name="rows")])
        model.compile("sgd", "mse")
        model.fit(X[:8], Y[:8], batch_size=8, epochs=2, verbose=0)

    out = io.StringIO()
    commands = ["c", "goto batch 0", "set rows = rows * 2", "p norm(out)", "q", ""]
    debugger = ModelDebugger(stdin=io.StringIO("\n".join(commands)), stdout=out)
    names = {"rows": np.full((8, 1), 100.0, "float32")}
    session = debugger.session = Session(debugger.ask, names=names)
    with suppress(Quitting):
        session.run(program)
    assert float(said(out.getvalue(), "p norm(out)")[0]) < 50


def test_what_comes_later_in_a_past_call_is_gone_to():
    text = piped(
        fit, "c", "goto epoch 0 batch 3", "unt forward", "set two = two * 0", "p norm(out)"
    )
    assert said(text, "set two = two * 0")[0].startswith("   two comes at t=")
    assert said(text, "p norm(out)") == ["0.0"]


def test_an_interrupt_leaves_all_as_it_was_and_the_fork_goes_on(monkeypatch):
    session, _ = session_of(fit, *GO, "set lr = lr / 10")
    fork = session.timelines.get(2).fork
    variables = list(session.recorder.journal._variables.values())
    before = [v.get_value() for v in variables]
    repeat, calls = journals.Journal.repeat, []

    def interrupted(*arguments):
        calls.append(None)
        if len(calls) == 17:
            raise KeyboardInterrupt
        return repeat(*arguments)

    monkeypatch.setattr(journals.Journal, "repeat", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fork.run_on()
    assert len(fork.losses()) == 16
    assert all(same(x, v.get_value()) for x, v in zip(before, variables, strict=True))
    fork.run_on()
    assert all(map(same, losses_of(session, 2), really(a_tenth)))


@pytest.mark.slow
def test_a_fork_can_be_written_into_a_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = piped(
        once, "c", "goto batch 10", "set lr = lr / 10", "rerun", "record fork.jsonl", "timeline 1",
        "goto batch 12", "set bent = fork.jsonl", "other 2", "p norm(other.bent - out)",
    )  # fmt: skip
    assert "fork.jsonl and fork.npz written: " in said(text, "record fork.jsonl")[0]
    assert said(text, "p norm(other.bent - out)") == ["0.0"]
