import h5py
import numpy as np

taken_over = ["first"]


def take_over(model, path):
    with h5py.File(path, "r") as file:
        stored = {
            name: [np.array(group[w]) for w in group.attrs["weight_names"]]
            for name, group in file.items()
        }
    names = []
    for layer in model.layers:
        arrays = stored.get(layer.name, [])
        own = layer.get_weights()
        if own and [a.shape for a in arrays] == [w.shape for w in own]:
            layer.set_weights(arrays)
            names.append(layer.name)
    return names
