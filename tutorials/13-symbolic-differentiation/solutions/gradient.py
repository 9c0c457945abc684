"""The symbolic reverse sweep: from a loss to its derivatives, which are a graph again."""

from my_engine.graph import applies_in_order, ones_like


def gradients(loss, wrt):
    grads = {loss: ones_like(loss)}
    for apply in reversed(applies_in_order([loss])):
        arriving = grads.get(apply.outputs[0])
        if arriving is None:
            continue
        terms = apply.op.grad(apply.inputs, apply.outputs, [arriving])
        for x, term in zip(apply.inputs, terms, strict=True):
            if term is not None:
                grads[x] = grads[x] + term if x in grads else term
    return [grads.get(x) for x in wrt]
