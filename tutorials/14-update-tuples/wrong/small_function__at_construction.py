"""The update is done when the function is made, as S0 and S4 say.

en: expected W after the function was made to be 2, yours is 1.6
zh: 创建函数之后的 W 应为 2，你的是 1.6
"""

from keras import backend as K


class SmallFunction:
    def __init__(self, outputs, updates):
        self.outputs = outputs
        for variable, new_value in updates:
            K.set_value(variable, K.eval(new_value))

    def __call__(self):
        return [K.eval(tensor) for tensor in self.outputs]
