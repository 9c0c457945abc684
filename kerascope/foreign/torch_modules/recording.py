"""Hears what runs of a module, by hooks and by one mode, and tells it to a `TapeWriter`.

Hooks of modules say where a call begins and ends; a `TorchFunctionMode` says which functions run
between them. So nothing is exported or traced symbolically: loops and branches that depend on data,
modules that are called twice, writes into views are recorded as they happen.

A call's inputs are known by their tokens (`tensors.py`). What nobody has given is a box of its own:
an input, a parameter that is read without its module, a constant; and a view that was made where
nobody listens, which stands behind what it views.
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

from kerascope.callers import USER, owner_of_file, users_frame
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
    Known,
    Tokens,
    is_view_of_all,
    numbers_of,
    overlap,
    tensors_in,
    version_of,
    versions_of,
)
from kerascope.foreign.writer import OpenSpan, TapeWriter

# They say something of a tensor, or hand out what is no part of the forward pass.
_SAYING = """
    shape size dim ndim numel nelement stride dtype device layout requires_grad requires_grad_ grad
    grad_fn is_leaf is_cuda is_contiguous is_floating_point is_complex is_sparse is_quantized
    is_meta is_nested is_inference names version base item tolist numpy len index hash
    repr str format contains register_hook retain_grad data_ptr storage_offset element_size storage
    untyped_storage has_names get_device apply_ array deepcopy reduce_ex
"""
_UNHEARD = frozenset(_SAYING.split())
_BACKWARD = frozenset((Tensor.backward, torch.autograd.backward, torch.autograd.grad))


LARGE = 4096  # elements
DIFFERENT_IN_TRAINING = ("normalization", "noise")  # kinds of modules
_CALLING = nn.Module.__call__.__code__.co_filename  # where modules call each other
_NOTHING: Mapping[Any, Any] = MappingProxyType({})


class Heard:
    """A call of a module that has begun, or a step of an optimizer.

    Attributes
    ----------
    module : nn.Module or Optimizer
    name : str
        Of the module; "" for the whole, and for a step.
    frame : FrameType
        Of Python, in which it runs.
    users : FrameType or None
        The innermost of the user's own around that.
    depth : int
        How many calls deep inside of a box it began.
    span : OpenSpan or None
        The frame around what it does; None if it is one box, or the whole.
    read : list of (Tensor, int)
        Of one box: what it reads, and the version of it.
    values : list of Value
    line : (str, int, str) or None
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


