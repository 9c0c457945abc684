"""Write one attention head in NumPy.

`attend(query, key, value, mask)` returns the results and the weights. The arrays have the shapes

    query (batch, queries, d)    key (batch, keys, d)    value (batch, keys, features)
    mask (batch, queries, keys)  True where a query may look at a key

Each score is the product of a query and a key, divided by the square root of d. The weights of a
query are the softmax of its scores over the keys that it may look at, and 0 elsewhere. Its result
is the mean of the values with these weights. A query that may look at nothing gets the weights 0
and the result 0. Scores may be in the thousands: no weight may become NaN.
"""

import numpy as np


def attend(query, key, value, mask):
    return ..., ...
