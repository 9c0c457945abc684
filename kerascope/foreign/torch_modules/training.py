"""Record a user's training loop: forward passes, backward passes and optimizer steps, as batches.

A batch ends with a step of an optimizer, and the next batch begins with the first forward pass
after it. So two forward passes of one loss are in one batch, and so are accumulated gradients. The
two steps of a GAN are in two batches. A forward pass without gradients is a separate batch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from kerascope.foreign.torch_modules.loss_scaling import ScaledLosses, factor_in_optimizer
from kerascope.foreign.torch_modules.recording import RunningCall, TorchRecorder
from kerascope.foreign.torch_modules.tensors import numbers_of, tensors_in, version_of
from kerascope.foreign.writer import TapeWriter

MOST_CALLS = 10_000  # calls in a batch without an optimizer step
# A parameter before a step: its name, the tensor, its numbers, its gradient.
Before = tuple[str, Tensor, np.ndarray, np.ndarray | None]


class TorchTraining(TorchRecorder):
    """Records a user's training loop.

    Parameters
    ----------
    module : nn.Module
    writer : TapeWriter
    """

    def __init__(self, module: nn.Module, writer: TapeWriter) -> None:
        self._parameters: list[tuple[str, Tensor]] = []
        self._named: dict[int, str] = {}
        super().__init__(module, writer, has_gradients=True)
        self._optimizers: list[tuple[Optimizer, str]] = []
        self._batch: ExitStack | None = None
        self._forward = ExitStack()
        self._at_end: dict[str, Any] = {}  # names for the end of the batch
        self._losses: list[np.ndarray] = []
        self._number = 0
        self._is_over = False  # after a step: the next forward pass begins a batch
        self._before: list[Before] = []
        self._has_closure = False  # whether the running step calls the model itself
        self._scaled = ScaledLosses(self.unrecorded, self._scaler_updates)

    def register_names(self, module: nn.Module, prefix: str = "") -> None:
        """Register the names of a module's submodules and weights."""
        super().register_names(module, prefix)
        for name, one in module.named_parameters(prefix=prefix):
            if id(one) not in self._named:
                self._parameters.append((name, one))
                self._named[id(one)] = name

    def subjects(self) -> Iterator[tuple[str, nn.Module]]:
        """Yield the name and the module of each recorded root module."""
        yield "", self.module

    def _observe_new_modules(self) -> None:
        """Observe submodules that were added to a module after the module was registered."""
        known = self._modules
        children = [child for _, one in known.values() for child in one._modules.values()]
        if all(child is None or id(child) in known for child in children):
            return
        for prefix, subject in list(self.subjects()):
            for name, one in list(subject.named_modules(prefix=prefix)):
                if id(one) not in known:
                    self.observe(name, one)
            self.register_names(subject, prefix)

    # --- batches ----------------------------------------------------------------------------------

    @contextmanager
    def batches(self) -> Iterator[None]:
        """Observe optimizer steps in a `with` block. The last batch ends with the block."""
        handles = [
            register_optimizer_step_pre_hook(self._step_begins),
            register_optimizer_step_post_hook(self._step_ends),
        ]
        try:
            with self._scaled.observed():
                yield
        finally:
            for handle in handles:
                handle.remove()
            self._end_batch(sys.exc_info())

    def _begin_batch(self, size: int, kind: str) -> None:
        self._end_batch()
        self.forget()
        self._batch, self._losses, self._is_over = ExitStack(), [], kind == "test step"
        number, self._number = self._number, self._number + 1
        begin = self._batch.enter_context
        self._at_end = begin(
            self.writer.span("batch", f"batch {number}", batch_index=number, size=size)
        )
        begin(self.writer.span("function", kind))

    def _end_batch(self, error: Any = (None, None, None)) -> None:
        if self._batch is not None:
            self._at_end["outs"] = tuple(one.reshape(())[()] for one in self._losses)
            self._batch.__exit__(*error)
            self._batch = None

    # --- forward and backward ---------------------------------------------------------------------

    def forward_begins(self, call: RunningCall, args: Any, keywords: Any) -> None:
        """Begin the span of a top-level call, that is, a call that no other module makes."""
        is_training = torch.is_grad_enabled() and call.module.training
        is_long = len(self.writer.calls) >= MOST_CALLS
        if not self._stack and (self._batch is None or self._is_over or is_long):
            tensors = tensors_in((args, keywords))
            size = tensors[0].size(0) if tensors and tensors[0].dim() else 1
            self._begin_batch(size, "training step" if is_training else "test step")
        if not self._stack:
            self._observe_new_modules()
        name = call.name or type(call.module).__name__
        self._forward.enter_context(self.writer.span("forward", name, line=call.line))

    def forward_ends(self, call: RunningCall, result: Any) -> None:
        """End the span of a top-level call, that is, a call that no other module makes."""
        super().forward_ends(call, result)
        self._forward.close()

    def backward(
        self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Run a backward pass, and record the gradients of parameters that it has changed."""
        if self._batch is None:
            return super().backward(function, args, keywords)
        before = {
            name: (one.grad, version_of(one.grad))
            for name, one in self._parameters
            if one.grad is not None
        }
        losses = [one for one in tensors_in(args[:1]) if one.numel() == 1]
        self.loss_factor = self._scaled.factor_of(losses)
        with self.writer.span("backward", "backward pass"):
            result = super().backward(function, args, keywords)
            for name, one in self._parameters:
                now, (old, version) = one.grad, before.get(name, (None, 0))
                if now is not None and (now is not old or version_of(now) != version):
                    self.record_gradient(name, now)
            if function is torch.autograd.grad:  # it returns the gradients
                inputs = args[1] if len(args) > 1 else keywords.get("inputs")
                for one, gradient in zip(tensors_in(inputs), result, strict=False):
                    if gradient is not None and id(one) in self._named:
                        self.record_gradient(self._named[id(one)], gradient)
        arrays = [numbers_of(one) for one in losses]  # a loss of `torch.vmap` is many numbers
        self._losses += [
            np.array(self.unscaled(one)) for one in arrays if one is not None and one.size == 1
        ]
        self.loss_factor = 1.0
        return result

    # --- steps of optimizers ----------------------------------------------------------------------

    def _step_begins(self, optimizer: Optimizer, args: Any, keywords: Any) -> None:
        frame = sys._getframe(1)
        users = self._users_frame_around(frame)
        parameters = [one for group in optimizer.param_groups for one in group["params"]]
        mine = [one for one in parameters if id(one) in self._named]
        if not mine or not self._is_own_thread():
            return
        has_closure = any(callable(one) for one in (*args[1:], *keywords.values()))
        if has_closure and not self._stack and (self._batch is None or self._is_over):
            self._begin_batch(0, "training step")
        if self._batch is None:
            return
        with torch._C.DisableTorchFunction():
            self.loss_factor = factor_in_optimizer(optimizer)
            self._before = [
                (self._named[id(one)], one, *self._copies_of(one))
                for one in mine
                if has_closure or one.grad is not None
            ]
            self.loss_factor = 1.0
        self._has_closure = has_closure
        call = RunningCall(optimizer, "", frame, users, self._inside)
        call.span = self.writer.begin("update", self._name_of(optimizer), line=call.line)
        self._stack.append(call)
        if not has_closure:
            self._inside += 1  # the optimizer's computations are not part of the model

    def _step_ends(self, optimizer: Optimizer, args: Any, keywords: Any) -> None:
        if not self._stack or self._stack[-1].module is not optimizer:
            return
        call = self._stack.pop()
        self._inside = call.depth
        with torch._C.DisableTorchFunction():
            for name, one, old, gradient in self._before:
                new = numbers_of(one)
                if self._has_closure and not call.depth:  # the closure has computed new gradients
                    gradient = None if one.grad is None else numbers_of(one.grad)
                if new is not None and new.shape == old.shape:
                    self.writer.update(name, old, new, gradient, line=call.line)
        self._before = []
        if call.span is not None:
            self.writer.end(call.span)
        self._is_over = True

    def _scaler_updates(self) -> None:
        """End the batch when a GradScaler is updated. It may have skipped the optimizer's step."""
        if not self._stack:
            self._is_over = True

    def _copies_of(self, parameter: Tensor) -> tuple[np.ndarray, np.ndarray | None]:
        """Return copies of a parameter and its gradient before the optimizer changes them.

        The gradient is not scaled, and None if there is none. The copy of a parameter whose numbers
        cannot be read is empty.
        """
        held = numbers_of(parameter)
        gradient = None if parameter.grad is None else numbers_of(parameter.grad)
        empty = np.empty(0)  # for a parameter without numbers
        return (
            empty if held is None else held.copy(),
            None if gradient is None else np.array(self.unscaled(gradient)),
        )

    def _name_of(self, optimizer: Optimizer) -> str:
        """Return the name of an optimizer: its class, and ":2" for the second of the same class."""
        for one, name in self._optimizers:
            if one is optimizer:
                return name
        kind = type(optimizer).__name__
        number = 1 + sum(type(one).__name__ == kind for one, _ in self._optimizers)
        name = kind if number == 1 else f"{kind}:{number}"
        self._optimizers.append((optimizer, name))
        return name
