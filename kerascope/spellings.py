"""The four dialects of Keras: how 1.2, 2.2, tf.keras and 3 spell the same thing, in one place.

Two kinds of difference, two kinds of table:

- *Spellings* can be told from the call (`nb_epoch=10` can only mean `epochs=10`). They are always
  accepted; `translate` renames them and warns with today's word.
- *Habits* cannot be told from the call (is the first Dense `dense_1` or `dense`, are the gates of
  `LSTM(3)` sigmoids or `hard_sigmoid`s?). They follow `config.dialect`, read from `HABITS`; no
  layer and no engine file asks which dialect it is.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, NamedTuple

from kerascope.callers import warn
from kerascope.errors import ArgumentError, SpellingWarning
from kerascope.settings import config

# --- spellings ------------------------------------------------------------------------------------

_CONVOLUTION = {
    "nb_filter": "filters",
    "border_mode": "padding",
    "subsample": "strides",
    "dim_ordering": "data_format",
    "atrous_rate": "dilation_rate",
}

_IMAGES = {"border_mode": "padding", "dim_ordering": "data_format"}

KEYWORDS: dict[str, dict[str, str]] = {
    # functions of the backend
    "K.bias_add": {"dim_ordering": "data_format"},
    "K.conv1d": {"border_mode": "padding", "stride": "strides"},
    "K.conv2d": {**_IMAGES, "filter_dilation": "dilation_rate"},
    "K.conv2d_transpose": _IMAGES,
    "K.conv3d": {**_IMAGES, "filter_dilation": "dilation_rate"},
    "K.expand_dims": {"dim": "axis"},
    "K.pool2d": _IMAGES,
    "K.pool3d": _IMAGES,
    "K.random_normal": {"std": "stddev"},
    "K.random_uniform": {"low": "minval", "high": "maxval"},
    "K.resize_images": {"dim_ordering": "data_format"},
    "K.resize_volumes": {"dim_ordering": "data_format"},
    "K.separable_conv2d": _IMAGES,
    "K.spatial_2d_padding": {"dim_ordering": "data_format"},
    "K.spatial_3d_padding": {"dim_ordering": "data_format"},
    # every layer
    "Layer": {
        "init": "kernel_initializer",
        "W_regularizer": "kernel_regularizer",
        "b_regularizer": "bias_regularizer",
        "W_constraint": "kernel_constraint",
        "b_constraint": "bias_constraint",
        "bias": "use_bias",
        "input_dtype": "dtype",
        "batch_shape": "batch_input_shape",
    },
    "Dense": {"output_dim": "units"},
    "Dropout": {"p": "rate"},
    "Flatten": {"dim_ordering": "data_format"},
    "Reshape": {"dims": "target_shape"},
    "SpatialDropout1D": {"p": "rate"},
    "SpatialDropout2D": {"p": "rate", "dim_ordering": "data_format"},
    "SpatialDropout3D": {"p": "rate", "dim_ordering": "data_format"},
    "Embedding": {
        "init": "embeddings_initializer",
        "W_regularizer": "embeddings_regularizer",
        "W_constraint": "embeddings_constraint",
    },
    "BatchNormalization": {
        "beta_init": "beta_initializer",
        "gamma_init": "gamma_initializer",
    },
    "Conv1D": {
        **_CONVOLUTION,
        "filter_length": "kernel_size",
        "subsample_length": "strides",
    },
    "Conv2D": _CONVOLUTION,
    "Conv3D": _CONVOLUTION,
    "Conv2DTranspose": _CONVOLUTION,
    "Conv3DTranspose": _CONVOLUTION,
    "DepthwiseConv2D": {**_CONVOLUTION, "init": "depthwise_initializer"},
    "SeparableConv1D": {**_CONVOLUTION, "init": "depthwise_initializer"},
    "SeparableConv2D": {**_CONVOLUTION, "init": "depthwise_initializer"},
    "ConvLSTM2D": _CONVOLUTION,
    "RNN": {
        "output_dim": "units",
        "inner_init": "recurrent_initializer",
        "inner_activation": "recurrent_activation",
        "forget_bias_init": "unit_forget_bias",
        "U_regularizer": "recurrent_regularizer",
        "dropout_W": "dropout",
        "dropout_U": "recurrent_dropout",
        "consume_less": "implementation",
    },
    "_Spatial": {"dim_ordering": "data_format"},
    "_Pooling": {"border_mode": "padding"},
    "_Pooling1D": {"pool_length": "pool_size", "stride": "strides"},
    "UpSampling1D": {"length": "size"},
    "LocallyConnected1D": {
        **_CONVOLUTION,
        "filter_length": "kernel_size",
        "subsample_length": "strides",
    },
    "LocallyConnected2D": _CONVOLUTION,
    "GaussianNoise": {"sigma": "stddev"},
    "GaussianDropout": {"p": "rate"},
    "AlphaDropout": {"p": "rate"},
    "LeakyReLU": {"negative_slope": "alpha"},
    "PReLU": {"init": "alpha_initializer"},
    "Model": {"input": "inputs", "output": "outputs"},
    "compile": {"objective": "loss"},
    "fit": {"nb_epoch": "epochs"},
    "fit_generator": {
        "nb_epoch": "epochs",
        "max_q_size": "max_queue_size",
        "nb_worker": "workers",
        "pickle_safe": "use_multiprocessing",
    },
    "evaluate_generator": {
        "max_q_size": "max_queue_size",
        "nb_worker": "workers",
        "pickle_safe": "use_multiprocessing",
    },
    "predict_generator": {
        "max_q_size": "max_queue_size",
        "nb_worker": "workers",
        "pickle_safe": "use_multiprocessing",
    },
    "optimizer": {"learning_rate": "lr"},
    "imdb.load_data": {"nb_words": "num_words"},
    "Tokenizer": {"nb_words": "num_words"},
    "reuters.load_data": {"nb_words": "num_words"},
    "ReduceLROnPlateau": {"epsilon": "min_delta"},
}

# Values that changed together with their argument.
VALUES: dict[str, dict[str, Any]] = {
    "dim_ordering": {"tf": "channels_last", "th": "channels_first", "default": None},
    "forget_bias_init": {"one": True, "ones": True, "zero": False, "zeros": False},
    "consume_less": {"cpu": 1, "mem": 1, "gpu": 2},
    # That of the inputs alone: the weights of an Embedding are no whole numbers.
    "input_dtype": dict.fromkeys(("bool", "uint8", "int8", "int16", "int32", "int64")),
}

# Keras 1 counts samples where today's argument counts batches: not the same thing by another name.
SAMPLE_COUNTS: dict[str, str] = {
    "samples_per_epoch": "steps_per_epoch",
    "nb_val_samples": "validation_steps",
    "val_samples": "steps",
}

# Keras 3's words for arguments that we call by their Keras 2 names: accepted in silence, since they
# are not old.
QUIET = {"learning_rate", "batch_shape", "negative_slope"}

# Class -> the arguments in Keras 1's order, where it is another one than today's.
_PENALTIES = "W_regularizer b_regularizer activity_regularizer W_constraint b_constraint bias"
_KERNEL = "init activation weights border_mode"
_AFTER_DENSE = f"init activation weights {_PENALTIES} input_dim"
_GATES = "W_regularizer U_regularizer b_regularizer dropout_W dropout_U"
_ORDERS = {
    "Dense": f"output_dim {_AFTER_DENSE}",
    "TimeDistributedDense": f"output_dim {_AFTER_DENSE} input_length",
    "Conv1D": f"nb_filter filter_length {_KERNEL} subsample_length {_PENALTIES} input_dim "
    "input_length",
    "Conv2D": f"nb_filter kernel_size {_KERNEL} subsample dim_ordering {_PENALTIES}",
    "Conv3D": f"nb_filter kernel_size {_KERNEL} subsample dim_ordering {_PENALTIES}",
    "Conv2DTranspose": f"nb_filter kernel_size {_KERNEL} subsample dim_ordering {_PENALTIES}",
    "SeparableConv2D": f"nb_filter kernel_size {_KERNEL} subsample depth_multiplier dim_ordering",
    "LocallyConnected1D": f"nb_filter filter_length {_KERNEL} subsample_length {_PENALTIES} "
    "input_dim input_length",
    "LocallyConnected2D": f"nb_filter kernel_size {_KERNEL} subsample dim_ordering {_PENALTIES}",
    "SimpleRNN": f"output_dim init inner_init activation {_GATES}",
    "GRU": f"output_dim init inner_init activation inner_activation {_GATES}",
    "LSTM": f"output_dim init inner_init forget_bias_init activation inner_activation {_GATES}",
    "ConvLSTM2D": "nb_filter kernel_size init inner_init forget_bias_init activation "
    "inner_activation dim_ordering border_mode subsample",
    "Embedding": "input_dim output_dim init input_length W_regularizer activity_regularizer "
    "W_constraint mask_zero weights",
    "BatchNormalization": "epsilon mode axis momentum weights beta_init gamma_init "
    "gamma_regularizer beta_regularizer",
    "PReLU": "init weights shared_axes",
}
ORDERS: dict[str, tuple[str, ...]] = {name: tuple(o.split()) for name, o in _ORDERS.items()}

_NAMES_OF_INITIALIZERS = """uniform lecun_uniform normal identity orthogonal zero zeros one ones
    glorot_normal glorot_uniform he_normal he_uniform"""
_INITIALIZERS = frozenset(_NAMES_OF_INITIALIZERS.split())


def in_order_of_keras_1(
    cls_name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return all arguments by Keras 1's names if they came in its order; None if they did not.

    `Dense(3, "uniform", "tanh")` can only be Keras 1's, since "uniform" is no activation;
    `Embedding(9, 3, "uniform", 5)`, since 5 is no penalty; `BatchNormalization(1e-3)`, since
    that is no axis. A function in the place of `init` is taken as one in dialect "1.2" alone.

    Raises
    ------
    ArgumentError
        An argument came by place and by name.

    Examples
    --------
    >>> in_order_of_keras_1("Dense", (3, "uniform", "tanh"), {})
    {'output_dim': 3, 'init': 'uniform', 'activation': 'tanh'}
    >>> in_order_of_keras_1("Dense", (3, "tanh"), {})
    """
    order = ORDERS.get(cls_name, ())
    if not order or len(args) > len(order) or not _is_in_that_order(cls_name, order, args):
        return None
    by_place = dict(zip(order, args, strict=False))
    twice = sorted(by_place.keys() & kwargs.keys())
    if twice:
        raise ArgumentError(
            f"{cls_name}: {twice[0]!r} came by place, in Keras 1's order, and by name; give one."
        )
    return {**by_place, **kwargs}


