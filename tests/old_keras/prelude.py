"""Names that the rows use. It runs under Python 3.6 and later, with Keras 1.2.2, 2.2.4 and ours.

Numbers are drawn by NumPy's old generator, which gives the same ones in every version of NumPy.
"""

import importlib

import numpy as np

import keras
from keras import backend as K
from keras.layers import Input
from keras.models import Model, Sequential

try:  # a configuration with Keras 2's class names
    from kerascope.saving.older_keras import for_keras_2 as in_words_of_keras_2
except ImportError:  # the real Keras asks, whose configurations have them

    def in_words_of_keras_2(config):
        """Return a configuration as it is."""
        return config


for _module in """
    activations applications.audio_conv_utils applications.imagenet_utils
    applications.music_tagger_crnn datasets.cifar callbacks constraints engine engine.base_layer
    engine.network engine.saving engine.topology engine.training engine.training_utils
    initializations initializers layers layers.advanced_activations layers.convolutional
    layers.convolutional_recurrent layers.core layers.embeddings layers.local layers.merge
    layers.noise layers.normalization layers.pooling layers.recurrent layers.wrappers losses
    metrics models objectives optimizers preprocessing.image preprocessing.sequence
    preprocessing.text regularizers utils utils.conv_utils utils.data_utils utils.generic_utils
    utils.io_utils utils.layer_utils utils.np_utils utils.test_utils wrappers.scikit_learn
""".split():
    try:
        importlib.import_module("keras." + _module)
    except ImportError:  # not every version has each of them
        pass

reset_uids = (K if hasattr(K, "reset_uids") else K.common).reset_uids


def numbers(*shape, **options):
    """Return float32 numbers between `low` and `high`; another `seed`, others."""
    drawn = np.random.RandomState(options.get("seed", 0))
    return drawn.uniform(options.get("low", -1.0), options.get("high", 1.0), shape).astype(
        "float32"
    )


def whole(below, *shape, **options):
    """Return whole numbers from 0 on."""
    return np.random.RandomState(options.get("seed", 0)).randint(0, below, shape)


def one_hot(classes, count, seed=0):
    """Return rows of zeros with a one in each."""
    return np.eye(classes, dtype="float32")[whole(classes, count, seed=seed)]


def shares(*shape, **options):
    """Return rows of positive numbers whose sum is one."""
    drawn = numbers(*shape, low=0.1, **options)
    return drawn / drawn.sum(axis=-1, keepdims=True)


def value(tensor):
    """Return what a tensor of constants and variables is; initializers give arrays at times."""
    return tensor if isinstance(tensor, np.ndarray) else K.eval(tensor)


def symbolic(function, *arrays, **options):
    """Return what a function of placeholders gives for these arrays."""
    placeholders = [K.placeholder(shape=x.shape, dtype=str(x.dtype)) for x in arrays]
    results = function(*placeholders, **options)
    several = isinstance(results, (list, tuple))
    computed = K.function(placeholders, list(results) if several else [results])(list(arrays))
    return computed if several else computed[0]


def weights_like(arrays, **options):
    """Return other weights of the same shapes: positive, since variances are among them."""
    drawn = [numbers(*x.shape, low=0.1, high=0.9, seed=5 + i) for i, x in enumerate(arrays)]
    return [both_ways(x, options.get("both_ways", 0)) for x in drawn]


def plain_shape(shape):
    """Return a shape, or several, without the numbers of NumPy that Keras 1 has in some."""
    if isinstance(shape, (list, tuple)):
        return [plain_shape(part) for part in shape]
    return None if shape is None else int(shape)


def both_ways(kernel, axes):
    """Return the mean of a kernel and of itself turned round: Theano turns kernels in Keras 1."""
    if kernel.ndim < axes + 2:
        return kernel
    return (kernel + kernel[(slice(None, None, -1),) * axes]) / 2


def error(work):
    """Return the kind of error that some work ends with."""
    try:
        work()
    except Exception as raised:
        kinds = [cls.__name__ for cls in type(raised).__mro__]
        named = ("ValueError", "TypeError", "AttributeError", "KeyError", "ImportError")
        return [name for name in named if name in kinds]
    return "no error"


def layer(made, *arrays, **options):
    """Return what a layer does: shapes, outputs, and its weights after a step of training.

    Of kernels with `both_ways=2` axes of places, what counts is their mean with themselves turned.
    """
    inputs = [Input(batch_shape=x.shape, dtype=str(x.dtype)) for x in arrays]
    outputs = made(inputs[0] if len(inputs) == 1 else inputs)
    several = isinstance(outputs, list)
    model = Model(inputs if len(inputs) > 1 else inputs[0], outputs)
    shapes = [list(x.shape) for x in model.get_weights()]
    axes = options.get("both_ways", 0)
    model.set_weights(weights_like(model.get_weights(), both_ways=axes))
    x = list(arrays) if len(arrays) > 1 else arrays[0]
    count = len(arrays[0])
    told = {
        "weights": shapes,
        "trainable": len(model.trainable_weights),
        "output_shape": plain_shape(model.output_shape),
        "outputs": model.predict(x, batch_size=count),
    }
    if options.get("config", True):
        told["config"] = in_words_of_keras_2(made.get_config())
    if options.get("train", True) and not several and model.trainable_weights:
        model.compile(keras.optimizers.SGD(lr=0.1), "mse")
        target = np.zeros_like(told["outputs"]) + 0.25
        told["loss"] = model.train_on_batch(x, target)
        told["trained"] = [both_ways(x, axes) for x in model.get_weights()]
    return told


def training(optimizer, **options):
    """Return losses and weights of three steps of a small regression."""
    model = Sequential()
    model.add(keras.layers.Dense(3, input_shape=(4,), activation="tanh"))
    model.add(keras.layers.Dense(2))
    model.set_weights(weights_like(model.get_weights()))
    model.compile(optimizer, options.get("loss", "mse"), metrics=options.get("metrics", []))
    x, y = numbers(6, 4, seed=1), options.get("y", numbers(6, 2, seed=2))
    logs = [model.train_on_batch(x, y) for _ in range(3)]
    return [logs, model.get_weights()]
