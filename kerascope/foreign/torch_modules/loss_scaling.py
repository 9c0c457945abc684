"""Mixed precision: the factor by which a `GradScaler` multiplies a loss before the backward pass.

The factor keeps float16 gradients from becoming zero. It is not part of the loss: a training step
is recorded with the loss that the model computed, and with the gradients of that loss.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import wraps
from typing import Any

import torch
from torch import Tensor
from torch.optim import Optimizer

from kerascope.foreign.torch_modules.tensors import tensors_in

MOST_NODES = 100  # autograd nodes between the scaled loss and the tensor of the backward pass
_SCALER: Any = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler


class ScaledLosses:
    """The losses that a GradScaler has scaled, and their factors.

    Parameters
    ----------
    unrecorded : callable
        Returns a context manager in whose block functions are not recorded.
    updated : callable
        Called whenever a scaler ends its step.
    """

    def __init__(
        self, unrecorded: Callable[[], AbstractContextManager[None]], updated: Callable[[], None]
    ) -> None:
        self._unrecorded = unrecorded
        self._updated = updated
        self._factors: dict[int, float] = {}  # by the number of the autograd node of the product

    @contextmanager
    def observed(self) -> Iterator[None]:
        """Observe all GradScalers in a `with` block, to record the factors of losses."""
        plain = {name: getattr(_SCALER, name) for name in ("scale", "unscale_", "step", "update")}
        try:
            for name, method in plain.items():
                setattr(_SCALER, name, self._observed(name, method))
            yield
        finally:
            for name, method in plain.items():
                setattr(_SCALER, name, method)

    def _observed(self, name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def call(scaler: Any, *args: Any, **keywords: Any) -> Any:
            with self._unrecorded():
                result = method(scaler, *args, **keywords)
                if scaler.is_enabled() and name == "scale":
                    for tensor in tensors_in(result):
                        if tensor.grad_fn is not None:
                            self._factors[tensor.grad_fn._sequence_nr()] = scaler.get_scale()
            if scaler.is_enabled() and name == "update":
                self._factors.clear()
                self._updated()
            return result

        return call

    def factor_of(self, losses: Sequence[Tensor]) -> float:
        """Return the factor of a scaled loss, or 1 if no GradScaler has multiplied this loss."""
        queue = deque(one.grad_fn for one in losses)
        looked_at = 0
        while self._factors and queue and looked_at < MOST_NODES:
            node: Any = queue.popleft()
            looked_at += 1
            if node is not None:
                if node._sequence_nr() in self._factors:
                    return self._factors[node._sequence_nr()]
                queue.extend(other for other, _ in node.next_functions)
        return 1.0


def factor_in_optimizer(optimizer: Optimizer) -> float:
    """Return the factor by which a fused optimizer itself divides the gradients in its step."""
    factor = getattr(optimizer, "grad_scale", None)
    return float(factor) if isinstance(factor, Tensor) else 1.0
