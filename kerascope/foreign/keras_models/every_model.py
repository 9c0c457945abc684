"""Every live model that a script trains or asks, heard: `kerascope run --live`."""

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


MOST_AT_ONCE = 8  # models that are heard: each wraps Keras's functions once more


@contextmanager
def watching(writer: TapeWriter) -> Iterator[None]:
    """Record all models that are trained, or asked, in a `with` block.

    A model is known from the first such call on. When a script has made many, the others are let
    go, and known again when they are called again. Keras's methods are as they were at the end.

    Parameters
    ----------
    writer : TapeWriter
    """
    cls = library("--live").Model
    known: dict[int, Any] = {}  # they are kept: an id may be given again
    running = 0
    with ExitStack() as heard:

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
                    heard.close()
                    known.clear()
                known[id(model)] = model
                writer.library = ""  # it is Keras's, also where PyTorch is heard beneath it
                heard.enter_context(tracing(model, writer))
                return getattr(model, name)(*args, **keywords)  # its own now, which tells

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