def _is_in_that_order(cls_name: str, order: tuple[str, ...], args: tuple[Any, ...]) -> bool:
    if cls_name == "BatchNormalization":
        return bool(args) and isinstance(args[0], float)
    if cls_name == "Embedding":
        return len(args) > 3 and isinstance(args[3], int)
    if cls_name == "PReLU":
        return len(args) > 1 and isinstance(args[1], list)
    place = order.index("init")
    if len(args) <= place:
        return False
    if isinstance(args[place], str):
        return args[place] in _INITIALIZERS
    return callable(args[place]) and habits().kernel_in_parts


ATTRIBUTES: dict[str, str] = {
    "W": "kernel",
    "b": "bias",
    "output_dim": "units",
    "p": "rate",
    "init": "kernel_initializer",
    "W_regularizer": "kernel_regularizer",
    "b_regularizer": "bias_regularizer",
    "W_constraint": "kernel_constraint",
    "b_constraint": "bias_constraint",
    "nb_filter": "filters",
    "border_mode": "padding",
    "subsample": "strides",
    "dim_ordering": "data_format",
    "atrous_rate": "dilation_rate",
    "inner_init": "recurrent_initializer",
    "inner_activation": "recurrent_activation",
    "U_regularizer": "recurrent_regularizer",
    "dropout_W": "dropout",
    "dropout_U": "recurrent_dropout",
    "sigma": "stddev",
    "running_mean": "moving_mean",
    "running_std": "moving_variance",
}


