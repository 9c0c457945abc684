"""The real Keras as a reference: its stored answers by default, itself when it is asked to be live.

A test that compares with Keras says `from keras_reference import keras, jax` and writes what it
would write with the real ones, under `pytestmark = pytest.mark.usefixtures("answers")`; or it takes
the fixture `keras`. It then exists twice:

- `[stored]`, in the default set: needs neither keras nor jax. Everything that it does with `keras`
  must be the next question of those that were once asked live (keras_questions.py), and gets the
  answer that was stored (keras_answers.py). Another question, or one less, fails the test.
- `[live]`, marked so: asks the real Keras, on jax, and compares its answers with the stored ones,
  if they are of the same versions of both; else the summary says how many were not compared.
  Without keras it is skipped; where KERASCOPE_NEEDS_KERAS is set it fails.

`pytest -m live --write-references [files]` asks live and stores what is answered.

What makes a test ask the same on every day and in every order: random numbers come from
`generator(seed)`, which begins anew in each test; NumPy's and Keras's own generators are seeded;
the names of layers are counted from 1. Functions that are handed to Keras run only live. Where
Keras's side has classes of its own in it, make it a function and say `answer(function, ...)`.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import operator
import os
import platform
import random
import re
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from keras_answers import Answered, Kept, Thing, Written, path_for
from keras_questions import TOLERANCE, Writer, json_content, same_numbers

from kerascope import backend as K

TESTS = Path(__file__).parent
AGAIN = "If it is meant so, ask Keras again: python3 dev.py references"
ZERO = 1e-5

# --- things of Keras ------------------------------------------------------------------------------

_asking: Asking | None = None  # what answers in the test that runs


def ask(verb: str, *operands: Any, **keywords: Any) -> Any:
    """Do something with things of Keras, or look up what came of it."""
    if _asking is None:
        raise RuntimeError(
            f"{verb} {operands[0]!r}: Keras is asked, but the test does not use the fixture "
            '"answers"; see tests/keras_reference.py'
        )
    return _asking.ask(verb, operands, keywords)


def answer(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return what a function of the test gives, which runs only live, with the real Keras."""
    return ask("answer", function, *args, **kwargs)


