"""Names of Keras that are not here yet: one table, and the errors that are made from it.

A script that says `layers.LSTM` shall read that kerascope knows the name, does not have it, and
what to use instead; a misspelt name shall read which one was meant. A module calls
`answer_missing_names(__name__)` at its end. `compat.missing_modules` answers for what is imported:
`from keras.layers import LSTM`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from kerascope.errors import NotYetAttributeError
from kerascope.registry import did_you_mean

_FLATTEN = "Flatten() the input and use Dense, or write a layer of your own from K functions."
_LAMBDA = "Write it with K functions inside a Lambda."
_LOOP = "Write the loop in Python: its steps become ops of the graph."
_SESSION = "There is no session on NumPy: leave the line out."
_DRAW = "Use kerascope.draw(model, to='model.svg')."
_PLAIN_NUMPY = "Prepare the arrays with NumPy."
_NO_QUEUE = "fit_generator takes generators and Sequences as they are; it needs no enqueuer."
_CONVOLUTION_LAYERS = """
    Conv1D Conv2D Conv3D Conv2DTranspose Conv3DTranspose SeparableConv1D SeparableConv2D
    DepthwiseConv2D UpSampling1D UpSampling2D UpSampling3D ZeroPadding1D ZeroPadding2D
    ZeroPadding3D Cropping1D Cropping2D Cropping3D LocallyConnected1D LocallyConnected2D
    ConvLSTM2D ConvLSTM2DCell ConvRNN2D Convolution1D Convolution2D Convolution3D Deconvolution2D
    AtrousConvolution1D AtrousConvolution2D SeparableConvolution2D"""
_POOLING_LAYERS = """
    MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D
    GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D GlobalAveragePooling1D
    GlobalAveragePooling2D GlobalAveragePooling3D MaxPool1D MaxPool2D MaxPool3D AvgPool1D AvgPool2D
    AvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalAvgPool1D GlobalAvgPool2D
    GlobalAvgPool3D"""
_RECURRENT_LAYERS = """
    RNN SimpleRNN GRU LSTM SimpleRNNCell GRUCell LSTMCell StackedRNNCells CuDNNGRU CuDNNLSTM
    Recurrent Bidirectional"""

# Module -> (names, what to do instead).
NAMES: dict[str, tuple[tuple[str, str], ...]] = {
    "kerascope": (),
    "kerascope.engine": (("get_source_inputs", "model.inputs are the inputs of a model."),),
    "kerascope.layers": (
        (_CONVOLUTION_LAYERS, _FLATTEN),
        (_POOLING_LAYERS, "Over a whole axis: Lambda(lambda x: K.max(x, axis=1)), or K.mean."),
        (_RECURRENT_LAYERS, _FLATTEN),
        ("LeakyReLU", "Use Activation(lambda x: K.relu(x, alpha=0.3))."),
        ("ELU", "Use Activation('elu')."),
        ("ReLU", "Use Activation('relu')."),
        ("Softmax", "Use Activation('softmax')."),
        ("ThresholdedReLU", "Use Activation(lambda x: K.relu(x, threshold=1.0))."),
        ("PReLU", "Write a layer of your own: add_weight in build, K.relu in call."),
        ("GaussianNoise GaussianDropout AlphaDropout", "Use K.random_normal in a Lambda."),
        ("TimeDistributed TimeDistributedDense", "Dense works on the last axis of any input."),
        ("Wrapper", "Derive from Layer, and call the inner layer in call."),
        ("MaxoutDense Highway", "Write it from Dense layers and the merging layers."),
        ("LayerNormalization GroupNormalization", _LAMBDA),
        ("MultiHeadAttention Attention AdditiveAttention", "Write it with K.batch_dot."),
    ),
    "kerascope.backend": (
        (
            """conv1d conv2d conv2d_transpose conv3d conv3d_transpose depthwise_conv2d
            separable_conv1d separable_conv2d local_conv1d local_conv2d""",
            "Write it as K.dot on slices of the input.",
        ),
        ("pool2d pool3d", "K.max and K.mean reduce whole axes."),
        ("resize_images resize_volumes", "K.repeat_elements repeats along an axis."),
        (
            "temporal_padding spatial_2d_padding spatial_3d_padding",
            "K.concatenate the input with K.zeros_like of its slices.",
        ),
        ("rnn foldl foldr map_fn", _LOOP),
        ("ctc_batch_cost ctc_decode ctc_label_dense_to_sparse", "Other losses are in kerascope."),
        ("print_tensor", "`kerascope trace --level op` prints every tensor."),
        ("to_dense", "There are no sparse tensors: every tensor is dense."),
        ("get_session set_session manual_variable_initialization", _SESSION),
    ),
    "kerascope.models": (
        ("clone_model", "Use type(model).from_config(model.get_config()): its weights are fresh."),
        ("model_from_yaml", "Use model.to_json() and model_from_json."),
    ),
    "kerascope.utils": (
        ("plot_model model_to_dot", _DRAW),
        ("print_summary", "Use model.summary()."),
        ("get_source_inputs", "model.inputs are the inputs of a model."),
        ("HDF5Matrix", "Read the array with h5py and pass it to fit."),
        ("multi_gpu_model", "There is no GPU on NumPy: train the model itself."),
        ("OrderedEnqueuer GeneratorEnqueuer SequenceEnqueuer", _NO_QUEUE),
        ("serialize_keras_object", "Every module has its own: layers.serialize(layer)."),
        ("deserialize_keras_object", "Every module has its own: layers.deserialize(config)."),
        ("convert_all_kernels_in_model", "There are no convolutions here yet."),
        ("register_keras_serializable", "Use utils.get_custom_objects()[name] = your_class."),
    ),
    "kerascope.utils.data_utils": (
        ("OrderedEnqueuer GeneratorEnqueuer SequenceEnqueuer", _NO_QUEUE),
    ),
    "kerascope.utils.generic_utils": (
        ("serialize_keras_object", "Every module has its own: layers.serialize(layer)."),
        ("deserialize_keras_object", "Every module has its own: layers.deserialize(config)."),
        ("func_dump func_load has_arg slice_arrays to_list", "It is a helper of Keras's own."),
    ),
}

MODULES: dict[str, str] = {
    "kerascope.applications": "Build the network from layers; its weights cannot be fetched.",
    "kerascope.preprocessing": _PLAIN_NUMPY,
    "kerascope.wrappers": "Use the model's own fit and predict.",
    "kerascope.layers.advanced_activations": "Use Activation with a name or a function.",
    "kerascope.layers.convolutional": _FLATTEN,
    "kerascope.layers.convolutional_recurrent": _FLATTEN,
    "kerascope.layers.cudnn_recurrent": _FLATTEN,
    "kerascope.layers.local": _FLATTEN,
    "kerascope.layers.noise": "Use K.random_normal in a Lambda.",
    "kerascope.layers.pooling": "Over a whole axis: Lambda(lambda x: K.max(x, axis=1)), or K.mean.",
    "kerascope.layers.recurrent": _FLATTEN,
    "kerascope.layers.wrappers": "Dense works on the last axis of any input.",
    "kerascope.engine.training_utils": "They are helpers of Keras's own.",
    "kerascope.utils.conv_utils": "There are no convolutions here yet.",
    "kerascope.utils.io_utils": "Read the array with h5py and pass it to fit.",
    "kerascope.utils.layer_utils": "Use model.summary() and model.count_params().",
    "kerascope.utils.multi_gpu_utils": "There is no GPU on NumPy: train the model itself.",
    "kerascope.utils.test_utils": "They are helpers of Keras's own tests.",
    "kerascope.utils.vis_utils": _DRAW,
    "kerascope.utils.visualize_util": _DRAW,
    "kerascope.ops": "Use kerascope.backend, imported as K.",
    "kerascope.random": "Use the random functions of kerascope.backend.",
    "kerascope.saving": "Use model.save and kerascope.models.load_model.",
}


def words_for(module: str, name: str) -> str | None:
    """Return what to say of a name or module of Keras that is not here; None of any other name.

    Examples
    --------
    >>> print(words_for("kerascope.layers", "ELU"))
    kerascope.layers.ELU: Keras has it, kerascope does not yet. Use Activation('elu').
    >>> words_for("kerascope.layers", "Dense")
    """
    path = f"{module}.{name}"
    remedy = MODULES.get(path)
    for names, what_to_do in NAMES.get(module, ()):
        if name in names.split():
            remedy = what_to_do
    if remedy is None:
        return None
    return f"{path}: Keras has it, kerascope does not yet. {remedy}"


def missing(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that a module does not have.

    Parameters
    ----------
    module, name : str
    known : iterable of str
        The names that the module has: one of them may have been meant.
    """
    error = _error(module, name, known)
    # With an object Python would add a second "Did you mean" of its own to the traceback.
    error.name, error.obj = name, None
    return error


def _error(module: str, name: str, known: Iterable[str]) -> AttributeError:
    words = words_for(module, name)
    if words is not None:
        return NotYetAttributeError(words)
    public = [word for word in known if not word.startswith("_")]
    later = [word for names, _ in NAMES.get(module, ()) for word in names.split()]
    hint = "" if name.startswith("_") else did_you_mean(name, [*public, *later])
    message = f"module {module!r} has no attribute {name!r}. {hint}".rstrip()
    return AttributeError(message)


def answer_missing_names(module_name: str) -> None:
    """Let a module that is being imported answer for the names that it does not have.

    It gives the module a `__getattr__`. Written out in the module, it would keep mypy from seeing
    misspelt names. A module that is no package gets an empty `__path__`, since only then Python
    asks the finders about a name that is imported from it.
    """
    module = sys.modules[module_name]

    def answer(name: str) -> object:
        raise missing(module_name, name, vars(module))

    vars(module)["__getattr__"] = answer
    vars(module).setdefault("__path__", [])
