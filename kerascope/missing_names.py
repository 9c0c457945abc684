"""Names of Keras that kerascope does not have: tables, and the errors made from them.

If a script uses `layers.MixUp`, the error says that kerascope does not have it, and what to use
instead. For a misspelt name, the error suggests the most similar name. A module calls
`answer_missing_names(__name__)` at its end; `compat.finder` raises for imports.

First come names that can be imported but not used, each with its reason (`REFUSALS`). Then come
names that cannot be imported: names that have no meaning on NumPy (`NEVER`) and names that are not
implemented yet (`NAMES`). The functions for modules are at the end.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from kerascope.errors import (
    NotYetAttributeError,
    NotYetImportError,
    RefusedAttributeError,
    RefusedError,
    RefusedImportError,
)
from kerascope.registry import did_you_mean

# --- names that will not come ---------------------------------------------------------------------
#
# Importing such a name works, so that a script which only mentions it runs; using it raises
# `RefusedError` with the reason.


_CUDA = "It runs only on NVIDIA cards."
_SESSION = "NumPy has no sessions: remove the line."

# Module -> name -> the reason and an alternative.
REFUSALS: dict[str, dict[str, str]] = {
    "kerascope.layers": {
        "CuDNNGRU": f"{_CUDA} GRU(units, recurrent_activation='sigmoid', reset_after=True) "
        "computes the same.",
        "CuDNNLSTM": f"{_CUDA} LSTM(units, recurrent_activation='sigmoid') computes the same.",
    },
    "kerascope.optimizers": {
        "TFOptimizer": "It wraps an optimizer of TensorFlow, which is not available here. "
        "Use one of kerascope.optimizers.",
    },
    "kerascope.utils": {
        "multi_gpu_model": "JAX divides batches over devices. Use compile(engine='jax', devices=4)."
    },
    "kerascope.applications.keras1": {
        "preprocess_input": "Sound files are read with librosa, which is not included. "
        "Compute librosa.feature.melspectrogram(y=sound, sr=12000, n_fft=512, hop_length=256, "
        "n_mels=96) and its decibels.",
    },
    "kerascope.backend": {
        "get_session": _SESSION,
        "set_session": _SESSION,
        "manual_variable_initialization": "Variables have their values from the beginning on "
        "NumPy: remove the line.",
    },
}

# Features of Keras -> the reason why they are missing; `out_of_scope` adds an alternative.
BEYOND: dict[str, str] = {
    "train_step": "Models here run a graph, not a step method.",
    "GradientTape": "Gradients here are a graph: K.gradients(loss, weights), or fit.",
    "mixed precision": "A layer here computes in the type of its weights. Use 'float32', or "
    "'float16' for both.",
    "LoRA": "Layers here have no additional weights of low rank.",
    "int8": "kerascope has no quantized layers. Use dtype 'float32'. "
    "load_model(..., opaque=True) opens files of quantized models.",
}


def out_of_scope(what: str) -> str:
    """Return why a feature of Keras 3 is missing, and an alternative.

    Examples
    --------
    >>> print(out_of_scope("LoRA"))
    Layers here have no additional weights of low rank. Or run it with Keras itself: `kerascope
    run --live script.py` records it, and ks.draw(model) and ks.trace(model) accept its models.
    """
    return (
        f"{BEYOND[what]} Or run it with Keras itself: `kerascope run --live script.py` records it, "
        "and ks.draw(model) and ks.trace(model) accept its models."
    )


_LOSS_INSTEAD = (
    "Instead of it give compile a function as its loss or metric, or call add_loss(tensor) in "
    "`call`, or write compute_loss with keras.ops; for an update of your own write an Optimizer, "
    "or a loop around train_on_batch."
)
_TEST_INSTEAD = "Instead of it give compile a function as its loss or metric."
_PREDICT_INSTEAD = "Instead of it make a second Model of the outputs that you want."

# Method of a model -> the methods of Keras 3 that it calls there, and an alternative.
UNCALLED_METHODS: dict[str, dict[str, str]] = {
    "train_function": {
        "train_step": _LOSS_INSTEAD,
        "make_train_function": _LOSS_INSTEAD,
        "compute_metrics": _TEST_INSTEAD,
    },
    "test_function": {
        "test_step": _TEST_INSTEAD,
        "make_test_function": _TEST_INSTEAD,
        "compute_metrics": _TEST_INSTEAD,
    },
    "predict_function": {
        "predict_step": _PREDICT_INSTEAD,
        "make_predict_function": _PREDICT_INSTEAD,
    },
}


class Refused:
    """Base of placeholder classes for Keras names that can be imported, but not used on NumPy."""

    reason: str

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise an error with the reason why the class cannot be used.

        Raises
        ------
        RefusedError
            Always.
        """
        raise RefusedError(f"{cls.__module__}.{cls.__name__}: {cls.reason}")


