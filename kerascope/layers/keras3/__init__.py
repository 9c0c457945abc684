"""Layers that came with Keras 3: for images, sounds and categories, and variants of older layers.

`kerascope.layers` imports each file when one of its names is first used.
"""
