"""Going on with a run that was killed, as if nothing had happened: `BackupAndRestore`."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from kerascope.backend.variables import Variable
from kerascope.callbacks.backup_folder import (
    BackupFolder,
    Found,
    reading,
    set_state_of_global_generators,
    state_of_global_generators,
)
from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.callbacks.kept_state import KeptFeeds, KeptState, checksum, keeps_state
from kerascope.callbacks.monitor import say
from kerascope.callers import warn
from kerascope.errors import ArgumentError, ConfigError, DataError

_SET_BY_FIT = ("model", "params", "validation_data")
_ALWAYS_THERE = ("BaseLogger", "ProgbarLogger", "History")

_NEEDED = (
    *("fit", "facts", "place", "has_trained", "stop_training"),
    *("variables", "callbacks", "feeds", "seeds", "generators"),
)


@registry.register
class BackupAndRestore(Callback):
    """Lets `fit` go on where it was when it was killed, bit for bit.

    Run the same script again: if the folder has a backup, training goes on from it, in the middle
    of an epoch too, and ends with the very numbers of a run that nothing disturbed. When `fit` has
    finished, the backup is deleted.

    Parameters
    ----------
    backup_dir : path
        A folder for this `fit` alone: two of one script take two. Made if it is not there.
    save_freq : "epoch" or int
        When a backup is written: at the end of each epoch, or after so many batches. The first one
        is written when training begins.
    double_checkpoint : bool
        Keep the backup before the last one, too: it is taken if the last one is damaged.
    delete_checkpoint : bool
        Delete the backup when `fit` has finished. If not, the script, run again, finds a run that
        is over and trains no more, unless `epochs` has grown.
    read_forward : bool
        An argument of ours. A generator function cannot be told to begin in the middle: by default
        it is refused; with True it is asked for all batches that were trained on before.

    Notes
    -----
    A backup has the weights, the optimizer's slots and learning rate, the states of layers and
    metrics, the counts of random ops, the place in the epoch and in the shuffled data, what the
    other callbacks remember, the history (`fit` returns all of it), and the states of the global
    generators of NumPy and of `random`. `BackupAndRestore` is told of everything after all the
    other callbacks, so it knows what they did.

    When a run goes on, every callback hears `on_train_begin`, in the middle of an epoch also
    `on_epoch_begin`; then it is given its state of then. The state of a callback of your own is
    all of its attributes that are numbers, texts, arrays, or containers of them. What these do not
    tell, it can return as such data by a method `get_state()`, and get back by `set_state(state)`.
    What it wrote into files or printed since the last backup, it does again: `CSVLogger` and
    `TensorBoard` take their files back to where they were, `ModelCheckpoint` writes the same files
    once more, `RemoteMonitor` sends the same figures once more.

    Batches may come from arrays, a `Sequence`, or an iterator whose place is in its attributes, or
    in `get_state()` and `set_state(state)`, which for a source of batches tell everything. With
    workers, batches are made ahead: then only a `Sequence` can be backed up, and in the middle of
    an epoch only one whose batches depend on nothing but their number.

    Of another model that a callback trains, as the discriminator of a GAN, only the weights that
    are also in this one are in the backup. The rest that callback has to tell, by `get_state` and
    `set_state`: a warning says so when such weights were changed.

    What a script draws without a seed before `fit`, such as the seed of a `Dropout`, another
    process draws anew: a warning says if that matters. `keras.utils.set_random_seed(0)`, or
    `np.random.seed(0)`, at its top is all that is needed.

    Raises
    ------
    ArgumentError
        A bad folder or frequency.
    ConfigError
        When training begins: the backup is damaged, or is one of another model, optimizer, data
        or batch size, or of another `fit` of the script, or in an epoch behind the last. It stays
        as it is.
    DataError
        When training begins: nobody knows the place of the generator.
    UnavailableError
        When training begins: another run uses the folder.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import kerascope as ks
    >>> folder = Path(tempfile.mkdtemp(), "backup")
    >>> class Accident(ks.callbacks.Callback):
    ...     def on_epoch_begin(self, epoch, logs=None):
    ...         if epoch == 2:
    ...             raise RuntimeError("the power fails")
    >>> def run(*callbacks):
    ...     np.random.seed(0)
    ...     model = ks.Sequential([ks.layers.Dense(1, input_shape=(2,))])
    ...     model.compile("adam", "mse")
    ...     x, y = np.random.rand(40, 2), np.random.rand(40, 1)
    ...     history = model.fit(x, y, epochs=4, verbose=0, callbacks=list(callbacks))
    ...     return history.history["loss"]
    >>> run(ks.callbacks.BackupAndRestore(folder), Accident())
    Traceback (most recent call last):
        ...
    RuntimeError: the power fails
    >>> run(ks.callbacks.BackupAndRestore(folder)) == run()
    True
    """

    comes_last = True  # so that the others have done what they do at the same moment

    def __init__(
        self,
        backup_dir: str | os.PathLike[str],
        save_freq: str | int = "epoch",
        double_checkpoint: bool = False,
        delete_checkpoint: bool = True,
        *,
        read_forward: bool = False,
    ) -> None:
        self.backup_dir = check_folder_name(backup_dir)
        self.save_freq = checked_frequency(save_freq)
        self.double_checkpoint = double_checkpoint
        self.delete_checkpoint = delete_checkpoint
        self.read_forward = read_forward
        self._folder = BackupFolder(self.backup_dir, keeps_previous=double_checkpoint)
        self._run: Any = None
        self._found: Found | None = None
        self._callbacks: dict[str, KeptState] = {}
        self._feeds: KeptFeeds | None = None
        self._place = (0, 0)
        self._has_trained = False
        self._frozen: FrozenWeights | None = None
        self._number = 1  # of this fit, among those of the process with this folder
        self._epoch = 0
        self._batches = 0  # since the last backup
        self._is_late = False  # a backup that was due could not be written in the epoch
        if self.save_freq != "epoch":  # else nobody is called at each batch
            vars(self)["on_batch_end"] = self._count_batch

    # --- the beginning of a run -------------------------------------------------------------------

    def set_run(self, run: Any) -> None:
        """Receive what `fit` is about to do (an `engine.training_run.Run`); look for a backup.

        Nothing has been told to any callback yet, and nothing is changed if this fails.
        """
        if sum(isinstance(callback, BackupAndRestore) for callback in run.callbacks) > 1:
            raise ArgumentError(
                "fit: there are two BackupAndRestore among the callbacks; expected one "
                "BackupAndRestore, since one alone can say where training begins. For another copy "
                "of the weights, use ModelCheckpoint."
            )
        run.endings.enter_context(self._folder.held())
        run.endings.callback(self._let_go)
        self._run = run
        self._callbacks = _kept_callbacks(run.callbacks)
        self._feeds = KeptFeeds(run.feeds, self.read_forward)
        self._number = self._folder.finished + 1
        self._batches = 0
        self._is_late = False
        self._frozen = FrozenWeights(run.frozen, run.steps_of_others, self._callbacks.values())
        self._place = (run.initial_epoch, 0)
        self._has_trained = False
        self._found = self._of_this_run(self._folder.read())
        if self._found is not None:
            epoch, batch = self._found.state["place"]
            self._check_its_epoch(self._found, epoch, batch)
            run.begin_at(epoch, batch, self._restore)

    def _check_its_epoch(self, found: Found, epoch: int, batch: int) -> None:
        """Raise ConfigError if training would end before the epoch that a backup is in."""
        epochs = self.params.get("epochs", epoch + 1)
        if batch and epoch >= epochs:
            raise ConfigError(
                f"BackupAndRestore: {str(found.path)!r} is in epoch {epoch + 1}, batch {batch}; "
                f"epochs={epochs} ends before it, so there is no training that could go on. It "
                f"stays as it is. Expected epochs={epoch + 1} or more; to begin anew, move it away "
                "or choose another backup_dir."
            )

    def _of_this_run(self, found: Found | None) -> Found | None:
        """Return a backup that this run can go on from; one without training may be of another."""
        if found is None:
            return None
        try:
            with reading(found):
                self._check(found)
        except (ConfigError, DataError):
            if isinstance(found.state, dict) and found.state.get("has_trained") is False:
                return None
            raise
        return found

    def _let_go(self) -> None:
        self._run = self._found = self._frozen = None
        self._callbacks, self._feeds = {}, None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Write the first backup, unless there is one: the weights that training begins with."""
        if self._run is None:
            raise ArgumentError(
                "BackupAndRestore: this training has no beginning that could be moved; expected "
                "model.fit or model.fit_generator. Elsewhere, save the model yourself."
            )
        if self._found is None:
            self._write()

    # --- going on ---------------------------------------------------------------------------------

    def _check(self, found: Found) -> None:
        """Raise ConfigError if a backup is not one of this run."""
        state = found.state
        missing = [name for name in _NEEDED if not isinstance(state, dict) or name not in state]
        if missing:
            raise self._refusal(found, f"it lacks {', '.join(missing)}")
        if state["fit"] != self._number:
            there = shortened(state["fit"])
            raise self._refusal(
                found,
                f"it is of fit number {there} of its script with this folder, and this is number "
                f"{self._number}. Give each fit a folder of its own",
            )
        for name, here in self._run.facts.items():
            there = state["facts"].get(name)
            if there != here:
                raise self._refusal(found, difference(name, there, here))
        if not all(type(number) is int and number >= 0 for number in state["place"]):
            raise self._refusal(found, f"its place is {state['place']}")
        if not all({"values", "unchanged"} <= kept.keys() for kept in state["callbacks"].values()):
            raise self._refusal(found, "its callbacks are none")
        arrays = [(array.shape, array.dtype) for array in state["variables"]]
        variables = [(v.shape, np.dtype(v.dtype)) for v in self._run.variables]
        if arrays != variables:
            raise self._refusal(found, "its arrays are not the state of this model")
        assert self._feeds is not None
        self._feeds.check(state["feeds"])

    def _refusal(self, found: Found, reason: str) -> ConfigError:
        return ConfigError(
            f"BackupAndRestore: {str(found.path)!r} is the backup of another run: {reason}. It "
            "stays as it is. To begin anew, move it away or choose another backup_dir."
        )

    def _restore(self) -> None:
        """Let everything be as it was when the backup was written."""
        assert self._found is not None
        self._tell_of_differences(self._found.state)
        self._tell_of_other_fits(self._found)
        with reading(self._found):
            self._give_back(self._found.state)
        if self._has_trained and self.params.get("verbose"):
            say(f"BackupAndRestore: {self._place_in_words()}, says {self._found.path}.")
        self._found = None

    def _place_in_words(self) -> str:
        epoch, batch = self._place
        if batch:
            return f"training goes on at epoch {epoch + 1}, batch {batch}"
        if self.model.stop_training or epoch >= self.params.get("epochs", epoch + 1):
            return f"training ended after epoch {epoch}"
        return f"training goes on at epoch {epoch + 1}"

    def _give_back(self, state: Any) -> None:
        for variable, array in zip(self._run.variables, state["variables"], strict=True):
            variable.set_value(array)
        for name, kept in self._callbacks.items():
            if name in state["callbacks"]:
                kept.give_back(state["callbacks"][name])
        assert self._feeds is not None
        self._feeds.give_back(state["feeds"])
        self.model.stop_training = bool(state["stop_training"])
        set_state_of_global_generators(state["generators"])
        assert self._frozen is not None
        self._frozen.look()
        self._epoch, batch = state["place"]
        self._place = (self._epoch, batch)
        self._has_trained = bool(state["has_trained"])

    def _tell_of_differences(self, state: Any) -> None:
        if state["seeds"] != self._run.seeds:
            warn(
                "BackupAndRestore: random ops (Dropout, noise) were made with other seeds than in "
                "the run that goes on, so other numbers are drawn from here on. To go on bit for "
                "bit, begin the script with np.random.seed(0)."
            )
        there = state["callbacks"]
        here = {name: kept.take() for name, kept in self._callbacks.items()}
        for name in sorted(there.keys() ^ here.keys()):
            kept = there.get(name) or here[name]
            if name.split()[0] in _ALWAYS_THERE or not (kept["values"] or "own" in kept):
                continue
            what = "is not here any more" if name in there else "is new, and begins afresh"
            warn(f"BackupAndRestore: {name}, a callback of the run that goes on, {what}.")

    def _tell_of_other_fits(self, found: Found) -> None:
        """Say what nobody can know: which of the fits of a process a backup is of."""
        if self._number > 1 and found.state["has_trained"]:
            warn(
                f"BackupAndRestore: training goes on from {str(found.path)!r}, which was left by "
                f"the fit that followed {self._number - 1} finished in this folder. If this is "
                "another fit, as when an earlier cell of a notebook is run again, move it away, "
                "and give each fit a folder of its own."
            )

    # --- backups ----------------------------------------------------------------------------------

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Note the epoch."""
        self._epoch = epoch
        if self._feeds is not None and self.save_freq != "epoch":
            self._feeds.note()

    def _count_batch(self, batch: int, logs: Logs | None = None) -> None:
        """Write a backup, if it is time."""
        self._place = (self._epoch, batch + 1)
        self._has_trained = True
        self._batches += 1
        if self._batches >= int(self.save_freq):
            self._batches = 0
            self._write()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write a backup, if it is time."""
        self._place = (epoch + 1, 0)
        self._has_trained = True
        if self.save_freq == "epoch" or self._is_late:
            self._write()

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Delete the backup, or leave that of the finished run."""
        if self._found is not None:  # nobody has what is in it yet
            return
        if self.delete_checkpoint:
            self._folder.delete()
        else:
            self._write()
        self._folder.count_finished()

    def _write(self) -> None:
        run = self._run
        assert self._feeds is not None
        if self._place[1] and not self._feeds.is_known():
            self._is_late = True
            return
        self._is_late = False
        assert self._frozen is not None
        self._frozen.look()
        self._folder.write(
            {
                "fit": self._number,
                "facts": run.facts,
                "place": self._place,
                "has_trained": self._has_trained,
                "stop_training": bool(self.model.stop_training),
                "variables": [np.asarray(v.get_value()) for v in run.variables],
                "callbacks": {name: kept.take() for name, kept in self._callbacks.items()},
                "feeds": self._feeds.take(),
                "seeds": run.seeds,
                "generators": state_of_global_generators(),
            }
        )


def _kept_callbacks(callbacks: list[Any]) -> dict[str, KeptState]:
    """Return the states of callbacks by their names: "EarlyStopping 1"."""
    kept: dict[str, KeptState] = {}
    counts: Counter[str] = Counter()
    for callback in callbacks:
        if getattr(callback, "comes_last", False):
            continue
        label = type(callback).__name__
        counts[label] += 1
        name = f"{label} {counts[label]}"
        kept[name] = KeptState(callback, f"the callback {label}", _SET_BY_FIT)
    return kept


# --- weights that a run only reads ----------------------------------------------------------------
# If they change, somebody else trains them.


class FrozenWeights:
    """Looks at weights from backup to backup, and says once that they changed.

    In a GAN a callback trains the discriminator, whose weights the model of `fit` has in it and
    leaves as they are. They are in the backup, the optimizer of the discriminator is not. Of a
    model that shares no weight with that of `fit`, nothing is.

    Parameters
    ----------
    weights : list of Variable
    steps_of_others : callable
        Returns how many steps every other model was trained.
    callbacks : iterable of KeptState
        If one that a user wrote tells its state, nothing is said: its writer thought of it.
    """

    def __init__(
        self,
        weights: list[Variable],
        steps_of_others: Callable[[], dict[Any, int]],
        callbacks: Iterable[KeptState],
    ) -> None:
        self._is_over = any(map(_is_told_by_its_writer, callbacks))
        self._weights = weights
        self._steps_of_others = steps_of_others
        self._sums: list[Any] = []
        self._steps: WeakKeyDictionary[Any, int] | None = None  # there is no first look before

    def look(self) -> None:
        """Compare the weights with those of the last time.

        Warns
        -----
        KerascopeWarning
            They changed, or another model was trained; the first time only.
        """
        if self._is_over:
            return
        before, self._sums = self._sums, [checksum(w.get_value()) for w in self._weights]
        pairs = zip(self._weights, before, self._sums, strict=False)  # there is no first `before`
        changed = [weight for weight, was, now in pairs if was != now]
        steps, self._steps = self._steps, WeakKeyDictionary(self._steps_of_others())
        if changed:
            self._warn(
                f"{changed[0].name!r}, which this training only reads, was changed while it ran. "
                "If another model is trained in a callback, its optimizer is not in the backup: a "
                "run that goes on begins with a new one, and ends with other numbers. Give that "
                "callback get_state(), which returns what is missing (optimizer.get_weights()), "
                "and set_state(state)."
            )
            return
        if steps is None:
            return
        trained = [model.name for model, n in self._steps.items() if n != steps.get(model, 0)]
        if trained:
            self._warn(
                f"the model {sorted(trained)[0]!r} was trained while this training ran, and is not "
                "in its backup: a run that goes on begins with a new one. If a callback trains it "
                "on and on, give that callback get_state(), which returns what is missing "
                "(get_weights() of the model and of its optimizer), and set_state(state)."
            )

    def _warn(self, what: str) -> None:
        self._is_over = True
        warn(f"BackupAndRestore: {what}")


def _is_told_by_its_writer(kept: KeptState) -> bool:
    is_ours = type(kept.subject).__module__.startswith("kerascope.")
    return not is_ours and keeps_state(kept.subject)


# --- what it is given, checked --------------------------------------------------------------------


def check_folder_name(backup_dir: Any) -> str:
    """Return the path of the folder as a text.

    Raises
    ------
    ArgumentError
        It is no path, empty, a file, or no name that a folder can have.
    """
    if backup_dir is None or backup_dir == "":
        raise ArgumentError("BackupAndRestore: backup_dir is empty; expected the path of a folder.")
    name = os.fspath(backup_dir) if isinstance(backup_dir, (str, os.PathLike)) else None
    if not isinstance(name, str):
        raise ArgumentError(
            f"BackupAndRestore: backup_dir is {backup_dir!r}, a {type(backup_dir).__name__}; "
            "expected the path of a folder as a text or a Path."
        )
    try:
        is_file = stat.S_ISREG(os.stat(name).st_mode)
    except FileNotFoundError:
        is_file = False
    except (OSError, ValueError) as error:
        if isinstance(error, (NotADirectoryError, PermissionError)):
            return name  # `fit` says it, when it makes the folder
        raise ArgumentError(
            f"BackupAndRestore: backup_dir {shortened(name)} is no name of a folder "
            f"({getattr(error, 'strerror', None) or error}); expected one that can be made."
        ) from error
    if is_file:
        raise ArgumentError(
            f"BackupAndRestore: backup_dir {name!r} is a file; expected the path of a folder."
        )
    return name


def checked_frequency(save_freq: Any) -> str | int:
    """Return "epoch" or a number of batches.

    Raises
    ------
    ArgumentError
        It is neither.
    """
    is_whole = isinstance(save_freq, (int, np.integer)) and not isinstance(save_freq, bool)
    if isinstance(save_freq, str) and save_freq == "epoch":
        return save_freq
    if is_whole and save_freq >= 1:
        return int(save_freq)
    raise ArgumentError(
        f"BackupAndRestore: save_freq is {save_freq!r}; expected 'epoch' or a number of batches."
    )


# --- what differs between two runs, in words ------------------------------------------------------


def difference(name: str, there: Any, here: Any) -> str:
    """Say in words what differs between a fact of the backup and the same fact of this run."""
    if isinstance(there, dict) and isinstance(here, dict):
        for key in here:
            if there.get(key) != here[key]:
                return difference(f"{name}: {key}", there.get(key), here[key])
    if isinstance(there, list) and isinstance(here, list):
        for number, (first, second) in enumerate(zip(there, here, strict=False)):
            if first != second:
                return difference(f"{name}[{number}]", first, second)
        return f"{name}: {len(there)} there, {len(here)} here"
    return f"{name}: {shortened(there)} there, {shortened(here)} here"


def shortened(value: Any) -> str:
    """Return a value in at most 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
