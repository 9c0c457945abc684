import warnings

import h5py
import numpy as np

taken_over = list(("first",))


def take_over(model, path):
    before = model.get_weights()
    model.set_weights([np.full_like(array, np.nan) for array in before])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.load_weights(path, by_name=True, skip_mismatch=True)
    names, place = [], 0
    for layer in model.layers:
        own = layer.get_weights()
        if own and not any(np.isnan(array).any() for array in own):
            names.append(layer.name)
        elif own:
            layer.set_weights(before[place : place + len(own)])
        place += len(own)
    return names
