"""Only the first array of a layer has to fit.

en: expected take_over where only the file's 'a' has no bias to be ['b'], yours is ['a', 'b']
zh: 文件里的 a 没有偏置时的 take_over 应为 ['b']，你的是 ['a', 'b']
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
            if shapes[:1] == [w.shape for w in layer.get_weights()[:1]]:
                names.append(layer.name)
    model.load_weights(path, by_name=True, skip_mismatch=True)
    return names
