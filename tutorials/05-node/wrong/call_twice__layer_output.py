"""Reads layer.output, which a layer called twice does not have.

en: second_output(...) stopped at line 15 with IllDefinedError: Layer shared has multiple inbound nodes, hence the notion of "layer output" is ill-defined. Use get_output_at(node_index) instead.
zh: second_output(...) 中途出错（第 15 行）：IllDefinedError: Layer shared has multiple inbound nodes, hence the notion of "layer output" is ill-defined. Use get_output_at(node_index) instead.
"""

nodes_before = 0
nodes_after = 2
history_of_a = (0, 0)
history_of_b = (1, 0)
parameters = 36992


def second_output(layer):
    return layer.output
