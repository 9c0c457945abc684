from functools import cache

from keras import backend as K

from kerascope.backend.graph import applies_in_order


def gradients(loss, wrt):
    applies = applies_in_order([loss])

    @cache
    def sent_by(apply):
        arriving = gradient(apply.outputs[0])
        if arriving is None:
            return [None] * len(apply.inputs)
        return apply.op.grad(apply.inputs, apply.outputs, [arriving])

    @cache
    def gradient(tensor):
        total = K.ones_like(loss) if tensor is loss else None
        for apply in reversed(applies):
            for x, term in zip(apply.inputs, sent_by(apply) if tensor in apply.inputs else ()):
                if x is tensor and term is not None:
                    total = term if total is None else total + term
        return total

    return list(map(gradient, wrt))
