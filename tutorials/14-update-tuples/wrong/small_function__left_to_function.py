"""K.function does the work.

en: expected SmallFunction to do the work itself, yours calls K.function
zh: SmallFunction 应自己完成，你的把它交给了 K.function
"""

from keras import backend as K


class SmallFunction:
    def __init__(self, outputs, updates):
        self.f = K.function([], outputs, updates=updates)

    def __call__(self):
        return self.f([])
