"""ONNX files: drawn as they stand, and stepped by onnxruntime or ONNX's own reference evaluator.

`kerascope draw model.onnx` needs no numbers and reads none: a file whose arrays lie beside it, or
are lost, is drawn, too. What runs is written down node by node with each value, inside of `If`,
`Loop` and `Scan`, too: of an `If` only the branch that is taken, of a loop each turn.

`onnx_bodies.py` reads the nodes of a file, `onnx_walk.py` walks through them.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto, ValueInfoProto, external_data_helper

from kerascope.errors import (
    ArgumentError,
    ConfigError,
    DtypeError,
    ShapeError,
    UnavailableError,
)
from kerascope.foreign.bodies import ArrayType, Body, WalkedValue
from kerascope.foreign.onnx_bodies import body_of, captured_by, type_of
from kerascope.foreign.onnx_nodes import is_external
from kerascope.foreign.onnx_runtime import Runtime
from kerascope.foreign.onnx_walk import OnnxEvaluator, OnnxWalk
from kerascope.foreign.records import Declared
from kerascope.foreign.writer import TapeWriter
from kerascope.registry import did_you_mean
from kerascope.trace.records import counted
from kerascope.viz.extract.layers import shapes_text
from kerascope.viz.graph import Graph

LIBRARY = "onnx"
_POINTER = b"version https://git-lfs"
_VERSION = f"{LIBRARY} {onnx.__version__}"


def graph_of(subject: ModelProto | str | PathLike[str], *inputs: Any, **named_inputs: Any) -> Graph:
    """Return the graph of an ONNX file.

    Parameters
    ----------
    subject : ModelProto or path
    *inputs, **named_inputs : array, optional
        If they are given, the graph is that of what ran: with the branches that were taken, and
        with each turn of a loop. Else it is that of the file.

    Returns
    -------
    Graph
        Arrays of the file are parameters of the node that reads them, settings where they are
        small, or boxes of their own where several nodes read them.

    Raises
    ------
    UnavailableError, ConfigError
        There is no such file, or it is damaged.

    Examples
    --------
    >>> from onnx import helper
    >>> x, y = (helper.make_tensor_value_info(name, 1, ["batch", 4]) for name in "xy")
    >>> nodes = [helper.make_node("Relu", ["x"], ["h"]), helper.make_node("Tanh", ["h"], ["y"])]
    >>> model = helper.make_model(helper.make_graph(nodes, "small", [x], [y]))
    >>> [(box.id, box.kind, box.attrs["output_shapes"]) for box in graph_of(model).nodes]
    [('x', 'input', '(None, 4)'), ('Relu_0', 'activation', '(None, 4)'),
     ('Tanh_1', 'activation', '(None, 4)')]
    """
    writer = TapeWriter("none", library=_VERSION)
    if inputs or named_inputs:
        record(subject, *inputs, writer=writer, **named_inputs)
        return writer.graph(_name(subject))
    unknown = read(subject, writer)
    return _without_ranks(writer, _name(subject), unknown)


def read(subject: ModelProto | str | PathLike[str], writer: TapeWriter) -> Container[Any]:
    """Write down what a file says, without running it; return the tokens of unknown shapes.

    Raises
    ------
    UnavailableError, ConfigError
        There is no such file, or it is damaged.
    """
    model = _with_shapes(_model_of(subject))
    body = body_of(model, {})
    walk, given = OnnxWalk(writer), []
    for declared in _inputs(model, body):
        given.append(walk.declared(walk.type_of(body, declared.name)))
        _write_input(writer, declared, given[-1])
    walk.walk(body, given)
    return walk.unknown


def declared(subject: ModelProto | str | PathLike[str]) -> list[Declared]:
    """Return the inputs that a file asks for.

    Raises
    ------
    UnavailableError, ConfigError
        There is no such file, or it is damaged.

    Examples
    --------
    >>> from onnx import helper
    >>> x, y = (helper.make_tensor_value_info(name, 1, ["batch", 4]) for name in "xy")
    >>> model = helper.make_model(
    ...     helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "small", [x], [y])
    ... )
    >>> declared(model)
    [Declared(name='x', shape=('batch', 4), dtype='float32', words=0)]
    """
    model = _model_of(subject)
    types = {one.name: type_of(one.type) for one in _inputs(model, body_of(model, {}))}
    return [Declared(name, known.shape, known.dtype) for name, known in types.items()]


def _without_ranks(writer: TapeWriter, name: str, unknown: Container[Any]) -> Graph:
    """Return the graph with "?" for each shape that nobody knows, instead of that of a scalar."""
    graph = writer.graph(name)
    shapes = {
        call.id: [
            "; ".join("?" if one.token in unknown else shapes_text([one.shape]) for one in values)
            for values in (call.inputs, call.outputs)
        ]
        for call in writer.calls
        if any(one.token in unknown for one in (*call.inputs, *call.outputs))
    }
    nodes = []
    for box in graph.nodes:
        given, made = shapes.get(box.id, (box.attrs["input_shapes"], box.attrs["output_shapes"]))
        told = {**box.attrs, "input_shapes": given, "output_shapes": made}
        nodes.append(replace(box, attrs=told))
    return replace(graph, nodes=tuple(nodes))


def record(
    subject: ModelProto | str | PathLike[str],
    *inputs: Any,
    writer: TapeWriter,
    loss: Any = None,
    **named_inputs: Any,
) -> list[Any]:
    """Execute an ONNX file node by node and write down what ran.

    Parameters
    ----------
    subject : ModelProto or path
    *inputs, **named_inputs : array
        In the order of the file, or by their names there.
    writer : TapeWriter
    loss : None
        An ONNX file has no gradients.

    Returns
    -------
    list
        The outputs, as `onnx.reference.ReferenceEvaluator.run(None, ...)` gives them.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError
        The inputs are not those that the file asks for.
    UnavailableError, ConfigError
        There is no such file, or it is damaged; or arrays that should lie beside it do not.
    DataError
        A node failed, or is none that the evaluator knows.

    Examples
    --------
    >>> from onnx import helper
    >>> x, y = (helper.make_tensor_value_info(name, 1, ["batch"]) for name in "xy")
    >>> graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "small", [x], [y])
    >>> writer = TapeWriter("all")
    >>> record(helper.make_model(graph), np.array([-1, 2], "float32"), writer=writer)
    [array([0., 2.], dtype=float32)]
    >>> [(call.id, call.outputs[0].array.tolist()) for call in writer.calls]
    [('x', [-1.0, 2.0]), ('Relu_0', [0.0, 2.0])]
    """
    if loss is not None:
        raise ArgumentError(
            "ONNX: a file says how to compute its outputs alone; expected loss=None, got a loss. "
            "Record the model that the file was exported from."
        )
    model = _model_of(subject)
    _load_arrays(model, subject)
    body = body_of(model, named_inputs)
    arrays = _fed(model, body, inputs, named_inputs)
    writer.library = writer.library or _VERSION
    walk = OnnxWalk(writer, OnnxEvaluator(model, Runtime(model, arrays)))
    with writer.span("function", _name(subject)) as told, writer.span("forward", "forward"):
        given = []
        for declared in _inputs(model, body):
            given.append(walk.given(arrays[declared.name]))
            _write_input(writer, declared, given[-1])
        outputs = [one.array for one in walk.walk(body, given)]
        told["outputs"] = tuple(outputs)
    return outputs


def _write_input(writer: TapeWriter, declared: ValueInfoProto, known: WalkedValue) -> None:
    """Write down an input, with the names of the sizes that may change."""
    shape = type_of(declared.type).shape or ()
    settings = {}
    if any(isinstance(size, str) for size in shape):
        settings[""] = " x ".join("?" if size is None else str(size) for size in shape)
    writer.call(declared.name, [], [known.value], op="Input", kind="input", settings=settings)


# --- files ----------------------------------------------------------------------------------------


def _name(subject: Any) -> str:
    if isinstance(subject, ModelProto):
        return subject.graph.name or "model"
    return Path(fspath(subject)).stem


def _model_of(subject: Any) -> ModelProto:
    """Return a file's model, without the arrays that lie beside it."""
    if isinstance(subject, ModelProto):
        model, where = subject, f"the model {subject.graph.name!r}"
    elif isinstance(subject, (str, PathLike)):
        path = Path(fspath(subject))
        model, where = _read(path), str(path)
    else:
        raise DtypeError(
            f"ONNX: expected an onnx.ModelProto or the path of a file, got "
            f"{type(subject).__name__}. Load the file: onnx.load(path)."
        )
    if not model.graph.node and not model.graph.output:
        raise ConfigError(
            f"ONNX: {where} holds no graph; expected nodes and outputs, got none. The file is "
            f"empty or damaged: export it again."
        )
    return _in_order(model)


