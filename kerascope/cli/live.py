"""`kerascope run --live` and `kerascope trace --live`: a script with its real library, watched."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib import import_module
from pathlib import Path

from kerascope.cli.scripts import ScriptRun, output_aside, script_of
from kerascope.cli.usage import UsageError, given
from kerascope.files import check_writable
from kerascope.foreign import WATCHED
from kerascope.foreign.live import watching
from kerascope.foreign.story import LiveStory
from kerascope.foreign.writer import TapeWriter
from kerascope.trace.records import Record

PRINTERS = "kerascope.viz.story"


def run_live(options: Namespace) -> int:
    """Run a script with its own libraries and record what its models do; return the exit code."""
    script = script_of(options)
    target = None if options.tape is None else Path(options.tape)
    if target is not None:
        with given():  # before the script runs for an hour
            check_writable(target)
        if target.suffix == ".npz":
            raise UsageError(f"--tape: expected a name like run.jsonl, got '{target}'.")
    with TapeWriter(path=target) as writer:
        story = LiveStory(_alarm, batches=0)
        code = _run(script, writer, story)
    print(f"kerascope: {_said(script, writer, story)}", file=sys.stderr)
    if target is not None and story.count:
        print(f"kerascope: wrote {target}; look: kerascope replay {target}", file=sys.stderr)
    return code


def trace_live(options: Namespace, script: ScriptRun) -> int:
    """Run a script with its own libraries and print what its models do; return the exit code."""
    show = import_module(PRINTERS).printer(options.format, sys.stdout)
    writer = TapeWriter()
    story = LiveStory(show, options.batches)
    with output_aside(options.format != "text"):
        code = _run(script, writer, story)
    if not story.count:
        sys.stdout.flush()
        print(f"kerascope: {_said(script, writer, story)}", file=sys.stderr)
    return code


def _run(script: ScriptRun, writer: TapeWriter, story: LiveStory) -> int:
    writer.listen(story)
    with watching(writer):
        return script.run()


def _alarm(record: Record) -> None:
    """Say at once what is not finite; nothing else."""
    if record.kind == "not_finite":
        batch = record.facts["batch"]
        print(f"kerascope: {batch}: {record.name}: {record.text}", file=sys.stderr)


def _said(script: ScriptRun, writer: TapeWriter, story: LiveStory) -> str:
    """Return what was recorded, in a sentence."""
    if not story.count:
        return (
            f"'{script.path}' ran no model of {' or '.join(WATCHED)}: nothing was recorded. "
            f"Without --live its `import keras` is kerascope."
        )
    events = len(writer.tape)
    return f"{writer.library}: {story.count} batches watched, {events:,} events"
