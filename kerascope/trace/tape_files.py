"""Tapes in files: a line of JSON for each event, and the arrays in a `.npz` file next to it.

The first line, the header, has the format, the number of events, and data that events share, such
as source lines. In the other lines the name of each field is one letter (`SHORT`), and a field is
left out if its value follows from the lines before. Nothing in the file is executed. If a line is
not the expected plain data, reading stops with an error that has the number of the line.

Values of deltas are plain data, with a one-letter tag for everything else:

===========  =======================================================
`{"a": 3}`   array number 3 of the `.npz` file
`{"n": ..}`  a NumPy number: its dtype and value
`{"f": ..}`  a float that JSON cannot express
`{"t": ..}`  a tuple
`{"d": ..}`  a dict, as pairs
`{"s": ..}`  statistics of an array, or a reference to earlier statistics: their number in the
             file, from 1, or 0 for the statistics before
`{"r": ..}`  a description: its class and its fields
`{"x": 1}`   stands for a key that was removed from a container
`{"e": ..}`  an event, with its fields in order: an open span in the mark of forgotten events
===========  =======================================================
"""

from __future__ import annotations

import glob
import json
import math
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from kerascope.errors import ConfigError
from kerascope.files import check_writable, replacing
from kerascope.trace.events import (
    BEGIN,
    END,
    FORGOTTEN,
    GRAINS,
    INSTANT,
    NO_FACTS,
    Delta,
    Event,
    Made,
    Where,
)
from kerascope.trace.snapshots import REFS, REMOVED, ObjectRef
from kerascope.trace.statistics import Statistics
from kerascope.user_frames import warn

FORMAT, VERSION = "kerascope tape", 5
GROWING = 4  # the version of files that are written piece by piece
MOST_WAITING = 256  # events in a piece
# Before version 5 events have no facts. In version 2 each place is written out, and the place of an
# end is not guessed from its start.
READ = (2, 3, GROWING, VERSION)
# Fields of an event, and their letters in a line.
SHORT = {
    **{"act": "a", "deltas": "d", "depth": "h", "grain": "g", "kind": "k", "name": "n"},
    **{"ph": "p", "phase": "s", "t": "t", "where": "w", "facts": "f"},
}
LONG = {letter: field for field, letter in SHORT.items()}


def write_events(events: list[Event], path: str | os.PathLike[str]) -> None:
    """Write events to a file and its `.npz` file. After an error, both files are unchanged."""
    with ExitStack() as swaps:
        unfinished = swaps.enter_context(replacing(path))
        beside = Path(path).with_suffix(".npz")
        unfinished.write_bytes(_piece(events, VERSION, beside, swaps))


def _piece(
    events: list[Event], version: int, beside: Path, swaps: ExitStack, **facts: Any
) -> bytes:
    """Write the arrays of events into a `.npz` file; return the header and the events' lines."""
    encoder = Encoder()
    places: dict[Where, int] = {}
    shared: dict[int, tuple[int, Mapping[str, Any]]] = {}  # by the id of the shared facts
    lines = list(_lines(events, encoder, places, shared))
    parts = _Parts()
    shortened = [parts.shortened(_fields(where)) for where in places]
    header: dict[str, Any] = {
        "format": FORMAT,
        "version": version,
        **facts,
        "events": len(events),
        "arrays": len(encoder.arrays),
        "parts": parts.written,
        "where": shortened,
    }
    if shared:
        header["facts"] = [dict(facts) for _, facts in shared.values()]
    if encoder.arrays:
        arrays_file = swaps.enter_context(replacing(beside))
        with open(arrays_file, "wb") as stream:
            numbered: dict[str, Any] = {f"a{i}": a for i, a in enumerate(encoder.arrays)}
            np.savez(stream, **numbered)
        header["checksum"] = _checksum(arrays_file)
    text = "\n".join([json.dumps(header, ensure_ascii=False, separators=(",", ":")), *lines, ""])
    return text.encode("utf-8", "surrogatepass")


