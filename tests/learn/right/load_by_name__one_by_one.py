import h5py

taken_over = ["first"]


def arrays_of(group):
    names = [
        name.decode() if isinstance(name, bytes) else name for name in group.attrs["weight_names"]
    ]
    return [group[name][()] for name in names]


def take_over(model, path):
    taken = []
    with h5py.File(path, "r") as file:
        for layer in model.layers:
            if not layer.weights or layer.name not in file.keys():
                continue
            try:
                layer.set_weights(arrays_of(file[layer.name]))
            except ValueError:
                continue
            taken += [layer.name]
    return taken
