"""Load weights into another model, by layer name.

Write `take_over(model, path)`: it loads the weights from an HDF5 file into the layers of the model
whose names are in the file; the other layers keep theirs. A layer of the same name whose weights
have other shapes keeps its weights too. It returns the names of the layers whose weights were
loaded, in the order of `model.layers`.

And predict these names for two models; the first is saved, the second loads its file:

    saved   Dense(8, name="first"), Dense(8, name="second"), Dense(1, name="head")
    reads   Dense(8, name="first"), Dense(8, name="other"),  Dense(3, name="head")

The input of each is rows of 4 numbers.
"""

import h5py

taken_over = ...


def take_over(model, path):
    return ...
