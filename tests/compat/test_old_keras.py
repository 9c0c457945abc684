"""What a script gets from us, it got from the real Keras 1.2.2 and 2.2.4: row by row.

The rows are in tests/old_keras/rows, the real ones' answers beside them; README.md there says how
they were asked.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kerascope.compat import keras_imports
from kerascope.settings import config

FOLDER = Path(__file__).parents[1] / "old_keras"
sys.path.insert(0, str(FOLDER))

import ask  # noqa: E402
from differences import DIFFERENCES  # noqa: E402

DIALECTS = {"1.2.2": "1.2", "2.2.4": "2.2"}


ANSWERS = {
    version: ask.read_answers(str(FOLDER / f"answers-{version}.zip")) for version in DIALECTS
}
ROWS = [(version, names, code) for version in DIALECTS for names, code in ask.read_rows(version)]


def name_of(key: str) -> str:
    """Return the first name of a row, with its number if there are several of the same names."""
    names = key.split()
    return names[0] + names[-1] if names[-1].startswith("(") else names[0]


SPACES: dict[str, dict[str, Any]] = {}


@pytest.fixture
def names_of_keras(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    """Give the names of the prelude, with `keras` as the dialect has it."""
    version = request.getfixturevalue("version")
    before = config.dialect
    config.dialect = DIALECTS[version]
    try:
        with keras_imports():
            if version not in SPACES:
                SPACES[version] = ask.names_of_prelude()
            yield SPACES[version]
    finally:
        config.dialect = before


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("version", "names", "code"),
    ROWS,
    ids=[f"{version}-{name_of(names)}" for version, names, _ in ROWS],
)
def test_a_row_gives_what_the_real_keras_gives(
    names_of_keras: dict[str, Any], version: str, names: str, code: str
) -> None:
    asked, wanted = ANSWERS[version][names]
    assert asked == code, "The row has changed: ask the real Keras again (README.md beside it)."
    complaints = list(differences(wanted, ask.plain(ask.answer(code, names_of_keras)), "answer"))
    reason = DIFFERENCES[version].get(names)
    if reason is None:
        assert not complaints, f"{names} in Keras {version}:\n" + "\n".join(complaints[:8])
    else:
        assert complaints, f"{names} is as in Keras {version} now: take it off the differences."


@pytest.mark.parametrize("version", DIALECTS)
def test_every_stored_answer_has_its_row_still(version: str) -> None:
    assert ANSWERS[version].keys() == {names for names, _ in ask.read_rows(version)}


def differences(wanted: Any, got: Any, where: str) -> Iterator[str]:
    """Yield how our answer differs from Keras's; a dictionary of ours may say more."""
    wanted, got = alone(wanted), alone(got)
    if is_kind(wanted, "array") and is_kind(got, "array"):
        yield from array_differences(wanted["array"], got["array"], where)
    elif is_kind(wanted, "dict") and is_kind(got, "dict"):
        ours = {json.dumps(key): value for key, value in got["dict"]}
        for key, value in wanted["dict"]:
            if json.dumps(key) not in ours:
                yield f"{where}: no {key!r}"
            else:
                yield from differences(value, ours[json.dumps(key)], f"{where}[{key!r}]")
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for index, (one, other) in enumerate(zip(wanted, got, strict=True)):
            yield from differences(one, other, f"{where}[{index}]")
    elif is_number(wanted) and is_number(got):
        if not np.isclose(wanted, got, rtol=1e-4, atol=1e-6, equal_nan=True):
            yield f"{where}: {got!r}, in Keras {wanted!r}"
    elif wanted != got:
        yield f"{where}: {str(got)[:200]}, in Keras {str(wanted)[:200]}"


def array_differences(wanted: list[Any], got: list[Any], where: str) -> Iterator[str]:
    if wanted[:2] != got[:2]:
        yield f"{where}: kind and shape {got[:2]}, in Keras {wanted[:2]}"
    elif not np.allclose(wanted[2], got[2], rtol=1e-4, atol=2e-6, equal_nan=True):
        yield f"{where}: {str(got[2])[:200]}, in Keras {str(wanted[2])[:200]}"


def alone(value: Any) -> Any:
    """Return the number in an array of no axes, which Theano has in many places; else the value."""
    return value["array"][2][0] if is_kind(value, "array") and value["array"][1] == [] else value


def is_kind(value: Any, kind: str) -> bool:
    return isinstance(value, dict) and kind in value


def is_number(value: Any) -> bool:
    """Tell whether something is a number, alone or in an array of no axes."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)
