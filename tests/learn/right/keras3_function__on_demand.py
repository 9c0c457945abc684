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
    def check(tensor, seen):
        if tensor in inputs or tensor in seen:
            return
        seen.append(tensor)
        if tensor.history is None:
            raise ValueError("not connected")
        for one in tensor.history[1]:
            if isinstance(one, KerasTensor):
                check(one, seen)

    for output in outputs:
        check(output, [])

    def run(arrays):
        found = {id(x): array for x, array in zip(inputs, arrays)}

        def value(x):
            if not isinstance(x, KerasTensor):
                return x
            if id(x) not in found:
                operation, operands = x.history
                found[id(x)] = operation(*map(value, operands))
            return found[id(x)]

        return list(map(value, outputs))

    return run
