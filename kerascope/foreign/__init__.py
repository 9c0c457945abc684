"""Models of other libraries under the scope: PyTorch, live Keras, ONNX files, functions of JAX.

Each library has an adapter here, a module that is found by where an object's class comes from and
loaded when the first such object is met. None of these libraries is ever imported because of
kerascope alone. An adapter has

- `record(subject, *inputs, writer, loss=None, **keywords)`: runs the subject once and tells the
  `TapeWriter` (`writer.py`) what ran; returns what the subject gave;
- `graph_of(subject, *inputs, **keywords)`: the `Graph`, without numbers;
- perhaps `read(subject, writer)`: tells the writer what a file says, where nothing has to run;
- perhaps `declared(subject)`: what it reads, as `Declared`;
- perhaps `converted(subject)`: a model of kerascope that does the same, or None, with which all the
  rest of kerascope works;
- perhaps `as_configured(subject)`: the same with boxes in place of what kerascope does not have;
- perhaps `tracing(subject, writer)`: a context manager, in which whatever runs of it is recorded.

The verbs ask here: `draw` for what is `drawable`, `walk` for `steps`, `trace` for `tracing`.
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

from kerascope import edge
from kerascope.call_inputs import inputs_asked, with_numbers
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, MissingToolError
from kerascope.foreign.graphs import numbers_given
from kerascope.foreign.reading import CallStep, steps_of, summary_of
from kerascope.foreign.records import Call, Declared, Frame, Recorded, Value
from kerascope.foreign.writer import TapeWriter
from kerascope.model_files import opened
from kerascope.not_a_model import OF_ONNX, got_instead
from kerascope.trace.tape_store import HISTORY, Tape
from kerascope.trace.walking import walk

__all__ = [
    "Call", "CallStep", "Frame", "Recorded", "TapeWriter", "Value", "adapter_of", "converted",
    "drawable", "record", "steps", "summary", "tracing",
]  # fmt: skip

# Where a class comes from -> the adapter, and the extra that brings the library.
_ADAPTERS = {
    "torch": ("kerascope.foreign.torch_modules", "torch"),
    "keras": ("kerascope.foreign.keras_models", "keras"),
    "onnx": ("kerascope.foreign.onnx_models", "onnx"),
    **dict.fromkeys(
        ("jax", "jaxlib", "flax", "equinox"), ("kerascope.foreign.jax_functions", "jax")
    ),
}
WATCHED = ("torch", "keras")  # whose adapters have `watching(writer)`: all models of a program
_OF_FILES = dict.fromkeys(OF_ONNX, "onnx")
# Whose arrays make a plain function one of theirs.
OF_FUNCTIONS = ("jax", "jaxlib", "flax", "equinox")


def library_of(subject: Any, *inputs: Any) -> str:
    """Return whose a thing is, "torch", or "" if it is of no library that has an adapter.

    Parameters
    ----------
    subject : object
        A path tells by its ending.
    *inputs : object
        What it is called on: that tells whose a plain function is.

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
    """Yield what lies in lists and dicts, at any depth."""
    if isinstance(value, (dict, list, tuple)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _inside(one)
    else:
        yield value


def _homes_of(subject: Any) -> list[str]:
    """Return the libraries from which a class and those that it builds upon come."""
    return [str(cls.__module__).partition(".")[0] for cls in type(subject).__mro__]


def adapter_of(subject: Any, *inputs: Any) -> ModuleType | None:
    """Return the adapter of something; None if it needs or has none.

    Raises
    ------
    MissingToolError
        The library that reads such a file is not installed.
    """
    library = library_of(subject, *inputs)
    if not library:
        return None
    is_path = isinstance(subject, (str, PathLike))
    return adapter_named(library, repr(fspath(subject)) if is_path else type(subject).__name__)


def adapter_named(library: str, where: str) -> ModuleType:
    """Return the adapter of a library; `where` is for the message if that is not installed.

    Raises
    ------
    MissingToolError
        It is not.
    """
    module, extra = _ADAPTERS[library]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("kerascope"):
            raise
        raise MissingToolError(
            f"{where}: this takes the package {error.name}, which is not installed. "
            f'Install it: pip install "kerascope[{extra}]"'
        ) from None


# --- what the verbs ask ---------------------------------------------------------------------------


def converted(subject: Any) -> Any:
    """Return the model of kerascope that does what a foreign one does; None if there is none."""
    adapter = adapter_of(subject)
    convert = getattr(adapter, "converted", None)
    return None if convert is None else convert(subject)


def declared(subject: Any) -> list[Declared] | None:
    """Return what a foreign model says that it reads; None if it says nothing."""
    told: list[Declared] | None = getattr(adapter_of(subject), "declared", _nothing)(subject)
    return told


def _nothing(subject: Any) -> None:
    return None


class Fed(NamedTuple):
    """What a foreign model is called on."""

    values: tuple[Any, ...] = ()
    names: Mapping[str, Any] = {}


def fed(inputs: Any, subject: Any = None) -> Fed:
    """Return inputs as a call has them: one, a tuple of several, or a dict of those with names.

    A module of PyTorch or a model of Keras also takes a tuple whose last item is a dict of inputs
    with names, and shapes, which stand for random numbers.

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
    """Return the names of the arguments of a model's call, without the first ones."""
    call = getattr(subject, "forward", None) or getattr(subject, "call", None)
    try:
        arguments = list(signature(call).parameters.values())[number:] if call else []
    except (TypeError, ValueError):  # of a callable without a signature
        return set()
    return {one.name for one in arguments if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)}


