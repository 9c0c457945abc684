"""Functions of JAX, modules of Flax and Equinox: drawn as JAX traces them, and run step by step.

`jax.make_jaxpr` says what a function does with its arguments; no numbers are needed for that. What
runs is written down equation by equation. A function of JAX is anything that JAX can trace, so
`jax.grad(loss)` is drawn like `loss`.

What is an input and what is a parameter? The arrays of a module are parameters, and so are those
that a function has around it, and those inside its first argument if that is a tree of arrays and
other arguments follow, as in `predict(params, x)`. All others are inputs.

`jax_bodies.py` reads the equations of a function, `jax_walk.py` walks through them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial, wraps
from types import FunctionType, MethodType
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.tree_util import tree_flatten_with_path, tree_unflatten

from kerascope.errors import ArgumentError
from kerascope.foreign.bodies import Body, WalkedValue
from kerascope.foreign.jax_bodies import body_of
from kerascope.foreign.jax_walk import JaxEvaluator, JaxWalk, array_type
from kerascope.foreign.writer import TapeWriter
from kerascope.viz.graph import Graph

LIBRARY = "jax"
_VERSION = f"{LIBRARY} {jax.__version__}"
_ARRAYS = (jax.Array, np.ndarray, np.generic, jax.ShapeDtypeStruct)
_OF_MODULES = ("flax", "equinox")


def graph_of(subject: Any, *inputs: Any, **named_inputs: Any) -> Graph:
    """Return the graph of a function, or of a module, as JAX traces it.

    Parameters
    ----------
    subject : callable, or a module of Flax or Equinox
        A module of Flax's linen takes its variables as the first input.
    *inputs, **named_inputs
        What it is called on; of arrays the shapes are enough (`jax.ShapeDtypeStruct`).

    Raises
    ------
    ArgumentError
        There are no inputs, or what the function does depends on the numbers in them.

    Examples
    --------
    >>> def predict(params, x):
    ...     return jax.nn.relu(x @ params["w"] + params["b"])
    >>> params = {"w": jnp.ones((3, 2)), "b": jnp.zeros(2)}
    >>> graph = graph_of(predict, params, jnp.ones((1, 3)))
    >>> [(box.id, box.attrs["class_name"], box.attrs["parameters"]) for box in graph.nodes]
    [('x', 'Input', 0), ('dot_general', 'dot_general', 6), ('add', 'add', 2), ('relu', 'relu', 0)]
    """
    writer = TapeWriter("none", library=_VERSION)
    traced = _traced(subject, inputs, named_inputs)
    walk = JaxWalk(writer, traced.roles)
    given = [
        walk.parameter(leaf.aval, None, leaf.role)
        if leaf.role
        else walk.declared(array_type(leaf.aval))
        for leaf in traced.leaves
    ]
    _write_inputs(writer, traced, given)
    walk.walk(traced.body, given)
    return writer.graph(_name(subject))


def record(
    subject: Any,
    *inputs: Any,
    writer: TapeWriter,
    loss: Callable[[Any], Any] | None = None,
    **named_inputs: Any,
) -> Any:
    """Run a function equation by equation and write down what ran.

    Parameters
    ----------
    subject, *inputs, **named_inputs
        As for `graph_of`, but with numbers.
    writer : TapeWriter
    loss : callable, optional
        From what the function returns to one number; its gradients by all parameters and inputs of
        floating point are written down.

    Returns
    -------
    object
        What the function returns.

    Raises
    ------
    ArgumentError
        There are no inputs, or what the function does depends on the numbers in them.

    Examples
    --------
    >>> writer = TapeWriter("all")
    >>> record(lambda x: jnp.tanh(x) * 2, jnp.zeros(2), writer=writer)
    Array([0., 0.], dtype=float32)
    >>> [call.id for call in writer.calls]
    ['x', 'tanh', 'mul']
    """
    traced = _traced(subject, inputs, named_inputs)
    writer.library = writer.library or _VERSION
    walk = JaxWalk(writer, traced.roles, JaxEvaluator())
    with writer.span("function", _name(subject)) as told, writer.span("forward", "forward"):
        given = []
        for leaf in traced.leaves:
            array = _numbers(leaf)
            role = leaf.role
            given.append(walk.parameter(array, array, role) if role else walk.given(array))
        _write_inputs(writer, traced, given)
        outputs = [one.array for one in walk.walk(traced.body, given)]
        result = tree_unflatten(traced.result, [jnp.asarray(one) for one in outputs])
        told["outputs"] = tuple(np.asarray(one) for one in outputs if not _is_key(one))
        if loss is not None:
            _write_gradients(writer, traced, loss)
    return result


def _write_inputs(writer: TapeWriter, traced: Traced, given: list[WalkedValue]) -> None:
    for leaf, known in zip(traced.leaves, given, strict=True):
        if not leaf.role:
            writer.call(leaf.name, [], [known.value], op="Input", kind="input")


def _write_gradients(writer: TapeWriter, traced: Traced, loss: Callable[[Any], Any]) -> None:
    """Write down the gradients of a loss by all parameters and inputs that have one."""
    arrays = [_numbers(leaf) for leaf in traced.leaves]
    places = [n for n, one in enumerate(arrays) if jnp.issubdtype(one.dtype, jnp.inexact)]

    def of_leaves(some: list[Any]) -> Any:
        whole = list(arrays)
        for place, array in zip(places, some, strict=True):
            whole[place] = array
        return loss(traced.call(whole))

    gradients = jax.grad(of_leaves)([arrays[place] for place in places])
    for place, gradient in zip(places, gradients, strict=True):
        writer.gradient(traced.leaves[place].name, np.asarray(gradient))


# --- tracing --------------------------------------------------------------------------------------


class Leaf(NamedTuple):
    """An array among the arguments, or of the module.

    Attributes
    ----------
    name : str
        "params.dense.kernel".
    role : str
        The same of a parameter; "" of an input.
    array : array or ShapeDtypeStruct
    aval : ShapedArray
        Its shape and type as JAX takes them.
    """

    name: str
    role: str
    array: Any
    aval: Any = None


class Traced(NamedTuple):
    """A function as JAX has traced it.

    Attributes
    ----------
    body : Body
    leaves : list of Leaf
        What its variables stand for.
    roles : dict of int to str
        Names of the arrays that it has around it, by their identity.
    result : PyTreeDef
        The form of what it returns.
    call : callable
        Calls it on the arrays of all leaves.
    """

    body: Body
    leaves: list[Leaf]
    roles: dict[int, str]
    result: Any
    call: Callable[[list[Any]], Any]


def _traced(subject: Any, inputs: tuple[Any, ...], named_inputs: Mapping[str, Any]) -> Traced:
    if not inputs and not named_inputs:
        raise ArgumentError(
            f"JAX: {_name(subject)} is traced on what it is called on; expected inputs, got none. "
            f"Give arrays: draw(function, values=x), or values=(params, x)."
        )
    function, is_module = _function_of(subject), _is_module(subject)
    arguments = {"": subject} if is_module else {}
    arguments.update(_named(function, inputs))
    names = [*arguments, *named_inputs]
    is_tree = len(names) > 1 and not isinstance(next(iter(arguments.values()), None), _ARRAYS)
    paths, tree = tree_flatten_with_path([*arguments.values(), *named_inputs.values()])
    leaves, places = [], []
    for place, (path, value) in enumerate(paths):
        if isinstance(value, _ARRAYS):
            name = _path_in_words(path[1:], names[path[0].idx])
            leaves.append(Leaf(name, name if is_tree and path[0].idx == 0 else "", value))
            places.append(place)
    values = [value for _, value in paths]

    def call(arrays: list[Any]) -> Any:
        whole = list(values)
        for place, array in zip(places, arrays, strict=True):
            whole[place] = array
        given = tree_unflatten(tree, whole)
        named = dict(zip(names[len(arguments) :], given[len(arguments) :], strict=True))
        called = given[0] if is_module else function
        with _scoped({"": called} if is_module else dict(_around(function))):
            return called(*given[int(is_module) : len(arguments)], **named)

    closed, shape = _jaxpr(call, [leaf.array for leaf in leaves], _name(subject))
    leaves = [
        leaf._replace(aval=variable.aval)
        for leaf, variable in zip(leaves, closed.jaxpr.invars, strict=True)
    ]
    body = body_of(closed, without_scope=_is_linen(getattr(function, "__self__", None)))
    return Traced(body, leaves, _roles(function), jax.tree.structure(shape), call)


def _jaxpr(call: Callable[..., Any], arrays: list[Any], name: str) -> tuple[Any, Any]:
    try:
        return jax.make_jaxpr(call, return_shape=True)(arrays)
    except jax.errors.ConcretizationTypeError as error:
        raise ArgumentError(
            f"JAX: {name} does other things for other numbers; expected a function that JAX can "
            f"trace, got an `if`, a `while` or a conversion that asks for a value. Use "
            f"jax.lax.cond or jnp.where, or give what decides as a plain Python value: "
            f"{str(error).splitlines()[0]}"
        ) from error


def _numbers(leaf: Leaf) -> Any:
    if isinstance(leaf.array, jax.ShapeDtypeStruct):
        raise ArgumentError(
            f"JAX: {leaf.name} is a shape without numbers; expected an array, got {leaf.array}. "
            f"To draw needs no numbers; to run does."
        )
    return jnp.asarray(leaf.array)


def _is_key(array: Any) -> bool:
    return bool(jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended))


# --- subjects -------------------------------------------------------------------------------------


def _is_module(subject: Any) -> bool:
    """Tell whether a thing is a tree of arrays that is called: of nnx, or of Equinox."""
    homes = {cls.__module__.partition(".")[0] for cls in type(subject).__mro__}
    return bool(homes & {*_OF_MODULES}) and not _is_linen(subject)


def _is_linen(subject: Any) -> bool:
    return any(cls.__module__.startswith("flax.linen") for cls in type(subject).__mro__)


def _function_of(subject: Any) -> Callable[..., Any]:
    """Return what is called."""
    if _is_linen(subject):
        return subject.apply  # type: ignore[no-any-return]
    if not callable(subject):
        raise ArgumentError(
            f"JAX: expected a function or a module that can be called, got "
            f"{type(subject).__name__}. Give a function of it: lambda x: ..."
        )
    return subject  # type: ignore[no-any-return]


def _name(subject: Any) -> str:
    if isinstance(subject, partial):
        return _name(subject.func)
    if _is_linen(getattr(subject, "__self__", None)):
        subject = subject.__self__
    name = getattr(subject, "__name__", None)
    if not isinstance(name, str) or not name:
        return type(subject).__name__
    wrapped = getattr(subject, "__wrapped__", None)
    return _name(wrapped) if name.startswith("<") and wrapped is not None else name


def _named(function: Callable[..., Any], inputs: tuple[Any, ...]) -> dict[str, Any]:
    """Return inputs by the names of the arguments."""
    module: Any = getattr(function, "__self__", None)
    if inputs and _is_linen(module) and function.__name__ == "apply":  # it passes the others on
        return {"variables": inputs[0], **_named(module.__call__, inputs[1:])}
    try:
        bound = inspect.signature(function).bind_partial(*inputs)
    except (TypeError, ValueError):  # too many, which the call itself says; or no signature
        return {f"input_{place}": value for place, value in enumerate(inputs)}
    names: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names.update((f"{name}[{place}]", one) for place, one in enumerate(value))
        else:
            names[name] = value
    return names


def _around(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a function uses that is none of its arguments, by name."""
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        yield "", wrapped
        yield from _around(wrapped)
    if isinstance(function, MethodType):
        yield "", function.__self__
        function = function.__func__
    if isinstance(function, partial):
        yield from _named(function.func, function.args).items()
        yield from function.keywords.items()
        yield from _around(function.func)
    if isinstance(function, FunctionType):
        try:
            used = inspect.getclosurevars(function)
        except ValueError:  # a name around it has no value yet
            return
        yield from {**used.globals, **used.nonlocals}.items()


