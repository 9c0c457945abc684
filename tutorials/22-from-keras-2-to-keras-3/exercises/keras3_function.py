"""Write Keras 3's Function: run a graph of Operations on arrays.

The two classes are those of the chapter. A tensor that came out of a call has
`history = (operation, operands)`; the operands are tensors, or arrays, which stay as they are.

`function(inputs, outputs)` takes two lists of tensors and returns a function: called on a list of
arrays, one for each input, it returns the list of the outputs' arrays. It may begin in the middle
of a graph: what lies before an input is not needed. Each call between inputs and outputs is made
once in each run, however often its result is used; other calls are not made. If an output needs a
tensor that no input gives, `function` itself raises a ValueError, before anything is run.

In `order` you can keep the tensors to compute, each after those that it needs.
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
    order = []
    ...

    def run(arrays):
        tensor_dict = dict(zip(inputs, arrays, strict=True))
        return ...

    return run
