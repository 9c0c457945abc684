"""The ops are visited in the order of computing.

en: ops asked for their gradient: expected number 2 to be 'square', yours has none
zh: 依次被询问梯度的运算：第 2 个应为 'square'，你的没有
"""

from keras import backend as K

from kerascope.backend.graph import applies_in_order


def gradients(loss, wrt):
    grads = {loss: K.ones_like(loss)}
    for apply in applies_in_order([loss]):
        arriving = grads.get(apply.outputs[0])
        if arriving is None:
            continue
        terms = apply.op.grad(apply.inputs, apply.outputs, [arriving])
        for x, term in zip(apply.inputs, terms, strict=True):
            if term is not None:
                grads[x] = grads[x] + term if x in grads else term
    return [grads.get(x) for x in wrt]
