"""The symbolic reverse sweep: from a loss to its derivatives, which are a graph again."""

from my_engine.graph import applies_in_order, ones_like


def gradients(loss, wrt):
    users = {}
    for apply in applies_in_order([loss]):
        for place, x in enumerate(apply.inputs):
            users.setdefault(x, []).append((apply, place))
    memory = {}

    def gradient_of(x):
        if x not in memory:
            terms = [ones_like(loss)] if x is loss else []
            terms += [term for use in users.get(x, []) if (term := term_of(*use)) is not None]
            memory[x] = sum(terms[1:], start=terms[0]) if terms else None
        return memory[x]

    sent = {}

    def term_of(apply, place):
        arriving = gradient_of(apply.outputs[0])
        if arriving is None:
            return None
        if apply not in sent:
            sent[apply] = apply.op.grad(apply.inputs, apply.outputs, [arriving])
        return sent[apply][place]

    return [gradient_of(x) for x in wrt]
