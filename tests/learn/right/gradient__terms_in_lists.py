"""The symbolic reverse sweep: from a loss to its derivatives, which are a graph again."""

from collections import defaultdict

from my_engine.graph import applies_in_order, ones_like


def gradients(loss, wrt):
    terms_of = defaultdict(list, {loss: [ones_like(loss)]})
    grads = {}
    for x, make_terms in steps(loss):
        if x in terms_of:
            grads[x] = total(terms_of.pop(x))
            for tensor, term in make_terms(grads[x]):
                terms_of[tensor].append(term)
    for x, terms in terms_of.items():
        grads[x] = total(terms)
    return [grads.get(x) for x in wrt]


def steps(loss):
    for apply in reversed(applies_in_order([loss])):
        yield apply.outputs[0], lambda g, a=apply: terms_from(a, g)


def terms_from(apply, g):
    pairs = zip(apply.inputs, apply.op.grad(apply.inputs, apply.outputs, [g]), strict=True)
    return [(x, term) for x, term in pairs if term is not None]


def total(terms):
    return sum(terms[1:], start=terms[0])
