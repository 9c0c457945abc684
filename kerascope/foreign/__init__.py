"""Models of other libraries in kerascope: PyTorch, live Keras, ONNX files, functions of JAX.

The engine that a student writes with `kerascope learn`, `my_engine`, is treated like a library.

Each library has an adapter, a module of this package. kerascope finds it from the module in which
an object's class is defined, and imports it when it meets the first such object. So none of these
libraries is imported unless it is used. An adapter has these functions:

- `record(subject, *inputs, writer, loss=None, **keywords)`: runs the subject once, records its
  calls with the `TapeWriter` (`writer.py`), and returns the subject's result;
- `graph_of(subject, *inputs, **keywords)`: returns the `Graph` without numbers;
- optionally `read(subject, writer)`: records the calls that a file describes without running them;
- optionally `declared(subject)`: returns the inputs that a model declares, as `Declared`;
- optionally `converted(subject)`: returns an equivalent model of kerascope, which the rest of
  kerascope can then use, or None;
- optionally `as_configured(subject)`: like `converted`, but unsupported layers become plain boxes;
- optionally `tracing(subject, writer)`: a context manager that records every run of the subject.

`draw` uses `drawable`, `walk` uses `steps`, and `trace` uses `tracing` of this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from inspect import signature
from os import PathLike, fspath
from types import FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from kerascope import display
from kerascope.call_inputs import inputs_asked, with_numbers
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, MissingToolError
from kerascope.foreign.graphs import numbers_given
from kerascope.foreign.reading import CallStep, steps_of, summary_of
from kerascope.foreign.records import Call, Declared, Frame, Recorded, Value
from kerascope.foreign.writer import TapeWriter
from kerascope.import_hook import OWN_ENGINE
from kerascope.model_files import opened
from kerascope.trace.tape_store import HISTORY, Tape
from kerascope.trace.walking import walk
from kerascope.unsupported import OF_ONNX, got_instead

__all__ = [
    "Call", "CallStep", "Frame", "Recorded", "TapeWriter", "Value", "adapter_of", "converted",
    "drawable", "record", "steps", "summary", "tracing",
]  # fmt: skip

# The top-level module of a class -> the adapter, and the extra that installs the library.
_ADAPTERS = {
    "torch": ("kerascope.foreign.torch_modules", "torch"),
    "keras": ("kerascope.foreign.keras_models", "keras"),
    "onnx": ("kerascope.foreign.onnx_models", "onnx"),
    OWN_ENGINE: ("kerascope.foreign.own_engine", ""),
    **dict.fromkeys(
        ("jax", "jaxlib", "flax", "equinox"), ("kerascope.foreign.jax_functions", "jax")
    ),
}
WATCHED = ("torch", "keras")  # their adapters can watch a whole program: `watching(writer)`
_OF_FILES = dict.fromkeys(OF_ONNX, "onnx")
# Arrays of these libraries make a plain function a JAX function.
OF_FUNCTIONS = ("jax", "jaxlib", "flax", "equinox")


def library_of(subject: Any, *inputs: Any) -> str:
    """Return the name of the library of an object, such as "torch", or "" if it is not supported.

    Parameters
    ----------
    subject : object
        Any object. The library of a path is determined by the file extension.
    *inputs : object
        The inputs of the call. Their types identify the library of a plain function.

    Examples
    --------
    >>> library_of("model.onnx"), library_of(3)
    ('onnx', '')
    """
    if isinstance(subject, (str, PathLike)):
        name = str(fspath(subject)).lower()
        return next((found for ending, found in _OF_FILES.items() if name.endswith(ending)), "")
    if isinstance(subject, (MethodType, partial)):  # `module.apply`
        inner = subject.__self__ if isinstance(subject, MethodType) else subject.func
        found = library_of(inner, *inputs)
        return found if found in OF_FUNCTIONS else ""
    if isinstance(subject, FunctionType):
        homes = [home for value in _inside(inputs) for home in _homes_of(value)]
        return next((home for home in homes if home in OF_FUNCTIONS), "")
    for home in _homes_of(subject):
        if home == "kerascope":
            return ""
        if home in _ADAPTERS:
            return home
    return ""


def _inside(value: Any) -> Iterator[Any]:
    """Yield the items of nested lists, tuples and dicts. For any other value, yield the value."""
    if isinstance(value, (dict, list, tuple)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _inside(one)
    else:
        yield value


def _homes_of(subject: Any) -> list[str]:
    """Return the names of the top-level packages of an object's class and its base classes."""
    return [str(cls.__module__).partition(".")[0] for cls in type(subject).__mro__]


def adapter_of(subject: Any, *inputs: Any) -> ModuleType | None:
    """Return the module that records models of the object's library; None if there is none.

    Raises
    ------
    MissingToolError
        If the object is a file, and the library that reads this format is not installed.
    """
    library = library_of(subject, *inputs)
    if not library:
        return None
    is_path = isinstance(subject, (str, PathLike))
    return adapter_named(library, repr(fspath(subject)) if is_path else type(subject).__name__)


