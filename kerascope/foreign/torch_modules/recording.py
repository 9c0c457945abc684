"""Record the calls of a PyTorch module, with hooks and a `TorchFunctionMode`.

Hooks of modules observe the begin and end of each call, and a `TorchFunctionMode` observes the
functions between them. Nothing is exported or traced symbolically. So loops and branches that
depend on data, repeated calls of a module, and writes into views are recorded as they happen.

The inputs of a call are identified by their tokens (`tensors.py`). An input that no recorded call
computed gets a separate box: an input of the module, a parameter that is read outside its module,
or a constant. A view that was made by unrecorded code is connected to the tensor that it views.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import lru_cache, partial
from inspect import Parameter, signature
from threading import get_ident
from types import FrameType, MappingProxyType
from typing import Any
from weakref import ref

import numpy as np
import torch
from torch import Tensor, nn
from torch.compiler import is_compiling
from torch.nn.modules.lazy import LazyModuleMixin
from torch.overrides import TorchFunctionMode

from kerascope.foreign.records import Line, Setting, Value, new_value
from kerascope.foreign.torch_modules.boxes import (
    is_of_torch,
    is_one_box,
    kind_of_class,
    kind_of_function,
    name_of_function,
    replaced_weights,
    settings_of_function,
    settings_of_module,
    writes_by_name,
)
from kerascope.foreign.torch_modules.tensors import (
    TensorInfo,
    Tokens,
    is_view_of_all,
    numbers_of,
    overlap,
    tensors_in,
    version_of,
    versions_of,
)
from kerascope.foreign.writer import OpenSpan, TapeWriter
from kerascope.user_frames import USER, owner_of_file, users_frame

# Functions that describe a tensor, or return something outside the forward pass.
_NOT_RECORDED_NAMES = """
    shape size dim ndim numel nelement stride dtype device layout requires_grad requires_grad_ grad
    grad_fn is_leaf is_cuda is_contiguous is_floating_point is_complex is_sparse is_quantized
    is_meta is_nested is_inference names version base item tolist numpy len index hash
    repr str format contains register_hook retain_grad data_ptr storage_offset element_size storage
    untyped_storage has_names get_device apply_ array deepcopy reduce_ex
