"""A layer that does not fit stops everything.

en: take_over(...) stopped at line 22 with DataError: 'saved.h5': layer 'head': expected weights of shapes [(8, 3), (3,)] for Dense 'head', got [(8, 1), (1,)].
zh: take_over(...) 中途出错（第 22 行）：DataError: 'saved.h5': layer 'head': expected weights of shapes [(8, 3), (3,)] for Dense 'head', got [(8, 1), (1,)].
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
    model.load_weights(path, by_name=True)
    return names
