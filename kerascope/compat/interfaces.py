"""`keras.legacy.interfaces` of Keras 2: decorators for the arguments of Keras 1.

In Keras 2, `@interfaces.legacy_get_updates_support` on a method of a custom optimizer or layer also
accepts the argument names of Keras 1. In kerascope the base classes translate old arguments
before they call the method. So each decorator returns the function unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_NAMES = """
    add_weight batchnorm conv1d conv2d conv3d convlstm2d cropping2d cropping3d deconv2d dense
    dropout embedding gaussiandropout gaussiannoise generator_methods get_updates global_pooling
    input lambda model_constructor pooling1d pooling2d pooling3d prelu recurrent separable_conv2d
    spatialdropout1d spatialdropoutNd upsampling1d upsampling2d upsampling3d zeropadding2d
    zeropadding3d
"""

_Function = TypeVar("_Function", bound=Callable[..., object])


def _as_it_is(function: _Function) -> _Function:
    """Return the decorated function unchanged."""
    return function


globals().update({f"legacy_{name}_support": _as_it_is for name in _NAMES.split()})
