"""Call one LSTM twice.

    lstm = LSTM(32)
    encoded_a = lstm(Input(shape=(280, 256)))
    encoded_b = lstm(Input(shape=(280, 256)))

Predict: how many Nodes does the layer have before the first call, and after both? What are
(node_index, tensor_index) in the histories of the two outputs? How many parameters does the layer
have then?

And write `second_output(layer)`: the output of the second call. `layer.output` does not work any
more.
"""

nodes_before = ...
nodes_after = ...
history_of_a = ...
history_of_b = ...
parameters = ...


def second_output(layer):
    return ...
