"""The table of differences between Keras 3's configurations and kerascope's.

The configurations of kerascope are those of Keras 2. A name that is not in this table is the same
in Keras 3. The two translations (`keras3_reading`, `keras3_writing`) take their names from here.
"""

from __future__ import annotations

from typing import Any

ANYTHING = object()  # an argument that can be omitted with any value

# Our class -> what Keras 3 does differently from Keras 2 if a mask reaches such a layer. Joining
# layers differ only if the masks of their inputs differ.
UNDER_A_MASK: dict[str, str] = {
    "Add": "joins different masks with or",
    "Average": "joins different masks with or",
    "BatchNormalization": "excludes masked positions from mean and variance in training",
    "Concatenate": "joins different masks with or",
    "Dot": "joins different masks with or",
    "Maximum": "excludes masked positions",
    "Minimum": "excludes masked positions",
    "Multiply": "excludes masked positions",
    "RMSNormalization": "does not pass the mask on",
    "Subtract": "joins different masks with or",
}
JOINING = frozenset(["Add", "Average", "Concatenate", "Dot", "Subtract"])

# Our class -> Keras 3's.
CLASSES: dict[str, str] = {
    "Model": "Functional",
    "Network": "Functional",
    "ThresholdedReLU": "ReLU",
}

# Our class -> the class after which the folder of its weights is named, if this differs.
NAMES_OF_FOLDERS: dict[str, str] = {**CLASSES, "GroupQueryAttention": "GroupedQueryAttention"}

# Keras 3's class -> ours. This is the inverse of `CLASSES`, with exceptions.
CLASSES_BACK: dict[str, str] = {theirs: ours for ours, theirs in CLASSES.items()}
CLASSES_BACK |= {"Functional": "Model", "ReLU": "ReLU"}

# Our class -> our argument -> Keras 3's.
ARGUMENTS: dict[str, dict[str, str]] = {
    "InputLayer": {"batch_input_shape": "batch_shape"},
    "LeakyReLU": {"alpha": "negative_slope"},
    "ThresholdedReLU": {"theta": "threshold"},
}

# Our class ("" is every layer) -> argument that Keras 3 lacks -> the value that can be omitted.
ONLY_OURS: dict[str, dict[str, Any]] = {
    "": {
        "batch_input_shape": ANYTHING,
        "implementation": ANYTHING,
        "input_length": ANYTHING,
        "input_dtype": ANYTHING,
        "weights": None,
    },
    "SpatialDropout1D": {"trainable": ANYTHING, "data_format": ANYTHING},
    "SpatialDropout2D": {"trainable": ANYTHING},
    "SpatialDropout3D": {"trainable": ANYTHING},
    "Discretization": {"trainable": ANYTHING},
}

# Keras 3's class ("" is every layer) -> argument that ours lacks -> values without an effect. None
# and False always mean that an option is off, so they are not listed.
ONLY_THEIRS: dict[str, dict[str, tuple[Any, ...]]] = {
    "": {
        "seed": (ANYTHING,),
        "groups": (1,),
        "renorm_momentum": (ANYTHING,),
        "lora_alpha": (ANYTHING,),
        "autocast": (True,),
    },
}

# Arguments that our classes accept in **kwargs, so that no signature contains them.
TAKEN_TOO: dict[str, tuple[str, ...]] = {
    "Bidirectional": ("backward_layer",),
    "GRU": ("zero_output_for_mask",),
    "LSTM": ("zero_output_for_mask",),
    "RNN": ("zero_output_for_mask",),
    "SimpleRNN": ("zero_output_for_mask",),
}

# Our classes without a counterpart in Keras 3.
NOT_IN_KERAS_3: tuple[str, ...] = (
    "ConvLSTM2DCell",
    "ConvRNN2D",
    "Highway",
    "LocallyConnected1D",
    "LocallyConnected2D",
    "MaxoutDense",
    "ParametricSoftplus",
    "SReLU",
    "TimeDistributedDense",
    "Merge",
)

# Our class ("" is every layer) -> argument -> values that Keras 3 does not support.
UNKNOWN_THERE: dict[str, dict[str, tuple[Any, ...]]] = {
    "": {"padding": ("full",)},
    "BatchNormalization": {"mode": (1, 2)},
    "SeparableConv1D": {"padding": ("causal", "full")},
    "DepthwiseConv1D": {"padding": ("causal", "full")},
}

