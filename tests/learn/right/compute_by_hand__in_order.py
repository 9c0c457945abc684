from keras import backend as K

from kerascope.backend.graph import applies_in_order


def compute(y, feed):
    known = {}

    def value(t):
        for place in (feed, known):
            if t in place:
                return place[t]
        return K.get_value(t) if K.is_variable(t) else t.value

    for apply in applies_in_order([y]):
        known[apply.outputs[0]] = apply.op.perform(*map(value, apply.inputs))
    return value(y)
