"""`keras.legacy.interfaces` of Keras 2: decorators for the words of Keras 1.

There `@interfaces.legacy_get_updates_support`, above a method of an own optimizer or layer, lets it
be called with old arguments too. Here only today's reach it: what our classes are given in old ones
they translate by themselves. So each decorator returns the function as it is.
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
    """Return a function as it is."""
    return function


globals().update({f"legacy_{name}_support": _as_it_is for name in _NAMES.split()})
