"""Assumes that a list around the tensor makes another key.

en: expected in_a_list to be 'hit', yours is 'miss': call makes a list of its input anyway
zh: in_a_list 应为 'hit'，你的是 'miss'：call 本来就会把输入变成列表
"""

the_same_input = "hit"
the_same_shape = "miss"
in_a_list = "miss"
new_weights = "hit"
a_twin = "miss"
numbers_again = "miss"