class GrowingFile:
    """The file of a tape, written during the run. It stays readable if the run is killed.

    The file consists of pieces. Each piece has a header, a line for each event, and a separate
    `.npz` file for its arrays. The last line of the file has the number of pieces.

    Parameters
    ----------
    path : path
        The file to write. An existing file is replaced, together with its `.npz` files.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = GrowingFile(Path(folder, "run.jsonl"))
    ...     file.add(Event(0, "", "", "node", INSTANT, 0, "node", "a"))
    ...     file.close()
    ...     [event.name for event in read_events(file.path)]
    ['a']
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._waiting: list[Event] = []
        self._pieces = self._whole = 0
        check_writable(self.path)
        if _has_pieces(self.path):
            for stale in self.path.parent.glob(f"{glob.escape(self.path.stem)}.*.npz"):
                if stale.name[len(self.path.stem) + 1 : -len(".npz")].isdigit():
                    stale.unlink()
        self.path.write_bytes(b"")

    def add(self, event: Event) -> None:
        """Add an event. Events are written together, at the latest when a batch ends."""
        self._waiting.append(event)
        is_end_of_batch = event.kind == "batch" and event.ph == END
        if is_end_of_batch or len(self._waiting) >= MOST_WAITING:
            self.flush()

    def flush(self) -> None:
        """Write the events that are not written yet."""
        if not self._waiting:
            return
        beside = _beside_piece(self.path, self._pieces)
        with ExitStack() as swaps:
            piece = _piece(self._waiting, GROWING, beside, swaps, piece=self._pieces)
        self._append(piece)
        self._pieces += 1
        self._waiting.clear()

    def close(self) -> None:
        """Write the remaining events, and the last line with the number of pieces."""
        self.flush()
        self._append(json.dumps({"format": FORMAT, "pieces": self._pieces}).encode() + b"\n")

    def _append(self, content: bytes) -> None:
        with open(self.path, "r+b") as stream:  # removes a line that an error left unfinished
            stream.truncate(self._whole)
            stream.seek(self._whole)
            stream.write(content)
        self._whole += len(content)


def _has_pieces(path: Path) -> bool:
    """Return whether a file is a tape in pieces, to which numbered `.npz` files belong."""
    try:
        with open(path, "rb") as stream:
            header = _header(stream.readline(), path.name, 1)
    except (OSError, ConfigError):
        return False
    return bool(header["version"] == GROWING)


def _beside_piece(path: Path, piece: int) -> Path:
    return path.with_name(f"{path.stem}.{piece}.npz")


def _lines(
    events: list[Event], encoder: Encoder, places: dict[Where, int],
    shared: dict[int, tuple[int, Mapping[str, Any]]],
) -> Iterator[str]:  # fmt: skip
    guess = _Guess(VERSION)
    for event in events:
        where = places.setdefault(event.where, len(places))
        fields: dict[str, Any] = {"ph": event.ph}
        if event.kind == FORGOTTEN:
            fields["t"] = event.t
        if event.ph != END or guess.begun != (event.kind, event.name):
            fields.update(kind=event.kind, name=event.name)
        facts = guess.facts(event.ph, event.kind)
        own = {"act": event.act, "phase": event.phase, "depth": event.depth,
               "grain": event.grain, "where": where}  # fmt: skip
        fields.update((key, value) for key, value in own.items() if facts[key] != value)
        deltas = [
            [d.name, *([] if d.key is None else [encoder.encode(d.key)]), encoder.encode(d.value)]
            for d in event.deltas
        ]
        if deltas:
            fields["deltas"] = deltas
        if event.facts:
            fields["facts"], _ = shared.setdefault(id(event.facts), (len(shared), event.facts))
        guess.learn(event.ph, event.kind, event.name, own)
        fields = {SHORT[field]: value for field, value in fields.items()}
        yield json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


class _Guess:
    """Computes the default values of the fields of a line from the lines before.

    The writer omits a field that has its default value. The reader computes the same default.
    """

    def __init__(self, version: int) -> None:
        self.act = self.phase = ""
        self._is_2 = version == 2
        self._next_depth = 0
        self._grains: dict[str, str] = {}
        self._places: dict[tuple[str, str], int] = {}
        self._spans: list[tuple[str, str, int]] = []

    @property
    def begun(self) -> tuple[str, str] | None:
        """The kind and name of the innermost open span; None if no span is open.

        These are the defaults for the next event that ends a span.
        """
        return self._spans[-1][:2] if self._spans else None

    def facts(self, ph: str, kind: str) -> dict[str, Any]:
        depth = self._next_depth - 1 if ph == END else self._next_depth
        grain, where = self._grains.get(kind, ""), self._places.get((ph, kind), 0)
        if ph == END and self._spans and not self._is_2:
            where = self._spans[-1][2]
        facts = {"act": self.act, "phase": self.phase, "depth": depth}
        return {**facts, "grain": grain, "where": where}

    def learn(self, ph: str, kind: str, name: str, facts: dict[str, Any]) -> None:
        self.act, self.phase = facts["act"], facts["phase"]
        self._places[ph, kind] = facts["where"]
        self._next_depth = facts["depth"] + (ph == BEGIN)
        self._grains[kind] = facts["grain"]
        if ph == BEGIN:
            self._spans.append((kind, name, facts["where"]))
        elif ph == END and self._spans:
            self._spans.pop()


def read_events(path: str | os.PathLike[str]) -> Iterator[Event]:
    """Yield the events of a file that `write_events` or a `GrowingFile` wrote.

    If the run that wrote a `GrowingFile` was killed, the complete pieces are read, with a warning.

    Raises
    ------
    ConfigError
        A line is damaged or missing, or the arrays are missing or belong to another tape.
    """
    path = Path(path)
    raw = path.read_bytes().split(b"\n")
    if _end_of_pieces(raw[0]) == 0:
        return
    header = _header(raw[0], path.name, 1)
    if header["version"] != GROWING:
        yield from _events_below(header, raw, 0, path, path.with_suffix(".npz"), 0)
        return
    first = t = pieces = 0
    while len(raw) > first + header["events"] + 1:
        if header["piece"] != pieces:
            raise ConfigError(f"{path.name}, line {first + 1}: piece {pieces} is missing.")
        beside = _beside_piece(path, pieces)
        end = first + header["events"] + 1
        for event in _events_below(header, [*raw[:end], b""], first, path, beside, t):
            t = event.t + 1
            yield event
        first, pieces = end, pieces + 1
        if (last := _end_of_pieces(raw[first])) is not None:
            if last != pieces or any(raw[first + 1 :]):
                raise ConfigError(
                    f"{path.name}, line {first + 1}: pieces are missing, or too many."
                )
            return
        if not raw[first].strip() or len(raw) == first + 1:
            break
        header = _header(raw[first], path.name, first + 1)
    if not pieces:
        raise ConfigError(f"{path.name}, line 1: its run was stopped before anything was written.")
    warn(f"{path.name}: its run was stopped before its end. {t} events of it are there.")


def _end_of_pieces(line: bytes) -> int | None:
    """Return the number of pieces that the last line of a file states; None for other lines."""
    try:
        said = json.loads(line)
        return int(said["pieces"]) if said["format"] == FORMAT else None
    except (ValueError, TypeError, KeyError):
        return None


def _events_below(
    header: dict[str, Any], raw: list[bytes], first: int, path: Path, beside: Path, t: int
) -> Iterator[Event]:
    """Yield the events in the lines after the header. The header is the line `raw[first]`."""
    name = path.name
    if len(raw) != first + header["events"] + 2 or raw[-1]:
        last = max(len(raw) - (not raw[-1]), 1)
        raise ConfigError(
            f"{name}, line {last}: expected {header['events'] + 1} lines, but the tape ends. "
            f"It was cut off or added to."
        )
    decoder = Decoder(_arrays(path, beside, header))
    places = [Where(*where) for where in header["where"]] or [Where()]
    shared = header.get("facts", [])
    guess = _Guess(header["version"])
    for number, line in enumerate(raw[first + 1 : -1], start=first + 2):
        try:
            event = _event(t, json.loads(line), guess, decoder, places, shared)
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            reason = f"{type(error).__name__}: {error}".rstrip(".")
            raise ConfigError(f"{name}, line {number}: not an event ({reason}).") from None
        t = event.t + 1
        yield event


def _event(
    t: int, fields: dict[str, Any], guess: _Guess, decoder: Decoder, places: list[Where],
    shared: list[dict[str, Any]],
) -> Event:  # fmt: skip
    if not isinstance(fields, dict):
        raise TypeError(f"A line: expected an object, got {fields!r}.")
    unknown = fields.keys() - LONG.keys()
    if unknown:
        raise ValueError(f"A line: expected known fields, got {min(unknown)!r}.")
    fields = {LONG[letter]: value for letter, value in fields.items()}
    ph = fields.pop("ph")
    if ph not in (BEGIN, END, INSTANT):
        raise ValueError(f"Field ph: expected B, E or I, got {ph!r}.")
    if ph == END and guess.begun and "name" not in fields:
        fields["kind"], fields["name"] = guess.begun
    kind, name = _text(fields.pop("kind")), _text(fields.pop("name"))
    last = fields.pop("t", None) if kind == FORGOTTEN else None
    deltas = tuple(
        Delta(_text(word), decoder.decode(key[0]) if key else None, decoder.decode(value))
        for word, *key, value in fields.pop("deltas", ())
    )
    own = shared[decoder.whole_number(fields.pop("facts"))] if "facts" in fields else NO_FACTS
    facts = guess.facts(ph, kind)
    unknown = set(fields) - set(facts)
    if unknown:
        raise ValueError(f"A line: expected known fields, got {min(unknown)!r}.")
    facts.update(fields)
    if facts["grain"] not in GRAINS:
        raise ValueError(f"Field grain: expected a known grain, got {facts['grain']!r}.")
    guess.learn(ph, kind, name, facts)
    if kind == FORGOTTEN:
        t = _last_time(t, last, deltas)
    place, depth = decoder.whole_number(facts["where"]), decoder.whole_number(facts["depth"])
    act, phase = _text(facts["act"]), _text(facts["phase"])
    grain = facts["grain"]
    return Event(t, act, phase, kind, ph, depth, grain, name, places[place], deltas, own)


def _last_time(t: int, last: Any, deltas: tuple[Delta, ...]) -> int:
    """Check a mark in a file that represents dropped events, and return its last time."""
    mark = {delta.name: delta.value for delta in deltas}
    spans, scopes = mark["spans"], mark["scopes"]
    if type(last) is not int or last < t or mark["first"] != t or deltas[0].name != "first":
        raise ValueError(f"A forgotten run: expected its times, got {mark['first']!r} to {last!r}.")
    if not all(isinstance(span, Event) for span in spans) or len(scopes) != len(spans) + 1:
        raise ValueError("A forgotten run: expected its spans.")
    if not all(isinstance(scope, dict) for scope in scopes):
        raise ValueError("A forgotten run: expected its names.")
    return last


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"A name: expected a text, got {value!r}.")
    return value


def _header(line: bytes, name: str, number: int) -> dict[str, Any]:
    try:
        header = json.loads(line)
        is_ours = header["format"] == FORMAT
        numbers = ("events", "arrays", *(["piece"] if header["version"] == GROWING else []))
        counts = all(type(header[key]) is int and header[key] >= 0 for key in numbers)
        parts = _whole_parts(header.get("parts", ()))
        if not all(isinstance(one, dict) for one in header.get("facts", ())):
            raise TypeError
        header["where"] = [_checked_where(_expanded(x, parts)) for x in header["where"]]
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        is_ours = counts = False
        header = {}
    if not is_ours or not counts:
        what = "a tape" if number == 1 else "a piece of a tape"
        raise ConfigError(f"{name}, line {number}: expected {what}, got something else.")
    version = header.get("version")
    if version not in READ:
        wrote = "An older" if version in range(VERSION) else "A newer"
        raise ConfigError(
            f"{name}, line {number}: expected version {VERSION} of the format, got {version!r}. "
            f"{wrote} kerascope wrote it: record it again."
        )
    return header


def _fields(where: Where) -> list[Any]:
    """Return the fields of a `Where` as a tape file contains them.

    If the `Where` has the origin of an op, there are more fields, in another order.
    """
    made = where.made
    if made is None:
        return list(where[:-1])
    user = (where.user_file, where.user_line, made.function)
    return [where[:3], user, made.code, made.role, made.gradient_of, made.made_by, made.called_from]


def _checked_where(where: Any) -> Where:
    if len(where) == 5:
        file, line, function, user_file, user_line = where
        engine, user = _checked_line((file, line, function)), _checked_line((user_file, user_line))
        return Where(*engine, *user[:2])
    *lines, role, gradient_of, made_by, called_from = where
    engine, user, code = map(_checked_line, lines)
    own, outer = (tuple(map(_checked_line, several)) for several in (made_by, called_from))
    made = Made(user[2], _text(role), _text(gradient_of), own, outer, code)
    return Where(*engine, *user[:2], made)


def _checked_line(value: Any) -> tuple[str, int, str]:
    file, line, function = (*value, "")[:3]
    if not isinstance(line, int):
        raise TypeError("A line of code: expected its number.")
    return _text(file), line, _text(function)


class _Parts:
    """Numbers the texts and lists in the `Where`s of events, so that a file has each only once."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    @property
    def written(self) -> list[Any]:
        """The texts and lists that the file's lines refer to by number, in order of the numbers.

        The header of the file contains them.
        """
        return list(self._numbers)

    def shortened(self, value: Any) -> Any:
        """Return a number that replaces a text or list in the file; an int unchanged.

        The n-th text or list of the header is replaced by -1 - n. If the value is new, it is added
        to the texts and lists of the header. The items of a list are replaced first.
        """
        if isinstance(value, int):
            return value
        if isinstance(value, (tuple, list)):
            value = tuple(self.shortened(item) for item in value)
        return -1 - self._numbers.setdefault(value, len(self._numbers))


