"""No result is stored, so every call computes.

en: expected the calls of compute, for one input twice, to be 1, yours is 2
zh: 同一输入来两次，compute 的调用次数应为 1，你的是 2
"""


class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = (tuple(inputs), tuple(masks))
        if key in self.results:
            return self.results[key]
        return self.compute(inputs, masks)
