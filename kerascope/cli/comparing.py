"""`kerascope compare A B`: the first call at which two models differ."""

from __future__ import annotations

import shutil
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from kerascope.cli.models import ScriptFailed, find_model
from kerascope.cli.pictures import arrays_in, reading_of
from kerascope.cli.scripts import checked_file
from kerascope.cli.usage import UsageError, given
from kerascope.comparing.comparison import compare
from kerascope.errors import KerascopeError
from kerascope.foreign import library_of
from kerascope.unsupported import MODEL_FILES, OF_TORCH, TAPES
from kerascope.viz.drawing import check_target
from kerascope.viz.formats import FORMATS

EQUAL, DIFFERENT = 0, 1
NARROWEST = 60


def run_compare(options: Namespace) -> int:
    """Compare the models of `kerascope compare`. Return 0 if they agree, 1 if they differ."""
    for output in options.output:
        with given():
            check_target(output, FORMATS)
    try:
        sides = [_side(word, options) for word in (options.a, options.b) if word is not None]
        x, x_b = (None if path is None else arrays_in(path, where=option)
                  for option, path in (("--input", options.input),
                                       ("--input-b", options.input_b)))  # fmt: skip
        found = compare(
            sides[0],
            sides[1] if len(sides) == 2 else None,
            x,
            x_b=x_b,
            tolerance=options.tolerance,
            seed=options.seed,
        )
    except (KerascopeError, ScriptFailed) as error:  # exit code 1 means that they differ
        raise UsageError(str(error)) from error
    width = max(options.width or shutil.get_terminal_size().columns, NARROWEST)
    print("\n".join(found.lines(width)))
    for output in options.output:
        print(f"wrote {found.draw().save(output)}", file=sys.stderr)
    return EQUAL if found.equal else DIFFERENT


def _side(word: str, options: Namespace) -> Any:
    """Return the model that an argument names, or the path of a tape or of another library's file.

    Raises
    ------
    UsageError
        A file does not exist, or there is only one argument and it is not a .keras or .h5 file.
    """
    suffix = Path(word).suffix.lower()
    if suffix in (*TAPES, *OF_TORCH) or library_of(word):
        return checked_file(word, "a file")
    if options.b is None:
        if suffix not in MODEL_FILES:
            raise UsageError(
                f"compare: expected two models, or a .keras or .h5 file to compare with the real "
                f"Keras, got only {word!r}."
            )
        return checked_file(word, "a .keras or .h5 file")
    return find_model(word, reading_of(options))