"""
_NOT_RECORDED = frozenset(_NOT_RECORDED_NAMES.split())
_BACKWARD = frozenset((Tensor.backward, torch.autograd.backward, torch.autograd.grad))


LARGE = 4096  # elements
DIFFERENT_IN_TRAINING = ("normalization", "noise")  # kinds of modules
_CALLING = nn.Module.__call__.__code__.co_filename  # the file in which modules are called
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class RunningCall:
    """A running call of a module, or a running step of an optimizer.

    Attributes
    ----------
    module : nn.Module or Optimizer
    name : str
        Name of the module, or "" for the recorded module itself and for a step.
    frame : FrameType
        The Python frame of the call.
    users : FrameType or None
        The innermost Python frame of the user's code around the call.
    depth : int
        The number of running calls inside a box or a backward pass when this call began.
    span : OpenSpan or None
        The span of a module that is a frame. None for a box, and for the recorded module itself.
    read : list of (Tensor, int)
        For a box: its input tensors with their versions.
    values : list of Value
        For a box: its inputs.
    line : (str, int, str) or None
        File, line and function of the user's code that made the call.
    """

    __slots__ = ("depth", "frame", "line", "module", "name", "read", "span", "users", "values")

    def __init__(
        self, module: Any, name: str, frame: FrameType, users: FrameType | None, depth: int
    ) -> None:
        self.module = module
        self.name = name
        self.frame = frame
        self.users = users
        self.depth = depth
        self.line = _line_of(users)
        self.span: OpenSpan | None = None
        self.read: list[tuple[Tensor, int]] = []
        self.values: list[Value] = []


class TorchRecorder:
    """Observes the calls of a module and records them with a writer.

    Parameters
    ----------
    module : nn.Module
    writer : TapeWriter
    has_gradients : bool
        Whether to record the gradients of the outputs of calls.
    """

    def __init__(
        self, module: nn.Module, writer: TapeWriter, *, has_gradients: bool = False
    ) -> None:
        self.module = module
        self.writer = writer
        self.has_gradients = has_gradients
        self.is_on = False
        self.loss_factor = 1.0  # the factor of a GradScaler in the loss
        self._modules = {id(one): (name, one) for name, one in module.named_modules()}
        self._paths: set[str] = set()
        self._weights: dict[int, tuple[str, bool]] = {}  # by id: name, is a parameter
        self._held: list[Tensor] = []  # kept alive, so that ids stay unique
        self._tokens = Tokens()
        self.register_names(module)
        self._settings: dict[int, dict[str, Setting]] = {}  # by the id of the module
        self._boxes: dict[int, bool] = {}  # by the id of the module: whether it is one box
        self._replaced: dict[int, list[tuple[nn.Module, str]]] = {}  # by module, see boxes.py
        self._read_numbers = writer.arrays != "none"
        self._thread = get_ident()
        self._functions: _Functions | None = None
        self._handles: list[Any] = []
        self.forget()

    def register_names(self, module: nn.Module, prefix: str = "") -> None:
        """Register the names of a module's submodules and weights."""
        self._paths.update(name for name, _ in module.named_modules(prefix=prefix))
        for name, one in module.named_parameters(prefix=prefix):
            self._weights[id(one)] = (name, True)
            self._held.append(one)
        for name, one in module.named_buffers(prefix=prefix):
            self._weights[id(one)] = (name, False)
            self._held.append(one)

    def forget(self) -> None:
        """Forget all tensors and calls, because a new pass begins."""
        self._tokens = self._tokens.renewed(self._weights)
        self._made: dict[int, tuple[ref[Tensor], str, Line | None]] = {}  # from no input
        self._called: set[int] = set()  # ids of modules
        self._uncalled_yet: dict[int, str] = {}  # weights read before their module ran
        self._stack: list[RunningCall] = []
        self._inside = 0  # nesting depth of calls inside a box or a backward pass
        self._is_quiet = False  # whether gradients are not those of the loss

    # --- observing --------------------------------------------------------------------------------

    @contextmanager
    def listening(self, *others: tuple[str, nn.Module]) -> Iterator[None]:
        """Observe the module, and `others` that it does not contain, in a `with` block.

        The hooks are removed when the block ends, also after an error.
        """
        self.is_on = True
        try:
            for name, one in (*self._modules.values(), *others):
                self.observe(name, one)
            yield
        finally:
            self.is_on = False
            self.remove_hooks()

    def remove_hooks(self) -> None:
        """Remove the hooks by which this recorder observes modules."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def observe(self, name: str, module: nn.Module) -> None:
        """Observe a module until the block of `listening` ends."""
        self._modules[id(module)] = (name, module)
        begins, ends = _Hook(self._begins), _Hook(self._ends)
        self._handles += [
            module.register_forward_pre_hook(
                begins, with_kwargs=True, prepend=isinstance(module, LazyModuleMixin)
            ),
            module.register_forward_hook(ends, with_kwargs=True, always_call=True),
        ]

    @contextmanager
    def running(self) -> Iterator[None]:
        """Observe functions in a `with` block. When it ends, close the calls that failed."""
        with _Functions(self) as self._functions:
            try:
                yield
            finally:
                while self._stack:
                    self._drop(sys.exc_info())

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Do not record the functions in a `with` block, which are not part of the model."""
        if not self._is_own_thread():
            yield
            return
        depth, inside = len(self._stack), self._inside
        self._inside += 1
        try:
            yield
        finally:
            while len(self._stack) > depth:
                self._drop(sys.exc_info())
            self._inside = inside

    # --- modules ----------------------------------------------------------------------------------

    def _begins(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        frame = sys._getframe(2)
        if not self._is_own_thread():
            return
        users = self._users_frame_around(frame)
        if self._inside:
            self._inside += 1
            return
        name, _ = self._modules[id(module)]
        self._called.add(id(module))
        call = RunningCall(module, name, frame, users, 0)
        if self._is_outside:
            self.forward_begins(call, args, keywords)
            self._record_inputs(module, args, keywords, call.line)
        is_box = self._boxes.get(id(module))
        if is_box is None:
            is_box = self._boxes[id(module)] = self._is_one_box(module)
            if is_box and (replaced := replaced_weights(module)):
                self._replaced[id(module)] = replaced
        if is_box:
            self._inside = 1
            call.read = read = versions_of(_given(args, keywords))
            call.values = [self._value(tensor, version) for tensor, version in read]
        elif name:
            op = type(module).__name__
            call.span = self.writer.begin("node", name, op=op, line=call.line)
        self._stack.append(call)
        if is_box and self._functions is not None:
            self._functions.pause()

    def _ends(
        self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any], result: Any
    ) -> None:
        if not self._is_own_thread() or not (self._stack or self._inside):
            return
        if self._inside > 1:
            self._inside -= 1
            return
        if not self._stack or self._stack[-1].module is not module:
            return  # the start of the call was not observed
        if self._inside and self._functions is not None:
            self._functions.resume()
        call = self._stack.pop()
        error = sys.exc_info() if result is None else (None, None, None)
        if call.span is not None:
            self.writer.end(call.span, error[1])
        elif self._inside:
            self._inside = 0
            if error[1] is None:
                self._record_box(call, result)
            else:
                self._record_failure(call, error)
        if self._is_outside:
            self.forward_ends(call, result)

    def _users_frame_around(self, frame: FrameType) -> FrameType | None:
        """Return the innermost frame of the user's code around a Python frame; None without one.

        Modules are nested many frames deep. So the search stops at the frame of the innermost
        module call that has not ended. If it has found no frame of the user's code, it returns the
        frame that was stored when this call began. Calls that do not contain the frame are ended
        first, because Ctrl-C skips their hooks.
        """
        while self._stack:
            top = self._stack[-1]
            users: FrameType | None = None
            outer: FrameType | None = frame
            while outer is not None and outer is not top.frame:
                file = outer.f_code.co_filename
                if users is None and file != _CALLING and owner_of_file(file) == USER:
                    users = outer
                outer = outer.f_back
            if outer is not None:
                return users or top.users
            self._drop()
        return users_frame(frame)

    def _is_own_thread(self) -> bool:
        return get_ident() == self._thread

    @property
    def _is_outside(self) -> bool:
        """Whether no call of a module is running."""
        return not self._stack or not isinstance(self._stack[-1].module, nn.Module)

    def _is_one_box(self, module: nn.Module) -> bool:
        """Return whether a module is recorded as one box. A custom root module never is one."""
        return is_one_box(module) and (module is not self.module or is_of_torch(module))

    def _drop(self, error: Any = (None, None, None)) -> None:
        if self._functions is not None:
            self._functions.resume()
        call = self._stack.pop()
        if call.span is not None:
            self.writer.end(call.span, error[1])
        elif self._inside and error[1] is not None:
            self._record_failure(call, error)
        self._inside = call.depth
        if self._is_outside:
            self.forward_ends(call, None)

    def forward_begins(self, call: RunningCall, args: Any, keywords: Any) -> None:
        """Do nothing when a top-level call begins. Subclasses begin a span for the call."""

    def forward_ends(self, call: RunningCall, result: Any) -> None:
        """Set the model's outputs when a top-level call ends; `result` is None if it failed."""
        for number, weight in list(self._uncalled_yet.items()):
            if not self._uncalled(weight):  # its module was called later
                self.writer.calls[number] = self.writer.calls[number]._replace(settings={})
                del self._uncalled_yet[number]
        if call.module is self.module:
            outputs = _distinct(tensors_in(result))
            self.writer.outputs(_known_values(map(self._tokens.known, outputs)))

    def _record_box(self, call: RunningCall, result: Any) -> None:
        module, read = call.module, call.read
        outputs = [result] if isinstance(result, Tensor) else _distinct(tensors_in(result))
        changed = [tensor for tensor, version in read if version_of(tensor) != version]
        if not changed:  # `torch.inference_mode()` does not count writes
            returned = [one for one in outputs for tensor, _ in read if one is tensor]
            changed = returned if returned and getattr(module, "inplace", False) else []
        if not outputs and not changed:
            return
        op, kind = module.__class__.__name__, kind_of_class(module.__class__)
        buffers = self._buffers_of(module) if self.writer.arrays == "all" else _NOTHING
        computed: list[Tensor] = []
        weights = self._weights_of(module, computed)
        if self._replaced:
            computed += self._replaced_of(module)
        if computed:
            call.values += [self._value(one, version_of(one), frame=call.users) for one in computed]
        self._record_call(
            call.name or op, op, kind, call.values, outputs, changed, call.line,
            self._settings_of(module, kind), weights,
            self._unchanged(read, call.values, outputs, changed), buffers,
        )  # fmt: skip

    def _settings_of(self, module: nn.Module, kind: str) -> dict[str, Setting]:
        found = self._settings.get(id(module))
        if found is None:
            found = self._settings[id(module)] = settings_of_module(module)
        if kind in DIFFERENT_IN_TRAINING and module.training:
            return {**found, "training": True}
        return found

    def _buffers_of(self, module: nn.Module) -> dict[str, Value]:
        """Return a module's floating-point buffers, such as running means."""
        buffers = module.named_buffers()
        return {name: self._weight(one) for name, one in buffers if one.is_floating_point()}

    def _record_failure(self, call: RunningCall, error: Any) -> None:
        op = type(call.module).__name__
        if isinstance(error[1], Exception) and not getattr(error[1], "__notes__", None):
            error[1].add_note(f"kerascope: this was raised in {call.name or 'the module'} ({op})")
        span = self.writer.begin("node", call.name or op, op=op, line=call.line)
        self.writer.end(span, error[1])

    def _weights_of(
        self, module: nn.Module, computed: list[Tensor], prefix: str = ""
    ) -> dict[str, Value]:
        """Return a module's weights by name; append tensors that replace weights to `computed`.

        `torch.func.functional_call` puts computed tensors in place of the parameters.
        """
        weights = {}
        for name, one in module._parameters.items():
            if one is None:
                continue
            if one.__class__ is nn.Parameter or self._is_weight(one):
                weights[prefix + name] = self._weight(one)
            else:
                computed.append(one)
        for name, child in module._modules.items():
            if child is not None:
                weights.update(self._weights_of(child, computed, f"{prefix}{name}."))
        return weights

    def _is_weight(self, tensor: Tensor) -> bool:
        return id(tensor) in self._weights or isinstance(tensor, nn.Parameter)

    def _replaced_of(self, module: nn.Module) -> list[Tensor]:
        """Return the computed tensors that a module uses as weights, as with `weight_norm`."""
        replaced = self._replaced.get(id(module), ())
        tensors = [getattr(owner, name, None) for owner, name in replaced]
        return [one for one in tensors if isinstance(one, Tensor) and self._has_box(one)]

    def _weight(self, parameter: Tensor) -> Value:
        known = self._tokens.known(parameter)
        if known is not None and known.version == version_of(parameter):
            return known.value
        return self._as_value(parameter, self._tokens.give(parameter, has_box=False))

    def _record_inputs(
        self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any], line: Line | None
    ) -> None:
        for name, value in _arguments(module, args, keywords):
            tensors = tensors_in(value)
            for number, tensor in enumerate(tensors):
                if self._tokens.known(tensor) is None and id(tensor) not in self._weights:
                    own = name if len(tensors) == 1 else f"{name}[{number}]"
                    own = f"{own}_input" if own in self._paths else own
                    self._record_call(own, "Input", "input", [], [tensor], [], line)

    # --- functions --------------------------------------------------------------------------------

    def function(
        self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Run a PyTorch function, and record the call."""
        if self._inside:
            return function(*args, **keywords)
        if function in _BACKWARD:
            return self.backward(function, args, keywords)
        name = name_of_function(function)
        if name in _NOT_RECORDED and (name != "deepcopy" or self._is_outside):
            return function(*args, **keywords)
        if function is Tensor.__iter__ and args[0].dim():  # it returns views one by one
            return iter(self.function(Tensor.unbind, (args[0], 0), {}))
        inputs = _given(args, keywords)
        is_writing = writes_by_name(function) or "out" in keywords or keywords.get("inplace")
        before = self._copies(inputs) if is_writing else {}
        read = versions_of(inputs)
        result = function(*args, **keywords)
        with torch._C.DisableTorchFunction():
            outputs = [result] if isinstance(result, Tensor) else _distinct(tensors_in(result))
            if inputs:
                changed = _changed(read, outputs, bool(is_writing), keywords)
                if is_writing and name == "data" and len(inputs) > 1:  # it only rebinds the tensor
                    (rebound, _), *read = read
                    self._tokens.drop(rebound)
                    outputs, changed = [rebound], []
                facts = (name, args, keywords, read, outputs, changed, before)
                self._record_function(*facts)
            elif outputs and not self._is_outside:
                line = _line_of(self._users_frame_around(sys._getframe(1)))
                for tensor in outputs:  # it gets a box when a call reads it
                    self._made[id(tensor)] = (ref(tensor), name, line)
        return result

    def backward(
        self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Run a backward pass. The functions inside it are not recorded.

        With `create_graph=True` the gradients are recorded as part of the forward pass.
        """
        is_part = bool(keywords.get("create_graph"))
        self._inside += 1
        self._is_quiet = is_part
        try:
            result = function(*args, **keywords)
        finally:
            self._inside -= 1
            self._is_quiet = False
        if is_part and not self._inside:
            with torch._C.DisableTorchFunction():
                read = versions_of(_distinct(tensors_in(args)))
                self._record_function("grad", (), {}, read, _distinct(tensors_in(result)), [], {})
        return result

    def _copies(self, inputs: Sequence[Tensor]) -> dict[int, Any]:
        """Return copies of inputs that have no box, because the function may overwrite them."""
        if not self._read_numbers:
            return {}
        copies = {}
        for tensor in inputs:
            known = self._tokens.known(tensor)
            if known is None or not known.has_box:
                array = numbers_of(tensor)
                copies[id(tensor)] = None if array is None else array.copy()
        return copies

    def _record_function(
        self,
        name: str,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        read: list[tuple[Tensor, int]],
        outputs: list[Tensor],
        changed: list[Tensor],
        before: Mapping[int, Any],
    ) -> None:
        ids = {id(tensor) for tensor, _ in read}
        fresh = [t for t in outputs if id(t) not in ids and self._tokens.known(t) is None]
        if not fresh and not changed:
            return  # no new tensor, such as `x.contiguous()` of a contiguous x
        if self._is_outside and not any(self._has_box(tensor) for tensor, _ in read):
            return  # user code that does not use the module's tensors
        frame = self._users_frame_around(sys._getframe(2))
        values = [self._value(tensor, version, before, frame) for tensor, version in read]
        if changed:
            values += self._bases(changed, ids)
        kind = kind_of_function(name, len(read))
        settings = settings_of_function(name, args, keywords)
        line = _line_of(frame)
        same = self._unchanged(read, values, fresh, changed)
        self._record_call(
            self._path(name), name, kind, values, fresh, changed, line, settings, same=same
        )

    def _unchanged(
        self,
        read: Sequence[tuple[Tensor, int]],
        values: Sequence[Value],
        outputs: Sequence[Tensor],
        changed: Sequence[Tensor],
    ) -> Mapping[int, Hashable]:
        """Return, for each output with the same numbers as an input, the token of that input.

        The statistics of such an output, for instance after a reshape, need not be computed again.
        """
        if changed or self.writer.arrays != "statistics":
            return _NOTHING
        pairs = zip(read, values, strict=False)
        large = [(x, value) for (x, _), value in pairs if x.numel() >= LARGE]
        if not large:
            return _NOTHING
        return {
            id(one): value.token
            for one in outputs
            for x, value in large
            if one is x or (one._base is not None and is_view_of_all(one, x))
        }

    def _has_box(self, tensor: Tensor) -> bool:
        known = self._tokens.known(tensor)
        return known is not None and known.has_box

    def _path(self, name: str) -> str:
        """Return the name of a function, preceded by the name of the module that calls it."""
        around = self._stack[-1].name if self._stack else ""
        if around:
            return f"{around}/{name}"
        return f"{type(self.module).__name__}/{name}" if name in self._paths else name

    def _bases(self, changed: Sequence[Tensor], read: set[int]) -> list[Value]:
        """Return the recorded tensors of which changed tensors are views.

        They are inputs of the changing call too, because it keeps the elements outside the views.
        """
        bases = _distinct([t._base for t in changed if t._base is not None])
        found = [(base, self._tokens.known(base)) for base in bases if id(base) not in read]
        return [
            self._as_value(base, known)
            for base, known in found
            if known is not None and known.has_box
        ]

    # --- recording --------------------------------------------------------------------------------

    def _record_call(
        self,
        name: str,
        op: str,
        kind: str,
        inputs: Sequence[Value],
        fresh: Sequence[Tensor],
        changed: Sequence[Tensor],
        line: Line | None,
        settings: Mapping[str, Setting] | None = None,
        parameters: Mapping[str, Value] | None = None,
        same: Mapping[int, Hashable] = _NOTHING,
        buffers: Mapping[str, Value] | None = None,
    ) -> None:
        """Record a call that has returned, and register hooks for the gradients of its outputs."""
        tensors = _distinct([*fresh, *changed]) if changed else fresh
        given = [(tensor, self._tokens.give(tensor)) for tensor in tensors]
        for tensor in changed:
            for other, known in list(self._tokens.views(tensor)):
                if any(other is one for one, _ in given):
                    continue
                if overlap(tensor, other):
                    given.append((other, self._tokens.give(other)))
                else:
                    known.version = version_of(other)  # all views share one version
        call_id = self.writer.call(
            name, inputs, [self._as_value(*one, same=same.get(id(one[0]))) for one in given],
            op=op, kind=kind, line=line,
            settings=settings or {}, parameters=parameters or {}, buffers=buffers or {},
        )  # fmt: skip
        if self.has_gradients:
            for number, (tensor, _) in enumerate(given):
                if tensor.requires_grad and id(tensor) not in self._weights:
                    of = call_id if len(given) == 1 else f"{call_id}[{number}]"
                    self._watch_gradient(tensor, of, line)

    def _as_value(
        self, tensor: Tensor, known: TensorInfo, array: Any = None, same: Hashable = None
    ) -> Value:
        """Return a tensor as a `Value` with a function that reads the tensor's numbers."""
        if not self._read_numbers:
            return known.value
        token, shape, dtype, _, trainable, _ = known.value
        read = partial(numbers_of, tensor) if array is None else partial(_same, array)
        return new_value((token, shape, dtype, read, trainable, same))

    def _value(
        self,
        tensor: Tensor,
        version: int,
        before: Mapping[int, Any] = _NOTHING,
        frame: FrameType | None = None,
    ) -> Value:
        """Return an input of a call as a `Value`. An input without a box gets a box first."""
        known = self._tokens.known(tensor)
        if known is not None and known.has_box:
            if known.version == version:
                return known.value
            # Unrecorded code has written to it.
            facts = (self._path("write"), "write", "function", [known.value])
            self._record_call(*facts, [], [tensor], _line_of(frame))
            return (self._tokens.known(tensor) or known).value
        return self._with_new_box(tensor, known, before.get(id(tensor)), frame)

    def _with_new_box(
        self, tensor: Tensor, known: TensorInfo | None, array: Any, frame: FrameType | None
    ) -> Value:
        """Record a box for a tensor that no recorded call returned."""
        views = [one for one in self._tokens.views(tensor) if one[1].has_box]
        sources = [known for other, known in views if overlap(tensor, other)]
        made, op, made_at = self._made.get(id(tensor), (None, "", None))
        behind = [] if sources or made is not None else self._sources(tensor, frame)
        if known is None:
            known = self._tokens.give(tensor)
        known.has_box = True
        value = self._as_value(tensor, known, array)
        weight, is_parameter = self._weights.get(id(tensor), ("", False))
        record, line = self.writer.call, _line_of(frame)
        if weight:
            op, settings = ("Parameter" if is_parameter else "Buffer"), self._uncalled(weight)
            own = {weight.rpartition(".")[2]: value} if is_parameter else {}
            record(weight, [], [value], op=op, kind="constant", line=line, settings=settings,
                 parameters=own)  # fmt: skip
            if settings:
                self._uncalled_yet[len(self.writer.calls) - 1] = weight
        elif sources:
            read = [max(sources, key=lambda one: one.token).value]
            record(self._path("view"), read, [value], op="view", kind="shaping", line=line)
        elif behind:
            name = self._path(_name_in(frame, tensor) or "unrecorded")
            record(name, behind, [value], op="unrecorded", kind="function", line=line)
        elif made is not None and made() is tensor:
            record(self._path(op), [], [value], op=op, kind="constant", line=made_at)
        elif self._is_outside:
            name = _name_in(frame, tensor) or "input"
            record(name, [], [value], op="Input", kind="input", line=line)
        else:
            name = self._path(_name_in(frame, tensor) or "constant")
            record(name, [], [value], op="constant", kind="constant", line=line)
        return value

    def _sources(self, tensor: Tensor, frame: FrameType | None) -> list[Value]:
        """Return the recorded values from which a tensor was computed, according to autograd.

        The list is empty for a weight, and for a tensor that autograd does not follow.
        """
        if tensor.grad_fn is None or id(tensor) in self._weights:
            return []
        values, leaves = self._tokens.behind(tensor)
        for leaf in leaves:
            if self._has_box(leaf) or self._is_free(leaf):
                values.append(self._value(leaf, version_of(leaf), frame=frame))
        return values

    def _is_free(self, weight: Tensor) -> bool:
        """Return whether a tensor is a weight that no recorded call has used yet."""
        name, _ = self._weights.get(id(weight), ("", False))
        return bool(name) and self._tokens.known(weight) is None

    def _uncalled(self, weight: str) -> dict[str, Setting]:
        """Return the setting "of CLASS, not called" for a weight; {} if its module was called."""
        path = weight.rpartition(".")[0]
        owner = next((one for name, one in self._modules.values() if name == path), None)
        if owner is None or id(owner) in self._called:
            return {}
        return {"": f"of {type(owner).__name__}, not called"}

    # --- gradients --------------------------------------------------------------------------------

    def _watch_gradient(self, tensor: Tensor, of: str, line: Line | None) -> None:
        handle = tensor.register_hook(partial(self._gradient, of, line))
        if tensor.is_leaf:  # a leaf may outlive the pass
            self._handles.append(handle)

    def _gradient(self, of: str, line: Line | None, gradient: Tensor) -> None:
        if self.is_on and not self._is_quiet:
            with torch._C.DisableTorchFunction():
                self.record_gradient(of, gradient, line)

    def record_gradient(self, of: str, gradient: Tensor, line: Line | None = None) -> None:
        """Record the gradient of a call's output or of a parameter."""
        array = numbers_of(gradient)
        if array is not None and self._read_numbers:
            self.writer.gradient(of, self.unscaled(array), line=line)

    def unscaled(self, array: np.ndarray) -> np.ndarray:
        """Return a gradient divided by the factor by which a GradScaler multiplied the loss."""
        if self.loss_factor == 1.0:
            return array
        return np.asarray(array / np.float32(self.loss_factor))


class _Functions(TorchFunctionMode):
    """Passes calls of PyTorch functions to a recorder, except inside a module drawn as one box."""

    def __init__(self, recorder: TorchRecorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._is_paused = False

    def pause(self) -> None:
        """Stop the slow observation of functions while a module that is drawn as one box runs."""
        if self._is_last():  # no mode of the user is above it
            self._is_paused = True
            super().__exit__(None, None, None)

    def resume(self) -> None:
        """Observe functions again after `pause`."""
        if self._is_paused:
            if not self._is_last():
                super().__enter__()
            self._is_paused = False

    def _is_last(self) -> bool:
        number = torch._C._len_torch_function_stack()
        return number > 0 and torch._C._get_function_stack_at(number - 1) is self

    def __exit__(self, *error: Any) -> None:
        self.resume()
        super().__exit__(*error)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if is_compiling():
            return func(*args, **(kwargs or {}))
        return self._recorder.function(func, args, kwargs or {})


class _Hook:
    """A hook of a module. Functions that it calls are not recorded; a copy of it does nothing."""

    def __init__(self, observe: Callable[..., None] | None) -> None:
        self._observer = observe

    def __call__(self, *args: Any) -> None:
        if self._observer is not None and not is_compiling():
            with torch._C.DisableTorchFunction():
                self._observer(*args)

    def __reduce__(self) -> Any:
        return getattr, (nullcontext(), "__exit__")


def _changed(
    read: Sequence[tuple[Tensor, int]],
    outputs: Sequence[Tensor],
    is_writing: bool,
    keywords: Mapping[str, Any],
) -> list[Tensor]:
    """Return the inputs that a function changed, as their versions or the function's name show."""
    changed = [tensor for tensor, version in read if version_of(tensor) != version]
    if changed or not is_writing:
        return changed
    out = keywords.get("out")
    target = [tensor for tensor, _ in read[:1]] if out is None else tensors_in(out)
    # Versions of tensors of `torch.inference_mode()` do not count writes.
    return [one for one in target if one.is_inference() or not outputs]


def _given(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> list[Tensor]:
    """Return the tensors in the arguments of a call, each once."""
    if not keywords and len(args) == 1 and isinstance(args[0], Tensor):
        return [args[0]]
    return _distinct(tensors_in(args) + tensors_in(keywords))


def _distinct(tensors: list[Tensor]) -> list[Tensor]:
    if len(tensors) < 2:
        return tensors
    return list({id(tensor): tensor for tensor in tensors}.values())


def _known_values(found: Iterable[TensorInfo | None]) -> list[Value]:
    """Return the recorded values of those tensors that a recorded call returned."""
    return [known.value for known in found if known is not None and known.has_box]


def _same(array: Any) -> Any:
    return array


def _line_of(frame: FrameType | None) -> Line | None:
    """Return the line that a Python frame is executing."""
    if frame is None:
        return None
    code = frame.f_code
    return (code.co_filename, frame.f_lineno, code.co_name)


def _name_in(frame: FrameType | None, tensor: Tensor) -> str:
    """Return the name of the local variable of a Python frame that holds a tensor, or ""."""
    names = {} if frame is None else frame.f_locals
    return next((name for name, value in names.items() if value is tensor), "")


def _arguments(
    module: nn.Module, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a call with the argument names of `forward`."""
    own = "forward" in vars(module)
    names = _names_of_arguments(module.forward) if own else _names_in_method(type(module).forward)
    for number, value in enumerate(args):
        yield names[number] if number < len(names) else f"input_{number + 1}", value
    yield from keywords.items()


def _names_of_arguments(function: Callable[..., Any]) -> list[str]:
    """Return the names of a function's positional arguments."""
    found = []
    for one in signature(function).parameters.values():
        if one.kind not in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
            break
        found.append(one.name)
    return found


@lru_cache(maxsize=256)
def _names_in_method(method: Callable[..., Any]) -> list[str]:
    return _names_of_arguments(method)[1:]
