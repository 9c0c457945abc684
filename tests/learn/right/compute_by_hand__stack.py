from keras import backend as K


def compute(y, feed):
    arrays = {}
    waiting = [y]
    while waiting:
        t = waiting[-1]
        if t in arrays:
            waiting.pop()
        elif t in feed:
            arrays[t] = feed[t]
        elif K.is_variable(t):
            arrays[t] = K.get_value(t)
        elif t.owner is None:
            arrays[t] = t.value
        else:
            missing = [x for x in t.owner.inputs if x not in arrays]
            if missing:
                waiting += missing
            else:
                arrays[t] = t.owner.op.perform(*(arrays[x] for x in t.owner.inputs))
    return arrays[y]
