"""What the tests of the source documents share."""

import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import kerascope
from kerascope import backend as K

OLD_PATHS = ("engine.topology", "engine.training", "objectives", "initializations")


@pytest.fixture(autouse=True)
def fresh_names_and_seeds() -> Iterator[None]:
    """Begin each test with dense_1, with the same numbers, and in the dialect that was set."""
    dialect = kerascope.config.dialect
    K.clear_session()
    np.random.seed(0)
    yield
    kerascope.config.dialect = dialect
    K.clear_session()


@pytest.fixture
def keras_1() -> None:
    """Speak the dialect of Keras 1.2, which S0 and S4 describe."""
    kerascope.config.dialect = "1.2"


@pytest.fixture
def data() -> tuple[np.ndarray, np.ndarray]:
    """S4's data: 50 rows of 20 numbers, 50 labels of which about half are 1."""
    random = np.random.default_rng(0)
    return random.normal(size=(50, 20)), random.integers(0, 2, size=50)


@pytest.fixture
def run_printed(monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """Return a function that runs a document's code with kerascope where it says keras."""
    names = [module.name for module in pkgutil.iter_modules(kerascope.__path__)]
    for name in (*names, "layers.core", *OLD_PATHS):
        if name.startswith("__") or name in ("cli", "viz"):
            continue
        module = importlib.import_module(f"kerascope.{name}")
        monkeypatch.setitem(sys.modules, f"keras.{name}", module)
    monkeypatch.setitem(sys.modules, "keras", kerascope)

    def run(code: str, **given: Any) -> dict[str, Any]:
        namespace: dict[str, Any] = {"__name__": "printed", **given}
        exec(compile(code, "printed.py", "exec"), namespace)
        return namespace

    return run
