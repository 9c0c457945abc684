"""The arrays are written into the feed argument.

en: expected compute(...) not to change its arguments, yours has changed {p: array([3., 4.], dtype=float32)} into {p: array([3., 4.], dtype=float32), v: array([10., 20.], dtype=float32)}; make a copy first
zh: compute(...) 不应改动交给它的东西，你的把 {p: array([3., 4.], dtype=float32)} 改成了 {p: array([3., 4.], dtype=float32), v: array([10., 20.], dtype=float32)}；请先复制一份
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
