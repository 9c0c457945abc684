"""How a question to the real Keras is written down, so that the same question is known again.

A question is what is done and with what: `call #3(float32(2, 5), training=False)`. `#3` is the
third thing that Keras gave in this test. Everything stands in the text exactly, but arrays of
floats: other processors and BLAS libraries round otherwise, so of them the text has the type and
shape, and `numbers` has a norm and three sums (a sketch), which are compared with a tolerance.
One entry of an array that moves by a ten-thousandth of the norm makes it another question, unless
the move is below a hundred-millionth. Which entries are nan, infinite or huge stands in the text,
and the huge ones have a sketch of their own: they would hide the others.

Files that Keras is to read are written down by what is in them: configurations exactly, weights by
sketches; dates and compression are left out.
"""

from __future__ import annotations

import ast
import io
import json
import linecache
import os
import types
import zipfile
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np

TESTS = Path(__file__).parent
SUMS = 3
TOLERANCE = 3e-5  # of the norm
HUGE = 1e6
DATED = ("date_saved", "keras_version", "backend")


class Writer:
    """Writes one question.

    Parameters
    ----------
    reference : callable
        Returns the text of a thing that Keras gave, or of a name in Keras; None for all else.

    Attributes
    ----------
    numbers : list of float
        The sketches of the arrays, in the order of the text.
    paths : list of Path
        The files and folders that the question names.
    """

    def __init__(self, reference: Any) -> None:
        self._reference = reference
        self.numbers: list[float] = []
        self.paths: list[Path] = []

    def text(self, value: Any) -> str:
        """Return the text of a value; raise TypeError where it cannot be told from others."""
        known = self._reference(value)
        if known is not None:
            return known
        for kind, write in _WRITERS:
            if isinstance(value, kind):
                return write(self, value)
        raise TypeError(f"a question to Keras has a {type(value).__name__}: write that down how?")

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        """Return arguments by place and by name as they stand in a call."""
        named = [f"{name}={self.text(value)}" for name, value in kwargs.items()]
        return ", ".join([*map(self.text, args), *named])

    def array(self, array: np.ndarray) -> str:
        """Return type and shape, and what identifies the entries."""
        told = f"{array.dtype}{list(array.shape)}"
        if array.dtype.kind == "f":
            entries = array.astype("float64").ravel()
            kinds = kinds_of(entries)
            self.numbers += sketch(np.where(kinds == ORDINARY, entries, 0))
            if not kinds.any():
                return told
            if (kinds == OF_HUGE).any():
                self.numbers += sketch(np.where(kinds == OF_HUGE, entries, 0))
            return f"{told}:{checksum(kinds.tobytes())}"
        entries = repr(array.tolist()).encode() if array.dtype.kind in "OUS" else array.tobytes()
        return f"{told}:{checksum(entries)}"

    def path(self, path: Path) -> str:
        """Return the name of a file and what is in it now."""
        self.paths.append(path)
        return f"<{path.name} {self.content(path)}>"

    def content(self, path: Path) -> str:
        """Return what identifies the content of a file or folder."""
        if path.is_dir():
            inside = (p for p in sorted(path.rglob("*")) if p.is_file())
            return "; ".join(f"{p.relative_to(path).as_posix()} {self.content(p)}" for p in inside)
        return self.content_of(path.read_bytes(), path.name) if path.exists() else "new"

    def content_of(self, data: bytes, name: str) -> str:
        """Return what identifies bytes: of a model their parts, of an image its pixels."""
        if zipfile.is_zipfile(io.BytesIO(data)):
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                parts = {part: archive.read(part) for part in sorted(archive.namelist())}
            return "; ".join(f"{part} {self.content_of(parts[part], part)}" for part in parts)
        if data.startswith(b"\x89HDF"):
            with h5py.File(io.BytesIO(data), "r") as file:
                return self.group(file)
        if name.endswith(".json"):
            return json_checksum(data.decode())
        if name.endswith(".png"):
            from PIL import Image

            return self.array(np.asarray(Image.open(io.BytesIO(data))))
        return checksum(data)

    def group(self, group: h5py.Group) -> str:
        """Return attributes and members of a group of an HDF5 file, with all that is in them."""
        parts = [f"@{key}={attribute(group.attrs[key])}" for key in sorted(group.attrs)
                 if key not in DATED]  # fmt: skip
        for name in sorted(group):
            member = group[name]
            inside = self.group(member) if isinstance(member, h5py.Group) else self.entries(member)
            parts.append(f"{name}({inside})")
        return " ".join(parts)

    def entries(self, dataset: h5py.Dataset) -> str:
        """Return what identifies the entries of a dataset, which may be texts."""
        is_text = h5py.check_string_dtype(dataset.dtype) is not None
        entries = np.asarray(dataset[()])
        return checksum(repr(entries.tolist()).encode()) if is_text else self.array(entries)

    def function(self, function: Any) -> str:
        """Return a function's name, its source and what it closes over."""
        cells = function.__closure__ or ()
        closed = [
            f"{name}={self.text(cell.cell_contents)}"
            for name, cell in zip(function.__code__.co_freevars, cells, strict=True)
        ]
        code = function.__code__
        # The engine may change its own functions; what a test does is part of its question.
        is_of_tests = Path(code.co_filename).is_relative_to(TESTS)
        source = source_checksum(code) if is_of_tests else ""
        return f"<{function.__name__} {source} {', '.join(closed)}>"