def adapter_named(library: str, where: str) -> ModuleType:
    """Return the module that records models of a library. An error message begins with `where`.

    Raises
    ------
    MissingToolError
        If the library is not installed.
    """
    module, extra = _ADAPTERS[library]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("kerascope"):
            raise
        raise MissingToolError(
            f"{where}: this requires the package {error.name}, which is not installed. "
            f'Install it: pip install "kerascope[{extra}]".'
        ) from None


# --- used by `draw`, `walk`, `summary` and `trace` ------------------------------------------------


def converted(subject: Any) -> Any:
    """Return the equivalent model of kerascope for a foreign model, or None if there is none."""
    convert = getattr(adapter_of(subject), "converted", None)
    return None if convert is None else convert(subject)


def declared(subject: Any) -> list[Declared] | None:
    """Return the inputs that a foreign model declares, or None if it declares none."""
    return getattr(adapter_of(subject), "declared", _nothing)(subject)


def _nothing(subject: Any) -> None:
    return None


class Fed(NamedTuple):
    """The inputs of a call of a foreign model, as arguments of this call."""

    values: tuple[Any, ...] = ()
    names: Mapping[str, Any] = {}


def fed(inputs: Any, subject: Any = None) -> Fed:
    """Return the inputs that a user passes to a foreign model as arguments of the model's call.

    A tuple contains positional inputs, and a dict contains named inputs. Any other value is the
    only input. For a PyTorch module or a Keras model, a tuple may also end with a dict of named
    inputs, and a tuple of sizes, such as (2, 4), is replaced by an array of random numbers with
    this shape.

    Examples
    --------
    >>> fed((1, 2)).values, fed({"ids": 3}).names, fed([4]).values
    ((1, 2), {'ids': 3}, ([4],))
    """
    if library_of(subject) in WATCHED:
        inputs = with_numbers(inputs)
        *values, last = inputs if isinstance(inputs, tuple) and inputs else (None,)
        if isinstance(last, dict) and last and set(last) <= _names_after(len(values), subject):
            return Fed(tuple(values), last)
    if inputs is None:
        return Fed()
    if isinstance(inputs, tuple):
        return Fed(inputs)
    if isinstance(inputs, dict) and all(isinstance(name, str) for name in inputs):
        return Fed((), inputs)
    return Fed((inputs,))


def _names_after(number: int, subject: Any) -> set[str]:
    """Return the names of the arguments of a model's call after the first `number` arguments."""
    call = getattr(subject, "forward", None) or getattr(subject, "call", None)
    try:
        arguments = list(signature(call).parameters.values())[number:] if call else []
    except (TypeError, ValueError):  # the callable has no signature
        return set()
    return {one.name for one in arguments if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}


def drawable(subject: Any, inputs: Any = None, values: Any = None) -> tuple[Any, Any]:
    """Return a model or graph that `draw` can draw, and the numbers that the picture shows.

    A model of kerascope is returned unchanged. For a model, the numbers are its inputs. For a
    graph, they are the results of the calls by their ids. They are None if `values` is None.

    Parameters
    ----------
    subject : object
    inputs : optional
        The inputs of the model (see `fed`), if the picture shows no numbers.
    values : optional
        The inputs of the model, if the picture shows the numbers.
    """
    given = fed(inputs if values is None else values, subject)
    adapter = adapter_of(subject, *given.values)
    if adapter is None:
        return subject, values
    model = converted(subject)
    if model is not None:
        return model, values
    if values is None:
        return adapter.graph_of(subject, *given.values, **given.names), None
    writer, _ = record(subject, values)
    arrays = {call.id: found for call in writer.calls if (found := numbers_given(call)) is not None}
    return writer.graph(name_of(subject)), arrays


def steps(subject: Any, inputs: Any) -> Iterator[Any] | None:
    """Return the steps of a walk through a foreign model; None if its library is not supported."""
    if adapter_of(subject, *fed(inputs, subject).values) is None:
        return None
    model = converted(subject)
    if model is not None:
        return walk(model, inputs)
    writer, _ = record(subject, inputs)
    return steps_of(writer.calls, writer.graph(name_of(subject)))


