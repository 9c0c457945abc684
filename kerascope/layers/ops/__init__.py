"""The operations of Keras 3 (`keras.ops`), and `Operation`, the layer that holds one in a model.

Models written in the dialect of Keras 3 need them, and so do its files. Read `keras_ops` first: it
explains the table of operations. `core`, `image`, `linalg`, `nn` and `numpy` hold its further rows.
"""
