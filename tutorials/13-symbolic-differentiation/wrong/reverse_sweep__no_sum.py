"""The last term replaces the others instead of being added.

en: expected d loss / d x, where x ** 2 is used three times, to be -1.48551, yours is 12
zh: d loss / d x（其中 x ** 2 用了三次）应为 -1.48551，你的是 12
"""

from keras import backend as K

from kerascope.backend.graph import applies_in_order


def gradients(loss, wrt):
    grads = {loss: K.ones_like(loss)}
    for apply in reversed(applies_in_order([loss])):
        arriving = grads.get(apply.outputs[0])
        if arriving is None:
            continue
        terms = apply.op.grad(apply.inputs, apply.outputs, [arriving])
        for x, term in zip(apply.inputs, terms, strict=True):
            if term is not None:
                grads[x] = term
    return [grads.get(x) for x in wrt]
