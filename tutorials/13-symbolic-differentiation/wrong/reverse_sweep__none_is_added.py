"""A term that is None is added too.

en: gradients(...) stopped at line 20 with DtypeError: tensor: expected a tensor, an array or a number, got None, of type NoneType, which cannot become float64. (stop_gradient sends None to its input: there is nothing to add)
zh: gradients(...) 中途出错（第 20 行）：DtypeError: tensor: expected a tensor, an array or a number, got None, of type NoneType, which cannot become float64.（stop_gradient 送给输入的是 None：没有什么可加）
"""

from keras import backend as K

from kerascope.backend.graph import applies_in_order


def gradients(loss, wrt):
    grads = {loss: K.ones_like(loss)}
    for apply in reversed(applies_in_order([loss])):
        arriving = grads.get(apply.outputs[0])
        if arriving is None:
            continue
        terms = apply.op.grad(apply.inputs, apply.outputs, [arriving])
        for x, term in zip(apply.inputs, terms, strict=True):
            grads[x] = grads[x] + term if x in grads else term
    return [grads.get(x) for x in wrt]