class Asked:
    """A thing of Keras: what is done with it is a question."""

    __slots__ = ("_name", "_number", "_real")
    __array_ufunc__ = None  # array * thing asks the thing

    def __init__(self, number: int | None, real: Any = None, name: str = "") -> None:
        for slot, value in (("_number", number), ("_real", real), ("_name", name)):
            object.__setattr__(self, slot, value)

    def __repr__(self) -> str:
        return self._name if self._number is None else f"#{self._number} {self._name}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") and name not in ("__name__", "__doc__"):
            raise AttributeError(name)
        return ask("getattr", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        ask("setattr", self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return ask("call", self, *args, **kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(ask("array", self), dtype)

    def __iter__(self) -> Iterator[Any]:
        return iter(ask("list", self))

    def __dir__(self) -> list[str]:
        return ask("dir", self)

    def __instancecheck__(self, instance: Any) -> bool:
        return ask("isinstance", instance, self)


class Named(Asked):
    """A module, class or function of Keras, by its full name; looking it up asks nothing."""

    __slots__ = ("_inside",)

    def __init__(self, name: str) -> None:
        super().__init__(None, name=name)
        object.__setattr__(self, "_inside", {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("_", "pytest")):
            if name == "__name__":
                return self._name.rpartition(".")[2]
            raise AttributeError(name)
        if name not in self._inside:
            self._inside[name] = Named(f"{self._name}.{name}")
        return self._inside[name]

    def __mro_entries__(self, bases: Any) -> tuple[type]:
        if _asking is None or not _asking.inside:
            raise TypeError(f"a subclass of {self._name}: make it inside of answer(function)")
        return (real(self),)


TWO_SIDED = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
ONE_SIDED = ("neg", "getitem", "lt", "le", "gt", "ge")
VERBS: dict[str, Callable[..., Any]] = {
    "call": lambda thing, *args, **kwargs: thing(*args, **kwargs),
    "answer": lambda function, *args, **kwargs: function(*args, **kwargs),
    "array": lambda thing: np.array(thing),
    **{f.__name__: f for f in (getattr, setattr, float, int, bool, len, list, isinstance, abs)},
    "dir": lambda thing: [name for name in dir(thing) if not name.startswith("_")],
    **{name: getattr(operator, name) for name in (*TWO_SIDED, *ONE_SIDED)},
    "contains": operator.contains,
}


def _method(verb: str, is_reflected: bool = False) -> Any:
    if is_reflected:
        return lambda self, other: ask(verb, other, self)
    return lambda self, *others: ask(verb, self, *others)


for _verb in ("float", "int", "bool", "len", "abs", "contains", *ONE_SIDED):
    setattr(Asked, f"__{_verb}__", _method(_verb))
for _verb in TWO_SIDED:
    setattr(Asked, f"__{_verb}__", _method(_verb))
    setattr(Asked, f"__r{_verb}__", _method(_verb, is_reflected=True))

keras, jax = Named("keras"), Named("jax")


def real(value: Any) -> Any:
    """Return a value with the real things in the places of those that are asked."""
    if isinstance(value, Named):
        return _found(value._name)
    if type(value) is Asked:
        return value._real
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(map(real, value))
    return {k: real(v) for k, v in value.items()} if type(value) is dict else value


def _found(name: str) -> Any:
    """Return the module, class or function of this full name."""
    first, *parts = name.split(".")
    found, so_far = importlib.import_module(first), first
    if type(found).__module__.startswith("kerascope"):
        raise RuntimeError(f"{name}: asked inside of keras_imports(), where keras is kerascope")
    for part in parts:
        so_far = f"{so_far}.{part}"
        try:
            found = getattr(found, part)
        except AttributeError:
            try:
                found = importlib.import_module(so_far)
            except ImportError:
                raise AttributeError(so_far) from None
    return found


# --- who answers ----------------------------------------------------------------------------------


class Asking:
    """What both ways of answering share: questions, and the numbers of things.

    Attributes
    ----------
    inside : bool
        Whether Keras runs at the moment, and calls what the test gave it: nothing is asked then.
    entries : list of Answered
        What was asked so far, or is to be.
    python : str
        The version of the Python in which Keras answers; byte code is that of its version.
    """

    python = platform.python_version()

    def __init__(self) -> None:
        self.inside = False
        self.entries: list[Answered] = []
        self.things = 0

    def question(self, verb: str, operands: Any, keywords: Any) -> tuple[str, Writer]:
        writer = Writer(lambda value: _reference(value))
        return f"{verb} {writer.arguments(operands, keywords)}", writer

    def thing(self, type_name: str, real: Any = None) -> Asked:
        self.things += 1
        return Asked(self.things, real, type_name)

    def ask(self, verb: str, operands: Any, keywords: Any) -> Any:
        raise NotImplementedError


def _reference(value: Any) -> str | None:
    if not isinstance(value, Asked):
        return None
    return value._name if value._number is None else f"#{value._number}"


class Stored(Asking):
    """Answers what was stored, if it is asked in the same way and order."""

    def __init__(self, entries: list[Answered]) -> None:
        super().__init__()
        self.entries = entries
        self.asked = 0

    def ask(self, verb: str, operands: Any, keywords: Any) -> Any:
        """Return the answer to the next question."""
        text, writer = self.question(verb, operands, keywords)
        expected = self.entries[self.asked] if self.asked < len(self.entries) else Answered("", [])
        self.asked += 1
        if text != expected.question or not same_numbers(expected.numbers, writer.numbers):
            same = text == expected.question
            pytest.fail(
                f"The stored answer {self.asked} of {len(self.entries)} is to another question.\n"
                f"  stored: {expected.question or 'nothing more'}\n  asked:  {text}\n"
                f"{'The arrays in it have other numbers. ' if same else ''}{AGAIN}"
            )
        for place, data in expected.files.items():
            writer.paths[place].write_bytes(data)
        if expected.raised:
            raise _exception(*expected.raised)
        return self._given(expected.answer)

    def _given(self, answer: Any) -> Any:
        if isinstance(answer, Thing):
            return self.thing(answer.type_name)
        if isinstance(answer, (list, tuple)):
            return type(answer)(map(self._given, answer))
        if isinstance(answer, dict):
            return {key: self._given(value) for key, value in answer.items()}
        return answer.copy() if isinstance(answer, np.ndarray) else answer

    def check_that_all_was_asked(self) -> None:
        """Fail if the test asks less than it once did."""
        if self.asked < len(self.entries):
            left = self.entries[self.asked].question
            pytest.fail(f"Keras was not asked any more: {left}\n{AGAIN}")


class Live(Asking):
    """Asks the real Keras and keeps what it answers."""

    def ask(self, verb: str, operands: Any, keywords: Any) -> Any:
        """Do it, and return plain data or a thing that can be asked further."""
        if self.inside:
            return VERBS[verb](*map(real, operands), **real(keywords))
        text, writer = self.question(verb, operands, keywords)
        entry = Answered(text, writer.numbers)
        self.entries.append(entry)
        before = [_content(path) for path in writer.paths]
        self.inside = True
        try:
            found = VERBS[verb](*map(real, operands), **real(keywords))
        except Exception as error:
            entry.raised = [type(error).__name__, str(error)]
            raise
        finally:
            self.inside = False
        for place, path in enumerate(writer.paths):
            if path.is_file() and (data := _content(path)) != before[place]:
                entry.files[place] = data
        entry.answer, given = self._kept(found)
        return given

    def _kept(self, found: Any) -> tuple[Any, Any]:
        """Return what is stored of a result, and what the test gets of it."""
        if isinstance(found, (type(None), bool, int, float, str, bytes, np.ndarray, np.generic)):
            return found, found
        if isinstance(found, (list, tuple)):
            pairs = [self._kept(item) for item in found]
            kind = tuple if isinstance(found, tuple) else list
            return kind(kept for kept, _ in pairs), kind(given for _, given in pairs)
        if isinstance(found, dict):
            pairs = {key: self._kept(value) for key, value in found.items()}
            return {k: kept for k, (kept, _) in pairs.items()}, {
                k: given for k, (_, given) in pairs.items()
            }
        if isinstance(found, (set, frozenset)) and all(isinstance(x, (str, int)) for x in found):
            return found, found
        return Thing(type(found).__name__), self.thing(type(found).__name__, found)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _exception(name: str, text: str) -> Exception:
    import builtins

    kind = getattr(builtins, name, RuntimeError)
    return kind(text)


def differences(stored: list[Answered], live: list[Answered]) -> list[str]:
    """Return what Keras answers otherwise today than what is stored."""
    found = [
        f"{one.question} {differing}\n  stored {_short(one)}\n  live   {_short(other)}"
        for one, other in zip(stored, live, strict=False)
        for differing in ["is another question"] * (one.question != other.question)
        or ["has other arrays"] * (not same_numbers(one.numbers, other.numbers))
        or ["has another answer"] * (not _same_answers(one, other))
    ]
    if len(stored) != len(live):
        found.append(f"{len(stored)} questions are stored, {len(live)} were asked")
    return found


def _short(entry: Answered) -> str:
    return repr(entry.raised or entry.answer)[:200]


FLOAT = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?")


def _same_answers(one: Answered, other: Answered) -> bool:
    if one.raised != other.raised or one.files.keys() != other.files.keys():
        return False
    return _alike(one.answer, other.answer) and all(
        _same_files(one.files[place], other.files[place]) for place in one.files
    )


def _same_files(one: bytes, other: bytes) -> bool:
    first, second = (Writer(lambda value: None) for _ in range(2))
    texts = [first.content_of(one, ""), second.content_of(other, "")]
    return texts[0] == texts[1] and same_numbers(first.numbers, second.numbers)


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, Thing):
        return isinstance(other, Thing) and one.type_name == other.type_name
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(_alike, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, (float, np.ndarray, np.generic)):
        one, other = np.asarray(one), np.asarray(other)
        if one.dtype.kind != "f":
            return one.dtype == other.dtype and np.array_equal(one, other)
        # What is zero by its formula is noise of rounding: another program has another.
        near = 10 * TOLERANCE * abs(one[np.isfinite(one)]).max(initial=0.0) + ZERO
        return one.shape == other.shape and np.allclose(one, other, 1e-3, near, equal_nan=True)
    return bool(one == other) or _said(one) == _said(other) or _print_alike(one, other)


def _print_alike(one: Any, other: Any) -> bool:
    """Tell whether two printed texts differ in nothing but the roundings of floats, and blanks."""
    if not isinstance(one, str) or not isinstance(other, str):
        return False
    words = [[part.split() for part in FLOAT.split(text)] for text in (one, other)]
    if words[0] != words[1]:
        return False
    numbers = [np.array([float(x) for x in FLOAT.findall(text)]) for text in (one, other)]
    return _alike(*numbers)


def _said(text: Any) -> Any:
    """Return what a JSON text says, also inside of it: sets have another order in each process."""
    if isinstance(text, dict):
        return {key: _said(value) for key, value in text.items()}
    if not isinstance(text, str) or not text.startswith("{"):
        return text
    try:
        return _said(json_content(text))
    except ValueError:  # a dict, as Python prints it
        return text


# --- random numbers -------------------------------------------------------------------------------


class _Generators:
    """The generators that begin anew in each test."""

    def __init__(self) -> None:
        self.made: list[tuple[int, np.random.Generator]] = []

    def begin(self, test: str) -> None:
        for seed, made in self.made:
            begun = np.random.default_rng([seed, zlib.crc32(test.encode())])
            made.bit_generator.state = begun.bit_generator.state


_generators = _Generators()


def generator(seed: int) -> np.random.Generator:
    """Return a generator of random numbers that every test finds as if no other had drawn."""
    made = np.random.default_rng(seed)
    _generators.made.append((seed, made))
    return made


# --- fixtures and hooks; tests/conftest.py hands them to pytest ----------------------------------

FAILED = pytest.StashKey[bool]()
COLLECTED = pytest.StashKey[dict[str, set[str]]]()
_kept: dict[str, Kept] = {}
_asked_live: dict[str, dict[str, list[Answered]]] = {}
NOT_COMPARED = "not_compared"  # on a report, which xdist hands on: whose answers are stored


def kept_for(test_file: str) -> Kept:
    """Return the stored answers of a file of tests; they are read once."""
    if test_file not in _kept:
        _kept[test_file] = Kept(path_for(test_file))
    return _kept[test_file]


def place_of(item: Any) -> tuple[str, str]:
    """Return a test's file, relative to tests/, and its name without the way of answering."""
    name = re.sub(r"(?<=[\[-])(stored|live)(-|(?=\]))", "", item.name, count=1)
    return item.path.relative_to(TESTS).as_posix(), name.removesuffix("[]")


@pytest.fixture(params=["stored", pytest.param("live", marks=pytest.mark.live)])
def answers(request: pytest.FixtureRequest) -> Iterator[Asking]:
    """Let Keras answer in a test: from what is stored, and, marked `live`, by itself."""
    global _asking
    file, name = place_of(request.node)
    is_live = request.param == "live"
    _begin(name, is_live)
    had_jax = "jax" in sys.modules  # an adapter of ours may have been looked at before
    stored = kept_for(file).entries(name)
    _asking = Live() if is_live else Stored(stored)
    if stored and not is_live:
        _asking.python = kept_for(file).versions["python"]
    try:
        yield _asking
    finally:
        asked, _asking = _asking, None
    if request.node.stash.get(FAILED, False):
        return
    if isinstance(asked, Stored):
        asked.check_that_all_was_asked()
        assert had_jax or "jax" not in sys.modules, "stored answers are to need no jax"
    elif request.config.getoption("write_references"):
        _asked_live.setdefault(file, {})[name] = asked.entries
    elif not kept_for(file).is_of(live := versions_of("keras", "jax")):
        if stored:
            told = f"stored answers are {_of(kept_for(file).versions)}, live is {_of(live)}"
            request.node.user_properties.append((NOT_COMPARED, told))
    elif found := differences(stored, asked.entries):
        told = "\n".join(found)
        pytest.fail(f"Keras answers otherwise than what is stored:\n{told}\n{AGAIN}")


@pytest.fixture(name="keras")
def keras_of_a_test(answers: Asking) -> Named:
    """Return Keras, for the few tests of a file that ask it."""
    return keras


def live_needs(package: str) -> None:
    """Skip a live test where Keras itself cannot answer without a package that is not there."""
    if isinstance(_asking, Live):
        pytest.importorskip(package)


def _begin(test: str, is_live: bool) -> None:
    """Count names from 1 and seed everything, so that a test asks the same in every order."""
    K.clear_session()
    random.seed(1)
    np.random.seed(1)
    _generators.begin(test)
    if is_live:
        module = real_keras()
        # Collecting garbage walks through all that jax has compiled so far: seconds, after a while.
        module.utils.clear_session(free_memory=False)
        module.utils.set_random_seed(1)


def real_keras() -> Any:
    """Return the real Keras, on jax; skip, or fail, where it is not installed."""
    os.environ["KERAS_BACKEND"] = "jax"
    try:
        importlib.import_module("jax")
        return importlib.import_module("keras")
    except ImportError as error:
        if os.environ.get("KERASCOPE_NEEDS_KERAS"):
            pytest.fail(f"KERASCOPE_NEEDS_KERAS is set, but: {error}")
        pytest.skip(f"{error}; the extra `live` brings it")


def versions_of(*packages: str) -> dict[str, str]:
    """Return the versions of packages, and of Python."""
    found = {name: importlib.metadata.version(name) for name in packages}
    return {**found, "python": platform.python_version()}


def _of(versions: dict[str, str]) -> str:
    return f"of keras {versions['keras']} and jax {versions['jax']}"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that stores what Keras answers."""
    parser.addoption(
        "--write-references", action="store_true", help="with -m live: store what Keras answers"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Note which tests ask Keras, before any is left out."""
    collected = config.stash.setdefault(COLLECTED, {})
    if any("::" in argument for argument in config.args):
        return  # a part of a file: which other tests it has is not known
    for item in items:
        if "answers" in getattr(item, "fixturenames", ()):
            file, name = place_of(item)
            collected.setdefault(file, set()).add(name)


def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Remember that a test failed: what it did not ask any more is no second failure."""
    if call.excinfo is not None:
        item.stash[FAILED] = True


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say how many live answers were compared with no stored ones: those are of other versions."""
    reports = (report for some in terminalreporter.stats.values() for report in some)
    for told, tests in not_compared(reports).items():
        terminalreporter.write_line(f"{told}: {tests} tests not compared with them", yellow=True)


def not_compared(reports: Iterable[Any]) -> dict[str, int]:
    """Return whose answers are stored and who is asked, with the number of tests."""
    return Counter(
        told
        for report in reports
        if getattr(report, "when", None) == "teardown"
        for name, told in report.user_properties
        if name == NOT_COMPARED
    )


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Store what Keras answered; tests that are no more are left out."""
    collected = session.config.stash.get(COLLECTED, {})
    for file, asked in _asked_live.items():
        kept = Kept(path_for(file))
        merged = {test: kept.entries(test) for test in kept.log} | asked
        names = collected.get(file, merged.keys())
        written = Written()
        for test in sorted(merged):
            if test in names and merged[test]:
                written.add(test, merged[test])
        written.write(path_for(file), versions_of("keras", "jax", "numpy"))
