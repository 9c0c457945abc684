"""Send a gradient back through an attention head.

`weights` (batch, queries, keys) are those that the head of the exercise before has computed; where
the mask is False they are 0. `arriving` is the gradient that arrives at its results, d loss / d
results. Write `attend_back`: it returns the three gradients for query, key and value. Go backward:
the results are `weights @ value`, the weights are the softmax of the scores (chapter 13), and the
scores are products of query and key, divided by the root of d.
"""

import numpy as np


def attend_back(query, key, value, weights, arriving):
    to_query = ...
    to_key = ...
    to_value = ...
    return to_query, to_key, to_value
