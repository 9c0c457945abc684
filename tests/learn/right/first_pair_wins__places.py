def unique(pairs):
    variables = [variable for variable, _ in pairs]
    return [pair for place, pair in enumerate(pairs) if variables.index(pair[0]) == place]
