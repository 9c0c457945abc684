"""Only the last result is kept.

en: expected the calls of compute, for a, b, a and b, to be 2, yours is 4
zh: 依次为 a、b、a、b 时，compute 的调用次数应为 2，你的是 4
"""


class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = (tuple(inputs), tuple(masks))
        if key not in self.results:
            self.results = {key: self.compute(inputs, masks)}
        return self.results[key]