# Layers that can be called here on a list of a sequence and initial states. Keras 3 requires the
# states as `initial_state`.
RECURRENT: tuple[str, ...] = (
    *("Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN"),
)

# Class -> the positional arguments of its `call` in Keras 3, if ours have another order.
_OF_SEQUENCES = ("sequences", "initial_state", "mask", "training")
CALLS: dict[str, tuple[str, ...]] = dict.fromkeys(RECURRENT, _OF_SEQUENCES)

# Class -> mask arguments that Keras 3 ignores in favour of the masks of the tensors.
IGNORED_MASKS: dict[str, tuple[str, ...]] = {"MultiHeadAttention": ("query_mask",)}

# Our hard_sigmoid, clip(0.2 x + 0.5, 0, 1), has no name in Keras 3, but two layers compute it.
HARD_SIGMOID_OF_KERAS_2: dict[str, Any] = {
    "module": "keras.layers",
    "class_name": "Pipeline",
    "config": {
        "name": "hard_sigmoid_of_keras_2",
        "layers": [
            {
                "module": "keras.layers",
                "class_name": "Rescaling",
                "config": {"name": "rescaling", "scale": 0.2, "offset": 0.5},
                "registered_name": None,
            },
            {
                "module": "keras.layers",
                "class_name": "ReLU",
                "config": {"name": "re_lu", "max_value": 1.0},
                "registered_name": None,
            },
        ],
    },
    "registered_name": None,
}

# Our activation -> Keras 3's: a name, or a configuration.
ACTIVATIONS: dict[str, Any] = {
    "hard_sigmoid": HARD_SIGMOID_OF_KERAS_2,
    "hard_sigmoid_of_keras_3": "hard_sigmoid",
}

# Our loss or metric, by the name of its function -> Keras 3's.
LOSSES: dict[str, str] = {
    "logcosh": "log_cosh",
    "kullback_leibler_divergence": "kl_divergence",
    "cosine_proximity": "cosine_similarity",
    "acc": "accuracy",
}

# Names of metrics in Keras 3, in addition to the names of classes in small letters.
METRIC_WORDS: tuple[str, ...] = (
    *("accuracy", "acc", "crossentropy", "ce", "bce", "BCE"),
    *("mse", "MSE", "mae", "MAE", "mape", "MAPE", "msle", "MSLE"),
)

# Our argument of an optimizer -> Keras 3's.
OPTIMIZER_ARGUMENTS: dict[str, str] = {"lr": "learning_rate"}

# Keras 3's arguments of optimizers that ours lack -> values without an effect, in addition to None
# and False.
ONLY_THEIR_OPTIMIZERS: dict[str, tuple[Any, ...]] = {
    "name": (ANYTHING,),
    "ema_momentum": (ANYTHING,),
    "ema_overwrite_frequency": (ANYTHING,),
    "jit_compile": (ANYTHING,),
    "is_legacy_optimizer": (ANYTHING,),
    "gradient_accumulation_steps": (1,),
}

# Optimizer -> the order of its slots in Keras 3. In each group, all slots of a parameter are listed
# before those of the next parameter. The words are those in our slots' names.
SLOTS: dict[str, tuple[tuple[str, ...], ...]] = {
    "SGD": (("momentum",),),
    "Lamb": (("m", "v"),),
    "RMSprop": (("accumulator",), ("momentum",), ("average_gradient",)),
    "Adagrad": (("accumulator",),),
    "Adadelta": (("accumulator", "delta_accumulator"),),
    "Adam": (("m", "v"), ("v_max",)),
    "AdamW": (("m", "v"), ("v_max",)),
    "Adamax": (("m", "u"),),
    "Nadam": (("m", "v"), ("momentum_schedule",)),
    "Ftrl": (("accumulator", "linear"),),
    "Lion": (("momentum",),),
    "Muon": (("m", "v"),),
}

# Our layer -> first word of its weights' names -> their folder in Keras 3, if the weights belong to
# inner layers there.
FOLDERS: dict[str, dict[str, str]] = {
    "MultiHeadAttention": {
        "query": "query_dense",
        "key": "key_dense",
        "value": "value_dense",
        "attention_output": "output_dense",
    },
    "GroupQueryAttention": {
        "query": "_query_dense",
        "key": "_key_dense",
        "value": "_value_dense",
        "attention_output": "_output_dense",
    },
}
