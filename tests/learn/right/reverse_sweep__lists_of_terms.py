from collections import defaultdict

from keras import backend as K

from kerascope.backend.graph import applies_in_order


def gradients(loss, wrt):
    terms = defaultdict(list, {loss: [K.ones_like(loss)]})
    for apply in applies_in_order([loss])[::-1]:
        (out,) = apply.outputs
        if not terms[out]:
            continue
        sent = apply.op.grad(apply.inputs, apply.outputs, [sum(terms[out])])
        for x, term in zip(apply.inputs, sent):
            terms[x] += [] if term is None else [term]
    return [sum(terms[x]) if terms[x] else None for x in wrt]
