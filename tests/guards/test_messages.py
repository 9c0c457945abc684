"""Each message of the source has the form of a message, and the guard sees when one has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from guards import messages


def faults_of(text: str, tmp_path: Path) -> list[str]:
    """Return the faults of the messages in a source, without place and text."""
    path = tmp_path / "module.py"
    path.write_text(text)
    return [line.split(": ")[1] for line in messages.faults(messages.messages(path), [])]


def test_every_message_of_the_source_has_this_form() -> None:
    found = [m for path in messages.files(["kerascope"]) for m in messages.messages(path)]
    assert len(found) > 1000
    assert messages.faults(found, messages.read_stored()) == []


@pytest.mark.parametrize(
    "text",
    [
        "raise ShapeError(f\"Dense '{n}': expected 2 axes, got 3. Add Flatten() before it.\")",
        'raise ArgumentError(f"fit: there is no metric {name!r}. {hint}".rstrip())',
        "raise ArgumentError(f\"draw: there is no style {s!r}. Use one of: {', '.join(STYLES)}.\")",
        'warnings.warn("fit: the last batch is smaller. Use drop_remainder=True.", stacklevel=2)',
        "raise error",
        "raise KeyError(name)",
        "raise ValueError('no numbers')",
        "raise",
    ],
)
def test_good_messages_have_no_fault(text: str, tmp_path: Path) -> None:
    assert faults_of(text, tmp_path) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('raise DataError("a wrong thing. Use another.")', "starts in lower case"),
        ('raise DataError("Dense: expected 2 axes, got 3")', "does not end as a sentence"),
        ("raise DataError(f\"draw: {x} is no style. Use 'dark'.\")", "'is no X'"),
        ('raise DataError(f"draw: style {x}; expected a name.")', "'; expected' or '; got'"),
        ('raise DataError(f"draw: got {x}, expected a name.")', "'got' before 'expected'"),
        ("raise DataError(f\"draw: one of {', '.join(x)}. Give one of these.\")", "a list of"),
        ('raise DataError("Draw has failed.")', "no remedy"),
        ('warnings.warn("Draw has failed.")', "no remedy"),
        ('raise DataError("Good. Do it." if x else "Draw has failed.")', "no remedy"),
        ('raise DataError("Draw " + "has failed.")', "no remedy"),
        ('def why(x):\n    return f"Draw {x} fails."\nraise DataError(why(1))', "no remedy"),
    ],
)
def test_each_fault_is_found(text: str, fault: str, tmp_path: Path) -> None:
    assert any(fault in found for found in faults_of(text, tmp_path)), faults_of(text, tmp_path)


def test_a_stored_message_needs_no_remedy(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text('raise DataError("Draw has failed.")')
    found = list(messages.messages(path))
    assert messages.faults(found, messages.without_remedy(found)) == []


def test_the_stored_list_is_read_as_it_was_written(tmp_path: Path) -> None:
    messages.write_stored(["a.py: It fails.", "b.py: It fails too."], tmp_path / "messages.txt")
    assert messages.read_stored(tmp_path / "messages.txt") == [
        "a.py: It fails.",
        "b.py: It fails too.",
    ]


def test_a_folder_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert messages.main(["kerascop"]) == messages.WRONG_USAGE
    assert "There is no kerascop here." in capsys.readouterr().err
