"""Model files, in the formats of Keras 1, 2 and 3.

`saving_api` contains the functions that models call. They choose the format by the file's ending.
All formats follow three rules. Reading a file runs no code from it. Sizes are checked before
anything is read. A file is written completely or not at all. The package is imported when the first
model is saved or loaded.

- `.keras` and `.weights.h5`: `keras3_files`, with `keras3_weights`
- their configurations, calls and optimizers: `keras3_reading`, `keras3_writing`, `keras3_compile`;
  differences of names are in the table `keras3_table`
- `.h5`: `hdf5_models`
- older files: `older_keras`
- configurations without weights: `configs`
- protection against hostile files: `untrusted`, `hdf5_files`, the archives of `keras3_files`
"""

from kerascope.engine.network import file_functions
from kerascope.engine.pickling import pickle_model, unpickle_model
from kerascope.missing_names import answer_missing_names
from kerascope.saving.configs import model_from_config, model_from_json, model_from_yaml
from kerascope.saving.hdf5_files import (
    load_attributes_from_hdf5_group,
    save_attributes_to_hdf5_group,
)
from kerascope.saving.hdf5_models import (
    load_weights_from_hdf5_group,
    load_weights_from_hdf5_group_by_name,
    save_weights_to_hdf5_group,
    written_config,
)
from kerascope.saving.older_keras import preprocess_weights_for_loading
from kerascope.saving.saving_api import load_model, load_weights, save_model, save_weights

__all__ = [
    "load_attributes_from_hdf5_group",
    "load_model",
    "load_weights",
    "load_weights_from_hdf5_group",
    "load_weights_from_hdf5_group_by_name",
    "model_from_config",
    "model_from_json",
    "model_from_yaml",
    "preprocess_weights_for_loading",
    "save_attributes_to_hdf5_group",
    "save_model",
    "save_weights",
    "save_weights_to_hdf5_group",
]

for _function in (*map(globals().get, __all__), pickle_model, unpickle_model, written_config):
    file_functions.register(_function)

answer_missing_names(__name__)
