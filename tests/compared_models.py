"""One model in several libraries, with the same weights: what `compare` is tried on."""

import numpy as np


def weights(seed=0):
    """Return the arrays of the model, as Keras lays them out."""
    random = np.random.default_rng(seed)
    shapes = {
        "conv1/kernel": (3, 3, 3, 8), "conv1/bias": (8,), "norm/gamma": (8,), "norm/beta": (8,),
        "norm/mean": (8,), "norm/variance": (8,), "conv2/kernel": (1, 1, 8, 8), "conv2/bias": (8,),
        "dense1/kernel": (128, 10), "dense1/bias": (10,), "dense2/kernel": (10, 4),
        "dense2/bias": (4,),
    }  # fmt: skip
    found = {name: random.normal(size=shape) * 0.4 for name, shape in shapes.items()}
    found["norm/variance"] = np.abs(found["norm/variance"]) + 0.3
    return {name: array.astype("float32") for name, array in found.items()}


def images(seed=1, first=False):
    x = np.random.default_rng(seed).normal(size=(2, 8, 8, 3)).astype("float32")
    return np.ascontiguousarray(x.transpose(0, 3, 1, 2)) if first else x


def keras_model(layers, model, weights, epsilon=1e-3, padding="same", gelu="gelu"):
    """Return the model in Keras, or in kerascope, from a module of layers and its Model."""
    x = layers.Input((8, 8, 3), name="x")
    h = layers.Conv2D(8, 3, padding=padding, activation="relu", name="conv1")(x)
    h = layers.BatchNormalization(epsilon=epsilon, name="norm")(h)
    h = layers.MaxPooling2D(2, name="pool")(h)
    h = layers.Add(name="add")([h, layers.Conv2D(8, 1, name="conv2")(h)])
    h = layers.Dense(10, activation=gelu, name="dense1")(layers.Flatten(name="flat")(h))
    found = model(x, layers.Dense(4, activation="softmax", name="dense2")(h))
    for name in ("conv1", "norm", "conv2", "dense1", "dense2"):
        own = [array for key, array in weights.items() if key.startswith(f"{name}/")]
        found.get_layer(name).set_weights(own)
    return found


def torch_module(torch, weights, epsilon=1e-3, padding=1, approximate="none"):
    """Return the model in PyTorch, with channels first."""
    nn = torch.nn

    class Ported(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 8, 3, padding=padding)
            self.bn = nn.BatchNorm2d(8, eps=epsilon)
            self.second = nn.Conv2d(8, 8, 1)
            self.hidden = nn.Linear(128, 10)
            self.scores = nn.Linear(10, 4)

        def forward(self, x):
            h = nn.functional.max_pool2d(self.bn(torch.relu(self.first(x))), 2)
            h = (h + self.second(h)).flatten(1)
            h = nn.functional.gelu(self.hidden(h), approximate=approximate)
            return self.scores(h).softmax(-1)

    module = Ported().eval()
    rows = weights["dense1/kernel"].reshape(4, 4, 8, 10).transpose(3, 2, 0, 1).reshape(10, 128)
    state = {
        "first.weight": weights["conv1/kernel"].transpose(3, 2, 0, 1),
        "first.bias": weights["conv1/bias"],
        "bn.weight": weights["norm/gamma"],
        "bn.bias": weights["norm/beta"],
        "bn.running_mean": weights["norm/mean"],
        "bn.running_var": weights["norm/variance"],
        "second.weight": weights["conv2/kernel"].transpose(3, 2, 0, 1),
        "second.bias": weights["conv2/bias"],
        "hidden.weight": rows,
        "hidden.bias": weights["dense1/bias"],
        "scores.weight": weights["dense2/kernel"].T,
        "scores.bias": weights["dense2/bias"],
    }
    tensors = {name: torch.tensor(np.ascontiguousarray(array)) for name, array in state.items()}
    module.load_state_dict(tensors, strict=False)
    return module


def onnx_file(onnx, module, path, epsilon=1e-3, pads=(1, 1, 1, 1), gelu="none"):
    """Write the model as an ONNX file, its last layer as a MatMul and an Add."""
    arrays = {name: value.numpy() for name, value in module.state_dict().items()}
    arrays["scores.weight"] = np.ascontiguousarray(arrays["scores.weight"].T)
    arrays = {name: array for name, array in arrays.items() if array.ndim}
    node = onnx.helper.make_node
    bn = ["bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"]
    nodes = [
        node("Conv", ["x", "first.weight", "first.bias"], ["a"], pads=pads, kernel_shape=[3, 3]),
        node("Relu", ["a"], ["b"]),
        node("BatchNormalization", ["b", *bn], ["c"], epsilon=epsilon),
        node("MaxPool", ["c"], ["d"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["d", "second.weight", "second.bias"], ["e"], kernel_shape=[1, 1]),
        node("Add", ["d", "e"], ["f"]),
        node("Flatten", ["f"], ["g"]),
        node("Gemm", ["g", "hidden.weight", "hidden.bias"], ["h"], transB=1),
        node("Gelu", ["h"], ["i"], approximate=gelu),
        node("MatMul", ["i", "scores.weight"], ["j"]),
        node("Add", ["j", "scores.bias"], ["k"]),
        node("Softmax", ["k"], ["y"]),
    ]
    kinds = onnx.TensorProto.FLOAT
    given = onnx.helper.make_tensor_value_info("x", kinds, [2, 3, 8, 8])
    made = onnx.helper.make_tensor_value_info("y", kinds, [2, 4])
    stored = [onnx.numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = onnx.helper.make_graph(nodes, "ported", [given], [made], stored)
    versions = [onnx.helper.make_opsetid("", 20)]
    model = onnx.helper.make_model(graph, opset_imports=versions, ir_version=9)
    onnx.save(model, path)
    return path
