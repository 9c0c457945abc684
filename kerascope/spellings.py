"""The dialects of Keras: all differences between the APIs of Keras 1.2, 2.2, tf.keras and 3.

There are two kinds of difference, each with its own tables:

- *Spellings*: other names of the same argument. `nb_epoch=10` can only mean `epochs=10`, so old
  names are always accepted. `translate` renames them, and warns with the present name.
- *Options*: differences that a call does not show. Is the first Dense layer called `dense_1` or
  `dense`? Do the gates of `LSTM(3)` use `sigmoid` or `hard_sigmoid`? `config.dialect` decides:
  `dialect_options()` returns its row of the table `DIALECTS`. Layers and the engine read these
  options and never compare `config.dialect` with a name.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, NamedTuple

from kerascope.errors import ArgumentError, SpellingWarning
from kerascope.settings import config
from kerascope.user_frames import warn

# --- spellings ------------------------------------------------------------------------------------

CONVOLUTION = {
    "nb_filter": "filters",
    "border_mode": "padding",
    "subsample": "strides",
    "dim_ordering": "data_format",
    "atrous_rate": "dilation_rate",
}

_CONVOLUTION_1D = {**CONVOLUTION, "filter_length": "kernel_size", "subsample_length": "strides"}

_IMAGES = {"border_mode": "padding", "dim_ordering": "data_format"}

_WEIGHTS = {
    "init": "kernel_initializer",
    "W_regularizer": "kernel_regularizer",
    "b_regularizer": "bias_regularizer",
    "W_constraint": "kernel_constraint",
    "b_constraint": "bias_constraint",
}

RECURRENT = {
    "inner_init": "recurrent_initializer",
    "inner_activation": "recurrent_activation",
    "U_regularizer": "recurrent_regularizer",
    "dropout_W": "dropout",
    "dropout_U": "recurrent_dropout",
}

_WORKERS = {
    "max_q_size": "max_queue_size",
    "nb_worker": "workers",
    "pickle_safe": "use_multiprocessing",
}

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
    # arguments of all layers
    "Layer": {
        **_WEIGHTS,
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
    "BatchNormalization": {"beta_init": "beta_initializer", "gamma_init": "gamma_initializer"},
    "Conv1D": _CONVOLUTION_1D,
    "Conv2D": CONVOLUTION,
    "Conv3D": CONVOLUTION,
    "Conv2DTranspose": CONVOLUTION,
    "Conv3DTranspose": CONVOLUTION,
    "DepthwiseConv2D": {**CONVOLUTION, "init": "depthwise_initializer"},
    "SeparableConv1D": {**CONVOLUTION, "init": "depthwise_initializer"},
    "SeparableConv2D": {**CONVOLUTION, "init": "depthwise_initializer"},
    "ConvLSTM2D": CONVOLUTION,
    "RNN": {
        "output_dim": "units",
        **RECURRENT,
        "forget_bias_init": "unit_forget_bias",
        "consume_less": "implementation",
    },
    "_Spatial": {"dim_ordering": "data_format"},
    "_Pooling": {"border_mode": "padding"},
    "_Pooling1D": {"pool_length": "pool_size", "stride": "strides"},
    "UpSampling1D": {"length": "size"},
    "LocallyConnected1D": _CONVOLUTION_1D,
    "LocallyConnected2D": CONVOLUTION,
    "GaussianNoise": {"sigma": "stddev"},
    "GaussianDropout": {"p": "rate"},
    "AlphaDropout": {"p": "rate"},
    "LeakyReLU": {"negative_slope": "alpha"},
    "PReLU": {"init": "alpha_initializer"},
    "Model": {"input": "inputs", "output": "outputs"},
    "compile": {"objective": "loss"},
    "fit": {"nb_epoch": "epochs"},
    "fit_generator": {"nb_epoch": "epochs", **_WORKERS},
    "evaluate_generator": _WORKERS,
    "predict_generator": _WORKERS,
    "optimizer": {"learning_rate": "lr"},
    "imdb.load_data": {"nb_words": "num_words"},
    "Tokenizer": {"nb_words": "num_words"},
    "reuters.load_data": {"nb_words": "num_words"},
    "ReduceLROnPlateau": {"epsilon": "min_delta"},
}

# Argument values that were renamed together with the argument.
VALUES: dict[str, dict[str, Any]] = {
    "dim_ordering": {"tf": "channels_last", "th": "channels_first", "default": None},
    "forget_bias_init": {"one": True, "ones": True, "zero": False, "zeros": False},
    "consume_less": {"cpu": 1, "mem": 1, "gpu": 2},
    # Integer types are those of the inputs only: the weights of an Embedding are floats.
    "input_dtype": dict.fromkeys(("bool", "uint8", "int8", "int16", "int32", "int64")),
}

# Keras 1 counts samples, the present argument counts batches: so these cannot just be renamed.
SAMPLE_COUNTS: dict[str, str] = {
    "samples_per_epoch": "steps_per_epoch",
    "nb_val_samples": "validation_steps",
    "val_samples": "steps",
}

# Keras 3's names of arguments that have their Keras 2 names here: accepted without a warning, since
# they are not old.
QUIET = {"learning_rate", "batch_shape", "negative_slope"}

# Class -> its arguments in Keras 1's order, if that differs from the present order.
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
    """Return all arguments by Keras 1's names, or None if they are not in Keras 1's order.

    The values show the order. `Dense(3, "uniform", "tanh")` can only be Keras 1's, since "uniform"
    is an initializer and not an activation. In `Embedding(9, 3, "uniform", 5)`, 5 cannot be a
    regularizer, and `BatchNormalization(1e-3)` cannot mean an axis. A function at the position of
    `init` counts as an initializer unless the dialect is "3".

    Raises
    ------
    ArgumentError
        An argument was given by position and by name.

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
            f"{cls_name}: {twice[0]!r} is given by name and, in Keras 1's order, by position."
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
    return callable(args[place]) and dialect_options().kernel_in_parts


