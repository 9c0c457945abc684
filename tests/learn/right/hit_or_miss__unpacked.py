HIT, MISS = "hit", "miss"
the_same_input, the_same_shape, in_a_list = HIT, MISS, HIT
new_weights, a_twin, numbers_again = HIT, MISS, MISS
