"""The arrays are noted in the feed that came.

en: expected the size of feed after a call of compute(p + v, feed) to be 1, yours is 3
zh: 调用 compute(p + v, feed) 之后，feed 的大小应为 1，你的是 3
"""

from keras import backend as K


def compute(y, feed):
    known = feed

    def array_of(t):
        if t not in known:
            if K.is_variable(t):
                known[t] = K.get_value(t)
            elif t.owner is None:
                known[t] = t.value
            else:
                known[t] = t.owner.op.perform(*[array_of(x) for x in t.owner.inputs])
        return known[t]

    return array_of(y)
