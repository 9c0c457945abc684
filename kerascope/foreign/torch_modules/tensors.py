"""Finds PyTorch tensors in values, reads their numbers, and identifies them in each state.

A PyTorch tensor is a view of a storage, and other tensors may view the same storage. A write
through one of them changes the numbers of all. So each state of a tensor object has its own token,
which `Tokens` assigns. A new state is found by `_version`, which counts the writes to a storage for
all its views, and by looking for tensors that share the storage.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any
from weakref import ref

import numpy as np
import torch
from torch import Tensor
from torch._functorch.pyfunctorch import temporarily_clear_interpreter_stack

from kerascope.foreign.records import Value, new_value

MOST_NODES = 10_000  # autograd nodes to search for the sources of a tensor
_is_wrapped = torch._C._functorch.is_functorch_wrapped_tensor
PLAIN = frozenset((int, float, bool, str, bytes, type(None), torch.Size, torch.dtype, torch.device))


def tensors_in(value: Any) -> list[Tensor]:
    """Return a tensor, or the tensors inside tuples, lists, mappings and dataclasses, as a list.

    Examples
    --------
    >>> a, b = torch.zeros(2), torch.ones(3)
    >>> [tuple(t.shape) for t in tensors_in({"pair": (a, None), "rest": [[b]]})]
    [(2,), (3,)]
    """
    if isinstance(value, Tensor):
        return [value]
    found: list[Tensor] = []
    _collect(value, found)
    return found


def _collect(value: Any, found: list[Tensor]) -> None:
    if isinstance(value, Tensor):
        found.append(value)
    elif type(value) in PLAIN:
        return
    elif isinstance(value, (list, tuple)):
        for one in value:
            _collect(one, found)
    elif isinstance(value, (dict, Mapping)):  # the test for dict is faster
        for one in value.values():
            _collect(one, found)
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            _collect(getattr(value, one.name, None), found)


def numbers_of(tensor: Tensor) -> np.ndarray | None:
    """Return a tensor as a NumPy array, without a copy if possible; None if it has no numbers.

    NumPy has no bfloat16 or float8. Such numbers become float32, which represents them exactly.

    Examples
    --------
    >>> numbers_of(torch.ones(2, dtype=torch.bfloat16))
    array([1., 1.], dtype=float32)
    >>> numbers_of(torch.ones(2, device="meta")) is None
    True
    """
    try:  # `tensor.numpy()` would prevent any later resize of the tensor
        if (
            (tensor.__class__ is not Tensor and _may_be_fake(tensor))
            or tensor.is_neg()
            or tensor.is_conj()
            or not tensor.is_cpu
        ):
            return _numbers_of_others(tensor.detach())
        array: np.ndarray = np.from_dlpack(_DLPack(tensor))
    except (TypeError, RuntimeError, BufferError):
        if torch._C._functorch.peek_interpreter_stack() is None:
            return _numbers_of_others(tensor.detach())
        with temporarily_clear_interpreter_stack():  # otherwise all results are wrapped
            return numbers_of(_unwrapped(tensor))
    return array


def _may_be_fake(tensor: Tensor) -> bool:
    """Return whether a tensor subclass overrides dispatch, so that it may have no numbers."""
    dispatch = tensor.__class__.__torch_dispatch__
    return dispatch is not Tensor.__torch_dispatch__  # type: ignore[comparison-overlap]


class _DLPack:
    """Exports a CPU tensor to NumPy with fewer checks than `Tensor.__dlpack__`."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __dlpack__(self, **_: Any) -> Any:
        return torch._C._to_dlpack(self._tensor)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # CPU memory


def _numbers_of_others(tensor: Tensor) -> np.ndarray | None:
    """Return the numbers of a tensor that is not on the CPU, or in a format that NumPy lacks.

    Return None if the tensor has no numbers, such as a tensor on the device "meta".
    """
    if tensor.is_meta:
        return None
    try:
        if tensor.is_quantized:
            tensor = tensor.dequantize()
        elif tensor.layout != torch.strided:
            tensor = tensor.to_dense()
        if tensor.is_floating_point() and tensor.dtype.itemsize < 4 and tensor.dtype != torch.half:
            tensor = tensor.float()
        array: np.ndarray = tensor.numpy(force=True)
    except (TypeError, RuntimeError, NotImplementedError):  # a fake tensor
        return None
    return array


class _Names(dict[torch.dtype, str]):
    """The cached names of PyTorch's dtypes, such as "float32"."""

    def __missing__(self, dtype: torch.dtype) -> str:
        name = self[dtype] = str(dtype).removeprefix("torch.")
        return name


