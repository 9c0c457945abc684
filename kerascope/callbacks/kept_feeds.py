"""Where the data of a run are: what a backup keeps of the feeds and of what they read from.

Feeds are made by `fit`: see `engine/feeds.py` and `engine/feeds.py`. Arrays are there
again in the next process; a Sequence or an iterator has a state of its own.
"""

from __future__ import annotations

from typing import Any

from kerascope.callbacks.kept_state import (
    KeptState,
    checksum,
    is_in_its_attributes,
    keeps_state,
)
from kerascope.callers import warn
from kerascope.errors import ConfigError, DataError


class KeptFeeds:
    """The places of all feeds of a run, and the states of their sources.

    Parameters
    ----------
    feeds : dict of str to feed
        "training" and "validation".
    read_forward : bool
        Whether an iterator of which nobody knows the place is read to it from its beginning.

    Raises
    ------
    DataError
        Nobody could bring one of them back to its place.
    """

    def __init__(self, feeds: dict[str, Any], read_forward: bool) -> None:
        self.feeds = feeds
        self._read_forward = {
            name for name, feed in feeds.items() if read_forward and not _is_known(feed)
        }
        for name, feed in feeds.items():
            if name not in self._read_forward:
                _check_source(name, feed)
        self._sources = {
            name: KeptState(feed.source, f"the {name} data", is_source=True)
            for name, feed in feeds.items()
            if hasattr(feed, "source") and name not in self._read_forward
        }
        self._noted: dict[str, Any] = {}
        self._is_told = False

    # --- backups ----------------------------------------------------------------------------------

    def note(self) -> None:
        """Note what Sequences are like, while no worker reads them ahead."""
        self._noted = {
            name: checksum(kept.take())
            for name, kept in self._sources.items()
            if self.feeds[name].has_workers
        }

    def is_known(self) -> bool:
        """Tell whether a backup can be written in an epoch; say once if not.

        Warns
        -----
        KerascopeWarning
            Workers, which are ahead of the training, have changed a Sequence.
        """
        changed = [
            name
            for name, total in self._noted.items()
            if checksum(self._sources[name].take()) != total
        ]
        if changed and not self._is_told:
            self._is_told = True
            name = changed[0]
            warn(
                f"BackupAndRestore: the {name} data: making its batches changes the "
                f"{type(self._sources[name].subject).__name__}, and workers are ahead of the "
                "training: nobody knows what it was like at this batch. Backups are written at "
                "the ends of epochs instead. For some in between, give fit workers=0."
            )
        return not changed

    def take(self) -> dict[str, Any]:
        """Return all places and states as plain data."""
        return {
            name: {
                "place": feed.place(),
                "source": self._sources[name].take() if name in self._sources else None,
            }
            for name, feed in self.feeds.items()
        }

    # --- going on ---------------------------------------------------------------------------------

    def check(self, taken: dict[str, Any]) -> None:
        """Raise an error if what `take` returned is not of these feeds; nothing is changed.

        Raises
        ------
        ConfigError
            The data differ.
        DataError
            A generator that is to be read forward is not at its beginning.
        """
        if not all(isinstance(taken[name]["place"], dict) for name in self.feeds):
            raise ConfigError("BackupAndRestore: the places of the data are no places.")
        for name, kept in self._sources.items():
            kept.check(taken[name]["source"])
        for name in self._read_forward:
            if not self.feeds[name].is_fresh:
                raise DataError(
                    f"BackupAndRestore: the {name} data: the generator was read already; expected "
                    "a new one, to be read forward to its place. Make it anew."
                )

    def give_back(self, taken: dict[str, Any]) -> None:
        """Bring each feed to its place, what it reads from first."""
        for name, feed in self.feeds.items():
            place = taken[name]["place"]
            if name in self._read_forward:
                feed.read_forward(place)
                continue
            if name in self._sources:
                self._sources[name].give_back(taken[name]["source"])
            feed.go_to(place)
        if self._noted:
            self.note()


def _is_known(feed: Any) -> bool:
    """Tell whether a feed can be brought back to its place without reading."""
    if not hasattr(feed, "source") or feed.is_sequence:
        return True
    return not feed.has_workers and (keeps_state(feed.source) or is_in_its_attributes(feed.source))


def _check_source(name: str, feed: Any) -> None:
    """Raise DataError if nobody could bring a feed back to its place."""
    if _is_known(feed):
        return
    label = type(feed.source).__name__
    if feed.has_workers:
        raise DataError(
            f"BackupAndRestore: the {name} data: workers read the {label} ahead, so its place is "
            "not that of the training. Give fit workers=0, or a Sequence."
        )
    raise DataError(
        f"BackupAndRestore: the {name} data: the place of a {label} cannot be kept. Make it a "
        "Sequence, or give it get_state() and set_state(state); or, if its batches are the same in "
        "each run, let it be read forward to its place: BackupAndRestore(..., read_forward=True)."
    )
