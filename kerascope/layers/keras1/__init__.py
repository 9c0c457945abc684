"""Layers and functions that only Keras 1 has, for scripts and files written for Keras 1."""