def translate(where: str, arguments: Mapping[str, Any], kind: str | None = None) -> dict[str, Any]:
    """Return `arguments` with every old keyword replaced by today's.

    Parameters
    ----------
    where : str
        The function or class that was called; picks the table and appears in the message.
    arguments : mapping
        Keyword arguments as the caller wrote them.
    kind : str, optional
        A more general table to use where the one of `where` is silent: "Layer" for every layer.

    Raises
    ------
    ArgumentError
        Both spellings of one argument were given.

    Warns
    -----
    SpellingWarning
        Once for each old keyword.
    """
    table = {**KEYWORDS.get(kind or "", {}), **KEYWORDS.get(where, {})}
    if not table.keys() & arguments.keys():
        return dict(arguments)
    translated: dict[str, Any] = {}
    for old, value in arguments.items():
        new = table.get(old, old)
        if new in translated or (new != old and new in arguments):
            raise ArgumentError(f"{where}: {old!r} and {new!r} are the same argument; give one.")
        if new != old and old not in QUIET:
            message = f"{where}: {old!r} is Keras 1's word; today it is {new!r}."
            warn(message, SpellingWarning)
        known = VALUES.get(old, {})
        translated[new] = known.get(value, value) if isinstance(value, str) else value
    return translated


# --- habits ---------------------------------------------------------------------------------------


