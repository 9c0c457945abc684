"""What is done to data before a model sees it: sequences, text, images. `keras.preprocessing`."""

from kerascope.missing_names import answer_missing_names
from kerascope.preprocessing import image, sequence, text

__all__ = ["image", "sequence", "text"]

answer_missing_names(__name__)
