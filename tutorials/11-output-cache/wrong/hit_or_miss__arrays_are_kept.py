"""Assumes that the same array is a hit.

en: expected numbers_again to be 'miss', yours is 'hit': numbers are never kept
zh: numbers_again 应为 'miss'，你的是 'hit'：数从来不存
"""

the_same_input = "hit"
the_same_shape = "miss"
in_a_list = "hit"
new_weights = "hit"
a_twin = "miss"
numbers_again = "hit"
