"""Every layer of the same name is reported.

en: expected take_over(model, path) to be ['first'], yours is ['first', 'head']
zh: take_over(model, path) 应为 ['first']，你的是 ['first', 'head']
"""

import h5py

taken_over = ["first"]


def take_over(model, path):
    names = []
    with h5py.File(path) as file:
        for layer in model.layers:
            if layer.name not in file or not layer.weights:
                continue
            group = file[layer.name]
            shapes = [group[name].shape for name in group.attrs["weight_names"]]
            if shapes:
                names.append(layer.name)
    model.load_weights(path, by_name=True, skip_mismatch=True)
    return names
