"""What only Keras 1 and 2 have in their engine, for old scripts and for extensions of Keras.

Keras 1's walk through a graph is kept for study, too (chapter 8). A model that is written today
needs nothing of this.
"""
