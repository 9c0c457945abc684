"""An empty result is taken for a missing one.

en: expected the calls of compute, which returns [], for one input twice, to be 1, yours is 2
zh: 同一输入来两次，compute 返回 [] 时的调用次数应为 1，你的是 2
"""


class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = (tuple(inputs), tuple(masks))
        if not self.results.get(key):
            self.results[key] = self.compute(inputs, masks)
        return self.results[key]
