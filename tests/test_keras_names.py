"""Every public name of each Keras is here or refused with a reason, 2.2.4's with its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module

import pytest
from keras_names import Name, arguments_of, difference, found, names_of, signature
from old_keras.differences import OTHER_ARGUMENTS

from kerascope.compat import keras_imports
from kerascope.errors import NotYetError, RefusedError
from kerascope.missing_names import REFUSALS, Refused
from kerascope.settings import config

NAMES = names_of("2.2.4")


@pytest.fixture(autouse=True)
def _keras_is_ours() -> Iterator[None]:
    with keras_imports():
        yield


def complaint(name: Name) -> str | None:
    """Return what is wrong with a name; None if a script of Keras 2.2.4 can use it."""
    try:
        thing = found(name)
    except Exception as error:  # an error of the import belongs in the list too
        return f"missing ({type(error).__name__})"
    if inspect.isclass(thing) and issubclass(thing, Refused):
        return None
    if name.arguments is None or str(name) in OTHER_ARGUMENTS:
        return None
    return difference(name.arguments, arguments_of(thing, name))


@pytest.mark.parametrize("module", sorted({name.module for name in NAMES}))
def test_every_name_of_the_module_is_here_with_kerass_arguments(module: str) -> None:
    complaints = {
        str(name): said for name in NAMES if name.module == module and (said := complaint(name))
    }
    assert not complaints, "\n" + "\n".join(f"{name}: {said}" for name, said in complaints.items())


@pytest.mark.parametrize("version", ["1.2.2", "3"])
def test_every_name_of_the_other_versions_is_here_or_says_why_it_is_not(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "dialect", {"1.2.2": "1.2", "3": "3"}[version])
    missing = []
    for name in names_of(version):
        try:
            found(name)
        except (NotYetError, RefusedError):
            pass  # tests/test_missing_names.py reads their words
        except (AttributeError, ImportError):
            missing.append(str(name))
    assert not missing


def test_every_reason_is_for_a_name_whose_arguments_do_differ() -> None:
    listed = {str(name): name for name in NAMES}
    for path, reason in OTHER_ARGUMENTS.items():
        name = listed[path]
        assert difference(name.arguments, arguments_of(found(name), name)) is not None
        assert reason.endswith(".")


def test_the_list_was_really_read() -> None:
    paths = {str(name) for name in NAMES}
    assert len(paths) > 600
    assert {"keras.backend.dot", "keras.engine.base_layer.Layer.built"} <= paths
    dense = next(name for name in NAMES if name.path == "Dense")
    assert dense.arguments is not None
    assert list(dense.arguments.parameters)[:2] == ["units", "activation"]


@pytest.mark.parametrize(
    ("ours", "said"),
    [
        ("(x, axis=-1, **kwargs)", None),
        ("(x, axis=-1, more=None, **kwargs)", None),
        ("(x, **kwargs)", "no argument 'axis'"),
        ("(y, axis=-1, **kwargs)", "argument 1 is 'y', not 'x'"),
        ("(x, axis=1, **kwargs)", "default of 'axis' is 1, not -1"),
        ("(x=None, axis=-1, **kwargs)", None),
        ("(x, axis=-1)", "no variadic keyword arguments"),
        ("(*args, **kwargs)", "no argument 'x'"),
    ],
)
def test_a_difference_is_seen(ours: str, said: str | None) -> None:
    assert difference(signature("(x, axis=-1, **kwargs)"), signature(ours)) == said


@pytest.mark.parametrize(
    ("module", "name"), [(module, name) for module, names in REFUSALS.items() for name in names]
)
def test_a_refused_name_can_be_imported_and_says_why_when_it_is_used(
    module: str, name: str
) -> None:
    thing = getattr(import_module(module.replace("kerascope", "keras")), name)
    with pytest.raises(RefusedError, match=rf"^{module}\.{name}: .+\. .+\.$|^.*[Rr]emove the line"):
        thing(1, 2, x=3)
    assert not isinstance(3, thing)
