"""Draws ONNX files, or runs them node by node with onnxruntime or ONNX's reference evaluator.

`kerascope draw model.onnx` reads no numbers, so it also draws a file whose external arrays are
missing. A run is recorded node by node with each value, including the nodes inside `If`, `Loop` and
`Scan`: the branch of an `If` that is taken, and each iteration of a loop.

`onnx_bodies.py` reads the nodes of a file, and `onnx_walk.py` walks through them.
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

from kerascope.errors import ArgumentError, ConfigError, DtypeError, ShapeError, UnavailableError
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
        With inputs, the graph shows a run: the branches that were taken and each iteration of a
        loop. Without inputs, it shows the file.

    Returns
    -------
    Graph
        An array of the file is a setting if it is small, a parameter of the only node that reads
        it, or a separate box if several nodes read it.

    Raises
    ------
    UnavailableError, ConfigError
        If the file is missing or damaged.

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
    return _without_ranks(writer, _name(subject), read(subject, writer))


def read(subject: ModelProto | str | PathLike[str], writer: TapeWriter) -> Container[Any]:
    """Record the calls of a file without running it; return the tokens of values of unknown rank.

    Raises
    ------
    UnavailableError, ConfigError
        If the file is missing or damaged.
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
    """Return the inputs that a file requires.

    Raises
    ------
    UnavailableError, ConfigError
        If the file is missing or damaged.

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
    """Return a graph whose boxes show "?" for the shape of each value with a token in `unknown`."""
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
        attrs = {**box.attrs, "input_shapes": given, "output_shapes": made}
        nodes.append(replace(box, attrs=attrs))
    return replace(graph, nodes=tuple(nodes))


def record(
    subject: ModelProto | str | PathLike[str],
    *inputs: Any,
    writer: TapeWriter,
    loss: Any = None,
    **named_inputs: Any,
) -> list[Any]:
    """Run an ONNX file node by node and record its calls.

    Parameters
    ----------
    subject : ModelProto or path
    *inputs, **named_inputs : array
        The inputs in the order of the file, or by name.
    writer : TapeWriter
    loss : None
        Must be None, because an ONNX file has no gradients.

    Returns
    -------
    list
        The outputs, as `onnx.reference.ReferenceEvaluator.run(None, ...)` returns them.

    Raises
    ------
    ArgumentError, ShapeError, DtypeError
        If the inputs do not match the inputs that the file declares.
    UnavailableError, ConfigError
        If the file or its external arrays are missing or damaged.
    DataError
        If a node failed, or the evaluator does not support its operator.

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
            "ONNX: expected loss=None, got a loss. A file has no gradients. Record the model that "
            "the file was exported from."
        )
    model = _model_of(subject)
    _load_arrays(model, subject)
    body = body_of(model, named_inputs)
    arrays = _fed(model, body, inputs, named_inputs)
    writer.library = writer.library or _VERSION
    walk = OnnxWalk(writer, OnnxEvaluator(model, Runtime(model, arrays)))
    with writer.span("function", _name(subject)) as at_end, writer.span("forward", "forward"):
        given = []
        for declared in _inputs(model, body):
            given.append(walk.given(arrays[declared.name]))
            _write_input(writer, declared, given[-1])
        outputs = [one.array for one in walk.walk(body, given)]
        at_end["outputs"] = tuple(outputs)
    return outputs


def _write_input(writer: TapeWriter, declared: ValueInfoProto, known: WalkedValue) -> None:
    """Record an input of the model. Sizes that vary are shown by their names."""
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
    """Return a file's model without the arrays in external files."""
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
            f"ONNX: {where} has no nodes and no outputs. The file is empty or damaged: export it "
            f"again."
        )
    return _in_order(model)


def _in_order(model: ModelProto) -> ModelProto:
    """Return a model whose nodes are sorted: each node comes after the nodes that it reads."""
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
        return model  # `body_of` reports the node that comes too early
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
            f"ONNX: {path} cannot be read: {error.strerror or error}. Check the path."
        ) from error
    except DecodeError as error:
        raise ConfigError(
            f"ONNX: {path} is not an ONNX file, or is damaged ({error}). Copy or export it again."
        ) from error


