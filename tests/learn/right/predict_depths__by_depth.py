by_depth = {4: ["x"], 3: ["a"], 2: ["c"], 1: ["b", "d"], 0: ["add", "e"]}
depths = {name: depth for depth, names in by_depth.items() for name in names}
layers = sum(by_depth.values(), [])
post_order = ("x", "a", "b", "c", "d", "add", "e")
