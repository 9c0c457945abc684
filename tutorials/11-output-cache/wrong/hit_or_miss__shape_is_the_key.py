"""Assumes that inputs of the same shape have the same key.

en: expected the_same_shape to be 'miss', yours is 'hit': b is another tensor
zh: the_same_shape 应为 'miss'，你的是 'hit'：b 是另一个张量
"""

the_same_input = "hit"
the_same_shape = "hit"
in_a_list = "hit"
new_weights = "hit"
a_twin = "miss"
numbers_again = "miss"
