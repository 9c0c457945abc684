"""Write compatibility.md: each public name of Keras 1.2.2, 2.2.4 and 3, and its support here.

`python3 dev.py gallery` runs it. It reads the lists of names in tests/, the stored answers of the
real Keras, and the tables of refused names. A test compares its output with the page.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import zipfile
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "old_keras")]

import ask  # noqa: E402
from differences import DIFFERENCES, OTHER_ARGUMENTS  # noqa: E402
from keras_names import Name, arguments_of, difference, found, names_of  # noqa: E402
from keras_ops_kinds import DIFFERENT, calls_of  # noqa: E402
from keras_ops_kinds import NAMES as OPERATIONS  # noqa: E402

from kerascope.compat import keras_imports  # noqa: E402
from kerascope.errors import NotYetError, RefusedError  # noqa: E402
from kerascope.missing_names import Refused  # noqa: E402
from kerascope.settings import config  # noqa: E402

PAGE = HERE / "compatibility.md"
DIALECTS = {"1.2.2": "1.2", "2.2.4": "2.2", "3": "3"}

SAME, BUT, HERE_TOO, REFUSED = "same", "same but for", "here, not compared", "refused"

# Kind -> its meaning. Each name has one of these kinds.
KINDS = {
    SAME: "the arguments equal the real ones, and a test compares its results with stored answers\n"
    "  of the real Keras.",
    BUT: "compared, too, or different on purpose; the row states the difference.",
    HERE_TOO: "it exists; no test compares it with the real one under this name.",
    REFUSED: "importing or using it raises an error with the reason and an alternative.",
}

# Methods that the row of a layer tests implicitly; also its configuration, unless the row has
# `config=False`.
USED_BY_LAYER = ("build", "call", "compute_output_shape", "get_output_shape_for")

WORDS_OF_KERAS_2 = (
    "written with Keras 2's names, such as `units`; configurations of Keras 1 can be read."
)

TEXT = """\
# Keras's names, one by one

This page lists every public name of Keras 1.2.2, 2.2.4 and 3.15, compared with kerascope in the
dialect of that version (`import keras` under `kerascope run --dialect ...`).

{kinds}

Three differences are deliberate everywhere:

