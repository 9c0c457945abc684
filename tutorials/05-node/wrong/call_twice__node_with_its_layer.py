"""Assumes that the Node is made with the layer, as S0 says.

en: expected nodes_before to be 0, yours is 1: a new layer has not been called
zh: nodes_before 应为 0，你的是 1：新建的层还没有被调用过
"""

nodes_before = 1
nodes_after = 2
history_of_a = (0, 0)
history_of_b = (1, 0)
parameters = 36992


def second_output(layer):
    return layer.get_output_at(1)
