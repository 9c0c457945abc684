def unique(pairs):
    found = {}
    for variable, new_value in pairs:
        found.setdefault(variable, new_value)
    return list(found.items())
