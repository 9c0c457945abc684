"""The stored answers of the real Keras: one file in tests/references for each file of tests.

Such a file is a zip with five kinds of members, none of which can run anything when it is read:

- `versions.json`: which Keras, jax, NumPy and Python answered;
- `log.json`: for each test, by its name, its questions and answers in order;
- `float32.bin` and so on: the numbers of all arrays, one behind the other, by type;
- `sketches.bin`: the numbers that stand for the arrays in the questions (keras_questions.py);
- `files.bin`: the files that Keras wrote, one behind the other.

An answer is a value as JSON. What JSON has no word for is a dictionary of one entry: `{"array":
[dtype, shape, place]}`, `{"tuple": [...]}`, `{"dict": [[key, value], ...]}`, `{"set": [...]}`,
`{"bytes": text}`, and `{"thing": type}` for what stayed with Keras and is asked further.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "references"


class Thing:
    """What stayed with Keras: only its type was written down."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name


@dataclass
class Answered:
    """A question with its answer.

    Attributes
    ----------
    question : str
    numbers : list of float
        Sketches of the arrays in the question.
    answer : object
        Plain data with `Thing` in the places of what stayed with Keras.
    raised : list of two str, or None
        The name of the exception and its text, if that was the answer.
    files : dict of int to bytes
        What Keras wrote: the content of the n-th path in the question.
    """

    question: str
    numbers: list[float]
    answer: Any = None
    raised: list[str] | None = None
    files: dict[int, bytes] = field(default_factory=dict)


def path_for(test_file: str) -> Path:
    """Return where the answers for a file of tests, as `layers/test_x.py`, are."""
    return FOLDER / (test_file.removesuffix(".py").replace("/", ".") + ".zip")


class Written:
    """Collects the answers to the questions of one file of tests, and writes them."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytearray] = {}
        self._places: dict[tuple[str, bytes], int] = {}
        self.log: dict[str, Any] = {}

    def add(self, test: str, entries: list[Answered]) -> None:
        """Add what one test asked."""
        self.log[test] = [self._entry(entry) for entry in entries]

    def _entry(self, entry: Answered) -> list[Any]:
        row: list[Any] = [entry.question, len(entry.numbers)]
        self._append("sketches", np.asarray(entry.numbers, "float32").tobytes())
        more = {}
        if entry.raised:
            more["raised"] = entry.raised
        if entry.files:
            more["files"] = [
                [place, len(data), self._placed("files", data)]
                for place, data in entry.files.items()
            ]
        answer = self._plain(entry.answer)
        return [*row, answer, more] if more else [*row, answer] if answer is not None else row

    def _plain(self, value: Any) -> Any:
        if isinstance(value, Thing):
            return {"thing": value.type_name}
        if isinstance(value, (np.ndarray, np.generic)):
            array = np.asarray(value)
            if array.dtype.kind in "OUS":
                return {"texts": [array.dtype.str, array.shape, array.ravel().tolist()]}
            place = self._placed(array.dtype.name, np.ascontiguousarray(array).tobytes())
            kind = "scalar" if isinstance(value, np.generic) else "array"
            return {kind: [array.dtype.name, array.shape, place]}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, dict):
            return {"dict": [[self._plain(k), self._plain(v)] for k, v in value.items()]}
        if isinstance(value, list):
            return [self._plain(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self._plain(item) for item in value]}
        if isinstance(value, (set, frozenset)):
            return {"set": [self._plain(item) for item in sorted(value)]}
        return value

    def _placed(self, blob: str, data: bytes) -> int:
        """Return where these bytes begin; the same bytes are kept once."""
        if (blob, data) not in self._places:
            self._places[blob, data] = self._append(blob, data)
        return self._places[blob, data]

    def _append(self, blob: str, data: bytes) -> int:
        content = self.blobs.setdefault(blob, bytearray())
        content += data
        return len(content) - len(data)

    def write(self, path: Path, versions: dict[str, str]) -> None:
        """Write the file; the same content gives the same bytes on every day."""
        members = {
            "versions.json": json.dumps(versions, indent=1).encode(),
            "log.json": json.dumps(self.log, separators=(",", ":"), ensure_ascii=False).encode(),
            **{f"{name}.bin": bytes(data) for name, data in sorted(self.blobs.items())},
        }
        path.parent.mkdir(exist_ok=True)
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in members.items():
                info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
                archive.writestr(info, data, compress_type=zipfile.ZIP_LZMA)


class Kept:
    """The stored answers for one file of tests, read when they are needed."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def _member(self, name: str) -> bytes:
        with zipfile.ZipFile(self._path) as archive:
            return archive.read(name) if name in archive.namelist() else b""

    @cached_property
    def versions(self) -> dict[str, str]:
        """Who answered: Keras, jax, NumPy and Python."""
        return json.loads(self._member("versions.json"))

    def is_of(self, versions: dict[str, str]) -> bool:
        """Tell whether the same Keras on the same jax answered: another may answer otherwise."""
        if not self._path.exists():
            return False
        return all(self.versions[name] == versions[name] for name in ("keras", "jax"))

    @cached_property
    def log(self) -> dict[str, Any]:
        """The questions and answers as they stand in the file, by test."""
        return json.loads(self._member("log.json")) if self._path.exists() else {}

    @cached_property
    def _blobs(self) -> dict[str, bytes]:
        with zipfile.ZipFile(self._path) as archive:
            return {n[:-4]: archive.read(n) for n in archive.namelist() if n.endswith(".bin")}

    @cached_property
    def _first_number(self) -> dict[str, int]:
        first, places = 0, {}
        for test, rows in self.log.items():
            places[test] = first
            first += sum(row[1] for row in rows)
        return places

    def entries(self, test: str) -> list[Answered]:
        """Return what a test asked and was answered; nothing if it asks nothing."""
        if test not in self.log:
            return []
        sketches = np.frombuffer(self._blobs.get("sketches", b""), "float32")
        entries, at = [], self._first_number[test]
        for question, count, *rest in self.log[test]:
            answer, more = (*rest, None, None)[:2]
            entry = Answered(question, sketches[at : at + count].tolist(), self._value(answer))
            entry.raised = (more or {}).get("raised")
            for place, size, begin in (more or {}).get("files", ()):
                entry.files[place] = self._blobs["files"][begin : begin + size]
            entries.append(entry)
            at += count
        return entries

    def _value(self, plain: Any) -> Any:
        if isinstance(plain, list):
            return [self._value(item) for item in plain]
        if not isinstance(plain, dict):
            return plain
        ((kind, content),) = plain.items()
        return _READERS[kind](self, content)

    def _array(self, content: Any) -> np.ndarray:
        dtype, shape, place = content
        count = int(np.prod(shape))
        return np.frombuffer(self._blobs[dtype], dtype, count, place).reshape(shape).copy()


_READERS: dict[str, Callable[[Kept, Any], Any]] = {
    "thing": lambda kept, content: Thing(content),
    "array": Kept._array,
    "scalar": lambda kept, content: kept._array(content)[()],
    "texts": lambda kept, content: np.array(content[2], content[0]).reshape(content[1]),
    "bytes": lambda kept, content: bytes.fromhex(content),
    "tuple": lambda kept, content: tuple(kept._value(item) for item in content),
    "set": lambda kept, content: {kept._value(item) for item in content},
    "dict": lambda kept, content: {kept._value(k): kept._value(v) for k, v in content},
}
