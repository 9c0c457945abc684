"""Nothing is reset when a second training begins.

en: expected epochs of a second training to be 4, yours is 1
zh: 第二次训练的轮数应为 4，你的是 1
"""

from keras.callbacks import Callback


class StopEarly(Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience = patience
        self.best = float("inf")
        self.waited = 0

    def on_epoch_end(self, epoch, logs=None):
        if logs["loss"] < self.best:
            self.best = logs["loss"]
            self.waited = 0
            return
        self.waited += 1
        if self.waited >= self.patience:
            self.model.stop_training = True
