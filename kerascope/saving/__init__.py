"""Files of models: written and read in the forms of Keras 1, 2 and 3.

`saving_api` holds what models call, and chooses the form by the file's ending. Three rules hold for
all of them: a reader runs no code from a file; it looks at sizes before it reads; and a file is
written whole or not at all. Nothing of it is loaded before the first model is saved or read.

| what | where |
|---|---|
| `.keras` and `.weights.h5` | `keras3_files`, with `keras3_weights` |
| their configuration, calls, optimizers | `keras3_reading`, `keras3_writing`, `keras3_compile`;
  differences by name in the one table `keras3_table` |
| `.h5` | `hdf5_models` |
| older files | `older_keras` |
| configurations alone | `configs` |
| what keeps a hostile file harmless | `untrusted`, `hdf5_files`, the archives of `keras3_files` |
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
