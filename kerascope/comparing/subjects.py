"""The subjects of a comparison: models of kerascope and other libraries, model files, and tapes.

Each model runs once on the same arrays and becomes a `Run`. A file is opened by the library that
can read it. A tape is not run, because it already contains the calls.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec
from os import PathLike, fspath
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kerascope import foreign
from kerascope.comparing import own_models
from kerascope.comparing.runs import Run
from kerascope.engine.base_layer import Layer
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, DataError, DtypeError, KerascopeError, ShapeError
from kerascope.foreign.from_tape import calls_on_tape
from kerascope.foreign.records import Call, Frame, Recorded
from kerascope.foreign.writer import TapeWriter
from kerascope.model_files import is_model_file, opened
from kerascope.trace.events import BEGIN, END, Event
from kerascope.trace.statistics import Statistics
from kerascope.trace.tape_store import Tape
from kerascope.unsupported import (
    MODEL_FILES,
    OF_ONNX,
    TAPES,
    TEXT_FILES,
    WEIGHTS_FILES,
    described,
    got_instead,
)
from kerascope.viz.kinds import KIND_OF_CLASS

CALL = "ks.compare(model, other, x)"
KERAS = "keras"
BACKENDS = ("tensorflow", "jax", "torch")
_KERAS_LIBRARY = "kerascope.foreign.keras_models.library"  # only loaded to run Keras
_TORCH_TENSORS = "kerascope.foreign.torch_modules.tensors"  # only loaded for a tensor
BACKWARD = ("backward", "update", "commit", "loss")


class Prepared(NamedTuple):
    """A side of a comparison, ready to run.

    Attributes
    ----------
    subject : object
        The model, or a Tape.
    name : str
    library : str
        Such as "kerascope", "keras", "torch" or "tape".
    """

    subject: Any
    name: str
    library: str


def prepared(subject: Any, custom_objects: Mapping[str, Any] | None = None) -> Prepared:
    """Return a side that is ready to run: a model, or the content of a file.

    Raises
    ------
    ArgumentError
        If the subject cannot be compared.
    """
    if isinstance(subject, (str, PathLike)):
        return _opened(Path(fspath(subject)), custom_objects)
    if isinstance(subject, Tape):
        return Prepared(subject, "tape", "tape")
    if isinstance(subject, TapeWriter):
        return Prepared(subject, subject.library or "tape", subject.library.partition(" ")[0])
    if isinstance(subject, Network):
        return Prepared(subject, subject.name, own_models.LIBRARY)
    library = foreign.library_of(subject)
    if library or (callable(subject) and not isinstance(subject, (type, Layer))):
        return Prepared(subject, foreign.name_of(subject), library)
    raise ArgumentError(
        f"compare: expected a model, the path of a file, or a tape, {got_instead(subject, CALL)}"
    )


def _opened(path: Path, custom_objects: Mapping[str, Any] | None) -> Prepared:
    suffix, name = path.suffix.lower(), path.name
    if is_model_file(path):
        return Prepared(opened(path, custom_objects), name, own_models.LIBRARY)
    if suffix in TAPES:
        return Prepared(Tape.load(path, history=None), name, "tape")
    library = foreign.library_of(path)
    if library:
        return Prepared(str(path), name, library)
    if name.lower().endswith(WEIGHTS_FILES):
        raise ArgumentError(
            f"compare: expected a model, a file of one, or a tape, {got_instead(str(path), CALL)}"
        )
    raise ArgumentError(
        f"compare: expected a file of a model ({', '.join((*MODEL_FILES, *TEXT_FILES, *OF_ONNX))}) "
        f"or a tape ({', '.join(TAPES)}), got {str(path)!r}."
    )


# --- kerascope and the real Keras -----------------------------------------------------------------


def with_keras(subject: Any, custom_objects: Mapping[str, Any] | None = None) -> list[Prepared]:
    """Return the two sides for a Keras model or file: in kerascope and in the real Keras.

    Raises
    ------
    ArgumentError
        If the subject is neither a Keras model nor a model file.
    MissingToolError
        If Keras is not installed.
    """
    known = dict(custom_objects or {})
    is_path = isinstance(subject, (str, PathLike))
    if is_path and Path(fspath(subject)).suffix.lower() in MODEL_FILES:
        mine = _opened(Path(fspath(subject)), known)
        real = _real_keras().saving.load_model(fspath(subject), compile=False)
        return [mine, Prepared(real, mine.name, KERAS)]
    if foreign.library_of(subject) == KERAS:
        name = foreign.name_of(subject)
        mine = Prepared(foreign.converted(subject), name, own_models.LIBRARY)
        if mine.subject is not None:
            return [mine, Prepared(subject, name, KERAS)]
    raise ArgumentError(
        f"compare: expected two models, got one, {described(subject)}. Only a .keras or .h5 file, "
        f"or a Functional or Sequential model of Keras 3 can be given alone. It runs in kerascope "
        f"and in the real Keras."
    )


def _real_keras() -> Any:
    """Import and return Keras. If KERAS_BACKEND is not set, use the first installed backend."""
    if KERAS not in sys.modules and "KERAS_BACKEND" not in os.environ:
        found = next((name for name in BACKENDS if find_spec(name) is not None), None)
        if found is not None:
            os.environ["KERAS_BACKEND"] = found
    return import_module(_KERAS_LIBRARY).library("compare")


# --- running --------------------------------------------------------------------------------------


class SideRuns(NamedTuple):
    """The runs of one side, and a note if the input of this side was changed."""

    runs: list[Run]
    note: str = ""


def run_side(side: Prepared, x: Any, word: str) -> SideRuns:
    """Run a side, "a" or "b", once on arrays.

    If this fails, it runs again with the channels of images on the other axis, and a note says so.

    Raises
    ------
    ArgumentError
        If the side needs arrays and none are given, or if it fails on the given arrays.
    """
    if isinstance(side.subject, Tape):
        return SideRuns([Run(side.name, side.library, *one) for one in passes_of(side.subject)])
    if isinstance(side.subject, TapeWriter):
        return SideRuns([_run_of(side, side.subject)])
    if x is None:
        raise ArgumentError(
            f"compare: {side.name!r} does not declare its inputs. Give arrays: compare(a, b, x), "
            f"or --input x.npy."
        )
    if side.library and side.library not in foreign.OF_FUNCTIONS:
        x = _as_arrays(x)
    try:
        return SideRuns([_recorded(side, x)])
    except Exception as error:
        for turn in ("last", "first"):
            turned = _turned(x, turn)
            if turned is not None:
                try:
                    note = f"its input was transposed: channels {turn}"
                    return SideRuns([_recorded(side, turned)], note)
                except Exception:  # the first error is reported
                    continue
        if isinstance(error, (ArgumentError, DataError, DtypeError, ShapeError)):
            raise ArgumentError(f"compare: {word}, {side.name!r}: {error}") from error
        if isinstance(error, KerascopeError):
            raise
        raise ArgumentError(
            f"compare: {word}, {side.name!r}, failed on this input: {type(error).__name__}: {error}"
        ) from error


def _recorded(side: Prepared, x: Any) -> Run:
    if side.library == own_models.LIBRARY:
        writer = TapeWriter("all", 0)
        own_models.record(side.subject, x, writer)
    else:
        several = isinstance(x, list) and side.library != KERAS
        fed = tuple(x) if several else x
        writer, _ = foreign.record(side.subject, fed, budget=0, where=CALL)
    return _run_of(side, writer)


def _run_of(side: Prepared, writer: TapeWriter) -> Run:
    return Run(side.name, side.library, writer.calls, writer.frames, writer.output_tokens)


def _as_arrays(x: Any) -> Any:
    """Return inputs with the arrays of any library converted to NumPy.

    Each side converts them to its own type. Inputs of JAX functions are not converted, because
    their type identifies the library.
    """
    if isinstance(x, Mapping):
        return {name: _as_arrays(one) for name, one in x.items()}
    if type(x) in (list, tuple):
        return type(x)(_as_arrays(one) for one in x)
    if hasattr(x, "detach"):
        numbers = import_module(_TORCH_TENSORS).numbers_of(x)
        return x if numbers is None else numbers
    return np.asarray(x) if hasattr(x, "__array__") else x


def _turned(x: Any, to: str) -> Any:
    """Return arrays after moving the channels of images to their first or last axis.

    `to` is "first" or "last". Return None if no array is an image.
    """
    if isinstance(x, Mapping):
        values = _turned(list(x.values()), to)
        return None if values is None else dict(zip(x, values, strict=True))
    if isinstance(x, (list, tuple)) and any(isinstance(one, (np.ndarray, Mapping)) for one in x):
        turned = [_turned(one, to) for one in x]
        several = [one if new is None else new for one, new in zip(x, turned, strict=True)]
        return type(x)(several) if any(new is not None for new in turned) else None
    if np.ndim(x) < 3:
        return None
    return np.moveaxis(np.asarray(x), 1, -1) if to == "last" else np.moveaxis(x, -1, 1)


# --- tapes ----------------------------------------------------------------------------------------


def passes_of(tape: Tape) -> list[tuple[list[Call], list[Frame]]]:
    """Return the calls and frames of each forward pass on a tape.

    A tape of another library gives only its last pass. Two values are the same if their arrays are
    equal. If the tape has only the statistics of the arrays, these are compared.

    Raises
    ------
    ArgumentError
        If the tape contains no call of a layer.
    """
    calls, frames = calls_on_tape(tape)
    if calls:
        return [(calls, frames)]
    passes: list[tuple[list[Call], list[Frame]]] = []
    begun: dict[str, Event] = {}
    seen: dict[str, int] = {}
    for event in tape:
        if event.kind == "function" and event.ph == BEGIN:
            seen = {}
        if event.kind != "node" or event.phase in BACKWARD:
            continue
        if event.ph == BEGIN:
            begun[event.name] = event
        elif event.ph == END and event.name in begun:
            if not seen:
                passes.append(([], []))
            seen[event.name] = seen.get(event.name, 0) + 1
            passes[-1][0].append(_call_of(begun.pop(event.name), event, seen[event.name]))
    if not passes:
        raise ArgumentError(
            "compare: this tape contains no call of a layer. Record it at level 'node' or finer."
        )
    return passes


def _call_of(begin: Event, end: Event, number: int) -> Call:
    values = {delta.name: delta.value for delta in begin.deltas}
    result = next((delta.value for delta in end.deltas if delta.name == "result"), None)
    op = str(getattr(values.get("layer"), "kind", "")) or "layer"
    call_id = begin.name if number == 1 else f"{begin.name}:{number}"
    kind = "input" if op in ("Input", "InputLayer") else KIND_OF_CLASS.get(op, "layer")
    inputs, outputs = (tuple(_recorded_values(value)) for value in (values.get("inputs"), result))
    return Call(call_id, begin.name, op, kind, inputs, outputs)


def _recorded_values(value: Any) -> Iterator[Recorded]:
    if isinstance(value, (list, tuple)):
        for one in value:
            yield from _recorded_values(one)
    elif isinstance(value, Statistics):
        dtype, _, shape = value.kind.partition("[")
        sizes = tuple(int(n) for n in shape[:-1].split(",") if n)
        token = (value.kind, value.norm, value.min, value.mean, value.max)
        yield Recorded(token, sizes, dtype.replace("f", "float"), value)
    elif isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        yield Recorded(
            (array.shape, array.dtype.name, array.tobytes()), array.shape, array.dtype.name, array
        )
