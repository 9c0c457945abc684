"""Write EarlyStopping.

fit calls on_train_begin once, and on_epoch_end(epoch, logs) after each epoch, with logs["loss"]. It
ends after the epoch in which a callback sets self.model.stop_training to True.

Write `StopEarly(patience)`: stop when the loss has not fallen below its best value for `patience`
epochs in a row. A new best value restarts the count; an equal value is not an improvement. The same
object can be used for a second fit, which starts afresh.
"""

from keras.callbacks import Callback


class StopEarly(Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience = patience

    def on_train_begin(self, logs=None): ...

    def on_epoch_end(self, epoch, logs=None): ...
