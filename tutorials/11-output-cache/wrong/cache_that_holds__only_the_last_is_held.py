"""Only the objects of the last call are kept in memory, not those of earlier calls.

en: expected the input to live as long as the cache, yours lets it be freed after another call: its id will be given to another object
zh: 输入应与缓冲同寿，你让它消亡了（又调用一次之后）：它的 id 会发给别的对象
"""


class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = (tuple(map(id, inputs)), tuple(map(id, masks)))
        self.held = inputs, masks
        if key not in self.results:
            self.results[key] = self.compute(inputs, masks)
        return self.results[key]
