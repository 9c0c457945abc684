"""Assumes that the float64 of the array wins.

en: expected predictions["x * a"] to be 'float32', yours is 'float64': the ops of its graph are multiply
zh: predictions["x * a"] 应为 'float32'，你的是 'float64'：它的图中的运算依次是 multiply
"""

predictions = {
    "x * 2.5": "float32",
    "x * a": "float64",
    "x + d": "float64",
    "x * i": "float32",
    "i * 2": "int32",
    "K.greater(x, d)": "bool",
    "K.cast(i, 'float64')": "float64",
}
