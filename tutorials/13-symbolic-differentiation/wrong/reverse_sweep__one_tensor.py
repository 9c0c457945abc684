"""Returns one tensor instead of a list.

en: expected gradients(loss, wrt) to be a list, yours is the tensor 'multiply': put it into a list, [tensor]
zh: gradients(loss, wrt) 应是列表，你的是张量 'multiply'：请把它放进列表，[tensor]
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
                grads[x] = grads[x] + term if x in grads else term
    return grads.get(wrt[0])
