"""Makes a model and calls its count_params.

en: expected parameters to do the work itself, yours calls Layer
zh: parameters 应自己完成，你的把它交给了 Layer
"""

from keras.layers import Dense, Input
from keras.models import Model


def parameters(sizes):
    x = y = Input(shape=(sizes[0],))
    for units in sizes[1:]:
        y = Dense(units)(y)
    return Model(x, y).count_params()
