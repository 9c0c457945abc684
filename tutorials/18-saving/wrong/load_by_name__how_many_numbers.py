"""A layer fits if its weights have the same total size.

en: expected take_over of a kernel (2, 6) into one of (3, 4) to be [], yours is ['b']
zh: 把 (2, 6) 的 kernel 读入 (3, 4) 的 take_over 应为 []，你的是 ['b']
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
            size = sum(group[name].size for name in group.attrs["weight_names"])
            if size == layer.count_params():
                names.append(layer.name)
    model.load_weights(path, by_name=True, skip_mismatch=True)
    return names