def _load_arrays(model: ModelProto, subject: Any) -> None:
    """Read the arrays that are stored in external files in the model's folder."""
    missing = [one for one in model.graph.initializer if is_external(one)]
    if not missing or isinstance(subject, ModelProto):
        return  # an object may lack them too; the node that needs one reports it
    folder = Path(fspath(subject)).parent
    try:
        external_data_helper.load_external_data_for_model(model, str(folder))
    except Exception as error:  # of the checker, of the file system, or of NumPy
        lost = next((one for one in missing if not _file_of(one, folder).is_file()), missing[0])
        raise UnavailableError(
            f"ONNX: the numbers of {lost.name!r} cannot be read from {_file_of(lost, folder)}. "
            f"Copy that file to this place. Only draw works without numbers. ONNX reports: {error}"
        ) from error


def _file_of(tensor: TensorProto, folder: Path) -> Path:
    places = [one.value for one in tensor.external_data if one.key == "location"]
    return folder / (places[0] if places else "")


def _with_shapes(model: ModelProto) -> ModelProto:
    """Return a model with the shapes that ONNX can infer, or unchanged if inference fails."""
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except Exception:  # a node that contradicts itself, or more numbers than a message can hold
        return model


# --- inputs ---------------------------------------------------------------------------------------


def _inputs(model: ModelProto, body: Body) -> list[ValueInfoProto]:
    """Return the inputs that a caller must pass."""
    return [one for one in model.graph.input if one.name in body.inputs]


def _fed(
    model: ModelProto, body: Body, inputs: tuple[Any, ...], named_inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the arrays that a caller passed, by the names of the file's inputs."""
    declared = _inputs(model, body)
    names = [one.name for one in declared]
    wanted = ", ".join(f"{one.name} {_type_in_words(type_of(one.type))}" for one in declared)
    if len(inputs) > len(names):
        raise ArgumentError(
            f"ONNX: expected {counted(len(names), 'input')} ({wanted}), got {len(inputs)}. Give "
            f"one array each."
        )
    for name in named_inputs:
        if name not in names[len(inputs) :]:
            why = "already given by position" if name in names else "not an input of the model"
            hint = "" if name in names else did_you_mean(name, names)
            raise ArgumentError(
                f"ONNX: expected {wanted or 'none'}, got {name!r}, which is {why}. {hint}".rstrip()
            )
    found = {**dict(zip(names, inputs, strict=False)), **named_inputs}
    missing = [name for name in names if name not in found]
    if missing:
        raise ArgumentError(
            f"ONNX: expected values for all inputs, got none for {missing[0]!r}. Give arrays: "
            f"walk(model, {{'{missing[0]}': array}}). The inputs are: {wanted}."
        )
    sizes: dict[str, tuple[int, str]] = {}
    return {one.name: _checked(one, found[one.name], sizes) for one in declared}


def _checked(declared: ValueInfoProto, value: Any, sizes: dict[str, tuple[int, str]]) -> Any:
    """Return the array for an input after checking the array's type and shape.

    `sizes` maps the name of each known size to the size and the input that has this size.
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
            f"ONNX: input {declared.name!r}: expected the type {known.dtype}, got {name}. "
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
                    f"ONNX: input {declared.name!r}: expected {wanted_size} to be {before} as in "
                    f"{whose!r}, got {size} (shape {array.shape}). Give batches of one size."
                )
        elif wanted_size is not None:
            fits = fits and wanted_size == size
    if not fits:
        raise ShapeError(
            f"ONNX: input {declared.name!r}: expected {_type_in_words(known)}, got the shape "
            f"{array.shape}. Reshape it, or export the file for other sizes."
        )
    return array


def _type_in_words(known: ArrayType) -> str:
    """Return the type of a value as text, such as "float32 (batch, 3)"."""
    if known.shape is None:
        return known.dtype or "of any kind"
    sizes = ", ".join("?" if size is None else str(size) for size in known.shape)
    return f"{known.dtype} ({sizes}{',' if len(known.shape) == 1 else ''})"
