"""Nothing is stored, so a shared op is performed again for each use.

en: expected the op at the bottom of ((p + 1)^2)^2... to be performed once in one call, yours performs it 8 times
zh: 在一次调用中，((p + 1)^2)^2... 最底下的运算应只执行 1 次，你的执行了 8 次
"""

from keras import backend as K


def compute(y, feed):
    if y in feed:
        return feed[y]
    if K.is_variable(y):
        return K.get_value(y)
    if y.owner is None:
        return y.value
    return y.owner.op.perform(*[compute(x, feed) for x in y.owner.inputs])
