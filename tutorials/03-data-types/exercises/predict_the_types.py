"""Predict types: a float64 enters a float32 graph.

x is a K.variable of float32, d a K.placeholder of float64, i a K.variable of int32; a is a NumPy
array, and NumPy makes float64 by default.

Write for each expression the dtype of its tensor, as a string: "float32", "float64", "int32",
"bool". The checker makes the tensors. Change only the places with `...`.
"""

predictions = {
    "x * 2.5": ...,
    "x * a": ...,
    "x + d": ...,
    "x * i": ...,
    "i * 2": ...,
    "K.greater(x, d)": ...,
    "K.cast(i, 'float64')": ...,
}
