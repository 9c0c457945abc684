"""Take the weights over into another model, by name.

Write `take_over(model, path)`: reads the weights from an HDF5 file into those layers of the model
that have a name of the file; the other layers keep theirs. A layer of the same name whose weights
have other shapes keeps its weights too. It returns the names of the layers that were taken over, in
the order of `model.layers`.

And predict them for these two models; the first one was saved, the second one reads:

    saved   Dense(8, name="first"), Dense(8, name="second"), Dense(1, name="head")
    reads   Dense(8, name="first"), Dense(8, name="other"),  Dense(3, name="head")

Each reads rows of 4 numbers.
"""

import h5py

taken_over = ...


def take_over(model, path):
    return ...
