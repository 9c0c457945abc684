class OutputCache:
    def __init__(self, compute):
        self.compute = compute
        self.known = []

    def __call__(self, inputs, masks):
        asked = [*inputs, *masks]
        for length, objects, result in self.known:
            if length == len(inputs) and len(objects) == len(asked):
                if all(one is other for one, other in zip(objects, asked)):
                    return result
        self.known.append((len(inputs), asked, self.compute(inputs, masks)))
        return self.known[-1][-1]
