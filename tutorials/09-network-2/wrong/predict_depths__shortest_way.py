"""The shortest path is taken for the depth.

en: expected depths['a'] to be 3, yours is 2
zh: depths['a'] 应为 3，你的是 2
"""

depths = {"x": 3, "a": 2, "b": 1, "c": 2, "d": 1, "add": 0, "e": 0}
layers = ["x", "a", "c", "b", "d", "add", "e"]
post_order = ["x", "a", "b", "c", "d", "add", "e"]
