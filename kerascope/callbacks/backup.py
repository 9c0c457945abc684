"""Continue a killed run with the same numbers as an undisturbed run: `BackupAndRestore`."""

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
    Backup,
    BackupFolder,
    reading,
    set_state_of_global_generators,
    state_of_global_generators,
)
from kerascope.callbacks.base import Callback, Logs, registry
from kerascope.callbacks.kept_state import FeedStates, ObjectState, checksum, keeps_state
from kerascope.callbacks.monitor import say
from kerascope.errors import ArgumentError, ConfigError, DataError
from kerascope.user_frames import warn

_SET_BY_FIT = ("model", "params", "validation_data")
_ALWAYS_THERE = ("BaseLogger", "ProgbarLogger", "History")

_NEEDED = (
    *("fit", "facts", "place", "has_trained", "stop_training"),
    *("variables", "callbacks", "feeds", "seeds", "generators"),
)


@registry.register
class BackupAndRestore(Callback):
    """Lets a `fit` that was killed continue from its last backup, with bit-identical numbers.

    Run the same script again. If the folder has a backup, training continues from it, even in the
    middle of an epoch, and ends with the same numbers as an undisturbed run. When `fit` finishes,
    the backup is deleted.

    Parameters
    ----------
    backup_dir : path
        The folder of this `fit`, which is created if it does not exist. A second `fit` needs
        another folder.
    save_freq : "epoch" or int
        Write a backup at the end of each epoch, or after this number of batches. The first backup
        is written when training begins.
    double_checkpoint : bool
        Keep the previous backup as well. It is used if the last one is damaged.
    delete_checkpoint : bool
        Delete the backup when `fit` has finished. Otherwise the same script, run again, does not
        train, unless `epochs` is larger.
    read_forward : bool
        An addition of kerascope. A generator function cannot start in the middle, so it is refused
        by default. With True, the batches that were trained on before are read and skipped.

    Notes
    -----
    A backup contains the weights, the optimizer's slots and learning rate, the states of layers and
    metrics, the counts of random ops, the position in the epoch and in the shuffled data, the
    states of the other callbacks, the history (`fit` returns all of it), and the states of the
    global generators of NumPy and of `random`. `BackupAndRestore` is called after all other
    callbacks, so the backup contains what they did.

    When a run continues, `on_train_begin` of every callback is called, in the middle of an epoch
    also `on_epoch_begin`. Then the callback's state is restored. The state of your own callback
    consists of its attributes that are numbers, texts, arrays, or containers of them. If it has
    other state, it must return that state, as such data, from a method `get_state()` and restore it
    in `set_state(state)`. Output since the last backup is repeated. `CSVLogger` and `TensorBoard`
    first truncate their files, `ModelCheckpoint` writes the same files again, and `RemoteMonitor`
    sends the same logs again.

    Batches may come from arrays, a `Sequence`, or an iterator. The position of an iterator must be
    in its attributes, or in its methods `get_state()` and `set_state(state)`, which then return and
    set its whole state. With workers, which prefetch batches, only a `Sequence` can be backed up.
    For a backup in the middle of an epoch, the batches of a `Sequence` must depend only on their
    index.

    If a callback trains another model, such as the discriminator of a GAN, the backup contains only
    the weights that are also in the model of `fit`. The callback must add the rest by `get_state`
    and `set_state`. A warning is shown if other weights were changed.

    Numbers that a script draws without a seed before `fit`, such as the seed of a `Dropout`, differ
    in another process. A warning is shown if that matters. To avoid it, call
    `keras.utils.set_random_seed(0)` or `np.random.seed(0)` at the top of the script.

    Raises
    ------
    ArgumentError
        The folder or the frequency is not valid.
    ConfigError
        When training begins: the backup is damaged, or belongs to another model, optimizer, data,
        batch size or `fit` of the script, or is in an epoch after the last. The backup is
        not changed.
    DataError
        When training begins: the position of the generator is unknown.
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

    comes_last = True  # is called after the other callbacks

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
        self._found: Backup | None = None
        self._callbacks: dict[str, ObjectState] = {}
        self._feeds: FeedStates | None = None
        self._place = (0, 0)
        self._has_trained = False
        self._frozen: FrozenWeights | None = None
        self._number = 1  # the number of this fit among the fits of this process with this folder
        self._epoch = 0
        self._batches = 0  # the number of batches since the last backup
        self._is_late = False  # whether a backup that was due could not be written yet
        if self.save_freq != "epoch":  # the hook of each batch is set only if needed
            vars(self)["on_batch_end"] = self._count_batch

    # --- the beginning of a run -------------------------------------------------------------------

    def set_run(self, run: Any) -> None:
        """Receive the `engine.run.Run` of a `fit`, and look for a backup.

        This is called before all other methods of all callbacks. If it fails, nothing is changed.
        """
        if sum(isinstance(callback, BackupAndRestore) for callback in run.callbacks) > 1:
            raise ArgumentError(
                "fit: expected one BackupAndRestore among the callbacks, got two. Only one can set "
                "where training begins. For another copy of the weights, use ModelCheckpoint."
            )
        run.endings.enter_context(self._folder.locked())
        run.endings.callback(self._release)
        self._run = run
        self._callbacks = _kept_callbacks(run.callbacks)
        self._feeds = FeedStates(run.feeds, self.read_forward)
        self._number = self._folder.finished + 1
        self._batches = 0
        self._is_late = False
        self._frozen = FrozenWeights(run.frozen, run.steps_of_others, self._callbacks.values())
        self._place = (run.initial_epoch, 0)
        self._has_trained = False
        self._found = self._of_this_run(self._folder.read())
        if self._found is not None:
            epoch, batch = self._found.state["place"]
            self._check_epoch(self._found, epoch, batch)
            run.begin_at(epoch, batch, self._restore)

    def _check_epoch(self, found: Backup, epoch: int, batch: int) -> None:
        """Raise ConfigError if training would end before the epoch in which a backup was made."""
        epochs = self.params.get("epochs", epoch + 1)
        if batch and epoch >= epochs:
            raise ConfigError(
                f"BackupAndRestore: expected epochs={epoch + 1} or more, got {epochs}, because "
                f"{str(found.path)!r} is in epoch {epoch + 1}, batch {batch}. The backup was not "
                "changed. To start again, move it away or choose another backup_dir."
            )

    def _of_this_run(self, found: Backup | None) -> Backup | None:
        """Return the given backup after checks. Raise if it belongs to another run.

        Return None if no backup is given, or if another run wrote it before its first step.
        """
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

    def _release(self) -> None:
        self._run = self._found = self._frozen = None
        self._callbacks, self._feeds = {}, None

    def on_train_begin(self, logs: Logs | None = None) -> None:
        """Write the first backup, with the initial weights, unless there is a backup."""
        if self._run is None:
            raise ArgumentError(
                "BackupAndRestore needs model.fit or model.fit_generator, which can start in the "
                "middle. Elsewhere, save the model yourself."
            )
        if self._found is None:
            self._write()

    # --- continuing ------------------------------------------------------------------------------

    def _check(self, found: Backup) -> None:
        """Raise ConfigError if a backup belongs to another run."""
        state = found.state
        missing = [name for name in _NEEDED if not isinstance(state, dict) or name not in state]
        if missing:
            raise self._refusal(found, f"it lacks {', '.join(missing)}")
        if state["fit"] != self._number:
            there = shortened(state["fit"])
            raise self._refusal(
                found,
                f"it belongs to fit number {there} of its script with this folder, and this is "
                f"number {self._number}. Give each fit its own folder",
            )
        for name, here in self._run.facts.items():
            there = state["facts"].get(name)
            if there != here:
                raise self._refusal(found, difference(name, there, here))
        if not all(type(number) is int and number >= 0 for number in state["place"]):
            raise self._refusal(found, f"its place is {state['place']}")
        if not all({"values", "unchanged"} <= kept.keys() for kept in state["callbacks"].values()):
            raise self._refusal(found, "its callbacks have no state")
        arrays = [(array.shape, array.dtype) for array in state["variables"]]
        variables = [(v.shape, np.dtype(v.dtype)) for v in self._run.variables]
        if arrays != variables:
            raise self._refusal(found, "its arrays are not the state of this model")
        assert self._feeds is not None
        self._feeds.check(state["feeds"])

    def _refusal(self, found: Backup, reason: str) -> ConfigError:
        return ConfigError(
            f"BackupAndRestore: {str(found.path)!r} is the backup of another run: {reason}. It "
            "was not changed. To start again, move it away or choose another backup_dir."
        )

    def _restore(self) -> None:
        """Restore the state of the whole run from the backup."""
        assert self._found is not None
        self._warn_of_differences(self._found.state)
        self._warn_of_other_fits(self._found)
        with reading(self._found):
            self._restore_state(self._found.state)
        if self._has_trained and self.params.get("verbose"):
            say(f"BackupAndRestore: {self._place_in_words()}, from {self._found.path}.")
        self._found = None

    def _place_in_words(self) -> str:
        epoch, batch = self._place
        if batch:
            return f"training continues at epoch {epoch + 1}, batch {batch}"
        if self.model.stop_training or epoch >= self.params.get("epochs", epoch + 1):
            return f"training ended after epoch {epoch}"
        return f"training continues at epoch {epoch + 1}"

    def _restore_state(self, state: Any) -> None:
        for variable, array in zip(self._run.variables, state["variables"], strict=True):
            variable.set_value(array)
        for name, kept in self._callbacks.items():
            if name in state["callbacks"]:
                kept.restore(state["callbacks"][name])
        assert self._feeds is not None
        self._feeds.restore(state["feeds"])
        self.model.stop_training = bool(state["stop_training"])
        set_state_of_global_generators(state["generators"])
        assert self._frozen is not None
        self._frozen.look()
        self._epoch, batch = state["place"]
        self._place = (self._epoch, batch)
        self._has_trained = bool(state["has_trained"])

    def _warn_of_differences(self, state: Any) -> None:
        if state["seeds"] != self._run.seeds:
            warn(
                "BackupAndRestore: random ops (Dropout, noise) have other seeds than before, "
                "so different numbers are drawn. For identical results, begin the script with "
                "np.random.seed(0)."
            )
        there = state["callbacks"]
        here = {name: kept.take() for name, kept in self._callbacks.items()}
        for name in sorted(there.keys() ^ here.keys()):
            kept = there.get(name) or here[name]
            if name.split()[0] in _ALWAYS_THERE or not (kept["values"] or "own" in kept):
                continue
            what = "is missing in this run" if name in there else "is new and has no state"
            warn(f"BackupAndRestore: the callback {name} {what}.")

    def _warn_of_other_fits(self, found: Backup) -> None:
        """Warn if an earlier fit of this process may have written the backup."""
        if self._number > 1 and found.state["has_trained"]:
            warn(
                f"BackupAndRestore: training continues from {str(found.path)!r}, the backup of fit "
                f"number {self._number} in this folder. If this is another fit, such as an earlier "
                "cell of a notebook that you run again, move the backup away, and give each fit "
                "its own folder."
            )

    # --- backups ----------------------------------------------------------------------------------

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        """Store the number of the current epoch."""
        self._epoch = epoch
        if self._feeds is not None and self.save_freq != "epoch":
            self._feeds.note()

    def _count_batch(self, batch: int, logs: Logs | None = None) -> None:
        """Count a batch, and write a backup if `save_freq` requires it."""
        self._place = (self._epoch, batch + 1)
        self._has_trained = True
        self._batches += 1
        if self._batches >= int(self.save_freq):
            self._batches = 0
            self._write()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        """Write a backup if `save_freq` requires it."""
        self._place = (epoch + 1, 0)
        self._has_trained = True
        if self.save_freq == "epoch" or self._is_late:
            self._write()

    def on_train_end(self, logs: Logs | None = None) -> None:
        """Delete the backup. Without `delete_checkpoint`, write a backup of the finished run.

        A backup that was found and not restored is kept.
        """
        if self._found is not None:  # this backup was not restored, so it is still needed
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


def _kept_callbacks(callbacks: list[Any]) -> dict[str, ObjectState]:
    """Return the state of each callback by a name such as "EarlyStopping 1"."""
    kept: dict[str, ObjectState] = {}
    counts: Counter[str] = Counter()
    for callback in callbacks:
        if getattr(callback, "comes_last", False):
            continue
        label = type(callback).__name__
        counts[label] += 1
        name = f"{label} {counts[label]}"
        kept[name] = ObjectState(callback, f"the callback {label}", _SET_BY_FIT)
    return kept


# --- frozen weights -------------------------------------------------------------------------------
# `fit` only reads frozen weights. If they change, a callback trains them.


class FrozenWeights:
    """Compares frozen weights at each backup, and warns once if they changed.

    In a GAN, a callback trains the discriminator, which is a frozen part of the model of `fit`. The
    backup contains the weights of the discriminator but not its optimizer. A model that shares no
    weights with the model of `fit` is not in the backup at all.

    Parameters
    ----------
    weights : list of Variable
        The frozen weights of the model.
    steps_of_others : callable
        Returns the number of training steps of each other model.
    callbacks : iterable of ObjectState
        If a user's callback among them has `get_state`, the warning is omitted.
    """

    def __init__(
        self,
        weights: list[Variable],
        steps_of_others: Callable[[], dict[Any, int]],
        callbacks: Iterable[ObjectState],
    ) -> None:
        self._is_over = any(map(_is_stored_by_user, callbacks))
        self._weights = weights
        self._steps_of_others = steps_of_others
        self._sums: list[Any] = []
        self._steps: WeakKeyDictionary[Any, int] | None = None  # None before the first comparison

    def look(self) -> None:
        """Compare the frozen weights with their values at the previous call.

        Warns
        -----
        KerascopeWarning
            The weights changed, or another model was trained. There is only one warning per run.
        """
        if self._is_over:
            return
        before, self._sums = self._sums, [checksum(w.get_value()) for w in self._weights]
        pairs = zip(self._weights, before, self._sums, strict=False)  # `before` is empty at first
        changed = [weight for weight, was, now in pairs if was != now]
        steps, self._steps = self._steps, WeakKeyDictionary(self._steps_of_others())
        if changed:
            self._warn(
                f"the frozen weight {changed[0].name!r} changed during training. If a callback "
                "trains another model, the optimizer of that model is not in the backup, so a "
                "continued run gets different numbers. Give the callback the methods get_state(), "
                "which returns the missing state (optimizer.get_weights()), and set_state(state)."
            )
            return
        if steps is None:
            return
        trained = [model.name for model, n in self._steps.items() if n != steps.get(model, 0)]
        if trained:
            self._warn(
                f"the model {sorted(trained)[0]!r} was trained during this training, and is not in "
                "the backup, so a continued run starts with a new one. If a callback trains it, "
                "give the callback the methods get_state(), which returns the missing state "
                "(get_weights() of the model and of its optimizer), and set_state(state)."
            )

    def _warn(self, what: str) -> None:
        self._is_over = True
        warn(f"BackupAndRestore: {what}")


def _is_stored_by_user(kept: ObjectState) -> bool:
    is_ours = type(kept.subject).__module__.startswith("kerascope.")
    return not is_ours and keeps_state(kept.subject)


# --- checks of the arguments ----------------------------------------------------------------------


def check_folder_name(backup_dir: Any) -> str:
    """Return the path of the folder as a str.

    Raises
    ------
    ArgumentError
        `backup_dir` is empty, a file, not a path, or not a valid name of a folder.
    """
    if backup_dir is None or backup_dir == "":
        raise ArgumentError(
            "BackupAndRestore: expected the path of a folder as backup_dir, got none."
        )
    name = os.fspath(backup_dir) if isinstance(backup_dir, (str, os.PathLike)) else None
    if not isinstance(name, str):
        raise ArgumentError(
            "BackupAndRestore: expected the path of a folder as backup_dir, a str or a Path, got "
            f"{backup_dir!r}, a {type(backup_dir).__name__}."
        )
    try:
        is_file = stat.S_ISREG(os.stat(name).st_mode)
    except FileNotFoundError:
        is_file = False
    except (OSError, ValueError) as error:
        if isinstance(error, (NotADirectoryError, PermissionError)):
            return name  # `fit` raises when it creates the folder
        raise ArgumentError(
            f"BackupAndRestore: expected a folder as backup_dir, got {shortened(name)}: "
            f"{getattr(error, 'strerror', None) or error}."
        ) from error
    if is_file:
        raise ArgumentError(
            f"BackupAndRestore: expected a folder as backup_dir, got the file {name!r}."
        )
    return name


def checked_frequency(save_freq: Any) -> str | int:
    """Check `save_freq`. Return "epoch" or a number of batches.

    Raises
    ------
    ArgumentError
        `save_freq` has another value.
    """
    is_whole = isinstance(save_freq, (int, np.integer)) and not isinstance(save_freq, bool)
    if isinstance(save_freq, str) and save_freq == "epoch":
        return save_freq
    if is_whole and save_freq >= 1:
        return int(save_freq)
    raise ArgumentError(
        f"BackupAndRestore: expected save_freq 'epoch' or a number of batches, got {save_freq!r}."
    )


# --- differences between two runs -----------------------------------------------------------------


def difference(name: str, there: Any, here: Any) -> str:
    """Return the first difference between a value in the backup and in this run, as text.

    `name` is the name of the value, such as "optimizer", with which the text begins.
    """
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
    """Return the repr of a value, at most 80 characters long."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
