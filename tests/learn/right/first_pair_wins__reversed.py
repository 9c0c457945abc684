def unique(pairs):
    first = dict(reversed(pairs))
    order = dict.fromkeys(variable for variable, _ in pairs)
    return [(variable, first[variable]) for variable in order]
