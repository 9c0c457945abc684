"""The layers that came with Keras 3: they prepare images, sounds and categories, or vary others.

`kerascope.layers` loads them when one of them is asked for.
"""
