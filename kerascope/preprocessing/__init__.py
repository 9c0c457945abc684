"""What is done to data before a model sees it: sequences, text, images. `keras.preprocessing`."""

from kerascope.preprocessing import image, sequence, text

__all__ = ["image", "sequence", "text"]
