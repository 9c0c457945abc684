depths = dict(zip("x a c b d".split(), (4, 3, 2, 1, 1)))
depths.update(add=0, e=0)
layers = sorted(["add", "b", "a", "x", "d", "c", "e"], key=depths.get, reverse=True)
post_order = list("xabcd") + ["add", "e"]
