"""Helpers for models: downloads, one-hot labels, sequences of batches; Keras's `keras.utils`."""

from kerascope.missing_names import answer_missing_names
from kerascope.utils import (
    conv_utils,
    data_utils,
    generic_utils,
    io_utils,
    layer_utils,
    np_utils,
    vis_utils,
)
from kerascope.utils.data_utils import (
    GeneratorEnqueuer,
    OrderedEnqueuer,
    PyDataset,
    Sequence,
    SequenceEnqueuer,
    get_file,
    validate_file,
)
from kerascope.utils.generic_utils import (
    CustomObjectScope,
    Progbar,
    custom_object_scope,
    deserialize_keras_object,
    get_custom_objects,
    get_registered_name,
    get_registered_object,
    register_keras_serializable,
    serialize_keras_object,
)
from kerascope.utils.io_utils import H5Dict, HDF5Matrix
from kerascope.utils.layer_utils import (
    convert_all_kernels_in_model,
    get_source_inputs,
    print_summary,
)
from kerascope.utils.np_utils import normalize, set_random_seed, to_categorical
from kerascope.utils.vis_utils import model_to_dot, plot_model

__all__ = [
    "CustomObjectScope",
    "GeneratorEnqueuer",
    "H5Dict",
    "HDF5Matrix",
    "OrderedEnqueuer",
    "Progbar",
    "PyDataset",
    "Sequence",
    "SequenceEnqueuer",
    "conv_utils",
    "convert_all_kernels_in_model",
    "custom_object_scope",
    "data_utils",
    "deserialize_keras_object",
    "generic_utils",
    "get_custom_objects",
    "get_file",
    "get_registered_name",
    "get_registered_object",
    "get_source_inputs",
    "io_utils",
    "layer_utils",
    "model_to_dot",
    "normalize",
    "np_utils",
    "plot_model",
    "print_summary",
    "register_keras_serializable",
    "serialize_keras_object",
    "set_random_seed",
    "to_categorical",
    "validate_file",
    "vis_utils",
]

# Names that Keras 3 has here. They are imported from their own modules at the first use.
_ELSEWHERE = {
    "array_to_img": "kerascope.preprocessing.image",
    "clear_session": "kerascope.backend",
    "disable_interactive_logging": "kerascope.utils.io_utils",
    "enable_interactive_logging": "kerascope.utils.io_utils",
    "img_to_array": "kerascope.preprocessing.image",
    "is_interactive_logging_enabled": "kerascope.utils.io_utils",
    "is_keras_tensor": "kerascope.backend",
    "load_img": "kerascope.preprocessing.image",
    "pack_x_y_sample_weight": "kerascope.utils.np_utils",
    "pad_sequences": "kerascope.preprocessing.sequence",
    "save_img": "kerascope.preprocessing.image",
    "standardize_dtype": "kerascope.backend",
    "unpack_x_y_sample_weight": "kerascope.utils.np_utils",
}

answer_missing_names(__name__, later=_ELSEWHERE)
answer_missing_names(data_utils.__name__)
