from kerascope.backend.graph import Op


class Mul(Op):
    def infer_shape(self, x, y):
        return x.shape

    def perform(self, x, y):
        return x * y

    def grad(self, inputs, outputs, output_grads):
        x, y = inputs
        terms = []
        terms.append(output_grads[0] * y)
        terms.append(output_grads[0] * x)
        return terms
