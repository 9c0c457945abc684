predictions = {
    "x * 2.5": "float32",
    "x * a": "float32",
    "x + d": "float64",
    "x * i": "float32",
    "i * 2": "int32",
    "K.greater(x, d)": "bool",
    "K.cast(i, 'float64')": "float64",
}