def _expanded(value: Any, parts: list[Any]) -> Any:
    """Return the header's text or list for a negative number; return other values unchanged."""
    if isinstance(value, int) and not isinstance(value, bool) and value < 0:
        value = parts[-1 - value]
    return value


def _whole_parts(written: Any) -> list[Any]:
    """Return the texts and lists of a file's header, after replacing references inside the lists.

    A list may refer to an earlier text or list by a negative number: -1 - n for the n-th.
    """
    parts: list[Any] = []
    for part in written:
        is_text = isinstance(part, str)
        parts.append(part if is_text else [_expanded(item, parts) for item in part])
    return parts


def _arrays(path: Path, beside: Path, header: dict[str, Any]) -> list[np.ndarray]:
    if not header["arrays"]:
        return []
    try:
        if _checksum(beside) != header.get("checksum"):
            raise ConfigError(f"{beside.name}: expected the arrays of {path.name}, got others.")
        with np.load(beside, allow_pickle=False) as stored:
            return [stored[f"a{i}"] for i in range(header["arrays"])]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(
            f"{beside.name}: the arrays of {path.name} cannot be read ({error})."
        ) from None


def _checksum(path: Path) -> int:
    checksum = 0
    with open(path, "rb") as stream:
        while block := stream.read(2**20):
            checksum = zlib.crc32(block, checksum)
    return checksum