def _items(left: str, right: str) -> Any:
    return lambda self, items: left + ", ".join(map(self.text, items)) + right


def _of_dict(self: Writer, value: dict[Any, Any]) -> str:
    return "{" + ", ".join(f"{self.text(k)}: {self.text(v)}" for k, v in value.items()) + "}"


def _of_text(self: Writer, value: str) -> str:
    return self.path(Path(value)) if os.path.isabs(value) and len(value) > 1 else repr(value)


def _of_slice(self: Writer, value: slice) -> str:
    return f"slice({self.text(value.start)}, {self.text(value.stop)}, {self.text(value.step)})"


_WRITERS: list[tuple[Any, Any]] = [
    (str, _of_text),
    (Path, Writer.path),
    (np.ndarray, Writer.array),
    (np.generic, lambda self, value: self.array(np.asarray(value))),
    ((type(None), bool, int, float, bytes, type(...)), lambda self, value: repr(value)),
    (slice, _of_slice),
    (list, _items("[", "]")),
    (tuple, _items("(", ",)")),
    (range, lambda self, value: repr(value)),
    (dict, _of_dict),
    ((set, frozenset), lambda self, value: "{" + ", ".join(sorted(map(self.text, value))) + "}"),
    (type, lambda self, value: f"<class {value.__name__}>"),
    (types.BuiltinFunctionType, lambda self, value: f"<built-in {value.__name__}>"),
    (types.FunctionType, Writer.function),
]


def checksum(data: bytes) -> str:
    """Return eight letters that stand for these bytes."""
    return f"{zlib.crc32(data):08x}"


def json_checksum(text: str) -> str:
    """Return what stands for a JSON text."""
    return checksum(repr(json_content(text)).encode())


