"""The key is a set, so the order of the inputs is lost.

en: expected another order to be a miss, your cache returned a stored result
zh: 另一种次序应当落空，你的缓冲却交还了旧的结果
"""


class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = (frozenset(inputs), tuple(masks))
        if key not in self.results:
            self.results[key] = self.compute(inputs, masks)
        return self.results[key]