# --- values as JSON and back ----------------------------------------------------------------------


_CLASSES = {kind.__name__: kind for kind in REFS}


class Encoder:
    """Turns values into JSON and collects the arrays.

    Attributes
    ----------
    arrays : list of np.ndarray
        The arrays of all encoded values. An array in several values is stored once.
    """

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self._places: dict[int, int] = {}
        self._statistics: dict[int, int] = {}  # by the id of the array, which the tape keeps alive
        self._last: Statistics | None = None

    def encode(self, value: Any) -> Any:
        """Return a value in a form that JSON can express, from which a `Decoder` gets it back."""
        if value is None or (isinstance(value, (bool, int, str)) and not _is_numpy(value)):
            return value
        if isinstance(value, float) and not _is_numpy(value):
            return value if math.isfinite(value) else {"f": repr(value)}
        if isinstance(value, list):
            return [self.encode(item) for item in value]
        if isinstance(value, Event):
            *facts, where, deltas, own = value
            pairs = [[d.name, self.encode(d.key), self.encode(d.value)] for d in deltas]
            return {"e": [*facts, _fields(where), pairs, *([dict(own)] if own else [])]}
        if isinstance(value, tuple):
            return {"t": [self.encode(item) for item in value]}
        if isinstance(value, dict):
            return {"d": [[self.encode(k), self.encode(v)] for k, v in value.items()]}
        if value is REMOVED:
            return {"x": 1}
        if isinstance(value, Statistics):
            return self._encode_statistics(value)
        if isinstance(value, REFS):
            facts = [self.encode(getattr(value, field.name)) for field in fields(value)]
            return {"r": [type(value).__name__, *facts]}
        return self._encode_numbers(value)

    def _encode_statistics(self, value: Statistics) -> Any:
        if value is self._last:
            return {"s": 0}
        self._last = value
        if id(value) in self._statistics:
            return {"s": self._statistics[id(value)]}
        self._statistics[id(value)] = len(self._statistics) + 1
        facts = [self.encode(getattr(value, field.name)) for field in fields(value)]
        return {"s": facts if value.nans or value.infinities else facts[:-2]}

    def _encode_numbers(self, value: Any) -> Any:
        is_number = isinstance(value, np.generic) and value.dtype.kind in "fiub"
        if is_number and value.dtype.itemsize <= 8 and np.isfinite(value):
            return {"n": [value.dtype.name, value.item()]}
        if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
            if id(value) not in self._places:
                self._places[id(value)] = len(self.arrays)
                self.arrays.append(value)  # type: ignore[arg-type]
            is_scalar = isinstance(value, np.generic)
            return {"a": [self._places[id(value)], 0] if is_scalar else self._places[id(value)]}
        name = getattr(value, "__name__", "")
        return self.encode(ObjectRef(type(value).__name__, str(name)))


