"""The key contains ids, as in S4:301, but the objects that have these ids may be freed.

en: expected the input to live as long as the cache, yours lets it be freed: its id will be given to another object
zh: 输入应与缓冲同寿，你让它消亡了：它的 id 会发给别的对象
"""


class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = ",".join(str(id(x)) for x in inputs) + "_" + ",".join(str(id(x)) for x in masks)
        if key not in self.results:
            self.results[key] = self.compute(inputs, masks)
        return self.results[key]
