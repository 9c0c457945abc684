"""Assumes that the list falls by depth.

en: post_order: expected number 3 to be 'b', yours is 'c'
zh: post_order：第 3 个应为 'b'，你的是 'c'
"""

depths = {"x": 4, "a": 3, "b": 1, "c": 2, "d": 1, "add": 0, "e": 0}
layers = ["x", "a", "c", "b", "d", "add", "e"]
post_order = ["x", "a", "c", "b", "d", "add", "e"]
