"""The English is no stiffer than its stored ceilings, and the guard sees when it is."""

from __future__ import annotations

from pathlib import Path

import pytest

from guards import prose

STIFF = '"""Tell whether somebody stands in a list, beside those of which there are so many."""\n'


def test_no_folder_is_above_its_ceiling() -> None:
    found = [p for path in prose.files(prose.READ) for p in prose.passages(path)]
    assert prose.too_many(prose.rates(found), prose.read_ceilings()) == []


def test_docstrings_messages_and_comments_are_read_and_examples_are_not(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        '"""Doc.\n\n>>> example\n"""\n# a comment\nraise ValueError("a message of five words")\n'
    )
    found = [(p.line, p.kind, p.text) for p in prose.passages(path)]
    assert found == [
        (1, "docstring", "Doc.\n"),
        (6, "message", "a message of five words"),
        (5, "comment", "a comment"),
    ]


def test_code_in_documents_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("One.\n```\nTell whether\n```\nTwo.\n")
    assert [p.text for p in prose.passages(path)] == ["One.", "Two."]


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of one stiff file, whose ceilings are in a file of their own."""
    (tmp_path / "kerascope").mkdir()
    (tmp_path / "kerascope" / "module.py").write_text(STIFF)
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "READ", ["kerascope"])
    read, write, file = prose.read_ceilings, prose.write_ceilings, tmp_path / "prose.txt"
    monkeypatch.setattr(prose, "read_ceilings", lambda: read(file))
    monkeypatch.setattr(prose, "write_ceilings", lambda ceilings: write(ceilings, file))
    return file


def test_a_stiff_folder_fails_until_it_is_rewritten(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert prose.main([]) == prose.TOO_MANY
    assert "at most 10 allowed" in capsys.readouterr().out
    (stored.parent / "kerascope" / "module.py").write_text('"""Return the depth of a node."""\n')
    assert prose.main([]) == prose.OK


def test_ceilings_only_fall(stored: Path) -> None:
    module = stored.parent / "kerascope" / "module.py"
    module.write_text('"""Return the depth of a node."""\n')
    assert prose.main(["--write"]) == prose.OK
    module.write_text(STIFF)
    assert prose.main(["--write"]) == prose.OK
    assert prose.read_ceilings() == {"kerascope": prose.LOWEST}
    assert prose.main([]) == prose.TOO_MANY


def test_each_phrase_is_printed_with_its_place(
    stored: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prose.main(["--lines"])
    printed = capsys.readouterr().out
    for phrase in ("Tell whether", "somebody", "stands in", "beside", "of which", "so many"):
        assert f"kerascope/module.py:1: '{phrase}'" in printed


def test_a_folder_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert prose.main(["kerascop"]) == prose.WRONG_USAGE
    assert "There is no kerascop here." in capsys.readouterr().err