class Recorder:
    """Hears what runs of a module and tells it to a writer.

    Parameters
    ----------
    module : nn.Module
    writer : TapeWriter
    has_gradients : bool
        Whether to tell the gradients of what calls give, when they come.
    """

    def __init__(
        self, module: nn.Module, writer: TapeWriter, *, has_gradients: bool = False
    ) -> None:
        self.module = module
        self.writer = writer
        self.has_gradients = has_gradients
        self.is_on = False
        self.loss_factor = 1.0  # by which a GradScaler has multiplied the loss
        self._modules = {id(one): (name, one) for name, one in module.named_modules()}
        self._paths: set[str] = set()
        self._weights: dict[int, tuple[str, bool]] = {}  # by id: name, whether a parameter
        self._held: list[Tensor] = []  # an id may be given again
        self._tokens = Tokens()
        self.know(module)
        self._settings: dict[int, dict[str, Setting]] = {}  # by the module's id
        self._boxes: dict[int, bool] = {}  # the same: whether it is one box
        self._replaced: dict[int, list[tuple[nn.Module, str]]] = {}  # the same: see boxes.py
        self._read_numbers = writer.arrays != "none"
        self._thread = get_ident()
        self._functions: _Functions | None = None
        self._handles: list[Any] = []
        self.forget()

    def know(self, module: nn.Module, prefix: str = "") -> None:
        """Take note of the names of a module's parts and weights."""
        self._paths.update(name for name, _ in module.named_modules(prefix=prefix))
        for name, one in module.named_parameters(prefix=prefix):
            self._weights[id(one)] = (name, True)
            self._held.append(one)
        for name, one in module.named_buffers(prefix=prefix):
            self._weights[id(one)] = (name, False)
            self._held.append(one)

    def forget(self) -> None:
        """Forget all tensors and calls: another pass begins."""
        self._tokens = self._tokens.renewed(self._weights)
        self._made: dict[int, tuple[ref[Tensor], str, Line | None]] = {}  # of nothing: `zeros`
        self._called: set[int] = set()  # ids of modules
        self._uncalled_yet: dict[int, str] = {}  # which call reads which weight
        self._stack: list[Heard] = []
        self._inside = 0  # of a box, or of a backward pass: how many calls deep
        self._is_quiet = False  # gradients that come are not those of the loss

    # --- listening --------------------------------------------------------------------------------

    @contextmanager
    def listening(self, *others: tuple[str, nn.Module]) -> Iterator[None]:
        """Hear modules in a `with` block; `others` are not among the module's own.

        The hooks are gone afterwards, whatever happens.
        """
        self.is_on = True
        try:
            for name, one in (*self._modules.values(), *others):
                self.hear(name, one)
            yield
        finally:
            self.is_on = False
            self.let_go()

    def let_go(self) -> None:
        """Hear none of the modules any more."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def hear(self, name: str, module: nn.Module) -> None:
        """Hear a module from now on, until `listening` is over."""
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
        """Hear functions in a `with` block; calls that an error has left are closed at its end."""
        with _Functions(self) as self._functions:
            try:
                yield
            finally:
                while self._stack:
                    self._drop(sys.exc_info())

    @contextmanager
    def unrecorded(self) -> Iterator[None]:
        """Record no functions in a `with` block: they are not part of the model."""
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
        users = self._came_from(frame)
        if self._inside:
            self._inside += 1
            return
        name, _ = self._modules[id(module)]
        self._called.add(id(module))
        heard = Heard(module, name, frame, users, 0)
        if self._is_outside:
            self.forward_begins(heard, args, keywords)
            self._tell_inputs(module, args, keywords, heard.line)
        is_box = self._boxes.get(id(module))
        if is_box is None:
            is_box = self._boxes[id(module)] = self._is_one_box(module)
            if is_box and (replaced := replaced_weights(module)):
                self._replaced[id(module)] = replaced
        if is_box:
            self._inside = 1
            heard.read = read = versions_of(_given(args, keywords))
            heard.values = [self._value(tensor, version) for tensor, version in read]
        elif name:
            op = type(module).__name__
            heard.span = self.writer.begin("node", name, op=op, line=heard.line)
        self._stack.append(heard)
        if is_box and self._functions is not None:
            self._functions.rest()

    def _ends(
        self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any], result: Any
    ) -> None:
        if not self._is_own_thread() or not (self._stack or self._inside):
            return
        if self._inside > 1:
            self._inside -= 1
            return
        if not self._stack or self._stack[-1].module is not module:
            return  # its begin was not heard
        if self._inside and self._functions is not None:
            self._functions.go_on()
        heard = self._stack.pop()
        error = sys.exc_info() if result is None else (None, None, None)
        if heard.span is not None:
            self.writer.end(heard.span, error[1])
        elif self._inside:
            self._inside = 0
            if error[1] is None:
                self._tell_box(heard, result)
            else:
                self._tell_failure(heard, error)
        if self._is_outside:
            self.forward_ends(heard, result)

    def _came_from(self, frame: FrameType) -> FrameType | None:
        """Return the user's innermost frame around one: that of the module, if none is further in.

        Modules lie many frames deep, so it is not looked for from the beginning each time. Calls
        that do not lie around are closed: after Ctrl-C no hook is called.
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
        """Whether no module runs."""
        return not self._stack or not isinstance(self._stack[-1].module, nn.Module)

    def _is_one_box(self, module: nn.Module) -> bool:
        """Return whether to tell a module as one box; of the whole that would say nothing."""
        return is_one_box(module) and (module is not self.module or is_of_torch(module))

    def _drop(self, error: Any = (None, None, None)) -> None:
        if self._functions is not None:
            self._functions.go_on()
        heard = self._stack.pop()
        if heard.span is not None:
            self.writer.end(heard.span, error[1])
        elif self._inside and error[1] is not None:
            self._tell_failure(heard, error)
        self._inside = heard.depth
        if self._is_outside:
            self.forward_ends(heard, None)

    def forward_begins(self, heard: Heard, args: Any, keywords: Any) -> None:
        """Hear that a module is called from outside."""

    def forward_ends(self, heard: Heard, result: Any) -> None:
        """Hear that such a call is over; it gave nothing if it failed."""
        for number, weight in list(self._uncalled_yet.items()):
            if not self._uncalled(weight):  # its module was called later
                self.writer.calls[number] = self.writer.calls[number]._replace(settings={})
                del self._uncalled_yet[number]
        if heard.module is self.module:
            outputs = _distinct(tensors_in(result))
            self.writer.outputs(_known_values(map(self._tokens.known, outputs)))

    def _tell_box(self, heard: Heard, result: Any) -> None:
        module, read = heard.module, heard.read
        outputs = [result] if isinstance(result, Tensor) else _distinct(tensors_in(result))
        changed = [tensor for tensor, version in read if version_of(tensor) != version]
        if not changed:  # `torch.inference_mode()` counts no writes
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
            heard.values += [
                self._value(one, version_of(one), frame=heard.users) for one in computed
            ]
        self._tell(
            heard.name or op, op, kind, heard.values, outputs, changed, heard.line,
            self._settings_of(module, kind), weights,
            self._unchanged(read, heard.values, outputs, changed), buffers,
        )  # fmt: skip

    def _settings_of(self, module: nn.Module, kind: str) -> dict[str, Setting]:
        found = self._settings.get(id(module))
        if found is None:
            found = self._settings[id(module)] = settings_of_module(module)
        if kind in DIFFERENT_IN_TRAINING and module.training:
            return {**found, "training": True}
        return found

    def _buffers_of(self, module: nn.Module) -> dict[str, Value]:
        """Return what a module keeps besides its weights: running means, not counts."""
        buffers = module.named_buffers()
        return {name: self._weight(one) for name, one in buffers if one.is_floating_point()}

    def _tell_failure(self, heard: Heard, error: Any) -> None:
        op = type(heard.module).__name__
        if isinstance(error[1], Exception) and not getattr(error[1], "__notes__", None):
            error[1].add_note(f"kerascope: this was raised in {heard.name or 'the module'} ({op})")
        span = self.writer.begin("node", heard.name or op, op=op, line=heard.line)
        self.writer.end(span, error[1])

    def _weights_of(
        self, module: nn.Module, computed: list[Tensor], prefix: str = ""
    ) -> dict[str, Value]:
        """Return a module's weights by name; add tensors that stand in their place to `computed`.

        `torch.func.functional_call` puts computed tensors where the parameters are.
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
        """Return the tensors that were computed in place of a module's weights."""
        replaced = self._replaced.get(id(module), ())
        tensors = [getattr(owner, name, None) for owner, name in replaced]
        return [one for one in tensors if isinstance(one, Tensor) and self._has_box(one)]

    def _weight(self, parameter: Tensor) -> Value:
        known = self._tokens.known(parameter)
        if known is not None and known.version == version_of(parameter):
            return known.value
        return self._as_value(parameter, self._tokens.give(parameter, has_box=False))

    def _tell_inputs(
        self,
        module: nn.Module,
        args: tuple[Any, ...],
        keywords: dict[str, Any],
        line: Line | None,
    ) -> None:
        for name, value in _arguments(module, args, keywords):
            tensors = tensors_in(value)
            for number, tensor in enumerate(tensors):
                if self._tokens.known(tensor) is None and id(tensor) not in self._weights:
                    own = name if len(tensors) == 1 else f"{name}[{number}]"
                    own = f"{own}_input" if own in self._paths else own
                    self._tell(own, "Input", "input", [], [tensor], [], line)

    # --- functions --------------------------------------------------------------------------------

    def function(
        self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Run a function of PyTorch, and tell of it."""
        if self._inside:
            return function(*args, **keywords)
        if function in _BACKWARD:
            return self.backward(function, args, keywords)
        name = name_of_function(function)
        if name in _UNHEARD and (name != "deepcopy" or self._is_outside):
            return function(*args, **keywords)
        if function is Tensor.__iter__ and args[0].dim():  # it gives views one by one
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
                if is_writing and name == "data" and len(inputs) > 1:  # it writes into none
                    (rebound, _), *read = read
                    self._tokens.drop(rebound)
                    outputs, changed = [rebound], []
                told = (name, args, keywords, read, outputs, changed, before)
                self._tell_function(*told)
            elif outputs and not self._is_outside:
                line = _line_of(self._came_from(sys._getframe(1)))
                for tensor in outputs:  # it has a box when somebody reads it
                    self._made[id(tensor)] = (ref(tensor), name, line)
        return result

    def backward(
        self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Run a backward pass: what it computes again was told before.

        Gradients that are to have gradients themselves are part of the forward pass.
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
                self._tell_function("grad", (), {}, read, _distinct(tensors_in(result)), [], {})
        return result

    def _copies(self, inputs: Sequence[Tensor]) -> dict[int, Any]:
        """Return what those inputs hold that nobody has met: something may be written into them."""
        if not self._read_numbers:
            return {}
        copies = {}
        for tensor in inputs:
            known = self._tokens.known(tensor)
            if known is None or not known.has_box:
                array = numbers_of(tensor)
                copies[id(tensor)] = None if array is None else array.copy()
        return copies

    def _tell_function(
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
            return  # nothing was made: `x.contiguous()` of what is
        if self._is_outside and not any(self._has_box(tensor) for tensor, _ in read):
            return  # it is the user's own, and has nothing to do with the module
        frame = self._came_from(sys._getframe(2))
        values = [self._value(tensor, version, before, frame) for tensor, version in read]
        if changed:
            values += self._bases(changed, ids)
        kind = kind_of_function(name, len(read))
        settings = settings_of_function(name, args, keywords)
        line = _line_of(frame)
        same = self._unchanged(read, values, fresh, changed)
        self._tell(self._path(name), name, kind, values, fresh, changed, line, settings, same=same)

    def _unchanged(
        self,
        read: Sequence[tuple[Tensor, int]],
        values: Sequence[Value],
        outputs: Sequence[Tensor],
        changed: Sequence[Tensor],
    ) -> Mapping[int, Hashable]:
        """Return the tokens of the inputs whose numbers outputs hold, all and unchanged, by id.

        The figures of large arrays take long, and half the calls of a transformer reshape.
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
        """Return the name of a function with that of the module around it."""
        around = self._stack[-1].name if self._stack else ""
        if around:
            return f"{around}/{name}"
        return f"{type(self.module).__name__}/{name}" if name in self._paths else name

    def _bases(self, changed: Sequence[Tensor], read: set[int]) -> list[Value]:
        """Return the tensors that views were changed of: a part of them stays as it was."""
        bases = _distinct([t._base for t in changed if t._base is not None])
        found = [(base, self._tokens.known(base)) for base in bases if id(base) not in read]
        return [
            self._as_value(base, known)
            for base, known in found
            if known is not None and known.has_box
        ]

    # --- telling ----------------------------------------------------------------------------------

    def _tell(
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
        """Tell of a call that has returned, and listen to the gradients of what it gave."""
        told = _distinct([*fresh, *changed]) if changed else fresh
        given = [(tensor, self._tokens.give(tensor)) for tensor in told]
        for tensor in changed:
            for other, known in list(self._tokens.views(tensor)):
                if any(other is one for one, _ in given):
                    continue
                if overlap(tensor, other):
                    given.append((other, self._tokens.give(other)))
                else:
                    known.version = version_of(other)  # it counts for all views
        call_id = self.writer.call(
            name, inputs, [self._as_value(*one, same=same.get(id(one[0]))) for one in given],
            op=op, kind=kind, line=line,
            settings=settings or {}, parameters=parameters or {}, buffers=buffers or {},
        )  # fmt: skip
        if self.has_gradients:
            for number, (tensor, _) in enumerate(given):
                if tensor.requires_grad and id(tensor) not in self._weights:
                    of = call_id if len(given) == 1 else f"{call_id}[{number}]"
                    self._listen(tensor, of, line)

    def _as_value(
        self, tensor: Tensor, known: Known, array: Any = None, same: Hashable = None
    ) -> Value:
        """Return what a call is told of a tensor whose numbers are to be read."""
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
        """Return what a call reads; what nobody has told of gets a box first."""
        known = self._tokens.known(tensor)
        if known is not None and known.has_box:
            if known.version == version:
                return known.value
            # Somebody has written into it where nobody listens.
            told = (self._path("write"), "write", "function", [known.value])
            self._tell(*told, [], [tensor], _line_of(frame))
            return (self._tokens.known(tensor) or known).value
        return self._introduced(tensor, known, before.get(id(tensor)), frame)

    def _introduced(
        self, tensor: Tensor, known: Known | None, array: Any, frame: FrameType | None
    ) -> Value:
        """Give a box to what no call has given."""
        views = [one for one in self._tokens.views(tensor) if one[1].has_box]
        sources = [known for other, known in views if overlap(tensor, other)]
        made, op, made_at = self._made.get(id(tensor), (None, "", None))
        behind = [] if sources or made is not None else self._behind(tensor, frame)
        if known is None:
            known = self._tokens.give(tensor)
        known.has_box = True
        value = self._as_value(tensor, known, array)
        weight, is_parameter = self._weights.get(id(tensor), ("", False))
        tell, line = self.writer.call, _line_of(frame)
        if weight:
            op, settings = ("Parameter" if is_parameter else "Buffer"), self._uncalled(weight)
            own = {weight.rpartition(".")[2]: value} if is_parameter else {}
            tell(weight, [], [value], op=op, kind="constant", line=line, settings=settings,
                 parameters=own)  # fmt: skip
            if settings:
                self._uncalled_yet[len(self.writer.calls) - 1] = weight
        elif sources:
            read = [max(sources, key=lambda one: one.token).value]
            tell(self._path("view"), read, [value], op="view", kind="shaping", line=line)
        elif behind:
            name = self._path(_name_in(frame, tensor) or "unheard")
            tell(name, behind, [value], op="unheard", kind="function", line=line)
        elif made is not None and made() is tensor:
            tell(self._path(op), [], [value], op=op, kind="constant", line=made_at)
        elif self._is_outside:
            name = _name_in(frame, tensor) or "input"
            tell(name, [], [value], op="Input", kind="input", line=line)
        else:
            name = self._path(_name_in(frame, tensor) or "constant")
            tell(name, [], [value], op="constant", kind="constant", line=line)
        return value

    def _behind(self, tensor: Tensor, frame: FrameType | None) -> list[Value]:
        """Return what a tensor was computed from where nobody listens, as far as autograd knows."""
        if tensor.grad_fn is None or id(tensor) in self._weights:
            return []
        values, leaves = self._tokens.behind(tensor)
        for leaf in leaves:
            if self._has_box(leaf) or self._is_free(leaf):
                values.append(self._value(leaf, version_of(leaf), frame=frame))
        return values

    def _is_free(self, weight: Tensor) -> bool:
        """Return whether a tensor is a weight that no called module has used for itself."""
        name, _ = self._weights.get(id(weight), ("", False))
        return bool(name) and self._tokens.known(weight) is None

    def _uncalled(self, weight: str) -> dict[str, Setting]:
        """Return a setting that says so if a weight's module was not called."""
        path = weight.rpartition(".")[0]
        owner = next((one for name, one in self._modules.values() if name == path), None)
        if owner is None or id(owner) in self._called:
            return {}
        return {"": f"of {type(owner).__name__}, not called"}

    # --- gradients --------------------------------------------------------------------------------

    def _listen(self, tensor: Tensor, of: str, line: Line | None) -> None:
        handle = tensor.register_hook(partial(self._gradient, of, line))
        if tensor.is_leaf:  # it may outlive the pass
            self._handles.append(handle)

    def _gradient(self, of: str, line: Line | None, gradient: Tensor) -> None:
        if self.is_on and not self._is_quiet:
            with torch._C.DisableTorchFunction():
                self.tell_gradient(of, gradient, line)

    def tell_gradient(self, of: str, gradient: Tensor, line: Line | None = None) -> None:
        """Tell a gradient."""
        array = numbers_of(gradient)
        if array is not None and self._read_numbers:
            self.writer.gradient(of, self.unscaled(array), line=line)

    def unscaled(self, array: np.ndarray) -> np.ndarray:
        """Return a loss or a gradient without the factor of a GradScaler, as float32 or wider."""
        if self.loss_factor == 1.0:
            return array
        return np.asarray(array / np.float32(self.loss_factor))


class _Functions(TorchFunctionMode):
    """Lets a recorder run each function of PyTorch; in a box, where nothing is told, it rests."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._rests = False

    def rest(self) -> None:
        """Hear nothing for a while: that takes long where a module calls many functions."""
        if self._is_last():  # none of the user's own hears what comes first
            self._rests = True
            super().__exit__(None, None, None)

    def go_on(self) -> None:
        """Hear functions again."""
        if self._rests:
            if not self._is_last():
                super().__enter__()
            self._rests = False

    def _is_last(self) -> bool:
        number = torch._C._len_torch_function_stack()
        return number > 0 and torch._C._get_function_stack_at(number - 1) is self

    def __exit__(self, *error: Any) -> None:
        self.go_on()
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
    """A hook that runs no heard functions; in a copy or a file of its module it does nothing."""

    def __init__(self, hear: Callable[..., None] | None) -> None:
        self._hear = hear

    def __call__(self, *args: Any) -> None:
        if self._hear is not None and not is_compiling():
            with torch._C.DisableTorchFunction():
                self._hear(*args)

    def __reduce__(self) -> Any:
        return getattr, (nullcontext(), "__exit__")


def _changed(
    read: Sequence[tuple[Tensor, int]],
    outputs: Sequence[Tensor],
    is_writing: bool,
    keywords: Mapping[str, Any],
) -> list[Tensor]:
    """Return into which inputs a function has written."""
    changed = [tensor for tensor, version in read if version_of(tensor) != version]
    if changed or not is_writing:
        return changed
    out = keywords.get("out")
    target = [tensor for tensor, _ in read[:1]] if out is None else tensors_in(out)
    # Of tensors of `torch.inference_mode()` nobody counts the writes.
    return [one for one in target if one.is_inference() or not outputs]


def _given(args: tuple[Any, ...], keywords: Mapping[str, Any]) -> list[Tensor]:
    """Return the tensors among the arguments of a call, each once."""
    if not keywords and len(args) == 1 and isinstance(args[0], Tensor):
        return [args[0]]
    return _distinct(tensors_in(args) + tensors_in(keywords))


def _distinct(tensors: list[Tensor]) -> list[Tensor]:
    if len(tensors) < 2:
        return tensors
    return list({id(tensor): tensor for tensor in tensors}.values())


def _known_values(found: Iterable[Known | None]) -> list[Value]:
    """Return what is known of those tensors that calls have given."""
    return [known.value for known in found if known is not None and known.has_box]


def _same(array: Any) -> Any:
    return array


def _line_of(frame: FrameType | None) -> Line | None:
    """Return the line at which a frame is."""
    if frame is None:
        return None
    code = frame.f_code
    return (code.co_filename, frame.f_lineno, code.co_name)


def _name_in(frame: FrameType | None, tensor: Tensor) -> str:
    """Return what the user calls a tensor there."""
    names = {} if frame is None else frame.f_locals
    return next((name for name, value in names.items() if value is tensor), "")


def _arguments(
    module: nn.Module, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """Yield the arguments of a call with the names that `forward` has for them."""
    own = "forward" in vars(module)
    names = _names_of_arguments(module.forward) if own else _names_in_method(type(module).forward)
    for number, value in enumerate(args):
        yield names[number] if number < len(names) else f"input_{number + 1}", value
    yield from keywords.items()


def _names_of_arguments(function: Callable[..., Any]) -> list[str]:
    """Return what a function calls its arguments, as far as each has a name of its own."""
    found = []
    for one in signature(function).parameters.values():
        if one.kind not in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
            break
        found.append(one.name)
    return found


@lru_cache(maxsize=256)
def _names_in_method(method: Callable[..., Any]) -> list[str]:
    return _names_of_arguments(method)[1:]
