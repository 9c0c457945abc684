"""`keras.dtype_policies` and `keras.mixed_precision`: the type in which a layer computes.

All here is computed in the type of the weights, so a policy says one type, and is its name: where a
layer takes `dtype="float64"` it takes `DTypePolicy("float64")`. That of all new layers is floatx.
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
    """The type of a layer's weights, and of what it computes.

    Parameters
    ----------
    name : str, optional
        "float32", "float64", ...; default `K.floatx()`.

    Raises
    ------
    RefusedError
        It mixes types.
    DtypeError
        It is no type of numbers.

    Examples
    --------
    >>> DTypePolicy("float64").compute_dtype
    'float64'
    """

    __slots__ = ()

    quantization_mode = None

    def __new__(cls, name: str | None = None) -> DTypePolicy:
        """Check the name."""
        if isinstance(name, str) and name.startswith(("mixed_", "bfloat16")):
            raise RefusedError(f"DTypePolicy({name!r}): {out_of_scope('mixed precision')}")
        return super().__new__(cls, standardize_dtype(name))

    @property
    def name(self) -> str:
        """Name of the type."""
        return str(self)

    compute_dtype = variable_dtype = name

    def __repr__(self) -> str:
        return f'<DTypePolicy "{self}">'

    def get_config(self) -> dict[str, str]:
        """Return the constructor's arguments, ready for JSON."""
        return {"name": self.name}

    @classmethod
    def from_config(cls, config: dict[str, str]) -> DTypePolicy:
        """Return the policy of a configuration."""
        return cls(**config)


Policy = FloatDTypePolicy = DTypePolicy


def dtype_policy() -> DTypePolicy:
    """Return the policy of new layers, which is that of `K.floatx()`."""
    return DTypePolicy()


def set_dtype_policy(policy: Any) -> None:
    """Accept the policy of `K.floatx()`, which new layers have already.

    Raises
    ------
    RefusedError
        It is another one.
    """
    wanted = get(policy)
    if wanted != K.floatx():
        raise RefusedError(
            f"set_dtype_policy({wanted.name!r}): new layers have floatx, {K.floatx()!r}. Say "
            f"keras.config.set_floatx({wanted.name!r}), or give layers their dtype."
        )


global_policy, set_global_policy = dtype_policy, set_dtype_policy


def get(identifier: Any) -> DTypePolicy:
    """Return the policy that a name, a policy or its configuration says; of None, that of now.

    Raises
    ------
    ArgumentError
        It is something else.
    """
    if isinstance(identifier, dict):
        return deserialize(identifier)
    if not isinstance(identifier, (str, type(None))):
        raise ArgumentError(f"dtype policy: got {identifier!r}; expected a name or a DTypePolicy.")
    return DTypePolicy(identifier)


def serialize(dtype_policy: DTypePolicy) -> dict[str, Any]:
    """Return a policy as files of Keras 3 have it."""
    named = {"module": "keras", "class_name": "DTypePolicy", "registered_name": None}
    return {**named, "config": dtype_policy.get_config()}


def deserialize(config: Any, custom_objects: Any = None) -> DTypePolicy:
    """Return the policy that `serialize` wrote.

    Raises
    ------
    ArgumentError
        It is a policy of another kind.
    """
    if isinstance(config, dict):
        if config.get("class_name") not in ("DTypePolicy", "FloatDTypePolicy"):
            raise ArgumentError(
                f"dtype policy: class {config.get('class_name')!r}; expected 'DTypePolicy'."
            )
        return DTypePolicy.from_config(config["config"])
    return get(config)
