class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = (tuple(inputs), tuple(masks))
        if key not in self.results:
            self.results[key] = self.compute(inputs, masks)
        return self.results[key]