def refused(module: str, name: str) -> type[Refused] | None:
    """Return the placeholder class for a name that can be imported but not used; None for others.

    Examples
    --------
    >>> refused("kerascope.layers", "Dense")
    >>> refused("kerascope.layers", "CuDNNLSTM")(3)
    Traceback (most recent call last):
        ...
    kerascope.errors.RefusedError: kerascope.layers.CuDNNLSTM: It runs only on NVIDIA cards.
    LSTM(units, recurrent_activation='sigmoid') computes the same.
    """
    reason = REFUSALS.get(module, {}).get(name)
    if reason is None:
        return None
    return type(name, (Refused,), {"reason": reason, "__module__": module, "__doc__": reason})


# --- names that cannot be imported ----------------------------------------------------------------
#
# A name in a row may be a module, with everything below it. Rows of `kerascope.ops` also apply to
# `kerascope.ops.linalg`.

Rows = dict[str, tuple[tuple[str, str], ...]]

_WHOLE_FUNCTIONS = "Here an engine, NumPy or JAX, computes whole functions. Remove the line."
_NO_JAX, _NO_TENSORFLOW, _NO_TORCH = (
    f"It wraps what {library} computes, and there is no {library} here. Write it as a layer."
    for library in ("JAX", "TensorFlow", "torch")
)
_DATASET = "It creates a tf.data.Dataset, which needs TensorFlow."
_DATASETS = (
    (
        "image_dataset_from_directory",
        f"{_DATASET} kerascope.preprocessing.image.ImageDataGenerator has flow_from_directory.",
    ),
    (
        "text_dataset_from_directory",
        f"{_DATASET} Read the files into a list for layers.TextVectorization.",
    ),
    (
        "timeseries_dataset_from_array",
        f"{_DATASET} kerascope.preprocessing.sequence.TimeseriesGenerator makes such windows.",
    ),
)
_QUANTIZED, _UNSCALED = out_of_scope("int8"), out_of_scope("mixed precision")

# Module -> (names, the reason why they make no sense on NumPy, and an alternative).
NEVER: Rows = {
    "kerascope": (
        ("device", _WHOLE_FUNCTIONS),
        ("Quantizer quantizers", _QUANTIZED),
        ("RematScope remat", "Layers are never recomputed to save memory: remove the line."),
        (
            "StatelessScope SymbolicScope",
            "It hides changes of variables from JAX; functions do so by themselves. "
            "layer.stateless_call and K.function compute without changing any.",
        ),
        ("export", "It writes programs for TensorFlow. Use model.save('model.keras')."),
    ),
    "kerascope.distribution": (
        ("distribute_tensor", "Functions put arrays on devices when they run. Remove the line."),
    ),
    "kerascope.callbacks": (
        (
            "OrbaxCheckpoint",
            "It writes with Orbax, a library of JAX. Use ModelCheckpoint or BackupAndRestore.",
        ),
    ),
    "kerascope.config": (
        ("enable_flash_attention", "NumPy has one way to compute attention: remove the line."),
        (
            "enable_unsafe_deserialization",
            "Whether code of a file may run is said for each: load_model(..., safe_mode=False).",
        ),
    ),
    "kerascope.dtype_policies": (
        (
            """AWQDTypePolicy GPTQDTypePolicy Int4DTypePolicy QuantizedDTypePolicy
            QuantizedFloat8DTypePolicy""",
            _QUANTIZED,
        ),
    ),
    "kerascope.layers": (
        ("FlaxLayer JaxLayer", _NO_JAX),
        ("TFSMLayer", _NO_TENSORFLOW),
        ("TorchModuleWrapper", _NO_TORCH),
    ),
    "kerascope.mixed_precision": (("LossScaleOptimizer", _UNSCALED),),
    "kerascope.optimizers": (("LossScaleOptimizer", _UNSCALED),),
    "kerascope.preprocessing": _DATASETS,
    "kerascope.utils": (
        *_DATASETS,
        ("audio_dataset_from_directory", f"{_DATASET} Read the files into an array."),
        ("split_dataset", f"{_DATASET} Slice the arrays, or say fit(..., validation_split=0.2)."),
    ),
}

