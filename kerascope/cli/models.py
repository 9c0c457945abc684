"""Find the model that MODEL refers to: script.py, script.py:name, module:name or a model file."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from kerascope.cli.scripts import ScriptRun, checked_file, checked_script, print_traceback
from kerascope.cli.usage import UsageError
from kerascope.engine.network import Network
from kerascope.errors import ConfigError, KerascopeError, UnknownNameError
from kerascope.foreign import library_of
from kerascope.layers.opaque import check_given, shapes_given
from kerascope.limits import USUAL, Limits
from kerascope.model_files import is_model_file, opened
from kerascope.registry import did_you_mean
from kerascope.stage import Stage, observing
from kerascope.unsupported import FOR_SCRIPTS, MODEL_FILES, OF_ONNX, got_instead

FRESH: dict[str, Any] = {"weights": None}
ARCHITECTURES = "kerascope.applications."  # a picture needs no trained weights
EXPECTED = "script.py, script.py:name, module:name or a .keras, .h5, .json, .yaml or .onnx file"


class ScriptFailed(KerascopeError):
    """Raised when a script fails before its model can be used. Its traceback was printed.

    Attributes
    ----------
    error : BaseException or None
        The exception of the script.
    """

    def __init__(self, message: str, error: BaseException | None) -> None:
        super().__init__(message)
        self.error = error


class NoModel(UsageError):
    """Raised when a script builds no model."""


class ReadOptions(NamedTuple):
    """The options for reading a model file.

    Attributes
    ----------
    with_loss : bool
        Whether to compile the model with the loss and optimizer of the file.
    limits : Limits or None
        Limits on the size of the model; see `kerascope.limits`.
    custom : tuple of str
        The user's own classes, as `module:Class`.
    shapes : mapping of str to tuple
        The output shapes, without the batch axis, of layers of unknown classes, by layer name.
    """

    with_loss: bool = False
    limits: Limits | None = USUAL
    custom: tuple[str, ...] = ()
    shapes: Mapping[str, tuple[int | None, ...]] = MappingProxyType({})


USUALLY = ReadOptions()


def find_model(argument: str, reading: ReadOptions = USUALLY) -> Any:
    """Return the model that an argument refers to, of kerascope or of another library.

    For a file of another library its path is returned, for `kerascope.foreign` to open.

    Parameters
    ----------
    argument : str
    reading : ReadOptions
        How to read a file. Layers of unknown classes are opaque: they can be shown but not run.

    Raises
    ------
    UsageError
        The file or variable does not exist, or the script has several models.
    ScriptFailed
        The script raised an exception.
    """
    name, _, attribute = argument.rpartition(":") if ":" in argument else (argument, "", "")
    if argument.endswith(".py") or not name:
        name, attribute = argument, ""
    if reading.shapes and not is_model_file(argument):
        raise UsageError(
            f"--shape is for unknown layers in a .keras, .h5, .json or .yaml file. Leave it out "
            f"for {argument!r}."
        )
    if is_model_file(argument):
        return _from_file(checked_file(argument, "a .keras, .h5 or .json file"), reading)
    if argument.lower().endswith(OF_ONNX):
        return str(checked_file(argument, "an .onnx file"))
    if name.endswith(".py"):
        return _from_script(checked_script(name), attribute)
    if attribute:
        return _named(vars(_imported(name)), attribute, f"module {name!r}")
    if not name or not Path(name).suffix:
        checked_file(name, EXPECTED)
    if Path(name).suffix == ".jsonl" and Path(name).is_file():
        raise UsageError(
            f"MODEL: expected {EXPECTED}, got the tape {name!r}. To open a tape, run "
            f"kerascope replay {name}, or kerascope play {name}."
        )
    if name.lower().endswith(FOR_SCRIPTS):
        raise UsageError(
            f"MODEL: expected {EXPECTED}, {got_instead(name, 'give the script: script.py:model')}"
        )
    folder = Path(name).parent
    found = folder.iterdir() if folder.is_dir() else ()
    beside = [one.name for one in found if one.suffix in (".py", *OF_ONNX, *MODEL_FILES)]
    raise UsageError(
        f"MODEL: expected {EXPECTED}, got {argument!r}. "
        f"{did_you_mean(Path(name).name, beside)}".rstrip()
    )


def _from_file(path: Path, reading: ReadOptions) -> Network:
    known = own_classes(reading.custom)
    with _reading(f"Write the whole model with {_how_written(path)}."):
        with shapes_given(reading.shapes):
            with_loss, limits = reading.with_loss, reading.limits
            model = opened(path, known, compile=with_loss, limits=limits, opaque=True)
            check_given(model, f"'{path}'")
        if reading.with_loss:
            model._require_that_it_runs()
        return _checked(model, f"'{path}'")


def _how_written(path: Path) -> str:
    writer = {".json": "to_json", ".yaml": "to_yaml", ".yml": "to_yaml"}.get(path.suffix.lower())
    if writer is None:
        return f"model.save({path.name!r})"
    return f"Path({path.name!r}).write_text(model.{writer}())"


def shapes_in(words: Iterable[str]) -> dict[str, tuple[int | None, ...]]:
    """Return the shapes of options such as `--shape name=66,200,3`, by layer name.

    Raises
    ------
    UsageError
        The value of an option does not have this form.
    """
    found = {}
    for word in words:
        name, _, sizes = word.rpartition("=")
        parts = [size.strip() for size in sizes.strip("()").split(",") if size.strip()]
        if not name or not all(size.isdecimal() or size in ("?", "None") for size in parts):
            raise UsageError(f"--shape {word}: expected NAME=N,N, as in lambda_1=66,200,3.")
        found[name] = tuple(int(size) if size.isdecimal() else None for size in parts)
    return found


def own_classes(words: Iterable[str]) -> dict[str, Any]:
    """Import the user's own classes and functions from the current folder.

    Parameters
    ----------
    words : iterable of str
        The values of `--custom`, as `module:Class`.

    Returns
    -------
    dict of str to object
        The classes and functions by name.

    Raises
    ------
    UsageError
        The module does not exist, or does not contain the name.
    ScriptFailed
        The module raised an exception.
    """
    found = {}
    for word in words:
        module_name, _, name = word.partition(":")
        if not module_name or not name:
            raise UsageError(f"--custom {word}: expected MODULE:CLASS, as in layers:Attention.")
        names = vars(_imported(module_name))
        if name not in names:
            own = [one for one, value in names.items() if callable(value)]
            raise UsageError(
                f"--custom {word}: module {module_name!r} has no {name!r}. "
                f"{did_you_mean(name, own)}".rstrip()
            )
        found[name] = names[name]
    return found


@contextmanager
def _reading(how: str) -> Iterator[None]:
    """Turn errors of reading a model file, inside a `with` block, into `UsageError`s.

    The message of a `ConfigError` is followed by `how`, advice on how to write the file.
    """
    try:
        yield
    except UnknownNameError as error:
        raise UsageError(
            f"{error} Reading a file runs no code. Name your own classes with --custom "
            f"MODULE:NAME, or give a script that loads the file."
        ) from None
    except KerascopeError as error:
        more = f" {how}" if isinstance(error, ConfigError) else ""
        raise UsageError(f"{error}{more}") from None


def _imported(name: str) -> Any:
    """Import a module from the current folder or from Python's path, and return the module."""
    sys.path.insert(0, str(Path.cwd()))
    try:
        with _running(f"module {name!r}", name):
            return import_module(name)
    finally:
        sys.path.remove(str(Path.cwd()))


