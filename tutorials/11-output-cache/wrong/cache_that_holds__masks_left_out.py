"""The key does not contain the masks.

en: expected another mask to be a miss, your cache returned a stored result
zh: 另一个掩码应当落空，你的缓冲却交还了旧的结果
"""


class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = tuple(inputs)
        if key not in self.results:
            self.results[key] = self.compute(inputs, masks)
        return self.results[key]
