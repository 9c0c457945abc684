predictions = dict.fromkeys(("x * 2.5", "x * a", "x * i"), "float32")
predictions["x + d"] = predictions["K.cast(i, 'float64')"] = "float64"
predictions["i * 2"] = "int32"
predictions["K.greater(x, d)"] = "bool"