def _roles(function: Any) -> dict[int, str]:
    """Return names of the arrays around a function, by their identity."""
    roles: dict[int, str] = {}
    for name, found in _around(function):
        try:
            leaves = tree_flatten_with_path(found)[0]
        except (TypeError, ValueError):  # no tree for JAX: a dict with keys of several kinds
            continue
        for path, leaf in leaves:
            if isinstance(leaf, _ARRAYS):
                roles.setdefault(id(leaf), _path_in_words(path, name))
    return roles


def _path_in_words(path: tuple[Any, ...], words: str) -> str:
    """Return where an array lies in a tree that is called `words`: "params.layers[0].kernel"."""
    for key in path:
        told = getattr(key, "name", getattr(key, "key", None))
        if told is None or isinstance(told, int):
            words += f"[{getattr(key, 'idx', told)}]"
        elif str(told) and str(told) != "value":
            words += f".{told}"
    return words.removeprefix(".") or "array"


# --- modules as scopes ----------------------------------------------------------------------------


@contextmanager
def _scoped(found: Mapping[str, Any]) -> Iterator[None]:
    """Let each call of a module that has a name be in a scope of this name while JAX traces.

    Flax's linen does so itself.
    """
    names: dict[int, str] = {}
    kept = []
    for word, one in found.items():
        for module, name in _modules_in(one, word):
            if name and id(module) not in names:
                names[id(module)] = name
                kept.append(module)  # while it lives, no other has its id
    classes = dict.fromkeys(type(one) for one in kept if callable(one))
    before = {cls: cls.__dict__.get("__call__") for cls in classes}
    try:
        for cls in classes:
            cls.__call__ = _in_scope(getattr(cls.__call__, "_plain", cls.__call__), names)
        yield
    finally:
        for cls, own in before.items():
            if own is None:
                del cls.__call__
            else:
                cls.__call__ = own


def _in_scope(call: Callable[..., Any], names: Mapping[int, str]) -> Callable[..., Any]:
    @wraps(call)
    def scoped(self: Any, *inputs: Any, **named: Any) -> Any:
        name = names.get(id(self))
        if name is None:
            return call(self, *inputs, **named)
        with jax.named_scope(name):
            return call(self, *inputs, **named)

    scoped._plain = call  # type: ignore[attr-defined]
    return scoped


def _modules_in(found: Any, name: str) -> Iterator[tuple[Any, str]]:
    """Yield a module and those inside, with the names that what is around them has for them."""
    if isinstance(found, Mapping):
        parts = [(f"{name}[{key}]", one) for key, one in found.items()]
    elif isinstance(found, (list, tuple)):
        parts = [(f"{name}[{place}]", one) for place, one in enumerate(found)]
    elif _is_module(found) and hasattr(found, "__dict__"):
        yield found, name
        parts = list(vars(found).items())
    else:
        return
    for inner, one in parts:
        yield from _modules_in(one, inner)
