the_same_input = in_a_list = new_weights = "hit"
the_same_shape = a_twin = numbers_again = "miss"
