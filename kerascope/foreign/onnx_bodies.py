"""Read an ONNX file: a `Body` is a graph, a `Step` a node (`bodies.py`).

A file is a graph of nodes with named inputs and outputs. A node `If`, `Loop` or `Scan` contains
graphs, which may also read values of the enclosing graph. A node may also be a call of a function
that the file defines. Each graph and each function becomes a `Body`, and each node gets a
unique name.

An array of the file is shown in one of three ways. A scalar or a short array of integers (axes,
sizes, positions) is a setting of each node that reads it. A vector, or a larger array that only one
node reads, is a parameter of that node. A larger array that several nodes read is a separate box,
and so is any array that is passed to a node with graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from math import prod

from onnx import (
    AttributeProto,
    FunctionProto,
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    TypeProto,
    ValueInfoProto,
    helper,
    numpy_helper,
    shape_inference,
)

from kerascope.errors import ConfigError
from kerascope.foreign.bodies import ArrayType, Body, Step, StepNames
from kerascope.foreign.onnx_nodes import (
    SCALING,
    Setting,
    classes_of,
    constant_of,
    dtype_of,
    in_words,
    is_small,
    kind_of,
    line_of,
    path_of,
    role_of,
    settings_of,
)

OWN_DOMAINS = ("", "ai.onnx")
CONTROL_FLOW = ("If", "Loop", "Scan")
OLDEST_SCAN = 9  # older opsets have a batch axis


def body_of(model: ModelProto, fed: Mapping[str, object]) -> Body:
    """Return the graph of an ONNX file as a `Body`: its inputs, its arrays, its nodes in order.

    Parameters
    ----------
    model : ModelProto
        The model, with inferred shapes if the graph should have them.
    fed : mapping of str to anything
        The inputs by name. An array of the file with one of these names becomes an input.

    Raises
    ------
    ConfigError
        If a node reads a value that no earlier node computes, or two nodes compute the same value.
    """
    functions = {(one.domain, one.name): one for one in model.functions}
    opsets = {one.domain: one.version for one in model.opset_import}
    return _OnnxReader(functions, fed).graph(model.graph, "", opsets, {})


# --- reading --------------------------------------------------------------------------------------

# The names that a node can read. None: the value has a box. Otherwise it is a parameter or setting.
Constants = Mapping[str, TensorProto | None]
Types = Mapping[str, TypeProto]  # the known types of the values of a graph


class _OnnxReader:
    """Makes a `Body` from each graph and function of a file, with unique names of steps.

    An array of the file is an input if its name is in `fed`.
    """

    def __init__(
        self, functions: Mapping[tuple[str, str], FunctionProto], fed: Mapping[str, object]
    ) -> None:
        self.functions = functions
        self.fed = fed
        self.names = StepNames(first=2)
        self.matrices: set[str] = set()  # values of boxes that do not depend on the inputs
        self.around: tuple[tuple[str, str], ...] = ()  # the enclosing functions

    def graph(
        self, graph: GraphProto, name: str, opsets: Mapping[str, int], outer: Constants
    ) -> Body:
        """Return a graph as a `Body`. `outer` contains the names that enclosing graphs define."""
        given = [*graph.initializer, *(one.values for one in graph.sparse_initializer)]
        constants = {one.name: one for one in given if one.name not in self.fed}
        inputs = tuple(one.name for one in graph.input if one.name not in constants)
        outputs = tuple(one.name for one in graph.output)
        types = types_in(graph)
        parts = (list(graph.node), name, inputs, outputs, constants, types)
        return self._body(*parts, opsets=opsets, outer=outer)

    def function(self, function: FunctionProto, call: NodeProto, name: str, types: Types) -> Body:
        """Return a function's graph as a `Body`, with the attributes and types of one call."""
        given = {one.name: one for one in (*function.attribute_proto, *call.attribute)}
        nodes = [_with_attributes(node, given) for node in function.node]
        opsets = {one.domain: one.version for one in function.opset_import}
        pairs = zip(function.input, call.input, strict=False)
        known = {inner: types[outer] for inner, outer in pairs if outer in types}
        found = _inferred(nodes, function, known, self.functions.values())
        inputs, outputs = tuple(function.input), tuple(function.output)
        return self._body(nodes, name, inputs, outputs, {}, found, opsets=opsets, outer={})

    def _body(
        self,
        nodes: list[NodeProto],
        name: str,
        inputs: tuple[str, ...],
        outputs: tuple[str, ...],
        constants: dict[str, TensorProto],
        types: dict[str, TypeProto],
        *,
        opsets: Mapping[str, int],
        outer: Constants,
    ) -> Body:
        left = _without_constants(nodes, constants)
        uses = _uses(left, constants)
        uses.update(dict.fromkeys(outputs, 2))  # an output needs a box
        inside: dict[str, TensorProto | None] = {**outer, **dict.fromkeys(inputs)}
        for key, tensor in constants.items():
            is_own = uses[key] == 1 or len(tensor.dims) < 2
            inside[key] = tensor if is_own else None
            if not is_own:
                self.matrices.add(key)
        types.update((key, _type_of(tensor)) for key, tensor in constants.items())
        steps = []
        for place, node in left:
            step = self._step(node, self._name(node, name, place), opsets, inside, types)
            _enter_outputs(step, inside)
            steps.append(step)
        for output in outputs:
            if output not in inside:
                raise ConfigError(
                    f"ONNX: {_graph_title(name)} has the output {output!r}, which no node "
                    f"computes. The file is damaged: export it again."
                )
        shown = {id(constants[one]): one for one in _shown(steps, outputs) if one in constants}
        known = {key: type_of(one) for key, one in types.items()}
        boxes = tuple(shown.values())
        framed, classes = _with_scopes(steps, name)
        return Body(name, inputs, outputs, constants, framed, opsets, known, boxes, classes)

    def _step(
        self, node: NodeProto, name: str, opsets: Mapping[str, int], inside: Constants, types: Types
    ) -> Step:
        domain = "" if node.domain in OWN_DOMAINS else node.domain
        for one in node.input:
            if one and one not in inside:
                raise ConfigError(
                    f"ONNX: node {name!r} ({node.op_type}) reads {one!r}, which is not an input, "
                    f"an array of the file or the output of an earlier node. The file is damaged, "
                    f"or its nodes are not in order: export it again."
                )
        opset = opsets.get(domain, opsets.get("ai.onnx" if domain == "" else domain, 1))
        holds = domain == "" and node.op_type in CONTROL_FLOW
        holds = holds and (node.op_type != "Scan" or opset >= OLDEST_SCAN)
        called = (node.domain, node.op_type) in self.functions
        inputs: tuple[str, ...] = tuple(node.input)
        if holds or called:
            settings = settings_of(node, opset)
            parameters: dict[str, str] = {}
            arguments = tuple(filter(None, inputs))
        else:
            settings, parameters, arguments = _inputs_by_use(node, opset, inside)
            captured = [one for one in captured_by(node) if one in inside]
            arguments = tuple(dict.fromkeys((*arguments, *captured)))
            inputs = tuple(dict.fromkeys((*filter(None, inputs), *captured)))
        weights = [*parameters.values(), *(one for one in arguments if one in self.matrices)]
        kind = kind_of(node, weights, [one for one in arguments if one not in weights])
        if kind == "constant":
            self.matrices.update(node.output)
        bodies = {}
        if holds:
            for key, graph in _graphs(node).items():
                inner = f"{name}.{key.removesuffix('_branch')}"
                bodies[key] = self.graph(graph, inner, opsets, inside)
        elif called:
            body = bodies[""] = self._called(node, name, types)
            number = len(body.inputs)
            inputs = (*inputs, *[""] * number)[:number]
        return Step(
            node, name, node.op_type, inputs, tuple(node.output), bodies, (), line_of(node),
            "function" if bodies else kind, settings, parameters, arguments,
        )  # fmt: skip

    def _called(self, node: NodeProto, name: str, types: Types) -> Body:
        key = (node.domain, node.op_type)
        if key in self.around:
            raise ConfigError(
                f"ONNX: node {name!r} calls the function {node.op_type!r} inside that function, "
                f"which would not end. The file is damaged: export it again."
            )
        before, self.around = self.around, (*self.around, key)
        body = self.function(self.functions[key], node, name, types)
        self.around = before
        return body

    def _name(self, node: NodeProto, around: str, place: int) -> str:
        """Return a unique name: the node's own, or its op and its position among the nodes."""
        wanted = path_of(node) or f"{node.op_type}_{place}"
        return self.names.free(f"{around}.{wanted}" if around else wanted)