class Habits(NamedTuple):
    """What a dialect does where the call does not tell.

    Attributes
    ----------
    weight_name : str
        Pattern of a weight's name, from the layer's name and the weight's own word.
    weight_words : dict
        Own word of a weight in this dialect, where it differs from Keras 2's.
    counts_from_zero : bool
        Whether the first Dense is `dense` and the second `dense_1`.
    epochs : int
        How many epochs `fit` runs when nobody says.
    kernel_in_parts : bool
        Whether `Conv2D(32, 3, 3)` has a kernel of 3 x 3; otherwise the last 3 are the strides.
        And whether a function after the sizes is `init`, as in Keras 1: see `ORDERS`.
    map_flavour : {"1", "2"}
        Which algorithm maps the graph of a model: see `engine.graph_map`.
    wraps_operations : bool
        Whether `x + y` between layers becomes a layer: see `engine.calling`.
    ends_masks : bool
        Whether a layer that does not support masking lets a mask end, or refuses it.
    defaults : mapping
        Class -> argument -> its default, where it is not that of the signature, which is Keras 2's.
    has_other_slope : bool
        Whether this Keras's `hard_sigmoid` is Keras 3's; in a configuration that is read back the
        word means Keras 2's.
    optimizer_flavour : {"2", "3"}
        Where epsilon stands, and what `clipnorm` bounds: see `optimizers.base`.
    freezes_inside : bool
        Whether `trainable` is handed on to the layers inside, and a BatchNormalization that is
        frozen normalises by its moving averages in training too.
    corrects_variance : bool
        Whether a moving variance follows n / (n - 1 - epsilon) times the variance of n values.
    penalty_per_sample : bool
        Whether the penalty of an `activity_regularizer` is divided by the number of samples.
    counts_zero_weights : bool
        Whether a loss is divided by the number of all samples, or of those with a weight other than
        0; a weighted or masked metric then by the sum of the weights, over all batches, which
        `train_on_batch` forgets. A mask that keeps nothing then gives 0, otherwise NaN.
    bits_are_signs : bool
        Whether `hinge` takes targets that are all 0 or 1 as -1 and 1.
    training_is_bool : bool
        Whether a `call`, of a layer or of a subclassed model, may say `if training:`.
    calls_compute_loss : bool
        Whether training calls `compute_loss` and `compute_metrics` if a model's class has them.
    batch_dot_is_outer : bool
        Whether `K.batch_dot` of four axes and more has an axis of its own for each axis of `x` and
        of `y`, or takes all but the last two as counting samples: see there.
    metrics_keep_words : bool
        Whether a metric is called in logs and `metrics_names` by the word that asked for it ("mae",
        "accuracy"), and a weighted one so too while the name is free. Otherwise it is called by its
        full name ("mean_absolute_error", but "acc"), and a weighted one "weighted_...".
    accuracy_by_shapes : bool
        Whether the shapes alone decide what "accuracy" is, or the loss too: in Keras 2 a
        binary_crossentropy on ten classes counts rounded entries.
    hdf5_of_keras_3 : bool
        Whether .h5 files are written so that Keras 3 can read them.
    counts_samples : bool
        Whether a number after the generator counts samples, not batches, and ModelCheckpoint's
        `{epoch}` counts from 0.
    metrics_of_batches : bool
        Whether "precision" and "recall" are Keras 1's functions, of one batch, or `Precision` and
        `Recall`, which count over all batches.
    averaged_metrics : {"all", "top_k", "none"}
        Which metric functions return the mean of the batch, a scalar; the others return one number
        for each sample. A mask or sample weights cannot reach into such a mean.
    cosine_is_mean : bool
        Whether `cosine_proximity` is the mean of the products over the last axis, or their sum.
    gates_apart : bool
        Whether GRU, LSTM and ConvLSTM2D penalize the weights of each gate by themselves, unless
        `consume_less="gpu"`. Otherwise the penalty is of the packed weights of all gates.
    class_words : dict or None
        Whether layers are called by their class in lower case, `maxpooling2d_1`, and which classes
        have another word for it; None: `max_pooling2d_1`.
    repeats_identity : bool
        Whether the initializer Identity fills a matrix that is not square with square ones.
    logs_so_far : bool
        Whether callbacks read at a batch the means of the epoch so far, without "batch" and "size",
        and at the end of training the last epoch's; names come in the order of the alphabet.
        Otherwise a batch's own figures, in the order of `metrics_names`.
    monitors_as_keras_3 : bool
        Whether for callbacks the first figure is the best so far, even NaN, and a metric's class
        says if more of it is better; and when `EarlyStopping` stops and restores: see there.
    both_ways_zero_masked : bool
        Whether a Bidirectional that returns sequences gives 0 for steps that a mask leaves out.
    endings_say_form : bool
        Whether a file of a model must have an ending that says its form, or is HDF5 under any name.
    steps_are_batches : bool
        Whether a number of steps counts batches of the arrays, which go on in the next epoch where
        they ended, or how often all of the arrays are taken.
    activates_by_layers : bool
        Whether a layer is welcome as the activation of another one, or warned of.
    is_strict : bool
        Whether weights of samples and of classes together are refused, as are strides and dilation
        that are both above 1. Otherwise the weights of samples win, and both are computed.
    trains_as_keras_3 : bool
        Whether a model may be compiled without a loss; an output without one has its metrics; a
        flat list of metrics has one for each of several outputs; losses come in the order in which
        `loss` names them (if it is just one, the total alone), the metrics of several outputs
        sorted; weights of samples may have any of the targets' axes; an epoch that a callback stops
        is validated too.
    """

    weight_name: str
    weight_words: dict[str, str]
    counts_from_zero: bool
    epochs: int
    kernel_in_parts: bool
    map_flavour: str
    wraps_operations: bool
    ends_masks: bool
    defaults: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    has_other_slope: bool = False
    optimizer_flavour: str = "2"
    freezes_inside: bool = False
    corrects_variance: bool = False
    penalty_per_sample: bool = False
    counts_zero_weights: bool = False
    bits_are_signs: bool = False
    training_is_bool: bool = False
    calls_compute_loss: bool = False
    batch_dot_is_outer: bool = False
    metrics_keep_words: bool = False
    accuracy_by_shapes: bool = False
    hdf5_of_keras_3: bool = False
    counts_samples: bool = False
    metrics_of_batches: bool = False
    averaged_metrics: str = "top_k"
    cosine_is_mean: bool = False
    gates_apart: bool = False
    class_words: Mapping[str, str] | None = None
    repeats_identity: bool = False
    logs_so_far: bool = False
    monitors_as_keras_3: bool = False
    both_ways_zero_masked: bool = False
    endings_say_form: bool = False
    steps_are_batches: bool = False
    activates_by_layers: bool = False
    is_strict: bool = False
    trains_as_keras_3: bool = False


