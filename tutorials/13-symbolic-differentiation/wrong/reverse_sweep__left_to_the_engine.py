"""Calls the engine's own sweep.

en: expected gradients to do the sweep itself, yours leaves it to K.gradients
zh: gradients 应自己完成反向扫描，你的把它交给了 K.gradients
"""

from keras import backend as K


def gradients(loss, wrt):
    return K.gradients(loss, wrt)