def summary(subject: Any, inputs: Any = None, **options: Any) -> None:
    """Print a table of the layers, or calls, of any model.

    Parameters
    ----------
    subject : model or path
        A model of kerascope or of another library, or the path of a model file.
    inputs : optional
        The inputs of a foreign model: several in a tuple, or named ones in a dict. For a PyTorch
        module or a subclassed Keras model, a shape such as (2, 4) is enough.
    **options : object
        The same as for `Model.summary`. A recorded model takes only `line_length` and `print_fn`.
        `input_data` and `input_size`, as in torchinfo, are accepted in place of `inputs`.

    Raises
    ------
    ArgumentError
        If the subject is not a model.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> from kerascope.models import Sequential
    >>> model = Sequential([Dense(3, input_shape=(4,), name="scores")], name="small")
    >>> summary(model, print_fn=print)
    Model: small
    Layer (type)              │ Depth │ Output shape │ Params │ Connected to
    ──────────────────────────┼───────┼──────────────┼────────┼─────────────
    scores_input (InputLayer) │     1 │ (None, 4)    │      0 │
    scores (Dense)            │     0 │ (None, 3)    │     15 │ scores_input
    <BLANKLINE>
    Total params: 15 (60.00 B)
    Trainable params: 15 (60.00 B)
    Non-trainable params: 0 (0.00 B)
    """
    inputs = inputs_asked("summary", options, inputs)
    subject = opened(subject, opaque=True)
    model = subject if isinstance(subject, Network) else converted(subject)
    if model is not None and inputs is not None:
        raise ArgumentError(
            f"summary: {model.name} is already a graph and needs no inputs. Leave them out."
        )
    if model is None and inputs is None:
        model = getattr(adapter_of(subject), "as_configured", _nothing)(subject)
    if model is not None:
        model.summary(**options)
        return
    known = {name: options.pop(name) for name in ("line_length", "print_fn") if name in options}
    asked = [name for name, value in options.items() if value]
    if asked:
        is_known = asked[0] in signature(Network.summary).parameters
        why = "only works for models of kerascope" if is_known else "is an unknown argument"
        raise ArgumentError(
            f"summary: {asked[0]!r} {why}. For a recorded one use line_length or print_fn."
        )
    read = getattr(adapter_of(subject), "read", None)
    if inputs is None and read is not None:
        read(subject, writer := TapeWriter("none"))
    else:
        writer, _ = record(subject, inputs, arrays="none", where="ks.summary(model, x)")
    display.show("summary", summary_of(writer.graph(name_of(subject)), writer.calls), **known)


def record(
    subject: Any,
    inputs: Any = None,
    *,
    loss: Any = None,
    arrays: str = "all",
    budget: int | None = HISTORY,
    where: str = "record(model, x)",
) -> tuple[TapeWriter, Any]:
    """Run a foreign model once; return a `TapeWriter` with its calls, and the model's result.

    Error messages name `where` as the caller.

    Raises
    ------
    ArgumentError
        If the subject is not of a supported library.
    """
    given = fed(inputs, subject)
    adapter = _needed(subject, *given.values, where=where)
    writer = TapeWriter(arrays, budget)
    options = {} if loss is None else {"loss": loss}
    result = adapter.record(subject, *given.values, writer=writer, **options, **given.names)
    return writer, result


def tracing(
    subject: Any, *, statistics_only: bool = True, history: int | None = HISTORY
) -> AbstractContextManager[Tape] | None:
    """Return a context manager that records each run of a foreign model.

    Return None if the model's library is not supported.

    Raises
    ------
    ArgumentError
        If only kerascope can run models of this library step by step, such as ONNX files.
    """
    adapter = adapter_of(subject)
    if adapter is None:
        return None
    watch = getattr(adapter, "tracing", None)
    if watch is None:
        raise ArgumentError(
            f"trace: expected a model that runs by itself, got {name_of(subject)}, which kerascope "
            f"runs call by call. Use kerascope.walk(model, x) or kerascope.play(model, x)."
        )
    return _traced(watch, subject, TapeWriter("statistics" if statistics_only else "all", history))


@contextmanager
def _traced(watch: Any, subject: Any, writer: TapeWriter) -> Iterator[Tape]:
    try:
        with watch(subject, writer):
            yield writer.tape
    finally:
        writer.close()


def _needed(subject: Any, *inputs: Any, where: str) -> ModuleType:
    adapter = adapter_of(subject, *inputs)
    if adapter is None:
        verb = where.partition("(")[0].removeprefix("ks.")
        raise ArgumentError(f"{verb}: expected a model, {got_instead(subject, where)}")
    return adapter


def name_of(subject: Any) -> str:
    """Return the name of a foreign model, or of its class if the model has no name.

    The name of a path is the name of the file without its extension.

    Examples
    --------
    >>> name_of("models/resnet.onnx"), name_of(len)
    ('resnet', 'len')
    """
    if isinstance(subject, (str, PathLike)):
        return str(fspath(subject)).replace("\\", "/").rpartition("/")[2].rpartition(".")[0]
    of_graph = getattr(getattr(subject, "graph", None), "name", None)  # of an ONNX model
    for attribute in ("name", "__name__"):
        found = getattr(subject, attribute, None) or of_graph
        if isinstance(found, str) and found:
            return found
    return type(subject).__name__