_COMPLEX = "It returns complex numbers, and no tensor holds them"

_ARCHITECTURES = """
    ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge EfficientNetB0
    EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6
    EfficientNetB7 EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3
    EfficientNetV2L EfficientNetV2M EfficientNetV2S InceptionResNetV2 MobileNetV3Large
    MobileNetV3Small NASNetLarge NASNetMobile ResNet101V2 ResNet152V2 ResNet50V2"""
_FILE_OF_IT = (
    "load_model opens a .keras file of it, with opaque=True where a layer of it is not here."
)

_PREPARING_DATA = """
    CutMix Equalization HashedCrossing Hashing
    MaxNumBoundingBoxes MixUp STFTSpectrogram"""

# Module -> (names that are not implemented yet, an alternative).
NAMES: Rows = {
    "kerascope": (
        ("distillation", "Train the small model on teacher.predict(x), with 'kl_divergence'."),
        ("visualization", "Draw images with matplotlib; kerascope.draw draws models."),
    ),
    "kerascope.layers": (
        (_PREPARING_DATA, "Prepare the data with NumPy or kerascope.preprocessing before fit."),
    ),
    "kerascope.applications": (
        (_ARCHITECTURES, _FILE_OF_IT),
        (
            "convnext efficientnet efficientnet_v2 mobilenet_v3",
            f"{_FILE_OF_IT} Its preprocess_input gives pictures back as they are; "
            "decode_predictions is that of imagenet_utils.",
        ),
        (
            "inception_resnet_v2 nasnet resnet_v2",
            f"{_FILE_OF_IT} decode_predictions is that of imagenet_utils, and preprocess_input "
            "too, with mode='tf'.",
        ),
    ),
    "kerascope.backend": (
        ("ctc_label_dense_to_sparse", "No tensor is sparse: K.ctc_batch_cost takes dense labels."),
    ),
    "kerascope.config": (
        (
            "max_epochs max_steps_per_epoch set_max_epochs set_max_steps_per_epoch",
            "Give fit the arguments epochs and steps_per_epoch.",
        ),
    ),
    "kerascope.datasets": (
        (
            "california_housing",
            "Fetch california_housing.npz with utils.get_file, and read x and y with numpy.load.",
        ),
    ),
    "kerascope.datasets.reuters": (
        ("get_label_names", "Labels are the numbers from 0 to 45: name them in a list."),
    ),
    "kerascope.dtype_policies": (("DTypePolicyMap", "Give each layer its dtype."),),
    "kerascope.initializers": (
        ("STFT STFTInitializer stft", "Compute the array, and give it as Constant(array)."),
    ),
    "kerascope.ops": (
        ("eig", f"{_COMPLEX}: ops.eigh is real."),
        ("polar", f"{_COMPLEX}: its two parts are r * cos(angle) and r * sin(angle)."),
        ("view_as_complex view_as_real", f"{_COMPLEX}: keep the two parts apart, as ops.fft does."),
        ("ctc_decode rearrange", "Write it with K functions, or as an Op of your own."),
    ),
    "kerascope.ops.image": (
        (
            """elastic_transform extract_patches_3d gaussian_blur perspective_transform
            scale_and_translate sobel_edges ssim""",
            "Write it with those that are here, or with keras.ops.",
        ),
    ),
    "kerascope.optimizers": (
        ("Adafactor ScheduleFreeAdamW", "Use Adam or AdamW, or write it as an Optimizer."),
        ("MultiOptimizer OptimizerMap", "Write an Optimizer that tells the variables apart."),
    ),
    "kerascope.random": (("beta gamma", "Draw it with NumPy."),),
    "kerascope.saving": (
        ("KerasFileEditor", "Open the file by load_model(..., opaque=True), change it, save it."),
    ),
    "kerascope.utils": (
        ("bounding_boxes", "Compute with boxes in NumPy before fit."),
        ("Config", "types.SimpleNamespace has its values as attributes too."),
        (
            "FeatureSpace",
            "Give each feature its layer: Normalization, Discretization, StringLookup, ...",
        ),
    ),
    "kerascope.callbacks": (
        ("SwapEMAWeights", "Average model.get_weights() in a LambdaCallback."),
    ),
}


