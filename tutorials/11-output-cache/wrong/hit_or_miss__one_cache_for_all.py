"""Assumes that networks of the same layers share a cache.

en: expected a_twin to be 'miss', yours is 'hit': each network has a cache of its own
zh: a_twin 应为 'miss'，你的是 'hit'：每个网络各有自己的缓冲
"""

the_same_input = "hit"
the_same_shape = "miss"
in_a_list = "hit"
new_weights = "hit"
a_twin = "hit"
numbers_again = "miss"
