"""The key does not say which mask belongs to which input.

en: expected a mask at another place to be a miss, your cache returned a stored result
zh: 掩码换了位置应当落空，你的缓冲却交还了旧的结果
"""


class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = (tuple(inputs), frozenset(masks))
        if key not in self.results:
            self.results[key] = self.compute(inputs, masks)
        return self.results[key]
