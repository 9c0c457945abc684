"""K.function does the work.

en: expected compute to do the work by hand, yours leaves it to a function called 'function'
zh: compute 应亲手计算，你的把它交给了名叫 'function' 的函数
"""

from keras import backend as K


def compute(y, feed):
    return K.function(list(feed), [y])(list(feed.values()))[0]
