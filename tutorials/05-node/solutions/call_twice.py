nodes_before = 0
nodes_after = 2
history_of_a = (0, 0)
history_of_b = (1, 0)
parameters = 4 * (256 * 32 + 32 * 32 + 32)


def second_output(layer):
    return layer.get_output_at(1)
