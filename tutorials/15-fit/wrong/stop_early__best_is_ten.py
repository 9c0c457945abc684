"""The best value starts at 10, so no loss above it counts as better.

en: expected epochs until StopEarly(2) stops at losses [5000.0, 4000.0, 3000.0, 2000.0] to be None, yours is 2: each loss is a new best
zh: 损失为 [5000.0, 4000.0, 3000.0, 2000.0] 时 StopEarly(2) 停止前的轮数应为 None，你的是 2：每个损失都是新的最佳值
"""

from keras.callbacks import Callback


class StopEarly(Callback):
    def __init__(self, patience):
        super().__init__()
        self.patience = patience

    def on_train_begin(self, logs=None):
        self.best = 10.0
        self.waited = 0

    def on_epoch_end(self, epoch, logs=None):
        if logs["loss"] < self.best:
            self.best = logs["loss"]
            self.waited = 0
            return
        self.waited += 1
        if self.waited >= self.patience:
            self.model.stop_training = True
