"""Layers and functions that only Keras 1 has. Scripts and files written for it need them."""
