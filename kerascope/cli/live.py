"""`kerascope run --live` and `kerascope trace --live`: record scripts that use PyTorch or Keras."""

from __future__ import annotations

import sys
from argparse import Namespace
from importlib import import_module
from importlib.util import find_spec
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
    """Run a script with the real PyTorch or Keras, record its models, and return the exit code."""
    script = script_of(options)
    target = None if options.tape is None else Path(options.tape)
    if target is not None:
        with given():  # before the script runs for an hour
            check_writable(target)
        if target.suffix == ".npz":
            raise UsageError(f"--tape: expected a name like run.jsonl, got '{target}'.")
    writer, story = TapeWriter(path=target), LiveStory(_Alarm(), batches=0)
    try:
        with writer:
            return _run(script, writer, story)
    finally:  # also after Ctrl-C, which ends most long runs
        print(f"kerascope: {_summary(script, writer, story)}", file=sys.stderr)
        if target is not None and story.count:
            print(
                f"kerascope: wrote {target}. Open it with: kerascope replay {target}",
                file=sys.stderr,
            )


def trace_live(options: Namespace, script: ScriptRun) -> int:
    """Run a script with the real PyTorch or Keras, and print the steps of its models.

    Return the exit code.
    """
    show = import_module(PRINTERS).printer(options.format, sys.stdout)
    writer = TapeWriter()
    story = LiveStory(show, options.batches)
    with output_aside(options.format != "text"):
        code = _run(script, writer, story)
    if not story.count:
        sys.stdout.flush()
        print(f"kerascope: {_summary(script, writer, story)}", file=sys.stderr)
    return code


def _run(script: ScriptRun, writer: TapeWriter, story: LiveStory) -> int:
    writer.listen(story)
    with watching(writer):
        return script.run()


class _Alarm:
    """An observer of records that prints the first array with a NaN or infinity at once."""

    def __init__(self) -> None:
        self.has_said = False

    def __call__(self, record: Record) -> None:
        if record.kind == "not_finite" and not self.has_said:
            self.has_said = True
            batch = record.facts["batch"]
            print(f"kerascope: {batch}: {record.name}: {record.text}", file=sys.stderr)


def _summary(script: ScriptRun, writer: TapeWriter, story: LiveStory) -> str:
    """Return a sentence about the recorded batches and events, or why nothing was recorded."""
    if not story.count:
        missing = "".join(
            f' {name} is not installed: pip install "kerascope[{name}]".'
            for name in WATCHED
            if name not in sys.modules and find_spec(name) is None
        )
        return (
            f"'{script.path}' ran no model of {' or '.join(WATCHED)}, so nothing was recorded."
            f"{missing} Without --live its `import keras` imports kerascope."
        )
    events = len(writer.tape)
    text = f"{writer.library}: {story.count} batches watched, {events:,} events"
    if story.alarms:
        first = story.alarms[0]
        text += f"; first not finite: {first.facts['batch']}, {first.name}"
    if len(story.alarms) > 1:
        text += f", and {len(story.alarms) - 1} later batches"
    return text
