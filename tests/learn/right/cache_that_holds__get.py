class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.results = {}

    def __call__(self, inputs, masks):
        key = (*inputs, "masks", *masks)
        result = self.results.get(key)
        if result is None:
            result = self.results[key] = self.compute(inputs, masks)
        return result
