"""`keras.dtype_policies` and `keras.mixed_precision`: the dtype in which a layer computes.

Layers always compute in the dtype of their weights, so a policy has one dtype and is a string: the
argument `dtype` of a layer accepts "float64" and `DTypePolicy("float64")`. The default is floatx.
"""

from __future__ import annotations

from typing import Any

from kerascope import backend as K
from kerascope.backend.keras_names import standardize_dtype
from kerascope.errors import ArgumentError, RefusedError
from kerascope.missing_names import out_of_scope

__all__ = [
    "DTypePolicy",
    "FloatDTypePolicy",
    "Policy",
    "deserialize",
    "dtype_policy",
    "get",
    "global_policy",
    "serialize",
    "set_dtype_policy",
    "set_global_policy",
]


class DTypePolicy(str):
    """The dtype of a layer's weights and outputs.

    Parameters
    ----------
    name : str, optional
        "float32", "float64", ...; default `K.floatx()`.

    Raises
    ------
    RefusedError
        The policy is for mixed precision.
    DtypeError
        The name is not a numeric dtype.

    Examples
    --------
    >>> DTypePolicy("float64").compute_dtype
    'float64'
    """

    __slots__ = ()

    quantization_mode = None

    def __new__(cls, name: str | None = None) -> DTypePolicy:
        """Create a policy; raise if the name is not a dtype."""
        if isinstance(name, str) and name.startswith(("mixed_", "bfloat16")):
            raise RefusedError(f"DTypePolicy({name!r}): {out_of_scope('mixed precision')}")
        return super().__new__(cls, standardize_dtype(name))

    @property
    def name(self) -> str:
        """Name of the dtype."""
        return str(self)

    compute_dtype = variable_dtype = name

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self}">'

    def get_config(self) -> dict[str, str]:
        """Return the constructor's arguments, ready for JSON."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, str]) -> DTypePolicy:
        """Create a policy from the dict that `get_config` returned."""
        return cls(**config)


Policy = FloatDTypePolicy = DTypePolicy


def dtype_policy() -> DTypePolicy:
    """Return the policy of new layers, which always has the dtype `K.floatx()`."""
    return DTypePolicy()


def set_dtype_policy(policy: Any) -> None:
    """Do nothing if the policy has the dtype `K.floatx()`, which new layers already use.

    Raises
    ------
    RefusedError
        The policy has another dtype.
    """
    wanted = get(policy)
    if wanted != K.floatx():
        raise RefusedError(
            f"set_dtype_policy({wanted.name!r}): new layers use floatx, {K.floatx()!r}. Call "
            f"keras.config.set_floatx({wanted.name!r}), or give layers their dtype."
        )


global_policy, set_global_policy = dtype_policy, set_dtype_policy


def get(identifier: Any) -> DTypePolicy:
    """Return the policy for a name, a policy or its configuration; for None, the current policy.

    Raises
    ------
    ArgumentError
        The identifier has another type.
    """
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if not isinstance(identifier, (str, type(None))):
        raise ArgumentError(f"dtype policy: expected a name or a DTypePolicy, got {identifier!r}.")
    return DTypePolicy(identifier)


def serialize(dtype_policy: DTypePolicy) -> dict[str, Any]:
    """Return a policy as the dict that Keras 3 writes into files."""
    named = {"module": "keras", "class_name": "DTypePolicy", "registered_name": None}
    return {**named, "config": dtype_policy.get_config()}


def deserialize(config: Any, custom_objects: Any = None) -> DTypePolicy:
    """Return the policy from the dict that `serialize` returned.

    Raises
    ------
    ArgumentError
        The policy has another class.
    """
    if isinstance(config, dict):
        if config.get("class_name") not in ("DTypePolicy", "FloatDTypePolicy"):
            raise ArgumentError(
                f"dtype policy: expected class 'DTypePolicy', got {config.get('class_name')!r}."
            )
        return DTypePolicy.from_config(config["config"])
    return get(config)
