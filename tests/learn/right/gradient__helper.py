"""The symbolic reverse sweep: from a loss to its derivatives, which are a graph again."""

from my_engine.graph import applies_in_order, ones_like


def gradients(loss, wrt):
    arrived = {loss: ones_like(loss)}
    for apply in applies_in_order([loss])[::-1]:
        g = arrived.get(apply.outputs[0])
        if g is not None:
            send(arrived, apply, g)
    return list(map(arrived.get, wrt))


def send(arrived, apply, g):
    for x, term in zip(apply.inputs, apply.op.grad(apply.inputs, apply.outputs, [g]), strict=True):
        if term is None:
            continue
        try:
            arrived[x] = arrived[x] + term
        except KeyError:
            arrived[x] = term
