"""How Keras 3 writes an op in a file: for example, `Mean(axes=(1,))` as "Mean" with `axis=1`.

An op without a counterpart in Keras 3 keeps its own name and parameters, with the prefix
"kerascope>". Keras 3 cannot read a file with such an operation.
"""

from __future__ import annotations

from collections.abc import Callable
from string import ascii_lowercase
from typing import Any, NamedTuple

from kerascope.backend.graph import Apply, Op
from kerascope.backend.ops.indexing import Span
from kerascope.errors import ConfigError
from kerascope.registry import did_you_mean

__all__: list[str] = []

OWN = "kerascope>"  # prefix for the name of an op that Keras 3 does not have


class Form(NamedTuple):
    """How an op is written as an operation of Keras 3: the name of the class and the arguments.

    Attributes
    ----------
    operation : str
        The name of the class in Keras 3.
    pattern : list
        The positional arguments.
    options : dict
        The keyword arguments.
    """

    operation: str
    pattern: list[Any]
    options: dict[str, Any]


def form_of(apply: Apply, items: list[Any]) -> Form:
    """Return the `Form` of an `Apply`: how Keras 3 writes its op, with the inputs `items`."""
    op = apply.op
    kind = type(op).__name__
    if not type(op).__module__.startswith("kerascope.") or kind not in _FORMS:
        return _own_form(apply, items)
    return _FORMS[kind](apply, items) or _own_form(apply, items)


def _own_form(apply: Apply, items: list[Any]) -> Form:
    options = {name: _without_spans(value) for name, value in apply.op.parameters.items()}
    return Form(OWN + type(apply.op).__name__, items, options)


def _without_spans(value: Any) -> Any:
    return tuple(map(_key, value)) if type(value) is tuple else value


def own_op(operation: str, options: dict[str, Any]) -> Op:
    """Return the op for a name such as "kerascope>Add", with `options` as its parameters.

    Raises
    ------
    ConfigError
        The op is unknown.
    """
    name = operation.removeprefix(OWN)
    known: dict[str, type[Op]] = {}
    waiting: list[type[Op]] = [Op]
    while waiting:
        kinds = waiting.pop().__subclasses__()
        waiting.extend(kinds)
        known.update((kind.__name__, kind) for kind in kinds)
    if name not in known:
        raise ConfigError(
            f"operation {operation!r}: there is no op {name!r} here. {did_you_mean(name, known)}"
            "If it is your own, import its class before you load the model."
        )
    return known[name](**{key: _as_tuple(value) for key, value in options.items()})


def _as_tuple(value: Any) -> Any:
    """Return a value from JSON, with each list converted to a tuple and each slice to a `Span`."""
    if isinstance(value, dict) and value.get("class_name") == "__slice__":
        return Span(**value["config"])
    return tuple(map(_as_tuple, value)) if isinstance(value, (list, tuple)) else value


# --- forms of single ops --------------------------------------------------------------------------

_Maker = Callable[[Apply, list[Any]], Form | None]


def _named(name: str, **parameters: str) -> _Maker:
    """Return a function that describes an `Apply` as the operation `name` of Keras 3, in a `Form`.

    `parameters` maps names of arguments in Keras 3 to the names of parameters of the op.
    """

    def form(apply: Apply, items: list[Any]) -> Form:
        own = apply.op.parameters
        return Form(name, items, {theirs: _plain(own[ours]) for theirs, ours in parameters.items()})

    return form


def _plain(value: Any) -> Any:
    """Return the only item of a tuple, a longer tuple as a list, and any other value unchanged."""
    if not isinstance(value, tuple):
        return value
    return value[0] if len(value) == 1 else list(value)


def _joining(name: str) -> _Maker:
    return lambda apply, items: Form(name, [items], {"axis": apply.op.parameters["axis"]})


def _listed(name: str, theirs: str, ours: str) -> _Maker:
    """Return a function that describes an `Apply` as the operation `name` of Keras 3, in a `Form`.

    The operation has one argument, `theirs`: a list with the items of the op's parameter `ours`.
    """
    return lambda apply, items: Form(name, items, {theirs: list(apply.op.parameters[ours])})


def _get_item(apply: Apply, items: list[Any]) -> Form:
    key = [_key(one) for one in apply.op.parameters["index"]]
    return Form("GetItem", [*items, key], {})


def _key(one: Any) -> Any:
    if isinstance(one, Span):
        return {"class_name": "__slice__", "config": one._asdict()}
    return one


def _relu(apply: Apply, items: list[Any]) -> Form | None:
    alpha, max_value, threshold = apply.op.parameters.values()
    if threshold == 0.0 and max_value is None:
        return Form("LeakyRelu", items, {"negative_slope": alpha}) if alpha else _RELU(apply, items)
    is_relu6 = (alpha, max_value, threshold) == (0.0, 6.0, 0.0)
    return Form("Relu6", items, {}) if is_relu6 else None


_RELU = _named("Relu")


