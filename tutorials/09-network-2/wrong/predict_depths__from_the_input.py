"""Depth is counted from the input.

en: expected depths['e'] to be 0, yours is 3
zh: depths['e'] 应为 0，你的是 3
"""

depths = {"x": 0, "a": 1, "b": 2, "c": 2, "d": 3, "add": 4, "e": 3}
layers = ["x", "a", "c", "b", "d", "add", "e"]
post_order = ["x", "a", "b", "c", "d", "add", "e"]
