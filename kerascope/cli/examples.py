"""`kerascope examples [FOLDER]`: the scripts that the course reads, copied to a folder of yours."""

from __future__ import annotations

import ast
from argparse import ArgumentParser, Namespace
from pathlib import Path

from kerascope.cli.usage import UsageError, exit_codes
from kerascope.files import replacing
from kerascope.lessons.places import examples_folder

DONE = 0
FOLDER = "examples"
EXAMPLES_EXAMPLES = f"""\
  kerascope examples              copy them to ./{FOLDER}
  kerascope examples .            ... to the folder in which you stand, as chapter 0 wants it
  kerascope examples --list       only say what there is
  kerascope examples --force      write also over those that you have changed

Without --force a file that is there already is left as it is.

{exit_codes()}
"""


def add_examples_options(parser: ArgumentParser) -> None:
    """Add what can be typed after `kerascope examples`."""
    add = parser.add_argument
    parser.set_defaults(dialect=None)
    add("folder", nargs="?", default=FOLDER, metavar="FOLDER", help=f"default ./{FOLDER}")
    add("--list", action="store_true", help="copy nothing; a line for each example")
    add("--force", action="store_true", help="write over files that were changed")


def run_examples(options: Namespace) -> int:
    """Copy the examples, or list them; return the exit code.

    Raises
    ------
    UsageError
        The folder is none, or cannot be made.
    UnavailableError
        The examples are not in this installation, or a file cannot be written.
    """
    examples = sorted(examples_folder().glob("*.py"))
    if options.list:
        width = max(len(path.name) for path in examples)
        for path in examples:
            print(f"{path.name:<{width}}  {_about(path)}")
        return DONE
    folder = Path(options.folder)
    _make(folder, examples)
    for line in _copy(examples, folder, options.force):
        print(line)
    return DONE


def _about(path: Path) -> str:
    """Return the first line of a script's docstring."""
    docstring = ast.get_docstring(ast.parse(path.read_bytes())) or ""
    return docstring.partition("\n")[0]


def _make(folder: Path, examples: list[Path]) -> None:
    if folder.name in {path.name for path in examples}:
        raise UsageError(
            f"examples: {str(folder)!r} is one of the examples; expected a folder. "
            f"`kerascope examples` copies all of them."
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"examples: {str(folder)!r} is a file; expected a folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"examples: cannot make the folder {str(folder)!r}: {error.strerror}."
        ) from None


def _copy(examples: list[Path], folder: Path, is_forced: bool) -> list[str]:
    """Copy what is not there; return what was done, a line for each kind of thing."""
    copied, same, kept = [], [], []
    for path in examples:
        target, content = folder / path.name, path.read_bytes()
        if target.is_file() and target.read_bytes() == content:
            same.append(path.name)
        elif target.exists() and not (is_forced and target.is_file()):
            kept.append(path.name)
        else:
            with replacing(target) as unfinished:
                unfinished.write_bytes(content)
            copied.append(path.name)
    lines = []
    if copied:
        lines.append(f"{_counted(copied)} copied to {folder}")
    if same:
        lines.append(f"{_counted(same)} already in {folder}")
    if kept:
        lines.append(f"kept what is yours: {', '.join(kept)} (--force writes over it)")
    if copied:
        lines.append(f"begin with: kerascope run {folder / 'example.py'}")
    return lines


def _counted(names: list[str]) -> str:
    return f"{len(names)} example{'' if len(names) == 1 else 's'}"
