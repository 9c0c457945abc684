"""The shared weights are counted twice.

en: expected parameters to be 36,992, yours is 73,984
zh: parameters 应为 36,992，你的是 73,984
"""

nodes_before = 0
nodes_after = 2
history_of_a = (0, 0)
history_of_b = (1, 0)
parameters = 2 * 36992


def second_output(layer):
    return layer.get_output_at(1)
