"""`kerascope play`: a script, a tape or a forward pass as a page or a moving picture."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from kerascope.cli.models import find_model
from kerascope.cli.pictures import arrays_in, reading_of
from kerascope.cli.scripts import ScriptRun, checked_file, checked_script, hint_of_live
from kerascope.cli.usage import UsageError, given
from kerascope.comparing.drawn import drawn_inputs, note_of
from kerascope.comparing.subjects import prepared
from kerascope.errors import KerascopeError
from kerascope.files import check_writable
from kerascope.foreign import library_of
from kerascope.model_files import is_model_file
from kerascope.player.film import Film, check_film_name
from kerascope.player.player import Player, kind_of_file
from kerascope.player.playing import first_steps, play
from kerascope.trace.records import counted
from kerascope.trace.tape import trace
from kerascope.trace.tape_store import Tape
from kerascope.unsupported import FOR_SCRIPTS, got_instead

EXPECTED = "a script, a tape (.jsonl), or a .keras, .h5, .json or .onnx file"


def run_play(options: Namespace) -> int:
    """Run the script or model of `kerascope play`, write its page, and return the exit code."""
    if is_model_file(options.script) or library_of(options.script):
        return _play_model(options)
    if options.script.lower().endswith(FOR_SCRIPTS):
        raise UsageError(
            f"play: expected {EXPECTED}, "
            f"{got_instead(options.script, 'give the script: script.py')}"
        )
    if options.input is not None:
        raise UsageError("--input needs a model file. A script has its own data.")
    path = checked_script(options.script)
    is_tape = path.suffix == ".jsonl"
    if _is_film(options) and options.level is not None:
        raise UsageError("--level: a film has no level. Leave out --level, or write a page.")
    target = _target(path, options)
    if is_tape:
        tape, code = Tape.load(path), 0
    else:
        script = ScriptRun(path, options.script_words)
        with trace(history=None) as tape:
            code = script.run()
    if not len(tape):
        if code:
            return code
        raise KerascopeError(
            f"'{path}' built no model, so there is nothing to play. Expected a script that calls "
            f"layers.{hint_of_live(path)}"
        )
    if _is_film(options):
        film = play(tape, to=target, steps=options.batches)
        print(_written(target, film), file=sys.stderr if code else sys.stdout)
        return code
    steps, model = first_steps(tape, options.batches)
    player = play(steps, to=target, title=path.name, level=options.level, graph=model)
    print(_written(target, player), file=sys.stderr if code else sys.stdout)
    return code


def _play_model(options: Namespace) -> int:
    """Play one forward pass of the model in a file."""
    path = checked_file(options.script, EXPECTED)
    if _is_film(options):
        raise UsageError(
            "play: a film shows training steps, and a model file has none. Give a script or a "
            "tape of a training; for the forward pass, write -o pass.svg."
        )
    target = _target(path, options)
    model = find_model(options.script, reading_of(options))
    x, note = None, ""
    if options.input is not None:
        x = arrays_in(options.input, where="--input")
    else:
        x, note = drawn_inputs([prepared(model)], options.seed), f" ({note_of(options.seed)})"
    if x is None:
        raise UsageError(
            f"'{path}' does not define its inputs. Give arrays with --input FILE (.npy, .npz)."
        )
    if isinstance(x, list) and isinstance(model, str):
        x = tuple(x)  # the arguments of a model of another library
    player = play(model, x, to=target, title=path.name, level=options.level)
    print(f"{_written(target, player)}{note}")
    return 0


def _is_film(options: Namespace) -> bool:
    return options.output is not None and Path(options.output).suffix == ".gif"


def _target(path: Path, options: Namespace) -> Path:
    """Return the path of the output file. Raise if its format is unknown or it cannot be written.

    Call this before the script runs, which may take an hour.
    """
    target = Path(options.output or path.with_suffix(".html").name)
    with given():
        (check_film_name if _is_film(options) else kind_of_file)(target)
        check_writable(target)
    return target


def _written(target: Path, player: Player | Film) -> str:
    if isinstance(player, Film):
        return f"wrote {target}: {counted(len(player.frames), 'step')}"
    return f"wrote {target}: {player.about['en'] if player.about else ''}"
