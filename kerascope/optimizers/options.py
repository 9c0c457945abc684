"""Arguments of Keras 3's optimizers for features that are not here: they may be given as off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kerascope.errors import RefusedError

# The values that turn each of them off.
_OFF: dict[str, tuple[Any, ...]] = {
    "use_ema": (False, None),
    "ema_momentum": (0.99, None),
    "ema_overwrite_frequency": (None,),
    "loss_scale_factor": (None,),
    "gradient_accumulation_steps": (None, 1),
    "jit_compile": (True, False, "auto", None),
    "centered": (False,),
}


def without_neutral(where: str, own: Sequence[str], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments without those of features that are off.

    Parameters
    ----------
    where : str
        The optimizer.
    own : sequence of str
        Arguments that it has itself.
    kwargs : dict

    Raises
    ------
    RefusedError
        A feature is on.

    Examples
    --------
    >>> without_neutral("Adam", [], {"use_ema": False, "clipnorm": 1.0})
    {'clipnorm': 1.0}
    """
    for name, off in _OFF.items():
        if name in kwargs and name not in own and kwargs[name] not in off:
            raise RefusedError(
                f"{where}: {name}={kwargs[name]!r} of Keras 3 does not exist here. Leave it out."
            )
    return {name: value for name, value in kwargs.items() if name in own or name not in _OFF}
