"""A value that was computed once is never computed again.

en: expected compute(v ** 2, {}) after K.set_value(v, 3.0) to be 9, yours is 4
zh: K.set_value(v, 3.0) 之后的 compute(v ** 2, {}) 应为 9，你的是 4
"""

from keras import backend as K

known = {}


def compute(y, feed):
    known.update(feed)

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
