"""Callbacks: what `fit` tells about every batch, epoch and run; Keras's `keras.callbacks`.

Each file holds callbacks of one purpose: `base` the interface, `callback_list` what `fit` talks to,
`recording` the records of a run, `progress` the bar, `tensorboard` the figures for another program,
`monitor` those that watch a figure and act on the model, `backup` what lets a killed run go on.
`registry` knows them by name; `get("EarlyStopping")` makes one.
"""

from kerascope.callbacks.backup import BackupAndRestore
from kerascope.callbacks.base import Callback, LambdaCallback, get, registry
from kerascope.callbacks.callback_list import CallbackList, checked_callbacks
from kerascope.callbacks.monitor import (
    EarlyStopping,
    LearningRateScheduler,
    ModelCheckpoint,
    ReduceLROnPlateau,
    TerminateOnNaN,
)
from kerascope.callbacks.progress import Progbar, ProgbarLogger, Progress, progress_lines
from kerascope.callbacks.recording import BaseLogger, CSVLogger, History, RemoteMonitor
from kerascope.callbacks.tensorboard import TensorBoard
from kerascope.missing_names import answer_missing_names

__all__ = [
    "BackupAndRestore",
    "BaseLogger",
    "CSVLogger",
    "Callback",
    "CallbackList",
    "EarlyStopping",
    "History",
    "LambdaCallback",
    "LearningRateScheduler",
    "ModelCheckpoint",
    "Progbar",
    "ProgbarLogger",
    "Progress",
    "ReduceLROnPlateau",
    "RemoteMonitor",
    "TensorBoard",
    "TerminateOnNaN",
    "checked_callbacks",
    "get",
    "progress_lines",
    "registry",
]

answer_missing_names(__name__)
