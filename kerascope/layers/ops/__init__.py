"""The operations of Keras 3 (`keras.ops`), and `Operation`, the layer for an operation in a model.

Models and files of Keras 3 use these operations. Read `keras_ops` first: it explains the table of
operations. `core`, `image`, `linalg`, `nn` and `numpy` contain further rows of this table.
"""
