class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        objects = [list(inputs), list(masks)]
        key = tuple(tuple(id(one) for one in some) for some in objects)
        if key not in self.results:
            self.results[key] = objects, self.compute(inputs, masks)
        return self.results[key][1]
