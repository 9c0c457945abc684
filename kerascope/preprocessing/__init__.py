"""Prepare data for models: sequences, text, images. Keras calls it `keras.preprocessing`."""

from kerascope.missing_names import answer_missing_names
from kerascope.preprocessing import image, sequence, text

__all__ = ["image", "sequence", "text"]

answer_missing_names(__name__)
