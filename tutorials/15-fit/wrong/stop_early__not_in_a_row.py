"""The count is never reset.

en: expected epochs until StopEarly(2) stops at losses [5.0, 6.0, 4.0, 5.0, 3.0, 4.0, 2.0] to be None, yours is 4
zh: 损失为 [5.0, 6.0, 4.0, 5.0, 3.0, 4.0, 2.0] 时 StopEarly(2) 停止前的轮数应为 None，你的是 4
"""

from keras.callbacks import Callback


class StopEarly(Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience = patience

    def on_train_begin(self, logs=None):
        self.best = float("inf")
        self.waited = 0

    def on_epoch_end(self, epoch, logs=None):
        if logs["loss"] < self.best:
            self.best = logs["loss"]
            return
        self.waited += 1
        if self.waited >= self.patience:
            self.model.stop_training = True