def _graph_title(name: str) -> str:
    return f"the graph {name!r}" if name else "the graph"


def _without_constants(
    nodes: list[NodeProto], constants: dict[str, TensorProto]
) -> list[tuple[int, NodeProto]]:
    """Add the tensors of constant nodes to `constants`, by the name of the node's output.

    An Identity of a constant is a constant node, too. Return (position, node) for all other nodes.
    """
    left = []
    for place, node in enumerate(nodes):
        tensor = constant_of(node)
        if node.op_type == "Identity" and len(node.input) == 1:
            tensor = constants.get(node.input[0])
        if tensor is None:
            left.append((place, node))
        else:
            constants[node.output[0]] = tensor
    return left


def _uses(nodes: list[tuple[int, NodeProto]], constants: Mapping[str, TensorProto]) -> Counter[str]:
    """Return how often each constant is read under any of its names.

    An input of a node with graphs counts twice, so a constant that such a node reads is never a
    parameter of a single inner node.
    """
    readers: Counter[int] = Counter()
    for _, node in nodes:
        for one in (*node.input, *_captured(node), *(node.input if _graphs(node) else ())):
            if one in constants:
                readers[id(constants[one])] += 1
    return Counter({key: readers[id(one)] for key, one in constants.items()})


def _shown(steps: Iterable[Step], outputs: Iterable[str]) -> Iterator[str]:
    """Yield the names of the values for which the picture has arrows, in the order of the file."""
    for step in steps:
        yield from step.arguments
        for attribute, body in step.bodies.items():
            if attribute:  # a function cannot read values of the graph around it
                yield from _shown(body.steps, body.outputs)
    yield from outputs