def _is_numpy(value: Any) -> bool:
    return isinstance(value, np.generic)


class Decoder:
    """Turns JSON back into values.

    Invalid data raises a ValueError, TypeError, KeyError or IndexError.
    """

    def __init__(self, arrays: list[np.ndarray]) -> None:
        self.arrays = arrays
        self._statistics: list[Statistics] = []
        self._last: Statistics | None = None

    def decode(self, value: Any) -> Any:
        """Return the value that `Encoder.encode` has turned into the form `value`."""
        if isinstance(value, list):
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((tag, content),) = value.items()
        if tag == "t":
            return tuple(self.decode(item) for item in content)
        if tag == "d":
            return {self.decode(key): self.decode(item) for key, item in content}
        if tag == "s":
            return self._decode_statistics(content)
        if tag == "r":
            name, *facts = content
            return _CLASSES[name](*(self.decode(fact) for fact in facts))
        if tag == "x":
            return REMOVED
        if tag == "e":
            own = content.pop() if isinstance(content[-1], dict) else NO_FACTS
            *facts, where, pairs = content
            deltas = (Delta(name, self.decode(k), self.decode(v)) for name, k, v in pairs)
            return Event._make([*facts, _checked_where(where), tuple(deltas), own])
        return self._decode_numbers(tag, content)

    def _decode_statistics(self, content: Any) -> Statistics:
        if isinstance(content, list):
            self._last = Statistics(*(self.decode(item) for item in content))
            self._statistics.append(self._last)
        elif self.whole_number(content):
            self._last = self._statistics[content - 1]
        if self._last is None:
            raise ValueError("Statistics: expected earlier ones for a reference.")
        return self._last

    def _decode_numbers(self, tag: str, content: Any) -> Any:
        if tag == "a":
            if isinstance(content, list):
                return self.arrays[self.whole_number(content[0])][()]
            return self.arrays[self.whole_number(content)]
        if tag == "n":
            name, number = content
            dtype = np.dtype(str(name))
            if dtype.kind not in "fiub" or not isinstance(number, (bool, int, float)):
                raise ValueError(f"A number: expected one of NumPy, got {content!r}.")
            return dtype.type(number)
        if tag == "f":
            if content not in ("nan", "inf", "-inf"):
                raise ValueError(f"A float: expected nan, inf or -inf, got {content!r}.")
            return float(content)
        raise KeyError(tag)

    @staticmethod
    def whole_number(value: Any) -> int:
        """Return a value unchanged if it is an int of at least 0; otherwise raise a ValueError."""
        if type(value) is not int or value < 0:
            raise ValueError(f"A position: expected 0 or more, got {value!r}.")
        return value