_KERAS_1_WORDS = {
    "kernel": "W",
    "bias": "b",
    "embeddings": "W",
    "moving_mean": "running_mean",
    "moving_variance": "running_std",
}

_CLASSES_OF_KERAS_1 = {
    "Conv1D": "convolution1d",
    "Conv2D": "convolution2d",
    "Conv3D": "convolution3d",
    "Conv2DTranspose": "deconvolution2d",
    "SeparableConv2D": "separableconvolution2d",
    **dict.fromkeys(("Add", "Multiply", "Average", "Maximum", "Concatenate", "Dot"), "merge"),
}

_SIGMOID_GATES = {"recurrent_activation": "sigmoid"}
_KERAS_3_DEFAULTS: dict[str, dict[str, Any]] = {
    "LSTM": _SIGMOID_GATES,
    "LSTMCell": _SIGMOID_GATES,
    "ConvLSTM2D": _SIGMOID_GATES,
    "ConvLSTM2DCell": _SIGMOID_GATES,
    "GRU": {**_SIGMOID_GATES, "reset_after": True},
    "GRUCell": {**_SIGMOID_GATES, "reset_after": True},
    "Adagrad": {"lr": 0.001, "initial_accumulator_value": 0.1},
    "Adadelta": {"lr": 0.001},
    "Adamax": {"lr": 0.001},
    "Nadam": {"lr": 0.001, "schedule_decay": 1.0},
}