def _in_order(model: ModelProto) -> ModelProto:
    """Return a model whose nodes come after those that they read; the same one if they do."""
    nodes = model.graph.node
    maker = {name: place for place, node in enumerate(nodes) for name in node.output if name}
    needs = {
        place: {maker[name] for name in (*node.input, *captured_by(node)) if name in maker}
        for place, node in enumerate(nodes)
    }
    if all(place > max(read, default=-1) for place, read in needs.items()):
        return model
    try:
        order = [*TopologicalSorter(needs).static_order()]
    except CycleError:
        return model  # whoever reads the nodes says which one comes too early
    ordered = ModelProto()
    ordered.CopyFrom(model)
    del ordered.graph.node[:]
    ordered.graph.node.extend(nodes[place] for place in order)
    return ordered


def _read(path: Path) -> ModelProto:
    try:
        with path.open("rb") as file:
            if file.read(len(_POINTER)) == _POINTER:
                raise ConfigError(
                    f"ONNX: {path} is a pointer of Git LFS, not the file itself. Run git lfs pull."
                )
        return onnx.load(str(path), load_external_data=False)
    except OSError as error:
        raise UnavailableError(
            f"ONNX: {path} cannot be read; expected a file, got: {error.strerror or error}."
        ) from error
    except DecodeError as error:
        raise ConfigError(
            f"ONNX: {path} is no ONNX file, or damaged; expected one that onnx.save wrote, got: "
            f"{error}. Copy or export it again."
        ) from error


