"""Assumes that a layer with the same name fits.

en: expected taken_over to be ['first'], yours is ['first', 'head']: only names that are in the file, and shapes that fit
zh: taken_over 应为 ['first']，你的是 ['first', 'head']：名字要在文件里，形状也要对得上
"""

import h5py

taken_over = ["first", "head"]


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
    model.load_weights(path, by_name=True, skip_mismatch=True)
    return names
