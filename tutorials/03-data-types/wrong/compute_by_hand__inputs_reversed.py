"""The arrays of the inputs are in the wrong order.

en: expected compute(v - p, {p: [3, 4]})[0] to be 7, yours is -7
zh: compute(v - p, {p: [3, 4]})[0] 应为 7，你的是 -7
"""

from keras import backend as K


def compute(y, feed):
    known = dict(feed)

    def array_of(t):
        if t not in known:
            if K.is_variable(t):
                known[t] = K.get_value(t)
            elif t.owner is None:
                known[t] = t.value
            else:
                known[t] = t.owner.op.perform(*[array_of(x) for x in reversed(t.owner.inputs)])
        return known[t]

    return array_of(y)
