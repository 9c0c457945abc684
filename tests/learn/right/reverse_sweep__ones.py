from keras import backend as K

from kerascope.backend.graph import applies_in_order


def add(one, other):
    if one is None:
        return other
    return one if other is None else one + other


def gradients(loss, wrt):
    grads = {loss: K.cast(K.constant(1.0), loss.dtype)}
    order = list(applies_in_order([loss]))
    while order:
        apply = order.pop()
        arriving = grads.get(apply.outputs[0], None)
        if arriving is not None:
            terms = apply.op.grad(apply.inputs, apply.outputs, [arriving])
            for place in range(len(terms)):
                x = apply.inputs[place]
                grads[x] = add(grads.get(x), terms[place])
    return tuple(grads.get(x) for x in wrt)
