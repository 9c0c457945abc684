"""No test of a data set touches the network or the reader's own cache."""

from pathlib import Path
from urllib.error import URLError

import pytest


def refuse(origin, timeout):
    raise URLError("there is no network in tests")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.setattr("urllib.request.urlopen", refuse)
    folder = tmp_path / "keras" / "datasets"
    folder.mkdir(parents=True)
    return folder