ATTRIBUTES: dict[str, str] = {
    "W": "kernel",
    "b": "bias",
    "output_dim": "units",
    "p": "rate",
    **_WEIGHTS,
    **CONVOLUTION,
    **RECURRENT,
    "sigma": "stddev",
    "running_mean": "moving_mean",
    "running_std": "moving_variance",
}


def translate(where: str, arguments: Mapping[str, Any], kind: str | None = None) -> dict[str, Any]:
    """Return `arguments` with every old keyword replaced by its present name.

    Parameters
    ----------
    where : str
        The function or class that was called. It selects the table, and messages begin with it.
    arguments : mapping
        Keyword arguments as the caller wrote them.
    kind : str, optional
        A more general table, used for keywords that the table of `where` does not contain:
        "Layer" for every layer.

    Raises
    ------
    ArgumentError
        Both spellings of one argument were given.

    Warns
    -----
    SpellingWarning
        For each old keyword.
    """
    table = {**KEYWORDS.get(kind or "", {}), **KEYWORDS.get(where, {})}
    if not table.keys() & arguments.keys():
        return dict(arguments)
    translated: dict[str, Any] = {}
    for old, value in arguments.items():
        new = table.get(old, old)
        if new in translated or (new != old and new in arguments):
            raise ArgumentError(f"{where}: {old!r} and {new!r} are the same argument. Give one.")
        if new != old and old not in QUIET:
            message = f"{where}: {old!r} is Keras 1's word; today it is {new!r}."
            warn(message, SpellingWarning)
        known = VALUES.get(old, {})
        translated[new] = known.get(value, value) if isinstance(value, str) else value
    return translated


# --- options of each dialect ----------------------------------------------------------------------


