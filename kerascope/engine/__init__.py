"""The engine: layers, the graph that their calls make, and the models that run and train it.

Read in this order: `node`, `base_layer`, `calling`, `input_layer`, `graph_map`, `network`,
`compiling`, `training_loop`, `model`.
"""
