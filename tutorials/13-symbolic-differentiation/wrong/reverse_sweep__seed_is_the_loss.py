"""The sweep starts with the loss itself instead of 1.

en: expected d loss / d x to be -5.65356, yours is -4.39889
zh: d loss / d x 应为 -5.65356，你的是 -4.39889
"""

from kerascope.backend.graph import applies_in_order


def gradients(loss, wrt):
    grads = {loss: loss}
    for apply in reversed(applies_in_order([loss])):
        arriving = grads.get(apply.outputs[0])
        if arriving is None:
            continue
        terms = apply.op.grad(apply.inputs, apply.outputs, [arriving])
        for x, term in zip(apply.inputs, terms, strict=True):
            if term is not None:
                grads[x] = grads[x] + term if x in grads else term
    return [grads.get(x) for x in wrt]
