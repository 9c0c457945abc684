nodes_before, nodes_after, parameters = 0, 2, 36992
(history_of_a, history_of_b) = ((index, 0) for index in (0, 1))
second_output = lambda layer: [layer.get_output_at(n) for n in (0, 1)][-1]