def _running(name: str) -> _Maker:
    def form(apply: Apply, items: list[Any]) -> Form | None:
        parameters = dict(apply.op.parameters)
        axis = parameters.pop("axis")
        return None if any(parameters.values()) else Form(name, items, {"axis": axis})

    return form


def _full_like(apply: Apply, items: list[Any]) -> Form | None:
    value, dtype = apply.op.parameters["value"], apply.op.parameters["dtype"]
    if value not in (0, 1) or dtype != apply.inputs[0].dtype:
        return None
    return Form("OnesLike" if value else "ZerosLike", items, {})


def _dot(apply: Apply, items: list[Any]) -> Form | None:
    x, y = apply.inputs
    if y.ndim <= 2:
        return Form("Matmul", items, {})
    return Form("Tensordot", items, {"axes": [[x.ndim - 1], [y.ndim - 2]]})


def _contraction(apply: Apply, items: list[Any]) -> Form:
    """Return a contraction as Keras 3's Einsum. Paired axes of x and y have the same letter."""
    op: Any = apply.op
    x, y = apply.inputs
    x_letters, others = ascii_lowercase[: x.ndim], iter(ascii_lowercase[x.ndim :])
    same = dict(zip(op.y_axes, op.x_axes, strict=True)) | {axis: axis for axis in range(op.batch)}
    y_letters = "".join(
        x_letters[same[axis]] if axis in same else next(others) for axis in range(y.ndim)
    )
    left = [x_letters[a] for a in op.free(x.ndim, op.x_axes)]
    right = [y_letters[b] for b in op.free(y.ndim, op.y_axes)]
    result = "".join([x_letters[: op.batch], *left, *right])
    return Form("Einsum", items, {"subscripts": f"{x_letters},{y_letters}->{result}"})


def _einsum(apply: Apply, items: list[Any]) -> Form:
    op: Any = apply.op
    return Form("Einsum", items, {"subscripts": op.subscripts})


def _flat(apply: Apply, items: list[Any]) -> Form | None:
    size = apply.outputs[0].shape[-1]
    return None if size is None else Form("Reshape", items, {"newshape": [-1, size]})


def _one_axis(name: str) -> _Maker:
    def form(apply: Apply, items: list[Any]) -> Form | None:
        axes = apply.op.parameters["axes"]
        return Form(name, items, {"axis": axes[0]}) if len(axes) == 1 else None

    return form


def _reduction(name: str) -> _Maker:
    def form(apply: Apply, items: list[Any]) -> Form:
        axes, keepdims = apply.op.parameters["axes"], apply.op.parameters["keepdims"]
        axis = None if len(axes) == apply.inputs[0].ndim else _plain(axes)
        return Form(name, items, {"axis": axis, "keepdims": keepdims})

    return form


_SAME = (
    "Add Subtract Multiply Power Maximum Minimum Negative Sign Round Square Sqrt Exp Log Log1p Sin "
    "Cos Equal NotEqual Greater GreaterEqual Less LessEqual LogicalAnd LogicalOr LogicalNot Where "
    "Sigmoid Tanh Softplus Softsign Erf StopGradient"
)

_FORMS: dict[str, _Maker] = {
    **{name: _named(name) for name in _SAME.split()},
    **{name: _reduction(name) for name in ["Sum", "Mean", "Prod", "Max", "Min", "Any", "All"]},
    "Divide": _named("TrueDivide"),
    "Abs": _named("Absolute"),
    "Clip": _named("Clip", x_min="low", x_max="high"),
    "LogSumExp": _reduction("Logsumexp"),
    "Argmax": _named("Argmax", axis="axis"),
    "Argmin": _named("Argmin", axis="axis"),
    "CumulativeSum": _running("Cumsum"),
    "CumulativeProduct": _running("Cumprod"),
    "FullLike": _full_like,
    "Cast": _named("Cast", dtype="dtype"),
    "Concatenate": _joining("Concatenate"),
    "Stack": _joining("Stack"),
    "Tile": _listed("Tile", "repeats", "repeats"),
    "RepeatElements": _named("Repeat", repeats="times", axis="axis"),
    "Reverse": _named("Flip", axis="axes"),
    "Transpose": _listed("Transpose", "axes", "pattern"),
    "Reshape": _listed("Reshape", "newshape", "shape"),
    "BatchFlatten": _flat,
    "ExpandDims": _one_axis("ExpandDims"),
    "Squeeze": _one_axis("Squeeze"),
    "GetItem": _get_item,
    "Gather": lambda apply, items: Form("Take", items, {"axis": 0}),
    "OneHot": _named("OneHot", num_classes="num_classes", dtype="dtype"),
    "Dot": _dot,
    "MatMul": _named("Matmul"),
    "TensorDot": _contraction,
    "BatchDot": _contraction,
    "Einsum": _einsum,
    "Relu": _relu,
    "Elu": _named("Elu", alpha="alpha"),
    "Softmax": _named("Softmax", axis="axis"),
    "LogSoftmax": _named("LogSoftmax", axis="axis"),
}
