"""Cut the arrays into batches.

`make_batches(size, batch_size)`: a list of pairs (start, end), one for each batch. The last batch
takes the remaining rows, and may be smaller than the others.

`slice_batch(ins, rows)`: the inputs of the function for one batch. `ins` is a list of arrays, all
with the same number of rows: x, y and sample weights, more of them if a model has two inputs, x
alone for predicting. `rows` is an array of numbers of rows, in any order. If the last element of
`ins` is a float, 1.0 or 0.0, it is the flag of the learning phase and is not cut.
"""


def make_batches(size, batch_size):
    return ...


def slice_batch(ins, rows):
    return ...
