"""Sparse input: matrices that are almost all zeros, as `scipy.sparse` holds them.

There is no sparse arithmetic here. A tensor that is called sparse may be *fed* with a matrix of
SciPy, which becomes a plain array at the door of a function. So a data set stays small in memory
and only the batch that is trained on is ever dense. SciPy itself is not needed for it: such a
matrix is known by its method `toarray`.
"""

from __future__ import annotations

from typing import Any

from kerascope.backend.graph import Placeholder, Tensor, as_tensor
from kerascope.backend.ops.elementwise import identity
from kerascope.backend.ops.joining import Concatenate
from kerascope.backend.variables import Variable
from kerascope.errors import DtypeError

__all__ = ["is_sparse", "to_dense"]


class SparsePlaceholder(Placeholder):
    """A placeholder that may be fed with a matrix of `scipy.sparse`."""

    __slots__ = ()


class SparseVariable(Variable):
    """A variable that was made from a matrix of `scipy.sparse`; it holds all numbers."""

    __slots__ = ()


def is_sparse_matrix(value: Any) -> bool:
    """Tell whether something is a matrix of `scipy.sparse`."""
    return hasattr(value, "toarray") and hasattr(value, "nnz")


def fed_array(value: Any, tensor: Tensor) -> Any:
    """Return what is fed to a tensor, a sparse matrix as an array.

    Raises
    ------
    DtypeError
        A sparse matrix came for a tensor that is not sparse.
    """
    if not is_sparse_matrix(value):
        return value
    if not is_sparse(tensor):
        raise DtypeError(
            f"input '{tensor.name}': a sparse matrix of shape {value.shape} came, and the input is "
            f"dense. Make it with Input(..., sparse=True), or feed x.toarray().",
            subject=tensor,
        )
    return value.toarray()


def is_sparse(tensor: Any) -> bool:
    """Tell whether a tensor is sparse: made so, or joined from tensors that all are.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder((None, 1000), sparse=True)
    >>> K.is_sparse(x), K.is_sparse(K.concatenate([x, x])), K.is_sparse(K.dot(x, K.ones((1000, 2))))
    (True, True, False)
    """
    if isinstance(tensor, (SparsePlaceholder, SparseVariable)):
        return True
    owner = getattr(tensor, "owner", None)
    return (
        owner is not None
        and isinstance(owner.op, Concatenate)
        and all(is_sparse(x) for x in owner.inputs)
    )


def to_dense(tensor: Any) -> Tensor:
    """Return a sparse tensor as one that is not; a dense one is returned as it is."""
    tensor = as_tensor(tensor)
    return identity(tensor) if is_sparse(tensor) else tensor
