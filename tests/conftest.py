"""What all tests share: markers and counts, reports, warm Pythons, Keras's stored answers."""

import gc
import os
import sys
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault("JAX_ENABLE_COMPILATION_CACHE", "false")  # no files in the home folder
# Small programs that run once: to compile them takes longest. The stored answers were made so, too.
os.environ.setdefault("XLA_FLAGS", "--xla_backend_optimization_level=0")
# Without bytecode each worker, and each process of a test, would compile everything again.
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    sys.dont_write_bytecode = False
# Tests run side by side, one on each core: threads of the BLAS would wait there for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import counted
import keras_reference
import parts
import pytest
import reported
import thinned
import warm_python
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

# Machines are slow at times: nothing fails for the time it took.
settings.register_profile("kerascope", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("kerascope")


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Register the plugins: counts of tests, parts of a run, answers of the real Keras.

    A registered plugin is called for all files; the hooks of a conftest only for those beside it.
    """
    pluginmanager.register(counted, "counted")
    pluginmanager.register(parts, "parts")
    pluginmanager.register(keras_reference, "keras_reference")


def pytest_configure(config: pytest.Config) -> None:
    """Let the processes that tests start be copies of a warm Python, and workers be brief."""
    reported.install(config)
    warm_python.install()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]):
    """Say which rows the default set leaves out, before anybody counts or chooses."""
    thinned.leave_out(items)
    return (yield)


def pytest_unconfigure() -> None:
    """End the server of the copies, if one was started."""
    warm_python.close_server()


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Path):
    """Look for examples in docstrings only in files that have a prompt.

    Else every file of tests is gone through twice, for next to no example.
    """
    collectors = yield
    if not collectors or ">>> " in file_path.read_text(encoding="utf-8"):
        return collectors
    return [one for one in collectors if not isinstance(one, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect no garbage while tests are collected: there is none, and it takes a fifth of it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave the tests themselves, which live to the end, out of every garbage collection.

    A collection otherwise walks through all of them, half a second, whenever a test asks for one.
    And it is less often that one begins by itself: that was a tenth of the time of all tests.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


OFTEN = 300
_tests_since = 0


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None):
    """Forget a test's custom objects; every few files, freeze the objects that live on.

    Modules, caches and helpers hold millions of objects, and a garbage collection of all takes a
    second. Between two files no fixture of a test is left, so they are excluded from later
    collections (`gc.get_objects` no longer finds them).
    """
    global _tests_since
    result = yield
    if "kerascope.registry" in sys.modules:
        sys.modules["kerascope.registry"].get_custom_objects().clear()
    _tests_since += 1
    if _tests_since >= OFTEN and nextitem is not None and nextitem.path != item.path:
        _tests_since = 0
        gc.collect()
        gc.freeze()
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    """Let a test with the mark `process` start new Pythons."""
    if item.get_closest_marker("process") is None:
        return (yield)
    with warm_python.new_processes():
        return (yield)
