"""Returns the names of the layers that fit, but loads nothing.

en: expected the kernel of 'c', at [0, 0], to be 3, yours is 0
zh: c 的 kernel，[0, 0] 处应为 3，你的是 0
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
            if shapes == [w.shape for w in layer.get_weights()]:
                names.append(layer.name)
    return names