def _from_script(path: Path, attribute: str) -> Any:
    script = ScriptRun(path)
    used: dict[Network, None] = {}

    def note_models(stage: Stage, event: Any) -> None:
        if isinstance(stage.subject, Network):
            used[stage.subject] = None

    with redirect_stdout(sys.stderr), observing(note_models):
        code = script.run()
    if hasattr(script.error, "failed_call") or hasattr(script.error, "failed_graph"):
        raise ScriptFailed(f"'{path}': building a model failed.", script.error)
    try:
        if attribute:
            return _named(script.names, attribute, f"'{path}'", list(used))
        return _only_one(script.names, list(used), path)
    except UsageError as error:
        if not code:
            raise
        more = "" if isinstance(error, NoModel) else f" {error}"
        raise ScriptFailed(f"{_how_it_failed(script)}{more}", script.error) from None


def _how_it_failed(script: ScriptRun) -> str:
    """Return a sentence that says how a script without a model to show ended."""
    path, error = script.path, script.error
    if error is None:
        how = f"ended with exit code {script.code}"
    elif isinstance(error, SyntaxError) and error.filename == str(path):
        return f"'{path}' is not valid Python (line {error.lineno}: {error.msg}). Nothing was run."
    else:
        first, *_ = f"{type(error).__name__}: {error}".split("\n")
        how = f"failed ({first.rstrip(': ')})"
    return f"'{path}' {how}; there is no model to show."