- Code in a file (a pickled function, a Lambda's bytes) runs only if you allow it.
- A configuration that you pass in is never changed.
- 64-bit numbers keep their width, where Keras 3 on JAX halves them. (`array` and
  `convert_to_tensor` convert float64 to `floatx`.)

The functions of `keras.ops` return Keras 3's dtypes. The functions of `keras.backend` in Keras 1
and 2 convert arrays of floats to `floatx`.

{totals}
"""


class Row(NamedTuple):
    """The support of one name: one of `KINDS`, with the difference or the reason of a refusal."""

    kind: str
    words: str = ""


# --- what is compared -----------------------------------------------------------------------------


@cache
def compared(version: str) -> frozenset[str]:
    """Return the full names whose answers by the real Keras are stored and compared."""
    if version == "3":
        return frozenset(_asked_of_keras_3())
    names: set[str] = set()
    answers = ask.read_answers(str(TESTS / "old_keras" / f"answers-{version}.zip"))
    for key, (code, _) in answers.items():
        for name in key.split():
            names.add(name)
            if "layer(" in code:
                names.update(f"{name}.{member}" for member in USED_BY_LAYER)
            if "layer(" in code and "config=False" not in code:
                names.add(f"{name}.get_config")
    return frozenset(names)


def _asked_of_keras_3() -> Iterator[str]:
    for file in sorted((TESTS / "references").glob("*.zip")):
        with zipfile.ZipFile(file) as archive:
            log: dict[str, list[list[Any]]] = json.loads(archive.read("log.json"))
        for questions in log.values():
            for question in questions:
                yield from re.findall(r"call (keras(?:\.\w+)+)", str(question[0]))


def differs_by_design(version: str, name: str) -> str | None:
    """Return the deliberate difference of a name, from the tables in tests/; None without one."""
    last = name.rpartition(".")[2]
    if version == "3" and name.startswith("keras.ops.") and last in DIFFERENT:
        count, words = DIFFERENT[last]
        return f"{words.rstrip('.')} ({count} of {len(calls_of(last))} calls)."
    if version == "1.2.2" and name.startswith("keras.layers.") and name.endswith(".get_config"):
        return WORDS_OF_KERAS_2
    for names, words in DIFFERENCES.get(version, {}).items():
        if name in names.split():
            return words
    return None


# --- one name -------------------------------------------------------------------------------------


def row_of(version: str, name: Name) -> Row:
    """Return the support of a name. The version's dialect must be set and `keras` be ours."""
    try:
        thing = found(name)
    except (NotYetError, RefusedError) as error:
        return Row(REFUSED, _one_line(str(error).partition(": ")[2]))
    if inspect.isclass(thing) and issubclass(thing, Refused):
        return Row(REFUSED, thing.reason)
    words = [
        OTHER_ARGUMENTS.get(str(name)) or _other_arguments(name, thing),
        differs_by_design(version, str(name)),
    ]
    differences = " ".join(text for text in words if text)
    differences = re.sub(r"(?<=\. )[a-z]", lambda first: first[0].upper(), differences)
    is_compared = _is_compared(version, name)
    if differences:
        note = "" if is_compared or differs_by_design(version, str(name)) else " Not compared."
        return Row(BUT, differences + note)
    return Row(SAME if is_compared else HERE_TOO)


def _is_compared(version: str, name: Name) -> bool:
    names = compared(version)
    last = name.path
    if str(name) in names:
        return True
    if version == "3" and f"{name.module}.".startswith("keras.ops."):
        return last in OPERATIONS or f"keras.ops.{last}" in names
    return False


def _other_arguments(name: Name, thing: Any) -> str | None:
    """Return a description of how the arguments differ; None if they are equal."""
    if name.arguments is None:
        return None
    try:
        ours = arguments_of(thing, name)
    except (TypeError, ValueError):
        return None  # an attribute here
    said = difference(name.arguments, ours)
    if said is not None:
        return f"{said}."
    kinds = inspect.Parameter
    unnamed = (kinds.VAR_POSITIONAL, kinds.VAR_KEYWORD)
    more = [p.name for p in ours.parameters.values() if p.kind not in unnamed]
    more = [word for word in more if word not in name.arguments.parameters]
    return f"more arguments: {', '.join(f'`{word}`' for word in more)}." if more else None


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- the page -------------------------------------------------------------------------------------


def rows_of(version: str) -> dict[Name, Row]:
    """Return all names of a version with their rows."""
    before = config.dialect
    config.dialect = DIALECTS[version]
    try:
        with keras_imports():
            return {name: row_of(version, name) for name in names_of(version)}
    finally:
        config.dialect = before


def page() -> str:
    """Return the text of compatibility.md."""
    tables = {version: rows_of(version) for version in DIALECTS}
    lines = [
        "| version | " + " | ".join(["names", *KINDS]) + " |",
        "|---|" + "---|" * (len(KINDS) + 1),
    ]
    for version, rows in tables.items():
        counts = Counter(row.kind for row in rows.values())
        numbers = [len(rows), *(counts[kind] for kind in KINDS)]
        lines.append(f"| Keras {version} | " + " | ".join(map(str, numbers)) + " |")
    meanings = "\n".join(f"- **{kind}**: {meaning}" for kind, meaning in KINDS.items())
    parts = [TEXT.format(kinds=meanings, totals="\n".join(lines))]
    for version, rows in tables.items():
        parts.append(f"## Keras {version}\n")
        for module in dict.fromkeys(name.module for name in rows):
            below = {name: row for name, row in rows.items() if name.module == module}
            parts.append(f"### {module} ({version})\n\n{_module(below)}\n")
    return "\n".join(parts)


def _module(rows: dict[Name, Row]) -> str:
    lines = []
    for kind in (SAME, HERE_TOO):
        names = [f"`{name.path}`" for name, row in rows.items() if row.kind == kind]
        if names:
            lines.append(f"- {kind}: {', '.join(names)}")
    for kind in (BUT, REFUSED):
        by_words: dict[str, list[str]] = {}
        for name, row in rows.items():
            if row.kind == kind:
                by_words.setdefault(row.words, []).append(f"`{name.path}`")
        lines += [f"- {kind}: {', '.join(names)}: {words}" for words, names in by_words.items()]
    return "\n".join(lines)


def main() -> None:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE.name}")


if __name__ == "__main__":
    main()
