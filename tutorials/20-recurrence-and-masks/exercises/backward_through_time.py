"""Go backward through time, through a recurrent layer with a mask.

Forward, the layer computes for t = 0, 1, 2, ...

    new = tanh(x[:, t] @ kernel + state @ recurrent)
    state = new where mask[:, t] is True, otherwise unchanged

    x         (batch, time, features)
    mask      bools (batch, time)
    states    (batch, time + 1, units): states[:, t] is the state before step t,
              and states[:, -1] the one after the last step
    arriving  d loss / d states[:, -1], (batch, units)

The slope of tanh is 1 - tanh ** 2. Write `backward(x, mask, states, kernel, recurrent, arriving)`.
It returns three arrays: d loss / d x, d loss / d kernel and d loss / d recurrent, with the shapes
of x, kernel and recurrent. K.gradients is not allowed here.
"""

import numpy as np


def backward(x, mask, states, kernel, recurrent, arriving):
    to_x = ...
    to_kernel = ...
    to_recurrent = ...
    return to_x, to_kernel, to_recurrent
