"""Sparse inputs: matrices of `scipy.sparse`, which contain almost only zeros.

This module does not compute with sparse matrices. A sparse placeholder accepts a matrix of SciPy,
which a function converts to an ordinary array when it is called. So a data set stays small in
memory, and only the current batch is dense. SciPy need not be installed, because sparse matrices
are recognized by their method `toarray`.
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
    """A placeholder that accepts a matrix of `scipy.sparse`."""

    __slots__ = ()


class SparseVariable(Variable):
    """A variable made from a matrix of `scipy.sparse`; its value is a dense array."""

    __slots__ = ()


def is_sparse_matrix(value: Any) -> bool:
    """Return whether a value is a matrix of `scipy.sparse`."""
    return hasattr(value, "toarray") and hasattr(value, "nnz")


def fed_array(value: Any, tensor: Tensor) -> Any:
    """Return the value fed to a tensor; a sparse matrix is converted to an array.

    Raises
    ------
    DtypeError
        The value is sparse and the tensor is not.
    """
    if not is_sparse_matrix(value):
        return value
    if not is_sparse(tensor):
        raise DtypeError(
            f"input '{tensor.name}': expected a dense array, got a sparse matrix of shape "
            f"{value.shape}. Use Input(..., sparse=True), or feed x.toarray().",
            subject=tensor,
        )
    return value.toarray()


def is_sparse(tensor: Any) -> bool:
    """Return whether a tensor is a sparse placeholder or variable, or a concatenation of these.

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
    """Return a dense tensor with the value of a sparse one; return a dense tensor unchanged."""
    tensor = as_tensor(tensor)
    return identity(tensor) if is_sparse(tensor) else tensor
