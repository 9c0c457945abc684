"""Run the commands that a page of the documents shows, with a shell or without."""

import shlex
import subprocess
import sys

SECONDS = 600
PROGRAMS = {"kerascope": [sys.executable, "-m", "kerascope"], "python": [sys.executable]}


def typed_into_a_shell(line, **options):
    """Run a line as a shell does."""
    program, _, rest = line.partition(" ")
    return subprocess.run(f"{shlex.join(PROGRAMS[program])} {rest}", shell=True, **options)


def read_by_us(line, **options):
    """Run a line without a shell: words, and at their end perhaps the file that is written."""
    program, *words = shlex.split(line)
    assert not set("|&;<$*`") & set(line), f"{line}: only a shell knows what that is"
    if ">" not in words:
        return subprocess.run([*PROGRAMS[program], *words], **options)
    *words, sign, name = words
    assert sign == ">"
    finished = subprocess.run([*PROGRAMS[program], *words], **options)
    (options["cwd"] / name).write_text(finished.stdout, encoding="utf-8")
    finished.stdout = ""
    return finished