def words_for(module: str, name: str) -> str | None:
    """Return the message for a missing name of Keras; None for other names.

    Examples
    --------
    >>> print(words_for("kerascope.random", "gamma"))
    kerascope.random.gamma: Keras has it, kerascope does not yet. Draw it with NumPy.
    >>> print(words_for("kerascope", "device"))
    kerascope.device: Here an engine, NumPy or JAX, computes whole functions. Remove the line.
    >>> words_for("kerascope.layers", "Dense")
    """
    error = error_for(module, name)
    return None if error is None else str(error)


def error_for(module: str, name: str, *, is_import: bool = False) -> Exception | None:
    """Return the error for a name of Keras that cannot be imported; None for any other name."""
    above = module.rpartition(".")[0]
    for where in (module, above) if "." in above else (module,):
        if (reason := _in_row(NEVER, where, name)) is not None:
            kind = RefusedImportError if is_import else RefusedAttributeError
            return kind(f"{module}.{name}: {reason}")
        if (remedy := _in_row(NAMES, where, name)) is not None:
            later = NotYetImportError if is_import else NotYetAttributeError
            return later(f"{module}.{name}: Keras has it, kerascope does not yet. {remedy}")
    return None


def _in_row(rows: Rows, module: str, name: str) -> str | None:
    return next((said for names, said in rows.get(module, ()) if name in names.split()), None)


def names_in_rows(module: str) -> list[str]:
    """Return those names of a Keras module that cannot be imported from kerascope."""
    rows = (*NEVER.get(module, ()), *NAMES.get(module, ()))
    return [name for names, _ in rows for name in names.split()]


# --- what a module answers ------------------------------------------------------------------------

# The module with the undocumented names of Keras 1 and 2, for `later`.
PRIVATE_NAMES = "kerascope.compat.private_names"


def missing(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that a module does not have.

    Parameters
    ----------
    module, name : str
    known : iterable of str
        The names that the module has; the error suggests a similar one.
    """
    error = _error(module, name, known)
    # With an object, Python would add a second "Did you mean" to the traceback.
    error.name, error.obj = name, None
    return error


def _error(module: str, name: str, known: Iterable[str]) -> AttributeError:
    known_error = error_for(module, name)
    if isinstance(known_error, AttributeError):
        return known_error
    public = [word for word in known if not word.startswith("_")]
    hint = "" if name.startswith("_") else did_you_mean(name, [*public, *names_in_rows(module)])
    message = f"module {module!r} has no attribute {name!r}. {hint}".rstrip()
    return AttributeError(message)


def answer_missing_names(module_name: str, later: Mapping[str, str] | None = None) -> None:
    """Add a `__getattr__` for missing names to a module during its import.

    `later` maps names to the modules that define them. Such a module is imported only when one of
    its names is first used, because the import takes long.

    A `__getattr__` written in the module would hide misspelt names from mypy. A module that is not
    a package gets an empty `__path__`, because Python calls the finders only for names that are
    imported from a package.
    """
    module = sys.modules[module_name]

    def answer(name: str) -> object:
        if later and name in later:
            found: object = getattr(importlib.import_module(later[name]), name)
            setattr(module, name, found)
            return found
        stand_in = refused(module_name, name)
        if stand_in is None:
            raise missing(module_name, name, {*vars(module), *(later or ())})
        setattr(module, name, stand_in)
        return stand_in

    vars(module)["__getattr__"] = answer
    if later:
        vars(module)["_later"] = frozenset(later)
        vars(module)["__dir__"] = lambda: sorted({*vars(module), *later})
    vars(module).setdefault("__path__", [])
