"""The examples in the docstrings of the guards are right."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

NAMES = [
    *(
        "interface",
        "commands",
        "names",
        "prose",
        "messages",
        "samples",
        "wheel",
        "speed.intervals",
        "speed.command",
    ),
    *(f"mutants.{name}" for name in ("choosing", "reaching", "running", "command")),
]


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_are_right(name: str) -> None:
    failed, tried = doctest.testmod(import_module(f"guards.{name}"))
    assert tried > 0
    assert failed == 0
