"""Where we deliberately do not answer as the real Keras does, and why: 1.2.2, 2.2.4 (on Theano), 3.

Version -> the names of a row -> what differs, as docs/compatibility.md says it. A row that is
listed must differ: what has become equal leaves this table. Rows of Keras 3 have tests of their own
(tests/test_*_keras3.py).
"""

_THEANO_VARIANCE = (
    "the variance that it returns is that of the batch, as in TensorFlow; Theano's has epsilon "
    "added."
)
_THEANO_CTC = "of shape (samples, 1), as documented and in TensorFlow; on Theano (1, samples)."

_BOTH = {
    "keras.backend.normalize_batch_in_training": _THEANO_VARIANCE,
    "keras.backend.ctc_batch_cost": _THEANO_CTC,
}

_COSINE = (
    "mode 'cos' of vectors gives (samples, 1), as Keras 1 itself declares; it has an axis more."
)

_SCORE = "score of a regressor is minus the loss, as in Keras 2: scikit-learn takes the greatest."

_IDENTITY = (
    "an initializer is given the weights of all gates at once: 'identity' makes one of them."
)

_GATES = "the gates lie side by side in one kernel, one recurrent kernel and one bias."

_MERGES = """layers.merge layers.Merge engine.merge engine.topology.merge engine.Merge
    engine.topology.Merge"""

_NO_NOISE_SHAPE = "its configuration has no `noise_shape`, which Keras writes and never reads."
_ONE_SIZE = "in its configuration sizes are numbers, not tuples of one; it reads both."
_SUMMARY = "the table is drawn anew, with columns for depth and connections at need."

_POLICY = "a str, equal to its name; what mixes types is refused."
_FLOATX = "takes the policy of floatx alone, which new layers have."
_SHOWN = "always True: progress is shown, never logged."
_WHOLE_WEIGHTS = (
    "weights count as they are, as documented; Keras, like dtype='int32' here, cuts them to whole "
    "numbers."
)

DIFFERENCES = {
    "1.2.2": {
        "keras.layers.GRU (2)": _IDENTITY,
        "keras.layers.LSTM (2)": _IDENTITY,
        **_BOTH,
        "keras.layers.BatchNormalization": _THEANO_VARIANCE,
        "keras.layers.normalization.BatchNormalization": _THEANO_VARIANCE,
        "keras.layers.ConvLSTM2D": _GATES,
        "keras.layers.convolutional_recurrent.ConvLSTM2D": _GATES,
        "keras.wrappers.scikit_learn.KerasRegressor": _SCORE,
        **{f"keras.{name}": _COSINE for name in _MERGES.split()},
    },
    "2.2.4": {
        **_BOTH,
        "keras.activations.softmax (2)": "`axis` holds for two axes too; Theano forgets it.",
        "keras.backend.pool2d (2)": "'same' adds its rows at the end first, as TensorFlow does.",
        "keras.callbacks.ReduceLROnPlateau keras.callbacks.ReduceLROnPlateau.on_train_begin "
        "keras.callbacks.ReduceLROnPlateau.on_epoch_end "
        "keras.callbacks.ReduceLROnPlateau.in_cooldown": "a rate that has reached `min_lr` in "
        "float32 is not reduced again and again.",
        **{f"keras.layers.core.SpatialDropout{n}D": _NO_NOISE_SHAPE for n in (1, 2, 3)},
        "keras.layers.normalization.BatchNormalization": _THEANO_VARIANCE,
        **{f"keras.layers.pooling.{kind}Pooling1D": _ONE_SIZE for kind in ("Max", "Average")},
        "keras.layers.convolutional_recurrent.ConvLSTM2D": "its configuration says `return_state` "
        "and `unroll` only where they are True.",
        "keras.utils.generic_utils.slice_arrays": "rows of a single array are returned; Keras "
        "returns [None] for a range of them.",
        "keras.preprocessing.image.Iterator keras.preprocessing.image.NumpyArrayIterator "
        "keras.preprocessing.image.ImageDataGenerator.flow": "a `seed` repeats the order and the "
        "changes of images, whoever makes the batches; they are others than Keras's.",
        "keras.wrappers.scikit_learn.KerasClassifier.predict": "a label for each sample, of shape "
        "(samples,), for a model of one output too; there (samples, 1).",
        "keras.utils.layer_utils.print_summary": _SUMMARY,
        "keras.engine.network.Network.summary": _SUMMARY,
    },
    "3": {
        "keras.DTypePolicy keras.FloatDTypePolicy keras.dtype_policies.DTypePolicy "
        "keras.dtype_policies.FloatDTypePolicy keras.mixed_precision.DTypePolicy "
        "keras.mixed_precision.Policy": _POLICY,
        "keras.config.set_dtype_policy keras.mixed_precision.set_dtype_policy "
        "keras.mixed_precision.set_global_policy": _FLOATX,
        "keras.config.is_interactive_logging_enabled "
        "keras.utils.is_interactive_logging_enabled": _SHOWN,
        "keras.config.is_flash_attention_enabled": "always False: attention has one way here.",
        "keras.config.is_traceback_filtering_enabled": "always False: tracebacks stay whole.",
        "keras.backend.result_type": "int64 and float64 stay as wide; on JAX they become half.",
        "keras.tree.map_structure_up_to": "None in the first structure is a value.",
        "keras.utils.pack_x_y_sample_weight": "weights stay where there are no targets; Keras "
        "forgets them.",
        "keras.activations.sparsemax keras.ops.sparsemax keras.ops.nn.sparsemax": "what it gives "
        "sums to 1; in Keras 3.15 not always.",
        "keras.losses.categorical_generalized_cross_entropy "
        "keras.losses.CategoricalGeneralizedCrossEntropy": "targets of shape (samples, 1) are each "
        "of its own prediction; in Keras 3.15 of every prediction.",
        "keras.losses.ctc keras.losses.CTC": "a label that has no room costs infinity, in Keras "
        "about 100000; a 0 before its end is refused.",
        **{
            f"keras.metrics.{name}": _WHOLE_WEIGHTS
            for name in ("BinaryIoU", "IoU", "MeanIoU", "OneHotIoU", "OneHotMeanIoU")
        },
        **{
            f"keras.layers.{name}": "a list of one input is refused, as in Keras 2."
            for name in ("Add", "Average", "Concatenate", "Maximum", "Minimum", "Multiply")
        },
        "keras.optimizers.schedules.CosineDecayRestarts": "`t_mul` below 1 is refused; in Keras "
        "the rate becomes NaN.",
    },
}

# Name -> why its arguments are not those of Keras 2.2.4.
OTHER_ARGUMENTS: dict[str, str] = {
    "keras.engine.base_layer.Node": "A Node stores tensors alone, as in Keras 3; where they come "
    "from is derived. Node.create_node(layer, inbound_layers, node_indices, tensor_indices) makes "
    "one as Keras 1 does.",
    "keras.engine.training.Model.fit": "epochs=None stands for 1, and for 10 in the dialect of "
    "Keras 1.2, where fit trained ten.",
    "keras.utils.generic_utils.Progbar": "interval=0.1: a bar is drawn at most ten times a second.",
}
