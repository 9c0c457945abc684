def is_among(x, inputs):
    for one in inputs:
        if one is x:
            return True
    return False
