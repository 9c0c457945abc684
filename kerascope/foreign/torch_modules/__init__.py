"""Records modules of PyTorch: their calls with values, gradients and updates.

A module is recorded while it runs. `recording.py` observes it, `tensors.py` identifies its tensors,
and `boxes.py` determines what the boxes show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from kerascope.errors import ArgumentError
from kerascope.foreign.torch_modules.recording import TorchRecorder
from kerascope.foreign.torch_modules.training import TorchTraining
from kerascope.foreign.torch_modules.watching import WatchedTraining, registering_modules
from kerascope.foreign.writer import TapeWriter
from kerascope.nested_values import replaced
from kerascope.trace.records import counted
from kerascope.unsupported import got_instead
from kerascope.viz.graph import Graph

LIBRARY = "torch"
VERSION = f"{LIBRARY} {torch.__version__.partition('+')[0]}"


def record(
    module: nn.Module,
    *inputs: Any,
    writer: TapeWriter,
    loss: Any = None,
    target: Any = None,
    **keywords: Any,
) -> Any:
    """Run a module once and record its calls.

    Afterwards the module's buffers (running means, counts), the state of the random number
    generators, and the gradients of the parameters are restored.

    Parameters
    ----------
    module : nn.Module
    *inputs : object
        The inputs. NumPy arrays become tensors; arrays of floats get the dtype of the module's
        parameters.
    writer : TapeWriter
    loss : callable or nn.Module, optional
        Called on the module's output, and on `target` if there is one. With a loss, the gradients
        of each call's output and of each parameter are recorded, too.
    target : optional
        The second argument of the loss. Without a loss it is a keyword argument of the module.
    **keywords : object
        Named inputs.

    Returns
    -------
    object
        The output of the module.

    Raises
    ------
    ArgumentError
        If the module cannot be recorded, an input is missing, or the loss is not one number.

    Examples
    --------
    >>> writer = TapeWriter("all")
    >>> y = record(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), torch.ones(1, 3), writer=writer)
    >>> [(call.id, call.op) for call in writer.calls]
    [('input', 'Input'), ('0', 'Linear'), ('1', 'ReLU')]
    """
    check_recordable(module)
    if loss is None and target is not None:
        keywords["target"] = target
    args = tuple(_as_input(value, module) for value in inputs)
    names = {name: _as_input(value, module) for name, value in keywords.items()}
    _check_inputs(module, args, names)
    writer.library = writer.library or VERSION
    recorder = TorchRecorder(module, writer, has_gradients=loss is not None)
    others = (("loss", loss),) if isinstance(loss, nn.Module) else ()
    with (
        _restoring_state(module),
        writer.span("function", type(module).__name__),
        recorder.listening(*others),
    ):
        with writer.span("forward", "forward pass"), recorder.running():
            result = module(*args, **names)
        if loss is not None:
            _record_gradients(recorder, result, loss, _as_input(target, module))
    return result


def graph_of(module: nn.Module, *inputs: Any, **keywords: Any) -> Graph:
    """Return the graph of a module's run on its inputs; see `record`.

    Examples
    --------
    >>> graph = graph_of(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), torch.ones(1, 3))
    >>> [(edge.source, edge.target) for edge in graph.edges]
    [('input', '0'), ('0', '1')]
    """
    writer = TapeWriter("none")
    record(module, *inputs, writer=writer, **keywords)
    return writer.graph(type(module).__name__)


@contextmanager
def tracing(module: nn.Module, writer: TapeWriter) -> Iterator[None]:
    """Record a module during a `with` block: your own training loop, with its optimizers.

    A batch ends with a step of an optimizer. It contains the forward passes before the step, the
    loss, the gradients, and the new parameters. A forward pass without gradients is a separate
    batch. The hooks are always removed at the end.

    Parameters
    ----------
    module : nn.Module
        Its submodules are recorded, and functions of their outputs.
    writer : TapeWriter

    Raises
    ------
    ArgumentError
        If the module cannot be recorded.

    Examples
    --------
    >>> module = nn.Linear(2, 1)
    >>> optimizer, writer = torch.optim.SGD(module.parameters(), lr=0.1), TapeWriter()
    >>> with tracing(module, writer):
    ...     for x in torch.ones(3, 4, 2):
    ...         optimizer.zero_grad()
    ...         module(x).square().mean().backward()
    ...         optimizer.step()
    >>> batches = [event for event in writer.tape if event.kind == "batch" and event.ph == "B"]
    >>> [event.name for event in batches]
    ['batch 0', 'batch 1', 'batch 2']
    """
    check_recordable(module)
    writer.library = writer.library or VERSION
    training = TorchTraining(module, writer)
    with (
        writer.span("fit", type(module).__name__),
        training.listening(),
        training.batches(),
        training.running(),
    ):
        yield


@contextmanager
def watching(writer: TapeWriter) -> Iterator[None]:
    """Record all modules that are called in a `with` block, such as those of a user's script.

    Parameters
    ----------
    writer : TapeWriter

    Examples
    --------
    >>> writer = TapeWriter("none")
    >>> with watching(writer):
    ...     y = nn.Linear(2, 1)(torch.ones(4, 2))
    >>> [call.id for call in writer.calls]
    ['input', 'Linear']
    """
    writer.library = writer.library or VERSION
    watched = WatchedTraining(writer, check_recordable)
    with watched.listening(), watched.batches(), watched.running(), registering_modules(watched):
        yield


def _record_gradients(
    recorder: TorchRecorder, result: Any, loss: Callable[..., Any], target: Any
) -> None:
    """Compute a loss and its gradients. The `grad` of the parameters does not change."""
    writer = recorder.writer
    with writer.span("loss", "loss"), recorder.running():
        value = loss(result) if target is None else loss(result, target)
    if not isinstance(value, Tensor) or value.numel() != 1 or not value.requires_grad:
        got = f"{tuple(value.shape)}" if isinstance(value, Tensor) else type(value).__name__
        needs = ", which depends on no parameter" if isinstance(value, Tensor) else ""
        raise ArgumentError(
            f"{type(recorder.module).__name__}: loss: expected a function that returns one number "
            f"with a gradient, such as nn.CrossEntropyLoss(), got {got}{needs}."
        )
    named = dict(recorder.module.named_parameters())
    kept = {name: one.grad for name, one in named.items()}
    try:
        for one in named.values():
            one.grad = None
        with writer.span("backward", "backward pass"):
            recorder.backward(Tensor.backward, (value,), {})
            for name, one in named.items():
                if one.grad is not None:
                    recorder.record_gradient(name, one.grad)
    finally:
        for name, one in named.items():
            one.grad = kept[name]


# --- what can be recorded -------------------------------------------------------------------------


def check_recordable(module: Any) -> None:
    """Raise an error if a module cannot be recorded.

    Raises
    ------
    ArgumentError
        If `module` is not a module, is compiled, or has copies in other threads or processes.
    """
    name = type(module).__name__
    if not isinstance(module, nn.Module):
        call = "ks.draw(model, inputs=x)"
        raise ArgumentError(f"PyTorch: expected a torch.nn.Module, {got_instead(module, call)}")
    for path, one in module.named_modules():
        what, remedy = _obstacle(one)
        if what:
            where = f"{name}: {path!r}" if path else name
            raise ArgumentError(
                f"{where} {what}, so its modules and functions cannot be recorded. {remedy}"
            )


_BY_CLASS = {
    "ScriptModule": ("is compiled by TorchScript", "Give the module that it was made from."),
    "OptimizedModule": ("is compiled by torch.compile", "Give the module inside: `._orig_mod`."),
    **dict.fromkeys(
        ("DataParallel", "DistributedDataParallel", "FullyShardedDataParallel"),
        ("runs copies in other threads or processes", "Give the module inside: `.module`."),
    ),
}


def _obstacle(module: nn.Module) -> tuple[str, str]:
    """Return (reason, advice) if a module cannot be recorded; two empty texts if it can."""
    for cls in type(module).__mro__:
        if cls.__module__.startswith("torch.") and cls.__name__ in _BY_CLASS:
            return _BY_CLASS[cls.__name__]
    if getattr(module, "_compiled_call_impl", None) is not None:
        return "is compiled by its method `compile`", "Give one on which it was not called."
    return "", ""


def _check_inputs(module: nn.Module, args: tuple[Any, ...], names: dict[str, Any]) -> None:
    """Raise an error if a module cannot be called with these inputs."""
    if type(module).forward is nn.Module.forward or "forward" in vars(module):
        return
    try:
        signature(module.forward).bind(*args, **names)
    except TypeError as error:
        name = type(module).__name__
        given = counted(len(args) + len(names), "input") if args or names else "none"
        raise ArgumentError(
            f"{name}: expected inputs for its forward{signature(module.forward)}, got {given} "
            f"({error}). Pass inputs=x, inputs=(x, y) or inputs={{'x': x}}."
        ) from None


def _as_input(value: Any, module: nn.Module) -> Any:
    """Return an input of a module with tensors in place of its NumPy arrays."""
    return replaced(value, (np.ndarray, np.generic), partial(_as_tensor, module))


def _as_tensor(module: nn.Module, value: Any) -> Tensor:
    tensor = torch.tensor(value)  # a copy: the module may write into it
    own = next(iter(module.parameters()), None)
    if own is None:
        return tensor
    if tensor.is_floating_point() and own.is_floating_point():
        tensor = tensor.to(own.dtype)
    return tensor.to(own.device)


@contextmanager
def _restoring_state(module: nn.Module) -> Iterator[None]:
    """After the `with` block, restore a module's buffers and the random number generators."""
    tables = [(one._buffers, dict(one._buffers)) for one in module.modules()]
    buffers = [(one, one.detach().clone()) for one in module.buffers() if not is_lazy(one)]
    devices = {one.device.index for one in module.parameters() if one.is_cuda}
    with torch.random.fork_rng(sorted(devices)):
        try:
            yield
        finally:
            for table, kept in tables:
                table.update(kept)
            with torch.no_grad():
                for buffer, numbers in buffers:
                    if not _are_equal(buffer, numbers):
                        # Without a new version: a gradient may still use the buffer.
                        is_dense = buffer.layout == torch.strided
                        (buffer.data if is_dense else buffer).copy_(numbers)


def _are_equal(buffer: Tensor, numbers: Tensor) -> bool:
    if buffer.layout != torch.strided:  # PyTorch does not compare sparse tensors
        buffer, numbers = buffer.to_dense(), numbers.to_dense()
    return buffer.is_meta or torch.equal(buffer, numbers)
