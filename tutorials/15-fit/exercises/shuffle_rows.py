"""In which order does an epoch use the rows?

Write `order_of_rows(samples, batch_size, shuffle, random)`. It is called once at the beginning of
each epoch, and returns an array of the numbers 0 to samples - 1, each once. fit cuts it into
batches, starting at the front.

- shuffle is False: in order.
- shuffle is True: all rows are mixed.
- shuffle is "batch": whole batches change places. Rows of one batch stay together and in order, and
  a smaller last batch stays last.

`random` is a generator of NumPy, np.random.default_rng(...): it has random.permutation(array).
"""

import numpy as np


def order_of_rows(samples, batch_size, shuffle, random):
    return ...
