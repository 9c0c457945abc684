"""`import keras` without Keras: paths and names of all Keras versions, resolved from our modules.

`paths` is the table of modules, `finder` answers imports and makes the `StandIn` that a script gets
as `keras.layers`; `top_level` and the `keras_*` files hold names that only Keras 3 has.
"""

from kerascope.compat.finder import keras_imports, keras_imports_for_good

__all__ = ["keras_imports", "keras_imports_for_good"]
