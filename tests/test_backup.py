"""`BackupAndRestore`: a run that was killed goes on, and ends bit for bit as if nothing had been.

The oracle is the same run without any backup (`backup_scenarios.py`).
"""

import errno
import gc
import json
import os
import random
import re
import shutil
import signal
import stat
import subprocess
import sys
import zipfile
from collections import OrderedDict, deque
from functools import cache
from pathlib import Path

import backup_scenarios as scenarios
import numpy as np
import pytest
from backup_scenarios import SCENARIOS, acting_at, run

from kerascope import backend as K
from kerascope import callbacks as cb
from kerascope.callbacks import backup_folder
from kerascope.callbacks.backup_folder import (
    BackupFolder,
    as_plain,
    from_plain,
    read_state,
    write_state,
)
from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DataError,
    KerascopeWarning,
    UnavailableError,
)
from kerascope.layers import Dense, Dropout, Input, Lambda, Layer
from kerascope.models import Model, Sequential
from kerascope.stage import observing

PROGRAM = Path(scenarios.__file__)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Return a function that runs a scenario without backup, once for each dialect."""

    @cache
    def result(scenario, dialect="2.2"):
        return run(scenario, tmp_path_factory.mktemp("undisturbed"), dialect=dialect)

    return result


def assert_same(result, expected):
    differ = [name for name in expected if result.get(name) != expected[name]]
    assert not differ, {name: (result.get(name), expected[name]) for name in differ[:3]}
    assert result.keys() - {"calls"} == expected.keys()


class Stop(RuntimeError):
    """What ends a run in its middle."""


def stop_at(hook, n):
    """Return a callback that ends the run at the n-th call of a hook."""

    def stop():
        raise Stop

    return acting_at(hook, n, stop)


# --- all kinds of data, in one process ------------------------------------------------------------


def check_an_interruption(scenario, save_freq, n, folder, expected):
    hook = "on_epoch_begin" if save_freq == "epoch" else "on_batch_end"
    options = {"save_freq": save_freq}
    with pytest.raises(Stop):
        run(scenario, folder, extra=[(0, stop_at(hook, n))], **options)
    assert (folder / "backup" / "training.zip").exists()
    assert_same(run(scenario, folder, **options), expected)
    assert not (folder / "backup").exists()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_an_interrupted_run_ends_as_an_undisturbed_one(scenario, tmp_path, undisturbed):
    n = 9 if scenario == "stopped_early" else 14
    check_an_interruption(scenario, 3, n, tmp_path, undisturbed(scenario))


@pytest.mark.parametrize("scenario", ["arrays", "steps_of_arrays", "sequence"])
def test_it_does_so_from_the_end_of_an_epoch(scenario, tmp_path, undisturbed):
    check_an_interruption(scenario, "epoch", 3, tmp_path, undisturbed(scenario))


@pytest.mark.parametrize("scenario", ["samples_counted", "sequence"])
def test_it_does_so_from_the_last_batch_of_an_epoch(scenario, tmp_path, undisturbed):
    check_an_interruption(scenario, 1, 6, tmp_path, undisturbed(scenario))


@pytest.mark.slow
@pytest.mark.parametrize("n", range(1, 21))
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_it_does_so_from_every_batch(scenario, n, tmp_path, undisturbed):
    n = min(n, 9) if scenario == "stopped_early" else n
    check_an_interruption(scenario, 1, n, tmp_path / "a", undisturbed(scenario))
    check_an_interruption(scenario, 4, n, tmp_path / "b", undisturbed(scenario))


@pytest.mark.parametrize("hook", ["on_epoch_end", "on_train_end"])
@pytest.mark.parametrize("save_freq", ["epoch", 1])
def test_a_run_that_ended_early_trains_no_more(hook, save_freq, tmp_path, undisturbed):
    n = 2 if hook == "on_epoch_end" else 1
    with pytest.raises(Stop):
        run("stopped_early", tmp_path, extra=[(0, stop_at(hook, n))], save_freq=save_freq)
    found = run("stopped_early", tmp_path, save_freq=save_freq)
    assert_same(found, undisturbed("stopped_early"))


@pytest.mark.parametrize("dialect", ["1.2", "3"])
def test_it_does_so_in_every_dialect(dialect, tmp_path, undisturbed):
    for hook, n in (("on_batch_begin", 4), ("on_epoch_end", 2)):
        with pytest.raises(Stop):
            run("arrays", tmp_path, extra=[(2, stop_at(hook, n))], dialect=dialect, save_freq=2)
    assert_same(
        run("arrays", tmp_path, dialect=dialect, save_freq=2), undisturbed("arrays", dialect)
    )


@pytest.mark.parametrize(
    ("hook", "place"),
    [
        *(("on_train_begin", 0), ("on_epoch_begin", 8), ("on_batch_end", 0), ("on_epoch_end", 8)),
        ("on_epoch_end", 0),
        pytest.param("on_train_begin", 8, marks=pytest.mark.slow),
        pytest.param("on_epoch_begin", 0, marks=pytest.mark.slow),
        pytest.param("on_batch_end", 8, marks=pytest.mark.slow),
        *(("on_train_end", 0), ("on_train_end", 8)),
    ],
)
def test_what_some_callbacks_did_and_others_not_is_done_once(hook, place, tmp_path, undisturbed):
    with pytest.raises(Stop):
        run("arrays", tmp_path, extra=[(3, stop_at("on_batch_end", 8))], save_freq=3)
    n = 1 if hook.startswith("on_train") else 2
    with pytest.raises(Stop):
        run("arrays", tmp_path, extra=[(place, stop_at(hook, n))], save_freq=3)
    assert_same(run("arrays", tmp_path, save_freq=3), undisturbed("arrays"))


def test_a_backup_is_no_part_of_the_numbers(tmp_path, undisturbed):
    for scenario in ("arrays", "sequence", "stateful"):
        found = run(scenario, tmp_path / scenario, save_freq=1, double_checkpoint=True)
        assert_same(found, undisturbed(scenario))


def test_a_run_without_seed_goes_on_with_the_data_and_weights_of_then(tmp_path):
    with pytest.raises(Stop):
        run("images", tmp_path, extra=[(0, stop_at("on_batch_end", 8))], save_freq=3)
    with pytest.warns(KerascopeWarning, match=r"Dropout.*np.random.seed"):
        run("images", tmp_path, seed=12, save_freq=3)


class NoisySteps(Layer):
    """Adds noise that is drawn inside of a loop."""

    def call(self, inputs):
        def step(x, states):
            return x + K.random_normal((4, 2)), [states[0]]

        return K.rnn(step, inputs, [K.zeros_like(inputs[:, 0])])[0]

    def compute_output_shape(self, input_shape):
        return (input_shape[0], input_shape[2])


def test_seeds_inside_of_loops_are_compared_too(tmp_path):
    def trained(seed, *extra):
        as_in_a_new_process()
        np.random.seed(seed)
        model = compiled([NoisySteps(batch_input_shape=(4, 3, 2)), Dense(1)])
        rng = np.random.default_rng(5)
        x, y = rng.random((8, 3, 2)), rng.random((8, 1))
        backup = cb.BackupAndRestore(tmp_path)
        model.fit(x, y, 4, epochs=3, verbose=0, callbacks=[backup, *extra])
        return [array.tobytes() for array in model.get_weights()]

    expected = trained(1)
    with pytest.raises(Stop):
        trained(1, stop_at("on_epoch_begin", 2))
    assert trained(1) == expected
    with pytest.raises(Stop):
        trained(1, stop_at("on_epoch_begin", 2))
    with pytest.warns(KerascopeWarning, match="other seeds"):
        trained(2)


def test_it_goes_on_in_the_same_process_with_the_same_objects(tmp_path):
    """As in a notebook, where a cell is interrupted and run again."""

    def made():
        np.random.seed(3)
        random.seed(3)
        rows = scenarios.Shuffled(*scenarios.rows_and_targets())
        return scenarios.small(), rows, [scenarios.Diary(), cb.CSVLogger(tmp_path / "log.csv")]

    def trained(model, rows, callbacks, *extra):
        history = model.fit(rows, epochs=4, verbose=0, callbacks=[*callbacks, *extra])
        weights = [array.tobytes() for array in model.get_weights()]
        diary = repr((callbacks[0].losses, callbacks[0].by_epoch, callbacks[0].wait))
        log = (tmp_path / "log.csv").read_text(encoding="utf-8")
        return weights, history.history, diary, log, rows.order.tolist(), rows.asked

    expected = trained(*made())
    model, rows, callbacks = made()
    backup = cb.BackupAndRestore(tmp_path / "backup", save_freq=4)
    for n in (8, 6, 9):
        with pytest.raises(Stop):
            trained(model, rows, callbacks, backup, stop_at("on_batch_end", n))
    assert trained(model, rows, callbacks, backup) == expected


def test_a_run_that_is_watched_or_walked_goes_on_as_any_other(tmp_path, undisturbed):
    with pytest.raises(Stop), observing(lambda stage, event: None):
        run("sequence", tmp_path, extra=[(0, stop_at("on_batch_end", 14))], save_freq=3)
    with observing(lambda stage, event: None):
        assert_same(run("sequence", tmp_path, save_freq=3), undisturbed("sequence"))


def test_a_walk_that_nobody_finishes_holds_the_folder_no_longer(tmp_path):
    model = compiled(layers())
    x, y = np.ones((30, 3)), np.ones((30, 1))
    settings = {"epochs": 3, "verbose": 0}
    stage = model.fit_stage(x, y, callbacks=[cb.BackupAndRestore(tmp_path)], **settings)
    steps = iter(stage)
    for _ in range(6):
        next(steps)
    with pytest.raises(UnavailableError, match="another fit of this process"):
        model.fit(x, y, callbacks=[cb.BackupAndRestore(tmp_path)], **settings)
    del stage, steps
    gc.collect()
    model.fit(x, y, callbacks=[cb.BackupAndRestore(tmp_path)], **settings)


# --- kill -9 --------------------------------------------------------------------------------------


def child(scenario, folder, kill=None, **options):
    """Run the program of the scenarios; return how it ended."""
    words = [scenario, str(folder), json.dumps(kill), json.dumps(options)]
    done = subprocess.run(
        [sys.executable, str(PROGRAM), *words], capture_output=True, text=True, check=False
    )
    was_killed = done.returncode == -getattr(signal, "SIGKILL", signal.SIGTERM)
    if os.name == "nt":
        was_killed = done.returncode == signal.SIGTERM
    assert done.returncode == 0 or (kill is not None and was_killed), done.stderr
    return "killed" if was_killed else json.loads(Path(folder, "result.json").read_text("utf-8"))


def killed_and_resumed(scenario, folder, kills, **options):
    """Kill a run at each of these moments; return how it ends when nobody kills it any more."""
    for kill in kills:
        assert child(scenario, folder, kill, **options) == "killed"
    return child(scenario, folder, **options)


def number_of_calls(scenario, folder, **options):
    return child(scenario, folder, ["call", 10**9], **options)["calls"]


# How, when, and where a run is killed: "between" has a place among the callbacks and a hook.
AIMED = [
    (["rename", 2, False], {"save_freq": "epoch"}),
    (["rename", 2, True], {"save_freq": 3}),
    (["rename", 4, True], {"save_freq": "epoch", "double_checkpoint": True}),
    (["rename", 5, False], {"save_freq": 2, "double_checkpoint": True}),
    (["between", 2, 1, "on_epoch_end"], {"save_freq": "epoch"}),
    (["between", 3, 4, "on_epoch_end"], {"save_freq": 2}),
    (["between", 9, 6, "on_batch_end"], {"save_freq": 2}),
    (["between", 2, 2, "on_epoch_begin"], {"save_freq": "epoch"}),
    (["between", 3, 6, "on_epoch_begin"], {"save_freq": 1}),
    (["between", 1, 3, "on_train_end"], {"save_freq": "epoch"}),
]


@pytest.mark.parametrize(("kill", "options"), [AIMED[2], AIMED[5]])
def test_a_killed_process_goes_on_bit_for_bit(kill, options, tmp_path, undisturbed):
    assert_same(killed_and_resumed("arrays", tmp_path, [kill], **options), undisturbed("arrays"))


@pytest.mark.slow
def test_a_process_killed_at_any_call_goes_on_bit_for_bit(tmp_path, undisturbed):
    calls = number_of_calls("sequence", tmp_path / "counted", save_freq=2)
    kills = [["call", calls // 2], ["call", calls // 3]]
    result = killed_and_resumed("sequence", tmp_path, kills, save_freq=2)
    assert_same(result, undisturbed("sequence"))


@pytest.mark.slow
@pytest.mark.parametrize("kill", range(50))
def test_fifty_kills(kill, tmp_path, undisturbed):
    """The first ten are aimed, the others are drawn from all calls of the run."""
    if kill < len(AIMED):
        how, options = AIMED[kill]
        assert_same(killed_and_resumed("arrays", tmp_path, [how], **options), undisturbed("arrays"))
        return
    rng = random.Random(kill)
    scenario = list(SCENARIOS)[kill % len(SCENARIOS)]
    options = {"save_freq": rng.choice(["epoch", 1, 2, 3]), "double_checkpoint": kill % 3 == 0}
    calls = number_of_calls(scenario, tmp_path / "counted", **options)
    how = ["call", rng.randrange(1, calls)]
    result = killed_and_resumed(scenario, tmp_path, [how], **options)
    assert_same(result, undisturbed(scenario))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(20))
def test_a_run_that_is_killed_by_the_clock_gets_to_its_end(number, tmp_path, undisturbed):
    """Also inside of what C does. It is killed again and again until it was quick enough.

    The backup is not deleted: a kill between the end of `fit` and that of the script would make it
    train anew, into a second file of events.
    """
    rng = random.Random(number)
    scenario = list(SCENARIOS)[number % len(SCENARIOS)]
    options = {"save_freq": 1, "delete_checkpoint": False}
    words = [scenario, str(tmp_path), "null", json.dumps(options)]
    patience, ended = 0.05, False
    while not ended:
        with subprocess.Popen([sys.executable, str(PROGRAM), *words]) as process:
            try:
                ended = process.wait(timeout=rng.uniform(0, patience)) == 0
            except subprocess.TimeoutExpired:
                process.kill()
        patience *= 1.3
    assert_same(json.loads((tmp_path / "result.json").read_text("utf-8")), undisturbed(scenario))


# --- what is kept ---------------------------------------------------------------------------------


class Changes(cb.Callback):
    """Changes variables in the first epoch, and nothing later."""

    def __init__(self, **variables):
        self._change = lambda: [K.set_value(x, np.full(x.shape, 7.0)) for x in variables.values()]

    def on_epoch_end(self, epoch, logs=None):
        if epoch == 0:
            self._change()


class Last(Dense):
    """Remembers something of each batch: a variable that is written and never read."""

    def build(self, input_shape):
        super().build(input_shape)
        self.seen = K.variable(0.0, name="seen")

    def call(self, inputs):
        self.add_update(K.update(self.seen, K.max(inputs)), inputs)
        return super().call(inputs)


@pytest.mark.filterwarnings("ignore:.*changed during training")
def test_every_variable_comes_back_that_a_run_can_read_or_write(tmp_path):
    """A weight that no loss needs, a factor of the loss, a rate that is not used, a state."""

    def made():
        np.random.seed(4)
        x = Input((3,))
        last = Last(1, name="last")
        model = Model(x, [last(x), Dense(1, trainable=False, name="idle")(x)])
        factor = K.variable(0.5)
        model.compile("sgd", ["mse", None], loss_weights=[factor, 1.0])
        watched = {
            "idle": model.weights[-1],
            "factor": factor,
            "decay": model.optimizer.decay,
        }
        return model, watched, last.seen

    data = np.random.rand(20, 3), np.random.rand(20, 1)
    model, watched, _ = made()
    callbacks = [cb.BackupAndRestore(tmp_path), Changes(**watched), stop_at("on_epoch_begin", 2)]
    with pytest.raises(Stop):
        model.fit(*data, epochs=2, verbose=0, callbacks=callbacks)
    expected = float(K.get_value(made()[2]))
    assert expected == 0
    model, watched, seen = made()
    states = []
    ear = cb.LambdaCallback(
        on_epoch_begin=lambda epoch, logs: states.append(float(K.get_value(seen)))
    )
    model.fit(*data, epochs=2, verbose=0, callbacks=[cb.BackupAndRestore(tmp_path), ear])
    assert [float(np.ravel(K.get_value(one))[0]) for one in watched.values()] == [7.0, 7.0, 7.0]
    assert len(states) == 1
    assert states[0] > 0


def test_the_lines_of_an_epoch_that_goes_on_are_those_of_a_whole_one(tmp_path, capsys):
    def lines(*extra):
        as_in_a_new_process()
        np.random.seed(2)
        model = compiled([Dense(1, input_shape=(3,))])
        data = np.random.rand(30, 3), np.random.rand(30, 1)
        backup = cb.BackupAndRestore(tmp_path, save_freq=2)
        model.fit(*data, batch_size=6, epochs=2, verbose=2, callbacks=[backup, *extra])
        return capsys.readouterr().out.splitlines()

    expected = lines()
    with pytest.raises(Stop):
        lines(stop_at("on_batch_end", 9))
    capsys.readouterr()
    again = lines()
    assert again[0] == expected[2] == "Epoch 2/2"
    assert again[1].startswith("BackupAndRestore: training continues at epoch 2, batch 3")
    assert again[2:] == expected[3:]


class Passes(scenarios.Sequence):
    """Batches that depend on the number of the pass, which worker processes know by a copy."""

    def __init__(self):
        self.passed = 0

    def __len__(self):
        return 4

    def __getitem__(self, number):
        x = np.full((2, 3), 10.0 * self.passed + number)
        return x, x[:, :1]

    def on_epoch_end(self):
        self.passed += 1


@pytest.mark.slow
def test_worker_processes_learn_what_their_sequence_was_like(tmp_path):
    def losses(folder, *extra):
        np.random.seed(2)
        model = compiled([Dense(1, input_shape=(3,))])
        backup = cb.BackupAndRestore(folder, save_freq=1)
        hands = {"workers": 1, "use_multiprocessing": True}
        callbacks = [backup, *extra]
        return model.fit(Passes(), epochs=3, verbose=0, callbacks=callbacks, **hands).history

    with pytest.raises(Stop):
        losses(tmp_path / "a", stop_at("on_batch_begin", 7))
    assert losses(tmp_path / "a") == losses(tmp_path / "b")


# --- what is refused ------------------------------------------------------------------------------


def plain_fit(folder, model=None, rows=30, epochs=3, extra=(), data=None, verbose=0, **options):
    """Train a small model; return its history."""
    np.random.seed(1)
    if model is None:
        model = Sequential([Dense(2, input_shape=(3,)), Dropout(0.5), Dense(1)])
        model.compile("adam", "mse")
    given = {name: options.pop(name) for name in ("batch_size", "shuffle") if name in options}
    backup = cb.BackupAndRestore(folder, **options)
    x, y = np.random.rand(rows, 3), np.random.rand(rows, 1)
    data = (x, y) if data is None else data
    return model.fit(*data, epochs=epochs, verbose=verbose, callbacks=[backup, *extra], **given)


def as_in_a_new_process():
    """Let no fit have come to its end yet."""
    backup_folder._finished.clear()


def interrupted(folder, n=2, **options):
    with pytest.raises(Stop):
        plain_fit(folder, extra=[stop_at("on_epoch_begin", n)], **options)
    return folder / "training.zip"


def compiled(layers, optimizer="adam", loss="mse", metrics=()):
    model = Sequential(layers)
    model.compile(optimizer, loss, metrics=list(metrics))
    return model


def layers(units=2, activation=None, rate=0.5):
    return [Dense(units, activation, input_shape=(3,)), Dropout(rate), Dense(1)]


OTHER_RUNS = {
    "units": (
        lambda: {"model": compiled(layers(units=3))},
        r"layers\[0\]: config: units: 2 there, 3 here",
    ),
    "activation": (lambda: {"model": compiled(layers(activation="tanh"))}, "activation.*tanh"),
    "rate": (lambda: {"model": compiled(layers(rate=0.25))}, "rate: '0.5' there, '0.25' here"),
    "depth": (lambda: {"model": compiled([*layers(), Dense(1)])}, "layers: 3 there, 4 here"),
    "optimizer": (lambda: {"model": compiled(layers(), "sgd")}, "optimizer: 'Adam' there, 'SGD'"),
    "loss": (lambda: {"model": compiled(layers(), loss="mae")}, "loss.*mean_squared_error"),
    "metrics": (lambda: {"model": compiled(layers(), metrics=["mae"])}, "metrics: 1 there, 2 here"),
    "length": (lambda: {"rows": 31}, "samples: 30 there, 31 here"),
    "batch size": (lambda: {"batch_size": 16}, "batch_size: 32 there, 16 here"),
    "shuffle": (lambda: {"shuffle": False}, "shuffle: True there, False here"),
}


@pytest.mark.parametrize("what", OTHER_RUNS)
def test_the_backup_of_another_run_is_refused_with_words_and_stays(what, tmp_path):
    file = interrupted(tmp_path)
    before = file.read_bytes()
    told = []
    other, words = OTHER_RUNS[what]
    ear = cb.LambdaCallback(on_train_begin=told.append)
    with pytest.raises(ConfigError, match=words) as caught:
        plain_fit(tmp_path, extra=[ear], **other())
    assert "was not changed" in str(caught.value)
    assert "move it away" in str(caught.value)
    assert file.read_bytes() == before
    assert not told
    assert len(plain_fit(tmp_path).epoch) == 3


def test_nothing_is_refused_as_long_as_nothing_was_trained(tmp_path):
    interrupted(tmp_path, n=1)
    with pytest.raises(Stop):
        plain_fit(tmp_path, rows=20, extra=[stop_at("on_epoch_begin", 2)])
    with pytest.raises(ConfigError, match="samples: 20 there, 30 here"):
        plain_fit(tmp_path)


def test_the_weights_of_a_run_that_was_killed_at_once_are_those_that_are_trained(tmp_path):
    def begun(seed):
        np.random.seed(seed)
        model = compiled([Dense(2, input_shape=(3,))])
        data = np.ones((20, 3)), np.ones((20, 2))
        ear = stop_at("on_batch_end", 1)
        with pytest.raises(Stop):
            model.fit(*data, verbose=0, callbacks=[cb.BackupAndRestore(tmp_path), ear])
        return [array.tobytes() for array in model.get_weights()]

    assert begun(1) == begun(2)


def test_more_epochs_may_be_asked_for(tmp_path):
    interrupted(tmp_path / "a")
    longer = plain_fit(tmp_path / "a", epochs=5).history
    assert longer == plain_fit(tmp_path / "b", epochs=5).history


@pytest.mark.parametrize("delete_checkpoint", [True, False])
def test_epochs_that_end_before_the_epoch_of_the_backup_are_refused(delete_checkpoint, tmp_path):
    options = {"save_freq": 1, "batch_size": 10, "delete_checkpoint": delete_checkpoint}
    with pytest.raises(Stop):
        plain_fit(tmp_path, epochs=6, extra=[stop_at("on_batch_end", 11)], **options)
    file = tmp_path / "training.zip"
    before, told = file.read_bytes(), []
    for epochs in (3, 2, 1):
        ear = cb.LambdaCallback(on_train_begin=told.append)
        with pytest.raises(
            ConfigError, match=rf"epochs=4 or more, got {epochs}, .* epoch 4, batch \d"
        ):
            plain_fit(tmp_path, epochs=epochs, extra=[ear], **options)
    assert file.read_bytes() == before
    assert not told
    expected = plain_fit(tmp_path / "other", epochs=4, batch_size=10).history
    assert plain_fit(tmp_path, epochs=4, **options).history == expected


@pytest.mark.parametrize("epochs", [3, 2])
@pytest.mark.parametrize("delete_checkpoint", [True, False])
def test_after_as_many_epochs_the_model_has_what_was_trained(epochs, delete_checkpoint, tmp_path):
    def model():
        np.random.seed(1)
        return compiled(layers())

    killed, found, ended = model(), model(), []
    end = cb.LambdaCallback(on_epoch_end=lambda epoch, logs: ended.append(killed.get_weights()))
    with pytest.raises(Stop):
        plain_fit(tmp_path, killed, epochs=5, extra=[end, stop_at("on_epoch_begin", 4)])
    again = plain_fit(tmp_path, found, epochs=epochs, delete_checkpoint=delete_checkpoint)
    assert again.epoch == [0, 1, 2]
    for array, expected in zip(found.get_weights(), ended[2], strict=True):
        np.testing.assert_array_equal(array, expected)
    assert (tmp_path / "training.zip").exists() is not delete_checkpoint


def test_a_flipped_bit_anywhere_is_refused_or_does_no_harm(tmp_path):
    file = interrupted(tmp_path)
    whole, state = file.read_bytes(), repr(read_state(file))
    rng = random.Random(2)
    refused = 0
    for _ in range(80):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        file.write_bytes(damaged)
        try:
            found = repr(read_state(file))
        except ConfigError:
            refused += 1
        else:
            assert found == state
    assert refused > 60


@pytest.mark.parametrize("content", [b"", b"PK", b"not a zip file", b"\0" * 1000])
def test_a_damaged_file_is_refused_and_never_overwritten(content, tmp_path):
    file = interrupted(tmp_path)
    file.write_bytes(content)
    for _ in range(2):
        with pytest.raises(ConfigError, match=r"training.zip' is damaged.*move it away"):
            plain_fit(tmp_path)
    assert file.read_bytes() == content


def test_a_file_cut_off_anywhere_is_refused(tmp_path):
    file = interrupted(tmp_path)
    whole = file.read_bytes()
    for length in range(0, len(whole), 499):
        file.write_bytes(whole[:length])
        with pytest.raises(ConfigError, match="is damaged"):
            read_state(file)


def test_with_double_checkpoint_the_one_before_is_taken(tmp_path):
    expected = plain_fit(tmp_path / "undisturbed").history
    folder = tmp_path / "backup"
    file = interrupted(folder, n=3, double_checkpoint=True)
    assert (folder / "training.previous.zip").exists()
    file.write_bytes(b"damaged")
    with pytest.warns(
        KerascopeWarning, match=r"damaged.*previous backup is used: .*training.previous.zip'"
    ):
        assert plain_fit(folder, double_checkpoint=True).history == expected
    assert [path.name for path in folder.iterdir()] == ["training.damaged.zip"]
    assert (folder / "training.damaged.zip").read_bytes() == b"damaged"


def hostile(change):
    """Return a function that rewrites a backup after `change(state)`."""

    def rewrite(file):
        state = read_state(file)
        change(state)
        with file.open("wb") as opened:
            write_state(opened, state)

    return rewrite


def a_far_place_in_a_table(state):
    state["generators"]["numpy"]["state"]["pos"] = 10**9


def a_short_table(state):
    state["generators"]["numpy"]["state"]["key"] = np.zeros(3, "uint32")


def a_method(state):
    state["callbacks"]["History 1"]["values"]["on_epoch_end"] = "x"


def a_dict(state):
    state["callbacks"]["History 1"]["values"]["__dict__"] = {}


def a_class(state):
    state["callbacks"]["History 1"]["values"]["__class__"] = 5


HOSTILE = {
    "no state": hostile(lambda state: state.clear()),
    "no variables": hostile(lambda state: state.update(variables=[])),
    "place": hostile(lambda state: state.update(place=("a", -1))),
    "far place": hostile(lambda state: state.update(place=(-3, 0))),
    "feeds": hostile(lambda state: state.update(feeds=7)),
    "order": hostile(lambda state: state["feeds"]["training"]["place"].update(order_seed="x")),
    "generators": hostile(lambda state: state.update(generators={"numpy": 1, "python": 2})),
    "callbacks": hostile(lambda state: state.update(callbacks={"History 1": 3})),
    "a far place in a table": hostile(a_far_place_in_a_table),
    "a short table": hostile(a_short_table),
    "a method": hostile(a_method),
    "a class": hostile(a_class),
    "a dict": hostile(a_dict),
    "means": hostile(lambda state: state["callbacks"]["BaseLogger 1"].update(own=[1, 2])),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_file_that_somebody_forged_is_refused(what, tmp_path):
    file = interrupted(tmp_path)
    HOSTILE[what](file)
    before = file.read_bytes()
    with pytest.raises(ConfigError, match="BackupAndRestore|the callback"):
        plain_fit(tmp_path)
    assert file.read_bytes() == before


def test_a_forged_file_decides_on_no_file_that_is_written(tmp_path):
    def logger():
        return cb.CSVLogger(tmp_path / "log.csv")

    folder, elsewhere = tmp_path / "backup", tmp_path / "elsewhere.csv"
    with pytest.raises(Stop):
        plain_fit(folder, extra=[logger(), stop_at("on_epoch_begin", 3)])
    values = {"filename": elsewhere}
    hostile(lambda state: state["callbacks"]["CSVLogger 1"]["values"].update(values))(
        folder / "training.zip"
    )
    plain_fit(folder, extra=[logger()])
    assert not elsewhere.exists()
    assert len((tmp_path / "log.csv").read_text("utf-8").splitlines()) == 4


FORGED_MEMBERS = {
    "longer array": lambda name, content: (name, content + b"1234" * ("arrays/0" in name)),
    "shorter array": lambda name, content: (name, content[:-4] if "arrays/0" in name else content),
    "other array": lambda name, content: (name, content.replace(b"(3, 2)", b"(2, 3)")),
    "other format": lambda name, content: (name, content.replace(b"of training 1", b"of it")),
    "other name": lambda name, content: (name.replace("arrays/1.", "arrays/one."), content),
}


@pytest.mark.parametrize("what", [*FORGED_MEMBERS, "packed", "one more"])
def test_an_archive_that_is_not_as_ours_is_refused(what, tmp_path):
    file = interrupted(tmp_path)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change = FORGED_MEMBERS.get(what, lambda *member: member)
    packing = zipfile.ZIP_DEFLATED if what == "packed" else zipfile.ZIP_STORED
    with zipfile.ZipFile(file, "w", packing) as archive:
        for member in members.items():
            archive.writestr(*change(*member))
        if what == "one more":
            archive.writestr("more", b"")
    with pytest.raises(ConfigError, match="is damaged or not a backup"):
        read_state(file)


def test_what_is_in_memory_and_on_the_disk_is_the_same_before_anything_is_said(
    tmp_path, monkeypatch
):
    """The file is brought to the disk before it gets its name, the name before `write` returns."""
    done, fsync, replace = [], os.fsync, Path.replace

    def noted_fsync(number):
        done.append("folder" if stat.S_ISDIR(os.fstat(number).st_mode) else "file")
        fsync(number)

    def noted_replace(path, target):
        done.append("rename")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    BackupFolder(tmp_path).write({"a": 1})
    assert done == ["file", "rename", *(["folder"] if os.name != "nt" else [])]


def test_a_lock_that_was_removed_meanwhile_is_made_anew(tmp_path, monkeypatch):
    """Its holder deletes it at the end, perhaps just when another run has opened it."""
    try_lock, calls = backup_folder._try_lock, []

    def late(number):
        calls.append(number)
        if len(calls) == 1:
            (tmp_path / "training.lock").unlink()
        return try_lock(number)

    monkeypatch.setattr(backup_folder, "_try_lock", late)
    folder = BackupFolder(tmp_path)
    with folder.locked():
        assert os.path.samestat(os.fstat(folder._lock), os.stat(tmp_path / "training.lock"))
    assert len(calls) == 2


@pytest.mark.parametrize("what", ["no variables", "place", "feeds", "callbacks"])
def test_no_callback_hears_of_a_training_that_is_refused(what, tmp_path):
    HOSTILE[what](interrupted(tmp_path))
    told = []
    with pytest.raises(ConfigError):
        plain_fit(tmp_path, extra=[cb.LambdaCallback(on_train_begin=told.append)])
    assert not told


def test_weights_may_have_begun_otherwise_but_not_be_used_otherwise(tmp_path):
    def made(function, first="zeros"):
        return compiled([Dense(1, input_shape=(3,), kernel_initializer=first), Lambda(function)])

    interrupted(tmp_path, model=made(lambda x: x * 2))
    with pytest.raises(ConfigError, match=r"graph of training\[\d+\]: 'mul.*' there, 'add' here"):
        plain_fit(tmp_path, model=made(lambda x: x + 2))
    plain_fit(tmp_path, model=made(lambda x: x * 2, first="ones"))


def other_values(what):
    """Return how other data of the same shapes are given to `fit`, by what differs."""
    rng = np.random.default_rng(4)
    x, y, weights = rng.random((40, 3)), rng.random((40, 1)), rng.random(40)
    return {
        "x": {"x": x[::-1], "y": y, "sample_weight": weights},
        "y": {"x": x, "y": 1 - y, "sample_weight": weights},
        "sample_weight": {"x": x, "y": y, "sample_weight": weights / 2},
        "validation_data": {
            **{"x": x, "y": y, "sample_weight": weights},
            "validation_data": (x / 2, y),
        },
    }.get(what) or {"x": x, "y": y, "sample_weight": weights}


@pytest.mark.parametrize("steps", [{}, {"steps_per_epoch": 3, "validation_steps": 1}])
@pytest.mark.parametrize("what", ["x", "y", "sample_weight", "validation_data"])
def test_other_data_of_the_same_shape_are_refused(what, steps, tmp_path):
    def fit(data, *extra):
        np.random.seed(1)
        backup = cb.BackupAndRestore(tmp_path)
        given = {"validation_data": (data["x"], data["y"]), **data, **steps}
        model = compiled(layers())
        return model.fit(**given, epochs=3, verbose=0, callbacks=[backup, *extra])

    data = other_values(None)
    with pytest.raises(Stop):
        fit(data, stop_at("on_epoch_begin", 2))
    other = {"validation_data": (data["x"], data["y"]), **other_values(what)}
    with pytest.raises(ConfigError, match=r"checksum of some rows of array.* there, .* here"):
        fit(other)
    assert fit(data).epoch == [0, 1, 2]


# --- a second model in a callback -----------------------------------------------------------------


class TrainsAnother(cb.Callback):
    """Trains the judge of a GAN, which the model of `fit` has in it."""

    def __init__(self, judge, maker):
        self.step = lambda: (
            judge.train_on_batch(np.random.rand(8, 4), np.ones((8, 1))),
            judge.train_on_batch(maker.predict(np.random.rand(8, 3)), np.zeros((8, 1))),
        )

    def on_batch_begin(self, batch, logs=None):
        self.step()


class TellsOfIt(TrainsAnother):
    def __init__(self, judge, maker):
        super().__init__(judge, maker)
        self.slots = lambda: judge.optimizer.get_weights()

        def set_slots(state):
            judge._make_train_function()
            judge.optimizer.set_weights(state)

        self.set_slots = set_slots

    def get_state(self):
        return self.slots()

    def set_state(self, state):
        self.set_slots(state)


@pytest.mark.filterwarnings("ignore:.*Discrepancy between trainable weights")
class TestGan:
    def trained(self, folder, kind, *extra, save_freq=1):
        np.random.seed(0)
        noise, fact = Input((3,)), Input((4,))
        maker, judge = Model(noise, Dense(4)(noise)), Model(fact, Dense(1, "sigmoid")(fact))
        judge.compile("adam", "binary_crossentropy")
        judge.trainable = False
        both = Model(noise, judge(maker(noise)))
        both.compile("adam", "binary_crossentropy")
        told = [] if kind is None else [kind(judge, maker)]
        backup = cb.BackupAndRestore(folder, save_freq=save_freq)
        rows = np.random.rand(24, 3), np.ones((24, 1))
        both.fit(*rows, 8, 4, verbose=0, callbacks=[*told, backup, *extra])
        arrays = [*both.get_weights(), *judge.optimizer.get_weights()]
        return [np.asarray(array).tobytes() for array in arrays]

    @pytest.mark.parametrize("save_freq", ["epoch", 1])
    def test_a_callback_that_trains_another_model_is_told_what_is_missing(
        self, save_freq, tmp_path
    ):
        with pytest.warns(
            KerascopeWarning, match="frozen weight .* changed during training"
        ) as told:
            self.trained(tmp_path, TrainsAnother, save_freq=save_freq)
        assert sum("frozen weight" in str(one.message) for one in told) == 1

    def test_with_its_state_told_it_goes_on_bit_for_bit_and_nothing_is_warned_of(self, tmp_path):
        expected = self.trained(tmp_path / "a", TellsOfIt)
        for n in (5, 4):
            with pytest.raises(Stop):
                self.trained(tmp_path / "b", TellsOfIt, stop_at("on_batch_end", n))
        assert self.trained(tmp_path / "b", TellsOfIt) == expected

    @pytest.mark.parametrize("save_freq", ["epoch", 1])
    def test_that_a_model_without_a_weight_in_common_is_trained_is_noticed(
        self, save_freq, tmp_path
    ):
        other = compiled([Dense(1, input_shape=(3,))])
        x = np.ones((4, 3))
        trains = cb.LambdaCallback(on_batch_end=lambda *_: other.train_on_batch(x, x[:, :1]))
        with pytest.warns(KerascopeWarning, match="was trained during this training") as told:
            plain_fit(tmp_path, extra=[trains], save_freq=save_freq)
        assert sum(f"the model {other.name!r}" in str(one.message) for one in told) == 1

    def test_models_that_were_trained_before_are_no_matter(self, tmp_path):
        other = compiled([Dense(1, input_shape=(3,))])
        other.train_on_batch(np.ones((4, 3)), np.ones((4, 1)))
        asks = cb.LambdaCallback(on_batch_end=lambda *_: other.predict(np.ones((4, 3))))
        plain_fit(tmp_path, extra=[asks])

    def test_weights_that_nobody_changes_are_no_matter(self, tmp_path):
        self.trained(tmp_path, None)


# --- several fits of one script -------------------------------------------------------------------


def folds(make_backup, *extra):
    """Train a model on each of three thirds; return their weights."""
    as_in_a_new_process()
    found = []
    for seed in range(3):
        np.random.seed(seed)
        model = compiled(layers())
        x = np.random.default_rng(seed).random((12, 3))
        model.fit(x, x[:, :1], epochs=3, verbose=0, callbacks=[make_backup(seed), *extra])
        found.append([array.tobytes() for array in model.get_weights()])
    return found


def test_what_a_finished_fit_left_is_not_taken_by_the_next_one(tmp_path):
    with pytest.raises(
        ConfigError, match="belongs to fit number 1 of its script.* this is number 2"
    ):
        folds(lambda seed: cb.BackupAndRestore(tmp_path, delete_checkpoint=False))


@pytest.mark.parametrize("n", [5, 8])
def test_the_backup_of_another_fit_of_the_script_is_refused(n, tmp_path):
    def shared(seed):
        return cb.BackupAndRestore(tmp_path / "shared", save_freq=1)

    with pytest.raises(Stop):
        folds(shared, stop_at("on_epoch_begin", n))
    file = tmp_path / "shared" / "training.zip"
    before = file.read_bytes()
    number = (n - 1) // 3 + 1
    words = rf"fit number {number} of its script.*this is number 1. Give each fit its own folder"
    with pytest.raises(ConfigError, match=words):
        folds(shared)
    assert file.read_bytes() == before


def test_fits_with_folders_of_their_own_go_on_each_for_itself(tmp_path):
    def own(seed):
        return cb.BackupAndRestore(tmp_path / str(seed), save_freq=1, delete_checkpoint=False)

    expected = folds(lambda seed: cb.Callback())
    for n in (2, 2, 3, 2):
        with pytest.raises(Stop):
            folds(own, stop_at("on_epoch_begin", n))
    assert folds(own) == expected


def test_a_fit_after_others_in_a_process_goes_on_after_an_exception(tmp_path):
    expected = plain_fit(tmp_path / "other", epochs=4).history
    plain_fit(tmp_path, epochs=2)
    with pytest.raises(Stop):
        plain_fit(tmp_path, epochs=4, extra=[stop_at("on_epoch_begin", 2)])
    with pytest.warns(KerascopeWarning, match="backup of fit number 2 .* its own folder"):
        assert plain_fit(tmp_path, epochs=4).history == expected


# --- where the data come from ---------------------------------------------------------------------


def fit_on(source, folder, n=None, **options):
    """Train on a source of batches; with `n` the run is ended before its n-th batch."""
    given = {name: options.pop(name) for name in ("workers", "steps_per_epoch") if name in options}
    np.random.seed(1)
    model = compiled(layers())
    extra = [] if n is None else [stop_at("on_batch_begin", n)]
    backup = cb.BackupAndRestore(folder, **{"save_freq": 1, **options})
    return model.fit(source, epochs=2, verbose=0, callbacks=[backup, *extra], **given)


def batches():
    rng = np.random.default_rng(3)
    while True:
        yield rng.random((4, 3)), rng.random((4, 1))


def test_a_generator_is_refused_or_read_forward(tmp_path):
    with pytest.raises(
        DataError, match=r"place of a generator cannot be stored.*read_forward=True"
    ):
        fit_on(batches(), tmp_path, steps_per_epoch=3)
    with pytest.raises(DataError, match=r"workers prefetch from the generator.*workers=0"):
        fit_on(batches(), tmp_path, steps_per_epoch=3, workers=1)
    with pytest.raises(DataError, match="place of a list_iterator cannot be stored"):
        fit_on(iter([next(batches())] * 9), tmp_path, steps_per_epoch=3)
    assert not list(tmp_path.glob("*.zip"))


@pytest.mark.parametrize("workers", [0, 1])
def test_reading_forward_counts_batches_that_were_trained_on(workers, tmp_path):
    options = {"steps_per_epoch": 3, "workers": workers, "read_forward": True}
    expected = fit_on(batches(), tmp_path / "a", **options).history
    with pytest.raises(Stop):
        fit_on(batches(), tmp_path / "b", n=5, **options)
    used = batches()
    next(used)
    with pytest.raises(DataError, match="expected a new generator, got a used"):
        fit_on(used, tmp_path / "b", **options)
    with pytest.raises(DataError, match="expected the 4 batches of the interrupted run, got 2"):
        fit_on((next(batches()) for _ in range(2)), tmp_path / "b", **options)
    assert fit_on(batches(), tmp_path / "b", **options).history == expected


class Rows(scenarios.Sequence):
    """Twelve batches, with whatever else a test gives it."""

    def __init__(self, size=4, folder="here", rows=None):
        self.size, self.folder = size, folder
        self.rows = np.arange(144.0).reshape(48, 3) % 7 if rows is None else rows
        self.calls = 0

    def __len__(self):
        return 4

    def __getitem__(self, number):
        x = self.rows[number * self.size : (number + 1) * self.size]
        return x, x[:, :1]


class Counting(Rows):
    counts = True

    def __getitem__(self, number):
        self.calls += self.counts
        return super().__getitem__(number)


def test_a_sequence_of_other_data_is_refused(tmp_path):
    large = np.random.default_rng(1).random((50_000, 3))
    for made, other, words in [
        (Rows, lambda: Rows(size=5), "expected size=4 as in the backed-up run, got 5"),
        (
            lambda: Rows(rows=large),
            lambda: Rows(rows=large[::-1]),
            "'rows' differs from the backed-up run",
        ),
    ]:
        with pytest.raises(Stop):
            fit_on(made(), tmp_path, n=6)
        with pytest.raises(ConfigError, match=words):
            fit_on(other(), tmp_path)
        fit_on(made(), tmp_path)
        as_in_a_new_process()


def test_a_sequence_may_have_moved_to_another_folder(tmp_path):
    with pytest.raises(Stop):
        fit_on(Rows(folder="there"), tmp_path, n=6)
    source = Rows(folder="here")
    fit_on(source, tmp_path)
    assert source.folder == "here"


def test_workers_that_change_their_sequence_are_waited_for_until_the_end_of_the_epoch(tmp_path):
    with pytest.warns(KerascopeWarning, match=r"changes the Counting.*ends of epochs") as told:
        expected = fit_on(Counting(), tmp_path / "a", workers=2).history
    assert len(told) == 1
    with pytest.raises(Stop), pytest.warns(KerascopeWarning, match="ends of epochs"):
        fit_on(Counting(), tmp_path / "b", n=7, workers=2)
    assert read_state(tmp_path / "b" / "training.zip")["place"] == (1, 0)
    with pytest.warns(KerascopeWarning, match="ends of epochs"):
        assert fit_on(Counting(), tmp_path / "b", workers=2).history == expected
    fit_on(Counting(), tmp_path / "c", workers=2, save_freq="epoch")
    fit_on(Rows(), tmp_path / "d", workers=2)


def test_nor_are_they_read_ahead_in_the_epoch_with_which_a_run_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(Counting, "counts", False)
    with pytest.raises(Stop):
        fit_on(Counting(), tmp_path, n=7, workers=2)
    monkeypatch.setattr(Counting, "counts", True)
    with pytest.warns(KerascopeWarning, match="producing a batch changes the Counting"):
        fit_on(Counting(), tmp_path, workers=2)


class Reordered(Rows):
    """Its order is shuffled when it was passed over, which is not at the end of an epoch."""

    def on_epoch_end(self):
        self.rows = np.random.permutation(self.rows)


def test_a_pass_that_ends_inside_of_an_epoch_does_not_end_the_training(tmp_path):
    options = {"workers": 2, "steps_per_epoch": 3}
    with pytest.warns(KerascopeWarning, match="producing a batch changes the Reordered") as told:
        expected = fit_on(Reordered(), tmp_path / "a", **options).history
    assert len(told) == 1
    with pytest.raises(Stop), pytest.warns(KerascopeWarning, match="changes the Reordered"):
        fit_on(Reordered(), tmp_path / "b", n=6, **options)
    resumed = fit_on(Reordered(), tmp_path / "b", **{**options, "save_freq": "epoch"})
    assert resumed.history == expected
    assert resumed.epoch == [0, 1]


@pytest.mark.parametrize("is_plain", [True, False])
def test_a_model_that_learned_its_shapes_from_the_first_batch_goes_on(is_plain, tmp_path):
    def losses(folder, *extra):
        np.random.seed(1)
        rows = scenarios.rows_and_targets()
        made = scenarios.plain_generator(*rows) if is_plain else scenarios.Telling(*rows)
        model = compiled([Dense(2), Dropout(0.5), Dense(1)])
        backup = cb.BackupAndRestore(folder, save_freq=2, read_forward=is_plain)
        callbacks = [backup, *extra]
        fitted = model.fit(made, steps_per_epoch=5, epochs=3, verbose=0, callbacks=callbacks)
        return fitted.history

    for n in (4, 9):
        with pytest.raises(Stop):
            losses(tmp_path / "a", stop_at("on_batch_begin", n))
    assert losses(tmp_path / "a") == losses(tmp_path / "b")


# --- callbacks of one's own -----------------------------------------------------------------------


class WithClock(cb.Callback):
    """Has something that no file can hold."""

    def __init__(self):
        self.clock = object()

    def on_epoch_end(self, epoch, logs=None):
        self.other = object()


class Telling(WithClock):
    """Says itself what it remembers."""

    def __init__(self):
        super().__init__()
        self.secret = iter([1, 2, 3, 4])
        self.seen = 0

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, logs)
        self.seen = next(self.secret)

    def get_state(self):
        return {"position": self.seen}

    def set_state(self, state):
        self.secret = iter([1, 2, 3, 4][state["position"] :])


def test_a_callback_that_cannot_be_kept_is_told_of_once(tmp_path):
    with pytest.warns(KerascopeWarning) as caught:
        plain_fit(tmp_path, extra=[WithClock()])
    words = [str(warning.message) for warning in caught]
    assert len(words) == 2
    for name, text in zip(("clock", "other"), words, strict=True):
        assert f"the callback WithClock: its attribute '{name}' is a object" in text
        assert "get_state() and set_state(state)" in text


def test_a_callback_says_what_its_attributes_do_not_tell(tmp_path):
    with pytest.raises(Stop):
        plain_fit(tmp_path, extra=[Telling(), stop_at("on_epoch_begin", 3)])
    resumed = Telling()
    plain_fit(tmp_path, extra=[resumed], epochs=4)
    assert resumed.seen == 4


class Unable(Telling):
    def set_state(self, state):
        raise RuntimeError("no")


class Wrong(Telling):
    def get_state(self):
        return object()


def test_a_state_that_is_no_data_or_is_not_taken_back_is_refused(tmp_path):
    with pytest.raises(
        TypeError, match=r"the callback Wrong: get_state\(\) must return plain data"
    ):
        plain_fit(tmp_path, extra=[Wrong()])
    with pytest.raises(Stop):
        plain_fit(tmp_path, extra=[Unable(), stop_at("on_epoch_begin", 3)])
    with pytest.raises(
        ConfigError, match="the callback Unable: set_state failed: RuntimeError: no"
    ):
        plain_fit(tmp_path, extra=[Unable()])


class Numbered(cb.Callback):
    """Writes another file in each epoch."""

    def __init__(self, path):
        self.path = path

    def on_epoch_end(self, epoch, logs=None):
        self.path = f"{epoch}.txt"


def test_a_path_is_what_the_script_says_and_a_warning_says_so(tmp_path):
    with pytest.warns(KerascopeWarning, match="Numbered: its attribute 'path' is a str") as caught:
        plain_fit(tmp_path, extra=[Numbered("first.txt")])
    assert len(caught) == 1


def test_the_figures_for_tensorboard_are_in_one_file(tmp_path):
    board, folder = tmp_path / "board", tmp_path / "backup"
    expected = plain_fit(folder, extra=[cb.TensorBoard(tmp_path / "other")]) and [
        scenarios.events_in(path) for path in (tmp_path / "other").iterdir()
    ]
    as_in_a_new_process()
    with pytest.raises(Stop):
        plain_fit(folder, extra=[cb.TensorBoard(board), stop_at("on_epoch_begin", 3)])
    notes = board / "events.out.tfevents.notes"
    notes.write_text("not a file of events", encoding="utf-8")
    state = read_state(folder / "training.zip")
    plain_fit(folder, extra=[cb.TensorBoard(board)])
    notes.unlink()
    assert [scenarios.events_in(path) for path in board.iterdir()] == expected
    notes.write_text("not a file of events", encoding="utf-8")
    state["callbacks"]["TensorBoard 1"]["own"].update(name=notes.name, length=3)
    folder.mkdir()
    with (folder / "training.zip").open("wb") as file:
        write_state(file, state)
    as_in_a_new_process()
    plain_fit(folder, extra=[cb.TensorBoard(board)])
    assert notes.read_text(encoding="utf-8") == "not a file of events"


def test_callbacks_that_came_or_went_are_told_of(tmp_path):
    with pytest.raises(Stop):
        plain_fit(tmp_path, extra=[cb.EarlyStopping("loss"), stop_at("on_epoch_begin", 3)])
    with pytest.warns(KerascopeWarning) as caught:
        plain_fit(tmp_path, extra=[cb.ReduceLROnPlateau("loss")])
    words = " ".join(str(warning.message) for warning in caught)
    assert "the callback EarlyStopping 1 is missing in this run" in words
    assert "the callback ReduceLROnPlateau 1 is new" in words


def test_what_the_script_says_today_counts_and_what_training_changed_comes_back(tmp_path):
    class Patient(cb.Callback):
        def __init__(self, patience, left=3):
            self.patience, self.left = patience, left

        def on_epoch_end(self, epoch, logs=None):
            self.left -= 1

    with pytest.raises(Stop):
        plain_fit(tmp_path, extra=[Patient(5), stop_at("on_epoch_begin", 3)])
    patient = Patient(7)
    plain_fit(tmp_path, extra=[patient])
    assert (patient.patience, patient.left) == (7, 0)


# --- the folder -----------------------------------------------------------------------------------


def test_two_runs_in_one_folder_are_refused_and_a_dead_one_holds_nothing(tmp_path):
    folder = tmp_path / "backup"
    within = cb.LambdaCallback(on_epoch_begin=lambda epoch, logs: plain_fit(folder))
    with pytest.raises(UnavailableError, match="in use by another fit of this process"):
        plain_fit(folder, extra=[within])
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from test_backup import plain_fit; "
        "from pathlib import Path; plain_fit(Path(sys.argv[2]))"
    )

    def in_a_process(*arguments):
        words = [sys.executable, "-c", code, str(PROGRAM.parent), str(folder)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        texts.append(done.stderr)
        raise Stop

    texts = []
    with pytest.raises(Stop):
        plain_fit(folder, extra=[cb.LambdaCallback(on_epoch_begin=in_a_process)])
    assert "in use by another process. Wait for the other run" in texts[0]
    assert (folder / "training.lock").exists()
    assert len(plain_fit(folder).epoch) == 3
    assert not folder.exists()


def test_where_nothing_can_be_locked_a_warning_says_so(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def lockf(number, how):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "lockf", lockf)
    with pytest.warns(KerascopeWarning, match="cannot be locked.*No locks available"):
        plain_fit(tmp_path)


def test_other_files_stay_and_those_of_dead_writers_go(tmp_path):
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    left = tmp_path / ".training.zip.123.unfinished"
    left.write_bytes(b"half")
    interrupted(tmp_path)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["notes.txt", "training.lock", "training.zip"]
    plain_fit(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_finished_run_that_keeps_its_backup_trains_no_more(tmp_path, capsys):
    first = plain_fit(tmp_path, delete_checkpoint=False)
    as_in_a_new_process()
    told = []
    ear = cb.LambdaCallback(on_epoch_begin=lambda epoch, logs: told.append(epoch))
    again = plain_fit(tmp_path, delete_checkpoint=False, extra=[ear], verbose=2)
    assert again.history == first.history
    assert not told
    assert "training ended after epoch 3, from" in capsys.readouterr().out
    as_in_a_new_process()
    more = plain_fit(tmp_path, delete_checkpoint=False, epochs=5, extra=[ear])
    assert told == [3, 4]
    assert more.history == plain_fit(tmp_path / "other", epochs=5).history


def test_a_disk_that_is_full_is_told_and_the_old_backup_stays(tmp_path, monkeypatch):
    file = interrupted(tmp_path)
    before = file.read_bytes()

    def fsync(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(UnavailableError, match="no space left"):
        plain_fit(tmp_path)
    assert file.read_bytes() == before
    assert not list(tmp_path.glob("*.unfinished"))
    assert not list(tmp_path.glob(".*.unfinished"))


@pytest.mark.parametrize(
    "save_freq",
    [0, -1, 2.5, False, True, "batch", None, np.array([1, 2]), np.array("epoch"), [1]],
    ids=repr,
)
def test_a_frequency_that_makes_no_sense_is_refused(save_freq, tmp_path):
    with pytest.raises(ArgumentError, match=r"expected save_freq 'epoch' or a number of ba"):
        cb.BackupAndRestore(tmp_path, save_freq=save_freq)


def test_a_folder_that_makes_no_sense_is_refused(tmp_path):
    for name in (None, ""):
        with pytest.raises(ArgumentError, match="as backup_dir, got none"):
            cb.BackupAndRestore(name)
    for name in (b"abc", 3, True, ["a"]):
        with pytest.raises(
            ArgumentError, match=r"expected the path of a folder as backup_dir, a str"
        ):
            cb.BackupAndRestore(name)
    with pytest.raises(ArgumentError, match="expected a folder as backup_dir, got"):
        cb.BackupAndRestore(str(tmp_path / "a\0b"))
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(ArgumentError, match="expected a folder as backup_dir, got the file"):
        cb.BackupAndRestore(tmp_path / "file")
    with pytest.raises(UnavailableError, match="cannot use the folder"):
        plain_fit(tmp_path / "file" / "below")


@pytest.mark.skipif(os.name == "nt", reason="there are no such names and files")
def test_a_folder_that_the_system_does_not_know_is_refused_with_words(tmp_path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    for name in ("n" * 300, "circle", "circle/below"):
        with pytest.raises(ArgumentError, match="expected a folder as backup_dir, got"):
            cb.BackupAndRestore(tmp_path / name)
    backup = cb.BackupAndRestore(tmp_path / "later")
    (tmp_path / "later").symlink_to(tmp_path / "later")
    with pytest.raises(UnavailableError, match="cannot use the folder"):
        compiled(layers()).fit(np.ones((2, 3)), np.ones((2, 1)), verbose=0, callbacks=[backup])


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
def test_a_pipe_with_the_name_of_a_backup_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "training.zip")
    with pytest.raises(UnavailableError, match="is not a file. Move it away"):
        plain_fit(tmp_path)


def test_a_folder_that_is_removed_while_training_is_made_again(tmp_path):
    folder = tmp_path / "backup"
    remove = acting_at("on_epoch_begin", 2, lambda: shutil.rmtree(folder))
    with pytest.raises(Stop):
        plain_fit(folder, extra=[remove, stop_at("on_epoch_begin", 3)])
    assert sorted(path.name for path in folder.iterdir()) == ["training.lock", "training.zip"]
    expected = plain_fit(tmp_path / "other").history
    assert plain_fit(folder).history == expected


def test_a_folder_is_where_it_was_when_it_was_named(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    leave = acting_at("on_epoch_begin", 2, lambda: os.chdir(tmp_path / "elsewhere"))
    with pytest.raises(Stop):
        plain_fit("backup", extra=[leave, stop_at("on_epoch_begin", 3)])
    assert not list((tmp_path / "elsewhere").iterdir())
    assert read_state(tmp_path / "backup" / "training.zip")["place"] == (2, 0)


def test_two_of_them_are_refused_before_anything_is_written(tmp_path):
    with pytest.raises(
        ArgumentError, match="expected one BackupAndRestore among the callbacks, got two"
    ):
        plain_fit(tmp_path / "a", extra=[cb.BackupAndRestore(tmp_path / "b")])
    assert not list(tmp_path.iterdir())


def test_one_backup_is_enough_and_only_fit_can_be_begun_in_its_middle(tmp_path):
    interrupted(tmp_path / "a")
    interrupted(tmp_path / "b")
    with pytest.raises(ArgumentError, match="expected one BackupAndRestore"):
        plain_fit(tmp_path / "a", extra=[cb.BackupAndRestore(tmp_path / "b")])
    with pytest.raises(ArgumentError, match=r"needs model.fit or model.fit_generator"):
        cb.BackupAndRestore(tmp_path).on_train_begin()


def test_who_reads_the_output_is_told_where_training_goes_on(tmp_path, capsys):
    x, y = np.random.rand(30, 3), np.random.rand(30, 1)
    with pytest.raises(Stop):
        plain_fit(tmp_path, data=(x, y), extra=[stop_at("on_epoch_begin", 3)])
    model = compiled(layers())
    backup = cb.BackupAndRestore(tmp_path)
    with pytest.warns(KerascopeWarning, match="other seeds"):
        model.fit(x, y, epochs=3, verbose=2, callbacks=[backup])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("BackupAndRestore: training continues at epoch 3, from ")
    assert lines[1] == "Epoch 3/3"


# --- plain data -----------------------------------------------------------------------------------

VALUES = [
    *(None, True, 3, -(10**30), 0.1, float("inf"), -0.0, "text \u00e9 \ud800", b"\0\xff", 1 + 2j),
    *(
        (),
        (1, (2,)),
        [],
        [1, [2]],
        {},
        {"a": {1: (2.5,)}},
        {3, 1},
        frozenset({"a"}),
        range(1, 9, 2),
    ),
    *(np.float32(0.1), np.int8(-3), np.bool_(True), np.datetime64("2020-01-01"), Path("a/b")),
    *(np.zeros((0, 3)), np.array(2.0), np.arange(6.0).reshape(2, 3).T, np.array(["a", "bc"])),
    *(np.array([1, 2], ">i4"), np.array([1 + 2j]), np.array([True]), np.float16([1.5])),
    *(OrderedDict(b=1, a=2), deque([1, (2,)], 3), deque()),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_plain_data_come_back_as_they_were(value, tmp_path):
    with (tmp_path / "file").open("wb") as file:
        write_state(file, {"value": value})
    found = read_state(tmp_path / "file")["value"]
    assert type(found) is type(value)
    assert getattr(found, "dtype", None) == getattr(value, "dtype", None)
    assert getattr(found, "shape", None) == getattr(value, "shape", None)
    assert repr(found) == repr(value)


def test_what_is_not_plain_is_refused_by_its_type():
    class Number(int):
        pass

    deep = []
    deep.append(deep)
    for value in (object(), Number(3), lambda: 0, np.array([object()]), deep, [1, (print,)]):
        with pytest.raises(TypeError, match="plain data"):
            as_plain(value, [])


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"array": 0},
        {"array": -1},
        {"scalar": ["O", ""]},
        {"scalar": ["<f8", "AAAA"]},
        {"dict": [[1]]},
        {"set": [[1]]},
        {"range": [1, 2, 0]},
        {"Generator": {"dict": [["bit_generator", "system"]]}},
        {"object": []},
        {"tuple": 1},
        {"a": 1, "b": 2},
    ],
    ids=str,
)
def test_what_no_plain_data_become_is_refused(data):
    with pytest.raises(ConfigError):
        from_plain(data, [])


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_no_state_of_a_generator_leads_out_of_its_tables(name):
    arrays = []
    data = as_plain(np.random.Generator(getattr(np.random, name)(1)), arrays)
    assert isinstance(from_plain(data, arrays), np.random.Generator)
    for number in range(len(arrays)):
        shorter = [*arrays]
        shorter[number] = arrays[number][:1]
        with pytest.raises(ConfigError, match="needs the shape"):
            from_plain(data, shorter)
    text = json.dumps(data)
    for word in ("pos", "buffer_pos", "has_uint32"):
        forged = re.sub(rf'"{word}", \d+', f'"{word}", 1000', text)
        assert (forged == text) == (f'"{word}"' not in text)
        if forged != text:
            with pytest.raises(ConfigError, match=f"as '{word}', got 1000"):
                from_plain(json.loads(forged), arrays)


def test_generators_of_random_numbers_go_on_where_they_were():
    made = [
        np.random.default_rng(1),
        np.random.Generator(np.random.Philox(3)),
        np.random.RandomState(2),
        random.Random(3),
    ]
    for one in made:
        one.random()
        arrays = []
        again = from_plain(as_plain(one, arrays), arrays)
        assert [one.random() for _ in range(3)] == [again.random() for _ in range(3)]
