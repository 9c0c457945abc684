"""One list of commands given to Python's own debugger and to this one: both say the same."""

import re
import subprocess
import sys

import pytest
from debugger_programs import fit_two_layers
from debugger_transcripts import transcript

PROGRAM = """\
def outer():
    first()
    second()

def first():
    x = 3
    y = 4

def second():
    z = 5

outer()
"""


def python_says(tmp_path, *commands):
    """Return what each command to pdb answers; it stands in `first`, at its first line."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    run = subprocess.run(
        [sys.executable, "-m", "pdb", str(path)],
        input="".join(f"{line}\n" for line in ["b 6", "c", "clear 1", *commands, "q"]),
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    _, *pieces = run.stdout.split("(Pdb) ")
    answers = ["\n".join(piece.splitlines()) for piece in pieces[3 : 3 + len(commands)]]
    return [re.sub(r"\S*program\.py:\d+", "PLACE", text) for text in answers]


def we_say(*commands):
    text, _, _ = transcript(fit_two_layers, "b phase:forward", "c", "clear 1", *commands, "q")
    _, _, _, _, *pieces = text.split("(Kdb) ")
    answers = []
    for command, piece in zip(commands, pieces, strict=False):
        assert piece.startswith(f"{command}\n"), piece
        answers.append("\n".join(piece.splitlines()[1:]))
    places = r"(?<= )(depth 1|phase:commit)$"
    return [re.sub(places, "PLACE", text, flags=re.MULTILINE) for text in answers]


# The same commands; a place is a line there and a selector here.
BREAKS = [
    ("b 7", "b depth 1"),
    ("tbreak 10", "tbreak phase:commit"),
    ("condition NUMBER x > 2", None),
    ("ignore NUMBER 3", None),
    ("ignore NUMBER 1", None),
    ("b", None),
    ("disable NUMBER", None),
    ("b", None),
    ("enable NUMBER", None),
    ("condition NUMBER", None),
    ("ignore NUMBER", None),
    ("clear NUMBER", None),
    ("b", None),
]
VALUES = [
    "p 1 + 1",
    "p 'a' * 3",
    "p [1, 2, {'a': (3,)}]",
    "pp list(range(40))",
    "p 1 / 0",
    "p nobody_knows_it",
    "!spam = 3",
    "p spam",
    "spam",
    "spam + 1",
    "!spam += 2",
    "p spam",
    "whatis 5",
    "whatis 'a'",
    "for i in range(3): print(i)",
    "spam = 10",
    "p spam",
    "alias twice p 2 * (%1)",
    "twice 21",
    "alias twice",
    "unalias twice",
    "p",
]


WORDS = """
s n unt r c u d w l ll a p pp b tbreak cl condition ignore enable disable commands whatis display
undisplay interact alias unalias restart run source q h j
"""


def test_breakpoints_are_made_changed_listed_and_cleared_alike(tmp_path):
    theirs = python_says(tmp_path, *[there.replace("NUMBER", "2") for there, _ in BREAKS])
    ours = we_say(*[(here or there).replace("NUMBER", "2") for there, here in BREAKS])
    assert ours == theirs


def test_values_are_printed_alike(tmp_path):
    ours, theirs = we_say(*VALUES), python_says(tmp_path, *VALUES)
    for command, here, there in zip(VALUES, ours, theirs, strict=True):
        if command == "p":  # nothing to print is an error in both
            assert here.startswith("*** "), here
            assert there.startswith("*** "), there
        else:
            assert here == there, command


@pytest.mark.parametrize("word", WORDS.split())
def test_every_short_word_of_pdb_is_known_or_told(word):
    (said,) = we_say(f"help {word}")
    if word == "j":  # a model cannot jump over a computation; `goto` and `set` are here for that
        assert said.startswith("*** help: unknown command 'j'")
    else:
        assert "Usage: " in said
