"""Assumes that new weights make the stored output useless.

en: expected new_weights to be 'hit', yours is 'miss': the cache stores a formula, not its value
zh: new_weights 应为 'hit'，你的是 'miss'：存下的是公式，不是它得出的数
"""

the_same_input = "hit"
the_same_shape = "miss"
in_a_list = "hit"
new_weights = "miss"
a_twin = "miss"
numbers_again = "miss"
