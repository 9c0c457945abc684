"""What a layer of Keras 3 can that none can here: each says so, and the way round."""

from __future__ import annotations

from typing import Any, NoReturn

from kerascope.backend.state import floatx
from kerascope.errors import RefusedError
from kerascope.not_yet import out_of_scope


class OutOfScope:
    """Methods of Keras 3 that change how a layer computes; each raises RefusedError."""

    def enable_lora(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse to add weights of low rank."""
        raise RefusedError(f"{self}: enable_lora: {out_of_scope('LoRA')}", subject=self)

    def quantize(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse to quantize the weights."""
        raise RefusedError(f"{self}: quantize: {out_of_scope('int8')}", subject=self)


def checked_dtype(dtype: Any) -> Any:
    """Return a layer's type; refuse policies that mix types or quantize."""
    if isinstance(dtype, str) and dtype.startswith("mixed_"):
        raise RefusedError(f"dtype {dtype!r}: {out_of_scope('mixed precision')}")
    if isinstance(dtype, str) and "_from_" in dtype:
        raise RefusedError(f"dtype {dtype!r}: {out_of_scope('int8')}")
    return dtype or floatx()