def json_content(text: str) -> Any:
    """Return what a JSON text says, without dates, byte code and addresses in memory."""
    shared: dict[int, int] = {}

    def lasting(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        kept = {key: value for key, value in pairs if key not in DATED}
        if "shared_object_id" in kept:  # Keras takes the address: here they are counted
            kept["shared_object_id"] = shared.setdefault(kept["shared_object_id"], len(shared))
        if kept.get("class_name") == "__lambda__":  # each Python has its own byte code
            return {"class_name": "__lambda__"}
        codes = [key for key in kept if kept.get(f"{key}_type") == "lambda"]
        return {key: value for key, value in kept.items() if key not in codes}

    return json.loads(text, object_pairs_hook=lasting)


def attribute(value: Any) -> str:
    """Return what stands for an attribute in an HDF5 file."""
    value = value.decode() if isinstance(value, bytes) else value
    if isinstance(value, str) and value.startswith(("{", "[")):
        return json_checksum(value)
    entries = np.asarray(value)
    if entries.dtype.kind == "S":  # names in words of Keras 2 are bytes, in those of Keras 3 texts
        entries = np.char.decode(entries)
    text = value if isinstance(value, str) else repr(entries.tolist())
    return text if len(text) < 20 else checksum(text.encode())


@cache
def source_checksum(code: types.CodeType) -> str:
    """Return what stands for what a function of a file says, however it is laid out.

    Raises
    ------
    ValueError
        If the file has no such function any more.
    """
    return checksum(meaning(_node_of(code)).encode())


def meaning(part: Any) -> str:
    """Return what a part of a parsed program says, the same text in every version of Python.

    Where it stands is left out, and all that is empty: other versions have other empty fields.
    """
    if isinstance(part, list):
        return f"[{', '.join(map(meaning, part))}]"
    if isinstance(part, ast.JoinedStr):  # Python 3.12 has empty texts in some
        parts = [one for one in part.values if getattr(one, "value", None) != ""]
        return f"JoinedStr({meaning(parts)})"
    if not isinstance(part, ast.AST):
        return repr(part)
    fields = [
        f"{name}={meaning(value)}"
        for name, value in ast.iter_fields(part)
        if value is not None and value != [] and name not in ("ctx", "kind")
    ]
    return f"{type(part).__name__}({', '.join(fields)})"


@cache
def _functions_of(path: str) -> list[Any]:
    tree = ast.parse("".join(linecache.getlines(path)))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def _node_of(code: types.CodeType) -> ast.AST:
    """Return a function as it stands in its file; of lambdas in a line, the one at its columns."""
    found = []
    for node in _functions_of(code.co_filename):
        decorators = getattr(node, "decorator_list", [])
        first = min([node.lineno, *(one.lineno for one in decorators)])
        is_named = getattr(node, "name", "<lambda>") == code.co_name
        if first == code.co_firstlineno and is_named and _holds(node, code):
            found.append(node)
    if not found:
        raise ValueError(f"{code.co_filename} has no {code.co_name} in line {code.co_firstlineno}")
    return max(found, key=lambda node: (node.lineno, node.col_offset))  # the innermost


def _holds(node: Any, code: types.CodeType) -> bool:
    """Tell whether all that a lambda runs stands inside of this one."""
    if not isinstance(node, ast.Lambda):
        return True
    body = node.body
    first, last = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
    return all(
        first <= (line, column) and (end_line, end_column) <= last
        for line, end_line, column, end_column in code.co_positions()
        if line is not None and end_column  # else an instruction that stands for nothing written
    )


@cache
def _waves(size: int) -> np.ndarray:
    """Return the weights of the sums: at each place one of the first two is at least 0.7."""
    places = np.arange(1, size + 1, dtype="float64")
    return np.stack([np.cos(1.3 * places), np.sin(1.3 * places), np.cos(2.0 * places) + 0.5])


ORDINARY, NAN, POSITIVE, NEGATIVE, OF_HUGE = range(5)


def kinds_of(entries: np.ndarray) -> np.ndarray:
    """Return for each entry whether it is ordinary, nan, infinite or huge."""
    with np.errstate(invalid="ignore"):
        conditions = [np.isnan(entries), entries == np.inf, entries == -np.inf, abs(entries) > HUGE]
    return np.select(conditions, [NAN, POSITIVE, NEGATIVE, OF_HUGE], ORDINARY).astype("uint8")


def sketch(entries: np.ndarray) -> list[float]:
    """Return the norm and three weighted sums of floats."""
    return [float(np.sqrt(entries @ entries)), *map(float, _waves(entries.size) @ entries)]


def same_numbers(one: Any, other: Any) -> bool:
    """Tell whether two lists of sketches stand for the same arrays."""
    one, other = (np.asarray(n, "float64").reshape(-1, 1 + SUMS) for n in (one, other))
    if one.shape != other.shape:
        return False
    # The cosines of a sketch are some 1 in size: a sum moves with the norm of what has moved.
    return bool((abs(one - other) <= TOLERANCE * one[:, :1] + 1e-9).all())
