"""`import keras` without Keras: paths and names of all Keras versions, found in kerascope.

`paths` is the table of modules. `finder` resolves imports and creates the modules that a script
gets, such as `keras.layers`, which are `StandIn` objects. `top_level` and the `keras_*` files
contain names that only Keras 3 has.
"""

from kerascope.compat.finder import keras_imports, keras_imports_for_good

__all__ = ["keras_imports", "keras_imports_for_good"]
