"""The one table of differences between Keras 3's configurations and ours.

Ours are Keras 2's. Where a name is not in this table, it is the same in both. The two translations
(`keras3_reading`, `keras3_writing`) hold no names of their own.
"""

from __future__ import annotations

from typing import Any

ANYTHING = object()  # an argument that may be left out whatever its value is

# Our class -> what Keras 3 does otherwise than Keras 2 if a mask reaches such a layer. The joining
# layers do so only if the masks of their inputs differ.
UNDER_A_MASK: dict[str, str] = {
    "Add": "joins different masks with or",
    "Average": "joins different masks with or",
    "BatchNormalization": "leaves masked places out of mean and variance in training",
    "Concatenate": "joins different masks with or",
    "Dot": "joins different masks with or",
    "Maximum": "leaves out masked places",
    "Minimum": "leaves out masked places",
    "Multiply": "leaves out masked places",
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

# Our class -> what the folder of its weights is called after, where that is not its class there.
NAMES_OF_FOLDERS: dict[str, str] = {**CLASSES, "GroupQueryAttention": "GroupedQueryAttention"}

# Keras 3's class -> ours, where that is not the table above read from right to left.
CLASSES_BACK: dict[str, str] = {theirs: ours for ours, theirs in CLASSES.items()}
CLASSES_BACK |= {"Functional": "Model", "ReLU": "ReLU"}

# Our class -> our argument -> Keras 3's.
ARGUMENTS: dict[str, dict[str, str]] = {
    "InputLayer": {"batch_input_shape": "batch_shape"},
    "LeakyReLU": {"alpha": "negative_slope"},
    "ThresholdedReLU": {"theta": "threshold"},
}

# Our class ("" is every layer) -> argument that Keras 3 has not -> what it may be to be left out.
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

# Keras 3's class ("" is every layer) -> argument that ours has not -> values that change nothing.
# None and False never need to be here: they say that something is off.
ONLY_THEIRS: dict[str, dict[str, tuple[Any, ...]]] = {
    "": {
        "seed": (ANYTHING,),
        "groups": (1,),
        "renorm_momentum": (ANYTHING,),
        "lora_alpha": (ANYTHING,),
        "autocast": (True,),
    },
}

# Arguments that ours take among their **kwargs, which no signature shows.
TAKEN_TOO: dict[str, tuple[str, ...]] = {
    "Bidirectional": ("backward_layer",),
    "GRU": ("zero_output_for_mask",),
    "LSTM": ("zero_output_for_mask",),
    "RNN": ("zero_output_for_mask",),
    "SimpleRNN": ("zero_output_for_mask",),
}

# Classes of ours that Keras 3 has no counterpart for.
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

# Our class ("" is every layer) -> argument -> values that Keras 3 does not know.
UNKNOWN_THERE: dict[str, dict[str, tuple[Any, ...]]] = {
    "": {"padding": ("full",)},
    "BatchNormalization": {"mode": (1, 2)},
    "SeparableConv1D": {"padding": ("causal", "full")},
    "DepthwiseConv1D": {"padding": ("causal", "full")},
}

# Layers that may be called here on a list of a sequence and first states; Keras 3 wants the states
# as `initial_state`.
RECURRENT: tuple[str, ...] = (
    *("Bidirectional", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN"),
)

# Class -> the arguments of its `call` in Keras 3, by place, where ours have another order.
_OF_SEQUENCES = ("sequences", "initial_state", "mask", "training")
CALLS: dict[str, tuple[str, ...]] = dict.fromkeys(RECURRENT, _OF_SEQUENCES)

# Class -> masks that may be given by hand, but Keras 3 takes those that the tensors carry.
IGNORED_MASKS: dict[str, tuple[str, ...]] = {"MultiHeadAttention": ("query_mask",)}

# What ours computes as clip(0.2 x + 0.5, 0, 1) has no name in Keras 3, but two layers do it.
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

# What a metric may be called in Keras 3: the name of a class of both in small letters, or these.
METRIC_WORDS: tuple[str, ...] = (
    *("accuracy", "acc", "crossentropy", "ce", "bce", "BCE"),
    *("mse", "MSE", "mae", "MAE", "mape", "MAPE", "msle", "MSLE"),
)

# Our argument of an optimizer -> Keras 3's.
OPTIMIZER_ARGUMENTS: dict[str, str] = {"lr": "learning_rate"}

# Keras 3's arguments of optimizers that ours have not -> values that change nothing, beside None
# and False.
ONLY_THEIR_OPTIMIZERS: dict[str, tuple[Any, ...]] = {
    "name": (ANYTHING,),
    "ema_momentum": (ANYTHING,),
    "ema_overwrite_frequency": (ANYTHING,),
    "jit_compile": (ANYTHING,),
    "is_legacy_optimizer": (ANYTHING,),
    "gradient_accumulation_steps": (1,),
}

# Optimizer -> the order of its slots in Keras 3: each group lists the slots of one parameter after
# the other, before the next parameter comes. The words are those of our slots' names.
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

# Our layer -> first word of its weights' names -> the folder that they have in Keras 3, where the
# weights belong to layers inside.
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
