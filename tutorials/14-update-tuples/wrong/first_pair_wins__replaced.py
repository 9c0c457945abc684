"""The variables are replaced in the loop, as S4 says.

en: expected v, w and u after the loop to be [1.0, 2.0, 3.0], yours is [2.0, 4.0, 2.0]
zh: 循环之后的 v、w、u 应为 [1.0, 2.0, 3.0]，你的是 [2.0, 4.0, 2.0]
"""

from keras import backend as K


def unique(pairs):
    found = {}
    for variable, new_value in pairs:
        if variable not in found:
            found[variable] = new_value
            K.set_value(variable, K.eval(new_value))
    return list(found.items())
