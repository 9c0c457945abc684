"""Assumes that tensor_index counts the calls, as S3 says.

en: expected history_of_b to be (1, 0), yours is (0, 1): encoded_b is output 0 of call 1
zh: history_of_b 应为 (1, 0)，你的是 (0, 1)：encoded_b 是第 1 次调用的第 0 个输出（都从 0 数起）
"""

nodes_before = 0
nodes_after = 2
history_of_a = (0, 0)
history_of_b = (0, 1)
parameters = 36992


def second_output(layer):
    return layer.get_output_at(1)
