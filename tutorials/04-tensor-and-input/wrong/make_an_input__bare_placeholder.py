"""Returns a placeholder that no layer made.

en: expected the tensor to have a _keras_history, yours has none: no layer made it
zh: 张量应有 _keras_history，你的没有：它背后没有层
"""

from keras import backend as K


def make_input(shape, name):
    return K.placeholder(shape=(None, *shape), name=name)