_names_of_dtypes = _Names()


def version_of(tensor: Tensor) -> int:
    """Return how often a tensor's storage was written to, or 0 if PyTorch does not count."""
    try:
        return int(tensor._version)
    except RuntimeError:  # made in `torch.inference_mode()`
        return 0


def versions_of(tensors: Sequence[Tensor]) -> list[tuple[Tensor, int]]:
    """Return pairs of a tensor and its current version (see `version_of`)."""
    try:
        return [(tensor, tensor._version) for tensor in tensors]
    except RuntimeError:
        return [(tensor, version_of(tensor)) for tensor in tensors]


def shape_of(tensor: Tensor) -> tuple[int | None, ...]:
    """Return the shape of a tensor, with None for sizes that vary in a nested tensor.

    Examples
    --------
    >>> shape_of(torch.zeros(2, 3))
    (2, 3)
    """
    if not tensor.is_nested:
        return tuple(tensor.shape)
    return (tensor.size(0), *[None] * (tensor.dim() - 1))


# --- identity -------------------------------------------------------------------------------------


class TensorInfo:
    """What `Tokens` stores about a tensor: its token, its state and its value.

    Attributes
    ----------
    ref : weakref of Tensor
    token : int
        The token of its current state.
    version : int
        The version of its storage in that state.
    storage : int or None
        Identity of its storage, or None if not determined yet.
    value : Value
        The value for calls that read it, once its numbers have been read.
    has_box : bool
        Whether a recorded call returned the tensor. Weights of a called module have no box.
    """

    __slots__ = ("has_box", "ref", "storage", "token", "value", "version")

    def __init__(self, tensor: Tensor, token: int, has_box: bool) -> None:
        self.ref = ref(tensor)
        self.token = token
        self.version = version_of(tensor)
        self.storage: int | None = None
        dtype = _names_of_dtypes[tensor.dtype]
        shape = shape_of(tensor) if tensor.is_nested else tuple(tensor.shape)
        self.value = new_value((token, shape, dtype, None, tensor.requires_grad, None))
        self.has_box = has_box


class Tokens:
    """Assigns tokens to the states of tensors. References to tensors are weak.

    Examples
    --------
    >>> tokens, x = Tokens(), torch.zeros(3)
    >>> first = tokens.give(x).token
    >>> tokens.known(x).token == first, tokens.known(x[0]) is None
    (True, True)
    """

    def __init__(self) -> None:
        self._known: dict[int, TensorInfo] = {}  # by id; the weak reference shows if it is alive
        self._sharing: dict[int, list[int]] = {}  # ids of the objects that view a storage
        self._unsorted: list[TensorInfo] = []  # storage not determined yet
        self._given: dict[int, Value] = {}  # by the number of the autograd node that computed it
        self._last = 0

    def known(self, tensor: Tensor) -> TensorInfo | None:
        """Return the stored information about a tensor's current state, or None for a new state."""
        found = self._known.get(id(tensor))
        if found is not None and found.ref() is tensor:
            return found
        return self.known(_unwrapped(tensor)) if _is_wrapped(tensor) else None

    def give(self, tensor: Tensor, *, has_box: bool = True) -> TensorInfo:
        """Give a tensor a new token, because it is new or was written to."""
        if _is_wrapped(tensor):
            tensor = _unwrapped(tensor)
        self._last += 1
        found = self._known[id(tensor)] = TensorInfo(tensor, self._last, has_box)
        self._unsorted.append(found)
        if has_box and tensor.requires_grad and (node := tensor.grad_fn) is not None:
            self._given[node._sequence_nr()] = found.value
        return found

    def renewed(self, ids: Iterable[int]) -> Tokens:
        """Return a new `Tokens` that contains only the tokens of weights without a box."""
        new = Tokens()
        new._last = self._last
        for key in ids:
            known = self._known.get(key)
            if known is not None and not known.has_box and known.ref() is not None:
                new._known[key] = known
                if known.storage is None:
                    new._unsorted.append(known)
                else:
                    new._sharing.setdefault(known.storage, []).append(key)
        return new

    def drop(self, tensor: Tensor) -> None:
        """Remove the information about a tensor whose data was replaced."""
        self._known.pop(id(tensor), None)

    def behind(self, tensor: Tensor) -> tuple[list[Value], list[Tensor]]:
        """Return the recorded values and the leaves from which autograd says a tensor was computed.

        This finds the inputs of unrecorded functions, such as those of TorchScript or an extension.

        Examples
        --------
        >>> tokens, x, w = Tokens(), torch.ones(3, requires_grad=True), torch.ones(3)
        >>> y = x * 2
        >>> token = tokens.give(y).token
        >>> values, leaves = tokens.behind(y.exp() + x * w)
        >>> [value.token == token for value in values], [leaf is x for leaf in leaves]
        ([True], [True])
        """
        values: dict[Hashable, Value] = {}
        leaves: dict[int, Tensor] = {}
        queue: list[Any] = [tensor.grad_fn]
        seen: set[Any] = set()
        while queue and len(seen) < MOST_NODES:
            node = queue.pop()
            if node is None or node in seen:
                continue
            seen.add(node)
            leaf = getattr(node, "variable", None)
            given = self._given.get(node._sequence_nr()) if leaf is None else None
            if leaf is not None:
                leaves[id(leaf)] = leaf
            elif given is not None:
                values[given.token] = given
            else:
                queue += [other for other, _ in reversed(node.next_functions)]
        return list(values.values()), list(leaves.values())

    def _sort(self) -> None:
        """Determine the storage of the tensors that got a token since this method last ran."""
        for known in self._unsorted:
            tensor = known.ref()
            storage = None if tensor is None else _storage_of(tensor)
            if storage is None or self._known.get(id(tensor)) is not known:
                continue
            known.storage = storage
            sharing = self._sharing.setdefault(storage, [])
            if id(tensor) not in sharing:
                if len(sharing) > 8:
                    sharing[:] = [other for other in sharing if self._lives(other, storage)]
                sharing.append(id(tensor))
        self._unsorted.clear()

    def _lives(self, key: int, storage: int) -> bool:
        known = self._known.get(key)
        return known is not None and known.storage == storage and known.ref() is not None

    def views(self, tensor: Tensor) -> Iterator[tuple[Tensor, TensorInfo]]:
        """Yield the other tensors that have tokens and share the storage of a tensor."""
        self._sort()
        tensor = _unwrapped(tensor)
        storage = _storage_of(tensor)
        for key in () if storage is None else tuple(self._sharing.get(storage, ())):
            known = self._known.get(key)
            other = known.ref() if known is not None and known.storage == storage else None
            if known is not None and other is not None and other is not tensor:
                yield other, known


