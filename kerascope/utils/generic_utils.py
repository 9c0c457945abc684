"""Helpers that Keras keeps in `keras.utils.generic_utils`: a progress bar, custom objects."""

from kerascope.callbacks.progress import Progbar
from kerascope.not_yet import answer_missing_names
from kerascope.registry import custom_object_scope, get_custom_objects

CustomObjectScope = custom_object_scope  # Keras makes a class of it; `with` is all it is for

__all__ = ["CustomObjectScope", "Progbar", "custom_object_scope", "get_custom_objects"]

answer_missing_names(__name__)
