"""The dictionary is made once, so a second run finds what the first one left.

en: expected output 0 of function([x0, x1, x2], [add(double(x1), double(subtract1(x2, x2))), add(double(x1), subtract(double(subtract1(x2, x2)), x1))]) in a second run on other arrays, at [0], to be 42, yours is 40
zh: 换了数组再运行一次，function([x0, x1, x2], [add(double(x1), double(subtract1(x2, x2))), add(double(x1), subtract(double(subtract1(x2, x2)), x1))]) 的第 0 个输出，[0] 处应为 42，你的是 40
"""


class KerasTensor:
    def __init__(self, shape, history=None):
        self.shape, self.history = shape, history


class Operation:
    def __call__(self, *operands):
        if any(isinstance(x, KerasTensor) for x in operands):
            return self.symbolic_call(*operands)
        return self.call(*operands)

    def symbolic_call(self, *operands):
        return KerasTensor(self.compute_output_shape(*operands), history=(self, operands))


def function(inputs, outputs):
    order, known = [], set(inputs)

    def visit(tensor):
        if not isinstance(tensor, KerasTensor) or tensor in known:
            return
        if tensor.history is None:
            raise ValueError("an output is not connected to the inputs")
        known.add(tensor)
        for operand in tensor.history[1]:
            visit(operand)
        order.append(tensor)

    for tensor in outputs:
        visit(tensor)

    tensor_dict = {}

    def run(arrays):
        tensor_dict.update(zip(inputs, arrays, strict=True))
        for tensor in order:
            if tensor in tensor_dict:
                continue
            operation, operands = tensor.history
            given = [tensor_dict[x] if isinstance(x, KerasTensor) else x for x in operands]
            tensor_dict[tensor] = operation(*given)
        return [tensor_dict[tensor] for tensor in outputs]

    return run
