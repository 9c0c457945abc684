"""Record every live Keras model that a script trains or runs: `kerascope run --live`."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from kerascope.foreign.keras_models.library import library
from kerascope.foreign.keras_models.training import tracing
from kerascope.foreign.writer import TapeWriter

ENTRANCES = (
    *("fit", "evaluate", "predict"),
    *("train_on_batch", "test_on_batch", "predict_on_batch"),
)


MOST_AT_ONCE = 8  # recorded models; each one wraps Keras's functions once more


@contextmanager
def watching(writer: TapeWriter) -> Iterator[None]:
    """Record all Keras models that are trained or run in a `with` block.

    Recording of a model starts with its first call. If `MOST_AT_ONCE` models are already recorded,
    the next new model ends their recording. Each of them is recorded again from its next call on.
    Keras's methods are restored at the end.

    Parameters
    ----------
    writer : TapeWriter
    """
    cls = library("--live").Model
    known: dict[int, Any] = {}  # keeps the models alive, so that ids stay unique
    running = 0
    with ExitStack() as recorded:

        def entered(name: str, plain: Any) -> Any:
            @functools.wraps(plain)
            def call(model: Any, *args: Any, **keywords: Any) -> Any:
                nonlocal running
                if id(model) in known:
                    running += 1
                    try:
                        return plain(model, *args, **keywords)
                    finally:
                        running -= 1
                if len(known) >= MOST_AT_ONCE and not running:
                    recorded.close()
                    known.clear()
                known[id(model)] = model
                writer.library = ""  # the library is Keras, even if PyTorch is recorded too
                recorded.enter_context(tracing(model, writer))
                return getattr(model, name)(*args, **keywords)  # the wrapped method, which records

            return call

        own = {name: vars(cls)[name] for name in ENTRANCES if name in vars(cls)}
        for name in ENTRANCES:
            setattr(cls, name, entered(name, getattr(cls, name)))
        try:
            yield
        finally:
            for name in ENTRANCES:
                delattr(cls, name)
            for name, plain in own.items():
                setattr(cls, name, plain)
