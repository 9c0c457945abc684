"""Draws functions of JAX and modules of Flax and Equinox as JAX traces them, or runs them in steps.

`jax.make_jaxpr` traces what a function does with its arguments, without numbers. A run is recorded
equation by equation. Any function works that JAX can trace, so you can draw `jax.grad(loss)` like
`loss`.

Three kinds of arrays are parameters: the arrays of a module, arrays that a function uses without
taking them as arguments, and the arrays inside the first argument if that is a tree of arrays and
other arguments follow, as in `predict(params, x)`. All other arrays are inputs.

`jax_bodies.py` reads the equations of a function, and `jax_walk.py` walks through them.
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
    """Return the graph of a function or a module, as JAX traces it.

    Parameters
    ----------
    subject : callable, or a module of Flax or Equinox
        A module of flax.linen takes its variables as the first input.
    *inputs, **named_inputs
        The inputs. For arrays, shapes are enough (`jax.ShapeDtypeStruct`).

    Raises
    ------
    ArgumentError
        If inputs are missing, or the function's control flow depends on their numbers.

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
    """Run a function equation by equation and record its calls.

    Parameters
    ----------
    subject, *inputs, **named_inputs
        The same as for `graph_of`, but with numbers.
    writer : TapeWriter
    loss : callable, optional
        Maps the function's result to one number. Its gradients with respect to all parameters and
        floating-point inputs are recorded.

    Returns
    -------
    object
        The result of the function.

    Raises
    ------
    ArgumentError
        If inputs are missing, or the function's control flow depends on their numbers.

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
    with writer.span("function", _name(subject)) as at_end, writer.span("forward", "forward"):
        given = []
        for leaf in traced.leaves:
            array = _numbers(leaf)
            role = leaf.role
            given.append(walk.parameter(array, array, role) if role else walk.given(array))
        _write_inputs(writer, traced, given)
        outputs = [one.array for one in walk.walk(traced.body, given)]
        result = tree_unflatten(traced.result, [jnp.asarray(one) for one in outputs])
        at_end["outputs"] = tuple(np.asarray(one) for one in outputs if not _is_key(one))
        if loss is not None:
            _write_gradients(writer, traced, loss)
    return result


def _write_inputs(writer: TapeWriter, traced: Traced, given: list[WalkedValue]) -> None:
    for leaf, known in zip(traced.leaves, given, strict=True):
        if not leaf.role:
            writer.call(leaf.name, [], [known.value], op="Input", kind="input")


def _write_gradients(writer: TapeWriter, traced: Traced, loss: Callable[[Any], Any]) -> None:
    """Record the gradients of a loss with respect to all floating-point parameters and inputs."""
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
    """An array in the arguments of a traced function or in its module, with its name and role.

    Attributes
    ----------
    name : str
        Path of the array, such as "params.dense.kernel".
    role : str
        The same as `name` for a parameter, "" for an input.
    array : array or ShapeDtypeStruct
    aval : ShapedArray
        The shape and type of the array for JAX.
    """

    name: str
    role: str
    array: Any
    aval: Any = None


class Traced(NamedTuple):
    """A function that JAX has traced, with what a walk through its equations needs.

    Attributes
    ----------
    body : Body
    leaves : list of Leaf
        The arrays of the inputs of `body`, in order.
    roles : dict of int to str
        Names of the arrays that the function captures, by the identity of the array.
    result : PyTreeDef
        The tree structure of the function's result.
    call : callable
        Calls the function on the arrays of all leaves.
    """

    body: Body
    leaves: list[Leaf]
    roles: dict[int, str]
    result: Any
    call: Callable[[list[Any]], Any]


def _traced(subject: Any, inputs: tuple[Any, ...], named_inputs: Mapping[str, Any]) -> Traced:
    if not inputs and not named_inputs:
        raise ArgumentError(
            f"JAX: expected inputs to trace {_name(subject)} with, got none. Give arrays: "
            f"draw(function, values=x), or values=(params, x)."
        )
    function, is_module = _function_of(subject), _is_module(subject)
    arguments = {"": subject} if is_module else {}
    arguments.update(_inputs_by_name(function, inputs))
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
        with _scoped({"": called} if is_module else dict(_captured_by(function))):
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
            f"JAX: expected a function that JAX can trace, got {name}, in which an `if`, a `while` "
            f"or a conversion depends on a number. Use jax.lax.cond or jnp.where, or pass the "
            f"deciding value as a plain Python value. JAX reports: {str(error).splitlines()[0]}"
        ) from error


def _numbers(leaf: Leaf) -> Any:
    if isinstance(leaf.array, jax.ShapeDtypeStruct):
        raise ArgumentError(
            f"JAX: {leaf.name}: expected an array, got the shape {leaf.array} without numbers. "
            f"Give an array. Only draw works without numbers."
        )
    return jnp.asarray(leaf.array)


def _is_key(array: Any) -> bool:
    return bool(jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended))


# --- subjects -------------------------------------------------------------------------------------


def _is_module(subject: Any) -> bool:
    """Return whether an object is a callable tree of arrays: a module of nnx or Equinox."""
    homes = {cls.__module__.partition(".")[0] for cls in type(subject).__mro__}
    return bool(homes & {*_OF_MODULES}) and not _is_linen(subject)


def _is_linen(subject: Any) -> bool:
    return any(cls.__module__.startswith("flax.linen") for cls in type(subject).__mro__)


def _function_of(subject: Any) -> Callable[..., Any]:
    """Return the function to trace for a subject: the subject itself, or `apply` of flax.linen."""
    if _is_linen(subject):
        return subject.apply  # type: ignore[no-any-return]
    if not callable(subject):
        raise ArgumentError(
            f"JAX: expected a function or a module that can be called, got "
            f"{type(subject).__name__}. Wrap it in a function: lambda x: ..."
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


def _inputs_by_name(function: Callable[..., Any], inputs: tuple[Any, ...]) -> dict[str, Any]:
    """Return the positional inputs of a function by the names of its arguments."""
    module: Any = getattr(function, "__self__", None)
    if inputs and _is_linen(module) and function.__name__ == "apply":  # it passes on the others
        return {"variables": inputs[0], **_inputs_by_name(module.__call__, inputs[1:])}
    try:
        bound = inspect.signature(function).bind_partial(*inputs)
    except (TypeError, ValueError):  # too many inputs, or no signature: the call reports it
        return {f"input_{place}": value for place, value in enumerate(inputs)}
    names: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        parameter = bound.signature.parameters[name]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            names.update((f"{name}[{place}]", one) for place, one in enumerate(value))
        else:
            names[name] = value
    return names


def _captured_by(function: Any) -> Iterator[tuple[str, Any]]:
    """Yield (name, value) of each variable that a function uses and that is not its argument."""
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        yield "", wrapped
        yield from _captured_by(wrapped)
    if isinstance(function, MethodType):
        yield "", function.__self__
        function = function.__func__
    if isinstance(function, partial):
        yield from _inputs_by_name(function.func, function.args).items()
        yield from function.keywords.items()
        yield from _captured_by(function.func)
    if isinstance(function, FunctionType):
        try:
            used = inspect.getclosurevars(function)
        except ValueError:  # a captured name has no value yet
            return
        yield from {**used.globals, **used.nonlocals}.items()


def _roles(function: Any) -> dict[int, str]:
    """Return the names of the arrays that a function captures, by the identity of each array."""
    roles: dict[int, str] = {}
    for name, found in _captured_by(function):
        try:
            leaves = tree_flatten_with_path(found)[0]
        except (TypeError, ValueError):  # not a tree for JAX: a dict with keys of several types
            continue
        for path, leaf in leaves:
            if isinstance(leaf, _ARRAYS):
                roles.setdefault(id(leaf), _path_in_words(path, name))
    return roles


def _path_in_words(path: tuple[Any, ...], words: str) -> str:
    """Return the path of an array in a tree as text that begins with `words`: "params.kernel"."""
    for key in path:
        label = getattr(key, "name", getattr(key, "key", None))
        if label is None or isinstance(label, int):
            words += f"[{getattr(key, 'idx', label)}]"
        elif str(label) and str(label) != "value":
            words += f".{label}"
    return words.removeprefix(".") or "array"


# --- modules as scopes ----------------------------------------------------------------------------


@contextmanager
def _scoped(found: Mapping[str, Any]) -> Iterator[None]:
    """Trace each call of a named module inside a JAX scope with the module's name.

    flax.linen adds such scopes itself.
    """
    names: dict[int, str] = {}
    kept = []
    for word, one in found.items():
        for module, name in _modules_in(one, word):
            if name and id(module) not in names:
                names[id(module)] = name
                kept.append(module)  # keeps it alive, so that its id stays unique
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
    """Yield a module and its submodules, each with its name in the module that contains it."""
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