def _load_arrays(model: ModelProto, subject: Any) -> None:
    """Read the arrays that lie in files beside the model's."""
    missing = [one for one in model.graph.initializer if is_external(one)]
    if not missing or isinstance(subject, ModelProto):
        return  # in an object they may be missing as well: who needs one says so
    folder = Path(fspath(subject)).parent
    try:
        external_data_helper.load_external_data_for_model(model, str(folder))
    except Exception as error:  # of the checker, of the file system, or of NumPy
        lost = next((one for one in missing if not _file_of(one, folder).is_file()), missing[0])
        raise UnavailableError(
            f"ONNX: the numbers of {lost.name!r} should stand in {_file_of(lost, folder)}; "
            f"expected that file as it was written beside the model, got: {error}. Copy it there; "
            f"to draw the model needs no numbers."
        ) from error


def _file_of(tensor: TensorProto, folder: Path) -> Path:
    places = [one.value for one in tensor.external_data if one.key == "location"]
    return folder / (places[0] if places else "")


def _with_shapes(model: ModelProto) -> ModelProto:
    """Return a model with the shapes that ONNX can infer; as it is where it can infer none."""
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # a node that contradicts itself, or more numbers than a message can hold
        return model


# --- inputs ---------------------------------------------------------------------------------------


def _inputs(model: ModelProto, body: Body) -> list[ValueInfoProto]:
    """Return the inputs that must be given."""
    return [one for one in model.graph.input if one.name in body.inputs]


def _fed(
    model: ModelProto, body: Body, inputs: tuple[Any, ...], named_inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arrays that a file's inputs get, by their names."""
    declared = _inputs(model, body)
    names = [one.name for one in declared]
    told = ", ".join(f"{one.name} {_type_in_words(type_of(one.type))}" for one in declared)
    if len(inputs) > len(names):
        raise ArgumentError(
            f"ONNX: expected {counted(len(names), 'input')} ({told}), got {len(inputs)}. Give one "
            f"array each."
        )
    for name in named_inputs:
        if name not in names[len(inputs) :]:
            given = "already given by its place" if name in names else "none of them"
            raise ArgumentError(
                f"ONNX: expected the inputs {told or 'none'}, got {name!r}, which is {given}. "
                f"{did_you_mean(name, names)}".rstrip()
            )
    found = {**dict(zip(names, inputs, strict=False)), **named_inputs}
    missing = [name for name in names if name not in found]
    if missing:
        raise ArgumentError(
            f"ONNX: expected values for the inputs {told}, got none for {', '.join(missing)}. "
            f"Give arrays: walk(model, {{'{missing[0]}': array}})."
        )
    sizes: dict[str, tuple[int, str]] = {}
    return {one.name: _checked(one, found[one.name], sizes) for one in declared}


def _checked(declared: ValueInfoProto, value: Any, sizes: dict[str, tuple[int, str]]) -> Any:
    """Return the array for an input, if it is of its type and shape.

    `sizes` holds what sizes with names were until now, and where.
    """
    known = type_of(declared.type)
    if declared.type.WhichOneof("value") != "tensor_type":
        return value
    wanted = np.dtype(object) if known.dtype == "string" else None
    is_array = hasattr(value, "dtype")
    array = np.asarray(value) if is_array else np.asarray(value, wanted or known.dtype or None)
    name = "string" if array.dtype.kind in "OUST" else array.dtype.name
    if known.dtype and name != known.dtype:
        raise DtypeError(
            f"ONNX: input {declared.name!r} has another type; expected {known.dtype}, got {name}. "
            f'Give array.astype("{known.dtype}").'
        )
    if known.shape is None:
        return array
    fits = len(known.shape) == array.ndim
    for wanted_size, size in zip(known.shape, array.shape, strict=False):
        if isinstance(wanted_size, str):
            before, whose = sizes.setdefault(wanted_size, (size, declared.name))
            if before != size:
                raise ShapeError(
                    f"ONNX: input {declared.name!r} has the shape {array.shape}; expected "
                    f"{wanted_size} to be {before}, as in {whose!r}, got {size}. Give batches of "
                    f"one size."
                )
        elif wanted_size is not None:
            fits = fits and wanted_size == size
    if not fits:
        raise ShapeError(
            f"ONNX: input {declared.name!r} has another shape; expected {_type_in_words(known)}, "
            f"got {array.shape}. Reshape it, or export the file for other sizes."
        )
    return array


def _type_in_words(known: ArrayType) -> str:
    """Return what is known of a value: "float32 (batch, 3)"."""
    if known.shape is None:
        return known.dtype or "of any kind"
    sizes = ", ".join("?" if size is None else str(size) for size in known.shape)
    return f"{known.dtype} ({sizes}{',' if len(known.shape) == 1 else ''})"
