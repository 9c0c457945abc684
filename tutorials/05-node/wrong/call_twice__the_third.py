"""Takes the call after the second one.

en: expected second_output(layer) to be the output of call 1, yours is that of call 2; they are counted from 0
zh: second_output(layer) 应是第 1 次调用的输出，你的是第 2 次的（从 0 数起）
"""

nodes_before = 0
nodes_after = 2
history_of_a = (0, 0)
history_of_b = (1, 0)
parameters = 4 * (256 * 32 + 32 * 32 + 32)


def second_output(layer):
    return layer.get_output_at(2)
