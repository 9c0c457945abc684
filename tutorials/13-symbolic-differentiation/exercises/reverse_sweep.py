"""Write the reverse sweep: from a loss back to all tensors that it depends on.

`grads` holds d loss / d tensor for each tensor that has been reached. It starts with the loss
itself. Each op is visited after every op that uses its output: only then has all of its gradient
arrived. At each op, `grad` returns the gradient for each input, a tensor or None.
A tensor that is used twice receives two terms, and their sum is its gradient.

applies_in_order([loss]) gives the calls of ops in the order of computing. Every op here has one
output. Fill in the missing parts.
"""

from keras import backend as K

from kerascope.backend.graph import applies_in_order


def gradients(loss, wrt):
    grads = {loss: ...}
    for apply in ...:
        arriving = grads.get(apply.outputs[0])
        if arriving is None:
            continue
        terms = apply.op.grad(apply.inputs, apply.outputs, [arriving])
        for x, term in zip(apply.inputs, terms, strict=True):
            ...
    return [grads.get(x) for x in wrt]
