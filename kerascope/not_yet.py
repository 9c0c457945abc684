"""Names of Keras that are not here: two tables, and the errors that are made from them.

A script that says `layers.MixUp` shall read that kerascope knows the name, does not have it, and
what to use instead; a misspelt name shall read which one was meant. A module calls
`answer_missing_names(__name__)` at its end; `compat.finder` answers for what is imported.

First come the names that never will be here, each with its reason (`REFUSALS`), then those that are
not here yet (`NAMES`), then what a module answers.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from kerascope.errors import NotYetAttributeError, RefusedError
from kerascope.registry import did_you_mean

# --- names that will not come ---------------------------------------------------------------------
#
# Importing such a name works, so that a script which only mentions it runs; using it raises
# `RefusedError` with the reason.


_CUDA = "It runs on an NVIDIA card alone."
_SESSION = "There is no session on NumPy: leave the line out."

# Module -> name -> reason, and what to use instead.
REFUSALS: dict[str, dict[str, str]] = {
    "kerascope.layers": {
        "CuDNNGRU": f"{_CUDA} GRU(units, recurrent_activation='sigmoid', reset_after=True) "
        "computes the same.",
        "CuDNNLSTM": f"{_CUDA} LSTM(units, recurrent_activation='sigmoid') computes the same.",
    },
    "kerascope.optimizers": {
        "TFOptimizer": "It wraps an optimizer of TensorFlow, and there is no TensorFlow here. "
        "Use one of kerascope.optimizers.",
    },
    "kerascope.utils": {
        "multi_gpu_model": "There is no GPU on NumPy. Train the model itself.",
    },
    "kerascope.applications.keras1": {
        "preprocess_input": "Sound files are read with librosa, which is no part of kerascope. "
        "Compute librosa.feature.melspectrogram(y=sound, sr=12000, n_fft=512, hop_length=256, "
        "n_mels=96) and its decibels.",
    },
    "kerascope.backend": {
        "get_session": _SESSION,
        "set_session": _SESSION,
        "manual_variable_initialization": "Variables have their values from the beginning on "
        "NumPy: leave the line out.",
    },
}

_LOSS_INSTEAD = (
    "Instead of it give compile a function as its loss or metric, or call add_loss(tensor) in "
    "`call`; for an update of your own write an Optimizer, or a loop around train_on_batch."
)
_TEST_INSTEAD = "Instead of it give compile a function as its loss or metric."
_PREDICT_INSTEAD = "Instead of it make a second Model of the outputs that you want."

# Function of a model -> methods of Keras 3 that make or run it there, and what to do instead.
UNCALLED_METHODS: dict[str, dict[str, str]] = {
    "train_function": {
        "train_step": _LOSS_INSTEAD,
        "make_train_function": _LOSS_INSTEAD,
        "compute_loss": _LOSS_INSTEAD,
        "compute_metrics": _TEST_INSTEAD,
    },
    "test_function": {
        "test_step": _TEST_INSTEAD,
        "make_test_function": _TEST_INSTEAD,
        "compute_loss": _TEST_INSTEAD,
        "compute_metrics": _TEST_INSTEAD,
    },
    "predict_function": {
        "predict_step": _PREDICT_INSTEAD,
        "make_predict_function": _PREDICT_INSTEAD,
    },
}


class Refused:
    """Base of the stand-ins for refused names; nothing can be made of them."""

    reason: str

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Raise.

        Raises
        ------
        RefusedError
            Always.
        """
        raise RefusedError(f"{cls.__module__}.{cls.__name__}: {cls.reason}")


def refused(module: str, name: str) -> type[Refused] | None:
    """Return the stand-in for a refused name; None for any other name.

    Examples
    --------
    >>> refused("kerascope.layers", "Dense")
    >>> refused("kerascope.layers", "CuDNNLSTM")(3)
    Traceback (most recent call last):
        ...
    kerascope.errors.RefusedError: kerascope.layers.CuDNNLSTM: It runs on an NVIDIA card alone.
    LSTM(units, recurrent_activation='sigmoid') computes the same.
    """
    reason = REFUSALS.get(module, {}).get(name)
    if reason is None:
        return None
    return type(name, (Refused,), {"reason": reason, "__module__": module, "__doc__": reason})


