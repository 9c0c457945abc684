"""StopEarly is a subclass of EarlyStopping, which does the work.

en: expected StopEarly to be your own Callback, yours leaves the work to EarlyStopping
zh: StopEarly 应是你自己写的 Callback，你的把工作交给了 EarlyStopping
"""

from keras.callbacks import EarlyStopping


class StopEarly(EarlyStopping):
    def __init__(self, patience):
        super().__init__(monitor="loss", patience=patience)