class DialectOptions(NamedTuple):
    """The options of a dialect: rules for differences between versions that a call does not show.

    Attributes
    ----------
    weight_name : str
        Pattern of a weight's full name, with the layer's name and the weight's short name.
    weight_words : dict
        Short names of weights in this dialect that differ from Keras 2's: `{"kernel": "W"}`.
    counts_from_zero : bool
        Whether the first Dense layer is called `dense` and the second `dense_1`. Otherwise they are
        called `dense_1` and `dense_2`.
    epochs : int
        Default number of epochs of `fit`.
    kernel_in_parts : bool
        Whether `Conv2D(32, 3, 3)` has a kernel of 3 x 3; otherwise the last 3 is the strides.
        If true, a function after the sizes is the argument `init`, as in Keras 1: see `ORDERS`.
    map_flavour : {"1", "2"}
        The algorithm that maps the graph of a model: see `engine.graph_map`.
    wraps_operations : bool
        Whether `x + y` between layers becomes a layer: see `engine.operations`.
    ends_masks : bool
        Whether a layer that does not support masking drops a mask; otherwise it raises.
    defaults : mapping
        Class -> argument -> default, if it differs from the default in the signature (Keras 2's).
    has_other_slope : bool
        Whether `hard_sigmoid` has the slope of Keras 3. In a configuration that is read from a
        file, the name always means Keras 2's.
    optimizer_flavour : {"2", "3"}
        The position of epsilon, and what `clipnorm` limits: see `optimizers.base`.
    freezes_inside : bool
        Whether setting `trainable` also sets it for the layers inside, and a frozen
        BatchNormalization uses its moving averages in training too.
    corrects_variance : bool
        Whether a moving variance is updated with n / (n - 1 - epsilon) times the variance of n
        values.
    penalty_per_sample : bool
        Whether the penalty of an `activity_regularizer` is divided by the number of samples.
    counts_zero_weights : bool
        Whether a loss is divided by the number of all samples; otherwise by the number of those
        whose weight is not 0. If true, a weighted or masked metric is divided by the sum of the
        weights over all batches (`train_on_batch` starts anew), and a mask that keeps nothing gives
        0; otherwise it gives NaN.
    bits_are_signs : bool
        Whether `hinge` converts targets that are all 0 or 1 to -1 and 1.
    training_is_bool : bool
        Whether the `call` of a layer or of a subclassed model may say `if training:`.
    calls_compute_loss : bool
        Whether training calls the `compute_loss` and `compute_metrics` of a model's class.
    batch_dot_is_outer : bool
        Whether the result of `K.batch_dot` on four axes and more has an axis for each axis of `x`
        and of `y`; otherwise all axes but the last two count samples. See `K.batch_dot`.
    metrics_keep_words : bool
        Whether logs and `metrics_names` use the name of a metric that was passed to `compile`
        ("mae", "accuracy"), also for a weighted metric unless another metric has this name.
        Otherwise they use its full name ("mean_absolute_error", but "acc"), with "weighted_" in
        front for a weighted metric.
    accuracy_by_shapes : bool
        Whether the shapes alone decide what "accuracy" means. Otherwise the loss decides too: in
        Keras 2, with binary_crossentropy on ten classes, "accuracy" compares each rounded output.
    hdf5_of_keras_3 : bool
        Whether .h5 files are written so that Keras 3 can read them.
    counts_samples : bool
        Whether a number after the generator counts samples, not batches, and ModelCheckpoint's
        `{epoch}` counts from 0.
    metrics_of_batches : bool
        Whether "precision" and "recall" are Keras 1's functions of one batch. Otherwise they are
        `Precision` and `Recall`, which count over all batches.
    averaged_metrics : {"all", "top_k", "none"}
        The metric functions that return the mean of the batch, a scalar. The other functions return
        one number for each sample. Masks and sample weights have no effect on such a mean.
    cosine_is_mean : bool
        Whether `cosine_proximity` is the mean of the products over the last axis; otherwise their
        sum.
    gates_apart : bool
        Whether GRU, LSTM and ConvLSTM2D regularize the weights of each gate separately, unless
        `consume_less="gpu"`. Otherwise the penalty is computed from the packed weights of all
        gates.
    class_words : dict or None
        Class -> the beginning of its default layer names, if this is not the class's name in lower
        case, as in `maxpooling2d_1`. If None, all names are in snake case: `max_pooling2d_1`.
    repeats_identity : bool
        Whether the initializer Identity fills a matrix that is not square with square identities.
    logs_so_far : bool
        Whether batch logs contain the means of the epoch so far, without "batch" and "size", and
        `on_train_end` receives the logs of the last epoch. Names are sorted. Otherwise batch logs
        contain the batch's own numbers, in the order of `metrics_names`.
    monitors_as_keras_3 : bool
        Whether callbacks take the first value as the best one, even if it is NaN, and the class of
        a metric decides whether a greater value is better. This option also changes when
        `EarlyStopping` stops and restores weights: see `callbacks.monitor`.
    both_ways_zero_masked : bool
        Whether a Bidirectional that returns sequences outputs 0 for masked steps.
    endings_say_form : bool
        Whether saving a model requires the extension of a model format. Otherwise a file with any
        other extension is written as HDF5.
    steps_are_batches : bool
        Whether `steps_per_epoch` and similar arguments count batches of the arrays, and the next
        epoch continues after the last of these batches. Otherwise each step uses the whole arrays.
    activates_by_layers : bool
        Whether a layer may be the activation of another layer without a warning.
    is_strict : bool
        Whether sample weights together with class weights raise an error, and strides above 1
        together with a dilation above 1 do, too. Otherwise sample weights override class weights,
        and the convolution is computed.
    trains_as_keras_3 : bool
        Whether `compile` and `fit` follow these rules of Keras 3. A model may be compiled without a
        loss, and an output without a loss may have metrics. A flat list of metrics has one metric
        for each of several outputs. Losses are in the order of the keys in `loss` (with a single
        loss, only the total is reported), and the metrics of several outputs are sorted. Sample
        weights may have any of the targets' axes. An epoch that a callback stops is validated.
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

DIALECTS: dict[str, DialectOptions] = {
    "1.2": DialectOptions(
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
    "2.2": DialectOptions(
        "{layer}/{weight}", {}, False, 1, True, "2", False, False, corrects_variance=True,
        repeats_identity=True,
    ),
    "3": DialectOptions(
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


class _ChangedDialects(dict[str, DialectOptions]):
    """The table `DIALECTS` with options changed in all rows. A row is made at its first use."""

    def __init__(self, usual: Mapping[str, DialectOptions], changes: Mapping[str, Any]) -> None:
        super().__init__()
        self.usual, self.changes = usual, changes

    def __missing__(self, dialect: str) -> DialectOptions:
        found = self[dialect] = self.usual[dialect]._replace(**self.changes)
        return found


_options: ContextVar[Mapping[str, DialectOptions]] = ContextVar("options", default=DIALECTS)


def dialect_options() -> DialectOptions:
    """Return the options of the current dialect, `config.dialect`."""
    return _options.get()[config.dialect]


@contextmanager
def override_dialect(**changes: Any) -> Iterator[None]:
    """Override options of the dialect in a `with` block, for example to read a file of Keras 3."""
    now = dialect_options()
    if all(getattr(now, name) == value for name, value in changes.items()):
        yield
        return
    token = _options.set(_ChangedDialects(_options.get(), changes))
    try:
        yield
    finally:
        _options.reset(token)


def default_by_dialect(constructor: Callable[..., None]) -> Callable[..., None]:
    """Decorate a constructor: arguments that the caller omits get the dialect's defaults.

    The signature still shows the defaults of Keras 2; `get_config()` returns the actual values.
    """
    class_name = constructor.__qualname__.split(".")[-2]
    names = list(inspect.signature(constructor).parameters)

    @functools.wraps(constructor)
    def chosen(self: Any, *args: Any, **kwargs: Any) -> None:
        by_place = names[1 : 1 + len(args)]
        for name, value in dialect_options().defaults.get(class_name, {}).items():
            if name not in by_place:
                kwargs.setdefault(name, value)
        constructor(self, *args, **kwargs)

    return chosen


def weight_name(layer_name: str, word: str) -> str:
    """Return the full name of a layer's weight in the current dialect.

    Examples
    --------
    >>> weight_name("dense_1", "kernel")
    'dense_1/kernel'
    """
    options = dialect_options()
    is_one_word = "/" not in word  # in layer `attention`, `attention_output/kernel` is not yet full
    if word.startswith(f"{layer_name}/") or (is_one_word and word.startswith(f"{layer_name}_")):
        return word  # `word` is the full name already
    return options.weight_name.format(layer=layer_name, weight=options.weight_words.get(word, word))
