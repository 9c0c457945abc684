"""The user's own loop: forward passes, backward passes and steps of optimizers, as batches.

A batch is what leads to a step: a new one begins with the first forward pass after a step. So two
forward passes of one loss, and batches whose gradients add up, stay together, and the two halves of
a GAN's turn do not. A forward pass for its own sake, without gradients, is a batch by itself.
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
from kerascope.foreign.torch_modules.recording import Heard, Recorder
from kerascope.foreign.torch_modules.tensors import numbers_of, tensors_in, version_of
from kerascope.foreign.writer import TapeWriter

MOST_CALLS = 10_000  # of a batch that no step of an optimizer ends
# Of a parameter before a step: its name, itself, what it held, its gradient.
Before = tuple[str, Tensor, np.ndarray, np.ndarray | None]


class Training(Recorder):
    """Hears a loop of the user's own.

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
        self._told: dict[str, Any] = {}  # of the batch, when it ends
        self._losses: list[np.ndarray] = []
        self._number = 0
        self._is_over = False  # there was a step; what comes now is another batch
        self._before: list[Before] = []
        self._has_closure = False  # the step that goes on calls the model itself
        self._scaled = ScaledLosses(self.unrecorded, self._scaler_updates)

    def know(self, module: nn.Module, prefix: str = "") -> None:
        """Take note of the names of a module's parts and weights."""
        super().know(module, prefix)
        for name, one in module.named_parameters(prefix=prefix):
            if id(one) not in self._named:
                self._parameters.append((name, one))
                self._named[id(one)] = name

    def subjects(self) -> Iterator[tuple[str, nn.Module]]:
        """Yield the modules that are heard with all that is in them, and their names."""
        yield "", self.module

    def _hear_new_parts(self) -> None:
        """Hear modules that have been put into those that are heard since they were looked at."""
        known = self._modules
        children = [child for _, one in known.values() for child in one._modules.values()]
        if all(child is None or id(child) in known for child in children):
            return
        for prefix, subject in list(self.subjects()):
            for name, one in list(subject.named_modules(prefix=prefix)):
                if id(one) not in known:
                    self.hear(name, one)
            self.know(subject, prefix)

    # --- batches ----------------------------------------------------------------------------------

    @contextmanager
    def batches(self) -> Iterator[None]:
        """Hear steps of optimizers in a `with` block; the last batch ends with it."""
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
        self._told = begin(
            self.writer.span("batch", f"batch {number}", batch_index=number, size=size)
        )
        begin(self.writer.span("function", kind))

    def _end_batch(self, error: Any = (None, None, None)) -> None:
        if self._batch is not None:
            self._told["outs"] = tuple(one.reshape(())[()] for one in self._losses)
            self._batch.__exit__(*error)
            self._batch = None

    # --- forward and backward ---------------------------------------------------------------------

    def forward_begins(self, heard: Heard, args: Any, keywords: Any) -> None:
        """Hear that a module is called from outside."""
        is_training = torch.is_grad_enabled() and heard.module.training
        is_long = len(self.writer.calls) >= MOST_CALLS
        if not self._stack and (self._batch is None or self._is_over or is_long):
            tensors = tensors_in((args, keywords))
            size = tensors[0].size(0) if tensors and tensors[0].dim() else 1
            self._begin_batch(size, "training step" if is_training else "test step")
        if not self._stack:
            self._hear_new_parts()
        name = heard.name or type(heard.module).__name__
        self._forward.enter_context(self.writer.span("forward", name, line=heard.line))

    def forward_ends(self, heard: Heard, result: Any) -> None:
        """Hear that such a call is over."""
        super().forward_ends(heard, result)
        self._forward.close()

    def backward(
        self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]
    ) -> Any:
        """Run a backward pass, and tell the gradients that parameters have then."""
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
                    self.tell_gradient(name, now)
            if function is torch.autograd.grad:  # it hands them out
                inputs = args[1] if len(args) > 1 else keywords.get("inputs")
                for one, gradient in zip(tensors_in(inputs), result, strict=False):
                    if gradient is not None and id(one) in self._named:
                        self.tell_gradient(self._named[id(one)], gradient)
        arrays = [numbers_of(one) for one in losses]  # one of `torch.vmap` is many
        self._losses += [
            np.array(self.unscaled(one)) for one in arrays if one is not None and one.size == 1
        ]
        self.loss_factor = 1.0
        return result

    # --- steps of optimizers ----------------------------------------------------------------------

    def _step_begins(self, optimizer: Optimizer, args: Any, keywords: Any) -> None:
        frame = sys._getframe(1)
        users = self._came_from(frame)
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
        heard = Heard(optimizer, "", frame, users, self._inside)
        heard.span = self.writer.begin("update", self._name_of(optimizer), line=heard.line)
        self._stack.append(heard)
        if not has_closure:
            self._inside += 1  # what the optimizer computes is no part of the model

    def _step_ends(self, optimizer: Optimizer, args: Any, keywords: Any) -> None:
        if not self._stack or self._stack[-1].module is not optimizer:
            return
        heard = self._stack.pop()
        self._inside = heard.depth
        with torch._C.DisableTorchFunction():
            for name, one, old, gradient in self._before:
                new = numbers_of(one)
                if self._has_closure and not heard.depth:  # it has computed them meanwhile
                    gradient = None if one.grad is None else numbers_of(one.grad)
                if new is not None and new.shape == old.shape:
                    self.writer.update(name, old, new, gradient, line=heard.line)
        self._before = []
        if heard.span is not None:
            self.writer.end(heard.span)
        self._is_over = True

    def _scaler_updates(self) -> None:
        """End the batch even if the GradScaler has skipped the step: a gradient was not finite."""
        if not self._stack:
            self._is_over = True

    def _copies_of(self, parameter: Tensor) -> tuple[np.ndarray, np.ndarray | None]:
        """Return copies of a parameter and of its gradient, before the optimizer changes them."""
        held = numbers_of(parameter)
        gradient = None if parameter.grad is None else numbers_of(parameter.grad)
        empty = np.empty(0)  # of what has no numbers
        return (
            empty if held is None else held.copy(),
            None if gradient is None else np.array(self.unscaled(gradient)),
        )

    def _name_of(self, optimizer: Optimizer) -> str:
        """Return what an optimizer is called: its class, the second of a class with ":2"."""
        for one, name in self._optimizers:
            if one is optimizer:
                return name
        kind = type(optimizer).__name__
        number = 1 + sum(type(one).__name__ == kind for one, _ in self._optimizers)
        name = kind if number == 1 else f"{kind}:{number}"
        self._optimizers.append((optimizer, name))
        return name
