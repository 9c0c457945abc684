"""Parts of the engine that only Keras 1 and 2 have.

Old scripts and extensions of Keras need them. `graph_map` is also kept for study: it is Keras 1's
walk through a graph (chapter 8). A new model needs nothing from this folder.
"""
