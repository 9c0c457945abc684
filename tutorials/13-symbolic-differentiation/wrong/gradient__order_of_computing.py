"""The sweep begins at the inputs.

en: expected d sum(x * x) / d x for x = [1, 2] to be a Tensor of your engine, yours is None
zh: x = [1, 2] 时的 d sum(x * x) / d x 应是你的引擎里的 Tensor，你的是 None
"""

from my_engine.graph import applies_in_order, ones_like


def gradients(loss, wrt):
    grads = {loss: ones_like(loss)}
    for apply in applies_in_order([loss]):
        arriving = grads.get(apply.outputs[0])
        if arriving is None:
            continue
        terms = apply.op.grad(apply.inputs, apply.outputs, [arriving])
        for x, term in zip(apply.inputs, terms, strict=True):
            if term is not None:
                grads[x] = grads[x] + term if x in grads else term
    return [grads.get(x) for x in wrt]
