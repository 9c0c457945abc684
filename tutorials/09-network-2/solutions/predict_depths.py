depths = {"x": 4, "a": 3, "b": 1, "c": 2, "d": 1, "add": 0, "e": 0}
layers = ["x", "a", "c", "b", "d", "add", "e"]
post_order = ["x", "a", "b", "c", "d", "add", "e"]
