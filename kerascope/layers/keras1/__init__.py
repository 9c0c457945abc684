"""The layers and functions that only Keras 1 has, for its scripts and files."""