_OPTIMIZERS_WITH_EPSILON = ("RMSprop", "Adagrad", "Adadelta", "Adam", "Adamax", "Nadam")

HABITS: dict[str, Habits] = {
    "1.2": Habits(
        "{layer}_{weight}", _KERAS_1_WORDS, False, 10, True, "1", False, False,
        defaults={name: {"epsilon": 1e-8} for name in _OPTIMIZERS_WITH_EPSILON},
        counts_samples=True,
        metrics_of_batches=True,
        averaged_metrics="all",
        cosine_is_mean=True,
        gates_apart=True,
        class_words=_CLASSES_OF_KERAS_1,
        activates_by_layers=True,
    ),
    "2.2": Habits(
        "{layer}/{weight}", {}, False, 1, True, "2", False, False, corrects_variance=True,
        repeats_identity=True,
    ),
    "3": Habits(
        "{layer}/{weight}", {}, True, 1, False, "2", True, True,
        defaults=_KERAS_3_DEFAULTS,
        has_other_slope=True,
        optimizer_flavour="3",
        freezes_inside=True,
        penalty_per_sample=True,
        counts_zero_weights=True,
        bits_are_signs=True,
        training_is_bool=True,
        calls_compute_loss=True,
        batch_dot_is_outer=True,
        metrics_keep_words=True,
        accuracy_by_shapes=True,
        averaged_metrics="none",
        hdf5_of_keras_3=True,
        logs_so_far=True,
        monitors_as_keras_3=True,
        both_ways_zero_masked=True,
        endings_say_form=True,
        steps_are_batches=True,
        activates_by_layers=True,
        is_strict=True,
        trains_as_keras_3=True,
    ),
}  # fmt: skip


class _Changed(dict[str, Habits]):
    """The habits of each dialect that is asked for, with some changes."""

    def __init__(self, usual: Mapping[str, Habits], changes: Mapping[str, Any]) -> None:
        super().__init__()
        self.usual, self.changes = usual, changes

    def __missing__(self, dialect: str) -> Habits:
        found = self[dialect] = self.usual[dialect]._replace(**self.changes)
        return found


_habits: ContextVar[Mapping[str, Habits]] = ContextVar("habits", default=HABITS)


def habits() -> Habits:
    """Return the habits of the dialect that is set now."""
    return _habits.get()[config.dialect]


@contextmanager
def changed_habits(**changes: Any) -> Iterator[None]:
    """Let some habits be others inside the `with` block: those of a file from another Keras."""
    now = habits()
    if all(getattr(now, name) == value for name, value in changes.items()):
        yield
        return
    token = _habits.set(_Changed(_habits.get(), changes))
    try:
        yield
    finally:
        _habits.reset(token)


def default_by_dialect(constructor: Callable[..., None]) -> Callable[..., None]:
    """Let a constructor's arguments that are not given follow `Habits.defaults`.

    Its signature shows the defaults of Keras 2; `get_config()` tells what an object really has.
    """
    class_name = constructor.__qualname__.split(".")[-2]
    names = list(inspect.signature(constructor).parameters)

    @functools.wraps(constructor)
    def chosen(self: Any, *args: Any, **kwargs: Any) -> None:
        by_place = names[1 : 1 + len(args)]
        for name, value in habits().defaults.get(class_name, {}).items():
            if name not in by_place:
                kwargs.setdefault(name, value)
        constructor(self, *args, **kwargs)

    return chosen


def weight_name(layer_name: str, word: str) -> str:
    """Return the full name of a layer's weight.

    Examples
    --------
    >>> weight_name("dense_1", "kernel")
    'dense_1/kernel'
    """
    habit = habits()
    is_one_word = "/" not in word  # else `attention_output/kernel` is no name of `attention`
    if word.startswith(f"{layer_name}/") or (is_one_word and word.startswith(f"{layer_name}_")):
        return word  # the layer said it in full
    return habit.weight_name.format(layer=layer_name, weight=habit.weight_words.get(word, word))
