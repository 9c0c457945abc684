"""Assumes that the float64 placeholder gives way.

en: expected predictions["x + d"] to be 'float64', yours is 'float32': the ops of its graph are cast, add
zh: predictions["x + d"] 应为 'float64'，你的是 'float32'：它的图中的运算依次是 cast, add
"""

predictions = {
    "x * 2.5": "float32",
    "x * a": "float32",
    "x + d": "float32",
    "x * i": "float32",
    "i * 2": "int32",
    "K.greater(x, d)": "bool",
    "K.cast(i, 'float64')": "float64",
}
