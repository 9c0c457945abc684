"""Callbacks: objects that `fit` calls at every batch, epoch and run; Keras's `keras.callbacks`.

`base` defines the interface, and `callback_list` the list that `fit` calls. `recording` stores the
logs of a run, `progress` shows the progress bar, and `tensorboard` writes files for TensorBoard.
`monitor` contains the callbacks that watch a metric and change the training, and `backup` the one
that continues a killed run. `registry` finds callbacks by name: `get("EarlyStopping")` makes one.
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
