"""Write an output cache that holds its keys.

    cached = OutputCache(compute)
    cached(inputs, masks)

`inputs` and `masks` are lists of objects (think of tensors; a mask may be None). The first call on
them returns compute(inputs, masks). Later calls on the same objects return the same result
object, without computing it. Other inputs, another order of them, or other masks are another call.

The key at S4:301 is ','.join(str(id(x)) for x in inputs). An id can be reused when its object is
freed. So your key must hold the objects: the cache keeps its inputs and masks in memory.
"""


class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = ...
        if key not in self.results:
            self.results[key] = self.compute(inputs, masks)
        return self.results[key]
