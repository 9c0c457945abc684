"""What can be typed after `kerascope debug` and `kerascope replay`."""

from __future__ import annotations

import argparse

from kerascope.cli.usage import Parser, exit_codes

DEBUG_CODES = {2: "or what --until names never happened", 3: "what --fail-on names was found"}
REPLAY_CODES = {
    2: "or what --until names never happened",
    4: "--against: the script computes something else than what was recorded",
}
DEBUG_EXAMPLES = f"""\
As in `python -m pdb`, options stand before the script; what follows it is its own. It stops before
the first event; `help` lists the commands:
  kerascope debug train.py data.csv
  kerascope debug -c 'b dense_2:bwd' -c c train.py
  kerascope debug -x commands.txt train.py
  kerascope debug --until backward train.py     runs to the first backward phase, then asks
  kerascope debug --fail-on nan train.py        exit code 3 if a NaN comes out anywhere

If standard input is no terminal, commands are read from it, and each is written after its prompt:
  echo 'c' | kerascope debug train.py

With --step-all or --format it runs without asking, and what it writes is the result:
  kerascope debug --step-all train.py           every stop, as in the terminal
  kerascope debug --step-all=op --until 'batch 1' train.py
  kerascope debug --format jsonl train.py > t.jsonl     `kerascope replay t.jsonl` reads it
  kerascope debug --format svg --until dense_2:ret train.py > half.svg

formats: text, the stops; md, a Markdown page of them; jsonl, a line for each event, as `record`
writes it but with the figures of arrays in their place; html, a page of all events and the graph;
svg, the graph as it stands at the end. --step-all=GRAIN chooses the stops of text and md (default:
node) and the events of jsonl and html (default: all). For all but text, what the script prints goes
to standard error. --until ends the output and the program there; what it names must happen. The
commands of -c and -x are done before the first event then, and must not move; .kscoperc is not
read. With --until alone they, and those of .kscoperc, are done where it asks.

{exit_codes(DEBUG_CODES)}
"""
REPLAY_EXAMPLES = f"""\
In `kerascope debug`, `record t.jsonl` writes a tape. Its replay runs no code, neither the script's
nor the model's: it can be read where Keras scripts cannot be trusted.
  kerascope replay t.jsonl
  kerascope replay -c 'catch nan' -c c t.jsonl
  kerascope replay --step-all=op --until forward t.jsonl
  kerascope replay --format md t.jsonl > t.md

--step-all, --until and --format are those of `kerascope debug`.

With --against the script does run, once more, and all that it computes is compared with the tape;
what it prints goes to standard error. It is the same only if its random numbers have seeds:
  kerascope replay --against train.py t.jsonl
  kerascope replay --against train.py t.jsonl -- data.csv --epochs 3

{exit_codes(REPLAY_CODES)}
"""
BARE_STEP_ALL = "--step-all"


def add_debug_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope debug`."""
    add = parser.add_argument
    add("script", metavar="script.py [argument ...]")
    _add_commands(parser)
    add("-x", "--commands-from", metavar="FILE", dest="commands_file",
        help="do the commands in this file first, one on each line; # is a comment")  # fmt: skip
    _add_outputs(parser)
    add("--fail-on", metavar="CONDITIONS",
        help="run on without asking, and fail with exit code 3 at the first of these: nan, inf, "
        "exception, dead, vanishing, exploding, stuck, ratio>0.1 (several: commas)")  # fmt: skip


def _add_commands(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-c", "--command", action="append", default=[], metavar="CMD", dest="commands",
        help="do this command first; may be given several times",
    )  # fmt: skip
    parser.add_argument("--tui", action="store_true", help="on the full screen; needs Textual")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options that let it run without asking."""
    add = parser.add_argument
    add(BARE_STEP_ALL, metavar="=GRAIN", nargs="?", const="",
        help="run on without asking, and write every stop of this grain: act, phase, node (the "
        "default), op or detail; = and the grain follow without a space")  # fmt: skip
    add("--until", metavar="SEL",
        help="run without asking to the first event that SEL names: as `tbreak` takes it "
        "(dense_2, dense_2:bwd, phase:commit, 'batch 17') or as `until` does (backward, 2, "
        "t=61)")  # fmt: skip
    add("--format", metavar="FORMAT",
        help="run on without asking, and write text, md, jsonl, html or svg to standard "
        "output")  # fmt: skip


def split_debug_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Tell our own options from the script and its arguments, as pdb does.

    Examples
    --------
    >>> parser = Parser()
    >>> add_debug_options(parser)
    >>> split_debug_words(parser, ["-c", "c", "train.py", "-c", "data"])
    (['-c', 'c', 'train.py'], ['-c', 'data'])
    >>> split_debug_words(parser, ["--step-all", "train.py"])
    (['--step-all=', 'train.py'], [])
    >>> split_debug_words(parser, ["-c", "-x", "train.py"])
    (['-c-x', 'train.py'], [])
    """
    ours, theirs = parser.split_at_script(words)
    options = [word for option in parser.with_their_values(ours) for word in _safe(option)]
    return with_own_grain(options), theirs


def _safe(option: list[str]) -> list[str]:
    """Return an option and its value; as one word if the value looks like another option."""
    name, *value = option
    if name in ("-c", "--command") and value and value[0].startswith("-"):
        return [f"{name}={value[0]}" if name.startswith("--") else f"{name}{value[0]}"]
    return option


def split_replay_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Tell our own words from those behind `--`, which a script of `--against` gets.

    Examples
    --------
    >>> split_replay_words(Parser(), ["--against", "train.py", "t.jsonl", "--", "data.csv"])
    (['--against', 'train.py', 't.jsonl'], ['data.csv'])
    """
    at = words.index("--") if "--" in words else len(words)
    return with_own_grain(words[:at]), words[at + 1 :]


def with_own_grain(words: list[str]) -> list[str]:
    """Return the words so that `--step-all` alone does not take the next word as its grain."""
    return [f"{word}=" if word == BARE_STEP_ALL else word for word in words]


def add_replay_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope replay`."""
    parser.add_argument("file", metavar="t.jsonl")
    _add_commands(parser)
    _add_outputs(parser)
    parser.add_argument("--against", metavar="script.py",
        help="run the script again and compare it with the tape, event by event; what follows -- "
        "is the script's own")  # fmt: skip