def _storage_of(tensor: Tensor) -> int | None:
    """Return an integer that identifies the storage of a tensor, or None for a sparse tensor.

    Another storage may get the same integer when no tensor uses this storage any more.
    """
    try:
        return int(tensor.untyped_storage()._cdata)
    except (RuntimeError, NotImplementedError):  # sparse tensors have several, or none
        return None


def _unwrapped(tensor: Tensor) -> Tensor:
    """Return the tensor inside the wrappers of `torch.vmap` or `torch.func`, if there are any."""
    while _is_wrapped(tensor):
        tensor = torch._C._functorch.get_unwrapped(tensor)
    return tensor


def overlap(one: Tensor, other: Tensor) -> bool:
    """Return whether two views of a storage may share an element.

    Examples
    --------
    >>> x = torch.zeros(4, 2)
    >>> overlap(x, x[1]), overlap(x[0], x[1])
    (True, False)
    """
    (first, end), (other_first, other_end) = _extent(one), _extent(other)
    return first < other_end and other_first < end


def is_view_of_all(one: Tensor, other: Tensor) -> bool:
    """Return whether the tensor `one` is only a reshaped or transposed view of `other`.

    Such a view contains each element of `other` exactly once.

    Examples
    --------
    >>> x = torch.zeros(4, 2)
    >>> [is_view_of_all(one, x) for one in (x.T, x.view(8), x[1:], x[:1].expand(4, 2), x + 1)]
    [True, True, False, False, False]
    """
    if one.is_nested or one.numel() != other.numel() or one.dtype != other.dtype:
        return False
    if _storage_of(one) != _storage_of(other) or _extent(one) != _extent(other):
        return False
    first, end = _extent(one)
    is_dense = end - first == one.numel() * one.element_size()
    steps = [step for n, step in zip(one.shape, one.stride(), strict=True) if n > 1]
    return is_dense and len(set(steps)) == len(steps) and 0 not in steps


def _extent(tensor: Tensor) -> tuple[int, int]:
    """Return the positions in bytes at which a tensor begins and ends in its storage."""
    tensor = _unwrapped(tensor)
    if tensor.is_nested:
        return 0, tensor.untyped_storage().nbytes()
    size = tensor.element_size()
    first = tensor.storage_offset() * size
    if not tensor.numel():
        return first, first
    reach = sum((n - 1) * step for n, step in zip(tensor.shape, tensor.stride(), strict=True))
    return first, first + (reach + 1) * size