def _inputs_by_use(
    node: NodeProto, opset: int, inside: Constants
) -> tuple[dict[str, Setting], dict[str, str], tuple[str, ...]]:
    """Split a node's inputs into settings, parameters and other arguments.

    Use it only for nodes that contain no graph.
    """
    settings, parameters = settings_of(node, opset), {}
    arguments = []
    for place, one in enumerate(node.input):
        tensor = inside.get(one)
        if not one:
            continue
        if tensor is None:
            arguments.append(one)
            continue
        role = role_of(node, place, opset, one)
        if is_small(tensor) or (node.op_type in SCALING and prod(tensor.dims) == 1):
            settings[role] = in_words(numpy_helper.to_array(tensor))
        else:
            parameters[role if role not in parameters else f"{role} {place}"] = one
    return settings, parameters, tuple(arguments)


def _enter_outputs(step: Step, inside: dict[str, TensorProto | None]) -> None:
    for output in filter(None, step.outputs):
        if output in inside:
            raise ConfigError(
                f"ONNX: node {step.name!r} computes {output!r}, but this name is already used. "
                f"The file is damaged: export it again."
            )
        inside[output] = None


# --- modules --------------------------------------------------------------------------------------


def _with_scopes(steps: list[Step], around: str) -> tuple[tuple[Step, ...], dict[str, str]]:
    """Return the steps, with the modules to draw as frames around each, and the modules' classes.

    A step represents one node of the file. The path in the name of a node gives its modules. A
    module gets no frame if it has only one node, or if it contains all nodes of the enclosing
    frame. A module also gets no frame if its nodes are not consecutive, because several modules may
    have this name.
    """
    start = f"{around}." if around else ""
    scopes: list[list[str]] = []
    classes: dict[str, str] = {}
    for step in steps:
        words = path_of(step.source).split("/")[:-1]
        scopes.append([start + "/".join(words[: end + 1]) for end in range(len(words))])
        names = classes_of(step.source)[-len(words) :] if words else []
        if len(names) == len(words):
            classes.update(zip(scopes[-1], names, strict=True))
    sizes = Counter(scope for each in scopes for scope in each)
    runs = Counter[str]()
    for before, each in pairwise([[], *scopes]):
        runs.update(scope for scope in each if scope not in before)
    framed = []
    for step, each in zip(steps, scopes, strict=True):
        kept, size = [], len(steps)
        for scope in each:
            if 1 < sizes[scope] < size and runs[scope] == 1:
                kept.append(scope)
                size = sizes[scope]
        framed.append(step._replace(scopes=tuple(kept)) if kept else step)
    return tuple(framed), classes


