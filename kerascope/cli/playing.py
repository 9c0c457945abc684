"""`kerascope play script.py`: run a script, and keep what it does as a page or a moving picture."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

from kerascope.cli.scripts import ScriptRun, checked_script, hint_of_live
from kerascope.cli.usage import given
from kerascope.errors import KerascopeError
from kerascope.files import check_writable
from kerascope.player.player import kind_of_file
from kerascope.player.playing import first_steps, play
from kerascope.trace.tape import trace
from kerascope.trace.tape_store import Tape


def run_play(options: Namespace) -> int:
    """Run the script of `kerascope play`, write what plays it, and return the exit code."""
    path = checked_script(options.script)
    is_tape = path.suffix == ".jsonl"
    target = Path(options.output or path.with_suffix(".html").name)
    with given():  # before the script runs for an hour
        kind_of_file(target)
        check_writable(target)
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
            f"'{path}' built no model: there is nothing to play. Expected a script that calls "
            f"layers.{hint_of_live(path)}"
        )
    steps, model = first_steps(tape, options.batches)
    player = play(steps, to=target, title=path.name, level=options.level, graph=model)
    about = player.about["en"] if player.about else ""
    print(f"wrote {target}: {about}", file=sys.stderr if code else sys.stdout)
    return code
