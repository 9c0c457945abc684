"""Arrays are stored under the names of their tensors.

en: expected compute(p - q, {p: 1, q: 2}), both with the same name, to be -1, yours is 0
zh: 同名的 p 与 q，compute(p - q, {p: 1, q: 2}) 应为 -1，你的是 0
"""

from keras import backend as K


def compute(y, feed):
    known = {t.name: array for t, array in feed.items()}

    def array_of(t):
        if t.name not in known:
            if K.is_variable(t):
                known[t.name] = K.get_value(t)
            elif t.owner is None:
                known[t.name] = t.value
            else:
                known[t.name] = t.owner.op.perform(*[array_of(x) for x in t.owner.inputs])
        return known[t.name]

    return array_of(y)