def _named(
    names: dict[str, Any], attribute: str, where: str, used: list[Network] | None = None
) -> Any:
    """Return the model in a variable of a script or module, by the name of the variable.

    If the variable does not exist, return the model with this name among `used`, the models that
    the script built or ran.

    If the variable holds a function without required arguments, return the result of a call.
    """
    by_own_name = {model.name: model for model in used or []}
    if attribute not in names and attribute in by_own_name:
        return by_own_name[attribute]
    if attribute not in names:
        models = [name for name, value in names.items() if _is_model(value)]
        hint = did_you_mean(attribute, [*models, *by_own_name])
        known = f"Its models: {', '.join(models)}." if models else "It has no models."
        raise UsageError(f"{where} has no variable {attribute!r}. {hint}{known}")
    value = names[attribute]
    if not isinstance(value, Network) and callable(value) and not library_of(value):
        value = _called(value, f"{where}: {attribute}")
    return _checked(value, f"{where}: {attribute}")


def _is_model(value: Any) -> bool:
    """Return whether a value is a model of kerascope or a callable object of another library."""
    is_foreign = callable(value) and not isinstance(value, type) and bool(library_of(value))
    return isinstance(value, Network) or is_foreign


def _called(build: Callable[..., Any], where: str) -> Any:
    """Call a function of the script and return its result."""
    with suppress(ValueError, TypeError):  # some functions written in C have no signature
        needed = [
            name
            for name, one in inspect.signature(build).parameters.items()
            if one.default is one.empty and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        ]
        if needed:
            raise UsageError(
                f"{where}: expected a model or a function without required arguments, got a "
                f"function that needs {', '.join(needed)}."
            )
    is_architecture = getattr(build, "__module__", "").startswith(ARCHITECTURES)
    with _running(where):
        return build(**FRESH) if is_architecture else build()


@contextmanager
def _running(where: str, module: str = "") -> Iterator[None]:
    """If the user's code in a `with` block fails, print its traceback and raise `ScriptFailed`.

    The standard output of the code is redirected to standard error.

    Raises
    ------
    UsageError
        The module `module` does not exist.
    """
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (Exception, SystemExit) as error:
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing and f"{module}.".startswith(f"{missing}."):
            raise UsageError(f"Module {module!r} does not exist: {error}.") from None
        print_traceback(error)
        raise ScriptFailed(f"{where} failed; there is no model to show.", error) from None


def _checked(value: Any, where: str) -> Any:
    if not isinstance(value, Network) and not library_of(value):
        raise UsageError(f"{where}: expected a Model or Sequential, got {type(value).__name__}.")
    return value


def _only_one(names: dict[str, Any], used: list[Network], path: Path) -> Any:
    """Return the script's only model; models that are parts of other models do not count."""
    foreign = [name for name, value in names.items() if library_of(value)]
    labels: dict[Network, str] = {}
    for name, value in names.items():
        if isinstance(value, Network):
            labels.setdefault(value, name)
    for model in used:
        labels.setdefault(model, model.name)
    parts = {model: _parts_of(model) for model in labels}
    whole = [
        model
        for model in labels
        if not any(_is_inside(model, other, parts) for other in labels if other is not model)
    ]
    if len(whole) == 1:
        return whole[0]
    if not whole:
        hint = f" For {foreign[0]}: kerascope ... {path}:{foreign[0]}" if foreign else ""
        raise NoModel(
            f"'{path}' builds no model that can be found. Assign a Model or Sequential to a "
            f"variable.{hint}"
        )
    listed = "\n".join(f"  kerascope ... {path}:{labels[model]}" for model in whole)
    raise UsageError(f"'{path}' builds {len(whole)} separate models. Choose one:\n{listed}")


def _parts_of(model: Network) -> set[Any]:
    """Return the layers of a model and the layers of its nested models."""
    found: set[Any] = set()
    waiting = list(model.layers)
    while waiting:
        layer = waiting.pop()
        if layer not in found:
            found.add(layer)
            waiting.extend(layer.layers if isinstance(layer, Network) else ())
    return found


def _is_inside(model: Network, other: Network, parts: dict[Network, set[Any]]) -> bool:
    """Return whether a model is a layer of another model, or consists of some of its layers.

    Of two models with the same layers, the first counts as being inside the second. Only layers
    with weights are compared.
    """
    if model in parts[other]:
        return True
    own = {layer for layer in parts[model] if layer.weights}
    others = {layer for layer in parts[other] if layer.weights}
    if own == others:
        return bool(own) and list(parts).index(model) < list(parts).index(other)
    return bool(own) and own < others