# --- names that are not here yet ------------------------------------------------------------------


_COMPLEX = "eig polar view_as_complex view_as_real"

_ARCHITECTURES = """
    ConvNeXtBase ConvNeXtLarge ConvNeXtSmall ConvNeXtTiny ConvNeXtXLarge EfficientNetB0
    EfficientNetB1 EfficientNetB2 EfficientNetB3 EfficientNetB4 EfficientNetB5 EfficientNetB6
    EfficientNetB7 EfficientNetV2B0 EfficientNetV2B1 EfficientNetV2B2 EfficientNetV2B3
    EfficientNetV2L EfficientNetV2M EfficientNetV2S InceptionResNetV2 MobileNetV3Large
    MobileNetV3Small NASNetLarge NASNetMobile ResNet101V2 ResNet152V2 ResNet50V2"""

_PREPARING_DATA = """
    AugMix AutoContrast CutMix Equalization HashedCrossing Hashing MelSpectrogram MixUp
    RandAugment RandomColorJitter RandomCrop RandomErasing RandomGrayscale RandomHue
    RandomInvert RandomSaturation RandomSharpness RandomShear STFTSpectrogram"""

# Module -> (names, what to do instead).
NAMES: dict[str, tuple[tuple[str, str], ...]] = {
    "kerascope": (),
    "kerascope.layers": (
        (_PREPARING_DATA, "Prepare the data with NumPy or kerascope.preprocessing before fit."),
        ("SpectralNormalization ReversibleEmbedding Pipeline", "Write it as a layer."),
    ),
    "kerascope.applications": (
        (_ARCHITECTURES, "A .keras file of it, written by Keras 3, can be opened and drawn."),
    ),
    "kerascope.backend": (
        ("ctc_label_dense_to_sparse", "No tensor is sparse: K.ctc_batch_cost takes dense labels."),
    ),
    "kerascope.ops": (
        (_COMPLEX, "It returns complex numbers, and no tensor holds them; ops.eigh is real."),
        ("ctc_decode rearrange", "Write it with K functions, or as an Op of your own."),
    ),
    "kerascope.ops.image": (
        (
            """elastic_transform extract_patches_3d gaussian_blur perspective_transform
            scale_and_translate sobel_edges ssim""",
            "Write it with those that are here, or with keras.ops.",
        ),
    ),
    "kerascope.random": (("beta gamma", "Draw it with NumPy."),),
    "kerascope.callbacks": (
        ("SwapEMAWeights", "Average model.get_weights() in a LambdaCallback."),
    ),
}


def words_for(module: str, name: str) -> str | None:
    """Return what to say of a name of Keras that is not here; None of any other name.

    Examples
    --------
    >>> print(words_for("kerascope.random", "gamma"))
    kerascope.random.gamma: Keras has it, kerascope does not yet. Draw it with NumPy.
    >>> words_for("kerascope.layers", "Dense")
    """
    path = f"{module}.{name}"
    remedy = None
    for names, what_to_do in NAMES.get(module, ()):
        if name in names.split():
            remedy = what_to_do
    if remedy is None:
        return None
    return f"{path}: Keras has it, kerascope does not yet. {remedy}"


# --- what a module answers ------------------------------------------------------------------------


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


def answer_missing_names(module_name: str, later: Mapping[str, str] | None = None) -> None:
    """Let a module that is being imported answer for the names that it does not have.

    `later` says of names that it has, but that would take long to load, in which module each is: it
    is fetched when it is first used.

    It gives the module a `__getattr__`. Written out in the module, it would keep mypy from seeing
    misspelt names. A module that is no package gets an empty `__path__`, since only then Python
    asks the finders about a name that is imported from it.
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