# --- graphs inside nodes --------------------------------------------------------------------------


def _graphs(node: NodeProto) -> dict[str, GraphProto]:
    return {one.name: one.g for one in node.attribute if one.type == AttributeProto.GRAPH}


def _captured(node: NodeProto) -> Iterator[str]:
    """Yield the names of values that the graphs in a node read from enclosing graphs."""
    for graph in _graphs(node).values():
        made = {one.name for one in (*graph.input, *graph.initializer)}
        for inner in graph.node:
            for one in (*inner.input, *_captured(inner)):
                if one and one not in made:
                    yield one
            made.update(inner.output)
        yield from (one.name for one in graph.output if one.name not in made)


def captured_by(node: NodeProto) -> tuple[str, ...]:
    """Return the distinct names of values that the graphs in a node read from outside."""
    return tuple(dict.fromkeys(_captured(node)))


def _with_attributes(node: NodeProto, given: Mapping[str, AttributeProto]) -> NodeProto:
    """Return a copy of a node with the attribute values that a call passes to its function."""
    changed = NodeProto()
    changed.CopyFrom(node)
    del changed.attribute[:]
    for attribute in node.attribute:
        name = attribute.ref_attr_name
        if name and name not in given:
            continue  # an optional attribute that the call omits
        kept = changed.attribute.add()
        kept.CopyFrom(given[name] if name else attribute)
        kept.name = attribute.name
        if kept.type == AttributeProto.GRAPH:
            inner = [_with_attributes(one, given) for one in kept.g.node]
            del kept.g.node[:]
            kept.g.node.extend(inner)
    return changed


# --- shapes and types -----------------------------------------------------------------------------


def type_of(declared: TypeProto) -> ArrayType:
    """Return the type of a value as a file declares it.

    Examples
    --------
    >>> import onnx
    >>> x = onnx.helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 3])
    >>> type_of(x.type), type_of(x.type).sizes
    (ArrayType(shape=('batch', 3), dtype='float32'), (None, 3))
    """
    kind = declared.WhichOneof("value")
    if kind != "tensor_type":
        return ArrayType(None, (kind or "").removesuffix("_type"))
    tensor = declared.tensor_type
    dtype = dtype_of(tensor.elem_type)
    if not tensor.HasField("shape"):
        return ArrayType(None, dtype)
    sizes = (
        one.dim_value if one.HasField("dim_value") else one.dim_param or None
        for one in tensor.shape.dim
    )
    return ArrayType(tuple(sizes), dtype)


def types_in(graph: GraphProto) -> dict[str, TypeProto]:
    """Return the types that a file declares for values of a graph. Some may be missing."""
    return {one.name: one.type for one in (*graph.input, *graph.output, *graph.value_info)}


def _type_of(tensor: TensorProto) -> TypeProto:
    return helper.make_tensor_type_proto(tensor.data_type, tensor.dims)


def _inferred(
    nodes: list[NodeProto],
    function: FunctionProto,
    known: Types,
    functions: Iterable[FunctionProto],
) -> dict[str, TypeProto]:
    """Return the types that ONNX infers in a function, or the given types if inference fails."""
    inputs = [helper.make_value_info(name, one) for name, one in known.items()]
    outputs = [ValueInfoProto(name=name) for name in function.output]
    graph = helper.make_graph(nodes, function.name, inputs, outputs)
    model = helper.make_model(graph, opset_imports=function.opset_import, functions=functions)
    try:
        return types_in(shape_inference.infer_shapes(model, data_prop=True).graph)
    except Exception:  # the run reports what is wrong with the types
        return dict(known)
