"""The operations of Keras 3, `keras.ops`, and the layer that each of them is in a model.

Read `keras_ops` first: it says what a row of the table is. The other files have further rows, the
layer `Operation`, and how operations are called and written.
"""
