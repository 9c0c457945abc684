"""SimpleDense is a subclass of Dense, which does the work.

en: expected SimpleDense to be a layer of your own, yours leaves the work to Dense
zh: SimpleDense 应是你自己写的层，你的把工作交给了 Dense
"""

from keras.layers import Dense


class SimpleDense(Dense):
    pass