def drawable(subject: Any, inputs: Any = None, values: Any = None) -> tuple[Any, Any]:
    """Return what is drawn of a foreign model, and what each call gave; ours comes as it is.

    Parameters
    ----------
    subject : object
    inputs : optional
        What it is called on (see `fed`), if its numbers are not to be shown.
    values : optional
        The same if they are.
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
    """Return the steps of a walk through a foreign model; None if it is none."""
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
        Of kerascope, or of another library; or of a file of one.
    inputs : optional
        What a foreign model is called on; several in a tuple, those with names in a dict. Of a
        module of PyTorch or a subclassed model of Keras also a shape, such as (2, 4).
    **options : object
        As for `Model.summary`; of a recorded model `line_length` and `print_fn`. `input_data` and
        `input_size`, as in torchinfo, are other words for `inputs`.

    Raises
    ------
    ArgumentError
        It is no model.

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
            f"summary: {model.name} is a graph that needs no inputs; got some. Leave them out."
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
            f"summary: {asked[0]!r} {why}; for a recorded one expected line_length or print_fn."
        )
    read = getattr(adapter_of(subject), "read", None)
    if inputs is None and read is not None:
        read(subject, writer := TapeWriter("none"))
    else:
        writer, _ = record(subject, inputs, arrays="none", where="ks.summary(model, x)")
    edge.show("summary", summary_of(writer.graph(name_of(subject)), writer.calls), **known)


def record(
    subject: Any,
    inputs: Any = None,
    *,
    loss: Any = None,
    arrays: str = "all",
    budget: int | None = HISTORY,
    where: str = "record(model, x)",
) -> tuple[TapeWriter, Any]:
    """Run a foreign model once; return what was recorded, and what it gave.

    `where` says in messages how the caller is called on a model.

    Raises
    ------
    ArgumentError
        It is of no library that has an adapter.
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
    """Return what records whatever runs of a foreign model; None if it is none.

    Raises
    ------
    ArgumentError
        Models of this library do not run by themselves.
    """
    adapter = adapter_of(subject)
    if adapter is None:
        return None
    watch = getattr(adapter, "tracing", None)
    if watch is None:
        raise ArgumentError(
            f"trace: kerascope runs {name_of(subject)} call by call itself; expected a model that "
            f"runs by itself. Use kerascope.walk(model, x) or kerascope.play(model, x)."
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
    """Return what a foreign model is called: its name, or that of its class or file.

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
